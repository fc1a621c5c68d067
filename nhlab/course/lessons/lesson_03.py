"""Lesson 03: a plane in which a velocity is split and reflected, the jumps of a skate's momentum,
and the errors of Fig. 5 of FIM08 with the point where DLA takes its constraint free to choose."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyArrowPatch

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY = "#333333", "#BBBBBB"
ARRIVING, LEAVING = "#0072B2", "#D55E00"


def heavy_particle(mz=1.0):
    """The free particle of FIM08 example 1 whose motion along z has a mass of its own."""
    x, y, z, vx, vy, vz, m = symbols("x y z vx vy vz mz")
    return System((x, y, z), (vx, vy, vz), (vx**2 + vy**2 + m * vz**2) / 2, [vz - y * vx],
                  parameters={m: mz}, name="heavy particle")  # fmt: skip


def _arrow(picture, colour, width=2.4):
    arrow = FancyArrowPatch((0, 0), (1, 1), arrowstyle="-|>", mutation_scale=16, color=colour,
                            linewidth=width, shrinkA=0, shrinkB=0)  # fmt: skip
    picture.ax.add_patch(arrow)
    return picture.add(arrow)


def reflection_panel(y=(-2.0, 2.0, 1.0), angle=(-180, 180, 10), mz=(0.25, 4.0, 1.0)):
    """A velocity in the plane of vx and vz, its two parts, and its mirror image (P - Q) v.

    The velocity has the energy 1/2; the ellipse holds all velocities that have.
    """
    system = heavy_particle()
    picture = Picture((6.8, 4.9))
    ax = picture.ax
    ax.set(xlabel=r"$\dot x$", ylabel=r"$\dot z$", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2),
           xticks=range(-2, 3), yticks=range(-2, 3))  # fmt: skip
    ax.set_aspect("equal")
    ellipse = picture.line(color=GREY, label="equal energy")
    allowed = picture.line(color=DARK, label="$D$")
    normal = picture.line(color=DARK, linestyle=":", label=r"$D^\perp$")
    tangent_part = picture.line(color="#009E73", linewidth=3.2, label="$Pv$")
    normal_part = picture.line(color="#CC79A7", linewidth=3.2, label="$Qv$")
    before, after = _arrow(picture, ARRIVING), _arrow(picture, LEAVING)
    keys = [ellipse, allowed, normal, tangent_part, normal_part]
    keys += [ax.plot([], [], color=c, label=t)[0]
             for c, t in ((ARRIVING, "arriving $v$"), (LEAVING, "leaving $(P-Q)v$"))]  # fmt: skip
    ax.legend(handles=keys, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    turn = np.linspace(0, 2 * np.pi, 181)

    def update(picture, values, quick):
        s, q = system.set(mz=values["mz"]), np.array([0, values["y"], 0])
        P, Q, A, M = s.P(q), s.Q(q), s.A(q)[0], s.M(q)
        a = np.deg2rad(values["angle"])
        v = np.array([np.cos(a), 0, np.sin(a)])
        v /= np.sqrt(v @ M @ v)
        n = np.linalg.solve(M, A)
        u, w = P @ v, (P - Q) @ v
        ellipse.set_data(np.cos(turn), np.sin(turn) / np.sqrt(values["mz"]))
        allowed.set_data([-4, 4], [-4 * values["y"], 4 * values["y"]])
        normal.set_data(*(np.outer([-9, 9], n[[0, 2]]).T))
        tangent_part.set_data([0, u[0]], [0, u[2]])
        normal_part.set_data([u[0], v[0]], [u[2], v[2]])
        before.set_positions((0, 0), (v[0], v[2]))
        after.set_positions((0, 0), (w[0], w[2]))
        return {"A v arriving, leaving": f"{A @ v:+.3f}, {A @ w:+.3f}",
                "of the average": f"{abs(A @ (v + w)) / 2:.0e}",
                "energies": f"{s.energy(q, v):.3f}, {s.energy(q, w):.3f}"}  # fmt: skip

    return panel(picture, update, y=y, angle=angle, mz=mz,
                 alt="The line D, its complement, a velocity and its mirror image on one ellipse.",
                 caption="The plane of the velocities at height y. The angle turns the arriving "
                         "velocity; mz is the mass of the motion along z, which changes the "
                         "metric.")  # fmt: skip


def jump_panel(nodes=(4, 12, 4), turn=(0.2, 1.5, 0.9), T=3.2):
    """FIM08 Fig. 1 computed: a skate (sleigh with a = 0) and the momenta at its inner nodes."""
    skate = systems.sleigh(a=0.0)
    theta0, length = 0.2, 0.62
    picture = Picture((6.8, 4.9))
    ax = picture.ax
    ax.set(xlabel="$x$", ylabel="$y$", xlim=(-1.5, 3.4), ylim=(-0.6, 2.8))
    ax.set_aspect("equal")
    path = picture.line(color=GREY, marker="o", markerfacecolor=DARK, markeredgecolor=DARK)
    blades = picture.line(color=DARK, linestyle=":", label="momenta of $D$")
    arrows = [(_arrow(picture, ARRIVING, 1.8), _arrow(picture, LEAVING, 1.8))
              for _ in range(nodes[1] - 1)]  # fmt: skip
    keys = [blades, *(ax.plot([], [], color=c, label=t)[0] for c, t in
                      ((ARRIVING, "arriving $p^+$"), (LEAVING, "leaving $p^-$")))]  # fmt: skip
    ax.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)

    def update(picture, values, quick):
        n = values["nodes"]
        v0 = [np.cos(theta0), np.sin(theta0), values["turn"]]
        sol = integrate(skate, Projector(), [0, 0, theta0], v0, h=T / n, steps=n)
        q, arriving, leaving = sol.q[1:-1], sol.p[1:-1, :2], sol.p_minus[1:, :2]
        path.set_data(*sol.q[:, :2].T)
        along = length * np.column_stack([np.cos(q[:, 2]), np.sin(q[:, 2])])
        ends = np.stack([q[:, :2] - along, q[:, :2] + along, np.full_like(along, np.nan)], 1)
        blades.set_data(*ends.reshape(-1, 2).T)
        for k, pair in enumerate(arrows):
            for arrow, p in zip(pair, (arriving, leaving), strict=True):
                arrow.set_visible(k < n - 1)
                if k < n - 1:
                    arrow.set_positions(q[k, :2], q[k, :2] + length * p[k])
        cross = arriving[:, 0] * leaving[:, 1] - arriving[:, 1] * leaving[:, 0]
        jump = np.arctan2(cross, (arriving * leaving).sum(1))
        return {"h =": f"{T / n:.2f}", "jump of the direction (rad)": f"{np.abs(jump).max():.3f}",
                "h times turn rate": f"{values['turn'] * T / n:.3f}",
                "A v of the average": f"{np.abs(sol.constraint('average')).max():.0e}"}  # fmt: skip

    return panel(picture, update, nodes=nodes, turn=turn,
                 alt="A polygon of nodes; at each inner node two arrows, mirror images of each "
                     "other in the dotted direction of the blade.",
                 caption=f"A skate during t = {T:g}, in the chosen number of steps. Dotted: the "
                         "direction of the blade at each node.")  # fmt: skip


PRINTED_START = (-0.2399785, 0.0, 0.05755261)  # reaches FIM08's printed q1 at t = 1


def error_panel(c=(0.0, 1.0, 0.5), h=(1.0, 0.5, 0.25), T=60):
    """FIM08 Fig. 5 on a logarithmic scale; DLA takes its constraint at (1-c) q1 + c q2."""
    sleigh, fine = systems.sleigh(), min(h)
    true = integrate(sleigh, Reference(), [0, 0, 0], PRINTED_START, h=fine, steps=round(T / fine))
    picture = Picture((6.8, 4.2))
    ax = picture.ax
    ax.set(xlabel="time $t$", ylabel=r"error in $\mathbb{R}^3$", xlim=(0, T), ylim=(1e-6, 10))
    ax.set_yscale("log")
    lines = [picture.line(label=type(m).__name__, **plot.look(m)) for m in (DLA(), Projector())]
    ax.legend(handles=lines, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)

    def update(picture, values, quick):
        text, h = {}, values["h"]
        q = true.q[:: round(h / fine)]
        for m, line in zip((DLA(constraint_alpha=values["c"]), Projector()), lines, strict=True):
            sol = integrate(sleigh, m, q[0], q1=q[1], h=h, steps=len(q) - 1)
            error = np.linalg.norm(sol.q - q, axis=1)
            line.set_data(sol.t[2:], error[2:])  # the first two nodes are exact
            text[f"{type(m).__name__} at t = {T}"] = f"{error[-1]:.2e}"
        return text

    return panel(picture, update, c=c, h=list(h),
                 alt="Errors of DLA and the projector method on the sleigh over time, log scale.",
                 caption="The sleigh of FIM08 example 3 from the printed start. c = 0 takes DLA's "
                         "constraint at the left point, c = 1/2 at the midpoint; the projector "
                         "method has no such choice.")  # fmt: skip
