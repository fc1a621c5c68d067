"""What a run looks for: events, as a reader states them and as they are looked at."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import sympy as sp

from ..codegen.evaluate import Function
from ..mechanics.checks import brief, read_scalar
from ..mechanics.spelling import check_keywords, nearest
from ..mechanics.system import System


@dataclass(frozen=True)
class Event:
    """Something to look for during a run: a zero of an expression in t, q, v and parameters.

    Parameters
    ----------
    zero : SymPy expression in the symbols of the system, or function ``f(t, q, v)`` of one state
    terminal : True to end the run at the first event, a number n to end it at the n-th
    direction : 1 for zeros where the value grows, -1 where it falls, 0 for both
    passed : the number of zeros that are not counted for ``terminal``; a run that goes on after
        this event has ended it sets it, and is ended again by as many further ones

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
    passed: int = field(default=0, kw_only=True)

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, expected in (("terminal", "True, False or a number"), ("passed", "a number")):
            value = getattr(self, name)
            if not (isinstance(value, numbers.Integral) and value >= 0):
                raise ValueError(f"{name} = {brief(value)} must be {expected}")
        if not isinstance(self.direction, numbers.Real) or self.direction not in (-1, 0, 1):
            raise ValueError(f"direction = {brief(self.direction)} must be 1, -1 or 0")

    @property
    def count(self) -> float:
        """The number of zeros, from the start of a run, at the last of which it ends."""
        return self.passed + int(self.terminal) if self.terminal else np.inf


Event.__new__.__signature__ = inspect.signature(Event.__init__)  # which editors show


@dataclass(frozen=True)
class Watched:
    """A reader's event function f(t, q, v) that names itself in the errors it causes."""

    function: Callable[[float, np.ndarray, np.ndarray], float]
    name: str

    def __post_init__(self) -> None:
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

    def __str__(self) -> str:
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
    elif isinstance(x.zero, Watched):
        x = replace(x, zero=Watched(x.zero.function, name))
    elif callable(x.zero) and not isinstance(x.zero, sp.Basic):
        x = replace(x, zero=Watched(x.zero, name))
    return x if callable(x.zero) else replace(x, zero=_read(x.zero, system, name))


def _read(zero: object, system: System, name: str) -> sp.Expr:
    """An expression in the system's symbols; an equation is the difference of its sides."""
    if isinstance(zero, sp.core.relational.Relational) and not isinstance(zero, sp.Equality):
        raise ValueError(f"{name} = {zero} is no value with zeros; give {zero.lhs - zero.rhs}")
    zero = read_scalar(zero, name)
    known = {s.name: s for s in (*system.q, *system.v, *system.parameters)}
    known["t"] = system.t or sp.Symbol("t", real=True)
    if system.t is not None:
        known[system.t.name] = system.t
    for s in zero.free_symbols:
        if s.name not in known:
            hint = nearest(s.name, known) or f"; its symbols are {', '.join(known)}"
            raise ValueError(f"{name} = {zero}: {s} is no symbol of {system!r}{hint}")
    if {s.name for s in zero.free_symbols} <= {s.name for s in system.parameters}:
        raise ValueError(f"{name} = {zero} contains neither t nor q nor v, so it never changes")
    return zero.xreplace({s: known[s.name] for s in zero.free_symbols})


def values(event: Event, system: System, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What an event looks at, in K states."""
    if callable(event.zero):
        return np.array([event.zero(*x) for x in zip(t.tolist(), q, v, strict=True)])
    time = system.t or sp.Symbol("t", real=True)
    arguments = (time, system.q, system.v, *system.parameters)
    f = system.memoised(("event", event.zero), lambda: Function(arguments, event.zero))
    return np.broadcast_to(f(t, q, v, *system.parameters.values()), t.shape)
