"""Lesson 05b: Theorem 1 of C03 with a symmetry, the extended form, other rules, and neighbours."""

from __future__ import annotations

import numpy as np
from scipy.optimize import root
from sympy import cos, sin

from ...geometry.diagnostics import action, tangent
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, EDLA, Variational
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ..exercises import takes

TRIES = {
    "robot": {
        "energy of each step: exact?": {"view": "midpoint energy"},
        "half the first step: same pattern?": {"h": 0.05},
        "turn twice as fast: shorter steps?": {"v0.vtheta": 2.0},
        "start at the bottom: less variation?": {"q0.psi": -1.5},
    },
    "05b.1": {
        "shake the well too: still exact?": {"par.eps": 0.3},
        "shake nothing: what does DLA do?": {"par.b": 0.0},
        "half the step: DLA's error a quarter?": {"h": 0.05},
        "how far do EDLA's steps vary?": {"view": "step"},
    },
}


def extended_step(s: Trajectory, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of the EDLA step at node k in (t, q, p, E), and the matrix W of the form
    dq ^ dp - dt ^ dE."""
    n = len(s.system.q)
    D = tangent(s.system, s.method, h=s.h[k - 1], row=s.rows.array[k], inputs=("t", "q", "p", "e"))
    W = np.zeros((2 * n + 2, 2 * n + 2))
    W[0, -1], W[1 : n + 1, n + 1 : -1] = -1, np.eye(n)
    return D[[0, *range(2, 2 * n + 2), -1]], W - W.T


def bowl() -> System:
    """A ball in a round bowl, seen from above: turns about the origin are a symmetry."""
    x, y, vx, vy = symbols("x y vx vy")
    L = (vx**2 + vy**2) / 2 - (x**2 + y**2) ** 2 / 4
    return System((x, y), (vx, vy), L, name="bowl", q0=(1, 0), v0=(0.5, 0.8))


def radial(q: np.ndarray, p: np.ndarray) -> tuple[float, float, float]:
    """What turns of the bowl leave as it is: r, its momentum p_r, and the angular momentum J."""
    r = np.hypot(*q)
    return r, q @ p / r, q[0] * p[1] - q[1] * p[0]


def radial_momentum(r: float, J: float, E: float) -> float:
    """p_r > 0 of the bowl at the distance r with angular momentum J and energy E."""
    return np.sqrt(2 * (E - r**4 / 4) - (J / r) ** 2)


def radial_step(x: np.ndarray, J: float, repair: bool, h: float = 0.2) -> np.ndarray:
    """(r, p_r) after a variational step of the bowl with angular momentum J.

    With ``repair`` p_r is then changed so that the energy is as before; J is kept either way.
    """
    r, p_r = x
    sol = integrate(bowl(), Variational(), [r, 0.0], [p_r, J / r], h=h, steps=1)
    r, p_r, _ = radial(sol.q[1], sol.p[1])
    return np.array([r, radial_momentum(r, J, sol.energy()[0]) if repair else p_r])


def with_kappa(kappa: float, h: float, steps: int, q: float = 0.0, p: float = 3.0) -> np.ndarray:
    """The steps that Ld = h L(midpoint) + kappa h^3 takes on the pendulum, until there is none."""

    def leaving(v, h, q, p):
        return v + h / 2 * np.sin(q + h * v / 2) - p

    def energy(v, h, q):
        return v**2 / 2 - np.cos(q + h * v / 2) - 3 * kappa * h**2

    def equations(x, q, p, e):
        return leaving(*x, q, p), energy(*x, q) - e

    v = root(leaving, p, (h, q, p), tol=1e-13).x[0]
    e, taken, near = energy(v, h, q), [], h
    while len(taken) < steps:
        taken, p, q = [*taken, h], v - h / 2 * np.sin(q + h * v / 2), q + h * v
        guess = root(leaving, v, (near, q, p)).x[0], near
        found = root(equations, guess, (q, p, e), tol=1e-12)
        if np.abs(found.fun).max() > 1e-9 or found.x[1] < 0:
            break
        near, (v, h) = found.x[1] ** 2 / h, found.x
    return np.array(taken)


def dS(sol: Trajectory, d: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of the action sum by the time and the place of every node, by central
    differences: (N+1,) and (N+1, n)."""
    x = np.column_stack([sol.t, sol.q])

    def sum_over(x):
        return action(sol.system, sol.method, x[:, 0], x[:, 1:])

    moved = d * np.eye(x.size).reshape(-1, *x.shape)
    slopes = np.reshape([(sum_over(x + e) - sum_over(x - e)) / (2 * d) for e in moved], x.shape)
    return slopes[:, 0], slopes[:, 1:]


def neighbours(method: Method, h: float, steps: int = 1000) -> np.ndarray:
    """The distance, step by step, of two runs of the particle that start 1e-9 apart."""
    start = {"v0": [1, 1, 1], "h": h, "steps": steps, "progress": False}
    a, b = (integrate(systems.particle(), method, [x, 1, 0], **start).q for x in (0, 1e-9))
    return np.abs(a - b).max(1)


# ---------------------------------------------------------------------------- predictions


def prediction_1() -> tuple[str, dict[str, float]]:
    driven = systems.driven().set(eps=0, b=0.3)
    a, b = (integrate(driven, m, h=0.1, steps=300) for m in (EDLA(), DLA()))
    E, period = a.energy("midpoints"), 2 * np.pi
    flat, wave = np.ptp(E), np.ptp(b.energy("midpoints"))
    back = abs(np.interp(period, a.t[1:], E) - E[0]) < 0.1 * flat
    changes = "It changes, but returns" if back else "It changes, because"
    truth = changes if flat > 1e-10 else "It does not"
    return truth, {"edla": flat, "dla": wave, "high": a.h.max() / 0.1}


def prediction_2() -> tuple[str, dict[str, float]]:
    far, near, dla = (
        neighbours(m, h)[-200:].max() for m, h in ((EDLA(), 0.3), (EDLA(), 0.1), (DLA(), 0.3))
    )
    truth = "Still" if far < 1e-7 else "About 1e-6" if far < 1e-2 else "As far"
    return truth, {"far": far, "near": near, "dla": dla}


# ---------------------------------------------------------------------------- exercises


@takes(callable, "Give a function of (q, p, E).")
def exercise_1(answer: object) -> str | None:
    x, y, vx, vy, t = symbols("x y vx vy t")
    along = x * cos(0.3 * t) + y * sin(0.3 * t)
    L = (vx**2 + vy**2) / 2 - (x**2 + y**2) / 2 - along**2 / 4
    rotating = System((x, y), (vx, vy), L, t=t, name="rotating")  # a bead in a potential that turns
    sol = integrate(rotating, EDLA(), [1.0, 0.0], [0.2, 0.8], h=0.1, steps=200)
    q, p, E = sol.q[1:], sol.p[1:], sol.energy("midpoints")
    values = np.array([float(answer(*row)) for row in zip(q, p, E, strict=True)])
    if np.isclose(answer(q[0], p[0], E[0]), answer(q[0], p[0], E[0] + 1)):
        return "It has to depend on E."
    spread, flipped = np.ptp(values), 2 * E - values
    if spread < 1e-10 * (1 + np.abs(values).max()):
        return None
    if np.ptp(flipped) < 1e-10 * (1 + np.abs(flipped).max()):
        return "Nearly: one sign is wrong. The extended one-form is p dq - E dt."
    return f"""Along a run it changes by {spread:.2g}. The symmetry is q -> turned by 0.3 s,
        t -> t + s; put its generator into p.dq - E dt."""
