"""Lesson 09: the disc whose constraint is put into L, rolling wheels, and moves of the plane."""

import numpy as np
import pytest
from lesson_cells import defined
from sympy import cos, sin

import nhlab as nh
from nhlab.course.exercises import check
from nhlab.course.lessons import lesson_09, lesson_09b

vx, vy, vtheta, vpsi, theta, b, R = nh.symbols("vx vy vtheta vpsi theta b R")
SHOWN = defined("09b", "put_in = nh.System", "def plane_moves", "def sympys_disc")
AHEAD = vx * cos(theta) + vy * sin(theta)


@pytest.mark.parametrize("lean, turn, rise, roll", [(0.4, 0.75, -0.2, 1), (-0.3, 0.5, 0.6, 2)])
def test_both_results_for_the_disc_are_those_of_sympy(lean, turn, rise, roll):
    """Kane's method is the oracle of the true one, the documentation's example of the other."""
    disc, q, v = (
        SHOWN["disc"],
        np.array([0.2, lean, 0, 0, 0]),
        np.array([turn, rise, roll, 0, 0]),
    )
    v[3:] = roll * np.array([np.cos(0.2), np.sin(0.2)])
    found = SHOWN["sympys_disc"](q[:3], v[:3])
    true, wrong = disc.acceleration(q, v), SHOWN["put_in"].acceleration(q[:3], v[:3])
    assert true[0] == pytest.approx(found["KanesMethod"], rel=1e-12)
    assert wrong[0] == pytest.approx(found["LagrangesMethod"], rel=1e-12)
    assert true[0] == pytest.approx(-2 * rise * roll / np.cos(lean), rel=1e-12)
    slip = -rise * (6 * roll + 4 * turn * np.sin(lean)) / np.cos(lean)
    assert wrong[0] == pytest.approx(slip, rel=1e-12)


def test_the_disc_that_09b_states_is_that_of_its_prediction():
    """With multipliers and with the constraint put into L."""
    disc = lesson_09b.disc()
    for module, name in ((disc, "disc"), (lesson_09b.put_in(disc), "put_in")):
        shown, rng = SHOWN[name], np.random.default_rng(2)
        q, v = rng.uniform(0.1, 0.5, (2, len(module.q)))
        v = module.project(q, v) if module.constraints else v
        np.testing.assert_allclose(shown.acceleration(q, v), module.acceleration(q, v), rtol=1e-12)
        assert shown.energy(q, v) == pytest.approx(module.energy(q, v), rel=1e-12)


def test_two_rolling_wheels_know_the_heading():
    system, four = lesson_09.pair()
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
def test_the_rolling_wheel_of_exercise_4(answer, said):
    assert said.lower() in str(check("09.4", answer)).lower()


def test_where_the_wheels_of_the_car_allow_a_move_of_the_plane():
    """Only where tan(phi)/l = sin(theta - psi)/d; the trailer that swings in ends there."""
    car, rng = nh.systems.car_with_trailer(), np.random.default_rng(1)
    l, d = (next(x for s, x in car.parameters.items() if s.name == name) for name in "ld")
    for _ in range(20):
        x, y, theta, phi, psi = q = rng.uniform(-0.5, 0.5, 5)
        assert SHOWN["plane_moves"](car, q) == 0
        q[4] = theta - np.arcsin(d * np.tan(phi) / l)
        assert SHOWN["plane_moves"](car, q) == 1
        ahead = [np.cos(theta), np.sin(theta), np.tan(phi) / l, 0, np.tan(phi) / l]
        np.testing.assert_allclose(car.A(q) @ ahead, 0, atol=1e-12)  # one rigid move
    start = [0, 0, 0, 0, 0.2], [1, 0, 0, 0, -np.sin(0.2) / d]
    end = nh.integrate(car, nh.Reference(), *start, h=40, steps=1).q[-1]
    assert SHOWN["plane_moves"](car, start[0]) == 0 and SHOWN["plane_moves"](car, end) == 1


def test_the_ride_of_the_snakeboard_ends_by_constraints_and_passes_by_fields():
    """At node 20 the axles have made a quarter turn; a step that misses the place jumps over it."""
    board, u0 = nh.systems.snakeboard(), [0, np.pi / 4, 1]
    fields, start = board.by_fields(), {"q0": np.zeros(5), "h": 0.1, "steps": 40}
    ride = nh.integrate(fields, nh.DLA(), u0=u0, **start)
    with pytest.raises(nh.IntegrationError, match="forms become dependent") as stopped:
        nh.integrate(board, nh.DLA(), v0=fields.X(start["q0"]) @ u0, **start)
    part = stopped.value.trajectory
    assert len(part) == 21 and np.allclose(part.q, ride.q[:21], atol=1e-12)
    start["q0"] = [0, 0, 0, 0, 1e-6]
    over = nh.integrate(board, nh.DLA(), v0=fields.X(start["q0"]) @ u0, **start)
    by_fields = nh.integrate(fields, nh.DLA(), u0=u0, **start)
    assert np.allclose(over.q, by_fields.q, atol=1e-12)


CAR = nh.symbols("x y theta phi psi l d")


def fields_of_the_car(rear=1.0, front=1.0, trailer=1.0, steer=1):
    """The fields of the car with a trailer; factors other than 1 make one axle slip."""
    x, y, theta, phi, psi, l, d = CAR
    u = l * cos(phi)
    drive = {x: u * cos(theta), y: rear * u * sin(theta), theta: front * sin(phi)}
    return [{phi: steer}, drive | {psi: trailer * u * sin(theta - psi) / d}]


@pytest.mark.parametrize(
    "answer, said",
    [
        (fields_of_the_car(), "Right."),
        (fields_of_the_car()[::-1], "Right."),
        (fields_of_the_car(steer=CAR[2]), "Right."),
        (fields_of_the_car(rear=0.5), "rear axle slips"),
        (fields_of_the_car(front=2), "front wheels slip"),
        (fields_of_the_car(trailer=-1), "trailer's wheels slip"),
        (fields_of_the_car()[:1], "give a list of two fields"),
        (fields_of_the_car()[0], "give a list of two fields"),
        ([{CAR[3]: 1}, {CAR[3]: 2}], "dependent"),
        ([{CAR[3]: 1}, {"z": 1}], "no coordinate"),
    ],
    ids="right order factor rear front trailer one dict dependent unknown".split(),
)
def test_the_fields_of_exercise_3_in_depth(answer, said):
    assert said in str(check("09b.3", answer))
