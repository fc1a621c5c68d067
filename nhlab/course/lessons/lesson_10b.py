"""In depth with lesson 10: modes of a bicycle, a ball on a turntable, a stone that turns back."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...geometry.linear import linearise
from ...mechanics import catalogue as systems
from ...mechanics.exact import numbers
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ..exercises import near, told
from ..kit import crossings
from ..predict import either


@functools.cache
def modes() -> tuple[np.ndarray, np.ndarray]:
    """Speeds, and the eigenvalues of the bicycle that runs straight at each."""
    bicycle, speeds = systems.bicycle(), np.linspace(1, 9, 17)
    rear, front = numbers(bicycle, "rR rF")
    starts = [[u, 0, 0, 0, 0, 0, -u / rear, -u / front] for u in speeds]
    return speeds, np.array([linearise(bicycle, np.zeros(8), v).eigenvalues for v in starts])


def turning_speeds() -> list[float]:
    """The speeds at which it changes whether a push grows or dies out, by interpolation."""
    speeds, values = modes()
    moving = np.where(np.abs(values) > 1e-6, values.real, -np.inf)  # a change of speed stays
    return crossings(speeds, moving.max(1))


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    edges = turning_speeds()
    truth = ("At none", "Above", "Only between")[len(edges)]
    return truth, dict(zip(("low", "high"), edges, strict=False))


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    Omega = 1.25  # the table turns once in five seconds
    sol = integrate(
        systems.ball_on_turntable(Om=Omega), Reference(), h=0.1, steps=200, progress=False
    )
    angle = np.unwrap(np.arctan2(*sol.v[:, 1::-1].T))
    rate, speed = np.polyfit(sol.t, angle, 1)[0], np.hypot(*sol.v[:, :2].T)
    distance, table = np.hypot(*sol.q[:, :2].T), 2 * np.pi / Omega
    found = {"radius": speed.mean() / abs(rate), "period": 2 * np.pi / abs(rate), "table": table}
    truth = "It is carried" if abs(rate - Omega) < 0.1 * Omega else "It goes round"
    truth = "It is thrown" if distance.max() > 5 * distance[0] else truth
    return "It goes straight" if abs(rate) < 0.02 else truth, found


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    stone = systems.rattleback()
    methods = {"true": Reference(), "dla": DLA(), "projector": Projector()}
    run = {"h": 0.0025, "steps": 2000, "progress": False}
    runs = {name: integrate(stone, m, **run) for name, m in methods.items()}
    spin = {name: sol.v_projected[-1, 2] for name, sol in runs.items()}
    E = {f"{name}_energy": sol.energy() for name, sol in runs.items()}
    off = {name: np.abs(e - e[0]).max() / abs(e[0]) for name, e in E.items()}
    right = (abs(spin[name] - spin["true"]) < 1 for name in ("dla", "projector"))
    words = "Both", "Only that of DLA", "Only that of the projector", "Neither"
    return either(*right, *words), spin | off


def exercise_1(f: Any) -> str | None:
    k = np.array([0.1, 0.4, 2 / 3, 1.0])
    answer = np.array([float(f(x)) for x in k])
    rest = "This is 1 - f(k). With k = 0 nothing turns the path, so f(0) = 0."
    use = "Use m x'' = f and I w' = torque of f at the contact, with x'' from the constraint."
    one = "This is right for the homogeneous ball, k = 2/5, but not for the others."
    otherwise = one if near(answer[1], 2 / 7) else use
    return told(answer, k / (1 + k), [(1 / (1 + k), rest)], otherwise, 1e-6)
