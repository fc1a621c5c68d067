"""Panels whose drawing a page cannot compute: what they show at many settings, written down.

A lesson's own panel draws with NumPy and the library (``course.kit.Board``), and no JavaScript is
made of that.  So the site's build sets its sliders to each setting of a grid and keeps what is
drawn and said there; ``recorded.js`` shows it, and sliders move from one setting to the next.
Nothing between two settings is made up.

What does not depend on a slider is stored once, number by number; points of a curve that lie on a
straight line between others, to a third of a pixel, are left out.
"""

import base64
import gzip
import hashlib
import io
import itertools
import json
import re
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from PIL import Image

from ...browser.book import control
from ...view.figure import plain
from ...view.panel import Panel
from ...view.picture import PAINTS, unpainted

UNIT = 4000  # a place is stored in so many parts of the width or height of its axes
FAR = 3 * UNIT  # beyond the axes; what lies farther is not seen
STRAIGHT = 0.3  # pixels that a curve may leave out
POINT = 100 / 72  # pixels in a point of Matplotlib, whose figures have 100 to the inch
STEP = 17  # between two shades in the pictures behind, whose letters and lines need few
NOTHING = {"None", "none", "", " ", None}  # names of no line and of no marker
STYLES = re.compile("<style>.*?</style>", re.DOTALL)
CODES = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


class Recorder:
    """Sets a panel to each setting of a grid, and keeps what it draws and says.

    panel : its picture is a ``Board``
    grid : for each of its controls how many of its values, or which ones; 0 for all of them
    steady : do the axes have the same limits at all settings, which hold every one of them?
    """

    def __init__(self, panel: Panel, grid: Sequence[int | Sequence], steady: bool = False):
        self.panel, self.picture, self.steady = panel, panel.picture, steady
        controls = panel.controls.items()
        if len(grid) != len(controls):
            raise ValueError(f"a grid of {len(grid)} for the controls {[*panel.controls]}")
        self.choices = [choices(c, some) for (_, c), some in zip(controls, grid, strict=True)]
        self.shape = tuple(len(x) for x in self.choices)
        self.grounds, self.ground_of, self.sized = {}, [], set()
        self.frames, self.said, self.words = [], [], []

    def record(self) -> dict:
        """All that ``recorded.js`` needs, as JSON has it; pictures are still arrays of bytes."""
        if self.steady:
            self.hold_limits()
        for _ in self._settings():
            self._keep()
        return {
            "controls": self._titles(),
            "size": [round(x) for x in self.picture.size],
            "grounds": [x for x, _ in self.grounds.values()],
            "boxes": [x for _, x in self.grounds.values()],
            "ground": column(self.ground_of, self.shape),
            "shapes": self._shapes(),
            "said": self._sentences(),
            "words": column(self.words, self.shape),
            "caption": STYLES.sub("", self.panel.children[-1].value),
        }

    def _settings(self):
        """Set the panel to each setting in turn."""
        for values in itertools.product(*self.choices):
            with unpainted():
                self.picture.refit()
                self.panel.set(**dict(zip(self.panel.controls, values, strict=True)))
            yield values

    def hold_limits(self):
        """Let the axes have limits that hold those of all settings."""
        axes = self.picture.figure.axes
        every = [[(*ax.get_xlim(), *ax.get_ylim()) for ax in axes] for _ in self._settings()]
        least, most = np.min(every, axis=0), np.max(every, axis=0)
        for ax, low, high in zip(axes, least, most, strict=True):
            ax.set(xlim=(low[0], high[1]), ylim=(low[2], high[3]))
        self.picture.fit = lambda *data, **options: None

    def _titles(self):
        """The controls in words: name, the text of each choice, and which one comes first."""
        found = []
        for (key, c), values in zip(self.panel.controls.items(), self.choices, strict=True):
            if "options" in (about := control(key, c)):
                names = dict(zip(map(repr, about["values"]), about["options"], strict=True))
                texts = [names[repr(x)][1] for x in values]
            else:
                digits = len(about["format"].partition(".")[2])
                texts = [f"{x:.{digits}f}".replace("-", "\N{MINUS SIGN}") for x in values]
            at = values.index(self.panel._defaults[key])
            kind = "options" if hasattr(c, "options") else "slider"
            found.append({"title": c.description, "texts": texts, "at": at, "kind": kind})
        return found

    # ---- one setting

    def _keep(self):
        self.ground_of.append(self._ground())
        self.frames.append([self._frame(x) for x in self.picture.moving if moves(x)])
        self.said.append({k: str(x) for k, x in self.picture.said.items()})
        self.words.append(self.panel.message.value)

    def _ground(self):
        """The number of the picture behind the moving parts, drawn once for all that share it."""
        key = repr([_fixed(ax) for ax in self.picture.figure.axes])
        pictures = [x for x in self.picture.moving if not moves(x)]
        key += "".join(hashlib.sha256(np.array(x.get_array())).hexdigest() for x in pictures)
        if key not in self.grounds:
            ghosts = [
                x for ax in self.picture.figure.axes for x in ax.lines if x.get_label() == "_ghost"
            ]
            shown = [x for x in self.picture.moving if moves(x)] + ghosts
            shown = [x for x in shown if x.get_visible()]
            for x in shown:
                x.set_visible(False)
            token = PAINTS.set(True)
            try:
                self.picture.changed()
                image = Image.open(io.BytesIO(self.picture.png()))
            finally:
                PAINTS.reset(token)
                for x in shown:
                    x.set_visible(True)
            file = io.BytesIO()
            coarse = image.convert("RGB").point(lambda x: STEP * round(x / STEP))
            coarse.save(file, "webp", lossless=True, method=6)
            self.grounds[key] = file.getvalue(), [*map(self._box, self.picture.figure.axes)]
        return [*self.grounds].index(key)

    def _box(self, ax):
        """The place of axes in the picture: left, top, width, height in pixels."""
        (left, bottom), (width, height) = ax.bbox.min, ax.bbox.size
        top = self.picture.size[1] - bottom - height
        return [round(float(x), 2) for x in (left, top, width, height)]

    def _frame(self, artist):
        """The points of an artist in its axes, in units; its text, or the letters of its path."""
        if not artist.get_visible():
            return np.empty((0, 2)), ""
        ax = artist.axes
        if isinstance(artist, Text):
            xy, word = ax.transData.transform([artist.get_position()]), plain(artist.get_text())
        elif isinstance(artist, Line2D):
            xy, word = artist.get_transform().transform(artist.get_xydata()), ""
        else:
            if artist not in self.sized:  # the head of an arrow is as large as it was drawn
                artist.axes.draw_artist(artist)
                self.sized.add(artist)
            path = artist.get_path()
            xy = artist.get_transform().transform(corners(path))
            word = letters(path)
        with np.errstate(all="ignore"):
            here = (xy - ax.bbox.min) / ax.bbox.size
        here = np.clip(UNIT * np.column_stack([here[:, 0], 1 - here[:, 1]]), -FAR, FAR + UNIT)
        return here, word

    # ---- all settings

    def _shapes(self):
        """What moves, in the order in which it is drawn; a line with markers is two."""
        found, axes = [], self.picture.figure.axes
        artists = [x for x in self.picture.moving if moves(x)]
        empty = np.empty((0, 2)), ""
        for k, artist in enumerate(artists):
            frames = [x[k] if k < len(x) else empty for x in self.frames]
            place = {"axes": axes.index(artist.axes)}
            points, words = [x for x, _ in frames], [x for _, x in frames]
            if isinstance(artist, Text):
                place |= text_look(artist) | {"text": column(words, self.shape)}
                found.append(place | self._points(points))
            elif isinstance(artist, Line2D):
                if artist.get_linestyle() not in NOTHING:
                    found.append(place | line_look(artist) | self._curves(points, artist.axes))
                if artist.get_marker() not in NOTHING:
                    some = [_marked(x, artist.get_markevery()) for x in points]
                    found.append(place | marker_look(artist) | self._points(some))
            elif {*"".join(words)} <= {*"MLZ"}:  # a polygon, whose corners may be few
                once = [_open(_open(x)) for x in points]
                shape = self._curves(once, artist.axes)
                found.append(place | patch_look(artist) | {"closed": True} | shape)
            else:
                place |= patch_look(artist) | {"letters": column(words, self.shape)}
                found.append(place | self._points(points))
        return found

    def _curves(self, points, ax):
        """Curves of which each may do without vertices on straight lines: those that no setting
        needs, or those that the setting itself does not need, whichever is shorter."""
        if not all(np.isfinite(x).all() for x in points):  # a curve with gaps
            return self._points(points)
        size = ax.bbox.size / UNIT
        own = [x[needed_vertices(x[None] * size, STRAIGHT)] for x in points]
        ways = [self._points(own, ragged=True)]
        if len({len(x) for x in points}) == 1 and len(points[0]):
            every = np.array(points)
            ways.append(self._points([*every[:, needed_vertices(every * size, STRAIGHT)]]))
        return min(ways, key=lambda x: len(packed(x)))

    def _points(self, points, ragged=False):
        """Places at all settings: number by number, if there are always as many."""
        if ragged or len({len(x) for x in points}) > 1:
            gaps = not all(np.isfinite(x).all() for x in points)
            numbers = [_whole(x.ravel()) if gaps else _differences(x) for x in points]
            return {"ragged": column(numbers, self.shape), "gaps": gaps}
        every = np.array(points).reshape(len(points), -1)
        groups = {}
        for k, values in enumerate(every.T):
            values = _whole(values)
            along = depends(values, self.shape)
            groups.setdefault(along, []).append((k, thinned(values, self.shape, along)))
        parts = [
            {"along": along, "which": [k for k, _ in x], "values": [y for _, y in x]}
            for along, x in groups.items()
        ]
        return {"count": every.shape[1], "parts": parts}

    def _sentences(self):
        labels = list(dict.fromkeys(k for said in self.said for k in said))
        return [
            {"label": k, "text": column([x.get(k, "") for x in self.said], self.shape)}
            for k in labels
        ]


# ---------------------------------------------------------------------------- settings


def choices(c, some: int | Sequence) -> list:
    """Values of a control in their order, among them the one it has at first.

    some : these; or so many, evenly spread; or 0 for all
    """
    if hasattr(c, "options"):
        every = [x[1] if isinstance(x, tuple) else x for x in c.options]
    else:
        count = round((c.max - c.min) / c.step) + 1
        every = [c.value if x == c.value else x for x in _places(c, count)]
    if not isinstance(some, int):
        if missing := [x for x in (*some, c.value) if x not in every]:
            raise ValueError(f"{missing[0]!r} is no value of {c.description!r}")
        return [x for x in every if x in some or x == c.value]
    places = np.linspace(0, len(every) - 1, some or len(every)).round().astype(int)
    first = every.index(c.value)
    places[np.abs(places - first).argmin()] = first
    return [every[k] for k in sorted({*places.tolist()})]


def _places(c, count):
    """The values that a slider can take."""
    if isinstance(c.value, int):
        return range(c.min, c.max + 1, c.step)
    return [round(c.min + k * c.step, 10) for k in range(count)]


def depends(values: Sequence, shape: tuple) -> tuple:
    """The controls on which a list of values, one for each setting, depends."""
    table = np.empty(len(values), object)
    table[:] = values
    table, along = table.reshape(shape), []
    for k in range(len(shape)):
        first = np.take(table, [0], axis=k)
        if not np.all(table == first):
            along.append(k)
    return tuple(along)


def thinned(values: Sequence, shape: tuple, along: tuple) -> list:
    """The values at the settings that differ in these controls alone."""
    table = np.empty(len(values), object)
    table[:] = values
    where = tuple(slice(None) if k in along else 0 for k in range(len(shape)))
    here = table.reshape(shape)[where]
    return here.ravel().tolist() if along else [here]


def column(values: Sequence, shape: tuple) -> dict:
    """A value for each setting; equal ones are stored once, and all once where none depends."""
    keys = [json.dumps(x) for x in values]
    every = {x: k for k, x in enumerate(dict.fromkeys(keys))}
    places = [every[x] for x in keys]
    along = depends(places, shape)
    return {
        "along": along,
        "at": thinned(places, shape, along),
        "values": [json.loads(x) for x in every],
    }


# ---------------------------------------------------------------------------- artists


def moves(artist) -> bool:
    """Is an artist drawn by the page?  Images of a plane belong to the ground."""
    return not isinstance(artist, AxesImage)


def _fixed(ax):
    """What of axes is drawn behind the moving parts."""
    legend = ax.get_legend()
    words = [x.get_text() for x in legend.get_texts()] if legend else []
    limits = [float(x) for x in (*ax.get_xlim(), *ax.get_ylim())]
    return limits, ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), words


def corners(path: Path) -> np.ndarray:
    """The vertices of a path; that of a letter which closes it, which means nothing, is the one
    before."""
    found = np.array(path.vertices)
    for k in np.flatnonzero(path.codes == Path.CLOSEPOLY) if path.codes is not None else ():
        found[k] = found[k - 1]
    return found


def letters(path: Path) -> str:
    """The commands of a path, one letter for each vertex: those of SVG, "." for a control point."""
    codes = path.codes
    if codes is None:
        codes = [Path.MOVETO] + [Path.LINETO] * (len(path.vertices) - 1)
    found, left = [], 0
    for code in codes:
        if code == Path.CLOSEPOLY:
            found.append("Z")
        elif left:
            found.append(".")
            left -= 1
        else:
            found.append(CODES[code])
            left = {"Q": 1, "C": 2}.get(found[-1], 0)
    return "".join(found)


def _svg(path: Path) -> str:
    """A path with numbers, for markers."""
    text = []
    for letter, (x, y) in zip(letters(path), path.vertices, strict=True):
        text.append("Z" if letter == "Z" else f"{letter.replace('.', '')} {x:.2f} {-y:.2f}")
    return " ".join(text)


def line_look(line: Line2D) -> dict:
    """Colour, width and dashes of a line, in pixels."""
    width = line.get_linewidth() * POINT
    look = {"stroke": to_hex(line.get_color()), "width": round(width, 2)}
    dashes = line._dash_pattern[1] if hasattr(line, "_dash_pattern") else None
    if dashes:
        look["dash"] = [round(x * POINT, 2) for x in dashes]
    if line.get_alpha() is not None:
        look["opacity"] = line.get_alpha()
    return look


def marker_look(line: Line2D) -> dict:
    """The path of a marker in pixels, and its colours."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(line.get_marker())
    path = style.get_transform().transform_path(style.get_path())
    path = Path(path.vertices * line.get_markersize() * POINT, path.codes)
    fill = line.get_markerfacecolor()
    return {
        "marker": _svg(path),
        "fill": "none" if str(fill).lower() == "none" else to_hex(fill),
        "stroke": to_hex(line.get_markeredgecolor()),
        "width": round(line.get_markeredgewidth() * POINT, 2),
    }


def patch_look(patch) -> dict:
    """The colours of a bar, a polygon or an arrow."""
    filled = patch.get_facecolor()
    return {
        "fill": to_hex(filled) if filled[3] else "none",
        "stroke": to_hex(patch.get_edgecolor()) if patch.get_edgecolor()[3] else "none",
        "width": round(patch.get_linewidth() * POINT, 2),
    }


def text_look(text: Text) -> dict:
    anchor = {"left": "start", "center": "middle", "right": "end"}[text.get_ha()]
    return {"size": round(text.get_fontsize() * POINT, 1), "anchor": anchor,
            "fill": to_hex(text.get_color())}  # fmt: skip


def _open(corners):
    """The corners of a polygon without a last one that is the first, or the one before, again."""
    again = len(corners) > 1 and any(np.allclose(corners[-1], corners[k]) for k in (0, -2))
    return corners[:-1] if again else corners


def _marked(points, every):
    """The points that have a marker."""
    if every is None or not len(points):
        return points
    return points[::every] if isinstance(every, int) else points[list(every)]


def _whole(values):
    """Whole numbers, None for what is no number."""
    return [round(float(x)) if np.isfinite(x) else None for x in values]


def _differences(points):
    """Whole numbers x, y, x, y ..., each from the third on as its distance from the one two before;
    so they are small and alike."""
    whole = np.round(points).astype(int)
    return np.diff(whole, axis=0, prepend=np.zeros((min(1, len(whole)), 2), int)).ravel().tolist()


def needed_vertices(curves: np.ndarray, near: float) -> list[int]:
    """The vertices between which all of some curves are straight lines.

    curves : (curves, vertices, 2) in pixels;  near : how far off a vertex left out may be
    """
    last = curves.shape[1] - 1
    kept, left = {0, last} if last >= 0 else set(), [(0, last)]
    while left:
        i, j = left.pop()
        if j - i < 2:
            continue
        a, b, inner = curves[:, i, None], curves[:, j, None], curves[:, i + 1 : j]
        along = b - a
        share = ((inner - a) * along).sum(-1) / np.maximum((along * along).sum(-1), 1e-9)
        off = inner - a - np.clip(share, 0, 1)[..., None] * along
        worst = np.sqrt((off * off).sum(-1)).max(0)
        k = int(worst.argmax())
        if worst[k] > near:
            kept.add(i + 1 + k)
            left += [(i, i + 1 + k), (i + 1 + k, j)]
    return sorted(kept)


# ---------------------------------------------------------------------------- as a script


def script(name: str, recorded: dict, address: Callable[[bytes], str]) -> str:
    """The script that gives a page what was recorded, packed.

    address : writes the bytes of a picture to a file and returns its address
    """
    book = recorded | {"grounds": [address(x) for x in recorded["grounds"]]}
    return f'nhlab_recorded("{name}", "{base64.b64encode(packed(book)).decode()}");'


def packed(book) -> bytes:
    """What can be JSON, compressed; the same each time."""
    return gzip.compress(json.dumps(book, separators=(",", ":")).encode(), 9, mtime=0)
