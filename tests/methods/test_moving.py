"""Constraints that move, A v + b = 0 and g(q, t) = 0: exact solutions, Kane's equations."""

import kane
import numpy as np
import pytest
import sympy as sp
from runs import made, name, power, refused, runs, slope
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import nhlab as nh

x, y, th, phi, vx, vy, w, om, t = nh.symbols("x y theta phi vx vy w om t")
DISCRETE = [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.Projector(0.3, True), nh.EDLA()]
SECOND = [*DISCRETE, nh.EDLA(0.3, True), nh.Reversible()]
HIGHER = [nh.Composition(nh.DLA()), nh.Composition(nh.Reversible()), nh.RK4()]


# ---------------------------------------------------------------------------- systems


def turntable():
    """A homogeneous ball of radius 1 that rolls on a table turning at the rate Om."""
    r, (w1, w2, w3), Om = nh.symbols("x y"), nh.symbols("w1:4"), nh.symbols("Om")
    g, q0 = nh.symbols("g0:4"), [1.0, 0.2, *np.array([1, 0.3, -0.2, 0.4]) / np.sqrt(1.29)]
    spin = sp.Matrix(nh.groups.SO3.matrix(g)) * sp.Matrix([w1, w2, w3])  # in space
    L = (vx**2 + vy**2) / 2 + sp.Rational(1, 5) * (w1**2 + w2**2 + w3**2)
    roll = [vx - spin[1] + Om * r[1], vy + spin[0] - Om * r[0]]
    v = (vx, vy, w1, w2, w3)
    s = nh.GroupSystem(nh.groups.SO3, v, L, roll, g=g, r=r, parameters={Om: 1.3})
    return s.replace(q0=q0, v0=s.complete(q0, vx=0.3, vy=0.1, w3=0.5))


def circle(times):
    """The centre of the ball: a circle at the rate 2/7 Om, whatever its spin about the vertical."""
    rate = 1j * 2 / 7 * 1.3
    z = 1 + 0.2j + (0.3 + 0.1j) * np.expm1(rate * times) / rate
    return np.stack([z.real, z.imag], -1)


def belt():
    """A sleigh on a belt that goes to and fro, with a spring."""
    speed, a = sp.Rational(3, 5) * sp.cos(2 * t), sp.Rational(1, 5)
    L = ((vx - a * sp.sin(th) * w) ** 2 + (vy + a * sp.cos(th) * w) ** 2 + w**2) / 2 - x**2 / 2
    edge = sp.sin(th) * (vx - speed) - sp.cos(th) * vy
    s, q0 = nh.System((x, y, th), (vx, vy, w), L, [edge], t=t), [0.3, -0.2, 0.4]
    return s.replace(q0=q0, v0=s.complete(q0, vx=0.9, w=0.7))


def hoop(**motor):
    """A bead on a hoop that a motor turns at the rate 2: as A v + b = 0 or as g(q, t) = 0."""
    L = w**2 / 2 + (sp.Rational(1, 5) + sp.sin(th) ** 2) * om**2 / 2 + 3 * sp.cos(th)
    motor = motor or {"constraints": [om - 2]}
    return nh.System((th, phi), (w, om), L, **motor, q0=[0.8, 0.0], v0=[0.5, 2.0])


def braked_hoop():
    return hoop().replace(forces=[-w / 2, 0])


def pivot():
    """A pendulum of length 1 whose pivot goes to and fro as sin(3 t)/3; its angle turns at 0.4."""
    L, rod = (vx**2 + vy**2) / 2 - 5 * y, (x - sp.sin(3 * t) / 3) ** 2 + y**2 - 1
    start = {"q0": [0.6, -0.8], "v0": [1 + 0.8 * 0.4, 0.6 * 0.4]}
    return nh.System((x, y), (vx, vy), L, holonomic=[rod], t=t, **start)


def angle(times, acceleration, *start):
    """u(t) of u'' = acceleration(t, u, u'), by SciPy."""

    def rates(s, u):
        return u[1], acceleration(s, *u)

    span, how = (0, times[-1]), {"rtol": 1e-12, "atol": 1e-13}
    return solve_ivp(rates, span, start, "DOP853", times, **how).y[0]


def run(make, method, h=0.05, steps=30, **options):
    return nh.integrate(made(make), method, h=h, steps=steps, **options)


# ---------------------------------------------------------------------------- exact solutions


@pytest.mark.parametrize("method, bound", [(nh.Reference(), 1e-10), (nh.RK4(), 1e-6)], ids=repr)
def test_ball_on_a_turntable(method, bound):
    sol = run(turntable, method, steps=100)
    assert np.abs(sol.q[:, :2] - circle(sol.t)).max() < bound
    assert np.ptp(sol.energy()) > 0.3  # it is not kept, nor should it be


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA()], ids=repr)
def test_order_on_the_turntable(method):
    def error(h):
        sol = run(turntable, method, h, round(4 / h))
        return np.abs(sol.q[-1, :2] - circle(sol.t[-1])).max()

    assert abs(power(error, (0.2, 0.1, 0.05)) - 2) < 0.1


def test_a_motor_two_ways():
    """A prescribed speed is the derivative of a prescribed angle, discretely too."""
    other = hoop(holonomic=[phi - 2 * t], t=t)
    for method in (nh.DLA(), nh.DLA(0.3), nh.Reversible(), nh.RK4(), nh.Reference()):
        a, b = (nh.integrate(s, method, h=0.05, steps=100) for s in (made(hoop), other))
        np.testing.assert_allclose(a.q, b.q, atol=1e-9 if method.order > 4 else 1e-12)
        np.testing.assert_allclose(a.q[:, 1], 2 * a.t, atol=1e-10)


def test_the_motor_leaves_an_energy_of_its_own():
    """The bead moves in V - 2 sin(th)^2; the motor pays the rest."""
    sol = run(hoop, nh.Reference(), h=0.1, steps=60)
    kept = sol.v[:, 0] ** 2 / 2 - 2 * np.sin(sol.q[:, 0]) ** 2 - 3 * np.cos(sol.q[:, 0])
    assert np.ptp(kept) < 1e-10 and np.ptp(sol.energy()) > 1
    paid = -np.einsum("ka,ka->k", sol.system.multipliers(sol.q, sol.v), sol.system.b(sol.q))
    np.testing.assert_allclose(np.gradient(sol.energy(), sol.t)[1:-1], paid[1:-1], atol=0.05)


def test_pendulum_with_a_moving_pivot():
    def fall(s, u, _):
        return -5 * np.sin(u) + 3 * np.sin(3 * s) * np.cos(u)

    cases = (nh.Reference(), 0.5, 8, 1e-9), (nh.EDLA(), 0.01, 10, 1e-4)  # later it has no step
    for method, h, steps, bound in cases:
        sol = run(pivot, method, h, steps)
        u = angle(sol.t, fall, np.arcsin(0.6), 0.4)
        exact = np.stack([np.sin(u) + np.sin(3 * sol.t) / 3, -np.cos(u)], -1)
        assert np.abs(sol.q - exact).max() < bound


def test_motor_and_damping_together():
    def brake(_, u, rate):
        return 4 * np.sin(u) * np.cos(u) - 3 * np.sin(u) - rate / 2

    sol = run(braked_hoop, nh.Reference(), h=0.5, steps=4)
    np.testing.assert_allclose(sol.q[:, 0], angle(sol.t, brake, 0.8, 0.5), atol=1e-10)


def test_reference_against_kane():
    def spring(N, contact, centre, B, q, u, time):
        return [(contact, -q[0] * N.x)]

    speed = sp.Rational(3, 5) * sp.cos(2 * dynamicsymbols._t)
    sol = run(belt, nh.Reference(), h=1.0, steps=2)
    exact = kane.sleigh(spring, speed)(sol.t, sol.system.q0, sol.system.v0)
    np.testing.assert_allclose(sol.q, exact, rtol=1e-9)
    assert np.abs(sol.constraint()).max() < 1e-10


ORDERS = [(belt, m, 20) for m in (*SECOND, nh.DLA(0.3), *HIGHER)]
ORDERS += [(pivot, m, 50) for m in (nh.Variational(), nh.DLA(), nh.Reversible())]
ORDERS += [(braked_hoop, m, 50) for m in SECOND]


@pytest.mark.parametrize("make, method, first", ORDERS, ids=name)
def test_orders(make, method, first):
    """To these true motions."""
    T, first = (1, first // 2) if method.variable_step else (2, first)
    assert abs(slope(made(make), method, T, first, count=3) - method.order) < 0.1


# ---------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("method", [nh.DLA(), nh.DLA(0.3, True), nh.EDLA()], ids=repr)
@runs(belt, hoop)
def test_the_discrete_constraint(make, method):
    sol = run(make, method)
    assert np.abs(sol.constraint("midpoints")).max() < 1e-12
    assert np.abs(sol.constraint("projected")).max() < 1e-12


def test_holonomic_constraints():
    for method in (nh.Variational(), nh.DLA(), nh.Reversible()):
        sol = run(pivot, method, h=0.02, steps=100)
        assert np.abs(sol.system.g(sol.q, sol.t)).max() < 1e-13


def test_the_average_momentum_of_the_projector():
    for method in (nh.Projector(), nh.Projector(0.3), nh.Projector(0, True)):
        sol = run(belt, method, steps=60)
        assert np.abs(sol.constraint("average")).max() < 1e-12
        assert np.abs(sol.constraint()).max() > 1e-4
    again = run(belt, method, steps=60, q0=sol.q[0], q1=sol.q[1])
    np.testing.assert_allclose(again.q, sol.q, atol=1e-10)


@runs(belt, hoop)
def test_the_energy_balance_of_the_extended_method(make):
    """E_minus of a step is E_plus of the last one and the work lam.b of the impulse between."""
    sol = run(make, nh.EDLA(), h=0.02, steps=50)
    s, t0, q0, v = sol.system, sol.t[:-1], sol.q[:-1], sol.v_step
    plus, minus = (nh.EDLA().on_step(s, e, t0, q0, v, sol.h) for e in ("E_plus", "E_minus"))
    work = np.einsum("ka,ka->k", sol.lam, s.b(q0, t0))
    assert np.abs(minus[1:] - plus[:-1] - work[1:]).max() < 1e-12
    assert np.abs(work[1:]).max() > 1e-4 and np.ptp(sol.h) > 0


@pytest.mark.parametrize("method", [nh.EDLA(), nh.EDLA(0.3, True)], ids=repr)
def test_the_work_of_motor_and_damping(method):
    sol = run(braked_hoop, method, h=0.02, steps=50)
    assert np.ptp(sol.energy("midpoints") - sol.work()[1:]) < 1e-12


def test_the_moving_energy_is_a_horizontal_symmetry():
    """d/dt + Om d/dphi of the table lies in D, on R x Q: E - Om J is kept."""
    sol = run(turntable, nh.Reference(), h=0.1, steps=50)
    rotate = {"vx": -sol.system.q[1], "vy": sol.system.q[0]}
    symmetry = nh.Symmetry(sol.system, {"time": {"t": 1}, "rotation": rotate})
    ((one, rate),) = symmetry.set(Om=1).horizontal
    assert (one, rate) == (1, 1)
    J = symmetry.J(sol.q, sol.v)
    assert np.ptp(J[:, 0] + 1.3 * J[:, 1]) < 1e-9 < np.ptp(J[:, 0])


@pytest.mark.parametrize("method", [nh.Reference(), nh.Composition(), *SECOND], ids=repr)
def test_the_work_of_the_motor(method):
    """Energy less work is kept, as well as the method and Simpson's rule can."""

    def gap(h):
        sol = run(hoop, method, h, round(1 / h))
        return np.ptp(sol.energy() - sol.work())

    assert abs(power(gap) - min(method.order, 4)) < 0.3


def test_the_law_of_the_symplectic_form():
    """CM01 (22) does not ask whether the constraint moves."""
    change, d_beta = nh.diagnostics.symplectic_change(run(belt, nh.DLA(), h=0.1, steps=4), 2)
    assert np.abs(change - d_beta).max() < 1e-12 < np.abs(change).max()


def test_a_motor_that_brings_energy_is_no_warning(recwarn):
    """A bead on a rod that turns: it goes out as cosh(2 t), and that is no error of a large h."""
    L = (vx**2 + x**2 * om**2) / 2
    rod = nh.System((x, phi), (vx, om), L, [om - 2])
    sol = nh.integrate(rod, nh.DLA(), [1, 0], [0, 2], h=0.05, steps=100)
    np.testing.assert_allclose(sol.q[-1, 0], np.cosh(10), rtol=0.02)
    nh.ensemble(rod, nh.DLA(), [1, 0], [[0, 2], [1, 2]], h=0.05, steps=100)
    assert not recwarn.list and not rod.keeps_energy


# ---------------------------------------------------------------------------- at the door


def test_a_start_off_the_constraints():
    said = "A(q0) v0 + b(q0) = ", "nearest admissible", "[0.5, 2]"
    refused(lambda: run(hoop, nh.DLA(), q0=[0.8, 0], v0=[0.5, 1.9]), *said)
    refused(lambda: run(pivot, nh.DLA(), t0=0.2), "off the holonomic constraints", "settle")
    s = made(belt)
    assert np.abs(s.constraint(s.q0, s.project(s.q0, [1, 2, 3], 0.7), 0.7)).max() < 1e-15


def test_motors_of_many_speeds():
    W, start = nh.symbols("W"), [[0.5, 1], [0.5, 2]]
    s = hoop(constraints=[om - W], parameters={W: 1})
    given = {"h": 0.05, "steps": 20, "parameters": {"W": [1.0, 2.0]}}
    both = nh.ensemble(s, nh.DLA(), s.q0, start, **given)
    np.testing.assert_allclose(both.q[1], run(hoop, nh.DLA(), steps=20).q, atol=1e-13)
    refused(lambda: nh.ensemble(s, nh.DLA(), s.q0, start[0], **given), "member 1", "violates")


FLAT = nh.System((x, y, th), (vx, vy, w), vx**2 + vy**2 + w**2, [vy - x * vx - 1])
REFUSED = {
    "metric of its own": lambda one: nh.integrate(
        made(belt).replace(metric=np.eye(3).tolist()), nh.Projector(), **one
    ),
    "constraints that move": lambda one: nh.integrate(
        FLAT, nh.DiscreteGradient(), [0, 0, 0], [0, 1, 0], **one
    ),
    f"those of {FLAT!r} move": lambda one: nh.Chaplygin(FLAT, fibre="y"),
    "reduction is stated": lambda one: nh.Horizontal(FLAT, fibre="theta", mu=1),
    "no holonomic constraints": lambda one: nh.integrate(made(pivot), nh.Projector(), **one),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words):
    refused(lambda: REFUSED[words]({"h": 1, "steps": 1}), words)
