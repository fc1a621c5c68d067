"""Run in the kernel of a lesson after its last cell: what is wrong with its panels.

Later cells have changed none, their code alone gives what they show, limits hold the curves
wherever a slider goes, labels at ticks stand apart, every slider does something, and at the corners
of the ranges there are pictures and no errors.
"""

import builtins
import contextlib
import io
import itertools
import re
import symtable
from html import unescape

import matplotlib.pyplot as plt
import numpy as np
from ipywidgets.widgets import widget

from nhlab.course.figures import STATEMENTS
from nhlab.view.bands import is_band, running_mean
from nhlab.view.limits import calm_points
from nhlab.view.widgets import Panel

# Where EDLA has no step (05), and with alpha = 1 in FIM08 Figure 5: these panels may say so.
MAY_STOP = {
    "05_edla_energy",
    "05b_edla_energy_in_depth",
    "03b_projector_method_in_depth",
    "paper_figures",
}
FIGURES = tuple(s.title for s in STATEMENTS.values())
NO_FIGURE = {"01_variational_integrators", "05_edla_energy"}  # their papers have none


def shown(panel):
    return panel.image.value, panel.readout.value, panel.message.value


def sliders(panel):
    """The ends and the middle of each."""
    moved = {n: c for n, c in panel.controls.items() if hasattr(c, "max")}
    return {n: (c.min, (c.min + c.max) / 2, c.max) for n, c in moved.items()}


def overprinted(panel):
    """Labels at ticks that run into each other."""
    for ax in panel.picture.figure.axes:
        for k, axis in enumerate((ax.xaxis, ax.yaxis)):
            low, high = sorted(axis.get_view_interval())
            labels = [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
            boxes = [x.get_window_extent() for x in labels if x.get_visible() and x.get_text()]
            ends = sorted([b.x0, b.x1] if k == 0 else [b.y0, b.y1] for b in boxes)
            for (_, end), (begin, _) in itertools.pairwise(ends):
                if begin < end:
                    yield f"{ax.get_xlabel()} {begin}"


def redrawn(panel):
    """Drawn again it is the same picture."""
    first = shown(panel)
    panel.picture.changed()
    panel.draw()
    if shown(panel) != first:
        yield f"changed: {panel.alt}"


def curves(artists, means=False):
    """The points of all curves as texts; with the means of those that fill a band, as a panel draws
    them, if ``means``."""
    lines = [a.get_data() for a in artists if hasattr(a, "get_data") and a.get_visible()]
    lines = [[np.asarray(u, float) for u in xy] for xy in lines if len(xy[0])]
    if means:
        lines += [[running_mean(u) for u in xy] for xy in lines if is_band(*xy)]
    return sorted(str([[*map(float, x)] for x in xy]) for xy in lines)


def unbound(code):
    """The names that a text uses and nowhere binds."""
    tables = [symtable.symtable(code, "<copied>", "exec")]
    bound = {s.get_name() for s in tables[0].get_symbols() if s.is_assigned() or s.is_imported()}
    for table in tables:  # which grows
        tables += table.get_children()
    used = (s for x in tables for s in x.get_symbols() if s.is_referenced())
    free = {s.get_name() for s in used if s.is_global()}
    return free - bound - {*dir(builtins)}


def printed(code):
    """The lines that a text prints, with single spaces, without labels that nothing follows."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    lines = (" ".join(x.split()) for x in out.getvalue().splitlines())
    return {x for x in lines if x != "error"}


def said(panel):
    """The entries of a read-out as such lines, and why it stopped."""
    cells = (re.sub("<[^>]+>", "", x) for x in panel.readout.value.split("</b></span> "))
    stop = unescape(re.sub("<[^>]+>", "", panel.message.value))
    return {" ".join(unescape(x).split()) for x in cells} | {f"error {stop}"}


def copied(panel, names):
    """Its code, which needs nothing else, gives its curves and numbers.

    What makes the panel once more is run among the notebook's names: they were bound as it binds
    them, which may take long."""
    code = panel._code(panel.values)
    if unbound(code):
        yield f"{unbound(code)} are nowhere bound in its code: {code}"
    head, call, tail = code.partition("\npanel = ")
    if call:
        space = dict(names)
        exec(call + tail, space)
        same = shown(space["panel"]) == shown(panel) and code.count("panel.set(") == 1
    elif "\ncomputed(" in code:  # the function of a panel without what it draws
        same = printed(code) <= said(panel)
    else:
        space = {}
        exec(code, space)
        drawn = [*space["ax"].lines, *space["ax"].collections]
        plt.close("all")
        alone = code.count("nh.plot.draw(") == 1 and hasattr(panel.picture, "moving")
        same = drawn and (not alone or curves(drawn, True) == curves(panel.picture.moving))
    if not same:
        yield f"not what its code makes: {code}"


def unrounded(panel):
    """Numbers of sliders that its code has as arithmetic gives them, not as one writes them."""
    long = [x for x in panel.values.values() if isinstance(x, float) and len(repr(x)) > 15]
    return [x for x in long if repr(x) in panel._code(panel.values)]


def unseen(panel):
    """Curves that are not in the picture, on axes whose limits follow them: less than 97 % of their
    points, of those that explode of the calm ones, and of those that go on beyond the end of a time
    axis of those before it."""
    for line in panel.picture.moving:
        ax = line.axes
        if not (hasattr(line, "get_data") and line.get_visible() and panel.picture.follows(ax)):
            continue
        x, y = (np.asarray(u, float) for u in line.get_data())
        x, y = (x[: calm_points(y)], y[: calm_points(y)])
        (left, right), (low, high) = np.sort([ax.get_xlim(), ax.get_ylim()])
        known = np.isfinite(x + y) & ((x <= right) | ("$t$" not in ax.get_xlabel()))
        dx, dy = 2e-3 * (right - left), 2e-3 * (high - low)
        inside = (x >= left - dx) & (x <= right + dx) & (y >= low - dy) & (y <= high + dy)
        if known.any() and inside[known].mean() < 0.97:
            yield f"{line.get_label()} is not in the picture of {ax.get_ylabel()}"


def moved(panel):
    """Each slider alone, to its ends and its middle."""
    start = panel.values
    for name, ends in sliders(panel).items():
        seen = []
        for value in ends:
            panel.set(**{name: value})
            seen.append(shown(panel))
            yield from (f"at {name} = {value}: {x}" for x in unseen(panel))
            yield from (f"unrounded in its code: {x!r}" for x in unrounded(panel))
            yield from (f"overprinted at {name} = {value}: {x}" for x in overprinted(panel))
        offer = getattr(panel, "offer", None)  # it says why, and offers a view in which it does
        says_why = offer is not None and offer.layout.display != "none"
        if (seen[0] == seen[1] or seen[1] == seen[2]) and not says_why:
            yield f"{name} does nothing"
        panel.set(**start)


def corners(ends):
    """Few corners of the ranges, of which any two sliders see all four of their own.

    In the first all are at their lower ends; each is at its upper end in a majority of the other
    rows, and no two in the same (Kleitman and Spencer).
    """
    count = 6 if len(ends) <= 10 else 8
    upper = itertools.combinations(range(1, count), count // 2)
    rows = [[k in rows for k in range(count)] for rows in itertools.islice(upper, len(ends))]
    found = [
        tuple(e[up] for e, up in zip(ends, ups, strict=True)) for ups in zip(*rows, strict=True)
    ]
    return list(dict.fromkeys(found))


def at_corners(panel, may_stop):
    """All sliders at once."""
    names, ends = sliders(panel), [(low, high) for low, _, high in sliders(panel).values()]
    for point in corners(ends):
        panel.set(**dict(zip(names, point, strict=True)))
        said = panel.message.value
        if "Traceback" in said or (said and not (may_stop and "stopped after" in said)):
            yield f"said at {point}: {said}"
        yield from (f"at {point}: {x}" for x in unseen(panel))
        if len(panel.image.value) < 1000:
            yield f"no picture at {point}"


def moved_bodies(panel):
    """A panel whose bodies move on a stage: each slider to its ends and its middle gives another
    motion, and none an error."""
    start = panel.values
    for name, ends in sliders(panel).items():
        scenes = []
        for value in ends:
            panel.set(**{name: value})
            scenes.append(panel.stage.packed)
            if panel.message.value:
                yield f"said at {name} = {value}: {panel.message.value}"
        if len({*scenes}) < len(ends):
            yield f"{name} does nothing"
        panel.set(**start)


def faults(panel, names, stem):
    """All that is wrong with a panel; the figures of the papers are moved on their own page."""
    if getattr(panel, "stage", None) is not None:
        return itertools.chain(copied(panel, names), moved_bodies(panel))
    checks = [redrawn(panel), copied(panel, names)]
    if stem == "paper_figures" or not panel.alt.startswith(FIGURES):
        checks += [moved(panel), at_corners(panel, stem in MAY_STOP)]
    return itertools.chain(*checks)


def has_three_kinds(panel):
    """Sliders for h, for alpha and for the start, as a figure of a paper has them?"""
    return {"h", "alpha"} <= {*panel.controls} and any("0." in key for key in panel.controls)


def check(names, stem):
    """The panels of a notebook whose variables are ``names``."""
    panels = [x for x in list(widget._instances.values()) if isinstance(x, Panel)]
    found = [f"panel {k}: {x}" for k, p in enumerate(panels) for x in faults(p, names, stem)]
    if stem in NO_FIGURE and not any(map(has_three_kinds, panels)):
        found.append("no panel has sliders for h, for alpha and for the start")
    assert not found, "\n".join(found)
