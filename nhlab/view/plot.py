"""Figures: each function takes a trajectory (or several) and an ``ax`` and returns the ``ax``.

Methods keep one colour everywhere (Okabe and Ito's palette, safe for colour-blind readers) and
one line style, so that a figure still reads in grey.
"""

import base64
import io

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

from ..mechanics.checks import sequence

LOOKS = {
    "DLA":         ("#0072B2", "-"),           "Projector":        ("#D55E00", "--"),
    "EDLA":        ("#009E73", "-."),          "RK4":              ("#CC79A7", ":"),
    "Variational": ("#56B4E9", "-"),           "Reference":        ("#000000", (0, (1, 1))),
    "RDLA":        ("#E69F00", "--"),          "REDLA":            ("#7A5C00", "-."),
    "Reversible":  ("#332288", (0, (6, 1))),   "DiscreteGradient": ("#882255", (0, (3, 1, 1, 1))),
    "Composition": ("#999933", (0, (6, 1, 1, 1))),
}  # fmt: skip
COLOURS = {name: colour for name, (colour, _) in LOOKS.items()}
LINES = {name: line for name, (_, line) in LOOKS.items()}
STYLE = {
    "figure.dpi": 100,            "figure.constrained_layout.use": True,
    "font.size": 12,              "axes.titlesize": 12,
    "axes.spines.top": False,     "axes.spines.right": False,
    "axes.grid": True,            "grid.alpha": 0.3,
    "lines.linewidth": 1.6,       "legend.frameon": False,
    "svg.hashsalt": "nhlab",  # the same figure gives the same file
}  # fmt: skip


def look(method):
    """Colour and line style of a method, as keywords for ``ax.plot``."""
    name = type(method).__name__
    colour, line = LOOKS.get(name, ("#777777", "-"))
    return {"color": colour, "linestyle": line} | ({"linewidth": 2.4} if name == "RK4" else {})


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
    if not sol.method.discrete:
        return sol.t[1:], _worst(sol.constraint()[1:])
    if type(sol.method).__name__ == "Projector":
        return sol.t[1:-1], _worst(sol.constraint("average"))
    return sol.t[1:], _worst(sol.constraint("midpoints"))


def _worst(residual):
    """The component of largest size, with its sign; 0 without constraints."""
    padded = np.pad(residual, ((0, 0), (0, 1)))
    return padded[np.arange(len(padded)), np.abs(padded).argmax(1)]


def _discrete_energy(sol):
    return sol.t[1:], sol.energy("midpoints") if sol.method.discrete else sol.energy()[1:]


# What can be drawn of a trajectory: name -> (x label, y label, function giving x and y).
READINGS = {
    name: ("time $t$", ylabel, f)
    for name, ylabel, f in [
        ("energy", "energy $E$", lambda s: (s.t, s.energy())),
        ("midpoint energy", "discrete energy $E_d$", _discrete_energy),
        ("energy error", "$E - E_0$", lambda s: (s.t, s.energy() - s.energy()[0])),
        ("projected energy", "energy of $P v$", lambda s: (s.t, s.energy("projected"))),
        ("constraint", "constraint residual", own_constraint),
        ("node constraint", r"$A(q_k)\, v_k$", lambda s: (s.t, _worst(s.constraint()))),
        ("step", "step size $h$", lambda s: (s.t[1:], s.h)),
    ]
}


def reading(name, system):
    """(x label, y label, function) for a reading or for two coordinates, "x y" or "t x"."""
    if name in READINGS:
        return READINGS[name]
    columns = {"t": ("time $t$", lambda sol: sol.t)}
    for k, s in enumerate(system.q):
        columns.setdefault(str(s), (f"${sp.latex(s)}$", lambda sol, k=k: sol.q[:, k]))
    parts = name.split()
    if len(parts) != 2 or not {*parts} <= {*columns}:
        raise ValueError(
            f"view {name!r} is unknown; choose one of {list(READINGS)} or two of {list(columns)}, "
            f"as in 't {system.q[0]}'"
        )
    (xlabel, x), (ylabel, y) = (columns[p] for p in parts)
    return xlabel, ylabel, lambda sol: (x(sol), y(sol))


def new(rows=1, columns=1, size=None):
    """A figure and its axes in nhlab's style."""
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=size or (3.6 + 3.6 * columns, 3.2 * rows))


def draw(sols, name, ax=None, **options):
    """Draw a reading of one or several trajectories."""
    sols = sequence(sols)
    if not sols:
        raise ValueError("there is nothing to draw: give one or more trajectories")
    ax = new()[1] if ax is None else ax
    x, y, f = reading(name, sols[0].system)
    for sol in sols:
        ax.plot(*f(sol), **{"label": label(sol.method), **look(sol.method), **options})
    ax.set(xlabel=x, ylabel=y)
    if len(sols) > 1:
        ax.legend(loc="best", frameon=False)
    return ax


def energy(sols, ax=None, at="nodes", **options):
    """Energy over time; ``at`` as in Trajectory.energy ("nodes", "midpoints", "projected")."""
    names = {"nodes": "energy", "midpoints": "midpoint energy", "projected": "projected energy"}
    if at not in names:
        raise ValueError(f"at = {at!r} is unknown; choose one of {list(names)}")
    return draw(sols, names[at], ax, **options)


def constraint(sols, ax=None, at=None, **options):
    """The residual of the constraint each method imposes; with at="nodes", of A v at the nodes."""
    return draw(sols, "constraint" if at is None else "node constraint", ax, **options)


def path(sols, x, y, ax=None, **options):
    """One coordinate against another, drawn to scale."""
    ax = draw(sols, f"{x} {y}", ax, **options)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def order(results, ax=None):
    """Errors against h, log-log; ``results`` maps a method to a diagnostics.Order."""
    ax = new(size=(6, 4))[1] if ax is None else ax
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
    figure = getattr(figure, "figure", figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    plt.close(figure)
    return Shown(file.getvalue(), alt)
