"""The reference run: SciPy's DOP853 on the equations of motion."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from ..methods.method import velocity_scale
from .errors import IntegrationError
from .explain import dependent
from .start import first_acceleration

LOOK = 500  # steps of the solver, from which the number of all is estimated
MAX_STEPS = 10_000_000  # of the solver that a run may need: an hour


class TooLong(ValueError):
    """A run that would take hours."""


class ReferenceRun:
    """A run in progress: y = (q, v) at the times of the rows, and one h before each but the first.

    tiny : steps in a row that lead nowhere, as at a singularity
    taken, seen : the solver's steps since it was looked at last, and the time then
    leg : the step whose inputs are held; without inputs there is one leg alone
    """

    unit = "rows"

    def __init__(self, start):
        self.start, self.system, self.h = start, start.system, start.h.item()
        start.empty_rows()  # refuses more than there is room for
        self.done, self.total, self.tiny = 0, start.kept - 1, 0
        self.times = start.t0 + self.h * (start.every * np.arange(start.kept))
        self.taken, self.seen = 0, start.t0
        self.y = np.tile(np.concatenate([start.q0[0], start.v0[0]]), (start.kept, 1))
        self.before = self.y[1:].copy()
        self.legs, self.leg, m = start.steps if start.inputs else 1, 0, start.method
        self.options = {"rtol": m.rtol, "atol": m.rtol * self._size() if m.atol is None else m.atol}
        self.solver = self._solver(self.times[0], self.y[0])

    def _solver(self, t, y):
        """From here to the end of the leg, where the inputs jump."""
        from scipy.integrate import DOP853

        motion, size = self.start.at_step(self.leg).motion, len(y)
        last = self.leg + 1 >= self.legs
        end = self.times[-1] if last else self.start.t0 + self.h * (self.leg + 1)

        def rates(t, y):
            return np.array(motion(float(t), y.tolist())[:size])

        return DOP853(rates, t, y, end, **self.options)

    def _size(self):
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

    def advance(self):
        """One step of the solver, and all rows that it went past."""
        try:
            with np.errstate(all="ignore"):  # SciPy makes a step smaller that overflows
                self._step()
        except ValueError as error:
            raise self._error(error) from None

    def _step(self):
        solver, times = self.solver, self.times
        problem = solver.step()
        if solver.status == "failed":  # then the first step has no size
            raise ValueError(problem)
        self.tiny = self.tiny + 1 if solver.step_size < 1e-9 * (times[-1] - times[0]) else 0
        if self.tiny > 50:
            raise ValueError(f"the step size fell to {solver.step_size:.1e}")
        self._look_ahead(solver.t)
        dense = solver.dense_output()
        for y, at in ((self.y[1:], times[1:]), (self.before, times[1:] - self.h)):
            i, j = np.searchsorted(at, [solver.t_old, solver.t], side="right")
            if j > i:
                y[i:j] = dense(at[i:j]).T
        last = np.searchsorted(times, solver.t, side="right") - 1
        over = solver.status == "finished" and self.leg + 1 >= self.legs
        self.done = self.total if over else int(last)
        if solver.status == "finished" and not over:
            self.leg += 1
            self.solver = self._solver(solver.t, solver.y)

    def _look_ahead(self, t: float):
        """Refuse to go on if the rest would take hours: a fast oscillation needs all its steps."""
        self.taken += 1
        if self.taken < LOOK:
            return
        size = (t - self.seen) / self.taken
        if self.times[-1] - t > MAX_STEPS * size:
            count = (self.times[-1] - t) / size if size > 0 else math.inf
            raise TooLong(f"its steps are {size:.1e} long, and {count:.0e} of them are left")
        self.taken, self.seen = 0, t

    def _error(self, error):
        (here, v), (there, _) = self._parts(self.y[self.done]), self._parts(self.solver.y)
        time, step = self.times[self.done], self.done * self.start.every
        reason = dependent(self.system, [here, there], v, time) or f"the motion ends here: {error}"
        advice = "The constraints or M degenerate, or the motion is singular."
        if isinstance(error, TooLong):
            reason = f"the motion is too fast for nh.Reference: {error}"
            advice = "Ask for a shorter time, take a larger rtol, or slow the motion down."
        where = {"method": self.start.method, "step": step, "time": time, "residual": math.nan}
        part = self.trajectory("stopped: " + reason)
        return IntegrationError(reason, advice=advice, trajectory=part, **where)

    def _parts(self, y):
        return np.split(y, [len(self.system.q)], -1)

    def _multipliers(self):
        """Of the states one h before the rows; NaN where there are none."""
        start, t = self.start, self.times[1 : self.done + 1] - self.h
        q, v = self._parts(self.before[: self.done])
        if not start.inputs:
            with contextlib.suppress(ValueError):
                return start.system.multipliers(q, v, t)
        lam = np.full((self.done, start.system.m), np.nan)
        for k in range(self.done):  # one by one: the inputs differ, or one state has none
            with contextlib.suppress(ValueError):
                now = start.at_step((k + 1) * start.every - 1)
                lam[k] = now.multipliers(q[k], v[k], t[k])
        return lam

    def trajectory(self, message=""):
        q, v = self._parts(self.y[: self.done + 1])
        q = np.stack(self.system.settled(np.moveaxis(q, -1, 0)), -1)
        lam = np.zeros((self.done + 1, self.system.m))
        lam[1:] = -self.h * self._multipliers()
        rows = self.start.layout.join(q=q, v=v, lam=lam)
        return self.start.trajectory(rows, self.done * self.start.every, message)
