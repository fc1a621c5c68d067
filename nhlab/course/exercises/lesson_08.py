"""Exercises of lesson 08, which integrator."""

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Composition, Projector, Reference
from ...run.loop import integrate
from ..comparison import METHODS, problems, there_and_back
from . import choice, near, takes

NAMES = ("DLA", "Projector", "Reversible", "DiscreteGradient", "RK4")


def number(answer):
    """The form of one number, not written as a text."""
    return np.isscalar(answer) and not isinstance(answer, str)


def asymmetric():
    """Not reversible although L has no term linear in v: the odd power is the third."""
    x, y, vx, vy = symbols("x y vx vy")
    return System((x, y), (vx, vy), vx**2 / 2 + vy**2 / 2 + x * vx * vy**2 / 5 - y**2)


@takes(callable, "The answer is a function of a System: answer = reversible, without calling it.")
def e1(answer):
    """v -> -v leaves L alone: then every motion can be run backwards, and a method made from a
    symmetric discrete Lagrangian inherits that. Terms linear in v, as in a magnetic field, break
    it."""
    reversible = [systems.particle(), systems.sleigh(), systems.transmission()]
    for system in [*reversible, systems.nonreversible(), asymmetric()]:
        said, truth = bool(answer(system)), system in reversible
        if said != truth:
            name = system.name or "system with L = ... + x vx vy^2/5"
            return f"On the {name} your function says {said}, and the truth is {truth}."


@choice(
    NAMES,
    '{"DLA", "RK4"}',
    "At least one more does. Which method uses only the accelerations, and is symmetric?",
)
def e2(name):
    """The new term of L is the rate of a function of q. Its curl vanishes, and the curl is all the
    discrete gradient method takes of it; RK4 does not see it either, but is not symmetric. The
    discrete Lagrangians do see it."""
    p = problems()["non-reversible"]
    if there_and_back(p.system, METHODS[name], p.q0[4], p.v0[4], 0.2, 50) >= 1e-10:
        return f"{name} does not come back: try comparison.there_and_back."


@takes(number, "The answer is one number, by which the rate is divided.")
def e3(answer):
    """32 = 2^5. On an oscillation RK4, of order 4, loses energy at a rate of order h^5, one power
    more. So it is hopeless at large steps and excellent at small ones."""
    runs = [integrate(systems.particle(), RK4(), h=200 / n, steps=n) for n in (2000, 4000)]
    rate = [np.polyfit(sol.t, sol.energy(), 1)[0] for sol in runs]
    if near(answer, 16, 0.01):
        return "16 = 2^4 is the ratio of the errors in q. The energy does better: measure it."
    if not near(answer, rate[0] / rate[1], 0.1):
        return "Fit a line to sol.energy() for h = 0.1 and for h = 0.05, to t = 200, and divide."


@takes(number, "The answer is one number, the error of DLA over that of the composition.")
def e4(answer):
    """As many steps of DLA, one in five of them backwards, and more than a digit is won. That is
    what symmetry is good for, besides the energy."""
    ways = (Reference(), 1), (DLA(), 400), (Composition(DLA(), 4), 80)
    true, *q = (integrate(systems.particle(), m, h=20 / n, steps=n).q[-1] for m, n in ways)
    dla, composed = (np.abs(end - true).max() for end in q)
    if near(answer, composed / dla, 0.1):
        return "Upside down: DLA's error over that of the composition."
    if not near(answer, dla / composed, 0.1):
        return """Compare at equal cost: 400 steps of DLA against 80 of Composition, five substeps
            each, with nh.Reference() at t = 20 as the truth."""


@takes(number, "The answer is one number, the r of |A v| ~ exp(r t).")
def e5(answer):
    """The rate at which the true turn rate dies out, k = a e / b^2 with b^2 = I/m + a^2 and
    e^2 = u^2 + b^2 w^2. The map keeps volumes: what shrinks in one direction grows in another."""
    sol = integrate(systems.sleigh(), Projector(), h=0.1, steps=850)
    size = np.log(np.abs(sol.constraint()[500:, 0]))
    rate = np.polyfit(sol.t[500:], size, 1)[0]
    if near(answer, -rate, 0.02):
        return "The size is right. Does the projector's A v grow or die out?"
    if not near(answer, rate, 0.02):
        return "Fit a line to the logarithm of |A v| for t between 50 and 85; or see the panel's k."
