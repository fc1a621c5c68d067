"""Admissible states: velocities with A v + b = 0, positions with g = 0."""

from __future__ import annotations

import numpy as np

from .checks import rank, read_array, read_number, scaled_rows, solved

TOLERANCE = 1e-12  # of the last correction of a position, against its size


def shortest(system, q, t):
    """w = -G^-1 A^T (A G^-1 A^T)^-1 b, the shortest velocity in the metric G with A w + b = 0."""
    A, scale = scaled_rows(system.A(q, t))
    Z = solved(system.G(q, t), np.swapaxes(A, -1, -2), "the metric")
    mu = solved(A @ Z, system.b(q, t)[..., None] * scale, "A G^-1 A^T (dependent constraints)")
    return -(Z @ mu)[..., 0]


def complete(system, q, given, t):
    """The velocity at (q, t) with the given components, name -> number, and A v + b = 0."""
    names, q = [u.name for u in system.v], _position(system, q)
    unknown = sorted(given.keys() - {*names})
    if unknown:
        raise ValueError(f"{unknown[0]} is no velocity of {system!r}; there are {names}")
    t = read_number(t, "t")
    with np.errstate(all="ignore"):
        A = system.A(q, t)
    free, v = len(names) - len(A), np.zeros(len(names))
    if not np.isfinite(A).all():
        raise ValueError(f"the constraints are not finite at q = {q}")
    if rank(A) < len(A):
        raise ValueError(f"the constraints are dependent at q = {q}: rank {rank(A)} of {len(A)}")
    if len(given) != free:
        many = "too many" if len(given) > free else "too few"
        raise ValueError(
            f"{sorted(given)} are {many}: {len(A)} constraints on {names} leave {free} free; "
            f"give {free}, as in {_example(A, names)}"
        )
    for name, x in given.items():
        v[names.index(name)] = read_number(x, name)
    bound = [k for k, name in enumerate(names) if name not in given]
    rows = A / np.linalg.norm(A, axis=1, keepdims=True)
    if bound and np.linalg.svd(rows[:, bound], compute_uv=False)[-1] < 1e-10:
        raise ValueError(
            f"{sorted(given)} are not independent at q = {q}: the constraints do not determine "
            f"{[names[k] for k in bound]} from them; give for example {_example(A, names)}"
        )
    if bound:
        v[bound] = -np.linalg.solve(A[:, bound], system.constraint(q, v, t)) + 0.0
    return v


def _example(A, names):
    """Velocities that determine the others."""
    from scipy.linalg import qr

    pivots = qr(A, mode="r", pivoting=True)[1] if len(A) else np.arange(len(names))
    return ", ".join(f"{names[k]}=..." for k in sorted(pivots[len(A) :]))


def settle(system, q, t):
    """The position with g = 0 next to q in the metric M(q): Newton on q1 - q = -M^-1 Dg^T mu."""
    q0 = q = _position(system, q)
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
        if rank(D) < m:
            raise ValueError(f"the holonomic constraints are dependent at q = {q}; start elsewhere")
        step = solved(K, np.concatenate([M @ (q0 - q) - D.T @ mu, -g]), "the nearest position")
        q, mu = q + step[:n], mu + step[n:]
        if np.abs(step[:n]).max() <= TOLERANCE * (1 + np.abs(q).max()):
            return _nearest(q, q0, H, D)
    raise ValueError(f"no position on the holonomic constraints was found near q = {q0}")


def _nearest(q, q0, H, D):
    """q, if nothing near it on the constraints is nearer to q0: H is positive on ker D."""
    along = np.linalg.svd(D)[2][len(D) :]
    if len(along) and np.linalg.eigvalsh(along @ H @ along.T)[0] <= 0:
        raise ValueError(
            f"no position on the holonomic constraints is nearest to q = {q0} near {q}"
        )
    return q


def _metric(system, q, t):
    M = system.M(q, None, t)
    if not np.isfinite(M).all() or np.linalg.eigvalsh(M)[0] <= 0:
        raise ValueError(f"M is not positive definite at q = {q}, so nothing is nearest there")
    return M


def _position(system, q):
    """One position as an array of floats."""
    expected = f"expected one number for each of {system.q}"
    q = read_array(system.configuration(q), "q", (len(system.q),), expected, finite=True)
    if q.ndim > 1:
        raise ValueError(f"q has shape {q.shape}; {expected}")
    return q
