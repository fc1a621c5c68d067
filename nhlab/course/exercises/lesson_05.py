"""Exercises of lesson 05: EDLA, time as an unknown."""

import numpy as np
from scipy.optimize import brentq
from sympy import cos, sin

from ...mechanics.catalogue import particle, pendulum, robot
from ...mechanics.system import System, symbols
from ...methods import EDLA
from ...run.loop import integrate
from ..lessons.lesson_05 import excess
from . import near, shape, takes


def e1(answer):
    """The step back solves C03 (6) at every node: Ld changes its sign when its two ends are
    exchanged, so both balances hold without any force. No Newton iteration was needed."""
    sol = integrate(particle(), EDLA(), h=0.1, steps=10)
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return f"Give five numbers, x2, y2, z2, lam, h2; this has shape {answer.shape}."
    if np.allclose(answer[:3], sol.q[8], atol=1e-6):
        return "That is the forward step. The reversed root undoes the last one."
    if np.isclose(answer[4], sol.h[6], atol=1e-6):
        return "The size is right, but the reversed root goes back in time."
    if not np.allclose(answer, [*sol.q[6], 0.0, -sol.h[6]], rtol=0, atol=1e-6):
        return """At the node q1 = run.q[7] the last step came from run.q[6] and had the size
            run.h[6]; going back the same way needs no force."""


@takes(callable, "Give a function of (theta, p) that returns c.")
def e2(answer):
    """So c < 0 near the bottom and wherever a swing turns back. It is positive near the top if
    the pendulum is fast there: EDLA follows a swing and stops on a pendulum that turns over."""
    theta, p = np.array([0.0, 0.4, 1.0, 2.0, 3.0, -1.3]), np.array([1.0, 0.7, 0.0, 1.5, -2.0, 0.3])
    truth = excess(pendulum(), theta[:, None], p[:, None])
    given = np.array([float(answer(a, b)) for a, b in zip(theta, p, strict=True)])
    if np.allclose(given, -truth, atol=1e-5):
        return "The sign is wrong: the midpoint loses energy in a well, c(0, 1) = -1/8."
    right = np.isclose(given, truth, atol=1e-5)
    if right[2] and not right[0]:
        return "At rest it is right. The term with p^2 is missing or wrong: try theta = 0."
    if right[0] and not right[2]:
        return "At theta = 0 it is right. At rest, p = 0, the force itself gives a term."
    if not right.all():
        return f"""At theta = 1, p = 0 it should be {truth[2]:.4f}, you have {given[2]:.4f}. Expand
            v = p - (h/2) sin(theta + h v/2) to second order in h and put it into E."""


@takes(shape(), "The answer is one number, a steering rate.")
def e3(answer):
    """At the bottom c = (m R^2 omega^2 - k) psi'^2 / 8, so the sign changes at
    omega = sqrt(k / m) / R. Runs from there with 3.1 go through, with 3.2 they stop."""

    def c(omega):
        return float(excess(robot(), [0, 0, 0, -np.pi / 2], [2, 0, omega, 2]))

    truth = brentq(c, 0, 10)
    if near(abs(answer), truth, 2e-3):
        return None
    if near(answer, truth**2, 2e-3):
        return "That is its square."
    return f"""At the bottom and omega = {float(answer):g} the coefficient c is {c(answer):.3f},
        not 0."""


def rotating(rate=0.3):
    """A bead in a potential that turns with the given rate."""
    (x, y), (vx, vy), t = symbols("x y"), symbols("vx vy"), symbols("t")
    along = x * cos(rate * t) + y * sin(rate * t)
    L = (vx**2 + vy**2) / 2 - (x**2 + y**2) / 2 - along**2 / 4
    return System((x, y), (vx, vy), L, t=t, name="rotating")


@takes(callable, "Give a function of (q, p, E).")
def e4(answer):
    """This is Jacobi's integral, E - 0.3 (x py - y px): the momentum of the symmetry that turns the
    plane and moves the clock together. Neither of its two parts is kept."""
    sol = integrate(rotating(), EDLA(), [1.0, 0.0], [0.2, 0.8], h=0.1, steps=200)
    q, p, E = sol.q[1:], sol.p[1:], sol.energy("midpoints")
    values = np.array([float(answer(*row)) for row in zip(q, p, E, strict=True)])
    if np.isclose(answer(q[0], p[0], E[0]), answer(q[0], p[0], E[0] + 1)):
        return "It has to depend on E."
    spread, flipped = np.ptp(values), 2 * E - values
    if spread < 1e-10 * (1 + np.abs(values).max()):
        return None
    if np.ptp(flipped) < 1e-10 * (1 + np.abs(flipped).max()):
        return "Nearly: one sign is wrong. The extended one-form is p dq - E dt."
    return f"""Along a run it changes by {spread:.2g}. The symmetry is q -> turned by 0.3 s,
        t -> t + s; put its generator into p.dq - E dt."""
