"""The types that annotations name where steps are stated and generated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import sympy as sp

Symbols = Sequence[sp.Symbol]
Exprs = Sequence[sp.Expr]
Table = list[list[sp.Expr]]  # of rows
Pair = tuple[sp.Symbol, sp.Expr]  # an abbreviation and what it stands for, or an assignment
Pairs = Sequence[Pair]  # in their order: each expression contains earlier symbols alone


class Measures(TypedDict):
    """By what the corrections of a stage's unknowns are measured: keywords of ``Stage``."""

    sizes: tuple[sp.Expr | None, ...]
    weights: tuple[sp.Expr | int, ...]
