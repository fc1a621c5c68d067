"""What may be given to a run, and what is said of the rest: name, value and remedy."""

from __future__ import annotations

import importlib.util
import logging
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import States, brief, need, rank, read_array, read_by_name, read_number
from ..mechanics.system import System
from ..methods.method import Method

if TYPE_CHECKING:
    from .start import Start

LOG = logging.getLogger("nhlab")
StateLike = States | None  # q0, v0 of a run; None: the system's own
NO_START = "q0 is missing and the system has no initial condition of its own; q0={} starts at 0"

# ---------------------------------------------------------------------------- one by one


def check_pair(system: Any, method: Any) -> None:
    if isinstance(system, Method):
        raise ValueError(f"system = {system!r} is a method; give the system first, then the method")
    need(system, System, "system", "nh.System")
    if isinstance(method, type):
        name = method.__name__
        raise ValueError(f"method = {name} is a class, not a value; write nh.{name}()")
    need(method, Method, "method", "integrator; try nh.DLA()").check(system)
    if system.fields and not method.takes_fields:
        raise ValueError(
            f"{method!r} is stated for one-forms, and the constraints of {system!r} are spanned by "
            "fields; use system.by_forms(), or nh.DLA, nh.Projector, nh.EDLA or nh.RK4"
        )


def check_backend(backend: str | None, choice: tuple[str | None, ...]) -> str | None:
    if not isinstance(backend, (str, type(None))) or backend not in choice:
        raise ValueError(f"backend = {backend!r} is unknown; choose one of {choice}")
    if backend == "numba" and not has_numba():
        raise ValueError(
            "backend = 'numba' needs numba: pip install 'nhlab[fast]', or leave it out"
        )
    return backend


def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def whole(x: Any, name: str, least: int) -> int:
    number = isinstance(x, numbers.Real) and not isinstance(x, bool)
    if not number or not least <= x <= 2**53 or int(x) != x:
        most = " and at most 2**53" if number and x > 2**53 else ""
        raise ValueError(f"{name} = {brief(x)} must be a whole number, at least {least}{most}")
    return int(x)


def steps_until(T: float | None, steps: int | None, t0: float, h: Any, every: int) -> int:
    """The number of steps: as it was given, or so many that the last one reaches the time T."""
    if (T is None) == (steps is None):
        both = f"steps = {brief(steps)}, T = {brief(T)}"
        raise ValueError(f"{both}: give either the number of steps or the time T to run until")
    if T is None:
        return steps
    if np.ndim(h):
        raise ValueError(
            f"T = {brief(T)} with {len(h)} step sizes h: the runs would take different numbers of "
            "steps; give steps, or one h for all"
        )
    T, h = read_number(T, "T"), positive(h, many=False)
    if T < t0:
        raise ValueError(f"T = {T:g} lies before t0 = {t0:g}; to go back in time, reverse v0")
    blocks = (T - t0) / (h * whole(every, "every", 1))
    if blocks > 2**53:
        raise ValueError(f"T = {T:g} needs {blocks * every:.1e} steps of h = {h:g}; take larger h")
    return every * math.ceil(blocks * (1 - 1e-12))  # 3 steps of 0.1 reach T = 0.3


def steps_and_every(steps: Any, every: Any) -> tuple[int, int]:
    count, stored = whole(steps, "steps", 0), whole(every, "every", 1)
    if count % stored:
        fault = f"steps = {steps} is not a multiple of every = {every}"
        raise ValueError(f"{fault}; use steps = {count - count % stored}")
    return count, stored


def positive(h: Any, many: bool, name: str = "h") -> Any:
    """h as a number or, of many runs, as an array."""
    if h is None and name == "h":
        raise ValueError("h is missing: give the step size, as in h=0.1 beside steps=100 or T=10")
    if not many and name == "h" and _has_entries(h):
        raise ValueError(f"h = {brief(h)} must be one number; nh.ensemble takes one for each run")
    if not (many and _has_entries(h)):
        if (number := read_number(h, name)) <= 0:
            raise ValueError(f"{name} = {h!r} must be positive; to go back in time, reverse v0")
        return number
    h = _numbers(h, "h")
    for k in np.flatnonzero(h <= 0)[:1]:
        raise ValueError(f"h[{k}] = {h[k]} must be positive; to go back, reverse v0")
    return h


def _has_entries(x: object) -> bool:
    """True if x is a list, tuple or array; a run has a length, too, but no numbers."""
    try:
        return isinstance(x, (list, tuple)) or np.ndim(x) > 0
    except TypeError:
        return False


def check_clock(t0: float, h: Any, steps: int) -> None:
    """The times t0 + k h must differ, by clearly more than their round-off."""
    for x in [h] if isinstance(h, float) else np.unique(h).tolist():
        last = max(abs(t0), abs(t0 + steps * x))
        if x < 10 * math.ulp(last):
            fault = f"h = {x:g} is lost in the round-off of times as large as {last:g}"
            raise ValueError(f"t0 = {t0:g}, steps = {steps}: {fault}; begin nearer to 0")


def states(
    system: System, method: Method, q0: StateLike, v0: StateLike, q1: StateLike
) -> dict[str, Any]:
    """name -> state, with the system's own where none is given."""
    if q0 is None:
        if system.q0 is None:
            raise ValueError(NO_START)
        q0, v0 = system.q0, system.v0 if v0 is None and q1 is None else v0
    if v0 is None and q1 is None:
        raise ValueError(
            "v0 is missing: give either v0, the initial velocity, or q1, the second position; "
            "v0={} starts at rest"
        )
    if v0 is not None and q1 is not None:
        raise ValueError("give either v0, the initial velocity, or q1, the second position")
    if q1 is not None and not method.discrete:
        raise ValueError(f"{method!r} starts from v0, not from q1")
    inputs = {"q0": q0, "v0": v0, "q1": q1}
    return {
        k: read_by_name(system, x, k) if isinstance(x, Mapping) else x for k, x in inputs.items()
    }


def along_fields(
    system: System,
    q0: StateLike,
    v0: StateLike,
    q1: StateLike,
    u0: StateLike,
    varied: Iterable[Any] = (),
) -> StateLike:
    """v0 or, where u0 is given, X(q0) u0, of one start or of K; ``varied`` names the parameters
    that differ in these."""
    if u0 is None:
        return v0
    if v0 is not None or q1 is not None:
        raise ValueError("u0 stands in the place of v0 and q1; give one of them")
    if not system.fields:
        raise ValueError(
            f"u0 = {brief(u0)} belongs to vector fields, and {system!r} has none; give v0, or use "
            "system.by_fields()"
        )
    symbols = {s.name for field in system.fields for e in field for s in e.free_symbols}
    if different := sorted(symbols & {getattr(k, "name", k) for k in varied}):
        raise ValueError(
            f"u0: the fields contain {different[0]}, which differs from run to run; give v0 of each"
        )
    r, q0 = len(system.fields), system.q0 if q0 is None else q0
    if q0 is None:
        raise ValueError(NO_START)
    q0 = system.states(q0, "q0")
    u0 = read_by_name(system, u0, "u0") if isinstance(u0, Mapping) else u0
    u0 = read_array(u0, "u0", (r,), f"expected (..., {r}), one number for each field", finite=True)
    return np.einsum("...ia,...a->...i", system.X(q0), u0)


def vectors(system: System, states: Mapping[str, Any], many: bool) -> list[np.ndarray | None]:
    """q0, v0, q1 as arrays of shape (K, n), or None; K is 1 for a single run."""
    arrays = dict.fromkeys(("q0", "v0", "q1"))
    for name, x in states.items():
        if x is None:
            continue
        symbols = system.v if name == "v0" else system.q
        if name != "v0":
            x = system.configuration(x, name, near=arrays["q0"], axes=int(many))
        x, n = read_array(x, name), len(symbols)
        if x.ndim != 1 + many or x.shape[-1] != n:
            expected = f"(K, {n}), K states of" if many else f"({n},),"
            expected += f" one number for each of {symbols}"
            raise ValueError(f"{name} has shape {x.shape}; expected {expected}")
        if not np.all(np.isfinite(x)):
            raise ValueError(f"{name} = {brief(x)} must be finite")
        arrays[name] = x
    return [None if x is None else np.array(x, ndmin=2) for x in arrays.values()]  # our own


# ---------------------------------------------------------------------------- of many runs


def for_all(
    system: System, states: Mapping[str, Any], h: Any, parameters: Any
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The states and parameters of an ensemble, each for all K members; h tells K, too."""
    states = {name: _states(system, x, name) for name, x in states.items() if x is not None}
    if not isinstance(parameters, (dict, type(None))):
        raise ValueError(f"parameters = {brief(parameters)} must map names to numbers or arrays")
    values = {getattr(k, "name", str(k)): x for k, x in (parameters or {}).items()}
    system.set(**dict.fromkeys(values, 1.0))  # refuses names it does not know
    values = {name: _numbers(x, f"parameters[{name!r}]") for name, x in values.items()}
    sizes = {name: len(x) for name, x in states.items() if x.ndim > 1}
    single = {"h": h} | {f"parameters[{name!r}]": x for name, x in values.items()}
    count = _same(sizes | {name: len(x) for name, x in single.items() if np.ndim(x)})
    for name, x in states.items():
        states[name] = np.broadcast_to(x, (count, len(x))) if x.ndim == 1 else x
    return states, {name: np.full(count, x) for name, x in values.items()}


def _states(system: System, x: Any, name: str) -> np.ndarray:
    """x as an array: (n,) for one state, (K, n) or, on a group, (K, 3, 3) for many."""
    x = read_array(x.as_matrix() if hasattr(x, "as_matrix") else x, name)
    one = x.shape == (3, 3) and hasattr(system, "group") and len(system.q) != 3
    return system.configuration(x, name) if one and name != "v0" else x


def _numbers(x: Any, name: str) -> np.ndarray:
    x = read_array(x, name, otherwise="must be a number or K numbers")
    if x.ndim > 1:
        raise ValueError(f"{name} has shape {x.shape}; expected (K,), one number for each run")
    for k in np.flatnonzero(~np.isfinite(x))[:1]:
        at = f"[{k}]" if x.ndim else ""
        raise ValueError(f"{name}{at} = {x.flat[k]} must be a finite number")
    return x


def _same(sizes: Mapping[str, int]) -> int:
    """K, if all agree on it."""
    if not sizes:
        raise ValueError(
            "nothing varies: give q0, v0, h or parameters for K runs, the states of shape (K, n), "
            "or call nh.integrate"
        )
    (first, count), *rest = sizes.items()
    for name, n in rest:
        if n != count:
            raise ValueError(f"{name} has {n} rows but {first} has {count}")
    return count


def definite(system: System, parameters: Mapping[str, np.ndarray]) -> bool:
    """``System.is_definite`` for all members."""
    varied = {s for s in system.parameters if s.name in parameters}
    S = system.expressions
    if not varied or not S.depends((*S.M, *S.G), varied):
        return system.is_definite
    for at in range(0, len(next(iter(parameters.values()))), 10_000):
        some = {name: x[at : at + 10_000, None] for name, x in parameters.items()}
        with np.errstate(all="ignore"):
            if not system.with_arrays(some, None).is_definite_at(*system.samples()):
                return False
    return True


# ---------------------------------------------------------------------------- together


def check_states(start: Start) -> None:
    """q0 on the holonomic constraints, forms independent there, v0 in D."""
    s, q, v, t = start.batched_system, start.q0, start.v0, start.t0

    def at(k: int) -> str:
        return f"[{k}]" if start.many else ""

    for name in ("q0", "q1") if s.holonomic else ():
        x = getattr(start, name)
        x, when = (q[:0], t) if x is None else (x, t + start.h if name == "q1" else t)
        g, slopes = s.g(x, when), s.values(s.expressions.Dg, x, None, when)
        for k in _first(np.abs(g) > 1e-9 * _size(slopes, x) + 1e-15):
            where = f"{name}{at(k)} = {_short(x[k])} is off the holonomic constraints"
            raise ValueError(
                f"{where}: g = {_short(g[k])}, not 0; system.settle(q0) moves it there"
            )
    if s.fields:
        with np.errstate(all="ignore"):
            A = s.independent_forms(q, v, t)  # refuses places where the fields are dependent
    else:
        A = _forms(s, q, v, t, at)
    if v is None:  # a method that does not discretise the constraints takes any q1
        return _check_second(start, at) if start.method.constraint_at == "midpoints" else None
    residual, b = np.einsum("kai,ki->ka", A, v), s.b(q, t)
    for k in _first(~(np.abs(residual + b) <= 1e-9 * (_size(A, v) + np.abs(b)) + 1e-15)):
        near, how = _nearest(s, A[k], (residual + b)[k], q[k], v[k], t)
        fault = f"v0{at(k)} = {_short(v[k])} violates the constraints"
        remedy = f"The nearest admissible velocity is {_short(near)} ({how}); "
        remedy += "system.complete gives the one with the components that you name"
        form = "A(q0) v0 + b(q0)" if s.is_affine else "A(q0) v0"
        remedy += ". To go on with a run, give the run itself: nh.integrate(sol, steps=...)"
        raise ValueError(f"{fault}: {form} = {_short((residual + b)[k])}, not 0. {remedy}")


def _forms(
    s: System, q: np.ndarray, v: np.ndarray | None, t: float, at: Callable[[int], str]
) -> np.ndarray:
    """A at the starts; ValueError where it is not finite or its rows are dependent."""
    with np.errstate(all="ignore"):
        A = s.A(q, t)
    for k in _first(~np.isfinite(A).all(-1)):
        place = f"q0{at(k)} = {_short(q[k])}"
        raise ValueError(f"the constraints are not finite at {place}; start elsewhere")
    ranks = rank(A, s.M(q, v, t))
    for k in _first(ranks[:, None] < A.shape[1]):
        place = f"q0{at(k)} = {_short(q[k])} (rank {ranks[k]} of {len(A[k])})"
        raise ValueError(f"the constraints are dependent at {place}; start elsewhere")
    return A


def _check_second(start: Start, at: Callable[[int], str]) -> None:
    """q1 may be off the discrete constraints by as much as the forms change on the way: then it
    can still come from a motion, as the exact one."""
    s, q, h, t = start.batched_system, start.q0, start.h, start.t0
    with np.errstate(all="ignore"):  # what is not finite is refused
        v = s.velocity_between(q, start.q1, h)
        wd = start.method.on_step(s, "constraints", t, q, v, h)
        places = [(part * h, s.move(q, v, part * h)) for part in (0, 0.25, 0.5, 0.75, 1)]
        A, b = (
            np.array([f(x, t + dt) for dt, x in places])[:, :, : wd.shape[-1]] for f in (s.A, s.b)
        )
        slack = 2 * (_size(np.abs(A - A[0]).max(0), v) + np.abs(b - b[0]).max(0))
        slack += 1e-9 * (_size(A[0], v) + np.abs(b[0])) + 1e-15
    for k in _first(~(np.abs(wd) <= slack)):
        fault = f"q1{at(k)} = {_short(start.q1[k])} violates the discrete constraints of "
        fault += f"method = {start.method!r}"
        remedy = "no motion leads there in the time h; start from v0"
        raise ValueError(f"{fault}: wd(q0, q1) = {_short(wd[k])}, not 0; {remedy}")


def second_velocity(system: System, q0: np.ndarray, q1: np.ndarray, h: ArrayLike) -> np.ndarray:
    """The velocity of a step h from q0 to q1; ValueError if it is beyond all numbers."""
    with np.errstate(all="ignore"):
        v = system.velocity_between(q0, q1, h)
    if not np.isfinite(v).all():
        where = f"q1 = {brief(q1.tolist())} is too far from q0 = {brief(q0.tolist())}"
        fault = f"{where} for a step h = {brief(np.asarray(h).tolist())}: the velocity overflows"
        raise ValueError(f"{fault}; give a nearer q1, or v0")
    return v


def _nearest(
    system: System, A: np.ndarray, residual: np.ndarray, q: np.ndarray, v: np.ndarray, t: float
) -> tuple[np.ndarray, str]:
    """The admissible velocity next to v, and in which sense."""
    if system.metric is None and not system.is_mechanical:  # no metric to project with
        return v - np.linalg.pinv(A) @ residual, "in the Euclidean sense"
    when = f", {t:g}" if t and system.t is not None else ""
    try:
        return system.project(q, v, t), f"system.project(q0, v0{when}) gives it"
    except ValueError:
        how = "in the Euclidean sense, since M has no inverse at q0; start elsewhere"
        return v - np.linalg.pinv(A) @ residual, how


def _size(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """How large A v could be: what its vanishing is measured against, whatever the units."""
    with np.errstate(over="ignore"):
        return np.abs(A).max(-1, initial=0) * np.abs(v).max(-1, keepdims=True, initial=0)


def _first(bad: np.ndarray) -> list[int]:
    """The index of the first row with a True, in a list; empty if there is none."""
    return np.flatnonzero(bad.any(1))[:1].tolist()


def _short(x: Iterable[float]) -> str:
    return "[" + ", ".join(f"{y:.10g}" for y in x) + "]"
