"""A course lesson stays short, has a companion that links to it, and states an honest time."""

import re

import pytest
from minutes import LESSONS, NOTEBOOKS, RATES, WALKED, minutes, sources, stated

COMPANIONS = sorted(NOTEBOOKS.glob("[0-9][0-9]b_*.ipynb"))
WORDS, CELLS, CHECKS = 2000, 25, 2
LONGER = {"05": (2600, 30)}  # words and code cells of the lesson with the longest derivation


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


@pytest.mark.parametrize("lesson, walked", WALKED.items())
def test_the_rule_gives_the_minutes_that_were_measured(lesson, walked):
    (path,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    assert minutes(path) == pytest.approx(walked, rel=0.06)


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
