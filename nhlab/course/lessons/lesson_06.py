"""Lesson 06: who pushes a momentum, and the snakeboard with the point about which it turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from sympy import sqrt

from ...geometry.symmetry import Symmetry
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector, Reference
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view.bodies import body
from ..colours import DARK, GREEN, MIDDLE, SLATE
from ..exercises import sized, some_of, takes, told
from ..kit import ahead, arc, drawn

BOARD = body(systems.snakeboard())


def valley(power: int = 1) -> System:
    """A particle in a valley V(y) with z' = y^power x': nothing depends on x or z."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2 - y**2 - y**4 / 4
    start = {"q0": (0, 0.5, 0), "v0": (1, 1.5, 0.5**power)}
    return System((x, y, z), (vx, vy, vz), L, [vz - y**power * vx], name="valley", **start)


def wheels(q: np.ndarray, r: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the board and headings of their wheels, front first: (..., 2, 2) and (..., 2).

    The printed constraints hold if the axle at the rear is turned by +phi, that in front by -phi.
    """
    x, y, theta, _, phi = np.moveaxis(np.asarray(q, float), -1, 0)
    at = np.stack([x, y], -1)
    ends = [ahead(at, theta, r), ahead(at, theta, -r)]
    return np.stack(ends, -2), np.stack([theta - phi, theta + phi], -1)


def centre(q: np.ndarray, r: float = 1.0) -> np.ndarray:
    """The point about which the board turns, where the lines of its axles meet; (..., 2)."""
    x, y, theta, _, phi = np.moveaxis(np.asarray(q, float), -1, 0)
    a, b, c = r * np.cos(theta) * np.cos(phi), r * np.sin(theta) * np.cos(phi), -np.sin(phi)
    return np.stack([x - b / c, y + a / c], -1)


def outline(q: np.ndarray, rotor: bool = True) -> list[np.ndarray]:
    """Lines that draw the board, a list of (k, 2) arrays; the last two are the rotor."""
    return BOARD.parts(np.asarray(q, float))[: None if rotor else -2]


@drawn(5, 3.6)
def snakeboard_picture(ax: Axes, q: Sequence[float] = (0, 0, 0.3, 0.8, 0.5)) -> None:
    """The snakeboard from above with its angles; the lines of its axles meet in a point C."""
    q, at, dashed = np.array(q, float), centre(q), {"linestyle": "--", "linewidth": 1}
    ends, headings = wheels(q)
    theta, psi = q[2:4]
    for end in ends:
        ax.plot(*np.array([end, at]).T, color=GREEN, linestyle=":", linewidth=1.4)
    for part in outline(q):
        ax.plot(*part.T, color=DARK, linewidth=2)
    ax.plot(*at, "o", color=GREEN)
    ax.annotate("$C$", at, (8, -4), textcoords="offset points", color=GREEN)
    ax.plot([0, 1.5], [0, 0], color=SLATE, **dashed)
    for end, heading, back, name in zip(ends, headings, (0, np.pi), ("front", "rear"), strict=True):
        for tip in (1.75 * end, ahead(end, heading + back, 0.75)):
            ax.plot(*np.array([end, tip]).T, color=SLATE, **dashed)
        arc(ax, end, 0.6, (heading + back, theta + back), r"$\phi$", 0.16, DARK)
        ax.annotate(name, end, (-14, 34), textcoords="offset points", color=MIDDLE)
    arc(ax, q[:2], 0.55, (0, theta), r"$\theta$", 0.16, DARK)
    arc(ax, q[:2], 0.4, (theta, theta + psi), r"$\psi$", 0.16, DARK)
    ax.set_aspect("equal")
    ax.set_axis_off()


def rolled(
    symmetry: Symmetry, phi: float, rate: float, h: float = 0.1, T: float = 8.0
) -> Trajectory:
    """The snakeboard by DLA, pushed along x, with axles at the angle phi that turn at a rate."""
    start = [0, 0, 0, 0, phi], [1, 0, -np.tan(phi), 0.7, rate]  # r = 1
    return integrate(symmetry.system, DLA(), *start, h=h, steps=round(T / h))


X, Y = symbols("x y")
PAIRS = "robot theta, rolling_disk phi, sleigh theta, particle y, snakeboard phi, snakeboard x"


def plane(heading: str) -> dict[str, dict]:
    """SE(2) for a body with a ``heading``: two shifts of the plane and its turn about 0."""
    return {"e1": {"x": 1}, "e2": {"y": 1}, "e3": {"x": -Y, "y": X, heading: 1}}


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    board = Symmetry(systems.snakeboard(), plane("theta"))
    sol = integrate(board.system, DLA(), h=0.1, steps=260)
    J, speed = board.J(sol.q, sol.v), np.hypot(*sol.v[:, :2].T)
    kept = (np.ptp(J, axis=0) < 1e-3).tolist()
    truth = "All three" if all(kept) else "The angular" if kept == [False, False, True] else "None"
    (low, _, least), (high, _, most) = J.min(0), J.max(0)
    numbers = {"low": low, "high": high, "least": least, "most": most}
    return truth, {**numbers, "first": speed[0], "last": speed[-1], "energy": np.ptp(sol.energy())}


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    sol = integrate(valley(), Reference(), h=0.02, steps=400)

    def spread(angle: float) -> float:
        return np.ptp(sol.p[:, [0, 2]] @ ahead(0, angle, 1))

    along = np.arctan(sol.q[0, 1])
    given = {"Along x": 0.0, "Along the line": along, "Across D": along + np.pi / 2}
    truth = next((name for name, x in given.items() if spread(x) < 1e-3), "For no fixed")
    best = min(np.deg2rad(np.arange(-90, 90)), key=spread)
    return truth, {"angle": np.rad2deg(best), "best": spread(best)}


def _misses(*methods: Method, h: float = 0.1) -> list[float]:
    """The largest residual of (24) in the valley, for runs of some methods."""
    symmetry = shifts(valley())
    runs = [integrate(symmetry.system, m, h=h, steps=round(8 / h)) for m in methods]
    return [np.abs(symmetry.residual(sol)).max() for sol in runs]


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    dla, *others, rk4 = _misses(DLA(), DLA(alpha=0.3), Projector(alpha=0.3), RK4())
    low = max(others)
    truth = "It is missed by much" if low < 2 * rk4 else "It is missed, by"
    return "It holds" if low < 1e-13 else truth, {"dla": dla, "low": low, "rk4": rk4}


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    (rk4, exact), (_, half) = (_misses(RK4(), Reference(), h=h) for h in (0.1, 0.05))
    truth = "About as much" if 0.5 < exact / rk4 < 2 else "Far less"
    truth = "Not at all" if exact < 1e-10 else truth
    return truth, {"rk4": rk4, "exact": exact, "ratio": exact / half}


def _turning(rate: float) -> tuple[float, float, float]:
    """How far C and the momentum of the board move, with axles that turn at a rate."""
    board = Symmetry(systems.snakeboard(), plane("theta"))
    sol = rolled(board, 0.4, rate)
    J, gap = board.J_nh_d(sol)[:, -1], np.abs(board.residual(sol)[:, -1]).max()
    return np.ptp(centre(sol.q), axis=0).max(), np.ptp(J), gap


def prediction_5() -> tuple[str | float, dict[str, Any]]:
    (still, locked, _), (travels, turning, gap) = _turning(0.0), _turning(0.06)
    stands = "C stands still, and" if locked < 1e-10 else "C stands still, but"
    truth = stands if still < 1e-2 * travels else "C goes along"
    return truth, {"locked": locked, "travels": travels, "turning": turning, "gap": gap}


UNIT = (1 / sqrt(1 + Y**2), Y / sqrt(1 + Y**2))  # coefficients of the direction in D of length 1


def shifts(system: System) -> Symmetry:
    """The shifts of the valley, along x and along z."""
    return Symmetry(system, {"x": {"x": 1}, "z": {"z": 1}})


def unit_momentum(sol: Trajectory) -> np.ndarray:
    """The momentum of the valley along (1, 0, y) / sqrt(1 + y^2)."""
    return shifts(sol.system).J_nh(sol.q, sol.v, section=UNIT)[:, 0]


def prediction_6() -> tuple[str | float, dict[str, Any]]:
    methods = {"dla": DLA(), "projector": Projector(), "rk4": RK4()}
    runs = {k: integrate(valley(), m, h=0.1, steps=80) for k, m in methods.items()}
    spread = {k: np.ptp(unit_momentum(sol)) for k, sol in runs.items()}
    best = min(spread, key=spread.get)
    truth = "None to round-off, " + ("and RK4" if best == "rk4" else "but DLA")
    truth = "DLA and Projector" if spread["dla"] < 1e-12 else truth
    gap = np.abs(shifts(valley()).residual(runs["dla"], section=UNIT)).max()
    return truth, {**spread, "factor": spread["dla"] / spread["rk4"], "gap": gap}


def exercise_1(answer: Any) -> str | None:
    s = systems.free_particle()
    lam, y = s.multipliers(s.q0, s.v0)[0], s.q0[1]
    sign = "The size is right. Look at the sign of the first entry of A = (-y, 0, 1)."
    none = "Noether would say so. But the constraint force has a component along x."
    rest = "dp_x/dt = -y lambda and dp_z/dt = lambda; differentiate z' = y x' to find lambda."
    return told(answer, -y * lam, [(y * lam, sign), (0.0, none)], rest, 1e-3)


@takes(sized(3), "The answer is three coefficients, of e1, e2 and e3.")
def exercise_2(answer: Any) -> str | None:
    if any(isinstance(e, str) for e in answer):
        return "Give SymPy expressions, such as sp.cos(phi), not text in quotes."
    skate = systems.knife_edge(slope=0.0)
    try:
        sym = Symmetry(skate, plane("phi"), section=answer)
    except ValueError as error:
        return f"{error}."
    if not sym.sections[0][2].equals(1):
        return "This mixture lies in D, but its third coefficient, that of the turn, is not 1."


@takes(callable, "The answer is a function: answer = residual, without calling it.")
def exercise_3(answer: Any) -> str | None:
    q, p = np.random.default_rng(5).normal(size=(2, 9, 3))
    mine = np.asarray(answer(q.copy(), p.copy()), float)
    if mine.shape == (8,):
        return "One row too many: p[0] belongs to no step, so begin with J_d at node 1."
    if mine.shape != (7,):
        return f"From 9 nodes come 7 residuals; yours has the shape {mine.shape}."
    xi = np.column_stack([np.cos(q[:, 2]), np.sin(q[:, 2]), 0 * q[:, 2]])
    change, step = np.diff((p * xi).sum(1))[1:], np.diff(xi, axis=0)[1:]
    old = "The right-hand side takes the momentum of the new step, p[k+1], not of the old."
    alone = "This is the change of J alone; the right-hand side is missing."
    rest = "J_d is p.xi at each node; subtract p[k+1].(xi[k+1] - xi[k]) from its change."
    mistakes = [(change - (p[1:-1] * step).sum(1), old), (change, alone)]
    return told(mine, change - (p[2:] * step).sum(1), mistakes, rest, 1e-9)


@some_of(
    PAIRS.split(", "),
    '{"robot theta", "particle y"}',
    "Still missing: {}. A may depend on the coordinate.",
)
def exercise_4(pair: Any) -> str | None:
    name, coordinate = pair.split()
    sym = Symmetry(systems.catalogue[name](), {coordinate: 1})
    if sym.check().L:
        return f"{pair}: L contains {coordinate}, so moving along it is no symmetry."
    if not sym.is_horizontal:
        return f"{pair}: the constraint force has a component along it."


@takes(sized(2), "The answer is a point: two numbers.")
def exercise_5(answer: Any) -> str | None:
    q = np.array([1, 0, np.pi / 2, 0, np.pi / 4])
    truth = centre(q)
    if np.allclose(answer, 2 * q[:2] - truth, atol=1e-2):
        return "This is its mirror image: look which axle carries +phi."
    if not np.allclose(answer, truth, atol=1e-2):
        return """The point lies on the line across the board, at the distance r cot(phi) from its
            middle; the board points along y, and the lines of the axles say on which side."""
