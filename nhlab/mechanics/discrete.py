"""Discrete Lagrangians and constraints: the alpha rule and the symmetric rule.

One step goes from (t0, q0) to (t1, q1) = (t0 + h, q0 + h v).  Everything is written in
(t0, q0, v, h), because v = (q1 - q0)/h solved for directly keeps the digits that the difference
of two positions would lose.
"""

from __future__ import annotations

from functools import cached_property

import sympy as sp

from ..codegen.statement import dummy
from .symbolic import Place


class DiscreteLagrangian:
    r"""Ld_alpha = h L(t_alpha, q_alpha, v), or its mean with Ld_(1-alpha), CM01 (9), (10).

    .. math:: q_\alpha = (1-\alpha) q_0 + \alpha q_1 = q_0 + \alpha h v

    ``let`` holds the abbreviations q_alpha, t_alpha that the expressions below are written in.
    """

    def __init__(self, system, t, q, v, h, alpha, symmetric=False):
        self.system, self.v, self.h = system, v, h
        self.points = []  # (alpha h, (1-alpha) h, the Place)
        self.let = []
        for k, a in enumerate((alpha, 1 - alpha) if symmetric else (alpha,)):
            mark = "ab"[k]
            ah, bh, ta = (dummy(f"{s}_{mark}") for s in ("ah", "bh", "t"))
            qa = [dummy(f"{s.name}_{mark}") for s in q]
            self.let += [(ah, a * h), (bh, h - ah), (ta, t + ah)]
            more, place = self.place(q, v, ah)
            self.let += [*more, *zip(qa, place, strict=True)]
            here = dict(zip((*system.q, *system.v), (*qa, *v), strict=True))
            here |= {} if system.t is None else {system.t: ta}
            self.points.append((ah, bh, Place(system.short, here, self.let)))

    def place(self, q, v, ah):
        """Abbreviations, and q_alpha written with them."""
        return [], self.system.moved(q, v, ah)

    def mean(self, f):
        """The mean over the one or two points of f(alpha h, (1-alpha) h, evaluate)."""
        values = [f(*point) for point in self.points]
        return sum(values, sp.S.Zero) / len(values)

    @cached_property
    def Ld(self):
        return self.h * self.mean(lambda ah, bh, at: at(self.system.short.L))

    def _momenta(self, combine):
        S = self.system.short
        return [
            self.mean(lambda ah, bh, at, i=i: combine(at(S.L_v[i]), at(S.f[i]), ah, bh))
            for i in range(len(self.v))
        ]

    @cached_property
    def p_minus(self):
        """-D1Ld - impulse_minus at q0, the momentum that leaves q0, with forces as in CM01 (34)."""
        return self._momenta(lambda L_v, f, ah, bh: L_v - bh * f)

    @cached_property
    def p_plus(self):
        """D2Ld + impulse_plus at q1, the momentum that arrives at q1."""
        return self._momenta(lambda L_v, f, ah, bh: L_v + ah * f)

    @property
    def _one_form(self):
        """The forces on R x Q, F.(dq - v dt), the component along t last."""
        return (*self.system.short.F, -self.system.short.power)

    @cached_property
    def impulse_minus(self):
        """(1-alpha) h of the forces F.(dq - v dt), which act at q0: F-_d of CM01 (33), (34)."""
        return [self.mean(lambda ah, bh, at, e=e: bh * at(e)) for e in self._one_form]

    @cached_property
    def impulse_plus(self):
        """alpha h of the same, at q1: F+_d of CM01 (33), (34)."""
        return [self.mean(lambda ah, bh, at, e=e: ah * at(e)) for e in self._one_form]

    @cached_property
    def E_minus(self):
        """The derivative of Ld by t0 (C03 section 2): the discrete energy that leaves t0.

        Less the work (1-alpha) h F.v that forces do from t0 on.
        """
        S = self.system.short
        return self.mean(lambda ah, bh, at: at(S.E) + bh * at(S.L_t - S.power))

    @cached_property
    def E_plus(self):
        """Minus the derivative of Ld by t1: the discrete energy that arrives at t1, to which
        alpha h F.v belongs."""
        S = self.system.short
        return self.mean(lambda ah, bh, at: at(S.E) - ah * at(S.L_t - S.power))

    @cached_property
    def work(self):
        """h F.v, the work of the forces in the step; the energies' E_plus - E_minus, if L_t = 0."""
        return self.h * self.mean(lambda ah, bh, at: at(self.system.short.power))

    @cached_property
    def constraints(self):
        """wd = A(q_alpha) v + b(q_alpha) for each velocity constraint, CM01 (13), (14)."""
        return [self.mean(lambda ah, bh, at, c=c: at(c)) for c in self.system.short.constraints]
