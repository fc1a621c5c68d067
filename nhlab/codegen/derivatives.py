"""Exact derivatives of expressions, through the abbreviations they are written in.

An abbreviation is a pair (symbol, expression), each expression in earlier symbols: a short program.
Its derivatives are again a short program, where the derivatives of abbreviations get names of their
own; written out they would double with every level.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import sympy as sp

from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .kinds import Exprs, Pair, Pairs, Symbols, Table


def used_pairs(let: Pairs, expressions: Iterable[sp.Expr]) -> list[Pair]:
    """The part of ``let`` that the expressions use, directly or through each other."""
    used = set().union(*(e.free_symbols for e in expressions))
    keep = []
    for s, e in reversed(let):
        if s in used:
            used |= e.free_symbols
            keep.append((s, e))
    return keep[::-1]


def derivative(e: Any, x: sp.Symbol) -> sp.Expr:
    """e.diff(x), without the questions SymPy asks on the way, which take most of its time."""
    if x not in e.free_symbols:
        return sp.S.Zero
    if e.is_Symbol:
        return sp.S.One
    if e.is_Add:
        return sp.Add(*(derivative(a, x) for a in e.args))
    if e.is_Mul:
        parts = ((k, derivative(a, x)) for k, a in enumerate(e.args))
        return sp.Add(*(d * sp.Mul(*e.args[:k], *e.args[k + 1 :]) for k, d in parts if d != 0))
    if e.is_Pow and e.exp.is_Number:
        return e.exp * e.base ** (e.exp - 1) * derivative(e.base, x)
    return e.diff(x)


def push_forward(
    expressions: Exprs, seeds: Mapping[sp.Symbol, Exprs], let: Pairs
) -> tuple[Table, list[Pair]]:
    """Differentiate expressions forwards, from the symbols up, along one or more directions.

    seeds : symbol -> a list with its derivative along each direction; those of others are 0

    Returns a list of derivatives for each expression, and ``let`` with the abbreviations that
    these contain.
    """
    slopes, let_, count = dict(seeds), [], len(next(iter(seeds.values())))

    def row(e: sp.Expr) -> list[sp.Expr]:
        terms = [(derivative(e, x), slopes[x]) for x in e.free_symbols & slopes.keys()]
        return [total(d * by[k] for d, by in terms if by[k] != 0) for k in range(count)]

    for s, e in used_pairs(let, expressions):
        let_.append((s, e))
        if not slopes.keys().isdisjoint(e.free_symbols):
            slopes[s] = [_shorten(d, f"{s.name}_{k}", let_) for k, d in enumerate(row(e))]
    return [row(e) for e in expressions], let_


def jacobian(expressions: Exprs, variables: Symbols, let: Pairs) -> tuple[Table, list[Pair]]:
    """The derivatives of expressions by variables, a row for each expression, and ``let`` with the
    abbreviations that these contain."""
    unit = {u: [sp.Integer(u is w) for w in variables] for u in variables}
    return push_forward(expressions, unit, let) if unit else ([[] for _ in expressions], list(let))


def gradient(e: sp.Expr, variables: Symbols, let: Pairs) -> tuple[list[sp.Expr], list[Pair]]:
    """The derivatives of one expression by variables, and ``let`` with their abbreviations.

    Taken backwards, from the expression down, so that the work does not grow with the number of
    variables.
    """
    let_ = used_pairs(let, [e])
    order = [*variables, *(s for s, _ in let_)]
    weights, abbreviations = {}, set(order)

    def weigh(e: Any, weight: Any) -> None:
        slopes = {}  # by the symbols that occur in each term: most occur in few of them
        for term in sp.Add.make_args(e):
            for x in abbreviations.intersection(term.free_symbols):
                slopes.setdefault(x, []).append(derivative(term, x))
        for x, parts in slopes.items():
            weights[x] = weights.get(x, sp.S.Zero) + weight * sp.Add(*parts)

    weigh(e, sp.S.One)
    for s, inner in reversed(let_[:]):
        if weights.get(s, 0) != 0:
            weigh(inner, _shorten(weights[s], f"{s.name}_bar", let_))
    return [weights.get(x, sp.S.Zero) for x in variables], let_


def abbreviate(expressions: Exprs) -> tuple[list[sp.Expr], list[Pair]]:
    """Abbreviate what expressions have in common, and the sums within them.

    Returns the expressions, written as sums of products, whose derivatives are short; and ``let``,
    the abbreviations.
    """
    names = (dummy(f"s{k}") for k in itertools.count())
    pairs, rest = sp.cse(expressions, symbols=names, order="none")
    let = []
    for s, e in pairs:
        e = _flat(e, let)
        let.append((s, e))
    return [_flat(e, let) for e in rest], let


def _flat(e: Any, let: list[Pair]) -> sp.Expr:
    """The expression with all sums inside of products and functions abbreviated."""
    if e.is_Atom or not all(isinstance(x, sp.Expr) for x in e.args):
        return e
    args = [_flat(x, let) for x in e.args]
    if not e.is_Add:
        args = [_shorten(x, "sum", let) if x.is_Add else x for x in args]
    return e.func(*args)


def _shorten(e: Any, hint: str, let: list[Pair]) -> sp.Expr:
    """An expression that is short, or the symbol of a new abbreviation for it, added to ``let``."""
    if e.is_Atom or (len(e.args) < 3 and all(x.is_Atom for x in e.args)):
        return e
    let.append((dummy(hint), e))
    return let[-1][0]


def total(terms: Iterable[sp.Expr]) -> sp.Expr:
    """The sum of some expressions; at once, for one by one each sum would be sorted anew."""
    return sp.Add(*terms)


def dot(a: Iterable[Any], b: Iterable[Any]) -> sp.Expr:
    return total(x * y for x, y in zip(a, b, strict=True))
