"""Lesson 01: the pendulum and its phase plane, a path to drag, a blob that is carried along."""

import numpy as np

from ...geometry.diagnostics import action
from ...run.ensemble import ensemble
from ...view import plot
from ..colours import BLUE, DARK, GREY, MIDDLE
from ..kit import frame, new_board


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
        board.fit(right, [0.4, 3.6], [-size, size], board.quick)
        board.say("S =", f"{action(system, method, t, q):.4f}")
        board.say("stationary value", f"{least:.4f}")
        board.say("largest slope", f"{size:.3f}")

    start = np.linspace(*ends, 5)[1:-1]
    sliders = {f"node {k}": (low, high, round(float(x), 2), 0.01) for k, x in enumerate(start, 1)}
    return board.panel(update, **sliders)


def area(x, y):
    """The area inside a closed polygon."""
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def blob(count=240, centre=(1.2, 0.0), radius=0.4):
    """Initial conditions on a circle in the phase plane, q and v of shape (count, 1)."""
    a = np.linspace(0, 2 * np.pi, count, endpoint=False)[:, None]
    return centre[0] + radius * np.cos(a), centre[1] + radius * np.sin(a)


def blob_panel(pendulum, methods, h=(0.2, 1.2, 1.0), steps=(0, 30, 14)):
    """A blob of initial conditions carried by each method; the read-out compares areas."""
    q0, v0 = blob()
    p0 = pendulum.momentum(q0, v0)
    board, ax = new_board((6.8, 5.2))
    phase_plane(ax, pendulum)
    ax.plot(*np.vstack([q0.T, p0.T]), color=DARK, linestyle="--", linewidth=1.2)

    def shape(method):
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
            shape(m).set_xy(np.column_stack([q, p]))
            board.say(f"{plot.label(m)}: area kept", f"{area(q, p) / area(q0, p0):.3f}")

    return board.panel(update, h=h, steps=steps)
