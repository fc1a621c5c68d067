"""The one loop: a run in progress, its backends, and what is done where a step fails."""

from __future__ import annotations

import contextlib
import struct

import numpy as np

from ..codegen.careful import careful_step
from ..methods import Reference
from ..methods.layout import Rows
from .arguments import check_backend, check_pair, has_numba
from .errors import IntegrationError, Interrupted
from .explain import explain, warn_of_energy_jumps, warn_of_growth
from .progress import Bar
from .reference import ReferenceRun
from .start import Start

# Steps from which compiling pays (measured): cold, from the cache of an earlier process, compiled.
COMPILE_FROM = {"cold": 150_000, "cached": 70_000, "compiled": 200}
CHUNK = {"python": 1_000, "numba": 50_000}  # steps between looks at the clock and the keyboard
ARITHMETIC = ZeroDivisionError, OverflowError, ValueError  # what CPython raises in a step


def integrate(
    system,
    method,
    q0=None,
    v0=None,
    *,
    h,
    steps,
    q1=None,
    progress=None,
    every=1,
    t0=0.0,
    backend=None,
    inputs=None,
):
    """Run a method from (q0, v0) or (q0, q1) and return a Trajectory.

    Parameters
    ----------
    q0, v0 : (n,) start; v0 must satisfy the constraints.  Default: the system's own q0, v0
    h, steps : step size (for EDLA the first) and number of steps
    q1 : (n,) the second position, instead of v0
    every : store every k-th step only
    progress : show a bar: True, False, or None for runs that take longer than two seconds
    backend : "python", "numba", or None to let the length of the run decide
    inputs : input of the forces -> its values: a number, an array with one for each step, or a
        function of time, which is read in the middle of each step.  They are held during a step,
        so that a function is followed to order 2 by every method.  An expression in t, q, v and
        parameters, a feedback, is put into the forces: exact, but another system, ``sol.system``

    Raises ValueError for bad arguments and IntegrationError, with the computed part, when the run
    cannot go on.  Ctrl-C raises Interrupted, a KeyboardInterrupt with the computed part.
    """
    given = {"h": h, "steps": steps, "q1": q1, "every": every, "t0": t0, "inputs": inputs}
    start = Start(system, method, q0, v0, **given)
    check_backend(backend, (None, "python", "numba"))
    if isinstance(method, Reference):
        run = ReferenceRun(start)
        drive(run, progress)
        return run.trajectory()
    run = Run(start, backend or choose_backend(start))
    run.go(progress)
    sol = run.trajectory()
    warn_of_energy_jumps(sol)
    warn_of_growth(sol)
    return sol


def source(system, method):
    """The generated text of one step of the method for the system."""
    check_pair(system, method)
    if isinstance(method, Reference):
        raise ValueError("nh.Reference is SciPy's DOP853; it has no generated step")
    return method.program(system).text


def choose_backend(start):
    """By the number of steps of all runs together; "numpy" needs enough of them at once."""
    long = len(start) * start.steps >= COMPILE_FROM[compile_state(start.program)]
    if long and has_numba():
        return "numba"
    return "numpy" if len(start) >= 16 else "python"


def compile_state(program):
    return "compiled" if program.is_compiled else "cached" if program.is_cached else "cold"


def drive(run, progress):
    """The loop: let a run advance until all is done.  Ctrl-C keeps the computed part."""
    with Bar(progress, run.total) as bar:
        try:
            while run.done < run.total:
                before = run.done
                run.advance()
                bar.update(run.done - before)
        except KeyboardInterrupt:
            text = f"interrupted after {run.done} of {run.total} {run.unit}"
            part = run.trajectory(text)
            raise Interrupted(f"{text}; the computed part is in .trajectory", part) from None


class Run:
    """A run in progress: the rows stored so far, the state to go on from, the steps done in it.

    start : of one run;  backend : "python" or "numba";  rows : where to store
    explain : look for the reason when a step fails
    """

    unit = "steps"

    def __init__(self, start, backend, rows=None, explain=True):
        self.start, self.total, self.backend, self.explain = start, start.steps, backend, explain
        self.method, self.h = start.method, start.h.item()
        self.program, self.shares = start.program, start.shares[0].tolist()
        self.args = self._arguments()
        self.rows = start.empty_rows() if rows is None else rows
        self.rows[0] = start.row[0]
        self.begun = bool(np.isfinite(start.state).all())  # EDLA's first step may have failed
        further = self.begun and start.done <= start.steps
        self.done, state = (start.done, start.state) if further else (0, start.row)
        self.state = Rows(start.layout, state[0].copy())
        self._store()

    def _arguments(self):
        """Of the whole run: of an input the values in all steps, for CPython in a list."""
        system, values = self.start.system, self.start.inputs
        if self.backend == "python":
            values = {u: x.tolist() for u, x in values.items()}
        return self.method.arguments(system.drive(values) if values else system, self.shares)

    @property
    def system(self):
        """With the inputs of the next step."""
        return self.start.at_step(self.done)

    def _store(self):
        if self.done and self.done % self.start.every == 0:
            self.rows[self.done // self.start.every] = self.state.array

    @property
    def time(self):
        return float(self.state.clock(self.start.t0 + self.done * self.h, None)[0])

    def go(self, progress=None):
        """Take all steps."""
        if not self.begun:
            self._stop(self.first_step(self.h))
        drive(self, progress)

    def advance(self):
        """Go on by a chunk; a step that fails is taken once more with pivoting."""
        stop = min(self.total, self.done + CHUNK[self.backend])
        take = self.compiled if self.backend == "numba" else self._plain
        try:
            self.done = take(stop)
        except ARITHMETIC:  # find the step that raised
            with contextlib.suppress(*ARITHMETIC):
                while self.done < stop and take(self.done + 1) > self.done:
                    self.done += 1
        if self.done < stop:
            self.careful()

    def compiled(self, stop):
        """Take steps until ``stop`` or until one fails, by the machine code; how many are done."""
        start = self.start
        rest = start.every, start.t0, self.h, *self.args
        return self.program.numba(self.state.array, self.rows, self.done, stop, *rest)

    def _plain(self, stop):
        """The same by CPython, which is several times faster without arrays."""
        start, state = self.start, self.state.array
        rest = start.every, start.t0, self.h, *self.args
        floats, out = state.tolist(), []
        done = self.program.python(floats, out, self.done, stop, *rest)
        new = np.frombuffer(struct.pack(f"{len(out)}d", *out)).reshape(-1, len(state))
        self.rows[self.done // start.every + 1 :][: len(new)] = new
        state[:] = floats
        return done

    # ---- where a step fails

    def careful(self):
        """One step with pivoting."""
        layout = self.start.layout
        now = Rows(layout, self.state.array.copy())
        if layout.chooses_step:
            now.h_before[...] = now.h  # no extrapolation this time
        t, h = map(float, now.clock(self.time, self.h))
        args = self.method.arguments(self.system, self.shares)
        attempt = careful_step(self.program.statement, t, h, now.carry.tolist(), args)
        if not attempt.ok:
            self._stop(attempt)
        self.state.array[:] = layout.columns(t + attempt.h, attempt.h, attempt.carry)
        self.done += 1
        self._store()

    def first_step(self, h):
        """The Attempt of a step h from here by the method of EDLA's first step, with pivoting."""
        m, s = self.method.first_step, self.system
        carry, args = m.layout(s).join(**vars(self.state)), m.arguments(s, self.shares)
        return careful_step(m.program(s).statement, self.time, h, carry.tolist(), args)

    def _stop(self, attempt):
        reason, advice = attempt.reason, attempt.advice
        if self.explain:  # takes a moment, so an ensemble leaves it until somebody asks
            with np.errstate(all="ignore"), contextlib.suppress(Exception):  # or goes unexplained
                reason, advice = explain(self, attempt)
        part = self.trajectory(f"stopped after {self.done} of {self.total} steps: {reason}")
        where = {"method": self.method, "step": self.done, "time": self.time}
        where["residual"] = attempt.residual
        raise IntegrationError(reason, advice=advice, trajectory=part, **where) from None

    def trajectory(self, message=""):
        return self.start.trajectory(self.rows, self.done, message)
