"""The one loop: checks at the door, start-up, running, stopping."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import numbers
import struct
import time
import warnings

import numpy as np

from ..codegen.careful import careful_step
from ..codegen.evaluate import joined
from ..mechanics.checks import rank
from ..mechanics.system import System
from ..methods import Reference
from ..methods.method import Method, velocity_scale
from .errors import IntegrationError, Interrupted
from .explain import dependent, explain
from .trajectory import Trajectory

BACKENDS = (None, "python", "numba")
# Steps from which compiling pays (measured): cold, from the cache of an earlier process, compiled.
COMPILE_FROM = {"cold": 150_000, "cached": 70_000, "compiled": 200}
CHUNK = {"python": 1_000, "numba": 50_000}  # steps between looks at the clock and the keyboard


def integrate(system, method, q0=None, v0=None, *, h, steps, q1=None, progress=None, every=1,
              t0=0.0, backend=None):  # fmt: skip
    """Run a method from (q0, v0) or (q0, q1) and return a Trajectory.

    Parameters
    ----------
    q0, v0 : (n,) start; v0 must satisfy the constraints.  Default: the system's own q0, v0
    h, steps : step size (for EDLA the first) and number of steps
    q1 : (n,) the second position, instead of v0
    every : store every k-th step only
    progress : show a bar: True, False, or None for runs that take longer than two seconds
    backend : "python", "numba", or None to let the length of the run decide

    Raises ValueError for bad arguments and IntegrationError, with the computed part, when the run
    cannot go on.  Ctrl-C raises Interrupted, a KeyboardInterrupt with the computed part.
    """
    start = Start(system, method, q0, v0, h=h, steps=steps, q1=q1, every=every, t0=t0,
                  backend=backend)  # fmt: skip
    if isinstance(method, Reference):
        return _reference(start, progress)
    run = Run(start, *begin(start))
    run.go(progress)
    sol = run.trajectory()
    _warn_of_energy_jumps(sol)
    return sol


def source(system, method):
    """The generated text of one step of the method for the system."""
    _check_pair(system, method)
    if isinstance(method, Reference):
        raise ValueError("nh.Reference is SciPy's DOP853; it has no generated step")
    return method.program(system).text


def _check_pair(system, method):
    if not isinstance(system, System):
        raise ValueError(f"system = {system!r} is not an nh.System")
    if isinstance(method, type):
        name = method.__name__
        raise ValueError(f"method = {name} is a class, not a value; write nh.{name}()")
    if not isinstance(method, Method):
        raise ValueError(f"method = {method!r} is no integrator; try nh.DLA()")
    method.check(system)


# ---------------------------------------------------------------------------- at the door


class Start:
    """Checked arguments of a run, or with ``batch`` of many: q0, v0, q1 then have shape (K, n)."""

    def __init__(self, system, method, q0, v0, *, h, steps, q1=None, every=1, t0=0.0,
                 backend=None, batch=False):  # fmt: skip
        _check_pair(system, method)
        self.system, self.method, self.batch = system, method, batch
        self.h, self.t0 = _finite(h, "h"), _finite(t0, "t0")
        if self.h <= 0:
            raise ValueError(f"h = {h!r} must be positive; to go back in time, reverse v0")
        self.steps, self.every = _count(steps, "steps", 0), _count(every, "every", 1)
        if self.steps % self.every:
            raise ValueError(f"steps = {steps} is not a multiple of every = {every}; use "
                             f"steps = {self.steps - self.steps % self.every}")  # fmt: skip
        backends = (*BACKENDS, "numpy") if batch else BACKENDS
        if backend not in backends:
            raise ValueError(f"backend = {backend!r} is unknown; choose one of {backends}")
        if backend == "numba" and not has_numba():
            raise ValueError("backend = 'numba' needs numba: pip install numba, or leave it out")
        self.backend = backend
        if q0 is None:
            if system.q0 is None:
                raise ValueError("q0 is missing and the system has no initial condition of its own")
            q0, v0 = system.q0, system.v0 if v0 is None and q1 is None else v0
        if (v0 is None) == (q1 is None):
            raise ValueError("give either v0, the initial velocity, or q1, the second position")
        if q1 is not None and not method.discrete:
            raise ValueError(f"{method!r} starts from v0, not from q1")
        self.q0 = self._vectors(system.configuration(q0, "q0", axes=int(batch)), "q0")
        self.v0 = None if v0 is None else self._vectors(v0, "v0")
        if q1 is not None:
            q1 = system.configuration(q1, "q1", near=self.q0, axes=int(batch))
        self.q1 = None if q1 is None else self._vectors(q1, "q1")
        self._admissible()

    def _vectors(self, x, name):
        symbols = self.system.v if name == "v0" else self.system.q
        n = len(symbols)
        try:
            x = np.array(x, float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} = {x!r} is not an array of numbers") from None
        wanted = f"(K, {n}), K states of" if self.batch else f"({n},),"
        if x.ndim != 1 + self.batch or x.shape[-1] != n:
            raise ValueError(f"{name} has shape {x.shape}; expected {wanted} one number for each "
                             f"of {symbols}")  # fmt: skip
        if self.batch and name != "q0" and len(x) != len(self.q0):
            raise ValueError(f"{name} has {len(x)} rows but q0 has {len(self.q0)}")
        if not np.all(np.isfinite(x)):
            raise ValueError(f"{name} = {x} must be finite")
        return x

    def _admissible(self):
        """q0 on the holonomic constraints, forms independent there, v0 in D."""
        s, q = self.system, np.atleast_2d(self.q0)
        for name in ("q0", "q1") if s.holonomic else ():
            x = getattr(self, name)
            x = q[:0] if x is None else np.atleast_2d(x)
            g = s.g(x)
            for k in _first(np.abs(g) > 1e-9 * _size(s.values(s.symbolic.Dg, x), x) + 1e-15):
                raise ValueError(f"{name}{self._index(k)} = {_short(x[k])} is off the holonomic "
                                 f"constraints: g = {_short(g[k])}, not 0")  # fmt: skip
        with np.errstate(all="ignore"):
            A = s.A(q, self.t0)
        for k in _first(~np.isfinite(A).all(-1)):
            raise ValueError(f"the constraints are not finite at q0{self._index(k)} = "
                             f"{_short(q[k])}; start elsewhere")  # fmt: skip
        for k in _first(rank(A)[:, None] < A.shape[1]):
            raise ValueError(f"the constraints are dependent at q0{self._index(k)} = "
                             f"{_short(q[k])} (rank {rank(A[k])} of {len(A[k])}); start "
                             "elsewhere")  # fmt: skip
        if self.v0 is None:
            return
        v = np.atleast_2d(self.v0)
        residual = np.einsum("kai,ki->ka", A, v)
        for k in _first(np.abs(residual) > 1e-9 * _size(A, v) + 1e-15):
            how = "system.project(q0, v0) gives it"
            if s.metric is None and not s.is_mechanical:  # no metric to project with
                near, how = v[k] - np.linalg.pinv(A[k]) @ residual[k], "in the Euclidean sense"
            else:
                near = s.project(q[k], v[k], self.t0)
            raise ValueError(
                f"v0{self._index(k)} = {_short(v[k])} violates the constraints: A(q0) v0 = "
                f"{_short(residual[k])}, not 0. The nearest admissible velocity is {_short(near)} "
                f"({how})"
            )

    def _index(self, k):
        return f"[{k}]" if self.batch else ""


def _size(A, v):
    """How large A v could be: what its vanishing is measured against, whatever the units."""
    return np.linalg.norm(A, axis=-1) * np.linalg.norm(v, axis=-1, keepdims=True)


def _first(bad):
    """The index of the first row with a True, in a list; empty if there is none."""
    return np.flatnonzero(bad.any(1))[:1].tolist()


def _short(x):
    return "[" + ", ".join(f"{y:.10g}" for y in x) + "]"


def _finite(x, name):
    try:
        if isinstance(x, numbers.Real) and not isinstance(x, bool) and math.isfinite(float(x)):
            return float(x)
    except OverflowError:
        pass
    raise ValueError(f"{name} = {x!r} must be a finite number")


def _count(x, name, least):
    number = isinstance(x, numbers.Real) and not isinstance(x, bool)
    if not number or not math.isfinite(x) or int(x) != x or x < least:
        raise ValueError(f"{name} = {x!r} must be a whole number, at least {least}")
    return int(x)


def compile_state(program):
    return "compiled" if program.is_compiled() else "cached" if program.is_cached() else "cold"


def has_numba():
    return importlib.util.find_spec("numba") is not None


# ---------------------------------------------------------------------------- running


def begin(start):
    """Row 0, the state to go on from, the steps done in it, and Newton's scales (squared).

    The state is row 0 or, where the first step is given (q1) or belongs to another method (EDLA),
    row 1.  Works on one start and on a batch alike.
    """
    q0, h = start.q0, start.h
    if start.q1 is None:
        v, a = start.v0, _first_acceleration(start)
    else:
        v = start.system.velocity_between(q0, start.q1, h)
        a = np.zeros_like(v)
    with np.errstate(all="ignore"):  # what is not finite is refused by Run
        return _rows(start, v, a)


def _first_acceleration(start):
    try:
        return start.system.acceleration(start.q0, start.v0, start.t0)
    except ValueError as error:
        raise ValueError(
            f"there is no motion from q0 = {start.q0}, v0 = {start.v0}: {error}"
        ) from None


def _rows(start, v, a):
    s, m, t0, h, q0 = start.system, start.method, start.t0, start.h, start.q0
    scale2 = velocity_scale(v, a, h) ** 2
    none = np.zeros((*q0.shape[:-1], len(s.symbolic.A)))
    if not m.discrete:
        row = np.concatenate([q0, v, none], -1)
        return row, row.copy(), 0, scale2
    if start.q1 is None:
        first = np.concatenate([q0, m.start_momentum(s, t0, q0, v, h), v, none], -1)
        if not m.variable_step:
            return first, first.copy(), 0, scale2
        second = _first_step(m.first_step, s, t0, h, first, scale2)
    else:
        p_minus = m.on_step(s, "p_minus", t0, q0, v, h)
        first = np.concatenate([q0, m.arriving(s, t0, q0, p_minus), v, none], -1)
        p_plus = m.on_step(s, "p_plus", t0, q0, v, h)
        second = np.concatenate([start.q1, p_plus, v, none], -1)
    if m.variable_step:
        k, n = len(s.q), len(s.v)
        e = m.on_step(s, "E_plus", t0, q0, second[..., k + n : k + 2 * n], h)[..., None]
        h = np.asarray(h)[..., None] * np.ones_like(e)
        first = np.concatenate([0 * h + t0, h, first, h, e], -1)
        second = np.concatenate([t0 + h, h, second, h, e], -1)
    return first, second, 1, scale2


def _first_step(method, system, t, h, rows, scale2):
    """One step of a row or of a batch of rows; NaN where it fails."""
    if rows.ndim == 1:
        args = method.arguments(system, scale2.tolist())
        ok, *new = method.program(system).one_step(t, h, *rows.tolist(), *args)
        return np.array(new[1:]) if ok else np.full(len(rows), np.nan)
    args = method.arguments(system, np.moveaxis(scale2, -1, 0))
    with np.errstate(all="ignore"):
        ok, _, *new = method.program(system).numpy(t, h, *np.moveaxis(rows, -1, 0), *args)
    new = joined(new, rows.shape[:-1])
    return np.where(np.asarray(ok)[..., None], new, np.nan)


class Run:
    """A run in progress: the rows stored so far and the state to go on from."""

    def __init__(self, start, row, state, done, scale2, rows=None, explain=True):
        self.start, self.system, self.method = start, start.system, start.method
        self.program = self.method.program(self.system)
        self.scale2, self.explain = scale2.tolist(), explain
        self.args = self.method.arguments(self.system, self.scale2)
        size = (start.steps // start.every + 1, len(row))
        self.rows = np.empty(size) if rows is None else rows
        self.rows[0] = row
        self.state, self.done = row, 0
        given = row[:-1] if self.method.variable_step else row  # EDLA's e comes from its first step
        if not np.all(np.isfinite(given)):
            name, value = ("v0", start.v0) if start.q1 is None else ("q1", start.q1)
            raise ValueError(f"L or its derivatives are not finite at q0 = {start.q0}, "
                             f"{name} = {value}; start elsewhere")  # fmt: skip
        if not np.all(np.isfinite(state)):
            self._first_step_failed()
        if done <= start.steps:
            self.state, self.done = state, done
            self._store(state)

    def _first_step_failed(self):
        m, s, start = self.method.first_step, self.system, self.start
        carry = self.rows[0, 2:-2].tolist()
        args = m.arguments(s, self.scale2)
        self._stop(careful_step(m.program(s).statement, start.t0, start.h, carry, args))

    def _store(self, state):
        if self.done and self.done % self.start.every == 0:
            self.rows[self.done // self.start.every] = state

    # ---- the loop

    def go(self, progress=None):
        steps = self.start.steps
        kind, run = self._backend()
        with _Bar(progress, steps) as bar:
            try:
                while self.done < steps:
                    before = self.done
                    self._advance(run, min(steps, self.done + CHUNK[kind]))
                    bar.update(self.done - before)
            except KeyboardInterrupt:
                message = f"interrupted after {self.done} of {steps} steps"
                raise Interrupted(
                    message + "; the computed part is in .trajectory", self.trajectory(message)
                ) from None

    def _backend(self):
        kind = self.start.backend
        if kind is None:
            long = self.start.steps >= COMPILE_FROM[compile_state(self.program)]
            kind = "numba" if long and has_numba() else "python"
        start = self.start
        rest = (start.every, start.t0, start.h, *self.args)
        if kind == "numba":
            compiled = self.program.numba
            return kind, lambda state, n, stop: compiled(state, self.rows, n, stop, *rest)
        plain = self.program.python

        def run(state, n, stop):
            floats, out = state.tolist(), []  # CPython is several times faster without arrays
            done = plain(floats, out, n, stop, *rest)
            state[:] = floats
            new = np.frombuffer(struct.pack(f"{len(out)}d", *out)).reshape(-1, len(state))
            self.rows[n // start.every + 1 :][: len(new)] = new
            return done

        return kind, run

    def _advance(self, run, stop):
        """Go on towards ``stop``; a step that fails is taken once more with pivoting."""
        self.done = self._try(run, stop)
        if self.done < stop:
            self._careful()

    def _try(self, run, stop):
        try:
            return run(self.state, self.done, stop)
        except (ZeroDivisionError, OverflowError, ValueError):
            pass  # only CPython raises these; find the step that did
        done = self.done
        try:
            while done < stop and run(self.state, done, done + 1) > done:
                done += 1
        except (ZeroDivisionError, OverflowError, ValueError):
            pass
        return done

    def _careful(self):
        variable = self.method.variable_step
        t, h = self.time, self.state[1] if variable else self.start.h
        carry = self.state[2:].copy() if variable else self.state
        if variable:
            carry[-2] = h  # no extrapolation this time
        attempt = careful_step(self.program.statement, t, h, carry.tolist(), self.args)
        if not attempt.ok:
            self._stop(attempt)
        self.done += 1
        new = attempt.carry
        if variable:
            new = np.concatenate([[t + attempt.h, attempt.h], new])
        self.state[:] = new
        self._store(self.state)

    # ---- stopping

    @property
    def time(self):
        fixed = self.start.t0 + self.done * self.start.h
        return float(self.state[0]) if self.method.variable_step else fixed

    def _stop(self, attempt):
        reason, advice = attempt.reason, attempt.advice
        if self.explain:  # takes a moment, so an ensemble leaves it until somebody asks
            reason, advice = explain(self, attempt)
        raise IntegrationError(
            reason,
            method=self.method,
            step=self.done,
            time=self.time,
            residual=attempt.residual,
            advice=advice,
            trajectory=self.trajectory(f"stopped after {self.done} of {self.start.steps} steps: "
                                       f"{reason}"),
        ) from None  # fmt: skip

    def trajectory(self, message=""):
        start = self.start
        rows = self.rows[: self.done // start.every + 1]
        return Trajectory(self.system, self.method, rows, t0=start.t0, h=start.h,
                          every=start.every, message=message,
                          q1_given=start.q1 is not None)  # fmt: skip


class _Bar:
    """A tqdm bar that appears only if the run takes longer than two seconds."""

    def __init__(self, progress, steps):
        self.wanted, self.steps, self.bar = progress, steps, None
        self.begun, self.count = time.perf_counter(), 0

    def __enter__(self):
        return self

    def update(self, count):
        self.count += count
        late = self.wanted is None and time.perf_counter() - self.begun > 2
        if self.bar is None and self.count < self.steps and (late or self.wanted):
            from tqdm.auto import tqdm

            self.bar = tqdm(total=self.steps, initial=self.count - count, unit="step",
                            unit_scale=True, leave=False)  # fmt: skip
        if self.bar is not None:
            self.bar.update(count)

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()


def _reference(start, progress=None):
    """DOP853 on the equations of motion, read at t0 + k h."""
    from scipy.integrate import DOP853

    s, m = start.system, start.method
    n, width = len(s.q), m.layout(s).width
    both = n + len(s.v)

    rates = s.motion

    def motion(t, y):
        return np.array(rates(t, y.tolist())[:both])

    a0 = _first_acceleration(start)
    v_scale = velocity_scale(start.v0, a0, start.h)
    if s.is_mechanical and s.is_definite:
        # A coordinate at rest will move, too: at the speed that its mass and the energy allow.
        M = s.M(start.q0, None, start.t0)
        energy = max(x @ M @ x for x in (start.v0, start.h * a0))
        allowed = np.sqrt(energy / np.diag(M))
        rest = np.maximum(np.abs(start.v0), start.h * np.abs(a0)) < 1e-12 * allowed
        v_scale = np.where(rest, np.maximum(v_scale, 1e-3 * allowed), v_scale)
    speed = v_scale if len(s.v) == n else v_scale.max()
    q_scale = np.maximum(np.abs(start.q0), start.h * speed)
    atol = m.rtol * np.concatenate([q_scale, v_scale]) if m.atol is None else m.atol
    rows = np.zeros((start.steps // start.every + 1, width))
    rows[0, :both] = [*start.q0, *start.v0]
    before = np.tile(rows[0, :both], (len(rows) - 1, 1))  # the states one h before each row
    times = start.t0 + start.h * start.every * np.arange(len(rows))
    done = 0

    def result(message=""):
        rows[1:, both:] = np.nan  # where there is none
        y, t = before[:done], times[1 : done + 1] - start.h
        try:
            rows[1 : done + 1, both:] = -start.h * s.multipliers(y[:, :n], y[:, n:], t)
        except ValueError:  # one has none: find out which
            for k in range(done):
                with contextlib.suppress(ValueError):
                    rows[k + 1, both:] = -start.h * s.multipliers(y[k, :n], y[k, n:], t[k])
        return Trajectory(s, m, rows[: done + 1], t0=start.t0, h=start.h, every=start.every,
                          message=message)  # fmt: skip

    solver = DOP853(motion, times[0], rows[0, :both], times[-1], rtol=m.rtol, atol=atol)
    try:
        with _Bar(progress, len(rows) - 1) as bar:
            tiny = 0  # steps in a row that lead nowhere, as at a singularity
            while done < len(rows) - 1:
                problem = solver.step()
                tiny = tiny + 1 if solver.step_size < 1e-9 * (times[-1] - times[0]) else 0
                if solver.status == "failed" or tiny > 50:
                    raise ValueError(problem or f"the step size fell to {solver.step_size:.1e}")
                dense = solver.dense_output()
                for where, at in ((rows[1:, :both], times[1:]), (before, times[1:] - start.h)):
                    i, j = np.searchsorted(at, [solver.t_old, solver.t], side="right")
                    if j > i:
                        where[i:j] = dense(at[i:j]).T
                last = np.searchsorted(times, solver.t, side="right") - 1
                last = len(rows) - 1 if solver.status == "finished" else int(last)
                bar.update(last - done)
                done = last
    except KeyboardInterrupt:
        text = f"interrupted after {done} of {len(rows) - 1} rows"
        raise Interrupted(text + "; the computed part is in .trajectory", result(text)) from None
    except ValueError as error:
        q = rows[done, :n] if done else start.q0
        reason = dependent(s, [q, solver.y[:n]], times[done]) or f"the motion ends here: {error}"
        raise IntegrationError(
            reason, method=m, step=done * start.every, time=times[done], residual=math.nan,
            trajectory=result("stopped: " + reason),
            advice="The constraints or M degenerate, or the motion is singular.",
        ) from None  # fmt: skip
    return result()


def _warn_of_energy_jumps(sol):
    """Newton can converge to a far root of too large a step; the energy tells."""
    if not sol.system.is_autonomous or len(sol) < 2:
        return
    pick = slice(None, None, len(sol) // 500 + 1)
    q, t = sol.q[pick], sol.t0  # the system is autonomous
    v = sol.rows.v[pick]
    with np.errstate(all="ignore"):  # what overflows has jumped, too
        E, V = sol.system.energy(q, v, t), sol.system.V(q, t)
        scale = np.ptp(np.minimum(V, max(E[0], V[0]))) + np.abs(E[0] - V[0]) + 1e-300
        jump = np.nan_to_num(np.abs(E - E[0]), nan=np.inf)
    if jump.max() > 10 * scale:
        warnings.warn(
            f"the energy changes from {E[0]:.4g} to {E[jump.argmax()]:.4g} during "
            f"this run: h = {sol.h0:g} is too large for {sol.method!r}",
            RuntimeWarning,
            stacklevel=3,
        )
