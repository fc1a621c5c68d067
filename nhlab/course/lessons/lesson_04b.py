"""In depth with lesson 04: the momenta of a free body, for the prediction about its polhodes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...mechanics import catalogue as systems
from ...methods import RK4, Reference, Variational
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from .lesson_04 import spread

INERTIA = np.array([1.0, 2.0, 2.5])  # of the free body


RULES = ("cayley", "log", "trace", "RK4")


free_body = functools.cache(lambda rule: systems.rigid_body(rule=rule))


def free_run(rule: str, h: float, start: float, T: float) -> Trajectory:
    """A free body whose momentum is 1 and begins between e1 and e3, at an angle from e3."""
    other = {"RK4": RK4(), "true": Reference()}.get(rule)
    a, body = np.deg2rad(start), free_body("log" if other else rule)
    v0 = np.array([np.sin(a), 0, np.cos(a)]) / INERTIA
    return integrate(body, other or Variational(), body.q0, v0, h=h, steps=round(T / h))


def true_polhode(start: float) -> np.ndarray:
    """The true momenta of ``free_run`` over several rounds."""
    return free_run("true", 0.2, start, 200.0).p


def circled(p: np.ndarray) -> str:
    """The axis that momenta (N, 3) go round: its component alone keeps its sign."""
    kept = [k for k in (0, 2) if np.ptp(np.sign(p[:, k])) == 0]
    return f"e{kept[0] + 1}" if len(kept) == 1 else "none"


# ---------------------------------------------------------------------------- predictions


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    runs = {rule: free_run(rule, 1.2, 24.4, 120.0) for rule in RULES}
    true, rules = circled(true_polhode(24.4)), ("cayley", "log", "trace")
    right = [rule for rule in rules if circled(runs[rule].p) == true]
    words = {rules: "All three", ("trace",): "The trace", ("log",): "log", (): "None"}
    off = {rule.lower(): spread(sol.energy()) for rule, sol in runs.items()}
    return words[tuple(right)], off
