"""Bodies from outlines: what a reader's ``parts(q)`` draws becomes solid, each outline in a frame
that is fitted to its motion."""

from collections.abc import Callable, Sequence

import numpy as np

from ...mechanics.groups import SO3
from ...mechanics.system import System
from ...run.trajectory import Trajectory
from .. import bodies
from ..body import Body, between, read_outlines
from ..shapes import ACTOR, AMBER, CREAM, DARK, STEEL, Shape, ball, extruded
from ..stage import (
    Columns,
    Floor,
    Frame,
    Model,
    Track,
    move,
    quaternion,
    sample,
    stretch,
    turn,
)

PALE = "#B8B4AA"
COLOURS = ACTOR, DARK, CREAM, AMBER, STEEL  # of the outlines of one body


def from_outlines(given: Callable) -> Callable:
    """(system, runs) -> Model, for a Body or a function of q that returns outlines."""

    def make(system: System, runs: Sequence[Trajectory]) -> Model:
        return Outlined(bodies.body(system, given), runs).model()

    return make


class Outlined:
    """The frames that fit the motion of each outline of a body."""

    def __init__(self, body: Body, runs: Sequence[Trajectory]):
        self.body, run = body, runs[0]
        q = between(run, sample(run))
        seen = self.parts(q[:: max(1, len(q) // 40)])
        whole = [max(part, key=lambda p: np.isfinite(p).sum()) for part in seen]
        self.flat = whole[0].shape[1] == 2
        self.rest = [_along_x(part) if len(part) == 2 else _in_space(part) for part in whole]
        self.fits = [_fit(rest, part) for rest, part in zip(self.rest, seen, strict=True)]
        spread = np.concatenate([np.nan_to_num(_in_space(p)) for p in whole])
        self.size = float(np.linalg.norm(np.ptp(spread, 0))) or 1.0
        heights = np.concatenate([_in_space(p)[:, 2] for part in seen for p in part])
        self.low = float(np.min(heights[np.isfinite(heights)]))
        still = [all(np.array_equal(p, part[0], equal_nan=True) for p in part) for part in seen]
        self.still = [x and not all(still) for x in still]  # a wire, a wall
        self.leaders = self._lead([[_in_space(p) for p in part] for part in seen])
        self.tracks = len(body.tracks(q[:1]))

    def parts(self, q: np.ndarray) -> list[list[np.ndarray]]:
        """For each outline its points at all q."""
        rows = [read_outlines(self.body.parts(row)) for row in q]
        if len({tuple(len(part) for part in row) for row in rows}) > 1:
            remedy = "points that are hidden at some q may be NaN"
            raise ValueError(
                f"parts(q) must return as many outlines, of as many points, at every q; {remedy}"
            )
        return [*map(list, zip(*rows, strict=True))]

    def _lead(self, seen: list[list[np.ndarray]]) -> list[int]:
        """For each outline the first one that moves rigidly with it: they share a frame."""
        leaders = []
        for k in range(len(self.rest)):
            first = (j for j in dict.fromkeys(leaders) if self._together(j, k, seen))
            leaders.append(next(first, k))
        return leaders

    def _together(self, j: int, k: int, seen: list[list[np.ndarray]]) -> bool:
        if not self.fits[j] is self.fits[k] is _rigid:
            return False
        middle = np.nanmean(self.rest[j], 0)
        for a, b in zip(seen[j], seen[k], strict=True):
            x, y, z, *q = _rigid(self.rest[j], a)
            placed = (self.rest[k] - middle) @ SO3.matrix(np.array(q)).T + [x, y, z]
            if not np.allclose(placed, b, atol=1e-6 * self.size, equal_nan=True):
                return False
        return True

    def columns(self, q: np.ndarray, t: np.ndarray) -> Columns:
        """What moves each outline from its rest to its place, and the tracks."""
        found, parts = {}, self.parts(q)
        for k in dict.fromkeys(self.leaders):
            fit = self.fits[k]
            rows = np.array([fit(self.rest[k], _in_space(points)) for points in parts[k]])
            found |= {f"{name}{k}": rows[:, i] for i, name in enumerate(NAMES[fit])}
        for k, track in enumerate(self.body.tracks(q)):
            if self.still[0] and np.all(track == track[0]):  # of a wire: take what moves on it
                moving = self.still.index(False)
                track = np.array([np.nanmean(p, 0) for p in parts[moving]])
            place = np.nan_to_num(_in_space(track))
            found |= {f"track {name}{k}": place[:, i] for i, name in enumerate("xyz")}
        return found

    def model(self) -> Model:
        upright = self.flat and getattr(self.body, "upright", False)
        frames = {"plane": Frame("world", *([turn(0, np.pi / 2)] if upright else []))}
        parts, scenery = [], []
        for k, (rest, leader) in enumerate(zip(self.rest, self.leaders, strict=True)):
            if leader == k:
                frames[f"part {k}"] = Frame("plane", *self._steps(k))
            centred = rest - np.nanmean(self.rest[leader], 0)
            solid = self._line(centred) if self.still[k] else self._solid(centred, k)
            (scenery if self.still[k] else parts).extend((f"part {leader}", x) for x in solid)
        for k in range(self.tracks):
            frames[f"track {k}"] = Frame("plane", move(*(f"track {name}{k}" for name in "xyz")))
        tracks = [Track(f"track {k}") for k in range(self.tracks)]
        fixed = [_in_space(f) for f in self.body.fixed] if self.flat else []
        scenery += [("plane", shape) for outline in fixed for shape in self._line(outline)]
        view = (-1.3, 0.25) if upright else (-1.2, 0.75) if self.flat else (-0.95, 0.42)
        low = (0.0 if self.flat else self.low) - (0.02 * self.size if self.low < -1e-6 else 0)
        floor = Floor("none") if upright else Floor(height=min(low, 0.0))
        look = {"view": view, "floor": floor, "whole": bool(scenery)}
        look["says"] = "A body made of outlines moves"
        return Model(frames, parts, tracks, scenery, self.columns, **look)

    def _steps(self, k: int) -> list:
        names = NAMES[self.fits[k]]
        steps = [move(f"x{k}", f"y{k}", f"z{k}")]
        if "w" in names:
            steps += [quaternion(f"w{k}", f"a{k}", f"b{k}", f"c{k}")]
        if "l" in names:
            steps += [stretch(*(f"{name}{k}" if name in names else 1 for name in "lmn"))]
        return steps

    def _solid(self, points: np.ndarray, k: int) -> list[Shape]:
        """Solids for the k-th outline, a curve with gaps: each lies a little higher than those
        before it, and has another colour; a small circle becomes a ball."""
        thick = (0.05 if self.flat else 0.025) * self.size
        colour = COLOURS[k % len(COLOURS)] if self.flat else ACTOR
        shapes = []
        for piece in _pieces(points):
            radius = _radius(piece)
            if self.flat and radius and radius < 0.06 * self.size:
                at = [*piece[:-1, :2].mean(0), max(radius, 0.5 * thick)]
                shapes.append(ball(at, radius, 20, colour=ACTOR, gloss=0.6))
                continue
            height = 0.45 * thick * k if self.flat else 0.0
            outline = piece[:, :2] if self.flat else piece
            shapes += extruded(outline, thick, height, colour=colour)
        return shapes

    def _line(self, points: np.ndarray) -> list[Shape]:
        """What does not move: thin and pale."""
        thick, shapes = 0.012 * self.size, []
        for piece in _pieces(points):
            lifted = piece + [0, 0, thick] if self.flat else piece
            shapes += extruded(lifted, thick, colour=PALE)
        return shapes


def _pieces(points: np.ndarray) -> list[np.ndarray]:
    """The parts of a curve between its gaps."""
    gaps = np.flatnonzero(~np.isfinite(points).all(1))
    pieces = [p[np.isfinite(p).all(1)] for p in np.split(points, gaps)]
    return [p for p in pieces if len(p)]


def _radius(points: np.ndarray) -> float | None:
    """The radius if the outline is a circle."""
    if len(points) < 9 or not np.allclose(points[0], points[-1]):
        return None
    away = np.linalg.norm(points - points[:-1].mean(0), axis=1)
    return float(away.mean()) if np.ptp(away) < 0.02 * away.mean() else None


def _in_space(points: np.ndarray) -> np.ndarray:
    points = np.asarray(points, float)
    if points.shape[-1] == 3:
        return points
    return np.concatenate([points, np.zeros_like(points[..., :1])], -1)


def _rigid(rest: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Place of the middle and quaternion of the rigid motion that fits best (Kabsch)."""
    both = np.isfinite(rest).all(1) & np.isfinite(points).all(1)
    if both.sum() < 2:
        return np.array([0, 0, -1e3, 1, 0, 0, 0])  # hidden: far below the floor
    a, b = rest[both] - rest[both].mean(0), points[both] - points[both].mean(0)
    U, _, V = np.linalg.svd(a.T @ b)
    R = V.T @ np.diag([1, 1, np.sign(np.linalg.det(V.T @ U.T))]) @ U.T
    middle = points[both].mean(0) + R @ (np.nanmean(rest, 0) - rest[both].mean(0))
    return np.array([*middle, *_quaternion(R)])


def _quaternion(R: np.ndarray) -> np.ndarray:
    """The quaternion of a matrix, its largest component positive."""
    (a, b, c), (d, e, f), (g, h, i) = R
    K = [[a - e - i, b + d, c + g, h - f], [b + d, e - a - i, f + h, c - g]]
    K += [[c + g, f + h, i - a - e, d - b], [h - f, c - g, d - b, a + e + i]]
    x, y, z, w = np.linalg.eigh(np.array(K) / 3)[1][:, -1]
    q = np.array([w, x, y, z])
    return q * np.sign(q[np.abs(q).argmax()])


def _stretched(rest: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Place of the middle and how much longer an outline is along the axes."""
    size, now = np.ptp(rest, 0), np.ptp(points, 0)
    signs = np.sign(np.sum((rest - rest.mean(0)) * (points - points.mean(0)), 0) + 1e-300)
    ratio = np.where(size > 1e-12, signs * now / np.where(size > 1e-12, size, 1), 1.0)
    return np.array([*points.mean(0), *ratio])


def _along_x(points: np.ndarray) -> np.ndarray:
    """A rod of the same length along x."""
    half = np.linalg.norm(points[1] - points[0]) / 2 or 0.5
    return np.array([[-half, 0, 0], [half, 0, 0]])


def _rod(rest: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Place of the middle, the quaternion that takes x to the direction, and the stretch."""
    if not np.isfinite(points).all():
        return np.array([0, 0, -1e3, 1, 0, 0, 0, 1])
    way = points[1] - points[0]
    length = np.linalg.norm(way)
    x, y, z = way / (length or 1.0)
    q = np.array([1 + x, 0, -z, y]) if x > -1 + 1e-9 else np.array([0, 0, 0, 1.0])
    scale = max(length / (2 * rest[1, 0]), 1e-6)
    return np.array([*points.mean(0), *q / np.linalg.norm(q), scale])


NAMES = {_rigid: "xyzwabc", _rod: "xyzwabcl", _stretched: "xyzlmn"}


def _fit(rest: np.ndarray, moves: list[np.ndarray]) -> Callable:
    """How the motion of an outline is described: as a rod, as a rigid body, or stretched."""
    if len(rest) == 2:
        return _rod
    size = np.nanmax(np.ptp(np.nan_to_num(rest), 0)) + 1e-12
    lengths = [np.linalg.norm(np.diff(_in_space(p), axis=0), axis=1) for p in (rest, *moves)]
    rigid = all(np.nanmax(np.abs(x - lengths[0]), initial=0) < 1e-6 * size for x in lengths[1:])
    return _rigid if rigid else _stretched
