"""Lesson 04: near the border of the polhodes the rules are told apart; what leaves the group."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.course.lessons import lesson_04 as lesson


@pytest.mark.parametrize("rule, axis", [("cayley", "e3"), ("log", "e3"), ("trace", "e1")])
def test_the_panel_opens_where_the_rules_go_round_different_axes(rule, axis):
    panel = lesson.sphere_panel()
    panel.set(rule=rule)
    assert f"{axis}, the true one round e1" in panel.readout.value
    panel.set(h=0.4)
    assert "e1, the true one round e1" in panel.readout.value


def test_points_of_the_trace_rule_alone_lie_on_the_true_polhode():
    true = lesson.true_polhode(24.4)
    for rule in ("cayley", "log", "trace"):
        p = lesson.free_run(rule, 1.2, 24.4, 120.0).p
        off = np.linalg.norm(p[:, None] - true, axis=2).min(1).max()
        assert off < 0.06 if rule == "trace" else off > 0.3, rule


def test_rk4_leaves_the_group_unless_it_is_repaired():
    suslov = nh.systems.suslov()
    plain = np.abs(np.linalg.norm(lesson.plain_rk4(suslov, 0.2, 200), axis=1) - 1)
    repaired = np.linalg.norm(nh.integrate(suslov, nh.RK4(), h=0.2, steps=200).q, axis=1)
    assert 1e-7 < plain.max() < 1e-4 and np.abs(repaired - 1).max() < 1e-15
