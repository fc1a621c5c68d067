"""Trajectories: what the arrays mean, how they are read, saved, stopped and interrupted."""

import functools
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.run import loop

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
DISCRETE = [nh.DLA(alpha=0.4), nh.DLA(constraint_alpha=0.2), nh.Projector(), nh.EDLA(),
            nh.DLA(alpha=0.3, symmetric=True)]  # fmt: skip
METHODS = [*DISCRETE, nh.RK4(), nh.Reference()]
PARTICLE, DRIVEN, BALL = (
    nh.systems.particle(), nh.systems.driven(), nh.systems.spherical_pendulum()
)  # fmt: skip


def run(system=PARTICLE, method=None, h=0.1, steps=24, t0=0.0, **options):
    """A run from the system's own start, whose velocity fits the constraints at t0."""
    if "q0" not in options and system.constraints:
        options |= {"q0": system.q0, "v0": system.project(system.q0, system.v0, t0)}
    return nh.integrate(system, method or nh.DLA(), h=h, steps=steps, t0=t0, **options)


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


# ---------------------------------------------------------------------------- every, q1


@pytest.mark.parametrize(
    ("method", "backend"),
    [*((m, "python") for m in METHODS), (nh.EDLA(), "numba"), (nh.Projector(), "numba")], ids=str,
)  # fmt: skip
def test_every_is_slicing(method, backend):
    if backend == "numba":
        pytest.importorskip("numba")
    full = run(DRIVEN, method, backend=backend)
    for every in (2, 3, 24):
        sparse = run(DRIVEN, method, every=every, backend=backend)
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


# ---------------------------------------------------------------------------- other forms


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


s = nh.symbols("s", positive=True)
TO_SAVE = {
    **{f"particle {m}": (PARTICLE, m) for m in METHODS},
    **{f"{n} EDLA": (f(), nh.EDLA()) for n, f in nh.systems.catalogue.items() if n in
       ("driven", "spherical_pendulum", "kepler")},
    "snakeboard": (nh.systems.snakeboard(), nh.DLA()),
    "floats": (nh.System((x,), (vx,), 0.1 * vx**2 - sp.Float("0.3", 30) * x**2 / 3, q0=[1], v0=[0]),
               nh.DLA()),
    "pieces": (nh.System((x, y), (vx, vy), vx**2 + vy**2 - sp.Piecewise(
        (x**2, (x < 0) | (y > 2)), (sp.sin(x) * y, sp.Ne(x, 3)), (sp.sqrt(y), True))
        - sp.Piecewise((1, sp.Eq(x, 7)), (0, True)), q0=[0.5, 1], v0=[0.1, 0]), nh.Variational()),
    "functions": (nh.System((x,), (vx,), vx**2 + sum(f(x / 2) for f in (
        sp.sin, sp.tan, sp.exp, sp.cosh, sp.asin, sp.atanh, sp.Abs, sp.sign, sp.sec, sp.cot))
        + sp.log(x) + sp.atan2(x, 2) + sp.pi * x + sp.E * x + x ** sp.Rational(1, 3), q0=[0.5],
        v0=[0.1]), nh.RK4()),
    "metric": (nh.System((x, y), (vx, vy), vx**2 + vy**2, [vx - y * vy],
                         metric=[[2 + x**2, 0], [0, 1]], q0=[0, 1], v0=[1, 1]), nh.Projector()),
    "positive": (nh.System((x,), (vx,), s * vx**2 - sp.sqrt(s**2) * x, parameters={s: 2}, q0=[1],
                           v0=[0]), nh.DLA()),
    "factored": (nh.System((x, y), (vx, vy), sp.factor(2 * vx**2 + 2 * vy**2), q0=[1, 2],
                           v0=[0, 1]), nh.DLA()),
}  # fmt: skip


@pytest.mark.parametrize("case", TO_SAVE)
def test_saved_and_loaded(case, tmp_path):
    system, method = TO_SAVE[case]
    sol = run(system, method, t0=0.25, steps=6, every=3, h=0.02)
    sol.save(tmp_path / "run.npz")
    back = nh.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(back.rows.array, sol.rows.array)
    for name in ("t", "q", "v", "p", "h", "lam"):
        np.testing.assert_array_equal(getattr(back, name), getattr(sol, name))
    assert back.method == method and type(back.method) is type(method)
    assert back.system == system and hash(back.system) == hash(system)
    assert (back.every, back.message) == (3, "") and back.system.name == system.name
    np.testing.assert_array_equal(back.energy(), sol.energy())
    one, two = (nh.integrate(s, method, system.q0, system.v0, h=0.02, steps=3)
                for s in (system, back.system))  # fmt: skip
    np.testing.assert_array_equal(one.q, two.q)


def test_saved_where_told(tmp_path):
    sol = run()
    sol.save(tmp_path / "plain")
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(nh.load(tmp_path / "plain").q, sol.q)
    sol.save(str(tmp_path / "text.npz"))
    np.testing.assert_array_equal(nh.load(str(tmp_path / "text.npz")).q, sol.q)


def test_saved_run_of_a_given_q1_and_a_stopped_run(tmp_path):
    sol = run(q0=[0, 1, 0], q1=[0.1, 1.1, 0.1])
    sol.save(tmp_path / "a.npz")
    assert np.isnan(nh.load(tmp_path / "a.npz").lam[0, 0])
    part = stopped_sleigh().trajectory
    part.save(tmp_path / "b.npz")
    back = nh.load(tmp_path / "b.npz")
    assert back.message == part.message != "" and back.steps == part.steps


class Bomb:
    """Unpickling this leaves a file behind."""

    def __reduce__(self):
        return (open, ("exploded", "w"))


def bad_files():
    good = io.BytesIO()
    run(steps=2).save(good)
    good = good.getvalue()
    with np.load(io.BytesIO(good)) as file:
        about, rows = json.loads(str(file["about"])), file["rows"]

    def npz(**arrays):
        out = io.BytesIO()
        np.savez(out, **arrays)
        return out.getvalue()

    def changed(**values):
        return npz(about=np.array(json.dumps({**about, **values})), rows=rows)

    def system(**values):
        return changed(system={**about["system"], **values})

    bomb = np.array([Bomb()], dtype=object)
    yield "empty", b""
    yield "random", np.random.default_rng(1).bytes(500)
    yield "zip signature only", b"PK\x03\x04" + b"x" * 50
    yield "truncated", good[:-40]
    yield "flipped bits", bytes(b ^ 255 if 150 < i < 170 else b for i, b in enumerate(good))
    yield "pickle", pickle.dumps(Bomb())
    yield "object array", npz(about=bomb, rows=bomb)
    yield "object rows", npz(about=np.array(json.dumps(about)), rows=bomb)
    yield "npy", npy(np.zeros(3))
    yield "foreign", npz(a=np.zeros(3))
    yield "no rows", npz(about=np.array(json.dumps(about)))
    yield "no JSON", npz(about=np.array("hello"), rows=rows)
    yield "JSON list", npz(about=np.array("[1, 2]"), rows=rows)
    yield "other format", changed(format="nhlab trajectory 99")
    yield "unknown method", changed(method=["System", {}])
    yield "private method", changed(method=["__builtins__", {}])
    yield "wrong options", changed(method=["DLA", {"beta": 1}])
    yield "bad alpha", changed(method=["DLA", {"alpha": 7}])
    yield "code for L", system(L=["Lambda", "__import__('os').system('touch exploded')"])
    yield "text for L", system(L="__import__('os').system('touch exploded')")
    yield "symbol of code", system(L=["Symbol", "__import__('os').system('touch exploded')", {}])
    yield "L too short", system(L=["Rational", "1"])
    yield "L is not a list", system(L=5)
    yield "L of None", system(L=["Add", None])
    yield "narrow rows", npz(about=np.array(json.dumps(about)), rows=rows[:, :-1])
    yield "flat rows", npz(about=np.array(json.dumps(about)), rows=rows[0])
    yield "no rows at all", npz(about=np.array(json.dumps(about)), rows=rows[:0])
    yield "text rows", npz(about=np.array(json.dumps(about)), rows=rows.astype(str))


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


BAD_FILES = dict(bad_files())


@pytest.mark.parametrize("name", BAD_FILES)
def test_foreign_files_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file.npz"
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(ValueError, match=r"file\.npz is not a trajectory saved by nhlab"):
        nh.load(path)
    assert [f.name for f in tmp_path.iterdir()] == ["file.npz"]  # nothing was executed


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        nh.load(tmp_path / "nothing.npz")


def test_saved_file_is_an_ordinary_npz(tmp_path):
    run().save(tmp_path / "run.npz")
    with zipfile.ZipFile(tmp_path / "run.npz") as file:
        assert sorted(file.namelist()) == ["about.npy", "rows.npy"]
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert json.loads(str(file["about"]))["system"]["name"] == "particle"


# ---------------------------------------------------------------------------- stopping


@functools.cache
def stopped_sleigh(every=1):
    """EDLA has no step for the sleigh beyond t = 7.9."""
    with pytest.raises(nh.IntegrationError) as stopped:
        run(nh.systems.sleigh(), nh.EDLA(), h=0.1, steps=600, every=every)
    return stopped.value


@pytest.mark.ledger("C03-R2")
def test_error_carries_the_computed_part():
    error = stopped_sleigh()
    sol = error.trajectory
    assert error.method == nh.EDLA() and error.step == sol.steps > 10
    assert error.time == sol.t[-1] and np.isfinite(error.residual)
    assert error.reason in str(error) and error.advice in str(error)
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
        run(
            nh.systems.kepler(),
            nh.Reference(),
            q0=[1, 0],
            v0=[0, 0],
            h=0.01,
            steps=200,
            every=every,
        )
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


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_interrupt_keeps_the_computed_part(backend, monkeypatch):
    if backend == "numba":
        pytest.importorskip("numba")
    monkeypatch.setattr(loop, "CHUNK", {"python": 50, "numba": 50})
    advance, calls = loop.Run._advance, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        advance(self, *args)

    monkeypatch.setattr(loop.Run, "_advance", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(steps=1000, backend=backend, every=5)
    error = stopped.value
    assert isinstance(error, nh.Interrupted) and "after 150 of 1000" in str(error)
    monkeypatch.undo()
    expected = run(steps=150, every=5, backend="python").q
    np.testing.assert_allclose(error.trajectory.q, expected, rtol=1e-12)


def test_interrupt_of_a_reference_run(monkeypatch):
    from scipy.integrate import DOP853

    step, calls = DOP853.step, []

    def interrupted(self):
        calls.append(1)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(DOP853, "step", interrupted)
    with pytest.raises(nh.Interrupted) as stopped:
        run(method=nh.Reference(), steps=1000)
    monkeypatch.undo()
    part = stopped.value.trajectory
    assert 2 < len(part) < 1000
    np.testing.assert_allclose(
        part.q, run(method=nh.Reference(), steps=1000).q[: len(part)], rtol=1e-12
    )


CTRL_C = """
import sys, nhlab as nh
s = nh.systems.particle()
nh.integrate(s, nh.DLA(), h=0.01, steps=10, backend="{backend}")  # generated and compiled
print("ready", flush=True)
try:
    nh.integrate(s, nh.DLA(), h=0.01, steps=10**10, every=10**5, progress=False,
                 backend="{backend}")
except KeyboardInterrupt as stopped:
    sol = stopped.trajectory
    again = nh.integrate(s, nh.DLA(), h=0.01, steps=sol.steps, every=10**5)
    print(type(stopped).__name__, abs(sol.q - again.q).max() < 1e-9)
"""


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_control_c(backend):
    """A real SIGINT, sent from outside."""
    if backend == "numba":
        pytest.importorskip("numba")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-c", CTRL_C.format(backend=backend)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)
    process.send_signal(signal.SIGINT)
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


def test_progress_appears_after_two_seconds(capfd, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(loop, "CHUNK", {"python": 50, "numba": 50})
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(clock))
    run(steps=400)
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
