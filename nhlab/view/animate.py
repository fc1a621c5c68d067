"""``animate``: computed motions on a stage, side by side or over each other, a reading below them;
``motion_panel``: a system that runs anew when its sliders move, and is played."""

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral

import numpy as np

from ..mechanics.checks import need
from ..mechanics.system import System
from ..methods import DLA, Reference
from ..run.arguments import positive
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from . import plot, scene
from .models import model
from .panel import panel, play
from .picture import Picture
from .player import Stage
from .scene import names_of, reading_below, serves
from .stage import Scene, actor

PALE = "#7A828C"  # the ghost of the true motion


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
    frames=72,
    exact=None,
    overlay=None,
    below=None,
    future=False,
    names=None,
):
    """Play computed motions; returns a Stage, which a notebook shows and ``save`` writes to a file.

    body : shows a system that is not of the catalogue: a function of q that returns outlines,
        arrays of points (k, 2), or (k, 3) in space; or a subclass of nh.bodies.Body
    exact : a trajectory that is shown as a ghost beside the others, or True for the true motion
    overlay : all motions on the same floor; by default if ``exact`` is given, else side by side
    below : a reading of nhlab.plot, as "energy", drawn in step; or a pair (label, function of a
        trajectory that gives an array as long as its t)
    future : show the paths beforehand
    names : what the legend calls the motions, one name for each and, if ``exact`` is given, one
        more for the ghost; by default the names of their methods
    size : (width, height), of which the ratio counts;  frames : pictures of a film that is saved
    """
    if not sols:
        raise ValueError("give one or two trajectories to play")
    _check(sols)
    if not (isinstance(frames, Integral) and frames > 0):
        raise ValueError(f"frames = {frames!r} must be a whole number, at least 1")
    ghost = _ghosts(exact, sols[0])
    overlay = bool(ghost) if overlay is None else overlay
    reading = None if below is None else reading_below(below, sols[0].system)
    names = _names(names, [*ghost, *sols], len(ghost))
    cast = _cast([*ghost, *sols], names, body, reading, bool(ghost), overlay)
    if reading and not any(a.reading for a in cast):
        raise ValueError(f"below = {below!r} is a reading of discrete methods, and here is none")
    first, own = list(range(len(ghost))), range(len(ghost), len(cast))
    panes = [[*first, *own]] if overlay else [[*first, k] for k in own]
    ends = float(max(s.t[0] for s in sols)), float(min(a.t[-1] for a in cast))
    label = text(reading.ylabel or reading.name) if reading else ""
    scene = Scene(cast, panes, ends, label=label, aspect=_aspect(size, panes), future=future)
    return Stage(replace(scene, alt=_words(scene, sols[0].system, caption)), caption, frames)


def _aspect(size, panes):
    """The ratio of the sides of what is shown, without the curves below."""
    if size is None:
        return 1.9 if len(panes) == 1 else 2.1
    try:
        width, height = map(float, size)
        ratio = width / height
    except (TypeError, ValueError, ZeroDivisionError):
        raise ValueError(f"size = {size!r} must be (width, height)") from None
    return float(np.clip(ratio, 1.3, 2.4))


def _names(names: list[str] | None, sols: list[Trajectory], ghosts: int) -> list[str]:
    """What the legend calls the motions, the ghost's name first; by default as their methods."""
    if names is None:
        return names_of(sols, bool(ghosts))
    known = isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
    if not known or len(names) != len(sols):
        wanted = f"{len(sols)} names, one for each motion" + " and one for the ghost" * ghosts
        raise ValueError(f"names = {names!r} must be a list of {wanted}")
    return [*names[len(names) - ghosts :], *names[: len(names) - ghosts]]


def _cast(sols, names, given, reading, ghost, overlay):
    """The actors.  Runs of one system share a body, as large as all of them ask for, unless they
    are side by side and of very different size."""
    reach = [np.ptp(s.q[np.isfinite(s.q).all(1)], 0).max() for s in sols]
    apart = not overlay and max(reach) > 3 * min(reach)
    made, cast = {}, []
    for k, (sol, name) in enumerate(zip(sols, names, strict=True)):
        key = sol.system.name, len(sol.system.q), str(sol.system.parameters), apart and k
        if key not in made:
            company = [x for x in sols if len(x.system.q) == len(sol.system.q)]
            made[key] = model(sol.system, [sol] if apart else company, given)
        pale, look = ghost and not k, plot.look(sol.method)
        reads = reading is not None and serves(reading, sol, pale)
        values, colour = reading.read(sol) if reads else None, PALE if pale else look["color"]
        style = {"ghost": pale, "dash": look["linestyle"] == "--"}
        cast.append(actor(sol, made[key], text(name), colour, values, **style))
    return cast


def _words(scene, system, caption):
    """What there is to see."""
    main = scene.main(0)
    names = " and ".join(dict.fromkeys(a.name for a in scene.actors))
    begin, end = scene.times
    said = f"{caption} {main.model.says}: {system.name or 'the system'}, {names}"
    return f"{said}, from t = {begin:g} to {end:g}.".strip()


GREEK = {"alpha": "α", "phi": "φ", "theta": "θ", "psi": "ψ", "omega": "ω", "varepsilon": "ε"}


def text(label):
    """A label with formulas as plain text."""
    label = re.sub(r"\\([a-zA-Z]+)", lambda found: GREEK.get(found[1], found[1]), label)
    return re.sub(r"[$\\{}]", "", label).replace(",", ", ").replace(",  ", ", ").strip()


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
    picture = Picture(size, 1 + bool(reading), **({"height_ratios": (3, 1)} if reading else {}))
    axes = (*picture.axes, None)[:2]
    picture.figure.set_layout_engine(None)  # so that no layout is computed while a slider moves
    picture.figure.subplots_adjust(0.13, 0.12, 0.96, 0.93, None, 0.45)
    drawn = scene.Scene(picture, axes, [sol], [sol], body, reading, ghost=False, future=True)

    def update(_, values, __):
        t, (actor,) = values.pop("t"), drawn.actors
        sol = run(tuple(values.items()))
        if sol is not actor.sol:
            drawn.take([sol])
        drawn.frame(drawn.corners, (0.0, T), drawn.values())
        end = ", ".join(f"{s} = {x:.2f}" for s, x in zip(system.q[:2], sol.q[-1], strict=False))
        return drawn.move(t) | {"at the end": end, "spread of the energy": _spread(sol)}

    alt = f"{caption} The moving body above, a curve over time below.".strip()
    given = {"caption": caption, "alt": alt, **sliders, "t": (0.0, float(T), 0.4 * T)}
    return play(panel(picture, update, **given), "t")


def _spread(sol):
    return f"{np.ptp(sol.energy()):.1e}"
