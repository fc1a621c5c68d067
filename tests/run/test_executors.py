"""An ensemble gives the same numbers on every executor, and keeps what is done when one fails."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import nhlab as nh
from nhlab.run import ensemble as ensembles

SLEIGH = nh.systems.sleigh()
COUNT = 12
RNG = np.random.default_rng(8)
V0 = SLEIGH.project(np.zeros((COUNT, 3)), RNG.uniform(-1, 1, (COUNT, 3)))
# Turning sleighs with steps and lever arms of their own; EDLA comes to an end for some of them.
VARIED = dict(h=RNG.uniform(0.05, 0.1, COUNT), parameters={"a": RNG.uniform(0.1, 0.3, COUNT)})
sleighs = partial(nh.ensemble, SLEIGH, v0=V0, q0=[0, 0, 0], steps=60, chunk=3, **VARIED)


class Immediately:
    """The least an executor can be; the last to come is the first to be done."""

    def submit(self, f, *args):
        future = Future()
        future.set_result(f(*args))
        return future


@pytest.fixture(scope="module")
def processes():
    # A process that has threads, as Dask's, is not forked; some platforms never do.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def client():
    """Dask: a scheduler here and two worker processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                 silence_logs=logging.CRITICAL) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(params=["immediately", "threads", "processes", "dask"])
def executor(request):
    if request.param == "immediately":
        yield Immediately()
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "processes":
        yield request.getfixturevalue("processes")
    else:
        yield request.getfixturevalue("client").get_executor()


def assert_same(a, b):
    """To the last bit."""
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.steps_done, b.steps_done)
    assert a.errors == b.errors


# ---------------------------------------------------------------------------- the same numbers


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_the_same_on_every_executor(executor, backend):
    here = sleighs(method=nh.EDLA(), backend=backend)
    there = sleighs(method=nh.EDLA(), backend=backend, executor=executor)
    assert_same(here, there)
    assert 0 < here.ok.sum() < COUNT  # some stopped, and alone
    other = sleighs(method=nh.EDLA(), backend=backend, executor=executor,
                    h=VARIED["h"] * (1 + 1e-15))  # fmt: skip
    with pytest.raises(AssertionError):
        assert_same(here, other)
    energies = sleighs(method=nh.EDLA(), backend=backend, executor=executor, summary="energy")
    assert energies.errors == here.errors
    for k, sol in enumerate(here):
        assert energies.summary["E_ptp"][k] == np.ptp(sol.energy())


@pytest.mark.parametrize("size", [1, 5, 12])
def test_the_same_in_every_chunk(size):
    """What advances alone does not see the others; arrays iterate together, to round-off."""
    for backend, limit in (("python", 0), ("numpy", 1e-12)):
        here = sleighs(method=nh.DLA(), backend=backend)
        cut = sleighs(method=nh.DLA(), backend=backend, chunk=size)
        assert np.abs(here.rows - cut.rows).max() <= limit


@pytest.mark.parametrize(
    ("system", "method", "name"),
    [
        (nh.systems.rigid_body(), nh.Projector(), "I1"),
        (nh.Chaplygin(nh.systems.robot(), fibre=("x", "y")), nh.RDLA(), "R"),
    ],
    ids=["group", "reduction"],
)
def test_systems_of_every_kind_travel(system, method, name, processes):
    values = [1.1, 1.2]
    run = partial(nh.ensemble, system, method, h=[0.1, 0.05], steps=10, chunk=1,
                  parameters={name: values}, backend="python")  # fmt: skip
    here = run()
    assert_same(here, run(executor=processes))
    for k, value in enumerate(values):
        one = nh.integrate(system.set(**{name: value}), method, h=here.h[k], steps=10)
        assert np.abs(one.q - here.q[k]).max() < 1e-13
    assert np.abs(here.q[0, 5] - here.q[1, 10]).max() > 1e-4  # the members do differ


class Reported:
    """A summary made here that says which process computed, and with which machine code."""

    def __call__(self, sol):
        stats = sol.method.program(sol.system).numba.stats
        hits, misses = (sum(x.values()) for x in (stats.cache_hits, stats.cache_misses))
        return {"pid": os.getpid(), "hits": hits, "misses": misses, "q": sol.q[-1]}


def test_compiled_once(numba, processes):
    """This process compiles; the workers read its machine code and get the same numbers."""
    run = partial(nh.ensemble, SLEIGH, nh.DLA(), [0, 0, 0], V0, h=0.1, steps=50, backend="numba",
                  chunk=1, summary=Reported())  # fmt: skip
    there = run(executor=processes).summary
    here = run().summary
    np.testing.assert_array_equal(here["q"], there["q"])
    assert np.all(there["misses"] == 0) and np.all(there["hits"] == 1)
    assert os.getpid() not in there["pid"] and set(here["pid"]) == {os.getpid()}


def test_functions_made_here_travel(processes, client):
    """cloudpickle takes them where it is installed, as it is with Dask."""
    factor = 2.0
    run = partial(sleighs, method=nh.DLA(), summary=lambda sol: factor * sol.q[-1])
    for executor in (processes, client.get_executor()):
        np.testing.assert_array_equal(run(executor=executor).summary, run().summary)


def test_a_worker_unpickles_the_system_once():
    common = ensembles.Common((SLEIGH, nh.DLA(), []))
    make, arguments = common.__reduce__()
    assert make(*arguments) is make(*arguments) and make(*arguments).value[0] == SLEIGH
    other = ensembles.Common((SLEIGH.set(a=0.1), nh.DLA(), []))
    assert make(*arguments) is not make(*other.__reduce__()[1])


def test_dask_is_not_imported():
    code = "import sys, nhlab as nh; nh.ensemble, nh.systems; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"distributed", "dask"} & set(done.stdout.split())
    assert {"numpy", "nhlab.run.ensemble"} <= set(done.stdout.split())


# ---------------------------------------------------------------------------- progress


def test_progress_counts_steps(processes, capsys):
    sleighs(method=nh.DLA(), executor=processes, progress=True)
    assert "/720" in capsys.readouterr().err
    sleighs(method=nh.DLA(), executor=processes, progress=False)
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------------------- when something ends


class Marks:
    """A summary that leaves a file for each call; the first call for member k never returns."""

    def __init__(self, folder, k):
        self.folder, self.k = folder, k

    def __call__(self, sol):
        k = int(np.argmin(np.abs(VARIED["h"] - sol.h0)))
        first = not any(x == k for x, _ in self.calls())
        (self.folder / f"{k}-{os.getpid()}").touch()
        if k == self.k and first:
            os.kill(os.getpid(), signal.SIGKILL)
        return sol.q[-1]

    def calls(self):
        """(member, process) of all calls so far."""
        return [tuple(map(int, f.name.split("-"))) for f in self.folder.iterdir()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_dask_runs_the_chunks_of_a_killed_worker_again(client, tmp_path):
    marks = Marks(tmp_path, 7)
    there = sleighs(method=nh.EDLA(), summary=marks, executor=client.get_executor())
    here = sleighs(method=nh.EDLA(), summary=lambda sol: sol.q[-1])
    np.testing.assert_array_equal(there.summary, here.summary)
    assert there.errors == here.errors and np.isfinite(there.summary).all()
    calls = marks.calls()
    assert {k for k, _ in calls} == set(range(COUNT))
    assert len([pid for k, pid in calls if k == 7]) == 2  # the one that was killed, and another


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_a_pool_that_lost_a_worker_keeps_what_is_done(tmp_path):
    marks = Marks(tmp_path, 7)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        with pytest.raises(nh.EnsembleError, match="a worker was lost") as error:
            sleighs(method=nh.DLA(), summary=marks, executor=pool)
    part, whole = error.value.ensemble, sleighs(method=nh.DLA(), summary=lambda sol: sol.q[-1])
    assert "6 of 12 members are done" in str(error.value)
    assert part.ok.tolist() == [True] * 6 + [False] * 6
    np.testing.assert_array_equal(part.summary[:6], whole.summary[:6])
    assert np.isnan(part.summary[6:]).all()
    assert part.errors == dict.fromkeys(range(6, 12), "not run") and whole.errors == {}


def test_what_cannot_travel_is_said(processes):
    pytest.importorskip("cloudpickle")
    lock = threading.Lock()
    with pytest.raises(nh.EnsembleError, match=r"lock.* 0 of 12 members are done"):
        sleighs(method=nh.DLA(), summary=lambda sol: lock.locked(), executor=processes)
    assert sleighs(method=nh.DLA(), summary=lambda sol: lock.locked()).ok.all()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals reach no thread here")
@pytest.mark.parametrize("threads", [False, True], ids=["here", "threads"])
def test_interruption_keeps_what_is_done(threads, ctrl_c):
    """Ctrl-C in the third chunk: two are done, the fourth never begins."""
    called, stopped = [], threading.Event()

    def summary(sol):
        called.append(sol.h0)
        if sol.h0 == VARIED["h"][6]:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            if threads:
                stopped.wait(60)
        return sol.q[-1]

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(nh.Interrupted, match="6 of 12 members are done") as error:
            sleighs(method=nh.DLA(), summary=summary, executor=pool if threads else None)
        stopped.set()
    part, whole = error.value.ensemble, sleighs(method=nh.DLA(), summary=lambda sol: sol.q[-1])
    assert part.ok.tolist() == [True] * 6 + [False] * 6 and set(part.errors) == set(range(6, 12))
    np.testing.assert_array_equal(part.summary[:6], whole.summary[:6])
    assert isinstance(error.value, KeyboardInterrupt)
    assert VARIED["h"][9] not in called


def test_interruption_keeps_rows():
    class Stopping(Immediately):
        count = 0

        def submit(self, f, *args):
            self.count += 1
            if self.count == 3:
                raise KeyboardInterrupt
            return super().submit(f, *args)

    with pytest.raises(nh.Interrupted) as error:
        sleighs(method=nh.DLA(), executor=Stopping())
    part, whole = error.value.ensemble, sleighs(method=nh.DLA())
    np.testing.assert_array_equal(part.rows[:6], whole.rows[:6])
    assert np.isnan(part.rows[6:]).all() and np.isnan(part.t[6:]).all()
    assert part.ok.sum() == 6 and part.errors[6] == "not run" == part[6].message
