"""The expressions derived from a system, each made when first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from ..codegen.derivatives import abbreviate, dot, gradient, jacobian, push_forward, used_pairs
from ..codegen.kinds import Pair
from ..codegen.statement import dummy

if TYPE_CHECKING:
    from .system import System

Row = tuple[sp.Expr, ...]
Rows = tuple[Row, ...]


class Symbolic:
    """L_q, L_v, L_t, M, V, E, A, Dg, F of a System, as nested tuples of expressions.

    With ``share`` they are short: written in abbreviations, collected in ``let``, of what L and
    the constraints have in common, and of the derivatives of these.  Written out, the derivatives
    of a long L swell.
    """

    L: sp.Expr
    constraints: Row
    holonomic: Row
    forces: Row
    fields: Rows
    let: list[Pair]

    def __init__(self, system: System, share: bool = False) -> None:
        self.system, self.let = system, []
        forms = [system.L, *system.constraints, *system.holonomic, *system.forces]
        forms += [e for field in system.fields for e in field]
        if share:
            forms, self.let = abbreviate(forms)
        self.L, (m, forms) = forms[0], (len(system.constraints), forms[1:])
        self.constraints, self.holonomic = tuple(forms[:m]), tuple(forms[m : system.m])
        forms, n = forms[system.m :], len(system.v)
        self.forces, forms = tuple(forms[: len(system.forces)]), forms[len(system.forces) :]
        self.fields = tuple(tuple(forms[k : k + n]) for k in range(0, len(forms), n))

    def _kept(self, table: Iterable[Iterable[sp.Expr]], let: list[Pair]) -> Rows:
        """The table, whose abbreviations are kept."""
        mine = {s for s, _ in self.let}
        self.let += [(s, e) for s, e in let if s not in mine]
        return tuple(map(tuple, table))

    def gradient(self, e: sp.Expr, variables: Sequence[sp.Symbol]) -> Row:
        row, let = gradient(e, variables, self.let)
        return self._kept([row], let)[0]

    def jacobian(self, expressions: Sequence[sp.Expr], variables: Sequence[sp.Symbol]) -> Rows:
        return self._kept(*jacobian(expressions, variables, self.let))

    def rates(self, expressions: Sequence[sp.Expr]) -> list[sp.Expr]:
        """The parts of de/dt that do not contain accelerations: e_q q' + e_t."""
        s = self.system
        rates = {x: [r] for x, r in zip(s.q, s.rate(s.q, s.v), strict=True)}
        rates |= {} if s.t is None else {s.t: [sp.S.One]}
        return [e for (e,) in self._kept(*push_forward(expressions, rates, self.let))]

    def depends(self, table: Iterable[Iterable[sp.Expr]], symbols: Iterable[sp.Symbol]) -> bool:
        """True if one of the entries contains one of the symbols, maybe in an abbreviation."""
        entries = [e for row in table for e in row]
        inner = [e for _, e in used_pairs(self.let, entries)] if entries else []
        return any(not e.free_symbols.isdisjoint(symbols) for e in [*entries, *inner])

    @cached_property
    def _slopes(self) -> dict[sp.Symbol, sp.Expr]:
        s = self.system
        variables = (*s.q, *s.v, *(() if s.t is None else (s.t,)))
        return dict(zip(variables, self.gradient(self.L, variables), strict=True))

    @cached_property
    def L_q(self) -> Row:
        return tuple(self._slopes[s] for s in self.system.q)

    @cached_property
    def F(self) -> Row:
        """The generalised forces, zeros where there are none."""
        return self.forces or (sp.S.Zero,) * len(self.system.v)

    @cached_property
    def f(self) -> Row:
        """The right-hand side of d/dt L_v = f + A^T lambda: L_q and the forces; other kinds of
        systems add more."""
        return tuple(a + b for a, b in zip(self.L_q, self.F, strict=True))

    @cached_property
    def power(self) -> sp.Expr:
        """F.v, the rate at which the forces change the energy: dE/dt = F.v - L_t."""
        return dot(self.F, self.system.v)

    @cached_property
    def L_v(self) -> Row:
        """dL/dv; as M v + b where it is linear in v, for then most of it is known already."""
        v, momenta = self.system.v, tuple(self._slopes[u] for u in self.system.v)
        if self.let or not self.system.is_mechanical:
            return momenta
        rest = dict.fromkeys(v, sp.S.Zero)
        return tuple(dot(row, v) + p.xreplace(rest) for row, p in zip(self.M, momenta, strict=True))

    @cached_property
    def L_t(self) -> sp.Expr:
        return sp.S.Zero if self.system.t is None else self._slopes[self.system.t]

    @cached_property
    def M(self) -> Rows:
        return self.jacobian([self._slopes[u] for u in self.system.v], self.system.v)

    @cached_property
    def E(self) -> sp.Expr:
        """v.L_v - L, which is v.M.v/2 + V where L_v is linear in v."""
        v, M = self.system.v, self.M
        if self.let or not self.system.is_mechanical:
            return dot(v, self.L_v) - self.L
        pairs = ((i, j) for i in range(len(v)) for j in range(i + 1))
        V = -self.L.xreplace(dict.fromkeys(v, sp.S.Zero))
        return sum((M[i][j] * v[i] * v[j] / (1 + (i == j)) for i, j in pairs), V)

    @cached_property
    def Dg(self) -> Rows:
        return self.jacobian(self.holonomic, self.system.q)

    @cached_property
    def A(self) -> Rows:
        """The rows of the velocity constraints, then those of the holonomic ones."""
        return self.jacobian(self.constraints, self.system.v) + self.Dg

    @cached_property
    def b(self) -> Row:
        """What moves the constraints A v + b = 0: their parts without v, and dg/dt at fixed q."""
        s, zero = self.system, dict.fromkeys(self.system.v, sp.S.Zero)
        parts = [c.xreplace(zero) for c in s.constraints]
        parts += [sp.S.Zero if s.t is None else g.diff(s.t) for g in s.holonomic]
        return tuple(e if e.is_zero or sp.simplify(e) != 0 else sp.S.Zero for e in parts)

    @cached_property
    def G(self) -> Rows:
        """The metric of the projectors: ``metric`` if one was given, else M."""
        metric = self.system.metric
        return self.M if metric is None else tuple(map(tuple, metric.tolist()))


class Substitution:
    """Evaluates expressions at replaced (t, q, v), for example at a midpoint.

    symbolic : of the system, whose abbreviations the expressions contain
    here : symbol -> what replaces it
    let : where the abbreviations that the expressions need are added, for the replaced values
    """

    def __init__(self, symbolic: Symbolic, here: Mapping[sp.Symbol, Any], let: list[Pair]) -> None:
        self.symbolic, self.here, self.let = symbolic, dict(here), let

    def __call__(self, e: sp.Expr) -> sp.Expr:
        for s, inner in used_pairs(self.symbolic.let, [e]) if self.symbolic.let else ():
            if s not in self.here:
                self.here[s] = dummy(s.name)
                self.let.append((self.here[s], inner.xreplace(self.here)))
        return e.xreplace(self.here)

    def table(self, rows: Iterable[Iterable[sp.Expr]]) -> list[list[sp.Expr]]:
        return [[self(e) for e in row] for row in rows]
