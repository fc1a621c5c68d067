"""Lesson 04: near the border of the polhodes the rules are told apart; what leaves the group."""

import numpy as np
import pytest
from lesson_cells import defined
from prose import prose

import nhlab as nh
from nhlab.course.lessons import lesson_04 as lesson
from nhlab.course.lessons import lesson_04b as depth
from nhlab.view.models import balls, spinning


@pytest.mark.parametrize("rule, axis", [("cayley", "e3"), ("log", "e3"), ("trace", "e1")])
def test_the_panel_opens_where_the_rules_go_round_different_axes(rule, axis):
    panel = defined("04b", "def free_run", "def sphere_panel")["sphere_panel"]()
    panel.set(rule=rule)
    assert f"{axis}, the true one round e1" in panel.readout.value
    panel.set(h=0.4)
    assert "e1, the true one round e1" in panel.readout.value


def test_points_of_the_trace_rule_alone_lie_on_the_true_polhode():
    true = depth.true_polhode(24.4)
    for rule in ("cayley", "log", "trace"):
        p = depth.free_run(rule, 1.2, 24.4, 120.0).p
        off = np.linalg.norm(p[:, None] - true, axis=2).min(1).max()
        assert off < 0.06 if rule == "trace" else off > 0.3, rule


def test_rk4_leaves_the_group_unless_it_is_repaired():
    suslov, shown = nh.systems.suslov(), defined("04b", "def rk4_of_numbers")
    plain = np.abs(np.linalg.norm(shown["rk4_of_numbers"](suslov, 0.2, 200), axis=1) - 1)
    repaired = np.linalg.norm(nh.integrate(suslov, nh.RK4(), h=0.2, steps=200).q, axis=1)
    assert 1e-7 < plain.max() < 1e-4 and np.abs(repaired - 1).max() < 1e-15


def test_suslovs_body_settles_from_all_directions():
    ends = lesson.ends_of_suslov()
    assert len(ends) == 12 and np.ptp(ends, axis=0).max() < 1e-6 and np.linalg.norm(ends[0]) > 0.5


@pytest.mark.parametrize("h, of_the_map", [(0.5, 0.49), (1.5, 1.29), (3, 1.97)])
def test_a_run_of_the_cayley_rule_turns_by_less_than_the_map(h, of_the_map):
    """The momentum is given, not the velocity of the step: w (1 + h^2 w^2/4) = 1 for a ball."""
    ball = nh.systems.rigid_body(1, 1, 1, rule="cayley")
    run = nh.integrate(ball, nh.Variational(), ball.q0, [0, 0, 1], h=h, steps=1)
    w = run.v_step[0, 2]
    assert w * (1 + h**2 * w**2 / 4) == pytest.approx(1, rel=1e-12)
    angle = np.linalg.norm(nh.groups.SO3.log(run.q[1]))
    assert angle == pytest.approx(2 * np.arctan(h * w / 2), rel=1e-12)
    assert (
        2 * np.arctan(h / 2) == pytest.approx(of_the_map, abs=0.005) and angle < of_the_map - 0.02
    )


def test_suslov_has_no_product_of_inertia_in_its_plane():
    """The lesson's two equations of motion hold because I12 = 0, and it says so."""
    suslov = nh.systems.suslov()
    (I1, I12, I13), (_, I2, I23), _ = suslov.M(suslov.q0)
    v = np.array([0.7, -0.4, 0])
    m = I13 * v[0] + I23 * v[1]
    assert I12 == 0
    rates = [-m * v[1] / I1, m * v[0] / I2, 0]
    np.testing.assert_allclose(suslov.acceleration(suslov.q0, v), rates, atol=1e-13)


@pytest.mark.parametrize("kind", lesson.KINDS)
def test_the_bent_ball_that_lesson_04_states_is_that_of_its_prediction(kind):
    """The same L and the same constraint; eps = 0 is a ball and eps = 1 Suslov's body."""
    shown = defined("04", "SO3 = ", "def bent_ball")["bent_ball"](kind, "cayley")
    module, suslov = lesson.bent_ball(kind), nh.systems.suslov()
    rng = np.random.default_rng(3)
    q, v = nh.groups.SO3.exp(rng.uniform(-1, 1, 3)), rng.uniform(-1, 1, 3)
    for eps in (0.0, 0.4, 1.0):
        one, other = shown.set(eps=eps), module.set(eps=eps)
        assert one.energy(q, v) == pytest.approx(other.energy(q, v), rel=1e-14)
        np.testing.assert_allclose(one.A(q), other.A(q), atol=1e-14)
    np.testing.assert_allclose(shown.set(eps=0).M(q), np.eye(3), atol=1e-14)
    np.testing.assert_allclose(shown.set(eps=1).M(q), suslov.M(suslov.q0), atol=1e-14)


def pointing(model, colour: str) -> list[np.ndarray]:
    """The directions, without their sign, in which the parts of one colour reach furthest."""
    parts = [part for _, part in model.parts if part["colour"] == colour and "axis" in part]
    ends = [(part["at"], np.add(part["at"], part["axis"])) for part in parts]
    far = [max(pair, key=np.linalg.norm) for pair in ends]
    return [np.abs(end) / np.linalg.norm(end) for end in far]


def test_the_text_calls_the_axes_by_the_colours_of_the_pictures():
    text, e = prose("04"), np.eye(3)
    systems = nh.systems.rigid_body(), nh.systems.suslov(), nh.systems.ball()
    runs = [nh.integrate(s, nh.Projector(), h=0.1, steps=2) for s in systems]
    draw = spinning.rigid_body, spinning.suslov, balls.geared_ball
    box, suslov, ball = (f(s, [r]) for f, s, r in zip(draw, systems, runs, strict=True))
    shown = [(box, spinning.RED, 0), (box, spinning.GREEN, 1), (box, spinning.BLUE, 2)]
    shown += [(suslov, spinning.GREEN, 1), (suslov, spinning.BLUE, 2)]
    shown += [(ball, balls.RED, 2), (ball, balls.AMBER, 1)]
    for model, colour, axis in shown:
        ways = pointing(model, colour)
        assert ways and np.allclose(ways, e[axis], atol=1e-12)
    assert "its axis $e_1$, the red arrow, $I_2=2$ about $e_2$, green, and $I_3=2.5$ about" in text
    assert "$e_3$ is the blue arrow, and $\\omega_2$, the spin about the green one" in text
    assert "The red knob marks $e_3$, the amber cap $e_2$." in text
