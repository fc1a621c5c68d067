"""Discrete Lagrangians and constraints: the alpha rule and the symmetric rule.

One step goes from (t0, q0) to (t1, q1) = (t0 + h, q0 + h v).  Everything is written in
(t0, q0, v, h), because v = (q1 - q0)/h solved for directly keeps the digits that the difference
of two positions would lose.

Examples
--------
>>> import nhlab as nh
>>> pendulum, (t, h) = nh.systems.pendulum(), nh.symbols("t h")
>>> step = nh.discrete.DiscreteLagrangian(pendulum, t, pendulum.q, pendulum.v, h, alpha=0)
>>> step.Ld
h*(g*l*m*cos(_theta_a) + l**2*m*vtheta**2/2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import dummy
from .symbolic import Substitution

if TYPE_CHECKING:
    from .system import System


class DiscreteLagrangian:
    r"""Ld_alpha = h L(t_alpha, q_alpha, v), or its mean with Ld_(1-alpha), CM01 (9), (10).

    .. math:: q_\alpha = (1-\alpha) q_0 + \alpha q_1 = q_0 + \alpha h v

    ``let`` holds the abbreviations q_alpha, t_alpha that the expressions below are written in.
    """

    system: System
    v: Sequence[sp.Expr]
    h: sp.Expr
    points: list[tuple[sp.Symbol, sp.Symbol, Substitution]]
    let: list[tuple[sp.Symbol, sp.Expr]]  # abbreviations and what they stand for
    shrink = sp.S.One  # what L is divided by, where a rule asks for it

    def __init__(
        self,
        system: System,
        t: sp.Expr,
        q: Sequence[sp.Expr],
        v: Sequence[sp.Expr],
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool = False,
    ) -> None:
        self.system, self.S, self.v, self.h = system, system.expressions, v, h
        self.points, self.let = [], []  # of points: (alpha h, (1-alpha) h, the Substitution)
        for mark, a in zip("ab", (alpha, 1 - alpha)[: 1 + symmetric], strict=False):
            ah, bh, ta = (dummy(f"{s}_{mark}") for s in ("ah", "bh", "t"))
            qa = [dummy(f"{s.name}_{mark}") for s in q]
            self.let += [(ah, a * h), (bh, h - ah), (ta, t + ah)]
            more, place = system.abbreviated_end_of_step(q, v, ah)
            self.let += [*more, *zip(qa, place, strict=True)]
            here = dict(zip((*system.q, *system.v), (*qa, *v), strict=True))
            here |= {} if system.t is None else {system.t: ta}
            self.points.append((ah, bh, Substitution(self.S, here, self.let)))

    def mean(self, f: Callable[..., sp.Expr], *forms: sp.Expr) -> sp.Expr:
        """The mean over the one or two points of f(alpha h, (1-alpha) h, *forms there)."""
        values = [f(ah, bh, *map(at, forms)) for ah, bh, at in self.points]
        return sum(values, sp.S.Zero) / len(values)

    def means(self, f: Callable[..., sp.Expr], *tables: Sequence[sp.Expr]) -> list[sp.Expr]:
        return [self.mean(f, *forms) for forms in zip(*tables, strict=True)]

    @cached_property
    def Ld(self) -> sp.Expr:
        return self.h * self.mean(lambda ah, bh, L: L, self.S.L / self.shrink)

    @cached_property
    def p_minus(self) -> list[sp.Expr]:
        """-D1Ld - impulse_minus at q0, the momentum that leaves q0, with forces as in CM01 (34)."""
        return self.means(lambda ah, bh, L_v, f: L_v - bh * f, self.S.L_v, self.S.f)

    @cached_property
    def p_plus(self) -> list[sp.Expr]:
        """D2Ld + impulse_plus at q1, the momentum that arrives at q1."""
        return self.means(lambda ah, bh, L_v, f: L_v + ah * f, self.S.L_v, self.S.f)

    @property
    def _one_form(self) -> tuple[sp.Expr, ...]:
        """The forces on R x Q, F.(dq - v dt), the component along t last."""
        return (*self.S.F, -self.S.power)

    @cached_property
    def impulse_minus(self) -> list[sp.Expr]:
        """(1-alpha) h of the forces F.(dq - v dt), which act at q0: F-_d of CM01 (33), (34)."""
        return self.means(lambda ah, bh, F: bh * F, self._one_form)

    @cached_property
    def impulse_plus(self) -> list[sp.Expr]:
        """alpha h of the same, at q1: F+_d of CM01 (33), (34)."""
        return self.means(lambda ah, bh, F: ah * F, self._one_form)

    @cached_property
    def E_minus(self) -> sp.Expr:
        """The derivative of Ld by t0 (C03 section 2): the discrete energy that leaves t0.

        Less the work (1-alpha) h F.v that forces do from t0 on.
        """
        return self._energy(lambda ah, bh, E, L_t: E + bh * L_t)

    @cached_property
    def E_plus(self) -> sp.Expr:
        """Minus the derivative of Ld by t1: the discrete energy that arrives at t1, to which
        alpha h F.v belongs."""
        return self._energy(lambda ah, bh, E, L_t: E - ah * L_t)

    def _energy(self, f: Callable[..., sp.Expr]) -> sp.Expr:
        return self.mean(f, self.S.E / self.shrink, self.S.L_t - self.S.power)

    @cached_property
    def work(self) -> sp.Expr:
        """h F.v, the work of the forces in the step; the energies' E_plus - E_minus, if L_t = 0."""
        return self.h * self.mean(lambda ah, bh, power: power, self.S.power)

    @cached_property
    def constraints(self) -> list[sp.Expr]:
        """wd = A(q_alpha) v + b(q_alpha) for each velocity constraint, CM01 (13), (14)."""
        return self.means(lambda ah, bh, c: c, self.S.constraints)

    def along_fields(self, u: Sequence[sp.Expr]) -> list[sp.Expr]:
        """X(q_alpha) u, the velocities that fields allow a step with quasi-velocities u."""
        return self.means(lambda ah, bh, *X: dot(X, u), *self.S.fields)
