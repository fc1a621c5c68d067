"""Figures: each function takes a trajectory (or several) and an ``ax`` and returns the ``ax``.

Methods keep one colour everywhere, in plots, pages and bodies, and one line style, so that a figure
still reads in grey.
"""

import base64
import io
import re
from collections.abc import Callable
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..geometry.diagnostics import Order
from ..mechanics.checks import need, one_of, sequence
from ..mechanics.system import System
from ..run.trajectory import Trajectory

# On white, on black, and the line.  The classical method is warm, the true motion thin and grey.
LOOKS = {
    "DLA":              ("#0B6BA8", "#5BB5EE", "-"),
    "Projector":        ("#A6478F", "#E29AD0", "--"),
    "EDLA":             ("#007A5A", "#45C99B", "-."),
    "RK4":              ("#C43E0A", "#FF8F63", ":"),
    "Reference":        ("#7C818A", "#8F98A6", "-"),
    "Variational":      ("#56B4E9", "#56B4E9", "-"),
    "RDLA":             ("#E69F00", "#E69F00", "--"),
    "REDLA":            ("#7A5C00", "#D0AA30", "-."),
    "Reversible":       ("#332288", "#A79BF0", (0, (6, 1))),
    "DiscreteGradient": ("#882255", "#E07BA8", (0, (3, 1, 1, 1))),
    "Composition":      ("#999933", "#999933", (0, (6, 1, 1, 1))),
}  # fmt: skip
COLOURS = {name: colour for name, (colour, *_) in LOOKS.items()}
LINES = {name: line for name, (*_, line) in LOOKS.items()}
WIDTHS = {"RK4": 2.4, "Reference": 1.1}  # dots need more than lines, what is true needs less
STYLE = {
    "figure.dpi": 100,            "figure.constrained_layout.use": True,
    "font.size": 12,              "axes.titlesize": 12,
    "axes.spines.top": False,     "axes.spines.right": False,
    "axes.grid": True,            "grid.alpha": 0.3,
    "lines.linewidth": 1.6,       "legend.frameon": False,
    "axes.formatter.offset_threshold": 6,  # 1.0312 is easier to read than +1.03 and 0.0012
    "svg.hashsalt": "nhlab",  # the same figure gives the same file
}  # fmt: skip


def look(method):
    """Colour and line style of a method, as keywords for ``ax.plot``."""
    name = type(method).__name__
    look = {"color": COLOURS.get(name, "#777777"), "linestyle": LINES.get(name, "-")}
    return look | ({"linewidth": WIDTHS[name]} if name in WIDTHS else {})


def label(method):
    """A short name: what differs from the midpoint rule is said."""
    name = type(method).__name__
    if name == "Composition":
        return f"{label(method.method)} composed, order {method.order}"
    extras = []
    if getattr(method, "alpha", 0.5) != 0.5:
        extras.append(rf"$\alpha={method.alpha:g}$")
    if getattr(method, "symmetric", False):
        extras.append("symmetric")
    if getattr(method, "constraint_alpha", None) is not None:
        extras.append(f"constraint at {method.constraint_alpha:g}")
    return name + (f" ({', '.join(extras)})" if extras else "")


def own_constraint(sol):
    """(t, residual) of the constraint a method imposes: wd on each step, the average momentum for
    the projector method, A v at the nodes for the classical methods."""
    need(sol, Trajectory, "sol", "Trajectory")
    if not sol.method.discrete:
        return sol.t[1:], _worst(sol.constraint()[1:])
    if type(sol.method).__name__ == "Projector":
        return sol.t[1:-1], _worst(sol.constraint("average"))
    return sol.t[1:], _worst(sol.constraint("midpoints"))


def _worst(residual):
    """The component of largest size, with its sign; 0 without constraints."""
    padded = np.pad(residual, ((0, 0), (0, 1)))
    return padded[np.arange(len(padded)), np.abs(padded).argmax(1)]


class Reading(NamedTuple):
    """What can be drawn of a trajectory, and the number that sums up such a curve."""

    xlabel: str
    ylabel: str
    read: Callable  # trajectory -> x, y
    number: str = "spread"  # a key of NUMBERS
    discrete: bool = False  # only methods with a discrete Lagrangian have it
    name: str = ""  # of what is drawn below a motion


def _from_start(E, relative=False):
    """Energies less the first of them, perhaps as parts of it: comparable when the start moves."""
    return (E - E[0]) / ((abs(E[0]) or np.nan) if relative else 1.0) if len(E) else E


TIME = "time $t$"
NUMBERS = {
    "spread": lambda x, y: f"{np.ptp(y):.2e}",
    "largest": lambda x, y: f"{np.abs(y).max():.2e}",
    "end": lambda x, y: f"({x[-1]:.4g}, {y[-1]:.4g})",
    "from .. to": lambda x, y: f"{y.min():.4g} .. {y.max():.4g}",
}
READINGS = {
    name: Reading(TIME, *parts)
    for name, *parts in [
        ("energy", "energy $E$ at the nodes", lambda s: (s.t, s.energy())),
        ("energy error", "energy error $E - E_0$", lambda s: (s.t, _from_start(s.energy()))),
        (
            "relative energy error",
            "relative energy error $(E - E_0)/|E_0|$",
            lambda s: (s.t, _from_start(s.energy(), True)),
        ),
        ("projected energy", "projected energy, of $P v$", lambda s: (s.t, s.energy("projected"))),
        (
            "midpoint energy",
            "midpoint energy $E_d$ of a step",
            lambda s: (s.t[1:], s.energy("midpoints")),
            "spread",
            True,
        ),
        (
            "midpoint energy error",
            "midpoint energy error $E_d - E_{d,0}$",
            lambda s: (s.t[1:], _from_start(s.energy("midpoints"))),
            "spread",
            True,
        ),
        ("step", "step size $h$", lambda s: (s.t[1:], s.h), "from .. to"),
    ]
}
CONSTRAINTS = {  # name -> where it is read, label, only for discrete methods
    "node constraint": ("nodes", r"node constraint $A(q_k)\,v_k$", False),
    "discrete constraint": ("midpoints", "discrete constraint $w_d$ of a step", True),
    "average constraint": ("average", "average constraint, $A v$ of the mean $p$", True),
}
TIMES = {"nodes": slice(None), "midpoints": slice(1, None), "average": slice(1, -1)}


def _constraint(name, part=None, moving=False):
    """The reading of one constraint, counted from 1, or of the one that is missed most; constraints
    that move are A v + b."""
    at, label, discrete = CONSTRAINTS[name]
    label = re.sub(r"(v|v_k)\$", r"\1 + b$", label) if moving else label

    def read(sol):
        residual = sol.constraint(at)
        return sol.t[TIMES[at]], _worst(residual) if part is None else residual[:, part - 1]

    which = "" if part is None else f", {part}"
    return Reading(TIME, label + which, read, "largest", discrete)


READINGS |= {name: _constraint(name) for name in CONSTRAINTS}


def reading(name, system):
    """The Reading of a name: of READINGS, of one constraint as "node constraint 2", or of two
    coordinates, "x y" or "t x"."""
    need(name, str, "view", "name of a reading")
    need(system, System, "system", "nh.System")
    if name in CONSTRAINTS:
        return _constraint(name, moving=system.is_affine)
    if name in READINGS:
        return READINGS[name]
    kind, _, part = name.rpartition(" ")
    if kind in CONSTRAINTS and part in map(str, range(1, len(system.constraints) + 1)):
        return _constraint(kind, int(part), system.is_affine)
    columns = {"t": (TIME, lambda sol: sol.t)}
    for k, s in enumerate(system.q):
        columns.setdefault(str(s), (f"${sp.latex(s)}$", lambda sol, k=k: sol.q[:, k]))
    parts = name.split()
    if len(parts) != 2 or not {*parts} <= {*columns}:
        raise ValueError(
            f"view {name!r} is unknown; choose one of {list(READINGS)} or two of {list(columns)}, "
            f"as in 't {system.q[0]}'"
        )
    (xlabel, x), (ylabel, y) = (columns[p] for p in parts)
    return Reading(xlabel, ylabel, lambda sol: (x(sol), y(sol)), "end")


def is_path(name):
    """Is the view a path in space, to be drawn to scale?"""
    return {*name.split()} <= {"x", "y", "z"}


def new(rows=1, columns=1, size=None):
    """A figure and its axes in nhlab's style."""
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=size or (3.6 + 3.6 * columns, 3.2 * rows))


def _axes(ax, size=None):
    return new(size=size)[1] if ax is None else need(ax, Axes, "ax", "axes of matplotlib")


def draw(sols, name, ax=None, **options):
    """Draw a reading of one or several trajectories."""
    sols = sequence(sols)
    if not sols:
        raise ValueError("there is nothing to draw: give one or more trajectories")
    for sol in sols:
        need(sol, Trajectory, "sols", "Trajectory, as nh.integrate returns it")
    ax = _axes(ax)
    r = reading(name, sols[0].system)
    having = [sol for sol in sols if sol.method.discrete or not r.discrete]
    if not having:
        raise ValueError(f"{name!r} is a reading of discrete methods; {sols[0].method!r} is none")
    for sol in having:
        ax.plot(*r.read(sol), **{"label": label(sol.method), **look(sol.method), **options})
    ax.set(xlabel=r.xlabel, ylabel=r.ylabel)
    if is_path(name):
        ax.set_aspect("equal", adjustable="datalim")
    if len(ax.lines) > 1:
        ax.legend(loc="best", frameon=False)
    return ax


def energy(sols, ax=None, at="nodes", **options):
    """Energy over time; ``at`` as in Trajectory.energy ("nodes", "midpoints", "projected")."""
    names = {"nodes": "energy", "midpoints": "midpoint energy", "projected": "projected energy"}
    return draw(sols, names[one_of(at, names, "at")], ax, **options)


def constraint(sols, ax=None, at="nodes", **options):
    """The residual of the constraints, of several the largest; ``at`` as in
    Trajectory.constraint ("nodes", "midpoints", "average")."""
    names = {where: name for name, (where, *_) in CONSTRAINTS.items()}
    return draw(sols, names[one_of(at, names, "at")], ax, **options)


def path(sols, x, y, ax=None, **options):
    """One coordinate against another, drawn to scale."""
    ax = draw(sols, f"{x} {y}", ax, **options)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def order(results, ax=None):
    """Errors against h, log-log; ``results`` maps a method to a diagnostics.Order."""
    if not (isinstance(results, dict) and results and {*map(type, results.values())} == {Order}):
        raise ValueError(f"results = {results!r} must map methods to a diagnostics.Order")
    ax = _axes(ax, (6, 4))
    for method, result in results.items():
        text = f"{label(method)}: slope {result.slope:.2f}"
        ax.loglog(result.h, result.error, marker="o", label=text, **look(method))
    hs = sorted({float(h) for result in results.values() for h in result.h})
    hs = [h for k, h in enumerate(hs) if k == 0 or h > 1.3 * hs[k - 1]]  # labels need room
    ax.set_xticks(hs, [f"{h:g}" for h in hs], minor=False)
    ax.set_xticks([], minor=True)
    ax.set(xlabel="step size $h$", ylabel="error at the end")
    ax.legend(loc="best", frameon=False)
    return ax


class Shown:
    """A finished picture with alternative text, as PNG and as an HTML image that carries it."""

    def __init__(self, png, alt):
        self.png, self.alt = png, alt

    def _repr_mimebundle_(self, **_):
        data = base64.b64encode(self.png).decode()
        alt = self.alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        html = f'<img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{data}">'
        return {"image/png": data, "text/html": html, "text/plain": f"[figure: {self.alt}]"}


def show(figure, alt):
    """Show a figure (or the figure of an ``ax``) with alternative text, and close it."""
    figure = need(getattr(figure, "figure", figure), Figure, "figure", "figure of matplotlib")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    plt.close(figure)
    return Shown(file.getvalue(), alt)
