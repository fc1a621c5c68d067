"""What a page that computes by itself shows at some setting, and what the panel of the same figure
shows there: the same curves, the same limits, the same words.

Runs as long as these do not let round-off grow to 1e-9.
"""

import re
from html import unescape

import numpy as np
import pytest

from nhlab.view.sheet import FigurePanel

# What the sources of the curves hold, row by row, after some controls were set, with limits chosen
# as for the first time.
SHOWN = """([k, values]) => {
    const page = nhlab_pages[k];
    page.reset();
    page.fit_axes(values);
    const now = page.values, views = page.book.views;
    const view = views.find(x => x.name === now.view) ?? views[0];
    const data = ({data: {x, y}}) => [Array.from(x), Array.from(y)];
    const ends = ({x_range: x, y_range: y}) => [x.start, x.end, y.start, y.end];
    return {
        values: now, words: page.words, offer: page.offer,
        curves: view.axes.map(a => a.curves.map((_, j) => data(page.sources[a.diagram][j][0]))),
        texts: view.axes.map(a => a.labels ? data(page.texts[a.diagram].data_source) : []),
        limits: view.axes.map(a => ends(page.figures[a.diagram])),
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
    text = re.sub(r"\d(\.\d+)?e-(09|[1-9]\d)|0\.0+e\+00", "tiny", words(html))
    return " ".join(text.split())


def drawn(panel, axes, row):
    """(x, y) of the curves of one diagram, in the order of a page: empty where there is no run, or
    no such reading of it."""
    shapes = [x for x in panel.sheet.shapes if x.row == row]
    if axes.drawing:
        return [(x.x, x.y) for x in shapes]
    found = {x.name: (x.x, x.y) for x in shapes}
    return [found.get(curve.run, ([], [])) for curve in axes.curves]


def compare(got, panel, values):
    """A page has shown what the panel of the same figure shows at these values."""
    assert got["values"] == values
    if panel.figure.page:  # which a page shows in part
        panel = FigurePanel(panel.figure.for_page())
    panel.reset()  # both from their first setting, which another view shows first
    panel.picture.refit()
    panel.set(**values)
    figure, view = panel.figure, panel.figure.view_name(values)
    stopped = re.search(r"stop(s|ped) after", got["words"])
    for row, axes in enumerate(figure.views[view].axes):
        for curve, curve_got in zip(drawn(panel, axes, row), got["curves"][row], strict=True):
            for side, side_got in zip(curve, curve_got, strict=True):
                # it may stop where pivoting would help
                side = side[: len(side_got)] if stopped else side
                seen = [np.nan if v is None else v for v in side_got]
                assert seen == pytest.approx(side, rel=1e-9, abs=1e-9, nan_ok=True), values
        empty = not any(len(x) for x, _ in drawn(panel, axes, row))
        if not (axes.equal or stopped or empty):  # a page has another shape, to which scales belong
            ax = panel.picture.axes[row]
            limits = [*ax.get_xlim(), *ax.get_ylim()]
            assert got["limits"][row] == pytest.approx(limits, rel=1e-6, abs=1e-12), values
    assert got["offer"] == panel._offer(panel.values)
    labels = figure.labels(panel.sheet.runs, view)
    if labels:
        assert np.transpose(got["texts"][0]) == pytest.approx(np.array([x[:2] for x in labels]))
    if not stopped and not dict(figure.extra):
        said, said_there = plain_words(panel.readout.value), plain_words(got["words"])
        assert said_there.startswith(said), values
