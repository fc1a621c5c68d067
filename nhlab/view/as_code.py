"""A system as code: the statements with which a reader would make it."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from functools import lru_cache

import sympy as sp
from sympy.printing.str import StrPrinter

from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System

TAKEN = {"nh", "system", "q0", "v0", "ax", *dir(sp), *keyword.kwlist}  # what no symbol is called


class Printer(StrPrinter):
    """Expressions as Python reads them, with the same numbers; ``names`` : symbol -> variable."""

    def __init__(self, names: dict[sp.Symbol, str]) -> None:
        super().__init__()
        self.names = names

    def _print_Symbol(self, x):
        return self.names[x]

    def _print_Rational(self, x):
        return f"Rational({x.p}, {x.q})"

    def _print_Float(self, x):
        return repr(float(x))

    def listed(self, entries) -> str:
        """A list of expressions."""
        return f"[{', '.join(map(self.doprint, entries))}]"


@lru_cache(64, typed=True)
def lines_of_system(own: System) -> tuple[str, ...]:
    """The statements that make a system, as ``system``; () if it cannot be written so.

    They are tried: what they make must have the same formulas and the same parameters.
    """
    if type(own) not in (System, GroupSystem):
        return ()
    space = {}
    try:
        lines = tuple(_lines(own))
        exec("\n".join(("import nhlab as nh", *lines)), space)
    except Exception:  # whatever an expression prints that Python does not read back
        return ()
    return lines if space["system"] == own else ()


def _lines(own: System) -> Iterator[str]:
    given = own.constructor_kwargs()
    parts = [own.L, *own.constraints, *own.holonomic, *own.forces, *sum(own.fields, ())]
    parts += [] if own.metric is None else [*own.metric]
    expressions = [sp.sympify(x, strict=True) for x in parts]
    inside = sorted({s for x in expressions for s in x.free_symbols}, key=str)
    names = _names(dict.fromkeys([*own.q, *own.v, *own.parameters, *inside]))
    arguments = ",\n    ".join(_arguments(own, given, Printer(names)))
    call = f"nh.{type(own).__name__}(\n    {arguments},\n)"
    used = {x.id for x in ast.walk(ast.parse(call)) if isinstance(x, ast.Name)}
    functions = sorted(used - {*names.values(), "nh"})
    yield from [f"from sympy import {', '.join(functions)}"] * bool(functions)
    yield from _symbols(names)
    yield f"system = {call}"


def _names(symbols) -> dict[sp.Symbol, str]:
    """symbol -> variable, its own name where Python and this code leave it free."""
    found: dict[sp.Symbol, str] = {}
    for s in symbols:
        name = s.name if s.name.isidentifier() else "symbol"
        while name in TAKEN or name in found.values():
            name += "_"
        found[s] = name
    return found


def _symbols(names: dict[sp.Symbol, str]) -> Iterator[str]:
    """Statements that make the symbols: those that are real and called as their variables at once,
    the others one by one."""
    alike = [s for s, name in names.items() if s == sp.Symbol(name, real=True)]
    many, text = ", ".join(s.name for s in alike), " ".join(s.name for s in alike)
    yield from [f'{many} = nh.symbols("{text}")'] * bool(alike)
    for s, name in names.items():
        if s not in alike:
            about = {"real": None} | dict(s._assumptions_orig)
            given = "".join(f", {k}={x!r}" for k, x in about.items() if about != {"real": True})
            yield f"{name} = nh.symbols({s.name!r}{given})"


def _arguments(own: System, given: dict, printer: Printer) -> Iterator[str]:
    """The arguments of the call, without those that have their defaults."""
    listed, put = printer.listed, printer.doprint
    on_group = isinstance(own, GroupSystem)
    first = f"nh.groups.{own.group.name}" if on_group else listed(own.q)
    yield from (f"{first}, {listed(own.v)}", put(own.L))
    for name in ("constraints", "holonomic", "forces", "g", "r"):
        if len(given.get(name, ())):
            yield f"{name}={listed(given[name])}"
    if own.fields:
        yield f"fields=[{', '.join(map(listed, own.fields))}]"
    if own.metric is not None:
        yield f"metric=[{', '.join(map(listed, own.metric.tolist()))}]"
    numbers = (f"{put(s)}: {float(x)!r}" for s, x in own.numbers.items())
    yield from [f"parameters={{{', '.join(numbers)}}}"] * bool(own.numbers)
    if own.t is not None:
        yield f"t={put(own.t)}"
    if on_group:
        yield f"rule={own.rule!r}"
    yield from [f"name={own.name!r}"] * bool(own.name)
