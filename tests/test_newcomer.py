"""Six systems as somebody writes them who has read README and the page on systems of one's own,
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


def body_derivative(q, v):
    """e(q) -> its derivative along the motion, by the chain rule."""
    return lambda e: sum(sp.diff(e, x) * u for x, u in zip(q, v, strict=True))


def racer():
    """A roller racer: two bodies on a hinge, each with an axle, and a motor that swings one."""
    x, y, th, ph, vx, vy, w, u = nh.symbols("x y th ph vx vy w u")
    m, I, J, d1, d2, tau = nh.symbols("m I J d1 d2 tau")
    q, v = (x, y, th, ph), (vx, vy, w, u)
    D = body_derivative(q, v)
    front = x + d1 * sp.cos(th) + d2 * sp.cos(th + ph), y + d1 * sp.sin(th) + d2 * sp.sin(th + ph)
    axles = [
        vy * sp.cos(th) - vx * sp.sin(th),
        D(front[1]) * sp.cos(th + ph) - D(front[0]) * sp.sin(th + ph),
    ]
    L = m * (vx**2 + vy**2) / 2 + I * w**2 / 2 + J * (w + u) ** 2 / 2
    numbers = {"m": 1, "I": 0.1, "J": 0.05, "d1": 0.5, "d2": 0.2}
    return nh.System(q, v, L, axles, parameters=numbers, forces={ph: tau}, name="racer")


def test_the_racer_swings_itself_forward():
    """Without a torque it rests; with one it starts, and has the energy that the motor gave."""
    system, start = racer(), ({"ph": 0.3}, {})
    still = nh.integrate(system, nh.DLA(), *start, h=0.02, T=1, inputs={"tau": 0})
    assert not still.v.any()
    swing = {"tau": lambda t: 0.1 * np.sin(4 * t)}
    sol = nh.integrate(system, nh.RK4(), *start, h=0.02, T=20, inputs=swing)
    assert sol.energy()[-1] > 0.01
    assert sol.energy()[-1] == pytest.approx(sol.work()[-1], rel=1e-5)
    kept = nh.integrate(system, nh.DLA(), *start, h=0.02, T=20, inputs=swing)
    assert np.abs(kept.constraint("midpoints")).max() < 1e-13
    with pytest.raises(ValueError, match=r"^going on with a run needs a value for \['tau'\]"):
        nh.integrate(sol, T=25)
    on = nh.integrate(sol, T=25, inputs=swing)
    np.testing.assert_array_equal(on.q[: len(sol)], sol.q)


def trailer():
    """A cart that rolls on an axle and draws a trailer behind a hinge with a spring."""
    x, y, th, ps, vx, vy, w, u = nh.symbols("x y th ps vx vy w u")
    m, J, mt, Jt, k, d, l = nh.symbols("m J mt Jt k d l")
    q, v = (x, y, th, ps), (vx, vy, w, u)
    D = body_derivative(q, v)
    tx = D(x - d * sp.cos(th) - l * sp.cos(th + ps))
    ty = D(y - d * sp.sin(th) - l * sp.sin(th + ps))
    T = m * (vx**2 + vy**2) / 2 + J * w**2 / 2 + mt * (tx**2 + ty**2) / 2 + Jt * (w + u) ** 2 / 2
    axles = [
        vy * sp.cos(th) - vx * sp.sin(th),
        ty * sp.cos(th + ps) - tx * sp.sin(th + ps),
    ]
    numbers = {"m": 1, "J": 0.1, "mt": 0.5, "Jt": 0.05, "k": 2, "d": 0.1, "l": 0.4}
    return nh.System(q, v, T - k * ps**2 / 2, axles, parameters=numbers, name="trailer")


def test_a_trailer_follows_when_drawn_and_folds_when_pushed():
    """The linear motion at -V is that at V backwards in time; and energy is kept in the large."""
    system = trailer()
    drawn, pushed = (
        np.sort_complex(nh.linearise(system, {}, {"vx": V}).eigenvalues) for V in (1.0, -1.0)
    )
    assert drawn.real.min() < -1e-3 and abs(drawn.real.max()) < 1e-9
    np.testing.assert_allclose(pushed, np.sort_complex(-drawn), atol=1e-9)
    v0 = system.complete({"ps": 0.3}, vx=1, u=0)
    sol = nh.integrate(system, nh.DLA(), {"ps": 0.3}, v0, h=0.01, T=20, events=system.q[3])
    assert np.ptp(sol.energy()) < 1e-3 and abs(sol["ps"][-1]) < 0.3
    np.testing.assert_allclose([sol.at("ps", t) for t in sol.t_events[0]], 0, atol=1e-12)


def ball_on_a_sphere():
    """Outside of a fixed sphere, on which it rolls."""
    lat, lon, vlat, vlon, a, R, g, *w = nh.symbols("lat lon vlat vlon a R g w1 w2 w3")
    pose = nh.symbols("e0:4")
    n = sp.Matrix([sp.sin(lat) * sp.cos(lon), sp.sin(lat) * sp.sin(lon), sp.cos(lat)])
    V = (R + a) * (n.diff(lat) * vlat + n.diff(lon) * vlon)
    spin = sp.Matrix(nh.groups.SO3.entries(pose)) * sp.Matrix(w)
    slip = V - spin.cross(a * n)
    L = sp.simplify(V.dot(V)) / 2 + a**2 * sum(x**2 for x in w) / 5 - g * (R + a) * sp.cos(lat)
    return nh.GroupSystem(
        nh.groups.SO3, (vlat, vlon, *w), L, [slip.dot(n.diff(lat)), slip.dot(n.diff(lon))],
        r=(lat, lon), g=pose, parameters={"a": 0.2, "R": 1, "g": 9.81}, name="ball on a sphere",
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_ball_rolls_down_a_meridian_as_a_heavier_pendulum(method):
    """7/10 of its speed squared is what it fell; it leaves where cos(lat) is 10/17 of the first."""
    system = ball_on_a_sphere()
    lat, vlat, first = system.q[0], system.v[0], 0.1
    leaves = nh.Event(1.2 * vlat**2 - 9.81 * sp.cos(lat), terminal=True)
    errors = []
    for h in (0.02, 0.01):
        sol = nh.integrate(system, method, {"lat": first}, {}, h=h, T=3, events=leaves)
        assert sol.ended_by == 0 and np.abs(sol["lon"]).max() < 1e-12
        errors.append(abs(np.cos(sol.q_events[0][0, 0]) / np.cos(first) - 10 / 17))
    assert np.log2(errors[0] / errors[1]) > method.order - 0.3 and errors[1] < 1e-3
    q, v = sol(1.0)
    np.testing.assert_allclose(
        0.7 * 1.2 * v[0] ** 2, 9.81 * (np.cos(first) - np.cos(q[0])), rtol=1e-2
    )
    with pytest.raises(ValueError, match=r"dependent at q0 = \[0, .*start elsewhere"):
        nh.integrate(system, method, {"lat": 0}, {}, h=0.01, T=1)
