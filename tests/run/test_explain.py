"""Why a run stopped: the reason in words, and what to do."""

import warnings

import numpy as np
import pytest
import sympy as sp

import nhlab as nh

x, vx = nh.symbols("x vx")
BOARD, steep = nh.systems.snakeboard(), nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
flat = nh.System((x,), (vx,), vx**2 / 2 - 1)


def stopped(system, method, q0=None, v0=None, **options):
    """The error of a run; what was computed is sound."""
    with pytest.raises(nh.IntegrationError) as error:
        nh.integrate(system, method, q0, v0, **options)
    sol = error.value.trajectory
    assert np.all(np.isfinite(sol.q)) and np.all(np.diff(sol.t) > 0)
    return error.value


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=str)
def test_rank_loss_on_the_way(method):
    """The wheels turn at a rate that meets phi = pi/2 after 20 steps; the error says where.

    Reference may step across: D itself is smooth there, only the two forms merge.
    """
    q0 = [0, 0, 0, 0, np.pi / 2 - 1]
    v0 = BOARD.project(q0, [0, 0, 0, 0.3, 1])
    error = stopped(BOARD, method, q0, v0, h=0.05, steps=100)
    assert "dependent" in error.reason and "phi = 1.57" in error.reason, error
    assert 18 <= error.step <= 21 and "rank" in error.advice


def test_an_energy_that_does_not_depend_on_the_step():
    """Free motion has its energy with every h: EDLA's equation for h says nothing."""
    error = stopped(flat, nh.EDLA(), [0], [1], h=0.1, steps=5)
    assert "hardly depends on the step at x = 0.1" in error.reason and error.step == 1
    assert "EDLA is of no use" in error.advice


@pytest.mark.parametrize("factor", [1, 0.1, 1e8, 1e-8])
@pytest.mark.parametrize("zero", [0.5, -0.5, 0.3, 1e4])
def test_neither_units_nor_the_zero_of_energy_matter_to_edla(factor, zero):
    """Free motion in all units of mass; with zero = 0.5 its energy is 0, or round-off."""
    system = nh.System((x,), (vx,), factor * (vx**2 / 2 + zero))
    error = stopped(system, nh.EDLA(), [0.1], [1.0], h=0.1, steps=5)
    assert "hardly depends on the step" in error.reason and error.step == 1


def test_an_energy_that_depends_on_the_step_whatever_its_zero():
    """The knife edge stops since no step exists, also where its potential is 1e6 at the start."""
    edge = nh.systems.knife_edge()
    reasons = []
    for system in (edge, edge.replace(L=edge.L - 1e6)):
        error = stopped(system, nh.EDLA(), h=0.05, steps=20)
        reasons.append((error.step, error.reason.split(" at ")[0]))
    assert reasons[0] == reasons[1] == (9, "no positive step exists")


def test_no_step_on_a_pendulum_whose_pivot_moves():
    """A limit of the method, met at about the same time for every h; the advice fits the system."""
    y, vy, t = nh.symbols("y vy t")
    g = (x - sp.sin(t) / 10) ** 2 + y**2 - 1
    L = (vx**2 + vy**2) / 2 - 9.81 * y
    system = nh.System((x, y), (vx, vy), L, holonomic=[g], t=t)
    q0 = system.settle([0.84, -0.54])
    for h in (0.02, 0.01):
        error = stopped(system, nh.EDLA(), q0, system.project(q0, [0, 0]), h=h, steps=200)
        assert "no positive step exists" in error.reason and 0.15 < error.time < 0.25
        assert error.advice.endswith("or use nh.DLA.")  # Projector would refuse


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA()], ids=str)
def test_newton_that_does_not_converge(method):
    """In the first step already; EDLA's is taken by another method."""
    error = stopped(steep, method, [2.0], [0.0], h=0.2, steps=5)
    assert error.reason == "Newton's method did not converge in 9 iterations at x = 2"
    assert error.advice == "Try a smaller h." and error.step == 0 and error.residual > 1
    nh.integrate(steep, method, [-3.0], [0.0], h=0.2, steps=5)


def test_forms_of_different_size_are_not_dependent():
    """Rows (1, 0, 0) and (0, 1e6, 0): the run stops for another reason."""
    y, z, vy, vz = nh.symbols("y z vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2 + sp.exp(3 * z)
    system = nh.System((x, y, z), (vx, vy, vz), L, [vx, 1e6 * vy])
    error = stopped(system, nh.DLA(), [0, 0, 2.0], [0, 0, 0.0], h=0.2, steps=5)
    assert error.reason.startswith("Newton's method did not converge")


@pytest.mark.parametrize("unit", [1e-3, 1, 1e3])
def test_steps_that_grow_without_bound(unit):
    """Of a heavy body on cos x the energy determines steps of 0.1 to 0.2, and then of 15.5, 1.2e3,
    9.3e4 and 7.2e6: x = 7e6 after 16 steps, with the energy that it had."""
    system = nh.System((x,), (vx,), unit * (1e4 * vx**2 / 2 - sp.cos(x)))
    run = {"h": 0.1, "steps": 16}
    with pytest.warns(RuntimeWarning, match=r"the step grows from h = 0\.1 to 7\.\d+e\+06"):
        sol = nh.integrate(system, nh.EDLA(), [0.1], [1], **run)
    assert sol.q[-1, 0] > 7e6
    with pytest.warns(RuntimeWarning, match="the steps of 2 of 3 members grow"):
        nh.ensemble(system, nh.EDLA(), [[0.1]] * 3, [[1], [1], [0.001]], **run)


def test_a_step_that_has_grown_before_the_run_stops():
    """The knife edge with h = 0.3: steps of 5, 76, 1.1e3 and so on, 15 times larger each."""
    error = stopped(nh.systems.knife_edge(), nh.EDLA(), h=0.3, steps=300)
    assert "the step has grown from h = 0.3 to " in error.reason, error
    assert "another h" in error.advice


def test_steps_that_change_a_little():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sol = nh.integrate(nh.systems.kepler(), nh.EDLA(), h=0.02, steps=300)
    assert 5 < sol.h.max() / sol.h.min() < 50
