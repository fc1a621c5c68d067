"""Many runs at once are the same as one after the other, on every backend."""

import tracemalloc
from functools import partial
from itertools import product

import numpy as np
import pytest
import sympy as sp
from runs import round_off

import nhlab as nh
from nhlab.run import ensemble as ensembles
from nhlab.run import loop
from nhlab.run.start import Start

PARTICLE, DRIVEN = nh.systems.particle(), nh.systems.driven()
METHODS = [nh.DLA(), nh.DLA(alpha=0.2, symmetric=True), nh.Projector(), nh.EDLA(), nh.RK4(),
           nh.Reversible(), nh.Composition(nh.DLA())]  # fmt: skip


def starts(system, count, t0=0.0, seed=5):
    """Random states near the system's own start, velocities in D."""
    rng = np.random.default_rng(seed)
    q0 = system.q0 + rng.uniform(-0.1, 0.1, (count, len(system.q)))
    v0 = system.v0 + rng.uniform(-0.1, 0.1, (count, len(system.q)))
    return q0, system.project(q0, v0, t0)


def agree(many, system, method, q0, v0, **options):
    for k in range(len(q0)):
        equal(many, k, nh.integrate(system, method, q0[k], v0[k], backend="python", **options))
    assert many.ok.all() and np.all(many.steps_done == options["steps"])


def equal(many, k, one):
    """Member k is the run alone."""
    near = round_off(one.method)
    assert np.abs(many.rows[k] - one.rows.array).max() < near
    for name in ("t", "q", "p", "v", "h", "lam"):
        a, b = getattr(many[k], name), getattr(one, name)
        np.testing.assert_allclose(a, b, atol=10 * near, err_msg=name)
    np.testing.assert_allclose(many.p[k], one.p, atol=near)
    np.testing.assert_allclose(many.t[k], one.t, atol=near)


@pytest.mark.parametrize(
    ("method", "backend"),
    [*product(METHODS, ["python", "numpy"]), (nh.DLA(), "numba"), (nh.EDLA(), "numba")],
    ids=str,
)
def test_equal_to_single_runs(method, backend):
    """Places, velocities, steps and parameters of its own for each member: the same numbers as
    system.set and nh.integrate."""
    q0, v0 = starts(DRIVEN, 3, t0=0.4)
    options, hs, eps = dict(steps=20, t0=0.4), [0.1, 0.05, 0.02], [0.3, 0.5, -0.1]
    vary = dict(h=hs, parameters={"eps": eps})
    many = nh.ensemble(DRIVEN, method, q0, v0, backend=backend, **vary, **options)
    assert many.q.shape == many.p.shape == (3, 21, 3) and many.h.tolist() == hs
    for k, h in enumerate(hs):
        system = DRIVEN.set(eps=eps[k])
        assert many[k].system == system and many[k].h[0] == h
        one = nh.integrate(system, method, q0[k], v0[k], h=h, backend="python", **options)
        equal(many, k, one)
    assert np.abs(many.q[0] - many.q[1]).max() > 0.01  # the members do differ


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
    assert np.abs(again.q - first.q).max() < 1e3 * round_off(method)
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
    monkeypatch.setattr(ensembles, "_run", lambda c, *p: used.append(c.value[2]) or run(c, *p))
    monkeypatch.setattr(loop, "COMPILE_FROM", dict.fromkeys(loop.COMPILE_FROM, 1000))
    for count, steps in ((2, 10), (40, 10), (2, 1000)):
        q0, v0 = starts(PARTICLE, count)
        nh.ensemble(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=steps)
    compiled = "numba" if loop.has_numba() else "python"
    assert used == ["python", "numpy", compiled]


# ---------------------------------------------------------------------------- what may vary

SLEIGH = nh.systems.sleigh()
VARIED = dict(h=[0.1, 0.05, 0.02], parameters={"a": [0.2, 0.3, -0.1], "m": [1, 2, 0.5]})


def test_definite_or_not_is_asked_of_each_member():
    """With c = -1 M is indefinite and needs the code that looks after its pivots."""
    x, y, vx, vy, c = nh.symbols("x y vx vy c")
    system = nh.System((x, y), (vx, vy), vx**2 / 2 + c * vy**2 / 2 - x**2 * y / 2,
                       parameters={"c": 1})  # fmt: skip
    for values, definite in (([1, 2], True), ([1, -1], False)):
        many = nh.ensemble(system, nh.DLA(), [0.3, 0.5], [0.1, 0.2], h=0.1, steps=20,
                           parameters={c: values}, backend="numpy")  # fmt: skip
        assert many.start.definite is definite
        for k, value in enumerate(values):
            one = nh.integrate(system.set(c=value), nh.DLA(), [0.3, 0.5], [0.1, 0.2], h=0.1,
                               steps=20)  # fmt: skip
            assert np.abs(many.q[k] - one.q).max() < 1e-13


def test_states_for_all_or_for_each():
    q0, v0 = starts(PARTICLE, 3)
    same = nh.ensemble(PARTICLE, nh.DLA(), q0[0], [v0[0]] * 3, h=0.1, steps=5)
    again = nh.ensemble(PARTICLE, nh.DLA(), [q0[0]] * 3, v0[0], h=[0.1] * 3, steps=5)
    own = nh.ensemble(PARTICLE, nh.DLA(), h=[0.1, 0.2], steps=5)
    np.testing.assert_array_equal(same.rows, again.rows)
    np.testing.assert_array_equal(own.q[:, 0], [PARTICLE.q0] * 2)
    ball = nh.systems.rigid_body()
    turned = nh.groups.SO3.matrix(nh.groups.SO3.exp([0.1, 0.2, 0.3]))
    many = nh.ensemble(ball, nh.DLA(), turned, [[1, 0, 0.2], [0, 1, 0]], h=0.1, steps=5)
    assert np.abs(many.q[:, 0] - nh.groups.SO3.exp([0.1, 0.2, 0.3])).max() < 1e-15


# ---------------------------------------------------------------------------- summaries


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.RK4()], ids=str)
def test_built_in_summaries(method, backend):
    options = dict(steps=30, every=3, backend=backend, t0=1.0, **VARIED)
    many = nh.ensemble(SLEIGH, method, **options)
    short = nh.ensemble(SLEIGH, method, summary=["last", "energy"], chunk=2, **options)
    found = short.summary
    assert sorted(found) == ["E0", "E_ptp", "E_slope", "p", "q", "t"] and short.ok.all()
    for k, sol in enumerate(many):
        E = sol.energy()
        np.testing.assert_allclose(found["q"][k], sol.q[-1], atol=1e-13)
        np.testing.assert_allclose(found["p"][k], sol.p[-1], atol=1e-13)
        np.testing.assert_allclose(found["t"][k], sol.t[-1], atol=1e-13)
        np.testing.assert_allclose(found["E0"][k], E[0], rtol=1e-13)
        np.testing.assert_allclose(found["E_ptp"][k], E.max() - E.min(), atol=1e-13)
        np.testing.assert_allclose(found["E_slope"][k], np.polyfit(sol.t, E, 1)[0], atol=1e-13)
    assert np.ptp(found["t"]) > 0.5  # the members do differ
    for ask in (lambda: short.q, lambda: short[0]):
        with pytest.raises(ValueError, match="only the summaries"):
            ask()


def test_summaries_of_ones_own():
    q0, v0 = starts(PARTICLE, 5)
    run = partial(nh.ensemble, PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=20, backend="python")
    full = run()
    np.testing.assert_array_equal(run(summary=lambda sol: sol.q[-1]).summary, full.q[:, -1])
    assert run(summary=len).summary.tolist() == [21.0] * 5
    both = run(summary=[lambda sol: {"x": sol.q[:, 0]}, lambda sol: {"n": sol.steps}]).summary
    np.testing.assert_array_equal(both["x"], full.q[:, :, 0])
    assert both["n"].tolist() == [20.0] * 5


def test_a_summary_that_fails_names_its_member():
    q0, v0 = starts(PARTICLE, 5)
    first = q0[:, 0].tolist()
    run = partial(nh.ensemble, PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=5, backend="python",
                  chunk=2)  # fmt: skip

    many = run(summary=lambda sol: {3: lambda: 1 / 0}.get(first.index(sol.q[0, 0]), lambda: 1.0)())
    assert many.errors == {3: "the summary failed: ZeroDivisionError: division by zero"}
    assert many.ok.tolist() == [True, True, True, False, True] and np.all(many.steps_done == 5)
    np.testing.assert_array_equal(many.summary, [1, 1, 1, np.nan, 1])
    many = run(summary=lambda sol: np.zeros(3 if sol.q[0, 0] == first[2] else 2))
    assert "shaped" in many.errors[2] and np.isnan(many.summary[2]).all() and many.ok.sum() == 4
    with pytest.raises(nh.EnsembleError, match="member 0: the summary failed: NameError") as error:
        run(summary=lambda sol: undefined)  # noqa: F821
    assert error.value.ensemble.errors[4] == "not run"  # nobody waited for it
    assert run(summary=len).errors == {}


@pytest.mark.parametrize("backend", ["python", "numpy", "numba"])
def test_a_summary_that_is_not_finite_is_an_error(backend):
    """h is far too large for member 0: its positions are finite, its energies are not."""
    how = {"h": [31.56, 0.1], "steps": 80, "backend": backend}
    with pytest.warns(RuntimeWarning, match="jump"):
        many = nh.ensemble(PARTICLE, nh.Reversible(), summary="energy", **how)
    assert many.summary["E_ptp"][0] == np.inf and many.ok.tolist() == [False, True]
    assert many.errors == {0: "its summary 'E_ptp' is not finite: inf"}
    assert many.steps_done.tolist() == [80, 80] and many.error(0) is None
    with pytest.warns(RuntimeWarning, match="jump"):
        ends = nh.ensemble(PARTICLE, nh.Reversible(), summary="last", **how)
    assert ends.ok.all() and np.isfinite(ends.summary["q"]).all()
    with pytest.warns(RuntimeWarning, match="jump"):
        own = nh.ensemble(PARTICLE, nh.Reversible(), summary=lambda sol: sol.energy()[::40], **how)
    assert own.errors == {0: "its summary is not finite: inf"} and own.summary.shape == (2, 3)


def test_the_energy_of_a_single_node():
    many = nh.ensemble(PARTICLE, nh.DLA(), h=[0.1, 0.2], steps=0, summary="energy")
    assert many.ok.all() and many.summary["E_slope"].tolist() == [0, 0]


def test_summaries_need_little_memory():
    """The rows of one member at a time, whatever the number of members."""
    q0, v0 = starts(PARTICLE, 20)
    run = partial(nh.ensemble, PARTICLE, nh.DLA(), q0, v0, h=0.01, steps=1000, backend="python")
    run(summary="last", steps=1)

    def peak(**options):
        tracemalloc.start()
        rows = run(**options).rows
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, rows

    most, rows = peak()
    assert most > rows.nbytes > 2 * peak(summary="last")[0]


def test_chunks_by_work_and_memory(monkeypatch):
    q0, v0 = starts(PARTICLE, 40)
    start = Start(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=100, parameters={})
    chunks = partial(ensembles.chunks, start, "python")
    size = 8 * 101 * start.row.shape[1]
    for work, memory, count in ((1000, 1e9, 4), (1e6, 7 * size, 6), (10, 10, 40), (1e6, 1e9, 1)):
        monkeypatch.setattr(ensembles, "WORK", {"python": int(work)})
        monkeypatch.setattr(ensembles, "BYTES", int(memory))
        parts = [np.arange(40)[where] for where in chunks()]
        assert len(parts) == count and np.concatenate(parts).tolist() == list(range(40))
        assert len(chunks(summarised=True)) == min(count, max(1, 4000 // int(work)))
    assert [x.stop - x.start for x in chunks(15)] == [14, 13, 13]


# ---------------------------------------------------------------------------- runs that stop

# All turn round; for the first and the last EDLA has no positive step somewhere on the way.
MIXED = np.zeros((3, 3)), np.array([[-1, 0, 1], [-1, 0, 0.25], [-0.5, 0, 0.5]])


@pytest.mark.ledger("C03-R2")
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_members_stop_alone(backend, every):
    options = dict(h=0.1, steps=150, every=every, t0=2.0)
    many = nh.ensemble(SLEIGH, nh.EDLA(), *MIXED, backend=backend, **options)
    assert many.ok.tolist() == [False, True, False] and "1 complete" in repr(many)
    assert many.steps_done[1] == 150 and many.error(1) is None and list(many.errors) == [0, 2]
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
        assert f"stopped after {done} of 150" in part.message == many.errors[k]
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
        assert many.errors.keys() == {1} and "after 0 of 5 steps at t = 0" in many.errors[1]


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_vanishing_pivots_are_rescued_in_company(backend):
    """A member that needs the careful step gets it, and goes on with the others."""
    x, y, vx, vy = nh.symbols("x y vx vy")
    seam = nh.System((x, y), (vx, vy), x * vx**2 / 2 + vx * vy - y**2 / 2)
    q0, v0 = np.array([[0.0, 0.5], [0.3, 0.5]]), np.array([[0.5, 0.1]] * 2)
    many = nh.ensemble(seam, nh.DLA(alpha=0), q0, v0, h=0.1, steps=20, backend=backend)
    agree(many, seam, nh.DLA(alpha=0), q0, v0, h=0.1, steps=20)


def test_members_of_edla_begin_like_single_runs():
    """To the last digit: their first step is another method's, and tanh of an array may differ
    from tanh of a number."""
    x, vx = nh.symbols("x vx")
    system = nh.System((x,), (vx,), (1 + x**2 / 5) * vx**2 / 2 - 3 * sp.tanh(x))
    rng = np.random.default_rng(0)
    q0, v0 = rng.uniform(-1, 1, (60, 1)), rng.uniform(0.5, 1, (60, 1))
    many = nh.ensemble(system, nh.EDLA(), q0, v0, h=0.05, steps=2, backend="python")
    for k in range(60):
        one = nh.integrate(system, nh.EDLA(), q0[k], v0[k], h=0.05, steps=1, backend="python")
        assert np.array_equal(many.rows[k, :2], one.rows.array)


# ---------------------------------------------------------------------------- some of the runs


def test_some_runs_and_columns_of_all():
    """By slices, numbers and masks; a run that stopped, summaries and events stay with theirs."""
    sleigh, h = nh.systems.sleigh(), [0.1, 0.2, 0.05, 0.1]
    many = nh.ensemble(sleigh, nh.EDLA(), h=h, steps=600, parameters={"a": [0.2, 0.2, 0.1, 0.3]},
                       events=sleigh.q[2] - 0.1)  # fmt: skip
    assert not many.ok.all() and many.ok.any()
    for which in (slice(1, 3), [3, 1], many.ok, ~many.ok, slice(0)):
        some, chosen = many[which], np.arange(4)[which]
        assert len(some) == len(chosen) and some.ok.tolist() == many.ok[chosen].tolist()
        for i, k in enumerate(chosen):
            np.testing.assert_array_equal(some[i].rows.array, many[k].rows.array)
            assert some[i].message == many[k].message and some[i].system == many[k].system
            np.testing.assert_array_equal(some.t_events[i], many.t_events[k])
    for name in ("theta", "vx", "t", "h", "lam0", "p_x", "y"):
        for k in range(4):
            column = many[k][name]
            np.testing.assert_array_equal(many[name][k, : len(column)], column)
            assert np.isnan(many[name][k, len(column) :]).all() and many[name].shape == (4, 601)
    last = nh.ensemble(sleigh, nh.DLA(), h=h, steps=4, summary="last")
    np.testing.assert_array_equal(last[1:3].summary["q"], last.summary["q"][1:3])
    for bad in (1.0, None, [0.5], ([0], [1]), np.zeros((2, 2), int), [9]):
        with pytest.raises(TypeError, match=r"names no runs; write many\[2\], many\[1:3\]"):
            many[bad]
    with pytest.raises(IndexError, match="no run 4: the runs are numbered 0 to 3"):
        many[4]
    with pytest.raises(KeyError, match="did you mean 'theta'"):
        many["tetha"]


def test_several_step_sizes_have_no_common_end():
    with pytest.raises(ValueError, match=r"T = 3 with 2 step sizes h: .* give steps, or one h"):
        nh.ensemble(nh.systems.sleigh(), nh.DLA(), h=[0.1, 0.2], T=3)
