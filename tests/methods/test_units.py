"""Units, masses, stiffness and steps of any size: what is computed is right all the same."""

import math
import warnings

import numpy as np
import printed
import pytest
import sympy as sp
from runs import difference, made, part, round_off

import nhlab as nh

x, y, z, vx, vy, vz, k, m = nh.symbols("x y z vx vy vz k m")


SCALES = [(s, 1, 1) for s in (1e-6, 1e6)] + [(1, s, 1) for s in (1e-6, 1e6)]
SCALES += [(1, 1, s) for s in (1e-6, 1e6)] + [(s, 1 / s, 1 / s) for s in (1e-6, 1e6)]
METHODS = [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reference()]
METHODS += [nh.Reversible(), nh.DiscreteGradient(), nh.Composition(nh.DLA())]
METHODS += [nh.EqualImpulses(), nh.Lobatto(), nh.Newmark(0.1)]


def sleigh_in(length, mass, time):
    """A sleigh on a spring, measured in other units; angles have none."""
    (x, y, theta), (vx, vy, w) = nh.symbols("x y theta"), nh.symbols("vx vy w")
    I, r = nh.symbols("I r")
    across = vx * sp.sin(theta) - vy * sp.cos(theta)
    L = m * (vx**2 + vy**2 + r**2 * w**2 - 2 * r * w * across) / 2 + I * w**2 / 2 - k * x**2 / 2
    values = {m: mass, I: mass * length**2, r: 0.2 * length, k: 0.3 * mass / time**2}
    return nh.System((x, y, theta), (vx, vy, w), L, [across], parameters=values)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_units_do_not_matter(method):
    q0, v0 = np.array([0.1, 0.2, 0.3]), np.array([-np.cos(0.3), -np.sin(0.3), 0.25])
    base = nh.integrate(sleigh_in(1, 1, 1), method, q0, v0, h=0.1, steps=50)
    for length, mass, time in SCALES:
        unit = np.array([length, length, 1])
        system = sleigh_in(length, mass, time)
        sol = nh.integrate(system, method, q0 * unit, v0 * unit / time, h=0.1 * time, steps=50)
        limit = 1e-9 if isinstance(method, nh.Reference) else 10 * round_off(method)
        assert difference(sol.q / unit, base.q) < limit, (length, mass, time)
        assert difference(sol.lam * time / (mass * length), base.lam) < limit


@pytest.mark.parametrize("speed", [1e3, 1e6])
@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4(), nh.Reference()], ids=str)
def test_fast_coordinates_do_not_spoil_slow_ones(method, speed):
    """A pendulum beside a free particle, metres beside radians."""
    both = nh.System((x, y), (vx, vy), vx**2 / 2 + vy**2 / 2 + 3 * sp.cos(y))
    alone = nh.System((y,), (vy,), vy**2 / 2 + 3 * sp.cos(y))
    a = nh.integrate(both, method, [0, 0.5], [speed, 1], h=0.2, steps=100)
    b = nh.integrate(alone, method, [0.5], [1], h=0.2, steps=100)
    assert np.abs(a.q[:, 1] - b.q[:, 0]).max() < 1e-10


def test_masses_of_any_ratio():
    """The Sun and a probe on one spring, in kilograms."""
    M = nh.symbols("M")
    L = M * vx**2 / 2 + m * vy**2 / 2 - m * (x - y) ** 2 / 2
    system = nh.System((x, y), (vx, vy), L, parameters={M: 2e30, m: 1e3})
    phase = 2 * math.atan(0.05)  # the midpoint rule turns the oscillator by 2 atan(h/2) per step
    for method in (nh.DLA(), nh.Projector()):
        sol = nh.integrate(system, method, [0, 1], [0, 0], h=0.1, steps=100)
        np.testing.assert_allclose(sol.q[:, 1], np.cos(phase * np.arange(101)), atol=1e-12)


@pytest.mark.parametrize("omega", [1e2, 1e4, 1e6])
def test_stiff_spring(omega):
    """h omega up to 1e5: the midpoint rule is stable and has a closed form."""
    system = nh.System((x,), (vx,), vx**2 / 2 - omega**2 * x**2 / 2)
    sol = nh.integrate(system, nh.DLA(), [1], [0], h=0.1, steps=100)
    phase = 2 * math.atan(omega * 0.05)
    np.testing.assert_allclose(sol.q[:, 0], np.cos(phase * np.arange(101)), atol=1e-15 * omega)


@pytest.mark.parametrize("eps", [1e-2, 1e-4])
def test_nearly_dependent_constraints(eps):
    """Two rows at an angle eps span the same D; eliminating them costs digits like eps^-2."""
    w, vw = nh.symbols("w vw")
    L = (vx**2 + vy**2 + vz**2 + vw**2) / 2 - x**2 - y**2
    one, two = vz - y * vx, vw - x * vy
    q, v = (x, y, z, w), (vx, vy, vz, vw)
    start = ([0.3, 0.5, 0, 0], [1, 0.4, 0.5, 0.12])
    good = nh.System(q, v, L, [one, two])
    bad = nh.System(q, v, L, [one, one + eps * two])
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):
        a, b = (nh.integrate(s, method, *start, h=0.1, steps=50).q for s in (good, bad))
        assert np.abs(a - b).max() < 1e-15 / eps**2


@pytest.mark.parametrize("h", [0.3, 1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("name", ["sleigh", "robot", "contact_oscillator", "kepler", "driven"])
def test_accepted_steps_satisfy_the_equations(name, h):
    """However large the step: what is returned solves (6) of CM01, what does not is refused."""
    judged(made(nh.systems.catalogue[name]), nh.DLA(0.4), h=h)


def judged(system, method, q0=None, v0=None, h=0.1):
    """The equations of a run are satisfied, as far as it goes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of energy jumps
        sol = part(system, method, h, 20, q0=q0, v0=v0)
    assert np.all(np.isfinite(sol.rows.array))
    assert not printed.broken(sol)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("speed, h", [(100, 1000), (9000, 100), (9000, 1000)])
def test_corrections_are_small_beside_the_motion_not_beside_h_times_its_acceleration(
    speed, h, alpha
):
    q0 = np.array([0.9, 0.4])
    judged(made(curled), nh.DLA(alpha), q0, made(curled).project(q0, [-speed, -speed / 4]), h)


def curled():
    L = vx**2 * (2 + sp.tanh(x) ** 2 / 9) / 2 + vx * vy * sp.sin(y) / 5 + vy**2 / 2
    return nh.System((x, y), (vx, vy), L, [vy - vx * sp.sin(x) * sp.tanh(y)])


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA(), nh.Reversible()], ids=str)
def test_tiny_first_velocities(method):
    """From 1e-13 to 1 in some steps; what is at rest beside it stays there to round-off."""
    c, s = math.cos(0.3), math.sin(0.3)
    L = (vx**2 + vy**2 + vz**2) / 2 + c * x + s * y - z**2 / 2
    blade = [vx * sp.sin(z) - vy * sp.cos(z)]  # down the slope, where nothing turns it
    system = nh.System((x, y, z), (vx, vy, vz), L, blade)
    q0, v0 = [0, 0, 0], 1e-13 * np.array([1, 0, 0])
    sol = nh.integrate(system, method, q0, v0, h=0.1, steps=20)
    assert sol.steps == 20 and abs(sol.rows.v[-1, 0]) > 0.1
