"""Lesson 03: a velocity that is reflected, the jumps of a skate's momentum, a step to write, and
what its predictions measure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from matplotlib.axes import Axes

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Projector, Reference
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view.panel import Panel
from ..colours import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE
from ..exercises import sized, some_of, takes, told, unfinished
from ..kit import RIGHT, ahead, circle, drawn, frame, joined, new_board
from ..predict import either
from ..statements import bent_arrows


def heavy_particle() -> System:
    """The free particle of FIM08 example 1 whose motion along z has a mass of its own."""
    x, y, z, vx, vy, vz, m = symbols("x y z vx vy vz mz")
    q, v, L = (x, y, z), (vx, vy, vz), (vx**2 + vy**2 + m * vz**2) / 2
    return System(q, v, L, [vz - y * vx], parameters={m: 1.0}, name="heavy particle")


def mirrored(system: System, y: float, angle: float) -> tuple[np.ndarray, ...]:
    """At height y: a velocity of energy 1/2 in the plane of vx and vz, and its mirror image."""
    q, a = np.array([0, y, 0]), np.deg2rad(angle)
    v = np.array([np.cos(a), 0, np.sin(a)])
    v /= np.sqrt(v @ system.M(q) @ v)
    return q, v, (system.P(q) - system.Q(q)) @ v


def reflection_panel(
    y: tuple[float, ...] = (-2.0, 2.0, 1.0),
    angle: tuple[float, ...] = (-180, 180, 10),
    mz: tuple[float, ...] = (0.25, 4.0, 1.0),
) -> Panel:
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
        mass of the motion along z, which changes what is at right angles to D.
        """
        s = system.set(mz=mz)
        q, v, w = mirrored(s, y, angle)
        u, A = (v + w) / 2, s.A(q)[0]
        n = np.linalg.solve(s.M(q), A)
        board.curve(*(circle(181) / [1, np.sqrt(mz)]).T, color=GREY, label="equal energy")
        board.curve([-4, 4], [-4 * y, 4 * y], color=DARK, label="$D$")
        board.curve(*np.outer(n[::2], [-9, 9]), color=DARK, linestyle=":", label=r"$D^\perp$")
        board.curve([0, u[0]], [0, u[2]], color=GREEN, linewidth=3.2, label="$Pv$")
        board.curve([u[0], v[0]], [u[2], v[2]], color=PURPLE, linewidth=3.2, label="$Qv$")
        board.arrow((0, 0), v[::2], BLUE, label="arriving $v$")
        board.arrow((0, 0), w[::2], ORANGE, label="leaving $(P-Q)v$")
        board.say("A v arriving, leaving", f"{A @ v:+.3f}, {A @ w:+.3f}")
        board.say("of the average", f"{abs(A @ (v + w)) / 2:.0e}")
        board.say("energies", f"{s.energy(q, v):.3f}, {s.energy(q, w):.3f}")

    return board.panel(update, y=y, angle=angle, mz=mz)


def skate_run(
    steps: int, turn: float = 0.9, T: float = 3.2, theta: float = 0.2
) -> tuple[Trajectory, np.ndarray]:
    """A skate (sleigh with a = 0), and by how much its momentum turns at the inner nodes."""
    v0 = [np.cos(theta), np.sin(theta), turn]
    sol = integrate(systems.sleigh(a=0.0), Projector(), [0, 0, theta], v0, h=T / steps, steps=steps)
    (x, y), (u, w) = sol.p[1:-1, :2].T, sol.p_minus[1:, :2].T
    return sol, np.arctan2(x * w - y * u, x * u + y * w)


def jump_panel(
    steps: tuple[float, ...] = (4, 12, 4),
    turn: tuple[float, ...] = (0.2, 1.5, 0.9),
    T: float = 3.2,
    length: float = 0.62,
) -> Panel:
    """FIM08 Fig. 1 computed: the skate and the momenta at its inner nodes."""
    board, ax = new_board((6.8, 4.9))
    frame(ax, "$x$", "$y$", (-1.5, 3.4), (-0.6, 2.8), aspect="equal")
    board.legend(ncols=3)

    def update(steps, turn):
        """A polygon of nodes; at each inner node two arrows, mirror images of each other in the
        dotted direction of the blade.

        A skate during t = {T:g}, in the chosen number of steps. Dotted: the direction of the blade
        at each node. Dashed, at the first step: what leaves a node is carried on to the next, and
        is reflected there.
        """
        sol, jump = skate_run(steps, turn, T)
        h, at, theta = T / steps, sol.q[1:-1, :2], sol.q[1:-1, 2]
        arriving, leaving = sol.p[1:-1, :2], sol.p_minus[1:, :2]
        blades = np.stack([ahead(at, theta, -length), ahead(at, theta, length)], 1)
        board.curve(*sol.q[:, :2].T, color=GREY, marker="o", mfc=DARK, mec=DARK)
        board.curve(*joined(blades).T, color=DARK, linestyle=":", label="along the blade")
        first, last = sol.q[0, :2], sol.q[-1, :2]
        tip = first + length * sol.p_minus[0, :2]
        tips = at[0] + length * arriving[0], at[0] + length * leaving[0]
        carried, mirrored = (
            bent_arrows([tip], tips[:1], -0.22),
            bent_arrows([tips[0]], tips[1:], -0.2),
        )
        board.curve(*carried, color=DARK, linestyle="--", label="carried on")
        board.curve(*mirrored, color=DARK, label="reflected")
        board.arrow(first, tip, ORANGE, width=1.8)
        board.arrow(last, last + length * sol.p[-1, :2], BLUE, width=1.8)
        for x, p, p_minus in zip(at, arriving, leaving, strict=True):
            board.arrow(x, x + length * p, BLUE, label="arriving $p^+$", width=1.8)
            board.arrow(x, x + length * p_minus, ORANGE, label="leaving $p^-$", width=1.8)
        board.say("h =", f"{h:.2f}")
        board.say("jump of the direction (rad)", f"{np.abs(jump).max():.3f}")
        board.say("h times turn rate", f"{turn * h:.3f}")
        board.say("A v of the average", f"{np.abs(sol.constraint('average')).max():.0e}")

    return board.panel(update, update.__doc__.format(T=T), steps=steps, turn=turn)


def sleigh_run(method: Method, h: float = 0.1, T: float = 200.0) -> Trajectory:
    """The sleigh, pushed backwards with a slight turn, computed up to T."""
    return integrate(systems.sleigh(), method, h=h, steps=round(T / h), progress=False)


def forward_speed(sol: Trajectory) -> np.ndarray:
    """The speed of a sleigh along its blade, (N+1,); negative when it goes backwards."""
    theta, v = sol.q[:, 2], sol.v_projected
    return v[:, 0] * np.cos(theta) + v[:, 1] * np.sin(theta)


@drawn(5.6, 3.6)
def beside(ax: Axes, step: Callable, sol: Trajectory) -> None:
    """The nodes of ``sol``, a run of the free particle, and those of the reader's own step."""
    q = [sol.q[0], sol.q[1]]
    if not unfinished(step):
        with suppress(Exception):  # the check beside the picture says what is wrong
            while len(q) < len(sol.q):
                q.append(np.asarray(step(q[-2], q[-1]), float).reshape(3))
    ax.plot(*sol.q[:, ::2].T, "o", color=GREY, markersize=10, label="nh.Projector()")
    ax.plot(*np.array(q)[:, ::2].T, ".-", color=BLUE, label="your step")
    ax.set(xlabel="$x$", ylabel="$z$")
    ax.legend(frameon=False)
    return f"The free particle, h = {sol.h[0]}: the library's nodes and {len(q) - 2} of yours."


def prediction_1() -> tuple[str, dict[str, float]]:
    sol = sleigh_run(Reference(), h=1.0, T=60)
    u, turn = forward_speed(sol), abs(sol.v[-1, 2])
    truth = "It goes round" if turn > 0.1 else "It turns round" if u[-1] > 0 else "It goes on"
    return truth, {"first": u[0], "last": u[-1], "turn": turn}


def prediction_2() -> tuple[str, dict[str, float]]:
    E = []
    for mz in (1.0, 4.0):
        system = heavy_particle().set(mz=mz)
        q, *velocities = mirrored(system, 1.0, 10)
        E += [system.energy(q, v) for v in velocities]
    light, heavy = np.isclose(*E[:2]), np.isclose(*E[2:])
    same = "It stays the same, whatever" if heavy else "It stays the same only"
    return same if light else "It falls", dict(zip("abcd", E, strict=True))


def prediction_3() -> tuple[str, dict[str, float]]:
    coarse, fine = (skate_run(steps)[1] for steps in (4, 8))
    blade, less = coarse[:2].mean(), fine[:2].mean()
    truth = {1: "It stays", 2: "It becomes about half", 4: "It becomes about a quarter"}[
        round(blade / less)
    ]
    numbers = dict(zip(("a", "b", "a2"), coarse, strict=True)) | {"blade": blade, "less": less}
    return truth, numbers | {"coarse": np.ptp(coarse), "fine": np.ptp(fine)}


def prediction_4() -> tuple[str, dict[str, float]]:
    start = {"q0": [0, 1, 0], "v0": [1, -1, 1], "h": 0.1, "steps": 100}
    runs = [integrate(systems.free_particle(), m, **start) for m in (DLA(), Projector())]
    dla, projector = (np.ptp(sol.energy()) for sol in runs)
    truth = either(dla < 1e-12, projector < 1e-12, "Both", "DLA", "The projector", "Neither")
    ends, held = (sol.energy()[-1] for sol in runs)
    return truth, {"dla": dla, "projector": projector, "held": held, "ends": ends}


def prediction_5() -> tuple[str, dict[str, float]]:
    sol = integrate(systems.free_particle(), Projector(), [0, 1, 0], [1, -1, 1], h=0.1, steps=100)
    E = sol.energy("projected")
    truth = "Constant" if E[0] < sol.energy()[0] else "As constant"
    truth = "It varies" if np.ptp(E) > 1e-12 else truth
    return truth, {"missed": np.abs(sol.constraint()).max(), "varies": np.ptp(E)}


def prediction_6() -> tuple[str, dict[str, float]]:
    sol = sleigh_run(Projector())
    u, theta = forward_speed(sol), sol.q[:, 2]
    line, settled = (sol.t >= 80) & (sol.t <= 150), sol.t >= 50
    at_150 = np.argmax(sol.t >= 150)
    stop = np.argmax(settled & (u < 0))
    numbers = {"ahead": u[800], "back": u[at_150], "turn": np.ptp(theta[line])}
    ahead = "It stops" if u[at_150] < 0 else "It glides"
    truth = "It slows" if abs(u[at_150]) < 0.1 * u[800] else ahead
    truth = "It leaves" if numbers["turn"] > 0.3 else truth
    leaves = np.argmax((sol.t > 150) & (np.abs(theta - theta[at_150]) > 0.3))
    numbers |= {"stop": sol.t[stop], "round": sol.t[leaves]}
    numbers["spread"] = np.ptp(sol.energy()[settled & (sol.t <= 150)])
    return truth, numbers | {"normal": np.abs(sol.constraint()[stop, 0])}


@takes(sized(3), "The answer is a momentum: three numbers.")
def exercise_1(answer: object) -> str | None:
    s, q, p = systems.free_particle(), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    P, Q = s.P(q), s.Q(q)
    tangent, normal, A = P.T @ p, Q.T @ p, s.A(q)[0]
    mistakes = [
        (
            tangent,
            "This is P^T p, the part in D, alone. The normal part is not dropped: it changes sign.",
        ),
        (normal - tangent, "The mirror is the wrong way round: the part in D stays as it is."),
        (normal, "This is the normal part of p alone, Q^T p. The part in D belongs to it as well."),
        (-normal, "The normal part is turned round; the part of p in D, which stays, is missing."),
        (p, "This is p+ itself: it is not allowed at y = 1, so there is a kick."),
        (-p, "All of p is turned round. The part in D goes on as it came."),
        (
            p + 2 * normal,
            "The kick has the wrong sign: it makes the normal part three times as large.",
        ),
        (p - 2 * A * (A @ p), "A is not of length 1: the part of p along A is A (A p)/(A A)."),
    ]
    otherwise = """A = (-1, 0, 1) at y = 1. Split p into a part along A and a part at right angles
        to it, and turn the first round."""
    return told(answer, tangent - normal, mistakes, otherwise)


@takes(callable, "The answer is a function: answer = step, without calling it.")
def exercise_2(answer: object) -> str | None:
    s = systems.free_particle()
    q = integrate(s, Projector(), h=0.3, steps=8).q
    for a, b, c in zip(q, q[1:], q[2:], strict=False):
        mine = answer(a, b)
        if mine is ...:
            return "There are gaps left: tangent, normal and what is returned."
        mine = np.asarray(mine, float)
        if mine.shape != c.shape:
            return f"""Your q2 has the shape {mine.shape}, but a node is three numbers. The product
                of a matrix and a vector is P @ d; P * d multiplies entry by entry."""
        at = f"From {a.round(2)} and {b.round(2)} your q2 is {mine.round(3)}, the method's is"
        if said := told(mine, c, _mistakes(s, a, b), f"{at} {c.round(3)}.", 1e-8):
            return said


def _mistakes(s, a, b):
    """Where the usual mistakes in a step of the projector method lead, and what is said."""
    d, at_q0, half = b - a, s.P(a) - s.Q(a), (a + b) / 2
    P, mirror = s.P(b), s.P(b) - s.Q(b)
    half_way = s.P(half) - s.Q(half)
    round_ = "The mirror is the wrong way round: the tangent part stays, the normal one turns."
    flight = "Tangent plus normal part is d again: this is a free flight. Turn one of them round."
    return [
        (b + P @ d, "You project: the normal part is dropped. It has to be reflected."),
        (b + at_q0 @ d, "The mirror stands at q1, where the two steps meet; you reflect at q0."),
        (b + s.P(a) @ d, "You project, and at q0. Reflect the normal part, at q1."),
        (b + half_way @ d, "The mirror stands at the node q1, not half-way to it."),
        (b - mirror @ d, round_),
        (b + d, flight),
        (mirror @ d, "This is the step q2 - q1. Add q1."),
        (a + mirror @ d, "The new step begins at q1, not at q0."),
    ]


@some_of(
    ["rolling_disk", "knife_edge", "robot", "sleigh", "contact_oscillator"],
    '{"sleigh", "robot"}',
    """Still missing: {}. V need not vanish and D may be anything;
    look only at M and at the degree of V.""",
)
def exercise_3(name: str) -> str | None:
    E = integrate(systems.catalogue[name](), Projector(), h=0.2, steps=50).energy()
    if np.ptp(E) >= 1e-11:
        return f"Run {name} and look: it does not. Is M constant? What degree has V?"
