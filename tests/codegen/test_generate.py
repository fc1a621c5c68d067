"""The plan of a step: what is solved first, what stays in a Newton loop, what is shared."""

import ast

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen import generate
from nhlab.codegen.block import Block
from nhlab.codegen.statement import Stage, Statement, dummy
from nhlab.codegen.writing import generate as written

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")


def newton_loops(system, method):
    plan = generate.plan(method.program(system).statement)
    return [line for line in plan.lines if isinstance(line, generate.Newton)]


def corrected(system, method):
    """The names that each Newton loop corrects."""
    loops = newton_loops(system, method)
    return [{s.name for s, e in loop.pairs if s in e.free_symbols} for loop in loops]


def divisions(loop):
    return sum(e.is_Pow and e.exp == -1 for _, e in loop.pairs)


# ---------------------------------------------------------------------------- assignments

a, b, c, d, u, w = (dummy(name) for name in "abcduw")


def values_of(pairs, known):
    """Assignments carried out in turn, with numbers."""
    for s, e in pairs:
        known = {**known, s: float(e.subs(known))}
    return known


def test_assignments_are_shared_and_mean_the_same():
    """Also with abbreviations, of which one is not needed and one uses another."""
    let = [(c, a * sp.sin(a + b)), (d, sp.sin(a + b) + c**2), (w, 1 / a)]
    table = [d * sp.sin(a + b) - a * b, a * b + sp.cos(d), c - d]
    block = Block()
    left = block.share(table, let)
    known, one = values_of(block.before, {a: 0.7, b: -1.2}), np.sin(-0.5)
    np.testing.assert_allclose([known[c], known[d]], [0.7 * one, one + 0.49 * one**2], rtol=1e-15)
    found, exact = ([float(e.subs(known)) for e in table_] for table_ in (left, table))
    np.testing.assert_allclose(found, exact, rtol=1e-14)
    assigned = [e for _, e in block.before]
    assert sum(e.count(sp.sin(a + b)) for e in assigned) == 1 and w not in known
    assert sum(e.count(a * b) for e in [*assigned, *left]) == 1
    assert block.share([d + c], let) == [c + d] and len(block.before) == len(assigned)


def test_what_does_not_move_is_assigned_before_the_loop():
    block = Block()
    block.enter([u])
    let = [(c, a * b), (d, c + a**2 * b * sp.sin(a) * u)]
    (left,) = block.share([d * sp.exp(c + b) * u + 2 * a * b], let)
    moving = {u, *(s for s, _ in block.inside)}
    assert c in dict(block.before) and d in dict(block.inside)
    assert all(moving.isdisjoint(e.free_symbols) for _, e in block.before)
    known = values_of([*block.before, *block.inside], {a: 0.7, b: -1.2, u: 0.4})
    for e in (x for _, inner in block.inside for x in inner.atoms(sp.Mul)):
        assert sum(x.is_Symbol and x not in moving for x in e.args) < 2  # their product is known
    D = -0.84 - 0.588 * np.sin(0.7) * 0.4
    assert float(left.subs(known)) == pytest.approx(D * np.exp(-2.04) * 0.4 - 1.68, rel=1e-14)
    block.leave()
    assert c in block.current and d not in block.current  # d has to be computed anew


PATTERNS = [
    "x.x/.xx/xxx",
    "xx./.xx/x.x",
    ".x./x../..x",
    "x....x/.x..x./..x.../x..x../.x..xx/x...xx",
]


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_elimination(pattern, weak):
    """Against the equations, where entries are missing, and with a first pivot small with h."""
    shape = np.array([[x == "x" for x in row] for row in pattern.split("/")])
    n, weak = len(shape), weak and shape[1:, 0].any()
    numbers = np.random.default_rng(n).uniform(1, 2, (n, n)) + np.eye(n)
    numbers[0, 0] *= not weak
    J = [[dummy(f"j{i}{k}") if shape[i, k] else sp.S.Zero for k in range(n)] for i in range(n)]
    strong, r = shape.copy(), [dummy(f"r{i}") for i in range(n)]
    strong[0, 0] &= not weak
    known = {J[i][k]: numbers[i, k] for i, k in np.argwhere(shape)} | dict.fromkeys(r, 1.5)
    block = Block()
    x = block.solve(J, r, strong.tolist())
    known = values_of(block.before, known)
    found = [float(e.subs(known)) for e in x]
    np.testing.assert_allclose((numbers * shape) @ found, 1.5, rtol=1e-12)


def test_equations_that_do_not_determine_their_unknowns():
    """No state has a solution: each step of such a text fails, and is explained by careful.py."""
    x = Block().solve([[a, sp.S.Zero], [b, sp.S.Zero]], [c, d], [[True, False], [True, False]])
    assert x == [sp.nan, sp.nan]


# ---------------------------------------------------------------------------- less to solve


def test_equations_that_need_no_others_are_solved_first():
    """The particle's y is a linear equation of its own, and with y known all others are linear."""
    assert corrected(nh.systems.particle(), nh.DLA()) == []
    T = (vx**2 + vy**2 + vz**2) / 2
    quartic, coupled = (
        nh.System((x, y, z), (vx, vy, vz), T - V, [vz - y * vx]) for V in (y**4, x**2 * y**2)
    )
    assert corrected(quartic, nh.DLA()) == [{"vy"}]
    assert corrected(coupled, nh.DLA()) == [{"vx", "vy", "vz", "lam0"}]


def test_linear_rows_leave_the_elimination_before_the_loop():
    """In the snakeboard's loop only a matrix of the size of its two multipliers is inverted, with
    one division."""
    board = nh.systems.snakeboard()
    assert list(map(divisions, newton_loops(board, nh.DLA()))) == [1]
    assert corrected(board, nh.DLA()) == [{"vx", "vy", "vtheta", "lam0", "lam1"}]


def test_split_keeps_what_depends_on_each_other():
    both = dummy("both")
    equations = (a + both, b - 2 * a, c - 1, d + c * a)
    stage = Stage((a, b, c, d), equations, (a * 0,) * 4, weights=(1, 2, 3, 4))
    parts = list(generate.split(stage, [(both, b * c)]))
    assert [part.unknowns for part in parts] == [(c,), (a, b), (d,)]
    assert [part.weights for part in parts] == [(3,), (1, 2), (4,)]


def constants_in(loop):
    """Expressions computed in the loop from what is not assigned in it."""
    names = {x: {y.id for y in ast.walk(x) if isinstance(y, ast.Name)} for x in ast.walk(loop)}
    assigned = {x.id for x in ast.walk(loop) if isinstance(getattr(x, "ctx", 0), ast.Store)}
    return [
        ast.unparse(x)
        for x in names
        if isinstance(x, (ast.BinOp, ast.Call)) and not assigned & names[x] and names[x] - {"range"}
    ]


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA()], ids=repr)
@pytest.mark.parametrize("name", ["particle", "sleigh", "snakeboard", "robot"])
def test_nothing_constant_is_computed_in_a_newton_loop(name, method):
    text = nh.source(nh.systems.catalogue[name](), method).split("def run")[0]
    for loop in ast.walk(ast.parse(text)):
        if isinstance(loop, ast.For):
            assert constants_in(loop) == []


def test_equations_that_give_their_own_unknown_leave_the_elimination():
    """m vx = ... and m vy = ... of the sleigh: Newton is left with theta, one division."""
    (newton,) = newton_loops(nh.systems.sleigh(), nh.Projector())
    assert divisions(newton) == 1
    names = [s.name for s, _ in newton.pairs]
    assert names.index("vx") < names.index("j")  # before all that uses it


def test_sums_of_angles_are_written_out_where_that_leaves_fewer():
    many = u - sp.sin(a + b) - sp.cos(a - b) * sp.sin(a)
    (found,) = generate.fewer_angles(Stage((u,), (many,), (u * 0,))).equations
    assert {f.args[0] for f in found.atoms(sp.sin, sp.cos)} == {a, b}
    assert sp.expand_trig(found - many).expand() == 0
    for few in (u - sp.sin(a + b) * sp.cos(a + b), u - sp.sin(a) - sp.cos(a + b)):
        stage = Stage((u,), (few,), (u * 0,))
        assert generate.fewer_angles(stage) is stage


def test_two_unknowns_need_one_division_and_no_pivot():
    """Cramer's rule for the last two: [[0-ish, 1], [1, 0-ish]] is no trouble."""
    small = dummy("small")
    stage = Stage((a, b), (small * a + b - c, a + small * b - d), (a * 0, b * 0))
    t, h = dummy("t"), dummy("h")
    text = written(Statement(t, h, (c, d), (small,), (stage,), (a, b)))
    space = {}
    exec(text, space)
    assert text.split("def run")[0].count(" = 1.0/") == 1
    ok, _, x, y = space["step"](0.0, 0.1, 2.0, 3.0, 1e-30)
    assert ok and (x, y) == (3.0, 2.0)
