"""Lesson 11 and its companion: the numbers and claims of the text."""

import re

import numpy as np
import pytest
import sympy as sp
from prose import prose

import nhlab as nh
from nhlab.course.lessons import lesson_11 as lesson
from nhlab.course.lessons import lesson_11b as depth


def rate_with(g, T=6000.0, h=0.2):
    """The rate of the swing's logarithm by DLA with the potential 0.2 g(y)."""
    gear = nh.systems.transmission(eps=0.0)
    odd = gear.remade(L=gear.L - sp.Rational(1, 5) * g(gear.q[1]))
    sol = nh.integrate(odd, nh.DLA(), v0=(0, 2.5, 0.3), h=h, steps=round(T / h), every=5)
    return np.polyfit(sol.t, np.log(lesson.swing(sol)), 1)[0]


def test_odd_functions_change_the_swing_and_even_ones_do_not():
    falls, grows = rate_with(lambda y: sp.sin(2 * y)), rate_with(sp.sin)
    said = int(re.search(r"the rate is (\d+) times smaller", prose("11"))[1])
    assert falls < 0 < grows
    assert -falls / grows == pytest.approx(said, rel=0.05)
    assert abs(rate_with(lambda y: sp.cos(2 * y))) < 1e-3 * -falls


def test_the_rate_is_of_order_eps_h_squared():
    assert lesson.decay(0.1) / lesson.decay(0.05) == pytest.approx(4, rel=0.05)
    assert lesson.decay(0.1) / lesson.decay(0.1, eps=0.1) == pytest.approx(2, rel=0.05)
    assert lesson.decay(0.1) == pytest.approx(-lesson.decay(0.1, speed=-2.5), rel=0.05)


def test_the_projector_keeps_the_swing_of_linear_springs_to_rounding():
    sol = nh.integrate(nh.systems.transmission(), nh.Projector(), h=0.2, steps=2000)
    assert np.ptp(lesson.swing(sol)[1:]) < 1e-12


def test_drift_follows_the_mirror_image():
    """A part of the companion's table."""
    for case in depth.CASES[5:7]:
        gained, band = depth.drifts(case, steps=10_000).T
        ratio = np.median(np.abs(gained) / band)
        assert (depth.mirror_gap(case) < 0.2) == (ratio < 0.02), case.name
        assert ratio < 0.02 or ratio > 0.2, case.name


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot", "snakeboard"])
@pytest.mark.parametrize("method", [nh.Projector(), nh.Projector(0.3), nh.Projector(0, True)])
def test_determinant_of_a_projector_step(name, method):
    s = getattr(nh.systems, name)()
    q = np.array(s.q0, float) + 0.1
    p = s.momentum(q, s.project(q, s.v0)) + 0.1
    tangent = depth.step_tangent(s, method, q, p, h=0.1)
    assert np.linalg.det(tangent) == pytest.approx((-1) ** s.m, abs=1e-8)


def test_exact_pairs_miss_by_the_order_of_the_rule():
    hs = np.array([0.1, 0.05, 0.025])
    for (alpha, symmetric), order in {(0.5, False): 2, (0.3, False): 1, (0.3, True): 2}.items():
        size = depth.pair_residuals(nh.systems.sleigh(), alpha, hs, symmetric)
        assert np.polyfit(np.log(hs), np.log(size), 1)[0] == pytest.approx(order, abs=0.1)
