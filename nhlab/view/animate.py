"""``animate``: computed motions played side by side or over each other, a reading below them;
``motion_panel``: a system that runs anew when its sliders move, and is played."""

import functools
from collections.abc import Callable
from numbers import Integral

import numpy as np

from ..mechanics.checks import need
from ..mechanics.system import System
from ..methods import DLA, Reference
from ..run.arguments import positive
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from . import bodies
from .panel import Panel, panel, play, slider
from .picture import Picture
from .scene import Scene, around, plain, reading_below


def _stage(columns, size, reading):
    """A picture, and the pairs of axes for motions and their readings."""
    size = size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.6, 4.0 + bool(reading))
    rows = {"height_ratios": (3, 1)} if reading else {}
    picture = Picture(size, 1 + bool(reading), columns, **rows)
    upper, lower = picture.axes[:columns], picture.axes[columns:]
    return picture, [*zip(upper, lower if reading else [None] * columns, strict=True)]


def _check(sols):
    for sol in sols:
        if not isinstance(sol, Trajectory):
            remedy = "play what nh.integrate returns, several as animate(a, b)"
            raise ValueError(f"{repr(sol)[:60]} is no trajectory; {remedy}")
        if len(sol) < 2:
            raise ValueError(f"{sol!r} has no steps to play")


def _ghosts(exact, sol):
    """No ghost, that of the trajectory given, or for True of the true motion from sol's start."""
    if exact is None or exact is False:
        return []
    if exact is not True:
        _check([exact])
        return [exact]
    start = {"q0": sol.q[0], "v0": sol.v_projected[0], "t0": sol.t[0]}
    h = (sol.t[-1] - sol.t[0]) / 400
    return [integrate(sol.system, Reference(), **start, h=h, steps=400, progress=False)]


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
    names=None,
):
    """Play computed motions, with play, pause and a time slider.

    body : draws a system that is not of the catalogue: a function of q that returns outlines,
        arrays of points (k, 2), or (k, 3) in space; or a subclass of nh.bodies.Body
    exact : a trajectory that is drawn as a ghost under the others, or True for the true motion
    overlay : all motions on the same axes; by default if ``exact`` is given, else side by side
    below : a reading of nhlab.plot, as "energy", drawn in step; or a pair (label, function of a
        trajectory that gives an array as long as its t)
    future : show the paths beforehand
    names : what the legend calls the motions, one name for each and, if ``exact`` is given, one
        more for the ghost; by default the names of their methods
    """
    if not sols:
        raise ValueError("give one or two trajectories to play")
    _check(sols)
    ghost = _ghosts(exact, sols[0])
    overlay = bool(ghost) if overlay is None else overlay
    groups = [[*ghost, *group] for group in ([sols] if overlay else [[sol] for sol in sols])]
    reading = None if below is None else reading_below(below, sols[0].system)
    picture, axes = _stage(len(groups), size, reading)
    alike, options = _comparable(groups, body), {"ghost": bool(ghost), "future": future}
    legends = _legends(names, len(sols), len(ghost), overlay)
    company = [*ghost, *sols]
    scenes = [
        Scene(picture, pair, group, company if alike else group, body, reading, legend, **options)
        for pair, group, legend in zip(axes, groups, legends, strict=True)
    ]
    ends = float(max(s.t[0] for s in sols)), float(min(s.t[-1] for s in [*sols, *ghost]))
    values = np.concatenate([scene.values() for scene in scenes])
    if reading and not len(values):
        raise ValueError(f"below = {below!r} is a reading of discrete methods, and here is none")
    for scene in scenes:
        scene.frame(around(s.corners for s in (scenes if alike else [scene])), ends, values)
    return _played(picture, scenes, ends, frames, caption)


def _legends(names: list[str] | None, count: int, ghosts: int, overlay: bool):
    """For each scene the names of its motions, the ghost's first, or None for those of the
    methods."""
    if names is None:
        return [None] * (1 if overlay else count)
    known = isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
    if not known or len(names) != count + ghosts:
        wanted = f"{count + ghosts} names, one for each motion" + " and one for the ghost" * ghosts
        raise ValueError(f"names = {names!r} must be a list of {wanted}")
    own, ghost = names[:count], names[count:]
    return [[*ghost, *group] for group in ([own] if overlay else [[name] for name in own])]


def _comparable(groups, given):
    """Are motions side by side of like bodies that reach about as far?  They share their limits."""
    cast = [[(bodies.body(sol.system, given), sol) for sol in group] for group in groups]
    reach = [max(body.reach([sol]) for body, sol in pairs) for pairs in cast]
    kinds = {type(body) for pairs in cast for body, _ in pairs}
    return len(kinds) == 1 and max(reach) <= 3 * min(reach)


def _played(picture, scenes, ends, frames, caption):
    """The panel that moves the scenes."""
    if not (isinstance(frames, Integral) and frames > 0):
        raise ValueError(f"frames = {frames!r} must be a whole number, at least 1")
    begin, end = ends

    def update(_, values, __):
        said = {"t =": f"{values['t']:.2f}"}
        for scene in scenes:
            said |= scene.move(values["t"])
        return said

    t = slider("time t", begin, end, begin, (end - begin) / frames, digits=2)
    names = plain(" and ".join(dict.fromkeys(actor.name for s in scenes for actor in s.actors)))
    system = scenes[0].actors[0].sol.system.name or "the system"
    alt = f"{caption} The motion of {system}, {names}, at time t.".strip()
    return play(Panel(picture, update, {"t": t}, caption=caption, alt=alt), "t", frames)


def _runner(system, method, start, names, h, steps):
    """The run for a setting of sliders; the last is kept, for while time alone moves."""

    @functools.lru_cache(1)
    def run(setting):
        values = dict(setting)
        s = system.set(**{k: values[k] for k in names})
        return integrate(s, method, *start(values), h=h, steps=steps, progress=False)

    return run


def motion_panel(system, body, start, curve=None, *, T, h, label="", method=None, **sliders):
    """A system in motion: sliders for its parameters and its start, a time slider, a play button.

    body : as in ``animate``;  start(values) -> (q0, v0), from the values of the sliders
    curve : curve(sol) -> (N+1,), or a reading of nhlab.plot, drawn in step below, under ``label``
    sliders : (low, high, value) by name; those named like parameters of the system set them; and
        the ``caption`` and the ``size`` of the picture
    """
    need(system, System, "system", "nh.System")
    need(start, Callable, "start", "function of the sliders' values that returns (q0, v0)")
    T, h = positive(T, False, "T"), positive(h, False)
    caption, size = sliders.pop("caption", ""), sliders.pop("size", (7.2, 5.0))
    for name, given in sliders.items():
        if name == "t" or not isinstance(given, tuple) or len(given) < 3:
            raise ValueError(f"{name} = {given!r} is no slider (low, high, value); t is the time")
    names = {s.name for s in system.parameters} & set(sliders)
    run = _runner(system, method or DLA(), start, names, h, round(T / h))
    sol = run(tuple((k, given[2]) for k, given in sliders.items()))
    curve = (label, curve) if callable(curve) else curve
    reading = None if curve is None else reading_below(curve, system)
    picture, (axes,) = _stage(1, size, reading)
    picture.figure.set_layout_engine(None)  # so that no layout is computed while a slider moves
    picture.figure.subplots_adjust(0.13, 0.12, 0.96, 0.93, None, 0.45)
    scene = Scene(picture, axes, [sol], [sol], body, reading, ghost=False, future=True)

    def update(_, values, __):
        t, (actor,) = values.pop("t"), scene.actors
        sol = run(tuple(values.items()))
        if sol is not actor.sol:
            scene.take([sol])
        scene.frame(scene.corners, (0.0, T), scene.values())
        end = ", ".join(f"{s} = {x:.2f}" for s, x in zip(system.q[:2], sol.q[-1], strict=False))
        return scene.move(t) | {"at the end": end, "spread of the energy": _spread(sol)}

    alt = f"{caption} The moving body above, a curve over time below.".strip()
    given = {"caption": caption, "alt": alt, **sliders, "t": (0.0, float(T), 0.4 * T)}
    return play(panel(picture, update, **given), "t")


def _spread(sol):
    return f"{np.ptp(sol.energy()):.1e}"
