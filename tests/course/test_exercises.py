"""The exercises: what ``check`` says, hints one after the other, and solutions that are right."""

import re

import pytest

from nhlab.course import exercises
from nhlab.course.exercises import SOLUTIONS, check, hint, solution
from nhlab.course.lessons import lesson_02
from nhlab.mechanics.system import symbols

LESSONS = SOLUTIONS.parent / "lessons"
NAMES = [
    f"{module.stem[-2:]}.{number}"
    for module in sorted(LESSONS.glob("lesson_*.py"))
    for number in re.findall(r"^def exercise_(\d+)\(", module.read_text(), re.MULTILINE)
]
HEAD = (
    "import numpy as np\nimport nhlab as nh\nfrom nhlab.course.lessons import lesson_{} as lesson"
)


@pytest.fixture(autouse=True)
def nothing_tried():
    exercises.tries.clear()
    exercises.seen.clear()


@pytest.mark.parametrize("name", NAMES)
def test_every_solution_is_right_as_it_is_shown(name):
    space = {}
    exec(HEAD.format(name[:2]), space)
    code = solution(name, anyway=True).code
    *lines, last = code.splitlines()
    exec("\n".join(lines), space)
    assert last == f'nh.check("{name}", answer)'
    assert eval(last, space).right


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_two_hints_that_do_not_repeat_the_solution(name):
    hints, code = exercises.written(name)
    assert len(hints) == 2
    for text in hints:
        assert len(text) > 30 and code not in text


def test_there_are_no_solutions_without_an_exercise():
    written = {
        f"{file.stem}.{number}"
        for file in SOLUTIONS.glob("*.md")
        for number in re.findall(r"^## (\d+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert written == set(NAMES)


def test_nonsense_is_refused_in_words():
    for name in NAMES:
        for nonsense in (-12345.678, "nonsense", None, [1, 2, 3]):
            verdict = check(name, nonsense)
            assert verdict.state == "wrong" and len(verdict.text) > 10, (name, nonsense)
            assert "\n" not in verdict.text


def test_the_check_answers_in_three_ways():
    assert check("01.1").state == "open"
    assert check("00.1", 4).state == "wrong"
    assert check("00.1", 2).right
    with pytest.raises(ValueError, match=r"there is no exercise '01\.99'"):
        check("01.99", 1)


def test_the_solution_waits_for_a_try_or_for_all_hints():
    assert "Try it first" in solution("02.1").text
    check("02.1")  # dots are no try
    assert "Try it first" in solution("02.1").text
    assert hint("02.1").text.startswith("Hint 1 of 2")
    assert "Try it first" in solution("02.1").text
    assert hint("02.1").text.startswith("Hint 2 of 2")
    assert "answer =" in solution("02.1").code
    assert "Try it first" in solution("02.2").text
    check("02.2", None)
    assert "def answer" in solution("02.2").code


def test_the_buttons_show_hints_and_the_solution():
    box = exercises.buttons(check("02.1", 7))
    _, row, shown = box.children
    first, last = row.children
    first.click()
    assert "Hint 1 of 2" in shown.value
    first.click()
    assert "Hint 2 of 2" in shown.value
    last.click()
    assert "answer = 0.142" in shown.value


def test_what_is_stored_gives_nothing_away():
    stored = check("02.1")._repr_mimebundle_()
    _, code = exercises.written("02.1")
    assert "Not answered yet" in stored["text/html"] and code not in str(stored)


def dla_step(right, wrong):
    """The solution of 02.5 with one piece replaced."""
    space, (_, code) = {}, exercises.written("02.5")
    assert code.count(right) == 1
    exec("import numpy as np\n" + code.replace(right, wrong), space)
    return space["answer"]


@pytest.mark.parametrize(
    "right, wrong, said",
    [
        ("py - h * y", "py + h * y", "vy has a wrong sign"),
        ("y + h / 2 * vy", "y", "Half a step is missing: ym"),
        ("y + h / 2 * vy", "y + h * vy", "half a step away"),
        ("px + y * pz", "px - y * pz", "kick on x has a wrong sign"),
        ("(px + y * pz - h * x) / (k + y * ym)", "(px - h * x) / k", "has had no kick"),
        ("v - h * qm", "v + h * qm", "momentum that leaves"),
        ("v - h * qm * [1, 1, 0]", "v", "Half a step is missing: after the midpoint"),
        ("v - h * qm", "v - h * q", "at the old node"),
    ],
)
def test_the_usual_mistakes_in_a_step_of_dla_are_named(right, wrong, said):
    verdict = check("02.5", dla_step(right, wrong))
    assert verdict.state == "wrong" and said in verdict.text


def test_a_step_with_gaps_is_not_answered_and_draws_no_curve():
    assert check("02.5", dla_step("(py - h * y) / k", "...")).state == "open"
    assert "has gaps still" in lesson_02.beside(dla_step("(py - h * y) / k", "...")).alt
    assert "goes on for 100 steps" in lesson_02.beside(dla_step("vx = ", "vx = 1 * ")).alt
    assert "goes on for 0 steps" in lesson_02.beside(dla_step("vx = ", "vx = 1 / 0 * ")).alt


def test_coefficients_are_expressions_and_not_text():
    x, y, phi = symbols("x y phi")
    assert check("06.2", [y, -x, 1]).right
    assert "not text" in check("06.2", ["cos(phi)", "sin(phi)", 0]).text


def test_three_digits_are_enough_to_park_the_robot():
    assert check("07.1", (0.122, -0.479)).right
    assert "other way round" in check("07.1", (-0.122, 0.479)).text
    assert "approximation" in check("07.1", (0, -0.5)).text
    assert not check("07.1", (0.12, -0.48)).right
