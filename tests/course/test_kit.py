"""The board of the lessons' panels: what an update draws and says is what is shown."""

import colorsys
import re
from pathlib import Path

import numpy as np
import pytest

from nhlab.course import lessons
from nhlab.course.kit import new_board
from nhlab.methods import DLA


@pytest.fixture
def shown():
    """A panel with ``count`` dots on the left, an arrow for each, and a curve on the right."""
    board, left, right = new_board((6, 3), 1, 2)

    def update(count):
        """Dots and
        arrows.

        A caption for {count}.
        """
        board.run(DLA(), [0, 1], [0, count], right)
        board.hold(right, [0, 1])
        board.say("count", f"{count}")
        for k in range(count):
            board.arrow((k, 0), (k, 1), "red", left, "arrows")

    return board.panel(update, update.__doc__.format(count="one"), count=(1, 4, 2))


def arrows(panel):
    return [a for a in panel.picture.moving if a.axes is panel.picture.axes[0]]


def test_texts_of_the_docstring(shown):
    assert shown.alt == "Dots and arrows."
    assert "A caption for one." in shown.children[-1].value


def test_artists_are_made_once_moved_and_hidden(shown):
    curve = shown.picture.moving[0]
    for count in (3, 1, 4, 2):
        shown.set(count=count)
        assert sum(a.get_visible() for a in arrows(shown)) == count
        assert f'<b style="font-variant-numeric:tabular-nums">{count}</b>' in shown.readout.value
        assert np.array_equal(shown.picture.moving[0].get_ydata(), [0, count])
    assert shown.picture.moving[0] is curve and len(arrows(shown)) == 4


def test_a_legend_of_what_has_a_label(shown):
    shown.set(count=4)
    texts = [[t.get_text() for t in ax.get_legend().get_texts()] for ax in shown.picture.axes]
    assert texts == [["arrows"], ["DLA"]]


def test_order_and_absence_of_a_legend():
    board, left, right = new_board((6, 3), 1, 2)
    board.legend(left, order=("b", "a"))

    def update():
        """Two curves."""
        for label in "ab":
            board.curve([0, 1], [0, 1], left, label=label)
        board.curve([0, 1], [0, 1], right)

    board.panel(update)
    assert [t.get_text() for t in left.get_legend().get_texts()] == ["b", "a"]
    assert right.get_legend() is None


def test_changed_since_last_and_margins():
    board, _ = new_board((6, 3), margins=(0.2, 0.1, 0.9, 0.8))
    changed = [board.changed_since_last(key) for key in ("a", "a", "b", "a")]
    assert changed == [True, False, True, True]
    assert np.allclose(board.ax.get_position().extents, [0.2, 0.1, 0.9, 0.8])


def test_held_axes_follow_their_curves():
    board, ax = new_board((6, 3))

    def update(size, kind):
        """A curve."""
        board.curve([0, 1], [0, size if kind == "a" else 100 * size])
        board.outline([0, 1], [size, 0])
        board.hold(ax, [0, 1], same=not board.changed_since_last(kind))

    panel = board.panel(update, size=(1, 8, 2), kind=["a", "b"])
    limits = ax.get_ylim()
    panel.set(size=1)
    assert ax.get_ylim() == limits
    panel.set(size=8)
    assert 8 < ax.get_ylim()[1] < 9
    (ghost,) = (line for line in ax.lines if line.get_label() == "_ghost")  # none of the outline
    assert ghost.get_ydata().tolist() == [0, 2]
    panel.set(kind="b")
    assert ax.get_ylim()[1] >= 800
    (ghost,) = (line for line in ax.lines if line.get_label() == "_ghost")
    assert ghost.get_ydata().tolist() == [0, 200]  # of the first size, for the present kind


def test_lessons_have_the_colours_of_the_table():
    """Beside greys and pale tints a lesson writes none itself, so that methods keep theirs."""
    for file in Path(lessons.__file__).parent.glob("lesson_*.py"):
        for colour in re.findall(r"#[0-9A-Fa-f]{6}", file.read_text(encoding="utf-8")):
            red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
            assert colorsys.rgb_to_hsv(red, green, blue)[1] < 0.3, (file.name, colour)
