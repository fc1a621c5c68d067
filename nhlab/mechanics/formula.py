"""Expressions from outside: SymPy's own objects, or text that is read and never executed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from typing import Any

import sympy as sp

LONGEST = 1000  # characters of a text
ERRORS = SyntaxError, LookupError, ValueError, TypeError, ArithmeticError
ERRORS += RecursionError, MemoryError  # of Python's parser, at many brackets
FUNCTIONS = {
    name: getattr(sp, name)
    for name in "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt Abs sign".split()
}
REMEDY = "use numbers, names, + - * / **, pi and " + ", ".join(FUNCTIONS)


def sympified(e: Any, name: str) -> Any:
    """e as a SymPy object; text is refused, since SymPy would execute it."""
    try:
        return sp.sympify(e, strict=True)
    except (sp.SympifyError, TypeError):  # TypeError: of types and the like, by SymPy's converters
        raise ValueError(
            f"{name} = {e!r} is not a SymPy expression; write it in symbols, from nh.symbols"
        ) from None


def read_formula(text: str, symbols: Mapping[str, sp.Symbol], name: str) -> sp.Expr:
    """The expression that a text of arithmetic says; ``symbols`` by name, others are made new."""
    names = {"pi": sp.pi, **symbols}
    try:
        if len(text) > LONGEST:
            raise ValueError(f"longer than {LONGEST} characters")
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except ERRORS:
        raise ValueError(f"{name}: {text[:80]!r} is no scalar SymPy expression; {REMEDY}") from None


def _value(node: ast.expr, names: Mapping[str, sp.Expr]) -> sp.Expr:
    match node:
        case ast.Constant(value=int() | float() as x) if not isinstance(x, bool):
            e = sp.sympify(x, strict=True)
        case ast.Name(id=name):
            e = names.get(name, sp.Symbol(name))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=x):
            e = _value(x, names) * (-1 if isinstance(op, ast.USub) else 1)
        case ast.BinOp(left=a, op=op, right=b):
            e = OPERATIONS[type(op)](_value(a, names), _value(b, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            e = FUNCTIONS[name](*(_value(x, names) for x in args))
        case _:
            raise ValueError(type(node).__name__)
    if e.is_number and e.is_Atom and not math.isfinite(float(e)):
        raise OverflowError(e)
    return e


def _power(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    if not is_moderate_power(a, b):
        raise OverflowError(f"{a}**{b}")
    return a**b


OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


def is_moderate_power(a: sp.Expr, b: sp.Expr) -> bool:
    """False for a number a**b beyond those of floats: SymPy might write out all of its digits."""
    if not (a.is_number and b.is_number):
        return True
    try:
        size = abs(float(sp.Pow(a, b, evaluate=False)))
    except (TypeError, ValueError, OverflowError):
        return False
    return 0 < size < math.inf or a.is_zero is True
