"""Where a motion starts: q0 and v0, and which velocities the constraints leave free to choose."""

from __future__ import annotations

import numpy as np

from .checks import read_array


def start_of(system, q0=None, v0=None):
    """q0, v0 as given, or else the system's own, as arrays."""
    given = {"q0": system.q0 if q0 is None else q0, "v0": system.v0 if v0 is None else v0}
    for name, x in given.items():
        if x is None:
            raise ValueError(
                f"{name} is missing and {system!r} has no initial condition of its own"
            )
    return tuple(read_array(x, name) for name, x in given.items())


def free_velocities(system, q0, asked=()):
    """Indices of n - m velocities, among them those asked for, that determine the others through
    the constraints at q0.

    Columns of A that are constant make the best dependent velocities: they serve at every q.
    """
    A = system.A(q0)
    if not len(A):
        return list(range(len(system.v)))
    from scipy.linalg import qr

    columns = zip(*system.symbolic.A, strict=True)
    weight = np.array([1e3 if all(e.is_number for e in column) else 1.0 for column in columns])
    weight[list(asked)] = 1e-6
    pivots = qr(A * weight, mode="r", pivoting=True)[1].tolist()
    for k in set(asked) & set(pivots[: len(A)]):
        raise ValueError(f"velocity {system.v[k]} cannot be chosen freely at q0 = {q0}")
    return sorted(pivots[len(A) :])


def complete_velocity(system, q0, v0, free):
    """The velocity with the free components of v0 that satisfies the constraints at q0; if q0 has
    moved so far that these no longer determine the others, with components that do."""
    A, b = system.A(q0), system.b(q0)
    v = _completed(A, b, np.array(v0, float), free)
    if v is None:
        v = _completed(A, b, np.array(v0, float), free_velocities(system, q0))
    if v is None:
        raise ValueError(f"the constraints are dependent at q0 = {q0}")
    return v


def _completed(A, b, v, free):
    bound = [k for k in range(len(v)) if k not in free]
    if bound and np.linalg.cond(A[:, bound]) > 1e8:
        return None
    v[bound] = -np.linalg.solve(A[:, bound], A[:, free] @ v[free] + b) + 0.0
    return v
