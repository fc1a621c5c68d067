"""Numbers that remember how they were made: what a function of NumPy draws, as expressions.

Given arrays of ``Traced`` symbols, a function of arrays returns arrays of ``Traced`` expressions.
"""

from __future__ import annotations

import operator

import numpy as np
import sympy as sp

from .statement import dummy


def _by(operate):
    def method(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy takes its entries one by one
        return Traced(operate(self.e, expression(other)))

    return method


class Traced:
    """An expression that NumPy takes for a number."""

    def __init__(self, e):
        self.e = e

    def sin(self):
        return Traced(sp.sin(self.e))

    def cos(self):
        return Traced(sp.cos(self.e))

    def __neg__(self):
        return Traced(-self.e)

    __add__ = __radd__ = _by(operator.add)
    __mul__ = __rmul__ = _by(operator.mul)
    __sub__, __rsub__ = _by(operator.sub), _by(lambda x, y: y - x)
    __truediv__ = _by(operator.truediv)
    arctan2 = _by(sp.atan2)

    def __float__(self):
        raise ValueError(f"{self.e} is no number: what is drawn must not depend on its value")


def expression(x):
    """What stands behind a number, traced or not."""
    return x.e if isinstance(x, Traced) else sp.Float(float(x))


def symbols(names):
    """Real symbols in the clothes of numbers, as an array."""
    return np.array([Traced(dummy(name)) for name in names], object)
