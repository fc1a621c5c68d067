"""Exercises of lesson 08, which integrator."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Composition, Projector, Reference
from ...run.loop import integrate
from ..comparison import METHODS, problems, there_and_back
from . import near

NAMES = ("DLA", "Projector", "Reversible", "DiscreteGradient", "RK4")


def _asymmetric():
    """Not reversible although L has no term linear in v: the odd power is the third."""
    x, y, vx, vy = symbols("x y vx vy")
    return System((x, y), (vx, vy), vx**2 / 2 + vy**2 / 2 + x * vx * vy**2 / 5 - y**2)


def e1(answer):
    """v -> -v leaves L alone: then every motion can be run backwards, and a method made from a
    symmetric discrete Lagrangian inherits that. Terms linear in v, as in a magnetic field, break
    it."""
    if not callable(answer):
        return "The answer is a function of a System: answer = reversible, without calling it."
    cases = [(systems.catalogue[name](), name != "nonreversible")
             for name in ("particle", "sleigh", "transmission", "nonreversible")]  # fmt: skip
    for system, truth in [*cases, (_asymmetric(), False)]:
        said = answer(system)
        if bool(said) != truth:
            name = system.name or "system with L = ... + x vx vy^2/5"
            return f"On the {name} your function says {bool(said)}, and the truth is {truth}."
    return None


@cache
def returning():
    """The methods of NAMES that bring the non-reversible oscillator back."""
    p = problems()["non-reversible"]
    start = (p.q0[4], p.v0[4], 0.2, 50)
    return {name for name in NAMES if there_and_back(p.system, METHODS[name], *start) < 1e-10}


def e2(answer):
    """The new term of L is the rate of a function of q. Its curl vanishes, and the curl is all the
    discrete gradient method takes of it; RK4 does not see it either, but is not symmetric. The
    discrete Lagrangians do see it."""
    if isinstance(answer, str) or not all(isinstance(x, str) for x in answer):
        return 'The answer is a set of names, as in {"DLA", "RK4"}.'
    unknown = sorted(set(answer) - set(NAMES))
    if unknown:
        return f"{unknown[0]} is not in the list; choose from {', '.join(NAMES)}."
    if set(answer) == returning():
        return None
    wrong = sorted(set(answer) - returning())
    if wrong:
        return f"{wrong[0]} does not come back: try comparison.there_and_back."
    return "At least one more does. Which method uses only the accelerations, and is symmetric?"


@cache
def drift_ratio():
    """RK4's loss of energy per unit time on the particle, h = 0.1 over h = 0.05."""
    system = systems.particle()
    rate = {}
    for h in (0.1, 0.05):
        sol = integrate(system, RK4(), h=h, steps=round(200 / h))
        rate[h] = np.polyfit(sol.t, sol.energy(), 1)[0]
    return rate[0.1] / rate[0.05]


def e3(answer):
    """32 = 2^5. On an oscillation RK4, of order 4, loses energy at a rate of order h^5, one power
    more. So it is hopeless at large steps and excellent at small ones."""
    if not np.isscalar(answer) or isinstance(answer, str):
        return "The answer is one number, by which the rate is divided."
    if near(answer, drift_ratio(), 0.1):
        return None
    if near(answer, 16, 0.01):
        return "16 = 2^4 is the ratio of the errors in q. The energy does better: measure it."
    return "Fit a line to sol.energy() for h = 0.1 and for h = 0.05, to t = 200, and divide."


@cache
def gain():
    """Error at t = 20 of DLA, h = 1/20, over that of its composition of order 4, h = 1/4."""
    system = systems.particle()
    true = integrate(system, Reference(), h=20, steps=1).q[-1]
    error = [np.abs(integrate(system, m, h=20 / n, steps=n).q[-1] - true).max()
             for m, n in ((DLA(), 400), (Composition(DLA(), 4), 80))]  # fmt: skip
    return error[0] / error[1]


def e4(answer):
    """As many steps of DLA, one in five of them backwards, and more than a digit is won. That is
    what symmetry is good for, besides the energy."""
    if not np.isscalar(answer) or isinstance(answer, str):
        return "The answer is one number, the error of DLA over that of the composition."
    if near(answer, gain(), 0.1):
        return None
    if near(answer, 1 / gain(), 0.1):
        return "Upside down: DLA's error over that of the composition."
    return (
        "Compare at equal cost: 400 steps of DLA against 80 of Composition, five substeps each, "
        "with nh.Reference() at t = 20 as the truth."
    )


@cache
def growth_rate():
    """The rate of |A v| of the projector method on the sleigh, h = 0.1, from t = 50 to 85."""
    sol = integrate(systems.sleigh(), Projector(), h=0.1, steps=850)
    size = np.log(np.abs(sol.constraint()[500:, 0]))
    return np.polyfit(sol.t[500:], size, 1)[0]


def e5(answer):
    """The rate at which the true turn rate dies out, k = a e / b^2 with b^2 = I/m + a^2 and
    e^2 = u^2 + b^2 w^2. The map keeps volumes: what shrinks in one direction grows in another."""
    if not np.isscalar(answer) or isinstance(answer, str):
        return "The answer is one number, the r of |A v| ~ exp(r t)."
    if near(answer, growth_rate(), 0.02):
        return None
    if near(answer, -growth_rate(), 0.02):
        return "The size is right. Does the projector's A v grow or die out?"
    return "Fit a line to the logarithm of |A v| for t between 50 and 85; or see the panel's k."
