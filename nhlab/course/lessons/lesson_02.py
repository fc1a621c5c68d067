"""Lesson 02: a step of DLA that the reader writes, and what its predictions measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from ...geometry.diagnostics import drift
from ...mechanics import catalogue as systems
from ...mechanics.system import System
from ...methods import DLA, RK4, Projector, Reference
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ..colours import ORANGE
from ..exercises import near, told, unfinished
from ..figures import crossing, steady, worst_energies
from ..kit import drawn
from ..predict import either

TRIES = {
    "02.4": {
        "alpha = .7: does it fall too?": {"alpha": 0.7},
        "the midpoint: does it stay?": {"alpha": 0.5},
        "the symmetric rule: a band again?": {"rule": "symmetric rule"},
        "half the step: half the loss?": {"h": 0.05},
    }
}


def walked(step: Callable, q: np.ndarray, p: np.ndarray, h: float, steps: int) -> np.ndarray:
    """Rows (q, p) that a reader's step computes from (q, p), as far as it goes."""
    rows = [np.concatenate([q, p])]
    try:
        for _ in range(steps):
            q, p = (np.asarray(x, float).reshape(3) for x in step(q, p, h))
            rows.append(np.concatenate([q, p]))
    except Exception:  # the check beside the picture says what is wrong
        pass
    return np.array(rows)


@drawn(9, 3.4, columns=2)
def beside(left: Axes, right: Axes, step: Callable, sol: Trajectory) -> str:
    """The height and the energy of the particle by a reader's step, beside ``sol``, a run of DLA.

    The step is repeated as far as it goes; a step with gaps draws no curve.
    """
    gaps = unfinished(step)
    with np.errstate(all="ignore"):
        own = walked(step, sol.q[0], sol.p[0], sol.h[0], 0 if gaps else len(sol.h))
        E = sol.system.energy(*np.split(own, 2, axis=1))  # here v = p
    height, energy = (
        (left, "height $z$", sol.q[:, 2], own[:, 2]),
        (right, "energy $E$", sol.energy(), E),
    )
    for ax, name, library, yours in (height, energy):
        ax.plot(sol.t, library, **{**plot.look(DLA()), "linewidth": 4, "alpha": 0.4}, label="nhlab")
        limits = ax.get_ylim()
        ax.plot(sol.t[: len(yours)], yours, color=ORANGE, linestyle="--", label="yours")
        ax.set(xlabel="time $t$", ylabel=name, ylim=limits)
    left.legend(loc="best")
    state = "has gaps still" if gaps else f"goes on for {len(own) - 1} steps"
    return f"Height and energy of the particle by nhlab; your step {state}"


def gained(system: System, method: Method, h: float = 0.2, T: float = 1000.0) -> float:
    """The energy of the steps that a run gains per unit of time, until the end of the picture."""
    sol = integrate(system, method, h=h, steps=round(T / h), progress=False)
    return drift(sol.t[1:], sol.energy("midpoints"))[0]


def prediction_1() -> tuple[str, dict[str, float]]:
    _, y, z = integrate(systems.particle(), Reference(), h=0.1, steps=1000, progress=False).q.T
    first, tops = z[:200], 1 + np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:]))
    truth = "It climbs" if z[800:].max() > 1.5 * first.max() else "It goes up and down"
    truth = "It returns" if np.ptp(z[tops]) < 0.1 * np.ptp(z) else truth
    ends = {"low": first.min(), "high": first.max(), "lowest": z.min(), "highest": z.max()}
    return truth, ends


def _energies(h: float, T: float = 250.0) -> list[np.ndarray]:
    """The energies at the nodes of DLA and of RK4 on the particle."""
    run = {"h": h, "steps": round(T / h)}
    return [integrate(systems.particle(), m, **run).energy() for m in (DLA(), RK4())]


def prediction_2() -> tuple[str, dict[str, float]]:
    (dla, rk4), (_, half) = _energies(0.2), _energies(0.1)
    truth = either(steady(dla), steady(rk4), "Both stay", "DLA", "RK4", "Both fall")
    numbers = {"low": dla.min(), "high": dla.max(), "band": np.ptp(dla)}
    return truth, {**numbers, "end": rk4[-1], "little": half[0] - half[-1]}


def prediction_3() -> tuple[str, dict[str, float]]:
    run = {"h": 0.2, "steps": 1250}
    sols = (integrate(systems.particle(), m, **run) for m in (DLA(), RK4()))
    dla, rk4 = (np.abs(sol.constraint()).max() for sol in sols)
    truth = "Neither" if max(dla, rk4) < 1e-10 else "DLA" if dla > 100 * rk4 else "RK4"
    return truth, {"dla": dla, "rk4": rk4}


def prediction_4() -> tuple[str, dict[str, float]]:
    runs = (DLA(0.3), DLA(0.7), DLA(0.3, symmetric=True))
    E = [integrate(systems.particle(), m, h=0.1, steps=500).energy() for m in runs]
    less, more = (e[-1] for e in E[:2])
    sides = "no choice", "It grows for alpha", "It falls for alpha", "It falls on either"
    truth = either(less > E[0][0], more > E[1][0], *sides)
    truth = "It swings" if steady(E[0]) and steady(E[1]) else truth
    return truth, {"less": less, "more": more, "low": E[2].min(), "high": E[2].max()}


def prediction_5() -> tuple[float, dict[str, float]]:
    (dla, rk4), (less_dla, less_rk4) = (worst_energies(1000, h) for h in (0.25, 0.125))
    crosses = np.interp(0, np.log([less_rk4 / less_dla, rk4 / dla]), np.log([0.125, 0.25]))
    factors = {"dla": dla / less_dla, "rk4": rk4 / less_rk4, "cross": np.exp(crosses)}
    return factors["rk4"], factors


def prediction_6() -> tuple[str, dict[str, float]]:
    cases = (DLA(), 0.2), (Projector(), 0.2), (DLA(), 0.1)
    dla, projector, less = (gained(systems.transmission(eps=eps), m) for m, eps in cases)
    falls = (x < -2e-6 for x in (dla, projector))
    truth = either(*falls, "Both", "DLA", "That of the projector", "Nobody")
    run = integrate(systems.transmission(), RK4(), h=0.1, steps=10000, progress=False)
    rk4 = drift(run.t, run.energy())[0]
    return truth, {"dla": -dla, "projector": abs(projector), "half": less / dla, "rk4": rk4}


def velocity_mistake(q: np.ndarray, p: np.ndarray, h: float, v: np.ndarray) -> str | None:
    """What is wrong with the velocity of a midpoint step of the particle, in words."""
    (x, y, _), (px, py, pz), k = q, p, 1 + h**2 / 2
    vy = (py - h * y) / k
    half, whole = y + h / 2 * vy, y + h * vy
    vx = (px + y * pz - h * x) / (k + y * half)
    signs = [
        ((py + h * y) / k, "vy has a wrong sign: h y goes to the other side as -h y."),
        (py - h * y, "vy is not divided by k = 1 + h²/2."),
    ]
    where = [
        (y, "The constraint is read at the node. Half a step is missing: ym = y + h/2 vy."),
        (whole, "ym is y at the end of the step. The midpoint is half a step away."),
        (y - h / 2 * vy, "ym has a wrong sign: the midpoint lies ahead of the node."),
    ]
    kicks = [
        ((px - y * pz - h * x) / (k + y * half), "The kick on x has a wrong sign: it is + y lam."),
        ((px - y * pz - h * x) / (k - y * half), "The kick on x has a wrong sign: it is + y lam."),
        ((px + y * pz + h * x) / (k + y * half), "In vx the spring has a wrong sign: -h x."),
        ((px + y * pz - h * x) / (k - y * half), "y ym vx comes to the left side with a plus."),
        ((px + y * pz - h * x) / (k + y * y), "In k + y ym one y is the midpoint's."),
        ((px - h * x) / k, "vx has had no kick: add y lam, with lam = pz - ym vx."),
    ]
    ym = "vz / vx, the ym of your step, is not the midpoint's y."
    return (
        told(v[1], vy, signs, "vy differs: solve the second equation for it.", 1e-8)
        or told(v[2] / v[0], half, where, ym, 1e-8)
        or told(v[0], vx, kicks, "vx differs: put lam = pz - ym vx into the first equation.", 1e-8)
    )


def momentum_mistake(q: np.ndarray, h: float, v: np.ndarray, p: np.ndarray) -> str | None:
    """What is wrong with the momentum that arrives at the end of the step, in words."""
    qm, pull = q + h / 2 * v, np.array([1, 1, 0])
    mistakes = [
        (v + h * qm * pull, "That is the momentum that leaves; D2Ld is v - h (xm, ym, 0)."),
        (v, "Half a step is missing: after the midpoint, where v holds, springs still pull."),
        (v - h * q * pull, "The springs are read at the old node, not at the midpoint."),
        (v - h * (q + h * v) * pull, "The springs are read at the new node, not at the midpoint."),
        (v - h * qm, "No spring pulls on z: the third component is v_z alone."),
        (v - h / 2 * qm * pull, "The force of x² is -2x: half a step of it gives -h xm."),
    ]
    otherwise = "q2 is right, the momentum is not: differentiate Ld with respect to its second end."
    return told(p, v - h * qm * pull, mistakes, otherwise, 1e-8)


def exercise_1(answer: object) -> str | None:
    h = 0.3
    sol = integrate(systems.particle(), DLA(), [0.3, 1, 0.2], [1, 0.7, 1], h=h, steps=4)
    for q, p in zip(sol.q[:-1], sol.p[:-1], strict=True):
        q2, p2 = (np.asarray(x, float) for x in answer(q.copy(), p.copy(), h))
        if q2.shape != (3,) or p2.shape != (3,):
            return "The step returns q2 and p2, each with three components."
        v = (q2 - q) / h
        wrong = velocity_mistake(q, p, h, v) or momentum_mistake(q, h, v, p2)
        if wrong:
            return wrong


def exercise_2(answer: object) -> str | None:
    truth = crossing(2000, 0.1, 0.115, 0.13)
    if near(answer, truth, 0.06):
        return None
    if near(answer, crossing(1000, 0.125, 0.145, 0.16), 0.03):
        return """That is where they cross for T = 1000. RK4's error grows with T, that of DLA does
            not."""
    mistakes = [
        (-truth, "A step h is a length of time, and positive."),
        (0.142 / 2, "You halve h where T is doubled. The errors go with powers of h, not with h."),
        (
            0.142 / 2 ** (1 / 2),
            """For an error of RK4 like h^4 this would be right. By which factor did it fall in the
                prediction about halving h?""",
        ),
        (
            0.142 / 2 ** (1 / 5),
            "That keeps the error of RK4 as it was. But that of DLA depends on h as well.",
        ),
        *(
            (0.142 * 2**x, "With a longer T RK4's error is larger: they cross at a smaller h.")
            for x in (1, 1 / 2, 1 / 3)
        ),
    ]
    return told(
        answer,
        truth,
        mistakes,
        """Write both errors as powers, RK4's as a T h^m and DLA's as b h^n: the predictions say by
            which factors they fall when h is halved.""",
        0.02,
    )


def exercise_3(answer: object) -> str | None:
    base = systems.particle()
    spring = base.replace(L=base.L - base.q[2] ** 2)
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
