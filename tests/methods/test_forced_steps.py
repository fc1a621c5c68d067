"""Forces in every method: the printed equations, orders, balances, and two independent oracles."""

import kane
import numpy as np
import oracle
import pytest
import sympy as sp
from runs import close, made, name, power, slope

import nhlab as nh

x, y, z, vx, vy, vz, t, c = nh.symbols("x y z vx vy vz t c")
L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
RULES = [(), (0.3,), (0.3, True), (0.0, True)]


def damped(time=False):
    """The particle with damping, a gyroscopic and a curved force; and one that shakes it."""
    shake = {"t": t} if time else {}
    forces = (-c * vx + y * vy, int(time) * sp.sin(3 * t) - x * vy / 3 - y * vx, -(vz**3) / 5)
    start = {"q0": (0, 1, 0), "v0": (1, 1, 1), "parameters": {c: 0.3}}
    return nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx], forces=forces, **shake, **start)


def shaken():
    return damped(time=True)


# ---------------------------------------------------------------------------- the equations


@pytest.mark.ledger("CM01-5.5")
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_printed_equations(rule):
    """D1Ld(1,2) + D2Ld(0,1) + F-(1,2) + F+(0,1) = A^T lam, with F written out here."""
    s, m, h = made(shaken), nh.DLA(*rule), 0.1
    sol = nh.integrate(s, m, h=h, steps=30)
    points = (m.alpha, 1 - m.alpha) if m.symmetric else (m.alpha,)
    F = oracle.numeric((t, s.q, s.v), [e.subs(oracle.numbers(s)) for e in s.forces])
    dq = np.diff(sol.q, axis=0)
    at = {a: F(sol.t[:-1] + a * h, sol.q[:-1] + a * dq, dq / h) for a in points}
    minus = h * np.mean([(1 - a) * at[a] for a in points], axis=0)
    plus = h * np.mean([a * at[a] for a in points], axis=0)
    terms = oracle.Terms(sol)
    close(terms.DEL + minus[1:] + plus[:-1] - terms.force, 1e-13)


@pytest.mark.ledger("CM01-5.5")
def test_the_gyroscopic_force_of_a_reduction_is_one_of_these():
    """A Chaplygin system is Variational's with its gyroscopic force given as forces."""
    red = nh.Chaplygin(nh.systems.particle(), fibre="z")
    alone = nh.System(red.q, red.v, red.L, forces=list(red.gyroscopic))
    for m in (nh.Variational(), nh.Variational(0.3, True), nh.RK4()):
        a, b = (nh.integrate(s, m, red.q0, red.v0, h=0.1, steps=40).q for s in (red, alone))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------- orders


def ring():
    """With a holonomic constraint, and a force that shakes and brakes."""
    fall, forces = (vx**2 + vy**2) / 2 - y, [sp.sin(t) - vx / 3, -x * vy / 2]
    start = {"q0": (0.8, -0.6), "v0": (0.6, 0.8)}
    return nh.System(
        (x, y), (vx, vy), fall, holonomic=[x**2 + y**2 - 1], forces=forces, t=t, **start
    )


def oscillator():
    return nh.System([x], [vx], vx**2 / 2 - 2 * x**2, forces=[-vx / 2], q0=(1,), v0=(0,))


def top(rule="log"):
    """A free body with drag, a motor in the body and a torque that depends on its attitude."""
    w = nh.symbols("w1 w2 w3")
    g = nh.symbols("qw qx qy qz")
    R = nh.groups.SO3.matrix(g)
    L = (w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2
    forces = {w[0]: 0.3 - w[0] / 4 + R[2, 1], "w2": -R[2, 0] - w[1] * w[0] ** 2 / 3}
    start = {"q0": (1, 0, 0, 0), "v0": (0.5, 1, 0.2)}
    return nh.GroupSystem(
        nh.groups.SO3, w, L, [w[2] - R[0, 0] * w[1] / 5], g=g, rule=rule, forces=forces, **start
    )


def cayley_top():
    return top("cayley")


# system, method, order, steps of the coarsest run
ORDERS = [
    (shaken, m(*r), 1 if r == (0.3,) else 2, 10) for m in (nh.DLA, nh.Projector) for r in RULES
]
ORDERS += [(shaken, nh.RK4(), 4, 10), (shaken, nh.Reversible(), 2, 10)]
ORDERS += [(shaken, nh.Composition(m), 4, 10) for m in (nh.DLA(), nh.Reversible())]
ORDERS += [(damped, nh.DiscreteGradient(), 2, 20), (ring, nh.Variational(), 2, 20)]
ORDERS += [(damped, nh.EDLA(), 2, 50), (damped, nh.EDLA(0.3, True), 2, 50)]
ORDERS += [(ring, nh.DLA(0.3, True), 2, 20)]
ORDERS += [(oscillator, nh.Variational(*r), 1 if r == (0.3,) else 2, 80) for r in RULES[:3]]
ORDERS += [(oscillator, nh.RK4(), 4, 10), (oscillator, nh.DiscreteGradient(), 2, 10)]
ORDERS += [(oscillator, nh.Composition(nh.Variational(), 6), 6, 4)]
ORDERS += [
    (make, m, 2, 10)
    for make in (top, cayley_top)
    for m in (nh.DLA(), nh.Projector(), nh.DLA(0.3, True))
]


@pytest.mark.parametrize("make, method, expected, first", ORDERS, ids=name)
def test_orders(make, method, expected, first):
    room = 0.1 if make in (damped, ring) and not method.variable_step else 0.15
    assert slope(made(make), method, first=first) == pytest.approx(expected, abs=room)


def test_reference_of_a_damped_oscillator():
    """To which the orders above refer: e^(-t/4) cos(w t - phase)."""
    sol, w = nh.integrate(made(oscillator), nh.Reference(), h=0.5, steps=8), np.sqrt(63 / 16)
    exact = np.exp(-sol.t / 4) * (np.cos(w * sol.t) + np.sin(w * sol.t) / (4 * w))
    close(sol.q[:, 0] - exact, 1e-10)


# ---------------------------------------------------------------------------- oracles


def pulled_sleigh():
    """The sleigh with drag on its mass, a motor at the contact and a torque."""
    s = nh.systems.sleigh()
    X, Y, th = s.q
    ux, uy, w = s.v
    a = next(p for p in s.parameters if p.name == "a")
    mass = ux - a * w * sp.sin(th), uy + a * w * sp.cos(th)
    drag, pull = [-e * (1 + ux**2 + uy**2) / 4 for e in mass], sp.cos(t) / 2
    lever = a * (drag[1] * sp.cos(th) - drag[0] * sp.sin(th))
    forces = {X: drag[0] + pull * sp.cos(th), Y: drag[1] + pull * sp.sin(th)}
    forces[th] = lever + sp.sin(2 * t) / 3
    return s.replace(forces=forces, t=t)


def test_falling_with_drag():
    """m v' = -m g - k v^2 downwards: v = -tanh(t) v_end, and the drag eats what weight gives."""
    s = nh.System([z], [vz], vz**2 / 2 - 9.81 * z, forces={z: 0.1 * vz**2}, q0=(0,), v0=(0,))
    end, h = np.sqrt(9.81 / 0.1), 0.01
    sol, scaled = nh.integrate(s, nh.Variational(), h=h, steps=600), 9.81 / end
    np.testing.assert_allclose(sol.v[:, 0], -end * np.tanh(scaled * sol.t), rtol=0, atol=1e-4)
    height = -(end**2) / 9.81 * np.log(np.cosh(scaled * sol.t))
    lost = (end * np.tanh(scaled * sol.t)) ** 2 / 2 + 9.81 * height
    np.testing.assert_allclose(sol.work(), lost, rtol=0, atol=1e-5 * abs(lost[-1]))


def test_kanes_equations():
    def loads(N, contact, centre, B, q, u, time):
        drag = -centre.vel(N) * (1 + u[0] ** 2 + u[1] ** 2) / 4
        motor, torque = sp.cos(time) / 2 * B.x, sp.sin(2 * time) / 3 * N.z
        return [(centre, drag), (contact, motor), (B, torque)]

    s = pulled_sleigh()
    sol = nh.integrate(s, nh.Reference(), h=0.1, steps=30)
    exact = kane.sleigh(loads)(sol.t, s.q0, s.v0)
    np.testing.assert_allclose(sol.q, exact, rtol=0, atol=1e-9)
    free = nh.integrate(nh.systems.sleigh(), nh.Reference(), h=0.1, steps=30)
    assert np.abs(sol.q - free.q).max() > 0.1


# ---------------------------------------------------------------------------- balances


@pytest.mark.parametrize("rule", [(), (0.3,), (0.3, True)], ids=str)
def test_energy_balance_of_a_variable_step(rule):
    """E+ changes by the work h F.v of the step, written out here; DLA's does not."""
    s, m = made(damped), nh.EDLA(*rule)
    count = 100 if m.order == 2 else 10  # a few more, and there is no step
    sol = nh.integrate(s, m, h=0.05, steps=count)
    points = (m.alpha, 1 - m.alpha) if m.symmetric else (m.alpha,)
    q0, v, h = sol.q[:-1], sol.v_step, sol.h
    work = h * np.mean([s.power(q0 + a * h[:, None] * v, v) for a in points], axis=0)
    change = np.diff(sol.energy("midpoints"))
    np.testing.assert_allclose(change, work[1:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diff(sol.work()), work, rtol=0, atol=1e-15)
    other = nh.integrate(s, nh.DLA(*rule), h=0.05, steps=100)
    assert np.abs(np.diff(other.energy("midpoints") - other.work()[1:])).max() > 1e-6


@pytest.mark.parametrize(
    "method, rate", [(nh.RK4(), 4), (nh.Reference(), 4), (nh.DLA(), 2)], ids=repr
)
def test_work_of_other_methods(method, rate):
    def run(h, every=1):
        return nh.integrate(made(damped), method, h=h, steps=round(2 / h), every=every)

    def gap(h):
        return np.abs(run(h).energy() - run(h).work() - run(h).energy()[0])[-1]

    assert power(gap, (0.1, 0.05)) > rate - 0.5
    assert run(0.01, 4).work()[-1] == pytest.approx(run(0.05).work()[-1], abs=2e-3)


def test_no_energy_jump_is_said_of_a_driven_run(recwarn):
    s = nh.System([x], [vx], vx**2 / 2, forces=[50], q0=(0,), v0=(0.001,))
    nh.integrate(s, nh.Variational(), h=0.1, steps=200)
    nh.ensemble(s, nh.Variational(), [[0], [1]], [[0.001]] * 2, h=0.1, steps=200)
    assert not recwarn.list


# ---------------------------------------------------------------------------- groups, reductions


def test_body_forces_by_hand():
    """I w' = I w x w + torque + A^T lambda, and the work of the torque is the energy gained."""
    s, q, (I, w) = top(), np.array([0.8, 0.6, 0, 0]), (np.diag([1.0, 2, 3]), np.array([1, 2, 0.4]))
    torque = [0.3 - w[0] / 4 + 2 * q[2] * q[3] + 2 * q[0] * q[1], -w[1] * w[0] ** 2 / 3, 0]
    torque[1] -= 2 * q[1] * q[3] - 2 * q[0] * q[2]
    np.testing.assert_allclose(s.force(q, w), torque, atol=1e-15)
    force = s.multipliers(q, w) @ s.A(q)
    right = np.cross(I @ w, w) + torque + force
    np.testing.assert_allclose(I @ s.acceleration(q, w), right, atol=1e-13)
    sol = nh.integrate(s, nh.RK4(), h=0.01, steps=300)
    assert np.ptp(sol.energy()) > 0.05 and np.ptp(sol.energy() - sol.work()) < 1e-5


@pytest.mark.parametrize("rule", ["log", "trace"])
def test_energy_balance_on_a_group(rule):
    w = nh.symbols("w1 w2 w3")
    L = (w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2
    about = {"forces": [0.1 - w[0] / 5, -(w[1] ** 3) / 4, 0], "rule": rule}
    s = nh.GroupSystem(nh.groups.SO3, w, L, **about, q0=(1, 0, 0, 0), v0=(0.5, 1, 0.2))
    sol = nh.integrate(s, nh.EDLA(), h=0.05, steps=20)
    kept, work = sol.energy("midpoints") - sol.work()[1:], sol.h * s.power(sol.q[1:], sol.v_step)
    assert np.ptp(kept) < 1e-13 < 0.1 < np.ptp(sol.energy("midpoints"))
    np.testing.assert_allclose(np.diff(sol.work()), work, rtol=1e-12)  # F contains no g


def test_body_forces_are_reduced():
    """A wheel that rolls on SE(2), with a motor and drag in the body."""
    psi, vpsi, u, s, w = nh.symbols("psi vpsi u s w")
    rows = [u - vpsi / 2, s, w - sp.sin(psi) * vpsi]
    about = {"forces": {psi: 1 - vpsi / 5, u: -u / 3, "w": -w * u / 2}, "r": [psi]}
    start = {"q0": (0.3, 0, 0, 0), "v0": (1, 0.5, 0, np.sin(0.3))}
    L = u**2 + s**2 + w**2 / 2 + vpsi**2 / 2
    full = nh.GroupSystem(nh.groups.SE2, (vpsi, u, s, w), L, rows, **about, **start)
    red = nh.Chaplygin(full, base="psi")
    a, b = (nh.integrate(s, m, h=0.05, steps=40) for s, m in ((red, nh.RDLA()), (full, nh.DLA())))
    np.testing.assert_allclose(red.reconstruct(a).q, b.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(a.work(), b.work(), rtol=0, atol=1e-13)
    assert b.work()[-1] > 0.1


def test_cayley_steps_with_a_force_in_space_are_not_composed():
    with pytest.raises(ValueError, match="is not symmetric"):
        nh.integrate(
            top("cayley").replace(constraints=[]), nh.Composition(nh.DLA()), h=0.1, steps=1
        )


@pytest.mark.parametrize("method", [nh.RDLA(), nh.RDLA(0.3, True), nh.REDLA()], ids=repr)
def test_invariant_forces_are_reduced(method):
    """The reconstructed motion is that of DLA or EDLA on the full system."""
    full = made(damped)
    red = nh.Chaplygin(full, fibre="z")
    assert red.is_forced
    sol = nh.integrate(red, method, h=0.05, steps=60)
    whole = nh.integrate(full, method.full, h=0.05, steps=60)
    back = red.reconstruct(sol)
    for a, b in ((back.q, whole.q), (back.p, whole.p), (back.lam[1:], whole.lam[1:])):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol.work(), whole.work(), rtol=0, atol=1e-9)
    r, v = whole.q[5, :2], whole.v_projected[5, :2]
    assert red.power(r, v) == pytest.approx(full.power(whole.q[5], whole.v_projected[5]))
    a, b = (nh.integrate(s, nh.Reference(), h=0.2, steps=10).q[:, :2] for s in (red, full))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


def wheeled(force=0):
    """The particle with a wheel w, whose momentum is kept unless a force turns it."""
    w, vw = nh.symbols("w vw")
    forces, start = {x: -c * vx, w: force}, {"q0": (0, 1, 0, 0), "v0": (1, 1, 1, 0.5)}
    kinetic = L + vw**2 / 2 + vw * vy / 3
    about = {"forces": forces, "parameters": {c: 0.3}, **start}
    return nh.System((x, y, z, w), (vx, vy, vz, vw), kinetic, [vz - y * vx], **about)


@pytest.mark.parametrize(
    "reduced",
    [lambda s: nh.Horizontal(s, fibre="w"), lambda s: nh.Mixed(s, fibre="z w", momentum="w"),
     lambda s: nh.Chaplygin(nh.Horizontal(s, fibre="w"), fibre="z")],
    ids=["Horizontal", "Mixed", "Chaplygin of Horizontal"],
)  # fmt: skip
def test_forces_across_a_horizontal_symmetry(reduced):
    red, full = reduced(wheeled()), wheeled()
    sol = nh.integrate(red, nh.Reference(), h=0.2, steps=10)
    whole = nh.integrate(full, nh.Reference(), h=0.2, steps=10)
    np.testing.assert_allclose(sol.q, whole.q[:, : len(red.q)], rtol=0, atol=1e-9)
    sol, whole = (
        nh.integrate(s, m, h=0.1, steps=30) for s, m in ((red, nh.RDLA()), (full, nh.DLA()))
    )
    np.testing.assert_allclose(sol.q, whole.q[:, : len(red.q)], rtol=0, atol=1e-11)
    np.testing.assert_allclose(sol.work(), whole.work(), rtol=0, atol=1e-11)


def test_forces_that_are_no_symmetry():
    with pytest.raises(ValueError, match="no symmetry of the forces"):
        nh.Chaplygin(made(damped).replace(forces={x: z * c}), fibre="z")
    for reduction in (nh.Horizontal, nh.Mixed):
        options = (
            {"fibre": "w"} if reduction is nh.Horizontal else {"fibre": "z w", "momentum": "w"}
        )
        with pytest.raises(ValueError, match=r"the force vx acts along w, so its momentum is not"):
            reduction(wheeled(force=vx), **options)
