"""Lesson 06: who pushes a momentum, the balance of the discrete momentum along a run, and the
snakeboard with the point about which it turns."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyArrowPatch

from ...geometry.diagnostics import tangent
from ...methods import DLA, RK4, Projector, Reference
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY, FORCE, XI, CENTRE = "#333333", "#BBBBBB", "#D55E00", "#0072B2", "#009E73"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
ROUND_OFF = 1e-17  # where a residual that is exactly 0 is drawn on a logarithmic scale


def _picture(size, widths=(1, 1), **margins):
    """Two axes with fixed margins: no layout is computed while a slider moves."""
    picture = Picture(size, 1, 2, gridspec_kw={"width_ratios": widths})
    picture.figure.set_layout_engine(None)
    picture.figure.subplots_adjust(**{"left": 0.09, "right": 0.98, "bottom": 0.14, "top": 0.88,
                                      "wspace": 0.28, **margins})  # fmt: skip
    return picture


def _arrow(picture, ax, colour):
    arrow = FancyArrowPatch((0, 0), (1, 1), arrowstyle="-|>", mutation_scale=16, color=colour,
                            linewidth=2.4, shrinkA=0, shrinkB=0)  # fmt: skip
    ax.add_patch(arrow)
    return picture.add(arrow)


# ---------------------------------------------------------------------------- who pushes


def push_panel(valley, angle=(-90, 90, 0), t=(0.0, 8.0, 1.2), h=0.02):
    """The constraint force and a direction xi = (cos, 0, sin) at time t, and J_xi along the motion.

    ``valley`` is any particle with the constraint vz = y vx and nothing that depends on x or z.
    """
    sol = integrate(valley, Reference(), h=h, steps=round(t[1] / h))
    lam, y = valley.multipliers(sol.q, sol.v)[:, 0], sol.q[:, 1]
    force = np.column_stack([-lam * y, lam])  # A^T lambda in the plane of x and z
    momentum = sol.p[:, [0, 2]]
    picture = _picture((9.2, 4.3), (1, 1.35))
    left, right = picture.axes
    left.set(xlabel="$x$", ylabel="$z$", xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), xticks=[-1, 0, 1],
             yticks=[-1, 0, 1])  # fmt: skip
    left.set_aspect("equal")
    allowed = picture.line(ax=left, color=DARK, label="$D$")
    push, xi = _arrow(picture, left, FORCE), _arrow(picture, left, XI)
    keys = [allowed, *(left.plot([], [], color=c, label=s)[0] for c, s in
                       ((XI, r"$\xi_Q$"), (FORCE, r"$A^T\lambda$")))]  # fmt: skip
    left.legend(handles=keys, ncols=3, columnspacing=1, handlelength=1.2, **ABOVE)
    right.set(xlabel="time $t$", ylabel=r"momentum $J_\xi$", xlim=t[:2], ylim=(-1.6, 1.6))
    curve = picture.line(ax=right, color=XI)
    slope = picture.line(ax=right, color=FORCE, linewidth=2.4, label=r"slope $\lambda A\,\xi_Q$")
    here = picture.line(ax=right, color=XI, marker="o", linestyle="none", markersize=8)
    right.legend(handles=[slope], **ABOVE)

    def update(picture, values, quick):
        k, a = round(values["time"] / h), np.deg2rad(values["angle"])
        direction = np.array([np.cos(a), np.sin(a)])
        J, power = momentum @ direction, force @ direction
        end = 1.6 * np.array([1, y[k]]) / np.hypot(1, y[k])
        allowed.set_data(*np.array([-end, end]).T)
        xi.set_positions((0, 0), direction)
        push.set_positions((0, 0), force[k] / np.abs(lam).max())
        curve.set_data(sol.t, J)
        here.set_data(sol.t[k : k + 1], J[k : k + 1])
        slope.set_data(sol.t[k] + np.array([-0.8, 0.8]), J[k] + power[k] * np.array([-0.8, 0.8]))
        return {"force along xi": f"{power[k]:+.3f}", "J": f"{J[k]:+.3f}",
                "spread of J": f"{np.ptp(J):.3f}",
                "angle of D": f"{np.rad2deg(np.arctan(y[k])):+.0f}°"}  # fmt: skip

    return panel(picture, update, angle=angle, time=t,
                 alt="Left: the line D, a direction xi and the constraint force across D. Right: "
                     "the momentum along xi over time, with the slope that the force gives it.",
                 caption="The particle seen from the side; the angle turns the symmetry direction "
                         "xi in the plane of x and z.")  # fmt: skip


def draw_push(t, J, push, rate):
    """Momenta along x and z, and the force along them with dJ/dt as dots; (N, 2) each."""
    fig, (left, right) = plot.new(1, 2, size=(9, 3.4))
    for k, (name, style) in enumerate({"x": "-", "z": "--"}.items()):
        left.plot(t, J[:, k], color=XI, linestyle=style, label=f"$p_{name}$")
        right.plot(t, push[:, k], color=FORCE, linestyle=style,
                   label=rf"$\lambda A\cdot\partial_{name}$")  # fmt: skip
        right.plot(t[::12], rate[::12, k], "o", color=DARK, markersize=3)
    left.set(xlabel="time $t$", ylabel="momentum")
    right.set(xlabel="time $t$", ylabel="force (lines), $dJ/dt$ (dots)")
    for ax in (left, right):
        ax.legend(ncols=2, **ABOVE)
    return fig


# ---------------------------------------------------------------------------- the balance


def balance_panel(symmetries, h=(0.08, 0.3, 0.1, 0.01), alpha=(0.2, 0.8, 0.5, 0.01), T=8.0):
    """J_nh_d with its right-hand side added up, and the residual of (24), for three methods.

    ``symmetries`` : name -> Symmetry.  Of several sections the last is shown.
    """
    picture = _picture((9.2, 4.3))
    left, right = picture.axes
    left.set(xlabel="time $t$", ylabel=r"$J^{nh}_d$ along $\tilde\xi$")
    right.set(xlabel="time $t$", ylabel="residual of (24)", xlim=(0, T), ylim=(ROUND_OFF, 1))
    right.set_yscale("log")
    right.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
    momentum = picture.line(ax=left, label="momentum", **plot.look(DLA()))
    added = picture.line(ax=left, color=DARK, marker="o", markersize=4, linestyle="none",
                         label="right side, added up")  # fmt: skip
    left.legend(ncols=2, columnspacing=1, **ABOVE)
    lines = {m: picture.line(ax=right, label=m.__name__, marker=".", **plot.look(m()))
             for m in (DLA, Projector, RK4)}  # fmt: skip
    right.legend(ncols=3, columnspacing=1, handlelength=1.4, **ABOVE)
    shown = []

    def update(picture, values, quick):
        sym, text = symmetries[values["system"]], {}
        a, steps = round(values["alpha"], 2), round(T / values["h"])
        for kind, line in lines.items():
            m = kind() if kind is RK4 else kind(alpha=a)
            sol = integrate(sym.system, m, h=values["h"], steps=steps)
            rule = None if m.discrete else DLA(alpha=a)
            gap = np.abs(sym.residual(sol, rule)[:, -1])
            line.set_data(sol.t[1:-1], gap + ROUND_OFF)
            text[f"{kind.__name__}: largest"] = f"{gap.max():.0e}"
            if kind is DLA:
                J, right_side = sym.J_nh_d(sol)[:, -1], sym.forcing(sol)[:, -1]
                momentum.set_data(sol.t[1:], J)
                added.set_data(sol.t[1:], J[0] + np.concatenate([[0], np.cumsum(right_side)]))
        if shown != [values["system"]]:
            picture.forget()
        shown[:] = [values["system"]]
        picture.fit(left, [0, T], J)
        return text

    return panel(picture, update, system=list(symmetries), h=h, alpha=alpha,
                 alt="Left: the nonholonomic momentum of DLA moves, and the dots of its right-hand "
                     "side lie on it. Right: the residual, round-off for DLA and projector method, "
                     "large for RK4.",
                 caption="Left: DLA. Right: left side minus right side of (24) at each node, on a "
                         "logarithmic scale; the rule with the chosen alpha reads the positions of "
                         "RK4.")  # fmt: skip


def draw_miss(hs, miss):
    """Residuals against h, log-log, for a dict method -> residuals; the figure and the slopes."""
    fig, ax = plot.new(size=(7.4, 3.8))
    slopes = {m: float(np.polyfit(np.log(hs), np.log(r), 1)[0]) for m, r in miss.items()}
    for m, r in miss.items():
        text = "round-off" if max(r) < 1e-14 else f"slope {slopes[m]:.2f}"
        ring = {"markersize": 11, "fillstyle": "none"} if isinstance(m, Reference) else {}
        ax.loglog(hs, r, marker="o", label=f"{plot.label(m)}: {text}", **plot.look(m), **ring)
    ax.set(xlabel="step size $h$", ylabel="largest residual of (24)", ylim=(1e-17, 0.1))
    ax.set_xticks(hs, hs)
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return fig, slopes


def differentiate(sol, k):
    """The derivative of step k -> k+1 by (q, p): the rows of (q, p), and that of the last lam."""
    n = len(sol.system.q)
    row = np.concatenate([sol.q[k], sol.p[k], sol.v_step[k - 1], sol.lam[k - 1]])
    D = tangent(sol.system, sol.method, t=sol.t[k], h=sol.h[k], row=row)
    return D[2 : 2 * n + 2], D[-1]


# ---------------------------------------------------------------------------- snakeboard


def wheels(q, r=1.0):
    """Ends of the board and headings of their wheels, front first: (..., 2, 2) and (..., 2).

    The printed constraints hold if the axle at the rear is turned by +phi, that in front by -phi.
    """
    x, y, theta, _, phi = np.moveaxis(np.asarray(q, float), -1, 0)
    along = r * np.stack([np.cos(theta), np.sin(theta)], -1)
    at = np.stack([x, y], -1)
    return np.stack([at + along, at - along], -2), np.stack([theta - phi, theta + phi], -1)


def centre(q, r=1.0):
    """The point about which the board turns, where the lines of its axles meet; (..., 2)."""
    x, y, theta, _, phi = np.moveaxis(np.asarray(q, float), -1, 0)
    a, b, c = r * np.cos(theta) * np.cos(phi), r * np.sin(theta) * np.cos(phi), -np.sin(phi)
    return np.stack([x - b / c, y + a / c], -1)


def outline(q, r=1.0, rotor=True):
    """Lines that draw the board: board, axles, wheels and rotor, a list of (k, 2) arrays."""
    q = np.asarray(q, float)
    ends, headings = wheels(q, r)
    parts = [ends]
    for end, heading in zip(ends, headings, strict=True):
        ahead, aside = np.array([[np.cos(heading), np.sin(heading)],
                                 [-np.sin(heading), np.cos(heading)]])  # fmt: skip
        parts.append(end + np.outer([-0.3, 0.3], aside))
        parts += [end + s * 0.3 * aside + np.outer([-0.16, 0.16], ahead) for s in (-1, 1)]
    if rotor:
        turn = q[2] + q[3]
        parts.append(q[:2] + np.outer([-0.45, 0.45], [np.cos(turn), np.sin(turn)]))
    return parts


def draw_snakeboard(ax, q=(0, 0, 0.3, 0.8, 0.5)):
    """FIM08 Fig. 3 with the point where the lines of the axles meet."""
    q, at = np.array(q, float), centre(q)
    (front, rear), headings = wheels(q)
    theta, psi = q[2:4]
    for end in (front, rear):
        ax.plot(*np.array([end, at]).T, color=CENTRE, linestyle=":", linewidth=1.4)
    for part in outline(q):
        ax.plot(*part.T, color=DARK, linewidth=2)
    ax.plot(*at, "o", color=CENTRE)
    ax.annotate("$C$", at, (8, -4), textcoords="offset points", color=CENTRE)
    ax.plot([0, 1.5], [0, 0], color="#999999", linestyle="--", linewidth=1)
    for end, s, heading in ((front, 1, headings[0]), (rear, -1, headings[1])):
        ax.plot(*np.array([end, 1.75 * end]).T, color="#999999", linestyle="--", linewidth=1)
        turned = heading + (0 if s > 0 else np.pi)
        tip = end + 0.75 * np.array([np.cos(turned), np.sin(turned)])
        ax.plot(*np.array([end, tip]).T, color="#999999", linestyle="--", linewidth=1)
        _arc(ax, end, 0.6, turned, theta + (0 if s > 0 else np.pi), r"$\phi$")
    _arc(ax, q[:2], 0.55, 0, theta, r"$\theta$")
    _arc(ax, q[:2], 0.4, theta, theta + psi, r"$\psi$")
    ax.annotate("rear", rear, (-14, 34), textcoords="offset points", color="#777777")
    ax.annotate("front", front, (-14, 34), textcoords="offset points", color="#777777")
    ax.set_aspect("equal")
    ax.set_axis_off()


def _arc(ax, at, radius, start, end, text):
    a = np.linspace(start, end, 30)
    ax.plot(at[0] + radius * np.cos(a), at[1] + radius * np.sin(a), color=DARK, linewidth=1)
    middle, far = (start + end) / 2, radius + 0.16
    ax.text(at[0] + far * np.cos(middle), at[1] + far * np.sin(middle), text, ha="center",
            va="center")  # fmt: skip


def draw_motion(ax, sol, times):
    """The path of the board's centre and the board at some times."""
    ax.plot(*sol.q[:, :2].T, color=GREY)
    for t in times:
        q = sol.q[np.abs(sol.t - t).argmin()]
        for part in outline(q, rotor=False):
            ax.plot(*part.T, color=DARK, linewidth=1.5)
        aside = q[:2] + 0.45 * np.array([-np.sin(q[2]), np.cos(q[2])])  # to the left of the board
        ax.text(*aside, f"$t={t:g}$", ha="center", va="center", fontsize=10, color="#555555")
    ax.set(xlabel="$x$", ylabel="$y$")
    ax.set_aspect("equal", adjustable="datalim")


def turning_panel(symmetry, phi=(0.3, 0.6, 0.4), rate=(0.0, 0.06, 0.0), t=(0.0, 8.0, 3.0), h=0.1):
    """The snakeboard at time t with the point about which it turns, and its momentum.

    ``symmetry`` : the motions of the plane; its last section is that of FIM08 example 2.
    """
    system = symmetry.system
    picture = _picture((9.2, 4.6), (1.15, 1))
    left, right = picture.axes
    left.set(xlabel="$x$", ylabel="$y$", xlim=(-4.5, 4.5), ylim=(-7.2, 1.8))
    left.set_aspect("equal")
    path = picture.line(ax=left, color=GREY)
    trace = picture.line(ax=left, color=CENTRE, linewidth=1)
    spokes = [picture.line(ax=left, color=CENTRE, linestyle=":", linewidth=1.4) for _ in range(2)]
    dot = picture.line(ax=left, color=CENTRE, marker="o", linestyle="none")
    parts = [picture.line(ax=left, color=DARK, linewidth=2) for _ in outline(system.q0)]
    right.set(
        xlabel="time $t$", ylabel=r"$J^{nh}_d$ along $\tilde\xi$", xlim=t[:2], ylim=(1.1, 2.6)
    )
    curve = picture.line(ax=right, label="momentum", **plot.look(DLA()))
    added = picture.line(ax=right, color=DARK, marker="o", markersize=4, linestyle="none",
                         markevery=4, label="right side, added up")  # fmt: skip
    now = picture.line(ax=right, marker="o", markersize=8, color=XI, linestyle="none")
    right.legend(handles=[curve, added], ncols=2, columnspacing=1, **ABOVE)

    def update(picture, values, quick):
        q0 = [0, 0, 0, 0, values["phi"]]
        v0 = [1, 0, -np.tan(values["phi"]), 0.7, values["rate"]]  # r = 1
        sol = integrate(system, DLA(), q0, v0, h=h, steps=round(t[1] / h))
        J, k = symmetry.J_nh_d(sol)[:, -1], round(values["time"] / h)
        i = max(k - 1, 0)  # the step that arrives at node k
        right_side = np.cumsum([0, *symmetry.forcing(sol)[:, -1]])
        q, at = sol.q[k], centre(sol.q)
        path.set_data(*sol.q[:, :2].T)
        trace.set_data(*at.T)
        dot.set_data(*at[k : k + 1].T)
        for line, end in zip(spokes, wheels(q)[0], strict=True):
            line.set_data(*np.array([end, at[k]]).T)
        for line, part in zip(parts, outline(q), strict=True):
            line.set_data(*part.T)
        curve.set_data(sol.t[1:], J)
        added.set_data(sol.t[1:], J[0] + right_side)
        now.set_data(sol.t[i + 1 : i + 2], J[i : i + 1])
        return {"phi": f"{q[4]:.2f}", "C": f"({at[k, 0]:.2f}, {at[k, 1]:.2f})",
                "J": f"{J[i]:.4f}", "spread of J": f"{np.ptp(J):.4f}"}  # fmt: skip

    return panel(picture, update, phi=phi, rate=rate, time=t,
                 alt="Left: the snakeboard and the point C where the lines of its axles meet. "
                     "Right: its momentum over time, and the right-hand side of (24) added up.",
                 caption="phi: the angle of the axles at the start; rate: how fast they turn. "
                         "Green: C and its path. All by DLA, h = 0.1.")  # fmt: skip
