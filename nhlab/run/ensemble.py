"""Many runs at once: arrays, compiled code, and any ``concurrent.futures`` executor.

The runs are cut into chunks by work and memory, never by the executor: so the numbers are the same
whoever computes them, and in whatever order.  Nothing here schedules; the executor does.
"""

from __future__ import annotations

import numbers
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from functools import cached_property, lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, overload

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.evaluate import joined
from ..mechanics.checks import brief
from ..mechanics.spelling import no_such_attribute
from ..mechanics.system import System
from ..methods.layout import Rows
from ..methods.method import Method
from . import files, html, many_files, tables
from .arguments import LOG, StateLike, check_backend, whole
from .errors import EnsembleError, IntegrationError, Interrupted
from .events import Found, found_in_all
from .explain import energy_jumps, growth
from .loop import Run, choose_backend
from .progress import Bar
from .start import Start
from .trajectory import Trajectory
from .watch import Event, read_events

WORK = {"python": 50_000, "numpy": 1_000_000, "numba": 2_000_000}  # steps of a chunk, about 1 s
LEAST = {"python": 1, "numpy": 256, "numba": 1}  # members of a chunk; short arrays are slow
BYTES = 64_000_000  # of the rows of a chunk
NODES = 50_000  # whose events are looked for together; each needs some matrices
NOT_RUN = "not run"  # the error of a member until it has been
Summaries = dict[int, dict[str | None, np.ndarray]]  # of members, by the name of each part
LOOKS = np.linspace(0, 1, 20)  # where the energies of a run are looked at


def ensemble(
    system: System,
    method: Method,
    q0: StateLike = None,
    v0: StateLike = None,
    *,
    h: ArrayLike,
    steps: int | None = None,
    T: float | None = None,
    q1: StateLike = None,
    u0: StateLike = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    every: int = 1,
    t0: float = 0.0,
    summary: object = None,
    executor: Executor | None = None,
    chunk: int | None = None,
    progress: bool | None = None,
    backend: str | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Any = None,
) -> Ensemble:
    """Run a method K times and return an Ensemble.

    Parameters
    ----------
    q0, v0, q1 : (n,), the same for all, or (K, n); or dicts by names, as in ``nh.integrate``
    u0 : (r,) or (K, r), quasi-velocities instead of v0, as in ``nh.integrate``
    h : a number or (K,);  steps : the same for all;  T : the time to run until, if h is a number
    parameters : name -> number or (K,), instead of the system's own; also of constant inputs
    summary : a function of a Trajectory, whose numbers, arrays or dicts of them are kept instead
        of the rows; or "last", "energy"; or several of these in a list
    executor : any ``concurrent.futures`` executor, also Dask's get_executor(); without one, here
    chunk : members computed as one task; by default about a second of work, at most 64 MB
    progress, inputs : as in ``nh.integrate``;  backend : "python", "numpy", "numba"; None: by size
    events : as in ``nh.integrate``; those of member k are in ``many.t_events[k]``, and a terminal
        one ends the run of its member alone
    system, method, every, t0 : as in ``nh.integrate``

    A run that cannot go on stops alone; ``.errors`` says why, and whose summary is not finite.
    Ctrl-C raises Interrupted, a lost worker EnsembleError; both have what is done in ``.ensemble``.

    Examples
    --------
    Three pendulums from different heights, and when each passes its lowest point.

    >>> import nhlab as nh
    >>> pendulum = nh.systems.pendulum()
    >>> low = nh.Event(pendulum.q[0], direction=-1)
    >>> start = [[0.1], [1.0], [2.0]]
    >>> many = nh.ensemble(pendulum, nh.DLA(), start, [0], h=0.01, T=6, events=low)
    >>> many
    <Ensemble of 3 runs of pendulum by DLA(alpha=0.5), 3 complete>
    >>> [float(t[0][0].round(3)) for t in many.t_events]
    [1.572, 1.675, 2.087]

    >>> sleigh = nh.systems.sleigh()
    >>> runs = nh.ensemble(sleigh, nh.DLA(), h=[0.1, 0.2, 0.4], steps=50, summary="last")
    >>> runs.steps_done.tolist(), sorted(runs.summary)
    ([50, 50, 50], ['p', 'q', 't'])
    """
    if not getattr(method, "has_step", True):
        raise ValueError(f"method = {method!r} takes no steps of its own; call nh.integrate for it")
    if T is not None and getattr(method, "variable_step", False):
        raise ValueError(f"T = {T!r}: {method!r} chooses its steps as it goes; give steps")
    given = {"q1": q1, "t0": t0, "parameters": {} if parameters is None else parameters}
    given |= {"h": h, "steps": steps, "T": T, "every": every, "inputs": inputs, "u0": u0}
    if not callable(getattr(executor, "submit", None)) and executor is not None:
        some = "ProcessPoolExecutor() of concurrent.futures"
        raise ValueError(f"executor = {brief(executor)} cannot submit work; give one, as {some}")
    start = Start(system, method, q0, v0, **given)
    check_backend(backend, (None, "python", "numba", "numpy"))
    backend, functions = backend or choose_backend(start), _functions(summary)
    events = read_events(events, start.system)
    parts = chunks(start, backend, chunk, bool(functions) and not events)
    common = Common((start.system, method, backend, functions, events))
    many = _collect(start, parts, common, executor, Bar(progress, len(start) * start.steps))
    _warn(many)
    return many


def chunks(
    start: Start, backend: str, size: int | None = None, summarised: bool = False
) -> list[slice]:
    """The members of each chunk as slices, one after the other."""
    if size is None:
        size = max(WORK[backend] // max(start.steps, 1), LEAST[backend])
        if backend == "numpy" or not summarised:  # else the rows of one member serve for all
            size = min(size, max(BYTES // (8 * start.layout.width * start.row_count), 1))
    count, size = len(start), whole(size, "chunk", 1)
    parts = np.array_split(np.arange(count), -(-count // size)) if count else []
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]


# ---------------------------------------------------------------------------- what is returned


class Ensemble:
    """K runs of the same number of steps.

    Attributes
    ----------
    q, p : (K, N+1, n), NaN where a run had stopped
    t, h : (K, N+1) and (K,)
    parameters : name -> (K,)
    steps_done, ok : (K,), and True where a run went through and its summary is finite
    errors : index -> why a run stopped or has no finite summary, in short; ``error(k)`` repeats
        run k to explain why it stopped
    jumps : index -> (first energy, farthest from it), where h was too large
    summary : if one was asked for, an array (K, ...) or a dict of them; then there are no rows
    t_events, q_events, v_events : for each run a list with one array for each event, as of a
        Trajectory; None if there were none

    ``ensemble[k]`` is run k as a Trajectory, as far as it went, ``ensemble[2:5]`` or
    ``ensemble[ensemble.ok]`` the Ensemble of some runs, and ``ensemble["x"]`` a column of all,
    shape (K, N+1).

    Examples
    --------
    >>> import nhlab as nh
    >>> q0, v0 = [[0, 1, 0], [0, 2, 0]], [[1, 0, 1], [1, 0, 2]]
    >>> runs = nh.ensemble(nh.systems.particle(), nh.DLA(), q0, v0, h=0.2, steps=50)
    >>> runs.q.shape, runs.ok.tolist()
    ((2, 51, 3), [True, True])
    >>> runs[1]
    <Trajectory of particle by DLA(alpha=0.5): 50 steps to t = 10>
    >>> runs["vx"].shape, len(runs[:1])
    ((2, 51), 1)
    """

    start: Start
    system: System
    method: Method
    h: np.ndarray
    parameters: dict[str, np.ndarray]
    rows: np.ndarray | None
    steps_done: np.ndarray
    summary: Any
    errors: dict[int, str]
    jumps: dict[int, tuple[float, float]]
    events: dict[int, Found]
    watched: list[Event]

    def __init__(self, start: Start, summarised: bool, watched: Sequence[Event] = ()) -> None:
        self.start, self.system, self.method = start, start.system, start.method
        self.h, self.parameters, count = start.h, start.parameters, len(start)
        self.rows = None if summarised else start.empty_rows(count)
        self.steps_done, self.summary = np.zeros(count, int), None
        self.errors, self.jumps = dict.fromkeys(range(count), NOT_RUN), {}
        self.events, self.watched = {}, [*watched]  # index -> Found, and what was looked for

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        name, complete = self.system.label, int(self.ok.sum())
        return f"<Ensemble of {len(self)} runs of {name} by {self.method!r}, {complete} complete>"

    @overload
    def __getitem__(self, k: int) -> Trajectory: ...
    @overload
    def __getitem__(self, k: str | sp.Symbol) -> np.ndarray: ...
    @overload
    def __getitem__(self, k: slice | Sequence[int] | np.ndarray) -> Ensemble: ...

    def __getitem__(self, k: Any) -> Any:
        """Run k as a Trajectory, the Ensemble of some runs, or a column of all by its name."""
        if isinstance(k, (str, sp.Symbol)):
            return tables.column_of_all(self, k)
        if not isinstance(k, numbers.Integral):
            return self._some(k)
        if not -len(self) <= k < len(self):
            raise IndexError(f"there is no run {k}: the runs are numbered 0 to {len(self) - 1}")
        rows, k = self._parts.array, range(len(self))[k]
        one, found = self.start.member(k), self.events.get(k)
        return _trajectory(
            one, rows[k], self.steps_done[k], self.errors.get(k), self.watched, found
        )

    def _some(self, which: Any) -> Ensemble:
        """The Ensemble of these runs: of a slice, of numbers, or of an array of True and False."""
        try:
            chosen = np.arange(len(self))[which if isinstance(which, slice) else np.asarray(which)]
        except (IndexError, TypeError, ValueError):
            chosen = np.zeros(())
        if chosen.ndim != 1:
            raise TypeError(
                f"{brief(which)} names no runs; write many[2], many[1:3], many[[0, 2]] or "
                "many[many.ok] for runs, many['x'] for a column of all"
            )
        new = Ensemble(self.start.take(chosen), self.rows is None, self.watched)
        new.steps_done = self.steps_done[chosen]
        new.rows = None if self.rows is None else self.rows[chosen]
        if isinstance(self.summary, dict):
            new.summary = {name: x[chosen] for name, x in self.summary.items()}
        elif self.summary is not None:
            new.summary = self.summary[chosen]
        for name in ("errors", "jumps", "events"):
            own = getattr(self, name)
            events = {i: own[k] for i, k in enumerate(chosen.tolist()) if k in own}
            setattr(new, name, events)
        return new

    @property
    def ok(self) -> np.ndarray:
        """(K,) True where a run is complete and its summary, if any, finite."""
        ok = self.complete
        ok[list(self.errors)] = False
        return ok

    @property
    def complete(self) -> np.ndarray:
        """(K,) True where a run took all its steps, or an event ended it."""
        early = [k for k, events in self.events.items() if events.ended_by is not None]
        complete = self.steps_done == self.start.steps
        complete[early] = True
        return complete

    def _of_events(self, name: str) -> list[Any] | None:
        events = [self.events.get(k) for k in range(len(self))]
        return [x and getattr(x, name) for x in events] if self.events else None

    @property
    def t_events(self) -> list[list[np.ndarray] | None] | None:
        """For each run a list with the times of each event; None if none was looked for."""
        return self._of_events("t")

    @property
    def q_events(self) -> list[list[np.ndarray] | None] | None:
        """The positions at ``t_events``, arrays of shape (events, n)."""
        return self._of_events("q")

    @property
    def v_events(self) -> list[list[np.ndarray] | None] | None:
        """The velocities at ``t_events``, arrays of shape (events, n)."""
        return self._of_events("v")

    @property
    def _parts(self) -> Rows:
        if self.rows is None:
            reason = "only the summaries of these runs were kept, in .summary"
            raise ValueError(f"{reason}; leave summary out to have the runs")
        return Rows(self.start.layout, self.rows)

    @property
    def t(self) -> np.ndarray:
        """(K, N+1) the times of the nodes; NaN where a run had stopped."""
        parts, every = self._parts, self.start.every * np.arange(self.rows.shape[1])
        t, _ = parts.clock(self.start.t0 + self.h[:, None] * every, None)
        return np.where(np.isnan(parts.q[:, :, 0]), np.nan, t)

    @property
    def q(self) -> np.ndarray:
        """(K, N+1, n) the positions; NaN where a run had stopped."""
        return self._parts.q

    @property
    def p(self) -> np.ndarray:
        """(K, N+1, n) the momenta as the method evolves them; NaN where a run had stopped."""
        if self.method.discrete:
            return self._parts.p
        system = self.system.with_arrays({k: x[:, None] for k, x in self.parameters.items()}, None)
        return system.momentum(self.q, self._parts.v, self.t)

    def error(self, k: int) -> IntegrationError | None:
        """The IntegrationError of run k, or None: the run is repeated to find out.

        Examples
        --------
        >>> import nhlab as nh
        >>> many = nh.ensemble(nh.systems.sleigh(), nh.DLA(), h=[0.1, 5], steps=10)
        >>> many.ok.tolist(), many.error(0), many.error(1).advice
        ([True, False], None, 'Try a smaller h.')
        """
        k = range(len(self))[k]
        if self.complete[k]:
            return None
        one = self.start.member(k)
        one.every = 1
        one.initialise()
        try:
            Run(one, choose_backend(one)).go()
        except IntegrationError as error:
            return error
        return None

    # ---- other forms

    to_dataframe, to_xarray = tables.ensemble_to_dataframe, tables.ensemble_to_xarray
    _repr_html_ = html.of_ensemble
    if not TYPE_CHECKING:  # which finds misspelt names itself
        __getattr__ = no_such_attribute

    def save(self, path: str | PathLike[str] | BinaryIO) -> None:
        """Write everything to one ``.npz`` file; ``nh.load`` or ``Ensemble.load`` reads it.

        Examples
        --------
        >>> import nhlab as nh, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "runs.npz")
        >>> nh.ensemble(nh.systems.particle(), nh.DLA(), h=[0.1, 0.2], steps=10).save(path)
        >>> nh.load(path)
        <Ensemble of 2 runs of particle by DLA(alpha=0.5), 2 complete>
        """
        many_files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str] | BinaryIO) -> Ensemble:
        """Read a file written by ``save``; nothing in it is executed or unpickled."""
        return many_files.load_ensemble(cls, path)


def load(path: str | PathLike[str] | BinaryIO) -> Trajectory | Ensemble:
    """Read a run or an ensemble that ``save`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : the file, or an open one

    Examples
    --------
    >>> import nhlab as nh, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, steps=10).save(path)
    >>> nh.load(path)
    <Trajectory of particle by DLA(alpha=0.5): 10 steps to t = 1>
    """
    if files.format_of(path) == many_files.FORMAT:
        return Ensemble.load(path)
    return Trajectory.load(path)


# ---------------------------------------------------------------------------- chunk by chunk


def _collect(
    start: Start, parts: list[slice], common: Common, executor: Executor | None, bar: Bar
) -> Ensemble:
    """Have all parts computed, here or by the executor, and put what they bring in its place."""
    *_, backend, functions, events = common.value
    many, summaries, futures = Ensemble(start, bool(functions), events), {}, {}

    def here() -> Iterator[tuple[slice, tuple]]:
        for where in parts:
            room = None if many.rows is None else many.rows[where]
            yield where, _run(common, start.take(where), room)

    def there() -> Iterator[tuple[slice, tuple]]:
        if backend == "numba" and parts:
            Run(start.member(0), backend).compiled(0)  # so that not all workers have to compile
        for where in parts:
            light = start.take(where, system=None, method=None)  # the chunks share them
            futures[executor.submit(_run, common, light)] = where
        for future in as_completed(list(futures)):
            yield futures.pop(future), future.result()

    try:
        with bar:
            for where, result in here() if executor is None else there():
                summaries |= _add(many, where, *result)
                _check_summaries(many, summaries)
                bar.update((where.stop - where.start) * start.steps)
    except (KeyboardInterrupt, Exception) as error:
        for future in futures:
            future.cancel()
        for future, where in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                summaries |= _add(many, where, *future.result())
        raise _failure(error, many) from (None if isinstance(error, KeyboardInterrupt) else error)
    finally:
        many.summary = _joined(many, summaries)
        many.errors = dict(sorted(many.errors.items()))
        if many.rows is not None:
            many.rows[[k for k, message in many.errors.items() if message == NOT_RUN]] = np.nan
    return many


def _add(
    many: Ensemble,
    where: slice,
    rows: np.ndarray | None,
    done: np.ndarray,
    errors: dict[int, str],
    summaries: Summaries,
    jumps: dict[int, tuple[float, float]],
    events: dict[int, Found],
) -> Summaries:
    """The results of a chunk; returns its summaries by the members' own index."""
    if rows is not None:
        many.rows[where] = rows
    many.steps_done[where], first = done, where.start
    for k in range(first, where.stop):
        del many.errors[k]  # it has run
    many.errors |= {first + k: message for k, message in errors.items()}
    many.jumps |= {first + k: energies for k, energies in jumps.items()}
    many.events |= {first + k: found for k, found in events.items()}
    for k, message in errors.items():
        LOG.info("member %d %s", first + k, message)
    return {first + k: x for k, x in summaries.items()}


def _warn(many: Ensemble) -> None:
    """What is wrong with members that went through."""
    _warn_of_energy_jumps(many)
    _warn_of_growth(many)


def _warn_of_energy_jumps(many: Ensemble) -> None:
    """Once for all members; the first stands for the others."""
    for k in sorted(many.jumps)[:1]:
        what = f"the energies of {len(many.jumps)} of {len(many)} members jump, that of member {k}"
        what += " from {:.4g} to {:.4g}".format(*many.jumps[k])
        what += f": h = {many.h[k]:g} is too large for {many.method!r}; .jumps has them all"
        warnings.warn(what, RuntimeWarning, stacklevel=5)


def _warn_of_growth(many: Ensemble) -> None:
    """The same of steps that grow; where summaries were asked for nothing is left to look at."""
    if many.rows is None or not many.method.variable_step:
        return
    largest = growth(Rows(many.start.layout, many.rows).h)
    for k in np.flatnonzero(largest)[:1]:
        count = np.count_nonzero(largest)
        what = f"the steps of {count} of {len(many)} members grow too far to follow the "
        what += f"motion, that of member {k} from h = {many.h[k]:g} to {largest[k]:.3g}"
        warnings.warn(f"{what}; start with another h", RuntimeWarning, stacklevel=5)


def _check_summaries(many: Ensemble, summaries: Summaries) -> None:
    """Do not wait for the others if nobody has a summary, though runs went through."""
    complete = many.complete
    for k, message in many.errors.items() if many.rows is None and not summaries else ():
        if complete[k] and message != NOT_RUN:
            raise EnsembleError(f"member {k}: {message}")


def _joined(many: Ensemble, summaries: Summaries) -> Any:
    """One array or a dict of them; NaN where there is none, or not shaped as the first."""
    if not summaries:
        return None
    complete = many.complete
    order = sorted(summaries, key=lambda k: (not complete[k], k))
    shapes = [{name: x.shape for name, x in summaries[k].items()} for k in order]
    arrays = {name: np.full((len(many), *shape), np.nan) for name, shape in shapes[0].items()}
    for k, own in zip(order, shapes, strict=True):
        if own != shapes[0]:
            _note(many.errors, k, f"its summary is shaped {own}, not {shapes[0]}")
            continue
        for name, x in summaries[k].items():
            arrays[name][k] = x
    return arrays.get(None, arrays)


def _failure(error: BaseException, many: Ensemble) -> EnsembleError | Interrupted:
    """The exception to raise in the place of this one."""
    count = len(many) - list(many.errors.values()).count(NOT_RUN)
    done = f"{count} of {len(many)} members are done, see .ensemble"
    if isinstance(error, KeyboardInterrupt):
        return Interrupted(f"interrupted; {done}", ensemble=many)
    why = f"{type(error).__name__}: {error}"
    if isinstance(error, EnsembleError):
        why = str(error)
    elif isinstance(error, BrokenExecutor):
        why = f"a worker was lost, and the executor with it: {error}"
    return EnsembleError(f"{why.rstrip('.')}. {done}; .ensemble.ok tells which to run again", many)


# ---------------------------------------------------------------------------- in a worker


class Common:
    """What all chunks share; a process that gets many chunks unpickles it once."""

    def __init__(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.data,)

    @cached_property
    def data(self) -> bytes:
        try:  # it takes the functions of a notebook too
            from cloudpickle import dumps
        except ImportError:
            from pickle import dumps
        return dumps(self.value)


@lru_cache(4)
def _unpickled(data: bytes) -> Common:
    return Common(pickle.loads(data))


def _run(common: Common, part: Start, out: np.ndarray | None = None) -> tuple[Any, ...]:
    """The rows of a part, if they are wanted and not left in ``out``; steps done, and by index
    messages, summaries, energies that jump and events."""
    part.system, part.method, backend, functions, events = common.value
    part.system = part.at_step(0)  # an input has no value that could be sent
    together, count = backend == "numpy", len(part)
    shared = functions and not (together or events)  # the rows of one member serve for all
    rows = part.empty_rows(1 if shared else count) if out is None else out
    done, errors, values, member_events = np.zeros(count, int), {}, {}, {}
    if together:
        _as_arrays(part, rows, done, errors)
    for k in range(0 if together or shared else count):
        done[k] = _alone(part.member(k), rows[k], backend, errors, k)
    if events:
        member_events = _look_for_events(part, rows, done, events, errors)
    looks = np.empty((count, len(LOOKS), part.layout.width))
    for k in range(count):
        own, one = rows[k % len(rows)], part.member(k) if functions else None
        if shared:
            done[k] = _alone(one, own, backend, errors, k)
        last = done[k] // part.every
        own[last + 1 :], looks[k] = np.nan, own[(LOOKS * last).astype(int)]
        if functions:
            sol = _trajectory(one, own, done[k], errors.get(k), events, member_events.get(k))
            _note_summary(functions, sol, values, errors, k)
    rows = rows if out is None and not functions else None
    return rows, done, errors, values, _jumps(part, looks), member_events


def _trajectory(
    one: Start,
    rows: np.ndarray,
    done: int,
    error: str | None,
    events: list[Event],
    member_events: Found | None,
) -> Trajectory:
    """The run of a single member with its events, if it has any."""
    sol = one.trajectory(rows, done, error or (member_events.message if member_events else ""))
    sol.events = events or None
    if member_events:
        sol.t_events, sol.q_events, sol.v_events = member_events.t, member_events.q, member_events.v
        sol.ended_by = member_events.ended_by
    return sol


def _look_for_events(
    part: Start, rows: np.ndarray, done: np.ndarray, events: list[Event], errors: dict[int, str]
) -> dict[int, Found]:
    """index -> Found, located for many members together.

    Where an event ends a run, maybe before the step that failed, ``done`` and ``errors`` follow.
    """
    count, results = done // part.every + 1, {}
    blocks = np.array_split(np.arange(len(part)), -(-int(count.sum()) // NODES))
    while blocks:
        some = blocks.pop()
        try:
            own = found_in_all(part.take(some), rows[some], count[some], events)
        except Exception as error:
            if len(some) > 1:  # one by one, to find out whose it is
                blocks += np.array_split(some, len(some))
                continue
            _note(errors, int(some[0]), f"the events failed: {type(error).__name__}: {error}")
            continue
        for k, (events_of_k, end) in zip(some.tolist(), own, strict=True):
            results[k] = events_of_k
            if events_of_k.ended_by is not None:
                errors.pop(k, None)
                t, _ = Rows(part.layout, rows[k, : count[k]]).clock(_times(part, k, count[k]), None)
                done[k] = part.every * (np.searchsorted(t, end, side="right") - 1)
    return dict(sorted(results.items()))


def _times(part: Start, k: int, count: int) -> np.ndarray:
    """The times of the first nodes of member k, if the method does not choose its own steps."""
    return part.t0 + part.h[k] * (part.every * np.arange(count))


def _note_summary(
    functions: list[Callable], sol: Trajectory, values: Summaries, errors: dict[int, str], k: int
) -> None:
    """Compute the summary of member k; note where it fails or is not finite."""
    try:
        with np.errstate(all="ignore"):  # what overflows is noted below
            values[k] = _summarise(functions, sol)
        _note_infinite(errors, k, values[k])
    except Exception as error:
        _note(errors, k, f"the summary failed: {type(error).__name__}: {error}")


def _jumps(part: Start, looks: np.ndarray) -> dict[int, tuple[float, float]]:
    """index -> (first energy, farthest from it) of the members whose energy jumps."""
    if not part.system.keeps_energy:
        return {}
    parameters = {name: x[:, None] for name, x in part.parameters.items()}
    system, rows = part.system.with_arrays(parameters, None), Rows(part.layout, looks)
    first, farthest, jumped = energy_jumps(system, rows.q, rows.v)
    return {k: (float(first[k]), float(farthest[k])) for k in np.flatnonzero(jumped).tolist()}


def _alone(one: Start, rows: np.ndarray, backend: str, errors: dict[int, str], k: int) -> int:
    """Run member k and return its number of steps."""
    run = Run(one, backend, rows, explain=False)
    try:
        run.go(progress=False)
    except IntegrationError as error:
        errors[k] = _message(one, error)
    return run.done


def _as_arrays(part: Start, rows: np.ndarray, ends: np.ndarray, errors: dict[int, str]) -> None:
    """All states advance together; one that fails is tried alone and, failing again, left out."""
    rows[:, 0] = part.row
    begun = np.isfinite(part.state).all(-1)
    for k in np.flatnonzero(~begun).tolist():  # their first step fails
        _alone(part.member(k), rows[k], "python", errors, k)
    alive = np.flatnonzero(begun)
    now = part.take(alive)
    while len(alive) and now.done <= part.steps:
        ends[alive] = now.done
        if now.done % part.every == 0:
            rows[alive, now.done // part.every] = now.state
        if now.done == part.steps:
            break
        new, good = _step_of_all(now)
        for i in np.flatnonzero(~good):
            one = Run(now.member(i), "python", rows[alive[i]], explain=False)
            one.total = one.done + 1
            try:
                one.advance()
                new[i], good[i] = one.state.array, True
            except IntegrationError as error:
                errors[int(alive[i])] = _message(part, error)
        now.state, now.done = new, now.done + 1
        if not good.all():  # somebody left
            now, alive = now.take(good), alive[good]


def _step_of_all(now: Start) -> tuple[np.ndarray, np.ndarray]:
    """The states after one step, and which of them are good."""
    args = now.method.arguments(now.at_step(now.done, now.batched_system), now.shares.T)
    rows = Rows(now.layout, now.state)
    t, h = rows.clock(now.t0 + now.done * now.h, now.h)
    with np.errstate(all="ignore"):
        ok, h, *carry = now.program.numpy(t, h, *rows.carry.T, *args)
    new = joined(now.layout.columns(t + h, h, carry), (len(now),))
    return new, np.broadcast_to(ok, len(now)).copy()


def _message(part: Start, error: IntegrationError) -> str:
    where = f"after {error.step} of {part.steps} steps at t = {error.time:.6g}"
    return f"stopped {where}: {error.reason}"


# ---------------------------------------------------------------------------- summaries


def last(sol: Trajectory) -> dict[str, ArrayLike]:
    """Where a run ended: t, and q and p of shape (n,)."""
    end = Trajectory(sol.system, sol.method, sol.rows.array[-1:], t0=sol.t[-1], h=sol.h0)
    return {"t": sol.t[-1], "q": end.q[0], "p": end.p[0]}


def energy(sol: Trajectory) -> dict[str, ArrayLike]:
    """The energy at the nodes: the first, largest less smallest, and the slope of the best line,
    which is 0 through a single node."""
    E, t = sol.energy(), sol.t - sol.t.mean()
    slope = t @ (E - E.mean()) / (t @ t) if len(E) > 1 else 0.0
    return {"E0": E[0], "E_ptp": np.ptp(E), "E_slope": slope}


SUMMARIES = {"last": last, "energy": energy}


def _functions(summary: Any) -> list[Callable]:
    """The functions that ``summary`` names."""
    if summary is None:
        return []
    entries = list(summary) if isinstance(summary, (list, tuple)) else [summary]
    for f in entries or [summary]:
        if not callable(f) and (not isinstance(f, str) or f not in SUMMARIES):
            known = sorted(SUMMARIES)
            raise ValueError(
                f"summary = {f!r} is neither a function of a Trajectory nor one of {known}"
            )
    return [f if callable(f) else SUMMARIES[f] for f in entries]


def _summarise(functions: list[Callable], sol: Trajectory) -> dict[str | None, np.ndarray]:
    """name -> array; the name is None if one function returned no dict."""
    values = {}
    for f in functions:
        value = f(sol)
        if not isinstance(value, dict) and len(functions) > 1:
            raise TypeError(f"each of several summaries must return a dict, not {value!r}")
        values |= value if isinstance(value, dict) else {None: value}
    return {k: np.array(x, float) for k, x in values.items()}  # the rows may be used again


def _note_infinite(errors: dict[int, str], k: int, values: dict[str | None, np.ndarray]) -> None:
    """Note that numbers of a summary overflowed or are undefined: such a member is not ok."""
    bad = [(name, x[~np.isfinite(x)]) for name, x in values.items() if not np.isfinite(x).all()]
    for name, x in bad[:1]:
        what = "its summary" if name is None else f"its summary {name!r}"
        _note(errors, k, f"{what} is not finite: {x[0]}")


def _note(errors: dict[int, str], k: int, text: str) -> None:
    """Add to what went wrong with member k."""
    errors[k] = f"{errors[k]}; {text}" if k in errors else text
