"""Symmetries found, not given: fields affine in the coordinates that leave L, or L and D, alone.

xi(q) = B q + c leaves L alone if L_q.xi + L_v.(B v) = 0 at every state, and D if, for every
velocity d in D, (A d)_q.xi + A (B d) = 0.  Both are linear in (B, c): the fields are the null space
of a matrix, with a row for each condition at each of some generic states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALL = 1e-9  # what counts as zero, relative to the largest


@dataclass(frozen=True, eq=False)
class Found:
    """Affine fields, (k, n, n + 1) each: rows of (B, c).

    symmetries : of L and D;  in_D : how many of their directions lie in D at a generic point, each
    with a momentum equation
    conserved : symmetries of L that lie in D everywhere, each with a momentum that is kept
    """

    names: tuple
    symmetries: np.ndarray
    in_D: int
    conserved: np.ndarray

    def words(self, fields):
        """The fields as the reader would write them."""
        return [_in_words(field, self.names) for field in fields]


def find_symmetries(system):
    """The affine symmetries of a System in coordinates, as a Found."""
    n = len(system.q)
    q, v, t = system.samples(n * (n + 1) + 8)  # L gives one condition at each
    A = system.A(q, t)
    of_L, of_D = _leaves_L(system, q, v, t), _leaves_D(system, A, q, t)
    fields = _null_space(np.concatenate([of_L, of_D]))
    slips = np.einsum("pmi,pki->pmk", A, fields_at(fields.reshape(-1, n, n + 1), q))
    in_D = min(len(_null_space(x, np.abs(a).max(initial=0))) for x, a in zip(slips, A, strict=True))
    inside = _units(_row(A.reshape(-1, n), 0 * A.reshape(-1, n), np.repeat(q, system.m, 0)))
    conserved = _null_space(np.concatenate([of_L, inside]))
    found = (_plain_basis(x).reshape(-1, n, n + 1) for x in (fields, conserved))
    return Found(tuple(s.name for s in system.q), next(found), in_D, next(found))


def fields_at(fields, q):
    """Values of affine fields, shape (..., k, n)."""
    return np.einsum("kij,...j->...ki", fields, _extended(q))


def _extended(q):
    """(q, 1), so that (B, c) applies to it."""
    return np.concatenate([q, np.ones_like(q[..., :1])], -1)


def _leaves_L(system, q, v, t):
    """The conditions that L is left alone, one row of length 1 each."""
    S = system.short
    return _units(_row(*(system.values(e, q, v, t) for e in (S.L_q, S.L_v)), q, v))


def _leaves_D(system, A, q, t):
    """The conditions that D is left alone."""
    S, m, n = system.short, system.m, len(system.q)
    rows = [np.zeros((0, n * (n + 1)))]
    A_q = S.jacobian([e for row in S.A for e in row], system.q)
    A_q = system.values(A_q, q, None, t).reshape(len(q), m, n, n)
    for D in np.moveaxis([np.linalg.svd(a)[2][m:] for a in A], 0, 1) if m else ():
        for k in range(m):
            rows.append(_row(np.einsum("pij,pi->pj", A_q[:, k], D), A[:, k], q, D))
    return _units(np.concatenate(rows))


def _units(rows):
    """The finite ones among some rows, with length 1."""
    rows = rows[np.isfinite(rows).all(1)]
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def _row(by_q, by_v, q, v=0.0):
    """The coefficients of (B, c) in by_q.(B q + c) + by_v.(B v), shape (points, n (n + 1))."""
    table = by_q[:, :, None] * _extended(q)[:, None, :]
    table[:, :, :-1] += by_v[:, :, None] * (v + 0 * q)[:, None, :]
    return table.reshape(len(q), table.shape[1] * table.shape[2])


def _null_space(matrix, size=1.0):
    """Orthonormal rows x with matrix . x = 0, for a matrix with entries of this size."""
    tall = len(matrix) > matrix.shape[1]
    _, s, vh = np.linalg.svd(np.linalg.qr(matrix, mode="r") if tall else matrix)
    return vh[int((s > SMALL * size).sum()) :]


def _plain_basis(rows):
    """The same space, each row with a 1 where the others have 0: rotations, then translations."""
    rows, k = rows.copy(), 0
    for j in range(rows.shape[1]):
        if k == len(rows):
            break
        i = k + np.abs(rows[k:, j]).argmax()
        if abs(rows[i, j]) < 1e-7:
            continue
        rows[[k, i]] = rows[[i, k]]
        rows[k] /= rows[k, j]
        others = np.arange(len(rows)) != k
        rows[others] -= rows[others, j, None] * rows[k]
        k += 1
    rows[np.abs(rows) < 1e-7] = 0.0
    last = [row[np.flatnonzero(row)[-1]] for row in rows]  # of a turn: that of the angle
    return rows * np.sign(last)[:, None] if last else rows


def _in_words(field, names):
    """Such as -y d/dx + x d/dy + d/dtheta."""
    terms = []
    for name, row in zip(names, field, strict=True):
        for a, factor in zip(row, [*names, ""], strict=True):
            if a:
                size = "" if abs(abs(a) - 1) < 1e-6 else f"{abs(a):.4g} "
                sign = "-" if a < 0 else "+"
                terms.append(f"{sign} {size}{factor}{' ' * bool(factor)}d/d{name}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)
