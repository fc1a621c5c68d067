"""Machines on wheels: Segway, two-wheeled robot, car with trailer, roller racer.

Each wheel has its true radius and is turned by as much as it has rolled.
"""

from collections.abc import Sequence

import numpy as np

from ...mechanics.system import System
from ...run.trajectory import Trajectory
from ..shapes import (
    ACTOR,
    AMBER,
    CREAM,
    DARK,
    IRON,
    RUBBER,
    STEEL,
    WHITE,
    Shape,
    ball,
    box,
    capsule,
    lathe,
    prism,
    sweep,
    tube,
    wheel,
)
from ..stage import Frame, Model, Roll, Track, move, turn
from .catalogue import in_frame, known, value
from .vehicles import rounded

Runs = Sequence[Trajectory]
BRASS, GLASS, RED = "#D8A23B", "#33414F", "#C8453B"
UPRIGHT = (0, -1, 0)  # the axis of a prism whose outline has x and z
SIDES = {"left": 1, "right": -1}  # y points to the left


def road_wheel(radius: float, width: float, spokes: int = 5) -> list[Shape]:
    """A plain wheel whose axle lies along y: a tyre, and a cap whose sectors show it turn."""
    w, y, r = width / 2, (0, 1, 0), radius
    half = [(0.66 * r, -w), (0.9 * r, -w), (0.98 * r, -0.7 * w), (r, -0.3 * w)]
    tyre = [*half, *((x, -z) for x, z in half[::-1])]
    shapes = [lathe(tyre, 32, axis=y, colour=RUBBER, gloss=0.1)]
    for side in (-1, 1):
        cap = [(0.68 * r, 0.8 * w), (0.6 * r, 0.92 * w), (0.2 * r, 0.92 * w), (0, 1.1 * w)]
        paint = {"colour": STEEL, "second": IRON, "sectors": spokes, "gloss": 0.7}
        shapes += [lathe(cap, 4 * spokes, axis=(0, side, 0), **paint)]
        shapes += [ball((0, side * 0.94 * w, 0.8 * r), 0.1 * r, 8, colour=AMBER, gloss=0.3)]
    return shapes


# ---------------------------------------------------------------------------- on one axle


@known("Segway")
def segway(system: System, runs: Runs) -> Model:
    """Two wheels, and between them the body that pitches by phi: a platform to stand on, a post,
    a handlebar.  The brass weight is at the centre of mass.  The line on the floor is where the
    axle was at first, the strokes beside it are a tenth of a metre apart."""
    R, d, b = (value(system, name) for name in "Rdb")
    frames = {
        "start": Frame("world", *_start(runs)),
        "axle": Frame("world", move("x", "y", R), turn(2, "theta")),
        "body": Frame("axle", turn(1, "phi")),
    }
    parts = in_frame("body", _platform(R, d), _handlebar(R, d, b), _fenders(R, d))
    tracks = [Track("axle", (0, 0, -R))]
    for side, sign in SIDES.items():
        frames[side] = Frame("axle", move(0, sign * d / 2, 0), turn(1, side))
        parts += in_frame(side, wheel(R, 0.3 * R, spokes=6))
        tracks += [Track("axle", (0, sign * d / 2, -R))]
    return Model(
        frames,
        parts,
        tracks,
        in_frame("start", _ruler(d)),
        view=(-1.2, 0.18),
        near=1.05,
        says="A Segway, a platform with a tall handlebar on two wheels, sways and rolls",
    )


def _start(runs: Runs) -> list:
    """The steps to the place and the heading at which the first run starts."""
    x, y, theta = map(float, runs[0].q[0, :3])
    return [move(x, y, 0), turn(2, theta)]


def _ruler(d: float) -> list[Shape]:
    """A line under the axle at its start, and beside the right wheel strokes every 0.1."""
    strip = {"low": 0.0, "high": 0.002, "gloss": 0.0}
    shapes = [prism(rounded(0.014, 1.9 * d, 0.2, 12), colour=DARK, **strip)]
    for k in range(-4, 5):
        size = (0.008, 0.16 * d) if k % 5 else (0.014, 0.3 * d)
        stroke = rounded(*size, 0.2, 12) + [0.1 * k, -0.78 * d]
        shapes += [prism(stroke, colour=DARK, **strip)]
    return shapes


def _platform(R: float, d: float) -> list[Shape]:
    """The case of the motors and the mats for the feet."""
    wide = d - 0.5 * R
    shapes = [
        tube((0, -d / 2, 0), (0, d / 2, 0), 0.16 * R, 12, colour=STEEL, gloss=0.8),
        prism(rounded(1.9 * R, wide, 0.35), -0.3 * R, 0.2 * R, 0.1 * R, colour=ACTOR, gloss=0.6),
    ]
    for side in (-1, 1):
        mat = rounded(1.5 * R, 0.42 * wide, 0.4, 20) + [-0.05 * R, side * 0.23 * wide]
        shapes += [prism(mat, 0.2 * R, 0.25 * R, 0.02 * R, colour=DARK, gloss=0.1)]
    lamp = {"axis": (1, 0, 0), "colour": AMBER, "gloss": 0.6}
    shapes += [
        lathe([(0.09 * R, 0), (0.07 * R, 0.04 * R), (0, 0.06 * R)], 12, (0.94 * R, 0, 0), **lamp)
    ]
    return shapes


def _handlebar(R: float, d: float, b: float) -> list[Shape]:
    """The post, which is as tall as 2 b, its bar, and the weight at b."""
    top = np.array([0, 0, 2 * b])
    shapes = [
        capsule((0, 0, 0), top, 0.1 * R, 12, 0.08 * R, colour=STEEL, gloss=0.85),
        tube((0, 0, 0), (0, 0, 0.7 * R), 0.2 * R, 14, 0.14 * R, colour=DARK, gloss=0.4),
        ball((0, 0, b), 0.36 * R, 22, colour=BRASS, gloss=0.85),
        ball(top, 0.17 * R, 14, colour=DARK, gloss=0.4),
    ]
    for side in (-1, 1):
        bend = [top, top + [0, side * 0.2 * d, 0.04 * R], top + [-0.3 * R, side * 0.38 * d, 0.0]]
        shapes += [sweep(bend, 0.065 * R, 8, colour=STEEL, gloss=0.85)]
        grip = bend[1] + 0.35 * (bend[2] - bend[1]), bend[2]
        shapes += [capsule(*grip, 0.1 * R, 10, colour=RUBBER, gloss=0.1)]
    return shapes


def _fenders(R: float, d: float) -> list[Shape]:
    """An arch over each wheel."""
    u = np.radians(np.linspace(35, 145, 9))
    outer, inner = (r * R * np.stack([np.cos(u), np.sin(u)], -1) for r in (1.2, 1.1))
    arch = np.vstack([outer, inner[::-1]])
    shapes, half = [], 0.21 * R
    for side in (-1, 1):
        at = (0, side * (d / 2 - 0.02 * R), 0)
        shapes += [prism(arch, -half, half, 0.02 * R, at, UPRIGHT, colour=DARK, gloss=0.4)]
        inside = side * (d / 2 - 0.2 * R)
        for x in (-0.8, 0.8):
            stay = (0.6 * x * R, inside - side * 0.14 * R, 0), (x * R, inside, 0.79 * R)
            shapes += [capsule(*stay, 0.045 * R, 8, colour=IRON, gloss=0.6)]
    return shapes


@known("two-wheeled robot")
def two_wheeled_robot(system: System, runs: Runs) -> Model:
    """A round robot on two driven wheels and a castor in front; the brass weight is at the centre
    of mass, which is a ahead of the axle."""
    R, d, a = value(system, "R", 0.1), value(system, "d", 0.5), value(system, "a", 0.1)
    frames = {"body": Frame("world", move("x", "y", 0), turn(2, "theta"))}
    parts = in_frame("body", _shell(R, d), _castor(R, d), _weight(a, 1.75 * R, 0.4 * R))
    tracks = [Track("body")]
    for side, sign in SIDES.items():
        frames[side] = Frame("body", move(0, sign * d / 2, R), turn(1, side))
        parts += in_frame(side, wheel(R, 0.4 * R))
        tracks += [Track("body", (0, sign * d / 2, 0))]
    return Model(
        frames,
        parts,
        tracks,
        view=(-0.95, 0.48),
        near=1.65,
        says="A round robot with two driven wheels rolls over the floor",
    )


def _shell(R: float, d: float) -> list[Shape]:
    """The case of the robot with a visor in front and the axle."""
    r = 0.43 * d
    low = [(0, 0.35 * R), (0.9 * r, 0.35 * R), (r, 0.55 * R), (r, 1.0 * R)]
    high = [(r, 1.0 * R), (r, 1.35 * R), (0.95 * r, 1.55 * R), (0.86 * r, 1.66 * R)]
    deck = [(0.86 * r, 1.66 * R), (0.6 * r, 1.75 * R), (0, 1.75 * R)]
    arrow = [(-0.12, 0), (-0.42, 0.32), (-0.42, 0.14), (-0.62, 0.14)]
    arrow = r * np.array([*arrow, *((x, -y) for x, y in arrow[:0:-1])])
    u = np.linspace(-0.75, 0.75, 9)
    visor = [(0.98 * r * np.cos(a), 0.98 * r * np.sin(a), 1.15 * R) for a in u]
    return [
        tube((0, -d / 2, R), (0, d / 2, R), 0.16 * R, 12, colour=STEEL, gloss=0.8),
        lathe(low, 40, colour=DARK, gloss=0.3),
        lathe(high, 40, colour=WHITE, gloss=0.5),
        lathe(deck, 40, colour=ACTOR, gloss=0.7),
        prism(arrow, 1.74 * R, 1.78 * R, colour=WHITE, gloss=0.4),
        sweep(visor, 0.2 * R, 8, colour=GLASS, gloss=0.9),
        *(ball((0.985 * r * np.cos(a), 0.985 * r * np.sin(a), 1.17 * R), 0.24 * R, 12,
               colour=AMBER, gloss=0.6) for a in (-0.3, 0.3)),
    ]  # fmt: skip


def _castor(R: float, d: float) -> list[Shape]:
    """A ball that runs freely under the front."""
    x, r = 0.33 * d, 0.24 * R
    cup = [(0, 0.5 * R), (0.34 * R, 0.5 * R), (0.3 * R, 0.26 * R), (0, 0.26 * R)][::-1]
    return [
        ball((x, 0, r), r, 14, colour=CREAM, gloss=0.7),
        lathe(cup, 16, (x, 0, 0), colour=IRON, gloss=0.6),
    ]


def _weight(x: float, z: float, r: float) -> list[Shape]:
    """A brass weight on a deck."""
    side = [(0, 0), (0.95, 0), (1, 0.12), (1, 0.8), (0.88, 1), (0.35, 1.05), (0.27, 1.3)]
    side += [(0.45, 1.5), (0.45, 1.7), (0.27, 1.85), (0, 1.87)]
    return [lathe(r * np.array(side), 24, (x, 0, z), colour=BRASS, gloss=0.85)]


# ---------------------------------------------------------------------------- car with trailer


@known("car with trailer")
def car(system: System, runs: Runs) -> Model:
    """A car whose front wheels are steered, and its trailer, hitched to the rear axle.

    phi steers the middle of the front axle.  Each wheel beside it is steered so that it rolls
    round the same centre, as in a real car, and none of them slips.
    """
    l, d = value(system, "l"), value(system, "d", 1.5)
    half, R = 0.27 * l, 0.15 * l
    frames = {
        "car": Frame("world", move("x", "y", 0), turn(2, "theta")),
        "trailer": Frame("world", move("x", "y", 0), turn(2, "psi")),
    }
    parts = in_frame("car", _coach(l)) + in_frame("trailer", _cart(l, d))
    rolls = []
    for side, sign in SIDES.items():
        steer, y = f"steer {side}", sign * half
        frames[steer] = Frame("car", move(l, y, R), turn(2, steered("phi", l, y)))
        carriers = {"front": (steer, (0.0, 0.0, 0.0)), "rear": ("car", (0.0, y, R))}
        for end, (frame, middle) in (carriers | {"back": ("trailer", (-d, y, R))}).items():
            spin = f"{end} {side}"
            frames[spin] = Frame(frame, move(*middle), turn(1, spin))
            rolls += [Roll(spin, frame, middle, R)]
            parts += in_frame(spin, road_wheel(R, 0.11 * l))
    return Model(
        frames,
        parts,
        [Track("car"), Track("trailer", (-d, 0, 0))],
        rolls=rolls,
        focus=Track("car", (-0.2 * l, 0, 0)),
        view=(-0.8, 0.45),
        near=1.3,
        says="A car pulls a trailer along a curve",
    )


def steered(phi: str, l: float, left: float) -> list:
    """The formula of the angle of a front wheel so far to the left of the middle, which is steered
    by the column phi."""
    ahead = ["-", ["*", l, ["cos", phi]], ["*", left, ["sin", phi]]]
    return ["atan2", ["*", l, ["sin", phi]], ahead]


def _coach(l: float) -> list[Shape]:
    """A small car seen from the side, with windows and lamps; the rear axle is at the origin."""
    hull = [(-0.27, 0.12), (1.24, 0.12), (1.29, 0.17), (1.28, 0.3), (1.2, 0.35), (0.93, 0.4)]
    hull += [(-0.24, 0.4), (-0.29, 0.34), (-0.29, 0.16)]
    cabin = [(-0.2, 0.38), (0.98, 0.38), (0.7, 0.62), (0.62, 0.645), (-0.04, 0.645), (-0.12, 0.6)]
    wide, shapes = 0.46, []
    for outline, half, colour in ((hull, wide / 2, ACTOR), (cabin, 0.42 * wide, GLASS)):
        options = {"axis": UPRIGHT, "colour": colour, "gloss": 0.75}
        shapes += [prism(l * np.array(outline), -half * l, half * l, 0.02 * l, **options)]
    roof = rounded(0.72 * l, 0.37 * l, 0.35, 24) + [0.29 * l, 0]
    shapes += [prism(roof, 0.635 * l, 0.665 * l, 0.012 * l, colour=WHITE, gloss=0.6)]
    for y in (-0.195 * l, 0.195 * l):  # pillars between the windows
        for low, high in ((0.95, 0.66), (0.36, 0.36), (-0.18, -0.08)):
            ends = (l * low, y, 0.4 * l), (l * high, y, 0.635 * l)
            shapes += [capsule(*ends, 0.022 * l, 8, colour=ACTOR, gloss=0.75)]
    for y in (-0.15, 0.15):
        lamp, rear = (1.275 * l, y * l, 0.26 * l), (-0.28 * l, y * l, 0.3 * l)
        bulb = [(0.05 * l, 0), (0.04 * l, 0.02 * l), (0, 0.03 * l)]
        shapes += [lathe(bulb, 14, lamp, (1, 0, 0), colour=CREAM, gloss=0.8)]
        shapes += [lathe(bulb, 14, rear, (-1, 0, 0), colour=RED, gloss=0.6)]
    u = np.linspace(0, np.pi, 13)
    arch = [(0.19 * np.cos(a), 0.14 + 0.19 * np.sin(a)) for a in u]
    for x in (0, l):  # the axles, and dark arches over the wheels
        ends = (x, -0.27 * l, 0.15 * l), (x, 0.27 * l, 0.15 * l)
        shapes += [tube(*ends, 0.03 * l, 8, colour=IRON)]
        options = {"at": (x, 0, 0), "axis": UPRIGHT, "colour": DARK, "gloss": 0.1}
        shapes += [prism(l * np.array(arch), -0.236 * l, 0.236 * l, **options)]
    return shapes


def _cart(l: float, d: float) -> list[Shape]:
    """An open trailer; its hitch is at the origin, its axle at -d."""
    long, x = 0.86 * l, -d
    floor = rounded(long, 0.42 * l, 0.2, 16) + [x, 0]
    shapes = [prism(floor, 0.2 * l, 0.24 * l, 0.008 * l, colour="#C98A4B", gloss=0.3)]
    for side in (-1, 1):
        at = (x, side * 0.2 * l, 0.3 * l)
        shapes += box(long, 0.025 * l, 0.14 * l, at, colour=ACTOR, gloss=0.6)
        at = (x + side * 0.485 * long, 0, 0.3 * l)
        shapes += box(0.025 * l, 0.4 * l, 0.14 * l, at, colour=ACTOR, gloss=0.6)
        crate = (x + side * 0.17 * long, -side * 0.03 * l, 0.33 * l)
        shapes += box(0.26 * l, 0.26 * l, 0.2 * l, crate, colour=CREAM if side > 0 else "#D9A066")
        bar = (x + 0.4 * long, side * 0.15 * l, 0.19 * l), (-0.34 * l, 0, 0.16 * l)
        shapes += [capsule(*bar, 0.022 * l, 8, colour=STEEL, gloss=0.8)]
    shapes += [capsule((-0.36 * l, 0, 0.16 * l), (0, 0, 0.16 * l), 0.024 * l, 8, colour=STEEL)]
    return [
        *shapes,
        tube((x, -0.27 * l, 0.15 * l), (x, 0.27 * l, 0.15 * l), 0.025 * l, 8, colour=IRON),
    ]


# ---------------------------------------------------------------------------- roller racer


@known("roller racer")
def roller_racer(system: System, runs: Runs) -> Model:
    """A seat on an axle, and the handlebar, which is turned by phi, on another."""
    d1, d2 = value(system, "d1"), value(system, "d2", 0.1)
    back, front, R = 0.36 * d1, 0.2 * d1, 0.11 * d1
    frames = {
        "seat": Frame("world", move("x", "y", 0), turn(2, "theta")),
        "bar": Frame("seat", move(d1, 0, 0), turn(2, "phi")),
    }
    parts = in_frame("seat", _seat(d1, back, R)) + in_frame("bar", _steering(d1, d2, front, R))
    rolls = []
    for side, sign in SIDES.items():
        carriers = {
            "rear": ("seat", (0.0, sign * back, R)),
            "front": ("bar", (d2, sign * front, R)),
        }
        for end, (frame, middle) in carriers.items():
            spin = f"{end} {side}"
            frames[spin] = Frame(frame, move(*middle), turn(1, spin))
            rolls += [Roll(spin, frame, middle, R)]
            parts += in_frame(spin, road_wheel(R, 0.08 * d1, 3))
    return Model(
        frames,
        parts,
        [Track("seat"), Track("bar", (d2, 0, 0))],
        rolls=rolls,
        focus=Track("seat", (0.5 * d1, 0, 0)),
        view=(-0.85, 0.5),
        near=1.5,
        says="A roller racer, a seat on wheels, is driven by the swinging of its handlebar",
    )


def _seat(l: float, half: float, R: float) -> list[Shape]:
    """A flat seat with a low back, the axle below it and the beam to the joint."""
    outline = np.array([(-0.27, 0.2), (-0.2, 0.27), (0.05, 0.29), (0.3, 0.2), (0.45, 0.07)])
    outline = l * np.vstack([outline, outline[::-1] * [1, -1]])
    rest = l * np.array([(-0.3, 0.02), (-0.22, 0.0), (-0.27, 0.2), (-0.33, 0.19)])
    beam = l * np.array([(0.2, 0, 0.17), (0.6, 0, 0.19), (0.85, 0, 0.24), (1, 0, 0.25)])
    pad = 0.8 * outline[[0, 1, 2, 3, -4, -3, -2, -1]]
    options = {"colour": ACTOR, "gloss": 0.6}
    return [
        tube((0, -half, R), (0, half, R), 0.022 * l, 10, colour=STEEL, gloss=0.85),
        *box(0.16 * l, 0.3 * l, 0.07 * l, (0, 0, 0.14 * l), colour=IRON, gloss=0.6),
        prism(outline, 0.17 * l, 0.22 * l, 0.015 * l, **options),
        prism(pad, 0.22 * l, 0.235 * l, 0.006 * l, colour=DARK, gloss=0.15),
        prism(rest, -0.19 * l, 0.19 * l, 0.015 * l, (0, 0, 0.2 * l), UPRIGHT, **options),
        sweep(beam, 0.035 * l, 10, colour=IRON, gloss=0.6),
    ]


def _steering(l: float, d2: float, half: float, R: float) -> list[Shape]:
    """What turns about the joint: the post, the bar with its grips, the front axle."""
    top = l * np.array([-0.12, 0, 0.72])
    shapes = [
        tube((d2, -half, R), (d2, half, R), 0.022 * l, 10, colour=STEEL, gloss=0.85),
        capsule((0, 0, 0.15 * l), (d2, 0, R), 0.03 * l, 10, colour=IRON, gloss=0.6),
        tube((0, 0, 0.12 * l), (0, 0, 0.3 * l), 0.05 * l, 16, colour=DARK, gloss=0.4),
        capsule((0, 0, 0.28 * l), top, 0.028 * l, 10, colour=STEEL, gloss=0.85),
        ball(top, 0.045 * l, 12, colour=AMBER, gloss=0.5),
    ]
    for side in (-1, 1):
        end = top + l * np.array([-0.08, side * 0.3, 0.02])
        shapes += [capsule(top, end, 0.022 * l, 10, colour=STEEL, gloss=0.85)]
        shapes += [capsule(0.45 * top + 0.55 * end, end, 0.034 * l, 10, colour=RUBBER, gloss=0.1)]
    return shapes
