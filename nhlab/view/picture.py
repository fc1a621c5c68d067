"""A persistent figure whose moving parts alone are drawn anew, as PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike
from PIL import Image

from . import bands
from .bands import is_band, running_mean
from .columns import cuts_of
from .limits import ROOM, is_loose, next_limits, next_limits_to_scale
from .typeface import STYLE, TypesetFigure, typeset

AnyArtist = TypeVar("AnyArtist", bound=Artist)
PALE = 0.3  # the opacity of a ghost
PAINTS = ContextVar("PAINTS", default=True)


@contextmanager
def unpainted() -> Iterator[None]:
    """Compute panels without painting their pictures and stills, which takes most of the time.

    For pages, which take from a panel what it computes and paint it themselves.
    """
    token = PAINTS.set(False)
    try:
        yield
    finally:
        PAINTS.reset(token)


class Picture:
    r"""An Agg figure; only the artists in ``moving`` are drawn anew on the stored background.

    Parameters
    ----------
    size : (width, height) in inches
    rows, columns : how many axes
    subplots : further keywords of matplotlib's ``Figure.subplots``
    resting : is no slider being dragged?  Then limits are close to the curves.
    widens : do limits only widen, as for curves that are cut short?
    loose : are limits wider than they would be if the hand rested?
    cuts : the pixels at which its columns can be parted, see ``view.columns``
    leaving : sentences about curves of which only the beginning is in the picture

    Examples
    --------
    >>> import nhlab as nh
    >>> picture = nh.Picture((4, 3))
    >>> curve = picture.add(picture.ax.plot([0, 1], [0, 1])[0])
    >>> picture.png()[:4]
    b'\x89PNG'
    """

    figure: Figure
    axes: np.ndarray
    ax: Axes
    canvas: FigureCanvasAgg
    moving: list[Any]
    leaving: list[str]
    cuts: list[int]
    resting: bool
    widens: bool
    loose: bool

    def __init__(
        self,
        size: tuple[float, float] = (6.4, 4.2),
        rows: int = 1,
        columns: int = 1,
        **subplots: Any,
    ) -> None:
        if np.shape(size) != (2,) or min(size) <= 0:
            raise ValueError(f"size = {size!r} must be (width, height) in inches, as (6.4, 4.2)")
        with mpl.rc_context(STYLE):
            self.figure = TypesetFigure(figsize=size)
            self.axes = self.figure.subplots(rows, columns, squeeze=False, **subplots).ravel()
        self.ax, self.canvas = self.axes[0], FigureCanvasAgg(self.figure)
        self.moving, self.leaving = [], []
        self.resting, self.widens, self.loose = True, False, False
        self._background, self._written, self._beside = None, None, None
        self._reached, self._ghosts, self._means = {}, None, {}
        self.cuts = []

    @property
    def size(self) -> np.ndarray:
        """Width and height in pixels."""
        return self.figure.bbox.size

    def line(
        self, *args: Any, ax: Axes | None = None, ghost: bool = True, **options: Any
    ) -> Line2D:
        """A curve without points yet, to be moved by ``set_data``."""
        (line,) = (ax or self.ax).plot(*(args or ([], [])), **options)
        return self.add(line, ghost)

    def put(self, line: Line2D, x: ArrayLike, y: ArrayLike) -> None:
        """Give a curve its points; one that fills a band is pale, and its mean is drawn."""
        line.set_data(x, y)
        band = is_band(np.asarray(x, float), np.asarray(y, float))
        if band and line not in self._means:
            self._means[line] = self._mean_of(line)
        if line in self._means:
            mean, width = self._means[line]
            mean.set_data(*((running_mean(x), running_mean(y)) if band else ([], [])))
            line.set(alpha=bands.PALE if band else None, linewidth=bands.THIN if band else width)

    def _mean_of(self, line):
        """A curve for the mean of another, which looks as that does, and the width of that."""
        mean = Line2D([], [])
        mean.update_from(line)
        line.axes.add_line(mean)
        mean.set_label("_mean")
        return self.add(mean, ghost=False), line.get_linewidth()

    def add(self, artist: AnyArtist, ghost: bool = True) -> AnyArtist:
        """Count an artist among the moving ones; with ``ghost`` False, ``remember`` passes it
        over."""
        artist.set_animated(True)
        typeset(artist)
        artist.ghost = ghost
        self.moving.append(artist)
        return artist

    def drop(self, artist: Artist) -> None:
        """Take an artist that was added away for good."""
        self.moving.remove(artist)
        artist.remove()

    def leave_room(self, share: float, above: bool = False) -> None:
        """Keep a share of the width, on the right, free of axes: for what moves there; then, or
        ``above``, also half a letter at the top, for a number at the end of the axis."""
        top = 0.03 if share or above else 0.0
        self.figure.get_layout_engine().set(rect=(0, 0, 1 - share, 1 - top))
        self._written = None
        self.changed()

    def changed(self) -> None:
        """Say that something fixed changed: labels, legend, what stands where."""
        self._background = self._beside = None

    def rescaled(self) -> None:
        """Say that limits changed, and nothing else."""
        self._background = None

    def png(self, small: bool = False) -> bytes:
        """The picture, b"" where ``unpainted``; ``small`` spends time to save space, for a file."""
        if not PAINTS.get():
            return b""
        if self._background is None:
            self._draw_background()
        self.canvas.restore_region(self._background)
        for artist in self.moving:
            if artist.get_visible():
                artist.axes.draw_artist(artist)
        picture = Image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB")
        if not small:
            picture = _with_palette(picture)
        file = io.BytesIO()
        picture.save(file, "png", compress_level=9 if small else 1)
        return file.getvalue()

    def _draw_background(self):
        """Draw what is fixed; the layout, which takes longer than the drawing, is computed only
        where something else is written, and else legends and names beside the axes are kept."""
        written, engine = [_written(ax) for ax in self.figure.axes], self.figure.get_layout_engine()
        same = written == self._written
        keep = same and self._beside is not None
        if engine is not None and same:
            self.figure.set_layout_engine("none")
        kept = self._beside if keep else []
        for artist, _ in kept:
            artist.set_visible(False)
        self._hold_names(keep)
        if (
            engine is not None
            and not same
            and any(a.get_aspect() != "auto" for a in self.figure.axes)
        ):
            self.figure.draw_without_rendering()  # axes to scale need a second layout to settle
        self.canvas.draw()
        for artist, region in kept:
            artist.set_visible(True)
            self.canvas.restore_region(region)
        if engine is not None:
            self.figure.set_layout_engine(engine)
        self._background = self.canvas.copy_from_bbox(self.figure.bbox)
        if not same:
            self.cuts = cuts_of(self.figure)
        self._written = written if same else [_written(ax) for ax in self.figure.axes]
        self._beside = kept if keep else [*self._beside_axes()]

    def _hold_names(self, keep):
        """Let the names of the axes stand where they are, or beside the labels at the ticks: to
        measure these takes longer than to draw them."""
        for axis in _every_axis(self.figure):
            axis._autolabelpos = not keep  # matplotlib has no way back from set_label_coords
            measured = not keep or bool(axis.offsetText.get_text())  # which stands below them
            for tick in (*axis.majorTicks, *axis.minorTicks):
                tick.label1.set_in_layout(measured)

    def _beside_axes(self):
        """Legends and names that touch neither axes nor what is written at them, and their regions
        of the canvas."""
        legends = [ax.get_legend() for ax in self.figure.axes]
        names = [axis.label for axis in _every_axis(self.figure) if axis.get_label_text()]
        taken = [box for ax in self.figure.axes for box in _taken(ax)]
        for artist in filter(None, [*legends, *names]):
            box = artist.get_window_extent().padded(1)  # edges are smoothed
            if artist.get_visible() and not any(box.overlaps(other) for other in taken):
                yield artist, self.canvas.copy_from_bbox(box)

    # ---- limits

    def fit(self, ax: Axes, x: ArrayLike, y: ArrayLike, end: float | None = None) -> None:
        """Round limits that hold the data and stay while these are inside and fill a third.

        With ``end`` the horizontal axis is [0, end] whenever the hand rests.  ``refit`` and
        ``forget`` let the next limits be chosen as for the first time.
        """
        given = {"x": x if end is None else (0.0, end), "y": y}
        reach = {side: _reach(ax, side, values) for side, values in given.items()}
        reach = {side: ends for side, ends in reach.items() if ends}
        if ax.get_aspect() == 1 and len(reach) == 2:
            self._fit_to_scale(ax, reach)
            return
        for side, ends in reach.items():
            exact = side == "x" and end is not None
            limits, known = _limits(ax, side), self._reached.get((ax, side))
            how = ROOM[side], exact, self.resting, self.widens
            limits = next_limits(limits, known, *ends, *how)
            self._take(ax, side, limits, ends)
            self.loose |= limits[1] != ends[1] if exact else is_loose(limits, *ends)

    def _fit_to_scale(self, ax, reach):
        """Likewise for both directions at once, which keep equal scales."""
        known = [self._reached.get((ax, side)) for side in reach]
        limits, ends = [_limits(ax, side) for side in reach], [*reach.values()]
        known = None if None in known else known
        how = ends, _room(ax), self.resting, self.widens
        chosen = next_limits_to_scale(limits, known, *how)
        for side, new in zip(reach, chosen, strict=True):
            self._take(ax, side, new, reach[side])
        self.loose |= all(is_loose(_limits(ax, side), *reach[side]) for side in reach)

    def _take(self, ax, side, limits, ends):
        """Set limits, and remember how far the curves reached."""
        self._reached[ax, side] = ends
        if tuple(limits) != _limits(ax, side):
            scale = getattr(ax, f"{side}axis").get_transform()
            ax.set(**{f"{side}lim": scale.inverted().transform(np.array(limits))})
            self.rescaled()

    def follows(self, ax: Axes) -> bool:
        """Do the limits of ``ax`` follow what is given to ``fit``?"""
        return (ax, "y") in self._reached

    def refit(self) -> None:
        """Let the next ``fit`` choose limits as for the first time."""
        self._reached.clear()

    def forget(self, ax: Axes | None = None) -> None:
        """Drop limits (of one ``ax``, or all) and ghosts: something else is to be shown."""
        kept = self._reached.items()
        self._reached = {(a, side): x for (a, side), x in kept if ax not in (None, a)}
        for ghost in self._ghosts or ():
            ghost.remove()
        self._ghosts = None
        self.changed()

    # ---- ghosts

    @property
    def remembers(self) -> bool:
        return self._ghosts is not None

    def remember(self) -> None:
        """Keep the present curves as pale ghosts, so that a change is seen as a change."""
        for ghost in self._ghosts or ():
            ghost.remove()
        curves = [a for a in self.moving if isinstance(a, Line2D) and a.get_visible() and a.ghost]
        drawn = [a for a in curves if a.get_linestyle() != "None" and len(a.get_xdata()) > 1]
        means = {a: self._means[a][0] for a in drawn if a in self._means}
        bands = {a: mean for a, mean in means.items() if len(mean.get_xdata())}
        self._ghosts = [self._ghost(bands.get(a, a)) for a in drawn]  # of a band its mean alone
        self._background = None

    def _ghost(self, line):
        ghost = Line2D([], [])
        ghost.update_from(line)
        ghost.set_data(*(np.array(x) for x in line.get_data()))
        ghost.set(alpha=PALE, marker="", label="_ghost", zorder=1, animated=False, in_layout=False)
        return line.axes.add_artist(ghost)


def _with_palette(picture):
    """The picture with 256 colours, that of its corner exact: this halves the time to pack it, and
    what is sent to the browser."""
    found = picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette, paper = found.getpalette(), found.getpixel((0, 0))
    palette[3 * paper : 3 * paper + 3] = picture.getpixel((0, 0))
    found.putpalette(palette)
    return found


def _every_axis(figure):
    return [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]


def _room(ax):
    """The width and the height of the place that there is for axes."""
    figure = ax.get_figure()
    place = ax.get_subplotspec().get_position(figure)
    return figure.get_size_inches() * [place.width, place.height]


def _taken(ax):
    """The boxes of axes, of their powers of ten, and of labels wherever along them ticks may be."""
    yield ax.bbox
    for k, axis in enumerate((ax.xaxis, ax.yaxis)):
        words = [*(tick.label1 for tick in axis.get_major_ticks()), axis.offsetText]
        words = [text for text in words if text.get_visible() and text.get_text()]
        boxes = [text.get_window_extent() for text in words]
        yield from boxes
        if boxes:
            ends, room = Bbox.union(boxes).get_points(), max(box.size[k] for box in boxes) / 2
            ends[:, k] = ax.bbox.get_points()[:, k] + [-room, room]
            yield Bbox(ends)


def _written(ax):
    """A fingerprint of all text that affects the layout of axes, and of where these stand, which
    with equal scales changes with their limits.  Of the labels at the ticks the widest counts, with
    its digits replaced by 0, since all digits are equally wide."""
    ax.apply_aspect()
    legend = ax.get_legend()
    words = [text.get_text() for text in legend.get_texts()] if legend else []
    for axis in (ax.xaxis, ax.yaxis):
        formatter = axis.get_major_formatter()
        ticks = formatter.format_ticks(axis.get_majorticklocs())
        alike = [re.sub(r"\d", "0", text) for text in ticks]
        widest = max(alike, key=lambda text: (len(text), "\N{MINUS SIGN}" in text), default="")
        words += [axis.get_label_text(), widest, formatter.get_offset()]
    return [*words, ax.get_title(), ax.get_position().bounds]


def _limits(ax, side):
    """The limits of one side, as its scale has them."""
    scale = getattr(ax, f"{side}axis").get_transform()
    return tuple(scale.transform(np.array(getattr(ax, f"get_{side}lim")())).tolist())


def _reach(ax, side, values):
    """The least and the largest finite value, as the scale of a side has them; () without any."""
    values = getattr(ax, f"{side}axis").get_transform().transform(np.asarray(values, float))
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else ()
