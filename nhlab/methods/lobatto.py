"""Lobatto's pair of methods for nonholonomic systems: order 4 and 6 without composition."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Substitution
from .method import Frame, Method
from .reversible import arrival, need_plain

if TYPE_CHECKING:
    from ..codegen.kinds import Exprs, Symbols, Table
    from ..mechanics.system import System

NODES = {  # where in a step L and the constraints are taken
    2: (0, 1),
    3: (0, sp.Rational(1, 2), 1),
    4: (0, (5 - sp.sqrt(5)) / 10, (5 + sp.sqrt(5)) / 10, 1),
}


@dataclass(frozen=True, repr=False)
class Lobatto(Method):
    r"""Positions by Lobatto IIIA, momenta by IIIB, the velocity constraints as moments over a step.

    With the weights b, the nodes c and the matrices a (IIIA) and :math:`\hat a` (IIIB) of s stages,
    :math:`b_i\hat a_{ij} + b_j a_{ji} = b_i b_j`:

    .. math::
        Q_i &= q_0 + h \sum_j a_{ij} V_j, \qquad
        L_v(Q_i,V_i) = p_0 + h \sum_j \hat a_{ij} \bigl(L_q(Q_j,V_j) - A(Q_j)^T\Lambda_j\bigr) \\
        0 &= \sum_j b_j c_j^{k-1} A(Q_j) V_j, \quad k = 1,\dots,s-1 \\
        q_1 &= Q_s, \qquad
        p_1 = p_0 + h \sum_j b_j \bigl(L_q(Q_j,V_j) - A(Q_j)^T\Lambda_j\bigr), \qquad A(q_1) v_1 = 0

    Order 2s - 2, measured for s = 2, 3, 4 on M(q) and with several constraints; there is no proof
    here.  Exchanging the ends of a step exchanges c_j and 1 - c_j, which changes none of the
    moments' span: the method is symmetric, and carries v in D alone.  With s = 2 it is
    ``Reversible``.  Holonomic constraints are imposed at each Q_i, i > 1, which is the method of
    L. O. Jay, SIAM J. Numer. Anal. 33 (1996); without constraints it is the symplectic pair of
    Hairer, Lubich & Wanner, section IV.2.

    The aim is that of Martin de Diego & Sato Martin de Almagro, "High-order geometric methods for
    nonholonomic mechanical systems" (arXiv:1810.10926), who discretise the Lagrange-d'Alembert
    principle by the same pair.  We take the constraints as moments of A(Q_j) V_j, so that no
    multiplier is carried from step to step; moments in the place of constraints at each point are
    known from L. O. Jay's specialized Runge-Kutta methods for equations of index 2.  Neither text
    was at hand, so this method may or may not be one of theirs.

    Rows hold (q, v) at the nodes, v in D; ``lam`` is h times the sum of b_j Lambda_j.

    Parameters
    ----------
    stages : 2, 3 or 4, for the orders 2, 4 and 6

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.particle(), nh.Lobatto(), h=0.2, steps=100)
    >>> round(float(np.ptp(sol.energy())), 5)
    0.00013
    """

    stages: int = 3

    discrete: ClassVar[bool] = False
    keeps: ClassVar[tuple[str, ...]] = (
        "the constraints at the nodes",
        "time reversal: back after v -> -v, if L(q, -v) = L(q, v), F(q, -v) = F(q, v) and no "
        "constraint moves",
        "holonomic constraints",
        "momenta of coordinates that L does not contain, nor any constraint their velocities, "
        "and that no force moves",
        "the symplectic form, without velocity constraints and forces",
    )
    loses: ClassVar[tuple[str, ...]] = ("energy (it oscillates, and drifts on some problems)",)

    def __post_init__(self) -> None:
        if not isinstance(self.stages, numbers.Integral) or self.stages not in NODES:
            raise ValueError(f"stages = {self.stages!r} must be 2, 3 or 4, for order 2, 4 or 6")
        object.__setattr__(self, "stages", int(self.stages))

    @property
    def order(self) -> int:
        return 2 * self.stages - 2

    def check(self, system: System) -> None:
        need_plain(self, system)

    def statement(self, system: System) -> Statement:
        s, S, count = Frame(system), system.expressions, self.stages
        a, a_hat, b, c = coefficients(count)
        V = [tuple(dummy(f"{u.name}_{k}") for u in system.v) for k in range(count)]
        impulses = [tuple(dummy(f"lam{i}_{k}") for i in range(s.m)) for k in range(count - 1)]
        t, q1, at = points(s, a, c, V)
        W = [pushes(s, place, lam) for place, lam in zip(at, (*impulses, ()), strict=True)]
        p0 = s.named([s.at(e) for e in S.L_v])
        momenta = (
            L_v - p
            for place, row in zip(at, a_hat, strict=True)
            for L_v, p in zip(map(place, S.L_v), _sums(p0, row, W), strict=True)
        )
        along = [[place(e) for place in at] for e in S.constraints]
        weights = [[x * y**k for x, y in zip(b, c, strict=True)] for k in range(count - 1)]
        moments = (dot(row, values) for row in weights for values in along)
        g = (place(e) / s.h for place in at[1:] for e in S.holonomic)
        velocities = tuple(x for v in V for x in v)
        inner = tuple(x for lam in impulses for x in lam)
        drift = Stage(
            unknowns=(*velocities, *inner),
            equations=(*momenta, *moments, *g),
            guess=(*system.v * count, *s.lam * (count - 1)),
            sizes=(*velocities, *(None,) * len(inner)),
            weights=(*s.shares * count, *(0,) * len(inner)),
        )
        guess = (*V[-1], *(x * b[-1] for x in s.lam))
        last, v1, mu = arrival(s, t, q1, _sums(p0, b, W), guess)
        lam = (dot(b[:-1], [x[i] for x in impulses]) + mu[i] for i in range(s.m))
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *system.v, *s.lam),
            args=(*s.parameters, *s.shares),
            stages=(drift, last),
            update=(*q1, *v1, *lam),
            let=s.lets(),
        )


def points(
    s: Frame, a: Table, c: Exprs, V: Sequence[Symbols]
) -> tuple[sp.Expr, Symbols, list[Substitution]]:
    """The time and the position at the end of the step, and how to take an expression at each
    (t_i, Q_i, V_i)."""
    t, q, at = s.t, s.q, []
    for k, (row, part) in enumerate(zip(a, c, strict=True)):
        if k:  # the first is where the step begins
            columns = zip(s.q, zip(*V, strict=True), strict=True)
            (t,) = s.named([s.t + part * s.h])
            q = s.named([x + s.h * dot(row, column) for x, column in columns])
        here = zip((s.t, *s.q, *s.system.v), (t, *q, *V[k]), strict=True)
        at.append(Substitution(s.system.expressions, {x: y for x, y in here if x is not y}, s.let))
    return t, q, at


def pushes(s: Frame, place: Substitution, lam: Symbols = ()) -> Symbols:
    """h (L_q + F) - A^T lam at a point."""
    S = s.system.expressions
    f, A = [s.h * place(e) for e in S.f], place.table(S.A) if lam else []
    return s.named([x - dot([row[i] for row in A], lam) for i, x in enumerate(f)])


@cache
def coefficients(count: int) -> tuple[Table, Table, Exprs, Exprs]:
    """a of Lobatto IIIA, a-hat of IIIB, the weights b and the nodes c, for so many stages."""
    c, x = [sp.sympify(e, strict=True) for e in NODES[count]], sp.Symbol("x")
    cardinal = [  # the polynomials that are 1 at one node and 0 at the others
        sp.prod([(x - z) / (y - z) for z in c if z != y]) for y in c
    ]
    integrals = [sp.integrate(sp.expand(e), x) for e in cardinal]
    a = [[sp.simplify(e.subs(x, y) - e.subs(x, 0)) for e in integrals] for y in c]
    b, n = a[-1], range(count)
    a_hat = [[sp.simplify(b[j] - b[j] * a[j][i] / b[i]) for j in n] for i in n]

    def plain(e: sp.Expr) -> sp.Expr:
        return e if e.is_Rational else e.evalf(20)

    return ([[plain(e) for e in row] for row in a], [[plain(e) for e in row] for row in a_hat],
            [plain(e) for e in b], [plain(e) for e in c])  # fmt: skip


def _sums(start: Exprs, weights: Exprs, rows: Sequence[Exprs]) -> list[sp.Expr]:
    """start + the sum of weights times rows."""
    columns = zip(start, zip(*rows, strict=True), strict=True)
    return [x + dot(weights, column) for x, column in columns]
