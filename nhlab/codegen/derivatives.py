"""Exact derivatives of expressions, through the abbreviations they are written in."""

from __future__ import annotations

import sympy as sp


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
    if e.is_Add:
        return sp.Add(*(derivative(a, x) for a in e.args))
    if e.is_Mul:
        parts = ((k, derivative(a, x)) for k, a in enumerate(e.args))
        return sp.Add(*(d * sp.Mul(*e.args[:k], *e.args[k + 1 :]) for k, d in parts if d != 0))
    if e.is_Pow and e.exp.is_Number:
        return e.exp * e.base ** (e.exp - 1) * derivative(e.base, x)
    return e.diff(x)


def jacobian(equations, unknowns, let):
    """Exact derivatives of the equations by the unknowns, through the abbreviations."""
    rows = {u: [sp.Integer(u is w) for w in unknowns] for u in unknowns}  # of all that moves

    def row(e):
        terms = [(derivative(e, x), rows[x]) for x in e.free_symbols & rows.keys()]
        return [total(d * by[k] for d, by in terms if by[k] != 0) for k in range(len(unknowns))]

    for s, e in needed(let, equations):
        if not rows.keys().isdisjoint(e.free_symbols):
            rows[s] = row(e)
    return [row(e) for e in equations]


def total(terms):
    return sum(terms, sp.S.Zero)


def dot(a, b):
    return total(x * y for x, y in zip(a, b, strict=True))
