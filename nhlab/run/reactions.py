"""What forces and constraints do along a computed motion: their work, and the reactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..mechanics.motion import multipliers_of
from ..methods import DLA

if TYPE_CHECKING:
    from ..mechanics.system import System
    from .trajectory import Trajectory

DEPENDENT = 1e-7  # smallest singular value of one-forms of which multipliers are not told


class Reaction(NamedTuple):
    """Times, the forces of the constraints at them, and the multipliers of these forces."""

    t: np.ndarray
    force: np.ndarray
    multiplier: np.ndarray

    def __repr__(self) -> str:
        shapes = f"force {self.force.shape}, multiplier {self.multiplier.shape}"
        return f"<Reaction at {len(self.t)} times: t, {shapes}>"


def work(sol: Trajectory) -> np.ndarray:
    """The work of the forces, and of constraints that move, since the start, shape (N+1,).

    Summed as the method does, h F.v of each step with F where its rule takes it; for
    DiscreteGradient, and with every > 1, by the midpoint rule along the chords between the
    stored nodes.  For other methods that carry v, as RK4 and Reference, by Simpson's rule on
    cubics through the nodes, of order 4 (on a group 2).  Constraints that move, A v + b = 0, do
    the work lam.b with the impulse lam of a step, or else the integral of -lambda.b.  Where L
    does not contain t, ``energy() - work()`` is what the true motion keeps.

    Examples
    --------
    >>> import nhlab as nh
    >>> x, vx = nh.symbols("x vx")
    >>> pushed = nh.System([x], [vx], vx**2 / 2, forces=[1])
    >>> sol = nh.integrate(pushed, nh.DLA(), [0], [0], h=0.1, T=2)
    >>> float(sol.work()[-1].round(12)), float(sol.energy()[-1].round(12))
    (2.0, 2.0)
    """
    if sol.inputs and sol.every != 1:
        raise ValueError("the work of inputs needs every step; integrate with every=1")
    s, t, q, h = sol.driven(), sol.t[:-1], sol.q[:-1], np.diff(sol.t)
    u = s.velocity_between(q, sol.q[1:], h)
    if sol.method.discrete and sol.every == 1:
        steps = sol.on_step("work")
    elif sol.method.discrete or sol.method.work_along_chord:
        steps = DLA().on_step(s, "work", t, q, u, h)
    else:
        steps = _integral(sol, s.power)
    steps = steps + _moving_work(sol, s) if s.is_affine else steps
    return np.concatenate([[0.0], np.cumsum(steps)])


def _moving_work(sol: Trajectory, system: System) -> np.ndarray:
    """The work of constraints that move in each step."""
    if sol.method.discrete and sol.every == 1:
        t, q = sol.starts
        return np.einsum("ka,ka->k", sol.rows.lam[1:], system.b(q, t))

    def power(q: np.ndarray, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        return -np.einsum("ka,ka->k", system.multipliers(q, v, t), system.b(q, t))

    return _integral(sol, power)


def _integral(sol: Trajectory, f: Callable) -> np.ndarray:
    """Of f(q, v, t) over each stored step: Simpson's rule on cubics through the nodes."""
    s, t, q, h = sol.system, sol.t[:-1], sol.q[:-1], np.diff(sol.t)
    u, v0, v1 = s.velocity_between(q, sol.q[1:], h), sol.v[:-1], sol.v[1:]
    middle = s.move(q, u + (v0 - v1) / 4, h / 2), 1.5 * u - (v0 + v1) / 4, t + h / 2
    ends = f(q, v0, t) + f(sol.q[1:], v1, t + h)
    return h / 6 * (ends + 4 * f(*middle))


def reaction(sol: Trajectory) -> Reaction:
    r"""The forces R = A^T lambda by which the constraints act on the system: a ``Reaction``.

    .. math:: \frac{d}{dt}L_v - L_q = F + R

    R belongs to the coordinates as F does, newtons for metres and newton metres for angles,
    and has the sign of a force on the system; ``lam`` is minus an impulse.  Returns (t, force,
    multiplier): times (N,), forces (N, n) and lambda (N, m).  A discrete method has an impulse
    at the node where each stored step begins; over the time between the points on either side
    at which it takes the constraint, this is a force of the method's own order.  At the start,
    where half of that is missing, and for methods that carry v, at all N+1 nodes, the equations
    of motion tell it.  Where D is spanned by fields, R is found without multipliers; these are NaN
    where the one-forms are dependent.

    Examples
    --------
    A disk of mass 1 that rolls in a circle at speed 1, turning by 1/2, is held by the force 1/2.

    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.rolling_disk(), nh.DLA(), h=0.01, steps=300)
    >>> found = sol.reaction()
    >>> float(np.hypot(found.force[-1, 0], found.force[-1, 1]).round(4))
    0.5
    """
    if sol.system.fields:
        return _reaction_of_fields(sol)
    if not sol.method.discrete:
        t, q = sol.t, sol.q
        lam = sol.driven(slice(None)).multipliers(q, sol.v, t)
    else:
        every = sol.every == 1
        t, q = (sol.t[:-1], sol.q[:-1]) if every else sol.starts
        lam = -sol.lam / _spans(sol)[:, None]
        if every and len(lam) and not sol.q1_given:
            at_start = sol.driven(slice(1)).multipliers(q[:1], sol.rows.v[:1], t[:1])
            lam = np.concatenate([at_start, lam[1:]])
    force = np.einsum("...ai,...a->...i", sol.system.A(q, t), lam)
    return Reaction(t, force, lam)


def _spans(sol: Trajectory) -> np.ndarray:
    """The time for which each impulse stands: from constraint to constraint."""
    if not sol.method.variable_step:
        return sol.h
    c = 0.5 if sol.method.symmetric else sol.method.alpha
    return (1 - c) * sol.rows.h_before[1:] + c * sol.h


# ---------------------------------------------------------------------------- D spanned by fields


def _impulses(sol: Trajectory) -> np.ndarray:
    """(N, n) p - p_minus at the node where each step begins: the impulse A^T lam of the step."""
    if sol.every != 1:
        raise ValueError(
            "with fields the impulses of the constraints follow from the momenta before and after "
            "each node; integrate with every=1"
        )
    impulses = sol.p[:-1] - sol.p_minus
    if sol.q1_given and len(impulses):
        impulses[0] = np.nan  # no force belongs to a step that was given
    return impulses


def _multipliers_of(sol: Trajectory, q: np.ndarray, t: np.ndarray, force: np.ndarray) -> np.ndarray:
    """lambda with A^T lambda = force; NaN where the one-forms are dependent."""
    A = sol.system.A(q, t)
    lam = multipliers_of(sol.system, q, t, np.nan_to_num(force))
    lost = np.isnan(force).any(-1) | (np.linalg.svd(A, compute_uv=False)[..., -1] < DEPENDENT)
    return np.where(lost[..., None], np.nan, lam)


def quasi_velocities(sol: Trajectory) -> np.ndarray:
    """``sol.u``: the quasi-velocities of v_projected = X(q) u, shape (N+1, r)."""
    return sol.system.u(sol.q, sol.v_projected, sol.t)


def multipliers(sol: Trajectory) -> np.ndarray:
    """``sol.lam`` where D is spanned by fields: of the one-forms of ``sol.system.constraints``,
    NaN where these are dependent."""
    if sol.method.discrete:
        t, q = sol.starts
        return _multipliers_of(sol, q, t, _impulses(sol))
    q, v, t = sol.q[:-1], sol.v[:-1], sol.t[:-1]
    return _multipliers_of(sol, q, t, -sol.h[:, None] * sol.driven().motion.reaction(q, v, t))


def _reaction_of_fields(sol: Trajectory) -> Reaction:
    """The reactions of a run along fields: from impulses, or from the equations of motion."""
    t, q, v = sol.t, sol.q, sol.v_projected
    if not sol.method.discrete:
        force = sol.driven(slice(None)).motion.reaction(q, v, t)
    else:
        t, q = t[:-1], q[:-1]
        force = -_impulses(sol) / _spans(sol)[:, None]
        if len(force) and not sol.q1_given:
            force[:1] = sol.driven(slice(1)).motion.reaction(q[:1], v[:1], t[:1])
    return Reaction(t, force, _multipliers_of(sol, q, t, force))
