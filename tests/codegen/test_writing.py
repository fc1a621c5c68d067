"""The three functions of a text: the same numbers from each, whatever the names."""

import ast

import numpy as np
import pytest
import sympy as sp
from runs import cases, difference, round_off, rows

import nhlab as nh
from nhlab.codegen.careful import careful_step
from nhlab.codegen.lines import in_turn
from nhlab.run.start import Start, begin

x, y, z, vx, vy, k = nh.symbols("x y z vx vy k")


def relativistic():
    """L is not quadratic in the velocities."""
    L = -sp.sqrt(1 - vx**2 - vy**2) - k * x**2 / 2 - y**2
    return nh.System((x, y), (vx, vy), L, parameters={k: 0.8}, q0=[1, 0.5], v0=[0.3, 0.6])


def particle_with_a_metric():
    s, G = nh.systems.particle(), [[2 + y**2, 0, y], [0, 1, 0], [y, 0, 1]]
    return nh.System(s.q, s.v, s.L, s.constraints, metric=G, q0=s.q0, v0=s.v0)


def bent():
    """Here x_a moves with vx, and so does what multiplies it: no row gives its own unknown."""
    L = (1 + x**2) * vx**2 / 2 + vy**2 / 2 - x * y**3 - y**4
    return nh.System((x, y), (vx, vy), L, q0=[1, 0.5], v0=[0, 1])


def log_body():
    return S.rigid_body(rule="log")


S = nh.systems
# Compiling takes seconds: one of each kind of text.
COMPILED = [(S.driven, nh.EDLA()), (S.particle, nh.Composition(nh.DLA())), (S.sleigh, nh.RK4())]
COMPILED += [(S.sleigh, nh.DLA(0.2, True)), (S.sleigh, nh.Reversible()), (S.ball, nh.Projector())]
COMPILED += [(S.pendulum, nh.DiscreteGradient()), (S.snakeboard, nh.Projector())]
COMPILED += [(S.spherical_pendulum, nh.Variational()), (log_body, nh.Variational())]
COMPILED += [(S.sleigh, nh.DLA(constraint_alpha=0))]
CASES = [*COMPILED, (S.particle, nh.DLA()), (S.particle, nh.Projector(0.3)), (bent, nh.DLA())]
CASES += [(S.particle, nh.EDLA()), (S.driven, nh.EDLA(symmetric=True))]
CASES += [(S.sleigh, nh.Projector(0, True)), (S.spherical_pendulum, nh.EDLA())]
CASES += [(S.kepler, nh.Variational(0.1, True)), (particle_with_a_metric, nh.Projector())]
CASES += [(S.driven, m) for m in (nh.DLA(0.4), nh.RK4(), nh.Reversible())]
CASES += [(S.driven, nh.Composition(nh.DLA(0.3, True), 6)), (S.robot, nh.DLA())]
CASES += [(S.robot, nh.DiscreteGradient()), (relativistic, nh.DLA()), (relativistic, nh.EDLA())]


@cases(CASES)
def test_cpython_and_numpy_agree(make, method):
    system = make()
    q0, v0 = np.array([system.q0] * 2, float), np.array([system.v0] * 2, float)
    v0[1] *= 1.01  # a second state, so that the arrays are arrays
    many = nh.ensemble(system, method, q0, v0, h=0.05, steps=60, backend="numpy")
    for k in (0, 1):
        alone = rows(system, method, q0[k], v0[k], backend="python")
        assert difference(many.rows[k], alone) < round_off(method)


@cases(COMPILED)
def test_cpython_and_numba_agree(make, method, numba):
    compiled, plain = (rows(make(), method, backend=b) for b in ("numba", "python"))
    assert difference(compiled, plain) < round_off(method)


def check_readable(text, system):
    functions = {f.name: f for f in ast.parse(text).body if isinstance(f, ast.FunctionDef)}
    assert {"step", "run", "loop"} <= set(functions)
    arguments = [a.arg for a in functions["step"].args.args]
    assert arguments[:2] == ["t", "h"] and {s.name for s in system.q} <= set(arguments)


@cases(CASES)
def test_text_does_what_the_statement_says(make, method):
    """The written-out elimination against LAPACK on the same equations, step by step."""
    system = make()
    start = Start(system, method, None, None, h=0.05, steps=5)
    _, (state,), done, (weights,) = begin(start)
    program, args = method.program(system), method.arguments(system, weights.tolist())
    check_readable(program.text, system)
    state, t, h = state.tolist(), 0.05 * done, 0.05
    if method.variable_step:
        (t, h), state = state[:2], state[2:]
    for _ in range(5):
        ok, new_h, *new = program.step(t, h, *state, *args)
        slow = careful_step(program.statement, t, h, state, args)
        assert ok and slow.ok
        assert difference(np.array([[new_h, *new]]), [[slow.h, *slow.carry]]) < round_off(method)
        state, t, h = new, t + new_h, new_h


AWKWARD = """h t t0 lam_0 lam0 p_x alpha weight step run new n out state stop every left row in sin
    sqrt where all_ sign range abs float _ __name__ s_ s__ θ φ_2 x_{1} x_1 x' x'' 1st - ok size c d
    x_a x_last nan True weight_x e h_new mu0 w_x fabs substep part now done lambda""".split()
AWKWARD += ["two words", ""]
PLAIN = ["x", "y", "vx", "vy", "g", "time"]


def moved(names, method, backend="python"):
    """The motion of a system with a Newton loop, a constraint, a parameter and time, named so."""
    x, y, vx, vy, g, t = (sp.Symbol(name, real=True) for name in names)
    L = (vx**2 + vy**2) / 2 - g * x**4 + t * y
    system = nh.System((x, y), (vx, vy), L, [vy - (x + t) * vx], parameters={g: 1.5}, t=t)
    v0 = [0.2, (0.4 + 0.3) * 0.2]
    return rows(system, method, [0.4, 0], v0, h=0.1, steps=6, t0=0.3, backend=backend)


@pytest.mark.parametrize("role", range(6))
def test_no_name_clashes(role):
    """Each awkward name in each role: coordinate, velocity, parameter, time."""
    methods = (nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4(), nh.Composition(nh.DLA()))
    expected = {m: moved(PLAIN, m) for m in methods}
    for k in range(0, len(AWKWARD), 6):
        names = (AWKWARD[k:] + AWKWARD)[:6]
        names = names[role:] + names[:role]
        method = list(expected)[k // 6 % 5]
        gap = difference(moved(names, method), expected[method])
        assert gap < round_off(method), (names, method)


def test_no_name_clashes_compiled(numba):
    names = ["h", "range", "lam0", "new", "state", "t0"]
    assert difference(moved(names, nh.DLA(), "numba"), moved(PLAIN, nh.DLA())) < 1e-13


corner = sp.Piecewise((x**2, (x < 0) & (y < 1)), (2 * x**4, True))
pieces = (vx**2 + vy**2) / 2 - corner - y**2
pieces = nh.System((x, y), (vx, vy), pieces, [vy - x * vx], q0=(0, 0), v0=(1, 0), name="pieces")


RUNS = [(s, m) for s in (S.robot(), S.driven(), pieces) for m in (nh.DLA(), nh.EDLA(), nh.RK4())]


@pytest.mark.parametrize("system, method", [*RUNS, (S.robot(), nh.DiscreteGradient())], ids=repr)
def test_run_for_cpython_equals_the_text(system, method):
    """Inlined, constants first, rows in a list, ``and`` for ``&``: the same numbers to the bit."""
    program = method.program(system)
    plain, fast = program._execute()["run"], program.python
    assert "step" in plain.__code__.co_names
    assert not {"step", "all_", "where"} & {*fast.__code__.co_names}
    start = Start(system, method, None, None, h=0.1, steps=20)
    (row,), (state,), done, (shares,) = begin(start)
    args = method.arguments(start.system, shares.tolist())
    for every in (1, 5):
        rows, floats = np.zeros((20 // every + 1, len(row))), state.tolist()
        assert plain(floats, rows, done, 20, every, 0.0, 0.1, *args) == 20
        out, again = [], state.tolist()
        assert fast(again, out, done, 20, every, 0.0, 0.1, *args) == 20
        assert again == floats == rows[-1].tolist()
        assert out == rows[done // every + 1 :].ravel().tolist()


def repeated(system, method):
    """What the loop for CPython repeats."""
    return nh.source(system, method).split("def loop(")[1].split("while n < stop:")[1]


def test_what_depends_on_the_arguments_alone_is_computed_once_in_a_run():
    system, method = nh.systems.sleigh(), nh.Projector()
    whole, text = nh.source(system, method).split("def loop(")[1], repeated(system, method)
    for done in ("1.0/m", "alpha*h", " = a*m", "t0"):
        assert done in whole and done not in text
    assert "t = t0 + n*h" in repeated(nh.systems.driven(), nh.DLA())  # which depends on time


def test_new_values_are_assigned_in_turn_where_that_makes_no_difference():
    assert in_turn([("h", "new"), ("x", "x + new*v"), ("before", "h"), ("y", "y")]) == [
        "x = x + new*v",
        "before = h",
        "h = new",
    ]
    assert in_turn([("x", "y"), ("y", "x"), ("z", "x + y")]) == ["z = x + y", "x, y = y, x"]
