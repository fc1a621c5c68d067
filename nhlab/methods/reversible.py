"""The reversible method: nonholonomic leapfrog with two impulses, a map of D to itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Substitution, Symbolic
from ..mechanics.system import System
from .method import Frame, Method

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy as sp

    from ..codegen.kinds import Exprs, Symbols


def need_plain(method: Method, system: System) -> None:
    """Refuse systems with body velocities or reduced ones, whose steps are made otherwise."""
    kind = type(system)
    straight = kind.abbreviated_end_of_step is System.abbreviated_end_of_step
    if not straight or type(system.symbolic).f is not Symbolic.f:
        raise ValueError(
            f"{method!r} is stated for systems on R^n with L in q and q', and "
            f"{system!r} is a {kind.__name__}; use nh.DLA"
        )


@dataclass(frozen=True, repr=False)
class Reversible(Method):
    r"""Leapfrog for H(q, p) with an impulse at either end of the step, which makes it symmetric.

    .. math::
        p &= p_0 + \tfrac h2 L_q(q_0,v_a) - A(q_0)^T\lambda, \qquad
            p = L_v(q_0,v_a) = L_v(q_1,v_b) \\
        q_1 &= q_0 + \tfrac h2 (v_a + v_b), \qquad
            \tfrac12 \bigl(A(q_0) v_a + A(q_1) v_b\bigr) = 0 \\
        p_1 &= p + \tfrac h2 L_q(q_1,v_b) - A(q_1)^T\mu, \qquad A(q_1) v_1 = 0

    Order 2.  Exchanging (q0, v0, va, lambda) with (q1, v1, vb, -mu) and h with -h changes no
    equation: it is a reversible discrete Lagrange-d'Alembert map in the sense of McLachlan &
    Perlmutter, J. Nonlinear Sci. 16 (2006), carried by v in D.  For constant M it goes through the
    points of ``DLA(0, symmetric=True)``, whose momenta are here projected on D at the nodes.  With
    holonomic constraints, for which g(q1) = 0 takes the place of the mean, it is RATTLE; with none
    it is leapfrog.  Forces are added to L_q.

    The nonholonomic RATTLE of Ferraro, Iglesias & Martin de Diego (DCDS Suppl. 2009) is another
    method: there one multiplier serves both steps that meet at a node, so that it maps
    (q, p, lambda), not D.  For constant M it is ``Projector(0, symmetric=True)``.

    Rows hold (q, v) at the nodes, v in D; ``lam`` is lambda + mu of the step.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.sleigh(), nh.Reversible(), h=0.1, steps=100)
    >>> bool(abs(sol.constraint()).max() < 1e-12)
    True
    """

    discrete: ClassVar[bool] = False  # in general not made from a discrete Lagrangian
    composable: ClassVar[bool] = True
    order: ClassVar[int] = 2
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

    def check(self, system: System) -> None:
        need_plain(self, system)

    def statement(self, system: System) -> Statement:
        s, S = Frame(system), system.expressions
        h, v0, lam = s.h, system.v, s.lam1
        va, vb = (tuple(dummy(f"{u.name}_{k}") for u in v0) for k in "ab")
        if not S.depends([S.L_v], (s.t, *s.q)):
            vb = va  # constant M
        t1, q1 = dummy("t_1"), tuple(dummy(f"{x.name}_1") for x in s.q)
        means = [x + h * (a + b) / 2 for x, a, b in zip(s.q, va, vb, strict=True)]
        s.let += [(t1, s.t + h), *zip(q1, means, strict=True)]
        start = Substitution(S, dict(zip(v0, va, strict=True)), s.let)
        end = Substitution(S, dict(zip((s.t, *s.q, *v0), (t1, *q1, *vb), strict=True)), s.let)

        p0, p, p_b = map(s.at, S.L_v), list(map(start, S.L_v)), list(map(end, S.L_v))
        kick = zip(p, p0, map(start, S.f), s.force(lam), strict=True)
        drift = Stage(
            unknowns=(*va, *(vb if vb is not va else ()), *lam),
            equations=(
                *(x - y - h / 2 * f + a for x, y, f, a in kick),
                *(x - y for x, y in zip(p_b, p, strict=True) if vb is not va),
                *((start(c) + end(c)) / 2 for c in S.constraints),
                *(end(g) / h for g in S.holonomic),  # to compare with velocities
            ),
            guess=(*v0, *(v0 if vb is not va else ()), *(x / 2 for x in s.lam)),
            **s.measures((*va, *(vb if vb is not va else ()))),
        )
        p_plus = [x + h / 2 * f for x, f in zip(p_b, map(end, S.f), strict=True)]
        last, v1, mu = arrival(s, t1, q1, p_plus, (*vb, *lam))
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *v0, *s.lam),
            args=(*s.parameters, *s.shares),
            stages=(drift, last),
            update=(*q1, *v1, *(x + y for x, y in zip(lam, mu, strict=True))),
            let=s.lets(),
        )


def arrival(
    s: Frame, t1: sp.Expr, q1: Exprs, p: Exprs, guess: Iterable[sp.Expr]
) -> tuple[Stage, Symbols, Symbols]:
    """The momentum p put into D: L_v(q1, v1) + A(q1)^T mu = p, A v1 + b = 0; and v1, mu."""
    system, S = s.system, s.system.expressions
    v1 = tuple(dummy(f"{u.name}_1") for u in system.v)
    mu = tuple(dummy(f"mu{k}") for k in range(s.m))
    there = Substitution(
        S, dict(zip((s.t, *system.q, *system.v), (t1, *q1, *v1), strict=True)), s.let
    )
    A = there.table(S.A)
    momentum = [
        L_v + dot([row[i] for row in A], mu) - p[i] for i, L_v in enumerate(map(there, S.L_v))
    ]
    stage = Stage(
        unknowns=(*v1, *mu),
        equations=(*momentum, *(dot(row, v1) + there(e) for row, e in zip(A, S.b, strict=True))),
        guess=tuple(guess),
        **s.measures(v1),
    )
    return stage, v1, mu
