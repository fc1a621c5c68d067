"""Lesson 02 in depth: checks of CM01 (6), the robot, matrix (7), leaves and vakonomic motions."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ...geometry.diagnostics import action, order
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Reference
from ...methods.method import Method
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view.panel import Panel
from ..colours import DARK
from ..kit import frame, new_board


def left_sides(
    q0: np.ndarray, q1: np.ndarray, q2: np.ndarray, h: float, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """The left sides of CM01 (6) for the particle, its Ld written out and differentiated by complex
    steps."""

    def Ld(q0, q1):
        q, v = (1 - alpha) * q0 + alpha * q1, (q1 - q0) / h
        return h * ((v**2).sum(-1) / 2 - q[..., 0] ** 2 - q[..., 1] ** 2)

    i = 1e-30j * np.eye(3)[:, None]
    D1Ld, D2Ld = (x.imag.T / 1e-30 for x in (Ld(q1 + i, q2), Ld(q0, q1 + i)))
    y, v = (1 - alpha) * q1[:, 1] + alpha * q2[:, 1], (q2 - q1) / h
    return D1Ld + D2Ld, v[:, 2] - y * v[:, 0]


def residuals(sol: Trajectory) -> tuple[float, float]:
    """By how much a run of the particle misses the two equations of CM01 (6), at most."""
    m, nodes = sol.method, (sol.q[:-2], sol.q[1:-1], sol.q[2:])
    alphas = (m.alpha, 1 - m.alpha)[: 1 + m.symmetric]
    both = [left_sides(*nodes, sol.h[0], alpha) for alpha in alphas]
    sums, wd = (np.mean(part, axis=0) for part in zip(*both, strict=True))
    kick = sol.system.A(nodes[1])[:, 0] * sol.lam[1:]
    return np.abs(sums - kick).max(), np.abs(wd).max()


def swing(method: Method, h: float = 0.2, T: float = 30.0) -> tuple[np.ndarray, ...]:
    """A run of the robot read by steps: times, angle psi, rolling speed and energy."""
    sol = integrate(systems.robot(), method, h=h, steps=round(T / h))
    q, v = (sol.q[1:] + sol.q[:-1]) / 2, np.diff(sol.q, axis=0) / h
    return sol.t[1:] - h / 2, q[:, 3], np.abs(v[:, 3]), sol.system.energy(q, v)


def in_chart(to_old: Callable, to_new: Callable, h: float) -> float:
    """Ld/h of an exact step of the knife edge, by the midpoint rule in coordinates u.

    ``to_old`` makes (x, y, phi) of u, in symbols; ``to_new`` goes back, with numbers.
    """
    edge, u, du = systems.knife_edge(), symbols("u1:4"), symbols("w1:4")
    q, nodes = sp.Matrix(to_old(*u)), integrate(edge, Reference(), h=h, steps=1).q
    both = dict(zip((*edge.q, *edge.v), (*q, *(q.jacobian(u) * sp.Matrix(du))), strict=True))
    chart = System(u, du, edge.L.subs(both, simultaneous=True), parameters=edge.parameters)
    return action(chart, DLA(), [0, h], [to_new(*x) for x in nodes]) / h


def step_in_Dd(system: System, q: np.ndarray, move: np.ndarray) -> np.ndarray:
    """The point q + move + (0, 0, dz) that the midpoint w_d joins to q."""

    def wd(dz: float) -> float:
        ahead = q + move + [0, 0, dz]
        return float((system.A((q + ahead) / 2) @ (ahead - q))[0])

    reach = 2 * np.abs(move).max()
    return q + move + [0, 0, brentq(wd, -reach, reach, xtol=1e-15)]


def around_square(system: System, q: np.ndarray, side: float) -> float:
    """The height gained by four steps of D_d around a square over the plane of x and y.

    If D is integrable the square closes, since D_d joins only points of one leaf.
    """
    begun = q = np.asarray(q, float)
    for move in side * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]):
        q = step_in_Dd(system, q, move)
    return float(q[2] - begun[2])


def curvature(system: System) -> list[sp.Matrix]:
    """The exterior derivative of each constraint one-form: C[i, j] = dA_i/dq_j - dA_j/dq_i."""
    n, q = len(system.q), system.q
    rows = [[w.diff(u) for u in system.v] for w in system.constraints]
    return [sp.Matrix(n, n, lambda i, j, A=A: A[i].diff(q[j]) - A[j].diff(q[i])) for A in rows]


def vakonomic(system: System, mu0: list[float], T: float, steps: int) -> np.ndarray:
    r"""The vakonomic motion from the start of ``system`` with the multipliers mu0: rows (q, v, mu).

    It makes the action stationary among the curves that obey A v = 0:

    .. math:: \frac{d}{dt}L_v - L_q = A^T\dot\mu + \mu_a C^a v, \qquad A v = 0

    These are d'Alembert's equations with the force mu_a C^a v, and lambda is the rate of mu.
    """
    n, mu = len(system.q), symbols([f"mu_{a}" for a in range(len(mu0))])
    turned = [m * C for m, C in zip(mu, curvature(system), strict=True)]
    force = sum(turned, sp.zeros(n)) * sp.Matrix(system.v)
    values = {**system.parameters, **dict.fromkeys(mu, 0.0)}
    pushed = system.replace(forces=list(force), parameters=values)

    def motion(t: float, state: np.ndarray) -> np.ndarray:
        q, v, now = np.split(state, [n, 2 * n])
        here = pushed.set(**{str(m): x for m, x in zip(mu, now, strict=True)})
        return np.concatenate([v, here.acceleration(q, v), here.multipliers(q, v)])

    start = np.concatenate([system.q0, system.v0, mu0])
    tight = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}
    return solve_ivp(motion, (0, T), start, t_eval=np.linspace(0, T, steps + 1), **tight).y.T


def mean_momentum_miss(sol) -> np.ndarray:
    """By how much the mean of arriving and leaving momentum misses A v = 0, at each node."""
    q, p = sol.q[:-1], (sol.p[:-1] + sol.p_minus) / 2  # at the first node p0 was given
    v = sol.system.velocity(q, p)
    return np.abs(np.einsum("kai,ki->ka", sol.system.A(q), v)).max(1)


def pendulum_energy(sol) -> np.ndarray:
    """The energy of the transmission's pendulum y alone, at the nodes."""
    (eps,) = sol.system.parameters.values()
    y, rate = sol.q[:, 1], sol.v[:, 1]
    return rate**2 / 2 - np.cos(y) + eps * np.sin(2 * y)


def pivots(sol: Trajectory) -> np.ndarray:
    """What matrix (7) of the particle is singular with: 1 + y_k y_(k+1/2) / (1 + h^2/2)."""
    y, h = sol.q[:-1, 1], sol.h
    return 1 + y * (y + h / 2 * sol.v_step[:, 1]) / (1 + h**2 / 2)


def from_height(
    particle: System, y: float, h: float, T: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """DLA from the height y: times, determinants, factors of the energy, and why it stopped."""
    stop = ""
    try:
        with warnings.catch_warnings():  # that the energy grows is the lesson
            warnings.simplefilter("ignore")
            sol = integrate(particle, DLA(), [0, y, 0], [1, 0, y], h=h, steps=round(T / h))
    except IntegrationError as error:
        sol, stop = error.trajectory, str(error)
    E = sol.energy("midpoints")
    return sol.t, pivots(sol), E / E[0], stop


def regularity_panel(
    particle: System,
    h: tuple[float, ...] = (0.1, 0.5, 0.2, 0.01),
    y: tuple[float, ...] = (1.0, 8.0, 1.2, 0.1),
    T: float = 60.0,
) -> Panel:
    """The determinant of matrix (7), scaled, and the energy along a run that starts at height y."""
    margins = (0.13, 0.13, 0.97, 0.96, None, 0.2)
    board, upper, lower = new_board((7.6, 5.0), 2, 1, margins, sharex=True)
    frame(upper, "", "determinant of (7),\nscaled")
    frame(lower, "time $t$", r"$\log_{10}(E_d / E_d(0))$")
    upper.axhline(0, color=DARK, linewidth=1)

    def update(h, y):
        """The scaled determinant of matrix (7) at each step, and the energy below it.

        The particle starts at (0, y, 0) with velocity (1, 0, y). Above: the determinant of (7),
        scaled so that it tends to 1 + y² as h goes to 0. Below: powers of ten of the discrete
        energy.
        """
        t, det, grown, stop = from_height(particle, y, h, T)
        board.run(DLA(), t[:-1], det, upper, marker=".", markersize=4, label="")
        board.run(DLA(), t[1:], np.log10(grown), lower, label="")
        board.hold(upper, [0, T], [0])
        board.hold(lower, [0, T], [-0.2, 0.2])
        board.say("error", stop)
        board.say("smallest determinant", f"{det.min():.3f}")
        board.say("energy grows by", f"{grown.max():.3g}")

    return board.panel(update, h=h, y=y)


def prediction_1() -> tuple[str, dict[str, float]]:
    _, _, speed, E = swing(DLA())
    robot = systems.robot()
    true = float(robot.energy(robot.q0, robot.v0))
    error = np.abs(E - true)
    fast, slow = (error[x].mean() for x in (speed > 0.9 * speed.max(), speed < 0.3 * speed.max()))
    truth = "Where" if fast > 1.5 * slow else "At the" if slow > 1.5 * fast else "Everywhere"
    return truth, {"low": E.min(), "true": true, "exact": swing(Reference())[3].min()}


def prediction_2() -> tuple[str, dict[str, float]]:
    (_, det, grown, _), (_, _, less, _) = (
        from_height(systems.particle(), 8, h, T=60.0) for h in (0.25, 0.2)
    )
    grows = grown.max()
    truth = "It keeps" if grows < 1.5 else "It grows" if grows > 1000 else "It doubles"
    return truth, {"det": det.min(), "grows": grows, "less": less.max()}


def exercise_2(answer: object) -> str | None:
    h, y = 1.0, 2.0
    ym = y + h / 2 * (float(answer) - h * y) / (1 + h**2 / 2)
    pivot = 1 + h**2 / 2 + y * ym
    if not abs(pivot) < 1e-6:
        return f"""With this p_y the midpoint is ym = {ym:.4g}, and 1 + h²/2 + y ym, the denominator
            of vx, is {pivot:.4g}, not 0."""


def exercise_1(answer: object) -> str | None:
    methods = (DLA(), DLA(alpha=0.3), DLA(alpha=0.3, symmetric=True), DLA(constraint_alpha=0))
    answer = list(answer)
    if len(answer) != 4:
        return "Give four numbers, in the order of the list."
    for m, said in zip(methods, answer, strict=True):
        if said != round(order(systems.robot(), m, T=1, hs=[0.1, 0.05, 0.025]).slope):
            return f"Look again at {m!r}; nh.diagnostics.order measures it."
