"""Lesson 09: the disc whose constraint is put into L, what counts as kept, and rolling wheels."""

import numpy as np
import pytest
from sympy import cos, sin

import nhlab as nh
from nhlab.course.exercises import check
from nhlab.course.lessons import lesson_09 as lesson

vx, vy, vtheta, vpsi, theta, b, R = nh.symbols("vx vy vtheta vpsi theta b R")
AHEAD = vx * cos(theta) + vy * sin(theta)


@pytest.mark.parametrize("lean, turn, rise, roll", [(0.4, 0.75, -0.2, 1), (-0.3, 0.5, 0.6, 2)])
def test_both_results_for_the_disc_are_those_of_sympy(lean, turn, rise, roll):
    """Kane's method is the oracle of the true one, the documentation's example of the other."""
    disc, q, v = lesson.disc(), np.array([0.2, lean, 0, 0, 0]), np.array([turn, rise, roll, 0, 0])
    v[3:] = roll * np.array([np.cos(0.2), np.sin(0.2)])
    found = lesson.sympys_disc(q[:3], v[:3])
    true, wrong = disc.acceleration(q, v), lesson.put_in(disc).acceleration(q[:3], v[:3])
    assert true[0] == pytest.approx(found["KanesMethod"], rel=1e-12)
    assert wrong[0] == pytest.approx(found["LagrangesMethod"], rel=1e-12)
    assert true[0] == pytest.approx(-2 * rise * roll / np.cos(lean), rel=1e-12)
    slip = -rise * (6 * roll + 4 * turn * np.sin(lean)) / np.cos(lean)
    assert wrong[0] == pytest.approx(slip, rel=1e-12)


def test_only_the_oscillator_of_odelab_is_integrable():
    quartic, odelab = lesson.oscillators()
    assert not quartic.is_holonomic() and odelab.is_holonomic()
    assert lesson.growth_vector(odelab) == [6] and lesson.growth_vector(quartic) == [6, 7]


@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e9])
def test_energy_is_kept_relative_to_its_size(mass):
    x, v = nh.symbols("x v")
    system = nh.System((x,), (v,), mass * (v**2 - x**2) / 2, q0=[10], v0=[0])
    runs = {m: nh.integrate(system, m, h=0.1, steps=100) for m in (nh.Reference(), nh.RK4())}
    assert lesson.kept(runs[nh.Reference()])[0] and not lesson.kept(runs[nh.RK4()])[0]


def test_the_constraint_is_kept_relative_to_the_velocities():
    fast = nh.integrate(lesson.cart(k=1e6), nh.Reference(), h=1e-3, steps=100)
    assert lesson.kept(fast)[1]
    assert not lesson.kept(nh.integrate(lesson.cart(), nh.DLA(), h=0.05, steps=100))[1]


def test_two_rolling_wheels_know_the_heading():
    system, four = lesson.pair()
    q = nh.integrate(system, nh.Reference(), h=0.1, steps=50).q
    assert np.allclose(0.3 * (q[:, 4] - q[:, 3]), q[:, 2]) and np.ptp(q[:, 2]) > 1
    with pytest.raises(ValueError, match="dependent"):
        nh.System(system.q, system.v, system.L, four, parameters=system.parameters)


@pytest.mark.parametrize(
    "answer, said",
    [
        (AHEAD - b * vtheta - R * vpsi, "Right."),
        (3 * R * vpsi - 3 * AHEAD + 3 * b * vtheta, "Right."),
        (AHEAD - R * vpsi, "b to the left"),
        (AHEAD + b * vtheta - R * vpsi, "right-hand side"),
        (AHEAD - b * vtheta + R * vpsi, "backwards"),
        (-vx * sin(theta) + vy * cos(theta), "sideways"),
        (AHEAD**2 - R * vpsi, "not linear in vx, vy, vtheta, vpsi"),
        (AHEAD - nh.symbols("c") * vpsi, "write one expression in"),
    ],
    ids="right scaled middle right_wheel sign sideways square unknown".split(),
)
def test_the_rolling_wheel_of_exercise_6(answer, said):
    assert said.lower() in str(check("09.6", answer)).lower()


def test_where_the_wheels_of_the_car_allow_a_move_of_the_plane():
    """Only where tan(phi)/l = sin(theta - psi)/d; the trailer that swings in ends there."""
    car, rng = nh.systems.car_with_trailer(), np.random.default_rng(1)
    l, d = (next(x for s, x in car.parameters.items() if s.name == name) for name in "ld")
    for _ in range(20):
        x, y, theta, phi, psi = q = rng.uniform(-0.5, 0.5, 5)
        assert lesson.plane_moves(car, q) == 0
        q[4] = theta - np.arcsin(d * np.tan(phi) / l)
        assert lesson.plane_moves(car, q) == 1
        ahead = [np.cos(theta), np.sin(theta), np.tan(phi) / l, 0, np.tan(phi) / l]
        np.testing.assert_allclose(car.A(q) @ ahead, 0, atol=1e-12)  # one rigid move
    start = [0, 0, 0, 0, 0.2], [1, 0, 0, 0, -np.sin(0.2) / d]
    end = nh.integrate(car, nh.Reference(), *start, h=40, steps=1).q[-1]
    assert lesson.plane_moves(car, start[0]) == 0 and lesson.plane_moves(car, end) == 1


def test_nonholonomic_systems_that_do_not_reach_every_place():
    """The two that the page on notation names: not integrable, and yet a function is constant."""
    cart, (pair, _) = lesson.cart(), lesson.pair()
    rows = [*cart.constraints, cart.v[3]]
    locked = nh.System(cart.q, cart.v, cart.L, rows, parameters=cart.parameters)
    for system, growth in ((locked, [2, 3]), (pair, [2, 3, 4]), (cart, [3, 4])):
        assert not system.is_holonomic() and lesson.growth_vector(system) == growth
    assert (len(locked.q), len(pair.q), len(cart.q)) == (4, 5, 4)
