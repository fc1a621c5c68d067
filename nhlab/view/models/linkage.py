"""A transmission whose ratio a pendulum changes: a wheel that rolls on a turntable.

All lengths are those of the coordinates, so that each part moves as the constraint says.  The rack
z drives the turntable through a gear of radius 1.  A sharp wheel of radius WHEEL stands on the
turntable at the distance sin y from its centre, where the pendulum's yoke puts it, and rolls there:
its rim moves by sin y z'.  On the other end of its shaft a pinion of the same radius drives the
rack x, so that x' = -sin y z'.
"""

import numpy as np

from ...mechanics.system import System
from ..shapes import (
    ACTOR,
    AMBER,
    CREAM,
    DARK,
    IRON,
    STEEL,
    WOOD,
    Shape,
    box,
    capsule,
    lathe,
    prism,
    sweep,
    torus,
    tube,
)
from ..stage import Frame, Model, Track, move, stretch, turn
from .catalogue import in_frame, known
from .points import BRASS, METAL, PAINT, Runs, finite_nodes, fixed_tracks, spring

WHEEL, TABLE, GEAR = 1 / 3, 0.42, 0.3  # radius of the wheel; heights of the turntable and its gear
SHAFT = TABLE + WHEEL  # height of the wheel's shaft
PIVOT = SHAFT + 1.5  # height of the pendulum's pivot
PINION, BACK = 1.5, 0.16  # where the pinion is on the shaft; the plane of the pendulum
TEETH = 36  # of the gear of radius 1


def gear(radius: float, teeth: int, depth: float) -> np.ndarray:
    """The outline of a gear whose teeth reach out and in from a radius; at angle 0 is a gap."""
    a = 2 * np.pi * (np.arange(4 * teeth) + 1.5) / (4 * teeth)
    r = radius + depth / 2 * np.resize([1, 1, -1, -1], 4 * teeth)
    return r[:, None] * np.stack([np.cos(a), np.sin(a)], -1)


def rack(half: float, pitch: float, depth: float, thick: float) -> np.ndarray:
    """The outline of a toothed bar along x, its teeth towards y, one of them at x = 0, and
    its pitch line at y = 0."""
    count = int(np.ceil(half / pitch))
    x = pitch * (np.arange(-4 * count, 4 * count) / 4 + 0.125)
    y = depth / 2 * np.resize([1, -1, -1, 1], len(x))
    ends = [(x[-1], -depth - thick), (x[0], -depth - thick)]
    return np.array([*zip(x, y, strict=True), *ends])


@known("transmission")
def transmission(system: System, runs: Runs) -> Model:
    """Racks on springs for x and z, between them a wheel on a turntable, above it the pendulum."""
    q = finite_nodes(runs)
    most = float(np.abs(q[:, [0, 2]]).max())
    half = 0.7 + most  # of the racks, so long that they never leave their gears
    frames = {
        "table": Frame("world", turn(2, "z")),
        "rack z": Frame("world", move("z", -1, GEAR)),
        "shaft": Frame("world", move(0, 0, SHAFT), turn(0, ["/", "x", -WHEEL])),
        "yoke": Frame("world", move(["sin", "y"], 0, SHAFT)),
        "wheel": Frame("yoke", turn(0, ["/", "x", -WHEEL])),
        "rack x": Frame("world", move(PINION, "x", SHAFT + WHEEL)),
        "pendulum": Frame("world", move(0, -BACK, PIVOT), turn(1, "-y")),
        "bob": Frame("pendulum", move(0, 0, -1)),
    }
    long = half + 1.2  # from the walls to the middle of the racks
    frames["spring z"] = Frame(
        "world", move(-long, -1.1, GEAR), stretch(["+", long - half, "z"], 1, 1)
    )
    steps = (
        move(PINION, long, SHAFT + WHEEL + 0.1),
        turn(2, -np.pi / 2),
        stretch(["-", long - half, "x"], 1, 1),
    )
    frames["spring x"] = Frame("world", *steps)

    parts = _table() + _shaft() + _pendulum() + _racks(half)
    for name in ("spring z", "spring x"):
        parts += in_frame(name, spring(0.09, 0.016))
    says = "A pendulum shifts a wheel on a turntable; the turntable is moved by one rack on a "
    says += "spring, and the wheel moves the other"
    tracks = [Track("bob"), *fixed_tracks((-long, -1.1, 0), (PINION, long, 0))]
    look = {"view": (-0.9, 0.4), "near": 1.15, "says": says}
    return Model(frames, parts, tracks, _stand(long), **look)


def _table() -> list:
    pale = {"colour": CREAM, "second": "#DCCFB4", "sectors": 8, "gloss": 0.35}
    top = [(0, TABLE - 0.05), (1.09, TABLE - 0.05), (1.11, TABLE - 0.02), (1.1, TABLE), (0, TABLE)]
    teeth = prism(gear(1.0, TEETH, 0.1), GEAR - 0.06, GEAR + 0.06, colour=BRASS, gloss=0.75)
    hub = lathe([(0, 0), (0.3, 0), (0.3, 0.2), (0, 0.2)], 28, (0, 0, 0.06), colour=IRON)
    return in_frame("table", lathe(top, 64, **pale), teeth, hub)


def _shaft() -> list:
    """The square shaft with its pinion, and the wheel that slides along it."""
    bar = box(PINION + 1.45, 0.06, 0.06, (PINION / 2 - 0.6, 0, 0), colour=STEEL, gloss=0.85)
    teeth = round(TEETH * WHEEL)
    pinion = prism(gear(WHEEL, teeth, 0.1), -0.08, 0.08, at=(PINION, 0, 0), axis=(1, 0, 0),
                   colour=BRASS, gloss=0.75)  # fmt: skip
    edge = [(0, -0.06), (0.75 * WHEEL, -0.045), (WHEEL, 0), (0.75 * WHEEL, 0.045), (0, 0.06)]
    paint = {"colour": STEEL, "second": AMBER, "sectors": 3, "gloss": 0.8}
    return in_frame("shaft", bar, pinion) + in_frame(
        "wheel", lathe(edge, 40, axis=(1, 0, 0), **paint)
    )


def _pendulum() -> list:
    """The pendulum, and the yoke that carries the wheel below its bob."""
    rod = capsule((0, 0, 0), (0, 0, -1), 0.024, 12, **METAL)
    lens = [(0, -0.07), (0.13, -0.05), (0.17, -0.02), (0.17, 0.02), (0.13, 0.05), (0, 0.07)]
    bob = lathe(np.array(lens), 32, axis=(0, 1, 0), **PAINT)
    pin = tube((0, 0, 0), (0, BACK + 0.03, 0), 0.03, 10, **METAL)
    collar = tube((0, -0.06, 0), (0, 0.06, 0), 0.06, 18, colour=BRASS, gloss=0.85)
    parts = in_frame("pendulum", rod, collar) + in_frame("bob", bob, pin)
    low, high = WHEEL + 0.04, PIVOT - SHAFT + 1.2
    slot = {"colour": WOOD, "gloss": 0.4}
    for side in (-0.055, 0.055):
        parts += in_frame("yoke", tube((side, 0, low), (side, 0, high), 0.022, 8, **slot))
    for z in (low, high):
        parts += in_frame("yoke", capsule((-0.055, 0, z), (0.055, 0, z), 0.024, 8, **slot))
    return parts + in_frame("yoke", _fork(low))


def _fork(low: float) -> list[Shape]:
    """What holds the wheel at both its sides: two legs from the shaft up to the yoke."""
    wood = {"colour": WOOD, "gloss": 0.4}
    legs = [tube((side, 0, 0), (side, 0, low), 0.026, 8, **wood) for side in (-0.1, 0.1)]
    rings = [torus(0.06, 0.022, 20, 6, at=(s, 0, 0), axis=(1, 0, 0), **wood) for s in (-0.1, 0.1)]
    return [*legs, *rings, capsule((-0.1, 0, low), (0.1, 0, low), 0.03, 8, **wood)]


def _racks(half: float) -> list:
    pitch = 2 * np.pi / TEETH
    bar = rack(half, pitch, 0.1, 0.06)
    first = prism(bar, -0.07, 0.07, 0.0, colour=ACTOR, gloss=0.5)
    over = prism(bar * [1, -1], -0.07, 0.07, axis=(1, 0, 0), colour=ACTOR, gloss=0.5)
    return in_frame("rack z", first) + in_frame("rack x", over)


def _stand(long: float) -> list:
    """The walls of the springs, the bearings of the shaft, the gallows of the pendulum."""
    dark = {"colour": DARK, "gloss": 0.4}
    walls = box(0.1, 0.4, 0.6, (-long - 0.05, -1.1, 0.3), **dark)
    walls += box(
        0.5, 0.1, SHAFT + WHEEL + 0.3, (PINION, long + 0.05, (SHAFT + WHEEL + 0.3) / 2), **dark
    )
    feet = []
    for x in (-1.28, PINION - 0.25):
        feet += box(0.1, 0.3, SHAFT + 0.1, (x, 0, (SHAFT + 0.1) / 2), colour=IRON, gloss=0.4)
    gallows = [(-1.28, 0.34, 0), (-1.28, 0.34, PIVOT - 0.15), (-1.22, 0.34, PIVOT - 0.03)]
    gallows += [(-1.1, 0.34, PIVOT), (0, 0.34, PIVOT)]
    arm = sweep(gallows, 0.045, 12, colour=IRON, gloss=0.6)
    axle = capsule((0, 0.34, PIVOT), (0, -BACK - 0.05, PIVOT), 0.026, 12, **METAL)
    return in_frame("world", walls, feet, arm, axle)
