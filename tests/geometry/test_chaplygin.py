"""CM01 5.3 beyond its theorems: the gyroscopic force, the robot, theorem 5.6 and its narrowness;
rigid constraints from the left; constraints and momenta in one reduction (DRP)."""

from functools import partial

import numpy as np
import oracle
import pytest
import sympy as sp
from particles import particle
from test_reduction import (
    RULES,
    Printed,
    close,
    far,
    integrate,
    odd_ball,
    reduced,
    rolling,
    rules,
    same,
    started,
    unforced,
)

import nhlab as nh
from nhlab.geometry import reduction

S = nh.systems
x, y, z, w, vx, vy, vz, vw = nh.symbols("x y z w vx vy vz vw")


# ---------------------------------------------------------------------------- the continuous force


def reduced_equation(red, full):
    """d/dt L*_v - L*_r along a run of the full system, with its accelerations; no force yet."""
    r, v = red.start(full.q, full.v)
    a = full.system.acceleration(full.q, full.v)[:, red.bundle.v_r]
    accelerations = sp.symbols(f"a:{len(red.v)}")
    later = dict(zip((*red.q, *red.v), (*red.v, *accelerations), strict=True))
    e = [sum(red.L.diff(u, s) * rate for s, rate in later.items()) for u in red.v]
    e = [d - red.L.diff(s) for d, s in zip(e, red.q, strict=True)]
    values = [c.subs(oracle.numbers(red)) for c in e]
    return r, v, oracle.numeric((red.q, red.v, accelerations), values)(r, v, a)


@pytest.mark.ledger("CM01-5.3.1")
@pytest.mark.parametrize("name", ["particle", "transmission", "coupled", "robot"])
def test_the_gyroscopic_force_does_no_work(name):
    """It is what the reduced equation lacks, with this sign; the reduced energy is kept."""
    red = reduced(name)
    full = nh.integrate(red.full, nh.Reference(), h=0.1, steps=60)
    r, v, left = reduced_equation(red, full)
    F = red.gyroscopic_force(r, v)
    close(left - F, 1e-9 * (1 + np.abs(left).max()))
    close(np.einsum("kb,kb->k", F, v), 1e-12)
    if name != "robot":  # whose force is zero
        far(left + F, 1e-9)  # the printed sign
        far(left, 1e-9)
        far(F, 1e-9)
    E = integrate(red, nh.Reference(), steps=60).energy()
    close(E - E[0], 1e-9)
    far(integrate(red, nh.RDLA(), steps=60).energy() - E[0], 1e-9)


@pytest.mark.ledger("CM01-robot")
def test_the_robot_as_printed():
    """6.2: the constraints, and L* = I theta'^2/2 + (3 Iw + m R^2) psi'^2/2 - 10 sin psi, free."""
    red, p = reduced("robot"), {s.name: s for s in reduced("robot").parameters}
    full, (theta, psi), (vtheta, vpsi) = red.full, red.q, red.v
    X, Y = full.v[:2]
    printed = X - p["R"] * sp.cos(theta) * vpsi, Y - p["R"] * sp.sin(theta) * vpsi
    solved = sp.solve(full.constraints, (X, Y), dict=True)[0]
    assert all(sp.simplify(e.subs(solved)) == 0 for e in printed)
    mass = 3 * p["Iw"] + p["m"] * p["R"] ** 2
    potential = -red.L.subs({vtheta: 0, vpsi: 0})
    assert sp.simplify(potential.subs(oracle.numbers(red)) - 10 * sp.sin(psi)) == 0
    claim = p["I"] * vtheta**2 / 2 + mass * vpsi**2 / 2 - potential
    assert sp.simplify(red.L - claim) == 0
    A = sp.Matrix([[0, -p["R"] * sp.cos(theta)], [0, -p["R"] * sp.sin(theta)]])
    assert sp.simplify(red.connection - A).is_zero_matrix
    assert red.gyroscopic == sp.zeros(2, 1) and red.curvature[0, 0, 1] != 0
    wrong = red.full.set(Iw=2.0)
    other = nh.Chaplygin(wrong, fibre="x y").L.subs(oracle.numbers(wrong))
    assert sp.simplify(other - claim.subs(oracle.numbers(full))) != 0


# ---------------------------------------------------------------------------- the discrete forces


def upstairs(red, method, pair):
    """F- and F+ of 5.3.2 as functions of the pair (q0, q1) in Dd, before anything is reduced."""
    paper, (t0, q0, t1, q1) = Printed(red, method), pair
    base, fibre = paper.r, paper.s
    step = t0, q0[..., base], t1, q1[..., base]
    D0, D1 = paper.Ld.D2(*pair)[..., fibre], paper.Ld.D4(*pair)[..., fibre]
    minus, plus = paper.slope(paper.f, 1, *step), paper.slope(paper.f, 3, *step)
    first = np.einsum("ka,kab->kb", D1, minus)
    first = first + np.einsum("ka,kab->kb", D0, paper.connection(t0, step[1]))
    second = np.einsum("ka,kab->kb", D1, plus + paper.connection(t1, step[3]))
    return first, second


@pytest.mark.ledger("CM01-invariant")
@rules
@pytest.mark.parametrize("name", ["particle", "robot", "coupled"])
def test_the_discrete_forces_are_invariant(name, alpha, symmetric):
    """They are the same at (g q0, g q1), so that they belong to (r0, r1)."""
    red, rng = reduced(name), np.random.default_rng(8)
    r0 = rng.uniform(0.2, 1, (5, 2))
    r1, t0 = r0 + rng.uniform(-0.2, 0.2, (5, 2)), np.zeros(5)
    rule = (0.1, alpha, symmetric)
    down = red.F_minus(r0, r1, *rule), red.F_plus(r0, r1, *rule)
    for _ in range(3):
        s0 = rng.uniform(-2, 2, (5, len(red.fibre)))
        q0, q1 = red.nu_inverse(r0, r1, *rule, s0=s0)
        up = upstairs(red, nh.RDLA(alpha, symmetric), (t0, q0, t0 + 0.1, q1))
        for a, b in zip(up, down, strict=True):
            close(a - b, 1e-12 * (1 + np.abs(b).max()))
            far(b, 1e-12)


@pytest.mark.ledger("CM01-invariant")
@pytest.mark.parametrize("name", ["transmission", "particle"])
def test_each_midpoint_force_is_half_of_the_gyroscopic_force(name):
    """F-/h and F+/h tend to -F/2 each.  The proof of 5.6 prints the whole F for each of them, with
    the indices exchanged, which would make the sum twice what 5.3.3 says it is."""
    red, gaps = reduced(name), {"half": [], "whole": []}
    hs = np.array([0.1, 0.05, 0.025])
    for h in hs:
        r0 = np.array([[0.4, 0.7]])
        v = np.array([[1.1, -0.6]])
        middle, r1 = r0 + h * v / 2, r0 + h * v
        F = red.gyroscopic_force(middle, v)
        for kind, part in (("half", 0.5), ("whole", 1.0)):
            both = (g(r0, r1, h) / h + part * F for g in (red.F_minus, red.F_plus))
            gaps[kind].append(max(np.abs(e).max() for e in both))
    if name == "particle":  # A is linear: exactly half
        assert max(gaps["half"]) < 1e-13
    else:
        assert np.polyfit(np.log(hs), np.log(gaps["half"]), 1)[0] > 0.9
    assert min(gaps["whole"]) > 0.05


# ---------------------------------------------------------------------------- theorem 5.6


@pytest.mark.ledger("CM01-5.6")
@pytest.mark.parametrize("k, m", [(2, 1), (2, 2), (3, 1)])
def test_without_cross_terms_the_hypotheses_force_D_to_be_integrable(k, m):
    """With A linear, L = T(r') + |s'|^2/2 - V(r): |B_fd|^2 is minus the coefficient of v_d^2 r_f in
    F_f and of v_f^2 r_d in F_d.  If F vanishes, so does B.  This is the whole proof."""
    r, v = sp.symbols(f"r:{k}", real=True), sp.symbols(f"u:{k}", real=True)
    s, vs = sp.symbols(f"s:{m}", real=True), sp.symbols(f"us:{m}", real=True)
    T = np.array(sp.symbols(f"T:{m * k * k}", real=True)).reshape(m, k, k)
    A = [[sum(T[a, c, e] * r[e] for e in range(k)) for c in range(k)] for a in range(m)]
    rows = [vs[a] + sum(A[a][c] * v[c] for c in range(k)) for a in range(m)]
    L = sum(u**2 for u in (*v, *vs)) / 2 - r[0] ** 2
    numbers = dict.fromkeys(T.ravel(), 1.0)
    full = nh.System((*r, *s), (*v, *vs), L, rows, parameters=numbers)
    red = nh.Chaplygin(full, fibre=[x.name for x in s])
    F, B = [sp.expand(e) for e in red.gyroscopic], red.curvature
    for f in range(k):
        for d in range(f):
            square = sum(B[a, f, d] ** 2 for a in range(m))
            parts = F[f].coeff(v[d], 2).coeff(r[f]) + F[d].coeff(v[f], 2).coeff(r[d])
            assert sp.expand(square + parts) == 0 and sp.expand(square) != 0


def counterexample():
    """Constant, definite fibre metric with cross terms: F = 0, A linear, D not integrable."""
    row = vz - y * vx + x * vy
    L = (vx**2 + vy**2 + row**2) / 2
    return nh.System((x, y, z), (vx, vy, vz), L, [row], q0=(0.3, 1, 0), v0=(1, 0.5, 0.85))


@pytest.mark.ledger("CM01-5.6")
def test_with_cross_terms_they_do_not():
    full = counterexample()
    red = nh.Chaplygin(full, fibre="z")
    assert sp.hessian(full.L, [vz])[0] == 1 and sp.diff(full.L, vz, vx) != 0  # cross terms
    assert np.linalg.eigvalsh(full.M(full.q0)).min() > 0.1
    assert red.gyroscopic == sp.zeros(2, 1)
    assert red.curvature[0, 0, 1] == 2 and not full.is_holonomic()
    sol = integrate(red, nh.RDLA())
    pair = (sol.q[:-1], sol.q[1:], 0.1)
    close([red.F_minus(*pair), red.F_plus(*pair)], 1e-14)
    close(integrate(unforced(red), nh.Variational()).q - sol.q, 1e-13)
    bent = reduced("bent").full  # the other example: its fibre block is constant, too
    assert sp.hessian(bent.L, [vz, vw]) == sp.eye(2) and sp.diff(bent.L, vw, vx) != 0
    # without the cross terms the same D has a force
    plain = nh.Chaplygin(particle("x y z", rows=full.constraints), fibre="z")
    assert plain.gyroscopic != sp.zeros(2, 1)


# ---------------------------------------------------------------------------- rigid from the left


@pytest.mark.ledger("C03-left")
def test_left_rigid_constraints():
    """Given (r0, q1) there is one q0 over r0 with (q0, q1) in Dd: the mirror image of Prop. 2."""
    red, rng = reduced("coupled"), np.random.default_rng(9)
    r0, r1 = rng.uniform(0.2, 1, (2, 8, 2))
    s1, g = rng.uniform(-1, 1, (2, 8, 2))
    for rule in RULES:
        s0 = s1 - red.f(r0, r1, 0.1, *rule)
        q0, q1 = red.bundle.join(r0, s0), red.bundle.join(r1, s1)
        wd = oracle.discrete(red.full, nh.DLA(*rule)).wd
        close(wd(0, q0, 0.1, q1), 1e-12)
        back = red.nu(q0, q1, 0.1, *rule)
        close(back[0] - r0, 0)
        close(back[1] - r1, 0)
        far(wd(0, red.act(g, q0), 0.1, q1), 1e-12)  # (g q0, q1) leaves Dd unless g = e
        again = red.nu_inverse(r0, r1, 0.1, *rule, s0=s0)
        close(again[1] - q1, 1e-13)


@pytest.mark.ledger("C03-left")
def test_left_rigid_constraints_of_a_group():
    """In SO(3) s0 = s1 f^-1, not f^-1 s1."""
    red, G = rolling(odd_ball), nh.groups.SO3
    rng = np.random.default_rng(10)
    (r0, r1), s1 = rng.uniform(-1, 1, (2, 6, 2)), G.exp(rng.uniform(-1, 1, (6, 3)))
    f = red.f(r0, r1, 0.1)

    def miss(s0):
        q0, q1 = red.bundle.join(r0, s0), red.bundle.join(r1, s1)
        v = red.full.velocity_between(q0, q1, 0.1)
        return nh.DLA().on_step(red.full, "constraints", 0, q0, v, 0.1)

    close(miss(G.multiply(s1, G.inverse(f))), 1e-12)
    far(miss(G.multiply(G.inverse(f), s1)), 1e-12)


@pytest.mark.ledger("C03-left")
def test_constraints_that_are_not_left_rigid():
    """y vz = vx over the axis y = 0: every q0 in the fibre will do."""
    red = nh.Chaplygin(particle("x y z", rows=[y * vz - vx]), fibre="z")
    wd = oracle.discrete(red.full, nh.DLA()).wd
    for s0 in (0.0, 1.0, 2.0):
        close(wd(0, np.array([0.3, -1, s0]), 0.1, np.array([0.3, 1, 0.5])), 0)
    assert not np.isfinite(red.f([0.3, -1], [0.3, 1], 0.1)).any()


# ---------------------------------------------------------------------------- one abelian reduction


def steered():
    """z moves by the constraint, w by its momentum; nothing is diagonal, and M depends on r."""
    L = (vx**2 + vy**2 + (2 + sp.cos(x)) * vz**2 + 3 * vw**2 + vz * vw + y * vw * vx) / 2
    L += sp.sin(x) * vw / 2 - x**2 - y**4
    make = partial(nh.System, (w, x, z, y), (vw, vx, vz, vy), L, [vz - y * vx + sp.sin(x) * vy / 2])
    return started(make, (0, 0.4, 0, 0.8), (0.5, 1, 0.3, -0.4), name="steered")


def mixed():
    return nh.Mixed(steered(), fibre="z w", momentum="w")


@pytest.mark.ledger("DRP-mixed")
@rules
def test_constraints_and_momenta_in_one_reduction(alpha, symmetric):
    red = mixed()
    sol = integrate(red, nh.RDLA(alpha, symmetric))
    full = integrate(red.full, nh.DLA(alpha, symmetric))
    same(red.reconstruct(sol), full)
    close(full.p[:, 0] - red.mu, 1e-13)  # J_d = mu for w ...
    far(full.p[:, 2] - full.p[0, 2], 1e-9)  # ... not for z
    close(red.J_d(full.q[:-1], full.q[1:], 0.1, alpha, symmetric) - red.mu, 1e-12)
    other = red.set(**{red.mu_symbols[0].name: 0.1})
    far(integrate(other, nh.RDLA(alpha, symmetric)).q - sol.q, 1e-9)
    assert not red.constraints and len(red.q) == 2


@pytest.mark.ledger("DRP-mixed")
def test_the_splitting_of_TQ():
    """D = H + S and V = S + U with TQ = H + S + U, by ranks at random points."""
    red = mixed()
    A = red.full.A(np.random.default_rng(2).uniform(0.2, 1, (6, 4)))
    V = np.eye(4)[:, red.bundle.s]  # z, w
    for row in A:
        D = np.linalg.svd(row)[2][1:].T
        S_q = np.eye(4)[:, red.kept]
        assert np.abs(row @ S_q).max() < 1e-15  # S lies in D and in V
        assert np.linalg.matrix_rank(np.hstack([D, V])) == 4
        assert D.shape[1] + V.shape[1] - 4 == S_q.shape[1] == 1  # dim of D and V's intersection


@pytest.mark.ledger("DRP-mixed")
def test_mixed_in_continuous_time_and_with_its_own_steps():
    red = mixed()
    true, full = (integrate(s, nh.Reference(), h=0.5, steps=4) for s in (red, red.full))
    close(true.q - red.project(full), 1e-9)
    edla = [integrate(s, m, steps=20) for s, m in ((red, nh.REDLA()), (red.full, nh.EDLA()))]
    same(red.reconstruct(edla[0]), edla[1], digits=9)
    twice = nh.Chaplygin(nh.Horizontal(steered(), "w"), fibre="z")  # in two stages
    close(integrate(twice, nh.Reference(), h=0.5, steps=4).q - true.q, 1e-9)


@pytest.mark.ledger("DRP-mixed")
@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: nh.Mixed(steered(), fibre="z w"), "must name some, not all"),
        (lambda: nh.Mixed(steered(), fibre="z w", momentum="z w"), "must name some, not all"),
        (lambda: nh.Mixed(steered(), fibre="z w", momentum="z"), "restricts vz"),
        (lambda: nh.Mixed(loose(), fibre="z w", momentum="w", mu=1), "transversality fails"),
        (lambda: nh.Mixed(particle("x y z w"), fibre="z w", momentum="w"), "TQ = H . S . U needs"),
    ],
)
def test_fibres_that_are_not_transversal_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def loose():
    """The momentum of w does not contain vw."""
    L = (vx**2 + vy**2 + vz**2) / 2 + vw * vx
    return nh.System((x, y, z, w), (vx, vy, vz, vw), L, [vz - y * vx])


@pytest.mark.ledger("DRP-mixed")
def test_mixed_reductions_are_values(tmp_path):
    red = mixed()
    sol = integrate(red, nh.RDLA(), steps=5)
    sol.save(tmp_path / "run.npz")
    again = nh.load(tmp_path / "run.npz")
    assert again.system == red and again.system.symmetry == ["w"]
    assert np.array_equal(red.reconstruct(again).q, red.reconstruct(sol).q)


@pytest.mark.ledger("DRP-abelian")
def test_both_reductions_run_through_the_same_code(monkeypatch):
    """Chaplygin and Horizontal differ in what determines the fibre, and in nothing after that."""
    shared = ("discretise_reduced", "reconstruct", "on_D", "fibre_velocity", "gyroscopic", "lift")
    for name in (*shared, "f", "Ld", "F_minus", "F_plus", "A_d", "alpha_Ad", "nu"):
        makers = {getattr(kind, name) for kind in (nh.Chaplygin, nh.Horizontal, nh.Mixed)}
        assert makers == {getattr(nh.Reduction, name)}
    seen, plain = [], reduction.ReducedLagrangian

    def spy(red, *step):
        seen.append(type(red))
        return plain(red, *step)

    monkeypatch.setattr(reduction, "ReducedLagrangian", spy)
    cases = [(nh.Chaplygin, S.particle, "z"), (nh.Horizontal, S.snakeboard, "psi")]
    for kind, make, fibre in (*cases, (partial(nh.Mixed, momentum="w"), steered, "z w")):
        red = kind(make(), fibre=fibre)
        sol, full = integrate(red, nh.RDLA(), steps=10), integrate(red.full, nh.DLA(), steps=10)
        same(red.reconstruct(sol), full)
        assert seen and {*seen} == {type(red)}
        seen.clear()


@pytest.mark.ledger("DRP-abelian")
def test_each_is_a_case_of_the_mixed_one():
    """A rotor that nothing couples makes Mixed out of Chaplygin, a spectator out of Horizontal."""
    spectator = nh.System(
        (x, y, z, w), (vx, vy, vz, vw), S.particle().L + vw**2 / 2, S.particle().constraints,
        q0=(0, 1, 0, 0), v0=(1, 1, 1, 0.3),
    )  # fmt: skip
    one, both = reduced("particle"), nh.Mixed(spectator, fibre="z w", momentum="w")
    close(integrate(both, nh.RDLA()).q - integrate(one, nh.RDLA()).q, 1e-13)
    assert sp.simplify(both.connection[:1, :] - one.connection).is_zero_matrix
    L = steered().L.subs(vz, 0)
    free = nh.System((x, y, w), (vx, vy, vw), L, q0=(0.4, 0.8, 0), v0=(1, -0.4, 0.5))
    glued = nh.System(
        (x, y, w, z), (vx, vy, vw, vz), free.L + vz**2 / 2, [vz],
        q0=(0.4, 0.8, 0, 0), v0=(1, -0.4, 0.5, 0),
    )  # fmt: skip
    one, both = nh.Horizontal(free, "w"), nh.Mixed(glued, fibre="z w", momentum="w")
    close(integrate(both, nh.RDLA()).q - integrate(one, nh.RDLA()).q, 1e-13)
    assert one.mu == pytest.approx(both.mu)
