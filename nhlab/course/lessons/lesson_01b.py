"""Lesson 01 in depth: areas that are carried along, and charts of the circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from ...geometry.diagnostics import action
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import Variational
from ...methods.method import Method
from ...run.loop import integrate
from ...view import plot
from ...view.panel import Panel
from ..colours import DARK
from ..exercises import near, sized, takes
from ..kit import circle, new_board
from .lesson_01 import carried, phase_plane


def blob_panel(
    pendulum: System,
    methods: Sequence[Method],
    h: tuple[float, ...] = (0.2, 1.2, 1.0),
    steps: tuple[float, ...] = (0, 30, 14),
) -> Panel:
    """A blob of initial conditions carried by each method; the read-out compares areas."""
    board, ax = new_board((6.8, 5.2))
    phase_plane(ax, pendulum)
    q0, p0, _ = carried(pendulum, methods[0], h[2], 0)
    ax.plot(q0, p0, color=DARK, linestyle="--", linewidth=1.2)

    def filled(method):
        look = {"facecolor": plot.look(method)["color"], "edgecolor": DARK, "alpha": 0.75}
        return board.part(lambda: ax.fill([], [], label=plot.label(method), **look)[0])

    def update(h, steps):
        """The dashed disk of initial conditions and its image by each method.

        Dashed: the initial conditions. Filled: the same states after the chosen number of steps.
        Grey: curves of constant energy.
        """
        board.say("time t =", f"{h * steps:.1f}")
        for m in methods:
            q, p, kept = carried(pendulum, m, h, steps)
            filled(m).set_xy(np.column_stack([q, p]))
            board.say(f"{plot.label(m)}: area kept", f"{kept:.3f}")

    return board.panel(update, h=h, steps=steps)


def bead_on_wire(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The wire y = x^2/2 and the bead on it, outlines for ``nh.animate``."""
    x = np.linspace(-1.4, 1.4, 57)
    return np.column_stack([x, x**2 / 2]), [q[0], q[0] ** 2 / 2] + 0.07 * circle(25)


# A coordinate u of the circle: the angle from it, in symbols, and it from the angle, in numbers.
CHARTS = {
    "(0, 2 pi)": (lambda u: u, lambda theta: theta % (2 * np.pi)),
    "(-pi, pi)": (lambda u: u, lambda theta: (theta + np.pi) % (2 * np.pi) - np.pi),
    "tan(theta/2)": (lambda u: 2 * sp.atan(u), lambda theta: np.tan(theta / 2)),
}


def in_chart(name: str) -> System:
    """The pendulum in one of the CHARTS."""
    u, w = symbols("u w")
    theta = CHARTS[name][0](u)
    return System((u,), (w,), (theta.diff(u) * w) ** 2 / 2 + sp.cos(theta))


def chart_Ld(name: str, ends: tuple[float, float], h: float) -> float:
    """Ld of a step between two angles by the midpoint rule of a chart."""
    nodes = [[CHARTS[name][1](theta)] for theta in ends]
    return action(in_chart(name), Variational(), [0, h], nodes)


def through_charts(first: str, second: str, h: float, steps: int) -> np.ndarray:
    """A pendulum that turns over, from theta = 1 with p = 2.5, as complex numbers on the circle.

    Each step uses one chart alone: the first in the upper half of the circle, the second in the
    lower half, far from the point where it is cut.
    """
    theta, p, found = 1.0, 2.5, [np.exp(1j)]
    pendulums = {name: in_chart(name) for name in (first, second)}
    for _ in range(steps):
        name = first if np.cos(theta) < 0 else second
        system, (to_angle, from_angle) = pendulums[name], CHARTS[name]
        u = [from_angle(theta)]
        stretch = np.sqrt(system.M(u)[0, 0])  # dtheta/du, since the mass is 1
        sol = integrate(system, Variational(), u, [p / stretch], h=h, steps=1)
        theta, p = float(to_angle(sol.q[1, 0])), sol.p[1, 0] / np.sqrt(system.M(sol.q[1])[0, 0])
        found.append(np.exp(1j * theta))
    return np.array(found)


@takes(sized(), "The answer is one whole number, how many eigenvalues are negative.")
def exercise_1(answer: object) -> str | None:
    h = 0.1
    q = integrate(systems.pendulum(), Variational(), [1.0], [0.0], h=h, steps=80).q[:, 0]
    c = h / 4 * np.cos((q[:-1] + q[1:]) / 2)  # of each step: D1D1Ld = D2D2Ld = 1/h - c
    hessian = np.diag(2 / h - c[:-1] - c[1:])
    hessian += np.diag(-1 / h - c[1:-1], 1) + np.diag(-1 / h - c[1:-1], -1)
    if answer == 0:
        return "That holds for short times only: this run lasts longer than half a swing."
    if answer != (np.linalg.eigvalsh(hessian) < 0).sum():
        return """Check the matrix: S has the second derivative D2D2Ld(k-1, k) + D1D1Ld(k, k+1) in
            its diagonal and D1D2Ld(k, k+1) beside it, for the 79 inner nodes."""


def exercise_2(answer: object) -> str | None:
    if near(answer, 2.0):
        return "That is Verlet's bound, beta = 0. Here beta = alpha (1 - alpha) = 0.21."
    if not near(answer, 2 / abs(1 - 2 * 0.3)):
        return """Put q_k = z^k into the Newmark recursion with a = -q: stable means |z| = 1, that
            is |2 - (1 - 2 beta) h^2| <= 2 (1 + beta h^2)."""


@takes(callable, "Give a function of (q, p), each of shape (3,), that returns a number.")
def exercise_3(answer: object) -> str | None:
    start = {"q0": [0.6, 0, -0.8], "v0": [0, 1.2, 0]}
    sol = integrate(systems.spherical_pendulum(), Variational(), **start, h=0.2, steps=300)
    q, p = np.array([0.3, -0.5, 0.2]), np.array([0.7, 0.4, -0.9])
    if abs(answer(q, p) - answer(q, 2 * p)) < 1e-9:
        return "A momentum depends on p; this function does not change when p is doubled."
    values = np.array([float(answer(q, p)) for q, p in zip(sol.q, sol.p, strict=True)])
    if not np.ptp(values) < 1e-10 * max(1, np.abs(values).max()):
        return f"""Along a run of SHAKE this function spreads by {np.ptp(values):.1e}. Take the
            symmetry: rotations about the vertical, xi_Q(q) = (-y, x, 0)."""
