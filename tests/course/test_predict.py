"""Predictions: nothing is shown before the reader has answered, and then what was measured."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import nhlab as nh
from nhlab.course import predict as module
from nhlab.course.predict import (
    ECHO,
    PREDICTIONS,
    Prediction,
    covers,
    noticed,
    predict,
    predictions,
)
from nhlab.view.plot import Shown

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PICTURE = Shown(b"png", "two curves")
NAMES = [
    f"{file.stem}.{number}"
    for file in sorted(PREDICTIONS.glob("*.md"))
    for number in re.findall(r"^## (\d+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
]
CHOICE = """Which one falls?

- DLA
- RK4, of order 4

RK4 loses <lost:.2f>
in all, $E_{0}$ and more.

A second paragraph."""
NUMBER = "How many?\n\nnumber: times\n\nIt is <ratio>."


def which(name="77.1", truth="RK4"):
    return Prediction(CHOICE, lambda: (truth, {"lost": 0.25}), name, PICTURE)


def how_many(name="77.1"):
    return Prediction(NUMBER, lambda: (4.0, {"ratio": 4}), name, PICTURE)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(module, "made", {})
    monkeypatch.setattr(module, "watchers", [])
    monkeypatch.setattr(module, "covered", True)


@pytest.fixture
def asked():
    return which()


def seen(prediction):
    """All text and every output that the widget shows."""
    outputs = (str(getattr(x, "outputs", "")) for x in prediction.children)
    return " ".join(str(getattr(x, "value", "")) for x in prediction.children) + " ".join(outputs)


def repeat(prediction):
    """Do what the browser does after a click: repeat for each control that it was switched off."""
    for control in prediction.controls:
        setattr(control, ECHO, control.disabled)


def commit(prediction):
    prediction.commit.click()
    repeat(prediction)


@pytest.mark.parametrize("nonsense", [1e99, -3e12, float("nan"), float("inf")])
def test_a_number_that_can_hardly_be_meant_gets_a_question_back(nonsense):
    asked = how_many()
    (box,) = asked.controls
    box.value = nonsense
    commit(asked)
    assert not asked.made and "do you mean that?" in seen(asked) and "It is 4" not in seen(asked)
    assert not box.disabled and not asked.commit.disabled
    repeat(asked)  # the browser says that the control is switched on again
    box.value = 4.1
    commit(asked)
    assert asked.made and asked.right


def test_whoever_means_it_commits_once_more():
    asked = how_many()
    asked.controls[0].value = 1e99
    for _ in range(2):
        commit(asked)
        repeat(asked)
    assert (
        asked.made and asked.right is False and "You predicted: <i>1e+99 times</i>" in seen(asked)
    )


def test_the_answer_is_covered_until_the_reader_commits(asked):
    _, box, (button, _) = *asked.children[:2], asked.children[2].children
    assert "two curves" not in seen(asked) and "0.25" not in seen(asked)
    assert button.disabled and box.value is None
    assert button.style.text_color == "white"  # on blue, also in a dark theme
    box.value = "DLA"
    assert not button.disabled and "0.25" not in seen(asked)
    commit(asked)
    measured = "You predicted: <i>DLA</i>; measured: <b>RK4, of order 4</b>"
    assert measured in seen(asked)
    assert "loses 0.25 in all, $E_{0}$ and more." in seen(asked) and "two curves" in seen(asked)
    assert asked.right is False


def test_a_right_prediction_is_said_to_be_right(asked):
    asked.answer("RK4, of order 4")
    assert "As you predicted: <b>RK4, of order 4</b>" in seen(asked) and asked.right


def test_what_the_browser_sends_after_the_click_is_judged(asked):
    """A browser keeps back changes while the kernel is busy, and a click overtakes them; they are
    here when it has repeated, for each control, that it was switched off."""
    box = asked.children[1]
    box.value = "DLA"
    asked.commit.click()
    assert asked.commit.disabled and not asked.made
    box.value = "RK4, of order 4"
    assert asked.commit.disabled and not asked.made
    repeat(asked)
    assert asked.right


def test_one_may_just_look(asked):
    asked.children[2].children[1].click()
    assert "two curves" in seen(asked) and asked.right is None and asked.made


def test_covers_are_taken_off_by_one_line():
    covers(False)
    shown = which()
    assert "two curves" in seen(shown) and not shown.made


def test_without_a_kernel_the_answer_is_folded(asked):
    text = asked._repr_mimebundle_()["text/markdown"]
    question, answer = text.split("<details>")
    assert "Which one falls?" in question and "- DLA\n- RK4" in question
    assert "0.25" not in question and "loses 0.25" in answer and answer.count("</details>") == 1
    assert "![two curves](data:image/png" in answer


def test_a_panel_keeps_its_motion_and_its_picture_without_a_kernel():
    h, robot = (0.1, 0.6, 0.5), nh.systems.robot()
    panel = nh.explore(robot, [nh.DLA(), nh.RK4()], "energy", h=h, T=8, motion=True)
    text = predict("00.4", panel)._repr_mimebundle_()["text/markdown"]
    assert text.count('class="nhlab-stage"') == 1 and text.count("(data:image/png") == 1
    assert panel.stage.packed in text and text.index("nhlab-stage") > text.index("<details>")
    plain = nh.explore(robot, nh.DLA(), "energy", h=h, T=8)
    assert plain.stage is None
    assert "nhlab-stage" not in predict("00.4", plain)._repr_mimebundle_()["text/markdown"]


@pytest.mark.parametrize("said, right", [(4.5, True), (3.1, True), (5.1, False), (-4, False)])
def test_a_number_is_right_within_a_quarter(said, right):
    asked = how_many()
    asked.answer(said)
    assert asked.right is right and "4 times" in seen(asked)


def test_a_curve_is_right_if_it_follows_the_true_one():
    text = "Draw it.\n\nsketch: time | energy | 0 1 | 0 1\n\nA falling line."
    falling = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    asked = Prediction(text, lambda: (falling, {}), "77.1", PICTURE)
    sliders = asked.children[1].children[1].children
    assert max(len(s.description) for s in sliders) <= 5  # they stand close together
    before = asked.children[1].children[0].value
    for k, s in enumerate(sliders):
        s.value = 1 - k / 6
    assert asked.children[1].children[0].value != before
    commit(asked)
    assert asked.right
    asked.answer([0.5] * 7)
    assert asked.right is False
    assert (
        "You predicted: <i>the orange curve</i>; measured: <b>the curve without dots</b>"
        in seen(asked)
    )


def test_predictions_are_counted_as_they_are_made(asked):
    other = how_many("77.2")
    elsewhere = how_many("78.1")
    summary = predictions("77")
    assert "0 of 2 as measured. 2 still to make." in summary.value
    asked.answer("DLA")
    assert "0 of 2 as measured. 1 still to make." in summary.value
    assert "Look again at:<ul><li>77.1: Which one falls?" in summary.value
    other.answer(4)
    elsewhere.answer(4)
    assert "1 of 2 as measured. Look" in summary.value


@pytest.mark.parametrize("words", ["RK4", "RK4, of", "RK4, of order 4"])
def test_the_truth_is_the_choice_that_begins_with_the_words(words):
    assert which(truth=words).truth == "RK4, of order 4"


@pytest.mark.parametrize("truth", ["Projector", ""])
def test_a_truth_that_is_not_one_choice_is_a_mistake_of_ours(truth):
    with pytest.raises(ValueError, match="not one of the choices"):
        which(truth=truth)


def test_an_unknown_prediction_is_refused():
    with pytest.raises(ValueError, match=r"there is no prediction '00\.99'; lesson 00 has 00\.1, "):
        predict("00.99", PICTURE)


def test_what_is_measured_is_what_is_asked():
    lessons = sorted((PREDICTIONS.parent / "lessons").glob("lesson_*.py"))
    functions = {
        f"{file.stem.removeprefix('lesson_')}.{number}"
        for file in lessons
        for number in re.findall(r"^def prediction_(\d+)\(", file.read_text(), re.MULTILINE)
    }
    assert functions == set(NAMES)


def test_every_prediction_is_asked_once_and_in_its_own_notebook():
    asked = []
    for file in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        code = "\n".join(c.source for c in nbformat.read(file, 4).cells if c.cell_type == "code")
        found = re.findall(r'nh\.predict\("([\db.]+)"', code)
        assert all(x.partition(".")[0] == file.stem.partition("_")[0] for x in found), file.stem
        asked += found
    assert sorted(asked) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_prediction_of_the_lessons_measures_one_of_its_answers(name):
    asked = predict(name, PICTURE)
    assert len(asked.notice) > 40 and not re.search(r"<\w+[:>]", asked.notice)
    curve = isinstance(asked.form, module.Sketch)
    assert asked.form.right(
        np.interp(asked.form.x, *asked.truth) if curve else asked.truth, asked.truth
    )


def test_numbers_are_put_into_their_places():
    assert noticed("a <x:.1f>\n    b <y>\n\n    c", {"x": 1.25, "y": "z"}) == "a 1.2 b z\n\nc"
