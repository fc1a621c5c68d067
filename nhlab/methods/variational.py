"""Variational integrators: discrete Euler-Lagrange, with holonomic constraints SHAKE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..codegen.statement import Stage, Statement
from .method import Method


@dataclass(frozen=True, repr=False)
class Variational(Method):
    r"""Discrete Euler-Lagrange, CM01 (2); with holonomic constraints CM01 (8), that is SHAKE.

    .. math:: D_1L_d(q_1,q_2) + D_2L_d(q_0,q_1) = Dg(q_1)^T\lambda, \qquad g(q_2) = 0

    Order 2 for alpha = 1/2 or the symmetric rule, else 1 from (q0, v0).  From an accurate q1 and
    for constant M it is a two-step method of order 2 for every alpha (CM01 section 4).
    """

    alpha: float = 0.5
    symmetric: bool = False

    keeps: ClassVar[tuple] = ("the symplectic form", "momenta of symmetries", "g(q) = 0")
    loses: ClassVar[tuple] = ("energy (it oscillates but stays)",)

    def check(self, system):
        if system.constraints:
            raise ValueError(
                f"Variational cannot treat velocity constraints and {system!r} has "
                f"{len(system.constraints)}; use nh.DLA, nh.Projector or nh.EDLA"
            )

    def statement(self, system):
        s = self.frame(system)
        Ld = s.discrete(self.symmetric)
        there, g = s.arrived(s.h)
        stage = Stage(
            unknowns=(*s.v1, *s.lam1),
            equations=(
                *(pm - p + f for pm, p, f in zip(Ld.p_minus, s.p, s.force(s.lam1), strict=True)),
                *g,
            ),
            guess=(*s.guess(), *s.lam),
            let=(*Ld.let, *there),
            scale2=(*s.scale2, *(None,) * s.m),
        )
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *s.p, *s.v, *s.lam),
            args=(s.alpha, *s.parameters, *s.scale2),
            stages=(stage,),
            update=(*s.q1(s.h), *Ld.p_plus, *s.v1, *s.lam1),
            let=stage.let,
        )
