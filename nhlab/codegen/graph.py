"""Expressions as a graph, in which each value exists once.

A ``Node`` is an operation on other nodes.  ``Graph`` makes them and returns the same node for the
same operation, so common subexpressions are found while expressions are built.  Each node knows its
``level``: the innermost part of a program that it depends on, as the body of a Newton loop.  Sums
and products combine their parts of lower level first, so what need not be computed in a loop is a
node of its own that is computed before it.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from .printing import FUNCTIONS, MATH, WRITTEN_OUT
from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .kinds import Pairs

NUMBER = -1  # the level of numbers; that of what depends on no symbol is 0
RELATIONS = ("<", "<=", ">", ">=", "==", "!=", "&", "|")


class Node:
    """An operation and what it is applied to; made by a ``Graph``.

    op : "number", "symbol", "sum", "*", "/", "neg", "sqrt", "pow", "where", "last", one of
        RELATIONS, or the SymPy class of a function
    args : nodes, and integers that functions take as they are
    hint : from which a variable that holds the value gets its name
    """

    __slots__ = ("args", "graph", "hint", "index", "level", "op")

    def __init__(self, graph: Graph, op: Any, args: tuple, level: int) -> None:
        self.graph, self.op, self.args, self.level = graph, op, args, level
        self.index, self.hint = len(graph.known), ""

    @property
    def parts(self) -> list[Node]:
        """The nodes that it is made from."""
        return [x for x in self.args if isinstance(x, Node)]

    @property
    def is_number(self) -> bool:
        return self.op == "number"

    def equals(self, x: float) -> bool:
        return self.op == "number" and self.args[0] == x

    def called(self, hint: str) -> Node:
        """The node itself, with this hint if it has none."""
        self.hint = self.hint or hint
        return self

    def __neg__(self) -> Node:
        if self.is_number:
            return self.graph.number(-self.args[0])
        return self.args[0] if self.op == "neg" else self.graph.node("neg", self)

    def __add__(self, b: Any) -> Node:
        return self.graph.sum([self, self.graph.of(b)])

    def __sub__(self, b: Any) -> Node:
        return self.graph.sum([self, -self.graph.of(b)])

    def __mul__(self, b: Any) -> Node:
        return self.graph.product(self, self.graph.of(b))

    def __truediv__(self, b: Any) -> Node:
        return self.graph.quotient(self, self.graph.of(b))

    def __rtruediv__(self, a: float) -> Node:
        return self.graph.of(a) / self

    __radd__, __rmul__ = __add__, __mul__


class Graph:
    """Makes nodes.  ``let`` abbreviates symbols in what is built from SymPy."""

    def __init__(self, let: Pairs = ()) -> None:
        self.known: dict[tuple, Node] = {}
        self.let = dict(let)
        self.zero, self.one = self.number(0), self.number(1)

    # ---- making nodes

    def node(self, op: Any, *args: Any, level: int | None = None) -> Node:
        """The node of this operation, which is made if there is none yet."""
        key = (op, *args)
        if key not in self.known:
            if level is None:
                level = max((x.level for x in args if isinstance(x, Node)), default=0)
                level = max(level, 0)
            self.known[key] = Node(self, op, args, level)
        return self.known[key]

    def number(self, x: Any) -> Node:
        return self.node("number", float(x), level=NUMBER)

    def of(self, x: Any) -> Node:
        """A node as it is, anything else as a number."""
        return x if isinstance(x, Node) else self.number(x)

    def symbol(self, symbol: sp.Symbol, level: int) -> Node:
        return self.node("symbol", symbol, level, level=level).called(symbol.name)

    def size(self, x: Node) -> Node:
        """The absolute value."""
        return self.function(sp.Abs, x.args[0] if x.op == "neg" else x)

    def last(self, x: Node) -> Node:
        """What a node in a loop was in the last iteration, for use after the loop."""
        return -self.last(x.args[0]) if x.op == "neg" else self.node("last", x, level=x.level + 1)

    def make(self, op: Any, args: Sequence[Any]) -> Node:
        """The operation applied to these, simplified."""
        if op == "sum":
            return self.sum(args)
        if op == "*":
            return args[0] * args[1]
        if op == "/":
            return args[0] / args[1]
        if op == "neg":
            return -args[0]
        if op == "pow":
            return self.power(*args)
        if op == "last":
            return self.last(args[0])
        if op == "sqrt" or isinstance(op, type):
            return self.function(op, *args)
        return self.node(op, *args)

    def sum(self, terms: Iterable[Node]) -> Node:
        """The sum of terms, equal ones collected, those of lower level summed first."""
        found: dict[Any, float] = {}
        nodes: dict[Any, Node] = {}
        for x in terms:
            c, rest = self._split(x)
            key = rest if rest.op not in ("*", "/") else self._key(rest)
            found[key] = found.get(key, 0.0) + c
            nodes.setdefault(key, rest)
        return self._sum([self._times(c, nodes[k]) for k, c in found.items() if c != 0])

    def _sum(self, parts: list[Node]) -> Node:
        if len(parts) < 2:
            return parts[0] if parts else self.zero
        parts.sort(key=lambda x: (x.level, x.index))
        low = [x for x in parts if x.level < parts[-1].level]
        if len(low) > 1:
            parts = [self._sum(low), *parts[len(low) :]]
        if all(x.op == "neg" or (x.is_number and x.args[0] < 0) for x in parts):
            return -self._sum([-x for x in parts])
        return self.node("sum", *parts)

    def _key(self, x: Node) -> frozenset:
        """What a product is made from, in whatever order: the same for equal products."""
        powers: Counter = Counter()
        left = [(x, 1)]
        while left:
            x, power = left.pop()
            if x.op == "*":
                left += [(a, power) for a in x.args]
            elif x.op == "/":
                left += [(x.args[0], power), (x.args[1], -power)]
            elif x is not self.one:
                powers[x] += power
        return frozenset(powers.items())

    def _split(self, x: Node) -> tuple[float, Node]:
        """A node as a number times another node."""
        if x.is_number:
            return x.args[0], self.one
        if x.op == "neg":
            c, x = self._split(x.args[0])
            return -c, x
        if x.op == "*":
            c, rest = self._split(x.args[0])
            return (c, rest * x.args[1]) if c != 1 else (1.0, x)
        return 1.0, x

    def _times(self, c: float, x: Node) -> Node:
        return x if c == 1 else -x if c == -1 else self.number(c) * x

    def factored(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes with common factors taken out of all sums.

        To be done at the end: terms that cancel in derivatives are found in sums of products.
        Products that are used more than once stay whole.
        """
        nodes, new, whole = [*nodes], {}, set()
        needed = self.below(nodes)
        uses = Counter(part for x in needed for part in x.parts)
        for x in needed:
            args = [new[a] if isinstance(a, Node) else a for a in x.args]
            same = all(a is b for a, b in zip(args, x.args, strict=True))
            e = x if same else self.make(x.op, args)
            if e.op == "sum":
                e = self._common_factor(e.args, whole)
            new[x] = e.called(x.hint)
            if uses[x] > 1:
                whole.add(e)
        return [new[x] for x in nodes]

    def _common_factor(self, terms: Sequence[Node], whole: set[Node]) -> Node:
        """The sum of terms, their most frequent factor taken out of them, again and again."""
        positive = [x.args[0] if x.op == "neg" else x for x in terms]
        factors = [self._factors(x, whole) for x in positive]
        often = Counter(f for x in factors for f in dict.fromkeys(x) if not f.equals(1))
        factor, count = max(often.items(), key=lambda x: (x[1], x[0].level), default=(None, 0))
        if count < 2 or factor is None:
            return self.sum(terms)
        inner, outer = [], []
        for term, parts in zip(terms, factors, strict=True):
            if factor in parts:
                parts.remove(factor)
                rest = self.products(parts)
                inner.append(-rest if term.op == "neg" else rest)
            else:
                outer.append(term)
        inner, outer = (self._common_factor(x, whole) for x in (inner, outer))
        return self.sum([outer, factor * inner])

    def _factors(self, x: Node, whole: set[Node]) -> list[Node]:
        """The factors of a product that move with it, and what else is multiplied, as one."""
        if x.op != "*" or x in whole:
            return [x]
        a, b = x.args
        first = self._factors(a, whole) if a.level == x.level else [a]
        return [*first, *self._factors(b, whole)]

    def products(self, factors: Iterable[Node]) -> Node:
        """The product of any number of nodes, those of lower level first."""
        whole = self.one
        levels: dict[int, Node] = {}
        for x in sorted(factors, key=lambda x: (x.level, x.index)):
            levels[x.level] = levels.get(x.level, self.one) * x
        for x in levels.values():
            whole = whole * x
        return whole

    def product(self, a: Node, b: Node) -> Node:
        """a b; a factor of lower level is multiplied with those of lower level in the other."""
        if a.op == "neg" or b.op == "neg":
            return -(a.args[0] * b) if a.op == "neg" else -(a * b.args[0])
        if a.equals(0) or b.equals(0):
            return self.zero
        a, b = sorted((a, b), key=lambda x: (x.level, x.index))
        if a.equals(1):
            return b
        if a.is_number and a.args[0] < 0:
            return -(-a * b)
        if b.is_number:
            return self.number(a.args[0] * b.args[0])
        if a.level < b.level and b.op == "*" and b.args[0].level < b.level:
            low = a * b.args[0]
            return b.args[1] if low.equals(1) else self.node("*", low, b.args[1])
        (c, x), (d, y) = self._split(a), self._split(b)
        if 1 not in (c, d) and not a.is_number:
            return self.number(c * d) * (x * y)
        return self.node("*", a, b)

    def quotient(self, a: Node, b: Node) -> Node:
        """a/b; where b is of lower level, it is inverted there."""
        if a.op == "neg" or b.op == "neg":
            return -(a.args[0] / b) if a.op == "neg" else -(a / b.args[0])
        if b.is_number:
            if b.args[0] == 0:
                return self.node("/", a, b, level=max(a.level, 0))
            return self.product(a, self.number(1 / b.args[0]))
        if a.equals(0):
            return a
        if a is b:
            return self.one
        if b.level < a.level:
            return a * self.quotient(self.one, b)
        return self.node("/", a, b)

    def power(self, base: Node, exponent: Any) -> Node:
        """A power; ``exponent`` is a node or an integer, whose small values become products."""
        if isinstance(exponent, Node) and exponent.is_number and exponent.args[0] < 0:
            return self.one / self.power(base, -exponent)
        if isinstance(exponent, int):
            if exponent < 0:
                return self.one / self.power(base, -exponent)
            if exponent <= 4:
                return self.products([base] * exponent)
        return self.node("pow", base, exponent)

    def function(self, op: Any, *args: Any) -> Node:
        """A function of nodes; of numbers it is computed."""
        if all(isinstance(x, Node) and x.is_number for x in args):
            name = op if op == "sqrt" else FUNCTIONS.get(op.__name__)
            try:
                return self.number(MATH[name](*(x.args[0] for x in args)))
            except (KeyError, ValueError, OverflowError):
                pass
        return self.node(op, *args)

    # ---- from SymPy

    def build(self, e: Any, here: dict[Any, Node]) -> Node:
        """The node of an expression.

        here : the nodes of symbols; it is extended by all expressions that are met on the way
        """
        if e not in here:
            here[e] = self._build(e, here)
        return here[e]

    def _build(self, e: Any, here: dict[Any, Node]) -> Node:
        if e.is_Symbol:
            known = e in self.let
            return self.build(self.let[e], here).called(e.name) if known else self.symbol(e, 0)
        if e is sp.oo or e.is_Number or e.is_NumberSymbol:
            return self.number(e)
        if e.is_Mul:
            return self._fraction(e, here)
        if e.is_Pow:
            return self._power(e, here)
        if e.is_Add:
            return self.sum([self.build(x, here) for x in e.args])
        if isinstance(e, sp.Piecewise):
            value = self.number(math.nan)
            for x, condition in reversed(e.args):
                x = self.build(x, here)
                value = x if condition == True else self._where(condition, x, value, here)  # noqa: E712
            return value
        if isinstance(e, sp.DiracDelta):
            return self.zero  # the derivative of sign(x), zero wherever a motion spends time
        if type(e) in WRITTEN_OUT:
            args = [int(x) if x.is_Integer else self.build(x, here) for x in e.args]
            return self.node(type(e), *args)
        return self._operation(e, here)

    def _where(self, condition: Any, a: Node, b: Node, here: dict[Any, Node]) -> Node:
        return self.node("where", self.build(condition, here), a, b)

    def _operation(self, e: Any, here: dict[Any, Node]) -> Node:
        """A relation, or a function that Python's text has."""
        name, trigonometric = type(e).__name__, sp.functions.elementary.trigonometric
        if isinstance(e, trigonometric.TrigonometricFunction) and name not in FUNCTIONS:
            return self.build(e.rewrite(sp.cos if name == "sec" else sp.sin, deep=False), here)
        kinds = {sp.ITE: "where", sp.And: "&", sp.Or: "|"}
        op = e.rel_op if e.is_Relational else kinds.get(type(e))
        if op is None and name not in FUNCTIONS:
            raise ValueError(
                f"cannot generate code for {e}: {name} is not among the functions nhlab knows "
                f"({', '.join(FUNCTIONS)}, sqrt, powers, Piecewise). Are all symbols real "
                "(nh.symbols makes them so)?"
            )
        return self.make(op or type(e), [self.build(x, here) for x in e.args])

    def _fraction(self, e: sp.Expr, here: dict[Any, Node]) -> Node:
        """A product, with negative powers in one denominator."""
        over, under = [], []
        for x in e.args:
            below = x.is_Pow and x.exp.is_number and x.exp.is_negative
            (under if below else over).append(self.build(1 / x if below else x, here))
        return self.products(over) / self.products(under)

    def _power(self, e: sp.Expr, here: dict[Any, Node]) -> Node:
        """A power; integer powers as products, which CPython and C both compute faster."""
        exponent = e.exp
        if exponent.is_number and exponent.is_negative:
            return self.one / self.build(1 / e, here)
        base = self.build(e.base, here)
        if exponent == sp.Rational(1, 2):
            return self.function("sqrt", base)
        if exponent == sp.Rational(3, 2):
            return base * self.function("sqrt", base)
        whole = exponent.is_Integer and abs(exponent) < 2**53
        return self.power(base, int(exponent) if whole else self.build(exponent, here))

    # ---- what is made from nodes

    def below(self, nodes: Iterable[Node], stop: Any = (), least: int = NUMBER) -> list[Node]:
        """All that the nodes are made from and they themselves, each behind its parts; without
        what is in ``stop`` or of a level below ``least``."""
        found, left = set(), [*nodes]
        while left:
            x = left.pop()
            if x not in found and x not in stop and x.level >= least:
                found.add(x)
                left += x.parts
        return sorted(found, key=lambda x: x.index)

    def replaced(self, node: Node, new: dict[Node, Node], least: int = NUMBER) -> Node:
        """The node with others in the place of some.

        new : what replaces a node; it is extended by all nodes that change with these
        least : the lowest level of those that are replaced
        """
        for x in self.below([node], new, least):
            args = [new.get(a, a) if isinstance(a, Node) else a for a in x.args]
            same = all(a is b for a, b in zip(args, x.args, strict=True))
            new[x] = x if same else self.make(x.op, args).called(x.hint)
        return new.get(node, node)

    def jacobian(self, nodes: list[Node], symbols: list[Node]) -> list[list[Node]]:
        """The derivatives of nodes by symbols, which are all of the same level: a list of rows.

        Forwards from node to node that is used more than once; backwards through what lies between
        two of these, where the price does not grow with the number of symbols.
        """
        by = {u: {u: self.one} for u in symbols}
        moving, uses = {*symbols}, Counter([*nodes, *nodes])
        for x in self.below(nodes, moving, symbols[0].level if symbols else 0):
            if x.op not in RELATIONS and not moving.isdisjoint(x.parts):
                moving.add(x)
                uses.update(x.parts * (2 if x.op == "where" else 1))
        shared = {x for x in moving if uses[x] > 1 or x.op in ("symbol", "where")}
        for x in sorted(shared - by.keys(), key=lambda x: x.index):
            by[x] = self._choice_slopes(x, by) if x.op == "where" else self._slopes(x, by, moving)
        return [[by.get(x, {}).get(u, self.zero) for u in symbols] for x in nodes]

    def _choice_slopes(self, x: Node, by: dict[Node, dict[Node, Node]]) -> dict[Node, Node]:
        condition, *parts = x.parts
        one, other = (by.get(a, {}) for a in parts)
        return {
            u: self.node("where", condition, one.get(u, self.zero), other.get(u, self.zero))
            for u in {**one, **other}
        }

    def _slopes(
        self, x: Node, by: dict[Node, dict[Node, Node]], moving: set[Node]
    ) -> dict[Node, Node]:
        """The derivatives of a node that are not 0, from those ``by`` symbols of what is shared."""
        weights: dict[Node, list[Node]] = {}
        left = [(x, self.one)]
        while left:
            y, weight = left.pop()
            for factor, part in self._partial(y, moving):
                if part in by:
                    weights.setdefault(part, []).append(weight * factor)
                else:
                    left.append((part, weight * factor))
        terms: dict[Node, list[Node]] = {}
        for part, parts in weights.items():
            weight = self.sum(parts)
            for u, d in by[part].items():
                terms.setdefault(u, []).append(weight * d)
        found = {u: self.sum(each) for u, each in terms.items()}
        return {u: d for u, d in found.items() if not d.equals(0)}

    def _partial(self, x: Node, moving: set[Node]) -> list[tuple[Node, Node]]:
        """(the derivative of x by a part of it, this part), for the parts that are ``moving``."""
        a, b = (*x.args, None)[:2]
        if x.op == "sum":
            found = [(self.one, part) for part in x.args]
        elif x.op == "neg":
            found = [(-self.one, a)]
        elif x.op == "*":
            found = [(b, a), (a, b)]
        elif x.op == "/":
            found = [(1 / b, a), (-(x * (1 / b)), b)]
        elif x.op == "sqrt":
            found = [(0.5 / x, a)]
        elif x.op == "pow":
            found = [(b * self.power(a, b - 1), a)]
            found += [(x * self.function(sp.log, a), b)] if b in moving else []
        else:
            kinds = tuple(None if isinstance(y, Node) else y for y in x.args)
            symbols, slopes = _derivatives(x.op, kinds)
            here = dict(zip(symbols, x.parts, strict=True))
            pairs = zip(slopes, x.parts, strict=True)
            found = [(self.build(e, dict(here)), y) for e, y in pairs if y in moving]
        return [(factor, part) for factor, part in found if part in moving]


@lru_cache(None)
def _derivatives(function: Any, kinds: tuple) -> tuple[list[sp.Symbol], list[sp.Expr]]:
    """Symbols for the arguments of a function, and its derivatives by them; ``kinds`` holds the
    integers among the arguments, and None for others."""
    args = [dummy(f"a{k}") if x is None else sp.Integer(x) for k, x in enumerate(kinds)]
    symbols = [x for x in args if x.is_Symbol]
    return symbols, [function(*args).diff(x) for x in symbols]
