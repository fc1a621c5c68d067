"""Many runs at once are the same as one after the other, on every backend and executor."""

from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab import ensembles

PARTICLE, DRIVEN = nh.systems.particle(), nh.systems.driven()
METHODS = [nh.DLA(), nh.DLA(alpha=0.2, symmetric=True), nh.Projector(), nh.EDLA(), nh.RK4()]


def starts(system, count, t0=0.0, seed=5):
    """Random states near the system's own start, velocities in D."""
    rng = np.random.default_rng(seed)
    q0 = system.q0 + rng.uniform(-0.1, 0.1, (count, len(system.q)))
    v0 = system.v0 + rng.uniform(-0.1, 0.1, (count, len(system.q)))
    return q0, system.project(q0, v0, t0)


def limit(method):
    """EDLA's energy balance determines h only to eps/h^2."""
    return 1e-10 if method.variable_step else 1e-13


def agree(many, system, method, q0, v0, **options):
    for k in range(len(q0)):
        one = nh.integrate(system, method, q0[k], v0[k], backend="python", **options)
        gap = np.abs(many.rows[k] - one._rows).max()
        assert gap < limit(method), (k, gap)
        part = many[k]
        for name in ("t", "q", "p", "v", "h", "lam"):
            a, b = getattr(part, name), getattr(one, name)
            np.testing.assert_allclose(a, b, atol=10 * limit(method), err_msg=name)
    assert many.ok.all() and np.all(many.steps_done == options["steps"])


@pytest.mark.parametrize("backend", ["python", "numpy", None])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_equal_to_single_runs(method, backend):
    q0, v0 = starts(DRIVEN, 4, t0=0.4)
    options = dict(h=0.1, steps=30, t0=0.4)
    many = nh.ensemble(DRIVEN, method, q0, v0, backend=backend, **options)
    assert many.q.shape == many.p.shape == (4, 31, 3) and many.t.shape == (4, 31)
    agree(many, DRIVEN, method, q0, v0, **options)


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA()], ids=str)
def test_equal_to_single_runs_compiled(method, numba):
    q0, v0 = starts(PARTICLE, 3)
    many = nh.ensemble(PARTICLE, method, q0, v0, h=0.1, steps=30, backend="numba")
    agree(many, PARTICLE, method, q0, v0, h=0.1, steps=30)


@pytest.mark.parametrize("system", [nh.systems.spherical_pendulum(), nh.systems.kepler()], ids=str)
def test_holonomic_and_free(system):
    q0 = np.array([system.q0] * 3, float)
    v0 = np.array(system.v0, float) * np.array([[1], [1.1], [0.9]])
    many = nh.ensemble(system, nh.Variational(), q0, v0, h=0.05, steps=20, backend="numpy")
    agree(many, system, nh.Variational(), q0, v0, h=0.05, steps=20)


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.RK4()], ids=str)
def test_every(method, backend):
    q0, v0 = starts(PARTICLE, 3)
    full = nh.ensemble(PARTICLE, method, q0, v0, h=0.1, steps=30, backend=backend)
    for every in (3, 30):
        part = nh.ensemble(PARTICLE, method, q0, v0, h=0.1, steps=30, every=every, backend=backend)
        np.testing.assert_array_equal(part.rows, full.rows[:, ::every])
        np.testing.assert_array_equal(part.t, full.t[:, ::every])
        assert part[1].steps == 30 and part[1].every == every


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("method", METHODS[:4], ids=str)
def test_second_positions(method, backend):
    q0, v0 = starts(PARTICLE, 3)
    first = nh.ensemble(PARTICLE, method, q0, v0, h=0.1, steps=20, backend=backend)
    q1 = first.q[:, 1]
    again = nh.ensemble(PARTICLE, method, q0, q1=q1, h=0.1, steps=20, backend=backend)
    assert np.abs(again.q - first.q).max() < 1e3 * limit(method)
    assert np.isnan(again[2].lam[0]).all()


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_few_runs_and_few_steps(method, count, steps, backend):
    q0, v0 = starts(PARTICLE, count)
    many = nh.ensemble(PARTICLE, method, q0, v0, h=0.1, steps=steps, backend=backend)
    assert many.q.shape == (count, steps + 1, 3) and len(many) == count
    agree(many, PARTICLE, method, q0, v0, h=0.1, steps=steps)


def test_size_decides(monkeypatch):
    """Few short runs by CPython, many as arrays, long ones compiled."""
    used = []
    run = ensembles._run
    monkeypatch.setattr(ensembles, "_run", lambda c, p: used.append(p.backend) or run(c, p))
    monkeypatch.setattr(ensembles, "COMPILE_FROM", dict.fromkeys(ensembles.COMPILE_FROM, 1000))
    for count, steps in ((2, 10), (40, 10), (2, 1000)):
        q0, v0 = starts(PARTICLE, count)
        nh.ensemble(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=steps)
    compiled = "numba" if ensembles.has_numba() else "python"
    assert used == ["python", "numpy", compiled]


# ---------------------------------------------------------------------------- executors


class Immediately:
    """The least an executor can be."""

    def submit(self, f, *args):
        future = Future()
        future.set_result(f(*args))
        return future


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)],
                         ids=["threads", "processes"])  # fmt: skip
def test_executors(make):
    q0, v0 = starts(DRIVEN, 11)
    options = dict(h=0.1, steps=20, every=5)
    plain = nh.ensemble(DRIVEN, nh.EDLA(), q0, v0, backend="python", **options)
    with make() as executor:
        many = nh.ensemble(
            DRIVEN, nh.EDLA(), q0, v0, executor=executor, backend="python", **options
        )
        again = nh.ensemble(DRIVEN.set(eps=0.1), nh.DLA(), q0, q1=plain.q[:, 1], executor=executor,
                            **options)  # fmt: skip
    np.testing.assert_array_equal(many.rows, plain.rows)
    np.testing.assert_array_equal(many.steps_done, plain.steps_done)
    here = nh.ensemble(DRIVEN.set(eps=0.1), nh.DLA(), q0, q1=plain.q[:, 1], **options)
    np.testing.assert_allclose(again.rows, here.rows, atol=1e-12)


def test_any_executor():
    q0, v0 = starts(PARTICLE, 3)
    plain = nh.ensemble(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=9)
    many = nh.ensemble(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=9, executor=Immediately())
    np.testing.assert_array_equal(many.rows, plain.rows)


# ---------------------------------------------------------------------------- runs that stop

SLEIGH = nh.systems.sleigh()
# All turn round; for the first and the last EDLA has no positive step somewhere on the way.
MIXED = np.zeros((3, 3)), np.array([[-1, 0, 1], [-1, 0, 0.25], [-0.5, 0, 0.5]])


@pytest.mark.ledger("C03-R2")
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_members_stop_alone(backend, every):
    options = dict(h=0.1, steps=150, every=every, t0=2.0)
    many = nh.ensemble(SLEIGH, nh.EDLA(), *MIXED, backend=backend, **options)
    assert many.ok.tolist() == [False, True, False] and "1 complete" in repr(many)
    assert many.steps_done[1] == 150 and many.error(1) is None
    for k, (q0, v0) in enumerate(zip(*MIXED, strict=True)):
        done = many.steps_done[k]
        stored = done // every + 1
        assert np.all(np.isfinite(many.rows[k, :stored]))
        assert np.all(np.isnan(many.rows[k, stored:]))
        assert np.all(np.isnan(many.t[k, stored:])) and np.all(np.isnan(many.q[k, stored:]))
        part = many[k]
        assert len(part) == stored
        if k == 1:
            assert part.message == ""
            continue
        with pytest.raises(nh.IntegrationError) as stopped:
            nh.integrate(SLEIGH, nh.EDLA(), q0, v0, **options)
        assert stopped.value.step == done
        assert np.abs(stopped.value.trajectory.q - part.q).max() < 1e-8
        assert f"stopped after {done} of 150" in part.message
        error = many.error(k)
        assert error.step == done and "no positive step exists" in str(error)
        assert abs(error.time - stopped.value.time) < 1e-8
    assert [len(part) for part in many] == (many.steps_done // every + 1).tolist()


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_members_whose_first_step_fails(backend):
    """One member's first step has no solution; it keeps its first row, the others go on."""
    x, vx = nh.symbols("x vx")
    steep = nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
    q0, v0 = np.array([[-3.0], [2.0], [-2.5]]), np.zeros((3, 1))
    for method in (nh.DLA(), nh.EDLA()):
        many = nh.ensemble(steep, method, q0, v0, h=0.2, steps=5, backend=backend)
        assert many.steps_done.tolist() == [5, 0, 5] and many[1].steps == 0
        np.testing.assert_array_equal(many.q[1, 0], [2.0])
        assert many.error(1).step == 0 and "converge" in str(many.error(1))


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_vanishing_pivots_are_rescued_in_company(backend):
    """A member that needs the careful step gets it, and goes on with the others."""
    x, y, vx, vy = nh.symbols("x y vx vy")
    seam = nh.System((x, y), (vx, vy), x * vx**2 / 2 + vx * vy - y**2 / 2)
    q0, v0 = np.array([[0.0, 0.5], [0.3, 0.5]]), np.array([[0.5, 0.1]] * 2)
    many = nh.ensemble(seam, nh.DLA(alpha=0), q0, v0, h=0.1, steps=20, backend=backend)
    agree(many, seam, nh.DLA(alpha=0), q0, v0, h=0.1, steps=20)
