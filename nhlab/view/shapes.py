"""Shapes: parts of bodies as data, so small that a page can carry them, and their meshes.

A shape is a dictionary of numbers that names its generator: ``lathe`` turns a profile about an
axis, ``prism`` gives an outline a thickness, ``sweep`` leads a disc along a curve.  The player
makes the same meshes in JavaScript (``player.js``); a test compares the two.

Ready parts for a body of your own: ``wheel``, ``blade``, ``box``, ``rod``, ``ball``.

Examples
--------
>>> import nhlab as nh
>>> tyre, rim, *rest = nh.shapes.wheel(radius=0.3)
>>> tyre["kind"], nh.shapes.mesh(tyre).points.shape
('lathe', (252, 4, 3))
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

import numpy as np

Shape = dict[str, Any]

# Colours of materials.  "actor" stands for the colour of the method whose run is shown.
ACTOR = "actor"
DARK, STEEL, IRON, RUBBER, WOOD = "#2E3440", "#C3C9D1", "#8A9099", "#25272B", "#D9A066"
CREAM, AMBER, WHITE = "#EFE9DC", "#F2A33A", "#F7F7F5"
CREASE = np.cos(np.radians(40))  # a sharper bend of a profile is shown as an edge


class Mesh(NamedTuple):
    """Corners of quadrilaterals, (m, 4, 3), their normals, and a colour for each quadrilateral.

    A triangle is a quadrilateral whose last two corners are the same point.
    """

    points: np.ndarray
    normals: np.ndarray
    colours: np.ndarray  # (m, 3) in 0 .. 255
    own: np.ndarray  # (m,) whether the colour is that of the actor
    gloss: np.ndarray  # (m,) in 0 .. 1


# ---------------------------------------------------------------------------- shapes as data


def _numbers(values: Any) -> Any:
    """Numbers as JSON has them, with as many digits as a drawing needs."""
    return np.round(np.asarray(values, float), 7).tolist()


def _paint(colour: str, second: str | None, gloss: float) -> Shape:
    return {"colour": colour, "gloss": gloss} | ({"second": second} if second else {})


def lathe(
    profile: Any,
    n: int = 32,
    at: Any = (0, 0, 0),
    axis: Any = (0, 0, 1),
    *,
    colour: str = IRON,
    second: str | None = None,
    sectors: int = 0,
    bands: int = 0,
    scale: Any = (1, 1, 1),
    gloss: float = 0.3,
) -> Shape:
    """A profile of points (r, z) turned about an axis in n steps.

    second, sectors, bands : a second colour in so many sectors round the axis, and in so many
        bands along the profile; with both, a chequered pattern
    scale : stretches the result along the axes of the lathe, for ellipsoids

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.lathe([[0, 0], [1, 0], [1, 2], [0, 2]])
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-1.0, -1.0, 0.0], [1.0, 1.0, 2.0])
    """
    shape = {"kind": "lathe", "profile": _numbers(profile), "n": int(n), "at": _numbers(at)}
    shape |= {"axis": _numbers(axis), "scale": _numbers(scale)}
    return shape | {"sectors": sectors, "bands": bands} | _paint(colour, second, gloss)


def prism(
    outline: Any,
    low: float,
    high: float,
    bevel: float = 0.0,
    at: Any = (0, 0, 0),
    axis: Any = (0, 0, 1),
    *,
    colour: str = IRON,
    top: str | None = None,
    gloss: float = 0.3,
) -> Shape:
    """A closed outline of points (x, y), not convex if need be, between two heights.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.prism([[0, 0], [2, 0], [0, 1]], low=0, high=0.5)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([0.0, 0.0, 0.0], [2.0, 1.0, 0.5])
    """
    points = np.asarray(outline, float)
    if np.allclose(points[0], points[-1]):
        points = points[:-1]
    if len(points) < 3:
        raise ValueError(f"outline = {np.shape(outline)} points; an area needs at least 3")
    x, y = points.T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0:
        points = points[::-1]  # counter-clockwise, so that the normals point outwards
    shape = {"kind": "prism", "outline": _numbers(points), "low": low, "high": high}
    shape |= {"bevel": bevel, "at": _numbers(at), "axis": _numbers(axis), "caps": ears(points)}
    return shape | _paint(colour, top, gloss)


def sweep(
    points: Any,
    radius: float,
    n: int = 8,
    *,
    closed: bool = False,
    colour: str = STEEL,
    gloss: float = 0.5,
) -> Shape:
    """A tube along a curve of points (k, 3); ``closed`` joins its end with its beginning.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.sweep([[0, 0, 0], [1, 0, 0], [1, 1, 0]], radius=0.1)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([0.0, -0.1, -0.1], [1.1, 1.0, 0.1])
    """
    shape = {"kind": "sweep", "points": _numbers(points), "radius": radius, "n": int(n)}
    return shape | {"closed": bool(closed)} | _paint(colour, None, gloss)


def tube(a: Any, b: Any, r: float, n: int = 12, r2: float | None = None, **paint: Any) -> Shape:
    """A cylinder from a to b, or a cone if the radius r2 at b is another.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.tube([0, 0, 0], [0, 0, 2], r=0.5)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-0.5, -0.5, 0.0], [0.5, 0.5, 2.0])
    """
    length = float(np.linalg.norm(np.subtract(b, a)))
    profile = [[0, 0], [r, 0], [r if r2 is None else r2, length], [0, length]]
    return lathe(profile, n, a, np.subtract(b, a), **paint)


def capsule(a: Any, b: Any, r: float, n: int = 14, r2: float | None = None, **paint: Any) -> Shape:
    """A cylinder from a to b with round ends.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.capsule([0, 0, 0], [0, 0, 2], r=0.5)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-0.5, -0.49, -0.5], [0.5, 0.49, 2.5])
    """
    length, end = float(np.linalg.norm(np.subtract(b, a))), r if r2 is None else r2
    u = np.linspace(0, np.pi / 2, 5)
    first = np.column_stack([r * np.sin(u), -r * np.cos(u)])
    last = np.column_stack([end * np.cos(u), length + end * np.sin(u)])
    return lathe([*first, *last], n, a, np.subtract(b, a), **paint)


def ball(at: Any, r: float, n: int = 24, **paint: Any) -> Shape:
    """A ball; ``second``, ``sectors`` and ``bands`` give it a pattern that shows its spin.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.ball([0, 0, 1], 1)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-1.0, -1.0, 0.0], [1.0, 1.0, 2.0])
    """
    u = np.linspace(0, np.pi, n // 2 + 1)
    return lathe(np.column_stack([r * np.sin(u), -r * np.cos(u)]), n, at, **paint)


def torus(big: float, small: float, n: int = 40, m: int = 10, **paint: Any) -> Shape:
    """A ring whose middle line has the radius ``big``.

    Examples
    --------
    >>> import nhlab as nh
    >>> solid = nh.shapes.torus(2, 0.5)
    >>> points = nh.shapes.mesh(solid).points
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-2.5, -2.5, -0.48], [2.5, 2.5, 0.48])
    """
    u = np.linspace(0, 2 * np.pi, m + 1)
    return lathe(np.column_stack([big + small * np.cos(u), small * np.sin(u)]), n, **paint)


# ---------------------------------------------------------------------------- ready parts


def box(lx: float, ly: float, lz: float, at: Any = (0, 0, 0), **options: Any) -> list[Shape]:
    """A box about ``at`` with edges that are a little rounded.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> parts = nh.shapes.box(2, 1, 0.5)
    >>> points = np.concatenate([nh.shapes.mesh(x).points for x in parts])
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-1.0, -0.5, -0.25], [1.0, 0.5, 0.25])
    """
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [lx / 2, ly / 2]
    options = {"bevel": 0.06 * min(lx, ly, lz)} | options
    return [prism(corners, -lz / 2, lz / 2, at=at, **options)]


def rod(a: Any, b: Any, radius: float, **paint: Any) -> list[Shape]:
    """A rod with round ends between two points.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> parts = nh.shapes.rod([0, 0, 0], [3, 0, 0], radius=0.1)
    >>> points = np.concatenate([nh.shapes.mesh(x).points for x in parts])
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-0.1, -0.1, -0.1], [3.1, 0.1, 0.1])
    """
    return [capsule(a, b, radius, **{"colour": STEEL, "gloss": 0.8} | paint)]


def wheel(
    radius: float,
    width: float | None = None,
    at: Any = (0, 0, 0),
    *,
    colour: str = RUBBER,
    spokes: int = 5,
) -> list[Shape]:
    """A wheel whose axle lies along y: tyre, rim, spokes, and a bright mark that shows it turn.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> parts = nh.shapes.wheel(0.5, 0.2)
    >>> points = np.concatenate([nh.shapes.mesh(x).points for x in parts])
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-0.5, -0.13, -0.5], [0.5, 0.13, 0.5])
    """
    w, y, at = 0.3 * radius if width is None else width, (0, 1, 0), np.asarray(at, float)
    inner, r = 0.74 * radius, radius
    bulge = [(inner, -0.5), (0.9 * r, -0.5), (0.985 * r, -0.36), (r, -0.12)]
    tyre = [[x, z * w] for x, z in [*bulge, *((x, -z) for x, z in bulge[::-1])]]
    rim = [[0.66 * r, -0.4 * w], [inner, -0.44 * w], [inner, 0.44 * w], [0.66 * r, 0.4 * w]]
    parts = [lathe(tyre, 36, at, y, colour=colour, gloss=0.1)]
    parts += [lathe([*rim, rim[0]], 36, at, y, colour=STEEL, gloss=0.85)]
    hub = [[0, -0.5 * w], [0.15 * r, -0.5 * w], [0.17 * r, 0], [0.15 * r, 0.5 * w], [0, 0.5 * w]]
    parts += [lathe(hub, 20, at, y, colour=STEEL, gloss=0.85)]
    for k in range(spokes):
        a = 2 * np.pi * k / spokes
        out = np.array([np.sin(a), 0, np.cos(a)])
        paint = {"colour": IRON if k else AMBER, "gloss": 0.6}
        parts += [tube(at + 0.1 * r * out, at + 0.7 * r * out, 0.075 * r, 8, 0.05 * r, **paint)]
    for side in (-1, 1):
        mark = at + [0, side * 0.42 * w, 0.86 * r]
        parts += [ball(mark, 0.1 * r, 10, colour=AMBER, gloss=0.3)]
    return parts


def blade(length: float, height: float, at: Any = (0, 0, 0), **paint: Any) -> list[Shape]:
    """A runner of steel along x, its edge on the ground below ``at``, curved up in front.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> parts = nh.shapes.blade(1, 0.2)
    >>> points = np.concatenate([nh.shapes.mesh(x).points for x in parts])
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([-0.5, -0.02, 0.0], [0.5, 0.02, 0.2])
    """
    u = np.linspace(0, np.pi / 2, 7)
    nose = [(length * (0.38 + 0.12 * np.sin(a)), height * (1 - np.cos(a)) * 0.8) for a in u]
    side = [(-0.46 * length, 0), *nose, (0.44 * length, height), (-0.5 * length, height)]
    side = np.array([*side, (-0.5 * length, 0.2 * height)])
    thick = 0.035 * length
    paint = {"colour": STEEL, "gloss": 0.95} | paint
    # ``axis`` (0, -1, 0) turns the outline up: its x is x and its y is z
    return [prism(side, -thick / 2, thick / 2, 0.2 * thick, at, (0, -1, 0), **paint)]


def extruded(outline: Any, thick: float, height: float = 0.0, **paint: Any) -> list[Shape]:
    """An outline of the plane as a solid: an area with a thickness, or a line as a rod.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> parts = nh.shapes.extruded([[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]], thick=0.2)
    >>> points = np.concatenate([nh.shapes.mesh(x).points for x in parts])
    >>> points.min((0, 1)).round(2).tolist(), points.max((0, 1)).round(2).tolist()
    ([0.0, 0.0, 0.0], [2.0, 1.0, 0.2])
    """
    points = np.asarray(outline, float)
    points = points[np.isfinite(points).all(1)]
    paint = {"colour": ACTOR, "gloss": 0.4} | paint
    closed = len(points) > 3 and np.allclose(points[0], points[-1])
    if closed and points.shape[1] == 2 and len({*map(tuple, np.round(points, 9))}) > 2:
        bevel = min(0.15 * thick, 0.02 * np.ptp(points, 0).max())
        return [prism(points, height, height + thick, bevel, **paint)]
    if points.shape[1] == 2:
        points = np.column_stack([points, np.full(len(points), height + thick / 2)])
    keep = np.r_[True, np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9]
    points = points[keep[: len(points)]]
    if len(points) == 1:
        return [ball(points[0], thick, 12, **paint)]
    if len(points) > 3 and closed:
        return [sweep(points[:-1], thick / 2, closed=True, **paint)]
    return [sweep(points, thick / 2, **paint)]


# ---------------------------------------------------------------------------- meshes


def basis(axis: Any) -> np.ndarray:
    """Rows x, y, z of a right-handed frame whose z lies along ``axis``; x stays x if it can.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.shapes.basis([0, 0, 2]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    z = np.array(axis, float) / np.linalg.norm(axis)
    start = np.array([1.0, 0, 0]) if abs(z[0]) < 0.9 else np.array([0, 1.0, 0])
    x = start - z * (start @ z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def rgb(colour: str) -> np.ndarray:
    """A colour "#RRGGBB" as three numbers 0 .. 255; that of the actor is grey here.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.shapes.rgb("#FF8000").tolist()
    [255, 128, 0]
    """
    return np.array(
        [int(colour[i : i + 2], 16) for i in (1, 3, 5)] if colour != ACTOR else [128] * 3
    )


def _lathe(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, normals, and which quadrilaterals have the second colour."""
    p, n = np.array(shape["profile"]), shape["n"]
    d = np.diff(p, axis=0)
    normal = _unit(np.stack([d[:, 1], -d[:, 0]], -1))
    ends = np.stack([normal, normal], 1)  # at both ends of each segment of the profile
    k, closed = len(d), np.allclose(p[0], p[-1])
    for i in range(k):
        for side, j in ((0, i - 1), (1, i + 1)):
            if (0 <= j < k or closed) and normal[j % k] @ normal[i] > CREASE:
                ends[i, side] = _unit(normal[j % k] + normal[i])
    a = 2 * np.pi * np.arange(n + 1) / n
    ring = np.stack([np.cos(a), np.sin(a)], -1)
    corners, normals = np.empty((2, k, n, 4, 3))
    for v, (side, turn) in enumerate(((0, 0), (0, 1), (1, 1), (1, 0))):
        c = ring[turn : n + turn]
        corners[:, :, v, :2] = p[side : k + side, None, :1] * c
        corners[:, :, v, 2] = p[side : k + side, None, 1]
        normals[:, :, v, :2] = ends[:, side, None, :1] * c
        normals[:, :, v, 2] = ends[:, side, None, 1]
    scale, B = np.array(shape["scale"]), basis(shape["axis"])
    row, column = np.arange(k)[:, None], np.arange(n)
    sectors, bands = shape["sectors"], shape["bands"]
    other = (2 * sectors * column // n + (bands * row // k)) % 2 == 1
    points = corners * scale @ B + shape["at"]
    return points.reshape(-1, 4, 3), _unit(normals / scale).reshape(-1, 4, 3) @ B, other.ravel()


def _prism(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    o, bevel, low, high = (
        np.array(shape["outline"]), shape["bevel"], shape["low"], shape["high"]
    )  # fmt: skip
    m, after = len(o), np.roll(np.arange(len(o)), -1)
    edge = _unit(o[after] - o)
    side = np.stack([edge[:, 1], -edge[:, 0]], -1)  # of each edge, outwards
    before = np.roll(side, 1, 0)
    mean = _unit(side + before)
    inset = o - bevel * mean / np.maximum(np.sum(mean * side, -1, keepdims=True), 0.3)
    smooth = np.sum(side * before, -1) > CREASE
    first = np.where(smooth[:, None], mean, side)  # normals at the two ends of each edge
    last = np.where(smooth[after][:, None], mean[after], side)
    rings = [(inset, low), (o, low + bevel), (o, high - bevel), (inset, high)]
    points, normals, other = [], [], []
    for k, slant in ((0, -1.0), (1, 0.0), (2, 1.0)) if bevel else ((1, 0.0),):
        (a, za), (b, zb) = rings[k], rings[k + 1]
        corners = [(a, za), (a[after], za), (b[after], zb), (b, zb)]
        points += [np.stack([np.column_stack([x, np.full(m, z)]) for x, z in corners], 1)]
        sloped = [_unit(np.column_stack([x, np.full(m, slant)])) for x in (first, last)]
        normals += [np.stack([sloped[0], sloped[1], sloped[1], sloped[0]], 1)]
        other += [np.zeros(m, bool)]
    caps = np.array(shape["caps"]).reshape(-1, 3)[:, [0, 1, 2, 2]]
    for (ring, z), up in ((rings[0], -1.0), (rings[3], 1.0)):
        points += [np.column_stack([ring, np.full(m, z)])[caps]]
        normals += [np.broadcast_to([0, 0, up], points[-1].shape)]
        other += [np.full(len(caps), up > 0)]
    B = basis(shape["axis"])
    return (
        np.concatenate(points) @ B + shape["at"],
        np.concatenate(normals) @ B,
        np.concatenate(other),
    )


def _sweep(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p, n, r, closed = np.array(shape["points"]), shape["n"], shape["radius"], shape["closed"]
    count = len(p)
    if closed:
        p = np.vstack([p, p[:1]])
    steps = _unit(np.diff(p, axis=0))
    before, behind = (steps[-1:], steps[:1]) if closed else (steps[:1], steps[-1:])
    tangents = _unit(np.vstack([before, steps]) + np.vstack([steps, behind]))
    x = basis(tangents[0])[0]
    rings, a = [], 2 * np.pi * np.arange(n + 1) / n
    for t in tangents:  # the frame is carried along without turning about the curve
        x = _unit(x - t * (x @ t))
        y = np.cross(t, x)
        rings.append(np.cos(a)[:, None] * x + np.sin(a)[:, None] * y)
    rings, places = np.array(rings), p[:, None] + r * np.array(rings)
    quads = lambda v: np.stack([v[:-1, :-1], v[:-1, 1:], v[1:, 1:], v[1:, :-1]], 2)  # noqa: E731
    points, normals = [quads(places).reshape(-1, 4, 3)], [quads(rings).reshape(-1, 4, 3)]
    for end, t in () if closed else ((0, -tangents[0]), (count - 1, tangents[-1])):
        middle = np.broadcast_to(p[end], (n, 3))
        corners = [middle, places[end, :-1], places[end, 1:], places[end, 1:]]
        points += [np.stack(corners, 1)]
        normals += [np.broadcast_to(t, (n, 4, 3))]
    points = np.concatenate(points)
    return points, np.concatenate(normals), np.zeros(len(points), bool)


MAKERS = {"lathe": _lathe, "prism": _prism, "sweep": _sweep}


def mesh(shape: Shape) -> Mesh:
    """The mesh of one shape, in the frame of its part; those of the last shapes are kept, since a
    panel shows the same body again and again.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.shapes.mesh(nh.shapes.tube([0, 0, 0], [0, 0, 1], r=0.5, n=6)).points.shape
    (18, 4, 3)
    """
    return _mesh_of_text(json.dumps(shape))


@functools.lru_cache(1000)
def _mesh_of_text(text: str) -> Mesh:
    shape = json.loads(text)
    points, normals, other = MAKERS[shape["kind"]](shape)
    names = [shape["colour"], shape.get("second", shape["colour"])]
    colours = np.array([rgb(name) for name in names])[other.astype(int)]
    own = np.array([name == ACTOR for name in names])[other.astype(int)]
    return Mesh(points, normals, colours, own, np.full(len(points), shape["gloss"]))


def ears(outline: np.ndarray) -> list[int]:
    """The triangles of a simple polygon, counter-clockwise, as a flat list of corners.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> nh.shapes.ears(np.array([[0, 0], [1, 0], [1, 1], [0, 1]]))
    [3, 0, 1, 1, 2, 3]
    """
    left, found = list(range(len(outline))), []

    def area(a, b, c):
        (ax, ay), (bx, by), (cx, cy) = outline[[a, b, c]]
        return (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)

    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = (d for d in left if d not in (a, b, c))
            if area(a, b, c) > 1e-14 and not any(
                min(area(a, b, d), area(b, c, d), area(c, a, d)) > 0 for d in others
            ):
                break
        else:
            k = 1  # an outline that crosses itself: any corner, so that the search ends
            a, b, c = left[0], left[1], left[2]
        found += [a, b, c]
        del left[k]
    return found + left
