"""The exercises: what ``check`` says, hints one after the other, and solutions that are right."""

import re

import numpy as np
import pytest
from scipy.optimize import newton

from nhlab import plain
from nhlab.course import exercises
from nhlab.course.exercises import SOLUTIONS, check, hint, solution
from nhlab.course.lessons import lesson_01, lesson_02
from nhlab.mechanics import catalogue as systems
from nhlab.mechanics.system import symbols
from nhlab.methods import DLA
from nhlab.run.loop import integrate
from nhlab.run.progress import Bar, no_bars

LESSONS = SOLUTIONS.parent / "lessons"
NAMES = [
    f"{module.stem.removeprefix('lesson_')}.{number}"
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
    exec(HEAD.format(name.partition(".")[0]), space)
    code = solution(name, anyway=True).code
    *lines, last = code.splitlines()
    exec("\n".join(lines), space)
    assert last == f'nh.check("{name}", answer)'
    assert eval(last, space).right


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_two_hints_that_do_not_repeat_the_solution(name):
    hints, code = exercises.written(name)
    assert len(hints) == 2 and len(exercises.why(name)) > 30
    for text in hints:
        assert len(text) > 30 and code not in text


def test_there_are_no_solutions_without_an_exercise():
    written = {
        f"{file.stem}.{number}"
        for file in SOLUTIONS.glob("*.md")
        for number in re.findall(r"^## (\d+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert written == set(NAMES)


def test_a_part_of_the_answer_does_not_give_the_rest_away():
    text = check("00.3", {"a"}).text
    assert "1 more" in text and not re.search(r"\bd\b", text)
    assert "b can be integrated" in check("00.3", {"a", "b"}).text


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
    with pytest.raises(ValueError, match=r"there is no exercise '01\.99'; lesson 01 has 01\.1, 01"):
        check("01.99", 1)
    with pytest.raises(ValueError, match=r"there is no exercise '99\.1'; write it as '02\.1'"):
        check("99.1", 1)


def test_the_solution_waits_for_a_try_or_for_all_hints():
    assert "Try it first" in solution("02.2").text
    check("02.2")  # dots are no try
    assert "Try it first" in solution("02.2").text
    assert hint("02.2").text.startswith("Hint 1 of 2")
    assert "Try it first" in solution("02.2").text
    assert hint("02.2").text.startswith("Hint 2 of 2")
    assert "answer =" in solution("02.2").code
    assert "Try it first" in solution("02.3").text
    check("02.3", None)
    assert "def answer" in solution("02.3").code


def test_the_buttons_show_hints_and_the_solution():
    box = exercises.buttons(check("02.2", 7))
    _, row, shown = box.children
    first, last = row.children
    first.click()
    assert "Hint 1 of 2" in shown.value
    first.click()
    assert "Hint 2 of 2" in shown.value
    last.click()
    assert "answer = 0.142" in shown.value


def test_what_is_stored_gives_nothing_away():
    stored = check("02.2")._repr_mimebundle_()
    code = exercises.written("02.2")[1]
    assert "Not answered yet" in stored["text/html"] and code not in str(stored)


def dla_step(right, wrong):
    """The solution of 02.1 with one piece replaced."""
    space, code = {}, exercises.written("02.1")[1]
    assert code.count(right) == 1
    exec("import numpy as np\n" + code.replace(right, wrong), space)
    return space["answer"]


def midpoint(arriving, leaving, at=None, back=1):
    """A step of the pendulum with these pushes of gravity, taken in the middle of the steps."""

    def step(q0, q1, h):
        def momentum(push, a, b):
            return (b - a) / h + push * h * np.sin(at(a, b) if at else (a + b) / 2)

        p = momentum(arriving, q0, q1)
        return newton(lambda q2: back * momentum(leaving, q1, q2) - p, 2 * q1 - q0, disp=False)

    return step


def mirrored(wrong):
    """A step of the projector method, of the system, the two nodes and their difference."""
    return lambda a, b: wrong(systems.free_particle(), a, b, b - a)


def place_alone(L, q0, q1, h, alpha):
    """An answer of 01.2 that forgets the velocity.  What it raises is shown with its own line."""
    return h * L((q0 + q1) / 2)


DLA_STEPS = [
    ("py - h * y", "py + h * y", "vy has a wrong sign"),
    ("y + h / 2 * vy", "y", "Half a step is missing: ym"),
    ("y + h / 2 * vy", "y + h * vy", "half a step away"),
    ("px + y * pz", "px - y * pz", "kick on x has a wrong sign"),
    ("(px + y * pz - h * x) / (k + y * ym)", "(px - h * x) / k", "has had no kick"),
    ("v - h * qm", "v + h * qm", "momentum that leaves"),
    ("v - h * qm * [1, 1, 0]", "v", "Half a step is missing: after the midpoint"),
    ("v - h * qm", "v - h * q", "at the old node"),
]
MIDPOINTS = [
    (midpoint(0.5, 0.5), "sign of the gravity in p+"),
    (midpoint(-0.5, -0.5), "sign of the gravity in p-"),
    (midpoint(-1, 0.5), "In p+, which arrives, a half is missing"),
    (midpoint(-0.5, 1), "In p-, which leaves, a half is missing"),
    (midpoint(-0.5, 0), "p-, which leaves, has no gravity"),
    (midpoint(-0.5, 0.5, back=-1), "goes back where it came from"),
    (midpoint(-0.5, 0.5 / 0.3), "the factor h"),
    (midpoint(-0.5, 0.5, at=lambda a, b: b), "in the middle of a step"),
    (lambda q0, q1, h: 2 * q1 - q0 - h**2 * np.sin(q1), "Verlet"),
    (lambda q0, q1, h: q1, "Without gravity"),
    (lambda q0, q1, h: midpoint(-0.5, 0.5)(q0, q1, 0.3), "use the h that is given"),
    (lambda q0, q1, h: np.nan, "no finite number"),
]
MIRRORS = [
    (lambda s, a, b, d: b + s.P(b) @ d, "You project: the normal part is dropped"),
    (lambda s, a, b, d: b + (s.P(a) - s.Q(a)) @ d, "you reflect at q0"),
    (lambda s, a, b, d: b + s.P(a) @ d, "You project, and at q0"),
    (lambda s, a, b, d: b + (s.Q(b) - s.P(b)) @ d, "wrong way round"),
    (lambda s, a, b, d: b + d, "a free flight"),
    (lambda s, a, b, d: (s.P(b) - s.Q(b)) @ d, "Add q1"),
    (lambda s, a, b, d: ..., "gaps left"),
    (lambda s, a, b, d: b + (s.P(b) - s.Q(b)) * d, "the shape (3, 3), but a node is three numbers"),
]
ACTIONS = [  # lesson 01: h L((1 - alpha) q0 + alpha q1, (q1 - q0) / h)
    (lambda L, a, b, h, x: L((1 - x) * a + x * b, (b - a) / h), "factor h is missing"),
    (lambda L, a, b, h, x: L((1 - x) * a + x * b, (b - a) / h) / h, "do not divide"),
    (lambda L, a, b, h, x: h * L(x * a + (1 - x) * b, (b - a) / h), "Exchange alpha"),
    (lambda L, a, b, h, x: h * L((a + b) / 2, (b - a) / h), "midpoint for every alpha"),
    (lambda L, a, b, h, x: h * L((1 - x) * a + x * b, b - a), "divide it by h"),
    (lambda L, a, b, h, x: h * L((1 - x) * a + x * b, (a - b) / h), "wrong sign"),
    (lambda L, a, b, h, x: h * (L(a, b) + L(b, a)), "Evaluate L once"),
    (place_alone, "L takes two arguments, a place and a velocity"),
    (lambda L, a, b, h, x: h * L((b - a) / h, (1 - x) * a + x * b), "L takes the place first"),
]
BALANCES = [  # lesson 01: D1Ld + p
    (lambda Ld, q1, p, q2: plain.D(1, Ld, q1, q2) - p, "minus D1Ld"),
    (lambda Ld, q1, p, q2: p - plain.D(2, Ld, q1, q2), "arrives at q2"),
    (lambda Ld, q1, p, q2: plain.D(1, Ld, q1, q2), "Where is the momentum p"),
    (lambda Ld, q1, p, q2: -plain.D(1, Ld, q1, q2), "Where is the momentum p"),
    (lambda Ld, q1, p, q2: p, "Where is the momentum that leaves q1"),
    (lambda Ld, q1, p, q2: plain.D(1, Ld, q2, q1) + p, "the nodes as q2, q1"),
    (lambda Ld, q1, p, q2: plain.D(2, Ld, q2, q1) + p, "the nodes as q2, q1"),
    (lambda Ld, q1, p, q2: plain.D(2, Ld, q1, q2) + p, "arrives at q2"),
    (lambda Ld, q1, p, q2: plain.D(1, Ld, q1, q2) == -p, "True or False"),
    (lambda Ld, q1, p, q2: p @ plain.D(1, Ld, q1, q2), "returns the shape ()"),
    (lambda Ld, q1, p, q2: 0.5 * p, "your function returns [ 0.45 -0.25]"),
]


def correction(size, force=np.sin, v=1.0):
    """An answer of 01.4: a velocity to start with that adds size(alpha) h force(theta0) to v0."""
    return lambda theta0, v0, alpha, h: v * v0 + size(alpha) * h * force(theta0)


STARTS = [
    (correction(lambda alpha: 0), "You return v0 as it is"),
    (correction(lambda alpha: alpha - 0.5), "sign of your correction is the other one"),
    (correction(lambda alpha: 1 - alpha), "gravity acts during this step in the true motion"),
    (correction(lambda alpha: 0.5 - alpha, np.cos), "its gradient, which the momentum contains"),
    (correction(lambda alpha: alpha - 0.5, np.cos), "its gradient, which the momentum contains"),
    (correction(lambda alpha: -alpha), "the momentum that arrives"),
    (correction(lambda alpha: 0.5 - alpha, v=0), "the correction alone"),
    (correction(lambda alpha: 0.5 - alpha, lambda theta: theta), "small swings"),
    (lambda theta0, v0, alpha, h: v0 + (0.5 - alpha) * np.sin(theta0), "The factor h is missing"),
    (correction(lambda alpha: 0.1), "The observed orders for alpha"),
]
CROSSINGS = [
    (0.1004, "like h^4"),
    (0.1, "like h^4"),
    (0.071, "halve h where T is doubled"),
    (0.284, "they cross at a smaller h"),
    (-0.1127, "positive"),
    (0.142, "for T = 1000"),
    (0.05, "Write both errors as powers"),
]
MOMENTA = [  # which leave, of p+ = (1, 0, 0) at y = 1
    ((1, 0, 0), "This is p+ itself"),
    ((2, 0, -1), "The kick has the wrong sign"),
    ((0.5, 0, -0.5), "This is the normal part of p alone"),
    ((-0.5, 0, 0.5), "The normal part is turned round"),
    ((0.5, 0, 0.5), "This is P^T p, the part in D, alone"),
    ((-1, 0, 0), "All of p is turned round"),
    ((-1, 0, 2), "A is not of length 1"),
    ((0, 0, -1), "wrong way round"),
    ((0, 1, 0), "Split p"),
]
MISTAKES = [
    *(("01.2", action, said) for action, said in ACTIONS),
    *(("01.3", balance, said) for balance, said in BALANCES),
    *(("01.1", step, said) for step, said in MIDPOINTS),
    *(("01.4", start, said) for start, said in STARTS),
    *(("02.2", number, said) for number, said in CROSSINGS),
    *(("03.1", momentum, said) for momentum, said in MOMENTA),
    *(("02.1", dla_step(right, wrong), said) for right, wrong, said in DLA_STEPS),
    *(("03.2", mirrored(wrong), said) for wrong, said in MIRRORS),
    ("06.2", ["cos(phi)", "sin(phi)", 0], "not text"),
    ("07.1", (-0.122, 0.479), "other way round"),
    ("07.1", (0, -0.5), "approximation"),
    ("07.1", (0.12, -0.48), "Steering does not move"),
]


@pytest.mark.parametrize("name, answer, said", MISTAKES, ids=[f"{n}-{s}" for n, _, s in MISTAKES])
def test_the_usual_mistakes_are_named(name, answer, said):
    verdict = check(name, answer)
    assert verdict.state == "wrong" and said in verdict.text


def test_both_signs_of_an_equation_have_the_same_zeros():
    assert check("01.3", lambda Ld, q1, p, q2: -plain.D(1, Ld, q1, q2) - p).right


def test_a_step_with_gaps_is_not_answered_and_draws_no_curve():
    assert check("02.1", dla_step("(py - h * y) / k", "...")).state == "open"
    sol = integrate(systems.particle(), DLA(), h=0.2, steps=100)
    assert "has gaps still" in lesson_02.beside(dla_step("(py - h * y) / k", "..."), sol).alt
    assert "goes on for 100 steps" in lesson_02.beside(dla_step("vx = ", "vx = 1 * "), sol).alt
    assert "goes on for 0 steps" in lesson_02.beside(dla_step("vx = ", "vx = 1 / 0 * "), sol).alt


def test_a_step_with_gaps_is_open_and_its_picture_shows_the_library_alone():
    def half(q0, q1, h):
        leaves = lambda q2: ...  # noqa: E731
        return newton(lambda q2: leaves(q2) - 1.0, q1)

    run = lesson_01.library_run()
    assert check("01.1", half).state == "open" and check("01.1", lambda *q: ...).state == "open"
    lesson_01.step_picture(half, run)
    lesson_01.step_picture(lambda *q: 1 / 0, run)  # nor does one that fails
    assert check("01.1", midpoint(-0.5, 0.5)).right


def test_three_digits_park_the_robot_and_coefficients_are_expressions():
    assert check("07.1", (0.122, -0.479)).right
    x, y = symbols("x y")
    assert check("06.2", [y, -x, 1]).right


def test_a_typo_in_a_step_is_one_sentence_with_the_readers_line(tmp_path):
    file = tmp_path / "cell.py"  # as a kernel does, so that the line can be shown
    file.write_text("def step(q, p, h):\n    vy = py - h * y\n    return q, p\n")
    space = {}
    exec(compile(file.read_text(), file, "exec"), space)
    text = check("02.1", space["step"]).text
    assert "NameError: name 'py' is not defined. In step, at `vy = py - h * y`." in text
    assert "\n" not in text and "Traceback" not in text


@pytest.mark.parametrize("name", ["01.1", "01.2", "01.3", "01.4", "02.1", "02.3", "03.2"])
def test_a_function_without_return_is_named(name):
    def my_step(*arguments):
        arguments[0]  # and is not returned

    verdict = check(name, my_step)
    assert verdict.state == "wrong"
    assert verdict.text.endswith("Your function my_step returns nothing: does it have a `return`?")


def test_a_function_without_return_inside_the_answer_is_guessed():
    def my_step(q0, q1, h):
        def leaves(q2):
            q2 * 2  # and is not returned

        return newton(lambda q2: leaves(q2) - 1.0, q1)

    assert "None is what a function without `return` gives" in check("01.1", my_step).text


def test_no_message_gives_the_solution_away():
    """Where an answer is wrong in no usual way, the sentence is about the way, not the formula."""
    texts = [check("01.3", lambda Ld, q1, p, q2: 0.5 * p).text, check("02.2", 0.05).text]
    texts += [check("01.4", correction(lambda alpha: 0.1)).text]
    for secret in ("D(1, Ld, q1, q2)", "h^5", "(1-alpha) h sin(theta)"):
        assert not any(secret in text for text in texts), secret


def test_no_bar_stands_above_a_verdict():
    with no_bars():
        assert Bar(None, 10).wanted is False and Bar(True, 10).wanted is True
    assert Bar(None, 10).wanted is None
