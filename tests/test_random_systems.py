"""Laws that hold for every system, on systems drawn at random."""

import io

import numpy as np
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import nhlab as nh

SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
t = nh.symbols("t")
small = st.integers(-3, 3)


@st.composite
def functions(draw, q, time=None):
    """A smooth bounded function of q: polynomials of sines and cosines, small coefficients."""
    terms = []
    for _ in range(draw(st.integers(1, 3))):
        a, b = draw(st.sampled_from(q)), draw(st.sampled_from(q))
        f = draw(st.sampled_from([sp.sin, sp.cos, lambda e: e, lambda e: e**2 / 2]))
        g = draw(st.sampled_from([sp.sin, sp.cos, lambda e: sp.S.One]))
        terms.append(sp.Rational(draw(small), 10) * f(a) * g(b + draw(small)))
    if time is not None:
        terms.append(sp.sin(time) * draw(st.sampled_from(q)) / 5)
    return sum(terms, sp.S.Zero)


@st.composite
def systems(draw, constrained=True, autonomous=True):
    """n = 2 or 3 coordinates, M(q) positive definite, a potential, m < n rows of constraints."""
    n = draw(st.integers(2, 3))
    q, v = nh.symbols(f"q:{n}"), nh.symbols(f"v:{n}")
    time = None if autonomous else t
    B = sp.Matrix(n, n, lambda i, j: draw(functions(q)) if i >= j else 0) / 3 + sp.eye(n)
    u = B.T * sp.Matrix(v)
    T = (u.T * u)[0] / 2 if draw(st.booleans()) else sum(w**2 for w in v) / 2
    V = draw(functions(q, time)) + sum(s**2 for s in q) / 2
    b = draw(functions(q)) * draw(st.sampled_from(v)) / 5  # a magnetic term
    m = draw(st.integers(1, n - 1)) if constrained else 0
    constraints = []
    for k in range(m):  # each row ends in a velocity of its own: independent everywhere
        row = sum(draw(functions(q, time)) * w for w in v[: n - m])
        constraints.append(v[n - m + k] - row)
    return nh.System(q, v, T + b - V, constraints, t=time, name="random")


@st.composite
def states(draw, system):
    number = st.floats(-0.8, 0.8, allow_nan=False, width=32)
    n = len(system.q)
    q = np.array([draw(number) for _ in range(n)])
    v = np.array([draw(number) for _ in range(n)])
    return q, system.project(q, v)


def run(system, method, state, h=0.05, steps=15, **options):
    return nh.integrate(system, method, *state, h=h, steps=steps, **options)


METHODS = st.sampled_from([
    nh.DLA(), nh.DLA(alpha=0.3), nh.DLA(alpha=0.2, symmetric=True), nh.DLA(constraint_alpha=0.0),
    nh.Projector(), nh.Projector(alpha=0.7), nh.Projector(alpha=0.0, symmetric=True),
])  # fmt: skip


@SETTINGS
@given(st.data())
def test_discrete_equations(data):
    """Momentum balance, discrete constraint, reflection: whatever the system, to round-off."""
    system = data.draw(systems(autonomous=data.draw(st.booleans())))
    method = data.draw(METHODS)
    sol = run(system, method, data.draw(states(system)))
    force = np.einsum("kai,ka->ki", system.A(sol.q[:-1], sol.t[:-1]), sol.lam)
    np.testing.assert_allclose(sol.p_minus, sol.p[:-1] - force, atol=1e-12)
    if isinstance(method, nh.DLA):
        assert np.abs(sol.constraint("midpoints")).max() < 1e-13
    else:
        assert np.abs(average_velocity_off_D(sol)).max() < 1e-13
        q, time = sol.q[1:-1], sol.t[1:-1]
        b = system.momentum(q, 0 * q, time)  # FIM08 (6), momenta measured from dL/dv at v = 0
        mirror = np.swapaxes(system.P(q, time) - system.Q(q, time), -1, -2)
        there = np.einsum("kij,kj->ki", mirror, sol.p[1:-1] - b) + b
        np.testing.assert_allclose(sol.p_minus[1:], there, atol=1e-12)


def average_velocity_off_D(sol):
    return sol.constraint("average")


@SETTINGS
@given(st.data())
def test_variational_is_DLA_without_constraints(data):
    """And both extremise the action sum: its gradient vanishes at every inner point."""
    system = data.draw(systems(constrained=False))
    method = data.draw(st.sampled_from([nh.Variational(), nh.Variational(0.2, True)]))
    state = data.draw(states(system))
    sol = run(system, method, state)
    same = run(system, nh.DLA(method.alpha, method.symmetric), state)
    np.testing.assert_allclose(sol.q, same.q, atol=1e-13)
    e, k = 1e-4, 7
    for i in range(len(system.q)):
        paths = [sol.q.copy(), sol.q.copy()]
        paths[0][k, i] += e
        paths[1][k, i] -= e
        up, down = (nh.diagnostics.action(system, method, sol.t, path) for path in paths)
        assert abs(up - down) / (2 * e) < 1e-6  # differences of second order, divided by h


@SETTINGS
@given(st.data())
def test_extended_method_keeps_the_discrete_energy(data):
    system = data.draw(systems())
    try:
        sol = run(system, nh.EDLA(), data.draw(states(system)))
    except nh.IntegrationError as stopped:  # where no positive step exists
        sol = stopped.trajectory
        assert stopped.step == sol.steps
    assume(sol.steps > 1)
    E = sol.energy("midpoints")
    assert np.ptp(E) < 1e-10 * (1 + np.abs(E).max())
    assert np.all(sol.h > 0) and np.abs(sol.constraint("midpoints")).max() < 1e-12


@SETTINGS
@given(st.data())
def test_reference_keeps_energy_and_constraints(data):
    system = data.draw(systems())
    sol = run(system, nh.Reference(), data.draw(states(system)), h=0.2)
    assert np.ptp(sol.energy()) < 1e-10 and np.abs(sol.constraint()).max() < 1e-10


@SETTINGS
@given(st.data())
def test_methods_approach_the_reference(data):
    """Halving h divides the error by four; compare with tiny errors allowed to be round-off."""
    system, state = (
        (s := data.draw(systems(autonomous=data.draw(st.booleans())))),
        data.draw(states(s)),
    )
    method = data.draw(st.sampled_from([nh.DLA(), nh.Projector(), nh.DLA(0.2, True)]))
    true = run(system, nh.Reference(), state, h=0.4, steps=1).q[-1]
    errors = [np.abs(run(system, method, state, h=0.4 / k, steps=k).q[-1] - true).max()
              for k in (16, 32)]  # fmt: skip
    assert errors[1] < 0.3 * errors[0] + 1e-9
    assert errors[0] < 0.02


@SETTINGS
@given(st.data())
def test_acceleration_stays_on_the_constraints(data):
    """A v = 0 along q + s v + s^2 a/2, v + s a to second order in s."""
    system = data.draw(systems(autonomous=data.draw(st.booleans())))
    q, v = data.draw(states(system))
    a, s = system.acceleration(q, v), 1e-4
    ends = [system.A(q + e * v + e**2 / 2 * a, e) @ (v + e * a) for e in (-s, s)]
    assert np.abs(ends[1] - ends[0]).max() / (2 * s) < 1e-6


@SETTINGS
@given(st.data())
def test_projectors(data):
    system = data.draw(systems(autonomous=data.draw(st.booleans())))
    q, v = data.draw(states(system))
    P, Q, M, A = system.P(q), system.Q(q), system.M(q), system.A(q)
    n, m = len(q), len(A)
    np.testing.assert_allclose(P @ P, P, atol=1e-13)
    np.testing.assert_allclose(P @ Q, np.zeros((n, n)), atol=1e-13)
    np.testing.assert_allclose(P.T @ M @ Q, np.zeros((n, n)), atol=1e-13)
    np.testing.assert_allclose(A @ P, np.zeros((m, n)), atol=1e-13)
    assert abs(np.trace(Q) - m) < 1e-12
    p = system.momentum(q, v)
    np.testing.assert_allclose(system.velocity(q, p), v, atol=1e-13)


@SETTINGS
@given(st.data())
def test_arrays_and_scalars_agree(data):
    system = data.draw(systems(autonomous=data.draw(st.booleans())))
    method = data.draw(METHODS)
    pairs = [data.draw(states(system)) for _ in range(2)]
    q0, v0 = (np.array(x) for x in zip(*pairs, strict=True))
    many = nh.ensemble(system, method, q0, v0, h=0.05, steps=10, backend="numpy")
    for k, state in enumerate(pairs):
        one = run(system, method, state, steps=10, backend="python")
        np.testing.assert_allclose(many.rows[k], one._rows, atol=1e-13)


@SETTINGS
@given(st.data())
def test_going_back(data):
    """Without magnetic terms the symmetric methods are reversible: turn v round and return."""
    system = data.draw(systems())
    even = system.L.xreplace({u: -u for u in system.v})
    system = nh.System(system.q, system.v, (system.L + even) / 2, system.constraints)
    sol = run(system, nh.DLA(alpha=0.5), state := data.draw(states(system)))
    q0, q1 = sol.q[-1], sol.q[-2]
    back = nh.integrate(system, nh.DLA(alpha=0.5), q0, q1=q1, h=0.05, steps=15)
    np.testing.assert_allclose(back.q[::-1], sol.q, atol=1e-11)
    np.testing.assert_array_equal(sol.q[0], state[0])


@SETTINGS
@given(st.data())
def test_saved_and_loaded(data):
    system = data.draw(systems(autonomous=data.draw(st.booleans())))
    sol = run(system, data.draw(METHODS), data.draw(states(system)), steps=4)
    file = io.BytesIO()
    sol.save(file)
    file.seek(0)
    back = nh.load(file)
    assert back.system == system and back.method == sol.method
    np.testing.assert_array_equal(back._rows, sol._rows)
    np.testing.assert_array_equal(back.energy(), sol.energy())
