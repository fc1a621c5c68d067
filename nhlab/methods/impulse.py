"""A step of the projector method with the same impulse at both of its ends: it cannot zigzag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Substitution
from .gradient import Abbreviations
from .method import Frame, Method
from .reversible import need_plain

if TYPE_CHECKING:
    from ..mechanics.system import System


@dataclass(frozen=True, repr=False)
class EqualImpulses(Method):
    r"""One impulse of the constraints for each step, half at either end; no w_d is chosen.

    .. math::
        p^-(q_0,q_1) = p_0 - N_0^T\mu, \qquad p_1 = p^+(q_0,q_1) - N_1^T\mu, \qquad A(q_1) v_1 = 0

    with the momenta :math:`p_k = L_v(q_k,v_k)` of velocities in D.  The rows of N_0 and N_1 are
    those of A at either end, made orthonormal in :math:`\bar M^{-1}`, the mean of both M, those at
    the second end turned so that they lie next to those at the first.  So the method depends on D
    alone, as ``DiscreteGradient`` does.

    The projector method has one impulse for each *node*: by the reflection (P - Q)^T the impulse
    that ends one step equals the one that begins the next.  That makes the part of the momentum
    across D a state of its own, whose sign alternates, and which grows wherever a motion loses
    volume within D, for the determinant of a step is (-1)^m.  Here the two ends of a *step* share
    the impulse, nothing across D is carried, and what is left is a map of (q, v) in D to itself.
    Exchanging the ends and the sign of h changes no equation: for alpha = 1/2 or the symmetric rule
    it is of order 2 and keeps reversals of time, else of order 1.

    Energy: let L be v.M v/2 with constant M.  Then p- = p+, and |p_0|^2 + |mu|^2 = |p-|^2 =
    |p_1|^2 + |mu|^2 in M^-1, since N mu is orthogonal to D at either end: what FIM08's Theorem 1
    says of the projector method holds for the energy at the nodes.  With alpha = 1/2 it holds for a
    quadratic potential, too, since the midpoint rule keeps |p|^2/2 + V from p- to p+.

    The method and these statements are our own; we have not found it in the literature.

    Rows hold (q, v) at the nodes, v in D; ``lam`` is the whole impulse for the rows of A as they
    were given, the mean of what both ends give.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.free_particle(), nh.EqualImpulses(), h=0.1, steps=100)
    >>> bool(np.ptp(sol.energy()) < 1e-12 and abs(sol.constraint()).max() < 1e-12)
    True
    """

    alpha: float = 0.5
    symmetric: bool = False

    discrete: ClassVar[bool] = False  # rows hold (q, v) in D, not the momenta of Ld
    composable: ClassVar[bool] = True
    keeps: ClassVar[tuple[str, ...]] = (
        "the constraints at the nodes",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "energy without forces or moving constraints, if L = v.M v/2 with constant M",
    )
    loses: ClassVar[tuple[str, ...]] = ("energy in general",)

    def check(self, system: System) -> None:
        need_plain(self, system)
        if system.holonomic:
            raise ValueError(
                f"EqualImpulses has no holonomic constraints and {system!r} has "
                f"{len(system.holonomic)}; use nh.DLA or nh.Reversible"
            )
        if not system.is_mechanical or not system.is_definite:
            raise ValueError(
                "EqualImpulses needs L = v.M(q).v/2 + b(q).v - V(q) with positive "
                f"definite M; {system!r} has another. Use nh.DLA"
            )

    def statement(self, system: System) -> Statement:
        s, S = Frame(system), system.expressions
        let, n = Abbreviations(s.let), range(s.n)
        Ld = s.discrete(self.symmetric)
        v0, v1 = (tuple(dummy(f"{u.name}_{k}") for u in s.v1) for k in (0, 1))
        mu = tuple(dummy(f"mu{k}") for k in range(s.m))
        t1, q1 = let(s.t + s.h, "t_1"), let.all(s.q1(s.h), "{}_1", s.q)
        before = Substitution(S, dict(zip(s.v1, v0, strict=True)), s.let)
        after = Substitution(S, dict(zip((s.t, *s.q, *s.v1), (t1, *q1, *v1), strict=True)), s.let)

        A0, A1 = before.table(S.A), after.table(S.A)
        M = [[let((before(e) + after(e)) / 2, "M") for e in row] for row in S.M]
        root = let.cholesky(M)
        N0, R0 = let.orthonormal(root, A0)
        N1, R1 = let.orthonormal(root, A1)
        turn = let.alignment(root, N0, N1)
        N1 = let.product(turn, N1)
        push0, push1 = ([dot([row[i] for row in N], mu) for i in n] for N in (N0, N1))
        p0, p1 = list(map(before, S.L_v)), list(map(after, S.L_v))
        stage = Stage(
            unknowns=(*s.v1, *v1, *mu),
            equations=(
                *(x - p0[i] + push0[i] for i, x in enumerate(Ld.p_minus)),
                *(p1[i] - x + push1[i] for i, x in enumerate(Ld.p_plus)),
                *(dot(row, v1) + after(e) for row, e in zip(A1, S.b, strict=True)),
            ),
            guess=(*v0, *v0, *(sp.S.Zero,) * s.m),
            sizes=(*s.v1, *v1, *(None,) * s.m),
            weights=(*s.shares, *s.shares, *(0,) * s.m),
        )
        turned = [dot([row[k] for row in turn], mu) for k in range(s.m)]
        ends = zip(let.backward(R0, mu), let.backward(R1, turned), strict=True)
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *v0, *s.lam),
            args=(s.alpha, *s.parameters, *s.shares),
            stages=(stage,),
            update=(*q1, *v1, *(x + y for x, y in ends)),
            let=s.lets(Ld),
            required=tuple(let.required),
        )
