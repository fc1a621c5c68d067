"""Why a step could not be taken, or should not have been, in words."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanics.checks import NEARLY_DEPENDENT
from ..methods.layout import Rows

if TYPE_CHECKING:
    from ..codegen.careful import Attempt
    from ..mechanics.system import System
    from .loop import Run
    from .trajectory import Trajectory

MAX_GROWTH = 1e3  # of a step size that the energy determines; more is no longer the motion's


def explain(run: Run, attempt: Attempt) -> tuple[str, str]:
    """(reason, advice) for a step that failed: rank loss, no positive step, or Newton."""
    s, q, v = run.system, run.state.q, run.state.v
    _, h = run.state.clock(None, run.h)
    places = [q]
    with contextlib.suppress(ValueError):  # too far away to be computed
        places += [s.move(q, v, part * h) for part in (0.5, 1)]
    reason = dependent(s, places, v, run.time)
    if reason:
        advice = "The constraints lose rank there; start elsewhere or choose other coordinates."
        if s.fields:
            advice = "Give other fields, which stay independent there, or start elsewhere."
        return reason, advice
    if run.method.variable_step and run.done:
        return _no_step(run, attempt)
    return f"{attempt.reason} at {_place(s, q)}", attempt.advice


def dependent(system: System, places: list, v: np.ndarray, t: float) -> str:
    """A sentence if the constraint forms, or the fields, are (nearly) dependent at one of the
    places, else ""."""
    for q in places:
        forms = system.X(q) if system.fields else system.A(q, t)
        size = system.independence(q, v, t) if np.isfinite(forms).all() else 1
        if size < NEARLY_DEPENDENT:
            value = f"(smallest singular value of the scaled rows {size:.1e})"
            what = "fields" if system.fields else "constraint forms"
            return f"the {what} become dependent near {_place(system, q)} {value}"
    return ""


def _place(system: System, q: np.ndarray) -> str:
    return ", ".join(f"{x} = {y:.4g}" for x, y in zip(system.q, q, strict=True))


def _no_step(run: Run, attempt: Attempt) -> tuple[str, str]:
    """Look at the discrete energy as a function of the step size: does it reach its target?"""
    target, place = float(run.state.e), _place(run.system, run.state.q)
    sizes = run.state.h * np.linspace(0.02, 2, 100)
    others = _others(run.system)
    if growth(np.array([run.h, run.state.h])):
        return (
            f"the step has grown from h = {run.h:g} to {run.state.h:.3g}, too far to follow the "
            f"motion, at {place}",
            f"Start with another h, or use {others}.",
        )
    gaps = [each for h in sizes for each in _energy_gap(run, h, target)]
    if not gaps:
        return f"{attempt.reason} at {place}", "Try a smaller h."
    gap, h, kinetic = np.array(gaps).T
    if np.ptp(gap) <= 1e-7 * np.abs(kinetic).max() + 1e-13 * abs(target):  # or it is round-off
        return (
            f"the discrete energy hardly depends on the step at {place} (by "
            f"{np.ptp(gap):.0e} for all h up to {sizes[-1]:.3g}), so it determines none",
            f"EDLA is of no use for this motion; use {others}.",
        )
    if np.all(gap > 0) or np.all(gap < 0):
        best = np.abs(gap).argmin()
        return (
            f"no positive step exists at {place}: for every h up to {sizes[-1]:.3g} the discrete "
            f"energy misses {target:.10g}, by {gap[best]:.2g} at the best, h = {h[best]:.3g}",
            "This is a limit of the method (C03, Remark 2), not of Newton: start with another h "
            f"or state, or use {others}.",
        )
    return f"{attempt.reason} at {place}", attempt.advice or "Start with a smaller h."


def _energy_gap(run: Run, h: float, target: float) -> list:
    """[(E_minus - target, h, kinetic energy)] of a step h without the energy balance; empty if
    there is no such step.  Energies have no zero of their own, only the kinetic one has."""
    one, m, s = run.first_step(h), run.method, run.system
    if not one.ok:
        return []
    row, t, q = Rows(m.first_step.layout(s), np.asarray(one.carry)), run.state.t, run.state.q
    kinetic = s.energy(q, row.v, t) - s.energy(q, 0 * row.v, t)
    power = row.lam @ s.b(q, t) if s.is_affine else 0.0
    gap = m.on_step(s, "E_minus", t, q, row.v, h) - target - power
    return [(gap, h, kinetic)]


def warn_of_growth(sol: Trajectory) -> None:
    """The energy may determine a far larger step than the motion needs, and again a larger one."""
    if not sol.method.variable_step or not (largest := growth(sol.rows.h)):
        return
    warnings.warn(
        f"the step grows from h = {sol.rows.h[0]:g} to {largest:.3g} during this run, too far to "
        f"follow the motion; start with another h, or use {_others(sol.system)}",
        RuntimeWarning,
        stacklevel=4,
    )


def growth(h: np.ndarray) -> np.ndarray:
    """Along runs, shape (..., N): the largest step if it is out of all proportion to the first,
    else 0.  Ratios of steps have no unit."""
    largest = np.nan_to_num(h).max(-1)
    return np.where(largest > MAX_GROWTH * h[..., 0], largest, 0)[()]


def _others(system: System) -> str:
    """Methods with a step of their own."""
    return "nh.DLA" if system.holonomic else "nh.DLA or nh.Projector"


def warn_of_energy_jumps(sol: Trajectory) -> None:
    """Newton can converge to a far root of too large a step; the energy tells."""
    if not sol.system.keeps_energy or len(sol) < 2:
        return
    pick = slice(None, None, rows_apart(len(sol)))
    before, after, jumped = energy_jumps(sol.system, sol.q[pick], sol.rows.v[pick])
    if jumped:
        words = energy_warning(before, after, sol.h0, repr(sol.method))
        warnings.warn(words, RuntimeWarning, stacklevel=4)


# Pages translate these four to JavaScript.


def rows_apart(count: int) -> int:
    """The distance of the rows that are looked at, of so many: about 500 of them."""
    return count // 500 + 1


def energy_warning(before: float, after: float, h: float, method: str) -> str:
    """The sentence about an energy that has jumped; ``method`` as it is written."""
    return (
        f"the energy changes from {before:.4g} to {after:.4g} during this run: h = {h:.6g} is "
        f"too large for {method}"
    )


def hidden_energy(p: Any, m: Any) -> Any:
    """The energy that round-off in a momentum p can hide where the mass is m; with terms b(q).v in
    L there is some at rest.  Numbers or arrays."""
    energy = (1e-12 * p) ** 2 / np.abs(m)
    return np.where(np.isfinite(energy), energy, 0.0)


def energy_jump(
    E0: Any, lowest: Any, highest: Any, V0: Any, V_lowest: Any, V_highest: Any, hidden: Any
) -> list[Any]:
    """Decide whether an energy changes by more than the motion can account for.

    E0, lowest, highest : the first energy of a run, the lowest and the highest
    V0, V_lowest, V_highest : likewise for its potential;  hidden : the sum of ``hidden_energy``
    Returns the energy farthest from E0, and True if it is more than ten times as far from E0 as the
    kinetic energy at the start and the differences of V within reach.

    All are numbers, or arrays with an entry for each run; in pages they are numbers.
    """
    farthest = np.where(highest - E0 > E0 - lowest, highest, lowest)
    top = np.maximum(E0, V0)
    within_reach = np.minimum(V_highest, top) - np.minimum(V_lowest, top)
    scale = within_reach + np.abs(E0 - V0) + 1e-300 + hidden
    jump = np.abs(farthest - E0)
    return [farthest, ~np.isfinite(jump) | (jump > 10 * scale)]


def energy_jumps(
    system: System, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Along runs, shape (..., N, n): the first energy, the one farthest from it, and whether it
    lies beyond all that the motion can account for, each of shape (...)."""
    with np.errstate(all="ignore"):  # what overflows has jumped, too
        E, V = system.energy(q, v), system.V(q)
        reach = [f for x in (E, V) for f in (x[..., 0], x.min(-1), x.max(-1))]
        farthest, jumped = energy_jump(*reach, 0.0)
        if jumped.any():  # seldom, and M takes time
            first = q[..., 0, :], v[..., 0, :]
            masses = np.diagonal(system.M(*first), axis1=-2, axis2=-1)
            hidden = hidden_energy(system.momentum(*first), masses).sum(-1)
            farthest, jumped = energy_jump(*reach, hidden)
    return E[..., 0], farthest, jumped
