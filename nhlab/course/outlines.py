"""The figures of the papers as outlines, for pages that compute without Python."""

from functools import singledispatch
from types import SimpleNamespace

import numpy as np
import sympy as sp

from ..codegen.traced import Traced, expression, symbols
from ..view import plot
from ..view.outline import Axes, Curve, Drawing, Outline, View, plain, reading_of
from .statements import Curves, Errors, Made, Momenta, Portrait

NODES = 64  # names for so many


def outline(statement, controls, caption):
    """All that a page needs to know of a statement."""
    shown = statement.for_page()
    statement, caption = shown, caption.replace(statement.caption, shown.caption)
    views = {view: view_of(statement, view) for view in statement.views}
    second = "reference" if isinstance(statement, Errors) else ""
    about = {"judge": statement.judge, "size": statement.size, "second": second}
    about["code"] = lambda call, own, view: statement.code(call, view)
    drawings = [x for view in views.values() for x in view.drawings]
    return Outline(statement.setting, controls, views, caption, drawings=drawings, **about)


@singledispatch
def view_of(statement, view):
    """One of its views."""
    raise ValueError(f"{statement.title!r} has no outline")


@view_of.register
def _(statement: Curves, view):
    setting, found, axes = statement.setting, {}, []
    frames = zip(statement.views[view], statement.frames(view), strict=True)
    for k, (row, frame) in enumerate(frames):
        curves = []
        for name, m in setting.methods.items():
            reading = reading_of(row.discrete if m.discrete else row.classical, setting.systems[0])
            skip = int(row.mixed and not m.discrete)  # beside steps, the start has no partner
            label = "" if k else statement.legend(row, name, m)
            curves.append(Curve(name, reading, plot.look(m) | {"label": label}, skip=skip))
            found.setdefault(name, []).append((reading, skip))
        axes.append(Axes(frame["xlabel"], frame["ylabel"], curves, "T"))
    return View(axes, found, {})


@view_of.register
def _(statement: Errors, view):
    reading, methods = {"what": "error", "x": "reference"}, statement.setting.methods
    runs, logarithmic = statement.views[view]
    curves = [Curve(k, reading, statement.look(k, methods[k])) for k in runs]
    (frame,) = statement.frames(view)
    axes = Axes(frame["xlabel"], frame["ylabel"], curves, "steps", logarithmic=logarithmic)
    axes = axes._replace(y=frame.get("ylim"))
    return View([axes], {name: [(reading, 0)] for name in statement.columns}, {})


# ---------------------------------------------------------------------------- drawings


def _parameters(system):
    return symbols([s.name for s in system.parameters])


@view_of.register
def _(statement: Portrait, view):
    system = statement.setting.systems[0]
    q, par = symbols(map(str, system.q)), _parameters(system)
    named = dict(zip([s.name for s in system.parameters], par, strict=True))
    call = SimpleNamespace(system=system.varied(named, True), q0=tuple(q))
    made, drawn = Made(call, {}, {}), Drawing([*q, *par], "start")
    curves = [Curve("", drawn.add(x.x, x.y), x.look) for x in statement.shapes(made, view)]
    labels = _labels(drawn, statement.labels(made))
    fixed = {"x": statement.fixed["xlim"], "y": statement.fixed["ylim"], "bare": True}
    axes = Axes("", "", curves, equal=True, labels=labels, **fixed)
    return View([axes], {}, {}, [drawn])


def _labels(drawn, labels, index=0):
    x, y, words = zip(*labels, strict=True)
    return drawn.add(x, y) | {"words": list(map(plain, words)), "drawing": index}


@view_of.register
def _(statement: Momenta, view):
    """The picture of three nodes says what is drawn at the one in the middle."""
    system = statement.setting.systems[0]
    par = _parameters(system)
    q, p, leaving = (symbols(f"{x}_{name}" for name in system.degrees) for x in ("q", "p", "m"))
    sol = SimpleNamespace(q=np.array([q] * 3), p=np.array([p] * 3), p_minus=np.array([leaving] * 2))
    sol.system = _Traced(system, par)
    made = Made(None, {"projector": sol}, {})
    drawn = Drawing([*q, *p, *leaving, *par], "inner", "projector")
    nodes, *others = statement.shapes(made, view)
    at = [str(x) for x in system.q]
    curves = [
        Curve("projector", {"what": "columns", "x": at.index("x"), "y": at.index("y")}, nodes.look)
    ]
    curves += [Curve("projector", drawn.add(x.x, x.y), x.look) for x in others]
    sol.q = np.array([q] * NODES)
    labels = statement.labels(made)
    names = Drawing([*q, *par], "nodes", "projector")
    written = _labels(names, labels[:1], 1) | {"words": [plain(text) for *_, text in labels]}
    (frame,) = statement.frames(view)
    axes = Axes(frame["xlabel"], frame["ylabel"], curves, equal=True, labels=written)
    return View([axes], {"projector": []}, {}, [drawn, names])


class _Traced:
    """A system for traced states: what a drawing asks of it."""

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
        rest = [0] * len(self.system.v)
        rows = []
        for at, x in zip(q, p, strict=True):
            M, b = (
                self._at(t, at, rest) for t in (self.system.symbolic.M, self.system.symbolic.L_v)
            )
            rows.append(M.LUsolve(sp.Matrix([expression(e) for e in x]) - b))
        return np.array([[Traced(e) for e in row] for row in rows])
