"""The projector method (geometric nonholonomic integrator), FIM08."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.symbolic import Substitution
from .method import Frame, Method

if TYPE_CHECKING:
    from ..codegen.kinds import Exprs, Table
    from ..mechanics.system import System

    # The stage, w, the entries of Q^T (p - b), and what a row stores beside v.
    Split = tuple[Stage, Exprs, Exprs, tuple[sp.Expr, ...]]


@dataclass(frozen=True, repr=False)
class Projector(Method):
    r"""The normal part of the momentum is reflected, the tangent part kept, FIM08 (4)-(6).

    .. math:: p^-(q_1,q_2) = (P - Q)^T(q_1)\; p^+(q_0,q_1)

    Order 2 for alpha = 1/2 or the symmetric rule, else 1.  The constraints are not discretised.
    Forces are part of the momenta, as in DLA.
    P and Q are built with the system's ``metric``, or with M.  Another metric gives a motion of
    the same mechanics only if D has the same orthogonal complement in it.

    ``sol.v[0]`` is not the given v0: the momentum that arrives at q0 is the reflected one, so that
    half of the first impulse of the constraints lies before q0 and half after.  The given v0 is
    ``sol.v_projected[0]``, and ``sol(t0).v``.

    Where constraints move, A v + b = 0, the momentum is reflected about those of the admissible
    velocities: p - M w in the place of p, with w the shortest of them (Ferraro, Jimenez & Martin de
    Diego, Nonlinearity 28 (2015)).

    A step has the determinant (-1)^m on (q, p), for it is a reflection and a symplectic map: what
    a motion within D loses in volume, as one that settles does, the zigzag across D gains.
    ``EqualImpulses`` has the impulse at both ends of a step equal, not those of two steps at a
    node, and cannot zigzag.

    Where D is spanned by fields, P = X (X^T M X)^-1 X^T M and no one-forms are needed.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.free_particle(), nh.Projector(), h=0.1, steps=100)
    >>> bool(np.ptp(sol.energy()) < 1e-12)
    True
    """

    alpha: float = 0.5
    symmetric: bool = False

    takes_fields: ClassVar[bool] = True
    constraint_at: ClassVar[str] = "average"
    keeps: ClassVar[tuple[str, ...]] = (
        "the constraint for the average of arriving and leaving momentum",
        "momenta of horizontal symmetries of Ld along which no force acts",
        "the momentum equation, for symmetries of Ld",
        "energy without forces or moving constraints, if L is a bi-invariant metric and P, Q are "
        "built with it (FIM08 Thm 1)",
    )
    loses: ClassVar[tuple[str, ...]] = (
        "energy in general",
        "the constraint for the evolved momentum alone",
        "accuracy in long runs, where the normal momentum may zigzag and grow",
    )

    def check(self, system: System) -> None:
        if system.is_affine and system.metric is not None:
            raise ValueError(
                f"Projector reflects about moving constraints with M alone and {system!r} has a "
                "metric of its own; make it without, or use nh.DLA"
            )
        if system.holonomic:
            raise ValueError(
                f"Projector has no holonomic constraints and {system!r} has "
                f"{len(system.holonomic)}; use nh.DLA"
            )
        if not system.is_mechanical:
            raise ValueError(
                "Projector reflects momenta with a metric, so L must be quadratic in the "
                f"velocities; {system!r} is not. Use nh.DLA or nh.EDLA"
            )

    def statement(self, system: System) -> Statement:
        s = self.frame(system)
        split, w, normal, beside = self.split(s, s.p)
        Ld = s.discrete(self.symmetric)
        momenta = zip(Ld.p_minus, s.p, normal, strict=True)
        jump = Stage(  # (6): p_minus = (P - Q)^T p
            unknowns=s.v1,
            equations=tuple(p_minus - p + 2 * f for p_minus, p, f in momenta),
            guess=tuple(2 * x - u for x, u in zip(w, s.v, strict=True)) if beside else s.v,
            weights=s.shares,
        )
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *s.p, *s.v, *s.beside),
            args=(s.alpha, *s.parameters, *s.shares),
            stages=(split, jump) if beside else (jump,),
            update=(*s.q1(s.h), *Ld.p_plus, *s.v1, *beside),
            let=s.lets(Ld),
        )

    @staticmethod
    def split(s: Frame, p: Sequence[sp.Expr]) -> Split:
        """The parts of a momentum p - b = P^T (p - b) + Q^T (p - b), with b = dL/dv at v = 0.

        Returns a Stage, and in its unknowns: w with G w = P^T (p - b), the n entries of
        Q^T (p - b), and what a row stores beside v: 2 mu, or u where D is spanned by fields.
        """
        S = s.system.expressions
        # b is zero for L = T - V
        b = map(Substitution(S, dict.fromkeys(s.system.v, sp.S.Zero), s.let), S.L_v)
        p, G = [x - shift for x, shift in zip(p, b, strict=True)], s.at.table(S.G)
        return _split_by_fields(s, p, G) if s.u else _split_by_forms(s, p, G)

    def start_momentum(
        self, system: System, t: ArrayLike, q: np.ndarray, v: np.ndarray, h: ArrayLike
    ) -> np.ndarray:
        """Half the constraint impulse before q0, half after: p_minus = p0 + (h/2) A^T lambda."""
        force = system.motion.reaction(q, v, t)
        impulse = np.asarray(h)[..., None] / 2 * force
        return self.arriving(system, t, q, system.momentum(q, v, t) + impulse)

    def arriving(
        self, system: System, t: ArrayLike, q: np.ndarray, p_minus: np.ndarray
    ) -> np.ndarray:
        """(P - Q)^T is its own inverse."""
        b = system.momentum(q, 0 * p_minus, t)
        if system.is_affine:  # measured from the momentum of the shortest admissible velocity
            b = system.momentum(q, system.shortest(q, t), t)
        reflection = np.eye(len(system.v)) - 2 * system.Q(q, t)  # P - Q
        return b + np.einsum("...i,...ij->...j", p_minus - b, reflection)

    @staticmethod
    def state_start(
        s: Frame, p: Sequence[sp.Expr], lam: Sequence[sp.Expr]
    ) -> tuple[tuple[Stage, ...], Sequence[sp.Expr]]:
        """Half the constraint impulse before q0, half after."""
        if not s.m:
            return (), p
        p_minus = [x + s.h / 2 * f for x, f in zip(p, s.force(lam), strict=True)]
        return Projector.state_arriving(s, p_minus)

    @staticmethod
    def state_arriving(
        s: Frame, p: Sequence[sp.Expr]
    ) -> tuple[tuple[Stage, ...], Sequence[sp.Expr]]:
        """(P - Q)^T is its own inverse."""
        if not s.m:
            return (), p
        stage, _, normal, _ = Projector.split(s, p)
        return (stage,), [x - 2 * f for x, f in zip(p, normal, strict=True)]


def _split_by_forms(s: Frame, p: Exprs, G: Table) -> Split:
    """p = G w + A^T mu with A w = 0; where the constraints move, w is the admissible velocity, and
    p is reflected about its momentum."""
    system, S = s.system, s.system.expressions
    w = tuple(dummy(f"w_{name}") for name in system.degrees)
    mu = tuple(dummy(f"mu{k}") for k in range(s.m))
    normal = s.force(mu)
    momentum = tuple(dot(row, w) + f - x for row, f, x in zip(G, normal, p, strict=True))
    A = s.at.table(S.A)
    admissible = (dot(row, w) + s.at(e) for row, e in zip(A, S.b, strict=True))
    equations = (*momentum, *admissible)
    stage = Stage((*w, *mu), equations, (sp.S.Zero,) * (s.n + s.m))
    return stage, w, normal, tuple(2 * x for x in mu)


def _split_by_fields(s: Frame, p: Exprs, G: Table) -> Split:
    """X^T G X u = X^T p and w = X u."""
    X, u = s.fields(), s.u1
    w = s.named([dot(column, u) for column in zip(*X, strict=True)])
    normal = s.named([x - dot(row, w) for x, row in zip(p, G, strict=True)])
    equations = tuple(-dot(field, normal) for field in X)
    return Stage(u, equations, (sp.S.Zero,) * len(u)), w, normal, u
