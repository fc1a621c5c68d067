"""Lesson 05: the step that the reader writes, and what is said about the usual mistakes."""

import numpy as np
import pytest
from scipy.optimize import root

from nhlab.course.exercises import check
from nhlab.course.lessons import lesson_05 as lesson


def written(kick=1, well=1, forward=1):
    """A reader's step with wrong factors of the force and the potential, or a guess that is back
    in time."""

    def step(q1, p1, h1, e):
        def equations(x):
            q2, h2 = x
            v, middle = (q2 - q1) / h2, (q1 + q2) / 2
            leaving = v + kick * h2 / 2 * np.sin(middle)
            return leaving - p1, v**2 / 2 - well * np.cos(middle) - e

        h = forward * h1
        return root(equations, (q1 + h * p1, h), tol=1e-12).x

    return step


def test_the_right_step_is_right_and_draws_the_curve_of_the_library():
    assert check("05.5", written()).right
    run = lesson.swing()
    t, h = lesson.own_run(written(), run)
    assert np.allclose(t, run.t[1:], atol=1e-6) and np.allclose(h, run.h, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong equations may have no solution
@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"kick": -1}, "the momentum that arrives at q2"),
        ({"well": -1}, "The sign of the potential"),
        ({"kick": -1, "well": -1}, "Two signs"),
        ({"kick": 2}, "too large"),
        ({"kick": 0}, "not just v"),
        ({"forward": -1}, "reversed root"),
    ],
)
def test_the_usual_mistakes_are_recognised(wrong, said):
    verdict = check("05.5", written(**wrong))
    assert not verdict.right and said in verdict.text


def test_a_step_of_fixed_size_and_a_step_that_does_nothing_are_told_apart():
    run = lesson.swing()
    ends = {round(q, 9): q2 for q, q2 in zip(run.q[1:-1, 0], run.q[2:, 0], strict=True)}
    assert "h2 is always h1" in check("05.5", lambda q, p, h, e: (ends.get(round(q, 9), 0), h)).text
    assert "two numbers" in check("05.5", lambda q, p, h, e: q).text
    assert "the library has" in check("05.5", lambda q, p, h, e: (q, 2 * h)).text


def test_an_open_gap_is_pointed_at():
    def equations(x):
        q2, h2 = x
        return q2 - ..., h2

    for guess in (..., (1.0, 0.2)):
        verdict = check("05.5", lambda q, p, h, e, guess=guess: root(equations, guess).x)
        assert "gaps" in verdict.text


def test_the_steering_rate_is_positive():
    assert check("05.3", np.sqrt(10)).right
    assert "omega > 0" in check("05.3", -np.sqrt(10)).text


def test_a_picture_without_a_step_shows_the_library_alone():
    for unfinished in (..., lambda q, p, h, e: q + ...):
        assert "yours" not in lesson.own_steps(unfinished).alt
    assert "yours" in lesson.own_steps(written()).alt
