"""Frobenius: whether the constraints restrict positions, or velocities alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ..codegen.derivatives import dot

if TYPE_CHECKING:
    from .system import System


def is_integrable(system: System) -> bool:
    """True if the two-forms of the rows vanish on D, d alpha(X, Y) = 0 for X, Y in D, tested at
    generic points.  On R x Q, for constraints that move, the rows are b dt + A dq."""
    S = system.symbolic
    rows = [(b, *row) for b, row in zip(S.b, S.A, strict=True)]
    tables = rows, [two_form(system, row) for row in rows]
    forms, curls = (system.values(table, *system.samples()) for table in tables)
    for A, dA in zip(forms, curls, strict=True):
        basis = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
        twist = np.einsum("xi,aij,yj->axy", basis, dA, basis)
        if np.abs(twist).max(initial=0) > 1e-9 * (1 + np.abs(dA).max()):
            return False
    return True


def two_form(system: System, row: Sequence[sp.Expr]) -> list[list[sp.Expr]]:
    """d alpha(X, Y) = X(alpha(Y)) - Y(alpha(X)) - alpha([X, Y]) in the frame of d/dt and v."""
    rates, t = system.symbolic.rates(row), system.t or sp.Dummy("t")
    slopes = [[e.diff(t) for e in row], *([e.diff(u) for e in rates] for u in system.v)]
    units = [None, *np.eye(len(system.v), dtype=int).tolist()]
    k = range(len(row))

    def turn(i: int, j: int) -> sp.Expr | int:
        return dot(row[1:], system.bracket(units[i], units[j])) if i and j else 0

    return [[slopes[i][j] - slopes[j][i] - turn(i, j) for j in k] for i in k]
