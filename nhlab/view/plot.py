"""Figures: each function takes a trajectory (or several) and an ``ax`` and returns the ``ax``.

Methods keep one colour everywhere, in plots, pages and bodies, and one line style, so that a figure
still reads in grey.

Examples
--------
>>> import nhlab as nh
>>> runs = [nh.integrate(nh.systems.particle(), m, h=0.2, steps=100) for m in (nh.DLA(), nh.RK4())]
>>> ax = nh.plot.energy(runs)
>>> [text.get_text() for text in ax.get_legend().get_texts()]
['DLA', 'RK4']
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..geometry.diagnostics import Order
from ..mechanics.checks import need, one_of, sequence
from ..run.trajectory import Trajectory
from .columns import cuts_of, in_columns
from .readings import (  # noqa: F401 (readers find them in nh.plot)
    CONSTRAINTS,
    NUMBERS,
    READINGS,
    SIZES,
    TIME,
    Reading,
    is_path,
    reading,
    worst_of,
)
from .typeface import STYLE, TypesetFigure

if TYPE_CHECKING:
    from ..methods.method import Method

# The one table of colours: on white, on black, and the line.  Each can be read as text on both (a
# contrast of 4.5), and the second is near what DARK makes of the first.  The classical method is
# warm, the true motion thin and grey.
LOOKS = {
    "DLA":              ("#0B6BA8", "#5BB5EE", "-"),
    "Projector":        ("#A6478F", "#E29AD0", "--"),
    "EDLA":             ("#007A5A", "#45C99B", "-."),
    "RK4":              ("#C43E0A", "#FF8F63", (0, (2, 1))),
    "Reference":        ("#6E737C", "#8F98A6", "-"),
    "Variational":      ("#007A99", "#43A9C6", "-"),
    "RDLA":             ("#A05F00", "#C78F3E", "--"),
    "REDLA":            ("#5E6B00", "#98A347", "-."),
    "Reversible":       ("#4B3BA8", "#B5A7FF", (0, (6, 1))),
    "DiscreteGradient": ("#962D5F", "#F49AC5", (0, (3, 1, 1, 1))),
    "Composition":      ("#7D4A2E", "#CA9E86", (0, (6, 1, 1, 1))),
    "EqualImpulses":    ("#8A6A00", "#C9AE5C", "-"),
    "Lobatto":          ("#117733", "#66C285", (0, (2, 1))),
    "Newmark":          ("#4B5F9E", "#93A6E6", (0, (3, 2, 1, 2))),
}  # fmt: skip
# What is drawn beside curves of methods, from the strongest to the palest, and a warm one.
INKS = {
    "dark":   ("#333333", "#DDDDDD"),
    "strong": ("#555555", "#BBBBBB"),
    "middle": ("#737373", "#8A8A8A"),
    "pale":   ("#999999", "#6A6A6A"),
    "faint":  ("#BBBBBB", "#4C4C4C"),
    "orange": ("#AE5A05", "#D08A43"),
}  # fmt: skip
COLOURS = {name: colour for name, (colour, *_) in LOOKS.items()}
LINES = {name: line for name, (*_, line) in LOOKS.items()}
# What takes the place of a colour where the page is dark.
BRIGHT = {light: dark for light, dark, *_ in (*LOOKS.values(), *INKS.values())}
WIDTHS = {"RK4": 2.0, "Reference": 1.1}  # gaps need more than lines, what is true needs less


def look(method: Method) -> dict[str, Any]:
    """Colour and line style of a method, as keywords for ``ax.plot``.

    Parameters
    ----------
    method : an integrator

    Examples
    --------
    >>> import nhlab as nh
    >>> fig, ax = nh.plot.new()
    >>> _ = ax.plot([0, 1], [0, 1], **nh.plot.look(nh.DLA()))
    >>> nh.plot.look(nh.DLA()) == nh.plot.look(nh.RK4())
    False
    """
    name = type(method).__name__
    look = {"color": COLOURS.get(name, INKS["middle"][0]), "linestyle": LINES.get(name, "-")}
    return look | ({"linewidth": WIDTHS[name]} if name in WIDTHS else {})


def label(method: Method) -> str:
    r"""A short name: what differs from the midpoint rule is said.

    Parameters
    ----------
    method : an integrator

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.plot.label(nh.DLA()), nh.plot.label(nh.DLA(0.3))
    ('DLA', 'DLA ($\\alpha=0.3$)')
    """
    name = type(method).__name__
    if getattr(method, "base", None) is not None:
        return f"{label(method.base)} composed, order {method.order}"
    extras = []
    if getattr(method, "alpha", 0.5) != 0.5:
        extras.append(rf"$\alpha={method.alpha:g}$")
    if getattr(method, "symmetric", False):
        extras.append("symmetric")
    if getattr(method, "constraint_alpha", None) is not None:
        extras.append(f"constraint at {method.constraint_alpha:g}")
    return name + (f" ({', '.join(extras)})" if extras else "")


def own_constraint(sol: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """(t, residual) of the constraint a method imposes: wd on each step, the average momentum for
    the projector method, A v at the nodes for the classical methods.

    Parameters
    ----------
    sol : a run

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> t, residual = nh.plot.own_constraint(sol)
    >>> bool(abs(residual).max() < 1e-14)
    True
    """
    need(sol, Trajectory, "sol", "Trajectory")
    residual = sol.constraint(sol.method.constraint_at)
    t = sol.t[1:-1] if sol.method.constraint_at == "average" else sol.t[1:]
    return t, worst_of(residual[len(residual) - len(t) :])


def new(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None
) -> tuple[Figure, Any]:
    """A figure and its axes in nhlab's style.

    Parameters
    ----------
    rows, columns : of axes;  size : of the figure in inches

    Examples
    --------
    >>> import nhlab as nh
    >>> fig, (left, right) = nh.plot.new(1, 2, size=(8, 3))
    >>> _ = left.set_title("positions")
    """
    size = size or (3.6 + 3.6 * columns, 3.2 * rows)
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=size, FigureClass=TypesetFigure)


def _axes(ax, size=None):
    return new(size=size)[1] if ax is None else need(ax, Axes, "ax", "axes of matplotlib")


def draw(
    sols: Trajectory | Sequence[Trajectory], name: str, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw a reading of one or several trajectories over time.

    Parameters
    ----------
    sols : a run, or several
    name : of the reading, such as "energy", "constraint" or a column
    ax : the axes to draw into; new ones without it
    options : as the reading takes them, such as ``at="midpoints"``

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> nh.plot.draw(sol, "energy").get_ylabel()
    'energy $E$ at the nodes'
    """
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


def energy(
    sols: Trajectory | Sequence[Trajectory],
    ax: Axes | None = None,
    at: str = "nodes",
    **options: Any,
) -> Axes:
    """Energy over time.

    Parameters
    ----------
    sols : a run, or several
    ax : the axes to draw into; new ones without it
    at : as in Trajectory.energy ("nodes", "midpoints", "projected")
    options : for the lines, as of ``ax.plot``

    Examples
    --------
    >>> import nhlab as nh
    >>> particle = nh.systems.particle()
    >>> sols = [nh.integrate(particle, m, h=0.2, steps=50) for m in (nh.DLA(), nh.RK4())]
    >>> ax = nh.plot.energy(sols, at="nodes")
    >>> [x.get_text() for x in ax.get_legend().get_texts()]
    ['DLA', 'RK4']
    """
    names = {"nodes": "energy", "midpoints": "midpoint energy", "projected": "projected energy"}
    return draw(sols, names[one_of(at, names, "at")], ax, **options)


def constraint(
    sols: Trajectory | Sequence[Trajectory],
    ax: Axes | None = None,
    at: str = "nodes",
    **options: Any,
) -> Axes:
    """The residual of the constraints over time, of several the largest.

    Parameters
    ----------
    sols : a run, or several
    ax : the axes to draw into; new ones without it
    at : as in Trajectory.constraint ("nodes", "midpoints", "average")
    options : for the lines, as of ``ax.plot``

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> ax = nh.plot.constraint(sol, at="average")
    >>> len(ax.lines)
    1
    """
    names = {where: name for name, (where, *_) in CONSTRAINTS.items()}
    return draw(sols, names[one_of(at, names, "at")], ax, **options)


def path(
    sols: Trajectory | Sequence[Trajectory], x: str, y: str, ax: Axes | None = None, **options: Any
) -> Axes:
    """One coordinate against another, drawn to scale.

    Parameters
    ----------
    sols : a run, or several
    x, y : names of the coordinates to the right and upwards
    ax : the axes to draw into; new ones without it
    options : for the lines, as of ``ax.plot``

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.robot(), nh.DLA(), h=0.1, steps=50)
    >>> ax = nh.plot.path(sol, "x", "y")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('$x$', '$y$')
    """
    ax = draw(sols, f"{x} {y}", ax, **options)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def order(results: Mapping[Method, Order], ax: Axes | None = None) -> Axes:
    """Errors against h, log-log.

    Parameters
    ----------
    results : a method -> its ``nh.diagnostics.order``
    ax : the axes to draw into; new ones without it

    Examples
    --------
    >>> import nhlab as nh
    >>> s, methods = nh.systems.particle(), [nh.DLA(), nh.DLA(0.3)]
    >>> found = {m: nh.diagnostics.order(s, m, T=1, hs=[0.1, 0.05, 0.025]) for m in methods}
    >>> nh.plot.order(found).get_xscale()
    'log'
    """
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


# A picture on white becomes one on dark where JupyterLab is dark, each colour keeping its hue.
DARK = '[data-jp-theme-light="false"] .nhlab-picture {filter: invert(.93) hue-rotate(180deg)}'


class Shown:
    """A finished picture with alternative text, as PNG and as an HTML image that carries it.

    cuts : the pixels at which its columns can be parted
    """

    def __init__(self, png: bytes, alt: str, cuts: Sequence[int] = ()) -> None:
        self.png, self.alt, self.cuts = png, alt, cuts

    def _repr_mimebundle_(self, **_):
        image = '<img alt="{alt}" class="nhlab-picture" style="{style}" src="{source}">'
        html = in_columns(image, self.png, self.alt, self.cuts)
        return {
            "image/png": base64.b64encode(self.png).decode(),
            "text/html": f"<style>{DARK}</style>{html}",
            "text/plain": f"[figure: {self.alt}]",
        }


def show(figure: Figure | Axes, alt: str) -> Shown:
    """Show a figure (or the figure of an ``ax``) with alternative text, and close it.

    Parameters
    ----------
    figure : the figure, or one of its axes
    alt : what it shows, for those who do not see it

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> picture = nh.plot.show(nh.plot.energy(sol), "The energy of DLA oscillates in a band.")
    >>> picture.alt, picture.png[1:4]
    ('The energy of DLA oscillates in a band.', b'PNG')
    """
    figure = need(getattr(figure, "figure", figure), Figure, "figure", "figure of matplotlib")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    cuts = cuts_of(figure)
    plt.close(figure)
    return Shown(file.getvalue(), alt, cuts)
