"""Constraints that move, A v + b = 0 and g(q, t) = 0: exact solutions, Kane's equations."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
import sympy.physics.mechanics as me
from scipy.integrate import solve_ivp

import nhlab as nh

x, y, th, phi, vx, vy, w, om, t = nh.symbols("x y theta phi vx vy w om t")
DISCRETE = [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.Projector(0.3, True), nh.EDLA()]
SECOND = [*DISCRETE, nh.EDLA(0.3, True), nh.Reversible()]
HIGHER = [nh.Composition(nh.DLA()), nh.Composition(nh.Reversible()), nh.RK4()]


# ---------------------------------------------------------------------------- systems


@cache
def turntable():
    """A homogeneous ball of radius 1 that rolls on a table turning at the rate Om."""
    r, (w1, w2, w3), Om = nh.symbols("x y"), nh.symbols("w1:4"), nh.symbols("Om")
    g = nh.symbols("g0:4")
    spin = sp.Matrix(nh.groups.SO3.matrix(g)) * sp.Matrix([w1, w2, w3])  # in space
    L = (vx**2 + vy**2) / 2 + sp.Rational(1, 5) * (w1**2 + w2**2 + w3**2)
    roll = [vx - spin[1] + Om * r[1], vy + spin[0] - Om * r[0]]
    v = (vx, vy, w1, w2, w3)
    return nh.GroupSystem(nh.groups.SO3, v, L, roll, g=g, r=r, parameters={Om: 1.3})


Q0 = [1.0, 0.2, *np.array([1, 0.3, -0.2, 0.4]) / np.sqrt(1.29)]


def circle(times):
    """The centre of the ball: a circle at the rate 2/7 Om, whatever its spin about the vertical."""
    rate = 1j * 2 / 7 * 1.3
    z = Q0[0] + 1j * Q0[1] + (0.3 + 0.1j) * np.expm1(rate * times) / rate
    return np.stack([z.real, z.imag], -1)


def spun():
    return turntable().complete(Q0, vx=0.3, vy=0.1, w3=0.5)


@cache
def belt():
    """A sleigh on a belt that goes to and fro, with a spring."""
    speed, a = sp.Rational(3, 5) * sp.cos(2 * t), sp.Rational(1, 5)
    L = ((vx - a * sp.sin(th) * w) ** 2 + (vy + a * sp.cos(th) * w) ** 2 + w**2) / 2 - x**2 / 2
    edge = sp.sin(th) * (vx - speed) - sp.cos(th) * vy
    return nh.System((x, y, th), (vx, vy, w), L, [edge], t=t)


BELT = [0.3, -0.2, 0.4]


def on_belt():
    return belt().complete(BELT, vx=0.9, w=0.7)


@cache
def hoop(moving=None):
    """A bead on a hoop that a motor turns at the rate 2: as A v + b = 0 or as g(q, t) = 0."""
    L = w**2 / 2 + (sp.Rational(1, 5) + sp.sin(th) ** 2) * om**2 / 2 + 3 * sp.cos(th)
    motor = {"constraints": [om - 2]} if moving is None else {"holonomic": [phi - 2 * t], "t": t}
    return nh.System((th, phi), (w, om), L, **motor)


HOOP = [0.8, 0.0], [0.5, 2.0]


@cache
def pivot():
    """A pendulum of length 1 whose pivot goes to and fro as sin(3 t)/3."""
    L = (vx**2 + vy**2) / 2 - 5 * y
    rod = (x - sp.sin(3 * t) / 3) ** 2 + y**2 - 1
    return nh.System((x, y), (vx, vy), L, holonomic=[rod], t=t)


PIVOT = [0.6, -0.8], [1 + 0.8 * 0.4, 0.6 * 0.4]  # th' = 0.4 for x = sin(th) + ..., y = -cos(th)


def swing(times):
    """The same in its angle, by SciPy."""

    def rates(s, u):
        return u[1], -5 * np.sin(u[0]) + 3 * np.sin(3 * s) * np.cos(u[0])

    start = np.arcsin(0.6), 0.4
    sol = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
    return np.stack([np.sin(sol.y[0]) + np.sin(3 * times) / 3, -np.cos(sol.y[0])], -1)


def slope(error, hs=(0.1, 0.05, 0.025)):
    errors = [error(h) for h in hs]
    return np.polyfit(np.log(hs), np.log(errors), 1)[0]


# ---------------------------------------------------------------------------- exact solutions


@pytest.mark.parametrize("method, bound", [(nh.Reference(), 1e-10), (nh.RK4(), 1e-6)], ids=repr)
def test_ball_on_a_turntable(method, bound):
    sol = nh.integrate(turntable(), method, Q0, spun(), h=0.05, steps=100)
    assert np.abs(sol.q[:, :2] - circle(sol.t)).max() < bound
    assert np.ptp(sol.energy()) > 0.3  # it is not kept, nor should it be


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA()], ids=repr)
def test_order_on_the_turntable(method):
    def error(h):
        sol = nh.integrate(turntable(), method, Q0, spun(), h=h, steps=round(4 / h))
        return np.abs(sol.q[-1, :2] - circle(sol.t[-1])).max()

    assert abs(slope(error, (0.2, 0.1, 0.05)) - 2) < 0.1


def test_a_motor_two_ways():
    """A prescribed speed is the derivative of a prescribed angle, discretely too."""
    for method in (nh.DLA(), nh.DLA(0.3), nh.Reversible(), nh.RK4(), nh.Reference()):
        a, b = (nh.integrate(s, method, *HOOP, h=0.05, steps=100) for s in (hoop(), hoop("moving")))
        np.testing.assert_allclose(a.q, b.q, atol=1e-9 if method.order > 4 else 1e-12)
        np.testing.assert_allclose(a.q[:, 1], 2 * a.t, atol=1e-10)


def test_the_motor_leaves_an_energy_of_its_own():
    """The bead moves in V - 2 sin(th)^2; the motor pays the rest."""
    sol = nh.integrate(hoop(), nh.Reference(), *HOOP, h=0.1, steps=60)
    kept = sol.v[:, 0] ** 2 / 2 - 2 * np.sin(sol.q[:, 0]) ** 2 - 3 * np.cos(sol.q[:, 0])
    assert np.ptp(kept) < 1e-10 and np.ptp(sol.energy()) > 1
    s, states = hoop(), (sol.q, sol.v)
    power = -np.einsum("ka,ka->k", s.multipliers(*states), s.b(sol.q))
    np.testing.assert_allclose(np.gradient(sol.energy(), sol.t)[1:-1], power[1:-1], atol=0.05)


@pytest.mark.parametrize("method", [nh.Variational(), nh.DLA(), nh.Reversible()], ids=repr)
def test_pendulum_with_a_moving_pivot(method):
    def error(h):
        sol = nh.integrate(pivot(), method, *PIVOT, h=h, steps=round(2 / h))
        assert np.abs(pivot().g(sol.q, sol.t)).max() < 1e-13
        return np.abs(sol.q - swing(sol.t)).max()

    assert abs(slope(error, (0.04, 0.02, 0.01)) - 2) < 0.1


def test_pendulum_with_a_moving_pivot_by_the_others():
    sol = nh.integrate(pivot(), nh.Reference(), *PIVOT, h=0.5, steps=8)
    assert np.abs(sol.q - swing(sol.t)).max() < 1e-9
    edla = nh.integrate(pivot(), nh.EDLA(), *PIVOT, h=0.01, steps=10)
    assert np.abs(edla.q - swing(edla.t)).max() < 1e-4  # later no positive step exists


# ---------------------------------------------------------------------------- Kane's equations


def kane():
    """The sleigh on the belt by KanesMethod, as a function (time, (q, u)) -> rates."""
    q = X, Y, TH = me.dynamicsymbols("x y theta")
    u = me.dynamicsymbols("u1:4")
    time = me.dynamicsymbols._t
    N = me.ReferenceFrame("N")
    B = N.orientnew("B", "axis", (TH, N.z))
    B.set_ang_vel(N, u[2] * N.z)
    P, C = me.Point("P"), me.Point("C")
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    C.set_pos(P, sp.Rational(1, 5) * B.x)
    C.v2pt_theory(P, N, B)
    body = me.RigidBody("sleigh", C, B, 1, (me.inertia(B, 0, 0, 1), C))
    speed = sp.Rational(3, 5) * sp.cos(2 * time)
    edge = sp.sin(TH) * (u[0] - speed) - sp.cos(TH) * u[1]
    method = me.KanesMethod(
        N,
        q,
        u_ind=[u[0], u[2]],
        u_dependent=[u[1]],
        kd_eqs=[b - a.diff() for a, b in zip(q, u, strict=True)],
        velocity_constraints=[edge],
    )
    method.kanes_equations([body], [(P, -X * N.x)])
    state = (*q, u[0], u[2], u[1])
    rhs = sp.lambdify((time, state), [method.mass_matrix_full, method.forcing_full])

    def rates(s, z):
        mass, force = rhs(s, z)
        return np.linalg.solve(mass, force[:, 0])

    return rates


@cache
def belt_by_kane():
    """Where the sleigh is at t = 2."""
    v0 = on_belt()
    start = [*BELT, v0[0], v0[2], v0[1]]
    sol = solve_ivp(kane(), (0, 2), start, "DOP853", [2.0], rtol=1e-12, atol=1e-13)
    return sol.y[:3, -1]


def test_reference_against_kane():
    sol = nh.integrate(belt(), nh.Reference(), BELT, on_belt(), h=1.0, steps=2)
    np.testing.assert_allclose(sol.q[-1], belt_by_kane(), rtol=1e-9)
    assert np.abs(sol.constraint()).max() < 1e-10


@pytest.mark.parametrize("method", [*SECOND, nh.DLA(0.3), *HIGHER], ids=repr)
def test_orders_on_the_belt(method):
    def error(h):
        steps = round((1 if method.variable_step else 2) / h)
        sol = nh.integrate(belt(), method, BELT, on_belt(), h=h, steps=steps)
        exact = nh.integrate(belt(), nh.Reference(), BELT, on_belt(), h=sol.t[-1], steps=1)
        return np.abs(sol.q[-1] - exact.q[-1]).max()

    assert abs(slope(error) - method.order) < 0.1


# ---------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("method", [nh.DLA(), nh.DLA(0.3, True), nh.EDLA()], ids=repr)
@pytest.mark.parametrize("make", [belt, hoop], ids=["belt", "hoop"])
def test_the_discrete_constraint(make, method):
    start = (BELT, on_belt()) if make is belt else HOOP
    sol = nh.integrate(make(), method, *start, h=0.05, steps=30)
    assert np.abs(sol.constraint("midpoints")).max() < 1e-12
    assert np.abs(sol.constraint("projected")).max() < 1e-12


def test_the_average_momentum_of_the_projector():
    for method in (nh.Projector(), nh.Projector(0.3), nh.Projector(0, True)):
        sol = nh.integrate(belt(), method, BELT, on_belt(), h=0.05, steps=60)
        assert np.abs(sol.constraint("average")).max() < 1e-12
        assert np.abs(sol.constraint()).max() > 1e-4
    q1 = sol.q[1]
    again = nh.integrate(belt(), method, BELT, q1=q1, h=0.05, steps=60)
    np.testing.assert_allclose(again.q, sol.q, atol=1e-10)


@pytest.mark.parametrize("make", [belt, hoop], ids=["belt", "hoop"])
def test_the_energy_balance_of_the_extended_method(make):
    """E_minus of a step is E_plus of the last one and the work lam.b of the impulse between."""
    s, start = make(), (BELT, on_belt()) if make is belt else HOOP
    sol = nh.integrate(s, nh.EDLA(), *start, h=0.02, steps=50)
    t0, q0, v = sol.t[:-1], sol.q[:-1], sol.v_step
    plus, minus = (nh.EDLA().on_step(s, e, t0, q0, v, sol.h) for e in ("E_plus", "E_minus"))
    work = np.einsum("ka,ka->k", sol.lam, s.b(q0, t0))
    assert np.abs(minus[1:] - plus[:-1] - work[1:]).max() < 1e-12
    assert np.abs(work[1:]).max() > 1e-4 and np.ptp(sol.h) > 0


def test_the_moving_energy_is_a_horizontal_symmetry():
    """d/dt + Om d/dphi of the table lies in D, on R x Q: E - Om J is kept."""
    s = turntable()
    rotate = {"vx": -s.q[1], "vy": s.q[0]}
    symmetry = nh.Symmetry(s, {"time": {"t": 1}, "rotation": rotate})
    ((one, rate),) = symmetry.set(Om=1).horizontal
    assert (one, rate) == (1, 1)
    sol = nh.integrate(s, nh.Reference(), Q0, spun(), h=0.1, steps=50)
    J = symmetry.J(sol.q, sol.v)
    assert np.ptp(J[:, 0] + 1.3 * J[:, 1]) < 1e-9 < np.ptp(J[:, 0])


@pytest.mark.parametrize("method", [nh.Reference(), nh.Composition(), *SECOND], ids=repr)
def test_the_work_of_the_motor(method):
    """Energy less work is kept, as well as the method and Simpson's rule can."""

    def gap(h):
        sol = nh.integrate(hoop(), method, *HOOP, h=h, steps=round(1 / h))
        return np.ptp(sol.energy() - sol.work())

    assert abs(slope(gap, (0.1, 0.05, 0.025)) - min(method.order, 4)) < 0.3


def damped(time):
    """The angle of the bead with damping, by SciPy."""

    def rates(_, u):
        return u[1], 4 * np.sin(u[0]) * np.cos(u[0]) - 3 * np.sin(u[0]) - u[1] / 2

    start = (0.8, 0.5)
    return solve_ivp(rates, (0, time), start, "DOP853", rtol=1e-12, atol=1e-13).y[0, -1]


@pytest.mark.parametrize("method", SECOND, ids=repr)
def test_motor_and_damping_together(method):
    s = hoop().remade(forces=[-w / 2, 0])

    def error(h):
        sol = nh.integrate(s, method, *HOOP, h=h, steps=round(1 / h))
        if type(method) is nh.EDLA:
            assert np.ptp(sol.energy("midpoints") - sol.work()[1:]) < 1e-12
        return abs(sol.q[-1, 0] - damped(sol.t[-1]))

    assert abs(slope(error, (0.04, 0.02, 0.01)) - 2) < 0.1


def test_the_law_of_the_symplectic_form():
    """CM01 (22) does not ask whether the constraint moves."""
    sol = nh.integrate(belt(), nh.DLA(), BELT, on_belt(), h=0.1, steps=4)
    change, d_beta = nh.diagnostics.symplectic_change(sol, 2)
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


def test_frobenius_with_time():
    def holonomic(c, **others):
        return nh.System((x, y), (vx, vy), vx**2 + vy**2, [c], **others).is_holonomic()

    assert holonomic(vx - 2) and holonomic(vx - sp.sin(t), t=t)
    assert holonomic(2 * x * vx + 2 * y * vy - sp.cos(t), t=t)
    assert not holonomic(vx - y) and not holonomic(vx - t * vy, t=t)
    assert not belt().is_holonomic() and hoop().is_holonomic() and not turntable().is_holonomic()
    spin = nh.GroupSystem(nh.groups.SE2, (vx, vy, w), vx**2 + vy**2 + w**2, [w - 2])
    assert spin.is_holonomic()


def test_a_start_off_the_constraints():
    with pytest.raises(ValueError, match=r"A\(q0\) v0 \+ b\(q0\) = .* nearest admissible") as error:
        nh.integrate(hoop(), nh.DLA(), [0.8, 0], [0.5, 1.9], h=0.1, steps=1)
    assert "[0.5, 2]" in str(error.value)
    with pytest.raises(ValueError, match=r"off the holonomic constraints.*settle"):
        nh.integrate(pivot(), nh.DLA(), PIVOT[0], PIVOT[1], h=0.1, steps=1, t0=0.2)
    near = belt().project(BELT, [1, 2, 3], 0.7)
    assert np.abs(belt().constraint(BELT, near, 0.7)).max() < 1e-15


def test_many_at_once_and_stored(tmp_path):
    v0 = np.array([on_belt(), belt().complete(BELT, vx=0.2, w=-0.4)])
    many = nh.ensemble(belt(), nh.DLA(), BELT, v0, h=0.05, steps=20)
    one = nh.integrate(belt(), nh.DLA(), BELT, v0[1], h=0.05, steps=20)
    np.testing.assert_allclose(many.q[1], one.q, atol=1e-13)
    one.save(tmp_path / "run.npz")
    again = nh.load(tmp_path / "run.npz")
    assert again.system == belt() and np.abs(again.constraint("midpoints")).max() < 1e-12


def test_motors_of_many_speeds():
    W = nh.symbols("W")
    s = nh.System(hoop().q, hoop().v, hoop().L, [om - W], parameters={W: 1})
    many, given = {"W": [1.0, 2.0]}, {"h": 0.05, "steps": 20}
    both = nh.ensemble(s, nh.DLA(), HOOP[0], [[0.5, 1], [0.5, 2]], parameters=many, **given)
    one = nh.integrate(hoop(), nh.DLA(), *HOOP, **given)
    np.testing.assert_allclose(both.q[1], one.q, atol=1e-13)
    with pytest.raises(ValueError, match=r"member 1.*violates"):
        nh.ensemble(s, nh.DLA(), HOOP[0], [0.5, 1], parameters=many, **given)


def test_refusals():
    bent = nh.System(
        belt().q, belt().v, belt().L, belt().constraints, t=t, metric=np.eye(3).tolist()
    )
    flat = nh.System((x, y, th), (vx, vy, w), vx**2 + vy**2 + w**2, [vy - x * vx - 1])
    cases = {
        "metric of its own": lambda: nh.integrate(
            bent, nh.Projector(), BELT, on_belt(), h=1, steps=1
        ),
        "constraints that move": lambda: nh.integrate(
            flat, nh.DiscreteGradient(), [0, 0, 0], [0, 1, 0], h=1, steps=1
        ),
        "those of .* move": lambda: nh.Chaplygin(flat, fibre="y"),
        "reduction is stated": lambda: nh.Horizontal(flat, fibre="theta", mu=1),
        "no holonomic constraints": lambda: nh.integrate(
            pivot(), nh.Projector(), *PIVOT, h=1, steps=1
        ),
    }
    for words, call in cases.items():
        with pytest.raises(ValueError, match=words):
            call()
