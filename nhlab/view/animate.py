"""``animate``: computed motions played side by side or over each other, a reading below them;
``motion_panel``: a system that runs anew when its sliders move, and is played."""

import functools

import numpy as np

from ..methods import DLA, Reference
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from . import bodies, plot
from .body import between
from .panel import Panel, panel, play, slider
from .picture import Picture

DARK, GHOST, PALE = "#333333", "#A8A8A8", "#CCCCCC"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False, "borderaxespad": 0.2}


class Actor:
    """A body that follows a trajectory, with its tracks and a reading of it below."""

    def __init__(self, scene, sol, body, ghost, alone):
        self.scene, look = scene, plot.look(sol.method)
        if ghost:
            look = {"color": GHOST, "linestyle": "-", "linewidth": 2.6}
        self.name = "exact" if ghost else plot.label(sol.method)
        self.reads = bool(scene.reading) and scene.reading.serves(sol, ghost)
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
            self.point.set_data(self.x[:n][-1:], self.y[:n][-1:])

    def says(self):
        """The number at which the curve below has arrived."""
        _, y = self.point.get_data()
        return f"{y[-1]:.6g}" if len(y) else "-"


class Scene:
    """Actors on the same axes, what does not move there, and the axes of their reading below."""

    def __init__(self, picture, axes, sols, company, given, reading, *, ghost, future):
        """``ghost`` : the first of sols is the exact motion;  ``company`` : all that is played."""
        self.picture, (self.ax, self.lower) = picture, axes
        self.given, self.reading, self.framed = given, reading, False
        self.fixed = self.line(self.ax, color=PALE, linewidth=1)
        self.ahead = self.line(self.ax, color=PALE, linewidth=1.4, visible=future)
        cast, alone = self.bodies(sols, company), len(sols) == 1 + ghost
        self.actors = [
            Actor(self, sol, body, ghost and not k, alone and k == ghost)
            for k, (sol, body) in enumerate(zip(sols, cast, strict=True))
        ]
        self.dress()
        self.prepare()

    def line(self, ax, **look):
        line = self.picture.line(ax=ax, **look)
        line.ghost = False  # a motion leaves no pale copy of its first picture behind
        return line

    def bodies(self, sols, company):
        made = [bodies.body(sol.system, self.given) for sol in sols]
        for body in made:
            body.fit(company)
        return made

    def dress(self):
        """Names of the axes and of the methods."""
        self.ax.set_aspect("equal", adjustable="box")
        first, *others = self.actors
        if others:
            lines, names = zip(*((a.tracks[0], a.name) for a in self.actors), strict=True)
            self.ax.legend(lines, names, ncols=len(names), columnspacing=1.2, **ABOVE)
        else:
            self.ax.set_title(first.name)
        spatial = np.shape(first.body.parts(first.sol.q[0])[0])[1] == 3
        first.body.label(self.ax, spatial)
        if self.reading:
            self.lower.set_xlabel("time $t$")
            self.lower.set_title(self.reading.label, loc="left", fontsize=11)

    def take(self, sols):
        """Let the actors follow other trajectories."""
        for actor, sol, body in zip(self.actors, sols, self.bodies(sols, sols), strict=True):
            actor.take(sol, body)
        self.prepare()

    def prepare(self):
        """Draw what belongs to the motions as a whole, and see how far they reach."""
        body, self.corners = self.actors[0].body, _around(a.bounds() for a in self.actors)
        if len(body.fixed):
            fixed = bodies.joined([body.flat(part) for part in body.fixed])
            self.fixed.set_data(*fixed.T)
            self.corners = _around([self.corners, [np.nanmin(fixed, 0), np.nanmax(fixed, 0)]])
        self.ahead.set_data(*bodies.joined([path for a in self.actors for path in a.paths]).T)

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
        place = self.ax.get_subplotspec().get_position(self.picture.figure)
        shape = self.picture.figure.get_size_inches() * [place.width, place.height]
        half = 0.54 * shape * np.max((high - low) / shape)
        (x, X), (y, Y) = np.transpose([(low + high) / 2 - half, (low + high) / 2 + half])
        self.ax.set(xlim=(x, X), ylim=(y, Y))
        self.framed = True
        self.picture.changed()

    def move(self, t):
        """Move everything to time t; gives the read-out."""
        for actor in self.actors:
            actor.move(t)
        return {f"{a.name}: {self.reading.name}": a.says() for a in self.actors if a.reads}


class Reading:
    """What is drawn below: a reading of nhlab.plot, a function of a trajectory, or (label, f)."""

    def __init__(self, below, system):
        if isinstance(below, str):
            time, self.label, self.read, *_ = plot.reading(below, system)
            if time != plot.READINGS["energy"][0]:
                known = [*plot.READINGS, f"t {system.q[0]}"]
                raise ValueError(f"below = {below!r} is no function of time; choose one of {known}")
            self.name = below
            return
        self.label, f = ("", below) if callable(below) else below
        self.name = ""
        self.read = lambda sol: (sol.t, np.asarray(f(sol), float))

    def serves(self, sol, ghost):
        """Does the trajectory have it?  Of the exact motion, residuals and steps say nothing."""
        if ghost and ("constraint" in self.name or self.name == "step"):
            return False
        try:
            self.read(sol)
        except ValueError:
            if sol.method.discrete:
                raise
            return False  # a reading of discrete methods
        return True


def _around(corners):
    """The corners of the box around boxes."""
    corners = np.array([*corners])
    return np.array([corners[:, 0].min(0), corners[:, 1].max(0)])


def _stage(columns, size, reading):
    """A picture, and the pairs of axes for motions and their readings."""
    size = size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.6, 4.0 + bool(reading))
    rows = {"height_ratios": (3, 1)} if reading else {}
    picture = Picture(size, 1 + bool(reading), columns, **rows)
    upper, lower = picture.axes[:columns], picture.axes[columns:]
    return picture, [*zip(upper, lower if reading else [None] * columns, strict=True)]


def _true_motion(sol):
    """The exact motion from the start of a trajectory, by nh.Reference."""
    start = {"q0": sol.q[0], "v0": sol.v_projected[0], "t0": sol.t[0]}
    h = (sol.t[-1] - sol.t[0]) / 400
    return integrate(sol.system, Reference(), **start, h=h, steps=400, progress=False)


def _check(sols):
    if not sols:
        raise ValueError("give one or two trajectories to play")
    for sol in sols:
        if not isinstance(sol, Trajectory):
            raise ValueError(f"{sol!r} is no trajectory; play what nh.integrate returns")
        if len(sol) < 2:
            raise ValueError(f"{sol!r} has no steps to play")


def animate(
    *sols,
    body=None,
    caption="",
    size=None,
    frames=200,
    exact=None,
    overlay=None,
    below=None,
    future=False,
):
    """Play computed motions, with play, pause and a time slider.

    body : draws a system that is not of the catalogue: a function of q that returns outlines,
        arrays of points (k, 2), or (k, 3) in space; or a subclass of nh.bodies.Body
    exact : a trajectory that is drawn as a ghost under the others, or True for the true motion
    overlay : all motions on the same axes; by default if ``exact`` is given, else side by side
    below : a reading of nhlab.plot, as "energy", drawn in step; or a pair (label, function of a
        trajectory that gives an array as long as its t)
    future : show the paths beforehand
    """
    _check(sols)
    ghost = [] if exact is None or exact is False else [exact]
    ghost = [_true_motion(sols[0])] if exact is True else ghost
    _check([*sols, *ghost])
    overlay = bool(ghost) if overlay is None else overlay
    groups = [[*ghost, *group] for group in ([sols] if overlay else [[sol] for sol in sols])]
    reading = None if below is None else Reading(below, sols[0].system)
    picture, axes = _stage(len(groups), size, reading)
    alike, options = _comparable(groups, body), {"ghost": bool(ghost), "future": future}
    everyone = [*ghost, *sols]
    scenes = [
        Scene(picture, pair, group, everyone if alike else group, body, reading, **options)
        for pair, group in zip(axes, groups, strict=True)
    ]
    ends = float(max(s.t[0] for s in sols)), float(min(s.t[-1] for s in [*sols, *ghost]))
    values = np.concatenate([scene.values() for scene in scenes])
    for scene in scenes:
        scene.frame(_around(s.corners for s in (scenes if alike else [scene])), ends, values)
    return _played(picture, scenes, ends, frames, caption)


def _comparable(groups, given):
    """Do motions side by side reach about as far, so that they can share their limits?"""
    reach = [bodies.body(g[0].system, given).reach(g) for g in groups]
    return max(reach) <= 3 * min(reach)


def _played(picture, scenes, ends, frames, caption):
    """The panel that moves the scenes."""
    begin, end = ends

    def update(_, values, __):
        said = {"t =": f"{values['t']:.2f}"}
        for scene in scenes:
            said |= scene.move(values["t"])
        return said

    t = slider("time t", begin, end, begin, (end - begin) / frames, digits=2)
    names = " and ".join(dict.fromkeys(actor.name for s in scenes for actor in s.actors))
    system = scenes[0].actors[0].sol.system.name or "the system"
    alt = f"{caption} The motion of {system}, {names}, at time t.".strip()
    return play(Panel(picture, update, {"t": t}, caption=caption, alt=alt), "t", frames)


def motion_panel(
    system,
    body,
    start,
    curve=None,
    *,
    T,
    h,
    label="",
    caption="",
    method=None,
    size=None,
    **sliders,
):
    """A system in motion: sliders for its parameters and its start, a time slider, a play button.

    body : as in ``animate``;  start(values) -> (q0, v0), from the values of the sliders
    curve : curve(sol) -> (N+1,), or a reading of nhlab.plot, drawn in step below, under ``label``
    sliders : (low, high, value) by name; those named like parameters of the system set them
    """
    method, steps = DLA() if method is None else method, round(T / h)
    names = {s.name for s in system.parameters} & set(sliders)

    @functools.lru_cache(1)
    def run(setting):
        values = dict(setting)
        s = system.set(**{k: values[k] for k in names})
        return integrate(s, method, *start(values), h=h, steps=steps, progress=False)

    sol = run(tuple((k, given[2]) for k, given in sliders.items()))
    curve = (label, curve) if callable(curve) else curve
    reading = None if curve is None else Reading(curve, system)
    picture, (axes,) = _stage(1, size or (7.2, 5.0), reading)
    scene = Scene(picture, axes, [sol], [sol], body, reading, ghost=False, future=True)

    def update(_, values, __):
        t, (actor,) = values.pop("t"), scene.actors
        sol = run(tuple(values.items()))
        if sol is not actor.sol:
            scene.take([sol])
        scene.frame(scene.corners, (0.0, T), scene.values())
        scene.move(t)
        E = sol.energy()
        return {"energy": f"{E[0]:.3f}", "spread of the energy": f"{np.ptp(E):.1e}"}

    alt = f"{caption} The moving body above, a curve over time below.".strip()
    given = {"caption": caption, "alt": alt, **sliders, "t": (0.0, float(T), 0.4 * T)}
    return play(panel(picture, update, **given), "t")
