"""The one loop: a run in progress, its backends, and what is done where a step fails."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..codegen.careful import careful_step
from ..mechanics.system import System
from ..methods.layout import Rows
from ..methods.method import Method
from .arguments import LOG, StateLike, check_backend, check_pair, has_numba
from .errors import IntegrationError
from .events import events_of, keeping, record
from .explain import explain, warn_of_energy_jumps, warn_of_growth
from .progress import drive
from .reference import ReferenceRun
from .resume import cut, refuse_other_arguments, resume
from .start import Start
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..codegen.careful import Attempt
    from .watch import Event

# Steps from which compiling pays (measured): cold, from the cache of an earlier process, compiled.
COMPILE_FROM = {"cold": 150_000, "cached": 70_000, "compiled": 200}
MAX_STEPS_OVER = 1000  # times as many steps of its own may a method need to reach T
CHUNK = {"python": 1_000, "numba": 50_000}  # steps between looks at the clock and the keyboard
ARITHMETIC = ZeroDivisionError, OverflowError, ValueError  # what CPython raises in a step


def integrate(
    system: System | Trajectory,
    method: Method | None = None,
    q0: StateLike = None,
    v0: StateLike = None,
    *,
    h: float | None = None,
    steps: int | None = None,
    T: float | None = None,
    q1: StateLike = None,
    u0: StateLike = None,
    progress: bool | None = None,
    every: int = 1,
    t0: float = 0.0,
    backend: str | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Any = None,
) -> Trajectory:
    """Run a method from (q0, v0) or (q0, q1), or go on with a run; return a Trajectory.

    Parameters
    ----------
    system : nh.System; or a Trajectory, to go on with it by so many ``steps`` more, or until T.
        The result is the whole run, bit for bit as if it had not stopped (with the same backend)
    method : the integrator, such as nh.DLA()
    q0, v0 : (n,) start, or dicts by names of which missing ones are 0; v0 must satisfy the
        constraints.  Default: the system's own q0, v0
    h : step size (for EDLA the first)
    steps, T : number of steps; or the time to run until, which the last step reaches
    q1 : (n,) the second position, instead of v0
    u0 : (r,) the quasi-velocities, v0 = X(q0) u0, instead of v0 where D is spanned by fields; or
        by names, {"u1": 1}
    every : store every k-th step only
    progress : show a bar: True, False, or None for runs that take longer than two seconds
    backend : "python", "numba", or None to let the length of the run decide
    inputs : input of the forces -> its values: a number, an array with one for each step, or a
        function of time, which is read in the middle of each step.  They are held during a step,
        so that a function is followed to order 2 by every method.  An expression in t, q, v and
        parameters, a feedback, is put into the forces: exact, but another system, ``sol.system``
    events : expressions in t, q, v, functions f(t, q, v) or ``nh.Event`` objects, whose zeros are
        looked for, to round-off on ``sol(t)``; they are in ``sol.t_events``, ``sol.q_events``.  A
        run that goes on keeps its events, and has those of the whole; others take their place,
        ``[]`` for none.  If a terminal one ended it, it goes on beyond that, and ends at the next
        one, or after as many more as ``terminal`` says
    t0 : the time of the start

    Raises
    ------
    ValueError for bad arguments; IntegrationError, with the computed part, when the run cannot go
    on.  Ctrl-C raises Interrupted, a KeyboardInterrupt with the computed part.

    Examples
    --------
    >>> import nhlab as nh
    >>> robot = nh.systems.robot()
    >>> sol = nh.integrate(robot, nh.DLA(), h=0.1, T=2)
    >>> sol = nh.integrate(sol, steps=30)
    >>> sol
    <Trajectory of robot by DLA(alpha=0.5): 50 steps to t = 5>
    >>> bool((sol.q == nh.integrate(robot, nh.DLA(), h=0.1, steps=50).q).all())
    True

    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), [0, 1, 0], [1, 1, 1], h=0.2, steps=100)
    >>> sol
    <Trajectory of particle by DLA(alpha=0.5): 100 steps to t = 20>
    >>> nh.integrate(nh.systems.particle(), nh.DLA(), [0, 1, 0], [1, 1, 0], h=0.2, steps=100)
    Traceback (most recent call last):
        ...
    ValueError: v0 = [1, 1, 0] violates the constraints: A(q0) v0 = [-1], not 0. ...
    """
    check_backend(backend, (None, "python", "numba"))
    if isinstance(system, Trajectory):
        others = {"method": method, "q0": q0, "v0": v0, "h": h, "q1": q1, "u0": u0}
        refuse_other_arguments(system, every, t0, **others)
        start = resume(system, steps, T, inputs)
    else:
        given = {"q1": q1, "u0": u0, "every": every, "t0": t0, "inputs": inputs}
        start = Start(system, method, q0, v0, h=h, steps=steps, T=T, **given)
    events = events_of(system, events, start.system)
    with keeping(events):
        sol = run(start, backend, progress, events)
        if T is not None and sol.method.variable_step:
            sol = until(sol, T, inputs, lambda start: run(start, backend, progress, events))
    warn_of_energy_jumps(sol)
    warn_of_growth(sol)
    return record(sol, events)


def run(
    start: Start, backend: str | None, progress: bool | None, events: list[Event]
) -> Trajectory:
    """Take the steps of a start, or fewer if an event ends them, and return the Trajectory."""
    if start.method.has_step:
        work = Run(start, backend or choose_backend(start))
    else:
        work = ReferenceRun(start, backend)
    work.events = [e for e in events if e.terminal]
    work.go(progress)
    return work.trajectory()


def until(
    sol: Trajectory, T: float, inputs: Mapping[Any, Any] | None, run: Callable[[Start], Trajectory]
) -> Trajectory:
    """The run of a method with steps of its own, gone on with until it has passed the time T."""
    expected = max(sol.steps, 1)
    while sol.t[-1] < T and sol.steps >= expected:
        if sol.steps > MAX_STEPS_OVER * expected:
            reason = f"T = {T:g} is not reached by {sol.steps} steps, the last h = {sol.h[-1]:.3g}"
            where = {"method": sol.method, "step": sol.steps, "time": float(sol.t[-1])}
            advice = "The steps shrink; start with another h, or give steps."
            raise IntegrationError(reason, residual=0.0, advice=advice, trajectory=sol, **where)
        before = sol.steps
        sol = run(resume(sol, sol.steps, None, inputs))
        if sol.steps < 2 * before:  # an event has ended it
            break
    return cut(sol, int(np.searchsorted(sol.t, T)) + 1)


def source(system: System, method: Method) -> str:
    """The generated text of one step of the method for the system.

    Parameters
    ----------
    system, method : what the step is generated for

    Examples
    --------
    >>> import nhlab as nh
    >>> text = nh.source(nh.systems.pendulum(), nh.DLA())
    >>> "def step(t, h, theta, p_theta" in text
    True
    """
    check_pair(system, method)
    if not method.has_step:
        name = type(method).__name__
        raise ValueError(f"nh.{name} chooses its own steps between the nodes: none to show")
    return method.program(system).text


def choose_backend(start: Start) -> str:
    """By the number of steps of all runs together; "numpy" needs enough of them at once."""
    long = len(start) * start.steps >= COMPILE_FROM[start.program.compile_state]
    if long and has_numba():
        return "numba"
    return "numpy" if len(start) >= 16 else "python"


class Run:
    """A run in progress: the rows stored so far, the state to go on from, the steps done in it.

    start : of one run;  backend : "python" or "numba";  rows : where to store
    explain : look for the reason when a step fails
    """

    unit = "steps"
    events: Sequence[Event] = ()  # those that end it

    def __init__(
        self, start: Start, backend: str, rows: np.ndarray | None = None, explain: bool = True
    ) -> None:
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

    def _arguments(self) -> tuple[Any, ...]:
        """Of the whole run: of an input the values in all steps, for CPython in a list."""
        system, values = self.start.system, self.start.inputs
        if self.backend == "python":
            values = {u: x.tolist() for u, x in values.items()}
        system = system.with_input_values(values) if values else system
        return self.method.arguments(system, self.shares)

    @property
    def system(self) -> System:
        """With the inputs of the next step."""
        return self.start.at_step(self.done)

    def _store(self) -> None:
        if self.done and self.done % self.start.every == 0:
            self.rows[self.done // self.start.every] = self.state.array

    def stored(self, done: int) -> int:
        """The number of rows behind the first that are stored after so many steps."""
        return done // self.start.every

    @property
    def time(self) -> float:
        return float(self.state.clock(self.start.t0 + self.done * self.h, None)[0])

    def go(self, progress: bool | None = None) -> None:
        """Take all steps."""
        if not self.begun:
            self._stop(self.first_step(self.h))
        drive(self, progress)

    def advance(self) -> None:
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

    def compiled(self, stop: int) -> int:
        """Take steps until ``stop`` or until one fails, by the machine code; how many are done."""
        start = self.start
        rest = start.every, start.t0, self.h, *self.args
        return self.program.numba(self.state.array, self.rows, self.done, stop, *rest)

    def _plain(self, stop: int) -> int:
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

    def careful(self) -> None:
        """One step with pivoting."""
        LOG.debug("step %d at t = %g is taken with pivoting", self.done, self.time)
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

    def first_step(self, h: float) -> Attempt:
        """The Attempt of a step h from here by the method of EDLA's first step, with pivoting."""
        m, s = self.method.first_step, self.system
        carry, args = m.layout(s).join(**vars(self.state)), m.arguments(s, self.shares)
        return careful_step(m.program(s).statement, self.time, h, carry.tolist(), args)

    def _stop(self, attempt: Attempt) -> NoReturn:
        reason, advice = attempt.reason, attempt.advice
        if self.explain:  # takes a moment, so an ensemble leaves it until somebody asks
            with np.errstate(all="ignore"), contextlib.suppress(Exception):  # or goes unexplained
                reason, advice = explain(self, attempt)
        part = self.trajectory(f"stopped after {self.done} of {self.total} steps: {reason}")
        where = {"method": self.method, "step": self.done, "time": self.time}
        where["residual"] = attempt.residual
        raise IntegrationError(reason, advice=advice, trajectory=part, **where) from None

    def trajectory(self, message: str = "") -> Trajectory:
        return self.start.trajectory(self.rows, self.done, message)
