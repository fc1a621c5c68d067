"""What the lessons share: colours, and a board on which a function of the controls draws."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyArrowPatch

from ..view import plot
from ..view.widgets import Picture, panel

DARK, MIDDLE, SLATE, GREY = "#333333", "#777777", "#999999", "#BBBBBB"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
RIGHT = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}


class Board(Picture):
    """A picture drawn by a function of the controls, which says each time what there is.

    The first time ``curve``, ``arrow`` and ``part`` make their artists, later they move them: the
    function must draw the same things in the same order.  It may leave some out at the end, which
    are then hidden.
    """

    def __init__(self, size, rows=1, columns=1, margins=None, **subplots):
        """``margins`` : left, bottom, right, top and the gaps between axes."""
        super().__init__(size, rows, columns, **subplots)
        if margins:  # then no layout is computed while a slider moves
            self.figure.set_layout_engine(None)
            self.figure.subplots_adjust(*margins)
        self.quick, self.said = False, {}
        self._next, self._legends, self._key = 0, [], None

    def panel(self, update, text=None, code=None, **controls):
        """A panel that calls ``update`` with the values of the controls.

        The docstring of ``update`` (or ``text``) is for the reader of the lesson: first the
        alternative text, after an empty line the caption.
        """
        alt, _, caption = (text or update.__doc__).partition("\n\n")
        alt, caption = (" ".join(x.split()) for x in (alt, caption))
        first = len(self.moving)

        def redraw(_, values, quick):
            self.quick, self.said, self._next = quick, {}, first
            update(**values)
            for artist in self.moving[self._next :]:
                artist.set_visible(False)
            while self._legends:
                add_legend(*self._legends.pop())
            return self.said

        return panel(self, redraw, alt=alt, caption=caption, code=code, **controls)

    # ---- what an update says

    def say(self, label, text):
        """An entry of the read-out."""
        self.said[label] = text

    def part(self, make):
        """The next moving artist; the first time ``make()`` gives it."""
        if self._next == len(self.moving):
            self.add(make())
        artist = self.moving[self._next]
        artist.set_visible(True)
        self._next += 1
        return artist

    def curve(self, x, y, ax=None, **look):
        self.part(lambda: (ax or self.ax).plot([], [], **look)[0]).set_data(x, y)

    def dots(self, x, y, ax=None, **look):
        self.curve(x, y, ax, linestyle="none", **{"marker": "o", **look})

    def run(self, method, x, y, ax=None, **look):
        """A curve in the colour and under the name of a method."""
        self.curve(x, y, ax, **{"label": plot.label(method), **plot.look(method), **look})

    def arrow(self, tail, tip, colour, ax=None, label="", width=2.4, head=16):
        ax = ax or self.ax

        def make():
            if label and label not in ax.get_legend_handles_labels()[1]:
                key(ax, colour, label)
            style = {"arrowstyle": "-|>", "mutation_scale": head, "shrinkA": 0, "shrinkB": 0}
            return ax.add_patch(FancyArrowPatch(tail, tip, color=colour, linewidth=width, **style))

        self.part(make).set_positions(tail, tip)

    def hold(self, ax, x, y=(), grow_only=None):
        """Limits that hold x, y and the curves drawn on ``ax``."""
        drawn = [a.get_ydata() for a in self.moving if a.axes is ax]
        self.fit(
            ax, x, np.concatenate([y, *drawn]), grow_only if grow_only is not None else self.quick
        )

    def news(self, key):
        """Is ``key`` another one than the last time?"""
        old, self._key = self._key, key
        return old != key

    # ---- what stays

    def legend(self, ax=None, order=None, **options):
        """A legend above the axes, of all that has a label after the first update."""
        self._legends.append((ax or self.ax, order, {**ABOVE, **options}))


def add_legend(ax, order=None, options=ABOVE):
    """A legend of the artists with labels, in the order given."""
    handles, labels = ax.get_legend_handles_labels()
    found = dict(zip(labels, handles, strict=True))
    ax.legend(handles=[found[label] for label in order or found], **options)


def key(ax, colour, text, **look):
    """An entry of the legend for something that has none of its own."""
    return ax.plot([], [], color=colour, label=text, **look)[0]


def bare(ax, xlim, ylim):
    """Axes to scale, without frame and ticks."""
    ax.set(xlim=xlim, ylim=ylim, xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


def step_sizes(ax, hs, top, colour):
    """Logarithmic axes over step sizes, with lines of slope 1 and 2 down from ``top``."""
    names = [f"{h:g}" for h in hs]
    ax.set(xscale="log", yscale="log", xlabel="step size $h$", xticks=hs, xticklabels=names)
    ax.minorticks_off()
    for slope, style in ((1, "--"), (2, ":")):
        y = top * (hs / hs[0]) ** slope
        ax.plot(hs, y, color=colour, linestyle=style, label=f"slope {slope}")


def slope(x, y):
    """The slope of y over x, both on logarithmic scales."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def circle(count):
    """Points (count, 2) once round the unit circle; the last is the first."""
    a = np.linspace(0, 2 * np.pi, count)
    return np.stack([np.cos(a), np.sin(a)], -1)


def ahead(at, angle, distance):
    """The point at a distance along a heading; arrays of them if given arrays."""
    return np.asarray(at) + distance * np.stack([np.cos(angle), np.sin(angle)], -1)


def place(points, angle, at):
    """Points turned by an angle and moved to ``at``."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ [[c, s], [-s, c]] + np.asarray(at)
