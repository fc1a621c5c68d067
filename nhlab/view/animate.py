"""``animate``: computed motions played side by side."""

from __future__ import annotations

import numpy as np

from . import bodies, plot
from .panel import Panel, play, slider
from .picture import Picture


def animate(*sols, body=None, caption="", size=None, frames=200):
    """Play one or two computed motions side by side, with play, pause and a time slider.

    ``body`` draws a system that is not of the catalogue: a function of q that returns outlines,
    arrays of points (k, 2), or a subclass of nh.bodies.Body.
    """
    if not sols:
        raise ValueError("give one or two trajectories to play")
    columns = len(sols)
    picture = Picture(size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.2, 4.0), 1, columns)
    end = min(sol.t[-1] for sol in sols)
    movers = []
    for sol, ax in zip(sols, picture.axes, strict=True):
        figure = bodies.body(sol.system, body)
        trace = figure.centre(sol.q)
        low, high = trace.min(0) - figure.size, trace.max(0) + figure.size
        half = max(high - low) / 2
        centre = (low + high) / 2
        ax.set_xlim(centre[0] - half, centre[0] + half)
        ax.set_ylim(centre[1] - half, centre[1] + half)
        ax.set_aspect("equal", adjustable="box")
        ax.set_title(plot.label(sol.method))
        ax.set_xlabel("$x$")
        ax.set_ylabel("$y$")
        ax.plot(*trace.T, color="#BBBBBB", linewidth=1)
        done = picture.line(ax=ax, **plot.look(sol.method))
        parts = [picture.line(ax=ax, color="#333333", linewidth=2)
                 for _ in figure.parts(sol.q[0])]  # fmt: skip
        movers.append((sol, figure, trace, done, parts))

    def update(_, values, __):
        t = values["t"]
        for sol, figure, trace, done, parts in movers:
            q = np.array([np.interp(t, sol.t, column) for column in sol.q.T])
            k = int(np.searchsorted(sol.t, t))
            done.set_data(*np.vstack([trace[:k], figure.centre(q)]).T)
            for line, points in zip(parts, figure.parts(q), strict=True):
                line.set_data(*points.T)
        return {"t =": f"{t:.2f}"}

    step = float(end) / frames  # leads to the end
    time_slider = slider("time t", 0.0, float(end), 0.0, step, digits=2)
    panel = Panel(picture, update, {"t": time_slider}, caption=caption)
    return play(panel, "t", frames)
