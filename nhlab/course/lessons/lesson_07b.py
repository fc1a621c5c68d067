"""In depth with lesson 07: forces on a group, a ball rolled round a loop, and what its predictions
and exercises need."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import cos

from ...geometry.reduction import Chaplygin, Horizontal
from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...mechanics.groupsystem import GroupSystem
from ...mechanics.system import System, symbols
from ...methods import RDLA, Variational
from ...run.loop import integrate
from ...view.widgets import Panel
from ..colours import BLUE, DARK, GREY, ORANGE, SLATE
from ..exercises import near, some_of, takes
from ..kit import bare, circle, frame, joined, new_board
from ..kit import show_errors as show_errors
from .lesson_07 import FIBRES, reduced
from .lesson_07 import bent as bent
from .lesson_07 import gear as gear
from .lesson_07 import with_and_without as with_and_without

Range = tuple[float, float, float]  # of a slider: its ends and its first value


def relative_board(varying: bool = True) -> System:
    """The snakeboard with psi measured from the board; if ``varying``, steering changes the rotor's
    inertia, J0 + cos(phi)/3."""
    b = systems.snakeboard()
    (_, _, vtheta, vpsi, _), phi = b.v, b.q[-1]
    J0 = next(s for s in b.parameters if s.name == "J0")
    inertia = J0 + cos(phi) / 3 if varying else J0
    L = b.L - J0 * vpsi**2 / 2 + inertia * (vtheta + vpsi) ** 2 / 2
    make = functools.partial(System, b.q, b.v, L, b.constraints, parameters=b.parameters)
    q0 = (0, 0, 0.2, 0, 0.3)
    v0 = make().project(q0, (1, 0.1, 0.2, 0.7, 0.05))
    return make(name="relative board", q0=q0, v0=v0)


def turning_frame() -> GroupSystem:
    r"""A point (x, y) that carries a body: the fibre is SO(3), A is linear in r, and the body has
    three different moments of inertia, so that no term of the forces cancels."""
    x, y, vx, vy, *w = symbols("x y vx vy w1 w2 w3")
    L = (vx**2 + vy**2 + w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2 - x**2 - y**2
    A = ((1 + y / 2, -x / 3), (x / 2, y - 1), ((x + y) / 3, (1 + x) / 2))
    rows = [u + a * vx + b * vy for u, (a, b) in zip(w, A, strict=True)]
    return GroupSystem(SO3, (vx, vy, *w), L, rows, r=(x, y), rule="log", name="turning frame")


def structure_force(
    red: Chaplygin, r: np.ndarray, v: np.ndarray, node: np.ndarray | None = None, bracket: int = -1
) -> np.ndarray:
    r"""dl/dxi^a (d_c A^a_b - d_b A^a_c) v^c, and plus ``bracket`` times [A v, A_b(node)]; (k,).

    CM01 5.3.3 has this force three times: F- and F+ are its half with r in the middle of a step, v
    the velocity of the step, and the node r_k at which the force acts; the continuous force that
    closes the section is all of it at one point, printed with the other sign of the bracket.
    """
    k, group = len(red.q), red.bundle.group
    slopes = [[[e.diff(s) for s in red.q] for e in row] for row in red.connection.tolist()]
    A, A_node = (red.values(red.connection.tolist(), x) for x in (r, r if node is None else node))
    dA = red.values(slopes, r)  # a, b, c: the derivative of A^a_b by r^c
    turn = np.einsum("abc,c->ab", dA - np.swapaxes(dA, 1, 2), v)
    turn = turn + bracket * np.array([group.bracket(A @ v, A_node[:, b]) for b in range(k)]).T
    q = red.bundle.join(r, np.array(group.identity))
    return red.full.momentum(q, red.lift(r, v))[red.bundle.v_s] @ turn


def rolled(ball: Chaplygin, r: np.ndarray) -> np.ndarray:
    """Attitudes (unit quaternions) of the ball rolled along a polygon r on the table."""
    g = [SO3.identity]
    for f in ball.f(r[:-1], r[1:], 1.0):
        g.append(SO3.multiply(g[-1], f))
    return SO3.inverse(np.array(g))  # g is the inverse of the attitude


def turned_by(radius: float) -> np.ndarray:
    """The rotation vector of the ball after a circle, of a radius in units of R."""
    ball = Chaplygin(systems.rubber_ball(), base="x y")
    return SO3.log(rolled(ball, radius * (circle(1001) - [1, 0]))[-1])


def _mark() -> np.ndarray:
    """An arrow painted on the ball: points of the unit sphere, from the north pole towards e1."""
    shaft = [[x, 0] for x in np.linspace(-0.5, 0.5, 15)]
    flat = joined([shaft, [[0.3, 0.18], [0.5, 0], [0.3, -0.18]]])
    return np.column_stack([flat, np.sqrt(1 - (flat**2).sum(1))])


def _from_above(points: np.ndarray, lowest: float) -> np.ndarray:
    """The points (k, 3) in the plane, with gaps for those below ``lowest``."""
    return np.where(points[:, 2:] > lowest, points, np.nan)[:, :2]


def ball_panel(
    ball: Chaplygin, radius: Range = (0.1, 1.7, 0.5), part: Range = (0.0, 1.0, 1.0)
) -> Panel:
    """A ball rolled anticlockwise round a circle on the table, and its attitude, from above."""
    ball, mark = ball.set(R=1.0), _mark()
    equator = np.column_stack([circle(49), np.zeros(49)])
    net = joined([np.roll(equator, k, axis=1) for k in range(3)])  # three great circles
    board, left, right = new_board((9.2, 4.3), 1, 2, (0.08, 0.15, 0.97, 0.88, 0.2))
    frame(left, "$x/R$", "$y/R$", (-4.6, 1.6), (-3.1, 3.1), aspect="equal")
    bare(right, (-1.25, 1.25), (-1.25, 1.25))
    right.set_xlabel("the ball from above")
    right.plot(*circle(241).T, color=DARK)
    right.plot(*mark[:, :2].T, color=GREY, linewidth=5, label="mark at first")

    def draw(r: np.ndarray, k: int, R: np.ndarray) -> None:
        board.curve(*r.T, left, color=SLATE)
        board.outline(*(r[k] + circle(241)).T, left, color=DARK)
        board.outline(*(_from_above(mark @ R.T, 0) + r[k]).T, left, color=ORANGE)
        board.outline(*_from_above(net @ R.T, -1e-9).T, right, color=BLUE, linewidth=0.9)
        seen = _from_above(mark @ R.T, -1e-9)
        board.outline(*seen.T, right, color=ORANGE, linewidth=3, label="mark now")

    def update(radius: float, part: float) -> None:
        """Left: a circle on the table and the ball on it. Right: the ball from above with a painted
        arrow that a closed loop has turned.

        The ball rolls anticlockwise from the origin, without slipping or twisting. part is the part
        of the circle it has rolled; the radius is in units of R.
        """
        r = radius * (circle(241) - [1, 0])
        attitude, k = rolled(ball, r), round(part * (len(r) - 1))
        draw(r, k, SO3.matrix(attitude[k]))
        turned = 2 * np.arccos(np.clip(attitude[-1, 0], -1, 1))
        board.say("angle after the loop", f"{turned:.4f}")
        board.say("area / R²", f"{np.pi * radius**2:.4f}")
        predicted = 2 * np.pi * (np.sqrt(1 + radius**2) - 1)
        board.say("2 pi (sqrt(1 + radius²) - 1)", f"{predicted:.4f}")

    return board.panel(update, radius=radius, part=part)


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    grid = np.linspace(-1.6, 1.6, 9)
    places = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)  # those that the panel draws

    def largest(name: str, angle: float) -> float:
        v = np.broadcast_to([np.cos(angle), np.sin(angle)], places.shape)
        force = reduced(name).gyroscopic_force(places, v)
        return float(np.linalg.norm(force, axis=1).max())

    ways = {"Along x": 0.0, "Along y": np.pi / 2, "At 45 degrees": np.pi / 4}
    felt = {way: largest("particle", angle) for way, angle in ways.items()}
    gear = max(largest("gear", angle) for angle in np.linspace(0, np.pi, 181))
    assert max(largest("robot", angle) for angle in ways.values()) < 1e-12
    truth = next((way for way, force in felt.items() if force < 1e-12), "In no direction")
    return truth, {"across": felt["Along x"], "gear": gear}


def moved_by_rotor(varying: bool, mu: float = 2.0) -> float:
    """How far a rotor with momentum mu moves the end of the board's path, in 12 units of time."""
    red = Horizontal(relative_board(varying), "psi")
    ends = [integrate(red.set(mu=x), RDLA(), h=0.1, steps=120).q[-1, :2] for x in (0.0, mu)]
    return float(np.linalg.norm(ends[1] - ends[0]))


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    constant, varying = moved_by_rotor(False), moved_by_rotor(True)
    truth = "Yes" if constant > 1e-6 else "Only" if varying > 1e-6 else "No"
    return truth, {"constant": constant, "varying": varying}


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    small, wide = turned_by(0.2), turned_by(1.0)
    truth = "Turned anti" if small[2] > -1e-3 else "Turned clockwise"
    truth = "As before" if np.linalg.norm(small) < 1e-3 else truth
    tilt = np.rad2deg(np.arccos(np.abs(wide[2]) / np.linalg.norm(wide)))
    return truth, {"turn": np.linalg.norm(small), "area": np.pi * 0.04, "tilt": tilt}


@takes(callable, "Give a function of (r, p, h).")
def exercise_1(answer: Any) -> str | None:
    sol = integrate(reduced("free_particle"), RDLA(), h=0.2, steps=6)
    for k in range(6):
        r, p = (np.asarray(a, float) for a in answer(sol.q[k].copy(), sol.p[k].copy(), 0.2))
        if not near(r[1], sol.q[k + 1, 1], 1e-9):
            return "y moves uniformly, y2 = y + h py."
        if not near(r[0], sol.q[k + 1, 0], 1e-9):
            return "x2 differs: px = vx (1 + y ym) at the beginning of the step, ym = y + h vy/2."
        if not np.allclose(p, sol.p[k + 1], atol=1e-9):
            return "r2 is right. The new momentum is vx (1 + y2 ym) and vy."


@some_of(FIBRES, '{"robot", "gear"}', "Still missing: {}. The force does not have to vanish.")
def exercise_2(name: Any) -> str | None:
    a, b = (integrate(reduced(name), m, h=0.2, steps=10).q for m in (RDLA(), Variational()))
    if np.abs(a - b).max() >= 1e-12:
        return f"Choose {name} in the panel, or look at its connection: is A linear in r?"


def exercise_3(answer: Any) -> str | None:
    radius = float(answer)
    if not 0 < radius < 20:
        return "The radius is a positive number, in units of R."
    left = float(np.linalg.norm(turned_by(radius)))
    if left >= 0.02:
        return f"After this circle the ball is turned by {left:.3f}. The panel shows the formula."
    if radius >= 2:
        return "It comes back, but after more than one turn: a smaller circle does it, too."
