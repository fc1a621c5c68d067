"""Between the nodes of a run: the motion that passes through them, of the method's own order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import brief, read_array, solved

if TYPE_CHECKING:
    from ..mechanics.system import System
    from .events import Runs
    from .trajectory import Trajectory

TOLERANCE = 1e-12  # of the motion from a node to a time, beside the size of the states
MAX_PARTS = 256  # into which the way from a node to a time may be divided
MAX_TURNS = 20  # of Newton's method onto g = 0, from places that are near it
SLACK = 1e-9  # how far off the constraints, beside its size, the start of a run may be


class State(NamedTuple):
    """Positions q and velocities v, shape (..., n)."""

    q: np.ndarray
    v: np.ndarray


class Dense:
    """The motion at any time of a run.

    Between two nodes the equations of motion are followed from the earlier one forwards and from
    the later one backwards, by DOP853 to round-off, and the two motions are mixed by a weight that
    rises smoothly from 0 to 1.  The mixture of two motions that satisfy nonlinear constraints does
    not satisfy them; it is moved onto g(q) = 0 and its velocity into D, so that a run can start
    from any of these states.  The result passes through the nodes, has a continuous derivative,
    and its error is that of the nodes: any order of a method is kept.

    The velocity at a node of a discrete method is the admissible one nearest to its momentum:
    these methods put the impulse of the constraints at the nodes, so that the evolved momentum
    lies before it and is off D by O(h).  Nodes of methods that leave the constraints, as RK4 does,
    are moved onto them if no run could start there; all others stay as they are stored.

    sol : a Trajectory; or the ``Runs`` of several, whose steps are then told by the nodes they
        begin with
    """

    def __init__(self, sol: Trajectory | Runs) -> None:
        self.sol, self.system = sol, sol.system
        if sol.inputs and sol.every != 1:
            raise ValueError(
                "between the nodes of a driven run the inputs of every step are needed; integrate "
                "with every=1"
            )

    @cached_property
    def y(self) -> np.ndarray:
        """(N+1, len(q) + n) the nodes."""
        sol, s = self.sol, self.sol.driven(slice(None))
        q, v = sol.q, sol.v
        if sol.method.discrete and s.m:
            v = admissible(s, q, sol.p, v, sol.t)
        if s.m and (off := is_off(s, q, v, sol.t)).any():
            near = onto_constraints(s, q, v, sol.t)
            q, v = (np.where(off[:, None], new, x) for new, x in zip(near, (q, v), strict=True))
        return np.concatenate([q, v], -1)

    def __call__(self, t: np.ndarray, nodes: np.ndarray | None = None) -> State:
        """q and v at the times t, shape (K,); of steps that begin at these nodes, if given."""
        sol = self.sol
        if nodes is None:
            nodes = np.clip(np.searchsorted(sol.t, t, side="right") - 1, 0, max(len(sol) - 2, 0))
        if len(sol) == 1 or not len(t):
            return self._split(self.y[np.zeros(len(t), int)])
        begin, end = sol.t[nodes], sol.t[nodes + 1]
        part = ((t - begin) / (end - begin))[:, None]
        weight = part * part * (3 - 2 * part)
        driven = sol.driven(nodes + 1)
        before = flow(driven, begin, self.y[nodes], t - begin)
        after = flow(driven, end, self.y[nodes + 1], t - end)
        q, v = self._split(before + weight * (after - before))
        q = np.stack(self.system.normalise(np.moveaxis(q, -1, 0)), -1)
        if self.system.m:
            q, v = onto_constraints(driven, q, v, t)
        y = np.where(part == 0, before, np.concatenate([q, v], -1))
        return self._split(np.where(part == 1, after, y))

    def _split(self, y: np.ndarray) -> State:
        return State(*np.split(y, [len(self.system.q)], -1))


def state_at(sol: Trajectory, t: ArrayLike) -> State:
    """Positions and velocities at any times t within the run, of any shape.

    Between the nodes the equations of motion are followed from either side (see ``Dense``), so
    that the order is the method's own.  The states satisfy the constraints, so that
    ``nh.integrate(system, method, *sol(t), h=..., steps=...)`` starts from any of them.  At the
    nodes q is what is stored, unless the method has left the constraints there.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.RK4(), h=0.1, T=1)
    >>> q, v = sol(0.55)
    >>> q.shape, sol([0.1, 0.25, 0.7]).v.shape
    ((3,), (3, 3))
    >>> bool(abs(sol.at("x", 0.55) - q[0]) == 0)
    True
    """
    t = times_of(sol, t)
    q, v = sol.dense(t.ravel())
    return State(q.reshape(*t.shape, -1), v.reshape(*t.shape, -1))


def times_of(sol: Trajectory, t: ArrayLike) -> np.ndarray:
    """t as an array; ValueError if the run does not reach it by more than round-off."""
    if isinstance(t, str):
        raise ValueError(f"t = {t!r} is no time; a column is sol[{t!r}], or sol.at({t!r}, t)")
    t = read_array(t, "t", finite=True)
    first, last = float(sol.t[0]), float(sol.t[-1])
    slack = 4 * np.spacing(max(abs(first), abs(last)))
    if np.any((t < first - slack) | (t > last + slack)):
        raise ValueError(f"t = {brief(t.tolist())} lies outside of the run, {first:g} to {last:g}")
    return np.clip(t, first, last)


def admissible(
    system: System, q: np.ndarray, p: np.ndarray, v: np.ndarray, t: ArrayLike
) -> np.ndarray:
    """The velocities with dL/dv = p - A^T mu for some mu, and A v + b = 0; v is a guess.

    This is the projection in the metric M, also where M depends on the velocity.
    """
    n, m = len(system.v), system.m
    A, b = system.independent_forms(q, v, t), system.b(q, t)
    matrix, right = np.zeros((*v.shape[:-1], n + m, n + m)), np.empty((*v.shape[:-1], n + m))
    matrix[..., :n, n:], matrix[..., n:, :n] = np.swapaxes(A, -1, -2), A
    for _ in range(1 if system.is_mechanical else 12):
        matrix[..., :n, :n] = system.M(q, v, t)
        right[..., :n] = p - system.momentum(q, v, t)
        right[..., n:] = -b - np.einsum("...ai,...i->...a", A, v)
        v = v + solved(matrix, right[..., None], "the projection onto D")[..., :n, 0]
    return v


def onto_constraints(system: System, q: np.ndarray, v: np.ndarray, t: ArrayLike) -> State:
    """The positions on g = 0 next to these, and there the admissible velocities next to v, both in
    the metric M; for states that are near the constraints already."""
    if system.holonomic:
        q = _on_g(system, q, v, t)
    return State(q, admissible(system, q, system.momentum(q, v, t), v, t))


def _on_g(system: System, q: np.ndarray, v: np.ndarray, t: ArrayLike) -> np.ndarray:
    """Newton's method on g(q) = 0 along M^-1 Dg^T, of all states together."""
    n, m = len(system.q), len(system.holonomic)
    matrix, right = np.zeros((*q.shape[:-1], n + m, n + m)), np.zeros((*q.shape[:-1], n + m))
    matrix[..., :n, :n] = system.M(q, v, t)
    for _ in range(MAX_TURNS):
        slopes = system.values(system.expressions.Dg, q, None, t)
        matrix[..., :n, n:], matrix[..., n:, :n] = np.swapaxes(slopes, -1, -2), slopes
        right[..., n:] = -system.g(q, t)
        step = solved(matrix, right[..., None], "the way to the constraints")[..., :n, 0]
        q = q + step
        if np.all(np.abs(step).max(-1) <= TOLERANCE * (1 + np.abs(q).max(-1))):
            return q
    where = brief(q[np.abs(step).max(-1).argmax()].tolist())
    raise ValueError(f"no position with g = 0 was found near q = {where}; take a smaller h")


def is_off(system: System, q: np.ndarray, v: np.ndarray, t: ArrayLike) -> np.ndarray:
    """(...) True where a state is so far off the constraints that no run could start from it."""
    A, b = system.independent_forms(q, v, t), system.b(q, t)
    residual = np.einsum("...ai,...i->...a", A, v) + b
    size = np.abs(A).max(-1) * np.abs(v).max(-1, keepdims=True) + np.abs(b)
    off = ~(np.abs(residual) <= SLACK * size + 1e-15)
    if system.holonomic:
        size = np.abs(system.values(system.expressions.Dg, q, None, t)).max(-1)
        size = size * np.abs(q).max(-1, keepdims=True)
        off = np.concatenate([off, ~(np.abs(system.g(q, t)) <= SLACK * size + 1e-15)], -1)
    return off.any(-1)


def flow(system: System, t: np.ndarray, y: np.ndarray, dt: np.ndarray) -> np.ndarray:
    """The states y = (q, v) at the times t moved along the motion by dt, all of K states.

    The way of each is divided into equal parts until DOP853's own estimate of its error is
    round-off; how often does not depend on the other states.
    """
    end, places = y.copy(), np.flatnonzero(dt != 0)
    parts, before = 1, np.full(len(places), np.inf)
    while len(places):
        own, now, error = _picked(system, places), y[places], np.zeros(len(places))
        begin, part = t[places], dt[places] / parts
        for k in range(parts):
            now, more = _dop853(own, begin + k * part, now, part)
            error = np.fmax(error, more)
        end[places] = now
        is_round_off = (error < 1e-9) & (error > before / 8)  # for it does not fall
        again = (error > TOLERANCE) & ~is_round_off & (parts < MAX_PARTS)
        places, before, parts = places[again], error[again], 2 * parts
    return end


def _picked(system: System, rows: np.ndarray) -> System:
    """The system of some of many states, for each of which its parameters may have a number."""
    values = {s.name: x[rows] for s, x in system.parameters.items() if np.ndim(x)}
    return system.with_arrays(values, system.is_definite) if values else system


def _dop853(
    system: System, t: np.ndarray, y: np.ndarray, h: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step of all states, and its error beside the size of the states."""
    from scipy.integrate import DOP853

    h, slopes = h[:, None], []
    for c, row in zip(DOP853.C, DOP853.A, strict=True):
        place = y + h * sum(w * k for w, k in zip(row, slopes, strict=False)) if slopes else y
        slopes.append(rates(system, t + c * h[:, 0], place))
    new = y + h * sum(w * k for w, k in zip(DOP853.B, slopes, strict=True))
    size, k = np.maximum(np.abs(y), np.abs(h * slopes[0])), len(system.q)
    for part in (size[:, :k], size[:, k:]):  # positions and velocities have units of their own
        most = part.max(-1, keepdims=True)
        part[:] = np.where(most > 0, np.maximum(part, 1e-3 * most), 1.0)
    e5, e3 = (
        (np.square(sum(w * k for w, k in zip(E, slopes, strict=False)) / size)).sum(-1)
        for E in (DOP853.E5, DOP853.E3)
    )
    return new, np.abs(h[:, 0]) * e5 / np.sqrt((e5 + 0.01 * e3) * y.shape[1] + 1e-300)


def rates(system: System, t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(q', v') of the states y = (q, v), shape (K, len(q) + n)."""
    q, v = np.split(y, [len(system.q)], -1)
    return system.motion.rates(q, v, t)[..., : y.shape[-1]]
