"""Expressions as functions of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from .graph import Graph
from .lines import Lines
from .printing import NUMPY, Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kinds import Pairs


class Function:
    """A table of expressions as a function of arrays.

    arguments : symbols, or tuples of them: a tuple is given as an array whose last axis holds them
    table : an expression or nested sequences of them;  let : abbreviations, as in ``Stage``

    Arguments broadcast; the result has their common shape and behind it that of the table.
    """

    def __init__(self, arguments: Sequence[Any], table: Any, let: Pairs = ()) -> None:
        self.vectors = [isinstance(x, tuple) for x in arguments]
        names, flat = Names(), [sp.sympify(e, strict=True) for e in flattened(table)]
        heads = [names[s] for x in arguments for s in (x if isinstance(x, tuple) else (x,))]
        graph, here = Graph(let), {}
        nodes = [graph.build(e, here) for e in flat]
        lines = Lines([(0, x) for x in nodes], names, {})
        result = f"return [{', '.join(map(lines, nodes))}]"
        text = [f"def f({', '.join(heads)}):", *lines.assignments(lines.nodes), result]
        space = dict(NUMPY)
        exec("\n    ".join(text), space)
        self.function, self.shape = space["f"], shape(table)

    def __call__(self, *values: Any) -> Any:
        parts = []
        for x, many in zip(values, self.vectors, strict=True):
            x = np.asarray(x, float)
            parts += list(x.transpose(-1, *range(x.ndim - 1))) if many else [x[()]]
        alone = all(x.ndim == 0 for x in parts)
        batch = () if alone else np.broadcast_shapes(*(x.shape for x in parts))
        with np.errstate(all="ignore"):  # what overflows or is not defined shows in the values
            result = self.function(*parts)
        return joined(result, batch).reshape((*batch, *self.shape))[()]


def joined(values: Sequence[Any], batch: tuple[int, ...]) -> np.ndarray:
    """Numbers or arrays as one array of shape (*batch, len(values))."""
    out = np.empty((*batch, len(values)))
    for k, x in enumerate(values):
        out[..., k] = x
    return out


def shape(table: Any) -> tuple[int, ...]:
    """The shape of a nested table: () for an expression alone."""
    if not is_table(table):
        return ()
    return (len(table), *shape(table[0])) if len(table) else (0,)


def flattened(table: Any) -> list[Any]:
    """All expressions of a nested table in one list."""
    return [e for row in table for e in flattened(row)] if is_table(table) else [table]


def is_table(x: Any) -> bool:
    return isinstance(x, (tuple, list))
