"""The expressions derived from a system, each made when first asked for."""

from __future__ import annotations

from functools import cached_property

import sympy as sp

from ..codegen.derivatives import dot


class Symbolic:
    """L_q, L_v, L_t, M, V, E, A, Dg of a System, as nested tuples of expressions."""

    def __init__(self, system):
        self.system = system

    @cached_property
    def L_q(self):
        return tuple(self.system.L.diff(s) for s in self.system.q)

    @cached_property
    def f(self):
        """The right-hand side of d/dt L_v = f + A^T lambda; other kinds of systems add to L_q."""
        return self.L_q

    @cached_property
    def L_v(self):
        """dL/dv; as M v + b where it is linear in v, for then most of it is known already."""
        v = self.system.v
        momenta = [self.system.L.diff(u) for u in v]
        if self.system.is_mechanical:
            rest = dict.fromkeys(v, sp.S.Zero)
            shift = [e.xreplace(rest) for e in momenta]
            momenta = [dot(row, v) + b for row, b in zip(self.M, shift, strict=True)]
        return tuple(momenta)

    @cached_property
    def L_t(self):
        return sp.S.Zero if self.system.t is None else self.system.L.diff(self.system.t)

    @cached_property
    def M(self):
        v = self.system.v
        return tuple(tuple(self.system.L.diff(u).diff(w) for w in v) for u in v)

    @cached_property
    def V(self):
        return -self.system.L.xreplace(dict.fromkeys(self.system.v, sp.S.Zero))

    @cached_property
    def E(self):
        """v.L_v - L, which is v.M.v/2 + V where L_v is linear in v."""
        v, M = self.system.v, self.M
        if not self.system.is_mechanical:
            return dot(v, self.L_v) - self.system.L
        pairs = ((i, j) for i in range(len(v)) for j in range(i + 1))
        return sum((M[i][j] * v[i] * v[j] / (1 + (i == j)) for i, j in pairs), self.V)

    @cached_property
    def Dg(self):
        return tuple(tuple(g.diff(s) for s in self.system.q) for g in self.system.holonomic)

    @cached_property
    def A(self):
        """The rows of the velocity constraints, then those of the holonomic ones."""
        rows = tuple(tuple(c.diff(u) for u in self.system.v) for c in self.system.constraints)
        return rows + self.Dg

    @cached_property
    def G(self):
        """The metric of the projectors: ``metric`` if one was given, else M."""
        if self.system.metric is None:
            return self.M
        return tuple(map(tuple, self.system.metric.tolist()))

    def rate(self, e):
        """The part of de/dt that does not contain accelerations: e_q q' + e_t."""
        s = self.system
        rate = dot([e.diff(x) for x in s.q], s.rate(s.q, s.v))
        return rate if s.t is None else rate + e.diff(s.t)
