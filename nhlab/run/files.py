"""Runs in files: systems and methods as JSON, without executing anything on the way back in."""

from __future__ import annotations

import json
import os
from importlib import import_module

import numpy as np
import sympy as sp

from .. import methods
from ..mechanics import groups
from ..mechanics.checks import need, read_number
from ..mechanics.formula import is_moderate_power
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System
from ..methods.layout import Rows
from .arguments import positive, whole

FORMAT = "nhlab trajectory 1"
CLASSES = {
    name: getattr(sp, name)
    for name in (
        "Add Mul Pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log Abs "
        "sign sec csc cot Piecewise StrictLessThan LessThan StrictGreaterThan GreaterThan Equality "
        "Unequality And Or Not ITE"
    ).split()
}
CLASSES["ExprCondPair"] = sp.functions.elementary.piecewise.ExprCondPair
EXPRESSIONS = ("q", "v", "L", "constraints", "holonomic", "t", "metric", "forces")
REDUCTIONS = ("Chaplygin", "Horizontal", "Mixed")
CONSTANTS = {"pi": sp.pi, "E": sp.E, "True": sp.true, "False": sp.false}
BITS = 4096  # of a number in a file; more would take SymPy forever, and no formula needs them

# ---------------------------------------------------------------------------- trajectories


def save(sol, path):
    if not hasattr(path, "write"):
        need(path, (str, os.PathLike), "path", "path of a file")
    about = {
        "format": FORMAT,
        "system": system_to_json(sol.system),
        "method": method_to_json(sol.method),
        "h": sol.h0,
        **{k: getattr(sol, k) for k in ("t0", "every", "message", "q1_given")},
        "inputs": [*sol.inputs],
    }
    arrays = {"rows": sol.rows.array}
    if sol.inputs:
        arrays["inputs"] = np.stack([*sol.inputs.values()], -1)
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


def load(cls, path):
    """The Trajectory that ``save`` wrote."""
    named = isinstance(path, (str, os.PathLike))
    if named and not os.path.exists(path) and os.path.exists(f"{path}.npz"):
        path = f"{path}.npz"  # np.savez adds the ending
    try:
        with np.load(path, allow_pickle=False) as file:
            about, rows = json.loads(str(file["about"])), file["rows"]
            about["inputs"] = _inputs(about.get("inputs", []), file, len(rows))
        if about["format"] != FORMAT:
            raise KeyError("format")
        system, method = system_from_json(about["system"]), method_from_json(about["method"])
        if not {*about["inputs"]} <= {s.name for s in system.inputs}:
            raise ValueError(f"inputs {[*about['inputs']]}, which the forces do not have")
        layout = method.layout(system)
        if rows.dtype != float or rows.ndim != 2 or rows.shape[1] != layout.width or not len(rows):
            raise ValueError(f"rows of shape {rows.shape} and type {rows.dtype}")
        parts = Rows(layout, rows)
        if not all(np.isfinite(x).all() for x in (parts.q, parts.v, *parts.clock(0.0, 1.0))):
            raise ValueError("rows that are not finite")
        sol = cls(system, method, rows, **_about(about))
        with np.errstate(all="ignore"):
            if not np.isfinite(sol.t).all():
                raise ValueError(f"times up to {sol.t[-1]}")
        return sol
    except FileNotFoundError:
        looked = "" if os.path.isabs(path) else f" in {os.getcwd()}"
        raise FileNotFoundError(
            f"there is no file {path}{looked}, with .npz behind or not; Trajectory.save writes one"
        ) from None
    except OSError:
        raise  # it may not be read
    except Exception as error:  # whatever NumPy, SymPy and the constructors say of nonsense
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is not a trajectory saved by nhlab ({why[:300]})") from None


def _inputs(names, file, count):
    """name -> (count,) of the inputs that were held."""
    values = file["inputs"] if names else np.zeros((count, 0))
    if values.shape != (count, len(names)) or not np.isfinite(values).all():
        raise ValueError(f"inputs of shape {values.shape}")
    return {str(name): values[:, k] for k, name in enumerate(names)}


def _about(data):
    """What a Trajectory is told besides its rows, checked as at the door of a run."""
    found = {"h": positive(data["h"], many=False), "t0": read_number(data["t0"], "t0")}
    found["every"], found["inputs"] = whole(data["every"], "every", 1), data["inputs"]
    for name, kind in (("message", str), ("q1_given", bool)):
        if not isinstance(data[name], kind):
            raise ValueError(f"{name} = {data[name]!r}")
        found[name] = data[name]
    return found


# ---------------------------------------------------------------------------- expressions


def to_json(e):
    """A SymPy expression as nested lists."""
    if isinstance(e, sp.Rational):
        return ["Rational", str(e.p), str(e.q)]
    if isinstance(e, (sp.Symbol, sp.Float)):
        (value,), options = e.__getnewargs_ex__()  # as pickle keeps it: exactly
        if isinstance(e, sp.Symbol):
            return ["Symbol", value, dict(options)]
        sign, mantissa, exponent, bits = value
        mantissa = str(int(mantissa, 16))
        return ["Float", [int(sign), mantissa, int(exponent), int(bits)], options["precision"]]
    if str(e) in CONSTANTS:
        return ["Constant", str(e)]
    if type(e).__name__ not in CLASSES:
        raise ValueError(f"{e} cannot be saved: {type(e).__name__} is not a known function")
    return [type(e).__name__, *map(to_json, e.args)]


def from_json(data):
    """The expression that ``to_json`` wrote."""
    kind, *rest = data
    if kind == "Symbol":
        return sp.Symbol(rest[0], **rest[1])
    if kind == "Rational":
        return sp.Rational(*(_bounded(int(x)) for x in rest[:2]))
    if kind == "Float":
        sign, mantissa, exponent, bits = rest[0]
        if not (abs(exponent) <= BITS and 0 < int(rest[1]) <= BITS):
            raise ValueError(f"a number with exponent {exponent} and precision {rest[1]}")
        return sp.Float((sign, _bounded(int(mantissa)), exponent, bits), precision=int(rest[1]))
    if kind == "Constant":
        return CONSTANTS[rest[0]]
    args = [from_json(x) for x in rest]
    if kind == "Pow" and not is_moderate_power(*args):
        raise ValueError(f"a power beyond the numbers of Python, {args[0]} to {args[1]}")
    if issubclass(CLASSES[kind], (sp.Add, sp.Mul, sp.Pow, sp.Function)) and kind != "Piecewise":
        return CLASSES[kind](*args, evaluate=False)  # as it was, not as SymPy would write it
    return CLASSES[kind](*args)


def _bounded(x):
    if x.bit_length() > BITS:
        raise ValueError(f"a number of {x.bit_length()} bits")
    return x


# ---------------------------------------------------------------------------- systems, methods


def _each(f, x):
    """f of an expression or of all in nested sequences of them; None stays."""
    x = x.tolist() if isinstance(x, (sp.MatrixBase, np.ndarray)) else x
    if isinstance(x, (tuple, list)) and not (x and isinstance(x[0], str)):
        return [_each(f, y) for y in x]
    return None if x is None else f(x)


def system_to_json(s):
    if s.full is not None:
        options = {k: x for k, x in s.given().items() if k != "system"}
        return {"reduction": type(s).__name__, "full": system_to_json(s.full), **options}
    data = {k: _each(to_json, getattr(s, k)) for k in EXPRESSIONS}
    data |= {k: _each(float, getattr(s, k)) for k in ("q0", "v0")}
    data |= {"name": s.name, "source": s.source}
    data["parameters"] = {k.name: x for k, x in s.numbers.items()}
    if isinstance(s, GroupSystem):
        data |= {"group": s.group.name, "r": s.k, "rule": s.rule}
    return data


def system_from_json(data):
    if "reduction" in data:
        if data["reduction"] not in REDUCTIONS:
            raise ValueError(f"reduction {data['reduction']!r} is unknown")
        options = {k: x for k, x in data.items() if k not in ("reduction", "full")}
        reduction = getattr(import_module("nhlab"), data["reduction"])  # by its public name
        return reduction(system_from_json(data["full"]), **options)
    given = {k: _each(from_json, data.get(k) if k == "forces" else data[k]) for k in EXPRESSIONS}
    given |= {k: data[k] for k in ("parameters", "name", "source")}
    given |= {f"{k}0": _numbers(data[f"{k}0"], len(given[k])) for k in "qv"}
    if "group" not in data:
        return System(**given)
    if data["group"] not in ("SO3", "SE2"):
        raise ValueError(f"group {data['group']!r} is unknown")
    q, k, t, holonomic = given.pop("q"), data["r"], given.pop("t"), given.pop("holonomic")
    if holonomic or t is not None:
        raise ValueError("a system on a group has neither holonomic constraints nor t")
    group, rule = getattr(groups, data["group"]), data["rule"]
    return GroupSystem(group, r=q[:k], g=q[k:], rule=rule, **given)


def _numbers(x, count):
    """So many numbers, or None."""
    if x is not None and len(x) != count:
        raise ValueError(f"{x!r} are not {count} numbers")
    return x if x is None else [read_number(y, "a start") for y in x]


def method_to_json(m):
    """[name, options]; an option may be a method itself."""
    options = {k: method_to_json(x) if hasattr(x, "statement") else x for k, x in vars(m).items()}
    return [type(m).__name__, options]


def method_from_json(data):
    name, options = data
    if name not in methods.__all__:
        raise KeyError(name)
    options = {k: method_from_json(x) if isinstance(x, list) else x for k, x in options.items()}
    return getattr(methods, name)(**options)
