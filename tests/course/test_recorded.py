"""Panels whose settings are computed when the site is built: what is stored, and how little."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from nhlab.course.kit import new_board
from nhlab.course.pages import RECORDED, predicted
from nhlab.course.site import recorded
from nhlab.course.site.recorded import UNIT, Recorder
from nhlab.view.picture import unpainted

SLIDER = SimpleNamespace(min=0.0, max=1.0, step=0.1, value=0.3, description="h")
CHOICE = SimpleNamespace(options=[("one", 1), ("two", 2), ("three", 3)], value=2, description="n")


@pytest.mark.parametrize(
    "control, some, found",
    [
        (SLIDER, 3, [0.0, 0.3, 1.0]),  # the first value is always among them
        (SLIDER, 1, [0.3]),
        (SLIDER, (0.1, 0.9), [0.1, 0.3, 0.9]),
        (SLIDER, 0, [round(0.1 * k, 10) for k in range(11)]),
        (CHOICE, 0, [1, 2, 3]),
        (CHOICE, (3,), [2, 3]),
    ],
)
def test_the_values_of_a_control(control, some, found):
    assert recorded.choices(control, some) == found


def test_a_value_that_a_slider_cannot_take_is_refused():
    with pytest.raises(ValueError, match=r"0\.15 is no value of 'h'"):
        recorded.choices(SLIDER, (0.15, 0.3))


def test_what_does_not_depend_on_a_control_is_stored_once():
    shape = (2, 3)
    values = [10 * j for _ in range(2) for j in range(3)]
    assert recorded.depends(values, shape) == (1,)
    assert recorded.thinned(values, shape, (1,)) == [0, 10, 20]
    assert recorded.column(["a"] * 6, shape) == {"along": (), "at": [0], "values": ["a"]}
    assert recorded.depends(range(6), shape) == (0, 1)


def test_vertices_on_straight_lines_are_left_out():
    x = np.linspace(0, 100, 11)
    straight, bent = np.column_stack([x, 2 * x]), np.column_stack([x, np.abs(x - 50)])
    assert recorded.needed_vertices(np.array([straight]), 0.3) == [0, 10]
    assert recorded.needed_vertices(np.array([straight, bent]), 0.3) == [0, 5, 10]


def board_of(a, b):
    """A panel with a line that follows a, a bar that follows b, and a sentence about both."""
    board, ax = new_board((4, 3))
    ax.set(xlim=(0, 2), ylim=(0, 4))
    (bar,) = ax.bar([1], [0])
    board.add(bar)

    def update(a, b):
        """A line and a bar.

        A caption.
        """
        board.curve([0, 1, 2], [0, a, 2 * a], color="#ff0000")
        bar.set_height(b)
        board.say("sum", f"{a + b:.1f}")

    return board.panel(update, a=a, b=b)


def followed(shape):
    """The controls on which the places of a shape depend."""
    columns = [*shape.get("parts", []), *filter(None, [shape.get("ragged")])]
    return {k for x in columns for k in x["along"]}


def test_each_part_is_stored_for_the_controls_it_follows():
    book = Recorder(board_of((0.0, 2.0, 1.0), (0.0, 4.0, 2.0)), (3, 5)).record()
    assert [len(x["texts"]) for x in book["controls"]] == [3, 5]
    bar, line = book["shapes"]
    assert followed(line) == {0} and followed(bar) == {1}
    assert line["stroke"] == "#ff0000"
    # whole places, each the distance from the one before; the middle is on a straight line
    steps = [np.reshape(x, (-1, 2)) for x in line["ragged"]["values"]]
    ends = [np.cumsum(x, axis=0).tolist() for x in steps]
    assert ends == [[[0, UNIT], [UNIT, y]] for y in (UNIT, UNIT // 2, 0)]  # 2 a = 0, 2, 4 of 4
    (said,) = book["said"]
    at = said["text"]["at"][1 * 5 + 4]  # the second a, the last b
    assert said["text"]["values"][at] == "5.0"
    assert len(book["grounds"]) == 1 and "A caption." in book["caption"]


def test_a_script_is_the_same_each_time():
    books = [Recorder(board_of((0.0, 2.0, 1.0), (0.0, 4.0, 2.0)), (3, 2)).record() for _ in "ab"]
    one, two = (recorded.script("x", book, lambda data: "y.webp") for book in books)
    assert one == two and one.startswith('nhlab_recorded("x", "')


@pytest.mark.parametrize("name", RECORDED)
def test_the_grid_of_a_lesson_fits_its_panel(name):
    """It has a list for each control, with values that this can take."""
    panel = predicted(name)
    with unpainted():
        shown = panel()
    recorder = Recorder(shown, RECORDED[name].grid)
    assert np.prod(recorder.shape) <= 3000
    for values, c in zip(recorder.choices, shown.controls.values(), strict=True):
        assert c.value in values
    assert json.dumps(recorder.shape) and panel.notebook.startswith(name[:2])
