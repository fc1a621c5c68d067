"""Systems as formulas on a board, in LaTeX."""

from __future__ import annotations

import sympy as sp


def aligned(rows):
    """Rows ``left &= right`` as one formula of a notebook."""
    return r"$\displaystyle \begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}$"


def dotted(q, v):
    """Names of velocities: those of the coordinates with a dot."""
    return {u: rf"\dot{{{sp.latex(s)}}}" for s, u in zip(q, v, strict=True)}


def formulas(system, dots):
    """The rows of L, the constraints and the forces."""
    rows = [f"L &= {sp.latex(system.L, symbol_names=dots)}"]
    rows += [f"{sp.latex(c, symbol_names=dots)} &= 0" for c in system.constraints]
    rows += [f"{sp.latex(g)} &= 0" for g in system.holonomic]
    names = (sp.latex(sp.Symbol(name)) for name in system.degrees)
    forces = ((name, e) for name, e in zip(names, system.forces, strict=False) if e != 0)
    return rows + [f"F_{{{x}}} &= {sp.latex(e, symbol_names=dots)}" for x, e in forces]
