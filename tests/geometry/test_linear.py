"""Linearised motions: of equilibria and of steady ones, against formulas and against runs."""

import numpy as np
import pytest

import nhlab as nh


def pairs(lin):
    return np.round(lin.eigenvalues, 9) + 0.0


@pytest.mark.parametrize(("theta", "values"), [(0.0, [-1.5j, 1.5j]), (np.pi, [-1.5, 1.5])])
def test_pendulum_hanging_and_standing(theta, values):
    lin = nh.linearise(nh.systems.pendulum(g=9.0, l=4.0), [theta], [0])
    assert lin.state == ("theta", "vtheta") and lin.ignorable == ()
    np.testing.assert_allclose(pairs(lin), values, atol=1e-9)
    assert lin.growth == pytest.approx(max(np.real(values)), abs=1e-9)


def test_holonomic_constraints_leave_independent_coordinates():
    s = nh.systems.spherical_pendulum(l=4.0, g=9.0)
    lin = nh.linearise(s, [0, 0, -4], [0, 0, 0])
    assert lin.state == ("x", "y", "vx", "vy")
    np.testing.assert_allclose(pairs(lin), [-1.5j, -1.5j, 1.5j, 1.5j], atol=1e-9)


@pytest.mark.parametrize("make", [nh.systems.sleigh, nh.systems.sleigh_se2])
def test_sleigh_straight_ahead_is_stable_and_backwards_it_is_not(make):
    """Turning decays at the rate m a u/(I + m a^2); the forward speed is kept."""
    s = make(m=2.0, I=0.3, a=0.4)
    for u in (1.5, -1.5):
        v = [u, 0, 0]
        lin = nh.linearise(s, [0, 0, 0], v)
        rate = -2.0 * 0.4 * u / (0.3 + 2.0 * 0.4**2)
        np.testing.assert_allclose(np.sort(pairs(lin).real), sorted([rate, 0]), atol=1e-9)
        assert len(lin.ignorable) == 3 and len(lin.state) == 2


def test_rigid_body_about_its_axes():
    s = nh.systems.rigid_body(I1=1, I2=2, I3=3)
    growth = [nh.linearise(s, None, w).growth for w in np.eye(3)]
    assert growth == pytest.approx([0, np.sqrt(1 / 3), 0], abs=1e-7)


def test_steady_turn_in_which_four_coordinates_advance():
    """The frequency of a leaning disk on its circle, against a run slightly beside it."""
    s = nh.systems.tilted_disk()
    lin = nh.linearise(s)
    assert {*lin.ignorable} == {"x", "y", "phi", "psi"}
    frequency = np.abs(lin.eigenvalues.imag).max()
    T = 4 * np.pi / frequency
    q0, v0 = np.array(s.q0), np.array(s.v0)
    q0[3] += 1e-5
    sol = nh.integrate(s, nh.Reference(), q0, v0, h=T / 400, steps=400)
    lean = sol.q[:, 3] - sol.q[0, 3]
    assert np.abs(lean[[200, 400]]).max() < 1e-3 * np.abs(lean).max()  # two whole periods
    assert np.abs(lean[100]) > 0.9 * np.abs(lean).max()


def test_matrix_is_the_derivative_of_the_rates():
    """By differences of the acceleration, with the dependent velocities recomputed."""
    s = nh.systems.car_with_trailer()
    lin = nh.linearise(s, [0, 0, 0, 0, 0], [1, 0, 0, 0, 0])
    assert lin.state == ("theta", "phi", "psi", "vx", "vphi")
    e = 1e-5

    def rates(z):
        theta, phi, psi, vx, vphi = z
        turn, fold = vx / np.cos(theta) * np.tan(phi), vx / np.cos(theta) * np.sin(theta - psi)
        v = [vx, vx * np.tan(theta), turn, vphi, fold / 1.5]
        a = s.acceleration([0, 0, theta, phi, psi], v)
        return np.array([v[2], v[3], v[4], a[0], a[3]])

    z = np.array([0, 0, 0, 1.0, 0])
    slopes = [(rates(z + w) - rates(z - w)) / (2 * e) for w in e * np.eye(5)]
    np.testing.assert_allclose(lin.A, np.transpose(slopes), atol=1e-8)


def test_coordinate_without_a_restoring_force_to_first_order_is_no_ignorable_one():
    x, vx, k = nh.symbols("x vx k")
    s = nh.System([x], [vx], vx**2 / 2 - k * x**4, parameters={"k": 1})
    lin = nh.linearise(s, [0], [0])
    assert lin.state == ("x", "vx") and lin.ignorable == ()
    free = nh.linearise(s.set(k=0), [0], [3])
    assert free.state == ("vx",) and free.ignorable == ("x",)


def test_inputs_are_parameters_that_drive_the_motion():
    s = nh.systems.pendulum(m=2.0, g=9.0, l=4.0)
    x, vx, f = nh.symbols("x vx f")
    cart = nh.System([x], [vx], 3 * vx**2 / 2 - x**2 + f * x, parameters={"f": 0})
    lin = nh.linearise(cart, [0], [0], inputs=["f"])
    np.testing.assert_allclose(lin.B, [[0], [1 / 3]], atol=1e-14)
    with pytest.raises(ValueError, match="inputs: 'torque' is no parameter"):
        nh.linearise(s, [0], [0], inputs=["torque"])


def test_what_is_no_steady_motion_is_refused_with_how_far_it_is_off():
    with pytest.raises(ValueError, match=r"vtheta changes at the rate -0\.909"):
        nh.linearise(nh.systems.pendulum())
    with pytest.raises(ValueError, match=r"no steady motion of .*sleigh"):
        nh.linearise(nh.systems.sleigh(), [0, 0, 0], [1, 0, 0.5])
    with pytest.raises(ValueError, match="depends on time"):
        nh.linearise(nh.systems.driven())
    with pytest.raises(ValueError, match="constraint"):
        nh.linearise(nh.systems.sleigh(), [0, 0, 0], [0, 1, 0])


def test_on_a_group_the_motion_must_not_depend_on_the_pose():
    """A body that turns about a horizontal axis of its own and may not turn about the vertical."""
    w = nh.symbols("w1 w2 w3")
    g = nh.symbols("qw qx qy qz")
    L = (w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2
    vertical = sum(e * x for e, x in zip(nh.groups.SO3.entries(g)[2], w, strict=True))
    body = nh.GroupSystem(nh.groups.SO3, w, L, [vertical], g=g)
    with pytest.raises(ValueError, match="depends on its pose"):
        nh.linearise(body, [1, 0, 0, 0], [1, 0, 0])
    ball = nh.linearise(nh.systems.ball_right())
    assert len(ball.ignorable) == 3 and not ball.A.any()


def test_repr_names_the_state_and_pairs_the_eigenvalues():
    text = repr(nh.linearise(nh.systems.tilted_disk()))
    assert "z = (theta, vphi, vtheta, vpsi)" in text and "ignorable: x, y, phi, psi" in text
    assert "eigenvalues: 0, 0, 0 ± 3.26948i" in text
