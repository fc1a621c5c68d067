"""Particles, oscillators, pendula and planets; and a marker for systems without a body."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

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
    WOOD,
    Shape,
    ball,
    capsule,
    lathe,
    prism,
    sweep,
    torus,
    tube,
)
from ..stage import (
    OPERATIONS,
    Columns,
    Floor,
    Frame,
    Model,
    Track,
    Value,
    move,
    quaternion,
    stretch,
    turn,
)
from .catalogue import Parts, in_frame, known, value

Runs = Sequence[Trajectory]

RED, GREEN, BLUE = "#C8503C", "#3E8E5A", "#3C6DB4"  # of the axes 1, 2, 3
BRASS = "#D8A23B"
METAL = {"colour": STEEL, "gloss": 0.85}
PAINT = {"colour": ACTOR, "gloss": 0.6}


def fixed_tracks(*points: Sequence[float]) -> list[Track]:
    """Tracks of points that stay where they are: they leave no line, and the camera, which sees
    all tracks, keeps in view what stands there."""
    return [Track("world", tuple(map(float, point))) for point in points]


def finite_nodes(runs: Runs) -> np.ndarray:
    """All nodes of some runs at which q is finite, (N, n)."""
    return np.concatenate([run.q[np.isfinite(run.q).all(1)] for run in runs])


def extent(points: np.ndarray) -> float:
    """The longest side of the box about points (N, d); 1 if they do not move."""
    return float(np.ptp(points, 0).max()) or 1.0


def formula(expression: sp.Expr) -> Value:
    """A SymPy expression of coordinates, of ``t`` and of numbers as a formula of the stage."""
    if expression.is_number:
        return float(expression)
    if expression.is_Symbol:
        return expression.name
    name = FUNCTIONS.get(expression.func)
    if name is None:
        raise ValueError(f"{expression} has no formula on the stage; it knows {[*OPERATIONS]}")
    return [name, *map(formula, expression.args)]


FUNCTIONS = {sp.Add: "+", sp.Mul: "*", sp.Pow: "power", sp.sin: "sin", sp.cos: "cos", sp.exp: "exp"}


def turn_to(x: Value, y: Value, z: Value, up: float = 1.0) -> list:
    """The step of the shortest turn that takes (0, 0, up), where ``up`` is 1 or -1, to a direction;
    one that is opposite to it is reached by a half turn about x."""
    length = ["sqrt", ["+", *(["*", part, part] for part in (x, y, z))]]
    across = ["+", ["*", -up, y], ["*", 1e-12, length]]
    return quaternion(["+", length, ["*", up, z]], across, ["*", up, x], 0)


def plate(radius: float, thick: float, **options) -> Shape:
    """A round plate about the origin."""
    half = thick / 2
    return lathe([(0, -half), (radius, -half), (radius, half), (0, half)], **options)


def spring(radius: float, wire: float, coils: int = 7) -> list[Shape]:
    """A coil along x from 0 to 1, which a frame stretches to its length."""
    u = np.linspace(0.06, 0.94, 9 * coils + 1)
    a = 2 * np.pi * coils * (u - 0.06) / 0.88
    line = np.column_stack([u, radius * np.cos(a), radius * np.sin(a)])
    line = np.vstack([[0, 0, 0], [0.05, 0, 0], line, [0.95, 0, 0], [1, 0, 0]])
    return [sweep(line, wire, 6, colour=STEEL, gloss=0.8)]


# ---------------------------------------------------------------------------- particles


class Pointlike:
    """A bead at x, y, z on an upright pole, and the disc of the velocities that it may have.

    Lengths are fractions of the motion; ``level`` is the height of the floor, so low that the disc
    does not touch it, and ``top`` that of the end of the pole.
    """

    def __init__(self, system: System, runs: Runs):
        q = finite_nodes(runs)
        self.system, self.reach = system, extent(q)
        self.disc = 0.23 * self.reach
        self.level, self.top = q[:, 2].min() - 1.15 * self.disc, q[:, 2].max() + 0.6 * self.disc
        self.bound = len(system.A(q[0], 0.0)) == 1  # so that the velocities allowed form a plane

    def disc_turn(self) -> list:
        """The step that lays the disc across the row A(q, t)."""
        system = self.system
        (one_form,) = system.constraints
        row = [sp.diff(one_form, v).subs(system.numbers) for v in system.v]
        return turn_to(*map(formula, row))

    def frames(self) -> dict[str, Frame]:
        frames = {"foot": Frame("world", move("x", "y", float(self.level)))}
        frames |= {"ball": Frame("world", move("x", "y", "z"))}
        return frames | ({"D": Frame("ball", self.disc_turn())} if self.bound else {})

    def parts(self) -> Parts:
        r = 0.24 * self.disc
        foot = [(0, 0), (r, 0), (0.95 * r, 0.12 * r), (0.3 * r, 0.22 * r), (0, 0.22 * r)]
        parts = in_frame("foot", lathe(foot, 24, colour=DARK, gloss=0.4), self._pole())
        parts += in_frame("ball", ball((0, 0, 0), r, 24, colour=ACTOR, gloss=0.8))
        if not self.bound:
            return parts
        pale = {"colour": CREAM, "second": "#DED2B8", "sectors": 6, "gloss": 0.3}
        thick = 0.035 * self.disc
        parts += in_frame("D", plate(0.97 * self.disc, thick, n=48, **pale))
        parts += in_frame("D", torus(self.disc, 1.3 * thick, 48, 8, **PAINT))
        ring = torus(0.62 * self.disc, 0.7 * thick, 40, 6, colour=ACTOR, gloss=0.4)
        return parts + in_frame("D", ring)

    def _pole(self) -> Shape:
        """The pole, painted anew at every unit of height if these are not too many."""
        high, r = float(self.top - self.level), 0.05 * self.disc
        marks = np.arange(np.ceil(self.level + 1e-9), self.top)
        inner = marks - self.level if len(marks) < 15 else []
        heights = [0, *inner, high]
        profile = [(0, 0), *((r, z) for z in heights), (0, high)]
        paint = {"colour": "#B9BFC7", "second": AMBER, "bands": len(profile) - 1, "gloss": 0.5}
        return lathe(profile, 10, **paint)

    def model(self, says: str, **look) -> Model:
        look = {"view": (-1.68, 0.56), "near": 1.4, "says": says} | look
        look |= {"floor": Floor(height=float(self.level)), "focus": Track("ball")}
        tracks = [Track("ball"), Track("foot")]
        return Model(self.frames(), self.parts(), tracks, **look)


@known("particle", "free particle", "driven particle")
def particle(system: System, runs: Runs) -> Model:
    """The plane of the velocities that z' = y x' allows: the farther along y, the steeper."""
    says = "A ball on a pole carries a disc, the plane of the velocities that it may have"
    away = abs(float(finite_nodes(runs)[:, 1].mean())) > 2  # then the plane is always steep
    return Pointlike(system, runs).model(says, view=(-2.2, 0.45) if away else (-1.78, 0.56))


@known("contact oscillator", "non-reversible oscillator")
def contact_oscillator(system: System, runs: Runs) -> Model:
    """A particle with its disc, and a bead on a rail for each of its three oscillations."""
    base = Pointlike(system, runs)
    most = 1.12 * float(np.abs(finite_nodes(runs)).max())
    base.level, base.top = -most - 1.2 * base.disc, most
    says = "A bead on a pole carries the disc of its velocities; beads on rails show x, y and z"
    model = base.model(says, view=(-0.8, 0.34))
    corner = (most + base.disc) * np.array([-1, 1, 0])
    low, r = base.level + 0.08 * most, 0.07 * most
    beads, scenery = [], []
    for k, (name, colour) in enumerate(zip("xyz", (RED, GREEN, BLUE), strict=True)):
        way = np.eye(3)[k]
        at = (corner + [0, 0, low]) * (1 - way)
        place = [name if i == k else float(at[i]) for i in range(3)]
        model.frames[f"bead {name}"] = Frame("world", move(*place))
        beads += in_frame(f"bead {name}", ball((0, 0, 0), r, 20, colour=colour, gloss=0.8))
        ends = [at + side * most * way for side in (-1, 1)]
        scenery += in_frame("world", capsule(*ends, 0.25 * r, 10, **METAL))
        zero = plate(0.65 * r, 0.25 * r, n=16, at=at, axis=way, colour=DARK)
        posts = [tube([*end[:2], base.level], end, 0.25 * r, 10, **METAL) for end in ends]
        knobs = [ball(end, 0.55 * r, 12, colour=DARK, gloss=0.5) for end in ends]
        scenery += in_frame("world", zero, posts, knobs)
    tracks = [*model.tracks, *fixed_tracks((*corner[:2], most))]
    return replace(model, parts=[*model.parts, *beads], scenery=scenery, tracks=tracks)


# ---------------------------------------------------------------------------- three fields


@known("quartic")
def quartic(system: System, runs: Runs) -> Model:
    """A beam at the height x above three fields, on each of them a bead at (z_i, y_i)."""
    q = finite_nodes(runs)
    half, r = 1.15 * float(np.abs(q[:, 1:]).max()), 0.12 * float(np.abs(q[:, 1:]).max())
    wide, back = 2.3 * half, 1.25 * half
    lift = 3 * r - float(q[:, 0].min())  # the floor is that far below x = 0
    high = lift + float(q[:, 0].max()) + 3 * r
    frames = {"beam": Frame("world", move(0, back, lift), move(0, 0, "x"))}
    end, scenery, tracks = 1.5 * wide, [], []
    parts = in_frame("beam", tube((-end, 0, 0), (end, 0, 0), 0.5 * r, 14, **PAINT))
    for side in (-end, end):
        sleeve = tube((side, 0, -0.9 * r), (side, 0, 0.9 * r), 0.9 * r, 16, colour=BRASS, gloss=0.8)
        parts += in_frame("beam", sleeve)
        foot = [(0, 0), (2.2 * r, 0), (2.1 * r, 0.3 * r), (0.6 * r, 0.6 * r), (0, 0.6 * r)]
        post = tube((side, back, 0), (side, back, high), 0.4 * r, 12, **METAL)
        knob = ball((side, back, high), 0.7 * r, 14, colour=DARK, gloss=0.5)
        ring = torus(0.5 * r, 0.2 * r, 16, 6, at=(side, back, lift), colour=DARK)  # x = 0
        scenery += in_frame(
            "world", lathe(foot, 24, (side, back, 0), colour=DARK), post, knob, ring
        )
        tracks += fixed_tracks((side, back, high))
    for k, colour in ((1, RED), (2, GREEN), (3, BLUE)):
        x = (k - 2) * wide
        frames[f"bead {k}"] = Frame("world", move(x, 0, r), move(f"z{k}", f"y{k}", 0))
        bead = {"colour": colour, "second": WHITE, "bands": 5, "gloss": 0.7}
        parts += in_frame(f"bead {k}", ball((0, 0, 0), r, 20, **bead))
        scenery += in_frame("world", _field(x, half, 0.22 * r))
    tracks += fixed_tracks((-half - wide, -half, 0), (half + wide, -half, 0))
    tracks = [*(Track(f"bead {k}", (0, 0, -r)) for k in (1, 2, 3)), *tracks]
    says = "Three beads move on their fields, below a beam whose height is the seventh coordinate"
    look = {"view": (-1.571, 0.45), "near": 1.1, "says": says}
    return Model(frames, parts, tracks, scenery, **look)


def _field(x: float, half: float, thick: float) -> list[Shape]:
    """The frame of a square field and its cross of axes."""
    corners = half * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]) + [x, 0, thick]
    sides = zip(corners, np.roll(corners, 1, 0), strict=True)
    edges = [capsule(a, b, thick, 8, colour=WOOD) for a, b in sides]
    cross = [((x - half, 0), (x + half, 0)), ((x, -half), (x, half))]
    return [*edges, *(tube([*a, 0], [*b, 0], 0.3 * thick, 4, colour="#B9B5AA") for a, b in cross)]


# ---------------------------------------------------------------------------- pendula


def _base(l: float, at: Sequence[float]) -> list[Shape]:
    """A heavy round foot on the floor."""
    foot = [(0, 0), (0.26, 0), (0.27, 0.02), (0.25, 0.05), (0.08, 0.08), (0.05, 0.12), (0, 0.12)]
    return [lathe(l * np.array(foot), 36, (*at, 0), colour=DARK, gloss=0.4)]


@known("pendulum")
def pendulum(system: System, runs: Runs) -> Model:
    """A clock's pendulum on a stand; it swings in the plane of x and z, theta = 0 hangs down."""
    l = value(system, "l", 1.0)
    high, back = 1.32 * l, 0.24 * l
    frames = {
        "pivot": Frame("world", move(0, 0, high)),
        "pendulum": Frame("pivot", turn(1, "-theta")),
        "bob": Frame("pendulum", move(0, 0, -l)),
    }
    lens = [(0, -0.05), (0.09, -0.035), (0.125, -0.014), (0.125, 0.014), (0.09, 0.035), (0, 0.05)]
    rim = torus(0.125 * l, 0.016 * l, 40, 8, axis=(0, 1, 0), colour=BRASS, gloss=0.85)
    parts = in_frame("bob", lathe(l * np.array(lens), 36, axis=(0, 1, 0), **PAINT), rim)
    collar = plate(0.05 * l, 0.07 * l, n=24, axis=(0, 1, 0), colour=BRASS, gloss=0.85)
    rods = capsule((0, 0, 0), (0, 0, -0.89 * l), 0.014 * l, 12, **METAL)
    parts += in_frame("pendulum", rods, collar)
    axle = capsule((0, -0.05 * l, high), (0, back, high), 0.022 * l, 12, **METAL)
    column = tube((0, back, 0.1 * l), (0, back, high), 0.03 * l, 16, colour=IRON, gloss=0.6)
    head = ball((0, back, high), 0.055 * l, 18, colour=DARK, gloss=0.5)
    scenery = in_frame("world", _base(l, (0, back)), axle, column, head, _dial(l, high, back))
    says = "A pendulum on a stand swings"
    look = {"view": (-1.32, 0.16), "near": 2.2, "says": says, "whole": True}
    stand = fixed_tracks((0, back, 0.02 * l), (0, back, high))
    return Model(frames, parts, [Track("bob"), *stand], scenery, **look)


def _dial(l: float, high: float, back: float) -> list[Shape]:
    """A ring behind the pendulum with marks for every thirty degrees."""
    at, radius = np.array([0, 0.6 * back, high]), 0.62 * l
    shapes = [torus(radius, 0.008 * l, 64, 6, at=at, axis=(0, 1, 0), colour=IRON, gloss=0.4)]
    for k in range(12):
        a = np.pi * k / 6
        out, long = np.array([np.sin(a), 0, -np.cos(a)]), 0.05 if k % 3 else 0.09
        ends = at + (radius - long * l) * out, at + radius * out
        shapes += [tube(*ends, 0.009 * l, 6, colour=DARK if k % 3 else AMBER)]
    low = at - [0, 0, radius]
    return [*shapes, capsule(low, [0, back, low[2]], 0.01 * l, 8, colour=IRON)]


@known("spherical pendulum")
def spherical_pendulum(system: System, runs: Runs) -> Model:
    """A bob at q on a rod from a joint that lets it swing everywhere; the rings lie on the sphere
    |q| = l.  If a method leaves the sphere, the rod is stretched."""
    l = value(system, "l", 1.0)
    high, length = 1.25 * l, ["sqrt", ["+", *(["*", name, name] for name in "xyz")]]
    frames = {
        "joint": Frame("world", move(0, 0, high)),
        "bob": Frame("joint", move("x", "y", "z")),
        "rod": Frame("joint", turn_to("x", "y", "z", -1.0), stretch(1, 1, length)),
    }

    parts = in_frame("bob", ball((0, 0, 0), 0.1 * l, 28, colour=ACTOR, gloss=0.8))
    parts += in_frame("rod", tube((0, 0, 0), (0, 0, -1), 0.016 * l, 12, **METAL))
    scenery = in_frame("joint", _wires(l), ball((0, 0, 0), 0.045 * l, 20, colour=BRASS, gloss=0.85))
    far, top = np.array([-0.85, 1.0, 0]) * l, high + 0.5 * l
    bend = (
        (1, 0.1 * l - top),
        (1, -0.2 * l),
        (0.97, -0.08 * l),
        (0.9, -0.02 * l),
        (0.8, 0),
        (0.2, 0),
    )
    arm = [part * far + [0, 0, top + z] for part, z in bend]
    arm += [0.1 * far + [0, 0, top - 0.02 * l], 0.03 * far + [0, 0, top - 0.07 * l]]
    arm += [np.array([0, 0, top - 0.16 * l]), np.array([0, 0, high])]
    scenery += in_frame("world", sweep(arm, 0.026 * l, 12, colour=IRON, gloss=0.6))
    scenery += in_frame("world", _base(l, far[:2]))
    stand = fixed_tracks((*far[:2], 0.02 * l), (*far[:2], top), (0, 0, top - 0.14 * l))
    says = "A pendulum swings in all directions from a joint; rings lie on its sphere"
    look = {"view": (-1.1, 0.22), "near": 1.8, "says": says, "whole": True}
    return Model(frames, parts, [Track("bob"), *stand], scenery, **look)


def _wires(l: float) -> list[Shape]:
    """The equator of the sphere, and the lower halves of two meridians."""
    a = np.pi * np.arange(25) / 24
    thin = {"radius": 0.006 * l, "n": 6, "colour": "#A9A59A", "gloss": 0.3}
    half = l * np.stack([np.cos(a), 0 * a, -np.sin(a)], -1)
    ring = torus(l, 0.007 * l, 72, 6, colour="#A9A59A", gloss=0.3)
    return [ring, sweep(half, **thin), sweep(half[:, [1, 0, 2]], **thin)]


# ---------------------------------------------------------------------------- planets


SECTORS = 3  # triangles that form the area swept
SWEPT = 1 / 20  # of the period


def kepler_ellipse(q: np.ndarray, v: np.ndarray, mu: float) -> tuple[np.ndarray, float] | None:
    """The true orbit through q with velocity v, (k, 2), and its period; None if unbounded."""
    r, speed2 = np.hypot(*q), v @ v
    if speed2 >= 2 * mu / r:
        return None
    a = 1 / (2 / r - speed2 / mu)
    e = ((speed2 - mu / r) * q - (q @ v) * v) / mu  # from the sun to the perihelion
    size = np.hypot(*e)
    u = 2 * np.pi * np.arange(120) / 120
    ellipse = a * np.stack([np.cos(u) - size, np.sqrt(max(1 - size**2, 0)) * np.sin(u)], -1)
    c, s = e / size if size > 1e-9 else (1.0, 0.0)
    return ellipse @ [[c, s], [-s, c]], 2 * np.pi * np.sqrt(a**3 / mu)


def triangle_columns(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The columns (4, N) of turn, stretch, stretch, turn that take the corners (1, 0) and (0, 1) to
    the points a and b, (N, 2) each: the singular values of the matrix of a and b."""
    (p, r), (q, s) = a.T, b.T
    rises = np.unwrap(np.arctan2(r + q, p - s)), np.unwrap(np.arctan2(r - q, p + s))
    one, other = np.hypot(p + s, r - q) / 2, np.hypot(p - s, r + q) / 2
    first, last = (rises[1] + rises[0]) / 2, (rises[1] - rises[0]) / 2
    return np.array([first, one + other, one - other, last])


@known("Kepler")
def kepler(system: System, runs: Runs) -> Model:
    """Sun and planet, the true ellipse from the first start, and the area that the planet has swept
    during the last twentieth of its period, which is always the same."""
    run, mu = runs[0], value(system, "mu", 1.0)
    orbit = kepler_ellipse(run.q[0], run.v[0], mu)
    q = finite_nodes(runs)
    reach = extent(q if orbit is None else np.vstack([q, orbit[0]]))
    nearest = float(np.linalg.norm(q, axis=1).min())
    sun = min(0.075 * reach, 0.6 * nearest)
    span = SWEPT * (orbit[1] if orbit else run.t[-1] - run.t[0])
    frames = {"planet": Frame("world", move("x", "y", 0))}
    parts = in_frame(
        "planet",
        ball((0, 0, 0), 0.036 * reach, 24, colour=ACTOR, gloss=0.7),
        torus(0.056 * reach, 0.006 * reach, 36, 6, axis=(0.3, 0, 1), colour=CREAM, gloss=0.4),
    )
    fan = [f"fan {k}" for k in range(SECTORS)]
    for k, name in enumerate(fan):
        a, l, m, b = (f"{name} {s}" for s in "almb")
        frames[name] = Frame("world", turn(2, a), stretch(l, m, 1), turn(2, b))
        tint = "#F6D58A" if k % 2 else "#F3C96C"
        flat = prism([(0, 0), (1, 0), (0, 1)], -0.004 * reach, 0.0, colour=tint, gloss=0.1)
        parts += in_frame(name, flat)

    def columns(q: np.ndarray, t: np.ndarray) -> Columns:
        when = [np.clip(t - span * k / SECTORS, t[0], None) for k in range(SECTORS + 1)]
        at = [np.stack([np.interp(s, t, x) for x in q.T], -1) for s in when]
        fan_columns = {}
        for k, name in enumerate(fan):
            values = triangle_columns(at[k + 1], at[k])
            fan_columns |= {f"{name} {s}": x for s, x in zip("almb", values, strict=True)}
        return fan_columns

    scenery = in_frame("world", ball((0, 0, 0), sun, 32, colour="#FFC53D", gloss=0.25))
    if orbit is not None:
        line = np.column_stack([orbit[0], np.zeros(len(orbit[0]))])
        wire = sweep(line, 0.004 * reach, 6, closed=True, colour=IRON, gloss=0.5)
        scenery += in_frame("world", wire)
    says = "A planet moves round the sun beside its true ellipse; a wedge shows the area swept"
    look = {"view": (-1.3, 0.85), "near": 6.5, "floor": Floor("none"), "says": says, "whole": True}
    return Model(frames, parts, [Track("planet")], scenery, columns, **look)


# ---------------------------------------------------------------------------- a marker


def marker(system: System, runs: Runs) -> Model:
    """For a system without a body: a cart at x, y that heads along theta or phi, a puck if there is
    no heading, or a ball on a pole if there is a z."""
    names = [str(s) for s in system.q]
    if not {"x", "y"} <= {*names}:
        unknown = f"no body is known for {system!r}"
        need = f"its coordinates {names} have no x and y, so that no marker can stand for it"
        raise ValueError(
            f"{unknown}, and {need}; pass body=, a function of q that returns outlines"
        )
    says = f"A marker for {system.name or 'the system'} moves"
    if names == ["x", "y", "z"]:
        return Pointlike(system, runs).model(says)
    q = finite_nodes(runs)[:, [names.index(s) for s in "xyz" if s in names]]
    size = 0.1 * float(np.linalg.norm(np.ptp(q, 0))) or 1.0
    heading = next((s for s in ("theta", "phi") if s in names), None)
    place = move("x", "y", "z" if "z" in names else 0)
    frames = {"marker": Frame("world", place, *([turn(2, heading)] if heading else []))}
    parts = in_frame("marker", _cart(size) if heading else _puck(size))
    low = float(q[:, 2].min()) if "z" in names else 0.0
    return Model(frames, parts, [Track("marker")], floor=Floor(height=low), near=3.2, says=says)


def _cart(size: float) -> list[Shape]:
    """A small cart: hull with a nose in front, an arrow on top, four wheels."""
    hull = np.array([(-0.5, -0.28), (0.2, -0.28), (0.42, -0.17), (0.55, 0)])
    hull = np.vstack([hull, hull[-2::-1] * [1, -1]]) * size
    arrow = np.array([(-0.34, -0.06), (0.06, -0.06), (0.06, -0.17), (0.4, 0)])
    arrow = np.vstack([arrow, arrow[-2::-1] * [1, -1]]) * size
    tyre = [(0, -0.05), (0.1, -0.05), (0.12, -0.03), (0.12, 0.03), (0.1, 0.05), (0, 0.05)]
    wheels = [(x, y) for x in (-0.3, 0.25) for y in (-0.3, 0.3)]
    return [
        prism(hull, 0.09 * size, 0.24 * size, 0.04 * size, colour=ACTOR, gloss=0.6),
        prism(arrow, 0.24 * size, 0.27 * size, 0.01 * size, colour=WHITE, gloss=0.3),
        *(
            lathe(size * np.array(tyre), 20, (x * size, y * size, 0.12 * size), (0, 1, 0), **RIM)
            for x, y in wheels
        ),
    ]


RIM = {"colour": RUBBER, "gloss": 0.2}


def _puck(size: float) -> list[Shape]:
    side = [(0, 0), (0.36, 0), (0.4, 0.03), (0.4, 0.17), (0.36, 0.2), (0, 0.2)]
    knob = ball((0, 0, 0.24 * size), 0.1 * size, 18, colour=AMBER, gloss=0.6)
    ring = torus(0.28 * size, 0.02 * size, 32, 6, at=(0, 0, 0.2 * size), colour=WHITE, gloss=0.3)
    return [lathe(size * np.array(side), 32, colour=ACTOR, gloss=0.6), ring, knob]
