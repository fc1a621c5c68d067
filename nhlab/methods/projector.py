"""The projector method (geometric nonholonomic integrator), FIM08."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Place
from .method import Method


@dataclass(frozen=True, repr=False)
class Projector(Method):
    r"""The normal part of the momentum is reflected, the tangent part kept, FIM08 (4)-(6).

    .. math:: p^-(q_1,q_2) = (P - Q)^T(q_1)\; p^+(q_0,q_1)

    Order 2 for alpha = 1/2 or the symmetric rule, else 1.  The constraints are not discretised.
    Forces are part of the momenta, as in DLA.
    P and Q are built with the system's ``metric``, or with M.  Another metric gives a motion of
    the same mechanics only if D has the same orthogonal complement in it.

    Where constraints move, A v + b = 0, the momentum is reflected about those of the admissible
    velocities: p - M w in the place of p, with w the shortest of them (Ferraro, Jimenez & Martin de
    Diego, Nonlinearity 28 (2015)).
    """

    alpha: float = 0.5
    symmetric: bool = False

    keeps: ClassVar[tuple] = (
        "the constraint for the average of arriving and leaving momentum",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "the momentum equation, for symmetries of Ld",
        "energy without forces or moving constraints, if L is a bi-invariant metric and P, Q are "
        "built with it (FIM08 Thm 1)",
    )
    loses: ClassVar[tuple] = (
        "energy in general",
        "the constraint for the evolved momentum alone",
        "accuracy in long runs, where the normal momentum may zigzag and grow",
    )

    def check(self, system):
        if system.is_affine and system.metric is not None:
            raise ValueError(
                f"Projector reflects about moving constraints with M alone and {system!r} has a "
                "metric of its own; make it without, or use nh.DLA"
            )
        if system.holonomic:
            raise ValueError(
                f"Projector has no holonomic constraints and {system!r} has "
                f"{len(system.holonomic)}; use nh.DLA"
            )
        if not system.is_mechanical:
            raise ValueError(
                "Projector reflects momenta with a metric, so L must be quadratic in the "
                f"velocities; {system!r} is not. Use nh.DLA or nh.EDLA"
            )

    def statement(self, system):
        s = self.frame(system)
        split, w, mu = self.split(s, s.p)
        Ld = s.discrete(self.symmetric)
        momenta = zip(Ld.p_minus, s.p, s.force(mu), strict=True)
        jump = Stage(  # (6): p_minus = (P - Q)^T p = p - 2 A^T mu
            unknowns=s.v1,
            equations=tuple(p_minus - p + 2 * f for p_minus, p, f in momenta),
            guess=tuple(2 * x - u for x, u in zip(w, s.v, strict=True)) if s.m else s.v,
            weights=s.shares,
        )
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *s.p, *s.v, *s.lam),
            args=(s.alpha, *s.parameters, *s.shares),
            stages=(split, jump) if s.m else (jump,),
            update=(*s.q1(s.h), *Ld.p_plus, *s.v1, *(2 * x for x in mu)),
            let=s.lets(Ld),
        )

    @staticmethod
    def split(s, p):
        """p - b = G w + A^T mu with A w = 0: G w = P^T (p - b), A^T mu = Q^T (p - b); where the
        constraints move, w is the admissible velocity, and p is reflected about its momentum."""
        system, S = s.system, s.system.short
        w = tuple(dummy(f"w_{name}") for name in system.degrees)
        mu = tuple(dummy(f"mu{k}") for k in range(s.m))
        # momenta are measured from b = dL/dv at v = 0, which is zero for L = T - V
        b = map(Place(S, dict.fromkeys(system.v, sp.S.Zero), s.let), S.L_v)
        G, A = s.at.table(S.G), s.at.table(S.A)
        parts = zip(G, s.force(mu), p, b, strict=True)
        momentum = tuple(dot(row, w) + f - x + shift for row, f, x, shift in parts)
        admissible = (dot(row, w) + s.at(e) for row, e in zip(A, S.b, strict=True))
        equations = (*momentum, *admissible)
        return Stage((*w, *mu), equations, (sp.S.Zero,) * (s.n + s.m)), w, mu

    def start_momentum(self, system, t, q, v, h):
        """Half the constraint impulse before q0, half after: p_minus = p0 + (h/2) A^T lambda."""
        lam = system.motion.values(q, v, t)[..., len(system.v) :]
        force = np.einsum("...ai,...a->...i", system.A(q, t), lam)
        impulse = np.asarray(h)[..., None] / 2 * force
        return self.arriving(system, t, q, system.momentum(q, v, t) + impulse)

    def arriving(self, system, t, q, p_minus):
        """(P - Q)^T is its own inverse."""
        b = system.momentum(q, 0 * p_minus, t)
        if system.is_affine:  # measured from the momentum of the shortest admissible velocity
            b = system.momentum(q, system.shortest(q, t), t)
        reflection = np.eye(len(system.v)) - 2 * system.Q(q, t)  # P - Q
        return b + np.einsum("...i,...ij->...j", p_minus - b, reflection)
