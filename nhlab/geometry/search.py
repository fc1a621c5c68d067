"""Symmetries found, not given: fields affine in the coordinates that leave L, or L and D, alone.

xi(q) = B q + c leaves L alone if L_q.xi + L_v.(B v) = 0 at every state, and D if, for every
velocity d that the constraints c(q, d) = 0 allow, c_q.xi + c_v.(B d) = 0.  Both are linear in
(B, c): the fields are the null space of a matrix, with a row for each condition at each of some
generic states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ..codegen.derivatives import dot
from .symmetry import Symmetry, echelon, null_space, plain_number

if TYPE_CHECKING:
    from ..mechanics.system import System


def find_symmetries(system: System) -> tuple[Symmetry | None, ...]:
    """Two Symmetries of a System in coordinates, None where there are none: of the affine fields
    that leave L and D alone, and of those that leave L alone and lie in D everywhere, whose momenta
    are kept."""
    n, (q, v, t, A) = len(system.q), _generic(system)
    of_L, of_D = _leaves_L(system, q, v, t), _leaves_D(system, A, q, v, t)
    inside = _units(_row(A.reshape(-1, n), 0 * A.reshape(-1, n), np.repeat(q, system.m, 0)))
    spaces = (null_space(np.concatenate([of_L, x]), np.ones(of_L.shape[1])) for x in (of_D, inside))
    pairs = ([_field(system, row) for row in echelon(space)] for space in spaces)
    return tuple(Symmetry(system, fields) if fields else None for fields in pairs)


def _field(system: System, row: np.ndarray) -> list[sp.Expr]:
    """(B, c) as expressions; of a turn the angle grows."""
    row = row * np.sign(row[np.abs(row) > 1e-7][-1])
    table = np.reshape([*map(plain_number, row)], (len(system.q), -1)).tolist()
    return [dot(line, (*system.q, 1)) for line in table]


def _generic(system: System) -> tuple[np.ndarray, ...]:
    """States at which L and the constraints are finite: q, v, t and A; L gives one condition at
    each, so there must be as many as (B, c) has entries, and some more."""
    n = len(system.q)
    count = n * (n + 1) + 8
    q, v, _ = system.samples(3 * count)
    t = 0.7 + 0.1 * np.arange(len(q))
    with np.errstate(all="ignore"):
        A, L = system.A(q, t), system.values(system.expressions.L_q, q, v, t)
    finite = np.flatnonzero(np.isfinite(A).all((1, 2)) & np.isfinite(L).all(1))[:count]
    if len(finite) < count:
        raise ValueError("L or the constraints are not finite at most generic places")
    return q[finite], v[finite], t[finite], A[finite]


def _leaves_L(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The conditions that L is left alone, one row of length 1 each."""
    S = system.expressions
    return _units(_row(*(system.values(e, q, v, t) for e in (S.L_q, S.L_v)), q, v))


def _leaves_D(
    system: System, A: np.ndarray, q: np.ndarray, v: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """The conditions that D is left alone: the constraints, at velocities that satisfy them."""
    S, m, n = system.expressions, system.m, len(system.q)
    if not m:
        return np.zeros((0, n * (n + 1)))
    forms = [*S.constraints, *S.rates(S.holonomic)]
    d = v - np.einsum("pim,pm->pi", np.linalg.pinv(A), system.constraint(q, v, t))
    by_q = system.values(S.jacobian(forms, system.q), q, d, t)
    return _units(np.concatenate([_row(by_q[:, k], A[:, k], q, d) for k in range(m)]))


def _units(rows: np.ndarray) -> np.ndarray:
    """The rows with length 1."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def _row(
    by_q: np.ndarray, by_v: np.ndarray, q: np.ndarray, v: np.ndarray | float = 0.0
) -> np.ndarray:
    """The coefficients of (B, c) in by_q.(B q + c) + by_v.(B v), shape (points, n (n + 1))."""
    table = by_q[:, :, None] * np.concatenate([q, np.ones_like(q[:, :1])], 1)[:, None, :]
    table[:, :, :-1] += by_v[:, :, None] * (v + 0 * q)[:, None, :]
    return table.reshape(len(q), table.shape[1] * table.shape[2])
