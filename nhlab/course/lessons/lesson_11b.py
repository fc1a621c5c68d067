"""Lesson 11 in depth: drift against reversals, and the determinant of a step."""

from dataclasses import dataclass

import numpy as np
import sympy as sp

from ...geometry.diagnostics import drift
from ...mechanics import catalogue as systems
from ...methods import DLA, Newmark, Reference
from ...run.ensemble import ensemble
from ...run.loop import integrate
from ...run.start import one_step
from .. import comparison
from ..exercises import near, some_of, told
from .lesson_11 import geared, swing


@dataclass(frozen=True)
class Case:
    """A system with starts around its own.

    v0 : another start velocity than the system's
    h : the step of the runs
    """

    name: str
    system: object
    v0: tuple | None = None
    h: float = 0.2

    def starts(self, count=12, spread=0.1):
        """Positions and admissible velocities near the start, shape (count, n) each."""
        s, rng = self.system, np.random.default_rng(11)
        q = np.array(s.q0, float) + spread * rng.uniform(-1, 1, (count, len(s.q)))
        v = np.array(s.v0 if self.v0 is None else self.v0, float)
        return q, s.project(q, v + spread * rng.uniform(-1, 1, (count, len(s.v))))


CASES = [
    Case("particle", systems.particle()),
    Case("robot", systems.robot()),
    Case("contact oscillator", systems.contact_oscillator(eps=0.0)),
    Case("the same with dS/dt added", systems.nonreversible()),
    Case("transmission, eps = 0", systems.transmission(eps=0.0)),
    Case("transmission, eps = 0.2", systems.transmission()),
    Case("eps = 0.2, to and fro", systems.transmission(), v0=(0, 1.0, 0.3)),
    Case("geared particle, eps = 0.2", geared()),
    Case("quartic (chaotic)", systems.quartic(), h=0.1),
]
MORE = [  # beside those that the notebook runs
    Case("knife edge", systems.knife_edge()),
    Case("Kepler", systems.kepler(), h=0.1),
    Case("tilted disk", systems.tilted_disk(), h=0.05),
    Case("snakeboard", systems.snakeboard(), h=0.1),
    Case("sleigh", systems.sleigh()),
    Case("free particle", systems.free_particle()),
    Case("car with trailer", systems.car_with_trailer(), h=0.1),
]


def mirror_gap(case):
    """How near the motion of a case comes to a mirror image of its start: see ``comparison``."""
    q, v = case.starts(1, 0.0)
    return comparison.mirror_gap(case.system, q[0], v[0], case.h, T=4000.0)


def drift_of(sol):
    """(energy gained over the run by the straight line through it, the band about that line)."""
    E = sol.energy("midpoints")
    rate = drift(sol.t[1:], E)[0]
    return np.array([rate * (sol.t[-1] - sol.t[0]), np.ptp(E - rate * sol.t[1:])])


def drifts(case, method=DLA(), steps=20_000):  # noqa: B008 (a frozen value)
    """``drift_of`` for all starts of a case, shape (starts, 2)."""
    about = {"h": case.h, "steps": steps, "summary": drift_of, "progress": False}
    return ensemble(case.system, method, *case.starts(), **about).summary


def step_tangent(system, method, q, p, h, d=1e-4):
    """The derivative of one step (q, p) -> (q, p) of a method, a matrix (2n, 2n), by differences
    of order 4.

    A projector step may begin with any p; the one of DLA depends on p modulo A^T lam alone.
    """
    n, z = len(q), np.concatenate([q, p])
    offsets = d * np.concatenate([k * np.eye(2 * n) for k in (1, -1, 2, -2)])
    start = z + offsets
    v = system.velocity(start[:, :n], start[:, n:])
    rows = method.layout(system).join(q=start[:, :n], p=start[:, n:], v=v, lam=np.zeros(system.m))
    ends = one_step(method, system, 0.0, h, rows, np.ones((len(rows), n)))[:, : 2 * n]
    ends = ends.reshape(4, 2 * n, 2 * n)
    return ((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * d)).T


def newmark_rate(method, h=0.2, T=4000.0):
    """The rate at which the swing of the lopsided transmission grows by a method: the slope of its
    logarithm."""
    about = {"h": h, "T": T, "every": 5, "progress": False}
    sol = integrate(systems.transmission(), method, v0=(0, 2.5, 0.3), **about)
    return float(np.polyfit(sol.t, np.log(swing(sol)), 1)[0])


# ---------------------------------------------------------------------------- exercises

TERMS = ("z vz", "sin(z) vz", "x vz", "vx")


def _changed(term, method):
    """How far a term, added to the L of the contact oscillator, moves the nodes of a run."""
    s = systems.contact_oscillator(eps=0.0)
    x, _, z, vx, _, vz = (*s.q, *s.v)
    added = {"z vz": z * vz, "sin(z) vz": sp.sin(z) * vz, "x vz": x * vz, "vx": vx}[term]
    runs = (integrate(one, method, h=0.2, steps=20).q for one in (s, s.replace(L=s.L + added)))
    return np.abs(np.subtract(*runs)).max()


@some_of(TERMS, '{"vx"}', "{} of them is missing.")
def exercise_1(name):
    if _changed(name, DLA()) < 1e-9:
        return None
    if _changed(name, Reference()) > 1e-6:
        return f"{name} is the rate of no function, and so it changes the motion."
    return f"""{name} changes no motion. But h times its value at the midpoint is not exactly a
        difference S(q1) - S(q0), so that DLA's steps feel it."""


def exercise_2(product):
    truth = 1 / 0.9
    return told(
        product,
        truth,
        [
            (-truth, "With m = 2 the determinant is (-1)^2 = 1."),
            (0.9, "The product of both must be the determinant, 1."),
            (1.0, "Then volumes would shrink by 0.9 in each step; their determinant is 1."),
        ],
        "The product of all eigenvalues is the determinant of the step, (-1)^m.",
        1e-3,
    )


FIRST, SECOND = 0.04, 2 / 12 - 0.04  # weights whose mean is 1/12


def exercise_3(beta):
    if near(beta, 1 / 12, 1e-3):
        return "1/12 alone does not drift; here the two halves must have it as their mean."
    if near(beta, FIRST, 1e-3):
        return "Both halves would then drift in the same direction."
    if not 0 <= beta <= 0.5:
        return "beta is a number from 0 to 1/2."
    rate, allowed = (
        newmark_rate(Newmark(FIRST, second_beta=beta)),
        newmark_rate(Newmark(FIRST), 0.1),
    )
    if abs(rate) < 0.3 * abs(allowed):
        return None
    more = "grows" if rate > 0 else "falls"
    return f"With {beta:.3g} the swing still {more}, at the rate {rate:.1e}."
