"""A scene as data: bodies made of parts in frames, runs that move them, a camera, a floor.

Frames are chains of moves and turns over named columns, numbers that follow a run::

    frames = {
        "board": Frame("world", move("x", "y", 0), turn(2, "theta")),
        "front": Frame("board", move(1, 0, 0), turn(2, "-phi")),  # "-phi" is minus the column phi
    }

In place of a column a formula of columns may stand, ``["atan2", ["sin", "phi"], 2]``: OPERATIONS.

Two renderers read the same scene: ``player.js`` in a browser, which evaluates the chains itself,
and ``still`` without a display.

Examples
--------
>>> import nhlab as nh
>>> st = nh.stage
>>> frames = {"cart": st.Frame("world", st.move("x", "y", 0.1), st.turn(2, "theta"))}
>>> parts = [("cart", shape) for shape in nh.shapes.box(0.6, 0.3, 0.1)]
>>> cart = st.Model(frames, parts, [st.Track("cart")], says="A cart rolls along")
>>> sol = nh.integrate(nh.systems.sleigh(), nh.DLA(), h=0.1, steps=20)
>>> nh.animate(sol, body=cart).alt
'A cart rolls along: sleigh, DLA, from t = 0 to 2.'
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..mechanics.groups import SO3
from ..run.trajectory import Trajectory
from . import shapes
from .body import between
from .shapes import Mesh, Shape

# Of the data and the player, which a notebook stores with its outputs; it is part of the player's
# global name, so that an old output is not played by new code.  Any change of player.js raises it.
VERSION = 3
FOLLOWED = 2  # how many times farther than for the body alone a camera may be that stands still
TAN = np.tan(0.27)  # of half the angle of view
SAMPLES = 240  # times at which a path is smooth; the nodes of a run come in addition
MOST = 520  # times of a run that are stored
CLOSE = 1.8  # how many times farther than the camera that follows a body a still is taken at most

SLATE = "#51637D"

Columns = dict[str, np.ndarray]
Value = float | str | list[Any]  # a constant, a column, or a formula [operation, value, ...]
OPERATIONS = {
    "+": lambda *x: functools.reduce(np.add, x),
    "*": lambda *x: functools.reduce(np.multiply, x),
    "-": np.subtract,
    "/": np.divide,
    "power": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "atan2": np.arctan2,
    "sqrt": np.sqrt,
}

# ---------------------------------------------------------------------------- frames


def move(x: Value, y: Value, z: Value) -> list[Any]:
    """Move along the axes of the frame; each number is a constant, a column or a formula."""
    return ["move", [x, y, z]]


def turn(axis: int, angle: Value) -> list[Any]:
    """Turn about the axis 0, 1 or 2 of the frame."""
    return ["turn", axis, angle]


def quaternion(w: Value, x: Value, y: Value, z: Value) -> list[Any]:
    """Turn by a quaternion; its columns are interpolated on the sphere."""
    return ["quaternion", [w, x, y, z]]


def stretch(x: Value, y: Value, z: Value) -> list[Any]:
    """Stretch what follows along the axes of the frame, as a spring or a rod to a fixed point."""
    return ["stretch", [x, y, z]]


class Frame:
    """A chain of steps that starts from the parent's frame."""

    def __init__(self, parent: str, *steps: list[Any]) -> None:
        self.parent, self.steps = parent, [*steps]


def _turned(axis: int, angle: np.ndarray) -> np.ndarray:
    """The matrix of a turn about an axis, (..., 3, 3)."""
    angle = np.asarray(angle, float)
    R, i, j = np.zeros((*angle.shape, 3, 3)), axis - 2, axis - 1
    R[..., axis, axis] = 1
    R[..., i, i] = R[..., j, j] = np.cos(angle)
    R[..., i, j], R[..., j, i] = -np.sin(angle), np.sin(angle)
    return R


def poses(frames: dict[str, Frame], columns: Columns) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The matrix (..., 3, 3) and the place (..., 3) of every frame, for columns of one shape."""
    shape = np.shape(next(iter(columns.values()))) if columns else ()

    def value(given: Value) -> np.ndarray:
        if isinstance(given, list):
            return OPERATIONS[given[0]](*map(value, given[1:]))
        if not isinstance(given, str):
            return np.full(shape, float(given))
        return -columns[given[1:]] if given[0] == "-" else columns[given]

    found = {"world": (np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3)))}
    for name, frame in frames.items():
        R, at = found[frame.parent]
        for kind, *given in frame.steps:
            if kind == "turn":
                R = R @ _turned(given[0], value(given[1]))
                continue
            x = np.stack([value(c) for c in given[0]], -1)
            if kind == "move":
                at = at + np.einsum("...ij,...j->...i", R, x)
            elif kind == "stretch":
                R = R * x[..., None, :]
            else:
                R = R @ SO3.matrix(x / np.linalg.norm(x, axis=-1, keepdims=True))
        found[name] = R, at
    return found


# ---------------------------------------------------------------------------- bodies


class Track(NamedTuple):
    """A point of a frame that leaves a line behind; the first track of a body counts most."""

    frame: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Roll(NamedTuple):
    """A column: the angle by which a wheel has rolled since the first time.  Its middle is a point
    of a frame, it rolls along x of this frame, and the angle is its way over its radius."""

    column: str
    frame: str
    point: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class Floor:
    """The ground: "tiles", "ice", "snow", or "none"; its height, and its slope down along x."""

    kind: str = "tiles"
    height: float = 0.0
    slope: float = 0.0

    def axes(self) -> np.ndarray:
        """Rows: a point of the floor, and its directions x and y."""
        c, s = np.cos(self.slope), np.sin(self.slope)
        return np.array([[0, 0, self.height], [c, 0, -s], [0, 1, 0]])


@dataclass(frozen=True)
class Model:
    """A body for the stage.

    parts : (name of a frame, shape) of what moves with the run
    scenery : the same for what stands in the room and is drawn once, however many runs there are
    whole : the scenery belongs to the motion, as the wire of a bead: the camera shows all of it
    columns : (q of shape (N, n), t of shape (N,)) -> arrays by name, beside the coordinates and
        the time ``t``; a body that has such a function can be moved by Python only
    rolls : columns of wheels, which follow from how their frames move
    focus : the point the camera follows; it moves with the horizontal place of a frame
    view : azimuth and elevation of the camera in radians
    near : how many times the body's own size the camera sees when it follows
    says : what there is to see, for those who do not see it
    """

    frames: dict[str, Frame]
    parts: Sequence[tuple[str, Shape]]
    tracks: Sequence[Track] = ()
    scenery: Sequence[tuple[str, Shape]] = ()
    columns: Callable[[np.ndarray, np.ndarray], Columns] | None = None
    focus: Track | None = None
    view: tuple[float, float] = (-0.95, 0.42)
    near: float = 1.7
    floor: Floor = field(default_factory=Floor)
    says: str = "A body moves"
    whole: bool = False
    rolls: Sequence[Roll] = ()

    def names(self) -> list[str]:
        """The columns that the frames use, without those of ``rolls``."""
        used = [x for f in self.frames.values() for _, *given in f.steps for x in _columns(given)]
        wheels = {roll.column for roll in self.rolls}
        return [x for x in dict.fromkeys(x.lstrip("-") for x in used) if x not in wheels]

    def rotations(self) -> list[list[str]]:
        """The columns that form quaternions."""
        steps = [step for frame in self.frames.values() for step in frame.steps]
        given = [s[1] for s in steps if s[0] == "quaternion"]
        found = [[x.lstrip("-") for x in q] for q in given if all(isinstance(x, str) for x in q)]
        return [names for k, names in enumerate(found) if names not in found[:k]]

    def rolled(self, columns: Columns) -> Columns:
        """The columns of ``rolls``, from all others."""
        if not self.rolls:
            return {}
        start = {roll.column: np.zeros_like(next(iter(columns.values()))) for roll in self.rolls}
        found, angles = poses(self.frames, columns | start), {}
        for column, frame, point, radius in self.rolls:
            R, at = found[frame]
            place, ahead = at + R @ np.array(point, float), R[:, :, 0]
            along = ahead[1:] + ahead[:-1]
            along /= np.linalg.norm(along, axis=1, keepdims=True)
            way = np.cumsum(np.sum(np.diff(place, axis=0) * along, 1))
            angles[column] = np.concatenate([[0], way]) / radius
        return angles

    def mesh(self, scenery: bool) -> tuple[Mesh, np.ndarray]:
        """The meshes of all parts in their frames, and for each face the number of its frame."""
        mesh, where, moving = self._mesh
        count = None if scenery else moving
        return Mesh(*(x[:count] for x in mesh)), where[:count]

    @functools.cached_property
    def _mesh(self) -> tuple[Mesh, np.ndarray, int]:
        chosen, order = [*self.parts, *self.scenery], ["world", *self.frames]
        made = [shapes.mesh(shape) for _, shape in chosen]
        counts = [len(m.points) for m in made]
        where = np.repeat([order.index(name) for name, _ in chosen], counts)
        moving = sum(counts[: len(self.parts)])
        return Mesh(*map(np.concatenate, zip(*made, strict=True))), where, moving


def _columns(values: list[Any]) -> list[str]:
    """The columns in the values of a step, also those inside of formulas."""
    found = []
    for x in values:
        if isinstance(x, list):
            formula = bool(x) and isinstance(x[0], str) and x[0] in OPERATIONS
            found += _columns(x[1:] if formula else x)
        elif isinstance(x, str):
            found.append(x)
    return found


# ---------------------------------------------------------------------------- actors


@dataclass(frozen=True)
class Actor:
    """A run that moves a body: its times, its columns, how it looks and what is read of it."""

    name: str
    model: Model
    t: np.ndarray
    columns: Columns
    colour: str
    ghost: bool = False
    dash: bool = False
    reading: tuple[np.ndarray, np.ndarray] | None = None  # times and values

    @property
    def paint(self) -> str:
        """The colour on the body: a line may be black, a body would be too heavy."""
        return SLATE if self.colour == "#000000" else self.colour

    def at(self, t: Any) -> Columns:
        """The columns at times between the samples: straight, and quaternions on the sphere."""
        t = np.clip(t, self.t[0], self.t[-1])
        k = np.clip(np.searchsorted(self.t, t, "right") - 1, 0, len(self.t) - 2)
        u = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        found = {name: (1 - u) * x[k] + u * x[k + 1] for name, x in self.columns.items()}
        for names in self.model.rotations():
            a, b = (np.stack([self.columns[n][i] for n in names], -1) for i in (k, k + 1))
            a, b = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))
            step = SO3.log(SO3.multiply(SO3.inverse(a), b))
            mixed = SO3.multiply(a, SO3.exp(np.asarray(u)[..., None] * step))
            found |= dict(zip(names, np.moveaxis(mixed, -1, 0), strict=True))
        return found

    def paths(self) -> list[np.ndarray]:
        """The tracks at all samples, (N, 3) each."""
        found = poses(self.model.frames, self.columns)
        return [
            found[x.frame][0] @ np.array(x.point) + found[x.frame][1] for x in self.model.tracks
        ]

    def centre(self, t: Any) -> np.ndarray:
        """The point the camera follows, (..., 3)."""
        focus = self.model.focus or (self.model.tracks[0] if self.model.tracks else Track("world"))
        R, at = poses(self.model.frames, self.at(t))[focus.frame]
        return R @ np.array(focus.point) + at

    def corners(self, t: float, every: int = 1, scenery: bool = False) -> np.ndarray:
        """Points of the mesh at a time, (k, 3)."""
        mesh, where = self.model.mesh(scenery)
        found = poses(self.model.frames, self.at(t))
        R, at = (np.array([pose[i] for pose in found.values()]) for i in (0, 1))
        points = np.einsum("mij,mvj->mvi", R[where], mesh.points) + at[where][:, None]
        return points.reshape(-1, 3)[::every]


def sample(sol: Trajectory) -> np.ndarray:
    """Times that describe a run: its nodes, as far as they are not too many, and times between
    those that are too far apart, without those at which the run is no longer finite."""
    t = sol.t[np.logical_and.accumulate(np.isfinite(sol.q).all(1))]
    every = max(1, int(np.ceil(len(t) / (MOST - SAMPLES))))
    nodes = np.unique([*t[::every], t[-1]])
    gaps = SAMPLES * np.diff(nodes) / ((t[-1] - t[0]) or 1)
    parts = np.maximum(1, np.ceil(gaps - 1e-9)).astype(int)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    share = (np.arange(parts.sum()) - first) / np.repeat(parts, parts)
    between_nodes = np.repeat(nodes[:-1], parts) + share * np.repeat(np.diff(nodes), parts)
    return np.append(between_nodes, nodes[-1])


def columns_of(sol: Trajectory, model: Model, t: np.ndarray) -> Columns:
    """The columns of a model along a run."""
    q = between(sol, t)
    end = ~np.isfinite(q).all(1)  # the last node before a run is no longer finite
    q[end] = sol.q[np.searchsorted(sol.t, t[end])]
    return columns_at(model, [str(s) for s in sol.system.q], q, t)


def columns_at(model: Model, names: Sequence[str], q: np.ndarray, t: np.ndarray) -> Columns:
    """The columns of a model at configurations q (N, n), whose coordinates have these names."""
    found = dict(zip(names, q.T, strict=True)) | {"t": t}
    if model.columns:
        found |= model.columns(q, t)
    missing = [name for name in model.names() if name not in found]
    if missing:
        raise ValueError(f"the body uses the columns {missing}; the run has {list(found)}")
    columns = {name: np.asarray(found[name], float) for name in model.names()}
    return columns | model.rolled(columns)


def actor(
    sol: Trajectory, model: Model, name: str, colour: str, reading: Any = None, **look: bool
) -> Actor:
    """The actor that follows a run."""
    t = sample(sol)
    columns = columns_of(sol, model, t) or {"t": t}
    return Actor(name, model, t, columns, colour, reading=reading, **look)


# ---------------------------------------------------------------------------- the scene


class View(NamedTuple):
    """A camera: the point it looks at, azimuth, elevation, distance."""

    focus: np.ndarray
    azimuth: float
    elevation: float
    distance: float

    def eye(self) -> np.ndarray:
        a, e = self.azimuth, self.elevation
        away = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return self.focus + self.distance * away

    def axes(self) -> np.ndarray:
        """Rows: right, up, and towards the eye."""
        back = (self.eye() - self.focus) / self.distance
        right = np.array([-np.sin(self.azimuth), np.cos(self.azimuth), 0])
        return np.array([right, np.cross(back, right), back])

    def fitted(self, points: np.ndarray, aspect: float, room: float = 1.12) -> View:
        """The camera in the same direction that sees all points."""
        focus, axes = (points.min(0) + points.max(0)) / 2, self.axes()
        for _ in range(6):
            x, y, z = ((points - focus) @ axes.T).T
            d = max(
                np.max(np.abs(x) / (TAN * aspect) * room + z), np.max(np.abs(y) / TAN * room + z)
            )
            depth = d - z
            shift = [(np.max(s / depth) + np.min(s / depth)) / 2 * d for s in (x, y)]
            focus = focus + shift[0] * axes[0] + shift[1] * axes[1]
        return self._replace(focus=focus, distance=float(d))


@dataclass(frozen=True)
class Scene:
    """Actors in panes side by side, the time they share and what is said about them.

    panes : for each pane the numbers of its actors, the one the camera follows last
    """

    actors: list[Actor]
    panes: list[list[int]]
    times: tuple[float, float]
    title: str = ""
    label: str = ""  # of the curves that run in step
    alt: str = ""
    aspect: float = 1.9  # of all panes together
    future: bool = False  # show the paths beforehand

    def main(self, pane: int) -> Actor:
        """The actor that the camera of a pane follows."""
        cast = [self.actors[k] for k in self.panes[pane]]
        return next((a for a in cast if not a.ghost), cast[0])

    @functools.cached_property
    def moment(self) -> float:
        """A telling time: that at which a run is farthest from its ghost, or towards the end."""
        begin, end = self.times
        t = np.linspace(begin, end, 60)[15:-1]
        apart = np.zeros(len(t))
        for pane in range(len(self.panes)):
            main = self.main(pane).centre(t)
            for k in self.panes[pane]:
                apart = np.maximum(apart, np.linalg.norm(self.actors[k].centre(t) - main, axis=-1))
        near = apart.max() < 0.05 * self.size(0)
        return float(t[int(0.68 * len(t))] if near else t[apart.argmax()])

    def size(self, pane: int) -> float:
        """How large the body of a pane is."""
        return self._sizes[pane]

    @functools.cached_property
    def _sizes(self) -> list[float]:
        mains = [self.main(k) for k in range(len(self.panes))]
        return [float(np.linalg.norm(np.ptp(a.corners(self.times[0]), 0))) for a in mains]

    def pane_aspect(self) -> float:
        return self.aspect / len(self.panes)

    def near(self, pane: int, t: float) -> View:
        """The camera that follows the body."""
        main = self.main(pane)
        view = View(np.zeros(3), *main.model.view, 1.0)
        fit = view.fitted(main.corners(t, 3), self.pane_aspect(), main.model.near)
        centre = main.centre(t)
        middle = np.array([*centre[:2], fit.focus[2]])
        return fit._replace(focus=middle)

    @functools.cached_property
    def reached(self) -> list[np.ndarray]:
        """For each pane points (k, 3) that its bodies and their tracks reach."""
        ends, found = np.linspace(*self.times, 5), []
        for a in self.actors:
            bodies = [a.corners(t, 7, a.model.whole) for t in ends]
            found.append(np.concatenate([*bodies, *a.paths()]))
        return [np.concatenate([found[k] for k in pane]) for pane in self.panes]

    def far(self, pane: int) -> View:
        """The camera that sees the whole motion; for like motions side by side the same."""
        return self._far[pane]

    @functools.cached_property
    def _far(self) -> list[View]:
        points, panes = self.reached, range(len(self.panes))
        reach = [np.ptp(x, 0).max() for x in points]
        alike = max(reach) <= 3 * min(reach) and len({a.model.says for a in self.actors}) == 1
        views = [View(np.zeros(3), *self.main(k).model.view, 1.0) for k in panes]
        if alike:
            return [views[0].fitted(np.concatenate(points), self.pane_aspect())] * len(panes)
        return [views[k].fitted(points[k], self.pane_aspect()) for k in panes]

    def follows(self, pane: int) -> bool:
        """Would the body be too small to be seen if the camera saw the whole motion?"""
        return self._zoom(pane) > FOLLOWED and not self.main(pane).model.whole

    def _zoom(self, pane: int) -> float:
        return self._zooms[pane]

    @functools.cached_property
    def _zooms(self) -> list[float]:
        panes = range(len(self.panes))
        return [self.far(k).distance / self.near(k, self.times[0]).distance for k in panes]

    def poster(self, pane: int, t: float) -> View:
        """The camera of the still: it sees the whole motion unless the body would be too small."""
        near, far = self.near(pane, t), self.far(pane)
        if self._zoom(pane) < CLOSE or self.main(pane).model.whole:
            return far
        d = CLOSE * near.distance
        away = far.focus - near.focus
        part = min(1.0, 0.2 * d / max(np.linalg.norm(away), 1e-9))
        return near._replace(distance=d, focus=near.focus + part * away * [1, 1, 0])

    def earlier(self, pane: int, t: float, most: int = 3) -> list[float]:
        """Times before t at which the body stood apart from its other places in the still."""
        main, apart = self.main(pane), self.size(pane)
        times = np.linspace(self.times[0], t, 160)
        places, found = main.centre(times), [len(times) - 1]
        for k in range(len(times) - 2, -1, -1):
            if all(np.linalg.norm(places[k] - places[j]) > apart for j in found):
                found.append(k)
        every = max(1, int(np.ceil((len(found) - 1) / most)))
        return [float(times[k]) for k in found[1:][::every][:most]]

    def cell(self, pane: int) -> float:
        """The side of a tile of the floor: 1, 2 or 5 times a power of ten, about the body's."""
        size = 0.6 * self.size(pane)
        if self.main(pane).model.whole:
            size = max(size, 0.08 * self.far(pane).distance)
        power = 10.0 ** np.floor(np.log10(size))
        return float(power * max(m for m in (1, 2, 5) if m * power <= size * 1.0001))


# ---------------------------------------------------------------------------- packing


class Packer:
    """Numbers for a page: whole multiples of a small step, of which second differences are kept,
    since those of a smooth motion are small and compress well."""

    def __init__(self):
        self.pieces: list[bytes] = []
        self.places: dict[bytes, int] = {}  # where numbers stand that more than one column has
        self.length = 0

    def put(self, values: np.ndarray, largest_step: float = 4e-7) -> list[Any]:
        """[offset, step, place in the data, count] of a column of numbers."""
        x = np.asarray(values, float)
        spread = max(float(np.ptp(x)), 1e-300)
        step = max(spread * 2.0**-30, min(spread * 2.0**-21, largest_step))
        whole = np.round((x - x[0]) / step).astype(np.int64)
        second = np.diff(np.diff(whole, prepend=0), prepend=0)
        data = (second & 0xFFFFFFFF).astype("<u4").view("u1").reshape(-1, 4).T.tobytes()
        place = self.places.setdefault(data, self.length)
        if place == self.length:
            self.pieces.append(data)
            self.length += len(data)
        return [float(x[0]), step, place, len(x)]

    def data(self) -> bytes:
        return b"".join(self.pieces)


def packed(scene: Scene) -> tuple[dict[str, Any], bytes]:
    """The scene as JSON and the numbers beside it."""
    packer, moment = Packer(), scene.moment
    models = [a.model for k, a in enumerate(scene.actors)]
    models = [m for k, m in enumerate(models) if all(m is not other for other in models[:k])]
    number = {id(m): k for k, m in enumerate(models)}
    actors = []
    for a in scene.actors:
        reading = a.reading and [packer.put(x) for x in _thinned(*a.reading)]
        given = [name for name in a.columns if name not in {x.column for x in a.model.rolls}]
        step = 1e-7 if a.model.rolls else 4e-7  # a fast wheel multiplies what its place is off
        columns = {name: packer.put(a.columns[name], step) for name in given}
        look = {"name": a.name, "colour": a.colour, "paint": a.paint}
        look |= {"ghost": a.ghost, "dash": a.dash}
        t = packer.put(a.t, largest_step=1e-9)  # its error, times its rate, turns a fast wheel
        run = {"model": number[id(a.model)], "t": t, "columns": columns}
        actors.append(look | run | {"reading": reading})
    head = {"version": VERSION, "title": scene.title, "label": scene.label, "alt": scene.alt}
    head |= {"times": [*scene.times], "moment": moment, "aspect": scene.aspect}
    head |= {"models": [_model(m) for m in models], "actors": actors, "future": scene.future}
    head["panes"] = [_pane(scene, k, moment) for k in range(len(scene.panes))]
    return head, packer.data()


def _model(model: Model) -> dict[str, Any]:
    order = ["world", *model.frames]
    frames = [[order.index(f.parent), f.steps] for f in model.frames.values()]
    parts, scenery = (
        [[order.index(name), shape] for name, shape in some]
        for some in (model.parts, model.scenery)
    )
    tracks = [[order.index(x.frame), [*map(float, x.point)]] for x in model.tracks]
    focus = model.focus or (model.tracks[0] if model.tracks else Track("world"))
    found = {"frames": frames, "parts": parts, "scenery": scenery, "tracks": tracks}
    found |= {"focus": [order.index(focus.frame), [*map(float, focus.point)]]}
    rolls = [[x.column, order.index(x.frame), x.point, x.radius] for x in model.rolls]
    return found | {"rotations": model.rotations(), "rolls": rolls, "whole": model.whole}


def _pane(scene: Scene, k: int, moment: float) -> dict[str, Any]:
    near, far, poster = scene.near(k, moment), scene.far(k), scene.poster(k, moment)
    floor = scene.main(k).model.floor
    numbers = lambda x: np.round(x, 6).tolist()  # noqa: E731
    found = {"actors": scene.panes[k], "size": scene.size(k), "cell": scene.cell(k)}
    found |= {"floor": floor.kind, "ground": numbers(floor.axes()), "view": [*near[1:3]]}
    found |= {
        "near": [float(near.focus[2]), near.distance],
        "far": [numbers(far.focus), far.distance],
    }
    found |= {"poster": [numbers(poster.focus), poster.distance]}
    return found | {"follow": scene.follows(k), "earlier": scene.earlier(k, moment)}


def _thinned(t: np.ndarray, y: np.ndarray, most: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """The curve with at most so many points, of each stretch the lowest and the highest."""
    fine = np.isfinite(y)
    t, y = t[fine], y[fine]
    if len(t) <= most:
        return t, y
    pieces = np.array_split(np.arange(len(t)), most // 2)
    keep = {k for p in pieces for k in (p[y[p].argmin()], p[y[p].argmax()])} | {0, len(t) - 1}
    keep = np.array(sorted(keep))
    return t[keep], y[keep]


def as_json(head: dict[str, Any]) -> str:
    """Without what could end a script of a page."""
    return json.dumps(head, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


__all__ = [
    *("Actor", "Floor", "Frame", "Model", "Scene", "Track", "View", "actor", "as_json", "move"),
    *("Roll", "packed", "poses", "quaternion", "stretch", "turn"),
]
