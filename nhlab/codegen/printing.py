"""The names and functions that generated Python text is made of."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import sympy as sp

    Class = TypeVar("Class", bound=type)

FUNCTIONS = {name: name for name in "sin cos tan exp log sinh cosh tanh atan2".split()}
FUNCTIONS |= {"a" + f: "a" + f for f in "sin cos tan sinh cosh tanh".split()}
FUNCTIONS |= {"Abs": "fabs", "sign": "sign"}
MATH = {name: getattr(math, name) for name in FUNCTIONS.values() if hasattr(math, name)}
MATH |= {"sqrt": math.sqrt, "pow": math.pow}
MATH |= {"nan": math.nan, "inf": math.inf}
NUMPY = {name: getattr(np, name, None) for name in MATH} | {"pow": np.power, "sign": np.sign}
NUMPY |= {"a" + f: getattr(np, "arc" + f) for f in "sin cos tan sinh cosh tanh".split()}
NUMPY |= {"atan2": np.arctan2, "all_": np.all, "where": np.where}
# Scalar versions of what CPython has no builtin for; part of every text, compiled by numba too.
PRELUDE = """\
def all_(condition):
    return condition


def where(condition, a, b):
    return a if condition else b


def sign(x):
    return (x > 0) - (x < 0)
"""
RESERVED = set(keyword.kwlist) | set(MATH) | set(NUMPY) | set(dir(builtins))
RESERVED |= set("t t0 h step run loop substep new out state n stop every left row _".split())
WRITTEN_OUT = {}  # class of functions -> (name, text), of those that other rooms hand over


def written_out(text: str) -> Callable[[Class], Class]:
    """Decorate a class of SymPy functions with the Python text of the function that computes it.

    The text defines one function, of the arguments of the class, and may call what ``PRELUDE``
    and ``math`` have.  It becomes part of every text that uses it, and runs for numbers and arrays,
    compiled and translated as the step itself.  Arguments that are integers are handed on as such.
    """
    name = re.match(r"def (\w+)\(", text).group(1)

    def register(function: Class) -> Class:
        WRITTEN_OUT[function] = name, text
        RESERVED.add(name)
        exec(text, NUMPY)
        return function

    return register


class Names(dict):
    """Symbols to identifiers: the reader's own names where possible, always distinct.

    scalar : for a text that computes with numbers alone, not with arrays: there Python evaluates
        one branch of a choice, and no condition after one that is False
    same : names of other symbols, which these keep
    """

    def __init__(self, scalar: bool = False, same: Any = ()) -> None:
        super().__init__(same)
        self.scalar, self.reserved = scalar, RESERVED | {*self.values()}
        self.last: dict[str, int] = {}  # the number at the end of the last name of each kind

    def choice(self, condition: str, a: str, b: str) -> str:
        return f"({a} if {condition} else {b})" if self.scalar else f"where({condition}, {a}, {b})"

    def junction(self, both: bool, texts: Iterable[str]) -> str:
        word = ("and" if both else "or") if self.scalar else ("&" if both else "|")
        return f" {word} ".join(f"({x})" for x in texts)

    def fix(self, symbol: sp.Symbol | None, name: str) -> None:
        self[symbol] = name
        self.reserved.add(name)

    def __missing__(self, symbol: sp.Symbol) -> str:
        base = re.sub(r"\W", "_", symbol.name, flags=re.ASCII)
        if not re.match(r"[A-Za-z]", base) or base in RESERVED:
            base = "s_" + base
        k = self.last.get(base, 0) + 1  # all up to the last one are taken
        name = base if k == 1 else f"{base}_{k}"
        while name in self.reserved:
            k += 1
            name = f"{base}_{k}"
        self.last[base] = k
        self.fix(symbol, name)
        return name
