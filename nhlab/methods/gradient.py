"""A discrete-gradient method: energy and constraints at the nodes, both to round-off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from ..codegen.statement import Stage, Statement, dummy
from .method import Frame, Method
from .reversible import need_plain

SLOW = 1e-9  # where u.M u is below this part of its usual size, the correction is below round-off


@dataclass(frozen=True, repr=False)
class DiscreteGradient(Method):
    r"""Keeps E(q, v) and A(q) v = 0 at every node; mechanical autonomous systems.

    With means :math:`\bar v, \bar M, \bar A` and differences :math:`\Delta v, \Delta A` of the two
    ends of the step, and the step :math:`u = (q_1-q_0)/h`:

    .. math::
        \bar M u &= \bar M \bar v - \bar A^T\kappa, \qquad \bar A u = 0 \\
        \bar M \Delta v &= -h g + h S u - \bar A^T\lambda + \Delta A^T\kappa, \qquad A_1 v_1 = 0

    * g is Gonzalez' discrete gradient (J. Nonlinear Sci. 6 (1996)) of
      :math:`U(q) = \frac12(E(q,v_0) + E(q,v_1))`: grad U at the midpoint plus the multiple of
      :math:`(\bar M_{ii} u_i)`, i not cyclic, that gives :math:`h\,g\cdot u = U(q_1) - U(q_0)`;
    * :math:`S_{ij} = \partial_i p_j - \partial_j p_i`, p = L_v at the midpoint and mean v, is
      skew: the gyroscopic force of M(q) and of terms b(q).v;
    * the rows of A at either end are made orthonormal in :math:`\bar M^{-1}`.

    Energy, with :math:`n = \bar v - u = \bar M^{-1}\bar A^T\kappa`.  By the choice of U,
    :math:`\Delta E = \bar v\cdot\bar M\Delta v + h\,g\cdot u`.  By A v = 0 at both ends,
    :math:`\bar A\Delta v = -\Delta A\,\bar v`.  Insert the second line, once into
    :math:`\bar v\cdot\bar M\Delta v` and once into :math:`\kappa\cdot\Delta A\bar v =
    -\kappa\cdot\bar A\Delta v = -n\cdot\bar M\Delta v`; g cancels, S by u.S u = 0,
    :math:`\lambda` by :math:`\bar A u = 0`, and there is left

    .. math:: \Delta E = -\kappa\cdot\bar A\bar M^{-1}\Delta A^T\kappa
              = -\tfrac12\kappa\cdot(A_1\bar M^{-1}A_1^T - A_0\bar M^{-1}A_0^T)\kappa = 0,

    for both Gram matrices are the identity.  Exchanging the ends and the sign of h changes no
    equation: order 2 and reversible.

    The aim is that of Celledoni, Farre Puiggali, Hoiseth & Martin de Diego (J. Nonlinear Sci. 29
    (2019)), who take a discrete gradient on D* in a basis of D; here no basis is chosen, so none
    becomes singular.

    Rows hold (q, v) at the nodes; ``lam`` is lambda for the rows of A as they were given.
    """

    discrete: ClassVar[bool] = False
    order: ClassVar[int] = 2
    keeps: ClassVar[tuple] = (
        "energy at the nodes",
        "the constraints at the nodes",
        "time reversal: back after v -> -v, if L(q, -v) = L(q, v)",
        "momenta of coordinates that occur in neither V nor A, if M is constant",
    )
    loses: ClassVar[tuple] = ("the symplectic form", "other momenta")

    def check(self, system):
        need_plain(self, system)
        if system.holonomic or not system.is_autonomous:
            what = "holonomic constraints" if system.holonomic else "time"
            raise ValueError(f"DiscreteGradient keeps E(q, v) with A(q) v = 0 alone and {system!r} "
                             f"has {what} besides; use nh.DLA or nh.Reversible")  # fmt: skip
        if not system.is_mechanical or not system.is_definite:
            raise ValueError("DiscreteGradient needs L = v.M(q).v/2 + b(q).v - V(q) with positive "
                             f"definite M; {system!r} has another. Use nh.DLA")  # fmt: skip

    def code_key(self):
        return ("DiscreteGradient",)

    def arguments(self, system, scale2):
        return (*system.parameters.values(), *scale2)

    def statement(self, system):
        s, S, let = Frame(system), system.symbolic, Abbreviations()
        h, q0, v0, n, m = s.h, s.q, system.v, range(s.n), range(s.m)
        d = tuple(dummy(f"d_{x.name}") for x in v0)  # small, so that its round-off is
        u = let.all([x + y for x, y in zip(v0, d, strict=True)], "{}_step", v0)
        kappa = tuple(dummy(f"kappa{k}") for k in m)
        q1, qm = (let.all([x + part * y for x, y in zip(q0, u, strict=True)], f"{{}}_{k}", q0)
                  for k, part in (("1", h), ("m", h / 2)))  # fmt: skip

        def at(e, q, v=v0):
            return e.xreplace(dict(zip((*q0, *v0), (*q, *v), strict=True)))

        M = [[let((S.M[i][j] + at(S.M[i][j], q1)) / 2, "M") for j in n] for i in n]
        root = let.cholesky(M)

        def orthonormal(A):
            """A with rows orthonormal in M^-1, and the triangle that makes them so."""
            Y = [let.forward(root, row) for row in A]
            R = let.cholesky([[_dot(x, y) for y in Y] for x in Y])
            columns = [let.forward(R, [row[i] for row in A]) for i in n]
            return [[column[k] for column in columns] for k in m], R

        A0, R0 = orthonormal(S.A)
        A1, R1 = orthonormal([[at(e, q1) for e in row] for row in S.A])
        A = [[let((x + y) / 2, "A") for x, y in zip(*rows, strict=True)]
             for rows in zip(A0, A1, strict=True)]  # fmt: skip
        N = [let.backward(root, let.forward(root, row)) for row in A]  # M^-1 A^T
        half = let.all([d[i] + _dot([N[k][i] for k in m], kappa) for i in n], "half_{}", v0)
        mean = let.all([v0[i] + half[i] for i in n], "{}_mean", v0)
        v1 = let.all([v0[i] + 2 * half[i] for i in n], "{}_1", v0)

        def U(e, q):
            return (at(e, q) + at(e, q, v1)) / 2

        g = [U(S.E.diff(x), qm) for x in q0]
        if not _is_quadratic(S.E, q0):  # of a quadratic the midpoint gives the difference exactly
            g = let.all(g, "g_{}", q0)
            Mu = [M[i][i] * u[i] if S.E.has(q0[i]) else sp.S.Zero for i in n]
            speed2, slow = let(_dot(u, Mu), "uMu"), SLOW * _energy_scale(s, lambda x: S.E.has(x))
            below = let(sp.Piecewise((speed2, speed2 > slow), (sp.oo, True)), "below")
            tau = let((U(S.E, q1) - U(S.E, q0) - h * _dot(g, u)) / (h * below), "tau")
            g = [x + tau * y for x, y in zip(g, Mu, strict=True)]
        curl = [[at(S.L_v[j].diff(q0[i]) - S.L_v[i].diff(q0[j]), qm, mean) for j in n] for i in n]
        force = [
            h * (g[i] - _dot(curl[i], u))
            + _dot([A[k][i] for k in m], s.lam1)
            - _dot([A1[k][i] - A0[k][i] for k in m], kappa)
            for i in n
        ]
        stage = Stage(
            unknowns=(*d, *kappa, *s.lam1),
            equations=(
                *(2 * _dot(row, half) + f for row, f in zip(M, force, strict=True)),
                *(_dot(row, u) for row in A),
                *(_dot(row, v1) for row in A1),
            ),
            guess=(sp.S.Zero,) * (s.n + 2 * s.m),
            let=tuple(let.pairs),
            scale2=(
                *(x**2 + y for x, y in zip(v0, s.scale2, strict=True)),
                *(_energy_scale(s) for _ in (*kappa, *m)),
            ),
        )
        given = [let.backward(R, s.lam1) for R in (R0, R1)]  # A^T lam in the rows as given
        return Statement(
            t=s.t,
            h=h,
            carry=(*q0, *v0, *s.lam),
            args=(*s.parameters, *s.scale2),
            stages=(stage,),
            update=(*q1, *v1, *((x + y) / 2 for x, y in zip(*given, strict=True))),
            let=tuple(let.pairs),
        )


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), sp.S.Zero)


def _energy_scale(s, use=lambda x: True):
    """v.M v for the velocities that Newton's corrections are measured against."""
    M = s.system.symbolic.M
    return sum(M[i][i] * y for i, (x, y) in enumerate(zip(s.q, s.scale2, strict=True)) if use(x))


def _is_quadratic(E, q):
    return all(E.diff(x, y, z) == 0 for x in q for y in q for z in q)


class Abbreviations:
    """Collects pairs (symbol, expression); linear algebra in which every entry gets a name."""

    def __init__(self):
        self.pairs = []

    def __call__(self, e, hint):
        if e.is_Atom:
            return e
        self.pairs.append((dummy(hint), e))
        return self.pairs[-1][0]

    def all(self, expressions, hint, symbols):
        return [self(e, hint.format(x.name)) for e, x in zip(expressions, symbols, strict=True)]

    def cholesky(self, S):
        """Lower triangular R with R R^T = S."""
        R = []
        for i, row in enumerate(S):
            R.append([])
            for j in range(i):
                R[i].append(self((row[j] - _dot(R[i], R[j][:j])) / R[j][j], "R"))
            R[i].append(self(sp.sqrt(row[i] - _dot(R[i], R[i])), "R"))
        return R

    def forward(self, R, b):
        """R^-1 b."""
        x = []
        for row, e in zip(R, b, strict=True):
            x.append(self((e - _dot(row[: len(x)], x)) / row[len(x)], "x"))
        return x

    def backward(self, R, b):
        """R^-T b."""
        x = list(b)
        for k in reversed(range(len(b))):
            rest = _dot([R[j][k] for j in range(k + 1, len(b))], x[k + 1 :])
            x[k] = self((b[k] - rest) / R[k][k], "x")
        return x
