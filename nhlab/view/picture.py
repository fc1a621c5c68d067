"""A persistent figure whose moving parts alone are drawn anew, as PNG."""

import io

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from . import plot


class Picture:
    """An Agg figure; only the artists in ``moving`` are drawn anew on the stored background."""

    def __init__(self, size=(6.4, 4.2), rows=1, columns=1, **subplots):
        with mpl.rc_context(plot.STYLE):
            self.figure = Figure(figsize=size)
            self.axes = self.figure.subplots(rows, columns, squeeze=False, **subplots).ravel()
        self.ax, self.canvas = self.axes[0], FigureCanvasAgg(self.figure)
        self.moving, self._background, self._fitted, self._ghosts = [], None, set(), []

    def line(self, *args, ax=None, **options):
        """A curve without points yet, to be moved by ``set_data``."""
        (line,) = (ax or self.ax).plot(*(args or ([], [])), **options)
        return self.add(line)

    def add(self, artist):
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def changed(self):
        """Say that something fixed changed: limits, labels, legend."""
        self._background = None

    def png(self, small=False):
        """The picture; ``small`` spends time to save space, for a file."""
        if self._background is None:
            self.canvas.draw()
            self._background = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self._background)
        for artist in self.moving:
            if artist.get_visible():
                artist.axes.draw_artist(artist)
        file = io.BytesIO()
        picture = Image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB")
        picture.save(file, "png", compress_level=9 if small else 1)
        return file.getvalue()

    def fit(self, ax, x, y, grow_only=False):
        """Round limits that hold the data and change rarely, so that the axes stand still while a
        slider moves: data that leave them are given room, data that shrink a little are not."""
        for side, values, room in (("xlim", x, 0.0), ("ylim", y, 0.02)):
            values = np.asarray(values, float)
            values = values[np.isfinite(values)]
            if not len(values):
                continue
            low, high, (left, right) = values.min(), values.max(), getattr(ax, f"get_{side}")()
            below, above, width = low < left, high > right, high - low
            constant = width < 1e-12 * max(1, abs(high))  # fills no range
            if (ax, side) not in self._fitted:
                self._fitted.add((ax, side))
            elif below or above:
                extra, room = 0.3 * width, 0.0
                low, high = low - extra if below else left, high + extra if above else right
            elif grow_only or constant or width > 0.3 * (right - left):
                continue
            ax.set(**{side: _round_limits(low, high, room)})
            self.changed()

    def forget(self):
        """Let the next ``fit`` choose limits as for the first time; drop what was remembered."""
        self._fitted.clear()
        while self._ghosts:
            self._ghosts.pop().remove()
        self.changed()

    def remember(self):
        """Keep the present curves, pale, behind those that move."""
        for line in (x for x in self.moving if isinstance(x, Line2D)):
            look = {"color": line.get_color(), "linestyle": line.get_linestyle(), "alpha": 0.25}
            self._ghosts += line.axes.plot(*line.get_data(), zorder=1, **look)
        self.changed()


def _round_limits(low, high, room):
    """The tightest multiples of a round unit that leave ``room`` around [low, high]."""
    width = high - low
    if width <= 1e-13 * max(abs(low), abs(high)):
        width = max(abs(high) * 0.1, 1e-12)
    unit = 10.0 ** np.floor(np.log10(width))
    unit *= 0.5 if width / unit > 3 else 0.2
    low, high = low - room * width, high + room * width
    return unit * np.floor(low / unit + 1e-9), unit * np.ceil(high / unit - 1e-9)
