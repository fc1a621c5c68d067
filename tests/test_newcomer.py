"""Three systems as somebody writes them who has read README and the page on systems of one's own,
each against what is known of it in closed form."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh

METHODS = [nh.DLA(), nh.Projector(), nh.RK4()]


def skate():
    """A skate on a tilted plane; x points downhill."""
    x, y, th, vx, vy, w, m, g, beta, J = nh.symbols("x y th vx vy w m g beta J")
    return nh.System(
        q=(x, y, th), v=(vx, vy, w),
        L=m * (vx**2 + vy**2) / 2 + J * w**2 / 2 + m * g * sp.sin(beta) * x,
        constraints=[vx * sp.sin(th) - vy * sp.cos(th)],
        parameters={"m": 2, "g": 9.81, "beta": 0.1, "J": 0.5}, name="skate on a slope",
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_skate_does_not_slide_down(method):
    """From rest but turning it runs along a cycloid: across the slope, and never below a line."""
    w, errors = 2.0, []
    size = 9.81 * np.sin(0.1) / (2 * w**2)
    for h in (0.04, 0.02):
        sol = nh.integrate(skate(), method, {}, {"w": w}, h=h, T=10)
        x = size * np.sin(w * sol.t) ** 2
        y = size * (w * sol.t - np.sin(2 * w * sol.t) / 2)
        errors.append(max(abs(sol["x"] - x).max(), abs(sol["y"] - y).max()))
    slope = np.log2(errors[0] / errors[1])
    assert abs(slope - method.order) < 0.1 and errors[1] < 0.01
    assert sol["x"].max() < 1.01 * size


def test_every_line_of_the_skates_report_is_good():
    found = nh.report(skate(), {}, {"w": 2})
    assert all(line.good is not False for line in found.lines)


def cart():
    """A cart with a motor, friction and a pendulum below it."""
    x, a, vx, va, M, m, l, g, c, u = nh.symbols("x a vx va M m l g c u")
    tip = (vx + l * va * sp.cos(a)) ** 2 + (l * va * sp.sin(a)) ** 2
    return nh.System(
        (x, a), (vx, va), M * vx**2 / 2 + m * tip / 2 + m * g * l * sp.cos(a),
        forces=[u - c * vx, 0], name="cart",
        parameters={"M": 1, "m": 0.2, "l": 0.5, "g": 9.81, "c": 0.1},
    )  # fmt: skip


def test_the_work_of_the_motor_is_what_the_cart_gains():
    system = cart()
    with pytest.raises(ValueError, match=r"needs a value for \['u'\].*inputs="):
        nh.integrate(system, nh.DLA(), {}, {}, h=0.01, T=5)
    push = {"u": lambda t: np.sin(3 * t)}
    sol = nh.integrate(system, nh.RK4(), {}, {}, h=0.01, T=5, inputs=push)
    assert abs(sol.energy()[-1] - sol.energy()[0] - sol.work()[-1]) < 1e-6 < sol.work()[-1]


def test_a_feedback_brings_the_cart_home_and_events_tell_when():
    system = cart()
    x, vx = system.q[0], system.v[0]
    law = {"u": -3 * x - 2 * vx}
    sol = nh.integrate(system, nh.DLA(), {"x": 1, "a": 0.2}, {}, h=0.01, T=20, inputs=law, events=x)
    assert abs(sol["x"][-1]) < 1e-2 and len(sol.t_events[0]) > 1
    np.testing.assert_allclose([sol.at("x", t) for t in sol.t_events[0]], 0, atol=1e-12)
    again = nh.integrate(sol, T=25)
    assert len(again.t_events[0]) > len(sol.t_events[0])
    assert np.linalg.eigvals(nh.linearise(sol.system, {}, {}).A).real.max() < 0


def coin():
    """An upright coin that rolls and turns."""
    x, y, th, ph, vx, vy, vth, vph, m, R, I, J = nh.symbols("x y th ph vx vy vth vph m R I J")
    rolls = [vx - R * vph * sp.cos(th), vy - R * vph * sp.sin(th)]
    L = m * (vx**2 + vy**2) / 2 + J * vth**2 / 2 + I * vph**2 / 2
    numbers = {"m": 1, "R": 0.5, "I": 0.125, "J": 0.0625}
    fields = [{x: R * sp.cos(th), y: R * sp.sin(th), ph: 1}, {th: 1}]
    q, v = (x, y, th, ph), (vx, vy, vth, vph)
    by_forms = nh.System(q, v, L, rolls, parameters=numbers, name="coin")
    return by_forms, nh.System(q, v, L, fields=fields, parameters=numbers, name="coin by fields")


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_coin_rolls_in_a_circle(method):
    by_forms, by_fields = coin()
    with pytest.raises(ValueError, match=r"violates the constraints.*system\.complete"):
        nh.integrate(by_forms, method, {}, {"vph": 2, "vth": 1}, h=0.05, T=10)
    v0 = by_forms.complete({}, vph=2, vth=1)
    sol = nh.integrate(by_forms, method, {}, v0, h=0.05, T=10)
    circle = np.stack([np.sin(sol.t), 1 - np.cos(sol.t)], -1)
    np.testing.assert_allclose(sol.q[:, :2], circle, atol=2e-3)
    same = nh.integrate(by_fields, method, {}, u0=[2, 1], h=0.05, T=10)
    kept = 1e-11 if method.discrete else 1e-6  # RK4 leaves the constraints, each way its own
    np.testing.assert_allclose(same.q, sol.q, atol=kept)


def test_what_the_library_finds_out_about_the_coin():
    by_forms, _ = coin()
    assert nh.is_reversible(by_forms) and not by_forms.is_holonomic()
    assert nh.invariant_measure(nh.Chaplygin(by_forms, fibre="x y"))
    assert nh.growth_vector(by_forms) == [2, 3, 4]
