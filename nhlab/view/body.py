"""What a body is: outlines that follow q, in the plane or in space, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.groupsystem import GroupSystem

if TYPE_CHECKING:
    from ..mechanics.system import System

OUTLINES = "outlines, a list of arrays of points, (k, 2) each or (k, 3) each"


# ---------------------------------------------------------------------------- the stock of shapes


def circle(count: int = 40) -> np.ndarray:
    """Points (count, 2) once round the unit circle; the last is the first.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.circle(5).round(9).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0], [1.0, -0.0]]
    """
    a = np.linspace(0, 2 * np.pi, count)
    return np.stack([np.cos(a), np.sin(a)], -1)


def box(length: float, width: float) -> np.ndarray:
    """The outline of a box about the origin, (5, 2).

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.box(2, 1).tolist()
    [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5], [-1.0, -0.5]]
    """
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [length / 2, width / 2]


def bar(x: float, y: float) -> np.ndarray:
    """A line from (-x, -y) to (x, y).

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.bar(1, 0.5).tolist()
    [[-1.0, -0.5], [1.0, 0.5]]
    """
    return np.array([[-x, -y], [x, y]])


def ahead(at: ArrayLike, angle: ArrayLike, distance: ArrayLike) -> np.ndarray:
    """The point at a distance along a heading; arrays of them if given arrays.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> nh.bodies.ahead([1, 0], np.pi / 2, 2).round(9).tolist()
    [1.0, 2.0]
    """
    return np.asarray(at) + distance * np.stack([np.cos(angle), np.sin(angle)], -1)


def place(points: ArrayLike, angle: float, at: ArrayLike) -> np.ndarray:
    """Points turned by an angle and moved to ``at``.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> nh.bodies.place([[1, 0], [2, 0]], np.pi / 2, [0, 1]).round(9).tolist()
    [[0.0, 2.0], [0.0, 3.0]]
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points) @ [[c, s], [-s, c]] + np.asarray(at)


def axle(at: ArrayLike, angle: float, width: float = 0.5) -> np.ndarray:
    """Two wheels and the axle between them, as one curve with gaps.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.axle([0, 0], 0).shape
    (15, 2)
    """
    wheel, side = box(0.26, 0.09), np.array([0, width / 2])
    return place(joined([wheel + side, wheel - side, [-side, side]]), angle, at)


def joined(parts: Sequence[ArrayLike]) -> np.ndarray:
    """Polylines, (k, d) each, as one curve with gaps between them.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.joined([[[0, 0], [1, 0]], [[0, 1], [1, 1]]]).tolist()
    [[0.0, 0.0], [1.0, 0.0], [nan, nan], [0.0, 1.0], [1.0, 1.0], [nan, nan]]
    """
    gap = np.full((1, np.shape(parts[0])[-1]), np.nan)
    return np.vstack([x for part in parts for x in (part, gap)])


def camera(toward: ArrayLike) -> np.ndarray:
    """Rows: right, up and towards the eye, for an eye in the given direction.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.bodies.camera([1, 0, 0]).round(9).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    eye = np.array(toward, float) / np.linalg.norm(toward)
    right = np.cross([0, 0, 1], eye)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(eye, right), eye])


# ---------------------------------------------------------------------------- bodies


class Body:
    """Outlines that follow q: a subclass states ``parts(q)``, and more if it likes.

    parts(q) : arrays of points, (k, 2) each, or (k, 3) each in space
    tracks(q) : the points that leave a trace, arrays (..., 2) or (..., 3) for q of shape (..., n);
        by default (x, y), or (x, y, z) in space, or else the middle of the first part
    fixed : outlines that do not move
    upright : does the plane of the outlines stand, y pointing up?
    """

    fixed: Sequence[ArrayLike] = ()
    upright: bool = False
    system: System
    value: dict[str, float]  # of the parameters, by name

    def __init__(self, system: System) -> None:
        self.system = system
        self.value = {s.name: x for s, x in system.parameters.items()}

    def parts(self, q: np.ndarray) -> Sequence[ArrayLike]:
        raise NotImplementedError

    def tracks(self, q: np.ndarray) -> list[np.ndarray]:
        first = read_outlines(self.parts(q[(0,) * (q.ndim - 1)]))[0]
        names = [str(s) for s in self.system.q]
        if not {"x", "y"} <= {*names}:
            rows = q.reshape(-1, q.shape[-1])
            middle = [np.nanmean(read_outlines(self.parts(row))[0], 0) for row in rows]
            return [np.reshape(middle, (*q.shape[:-1], first.shape[1]))]
        zero = np.zeros(q.shape[:-1])
        columns = [q[..., names.index(s)] if s in names else zero for s in "xyz"]
        return [np.stack(columns[: first.shape[1]], -1)]


class OwnBody(Body):
    """A body drawn by a reader's function of q."""

    def __init__(self, system, parts):
        super().__init__(system)
        self.parts, self.upright = parts, getattr(parts, "upright", False)


def read_outlines(parts):
    """The outlines as arrays, refused if they are something else."""
    try:
        arrays = [np.asarray(part, float) for part in parts]
    except (TypeError, ValueError):
        raise ValueError(f"parts(q) gave {parts!r}; it must return {OUTLINES}") from None
    shapes = [part.shape for part in arrays]
    same = len({shape[1:] for shape in shapes}) == 1
    if not same or len(shapes[0]) != 2 or shapes[0][1] not in (2, 3):
        raise ValueError(f"parts(q) gave arrays of the shapes {shapes}; it must return {OUTLINES}")
    return arrays


def between(sol, t):
    """q of a trajectory at times t, (..., n): straight between the nodes, and on a group along the
    curves g exp(s xi), which do not leave it."""
    nodes, t = sol.t, np.clip(t, sol.t[0], sol.t[-1])
    k = np.clip(np.searchsorted(nodes, t, "right") - 1, 0, len(nodes) - 2)
    part = ((t - nodes[k]) / (nodes[k + 1] - nodes[k]))[..., None]
    a, b = sol.q[k], sol.q[k + 1]
    straight = a + part * (b - a)
    if not isinstance(sol.system, GroupSystem):
        return straight
    G, r = sol.system.group, sol.system.k
    a, b = unit(G, a[..., r:]), unit(G, b[..., r:])
    turn = G.exp(part * G.log(G.multiply(G.inverse(a), b)))
    return np.concatenate([straight[..., :r], G.multiply(a, turn)], -1)


def unit(group, g):
    """g on the group: classical methods let a quaternion lose its length."""
    return g / np.linalg.norm(g, axis=-1, keepdims=True) if group.name == "SO3" else g
