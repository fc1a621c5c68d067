"""Lesson 04b: turns and their maps, the momenta of a free body on their sphere, the equation (7) of
FIM08 and its body form, invariant forms, and what leaves the group."""

import functools

import numpy as np
from scipy.linalg import expm_frechet

from ...geometry.diagnostics import lagrangian, order
from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...methods import RK4, Projector, Reference, Variational
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ...view import plot
from ...view.bodies import camera
from ..colours import BLUE, DARK, GREY, ORANGE
from ..kit import RIGHT, bare, circle, drawn, key, new_board
from .lesson_04 import AXES, VIEW, spread


def by_recipe(system, g0, g1, h, alpha):
    """Ld/h of CM01 Remark 4.2, with matrices: the alpha rule in the chart log around g0."""
    X = SO3.hat(SO3.log(SO3.multiply(SO3.inverse(g0), g1)))
    point, velocity = expm_frechet(alpha * X, X / h)
    turn = np.linalg.solve(point, velocity)  # g^-1 g'
    return lagrangian(system, g0, [turn[2, 1], turn[0, 2], turn[1, 0]])


def residuals(system, method):
    """By how much a run misses FIM08 (7), and its body form, where the first mirror is at all
    nodes."""
    sol, G = integrate(system, method, h=0.1, steps=100), system.group
    W = G.multiply(G.inverse(sol.q[:-1]), sol.q[1:])
    arriving, leaving = G.Ad_star(W, sol.p_minus)[:-1], sol.p_minus[1:]
    mirror = system.P(sol.q[1:-1]) - system.Q(sol.q[1:-1])
    images = (np.einsum("kij,ki->kj", X, arriving) for X in (mirror, 0 * mirror + mirror[0]))
    return [np.abs(leaving - image).max() for image in images]


def invariant_forms(G):
    """All symmetric B with Ad_g^T B Ad_g = B for all g of a group: a basis of them, (c, 3, 3)."""
    some = G.exp(np.random.default_rng(5).uniform(-1, 1, (9, 3)))
    Ad = np.stack([G.Ad(some, np.broadcast_to(e, (9, 3))) for e in np.eye(3)], -1)
    pairs = [np.outer(*np.eye(3)[[i, j]]) for i in range(3) for j in range(i, 3)]
    forms = np.array([(B + B.T) / 2 for B in pairs])
    change = np.einsum("gji,fjk,gkl->gilf", Ad, forms, Ad) - np.moveaxis(forms, 0, -1)
    _, size, rows = np.linalg.svd(change.reshape(-1, 6))
    return np.einsum("cf,fij->cij", rows[size < 1e-12], forms)


@drawn(9.4, 3.8, columns=2)
def turns_figure(left, right, xi=(0.2, 1.0, 0.9)):
    """Left: the axes of a body before, dashed, and after a turn about an axis. Right: the angle
    turned against the angle asked for."""
    bare(left, (-1.2, 1.5), (-1.0, 1.5))
    for R, style in ((np.eye(3), "--"), (SO3.matrix(SO3.exp(xi)), "-")):
        for k, (tip, colour) in enumerate(zip((VIEW[:2] @ R).T, AXES, strict=True), 1):
            look = {"arrowstyle": "-|>", "color": colour, "lw": 2.2 if style == "-" else 1.2}
            left.annotate("", tip, (0, 0), arrowprops={**look, "linestyle": style})
            if style == "-":
                left.annotate(f"$Re_{k}$", 1.12 * tip, color=colour, ha="center", va="center")
    left.plot(*np.outer(VIEW[:2] @ xi, [-0.9, 1.05]), ":", color=DARK)
    left.annotate(r"axis $\xi$", 1.12 * VIEW[:2] @ xi, color=DARK, ha="center")
    x = np.linspace(0, 4, 401)
    right.plot(x, x, color=DARK, label=r"$\exp$: as much as asked")
    right.plot(x, 2 * np.arctan(x / 2), "--", color=BLUE, label="Cayley: less, never $\\pi$")
    right.plot(x[x <= 1], np.arcsin(x[x <= 1]), "-.", color=ORANGE, label="trace: more, ends at 1")
    right.axhline(np.pi, color=GREY, linewidth=1)
    right.set(xlabel=r"turn asked for, $|\xi|=h|\omega|$", ylabel="angle turned", xlim=(0, 4))
    right.legend(frameon=False, loc="upper left", fontsize=10)


def plain_rk4(system, h, steps):
    """Attitudes (steps + 1, 4) by RK4 that takes a quaternion for four numbers like others."""
    y = np.concatenate([system.q0, system.v0])
    rows = [y]

    def f(y):
        return np.array(system.motion(0.0, y.tolist())[: len(y)])

    for _ in range(steps):
        a = f(y)
        b = f(y + h / 2 * a)
        c = f(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))
        rows.append(y)
    return np.array(rows)[:, :4]


@drawn(9.4, 3.8, columns=2)
def group_figure(left, right, system, rules=("cayley", "trace", "log"), h=0.2, steps=5000):
    """Left: three lines of slope 2. Right: RK4's quaternion loses its length steadily."""
    for rule, mark in zip(rules, "os^", strict=True):
        found = order(systems.suslov(rule=rule), Projector(), T=2, hs=[0.2, 0.1, 0.05, 0.025])
        left.loglog(found.h, found.error, marker=mark, label=f"{rule}: slope {found.slope:.2f}")
    left.set_xticks(found.h, found.h, minor=False)
    sol = integrate(system, Projector(), h=h, steps=steps)
    for g, name, look in (
        (plain_rk4(system, h, steps), "RK4, unrepaired", plot.look(RK4())),
        (sol.q, "projector method", plot.look(Projector())),
    ):
        gap = np.abs(np.linalg.norm(g[10::10], axis=1) - 1)
        right.loglog(sol.t[10::10], np.maximum(gap, 1e-17), label=name, **look)
    left.set(xlabel="step size $h$", ylabel="error of $g$ at $t=2$")
    right.set(xlabel="time $t$", ylabel="$||g|-1|$")
    left.minorticks_off()
    left.legend(frameon=False)
    right.legend(frameon=False, loc="center right")


INERTIA = np.array([1.0, 2.0, 2.5])  # of the free body


RULES = ("cayley", "log", "trace", "RK4")


free_body = functools.cache(lambda rule: systems.rigid_body(rule=rule))


def free_run(rule, h, start, T):
    """A free body whose momentum is 1 and begins between e1 and e3, at an angle from e3."""
    other = {"RK4": RK4(), "true": Reference()}.get(rule)
    a, body = np.deg2rad(start), free_body("log" if other else rule)
    v0 = np.array([np.sin(a), 0, np.cos(a)]) / INERTIA
    return integrate(body, other or Variational(), body.q0, v0, h=h, steps=round(T / h))


def true_polhode(start):
    """The true momenta of ``free_run`` over several rounds."""
    return free_run("true", 0.2, start, 200.0).p


def circled(p):
    """The axis that momenta (N, 3) go round: its component alone keeps its sign."""
    kept = [k for k in (0, 2) if np.ptp(np.sign(p[:, k])) == 0]
    return f"e{kept[0] + 1}" if len(kept) == 1 else "none"


def sphere_panel(rule="cayley", h=(0.1, 1.6, 1.2), start=(5.0, 85.0, 24.4, 0.1), T=120.0):
    """Momenta of a free rigid body in the body frame, on the polhodes of the sphere |p| = 1."""
    eye = camera((0.75, 0.55, 0.6))
    board, ax = new_board((6.8, 4.6))
    bare(ax, (-1.15, 1.15), (-1.15, 1.15))
    _polhodes(ax, eye)
    key(ax, GREY, "polhodes")
    key(ax, DARK, "border", linestyle="--")
    key(ax, BLUE, "true polhode", linewidth=3)
    key(ax, ORANGE, "computed $p_k$", marker=".", linestyle="none")
    board.legend(**RIGHT)

    def update(rule, h, start):
        """A sphere of body momenta with its polhodes, the true one, and the computed points.

        Body momenta during t = {T:g}, pale behind the sphere. start is the angle between p and the
        axis e3, in degrees; p begins half-way round, between e3 and e1. Dashed: the border between
        curves round e1 and round e3.
        """
        true = true_polhode(start)
        line, blue = eye @ true.T, {"color": BLUE, "linewidth": 3, "alpha": 0.45}
        board.outline(*np.where(line[2] >= 0, line[:2], np.nan), **blue)
        try:
            sol = free_run(rule, h, start, T)
        except IntegrationError:
            board.say("error", f"The rule {rule} has no such step: h |omega| is too large for it.")
            return
        points = eye @ sol.p.T
        front, dots = points[2] >= 0, {"color": ORANGE, "marker": "."}
        board.dots(*points[:2, ~front], alpha=0.25, markersize=4, **dots)
        board.dots(*points[:2, front], markersize=6, **dots)
        board.say("goes round", f"{circled(sol.p)}, the true one round {circled(true)}")
        board.say("spread of |p|", f"{np.ptp(np.linalg.norm(sol.p, axis=1)):.0e}")
        board.say("of the energy", f"{np.ptp(sol.energy()):.0e}")
        space = SO3.Ad_star(SO3.inverse(sol.q), sol.p)
        board.say("of the momentum in space", f"{np.ptp(space, axis=0).max():.0e}")

    rules = [rule, *(r for r in RULES if r != rule)]
    return board.panel(update, update.__doc__.format(T=T), rule=rules, h=h, start=start)


def _polhodes(ax, eye):
    """Curves of constant energy on the visible half of the sphere, the axes, the rim."""
    x, y = np.meshgrid(*[np.linspace(-1, 1, 241)] * 2)
    front = np.sqrt(np.clip(1 - x**2 - y**2, 0, None))
    p = np.einsum("ji,j...->i...", eye, np.array([x, y, front]))
    H = np.where(x**2 + y**2 <= 1, (p.T**2 / INERTIA / 2).sum(-1).T, np.nan)
    levels = [0.215, 0.235, 0.27, 0.31, 0.36, 0.41, 0.46]
    ax.contour(x, y, H, levels, colors=GREY, linewidths=0.9, linestyles="solid")
    ax.contour(x, y, H, [0.25], colors=DARK, linewidths=1.1, linestyles="dashed")
    ax.plot(*circle(200).T, color=DARK, linewidth=1)
    for k, e in enumerate(eye[:2].T, 1):
        ax.plot(*e, color=DARK, marker="o", markersize=4)
        ax.annotate(f"$e_{k}$", e, (6, 6), textcoords="offset points", fontsize=14)


# ---------------------------------------------------------------------------- predictions


def prediction_1():
    runs = {rule: free_run(rule, 1.2, 24.4, 120.0) for rule in RULES}
    true, rules = circled(true_polhode(24.4)), ("cayley", "log", "trace")
    right = [rule for rule in rules if circled(runs[rule].p) == true]
    words = {rules: "All three", ("trace",): "The trace", ("log",): "log", (): "None"}
    off = {rule.lower(): spread(sol.energy()) for rule, sol in runs.items()}
    return words[tuple(right)], off
