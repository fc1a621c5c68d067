"""Ensembles in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from . import files
from .events import Found
from .start import Start

if TYPE_CHECKING:
    import numpy as np

    from ..mechanics.system import System
    from ..methods.method import Method
    from .ensemble import Ensemble

FORMAT = "nhlab ensemble 1"
STATES = ("q0", "v0", "q1")


def save(many: Ensemble, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write all runs, their summaries, errors and events to one ``.npz`` file."""
    start, (about, arrays) = many.start, ({"format": FORMAT}, {})
    about |= {"system": files.system_to_json(start.system.without_input_values())}
    about |= {"method": files.method_to_json(start.method)}
    about |= {k: getattr(start, k) for k in ("steps", "every", "t0")}
    about["errors"] = {str(k): x for k, x in many.errors.items()}
    about["jumps"] = {str(k): x for k, x in many.jumps.items()}
    about["endings"] = {str(k): [x.message, x.ended_by] for k, x in many.events.items()}
    about["looked_for"] = files.events_to_json(many.watched or None)
    files.check_size([about["system"], about["looked_for"]])
    arrays |= {k: getattr(start, k) for k in STATES if getattr(start, k) is not None}
    arrays |= {"h": start.h, "steps_done": many.steps_done}
    arrays |= {} if many.rows is None else {"rows": many.rows}
    arrays |= {f"parameter {k}": x for k, x in start.parameters.items()}
    arrays |= {f"input {u.name}": x for u, x in start.inputs.items()}
    summary = many.summary if isinstance(many.summary, dict) else {"": many.summary}
    arrays |= {f"summary {k}": x for k, x in summary.items() if x is not None}
    for k, events in many.events.items():
        for name in ("t", "q", "v"):
            arrays |= {f"{name} {k} {i}": x for i, x in enumerate(getattr(events, name))}
    files.write(path, about, arrays)


def load_ensemble(cls: type[Ensemble], path: str | os.PathLike[str] | BinaryIO) -> Ensemble:
    """Read the Ensemble that ``save`` wrote."""
    with files.reading(path, "an ensemble") as (about, arrays):
        if about["format"] != FORMAT:
            raise KeyError("format")
        files.check_size([about["system"], about.get("looked_for")])
        system = files.system_from_json(about["system"])
        method = files.method_from_json(about["method"])
        return _ensemble(cls, system, method, about, arrays)


def _ensemble(cls, system: System, method: Method, about: dict, arrays: dict) -> Ensemble:
    """Make the Ensemble of these arrays; the start is read as the arguments of a call are."""

    def named(kind: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(kind): x for k, x in arrays.items() if k.startswith(kind)}

    arguments = {k: arrays.get(k) for k in STATES} | {k: about[k] for k in ("steps", "every", "t0")}
    inputs = {k.strip(): x for k, x in named("input").items()} or None
    parameters = {k.strip(): x for k, x in named("parameter").items()}
    q0, v0 = arguments.pop("q0"), arguments.pop("v0")
    start = Start(
        system, method, q0, v0, h=arrays["h"], parameters=parameters, inputs=inputs, **arguments
    )
    watched = files.events_from_json(about.get("looked_for"), system)
    many = cls(start, "rows" not in arrays, watched or ())
    many.steps_done = arrays["steps_done"]
    if many.steps_done.shape != (len(start),) or many.steps_done.dtype.kind != "i":
        raise ValueError(f"steps_done of shape {many.steps_done.shape}")
    if "rows" in arrays:
        if arrays["rows"].shape != many.rows.shape or arrays["rows"].dtype != float:
            raise ValueError(f"rows of shape {arrays['rows'].shape}")
        many.rows = arrays["rows"]
    many.errors = {int(k): str(x) for k, x in about["errors"].items()}
    many.jumps = {int(k): tuple(map(float, x)) for k, x in about["jumps"].items()}
    summary = {k.removeprefix(" "): x for k, x in named("summary").items()}
    many.summary = summary.get("", summary) if summary else None
    many.events = {int(k): _found(k, *x, arrays) for k, x in about["endings"].items()}
    return many


def _found(k: str, message: str, ended_by: int | None, arrays: dict) -> Found:
    """The events of member k."""
    count = sum(name.startswith(f"t {k} ") for name in arrays)
    lists = ([arrays[f"{name} {k} {i}"] for i in range(count)] for name in ("t", "q", "v"))
    return Found(*lists, str(message), ended_by)
