"""The extended discrete Lagrange-d'Alembert method, C03: the step size keeps the energy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..codegen.statement import Stage, Statement, dummy
from .dla import DLA, dla_stage
from .layout import Layout
from .method import Method


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
    """

    alpha: float = 0.5
    symmetric: bool = False

    variable_step: ClassVar[bool] = True
    keeps: ClassVar[tuple] = (
        "the discrete energy of autonomous systems, else its balance",
        "the discrete constraint wd(q_k, q_k+1) = 0",
        "momenta of horizontal symmetries",
        "the extended symplectic form, without constraints",
    )
    loses: ClassVar[tuple] = (
        "energy at the nodes (only the discrete energy is exact)",
        "a fixed step; a positive step may not exist",
    )

    def layout(self, system):
        return Layout({"t": 1, "h": 1, **super().layout(system), "h_before": 1, "e": 1})

    @property
    def first_step(self):
        """The method of the first step, whose h is given."""
        return DLA(self.alpha, self.symmetric)

    def statement(self, system):
        s = self.frame(system)
        h, before, e = s.h, dummy("h_before"), dummy("e")
        s.h = dummy("h_guess")
        predict, _ = dla_stage(s, self.symmetric)
        predict = replace(predict, let=((s.h, h**2 / before), *predict.let), predictor=True)
        # The same equations once more, for unknowns of their own and with h among them.
        v2 = tuple(dummy(f"{u.name}_new") for u in s.v1)
        lam2 = tuple(dummy(f"{x.name}_new") for x in s.lam1)
        h2 = dummy("h_new")
        f = self.frame(system)
        f.h, f.v1, f.lam1, f.p, f.alpha = h2, v2, lam2, s.p, s.alpha
        solve, Ld = dla_stage(f, self.symmetric)
        solve = Stage(
            unknowns=(*v2, *lam2, h2),
            equations=(*solve.equations, Ld.E_minus - e),
            guess=(*s.v1, *s.lam1, s.h),
            let=(predict.let[0], *solve.let),
            scale2=(*s.scale2, *(None,) * s.m, 100 * h**2),
        )
        new_e = e if system.is_autonomous else Ld.E_plus
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *s.p, *s.v, *s.lam, before, e),
            args=(s.alpha, *s.parameters, *s.scale2),
            stages=(predict, solve),
            update=(*f.q1(h2), *Ld.p_plus, *v2, *lam2, h, new_e),
            let=solve.let,
            new_h=h2,
        )
