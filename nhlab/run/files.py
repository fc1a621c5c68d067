"""Runs in files: systems and methods are written as JSON; nothing is executed when one is read."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import sympy as sp

from .. import methods
from ..mechanics import groups
from ..mechanics.checks import need, read_number
from ..mechanics.formula import is_moderate_power
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System
from ..methods.layout import Rows
from ..methods.method import Method
from . import LATER_SYSTEMS
from .arguments import positive, whole
from .watch import Event, read_events

if TYPE_CHECKING:
    from .trajectory import Trajectory

FORMAT = "nhlab trajectory 1"
EVENTS = ("t_events", "q_events", "v_events")
CLASSES = {
    name: getattr(sp, name)
    for name in (
        "Add Mul Pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log Abs "
        "sign sec csc cot Piecewise StrictLessThan LessThan StrictGreaterThan GreaterThan Equality "
        "Unequality And Or Not ITE"
    ).split()
}
CLASSES["ExprCondPair"] = sp.functions.elementary.piecewise.ExprCondPair
EVALUATED = "And", "Or", "Not", "ITE", "ExprCondPair"  # SymPy cannot build these unevaluated
EXPRESSIONS = ("q", "v", "L", "constraints", "holonomic", "t", "metric", "forces", "fields")
LATER = ("forces", "fields")  # which older files do not have
CONSTANTS = {"pi": sp.pi, "E": sp.E, "True": sp.true, "False": sp.false}
# Limits of a file. SymPy's time grows faster than its expressions: beyond them it might never end.
MAX_BITS = 4096  # of a number, of its precision and of its exponent
MAX_DEPTH = 100  # nested operations of an expression; the rattleback has 18
MAX_NODES = 50_000  # operations, symbols and numbers of a system; the bicycle has 5,115

# ---------------------------------------------------------------------------- trajectories


def save(sol: Trajectory, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a run to a file; the file is complete, or what was there before is still there."""
    about = {
        "format": FORMAT,
        "system": system_to_json(sol.system),
        "method": method_to_json(sol.method),
        "h": sol.h0,
        **{k: getattr(sol, k) for k in ("t0", "every", "message", "q1_given", "ended_by")},
        "inputs": [*sol.inputs],
        "events": None if sol.t_events is None else len(sol.t_events),
        "looked_for": events_to_json(sol.events),
    }
    check_size([about["system"], about["looked_for"]])
    arrays = {"rows": sol.rows.array}
    for name in EVENTS:
        arrays |= {f"{name} {k}": x for k, x in enumerate(getattr(sol, name) or ())}
    if sol.inputs:
        arrays["inputs"] = np.stack([*sol.inputs.values()], -1)
    if sol.solver_state is not None:
        arrays["solver_state"] = sol.solver_state
    write(path, about, arrays)


def write(
    path: str | os.PathLike[str] | BinaryIO, about: dict, arrays: dict[str, np.ndarray]
) -> None:
    """Write JSON and arrays to a file."""
    if not hasattr(path, "write"):
        need(path, (str, os.PathLike), "path", "path of a file")
    arrays = {"about": np.array(json.dumps(about)), **arrays}
    if hasattr(path, "write"):
        np.savez_compressed(path, **arrays)
        return
    path = os.fsdecode(path)
    with replacing(path if path.endswith(".npz") else f"{path}.npz") as file:
        np.savez_compressed(file, **arrays)


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Yield a file for the new content of ``path``, which takes its place when all is written.

    Until then it lies in the same folder under another name, and is removed if writing fails: a
    full disk or Ctrl-C leaves the old file as it was. Links and permissions stay as they are.
    """
    target = os.path.realpath(path)  # a link keeps pointing to its file
    exists = os.path.exists(target)
    if exists and not (os.path.isfile(target) and os.access(target, os.W_OK)):
        with open(target, "wb") as file:  # a pipe; a folder or a read-only file raises OSError
            yield file
        return
    draft = os.path.join(os.path.dirname(target), f".nhlab-{secrets.token_hex(8)}.tmp")
    try:
        file = open(draft, "xb")  # with the permissions that the umask gives to new files
    except OSError as error:  # its message names a file that nobody knows
        raise type(error)(error.errno, error.strerror, path) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a full disk may be noticed too late
        if exists:
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        with suppress(FileNotFoundError):  # it has taken its place
            os.unlink(draft)


def load(cls: type[Trajectory], path: str | os.PathLike[str] | BinaryIO) -> Trajectory:
    """Read the Trajectory that ``save`` wrote."""
    with reading(path, "a trajectory") as (about, arrays):
        rows = arrays["rows"]
        about["inputs"] = _inputs(about.get("inputs", []), arrays, len(rows))
        about["solver_state"] = arrays.get("solver_state")
        if about["format"] != FORMAT:
            raise KeyError("format")
        check_size([about["system"], about.get("looked_for")])
        system, method = system_from_json(about["system"]), method_from_json(about["method"])
        sol = _trajectory(cls, system, method, rows, about)
        sol.events = events_from_json(about.get("looked_for"), system)
        if about.get("events") is not None:  # older files have none
            _read_events(sol, about, arrays)
        return sol


def format_of(path: str | os.PathLike[str] | BinaryIO) -> str:
    """What kind of file it is; "" if nhlab did not write it."""
    path = _existing(path)
    with suppress(Exception), opened(path) as stream, np.load(stream, allow_pickle=False) as file:
        return json.loads(str(file["about"]))["format"]
    return ""


def _existing(path: str | os.PathLike[str] | BinaryIO) -> str | os.PathLike[str] | BinaryIO:
    """The path, with the ending that ``save`` adds if there is no such file without it."""
    is_path = isinstance(path, (str, os.PathLike))
    if is_path and not os.path.exists(path) and os.path.exists(f"{path}.npz"):
        return f"{path}.npz"
    return path


@contextmanager
def opened(path: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file of a path, and close it, which NumPy may not do; a file stays where it was."""
    if isinstance(path, (str, os.PathLike)):
        with open(path, "rb") as file:
            yield file
        return
    begin = path.tell()
    try:
        yield path
    finally:
        path.seek(begin)


@contextmanager
def reading(path: str | os.PathLike[str] | BinaryIO, what: str) -> Iterator[tuple[dict, dict]]:
    """Yield the JSON and the arrays of a file; errors in reading it say that it is not ``what``."""
    path = _existing(path)
    try:
        with opened(path) as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        yield json.loads(str(arrays.pop("about"))), arrays
    except FileNotFoundError:
        looked = "" if os.path.isabs(path) else f" in {os.getcwd()}"
        raise FileNotFoundError(
            f"there is no file {path}{looked}, with .npz behind or not; Trajectory.save writes one"
        ) from None
    except OSError:
        raise  # it may not be read
    except Exception as error:  # whatever NumPy, SymPy and the constructors say of nonsense
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is not {what} saved by nhlab ({why[:300]})") from None


def _trajectory(cls, system: System, method: Method, rows: np.ndarray, about: dict) -> Trajectory:
    """Make the Trajectory of these rows, or raise ValueError if they do not belong together."""
    if not {*about["inputs"]} <= {s.name for s in system.inputs}:
        raise ValueError(f"inputs {[*about['inputs']]}, which the forces do not have")
    layout = method.layout(system)
    if rows.dtype != float or rows.ndim != 2 or rows.shape[1] != layout.width or not len(rows):
        raise ValueError(f"rows of shape {rows.shape} and type {rows.dtype}")
    parts = Rows(layout, rows)
    if not all(np.isfinite(x).all() for x in (parts.q, parts.v, *parts.clock(0.0, 1.0))):
        raise ValueError("rows that are not finite")
    state, size = about["solver_state"], len(system.q) + len(system.v)
    if state is not None and (state.shape != (4 + 2 * size,) or not np.isfinite(state).all()):
        raise ValueError(f"a solver_state of shape {state.shape}")
    sol = cls(system, method, rows, **_about(about))
    with np.errstate(all="ignore"):
        if not np.isfinite(sol.t).all():
            raise ValueError(f"times up to {sol.t[-1]}")
    return sol


def _read_events(sol: Trajectory, about: dict, arrays: dict) -> None:
    """Give the run its events, or raise ValueError if their arrays do not belong together."""
    count, ended_by = whole(about["events"], "events", 0), about["ended_by"]
    if ended_by is not None and not whole(ended_by, "ended_by", 0) < count:
        raise ValueError(f"ended_by = {ended_by} of {count} events")
    if sol.events is not None and len(sol.events) != count:
        raise ValueError(f"{len(sol.events)} events of which {count} were found")
    for name, width in zip(EVENTS, ((), (len(sol.system.q),), (len(sol.system.v),)), strict=True):
        tables = [arrays[f"{name} {k}"] for k in range(count)]
        for k, x in enumerate(tables):
            if x.dtype != float or x.shape != (arrays[f"t_events {k}"].size, *width):
                raise ValueError(f"{name} of shape {x.shape} and type {x.dtype}")
            if not np.isfinite(x).all():
                raise ValueError(f"{name} that are not finite")
        setattr(sol, name, tables)
    sol.ended_by = ended_by


def _inputs(names: list[str], file: dict, count: int) -> dict[str, np.ndarray]:
    """Read the inputs that were held in the steps: name -> (count,)."""
    values = file["inputs"] if names else np.zeros((count, 0))
    if values.shape != (count, len(names)) or not np.isfinite(values).all():
        raise ValueError(f"inputs of shape {values.shape}")
    return {str(name): values[:, k] for k, name in enumerate(names)}


def _about(data: dict) -> dict:
    """Read what a Trajectory needs besides its rows, checked as the arguments of a run are."""
    about = {"h": positive(data["h"], many=False), "t0": read_number(data["t0"], "t0")}
    about["every"], about["inputs"] = whole(data["every"], "every", 1), data["inputs"]
    about["solver_state"] = data["solver_state"]
    for name, kind in (("message", str), ("q1_given", bool)):
        if not isinstance(data[name], kind):
            raise ValueError(f"{name} = {data[name]!r}")
        about[name] = data[name]
    return about


# ---------------------------------------------------------------------------- expressions


def check_size(data: object) -> None:
    """Raise ValueError if the JSON of a system has too many or too deeply nested expressions."""
    count, stack = 0, [(data, 0)]
    while stack:  # not recursive: Python's own limit depends on who calls
        part, depth = stack.pop()
        if isinstance(part, dict):
            stack += [(x, depth) for x in part.values()]
        elif isinstance(part, list):
            is_node = bool(part) and isinstance(part[0], str)
            count, depth = count + is_node, depth + is_node
            stack += [(x, depth) for x in part]
        for size, most, what in ((depth, MAX_DEPTH, "nested "), (count, MAX_NODES, "")):
            if size > most:
                fault = f"more than {most} {what}operations"
                raise ValueError(f"the system is too large for a file: it has {fault}")


def to_json(e: sp.Basic) -> list:
    """Write a SymPy expression as nested lists."""
    if isinstance(e, sp.Rational):
        return ["Rational", str(e.p), str(e.q)]
    if isinstance(e, (sp.Symbol, sp.Float)):
        (value,), options = e.__getnewargs_ex__()  # as pickle keeps it: exactly
        if isinstance(e, sp.Symbol):
            return ["Symbol", value, dict(options)]
        sign, mantissa, exponent, bits = value
        mantissa = str(int(mantissa, 16))
        return ["Float", [int(sign), mantissa, int(exponent), int(bits)], options["precision"]]
    if e.is_Atom and str(e) in CONSTANTS:
        return ["Constant", str(e)]
    if type(e).__name__ not in CLASSES:
        raise ValueError(f"{e} cannot be saved: {type(e).__name__} is not a known function")
    return [type(e).__name__, *map(to_json, e.args)]


def from_json(data: list) -> sp.Basic:
    """Read the expression that ``to_json`` wrote."""
    return _expression(data)[0]


def _expression(data: list) -> tuple[sp.Basic, float | None]:
    """Read an expression; also its value, if it is a number or a function of numbers alone.

    The operations are kept as they were written, not evaluated: SymPy would write them in another
    form and, to decide a relation between numbers, would compute any digits of them.
    """
    kind, *rest = data
    if kind == "Symbol":
        return sp.Symbol(rest[0], **rest[1]), None
    if kind in ("Rational", "Float", "Constant"):
        e = {"Rational": _rational, "Float": _float, "Constant": CONSTANTS.get}[kind](*rest)
        return e, _finite(e) if e.is_number else None
    parts = [_expression(x) for x in rest]
    args, values = [e for e, _ in parts], [x for _, x in parts]
    options = {} if kind in EVALUATED else {"evaluate": False}
    if not issubclass(CLASSES[kind], sp.Expr) or not values or None in values:
        return CLASSES[kind](*args, **options), None
    if kind == "Pow" and not _is_moderate(*values):
        raise ValueError(f"a power beyond the numbers of Python, {args[0]} to {args[1]}")
    return CLASSES[kind](*args, **options), _finite(CLASSES[kind](*map(sp.Float, values)))


def _rational(p: str, q: str) -> sp.Rational:
    return sp.Rational(_bounded(int(p)), _bounded(int(q)))


def _float(parts: list, precision: int) -> sp.Float:
    sign, mantissa, exponent, bits = parts
    if not (abs(exponent) <= MAX_BITS and 0 < int(precision) <= MAX_BITS):
        raise ValueError(f"a number with exponent {exponent} and precision {precision}")
    return sp.Float((sign, _bounded(int(mantissa)), exponent, bits), precision=int(precision))


def _bounded(x: int) -> int:
    if x.bit_length() > MAX_BITS:
        raise ValueError(f"a number of {x.bit_length()} bits")
    return x


def _is_moderate(base: float, exponent: float) -> bool:
    defined = base != 0 or exponent > 0
    return defined and is_moderate_power(sp.Float(base), sp.Float(exponent))


def _finite(e: sp.Expr) -> float:
    """The value of a number, or a ValueError if it is no real number that a float can hold."""
    try:
        if math.isfinite(value := float(e)):
            return value
    except (TypeError, OverflowError):
        pass
    raise ValueError("a number beyond those of Python, or not a real one")


def events_to_json(events: list[Event] | None) -> list | None:
    """Write events as [zero, terminal, direction, passed]; of a function zero is None."""
    return events and [
        [
            to_json(e.zero) if isinstance(e.zero, sp.Basic) else None,
            e.terminal if isinstance(e.terminal, bool) else int(e.terminal),
            int(e.direction),
            int(e.passed),
        ]
        for e in events
    ]


def events_from_json(data: list | None, system: System) -> list[Event | None] | None:
    """Read the events that ``events_to_json`` wrote; those that are functions are None."""
    if data is None:  # there are none, or the file is older
        return None
    events = []
    for zero, terminal, direction, passed in data:
        event = zero and Event(from_json(zero), terminal, direction, passed=passed)
        events += read_events(event, system) or [None]
    return events


# ---------------------------------------------------------------------------- systems, methods


def _each(f: Callable, x: object) -> object:
    """Apply f to an expression, or to all in nested sequences of them; None stays None."""
    x = x.tolist() if isinstance(x, (sp.MatrixBase, np.ndarray)) else x
    if isinstance(x, (tuple, list)) and not (x and isinstance(x[0], str)):
        return [_each(f, y) for y in x]
    return None if x is None else f(x)


def system_to_json(s: System) -> dict:
    """Write a system, a reduction with the system that it was made from, as JSON."""
    if s.full is not None:
        options = {k: x for k, x in s.constructor_kwargs().items() if k != "system"}
        return {"reduction": type(s).__name__, "full": system_to_json(s.full), **options}
    data = {k: _each(to_json, getattr(s, k)) for k in EXPRESSIONS}
    data |= {k: _each(float, getattr(s, k)) for k in ("q0", "v0")}
    data |= {k: "" if (x := getattr(s, k)) is None else str(x) for k in ("name", "source")}
    data["parameters"] = {k.name: x for k, x in s.numbers.items()}
    if isinstance(s, GroupSystem):
        data |= {"group": s.group.name, "r": s.k, "rule": s.rule}
    return data


def system_from_json(data: dict) -> System:
    """Read the system that ``system_to_json`` wrote."""
    if "reduction" in data:
        if data["reduction"] not in LATER_SYSTEMS:
            raise ValueError(f"reduction {data['reduction']!r} is unknown")
        options = {k: x for k, x in data.items() if k not in ("reduction", "full")}
        reduction = LATER_SYSTEMS[data["reduction"]]()
        return reduction(system_from_json(data["full"]), **options)
    arguments = {k: _each(from_json, data.get(k) if k in LATER else data[k]) for k in EXPRESSIONS}
    arguments["parameters"] = data["parameters"]
    arguments |= {k: need(data[k], str, k, "text") for k in ("name", "source")}
    arguments |= {f"{k}0": _numbers(data[f"{k}0"], len(arguments[k])) for k in "qv"}
    if "group" not in data:
        return System(**arguments)
    if data["group"] not in ("SO3", "SE2"):
        raise ValueError(f"group {data['group']!r} is unknown")
    q, k = arguments.pop("q"), whole(data["r"], "r", 0)
    t, holonomic = arguments.pop("t"), arguments.pop("holonomic")
    if holonomic or t is not None:
        raise ValueError("a system on a group has neither holonomic constraints nor t")
    group, rule = getattr(groups, data["group"]), data["rule"]
    return GroupSystem(group, r=q[:k], g=q[k:], rule=rule, **arguments)


def _numbers(x: list | None, count: int) -> list[float] | None:
    """Read so many numbers, or None."""
    if x is not None and len(x) != count:
        raise ValueError(f"{x!r} are not {count} numbers")
    return x if x is None else [read_number(y, "a start") for y in x]


def method_to_json(m: Method) -> list:
    """Write a method as [name, options]; an option may be a method itself."""
    options = {k: method_to_json(x) if hasattr(x, "statement") else x for k, x in vars(m).items()}
    return [type(m).__name__, options]


def method_from_json(data: list) -> Method:
    """Read the method that ``method_to_json`` wrote."""
    name, options = data
    if name not in methods.__all__:
        raise KeyError(name)
    options = {k: method_from_json(x) if isinstance(x, list) else x for k, x in options.items()}
    return getattr(methods, name)(**options)
