"""What the lessons share: a board on which a function of the controls draws."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from ..methods.method import Method
from ..run.errors import IntegrationError
from ..view import plot
from ..view.body import ahead as ahead  # and what else the lessons draw with
from ..view.body import circle as circle
from ..view.body import joined as joined
from ..view.body import place as place
from ..view.panel import Panel
from ..view.widgets import Picture, panel
from .colours import ORANGE
from .computation import code_of

Points = Sequence[float] | np.ndarray  # places along an axis, or a place in the plane
RIGHT = {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": 1}


class Board(Picture):
    """A picture drawn by a function of the controls, which says each time what there is.

    The first time ``curve``, ``arrow`` and ``part`` make their artists, later they move them: the
    function must draw the same things in the same order.  It may leave some out at the end, which
    are then hidden.
    """

    def __init__(
        self,
        size: tuple[float, float],
        rows: int = 1,
        columns: int = 1,
        margins: Sequence[float | None] | None = None,
        **subplots: object,
    ) -> None:
        """``margins`` : left, bottom, right, top and the gaps between axes."""
        super().__init__(size, rows, columns, **subplots)
        if margins:  # then no layout is computed while a slider moves
            self.figure.set_layout_engine(None)
            self.figure.subplots_adjust(*margins)
        self.quick, self.said = False, {}
        self._next, self._legends, self._key = 0, {ax: {} for ax in self.axes}, None

    def panel(self, update: Callable, text: str | None = None, **controls: object) -> Panel:
        """A panel that calls ``update`` with the values of the controls.

        The docstring of ``update`` (or ``text``) is for the reader of the lesson: first the
        alternative text, after an empty line the caption.
        """
        alt, _, caption = (text or update.__doc__).partition("\n\n")
        alt, caption = (" ".join(x.split()) for x in (alt, caption))
        first = len(self.moving)

        def redraw(_: object, values: dict[str, object], quick: bool) -> dict[str, str]:
            self.quick, self.said, self._next = quick, {}, first
            update(**values)
            for artist in self.moving[self._next :]:
                artist.set_visible(False)
            while self._legends:
                ax, options = self._legends.popitem()
                add_legend(ax, **options)
            return self.said

        about = {"alt": alt, "caption": caption, "code": code_of(update)}
        return panel(self, redraw, **about, **controls)

    def legend(
        self, ax: Axes | None = None, order: Sequence[str] | None = None, **options: object
    ) -> None:
        """How the legend of what has a label is to differ from that of ``add_legend``."""
        self._legends[ax or self.ax] = {"order": order, **options}

    def say(self, label: str, text: str) -> None:
        """An entry of the read-out."""
        self.said[label] = text

    def part(self, make: Callable[[], Artist], ghost: bool = True) -> Artist:
        """The next moving artist; the first time ``make()`` gives it."""
        if self._next == len(self.moving):
            self.add(make(), ghost)
        artist = self.moving[self._next]
        artist.set_visible(True)
        self._next += 1
        return artist

    def curve(
        self, x: Points, y: Points, ax: Axes | None = None, ghost: bool = True, **look: object
    ) -> None:
        """A curve; its first shape stays as a pale ghost, if it has one."""
        self.part(lambda: (ax or self.ax).plot([], [], **look)[0], ghost).set_data(x, y)

    def dots(self, x: Points, y: Points, ax: Axes | None = None, **look: object) -> None:
        self.curve(x, y, ax, linestyle="none", **{"marker": "o", **look})

    def outline(self, x: Points, y: Points, ax: Axes | None = None, **look: object) -> None:
        """A part of a body, or what belongs to one instant: it leaves no ghost."""
        self.curve(x, y, ax, ghost=False, **look)

    def run(
        self, method: Method, x: Points, y: Points, ax: Axes | None = None, **look: object
    ) -> None:
        """A curve in the colour and under the name of a method."""
        self.curve(x, y, ax, **{"label": plot.label(method), **plot.look(method), **look})

    def arrow(
        self,
        tail: Points,
        tip: Points,
        colour: str,
        ax: Axes | None = None,
        label: str = "",
        width: float = 2.4,
        head: float = 16,
    ) -> None:
        ax = ax or self.ax

        def make():
            if label not in ("", *ax.get_legend_handles_labels()[1]):
                key(ax, colour, label)
            style = {"arrowstyle": "-|>", "mutation_scale": head, "shrinkA": 0, "shrinkB": 0}
            return ax.add_patch(FancyArrowPatch(tail, tip, color=colour, linewidth=width, **style))

        self.part(make).set_positions(tail, tip)

    def hold(self, ax: Axes, x: Points, y: Points = (), same: bool = True) -> None:
        """Limits that hold x, y and the curves on ``ax``; ``same`` if it shows what it showed."""
        if not same:
            self.forget(ax)
        drawn = [line.get_ydata() for line in ax.lines if line.get_animated()]
        self.fit(ax, x, np.concatenate([y, *drawn]))

    def changed_since_last(self, key: object) -> bool:
        """True if ``key`` is another one than at the last call, or if this is the first."""
        old, self._key = self._key, key
        return old != key


def new_board(*args: object, **options: object) -> tuple:
    """A Board and its axes."""
    board = Board(*args, **options)
    return board, *board.axes


def drawn(width: float, height: float, columns: int = 1) -> Callable[[Callable], Callable]:
    """A picture that stands still: the function draws on the axes it is given first.

    The alternative text is what it returns, or else its docstring.
    """

    def made(draw: Callable[..., str | None]) -> Callable[..., plot.Shown]:
        @wraps(draw)
        def picture(*args: object, **options: object) -> plot.Shown:
            fig, axes = plot.new(1, columns, size=(width, height))
            said = draw(*np.atleast_1d(axes), *args, **options)
            return plot.show(fig, said or " ".join(draw.__doc__.split()))

        return picture

    return made


def frame(
    ax: Axes,
    xlabel: str,
    ylabel: str,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    **more: object,
) -> None:
    """What the axes say and show."""
    limits = {k: x for k, x in (("xlim", xlim), ("ylim", ylim)) if x is not None}
    ax.set(xlabel=xlabel, ylabel=ylabel, **limits, **more)


def add_legend(ax: Axes, order: Sequence[str] | None = None, **options: object) -> None:
    """A legend of what has a label (in the order given), in one line above the axes."""
    handles, labels = ax.get_legend_handles_labels()
    found = dict(zip(labels, handles, strict=True))
    handles = [found[x] for x in (found if order is None else order) if x in found]
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": len(handles)}
    if handles:
        ax.legend(handles=handles, **{"frameon": False, **above, **options})


def key(ax: Axes, colour: str, text: str, **look: object) -> None:
    """An entry of the legend for something that has none of its own."""
    ax.plot([], [], color=colour, label=text, **look)


def bare(ax: Axes, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """Axes to scale, without frame and ticks."""
    ax.set(xlim=xlim, ylim=ylim, xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


def step_sizes(ax: Axes, hs: np.ndarray, top: float, colour: str) -> None:
    """Logarithmic axes over step sizes, with lines of slope 1 and 2 down from ``top``."""
    names = [f"{h:g}" for h in hs]
    ax.set(xscale="log", yscale="log", xlabel="step size $h$", xticks=hs, xticklabels=names)
    ax.minorticks_off()
    for slope, style in ((1, "--"), (2, ":")):
        y = top * (hs / hs[0]) ** slope
        ax.plot(hs, y, color=colour, linestyle=style, label=f"slope {slope}")


def slope(x: Points, y: Points) -> float:
    """The slope of y over x, both on logarithmic scales."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def crossings(x: np.ndarray, y: np.ndarray) -> list[float]:
    """Where y changes its sign along x, by linear interpolation: a list of numbers."""
    k = np.flatnonzero(y[:-1] * y[1:] <= 0)
    return [float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in k]


def arc(
    ax: Axes,
    at: Points,
    radius: float,
    ends: tuple[float, float],
    text: str,
    gap: float,
    colour: str,
    linewidth: float = 1,
    **font: object,
) -> None:
    """The angle at a corner between two headings, and its name beyond the arc by a gap."""
    ax.plot(*ahead(at, np.linspace(*ends, 30), radius).T, color=colour, linewidth=linewidth)
    ax.text(*ahead(at, sum(ends) / 2, radius + gap), text, ha="center", va="center", **font)


def own_dots(ax: Axes, made: Callable[[], tuple[Points, Points]]) -> str:
    """Draw what a reader's own step makes, x and y from ``made()``; returns the words for it."""
    try:
        x, y = made()
    except Exception:  # a step with gaps; the check says what is wrong with it
        return ""
    ax.plot(x, y, "o", color=ORANGE, markersize=4, label="your step")
    return " Dots: yours."


def show_errors(calls: dict[str, Callable[[], object]], width: int = 58) -> None:
    """Make each call (label -> function) and print what it is answered with: error or warning."""
    for label, call in calls.items():
        lines = textwrap.wrap(_answer(call), width - 4)
        print(label, *(f"    {line}" for line in lines), sep="\n")


def _answer(call: Callable[[], object]) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (ValueError, IntegrationError) as error:
            return f"{type(error).__name__}: {error}"
    if not caught:
        raise AssertionError("this call was to be refused, but it went through")
    return f"{caught[0].category.__name__}: {caught[0].message}"
