"""Exercises of lesson 01: variational integrators."""

import numpy as np

from ...mechanics.catalogue import pendulum, spherical_pendulum
from ...methods import Reference, Variational
from ...run.loop import integrate
from . import near, shape, takes


@takes(shape(), "The answer is one whole number, how many eigenvalues are negative.")
def e1(answer):
    """Two directions lower the action sum: the path is a saddle, not a minimum. For short times
    there is none; about every half swing adds one. The principle only asks for stationary."""
    h = 0.1
    q = integrate(pendulum(), Variational(), [1.0], [0.0], h=h, steps=80).q[:, 0]
    c = h / 4 * np.cos((q[:-1] + q[1:]) / 2)  # of each step: D1D1Ld = D2D2Ld = 1/h - c
    hessian = np.diag(2 / h - c[:-1] - c[1:])
    hessian += np.diag(-1 / h - c[1:-1], 1) + np.diag(-1 / h - c[1:-1], -1)
    if answer == 0:
        return "That holds for short times only: this run lasts longer than half a swing."
    if answer != (np.linalg.eigvalsh(hessian) < 0).sum():
        return """Check the matrix: S has the second derivative D2D2Ld(k-1, k) + D1D1Ld(k, k+1) in
            its diagonal and D1D2Ld(k, k+1) beside it, for the 79 inner nodes."""


@takes(
    callable, "Give a function of (theta0, v0, alpha, h) that returns the velocity to start with."
)
def e2(answer):
    """The start now compensates the shift of the momentum, and the order is 2 for every alpha."""
    system, q0, v0, T, hs = pendulum(), [1.0], 0.4, 2.0, (0.1, 0.05, 0.025)
    truth = integrate(system, Reference(), q0, [v0], h=T, steps=1).q[-1]
    slopes = []
    for alpha in (0.0, 0.3, 0.8):
        errors = []
        for h in hs:
            v = [float(answer(q0[0], v0, alpha, h))]
            sol = integrate(system, Variational(alpha=alpha), q0, v, h=h, steps=round(T / h))
            errors.append(np.abs(sol.q[-1] - truth).max())
        slopes.append(np.polyfit(np.log(hs), np.log(errors), 1)[0])
    if not min(slopes) > 1.8:
        return f"""The observed orders for alpha = 0, 0.3, 0.8 are {slopes[0]:.1f}, {slopes[1]:.1f},
            {slopes[2]:.1f}. Compare p_minus = v + (1-alpha) h sin(theta) with the exact
            (theta1 - theta0)/h = v0 - (h/2) sin(theta0) + ..."""


def e3(answer):
    """The bound is 2/|1 - 2 alpha|: 2 for Verlet, none for the midpoint rule."""
    if near(answer, 2.0):
        return "That is Verlet's bound, beta = 0. Here beta = alpha (1 - alpha) = 0.21."
    if not near(answer, 2 / abs(1 - 2 * 0.3)):
        return """Put q_k = z^k into the Newmark recursion with a = -q: stable means |z| = 1, that
            is |2 - (1 - 2 beta) h^2| <= 2 (1 + beta h^2)."""


@takes(callable, "Give a function of (q, p), each of shape (3,), that returns a number.")
def e4(answer):
    """The vertical angular momentum: the constraint force passes through the axis, so SHAKE keeps
    it to round-off."""
    start = {"q0": [0.6, 0, -0.8], "v0": [0, 1.2, 0]}
    sol = integrate(spherical_pendulum(), Variational(), **start, h=0.2, steps=300)
    q, p = np.array([0.3, -0.5, 0.2]), np.array([0.7, 0.4, -0.9])
    if abs(answer(q, p) - answer(q, 2 * p)) < 1e-9:
        return "A momentum depends on p; this function does not change when p is doubled."
    values = np.array([float(answer(q, p)) for q, p in zip(sol.q, sol.p, strict=True)])
    if not np.ptp(values) < 1e-10 * max(1, np.abs(values).max()):
        return f"""Along a run of SHAKE this function spreads by {np.ptp(values):.1e}. Take the
            symmetry: rotations about the vertical, xi_Q(q) = (-y, x, 0)."""
