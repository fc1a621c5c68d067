"""Reduction: RDLA, REDLA, discrete connections, CM01 section 5.3, C03 section 4 and the poster.

``Printed`` evaluates the formulas of the papers a second time, with nothing of nhlab's reduction:
f, l_d, Ld* and the forces come from the oracle's Ld and wd of the full system by complex steps.
"""

import pickle
from functools import cache, partial
from itertools import product

import numpy as np
import oracle
import pytest
import sympy as sp
from particles import particle
from runs import close, far, power
from runs import part as integrate

import nhlab as nh
from nhlab.course.lessons import lesson_07b

S = nh.systems
x, y, z, w, vx, vy, vz, vw = nh.symbols("x y z w vx vy vz vw")
RULES = [(0.3, False), (0.3, True)]  # the same texts for every alpha
rules = pytest.mark.parametrize("alpha, symmetric", RULES)


def by_rules(*names):
    """Each system with the one-point rule, and one of each kind with the symmetric one."""
    hard = [name for name in names if name in ("coupled", "driven", "relative_board")]
    pairs = [*((name, *RULES[0]) for name in names), *((name, *RULES[1]) for name in hard)]
    return pytest.mark.parametrize("name, alpha, symmetric", pairs)


def started(make, q0, v, **options):
    """A system with the start q0 and the velocity of D nearest to v."""
    return make(q0=q0, v0=make(**options).project(q0, v), **options)


def transmission():
    """A is not linear and the gyroscopic force does not vanish."""
    V, rows = z**2 / 2 - sp.cos(y), [vx + sp.sin(y) * vz]
    return particle("x y z", V, rows, "transmission", (0, 0, 0), (0, 1.5, 0.3))


def coupled():
    """Rows that have to be solved for the fibre velocities, and M that depends on r."""
    L = (vx**2 + vy**2 + (2 + sp.cos(x)) * vz**2 + vw**2 + vz * vx) / 2 - x**2 - sp.cos(y)
    rows = [2 * vz + sp.sin(y) * vw - y * vx, vw * (2 + sp.cos(x)) - vz + x * vy]
    make = partial(nh.System, (z, x, w, y), (vz, vx, vw, vy), L, rows)
    return started(make, (0, 0.4, 0, 0.8), (1, 0.5, -0.5, 1), name="coupled")


def flat():
    """A is linear and closed: the constraint is integrable and the gyroscopic force vanishes."""
    rows = [vz + y * vx + (x + 3 * y) * vy]
    return particle("x y z", x**2 + y**4, rows, "flat", (0, 1, 0), (1, 0.5, -2.5))


def bent():
    """A is linear and the force vanishes although D is not integrable.

    By cross terms, through which a fibre momentum vanishes on D.  For L = T(r') + T(s') - V(r) with
    constant, definite T(s') the force of a linear A vanishes only if A is closed.
    """
    row = vw - y * vx + x * vy
    L = (vx**2 + vy**2 + vz**2 + row**2) / 2 - x**2 - y**4
    rows = [vz + y * vx + (x + 3 * y) * vy, row]
    start = {"q0": (0, 1, 0, 0), "v0": (1, 0.5, -2.5, 1)}
    return nh.System((x, y, z, w), (vx, vy, vz, vw), L, rows, name="bent", **start)


def twisted():
    """The same with one fibre coordinate: F = 0, A linear, D not integrable."""
    row = vz - y * vx + x * vy
    L = (vx**2 + vy**2 + row**2) / 2
    return nh.System((x, y, z), (vx, vy, vz), L, [row], q0=(0.3, 1, 0), v0=(1, 0.5, 0.85))


def relative_board():
    """The snakeboard with psi measured from the board and a rotor that phi changes."""
    b = S.snakeboard()
    (_, _, vtheta, vpsi, _), phi = b.v, b.q[-1]
    J0 = next(s for s in b.parameters if s.name == "J0")
    L = b.L - J0 * vpsi**2 / 2 + (J0 + sp.cos(phi) / 3) * (vtheta + vpsi) ** 2 / 2
    make = partial(nh.System, b.q, b.v, L, b.constraints, parameters=b.parameters)
    v = (1, 0.1, 0.2, 0.7, 0.05)
    return started(make, (0, 0, 0.2, 0, 0.3), v, name="relative board")


def two_rotors():
    """Two horizontal symmetries whose block of M is neither constant nor diagonal."""
    L = (vx**2 + vy**2 + (2 + sp.cos(x)) * vz**2 + 3 * vw**2 + vz * vw + y * vw * vx) / 2 + y * vz
    rows = [vy - sp.sin(x) * vx]
    make = partial(nh.System, (x, z, y, w), (vx, vz, vy, vw), L - x**2, rows, name="two rotors")
    return started(make, (0.4, 0, 0.2, 0), (1, 0.5, 0.4, -0.3))


def steered():
    """z moves by the constraint, w by its momentum; nothing is diagonal, and M depends on r."""
    L = (vx**2 + vy**2 + (2 + sp.cos(x)) * vz**2 + 3 * vw**2 + vz * vw + y * vw * vx) / 2
    L += sp.sin(x) * vw / 2 - x**2 - y**4
    make = partial(nh.System, (w, x, z, y), (vw, vx, vz, vy), L, [vz - y * vx + sp.sin(x) * vy / 2])
    return started(make, (0, 0.4, 0, 0.8), (0.5, 1, 0.3, -0.4), name="steered")


@cache
def mixed():
    return nh.Mixed(steered(), fibre="z w", momentum="w")


def loose():
    """The momentum of w does not contain vw."""
    L = (vx**2 + vy**2 + vz**2) / 2 + vw * vx
    return nh.System((x, y, z, w), (vx, vy, vz, vw), L, [vz - y * vx])


def named(makers):
    """name -> (system, fibre), from fibre -> systems."""
    return {make.__name__: (make, fibre) for fibre in makers for make in makers[fibre]}


CHAPLYGIN = named({"z": [S.particle, S.driven, flat, twisted], "x y": [S.robot, S.rolling_disk]})
CHAPLYGIN |= named({"x": [transmission], "z w": [coupled, bent]})
HORIZONTAL = named({"psi": [S.snakeboard, relative_board], "z w": [two_rotors]})
MAIN = ["particle", "robot", "rolling_disk", "coupled", "driven"]


@cache
def reduced(name):
    """One reduction for all tests, with the code generated for it."""
    make, fibre = (CHAPLYGIN | HORIZONTAL)[name]
    return (nh.Chaplygin if name in CHAPLYGIN else nh.Horizontal)(make(), fibre=fibre)


def unforced(red):
    """The system with the reduced Lagrangian and without the forces."""
    start = {"q0": red.q0, "v0": red.v0}
    return nh.System(red.q, red.v, red.L, parameters=red.parameters, t=red.t, **start)


def apart(red, one, other, h):
    """How far two methods are apart on a reduction, up to t = 2."""
    first, then = (integrate(red, m, h=h, steps=round(2 / h)) for m in (one, other))
    return np.abs(first.q - then.q).max()


def same(a, b, digits=12):
    """Two runs, row by row: positions, momenta, velocities, multipliers."""
    assert a.steps == b.steps >= 3
    gap = np.nanmax(np.abs(a.rows.array - b.rows.array)) / (1 + np.abs(b.rows.array).max())
    assert gap < 10.0**-digits, gap


def connection(red, r, t=0.0):
    return red.values(red.connection.tolist(), r, None, t)


def roundoff(red, full_run):
    """What B^T p loses when it is recomputed from stored nodes."""
    A = np.abs(connection(red, red.project(full_run), full_run.t)).sum((-1, -2)).max()
    return oracle.roundoff(full_run) * (1 + A) ** 2


class Printed:
    """f, l_d, Ld*, its slot derivatives and the forces; a step is (t0, r0, t1, r1)."""

    def __init__(self, red, method):
        self.red, self.Ld = red, oracle.discrete(red.full, method)
        names = [s.name for s in red.full.q]
        self.r, self.s = ([names.index(s.name) for s in part] for part in (red.base, red.fibre))

    def q(self, r, s):
        q = np.zeros((*r.shape[:-1], len(self.r) + len(self.s)), complex)
        q[..., self.r], q[..., self.s] = r, s
        return q

    def step(self, t0, r0, t1, r1, f):
        return t0, self.q(r0, 0), t1, self.q(r1, f)

    def condition(self, *step):
        if isinstance(self.red, nh.Horizontal):
            return self.Ld.D4(*step)[..., self.s] - self.red.mu  # J_d = mu
        return self.Ld.wd(*step)

    def f(self, *pair):
        """The condition is linear in s1: three evaluations determine it."""
        at = self.condition(*self.step(*pair, 0))
        K = [self.condition(*self.step(*pair, e)) - at for e in np.eye(len(self.s))]
        return np.linalg.solve(np.stack(K, -1), -at[..., None])[..., 0]

    def l_d(self, *pair_and_f):
        return self.Ld.Ld(*self.step(*pair_and_f))

    def star(self, *pair):
        return self.l_d(*pair, self.f(*pair))

    def slope(self, function, slot, *args):
        """d function/d args[slot], the new axis last; none for a time."""

        def along(e):
            moved = (a + 1e-30j * e if k == slot else a for k, a in enumerate(args))
            return function(*moved).imag / 1e-30

        if slot in (0, 2):
            return along(1)
        return np.stack([along(e) for e in np.eye(np.shape(args[slot])[-1])], -1)

    def equations(self, step0, step1):
        """The two sides of (32) at the nodes that join two steps: D1Ld* + D2Ld* and F- + F+."""
        left = self.slope(self.star, 1, *step1) + self.slope(self.star, 3, *step0)
        return left, self.forces(*step1)[0] + self.forces(*step0)[1]

    def connection(self, t, r):
        if isinstance(self.red, nh.Horizontal):
            return np.zeros((*r.shape[:-1], len(self.s), len(self.r)))
        A = oracle.formulas(self.red.full).A(t, self.q(r, 0).real)
        return np.linalg.solve(A[..., self.s], A[..., self.r])

    def forces(self, t0, r0, t1, r1):
        """F- and F+ of C03 Prop. 3 for an abelian group."""
        pair = (t0, r0, t1, r1)
        dl = self.slope(self.l_d, 4, *pair, self.f(*pair))
        minus = self.slope(self.f, 1, *pair) - self.connection(t0, r0)
        plus = self.slope(self.f, 3, *pair) + self.connection(t1, r1)
        return [np.einsum("...a,...ab->...b", dl, x) for x in (minus, plus)]


def null_space(A):
    """Bases of {v : A v = 0}, shape (N, n, n - m)."""
    return np.swapaxes(np.linalg.svd(A)[2][:, A.shape[1] :], -1, -2)


@pytest.mark.ledger("CM01-5.5", "DRP-abelian")
@by_rules(*MAIN, *HORIZONTAL)
def test_reduced_and_reconstructed_is_the_full_motion(name, alpha, symmetric):
    red = reduced(name)
    method = nh.RDLA(alpha, symmetric)
    sol = integrate(red, method)
    full = integrate(red.full, nh.DLA(alpha, symmetric))
    again = red.reconstruct(sol)
    assert again.system == red.full and again.method == full.method
    same(again, full)
    close(red.project(full) - sol.q, 1e-12 * (1 + np.abs(full.q).max()))
    far(red.project(integrate(red.full, nh.DLA(0.4))) - sol.q, 1e-12)  # another rule
    # a part of the step's equations is gone, not only moved: the generated text is shorter
    assert len(nh.source(red, method)) < len(nh.source(red.full, full.method))

    second = {"q0": full.q[0], "q1": full.q[1]}
    r = {k: red.project(q) for k, q in second.items()}
    sol, full = integrate(red, method, **r), integrate(red.full, full.method, **second)
    same(red.reconstruct(sol, full.q[0][red.bundle.s]), full)
    assert np.isnan(red.reconstruct(sol).lam[0]).all()  # no force belongs to a step that was given


@pytest.mark.ledger("CM01-5.5", "DRP-abelian")
@by_rules(*MAIN, *HORIZONTAL)
def test_printed_formulas_and_momenta(name, alpha, symmetric):
    """p- = -D1Ld* + F-, p+ = D2Ld* - F+; f, Ld*, F-, F+ by two codes at random pairs."""
    red, method = reduced(name), nh.RDLA(alpha, symmetric)
    rng = np.random.default_rng(5)
    r0 = rng.uniform(0.2, 1, (6, len(red.q)))
    r1, t0, h = r0 + rng.uniform(-0.2, 0.2, r0.shape), rng.uniform(0, 1, 6), 0.1
    paper, pair = Printed(red, method), (t0, r0, t0 + h, r1)
    rule = (r0, r1, h, alpha, symmetric, t0)
    D1, D2 = (paper.slope(paper.star, slot, *pair) for slot in (1, 3))
    F_minus, F_plus = paper.forces(*pair)
    close(red.f(*rule) - paper.f(*pair), 1e-13)
    printed = {"Ld": paper.star(*pair), "D1Ld": D1, "D2Ld": D2, "F_minus": F_minus}
    printed |= {"F_plus": F_plus, "beta_0": -F_minus, "beta_1": -F_plus}
    for what, value in printed.items():
        close(getattr(red, what)(*rule) - value, 1e-12)
    v = (r1 - r0) / h
    close(method.on_step(red, "p_minus", t0, r0, v, h) - (F_minus - D1), 1e-12)
    close(method.on_step(red, "p_plus", t0, r0, v, h) - (D2 - F_plus), 1e-12)
    if name != "snakeboard":  # whose rotor turns uniformly: f is constant
        far(method.on_step(red, "p_plus", t0, r0, v, h) - D2, 1e-12)  # the forces matter


@pytest.mark.ledger("CM01-midpoint")
@pytest.mark.parametrize("name", ["transmission", "coupled", "particle", "odd_ball"])
def test_midpoint_forces_discretise_the_gyroscopic_force(name):
    """F-(k, k+1) + F+(k-1, k) = -h times the force of d/dt L*_v - L*_r, plus O(h^3)."""
    red = rolling(odd_ball) if name == "odd_ball" else reduced(name)
    hs = (0.02, 0.01, 0.005, 0.0025)

    def error(h, alpha=0.5, sign=1):
        t = 0.3 + np.array([-h, 0, h])[:, None]
        curve = np.concatenate([np.sin(t) + 0.4, np.cos(2 * t) / 2], -1)
        slope = np.concatenate([np.cos(t), -np.sin(2 * t)], -1)
        F = red.F_minus(curve[1], curve[2], h, alpha) + red.F_plus(curve[0], curve[1], h, alpha)
        return np.abs(F / h + sign * red.gyroscopic_force(curve[1], slope[1])).max()

    for alpha, order in ((0.5, 2), (0.3, 1)):
        assert power(partial(error, alpha=alpha), hs) == pytest.approx(order, abs=0.1)
    assert error(hs[-1], sign=-1) > 1e-2  # the sign is this one


@pytest.mark.ledger("CM01-5.6")
@pytest.mark.parametrize("name", ["flat", "bent", "twisted"])
def test_vanishing_force_and_linear_A_make_midpoint_rdla_variational(name):
    red = reduced(name)
    assert red.gyroscopic == sp.zeros(2, 1) and np.linalg.eigvalsh(red.full.M(red.full.q0))[0] > 0.1
    assert (red.curvature == 0 * red.curvature) == red.full.is_holonomic() == (name == "flat")
    sol = integrate(red, nh.RDLA())
    pair = (sol.q[:-1], sol.q[1:], 0.1)
    close([red.F_minus(*pair), red.F_plus(*pair)], 1e-14)
    free = unforced(red)
    close(integrate(free, nh.Variational()).q - sol.q, 1e-13)
    if name == "twisted":
        return  # whose force is zero for every alpha
    third = integrate(red, nh.RDLA(0.3))  # only the midpoint
    far(red.F_minus(third.q[:-1], third.q[1:], 0.1, 0.3), 1e-9)
    far(integrate(free, nh.Variational(0.3)).q - third.q, 1e-9)


@pytest.mark.ledger("CM01-5.6")
@pytest.mark.parametrize("name", ["robot", "rolling_disk"])
def test_without_linear_A_it_is_not(name):
    """The force vanishes here, too, but F- and F+ do not: they are of order h^2."""
    red = reduced(name)
    assert red.gyroscopic == sp.zeros(2, 1)
    runs = {h: integrate(red, nh.RDLA(), h=h, steps=round(2 / h)).q for h in (0.1, 0.05)}
    sizes = [np.abs(red.F_minus(r[:-1], r[1:], h)).max() for h, r in runs.items()]
    gaps = [apart(red, nh.RDLA(), nh.Variational(), h) for h in runs]
    for coarse, fine in (sizes, gaps):
        assert fine > 5e-5 and coarse / fine == pytest.approx(4, rel=0.1)


@pytest.mark.ledger("CM01-square")
def test_the_square_of_reducing_and_discretising():
    """Linear A and the midpoint: it commutes, force or not.  Otherwise up to O(h^2), or O(h)."""
    for name in ("particle", "flat", "bent"):
        assert apart(reduced(name), nh.RDLA(), nh.Variational(), 0.1) < 1e-13
    cases = ("particle", 0.3, True, 2), ("transmission", 0.5, False, 2), ("particle", 0.3, False, 1)
    for name, *rule, order in cases:
        pair = nh.RDLA(*rule), nh.Variational(*rule)
        coarse, fine = (apart(reduced(name), *pair, h) for h in (0.1, 0.05))
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.15)


@pytest.mark.ledger("DRP-horizontal")
def test_the_square_commutes_for_horizontal_symmetries():
    cases = product(("relative_board", "two_rotors"), ((0.5,), (0.3,)))
    for name, rule in (*cases, ("snakeboard", (0.3, True))):
        same(*(integrate(reduced(name), m(*rule)) for m in (nh.DLA, nh.RDLA)))
    # the symmetric rule takes one V_s for both points of a step, the Routhian one for each
    pair = nh.DLA(0.3, True), nh.RDLA(0.3, True)
    coarse, fine = (apart(reduced("relative_board"), *pair, h) for h in (0.1, 0.05))
    assert fine > 1e-9 and np.log2(coarse / fine) == pytest.approx(2, abs=0.2)


def values(red, table, *state):
    """Of expressions in (t, r, v), by the oracle."""
    arguments = (red.t or sp.Symbol("t"), red.q, red.v)
    return oracle.numeric(arguments, sp.Array(table).subs(oracle.numbers(red)))(*state)


def gyroscopic_part(red):
    """f = L*_r + the gyroscopic force: what is integrated, and the formula with the curvature.

    The force does no work, unless A depends on time.
    """
    t, r, v = 0.3, *np.random.default_rng(1).uniform(0.2, 1, (2, 5, len(red.q)))
    extra = [a - b for a, b in zip(red.symbolic.f, red.symbolic.L_q, strict=True)]
    F = red.gyroscopic_force(r, v, t)
    close(values(red, extra, t, r, v) - F, 1e-13)
    assert red.t is not None or np.abs(np.einsum("kb,kb->k", F, v)).max() < 1e-13


def energy_rate(red, L_t):
    """dE/dt + L_t along the reduced equations of motion, at random states."""
    t, r, v = 0.3, *np.random.default_rng(2).uniform(0.2, 1, (2, 5, len(red.q)))
    v, E = red.project(r, v, t), red.symbolic.E  # in D
    slopes = [sp.diff(E, s) for s in (*red.q, *red.v, red.t or sp.Symbol("t"))]
    slopes[-1] += L_t
    rate = np.concatenate([v, red.acceleration(r, v, t), np.ones((5, 1))], -1)
    return np.einsum("ki,ki->k", values(red, slopes, t, r, v), rate)


@pytest.mark.ledger("CM01-5.5", "CM01-5.3.1")
@pytest.mark.parametrize("name", [*MAIN, "transmission", "relative_board"])
def test_continuous_reduced_equations(name):
    """The reduced motion is that of L* with the gyroscopic force, and has the whole energy."""
    red = reduced(name)
    sol, full = (integrate(s, nh.Reference(), h=0.5, steps=6) for s in (red, red.full))
    close(sol.q - red.project(full), 1e-9)
    r, v = red.start(full.q, full.v, full.t)  # v0 stays in D and, Horizontal, J = mu
    close(red.lift(r, v, full.t) - full.v, 1e-9)
    close(sol.energy() - full.energy(), 1e-9)
    gyroscopic_part(red)
    close(energy_rate(red, red.symbolic.L_t), 1e-13)
    if red.t is not None:  # A depends on time: its force works, and L*_t alone is not the balance
        far(energy_rate(red, sp.diff(red.L, red.t)), 1e-13)
    if red.gyroscopic != sp.zeros(*red.gyroscopic.shape):
        far(integrate(unforced(red), nh.Reference(), h=0.5, steps=6).q - sol.q, 1e-9)


def test_energies_and_velocities_of_a_reduced_run():
    """At the nodes those of the projected full motion, between them the discrete energy."""
    red = reduced("particle")
    sol = integrate(red, nh.RDLA())
    full = red.reconstruct(sol)
    close(sol.energy() - full.energy("projected"), 1e-13)
    far(sol.energy() - full.energy(), 1e-9)
    close(sol.energy("midpoints") - full.energy("midpoints"), 1e-13)
    close(np.einsum("kb,kb->k", red.gyroscopic_force(sol.q, sol.v), sol.v), 1e-13)  # no work
    red = reduced("relative_board")
    sol = integrate(red, nh.RDLA())
    close(sol.constraint("projected"), 1e-14)
    far(sol.constraint(), 1e-9)
    close(sol.energy("projected") - red.reconstruct(sol).energy("projected"), 1e-13)
    with pytest.raises(ValueError, match="nearest admissible velocity"):
        nh.integrate(red, nh.RDLA(), v0=(1, 1, 1, 1), q0=red.q0, h=0.1, steps=1)


def test_projector_on_reductions():
    """Horizontal: the reduced projector method.  Chaplygin: no constraints, the forced DLA."""
    red = reduced("relative_board")
    run, full = (integrate(s, nh.Projector()) for s in (red, red.full))
    close(run.q - red.project(full), 1e-12)
    red = reduced("particle")
    close(integrate(red, nh.Projector()).q - integrate(red, nh.DLA()).q, 1e-13)
    far(integrate(red, nh.Projector()).q - red.project(integrate(red.full, nh.Projector())), 1e-9)


@pytest.mark.ledger("C03-P3")
@pytest.mark.parametrize("name", ["particle", "rolling_disk", "driven", "relative_board"])
def test_redla_reduced_and_reconstructed_is_edla(name):
    """A round-off in the energy changes h by 1/h^2 as much, hence fewer digits than for RDLA."""
    red = reduced(name)
    sol, full = integrate(red, nh.REDLA()), integrate(red.full, nh.EDLA())
    again = red.reconstruct(sol)
    assert np.ptp(sol.h) > 1e-5 or name == "rolling_disk"  # which moves uniformly
    same(again, full, digits=9)


@pytest.mark.ledger("C03-P3")
@pytest.mark.parametrize("name", ["particle", "driven"])
def test_printed_redla_equations(name):
    """The time equation D1Ld* + D3Ld* = 0 holds as printed only if f does not depend on time."""
    red, method = reduced(name), nh.REDLA()
    sol = integrate(red, method)
    paper, tol = Printed(red, method), roundoff(red, red.reconstruct(sol))
    step0, step1 = oracle.steps(sol.t, sol.q)
    left, right = paper.equations(step0, step1)
    close(left - right, tol)

    def dl_dt(slot, step):
        dl = paper.slope(paper.l_d, 4, *step, paper.f(*step))
        return np.einsum("ka,ka->k", dl, paper.slope(paper.f, slot, *step))

    energy = paper.slope(paper.star, 0, *step1) + paper.slope(paper.star, 2, *step0)
    if name == "driven":
        far(energy, tol)
        energy -= dl_dt(0, step1) + dl_dt(2, step0)
    close(energy, tol * (1 + np.abs(sol.v_step).max()))


@pytest.mark.ledger("C03-P2", "C03-left")
def test_rigid_constraints_are_all_pairs_of_the_base():
    """Given q0 and r1 there is one q1 over r1 with (q0, q1) in Dd; given r0 and q1, one q0."""
    red = reduced("coupled")
    rng = np.random.default_rng(7)
    r0, r1 = rng.uniform(0.2, 1, (2, 8, 2))
    s0, g = rng.uniform(-1, 1, (2, 8, 2))
    for rule in RULES:
        q0, q1 = red.nu_inverse(r0, r1, 0.1, *rule, s0=s0)
        wd = oracle.discrete(red.full, nh.DLA(*rule)).wd
        close(wd(0, q0, 0.1, q1), 1e-12)  # the pair lies in Dd
        back = red.nu(q0, q1, 0.1, *rule)
        assert np.array_equal(back[0], r0) and np.array_equal(back[1], r1)
        close(red.act(g, q1) - red.nu_inverse(r0, r1, 0.1, *rule, s0=s0 + g)[1], 1e-14)
        close(q1[:, red.bundle.s] - red.f(r0, r1, 0.1, *rule) - s0, 1e-14)  # from the left
        far(wd(0, q0, 0.1, red.act(g, q1)), 1e-12)  # rigid: only g = e leaves it in Dd
        far(wd(0, red.act(g, q0), 0.1, q1), 1e-12)
        with pytest.raises(ValueError, match="not horizontal"):
            red.nu(q0, red.act(g, q1), 0.1, *rule)


@pytest.mark.ledger("C03-P2", "C03-left")
def test_constraints_that_are_not_rigid():
    """y vz = vx determines vz except at y = 0, where a step over the axis has its midpoint."""
    red = nh.Chaplygin(particle("x y z", rows=[y * vz - vx]), fibre="z")
    r0, r1 = np.array([0.3, -1.0]), np.array([0.3, 1.0])
    wd = oracle.discrete(red.full, nh.DLA()).wd
    for s0, s1 in product((0, 1, 2), repeat=2):  # all of them
        close(wd(0, np.array([*r0, s0]), 0.1, np.array([*r1, s1])), 0)
    assert not np.isfinite(red.f(r0, r1, 0.1)).any()
    with pytest.raises(ValueError, match="right-rigid"):
        red.nu_inverse(r0, r1, 0.1)
    red.nu_inverse(r0, r1, 0.1, 0.3)  # another rule has no point on the axis


@pytest.mark.ledger("DRP-connection")
@pytest.mark.parametrize("name", ["coupled", "robot", "two_rotors"])
def test_discrete_connection(name):
    red = reduced(name)
    rng = np.random.default_rng(3)
    q0, q1 = rng.uniform(0.2, 1, (2, 8, len(red.full.q)))
    g, g0 = rng.uniform(-1, 1, (2, 8, len(red.fibre)))
    h, rule = 0.1, (0.3, True)
    A = red.A_d(q0, q1, h, *rule)
    close(red.A_d(q0, red.act(g, q1), h, *rule) - (g + A), 1e-13)  # composition
    close(red.A_d(red.act(g, q0), red.act(g, q1), h, *rule) - A, 1e-13)  # invariance
    horizontal = red.act(-A, q1)
    paper = Printed(red, nh.RDLA(*rule))
    close(paper.condition(0, q0, h, horizontal), 1e-12)
    far(paper.condition(0, q0, h, q1), 1e-12)
    close(red.A_d(q0, horizontal, h, *rule), 1e-13)

    r0, r1, A = red.alpha_Ad(q0, q1, h, *rule)  # a bijection with Q/G x Q/G x G
    s0 = q0[:, red.bundle.s]
    p0, p1 = red.alpha_Ad_inverse(r0, r1, A, h, *rule, s0=s0)
    close(p0 - q0, 0)
    close(p1 - q1, 1e-13)
    moved = red.alpha_Ad_inverse(r0, r1, A, h, *rule, s0=s0 + g0)  # the same class
    close(moved[1] - red.act(g0, q1), 1e-13)
    close(red.alpha_Ad(*moved, h, *rule)[2] - A, 1e-13)
    # s1 - s0 alone is invariant, too, but vanishes on no Dd
    far(q1[:, red.bundle.s] - s0 - A, 1e-12)


def four_statements(red, method, full):
    """The residuals of the poster's statements 1 to 4 on a full path, and their round-off."""
    rng = np.random.default_rng(11)
    Ld, (step0, step1) = oracle.discrete(red.full, method), oracle.steps(full.t, full.q)
    t, q, A = full.t, full.q, oracle.formulas(red.full).A(full.t, full.q)
    D = null_space(A)
    coefficients = rng.uniform(-1, 1, (len(q), D.shape[-1]))
    coefficients[0] = coefficients[-1] = 0  # fixed end points
    dq = np.einsum("kia,ka->ki", D, coefficients)
    path = q + 1e-30j * dq
    first = Ld.Ld(t[:-1], path[:-1], t[1:], path[1:]).sum().imag / 1e-30
    momentum = Ld.D2(*step1) + Ld.D4(*step0)
    second = np.einsum("kia,ki->ka", D[1:-1], momentum)

    paper, r, dr = Printed(red, method), red.project(q), red.project(dq)
    pair = (t[:-1], r[:-1], t[1:], r[1:])
    minus, plus = paper.forces(*pair)  # -beta_0, -beta_1
    curve = r + 1e-30j * dr
    sigma = paper.star(t[:-1], curve[:-1], t[1:], curve[1:]).sum().imag / 1e-30
    third = sigma - ((minus[1:] + plus[:-1]) * dr[1:-1]).sum()
    left, right = paper.equations(*oracle.steps(t, r))
    equations = left - right
    if red.constraints:  # up to the reduced constraint forces
        rows = A[..., paper.r]
        equations = np.einsum("kia,ki->ka", null_space(rows)[1:-1], equations)
    count = dq.size
    return [np.abs(e).max() for e in (first / count, second, third / count, equations)]


@pytest.mark.ledger("CM01-5.5", "DRP-chaplygin", "DRP-horizontal", "DRP-abelian")
@by_rules("particle", "transmission", "robot", "driven", "snakeboard", "relative_board")
def test_four_statements(name, alpha, symmetric):
    """The fourth is (32), or (34) with F_d = -F, the forced equations of the reduced motion."""
    red, method = reduced(name), nh.RDLA(alpha, symmetric)
    sol = integrate(red, method)
    full, other = red.reconstruct(sol), integrate(red.full, nh.RK4())
    paper, tol = Printed(red, method), roundoff(red, full)

    def condition(run):  # wd = 0 or J_d = mu
        return paper.condition(run.t[:-1], run.q[:-1], run.t[1:], run.q[1:])

    assert max(four_statements(red, method, full)) < tol
    close(condition(full), tol)
    assert min(four_statements(red, method, other)) > 1e3 * tol
    if name in CHAPLYGIN:
        # The path must lie in Dd: a projector run, which does not, has 1 and 2 without 3 and 4.
        other = integrate(red.full, nh.Projector(alpha, symmetric))
        residuals = four_statements(red, method, other)
        assert max(residuals[:2]) < tol and min(residuals[2:]) > 1e3 * tol
    else:
        close(red.J_d(full.q[:-1], full.q[1:], 0.1, alpha, symmetric) - red.mu, tol)
        close(sol.constraint("midpoints"), tol)  # (r_k, r_k+1) in the reduced Dd
    if name != "snakeboard":  # whose board does not feel the rotor
        far(condition(other), tol)
    if name == "relative_board":
        far(integrate(red.set(**{red.mu_symbols[0].name: 0.1}), method).q - sol.q, 1e-9)
        far(red.J_d(other.q[:-1], other.q[1:], 0.1, alpha, symmetric) - red.mu, tol)


@pytest.mark.ledger("DRP-horizontal")
@rules
def test_a_kept_momentum_of_an_action_that_moves_D(alpha, symmetric):
    """d/dy lies in D of the free particle and its momentum is kept, but D is not invariant: the
    motion does not drop to (x, z) as it is.  With y = y0 + mu t it does, as a system in time."""
    full, method = S.free_particle(), nh.DLA(alpha, symmetric)
    with pytest.raises(ValueError, match=r"constraint .* depends on the fibre coordinate y"):
        nh.Horizontal(full, "y")
    t = nh.symbols("t")
    row = vz - (1 + nh.symbols("mu") * t) * vx
    dropped = particle("x z", rows=[row], t=t, parameters={"mu": 1})
    sol = integrate(full, method)
    close(sol.p[:, 1] - 1, 1e-13)
    run = integrate(dropped, method, q0=(0, 0), v0=(1, 1))
    close(run.q - sol.q[:, [0, 2]], 1e-12)
    close(run.lam - sol.lam, 1e-12)
    far(integrate(dropped.set(mu=1.1), method, q0=(0, 0), v0=(1, 1)).q - sol.q[:, [0, 2]], 1e-12)


@pytest.mark.ledger("DRP-horizontal")
def test_mu_is_a_parameter():
    red = reduced("relative_board")
    q0, v0 = np.array(red.full.q0), red.full.project(red.full.q0, (0.5, 0, 0.1, 2, 0.1))
    with pytest.raises(ValueError, match=r"reduction.at\(q0, v0\)"):
        red.start(q0, v0)
    other = red.at(q0, v0)
    assert other.mu == pytest.approx(red.full.momentum(q0, v0)[[3]], rel=1e-14)
    assert other.key == red.key and other != red and other.generated is red.generated
    r0, u0 = other.start(q0, v0)
    sol = integrate(other, nh.RDLA(), q0=r0, v0=u0)
    same(other.reconstruct(sol, [0.0]), integrate(red.full, nh.DLA(), q0=q0, v0=v0))
    clash = nh.symbols("mu")
    taken = nh.System((x, y), (vx, vy), (clash * vx**2 + vy**2) / 2, parameters={clash: 2.0})
    red = nh.Horizontal(taken, "x", mu=0.5)
    assert {s.name: v for s, v in red.parameters.items()} == {"mu": 2.0, "mu_": 0.5}
    assert red.set(mu=3, mu_=1).full.parameters == {clash: 3.0}


def test_horizontal_with_holonomic_rows():
    """g(r) = 0 goes over to the reduced system."""
    L = (vx**2 + vy**2 + (2 + x) * vz**2) / 2 - y
    full = nh.System(
        (x, y, z), (vx, vy, vz), L, holonomic=[x**2 + y**2 - 1], q0=(1, 0, 0), v0=(0, 1, 0.7)
    )
    red = nh.Horizontal(full, "z")
    sol = integrate(red, nh.RDLA())
    same(red.reconstruct(sol), integrate(full, nh.DLA()))
    close(red.g(sol.q), 1e-13)
    with pytest.raises(ValueError, match="holonomic"):
        nh.Chaplygin(full, fibre="z")


def odd_ball(rule="cayley"):
    """R^2 x SO(3), anisotropic, A depends on r: nothing cancels."""
    o = nh.symbols("w1 w2 w3")
    L = (vx**2 + vy**2 + o[0] ** 2 + 2 * o[1] ** 2 + 3 * o[2] ** 2) / 2 - x**2 - y**2
    rows = [vx + o[1] + sp.sin(x) * vy / 3, vy - o[0] + y * o[1] / 3, 2 * o[2] + x * vy + vx]
    make = partial(nh.GroupSystem, nh.groups.SO3, (vx, vy, *o), L, rows, r=(x, y), rule=rule)
    return started(make, (1, 0, 0.8, 0, 0.6, 0), (0, 1, 0.1, 0.2, 0), name="odd ball")


@cache
def rolling(make, **options):
    return nh.Chaplygin(make(**options), base="x y")


def printed_group_forces(red, r0, r1, h, alpha, translated=True, eps=1e-5):
    """F- and F+ of CM01 5.3.2 from f, l_d and A alone, shape (..., 2) each.

    f is moved along df/dr0 - R_f A(r0), or along df/dr1 + L_f A(r1), and l_d is differentiated by
    central differences; not ``translated``, A(r0) is wrongly carried by L_f instead of R_f.
    """
    full, G, join = red.full, red.bundle.group, red.bundle.join
    A0, A1 = connection(red, r0), connection(red, r1)

    def l_d(f):
        q0, q1 = join(r0, np.array(G.identity)), join(r1, f)
        v = full.velocity_between(q0, q1, h)
        return h * nh.diagnostics.lagrangian(full, (1 - alpha) * q0 + alpha * q1, v)

    def minus(e):
        f, xi = red.f(r0 + e, r1, h, alpha), -A0 @ e
        return l_d(G.multiply(G.exp(xi), f) if translated else G.multiply(f, G.exp(xi)))

    def plus(e):
        return l_d(G.multiply(red.f(r0, r1 + e, h, alpha), G.exp(A1 @ e)))

    ways = eps * np.eye(2)
    return [np.stack([(F(e) - F(-e)) / (2 * eps) for e in ways], -1) for F in (minus, plus)]


@pytest.mark.ledger("CM01-5.5", "C03-P3")
@pytest.mark.parametrize("make", [S.rubber_ball, odd_ball])
def test_a_group_as_fibre(make):
    red = rolling(make)
    for alpha in (0.5, 0.3):
        method = nh.RDLA(alpha)
        sol, full = integrate(red, method), integrate(red.full, method.full)
        same(red.reconstruct(sol), full)
        first, second = (sol.q[:-2], sol.q[1:-1]), (sol.q[1:-1], sol.q[2:])
        rule = (0.1, alpha)
        D1, D2 = red.D1Ld(*second, *rule), red.D2Ld(*first, *rule)
        right = printed_group_forces(red, *second, *rule)[0]
        right += printed_group_forces(red, *first, *rule)[1]
        close(D1 + D2 - right, 1e-9)
        far(D1 + D2, 1e-9)
        far(D1 + 3 * D2 + 7 - right, 1e-9)  # the equation notices a wrong derivative
    sol = integrate(red, nh.Reference(), h=0.5, steps=4)
    close(sol.q - red.project(integrate(red.full, nh.Reference(), h=0.5, steps=4)), 1e-9)
    gyroscopic_part(red)


@pytest.mark.ledger("C03-P3")
@pytest.mark.parametrize("alpha", [0.5, 0.3])
@pytest.mark.parametrize("rule", ["cayley", "log"])
def test_printed_forces_carry_translations(rule, alpha):
    """dl_d/df (df/dr0 - R_f A(r0)) and dl_d/df (df/dr1 + L_f A(r1)), by differences on SO(3)."""
    red, step = (
        rolling(odd_ball, rule=rule),
        (np.array([0.5, 0.3]), np.array([0.6, 0.5]), 0.1, alpha),
    )
    minus, plus = printed_group_forces(red, *step)
    close(red.F_minus(*step) - minus, 1e-8)
    close(red.F_plus(*step) - plus, 1e-8)
    far(red.F_minus(*step) - printed_group_forces(red, *step, translated=False)[0], 1e-8)


@pytest.mark.ledger("CM01-533")
def test_forces_with_structure_constants():
    """CM01 5.3.3 on an SO(3) fibre: F- and F+ as printed err by O(h), their sum by O(h^2).

    Both tend to the gyroscopic force with the bracket of the curvature; with the sign that closes
    the section they do not.
    """
    red = nh.Chaplygin(lesson_07b.turning_frame(), base="x y")
    force = partial(lesson_07b.structure_force, red)

    def nodes(h):
        t = 0.3 + h * np.array([[-1], [0], [1]])
        return np.hstack([np.sin(t) + 0.4, np.cos(2 * t) / 2])

    def gaps(h):
        """Of F-, of F+ and of their sum at the middle node, each divided by h."""
        before, node, after = nodes(h)
        exact = red.F_minus(node, after, h) / h, red.F_plus(before, node, h) / h
        steps = (node, after), (before, node)
        printed = [force((a + b) / 2, (b - a) / h, node) / 2 for a, b in steps]
        minus, plus = (x - y for x, y in zip(exact, printed, strict=True))
        return [np.abs(gap).max() for gap in (minus, plus, minus + plus)]

    def from_continuous(h, bracket=-1):
        before, node, after = nodes(h)
        F = red.F_minus(node, after, h) + red.F_plus(before, node, h)
        v = np.array([np.cos(0.3), -np.sin(0.6)])
        return np.abs(F / h - force(node, v, bracket=bracket)).max()

    hs = (0.02, 0.01, 0.005, 0.0025)
    for which, order in enumerate((1, 1, 2)):
        assert power(lambda h, k=which: gaps(h)[k], hs) == pytest.approx(order, abs=0.1)
    assert power(from_continuous, hs) == pytest.approx(2, abs=0.1) and from_continuous(5e-3) < 1e-4
    assert min(from_continuous(h, bracket=1) for h in (0.1, 0.05, 0.005)) > 0.3  # as printed
    r, v = nodes(0.1)[1], np.array([0.7, -0.4])
    close(force(r, v) + red.gyroscopic_force(r, v), 1e-14)
    # without a bracket the printed forces are exact, for A is linear
    red, step = reduced("particle"), (r, nodes(0.1)[2])
    v, middle = (step[1] - step[0]) / 0.1, (step[0] + step[1]) / 2
    close(red.F_minus(*step, 0.1) - 0.05 * lesson_07b.structure_force(red, middle, v, r), 1e-14)


@pytest.mark.ledger("DRP-connection", "C03-left")
def test_discrete_connection_of_a_group():
    red, G = rolling(odd_ball), nh.groups.SO3
    rng = np.random.default_rng(4)
    r, s = rng.uniform(-1, 1, (2, 6, 2)), G.exp(rng.uniform(-1, 1, (3, 6, 3)))
    q0, q1 = (np.concatenate([a, b], -1) for a, b in zip(r, s, strict=False))
    A, g = red.A_d(q0, q1, 0.1), s[2]
    close(G.matrix(red.A_d(q0, red.act(g, q1), 0.1)) - G.matrix(G.multiply(g, A)), 1e-13)
    # not abelian: A_d is equivariant, not invariant, so alpha_Ad takes s0 as well
    both = red.A_d(red.act(g, q0), red.act(g, q1), 0.1)
    close(G.matrix(both) - G.matrix(G.multiply(G.multiply(g, A), G.inverse(g))), 1e-13)
    far(G.matrix(both) - G.matrix(A), 1e-12)
    back = red.alpha_Ad_inverse(*red.alpha_Ad(q0, q1, 0.1), 0.1, s0=s[0])
    close(G.matrix(back[1][:, 2:]) - G.matrix(q1[:, 2:]), 1e-13)
    pair = red.nu_inverse(r[0], r[1], 0.1, s0=s[0])
    close(np.array(red.nu(*pair, 0.1)) - r, 0)
    with pytest.raises(ValueError, match="not horizontal"):
        red.nu(pair[0], red.act(g, pair[1]), 0.1)

    def miss(q0, q1):
        v = red.full.velocity_between(q0, q1, 0.1)
        return nh.DLA().on_step(red.full, "constraints", 0, q0, v, 0.1)

    close(miss(*pair), 1e-12)
    f_inverse = G.inverse(red.f(*r, 0.1))  # from the left: s0 = s1 f^-1, not f^-1 s1
    close(miss(red.bundle.join(r[0], G.multiply(s[1], f_inverse)), q1), 1e-12)
    far(miss(red.bundle.join(r[0], G.multiply(f_inverse, s[1])), q1), 1e-12)


def test_a_closed_loop_turns_the_ball():
    """Once round a circle of radius R the ball turns by 2 pi (sqrt 2 - 1) about a tilted axis."""
    red = rolling(S.rubber_ball).set(k1=1.4, k2=1.4)  # frequency 1: the mass is 1 + 0.4
    turns = []
    for count in (50, 100):
        sol = integrate(red, nh.RDLA(), h=2 * np.pi / count, steps=count)
        turns.append(nh.groups.SO3.log(red.reconstruct(sol).q[-1, 2:]))
    exact = 2 * np.pi * (np.sqrt(2) - 1) / np.sqrt(2) * np.array([1, 0, 1])
    gaps = [np.abs(turn - exact).max() for turn in turns]
    assert gaps[1] < 5e-3 and np.log2(gaps[0] / gaps[1]) == pytest.approx(2, abs=0.1)
    assert red.gyroscopic == sp.zeros(2, 1)  # although the curvature is not zero
    assert red.curvature[2, 0, 1] != 0


@pytest.mark.ledger("DRP-mixed")
@pytest.mark.parametrize(
    "red",
    [reduced("robot"), reduced("two_rotors"), rolling(S.rubber_ball), mixed()],
    ids=lambda r: r.name,
)
def test_reductions_are_values(red, tmp_path):
    again = pickle.loads(pickle.dumps(red))
    assert again == red and again.key == red.key and again.full == red.full
    assert repr(again) == repr(red)
    rows = 1 + len(red.constraints) + len(red.fibre_v) + sum(F != 0 for F in red.gyroscopic)
    assert red._repr_latex_().count(" = ") + red._repr_latex_().count("&=") == rows
    sol = integrate(red, nh.RDLA(0.3), steps=10)
    sol.save(tmp_path / "run.npz")
    loaded = nh.load(tmp_path / "run.npz")
    assert loaded.system == red and loaded.method == sol.method
    assert getattr(loaded.system, "symmetry", None) == getattr(red, "symmetry", None)
    assert np.array_equal(red.reconstruct(loaded).q, red.reconstruct(sol).q)
    r0, v0 = np.array([red.q0] * 20, float), np.array([red.v0] * 20, float)
    many = nh.ensemble(red, nh.RDLA(0.3), r0, v0, h=0.1, steps=10)
    close(many[3].q - sol.q, 1e-13)


def test_set_reaches_the_full_system():
    red = reduced("robot")
    other = red.set(R=0.5)
    assert other.full == red.full.set(R=0.5) and red.full == S.robot()
    q0, v0 = (0, 0, 0, 0), (1, 0, 1, 2)
    sol = integrate(other, nh.RDLA(), q0=(0, 0), v0=other.start(q0, v0)[1])
    same(other.reconstruct(sol), integrate(S.robot(R=0.5), nh.DLA(), q0=q0, v0=v0))
    with pytest.raises(ValueError, match="unknown"):
        red.set(mu=1)


def two(rows=(vz - y * vx,), L=0, **options):
    return particle("x y z", -L, rows, **options)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: nh.Chaplygin(two(), base="x", fibre="z"), "neither in base nor in fibre"),
        (lambda: nh.Chaplygin(two(), base="x y z", fibre="z"), "in base and in fibre"),
        (lambda: nh.Chaplygin(two(), fibre="u"), "must name coordinates"),
        (lambda: nh.Chaplygin(two(), fibre="z z"), "twice"),
        (lambda: nh.Chaplygin(two(), fibre=[]), "must name coordinates"),
        (lambda: nh.Chaplygin(two(), fibre="x y z"), "both need a coordinate"),
        (lambda: nh.Chaplygin(two()), "name the fibre"),
        (lambda: nh.Chaplygin("particle", fibre="z"), "is no nh.System"),
        (lambda: nh.Chaplygin(two(L=-z), fibre="z"), "L of .* depends on the fibre coordinate z"),
        (lambda: nh.Chaplygin(two(), fibre="y"), "constraint .* depends on the fibre coordinate y"),
        (lambda: nh.Chaplygin(two(), fibre="x z"), "as many constraints as fibre velocities"),
        (lambda: nh.Chaplygin(two([vy - z * vz]), fibre="x"), "lies in D"),
        (lambda: nh.Chaplygin(two(metric=sp.eye(3)), fibre="z"), "metric"),
        (lambda: nh.Horizontal(two(), "z", mu=1), "restricts vz"),
        (lambda: nh.Horizontal(two([vy - x * vx]), "z"), "mu is missing"),
        (lambda: nh.Horizontal(two([vy - x * vx]), "z", mu=(1, 2)), "1 finite numbers"),
        (lambda: nh.Horizontal(two([vy - x * vx]), "z", mu="a"), "1 finite numbers"),
        (lambda: nh.Horizontal(two([vy - x * vx], vz**4), "z", mu=1), "not quadratic"),
        (lambda: nh.Horizontal(two([], vx * vz - vz**2 / 2), "z", mu=1), "transversality"),
        (lambda: nh.Horizontal(S.rubber_ball(), base="x y", mu=(1, 1, 1)), "not by a group"),
        (lambda: nh.Chaplygin(S.rubber_ball(), fibre="x"), "must be its group"),
        (lambda: nh.Mixed(steered(), fibre="z w"), "must name some, not all"),
        (lambda: nh.Mixed(steered(), fibre="z w", momentum="z w"), "must name some, not all"),
        (lambda: nh.Mixed(steered(), fibre="z w", momentum="z"), "restricts vz"),
        (lambda: nh.Mixed(loose(), fibre="z w", momentum="w", mu=1), "transversality fails"),
        (lambda: nh.Mixed(particle("x y z w"), fibre="z w", momentum="w"), "TQ = H . S . U needs"),
    ],
)
def test_hypotheses_are_checked(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    "use, text",
    [
        (lambda red: integrate(red.full, nh.RDLA()), "nh.Chaplygin or nh.Horizontal"),
        (lambda red: integrate(red.full, nh.REDLA()), "nh.Chaplygin or nh.Horizontal"),
        (lambda red: red.reconstruct(integrate(red, nh.RK4())), "no reconstruction"),
        (lambda red: red.reconstruct(integrate(red, nh.RDLA(), every=2)), "every = 2"),
        (lambda red: red.reconstruct(integrate(reduced("robot"), nh.RDLA())), "not of"),
        (lambda red: red.start((0, 1, 0), (1, 1, 2)), "violates the constraints"),
        (lambda red: red.reconstruct(integrate(red, nh.RDLA()), [1, 2]), "s0 has shape"),
        (lambda red: red.F_minus([0, 1], [1, 2], 0.1, 1.5), "alpha = 1.5 must be a number"),
    ],
)
def test_methods_and_reductions_must_belong_together(use, text):
    with pytest.raises(ValueError, match=text):
        use(reduced("particle"))


@pytest.mark.filterwarnings("ignore:the energy")
def test_reconstructed_multipliers_where_forms_are_large():
    """A^T lam is 1e16 in x, where only one multiple of lam is seen: z and w tell both."""
    L = (vx**2 + vz**2 + vw**2) / 2 + vz * vx / 5
    full = nh.System((x, z, w), (vx, vz, vw), L, [vz - x**8 * vx, vw - x**7 * (1 + x) * vx])
    reduced = nh.Chaplygin(full, fibre="z w")
    sol = nh.integrate(reduced, nh.RDLA(alpha=0), [0.5], q1=[100.0], h=1.0, steps=3)
    sol, method = reduced.reconstruct(sol), nh.DLA(alpha=0)
    p_minus = method.on_step(full, "p_minus", sol.t[:-1], sol.q[:-1], sol.rows.v[1:], sol.h)
    change = sol.rows.p[:-1, 1:] - p_minus[:, 1:]
    np.testing.assert_allclose(sol.rows.lam[2:], change[1:], rtol=1e-11)
    assert np.abs(change[1]).min() > 0.1
