"""Many runs at once: arrays, compiled code, and any ``concurrent.futures`` executor.

The runs are cut into chunks by work and memory, never by the executor: so the numbers are the same
whoever computes them, and in whatever order.  Nothing here schedules; the executor does.
"""

from __future__ import annotations

import pickle
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import suppress
from copy import copy
from functools import cached_property, lru_cache

import numpy as np

from ..codegen.evaluate import joined
from ..methods import Reference
from ..methods.layout import Rows
from . import loop
from .errors import EnsembleError, IntegrationError, Interrupted
from .loop import COMPILE_FROM, Run, Start, begin, compile_state, has_numba, integrate
from .trajectory import Trajectory

WORK = {"python": 50_000, "numpy": 1_000_000, "numba": 2_000_000}  # steps of a chunk, about 1 s
LEAST = {"python": 1, "numpy": 256, "numba": 1}  # members of a chunk; short arrays are slow
BYTES = 64_000_000  # of the rows of a chunk


def ensemble(system, method, q0=None, v0=None, *, h, steps, q1=None, parameters=None, every=1,
             t0=0.0, summary=None, executor=None, chunk=None, progress=None,
             backend=None):  # fmt: skip
    """Run a method K times and return an Ensemble.

    Parameters
    ----------
    q0, v0, q1 : (n,), the same for all, or (K, n); as in ``nh.integrate``
    h : a number or (K,);  steps : the same for all
    parameters : name -> number or (K,), instead of the system's own
    summary : a function of a Trajectory, whose numbers, arrays or dicts of them are kept instead
        of the rows; or "last", "energy"; or several of these in a list
    executor : any ``concurrent.futures`` executor, such as ProcessPoolExecutor() or a Dask
        client's get_executor(); without one, all happens here
    chunk : members computed as one task; by default about a second of work, at most 64 MB
    progress : as in ``nh.integrate``;  backend : "python", "numpy", "numba"; None: by the size

    A run that cannot go on stops alone, and ``.errors`` says why.  Ctrl-C raises Interrupted, a
    lost worker EnsembleError; both keep the members that were done in ``.ensemble``.
    """
    start = Starts(system, method, q0, v0, h=h, steps=steps, q1=q1, parameters=parameters,
                   every=every, t0=t0, backend=backend)  # fmt: skip
    functions = _functions(summary)
    chunks, common = start.chunks(chunk, bool(functions)), Common((system, method, functions))
    many, futures = Ensemble(start, bool(functions)), {}
    try:
        with loop._Bar(progress, len(start) * start.steps) as bar:
            if executor is None:
                results = ((index, _run(common, start.part(index), many._rows_of(index)))
                           for index in chunks)  # fmt: skip
            else:
                start.compile()
                for index in chunks:
                    futures[executor.submit(_run, common, start.part(index))] = index
                done = as_completed(list(futures))
                results = ((futures.pop(future), future.result()) for future in done)
            for index, result in results:
                many._add(index, *result)
                many._check_summary(index)
                bar.update(len(index) * start.steps)
    except (KeyboardInterrupt, Exception) as error:
        for future in futures:
            future.cancel()
        for future, index in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                many._add(index, *future.result())
        stopped = isinstance(error, KeyboardInterrupt)
        raise _failure(error, many._finish()) from (None if stopped else error)
    return many._finish()


def _failure(error, many):
    """The exception to raise in the place of this one."""
    done = f"{int(many._ran.sum())} of {len(many)} members are done, see .ensemble"
    if isinstance(error, KeyboardInterrupt):
        return Interrupted(f"interrupted; {done}", ensemble=many)
    why = f"{type(error).__name__}: {error}"
    if isinstance(error, EnsembleError):
        why = str(error)
    elif isinstance(error, BrokenExecutor):
        why = f"a worker was lost, and the executor with it: {error}"
    return EnsembleError(f"{why.rstrip('.')}. {done}; .ensemble.ok tells which to run again", many)


# ---------------------------------------------------------------------------- what is returned


class Ensemble:
    """K runs of the same number of steps.

    q, p : (K, N+1, n) and t : (K, N+1), NaN where a run had stopped;  h : (K,);  parameters :
    name -> (K,);  steps_done : (K,);  ok : (K,) True where a run went through
    errors : index -> why a run stopped, in short; ``error(k)`` repeats run k to explain it
    summary : if one was asked for, an array (K, ...) or a dict of them; then there are no rows

    ``ensemble[k]`` is run k as a Trajectory, as far as it went.
    """

    def __init__(self, start, summarised):
        self.start, self.system, self.method = start, start.system, start.method
        self.h, self.parameters, count = start.h, start.parameters, len(start)
        self.rows = None if summarised else start.empty_rows(count)
        self.steps_done, self._ran = np.zeros(count, int), np.zeros(count, bool)
        self.errors, self.summary, self._values = {}, None, {}

    def _rows_of(self, index):
        """Where a chunk that is computed here may leave its rows."""
        return None if self.rows is None else self.rows[index[0] : index[-1] + 1]

    def _add(self, index, rows, done, errors, values):
        """Put the results of a chunk in their places."""
        if rows is not None:
            self.rows[index] = rows
        self._values |= {int(index[k]): x for k, x in values.items()}
        self.errors |= {int(index[k]): message for k, message in errors.items()}
        self.steps_done[index], self._ran[index] = done, True

    def _check_summary(self, index):
        """Do not wait for the others if nobody has a summary, though runs went through."""
        for k in index[self._complete[index]] if self.rows is None and not self._values else ():
            raise EnsembleError(f"member {k}: {self.errors[int(k)]}")

    def _finish(self):
        """Join the summaries; NaN where there is none, or it is not shaped as the first."""
        missing = np.flatnonzero(~self._ran)
        self.errors |= dict.fromkeys(missing.tolist(), "not run")
        if self.rows is not None:
            self.rows[missing] = np.nan
        order = sorted(self._values, key=lambda k: (not self._complete[k], k))
        for k in order:
            own = {name: x.shape for name, x in self._values[k].items()}
            if k == order[0]:
                shapes = own
                found = {name: np.full((len(self), *s), np.nan) for name, s in own.items()}
            if own != shapes:
                _note(self.errors, k, f"its summary is shaped {own}, not {shapes}")
                continue
            for name, x in self._values[k].items():
                found[name][k] = x
        if order:
            self.summary = found.get(None, found)
        self.errors = dict(sorted(self.errors.items()))
        return self

    def __len__(self):
        return len(self.start)

    def __repr__(self):
        return (f"<Ensemble of {len(self)} runs of {self.system.name or 'a system'} by "
                f"{self.method!r}, {int(self.ok.sum())} complete>")  # fmt: skip

    def __getitem__(self, k):
        self._need_rows()
        k = range(len(self))[k]
        return self.start.trajectory(k, self.rows[k], self.steps_done[k], self.errors.get(k, ""))

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    @property
    def _complete(self):
        return self._ran & (self.steps_done == self.start.steps)

    @property
    def ok(self):
        ok = self._complete
        ok[list(self.errors)] = False
        return ok

    def _need_rows(self):
        if self.rows is None:
            raise ValueError("only the summaries of these runs were kept, in .summary; leave "
                             "summary out to have the runs")  # fmt: skip

    @property
    def _parts(self):
        self._need_rows()
        return Rows(self.method.layout(self.system), self.rows)

    @property
    def t(self):
        parts, start = self._parts, self.start
        if self.method.variable_step:
            return parts.t
        times = start.t0 + self.h[:, None] * (start.every * np.arange(self.rows.shape[1]))
        return np.where(np.isnan(self.rows[:, :, 0]), np.nan, times)

    @property
    def q(self):
        return self._parts.q

    @property
    def p(self):
        if self.method.discrete:
            return self._parts.p
        system = self.system.varied({k: x[:, None] for k, x in self.parameters.items()}, None)
        return system.momentum(self.q, self._parts.v, self.t)

    def error(self, k):
        """The IntegrationError of run k, or None: the run is repeated to find out."""
        if self.steps_done[k] == self.start.steps:
            return None
        s = self.start.member(k)
        given = {"v0": s.v0} if s.q1 is None else {"q1": s.q1}
        try:
            integrate(s.system, s.method, s.q0, **given, h=s.h, steps=s.steps, t0=s.t0)
        except IntegrationError as error:
            return error
        return None


# ---------------------------------------------------------------------------- at the door


class Starts(Start):
    """Checked arguments of K runs and the states they go on from.

    q0, v0, q1 : (K, n);  h : (K,);  parameters : name -> (K,);  definite : ``is_definite`` of all
    row, state, scale2 : (K, ...) and done : what ``loop.begin`` returns
    """

    def __init__(self, system, method, q0, v0, *, h, q1=None, parameters=None, **options):
        loop._check_pair(system, method)
        if isinstance(method, Reference):
            raise ValueError("ensemble runs one-step methods; call nh.integrate for nh.Reference")
        if q0 is None and system.q0 is not None:
            q0, v0 = system.q0, system.v0 if v0 is None and q1 is None else v0
        given = {"q0": q0, "v0": v0, "q1": q1}
        given = {k: _states(system, x, k) for k, x in given.items() if x is not None}
        if not isinstance(parameters, (dict, type(None))):
            raise ValueError(f"parameters = {parameters!r} must map names to numbers or arrays")
        values = {getattr(k, "name", str(k)): x for k, x in (parameters or {}).items()}
        system.set(**dict.fromkeys(values, 1.0))  # refuses names it does not know
        values = {k: _numbers(x, f"parameters[{k!r}]") for k, x in values.items()}
        if np.ndim(h):
            h = _numbers(h, "h")
            for k in np.flatnonzero(h <= 0)[:1]:
                raise ValueError(f"h[{k}] = {h[k]} must be positive; to go back, reverse v0")
        sizes = {k: len(x) for k, x in given.items() if x.ndim > 1}
        numbers = {"h": h} | {f"parameters[{k!r}]": x for k, x in values.items()}
        count = _same(sizes | {k: len(x) for k, x in numbers.items() if np.ndim(x)})
        for k, x in given.items():
            given[k] = np.broadcast_to(x, (count, len(x))) if x.ndim == 1 else x
        self.parameters = {k: np.broadcast_to(x, count) for k, x in values.items()}
        self.definite = _definite(system, self.parameters, count)
        q0, v0 = given.pop("q0", None), given.pop("v0", None)
        one = h if np.ndim(h) == 0 else h[0].item() if count else 1.0
        try:
            super().__init__(system.varied(self.parameters, self.definite), method, q0, v0,
                             h=one, batch=True, **given, **options)  # fmt: skip
            self.h = np.full(count, h, float)
            self.row, self.state, self.done, self.scale2 = begin(self)
            sound = np.isfinite(self.row[:, :-1] if method.variable_step else self.row).all()
        except (ValueError, TypeError):  # TypeError: of arrays, where one state is looked at alone
            if not hasattr(self, "q1") or not (self.parameters or np.ndim(self.h)):
                raise  # which names its member
            sound = False
        self.system, self.h = system, np.full(count, h, float)
        if not sound:
            self._begin_one_by_one()
        if self.backend is None:
            program = method.program(system.varied({}, self.definite))
            long = count * self.steps >= COMPILE_FROM[compile_state(program)]
            self.backend = "numba" if long and has_numba() else "numpy" if count >= 16 else "python"

    def __len__(self):
        return len(self.q0)

    def _begin_one_by_one(self):
        """Slowly, to name the member that cannot."""
        found = []
        for k in range(len(self)):
            one = self.member(k)
            try:
                one._admissible()
                found.append(begin(one))
                with suppress(IntegrationError):
                    Run(one, *found[-1], explain=False)
            except ValueError as error:
                raise ValueError(f"member {k}: {error}") from None
        row, state, (self.done, *_), scale2 = zip(*found, strict=True)
        self.row, self.state, self.scale2 = np.stack(row), np.stack(state), np.stack(scale2)

    def empty_rows(self, count):
        return np.empty((count, self.steps // self.every + 1, self.row.shape[1]))

    def chunks(self, size=None, summarised=False):
        """The indices of each chunk, one after the other."""
        kind, row = self.backend, 8 * self.row.shape[1] * (self.steps // self.every + 1)
        if size is None:
            size = max(WORK[kind] // max(self.steps, 1), LEAST[kind])
            if kind == "numpy" or not summarised:  # else the rows of one member serve for all
                size = min(size, max(BYTES // row, 1))
        count, size = len(self), loop._count(size, "chunk", 1)
        return np.array_split(np.arange(count), -(-count // size)) if count else []

    def part(self, index):
        """These members, without the system and the method, which the chunks share."""
        new = copy(self)
        del new.system, new.method
        for name in ("q0", "v0", "q1", "h", "row", "state", "scale2"):
            x = getattr(self, name)
            setattr(new, name, None if x is None else x[index])
        new.parameters = {k: x[index] for k, x in self.parameters.items()}
        return new

    def member(self, k):
        """The start of run k alone."""
        one = copy(self)
        one.batch, one.q0, one.h = False, self.q0[k], float(self.h[k])
        one.v0, one.q1 = (None if x is None else x[k] for x in (self.v0, self.q1))
        values = {name: x[k] for name, x in self.parameters.items()}
        one.system = self.system.set(**values) if values else self.system
        one.system.__dict__["is_definite"] = self.definite
        return one

    def run(self, k, rows):
        """Run k, ready to go."""
        return Run(self.member(k), self.row[k], self.state[k].copy(), self.done, self.scale2[k],
                   rows, explain=False)  # fmt: skip

    def trajectory(self, k, rows, done, message):
        one = self.member(k)
        return Trajectory(one.system, self.method, rows[: done // self.every + 1], t0=self.t0,
                          h=one.h, every=self.every, message=message,
                          q1_given=self.q1 is not None)  # fmt: skip

    def compile(self):
        """Have the machine code ready, so that not all workers make it at the same time."""
        good = np.flatnonzero(np.isfinite(self.state).all(-1))[:1]
        for k in good if self.backend == "numba" else ():
            one = self.part([k])
            one.system, one.method = self.system, self.method
            run = one.run(0, one.empty_rows(1)[0])
            run._backend()[1](run.state, run.done, run.done)


def _states(system, x, name):
    """x as an array: (n,) for one state, (K, n) or, on a group, (K, 3, 3) for many."""
    x = x.as_matrix() if hasattr(x, "as_matrix") else x
    try:
        x = np.array(x, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {x!r} is not an array of numbers") from None
    one = x.shape == (3, 3) and hasattr(system, "group") and len(system.q) != 3
    return system.configuration(x, name) if one and name != "v0" else x


def _numbers(x, name):
    try:
        x = np.array(x, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {x!r} must be a number or K numbers") from None
    if x.ndim > 1:
        raise ValueError(f"{name} has shape {x.shape}; expected (K,), one number for each run")
    for k in np.flatnonzero(~np.isfinite(x))[:1]:
        at = f"[{k}]" if x.ndim else ""
        raise ValueError(f"{name}{at} = {x.flat[k]} must be a finite number")
    return x


def _same(sizes):
    """K, if all agree on it."""
    if not sizes:
        raise ValueError("nothing varies: give q0, v0, h or parameters for K runs, the states of "
                         "shape (K, n), or call nh.integrate")  # fmt: skip
    (first, count), *rest = sizes.items()
    for name, n in rest:
        if n != count:
            raise ValueError(f"{name} has {n} rows but {first} has {count}")
    return count


def _definite(system, parameters, count):
    """``System.is_definite`` for all members."""
    symbols = {s.name for row in system.symbolic.M for e in row for s in e.free_symbols}
    if symbols.isdisjoint(parameters):
        return system.is_definite
    q, v, t = system.samples()
    for at in range(0, count, 10_000):
        some = {k: x[at : at + 10_000, None] for k, x in parameters.items()}
        shape = np.broadcast_shapes(*(x.shape for x in some.values()), q.shape[:1])
        q_, v_ = (np.broadcast_to(x, (*shape, x.shape[1])) for x in (q, v))
        with np.errstate(all="ignore"):
            M = system.varied(some, None).M(q_, v_, t)
        if not (np.isfinite(M).all() and (np.linalg.eigvalsh(M)[..., 0] > 0).all()):
            return False
    return True


# ---------------------------------------------------------------------------- in a worker


class Common:
    """What all chunks share; a process that gets many chunks unpickles it once."""

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return _unpickled, (self.data,)

    @cached_property
    def data(self):
        try:  # it takes the functions of a notebook too
            from cloudpickle import dumps
        except ImportError:
            from pickle import dumps
        return dumps(self.value)


@lru_cache(4)
def _unpickled(data):
    return Common(pickle.loads(data))


def _run(common, part, out=None):
    """The rows of a part, if they are wanted and not left in ``out``; steps done, index -> message
    and index -> summary."""
    part.system, part.method, functions = common.value
    together, count = part.backend == "numpy", len(part)
    rows = part.empty_rows(1 if functions and not together else count) if out is None else out
    done, errors, values = np.zeros(count, int), {}, {}
    if together:
        _as_arrays(part, rows, done, errors)
    for k in range(count):
        own = rows[k % len(rows)]
        if not together:
            done[k] = _alone(part, k, own, errors)
        own[done[k] // part.every + 1 :] = np.nan
        if functions:
            sol = part.trajectory(k, own, done[k], errors.get(k, ""))
            try:
                values[k] = _summarise(functions, sol)
            except Exception as error:
                _note(errors, k, f"the summary failed: {type(error).__name__}: {error}")
    return rows if out is None and not functions else None, done, errors, values


def _alone(part, k, rows, errors):
    """Run one member and return its number of steps."""
    try:
        run = part.run(k, rows)
        run.go(progress=False)
        return run.done
    except IntegrationError as error:
        errors[k] = _message(part, error)
        return error.step


def _as_arrays(part, rows, ends, errors):
    """All states advance together; one that fails is tried alone and, failing again, left out."""
    m, first = part.method, 2 if part.method.variable_step else 0
    rows[:, 0] = part.row
    alive = np.isfinite(part.state).all(-1)
    for j in np.flatnonzero(~alive).tolist():  # their first step fails
        _alone(part, j, rows[j], errors)
    if part.done and part.steps:
        ends[alive] = part.done
        if part.every == 1:
            rows[alive, 1] = part.state[alive]
    alive = np.flatnonzero(alive)
    state, company = part.state[alive], None
    for k in range(part.done, part.steps):
        if not len(alive):
            break
        if company is None:  # somebody left
            some = {name: x[alive] for name, x in part.parameters.items()}
            company = part.system.varied(some, part.definite)
            step, fixed = m.program(company).numpy, part.h[alive]
            args = m.arguments(company, part.scale2[alive].T)
        t, h = (state[:, 0], state[:, 1]) if first else (part.t0 + k * fixed, fixed)
        with np.errstate(all="ignore"):
            ok, h, *new = step(t, h, *state[:, first:].T, *args)
        columns = [t + h, h, *new] if first else new
        new = joined(columns, (len(alive),))
        good = np.broadcast_to(ok, len(alive)).copy()
        for i in np.flatnonzero(~good):
            j = alive[i]
            one = Run(part.member(j), part.row[j], state[i].copy(), k, part.scale2[j],
                      np.empty_like(rows[j]), explain=False)  # fmt: skip
            try:
                one._careful()
                new[i], good[i] = one.state, True
            except IntegrationError as error:
                errors[int(j)], company = _message(part, error), None
        state, alive = new[good], alive[good]
        ends[alive] = k + 1
        if (k + 1) % part.every == 0:
            rows[alive, (k + 1) // part.every] = state


def _message(part, error):
    return (f"stopped after {error.step} of {part.steps} steps at t = {error.time:.6g}: "
            f"{error.reason}")  # fmt: skip


# ---------------------------------------------------------------------------- summaries


def last(sol):
    """Where a run ended: t, and q and p of shape (n,)."""
    end = Trajectory(sol.system, sol.method, sol.rows.array[-1:], t0=sol.t[-1], h=sol.h0)
    return {"t": sol.t[-1], "q": end.q[0], "p": end.p[0]}


def energy(sol):
    """The energy at the nodes: the first, largest less smallest, and the slope of the best line."""
    E, t = sol.energy(), sol.t - sol.t.mean()
    with np.errstate(all="ignore"):  # one node has no slope
        slope = t @ (E - E.mean()) / (t @ t)
    return {"E0": E[0], "E_ptp": np.ptp(E), "E_slope": slope}


SUMMARIES = {"last": last, "energy": energy}


def _functions(summary):
    """The functions that ``summary`` names."""
    if summary is None:
        return []
    given = list(summary) if isinstance(summary, (list, tuple)) else [summary]
    for f in given or [summary]:
        if not callable(f) and (not isinstance(f, str) or f not in SUMMARIES):
            raise ValueError(f"summary = {f!r} is neither a function of a Trajectory nor one of "
                             f"{sorted(SUMMARIES)}")  # fmt: skip
    return [f if callable(f) else SUMMARIES[f] for f in given]


def _summarise(functions, sol):
    """name -> array; the name is None if one function returned no dict."""
    found = {}
    for f in functions:
        value = f(sol)
        if not isinstance(value, dict) and len(functions) > 1:
            raise TypeError(f"each of several summaries must return a dict, not {value!r}")
        found |= value if isinstance(value, dict) else {None: value}
    return {k: np.array(x, float) for k, x in found.items()}  # the rows may be used again


def _note(errors, k, text):
    errors[k] = f"{errors[k]}; {text}" if k in errors else text
