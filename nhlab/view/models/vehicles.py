"""Sleigh, skate, robot, snakeboard and coin."""

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
    STEEL,
    WHITE,
    WOOD,
    ball,
    blade,
    capsule,
    lathe,
    prism,
    tube,
    wheel,
)
from ..stage import Floor, Frame, Model, Roll, Track, move, turn
from .catalogue import in_frame, known, value

Runs = Sequence[Trajectory]


def rounded(lx: float, ly: float, power: float = 0.6, n: int = 36) -> np.ndarray:
    """The outline of a box with round corners, (n, 2)."""
    u = 2 * np.pi * np.arange(n) / n
    c, s = np.cos(u), np.sin(u)
    corner = np.stack([np.sign(c) * abs(c) ** power, np.sign(s) * abs(s) ** power], -1)
    return corner * [lx / 2, ly / 2]


# ---------------------------------------------------------------------------- on one blade


@known("sleigh", "sleigh on SE(2)")
def sleigh(system: System, runs: Runs) -> Model:
    """A sledge on a blade, which cannot slip sideways, and on two knobs, which can.  The brass
    weight stands on the centre of mass."""
    a = value(system, "a", 0.2)
    frames = {"sleigh": Frame("world", move("x", "y", 0), turn(2, "theta"))}
    deck = np.array([(-0.42, -0.2), (0.3, -0.2), (0.5, -0.13), (0.57, 0)])
    deck = np.vstack([deck, deck[-2::-1] * [1, -1]])
    slats = []
    for k, y in enumerate(np.linspace(-0.155, 0.155, 5)):
        reach = 0.5 - 0.9 * abs(y) ** 1.35 if y else 0.53
        slat = rounded(0.42 + reach, 0.052, 0.35, 20) + [(reach - 0.42) / 2, y]
        slats += [prism(slat, 0.182, 0.2, 0.006, colour=WOOD if k % 2 else "#C98A4B", gloss=0.35)]
    parts = [
        *blade(0.5, 0.12),
        *(
            tube((x, 0, 0.1), (x, 0, 0.17), 0.022, 12, colour=IRON, gloss=0.8)
            for x in (-0.15, 0.13)
        ),
        prism(deck, 0.155, 0.182, 0.008, colour=ACTOR, gloss=0.55),
        *slats,
        capsule((-0.33, -0.2, 0.21), (-0.33, 0.2, 0.21), 0.018, 10, colour=IRON, gloss=0.6),
    ]
    for side in (-0.15, 0.15):
        parts += [tube((0.36, side, 0.05), (0.36, side, 0.16), 0.014, 10, colour=STEEL, gloss=0.9)]
        parts += [ball((0.36, side, 0.032), 0.032, 14, colour=CREAM, gloss=0.6)]
    weight = [(0, 0), (0.075, 0), (0.08, 0.01), (0.08, 0.07), (0.07, 0.085), (0.03, 0.09)]
    weight += [(0.022, 0.11), (0.036, 0.13), (0.036, 0.145), (0.022, 0.16), (0, 0.162)]
    parts += [lathe(weight, 28, (a, 0, 0.2), colour="#D8A23B", gloss=0.85)]
    return Model(
        frames,
        in_frame("sleigh", parts),
        [Track("sleigh")],
        view=(-1.0, 0.5),
        near=2.0,
        floor=Floor("ice"),
        says="A sleigh with one sharp blade glides over ice and draws a line with it",
    )


def _boot(lift: float) -> list:
    """An ice skate seen from the side: sole, boot, laces and the posts of its blade."""
    heel = [(-0.27, 0), (-0.29, 0.1), (-0.27, 0.3), (-0.3, 0.52), (-0.02, 0.55), (-0.01, 0.4)]
    front = [(0.03, 0.27), (0.1, 0.2), (0.22, 0.16), (0.3, 0.11), (0.33, 0.05), (0.32, 0)]
    side, shapes = np.array(heel + front), []
    for half, inset in ((0.07, 0.0), (0.1, 0.018)):  # a core, and thicker cheeks within it
        middle = np.array([0.0, 0.15])
        outline = middle + (side - middle) * (1 - inset / 0.2)
        options = {"colour": WHITE, "gloss": 0.35}
        shapes += [prism(outline, -half, half, 0.02, (0, 0, lift), (0, -1, 0), **options)]
    sole = [(-0.29, 0), (0.33, 0), (0.34, -0.03), (0.05, -0.03), (0, -0.05), (-0.29, -0.05)]
    shapes += [prism(sole, -0.1, 0.1, 0.008, (0, 0, lift), (0, -1, 0), colour=DARK)]
    cuff = rounded(0.3, 0.22, 0.7, 24) + [-0.16, 0]
    shapes += [prism(cuff, 0.5, 0.56, 0.02, (0, 0, lift), colour=ACTOR, gloss=0.3)]
    for k in range(5):
        x, z = 0.005 + 0.035 * k, lift + 0.42 - 0.065 * k
        shapes += [capsule((x, -0.07, z), (x, 0.07, z), 0.011, 8, colour=ACTOR, gloss=0.3)]
    return shapes


TREES = (  # how far along the path and above it, as parts of its length, and how tall
    (-0.35, 0.45, 1.0),
    (0.15, 0.62, 1.25),
    (0.55, 0.4, 0.85),
    (1.05, 0.6, 1.15),
    (1.5, 0.42, 0.95),
)


def _forest(runs: Runs, slope: float) -> list:
    """Trees above the path, which stand upright and so show how steep the slope is."""
    q = np.concatenate([run.q[np.isfinite(run.q).all(1)] for run in runs])
    (x0, y0), (x1, y1) = q[:, :2].min(0), q[:, :2].max(0)
    wide, shapes = max(x1 - x0, y1 - y0, 2.0), []
    for along, away, tall in TREES:
        x, y = x0 - away * wide, y0 + along * wide
        at, h = np.array([x * np.cos(slope), y, -x * np.sin(slope)]), 0.17 * tall * wide
        shapes += [tube(at - [0, 0, 0.1 * h], at + [0, 0, 0.2 * h], 0.05 * h, 8, colour="#7A5A3C")]
        for low, high, r in ((0.12, 0.55, 0.26), (0.38, 0.8, 0.2), (0.64, 1.0, 0.13)):
            cone = [(0, low * h), (r * h, low * h), (0, high * h)]
            shapes += [lathe(cone, 14, at, colour="#3F7058", gloss=0.05)]
            cap = [
                (0.55 * r * h, (0.45 * high + 0.55 * low) * h + 0.004 * h),
                (0, high * h + 0.01 * h),
            ]
            shapes += [lathe(cap, 14, at, colour=WHITE, gloss=0.1)]
    return in_frame("world", shapes)


def skate_parts() -> list:
    """An ice skate over the origin, its blade along x."""
    posts = [
        tube((x, 0, 0.08), (x, 0, 0.2), 0.05, 12, 0.07, colour=IRON, gloss=0.7) for x in (-0.2, 0.2)
    ]
    return [*blade(0.78, 0.1, (0.03, 0, 0)), *posts, *_boot(0.24)]


@known("knife edge")
def skate(system: System, runs: Runs) -> Model:
    """An ice skate on a slope of snow; x points downhill."""
    slope = value(system, "slope", 0.0)
    frames = {
        "slope": Frame("world", turn(1, slope)),
        "skate": Frame("slope", move("x", "y", 0), turn(2, "phi")),
    }
    return Model(
        frames,
        in_frame("skate", skate_parts()),
        [Track("skate")],
        _forest(runs, slope),
        view=(0.5, 0.1),
        near=2.2,
        floor=Floor("snow", slope=slope),
        says="A skate spins on a slope of snow; the blade's mark is the line behind it",
    )


# ---------------------------------------------------------------------------- on wheels


@known("robot")
def robot(system: System, runs: Runs) -> Model:
    """Three wheels under a round body that keeps its orientation while theta turns them all."""
    R = value(system, "R", 1.0)
    frames = {"body": Frame("world", move("x", "y", 0))}
    parts = []
    for k, angle in enumerate(np.pi / 2 + 2 * np.pi * np.arange(3) / 3):
        leg, spin, out = f"leg {k}", f"wheel {k}", np.array([np.cos(angle), np.sin(angle), 0])
        x, y, _ = map(float, 1.25 * R * out)
        frames[leg] = Frame("body", move(x, y, 0.0), turn(2, "theta"))
        frames[spin] = Frame(leg, move(0, 0, R), turn(1, "psi"))
        parts += in_frame(leg, _fork(R)) + in_frame(spin, wheel(R, 0.4 * R))
        arm = R * (0.5 * out + [0, 0, 2.5]), R * (1.25 * out + [0, 0, 2.42])
        parts += in_frame("body", capsule(*arm, 0.19 * R, 12, colour=WHITE, gloss=0.5))
    shell = [(0, 2.2), (0.7, 2.2), (0.92, 2.3), (1.0, 2.45), (1.0, 2.62), (0.9, 2.72)]
    dome = [(0.9, 2.72), (0.84, 2.95), (0.66, 3.17), (0.38, 3.3), (0, 3.34)]
    lamp = [(0, 0), (0.2, 0), (0.16, 0.14), (0, 0.17)]
    parts += in_frame(
        "body",
        lathe(R * np.array(shell), 40, colour=WHITE, gloss=0.5),
        lathe(R * np.array(dome), 40, colour=ACTOR, gloss=0.8),
        tube((0, 0, 3.3 * R), (0, 0, 3.8 * R), 0.045 * R, 10, colour=STEEL, gloss=0.9),
        ball((0, 0, 3.85 * R), 0.12 * R, 14, colour=AMBER, gloss=0.6),
        # a lamp in front shows that the body keeps its orientation
        lathe(R * np.array(lamp), 18, (0.97 * R, 0, 2.53 * R), (1, 0, 0), colour=AMBER, gloss=0.7),
    )
    return Model(
        frames,
        parts,
        [Track("body")],
        view=(-0.9, 0.62),  # from so high that the robot does not cover its path
        near=1.8,
        says="A robot on three wheels that turn together rolls over the floor",
    )


def _fork(R: float) -> list:
    """What holds a wheel of the robot: two plates, the axle and the bearing on top."""
    side, shapes = [(-0.14, 0.86), (0.14, 0.86), (0.3, 2.12), (-0.3, 2.12)], []
    for y in (-0.29 * R, 0.29 * R):
        options = {"at": (0, y, 0), "axis": (0, -1, 0), "colour": IRON, "gloss": 0.6}
        shapes += [prism(R * np.array(side), -0.05 * R, 0.05 * R, 0.02 * R, **options)]
    axle = {"colour": STEEL, "gloss": 0.9}
    shapes += [capsule((0, -0.36 * R, R), (0, 0.36 * R, R), 0.09 * R, 10, **axle)]
    bearing = [(0, 2.06), (0.36, 2.06), (0.4, 2.12), (0.4, 2.3), (0.3, 2.4), (0, 2.42)]
    return [*shapes, lathe(R * np.array(bearing), 24, colour=IRON, gloss=0.6)]


AXLE, ROAD = 0.26, 0.09  # half the track of the snakeboard's wheels, and their radius


@known("snakeboard")
def snakeboard(system: System, runs: Runs) -> Model:
    """The board, its axles turned by -phi in front and by +phi behind, and the rotor."""
    r = value(system, "r", 1.0)
    frames = {
        "board": Frame("world", move("x", "y", 0), turn(2, "theta")),
        "front": Frame("board", move(r, 0, 0), turn(2, "-phi")),
        "rear": Frame("board", move(-r, 0, 0), turn(2, "phi")),
        "rotor": Frame("board", turn(2, "psi")),
    }
    half = [(r + 0.04, 0.08), (0.55 * r, 0.07), (0.25 * r, 0.1), (0, 0.13)]
    half += [(-x, y) for x, y in half[-2::-1]]
    bar = [*half, *((x, -y) for x, y in half[::-1])]
    parts = in_frame("board", prism(bar, 0.19, 0.225, 0.01, colour="#C98A4B", top=WOOD, gloss=0.4))
    rolls = []
    for name in ("front", "rear"):
        parts += in_frame(name, *_truck())
        for side, sign in (("left", 1), ("right", -1)):
            spin = f"{name} {side}"
            middle = (0.0, sign * AXLE, ROAD)
            frames[spin] = Frame(name, move(*middle), turn(1, spin))
            rolls += [Roll(spin, name, middle, ROAD)]
            parts += in_frame(spin, *_road_wheel())
    post = [(0, 0.22), (0.14, 0.22), (0.12, 0.25), (0.05, 0.27), (0.035, 0.5), (0, 0.5)]
    hub = [(0, 0.47), (0.1, 0.47), (0.115, 0.49), (0.115, 0.55), (0.1, 0.57), (0, 0.57)]
    parts += in_frame("board", lathe(post, 28, colour=IRON, gloss=0.7))
    parts += in_frame(
        "rotor",
        lathe(hub, 32, colour=ACTOR, gloss=0.75),
        capsule((-0.5, 0, 0.52), (0.5, 0, 0.52), 0.026, 12, colour=STEEL, gloss=0.9),
        ball((0.5, 0, 0.52), 0.105, 24, colour=ACTOR, gloss=0.75),
        ball((-0.5, 0, 0.52), 0.105, 24, colour=AMBER, gloss=0.75),
    )
    return Model(
        frames,
        parts,
        [Track("board"), Track("front"), Track("rear")],
        rolls=rolls,
        view=(-0.9, 0.4),
        near=1.55,
        says="A snakeboard, a board on two steered axles with a rotor on top, glides along",
    )


def _truck() -> list:
    """Foot plate, post and axle at one end of the snakeboard."""
    foot, pad = rounded(0.4, 0.6, 0.7), rounded(0.35, 0.54, 0.7)
    return [
        prism(foot, 0.235, 0.272, 0.012, colour="#C98A4B", gloss=0.35),
        prism(pad, 0.272, 0.278, colour=DARK, gloss=0.1),
        prism(rounded(0.3, 0.06, 0.7, 16), 0.278, 0.282, colour=ACTOR, gloss=0.3),
        lathe([(0, 0.14), (0.075, 0.14), (0.055, 0.24), (0, 0.24)], 20, colour=STEEL, gloss=0.8),
        capsule((0, -0.32, ROAD), (0, 0.32, ROAD), 0.02, 10, colour=STEEL, gloss=0.85),
        prism(rounded(0.1, 0.3, 0.5, 16), 0.07, 0.15, 0.015, colour=IRON, gloss=0.7),
    ]


def _road_wheel() -> list:
    """A soft wheel whose flank has a mark, so that its turning is seen."""
    tread = [(0.05, -0.05), (0.075, -0.05), (0.088, -0.03), (ROAD, 0)]
    tread += [(x, -z) for x, z in tread[-2::-1]]
    core = [(0, -0.05), (0.05, -0.05), (0.05, 0.05), (0, 0.05)]
    paint = {"colour": STEEL, "second": AMBER, "sectors": 2, "gloss": 0.6}
    return [
        lathe(tread, 28, axis=(0, 1, 0), colour=CREAM, gloss=0.35),
        lathe(core, 16, axis=(0, 1, 0), **paint),
    ]


# ---------------------------------------------------------------------------- on an edge


def _star(outer: float, inner: float, points: int = 5) -> np.ndarray:
    u = np.pi / 2 + np.pi * np.arange(2 * points) / points
    radius = np.where(np.arange(2 * points) % 2, inner, outer)
    return radius[:, None] * np.stack([np.cos(u), np.sin(u)], -1)


def coin_parts(R: float) -> list:
    """A coin about the origin whose axis lies along y: a milled edge, a raised rim, a star."""
    t, y = 0.06 * R, (0, 1, 0)
    edge = [(0.975 * R, -t), (R, -0.7 * t), (R, 0.7 * t), (0.975 * R, t)]
    mill = {"colour": "#D8A23B", "second": "#B5812A", "sectors": 48, "gloss": 0.8}
    shapes = [lathe(edge, 96, axis=y, **mill)]
    for side in (-1, 1):
        rim = [(0.84 * R, 0.5 * t), (0.865 * R, t), (0.975 * R, t)]
        face = [(0, 0.5 * t), (0.42 * R, 0.5 * t), (0.84 * R, 0.5 * t)]
        where = {"axis": (0, side, 0), "gloss": 0.85}
        shapes += [lathe(rim[::-1], 64, colour="#E0AC46", **where)]
        shapes += [lathe(face[::-1], 64, colour="#C9922F", second="#E8C274", sectors=2, **where)]
        star = {"colour": ACTOR, "gloss": 0.7, "axis": (0, side, 0)}
        shapes += [prism(_star(0.62 * R, 0.26 * R), 0.5 * t, 1.1 * t, 0.015 * R, **star)]
        shapes += [ball((0, side * 0.7 * t, 0.72 * R), 0.075 * R, 14, colour=WHITE, gloss=0.5)]
    return shapes


def _coin(steps: list, R: float, says: str) -> Model:
    frames = {
        "contact": Frame("world", move("x", "y", 0), turn(2, "phi")),
        "coin": Frame("contact", *steps),
    }
    focus = Track("contact")
    return Model(
        frames,
        in_frame("coin", coin_parts(R)),
        [Track("contact")],
        focus=focus,
        view=(-0.75, 0.34),
        near=2.0,
        says=says,
    )


@known("rolling disk")
def rolling_disk(system: System, runs: Runs) -> Model:
    """A coin that rolls upright, turned by theta and heading along phi."""
    R = value(system, "R", 1.0)
    return _coin([move(0, 0, R), turn(1, "theta")], R, "A coin rolls upright along a curve")


@known("tilted disk")
def tilted_disk(system: System, runs: Runs) -> Model:
    """A coin that leans by theta and is turned by psi; the track is that of its contact."""
    R = value(system, "R", 1.0)
    steps = [turn(0, "theta"), move(0, 0, R), turn(1, "psi")]
    return _coin(steps, R, "A coin rolls and leans; the line is the path of its point of contact")
