"""Nodes as lines of Python text that CPython, NumPy and numba run alike."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from .graph import RELATIONS, Graph, Node
from .printing import FUNCTIONS, WRITTEN_OUT, Names
from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy as sp

DEEPEST = 50  # nested parentheses in one line
CONDITION, SUM, PRODUCT, ATOM = range(4)  # how tightly the operator of a text binds


class Lines:
    """The text of some nodes, of which those used more than once get variables.

    results : (place, node) for all that is printed as it is; the place is the region it stands in
    region : the region of the program that a level belongs to.  What a region needs of another one
        gets a variable there, so that it is computed there
    """

    def __init__(
        self, results: Iterable[tuple[int, Node]], names: Names, regions: dict[int, int]
    ) -> None:
        self.names, self.regions = names, regions
        self.variables: dict[Node, sp.Symbol] = {}
        self.results = [*results]
        self.nodes = (
            [] if not self.results else self.results[0][1].graph.below([x for _, x in self.results])
        )
        self.with_variable = self._nodes_with_variables()

    def region(self, x: Node) -> int:
        return self.regions.get(x.level, 0)

    def _nodes_with_variables(self) -> set[Node]:
        """The nodes that get variables.

        What only a branch of a choice needs is computed there, not before a loop, where it might
        divide by zero in vain.
        """
        count = Counter(x for _, x in self.results)
        forced = {x for x, uses in count.items() if uses > 1}
        place = {x: (where, False, 0) for where, x in self.results}
        variables = set()
        for x in reversed(self.nodes):
            where, in_branch, depth = place[x]
            if x.op == "neg" and x not in forced:  # in a sum a minus is free
                count[x.args[0]] += count[x] - 1
            elif x.op not in ("number", "symbol", "last") and (
                count[x] > 1 or depth > DEEPEST or (where != self.region(x) and not in_branch)
            ):
                variables.add(x)
                where, in_branch, depth = self.region(x), False, 0
            for k, a in enumerate(x.args):
                if isinstance(a, Node):
                    count[a] += 1
                    place[a] = where, in_branch or (x.op == "where" and k > 0), depth + 1
            if x.op == "last":
                count[x.args[0]] += 1  # it is a variable of the loop
        return variables

    def assignments(self, nodes: Iterable[Node]) -> list[str]:
        """The lines that compute those of the nodes that have variables."""
        return [f"{self.name(x)} = {self._text(x)[0]}" for x in nodes if x in self.with_variable]

    def at(self, *levels: int) -> list[str]:
        """The lines for all nodes of some levels."""
        return self.assignments(x for x in self.nodes if x.level in levels)

    def name(self, x: Node) -> str:
        """The variable of a node."""
        if x not in self.variables:
            self.variables[x] = x.args[0] if x.op == "symbol" else dummy(x.hint or "c")
        return self.names[self.variables[x]]

    def __call__(self, x: Node, least: int = SUM) -> str:
        """The text of a node, in parentheses if it binds less tightly than ``least``."""
        if x.op == "last":
            return self(x.args[0], least)
        if x.op == "symbol" or x in self.with_variable:
            return self.name(x)
        text, binds = self._text(x)
        return f"({text})" if binds < least else text

    def all_of(self, nodes: Iterable[Node]) -> str:
        """The text of conditions together."""
        return self.names.junction(True, [self(x, CONDITION) for x in nodes])

    def _text(self, x: Node) -> tuple[str, int]:
        """The text of an operation, and how tightly it binds."""
        op, args = x.op, x.args
        if op == "number":
            return repr(args[0]), SUM if args[0] < 0 else ATOM
        if op == "sum":
            return self._sum(args), SUM
        if op == "neg":
            return f"-{self(args[0], PRODUCT)}", SUM
        if op in ("*", "/"):
            return f"{self(args[0], PRODUCT)}{op}{self(args[1], ATOM)}", PRODUCT
        if op in ("&", "|"):
            return self.names.junction(op == "&", [self(a, CONDITION) for a in args]), CONDITION
        if op in RELATIONS:
            return f"{self(args[0])} {op} {self(args[1])}", CONDITION
        if op == "where":
            return self.names.choice(self(args[0], CONDITION), *map(self, args[1:])), ATOM
        values = (self(a) if isinstance(a, Node) else repr(a) for a in args)
        return f"{_spelling(op)}({', '.join(values)})", ATOM

    def _sum(self, terms: tuple[Node, ...]) -> str:
        """Terms with a plus first: a leading minus costs time."""
        text = ""
        for x in sorted(terms, key=lambda x: x.is_negative):
            minus = x.is_negative
            text += (" - " if text else "-") if minus else (" + " if text else "")
            text += self(-x if minus else x, PRODUCT if minus else SUM)
        return text


def _spelling(op: Any) -> str:
    if isinstance(op, str):
        return op
    return WRITTEN_OUT[op][0] if op in WRITTEN_OUT else FUNCTIONS[op.__name__]


def in_turn(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Lines that do what assigning all texts to their variables at once would do, one after the
    other if possible."""
    rest = [(x, e, {*re.findall(r"[A-Za-z]\w*", e)}) for x, e in pairs if e != x]
    uses, lines = Counter(s for *_, symbols in rest for s in symbols), []
    while rest:
        free = (k for k, (x, _, symbols) in enumerate(rest) if uses[x] == (x in symbols))
        k = next(free, None)
        if k is None:  # each is needed by another
            names, texts, _ = zip(*rest, strict=True)
            return [*lines, f"{', '.join(names)} = {', '.join(texts)}"]
        x, e, symbols = rest.pop(k)
        uses.subtract(symbols)
        lines.append(f"{x} = {e}")
    return lines


def python(e: sp.Expr, names: Names) -> str:
    """The text of a SymPy expression; operators, ``FUNCTIONS``, Piecewise and nothing else."""
    lines = Lines((), names, {})
    return lines(Graph().build(e, {}))
