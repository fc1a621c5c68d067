"""The reference run: DOP853 on the equations of motion, generated and maybe compiled."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..methods.layout import Rows
from ..methods.method import velocity_scale
from .arguments import LOG, has_numba
from .dop853 import SINGULAR, SOLVED, STATE, STUCK, Dop853
from .errors import IntegrationError
from .explain import dependent
from .progress import drive
from .resume import Resumed
from .start import first_acceleration

if TYPE_CHECKING:
    from .start import Start
    from .trajectory import Trajectory
    from .watch import Event

LOOK = 500  # steps of the solver, from which the number of all is estimated
CHUNK = {"python": 50, "numba": 5_000}  # steps between looks at the clock and the keyboard
# Steps from which compiling pays: cold, from the cache of an earlier process, compiled.
COMPILE_FROM = {"cold": 40_000, "cached": 15_000, "compiled": 100}
ARITHMETIC = ZeroDivisionError, OverflowError, ValueError  # what CPython raises in a step
MAX_STEPS = 10_000_000  # of the solver that a run may need: an hour


class TooLong(ValueError):
    """A run that would take hours."""


class ReferenceRun:
    """A run in progress: states y = (q, v) at the times of a grid, which holds the rows and, with
    every > 1, also the times one h before them, for the multipliers of the last step.

    start : of one run;  backend : "python", "numba" or None to let the length of the run decide

    state : as the generated loop keeps it (``dop853``), and where the last step began
    taken, seen : the steps since the run was looked at last, and the time then
    leg : the step whose inputs are held; without inputs there is one leg alone
    """

    unit = "rows"
    events: Sequence[Event] = ()  # those that end it

    def __init__(self, start: Start, backend: str | None = None) -> None:
        self.start, self.system, self.h = start, start.system, start.h.item()
        self.backend = backend or "python"
        self.may_compile = backend is None and has_numba()
        start.empty_rows()  # refuses more than there is room for
        self.total, m = start.row_count - 1, start.method
        self.times = start.t0 + self.h * (start.every * np.arange(start.row_count))
        rows, each = self.times[1:], 1 if start.every == 1 else 2
        self.grid = rows if each == 1 else np.stack([rows - self.h, rows], -1).ravel()
        self.y0 = np.concatenate([start.q0[0], start.v0[0]])
        self.y, self.filled, self.each = np.empty((len(self.grid), len(self.y0))), 0, each
        self.legs, self.leg = start.steps if start.inputs else 1, 0
        self.rtol = m.rtol
        self.atol = np.broadcast_to(
            m.rtol * self._size() if m.atol is None else m.atol, self.y0.shape
        )
        self.program = self.system.memoised(
            ("dop853", self.system.is_definite), lambda: Dop853(self.system)
        )
        self.state = self._first_state()
        self.steps_since_look, self.time_of_look, self.has_looked = 0, self.state[0], False

    def _first_state(self) -> np.ndarray:
        """The state to begin with; of a run that goes on, the one where its last step began."""
        before = getattr(self.start, "solver_state", None)
        self.restored = isinstance(self.start, Resumed)
        if self.restored and before is not None:
            self._restore()
            first = before[: STATE + len(self.y0)]
        elif self.restored:  # the rows are all that is known, as of an old file
            self._restore()
            t = self.times[self.done]
            first = self._fresh(t, self.y[self.filled - 1])
        else:
            first = self._fresh(self.start.t0, self.y0)
        return np.concatenate([first, first])

    def _fresh(self, t: float, y: np.ndarray) -> np.ndarray:
        size = self._solver(t, y, np.inf).h_abs
        return np.concatenate([[t, size, 0.0, 0.0], y])

    def _restore(self) -> None:
        """Take over the rows of the run that this one goes on with."""
        start, done = self.start, self.start.done // self.start.every
        rows = Rows(start.layout, start.stored)
        y = np.concatenate([rows.q, rows.v], -1)
        self.filled = self.each * done
        self.y[self.each - 1 : self.filled : self.each] = y[1:]
        self.leg = self._leg_at(self.times[done])
        if start.solver_state is not None:  # y before a quaternion was made a unit one
            self.y[self.filled - 1] = start.solver_state[-y.shape[1] :]
            self.leg = self._leg_at(start.solver_state[0])

    def _leg_at(self, t: float) -> int:
        if self.legs == 1:
            return 0
        edges = self.start.t0 + self.h * np.arange(self.legs + 1)
        return int(np.searchsorted(edges, t, side="right")) - 1

    @property
    def done(self) -> int:
        """The number of rows behind the first that are known."""
        return self.filled // self.each

    def stored(self, done: int) -> int:
        return done

    @property
    def end(self) -> float:
        """Until when the inputs are held: the end of the run, without inputs."""
        last = self.leg + 1 >= self.legs
        return self.times[-1] if last else self.start.t0 + self.h * (self.leg + 1)

    def _solver(self, t: float, y: np.ndarray, end: float, first_step: float | None = None) -> Any:
        """SciPy's own DOP853 from here, whose equations are solved with pivoting if need be."""
        from scipy.integrate import DOP853

        motion, size = self.start.at_step(self.leg).motion, len(y)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            return np.array(motion(float(t), y.tolist())[:size])

        options = {"rtol": self.rtol, "atol": self.atol, "first_step": first_step}
        return DOP853(rates, t, y, end, **options)

    def _size(self) -> np.ndarray:
        """The size of the initial state, which errors are measured against."""
        s, t0, h = self.system, self.start.t0, self.h
        q0, v0 = self.start.q0[0], self.start.v0[0]
        a0 = first_acceleration(s, t0, q0, v0)
        far, fast = np.abs(q0).max(), np.abs(a0).max()
        if far > 0 and fast > 0:  # a fast oscillation turns round long before h
            h = min(h, math.sqrt(far / fast))
        v = velocity_scale(v0, a0, h)
        if s.is_mechanical and s.is_definite_at(q0, v0, t0):
            # A coordinate at rest will move, too: at the speed that its mass and the energy allow.
            M = s.M(q0, None, t0)
            with np.errstate(all="ignore"):  # of a huge a0
                energy = max(x @ M @ x for x in (v0, h * a0))
                allowed = np.nan_to_num(np.sqrt(energy / np.diag(M)), posinf=0.0)
            rest = np.maximum(np.abs(v0), h * np.abs(a0)) < 1e-12 * allowed
            v = np.where(rest, np.maximum(v, 1e-3 * allowed), v)
        speed = v if len(s.v) == len(s.q) else v.max()
        return np.concatenate([np.maximum(np.abs(q0), h * speed), v])

    def go(self, progress: bool | None = None) -> None:
        """Take all steps."""
        drive(self, progress)

    def advance(self) -> None:
        """A chunk of steps by the generated loop, and one by SciPy where that cannot go on."""
        try:
            with np.errstate(all="ignore"):  # a step that overflows is made smaller
                self._chunk()
        except ValueError as error:
            raise self._error(error) from None

    def _chunk(self) -> None:
        chunk = CHUNK[self.backend]
        try:
            rest, reason = self._take(chunk)
        except ARITHMETIC:  # CPython raises where others go on with infinities
            rest, reason = self._one_by_one(chunk)
        if reason == SINGULAR:
            self._carefully()
        elif reason == STUCK:
            raise ValueError(f"the step size fell to {self.state[1]:.1e}")
        self._look_ahead(self.state[0], chunk - rest)
        if self.state[0] >= self.end and self.leg + 1 < self.legs:
            self.leg += 1
        elif self.may_compile and self.has_looked and self._is_long():
            self.backend, self.may_compile = "numba", False

    def _is_long(self) -> bool:
        """True if so many steps are left that compiling pays."""
        rest = (self.times[-1] - self.state[0]) / max(self.state[1], 1e-300)
        return rest >= COMPILE_FROM[self.program.compile_state]

    def _take(self, count: int) -> tuple[int, int]:
        """At most so many steps by the generated loop: the count left, and how it ended."""
        held = self.legs > 1 or self.start.inputs
        parameters = self.start.at_step(self.leg).parameters.values()
        least = 1e-9 * (self.times[-1] - self.times[0])
        about = (count, self.end, bool(held), self.rtol, least, *self.atol.tolist(), *parameters)
        if self.backend == "numba":
            result = self.program.numba(self.state, self.grid, self.y, self.filled, *about)
            self.filled, rest, reason = result
            return rest, reason
        state, out = self.state.tolist(), []
        result = self.program.python(state, self.grid, out, self.filled, *about)
        n, rest, reason = result
        if out:
            self.y[self.filled : n] = np.reshape(out, (n - self.filled, -1))
        self.filled, self.state = n, np.array(state)
        return rest, reason

    def _one_by_one(self, count: int) -> tuple[int, int]:
        while count:
            try:
                rest, reason = self._take(1)
            except ARITHMETIC:
                return count, SINGULAR
            if rest or reason:
                return count, reason
            count -= 1
        return 0, SOLVED

    def _carefully(self) -> None:
        """One step by SciPy, with pivoting; not beyond the end of the run, where there may be no
        motion."""
        width = len(self.state) // 2
        LOG.debug("a step at t = %g is taken by SciPy, with pivoting", self.state[0])
        t, size, _, tiny, *y = self.state[:width]
        last = self.times[-1] if t + size > self.times[-1] else np.inf
        bound = self.end if self.start.inputs else last
        solver = self._solver(t, np.array(y), bound, min(size, bound - t))
        problem = solver.step()
        if solver.status == "failed":
            raise ValueError(problem)
        stop = int(np.searchsorted(self.grid, solver.t, side="right"))
        if stop > self.filled:
            self.y[self.filled : stop] = solver.dense_output()(self.grid[self.filled : stop]).T
            self.filled = stop
        tiny = tiny + 1 if solver.step_size < 1e-9 * (self.times[-1] - self.times[0]) else 0
        if tiny > 50:
            raise ValueError(f"the step size fell to {solver.step_size:.1e}")
        new = [solver.t, solver.h_abs, 0.0, tiny, *solver.y]
        self.state = np.concatenate([new, self.state[:width]])
        self.steps_since_look += 1

    def _look_ahead(self, t: float, count: int) -> None:
        """Refuse to go on if the rest would take hours: a fast oscillation needs all its steps."""
        self.steps_since_look += count
        if self.steps_since_look < LOOK:
            return
        size = (t - self.time_of_look) / self.steps_since_look
        if self.times[-1] - t > MAX_STEPS * size:
            count = (self.times[-1] - t) / size if size > 0 else math.inf
            raise TooLong(f"its steps are {size:.1e} long, and {count:.0e} of them are left")
        self.steps_since_look, self.time_of_look, self.has_looked = 0, t, True

    def _error(self, error: ValueError) -> IntegrationError:
        (here, v), (there, _) = self._parts(self._rows()[-1]), self._parts(self._now)
        time, step = self.times[self.done], self.done * self.start.every
        reason = dependent(self.system, [here, there], v, time) or f"the motion ends here: {error}"
        advice = "The constraints or M degenerate, or the motion is singular."
        if isinstance(error, TooLong):
            reason = f"the motion is too fast for nh.Reference: {error}"
            advice = "Ask for a shorter time, take a larger rtol, or slow the motion down."
        where = {"method": self.start.method, "step": step, "time": time, "residual": math.nan}
        part = self.trajectory("stopped: " + reason)
        return IntegrationError(reason, advice=advice, trajectory=part, **where)

    @property
    def _now(self) -> np.ndarray:
        return self.state[STATE : len(self.state) // 2]

    def _rows(self) -> np.ndarray:
        """(done + 1, ...) the states at the rows."""
        return np.concatenate([self.y0[None], self.y[self.each - 1 : self.filled : self.each]])

    def _parts(self, y: np.ndarray) -> list[np.ndarray]:
        return np.split(y, [len(self.system.q)], -1)

    def _multipliers(self, old: int) -> np.ndarray:
        """Of the states one h before the rows after the ``old`` ones; NaN where there are none."""
        start, t = self.start, self.times[old + 1 : self.done + 1] - self.h
        before = self._rows()[:-1] if self.each == 1 else self.y[: 2 * self.done : 2]
        q, v = self._parts(before[old:])
        if not start.inputs:
            with contextlib.suppress(ValueError):
                return start.system.multipliers(q, v, t)
        lam = np.full((len(t), start.system.m), np.nan)
        for k in range(len(t)):  # one by one: the inputs differ, or one state has none
            with contextlib.suppress(ValueError):
                now = start.at_step((old + k + 1) * start.every - 1)
                lam[k] = now.multipliers(q[k], v[k], t[k])
        return lam

    def trajectory(self, message: str = "") -> Trajectory:
        rows = self._rows()
        q, v = self._parts(rows)
        q = np.stack(self.system.normalise(np.moveaxis(q, -1, 0)), -1)
        lam, old = np.zeros((self.done + 1, self.start.layout["lam"])), 0
        if self.restored:
            before = Rows(self.start.layout, self.start.stored)
            old = len(before.q) - 1
            q[: old + 1], lam[: old + 1] = before.q, before.lam
        if lam.size:
            lam[old + 1 :] = -self.h * self._multipliers(old)
        stored = self.start.layout.join(q=q, v=v, lam=lam)
        sol = self.start.trajectory(stored, self.done * self.start.every, message)
        sol.solver_state = np.concatenate([self.state[len(self.state) // 2 :], rows[-1]])
        return sol
