"""Why a step could not be taken, in words."""

from __future__ import annotations

import numpy as np

from ..codegen.careful import careful_step


def explain(run, attempt):
    """(reason, advice) for a step that failed: rank loss, no positive step, or Newton."""
    s, m, state = run.system, run.method, run.state
    at = 2 if m.variable_step else 0
    q = state[at : at + len(s.q)]
    place = _place(s, q)
    v = state[at + len(s.q) + (len(s.v) if m.discrete else 0) :][: len(s.v)]
    h = state[1] if at else run.start.h
    reason = dependent(s, [s.move(q, v, part * h) for part in (0, 0.5, 1)], run.time)
    if reason:
        advice = "The constraints lose rank there; start elsewhere or choose other coordinates."
        return reason, advice
    if m.variable_step and run.done:
        return _no_step(run, attempt, state, place)
    return f"{attempt.reason} at {place}", attempt.advice


def dependent(system, places, t):
    """A sentence if the constraint forms are (nearly) dependent at one of the places."""
    for q in places if system.symbolic.A else ():
        sizes = np.linalg.svd(system.A(q, t), compute_uv=False)
        if sizes[-1] < 1e-3 * sizes[0]:
            return (f"the constraint forms become dependent near {_place(system, q)} (smallest "
                    f"singular value {sizes[-1]:.1e})")  # fmt: skip
    return ""


def _place(system, q):
    return ", ".join(f"{x} = {y:.4g}" for x, y in zip(system.q, q, strict=True))


def _no_step(run, attempt, state, place):
    """Look at the discrete energy as a function of the step size: does it reach its target?"""
    s, m = run.system, run.method
    (t, h), carry, target = state[:2], state[2:-2], state[-1]
    k, n = len(s.q), len(s.v)
    first = m.first_step
    statement, args = first.program(s).statement, first.arguments(s, run.scale2)
    gaps = []
    sizes = h * np.linspace(0.02, 2, 100)
    for size in sizes:
        one = careful_step(statement, t, size, carry.tolist(), args)
        if one.ok:
            v = one.carry[k + n : k + 2 * n]
            gaps.append((m.on_step(s, "E_minus", t, carry[:k], v, size) - target, size))
    if not gaps:
        return f"{attempt.reason} at {place}", "Try a smaller h."
    gap = np.array(gaps)
    if np.ptp(gap[:, 0]) < 1e-7 * abs(target):
        return (
            f"the discrete energy hardly depends on the step at {place} (by "
            f"{np.ptp(gap[:, 0]):.0e} for all h up to {sizes[-1]:.3g}), so it determines none",
            "EDLA is of no use for this motion; use nh.DLA or nh.Projector.",
        )
    if np.all(gap[:, 0] > 0) or np.all(gap[:, 0] < 0):
        k = np.abs(gap[:, 0]).argmin()
        return (
            f"no positive step exists at {place}: for every h up to {sizes[-1]:.3g} the discrete "
            f"energy misses {target:.10g}, by {gap[k, 0]:.2g} at the best, h = {gap[k, 1]:.3g}",
            "This is a limit of the method (C03, Remark 2), not of Newton: start with another h "
            "or state, or use nh.DLA or nh.Projector.",
        )
    return f"{attempt.reason} at {place}", attempt.advice or "Start with a smaller h."
