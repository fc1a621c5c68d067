"""Positions on the holonomic constraints g = 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import rank, read_array, read_by_name, read_number, solved

if TYPE_CHECKING:
    from .system import System

TOLERANCE = 1e-12  # of the last correction of a position, against its size


def settle(system: System, q: Any, t: ArrayLike) -> np.ndarray:
    """The position with g = 0 next to q in the metric M(q): Newton on q1 - q = -M^-1 Dg^T mu."""
    q0 = q = position(system, q)
    t, n, m = read_number(t, "t"), len(q), len(system.holonomic)
    if not m:
        return q0.copy()
    S, M = system.symbolic, _metric(system, q0, t)
    bends = [[[e.diff(x) for x in system.q] for e in row] for row in S.Dg]
    mu, K = np.zeros(m), np.zeros((n + m, n + m))
    for _ in range(50):
        with np.errstate(all="ignore"):
            g, D = system.g(q, t), system.values(S.Dg, q, None, t)
            H = M + np.einsum("a,aij->ij", mu, system.values(bends, q, None, t))
        if not (np.isfinite(D).all() and np.isfinite(H).all()):
            break
        K[:n, :n], K[:n, n:], K[n:, :n] = H, D.T, D
        if rank(D, M) < m:
            raise ValueError(f"the holonomic constraints are dependent at q = {q}; start elsewhere")
        step = solved(K, np.concatenate([M @ (q0 - q) - D.T @ mu, -g]), "the nearest position")
        q, mu = q + step[:n], mu + step[n:]
        if np.abs(step[:n]).max() <= TOLERANCE * (1 + np.abs(q).max()):
            return _nearest(q, q0, H, D)
    raise ValueError(f"no position on the holonomic constraints was found near q = {q0}")


def _nearest(q: np.ndarray, q0: np.ndarray, H: np.ndarray, D: np.ndarray) -> np.ndarray:
    """q, if nothing near it on the constraints is nearer to q0: H is positive on ker D."""
    along = np.linalg.svd(D)[2][len(D) :]
    if len(along) and np.linalg.eigvalsh(along @ H @ along.T)[0] <= 0:
        raise ValueError(
            f"no position on the holonomic constraints is nearest to q = {q0} near {q}"
        )
    return q


def _metric(system: System, q: np.ndarray, t: float) -> np.ndarray:
    M = system.M(q, None, t)
    if not np.isfinite(M).all() or np.linalg.eigvalsh(M)[0] <= 0:
        raise ValueError(f"M is not positive definite at q = {q}, so nothing is nearest there")
    return M


def position(system: System, q: Any) -> np.ndarray:
    """One position as an array of floats."""
    expected = f"expected one number for each of {system.q}"
    q = read_by_name(system, q, "q") if isinstance(q, Mapping) else system.configuration(q)
    q = read_array(q, "q", (len(system.q),), expected, finite=True)
    if q.ndim > 1:
        raise ValueError(f"q has shape {q.shape}; {expected}")
    return q
