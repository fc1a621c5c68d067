"""Figures: each function takes a trajectory (or several) and an ``ax`` and returns the ``ax``.

Methods keep one colour everywhere (Okabe and Ito's palette, safe for colour-blind readers) and
one line style, so that a figure still reads in grey.
"""

from __future__ import annotations

import base64
import io

import numpy as np

COLOURS = {
    "DLA": "#0072B2",
    "Projector": "#D55E00",
    "EDLA": "#009E73",
    "RK4": "#CC79A7",
    "Variational": "#56B4E9",
    "Reference": "#000000",
    "RDLA": "#E69F00",
    "REDLA": "#7A5C00",
    "Reversible": "#332288",
    "DiscreteGradient": "#882255",
    "Composition": "#999933",
}
LINES = {"DLA": "-", "Projector": "--", "EDLA": "-.", "RK4": ":", "Variational": "-",
         "Reference": (0, (1, 1)), "RDLA": "--", "REDLA": "-.", "Reversible": (0, (6, 1)),
         "DiscreteGradient": (0, (3, 1, 1, 1)), "Composition": (0, (6, 1, 1, 1))}  # fmt: skip
STYLE = {
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "svg.hashsalt": "nhlab",  # the same figure gives the same file
}


def look(method):
    """Colour and line style of a method, as keywords for ``ax.plot``."""
    name = type(method).__name__
    style = {"color": COLOURS.get(name, "#777777"), "linestyle": LINES.get(name, "-")}
    if name == "RK4":
        style["linewidth"] = 2.4
    return style


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


# What can be drawn of a trajectory: name -> (x label, y label, function giving x and y).
READINGS = {
    "energy": ("time $t$", "energy $E$", lambda s: (s.t, s.energy())),
    "midpoint energy": (
        "time $t$", "discrete energy $E_d$",
        lambda s: (s.t[1:], s.energy("midpoints") if s.method.discrete else s.energy()[1:])),
    "energy error": ("time $t$", "$E - E_0$", lambda s: (s.t, s.energy() - s.energy()[0])),
    "projected energy": ("time $t$", "energy of $P v$", lambda s: (s.t, s.energy("projected"))),
    "constraint": ("time $t$", "constraint residual", lambda s: own_constraint(s)),
    "node constraint": ("time $t$", "$A(q_k)\\, v_k$", lambda s: (s.t, _worst(s.constraint()))),
    "step": ("time $t$", "step size $h$", lambda s: (s.t[1:], s.h)),
}  # fmt: skip


def own_constraint(sol):
    """(t, residual) of the constraint a method imposes: wd on each step, the average momentum for
    the projector method, A v at the nodes for the classical methods."""
    if not sol.method.discrete:
        return sol.t[1:], _worst(sol.constraint()[1:])
    if type(sol.method).__name__ == "Projector":
        return sol.t[1:-1], _worst(sol.constraint("average"))
    return sol.t[1:], _worst(sol.constraint("midpoints"))


def _worst(residual):
    """The component of largest size, with its sign."""
    if residual.shape[1] == 0:
        return np.zeros(len(residual))
    pick = np.abs(residual).argmax(1)
    return np.take_along_axis(residual, pick[:, None], 1)[:, 0]


def reading(name, system):
    """(x label, y label, function) for a reading or for two coordinates, "x y" or "t x"."""
    if name in READINGS:
        return READINGS[name]
    names = [str(s) for s in system.q]
    parts = name.split()
    if len(parts) != 2 or any(p not in [*names, "t"] for p in parts):
        raise ValueError(f"view {name!r} is unknown; choose one of {list(READINGS)} or two of "
                         f"{['t', *names]}, as in 't {names[0]}'")  # fmt: skip

    def column(sol, p):
        return sol.t if p == "t" else sol.q[:, names.index(p)]

    def tex(p):
        import sympy as sp

        return "time $t$" if p == "t" else f"${sp.latex(system.q[names.index(p)])}$"

    return tex(parts[0]), tex(parts[1]), lambda s: tuple(column(s, p) for p in parts)


def new(rows=1, columns=1, size=None):
    """A figure and its axes in nhlab's style."""
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=size or (3.6 + 3.6 * columns, 3.2 * rows))


def draw(sols, name, ax=None, **options):
    """Draw a reading of one or several trajectories."""
    sols = sols if isinstance(sols, (list, tuple)) else [sols]
    if not sols:
        raise ValueError("there is nothing to draw: give one or more trajectories")
    if ax is None:
        ax = new()[1]
    x, y, f = reading(name, sols[0].system)
    for sol in sols:
        ax.plot(*f(sol), **{"label": label(sol.method), **look(sol.method), **options})
    ax.set_xlabel(x)
    ax.set_ylabel(y)
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
    if ax is None:
        ax = new(size=(6, 4))[1]
    for method, result in results.items():
        text = f"{label(method)}: slope {result.slope:.2f}"
        ax.loglog(result.h, result.error, marker="o", label=text, **look(method))
    hs = sorted({float(h) for result in results.values() for h in result.h})
    hs = [h for k, h in enumerate(hs) if k == 0 or h > 1.3 * hs[k - 1]]  # labels need room
    ax.set_xticks(hs, [f"{h:g}" for h in hs], minor=False)
    ax.set_xticks([], minor=True)
    ax.set_xlabel("step size $h$")
    ax.set_ylabel("error at the end")
    ax.legend(loc="best", frameon=False)
    return ax


# ---------------------------------------------------------------------------- showing


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
    import matplotlib.pyplot as plt

    figure = getattr(figure, "figure", figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    plt.close(figure)
    return Shown(file.getvalue(), alt)
