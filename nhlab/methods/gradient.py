"""A discrete-gradient method: energy and constraints at the nodes, both to round-off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from ..codegen.derivatives import dot, total
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Substitution
from .method import Frame, Method
from .reversible import need_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..codegen.kinds import Exprs, Pair, Symbols, Table
    from ..mechanics.system import System

# Gonzalez' correction divides by u.M u: left out where it is round-off, GAP of the energies, or in
# slow steps, u.M u < SLOW v.M v, where round-off would grow, SLOW_GAP of them.
GAP, SLOW, SLOW_GAP = 1e-15, 1e-9, 1e-10
# The largest tolerated |pivot before| / |pivot after| in making the rows of A orthonormal.
MAX_CANCELLATION = 1e7
TURNS = 4  # of the iteration for the polar factor, each of which squares its error


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
    * the rows of A at either end are made orthonormal in :math:`\bar M^{-1}`, those at the second
      end turned so that they lie next to those at the first: :math:`A_0\bar M^{-1}A_1^T` is
      symmetric and positive.  So the method depends on D alone, not on the forms that define it,
      nor on their order (with three and more of them up to about the 32nd power of the angle by
      which D turns in a step).

    Energy, with :math:`n = \bar v - u = \bar M^{-1}\bar A^T\kappa`.  By the choice of U,
    :math:`\Delta E = \bar v\cdot\bar M\Delta v + h\,g\cdot u`.  By A v = 0 at both ends,
    :math:`\bar A\Delta v = -\Delta A\,\bar v`.  Insert the second line, once into
    :math:`\bar v\cdot\bar M\Delta v` and once into :math:`\kappa\cdot\Delta A\bar v =
    -\kappa\cdot\bar A\Delta v = -n\cdot\bar M\Delta v`; g cancels, S by u.S u = 0,
    :math:`\lambda` by :math:`\bar A u = 0`, and there is left

    .. math:: \Delta E = -\kappa\cdot\bar A\bar M^{-1}\Delta A^T\kappa
              = -\tfrac12\kappa\cdot(A_1\bar M^{-1}A_1^T - A_0\bar M^{-1}A_0^T)\kappa = 0,

    for both Gram matrices are the identity.  Exchanging the ends and the sign of h changes no
    equation: order 2 and reversible.  Forces add h F to the second line, F taken at the midpoint
    and u; they do not cancel, but leave :math:`\Delta E = h\,F\cdot u`, their work.

    The aim is that of Celledoni, Farre Puiggali, Hoiseth & Martin de Diego (J. Nonlinear Sci. 29
    (2019)), who take a discrete gradient on D* in a basis of D, and then rewrite their methods with
    "just the initial information" of the system.  Here no basis is chosen, so none becomes
    singular.

    Rows hold (q, v) at the nodes; ``lam`` is lambda for the rows of A as they were given.

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.particle(), nh.DiscreteGradient(), h=0.2, steps=100)
    >>> bool(np.ptp(sol.energy()) < 1e-12 and abs(sol.constraint()).max() < 1e-12)
    True
    """

    discrete: ClassVar[bool] = False
    work_along_chord: ClassVar[bool] = True
    composable: ClassVar[bool] = True
    order: ClassVar[int] = 2
    keeps: ClassVar[tuple[str, ...]] = (
        "energy at the nodes, without forces",
        "the balance of energy: with forces it changes by h F.u in a step",
        "the constraints at the nodes",
        "time reversal: back after v -> -v, if L(q, -v) = L(q, v) and F(q, -v) = F(q, v)",
        "momenta of coordinates that L does not contain, nor any constraint their velocities, "
        "and that no force moves, if M is constant and L has no terms b(q).v",
    )
    loses: ClassVar[tuple[str, ...]] = ("the symplectic form", "other momenta")

    def check(self, system: System) -> None:
        need_plain(self, system)
        if system.holonomic or system.is_affine or not system.is_autonomous:
            what = "holonomic constraints" if system.holonomic else "time"
            what = "constraints that move" if system.is_affine else what
            raise ValueError(
                f"DiscreteGradient keeps E(q, v) with A(q) v = 0 alone and {system!r} "
                f"has {what} besides; use nh.DLA or nh.Reversible"
            )
        if not system.is_mechanical or not system.is_definite:
            raise ValueError(
                "DiscreteGradient needs L = v.M(q).v/2 + b(q).v - V(q) with positive "
                f"definite M; {system!r} has another. Use nh.DLA"
            )

    def statement(self, system: System) -> Statement:
        s = Ends(system)
        n, h, let = range(s.n), s.h, s.abbreviations
        F = map(s.place(s.q_m, s.u), system.expressions.F)
        force = [
            h * (g - dot(row, s.u) - f)
            + dot([A[i] for A in s.A], s.lam1)
            - dot([A1[i] - A0[i] for A0, A1 in zip(s.A0, s.A1, strict=True)], s.kappa)
            for i, g, row, f in zip(n, s.gradient(), s.curl(), F, strict=True)
        ]
        stage = Stage(
            unknowns=(*s.d, *s.multipliers),
            equations=(
                *(2 * dot(row, s.half) + f for row, f in zip(s.M, force, strict=True)),
                *(dot(row, s.u) for row in s.A),
                *(dot(row, s.v1) for row in s.A1),
            ),
            guess=(sp.S.Zero,) * (s.n + 2 * s.m),
            sizes=(*(x + y for x, y in zip(system.v, s.d, strict=True)), *s.multipliers),
            weights=(*s.shares, *(1,) * (2 * s.m)),
        )
        turned = [dot([row[k] for row in s.turn], s.lam1) for k in range(s.m)]
        rows = let.backward(s.R0, s.lam1), let.backward(s.R1, turned)  # in the rows of A as given
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *system.v, *s.lam),
            args=(*s.parameters, *s.shares),
            stages=(stage,),
            update=(*s.q_1, *s.v1, *((x + y) / 2 for x, y in zip(*rows, strict=True))),
            let=s.lets(),
            required=tuple(s.abbreviations.required),
        )


class Ends(Frame):
    """The two ends of a step and what lies between: u, mean and half difference of v, M and A."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        S, n, m = system.expressions, range(self.n), range(self.m)
        self.abbreviations = let = Abbreviations(self.let)
        v0 = system.v
        self.d = tuple(dummy(f"d_{x.name}") for x in v0)  # small, so that its round-off is
        self.multipliers = tuple(dummy(f"{x}{k}") for x in ("kappa", "lam") for k in m)
        units = enumerate(self.shares)  # which make velocities of them, that Newton compares
        unit = let(total(sp.sqrt(self.at(S.M[i][i])) * share for i, share in units), "unit")
        self.kappa, self.lam1 = (
            [unit * x for x in some]
            for some in (self.multipliers[: self.m], self.multipliers[self.m :])
        )
        self.u = let.all([x + y for x, y in zip(v0, self.d, strict=True)], "{}_step", v0)
        self.q_1, self.q_m = (
            let.all(
                [x + part * y for x, y in zip(self.q, self.u, strict=True)], f"{{}}_{k}", self.q
            )
            for k, part in (("1", self.h), ("m", self.h / 2))
        )
        at1 = self.place(self.q_1, v0)
        self.M = [[let((self.at(e) + at1(e)) / 2, "M") for e in row] for row in S.M]
        self.root = let.cholesky(self.M)
        self.A0, self.R0 = let.orthonormal(self.root, self.at.table(S.A))
        self.A1, self.R1 = let.orthonormal(self.root, at1.table(S.A))
        self.turn = let.alignment(self.root, self.A0, self.A1)
        self.A1 = let.product(self.turn, self.A1)
        self.A = [
            [let((x + y) / 2, "A") for x, y in zip(*rows, strict=True)]
            for rows in zip(self.A0, self.A1, strict=True)
        ]
        N = [let.backward(self.root, let.forward(self.root, row)) for row in self.A]  # M^-1 A^T
        normal = [dot([row[i] for row in N], self.kappa) for i in n]
        self.half = let.all([x + y for x, y in zip(self.d, normal, strict=True)], "half_{}", v0)
        self.mean = let.all([x + y for x, y in zip(v0, self.half, strict=True)], "{}_mean", v0)
        self.v1 = let.all([x + 2 * y for x, y in zip(v0, self.half, strict=True)], "{}_1", v0)

    def place(self, q: Exprs, v: Exprs) -> Substitution:
        """How to take an expression at (q, v)."""
        here = zip((*self.q, *self.system.v), (*q, *v), strict=True)
        new = {x: y for x, y in here if x is not y}
        return Substitution(self.system.expressions, new, self.let)

    def gradient(self) -> list[sp.Expr]:
        """Gonzalez' discrete gradient of U(q) = (E(q, v0) + E(q, v1))/2."""
        S, let, v0, h, u = (
            self.system.expressions,
            self.abbreviations,
            self.system.v,
            self.h,
            self.u,
        )

        def U(q: Exprs) -> Callable[[sp.Expr], sp.Expr]:
            before, after = self.place(q, v0), self.place(q, self.v1)
            return lambda e: (before(e) + after(e)) / 2

        g = list(map(U(self.q_m), S.gradient(S.E, self.q)))
        if not S.let and _is_quadratic(S.E, self.q):
            return g  # of a quadratic the midpoint gives the difference exactly
        g = let.all(g, "g_{}", self.q)
        moving = [x for x in self.q if S.depends([[S.E]], {x})]
        diagonal = (self.M[i][i] * y for i, y in enumerate(u))
        Mu = [e if x in moving else sp.S.Zero for x, e in zip(self.q, diagonal, strict=True)]
        U0, U1, speed2 = (
            let(U(self.q)(S.E), "U"),
            let(U(self.q_1)(S.E), "U"),
            let(dot(u, Mu), "uMu"),
        )
        gap = let(U1 - U0 - h * dot(g, u), "gap")
        few = sp.Piecewise((SLOW_GAP, speed2 < SLOW * self.energy_scale(moving)), (GAP, True))
        is_large = abs(gap) > few * (abs(U0) + abs(U1))
        tau = let(gap / (h * let(sp.Piecewise((speed2, is_large), (sp.oo, True)), "below")), "tau")
        return [x + tau * y for x, y in zip(g, Mu, strict=True)]

    def curl(self) -> Table:
        """S_ij = d_i p_j - d_j p_i at the midpoint."""
        S, n = self.system.expressions, range(self.n)
        slopes, at = S.jacobian(S.L_v, self.q), self.place(self.q_m, self.mean)
        return [[at(slopes[j][i] - slopes[i][j]) for j in n] for i in n]

    def energy_scale(self, coordinates: Symbols) -> sp.Expr:
        """v.M v of the diagonal of M."""
        M = self.at.table(self.system.expressions.M)
        terms = enumerate(zip(self.q, self.system.v, strict=True))
        return total(M[i][i] * y**2 for i, (x, y) in terms if x in coordinates)


def _is_quadratic(E: sp.Expr, q: Symbols) -> bool:
    return all(E.diff(x, y, z) == 0 for x in q for y in q for z in q)


class Abbreviations:
    """Adds to pairs (symbol, expression); linear algebra in which every entry gets a name."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs
        self.required: list[sp.Expr] = []  # expressions that are positive where no digits are lost

    def __call__(self, e: sp.Expr, hint: str) -> sp.Expr:
        if e.is_Atom:
            return e
        self.pairs.append((dummy(hint), e))
        return self.pairs[-1][0]

    def all(self, expressions: Exprs, hint: str, symbols: Symbols) -> list[sp.Expr]:
        return [self(e, hint.format(x.name)) for e, x in zip(expressions, symbols, strict=True)]

    def product(self, X: Sequence[Exprs], Y: Sequence[Exprs]) -> Table:
        """The product of two matrices."""
        columns = list(zip(*Y, strict=True))
        return [[self(dot(row, column), "X") for column in columns] for row in X]

    def cholesky(self, S: Table) -> Table:
        """Lower triangular R with R R^T = S."""
        R = []
        for i, row in enumerate(S):
            R.append([])
            for j in range(i):
                R[i].append(self((row[j] - dot(R[i], R[j][:j])) / R[j][j], "R"))
            R[i].append(self(sp.sqrt(row[i] - dot(R[i], R[i])), "R"))
        return R

    def forward(self, R: Table, b: Exprs) -> list[sp.Expr]:
        """R^-1 b."""
        x = []
        for row, e in zip(R, b, strict=True):
            x.append(self((e - dot(row[: len(x)], x)) / row[len(x)], "x"))
        return x

    def backward(self, R: Table, b: Exprs) -> list[sp.Expr]:
        """R^-T b."""
        x = list(b)
        for k in reversed(range(len(b))):
            rest = dot([R[j][k] for j in range(k + 1, len(b))], x[k + 1 :])
            x[k] = self((b[k] - rest) / R[k][k], "x")
        return x

    def orthonormal(self, root: Table, A: Table) -> tuple[Table, Table]:
        """Rows that span those of A and are orthonormal in M^-1, and the triangle that makes them
        so; ``root`` is the Cholesky factor of M."""
        Y = [self.forward(root, row) for row in A]
        gram = [[dot(x, y) for y in Y] for x in Y]
        R = self.cholesky(gram)
        self.required += [MAX_CANCELLATION * R[k][k] ** 2 - gram[k][k] for k in range(1, len(A))]
        columns = [self.forward(R, [row[i] for row in A]) for i in range(len(root))]
        return [[column[k] for column in columns] for k in range(len(A))], R

    def alignment(self, root: Table, A0: Table, A1: Table) -> Table:
        """The orthogonal matrix U that turns the rows A1 so that A0 M^-1 (U A1)^T is symmetric and
        positive: the polar factor of C = A0 M^-1 A1^T."""
        Y0, Y1 = ([self.forward(root, row) for row in A] for A in (A0, A1))
        C = [[self(dot(x, y), "C") for y in Y1] for x in Y0]
        if len(C) < 2:
            return [[sp.S.One]] * len(C)
        if len(C) == 2:  # C and its cofactors, added where det C > 0, else subtracted
            (a, b), (c, d) = C
            s = self(sp.sign(a * d - b * c), "sign")
            U = [[a + s * d, b - s * c], [c - s * b, d + s * a]]
            size = self(sp.sqrt(dot(U[0], U[0])), "size")
            return [[self(e / size, "U") for e in row] for row in U]
        for _ in range(TURNS):  # Newton and Schulz: C (3 - C^T C)/2
            square = self.product(list(zip(*C, strict=True)), C)
            C = self.product(C, [[(3 * (i == j) - e) / 2 for j, e in enumerate(row)]
                                 for i, row in enumerate(square)])  # fmt: skip
        R = self.cholesky([[dot(x, y) for y in C] for x in C])  # what is left to be orthogonal
        columns = [self.forward(R, [row[j] for row in C]) for j in range(len(C))]
        return [list(row) for row in zip(*columns, strict=True)]
