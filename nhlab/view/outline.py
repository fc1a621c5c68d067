"""What a panel shows, as data: for pages that draw and compute it without Python.

An ``Outline`` says which runs, curves and readings belong to a panel; ``script`` gives these and
the functions they need in JavaScript.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from pathlib import Path
from typing import NamedTuple

from ..codegen.javascript import of_function
from ..codegen.traced import expression
from ..run.script import (
    ALPHA,
    BLANK,
    Code,
    beyond,
    drawing,
    literal,
    of_method,
    of_system,
    with_blank,
)
from . import plot
from .limits import (
    DRAGGED,
    FILLED,
    ROOM,
    calm_points,
    filled_share,
    limits_ahead,
    round_limits,
    who_leaves,
)
from .panel import first_of
from .setting import Call, Setting

# What takes the place of a colour where the page is dark.
BRIGHT = {light: dark for light, dark, _ in plot.LOOKS.values()}
BRIGHT |= {"#0072B2": "#4AA8E8", "#333333": "#DDDDDD", "#555555": "#BBBBBB"}


class Curve(NamedTuple):
    """A curve of a run: its reading (``reading_of``), and how it looks (keywords of ``plot``)."""

    run: str
    reading: dict
    look: dict
    title: str = ""  # in the read-out
    skip: int = 0  # so many points at the start are left out
    discrete: bool = False  # only methods with a discrete Lagrangian have it


class Axes(NamedTuple):
    """The curves of one diagram; ``x`` and ``y`` are limits that do not follow them."""

    xlabel: str
    ylabel: str
    curves: list
    end: str = ""  # the horizontal axis begins with 0 and ends with "T" or "steps"
    equal: bool = False
    logarithmic: bool = False
    x: tuple | None = None
    y: tuple | None = None
    bare: bool = False  # no frame, no ticks
    labels: dict | None = None  # words to be written, and the drawing that says where


class View(NamedTuple):
    """Diagrams one above the other, and what is said under them.

    found : run -> the (reading, skip) that the judge looks at;  readout : what, and its number
    """

    axes: list
    found: dict
    readout: dict
    drawings: tuple | list = ()


@dataclass
class Drawing:
    """A drawing that follows the start, or the nodes of a run: ``given`` at each place, ``values``.

    places : "start", with (q0, parameters); "nodes" of ``run``, with (q, parameters); "inner"
        nodes, with (q, the momenta that arrive and that leave, parameters)
    """

    given: list
    places: str
    run: str = ""
    values: list = field(default_factory=list)

    def add(self, x, y):
        """Where the coordinates of some points stand among the values."""
        found = {"what": "drawn", "at": len(self.values), "count": len(x)}
        self.values += [expression(e) for e in (*x, *y)]
        return found

    def script(self):
        given = [expression(x) for x in self.given]
        function = drawing(given, self.values)
        return {"function": function, "places": self.places, "run": self.run}


@dataclass
class Outline:
    """All that a page needs to know of a panel; ``second`` is the run that gives the others q1."""

    setting: Setting
    controls: dict
    views: dict
    caption: str = ""
    judge: Callable | None = None
    second: str = ""
    size: tuple = (6.4, 4.2)
    drawings: tuple = ()
    code: Callable | None = None  # (call, system before its parameters were moved, view) -> text
    warns: bool = False  # of energies that jump
    first: list | tuple | None = None  # the controls that are seen at once
    tries: dict | tuple = ()  # questions -> values of controls
    changes: dict = field(default_factory=dict)  # views of energies -> of what they change by

    def script(self, diagrams):
        """The data and functions of the figure, in JavaScript; ``diagrams`` grows."""
        book = {
            "controls": [control(k, c) for k, c in self.controls.items()],
            "systems": [self._system(k) for k in range(len(self.setting.systems))],
            "runs": {name: self._run(name) for name in self.setting.methods},
            "T": float(self.setting.T) if isinstance(self.setting.T, Real) else None,
            "steps": self.setting.steps,
            "second": self.second,
            "views": [self._view(name, diagrams) for name in self.views],
            "drawings": [drawn.script() for drawn in self.drawings],
            "caption": plain(self.caption),
            "judge": self.judge and _translated(self.judge),
            "warns": self.warns,
            "first": first_of(self.controls) if self.first is None else self.first,
            "tries": dict(self.tries),
            "changes": {k: x for k, x in self.changes.items() if x in self.views},
        }
        return literal(book)

    def _system(self, k):
        (q0, v0, free), system = self.setting.starts[k], self.setting.systems[k]
        start = {"q0": system.configuration(q0).tolist(), "v0": v0.tolist()}
        return of_system(system, free) | start

    def _run(self, name):
        m, second = self.setting.methods[name], bool(self.second) and name != self.second
        kinds = [self._by_rule(m, x) for x in self._rules]
        found = [[_possible(s, x, second) for x in kinds] for s in self.setting.systems]
        return {"label": plain(plot.label(m)), "methods": found}

    @property
    def _rules(self):
        return (False, True) if self.setting.rule else (None,)

    def _by_rule(self, method, symmetric):
        own = symmetric is not None and "symmetric" in {f.name for f in fields(method)}
        return replace(method, symmetric=symmetric) if own else method

    def _code(self, view, k, symmetric):
        """The code of a view of one of the systems, with blanks for what the page fills in."""
        system, alpha = self.setting.systems[k], "alpha" in self.setting.ranges
        moved = [key[4:] for key in self.setting.sliders if key.startswith("par.")]
        varied = system.varied({x: Blank(f"par.{x}") for x in moved}, True)
        methods = {x: self._by_rule(m, symmetric) for x, m in self.setting.methods.items()}
        methods = {x: with_blank(m) if alpha else m for x, m in methods.items()}
        parts = (("q0", system.q), ("v0", system.v))
        start = [tuple(Blank(f"{x}.{j}") for j in range(len(names))) for x, names in parts]
        call = Call(varied, methods, *start, Blank("h"), Blank("steps"), None)
        return self.code(call, system, view).replace(str(ALPHA), BLANK.format("alpha"))

    def _view(self, name, diagrams):
        view, axes = self.views[name], []
        width, height = (int(100 * x) for x in self.size)
        height //= len(view.axes)
        for row, a in enumerate(view.axes):
            looks = [c.look for c in a.curves]
            shape = {"row": row, "looks": looks, "size": (width, height), "equal": a.equal}
            shape |= {"logarithmic": a.logarithmic, "bare": a.bare, "labels": bool(a.labels)}
            if shape not in diagrams:
                diagrams.append(shape)
            given = {"diagram": diagrams.index(shape), "curves": [_bare(c) for c in a.curves]}
            given |= {"xlabel": plain(a.xlabel), "ylabel": plain(a.ylabel)}
            axes.append(a._asdict() | given)
        about = {"name": name, "runs": list(self.setting.methods), "axes": axes}
        every = range(len(self.setting.systems))
        about["code"] = [[self._code(name, k, x) for x in self._rules] for k in every]
        return about | {"found": view.found, "readout": view.readout}


class Blank:
    """A value that the page knows; of a parameter also the one that need not be written."""

    def __init__(self, key):
        self.key, self.plain = key, ""

    def __ne__(self, plain):
        self.plain = f" {float(plain)!r}"
        return True

    def __repr__(self):
        return BLANK.format(self.key + self.plain)


def _bare(curve):
    """A curve with the name of its look; the rest of that its diagram has."""
    found = curve._asdict()
    return found | {"label": plain(found.pop("look").get("label", ""))}


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


def _translated(function):
    return Code(f"(() => {{\n{of_function(function, 'f')}\nreturn f;\n}})()")


def runtime():
    """What all figures share: ``page.js``, and what it needs of this room's Python."""
    numbers = {name: _translated(f) for name, f in plot.NUMBERS.items()}
    rule = (round_limits, filled_share, limits_ahead, calm_points, who_leaves)
    shared = {f.__name__: _translated(f) for f in rule} | {"NUMBERS": numbers}
    shared |= {"FILLED": FILLED, "DRAGGED": DRAGGED, "ROOM": ROOM}
    shared["beyond"] = _translated(beyond)
    text = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
    return "\n".join([text, *(f"const {name} = {literal(x)};" for name, x in shared.items())])


def _possible(system, method, second):
    """The script of a method, or None if it cannot treat one of several systems."""
    try:
        method.check(system)
    except ValueError:
        return None
    return of_method(system, method, second)


def colours(look):
    return [look["color"], BRIGHT.get(look["color"], look["color"])]


def reading_of(name, system):
    """The view ``name`` of ``nh.plot`` as a page reads it."""
    plot.reading(name, system)  # refuses unknown ones
    whole, kind, end = READINGS.get(name), *name.rpartition(" ")[::2]
    if whole:
        return whole
    if kind in plot.CONSTRAINTS:
        return {"what": "constraint", "at": plot.CONSTRAINTS[kind][0], "part": int(end) - 1}
    columns = {"t": None} | {str(x): k for k, x in reversed([*enumerate(system.q)])}
    x, y = name.split()
    return {"what": "columns", "x": columns[x], "y": columns[y]}


READINGS = {
    "energy": {"what": "energy", "at": "nodes"},
    "energy error": {"what": "energy", "at": "nodes", "from_start": True},
    "relative energy error": {
        "what": "energy",
        "at": "nodes",
        "from_start": True,
        "relative": True,
    },
    "midpoint energy error": {"what": "energy", "at": "midpoints", "from_start": True},
    "projected energy": {"what": "energy", "at": "projected"},
    "midpoint energy": {"what": "energy", "at": "midpoints"},
    "step": {"what": "step"},
} | {
    name: {"what": "constraint", "at": at, "part": None}
    for name, (at, *_) in plot.CONSTRAINTS.items()
}


RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
LOWERED = str.maketrans("0123456789+-aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


def plain(text):
    """A label without LaTeX: a page that computes by itself has no room for a typesetter."""
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
