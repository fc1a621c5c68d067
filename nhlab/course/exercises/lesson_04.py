"""Exercises of lesson 04: integrators on Lie groups."""

import numpy as np

from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...methods import DLA, Projector
from ...run.loop import integrate
from . import choice, near, shape, takes

RUNS = {
    "ball, DLA": (systems.ball, "cayley", DLA()),
    "ball, log": (systems.ball, "log", Projector()),
    "suslov, cayley": (systems.suslov, "cayley", Projector()),
    "suslov, trace": (systems.suslov, "trace", Projector()),
    "sleigh_se2, cayley": (systems.sleigh_se2, "cayley", Projector()),
}


@takes(shape(3), "The answer is a vector in space: three numbers.")
def e1(answer):
    """The quarter turn carries the body's e1 to the e2 of space: Ad_g omega. Turning the world
    changes this vector and leaves omega alone; turning the body does the opposite."""
    g, omega = SO3.exp([0, 0, np.pi / 2]), np.array([2.0, 0, 1])
    if near(answer, SO3.Ad(SO3.inverse(g), omega), 1e-6):
        return "You went from space to body. A vector of the body is carried to space by g."
    if near(answer, omega, 1e-6):
        return "These are the components in the body. Where do its axes point in space?"
    if not near(answer, SO3.Ad(g, omega), 1e-6):
        return "The body's e1 points along the e2 of space, its e2 along -e1, its e3 along e3."


@takes(callable, "The answer is a function: answer = mirror, without calling it.")
def e2(answer):
    """p - 2 A^T (A I^-1 p)/(A I^-1 A^T): the jump is along A^T = e3, its size is measured with the
    metric. Without off-diagonal terms I^-1 e3 is along e3 and the mirror is the ordinary one."""
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
            return "This changes the sign of p3; right for a diagonal I only."
        if near(mine, p - 2 * a * p[2] / a[2], 1e-9):
            return "You reflect a velocity: the jump of a momentum is along A^T, not I^-1 A^T."
        if near(mine, (truth + p) / 2, 1e-9):
            return "This is the part P* p in the plane. The other part is not dropped, it turns."
        return f"For p = {p.round(2)} the mirror image is {truth.round(3)}, yours {mine.round(3)}."


@choice(
    RUNS,
    '{"ball, DLA", "suslov, trace"}',
    "Still missing: {}. Theorem 1 is not the only reason.",
    unknown=f"{{!r}} is not in the list; choose from {list(RUNS)}.",
)
def e3(name):
    """The theorem covers the ball, under every rule. The other two keep H(Ad*_W p) = H(p) for the
    momenta that occur: the trace rule for every inertia, the plane body because it has one mass."""
    make, rule, method = RUNS[name]
    if np.ptp(integrate(make(rule=rule), method, h=0.2, steps=60).energy()) >= 1e-12:
        return f"Run {name!r} and look: it does not."


def e4(answer):
    """The zigzag starts with the size h^3 and grows like exp(g t): h/2 gains ln(8)/g, however small
    h is already. A smaller step buys time, but does not cure the run."""
    ends = []
    for h in (0.05, 0.025):
        sol = integrate(systems.suslov(), Projector(), h=h, steps=round(40 / h), progress=False)
        zigzag = np.abs(np.diff(sol.constraint()[:, 0])) / 2
        ends.append(sol.t[np.argmax(zigzag > 0.1)])
    if near(answer, (ends[1] - ends[0]) * 2 / 3, 0.05):
        return "That is ln(4)/g. Look at the printed products: how do they scale with h?"
    if not near(answer, ends[1] - ends[0], 0.05):
        return """Write the size of the zigzag as C h^r exp(g t); the products give r, the formula
            for g the rate at the last rotation. Then (h/2)^r exp(g (t + T)) = h^r exp(g t)."""
