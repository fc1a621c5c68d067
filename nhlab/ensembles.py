"""Many runs at once: one array per variable, or any ``concurrent.futures`` executor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import IntegrationError
from .loop import COMPILE_FROM, Run, Start, begin, compile_state, has_numba, integrate
from .methods import Reference
from .system import System
from .trajectory import Trajectory


@dataclass(frozen=True)
class Ensemble:
    """K runs with the same h and steps.

    q, p : (K, N+1, n) and t : (K, N+1), NaN where a run had stopped;  steps_done : (K,)
    ok : (K,) True where a run went through.  ``ensemble[k]`` is run k as a Trajectory, as far as
    it went; ``error(k)`` says why it stopped.
    """

    system: System
    method: object
    rows: np.ndarray
    steps_done: np.ndarray
    start: Start

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return (f"<Ensemble of {len(self)} runs of {self.system.name or 'a system'} by "
                f"{self.method!r}, {int(self.ok.sum())} complete>")  # fmt: skip

    def __getitem__(self, k):
        start, done = self.start, int(self.steps_done[k])
        message = "" if done == start.steps else f"stopped after {done} of {start.steps} steps"
        return Trajectory(self.system, self.method, self.rows[k, : done // start.every + 1],
                          t0=start.t0, h=start.h, every=start.every, message=message,
                          q1_given=start.q1 is not None)  # fmt: skip

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    @property
    def ok(self):
        return self.steps_done == self.start.steps

    def _column(self, name):
        at = 0
        for key, width in self.method.layout(self.system).items():
            if key == name:
                return self.rows[:, :, at : at + width]
            at += width
        return None

    @property
    def t(self):
        t, start = self._column("t"), self.start
        if t is not None:
            return t[:, :, 0]
        times = start.t0 + start.h * (start.every * np.arange(self.rows.shape[1]))
        return np.where(np.isnan(self.rows[:, :, 0]), np.nan, times)

    @property
    def q(self):
        return self._column("q")

    @property
    def p(self):
        p = self._column("p")
        return p if p is not None else self.system.momentum(self.q, self._column("v"), self.t)

    def error(self, k):
        """The IntegrationError of run k, or None: the run is repeated to find out."""
        if self.ok[k]:
            return None
        s = self.start
        given = {"v0": s.v0[k]} if s.q1 is None else {"q1": s.q1[k]}
        try:
            integrate(self.system, self.method, s.q0[k], **given, h=s.h, steps=s.steps, t0=s.t0)
        except IntegrationError as error:
            return error
        return None


def ensemble(system, method, q0, v0=None, *, h, steps, q1=None, every=1, t0=0.0, executor=None,
             backend=None):  # fmt: skip
    """Run a method from each of K initial conditions, q0 and v0 (or q1) of shape (K, n).

    A run that cannot go on stops alone; the others go through.  ``executor`` is any
    ``concurrent.futures`` executor; without one, the states advance together as NumPy arrays or
    one after the other in compiled code, whichever the size makes faster.
    """
    start = Start(system, method, q0, v0, h=h, steps=steps, q1=q1, every=every, t0=t0,
                  backend=backend, batch=True)  # fmt: skip
    if isinstance(method, Reference):
        raise ValueError("ensemble runs one-step methods; call nh.integrate for nh.Reference")
    if executor is None:
        rows, done = _together(start)
    else:
        options = dict(h=h, steps=steps, every=every, t0=t0, backend=backend)
        parts = np.array_split(np.arange(len(start.q0)), 4 * getattr(executor, "_max_workers", 2))
        jobs = [
            executor.submit(_part, system, method, *(None if x is None else x[part] for x in
                            (start.q0, start.v0, start.q1)), options)
            for part in parts if len(part)
        ]  # fmt: skip
        results = [job.result() for job in jobs]
        rows = np.concatenate([r for r, _ in results])
        done = np.concatenate([d for _, d in results])
    return Ensemble(system, method, rows, done, start)


def _part(system, method, q0, v0, q1, options):
    return _together(Start(system, method, q0, v0, q1=q1, batch=True, **options))


def _together(start):
    row, state, done, scale2 = begin(start)
    count = len(row)
    rows = np.full((count, start.steps // start.every + 1, row.shape[-1]), np.nan)
    kind = start.backend
    if kind is None:
        program = start.method.program(start.system)
        long = count * start.steps >= COMPILE_FROM[compile_state(program)]
        kind = "numba" if long and has_numba() else "numpy" if count >= 16 else "python"
    if kind == "numpy":
        return rows, _as_arrays(start, rows, row, state, done, scale2)
    start.backend = kind
    ends = np.zeros(count, int)
    for k in range(count):
        ends[k] = _alone(start, rows[k], row[k], state[k], done, scale2[k])
    return rows, ends


def _alone(start, rows, row, state, done, scale2):
    try:
        run = Run(start, row, state, done, scale2, rows, explain=False)
        run.go(progress=False)
        return run.done
    except IntegrationError as error:
        return error.step


def _as_arrays(start, rows, row, state, done, scale2):
    """All states advance together; one that fails is tried alone and, failing again, left out."""
    s, m = start.system, start.method
    step, first = m.program(s).numpy, 2 if m.variable_step else 0
    rows[:, 0] = row
    ends = np.zeros(len(row), int)
    alive = np.isfinite(state).all(-1)
    if done and start.steps:
        ends[alive] = done
        if start.every == 1:
            rows[alive, 1] = state[alive]
    alive = np.flatnonzero(alive)
    state = state[alive]
    for k in range(done, start.steps):
        t = state[:, 0] if first else start.t0 + k * start.h
        h = state[:, 1] if first else start.h
        args = m.arguments(s, scale2[alive].T)
        with np.errstate(all="ignore"):
            ok, h, *new = step(t, h, *state[:, first:].T, *args)
        columns = [t + h, h, *new] if first else new
        new = np.stack([np.broadcast_to(x, len(alive)) for x in columns], -1)
        good = np.broadcast_to(ok, len(alive)).copy()
        for i in np.flatnonzero(~good):
            j = alive[i]
            scratch = np.empty_like(rows[j])
            one = Run(start, row[j], state[i].copy(), k, scale2[j], scratch, explain=False)
            try:
                one._careful()
                new[i], good[i] = one.state, True
            except IntegrationError:
                pass
        state, alive = new[good], alive[good]
        ends[alive] = k + 1
        if (k + 1) % start.every == 0:
            rows[alive, (k + 1) // start.every] = state
        if not len(alive):
            break
    return ends
