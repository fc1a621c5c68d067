"""Measurements on runs and on discrete maps: drift, order, regularity, symplecticity, action.

Examples
--------
>>> import nhlab as nh
>>> sol = nh.integrate(nh.systems.particle(), nh.RK4(), h=0.2, steps=1250)
>>> slope = nh.diagnostics.drift(sol.t, sol.energy())[0]
>>> bool(slope < 0)
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..codegen.careful import careful_step
from ..codegen.derivatives import jacobian
from ..codegen.evaluate import Function
from ..mechanics.checks import need, one_of, read_array, read_number, sequence
from ..mechanics.system import System
from ..mechanics.velocities import start_of
from ..methods import DLA, EDLA, Reference
from ..methods.dla import dla_equations
from ..methods.layout import Layout, Rows
from ..run.arguments import check_pair, positive, whole
from ..run.loop import integrate
from ..run.trajectory import Trajectory

if TYPE_CHECKING:
    from ..methods.method import Method


@dataclass(frozen=True)
class Order:
    """Errors at one time for several step sizes, and the slope through those above round-off."""

    h: np.ndarray
    error: np.ndarray
    slope: float


def order(
    system: System,
    method: Method,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    T: float,
    hs: ArrayLike,
    start: str = "v0",
    reference: Callable[[np.ndarray], ArrayLike] | None = None,
    floor: float = 1e-10,
) -> Order:
    """The observed order: slope of log(error in q at time T) against log(h).

    Parameters
    ----------
    system, method : what runs
    q0, v0 : the start; without them the system's own
    T, hs : the time of the errors, and the step sizes, which divide it
    start : "v0", or "q1" to begin with the exact second position, not the method's own start-up
    reference : a function that gives the exact q(t), shape (len(t), n); by default nh.Reference
    floor : errors below it are taken for round-off and left out

    Returns the ``Order``, with ``.h``, ``.error`` and ``.slope``.

    Examples
    --------
    >>> import nhlab as nh
    >>> hs = [0.1, 0.05, 0.025]
    >>> for method in nh.DLA(), nh.DLA(0.3):
    ...     print(f"{nh.diagnostics.order(nh.systems.particle(), method, T=2, hs=hs).slope:.1f}")
    2.0
    1.0
    """
    check_pair(system, method)
    T, floor = positive(T, False, "T"), read_number(floor, "floor")
    (q0, v0), hs = start_of(system, q0, v0), _numbers(hs, "hs", 1)
    need(reference, (Callable, type(None)), "reference", "function of times that gives positions")

    def exact(t: float) -> np.ndarray:
        if reference is not None:
            return np.asarray(reference(np.array([t])))[0]
        return integrate(system, Reference(), q0, v0, h=t, steps=1).q[-1]

    errors = np.empty(len(hs))
    for k, h in enumerate(hs):
        steps = round(T / positive(float(h), False, "h"))
        if abs(steps * h - T) > 1e-9 * T:
            raise ValueError(f"T = {T:g} is not a multiple of h = {h}")
        first = {"q1": exact(h)} if start == "q1" else {"v0": v0}
        sol = integrate(system, method, q0, h=h, steps=steps, **first)
        errors[k] = np.abs(sol.q[-1] - exact(sol.t[-1])).max()
    return fit_order(hs, errors, floor)


def constraint_order(
    system: System,
    method: Method,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    hs: ArrayLike,
    floor: float = 1e-10,
) -> Order:
    r"""How far true motions are from satisfying the discrete constraint, and with which order.

    .. math:: w_d(q(0), q(h)) = O(h^k), \qquad q \text{ the true motion from } (q_0, v_0)

    The pairs of places that a motion joins in the time h are the exact discrete constraint, the
    image of the nonholonomic exponential map (Anahory Simoes, Marrero & Martin de Diego, Numer.
    Math. 151 (2022)).  ``error`` is the largest :math:`|w_d|` of the pair for each h of hs, in the
    units of A v; the motion is that of nh.Reference.  At special starts k may be higher than
    elsewhere.  DLA is at most of the order that k has elsewhere: if w_d is of a lower order than
    Ld, the better Ld is wasted (CM01, Remark 3.1).

    Parameters
    ----------
    system : with constraints on velocities
    method : nh.DLA or nh.EDLA with the rule of w_d, such as nh.DLA(0.3) or
        nh.DLA(constraint_alpha=0)
    q0, v0 : where the motion begins; without them the system's own start
    hs : the times h
    floor : residuals below it are taken for round-off and left out of the slope

    Examples
    --------
    >>> import nhlab as nh
    >>> sleigh, hs = nh.systems.sleigh(), [0.1, 0.05, 0.025]
    >>> for method in nh.DLA(), nh.DLA(0.3), nh.DLA(constraint_alpha=0):
    ...     print(f"{nh.diagnostics.constraint_order(sleigh, method, hs=hs).slope:.1f}", method)
    2.0 DLA(alpha=0.5)
    1.0 DLA(alpha=0.3)
    1.0 DLA(alpha=0.5, constraint_alpha=0.0)
    """
    check_pair(system, method)
    _need_forms(system, "w_d")
    need(method, (DLA, EDLA), "method", "method that imposes w_d, nh.DLA or nh.EDLA")
    if not system.constraints:
        raise ValueError(f"{system!r} has no constraints on velocities, and therefore no w_d")
    (q0, v0), hs = start_of(system, q0, v0), _numbers(hs, "hs", 1)
    floor, errors = read_number(floor, "floor"), np.empty(len(hs))
    for k, h in enumerate(hs):
        h = positive(float(h), False, "h")
        q = integrate(system, Reference(), q0, v0, h=h, steps=1).q
        v = system.velocity_between(q[:1], q[1:], np.array([h]))
        errors[k] = np.abs(method.on_step(system, "constraints", np.zeros(1), q[:1], v, h)).max()
    return fit_order(hs, errors, floor)


class Modified(NamedTuple):
    """The first term of a modified equation at one state: of q' and of p', shape (n,) each, and
    how far the extrapolation to h = 0 may be off."""

    q: np.ndarray
    p: np.ndarray
    error: float


def modified_term(
    system: System,
    method: Method,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    h: float = 0.1,
) -> Modified:
    r"""By how much the equation that a method solves exactly differs from the true one.

    .. math:: (\dot q, \dot p) = f(q, p) + h^k\,g(q, p) + O(h^{k+1}), \qquad
              h^{k+1} g = \Phi_h - \varphi_h + O(h^{k+2})

    g is measured in one state, from single steps :math:`\Phi_h` of the order k of the method beside
    the true motion :math:`\varphi_h` of nh.Reference, with h, h/2, h/4 and h/8.

    Parameters
    ----------
    system : without constraints, as a reduction; for others (q, p) are not free
    method : one whose steps are all of the size h
    q0, v0 : the state; without them the system's own start
    h : the largest step; a smaller one lets round-off through, as h^-(k+1)

    Examples
    --------
    RDLA makes the robot of lesson 07 a pendulum of slightly wrong mass.  Without its spring the
    velocity is p/M, and the mass M = 3 I + m R^2 cos(h w/2) of turning at the rate w gives

    >>> import nhlab as nh
    >>> robot = nh.Chaplygin(nh.systems.robot(k=0), fibre="x y")
    >>> term = nh.diagnostics.modified_term(robot, nh.RDLA(), [0, 0], [2, 1])
    >>> print(f"{term.q[1]:.6f}, by the mass {2**2 / 8 / 4**2 * 4:.6f}")
    0.125000, by the mass 0.125000
    """
    check_pair(system, method)
    if system.m:
        raise ValueError(f"{system!r} has constraints, on which (q, p) is not free; reduce it")
    if method.variable_step or not method.has_step:
        raise ValueError(f"{method!r} chooses its own steps; take one that does not")
    (q0, v0), hs = start_of(system, q0, v0), positive(h, False) / 2 ** np.arange(4.0)
    rates = np.empty((4, 2 * len(system.q)))
    for k, h in enumerate(hs):
        step, true = (integrate(system, m, q0, v0, h=h, steps=1) for m in (method, Reference()))
        p = system.momentum(true.q[-1], true.v[-1])
        off = np.concatenate([step.q[-1] - true.q[-1], step.p[-1] - p])
        rates[k] = off / h ** (method.order + 1)
    rough, fine = (np.polyfit(hs[-count:], rates[-count:], count - 1)[-1] for count in (3, 4))
    return Modified(*np.split(fine, 2), float(np.abs(fine - rough).max()))


def fit_order(hs: ArrayLike, errors: ArrayLike, floor: float = 0.0) -> Order:
    """Fit the order to errors: the slope of log(error) against log(h).

    Parameters
    ----------
    hs, errors : step sizes and the error of each, shape (N,)
    floor : errors below it are round-off and left out; at least three must lie above

    Examples
    --------
    >>> import nhlab as nh
    >>> print(f"{nh.diagnostics.fit_order([0.4, 0.2, 0.1], [0.16, 0.04, 0.01]).slope:.6f}")
    2.000000
    """
    hs, errors, floor = _numbers(hs, "hs"), _numbers(errors, "errors"), read_number(floor, "floor")
    if len(hs) != len(errors) or not (hs > 0).all():
        raise ValueError(f"hs = {hs} must be positive, and as many as the {len(errors)} errors")
    use = errors > max(floor, 0.0)
    if use.sum() < 3:
        raise ValueError(
            f"fewer than three errors {errors} lie above floor = {floor:g}; use "
            + ("larger hs" if len(hs) > 2 else "at least three hs")
        )
    slope = np.polyfit(np.log(hs[use]), np.log(errors[use]), 1)[0]
    return Order(hs, errors, float(slope))


def drift(t: ArrayLike, x: ArrayLike) -> tuple[float, float]:
    """Slope of the straight line through x(t), and its standard error for independent residuals.

    Parameters
    ----------
    t, x : times and values, shape (N,)

    Examples
    --------
    >>> import nhlab as nh
    >>> slope, error = nh.diagnostics.drift([0, 1, 2, 3], [1, 3, 5, 7])
    >>> print(f"{slope:.6f}")
    2.000000
    """
    t, x = _numbers(t, "t"), _numbers(x, "x")
    if len(t) != len(x):
        raise ValueError(f"t has {len(t)} numbers and x {len(x)}; expected as many")
    fit, cov = np.polyfit(t - t.mean(), x, 1, cov=True)
    return float(fit[0]), float(np.sqrt(cov[0, 0]))


def _numbers(x: ArrayLike, name: str, least: int = 2) -> np.ndarray:
    x = read_array(x, name)
    if x.ndim != 1 or len(x) < least:
        raise ValueError(f"{name} has shape {x.shape}; expected (N,), at least {least} numbers")
    return x


def _need_forms(system: System, what: str) -> None:
    """Refuse what is stated for one-forms and multipliers where D is spanned by fields."""
    if system.fields:
        raise ValueError(
            f"{what} is stated for one-forms, and {system!r} has fields; run system.by_forms()"
        )


def regularity(sol: Trajectory) -> np.ndarray:
    """The determinant of CM01's matrix (7) at each step of a DLA run, shape (N,).

    [[D1D2Ld(q_k, q_k+1), A(q_k)^T], [D2wd(q_k, q_k+1), 0]]; the step is solvable iff it is not 0.

    Parameters
    ----------
    sol : a run of nh.DLA

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> determinant = nh.diagnostics.regularity(sol)
    >>> determinant.shape, bool(abs(determinant).min() > 1)
    ((50,), True)
    """
    need(sol, Trajectory, "sol", "Trajectory")
    _need_forms(sol.system, "CM01's matrix (7)")
    s, m, v, h = sol.method.frame(sol.system), sol.method, sol.v_step, sol.h
    equations, _, let = dla_equations(s, m.symmetric, getattr(m, "constraint_alpha", None))
    q = sol.system.move(sol.q[1:], v, -h)
    point = {s.t: sol.t[1:] - h, s.h: h, s.alpha: m.alpha, **sol.driven().parameters}
    point |= dict(zip((*s.q, *s.v1), np.concatenate([q, v], -1).T, strict=True))
    matrix = _derivative(equations, (*s.v1, *s.lam1), let, point)
    sign = np.array([-1] * s.n + [1] * len(sol.system.constraints))  # g is solved as g/h
    matrix[:, : len(sign), : s.n] *= (sign / h[:, None])[..., None]
    return np.linalg.det(matrix)


def tangent(
    system: System,
    method: Method,
    *,
    t: float = 0.0,
    h: float,
    row: ArrayLike,
    inputs: Sequence[str] = ("q", "p"),
) -> np.ndarray:
    """The derivative of one step of the method, exact to round-off.

    The implicit function theorem is applied to the equations the method states, not to its solver.

    Parameters
    ----------
    system, method : whose step it is
    t, h : where the step begins, and its size; a method that chooses its steps has both in the row
    row : a stored row, as ``sol.rows.array[k]`` (see ``method.layout``)
    inputs : by what to differentiate, any of t, q, p, v, e: the columns of the result, whose rows
        belong to (t, h, *carry) after the step

    Examples
    --------
    A step of the pendulum from rest at the bottom, where the force is -theta:

    >>> import nhlab as nh
    >>> pendulum = nh.systems.pendulum()
    >>> sol = nh.integrate(pendulum, nh.DLA(), [0], [0], h=0.2, steps=1)
    >>> D = nh.diagnostics.tangent(pendulum, nh.DLA(), h=0.2, row=sol.rows.array[0])
    >>> D[2:4].round(3).tolist()
    [[0.98, 0.198], [-0.198, 0.98]]
    """
    check_pair(system, method)
    statement, layout = method.program(system).statement, method.layout(system)
    row = read_array(row, "row", (layout.width,), f"a row has {layout.width} numbers")
    args = method.arguments(system, np.ones(len(system.v)))
    t, h = row[:2] if layout.chooses_step else (read_number(t, "t"), positive(h, False))
    carry, let = Rows(layout, row).carry, statement.let
    attempt = careful_step(statement, t, h, carry.tolist(), args)
    if not attempt.ok:
        raise ValueError(f"the step cannot be taken: {attempt.reason}")
    symbols = (statement.t, statement.h, *statement.carry)
    names = _after(method, system, np.array(symbols))
    varied = np.hstack([getattr(names, one_of(x, vars(names), "inputs")) for x in sequence(inputs)])
    slopes = np.array([[float(s is w) for w in varied] for s in symbols])
    for point in attempt.substeps:
        slopes[1] *= point.get(statement.part, 1.0)
        D = dict(zip(symbols, slopes, strict=True))
        for stage in statement.stages:
            by_x = _derivative(stage.equations, stage.unknowns, let, point)
            by_known = _derivative(stage.equations, tuple(D), let, point)
            dx = -np.linalg.solve(by_x, by_known @ np.array(list(D.values())))
            D |= dict(zip(stage.unknowns, dx, strict=True))
        new_h = statement.h if statement.new_h is None else statement.new_h
        outputs = (statement.t + new_h, new_h, *statement.update)
        slopes = _derivative(outputs, tuple(D), let, point) @ np.array(list(D.values()))
        slopes[1] /= point.get(statement.part, 1.0)
    return slopes


def _derivative(expressions: Sequence, variables: tuple, let: Sequence, point: dict) -> np.ndarray:
    """Values of d(expressions)/d(variables) at a point, a dict symbol -> number."""
    f = _derivative_function(tuple(expressions), variables, tuple(let), tuple(point))
    return f(*point.values())


@lru_cache(64)
def _derivative_function(
    expressions: tuple, variables: tuple, let: tuple, symbols: tuple
) -> Function:
    return Function(symbols, *jacobian(expressions, variables, let))


def _after(method: Method, system: System, values: np.ndarray) -> Rows:
    """(t, h, *carry) in the last axis, by name."""
    return Rows(Layout({"t": 1, "h": 1, **method.layout(system)}), values)


def symplectic_defect(DPhi: np.ndarray) -> float:
    """max |DPhi^T J DPhi - J| for a map of (q, p), zero iff it is symplectic.

    Parameters
    ----------
    DPhi : the derivative of the map, shape (2n, 2n)

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.diagnostics.symplectic_defect([[1, 0.2], [0, 1]])
    0.0
    >>> nh.diagnostics.symplectic_defect([[2, 0], [0, 1]])
    1.0
    """
    DPhi = np.atleast_1d(read_array(DPhi, "DPhi"))
    J = symplectic_form(len(DPhi) // 2)
    if DPhi.shape != J.shape:
        raise ValueError(f"DPhi has shape {DPhi.shape}; expected (2n, 2n), a derivative by (q, p)")
    return float(np.abs(DPhi.T @ J @ DPhi - J).max())


def symplectic_form(n: int) -> np.ndarray:
    """The matrix J of dq ^ dp on (q, p), shape (2n, 2n).

    Parameters
    ----------
    n : the number of coordinates

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.diagnostics.symplectic_form(1)
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    n = whole(n, "n", 0)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])


def symplectic_change(sol: Trajectory, k: int) -> tuple[np.ndarray, np.ndarray]:
    """How step k -> k+1 of a fixed-step run changes the symplectic form, and why: CM01 (22).

    Returns (DPhi^T J DPhi - J, d beta_d) on (q, p), shape (2n, 2n) each; they are equal.
    beta_d = lam_a A^a(q).dq is the work of the step's constraint impulse.

    Parameters
    ----------
    sol : a run of a discrete method with a fixed step, every step stored
    k : the number of the step

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=5)
    >>> change, reason = nh.diagnostics.symplectic_change(sol, 3)
    >>> bool(abs(change).max() > 0.01), bool(abs(change - reason).max() < 1e-12)
    (True, True)
    """
    s, m = need(sol, Trajectory, "sol", "Trajectory").system, sol.method
    need(k, Integral, "k", "number of a step")
    _need_forms(s, "CM01 (22)")
    if s.is_forced:
        raise ValueError(f"CM01 (22) is a law without forces, and {s!r} has some")
    if m.variable_step or not m.discrete or sol.every != 1 or not 0 <= k < len(sol) - 1:
        raise ValueError(
            f"symplectic_change needs a step 0 <= k < {len(sol) - 1} of a discrete "
            f"method with fixed h and every=1, not k = {k} of {m!r}"
        )
    n, A = len(s.q), s.symbolic.A
    T = tangent(s, m, t=sol.t[k], h=sol.h[k], row=sol.rows.array[k])
    after = _after(m, s, T.T)
    D = np.concatenate([after.q, after.p], -1).T
    J, E = symplectic_form(n), np.eye(n, 2 * n)
    slopes = [[[e.diff(x) for x in s.q] for e in row] for row in A]
    dA = s.values(slopes, sol.q[k], None, sol.t[k]).reshape(len(A), n, n)
    work = (after.lam @ s.A(sol.q[k], sol.t[k])).T  # the derivative of lam_a A^a
    work[:, :n] += np.einsum("aij,a->ij", dA, sol.lam[k])
    return D.T @ J @ D - J, work.T @ E - E.T @ work


def action(system: System, method: Method, t: ArrayLike, q: ArrayLike) -> float:
    """The action sum of a discrete path, CM01 (1).

    Parameters
    ----------
    system, method : whose discrete Lagrangian is summed
    t, q : the nodes of the path, shapes (N+1,) and (N+1, n)

    Examples
    --------
    A free particle of mass 1 that takes one second for one metre:

    >>> import nhlab as nh
    >>> x, vx = nh.symbols("x vx")
    >>> free = nh.System([x], [vx], vx**2 / 2)
    >>> nh.diagnostics.action(free, nh.Variational(), [0, 0.5, 1], [[0], [0.5], [1]])
    0.5
    """
    check_pair(system, method)
    t, q = _numbers(t, "t"), read_array(q, "q")
    if not method.discrete or q.shape != (len(t), len(system.q)):
        expected = f"({len(t)}, {len(system.q)}), and a method with a discrete Lagrangian"
        raise ValueError(f"q has shape {q.shape}, method = {method!r}; expected {expected}")
    h = np.diff(t)
    v = system.velocity_between(q[:-1], q[1:], h)
    return float(method.on_step(system, "Ld", t[:-1], q[:-1], v, h).sum())


def lagrangian(system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
    """Values of L, shape (...).

    Parameters
    ----------
    system : an nh.System
    q, v, t : states, shape (..., n) or by names, and their times

    Examples
    --------
    >>> import nhlab as nh
    >>> float(nh.diagnostics.lagrangian(nh.systems.particle(), [0, 1, 0], [1, 1, 1]))
    0.5
    """
    return need(system, System, "system", "nh.System").values(system.L, q, v, t)


KINDS = {0.0: "bounded", 0.5: "random walk", 1.0: "drift"}
BLOCKS = 128
SHRINKS = 0.7  # changes that fall below this part of those over a shorter time do not grow


@dataclass(frozen=True)
class Growth:
    """How an error grows: as t to the power ``exponent`` +- ``error``; ``kind`` in words.

    lags, size : the lags, in blocks, and the root mean square change of a block mean over them
    slope, slope_error : mean over the runs of the slope of x, and its standard error
    """

    exponent: float
    error: float
    kind: str
    lags: np.ndarray
    size: np.ndarray
    slope: float
    slope_error: float


def growth(
    t: ArrayLike,
    x: ArrayLike,
    blocks: int = BLOCKS,
    floor: float = 1e-11,
    resamples: int = 200,
    seed: int = 0,
) -> Growth:
    r"""Decide whether x(t) is bounded, walks randomly or drifts, with an uncertainty.

    .. math:: D(l) = \bigl\langle (\bar x_{i+l} - \bar x_i)^2 \bigr\rangle \sim l^{2\gamma},
              \qquad \gamma = 0,\ \tfrac12,\ 1

    A single run does not tell a walk from a drift.  Oscillations are taken out by the means
    :math:`\bar x_i` of ``blocks`` blocks.  gamma is fitted over the longer lags, its standard error
    found by drawing the runs anew.  The kind is "bounded", "random walk" or "drift" where gamma +-
    2 errors is nearest to one of the three alone, else "undecided"; "exact" if no mean changes by
    more than ``floor``.  A walk goes either way: if the mean slope is five times its error, growth
    is a drift that slows down.  Otherwise growth never shrinks: if D falls clearly from one lag to
    a longer one, x is bounded, whatever gamma is.  (D of a wave goes up and down like 1 - cos(a l),
    and a line through its logarithm may be as steep as that of a drift, with a small error.)

    Parameters
    ----------
    t, x : common times (N,), and values (K, N) of K >= 8 runs from different starts
    blocks : of how many blocks the means are taken
    floor : changes of means below it are round-off
    resamples, seed : how often the runs are drawn anew, and the seed of that

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> t, phase = np.linspace(0, 100, 2000), np.linspace(0, 6, 10)[:, None]
    >>> nh.diagnostics.growth(t, np.sin(t + phase)).kind
    'bounded'
    >>> nh.diagnostics.growth(t, np.sin(t + phase) + 0.1 * t).kind
    'drift'
    """
    at, means = _block_means(t, x, blocks)
    runs, count = means.shape
    lags = np.unique(np.geomspace(1, count // 2, 12).astype(int))
    square = np.stack([((means[:, k:] - means[:, :-k]) ** 2).mean(1) for k in lags], 1)
    use = lags >= max(2, count // 16)  # a walk smoothed by blocks grows too fast at lag 1

    def exponent(some: np.ndarray) -> float:
        return np.polyfit(np.log(lags[use]), np.log(some.mean(0)[use]), 1)[0] / 2

    slopes = np.polyfit(at, means.T, 1)[0]
    slope = float(slopes.mean()), float(slopes.std(ddof=1) / np.sqrt(runs))
    size = np.sqrt(square.mean(0))
    if size.max() <= floor:
        return Growth(0.0, 0.0, "exact", lags, size, *slope)
    square = square + np.finfo(float).tiny
    rng, value = np.random.default_rng(seed), exponent(square)
    error = float(
        np.std([exponent(square[rng.integers(runs, size=runs)]) for _ in range(resamples)])
    )
    near = {min(KINDS, key=lambda k: abs(k - y)) for y in (value - 2 * error, value + 2 * error)}
    kind = KINDS[min(near)] if len(near) == 1 else "undecided"
    if near <= {0.5, 1.0}:
        drifts = abs(slope[0]) > 5 * slope[1]
        kind = "drift" if drifts else "bounded" if shrinks(size[use]) else kind
    return Growth(float(value), error, kind, lags, size, *slope)


def shrinks(size: np.ndarray) -> bool:
    """Do changes over ever longer times fall clearly below those over a shorter one?

    Parameters
    ----------
    size : the sizes of the changes, as ``.size`` of what ``growth`` returns

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.diagnostics.shrinks([1, 2, 4, 8]), nh.diagnostics.shrinks([4, 3, 2, 1])
    (False, True)
    """
    size = _numbers(size, "size")
    return bool((size < SHRINKS * np.maximum.accumulate(size)).any())


def _block_means(t: ArrayLike, x: ArrayLike, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the blocks begin, shape (blocks,), and the means of each run over them, (K, blocks)."""
    t, x = _numbers(t, "t"), np.atleast_2d(read_array(x, "x"))
    if x.shape[-1] != len(t) or not np.isfinite(x).all():
        raise ValueError(
            f"x has shape {x.shape}, with {int(np.isnan(x).sum())} NaN; expected one "
            f"finite number for each of {len(t)} times"
        )
    count = min(whole(blocks, "blocks", 1), len(t))
    if len(x) < 8 or count < 16:
        raise ValueError(
            f"{len(x)} runs in {count} blocks are too few; give at least 8 runs from "
            "different starts and 16 times"
        )
    length = len(t) // count
    means = x[:, : length * count].reshape(len(x), count, length).mean(-1)
    return np.arange(count) * length * (t[-1] - t[0]) / (len(t) - 1), means
