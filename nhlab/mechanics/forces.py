"""Generalised forces F(q, v, t): read, checked, and closed by a feedback."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import sympy as sp

from .checks import UNSET, read_expression, sequence

if TYPE_CHECKING:
    from .system import System

CUTS = sp.Max, sp.Min, sp.Heaviside  # by which controllers saturate and switch


def read_forces(system: System, table: Any) -> tuple[sp.Expr, ...]:
    """The forces as expressions, one per velocity, or () where there are none."""
    if table is None:
        return ()
    names, count = force_names(system), len(system.v)
    if not isinstance(table, dict):
        table = sequence(table)
        if len(table) not in (0, count):
            raise ValueError(
                f"forces has {len(table)} entries; give {count}, one for each of {system.degrees}, "
                f"or a dict such as {{{system.degrees[0]!r}: F}}"
            )
        table = dict(zip(system.degrees, table, strict=False))
    forces = [sp.S.Zero] * count
    for key, e in table.items():
        name = getattr(key, "name", key)
        if name not in names:
            raise ValueError(f"forces: {name!r} is no coordinate here; there are {list(names)}")
        e = read_expression(e, f"forces[{str(name)!r}]")
        e = e.replace(lambda x: isinstance(x, CUTS), written_out) if e.has(*CUTS) else e
        forces[names[name]] += e
    return tuple(forces) if any(forces) else ()


def written_out(e: sp.Expr) -> sp.Expr:
    """One of CUTS in functions that all generated code knows."""
    if isinstance(e, sp.Heaviside):
        return e.rewrite(sp.Piecewise)
    sign = 1 if isinstance(e, sp.Max) else -1
    return reduce(lambda a, b: (a + b + sign * sp.Abs(a - b)) / 2, e.args)


def force_names(system: System) -> dict[str, int]:
    """name -> place among the forces: the coordinates, and body velocities by their own names."""
    names = {name: k for k, name in enumerate(system.degrees)}
    straight = system.q[: getattr(system, "k", None)]
    return names | {s.name: k for k, s in enumerate(straight)}


def need_inputs(system: System, what: str, besides: Collection[str] = ()) -> None:
    """Refuse to compute with forces whose inputs, besides some, have no values."""
    missing = [s.name for s, x in system.parameters.items() if x is UNSET and s.name not in besides]
    if missing:
        raise ValueError(
            f"{what} needs a value for {missing}, inputs of the system {system.label} since they "
            f"occur in its forces alone; system.set({missing[0]}=number) gives one; nh.integrate "
            f"and nh.ensemble also take inputs={{{missing[0]!r}: ...}}: a number, one for each "
            "step, a function of time, or an expression"
        )


def closed(system: System, feedback: Mapping[sp.Symbol, sp.Expr]) -> System:
    """The system whose inputs are given by expressions in t, q, v and parameters.

    feedback : input -> expression.  Made once for each feedback, for all settings of parameters.
    """
    key = ("closed", *feedback.items())
    new = system.memoised(key, lambda: _closed(system, feedback))
    return new.set(**{s.name: x for s, x in system.numbers.items() if s in new.parameters})


def _closed(system: System, feedback: Mapping[sp.Symbol, sp.Expr]) -> System:
    if system.full is not None:
        return type(system)(
            **system.constructor_kwargs() | {"system": _closed(system.full, feedback)}
        )
    by_name = {s.name: s for s in (*system.q, *system.v, *system.parameters, system.t) if s}
    changes = {}
    for u, e in feedback.items():
        for s in e.free_symbols:
            if s.name == "t" and system.t is None and "t" not in by_name:
                changes["t"] = by_name["t"] = s
            if by_name.get(s.name) != s:
                raise ValueError(
                    f"inputs[{u.name!r}] = {e} contains {s}, which is none of {list(by_name)} as "
                    "they were made; write gains as numbers, or as parameters of the forces"
                )
    forces = [e.xreplace(feedback) for e in system.forces]
    gone = set(system.inputs).difference(*(e.free_symbols for e in forces))
    numbers = {s: x for s, x in system.numbers.items() if s not in gone}
    return system.replace(forces=forces, parameters=numbers, **changes)
