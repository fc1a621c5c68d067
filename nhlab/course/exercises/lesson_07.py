"""Exercises of lesson 07: reduction."""

import numpy as np

from ...geometry.reduction import Chaplygin
from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...methods import RDLA, Variational
from ...run.loop import integrate
from ..lessons.lesson_07 import bent, gear, rolled
from . import choice, near, shape, takes

FIBRES = {
    "particle": (systems.particle, "z"),
    "free_particle": (systems.free_particle, "z"),
    "robot": (systems.robot, "x y"),
    "rolling_disk": (systems.rolling_disk, "x y"),
    "gear": (gear, "x"),
    "bent": (bent, "z w"),
}


@takes(shape(2), "Give two numbers, x and y.")
def e1(answer):
    """Curvature times area, with the sign for a clockwise loop, gives (0, -0.5): right for small
    loops, and already near. This is how one parks sideways."""
    robot = Chaplygin(systems.robot(), fibre="x y")
    corners = np.array([[0, 0], [0, 1], [0.5, 1], [0.5, 0], [0, 0]], float)
    truth = robot.f(corners[:-1], corners[1:], 1.0).sum(0)  # exact: theta rests while psi rolls
    if near(answer, truth, 1e-3):
        return None
    if near(answer, -truth, 1e-3):
        return "That is the loop driven the other way round: first roll, then steer."
    if near(answer, [0, -0.5], 1e-3) or near(answer, [0, 0.5], 1e-3):
        return "That is curvature times area at theta = 0, an approximation. Add up the four parts."
    return "Steering does not move the robot; rolling by psi moves it psi (cos theta, sin theta)."


@takes(callable, "Give a function of (y, z, vy, vz) that returns two numbers.")
def e2(answer):
    """The momentum of the fibre is x' = -sin(y) z' and the curvature is cos(y). The force is
    largest at y = 45 degrees and vanishes where the ratio sin(y) is largest or zero."""
    r, v = np.random.default_rng(3).uniform(0.2, 1.2, (2, 6, 2))
    truth = Chaplygin(gear(), fibre="x").gyroscopic_force(r, v)
    given = np.array([np.asarray(answer(*a, *b), float) for a, b in zip(r, v, strict=True)])
    if given.shape != truth.shape:
        return "The force has two components, along y and along z."
    if np.allclose(given, truth):
        return None
    if np.allclose(given, -truth):
        return "The sign is wrong: F stands on the right of d/dt L*_v - L*_r."
    if np.abs((given * v).sum(1)).max() > 1e-9:
        return "Your force does work, F.v is not 0. Check the two components against each other."
    return "F_b = L_x' B_bc v_c with L_x' = x' on D; B_yz = cos(y) = -B_zy, all other B are 0."


@takes(callable, "Give a function of (r, p, h).")
def e3(answer):
    """Without springs no division by 1 + h²/2 is left, and the momentum of y is constant: y moves
    uniformly upstairs as well."""
    red = Chaplygin(systems.free_particle(), fibre="z")
    sol = integrate(red, RDLA(), h=0.2, steps=6)
    for k in range(6):
        r, p = (np.asarray(a, float) for a in answer(sol.q[k].copy(), sol.p[k].copy(), 0.2))
        if not near(r[1], sol.q[k + 1, 1], 1e-9):
            return "y moves uniformly, y2 = y + h py."
        if not near(r[0], sol.q[k + 1, 0], 1e-9):
            return "x2 differs: px = vx (1 + y ym) at the beginning of the step, ym = y + h vy/2."
        if not np.allclose(p, sol.p[k + 1], atol=1e-9):
            return "r2 is right. The new momentum is vx (1 + y2 ym) and vy."


@choice(FIBRES, '{"robot", "gear"}', "Still missing: {}. The force does not have to vanish.")
def e4(name):
    """These have an A that is linear in r, and at the midpoint that is all it takes: the force need
    not vanish, as it does in Theorem 5.6."""
    make, fibre = FIBRES[name]
    red = Chaplygin(make(), fibre=fibre)
    a, b = (integrate(red, m, h=0.2, steps=10).q for m in (RDLA(), Variational()))
    if np.abs(a - b).max() >= 1e-12:
        return f"Choose {name} in the panel, or look at its connection: is A linear in r?"


def e5(answer):
    """2 pi (sqrt(1 + radius²) - 1) = 2 pi: the ball has made one full turn about a tilted axis."""
    radius = float(answer)
    if not 0 < radius < 20:
        return "The radius is a positive number, in units of R."
    a = np.linspace(0, 2 * np.pi, 1001)
    r = radius * np.stack([np.cos(a) - 1, np.sin(a)], -1)
    ball = Chaplygin(systems.rubber_ball(), base="x y")
    left = float(np.linalg.norm(SO3.log(rolled(ball, r)[-1])))
    if left >= 0.02:
        return f"After this circle the ball is turned by {left:.3f}. The panel shows the formula."
    if radius >= 2:
        return "It comes back, but after more than one turn: a smaller circle does it, too."
