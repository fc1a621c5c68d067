"""A step is accepted only if its corrections mean something: finite pivots, digits left, and a
second small correction where Newton came from far."""

import inspect

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen.careful import careful_step
from nhlab.codegen.printing import NUMPY
from nhlab.codegen.statement import Stage, Statement, dummy
from nhlab.codegen.writing import generate

t, h, x, u, lam, k = (dummy(name) for name in ("t", "h", "x", "u", "lam", "k"))


def answers(statement, state, args=()):
    """(ok, the new values) of one step: by CPython in two ways, on arrays, with pivoting."""
    text, space = generate(statement), {}
    exec(text, space)
    ok, _, *new = space["step"](0.0, 0.1, *state, *args)
    yield ok, new
    floats, out = [*state], []
    yield space["loop"](floats, out, 0, 1, 1, 0.0, 0.1, *args) == 1, floats
    space |= NUMPY
    with np.errstate(all="ignore"):
        ok, _, *new = space["step"](
            0.0, np.full(2, 0.1), *np.array([state, state]).T, *map(np.float64, args)
        )
    yield np.all(ok), [np.broadcast_to(e, 2)[0] for e in new]
    attempt = careful_step(statement, 0.0, 0.1, [*state], [*args])
    yield attempt.ok, attempt.carry


# Slopes that overflow where the equations do not: r/inf is 0, and 0 a small correction.
STEEP = [
    (Stage((u,), (sp.exp(1e10 * u) - 1,), (x,)), 6.907e-8, ()),  # Newton
    (Stage((u,), (u * x**2 - 1,), (sp.S.Zero,)), 1e200, ()),  # linear, solved once
    (Stage((u,), (u * k**2 - x,), (sp.S.Zero,)), 1.0, (1e200,)),  # linear, of constants
    (Stage((u, lam), (u * x**2 - lam - 1, u + lam), (x * 0, x * 0)), 1e200, ()),  # a determinant
]


@pytest.mark.parametrize("stage, state, args", STEEP, ids=["Newton", "once", "constant", "two"])
def test_a_slope_that_overflows_is_no_convergence(stage, state, args):
    statement = Statement(t, h, (x,), (k,)[: len(args)], (stage,), (x + u,))
    assert not any(ok for ok, _ in answers(statement, [state], args))


def test_a_slope_that_overflows_is_no_convergence_compiled(numba):
    for stage, state, args in STEEP[:2]:
        space = {}
        exec(generate(Statement(t, h, (x,), (), (stage,), (x + u,))), space)
        for name in ("all_", "where", "sign", "step"):
            space[name] = numba.njit(space[name], error_model="numpy")
        run, rows, now = numba.njit(space["run"], error_model="numpy"), np.zeros((3, 1)), [state]
        assert run(np.array(now), rows, 0, 2, 1, 0.0, 0.1, *args) == 0


def test_a_root_found_late_is_looked_at_once_more():
    """Newton on u^2 = 1 needs seven iterations from here; the last correction, 3e-9, is small, but
    lam = cos(1e6 u) still lies 5e-6 beside its value, for it was extrapolated over 3e-3 of its
    angle."""
    first = 1 + 3e-9
    for _ in range(6):
        first += np.sqrt(first**2 - 1)  # the iterate before
    equations = (u**2 - 1, lam - sp.cos(1e6 * u))
    stage = Stage((u, lam), equations, (x, x * 0), (u, None), (1, 0))
    statement = Statement(t, h, (x, k), (), (stage,), (u, lam))
    for ok, new in answers(statement, [first, 0.0]):
        assert ok and abs(new[0] - 1) < 1e-15 and abs(new[1] - np.cos(1e6 * new[0])) < 1e-9


X, Y, Z, vx, vy, vz = nh.symbols("x y z vx vy vz")
MASSES = vx**2 / 2 + (1 + Y**2) * vy**2 / 2 + (1 + Z**2) * vz**2 / 2
SPHERE = nh.System((X, Y, Z), (vx, vy, vz), MASSES - X, [vz - 2 * vx], [X**2 + Y**2 + Z**2 - 3])


def pivoted(q, v):
    """The acceleration from one dense solve."""
    K, A = np.zeros((5, 5)), np.array([[-2, 0, 1], 2 * q])
    K[:3, :3], K[:3, 3:], K[3:, :3] = np.diag([1, 1 + q[1] ** 2, 1 + q[2] ** 2]), A.T, A
    f = [-1, -q[1] * v[1] ** 2, -q[2] * v[2] ** 2, 0, -2 * (v @ v)]
    return np.linalg.solve(K, f)[:3]


@pytest.mark.parametrize("size", [1.0, 1e4, 1e6])
def test_digits_that_elimination_loses_are_noticed(size):
    """Of A M^-1 A^T, 2 by 2, nothing is left where one mass is 1e-12 of the others; the equations
    themselves are harmless."""
    q, v = size * np.array([1.0, 1.0, -1.0]), np.array([0.3, 0.3, 0.6])
    np.testing.assert_allclose(SPHERE.acceleration(q, v), pivoted(q, v), rtol=1e-9)
    many = SPHERE.acceleration(np.array([q, q]), np.array([v, v]))
    np.testing.assert_allclose(many, [pivoted(q, v)] * 2, rtol=1e-9)


PLAIN = {n: f for n, f in vars(nh.systems).items() if inspect.isfunction(f) and hasattr(f, "title")}
del PLAIN["bicycle"]  # takes seconds


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_motions_need_no_pivoting(name):
    system = PLAIN[name]()
    y = [*map(float, system.q0), *map(float, system.v0)]
    system = system.with_input_values(dict.fromkeys(system.inputs, 0.0))
    assert system.motion.program.one_step(0.0, 0.0, *y, *system.motion.parameters)[0]
