"""Lesson 07: the reduced equations notice a wrong derivative; what the ball's g and omega are."""

import re
from functools import cached_property

import numpy as np
import pytest
import sympy as sp
from lesson_cells import defined

import nhlab as nh
from nhlab.course.exercises import section
from nhlab.course.lessons import lesson_07
from nhlab.course.lessons import lesson_07b as lesson
from nhlab.course.predict import PREDICTIONS
from nhlab.geometry.reduction import ReducedLagrangian

METHODS = nh.DLA(), nh.RK4()


def robot():
    return nh.Chaplygin(nh.systems.robot(), fibre="x y")


def board():
    return nh.Horizontal(lesson.relative_board(), "psi")


@pytest.fixture(scope="module")
def four_statements():
    """The function that 07b shows to its readers."""
    return defined("07b", "def four_statements")["four_statements"]


@pytest.mark.parametrize("make", [robot, board])
def test_a_wrong_derivative_violates_the_fourth_statement(make, four_statements, monkeypatch):
    """With 3 D2Ld* + 7 in the place of D2Ld*, already in the expressions, (32) must fail."""
    path, other = (nh.integrate(make().full, m, h=0.2, steps=30) for m in METHODS)
    assert max(four_statements(make(), path)) < 1e-8
    assert min(four_statements(make(), other)) > 1e-6
    right = ReducedLagrangian.D2Ld.func
    wrong = cached_property(lambda self: [3 * e + 7 for e in right(self)])
    wrong.__set_name__(ReducedLagrangian, "D2Ld")
    monkeypatch.setattr(ReducedLagrangian, "D2Ld", wrong)
    *first, fourth, _ = four_statements(make(), path)
    assert max(first) < 1e-8 and fourth > 1


def test_the_ball_has_the_inverse_attitude_and_minus_the_velocity_in_space():
    """The attitude turns by Omega = -omega in space, and the centre moves by Omega x R e3."""
    G, R = nh.groups.SO3, 1.5
    sol = nh.integrate(nh.systems.rubber_ball(R=R), nh.DLA(), h=0.1, steps=20)
    attitude = G.inverse(sol.q[:, 2:])
    Omega = G.cay_inv(G.multiply(attitude[1:], G.inverse(attitude[:-1]))) / 0.1
    np.testing.assert_allclose(Omega, -sol.v_step[:, 2:], atol=1e-12)
    np.testing.assert_allclose(np.cross(Omega, [0, 0, R])[:, :2], sol.v_step[:, :2], atol=1e-12)
    assert np.abs(Omega).max() > 0.5 and np.abs(Omega[:, 2]).max() < 1e-12


def test_the_boards_that_07b_states_in_a_cell_are_those_of_its_prediction():
    """The board with a rotor of either inertia."""
    stated = defined("07b", "def with_rotor")
    pairs = [(stated["board"].full, lesson.relative_board())]
    pairs += [(stated["with_rotor"](stated["J0"]).full, lesson.relative_board(varying=False))]
    for shown, module in pairs:
        assert sp.expand(shown.L - module.L) == 0 and shown.constraints == module.constraints
    assert sp.expand(pairs[0][0].L - pairs[1][0].L) != 0


def test_the_choices_about_the_square_name_the_systems_that_they_describe():
    """Prediction 07.5: those without a force, and those whose A is linear in r."""
    names = "particle", "bent", "gear", "robot", "rolling_disk"
    reduced = {name.replace("_", " "): lesson_07.reduced(name) for name in names}
    forceless = {name for name, red in reduced.items() if red.gyroscopic.is_zero_matrix}
    linear = {
        name
        for name, red in reduced.items()
        if all(A.diff(a, b) == 0 for A in red.connection for a in red.q for b in red.q)
    }
    text = section(PREDICTIONS, "07.5")
    for begins, named in (("without gyroscopic", forceless), ("whose A is linear", linear)):
        (choice,) = re.findall(rf"^- For those {begins}.*: (.*)$", text, re.MULTILINE)
        assert {*re.split(", | and ", choice)} == named and 1 < len(named) < 5
