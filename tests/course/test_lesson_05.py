"""Lesson 05: the step that the reader writes, and what is said about the usual mistakes."""

import numpy as np
import pytest
from prose import prose
from scipy.integrate import quad
from scipy.optimize import minimize_scalar, root

import nhlab as nh
from nhlab.course.exercises import SOLUTIONS, check, section
from nhlab.course.lessons import lesson_05 as lesson
from nhlab.course.lessons import lesson_05b as depth


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
    assert check("05.1", written()).right
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
    verdict = check("05.1", written(**wrong))
    assert not verdict.right and said in verdict.text


def test_a_step_of_fixed_size_and_a_step_that_does_nothing_are_told_apart():
    run = lesson.swing()
    ends = {round(q, 9): q2 for q, q2 in zip(run.q[1:-1, 0], run.q[2:, 0], strict=True)}
    assert "h2 is always h1" in check("05.1", lambda q, p, h, e: (ends.get(round(q, 9), 0), h)).text
    assert "two numbers" in check("05.1", lambda q, p, h, e: q).text
    assert "the library has" in check("05.1", lambda q, p, h, e: (q, 2 * h)).text


def test_an_open_gap_is_pointed_at():
    def equations(x):
        q2, h2 = x
        return q2 - ..., h2

    for guess in (..., (1.0, 0.2)):
        verdict = check("05.1", lambda q, p, h, e, guess=guess: root(equations, guess).x)
        assert "gaps" in verdict.text


def test_the_steering_rate_is_positive():
    assert check("05.4", np.sqrt(10)).right
    assert "omega > 0" in check("05.4", -np.sqrt(10)).text


def test_a_picture_without_a_step_shows_the_library_alone():
    for unfinished in (..., lambda q, p, h, e: q + ...):
        assert "yours" not in lesson.own_steps(unfinished).alt
    assert "yours" in lesson.own_steps(written()).alt


# ---------------------------------------------------------------------------- what the text says


def test_a_kick_leaves_the_momentum_of_rolling_as_it_was():
    """The robot's c is derived from this: p . d with d = (R cos theta, R sin theta, 0, 1)."""
    run = nh.integrate(nh.systems.robot(), nh.DLA(), h=0.1, steps=50)
    theta = run.q[1:-1, 2]
    rolling = np.stack([np.cos(theta), np.sin(theta), 0 * theta, 1 + 0 * theta], 1)  # R = 1
    arrives, leaves = run.p[1:-1], run.p_minus[1:]
    assert np.abs(((arrives - leaves) * rolling).sum(1)).max() < 1e-12
    assert np.abs(arrives - leaves).max() > 0.1  # there is a kick
    assert "no part along the velocities that $A$ allows" in prose("05")


def test_a_run_stops_before_c_changes_its_sign_and_the_step_back_is_left():
    """The robot over the top: c has fallen but kept its sign, the level e lies on the side to which
    the parabola opens, and yet no h > 0 has the energy e, because the curve bends back."""
    robot = nh.systems.robot()
    with pytest.raises(nh.IntegrationError) as stop:
        nh.integrate(robot, nh.EDLA(), [0, 0, 0, np.pi / 2], [6, 0, 1, 6], h=0.1, steps=100)
    run = stop.value.trajectory
    p, h, e = run.p[-1], run.h[-1], run.energy("midpoints")[0]
    v = robot.project(run.q, robot.velocity(run.q, run.p))
    c, missing = lesson.excess(robot, run.q, v), e - robot.energy(run.q, v)
    assert 0 < c[-1] < 0.3 * c[0] and (missing > 0).all() and run.h[1] > run.h[0]
    sizes = np.linspace(1e-3, 0.5, 500)
    gap = lesson.energy_of_step(robot, run.q[-1], p, sizes) - e
    assert (gap < 0).all() and 0 < gap.argmax() < 400  # it rises and bends back
    back = lesson.energy_of_step(robot, run.q[-1], p, h * np.array([-1.05, -1, -0.95])) - e
    assert back[0] > 0 > back[2] and abs(back[1]) < 1e-8
    assert "back before it comes to $e$, and only the reversed root is left" in prose("05")


def test_from_the_bottom_the_steering_rate_decides_for_slow_wheels():
    done = {}
    for omega in (3.1, 3.2):
        start = lesson.starts(np.full(3, -np.pi / 2), np.array([1.0, 2.0, 3.0]), omega)
        run = {"h": 0.1, "steps": 200, "backend": "numpy"}
        done[omega] = nh.ensemble(nh.systems.robot(), nh.EDLA(), *start, **run).steps_done
    assert (done[3.1][:2] == 200).all() and done[3.2].max() < 200
    assert done[3.1][2] < 200  # which the text excepts
    assert "with psi' = 1 or 2 and h = 0.1" in section(SOLUTIONS, "05.4")


def test_a_shift_of_the_times_changes_the_action_by_the_energy():
    """Lesson 05: L dt changes by -E d(delta t), here for a path of the pendulum, q = sin t."""
    t = np.linspace(0, 2, 20001)
    q, shift = np.sin(t), 1e-5 * t * (2 - t)  # which vanishes at both ends

    def action(times: np.ndarray) -> float:
        dt, dq = np.diff(times), np.diff(q)
        return np.sum(((dq / dt) ** 2 / 2 + np.cos((q[1:] + q[:-1]) / 2)) * dt)

    change = (action(t + shift) - action(t - shift)) / 2
    energy = np.cos(t) ** 2 / 2 - np.cos(q)
    middle = (energy[1:] + energy[:-1]) / 2
    assert change == pytest.approx(-np.sum(middle * np.diff(shift)), rel=1e-5)
    assert abs(change) > 1e-7


# ---------------------------------------------------------------------------- Theorem 1 with turns

START, J = np.array([1.0, 0.5]), 0.8


def area(step, x=START, d=1e-4) -> float:
    """The factor by which a map of (r, p_r) changes areas."""
    return np.linalg.det([(step(x + e) - step(x - e)) / (2 * d) for e in d * np.eye(2)])


@pytest.mark.ledger("C03-T1b")
def test_momentum_form_and_energy_leave_the_exact_motion_of_the_reduced_system():
    """The ball in the bowl, reduced by its turns to (r, p_r): a step that keeps J has there an area
    and an energy, and both together leave the exact motion."""
    ball = depth.bowl()
    q, v = np.array([1.0, 0.0]), np.array([0.5, J])
    E = float(ball.energy(q, v))
    sol = nh.integrate(ball, nh.Variational(), q, v, h=0.2, steps=1)
    assert abs(depth.radial(sol.q[1], sol.p[1])[2] - J) < 1e-15  # J is kept

    variational, repaired = (lambda x, r=r: depth.radial_step(x, J, r) for r in (False, True))
    after = [s(START) for s in (variational, repaired)]
    misses = [abs(p - depth.radial_momentum(r, J, E)) for r, p in after]
    assert abs(area(variational) - 1) < 1e-7 and misses[0] > 1e-3
    assert abs(area(repaired) - 1) > 1e-3 and misses[1] < 1e-14

    def clock(r: float) -> float:
        """The time that the repaired step from (r, p_r) on the curve takes on the exact motion."""
        end = repaired([r, depth.radial_momentum(r, J, E)])[0]
        return quad(lambda u: 1 / depth.radial_momentum(u, J, E), r, end, epsabs=1e-13)[0]

    rate = (clock(1.001) - clock(0.999)) / 0.002 * depth.radial_momentum(1, J, E)
    assert area(repaired) - 1 == pytest.approx(rate, rel=1e-3)


@pytest.mark.ledger("C03-T1b")
def test_in_full_space_a_turn_by_a_function_of_J_is_left_free():
    """Exact motion and then a turn by 0.3 J keeps energy, J and the symplectic form and commutes
    with turns.  Its (r, p_r) is exact, and its place in the plane is not: Theorem 1 is about the
    reduced space."""
    ball, h = depth.bowl(), 0.2

    def flow(x: np.ndarray, t: float = h) -> np.ndarray:
        sol = nh.integrate(ball, nh.Reference(1e-13), x[:2], x[2:], h=t, steps=1)
        return np.concatenate([sol.q[1], sol.v[1]])

    def turn(x: np.ndarray, angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return np.kron(np.eye(2), [[c, -s], [s, c]]) @ x

    def step(x: np.ndarray) -> np.ndarray:
        x = flow(x)
        return turn(x, 0.3 * (x[0] * x[3] - x[1] * x[2]))

    x, d = np.array([1.0, 0.2, 0.5, 0.8]), 1e-4
    D = np.array([(step(x + e) - step(x - e)) / (2 * d) for e in d * np.eye(4)]).T
    assert nh.diagnostics.symplectic_defect(D) < 1e-6
    ends = {s: s(x) for s in (flow, step)}
    reduced = [depth.radial(end[:2], end[2:]) for end in ends.values()]
    assert np.allclose(*reduced, atol=1e-12)
    assert np.isclose(ball.energy(ends[step][:2], ends[step][2:]), ball.energy(x[:2], x[2:]))
    assert np.allclose(step(turn(x, 1.1)), turn(step(x), 1.1), atol=1e-10)

    def distance(t: float) -> float:
        return np.abs(flow(x, t)[:2] - ends[step][:2]).max()

    assert minimize_scalar(distance, bounds=(0.01, 1), method="bounded").fun > 0.05
