"""``animate``: computed motions played side by side."""

import numpy as np

from . import bodies, plot
from .panel import Panel, play, slider
from .picture import Picture


class Actor:
    """A body that follows a trajectory on one of the axes of a picture."""

    def __init__(self, picture, ax, sol, body):
        self.sol, self.body = sol, body
        self.trace = body.centre(sol.q)
        low, high = self.trace.min(0) - body.size, self.trace.max(0) + body.size
        centre, half = (low + high) / 2, max(high - low) / 2
        xlim, ylim = np.transpose([centre - half, centre + half])
        ax.set(xlim=xlim, ylim=ylim, xlabel="$x$", ylabel="$y$", title=plot.label(sol.method))
        ax.set_aspect("equal", adjustable="box")
        ax.plot(*self.trace.T, color="#BBBBBB", linewidth=1)
        self.done = picture.line(ax=ax, **plot.look(sol.method))
        outlines = body.parts(sol.q[0])
        self.parts = [picture.line(ax=ax, color=bodies.DARK, linewidth=2) for _ in outlines]

    def move(self, t):
        q = np.array([np.interp(t, self.sol.t, column) for column in self.sol.q.T])
        past = self.trace[: np.searchsorted(self.sol.t, t)]
        self.done.set_data(*np.vstack([past, self.body.centre(q)]).T)
        for line, points in zip(self.parts, self.body.parts(q), strict=True):
            line.set_data(*points.T)


def animate(*sols, body=None, caption="", size=None, frames=200):
    """Play one or two computed motions side by side, with play, pause and a time slider.

    ``body`` draws a system that is not of the catalogue: a function of q that returns outlines,
    arrays of points (k, 2), or a subclass of nh.bodies.Body.
    """
    if not sols:
        raise ValueError("give one or two trajectories to play")
    columns, end = len(sols), float(min(sol.t[-1] for sol in sols))
    picture = Picture(size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.2, 4.0), 1, columns)
    actors = [
        Actor(picture, ax, sol, bodies.body(sol.system, body))
        for ax, sol in zip(picture.axes, sols, strict=True)
    ]

    def update(_, values, __):
        for actor in actors:
            actor.move(values["t"])
        return {"t =": f"{values['t']:.2f}"}

    t = slider("time t", 0.0, end, 0.0, end / frames, digits=2)  # the steps lead to the end
    return play(Panel(picture, update, {"t": t}, caption=caption), "t", frames)
