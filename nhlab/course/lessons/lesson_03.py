"""Lesson 03: a plane in which a velocity is split and reflected, the jumps of a skate's momentum,
and the errors of Fig. 5 of FIM08 with the point where DLA takes its constraint free to choose."""

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ..colours import BLUE, DARK, GREEN, GREY, ORANGE
from ..exercises import near, sized, some_of, takes
from ..figures import PRINTED_START
from ..kit import RIGHT, ahead, circle, frame, joined, new_board


def heavy_particle(mz=1.0):
    """The free particle of FIM08 example 1 whose motion along z has a mass of its own."""
    x, y, z, vx, vy, vz, m = symbols("x y z vx vy vz mz")
    q, v, L = (x, y, z), (vx, vy, vz), (vx**2 + vy**2 + m * vz**2) / 2
    return System(q, v, L, [vz - y * vx], parameters={m: mz}, name="heavy particle")


def reflection_panel(y=(-2.0, 2.0, 1.0), angle=(-180, 180, 10), mz=(0.25, 4.0, 1.0)):
    """A velocity in the plane of vx and vz, its two parts, and its mirror image (P - Q) v.

    The velocity has the energy 1/2; the ellipse holds all velocities that have.
    """
    system = heavy_particle()
    board, ax = new_board((6.8, 4.9))
    frame(ax, r"$\dot x$", r"$\dot z$", (-2.2, 2.2), (-2.2, 2.2), aspect="equal")
    ax.set(xticks=range(-2, 3), yticks=range(-2, 3))
    board.legend(**RIGHT)

    def update(y, angle, mz):
        """The line D, its complement, a velocity and its mirror image on one ellipse.

        The plane of the velocities at height y. The angle turns the arriving velocity; mz is the
        mass of the motion along z, which changes the metric.
        """
        s, q, a = system.set(mz=mz), np.array([0, y, 0]), np.deg2rad(angle)
        P, Q, A, M = s.P(q), s.Q(q), s.A(q)[0], s.M(q)
        v = np.array([np.cos(a), 0, np.sin(a)])
        v /= np.sqrt(v @ M @ v)
        u, w, n = P @ v, (P - Q) @ v, np.linalg.solve(M, A)
        board.curve(*(circle(181) / [1, np.sqrt(mz)]).T, color=GREY, label="equal energy")
        board.curve([-4, 4], [-4 * y, 4 * y], color=DARK, label="$D$")
        board.curve(*np.outer(n[::2], [-9, 9]), color=DARK, linestyle=":", label=r"$D^\perp$")
        board.curve([0, u[0]], [0, u[2]], color=GREEN, linewidth=3.2, label="$Pv$")
        board.curve([u[0], v[0]], [u[2], v[2]], color="#CC79A7", linewidth=3.2, label="$Qv$")
        board.arrow((0, 0), v[::2], BLUE, label="arriving $v$")
        board.arrow((0, 0), w[::2], ORANGE, label="leaving $(P-Q)v$")
        board.say("A v arriving, leaving", f"{A @ v:+.3f}, {A @ w:+.3f}")
        board.say("of the average", f"{abs(A @ (v + w)) / 2:.0e}")
        board.say("energies", f"{s.energy(q, v):.3f}, {s.energy(q, w):.3f}")

    return board.panel(update, y=y, angle=angle, mz=mz)


def jump_panel(nodes=(4, 12, 4), turn=(0.2, 1.5, 0.9), T=3.2):
    """FIM08 Fig. 1 computed: a skate (sleigh with a = 0) and the momenta at its inner nodes."""
    skate, theta0, length = systems.sleigh(a=0.0), 0.2, 0.62
    board, ax = new_board((6.8, 4.9))
    frame(ax, "$x$", "$y$", (-1.5, 3.4), (-0.6, 2.8), aspect="equal")

    def update(nodes, turn):
        """A polygon of nodes; at each inner node two arrows, mirror images of each other in the
        dotted direction of the blade.

        A skate during t = {T:g}, in the chosen number of steps. Dotted: the direction of the blade
        at each node.
        """
        h, v0 = T / nodes, [np.cos(theta0), np.sin(theta0), turn]
        sol = integrate(skate, Projector(), [0, 0, theta0], v0, h=h, steps=nodes)
        at, theta = sol.q[1:-1, :2], sol.q[1:-1, 2]
        arriving, leaving = sol.p[1:-1, :2], sol.p_minus[1:, :2]
        blades = np.stack([ahead(at, theta, -length), ahead(at, theta, length)], 1)
        board.curve(*sol.q[:, :2].T, color=GREY, marker="o", mfc=DARK, mec=DARK)
        board.curve(*joined(blades).T, color=DARK, linestyle=":", label="momenta of $D$")
        for x, p, p_minus in zip(at, arriving, leaving, strict=True):
            board.arrow(x, x + length * p, BLUE, label="arriving $p^+$", width=1.8)
            board.arrow(x, x + length * p_minus, ORANGE, label="leaving $p^-$", width=1.8)
        cross = arriving[:, 0] * leaving[:, 1] - arriving[:, 1] * leaving[:, 0]
        jump = np.arctan2(cross, (arriving * leaving).sum(1))
        board.say("h =", f"{h:.2f}")
        board.say("jump of the direction (rad)", f"{np.abs(jump).max():.3f}")
        board.say("h times turn rate", f"{turn * h:.3f}")
        board.say("A v of the average", f"{np.abs(sol.constraint('average')).max():.0e}")

    return board.panel(update, update.__doc__.format(T=T), nodes=nodes, turn=turn)


def error_panel(c=(0.0, 1.0, 0.5), h=(1.0, 0.5, 0.25), T=60):
    """FIM08 Fig. 5 on a logarithmic scale; DLA takes its constraint at (1-c) q1 + c q2."""
    sleigh, fine = systems.sleigh(), min(h)
    true = integrate(sleigh, Reference(), [0, 0, 0], PRINTED_START, h=fine, steps=round(T / fine))
    board, ax = new_board((6.8, 4.2))
    frame(ax, "time $t$", r"error in $\mathbb{R}^3$", (0, T), (1e-6, 10), yscale="log")

    def update(c, h):
        """Errors of DLA and the projector method on the sleigh over time, log scale.

        The sleigh of FIM08 example 3 from the printed start. c = 0 takes DLA's constraint at the
        left point, c = 1/2 at the midpoint; the projector method has no such choice.
        """
        q = true.q[:: round(h / fine)]
        for m in (DLA(constraint_alpha=c), Projector()):
            sol, name = integrate(sleigh, m, q[0], q1=q[1], h=h, steps=len(q) - 1), type(m).__name__
            error = np.linalg.norm(sol.q - q, axis=1)
            board.run(m, sol.t[2:], error[2:], label=name)  # the first two nodes are exact
            board.say(f"{name} at t = {T}", f"{error[-1]:.2e}")

    return board.panel(update, c=c, h=list(h))


@takes(sized(3), "The answer is a momentum: three numbers.")
def exercise_1(answer):
    """The mirror exchanges x and z, because at y = 1 the allowed direction (1, 0, 1) lies half-way
    between them. The length of the momentum, hence the energy, is the same."""
    s, q, p = systems.free_particle(), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    P, Q = s.P(q), s.Q(q)
    if near(answer, P.T @ p):
        return "This is the tangent part P* p. The normal part is not dropped: it changes sign."
    if near(answer, (Q - P).T @ p):
        return "The mirror is the wrong way round: the tangent part is kept, the normal one turns."
    if not near(answer, (P - Q).T @ p):
        return """A = (-1, 0, 1) at y = 1. Split p into a part along A and a part at right angles to
            it, and turn the first round."""


@takes(callable, "The answer is a function: answer = step, without calling it.")
def exercise_2(answer):
    """One projector at one node is all the method needs when M is constant and V = 0: no Newton
    iteration, no discrete constraint."""
    for s in (systems.free_particle(), systems.rolling_disk(), systems.snakeboard()):
        q = integrate(s, Projector(), h=0.3, steps=8).q
        for a, b, c in zip(q, q[1:], q[2:], strict=False):
            d = b - a
            mine = np.asarray(answer(s, a, b), float)
            if near(mine - b, c - b, 1e-8):
                continue
            if near(mine - b, s.P(b) @ d, 1e-8):
                return "You drop the normal part of the last step; it has to be reflected."
            if near(mine - b, (s.P(a) - s.Q(a)) @ d, 1e-8):
                return "The reflection happens at q1, where the two steps meet, not at q0."
            if near(mine, c - b, 1e-8):
                return "This is the step q2 - q1. Add q1."
            return f"On the {s.name} your q2 is {mine.round(4)}, the method's is {c.round(4)}."


@some_of(
    ["rolling_disk", "knife_edge", "robot", "sleigh", "contact_oscillator"],
    '{"sleigh", "robot"}',
    """Still missing: {}. V need not vanish and D may be anything;
    look only at M and at the degree of V.""",
)
def exercise_3(name):
    """Constant M and a potential of degree at most two: the midpoint rule keeps the energy between
    the nodes and the mirror keeps it at the nodes. The knife edge has a linear potential."""
    E = integrate(systems.catalogue[name](), Projector(), h=0.2, steps=50).energy()
    if np.ptp(E) >= 1e-11:
        return f"Run {name} and look: it does not. Is M constant? What degree has V?"


def exercise_4(answer):
    """The complement of D is spanned by (-y/g1, 0, 1/g3), and only the ratio of g1 and g3 enters;
    the direction of y lies in D and may have any weight."""
    g = np.asarray(answer, float)
    if g.shape != (3,) or np.any(g <= 0):
        return "The answer is three positive numbers (g1, g2, g3)."
    if np.ptp(g) < 1e-9 * g.max():
        return "A multiple of M itself is too easy: take three numbers that are not all equal."
    y = np.array([0.5, 1.0, -2.0])
    slope = (-y / g[0]) / (1 / g[2])  # of G^-1 A^T
    if not np.allclose(slope, -y):
        return f"""At y = 1 the complement of D is spanned by ({slope[1]:.3g}, 0, 1) in your metric
            and by (-1, 0, 1) in M."""
