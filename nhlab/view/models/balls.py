"""Balls with a pattern that shows their spin, the turntable, the rattleback."""

import numpy as np

from ...mechanics.groups import SO3
from ...mechanics.system import System
from ..shapes import (
    ACTOR,
    AMBER,
    CREAM,
    DARK,
    IRON,
    STEEL,
    WHITE,
    Shape,
    ball,
    capsule,
    lathe,
    sweep,
    torus,
    tube,
)
from ..stage import Columns, Floor, Frame, Model, Track, move, quaternion, turn
from .catalogue import in_frame, known, value
from .machines import BRASS, RED, Runs


def _cap(R: float, axis: tuple, half: float, colour: str, n: int = 20) -> Shape:
    """The part of a ball, a little raised, that is near its axis."""
    u = np.linspace(half, 0, 5)
    return lathe(
        1.006 * R * np.stack([np.sin(u), np.cos(u)], -1), n, axis=axis, colour=colour, gloss=0.4
    )


def striped(R: float, gloss: float = 0.55) -> list[Shape]:
    """A beach ball of six stripes about e3, with a dark cap on e3 and an amber one on e2."""
    return [
        ball((0, 0, 0), R, 36, colour=ACTOR, second=WHITE, sectors=3, gloss=gloss),
        _cap(R, (0, 0, 1), 0.3, DARK),
        _cap(R, (0, 0, -1), 0.3, IRON),
        _cap(R, (0, 1, 0), 0.17, AMBER),
        _cap(R, (0, -1, 0), 0.1, DARK),
    ]


# ---------------------------------------------------------------------------- turning in place


def _free(system: System, **look) -> Model:
    """A ball that turns about its middle in a ring on the floor; a knob marks its axis e3
    and leaves the track."""
    R = value(system, "R", 1.0)
    frames = {"ball": Frame("world", quaternion(*map(str, system.q)))}
    knob = ball((0, 0, R), 0.06 * R, 12, colour=RED, gloss=0.6)
    ring = [(0.5, -1.08), (0.66, -1.08), (0.67, -1.02), (0.62, -0.9), (0.58, -0.91), (0.5, -1.08)]
    given = {"view": (-0.85, 0.42), "floor": Floor(height=-1.08 * R), "whole": True}
    return Model(
        frames | look.pop("frames", {}),
        in_frame("ball", striped(R), knob) + look.pop("parts", []),
        [Track("ball", (0, 0, 1.06 * R))],
        in_frame("world", lathe(R * np.array(ring), 36, colour=DARK)) + look.pop("scenery", []),
        focus=Track("world"),
        **given | look,
    )


@known("ball")
def geared_ball(system: System, runs: Runs) -> Model:
    """A ball that turns about its middle: amber is e2, whose height gears its spin."""
    return _free(
        system,
        says="A striped ball turns about its middle, and the knob on its axis draws a curve",
    )


@known("ball, right-invariant")
def veselova_ball(system: System, runs: Runs) -> Model:
    """The same with its axis of rotation as a rod: it stays in the horizontal ring, since the ball
    cannot turn about the vertical."""
    R = value(system, "R", 1.0)
    rod = [
        capsule((s * R, 0, 0), (s * 1.25 * R, 0, 0), 0.035 * R, 10, colour=DARK) for s in (-1, 1)
    ]
    hoop = torus(1.25 * R, 0.025 * R, 60, 6, colour=STEEL, gloss=0.8)
    u = np.pi / 2 * np.arange(4)
    posts = [(1.25 * R * np.cos(a), 1.25 * R * np.sin(a)) for a in u + 0.35]
    legs = [tube((x, y, -1.08 * R), (x, y, 0), 0.025 * R, 8, colour=STEEL) for x, y in posts]
    return _free(
        system,
        frames={"axis": Frame("world", turn(2, "heading"), turn(1, "dip"))},
        parts=in_frame("axis", rod),
        scenery=in_frame("world", hoop, legs),
        columns=lambda q, t: axis_of(q),
        says="A striped ball turns about an axis that stays in a horizontal ring",
    )


def axis_of(q: np.ndarray) -> Columns:
    """Where the axis of rotation points in space along attitudes q (N, 4): from x to y by
    ``heading``, then down by ``dip``."""
    g = q / np.linalg.norm(q, axis=1, keepdims=True)
    step = SO3.log(SO3.multiply(SO3.inverse(g[:-1]), g[1:]))
    w = np.einsum("kij,kj->ki", SO3.matrix(g[:-1]), step)
    w = np.concatenate([w, w[-1:]])
    heading = np.unwrap(np.arctan2(w[:, 1], w[:, 0]))
    return {"heading": heading, "dip": -np.arctan2(w[:, 2], np.hypot(w[:, 0], w[:, 1]))}


# ---------------------------------------------------------------------------- rolling


def _rolling(system: System, names: list[str], R: float) -> dict[str, Frame]:
    """The place of the contact, and the ball, whose attitude is the inverse of g."""
    x, y, w, *axis = names
    return {
        "contact": Frame("world", move(x, y, 0)),
        "ball": Frame("contact", move(0, 0, R), quaternion(w, *("-" + name for name in axis))),
    }


@known("rubber ball")
def rubber_ball(system: System, runs: Runs) -> Model:
    """A ball that rolls on a table without twisting; the line is the path of its contact."""
    R = value(system, "R", 1.0)
    return Model(
        _rolling(system, [*map(str, system.q)], R),
        in_frame("ball", striped(R, 0.2)),
        [Track("contact")],
        view=(-0.95, 0.5),
        near=1.6,
        says="A striped ball rolls over the floor without twisting",
    )


@known("ball on a turntable")
def ball_on_turntable(system: System, runs: Runs) -> Model:
    """A ball that rolls on a table, and the table, which turns under it at the rate Om; a mark on
    its rim leaves a track, too."""
    R, rate = value(system, "R", 0.2), value(system, "Om")
    reach = max(np.nanmax(np.hypot(*run.q[:, :2].T)) for run in runs)
    frames = _rolling(system, [*map(str, system.q)], R)
    frames["table"] = Frame("world", turn(2, ["*", rate, "t"]))
    wide = float(reach + 1.2 * R)
    return Model(
        frames,
        in_frame("ball", striped(R)),
        [Track("contact"), Track("table", (0.94 * wide, 0, 0))],
        in_frame("table", _table(wide, R)) + in_frame("world", _pedestal(wide, R)),
        focus=Track("table"),  # the camera stays with the table, which is what the ball rolls on
        view=(-0.95, 0.6),
        floor=Floor(height=-0.9 * R),
        whole=True,
        says="A striped ball rolls on a turning table and goes round a circle",
    )


def _table(wide: float, R: float) -> list[Shape]:
    """A round table whose sectors show that it turns, with a mark on its rim."""
    low = [(0, -0.35 * R), (0.97 * wide, -0.35 * R), (wide, -0.28 * R)]
    low += [(wide, -0.05 * R), (0.985 * wide, 0)]
    rings = np.array([(0.985, 0), (0.75, 0), (0.5, 0), (0.25, 0), (0, 0)]) * wide
    paint = {"colour": "#66756E", "second": "#54635C", "sectors": 6, "gloss": 0.0}
    mark = lathe(
        [(0.17 * R, 0), (0.17 * R, 0.02 * R), (0, 0.02 * R)], 16, (0.94 * wide, 0, 0), colour=AMBER
    )
    return [lathe(low, 48, colour="#A9814F", gloss=0.4), lathe(rings, 48, **paint), mark]


def _pedestal(wide: float, R: float) -> list[Shape]:
    """What the table turns on."""
    side = [
        (0, -0.9 * R),
        (0.5 * wide, -0.9 * R),
        (0.45 * wide, -0.75 * R),
        (0.2 * wide, -0.35 * R),
    ]
    return [lathe(side, 36, colour=IRON, gloss=0.5)]


# ---------------------------------------------------------------------------- rattleback


@known("rattleback")
def rattleback(system: System, runs: Runs) -> Model:
    """The lower half of an ellipsoid.  Two brass weights lie askew, as its inertia does; the
    marked end leaves the track."""
    a, b, c, h = (value(system, name) for name in "abch")
    frames = {
        "centre of mass": Frame("world", move("x", "y", _height(a, b, c, h))),
        "stone": Frame(
            "centre of mass",
            *(turn(2, "yaw"), turn(0, "roll"), turn(1, "pitch"), move(0, 0, h)),
        ),
    }
    askew = -np.sign(value(system, "D")) or 1.0
    return Model(
        frames,
        in_frame("stone", _stone(a, b, c), _weights(a, b, askew)),
        [Track("stone", (a, 0, 0))],
        focus=Track("centre of mass"),
        view=(-1.1, 0.42),
        near=1.35,
        says="A rattleback, half an ellipsoid of stone, spins, rattles and turns back",
    )


def _height(a: float, b: float, c: float, h: float) -> list:
    """The formula of the height of the centre of mass where the stone touches the floor."""
    along = ["*", ["cos", "roll"], ["sin", "pitch"]]
    up = ["*", ["cos", "roll"], ["cos", "pitch"]]
    sides = (a, along), (b, ["sin", "roll"]), (c, up)
    squares = [["*", size**2, part, part] for size, part in sides]
    return ["-", ["sqrt", ["+", *squares]], ["*", h, up]]


def _stone(a: float, b: float, c: float) -> list[Shape]:
    """Half an ellipsoid with a flat top, a line along it and a mark at one end."""
    u = np.linspace(0, np.pi / 2, 13)
    under = [*np.stack([np.sin(u), -np.cos(u)], -1)]
    top = [(1, 0), (0.94, 0.0), (0, 0.0)]
    size, shade = {"scale": (a, b, c)}, {"colour": ACTOR, "gloss": 0.7}
    rim = [(1, 0), (0.9, 0.03), (0.86, 0.03)]
    shapes = [lathe(under, 48, **size, **shade), lathe(top, 48, **size, colour=CREAM, gloss=0.3)]
    shapes += [lathe(rim, 48, **size, **shade)]
    line = [(-0.8 * a, 0, 0), (0.72 * a, 0, 0)]
    shapes += [sweep(line, 0.03 * b, 6, colour=DARK, gloss=0.2)]
    mark = [(0.09 * b * 3, 0), (0.2 * b, 0.08 * b), (0, 0.1 * b)]
    return [*shapes, lathe(mark, 16, (0.82 * a, 0, 0), colour=RED, gloss=0.4)]


def _weights(a: float, b: float, askew: float) -> list[Shape]:
    """Two weights on the top: where x y has the sign ``askew``."""
    u = np.linspace(0, np.pi / 2, 6)
    dome = np.stack([np.cos(u), 0.7 * np.sin(u)], -1) * 0.26 * b
    places = [(s * 0.52 * a, s * askew * 0.42 * b, 0) for s in (-1, 1)]
    return [lathe(dome, 20, at, scale=(2, 1, 1), colour=BRASS, gloss=0.85) for at in places]
