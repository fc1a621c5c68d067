"""A step that fails leaves the state as it was, wherever it fails and whoever runs it."""

import math
import time

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen.careful import careful_step
from nhlab.codegen.printing import NUMPY
from nhlab.codegen.program import Program, at_work
from nhlab.codegen.statement import Stage, Statement, dummy
from nhlab.codegen.writing import generate

t, h, x, y, at = (dummy(name) for name in ("t", "h", "x", "y", "at"))
PARTS = (0.5, -0.25, 0.75)


def stage(how):
    """u with y_new = u, for which there is no finite value where x == at."""
    u = dummy("u")
    equation = {
        "no root": u**2 - 2 * (x - at) ** 2 + 1,
        "division by zero": (x - at) * u - 1,
        "overflow": u - y * 10**30,  # y is 1e300 there
    }[how]
    guess = sp.Abs(x - at) + sp.Rational(1, 3) if how == "no root" else sp.S.Zero
    return Stage((u,), (equation,), (guess,))


def statement(how, place, parts):
    """Three stages, of which one fails; x counts the steps or, with parts, the substeps."""
    good = [Stage((u,), (u - x - 1,), (sp.S.Zero,)) for u in (dummy("a"), dummy("b"))]
    stages = [*good[:place], stage(how), *good[place:]]
    moved = good[0].unknowns[0], stages[place].unknowns[0], x + good[1].unknowns[0]
    parts = {"factors": parts, "part": dummy("part")} if parts else {}
    return Statement(t, h, (x, y, dummy("z")), (at,), tuple(stages), moved, **parts)


def functions(text):
    space, arrays = {}, dict(NUMPY)
    exec(text, space)
    exec(text, arrays)
    arrays |= NUMPY
    return space, arrays["step"]


def start(at):
    return [0.0, 1e300 / 10.0 ** (30 * at), 0.0]


def taken(step, state, at, count):
    """The states after each of so many steps."""
    found = [state]
    for k in range(count):
        ok, _, *new = step(0.1 * k, 0.1, *found[-1], at)
        assert ok
        found.append(new)
    return found


HOW = ("no root", "division by zero", "overflow")
CASES = [(how, place, PARTS, at) for how in HOW for place in range(3) for at in (3, 4, 5)]
CASES += [(how, place, (), at) for how in HOW for place in range(3) for at in (0, 2)]


@pytest.mark.parametrize("how, place, parts, at", CASES)
def test_the_state_before_stays(how, place, parts, at):
    """In the first, the middle and the last stage, and substep; without numba."""
    text = generate(statement(how, place, parts))
    space, many = functions(text)
    done = at // (len(parts) or 1)
    *_, last = good = taken(space["step"], start(at), at, done)

    rows, state = np.full((10, 3), np.nan), np.array(start(at))
    with np.errstate(all="ignore"):
        assert space["run"](state, rows, 0, 9, 1, 0.0, 0.1, np.float64(at)) == done
    assert state.tolist() == last and rows[1 : done + 1].tolist() == good[1:]
    assert np.isnan(rows[done + 1 :]).all()

    floats, out = start(at), []
    try:
        assert space["loop"](floats, out, 0, 9, 1, 0.0, 0.1, at) == done
        assert floats == last and out == [v for row in good[1:] for v in row]
    except ZeroDivisionError:  # then nothing at all has changed
        assert how == "division by zero" and floats == start(at)

    columns = np.array([last, [0.0, 1.0, 0.0]]).T  # and a state that is far from failing
    with np.errstate(all="ignore"):
        ok, *_ = many(0.0, 0.1, *columns, np.array([at, 50.0]))
    assert np.broadcast_to(ok, 2).tolist() == [False, True]
    attempt = careful_step(statement(how, place, parts), 0.0, 0.1, last, [at])
    assert not attempt.ok and attempt.reason
    assert len(attempt.substeps) == (at % len(parts) if parts else 0)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("parts", [(), PARTS], ids=["step", "substeps"])
def test_the_state_before_stays_compiled(how, parts, numba):
    text = generate(statement(how, 1, parts))
    space, compiled = functions(text)[0], functions(text)[0]
    for name in ("all_", "where", "sign", "substep", "step"):
        if name in compiled:
            compiled[name] = numba.njit(compiled[name], error_model="numpy")
    run, at = numba.njit(compiled["run"], error_model="numpy"), 4
    done = at // (len(parts) or 1)
    *_, last = taken(space["step"], start(at), at, done)
    rows, state = np.full((10, 3), np.nan), np.array(start(at))
    assert run(state, rows, 0, 9, 1, 0.0, 0.1, float(at)) == done
    np.testing.assert_allclose(state, last, rtol=1e-14)
    assert np.isnan(rows[done + 1 :]).all()


def test_every_value_that_is_handed_on_is_looked_at():
    """Each of three values in turn is infinite or NaN, from finite unknowns."""
    u, a, b, c = (dummy(name) for name in "uabc")
    stage = Stage((u,), (u - a - 1,), (sp.S.Zero,))
    for moved in ((u * b, a, c), (a, b + u * c, c), (a, b, sp.atan(u) * b * c)):
        text = generate(Statement(t, h, (a, b, c), (), (stage,), moved))
        step = functions(text)[1]
        state = [np.array([1.0, 1e200, 1e300]), np.array([1.0, 1e200, 1e300]), np.full(3, 1e200)]
        with np.errstate(all="ignore"):
            ok, _, *new = step(0.0, 0.1, *state)
        sound = np.isfinite(np.broadcast_arrays(*new)).all(0)
        assert ok.tolist() == sound.tolist() and not sound.all() and sound.any()


def test_unknowns_that_are_not_handed_on_are_looked_at():
    """atan of an infinite unknown is finite; the step is not accepted all the same."""
    u = dummy("u")
    stage = Stage((u,), (u * x - 1,), (sp.S.Zero,))
    text = generate(Statement(t, h, (x,), (), (stage,), (x + sp.atan(u) - sp.pi / 2,)))
    ok, _, new = functions(text)[1](0.0, 0.1, np.float64(2.0))
    assert ok and math.isfinite(new)
    with np.errstate(all="ignore"):
        ok, _, new = functions(text)[1](0.0, 0.1, np.float64(0.0))
    assert math.isfinite(new) and not ok


vx, vy, vz, q1, q2, q3 = nh.symbols("vx vy vz q1 q2 q3")


def bent(k):
    """M = [[2 - q1, 1, 0], [1, 3, 1], [0, 1, 1]] is definite for q1 < 3/2; V quadratic."""
    v, M = sp.Matrix([vx, vy, vz]), sp.Matrix([[2 - q1, 1, 0], [1, 3, 1], [0, 1, 1]])
    L = (v.T * M * v)[0] / 2 - q1**2 / 2 - k * q2**2 - q3**2
    return nh.System((q1, q2, q3), (vx, vy, vz), L)


@pytest.mark.parametrize("place", [2 - 1e-13, 2 - 1e-9, 2.0, 2 + 1e-12, 1.0])
def test_accelerations_where_m_is_not_definite(place):
    """Five samples say that it is; the first pivot, 2 - q1, vanishes at q1 = 2 all the same."""
    system, q, v = bent(1), np.array([place, 0.3, 0.2]), np.array([0.1, 0.2, 0.3])
    assert system.is_definite
    force = np.array([v[0] ** 2 / 2 - place, -0.6, -0.4])  # L_q - (dM/dt) v
    expected = np.linalg.solve(system.M(q), force)
    np.testing.assert_allclose(system.acceleration(q, v), expected, rtol=1e-13)
    batch = system.acceleration(np.array([q, q]), np.array([v, v]))
    np.testing.assert_allclose(batch, [expected] * 2, rtol=1e-13)


@pytest.mark.parametrize("backend", ["python", "numpy", "numba"])
def test_runs_through_places_where_m_is_not_definite(backend):
    """A step begins where the pivot is 1e-13: on every backend it is that of the printed
    equations, solved with pivoting."""
    if backend == "numba":
        pytest.importorskip("numba")
    system, method, q0 = bent(1), nh.RK4(), [2 - 1e-13, 0.3, 0.2]
    many = nh.ensemble(system, method, [q0], [[0.1, 0.2, 0.3]], h=0.01, steps=3, backend=backend)
    careful = many.rows[0, 0]
    for k in range(3):
        program = method.program(system)
        careful = careful_step(program.statement, 0.01 * k, 0.01, careful.tolist(), []).carry
        np.testing.assert_allclose(many.rows[0, k + 1], careful, rtol=1e-12, atol=1e-14)


def test_a_long_derivation_says_so(capsys):
    with at_work("deriving the equations", after=0.05):
        time.sleep(0.8)
    assert "deriving the equations; Ctrl-C stops it (00:0" in capsys.readouterr().err
    with at_work("deriving the equations", after=5):
        pass
    assert capsys.readouterr().err == ""
    with pytest.raises(KeyboardInterrupt, match="while deriving the equations; no step was taken"):
        with at_work("deriving the equations"):
            raise KeyboardInterrupt


def test_a_derivation_can_be_stopped_and_leaves_nothing_behind():
    """Ctrl-C during the derivation of a step; the next call begins anew."""
    system, method = nh.systems.sleigh(), nh.DLA(alpha=0.37)
    program = Program("stopped on the way", lambda: method.statement(system))
    calls = []

    def stopped(statement):
        calls.append(statement)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nhlab.codegen.program.generate", stopped)
        patch.setattr("nhlab.codegen.cache.read", lambda name: None)
        with pytest.raises(KeyboardInterrupt):
            _ = program.text
    assert len(calls) == 1 and "def step(" in program.text
