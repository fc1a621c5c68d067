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

    def __init__(self, scene, sol, body, look, colour, width):
        self.scene, self.look = scene, look
        self.take(sol, body)
        first, others = {"zorder": 2.1}, {"alpha": 0.45}
        self.tracks = [
            scene.line(scene.ax, **look, **(others if k else first)) for k in range(len(self.paths))
        ]
        self.outline = scene.line(scene.ax, color=colour, linewidth=width)
        if scene.reading:
            self.curve = scene.line(scene.lower, **look)
            self.point = scene.line(scene.lower, color=look["color"], marker="o")

    def take(self, sol, body):
        """Follow another trajectory."""
        self.sol, self.body = sol, body
        even, every = np.linspace(sol.t[0], sol.t[-1], 500), max(1, len(sol.t) // 1500)
        self.t = np.union1d(even, sol.t[::every])
        self.paths = [body.flat(track) for track in body.tracks(between(sol, self.t))]
        if self.scene.reading:
            self.x, self.y = self.scene.reading[1](sol)

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
        if self.scene.reading:
            n = np.searchsorted(self.x, t + 1e-9 * abs(self.sol.t[-1]), "right")
            self.curve.set_data(self.x[:n], self.y[:n])
            self.point.set_data(self.x[:n][-1:], self.y[:n][-1:])


class Scene:
    """Actors on the same axes, what does not move there, and the axes of their reading below.

    The first of the trajectories is drawn as a ghost if ``ghost`` says so.
    """

    def __init__(self, picture, ax, lower, reading, sols, given, *, ghost=False, future=False):
        self.picture, self.ax, self.lower = picture, ax, lower
        self.reading, self.given = reading, given
        cast = self.bodies(sols)
        self.fixed, self.future = self.line(ax, color=PALE, linewidth=1), future
        self.ahead = self.line(ax, color=PALE, linewidth=1.4)
        self.actors, alone = [], len(sols) - ghost == 1
        for k, (sol, body) in enumerate(zip(sols, cast, strict=True)):
            look, colour, width = plot.look(sol.method), DARK, 1.8
            if ghost and not k:
                look = {"color": GHOST, "linestyle": "-", "linewidth": 2.6}
            if not alone or ghost and not k:
                colour, width = look["color"], 3.6 if ghost and not k else 1.8
            self.actors.append(Actor(self, sol, body, look, colour, width))
        self.names = [plot.label(sol.method) for sol in sols]
        if ghost:
            self.names[0] = "exact"
        self.dress()
        self.still()

    def line(self, ax, **look):
        line = self.picture.line(ax=ax, **look)
        line.ghost = False  # a motion leaves no pale copy of its first picture behind
        return line

    def bodies(self, sols):
        made = [bodies.body(sol.system, self.given) for sol in sols]
        for body in made:
            body.fit(sols)
        return made

    def dress(self):
        """Names of the axes and of the methods."""
        ax, first = self.ax, self.actors[0]
        if len(self.names) == 1:
            ax.set_title(self.names[0])
        else:
            handles = [actor.tracks[0] for actor in self.actors]
            ax.legend(handles, self.names, ncols=len(handles), columnspacing=1.2, **ABOVE)
        ax.set_aspect("equal", adjustable="box")
        spatial = np.shape(first.body.parts(first.sol.q[0])[0])[1] == 3
        first.body.label(ax, spatial)
        if self.reading:
            self.lower.set(xlabel="time $t$", ylabel=self.reading[0])

    def take(self, sols):
        """Let the actors follow other trajectories."""
        cast = zip(self.actors, sols, self.bodies(sols), strict=True)
        for actor, sol, body in cast:
            actor.take(sol, body)
        self.still()

    def still(self):
        """Draw what depends on the whole motion only."""
        body = self.actors[0].body
        self.corners = _around([actor.bounds() for actor in self.actors])
        if len(body.fixed):
            fixed = bodies.joined([body.flat(part) for part in body.fixed])
            self.fixed.set_data(*fixed.T)
            self.corners = _around([self.corners, [np.nanmin(fixed, 0), np.nanmax(fixed, 0)]])
        if self.future:
            paths = [path for actor in self.actors for path in actor.paths]
            self.ahead.set_data(*bodies.joined(paths).T)
        if self.reading:
            ends = [self.actors[0].sol.t[0], min(actor.sol.t[-1] for actor in self.actors)]
            self.picture.fit(self.lower, ends, np.concatenate([actor.y for actor in self.actors]))

    def frame(self, corners):
        """Limits that hold the corners, changed only if these are far from filling them."""
        low, high = corners
        left, right = np.array([self.ax.get_xlim(), self.ax.get_ylim()]).T
        fits = np.all(left <= low) and np.all(high <= right)
        if fits and self.framed and np.max((high - low) / (right - left)) > 0.5:
            return
        box = self.ax.get_subplotspec().get_position(self.picture.figure)
        shape = self.picture.figure.get_size_inches() * [box.width, box.height]
        half = 0.54 * shape * np.max((high - low) / shape)  # fills the place, to scale
        (x, X), (y, Y) = np.transpose([(low + high) / 2 - half, (low + high) / 2 + half])
        self.ax.set(xlim=(x, X), ylim=(y, Y))
        self.framed = True
        self.picture.changed()

    framed = False

    def move(self, t):
        """Move everything to time t; gives the read-out."""
        said = {}
        for actor, name in zip(self.actors, self.names, strict=True):
            actor.move(t)
            if self.reading:
                _, y = actor.point.get_data()
                said[f"{name}:"] = f"{y[-1]:.6g}" if len(y) else "-"
        return said


def _around(corners):
    """The corners of the box around boxes."""
    corners = np.array(corners)
    return np.array([corners[:, 0].min(0), corners[:, 1].max(0)])


def _stage(columns, size, reading):
    """A picture with axes for motions and, with a reading, axes below each of them."""
    size = size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.6, 4.0 + bool(reading))
    rows = {"height_ratios": (3, 1)} if reading else {}
    picture = Picture(size, 1 + bool(reading), columns, **rows)
    upper, lower = picture.axes[:columns], picture.axes[columns:]
    return picture, list(zip(upper, lower if reading else [None] * columns, strict=True))


def _reading(below, system):
    """(label, function of a trajectory that gives times and values), or None."""
    if below is None:
        return None
    if not isinstance(below, str):
        label, values = ("", below) if callable(below) else below
        return label, lambda sol: (sol.t, np.asarray(values(sol), float))
    time, label, read = plot.reading(below, system)
    if time != plot.READINGS["energy"][0]:
        raise ValueError(f"below = {below!r} is no function of time; choose {list(plot.READINGS)}")
    return label, read


def _true_motion(sol):
    """The exact motion from the start of a trajectory, by nh.Reference."""
    T = sol.t[-1] - sol.t[0]
    start = {"q0": sol.q[0], "v0": sol.v_projected[0], "t0": sol.t[0]}
    return integrate(sol.system, Reference(), **start, h=T / 400, steps=400, progress=False)


def _check(sols):
    if not sols:
        raise ValueError("give one or more trajectories to play")
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
        arrays of points (k, 2), or (k, 3) in space, or a subclass of nh.bodies.Body
    exact : a trajectory to be drawn as a ghost under the others, or True for the true motion
    overlay : all motions on the same axes; by default if ``exact`` is given, else side by side
    below : a reading of nhlab.plot that is drawn in step, as "energy" or "constraint"; or a pair
        (label, function of a trajectory)
    future : show the whole paths beforehand
    """
    _check(sols)
    ghost = [_true_motion(sols[0]) if exact is True else exact] if exact else []
    _check([*sols, *ghost])
    overlay = bool(ghost) if overlay is None else overlay
    groups = [[*ghost, *group] for group in ([sols] if overlay else [[sol] for sol in sols])]
    reading = _reading(below, sols[0].system)
    picture, axes = _stage(len(groups), size, reading)
    scenes = [
        Scene(picture, *pair, reading, group, body, ghost=bool(ghost), future=future)
        for pair, group in zip(axes, groups, strict=True)
    ]
    _frame_alike(scenes)
    begin, end = float(max(s.t[0] for s in sols)), float(min(s.t[-1] for s in [*sols, *ghost]))

    def update(_, values, __):
        said = {"t =": f"{values['t']:.2f}"}
        for scene in scenes:
            said |= scene.move(values["t"])
        return said

    t = slider("time t", begin, end, begin, (end - begin) / frames, digits=2)
    names = " and ".join(plot.label(sol.method) for sol in sols)
    alt = f"{caption} The motion of {sols[0].system.name or 'the system'} by {names} at time t."
    return play(Panel(picture, update, {"t": t}, caption=caption, alt=alt.strip()), "t", frames)


def _frame_alike(scenes):
    """The same limits for all that are of comparable size, to be compared by eye."""
    common = _around([scene.corners for scene in scenes])
    for scene in scenes:
        extent, most = np.ptp(scene.corners, 0).max(), np.ptp(common, 0).max()
        scene.frame(common if most < 2 * extent else scene.corners)


def motion_panel(
    system, body, start, curve=None, *, T, h, label="", caption="", method=None, size=None, **sliders
):
    """A system in motion: sliders for its parameters and its start, a time slider, a play button.

    body : as in ``animate``;  start(values) -> (q0, v0), from the values of the sliders
    curve : curve(sol) -> (N+1,), or a reading of nhlab.plot, drawn in step below under ``label``
    sliders : (low, high, value) by name; those named like parameters of the system set them
    """
    method, steps = DLA() if method is None else method, round(T / h)
    names = {s.name for s in system.parameters} & set(sliders)

    @functools.lru_cache(1)
    def run(setting):
        values = dict(setting)
        s = system.set(**{k: values[k] for k in names})
        return integrate(s, method, *start(values), h=h, steps=steps, progress=False)

    first = run(tuple((k, given[2]) for k, given in sliders.items()))
    reading = _reading((label, curve) if callable(curve) else curve, system)
    picture, (axes,) = _stage(1, size or (7.2, 5.0), reading)
    scene, shown = Scene(picture, *axes, reading, [first], body), first

    def update(_, values, __):
        nonlocal shown
        t = values.pop("t")
        sol = run(tuple(values.items()))
        if sol is not shown:
            scene.take([sol])
            shown = sol
        scene.frame(scene.corners)
        scene.move(t)
        E = sol.energy()
        return {"energy": f"{E[0]:.3f}", "spread of the energy": f"{np.ptp(E):.1e}"}

    alt = f"{caption} Above the moving body, below a curve over time."
    given = {"caption": caption, "alt": alt, **sliders, "t": (0.0, float(T), 0.4 * T)}
    return play(panel(picture, update, **given), "t")
