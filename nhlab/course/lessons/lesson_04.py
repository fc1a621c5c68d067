"""Lesson 04: a body turned from the left and from the right, the mirror of FIM08 Fig. 1 seen from
space, and the energy where theorem 1 holds and where not."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...mechanics.groupsystem import GroupSystem
from ...mechanics.system import symbols
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view.bodies import camera
from ...view.widgets import Panel, play
from ..colours import BLUE, DARK, GREEN, GREY, MIDDLE, ORANGE
from ..exercises import near, sized, some_of, takes
from ..kit import Board, bare, circle, joined, key, new_board
from ..predict import either

Range = tuple[float, float, float]  # of a slider: its ends and its first value
AXES, TINT = (ORANGE, GREEN, BLUE), "#B9AFD6"
GAP = 4.9  # between the nodes of the mirrors


def spread(x: np.ndarray) -> float:
    """The largest distance from the first entry."""
    return np.abs(x - x[0]).max()


def show(x: float) -> str:
    """A size in nine characters; "round-off" below 1e-12."""
    return "round-off" if x < 1e-12 else f"{x:9.1e}"


def zigzag(sol: Trajectory) -> np.ndarray:
    """Half the jump of the constraint from node to node, (N,); of several, the largest."""
    return np.abs(np.diff(sol.constraint(), axis=0)).max(1) / 2


VIEW = camera((1, -0.75, 0.55))
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [1, 0.6, 0.2]
EDGES = [(a, b) for a in CORNERS for b in CORNERS if np.sum(a != b) == 1 and tuple(a) > tuple(b)]
PLATE = joined(EDGES).T  # a flat box, as one curve with gaps


def _triple(x: np.ndarray) -> str:
    return "(" + ", ".join(f"{y + 0.0:+.2f}" for y in np.round(x, 2)) + ")"


def tumble(T: float, h: float = 0.1) -> Trajectory:
    """The true motion of a plate that tumbles freely."""
    body = systems.rigid_body()
    return integrate(body, Reference(), body.q0, (0.3, 1, 0.2), h=h, steps=round(T / h))


def turned(g: np.ndarray, omega: np.ndarray, world: bool, angle: float) -> tuple[np.ndarray, ...]:
    """Attitude and body velocity of the copy s g, or g s, of a motion; s is a turn by an angle.

    The velocity is measured on two attitudes of the copy.
    """
    s, dt = SO3.exp(np.deg2rad(angle) * np.array([0, 0.6, 0.8])), 1e-5
    both = g, SO3.multiply(g, SO3.exp(dt * omega))
    now, later = (SO3.multiply(s, x) if world else SO3.multiply(x, s) for x in both)
    return now, SO3.log(SO3.multiply(SO3.inverse(now), later)) / dt


def translation_panel(angle: Range = (0, 180, 60), time: Range = (0.0, 8.0, 2.0)) -> Panel:
    """A tumbling plate g(t) beside s g(t) or g(t) s, with its angular velocity in space."""
    h = 0.1
    true = tumble(time[1], h)
    board, left, right = new_board((7.2, 3.9), 1, 2)
    for ax in (left, right):
        bare(ax, (-1.65, 1.65), (-1.5, 1.5))
    keys = [Line2D([], [], color=c, label=f"$e_{k}$ of the body") for k, c in enumerate(AXES, 1)]
    keys += [Line2D([], [], color=DARK, label="angular velocity in space", linewidth=3)]
    below = {"loc": "outside lower center", "ncols": 4, "frameon": False}
    board.figure.legend(handles=keys, fontsize=10, handlelength=1.4, **below)

    def draw(ax: Axes, title: str, g: np.ndarray, omega: np.ndarray) -> None:
        R = SO3.matrix(g)
        board.outline(*(VIEW[:2] @ R @ PLATE), ax, color=GREY, linewidth=1.4)
        for colour, tip in zip(AXES, (1.35 * VIEW[:2] @ R).T, strict=True):
            board.arrow((0, 0), tip, colour, ax, width=2.2, head=14)
        board.arrow((0, 0), 1.3 * VIEW[:2] @ R @ omega, DARK, ax, width=3.0, head=14)
        board.part(lambda: ax.text(-1.6, 1.3, "", fontsize=15)).set_text(title)

    def update(turn: str, angle: float, time: float) -> None:
        """A tumbling plate and its copy, turned from the left or the right.

        Left: a freely tumbling plate. Right: the same motion with the world, or the body in its
        frame, turned by the angle about one axis.
        """
        k = min(round(time / h), len(true.q) - 1)
        g, omega, world = true.q[k], true.v[k], turn.startswith("the world")
        other, velocity = turned(g, omega, world, angle)
        draw(left, "$g(t)$", g, omega)
        draw(right, "$s\\,g(t)$" if world else "$g(t)\\,s$", other, velocity)
        board.say("body velocity", _triple(omega))
        board.say("of the copy", _triple(velocity))
        board.say("velocity in space", _triple(SO3.Ad(g, omega)))
        board.say("of the copy ", _triple(SO3.Ad(other, velocity)))

    turn = ["the world (left)", "the body (right)"]
    return board.panel(update, turn=turn, angle=angle, time=time)


def mirror_panel(k: Range = (1, 14, 2), h: Range = (0.2, 1.0, 0.8)) -> Panel:
    """Three nodes of a run of Suslov's problem with their momenta, carried to space.

    In space right translation does nothing, so that an arrow changes at the mirrors only.
    """
    eye, most = camera((1, -0.3, 0.35)), k[1] + 1
    suslov = mirror_run(h[2], 1)[0].system
    plane = 2.9 * circle(61) @ np.linalg.qr(suslov.M(suslov.q0)[:, :2])[0].T  # a disk in I D
    board, ax = _three_places()

    def draw(j: int, name: str, R: np.ndarray, arriving: np.ndarray, leaving: np.ndarray) -> None:
        at = np.array([GAP * j, 0])
        flat = [at + 0.8 * np.array(p) @ (eye[:2] @ R).T for p in (plane, arriving, leaving)]
        patch = {"facecolor": "#E8E4F3", "edgecolor": TINT}
        board.part(lambda: ax.add_patch(Polygon(np.zeros((4, 2)), **patch))).set_xy(flat[0])
        fold = np.array([flat[1], (flat[1] + flat[2]) / 2, flat[2]])
        dotted = {"color": DARK, "linestyle": ":", "linewidth": 1.4}
        board.outline(*fold.T, marker="o", markevery=[1], markersize=4, **dotted)
        for tip, colour in zip(flat[1:], (BLUE, ORANGE), strict=True):
            board.arrow(at, tip, colour, width=2.2, head=14)
        board.part(lambda: ax.text(at[0], -2.95, "", ha="center", fontsize=13)).set_text(name)

    def update(k: int, h: float) -> None:
        """Three nodes, each with a plane and two momenta that are mirror images in it.

        Momenta of Suslov's problem in the frame of space, at the nodes k-1, k and k+1. The plane
        turns with the body; the dot, the average of the two momenta, lies in it.
        """
        sol, leaving = mirror_run(h, most)
        three = sol.q, sol.p, leaving, SO3.matrix(sol.q)
        q, arriving, leaving, R = (x[k - 1 : k + 2] for x in three)
        for j in range(3):
            draw(j, f"$g_{{{k - 1 + j}}}$", R[j], arriving[j], leaving[j])
        before, after = ((R @ p[..., None])[..., 0] for p in (arriving, leaving))  # in space
        board.say("change between the nodes", f"{np.abs(after[:-1] - before[1:]).max():.0e}")
        board.say("jump at the middle", f"{np.linalg.norm(after[1] - before[1]):.3f}")
        energies = suslov.energy(q, suslov.velocity(q, leaving))
        board.say("energies leaving", ", ".join(f"{E:.4f}" for E in energies))

    return play(board.panel(update, k=k, h=h), "k", interval=700)


def _three_places() -> tuple[Board, Axes]:
    """A board for three nodes side by side, with what its arrows and colours mean."""
    board, ax = new_board((7.4, 3.7))
    bare(ax, (-2.4, 2 * GAP + 2.4), (-3.1, 3.1))
    for x in (0, GAP):
        arrow = {"arrowstyle": "->", "color": MIDDLE}
        ax.annotate("", (x + GAP - 1.7, 2.5), (x + 1.7, 2.5), arrowprops=arrow)
        ax.text(x + GAP / 2, 2.65, "constant in space", ha="center", color="#555555", fontsize=10)
    key(ax, BLUE, "arriving $p^+$")
    key(ax, ORANGE, "leaving $p^-$")
    key(ax, TINT, "allowed momenta", linewidth=7)
    key(ax, DARK, "jump, along $A^T$", linestyle=":")
    centred = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}
    board.legend(fontsize=10.5, handlelength=1.4, **centred)
    return board, ax


KINDS = ("neither", "fixed in the body", "fixed in space")


def bent_ball(kind: str = "neither", rule: str = "cayley", eps: float = 0.0) -> GroupSystem:
    """A body of inertia 1 + eps (I - 1), I that of ``suslov``, with one of three constraints.

    eps = 0 is a ball and eps = 1 Suslov's body.
    """
    omega, g, e = symbols("w1 w2 w3"), symbols("qw qx qy qz"), symbols("eps")
    w1, w2, w3 = omega
    R = SO3.matrix(g)
    rows = w3 - 2 * R[2, 1] * w1, w3, sum(R[2, k] * omega[k] for k in range(3))
    row = dict(zip(KINDS, rows, strict=True))[kind]
    more = (w2**2 + 1.5 * w3**2) / 2 + (0.5 * w1 + 0.3 * w2) * w3
    L, start = (w1**2 + w2**2 + w3**2) / 2 + e * more, {"q0": (1, 0, 0, 0), "v0": (1, 0.7, 0)}
    about = {"parameters": {e: eps}, "rule": rule, "name": f"bent ball, {kind}"}
    return GroupSystem(SO3, omega, L, [row], g=g, **about, **start)


RUNS = {
    "ball, DLA": (systems.ball, "cayley", DLA()),
    "ball, trace": (systems.ball, "trace", Projector()),
    "suslov, cayley": (systems.suslov, "cayley", Projector()),
    "suslov, trace": (systems.suslov, "trace", Projector()),
    "sleigh_se2, cayley": (systems.sleigh_se2, "cayley", Projector()),
}


# ---------------------------------------------------------------------------- predictions


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    body, T = systems.rigid_body(), 60.0
    sol = integrate(body, Reference(), h=0.1, steps=round(T / 0.1))
    flips = int((np.diff(np.sign(sol.v[:, 1])) != 0).sum())
    truth = ("It goes on", "It turns over once", "It turns over, again")[min(flips, 2)]
    return truth, {"flips": flips, "T": T}


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    sol = tumble(2.0)
    g, omega = sol.q[-1], sol.v[-1]
    other, velocity = turned(g, omega, True, 60.0)
    pairs = (omega, velocity), (SO3.Ad(g, omega), SO3.Ad(other, velocity))  # in the body, in space
    changed = (not np.allclose(*pair, atol=1e-4) for pair in pairs)
    part = "The components of the velocity in "
    return either(*changed, "Both", f"{part}the body", f"{part}space", "Neither"), {}


def ends_of_suslov(count: int = 12, T: float = 80.0) -> np.ndarray:
    """Body velocities at T of Suslov's body, from velocities in all directions of equal energy;
    (count, 3)."""
    suslov = systems.suslov()
    I1, I2 = np.diag(suslov.M(suslov.q0))[:2]
    turn = 2 * np.pi * (np.arange(count) + 0.5) / count
    rho = np.sqrt(2 * suslov.energy(suslov.q0, suslov.v0))
    starts = rho * np.stack([np.cos(turn) / np.sqrt(I1), np.sin(turn) / np.sqrt(I2), 0 * turn], 1)
    return np.array(
        [integrate(suslov, Reference(), suslov.q0, v, h=T, steps=1).v[-1] for v in starts]
    )


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    sol = integrate(systems.suslov(), Reference(), h=0.1, steps=400)
    late, w, first = spread(sol.v[200:]), sol.v[-1], systems.suslov_omega(sol.system, -30.0)
    truth = "It settles" if late < 0.01 else "It swings"
    truth = "It comes to rest" if np.linalg.norm(w) < 0.1 else truth
    ends = ends_of_suslov()
    same = int((np.abs(ends - w).max(1) < 1e-3).sum())
    numbers = {"late": late, "a": w[0], "b": w[1], "c": first[0], "d": first[1]}
    return truth, {**numbers, "E": sol.energy()[-1], "same": same, "tried": len(ends)}


def mirror_run(h: float, steps: int) -> tuple[Trajectory, np.ndarray]:
    """Suslov's problem as the mirror panel shows it, and the momenta that leave its nodes."""
    suslov = systems.suslov(I2=3.0, I3=3.5)
    sol = integrate(suslov, Projector(), suslov.q0, (0.9, -0.9, 0), h=h, steps=steps)
    return sol, sol.p - 2 * np.einsum("kji,kj->ki", suslov.Q(sol.q), sol.p)


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    varied = []
    for h in (0.8, 0.2):
        sol, leaving = mirror_run(h, 15)
        E = sol.system.energy(sol.q, sol.system.velocity(sol.q, leaving))
        varied.append(np.ptp(E) / E[0])
    return "No" if varied[0] > 1e-6 else "Yes", {"worst": varied[0], "less": varied[1]}


def _bent_error(eps: float, rule: str = "cayley", kind: str = "neither") -> float:
    sol = integrate(bent_ball(kind, rule, eps), Projector(), h=0.2, steps=100)
    return max(spread(sol.energy()), np.finfo(float).eps)


def prediction_5() -> tuple[str | float, dict[str, Any]]:
    ball, little, whole = (_bent_error(eps) for eps in (0.0, 0.01, 1.0))
    numbers = {"ball": ball, "little": little, "whole": whole, "trace": _bent_error(0.5, "trace")}
    return float(np.log10(little / ball)), numbers


def prediction_6() -> tuple[str | float, dict[str, Any]]:
    suslov, gone = systems.suslov(), {}
    true = integrate(suslov, Reference(), h=0.05, steps=1200)
    for m in (DLA(), Projector()):
        sol = integrate(suslov, m, h=0.05, steps=1200)
        away = np.abs(sol.v_projected[:, 1] - true.v[:, 1]) > 0.3
        gone[type(m)] = sol.t[np.argmax(away)] if away.any() else None
    words = "Both leave", "DLA", "The projector", "Both stay"
    truth = either(gone[DLA] is not None, gone[Projector] is not None, *words)
    energy = spread(sol.energy()) / sol.energy()[0]
    return truth, {"leaves": gone[Projector] or np.nan, "energy": energy}


# ---------------------------------------------------------------------------- exercises


@takes(sized(3), "The answer is a vector in space: three numbers.")
def exercise_1(answer: Any) -> str | None:
    g, omega = SO3.exp([0, 0, np.pi / 2]), np.array([2.0, 0, 1])
    if near(answer, SO3.Ad(SO3.inverse(g), omega), 1e-6):
        return "You went from space to body. A vector of the body is carried to space by g."
    if near(answer, omega, 1e-6):
        return "These are the components in the body. Where do its axes point in space?"
    if not near(answer, SO3.Ad(g, omega), 1e-6):
        return "The body's e1 points along the e2 of space, its e2 along -e1, its e3 along e3."


@takes(callable, "The answer is a function: answer = mirror, without calling it.")
def exercise_2(answer: Any) -> str | None:
    rng = np.random.default_rng(4)
    for _ in range(3):
        B, p = rng.normal(size=(3, 3)), rng.normal(size=3)
        I = B @ B.T + np.eye(3)
        a = np.linalg.solve(I, [0, 0, 1])
        truth = p - 2 * np.array([0, 0, 1]) * (a @ p) / a[2]
        mine = np.asarray(answer(I, p), float)
        if near(mine, truth, 1e-9):
            continue
        if near(mine, p * [1, 1, -1], 1e-9):
            return "This changes the sign of p3, which is right for a diagonal I only."
        if near(mine, p - 2 * a * p[2] / a[2], 1e-9):
            return "You reflect a velocity: the jump of a momentum is along A^T, not I^-1 A^T."
        if near(mine, (truth + p) / 2, 1e-9):
            return "This is the part P^T p in the plane. The other part is not dropped, it turns."
        return f"For p = {p.round(2)} the mirror image is {truth.round(3)}, yours {mine.round(3)}."


@some_of(
    RUNS,
    '{"ball, DLA", "suslov, trace"}',
    "Still missing: {}. Theorem 1 is not the only reason to keep the energy.",
    unknown=f"{{!r}} is not in the list; choose from {list(RUNS)}.",
)
def exercise_3(name: Any) -> str | None:
    make, rule, method = RUNS[name]
    if np.ptp(integrate(make(rule=rule), method, h=0.2, steps=60).energy()) >= 1e-12:
        return f"The run {name!r} does not keep the energy: make it and look."


def exercise_4(answer: Any) -> str | None:
    ends = []
    for h in (0.05, 0.025):
        sol = integrate(systems.suslov(), Projector(), h=h, steps=round(40 / h), progress=False)
        ends.append(sol.t[np.argmax(zigzag(sol) > 0.1)])
    if near(answer, (ends[1] - ends[0]) * 2 / 3, 0.05):
        return "That is ln(4)/g. Look at the printed products: how do they scale with h?"
    if not near(answer, ends[1] - ends[0], 0.05):
        return """Write the size of the zigzag as C h^r exp(g t); the products give r, the formula
            for g the rate at the last rotation. Then (h/2)^r exp(g (t + T)) = h^r exp(g t)."""
