"""Events of a run: where an expression or a function of (t, q, v) passes through zero."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.evaluate import Function
from ..mechanics.checks import brief, read_scalar
from ..mechanics.spelling import check_keywords, nearest
from ..mechanics.system import System
from ..methods.layout import Rows
from .dense import Dense
from .resume import cut
from .trajectory import Trajectory

EPS = np.finfo(float).eps
MAX_TURNS = 100  # of the search for a zero; bisection alone needs 53


@dataclass(frozen=True)
class Event:
    """Something to look for during a run: a zero of an expression in t, q, v and parameters.

    Parameters
    ----------
    zero : SymPy expression in the symbols of the system, or function ``f(t, q, v)`` of one state
    terminal : True to end the run at the first event, a number n to end it at the n-th
    direction : 1 for zeros where the value grows, -1 where it falls, 0 for both

    A plain expression or function is an event that ends nothing, in both directions; functions
    may also carry ``terminal`` and ``direction`` as attributes, as for SciPy's ``solve_ivp``.

    Examples
    --------
    A falling ball reaches the floor after sqrt(2) seconds.

    >>> import nhlab as nh
    >>> z, vz = nh.symbols("z vz")
    >>> ball = nh.System([z], [vz], vz**2 / 2 - z)
    >>> floor = nh.Event(z, terminal=True, direction=-1)
    >>> sol = nh.integrate(ball, nh.DLA(), [1], [0], h=0.1, steps=100, events=floor)
    >>> sol.t_events[0].round(12), sol.steps
    (array([1.41421356]), 14)
    """

    zero: sp.Expr | Callable[[float, np.ndarray, np.ndarray], float]
    terminal: bool | int = False
    direction: int = 0

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)

    def __post_init__(self):
        whole = isinstance(self.terminal, numbers.Integral) and self.terminal >= 0
        if not whole:
            raise ValueError(f"terminal = {brief(self.terminal)} must be True, False or a number")
        if not isinstance(self.direction, numbers.Real) or self.direction not in (-1, 0, 1):
            raise ValueError(f"direction = {brief(self.direction)} must be 1, -1 or 0")

    @property
    def count(self) -> float:
        """The number of events that end a run."""
        return int(self.terminal) or np.inf


Event.__new__.__signature__ = inspect.signature(Event.__init__)  # which editors show


@dataclass(frozen=True)
class Watched:
    """A reader's event function f(t, q, v) that names itself in the errors it causes."""

    function: Callable[[float, np.ndarray, np.ndarray], float]
    name: str

    def __post_init__(self):
        if isinstance(self.function, type):
            raise ValueError(f"{self} is a class, not a value; give an event, as nh.Event(x - 1)")
        try:
            inspect.signature(self.function).bind(0.0, None, None)
        except TypeError as error:
            raise ValueError(
                f"{self} must be a function f(t, q, v) of time, positions and velocities "
                f"({error}); one of SciPy's f(t, y) becomes "
                "lambda t, q, v: f(t, np.concatenate([q, v]))"
            ) from None
        except ValueError:  # of a builtin function, which tells nothing of itself
            pass

    def __str__(self):
        return f"{self.name} = {getattr(self.function, '__name__', brief(self.function))}"

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        where = f"at t = {t:.6g}, q = {brief(q.tolist())}, v = {brief(v.tolist())}"
        try:
            value = self.function(t, q, v)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"{self} failed {where} ({why}); f(t, q, v) needs a value at every state of the run"
            ) from error
        if np.shape(value) != ():
            fault = f"returned an array of shape {np.shape(value)}"
            raise ValueError(f"{self} {fault} {where}; f(t, q, v) gives one number, such as q[0]")
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self} returned {brief(value)} {where}; f(t, q, v) gives one real number"
            ) from None


class Crossings(NamedTuple):
    """The events of one kind: times (K,), positions (K, n) and velocities (K, n)."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray


class Found(NamedTuple):
    """The events of one member of an ensemble, by event: times, states, and which one ended it."""

    t: list[np.ndarray]
    q: list[np.ndarray]
    v: list[np.ndarray]
    message: str
    ended_by: int | None


def read_events(events: object, system: System, name: str = "events") -> list[Event]:
    """The events of a run, from one or several expressions, functions or Events."""
    if events is None:
        return []
    if isinstance(events, (str, sp.Basic, Event)) or not isinstance(events, Iterable):
        return [_read_event(events, system, name)]
    return [_read_event(x, system, f"{name}[{k}]") for k, x in enumerate(events)]


def _read_event(x: Any, system: System, name: str) -> Event:
    """One event whose expression is in the system's symbols or whose function is ``Watched``."""
    if not isinstance(x, (sp.Basic, Event)) and callable(x):
        terminal, direction = getattr(x, "terminal", False) or False, getattr(x, "direction", 0)
        direction = np.sign(direction) if isinstance(direction, numbers.Real) else direction
        x = Event(Watched(x, name), terminal, direction)
    elif not isinstance(x, Event):
        x = Event(x)
    elif callable(x.zero) and not isinstance(x.zero, sp.Basic):
        return Event(Watched(x.zero, name), x.terminal, x.direction)
    return x if callable(x.zero) else Event(_read(x.zero, system, name), x.terminal, x.direction)


def _read(zero: object, system: System, name: str) -> sp.Expr:
    """An expression in the system's symbols; an equation is the difference of its sides."""
    zero = read_scalar(zero, name)
    known = {s.name: s for s in (*system.q, *system.v, *system.parameters)}
    known["t"] = system.t or sp.Symbol("t", real=True)
    if system.t is not None:
        known[system.t.name] = system.t
    for s in zero.free_symbols:
        if s.name not in known:
            hint = nearest(s.name, known)
            raise ValueError(f"{name} = {zero}: {s} is no symbol of {system!r}{hint}")
    return zero.xreplace({s: known[s.name] for s in zero.free_symbols})


def values(event: Event, system: System, t, q, v) -> np.ndarray:
    """What an event looks at, in K states."""
    if callable(event.zero):
        return np.array([event.zero(*x) for x in zip(t.tolist(), q, v, strict=True)])
    time = system.t or sp.Symbol("t", real=True)
    arguments = (time, system.q, system.v, *system.parameters)
    f = system.memoised(("event", event.zero), lambda: Function(arguments, event.zero))
    return np.broadcast_to(f(t, q, v, *system.parameters.values()), t.shape)


# ---------------------------------------------------------------------------- finding them


def record(sol: Trajectory, events: list[Event]) -> Trajectory:
    """The run with its ``t_events``, ``q_events`` and ``v_events``, cut where one ends it.

    Only nodes before the terminal event are kept: the step that passes it may be none.
    """
    if not events:
        return sol
    found, end = _until_the_end([_located(sol, event)[0] for event in events], events)
    kept = cut(sol, int(np.searchsorted(sol.t, end, side="right")))
    kept.message = found.message or kept.message
    kept.t_events, kept.q_events, kept.v_events = found.t, found.q, found.v
    kept.ended_by = found.ended_by
    return kept


def _until_the_end(located: list[Crossings], events: list[Event]) -> tuple[Found, float]:
    """The events up to the first that ends the run, and the time of that, or inf."""
    ends = [
        x.t[int(e.count) - 1] for e, x in zip(events, located, strict=True) if len(x.t) >= e.count
    ]
    end, message, ended_by = min(ends, default=np.inf), "", None
    if ends:
        located = [Crossings(*(part[x.t <= end] for part in x)) for x in located]
        ended_by = next(k for k, x in enumerate(located) if events[k].terminal and end in x.t)
        message = f"ended by events[{ended_by}] at t = {end:.6g}"
    t, q, v = ([*x] for x in zip(*located, strict=True))
    return Found(t, q, v, message, ended_by), end


class Runs:
    """The nodes of several runs one behind the other, as a ``Trajectory`` has those of one.

    part : the Start of K runs;  rows : (K, N+1, width);  count : (K,) the nodes that each has
    run, node : of each node, the run it belongs to and its number there
    """

    def __init__(self, part, rows: np.ndarray, count: np.ndarray) -> None:
        self.part, self.system, self.method = part, part.system, part.method
        self.every, self.inputs = part.every, part.inputs
        there = np.arange(rows.shape[1]) < count[:, None]
        self.run, self.node = np.nonzero(there)
        self.rows = Rows(part.layout, rows[there])
        self.t, _ = self.rows.clock(part.t0 + part.h[self.run] * (self.every * self.node), None)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def q(self) -> np.ndarray:
        return self.rows.q

    @property
    def p(self) -> np.ndarray:
        return self.rows.p

    @cached_property
    def v(self) -> np.ndarray:
        if self.method.discrete:
            return self.driven(slice(None)).velocity(self.q, self.p, self.t)
        return self.rows.v

    def driven(self, nodes: slice | np.ndarray) -> System:
        """The system with the parameters of the runs of these nodes, and the inputs there."""
        values = {name: x[self.run[nodes]] for name, x in self.part.parameters.items()}
        last = np.maximum(self.every * self.node[nodes] - 1, 0)  # the step before each node
        values |= {u.name: np.append(x, 0.0)[last] for u, x in self.inputs.items()}
        return self.system.with_arrays(values, self.part.definite) if values else self.system

    @cached_property
    def dense(self) -> Dense:
        return Dense(self)


def found_in_all(part, rows: np.ndarray, count: np.ndarray, events: list[Event]) -> list:
    """For each of K runs what ``_until_the_end`` returns, located for all of them together.

    part, rows, count : as of ``Runs``
    """
    runs, edges = Runs(part, rows, count), np.arange(len(count) + 1)
    located = [_located(runs, event, np.flatnonzero(np.diff(runs.run))) for event in events]
    bounds = [np.searchsorted(runs.run[steps], edges) for _, steps in located]
    return [
        _until_the_end(
            [
                Crossings(*(part[edge[k] : edge[k + 1]] for part in crossings))
                for (crossings, _), edge in zip(located, bounds, strict=True)
            ],
            events,
        )
        for k in range(len(count))
    ]


def ends_within(sol: Trajectory, events: list[Event], first: int) -> bool:
    """True if a terminal event lies before the last node; none is counted before node ``first``.

    ``first`` tells where to begin for events that end a run at once, so that a long run is looked
    at once and not again and again.
    """
    for event in (e for e in events if e.terminal):
        begin = max(first - 1, 0) if event.count == 1 else 0
        if len(_steps(_node_values(sol, event, begin), event.direction)) >= event.count:
            return True
    return False


def _node_values(sol: Trajectory, event: Event, begin: int = 0) -> np.ndarray:
    dense = sol.dense
    q, v = np.split(dense.y[begin:], [len(sol.system.q)], -1)
    return values(event, sol.driven(slice(begin, None)), sol.t[begin:], q, v)


def _steps(g: np.ndarray, direction: float) -> np.ndarray:
    """The steps k in which values pass through zero: a zero at the end of a step belongs to it."""
    before, after = np.sign(g[:-1]), np.sign(g[1:])
    passes = (before != 0) & (after != before) & ~np.isnan(g[1:])
    return np.flatnonzero(passes & (direction * before <= 0))


def _located(
    sol: Trajectory | Runs, event: Event, breaks: ArrayLike = ()
) -> tuple[Crossings, np.ndarray]:
    """All zeros of one event, and the nodes at which the steps begin that they lie in.

    breaks : the last nodes of runs that others follow; no step begins there
    """
    g = _node_values(sol, event)
    steps = np.setdiff1d(_steps(g, event.direction), breaks)
    dense, system = sol.dense, sol.system

    def f(t, which):
        nodes = steps[which]
        q, v = dense(t, nodes)
        return values(event, sol.driven(nodes + 1), t, q, v)

    t = zeros(f, sol.t[steps], sol.t[steps + 1], g[steps], g[steps + 1])
    if not len(t):
        empty = (np.empty((0, len(x))) for x in (system.q, system.v))
        return Crossings(t, *empty), steps
    return Crossings(t, *dense(t, steps)), steps


def zeros(f: Callable, a, b, fa, fb) -> np.ndarray:
    """Zeros between a and b of K functions, to round-off, by Chandrupatla's method.

    ``f(x, which)`` : the values of the functions with these indices;  fa, fb : at the ends.
    Inverse quadratic interpolation where it is safe, else bisection (T. R. Chandrupatla, Adv. Eng.
    Software 28 (1997)); all functions advance together until each has its zero.
    """
    a, b, fa, fb = (np.array(x, float) for x in (a, b, fa, fb))
    c, fc, part = a.copy(), fa.copy(), np.full(len(a), 0.5)
    best, active = np.where(np.abs(fa) < np.abs(fb), a, b), np.arange(len(a))
    for _ in range(MAX_TURNS):
        best[active] = np.where(np.abs(fa) < np.abs(fb), a, b)[active]
        width = 2 * EPS * np.maximum(np.abs(a), np.abs(b))
        going = (np.abs(b - a) > width) & (fa != 0) & (fb != 0)
        active = np.flatnonzero(going)
        if not len(active):
            break
        x = a[active] + part[active] * (b - a)[active]
        fx = f(x, active)
        same = np.sign(fx) == np.sign(fa[active])
        c[active], fc[active] = (
            np.where(same, a[active], b[active]),
            np.where(same, fa[active], fb[active]),
        )
        b[active], fb[active] = (
            np.where(same, b[active], a[active]),
            np.where(same, fb[active], fa[active]),
        )
        a[active], fa[active] = x, fx
        part[active] = _next_part(*(y[active] for y in (a, b, c, fa, fb, fc)))
    return best


def _next_part(a, b, c, fa, fb, fc) -> np.ndarray:
    """Where between a and b to look next, as a part of the way."""
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        inverse = fa / (fb - fa) * fc / (fb - fc)
        inverse += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        least = EPS * np.maximum(np.abs(a), np.abs(b)) / np.abs(b - a)
    part = np.where(safe & np.isfinite(inverse), inverse, 0.5)
    return np.clip(part, least, 1 - least)
