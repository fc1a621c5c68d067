"""The motion near a steady one: its linearisation on the constraints, with exact derivatives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot, jacobian
from ..codegen.evaluate import Function
from ..codegen.statement import dummy
from ..mechanics.checks import need, sequence
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.motion import motion_stage
from ..mechanics.system import System
from ..mechanics.velocities import complete_velocity, free_velocities, independent, start_of
from ..methods import Reference
from ..run.loop import integrate

STEADY = 1e-7  # rates that count as zero, measured against those nearby
SHIFTS = 0.7, -1.3  # how far an ignorable coordinate is moved in the trial


@dataclass(frozen=True, eq=False)
class Linear:
    """z' = A z + B u for small changes z of the ``state``, u of the ``inputs``.

    state : names of the coordinates, then of the velocities that the constraints leave free
    ignorable : coordinates that nothing depends on; they may advance, and are no part of the state
    q, v : the steady motion, with all its coordinates and velocities
    """

    system: System
    q: np.ndarray
    v: np.ndarray
    state: tuple[str, ...]
    ignorable: tuple[str, ...]
    A: np.ndarray
    inputs: tuple[str, ...]
    B: np.ndarray

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A, the fastest growing last."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, values.real))]

    def feedback(self, Q: ArrayLike | None = None, R: ArrayLike | None = None) -> np.ndarray:
        """Gains (inputs, state) of the linear-quadratic regulator: u = -gains z minimises the
        integral of z.Q z + u.R u; by default both weights are 1."""
        from scipy.linalg import solve_continuous_are

        Q, R = (
            np.eye(len(names)) if x is None else np.asarray(x, float)
            for x, names in ((Q, self.state), (R, self.inputs))
        )
        try:
            gains = np.linalg.solve(R, self.B.T @ solve_continuous_are(self.A, self.B, Q, R))
            if not (np.linalg.eigvals(self.A - self.B @ gains).real < 0).all():
                raise ValueError("a part that grows is out of their reach")
        except (np.linalg.LinAlgError, ValueError) as error:
            raise ValueError(
                f"no feedback of the inputs {list(self.inputs)} with Q, R of shapes {Q.shape}, "
                f"{R.shape} steadies the state {list(self.state)}: {error}"
            ) from None
        return gains

    def law(self, gains: ArrayLike) -> dict[str, sp.Expr]:
        """u = -gains (z - steady z) as expressions, the ``inputs`` of ``nh.integrate``."""
        s = self.system
        at = dict(zip((*s.q, *s.v), (*self.q, *self.v), strict=True))
        z = [x - float(at[x]) for name in self.state for x in at if x.name == name]
        rows = np.asarray(gains, float).tolist()
        return {u: -dot(row, z) for u, row in zip(self.inputs, rows, strict=True)}

    @property
    def growth(self) -> float:
        """The largest real part: positive where the steady motion is unstable."""
        return float(self.eigenvalues.real.max())

    def __repr__(self) -> str:
        name = self.system.label
        drive = f" + B u, u = ({', '.join(self.inputs)})" if self.inputs else ""
        lines = [f"Linearised {name}: z' = A z{drive}, z = ({', '.join(self.state)})"]
        if self.ignorable:
            lines.append(f"ignorable: {', '.join(self.ignorable)}")
        values = _pairs(self.eigenvalues, np.abs(self.A).max(initial=0))
        lines.append(f"eigenvalues: {', '.join(values)}")
        return "\n".join(lines)


def linearise(
    system: System,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    inputs: Sequence[str | sp.Symbol] = (),
) -> Linear:
    """The linearised motion about a steady one: about an equilibrium, or about a motion in which
    only ignorable coordinates advance and the free velocities are constant.

    Parameters
    ----------
    system : an nh.System
    q0, v0 : the steady motion; without them the system's own start
    inputs : names of parameters, such as torques, whose small changes drive the motion, Linear.B;
        those that have no value are taken to be 0 here

    ValueError says how far (q0, v0) is from a steady motion.  A steady turn is seen as one if the
    velocities that turn with it, as (vx, vy) of a rolling wheel, can be the dependent ones.

    Examples
    --------
    >>> import nhlab as nh
    >>> segway = nh.systems.segway()
    >>> upright = nh.linearise(segway, [0] * 6, [0] * 6, inputs=["tleft", "tright"])
    >>> round(upright.growth, 2)
    5.17
    >>> gains = upright.feedback()
    >>> held = nh.integrate(segway, nh.DLA(), inputs=upright.law(gains), h=0.02, steps=400)
    >>> bool(abs(held.q[-1, 3]) < 0.01)
    True
    """
    need(system, System, "system", "nh.System")
    if system.t is not None:
        raise ValueError(f"{system!r} depends on time; only autonomous systems have steady motions")
    inputs = tuple(getattr(u, "name", u) for u in sequence(inputs))
    names = sorted(s.name for s in system.parameters)
    for name in inputs:
        if name not in names:
            raise ValueError(f"inputs: {name!r} is no parameter here; there are {names}")
    numbers = {s.name for s in system.numbers}
    if unset := {name: 0.0 for name in inputs if name not in numbers}:
        system = system.set(**unset)
    q0, v0 = start_of(system, q0, v0)
    start = integrate(system, Reference(), q0, v0, h=1.0, steps=0)  # refuses what is no state
    near = _Neighbourhood(system, start.q[0], start.v[0], inputs)
    ignorable = near.ignorable()
    near.require_steady(ignorable)
    near.require_coordinates(ignorable)
    rows = [k for k in range(len(near.names)) if k not in ignorable]
    return Linear(
        system,
        near.q,
        near.v,
        tuple(near.names[k] for k in rows),
        tuple(near.names[k] for k in ignorable),
        near.J[np.ix_(rows, rows)],
        inputs,
        near.B[rows],
    )


class _Neighbourhood:
    """The states near (q, v), in independent coordinates and free velocities, and how they change.

    J, B : the derivatives of the rates by the state and by the inputs
    """

    def __init__(
        self, system: System, q: np.ndarray, v: np.ndarray, inputs: tuple[str, ...]
    ) -> None:
        self.system, self.q, self.v = system, q, v
        self.free = free_velocities(system, q)
        rows, l = system.independent_forms(q, v), len(system.holonomic)
        self.places = independent(rows[len(rows) - l :])
        N = _lift(rows[len(rows) - l :], self.places)
        self.names = [_place_names(system)[k] for k in self.places]
        self.names += [system.v[k].name for k in self.free]
        a_q, a_v, a_u, turn, frame = _derivatives(system, q, v, inputs)
        lift = _lift(rows, self.free)  # of a free velocity to all
        bound = [k for k in range(len(v)) if k not in self.free]
        by_place = np.zeros((len(v), len(v)))
        by_place[bound] = -np.linalg.solve(rows[:, bound], turn @ frame)
        by_place = by_place @ N
        by_q = a_q @ frame @ N + a_v @ by_place
        top = [by_place[self.places], lift[self.places]]
        self.J = np.block([top, [by_q[self.free], (a_v @ lift)[self.free]]])
        self.B = np.vstack([np.zeros((len(self.places), len(inputs))), a_u[self.free]])

    def rates(self, q: np.ndarray) -> np.ndarray:
        """Of the state, at q and with the free velocities of v."""
        v = complete_velocity(self.system, q, self.v, self.free)
        return np.concatenate([v[self.places], self.system.acceleration(q, v)[self.free]])

    @cached_property
    def scale(self) -> np.ndarray:
        """How large the rates of places and those of velocities are nearby: a unit of q away, or
        in a unit of time."""
        k, speed = len(self.places), np.abs(self.v).max()
        rates = np.abs(self.J) @ np.concatenate([np.ones(k), np.abs(self.v[self.free])])
        largest = [np.max(part, initial=speed) for part in (rates[:k], rates[k:])]
        return np.repeat(largest, [k, len(rates) - k])

    def ignorable(self) -> list[int]:
        """The largest set of coordinates on which no rate depends but their own."""
        candidates, here = list(range(len(self.places))), self.rates(self.q)
        small = STEADY * (self.scale + np.abs(here))
        changed = {k: self._changes(k, here, small) for k in candidates}
        while True:
            others = [k for k in range(len(here)) if k not in candidates]
            fewer = [k for k in candidates if not changed[k][others].any()]
            if len(fewer) == len(candidates):
                return candidates
            candidates = fewer

    def _changes(self, k: int, here: np.ndarray, small: np.ndarray) -> np.ndarray:
        """Which rates depend on coordinate k."""
        way = np.eye(len(self.system.v))[self.places[k]]
        changes = np.zeros(len(here), bool)
        for s in SHIFTS:
            q = self.system.move(self.q, way, s)
            if np.abs(self.system.g(q)).max(initial=0) > STEADY:
                return np.ones(len(here), bool)  # it leaves the holonomic constraints
            try:
                changes |= ~(np.abs(self.rates(q) - here) <= small)
            except ValueError:  # a singularity lies there
                return np.ones(len(here), bool)
        return changes

    def require_steady(self, ignorable: Collection[int]) -> None:
        rates = self.rates(self.q)
        off = {
            name: rates[k]
            for k, name in enumerate(self.names)
            if k not in ignorable and abs(rates[k]) > STEADY * self.scale[k]
        }
        if off:
            worst = max(off, key=lambda name: abs(off[name]))
            raise ValueError(
                f"(q0, v0) is no steady motion of {self.system!r}: {worst} changes at the rate "
                f"{off[worst]:.3g}, and {sorted(off)} must not change; start from an equilibrium, "
                "or from a motion in which only ignorable coordinates advance"
            )

    def require_coordinates(self, ignorable: Collection[int]) -> None:
        """On a group the turns do not commute: what depends on them needs other coordinates."""
        s = self.system
        if isinstance(s, GroupSystem) and not {*range(s.k, len(s.v))} <= {*ignorable}:
            raise ValueError(
                f"the motion of {s!r} near (q0, v0) depends on its pose; state the system in "
                "angles, as nh.System, to linearise it there"
            )


def _place_names(system: System) -> list[str]:
    """Of the ways in which a place can change; on a group those of the body, as integrals."""
    k = system.k if isinstance(system, GroupSystem) else len(system.q)
    return [s.name for s in system.q[:k]] + [f"∫{u.name}" for u in system.v[k:]]


def _lift(rows: np.ndarray, free: Sequence[int]) -> np.ndarray:
    """The matrix that gives all components of a vector with rows . x = 0 from the free ones."""
    bound = [k for k in range(rows.shape[-1]) if k not in free]
    lift = np.zeros((rows.shape[-1], len(free)))
    lift[free] = np.eye(len(free))
    lift[bound] = -np.linalg.solve(rows[:, bound], rows[:, free])
    return lift


def _derivatives(
    system: System, q: np.ndarray, v: np.ndarray, inputs: tuple[str, ...]
) -> tuple[np.ndarray, ...]:
    """Of the acceleration by q, v and inputs, of A v by q, and of q' by v, at (q, v)."""

    def make() -> Function:
        let = []
        stage = motion_stage(system, dummy("t"), system.q, system.v, let)
        by = (*stage.unknowns, *system.q, *system.v)
        by += tuple(s for name in inputs for s in system.parameters if s.name == name)
        arguments = (system.q, system.v, stage.unknowns, *system.parameters)
        return Function(arguments, *jacobian(stage.equations, by, let))

    f = system.memoised(("linear", inputs), make)
    n, k = len(v), len(q)
    unknowns = system.motion.values(q, v, 0.0)
    table = f(q, v, unknowns, *system.parameters.values())
    size = len(unknowns)
    by = -np.linalg.solve(table[:, :size], table[:, size:])[:n]

    turn = _turn_of_fields(system, q, v) if system.fields else _turn_of_forms(system, q, v)
    frame = np.array([system.values(system.rate(system.q, e), q) for e in np.eye(n)]).T
    return *np.split(by, [k, k + n], 1), turn, frame


def _turn_of_forms(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The derivative of A(q) v by q at fixed v, shape (m, len(q))."""
    S = system.expressions
    rows = system.memoised(
        ("linear", "turn"),
        lambda: S.jacobian([*S.constraints, *S.rates(S.holonomic)], system.q),
    )
    return system.values(rows, q, v).reshape(len(rows), len(q))


def _turn_of_fields(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The same of ``System.independent_forms``: A X = 0 makes it -A d(X u)/dq with u fixed."""
    table = [[[e.diff(x) for x in system.q] for e in field] for field in system.symbolic.fields]
    turn = np.einsum("aij,a->ij", system.values(table, q), system.u(q, v))
    return -system.independent_forms(q, v) @ turn


def _pairs(values: Iterable[complex], size: float) -> Iterator[str]:
    """Complex numbers in words, conjugate ones together, round-off as 0."""
    for z in values:
        re, im = (0.0 if abs(x) < 1e-9 * size else x for x in (z.real, z.imag))
        if im == 0:
            yield f"{re:.6g}"
        elif im > 0:
            yield f"{re:.6g} ± {im:.6g}i"
