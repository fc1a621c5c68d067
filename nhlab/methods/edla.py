"""The extended discrete Lagrange-d'Alembert method, C03: the step size keeps the energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from .dla import DLA, dla_equations
from .layout import Layout
from .method import Method

if TYPE_CHECKING:
    from ..mechanics.system import System


@dataclass(frozen=True, repr=False)
class EDLA(Method):
    r"""Time is an unknown: C03 (6) for (q2, lambda, h2 = t2 - t1).

    .. math::
        E^-(t_1,q_1,t_2,q_2) &= E^+(t_0,q_0,t_1,q_1) \\
        D_2L_d(t_1,q_1,t_2,q_2) + D_4L_d(t_0,q_0,t_1,q_1) &= A(q_1)^T\lambda \\
        w_d(t_1,q_1,t_2,q_2) &= 0

    Order 2 for alpha = 1/2 or the symmetric rule, else 1.  The first step is a DLA step with the
    given h; each later step is predicted by a DLA step, with an h extrapolated from the last two,
    and then solved with h.
    For autonomous systems the energy is held at its initial value.  Without constraints this is
    the symplectic-energy-momentum method, C03 (4), (5).  A positive step need not exist.

    On R x Q forces are the one-form F.(dq - v dt), so that their work enters the first equation:
    E- = E - (1 - alpha) h F.v, E+ = E + alpha h F.v with E, F and v of the step.  From step to
    step E+ then changes by the work h F.v of the step: ``energy("midpoints")`` less ``work()`` is
    constant to round-off.  Likewise constraints that move are the one-forms A dq + b dt, and

    .. math:: E^-(t_1,q_1,t_2,q_2) = E^+(t_0,q_0,t_1,q_1) + \lambda\cdot b(t_1,q_1),

    the work of the impulse at the node, which ``work()`` contains too.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.robot(), nh.EDLA(), h=0.1, steps=100)
    >>> bool(sol.h.min() < 0.9 * sol.h.max())
    True
    """

    alpha: float = 0.5
    symmetric: bool = False

    variable_step: ClassVar[bool] = True
    takes_fields: ClassVar[bool] = True
    keeps: ClassVar[tuple[str, ...]] = (
        "the discrete energy of autonomous systems without forces or moving constraints, "
        "else its balance",
        "the discrete constraint wd(q_k, q_k+1) = 0",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "the extended symplectic form, without constraints and forces",
    )
    loses: ClassVar[tuple[str, ...]] = (
        "energy at the nodes (only the discrete energy is exact)",
        "a fixed step; a positive step may not exist",
    )

    def layout(self, system: System) -> Layout:
        return Layout({"t": 1, "h": 1, **super().layout(system), "h_before": 1, "e": 1})

    @property
    def first_step(self) -> Method:
        """The method of the first step, whose h is given."""
        return DLA(self.alpha, self.symmetric)

    def statement(self, system: System) -> Statement:
        s = self.frame(system)
        h, before, e = s.h, dummy("h_before"), dummy("e")
        s.h = dummy("h_guess")
        equations, _, let = dla_equations(s, self.symmetric)
        predict = Stage(
            unknowns=(*s.v1, *s.beside1),
            equations=equations,
            guess=(*s.guess(), *s.beside),
            **s.measures(s.v1),
            predictor=True,
        )
        # The same equations once more, for unknowns of their own and with h among them.
        f = self.frame(system)
        f.h, f.p, f.alpha = dummy("h_new"), s.p, s.alpha
        f.v1 = tuple(dummy(f"{u.name}_new") for u in s.v1)
        f.lam1, f.u1 = (tuple(dummy(f"{x.name}_new") for x in some) for some in (s.lam1, s.u1))
        f.shares = s.shares
        equations, Ld, more = dla_equations(f, self.symmetric)
        # On R x Q the one-forms are A dq + b dt; fields have none, and do not move.
        power = dot(f.lam1, map(f.at, system.expressions.b)) if f.lam1 else sp.S.Zero
        solve = Stage(
            unknowns=(*f.v1, *f.beside1, f.h),
            equations=(*equations, Ld.E_minus - e - power),
            guess=(*s.v1, *s.beside1, s.h),
            **f.measures(f.v1, 10 * f.h),
        )
        new_e = e + power if system.is_autonomous and not system.is_forced else Ld.E_plus
        let = dict.fromkeys([(s.h, h**2 / before), *let, *more, *Ld.let])  # now with the energies'
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *s.p, *s.v, *s.beside, before, e),
            args=(s.alpha, *s.parameters, *s.shares),
            stages=(predict, solve),
            update=(*f.q1(f.h), *Ld.p_plus, *f.v1, *f.beside1, h, new_e),
            let=tuple(let),
            new_h=f.h,
        )
