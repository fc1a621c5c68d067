"""The names of curves over time, written at their right ends in place of a legend."""

from __future__ import annotations

from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .picture import Picture
from .typeface import STYLE

TEXT = {"va": "center", "fontsize": 11.5, "linespacing": 1.0, "clip_on": False}
LEADER, GAP = 0.035, 0.045  # from the axes to the end of a leader and to the name, in their width
AXES = 0.7  # of the height of a picture belongs to axes, or more
LONGEST = 18  # letters in a line of a name
ASIDE = 16  # points, or pixels of a page, from a place to the middle of letters beside it
OUT = 0.02  # beyond the axes, in their height: a curve that has left the picture
TAIL, GOES = 10, 0.1  # the last tenth of a curve says where its name belongs; see end_of


class EndLabels:
    """Names at the ends of curves; each is led there by a piece of line that looks as its curve.

    ``name_curves`` says which curves there are, ``follow`` moves the names to where they end.
    """

    def __init__(self, picture: Picture, ax: Axes) -> None:
        self.picture, self.ax, self._curves = picture, ax, []
        # name of a run -> its text and its leader; where it ends; what it is called
        self._parts, self._ends, self._words = {}, {}, {}

    def name_curves(self, curves: list) -> None:
        """Forget the names there are; those of these curves (``view.figure.Curve``) come when they
        are drawn."""
        for artist in (artist for pair in self._parts.values() for artist in pair):
            self.picture.drop(artist)
        self._curves, self._parts, self._ends = curves, {}, {}
        self.picture.leave_room(0)

    def _make(self):
        """The names, and room for them."""
        self._words = {x.run: "\n".join(wrap(x.label, LONGEST)) for x in self._curves}
        self._parts = {curve.run: self._pair(curve) for curve in self._curves}
        widest = max(text.get_window_extent().width for text, _ in self._parts.values())
        self.picture.leave_room(GAP + widest / self.picture.size[0])

    def _pair(self, curve):
        words, across = self._words[curve.run], self.ax.transAxes
        colour, line = curve.look["color"], curve.look.get("linestyle", "-")
        look = {"facecolor": "none", "edgecolor": colour, "linestyle": line}
        look["linewidth"] = curve.look.get("linewidth", STYLE["lines.linewidth"])
        text = self.ax.text(1 + GAP, 0, words, color=colour, transform=across, **TEXT)
        leader = PathPatch(Path([(1, 0), (1, 0)]), transform=across, clip_on=False, **look)
        self.ax.add_artist(leader)
        for artist in (text, leader):
            artist.set_in_layout(False)
            self.picture.add(artist, ghost=False)
        return text, leader

    def follow(self, shapes: list) -> None:
        """Move the names to the ends of the shapes (``view.figure.Shape``) that were drawn.

        The name of a run that is left out while a slider is dragged stays where its curve ended.
        """
        if self._curves and not self._parts:
            self._make()
        for shape in shapes:
            y = shape.y[np.isfinite(shape.y)]
            if shape.name in self._parts and len(y):
                self._ends[shape.name] = end_of(y)
        names = [name for name in self._parts if name in self._ends]
        heights = [self._height(self._ends[name]) for name in names]
        ends = [float(np.clip(x, 0, 1)) for x in heights]
        sizes = [self._parts[name][0].get_window_extent().height for name in names]
        places = places_apart(ends, np.array(sizes) / self._least_height())
        for name, (text, leader) in self._parts.items():
            for artist in (text, leader):
                artist.set_visible(name in names)
        for name, height, end, place in zip(names, heights, ends, places, strict=True):
            text, leader = self._parts[name]
            text.set_y(place)
            text.set_text(self._words[name] + (" ↑" * (height > 1 + OUT) or " ↓" * (height < -OUT)))
            leader.set_visible(-OUT <= height <= 1 + OUT)
            leader.set_path(Path([(1, end), (1 + LEADER, place)]))

    def _least_height(self):
        """Pixels that the axes are high at least, whatever is written around them."""
        rows = self.ax.get_subplotspec().get_gridspec().nrows
        return AXES * self.picture.size[1] / rows

    def _height(self, y):
        """The height of a value in the axes, which reach from 0 to 1."""
        scale = self.ax.yaxis.get_transform()
        low, high = scale.transform(np.array(self.ax.get_ylim()))
        with np.errstate(divide="ignore", invalid="ignore"):
            height = (scale.transform(np.array([y]))[0] - low) / (high - low)
        return float(np.nan_to_num(height))


def end_of(y: np.ndarray) -> float:
    """Where a curve ends: at its last point or, if it swings there, in the middle of its swings.

    It swings if by a tenth of its way or less it gets anywhere.
    """
    tail = y[-max(1, len(y) // TAIL) :]
    goes = abs(tail[-1] - tail[0]) >= GOES * np.abs(np.diff(tail)).sum()
    return float(tail[-1] if goes else np.mean(tail))


def places_apart(wanted: list[float], sizes: np.ndarray) -> np.ndarray:
    """Middles of things of these sizes, inside [0, 1], none upon another, near the wanted ones.

    Their order is that of the wanted places, or as given where these cannot be told apart by eye.
    The sum of the squares of the moves is least: where neighbours meet they share the way.
    """
    if not len(wanted):
        return np.zeros(0)
    order = sorted(range(len(wanted)), key=lambda k: (round(wanted[k] / min(sizes)), k))
    sizes = np.asarray(sizes)[order]
    shift = np.append(0, np.cumsum((sizes[1:] + sizes[:-1]) / 2))  # as close as can be
    blocks = []  # (mean, how many) of things that touch, with the shift taken away
    for x in np.array(wanted)[order] - shift:
        blocks.append((x, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [((m * a + n * b) / (m + n), m + n)]
    close = np.repeat([x for x, _ in blocks], [n for _, n in blocks])
    found = np.empty(len(order))
    least = sizes[0] / 2
    found[order] = np.clip(close, least, max(least, 1 - shift[-1] - sizes[-1] / 2)) + shift
    return found
