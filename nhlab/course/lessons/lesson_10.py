"""Lesson 10: forces in a step, a little friction for a long time, and a Segway that balances."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.axes import Axes
from scipy.optimize import brentq

from ...geometry.linear import linearise
from ...mechanics import catalogue as systems
from ...mechanics.exact import numbers
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Reference, Variational
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ..exercises import near, told
from ..kit import drawn, own_dots, slope

Step = Callable[[float, float, float, float], tuple[float, float]]  # a reader's: x, p, h, c
MOTORS = ("tleft", "tright")  # the torques of the Segway
SWING = 13.04  # the time of two swings of the robot, over which energies are averaged


def with_drag(plain: System, drag: float, *names: str) -> System:
    """A system with a drag -c v along some of its coordinates."""
    c = symbols("c")
    forces = {q: -c * v for q, v in zip(plain.q, plain.v, strict=True) if q.name in names}
    return plain.replace(forces=forces, parameters={**plain.parameters, c: drag})


def resisted(c: float = 1e-4) -> System:
    """The robot with a resistance -c psi' in its wheels."""
    return with_drag(systems.robot(), c, "psi")


def oscillator(c: float) -> System:
    """A mass on a spring with friction."""
    x, vx, drag = symbols("x vx c")
    L, parameters = (vx**2 - x**2) / 2, {drag: c}
    return System([x], [vx], L, forces=[-drag * vx], parameters=parameters, q0=[1], v0=[0])


def own_run(step: Step, sol: Trajectory, c: float) -> np.ndarray:
    """The places to which a reader's ``step(x, p, h, c)`` leads from the start of a run."""
    x, p, h = sol.q[0, 0], sol.p[0, 0], sol.h[0]
    places = [x]
    for _ in range(sol.steps):
        x, p = step(x, p, h, c)
        places.append(float(x))
    return np.array(places)


@drawn(7.6, 3.2)
def own_steps(ax: Axes, step: Step, c: float = 0.3) -> str:
    """A picture: the oscillator by the library, and by a reader's ``step``."""
    sol = integrate(oscillator(c), Variational(), h=0.3, steps=60)
    ax.plot(sol.t, sol.q[:, 0], **plot.look(Variational()), label="the library")
    yours = own_dots(ax, lambda: (sol.t, own_run(step, sol, c)))
    ax.set(xlabel="time $t$", ylabel="$x$", ylim=(-1.3, 1.3))
    ax.legend(loc="upper right", frameon=False)
    return f"A mass on a spring with friction: its swings die out.{yours}"


@functools.lru_cache(16)
def swinging(method: Method, c: float, h: float, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Time and energy of the robot with a little resistance, averaged over some swings."""
    sol = integrate(resisted(c), method, h=h, steps=round(T / h), progress=False)
    mean = np.ones(round(SWING / h)) / round(SWING / h)
    return np.convolve(sol.t, mean, "valid"), np.convolve(sol.energy(), mean, "valid")


def lost(method: Method, c: float, h: float, T: float = 400.0) -> float:
    """The energy that is gone at time T."""
    _, E = swinging(method, c, h, T)
    return E[0] - E[-1]


def losses(c: float, h: float) -> tuple[float, float, float]:
    """The energy that the robot loses until t = 400: truly, by DLA and by RK4."""
    return lost(Reference(), c, 0.05), lost(DLA(), c, h), lost(RK4(), c, h)


@functools.cache
def gains() -> np.ndarray:
    """K of the linear quadratic regulator of the lesson."""
    upright = linearise(systems.segway(), np.zeros(6), np.zeros(6), inputs=MOTORS)
    return upright.feedback(np.diag([1, 1, 0.1, 0.1]), 0.1 * np.eye(2))


def balanced(
    K: np.ndarray, lean: float = 0.0, speed: float = 0.0, h: float = 0.02, T: float = 6.0
) -> Trajectory:
    """The Segway from rest at a lean, with the feedback -K z to a speed."""
    system = systems.segway()
    phi, (vphi, vleft, vright), (R,) = system.q[3], system.v[3:], numbers(system, "R")
    z = sp.Matrix([phi, vphi, vleft - speed / R, vright - speed / R])
    inputs = dict(zip(MOTORS, -sp.Matrix(np.round(K, 6)) * z, strict=True))
    q0 = [0, 0, 0, lean, 0, 0]
    return integrate(system, DLA(), q0, np.zeros(6), h=h, steps=round(T / h), inputs=inputs)


def friction(run: Trajectory) -> np.ndarray:
    """The friction coefficient that the wheels of a run need at its inner nodes."""
    m, M, b, g = numbers(run.system, "m M b g")
    along = np.abs(run.reaction().multiplier[1:, 1:].sum(-1))
    rise = np.diff(b * np.cos(run.q[:, 3]), 2) / run.h[0] ** 2  # of the body's centre
    weight = m * (g + rise) + 2 * M * g
    return along / weight


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    braked = with_drag(systems.sleigh(), 0.1, "x", "y")
    sol = integrate(braked, DLA(), h=0.2, steps=20000, progress=False)
    late, rate = sol.t > 400, np.abs(sol.v_projected[:, 2])
    power = slope(sol.t[late], rate[late])
    u = np.hypot(*sol.v_projected[-1, :2])
    numbers = {"power": power, "turns": abs(sol.q[-1, 2]) / (2 * np.pi), "speed": u}
    return "It runs" if np.ptp(sol.q[late, 2]) < 0.1 else "It goes on", numbers


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    (true, dla, rk4), fine, finer = (losses(1e-4, h) for h in (0.2, 0.05, 0.02))
    own, less = (lost(RK4(), 0.0, h) for h in (0.2, 0.1))
    numbers = {"true": true, "dla": dla, "rk4": rk4, "own": own, "less": less}
    numbers |= {"rk4_fine": abs(fine[2] - true), "dla_fine": abs(fine[1] - true)}
    numbers |= {"rk4_finer": abs(finer[2] - true), "dla_finer": abs(finer[1] - true)}
    truth = "About as" if abs(rk4 - true) <= 0.1 * true else "Less"
    return "About twice" if rk4 > 1.8 * true else truth, numbers


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    run = balanced(gains(), speed=1.0)
    x, phi = run.q[:, 0], run.q[:, 3]
    numbers = {"back": -100 * x.min(), "lean": phi.max()}
    ahead = x[np.argmax(phi > 0.5 * phi.max())] > 1e-3
    truth = "They roll forwards" if ahead else "They wait"
    return "They roll backwards" if x.min() < -1e-3 else truth, numbers


def exercise_1(step: Any) -> str | None:
    c, h, x, p = 0.3, 0.3, 0.7, 0.4
    v = (p - h / 2 * x) / (1 + h * h / 4 + h * c / 2)
    middle = x + h * v / 2
    arrives = v - h / 2 * (middle + c * v)
    found = np.asarray(step(x, p, h, c), float)
    place, momentum = found[0], found[1]
    gained = (p - h / 2 * x) / (1 + h * h / 4 - h * c / 2)
    bare = (p - h / 2 * x) / (1 + h * h / 4)
    pushes = "Your friction pushes: it is -c v, so p_minus = v + (h/2)(m + c v) grows with c."
    free = "The first place is that of a step without friction: c v belongs into p_minus, too."
    whole = "You took v = p. The momentum that leaves is v + (h/2)(m + c v), and m contains v."
    places = [(x + h * gained, pushes), (x + h * bare, free), (x + h * p, whole)]
    half = "The place is right. The other half of the impulse acts at the end: p_plus."
    begins = "The place is right. p_plus begins with v, not with p."
    momenta = [(v, half), (p - h / 2 * (middle + c * v), begins)]
    solve = "Solve v + (h/2)(x + (h/2) v + c v) = p for v first; it is linear in v."
    wrong = "The place is right, but not p_plus = v - (h/2)(m + c v)."
    return told(place, x + h * v, places, solve, 1e-9) or told(
        momentum, arrives, momenta, wrong, 1e-9
    )


def exercise_2(forces: Any) -> str | None:
    if not isinstance(forces, dict):
        return 'The answer is a dict: {"x": ..., "y": ...}.'
    named = {getattr(key, "name", key): e for key, e in forces.items()}
    if not all(isinstance(e, sp.Expr) for e in named.values()):
        return "Write the forces as expressions in vx, vy and c."
    if {*named} != {"x", "y"}:
        return f"There should be a force for x and one for y; yours are for {sorted(named)}."
    vx, vy, c = symbols("vx vy c")
    values = {vx: 3.0, vy: -4.0, c: 0.1}
    found = [complex(named[key].subs(values)) for key in ("x", "y")]
    sign = "Look at the sign: a drag points against the velocity."
    apart = "That squares each component by itself. |v| is the speed, the same in both."
    mistakes = [([1.5, -2.0], sign), ([-0.9, 1.6], apart), ([-0.9, -1.6], apart)]
    speed = "At vx = 3, vy = -4 the speed is 5: F = -c 5 (3, -4)."
    return told(np.real(found), [-1.5, 2.0], mistakes, speed, 1e-9)


@functools.cache
def _icy(mu: float = 0.1) -> float:
    def excess(lean):
        return friction(balanced(gains(), lean=lean, T=2.0)).max() - mu

    return brentq(excess, 0.005, 0.3, xtol=1e-5)


def exercise_3(lean: Any) -> str | None:
    truth = _icy()
    if near(lean, truth, rtol=0.03):
        return None
    if near(lean, np.degrees(truth), rtol=0.03):
        return "That is in degrees; the answer is wanted in radians."
    needed = friction(balanced(gains(), lean=float(lean), T=2.0)).max()
    return f"From {float(lean):.3g} the wheels need up to {needed:.3f}; it should be 0.1."
