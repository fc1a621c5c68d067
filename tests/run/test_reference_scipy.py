"""``nh.Reference``, whose loop is generated, against SciPy's own DOP853 on equations of motion that
are written here by hand: what neither the generator nor the derivation of the equations knows.

The particle, which is the simplest, is in ``test_dense.py``.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nhlab as nh
from nhlab.run.arguments import has_numba

BACKENDS = ["python", *["numba"] * has_numba()]
TIGHT = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rotation_by_quaternions(backend):
    """Suslov's body: I w' = Iw x w + lam e3 with w3 = 0, and g' = g (0, w)/2."""
    I1, I2, I13, I23 = 1.0, 2.0, 0.5, 0.3

    def motion(t, y):
        (a, b, c, d), (w1, w2, _) = y[:4], y[4:]
        turn = [-b * w1 - c * w2, a * w1 - d * w2, a * w2 + d * w1, b * w2 - c * w1]
        along = I13 * w1 + I23 * w2
        return [*(x / 2 for x in turn), -along * w2 / I1, along * w1 / I2, 0.0]

    sol = nh.integrate(nh.systems.suslov(), nh.Reference(), h=0.15, steps=60, backend=backend)
    y0 = [*sol.q[0], *sol.v[0]]
    found = solve_ivp(motion, (0, sol.t[-1]), y0, t_eval=sol.t, **TIGHT).y.T
    np.testing.assert_allclose(np.hstack([sol.q, sol.v]), found, rtol=0, atol=5e-11)
    assert np.ptp(found, axis=0)[:6].min() > 0.1  # everything that can has moved
    np.testing.assert_allclose((sol.q**2).sum(1), 1, atol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_holonomic_constraint(backend):
    """The spherical pendulum, which SciPy moves by its two angles, without a constraint."""

    def motion(t, y):
        angle, _, rate, turn = y
        sin, cos = np.sin(angle), np.cos(angle)
        return [rate, turn, sin * cos * turn**2 - sin, -2 * rate * turn * cos / sin]

    ball = nh.systems.spherical_pendulum()
    sol = nh.integrate(ball, nh.Reference(), h=0.15, steps=60, backend=backend)
    y0 = [np.pi / 2, 0, 0, 1]  # q = (1, 0, 0), v = (0, 1, 0)
    a, b, *_ = solve_ivp(motion, (0, sol.t[-1]), y0, t_eval=sol.t, **TIGHT).y
    q = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), -np.cos(a)], 1)
    np.testing.assert_allclose(sol.q, q, rtol=0, atol=5e-11)
    assert np.ptp(q, axis=0).min() > 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_inputs_that_are_held_during_each_step(backend):
    """The particle with a push u along x; SciPy begins anew where u jumps."""
    u = nh.symbols("u")
    pushed = nh.systems.particle().replace(forces={"x": u})
    h, values = 0.2, np.random.default_rng(1).uniform(-2, 2, 30)
    run = {"h": h, "steps": len(values), "inputs": {u: values}, "backend": backend}
    sol = nh.integrate(pushed, nh.Reference(), **run)

    def motion(t, y, push):
        (x, y, _), (vx, vy, vz) = y[:3], y[3:]
        ax = (push - 2 * x - y * vx * vy) / (1 + y**2)
        return [vx, vy, vz, ax, -2 * y, vx * vy + y * ax]

    states = [np.concatenate([sol.q[0], sol.v[0]])]
    for push in values:
        states.append(solve_ivp(motion, (0, h), states[-1], args=(push,), **TIGHT).y[:, -1])
    np.testing.assert_allclose(np.hstack([sol.q, sol.v]), states, rtol=0, atol=5e-11)
    other = nh.integrate(pushed, nh.Reference(), **run | {"inputs": {u: 0 * values}})
    assert np.abs(other.q - sol.q).max() > 0.1  # the pushes matter
