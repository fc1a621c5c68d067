"""One step again, slowly: with pivoting, and with reasons when it cannot be taken.

The generated step eliminates in an order fixed beforehand.  Where one of its pivots vanishes this
takes over for that step; where the step has no solution it finds out why.
"""

from __future__ import annotations

import contextlib
import math
from functools import lru_cache

import numpy as np
import sympy as sp

from .derivatives import jacobian
from .evaluate import Function
from .statement import LATE_TOLERANCE, MAXITER, TOLERANCE, TRUSTED

EPS = np.finfo(float).eps


class Attempt:
    """The outcome: ``ok``, the new ``h`` and ``carry``; if not ok, ``reason`` and ``advice``.

    ``substeps`` : the values of all symbols in each, as dicts.
    """

    def __init__(self):
        self.ok, self.reason, self.advice, self.residual = False, "", "", math.nan
        self.h, self.carry, self.substeps = math.nan, None, []


def careful_step(statement, t, h, carry, args):
    """Newton with partial pivoting on the statement's own equations."""
    result, begun = Attempt(), t
    result.carry = np.asarray(carry, float)
    for part in statement.factors or (1.0,):
        known = {statement.t: t, statement.h: part * h}
        known |= dict(zip(statement.carry, result.carry.tolist(), strict=True))
        known |= dict(zip(statement.args, args, strict=True))
        if statement.part is not None:
            known[statement.part] = part
        with np.errstate(all="ignore"):
            if not all(_solve(x, statement.let, known, result) for x in statement.stages):
                return result
            result.carry = _update(statement, tuple(known))(*known.values())
        result.substeps.append(known)
        t = t + part * h
    result.h = h if statement.new_h is None else known[statement.new_h]
    if not np.all(np.isfinite(result.carry)):
        result.reason = "the step leads to values that are not finite"
        result.advice = "Try a smaller h; check L and the constraints at this state."
    elif result.h <= 0:
        result.reason = f"the equations have the step h = {result.h:.3g}, which is not positive"
        result.advice = "Start with another h."
    elif statement.new_h is not None and not begun + result.h > begun:
        result.reason = f"the step h = {result.h:.3g} is lost beside t = {begun:.3g}"
        result.advice = "Start with another h, or with t0 = 0."
    else:
        result.ok = True
    return result


@lru_cache(256)
def _update(statement, symbols):
    return Function(symbols, statement.update, statement.let)


@lru_cache(256)
def _prepared(stage, let, symbols):
    """Functions for the guess, for the equations with their Jacobian, and for the sizes."""
    J, more = jacobian(stage.equations, stage.unknowns, let)
    entries = [e for row in J for e in row]
    sizes = [sp.oo if e is None else sp.Abs(e) for e in stage.sizes]  # oo: any correction will do
    everything = (*symbols, *stage.unknowns)
    return (
        Function(symbols, stage.guess, let),
        Function(everything, [*stage.equations, *entries], more),
        Function(everything, [*sizes, *stage.weights], let),
    )


def balanced(x):
    """A matrix with rows and columns scaled to size one, so that units do not matter."""
    x = x / np.maximum(np.abs(x).max(1, keepdims=True), 1e-300)
    return x / np.maximum(np.abs(x).max(0, keepdims=True), 1e-300)


def _solution(J, r):
    """x with J x = r, or None where J is singular to round-off or overflows."""
    if np.linalg.cond(balanced(J)) <= 1e13:
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.linalg.solve(J, r)
    return None


def _round_off(system, J, r, numbers):
    """The corrections that come of changes of all numbers in their last digit."""
    signs = np.random.default_rng(1).choice([-1, 1], (4, len(numbers)))
    moved = system(*np.moveaxis(numbers * (1 + EPS * signs), -1, 0))
    return np.abs(np.linalg.solve(J, (moved[:, : len(r)] - r).T)).max(1)


def _solve(stage, let, known, result):
    """Solve one stage; add its unknowns to ``known`` and return True, or say what failed."""
    n = len(stage.unknowns)
    guess, system, sizes = _prepared(stage, let, tuple(known))
    tolerance = 0.3 if stage.predictor else TOLERANCE  # a guess need not be better
    x = guess(*known.values())
    for turn in range(MAXITER):
        values = system(*known.values(), *x)
        r, J = values[:n], values[n:].reshape(n, n)
        result.residual = float(np.abs(r).sum())
        if not np.all(np.isfinite(values)):
            result.reason = "the equations are not finite here"
            result.advice = "Try a smaller h; check L and the constraints at this state."
            return False
        d = _solution(J, r)
        if d is None:
            result.reason = "the matrix of the step's equations is singular"
            result.advice = "The constraints or the discrete Lagrangian degenerate at this state."
            return False
        x = x - d
        size, weight = np.split(sizes(*known.values(), *x), 2)
        speed = size[weight != 0].sum()
        late = turn >= TRUSTED and not stage.predictor
        near = (LATE_TOLERANCE if late else tolerance) * (size + weight * speed)
        if not np.all(np.abs(d) <= near):
            lost = _round_off(system, J, r, [*known.values(), *(x + d)])
            most = tolerance * np.where(weight == 0, size, speed)
            near = np.maximum(near, np.minimum(lost, most))
        if np.isfinite(x).all() and np.all(np.abs(d) <= near):
            known |= dict(zip(stage.unknowns, x.tolist(), strict=True))
            return True
    result.reason = f"Newton's method did not converge in {MAXITER} iterations"
    result.advice = "Try a smaller h."
    return False
