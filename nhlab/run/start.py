"""At the door: the arguments of a run or of many, and the rows that they begin with."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..codegen.careful import careful_step
from ..mechanics.checks import read_number
from ..methods.layout import Rows
from ..methods.method import relative_velocity_scales
from . import arguments
from .inputs import read_inputs
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..codegen.program import Program
    from ..mechanics.system import System
    from ..methods.method import Method
    from .arguments import StateLike


class Start:
    """Checked arguments of K runs, and what they begin with; every array has K entries.

    q0, v0, q1 : (K, n), or v0 or q1 None;  h : (K,);  parameters : name -> (K,), those that vary
    definite : ``System.is_definite`` of all;  inputs : input -> (steps,), the same for all
    row, state, shares : (K, ...) and done : what ``begin`` returns

    Without ``parameters``, not even {}, it is one run: K is 1, and messages name no member.
    """

    def __init__(
        self,
        system: Any,
        method: Any,
        q0: StateLike,
        v0: StateLike,
        *,
        h: Any,
        steps: int | None = None,
        T: float | None = None,
        q1: StateLike = None,
        every: int = 1,
        t0: float = 0.0,
        parameters: Any = None,
        inputs: Any = None,
        u0: StateLike = None,
    ) -> None:
        arguments.check_pair(system, method)
        self.method, self.many = method, parameters is not None
        self.t0, h = read_number(t0, "t0"), arguments.positive(h, self.many)
        steps = arguments.steps_until(T, steps, self.t0, h, every)
        self.steps, self.every = arguments.steps_and_every(steps, every)
        arguments.check_clock(self.t0, h, self.steps)
        times = (
            None if inputs is None or np.ndim(h) else self.t0 + h * (np.arange(self.steps) + 0.5)
        )
        system, self.inputs = read_inputs(system, method, inputs, self.steps, times, parameters)
        self.system = system
        self.system = self.at_step(0)
        v0 = arguments.along_fields(system, q0, v0, q1, u0, parameters or ())
        states, self.parameters = arguments.states(system, method, q0, v0, q1), {}
        if self.many:
            states, self.parameters = arguments.for_all(system, states, h, parameters)
        self.q0, self.v0, self.q1 = arguments.vectors(system, states, self.many)
        self.h = np.full(len(self.q0), h)
        self.definite = arguments.definite(system, self.parameters)
        self.layout = method.layout(system)
        self.initialise()

    # ---- beginning

    def initialise(self) -> None:
        """Check the states and begin; refuse the first member that cannot."""
        is_clear = not self.parameters  # an error of a state of many then says whose it is
        try:
            arguments.check_states(self)
            is_clear = not self.many
            self.row, self.state, self.done, self.shares = begin(self)
            self._check_rows()
        except (ValueError, TypeError):  # TypeError: of arrays, where one state is looked at alone
            if is_clear:
                raise
            self._one_by_one()

    def _check_rows(self) -> None:
        if np.isfinite(self.layout.without_first_energy(self.row)).all():
            return
        name, value = ("v0", self.v0) if self.q1 is None else ("q1", self.q1)
        where = f"q0 = {self.q0[0]}, {name} = {value[0]}"
        raise ValueError(f"L or its derivatives are not finite at {where}; start elsewhere")

    def _one_by_one(self) -> None:
        """Slowly, to name the member that cannot."""
        members = []
        for k in range(len(self)):
            members.append(self.member(k))
            try:
                members[k].initialise()
            except ValueError as error:
                raise ValueError(f"member {k}: {error}") from None
        self.done = members[0].done
        for name in ("row", "state", "shares"):
            setattr(self, name, np.concatenate([getattr(one, name) for one in members]))

    # ---- the members

    def __len__(self) -> int:
        return len(self.q0)

    def take(self, index: Any, **changes: Any) -> Start:
        """The start of these members."""
        new = copy(self)
        for name, x in vars(self).items():
            if isinstance(x, np.ndarray):
                setattr(new, name, x[index])
        new.parameters = {name: x[index] for name, x in self.parameters.items()}
        for name in ("batched_system", "program"):  # which belong to all
            vars(new).pop(name, None)
        vars(new).update(changes)
        return new

    def member(self, k: int) -> Start:
        """The start of run k alone."""
        values, system = {name: x[k] for name, x in self.parameters.items()}, self.system
        if values:
            system = system.set(**values).with_arrays({}, self.definite)
        return self.take(slice(k, k + 1), system=system, parameters={}, many=False)

    # ---- what follows from it

    def at_step(self, k: int, system: System | None = None) -> System:
        """The system, or this one, with its inputs in step k."""
        system = self.system if system is None else system
        if not self.inputs:
            return system
        now = {u: float(x[k]) if k < len(x) else 0.0 for u, x in self.inputs.items()}
        return system.with_input_values(now)

    @cached_property
    def batched_system(self) -> System:
        """The system of all members: with arrays for the parameters that vary."""
        if not self.parameters:
            return self.system
        return self.system.with_arrays(self.parameters, self.definite)

    @cached_property
    def program(self) -> Program:
        """The generated code of a step, the same for all members."""
        return self.method.program(self.batched_system)

    @property
    def row_count(self) -> int:
        """The number of rows that a run stores."""
        return self.steps // self.every + 1

    def empty_rows(self, *count: int) -> np.ndarray:
        """Room for the rows of so many runs."""
        shape = (*count, self.row_count, self.layout.width)
        try:
            return np.empty(shape)
        except (MemoryError, OverflowError, ValueError):  # the last two: beyond any index
            need = f"steps = {self.steps} with every = {self.every} need room for rows of shape"
            advice = "a larger every stores fewer; of an ensemble, summary keeps none"
            raise ValueError(f"{need} {shape}, which there is not; {advice}") from None

    def trajectory(self, rows: np.ndarray, done: int, message: str = "") -> Trajectory:
        """The run of a single member, as far as it went."""
        rows, q1_given = rows[: done // self.every + 1], self.q1 is not None
        about = {"every": self.every, "message": message, "q1_given": q1_given}
        last = np.maximum(self.every * np.arange(len(rows)) - 1, 0)
        about["inputs"] = {u.name: np.append(x, 0.0)[last] for u, x in self.inputs.items()}
        system = self.system.without_input_values()
        return Trajectory(system, self.method, rows, t0=self.t0, h=self.h[0], **about)


# ---------------------------------------------------------------------------- the first rows


def begin(start: Start) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Row 0, the state to go on from, the steps done in it, and the shares of the velocities.

    The state is row 0 or, where the first step is given (q1) or belongs to another method (EDLA),
    row 1.
    """
    m, s, t0 = start.method, start.batched_system, start.t0
    at = slice(None) if start.many else 0  # numbers are faster than arrays of one
    q0, v0, q1, h = (x if x is None else x[at] for x in (start.q0, start.v0, start.q1, start.h))
    v = v0 if q1 is None else arguments.second_velocity(s, q0, q1, h)
    a = first_acceleration(s, t0, q0, v) if q1 is None else np.zeros_like(v)
    with np.errstate(all="ignore"):  # what is not finite is refused afterwards
        shares = relative_velocity_scales(v, a, h)
        none = {"lam": np.zeros(start.layout["lam"]), "u": s.u(q0, v, t0) if s.fields else ()}
        if q1 is None:
            p = m.start_momentum(s, t0, q0, v, h) if m.discrete else None
            first = second = {"q": q0, "p": p, "v": v, **none}
        else:
            p_minus, p_plus = (m.on_step(s, x, t0, q0, v, h) for x in ("p_minus", "p_plus"))
            first = {"q": q0, "p": m.arriving(s, t0, q0, p_minus), "v": v, **none}
            second = {"q": q1, "p": p_plus, "v": v, **none}
        if m.variable_step:
            if q1 is None:
                layout = m.first_step.layout(s)
                rows = one_step(m.first_step, s, t0, h, layout.join(**first), shares)
                second = vars(Rows(layout, rows))
            e = m.on_step(s, "E_plus", t0, q0, second["v"], h)
            own = {"h": h, "h_before": h, "e": e}
            first, second = first | own | {"t": t0}, second | own | {"t": t0 + h}
            if not np.isfinite(e).all():  # a first step failed: what is stored is that of q0, v0
                first["e"] = np.where(np.isfinite(e), e, s.energy(q0, v, t0))
    row, done = np.atleast_2d(start.layout.join(**first)), int(second is not first)
    state = np.atleast_2d(start.layout.join(**second)) if done else row.copy()
    return row, state, done, np.atleast_2d(shares)


def first_acceleration(system: System, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    try:
        return system.acceleration(q, v, t)
    except ValueError as error:
        remedy = "start elsewhere, or choose coordinates that do not end there, as polar ones do"
        raise ValueError(f"there is no motion from q0 = {q}, v0 = {v}: {error}; {remedy}") from None


def one_step(
    method: Method, system: System, t: float, h: ArrayLike, rows: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """One step of a row or of each of many, with pivoting where need be; NaN where it fails.

    The rows take their steps one by one, for functions of arrays may differ from those of numbers
    in the last digit, and a member of an ensemble begins like a single run.
    """
    program, one = method.program(system), rows.ndim == 1
    args = method.arguments(system, shares.tolist() if one else shares.T)
    numbers = [np.broadcast_to(x, rows.shape[:-1]).tolist() for x in (h, *args)]
    result = np.full_like(rows, np.nan)
    for k in [()] if one else range(len(rows)):
        own = [x if one else x[k] for x in numbers]
        ok, *new = program.one_step(t, own[0], *rows[k].tolist(), *own[1:])
        if not ok:
            again = careful_step(program.statement, t, own[0], rows[k].tolist(), own[1:])
            new = [again.h, *(again.carry if again.ok else result[k])]
        result[k] = new[1:]
    return result
