"""Laws that hold for every system, on systems and states drawn at random."""

import functools
import io
import random

import numpy as np
import pytest
import sympy as sp
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import nhlab as nh

t = nh.symbols("t")
PHASES = (Phase.explicit, Phase.generate)  # a failing seed is small enough as it is
LAWS = settings(deadline=None, derandomize=True, database=None, max_examples=15, phases=PHASES)


@functools.cache
def system(seed, constrained=True):
    """n = 2 or 3; M(q) positive definite, a magnetic term, a potential, m < n constraints.

    Every third one depends on time.  M is diagonally dominant, and each constraint has a velocity
    of its own, so that the rows are independent everywhere.
    """
    rng = random.Random(seed)
    n = rng.choice([2, 3])
    q, v = nh.symbols(f"q:{n}"), nh.symbols(f"v:{n}")
    time = t if seed % 3 == 2 else None

    def function(size=1):
        f = rng.choice([sp.sin, sp.cos, lambda e: e, lambda e: e**2 / 2])
        g = rng.choice([sp.sin, sp.cos, lambda e: sp.S.One])
        h = rng.choice([sp.S.One, sp.cos(time)]) if time is not None else 1
        return size * sp.Rational(rng.randint(1, 5), 5) * f(rng.choice(q)) * g(rng.choice(q)) * h

    M = sp.diag(*[1 + function() ** 2 if rng.random() < 0.5 else rng.randint(1, 3) for _ in q])
    M[0, 1] = M[1, 0] = sp.sin(rng.choice(q)) / 3
    T = (sp.Matrix([v]) * M * sp.Matrix(v))[0] / 2
    V = sum(s**2 for s in q) / 2 + function() + function()
    b = function(sp.Rational(1, 3)) * rng.choice(v)
    m = rng.randint(1, n - 1) if constrained else 0
    rows = [v[n - m + k] - sum(function() * u for u in v[: n - m]) for k in range(m)]
    return nh.System(q, v, T + b - V, rows, t=time, name=f"random {seed}")


seeds = st.integers(0, 9)
numbers = st.floats(-0.75, 0.75, width=16)
states = st.lists(numbers, min_size=6, max_size=6)
DISCRETE = [nh.DLA(), nh.DLA(0.3), nh.DLA(0.2, True)]
DISCRETE += [nh.Projector(), nh.Projector(0.7), nh.Projector(0.0, True)]
discrete = st.sampled_from(DISCRETE)
autonomous = seeds.filter(lambda k: k % 3 != 2)


def start(s, numbers, t=0.0):
    """(q, v) with v in D."""
    q, v = np.array(numbers[: len(s.q)]), np.array(numbers[3 : 3 + len(s.q)])
    return q, s.project(q, v, t)


def run(s, method, state, h=0.05, steps=15, **options):
    return nh.integrate(s, method, *state, h=h, steps=steps, **options)


@pytest.mark.ledger("CM01-6", "FIM08-6", "FIM08-average")
@LAWS
@given(seeds, states, discrete)
def test_discrete_equations(seed, numbers, method):
    """Momentum balance and discrete constraint, or reflection and average, to round-off."""
    s = system(seed)
    sol = run(s, method, start(s, numbers))
    force = np.einsum("kai,ka->ki", s.A(sol.q[:-1], sol.t[:-1]), sol.lam)
    np.testing.assert_allclose(sol.p_minus, sol.p[:-1] - force, atol=1e-13)
    if isinstance(method, nh.DLA):
        assert np.abs(sol.constraint("midpoints")).max() < 1e-14
        return
    q, time = sol.q[:-1], sol.t[:-1]
    b = s.momentum(q, 0 * q, time)  # momenta are measured from dL/dv at v = 0
    mirror = s.P(q, time) - s.Q(q, time)
    there = np.einsum("kji,kj->ki", mirror, sol.p[:-1] - b) + b
    np.testing.assert_allclose(sol.p_minus, there, atol=1e-13)
    assert np.abs(sol.constraint("average")).max() < 1e-13
    q0, v0 = start(s, numbers)  # half of the constraint's impulse belongs to the first step
    leaving = s.momentum(q0, v0) + 0.05 / 2 * s.multipliers(q0, v0) @ s.A(q0)
    np.testing.assert_allclose(sol.p_minus[0], leaving, atol=1e-13)


@LAWS
@given(seeds, states, st.sampled_from([nh.Variational(), nh.Variational(0.2, True)]))
def test_variational_extremises_the_action(seed, numbers, method):
    """The gradient of the action sum vanishes; without constraints DLA is the same method."""
    s = system(seed, constrained=False)
    state = start(s, numbers)
    sol = run(s, method, state)
    same = run(s, nh.DLA(method.alpha, method.symmetric), state)
    np.testing.assert_allclose(sol.q, same.q, atol=1e-14)
    e, k = 1e-3, 7
    for i in range(len(s.q)):
        steps = e * np.arange(-2, 3)
        paths = np.repeat(sol.q[None], 5, 0)
        paths[:, k, i] += steps
        S = [nh.diagnostics.action(s, method, sol.t, path) for path in paths]
        assert abs(S[0] - 8 * S[1] + 8 * S[3] - S[4]) / (12 * e) < 1e-9


@pytest.mark.ledger("C03-P4")
@LAWS
@given(autonomous, states)
def test_extended_method_keeps_the_discrete_energy(seed, numbers):
    s = system(seed)
    try:
        sol = run(s, nh.EDLA(), start(s, numbers), h=0.1)
    except nh.IntegrationError as stopped:  # where no positive step exists
        sol = stopped.trajectory
        assert stopped.step == sol.steps
    assume(sol.steps > 1)
    assert np.ptp(sol.energy("midpoints")) < 1e-12
    assert np.all(sol.h > 0) and np.abs(sol.constraint("midpoints")).max() < 1e-13


@LAWS
@given(autonomous, states)
def test_reference_keeps_energy_and_constraints(seed, numbers):
    s = system(seed)
    sol = run(s, nh.Reference(), start(s, numbers), h=0.2)
    assert np.ptp(sol.energy()) < 1e-11 and np.abs(sol.constraint()).max() < 1e-11


@LAWS
@given(seeds, states, st.sampled_from([nh.DLA(), nh.Projector(), nh.DLA(0.2, True), nh.RK4()]))
def test_methods_approach_the_reference(seed, numbers, method):
    """Doubling the steps divides the error by 2^order; a small error may be round-off already."""
    s = system(seed)
    state = start(s, numbers)
    true = run(s, nh.Reference(), state, h=0.8, steps=1).q[-1]
    ends = (run(s, method, state, h=0.8 / k, steps=k).q[-1] for k in (16, 32))
    errors = [np.abs(end - true).max() for end in ends]
    assert errors[1] < 1.5 * errors[0] / 2**method.order + 1e-10, errors
    assert errors[0] < 0.01


@LAWS
@given(seeds, states)
def test_acceleration_stays_on_the_constraints(seed, numbers):
    """A v = 0 along q + e v + e^2 a/2, v + e a, to second order in e."""
    s = system(seed)
    q, v = start(s, numbers, t=0.3)
    a, e = s.acceleration(q, v, 0.3), 1e-4
    ends = [s.A(q + d * v + d**2 / 2 * a, 0.3 + d) @ (v + d * a) for d in (-e, e)]
    assert np.abs(ends[1] - ends[0]).max() / (2 * e) < 1e-6


@LAWS
@given(seeds, states)
def test_projectors_and_legendre(seed, numbers):
    s = system(seed)
    q, v = np.array(numbers[: len(s.q)]), np.array(numbers[3 : 3 + len(s.q)])
    P, Q, M, A = (f(q, t=0.4) for f in (s.P, s.Q, s.M, s.A))
    zero = dict(atol=1e-14)
    np.testing.assert_allclose(P @ P, P, **zero)
    np.testing.assert_allclose(P.T @ M @ Q, 0 * P, **zero)
    np.testing.assert_allclose(A @ P, 0 * A, **zero)
    np.testing.assert_allclose(np.trace(Q), len(A), **zero)
    np.testing.assert_allclose(s.velocity(q, s.momentum(q, v, 0.4), 0.4), v, **zero)
    T = s.energy(q, v, 0.4) - s.V(q, 0.4)
    np.testing.assert_allclose(T, v @ M @ v / 2, **zero)


@LAWS
@given(seeds, states, states, discrete)
def test_arrays_and_scalars_agree(seed, one, two, method):
    s = system(seed)
    pairs = [start(s, one), start(s, two)]
    q0, v0 = (np.array(x) for x in zip(*pairs, strict=True))
    many = nh.ensemble(s, method, q0, v0, h=0.05, steps=10, backend="numpy")
    for k, state in enumerate(pairs):
        alone = run(s, method, state, steps=10, backend="python")
        np.testing.assert_allclose(many.rows[k], alone.rows.array, atol=1e-14)


@LAWS
@given(autonomous, states)
def test_going_back(seed, numbers):
    """The midpoint rule is symmetric: with the magnetic term reversed it returns."""
    s = system(seed)
    flipped = nh.System(s.q, s.v, s.L.xreplace({u: -u for u in s.v}), s.constraints)
    sol = run(s, nh.DLA(), start(s, numbers))
    back = nh.integrate(flipped, nh.DLA(), sol.q[-1], q1=sol.q[-2], h=0.05, steps=15)
    np.testing.assert_allclose(back.q[::-1], sol.q, atol=1e-11)


@LAWS
@given(seeds, states, discrete)
def test_saved_and_loaded(seed, numbers, method):
    s = system(seed)
    sol = run(s, method, start(s, numbers), steps=4)
    file = io.BytesIO()
    sol.save(file)
    file.seek(0)
    back = nh.load(file)
    assert back.system == s and back.method == sol.method
    np.testing.assert_array_equal(back.rows.array, sol.rows.array)
    np.testing.assert_array_equal(back.energy(), sol.energy())
