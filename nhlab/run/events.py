"""Events of a run: where an expression or a function of (t, q, v) passes through zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.system import System
from ..methods.layout import Rows
from .dense import Dense
from .errors import IntegrationError, Interrupted
from .resume import cut
from .trajectory import Trajectory
from .watch import Event, read_events, values

if TYPE_CHECKING:
    from .start import Start

EPS = np.finfo(float).eps
MAX_TURNS = 100  # of the search for a zero; bisection alone needs 53


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


# ---------------------------------------------------------------------------- finding them


def record(sol: Trajectory, events: list[Event]) -> Trajectory:
    """The run with its ``t_events``, ``q_events`` and ``v_events``, cut where one ends it.

    Only nodes before the terminal event are kept: the step that passes it may be none.
    """
    if not events:
        return sol
    located, end = _until_the_end([_located(sol, event)[0] for event in events], events)
    shorter = cut(sol, int(np.searchsorted(sol.t, end, side="right")))
    shorter.message = located.message or shorter.message
    shorter.t_events, shorter.q_events, shorter.v_events = located.t, located.q, located.v
    shorter.events, shorter.ended_by = events, located.ended_by
    return shorter


def events_of(source: System | Trajectory, events: object, system: System) -> list[Event]:
    """The events to look for: those that were asked for or, where a run goes on, those it had.

    given : what the call of ``nh.integrate`` began with;  system : the one that runs
    """
    if events is not None or not isinstance(source, Trajectory):
        return read_events(events, system)
    own = list(source.events or ())
    if None in own:
        raise ValueError(
            f"events[{own.index(None)}] of this run is a function, which its file does not have; "
            "give events again, or events=[] to go on without"
        )
    if own and source.ended_by is not None:  # which counts its zeros anew
        own[source.ended_by] = replace(
            own[source.ended_by], passed=len(source.t_events[source.ended_by])
        )
    return own


@contextmanager
def keeping(events: list[Event]) -> Iterator[None]:
    """Give the computed part of a run that stops within this block its events, to go on with."""
    try:
        yield
    except (IntegrationError, Interrupted) as error:
        if error.trajectory is not None:
            error.trajectory.events = events or None
        raise


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

    def __init__(self, part: Start, rows: np.ndarray, count: np.ndarray) -> None:
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


def found_in_all(part: Start, rows: np.ndarray, count: np.ndarray, events: list[Event]) -> list:
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


def ends_within(sol: Trajectory, events: Sequence[Event], first: int) -> bool:
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

    def f(t: np.ndarray, which: np.ndarray) -> np.ndarray:
        nodes = steps[which]
        q, v = dense(t, nodes)
        return values(event, sol.driven(nodes + 1), t, q, v)

    t = zeros(f, sol.t[steps], sol.t[steps + 1], g[steps], g[steps + 1])
    if not len(t):
        empty = (np.empty((0, len(x))) for x in (system.q, system.v))
        return Crossings(t, *empty), steps
    return Crossings(t, *dense(t, steps)), steps


def zeros(f: Callable, a: ArrayLike, b: ArrayLike, fa: ArrayLike, fb: ArrayLike) -> np.ndarray:
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


def _next_part(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, fa: np.ndarray, fb: np.ndarray, fc: np.ndarray
) -> np.ndarray:
    """Where between a and b to look next, as a part of the way."""
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        inverse = fa / (fb - fa) * fc / (fb - fc)
        inverse += (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        least = EPS * np.maximum(np.abs(a), np.abs(b)) / np.abs(b - a)
    part = np.where(safe & np.isfinite(inverse), inverse, 0.5)
    return np.clip(part, least, 1 - least)
