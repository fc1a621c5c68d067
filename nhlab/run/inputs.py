"""What drives a run from outside: an input of the forces, one value for each step."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ..mechanics.checks import read_array, read_expression
from ..mechanics.forces import closed, need_inputs
from ..mechanics.spelling import nearest

if TYPE_CHECKING:
    from ..mechanics.system import System
    from ..methods.method import Method


def read_inputs(
    system: System,
    method: Method,
    inputs: Any,
    steps: int,
    times: np.ndarray | None,
    parameters: Any,
    what: str = "a run",
) -> tuple[System, dict[sp.Symbol, np.ndarray]]:
    """The system that runs, and of its inputs input -> (steps,), the value held in each step.

    An expression in t, q, v is a feedback: it is put into the forces, and gives another system.
    times : (steps,) the middles of the steps, or None;  parameters : those of an ensemble
    what : what cannot do without the values, for the error that says so
    """
    if not isinstance(inputs, (dict, type(None))):
        raise ValueError(f"inputs = {inputs!r} must map inputs of the forces to their values")
    known, values = {s.name: s for s in system.inputs}, {}
    for key, x in (inputs or {}).items():
        name = getattr(key, "name", key)
        if name not in known:
            raise ValueError(
                f"inputs: {name!r} is no input of the system {system.label}; symbols that occur "
                f"in its forces alone are: {list(known) or 'none'}{nearest(name, known)}"
            )
        values[known[name]] = x
    feedback = {u: x for u, x in values.items() if isinstance(x, sp.Basic) and not x.is_Number}
    held = {u: _held(u, values[u], method, steps, times) for u in values.keys() - feedback.keys()}
    if feedback:
        read = {u: read_expression(x, f"inputs[{u.name!r}]") for u, x in feedback.items()}
        system = closed(system, read)
        method.check(system)  # another one, maybe with time
    others = parameters if isinstance(parameters, dict) else {}
    names = {getattr(x, "name", x) for x in (*held, *others)}
    need_inputs(system, what, besides=names)
    return system, dict(sorted(held.items(), key=lambda item: item[0].name))


def _sampled(f: Callable, times: list[float], name: str) -> list[Any]:
    """f at the times, a function of nothing else."""
    try:
        signature(f).bind(0.0)
    except TypeError:
        raise ValueError(
            f"{name} must be a function of the time alone; write a feedback in the symbols of q "
            "and v, as an expression"
        ) from None
    except ValueError:  # of a builtin function, which tells nothing of itself
        pass
    return [f(t) for t in times]


def _held(u: sp.Symbol, x: Any, method: Method, steps: int, times: np.ndarray | None) -> np.ndarray:
    """The values of one input: of a function of time, those in the middle of the steps."""
    name = f"inputs[{u.name!r}]"
    if callable(x):
        if method.variable_step:
            raise ValueError(
                f"{name} is a function of time, and {method!r} chooses its steps as it goes; give "
                "a value for each step, or an expression in the symbol of time"
            )
        if times is None:
            raise ValueError(f"{name} is a function of time, so all runs need the same h")
        x = _sampled(x, times.tolist(), name)
    wanted = f"must be a number, {steps} numbers, a function of time, or an expression"
    if isinstance(x, str):
        wanted += " in symbols, which are not read from text"
    values = read_array(x, name, otherwise=wanted)
    values = np.full(steps, values) if values.ndim == 0 else values.copy()
    if values.shape != (steps,):
        raise ValueError(f"{name} has shape {values.shape}; give a value for each of {steps} steps")
    for k in np.flatnonzero(~np.isfinite(values))[:1]:
        raise ValueError(f"{name} is {values[k]} in step {k}; it must be finite")
    return values
