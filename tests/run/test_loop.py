"""The loop: what is stored, where it stops, how it is interrupted, what it says meanwhile."""

import os
import pickle
import signal
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import processes
import pytest
import sympy as sp
from starts import DISCRETE, DRIVEN, METHODS, PARTICLE, run, stopped_sleigh

import nhlab as nh
from nhlab.run import loop, progress
from nhlab.run.start import Start

x, vx = nh.symbols("x vx")

# ---------------------------------------------------------------------------- every, q1


EVERY = [*((DRIVEN, m, "python") for m in METHODS), (DRIVEN, nh.EDLA(), "numba")]
EVERY += [(DRIVEN, nh.Projector(), "numba"), (nh.systems.suslov(), nh.DLA(), "python")]


@pytest.mark.parametrize(("system", "method", "backend"), EVERY, ids=str)
def test_every_is_slicing(system, method, backend):
    full = run(system, method, backend=backend)
    for every in (2, 3, 24):
        sparse = run(system, method, every=every, backend=backend)
        assert sparse.steps == 24 and len(sparse) == 24 // every + 1
        for name in ("t", "q", "p", "v", "v_projected"):
            a, b = getattr(sparse, name), getattr(full, name)[::every]
            np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14, err_msg=name)
        for name in ("h", "lam", *(("v_step", "p_minus") if method.discrete else ())):
            a, b = getattr(sparse, name), getattr(full, name)[every - 1 :: every]
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13, err_msg=name)
        if method.discrete:
            last = full.energy("midpoints")[every - 1 :: every]
            np.testing.assert_allclose(sparse.energy("midpoints"), last, rtol=1e-13)


def test_memory_is_the_rows_kept():
    """A long run with few rows allocates few rows."""
    run(steps=5000, every=2500)  # generated
    tracemalloc.start()
    sol = run(steps=5000, every=2500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sol.rows.array.shape == (3, 10)
    assert peak < 5000 * 10 * 8 / 2  # all rows would take 400 kB


@pytest.mark.parametrize("method", DISCRETE, ids=str)
def test_second_position_continues_a_run(method):
    """Started from its own first two points a run goes the same way."""
    first = run(DRIVEN, method)
    again = run(DRIVEN, method, q0=first.q[0], q1=first.q[1])
    limit = 1e-9 if method.variable_step else 1e-12
    assert np.abs(again.q - first.q).max() < limit
    assert np.abs(again.p[1:] - first.p[1:]).max() < limit
    assert np.all(np.isnan(again.lam[0])) and np.all(np.isfinite(again.lam[1:]))
    assert np.abs(again.lam[1:] - first.lam[1:]).max() < limit
    assert np.all(np.isfinite(again.p[0]))
    if isinstance(method, nh.Projector):  # its p0 was chosen such that this holds
        assert np.abs(again.p[0] - first.p[0]).max() < 1e-12
    assert np.all(np.isfinite(run(DRIVEN, method, q0=first.q[0], q1=first.q[1], every=4).lam))


@pytest.mark.ledger("FIM08-E3")
def test_printed_second_position_of_the_sleigh():
    """FIM08 Ex. 3 starts from q0 = 0 and q1 = (-.2395, -.0070, .0589); h = 1 scales out."""
    sol = run(nh.systems.sleigh(), nh.Projector(), h=1, steps=60, q0=[0, 0, 0],
              q1=[-0.2395, -0.0070, 0.0589])  # fmt: skip
    np.testing.assert_array_equal(sol.q[1], [-0.2395, -0.0070, 0.0589])
    np.testing.assert_allclose(sol.v_step[0], sol.q[1], rtol=1e-15)
    assert sol.steps == 60 and np.abs(sol.constraint("average")).max() < 1e-15


# ---------------------------------------------------------------------------- stopping


@pytest.mark.ledger("C03-R2")
def test_error_carries_the_computed_part():
    error = stopped_sleigh()
    sol = error.trajectory
    assert error.method == nh.EDLA() and error.step == sol.steps > 10
    assert error.time == sol.t[-1] and np.isfinite(error.residual)
    assert error.reason in str(error) and error.advice in str(error)
    assert "no positive step exists" in error.reason and "theta = " in error.reason
    assert "nh.DLA" in error.advice
    assert f"after {error.step} steps" in str(error) and ".trajectory" in str(error)
    assert f"stopped after {error.step} of 600" in sol.message and sol.message in repr(sol)
    again = run(nh.systems.sleigh(), nh.EDLA(), h=0.1, steps=error.step)
    np.testing.assert_array_equal(again.rows.array, sol.rows.array)
    assert issubclass(nh.IntegrationError, RuntimeError)


def test_error_with_every():
    full, sparse = stopped_sleigh(), stopped_sleigh(every=10)
    assert sparse.step == full.step
    assert len(sparse.trajectory) == full.step // 10 + 1
    np.testing.assert_array_equal(sparse.trajectory.q, full.trajectory.q[::10])


@pytest.mark.parametrize("every", [1, 5])
def test_reference_stops_at_a_collision(every):
    """Kepler from rest at distance 1 falls into the centre at t = pi/(2 sqrt 2) = 1.1107."""
    with pytest.raises(nh.IntegrationError) as stopped:
        start = dict(q0=[1, 0], v0=[0, 0])
        run(nh.systems.kepler(), nh.Reference(), h=0.01, steps=200, every=every, **start)
    error, sol = stopped.value, stopped.value.trajectory
    assert error.step == sol.steps == 111 // every * every and error.time == sol.t[-1]
    assert "singular" in error.advice and "stopped" in sol.message
    r = sol.q[:, 0]  # the time at distance r, by the cycloid
    t = (np.sqrt(r * (1 - r)) + np.arccos(np.sqrt(r))) / np.sqrt(2)
    np.testing.assert_allclose(t, sol.t, atol=1e-11)


def test_errors_survive_pickling():
    error = stopped_sleigh()
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is nh.IntegrationError and str(back) == str(error)
    for name in ("reason", "advice", "method", "step", "time", "residual"):
        assert getattr(back, name) == getattr(error, name)
    np.testing.assert_array_equal(back.trajectory.q, error.trajectory.q)
    assert back.trajectory.system == error.trajectory.system
    error.add_note("seen in a worker")
    assert pickle.loads(pickle.dumps(error)).step == error.step
    stop = pickle.loads(pickle.dumps(nh.Interrupted("stop", run(steps=2))))
    assert str(stop) == "stop" and stop.trajectory.steps == 2


@pytest.mark.ledger("C03-R2")
def test_shrinking_steps_end():
    """EDLA's step shrinks towards a singularity; the number of steps bounds the work."""
    system = nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
    sol = nh.integrate(system, nh.EDLA(), [0.0], [1.0], h=0.05, steps=300)
    assert np.all(sol.h > 0) and np.all(np.diff(sol.t) > 0)
    assert sol.h[-1] < 1e-3 * sol.h[0] and np.ptp(sol.energy("midpoints")) < 1e-9


# Beyond x = 0 CPython's sqrt raises; the sleigh's last step has no solution.
cliff = nh.System((x,), (vx,), vx**2 / 2 - sp.sqrt(x), q0=(1,), v0=(-1,), name="cliff")
FAILING = [*((cliff, m) for m in (nh.DLA(), nh.EDLA(), nh.RK4())), (nh.systems.sleigh(), nh.EDLA())]


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("case", FAILING, ids=str)
def test_a_step_that_fails_leaves_the_state_untouched(case, backend, every):
    """On every path: found by the loop, raised by CPython, tried with pivoting."""
    start = Start(*case, None, None, h=0.07, steps=400, every=every)
    failing = loop.Run(start, backend)
    with pytest.raises(nh.IntegrationError) as stopped:
        failing.go()
    assert failing.done == stopped.value.step > 1
    good = loop.Run(start, backend)
    good.total = failing.done
    good.go()
    np.testing.assert_array_equal(failing.state.array, good.state.array)
    np.testing.assert_array_equal(stopped.value.trajectory.rows.array, good.trajectory().rows.array)
    with pytest.raises(nh.IntegrationError):  # nor by one more attempt
        failing.careful()
    np.testing.assert_array_equal(failing.state.array, good.state.array)


# ---------------------------------------------------------------------------- interrupting


@pytest.mark.parametrize(
    ("method", "backend", "text"),
    [
        (nh.DLA(), "python", "after 150 of 1000 steps"),
        (nh.DLA(), "numba", "after 150 of 1000 steps"),
        (nh.Reference(), None, "of 200 rows"),
    ],
)
def test_interrupt_keeps_the_computed_part(method, backend, text, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK", {"python": 50, "numba": 50})
    runs = loop.ReferenceRun if backend is None else loop.Run
    advance, calls = runs.advance, []

    def interrupted(self):
        calls.append(1)
        if len(calls) > (20 if backend is None else 3):
            raise KeyboardInterrupt
        advance(self)

    monkeypatch.setattr(runs, "advance", interrupted)
    with pytest.raises(nh.Interrupted, match=text) as stopped:
        run(method=method, steps=1000, backend=backend, every=5)
    part = stopped.value.trajectory
    monkeypatch.undo()
    whole = run(method=method, steps=1000, every=5, backend="python")
    assert isinstance(stopped.value, KeyboardInterrupt) and 2 < len(part) < len(whole)
    np.testing.assert_allclose(part.q, whole.q[: len(part)], rtol=1e-12)


SIGNALLED = """
import faulthandler, signal, sys, nhlab as nh
faulthandler.dump_traceback_later(100, exit=True)  # should nobody be left to end this process
{first}
s = nh.systems.particle()
nh.integrate(s, nh.DLA(), h=0.01, steps=10, backend="{backend}")  # generated and compiled
print("ready", flush=True)
try:
    nh.integrate(s, nh.DLA(), h=0.01, steps=10**10, every=10**5, progress=False,
                 backend="{backend}")
except KeyboardInterrupt as stopped:
    sol = stopped.trajectory
    again = nh.integrate(s, nh.DLA(), h=0.01, steps=sol.steps, every=10**5, progress=False)
    print(type(stopped).__name__, abs(sol.q - again.q).max() < 1e-9)
"""
# What nohup and shells do to a process in the background: Python then has no handler of Ctrl-C.
IGNORED = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
HANDLED = f"{IGNORED}; signal.signal(signal.SIGTERM, signal.default_int_handler)"


def long_run(backend, first=""):
    """A process in the middle of a run of 10^10 steps."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    code = SIGNALLED.format(backend=backend, first=first)
    process = processes.start([sys.executable, "-c", code], env=env, **pipes)
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)
    return process


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_control_c(backend):
    """A real SIGINT, sent from outside."""
    process = long_run(backend)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "Interrupted True\n" and err == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("backend", ["python", "numba"])
def test_a_run_in_the_background_answers_other_signals(backend):
    """With Ctrl-C ignored SIGTERM ends it, or does what the program has said."""
    process = long_run(backend, IGNORED)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == -signal.SIGTERM
    process = long_run(backend, HANDLED)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert out == "Interrupted True\n" and err == ""


# ---------------------------------------------------------------------------- progress, warnings


@pytest.mark.parametrize("method", [nh.DLA(), nh.Reference()], ids=str)
def test_progress(method, capfd, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK", {"python": 50, "numba": 50})
    run(method=method, steps=400, progress=False)
    run(method=method, steps=400)  # too short for a bar
    assert capfd.readouterr() == ("", "")
    run(method=method, steps=400, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "step" in err and "%" in err
    clock = iter(range(1000))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    run(method=method, steps=400)  # it appears after two seconds
    assert "%" in capfd.readouterr().err


def test_warning_of_energy_jumps():
    """RK4 beyond its stability limit, h omega = 2.83."""
    system = nh.System((x,), (vx,), vx**2 / 2 - x**2 / 2, name="oscillator")
    with pytest.warns(
        RuntimeWarning, match=r"energy changes from 0\.5 to .*h = 3 is too large.*RK4"
    ) as w:
        nh.integrate(system, nh.RK4(), [1], [0], h=3, steps=30)
    assert w[0].filename == __file__


def test_warning_of_wrong_roots():
    """The sleigh at 3 to 5 rad per step: Newton may find far roots; none passes in silence."""
    warned = 0
    for a in (0.2, 0.5, 1.0):
        for w in np.arange(3, 5, 0.25):
            system = nh.systems.sleigh(a=a)
            try:
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    sol = nh.integrate(system, nh.DLA(), [0, 0, 0], [1, 0, w], h=1, steps=60)
            except nh.IntegrationError:
                continue
            grown = sol.energy("midpoints").max() > 12 * sol.energy("midpoints")[0]
            assert not grown or len(seen) == 1, (a, w)
            warned += len(seen)
    assert warned


@pytest.mark.parametrize("name", nh.systems.catalogue)
def test_healthy_runs_are_silent(name, recwarn, capfd):
    system = nh.systems.catalogue[name]()
    for method in (nh.DLA(), nh.RK4(), nh.Reference()):
        run(system, method, h=0.05, steps=40)
    assert not list(recwarn) and capfd.readouterr() == ("", "")


def test_rest_is_a_motion():
    """At an equilibrium nothing moves, nothing divides by zero, nothing warns."""
    for method in METHODS:
        if method.variable_step:
            continue  # every step size keeps the energy of rest
        sol = nh.integrate(PARTICLE, method, [0, 0, 0], [0, 0, 0], h=0.1, steps=20)
        assert np.all(sol.q == 0) and np.all(sol.p == 0)


@pytest.mark.parametrize("before", [0.002, 5.0])
def test_a_careful_step_is_not_extrapolated(before):
    """EDLA extrapolates its h from the last two; where a step has failed these are to blame, and
    the step with pivoting is predicted by the last h alone."""
    start = {"q0": None, "v0": None, "h": 0.1, "steps": 5}
    good, bad = (loop.Run(Start(nh.systems.pendulum(), nh.EDLA(), **start), "python") for _ in "ab")
    bad.state.h_before[...] = before
    for one in (good, bad):
        one.careful()
    assert np.array_equal(good.state.array, bad.state.array) and good.done == 2
