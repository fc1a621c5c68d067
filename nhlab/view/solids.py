"""Bodies in space, seen by a fixed camera; a solid hides what lies behind it."""

import numpy as np

from ..mechanics.groups import SO3
from .body import Body, box, camera, circle, joined, unit


def lift(points, height=0.0):
    """Points of the plane, (k, 2), at a height in space."""
    return np.column_stack([points, np.full(len(points), height)])


def floor(q, z, room):
    """A grid under points (N, 2 or more), some room wider than they spread, as one curve."""
    low, high = np.nanmin(q[:, :2], 0) - room, np.nanmax(q[:, :2], 0) + room
    xs, ys = (np.linspace(a, b, 5) for a, b in zip(low, high, strict=True))
    lines = [[(x, low[1]), (x, high[1])] for x in xs] + [[(low[0], y), (high[0], y)] for y in ys]
    return lift(joined(lines), z)


class Particle(Body):
    """The particle, a disk in the plane D of its velocities, and its shadow on the floor."""

    eye = camera((-0.45, -0.75, 0.6))
    zooms, level = (0.0, np.inf), 0.0

    def parts(self, q):
        return self.visible(q, 0.0)

    def visible(self, q, t):
        *_, D = np.linalg.svd(self.system.A(q, t))
        rings = [q + r * self.zoom * circle() @ D[-2:] for r in (0.9, 1.8)]
        down = np.array([q, [*q[:2], self.level]])
        shadow = lift(0.1 * self.zoom * circle(13) + q[:2], self.level)
        return [*rings, self.dot(q), down, shadow]

    def dot(self, at):
        """A small circle that faces the eye."""
        return at + 0.14 * self.zoom * circle(13) @ self.eye[:2]

    def fit(self, sols):
        super().fit(sols)
        q = np.concatenate([sol.q for sol in sols])
        self.level = np.nanmin(q[:, 2]) - 1.8 * self.zoom
        self.fixed = [floor(q, self.level, 1.8 * self.zoom)]


class Quartic(Body):
    """Three beads (z_i, y_i) on one tray, which is at the height x."""

    letters = "$z_i$", "$y_i$", "$x$"
    tray = 1.0

    def beads(self, q):
        """The places of the beads, three arrays (..., 3)."""
        return [np.stack([q[..., 3 + i], q[..., i], q[..., 0]], -1) for i in (1, 2, 3)]

    def parts(self, q):
        beads = [at + 0.05 * self.tray * circle(13) @ self.eye[:2] for at in self.beads(q)]
        return [lift(box(2 * self.tray, 2 * self.tray), q[0]), *beads]

    def tracks(self, q):
        return self.beads(q)

    def fit(self, sols):
        q = np.concatenate([sol.q for sol in sols])
        self.tray = 1.05 * np.nanmax(np.abs(q[:, 1:]))


class SphericalPendulum(Body):
    """The rod and its bob, with the rim and the equator of the sphere."""

    def __init__(self, system):
        super().__init__(system)
        self.l = self.value.get("l", 1.0)
        ring = self.l * circle(81)
        self.fixed = [ring @ self.eye[:2], lift(ring), 0.03 * ring @ self.eye[:2]]

    def parts(self, q):
        return [np.array([(0, 0, 0), q]), q + 0.07 * self.l * circle() @ self.eye[:2]]


class Rolling(Body):
    """On a floor that is as large as its motion; it begins to show at ``room`` from the tracks."""

    room = 0.5

    def fit(self, sols):
        points = np.concatenate([x for sol in sols for x in self.tracks(sol.q)])
        self.fixed = [floor(points, 0.0, self.room)]


class Disk(Rolling):
    """A vertical disk with three spokes, one of them marked, which rolls on the floor."""

    def __init__(self, system):
        super().__init__(system)
        self.room = self.value.get("R", 1.0)

    def parts(self, q):
        q = dict(zip([str(s) for s in self.system.q], q, strict=True))
        R = self.room
        forward, up = np.array([np.cos(q["phi"]), np.sin(q["phi"]), 0]), np.array([0, 0, 1])
        c, s = np.cos(q["theta"]), np.sin(q["theta"])
        turned = np.array([c * forward - s * up, s * forward + c * up])  # forwards over the top
        spokes = joined([[(0, 0), R * tip] for tip in circle(4)[:3]])
        mark = 0.1 * R * circle(13) + [0.8 * R, 0]
        centre = np.array([q["x"], q["y"], R])
        return [centre + part @ turned for part in (R * circle(41), spokes, mark)]


class KnifeEdge(Body):
    """A skate on the inclined plane, x pointing downhill."""

    zooms = 0.0, np.inf
    eye = camera((0.5, -0.8, 0.45))

    def __init__(self, system):
        super().__init__(system)
        c, s = (f(self.value.get("slope", 0.0)) for f in (np.cos, np.sin))
        self.directions = np.array([[0, -c, -s], [1.0, 0, 0]])

    def parts(self, q):
        c, s = np.cos(q[2]), np.sin(q[2])
        shoe = box(0.6, 0.16) + [0.05, 0]
        blade = np.array([[-0.3, 0], [0.45, 0], [0.3, 0.08], [0.45, 0], [0.3, -0.08]])
        turn = np.array([[c, s], [-s, c]])
        return [(self.zoom * part @ turn + q[:2]) @ self.directions for part in (shoe, blade)]

    def tracks(self, q):
        return [q[..., :2] @ self.directions]

    def fit(self, sols):
        super().fit(sols)
        q = np.concatenate([sol.q for sol in sols])
        grid = floor(q, 0.0, 0.4 * self.zoom)[:, :2]
        self.fixed = [grid @ self.directions, *self.wedge(grid)]

    def wedge(self, grid):
        """What carries the plane: a triangle at either end and the line between their corners."""
        (top, left), (bottom, right) = np.nanmin(grid, 0), np.nanmax(grid, 0)
        ends = np.array([[(bottom, y), (top, y)] for y in (left, right)]) @ self.directions
        below = np.array([[*high[:2], low[2]] for low, high in ends])
        sides = [
            np.array([low, under, high]) for (low, high), under in zip(ends, below, strict=True)
        ]
        return [*sides, below]


class Solid(Body):
    """A body in space that turns; ``shapes`` are its outlines in its own frame.

    ``pose(q)`` gives R and the place, ``covers(points)`` says which points of its frame lie behind
    it: those from which the way to the eye leads through the solid.
    """

    letters = "$e_1$", "$e_2$", "$e_3$"

    def pose(self, q):
        return SO3.matrix(unit(SO3, np.asarray(q, float))), np.zeros(3)

    def parts(self, q):
        R, at = self.pose(q)
        return [shape @ R.T + at for shape in self.shapes]

    def visible(self, q, t):
        R, at = self.pose(q)
        eye = self.eye[2] @ R
        return [
            np.where(self.covers(shape, eye)[:, None], np.nan, part)
            for shape, part in zip(self.shapes, self.parts(q), strict=True)
        ]

    def tracks(self, q):
        """The tip of the marked axis."""
        return [self.pose(q)[0] @ self.tip]


class Ball(Solid):
    """A ball with three great circles, a wide cap about e3 and a narrow one about e2."""

    tip = np.array([0.0, 0, 1])
    radius = 1.0

    def __init__(self, system):
        super().__init__(system)
        self.radius = self.value.get("R", 1.0)
        rings = [np.roll(lift(circle(61)), k, 1) for k in range(3)]
        caps = [np.roll(lift(np.sin(a) * circle(25), np.cos(a)), k, 1) for a, k in CAPS]
        self.shapes = [self.radius * shape for shape in rings + caps]

    def covers(self, points, eye):
        along, room = points @ eye, (points**2).sum(-1) - self.radius**2
        return (along < 0) & (along**2 > room + 1e-9)

    def visible(self, q, t):
        rim = self.pose(q)[1] + self.radius * circle(81) @ self.eye[:2]
        return [*super().visible(q, t), rim]

    def tracks(self, q):
        (tip,) = super().tracks(q)
        return [np.where(self.covers(tip, self.eye[2])[..., None], np.nan, tip)]


CAPS = (0.35, 0), (0.15, 2)  # half width, and the axis: np.roll takes e3 to e2 by 2


class RubberBall(Ball):
    """The ball on its table; g is the inverse of its attitude."""

    letters = Body.letters

    def pose(self, q):
        return SO3.matrix(unit(SO3, q[2:])).T, np.array([*q[:2], self.radius])

    def tracks(self, q):
        return [np.concatenate([q[..., :2], np.zeros_like(q[..., :1])], -1)]

    def fit(self, sols):
        q = np.concatenate([sol.q for sol in sols])
        self.fixed = [floor(q, 0.0, self.radius)]


class Inertia(Solid):
    """The box that has the body's inertia, and one of the body's axes, e3, out of it."""

    axis = 2

    def __init__(self, system):
        super().__init__(system)
        I, axes = np.linalg.eigh(system.M(np.array(SO3.identity)))
        half = np.sqrt(np.maximum(I.sum() / 2 - I, 0.02 * I.sum()))  # of a box: I_1 ~ b^2 + c^2
        self.half, self.axes = half / np.linalg.norm(half), axes
        self.tip = 1.3 * np.eye(3)[self.axis]
        self.shapes = [self.half * EDGES @ axes.T, np.linspace(0, 1, 31)[:, None] * self.tip]

    def covers(self, points, eye):
        """Between which distances towards the eye is the way inside, for each pair of faces?"""
        p, e = points @ self.axes, eye @ self.axes
        e = np.where(np.abs(e) < 1e-12, 1e-12, e)
        ends = np.array([(-self.half - p) / e, (self.half - p) / e])
        enter, leave = ends.min(0).max(-1), ends.max(0).min(-1)
        return (enter < leave - 1e-9) & (leave > 1e-9)


class FreeBody(Inertia):
    """The same with the axis e2, next to which the catalogue's body starts and which turns over."""

    axis, eye = 1, camera((0.87, 0.5, 0.5))


CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
EDGES = joined(
    [(a, b) for a in CORNERS for b in CORNERS if np.sum(a != b) == 1 and a.sum() < b.sum()]
)
