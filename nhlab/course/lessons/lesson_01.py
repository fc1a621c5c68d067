"""Lesson 01: the pendulum and its phase plane, a path to drag, a blob that is carried along."""

from __future__ import annotations

import numpy as np

from ...geometry.diagnostics import action
from ...run.ensemble import ensemble
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY = "#333333", "#BBBBBB"


def draw_pendulum(ax, theta=1.0):
    """The rod, the bob and the angle from the lower equilibrium."""
    x, y = np.sin(theta), -np.cos(theta)
    a = np.linspace(0, theta, 30)
    ax.plot([0, 0], [0, -1.2], color=GREY, linestyle="--")
    ax.plot([0, x], [0, y], color=DARK)
    ax.plot(0.45 * np.sin(a), -0.45 * np.cos(a), color=DARK, linewidth=1)
    ax.plot([0], [0], marker="o", color=DARK)
    ax.plot([x], [y], marker="o", markersize=16, color=plot.COLOURS["DLA"])
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
    ax.contour(theta, p[..., 0], E, levels=np.arange(-0.8, 3, 0.4), colors=GREY, linewidths=0.8,
               linestyles="solid")  # fmt: skip
    ax.contour(theta, p[..., 0], E, levels=[1.0], colors="#777777", linewidths=1.4)
    ax.set(xlabel=r"angle $\theta$ (rad)", ylabel="momentum $p$")
    ax.set(xlim=(-np.pi, np.pi), ylim=(-2.6, 2.6))
    ax.set_xticks([-np.pi, 0, np.pi], [r"$-\pi$", "0", r"$\pi$"])
    ax.grid(False)


def path_panel(sol, low, high):
    """Drag the inner nodes of a path with the ends of ``sol``, a run of four steps.

    The bars are the derivatives of the action sum, D2Ld(q_k-1, q_k) + D1Ld(q_k, q_k+1).
    """
    system, method, t, h = sol.system, sol.method, sol.t, sol.h
    ends = sol.q[0, 0], sol.q[-1, 0]
    picture = Picture((8.4, 3.9), columns=2)
    left, right = picture.axes
    look = {"color": plot.look(method)["color"]}
    left.set(xlabel="time $t$", ylabel=r"angle $\theta_k$ (rad)", xlim=(-0.1, t[-1] + 0.1),
             ylim=(low - 0.1, high + 0.1))  # fmt: skip
    left.plot(t[[0, -1]], ends, marker="s", markersize=9, linestyle="none", color=DARK)
    path = picture.line(ax=left, marker="o", **look)
    right.set(xlabel="inner node $k$", ylabel=r"$\partial S/\partial\theta_k$", xticks=[1, 2, 3],
              xlim=(0.4, 3.6), ylim=(-1, 1))  # fmt: skip
    right.axhline(0, color=DARK, linewidth=1)
    bars = [picture.add(bar) for bar in right.bar([1, 2, 3], [0, 0, 0], width=0.5, **look)]
    least = action(system, method, t, sol.q)

    def update(picture, values, quick):
        q = np.array([ends[0], *values.values(), ends[1]])[:, None]
        v = np.diff(q, axis=0) / h[:, None]
        arriving, leaving = (method.on_step(system, which, t[:-1], q[:-1], v, h)[:, 0]
                             for which in ("p_plus", "p_minus"))  # fmt: skip
        slopes = arriving[:-1] - leaving[1:]
        for bar, slope in zip(bars, slopes, strict=True):
            bar.set_height(slope)
        path.set_data(t, q[:, 0])
        size = np.abs(slopes).max()
        picture.fit(right, [0.4, 3.6], [-size, size], quick)
        return {"S =": f"{action(system, method, t, q):.4f}", "stationary value": f"{least:.4f}",
                "largest slope": f"{size:.3f}"}  # fmt: skip

    start = np.linspace(*ends, 5)[1:-1]
    sliders = {f"node {k}": (low, high, round(float(x), 2), 0.01) for k, x in enumerate(start, 1)}
    return panel(picture, update, alt="A path of five nodes, and one bar for each inner node.",
                 caption="Left: the path; its ends are fixed. Right: how the action sum changes "
                         "with each inner node.", **sliders)  # fmt: skip


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
    picture = Picture((6.8, 5.2))
    phase_plane(picture.ax, pendulum)
    picture.ax.plot(*np.vstack([q0.T, p0.T]), color=DARK, linestyle="--", linewidth=1.2)
    shapes = []
    for m in methods:
        style = plot.look(m)
        (shape,) = picture.ax.fill([], [], facecolor=style["color"], alpha=0.75,
                                   edgecolor=DARK, label=plot.label(m))  # fmt: skip
        shapes.append(picture.add(shape))
    picture.ax.legend(handles=shapes, loc="lower left", bbox_to_anchor=(0, 1), ncols=2,
                      frameon=False)  # fmt: skip

    def update(picture, values, quick):
        text = {"time t =": f"{values['h'] * values['steps']:.1f}"}
        for m, shape in zip(methods, shapes, strict=True):
            run = ensemble(pendulum, m, q0, v0, h=values["h"], steps=values["steps"])
            q, p = run.q[:, -1, 0], run.p[:, -1, 0]
            shape.set_xy(np.column_stack([q, p]))
            text[f"{plot.label(m)}: area kept"] = f"{area(q, p) / area(q0, p0):.3f}"
        return text

    return panel(picture, update, h=h, steps=steps,
                 alt="The dashed disk of initial conditions and its image by each method.",
                 caption="Dashed: the initial conditions. Filled: the same states after the "
                         "chosen number of steps. Grey: curves of constant energy.")  # fmt: skip
