"""Lesson 09: a cart with a rotor, two rolling wheels, a snakeboard, and their sketches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sympy import cos, sin

from ...mechanics import catalogue as systems
from ...mechanics.formula import sympified
from ...mechanics.system import System, symbols
from ...methods import Reference
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ...view.bodies import Body, ahead, axle, box, circle, joined, place
from ..colours import BLUE, DARK, GREY, ORANGE
from ..exercises import near
from ..kit import arc
from ..kit import show_errors as show_errors

Symbols = Sequence[sp.Symbol]
x, y, theta, psi, m, a, I, J, k = symbols("x y theta psi m a I J k")
vx, vy, vtheta, vpsi = symbols("vx vy vtheta vpsi")
ACROSS = -vx * sin(theta) + vy * cos(theta)  # the velocity of (x, y) across the heading


def cart(**values: float) -> System:
    """The cart with a rotor, as the notebook states it."""
    centre = (vx - a * vtheta * sin(theta)) ** 2 + (vy + a * vtheta * cos(theta)) ** 2
    L = (m * centre + I * vtheta**2 + J * (vtheta + vpsi) ** 2 - k * psi**2) / 2
    q, v, numbers = (x, y, theta, psi), (vx, vy, vtheta, vpsi), dict(m=1, a=0.3, I=0.2, J=0.2, k=1)
    start = {"q0": [0, 0, 0, 2], "v0": [0, 0, 0, 0], "name": "cart with a rotor"}
    return System(q, v, L, [ACROSS], parameters=numbers | values, **start)


def pair() -> tuple[System, list[sp.Expr]]:
    """Two rolling wheels on an axle, and what the two do not slip: four statements, one of them
    twice."""
    left, right, vleft, vright, R, b = symbols("psi_l psi_r vpsi_l vpsi_r R b")
    speed = vx * cos(theta) + vy * sin(theta)
    q, v = (x, y, theta, left, right), (vx, vy, vtheta, vleft, vright)
    L = (m * (vx**2 + vy**2) + I * vtheta**2 + J * (vleft**2 + vright**2)) / 2
    rolls = [speed - b * vtheta - R * vleft, speed + b * vtheta - R * vright]
    numbers = dict(m=1, I=0.2, J=0.05, R=0.3, b=0.5)
    start = {"q0": [0, 0, 0, 0, 0], "v0": [0.3, 0, 0.3, 0.5, 1.5]}
    return System(q, v, L, [ACROSS, *rolls], parameters=numbers, **start), [ACROSS, *rolls, ACROSS]


class Cart(Body):
    def parts(self, q: np.ndarray) -> list[np.ndarray]:
        (x, y, theta, psi), a = q, self.value["a"]
        top = ahead((x, y), theta, a)  # the rotor sits on the centre of mass
        bar = [[-0.28, 0], [0.28, 0]]
        return [
            place(box(0.8, 0.44) + [0.15, 0], theta, (x, y)),
            axle((x, y), theta, 0.6),
            0.32 * circle() + top,
            place(bar, theta + psi, top),
        ]


class Pair(Body):
    def parts(self, q: np.ndarray) -> list[np.ndarray]:
        (x, y, theta, *angles), b, R = q, self.value["b"], self.value["R"]
        parts = [place([[0, -b], [0, b]], theta, (x, y)), place(box(0.5, 0.4), theta, (x, y))]
        for side, angle in zip((b, -b), angles, strict=True):
            spot = [R * np.sin(angle), 0] if np.cos(angle) > 0 else [np.nan, 0]  # else below
            mark = np.array([[0, -0.06], [0, 0.06]]) + spot
            parts.append(place(joined([box(2 * R, 0.12), mark]) + [0, side], theta, (x, y)))
        return parts


def _cart(ax: Axes, at: np.ndarray, theta: float, psi: float, a: float) -> None:
    top = ahead(at, theta, a)
    mark_angle(ax, at, 0, theta, 0.95, r"$\theta$")
    mark_angle(ax, top, theta, theta + psi, 0.5, r"$\psi$")
    ax.plot(*top, "o", color=BLUE, zorder=4)
    line = {"arrowprops": {"arrowstyle": "-", "color": GREY}}
    write(ax, "centre of mass,\n$a$ ahead of the axle", top, (0.55, -0.62), **line)


def _pair(
    ax: Axes, at: np.ndarray, theta: float, left: float, right: float, b: float, R: float
) -> None:
    side = ahead(at, theta + np.pi / 2, b) - at
    mark_angle(ax, at, 0, theta, 0.8, r"$\theta$")
    write(ax, "$b$", at + side / 2, (0.08, 0.08))
    line = {"arrowprops": {"arrowstyle": "-", "color": GREY}}
    write(ax, "radius $R$,\nturned by $\\psi_l$", at + side, (0.6, 0.1), **line)
    write(ax, "turned by $\\psi_r$", at - side, (0.6, -0.1), **line)
    ax.set_xlim(-1.2, 1.9)


# body -> its pose, its lengths, where (x, y) is written, and what names the rest
SKETCHES = {
    Cart: ((0, 0, 0.5, 0.9), {"a": 0.3}, (-42, -6), _cart),
    Pair: ((0, 0, 0.35, 0.5, 1.0), {"b": 0.6, "R": 0.3}, (-98, -4), _pair),
}


def sketch(kind: type[Body]) -> Figure:
    """The body with its coordinates and lengths named; ``kind`` is Cart or Pair."""
    return draw_sketch(kind, *SKETCHES[kind])


def draw_sketch(
    kind: type[Body],
    pose: Sequence[float],
    lengths: dict[str, float],
    shift: tuple[float, float],
    name: Callable[..., None],
) -> Figure:
    """A body in a pose, with (x, y) written ``shift`` points away; ``name`` labels the rest."""
    q, numbers = np.array(pose), {sp.Symbol(k): x for k, x in lengths.items()}
    fig, ax = plot.new(size=(6.4, 3.4))
    for points in kind(SimpleNamespace(parameters=numbers)).parts(q):
        ax.plot(*points.T, color=DARK, linewidth=1.8)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.plot(*q[:2], "o", color=ORANGE, zorder=4)
    text = {"textcoords": "offset points", "color": ORANGE, "fontsize": 13}
    ax.annotate("$(x, y)$", q[:2], shift, **text)
    name(ax, q[:2], *q[2:], **lengths)
    return fig


def mark_angle(
    ax: Axes, at: np.ndarray, start: float, stop: float, radius: float, text: str
) -> None:
    """An arc from ``start`` to ``stop`` about a point, with its name."""
    for angle in (start, stop):
        ax.plot(*np.array([at, ahead(at, angle, 1.25 * radius)]).T, ":", color=GREY)
    arc(ax, at, radius, (start, stop), text, 0.13 * radius, BLUE, 1.4, color=BLUE, fontsize=14)


def write(ax: Axes, text: str, at: np.ndarray, shift: tuple[float, float], **line: Any) -> None:
    """The name of a length or a part, shifted away from it."""
    ax.annotate(text, at, np.asarray(at) + shift, color=BLUE, va="center", fontsize=13, **line)


def forward(sol: Trajectory) -> np.ndarray:
    """The speed of (x, y) along the heading."""
    theta = sol.q[:, 2]
    return sol.v[:, 0] * np.cos(theta) + sol.v[:, 1] * np.sin(theta)


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    end = integrate(cart(), Reference(), h=0.1, steps=300)
    speed, turn = forward(end)[-1], abs(end.v[-1, 2])
    away = f"It drives away, with the {'rotor' if speed > 0 else 'axle'}"
    truth = "It ends" if turn > 0.05 else away if abs(speed) > 0.1 else "It swings"
    return truth, {"speed": speed, "turn": turn}


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    runs = [integrate(cart(J=x), Reference(), h=0.1, steps=800) for x in (0.2, 0.6)]
    speeds = [forward(sol) for sol in runs]
    one, three = (u[-1] for u in speeds)
    long, short = (runs[0].t[u > 0.99 * u[-1]][0] for u in speeds)
    ratio = three / one
    truth = "Slower" if ratio < 0.98 else "Faster" if ratio > 1.02 else "At the same"
    return truth, {"one": one, "three": three, "long": long, "short": short}


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    s, four = pair()
    numbers = s.parameters | dict(zip(s.q, s.samples(1)[0][0], strict=True))
    rank = np.linalg.matrix_rank(np.array(sp.Matrix(four).jacobian(s.v).subs(numbers), float), 1e-9)
    truth = {2: "Two", 3: "Three", 4: "Four"}[rank]
    return truth, {"rank": truth}


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    u0, wheels = [0, np.pi / 4, 1], {"q0": np.zeros(5)}
    sol = integrate(systems.snakeboard().by_fields(), Reference(), **wheels, u0=u0, h=0.1, steps=40)
    along, turn = forward(sol), sol.v[20, 2]  # node 20: the axles have made a quarter turn
    before, still, after = along[[10, 20, 30]]
    back = after < -0.1 * before
    goes = "turns on the spot for an instant, and " + ("then" if back else "drives on")
    moves = abs(turn) > 0.1 and min(before, abs(after)) > 0.1
    numbers = {"still": abs(still), "turn": turn, "before": before, "after": after}
    return f"It {goes if moves else 'stops'}", {**numbers, "least": sol.u[:, 2].min()}


def exercise_1(answer: Any) -> str | None:
    delta, b = symbols("delta b")
    right = -vx * sin(theta + delta) + vy * cos(theta + delta) + b * vtheta * cos(delta)
    mine, theirs = _rows(right, answer, (vx, vy, vtheta), (theta, delta, b))
    if _parallel(mine, theirs):
        return None
    if np.allclose(theirs[:, 2], 0):
        return """The wheel sits the distance b ahead: its centre moves sideways when the frame
            turns."""
    skew = (mine[:, 0] * theirs[:, 1] - mine[:, 1] * theirs[:, 0]) / np.abs(theirs).max()
    if np.abs(skew).max() > 1e-9:
        return "Look at vx and vy first: the wheel does not slip across *its own* heading."
    return "vx and vy are right. Which part of b theta' points across the wheel, not the frame?"


def _rows(right: sp.Expr, answer: Any, v: Symbols, places: Symbols) -> list[np.ndarray]:
    """The coefficients of the velocities in both expressions at a few points, (points, velocities)
    each."""
    answer, names = sympified(answer, "the answer"), {s.name: s for s in (*v, *places)}
    given = answer.free_symbols
    if not given or {s.name for s in given} - {*names}:
        raise ValueError(f"write one expression in {', '.join(names)}")
    return [_row(e, v, places) for e in (right, answer.subs({s: names[s.name] for s in given}))]


def _parallel(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Do the rows say the same at each point?"""
    return all(np.linalg.matrix_rank(pair, 1e-9) == 1 for pair in np.stack([mine, theirs], 1))


def _row(e: sp.Expr, v: Symbols, places: Symbols) -> np.ndarray:
    """The coefficients of the velocities at a few points; they must determine e."""
    rows = [e.diff(u) for u in v]
    if sp.simplify(e - sum(r * u for r, u in zip(rows, v, strict=True))) != 0:
        raise ValueError(f"the expression is not linear in {', '.join(map(str, v))}")
    f = sp.lambdify(places, rows)
    points = np.random.default_rng(3).uniform(0.3, 1.2, (4, len(places)))
    return np.array([np.array(f(*p), float) for p in points])


def exercise_2(answer: Any) -> str | None:
    k, m, psi0 = 4.0, 2.0, 1.5
    if near(abs(float(answer)), np.sqrt(k / m) * psi0, 5e-3):
        return None if answer > 0 else "The size is right. Which way does m u' = m a w^2 push?"
    return "At the end the cart runs straight and the rotor is at rest: where is the energy?"


def exercise_3(answer: Any) -> str | None:
    if not isinstance(answer, System) or len(answer.q) != 3 or len(answer.constraints) != 1:
        return "Give a System with the coordinates (x, y, theta) and one constraint."
    L = vx**2 + vy**2 + 0.25 * vtheta**2 - 1.5 * (x**2 + y**2)
    true = System((x, y, theta), (vx, vy, vtheta), L, [ACROSS])
    q = np.random.default_rng(4).uniform(-1, 1, (6, 3))
    v = true.project(q, np.ones((6, 3)))
    if np.abs(np.einsum("kai,ki->ka", answer.A(q), v)).max() > 1e-9:
        return "The constraint differs: a skate at heading theta may move along (cos, sin) only."
    if not np.allclose(answer.M(q), true.M(q)):
        return "The kinetic energy differs: m (x'^2 + y'^2)/2 + I theta'^2/2 with m = 2, I = 0.5."
    if not np.allclose(answer.acceleration(q, v), true.acceleration(q, v)):
        return "The potential differs: a spring of stiffness k = 3 from the origin to (x, y)."


def exercise_4(answer: Any) -> str | None:
    b, R = symbols("b R")
    speed = vx * cos(theta) + vy * sin(theta)
    v, places = (vx, vy, vtheta, vpsi), (theta, b, R)
    mine, theirs = _rows(speed - b * vtheta - R * vpsi, answer, v, places)
    if _parallel(mine, theirs):
        return None
    for wrong, said in (
        (speed - R * vpsi, "The wheel is b to the left: it goes slower when the body turns left."),
        (speed + b * vtheta - R * vpsi, "That is the wheel on the right-hand side."),
        (speed - b * vtheta + R * vpsi, "With this sign the wheel spins backwards."),
        (ACROSS, "That the wheel does not slip sideways is another statement."),
    ):
        if _parallel(_row(wrong, v, places), theirs):
            return said
    return "Take the velocity of the wheel's centre along the heading, minus R psi'."
