"""A figure for a page that computes in the browser: its data and functions in JavaScript.

``book_of`` writes down a ``Figure``; ``runtime`` is what all figures share: ``page.js`` and the
functions of Python that it calls, translated.
"""

from dataclasses import dataclass, field, fields, replace
from inspect import signature
from numbers import Real
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import sympy as sp

from ..codegen.javascript import of_function
from ..codegen.traced import Traced, expression, symbols
from ..methods.method import component_shares
from ..run.explain import energy_jump, energy_warning, hidden_energy, rows_apart
from ..view import bands, offers, plot
from ..view.bands import is_band, running_mean
from ..view.errors import bar_shares, error_in_words, error_of, growth_in_words, size_of
from ..view.figure import (
    CHOICES,
    Axes,
    Curve,
    Figure,
    Runs,
    claim_words,
    plain,
    runs_of_view,
    stop_words,
    what_is_read,
)
from ..view.labels import ASIDE
from ..view.limits import (
    ROOM,
    calm_points,
    is_loose,
    next_limits,
    next_limits_to_scale,
    to_scale,
    who_leaves,
)
from ..view.player import KEY
from ..view.readings import READERS, distance_between, largest_of
from ..view.recall import clean
from ..view.setting import Call, in_given_digits, steps_within
from .script import (
    ALPHA,
    BLANK,
    Code,
    drawing,
    literal,
    of_method,
    of_system,
    with_blank,
)

NODES = 64  # letters for so many nodes


def book_of(figure: Figure, motion: dict | None, diagrams: list) -> str:
    """The data and functions of a figure, in JavaScript.

    motion : the scene whose bodies its runs move (``motion.for_page``), or None
    diagrams : the shapes of all diagrams of a page; those of this figure are added
    """
    return Book(figure).script(motion, diagrams)


class Book:
    """Writes down one figure."""

    def __init__(self, figure):
        self.figure, self.setting, self.tracings = figure, figure.setting, []

    def script(self, motion, diagrams):
        figure = self.figure
        judge = figure.judge and _translated(figure.judge)
        book = {
            "controls": [control(k, c) for k, c in figure.controls.items()],
            "systems": [self._system(k) for k in range(len(self.setting.systems))],
            "runs": {name: self._run(name) for name in self.setting.methods},
            "h": self.setting.step,
            "T": float(self.setting.T) if isinstance(self.setting.T, Real) else None,
            "steps": self.setting.steps,
            "second": figure.second,
            "views": [self._view(name, diagrams) for name in figure.views],
            "drawings": [tracing.script() for tracing in self.tracings],
            "caption": plain(figure.caption),
            "judge": judge,
            "warns": figure.warns,
            "first": figure.seen_at_once,
            "tries": dict(figure.tries),
            "offers": {k: [x._asdict() for x in figure.offers_of(k)] for k in figure.views},
            "motion": motion,
        }
        return literal(book)

    def _system(self, k):
        (q0, v0, free), system = self.setting.starts[k], self.setting.systems[k]
        start = {"q0": system.configuration(q0).tolist(), "v0": v0.tolist()}
        return of_system(system, free) | start

    def _run(self, name):
        m, second = self.setting.methods[name], self.figure.second not in ("", name)
        kinds = [_by_rule(m, x) for x in self._rules]
        found = [[_possible(s, x, second) for x in kinds] for s in self.setting.systems]
        return {"label": plain(plot.label(m)), "methods": found}

    @property
    def _rules(self):
        return (False, True) if self.setting.rule else (None,)

    def _code(self, view, k, symmetric):
        """The code of a view of one of the systems, with blanks for what the page fills in."""
        system, alpha = self.setting.systems[k], "alpha" in self.setting.ranges
        moved = [key[4:] for key in self.setting.sliders if key.startswith("par.")]
        varied = system.with_arrays({x: Blank(f"par.{x}") for x in moved}, True)
        methods = {x: _by_rule(m, symmetric) for x, m in self.setting.methods.items()}
        methods = {x: with_blank(m) if alpha else m for x, m in methods.items()}
        parts = (("q0", system.q), ("v0", system.v))
        start = [tuple(Blank(f"{x}.{j}") for j in range(len(names))) for x, names in parts]
        call = Call(varied, methods, *start, Blank("h"), Blank("steps"), None)
        return self.figure.code(call, system, view).replace(str(ALPHA), BLANK.format("alpha"))

    # ---- views

    def _view(self, name, diagrams):
        view = self.figure.views[name]
        traced = [self._traced(axes) for axes in view.axes]
        read = {k: [] for k in runs_of_view(self.figure, name)}  # what a judge looks at
        for curve in [c for axes in view.axes for c in axes.curves]:
            read[curve.run].append((curve.reading, curve.skip))
        readout = {"what": "", "number": view.number, "view": name}
        if view.number:
            readout["what"] = what_is_read(name, view.number)
        every = range(len(self.setting.systems))
        return {
            "name": name,
            "runs": list(self.setting.methods),
            "axes": [self._axes(row, *x, view, diagrams) for row, x in enumerate(traced)],
            "code": [[self._code(name, k, x) for x in self._rules] for k in every],
            "found": read,
            "readout": readout,
            "true_run": view.true_run,
            "judged": {k: (plain(x), self._colours(k)) for k, x in view.judged.items()},
        }

    def _colours(self, run):
        return colours(plot.look(self.setting.methods[run]))

    def _axes(self, row, axes, labels, view, diagrams):
        """One diagram; figures share diagrams of the same shape."""
        width, height = (int(100 * x) for x in self.figure.size)
        names = [c.label if row == 0 else "" for c in axes.curves]
        looks = [c.look | {"label": x} for c, x in zip(axes.curves, names, strict=True)]
        shape = {"row": row, "looks": looks, "size": (width, height // len(view.axes))}
        shape |= {key: getattr(axes, key) for key in ("equal", "logarithmic", "bare")}
        shape["labels"] = labels is not None
        if shape not in diagrams:
            diagrams.append(shape)
        curves = [
            c._asdict() | {"label": plain(x)} for c, x in zip(axes.curves, names, strict=True)
        ]
        for curve in curves:
            del curve["look"]
        about = axes._asdict() | {"diagram": diagrams.index(shape), "curves": curves}
        del about["drawing"]
        words = {"xlabel": plain(axes.xlabel), "ylabel": plain(axes.ylabel)}
        return about | words | {"labels": labels}

    # ---- drawings

    def _traced(self, axes: Axes) -> tuple[Axes, dict | None]:
        """The axes with the shapes of its drawing as curves, and its letters."""
        if axes.drawing is None:
            return axes, None
        trace = self._at_nodes if axes.drawing.run else self._at_start
        curves, labels = trace(axes.drawing)
        return axes._replace(curves=curves), labels

    def _at_start(self, drawing):
        """A drawing that follows (q0, parameters)."""
        system = self.setting.systems[0]
        q, par = symbols(map(str, system.q)), _parameters(system)
        named = dict(zip([s.name for s in system.parameters], par, strict=True))
        call = SimpleNamespace(system=system.with_arrays(named, True), q0=tuple(q))
        runs, tracing = Runs(call, {}, {}), self._trace([*q, *par], "start")
        curves = [_curve_of(x, "", tracing.add(x.x, x.y)) for x in drawing.shapes(runs)]
        return curves, self._letters(tracing, drawing.labels(runs))

    def _at_nodes(self, drawing):
        """The picture of three nodes says what is drawn at the one in the middle."""
        system, run = self.setting.systems[0], drawing.run
        par = _parameters(system)
        q, p, leaving = (symbols(f"{x}_{name}" for name in system.degrees) for x in ("q", "p", "m"))
        sol = SimpleNamespace(
            q=np.array([q] * 3), p=np.array([p] * 3), p_minus=np.array([leaving] * 2)
        )
        sol.system, runs = TracedSystem(system, par), Runs(None, {run: sol}, {})
        inner = self._trace([*q, *p, *leaving, *par], "inner", run)
        nodes, *others = drawing.shapes(runs)
        curves = [_curve_of(nodes, run, {"what": "columns", "x": "x", "y": "y"})]
        curves += [_curve_of(x, run, inner.add(x.x, x.y)) for x in others]
        sol.q = np.array([q] * NODES)
        labels = drawing.labels(runs)
        letters = self._letters(self._trace([*q, *par], "nodes", run), labels[:1])
        return curves, letters | {"words": [plain(label.text) for label in labels]}

    def _trace(self, given, places, run=""):
        self.tracings.append(Tracing(given, places, run))
        return self.tracings[-1]

    def _letters(self, tracing, labels):
        x, y, words, *aside = zip(*labels, strict=True)
        places = tracing.add(x, y) | {"aside": tracing.add(*aside)}
        index = self.tracings.index(tracing)
        return places | {"words": list(map(plain, words)), "drawing": index}


def _curve_of(shape, run, reading):
    return Curve(run, reading, shape.look, shape.label)


def _parameters(system):
    return symbols([s.name for s in system.parameters])


@dataclass(eq=False)
class Tracing:
    """Functions of the start or of the nodes of a run: of the symbols ``given``, the ``values``.

    places : "start", with (q0, parameters); "nodes" of ``run``, with (q, parameters); "inner"
        nodes, with (q, the momenta that arrive and that leave, parameters)
    """

    given: list
    places: str
    run: str = ""
    values: list = field(default_factory=list)

    def add(self, x, y):
        """Where the coordinates of some points stand among the values."""
        place = {"what": "drawn", "at": len(self.values), "count": len(x)}
        self.values += [expression(e) for e in (*x, *y)]
        return place

    def script(self):
        given = [expression(x) for x in self.given]
        function = drawing(given, self.values)
        return {"function": function, "places": self.places, "run": self.run}


class TracedSystem:
    """A system for traced states: the two functions that a drawing asks of it."""

    def __init__(self, system, par):
        self.system = system
        self.numbers = {s: x.e for s, x in zip(system.parameters, par, strict=True)}

    def _at(self, table, q, v):
        s = self.system
        here = self.numbers | {x: expression(y) for x, y in zip(s.q, q, strict=True)}
        here |= {x: expression(y) for x, y in zip(s.v, v, strict=True)}
        return sp.Matrix(table).xreplace(here)

    def momentum(self, q, v):
        rows = [self._at(self.system.symbolic.L_v, *x) for x in zip(q, v, strict=True)]
        return np.array([[Traced(e) for e in row] for row in rows])

    def velocity(self, q, p):
        """v with M v + b = p, b = dL/dv at v = 0."""
        rest, tables = [0] * len(self.system.v), self.system.symbolic
        rows = []
        for at, x in zip(q, p, strict=True):
            M, b = (self._at(t, at, rest) for t in (tables.M, tables.L_v))
            rows.append(M.LUsolve(sp.Matrix([expression(e) for e in x]) - b))
        return np.array([[Traced(e) for e in row] for row in rows])


# ---------------------------------------------------------------------------- small parts


class Blank:
    """A value that the page knows; of a parameter also the one that need not be written."""

    def __init__(self, key):
        self.key, self.plain = key, ""

    def __ne__(self, plain):
        self.plain = f" {float(plain)!r}"
        return True

    def __repr__(self):
        return BLANK.format(self.key + self.plain)


def control(key, c):
    """A control of a panel, in words and numbers."""
    about = {"key": key, "title": c.description}
    if hasattr(c, "options"):
        pairs = [x if isinstance(x, tuple) else (x, x) for x in c.options]
        values = [x for _, x in pairs]
        names = [[str(k), plain(name)] for k, (name, _) in enumerate(pairs)]
        return about | {"values": values, "options": names, "value": str(values.index(c.value))}
    digits = int(c.readout_format[1:-1]) if c.readout_format.endswith("f") else 0
    form = "0." + "0" * digits if digits else "0"
    ends = {"start": c.min, "end": c.max, "step": c.step, "value": c.value}
    return about | {"format": form, **ends}


def _by_rule(method, symmetric):
    own = symmetric is not None and "symmetric" in {f.name for f in fields(method)}
    return replace(method, symmetric=symmetric) if own else method


def _possible(system, method, second):
    """The script of a method, or None if it cannot treat one of several systems."""
    try:
        method.check(system)
    except ValueError:
        return None
    return of_method(system, method, second)


def colours(look):
    """The colours of a curve on white and on black."""
    return [look["color"], plot.BRIGHT.get(look["color"], look["color"])]


def _translated(function):
    return Code(f"(() => {{\n{of_function(function, 'f')}\nreturn f;\n}})()")


def runtime() -> str:
    """What all figures share: ``page.js``, and what it needs of this room's Python."""
    rules = (next_limits, next_limits_to_scale, to_scale, is_loose, calm_points, who_leaves)
    rules += (error_of, size_of, growth_in_words, error_in_words, bar_shares)
    rules += (is_band, running_mean)
    rules += (component_shares, hidden_energy, energy_jump, energy_warning, rows_apart)
    rules += (clean, in_given_digits, steps_within, claim_words, stop_words, largest_of)
    rules += (offers.offered, offers.found_still, offers.are_moved, offers.are_same, offers.alike)
    rules += (distance_between,)
    shared = {f.__name__: _translated(f) for f in rules}
    shared["NUMBERS"] = {name: _translated(f) for name, f in plot.NUMBERS.items()}
    shared["READERS"] = {
        name: [_translated(f), [*signature(f).parameters][1:]] for name, f in READERS.items()
    }
    shared |= {"PALE": bands.PALE, "THIN": bands.THIN, "SIZES": plot.SIZES, "ASIDE": ASIDE}
    shared |= {"CHOICES": CHOICES, "ROOM": ROOM, "STAGE_KEY": KEY}
    text = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
    return "\n".join([text, *(f"const {name} = {literal(x)};" for name, x in shared.items())])
