"""Systems as formulas on a board, in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from .system import System

GREEK = {"eps": r"\varepsilon", "Om": r"\Omega"}  # which SymPy does not know
WIDTH = 70  # signs of a Lagrangian that stand in one row


def aligned(rows: Iterable[str]) -> str:
    """Rows ``left &= right`` or ``& equation`` as one formula of a notebook."""
    return r"$\displaystyle \begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}$"


def dotted(q: Sequence[sp.Symbol], v: Sequence[sp.Symbol]) -> dict[sp.Symbol, str]:
    """Names of velocities: those of the coordinates with a dot."""
    return {u: rf"\dot{{{sp.latex(s)}}}" for s, u in zip(q, v, strict=True)}


def lettered(parameters: Iterable[sp.Symbol]) -> dict[sp.Symbol, str]:
    """Names of parameters of two letters, the second as an index; and those that are Greek."""
    short = {s: rf"{s.name[0]}_{{{s.name[1]}}}" for s in parameters if len(sp.latex(s)) == 2}
    return short | {s: GREEK[s.name] for s in parameters if s.name in GREEK}


def broken(left: str, e: sp.Expr, names: dict[sp.Symbol, str], right: str = "") -> list[str]:
    """The row ``left e right``, and further rows below it for the terms that find no place."""
    rows, room = [""], WIDTH
    for term in e.as_ordered_terms():
        text, size = sp.latex(term, symbol_names=names), len(str(term))
        if size > room and rows[-1]:
            rows, room = [*rows, ""], WIDTH
        rows[-1] += f" {text}" if text.startswith("-") else f" + {text}"
        room -= size
    first, *more = rows
    rows = [f"{left} {{{first.removeprefix(' + ').strip()}}}", *(rf"&\quad{x}" for x in more)]
    return [*rows[:-1], rows[-1] + right]


def formulas(system: System, dots: dict[sp.Symbol, str]) -> list[str]:
    """The rows of L, the constraints, the fields and the forces."""
    dots = dots | lettered(system.parameters)
    rows = broken("L &=", system.L, dots)
    for zero in (*system.constraints, *system.holonomic):
        rows += broken("&", zero, dots, " = 0")
    for k, field in enumerate(system.fields, 1):
        terms = zip(field, system.q, strict=True)
        written = (
            rf"\left({sp.latex(e, symbol_names=dots)}\right)\partial_{{{sp.latex(x)}}}"
            if e != 1
            else rf"\partial_{{{sp.latex(x)}}}"
            for e, x in terms
            if e != 0
        )
        rows.append(f"X_{{{k}}} &= {' + '.join(written)}")
    names = (sp.latex(sp.Symbol(name)) for name in system.degrees)
    forces = ((name, e) for name, e in zip(names, system.forces, strict=False) if e != 0)
    return rows + [f"F_{{{x}}} &= {sp.latex(e, symbol_names=dots)}" for x, e in forces]
