"""Lesson 07: loops and what they cost, the two ways round the square, the robot's pendulum."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import cos, sin

from ...geometry.reduction import Chaplygin
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RDLA, Reference, Variational
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ..exercises import sized, takes, told
from ..kit import circle, slope


def gear() -> System:
    r"""x' + sin(y) z' = 0: A is not linear in r = (y, z), and the gyroscopic force is not zero."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2 - z**2) / 2 + cos(y)
    start = {"q0": (0, 0, 0), "v0": (0, 1.5, 0.3)}
    return System((x, y, z), (vx, vy, vz), L, [vx + sin(y) * vz], name="gear", **start)


def bent() -> System:
    r"""Linear A, no gyroscopic force, D not integrable: the momentum of w vanishes on D."""
    x, y, z, w, vx, vy, vz, vw = symbols("x y z w vx vy vz vw")
    row = vw - y * vx + x * vy
    L = (vx**2 + vy**2 + vz**2 + row**2) / 2 - x**2 - y**4
    rows = [vz + y * vx + (x + 3 * y) * vy, row]
    start = {"q0": (0, 1, 0, 0), "v0": (1, 0.5, -2.5, 1)}
    return System((x, y, z, w), (vx, vy, vz, vw), L, rows, name="bent", **start)


def with_and_without(red: Chaplygin, h: float = 0.05, steps: int = 240) -> tuple[np.ndarray, ...]:
    """Paths in the base: the shadow of the exact motion, and those of L* with its force and
    without it; (N+1, k) each."""
    alone = System(red.q, red.v, red.L, parameters=red.parameters)
    start = {"q0": red.q0, "v0": red.v0, "h": h, "steps": steps}
    own = (integrate(s, Reference(), **start).q for s in (red, alone))
    return red.project(integrate(red.full, Reference(), h=h, steps=steps)), *own


def driven_round(
    robot: Chaplygin, theta: float, steer: float, roll: float = 0.8
) -> tuple[np.ndarray, ...]:
    """A loop about theta, the way of the robot on it, and what curvature times area promises."""
    r = [theta, 0] + [steer, roll] * circle(401)
    s = np.cumsum([[0, 0], *robot.f(r[:-1], r[1:], 1.0)], 0)
    return r, s, -robot.curvature_at([theta, 0.0])[:, 0, 1] * np.pi * steer * roll


RULES = {"midpoint": (0.5, False), "alpha = 0.3": (0.3, False), "symmetric 0.3": (0.3, True)}


FLOOR = 1e-7  # where a difference that is round-off is drawn


def both_ways(red: Chaplygin, rule: str, h: float, T: float) -> list[Trajectory]:
    """Reduced and then discretised (Variational), discretised and then reduced (RDLA)."""
    steps = max(1, round(T / h))
    return [integrate(red, m(*RULES[rule]), h=h, steps=steps) for m in (Variational, RDLA)]


def difference(runs: Sequence[Trajectory]) -> float:
    size = float(np.abs(runs[0].q - runs[1].q).max())
    return size if size > 1e-12 else FLOOR


FIBRES = {
    "particle": (systems.particle, "z"),
    "free_particle": (systems.free_particle, "z"),
    "robot": (systems.robot, "x y"),
    "rolling_disk": (systems.rolling_disk, "x y"),
    "gear": (gear, "x"),
    "bent": (bent, "z w"),
}


@functools.cache
def reduced(name: str) -> Chaplygin:
    """A system of the list, reduced."""
    make, fibre = FIBRES[name]
    return Chaplygin(make(), fibre=fibre)


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    run = functools.partial(integrate, systems.particle(), Reference(), v0=[1, 1, 1], h=0.05)
    low, high = (run(q0=[0, 1, z], steps=240).q for z in (0, 2))
    gap = np.abs(high - low - [0, 0, 2])
    truth = "Yes" if gap.max() < 1e-8 else "No" if gap[:20].max() > 1e-2 else "At first"
    return truth, {"gap": gap.max()}


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    _, s, promise = driven_round(reduced("robot"), 0.6, 1.2)
    x, y = s[-1]
    angle = abs(np.rad2deg(np.arctan2(y, x) - 0.6))
    truth = "Beside" if abs(angle - 90) < 1 else "Further"
    truth = "Where" if np.hypot(x, y) < 1e-6 else truth
    return truth, {"angle": angle, "long": np.hypot(*promise) / np.hypot(x, y) - 1}


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    shadow, forced, alone = with_and_without(reduced("particle"))
    far = [np.abs(x - shadow).max() for x in (forced, alone)]
    # the same path if every point of the one is near some point of the other
    apart = np.linalg.norm(alone[:, None] - shadow[None], axis=-1).min(1).max()
    truth = "Yes" if far[1] < 1e-6 else "The same path" if apart < 0.05 else "No"
    return truth, {"forced": far[0], "alone": far[1]}


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    plane, steps = reduced("particle"), 250
    full = integrate(plane.full, DLA(), h=0.2, steps=steps)
    gap = np.abs(plane.reconstruct(integrate(plane, RDLA(), h=0.2, steps=steps)).q - full.q)
    truth = "It agrees" if gap[:10].max() < 1e-10 else "By the error"
    truth = "Not at all" if gap.max() < 1e-10 else truth
    return truth, {"gap": gap.max(), "steps": steps}


def prediction_5() -> tuple[str | float, dict[str, Any]]:
    names, hs = ("particle", "bent", "gear", "robot", "rolling_disk"), np.array([0.2, 0.1, 0.05])

    def gap(name: str, rule: str, h: float) -> float:
        return difference(both_ways(reduced(name), rule, h, 4.0))

    words = {names: "For all", (): "For none", ("particle", "bent"): "For those whose"}
    words["bent", "robot", "rolling_disk"] = "For those without"
    agree = tuple(name for name in names if gap(name, "midpoint", 0.2) == FLOOR)
    rules = {"gear": "midpoint", "third": "alpha = 0.3"}
    slopes = {k: slope(hs, [gap("gear", rule, h) for h in hs]) for k, rule in rules.items()}
    return words[agree], slopes


def as_pendulum(mass: float, h: float, steps: int) -> np.ndarray:
    """The robot's rolling angle if it were a pendulum of this mass, by the midpoint rule."""
    psi, vpsi = symbols("psi vpsi")
    pendulum = System((psi,), (vpsi,), mass * vpsi**2 / 2 - 10 * sin(psi))
    return integrate(pendulum, Variational(), [0], [8 / mass], h=h, steps=steps).q[:, 0]


def prediction_6() -> tuple[str | float, dict[str, Any]]:
    h, omega, steps = 0.4, 4.0, 50
    psi = integrate(reduced("robot"), RDLA(), [0, 0], [omega, 2], h=h, steps=steps).q[:, 1]
    mass = 3 + np.cos(h * omega / 2)
    gap, far = (np.abs(as_pendulum(x, h, steps) - psi).max() for x in (mass, 4))
    same = "It makes the pendulum lighter" if mass < 4 else "It makes the pendulum heavier"
    truth = same if gap < 1e-9 else "It brakes"
    return "Nothing" if far < 1e-9 else truth, {"mass": mass, "gap": gap, "far": far}


@takes(sized(2), "Give two numbers, x and y.")
def exercise_1(answer: Any) -> str | None:
    corners = np.array([[0, 0], [0, 1], [0.5, 1], [0.5, 0], [0, 0]], float)
    # exact, since theta rests while psi rolls
    truth = reduced("robot").f(corners[:-1], corners[1:], 1.0).sum(0)
    close = functools.partial(np.allclose, answer, rtol=0, atol=1e-3)  # three digits are enough
    if close(truth):
        return None
    if close(-truth):
        return "That is the loop driven the other way round: first roll, then steer."
    if close([0, -0.5]) or close([0, 0.5]):
        return "That is curvature times area at theta = 0, an approximation. Add up the four parts."
    return (
        "Steering does not move the robot; rolling by psi moves it by psi (cos theta, sin theta)."
    )


@takes(callable, "Give a function of (y, z, vy, vz) that returns two numbers.")
def exercise_2(answer: Any) -> str | None:
    r, v = np.random.default_rng(3).uniform(0.2, 1.2, (2, 6, 2))
    truth = reduced("gear").gyroscopic_force(r, v)
    given = np.array([np.asarray(answer(*a, *b), float) for a, b in zip(r, v, strict=True)])
    if given.shape != truth.shape:
        return "The force has two components, along y and along z."
    sign = "The sign is wrong: F stands on the right of d/dt L*_v - L*_r."
    rest = "F_b = L_x' B_bc v_c with L_x' = x' on D; B_yz = cos(y) = -B_zy, all other B are 0."
    if np.abs((given * v).sum(1)).max() > 1e-9:
        rest = "Your force does work, F.v is not 0. Check the two components against each other."
    return told(given, truth, [(-truth, sign)], rest, 1e-5)


def exercise_3(answer: Any) -> str | None:
    whole = "Between the mean heading and that at a node lies half of a step's turn, h omega / 2."
    both = "Only m R^2 is multiplied by the cosine: the wheels turn about their own axes as before."
    wheels = "The three wheels have inertia of their own: 3 Iw is added."
    true = "That is the mass of the true pendulum, which one gets by reducing first."
    mistakes = [(3 + np.cos(1.0), whole), (4 * np.cos(0.5), both), (np.cos(0.5), wheels), (4, true)]
    rest = "The mass is 3 Iw + m R^2 cos(h omega / 2), with the angle in radians."
    return told(answer, 3 + np.cos(0.5), mistakes, rest, 1e-3)
