"""Exercises of lesson 03, the projector method."""

import numpy as np

from ...mechanics import catalogue as systems
from ...methods import Projector
from ...run.loop import integrate
from . import choice, near, shape, takes

NAMES = ("rolling_disk", "knife_edge", "robot", "sleigh", "contact_oscillator")


@takes(shape(3), "The answer is a momentum: three numbers.")
def e1(answer):
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
def e2(answer):
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


@choice(
    NAMES,
    '{"sleigh", "robot"}',
    """Still missing: {}. V need not vanish and D may be anything;
    look only at M and at the degree of V.""",
)
def e3(name):
    """Constant M and a potential of degree at most two: the midpoint rule keeps the energy between
    the nodes and the mirror keeps it at the nodes. The knife edge has a linear potential."""
    E = integrate(systems.catalogue[name](), Projector(), h=0.2, steps=50).energy()
    if np.ptp(E) >= 1e-11:
        return f"Run {name} and look: it does not. Is M constant? What degree has V?"


def e4(answer):
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
