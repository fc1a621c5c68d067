"""Lesson 00: a skate to be parked, and a look at the installation."""

from __future__ import annotations

import platform
from importlib import metadata

import numpy as np
from scipy.optimize import brentq
from sympy import Piecewise, cos, pi, sin

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, EDLA, RK4, Projector, Reference
from ...run.loop import COMPILE_FROM, has_numba, integrate
from ...run.trajectory import Trajectory
from ...view.models.vehicles import skate_parts
from ...view.shapes import AMBER, box
from ...view.stage import SLATE, Floor, Frame, Model, Track, move, stretch
from ...view.stage import turn as turn_about
from ..exercises import sized, takes

PLACE = (0.0, 1.0)  # where the skate is to be parked, heading along x as at the start


def glide(turn: float, back: float, count: int = 40) -> np.ndarray:
    """Places (x, y, theta) of a skate, shape (3 count + 1, 3), from the origin.

    Forward on an arc of length 1 that turns it by ``turn``, on another that turns it back, then
    straight backwards by ``back``.
    """
    up = np.linspace(0, turn, count + 1)
    theta = np.concatenate([up, up[-2::-1], np.zeros(count)])
    length = np.repeat([1 / count, 1 / count, -back / count], count)
    # The chord of an arc is parallel to the blade at the middle of the arc.
    chord = length * np.sinc(np.diff(theta) / (2 * np.pi))
    middle = (theta[1:] + theta[:-1]) / 2
    x, y = (np.append(0, np.cumsum(chord * f(middle))) for f in (np.cos, np.sin))
    return np.column_stack([x, y, theta])


def sideways(q: np.ndarray) -> float:
    """The size of dx sin(theta) - dy cos(theta) along a path, per length, at its worst."""
    d, theta = np.diff(q, axis=0), (q[1:, 2] + q[:-1, 2]) / 2
    length = np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-12)
    return np.abs((d[:, 0] * np.sin(theta) - d[:, 1] * np.cos(theta)) / length).max()


def sideways_speed(sol: Trajectory) -> float:
    """The largest size of vx sin(theta) - vy cos(theta) along a run, each step taken whole."""
    d, theta = np.diff(sol.q, axis=0), (sol.q[1:, 2] + sol.q[:-1, 2]) / 2
    return np.abs((d[:, 0] * np.sin(theta) - d[:, 1] * np.cos(theta)) / np.diff(sol.t)).max()


def distance(sol: Trajectory) -> float:
    """How far from the place the skate stands at the end."""
    return float(np.hypot(*(sol.q[-1, :2] - PLACE)))


PARKED = {"distance from the place": distance, "largest sideways speed": sideways_speed}


def kept_size(sol: Trajectory) -> float:
    """The size of the last quarter of a path in the plane, as a part of that of the first."""
    first, last = (np.ptp(x, axis=0).max() for x in np.array_split(sol.q[:, :2], 4)[::3])
    return last / first


STAR = {"size of the last quarter / first": kept_size}
TRIES = {
    "00.2": {
        "turn more: does it slip?": {"par.turn": 1.2},
        "turn the other way: where to?": {"par.turn": -0.6},
        "no turn: any way sideways?": {"par.turn": 0.0},
    },
    "00.3": {
        "half the step: who is better?": {"h": 0.15},
        "turn faster: whose band widens?": {"v0.vtheta": 1.5},
        "energy of each step: who is exact?": {"view": "midpoint energy"},
        "who obeys the constraint at nodes?": {"view": "node constraint"},
    },
    "00.4": {
        "the path: whose star shrinks?": {"view": "x y"},
        "half the step: who is better?": {"h": 0.25},
        "a small step: does it still shrink?": {"h": 0.1, "view": "x y"},
        "turn faster: does this help RK4?": {"v0.vtheta": 0.6},
    },
}


def steered_skate() -> System:
    """A skate on level ice that somebody pushes along its blade and turns: the path of ``glide``.

    Each of the three parts takes the time 1, begins and ends at rest.  The speed is 1 - cos(2 pi t)
    forward, and -back times as much in the third part; the heading turns by ``turn`` times this
    speed, then back by as much, then not at all.  The forces are what gives a mass 1 and a moment
    of inertia 1 these speeds.
    """
    x, y, theta, vx, vy, vtheta = symbols("x y theta vx vy vtheta")
    turn, back, t = symbols("turn back t")
    rate = 2 * pi * sin(2 * pi * t)  # how fast 1 - cos(2 pi t) grows
    push = rate * Piecewise((1, t < 2), (-back, True))
    twist = rate * Piecewise((turn, t < 1), (-turn, t < 2), (0, True))
    return System(
        (x, y, theta), (vx, vy, vtheta), (vx**2 + vy**2 + vtheta**2) / 2,
        [vx * sin(theta) - vy * cos(theta)],
        parameters={"turn": 0.6, "back": 1.0}, t=t, name="steered skate",
        forces={"x": push * cos(theta), "y": push * sin(theta), "theta": twist},
        q0=[0, 0, 0], v0=[0, 0, 0],
    )  # fmt: skip


def _bars(at, colour, length=0.66, width=0.28, thick=0.022):
    """Four bars on the ice, a frame about a place."""
    (x, y), paint = at, {"colour": colour, "gloss": 0.2, "bevel": 0.0}
    long = [box(length, thick, 0.02, (x, y + s * width / 2, 0.01), **paint) for s in (-1, 1)]
    short = [box(thick, width, 0.02, (x + s * length / 2, y, 0.01), **paint) for s in (-1, 1)]
    return [("world", shape) for shapes in (*long, *short) for shape in shapes]


def skate_on_ice() -> Model:
    """The body of ``steered_skate``: a small skate, a grey frame about its start, and an amber one
    about the place where it is to be parked."""
    small = stretch(0.62, 0.62, 0.62)
    frames = {"skate": Frame("world", move("x", "y", 0), turn_about(2, "theta"), small)}
    return Model(
        frames, [("skate", shape) for shape in skate_parts()], [Track("skate")],
        [*_bars((0, 0), SLATE), *_bars(PLACE, AMBER)],
        view=(-1.25, 0.7), floor=Floor("ice"), whole=True,
        says="A skate is steered over ice to a frame beside the one in which it starts",
    )  # fmt: skip


def installation() -> str:
    """A few lines: Python, packages and their versions, numba, and one run with a known result."""
    rows = [("Python", platform.python_version(), ""), *_packages(), _numba(), _run()]
    width = max(len(version) for _, version, _ in rows)
    lines = [f"{name:12} {version:{width}}  {remark}".rstrip() for name, version, remark in rows]
    trouble = any(remark.startswith("!") for *_, remark in rows)
    end = "Look at the lines marked with !" if trouble else "Everything is in order."
    return "\n".join([*lines, end])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _packages() -> list[tuple[str, str, str]]:
    """Name, version and a remark for each package that nhlab cannot do without."""
    from packaging.requirements import Requirement  # matplotlib needs it too

    own = _version("nhlab")
    if own == "missing":
        return [("nhlab", own, "! not installed; run: pip install -e . in its folder")]
    rows = [("nhlab", own, "")]
    for text in (x for x in metadata.requires("nhlab") or [] if ";" not in x):
        wanted = Requirement(text)
        version = _version(wanted.name)
        good = version != "missing" and wanted.specifier.contains(version, prereleases=True)
        remark = "" if good else f"! wanted: {text}; run: pip install -r requirements.txt"
        rows.append((wanted.name, version, remark))
    return rows


def _numba() -> tuple[str, str, str]:
    if not has_numba():
        return "numba", "absent", "optional: all runs work, long ones take longer"
    return "numba", _version("numba"), f"compiles runs of {COMPILE_FROM['cold']:,} steps or more"


def _run() -> tuple[str, str, str]:
    """The energy band of DLA in CM01 Fig. 1, known from a program without nhlab."""
    E = integrate(systems.particle(), DLA(), h=0.2, steps=1250, progress=False).energy()
    good = np.allclose([E.min(), E.max()], [2.499240, 2.526215], rtol=0, atol=2e-6)
    remark = "energy band, as expected" if good else "! expected [2.4992, 2.5262]"
    return "a DLA run", f"[{E.min():.4f}, {E.max():.4f}]", remark


ROBOT = {"v0": (2, 0, 0.15, 2), "progress": False}  # the start of the lesson


def prediction_1() -> tuple[str, dict[str, float]]:
    sol = integrate(systems.knife_edge(), Reference(), h=0.05, steps=251)
    down, across = sol.q[:, 0], sol.q[:, 1]
    truth = "Sideways" if across[-1] > down[-1] else "Down the slope, faster"
    return truth, {"depth": down.max(), "across": across[-1]}


def prediction_2() -> tuple[str, dict[str, float]]:
    turn = brentq(lambda a: glide(a, 0)[-1, 1] - PLACE[1], 0.1, 1.5)
    back = glide(turn, 0)[-1, 0] - PLACE[0]
    path = glide(turn, back)
    parked = np.allclose(path[-1], [*PLACE, 0]) and sideways(path) < 1e-9
    return "Yes, without" if parked else "No", {"slip": sideways(path)}


def prediction_3() -> tuple[str, dict[str, float]]:
    (band, lost), (half, less) = spreads(0.3), spreads(0.15)
    falls = [E[-50:].max() < E[:50].min() for E in energies(0.3)]
    truth = "DLA and Projector" if falls[0] else "RK4 falls" if falls[1] else "All four"
    edla = integrate(systems.robot(), EDLA(), **ROBOT, h=0.3, steps=200)
    begins = integrate(systems.robot(), Projector(), **ROBOT, h=0.3, steps=1).energy()[0]
    ratios = {"narrower": band / half, "smaller": lost / less}
    return truth, {"lost": lost, "band": band, **ratios, "edla": np.ptp(edla.energy()),
                   "ends": edla.t[-1], "true": edla.energy()[0], "begins": begins}  # fmt: skip


def prediction_4() -> tuple[str, dict[str, float]]:
    run = {**ROBOT, "h": 0.5, "steps": 168}
    kept = [kept_size(integrate(systems.robot(), m, **run)) for m in (DLA(), RK4())]
    dla, rk4 = kept
    return "both" if max(kept) < 0.9 else "RK4" if rk4 < dla else "DLA", {"dla": dla, "rk4": rk4}


@takes(sized(), "The answer is one whole number.")
def exercise_1(answer: object) -> str | None:
    robot = systems.robot()
    if answer == len(robot.q):
        return "That is the number of coordinates. Each constraint takes one velocity away."
    if answer != len(robot.q) - np.linalg.matrix_rank(robot.A(robot.q0)):
        return "Count the coordinates, then subtract the independent constraints."


@takes(sized(2), "The answer is two numbers, (turn, back), as the sliders show them.")
def exercise_2(answer: object) -> str | None:
    if not np.all(np.abs(answer) < 10):
        return "Stay within the ranges of the sliders."
    x, y, _ = glide(*answer)[-1] - [*PLACE, 0]
    if np.hypot(x, y) < 0.03:
        return None
    if abs(y) >= 0.02:
        return f"""The skate ends {abs(y):.2f} too {"high" if y > 0 else "low"}. Only turn changes
            y: set it first."""
    return f"y is right, x is off by {x:+.2f}. Leave turn alone and change back."


def exercise_3(answer: object) -> str | None:
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    forms = vz - y * vx, vz - y * vx - x * vy, y * vx - x * vy, vz - y * vx + x * vy
    given = dict(zip("abcd", forms, strict=True))
    if not isinstance(answer, (set, list, tuple)) or not all(x in given for x in answer):
        return 'The answer is a set of letters, as in {"a", "b"}.'
    space = (x, y, z), (vx, vy, vz), (vx**2 + vy**2 + vz**2) / 2
    truth = {k for k, form in given.items() if not System(*space, [form]).is_holonomic()}
    for k in sorted(set(answer) - truth):
        return f"{k} can be integrated: find a function of x, y, z that it keeps constant."
    if left := len(truth - set(answer)):
        return f"""So far so good, but {left} more can be found: make a System of each constraint
            and ask is_holonomic()."""


def energies(h: float) -> list[np.ndarray]:
    """The energies of DLA and of RK4 on the robot of the lesson, up to t = 60."""
    run = {**ROBOT, "h": h, "steps": round(60 / h)}
    return [integrate(systems.robot(), m, **run).energy() for m in (DLA(), RK4())]


def spreads(h: float) -> list[float]:
    return [np.ptp(E) for E in energies(h)]


@takes(sized(), "The answer is one number, the step size.")
def exercise_4(answer: object) -> str | None:
    h = float(answer)
    if not 0.05 <= h <= 0.5:
        return "Give a step size within the range of the slider."
    low, high = spreads(h - 0.02), spreads(h + 0.02)
    if low[0] > low[1] and high[0] < high[1]:
        return None
    dla, rk4 = spreads(h)
    return f"At h = {h:g} the spreads are {dla:.3f} (DLA) and {rk4:.3f} (RK4). Look for equal ones."
