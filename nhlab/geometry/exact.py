"""What a method would be if it were exact: the nonholonomic exponential map, the exact discrete
Lagrangian and the exact discrete constraint, computed by nh.Reference.

After Anahory Simoes, Marrero & Martin de Diego, Numer. Math. 151 (2022).

Examples
--------
A spring q'' = -q joins q0 and q1 with the action ((q0^2 + q1^2) cos h - 2 q0 q1)/(2 sin h).

>>> import nhlab as nh
>>> import numpy as np
>>> q, v = nh.symbols("q v")
>>> spring = nh.System([q], [v], v**2 / 2 - q**2 / 2)
>>> step = nh.exact.step(spring, [1.0], [0.5], h=0.3)
>>> a, b = 1.0, step.q1[0]
>>> closed = ((a**2 + b**2) * np.cos(0.3) - 2 * a * b) / (2 * np.sin(0.3))
>>> bool(abs(step.action - closed) < 1e-11)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import need, read_array, read_number
from ..mechanics.system import System
from ..mechanics.velocities import start_of
from ..methods import Reference
from ..run.arguments import check_pair, positive
from ..run.loop import integrate
from .diagnostics import Order, fit_order

if TYPE_CHECKING:
    from ..methods.method import Method

POINTS = 16  # intervals of a step for the integral of L, by Romberg's rule: a power of 2
SETTLED = 1e-13  # the last change of a velocity, of its size, after which the inverse is found
MAX_TURNS = 60  # corrections, each about h times the one before


class Step(NamedTuple):
    """One step of the true motion, from (q0, v0) to (q1, v1) in the time h.

    action : the integral of L over the step, the exact discrete Lagrangian of (q0, q1)
    p0, p1 : the momenta dL/dv at both ends
    """

    h: float
    q0: np.ndarray
    v0: np.ndarray
    q1: np.ndarray
    v1: np.ndarray
    action: float
    p0: np.ndarray
    p1: np.ndarray


def step(
    system: System, q0: ArrayLike | None = None, v0: ArrayLike | None = None, *, h: float
) -> Step:
    r"""The nonholonomic exponential map, and the exact discrete Lagrangian.

    .. math:: \exp_h(q_0, v_0) = q(h), \qquad L_d^e(q_0, q_1) = \int_0^h L(q, \dot q)\,dt

    along the motion from (q0, v0), v0 in D.  The pairs (q0, exp(q0, v0)) are the exact discrete
    constraint, of dimension 2n - m; on them alone the exact discrete Lagrangian is defined.
    The errors are those of nh.Reference, about 1e-12.

    q0, v0 : where the step begins, at the time 0; by default the system's own start
    h : its size

    Examples
    --------
    >>> import nhlab as nh
    >>> one = nh.exact.step(nh.systems.particle(), [0, 1, 0], [1, 1, 1], h=0.1)
    >>> one.q1.round(6).tolist(), round(one.action, 6)
    ([0.097552, 1.089684, 0.10206], 0.030155)
    """
    need(system, System, "system", "nh.System")
    (q0, v0), h = start_of(system, q0, v0), positive(h, False)
    sol = integrate(system, Reference(), q0, v0, h=h / POINTS, steps=POINTS, progress=False)
    q, v = sol.q, sol.v
    L = system.values(system.L, q, v, sol.t)
    p0, p1 = (system.momentum(q[k], v[k], sol.t[k]) for k in (0, -1))
    return Step(h, q[0], v[0], q[-1], v[-1], _integral(L, h), p0, p1)


def _integral(values: np.ndarray, h: float) -> float:
    """Romberg's rule for 2^k + 1 values over an interval of the length h."""
    every, row = len(values) - 1, []
    while every:
        some = values[::every]
        trapezoids = h / (len(some) - 1) * (some.sum() - (some[0] + some[-1]) / 2)
        new = [trapezoids]
        for k, before in enumerate(row, 1):
            new.append(new[-1] + (new[-1] - before) / (4**k - 1))
        row, every = new, every // 2
    return float(row[-1])


class Start(NamedTuple):
    """The start v0 of the motion that leads from q0 nearest to a place q1, and what it misses.

    constraint : A(q0) (q1 - q(h))/h for each constraint, on a group with body velocities in the
        place of differences; zero if and only if a motion joins the pair: a function whose zeros
        are the exact discrete constraint
    """

    v0: np.ndarray
    constraint: np.ndarray


def start(system: System, q0: ArrayLike, q1: ArrayLike, *, h: float) -> Start:
    r"""The inverse of the nonholonomic exponential map, and the exact discrete constraint.

    Looks for v0 in D at q0 such that what is missing, :math:`q_1 - \exp_h(q_0, v_0)`, is orthogonal
    to D in the kinetic metric; then v0 is determined by the pair, and so are the m numbers that are
    missing across D.

    system : with constraints given by one-forms and without holonomic ones
    q0, q1 : two places, h apart in time;  h : so small that velocities from q0 lead to different
        places

    Examples
    --------
    >>> import nhlab as nh
    >>> particle = nh.systems.particle()
    >>> one = nh.exact.step(particle, [0, 1, 0], [1, 1, 1], h=0.1)
    >>> found = nh.exact.start(particle, one.q0, one.q1, h=0.1)
    >>> found.v0.round(9).tolist(), bool(abs(found.constraint).max() < 1e-9)
    ([1.0, 1.0, 1.0], True)
    """
    need(system, System, "system", "nh.System")
    if system.fields or system.holonomic:
        raise ValueError(
            f"start looks for velocities with A v = 0 by one-forms, and {system!r} is stated "
            "otherwise"
        )
    h, n = positive(h, False), len(system.q)
    q0, q1 = (read_array(x, name, (n,), f"{n} numbers") for x, name in ((q0, "q0"), (q1, "q1")))
    wanted = system.velocity_between(q0[None], q1[None], np.array([h]))[0]
    v0, P = system.project(q0, wanted), system.P(q0)
    for _ in range(MAX_TURNS):
        q = integrate(system, Reference(), q0, v0, h=h, steps=1).q
        missing = wanted - system.velocity_between(q[:1], q[1:], np.array([h]))[0]
        change = P @ missing
        v0 = v0 + change
        if np.abs(change).max() <= SETTLED * max(1.0, np.abs(v0).max()):
            return Start(v0, system.A(q0) @ missing)
    raise ValueError(
        f"no velocity was found that leads from {q0} towards {q1}: after {MAX_TURNS} corrections "
        f"v0 still changes by {np.abs(change).max():.1e}; take a smaller h than {h:g}"
    )


class Orders(NamedTuple):
    """How a method's discrete objects differ from the exact ones, each an Order in h.

    constraint : the largest |w_d| of a true pair
    lagrangian : L_d less the exact one, on a true pair
    momentum : -D1Ld less the true momentum p0, along D: it decides how a run starts
    equations : what is left, along D, of the method's momentum equation at the middle of three true
        places
    """

    constraint: Order
    lagrangian: Order
    momentum: Order
    equations: Order

    @property
    def predicted(self) -> float:
        """The order to expect of a run: an error of h^k in the direction of each step, or h^(k+1)
        in the momentum at each node, adds up to h^k; in the first momentum alone, h^k is as bad."""
        slopes = self.constraint.slope, self.momentum.slope, self.equations.slope - 1
        return float(min(slopes))


def orders(
    system: System,
    method: Method,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    hs: ArrayLike,
    floor: float = 1e-10,
) -> Orders:
    r"""How far L_d, w_d and the equations of a method are from the exact ones, for several h.

    .. math::
        w_d(q_0, q_1) &= O(h^a), \qquad & L_d - L_d^e &= O(h^b), \\
        P(q_0)^T\bigl(p^-(q_0,q_1) - p_0\bigr) &= O(h^c), \qquad
        & P(q_1)^T\bigl(p^-(q_1,q_2) - p^+(q_0,q_1)\bigr) &= O(h^d)

    for places q0, q1, q2 of one true motion, p0 its momentum.  The smallest of a, c and d - 1 is
    the order of a run, in all cases that were tried.  This is what CM01's Remark 3.1 warns of, that
    L_d and w_d must be discretised alike: a better L_d does not help a worse w_d, nor the other way
    round.  At special starts the orders may be higher than elsewhere.

    system : with constraints given by one-forms, or none
    method : nh.DLA, or nh.Variational without constraints
    q0, v0 : where the motion begins;  hs : at least three step sizes
    floor : numbers below it are taken for round-off; where all are, the slope is infinite

    Examples
    --------
    >>> import nhlab as nh
    >>> for method in nh.DLA(), nh.DLA(0.3), nh.DLA(constraint_alpha=0):
    ...     found = nh.exact.orders(nh.systems.sleigh(), method, hs=[0.04, 0.02, 0.01])
    ...     print(*(f"{x.slope:.1f}" for x in found), f"-> {found.predicted:.1f}", method)
    2.0 3.0 2.0 3.0 -> 2.0 DLA(alpha=0.5)
    1.0 2.0 1.0 2.0 -> 1.0 DLA(alpha=0.3)
    1.0 3.0 2.0 3.0 -> 1.0 DLA(alpha=0.5, constraint_alpha=0.0)
    """
    check_pair(system, method)
    if not method.discrete or method.variable_step or method.constraint_at != "midpoints":
        raise ValueError(f"{method!r} has no w_d with steps of a given size; take nh.DLA")
    if system.fields or system.holonomic:
        raise ValueError(f"w_d is stated for one-forms on velocities, and {system!r} has others")
    (q0, v0), hs = start_of(system, q0, v0), read_array(hs, "hs")
    found = np.array([_defects(system, method, q0, v0, positive(float(h), False)) for h in hs.flat])
    floor = read_number(floor, "floor")
    return Orders(*(_order(hs, errors, floor) for errors in found.T))


def _defects(
    system: System, method: Method, q0: np.ndarray, v0: np.ndarray, h: float
) -> tuple[float, ...]:
    """|w_d|, |L_d - L_d^e|, |p_minus - p0| of the first of two true steps, and the defect of the
    equations."""
    first = step(system, q0, v0, h=h)
    q = integrate(system, Reference(), q0, v0, h=h, steps=2).q
    t = np.array([0.0, h])
    v = system.velocity_between(q[:-1], q[1:], np.array([h, h]))
    parts = ("constraints", "Ld", "p_minus", "p_plus")
    wd, Ld, p_minus, p_plus = (method.on_step(system, x, t, q[:-1], v, h) for x in parts)
    begins = (p_minus[0] - first.p0) @ system.P(q[0])
    defect = (p_minus[1] - p_plus[0]) @ system.P(q[1], h)
    missing = wd[0], Ld[0] - first.action, begins, defect
    return tuple(float(np.abs(x).max(initial=0.0)) for x in missing)


def _order(hs: np.ndarray, errors: np.ndarray, floor: float) -> Order:
    return Order(hs, errors, np.inf) if errors.max() <= floor else fit_order(hs, errors, floor)
