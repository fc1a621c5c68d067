"""The discrete Lagrange-d'Alembert method, CM01."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..codegen.statement import Stage, Statement, dummy
from .method import Method


@dataclass(frozen=True, repr=False)
class DLA(Method):
    r"""Discrete Lagrange-d'Alembert, CM01 (6); with holonomic constraints CM01 (17).

    .. math:: D_1L_d(q_1,q_2) + D_2L_d(q_0,q_1) = A(q_1)^T\lambda, \qquad w_d(q_1,q_2) = 0

    Order 2 for alpha = 1/2 or the symmetric rule, else 1.  The constraint may be discretised at
    its own ``constraint_alpha`` (FIM08 Ex. 3).  Forces add F-(q1,q2) + F+(q0,q1) to the left side,
    F- = (1-alpha) h F and F+ = alpha h F with F where Ld takes L: CM01 (33), (34).  Where
    constraints move, wd = A v + b with b at the rule's point, and g(q2, t2) = 0.
    """

    alpha: float = 0.5
    symmetric: bool = False
    constraint_alpha: float | None = None

    keeps: ClassVar[tuple] = (
        "the discrete constraint wd(q_k, q_k+1) = 0",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "the momentum equation, for symmetries of Ld",
        "the law Phi* Omega = Omega + d beta_d of the symplectic form, CM01 (22), without forces",
        "holonomic constraints",
    )
    loses: ClassVar[tuple] = (
        "energy (it oscillates, and drifts on some problems)",
        "the symplectic form",
        "the constraint at the nodes",
    )

    @property
    def order(self):
        same = self.constraint_alpha in (None, self.alpha)
        return super().order if same or self.symmetric else 1

    def statement(self, system):
        s = self.frame(system)
        own = () if self.constraint_alpha is None else (dummy("constraint_alpha"),)
        equations, Ld, let = dla_equations(s, self.symmetric, *own)
        stage = Stage(
            unknowns=(*s.v1, *s.lam1),
            equations=equations,
            guess=(*s.guess(), *s.lam),
            **s.measured(s.v1),
        )
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *s.p, *s.v, *s.lam),
            args=(s.alpha, *own, *s.parameters, *s.shares),
            stages=(stage,),
            update=(*s.q1(s.h), *Ld.p_plus, *s.v1, *s.lam1),
            let=let,
        )


def dla_equations(s, symmetric, constraint_alpha=None):
    """The equations of one DLA step for (v1, lam1), the discrete Lagrangian they use, and the
    abbreviations of both."""
    Ld = wd = s.discrete(symmetric)
    if constraint_alpha is not None:
        wd = s.discrete(symmetric, constraint_alpha)
    there, g = s.arrived(s.h)
    momentum = [  # (6): -p_minus(q1, q2) + p_plus(q0, q1) = A^T lam
        p_minus - p + f for p_minus, p, f in zip(Ld.p_minus, s.p, s.force(s.lam1), strict=True)
    ]
    equations = (*momentum, *wd.constraints, *g)
    return equations, Ld, s.lets(Ld, wd, there)
