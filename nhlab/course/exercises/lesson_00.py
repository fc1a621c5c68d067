"""Exercises of lesson 00, the start."""

from __future__ import annotations

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, rank, symbols
from ...methods import DLA, RK4
from ...run.loop import integrate
from ..lessons.lesson_00 import PLACE, glide

SLOW = (2, 0, 0.15, 2)  # the robot's v0 in this lesson
T = 60


def e1(answer):
    """Two: the rate of turning and the rate of rolling. The robot can still reach every place,
    heading and wheel angle: the constraints take two velocities away and no position."""
    robot = systems.robot()
    free = len(robot.q) - rank(robot.A(robot.q0))
    if np.ndim(answer) != 0 or not np.isreal(answer):
        return "The answer is one whole number."
    if answer == free:
        return None
    if answer == len(robot.q):
        return "That is the number of coordinates. Each constraint takes one velocity away."
    return "Count the coordinates, then subtract the independent constraints."


def e2(answer):
    """Parked. The skate has moved by 1 at right angles to its blade, and at no time was
    it moving sideways."""
    numbers = np.asarray(answer, float)
    if numbers.shape != (2,):
        return "The answer is two numbers, (turn, back), as the sliders show them."
    if not np.all(np.abs(numbers) < 10):
        return "Stay within the ranges of the sliders."
    x, y, _ = glide(*numbers)[-1] - [*PLACE, 0]
    if np.hypot(x, y) < 0.03:
        return None
    if abs(y) >= 0.02:
        return (f"The skate ends {abs(y):.2f} too {'high' if y > 0 else 'low'}. Only turn changes "
                "y: set it first.")  # fmt: skip
    return f"y is right, x is off by {x:+.2f}. Leave turn alone and change back."


def forms():
    """The four constraints of exercise 3 by letter, and what they are made of."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    rows = {"a": vz - y * vx, "b": vz - y * vx - x * vy, "c": y * vx - x * vy,
            "d": vz - y * vx + x * vy}  # fmt: skip
    kinetic = (vx**2 + vy**2 + vz**2) / 2
    return {k: System((x, y, z), (vx, vy, vz), kinetic, [form]) for k, form in rows.items()}


def e3(answer):
    """b integrates to z - x y = const, and c to y/x = const: each leaves a surface to move on.
    a and d leave no surface, and every point of space can be reached."""
    given = forms()
    if not isinstance(answer, (set, list, tuple)) or not all(x in given for x in answer):
        return 'The answer is a set of letters, as in {"a", "b"}.'
    truth = {k for k, s in given.items() if not s.is_holonomic()}
    if set(answer) == truth:
        return None
    for k in sorted(set(answer) - truth):
        return f"{k} can be integrated: find a function of x, y, z that it keeps constant."
    return f"{sorted(truth - set(answer))[0]} is missing: ask is_holonomic()."


def spreads(h):
    """The energy spread of DLA and of RK4 on the robot of the lesson."""
    run = {"v0": SLOW, "h": h, "steps": round(T / h), "progress": False}
    return [np.ptp(integrate(systems.robot(), m, **run).energy()) for m in (DLA(), RK4())]


def e4(answer):
    """Below this step RK4 has the smaller spread. For a longer run the point moves to smaller
    steps, because the loss of RK4 grows with time and the band of DLA does not."""
    if np.ndim(answer) != 0:
        return "The answer is one number, the step size."
    h = float(answer)
    if not 0.05 <= h <= 0.5:
        return "Give a step size within the range of the slider."
    low, high = spreads(h - 0.02), spreads(h + 0.02)
    if low[0] > low[1] and high[0] < high[1]:
        return None
    dla, rk4 = spreads(h)
    return f"At h = {h:g} the spreads are {dla:.3f} (DLA) and {rk4:.3f} (RK4). Look for equal ones."
