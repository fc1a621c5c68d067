"""What methods keep exactly, beside a witness that does not keep it, where the sentences of
``keeps``, run in test_promises.py, do not say it all."""

from functools import partial

import numpy as np
import oracle
import pytest
import sympy as sp
from runs import made, power, spread

import nhlab as nh

S = nh.systems
x, y, z, u, vx, vy, vz, vu = nh.symbols("x y z u vx vy vz vu")


def carousel():
    """Rotations of (x, y) are a horizontal symmetry: the constraint sees only x dx + y dy."""
    V = (x**2 + y**2) ** 2 / 4 + (z**2 + u**2) / 2
    L = (vx**2 + vy**2 + vz**2 + vu**2) / 2 - V
    start = {"q0": (1, 0, 0, 0.5), "v0": (0.3, 0.8, 0.15, 0.2)}
    return nh.System((x, y, z, u), (vx, vy, vz, vu), L, [vz - u * (x * vx + y * vy)], **start)


def spin(sol):
    """The angular momentum x p_y - y p_x."""
    return sol.q[:, 0] * sol.p[:, 1] - sol.q[:, 1] * sol.p[:, 0]


# ---------------------------------------------------------------------------- variational methods


@pytest.mark.ledger("CM01-Jd")
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, False), (0.3, True)])
def test_the_discrete_momentum_tends_to_the_continuous_one(alpha, symmetric):
    """The value that a run keeps, begun with two points of the exact motion, is J + O(h^2)."""
    for system in (made(S.kepler), made(carousel)):
        sym = nh.Symmetry(system, {"x": "-y", "y": "x"})
        start = nh.integrate(system, nh.Reference(), h=0.7, steps=1)

        def gap(h, system=system, sym=sym, start=start):
            exact = nh.integrate(system, nh.Reference(), start.q[1], start.v[1], h=h, steps=1)
            given = {"q1": exact.q[1], "h": h, "steps": 50}
            J_d = sym.J_d(nh.integrate(system, nh.DLA(alpha, symmetric), exact.q[0], **given))[:, 0]
            assert spread(J_d) < 1e-13
            return abs(J_d[0] - sym.J(exact.q[0], exact.v[0])[0])

        assert power(gap) == pytest.approx(2, abs=0.1)
        assert gap(0.025) > 1e-6  # and is not J itself


# ---------------------------------------------------------------------------- projector method


def translations():
    """R^4 with a constant metric, nothing of it diagonal, and a D without any symmetry."""
    M = sp.Matrix([[3, 1, 0, 1], [1, 2, 1, 0], [0, 1, 4, 1], [1, 0, 1, 2]])
    v = sp.Matrix([vx, vy, vz, vu])
    D = [vz - sp.sin(y + x) * vx + u * vu / 3, vu - x * vy - z * vx / 2]
    make = partial(nh.System, (x, y, z, u), tuple(v), (v.T * M * v)[0] / 2, D)
    q0 = (0.3, 0.2, -0.4, 0.1)
    return make(q0=q0, v0=make().project(q0, [1, 0.5, -0.3, 0.7]))


@pytest.mark.ledger("FIM08-T1", "FIM08-norm")
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, False), (0, True)])
def test_projector_keeps_the_energy_for_bi_invariant_metrics(alpha, symmetric):
    """Constant M and V = 0: a bi-invariant metric on the group of translations, any D.  Not only
    the arriving momenta keep their norm, for a reflection keeps it."""
    method = nh.Projector(alpha, symmetric)
    for make in (translations, S.free_particle, S.snakeboard, S.rolling_disk):
        system = made(make)
        sol = nh.integrate(system, method, h=0.1, steps=300)
        E = sol.energy()
        leaving = system.velocity(sol.q[:-1], sol.p_minus)
        assert spread(np.array([*E, *system.energy(sol.q[:-1], leaving)])) < 1e-13 * (1 + abs(E[0]))
        assert spread(sol.energy("projected")) > 1e-7  # what satisfies the constraints loses it
        assert spread(nh.integrate(system, nh.DLA(), h=0.1, steps=300).energy()) > 1e-5


@pytest.mark.ledger("FIM08-T1")
def test_projector_loses_other_energies_with_the_square_of_the_step():
    """M of the sleigh depends on theta.  V does it too, unless the midpoint rule meets a quadratic
    one."""

    def lost(make, h, method):
        return spread(nh.integrate(made(make), method, h=h, steps=round(20 / h)).energy())

    assert lost(S.sleigh, 0.2, nh.Projector()) == pytest.approx(4.54e-4, rel=1e-2)
    order = power(lambda h: lost(S.sleigh, h, nh.Projector()), (0.2, 0.1, 0.05))
    assert order == pytest.approx(2, abs=0.05)  # error, not rounding
    assert lost(S.contact_oscillator, 0.1, nh.Projector()) > 1e-5
    assert lost(S.particle, 0.1, nh.Projector()) < 1e-12
    assert lost(S.particle, 0.1, nh.Projector(0.3)) > 0.1


@pytest.mark.ledger("FIM08-T1", "CM01-5.4")
def test_over_a_million_steps(numba):
    """The quartic potential makes Newton iterate: what its last correction leaves would add up."""
    million = {"h": 0.1, "steps": 10**6, "every": 100, "progress": False}
    assert spread(nh.integrate(S.free_particle(), nh.Projector(), **million).energy()) < 1e-11
    assert spread(spin(nh.integrate(carousel(), nh.DLA(), **million))) < 1e-11


# ---------------------------------------------------------------------------- extended methods


@pytest.mark.ledger("C03-R2")
@pytest.mark.parametrize("name, h", [("robot", 0.1), ("transmission", 0.05), ("sleigh", 0.1)])
def test_where_no_positive_step_exists(name, h):
    """The run stops, with the reason and the computed part; and a scan of h finds no step."""
    system = S.catalogue[name]()
    q0, v0 = ([0, 0, 0, np.pi / 2], [6, 0, 1, 6]) if name == "robot" else (None, None)
    with pytest.raises(nh.IntegrationError, match="no positive step exists") as info:
        nh.integrate(system, nh.EDLA(), q0, v0, h=h, steps=1000)
    sol = info.value.trajectory
    assert sol.steps == info.value.step > 0 and sol.t[-1] == info.value.time
    assert spread(sol.energy("midpoints")) < 1e-12 and np.all(np.diff(sol.t) > 0)

    Ld, A, t1, q1 = oracle.discrete(system, sol.method), system.A(sol.q[-1]), sol.t[-1], sol.q[-1]
    gaps, q2 = [], q1
    for h2 in sol.h[-1] * np.linspace(0.02, 2, 40):
        q2, _ = oracle.dla_step(Ld, A, t1, q1, sol.p[-1], h2, q2)
        gaps.append(Ld.D1(t1, q1, t1 + h2, q2) + Ld.D3(sol.t[-2], sol.q[-2], t1, q1))
    assert np.min(gaps) > 0 or np.max(gaps) < 0


@pytest.mark.ledger("C03-R2")
def test_the_reversed_root():
    """(t0, q0) solves the equations for (t2, q2), with lam = 0 and h = -h1; it is never taken."""
    sol = nh.integrate(S.particle(), nh.EDLA(), h=0.2, steps=1000)
    Ld, step0, _ = oracle.on_run(sol)
    back = (*step0[2:], *step0[:2])
    tol = 10 * oracle.roundoff(sol)
    assert np.abs(Ld.D2(*back) + Ld.D4(*step0)).max() < tol
    assert np.abs(Ld.D1(*back) + Ld.D3(*step0)).max() < tol
    assert np.abs(Ld.wd(*back)).max() < tol
    assert sol.h.min() > 0.18 and np.abs(np.diff(sol.q[::2], axis=0)).max(1).min() > 0.01


def test_the_normal_momentum_grows_where_a_motion_settles():
    """On the sleigh's final straight line the projector's zigzag grows; the energy hides it."""
    sleigh = nh.systems.sleigh()
    error, normal = {}, {}
    for method in (nh.DLA(), nh.Projector()):
        sol = nh.integrate(sleigh, method, h=0.1, steps=1500)
        name = type(method).__name__
        error[name] = np.abs(sol.q[-1] - sleigh.exact(sol.t[-1])).max()
        normal[name] = np.abs(sol.constraint()[:, 0])
        assert np.ptp(sol.energy()) < 1e-3
    assert error["DLA"] < 0.1 and error["Projector"] > 50
    t = 0.1 * np.arange(1501)
    grows = (t > 60) & (t < 85)
    rate = np.polyfit(t[grows], np.log(normal["Projector"][grows]), 1)[0]
    u = np.sqrt(2 * sol.energy()[0])  # the final speed: turns decay like exp(-a u t / b^2)
    assert rate == pytest.approx(0.2 * u / 1.04, rel=0.05)
    late = t > 60
    assert normal["DLA"][late].max() < 1e-5
