"""Takes a step once more, slowly: with pivoting, and with the reason if that fails, too.

The generated step eliminates in an order that is chosen when its text is written.  Where one of its
pivots vanishes, ``careful_step`` takes this step; where the step has no solution, it finds out why.
"""

from __future__ import annotations

import contextlib
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from .derivatives import jacobian
from .evaluate import Function
from .statement import LATE_TOLERANCE, MAXITER, TOLERANCE, TRUSTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kinds import Pair
    from .statement import Stage, Statement

    Point = dict[sp.Symbol, float]  # the values of all symbols that are known

EPS = np.finfo(float).eps
# A solution whose round-off is multiplied by more than this is refused: it would have an error of
# more than about 1e-9.  Not larger, for a matrix that is singular to round-off measures 1e8.
MAX_AMPLIFICATION = 1e7
# Round-off that moves a solution is no fault of the step; round-off that moves the matrix of its
# equations is, as that of sin(x) at x = 1e14.
MAX_CHANGE = 1e-6


class Attempt:
    """The outcome: ``ok``, the new ``h`` and ``carry``; if not ok, ``reason`` and ``advice``.

    ``substeps`` : the values of all symbols in each, as dicts.
    """

    def __init__(self) -> None:
        self.ok, self.reason, self.advice, self.residual = False, "", "", math.nan
        self.h, self.carry = math.nan, np.empty(0)
        self.substeps: list[dict[sp.Symbol, float]] = []


def careful_step(
    statement: Statement, t: float, h: float, carry: Sequence[float], args: Sequence[float]
) -> Attempt:
    """Solve the equations of a statement by Newton's method with partial pivoting.

    t, h : time and step size;  carry, args : the numbers that ``Statement`` names so
    """
    result, begun = Attempt(), t
    result.carry = np.asarray(carry, float)
    for part in statement.factors or (1.0,):
        point = {statement.t: t, statement.h: part * h}
        point |= dict(zip(statement.carry, result.carry.tolist(), strict=True))
        point |= dict(zip(statement.args, args, strict=True))
        if statement.part is not None:
            point[statement.part] = part
        with np.errstate(all="ignore"):
            if not all(_solve(x, statement.let, point, result) for x in statement.stages):
                return result
            values = _update(statement, tuple(point))(*point.values())
            result.carry, required = np.split(values, [len(statement.update)])
        if not np.all(required > 0):
            result.reason = "what the method requires does not hold"
            result.advice = "The constraints or M degenerate at this state."
            return result
        result.substeps.append(point)
        t = t + part * h
    result.h = h if statement.new_h is None else point[statement.new_h]
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
def _update(statement: Statement, symbols: tuple[sp.Symbol, ...]) -> Function:
    return Function(symbols, (*statement.update, *statement.required), statement.let)


@lru_cache(256)
def _prepared(
    stage: Stage, let: tuple[Pair, ...], symbols: tuple[sp.Symbol, ...]
) -> tuple[Function, Function, Function]:
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


@lru_cache(256)
def _magnitudes(stage: Stage, let: tuple[Pair, ...], symbols: tuple[sp.Symbol, ...]) -> Function:
    """A function for the sizes of the equations' terms, which their round-off is measured by."""
    return Function((*symbols, *stage.unknowns), [*map(_magnitude, stage.equations)], let)


def _magnitude(e: Any) -> sp.Expr:
    """e with all terms of its sums, and of the sums in its products, made positive."""
    if e.is_Add or e.is_Mul:
        return e.func(*map(_magnitude, e.args))
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return _magnitude(e.base) ** e.exp
    return sp.Abs(e, evaluate=False)


def balanced(x: np.ndarray) -> np.ndarray:
    """Matrices with rows and columns scaled to size one, so that units do not matter."""
    for axis in (-1, -2):
        x = x / np.maximum(np.abs(x).max(axis, keepdims=True, initial=0), 1e-300)
    return x


def amplification(J: np.ndarray) -> float:
    """By how much J x = r multiplies the relative round-off of J and r; infinite if J is singular.

    It is the spectral radius of |J^-1| |J|: the smallest condition number that any scaling of the
    rows and columns of J can reach (Bauer, Numer. Math. 5 (1963)).  So the units of the equations
    and of the unknowns do not matter.  For M v + A^T lam = p, A v = 0 it is about one over the
    smallest singular value of A with rows of length one.
    """
    J = balanced(J)
    try:
        return _radius(np.abs(np.linalg.inv(J)) @ np.abs(J))
    except np.linalg.LinAlgError:
        return math.inf


def _radius(x: np.ndarray) -> float:
    """The spectral radius of a matrix, infinite if it overflows or cannot be found."""
    with contextlib.suppress(np.linalg.LinAlgError):
        return float(np.abs(np.linalg.eigvals(x)).max()) if np.isfinite(x).all() else math.inf
    return math.inf


def _solution(J: np.ndarray, r: np.ndarray) -> np.ndarray | None:
    """x with J x = r, or None where there is no finite one."""
    with contextlib.suppress(np.linalg.LinAlgError):
        x = np.linalg.solve(J, r)
        return x if np.isfinite(x).all() else None
    return None


def _is_sound(J: np.ndarray, result: Attempt) -> bool:
    """True if round-off leaves digits of solutions of J x = r; else ``result`` gets the reason."""
    worst = amplification(J)
    return worst <= MAX_AMPLIFICATION or _singular(
        result, f"it multiplies round-off by {worst:.0e}"
    )


def _singular(result: Attempt, detail: str) -> bool:
    """False; ``result`` gets the reason."""
    result.reason = f"the matrix of the step's equations is singular ({detail})"
    result.advice = "The constraints or the discrete Lagrangian degenerate at this state."
    return False


def _round_off(
    stage: Stage, let: tuple[Pair, ...], point: Point, x: np.ndarray, r: np.ndarray, J: np.ndarray
) -> tuple[np.ndarray, bool]:
    """How round-off disturbs the equations r and their matrix J at x.

    All numbers are changed in their last digit, and the equations' sums by some digits of theirs.
    Returns the corrections of x that these changes cause, which Newton's method cannot improve on,
    and whether J stays the same to MAX_CHANGE.  How far J moves is the spectral radius of
    |J^-1| |change of J|, on which units have no effect.
    """
    _, system, _ = _prepared(stage, let, tuple(point))
    n, numbers = len(x), np.array([*point.values(), *x])
    signs = np.random.default_rng(1).choice([-1, 1], (4, len(numbers)))
    perturbed, there = _equations(system(*np.moveaxis(numbers * (1 + EPS * signs), -1, 0)), n)
    inverse = np.abs(np.linalg.inv(J))
    sums = 4 * EPS * _magnitudes(stage, let, tuple(point))(*numbers)
    corrections = np.abs(np.linalg.solve(J, (perturbed - r).T)).max(1) + inverse @ sums
    return corrections, _radius(inverse @ np.abs(there - J).max(0)) <= MAX_CHANGE


def _equations(values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The equations and their n x n matrix, over leading axes."""
    return values[..., :n], values[..., n:].reshape(*values.shape[:-1], n, n)


def _solve(stage: Stage, let: tuple[Pair, ...], point: Point, result: Attempt) -> bool:
    """Solve one stage by Newton's method and add the values of its unknowns to ``point``.

    Returns False where that is not possible; ``result`` then has the reason.
    """
    n = len(stage.unknowns)
    guess, system, sizes = _prepared(stage, let, tuple(point))
    tolerance = 0.3 if stage.predictor else TOLERANCE  # a guess need not be better
    x = guess(*point.values())
    for turn in range(MAXITER):
        values = system(*point.values(), *x)
        r, J = _equations(values, n)
        result.residual = float(np.abs(r).sum())
        if not np.all(np.isfinite(values)):
            result.reason = "the equations are not finite here"
            result.advice = "Try a smaller h; check L and the constraints at this state."
            return False
        d = _solution(J, r)
        if d is None:
            return _singular(result, "no pivot is left")
        x = x - d
        size, weight = np.split(sizes(*point.values(), *x), 2)
        speed = size[weight != 0].sum()
        late = turn >= TRUSTED and not stage.predictor
        near = (LATE_TOLERANCE if late else tolerance) * (size + weight * speed)
        if not np.all(np.abs(d) <= near):
            # A velocity may be the last digit of a momentum, as of a body at rest with b(q).v in
            # L.  Then it is all round-off, and no smaller correction can be had.
            round_off, same = _round_off(stage, let, point, x + d, r, J)
            most = tolerance * np.where(weight == 0, size, np.inf if same else speed)
            near = np.maximum(near, np.minimum(round_off, most))
        if np.isfinite(x).all() and np.all(np.abs(d) <= near):
            point |= dict(zip(stage.unknowns, x.tolist(), strict=True))
            return stage.predictor or _is_sound(J, result)
    if not _is_sound(J, result):
        return False
    result.reason = f"Newton's method did not converge in {MAXITER} iterations"
    result.advice = "Try a smaller h."
    return False
