"""Rigid bodies that turn about a fixed point."""

import numpy as np

from ...mechanics.groups import SO3
from ...mechanics.system import System
from ..shapes import (
    ACTOR,
    AMBER,
    DARK,
    IRON,
    STEEL,
    WHITE,
    Shape,
    box,
    lathe,
    sweep,
    torus,
    tube,
)
from ..stage import Columns, Frame, Model, Track, move, quaternion, turn
from .catalogue import in_frame, known
from .points import BLUE, GREEN, RED, Runs, fixed_tracks

CENTRE = 1.15  # height of the fixed point; the sphere about it has the radius 1
PALE = {"colour": "#A9A59A", "gloss": 0.3}
WHEEL = 0.13  # radius of Suslov's wheels


# ---------------------------------------------------------------------------- the box


def principal(system: System) -> tuple[np.ndarray, np.ndarray]:
    """The principal moments and, as columns of a rotation, the principal axes in the body; each
    has the number of the body's axis next to which it lies, if that can be said."""
    moments, axes = np.linalg.eigh(system.M(np.array(SO3.identity, float)))
    nearest = np.abs(axes).argmax(0)
    if sorted(nearest) == [0, 1, 2]:
        moments, axes = moments[np.argsort(nearest)], axes[:, np.argsort(nearest)]
        axes = axes * np.sign(np.diag(axes))
    return moments, axes * [1, 1, np.sign(np.linalg.det(axes))]


def half_edges(moments: np.ndarray) -> np.ndarray:
    """Half the edges of a solid box with moments in the given ratio, its corners at distance 1.

    Moments of which one exceeds the sum of the others are those of no body; there an edge is thin.
    """
    half = np.sqrt(np.maximum(moments.sum() / 2 - moments, 0.02 * moments.sum()))
    return half / np.linalg.norm(half)


def turns_of(R: np.ndarray) -> list:
    """Three turns about the axes 2, 1 and 0 that make a rotation matrix."""
    yaw, roll = np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])
    pitch = np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2]))
    return [turn(2, float(yaw)), turn(1, float(pitch)), turn(0, float(roll))]


def _body_frames(system: System) -> dict[str, Frame]:
    """The body about its fixed point, and in it the box along the principal axes."""
    names = [str(s) for s in system.q]
    body = Frame("world", move(0, 0, CENTRE), quaternion(*names))
    return {"body": body, "box": Frame("body", *turns_of(principal(system)[1]))}


def _box(system: System, size: float) -> list[Shape]:
    a, b, c = 2 * size * half_edges(principal(system)[0])
    bevel = 0.05 * min(a, b, c)
    band = {"colour": WHITE, "gloss": 0.4, "bevel": 0.3 * bevel}
    return [
        *box(a, b, c, colour=ACTOR, gloss=0.5, bevel=bevel),
        *box(1.012 * a, 0.14 * b, 1.012 * c, **band),  # a ribbon, so that its turning is seen
    ]


def _arrow(way: np.ndarray, start: float, end: float, colour: str, thick: float) -> list[Shape]:
    """An arrow along a unit vector from one distance to another."""
    neck = end - 5 * thick
    head = [(0, 0), (2.4 * thick, 0), (0, 5 * thick)]
    shaft = tube(start * way, neck * way, thick, 12, colour=colour, gloss=0.6)
    return [shaft, lathe(head, 18, neck * way, way, colour=colour, gloss=0.6)]


# ---------------------------------------------------------------------------- free


def polhode(moments: np.ndarray, p: np.ndarray, n: int = 120) -> np.ndarray | None:
    """The curve (n, 3) on the unit sphere on which the direction of the momentum p moves in the
    principal axes: sum u_i^2 / I_i is constant on it.  None if it is a point.

    It goes round the axis of the smallest or of the largest moment, and across that axis it is an
    ellipse.
    """
    u = p / np.linalg.norm(p)
    rates, level = 1 / moments, u**2 @ (1 / moments)
    middle = np.median(rates)
    a = int(rates.argmax() if level > middle else rates.argmin())
    b, c = (k for k in range(3) if k != a)
    spread = np.array([rates[b] - rates[a], rates[c] - rates[a]])
    if np.abs(spread).min() < 1e-9 * rates.max() or abs(level - rates[a]) < 1e-9 * rates.max():
        return None
    fine = 2 * np.pi * np.arange(8 * n + 1) / (8 * n)
    ellipse = np.sqrt((level - rates[a]) / spread) * np.stack([np.cos(fine), np.sin(fine)], -1)
    curve = np.zeros((len(fine), 3))
    curve[:, [b, c]] = ellipse
    curve[:, a] = np.sign(u[a]) * np.sqrt(np.maximum(1 - (ellipse**2).sum(1), 0))
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))]
    even = np.linspace(0, length[-1], n + 1)[:-1]
    return np.stack([np.interp(even, length, x) for x in curve.T], -1)


@known("rigid body")
def rigid_body(system: System, runs: Runs) -> Model:
    """The box that has the body's inertia, with its axes, and a wire that turns with it: the
    polhode, on which the direction of the angular momentum moves in the body.  The needle stands
    still: it shows the angular momentum in space, and as long as momentum and energy are kept the
    wire passes below its tip."""
    moments, axes = principal(system)
    frames, run = _body_frames(system), runs[0]
    p = run.p[0]
    parts = in_frame("box", _box(system, 0.62))
    for way, colour in zip(axes.T, (RED, GREEN, BLUE), strict=True):
        back = tube(-0.8 * way, 0 * way, 0.014, 10, colour=colour, gloss=0.6)
        parts += in_frame("body", _arrow(way, 0.0, 0.95, colour, 0.022), back)
    curve = polhode(moments, axes.T @ p)
    if curve is not None:
        wire = sweep(curve, 0.018, 8, closed=True, colour=AMBER, gloss=0.6)
        parts += in_frame("box", wire)
    g = run.q[0] / np.linalg.norm(run.q[0])
    way = SO3.matrix(g) @ p / np.linalg.norm(p)
    says = "A box turns freely; a needle shows its angular momentum, and a wire on the box, the "
    says += "polhode, passes below the needle"
    look = {"view": (-2.6, 0.3), "near": 1.25, "says": says}
    foot = _foot(way)
    tracks = [Track("body", tuple(0.95 * axes[:, 1])), *fixed_tracks(foot)]
    return Model(frames, parts, tracks, _needle(way, foot), **look)


def _foot(way: np.ndarray) -> np.ndarray:
    """Where the stand of the needle is on the floor: beside the sphere."""
    across = way[:2] if np.hypot(*way[:2]) > 1e-6 else np.array([1.0, 0])
    return np.array([*(max(1.46 * np.hypot(*way[:2]), 1.25) * across / np.hypot(*across)), 0])


def _needle(way: np.ndarray, foot: np.ndarray) -> list:
    """A needle on a stand that points at the fixed point from the direction ``way``."""
    centre = np.array([0, 0, CENTRE])
    tip, neck, end = (centre + s * way for s in (1.03, 1.2, 1.36))
    needle = [tube(neck, tip, 0.03, 14, 0.003, colour=DARK, gloss=0.7)]
    needle += [tube(end, neck, 0.03, 14, colour=DARK, gloss=0.7)]
    post = [
        foot,
        [*foot[:2], end[2] - 0.1],
        [*(0.7 * foot[:2] + 0.3 * end[:2]), end[2] - 0.02],
        end,
    ]
    stand = [(0, 0), (0.2, 0), (0.2, 0.03), (0.06, 0.06), (0, 0.06)]
    shapes = [sweep(np.array(post), 0.022, 10, colour=IRON, gloss=0.6)]
    shapes += [lathe(stand, 28, foot, colour=DARK, gloss=0.4)]
    return in_frame("world", needle, shapes)


# ---------------------------------------------------------------------------- Suslov


def angle_about(q: np.ndarray, axis: int) -> np.ndarray:
    """By which angle a body has turned about its own axis, (N,): the integral of omega_axis along
    quaternions (N, 4), between which it turns steadily."""
    g = q / np.linalg.norm(q, axis=-1, keepdims=True)
    steps = SO3.log(SO3.multiply(SO3.inverse(g[:-1]), g[1:]))
    return np.r_[0, np.cumsum(steps[:, axis])]


@known("Suslov")
def suslov(system: System, runs: Runs) -> Model:
    """The box in a fixed sphere on which two wheels with sharp edges roll (Wagner's device).  They
    stand at the ends of the body's axis e1 and roll towards e3, so that they cannot slip towards
    e2: the body cannot turn about its axis e3, the blue arrow."""
    frames = _body_frames(system)
    reach = 1 - WHEEL
    axle = [("plus", 1.0), ("minus", -1.0)]
    for name, side in axle:
        steps = move(side * reach, 0, 0), turn(1, "roll")
        frames[name] = Frame("body", *steps)
    parts = in_frame("box", _box(system, 0.56))
    for way, colour, end in zip(np.eye(3), (RED, GREEN, BLUE), (0, 0.66, 0.93), strict=True):
        if end:
            parts += in_frame("body", _arrow(way, 0.0, end, colour, 0.034 if end > 0.9 else 0.02))
    for name, side in axle:
        parts += in_frame("body", _fork(side)) + in_frame(name, _edge_wheel())

    def columns(q: np.ndarray, t: np.ndarray) -> Columns:
        return {"roll": -angle_about(q, 1) / WHEEL}

    says = (
        "A box in a sphere stands on two sharp wheels that roll on the sphere, so that it cannot "
    )
    says += "turn about its blue axis"
    look = {"view": (-0.7, 0.25), "near": 1.25, "says": says}
    tracks = [Track("body", (0, 0, 0.93)), *fixed_tracks((0.25, -0.2, 0.01))]
    return Model(frames, parts, tracks, _cage(), columns, **look)


def _fork(side: float) -> list[Shape]:
    """The arm along e1 that holds a wheel, and its axle along e2."""
    hub, neck = side * (1 - WHEEL), side * (1 - 2.3 * WHEEL)
    red = {"colour": RED, "gloss": 0.6}
    shapes = [tube((0, 0, 0), (neck, 0, 0), 0.026, 12, **red)]
    shapes += [tube((neck, -0.06, 0), (neck, 0.06, 0), 0.022, 10, **red)]
    for y in (-0.055, 0.055):
        shapes += [tube((neck, y, 0), (hub, y, 0), 0.016, 8, **red)]
    return [*shapes, tube((hub, -0.07, 0), (hub, 0.07, 0), 0.018, 10, colour=STEEL, gloss=0.9)]


def _edge_wheel() -> list[Shape]:
    """A wheel about e2 that ends in a sharp edge, its sectors coloured to show that it rolls."""
    r = WHEEL
    side = [(0, -0.03), (0.5 * r, -0.03), (r, 0), (0.5 * r, 0.03), (0, 0.03)]
    paint = {"colour": STEEL, "second": AMBER, "sectors": 3, "gloss": 0.7}
    return [lathe(side, 36, axis=(0, 1, 0), **paint)]


def _cage() -> list:
    """Rings of the sphere, and its foot."""
    at, thin = (0, 0, CENTRE), 0.009
    rings = [torus(1 + thin, thin, 72, 6, at=at, axis=axis, **PALE) for axis in np.eye(3)]
    foot = [(0, 0), (0.34, 0), (0.34, 0.03), (0.25, 0.07), (0.1, 0.1), (0.06, 0.15), (0, 0.15)]
    return in_frame("world", rings, lathe(foot, 36, colour=DARK, gloss=0.4))
