"""The plan of a step: what is solved first, what stays in a Newton loop, what is shared."""

import ast

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen import generate
from nhlab.codegen.elimination import Elimination
from nhlab.codegen.graph import Graph
from nhlab.codegen.lines import Lines
from nhlab.codegen.printing import NUMPY, Names
from nhlab.codegen.statement import Stage, Statement, dummy
from nhlab.codegen.writing import generate as written

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")


def newton_loops(system, method):
    return generate.Plan(method.program(system).statement).loops


def corrected(system, method):
    """The names that each Newton loop corrects."""
    return [{x.args[0].name for x in loop.finals} for loop in newton_loops(system, method)]


def computed_in(loop):
    """The nodes that an iteration computes."""
    nodes = loop.small.graph.below([*loop.new, *loop.tests])
    return [x for x in nodes if x.level == loop.level and x.op != "symbol"]


def divisions(loop):
    return sum(x.op == "/" for x in computed_in(loop))


# ---------------------------------------------------------------------------- nodes

a, b, c, d, u, w = (dummy(name) for name in "abcduw")


def values_of(nodes, known):
    """The values of nodes, by the lines that compute them."""
    lines, space = Lines([(0, x) for x in nodes], Names(), {}), dict(NUMPY)
    space |= {lines.names[s]: value for s, value in known.items()}
    exec("\n".join(lines.assignments(lines.nodes)), space)
    return [eval(lines(x), space) for x in nodes], lines


def test_values_are_shared_and_mean_the_same():
    """Also with abbreviations, of which one is not needed and one uses another."""
    let = [(c, a * sp.sin(a + b)), (d, sp.sin(a + b) + c**2), (w, 1 / a)]
    table = [d * sp.sin(a + b) - a * b, a * b + sp.cos(d), c - d, d + c]
    graph, here = Graph(let), {}
    nodes = [graph.build(e, here) for e in table]
    values, lines = values_of(nodes, {a: 0.7, b: -1.2})
    one = np.sin(-0.5)
    C, D = 0.7 * one, one + 0.49 * one**2
    exact = [D * one + 0.84, -0.84 + np.cos(D), C - D, C + D]
    np.testing.assert_allclose(values, exact, rtol=1e-14)
    text = "\n".join([*lines.assignments(lines.nodes), *map(lines, nodes)])
    assert text.count("sin(") == 1 and text.count("a*b") == 1 and "/" not in text
    assert {"c", "d"} <= {x.split(" = ")[0] for x in text.splitlines()}  # with their own names


def test_equal_values_are_one_node():
    graph, here = Graph(), {}
    A, B, C = (graph.build(e, here) for e in (a, b, c))
    assert graph.sum([A, B, -C, -B, C]) is A and (A * B) * C - C * (B * A) is graph.zero
    assert A * B is B * A and -(A + B) is -A - B and A.__neg__().__neg__() is A
    assert 2.0 * A + A is 3.0 * A and A / 2.0 is 0.5 * A and (A - A) * B is graph.zero
    for e in (sp.sin(a) / sp.cos(b), a**5 + 1, sp.Piecewise((a, a < b), (b, True))):
        assert graph.build(e, {}) is graph.build(e, {})


def test_what_does_not_move_is_apart_from_what_does():
    """A node that a loop computes needs at most one that is known before it; products and sums of
    more of these are nodes of their own."""
    graph = Graph([(c, a * b), (d, c + a**2 * b * sp.sin(a) * u)])
    here = {u: graph.symbol(u, 1)}
    node = graph.build(d * sp.exp(c + b) * u + 2 * a * b, here)
    for x in graph.below([node], least=1):
        assert sum(0 <= part.level < 1 for part in x.parts) < 2
    D = -0.84 - 0.588 * np.sin(0.7) * 0.4
    (value,), _ = values_of([node], {a: 0.7, b: -1.2, u: 0.4})
    assert value == pytest.approx(D * np.exp(-2.04) * 0.4 - 1.68, rel=1e-14)


def test_long_chains_of_abbreviations():
    """Neither Python's recursion nor its parser ends them."""
    chain = [dummy(f"x{k}") for k in range(3000)]
    let = [(s, sp.S.Half * sp.sin(a * r + 1)) for r, s in zip([a, *chain], chain, strict=False)]
    graph = Graph(let)
    here = {a: graph.symbol(a, 1)}
    last = graph.build(chain[-1] + 1, here)
    ((slope,),) = graph.jacobian([last], [here[a]])
    found, _ = values_of([*graph.factored([last, slope])], {a: 0.7})
    value, D = 0.7, 1.0
    for _ in chain:
        value, D = np.sin(0.7 * value + 1) / 2, np.cos(0.7 * value + 1) / 2 * (value + 0.7 * D)
    np.testing.assert_allclose(found, [value + 1, D], rtol=1e-12)


SMOOTH = [a**3 * sp.sin(a * b) / (1 + b**2), sp.atan2(a, b), (a**2 + b**2) ** sp.Rational(-3, 2)]
SMOOTH += [sp.exp(-a) * sp.log(b) + sp.tanh(a * b), sp.sqrt(a * b) * sp.asin(a / 4), b**a, a**7]
SMOOTH += [sp.Piecewise((a * b**2, a < b), (a**2, True)), sp.Abs(b - 3 * a) ** 3, -(a**2) * (b - a)]


@pytest.mark.parametrize("e", SMOOTH, ids=str)
def test_derivatives(e):
    """Against SymPy's, through abbreviations that are used twice."""
    graph = Graph([(c, a + b**2), (d, c * e)])
    symbols = [graph.symbol(x, 1) for x in (a, b)]
    here = dict(zip((a, b), symbols, strict=True))
    rows = graph.jacobian([graph.build(x, here) for x in (d * sp.cos(d), c, d)], symbols)
    D = (a + b**2) * e
    exact = [f.diff(x).subs({a: 0.7, b: 1.3}).evalf() for f in (D * sp.cos(D), a + b**2, D)
             for x in (a, b)]  # fmt: skip
    values, _ = values_of([x for row in rows for x in row], {a: 0.7, b: 1.3})
    np.testing.assert_allclose(values, np.array(exact, float), rtol=1e-12)


def test_common_factors_are_taken_out():
    graph, here = Graph(), {}
    whole = graph.build(a * b * c + a * b * d - a * u + w, here)
    (short,) = graph.factored([whole])
    known = {a: 0.7, b: -1.2, c: 0.3, d: 0.4, u: 2.0, w: 0.1}
    (one, two), _ = values_of([whole, short], known)
    assert one == pytest.approx(two, rel=1e-14)
    count = [sum(x.op == "*" for x in graph.below([node])) for node in (whole, short)]
    assert count == [4, 3]  # which are ab, ab (c + d) and a u
    ab, ac = here[a] * here[b], here[a] * here[c]
    assert graph.factored([ab + ac, ab - ac]) == [ab + ac, ab - ac]  # each is needed twice


def test_equal_terms_are_collected_however_they_were_made():
    graph = Graph()
    x, y, z = (graph.symbol(s, 1) for s in (a, b, c))
    assert (x * y) * z is not x * (y * z)  # another rounding, so another node
    assert (x * y) * z - x * (y * z) is graph.zero
    assert 2 * (x * y) + (y * x) * 3 is 5 * (x * y)
    assert (x * y) * z - x * (x * z) is not graph.zero


def test_only_what_a_branch_needs_is_computed_in_it():
    """1/a is not computed before a loop for a branch that is not taken, nor for numbers at all."""
    graph = Graph()
    here = {u: graph.symbol(u, 1)}
    node = graph.build(sp.Piecewise((u / a, a > 0), (u, True)), here)
    lines = Lines([(1, node)], Names(scalar=True), {0: 0, 1: 1})
    assert lines.at(0) == ["c = a > 0.0"] and lines(node) == "(1.0/a*u if c else u)"


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
    graph, h = Graph(), dummy("h")
    names = [[dummy(f"j{i}{k}") for k in range(n)] for i in range(n)]
    J = [[graph.symbol(s, 0) if shape[i, k] else graph.zero for k, s in enumerate(row)]
         for i, row in enumerate(names)]  # fmt: skip
    J[0][0] = J[0][0] * graph.symbol(h, 0) if weak else J[0][0]
    known = {names[i][k]: numbers[i, k] for i, k in np.argwhere(shape)} | {h: 0.0}
    numbers[0, 0] *= not weak
    r = [graph.symbol(dummy(f"r{i}"), 0) for i in range(n)]
    known |= {x.args[0]: 1.5 for x in r}
    found, _ = values_of(Elimination(graph, graph.symbol(h, 0)).solve(J, r), known)
    np.testing.assert_allclose((numbers * shape) @ found, 1.5, rtol=1e-12)


def test_equations_that_do_not_determine_their_unknowns():
    """No state has a solution: each step of such a text fails, and is explained by careful.py."""
    graph = Graph()
    A, B, C, D = (graph.symbol(s, 0) for s in (a, b, c, d))
    found = Elimination(graph, graph.symbol(dummy("h"), 0)).solve(
        [[A, graph.zero], [B, graph.zero]], [C, D]
    )
    assert len(found) == 2 and all(np.isnan(x.args[0]) for x in found)


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
    statement = Statement(dummy("t"), dummy("h"), (), (), (), (), let=((both, b * c),))
    parts = list(generate.Plan(statement).split(stage))
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
    iterated = {x.args[0].name for x in newton.unknowns}
    assert "vtheta" in iterated and not {"vx", "vy"} & iterated  # which follow in each iteration
    assert {"vx", "vy"} < {x.args[0].name for x in newton.finals}


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
