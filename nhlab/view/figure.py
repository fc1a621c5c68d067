"""What a panel shows, as data: runs, curves, axes, views, controls and what is said of them.

A ``Figure`` is drawn by two renderers, by matplotlib in the notebook (``view.sheet``) and by a page
that computes by itself (``browser.book`` and ``page.js``).  Both take runs, readings, limits and
verdicts from here; a test compares them at random settings.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ..run.errors import IntegrationError
from ..run.loop import integrate
from . import plot
from .errors import error_in_words, error_of, growth_in_words, size_of
from .offers import Offer, Still, alike, are_moved, found_still, of_rule, offered
from .panel import Bar, first_of
from .readings import distance_between, values_of
from .setting import Call, Setting

CHOICES = ("system", "method", "view")  # controls that say what is shown, not at which values
ALPHA = 0.3  # is set, or the next that its slider has, where 1/2 would show nothing

# ---------------------------------------------------------------------------- the parts of a figure


class Curve(NamedTuple):
    """A curve of one run.

    run : its name;  reading : what is read of it (``Reading.source``)
    look : keywords of ``plot``;  label : in the legend;  title : in the read-out and in sentences
    skip : how many points at the start are left out
    discrete : True if only methods with a discrete Lagrangian have this reading
    """

    run: str
    reading: dict
    look: dict
    label: str = ""
    title: str = ""
    skip: int = 0
    discrete: bool = False


class Label(NamedTuple):
    """Letters at a place of a drawing.

    right, up : the direction in which they stand beside the place, as a unit vector, at a distance
        that does not change with the scale; zero if they stand on it
    """

    x: float
    y: float
    text: str
    right: float = 0.0
    up: float = 0.0


class Drawing(NamedTuple):
    """Shapes and letters that are computed from the start or from the nodes of a run.

    shapes : Runs -> list of Shape;  labels : Runs -> list of Label
    run : the run at whose nodes they are drawn, "" if they follow the start alone; then the first
        of the shapes are the nodes themselves

    A page gets both functions by tracing them (``codegen.traced``): arithmetic is all they do.
    """

    shapes: Callable
    labels: Callable
    run: str = ""


class Axes(NamedTuple):
    """One diagram.

    end : the horizontal axis begins with 0 and ends with "T" or "steps" of the call; "" if not
    equal : same scale in both directions
    x, y : limits that do not follow the curves; on a logarithmic axis y[0] is a floor
    bare : neither frame nor ticks;  least : limits hold at least [-least, least]
    """

    xlabel: str
    ylabel: str
    curves: list
    end: str = ""
    equal: bool = False
    logarithmic: bool = False
    x: tuple | None = None
    y: tuple | None = None
    bare: bool = False
    least: float = 0.0
    drawing: Drawing | None = None


class View(NamedTuple):
    """Diagrams one above the other, and what is said under them.

    number : how the read-out sums up a curve, a key of ``plot.NUMBERS``; "" if a judge speaks
    true_run : the run whose first energy is the true value of the curves; "" if that is 0
    judged : the runs whose errors are shown as bars -> what the legend calls them
    """

    axes: list
    number: str = ""
    true_run: str = ""
    judged: dict = {}  # noqa: RUF012 (never changed)


# ---------------------------------------------------------------------------- what is computed


class Runs(NamedTuple):
    """What was computed for a setting: trajectories by name, as far as they came.

    stops : name -> the IntegrationError of a run that stopped
    """

    call: Call
    sols: dict
    stops: dict


class Shape(NamedTuple):
    """The points of a curve on one of the axes; ``name`` is that of its run or of what it draws."""

    name: str
    x: np.ndarray
    y: np.ndarray
    look: dict
    row: int = 0
    label: str = ""
    title: str = ""


@lru_cache(64)
def exact_run(system, q0, v0, h, steps, method):
    """The reference: it takes most of the time, and neither alpha nor the rule changes it."""
    return integrate(system, method, q0, v0, h=h, steps=steps, progress=False)


@dataclass(frozen=True)
class Figure:
    """All that is shown by a panel, and all that a page needs to show the same.

    setting : systems, methods and the ranges of sliders;  controls : the widgets by key
    views : name -> View;  caption, alt : words below the picture, and in its place
    judge : found -> (does the claim hold, in which numbers), with found[run].y, .true, .sol
    second : the name of the run whose second point the other runs are given as q1; "" if none
    code : (call, the system before its parameters were moved, view) -> text
    warns : are energies that jump reported?  A judge says so itself.
    first : the controls that are seen at once, None for those of ``panel.first_of``; both renderers
        ask ``seen_at_once``
    tries : questions -> values of controls;  offers : view -> Offer of another one, or several
    extra : labels -> functions of a trajectory, added to the read-out; a page leaves them out
    motion : the names of the runs whose bodies move beside the picture
    body : what moves there, as in ``nh.animate``; None for the system's own
    quick_steps : the length of runs while a slow figure is dragged; None leaves out the reference
    legend : how narrow the legend is, keywords of matplotlib; then it has no thin lines
    page : what a page shows instead where it cannot show all
    """

    setting: Setting
    controls: dict
    views: dict
    caption: str = ""
    alt: str = ""
    judge: Callable | None = None
    second: str = ""
    size: tuple = (6.4, 4.2)
    code: Callable | None = None
    warns: bool = False
    first: list | tuple | None = None
    tries: dict | tuple = ()
    offers: dict = field(default_factory=dict)
    extra: dict | tuple = ()
    motion: tuple | list = ()
    body: object = None
    quick_steps: int | None = None
    legend: dict = field(default_factory=dict)
    page: "Figure | None" = None

    # ---- the present setting

    def view_name(self, values: dict) -> str:
        """The view that the controls choose."""
        return values.get("view", next(iter(self.views)))

    def chosen_runs(self, values: dict) -> list:
        """The names of the runs that the controls choose."""
        pick = values.get("method", -1)
        return [name for k, name in enumerate(self.setting.methods) if pick in (-1, k)]

    @property
    def seen_at_once(self) -> list:
        """The controls that do not stand under More."""
        return [*(first_of(self.controls) if self.first is None else self.first)]

    def offers_of(self, view: str) -> list[Offer]:
        """What a view offers when one of some controls was moved."""
        given, low = self.offers.get(view, ()), self.setting.ranges.get("alpha", [1])[0]
        found = [given] if isinstance(given, Offer) else [*given]
        if self.setting.rule and low < 0.5:
            kept = next((x for x in found if "alpha" in x.keys), None)
            found = [of_rule(view, max(low, ALPHA), kept), *found]
        return found

    def offer(self, values: dict, still: Still | None = None) -> list | None:
        """[words, values] of another view that answers what was moved, the values None where none
        does; None if nothing is to be said.  ``still`` : what ``still`` has found."""
        offers = self.offers_of(self.view_name(values))
        return offered(offers, values, self.setting.defaults, still)

    def still(
        self, values: dict, runs: Runs, earlier: dict, before: Runs, known: Still | None = None
    ) -> Still | None:
        """The slider that alone was moved since an earlier drawing, if no curve followed it.

        values, runs : of this drawing;  earlier, before, known : of that one, and what it found
        """
        moved = [k for k, x in values.items() if not alike(x, earlier[k])]
        view = self.view_name(values)
        if len(moved) != 1 or moved[0] in CHOICES or self.moves(view, runs, before):
            return None
        if known and known.key == moved[0]:  # it goes on
            return known
        moving = [name for name in self.views if self.moves(name, runs, before)]
        return Still(*found_still(moved[0], self.controls[moved[0]].description, moving))

    def moves(self, view: str, runs: Runs, before: Runs) -> bool:
        """Do the curves of a view differ by more than rounding?"""
        return are_moved(*([x[1:3] for x in self.shapes(y, view)] for y in (runs, before)))

    def code_of(self, values: dict) -> str:
        """The calls that reproduce what is shown, and the plot."""
        call = self.setting.call(values)
        call = replace(call, methods={k: call.methods[k] for k in self.chosen_runs(values)})
        return self.code(call, self.setting.own(values), self.view_name(values))

    def for_page(self) -> "Figure":
        """What of it a page shows, which says what it leaves out."""
        if self.page is not None:
            first, tries = self.first, self.tries
            return replace(self.page, first=first, tries=tries, offers=self.offers)
        out = f" Not on this page: {', '.join(dict(self.extra))}." if self.extra else ""
        return replace(self, caption=self.caption + out)

    # ---- runs

    def compute(self, values: dict, quick: bool = False) -> Runs:
        """The runs of a setting; ``quick`` while a slider is dragged and the last were slow."""
        call, sols, stops = self.setting.call(values), {}, {}
        for name in self.chosen_runs(values):
            if quick and self._can_wait(call.methods[name]):
                continue
            try:
                with warnings.catch_warnings():
                    if not self.warns:
                        warnings.simplefilter("ignore", RuntimeWarning)
                    sols[name] = self._run(call, name, quick)
            except IntegrationError as error:
                sols[name], stops[name] = error.trajectory, error
        return Runs(call, sols, stops)

    def _can_wait(self, method):
        """Is it the reference of a figure that is drawn without it meanwhile?"""
        return method.is_reference and self.quick_steps is None and not self.second

    def _run(self, call, name, quick):
        most = self.quick_steps if quick else None
        if call.methods[name].is_reference:
            steps = min(call.steps, most or call.steps)
            return exact_run(call.system, call.q0, call.v0, call.h, steps, call.methods[name])
        if self.second:
            return call.run(name, most, q1=self._run(call, self.second, quick).q[1])
        return call.run(name, most)

    # ---- curves

    def shapes(self, runs: Runs, view: str) -> list[Shape]:
        """The points of all curves of a view that its runs have."""
        every = []
        for row, axes in enumerate(self.views[view].axes):
            if axes.drawing:
                every += [x._replace(row=row) for x in axes.drawing.shapes(runs)]
            for curve in axes.curves:
                sol = runs.sols.get(curve.run)
                if sol is not None and (sol.method.discrete or not curve.discrete):
                    x, y = (z[curve.skip :] for z in points_of(curve.reading, sol, runs))
                    words = {"label": curve.label, "title": curve.title}
                    every.append(Shape(curve.run, x, y, curve.look, row, **words))
        return every

    def labels(self, runs: Runs, view: str) -> list[Label]:
        """Letters to be written into the first of the axes."""
        drawing = self.views[view].axes[0].drawing
        return drawing.labels(runs) if drawing else []

    # ---- what is said

    def said(self, runs: Runs, view: str, shapes: list[Shape]) -> dict:
        """The read-out, label -> text or Bar; under "error" why runs stopped."""
        error = {"error": "; ".join(map(str, runs.stops.values()))}
        if not self.judge:
            return error | self._numbers(runs, view, shapes)
        holds, numbers = self.verdict(runs, view, shapes)
        verdict = {claim_words(holds): numbers}
        return error | verdict | ({} if runs.stops else self._bars(runs, view, shapes))

    def _numbers(self, runs, view, shapes):
        """The number of each curve that is drawn; of a size also a bar, and whether it grows."""
        (axes, *_), number, text = *self.views[view][:2], {}
        drawn = {x.name: x for x in shapes}
        for curve in axes.curves if number else ():
            if curve.run not in runs.sols:
                continue
            if curve.run not in drawn:
                text[f"{curve.title}:"] = f"has no {view}"
                continue
            x, y = drawn[curve.run].x, drawn[curve.run].y
            what = f"{curve.title}: {what_is_read(view, number)}"
            text[what] = summary_of(number, x, y, curve.look["color"])
            for label, f in dict(self.extra).items():
                value = _number(label, f(runs.sols[curve.run]))
                text[f"{curve.title}: {label}"] = f"{value:.4g}"
        return text

    def found(self, runs: Runs, view: str, shapes: list[Shape]) -> dict:
        """What a judge looks at: of each run of a view the trajectory ``sol``, all that is drawn of
        it, ``y``, and the value that the true motion has there, ``true``."""
        names, drawn = runs_of_view(self, view), {}
        for shape in shapes:
            drawn.setdefault(shape.name, []).append(shape.y)
        true = runs.sols.get(self.views[view].true_run)
        true = 0.0 if true is None else true.energy()[0]
        return {
            k: SimpleNamespace(sol=sol, y=np.concatenate(drawn.get(k, [[]])), true=true)
            for k, sol in runs.sols.items()
            if k in names
        }

    def verdict(self, runs: Runs, view: str, shapes: list[Shape]) -> tuple:
        """Does the claim hold, and in which numbers?"""
        for name, stop in runs.stops.items():
            label = plain(plot.label(self.setting.methods[name]))
            return False, stop_words(label, stop.step, stop.time)
        return self.judge(self.found(runs, view, shapes))

    def _bars(self, runs, view, shapes):
        """The error of each run that is judged, as a bar."""
        found, bars = self.found(runs, view, shapes), {}
        for name, label in self.views[view].judged.items():
            if name in found and len(found[name].y):
                size, growing = error_of(found[name].y, found[name].true)
                colour = plot.look(runs.call.methods[name])["color"]
                bars[plain(label)] = Bar(error_in_words(size, growing), size, colour)
        return bars


def claim_words(holds):
    """What is said before the numbers of a judge; a page says the same by translation."""
    return f"The claim {'holds' if holds else 'does not hold'} here:"


def stop_words(label, step, time):
    """What is said instead of them of a run that stopped."""
    return f"{label} stops after {step} steps at t = {time:.4g}"


def points_of(reading: dict, sol, runs: Runs) -> tuple:
    """(x, y) of a run by the source of a reading, perhaps beside another run."""
    if reading["what"] == "error":
        return distance_between(sol, runs.sols[reading["x"]])
    return values_of(reading, sol)


def runs_of_view(figure: Figure, view: str) -> list[str]:
    """The runs whose curves a view has, in the order of the methods; of a drawing all."""
    axes = figure.views[view].axes
    names = {curve.run for a in axes for curve in a.curves}
    every = any(a.drawing for a in axes)
    return [k for k in figure.setting.methods if every or k in names]


def what_is_read(view: str, number: str) -> str:
    """What a read-out says before a number."""
    return {"end": "ends at", "from .. to": view}.get(number, f"{view} {number}")


def summary_of(number: str, x: np.ndarray, y: np.ndarray, colour: str):
    """A curve in one number; if that is a size, as a bar that says whether it grows."""
    if not len(y):
        return "-"
    text = plot.NUMBERS[number](x, y)
    if number not in plot.SIZES:
        return text
    size, growing = size_of(y, number)
    return Bar(f"{text}, {growth_in_words(size, growing)}", size, colour)


def _number(label, x):
    if np.ndim(x) or not np.isreal(x):
        raise ValueError(f"extra {label!r} gave {x!r}; it must give a number")
    return x


# ---------------------------------------------------------------------------- words without LaTeX

RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
LOWERED = str.maketrans("0123456789+-aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


def plain(text: str) -> str:
    """A label without LaTeX: for sentences, and for pages, which have no typesetter."""
    text = text.replace("$", "").replace(r"\,", " ").replace(r"\mathbb{R}", "ℝ")
    text = re.sub(r"\\dot\s*{?(\w)}?", "\\1\N{COMBINING DOT ABOVE}", text)
    text = re.sub(r"\\([a-z]+)\s?", lambda x: _greek(x[1]), text)
    text = re.sub(r"\^{?(\d+|[+-])}?", lambda x: x[1].translate(RAISED), text)
    return re.sub(r"_(\d+|[a-z]|{\w+})", lambda x: _lowered(x[1].strip("{}")), text)


def _lowered(text):
    low = text.translate(LOWERED)
    return low if low != text else f"_{text}"


def _greek(name):
    try:
        return unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    except KeyError:
        return name
