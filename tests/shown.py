"""What a page that computes by itself shows at some setting, and what the panel of the same figure
shows there: the same curves, the same limits, the same words.

Runs as long as these do not let round-off grow to 1e-9.
"""

import re
from dataclasses import replace
from html import unescape
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Text

from nhlab.course.site.recorded import UNIT, corners
from nhlab.view.limits import to_scale
from nhlab.view.panel import readout_of
from nhlab.view.picture import unpainted
from nhlab.view.sheet import FigurePanel

# What the sources of the curves hold, row by row, after some controls were set, with limits chosen
# as for the first time.
SHOWN = """([k, values]) => {
    const page = nhlab_pages[k];
    page.reset();
    page.fit_axes(values);
    page.forget();  // limits that a first, coarser drawing has chosen
    page.last = null;
    page.redraw(true);
    const now = page.values, views = page.book.views;
    const view = views.find(x => x.name === now.view) ?? views[0];
    const data = ({data: {x, y}}) => [Array.from(x), Array.from(y)];
    const ends = ({x_range: x, y_range: y}) => [x.start, x.end, y.start, y.end];
    return {
        values: now, words: page.words, offer: page.offer,
        curves: view.axes.map(a => a.curves.map((_, j) => data(page.sources[a.diagram][j][0]))),
        texts: view.axes.map(a => a.labels ? data(page.texts[a.diagram].data_source) : []),
        limits: view.axes.map(a => ends(page.figures[a.diagram])),
        rooms: view.axes.map(a => page.rooms[page.figures[a.diagram].id]),
    };
}"""


def settings(panel, rng, ends=False):
    """Values that the controls can take, at random or at the ends of sliders."""
    found = {}
    for key, c in panel.controls.items():
        if hasattr(c, "options"):
            every = [x[1] if isinstance(x, tuple) else x for x in c.options]
            found[key] = every[rng.integers(len(every))]
        else:
            steps = round((c.max - c.min) / c.step)
            steps = steps // 4 if key == "T" else steps  # long runs take time
            steps = rng.integers(2) * steps if ends else rng.integers(steps + 1)
            found[key] = min(c.min + int(steps) * c.step, c.max)
    return found


def words(html):
    """The text of a piece of HTML."""
    return unescape(re.sub("<[^>]+>", "", html))


def plain_words(html):
    """The text of a piece of HTML, with one word for all that is as small as round-off."""
    tiny = r"(below )?(\d(\.\d+)?e-(09|[1-9]\d)|0\.0+e\+00)"
    text = re.sub(tiny, "tiny", words(html))
    return " ".join(text.split())


def drawn(panel, axes, row):
    """(x, y) of the curves of one diagram, in the order of a page: empty where there is no run, or
    no such reading of it."""
    shapes = [x for x in panel.sheet.shapes if x.row == row]
    if axes.drawing:
        return [(x.x, x.y) for x in shapes]
    found = {x.name: (x.x, x.y) for x in shapes}
    return [found.get(curve.run, ([], [])) for curve in axes.curves]


def limits_of(panel, row, room):
    """The limits of one diagram; of one to scale those that it has in the room of a page."""
    view, ax = panel.figure.views[panel.figure.view_name(panel.values)], panel.picture.axes[row]
    limits = [ax.get_xlim(), ax.get_ylim()]
    return np.ravel(to_scale(limits, room) if view.axes[row].equal else limits).tolist()


def said_by(panel):
    """What is said below the picture, without what a page leaves out."""
    figure = replace(panel.figure, extra=())
    view = figure.view_name(panel.values)
    said = figure.said(panel.sheet.runs, view, panel.sheet.shapes)
    return readout_of({k: x for k, x in said.items() if k != "error"})


def compare(got, panel, values):
    """A page has shown what the panel of the same figure shows at these values: the same curves,
    the same limits, and the same words."""
    assert got["values"] == values
    if panel.figure.page:  # which a page shows in part
        panel = FigurePanel(panel.figure.for_page())
    rooms = got["rooms"]
    with patch("nhlab.view.picture._room", lambda ax: rooms[0]):  # diagrams to scale are alone
        panel.reset()  # both from their first setting, which another view shows first
        panel.picture.refit()
        panel.set(**values)
        panel.picture.refit()
        panel.draw()
    figure, view = panel.figure, panel.figure.view_name(values)
    # A page has no pivoting: it may stop where the library goes on.
    stopped = re.search(r"stop(s|ped) after", got["words"])
    for row, axes in enumerate(figure.views[view].axes):
        for curve, curve_got in zip(drawn(panel, axes, row), got["curves"][row], strict=True):
            for side, side_got in zip(curve, curve_got, strict=True):
                side = side[: len(side_got)] if stopped else side
                seen = [np.nan if v is None else v for v in side_got]
                assert seen == pytest.approx(side, rel=1e-9, abs=1e-9, nan_ok=True), values
        empty = not any(len(x) for x, _ in drawn(panel, axes, row))
        if not (stopped or empty):
            limits = limits_of(panel, row, rooms[row])
            assert got["limits"][row] == pytest.approx(limits, rel=1e-6, abs=1e-12), values
    assert got["offer"] == panel._offer(panel.values)
    labels = figure.labels(panel.sheet.runs, view)
    if labels:
        assert np.transpose(got["texts"][0]) == pytest.approx(np.array([x[:2] for x in labels]))
    if not stopped:
        assert plain_words(got["words"]).startswith(plain_words(said_by(panel))), values
    compare_leaving(got, panel, values)


def compare_leaving(got, panel, values):
    """A page has said of the same curves that they leave the picture as the panel, which shows
    these values; a run that stops, or a warning, is said in place of this."""
    leaves = re.findall(r"[^.>]*leaves the picture", got["words"])
    if not re.search(r"stop(s|ped) after", got["words"]) and not panel.message.value:
        assert len(leaves) == len(panel.picture.leaving), (values, leaves)


# ---------------------------------------------------------------------------- recorded settings

# What a figure of ``recorded.js`` shows at the setting with these numbers: its sentences, and the
# places of each shape in thousandths of its axes, in pairs.
RECORDED_SHOWN = """([name, at]) => {
    const found = document.querySelector(`.recorded[data-figure="${name}"]`).recorded;
    found.at = at;
    found.show();
    const {book} = found, said = book.said.map(({label, text}) => [label, found.value(text)]);
    const drawn = found.svg.querySelectorAll('path, text').length;
    return {said: Object.fromEntries(said.filter(x => x[1])), drawn,
        shapes: book.shapes.map(x => found.numbers(x))};
}"""


def compare_recorded(got, recorder, values):
    """A page has shown what the panel draws and says at these values, to a pixel."""
    panel, picture = recorder.panel, recorder.picture
    with unpainted():
        picture.refit()
        panel.set(**dict(zip(panel.controls, values, strict=True)))
    picture.png()  # arrows are as large as they were drawn
    assert got["said"] == {k: x for k, x in picture.said.items() if x}
    expected = [x for artist in picture.moving for x in places_of(artist)]
    here, more = got["shapes"][: len(expected)], got["shapes"][len(expected) :]
    assert got["drawn"] > 0 and not any(more)  # what other settings draw besides
    for (points, ax, every), numbers in zip(expected, here, strict=True):
        pairs = np.array(numbers, float).reshape(-1, 2) / UNIT
        shown = np.column_stack([pairs[:, 0], 1 - pairs[:, 1]]) * ax.bbox.size
        points, shown = (x[np.isfinite(x).all(-1)] for x in (points, shown))
        seen = (np.abs(points / ax.bbox.size - 0.5) < 2.5).all(-1)  # farther ones are cut off
        points, shown = (points[seen], shown[seen]) if every else (points[seen], shown)
        assert len(points) == 0 or len(shown) > 0
        for x in points:
            assert distance_to(x, shown, every) < 1
        for x in shown if len(points) else ():
            assert distance_to(x, points, every) < 1 or (np.abs(x / ax.bbox.size - 0.5) > 2.4).any()


def places_of(artist):
    """(points in pixels of its axes, its axes, are they single points?) for each shape of it."""
    if isinstance(artist, AxesImage):
        return
    ax = artist.axes
    if isinstance(artist, Text):
        points = ax.transData.transform([artist.get_position()])
    elif isinstance(artist, Line2D):
        points = ax.transData.transform(artist.get_xydata())
    else:
        points = artist.get_transform().transform(corners(artist.get_path()))
    points = (points - ax.bbox.min) if artist.get_visible() else np.empty((0, 2))
    if not isinstance(artist, Line2D):
        yield points, ax, isinstance(artist, Text)
        return
    if artist.get_linestyle() != "None":
        yield points, ax, False
    if artist.get_marker() not in ("None", "", None):
        some = artist.get_markevery()
        some = slice(None, None, some) if isinstance(some, int | None) else list(some)
        yield (points[some] if len(points) else points), ax, True


def distance_to(x, points, single):
    """How far a point is from some points, or from the polygon with these corners."""
    if single or len(points) == 1:
        return np.hypot(*(points - x).T).min()
    a, b = points, np.roll(points, -1, axis=0)
    along = b - a
    share = ((x - a) * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-9)
    return np.hypot(*(a + np.clip(share, 0, 1)[:, None] * along - x).T).min()
