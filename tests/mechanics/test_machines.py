"""The machines, with the numbers of their sources or of a second derivation; that they are well
posed is tested with the catalogue."""

import inspect
from functools import cache

import numpy as np
import pytest
import sympy as sp
from large import bicycle as bicycle_by_positions
from scipy.integrate import solve_ivp

import nhlab as nh
from nhlab.mechanics.catalogue import machines

SMALL = sorted(machines.keys() - {"ball_on_turntable", "bicycle", "rattleback"})
START = {"speed", "push", "spin", "lean", "turn", "steer", "u", "w"}  # of the start alone


@pytest.fixture(scope="module")
def make():
    """The machines with their default parameters, made once."""
    return cache(lambda name: machines[name]())


def true_motion(system, T, steps=200, **start):
    return nh.integrate(system, nh.Reference(), **start, h=T / steps, steps=steps, progress=False)


def test_formulas_longer_than_a_board_are_not_displayed(make):
    assert make("bicycle")._repr_latex_() is None
    rows = make("segway")._repr_latex_()
    assert rows.count("&=") == 1 + 3 and rows.count(" = 0") == 3


def test_long_rows_are_broken_and_parameters_written_as_on_a_board(make):
    rows = make("car_with_trailer")._repr_latex_().split(r" \\ ")
    assert rows[0].endswith("{2}}") and rows[1].startswith(r"&\quad + \frac{m_{t} \left(")
    assert r"I_{t} \dot{\psi}^{2}" in rows[0] and len(rows) == 2 + 3
    assert r"\varepsilon \sin" in nh.systems.transmission()._repr_latex_()


@pytest.mark.parametrize("name", SMALL)
def test_every_parameter_counts_and_the_docstring_says_which_move_the_start(make, name):
    s, text = make(name), " ".join(machines[name].__doc__.split()).replace(",", "")
    for parameter in inspect.signature(machines[name]).parameters:
        if parameter in START and parameter not in {x.name for x in s.parameters}:
            moved = machines[name](**{parameter: 0.4})
            assert moved == s and (moved.q0, moved.v0) != (s.q0, s.v0)
            continue
        by_keyword, by_set = machines[name](**{parameter: 0.7}), s.set(**{parameter: 0.7})
        assert by_keyword == by_set != s
        v0 = np.array(by_keyword.v0, float)
        assert np.abs(by_keyword.constraint(by_keyword.q0, v0)).max() < 1e-14
        if by_keyword.v0 != s.v0:
            assert "depends on" in text
            assert parameter in text.split("depends on")[1] or "all parameters" in text


# ---------------------------------------------------------------------------- in the plane


def test_two_wheeled_robot_is_the_sleigh_with_another_mass_and_inertia(make):
    s = make("two_wheeled_robot")
    m, I, a, M, J, K, R, d = (s.parameters[nh.symbols(k)] for k in "m I a M J K R d".split())
    mass = m + 2 * M + 2 * J / R**2
    inertia = I + m * a**2 + 2 * K + M * d**2 / 2 + J * d**2 / (2 * R**2)
    lever = m * a / mass
    sleigh = nh.systems.sleigh(m=mass, I=inertia - mass * lever**2, a=lever)
    sleigh.v0 = s.v0[:3]
    sol = true_motion(s, 20)
    np.testing.assert_allclose(sol.q[:, :3], sleigh.exact(sol.t), atol=1e-9)
    wheels = np.array([[-d / 2], [d / 2]]) * sol.v[:, 2]
    u = sol.v[:, 0] * np.cos(sol.q[:, 2]) + sol.v[:, 1] * np.sin(sol.q[:, 2])
    np.testing.assert_allclose(sol.v[:, 3:].T, (u + wheels) / R, atol=1e-9)
    assert u[0] == -1 and u[-1] > 0.9  # it has turned round


def test_car_with_trailer_by_kinematics_and_energy_alone(make):
    s = make("car_with_trailer")
    m, I, J, k, l, d, mt, It = (s.parameters[nh.symbols(x)] for x in "m I J k l d mt It".split())

    def inertia(phi, b):
        turn = I * (np.tan(phi) / l) ** 2 + It * (np.sin(b) / d) ** 2
        return m + turn + mt * np.cos(b) ** 2

    def by_hand(t, z):
        _, _, theta, psi = z
        phi, b = 0.5 * np.cos(np.sqrt(k / J) * t), theta - psi
        u = np.sqrt(inertia(0.5, 0) / inertia(phi, b))
        return u * np.array([np.cos(theta), np.sin(theta), np.tan(phi) / l, np.sin(b) / d])

    sol = true_motion(s, 10)
    hand = solve_ivp(by_hand, (0, 10), np.zeros(4), t_eval=sol.t, rtol=1e-11, atol=1e-11).y.T
    np.testing.assert_allclose(sol.q[:, [0, 1, 2, 4]], hand, atol=1e-8)


def test_roller_racer_ends_straight_and_long_handlebars_drive_it_backwards(make):
    """All of k phi0^2/2 becomes m u^2/2.  By the momentum equation the way is forwards if d2 is
    less than about I2 d1/I1 = 1/3."""
    for d2, end in ((0.1, 1.0), (0.5, -1.0)):
        sol = true_motion(make("roller_racer").set(d2=d2), 40)
        u = sol.v[-1, :2] @ [np.cos(sol.q[-1, 2]), np.sin(sol.q[-1, 2])]
        assert u == pytest.approx(end, abs=1e-4)


# ---------------------------------------------------------------------------- in space


def test_segway_falls_at_the_rate_of_a_pendulum_on_a_cart(make):
    s = make("segway")
    m, b, Iy, M, J, R, g = (s.parameters[nh.symbols(x)] for x in "m b Iy M J R g".split())
    mass, inertia = m + 2 * M + 2 * J / R**2, Iy + m * b**2
    rate = np.sqrt(m * g * b * mass / (inertia * mass - (m * b) ** 2))
    for speed in (0.0, 1.5):
        lin = nh.linearise(s, [0] * 6, [speed, 0, 0, 0, speed / R, speed / R])
        np.testing.assert_allclose(lin.eigenvalues.real, [-rate, 0, 0, rate], atol=1e-9)


def test_tilted_disk_keeps_leaning_on_its_circle(make):
    s = make("tilted_disk")
    sol = true_motion(s, 12)
    np.testing.assert_allclose(sol.q[:, 3], 0.5, atol=1e-9)
    np.testing.assert_allclose(sol.v[:, 2:], np.tile(s.v0[2:], (201, 1)), atol=1e-9)
    R, turn, roll = 1.0, s.v0[2], s.v0[4]
    centre = np.array([0, R * roll / turn])
    np.testing.assert_allclose(np.hypot(*(sol.q[:, :2] - centre).T), abs(centre[1]), atol=1e-9)
    # Newton and Euler: the moments about the contact, with the centre on a circle of its own.
    m, A, C, g, lean = 1.0, 0.25, 0.5, 9.81, 0.5
    w2 = roll + turn * np.sin(lean)
    moment = (C + m * R**2) * w2 * turn * np.cos(lean) - A * turn**2 * np.sin(lean) * np.cos(lean)
    assert moment == pytest.approx(-m * g * R * np.sin(lean), rel=1e-12)


@pytest.mark.parametrize("values", [{}, {"A": 0.5, "C": 1.0, "R": 0.8, "m": 2.0}], ids=str)
def test_upright_disk_is_stable_above_the_known_speed(make, values):
    s = make("tilted_disk").set(**values)
    m, R, A, C, g = (s.parameters[nh.symbols(x)] for x in "m R A C g".split())
    critical = np.sqrt(m * g * R * A / (C * (C + m * R**2)))
    assert values or critical == pytest.approx(np.sqrt(g / (3 * R)))
    for roll in (0.0, 0.9 * critical, 1.1 * critical, 3 * critical):
        lin = nh.linearise(s, [0] * 5, [R * roll, 0, 0, 0, roll])
        square = C * (C + m * R**2) * (critical**2 - roll**2) / (A * (A + m * R**2))
        expected = np.sqrt(complex(square))
        found = lin.eigenvalues[np.argsort(np.abs(lin.eigenvalues))][2:]  # two more are 0
        np.testing.assert_allclose(np.sort_complex(found**2), [square, square], rtol=1e-7)
        assert lin.growth == pytest.approx(expected.real, abs=1e-6)


def test_ball_on_a_turntable_goes_round_a_circle_at_two_sevenths_of_its_rate(make):
    s = make("ball_on_turntable")
    sol = true_motion(s, 2 * np.pi * 3.5 / 3.5)
    rate = 2 / 7 * 3.5
    z = 1 + 0.5j * np.expm1(1j * rate * sol.t) / (1j * rate)
    np.testing.assert_allclose(sol.q[:, :2], np.stack([z.real, z.imag], -1), atol=1e-9)
    assert np.ptp(sol.energy()) > 0.1  # the table does work
    still = nh.linearise(s, [1, 0, 1, 0, 0, 0], [0, 0, -3.5 / 0.2, 0, 2.0])
    swings = still.eigenvalues[np.abs(still.eigenvalues) > 1e-6]
    np.testing.assert_allclose(np.sort(swings.imag), [-rate, rate], atol=1e-9)
    assert nh.report(s).good


# ---------------------------------------------------------------------------- rattleback


def matrix(axis, angle):
    return np.array(sp.rot_axis3(-angle), float)[np.ix_(*2 * [np.roll(range(3), axis - 2)])]


def test_rattleback_obeys_newton_and_euler(make):
    """With the force at the contact, from differences of the attitude along the true motion."""
    s = make("rattleback")
    m, a, b, c, h, A, B, C, D, g = (
        s.parameters[nh.symbols(x)] for x in "m a b c h A B C D g".split()
    )
    inertia = np.array([[A, D, 0], [D, B, 0], [0, 0, C]])
    sol = nh.integrate(s, nh.Reference(rtol=1e-13), h=5e-4, steps=80, progress=False)

    def body(q):
        """The attitude, the centre of mass and the contact."""
        R = matrix(2, q[2]) @ matrix(0, q[3]) @ matrix(1, q[4])
        up = R[2]
        size = np.sqrt(((np.array([a, b, c]) * up) ** 2).sum())
        contact = -R @ (np.array([a, b, c]) ** 2 * up) / size
        return R, np.array([q[0], q[1], size - h * up[2]]), contact + h * R[:, 2]

    k, d = 40, 5e-4
    poses = [body(q) for q in sol.q[k - 4 : k + 5]]
    first = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840 / d
    place = np.array([x[1] for x in poses])
    second = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040 / d**2
    R, _, arm = poses[4]
    force = m * (second @ place + [0, 0, g])
    w = np.array([(s.values(_omega(s), sol.q[j], sol.v[j])) for j in range(k - 4, k + 5)])
    turning = inertia @ (first @ w) + np.cross(w[4], inertia @ w[4])
    np.testing.assert_allclose(turning, R.T @ np.cross(arm, force), atol=1e-6)
    assert np.abs(turning).max() > 1e-2


def _omega(s):
    """The angular velocity in the body, from R^T R'."""
    yaw, roll, pitch = s.q[2:]
    R = sp.rot_axis3(-yaw) * sp.rot_axis1(-roll) * sp.rot_axis2(-pitch)
    rate = sum((R.diff(x) * u for x, u in zip(s.q[2:], s.v[2:], strict=True)), sp.zeros(3))
    W = R.T * rate
    return (W[2, 1], W[0, 2], W[1, 0])


def test_rattleback_turns_back_and_the_zigzag_of_the_projector_method_ends_it(make):
    """Spun at -5 rad/s it rattles, and at t = 5 s turns at +4.3.  DLA says so too; the projector
    method with the same step and the same energy error does not: there it turns at -3.2."""
    s, T = make("rattleback"), 5.0
    true = true_motion(s, T)
    assert true.v[0, 2] == -5 and true.v[-1, 2] == pytest.approx(4.32, abs=0.01)
    assert np.ptp(true.energy()) < 1e-10
    runs = [nh.integrate(s, m, h=0.0025, steps=2000) for m in (nh.DLA(), nh.Projector())]
    dla, projector = (sol.v[-1, 2] for sol in runs)
    assert dla == pytest.approx(4.3, abs=0.5) and projector == pytest.approx(-3.2, abs=0.3)
    lost = [np.ptp(sol.energy()) / sol.energy()[0] for sol in runs]
    assert lost[1] < 1.1 * lost[0] < 0.02


def test_rattleback_prefers_one_way_and_its_mirror_image_the_other(make):
    s = make("rattleback")
    rates = {w: nh.linearise(s, [0] * 5, [0, 0, w, 0, 0]).eigenvalues for w in (-5.0, 5.0)}
    assert rates[-5.0].real.max() == pytest.approx(2.12, abs=0.01)  # fast, and at 109 rad/s
    assert rates[5.0].real.max() == pytest.approx(0.2, abs=0.01)  # slow, at 34 rad/s
    mirror = nh.linearise(s.set(D=2e-5), [0] * 5, [0, 0, 5.0, 0, 0]).eigenvalues
    np.testing.assert_allclose(mirror, rates[-5.0], atol=1e-8)


# ---------------------------------------------------------------------------- bicycle

# MPRS07 table 2: speed -> castering, capsize, weave
PUBLISHED = {
    0.0: (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393),
    4.0: (-12.15861426576447, -1.42944427361326, complex(0.41325331521125, 3.07910818603206)),
    5.0: (-14.07838969279822, -0.32286642900409, complex(-0.77534188219585, 4.46486771378823)),
    10.0: (-24.62459635017404, 0.16105338653172, complex(-3.72016840437287, 10.90681139476287)),
}


def ridden(s, speed):
    """The linearised motion of the bicycle upright and straight ahead."""
    return nh.linearise(s, [0] * 8, [speed, 0, 0, 0, 0, 0, -speed / 0.3, -speed / 0.35])


@pytest.mark.parametrize("speed", PUBLISHED)
def test_bicycle_has_the_eigenvalues_of_the_benchmark(make, speed):
    lin = ridden(make("bicycle"), speed)
    assert {*lin.ignorable} == {"x", "y", "yaw", "rear", "front"}
    expected = [z for x in PUBLISHED[speed] for z in {x, np.conj(x)}] + [0.0]  # 0: of the speed
    found = np.sort_complex(np.round(lin.eigenvalues, 11))
    np.testing.assert_allclose(found, np.sort_complex(np.round(expected, 11)), atol=2e-10)


def test_bicycle_rights_itself_between_the_published_speeds(make):
    for speed, sign in ((4.29238253634111, -1), (6.02426201538837, 1)):
        for way in (-1e-5, 1e-5):
            values = ridden(make("bicycle"), speed + way).eigenvalues
            slow = values[np.abs(values) > 1e-9].real.max()
            assert np.sign(slow) == np.sign(sign * way)


def test_bicycle_pushed_rights_itself_and_the_push_becomes_speed(make):
    s = make("bicycle")
    sol = true_motion(s, 8.0)
    assert np.ptp(sol.energy()) < 1e-9 * sol.energy()[0]
    assert np.abs(s.g(sol.q)).max() < 1e-9
    assert np.abs(sol.q[:, 3]).max() > 0.05 and np.abs(sol.q[-1, [3, 5]]).max() < 0.01
    M = s.M(sol.q[0])
    straight, lean = np.array([1, 0, 0, 0, 0, 0, -1 / 0.3, -1 / 0.35]), np.eye(8)[3]
    speed = np.sqrt(4.6**2 + 0.5**2 * (lean @ M @ lean) / (straight @ M @ straight))
    assert np.hypot(*sol.v[-1, :2]) == pytest.approx(speed, abs=1e-3)
    slow = np.array(s.v0) * 3.5 / 4.6
    weave = true_motion(s, 3.0, q0=s.q0, v0=slow * [1, 1, 1, 0.01, 1, 1, 1, 1])
    parts = np.abs(weave.q[:, 3]).reshape(-1)[1:].reshape(2, 100).max(1)
    assert parts[1] > 2 * parts[0]


def test_bicycle_derived_from_positions_in_other_coordinates_moves_the_same(make):
    """z up instead of down, the frame's axes along the steering axis, velocities of the parts by
    differentiating their places."""
    s = make("bicycle")
    p = {x.name: value for x, value in s.parameters.items()}
    t = p["tilt"]
    axes = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # columns: x and z there

    def there(x, z):
        return np.array([x, z]) @ axes

    front = there(p["w"], p["rF"] - p["rR"])
    d3 = there(-p["c"], p["rF"])[0]
    values = dict(rr=p["rR"], rf=p["rF"], d1=front[0] - d3, d2=front[1], d3=d3, g=p["g"])
    values |= dict(zip(("l1", "l2"), there(p["xB"], -p["zB"] - p["rR"]), strict=True))
    values |= dict(zip(("l3", "l4"), there(p["xH"] - p["w"], -p["zH"] - p["rF"]), strict=True))
    values |= dict(mr=p["mR"], mb=p["mB"], mh=p["mH"], mf=p["mF"])
    values |= dict(Irx=p["IRxx"], Iry=p["IRyy"], Ifx=p["IFxx"], Ify=p["IFyy"])
    for name in "BH":
        I = np.array([[p[f"I{name}xx"], -p[f"I{name}xz"]], [-p[f"I{name}xz"], p[f"I{name}zz"]]])
        I, k = axes.T @ I @ axes, f"I{name.lower()}"
        values |= {f"{k}x": I[0, 0], f"{k}z": I[1, 1], f"{k}xz": I[0, 1], f"{k}y": p[f"I{name}yy"]}
    other = bicycle_by_positions().set(**{k: float(x) for k, x in values.items()})
    order, sign = [0, 1, 2, 3, 4, 6, 5, 7], np.array([1, -1, -1, 1, -1, -1, -1, -1])
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = rng.uniform(-0.3, 0.3, 8)
        for _ in range(20):
            q[4] -= s.g(q)[0] / s.A(q)[4, 4]
        v = s.project(q, rng.normal(size=8))
        shift = -t * np.eye(8)[4]
        q2, v2 = (sign * q)[order] + shift, (sign * v)[order]
        assert np.abs(other.g(q2)).max() < 1e-12 and np.abs(other.A(q2) @ v2).max() < 1e-12
        assert other.energy(q2, v2) == pytest.approx(s.energy(q, v), rel=1e-12)
        a2 = other.acceleration(q2, v2)
        np.testing.assert_allclose(a2, (sign * s.acceleration(q, v))[order], atol=1e-9)


# ---------------------------------------------------------------------------- with torques


def test_two_wheeled_robot_is_driven_along_an_s_by_the_torques_of_its_inverse_dynamics(make):
    """At constant speed they must balance -m a w^2 and I w' + m a u w, with effective inertia."""
    s = make("two_wheeled_robot")
    m, I, a, M, J, K, R, d = (s.parameters[nh.symbols(k)] for k in "m I a M J K R d".split())
    inertia = I + m * a**2 + 2 * K + M * d**2 / 2 + J * d**2 / (2 * R**2)

    def torque(t, sign):
        u, w, turning = 1.0, np.cos(t), -np.sin(t)
        push, moment = -m * a * w**2, inertia * turning + m * a * u * w
        return R * push / 2 + sign * R * moment / d

    q0, v0 = [0] * 5, [1, 0, 1, (1 - d / 2) / R, (1 + d / 2) / R]
    drive = {"tleft": lambda t: torque(t, -1), "tright": lambda t: torque(t, 1)}
    errors = []
    for steps in (200, 400):
        h = 2 * np.pi / steps
        sol = nh.integrate(s, nh.DLA(), q0, v0, h=h, steps=steps, inputs=drive)
        errors.append(np.abs(sol.q[:, 2] - np.sin(sol.t)).max())
    assert errors[0] < 1e-3 and errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    path = solve_ivp(
        lambda t, z: [np.cos(np.sin(t)), np.sin(np.sin(t))], (0, 2 * np.pi), [0, 0], rtol=1e-10
    ).y[:, -1]
    np.testing.assert_allclose(sol.q[-1, :2], path, atol=1e-3)


def test_motors_of_the_segway_turn_the_body_the_other_way_and_drag_takes_energy(make):
    s = make("segway").set(tleft=0.3, tright=0.1, drag=0.2)
    q, v = np.array(s.q0), s.project(s.q0, [1.0, 0, 0.2, 0.5, 3, 4])
    F = dict(zip([x.name for x in s.q], s.force(q, v), strict=True))
    assert F["left"] + F["right"] + F["phi"] == pytest.approx(0, abs=1e-15)
    slip = v[4:] - v[3]
    assert s.power(q, v) == pytest.approx(slip @ [0.3, 0.1] - 0.2 * slip @ slip, rel=1e-12)
    free = make("segway").set(drag=0.2)
    sol = true_motion(free, 2.0)
    assert np.diff(sol.energy()).max() < 0
