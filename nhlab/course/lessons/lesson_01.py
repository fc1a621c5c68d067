"""Lesson 01: the pendulum, a path to drag, a step to write, and what its predictions measure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from matplotlib.axes import Axes

from ... import plain
from ...geometry.diagnostics import action
from ...mechanics import catalogue as systems
from ...mechanics.system import System
from ...methods import RK4, Reference, Variational
from ...methods.method import Method
from ...run.ensemble import ensemble
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ...view.panel import Panel
from ..colours import BLUE, DARK, GREY, MIDDLE
from ..exercises import near, takes, told, unfinished
from ..kit import ahead, arc, circle, drawn, frame, new_board, slope
from ..predict import either

STEP = 0.5  # of the run that the reader's own step repeats
TRIES = {
    "01.3": {
        "eight times the step: who is better?": {"h": 0.8},
        "small swings: who is better?": {"q0.theta": 0.3},
        "nearly upside down: who is better?": {"q0.theta": 3.0},
        "alpha = .3: a wider band?": {"alpha": 0.3},
    },
    "01.5": {
        "h = .05: who is nearer?": {"h": 0.05},
        "Variational alone: what turns?": {"method": 0},
        "RK4 alone: what shrinks?": {"method": 1},
    },
    "01.6": {
        "the midpoint: how narrow is it?": {"alpha": 0.5},
        "alpha = .7: the mirror image?": {"alpha": 0.7},
        "alpha = 0: how wide is it?": {"alpha": 0.0},
        "half the step: half the width?": {"h": 0.2},
    },
}


def draw_pendulum(ax: Axes, theta: float = 1.0) -> None:
    """The rod, the bob and the angle from the lower equilibrium."""
    down = -np.pi / 2
    x, y = ahead((0, 0), down + theta, 1)
    ax.plot([0, 0], [0, -1.2], color=GREY, linestyle="--")
    ax.plot([0, x], [0, y], color=DARK)
    arc(ax, (0, 0), 0.45, (down, down + theta), r"$\theta$", 0.12, DARK)
    ax.plot([0], [0], marker="o", color=DARK)
    ax.plot([x], [y], marker="o", markersize=16, color=BLUE)
    ax.text(0.5 * x + 0.05, 0.5 * y + 0.06, "$l$")
    ax.text(x + 0.13, y - 0.03, "$m$")
    ax.annotate("$g$", (-0.5, -0.85), (-0.5, -0.3), ha="center", arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-0.8, 1.3), ylim=(-1.3, 0.2), aspect="equal")
    ax.axis("off")


def phase_plane(ax: Axes, pendulum: System) -> None:
    """Curves of constant energy in the plane of theta and p; the separatrix is darker."""
    theta, p = np.meshgrid(np.linspace(-np.pi, np.pi, 121), np.linspace(-2.6, 2.6, 105))
    q, p = theta[..., None], p[..., None]
    E = pendulum.energy(q, pendulum.velocity(q, p))
    some, separatrix = np.arange(-0.8, 3, 0.4), [1.0]
    ax.contour(theta, p[..., 0], E, some, colors=GREY, linewidths=0.8, linestyles="solid")
    ax.contour(theta, p[..., 0], E, separatrix, colors=MIDDLE, linewidths=1.4)
    frame(ax, r"angle $\theta$ (rad)", "momentum $p$", (-np.pi, np.pi), (-2.6, 2.6))
    ax.set_xticks([-np.pi, 0, np.pi], [r"$-\pi$", "0", r"$\pi$"])
    ax.grid(False)


def path_panel(sol: Trajectory, low: float, high: float) -> Panel:
    """Drag the inner nodes of a path with the ends of ``sol``, a run of four steps.

    The bars are the derivatives of the action sum, D2Ld(q_k-1, q_k) + D1Ld(q_k, q_k+1).
    """
    t, ends, colour = sol.t, sol.q[[0, -1], 0], plot.look(sol.method)["color"]
    board, left, right = new_board((8.4, 3.9), columns=2)
    frame(left, "time $t$", r"angle $\theta_k$ (rad)", (-0.1, t[-1] + 0.1))
    left.set_ylim(low - 0.1, high + 0.1)
    left.plot(t[[0, -1]], ends, marker="s", markersize=9, linestyle="none", color=DARK)
    frame(right, "inner node $k$", r"$\partial S/\partial\theta_k$", (0.4, 3.6), (-1, 1))
    right.axhline(0, color=DARK, linewidth=1)
    right.set_xticks([1, 2, 3])
    bars = [board.add(bar) for bar in right.bar([1, 2, 3], [0, 0, 0], width=0.5, color=colour)]

    def update(**nodes):
        """A path of five nodes, and one bar for each inner node.

        Left: the path; its ends are fixed. Right: how the action sum changes with each inner node.
        """
        system, method, t, h = sol.system, sol.method, sol.t, sol.h
        q = sol.q.copy()
        q[1:-1, 0] = [*nodes.values()]
        step = t[:-1], q[:-1], np.diff(q, axis=0) / h[:, None], h
        arriving, leaving = (method.on_step(system, p, *step)[:, 0] for p in ("p_plus", "p_minus"))
        slopes = arriving[:-1] - leaving[1:]
        for bar, height in zip(bars, slopes, strict=True):
            bar.set_height(height)
        board.curve(t, q[:, 0], left, marker="o", color=colour)
        size = np.abs(slopes).max()
        board.fit(right, [0.4, 3.6], [-size, size])
        board.say("S =", f"{action(system, method, t, q):.4f}")
        board.say("stationary value", f"{action(system, method, t, sol.q):.4f}")
        board.say("largest slope", f"{size:.3f}")

    start = np.linspace(*ends, 5)[1:-1]
    sliders = {f"node {k}": (low, high, round(float(x), 2), 0.01) for k, x in enumerate(start, 1)}
    return board.panel(update, **sliders)


def area(x: np.ndarray, y: np.ndarray) -> float:
    """The area inside a closed polygon."""
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def disk() -> list[np.ndarray]:
    """The rim of a disk of starts of the pendulum, q0 and v0 of shape (240, 1) each."""
    return np.split([1.2, 0] + 0.4 * circle(241)[:-1], 2, axis=1)


def carried(
    pendulum: System, method: Method, h: float, steps: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """The rim of the disk after some steps, q and p, and how much of its area is left."""
    q0, v0 = disk()
    run = ensemble(pendulum, method, q0, v0, h=h, steps=steps)
    q, p = run.q[:, -1, 0], run.p[:, -1, 0]
    return q, p, area(q, p) / area(q0, pendulum.momentum(q0, v0))


def library_run() -> Trajectory:
    """The run of the library that the reader's step is compared with."""
    return integrate(systems.pendulum(), Variational(), [2.0], [0.0], h=STEP, steps=60)


def by_hand(step: Callable, run: Trajectory) -> np.ndarray:
    """The nodes that ``step`` computes from the first two nodes of a run."""
    q = [*run.q[:2, 0]]
    while len(q) < len(run.q):
        q.append(float(step(q[-2], q[-1], STEP)))
    return np.array(q)


@drawn(7.6, 3.4)
def step_picture(ax: Axes, step: Callable, run: Trajectory) -> None:
    """Angles of the pendulum in ``run``, and by the reader's step once it is written."""
    ax.plot(run.t, run.q[:, 0], color=GREY, linewidth=5, label="nh.integrate")
    if not unfinished(step):
        with suppress(Exception):  # the check beside the picture says what is wrong
            ax.plot(run.t, by_hand(step, run), "o-", color=BLUE, markersize=4, label="your step")
    frame(ax, "time $t$", r"angle $\theta_k$ (rad)", (0, run.t[-1]), (-4, 4))
    ax.legend(loc="upper right")


def swings(method: Method, h: float = 1.0) -> Trajectory:
    """The pendulum of the lesson, let go at rest, for about fourteen swings."""
    return integrate(systems.pendulum(), method, h=h, steps=round(120 / h), progress=False)


def prediction_1() -> tuple[str, dict[str, float]]:
    left, right = swings(Variational()), swings(RK4())
    kept = [np.abs(run.q[-17:]).max() for run in (left, right)]
    steps = [np.abs(np.diff(run.energy())).max() for run in (left, right)]
    truth = either(*(x > 1.9 for x in kept), "Both", "Only the left", "Only the right", "Neither")
    names = "left", "right", "left_step", "right_step"
    return truth, dict(zip(names, kept + steps, strict=True))


def prediction_2() -> tuple[str, dict[str, float]]:
    q = integrate(systems.pendulum(), Variational(), [1.0], [1.0], h=0.5, steps=4).q[:, 0]
    bend = (q - np.linspace(q[0], q[-1], 5))[1:-1]
    truth = "Its middle must go " + ("up" if np.all(bend > 0) else "down")
    truth = "Not at all" if np.all(np.abs(bend) < 1e-9) else truth
    return truth, dict(zip("abc", q[1:-1], strict=True))


def prediction_3() -> tuple[str, dict[str, float]]:
    errors = {}
    for m, name in ((Variational(), "variational"), (RK4(), "rk4")):
        for h, size in ((0.1, ""), (0.8, "_large")):
            E = integrate(systems.pendulum(), m, h=h, steps=round(300 / h), progress=False).energy()
            errors[name + size] = np.abs(E - E[0]).max()
    ratio = errors["variational"] / errors["rk4"]
    return "The same" if 0.8 < ratio < 1.25 else "RK4" if ratio > 1 else "The variational", errors


def prediction_4() -> tuple[str, dict[str, float]]:
    pendulum, methods, centre = systems.pendulum(), (Variational(), RK4()), ([1.2], [0.0])
    kept = [carried(pendulum, m, 1.0, 14)[2] for m in methods]
    late, rk4 = (integrate(pendulum, m, *centre, h=1.0, steps=14).p[-1, 0] for m in methods)
    true = integrate(pendulum, RK4(), *centre, h=0.01, steps=1400)  # to nine digits
    words = "Both methods", "Both bend it, but only the", "Both bend it, but only RK4"
    truth = either(*(abs(x - 1) < 1e-3 for x in kept), *words, "Both bend it, and neither")
    numbers = {"variational": kept[0], "lost": 1 - kept[1], "late": late, "rk4": rk4}
    return truth, {**numbers, "theta": true.q[-1, 0], "p": true.p[-1, 0]}


def apocentres(sol: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """The distance and the direction of the nodes where an orbit is farthest out."""
    r = np.hypot(*sol.q.T)
    far = np.flatnonzero((r[1:-1] > r[:-2]) & (r[1:-1] > r[2:])) + 1
    return r[far], np.unwrap(np.arctan2(sol.q[far, 1], sol.q[far, 0]))


def farthest(sol: Trajectory) -> float:
    """How far out the last turn of an orbit goes."""
    return apocentres(sol)[0][-1]


def axis_turn(sol: Trajectory) -> float:
    """By how many degrees the long axis of an orbit has turned from the first turn to the last."""
    angle = apocentres(sol)[1]
    return np.rad2deg(angle[-1] - angle[0])


def turns(sol: Trajectory) -> float:
    """How often an orbit has gone round the origin."""
    return np.ptp(np.unwrap(np.arctan2(sol.q[:, 1], sol.q[:, 0]))) / (2 * np.pi)


def prediction_5() -> tuple[str, dict[str, float]]:
    kepler = systems.kepler(e=0.6)
    orbit, shrinking = (
        integrate(kepler, m, h=0.15, steps=667, progress=False) for m in (Variational(), RK4())
    )
    (r, angle), (other, _) = apocentres(orbit), apocentres(shrinking)
    start, energy = np.hypot(*orbit.q[0]), kepler.energy(kepler.q0, kepler.v0)
    true, axis = 1 / abs(energy) - start, 0.5 / abs(energy)  # r + r' = 2 a, E = -1 / (2 a)
    stands = abs(angle[-1] - angle[0]) < 0.1 and abs(r.max() / true - 1) < 0.02
    shrinks = abs(r[-3:].max() / r[:3].max() - 1) >= 0.02
    truth = "It shrinks" if shrinks else "It is the true" if stands else "It keeps its size"
    sizes = {"near": np.hypot(*orbit.q.T).min(), "far": r.max(), "true": true}
    rk4 = {"first": other[0], "last": other[-3:].max()}
    round_ = {"turns": turns(orbit), "true_turns": orbit.t[-1] / (2 * np.pi * axis**1.5)}
    return truth, {**sizes, **rk4, **round_}


def band(alpha: float, h: float = 0.4) -> float:
    """The width of the energy band of the alpha rule on the pendulum, until t = 60."""
    run = integrate(systems.pendulum(), Variational(alpha=alpha), h=h, steps=round(60 / h))
    return np.ptp(run.energy())


def prediction_6() -> tuple[tuple[np.ndarray, np.ndarray], dict[str, float]]:
    alpha = np.linspace(0, 1, 21)
    width = np.array([band(x) for x in alpha])
    return (alpha, width), {"middle": width[10], "end": width[0], "slope": width[0] / (0.5 * 0.4)}


def pushes(step: Callable, h: float = 0.3) -> tuple[np.ndarray, float, float]:
    """The numbers (c, a, b) that describe a step of the pendulum, and how badly they do.

    From (q0, q1) it goes to q2 with the velocity v' = c v - h (a sin(m) + b sin(m')), where m and
    m' are the middles of the two steps.
    """
    q0, v = (x.ravel() for x in np.meshgrid([0.4, 1.0, 1.9, -0.7], [-0.8, 0.3, 1.1]))
    q1 = q0 + h * v
    q2 = np.array([float(step(a, b, h)) for a, b in zip(q0, q1, strict=True)])
    if not np.isfinite(q2).all():
        raise ValueError("the next node is no finite number")
    after = (q2 - q1) / h
    columns = np.column_stack([v, *(-h * np.sin((a + b) / 2) for a, b in ((q0, q1), (q1, q2)))])
    found, *_ = np.linalg.lstsq(columns, after)
    at_node = np.abs(after - v + h * np.sin(q1)).max()  # the force at q1 instead
    return found, np.abs(columns @ found - after).max(), at_node


def push_hint(size: float, name: str, sign: str, h: float = 0.3) -> str | None:
    """What is wrong with the push of gravity in a momentum, whose size should be 1/2."""
    if near(size, 0.5):
        return None
    if near(size, 0):
        return f"{name} has no gravity in it: differentiate h cos((q0 + q1)/2) too."
    if size < 0:
        return f"The sign of the gravity in {name} is wrong: {sign}"
    if near(size, 1):
        return f"""In {name} a half is missing: when one end of a step moves, its middle
            (q0 + q1)/2 moves half as much."""
    if near(size, 0.5 / h) or near(size, 1 / h):
        return f"In {name} the factor h of Ld = h L is missing in front of the sine."
    return f"The gravity in {name} is {size:.3g} h sin, and should be the derivative of h cos."


@takes(callable, "Give a function of (q0, q1, h) that returns the next node q2.")
def exercise_1(answer: object) -> str | None:
    (c, a, b), miss, at_node = pushes(answer)
    if miss > 1e-6 and at_node < 1e-6:
        return """That is Verlet's step, with gravity taken at the node q1. This is also a good
            method, but the midpoint rule takes it in the middle of each step."""
    if miss > 1e-6:
        return "Take both sines in the middle of a step: (q0 + q1)/2 arriving, (q1 + q2)/2 leaving."
    if near(c, -1):
        return """The pendulum goes back where it came from: the momentum that leaves is minus
            D1Ld, and one of your velocities has the wrong sign."""
    if not near(c, 1):
        return "Without gravity q2 - q1 must be q1 - q0: look at the two velocities, (q1 - q0)/h."
    plus = "the derivative of cos is -sin, and p+ = +D2Ld."
    minus = "D1Ld has -sin as well, and p- is minus D1Ld."
    for size, name, sign in ((a, "p+, which arrives,", plus), (b, "p-, which leaves,", minus)):
        if hint := push_hint(size, name, sign):
            return hint
    run = library_run()
    if not near(by_hand(answer, run), run.q[:, 0], 1e-6):
        return f"Right for h = 0.3, but not for h = {STEP}: use the h that is given."


@takes(callable, "Give a function of (L, q0, q1, h, alpha) that returns a number.")
def exercise_2(answer: object) -> str | None:
    seen, value, alpha, h = [], 7.0, 0.3, 0.5
    q0, q1 = np.array([1.0, -2.0]), np.array([2.0, 2.0])

    def L(q=None, v=None, *more):  # which notes where it is evaluated
        if q is None or v is None or more:
            raise ValueError("L takes two arguments, a place and a velocity: L(q, v)")
        seen.append((np.array(q, float), np.array(v, float)))
        return value

    found = answer(L, q0, q1, h, alpha)
    if len(seen) != 1:
        return "Evaluate L once, as L(q, v): at one place, with one velocity."
    (q, v), mean = seen[0], (q1 - q0) / h
    velocities = [
        (-mean, "The velocity has the wrong sign: a step goes from q0 to q1."),
        (q1 - q0, "q1 - q0 is the displacement; divide it by h to get the mean velocity."),
        ((1 - alpha) * q0 + alpha * q1, "L takes the place first, then the velocity: L(q, v)."),
    ]
    places = [
        (alpha * q0 + (1 - alpha) * q1, "Exchange alpha and 1 - alpha: at alpha = 0 take q0."),
        (
            (q0 + q1) / 2,
            "That is the midpoint for every alpha. Use alpha: at 0 take q0, at 1 take q1.",
        ),
    ]
    values = [
        (value, "The factor h is missing: one step adds h L to the action."),
        (value / h, "Multiply by h; do not divide."),
    ]
    return (
        told(v, mean, velocities, "The velocity should be the mean one, (q1 - q0)/h.")
        or told(q, (1 - alpha) * q0 + alpha * q1, places, "The place should lie between q0 and q1.")
        or told(found, h * value, values, "Return h times the value of L.")
    )


@takes(callable, "Give a function of (Ld, q1, p, q2) that returns what must be zero.")
def exercise_3(answer: object) -> str | None:
    # alpha is not 1/2, for then Ld(q1, q2) = Ld(q2, q1), and an exchange would not be seen
    Ld = plain.discretise(lambda q, v: v @ v / 2 + np.cos(q[0]) - q[1] ** 4, 0.3, 0.2)
    q1, q2, p = np.array([1.0, 0.4]), np.array([1.2, 0.7]), np.array([0.9, -0.5])
    first, second = (plain.D(slot, Ld, q1, q2) for slot in (1, 2))
    back = [plain.D(slot, Ld, q2, q1) for slot in (1, 2)]
    found = np.squeeze(answer(Ld, q1, p, q2))
    if found.dtype == bool:
        return """== only says whether both sides are equal, True or False. A solver must know by
            how much they differ: return a difference."""
    if found.shape != p.shape:
        return f"""For two coordinates your function returns the shape {found.shape}; it should have
            one equation for each coordinate."""
    if near(found, -first - p, 1e-9):  # has the same zeros
        return None
    second_slot = "D2Ld of this step arrives at q2. You need the momentum that leaves q1."
    exchanged = "You gave Ld the nodes as q2, q1: this is the step back. It goes from q1 to q2."
    alone = """Where is the momentum p that has arrived? You return the derivative at q1 alone;
        return by how much what leaves q1 differs from p."""
    mistakes = [
        (first - p, "What leaves is minus D1Ld, so D1Ld = -p where the two are equal."),
        (p - first, "What leaves is minus D1Ld, so D1Ld = -p where the two are equal."),
        *((x, second_slot) for x in (second - p, p - second, second + p, -second - p)),
        *((i * x + k * p, exchanged) for x in back for i in (1, -1) for k in (1, -1)),
        *((x, alone) for x in (first, -first)),
        *((x, "Where is the momentum that leaves q1 for q2? You use p alone.") for x in (p, -p)),
    ]
    otherwise = f"""Return by how much the momentum that leaves q1 for q2 differs from p, which
        arrives: zero where both are equal. In a test with two coordinates they are not equal, and
        your function returns {found.round(3)}."""
    return told(found, first + p, mistakes, otherwise, 1e-9)


ARRIVES = """alpha h grad V is the share of the momentum that arrives at the end of a step. At the
    start a momentum leaves."""


def start_hint(answer: Callable) -> str | None:
    """What is wrong with a formula for the velocity to start with, if it is a usual mistake."""
    theta, v0, alpha, h = np.transpose(
        [(1.0, 0.4, 0.3, 0.1), (2.0, -0.7, 0.8, 0.2), (0.5, 1, 0, 1)]
    )
    found = [float(answer(*x)) for x in zip(theta, v0, alpha, h, strict=True)]
    half, whole, force = (0.5 - alpha) * h, (1 - alpha) * h, np.sin(theta)
    sign = """The sign of your correction is the other one: it makes the error of the first velocity
        larger."""
    sine = "V = -cos(theta), so its gradient, which the momentum contains, is sin(theta), not cos."
    all_ = """Now the velocity of the first step is v0 for every alpha. But gravity acts during this
        step in the true motion as well, whose mean velocity is not v0: a part of
        (1 - alpha) h grad V is the motion's own."""
    mistakes = [
        (v0, "You return v0 as it is: then p0 = v0 is taken for the momentum that leaves."),
        (v0 - half * force, sign),
        *((v0 + x * half * np.cos(theta), sine) for x in (1, -1)),
        *((v0 + x * whole * np.cos(theta), sine) for x in (1, -1)),
        (v0 + whole * force, all_),
        (v0 - whole * force, f"{sign} And its size is not all of (1 - alpha) h grad V."),
        *((v0 + x * alpha * h * force, ARRIVES) for x in (1, -1)),
        (v0 + (0.5 - alpha) * force, "The factor h is missing: a smaller step needs less."),
        (half * force, "That is the correction alone: add it to v0."),
        (v0 + half * theta, "theta in place of sin(theta) holds for small swings only."),
    ]
    return told(found, v0 + half * force, mistakes, None, 1e-9)


@takes(
    callable, "Give a function of (theta0, v0, alpha, h) that returns the velocity to start with."
)
def exercise_4(answer: object) -> str | None:
    if said := start_hint(answer):
        return said
    system, q0, v0, T, hs = systems.pendulum(), [1.0], 0.4, 2.0, (0.1, 0.05, 0.025)
    truth = integrate(system, Reference(), q0, [v0], h=T, steps=1).q[-1]
    slopes = []
    for alpha in (0.0, 0.3, 0.8):
        errors = []
        for h in hs:
            v = [float(answer(q0[0], v0, alpha, h))]
            sol = integrate(system, Variational(alpha=alpha), q0, v, h=h, steps=round(T / h))
            errors.append(np.abs(sol.q[-1] - truth).max())
        slopes.append(slope(hs, errors))
    if not min(slopes) > 1.8:
        return f"""The observed orders for alpha = 0, 0.3, 0.8 are {slopes[0]:.1f}, {slopes[1]:.1f},
            {slopes[2]:.1f}, and should be 2. The bracket of the text says what the momentum of the
            method is; which velocity has its first step, and which the first step of the true
            motion?"""
