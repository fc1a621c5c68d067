"""Going on with a run that has ended: the state, the clock and the tolerances it would have had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ..methods.layout import Rows
from ..methods.method import relative_velocity_scales
from . import arguments
from .inputs import read_inputs
from .start import Start, first_acceleration
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..mechanics.system import System


class Resumed(Start):
    """The start of a run that goes on from the last stored node of another.

    It has all that ``Start`` has, but ``row`` is the first row of the earlier run, ``done`` the
    number of its steps and ``stored`` its rows; so the whole run is the result, and steps, times
    and Newton's tolerances are those of a run that had not stopped.

    Parameters
    ----------
    sol : the run to go on with, of at least one stored step
    steps : number of further steps;  T : or the time until which to run
    inputs : of the further steps, as in ``nh.integrate``
    """

    def __init__(
        self, sol: Trajectory, steps: int | None, T: float | None, inputs: dict | None
    ) -> None:
        self.method, self.many, self.parameters = sol.method, False, {}
        self.t0, self.every, self.done = sol.t0, sol.every, sol.steps
        self.h, self.stored, rows = np.full(1, sol.h0), sol.rows.array, sol.rows
        self.solver_state = sol.solver_state
        _check_time(sol, T)
        more = arguments.steps_until(T, steps, float(sol.t[-1]), sol.h0, sol.every)
        more, _ = arguments.steps_and_every(more, sol.every)
        self.steps = self.done + more
        arguments.check_clock(self.t0, sol.h0, self.steps)
        self.system, self.inputs = _all_inputs(sol, inputs, self.steps)
        self.system = self.at_step(0)
        self.definite, self.layout = sol.system.is_definite, sol.method.layout(sol.system)
        self.q0, self.v0 = rows.q[:1], rows.v[:1]
        self.q1 = rows.q[1:2] if sol.q1_given else None
        self.row, self.state = self.stored[:1], self.stored[-1:].copy()
        a = np.zeros_like(rows.v[0])
        if not sol.q1_given:
            a = first_acceleration(self.system, self.t0, rows.q[0], rows.v[0])
        with np.errstate(all="ignore"):
            self.shares = np.atleast_2d(relative_velocity_scales(rows.v[0], a, sol.h0))

    def empty_rows(self, *count: int) -> np.ndarray:
        """Room for all rows; the first are those of the earlier run."""
        rows = super().empty_rows(*count)
        rows[: len(self.stored)] = self.stored
        return rows


def resume(sol: Trajectory, steps: int | None, T: float | None, inputs: dict | None) -> Start:
    """The start of a run that goes on with ``sol``: a new one where no step was stored."""
    if sol.steps:
        return Resumed(sol, steps, T, inputs)
    q0, v0 = sol.q[0], sol.rows.v[0]
    second = sol.system.move(q0, v0, sol.h0) if sol.q1_given else None
    about = {"h": sol.h0, "steps": steps, "T": T, "every": sol.every, "t0": sol.t0}
    v0 = None if sol.q1_given else v0
    return Start(sol.system, sol.method, q0, v0, q1=second, inputs=inputs, **about)


def _check_time(sol: Trajectory, T: float | None) -> None:
    """Refuse to go on until a time that the run has passed."""
    end = float(sol.t[-1])
    if T is not None and arguments.read_number(T, "T") < end:
        raise ValueError(
            f"T = {T:g} lies before t = {end:g}, where this run ends; sol({T:g}) is its state there"
        )


def _all_inputs(
    sol: Trajectory, inputs: dict | None, steps: int
) -> tuple[System, dict[sp.Symbol, np.ndarray]]:
    """The system, and input -> (steps,) values of all steps; of the earlier ones those stored."""
    done, every = sol.steps, sol.every
    times = None
    if not sol.method.variable_step:
        times = sol.t0 + sol.h0 * (np.arange(done, steps) + 0.5)
    what = "going on with a run"
    system, new = read_inputs(sol.system, sol.method, inputs, steps - done, times, None, what)
    if system is not sol.system:
        raise ValueError(
            "inputs: a feedback makes another system, so this run cannot go on with it; integrate "
            "from sol(t) at the last time t of the run"
        )
    found = {}
    for u, values in new.items():
        before = np.full(done, np.nan)
        before[every - 1 :: every] = sol.inputs[u.name][1:]
        found[u] = np.concatenate([before, values])
    return system, found


def refuse_other_arguments(sol: Trajectory, every: int, t0: float, **others: Any) -> None:
    """Raise ValueError for arguments that a run to go on with has already."""
    others |= {"every": None if every in (1, sol.every) else every, "t0": t0 or None}
    for name, value in others.items():
        if value is not None:
            raise ValueError(
                f"{name} = {arguments.brief(value)}: a run that goes on keeps its {name}; give "
                "nh.integrate the run and steps or T alone, or begin a new one from sol(t)"
            )


def cut(sol: Trajectory, nodes: int) -> Trajectory:
    """The first so many nodes of a run."""
    if nodes >= len(sol):
        return sol
    inputs = {name: x[:nodes] for name, x in sol.inputs.items()}
    about = {"t0": sol.t0, "h": sol.h0, "every": sol.every, "q1_given": sol.q1_given}
    rows = Rows(sol.method.layout(sol.system), sol.rows.array[:nodes]).array
    return Trajectory(sol.system, sol.method, rows, message=sol.message, inputs=inputs, **about)
