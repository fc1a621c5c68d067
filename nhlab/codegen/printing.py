"""SymPy expressions as Python text that CPython, NumPy and numba run alike."""

from __future__ import annotations

import builtins
import keyword
import math
import re

import numpy as np
import sympy as sp

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


def written_out(text):
    """Decorate a class of SymPy functions with the Python text of the function that computes it.

    The text defines one function, of the arguments of the class, and may call what ``PRELUDE``
    and ``math`` have.  It becomes part of every text that uses it, and runs for numbers and arrays,
    compiled and translated as the step itself.  Arguments that are integers are handed on as such.
    """
    name = re.match(r"def (\w+)\(", text).group(1)

    def register(function):
        WRITTEN_OUT[function] = name, text
        RESERVED.add(name)
        exec(text, NUMPY)
        return function

    return register


class Names(dict):
    """Symbols to identifiers: the reader's own names where possible, always distinct.

    ``scalar`` : for numbers alone, for which Python looks at one branch and stops at one False.
    """

    def __init__(self, scalar=False, same=()):
        super().__init__(same)
        self.scalar, self.taken = scalar, set(RESERVED)

    def choice(self, condition, a, b):
        return f"({a} if {condition} else {b})" if self.scalar else f"where({condition}, {a}, {b})"

    def junction(self, both, texts):
        word = ("and" if both else "or") if self.scalar else ("&" if both else "|")
        return f" {word} ".join(f"({x})" for x in texts)

    def fix(self, symbol, name):
        self[symbol] = name
        self.taken.add(name)

    def __missing__(self, symbol):
        base = re.sub(r"\W", "_", symbol.name, flags=re.ASCII)
        if not re.match(r"[A-Za-z]", base) or base in RESERVED:
            base = "s_" + base
        name, k = base, 1
        while name in self.taken:
            k += 1
            name = f"{base}_{k}"
        self.fix(symbol, name)
        return name


def assignments(pairs, names):
    """The lines that assign expressions to symbols."""
    return [f"{names[s]} = {python(e, names)}" for s, e in pairs]


def at_once(groups, names):
    """The same for groups of pairs, each group in one line."""
    return [
        f"{', '.join(names[s] for s, _ in group)} = {listing([e for _, e in group], names)}"
        for group in groups
    ]


def conjunction(conditions, names):
    """The text of all conditions together, empty if there are none."""
    return names.junction(True, [python(c, names) for c in conditions])


def listing(expressions, names):
    return ", ".join([python(e, names) for e in expressions])


def _atom(text):
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)|[\d.]+", text) else f"({text})"


def _power(base, exponent, names):
    """Integer powers as products: CPython and C are both faster with them."""
    b = python(base, names)
    if exponent == sp.Rational(1, 2):
        return f"sqrt({b})"
    if exponent == sp.Rational(3, 2):
        return f"{_atom(b)}*sqrt({b})"
    if exponent.is_Integer and 2 <= exponent <= 4:
        return "*".join([_atom(b)] * int(exponent))
    whole = exponent.is_Integer and abs(exponent) < 2**53
    return f"pow({b}, {exponent if whole else python(exponent, names)})"


def _product(e, names):
    over, under = [], []
    for f in e.args if e.is_Mul else (e,):
        base, exponent = f.as_base_exp()
        negative = exponent.is_number and exponent.is_negative and not f.is_Number
        if f.is_Rational and f.q > 1 and f.q & (f.q - 1) == 0 and f.p == 1:
            under.append(repr(float(f.q)))  # x/2 is exact and reads better than 0.5*x
        elif negative and exponent == -1:
            under.append(_atom(python(base, names)))
        elif negative:
            under.append(_atom(_power(base, -exponent, names)))
        elif f.is_Pow:
            text = _power(base, exponent, names)
            over.append(text if "(" not in text else _atom(text))
        else:
            over.append(_atom(python(f, names)))
    top = "*".join(over) or "1.0"
    if not under:
        return top
    bottom = under[0] if len(under) == 1 else f"({'*'.join(under)})"
    return f"{top}/{bottom}"


def python(e, names):
    """The text of a SymPy expression; operators, ``FUNCTIONS``, Piecewise and nothing else."""
    if e.is_Symbol:
        return names[e]
    if e is sp.oo:
        return "inf"
    if e.is_Number or e.is_NumberSymbol:
        return repr(float(e))
    if e.is_Add:
        text = ""
        terms = [(term.could_extract_minus_sign(), term) for term in e.args]
        for minus, term in sorted(terms, key=lambda pair: pair[0]):  # a leading minus costs time
            text += (" - " if text else "-") if minus else (" + " if text else "")
            text += python(-term, names) if minus else python(term, names)
        return text
    if e.is_Mul and e.could_extract_minus_sign():
        return "-" + _product(-e, names)
    if e.is_Mul or e.is_Pow:
        return _product(e, names)
    if isinstance(e, sp.Piecewise):
        text = "nan" if e.args[-1].cond != True else None  # noqa: E712 (SymPy's true)
        for value, condition in reversed(e.args):
            v = python(value, names)
            text = v if text is None else names.choice(python(condition, names), v, text)
        return text
    if e.is_Relational:
        return f"{python(e.lhs, names)} {e.rel_op} {python(e.rhs, names)}"
    if isinstance(e, sp.ITE):
        return names.choice(*(python(a, names) for a in e.args))
    if isinstance(e, (sp.And, sp.Or)):
        return names.junction(isinstance(e, sp.And), [python(a, names) for a in e.args])
    if isinstance(e, sp.DiracDelta):
        return "0"  # the derivative of sign(x), zero wherever a motion spends time
    name = type(e).__name__
    if type(e) in WRITTEN_OUT:
        values = (str(a) if a.is_Integer else python(a, names) for a in e.args)
        return f"{WRITTEN_OUT[type(e)][0]}({', '.join(values)})"
    if name in FUNCTIONS:
        return f"{FUNCTIONS[name]}({', '.join(python(a, names) for a in e.args)})"
    if isinstance(e, sp.functions.elementary.trigonometric.TrigonometricFunction):
        return python(e.rewrite(sp.cos if name == "sec" else sp.sin, deep=False), names)
    raise ValueError(
        f"cannot generate code for {e}: {name} is not among the functions nhlab knows "
        f"({', '.join(FUNCTIONS)}, sqrt, powers, Piecewise). Are all symbols real "
        "(nh.symbols makes them so)?"
    )
