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
    odd = gear.replace(L=gear.L - sp.Rational(1, 5) * g(gear.q[1]))
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


@pytest.mark.slow
@pytest.mark.parametrize("case", depth.CASES, ids=lambda case: case.name)
def test_drift_follows_the_mirror_image_in_every_case_of_the_table(case):
    """Half as many steps as in the table; the chaotic quartic has neither a mirror nor a drift that
    is a straight line."""
    gained, band = depth.drifts(case, steps=10_000).T
    ratio = np.median(np.abs(gained) / band)
    assert (depth.mirror_gap(case) < 0.2) == (ratio < 0.02)
    assert ratio < 0.002 or ratio > 0.1


@pytest.mark.parametrize("name", ["particle", "sleigh", "robot", "snakeboard"])
@pytest.mark.parametrize("method", [nh.Projector(), nh.Projector(0.3), nh.Projector(0, True)])
def test_determinant_of_a_projector_step(name, method):
    s = getattr(nh.systems, name)()
    q = np.array(s.q0, float) + 0.1
    p = s.momentum(q, s.project(q, s.v0)) + 0.1
    tangent = depth.step_tangent(s, method, q, p, h=0.1)
    assert np.linalg.det(tangent) == pytest.approx((-1) ** s.m, abs=1e-8)


def rates(system, q, v, h, spin=0.0):
    """log |eigenvalue| / h of a projector step from a steady motion: of the directions within D and
    of those across it, in their order of size.

    spin : the motion turns the plane of x, y at this rate, and the step is taken back by as much
    """
    q, v, n = np.array(q, float), np.array(v, float), len(q)
    T = depth.step_tangent(system, nh.Projector(), q, system.momentum(q, v), h, d=1e-5)
    c, s = np.cos(spin * h), np.sin(spin * h)
    for k in (0, n):
        T[[k, k + 1]] = [[c, s], [-s, c]] @ T[[k, k + 1]]
    values = np.linalg.eigvals(T)
    across = np.argsort(np.abs(values + 1))[: system.m]  # they change their sign in each step
    within = np.delete(values, across)
    return [np.sort(np.log(np.abs(x))) / h for x in (within, values[across])]


def growth_of_the_slip(system, q, v, h, t):
    """The rate at which |A v| grows in a run of the projector method, between two times."""
    q = np.array(q, float)
    sol = nh.integrate(system, nh.Projector(), q, system.project(q, v), h=h, T=t[1], progress=False)
    size, use = np.linalg.norm(sol.constraint(), axis=1), sol.t > t[0]
    return np.polyfit(sol.t[use], np.log(size[use]), 1)[0]


def numbers(text):
    """The numbers that the companion says by a sentence."""
    return [float(x) for x in re.search(text, prose("11b")).groups()]


def test_a_racer_that_settles_has_a_zigzag_that_grows():
    racer = nh.systems.roller_racer()
    within, across = rates(racer, [0, 0, 0, 0], [1, 0, 0, 0], h=0.1)
    settles, zigzag = numbers(r"roller racer.*?rates ([\d.]+), twice.*?at the rate ([\d.]*\d)")
    assert within[:2] == pytest.approx(-settles, abs=1e-3) and np.abs(within[2:]).max() < 1e-4
    assert across == pytest.approx([0, zigzag], abs=1e-3)
    found = growth_of_the_slip(racer, [0, 0, 0, 1e-4], [1, 0, 0, 0], h=0.1, t=(8, 14))
    assert found == pytest.approx(zigzag, abs=2e-3)


def test_a_rattleback_that_settles_has_two():
    """Spun as it likes; the other way round D gains volume, and the zigzag dies out."""
    stone, place = nh.systems.rattleback(), np.zeros(5)
    within, across = rates(stone, place, [0, 0, 5, 0, 0], h=0.0025, spin=5)
    rattle, pitch, zigzag = numbers(
        r"shrink by ([\d.]+) and two that grow by ([\d.]+).*?grow at ([\d.]*\d)"
    )
    assert within[:2] == pytest.approx(-rattle, abs=5e-3)
    assert within[-2:] == pytest.approx(pitch, abs=5e-3)
    assert across == pytest.approx(zigzag, abs=5e-3) and within.sum() + across.sum() < 1e-6
    start = [0, 0, 0, 1e-6, 1e-6], [0, 0, 5, 0, 0]
    assert growth_of_the_slip(stone, *start, h=0.0025, t=(2, 6)) == pytest.approx(zigzag, rel=0.03)
    other = rates(stone, place, [0, 0, -5, 0, 0], h=0.0025, spin=-5)
    assert other[1] == pytest.approx(-zigzag, abs=5e-3)


def test_a_snakeboard_that_settles_to_nothing_has_none():
    """Straight ahead no direction within D shrinks, and across D none grows."""
    within, across = rates(nh.systems.snakeboard(), [0] * 5, [1, 0, 0, 0, 0], h=0.1)
    assert np.abs(within).max() < 1e-4 and np.abs(across).max() < 1e-4
