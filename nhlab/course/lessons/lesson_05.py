"""Lesson 05: the discrete energy as a function of the step, and how far EDLA comes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from ...mechanics import catalogue as systems
from ...mechanics.system import System
from ...methods import DLA, EDLA, RK4, Reference
from ...run.ensemble import ensemble
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ...view.panel import Panel
from ..colours import DARK, GREEN, ORANGE
from ..exercises import sized, takes, told
from ..kit import RIGHT, add_legend, crossings, drawn, frame, new_board, own_dots

TINTS = ListedColormap(["#FBE6C8", "#D9D2EC"])
TRIES = {
    "05.2": {
        "which energy does EDLA keep?": {"view": "midpoint energy"},
        "how far do its steps vary?": {"view": "step"},
        "alpha = .4: does EDLA last?": {"alpha": 0.4},
        "and by the symmetric rule?": {"alpha": 0.4, "rule": "symmetric rule"},
    }
}


def energy_of_step(system: System, q: np.ndarray, p: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The discrete energy of the DLA step of size h from (q, p), NaN where there is none.

    q, p : (..., n) and h : (...) of either sign; the system must be autonomous.
    """
    method, n = DLA(), len(system.q)
    q, p, h = np.broadcast_arrays(q, p, np.asarray(h, float)[..., None])
    h, shape = h[..., 0], q.shape[:-1]
    v = system.project(q, system.velocity(q, p))
    row = np.concatenate([q, p, v, np.zeros((*shape, system.m))], -1)
    with np.errstate(all="ignore"):
        ok, _, *new = method.program(system).numpy(
            0.0, h, *np.moveaxis(row, -1, 0), *method.arguments(system, np.ones((n, *shape)))
        )
        v = np.stack([np.broadcast_to(x, shape) for x in new[2 * n : 3 * n]], -1)
        return np.where(ok, method.on_step(system, "E_minus", 0.0, q, v, h), np.nan)


def excess(system: System, q: np.ndarray, v: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """c of E_mid(h) = E + c h^2 + ..., by a second difference; q, v : (..., n), v in D."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    p, size = system.momentum(q, v), np.full(q.shape[:-1], h)
    both = energy_of_step(system, q, p, size) + energy_of_step(system, q, p, -size)
    return (both / 2 - system.energy(q, v)) / h**2


def until(system: System, h: float, T: float) -> Trajectory:
    """An EDLA run with first step h that passes time T, if it does not stop before."""
    try:
        return integrate(system, EDLA(), h=h, steps=int(np.ceil(1.5 * T / h)), progress=False)
    except IntegrationError as stop:
        return stop.trajectory


def compare(system: System, h0: float, T: float = 20) -> dict[str, float] | None:
    """EDLA against fixed steps: a dict with n, its steps to T, and three ratios.

    "position", "energy": DLA is as good as EDLA with that many times n steps (of order 2, so one
    run with 3 n steps tells).  "RK4": the position error of RK4 with 3 n steps over EDLA's.
    None if EDLA stops before T.
    """
    sol = until(system, h0, T)
    if sol.t[-1] < T:
        return None
    fine, n = 100 * int(np.ceil(T)), int((sol.t < T).sum())
    exact = integrate(system, Reference(), h=T / fine, steps=fine)
    true = CubicHermiteSpline(exact.t, exact.q, exact.v)  # q(t), to about 1e-9

    def position_error(run: Trajectory) -> float:
        """The largest at the nodes up to time T."""
        t = run.t[run.t <= T * (1 + 1e-12)]
        return float(np.abs(run.q[: len(t)] - true(t)).max())

    dla, rk4 = (integrate(system, m, h=T / (3 * n), steps=3 * n) for m in (DLA(), RK4()))
    error, other, fourth = (position_error(x) for x in (sol, dla, rk4))
    spread = np.ptp(sol.energy()[sol.t <= T])
    energy = 3 * np.sqrt(np.ptp(dla.energy()) / spread)
    return {"n": n, "position": 3 * np.sqrt(other / error), "energy": energy, "RK4": fourth / error}


def starts(psi: np.ndarray, rate: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """(q0, v0) of the robot heading along x, for arrays of wheel angles and wheel rates."""
    psi, rate = np.ravel(psi), np.ravel(rate)
    zero = np.zeros_like(psi, dtype=float)
    return np.stack([zero, zero, zero, psi], -1), np.stack([rate, zero, zero + omega, rate], -1)


def swings(psi: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Does the robot's wheel, m = Iw = R = 1 and k = 10, have too little energy to turn over?"""
    return 2 * rate**2 + 10 * np.sin(psi) < 10


def robot_excess(psi: np.ndarray, rate: np.ndarray, omega: float) -> np.ndarray:
    """c of the robot with m = I = Iw = R = 1 and k = 10."""
    return (rate**2 * (omega**2 + 10 * np.sin(psi)) - 25 * np.cos(psi) ** 2) / 8


def wheel_plane(ax: Axes, low: float = 0.0, high: float = 6.0) -> list:
    """The plane of wheel angle and rate with the separatrix of k sin psi; returns its curves."""
    psi = np.linspace(-np.pi, np.pi, 300)
    edge = np.sqrt(20 * (1 - np.sin(psi)) / 4)
    names = [r"$-\pi$", r"$-\pi/2$", "0", r"$\pi/2$", r"$\pi$"]
    ax.set_xticks(np.linspace(-np.pi, np.pi, 5), names)
    names = r"wheel angle $\psi$ (rad)", r"wheel rate $\dot\psi$ (rad/s)"
    frame(ax, *names, (-np.pi, np.pi), (low, high))
    ax.grid(False)
    return ax.plot(psi, np.stack([edge, -edge], -1), color=ORANGE, linewidth=2)


def draw_map(ax: Axes, psi: np.ndarray, rate: np.ndarray, count: np.ndarray, c: Callable) -> None:
    """Draw how many steps runs did over the plane of wheel angle and rate, and two curves on it.

    psi, rate : the grid of starts; count : the steps done, rate by rate; c : a function of
    (psi, rate), whose zeros are drawn in white. Orange is the separatrix.
    """
    grid = np.reshape(count, (len(rate), len(psi)))
    image = ax.pcolormesh(psi, rate, grid, cmap="viridis", vmin=0)
    fine = np.meshgrid(np.linspace(-np.pi, np.pi, 200), np.linspace(0.01, 6, 200))
    ax.contour(*fine, c(*fine), levels=[0], colors="white", linewidths=1.6)
    wheel_plane(ax)
    ax.figure.colorbar(image, ax=ax, label="steps done")


# Sizes of the next step over that of the last, without 0: 80 backwards, then 200 forwards.
RATIOS = np.concatenate([np.linspace(-1.5, -0.01, 80), np.linspace(0.01, 3, 200)])


def step_panel(robot: System, steps: int = 40) -> Panel:
    """Left: the discrete energy of a step against its size, at a node; right: the run."""
    board, left, right = new_board((9.8, 4.5), columns=2)
    names = "size of the next step / last step", r"$E_{\rm mid}(h) - e$, scaled"
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

    def update(psi, rate, omega, h, along):
        """The discrete energy of the next step as a function of its size, and the nodes of the run
        in the plane of wheel angle and rate."""
        sign.set_data(np.sign(robot_excess(*plane, omega)))
        start = starts(psi, rate, omega)
        run = ensemble(robot, EDLA(), *start, h=h, steps=steps, backend="python")[0]
        k = 1 + round(along * (run.steps - 1))  # a run may stop after few steps
        last = run.h[k - 1]
        gap = energy_of_step(robot, run.q[k], run.p[k], RATIOS * last) - run.energy("midpoints")[0]
        ahead = crossings(RATIOS[80:], gap[80:])[:1]
        board.run(DLA(), RATIOS, gap / np.nanmax(np.abs(gap[RATIOS < 1.5])), left)
        board.dots([-1], [0], left, marker="X", markersize=11, color=ORANGE, label="reversed root")
        board.dots(ahead, [0] * len(ahead), left, markersize=10, color=GREEN, label="next step")
        angle, speed = (run.q[:, 3] + np.pi) % (2 * np.pi) - np.pi, run.v_projected[:, 3]
        board.dots(angle, speed, right, color=DARK, markersize=4)
        ring = {"markersize": 12, "markerfacecolor": "none", "markeredgewidth": 2}
        board.dots(angle[k : k + 1], speed[k : k + 1], right, color=DARK, **ring)
        board.say("node shown", f"{k}")
        board.say("last step", f"{last:.4f}")
        found = f"{ahead[0] * last:.4f}" if ahead else "none up to 3 times the last"
        board.say("next step", found)
        board.say("steps done", f"{run.steps} of {steps}")

    starting = {"psi": (-3.0, 3.0, -1.5), "rate": (0.5, 5.5, 4.0), "omega": (0.0, 5.0, 1.0)}
    return board.panel(update, **starting, h=(0.02, 0.15, 0.05), along=(0.0, 1.0, 0.0))


def swing() -> Trajectory:
    """A run of EDLA on the pendulum, from the bottom and nearly to the top."""
    return integrate(systems.pendulum(), EDLA(), [0.0], [1.8], h=0.2, steps=60)


def own_run(step: Callable, run: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Times and sizes of the steps that a reader's ``step(q1, p1, h1, e)`` makes from node 1."""
    q, p, h, e = run.q[1, 0], run.p[1, 0], run.h[0], run.energy("midpoints")[0]
    t, taken = [run.t[1]], [h]
    while len(taken) < run.steps and np.isfinite(h) and h:
        last, (q, h) = q, step(q, p, h, e)
        p = (q - last) / h - h / 2 * np.sin((q + last) / 2)  # the momentum that arrives
        t, taken = [*t, t[-1] + h], [*taken, h]
    return np.array(t), np.array(taken)


@drawn(7.6, 3.4)
def own_steps(ax: Axes, step: Callable) -> str:
    """A picture: the steps of the library on the pendulum, and those of a reader's ``step``."""
    run = swing()
    ax.plot(run.t[1:], run.h, **plot.look(EDLA()), label="the library")
    yours = own_dots(ax, lambda: own_run(step, run))
    ax.set(xlabel="time $t$", ylabel="step size $h$")
    add_legend(ax, **RIGHT)
    return f"Steps of the library on a swing, from {run.h.min():.2f} to {run.h.max():.2f}.{yours}"


def planet(e: float, h: float, steps: int, times: int = 1) -> tuple[Trajectory, Trajectory]:
    """EDLA on a Kepler orbit, and DLA to the same time with so many times its steps."""
    kepler, many = systems.kepler(e=e), times * steps
    sol = integrate(kepler, EDLA(), h=h, steps=steps, progress=False)
    return sol, integrate(kepler, DLA(), h=sol.t[-1] / many, steps=many, progress=False)


# ---------------------------------------------------------------------------- predictions


def prediction_1() -> tuple[str, dict[str, float]]:
    sol = integrate(systems.robot(), EDLA(), h=0.1, steps=200)
    psi, rate = sol.q[:-1, 3], np.abs(sol.v_projected[:-1, 3])
    low = sol.h.argmin()
    numbers = {"low": sol.h.min(), "high": sol.h.max(), "spread": np.ptp(sol.energy("midpoints"))}
    truth = "Halfway" if np.abs(np.cos(psi[low])) > 0.9 else "At the turning"
    truth = "At the bottom" if rate[low] > 0.9 * rate.max() else truth
    return "Nowhere" if sol.h.max() < 1.1 * sol.h.min() else truth, numbers


def prediction_2() -> tuple[str, dict[str, float]]:
    a, b = (integrate(systems.particle(), m, h=0.1, steps=400) for m in (EDLA(), DLA()))
    edla, dla, flat = np.ptp(a.energy()), np.ptp(b.energy()), np.ptp(a.energy("midpoints"))
    numbers = {"edla": edla, "dla": dla, "flat": flat}
    numbers |= {"low": a.h.min() / 0.1, "high": a.h.max() / 0.1}
    truth = "It is exact" if edla < 1e-10 else "It is not" if edla < dla else "It varies"
    return truth, numbers


def prediction_3() -> tuple[str, dict[str, float]]:
    sols = [integrate(systems.robot(), EDLA(), h=h, steps=round(10 / h)) for h in (0.1, 0.05)]
    (low, high), (less, more) = ((s.h.min() / s.h[0], s.h.max() / s.h[0]) for s in sols)
    ratio = (more - less) / (high - low)
    truth = "It shrinks" if ratio <= 0.9 else "It stays" if ratio <= 1.1 else "It grows"
    fine = sols[1]
    c = excess(fine.system, fine.q[1:-1], fine.v_projected[1:-1])
    product = fine.h[1:] * np.cbrt(np.abs(c))
    rate = np.abs(fine.v_projected[1:-1, 3])
    numbers = {"low": low, "high": high, "less": less, "more": more}
    numbers |= {"bottom": np.abs(c[rate.argmax()]), "turning": np.abs(c[rate.argmin()])}
    return truth, numbers | {"law": np.ptp(product) / product.mean()}


def prediction_4() -> tuple[str, dict[str, float]]:

    def done(rate: float, omega: float) -> int:
        run = {"h": 0.05, "steps": 40, "backend": "python"}
        return ensemble(systems.robot(), EDLA(), *starts(-1.5, rate, omega), **run)[0].steps

    slow, fast = done(4.0, 1.0), done(4.0, 4.0)
    truth = "It does all" if fast == 40 else "It stops sooner"
    truth = "It stops at the same" if abs(fast - slow) <= 1 else truth
    numbers = {"slow": slow, "fast": fast, "swing": done(2.0, 1.0), "stopped": done(2.0, 4.0)}
    return truth, numbers


def prediction_5() -> tuple[str, dict[str, float]]:
    grid = np.meshgrid(np.linspace(-np.pi, np.pi, 10), np.linspace(0.05, 6, 10))
    q0, v0 = starts(*grid, 1.0)
    ok = ensemble(systems.robot(), EDLA(), q0, v0, h=0.1, steps=60, backend="numpy").ok
    psi, rate = q0[:, 3], v0[:, 3]
    right = {
        "sign": np.mean(ok == (robot_excess(psi, rate, 1.0) < 0)),
        "motion": np.mean(ok == swings(psi, rate)),
        "speed": max(np.mean(ok == (rate < x)) for x in rate),
    }
    words = {"sign": "The sign", "motion": "Whether", "speed": "How fast"}
    return words[max(right, key=right.get)], right


def prediction_6() -> tuple[str, dict[str, float]]:
    edla, dla = planet(0.6, h=0.02, steps=320)
    true = integrate(edla.system, Reference(), h=edla.t[-1], steps=1).q[-1]
    a, b = (float(np.linalg.norm(x.q[-1] - true)) for x in (edla, dla))
    truth = "Both are equally" if 0.8 < a / b < 1.25 else "EDLA" if a < b else "DLA"
    numbers = {"time": edla.t[-1], "edla": a, "dla": b, "low": edla.h.min(), "high": edla.h.max()}
    return truth, numbers


# ---------------------------------------------------------------------------- exercises


ARRIVES = "That is v - (h/2) sin, the momentum that arrives at q2. The one that leaves q1 has +."
MISTAKES = {  # (factor of the kick, of the potential) in a wrong step: what is said
    (-1, 1): ARRIVES,
    (1, -1): "The sign of the potential is wrong: the pendulum has V = -cos(theta).",
    (-1, -1): "Two signs are wrong: p leaves with + (h/2) sin, and V = -cos(theta).",
    (2, 1): "The kick is too large: half of h V' belongs to each end of the step.",
    (0, 1): "The momentum that leaves is not just v: the force V' acts for half a step.",
}


def probe(
    kick: float, well: float, q1: float = 0.6, p1: float = 1.2, h: float = 0.2
) -> tuple[tuple, tuple[float, float]]:
    """The arguments of a step, and its end (q2, h2) if kick and potential had these factors."""
    v = brentq(lambda v: v + kick * h / 2 * np.sin(q1 + h * v / 2) - p1, 0, 3)
    return (q1, p1, h, v**2 / 2 - well * np.cos(q1 + h * v / 2)), (q1 + h * v, h)


@takes(callable, "Give your function, a step (q1, p1, h1, e) -> q2, h2.")
def exercise_1(answer: object) -> str | None:
    run = swing()
    q, p, h, e = run.q[:, 0], run.p[:, 0], run.h, run.energy("midpoints")[0]
    try:
        answer(q[1], p[1], h[0], e)
    except (TypeError, ValueError) as error:
        return f"The step cannot be computed ({error}). Is one of the gaps still open?"
    given = np.array([answer(q[k], p[k], h[k - 1], e) for k in range(1, run.steps)], float)
    if given.shape != (run.steps - 1, 2):
        return "The step returns two numbers, q2 and h2."
    if np.allclose(given, np.column_stack([q[2:], h[1:]]), rtol=0, atol=1e-6):
        return None
    for factors, said in MISTAKES.items():
        arguments, end = probe(*factors)
        if np.allclose(answer(*arguments), end, rtol=0, atol=1e-6):
            return said
    back = np.isclose(given, np.column_stack([q[:-2], -h[:-1]]), rtol=0, atol=1e-6).all(1)
    if back.any():
        return f"""At node {back.argmax() + 1} the step goes back where it came from, h2 = -h1: the
            reversed root. It solves both equations. Begin the search nearer to the forward one."""
    if np.allclose(given[:, 1], h[:-1]):
        return "h2 is always h1. The size of the step is an unknown: solve both equations for it."
    wrong = np.abs(given - np.column_stack([q[2:], h[1:]])).max(1)
    k = int((wrong > 1e-6).argmax()) + 1
    return f"""At node {k} you have q2, h2 = {given[k - 1, 0]:.4f}, {given[k - 1, 1]:.4f}; the
        library has {q[k + 1]:.4f}, {h[k]:.4f}. Look at your two equations, then at the guess."""


def exercise_2(answer: object) -> str | None:
    sol = integrate(systems.particle(), EDLA(), h=0.1, steps=10)
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return f"Give five numbers, x2, y2, z2, lam, h2; this has shape {answer.shape}."
    if np.allclose(answer[:3], sol.q[8], atol=1e-6):
        return "That is the forward step. The reversed root undoes the last one."
    if np.isclose(answer[4], sol.h[6], atol=1e-6):
        return "The size is right, but the reversed root goes back in time."
    if not np.allclose(answer[:3], sol.q[6], rtol=0, atol=1e-6):
        return """The reversed root undoes the step that arrived at run.q[7]: at which node did that
            step begin?"""
    if not np.isclose(answer[4], -sol.h[6], rtol=0, atol=1e-6):
        return """The place is right. run.h[k] is the size of the step from node k to node k + 1;
            which of them arrived at node 7?"""
    if not np.isclose(answer[3], 0, rtol=0, atol=1e-6):
        return """Place and size are right. Both balances hold on the way back without a kick, so
            what is lam?"""


@takes(callable, "Give a function of (theta, p) that returns c.")
def exercise_3(answer: object) -> str | None:
    theta, p = np.array([0.0, 0.4, 1.0, 2.0, 3.0, -1.3]), np.array([1.0, 0.7, 0.0, 1.5, -2.0, 0.3])
    truth = excess(systems.pendulum(), theta[:, None], p[:, None])
    given = np.array([float(answer(a, b)) for a, b in zip(theta, p, strict=True)])
    if np.allclose(given, -truth, atol=1e-5):
        return "The sign is wrong: the midpoint loses energy in a well, c(0, 1) = -1/8."
    right = np.isclose(given, truth, atol=1e-5)
    if right[2] and not right[0]:
        return "At rest it is right. The term with p^2 is missing or wrong: try theta = 0."
    if right[0] and not right[2]:
        return "At theta = 0 it is right. At rest, p = 0, the force itself gives a term."
    if not right.all():
        return f"""At theta = 1, p = 0 it should be {truth[2]:.4f}, you have {given[2]:.4f}. Expand
            v = p - (h/2) sin(theta + h v/2) to second order in h and put it into E."""


@takes(sized(), "The answer is one number, a steering rate.")
def exercise_4(answer: object) -> str | None:

    def c(omega):
        return float(excess(systems.robot(), [0, 0, 0, -np.pi / 2], [2, 0, omega, 2]))

    truth = brentq(c, 0, 10)
    sign = "The size is right, but the question asks for a steering rate omega > 0."
    rest = f"""At the bottom and omega = {float(answer):g} the coefficient c is {c(answer):.3f},
        not 0."""
    return told(answer, truth, [(-truth, sign), (truth**2, "That is its square.")], rest, 2e-3)
