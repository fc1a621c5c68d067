"""Velocities: of given momenta, where a motion starts, and those that the constraints allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import checks, spans
from .checks import States, rank, read_array, read_number, solved, unit_rows
from .positions import position
from .spelling import nearest

if TYPE_CHECKING:
    from .system import System


def normal(system: System, q: States, t: ArrayLike, x: np.ndarray) -> np.ndarray:
    """The shortest velocities, in the metric G, with A v = x: G^-1 A^T (A G^-1 A^T)^-1 x."""
    A, G = system.independent_forms(q, None, t), system.G(q, t)
    if not system.m:
        return np.swapaxes(A, -1, -2) @ x
    return checks.shortest(G, A, x, _place_of(system, q, A.shape[:-2]))


def _place_of(system: System, q: States, batch: tuple[int, ...]) -> Callable[[int], str]:
    """A function k -> the k-th of some positions, in words."""
    n = len(system.q)
    places = np.broadcast_to(system.states(q, "q"), (*batch, n)).reshape(-1, n)
    return lambda k: f"q = {places[k]}"


def independence(system: System, q: States, v: States | None, t: ArrayLike) -> np.ndarray:
    """The smallest singular value of A with rows of length one, in units in which the entries of
    M have about the size one: neither units nor factors of the constraints change it much."""
    if not system.m:
        return np.ones(system.states(q, "q").shape[:-1])[()]
    if system.fields:
        return spans.independence(system, q, v, t)
    return checks.independence(system.A(q, t), system.M(q, v, t))


def check_multipliers(system: System, q: States, v: States, t: ArrayLike) -> None:
    """Refuse places where round-off leaves no digits of the multipliers, as of a least-squares
    problem: it is multiplied by one over the square of ``independence``."""
    if system.m > 1:
        A, M = system.A(q, t), system.M(q, v, t)
        values = np.atleast_1d(checks.independence(A, M)) ** 2
        checks.check_independent(values, _place_of(system, q, values.shape))


def velocity(system: System, q: States, p: np.ndarray, t: ArrayLike) -> np.ndarray:
    """The inverse Legendre map: v with dL/dv(q, v) = p, over leading axes."""
    if system.is_mechanical:
        shift = system.momentum(q, np.zeros_like(p), t)
        return solved(system.M(q, None, t), (p - shift)[..., None], "M")[..., 0]
    v, part = np.zeros_like(p), np.ones((*p.shape[:-1], 1))
    with np.errstate(all="ignore"):
        gap = system.momentum(q, v, t) - p
        for _ in range(100):  # Newton, each step halved until it brings the momentum nearer
            d = solved(system.M(q, v, t), gap[..., None], "M")[..., 0]
            new = system.momentum(q, v - part * d, t) - p
            better = np.linalg.norm(new, axis=-1) <= np.linalg.norm(gap, axis=-1)
            better = better[..., None]
            v, gap = np.where(better, v - part * d, v), np.where(better, new, gap)
            part = np.where(better, np.minimum(1, 2 * part), part / 2)
            if np.all(np.abs(d) <= 1e-12 * (1 + np.abs(v))):
                return v
    raise ValueError("the Legendre map of this L could not be inverted at these momenta")


def start_of(system: System, q0: Any = None, v0: Any = None) -> tuple[np.ndarray, ...]:
    """q0, v0 as given, as arrays or by names, or else the system's own, as arrays."""
    states = {"q0": system.q0 if q0 is None else q0, "v0": system.v0 if v0 is None else v0}
    for name, x in states.items():
        if x is None:
            raise ValueError(
                f"{name} is missing and {system!r} has no initial condition of its own; "
                f"{name}={{}} takes 0"
            )
    return tuple(
        system.states(x, name) if isinstance(x, Mapping) else read_array(x, name)
        for name, x in states.items()
    )


def free_velocities(system: System, q0: ArrayLike, first: Iterable[int] = ()) -> list[int]:
    """Indices of n - m velocities, among them those asked for, that determine the others through
    the constraints at q0.

    Columns of A that are constant make the best dependent velocities: they serve at every q.
    """
    columns = list(zip(*system.symbolic.A, strict=True))
    weight = np.ones(len(system.v))
    weight[[k for k, column in enumerate(columns) if all(e.is_number for e in column)]] = 1e3
    weight[list(first)] = 1e-6
    free = independent(system.independent_forms(q0) * weight)
    for k in {*first}.difference(free):
        raise ValueError(f"velocity {system.v[k]} cannot be chosen freely at q0 = {q0}")
    return free


def independent(A: np.ndarray) -> list[int]:
    """The places of components that determine the others where A v is given."""
    if not len(A):
        return list(range(A.shape[1]))
    from scipy.linalg import qr

    return sorted(qr(A, mode="r", pivoting=True)[1][len(A) :].tolist())


def complete_velocity(
    system: System, q0: ArrayLike, v0: ArrayLike, free: Mapping[str, float]
) -> np.ndarray:
    """The velocity with the free components of v0 that satisfies the constraints at q0; if q0 has
    moved so far that these no longer determine the others, with components that do."""
    A, b = system.independent_forms(q0), system.b(q0)
    unit = checks.units(system.M(q0))
    v = _completed(A, b, np.array(v0, float), free, unit)
    if v is None:
        v = _completed(A, b, np.array(v0, float), free_velocities(system, q0), unit)
    if v is not None:
        return v
    raise ValueError(f"the constraints are dependent at q0 = {q0}")


def _completed(A: np.ndarray, b: np.ndarray, v: np.ndarray, free: Any, unit: Any) -> Any:
    """v with A v + b = 0 and its free components; None where these do not determine the others,
    in these units of the velocities."""
    bound = [k for k in range(len(v)) if k not in free]
    rows = unit_rows(A * unit)[0][:, bound]
    if bound and np.linalg.svd(rows, compute_uv=False)[-1] < 1e-8:
        return None
    v[bound] = -np.linalg.solve(A[:, bound], A[:, free] @ v[free] + b) + 0.0
    return v


def complete(system: System, q: States, values: Mapping[str, float], t: ArrayLike) -> np.ndarray:
    """The velocity at (q, t) with the given components, name -> number, and A v + b = 0."""
    names, q = [u.name for u in system.v], position(system, q)
    unknown = sorted(values.keys() - {*names})
    if unknown:
        hint = nearest(unknown[0], names)
        raise ValueError(f"{unknown[0]} is no velocity of {system!r}; there are {names}{hint}")
    t = read_number(t, "t")
    with np.errstate(all="ignore"):
        A = system.independent_forms(q, None, t)
    if not np.isfinite(A).all():
        raise ValueError(f"the constraints are not finite at q = {q}")
    M = system.M(q, None, t)
    if (r := rank(A, M)) < len(A):
        raise ValueError(f"the constraints are dependent at q = {q}: rank {r} of {len(A)}")
    free = len(names) - len(A)

    def example() -> str:
        return ", ".join(f"{names[k]}=..." for k in independent(A))

    if len(values) != free:
        many = "too many" if len(values) > free else "too few"
        raise ValueError(
            f"{sorted(values) or 'no components'} are {many}: {len(A)} constraints on {names} "
            f"leave {free} free; give {free}, as in {example()}"
        )
    start = np.array([read_number(values.get(name, 0), name) for name in names])
    v = _completed(
        A, system.b(q, t), start, [names.index(name) for name in values], checks.units(M)
    )
    if v is None:
        raise ValueError(
            f"{sorted(values)} are not independent at q = {q}: the constraints do not determine "
            f"{[x for x in names if x not in values]} from them; give for example {example()}"
        )
    return v
