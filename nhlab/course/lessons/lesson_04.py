"""Lesson 04: a body turned from the left and from the right, its momenta on their sphere, the
mirror of FIM08 Fig. 1 seen from space, and the energy where theorem 1 holds and where not."""

from __future__ import annotations

import ipywidgets as w
import numpy as np
from matplotlib.patches import FancyArrowPatch, Polygon

from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...mechanics.groupsystem import GroupSystem
from ...mechanics.system import symbols
from ...methods import DLA, RK4, Projector, Reference, Variational
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY = "#333333", "#BBBBBB"
ARRIVING, LEAVING = "#0072B2", "#D55E00"
AXES = ("#D55E00", "#009E73", "#0072B2")


# ---------------------------------------------------------------------------- numbers and figures


def spread(x):
    """The largest distance from the first entry."""
    return np.abs(x - x[0]).max()


def show(x):
    """A size in nine characters; "round-off" below 1e-12."""
    return "round-off" if x < 1e-12 else f"{x:9.1e}"


def angles_figure(miss=0.05):
    """Yaw and pitch, and the quaternion, of a body that pitches over beside the vertical."""
    t = np.linspace(0, np.pi, 400)
    g = SO3.multiply(SO3.exp([miss, 0, 0]), SO3.exp(t[:, None] * [0, 1, 0]))
    R = SO3.matrix(g)
    yaw, pitch = np.arctan2(R[:, 1, 0], R[:, 0, 0]), -np.arcsin(R[:, 2, 0])
    figure, (left, right) = plot.new(1, 2, size=(9.4, 3.4))
    lines = [left.plot(t, np.unwrap(yaw)), left.plot(t, pitch, "--")]
    left.set(xlabel="time $t$", ylabel="angle (rad)")
    left.legend([x for (x,) in lines], ("yaw", "pitch"), frameon=False)
    for x, name, style in zip(g.T, "wxyz", ("-", "-", "--", ":"), strict=True):
        right.plot(t, x, style, label=f"${name}$")
    right.set(xlabel="time $t$", ylabel="unit quaternion")
    right.legend(frameon=False, ncols=2, loc="center", bbox_to_anchor=(0.48, 0.27))
    return figure


def zigzag_figure(runs):
    """omega_2 of runs of Suslov's problem; m of the true motion and the zigzag of the last run."""
    figure, (left, right) = plot.new(1, 2, size=(9.4, 3.6))
    for sol in runs:
        left.plot(sol.t, sol.v_projected[:, 1], label=plot.label(sol.method),
                  **plot.look(sol.method))  # fmt: skip
    M = sol.system.M(sol.q[0])
    m = systems.suslov_omega(sol.system, sol.t) @ M[2]
    zigzag = np.abs(np.diff(sol.constraint()[:, 0])) / 2
    right.semilogy(sol.t, m, color=DARK, label="$m$, exact")
    right.semilogy(sol.t[1:], zigzag, color=LEAVING, linewidth=1, label=r"zigzag of $\omega_3$")
    left.set(xlabel="time $t$", ylabel=r"$\omega_2$")
    right.set(xlabel="time $t$", ylim=(1e-7, 3))
    left.legend(frameon=False, loc="center", bbox_to_anchor=(0.4, 0.4))
    right.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


# ---------------------------------------------------------------------------- drawing in space


def view(toward):
    """Rows: right, up and towards the eye, for an eye in the given direction."""
    eye = np.array(toward, float) / np.linalg.norm(toward)
    right = np.cross([0, 0, 1], eye)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(eye, right), eye])


VIEW = view((1, -0.75, 0.55))
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [1, 0.6, 0.2]
EDGES = [(a, b) for a in range(8) for b in range(a) if np.sum(CORNERS[a] != CORNERS[b]) == 1]


def plate(R):
    """The edges of a flat box turned by R, as one curve with gaps, in the plane of the picture."""
    ends = np.array([[*CORNERS[[a, b]], [np.nan] * 3] for a, b in EDGES]).reshape(-1, 3)
    return VIEW[:2] @ R @ ends.T


def _arrow(picture, colour, width=2.2, ax=None, **options):
    arrow = FancyArrowPatch((0, 0), (1, 1), arrowstyle="-|>", mutation_scale=14, color=colour,
                            linewidth=width, shrinkA=0, shrinkB=0, **options)  # fmt: skip
    (ax or picture.ax).add_patch(arrow)
    return picture.add(arrow)


def _key(ax, colour, text, **options):
    return ax.plot([], [], color=colour, label=text, **options)[0]


def _bare(ax, xlim, ylim):
    ax.set(xlim=xlim, ylim=ylim, xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)


def _playing(made, name, interval=700):
    """Add a play button that moves the whole-number slider ``name``."""
    slider = made.controls[name]
    play = w.Play(min=slider.min, max=slider.max, value=slider.value, interval=interval)
    play.observe(lambda change: setattr(slider, "value", change["new"]), "value")
    slider.observe(lambda change: play.set_trait("value", change["new"]), "value")
    made.bar.children = (play, *made.bar.children)
    return made


def _triple(x):
    return "(" + ", ".join(f"{y + 0.0:+.2f}" for y in np.round(x, 2)) + ")"


# ---------------------------------------------------------------------------- left and right


def translation_panel(angle=(0, 180, 60), time=(0.0, 8.0, 2.0)):
    """A tumbling plate g(t) beside s g(t) or g(t) s, with its angular velocity in space."""
    body, h = systems.rigid_body(), 0.1
    true = integrate(body, Reference(), body.q0, (0.3, 1, 0.2), h=h, steps=round(time[1] / h))
    picture = Picture((7.2, 3.9), 1, 2)
    parts = []
    for ax in picture.axes:
        _bare(ax, (-1.65, 1.65), (-1.5, 1.5))
        box = picture.line(ax=ax, color=GREY, linewidth=1.4)
        axes = [_arrow(picture, c, ax=ax) for c in AXES]
        parts.append((box, axes, _arrow(picture, DARK, 3.0, ax=ax)))
    titles = [picture.add(ax.text(-1.6, 1.3, "$g(t)$", fontsize=15)) for ax in picture.axes]
    keys = [_key(picture.ax, c, f"$e_{k}$ of the body") for k, c in enumerate(AXES, 1)]
    keys += [_key(picture.ax, DARK, "angular velocity in space", linewidth=3)]
    picture.figure.legend(handles=keys, loc="outside lower center", ncols=4, frameon=False,
                          fontsize=10, handlelength=1.4)  # fmt: skip

    def update(picture, values, quick):
        k = min(round(values["time"] / h), len(true.q) - 1)
        s = SO3.exp(np.deg2rad(values["angle"]) * np.array([0, 0.6, 0.8]))
        g, omega, left = true.q[k], true.v[k], values["turn"].startswith("the world")
        other = SO3.multiply(s, g) if left else SO3.multiply(g, s)
        body_velocity = omega if left else SO3.Ad(SO3.inverse(s), omega)
        titles[1].set_text("$s\\,g(t)$" if left else "$g(t)\\,s$")
        for (box, axes, arrow), a, xi in zip(parts, (g, other), (omega, body_velocity),
                                             strict=True):  # fmt: skip
            R = SO3.matrix(a)
            box.set_data(*plate(R))
            for e, tip in zip(axes, (1.35 * VIEW[:2] @ R).T, strict=True):
                e.set_positions((0, 0), tip)
            arrow.set_positions((0, 0), 1.3 * VIEW[:2] @ R @ xi)
        return {"body velocity": _triple(omega), "of the copy": _triple(body_velocity),
                "velocity in space": _triple(SO3.Ad(g, omega)),
                "of the copy ": _triple(SO3.Ad(other, body_velocity))}  # fmt: skip

    return panel(picture, update, turn=["the world (left)", "the body (right)"], angle=angle,
                 time=time, alt="A tumbling plate and its copy, turned from the left or the right.",
                 caption="Left: a freely tumbling plate. Right: the same motion with the world, or "
                         "the body in its frame, turned by the angle about one axis.")  # fmt: skip


# ---------------------------------------------------------------------------- the sphere


def sphere_panel(h=(0.1, 0.6, 0.4), start=(5, 85, 20), T=60.0):
    """Momenta of a free rigid body in the body frame, on the polhodes of the sphere |p| = 1."""
    eye = view((0.75, 1, 0.45))
    picture = Picture((6.6, 4.6))
    ax = picture.ax
    _bare(ax, (-1.15, 1.15), (-1.15, 1.15))
    I = np.array([1.0, 2.0, 2.5])
    x, y = np.meshgrid(*[np.linspace(-1, 1, 241)] * 2)
    front = np.sqrt(np.clip(1 - x**2 - y**2, 0, None))
    p = np.einsum("ji,j...->i...", eye, np.array([x, y, front]))
    H = np.where(x**2 + y**2 <= 1, (p.T**2 / I / 2).sum(-1).T, np.nan)
    ax.contour(x, y, H, levels=[0.215, 0.235, 0.27, 0.31, 0.36, 0.41, 0.46], colors=GREY,
               linewidths=0.9, linestyles="solid")  # fmt: skip
    ax.contour(x, y, H, levels=[0.25], colors=DARK, linewidths=1.1, linestyles="dashed")
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=DARK, linewidth=1)
    for k, e in enumerate(eye[:2].T, 1):
        ax.plot(*e, color=DARK, marker="o", markersize=4)
        ax.annotate(f"$e_{k}$", e, (6, 6), textcoords="offset points", fontsize=14)
    back = picture.line(color=LEAVING, alpha=0.25, linestyle="none", marker=".", markersize=4)
    dots = picture.line(color=LEAVING, linestyle="none", marker=".", markersize=6)
    keys = [_key(ax, GREY, "polhodes"), _key(ax, DARK, "through $e_2$", linestyle="--"),
            _key(ax, LEAVING, "computed $p_k$", marker=".", linestyle="none")]  # fmt: skip
    ax.legend(handles=keys, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    bodies = {rule: systems.rigid_body(rule=rule) for rule in ("cayley", "log", "trace")}

    def update(picture, values, quick):
        rule, a = values["rule"], np.deg2rad(values["start"])
        v0 = np.array([0.6 * np.sin(a), np.cos(a), 0.8 * np.sin(a)]) / I
        body, method = (bodies["log"], RK4()) if rule == "RK4" else (bodies[rule], Variational())
        sol = integrate(body, method, body.q0, v0, h=values["h"], steps=round(T / values["h"]))
        seen = eye @ sol.p.T
        for line, side in ((dots, seen[2] >= 0), (back, seen[2] < 0)):
            line.set_data(*seen[:2, side])
        g = sol.q / np.linalg.norm(sol.q, axis=1, keepdims=True)
        space = SO3.Ad_star(SO3.inverse(g), sol.p)
        sizes = {"|p|": np.linalg.norm(sol.p, axis=1), "energy": sol.energy(), "space": space.T}
        sizes = {k: np.ptp(x, axis=-1).max() for k, x in sizes.items()}
        return {"spread of |p|": f"{sizes['|p|']:.0e}", "of the energy": f"{sizes['energy']:.0e}",
                "of the momentum in space": f"{sizes['space']:.0e}"}  # fmt: skip

    return panel(picture, update, rule=["cayley", "log", "trace", "RK4"], h=h, start=start,
                 alt="A sphere of body momenta with its polhodes and the computed points.",
                 caption=f"Body momenta during t = {T:g}, pale behind the sphere; start is the "
                         "angle between p and the unstable axis e2, in degrees.")  # fmt: skip


# ---------------------------------------------------------------------------- FIM08, Fig. 1


def mirror_panel(k=(1, 14, 2), h=(0.2, 1.0, 0.8)):
    """Three nodes of a run of Suslov's problem with their momenta, carried to space.

    In space right translation does nothing, so that an arrow changes at the mirrors only.
    """
    suslov = systems.suslov(I2=3.0, I3=3.5)
    eye, gap, most = view((1, -0.3, 0.35)), 4.9, k[1] + 1
    picture = Picture((7.4, 3.7))
    ax = picture.ax
    _bare(ax, (-2.4, 2 * gap + 2.4), (-3.1, 3.1))
    planes, folds, arrows, names = [], [], [], []
    for j in range(3):
        shape = Polygon(np.zeros((4, 2)), facecolor="#E8E4F3", edgecolor="#B9AFD6", zorder=0)
        planes.append(picture.add(ax.add_patch(shape)))
        folds.append(picture.line(color=DARK, linestyle=":", marker="o", markevery=[1],
                                  markersize=4, linewidth=1.4))  # fmt: skip
        arrows.append((_arrow(picture, ARRIVING), _arrow(picture, LEAVING)))
        names.append(picture.add(ax.text(gap * j, -2.95, "", ha="center", fontsize=13)))
        if j:
            ax.annotate("", (gap * j - 1.7, 2.5), (gap * (j - 1) + 1.7, 2.5),
                        arrowprops={"arrowstyle": "->", "color": "#777777"})  # fmt: skip
            ax.text(gap * (j - 0.5), 2.65, "$R^*_{W^{-1}}$", ha="center", color="#555555")
    keys = [_key(ax, ARRIVING, "arriving $p^+$"), _key(ax, LEAVING, "leaving $p^-$"),
            _key(ax, "#B9AFD6", r"$(D^\perp)^\circ$", linewidth=7),
            _key(ax, DARK, "mirror, along $A^T$", linestyle=":")]  # fmt: skip
    ax.legend(handles=keys, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False,
              fontsize=10.5, handlelength=1.4)  # fmt: skip
    turn = np.linspace(0, 2 * np.pi, 61)[:, None]

    def update(picture, values, quick):
        sol = integrate(suslov, Projector(), suslov.q0, (0.9, -0.9, 0), h=values["h"], steps=most)
        M, energies = suslov.M(suslov.q0), []
        u, v = np.linalg.qr(M @ np.eye(3)[:, :2])[0].T  # a basis of I D
        tips = []
        for j, node in enumerate(range(values["k"] - 1, values["k"] + 2)):
            R, at = SO3.matrix(sol.q[node]), np.array([gap * j, 0])
            flat = lambda p, R=R, at=at: at + 0.8 * (eye[:2] @ R @ np.asarray(p).T).T  # noqa: E731
            Q = suslov.Q(sol.q[node])
            arriving = sol.p[node]
            leaving = arriving - 2 * Q.T @ arriving
            planes[j].set_xy(flat(2.9 * (np.cos(turn) * u + np.sin(turn) * v)))
            folds[j].set_data(*flat([arriving, (arriving + leaving) / 2, leaving]).T)
            for arrow, p in zip(arrows[j], (arriving, leaving), strict=True):
                arrow.set_positions(at, flat(p))
            names[j].set_text(f"$g_{{{node}}}$")
            tips.append((R @ arriving, R @ leaving))
            energies.append(suslov.energy(sol.q[node], suslov.velocity(sol.q[node], leaving)))
        carried = max(np.abs(tips[j][1] - tips[j + 1][0]).max() for j in range(2))
        jump = np.linalg.norm(tips[1][1] - tips[1][0])
        return {"change between the nodes": f"{carried:.0e}", "jump at the middle": f"{jump:.3f}",
                "energies leaving": ", ".join(f"{E:.4f}" for E in energies)}  # fmt: skip

    made = panel(picture, update, k=k, h=h,
                 alt="Three nodes, each with a plane and two momenta that are mirror images in it.",
                 caption="Momenta of Suslov's problem in the frame of space, at the nodes k-1, k "
                         "and k+1. The plane turns with the body; the dot, the average of the two "
                         "momenta, lies in it.")  # fmt: skip
    return _playing(made, "k")


# ---------------------------------------------------------------------------- theorem 1

KINDS = ("neither", "fixed in the body", "fixed in space")


def bent_ball(kind="neither", rule="cayley", eps=0.0):
    """A body of inertia 1 + eps (I - 1), I that of ``suslov``, with one of three constraints.

    eps = 0 is a ball and eps = 1 Suslov's body.
    """
    omega, g, e = symbols("w1 w2 w3"), symbols("qw qx qy qz"), symbols("eps")
    w1, w2, w3 = omega
    R = SO3.matrix(g)
    row = {"neither": w3 - 2 * R[2, 1] * w1, "fixed in the body": w3,
           "fixed in space": sum(R[2, k] * omega[k] for k in range(3))}[kind]  # fmt: skip
    more = (w2**2 + 1.5 * w3**2) / 2 + (0.5 * w1 + 0.3 * w2) * w3
    return GroupSystem(SO3, omega, (w1**2 + w2**2 + w3**2) / 2 + e * more, [row], g=g,
                       parameters={e: eps}, rule=rule, name=f"bent ball, {kind}", q0=(1, 0, 0, 0),
                       v0=(1, 0.7, 0))  # fmt: skip


def theorem_panel(eps=(0.0, 1.0, 0.0), h=(0.1, 0.4, 0.2), T=20.0):
    """The energy error over time, on a logarithmic scale, of a ball that is bent by eps."""
    picture = Picture((6.8, 4.2))
    ax = picture.ax
    ax.set(xlabel="time $t$", ylabel="$|E - E_0|$", xlim=(0, T), ylim=(1e-17, 1), yscale="log")
    lines = [picture.line(label=plot.label(m), **plot.look(m)) for m in (Projector(), DLA())]
    ax.legend(handles=lines, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    made = {}

    def update(picture, values, quick):
        key, text = (values["D"], values["rule"]), {}
        if key not in made:
            made[key] = bent_ball(*key)
        system = made[key].set(eps=values["eps"])
        for m, line in zip((Projector(), DLA()), lines, strict=True):
            sol = integrate(system, m, h=values["h"], steps=round(T / values["h"]))
            gap = np.abs(sol.energy() - sol.energy()[0])
            line.set_data(sol.t[1:], np.maximum(gap[1:], 1.2e-17))
            text[f"{plot.label(m)}: worst"] = f"{gap.max():.1e}"
        return text

    return panel(picture, update, D=list(KINDS), rule=["cayley", "log", "trace"], eps=eps, h=h,
                 alt="Energy errors of the projector method and DLA over time, log scale.",
                 caption="eps = 0 is a ball, eps = 1 the body of Suslov's problem; errors below "
                         "1e-17 are drawn there.")  # fmt: skip
