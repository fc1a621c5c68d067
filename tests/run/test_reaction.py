"""Forces of the constraints in physical units: sign, times, order."""

import numpy as np
import pytest
import sympy as sp
from runs import made, power

import nhlab as nh

x, z, phi, vx, vz, vphi, y, vy = nh.symbols("x z phi vx vz vphi y vy")


def rolling(m=2.0, I=0.5, R=0.4, torque=1.2, slope=0.2, g=9.81):
    """A wheel that a motor drives up a slope: x' = R phi'."""
    L = m * vx**2 / 2 + I * vphi**2 / 2 - m * g * x * sp.sin(slope)
    forces = {phi: torque}
    return nh.System((x, phi), (vx, vphi), L, [vx - R * vphi], forces=forces, q0=(0, 0), v0=(0, 0))


def sleigh():
    s = nh.systems.sleigh()
    return s.replace(forces=[-v / 5 for v in s.v])


def pendulum():
    """A mass on a rod, in x and y."""
    L = (vx**2 + vy**2) / 2 - 9.81 * y
    return nh.System((x, y), (vx, vy), L, holonomic=[x**2 + y**2 - 1], q0=(0.8, -0.6), v0=(0, 0))


@pytest.mark.parametrize(
    "method", [nh.DLA(), nh.DLA(0.3), nh.Projector(), nh.RK4(), nh.Reference()], ids=repr
)
def test_friction_of_a_rolling_wheel(method):
    """Newton by hand: m a = f - m g sin s, I a / R = torque - R f."""
    m, I, R, torque, weight = 2.0, 0.5, 0.4, 1.2, 2.0 * 9.81 * np.sin(0.2)
    a = (torque / R - weight) / (m + I / R**2)
    friction = m * a + weight
    sol = nh.integrate(made(rolling), method, h=0.1, steps=20)
    times, force, multiplier = sol.reaction()
    assert len(times) == len(force) == len(multiplier)
    np.testing.assert_allclose(
        force, np.tile([friction, -R * friction], (len(times), 1)), rtol=1e-9
    )
    np.testing.assert_allclose(sol.q[-1, 0], a * 2**2 / 2, rtol=0.06 if method.order == 1 else 1e-9)


def test_tension_of_a_pendulum():
    """The rod pulls a mass that was let go to the centre, by v^2 - g y = 2 g y0 - 3 g y."""
    for method in (nh.Variational(), nh.DLA(0, True), nh.Reversible(), nh.Reference()):
        sol = nh.integrate(made(pendulum), method, h=0.005, steps=100)
        times, force, _ = sol.reaction()
        q = sol.q[: len(times)]
        pull = 9.81 * (2 * q[0, 1] - 3 * q[:, 1:])
        np.testing.assert_allclose(force, -pull * q, rtol=0, atol=5e-3)


def true_multipliers(s, times):
    """Of the equations of motion along the true motion, at the times after the first."""
    q, v = s.q0, s.v0
    for h in np.diff(times):
        sol = nh.integrate(s, nh.Reference(), q, v, h=h, steps=1)
        q, v = sol.q[1], sol.v[1]
        yield s.multipliers(q, v)


@pytest.mark.parametrize(
    "method, expected",
    [(nh.DLA(), 2), (nh.DLA(0.3, True), 2), (nh.DLA(0.3), 1), (nh.Projector(), 2), (nh.RK4(), 4),
     (nh.EDLA(), 2)],
    ids=repr,
)  # fmt: skip
def test_order(method, expected):
    s = made(sleigh)

    def error(h):
        sol = nh.integrate(s, method, h=h, steps=round(0.5 / h))
        times, force, multiplier = sol.reaction()
        np.testing.assert_allclose(multiplier[0], s.multipliers(s.q0, s.v0), rtol=1e-9)
        np.testing.assert_allclose(force, multiplier * s.A(sol.q[: len(times)])[:, 0], atol=1e-15)
        return np.abs(multiplier[1:] - [*true_multipliers(s, times)]).max()

    assert abs(power(error, (0.05, 0.025, 0.0125)) - expected) < 0.2


def test_some_steps_are_stored():
    """With every > 1 the impulse is that of the last step before a node."""
    s = made(sleigh)
    whole, some = (nh.integrate(s, nh.DLA(), h=0.1, steps=20, every=k).reaction() for k in (1, 5))
    np.testing.assert_allclose(some.t, whole.t[4::5], atol=1e-14)
    np.testing.assert_allclose(some.force, whole.force[4::5], atol=1e-12)


def test_an_input_holds_during_its_step():
    """The wheel's friction follows the torque at once, node by node."""
    torque = nh.symbols("torque")
    s = made(rolling).replace(forces={phi: torque})
    values = np.repeat([1.2, 2.4], 5)
    for method in (nh.RK4(), nh.Reference()):
        force = nh.integrate(s, method, h=0.1, steps=10, inputs={torque: values}).reaction().force
        for part, value in ((force[:6], 1.2), (force[6:], 2.4)):
            constant = nh.integrate(s.set(torque=value), method, h=0.1, steps=1).reaction().force[0]
            np.testing.assert_allclose(part, np.tile(constant, (len(part), 1)), rtol=1e-9)


def test_a_reaction_shows_what_it_has():
    found = nh.integrate(made(sleigh), nh.DLA(), h=0.1, steps=500).reaction()
    assert repr(found) == "<Reaction at 500 times: t, force (500, 3), multiplier (500, 1)>"


def test_a_given_second_point_has_no_impulse():
    sol = nh.integrate(made(sleigh), nh.DLA(), h=0.1, steps=5)
    given = nh.integrate(made(sleigh), nh.DLA(), sol.q[0], h=0.1, steps=5, q1=sol.q[1]).reaction()
    assert np.isnan(given.force[0]).all() and np.isfinite(given.force[1:]).all()
