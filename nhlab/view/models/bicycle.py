"""Whipple's bicycle with the geometry of the benchmark, and its rider, who does not steer.

In the frames of frame and fork x points ahead, y to the right and z down, as in the system.
"""

from typing import NamedTuple

import numpy as np

from ...mechanics.system import System
from ..shapes import (
    ACTOR,
    AMBER,
    DARK,
    IRON,
    RUBBER,
    STEEL,
    Shape,
    ball,
    box,
    capsule,
    lathe,
    prism,
    sweep,
    torus,
    tube,
)
from ..stage import Columns, Frame, Model, Track, move, poses, turn
from .catalogue import in_frame, known, value
from .machines import Runs

SKIN, SHIRT, CLOTH = "#DDB899", "#EDEBE6", "#3B4252"
PAINT, CHROME = {"colour": ACTOR, "gloss": 0.75}, {"colour": STEEL, "gloss": 0.9}


class Geometry(NamedTuple):
    """Points of the frame, from the rear axle; the direction of the steering axis, downwards."""

    wheelbase: np.ndarray  # from the rear axle to the front axle
    axis: np.ndarray
    low: np.ndarray  # ends of the head tube, on the steering axis
    high: np.ndarray
    crank: np.ndarray
    seat: np.ndarray
    saddle: np.ndarray


def geometry(system: System) -> Geometry:
    """From the wheelbase w, the trail c, the tilt of the steering axis and the radii."""
    w, c, tilt, rR, rF = (value(system, name) for name in ("w", "c", "tilt", "rR", "rF"))
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    low = np.array([w + c, 0, rR]) - axis * (2 * rF + 0.06) / axis[2]
    fixed = [0.4, 0, 0.02], [0.21, 0, -0.5], [0.165, 0, -0.62]
    return Geometry(np.array([w, 0, rR - rF]), axis, low, low - 0.14 * axis, *map(np.array, fixed))


@known("Whipple bicycle")
def bicycle(system: System, runs: Runs) -> Model:
    """Rear wheel, frame with the rider, fork, front wheel; both contacts leave their tracks."""
    w, c, tilt, rR, rF = (value(system, name) for name in ("w", "c", "tilt", "rR", "rF"))
    down = turn(0, np.pi)  # from here z points down
    frames = {
        "contact": Frame("world", down, move("x", "y", 0)),
        "frame": Frame(
            "contact", turn(2, "yaw"), turn(0, "roll"), move(0, 0, -rR), turn(1, "pitch")
        ),
        "fork": Frame(
            "frame",
            *(move(w + c, 0, rR), turn(1, tilt), turn(2, "steer"), turn(1, -tilt)),
            move(-c, 0, -rF),
        ),
        "rear": Frame("frame", turn(1, "rear")),
        "front": Frame("fork", turn(1, "front")),
    }
    chains = dict(frames)
    frames["front contact"] = Frame("world", move("front x", "front y", 0))
    shape = geometry(system)
    parts = in_frame("rear", thin_wheel(rR)) + in_frame("front", thin_wheel(rF))
    parts += in_frame("frame", _tubes(shape), _pedals(shape), _rider(shape))
    parts += in_frame("fork", _fork(shape))
    return Model(
        frames,
        parts,
        [Track("contact"), Track("front contact")],
        columns=lambda q, t: _touch(q, chains, [*map(str, system.q)], rF),
        focus=Track("contact", (0.5 * w, 0, 0)),
        view=(-0.62, 0.16),
        near=1.25,
        says="A bicycle with a rider, hands on the knees, rolls, leans and steers itself",
    )


def _touch(q: np.ndarray, chains: dict, names: list[str], radius: float) -> Columns:
    """Where the front wheel touches the floor: below its middle, the steepest way in its plane."""
    R, at = poses(chains, dict(zip(names, q.T, strict=True)))["fork"]
    axle = R[..., :, 1]
    down = axle[..., 2:] * axle - [0, 0, 1]
    place = at + radius * down / np.linalg.norm(down, axis=-1, keepdims=True)
    return {"front x": place[..., 0], "front y": place[..., 1]}


# ---------------------------------------------------------------------------- the machine


def thin_wheel(R: float, spokes: int = 14, tyre: float = 0.022) -> list[Shape]:
    """A wheel with thin spokes whose axle lies along y; an amber valve shows it turn."""
    y, inner = (0, 1, 0), R - 2 * tyre
    rim = [(inner - 0.006, -0.012), (inner + 0.006, -0.016), (inner + 0.006, 0.016)]
    rim += [(inner - 0.006, 0.012), (inner - 0.006, -0.012)]
    hub = [
        (0, -0.045),
        (0.018, -0.045),
        (0.012, -0.024),
        (0.012, 0.024),
        (0.018, 0.045),
        (0, 0.045),
    ]
    shapes = [
        torus(R - tyre, tyre, 40, 7, axis=y, colour=RUBBER, gloss=0.08),
        lathe(rim, 40, axis=y, colour=STEEL, gloss=0.8),
        lathe(hub, 12, axis=y, colour=STEEL, gloss=0.8),
    ]
    for k in range(spokes):
        a = 2 * np.pi * k / spokes
        b, side = a + (0.22 if k // 2 % 2 else -0.22), 0.028 if k % 2 else -0.028
        near = 0.016 * np.cos(b), side, 0.016 * np.sin(b)
        far = inner * np.cos(a), 0, inner * np.sin(a)
        shapes += [sweep([near, far], 0.0026, 4, colour="#D8DCE2", gloss=0.8)]
    a = np.pi / spokes
    for side in (-0.016, 0.016):
        valve = (R - 2.4 * tyre) * np.cos(a), side, (R - 2.4 * tyre) * np.sin(a)
        shapes += [ball(valve, 0.02, 8, colour=AMBER, gloss=0.4)]
    return shapes


def _tubes(g: Geometry) -> list[Shape]:
    """The frame and the saddle."""
    shapes = [
        tube(g.crank, g.seat, 0.017, 10, **PAINT),
        tube(g.crank, g.low, 0.019, 10, **PAINT),
        tube(0.93 * g.seat + 0.07 * g.crank, g.high + 0.02 * g.axis, 0.016, 10, **PAINT),
        tube(g.low + 0.012 * g.axis, g.high - 0.012 * g.axis, 0.022, 12, **PAINT),
        tube(g.seat, g.saddle + [0, 0, 0.02], 0.012, 10, **CHROME),
        ball(g.crank, 0.03, 12, **PAINT),
        ball(g.seat, 0.019, 10, **PAINT),
    ]
    for side in (-0.055, 0.055):
        y = np.array([0, side, 0])
        shapes += [tube(y, g.crank + 0.5 * y, 0.009, 8, **PAINT)]
        shapes += [tube(y, g.seat + 0.25 * y + [0.01, 0, 0.03], 0.008, 8, **PAINT)]
    half = [(-0.14, 0), (-0.13, 0.07), (-0.1, 0.082), (-0.03, 0.06), (0.05, 0.025), (0.13, 0.02)]
    outline = [*half, (0.145, 0), *((x, -y) for x, y in half[:0:-1])]
    return [*shapes, prism(outline, -0.02, 0.02, 0.012, g.saddle, colour=DARK, gloss=0.25)]


def _arms(g: Geometry) -> list[tuple[int, np.ndarray]]:
    """The side of each crank arm, 1 to the right, and its end."""
    turns = ((1, 0.35), (-1, 0.35 + np.pi))
    return [(s, g.crank + [0.17 * np.cos(a), s * 0.075, 0.17 * np.sin(a)]) for s, a in turns]


def _pedals(g: Geometry) -> list[Shape]:
    """Chain ring, crank arms and pedals, which stand still: it coasts."""
    ring = [(0, -0.008), (0.09, -0.008), (0.09, 0.008), (0, 0.008)]
    shapes = [lathe(ring, 28, g.crank + [0, 0.05, 0], (0, 1, 0), colour=IRON, gloss=0.8)]
    for side, end in _arms(g):
        shapes += [tube(g.crank + [0, 0.07 * side, 0], end, 0.01, 8, colour=IRON, gloss=0.8)]
        shapes += box(0.09, 0.08, 0.02, end + [0, 0.045 * side, 0], colour=DARK)
    return shapes


def _fork(g: Geometry) -> list[Shape]:
    """Blades, crown, stem and handlebar, from the front axle."""
    crown, top = g.low + 0.03 * g.axis - g.wheelbase, g.high - 0.05 * g.axis - g.wheelbase
    stem = top + [0.06, 0, -0.02]
    shapes = [
        capsule(crown - [0, 0.052, 0], crown + [0, 0.052, 0], 0.016, 10, **PAINT),
        tube(crown, top, 0.014, 10, **CHROME),
        capsule(top, stem, 0.015, 10, colour=DARK, gloss=0.4),
    ]
    for side in (-1, 1):
        y = np.array([0, side, 0])
        shapes += [tube(0.052 * y, crown + 0.052 * y, 0.011, 10, **PAINT)]
        bend = [stem, stem + 0.1 * y, stem + 0.2 * y + [-0.03, 0, -0.03]]
        bend += [stem + 0.29 * y + [-0.16, 0, -0.015]]
        shapes += [sweep(bend, 0.0115, 8, **CHROME)]
        shapes += [
            capsule(0.4 * bend[2] + 0.6 * bend[3], bend[3], 0.018, 10, colour=DARK, gloss=0.15)
        ]
    return shapes


# ---------------------------------------------------------------------------- the rider


def _rider(g: Geometry) -> list[Shape]:
    """Trunk and head, then legs to the pedals and arms to the knees."""
    hip = g.saddle - [0, 0, 0.1]
    chest = hip + [0.13, 0, -0.44]
    neck, head = chest + [0.035, 0, -0.13], chest + [0.08, 0, -0.28]
    skin, cloth = {"colour": SKIN, "gloss": 0.18}, {"colour": CLOTH, "gloss": 0.1}
    helmet = [(0, 0.005), (0.11, 0.005), (0.112, 0.02), (0.09, 0.075), (0.05, 0.104), (0, 0.112)]
    shapes = [
        capsule(hip + [0, 0, 0.01], hip + [0.035, 0, -0.12], 0.108, 14, 0.104, **cloth),
        capsule(hip + [0.03, 0, -0.11], chest, 0.103, 16, 0.122, colour=SHIRT, gloss=0.12),
        capsule(chest, neck, 0.075, 12, 0.05, **skin),
        ball(head, 0.096, 18, scale=(1, 0.86, 1.12), **skin),
        lathe(helmet, 20, head + [-0.008, 0, -0.02], (-0.22, 0, -1), scale=(1.08, 0.92, 1),
              colour=AMBER, gloss=0.55),
    ]  # fmt: skip
    for side, end in _arms(g):
        h = hip + [0, 0.085 * side, 0.01]
        foot = end + [0.02, 0.055 * side, -0.045]
        ankle = foot + [-0.06, 0, -0.055]
        knee = _knee(h, ankle, 0.44, 0.42) + [0, 0.01 * side, 0]
        shapes += _leg(h, knee, ankle, foot, skin) + _arm(chest, h, knee, side, skin)
    return shapes


def _knee(hip: np.ndarray, ankle: np.ndarray, upper: float, lower: float) -> np.ndarray:
    """Where a leg of two lengths bends forwards, in the plane of x and z."""
    way = ankle - hip
    reach = min(np.hypot(way[0], way[2]), 0.99 * (upper + lower))
    bend = np.arccos((upper**2 + reach**2 - lower**2) / (2 * upper * reach))
    angle = np.arctan2(way[2], way[0]) - bend
    return hip + upper * np.array([np.cos(angle), 0, np.sin(angle)])


def _leg(
    hip: np.ndarray, knee: np.ndarray, ankle: np.ndarray, foot: np.ndarray, skin: dict
) -> list[Shape]:
    cloth, shoe = {"colour": CLOTH, "gloss": 0.1}, {"colour": DARK, "gloss": 0.3}
    return [
        capsule(hip, 0.42 * hip + 0.58 * knee, 0.08, 12, 0.066, **cloth),
        capsule(0.45 * hip + 0.55 * knee, knee, 0.064, 10, 0.052, **skin),
        capsule(knee, ankle, 0.05, 10, 0.036, **skin),
        capsule(ankle + [-0.03, 0, 0.05], foot + [0.1, 0, 0.01], 0.034, 10, 0.028, **shoe),
    ]


def _arm(
    chest: np.ndarray, hip: np.ndarray, knee: np.ndarray, side: int, skin: dict
) -> list[Shape]:
    """From the shoulder to the thigh, on which the hand rests."""
    shoulder = chest + [0, 0.165 * side, -0.03]
    hand = 0.28 * hip + 0.72 * knee + [0, 0.01 * side, -0.085]
    elbow = (shoulder + hand) / 2 + [-0.1, 0.075 * side, 0.06]
    sleeve = {"colour": SHIRT, "gloss": 0.12}
    return [
        ball(shoulder, 0.064, 12, **sleeve),
        capsule(shoulder, 0.45 * shoulder + 0.55 * elbow, 0.048, 10, 0.044, **sleeve),
        capsule(0.5 * shoulder + 0.5 * elbow, elbow, 0.04, 10, 0.036, **skin),
        capsule(elbow, hand, 0.036, 10, 0.028, **skin),
        ball(hand, 0.038, 10, **skin),
    ]
