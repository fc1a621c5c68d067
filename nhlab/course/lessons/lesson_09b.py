"""In depth with lesson 09: two sketches, and what its predictions and exercises need."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq
from sympy import cos, sin

from ...geometry.firstlook import kept as kept
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector, Reference
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view.bodies import Body, Car, Racer, ahead
from ..exercises import near
from ..kit import show_errors as show_errors
from ..predict import either
from .lesson_09 import draw_sketch, m, mark_angle, vx, vy, write, x, y
from .lesson_09 import forward as forward

TRIES = {
    "09b.3": {
        "half the step: does the zigzag go?": {"h": 0.05},
        "a trailer twice as long: slower growth?": {"par.d": 3.0},
        "straight from the start: any zigzag?": {"q0.psi": 0.0},
        "does the energy show it?": {"view": "energy"},
    }
}


def disc() -> System:
    """A thin disc that rolls and may lean, as in SymPy's documentation: heading q1, lean q2 and
    rolling q3 of a disc that touches the ground at (x, y)."""
    q, v = symbols("q1 q2 q3"), symbols("v1 v2 v3")
    r, g = symbols("r g")
    (q1, q2, _), (v1, v2, v3) = q, v
    centre = sp.Matrix([x + r * sin(q1) * sin(q2), y - r * cos(q1) * sin(q2), r * cos(q2)])
    velocity = centre.jacobian([*q, x, y]) * sp.Matrix([*v, vx, vy])
    turning = (v2**2 + (v1 * cos(q2)) ** 2) / 8 + (v3 + v1 * sin(q2)) ** 2 / 4
    L = sp.simplify(m * velocity.dot(velocity) / 2 + m * r**2 * turning - m * g * r * cos(q2))
    rolls = [vx - r * v3 * cos(q1), vy - r * v3 * sin(q1)]
    start = {"q0": [0, 0.2, 0, 0, 0], "v0": [0.5, 0, 3, 3, 0], "name": "rolling disc"}
    numbers = {"m": 1, "r": 1, "g": 9.81}
    return System((*q, x, y), (*v, vx, vy), L, rolls, parameters=numbers, **start)


def put_in(system: System) -> System:
    """The disc with vx and vy replaced in L before it is differentiated: the beginner's mistake."""
    *v, vx, vy = system.v
    rolls = sp.solve(system.constraints, [vx, vy])
    numbers, start = system.parameters, {"q0": system.q0[:3], "v0": system.v0[:3]}
    return System(system.q[:3], v, system.L.subs(rolls), parameters=numbers, **start)


def _car(
    ax: Axes, at: np.ndarray, theta: float, phi: float, psi: float, l: float, d: float
) -> None:
    front, trailer = ahead(at, theta, l), ahead(at, psi, -d)
    mark_angle(ax, at, 0, theta, 0.8, r"$\theta$")
    mark_angle(ax, front, theta, theta + phi, 0.7, r"$\phi$")
    mark_angle(ax, trailer, 0, psi, 0.9, r"$\psi$")
    write(ax, "$l$", ahead(at, theta, 0.7), (-0.06, 0.14))
    write(ax, "$d$", ahead(at, psi, -0.6), (-0.1, -0.16))


def _racer(ax: Axes, at: np.ndarray, theta: float, phi: float, d1: float, d2: float) -> None:
    joint = ahead(at, theta, d1)
    mark_angle(ax, at, 0, theta, 1.0, r"$\theta$")
    mark_angle(ax, joint, theta, theta + phi, 0.75, r"$\phi$")
    write(ax, "$d_1$", ahead(at, theta, 0.65), (-0.25, 0.28))
    write(ax, "$d_2$", ahead(joint, theta + phi, 0.25), (-0.22, 0.12))


# body -> its pose, its lengths, where (x, y) is written, and what names the rest
SKETCHES = {
    Car: ((0, 0, 0.35, 0.45, -0.3), {"l": 1.4, "d": 1.5}, (-58, -26), _car),
    Racer: ((0, 0, 0.35, 0.6), {"d1": 1.3, "d2": 0.5}, (-96, -4), _racer),
}


def sketch(kind: type[Body]) -> Figure:
    """The body with its coordinates and lengths named; ``kind`` is Car or Racer."""
    return draw_sketch(kind, *SKETCHES[kind])


def both_discs() -> list[Trajectory]:
    """The disc for six seconds, by the true equations and with the rolling put into L."""
    s = disc()
    return [integrate(z, Reference(), h=0.02, steps=300) for z in (s, put_in(s))]


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    true, wrong = both_discs()
    gap, E = np.abs(true.q[:, 1] - wrong.q[:, 1]).max(), wrong.energy()
    words = "As it should:", "As it should,", "Not as a disc does, but", "Not as a disc does, and"
    truth = either(gap < 1e-6, np.ptp(E) < 1e-9 * np.abs(E).max(), *words)
    return truth, {"T": true.t[-1], "gap": gap, "spread": np.ptp(E), "energy": E[0]}


def _swerve(points: np.ndarray) -> float:
    """How far a path leaves its straight line, as a standard deviation."""
    centred = points - points.mean(0)
    return np.linalg.svd(centred, compute_uv=False)[1] / np.sqrt(len(points))


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    ratios, car = [], systems.car_with_trailer()
    for d in (1.5, 3.0):
        q = integrate(car.set(d=d), Reference(), h=0.1, steps=600).q
        ratios.append(_swerve(ahead(q[:, :2], q[:, 4], -d)) / _swerve(q[:, :2]))
    back = integrate(car, Reference(), v0=[-1, 0, -np.tan(0.5), 0, 0], h=0.1, steps=150).q
    ratio, long = ratios
    truth = "It cuts" if ratio < 0.95 else "It swings" if ratio > 1.05 else "It follows"
    return truth, {"ratio": ratio, "long": long, "angle": np.abs(back[:, 4] - back[:, 2]).max()}


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    start = [0, 0, 0, 0, 0.2], [1, 0, 0, 0, -np.sin(0.2) / 1.5]
    methods = Reference(), DLA(), RK4(), Projector()
    runs = [integrate(systems.car_with_trailer(), m, *start, h=0.1, steps=250) for m in methods]
    dla, rk4, zigzag = (np.abs(sol.q[:, 4] - runs[0].q[:, 4]) for sol in runs[1:])
    straight = tuple(bool(gap.max() < 0.01) for gap in (dla, rk4, zigzag))
    truth = {(True, True, True): "All three", (True, False, True): "DLA and the projector"}
    truth |= {(True, True, False): "DLA and RK4", (False, True, False): "RK4 alone"}
    numbers = {"dla": dla.max(), "rk4": rk4.max(), "early": zigzag[100], "late": zigzag[150]}
    numbers |= {"rate": np.log(zigzag[150] / zigzag[100]) / 5, "decay": 1 / 1.5}
    last = runs[-1]
    return truth[straight], {**numbers, "speed": last.v[-1, 0], "spread": np.ptp(last.energy())}


def turning_length(phi0: float) -> float:
    """The length d2 of the handlebar at which the racer, let go at phi0, goes nowhere in 10 s."""

    def reached(d2: float) -> float:
        racer, start = systems.roller_racer(d2=d2), ([0, 0, 0, phi0], [0, 0, 0, 0])
        return integrate(racer, DLA(), *start, h=0.04, steps=250).q[-1, 0]

    return brentq(reached, 0.2, 0.4, xtol=1e-3)


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    narrow, wide = turning_length(0.3), turning_length(1.0)
    return wide, {"small": 0.1 / 0.3, "narrow": narrow, "wide": wide}


def exercise_1(answer: Any) -> str | None:
    u, theta, phi, psi, l, d = 2.0, 0.0, 0.3, 0.5, 1.0, 1.5
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return "Give five numbers, for x, y, theta, phi, psi."
    if not near(answer[:2], [u, 0.0], 1e-3) or abs(answer[3]) > 1e-9:
        return "The rear axle moves along the heading theta = 0, and the steering is at rest."
    if not near(answer[2], u * np.tan(phi) / l, 1e-3):
        return "theta' follows from the front wheels: u sin(phi) = l theta' cos(phi)."
    if not near(answer[4], u * np.sin(theta - psi) / d, 1e-3):
        return "psi' follows from the trailer: u sin(theta - psi) = d psi'. Mind the sign."


def exercise_2(answer: Any) -> str | None:
    known = {
        "energy": "Any L that does not contain the time keeps its own energy.",
        "constraint": "The constraint was not changed.",
        "units": "Both have the unit kg m^2/s^2.",
        "symmetry": "Angles relative to the body do not change under SE(2).",
        "order": "The method converges to the motion of whatever L it is given.",
        "second derivation": None,
    }
    choice = str(answer).strip().lower().replace("a second", "second")
    return known.get(choice, f"Choose one of {[*known]}.")


def exercise_3(answer: Any) -> str | None:
    car = systems.car_with_trailer()
    if isinstance(answer, (str, dict)) or np.shape(answer)[:1] != (2,):
        return "Two motions are allowed, to steer and to drive: give a list of two fields."
    lengths = {s: number for s, number in car.parameters.items() if s.name in ("l", "d")}
    L = sum(u**2 for u in car.v) / 2 + sum(lengths)  # with both, for an answer without them
    stated = System(car.q, car.v, L, fields=answer, parameters=lengths)
    q = np.random.default_rng(5).uniform(0.2, 0.9, (4, 5))
    slips = np.abs(car.A(q) @ stated.X(q)).max((0, 2)) > 1e-9  # rear axle, front axle, trailer
    said = (
        "The rear axle slips: it moves along the heading, (x', y') = u (cos(theta), sin(theta)).",
        "The front wheels slip: at the speed u of the rear axle, theta' = u tan(phi)/l.",
        "The trailer's wheels slip: at the speed u of the rear axle, psi' = u sin(theta - psi)/d.",
    )
    return next((text for slip, text in zip(slips, said, strict=True) if slip), None)
