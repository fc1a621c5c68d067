"""Systems and methods as JSON, without executing anything on the way back in."""

from __future__ import annotations

from importlib import import_module

import sympy as sp

from .. import methods
from ..mechanics import groups
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System

CLASSES = {
    c.__name__: c
    for c in (sp.Add, sp.Mul, sp.Pow, sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2,
              sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.acosh, sp.atanh, sp.exp, sp.log, sp.Abs,
              sp.sign, sp.sec, sp.csc, sp.cot, sp.Piecewise, sp.StrictLessThan, sp.LessThan,
              sp.StrictGreaterThan, sp.GreaterThan, sp.Equality, sp.Unequality, sp.And, sp.Or,
              sp.Not, sp.ITE)
}  # fmt: skip
CLASSES["ExprCondPair"] = sp.functions.elementary.piecewise.ExprCondPair
REDUCTIONS = ("Chaplygin", "Horizontal")
CONSTANTS = {"pi": sp.pi, "E": sp.E, "True": sp.true, "False": sp.false}


def to_json(e):
    """A SymPy expression as nested lists."""
    if isinstance(e, sp.Symbol):
        return ["Symbol", e.name, dict(e._assumptions_orig)]
    if isinstance(e, sp.Rational):
        return ["Rational", str(e.p), str(e.q)]
    if isinstance(e, sp.Float):
        sign, mantissa, exponent, bits = map(int, e._mpf_)
        return ["Float", [sign, str(mantissa), exponent, bits], e._prec]
    if str(e) in CONSTANTS:
        return ["Constant", str(e)]
    if type(e).__name__ not in CLASSES:
        raise ValueError(f"{e} cannot be saved: {type(e).__name__} is not a known function")
    return [type(e).__name__, *(to_json(a) for a in e.args)]


def from_json(data):
    """The expression that ``to_json`` wrote."""
    kind, *rest = data
    if kind == "Symbol":
        return sp.Symbol(rest[0], **rest[1])
    if kind == "Rational":
        return sp.Rational(int(rest[0]), int(rest[1]))
    if kind == "Float":
        sign, mantissa, exponent, bits = rest[0]
        return sp.Float((sign, int(mantissa), exponent, bits), precision=int(rest[1]))
    if kind == "Constant":
        return CONSTANTS[rest[0]]
    args = [from_json(a) for a in rest]
    if issubclass(CLASSES[kind], (sp.Add, sp.Mul, sp.Pow, sp.Function)) and kind != "Piecewise":
        return CLASSES[kind](*args, evaluate=False)  # as it was, not as SymPy would write it
    return CLASSES[kind](*args)


def system_to_json(s):
    if s.full is not None:  # a reduction
        return {"reduction": type(s).__name__, "full": system_to_json(s.full), **s._options()}
    many = {k: [to_json(e) for e in getattr(s, k)] for k in ("q", "v", "constraints", "holonomic")}
    metric = None if s.metric is None else [[to_json(e) for e in r] for r in s.metric.tolist()]
    on = {"group": s.group.name, "r": s.k, "rule": s.rule} if isinstance(s, GroupSystem) else {}
    return {
        **many,
        **on,
        "L": to_json(s.L),
        "t": None if s.t is None else to_json(s.t),
        "metric": metric,
        "parameters": {k.name: x for k, x in s.parameters.items()},
        "name": s.name,
        "source": s.source,
        "q0": None if s.q0 is None else [float(x) for x in s.q0],
        "v0": None if s.v0 is None else [float(x) for x in s.v0],
    }


def system_from_json(data):
    if "reduction" in data:
        if data["reduction"] not in REDUCTIONS:
            raise ValueError(f"reduction {data['reduction']!r} is unknown")
        options = {k: x for k, x in data.items() if k not in ("reduction", "full")}
        reduction = getattr(import_module("nhlab"), data["reduction"])  # by its public name
        return reduction(system_from_json(data["full"]), **options)
    many = {k: [from_json(e) for e in data[k]] for k in ("q", "v", "constraints", "holonomic")}
    t, metric = data["t"], data["metric"]
    rest = {k: data[k] for k in ("parameters", "name", "source", "q0", "v0")}
    rest["L"] = from_json(data["L"])
    rest["metric"] = None if metric is None else [[from_json(e) for e in r] for r in metric]
    if "group" in data:
        if data["group"] not in ("SO3", "SE2"):
            raise ValueError(f"group {data['group']!r} is unknown")
        q, k = many.pop("q"), data["r"]
        if many.pop("holonomic") or t is not None:
            raise ValueError("a system on a group has neither holonomic constraints nor t")
        return GroupSystem(getattr(groups, data["group"]), r=q[:k], g=q[k:], rule=data["rule"],
                           **many, **rest)  # fmt: skip
    return System(**many, t=None if t is None else from_json(t), **rest)


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
