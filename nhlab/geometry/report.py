"""``report``: what an engineer asks of a new model, in one call; each check with what it misses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import MAX_AMPLIFICATION, need, rank, read_number
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System
from ..methods import DLA, RK4, Projector, Reference
from ..run.arguments import StateLike
from ..run.errors import IntegrationError
from ..run.loop import integrate
from .diagnostics import order
from .search import find_symmetries

if TYPE_CHECKING:
    from ..methods.method import Method
    from ..run.trajectory import Trajectory

Finding = tuple[bool | None, str]  # was it good, None if it does not apply; and what was found

MARKS = {True: "ok", False: "NO", None: "-"}
ROUNDING = 1e-14  # what sums of a few terms lose, relative to their terms
EXACT = 1e-9  # of what must vanish along a reference run, relative to what it is made of
SUMMED = 1e-6  # the same with an integral over the nodes of the run
NODES = 400, 1600  # of the reference run; more where a power is summed


@dataclass(frozen=True)
class Line:
    """One check: ``good`` is True, False, or None where there is nothing to judge."""

    check: str
    good: bool | None
    finding: str
    blind: str


@dataclass(frozen=True)
class Report:
    """The checks of a system; ``good`` is False if one of them failed."""

    title: str
    lines: tuple[Line, ...]

    @property
    def good(self) -> bool:
        return all(line.good is not False for line in self.lines)

    def __str__(self) -> str:
        rows = [self.title]
        for line in self.lines:
            rows.append(f"{MARKS[line.good]:>3}  {line.check}: {line.finding}")
            rows.append(f"     cannot see: {line.blind}")
        return "\n".join(rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{x}</th>" for x in ("", *HEADS))
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(x)}</td>" for x in row) + "</tr>"
            for row in ((MARKS[x.good], x.check, x.finding, x.blind) for x in self.lines)
        )
        return f"<table><caption>{escape(self.title)}</caption><tr>{head}</tr>{body}</table>"


HEADS = "check", "finding", "cannot see"


def report(
    system: System,
    q0: StateLike = None,
    v0: StateLike = None,
    *,
    T: float | None = None,
) -> Report:
    """Check a model from its start, or another: Frobenius, ranks, definiteness, energy, momentum,
    and the orders of three methods against nh.Reference.

    Parameters
    ----------
    system : an nh.System
    q0, v0 : the start, also by names; without them the system's own
    T : how long the true motion is followed; by default about three of its fastest swings.
    A check that fails, or cannot be made, is a line of the report.

    Examples
    --------
    >>> import nhlab as nh
    >>> print(nh.report(nh.systems.roller_racer()))
    roller racer: 4 velocities; constraints: 2 on velocities, 0 on positions
     ok  true motion: ...
    """
    need(system, System, "system", "nh.System")
    if T is not None and read_number(T, "T") <= 0:
        raise ValueError(f"T = {T!r} must be positive; leave it out for a time of the motion's own")
    unset = [s.name for s in system.parameters if s not in system.numbers]
    system = system.set(**dict.fromkeys(unset, 0.0))
    q0 = system.states(q0, "q0") if isinstance(q0, Mapping) else q0
    v0 = system.states(v0, "v0") if isinstance(v0, Mapping) else v0
    _check_start(system, q0, v0)
    trial = Trial(system, q0, v0, T)
    numbers = [len(x) for x in (system.v, system.constraints, system.holonomic)]
    size = "{} velocities; constraints: {} on velocities, {} on positions".format(*numbers)
    size += f"; at 0: the inputs {', '.join(unset)}" if unset else ""
    lines = tuple(_line(check, trial) for check in CHECKS)
    return Report(f"{system.label}: {size}", lines)


def _check_start(system: System, q0: ArrayLike | None, v0: ArrayLike | None) -> None:
    """Raise ValueError for a v0 that was given and cannot be the start of a motion: once, and not
    in each line of the report."""
    if v0 is not None:
        try:
            integrate(system, Reference(), q0, v0, h=1.0, steps=0)
        except ValueError as error:
            if str(error).startswith("v0"):
                raise


def _line(check: Callable[[Trial], Finding], trial: Trial) -> Line:
    """The finding of a check; whatever goes wrong is one, too."""
    name, blind = check.__doc__.split(": ", 1)
    blind = " ".join(blind.split())
    try:
        good, finding = check(trial)
    except Exception as error:  # a report is what explains the failing of a model
        good, finding = False, f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Line(name, good if good is None else bool(good), finding, blind)


class Trial:
    """A start, and the true motion from there."""

    def __init__(
        self, system: System, q0: ArrayLike | None, v0: ArrayLike | None, T: float | None
    ) -> None:
        self.system, self.given, self._T = system, (q0, v0), T

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """q0, v0 as given, or the system's own, or else a generic one on the constraints."""
        s, start = self.system, self.given
        q0, v0 = (own if x is None else x for x, own in zip(start, (s.q0, s.v0), strict=True))
        q = s.samples(1)[0][0] if q0 is None else np.array(s.configuration(q0), float)
        for _ in range(30 if q0 is None and s.holonomic else 0):
            q = q - np.linalg.pinv(s.values(s.expressions.Dg, q)) @ s.g(q)
        if v0 is not None:
            return q, np.array(v0, float)
        v = s.samples(1)[1][0]
        return q, v - np.linalg.pinv(s.A(q)) @ s.constraint(q, v) if s.m else v

    @cached_property
    def rate(self) -> float:
        """The fastest rate near the start, from differences of the acceleration; at least 1/4."""
        s, (q, v) = self.system, self.start
        n, e = len(v), 1e-6

        def slope(f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
            return np.transpose([(f(e * w) - f(-e * w)) / (2 * e) for w in np.eye(n)])

        a_q = slope(lambda w: s.acceleration(s.move(q, w, 1.0), v))
        a_v = slope(lambda w: s.acceleration(q, v + w))
        values = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [a_q, a_v]]))
        return max(0.25, np.abs(values).max())

    @cached_property
    def sources(self) -> list[str]:
        """What feeds energy in or takes it out, in words."""
        s = self.system
        words = {"-dL/dt": s.t is not None, "the power F.v": s.is_forced}
        words["the power of constraints that move"] = s.is_affine
        return [word for word, there in words.items() if there]

    @property
    def T(self) -> float:
        return 20 / self.rate if self._T is None else self._T

    @cached_property
    def run(self) -> Trajectory:
        """The true motion, or as much of it as there is."""
        steps = NODES[bool(self.sources)]
        run = {"h": self.T / steps, "steps": steps, "progress": False}
        try:
            return integrate(self.system, Reference(), *self.start, **run)
        except IntegrationError as stop:
            if len(stop.trajectory) < 8:
                raise
            return stop.trajectory

    @cached_property
    def work(self) -> float:
        """What energies are measured against: the largest |v.p|, and the change of E."""
        return np.abs((self.run.v * self.run.p).sum(1)).max() + np.ptp(self.run.energy())


# ---------------------------------------------------------------------------- the checks
# The docstring of each: its name, and what it cannot see.


def motion(trial: Trial) -> Finding:
    """true motion: what happens from other starts."""
    sol = trial.run
    slip = np.abs(sol.constraint()).max(initial=0)
    size = np.abs(trial.system.A(sol.q, sol.t)).max(initial=0) * np.abs(sol.v).max()
    good = slip <= EXACT * size and not sol.message
    end = sol.message or f"followed to t = {sol.t[-1]:.4g}"
    sentence = f"the constraints hold to {_relative(slip, size)} of |A||v|"
    return good, f"{end}; {sentence}" if trial.system.m else end


def integrability(trial: Trial) -> Finding:
    """integrability: rows that are integrable while the others are not."""
    s = trial.system
    if not s.constraints:
        return None, "no constraints on velocities"
    if not s.is_holonomic():
        return True, "not integrable by Frobenius: velocities are restricted, not positions alone"
    return False, "integrable by Frobenius: positions are restricted; state them as holonomic"


def ranks(trial: Trial) -> Finding:
    """rank: places where this motion does not go."""
    s, sol = trial.system, trial.run
    if not s.m:
        return None, "no constraints"
    worst = s.independence(sol.q, sol.v, sol.t)
    k, count, rows = int(worst.argmin()), len(s.fields) or s.m, "fields" if s.fields else "rows"
    good = (worst * MAX_AMPLIFICATION >= 1).all()
    if not s.fields:
        good = (rank(s.A(sol.q, sol.t), s.M(sol.q, sol.v, sol.t)) == s.m).all()
    where = f"the least singular value of the scaled {rows} is {worst[k]:.2g}, at t = "
    where += f"{sol.t[k]:.3g}"
    return good, f"{count} of {count} along the motion; {where}" if good else f"it falls; {where}"


def definiteness(trial: Trial) -> Finding:
    """mass matrix: other places; masses that are wrong but positive."""
    s, sol = trial.system, trial.run
    M = s.M(sol.q, sol.v, sol.t)
    size = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    scaled = M / (size[:, :, None] * size[:, None, :])
    least = float(np.linalg.eigvalsh(scaled).min())
    kind = "quadratic in the velocities" if s.is_mechanical else "not quadratic in the velocities"
    good = least > EXACT
    word = "positive definite" if good else "not positive definite"
    return good, f"{word} along the motion, least scaled eigenvalue {least:.2g}; L is {kind}"


def energy(trial: Trial) -> Finding:
    """energy balance: a wrong L or wrong constraints, for their motion has an energy too."""
    s, sol, size = trial.system, trial.run, trial.work
    E = sol.energy()
    if not trial.sources:
        drift = np.ptp(E)
        return drift <= EXACT * size, f"E is kept to {_relative(drift, size)} of v.p"
    power = s.power(sol.q, sol.v, sol.t) - s.values(s.expressions.L_t, sol.q, sol.v, sol.t)
    slip = np.einsum("tij,tj->ti", s.A(sol.q, sol.t), sol.v)
    power += (s.multipliers(sol.q, sol.v, sol.t) * slip).sum(1)
    drift = abs(E[-1] - E[0] - _integral(power, sol))
    words = f"E changes by {' and '.join(trial.sources)}, to {_relative(drift, size)} of v.p"
    return drift <= SUMMED * size, words


def _integral(x: np.ndarray, sol: Trajectory) -> np.ndarray:
    from scipy.integrate import simpson

    return simpson(x, x=sol.t, axis=0)


def momentum(trial: Trial) -> Finding:
    """momentum: symmetries that are not affine in the coordinates, or hold only nearly."""
    s, sol = trial.system, trial.run
    if isinstance(s, GroupSystem):
        moves = s.expressions.depends(s.expressions.A, s.pose)
        also = "but D is not" if moves else "and so is D"
        return None, f"L is left-invariant on {s.group.name}, {also}"
    group, others = find_symmetries(s)
    text = f"symmetries of L and D: {', '.join(group.names) if group else 'none found'}"
    text += f"; {group.rank} momentum equation{'s' * (group.rank != 1)}" if group else ""
    if not others:
        return None, text
    p, fields = sol.p, s.values(others.fields, sol.q)[..., :-1]
    J = np.einsum("ti,tki->tk", p, fields)
    size = (np.abs(p)[:, None] * np.abs(fields)).sum(-1).max(0)
    if s.is_forced:
        push = np.einsum("ti,tki->tk", s.force(sol.q, sol.v, sol.t), fields)
        gap = np.abs(J[-1] - J[0] - _integral(push, sol))
        allowed, word = SUMMED, "changed by F alone"
    else:
        gap, allowed, word = np.ptp(J, axis=0), EXACT, "kept"
    gap = float((gap / np.maximum(size, 1e-300)).max())
    precision = "rounding" if gap < ROUNDING else f"{gap:.0e}"  # digits of rounding say nothing
    return gap <= allowed, f"{text}; momenta {word}, to {precision}: {', '.join(others.names)}"


def orders(trial: Trial) -> Finding:
    """orders: behaviour over long times; errors that shrink with the same order."""
    if not trial.run.v.any():
        return None, "nothing moves from this start; give a v0 that moves"
    results = [_order(trial, method) for method in (DLA(), Projector(), RK4())]
    judged = [good for good, _ in results if good is not None]
    text = ", ".join(text for _, text in results)
    return all(judged) if judged else None, f"observed (stated): {text}"


def _order(trial: Trial, method: Method) -> Finding:
    """The observed order; nearer to the start if it does not show at once."""
    name, slope, failure = type(method).__name__, None, ""
    try:
        method.check(trial.system)
    except ValueError:
        return None, f"{name} is not for it"
    for part in (4, 16, 64):
        try:
            slope = _slope(trial, method, trial.T / part)
        except (ValueError, IntegrationError) as error:
            failure = failure or " ".join(str(error).split())[:120]
            continue
        if abs(slope - method.order) < 0.15:
            break
    if slope is None:
        return False, f"{name}: {failure}"
    return abs(slope - method.order) < 0.3, f"{name} {slope:.2f} ({method.order})"


def _slope(trial: Trial, method: Method, T: float) -> float:
    s, (q0, v0) = trial.system, trial.start
    end = integrate(s, Reference(), q0, v0, h=T, steps=1, progress=False).q[-1]
    floor = 1e-11 * (np.abs(end).max() + np.abs(end - q0).max())
    hs = T / np.array([20, 40, 80])
    return order(s, method, q0, v0, T=T, hs=hs, reference=lambda t: [end], floor=floor).slope


def _relative(x: float, size: float) -> str:
    return f"{x / size:.0e}" if size else f"{x:.0e} (nothing moves)"


CHECKS = motion, integrability, ranks, definiteness, energy, momentum, orders
