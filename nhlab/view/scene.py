"""What is played: actors, each a body that follows a trajectory, in scenes, one for each axes."""

import numpy as np

from ..methods import Reference
from . import bodies, plot
from .body import between
from .picture import to_scale

DARK, GHOST, PALE = "#333333", "#A8A8A8", "#CCCCCC"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False, "borderaxespad": 0.2}


class Actor:
    """A body that follows a trajectory, with its tracks and a reading of it below."""

    def __init__(self, scene, sol, body, name, ghost, alone):
        self.scene, self.name, look = scene, name, plot.look(sol.method)
        if ghost:
            look = {"color": GHOST, "linestyle": "-", "linewidth": 2.6}
        self.reads = scene.reading is not None and serves(scene.reading, sol, ghost)
        self.take(sol, body)
        later = [{}, *[{"alpha": 0.45}] * (len(self.paths) - 1)]  # the first track counts most
        self.tracks = [scene.line(scene.ax, **look, **more) for more in later]
        colour = DARK if alone else look["color"]
        self.outline = scene.line(scene.ax, color=colour, linewidth=3.6 if ghost else 1.8)
        if self.reads:
            self.curve = scene.line(scene.lower, **look)
            point = {"color": look["color"], "marker": "o", "clip_on": False}
            self.point = scene.line(scene.lower, **point)

    def take(self, sol, body):
        """Follow another trajectory."""
        self.sol, self.body = sol, body
        even, every = np.linspace(sol.t[0], sol.t[-1], 500), max(1, len(sol.t) // 1500)
        self.t = np.union1d(even, sol.t[::every])
        self.paths = [body.flat(track) for track in body.tracks(between(sol, self.t))]
        if self.reads:
            self.x, self.y = self.scene.reading.read(sol)

    def bounds(self, count=60):
        """The corners (2, 2) of what the body and its tracks reach."""
        times = np.linspace(self.sol.t[0], self.sol.t[-1], count)
        places = zip(between(self.sol, times), times, strict=True)
        points = np.concatenate([*(self.body.seen(q, t) for q, t in places), *self.paths])
        points = points[np.isfinite(points).all(1)]
        return np.array([points.min(0), points.max(0)])

    def move(self, t):
        q, n = between(self.sol, t), np.searchsorted(self.t, t, "right")
        for line, path, here in zip(self.tracks, self.paths, self.body.tracks(q), strict=True):
            line.set_data(*np.vstack([path[:n], self.body.flat(here)]).T)
        self.outline.set_data(*self.body.seen(q, t).T)
        if self.reads:
            n = np.searchsorted(self.x, t + 1e-9 * abs(self.sol.t[-1]), "right")
            self.curve.set_data(self.x[:n], self.y[:n])
            x, y = self.x[:n][-1:], self.y[:n][-1:]
            low, high = self.scene.lower.get_ylim()
            self.point.set_data(x, y)
            self.point.set_visible(bool(np.all((low <= y) & (y <= high))))  # it is not clipped

    def says(self):
        """The number at which the curve below has arrived."""
        _, y = self.point.get_data()
        return f"{y[-1]:.6g}" if len(y) else "-"


class Scene:
    """Actors on the same axes, what does not move there, and the axes of their reading below."""

    def __init__(self, picture, axes, sols, company, given, reading, names=None, *, ghost, future):
        """``ghost`` : the first of sols is drawn as one;  ``company`` : all that is played;
        ``names`` : of sols in the legend, by default those of their methods."""
        self.picture, (self.ax, self.lower) = picture, axes
        self.given, self.reading, self.framed = given, reading, False
        self.fixed = self.line(self.ax, color=PALE, linewidth=1)
        pale = {"color": PALE, "linewidth": 1.4, "visible": future}
        self.later = [self.line(ax, **pale) for ax in axes if ax]
        cast, alone = self.bodies(sols, company), len(sols) == 1 + ghost
        names = names_of(sols, ghost) if names is None else names
        self.actors = [
            Actor(self, *each, ghost and not k, alone and k == ghost)
            for k, each in enumerate(zip(sols, cast, names, strict=True))
        ]
        self.dress()
        self.prepare()

    def line(self, ax, **look):
        line = self.picture.line(ax=ax, **look)
        line.ghost = False  # a motion leaves no pale copy of its first picture behind
        return line

    def bodies(self, sols, company):
        made = [bodies.body(sol.system, self.given) for sol in sols]
        for sol, body in zip(sols, made, strict=True):
            body.fit([other for other in company if len(other.system.q) == len(sol.system.q)])
        return made

    def dress(self):
        """Names of the axes and of the methods."""
        self.ax.set_aspect("equal", adjustable="box")
        first, names = self.actors[0], [a.name for a in self.actors]
        if len({*names}) > 1:
            lines = [a.tracks[0] for a in self.actors]
            self.ax.legend(lines, names, ncols=len(names), columnspacing=1.2, **ABOVE)
        else:
            self.ax.set_title(first.name)
        spatial = np.shape(first.body.parts(first.sol.q[0])[0])[1] == 3
        first.body.label(self.ax, spatial)
        if self.reading:
            self.lower.set_xlabel("time $t$")
            self.lower.set_title(self.reading.ylabel, loc="left", fontsize=11)

    def take(self, sols):
        """Let the actors follow other trajectories."""
        for actor, sol, body in zip(self.actors, sols, self.bodies(sols, sols), strict=True):
            actor.take(sol, body)
        self.prepare()

    def prepare(self):
        """Draw what belongs to the motions as a whole, and see how far they reach."""
        body, self.corners = self.actors[0].body, around(a.bounds() for a in self.actors)
        if len(body.fixed):
            fixed = bodies.joined([body.flat(part) for part in body.fixed])
            self.fixed.set_data(*fixed.T)
            self.corners = around([self.corners, [np.nanmin(fixed, 0), np.nanmax(fixed, 0)]])
        paths = [[path for a in self.actors for path in a.paths]]
        paths += [[np.column_stack([a.x, a.y]) for a in self.actors if a.reads]]
        for line, whole in zip(self.later, filter(None, paths), strict=False):
            line.set_data(*bodies.joined(whole).T)

    def values(self):
        """All values of the reading."""
        return np.concatenate([[], *(actor.y for actor in self.actors if actor.reads)])

    def frame(self, corners, ends, values):
        """Limits that hold the corners to scale, changed only if these are far from filling them;
        and below, those of time and of the values."""
        if self.reading:
            self.lower.set_xlim(*ends)
            self.picture.fit(self.lower, [], values)
        low, high = np.array(corners)
        left, right = np.array([self.ax.get_xlim(), self.ax.get_ylim()]).T
        held = np.all(left <= low) and np.all(high <= right)
        if self.framed and held and np.max((high - low) / (right - left)) > 0.5:
            return
        x, y = to_scale(self.ax, low, high, 1.08).T
        self.ax.set(xlim=x, ylim=y)
        self.framed = True
        self.picture.changed()

    def move(self, t):
        """Move everything to time t; gives the read-out."""
        for actor in self.actors:
            actor.move(t)
        return {plain(f"{a.name}: {self.reading.name}"): a.says() for a in self.actors if a.reads}


def reading_below(below, system):
    """The Reading of what is drawn below: one of nhlab.plot, a function of a trajectory, or
    (label, f)."""
    if isinstance(below, str):
        found = plot.reading(below, system)
        if found.xlabel != plot.TIME:
            known = [*plot.READINGS, f"t {system.q[0]}"]
            raise ValueError(f"below = {below!r} is no function of time; choose one of {known}")
        return found._replace(name=below)
    pair = ("", below) if callable(below) else below
    if not (isinstance(pair, tuple | list) and len(pair) == 2 and callable(pair[1])):
        known = f"one of {[*plot.READINGS]} or (label, function of a trajectory)"
        raise ValueError(f"below = {below!r} must be {known}")
    label, f = pair

    def read(sol):
        y = np.asarray(f(sol), float)
        if y.shape != sol.t.shape:
            raise ValueError(f"below gave an array of shape {y.shape}; t has {sol.t.shape}")
        return sol.t, y

    return plot.Reading(plot.TIME, label, read, name=label)


def serves(reading, sol, ghost):
    """Does the trajectory have it?  Of the true motion, residuals and steps say nothing."""
    if ghost and ("constraint" in reading.name or reading.name == "step"):
        return False
    return sol.method.discrete or not reading.discrete


def around(corners):
    """The corners of the box around boxes."""
    corners = np.array([*corners])
    return np.array([corners[:, 0].min(0), corners[:, 1].max(0)])


TRUE = "true motion"


def names_of(sols, ghost):
    """Names of the methods, with the step size where it tells them apart; what the reference
    solution gives is the true motion, and a ghost named like another is called one."""
    names = [TRUE if isinstance(s.method, Reference) else plot.label(s.method) for s in sols]
    steps = {x: {s.h0 for s, name in zip(sols, names, strict=True) if name == x} for x in names}
    several = {name for name in names if len(steps[name]) > 1 and name != TRUE}
    found = [f"{x}, $h={s.h0:g}$" * (x in several) or x for x, s in zip(names, sols, strict=True)]
    return [f"{found[0]} (ghost)" if ghost and found[0] in found[1:] else found[0], *found[1:]]


def plain(text):
    """A label without the marks of formulas, for where none are set."""
    return text.translate(str.maketrans("", "", "$\\"))
