"""Pictures of the notions that the lessons share: momenta at a node, the planes of D, areas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ..mechanics import catalogue as systems
from ..methods import RK4, Projector, Variational
from ..run.ensemble import ensemble
from ..run.loop import integrate
from ..view import plot
from ..view.body import camera, circle
from .colours import BLUE, DARK, MIDDLE, ORANGE

ARROW = {"arrowstyle": "-|>", "lw": 2, "shrinkA": 0, "shrinkB": 0}
EYE = camera((0.35, -0.8, 0.6))


def _arrow(
    ax: Axes,
    tail: Sequence[float],
    tip: Sequence[float],
    colour: str,
    text: str | None = None,
    offset: tuple[float, float] = (4, 4),
) -> None:
    ax.annotate("", tip, tail, arrowprops={**ARROW, "color": colour})
    if text:
        ax.annotate(text, tip, offset, textcoords="offset points", color=colour)


def slots(ax: Axes) -> None:
    """Three nodes and two steps: each slot of Ld moves one end of a step."""
    nodes = np.array([[0, 0], [1, 0.55], [2.1, 0.5]])
    ax.plot(*nodes.T, "o-", color=DARK)
    for k, (x, y) in enumerate(nodes):
        ax.annotate(f"$q_{k}$", (x, y), (0, -18), textcoords="offset points", ha="center")
    for (a, b), name in zip((nodes[:2], nodes[1:]), ("(q_0,q_1)", "(q_1,q_2)"), strict=True):
        middle = (a + b) / 2
        ax.text(*middle + [0, -0.3], f"$L_d{name}$", ha="center", color=MIDDLE)
    q = nodes[1]
    for side, text, colour in ((-0.3, "D_2L_d(q_0,q_1)", BLUE), (0.3, "D_1L_d(q_1,q_2)", ORANGE)):
        ax.text(*q + [side, 0.72], f"${text}$", ha="right" if side < 0 else "left", color=colour)
        ax.annotate("", q, q + [side, 0.68], arrowprops={**ARROW, "color": colour, "lw": 1.4})
    ax.set(xlim=(-0.4, 2.6), ylim=(-0.5, 1.5), aspect="equal")
    ax.axis("off")


def momenta(ax: Axes) -> None:
    """A skate at one node: the momentum that arrives, the one that leaves, and their mean."""
    v0 = [np.cos(0.2), np.sin(0.2), 0.9]
    sol = integrate(systems.sleigh(a=0.0), Projector(), [0, 0, 0.2], v0, h=0.8, steps=2)
    at, theta = sol.q[1, :2], sol.q[1, 2]
    arriving, leaving = sol.p[1, :2], sol.p_minus[1, :2]
    along = np.array([np.cos(theta), np.sin(theta)])
    ax.plot(*sol.q[:, :2].T, "o-", color=DARK)
    ax.plot(*np.array([at - 0.9 * along, at + 1.1 * along]).T, ":", color=MIDDLE)
    ax.annotate("allowed", at + 1.1 * along, (2, 2), textcoords="offset points", color=MIDDLE)
    _arrow(ax, at, at + 0.6 * arriving, BLUE, "arrives $p^+$")
    _arrow(ax, at, at + 0.6 * leaving, ORANGE, "leaves $p^-$", (-72, -4))
    ax.plot(*np.array([at + 0.6 * arriving, at + 0.6 * leaving]).T, "--", color=MIDDLE, lw=1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.25)
    ax.axis("off")


def planes(ax: Axes) -> None:
    """The planes z' = y x' of the particle, which tilt as y grows, and a motion that obeys them."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [0.36, 0.17]
    for y in np.linspace(1.2, -1.2, 5):
        for x in (-1.3, 0.0, 1.3):
            tile = np.column_stack([*(corners + [x, y]).T, y * corners[:, 0]])
            ax.fill(*(tile @ EYE[:2].T).T, facecolor=BLUE, alpha=0.25, edgecolor=BLUE, lw=0.8)
    sol = integrate(systems.particle(), Projector(), [-1.3, -1, 0], [1, 0.9, -1], h=0.02, steps=90)
    ax.plot(*(sol.q @ EYE[:2].T).T, color=ORANGE, lw=2.4)
    for k, name in enumerate("xyz"):
        tip = (2.2, 1.7, 1.0)[k] * np.eye(3)[k] @ EYE[:2].T
        _arrow(ax, (0, 0), tip, DARK, f"${name}$")
    ax.set_aspect("equal")
    ax.axis("off")


def areas(ax: Axes, steps: int = 8, h: float = 1.0) -> None:
    """A disk of starts of the pendulum, and where two methods carry it: one keeps its area."""
    system, disk = systems.pendulum(), 0.45 * circle(241) + [1.2, 0]
    ax.fill(*disk.T, color=MIDDLE, alpha=0.35, label="start")
    for m, colour in ((Variational(), BLUE), (RK4(), plot.COLOURS["RK4"])):
        run = ensemble(system, m, disk[:, :1], disk[:, 1:], h=h, steps=steps)
        q, p = (x[:, -1, 0] for x in (run.q, run.p))
        area = abs(np.sum(q * np.roll(p, -1) - p * np.roll(q, -1))) / 2 / (np.pi * 0.45**2)
        ax.plot(q, p, color=colour, label=f"{type(m).__name__}: {area:.3f} of the area")
    ax.set(xlabel=r"angle $q$", ylabel="momentum $p$")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)


def kick(ax: Axes) -> None:
    """One DLA step as two: a kick of -A^T lam at the node, then a free step."""
    A, p = np.array([-0.6, 1.0]), np.array([1.35, 0.35])
    after = p - A * (A @ p) / (A @ A) * 0.8
    ax.plot([0], [0], "o", color=DARK)
    ax.annotate("node $q_k$", (0, 0), (-6, -18), textcoords="offset points")
    _arrow(ax, (0, 0), p, BLUE, "arrives")
    _arrow(ax, p, after, MIDDLE, r"kick $-A^T\lambda$", (4, 10))
    _arrow(ax, (0, 0), after, ORANGE, "leaves", (-46, 6))
    ax.set(xlim=(-0.4, 2.1), ylim=(-0.6, 1.1), aspect="equal")
    ax.axis("off")


def show(*names: str, size: tuple[float, float] | None = None) -> plot.Shown:
    """The named pictures side by side, with their descriptions as alternative text."""
    drawn = [globals()[name] for name in names]
    fig, axes = plot.new(1, len(drawn), size=size or (4.4 * len(drawn), 3.4))
    for ax, draw in zip(np.atleast_1d(axes), drawn, strict=True):
        draw(ax)
    return plot.show(fig, " ".join(" ".join(draw.__doc__.split()) for draw in drawn))
