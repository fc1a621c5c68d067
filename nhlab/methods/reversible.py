"""The reversible method: nonholonomic leapfrog with two impulses, a map of D to itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Symbolic
from ..mechanics.system import System
from .method import Frame, Method


def need_plain(method, system):
    """Refuse systems with body velocities or reduced ones, whose steps are made otherwise."""
    kind = type(system)
    if kind.moved is not System.moved or type(system.symbolic).f is not Symbolic.f:
        raise ValueError(f"{method!r} is stated for systems on R^n with L in q and q', and "
                         f"{system!r} is a {kind.__name__}; use nh.DLA")  # fmt: skip


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
    it is leapfrog.

    The nonholonomic RATTLE of Ferraro, Iglesias & Martin de Diego (DCDS Suppl. 2009) is another
    method: there one multiplier serves both steps that meet at a node, so that it maps
    (q, p, lambda), not D.  For constant M it is ``Projector(0, symmetric=True)``.

    Rows hold (q, v) at the nodes, v in D; ``lam`` is lambda + mu of the step.
    """

    discrete: ClassVar[bool] = False  # in general not made from a discrete Lagrangian
    order: ClassVar[int] = 2
    keeps: ClassVar[tuple] = (
        "the constraints at the nodes",
        "time reversal: back after v -> -v, if L(q, -v) = L(q, v)",
        "holonomic constraints",
        "momenta of coordinates that occur neither in L nor in A",
        "the symplectic form, without velocity constraints",
    )
    loses: ClassVar[tuple] = ("energy (it oscillates, and drifts on some problems)",)

    def check(self, system):
        need_plain(self, system)

    def code_key(self):
        return ("Reversible",)

    def arguments(self, system, scale2):
        return (*system.parameters.values(), *scale2)

    def statement(self, system):
        s, S = Frame(system), system.symbolic
        h, v0, none = s.h, system.v, (None,) * s.m
        va, vb = (tuple(dummy(f"{u.name}_{k}") for u in v0) for k in "ab")
        if all(e.free_symbols.isdisjoint({s.t, *s.q}) for e in S.L_v):
            vb = va  # constant M
        second = () if vb is va else vb
        t1, q1 = dummy("t_1"), tuple(dummy(f"{x.name}_1") for x in s.q)
        let = ((t1, s.t + h), *((x1, x + h * (a + b) / 2)
                                for x1, x, a, b in zip(q1, s.q, va, vb, strict=True)))  # fmt: skip

        def at0(expressions, v):
            here = dict(zip(v0, v, strict=True))
            return [e.xreplace(here) for e in expressions]

        def at1(expressions, v):
            here = dict(zip((s.t, *s.q, *v0), (t1, *q1, *v), strict=True))
            return [e.xreplace(here) for e in expressions]

        p, p_b = at0(S.L_v, va), at1(S.L_v, vb)
        first = zip(p, S.L_v, at0(S.L_q, va), s.force(s.lam1), strict=True)
        drift = Stage(
            unknowns=(*va, *second, *s.lam1),
            equations=(
                *(x - p0 - h / 2 * f + a for x, p0, f, a in first),
                *(x - y for x, y in zip(p_b, p, strict=True) if second),
                *((x + y) / 2 for x, y in zip(at0(system.constraints, va),
                                              at1(system.constraints, vb), strict=True)),
                *(e / h for e in at1(system.holonomic, vb)),  # to compare with velocities
            ),
            guess=(*v0, *(v0 if second else ()), *(x / 2 for x in s.lam)),
            let=let,
            scale2=(*s.scale2, *(s.scale2 if second else ()), *none),
        )  # fmt: skip
        p_plus = [x + h / 2 * f for x, f in zip(p_b, at1(S.L_q, vb), strict=True)]
        kick, v1, mu = arrival(system, s.t, t1, q1, p_plus, let, (*vb, *s.lam1), s.scale2)
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *v0, *s.lam),
            args=(*s.parameters, *s.scale2),
            stages=(drift, kick),
            update=(*q1, *v1, *(x + y for x, y in zip(s.lam1, mu, strict=True))),
            let=let,
        )


def arrival(system, t, t1, q1, p, let, guess, scale2):
    """The momentum p put into D: L_v(q1, v1) + A(q1)^T mu = p, A(q1) v1 = 0; and v1, mu."""
    S = system.symbolic
    v1 = tuple(dummy(f"{u.name}_1") for u in system.v)
    mu = tuple(dummy(f"mu{k}") for k in range(len(S.A)))
    there = dict(zip((t, *system.q, *system.v), (t1, *q1, *v1), strict=True))
    A = [[e.xreplace(there) for e in row] for row in S.A]
    rows = zip(S.L_v, p, *A, strict=True)
    stage = Stage(
        unknowns=(*v1, *mu),
        equations=(
            *(L_v.xreplace(there) - x + sum(a * y for a, y in zip(column, mu, strict=True))
              for L_v, x, *column in rows),
            *(sum(a * u for a, u in zip(row, v1, strict=True)) for row in A),
        ),
        guess=tuple(guess),
        let=tuple(let),
        scale2=(*scale2, *(None,) * len(mu)),
    )  # fmt: skip
    return stage, v1, mu
