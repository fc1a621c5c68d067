"""Reversible, DiscreteGradient and Composition: what each keeps, its order, and what it loses."""

import numpy as np
import oracle
import pytest
import sympy as sp
from runs import made, power, refused, slope
from scipy.optimize import root

import nhlab as nh
from nhlab.methods.composition import FACTORS
from nhlab.run.start import one_step

S = nh.systems
PROBLEMS = dict(particle=2, robot=1, sleigh=4, snakeboard=2, contact_oscillator=2, transmission=2)
BOTH = [nh.Reversible(), nh.DiscreteGradient()]
BASES = [nh.DLA(), nh.DLA(0.3, True), nh.Reversible(), nh.DiscreteGradient()]
x, y, z, w, vx, vy, vz, vw, t = nh.symbols("x y z w vx vy vz vw t")


def run(system, method, h=0.1, steps=100, **options):
    return nh.integrate(system, method, h=h, steps=steps, **options)


def away_and_back(system, method, h=0.1, steps=100):
    """How far from its start a run comes back after v -> -v, over what it has moved."""
    there = run(system, method, h, steps)
    v = system.project(there.q[-1], there.v[-1]) if system.constraints else there.v[-1]
    back = nh.integrate(system, method, there.q[-1], -v, h=h, steps=steps)
    return np.abs(back.q[-1] - there.q[0]).max() / np.ptp(there.q, 0).max()


def rough():
    """M(q) with a product of velocities, a term b(q).v, V without symmetry."""
    L = (1 + y**2 / 4) * vx**2 / 2 + vy**2 / 2 + vz**2 / 2 + vx * vy * sp.cos(z) / 4
    L += y * vz - x**2 * vy / 2 - x**4 / 4 - (y - z) ** 2 - y**2
    start = {"q0": (0.2, 0.5, 0), "v0": (1, 0.5, 0.5)}
    return nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx], **start)


# ------------------------------------------------------------------ both


@pytest.mark.parametrize("method", BOTH, ids=repr)
@pytest.mark.parametrize("name", PROBLEMS)
def test_order_constraint_and_reversal(name, method):
    system = made(S.catalogue[name])
    assert method.order == 2
    assert abs(slope(system, method, PROBLEMS[name], count=3) - 2) < 0.1
    assert np.abs(run(system, method).constraint()).max() < 1e-14
    assert away_and_back(system, method) < 1e-12


@pytest.mark.parametrize("name", PROBLEMS)
def test_others_do_not_reverse_nor_keep_the_constraint(name):
    system = made(S.catalogue[name])
    assert np.abs(run(system, nh.DLA()).constraint()).max() > 1e-4
    for other in (nh.RK4(), nh.DLA(0.3)):
        assert away_and_back(system, other) > 1e-8


@pytest.mark.parametrize("method", BOTH, ids=repr)
def test_general_systems(method):
    """M(q) and gyroscopic terms."""
    system, exact = made(rough), isinstance(method, nh.DiscreteGradient)
    assert abs(slope(system, method, 1, 20, count=3) - 2) < 0.1
    sol = run(system, method, steps=200)
    assert np.abs(sol.constraint()).max() < 1e-14
    assert np.ptp(sol.energy()) < 1e-13 if exact else np.ptp(sol.energy()) > 1e-5
    row = sol.rows.array[-1]  # with b(q).v time is reversed by h -> -h only
    for h in (0.1, -0.1):
        row = one_step(method, system, 0.0, h, row, np.ones(3))
    assert np.abs(row[:6] - sol.rows.array[-1, :6]).max() < 1e-13
    assert away_and_back(system, method) > 1e-3


@pytest.mark.parametrize("method", BOTH, ids=repr)
@pytest.mark.parametrize("name", ["robot", "sleigh", "snakeboard", "rough"])
def test_multipliers(name, method):
    """-lam/h tends to the continuous multipliers, for the rows of A as they were given."""
    system = made(rough if name == "rough" else S.catalogue[name])

    def gap(h):
        sol = run(system, method, h, 20)
        true = system.multipliers(sol.q, sol.v)
        worst = np.abs(-sol.lam / h - (true[1:] + true[:-1]) / 2).max()
        return worst / (1 + np.abs(true).max())

    assert power(gap, (0.04, 0.02)) > 1.74 and gap(0.02) < 5e-3


def test_systems_they_cannot_treat():
    for method in (*BOTH, *map(nh.Composition, BOTH)):
        for system in (S.sleigh_se2(), nh.Chaplygin(S.particle(), fibre="z")):
            refused(lambda m=method, s=system: run(s, m), "R^n", "nh.DLA")
        refused(lambda m=method: run(S.particle(), m, q0=[0, 1, 0], q1=[0.1, 1, 0.1]), "v0")
    fast = nh.System((x,), (vx,), -sp.sqrt(1 - vx**2))
    saddle = nh.System((x, y), (vx, vy), (vx**2 - vy**2) / 2)
    for method in (nh.DiscreteGradient(), nh.Composition(nh.DiscreteGradient())):
        refused(lambda m=method: run(S.driven(), m), "time", "nh.Reversible")
        refused(lambda m=method: run(S.spherical_pendulum(), m), "holonomic", "nh.Reversible")
        for system in (fast, saddle):
            refused(lambda m=method, s=system: run(s, m, q0=s.q, v0=s.v), "definite", "nh.DLA")
    with pytest.raises(ValueError, match=r"nh\.DLA"):
        run(S.particle(), nh.Composition(nh.Variational()))


# ------------------------------------------------------------------ Reversible


@pytest.mark.parametrize("name", ["particle", "robot", "snakeboard", "contact_oscillator"])
def test_points_of_dla(name):
    """For constant M: the points of DLA(0, symmetric), with its momenta projected on D."""
    system = made(S.catalogue[name])
    ours, dla = run(system, nh.Reversible()), run(system, nh.DLA(0, True))
    assert np.abs(ours.q - dla.q).max() < 1e-12
    assert np.abs(ours.v - dla.v_projected).max() < 1e-12
    assert np.abs(ours.v - dla.v).max() > 1e-3
    assert np.abs(run(system, nh.Projector(0, True)).q - dla.q).max() > 1e-5
    varying = run(S.sleigh(), nh.Reversible()).q - run(S.sleigh(), nh.DLA(0, True)).q
    assert np.abs(varying).max() > 1e-5


@pytest.mark.parametrize("name", ["particle", "snakeboard"])
def test_nonholonomic_rattle_is_the_projector_method(name):
    """One multiplier for both steps at a node, which puts the mean of their momenta into D."""
    system, h = made(S.catalogue[name]), 0.1
    f = oracle.formulas(system)
    q, v = np.array(system.q0, float), np.array(system.v0, float)
    M = f.M(0, q)
    half = f.L_v(0, q, v) + h / 2 * (f.L_q(0, q, v) + f.A(0, q).T @ system.multipliers(q, v))
    path = [q]
    for _ in range(50):
        q = q + h * np.linalg.solve(M, half)
        A, p = f.A(0, q), half + h / 2 * f.L_q(0, q, v)
        N = np.linalg.solve(M, A.T)
        lam = -2 / h * np.linalg.solve(A @ N, N.T @ p)
        half = p + h / 2 * f.L_q(0, q, v) + h * A.T @ lam
        path.append(q)
    assert np.abs(run(system, nh.Projector(0, True), h, 50).q - path).max() < 1e-12
    assert np.abs(run(system, nh.Reversible(), h, 50).q - path).max() > 1e-5


@pytest.mark.parametrize("system", [S.sleigh(), S.driven(), rough()], ids=lambda s: s.name)
def test_equations_of_leapfrog(system):
    """One step against SciPy's solution of the equations as the docstring has them."""
    f, h, t0 = oracle.formulas(system), 0.1, 0.4 if system.t else 0.0
    q0, n = np.array(system.q0, float), len(system.q)
    v0 = system.project(q0, system.v0, t0)
    sol = nh.integrate(system, nh.Reversible(), q0, v0, h=h, steps=1, t0=t0)
    m, t1 = len(system.constraints), t0 + h

    def equations(X):
        va, vb, v1, lam, mu = np.split(X, [n, 2 * n, 3 * n, 3 * n + m])
        q1 = q0 + h / 2 * (va + vb)
        A0, A1 = f.A(t0, q0), f.A(t1, q1)
        ends = (t0, q0, v0), (t0, q0, va), (t1, q1, vb), (t1, q1, v1)
        p0, p, pb, p1 = (f.L_v(*end) for end in ends)
        first = p - p0 - h / 2 * f.L_q(t0, q0, va) + A0.T @ lam
        last = p1 - p - h / 2 * f.L_q(t1, q1, vb) + A1.T @ mu
        return np.concatenate([first, pb - p, last, A0 @ va + A1 @ vb, A1 @ v1])

    X = root(equations, np.concatenate([v0, v0, v0, np.zeros(2 * m)]), tol=1e-14).x
    assert np.abs(equations(X)).max() < 1e-13
    assert np.abs(sol.q[1] - q0 - h / 2 * (X[:n] + X[n : 2 * n])).max() < 1e-12
    assert np.abs(sol.v[1] - X[2 * n : 3 * n]).max() < 1e-12
    assert np.abs(sol.lam[0] - X[3 * n : 3 * n + m] - X[3 * n + m :]).max() < 1e-12


def test_rattle():
    """With holonomic constraints: those of SHAKE's points, and velocities tangent to them."""
    system = S.spherical_pendulum()
    sol, shake = run(system, nh.Reversible()), run(system, nh.Variational(0, True))
    assert np.abs(sol.q - shake.q).max() < 1e-12
    assert np.abs(system.g(sol.q)).max() < 1e-14 and np.abs(sol.constraint()).max() < 1e-14
    assert np.abs(shake.constraint()).max() > 1e-3
    assert away_and_back(system, nh.Reversible()) < 1e-12


def test_leapfrog_is_symplectic():
    """dq ^ dp = M(q) dq ^ dv for one degree of freedom."""
    system = nh.System((x,), (vx,), (1 + x**2) * vx**2 / 2 + sp.cos(x), q0=(1,), v0=(0.5,))

    def change(method):
        sol = run(system, method, 0.2, 1)
        D = nh.diagnostics.tangent(system, method, h=0.2, row=sol.rows.array[0], inputs=("q", "v"))
        M = system.M(sol.q)[:, 0, 0]
        return abs(np.linalg.det(D[2:4]) * M[1] / M[0] - 1)

    assert change(nh.Reversible()) < 1e-14
    assert change(nh.Composition(nh.Variational())) < 1e-13
    assert change(nh.DiscreteGradient()) > 1e-5


# ------------------------------------------------------------------ DiscreteGradient


@pytest.mark.parametrize("h", [300.0, 1000.0])
def test_energy_of_steps_over_many_wavelengths(h):
    """Each is accepted with its energy, or refused."""
    system, q0 = S.transmission(), np.array([0.0713, 0.5692, -0.7023])
    v0 = system.project(q0, [1.4e-5, -6.5e-6, -2.5e-5])
    try:
        sol = run(system, nh.DiscreteGradient(), h, 10, q0=q0, v0=v0)
    except nh.IntegrationError as stopped:
        sol = stopped.trajectory
    E, V = sol.energy(), system.V(sol.q)
    assert sol.steps > 5 and np.abs(E - E[0]).max() < 1e-12 * (
        np.abs(V).max() + np.abs(E - V).max()
    )


ENERGY = dict(particle=0.2, robot=0.1, sleigh=0.2, contact_oscillator=0.2, transmission=0.1)
ENERGY["snakeboard"] = 0.003  # up to phi = pi/2


@pytest.mark.parametrize("name, h", ENERGY.items(), ids=ENERGY)
def test_energy(name, h):
    """Less than one unit in the last place per step."""
    system, steps = made(S.catalogue[name]), 10_000
    sol = run(system, nh.DiscreteGradient(), h, steps)
    E = sol.energy()
    assert np.ptp(E) < steps * np.finfo(float).eps * max(1, abs(E[0]))
    assert np.abs(sol.constraint()).max() < 1e-12
    witness = run(system, nh.DLA(), 0.1, 200)
    assert np.ptp(witness.energy()) > 1e-6 and np.ptp(witness.energy("projected")) > 1e-9


@pytest.mark.parametrize(
    "system", [S.sleigh(), S.snakeboard(), S.car_with_trailer(), rough()], ids=lambda s: s.name
)
def test_equations_of_the_discrete_gradient(system):
    """One step put into the equations as the docstring has them, by NumPy."""
    f, h = oracle.formulas(system), 0.1
    sol = run(system, nh.DiscreteGradient(), h, 5)
    (q0, q1), (v0, v1) = sol.q[-2:], sol.v[-2:]
    u, mean, middle = (q1 - q0) / h, (v0 + v1) / 2, (q0 + q1) / 2
    M = (f.M(0, q0) + f.M(0, q1)) / 2

    def orthonormal(A):
        return np.linalg.solve(np.linalg.cholesky(A @ np.linalg.solve(M, A.T)), A)

    def mean_of(e, q):
        return (e(0, q, v0) + e(0, q, v1)) / 2

    A0, A1 = (orthonormal(f.A(0, q)) for q in (q0, q1))
    left, _, right = np.linalg.svd(A0 @ np.linalg.solve(M, A1.T))
    A1 = left @ right @ A1  # next to A0
    A = (A0 + A1) / 2
    kappa = np.linalg.lstsq(A.T, M @ (mean - u), rcond=None)[0]
    along = np.diag(M) * u * [system.symbolic.E.has(s) for s in system.q]
    g = mean_of(f.E_q, middle)
    if along.any():
        gain = mean_of(f.E, q1) - mean_of(f.E, q0)
        g = g + (gain - h * g @ u) / (h * u @ along) * along
    force = M @ (v1 - v0) + h * g - h * f.curl(0, middle, mean) @ u - (A1 - A0).T @ kappa
    lam = np.linalg.lstsq(A.T, force, rcond=None)[0]
    assert np.abs(A @ u).max() < 1e-13 and np.abs(A1 @ v1).max() < 1e-14
    assert np.abs(M @ (mean - u) - A.T @ kappa).max() < 1e-13
    assert np.abs(force - A.T @ lam).max() < 1e-13
    needed = np.abs(force + (A1 - A0).T @ kappa - A.T @ lam).max() > 1e-12
    assert needed == (system.name != "snakeboard")  # where kappa is 0


def other_forms(system):
    """The same distributions by the forms in the reverse order, and by mixtures of them."""
    forms = system.constraints
    mixed = [(2 + sp.sin(system.q[0])) * c + 0.7 * forms[0] for c in forms[1:]]
    return system.replace(constraints=forms[::-1]), system.replace(
        constraints=[3 * forms[0], *mixed]
    )


@pytest.mark.parametrize("name", ["robot", "snakeboard", "two_wheeled_robot"])
def test_the_discrete_gradient_depends_on_the_distribution_alone(name):
    """With two constraints and with three; the multipliers are those of the forms as given."""
    system = getattr(S, name)()
    system = system.set(**{u.name: 0.0 for u in system.inputs})
    one = run(system, nh.DiscreteGradient(), 0.1, 100)
    sols = [run(other, nh.DiscreteGradient(), 0.1, 100) for other in other_forms(system)]
    for sol in sols:
        assert np.abs(sol.q - one.q).max() < 1e-11 and np.abs(sol.v - one.v).max() < 1e-11
    assert np.abs(sols[0].lam[:, ::-1] - one.lam).max() < 1e-11


def test_at_rest_and_at_turning_points():
    """Gonzalez' quotient is 0/0 where u = 0."""
    method = nh.DiscreteGradient()
    still = run(S.pendulum(), method, steps=10, q0=[0], v0=[0])
    assert np.all(still.q == 0) and np.all(still.v == 0)
    half = run(S.pendulum(), method, h=0.05, steps=1, q0=[1], v0=[0])
    v = half.v[1]  # arrives at the turning point, leaves it, and is back: u = 0 within one step
    assert np.ptp(run(S.pendulum(), method, steps=2000, q0=[1], v0=-v).energy()) < 1e-13
    from_rest = run(S.transmission(), method, steps=1000, q0=[0.1, 0.5, 0.2], v0=[0, 0, 0])
    assert np.ptp(from_rest.energy()) < 1e-13


# ------------------------------------------------------------------ Composition


def test_factors():
    """The order conditions that a symmetric composition of order-2 maps must satisfy."""
    for order, factors in FACTORS.items():
        gamma = np.array(factors)
        assert factors == factors[::-1] and gamma.min() < 0
        assert abs(gamma.sum() - 1) < 1e-15 and abs((gamma**3).sum()) < 1e-14
        assert (abs((gamma**5).sum()) < 1e-14) == (order == 6)


# system -> (T, steps of the coarsest run for order 4, for order 6)
ORDERS = {"particle": (2, 12, 10), "robot": (2, 12, 8), "sleigh": (4, 8, 6)}
FREE = {"pendulum": (4, 16, 10), "spherical_pendulum": (2, 16, 10)}
CASES = [(name, base) for name in ORDERS for base in BASES]
CASES += [(k, m) for k in FREE for m in (nh.Variational(), nh.Variational(0.3, True), BOTH[0])]


@pytest.mark.parametrize("name, base", CASES, ids=repr)
def test_orders(name, base):
    system, (T, four, six) = made(S.catalogue[name]), (ORDERS | FREE)[name]
    for order, first, room in ((4, four, 0.1), (6, six, 0.2)):
        found = slope(system, nh.Composition(base, order), T, first, count=3, floor=1e-11)
        assert abs(found - order) < room


def test_orders_elsewhere():
    """Time, Lie groups and reduced systems."""
    reduced, four = nh.Chaplygin(S.particle(), fibre="z"), nh.Composition(nh.DLA())
    cases = (S.driven(), four, 2, 12), (S.sleigh_se2(), four, 4, 16), (reduced, four, 2, 12)
    for case in (*cases, (S.driven(), nh.Composition(nh.Reversible()), 2, 16)):
        assert abs(slope(*case, count=3) - 4) < 0.1


def test_cayley_has_no_middle():
    """g cay(h omega/2) is not halfway to g cay(h omega): DLA(1/2) is then not symmetric."""
    method = nh.Composition(nh.DLA())
    refused(lambda: run(S.ball(), method), "symmetric", "rule='log'")
    assert abs(slope(S.ball(rule="log"), method, 2, 16, count=3) - 4) < 0.1


def substeps(system, method, factors, h, T):
    """Where substeps of any method end, from the rows of its own step."""
    q0, v0 = np.array(system.q0, float), np.array(system.v0, float)
    p0 = method.start_momentum(system, 0.0, q0, v0, factors[0] * h)
    row = np.concatenate([q0, p0, v0, np.zeros(len(system.constraints))])
    for _ in range(round(T / h)):
        for factor in factors:
            row = one_step(method, system, 0.0, factor * h, row, np.ones(len(v0)))
    return row[: len(q0)]


def test_what_does_not_compose():
    """The projector method stays at order 2 and gets worse; DLA by the same loop has order 4."""
    system, T = S.particle(), 2.0
    true = nh.integrate(system, nh.Reference(), h=T, steps=1).q[1]
    slopes = {}
    for method in (nh.Projector(), nh.DLA()):
        ends = (substeps(system, method, FACTORS[4], T / k, T) for k in (20, 40))
        errors = [np.abs(end - true).max() for end in ends]
        slopes[method] = np.log2(errors[0] / errors[1])
    assert abs(slopes[nh.Projector()] - 2) < 0.1 and abs(slopes[nh.DLA()] - 4) < 0.1
    for method in (nh.Projector(), nh.Projector(0, True)):
        refused(lambda m=method: nh.Composition(m), "reflects", "nh.Reversible()")
    refused(lambda: nh.Composition(nh.EDLA()), "its own step")
    one_sided = nh.DLA(0.3), nh.DLA(constraint_alpha=0), nh.Variational(0)
    for bad in (*one_sided, nh.RK4(), nh.DLA, nh.Composition(), "DLA", None):
        refused(lambda m=bad: nh.Composition(m), f"method = {bad!r}", "symmetric=True")
    for bad in (2, 5, 8, "4", 4.0, True, None, [4], np.array([4, 6])):
        refused(lambda o=bad: nh.Composition(nh.DLA(), o), f"order = {bad!r}", "4 or 6")


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_multipliers_of_the_last_substep(base):
    """Times h over its size: -lam/h tends to the continuous multipliers at its end."""

    def gap(h):
        sol = run(made(S.sleigh), nh.Composition(base), h, round(0.8 / h))
        true = sol.system.multipliers(sol.q, sol.v)[1:]
        return np.abs(sol.lam / h + true).max() / np.abs(true).max()

    assert gap(0.02) < 0.6 * gap(0.04) < 0.1


@pytest.mark.parametrize("base", [*BASES, nh.Variational()], ids=repr)
def test_a_step_is_its_substeps(base):
    """Cost: s steps of the base; the result is that of s runs of one step each."""
    system = S.pendulum() if isinstance(base, nh.Variational) else S.robot()
    for order, count in ((4, 5), (6, 9)):
        method = nh.Composition(base, order)
        assert len(method.factors) == count
        calls, space = [], method.program(system)._execute()
        substep = space["substep"]
        space["substep"] = lambda *a: calls.append(a[1]) or substep(*a)  # noqa: B023
        row = [*system.q0, *system.v0, *[0.0] * len(system.symbolic.A)]
        args = method.arguments(system, [1.0] * len(system.v))
        assert space["step"](0.0, 0.1, *row, *args)[0]
        np.testing.assert_allclose(calls, 0.1 * np.array(method.factors), rtol=1e-15)
        text = nh.source(system, method)
        assert text.count("def substep(") == 1 and len(text) < 2.5 * len(nh.source(system, base))
