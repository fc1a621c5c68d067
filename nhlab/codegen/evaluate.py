"""Expressions as functions of arrays."""

from __future__ import annotations

import numpy as np
import sympy as sp

from .graph import Graph
from .lines import Lines
from .printing import NUMPY, Names


class Function:
    """A table of expressions as a function of arrays.

    arguments : symbols, or tuples of them: a tuple is given as an array whose last axis holds them
    table : an expression or nested sequences of them;  let : abbreviations, as in ``Stage``

    Arguments broadcast; the result has their common shape and behind it that of the table.
    """

    def __init__(self, arguments, table, let=()):
        self.vectors = [isinstance(x, tuple) for x in arguments]
        names, flat = Names(), [sp.sympify(e, strict=True) for e in flattened(table)]
        heads = [names[s] for x in arguments for s in (x if isinstance(x, tuple) else (x,))]
        graph, here = Graph(let), {}
        nodes = [graph.build(e, here) for e in flat]
        lines = Lines([(0, x) for x in nodes], names, {})
        found = f"return [{', '.join(map(lines, nodes))}]"
        text = [f"def f({', '.join(heads)}):", *lines.assignments(lines.needed), found]
        space = dict(NUMPY)
        exec("\n    ".join(text), space)
        self.function, self.shape = space["f"], shape(table)

    def __call__(self, *values):
        parts = []
        for x, many in zip(values, self.vectors, strict=True):
            x = np.asarray(x, float)
            parts += list(x.transpose(-1, *range(x.ndim - 1))) if many else [x[()]]
        alone = all(x.ndim == 0 for x in parts)
        batch = () if alone else np.broadcast_shapes(*(x.shape for x in parts))
        with np.errstate(all="ignore"):  # what overflows or is not defined shows in the values
            found = self.function(*parts)
        return joined(found, batch).reshape((*batch, *self.shape))[()]


def joined(values, batch):
    """Numbers or arrays as one array of shape (*batch, len(values))."""
    out = np.empty((*batch, len(values)))
    for k, x in enumerate(values):
        out[..., k] = x
    return out


def shape(table):
    if not is_table(table):
        return ()
    return (len(table), *shape(table[0])) if len(table) else (0,)


def flattened(table):
    return [e for row in table for e in flattened(row)] if is_table(table) else [table]


def is_table(x):
    return isinstance(x, (tuple, list))
