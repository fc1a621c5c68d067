"""Lesson 01: the pendulum and its phase plane, a path to drag, a blob that is carried along."""

import numpy as np

from ...geometry.diagnostics import action
from ...mechanics import catalogue as systems
from ...methods import Reference, Variational
from ...run.ensemble import ensemble
from ...run.loop import integrate
from ...view import plot
from ..colours import BLUE, DARK, GREY, MIDDLE
from ..exercises import near, sized, takes
from ..kit import circle, frame, new_board


def draw_pendulum(ax, theta=1.0):
    """The rod, the bob and the angle from the lower equilibrium."""
    x, y = np.sin(theta), -np.cos(theta)
    a = np.linspace(0, theta, 30)
    ax.plot([0, 0], [0, -1.2], color=GREY, linestyle="--")
    ax.plot([0, x], [0, y], color=DARK)
    ax.plot(0.45 * np.sin(a), -0.45 * np.cos(a), color=DARK, linewidth=1)
    ax.plot([0], [0], marker="o", color=DARK)
    ax.plot([x], [y], marker="o", markersize=16, color=BLUE)
    ax.text(0.55 * np.sin(theta / 2), -0.62 * np.cos(theta / 2), r"$\theta$", ha="center")
    ax.text(0.5 * x + 0.05, 0.5 * y + 0.06, "$l$")
    ax.text(x + 0.13, y - 0.03, "$m$")
    ax.annotate("$g$", (-0.5, -0.85), (-0.5, -0.3), ha="center", arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-0.8, 1.3), ylim=(-1.3, 0.2), aspect="equal")
    ax.axis("off")


def phase_plane(ax, pendulum):
    """Curves of constant energy in the plane of theta and p; the separatrix is darker."""
    theta, p = np.meshgrid(np.linspace(-np.pi, np.pi, 121), np.linspace(-2.6, 2.6, 105))
    q, p = theta[..., None], p[..., None]
    E = pendulum.energy(q, pendulum.velocity(q, p))
    some, separatrix = np.arange(-0.8, 3, 0.4), [1.0]
    ax.contour(theta, p[..., 0], E, some, colors=GREY, linewidths=0.8, linestyles="solid")
    ax.contour(theta, p[..., 0], E, separatrix, colors=MIDDLE, linewidths=1.4)
    frame(ax, r"angle $\theta$ (rad)", "momentum $p$", (-np.pi, np.pi), (-2.6, 2.6))
    ax.set_xticks([-np.pi, 0, np.pi], [r"$-\pi$", "0", r"$\pi$"])
    ax.grid(False)


def path_panel(sol, low, high):
    """Drag the inner nodes of a path with the ends of ``sol``, a run of four steps.

    The bars are the derivatives of the action sum, D2Ld(q_k-1, q_k) + D1Ld(q_k, q_k+1).
    """
    system, method, t, h = sol.system, sol.method, sol.t, sol.h
    ends = sol.q[0, 0], sol.q[-1, 0]
    least, colour = action(system, method, t, sol.q), plot.look(method)["color"]
    board, left, right = new_board((8.4, 3.9), columns=2)
    frame(left, "time $t$", r"angle $\theta_k$ (rad)", (-0.1, t[-1] + 0.1))
    left.set_ylim(low - 0.1, high + 0.1)
    left.plot(t[[0, -1]], ends, marker="s", markersize=9, linestyle="none", color=DARK)
    frame(right, "inner node $k$", r"$\partial S/\partial\theta_k$", (0.4, 3.6), (-1, 1))
    right.axhline(0, color=DARK, linewidth=1)
    right.set_xticks([1, 2, 3])
    bars = [board.add(bar) for bar in right.bar([1, 2, 3], [0, 0, 0], width=0.5, color=colour)]

    def update(**nodes):
        """A path of five nodes, and one bar for each inner node.

        Left: the path; its ends are fixed. Right: how the action sum changes with each inner node.
        """
        q = np.array([ends[0], *nodes.values(), ends[1]])[:, None]
        step = t[:-1], q[:-1], np.diff(q, axis=0) / h[:, None], h
        arriving, leaving = (method.on_step(system, p, *step)[:, 0] for p in ("p_plus", "p_minus"))
        slopes = arriving[:-1] - leaving[1:]
        for bar, slope in zip(bars, slopes, strict=True):
            bar.set_height(slope)
        board.curve(t, q[:, 0], left, marker="o", color=colour)
        size = np.abs(slopes).max()
        board.fit(right, [0.4, 3.6], [-size, size])
        board.say("S =", f"{action(system, method, t, q):.4f}")
        board.say("stationary value", f"{least:.4f}")
        board.say("largest slope", f"{size:.3f}")

    start = np.linspace(*ends, 5)[1:-1]
    sliders = {f"node {k}": (low, high, round(float(x), 2), 0.01) for k, x in enumerate(start, 1)}
    return board.panel(update, **sliders)


def area(x, y):
    """The area inside a closed polygon."""
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def blob_panel(pendulum, methods, h=(0.2, 1.2, 1.0), steps=(0, 30, 14)):
    """A blob of initial conditions carried by each method; the read-out compares areas."""
    q0, v0 = np.split([1.2, 0] + 0.4 * circle(241)[:-1], 2, axis=1)  # (240, 1) each
    p0 = pendulum.momentum(q0, v0)
    board, ax = new_board((6.8, 5.2))
    phase_plane(ax, pendulum)
    ax.plot(*np.vstack([q0.T, p0.T]), color=DARK, linestyle="--", linewidth=1.2)

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
            run = ensemble(pendulum, m, q0, v0, h=h, steps=steps)
            q, p = run.q[:, -1, 0], run.p[:, -1, 0]
            filled(m).set_xy(np.column_stack([q, p]))
            board.say(f"{plot.label(m)}: area kept", f"{area(q, p) / area(q0, p0):.3f}")

    return board.panel(update, h=h, steps=steps)


@takes(sized(), "The answer is one whole number, how many eigenvalues are negative.")
def exercise_1(answer):
    """Two directions lower the action sum: the path is a saddle, not a minimum. For short times
    there is none; about every half swing adds one. The principle only asks for stationary."""
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


@takes(
    callable, "Give a function of (theta0, v0, alpha, h) that returns the velocity to start with."
)
def exercise_2(answer):
    """The start now compensates the shift of the momentum, and the order is 2 for every alpha."""
    system, q0, v0, T, hs = systems.pendulum(), [1.0], 0.4, 2.0, (0.1, 0.05, 0.025)
    truth = integrate(system, Reference(), q0, [v0], h=T, steps=1).q[-1]
    slopes = []
    for alpha in (0.0, 0.3, 0.8):
        errors = []
        for h in hs:
            v = [float(answer(q0[0], v0, alpha, h))]
            sol = integrate(system, Variational(alpha=alpha), q0, v, h=h, steps=round(T / h))
            errors.append(np.abs(sol.q[-1] - truth).max())
        slopes.append(np.polyfit(np.log(hs), np.log(errors), 1)[0])
    if not min(slopes) > 1.8:
        return f"""The observed orders for alpha = 0, 0.3, 0.8 are {slopes[0]:.1f}, {slopes[1]:.1f},
            {slopes[2]:.1f}. Compare p_minus = v + (1-alpha) h sin(theta) with the exact
            (theta1 - theta0)/h = v0 - (h/2) sin(theta0) + ..."""


def exercise_3(answer):
    """The bound is 2/|1 - 2 alpha|: 2 for Verlet, none for the midpoint rule."""
    if near(answer, 2.0):
        return "That is Verlet's bound, beta = 0. Here beta = alpha (1 - alpha) = 0.21."
    if not near(answer, 2 / abs(1 - 2 * 0.3)):
        return """Put q_k = z^k into the Newmark recursion with a = -q: stable means |z| = 1, that
            is |2 - (1 - 2 beta) h^2| <= 2 (1 + beta h^2)."""


@takes(callable, "Give a function of (q, p), each of shape (3,), that returns a number.")
def exercise_4(answer):
    """The vertical angular momentum: the constraint force passes through the axis, so SHAKE keeps
    it to round-off."""
    start = {"q0": [0.6, 0, -0.8], "v0": [0, 1.2, 0]}
    sol = integrate(systems.spherical_pendulum(), Variational(), **start, h=0.2, steps=300)
    q, p = np.array([0.3, -0.5, 0.2]), np.array([0.7, 0.4, -0.9])
    if abs(answer(q, p) - answer(q, 2 * p)) < 1e-9:
        return "A momentum depends on p; this function does not change when p is doubled."
    values = np.array([float(answer(q, p)) for q, p in zip(sol.q, sol.p, strict=True)])
    if not np.ptp(values) < 1e-10 * max(1, np.abs(values).max()):
        return f"""Along a run of SHAKE this function spreads by {np.ptp(values):.1e}. Take the
            symmetry: rotations about the vertical, xi_Q(q) = (-y, x, 0)."""
