"""Lesson 05: the discrete energy as a function of the step, and how far EDLA comes."""

import numpy as np
from matplotlib.colors import ListedColormap
from scipy.interpolate import CubicHermiteSpline

from ...geometry.diagnostics import tangent
from ...methods import DLA, EDLA, RK4, Reference
from ...run.ensemble import ensemble
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ..colours import DARK, GREEN, ORANGE
from ..kit import frame, new_board

TINTS = ListedColormap(["#FBE6C8", "#D9D2EC"])


def energy_of_step(system, q, p, h):
    """The discrete energy of the DLA step of size h from (q, p), NaN where there is none.

    q, p : (..., n) and h : (...) of either sign; the system must be autonomous.
    """
    method, n = DLA(), len(system.q)
    q, p, h = (np.asarray(x, float) for x in (q, p, h))
    shape = np.broadcast_shapes(q.shape[:-1], h.shape)
    q, p, h = np.broadcast_to(q, (*shape, n)), np.broadcast_to(p, (*shape, n)), h + np.zeros(shape)
    v = system.project(q, system.velocity(q, p))
    row = np.concatenate([q, p, v, np.zeros((*shape, system.m))], -1)
    with np.errstate(all="ignore"):
        ok, _, *new = method.program(system).numpy(
            0.0, h, *np.moveaxis(row, -1, 0), *method.arguments(system, np.ones((n, *shape)))
        )
        v = np.stack([np.broadcast_to(x, shape) for x in new[2 * n : 3 * n]], -1)
        return np.where(ok, method.on_step(system, "E_minus", 0.0, q, v, h), np.nan)


def excess(system, q, v, h=1e-3):
    """c of E_mid(h) = E + c h^2 + ..., by a second difference; q, v : (..., n), v in D."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    p, size = system.momentum(q, v), np.full(q.shape[:-1], h)
    both = energy_of_step(system, q, p, size) + energy_of_step(system, q, p, -size)
    return (both / 2 - system.energy(q, v)) / h**2


def extended_step(s, k):
    """The derivative of the EDLA step at node k in (t, q, p, E), and the matrix W of the form
    dq ^ dp - dt ^ dE."""
    n = len(s.system.q)
    D = tangent(s.system, s.method, h=s.h[k - 1], row=s.rows.array[k], inputs=("t", "q", "p", "e"))
    W = np.zeros((2 * n + 2, 2 * n + 2))
    W[0, -1], W[1 : n + 1, n + 1 : -1] = -1, np.eye(n)
    return D[[0, *range(2, 2 * n + 2), -1]], W - W.T


def until(system, h, T):
    """An EDLA run with first step h that passes time T, if it does not stop before."""
    try:
        return integrate(system, EDLA(), h=h, steps=int(np.ceil(1.5 * T / h)), progress=False)
    except IntegrationError as stop:
        return stop.trajectory


def position_error(sol, T, true):
    """The largest error of a position at the nodes up to time T; ``true`` gives q(t)."""
    t = sol.t[sol.t <= T * (1 + 1e-12)]
    return float(np.abs(sol.q[: len(t)] - true(t)).max())


def true_motion(system, T):
    """q(t) up to time T, from a tight Reference run, to about 1e-9."""
    steps = 100 * int(np.ceil(T))
    sol = integrate(system, Reference(), h=T / steps, steps=steps)
    return CubicHermiteSpline(sol.t, sol.q, sol.v)


def compare(system, h0, T=20):
    """EDLA against fixed steps: a dict with n, its steps to T, and three ratios.

    "position", "energy": DLA is as good as EDLA with that many times n steps (of order 2, so one
    run with 3 n steps tells).  "RK4": the position error of RK4 with 3 n steps over EDLA's.
    None if EDLA stops before T.
    """
    sol = until(system, h0, T)
    if sol.t[-1] < T:
        return None
    true, n = true_motion(system, T), int((sol.t < T).sum())
    dla, rk4 = (integrate(system, m, h=T / (3 * n), steps=3 * n) for m in (DLA(), RK4()))
    error, other, fourth = (position_error(x, T, true) for x in (sol, dla, rk4))
    spread = np.ptp(sol.energy()[sol.t <= T])
    energy = 3 * np.sqrt(np.ptp(dla.energy()) / spread)
    return {"n": n, "position": 3 * np.sqrt(other / error), "energy": energy, "RK4": fourth / error}


def starts(psi, rate, omega):
    """(q0, v0) of the robot heading along x, for arrays of wheel angles and wheel rates."""
    psi, rate = np.ravel(psi), np.ravel(rate)
    zero = np.zeros_like(psi, dtype=float)
    return np.stack([zero, zero, zero, psi], -1), np.stack([rate, zero, zero + omega, rate], -1)


def robot_excess(psi, rate, omega):
    """c of the robot with m = I = Iw = R = 1 and k = 10."""
    return (rate**2 * (omega**2 + 10 * np.sin(psi)) - 25 * np.cos(psi) ** 2) / 8


def wheel_plane(ax, low=0.0, high=6.0):
    """The plane of wheel angle and rate with the separatrix of k sin psi; returns its curves."""
    psi = np.linspace(-np.pi, np.pi, 300)
    edge = np.sqrt(20 * (1 - np.sin(psi)) / 4)
    names = [r"$-\pi$", r"$-\pi/2$", "0", r"$\pi/2$", r"$\pi$"]
    ax.set_xticks(np.linspace(-np.pi, np.pi, 5), names)
    names = r"wheel angle $\psi$ (rad)", r"wheel rate $\dot\psi$ (rad/s)"
    frame(ax, *names, (-np.pi, np.pi), (low, high))
    ax.grid(False)
    return ax.plot(psi, np.stack([edge, -edge], -1), color=ORANGE, linewidth=2)


def draw_map(ax, psi, rate, count, omega):
    """The steps done from each wheel angle and rate, the curve c = 0 and the separatrix."""
    shape = (len(rate), len(psi))
    image = ax.pcolormesh(psi, rate, np.reshape(count, shape), cmap="viridis", vmin=0)
    fine = np.meshgrid(np.linspace(-np.pi, np.pi, 200), np.linspace(0.01, 6, 200))
    ax.contour(*fine, robot_excess(*fine, omega), levels=[0], colors="white", linewidths=1.6)
    wheel_plane(ax)
    ax.set_title(rf"steering rate $\omega = {omega:g}$")
    ax.figure.colorbar(image, ax=ax, label="steps done")


def step_panel(robot, steps=40):
    """Left: the discrete energy of a step against its size, at a node; right: the run."""
    board, left, right = new_board((9.8, 4.5), columns=2)
    names = "size of the next step / last step", r"$E_{\rm mid}(h) - E_d$, scaled"
    frame(left, *names, (-1.5, 3), (-1.1, 1.1), xticks=[-1, 0, 1, 2, 3])
    left.axhline(0, color=DARK, linewidth=1)
    left.axvline(0, color=DARK, linewidth=1)
    board.legend(left, order=["next step", "reversed root"], frameon=True)
    plane = np.meshgrid(np.linspace(-np.pi, np.pi, 161), np.linspace(-7, 7, 161))
    image = {"extent": (-np.pi, np.pi, -7, 7), "origin": "lower", "aspect": "auto", "cmap": TINTS}
    sign = board.add(right.imshow(plane[0], vmin=-1, vmax=1, **image))
    for line in wheel_plane(right, -7, 7):
        board.add(line)
    right.set_title("light orange: $c<0$, light violet: $c>0$")
    ratio = np.concatenate([np.linspace(-1.5, -0.01, 80), np.linspace(0.01, 3, 200)])

    def update(psi, rate, omega, h, node):
        """The discrete energy of the next step as a function of its size, and the nodes of the run
        in the plane of wheel angle and rate."""
        sign.set_data(np.sign(robot_excess(*plane, omega)))
        start = starts(psi, rate, omega)
        run = ensemble(robot, EDLA(), *start, h=h, steps=steps, backend="python")[0]
        k = min(node, run.steps)
        last = run.h[k - 1]
        gap = energy_of_step(robot, run.q[k], run.p[k], ratio * last) - run.energy("midpoints")[0]
        root = _first_root(ratio[80:], gap[80:])
        board.run(DLA(), ratio, gap / np.nanmax(np.abs(gap[ratio < 1.5])), left)
        board.dots([-1], [0], left, marker="X", markersize=11, color=ORANGE, label="reversed root")
        board.dots(root, [0] * len(root), left, markersize=10, color=GREEN, label="next step")
        angle, speed = (run.q[:, 3] + np.pi) % (2 * np.pi) - np.pi, run.v_projected[:, 3]
        board.dots(angle, speed, right, color=DARK, markersize=4)
        ring = {"markersize": 12, "markerfacecolor": "none", "markeredgewidth": 2}
        board.dots(angle[k : k + 1], speed[k : k + 1], right, color=DARK, **ring)
        board.say("node shown", f"{k}")
        board.say("last step", f"{last:.4f}")
        found = f"{root[0] * last:.4f}" if root else "none up to 3 times the last"
        board.say("next step", found)
        board.say("steps done", f"{run.steps} of {steps}")

    starting = {"psi": (-3.0, 3.0, -1.5), "rate": (0.5, 5.5, 4.0), "omega": (0.0, 5.0, 1.0)}
    return board.panel(update, **starting, h=(0.02, 0.15, 0.05), node=(1, steps, steps))


def _first_root(x, y):
    """Where y first changes sign, by linear interpolation: a list of one number or none."""
    k = np.flatnonzero(y[:-1] * y[1:] <= 0)[:1]
    return [float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in k]
