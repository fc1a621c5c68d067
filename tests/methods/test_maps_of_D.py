"""EqualImpulses, Lobatto and Newmark: orders, reversals, equations, and what each is made for."""

import numpy as np
import oracle
import pytest
import sympy as sp
from runs import made, power, refused, slope
from scipy.linalg import sqrtm
from scipy.optimize import root

import nhlab as nh
from nhlab.methods.lobatto import coefficients

S = nh.systems
PROBLEMS = dict(particle=2, robot=1, sleigh=4, snakeboard=2, contact_oscillator=2, transmission=2)
SECOND = [nh.EqualImpulses(), nh.EqualImpulses(0.3, True), nh.Newmark(), nh.Newmark(0)]
SECOND += [nh.Newmark(0, second_beta=1 / 6), nh.Lobatto(2)]
x, y, z, vx, vy, vz, t = nh.symbols("x y z vx vy vz t")


def run(system, method, h=0.1, steps=100, **options):
    return nh.integrate(system, method, h=h, steps=steps, **options)


def returns(system, method):
    """How far from its start a run comes back after v -> -v, over what it has moved."""
    there = run(system, method)
    v = system.project(there.q[-1], there.v[-1]) if system.constraints else there.v[-1]
    back = run(system, method, q0=there.q[-1], v0=-v)
    return np.abs(back.q[-1] - there.q[0]).max() / np.ptp(there.q, 0).max()


def rough():
    """M(q) with a product of velocities, a term b(q).v, V without symmetry."""
    L = (1 + y**2 / 4) * vx**2 / 2 + vy**2 / 2 + vz**2 / 2 + vx * vy * sp.cos(z) / 4
    L += y * vz - x**2 * vy / 2 - x**4 / 4 - (y - z) ** 2 - y**2
    start = {"q0": (0.2, 0.5, 0), "v0": (1, 0.5, 0.5)}
    return nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx], **start)


def moving():
    """Time in L, a force, and a constraint that moves."""
    s, time = made(rough), sp.Symbol("t")
    more = {"t": time, "forces": [-vx / 5, sp.sin(time) / 3, 0], "v0": (1, 0.5, 0.5)}
    return s.replace(constraints=[vz - y * vx - sp.sin(time) / 4], **more)


def of(name):
    return made({"rough": rough, "moving": moving}.get(name) or S.catalogue[name])


# ---------------------------------------------------------------------------- all three


@pytest.mark.parametrize("method", SECOND, ids=repr)
@pytest.mark.parametrize("name", [*PROBLEMS, "rough", "moving"])
def test_second_order(name, method):
    assert method.order == 2
    assert slope(of(name), method, PROBLEMS.get(name, 1), count=3) == pytest.approx(2, abs=0.1)
    sol = run(of(name), method)
    assert np.abs(sol.constraint()).max() < 1e-13


@pytest.mark.parametrize(
    "method", [nh.EqualImpulses(0.3), nh.EqualImpulses(0), nh.Newmark(0.25, 0.6)], ids=repr
)
@pytest.mark.parametrize("name", ["particle", "robot"])
def test_members_without_symmetry_are_of_first_order(name, method):
    T = PROBLEMS[name] / 4  # Newmark's gamma is a small part of its error, which must be seen
    found = slope(of(name), method, T, first=80, count=3)
    assert method.order == 1 and found == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", [*PROBLEMS, "rough", "moving"])
def test_three_stages_of_lobatto_are_of_fourth_order(name):
    found = slope(of(name), nh.Lobatto(), PROBLEMS.get(name, 1), first=20, count=3, floor=1e-12)
    assert nh.Lobatto().order == 4 and found == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("name, T", [("particle", 1), ("robot", 1), ("rough", 1.5)])
def test_four_stages_of_lobatto_are_of_sixth_order(name, T):
    found = slope(of(name), nh.Lobatto(4), T, first=4, count=3, floor=1e-11)
    assert nh.Lobatto(4).order == 6 and found == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_symmetric_ones_come_back_and_others_do_not(name):
    for method in (nh.EqualImpulses(), nh.EqualImpulses(0.3, True), nh.Newmark(0.1),
                   nh.Lobatto(), nh.Lobatto(4)):  # fmt: skip
        assert method.is_symmetric and returns(of(name), method) < 1e-11, method
    assert not nh.Newmark(0.25, 0.6).is_symmetric
    assert returns(of(name), nh.Newmark(0.25, 0.6)) > 1e-6


def test_a_composition_of_two_members_reverses_into_the_other_order():
    one, other = nh.Newmark(0, second_beta=0.25), nh.Newmark(0.25, second_beta=0)
    assert not one.is_symmetric and nh.Newmark(0.1, second_beta=0.1).is_symmetric
    assert returns(of("particle"), one) > 1e-6
    there = run(of("particle"), one)
    back = run(of("particle"), other, q0=there.q[-1], v0=-there.v[-1])
    assert np.abs(back.q[-1] - there.q[0]).max() < 1e-12
    halves = run(of("particle"), nh.Newmark(0.1), h=0.05, steps=200).q[::2]
    assert np.abs(run(of("particle"), nh.Newmark(0.1, second_beta=0.1)).q - halves).max() < 1e-12


@pytest.mark.parametrize("method", [*SECOND[:5], nh.Lobatto()], ids=repr)
@pytest.mark.parametrize("name", ["robot", "sleigh", "snakeboard", "rough"])
def test_multipliers(name, method):
    """-lam/h tends to the continuous multipliers, for the rows of A as they were given."""

    def gap(h):
        sol = run(of(name), method, h, 20)
        true = of(name).multipliers(sol.q, sol.v)
        worst = np.abs(-sol.lam / h - (true[1:] + true[:-1]) / 2).max()
        return worst / (1 + np.abs(true).max())

    assert power(gap, (0.04, 0.02)) > 1.74 and gap(0.02) < 5e-3


@pytest.mark.parametrize("method", [nh.EqualImpulses(), nh.Newmark(), nh.Lobatto()], ids=repr)
def test_systems_they_cannot_treat(method):
    for system in (S.sleigh_se2(), nh.Chaplygin(S.particle(), fibre="z")):
        refused(lambda s=system: run(s, method), "R^n", "nh.DLA")
    if not isinstance(method, nh.Lobatto):
        refused(lambda: run(S.spherical_pendulum(), method), "holonomic", "nh.DLA")


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: nh.Newmark(0.6), r"beta = 0\.6 must be a number in \[0, 0\.5\]"),
        (lambda: nh.Newmark(gamma=2), r"gamma = 2 must be a number in \[0, 1\]"),
        (lambda: nh.Newmark(second_beta=True), "second_beta = True"),
        (lambda: nh.Lobatto(5), "stages = 5 must be 2, 3 or 4"),
        (lambda: nh.Lobatto(3.0), r"stages = 3\.0"),
        (lambda: nh.EqualImpulses(2), r"alpha = 2 must be a number in \[0, 1\]"),
        (lambda: nh.Composition(nh.EqualImpulses(0.3)), "compose nh.DLA"),
    ],
)
def test_options_they_refuse(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# ---------------------------------------------------------------------------- EqualImpulses


def orthonormal(A, M):
    """Rows that span those of A and are orthonormal in M^-1."""
    return np.linalg.solve(np.linalg.cholesky(A @ np.linalg.solve(M, A.T)), A)


@pytest.mark.parametrize("name", ["particle", "robot", "rough", "rolling_disk"])
def test_equations_of_equal_impulses(name):
    """One step against SciPy's solution of the equations as the docstring has them."""
    system, h, method = of(name), 0.1, nh.EqualImpulses(0.3, True)
    f, Ld = oracle.formulas(system), oracle.discrete(system, method)
    q0, v0 = np.array(system.q0, float), system.project(system.q0, system.v0)
    sol, n, m = run(system, method, h, 1), len(system.q), system.m

    def equations(X):
        q1, v1, mu = np.split(X, [n, 2 * n])
        M = (f.M(0, q0) + f.M(0, q1)) / 2
        N0, N1 = (orthonormal(f.A(0, q), M) for q in (q0, q1))
        C = N0 @ np.linalg.solve(M, N1.T)
        N1 = C @ np.linalg.inv(sqrtm(C.T @ C).real) @ N1  # next to N0
        step = 0.0, q0, h, q1
        leaves = -Ld.D2(*step) - f.L_v(0, q0, v0) + N0.T @ mu
        arrives = f.L_v(0, q1, v1) - Ld.D4(*step) + N1.T @ mu
        return np.concatenate([leaves, arrives, f.A(0, q1) @ v1])

    X = root(equations, np.concatenate([q0 + h * v0, v0, np.zeros(m)]), tol=1e-14).x
    assert np.abs(equations(X)).max() < 1e-12
    assert np.abs(sol.q[1] - X[:n]).max() < 1e-11 and np.abs(sol.v[1] - X[n : 2 * n]).max() < 1e-11


@pytest.mark.parametrize("name", ["robot", "snakeboard", "two_wheeled_robot"])
def test_equal_impulses_depend_on_the_distribution_alone(name):
    """With two constraints and with three: forms in the reverse order, and mixtures of them."""
    system = getattr(S, name)()
    system = system.set(**{u.name: 0.0 for u in system.inputs})
    forms = system.constraints
    mixed = [(2 + sp.sin(system.q[0])) * c + 0.7 * forms[0] for c in forms[1:]]
    one = run(system, nh.EqualImpulses())
    for others in (forms[::-1], [3 * forms[0], *mixed]):
        sol = run(system.replace(constraints=others), nh.EqualImpulses())
        assert np.abs(sol.q - one.q).max() < 1e-11 and np.abs(sol.v - one.v).max() < 1e-11


def test_without_constraints_it_is_the_variational_method():
    for alpha in (0.5, 0.3):
        ours, known = (run(S.kepler(), m(alpha)) for m in (nh.EqualImpulses, nh.Variational))
        assert np.abs(ours.q - known.q).max() < 1e-12


def test_the_racer_that_settles_has_no_zigzag():
    """Straight ahead at 1 m/s the projector method's zigzag grows at the rate .676 (11b), until
    it throws the racer off its line; here deviations die out as in the true motion."""
    racer, start = S.roller_racer(), ([0, 0, 0, 1e-4], [1, 0, 0, 0])
    v0 = racer.project(*start)
    true, ours, reflected = (
        nh.integrate(racer, m, start[0], v0, h=0.1, steps=300)
        for m in (nh.Reference(), nh.EqualImpulses(), nh.Projector())
    )
    assert np.abs(ours.q[-1] - true.q[-1]).max() < 1e-7
    assert np.abs(reflected.q[-1] - true.q[-1]).max() > 1


def test_steps_of_the_sleigh_lose_the_volume_that_the_motion_loses():
    """On the straight line the turn w is the only deviation that changes: it falls at the rate
    m a v/(I + m a^2), by the method to order 2; no other eigenvalue belongs to it."""
    s = S.sleigh()
    m, I, a = (s.parameters[next(k for k in s.parameters if k.name == name)] for name in "mIa")

    def gap(h, method=None):
        method = method or nh.EqualImpulses()
        row = run(s, method, h, 1, q0=[0, 0, 0], v0=[1, 0, 0]).rows.array[0]
        T = nh.diagnostics.tangent(s, method, h=h, row=row, inputs=("q", "v"))[2:8]
        values = np.linalg.eigvals(T).real
        within = sorted(values[np.abs(values) > 1e-9])  # 0: what is across D
        assert len(within) == 5
        return abs(np.log(within[0]) / h + m * a / (I + m * a**2))

    assert power(gap) == pytest.approx(2, abs=0.1) and gap(0.1) < 1e-3


@pytest.mark.parametrize("name", ["particle", "contact_oscillator", "knife_edge"])
def test_energy_of_quadratic_potentials_is_kept(name):
    """M is constant; by another alpha, or with a potential of fourth order, the energy moves."""
    system = made(S.contact_oscillator, eps=0.0) if name == "contact_oscillator" else of(name)
    assert np.ptp(run(system, nh.EqualImpulses(), steps=1000).energy()) < 1e-12
    assert np.ptp(run(system, nh.DLA(), steps=1000).energy()) > 1e-5
    if name == "particle":
        stiff = system.replace(L=system.L - system.q[0] ** 4 / 4)
        assert np.ptp(run(stiff, nh.EqualImpulses()).energy()) > 1e-5
        assert np.ptp(run(system, nh.EqualImpulses(0, True)).energy()) > 1e-5


def test_swing_of_linear_springs_is_kept_as_by_the_projector():
    def swing(method):
        sol = run(S.transmission(eps=0.2), method, 0.2, 2000)
        return np.ptp((sol.v[:, [0, 2]] ** 2 + sol.q[:, [0, 2]] ** 2).sum(1))

    assert swing(nh.EqualImpulses()) < 1e-12 and swing(nh.DLA()) > 1e-3


# ---------------------------------------------------------------------------- Lobatto


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot", "rough", "moving"])
def test_two_stages_are_the_reversible_method(name):
    ours, known = (run(of(name), m) for m in (nh.Lobatto(2), nh.Reversible()))
    assert np.abs(ours.q - known.q).max() < 1e-12 and np.abs(ours.lam - known.lam).max() < 1e-12
    assert np.abs(run(of(name), nh.Lobatto()).q - known.q).max() > 1e-6


def test_holonomic_constraints():
    system = S.spherical_pendulum()
    ours, rattle = (run(system, m) for m in (nh.Lobatto(2), nh.Reversible()))
    assert np.abs(ours.q - rattle.q).max() < 1e-12
    for method in (nh.Lobatto(), nh.Lobatto(4)):
        sol = run(system, method)
        assert np.abs(system.g(sol.q)).max() < 1e-13 and np.abs(sol.constraint()).max() < 1e-13
        found = slope(system, method, 3, first=9, count=3, floor=1e-12)
        assert found == pytest.approx(method.order, abs=0.1)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_coefficients(count):
    """The quadrature integrates polynomials of degree 2 s - 3, a those of degree s - 1, and the
    pair is symplectic and symmetric."""
    a, a_hat, b, c = (np.array(e, float) for e in coefficients(count))
    for k in range(1, 2 * count - 1):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
    assert abs(b @ c ** (2 * count - 2) - 1 / (2 * count - 1)) > 1e-4
    for k in range(1, count + 1):
        assert a @ c ** (k - 1) == pytest.approx(c**k / k, abs=1e-15)
    pair = b[:, None] * a_hat + (b[:, None] * a).T
    assert pair == pytest.approx(np.outer(b, b), abs=1e-15)
    for table in (a, a_hat):
        assert table[::-1, ::-1] + table == pytest.approx(np.tile(b, (count, 1)), abs=1e-15)


@pytest.mark.parametrize("name", ["particle", "rough", "robot", "moving"])
def test_equations_of_lobatto(name):
    """One step against SciPy's solution of the equations as the docstring has them."""
    system, h, count, t0 = of(name), 0.2, 3, 0.4
    f, n, m = oracle.formulas(system), len(system.q), system.m
    a, a_hat, b, c = (np.array(e, float) for e in coefficients(count))
    q0, times = np.array(system.q0, float), t0 + c * h
    v0 = system.project(q0, system.v0, t0)
    zero = np.zeros(n)
    force = (lambda t, q, v: system.values([system.forces], q, v, t)[0]) if system.forces else (
        lambda t, q, v: zero)  # fmt: skip
    moves = [float(system.values([[e]], q0, zero, s).item()) for s in times
             for e in system.symbolic.b]  # fmt: skip
    moves = np.reshape(moves, (count, m))

    def equations(X):
        V, lam, v1 = X[: count * n].reshape(count, n), X[count * n : -n].reshape(count, m), X[-n:]
        Q = q0 + h * a @ V
        points = list(zip(times, Q, V, strict=True))
        W = np.array([f.L_q(*at) + force(*at) - f.A(*at[:2]).T @ x
                      for at, x in zip(points, lam, strict=True)])  # fmt: skip
        p = f.L_v(t0, q0, v0) + h * a_hat @ W
        inner = [f.L_v(*at) - row for at, row in zip(points, p, strict=True)]
        C = np.array([f.A(*at[:2]) @ at[2] for at in points]) + moves
        moments = [(b * c**k) @ C for k in range(count - 1)]
        last = f.L_v(times[-1], Q[-1], v1) - f.L_v(t0, q0, v0) - h * b @ W
        return np.concatenate([*inner, *moments, last, f.A(times[-1], Q[-1]) @ v1 + moves[-1]])

    start = np.concatenate([*[v0] * count, np.zeros(count * m), v0])
    X = root(equations, start, tol=1e-14).x
    assert np.abs(equations(X)).max() < 1e-12
    sol = nh.integrate(system, nh.Lobatto(), q0, v0, h=h, steps=1, t0=t0)
    q1 = q0 + h * a[-1] @ X[: count * n].reshape(count, n)
    assert np.abs(sol.q[1] - q1).max() < 1e-11 and np.abs(sol.v[1] - X[-n:]).max() < 1e-11
    lam = h * b @ X[count * n : -n].reshape(count, m)
    assert np.abs(sol.lam[0] - lam).max() < 1e-11


# ---------------------------------------------------------------------------- Newmark


@pytest.mark.parametrize("beta", [0, 1 / 12, 1 / 6, 1 / 4])
def test_frequency_of_an_oscillator(beta):
    """x'' = -x turns by arccos(1 - h^2/2/(1 + beta h^2)) in a step, a known formula; it is of
    order 4 for beta = 1/12."""
    spring, h = nh.System((x,), (vx,), vx**2 / 2 - x**2 / 2, q0=(1,), v0=(0,)), 0.2
    sol, angle = run(spring, nh.Newmark(beta), h, 50), np.arccos(1 - h**2 / 2 / (1 + beta * h**2))
    assert sol.q[:, 0] == pytest.approx(np.cos(angle * np.arange(51)), abs=1e-12)
    found = slope(spring, nh.Newmark(beta), 2, first=10, count=3, floor=1e-12)
    assert found == pytest.approx(4 if beta == 1 / 12 else 2, abs=0.1)


def test_beta_zero_is_leapfrog_where_forces_depend_on_places():
    ours, known = (run(S.pendulum(), m) for m in (nh.Newmark(0), nh.Reversible()))
    assert np.abs(ours.q - known.q).max() < 1e-12 and np.abs(ours.v - known.v).max() < 1e-12


@pytest.mark.parametrize("name", ["rolling_disk", "knife_edge", "free_particle", "sleigh"])
def test_newmark_against_exact_solutions(name):
    system = of(name)
    found = slope(system, nh.Newmark(0.1), 2, reference=system.exact, count=3)
    assert found == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot"])
def test_what_puts_newmark_into_D_is_of_third_order(name):
    """2 sigma is lam less the impulse of the multipliers of the motion."""
    system = of(name)

    def sigma(h):
        sol = run(system, nh.Newmark(), h, 4)
        true = system.multipliers(sol.q, sol.v)
        return np.abs(sol.lam + h / 2 * (true[1:] + true[:-1])).max() / 2

    assert power(sigma, (0.04, 0.02, 0.01)) == pytest.approx(3, abs=0.15)


def swing_rate(method, h=0.2):
    """The rate of the logarithm of the racks' energy, on the lopsided transmission."""
    sol = nh.integrate(S.transmission(eps=0.2), method, v0=(0, 2.5, 0.3), h=h, T=8000, every=5)
    swing = (sol.v[:, [0, 2]] ** 2 + sol.q[:, [0, 2]] ** 2).sum(1)
    return np.polyfit(sol.t, np.log(swing), 1)[0]


def test_two_members_that_drift_in_opposite_directions_compensate():
    """The rate of a member is of order h^4 and about proportional to beta - 1/12."""
    low, high = swing_rate(nh.Newmark(0)), swing_rate(nh.Newmark(1 / 6))
    assert low < 0 < high and swing_rate(nh.DLA()) < 15 * low
    assert low / swing_rate(nh.Newmark(0), 0.1) == pytest.approx(16, rel=0.05)
    both = swing_rate(nh.Newmark(0, second_beta=1 / 6))  # steps of h/2
    each = swing_rate(nh.Newmark(0), 0.1), swing_rate(nh.Newmark(1 / 6), 0.1)
    assert abs(both) < 0.1 * min(map(abs, each))
    assert abs(swing_rate(nh.Newmark(0, second_beta=1 / 4))) > 5 * abs(both)  # another mean
