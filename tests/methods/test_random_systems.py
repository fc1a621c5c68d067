"""Laws that hold for every system, on systems and states drawn at random.

The printed equations, backends and files are the business of ``fuzz``, which draws more.
"""

import functools
import random

import numpy as np
import sympy as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import nhlab as nh

t = nh.symbols("t")
PHASES = (Phase.explicit, Phase.generate)  # a failing seed is small enough as it is
LAWS = settings(deadline=None, derandomize=True, database=None, max_examples=15, phases=PHASES)


@functools.cache
def system(seed):
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
    m = rng.randint(1, n - 1)
    rows = [v[n - m + k] - sum(function() * u for u in v[: n - m]) for k in range(m)]
    return nh.System(q, v, T + b - V, rows, t=time, name=f"random {seed}")


seeds = st.integers(0, 9)
numbers = st.floats(-0.75, 0.75, width=16)
states = st.lists(numbers, min_size=6, max_size=6)
autonomous = seeds.filter(lambda k: k % 3 != 2)


def start(s, numbers, t=0.0):
    """(q, v) with v in D."""
    q, v = np.array(numbers[: len(s.q)]), np.array(numbers[3 : 3 + len(s.q)])
    return q, s.project(q, v, t)


def run(s, method, state, h=0.05, steps=15, **options):
    return nh.integrate(s, method, *state, h=h, steps=steps, **options)


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
@given(autonomous, states)
def test_going_back(seed, numbers):
    """The midpoint rule is symmetric: with the magnetic term reversed it returns."""
    s = system(seed)
    flipped = nh.System(s.q, s.v, s.L.xreplace({u: -u for u in s.v}), s.constraints)
    sol = run(s, nh.DLA(), start(s, numbers))
    back = nh.integrate(flipped, nh.DLA(), sol.q[-1], q1=sol.q[-2], h=0.05, steps=15)
    np.testing.assert_allclose(back.q[::-1], sol.q, atol=1e-11)
