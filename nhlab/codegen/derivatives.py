"""Exact derivatives of expressions, through the abbreviations they are written in.

An abbreviation is a pair (symbol, expression), each expression in earlier symbols: a short program.
Its derivatives are again a short program, where the derivatives of abbreviations get names of their
own; written out they would double with every level.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import sympy as sp

from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable


def needed(let, expressions):
    """The part of ``let`` that the expressions use, directly or through each other."""
    used = set().union(*(e.free_symbols for e in expressions))
    keep = []
    for s, e in reversed(let):
        if s in used:
            used |= e.free_symbols
            keep.append((s, e))
    return keep[::-1]


def derivative(e, x):
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


def pushed(expressions, seeds, let):
    """Forwards: the derivatives of the expressions, given those of some symbols.

    ``seeds`` : symbol -> its derivatives along one or more directions, a list.  Returns a list of
    such lists, and ``let`` with the names they need.
    """
    slopes, let_, count = dict(seeds), [], len(next(iter(seeds.values())))

    def row(e):
        terms = [(derivative(e, x), slopes[x]) for x in e.free_symbols & slopes.keys()]
        return [total(d * by[k] for d, by in terms if by[k] != 0) for k in range(count)]

    for s, e in needed(let, expressions):
        let_.append((s, e))
        if not slopes.keys().isdisjoint(e.free_symbols):
            slopes[s] = [_named(d, f"{s.name}_{k}", let_) for k, d in enumerate(row(e))]
    return [row(e) for e in expressions], let_


def jacobian(expressions, variables, let):
    """Their derivatives by the variables, and ``let`` with the names these need."""
    unit = {u: [sp.Integer(u is w) for w in variables] for u in variables}
    return pushed(expressions, unit, let) if unit else ([[] for _ in expressions], list(let))


def gradient(e, variables, let):
    """The same for one expression, backwards: the price does not grow with the variables."""
    let_ = needed(let, [e])
    order = [*variables, *(s for s, _ in let_)]
    weights, known = {}, set(order)

    def weigh(e, weight):
        slopes = {}  # by the symbols that occur in each term: most occur in few of them
        for term in sp.Add.make_args(e):
            for x in known.intersection(term.free_symbols):
                slopes.setdefault(x, []).append(derivative(term, x))
        for x, parts in slopes.items():
            weights[x] = weights.get(x, sp.S.Zero) + weight * sp.Add(*parts)

    weigh(e, sp.S.One)
    for s, inner in reversed(let_[:]):
        if weights.get(s, 0) != 0:
            weigh(inner, _named(weights[s], f"{s.name}_bar", let_))
    return [weights.get(x, sp.S.Zero) for x in variables], let_


def shared(expressions):
    """The expressions in abbreviations of what they have in common and of their inner sums: sums
    of products, whose derivatives are short.  Returns (expressions, let)."""
    names = (dummy(f"s{k}") for k in itertools.count())
    pairs, left = sp.cse(expressions, symbols=names, order="none")
    let = []
    for s, e in pairs:
        e = _flat(e, let)
        let.append((s, e))
    return [_flat(e, let) for e in left], let


def _flat(e, let):
    if e.is_Atom or not all(isinstance(x, sp.Expr) for x in e.args):
        return e
    args = [_flat(x, let) for x in e.args]
    if not e.is_Add:
        args = [_named(x, "sum", let) if x.is_Add else x for x in args]
    return e.func(*args)


def _named(e, hint, let):
    """e, or a name for it where it is long."""
    if e.is_Atom or (len(e.args) < 3 and all(x.is_Atom for x in e.args)):
        return e
    let.append((dummy(hint), e))
    return let[-1][0]


def total(terms: Iterable[sp.Expr]) -> sp.Expr:
    """The sum of some expressions; at once, for one by one each sum would be sorted anew."""
    return sp.Add(*terms)


def dot(a, b):
    return total(x * y for x, y in zip(a, b, strict=True))
