"""Exercises of lesson 05: EDLA, time as an unknown."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from sympy import cos, sin

from ...mechanics.catalogue import particle, pendulum, robot
from ...mechanics.system import System, symbols
from ...methods import EDLA
from ...run.loop import integrate
from ..lessons.lesson_05 import excess
from . import near


def e1(answer):
    """The step back solves C03 (6) at every node: Ld changes its sign when its two ends are
    exchanged, so both balances hold without any force. No Newton iteration was needed."""
    sol = integrate(particle(), EDLA(), h=0.1, steps=10)
    truth = np.array([*sol.q[6], 0.0, -sol.h[6]])
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return f"Give five numbers, x2, y2, z2, lam, h2; this has shape {answer.shape}."
    if np.allclose(answer, truth, rtol=0, atol=1e-6):
        return None
    if np.allclose(answer[:3], sol.q[8], atol=1e-6):
        return "That is the forward step. The reversed root undoes the last one."
    if np.isclose(answer[4], sol.h[6], atol=1e-6):
        return "The size is right, but the reversed root goes back in time."
    return ("At the node q1 = run.q[7] the last step came from run.q[6] and had the size run.h[6]; "
            "going back the same way needs no force.")  # fmt: skip


def e2(answer):
    """So c < 0 near the bottom and wherever a swing turns back. It is positive near the top if
    the pendulum is fast there: EDLA follows a swing and stops on a pendulum that turns over."""
    if not callable(answer):
        return "Give a function of (theta, p) that returns c."
    system = pendulum()
    theta, p = np.array([0.0, 0.4, 1.0, 2.0, 3.0, -1.3]), np.array([1.0, 0.7, 0.0, 1.5, -2.0, 0.3])
    truth = excess(system, theta[:, None], p[:, None])
    given = np.array([float(answer(a, b)) for a, b in zip(theta, p, strict=True)])
    if np.allclose(given, truth, atol=1e-5):
        return None
    if np.allclose(given, -truth, atol=1e-5):
        return "The sign is wrong: the midpoint loses energy in a well, c(0, 1) = -1/8."
    rest = np.isclose(given[2], truth[2], atol=1e-5)
    moving = np.isclose(given[0], truth[0], atol=1e-5)
    if rest and not moving:
        return "At rest it is right. The term with p^2 is missing or wrong: try theta = 0."
    if moving and not rest:
        return "At theta = 0 it is right. At rest, p = 0, the force itself gives a term."
    return (f"At theta = 1, p = 0 it should be {truth[2]:.4f}, you have {given[2]:.4f}. Expand "
            "v = p - (h/2) sin(theta + h v/2) to second order in h and put it into E.")  # fmt: skip


def e3(answer):
    """At the bottom c = (m R^2 omega^2 - k) psi'^2 / 8, so the sign changes at
    omega = sqrt(k / m) / R. Runs from there with 3.1 go through, with 3.2 they stop."""
    system = robot()

    def c(omega):
        return float(excess(system, [0, 0, 0, -np.pi / 2], [2, 0, omega, 2]))

    truth = brentq(c, 0, 10)
    if np.ndim(answer) != 0:
        return "The answer is one number, a steering rate."
    if near(abs(answer), truth, 2e-3):
        return None
    if near(answer, truth**2, 2e-3):
        return "That is its square."
    return (
        f"At the bottom and omega = {float(answer):g} the coefficient c is {c(answer):.3f}, not 0."
    )


def rotating(rate=0.3):
    """A bead in a potential that turns with the given rate."""
    (x, y), (vx, vy), t = symbols("x y"), symbols("vx vy"), symbols("t")
    along = x * cos(rate * t) + y * sin(rate * t)
    L = (vx**2 + vy**2) / 2 - (x**2 + y**2) / 2 - along**2 / 4
    return System((x, y), (vx, vy), L, t=t, name="rotating")


def e4(answer):
    """This is Jacobi's integral, E - 0.3 (x py - y px): the momentum of the symmetry that turns the
    plane and moves the clock together. Neither of its two parts is kept."""
    if not callable(answer):
        return "Give a function of (q, p, E)."
    sol = integrate(rotating(), EDLA(), [1.0, 0.0], [0.2, 0.8], h=0.1, steps=200)
    E = sol.energy("midpoints")
    rows = list(zip(sol.q[1:], sol.p[1:], E, strict=True))
    values = np.array([float(answer(q, p, e)) for q, p, e in rows])
    if np.isclose(answer(*rows[0]), answer(rows[0][0], rows[0][1], rows[0][2] + 1)):
        return "It has to depend on E."
    spread = np.ptp(values)
    if spread < 1e-10 * (1 + np.abs(values).max()):
        return None
    flipped = np.array([2 * e for _, _, e in rows]) - values
    if np.ptp(flipped) < 1e-10 * (1 + np.abs(flipped).max()):
        return "Nearly: one sign is wrong. The extended one-form is p dq - E dt."
    return (f"Along a run it changes by {spread:.2g}. The symmetry is q -> turned by 0.3 s, "
            "t -> t + s; put its generator into p.dq - E dt.")  # fmt: skip
