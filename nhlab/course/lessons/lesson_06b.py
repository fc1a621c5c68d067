"""Lesson 06b: the discrete momentum equation on three systems, pairs of shapes of a step, and the
derivative of a step."""

import numpy as np

from ...geometry.diagnostics import tangent
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector, Reference
from ...run.loop import integrate
from ..colours import DARK, GREY
from ..exercises import takes
from ..kit import ahead, drawn, frame, new_board
from .lesson_06 import MARGINS, draw_balance, outline, valley

ROUND_OFF = 1e-17  # where a residual that is exactly 0 is drawn on a logarithmic scale


def balance_panel(symmetries, h=(0.08, 0.3, 0.1, 0.01), alpha=(0.2, 0.8, 0.5, 0.01), T=8.0):
    """J_nh_d with its right-hand side added up, and the residual of (24), for three methods.

    ``symmetries`` : name -> Symmetry.  Of several sections the last is shown.
    """
    board, left, right = new_board((9.2, 4.3), 1, 2, MARGINS)
    frame(left, "time $t$", r"$J^{nh}_d$ along $\tilde\xi$")
    frame(right, "time $t$", "residual of (24)", (0, T), (ROUND_OFF, 1), yscale="log")
    right.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
    board.legend(left, columnspacing=1)
    board.legend(right, columnspacing=1, handlelength=1.4)

    def update(system, h, alpha):
        """Left: the nonholonomic momentum of DLA moves, and the dots of its right-hand side lie on
        it. Right: the residual, round-off for DLA and projector method, large for RK4.

        Left: DLA. Right: left side minus right side of (24) at each node, on a logarithmic scale;
        the rule with the chosen alpha reads the positions of RK4.
        """
        symmetry, dla = symmetries[system], DLA(alpha=round(alpha, 2))
        for m in (dla, Projector(alpha=dla.alpha), RK4()):
            sol, name = integrate(symmetry.system, m, h=h, steps=round(T / h)), type(m).__name__
            if m is dla:
                J = draw_balance(board, left, symmetry, sol)
            gap = np.abs(symmetry.residual(sol, None if m.discrete else dla)[:, -1])
            board.run(m, sol.t[1:-1], gap + ROUND_OFF, right, marker=".", label=name)
            board.say(f"{name}: largest", f"{gap.max():.0e}")
        if board.changed_since_last(system):
            board.forget()
        board.fit(left, [0, T], J)

    return board.panel(update, system=list(symmetries), h=h, alpha=alpha)


def spiral() -> System:
    """A particle whose height grows by twice the area that its shadow sweeps about the origin.

    Turns about the z-axis are a symmetry, and none of them is allowed: D has no vertical part.
    """
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2
    return System((x, y, z), (vx, vy, vz), L, [vz - x * vy + y * vx], name="spiral")


def turned(angle: float, q: np.ndarray) -> np.ndarray:
    """A place of the spiral, turned about the z-axis."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * q[0] - s * q[1], s * q[0] + c * q[1], q[2]])


def partners(q0: np.ndarray, distance: float, height: float) -> list[np.ndarray]:
    """The q1 with this distance from the axis and this height for which (q0, q1) lies in D_d.

    By the midpoint rule w_d = 0 reads z1 - z0 = r0 r1 sin(turn).
    """
    sine = (height - q0[2]) / (distance * np.hypot(q0[0], q0[1]))
    if abs(sine) > 1:
        return []
    along, turn = np.arctan2(q0[1], q0[0]), np.arcsin(sine)
    there = np.array([distance, 0, height])
    return [turned(along + angle, there) for angle in (turn, np.pi - turn)]


def spanned(system: System, q0: np.ndarray, q1: np.ndarray) -> int:
    """The dimension of T D_d + V x V at a pair (q0, q1) of the spiral's D_d."""
    A, dA = system.A((q0 + q1) / 2)[0], 1e-6 * np.eye(3)
    slopes = [(system.A((q0 + q1 + e) / 2) - system.A((q0 + q1 - e) / 2))[0] / 2e-6 for e in dA]
    bend = np.array(slopes) @ (q1 - q0)
    tangent_space = np.linalg.svd(np.concatenate([bend - A, bend + A])[None])[2][1:]
    (x0, y0, _), (x1, y1, _) = q0, q1
    vertical = [[-y0, x0, 0, 0, 0, 0], [0, 0, 0, -y1, x1, 0]]
    return int(np.linalg.matrix_rank(np.concatenate([tangent_space, vertical]), tol=1e-6))


def differentiate(sol, k):
    """The derivative of step k -> k+1 by (q, p): the rows of (q, p), and that of the last lam."""
    n = len(sol.system.q)
    row = np.concatenate([sol.q[k], sol.p[k], sol.v_step[k - 1], sol.lam[k - 1]])
    D = tangent(sol.system, sol.method, t=sol.t[k], h=sol.h[k], row=row)
    return D[2 : 2 * n + 2], D[-1]


@drawn(5.4, 4.2)
def motion_picture(ax, sol, times):
    """The path of the run, a narrowing spiral, with the board at four times."""
    ax.plot(*sol.q[:, :2].T, color=GREY)
    for t in times:
        q = sol.q[np.abs(sol.t - t).argmin()]
        for part in outline(q, rotor=False):
            ax.plot(*part.T, color=DARK, linewidth=1.5)
        aside = ahead(q[:2], q[2] + np.pi / 2, 0.45)  # to the left of the board
        ax.text(*aside, f"$t={t:g}$", ha="center", va="center", fontsize=10, color="#555555")
    ax.set(xlabel="$x$", ylabel="$y$")
    ax.set_aspect("equal", adjustable="datalim")


# ---------------------------------------------------------------------------- exercises


@takes(callable, "The answer is a function of y: answer = f, without calling it.")
def exercise_1(answer):
    sol = integrate(valley(power=2), Reference(), h=0.1, steps=60)
    height = sol.q[:, 1]
    f = np.array([float(answer(float(u))) for u in height])
    J = f * (sol.p[:, 0] + height**2 * sol.p[:, 2])
    size = np.abs(J).max()
    if size < 1e-9:
        return "Zero is constant, but says nothing."
    if not np.ptp(J) < 1e-7 * size:
        return f"""Along the motion your momentum varies by {np.ptp(J) / size:.1%}. The right side
            of (23) is f' y' (p_x + y^2 p_z) + 2 f y y' p_z; put p_z = y^2 p_x and let it vanish."""
