"""What a system computes at states (q, v, t): mass matrix, energy, projectors, accelerations.

``System`` inherits these functions, so that ``system.energy(q, v)`` is one of its methods.  Each is
short: it evaluates expressions of ``system.expressions``, or calls the module that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.evaluate import Function
from . import checks, positions, spans, velocities
from .checks import States
from .forces import need_inputs
from .motion import Motion

if TYPE_CHECKING:
    from .symbolic import Symbolic

T = TypeVar("T")  # what ``memoised`` stores


class StateFunctions:
    """Functions of the state, for arrays of states at once.

    q and v are arrays with the coordinates in the last axis, or dicts by name in which missing ones
    are 0.  All arguments broadcast over leading axes, written "..." in shapes.
    """

    q: tuple[sp.Symbol, ...]
    v: tuple[sp.Symbol, ...]
    t: sp.Symbol | None
    m: int
    holonomic: tuple[sp.Expr, ...]
    metric: tuple[Any, ...] | None
    parameters: dict[sp.Symbol, float]
    symbolic: Symbolic
    expressions: Symbolic
    generated: dict[object, Any]  # key -> code; shared by all settings of the parameters

    def memoised(self, key: object, make: Callable[[], T]) -> T:
        """The generated code of a key; ``make`` is called when it is first asked for.

        Systems that differ in the values of parameters alone share it.
        """
        if key not in self.generated:
            self.generated[key] = make()
        return self.generated[key]

    def values(
        self, table: Any, q: States, v: States | None = None, t: ArrayLike = 0.0
    ) -> np.ndarray:
        """Values of expressions in (t, q, v) over arrays of states: the shape of the states, then
        that of the nested table."""
        q, v = self.states(q, "q"), np.zeros(len(self.v)) if v is None else self.states(v, "v")
        key, arguments = _frozen(table), (self.t or sp.Dummy("t"), self.q, self.v, *self.parameters)
        f = self.memoised(("values", key), lambda: Function(arguments, table, self.expressions.let))
        t = t if type(t) is float else checks.read_array(t, "t")
        return f(t, q, v, *self.parameters.values())

    def states(self, x: States, name: str) -> np.ndarray:
        """x as an array of positions (names with a "q") or of velocities or momenta ("v", "p").

        Positions and velocities may be given by names, {"x": 1}; those that are not named are 0.
        """
        n = len(self.q if name[0] == "q" else self.v)
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.shape[-1:] == (n,):
            return x  # as from a run: nothing to read
        return checks.read_states(self, x, name)

    def move(self, q: States, v: States, h: ArrayLike) -> np.ndarray:
        """Where a step h with velocity v arrives, shape (..., len(q)); h negative: its start."""
        return self.states(q, "q") + checks.read_array(h, "h")[..., None] * self.states(v, "v")

    def velocity_between(self, q0: States, q1: States, h: ArrayLike) -> np.ndarray:
        """The velocity whose step h leads from q0 to q1."""
        return (self.states(q1, "q1") - self.states(q0, "q0")) / np.asarray(h)[..., None]

    def M(self, q: States, v: States | None = None, t: ArrayLike = 0.0) -> np.ndarray:
        """The mass matrix d2L/dv2, shape (..., n, n); v matters only if L is not mechanical."""
        return self.values(self.expressions.M, q, v, t)

    def V(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The potential, -L at v = 0."""
        return -self.values(self.expressions.L, q, None, t)

    def A(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The rows of all constraint one-forms, holonomic ones last, shape (..., m, n)."""
        A = self.values(self.expressions.A, q, None, t)
        return A if self.m else A.reshape(*A.shape, len(self.v))

    X, u, independent_forms = spans.columns, spans.quasi_velocities, spans.independent_forms

    def b(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The parts b of the constraints A v + b = 0, dg/dt of holonomic ones, shape (..., m)."""
        if not self.is_affine:
            return np.zeros((*self.states(q, "q").shape[:-1], self.m))
        return self.values(self.symbolic.b, q, None, t)

    def constraint(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The residual A v + b of all constraints, d/dt g of holonomic ones, shape (..., m)."""
        residual = np.einsum("...ai,...i->...a", self.A(q, t), self.states(v, "v"))
        return residual + self.b(q, t) if self.is_affine else residual

    def g(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The holonomic constraint functions, shape (..., l)."""
        return self.values(self.holonomic, q, None, t)

    def energy(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """v.dL/dv - L, shape (...)."""
        return self.values(self.expressions.E, q, v, t)

    def force(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The generalised forces F, shape (..., n)."""
        need_inputs(self, "force")
        return self.values(self.expressions.F, q, v, t)

    def power(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """F.v, the rate at which the forces change the energy, shape (...)."""
        need_inputs(self, "power")
        return self.values(self.expressions.power, q, v, t)

    def momentum(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The Legendre map p = dL/dv, shape (..., n).

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.pendulum(l=2).momentum({"theta": 0.3}, {"vtheta": 1})
        array([4.])
        """
        return self.values(self.expressions.L_v, q, v, t)

    def velocity(self, q: States, p: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """The inverse Legendre map: v with dL/dv(q, v) = p."""
        return velocities.velocity(self, q, self.states(p, "p"), t)

    def G(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The metric of the projectors: ``metric`` if one was given, else M."""
        if self.metric is not None:
            return self.values(self.expressions.G, q, None, t)
        if not self.is_mechanical:
            raise ValueError(
                "M depends on the velocities, so it defines no projectors; give the system a metric"
            )
        return self.M(q, None, t)

    def Q(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The projector on the complement of D: G^-1 A^T (A G^-1 A^T)^-1 A, FIM08 section 2."""
        return velocities.normal(self, q, t, self.independent_forms(q, None, t))

    def independence(self, q: States, v: States | None = None, t: ArrayLike = 0.0) -> np.ndarray:
        """How far the rows of A, or the fields, are from being dependent, from 0 to 1, (...)."""
        return velocities.independence(self, q, v, t)

    def P(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The projector on D, I - Q."""
        return np.eye(len(self.v)) - self.Q(q, t)

    def project(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The admissible velocity nearest to v: P(q) v, and ``shortest`` if constraints move.

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.particle().project([0, 1, 0], [1, 1, 0])
        array([0.5, 1. , 0.5])
        """
        v = np.einsum("...ij,...j->...i", self.P(q, t), self.states(v, "v"))
        return v + self.shortest(q, t) if self.is_affine else v

    def shortest(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The shortest velocity w, in the metric of the projectors, with A w + b = 0."""
        return -velocities.normal(self, q, t, self.b(q, t)[..., None])[..., 0]

    def complete(self, q: States, /, *, t: ArrayLike = 0.0, **given: float) -> np.ndarray:
        """The admissible velocity at q with these components, as in ``complete(q0, vx=1)``.

        As many as the constraints leave free, by the names of v; the others follow.  Here and in
        all functions of the state q and v may be given by names: ``complete({"x": 1}, vx=1)``.

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.particle().complete({"y": 1}, vx=2, vy=0)  # and vz = y vx
        array([2., 0., 2.])
        """
        return velocities.complete(self, q, given, t)

    def settle(self, q: States, t: ArrayLike = 0.0) -> np.ndarray:
        """q put on the holonomic constraints, moved as little as possible in the metric M(q).

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.spherical_pendulum().settle([0, 0.3, -0.4]).round(9)  # of length 1
        array([ 0. ,  0.6, -0.8])
        """
        return positions.settle(self, q, t)

    @property
    def motion(self) -> Motion:
        """The equations of motion as a function, (t, [q, v]) -> (q', a, lambda)."""
        return Motion(self)

    def acceleration(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The acceleration of the constrained motion, multipliers eliminated.

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.particle().acceleration([0, 1, 0], [1, 1, 1])
        array([-0.5, -2. ,  0.5])
        """
        return self.motion.values(q, v, t)[..., : len(self.v)]

    def multipliers(self, q: States, v: States, t: ArrayLike = 0.0) -> np.ndarray:
        """The continuous multipliers lambda of d/dt L_v - L_q = F + A^T lambda, (..., m).

        Where constraints become dependent they lose twice as many digits as A^T lambda.
        """
        lam = self.motion.multipliers(q, v, t)
        velocities.check_multipliers(self, q, v, t)
        return lam

    def exact(self, t: ArrayLike) -> np.ndarray:
        """The known solution from (q0, v0), shape (..., n), where there is one."""
        if self._exact is None:
            raise ValueError(f"no closed solution is known for {self!r}; use nh.Reference()")
        if np.abs(self.constraint(self.q0, self.v0)).max(initial=0) > 1e-9:
            raise ValueError(
                "v0 does not satisfy the constraints with these parameters; make the "
                "system anew instead of changing it with set"
            )
        return self._exact(self, np.asarray(t, float))


def _frozen(table: Any) -> Any:
    return tuple(map(_frozen, table)) if isinstance(table, (tuple, list)) else table
