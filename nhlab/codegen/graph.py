"""Expressions as a graph, in which each value exists once.

A ``Node`` is an operation on other nodes.  ``Graph`` makes them and returns the same node for the
same operation, so common subexpressions are found while expressions are built.  Each node knows its
``level``: the innermost part of a program that it depends on, as the body of a Newton loop.  Sums
and products combine their parts of lower level first, so what need not be computed in a loop is a
node of its own that is computed before it.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from .printing import FUNCTIONS, MATH, WRITTEN_OUT
from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .kinds import Pairs

NUMBER = -1  # the level of numbers; that of what depends on no symbol is 0
KINDS = {sp.ITE: "where", sp.And: "&", sp.Or: "|"}
RELATIONS = ("<", "<=", ">", ">=", "==", "!=", "&", "|")


class Node:
    """An operation and what it is applied to; made by a ``Graph``.

    op : "number", "symbol", "sum", "*", "/", "neg", "sqrt", "pow", "where", "last", one of
        RELATIONS, or the SymPy class of a function
    args, parts : nodes, and integers that functions take as they are; and the nodes alone
    hint : from which a variable that holds the value gets its name
    """

    __slots__ = ("args", "graph", "hint", "index", "level", "op", "parts")

    def __init__(self, graph: Graph, op: Any, args: tuple, level: int) -> None:
        self.graph, self.op, self.args, self.level = graph, op, args, level
        self.parts = [x for x in args if isinstance(x, Node)]
        self.index, self.hint = len(graph.nodes), ""

    @property
    def is_number(self) -> bool:
        return self.op == "number"

    @property
    def value(self) -> float | None:
        """The value of a number, None for others."""
        return self.args[0] if self.op == "number" else None

    @property
    def is_negative(self) -> bool:
        """Whether a minus can be taken out."""
        return self.op == "neg" or (self.is_number and self.args[0] < 0)

    def equals(self, x: float) -> bool:
        return self.value == x

    def suggest_name(self, hint: str) -> Node:
        """The node itself, with this hint if it has none."""
        self.hint = self.hint or hint
        return self

    def __neg__(self) -> Node:
        if self.is_number:
            return self.graph.number(-self.args[0])
        if self.op == "sum" and any(x.is_negative for x in self.args):
            return self.graph.sum([-x for x in self.args])
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
        self.nodes: dict[tuple, Node] = {}
        self.let, self.symbols_in = dict(let), {}
        self.order = {s: k for k, s in enumerate(self.let)}
        self.zero, self.one = self.number(0), self.number(1)

    # ---- making nodes

    def node(self, op: Any, *args: Any, level: int | None = None) -> Node:
        """The node of this operation, which is made if there is none yet."""
        key = (op, *args)
        if key not in self.nodes:
            if level is None:
                level = max((x.level for x in args if isinstance(x, Node)), default=0)
                level = max(level, 0)
            self.nodes[key] = Node(self, op, args, level)
        return self.nodes[key]

    def number(self, x: Any) -> Node:
        return self.node("number", float(x), level=NUMBER)

    def of(self, x: Any) -> Node:
        """A node as it is, anything else as a number."""
        return x if isinstance(x, Node) else self.number(x)

    def symbol(self, symbol: sp.Symbol, level: int) -> Node:
        return self.node("symbol", symbol, level, level=level).suggest_name(symbol.name)

    def size(self, x: Node) -> Node:
        """The absolute value."""
        return self.make(sp.Abs, [x.args[0] if x.op == "neg" else x])

    def last(self, x: Node) -> Node:
        """What a node in a loop was in the last iteration, for use after the loop."""
        return -self.last(x.args[0]) if x.op == "neg" else self.node("last", x, level=x.level + 1)

    def make(self, op: Any, args: Sequence[Any]) -> Node:
        """The operation applied to these, simplified."""
        if op in SIMPLIFIED:
            return SIMPLIFIED[op](self, *args)
        name = op if op == "sqrt" else FUNCTIONS.get(getattr(op, "__name__", ""))
        if name in MATH and all(x.is_number for x in args):
            with contextlib.suppress(ValueError, OverflowError):
                return self.number(MATH[name](*(x.args[0] for x in args)))
        return self.node(op, *args)

    def sum(self, terms: Iterable[Node]) -> Node:
        """The sum of terms, equal ones collected, those of lower level summed first."""
        count: dict[Node, float] = defaultdict(float)
        first: dict[Any, Node] = {}
        for x in terms:
            c, rest = self._split(x)
            rest = first.setdefault(self._key(rest), rest)
            count[rest] += c
        parts = [self._times(c, x) for x, c in count.items() if c != 0]
        parts.sort(key=lambda x: (x.level, x.index))
        low = [x for x in parts if x.level < parts[-1].level]
        parts = [self.sum(low), *parts[len(low) :]] if len(low) > 1 else parts
        if len(parts) < 2:
            return parts[0] if parts else self.zero
        if all(x.is_negative for x in parts):
            return self.node("neg", self.sum([-x for x in parts]))
        return self.node("sum", *parts)

    def _key(self, x: Node) -> Any:
        """What a product is made from, in whatever order: the same for equal products."""
        if x.op != "*":
            return x
        factors, stack = [], [*x.args]
        while stack:
            x = stack.pop()
            if x.op == "*":
                stack += x.args
            else:
                factors.append(x.index)
        return tuple(sorted(factors))

    def _split(self, x: Node) -> tuple[float, Node]:
        """A node as a number times another node."""
        if x.op == "number":
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
        order = self.below(nodes)
        uses = Counter(part for x in order for part in x.parts)
        for x in order:
            args = [new[a] if isinstance(a, Node) else a for a in x.args]
            same = all(a is b for a, b in zip(args, x.args, strict=True))
            e = x if same else self.make(x.op, args)
            if e.op == "sum":
                e = self._common_factor(e.args, whole)
            new[x] = e.suggest_name(x.hint)
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
        if a is self.zero or b is self.zero:
            return self.zero
        if (a.level, a.index) > (b.level, b.index):
            a, b = b, a
        if a is self.one:
            return b
        if a.op == "number":
            if a.args[0] < 0:
                return -(-a * b)
            if b.op == "number":
                return self.number(a.args[0] * b.args[0])
        if a.level < b.level and b.op == "*" and b.args[0].level < b.level:
            low = a * b.args[0]
            return b.args[1] if low.equals(1) else self.node("*", low, b.args[1])
        if a.op in ("*", "neg") and b.op in ("*", "neg"):  # else one has no number to collect
            (c, x), (d, y) = self._split(a), self._split(b)
            if 1 not in (c, d):
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
        """A power; ``exponent`` is a node or an integer, of which small ones make products, which
        CPython and C both compute faster."""
        is_small = isinstance(exponent, int) and 0 <= exponent <= 4
        return self.products([base] * exponent) if is_small else self.node("pow", base, exponent)

    # ---- from SymPy

    def build(self, e: Any, here: dict[Any, Node]) -> Node:
        """The node of an expression.

        here : the nodes of symbols; it is extended by all expressions that are met on the way
        """
        stack = [] if e in here else [e]
        while stack:  # abbreviations first, from which others are made: their chains are long
            x = stack[-1]
            lacking = [s for s in self._abbreviations(x) if s not in here]
            if x not in here and not lacking:
                here[x] = self._built(self.let.get(x, x), here).suggest_name(getattr(x, "name", ""))
            stack = [*stack, *lacking] if lacking else stack[:-1]
        return here[e]

    def _abbreviations(self, e: Any) -> list[sp.Symbol]:
        """The abbreviations in an expression, or in what an abbreviation stands for."""
        if e not in self.symbols_in:
            expression: Any = self.let.get(e, e)
            self.symbols_in[e] = sorted(
                expression.free_symbols & self.order.keys(), key=self.order.__getitem__
            )
        return self.symbols_in[e]

    def _built(self, e: Any, here: dict[Any, Node]) -> Node:
        if e not in here:
            here[e] = self._build(e, here)
        return here[e]

    def _build(self, e: Any, here: dict[Any, Node]) -> Node:
        if e.is_Symbol:
            return self.symbol(e, 0)
        if e is sp.oo or e.is_Number or e.is_NumberSymbol:
            return self.number(e)
        if e.is_Add:
            return self.sum([self._built(x, here) for x in e.args])
        over, under = sp.fraction(e, exact=True) if e.is_Mul or e.is_Pow else (e, 1)
        if under != 1:
            return self._built(over, here) / self._built(under, here)
        if e.is_Mul:
            return self.products([self._built(x, here) for x in e.args])
        if e.is_Pow:
            return self._power(self._built(e.base, here), e.exp, here)
        if isinstance(e, sp.Piecewise):
            value = self.number(math.nan)
            pieces: Any = e.args
            for x, condition in reversed(pieces):
                one = self._built(x, here)
                always = condition == True  # noqa: E712 (SymPy's true)
                value = (
                    one if always else self.node("where", self._built(condition, here), one, value)
                )
            return value
        return self._function(e, here)

    def _power(self, base: Node, exponent: sp.Expr, here: dict[Any, Node]) -> Node:
        root = self.make("sqrt", [base])
        if exponent in (sp.Rational(1, 2), sp.Rational(3, 2)):
            return root if exponent < 1 else base * root
        whole = exponent.is_Integer and abs(exponent) < 2**53
        return self.power(base, int(exponent) if whole else self._built(exponent, here))

    def _function(self, e: Any, here: dict[Any, Node]) -> Node:
        """A relation, or a function that Python's text has."""
        kind, name = type(e), type(e).__name__
        op = e.rel_op if e.is_Relational else KINDS.get(kind, kind)
        if isinstance(e, sp.DiracDelta):
            return self.zero  # the derivative of sign(x), zero wherever a motion spends time
        if name in ("sec", "csc", "cot"):
            return self._built(e.rewrite(sp.cos if name == "sec" else sp.sin, deep=False), here)
        if op is kind and name not in FUNCTIONS and kind not in WRITTEN_OUT:
            raise ValueError(
                f"cannot generate code for {e}: {name} is not among the functions nhlab knows "
                f"({', '.join(FUNCTIONS)}, sqrt, powers, Piecewise). Are all symbols real "
                "(nh.symbols makes them so)?"
            )
        raw = kind in WRITTEN_OUT  # which takes integers as they are
        args = [int(x) if raw and x.is_Integer else self._built(x, here) for x in e.args]
        return self.make(op, args)

    # ---- what is made from nodes

    def below(self, nodes: Iterable[Node], stop: Any = (), least: int = NUMBER) -> list[Node]:
        """All that the nodes are made from and they themselves, each behind its parts; without
        what is in ``stop`` or of a level below ``least``."""
        result, stack = set(), [*nodes]
        while stack:
            x = stack.pop()
            if x not in result and x not in stop and x.level >= least:
                result.add(x)
                stack += x.parts
        return sorted(result, key=lambda x: x.index)

    def replaced(self, node: Node, new: dict[Node, Node], least: int = NUMBER) -> Node:
        """The node with others in the place of some.

        new : what replaces a node; it is extended by all nodes that change with these
        least : the lowest level of those that are replaced
        """
        for x in self.below([node], new, least):
            args = [new.get(a, a) if isinstance(a, Node) else a for a in x.args]
            same = all(a is b for a, b in zip(args, x.args, strict=True))
            new[x] = x if same else self.make(x.op, args).suggest_name(x.hint)
        return new.get(node, node)

    def jacobian(self, nodes: list[Node], symbols: list[Node]) -> list[list[Node]]:
        """The derivatives of nodes by symbols, which are all of the same level: a list of rows."""
        by = {u: {u: self.one} for u in symbols}
        for x in self.below(nodes, by, symbols[0].level if symbols else 0):
            by[x] = self._slopes(x, by)
        return [[by.get(x, {}).get(u, self.zero) for u in symbols] for x in nodes]

    def _slopes(self, x: Node, by: dict[Node, dict[Node, Node]]) -> dict[Node, Node]:
        """The derivatives of a node that are not 0, from those of its parts ``by`` symbols."""
        parts, terms = [by.get(a, {}) for a in x.parts], {}
        if x.op in RELATIONS or not any(parts):
            return {}
        if x.op == "where":
            _, one, other = parts
            return {
                u: self.node("where", x.args[0], one.get(u, self.zero), other.get(u, self.zero))
                for u in {**one, **other}
            }
        for factor, slopes in zip(self._partial(x), parts, strict=True):
            for u, d in slopes.items():
                terms.setdefault(u, []).append(factor * d)
        sums = {u: self.sum(each) for u, each in terms.items()}
        return {u: d for u, d in sums.items() if not d.equals(0)}

    def _partial(self, x: Node) -> Iterable[Node]:
        """The derivatives of an operation by each of its parts."""
        if x.op in PARTIAL:
            return map(self.of, PARTIAL[x.op](x, *x.args))
        numbers = tuple(y.value if isinstance(y, Node) else y for y in x.args)
        symbols, slopes = _derivatives(sp.Pow if x.op == "pow" else x.op, numbers)
        here = {s: y for s, y in zip(symbols, x.args, strict=True) if isinstance(y, Node)}
        return [self.build(e, here) for s, e in zip(symbols, slopes, strict=True) if s in here]


@lru_cache(None)
def _derivatives(function: Any, numbers: tuple) -> tuple[list[sp.Symbol], list[sp.Expr]]:
    """Symbols for the arguments of a function, and its derivatives by them; ``known`` holds the
    numbers among the arguments, and None for others."""
    symbols = [dummy(f"a{k}") for k in range(len(numbers))]
    args = [
        s if x is None else sp.sympify(x, strict=True)
        for s, x in zip(symbols, numbers, strict=True)
    ]
    return symbols, [sp.S.Zero if x.is_number else function(*args).diff(x) for x in args]


SIMPLIFIED = {
    "sum": lambda graph, *terms: graph.sum(terms),
    "neg": lambda graph, a: -a,
    "*": Graph.product,
    "/": Graph.quotient,
    "pow": Graph.power,
    "last": Graph.last,
}
PARTIAL = {  # the derivatives of an operation x by what it is applied to
    "sum": lambda x, *terms: [1] * len(terms),
    "neg": lambda x, a: [-1],
    "*": lambda x, a, b: [b, a],
    "/": lambda x, a, b: [1 / b, -(x * (1 / b))],
    "sqrt": lambda x, a: [0.5 / x],
}
