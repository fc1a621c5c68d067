"""Numbers that remember how they were made: what a function of NumPy draws, as expressions.

Given arrays of ``Traced`` symbols, a function of arrays returns arrays of ``Traced`` expressions.
"""

from __future__ import annotations

import numpy as np
import sympy as sp


class Traced:
    """An expression that NumPy takes for a number."""

    def __init__(self, e):
        self.e = sp.sympify(e, strict=True)

    def sin(self):
        return Traced(sp.sin(self.e))

    def cos(self):
        return Traced(sp.cos(self.e))

    def arctan2(self, other):
        return Traced(sp.atan2(self.e, expression(other)))

    def __neg__(self):
        return Traced(-self.e)

    def __float__(self):
        raise ValueError(f"{self.e} is no number: what is drawn must not depend on its value")

    def __add__(self, other):
        return Traced(self.e + expression(other))

    def __sub__(self, other):
        return Traced(self.e - expression(other))

    def __rsub__(self, other):
        return Traced(expression(other) - self.e)

    def __mul__(self, other):
        return Traced(self.e * expression(other))

    def __truediv__(self, other):
        return Traced(self.e / expression(other))

    __radd__, __rmul__ = __add__, __mul__


def expression(x):
    """What stands behind a number, traced or not."""
    return x.e if isinstance(x, Traced) else sp.Float(float(x)) if x == x else sp.nan


def symbols(names):
    """Real symbols in the clothes of numbers, as an array."""
    return np.array([Traced(sp.Dummy(name, real=True)) for name in names], object)
