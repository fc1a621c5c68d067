"""The discrete Lagrange-d'Alembert method, CM01."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..codegen.statement import Stage, Statement, dummy
from .method import Method

if TYPE_CHECKING:
    import sympy as sp

    from ..codegen.kinds import Pair
    from ..mechanics.discrete import DiscreteLagrangian
    from ..mechanics.system import System
    from .method import Frame

    Equations = tuple[tuple[sp.Expr, ...], DiscreteLagrangian, tuple[Pair, ...]]


@dataclass(frozen=True, repr=False)
class DLA(Method):
    r"""Discrete Lagrange-d'Alembert, CM01 (6); with holonomic constraints CM01 (17).

    .. math:: D_1L_d(q_1,q_2) + D_2L_d(q_0,q_1) = A(q_1)^T\lambda, \qquad w_d(q_1,q_2) = 0

    Order 2 for alpha = 1/2 or the symmetric rule, else 1.  The constraint may be discretised at
    its own ``constraint_alpha`` (FIM08 Ex. 3).  Forces add F-(q1,q2) + F+(q0,q1) to the left side,
    F- = (1-alpha) h F and F+ = alpha h F with F where Ld takes L: CM01 (33), (34).  Where
    constraints move, wd = A v + b with b at the rule's point, and g(q2, t2) = 0.

    Where D is spanned by fields X the same step, without multipliers, is

    .. math:: X(q_1)^T\bigl(D_1L_d(q_1,q_2) + D_2L_d(q_0,q_1)\bigr) = 0, \qquad
              v = X(q_\alpha)\,u

    with the mean of both X for the symmetric rule; the mean of both A may be another rule then,
    as on the snakeboard.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha
    constraint_alpha : where in a step the constraint is taken, if not at alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=1250)
    >>> print(f"the energy stays between {sol.energy().min():.3f} and {sol.energy().max():.3f}")
    the energy stays between 2.499 and 2.526
    >>> nh.DLA(alpha=0.3).order, nh.DLA(alpha=0.3, symmetric=True).order
    (1, 2)
    """

    alpha: float = 0.5
    symmetric: bool = False
    constraint_alpha: float | None = None

    takes_fields: ClassVar[bool] = True
    composable: ClassVar[bool] = True
    keeps: ClassVar[tuple[str, ...]] = (
        "the discrete constraint wd(q_k, q_k+1) = 0",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "the momentum equation, for symmetries of Ld",
        "the law Phi* Omega = Omega + d beta_d of the symplectic form, CM01 (22), without forces",
        "holonomic constraints",
    )
    loses: ClassVar[tuple[str, ...]] = (
        "energy (it oscillates, and drifts on some problems)",
        "the symplectic form",
        "the constraint at the nodes",
    )

    @property
    def order(self) -> int:
        same = self.constraint_alpha in (None, self.alpha)
        return super().order if same or self.symmetric else 1

    def statement(self, system: System) -> Statement:
        s = self.frame(system)
        own = () if self.constraint_alpha is None else (dummy("constraint_alpha"),)
        equations, Ld, let = dla_equations(s, self.symmetric, *own)
        stage = Stage(
            unknowns=(*s.v1, *s.beside1),
            equations=equations,
            guess=(*s.guess(), *s.beside),
            **s.measures(s.v1),
        )
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *s.p, *s.v, *s.beside),
            args=(s.alpha, *own, *s.parameters, *s.shares),
            stages=(stage,),
            update=(*s.q1(s.h), *Ld.p_plus, *s.v1, *s.beside1),
            let=let,
        )


def dla_equations(s: Frame, symmetric: bool, own_alpha: sp.Symbol | None = None) -> Equations:
    """The equations of one DLA step for (v1, lam1) or, with fields, for (v1, u1), the discrete
    Lagrangian they use, and the abbreviations of both."""
    Ld = wd = s.discrete(symmetric)
    if own_alpha is not None:  # the constraint's
        wd = s.discrete(symmetric, own_alpha)
    there, g = s.end_and_residuals(s.h)
    momentum = [  # (6): -p_minus(q1, q2) + p_plus(q0, q1) = A^T lam
        p_minus - p + f for p_minus, p, f in zip(Ld.p_minus, s.p, s.force(s.lam1), strict=True)
    ]
    equations = (*momentum, *wd.constraints, *g)
    if s.u1:
        equations = s.along_fields(wd, momentum)
    return equations, Ld, s.lets(Ld, wd, there)
