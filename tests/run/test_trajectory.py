"""Trajectories: what the arrays mean and how they are read."""

import numpy as np
import pytest
from starts import BALL, DISCRETE, DRIVEN, METHODS, PARTICLE, run

import nhlab as nh

# ---------------------------------------------------------------------------- the arrays


@pytest.mark.parametrize("steps", [0, 1, 24])
@pytest.mark.parametrize("method", [*METHODS, nh.Variational()], ids=str)
def test_shapes(method, steps):
    system = nh.systems.kepler() if isinstance(method, nh.Variational) else PARTICLE
    sol = run(system, method, steps=steps)
    n, m, N = len(system.q), len(system.constraints), steps
    assert len(sol) == N + 1 and sol.steps == N and sol.message == ""
    nodes, each_step = (
        dict.fromkeys(("q", "v", "p", "v_projected", "p_projected"), (N + 1, n)),
        (N,),
    )
    for name, shape in {"t": (N + 1,), **nodes, "h": each_step, "lam": (N, m)}.items():
        value = getattr(sol, name)
        assert value.shape == shape and np.all(np.isfinite(value)), name
    assert sol.energy().shape == sol.energy("projected").shape == (N + 1,)
    assert sol.constraint().shape == sol.constraint("projected").shape == (N + 1, m)
    if method.discrete:
        assert sol.v_step.shape == sol.p_minus.shape == (N, n)
        assert sol.energy("midpoints").shape == (N,)
        assert sol.constraint("midpoints").shape == (N, m)
        assert sol.energy("average").shape == (max(N - 1, 0),)
    assert f"{steps} steps" in repr(sol) and repr(method) in repr(sol)


@pytest.mark.parametrize("system", [PARTICLE, DRIVEN], ids=["particle", "driven"])
@pytest.mark.parametrize("method", DISCRETE, ids=str)
def test_meaning_of_the_arrays(method, system):
    """Each array against its definition, from q and t alone."""
    sol = run(system, method, t0=0.7)
    q, t, h = sol.q, sol.t, np.diff(sol.t)
    np.testing.assert_allclose(sol.h, h, rtol=1e-13)
    np.testing.assert_allclose(sol.v_step, np.diff(q, axis=0) / h[:, None], atol=1e-13)
    np.testing.assert_allclose(system.momentum(q, sol.v, t), sol.p, atol=1e-14)
    p = system.momentum(q, sol.v_projected, t)
    np.testing.assert_allclose(sol.p_projected, p, atol=1e-14)
    np.testing.assert_allclose(sol.v_projected, system.project(q, sol.v, t), atol=1e-14)
    # D2Ld and -D1Ld by differences of the discrete Lagrangian
    e = 1e-5
    for k in (0, 7, 20):
        for i in range(3):
            d = e * np.eye(3)[i]
            after = (Ld(sol, k, 0, d) - Ld(sol, k, 0, -d)) / (2 * e)
            before = (Ld(sol, k, d, 0) - Ld(sol, k, -d, 0)) / (2 * e)
            assert abs(sol.p[k + 1, i] - after) < 1e-9
            assert abs(sol.p_minus[k, i] + before) < 1e-9
    # the impulse closes the balance of momenta: p_minus - p = -A^T lam
    force = np.einsum("kai,ka->ki", system.A(q[:-1], t[:-1]), sol.lam)
    np.testing.assert_allclose(sol.p[:-1] - sol.p_minus, force, atol=1e-12)


def Ld(sol, k, d0, d1):
    """The discrete Lagrangian of step k between displaced ends."""
    return nh.diagnostics.action(
        sol.system, sol.method, sol.t[k : k + 2], [sol.q[k] + d0, sol.q[k + 1] + d1]
    )


@pytest.mark.parametrize("method", [nh.RK4(), nh.Reference()], ids=str)
def test_arrays_of_classical_methods(method):
    sol = run(DRIVEN, method, t0=0.7, h=0.01)
    np.testing.assert_array_equal(sol.p, DRIVEN.momentum(sol.q, sol.v, sol.t))
    lam = DRIVEN.multipliers(sol.q[:-1], sol.v[:-1], sol.t[:-1])
    np.testing.assert_allclose(sol.lam, -0.01 * lam, atol=1e-15)
    # impulses of the discrete methods approximate these
    other = run(DRIVEN, nh.DLA(), t0=0.7, h=0.01)
    assert np.abs(other.lam[1:] - sol.lam[1:]).max() < 2e-2 * np.abs(sol.lam).max()


def test_time():
    for method in METHODS:
        sol = run(DRIVEN, method, t0=2.5)
        assert sol.t[0] == 2.5
        if not method.variable_step:
            np.testing.assert_allclose(sol.t, 2.5 + 0.1 * np.arange(25), rtol=1e-15)
    late, early = run(DRIVEN, t0=2.5), run(DRIVEN)
    assert np.abs(late.q[-1] - early.q[-1]).max() > 0.01  # time-dependent
    np.testing.assert_array_equal(run(t0=2.5).q, run().q)  # autonomous


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA()], ids=repr)
def test_only_the_step_that_was_given_has_no_impulse(method):
    start = {"q0": [0, 1, 0], "q1": [0.1, 1.1, 0.105]}
    full = run(method=method, **start)
    assert np.isnan(full.lam[0]).all() and np.isfinite(full.lam[1:]).all()
    for every in (2, 3):  # the first stored impulse is that of step 2 or 3
        sparse = run(method=method, every=every, **start)
        np.testing.assert_array_equal(sparse.lam, full.lam[every - 1 :: every])
    assert np.isfinite(run(method=method).lam).all()  # from v0 every step has one
    assert run(method=method, steps=0, **start).lam.shape == (0, 1)


def test_variable_steps():
    sol = run(method=nh.EDLA(), steps=100)
    assert sol.h[0] == 0.1 and np.ptp(sol.h) > 0.01 and np.all(sol.h > 0)
    np.testing.assert_allclose(sol.t[0] + np.cumsum(sol.h), sol.t[1:], rtol=1e-14)


# ---------------------------------------------------------------------------- readings


def test_energies_by_hand():
    sol = run(method=nh.Projector(), t0=0.3)
    q, v, mid = sol.q, sol.v, (sol.q[1:] + sol.q[:-1]) / 2
    V = PARTICLE.V
    np.testing.assert_allclose(sol.energy(), (v**2).sum(1) / 2 + V(q), rtol=1e-14)
    discrete = (sol.v_step**2).sum(1) / 2 + V(mid)
    np.testing.assert_allclose(sol.energy("midpoints"), discrete, rtol=1e-13)
    flat = (sol.v_projected**2).sum(1) / 2 + V(q)
    np.testing.assert_allclose(sol.energy("projected"), flat, rtol=1e-14)
    middle = (sol.p[1:-1] + sol.p_minus[1:]) / 2
    average = (middle**2).sum(1) / 2 + V(q[1:-1])
    np.testing.assert_allclose(sol.energy("average"), average, rtol=1e-14)


@pytest.mark.ledger("FIM08-average")
def test_which_reading_satisfies_the_constraints():
    """DLA: the discrete constraint.  Projector: the average.  Both: only there."""
    dla, projector = run(method=nh.DLA()), run(method=nh.Projector())
    size = {(m, at): np.abs(s.constraint(at)).max() for m, s in (("dla", dla), ("pro", projector))
            for at in ("nodes", "midpoints", "projected", "average")}  # fmt: skip
    assert size["dla", "midpoints"] < 1e-15 and size["pro", "average"] < 1e-14
    assert size["dla", "projected"] < 1e-15 and size["pro", "projected"] < 1e-15
    assert size["dla", "nodes"] > 1e-3 and size["pro", "nodes"] > 1e-3
    assert size["pro", "midpoints"] > 1e-3


def test_constraint_of_its_own_alpha():
    sol = run(method=nh.DLA(constraint_alpha=0.2))
    q = 0.8 * sol.q[:-1] + 0.2 * sol.q[1:]
    by_hand = np.einsum("kai,ki->ka", PARTICLE.A(q), sol.v_step)
    assert np.abs(by_hand).max() < 1e-13 and np.abs(sol.constraint("midpoints")).max() < 1e-15


def test_holonomic_constraints():
    sol = run(BALL)
    assert np.abs(BALL.g(sol.q)).max() < 1e-15 * 10
    assert sol.constraint("midpoints").shape == (24, 0)
    assert sol.constraint().shape == (25, 1)
    assert np.abs(sol.constraint("projected")).max() < 1e-14


def test_readings_that_do_not_exist():
    sol = run()
    for read in (sol.energy, sol.constraint):
        with pytest.raises(ValueError, match=r"at = 'noon' .*nodes.*midpoints.*projected.*average"):
            read("noon")
        with pytest.raises(ValueError, match=r"every step stored; integrate with every=1"):
            getattr(run(every=2), read.__name__)("average")
    for method in (nh.RK4(), nh.Reference()):
        classical = run(method=method)
        for at in ("midpoints", "average"):
            with pytest.raises(ValueError, match=r"no discrete Lagrangian.*'nodes'"):
                classical.energy(at)
            with pytest.raises(ValueError, match=r"no discrete Lagrangian.*'nodes'"):
                classical.constraint(at)
        with pytest.raises(ValueError, match="v_step is not"):
            classical.v_step  # noqa: B018 (a property)


# ---------------------------------------------------------------------------- as a table


def test_dataframe():
    sol = run(method=nh.EDLA())
    frame = sol.to_dataframe()
    assert list(frame) == ["t", "x", "y", "z", "vx", "vy", "vz", "p_x", "p_y", "p_z", "h", "lam0"]
    assert len(frame) == 25
    for name, column in dict(t=sol.t, y=sol.q[:, 1], vz=sol.v[:, 2], p_x=sol.p[:, 0]).items():
        np.testing.assert_array_equal(frame[name], column)
    np.testing.assert_array_equal(frame["h"][1:], sol.h)
    np.testing.assert_array_equal(frame["lam0"][1:], sol.lam[:, 0])
    assert np.isnan(frame["h"][0]) and np.isnan(frame["lam0"][0])
    assert list(run(nh.systems.kepler(), nh.RK4()).to_dataframe()) == [
        "t", "x", "y", "vx", "vy", "p_x", "p_y", "h"
    ]  # fmt: skip


def test_dataframe_loses_nothing_to_awkward_names():
    h, t, p_h, lam0 = nh.symbols("h t p_h lam0")
    system = nh.System((h, t), (p_h, lam0), p_h**2 / 2 + lam0**2 / 2, [p_h - t * lam0])
    sol = nh.integrate(system, nh.DLA(), [1, 2], [2, 1], h=0.1, steps=3)
    frame = sol.to_dataframe()
    np.testing.assert_array_equal(frame["h"], sol.q[:, 0])
    np.testing.assert_array_equal(frame["t"], sol.q[:, 1])
    assert frame.shape == (4, 1 + 2 + 2 + 2 + 1 + 1)
    assert any(np.array_equal(frame[c], sol.t) for c in frame)


@pytest.mark.parametrize("h", [1.0, 1e-3])
def test_the_error_of_a_reference_does_not_depend_on_its_rows(h):
    """A period of 6e-3: sizes of what h a would be do not count."""
    x, vx = nh.symbols("x vx")
    system = nh.System((x,), (vx,), vx**2 / 2 - 5e5 * x**2)
    sol = nh.integrate(system, nh.Reference(1e-9), [1.0], [0.0], h=h, steps=round(1 / h))
    assert abs(sol.q[-1, 0] - np.cos(1000.0)) < 1e-6
