"""What a function of NumPy computes, as SymPy expressions.

Called with arrays of ``Traced`` symbols, a function of arrays returns arrays of ``Traced``
expressions, which pages can compute without Python.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _by(operate: Callable[[Any, Any], Any]) -> Callable:
    def method(self: Traced, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy takes its entries one by one
        return Traced(operate(self.e, expression(other)))

    return method


class Traced:
    """An expression that NumPy takes for a number."""

    def __init__(self, e: sp.Expr) -> None:
        self.e = e

    def sin(self) -> Traced:
        return Traced(sp.sin(self.e))

    def cos(self) -> Traced:
        return Traced(sp.cos(self.e))

    def __neg__(self) -> Traced:
        return Traced(-self.e)

    __add__ = __radd__ = _by(operator.add)
    __mul__ = __rmul__ = _by(operator.mul)
    __sub__, __rsub__ = _by(operator.sub), _by(lambda x, y: y - x)
    __truediv__ = _by(operator.truediv)
    arctan2 = _by(sp.atan2)

    def __float__(self) -> float:
        raise ValueError(f"{self.e} is no number: what is drawn must not depend on its value")


def expression(x: Any) -> sp.Expr:
    """The SymPy expression of a number, traced or not."""
    return x.e if isinstance(x, Traced) else sp.Float(float(x))


def symbols(names: Iterable[str]) -> np.ndarray:
    """An array of real symbols that NumPy computes with as with numbers."""
    return np.array([Traced(dummy(name)) for name in names], object)
