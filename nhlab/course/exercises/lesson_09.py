"""Exercises of lesson 09: your own system."""

import numpy as np
import sympy as sp

from ...mechanics.system import System, symbols
from . import near


def e1(answer):
    """The wheel's centre has the velocity of (x, y) and b theta' across the frame; of both only the
    part across the wheel counts, and that is where cos(delta) comes from."""
    names = "vx vy vtheta theta delta b"
    given = {s.name: s for s in sp.sympify(answer).free_symbols}
    if not given or set(given) - set(names.split()):
        return f"Write one expression in {', '.join(names.split())}."
    vx, vy, vtheta, theta, delta, b = symbols(names)
    right = -vx * sp.sin(theta + delta) + vy * sp.cos(theta + delta) + b * vtheta * sp.cos(delta)
    yours = sp.sympify(answer).subs({given[k]: symbols(k) for k in given})
    mine, theirs = (_row(e, (vx, vy, vtheta), (theta, delta, b)) for e in (right, yours))
    if all(np.linalg.matrix_rank(pair, 1e-9) == 1 for pair in np.stack([mine, theirs], 1)):
        return None
    if np.allclose(theirs[:, 2], 0):
        return """The wheel sits the distance b ahead: its centre moves sideways when the frame
            turns."""
    skew = (mine[:, 0] * theirs[:, 1] - mine[:, 1] * theirs[:, 0]) / np.abs(theirs).max()
    if np.abs(skew).max() > 1e-9:
        return "Look at vx and vy first: the wheel does not slip across *its own* heading."
    return "vx and vy are right. Which part of b theta' points across the wheel, not the frame?"


def _row(e, v, places):
    """The coefficients of the velocities at a few points; they must determine e."""
    rows = [e.diff(u) for u in v]
    if sp.simplify(e - sum(r * u for r, u in zip(rows, v, strict=True))) != 0:
        raise ValueError("the expression is not linear in vx, vy, vtheta")
    f = sp.lambdify(places, rows)
    points = np.random.default_rng(3).uniform(0.3, 1.2, (4, len(places)))
    return np.array([np.array(f(*p), float) for p in points])


def e2(answer):
    """The forward momentum can only grow, the turning dies out, and what is left of the energy
    k psi0^2 / 2 of the spring is m u^2 / 2: a spring gun whose barrel is a constraint."""
    k, m, psi0 = 4.0, 2.0, 1.5
    if near(abs(float(answer)), np.sqrt(k / m) * psi0, 5e-3):
        return None if answer > 0 else "The size is right. Which way does m u' = m a w^2 push?"
    return "At the end the cart runs straight and the rotor is at rest: where is the energy?"


def e3(answer):
    """One line for each: kinetic energy, spring, wheel. Now run it from anywhere in D."""
    if not isinstance(answer, System) or len(answer.q) != 3 or len(answer.constraints) != 1:
        return "Give a System with the coordinates (x, y, theta) and one constraint."
    x, y, theta, vx, vy, vtheta = symbols("x y theta vx vy vtheta")
    L = vx**2 + vy**2 + 0.25 * vtheta**2 - 1.5 * (x**2 + y**2)
    true = System((x, y, theta), (vx, vy, vtheta), L, [-vx * sp.sin(theta) + vy * sp.cos(theta)])
    q = np.random.default_rng(4).uniform(-1, 1, (6, 3))
    v = true.project(q, np.ones((6, 3)))
    if np.abs(np.einsum("kai,ki->ka", answer.A(q), v)).max() > 1e-9:
        return "The constraint differs: a skate at heading theta may move along (cos, sin) only."
    if not np.allclose(answer.M(q), true.M(q)):
        return "The kinetic energy differs: m (x'^2 + y'^2)/2 + I theta'^2/2 with m = 2, I = 0.5."
    if not np.allclose(answer.acceleration(q, v), true.acceleration(q, v)):
        return "The potential differs: a spring of stiffness k = 3 from the origin to (x, y)."


def e4(answer):
    """Forward speed u gives everything: theta' = u tan(phi)/l and psi' = u sin(theta - psi)/d."""
    u, theta, phi, psi, l, d = 2.0, 0.0, 0.3, 0.5, 1.0, 1.5
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return "Five numbers, for x, y, theta, phi, psi."
    if not near(answer[:2], [u, 0.0], 1e-3) or abs(answer[3]) > 1e-9:
        return "The rear axle moves along the heading theta = 0, and the steering is at rest."
    if not near(answer[2], u * np.tan(phi) / l, 1e-3):
        return "theta' follows from the front wheels: u sin(phi) = l theta' cos(phi)."
    if not near(answer[4], u * np.sin(theta - psi) / d, 1e-3):
        return "psi' follows from the trailer: u sin(theta - psi) = d psi'. Mind the sign."


def e5(answer):
    """The wrong L is a good Lagrangian of another machine: its energy is constant, its units are
    right, it is invariant, its runs converge. Only a second derivation knows which you meant."""
    known = {
        "energy": "Any autonomous L keeps its own energy.",
        "constraint": "The constraint was not changed.",
        "units": "Both have the unit kg m^2/s^2.",
        "symmetry": "Angles relative to the body do not change under SE(2).",
        "order": "The method converges to the motion of whatever L it is given.",
        "second derivation": None,
    }
    choice = str(answer).strip().lower().replace("a second", "second")
    return known.get(choice, f"Choose one of {[*known]}.")
