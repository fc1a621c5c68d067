"""What a page that computes by itself shows at some setting, and what the library computes there.

Runs as long as these do not let round-off grow to 1e-9.
"""

import re

import numpy as np
import pytest

import nhlab as nh
from nhlab.course.figures import STATEMENTS
from nhlab.view import plot

# What the sources of the curves hold, row by row, after some controls were set.
SHOWN = """([k, values]) => {
    const page = nhlab_pages[k];
    page.set(values);
    const now = page.values, views = page.book.views;
    const view = views.find(x => x.name === now.view) ?? views[0];
    const data = ({data: {x, y}}) => [Array.from(x), Array.from(y)];
    return {
        values: now, words: page.words,
        curves: view.axes.map(a => a.curves.map((_, j) => data(page.sources[a.diagram][j][0]))),
        texts: view.axes.map(a => a.labels ? data(page.texts[a.diagram].data_source) : []),
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


def of_statement(statement, values):
    """Curves, labels and verdict of a figure, by the library."""
    made = statement.made(statement.setting.call(values))
    view = values.get("view", next(iter(statement.views)))
    shapes = statement.shapes(made, view)
    rows = [[(s.x, s.y) for s in shapes if s.row == k] for k in range(len(statement.frames(view)))]
    if not statement.judge:
        return rows, statement.labels(made), ""
    holds, numbers = statement.verdict(made, view)
    verdict = f"The claim {'holds' if holds else 'does not hold'} here: {numbers}"
    return rows, statement.labels(made), verdict


def of_explorer(panel, values):
    """The curves of a panel of ``explore``."""
    setting = panel.outline().setting
    call, view = setting.call(values), values.get("view", next(iter(panel.outline().views)))
    reading, curves = plot.reading(view, call.system), []
    for k, (name, m) in enumerate(call.methods.items()):
        if values.get("method", -1) not in (-1, k) or (reading.discrete and not m.discrete):
            curves.append(([], []))
            continue
        try:
            sol = call.run(name)
        except nh.IntegrationError as error:
            sol = error.trajectory
        curves.append(reading.read(sol))
    return [curves], [], ""


def plain_words(text):
    """Without tags, and with one word for all that is as small as round-off."""
    return re.sub(r"\d(\.\d+)?e-(09|[1-9]\d)", "tiny", re.sub("<[^>]+>", "", text))


def compare(got, panel, values, figure=None):
    """What a page has shown is what the library computes; ``figure`` is the name of a paper's."""
    assert got["values"] == values
    if figure in STATEMENTS:
        rows, labels, verdict = of_statement(STATEMENTS[figure].for_page(), values)
        assert plain_words(verdict) in plain_words(got["words"])
    else:
        rows, labels, _ = of_explorer(panel, values)
    stopped = re.search(r"stop(s|ped) after", got["words"])
    for row, curves in zip(rows, got["curves"], strict=True):
        for curve, drawn in zip(row, curves, strict=True):
            for side, side_got in zip(curve, drawn, strict=True):
                # it may stop where pivoting would help
                side = side[: len(side_got)] if stopped else side
                seen = [np.nan if v is None else v for v in side_got]
                assert seen == pytest.approx(side, rel=1e-9, abs=1e-9, nan_ok=True), values
    if labels:
        assert np.transpose(got["texts"][0]) == pytest.approx(np.array([x[:2] for x in labels]))
