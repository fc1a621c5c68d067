"""Lesson 03: a plane in which a velocity is split and reflected, the jumps of a skate's momentum,
and the errors of Fig. 5 of FIM08 with the point where DLA takes its constraint free to choose."""

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ..colours import BLUE, DARK, GREEN, GREY, ORANGE
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


PRINTED_START = (-0.2399785, 0.0, 0.05755261)  # reaches FIM08's printed q1 at t = 1


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
