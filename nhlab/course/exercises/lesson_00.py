"""Exercises of lesson 00, the start."""

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4
from ...run.loop import integrate
from ..lessons.lesson_00 import PLACE, glide
from . import shape, takes

SLOW = (2, 0, 0.15, 2)  # the robot's v0 in this lesson
T = 60


def e1(answer):
    """Two: the rate of turning and the rate of rolling. The robot can still reach every place,
    heading and wheel angle: the constraints take two velocities away and no position."""
    robot = systems.robot()
    if np.ndim(answer) != 0 or not np.isreal(answer):
        return "The answer is one whole number."
    if answer == len(robot.q):
        return "That is the number of coordinates. Each constraint takes one velocity away."
    if answer != len(robot.q) - np.linalg.matrix_rank(robot.A(robot.q0)):
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
        return f"""The skate ends {abs(y):.2f} too {"high" if y > 0 else "low"}. Only turn changes
            y: set it first."""
    return f"y is right, x is off by {x:+.2f}. Leave turn alone and change back."


def e3(answer):
    """b integrates to z - x y = const, and c to y/x = const: each leaves a surface to move on.
    a and d leave no surface, and every point of space can be reached."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    forms = vz - y * vx, vz - y * vx - x * vy, y * vx - x * vy, vz - y * vx + x * vy
    given = dict(zip("abcd", forms, strict=True))
    if not isinstance(answer, (set, list, tuple)) or not all(x in given for x in answer):
        return 'The answer is a set of letters, as in {"a", "b"}.'
    space = (x, y, z), (vx, vy, vz), (vx**2 + vy**2 + vz**2) / 2
    truth = {k for k, form in given.items() if not System(*space, [form]).is_holonomic()}
    for k in sorted(set(answer) - truth):
        return f"{k} can be integrated: find a function of x, y, z that it keeps constant."
    for k in sorted(truth - set(answer)):
        return f"{k} is missing: ask is_holonomic()."


def spreads(h):
    """The energy spread of DLA and of RK4 on the robot of the lesson."""
    run = {"v0": SLOW, "h": h, "steps": round(T / h), "progress": False}
    return [np.ptp(integrate(systems.robot(), m, **run).energy()) for m in (DLA(), RK4())]


@takes(shape(), "The answer is one number, the step size.")
def e4(answer):
    """Below this step RK4 has the smaller spread. For a longer run the point moves to smaller
    steps, because the loss of RK4 grows with time and the band of DLA does not."""
    h = float(answer)
    if not 0.05 <= h <= 0.5:
        return "Give a step size within the range of the slider."
    low, high = spreads(h - 0.02), spreads(h + 0.02)
    if low[0] > low[1] and high[0] < high[1]:
        return None
    dla, rk4 = spreads(h)
    return f"At h = {h:g} the spreads are {dla:.3f} (DLA) and {rk4:.3f} (RK4). Look for equal ones."
