"""``animate``: computed motions on a stage, side by side or over each other, a reading below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ..mechanics.checks import brief
from ..methods import Reference
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from . import plot
from .models import model
from .player import Stage
from .stage import Scene, actor

PALE = "#7A828C"  # the ghost of the true motion


def _check(sols):
    for sol in sols:
        if not isinstance(sol, Trajectory):
            remedy = "play what nh.integrate returns, several as animate(a, b)"
            raise ValueError(f"{brief(sol)} is no trajectory; {remedy}")
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
    *sols: Trajectory,
    body: Any = None,
    caption: str = "",
    size: tuple[float, float] | None = None,
    frames: int = 72,
    exact: Any = None,
    overlay: Any = None,
    below: Any = None,
    future: bool = False,
    names: Sequence[str] | None = None,
) -> Stage:
    """Play computed motions; returns a Stage, which a notebook shows and ``save`` writes to a file.

    Parameters
    ----------
    sols : the Trajectories to play, one or several
    caption : a sentence about them, read out by screen readers
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

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.sleigh(), nh.DLA(), h=0.1, steps=100)
    >>> film = nh.animate(sol, caption="A sleigh on ice.")
    >>> film.alt
    'A sleigh on ice. A sleigh with one sharp blade glides over ice and draws a line with it: ...'
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
            alike = [x for x in sols if len(x.system.q) == len(sol.system.q)]
            made[key] = model(sol.system, [sol] if apart else alike, given)
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


# ---------------------------------------------------------------------------- names and readings


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


TRUE = "true motion"


def names_of(sols, ghost):
    """Names of the methods, with the step size where it tells them apart; what the reference
    solution gives is the true motion, and a ghost named like another is called one."""
    names = [TRUE if s.method.is_reference else plot.label(s.method) for s in sols]
    steps = {x: {s.h0 for s, name in zip(sols, names, strict=True) if name == x} for x in names}
    several = {name for name in names if len(steps[name]) > 1 and name != TRUE}
    found = [f"{x}, $h={s.h0:g}$" * (x in several) or x for x, s in zip(names, sols, strict=True)]
    return [f"{found[0]} (ghost)" if ghost and found[0] in found[1:] else found[0], *found[1:]]
