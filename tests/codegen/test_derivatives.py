"""Derivatives through abbreviations, against SymPy's own of what is written out."""

import random

import pytest
import sympy as sp

from nhlab.codegen.derivatives import (
    abbreviate,
    derivative,
    gradient,
    jacobian,
    push_forward,
    used_pairs,
)
from nhlab.codegen.statement import dummy

X = x, y, z = sp.symbols("x y z", real=True)
P = sp.Piecewise
FUNCTIONS = [sp.sin, sp.cos, sp.exp, sp.atan, lambda e: 1 / (2 + sp.cos(e)), lambda e: e**3]
FUNCTIONS += [lambda e: sp.sqrt(1 + e**2), lambda e: 2**e, lambda e: P((e**2, e < 0), (e, True))]
seeds = pytest.mark.parametrize("seed", range(6))


def some(rng, symbols):
    """A random expression: sums of products, with functions of such inside."""
    inner = rng.choice([-2, -1, 1, 2]) * rng.choice(symbols) + rng.choice(symbols)
    outer = rng.choice(FUNCTIONS)(inner * rng.choice(symbols))
    return outer * rng.choice(symbols) ** rng.choice([1, 2, -1]) + rng.choice(symbols) * inner


def some_let(rng):
    """Abbreviations, each in x, y, z and the one before it."""
    let = [(dummy("s0"), some(rng, X))]
    for k in (1, 2):
        let.append((dummy(f"s{k}"), some(rng, [*X, let[-1][0]])))
    return let


def written_out(e, let):
    for s, inner in reversed(let):
        e = e.xreplace({s: inner})
    return e


def values(expressions, let=()):
    """At a point, abbreviations computed in turn: each once, after those it needs."""
    at = dict(zip(X, (0.7, -0.4, 1.3), strict=True))
    for s, e in let:
        assert s not in at and e.free_symbols <= at.keys()
        at[s] = sp.lambdify([*at], e, "math")(*at.values())
    return sp.lambdify([*at], sp.flatten(expressions), "math", cse=True)(*at.values())


def same(expressions, let, exact):
    assert values(expressions, let) == pytest.approx(values(exact), rel=1e-10, abs=1e-10)


@seeds
def test_derivative(seed):
    rng = random.Random(seed)
    pairs = [(some(rng, X), s) for _ in range(5) for s in X]
    same([derivative(e, s) for e, s in pairs], (), [e.diff(s) for e, s in pairs])
    assert derivative(sp.sin(x) * y, z) == derivative(sp.Integer(3), x) == 0
    assert derivative(x**y, y) == (x**y).diff(y) and derivative(x, x) == 1


@seeds
def test_derivatives_through_abbreviations(seed):
    """Forwards, backwards, and along two directions: the second moves y alone."""
    rng = random.Random(seed)
    let = some_let(rng)
    a, b, c = (s for s, _ in let)
    expressions = [some(rng, [a, b, c]), some(rng, [*X, c]), c, x]
    exact = [[written_out(e, let).diff(s) for s in X] for e in expressions]
    same(*jacobian(expressions, X, let), exact)
    for e, slopes in zip(expressions, exact, strict=True):
        same(*gradient(e, X, let), slopes)
    both = push_forward(expressions, {x: [y, sp.S.Zero], y: [sp.Integer(2), z]}, let)
    same(*both, [[by_x * y + by_y * 2, by_y * z] for by_x, by_y, _ in exact])


@seeds
def test_shared(seed):
    """The same expressions, in abbreviations without sums inside of products or functions."""
    rng = random.Random(seed)
    common = some(rng, X)
    given = [some(rng, X) * common, sp.sin(common) + some(rng, X), x]
    found, let = abbreviate(given)
    same(found, let, given)
    for e in [*found, *(e for _, e in let)]:
        assert e.has(P) or not any(a.is_Add for f in sp.preorder_traversal(e) for a in f.args)


def test_derivatives_of_a_chain_grow_with_its_length_alone():
    """s -> s^2 + s y again and again: written out, the derivative doubles each time."""
    let, last = [], x
    for k in range(40):
        let.append((dummy(f"s{k}"), last**2 + last * y))
        last = let[-1][0]
    for rows, more in (jacobian([last], X, let), gradient(last, X, let)):
        assert len(more) <= 4 * len(let)
        assert sum(map(sp.count_ops, [*sp.flatten(rows), *(e for _, e in more)])) < 12 * len(let)


def test_small_cases():
    a, b, c, d = (dummy(name) for name in "abcd")
    let = [(a, x), (b, a + y), (c, z), (d, b * c)]
    assert used_pairs(let, [b]) == let[:2] and used_pairs(let, [d, x]) == let
    assert used_pairs(let, [c + x]) == [let[2]] and used_pairs(let, [x, y]) == []
    assert jacobian([x, y], (), []) == ([[], []], []) and jacobian([], X, []) == ([], [])
    assert gradient(x * y, X, []) == ([y, x, 0], []) and gradient(sp.S.One, X, []) == ([0] * 3, [])
