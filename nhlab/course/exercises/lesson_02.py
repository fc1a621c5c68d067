"""Exercises of lesson 02: the discrete Lagrange-d'Alembert method."""

import numpy as np

from ...geometry.diagnostics import order
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4
from ...run.loop import integrate
from . import near


def crossing(T, *hs):
    """The h at which the worst energy errors of DLA and RK4 on the particle agree."""
    gaps = []
    for h in hs:
        runs = {"h": h, "steps": round(T / h), "progress": False}
        E = [integrate(systems.particle(), m, **runs).energy() for m in (DLA(), RK4())]
        dla, rk4 = (np.abs(e - e[0]).max() for e in E)
        gaps.append(np.log(rk4 / dla))
    return np.exp(np.interp(0, gaps, np.log(hs)))


def e1(answer):
    """The errors cross where h^2 meets T h^5: with T twice as long, at h smaller by 2^(1/3)."""
    if near(answer, crossing(2000, 0.1, 0.115, 0.13), 0.06):
        return None
    if near(answer, crossing(1000, 0.125, 0.145, 0.16), 0.03):
        return "That is where they cross for T = 1000. RK4's error grows with T, that of DLA not."
    return "Write RK4's error as a T h^5, DLA's as b h^2; the table gives a and b; set them equal."


def e2(answer):
    """The spring only changes the two z-terms; the step stays explicit because y is on its own."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2 + z**2)
    spring = System((x, y, z), (vx, vy, vz), L, [vz - y * vx])
    sol = integrate(spring, DLA(), [0.2, 1, 0.5], [1, 1, 1], h=0.2, steps=5)
    for k in range(5):
        q, p = (np.asarray(a, float) for a in answer(sol.q[k].copy(), sol.p[k].copy(), 0.2)[:2])
        if not near(q[1], sol.q[k + 1, 1], 1e-9):
            return "y does not feel the new spring: its equation is the one of the lesson."
        wd = (q - sol.q[k]) / 0.2
        if abs(wd[2] - (q[1] + sol.q[k, 1]) / 2 * wd[0]) > 1e-9:
            return "The discrete constraint is violated: vz must be ym * vx."
        if not np.allclose(q, sol.q[k + 1], atol=1e-9):
            return "q2 differs. In (1 + h²/2) vz + h z = pz - lam the factor and h z are new."
        if not np.allclose(p, sol.p[k + 1], atol=1e-9):
            return "q2 is right, the momentum is not: p2 = v - h (xm, ym, zm) now has a z-part."


def e3(answer):
    """At this momentum the pivot 1 + h²/2 + y ym vanishes: no q2 solves (6)."""
    h, y = 1.0, 2.0
    ym = y + h / 2 * (float(answer) - h * y) / (1 + h**2 / 2)
    pivot = 1 + h**2 / 2 + y * ym
    if not abs(pivot) < 1e-6:
        return f"With this p_y the midpoint is ym = {ym:.4g} and the pivot {pivot:.4g}, not 0."


def e4(answer):
    """Order 2 needs L and the constraint at the midpoint, or both by the symmetric rule."""
    methods = (DLA(), DLA(alpha=0.3), DLA(alpha=0.3, symmetric=True), DLA(constraint_alpha=0))
    answer = list(answer)
    if len(answer) != 4:
        return "Give four numbers, in the order of the list."
    for m, said in zip(methods, answer, strict=True):
        if said != round(order(systems.robot(), m, T=1, hs=[0.1, 0.05, 0.025]).slope):
            return f"Look again at {m!r}; nh.diagnostics.order measures it."
