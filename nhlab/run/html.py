"""What a notebook shows of a run or of many: what it is, what it kept, and a small picture."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .ensemble import Ensemble
    from .trajectory import Trajectory

WIDTH, HEIGHT = 260, 84  # of a picture, in pixels
POINTS = 240  # of a curve
CURVES = 3  # coordinates of a run, or members of an ensemble, that are drawn
DASHES = ("", "5 2", "1.5 2")  # tells curves apart in both themes


def of_trajectory(sol: Trajectory) -> str:
    """A run as HTML."""
    s, names = sol.system, [x.name for x in sol.system.q]
    facts = [
        f"{_count(sol.steps, 'step')}, t = {sol.t[0]:.6g} to {sol.t[-1]:.6g}, {_step_sizes(sol)}",
        f"{_count(len(sol), 'node')} stored" + (f", every = {sol.every}" if sol.every > 1 else ""),
        f"q = ({', '.join(names)})",
    ]
    if numbers := [f"{k} = {x:.6g}" for k, x in s.numbers.items() if np.ndim(x) == 0]:
        facts.append(", ".join(numbers))
    if sol.message:
        facts.append(sol.message)
    if sol.t_events is not None:
        facts.append("events: " + ", ".join(str(len(x)) for x in sol.t_events))
    curves = [(name, sol.t, sol.q[:, k]) for k, name in enumerate(names[:CURVES])]
    if len(sol) > 1:
        own = ", each on a scale of its own" if len(curves) > 1 else ""
        facts.append(f"picture: {', '.join(names[:CURVES])} over time{own}")
    return _shown(f"{sol.system.label} by {sol.method!r}", facts, picture(curves))


def of_ensemble(many: Ensemble) -> str:
    """An ensemble as HTML."""
    first, complete = many.system.q[0].name, int(many.ok.sum())
    steps = _count(many.start.steps, "step")
    facts = [f"{_count(len(many), 'run')} of {steps}, {complete} complete"]
    if many.parameters:
        facts.append("varied: " + ", ".join(many.parameters))
    if many.rows is None:
        names = ", ".join(map(str, many.summary)) if isinstance(many.summary, dict) else "an array"
        return _shown(_title(many), [*facts, f"kept of each: its summary, {names}"], "")
    facts.append(f"kept of each: {_count(many.rows.shape[1], 'node')}")
    curves = [(f"run {k}", many.t[k], many.q[k, :, 0]) for k in range(min(len(many), CURVES))]
    if image := picture(curves):
        runs = f"the first {len(curves)} runs" if len(many) > 1 else "the run"
        facts.append(f"picture: {first} of {runs} over time")
    return _shown(_title(many), facts, image)


def _count(number: int, what: str) -> str:
    """ "1 step" or "3 steps"."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def _step_sizes(sol: Trajectory) -> str:
    """The step size, or the least and the largest of a method that chooses its own."""
    if not sol.method.variable_step or sol.steps < 1:
        return f"h = {sol.h0:.6g}"
    return f"h = {sol.h.min():.3g} to {sol.h.max():.3g}"


def _title(many: Ensemble) -> str:
    return f"Ensemble of {many.system.label} by {many.method!r}"


def _shown(title: str, facts: list[str], image: str) -> str:
    lines = "<br>".join(escape(x) for x in facts)
    return (
        f'<div style="display:flex;gap:1em;align-items:center"><div><b>{escape(title)}</b><br>'
        f"<small>{lines}</small></div>{image}</div>"
    )


def picture(curves: list[tuple[str, np.ndarray, np.ndarray]]) -> str:
    """Curves (name, t, x) over time as SVG, in the colour of the text; each fills its height."""
    parts, lines = [], []
    for (name, t, x), dash in zip(curves, DASHES, strict=False):
        good = np.isfinite(t) & np.isfinite(x)
        t, x = (y[good][:: max(len(t) // POINTS, 1)] for y in (t, x))
        if len(t) < 2:
            continue
        across = 4 + (WIDTH - 60) * (t - t[0]) / (t[-1] - t[0])
        span = np.ptp(x) or 1.0
        down = HEIGHT - 6 - (HEIGHT - 12) * (x - x.min()) / span
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
        line = min(max(float(down[-1]) + 3, 9), HEIGHT - 2)
        while any(abs(line - other) < 10 for other in lines):  # names stand below each other
            line = line + 10 if line < HEIGHT / 2 else line - 10
        lines.append(line)
        style = f'stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="currentColor" {style}/>'
            f'<text x="{WIDTH - 52}" y="{line:.1f}" '
            f'font-size="10" fill="currentColor">{escape(name)}</text>'
        )
    if not parts:
        return ""
    label = escape(f"{', '.join(name for name, *_ in curves)} over time")
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
