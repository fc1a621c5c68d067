"""A course lesson stays short, has a companion that links to it, and states an honest time."""

import re
from pathlib import Path

import nbformat
import pytest
from test_growing_program import GROWN, definitions

from nhlab.course import exercises, predict

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
COMPANIONS = sorted(NOTEBOOKS.glob("[0-9][0-9]b_*.ipynb"))
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]*_*.ipynb"))  # companions included
WORDS, CELLS, CHECKS = 2000, 25, 2
LONGER = {"05": (2600, 30)}  # words and code cells of the lesson with the longest derivation


def sources(path, kind):
    return [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == kind]


def lesson_of(companion):
    (file,) = NOTEBOOKS.glob(f"{companion.stem[:2]}_*.ipynb")
    return file


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_a_course_lesson_is_short(companion):
    lesson = lesson_of(companion)
    words, cells = LONGER.get(lesson.stem[:2], (WORDS, CELLS))
    text, code = sources(lesson, "markdown"), sources(lesson, "code")
    assert sum(len(part.split()) for part in text) <= words
    assert len(code) <= cells
    assert sum(len(re.findall(r"print\(f?.Checked", part)) for part in code) <= CHECKS


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_lesson_and_companion_link_to_each_other(companion):
    lesson = lesson_of(companion)
    assert f"]({companion.name})" in "".join(sources(lesson, "markdown"))
    assert f"]({lesson.name})" in "".join(sources(companion, "markdown"))


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_predictions_and_exercises_are_numbered_in_their_order(companion):
    for path in (lesson_of(companion), companion):
        code, number = "".join(sources(path, "code")), path.stem.partition("_")[0]
        for call in ("predict", "check"):
            asked = [*dict.fromkeys(re.findall(rf'nh\.{call}\("([\db.]+)"', code))]
            in_order = [f"{number}.{k}" for k in range(1, len(asked) + 1)]
            assert asked == in_order


# ---------------------------------------------------------------------------- the time it takes

RATES = {
    "word": 1 / 200,
    "formula": 2,
    "cell": 1.5,
    "program": 10,  # a cell with a function of nhlab.plain, which the reader is to understand
    "prediction": 2,
    "exercise": 5,
    "function": 15,
}
WRITTEN = re.compile(r"def answer|answer = lambda|answer = [a-z]+\n", re.MULTILINE)


def minutes(path: Path) -> float:
    """The time that the rule of lesson 00 gives a notebook, from what is in it.

    An exercise whose answer is a function counts as one to write; the text of the predictions is
    read, explanation included, that of hints and solutions is not.
    """
    grown = {*GROWN.get(path.stem.partition("_")[0], ())}
    program = sum(bool(grown & {*definitions([cell])}) for cell in sources(path, "code"))
    text, code = (" ".join(sources(path, kind)) for kind in ("markdown", "code"))
    asked, checked = (re.findall(rf'nh\.{x}\("([\db.]+)"', code) for x in ("predict", "check"))
    predictions = [exercises.section(predict.PREDICTIONS, name) for name in asked]
    written = [bool(WRITTEN.search(exercises.written(name)[1])) for name in checked]
    count = {
        "word": len(text.split()) + sum(len(x.split()) for x in predictions),
        "formula": len(re.findall(r"\$\$.*?\$\$", text, re.DOTALL)),
        "cell": len(sources(path, "code")) - program,
        "program": program,
        "prediction": len(asked),
        "exercise": written.count(False),
        "function": written.count(True),
    }
    return sum(count[x] * RATES[x] for x in RATES)


def stated(path: Path) -> int:
    return int(re.search(r"bout (\d+) minutes", sources(path, "markdown")[0])[1])


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_stated_time_follows_the_rule(path):
    assert abs(stated(path) - minutes(path)) <= 5


def test_the_map_of_lesson_00_repeats_the_rule_and_the_times():
    text = " ".join(sources(LESSONS[0], "markdown"))
    rows = re.findall(r"\]\((\d\d_\w+\.ipynb)\) \|[^|]*\| (\d+) min \|", text)
    assert len(rows) == 11
    for name, time in rows:
        assert int(time) == stated(NOTEBOOKS / name), name
    rule = re.search(
        r"(\d+) words a minute, (\d+) minutes for a displayed formula, ([\d.]+) for a "
        r"cell of code, (\d+) for a cell with a function of the program, (\d+) for a prediction, "
        r"(\d+) for an exercise and (\d+) for a",
        text,
    )
    assert [float(x) for x in rule.groups()] == [1 / RATES["word"], *[*RATES.values()][1:]]
