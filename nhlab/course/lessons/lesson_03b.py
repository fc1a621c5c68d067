"""Lesson 03 in depth: the equations of FIM08 at the nodes, its snakeboard and that of the preprint,
the constrained connection, and errors of the sleigh."""

from __future__ import annotations

import numpy as np
import sympy as sp

from ...mechanics import catalogue as systems
from ...mechanics.system import System
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ..figures import PRINTED_START
from ..figures import sleigh_errors as errors
from ..figures import sleigh_ratios as sleigh_ratios


def residuals(sol: Trajectory) -> dict[str, np.ndarray]:
    """By how much a run misses the equations of FIM08 at its inner nodes, by their numbers."""
    q, arrives, leaves = sol.q[1:-1], sol.p[1:-1], sol.p_minus[1:]
    P, Q, A = sol.system.P(q), sol.system.Q(q), sol.system.A(q)

    def dual(X: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.einsum("kij,ki->kj", X, p)  # X^T p at every node

    return {
        "(4a)": dual(P, arrives - leaves),
        "(4b)": dual(Q, arrives + leaves),
        "(5a)": arrives - leaves - dual(A, sol.lam[1:]),
        "(5b)": sol.constraint("average"),
        "(6)": leaves - dual(P - Q, arrives),
        "A v of p+": sol.constraint(),
    }


def printed(snakeboard: System) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix]:
    """D, its complement and Q as FIM08 prints them for the snakeboard, with a, b, c, J'."""
    J, _, J1, m, r = snakeboard.parameters
    _, _, theta, _, phi = snakeboard.q
    a, b, c = r * sp.cos(theta) * sp.cos(phi), r * sp.sin(theta) * sp.cos(phi), -sp.sin(phi)
    K = J + 2 * J1
    D = sp.Matrix([[a, b, c, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]).T
    normal = sp.Matrix([[K * c, 0, -m * a, 0, 0], [b, -a, 0, 0, 0]]).T
    rows = [
        [K * c**2 + m * b**2, -m * a * b, -K * a * c],
        [-m * a * b, K * c**2 + m * a**2, -K * b * c],
        [-m * a * c, -m * b * c, m * (a**2 + b**2)],
    ]
    return D, normal, sp.diag(sp.Matrix(rows) / (K * c**2 + m * (a**2 + b**2)), 0, 0)


def preprint_snakeboard(snakeboard: System, adapted: bool) -> System:
    """The snakeboard of FIM08's preprint, whose phi is measured from the x-axis.

    The preprint prints the Lagrangian of the journal for it, although phi has another meaning;
    ``adapted`` writes the same energy in the new angle, phi - theta in place of phi.
    """
    _, _, _, _, r = snakeboard.parameters  # in the order of their names
    _, _, theta, _, phi = snakeboard.q
    vx, vy, vtheta, _, vphi = snakeboard.v
    lever = r * vtheta * sp.cos(theta - phi)
    front = -vx * sp.sin(phi) + vy * sp.cos(phi) - lever
    rear = -vx * sp.sin(2 * theta - phi) + vy * sp.cos(2 * theta - phi) + lever
    L = snakeboard.L.xreplace({phi: phi - theta, vphi: vphi - vtheta}) if adapted else snakeboard.L
    return snakeboard.replace(
        L=L, constraints=[front, rear], name="snakeboard, phi from the x-axis"
    )


def from_x_axis(q: np.ndarray) -> np.ndarray:
    """Positions or velocities of the snakeboard with phi measured from the x-axis: theta + phi."""
    turned = np.array(q, float)
    turned[..., 4] += turned[..., 2]
    return turned


def connection_acceleration(system: System) -> sp.Matrix:
    r"""q'' by the constrained connection of FIM08 section 2, as formulas in q and v.

    .. math:: \ddot q = -\Gamma(v, v) - (\nabla_v Q)\,v - P\operatorname{grad}V ,\quad v\in D,

    with the Christoffel symbols Gamma of M, and (nabla_v Q) v = dQ/dt v + Gamma(v, Q v)
    - Q Gamma(v, v).
    """
    S, q, v = system.symbolic, system.q, sp.Matrix(system.v)
    M, n = sp.Matrix(S.M), range(len(q))
    A = sp.Matrix(len(S.A), len(q), [e for row in S.A for e in row])
    inverse = M.inv()

    def Gamma(u, w):
        """The vector with the entries Gamma^k_ij u^i w^j."""
        lowered = [
            sum((M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k])) / 2 * u[i] * w[j]
                for i in n for j in n)
            for k in n
        ]  # fmt: skip
        return inverse * sp.Matrix(lowered)

    Q = inverse * A.T * (A * inverse * A.T).inv() * A
    turned = sum((Q.diff(x) * u for x, u in zip(q, v, strict=True)), sp.zeros(len(q)))
    nabla_Q = turned * v + Gamma(v, Q * v) - Q * Gamma(v, v)
    V = -system.L.xreplace(dict.fromkeys(system.v, sp.S.Zero))
    gradient = inverse * sp.Matrix([V.diff(x) for x in q])
    return -(Gamma(v, v) + nabla_Q + gradient - Q * gradient)


def prediction_1() -> tuple[float, dict[str, float]]:
    true = integrate(systems.sleigh(), Reference(), [0, 0, 0], PRINTED_START, h=0.5, steps=240).q
    methods = [*(DLA(constraint_alpha=c) for c in (0.5, 0.45, 0.3)), Projector()]
    runs = [errors(m, true[::2], 1) for m in methods]
    best, worse, third, mirror = (x[60] for x in runs)
    numbers = {"best": best, "worse": worse, "mirror": mirror, "times": worse / best}
    numbers |= {"best_late": runs[0][120], "late": runs[3][120]}
    halved, less = (errors(m, true, 0.5)[120] for m in methods[2:])
    return worse / best, numbers | {"first": third / halved, "second": mirror / less}


def exercise_1(answer: object) -> str | None:
    g = np.asarray(answer, float)
    if g.shape != (3,) or not np.all(g > 0):
        return "The answer is three positive numbers (g1, g2, g3)."
    if np.ptp(g) < 1e-9 * g.max():
        return "A multiple of M itself is too easy: take three numbers that are not all equal."
    A = systems.knife_edge().A(np.array([0, 0, 0.6]))[0]  # M is the identity
    right, mine = A, A / g
    if np.linalg.norm(np.cross(right, mine)) > 1e-9 * np.linalg.norm(mine):
        return f"""Heading along phi = 0.6, the complement of D is spanned by
            {(mine / mine[0]).round(2)} in your metric and by {(right / right[0]).round(2)} in M."""
