"""Lesson 11: the swing that dies without friction, mirror images, volumes, and the new time."""

import functools
import warnings

import numpy as np
import sympy as sp

from ...geometry.measure import invariant_measure
from ...geometry.reduction import Chaplygin
from ...geometry.reversibility import is_reversible
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RDLA, Projector
from ...run.loop import integrate
from ..exercises import near, sized, takes, told

H, LONG = 0.2, 100_000  # the step of the lesson and the length of its long runs
TRIES = {
    "11.3": {
        "round one way: what is left?": {"v0.vy": 2.5},
        "round the other way: does it grow?": {"v0.vy": -2.5},
        "lopsided to the other side?": {"v0.vy": 2.5, "par.eps": -0.2},
        "not lopsided: does it stay?": {"v0.vy": 2.5, "par.eps": 0.0},
    }
}


def swing(sol):
    """The energy of the transmission's two racks and their springs, at the nodes."""
    return (sol.v[:, 0] ** 2 + sol.v[:, 2] ** 2 + sol.q[:, 0] ** 2 + sol.q[:, 2] ** 2) / 2


@functools.cache
def long_run(eps, speed=2.5, method=DLA(), every=20):  # noqa: B008 (a frozen value)
    """A run of 100,000 steps of the transmission whose pendulum starts with the given speed."""
    gear, v0 = systems.transmission(eps=eps), (0, speed, 0.3)
    with warnings.catch_warnings():  # that the energy grows is the lesson
        warnings.simplefilter("ignore")
        return integrate(gear, method, v0=v0, h=H, steps=LONG, every=every, progress=False)


def part_left(sol, share=50):
    """The mean swing of the last stored nodes, as a part of that of the first."""
    E = swing(sol)
    return E[-share:].mean() / E[:share].mean()


def decay(h, eps=0.2, speed=2.5, T=1000.0):
    """The rate at which the swing falls by DLA: minus the slope of its logarithm."""
    gear = systems.transmission(eps=eps)
    sol = integrate(gear, DLA(), v0=(0, speed, 0.3), h=h, steps=round(T / h), progress=False)
    return -np.polyfit(sol.t, np.log(swing(sol)), 1)[0]


def fate(sol):
    """What has become of the swing of a long run: "rest", "stays" or "grows"."""
    left = part_left(sol)
    if left < 0.1:
        return "rest"
    return "grows" if left > 10 else "stays"


def geared(eps=0.2):
    """A particle on a spring along x that climbs as it moves, with the slope sin y, where y is the
    pendulum of the transmission: a Chaplygin system with the fibre z."""
    q, v, (e,) = symbols("x y z"), symbols("vx vy vz"), symbols("eps,")
    (x, y, _), (vx, _, vz) = q, v
    L = (sum(u**2 for u in v) - x**2) / 2 + sp.cos(y) - e * sp.sin(2 * y)
    start = {"q0": (0.3, 0, 0), "v0": (0.3, 2.5, 0)}
    return System(
        q, v, L, [vz - sp.sin(y) * vx], parameters={e: eps}, name="geared particle", **start
    )


@functools.cache
def volumes(eps, steps=2000):
    """log of the volume of a small cloud of the geared particle by DLA, and its times."""
    measure = invariant_measure(Chaplygin(geared(eps), fibre="z"))
    return H * np.arange(steps + 1), measure.change(RDLA(), h=H, steps=steps)


# ---------------------------------------------------------------------------- predictions


def prediction_1():
    left, right = (long_run(eps) for eps in (0.0, 0.2))
    words = {"stays stays": "Both swing", "stays rest": "The racks", "stays grows": "The right"}
    truth = words.get(f"{fate(left)} {fate(right)}", "Both come")
    numbers = {"left": part_left(left), "right": part_left(right)}
    return truth, numbers | {"projector": part_left(long_run(0.2, method=Projector()))}


def prediction_2():
    back = long_run(0.2, -2.5)
    words = {"rest": "It comes", "stays": "It goes on", "grows": "It grows"}
    rates = [decay(H, speed=speed) for speed in (2.5, -2.5)]
    numbers = {"factor": round(part_left(back), -4), "there": rates[0], "back": -rates[1]}
    return words[fate(back)], numbers


def prediction_3():
    sol = long_run(0.2, 1.0)
    words = {"rest": "It comes", "stays": "It goes on", "grows": "It grows"}
    return words[fate(sol)], {"left": part_left(sol), "reach": np.abs(sol.q[:, 1]).max()}


def prediction_4():
    even, odd = volumes(0.0)[1], volumes(0.2)[1]
    truth = "It shrinks" if odd[-1] < -0.1 else "It grows"
    truth = "It wavers" if np.ptp(odd) < 0.05 else truth
    return truth, {"factor": np.exp(odd[-1]), "band": np.abs(even).max()}


# ---------------------------------------------------------------------------- exercises


@takes(sized(4), "The answer is a list of four signs, for x, y, theta and psi: [1, 1, 1, 1].")
def exercise_1(signs):
    (trial,) = is_reversible(systems.robot(), signs).trials
    if trial.verdict != "proved":
        return f"That is no reversal of the robot: {trial.reason}."
    if signs[2] == 1:
        return "That is a reversal, but it turns the steering round: theta must change its sign."
    return None


@takes(callable, "The answer is a function of y: answer = lambda y: ...")
def exercise_2(g):
    y = np.linspace(0.1, 3.0, 30)
    there, back = (np.array([float(g(s * x)) for x in y]) for s in (1, -1))
    if np.ptp(there) < 1e-9 and np.ptp(back) < 1e-9:
        return "A constant adds nothing to the potential; take a function that varies."
    if near(there, -back, 1e-6):
        return """Your g is odd, as sin 2y is: the mirror image y -> -y has the potential -g, so
            it is the motion of another pendulum. (For sin y the swing changes slowly.)"""
    if not near(there, back, 1e-6):
        k = np.abs(there - back).argmax()
        return f"""g({y[k]:.2f}) = {there[k]:.3f}, but g({-y[k]:.2f}) = {back[k]:.3f}: in the
            mirror y -> -y your pendulum has another potential."""
    return None


def exercise_3(power):
    hs = np.array([0.05, 0.1, 0.2])
    truth = float(np.polyfit(np.log(hs), np.log([decay(h) for h in hs]), 1)[0])
    if near(power, truth, rtol=0.08):
        return None
    if near(power, -truth, rtol=0.08):
        return "The rate falls when h falls: the power is positive."
    if near(power, truth + 1, rtol=0.08):
        return "That is the loss in one step. Per unit of time there are 1/h steps."
    return "Compare lesson.decay(0.2) with lesson.decay(0.1): by which factor does it fall?"


@takes(callable, "The answer is a function of y: answer = lambda y: ...")
def exercise_4(f):
    y = np.array([0.0, 0.4, 1.0, 2.5])
    found, s = np.array([float(f(x)) for x in y]), np.sin(y)
    found = found / found[0] if found[0] else found
    mistakes = [
        (1 / np.sqrt(1 + s**2), "That is the multiplier N, the density for momenta p."),
        (1 + s**2, "That is the determinant of the mass matrix; the density is N times it."),
        (np.sqrt(1 + y**2), "That is the density of the particle, whose slope is y."),
    ]
    form = "Replace the slope y of the particle by sin y in its density sqrt(1 + y^2)."
    return told(found, np.sqrt(1 + s**2), mistakes, form, 1e-6)
