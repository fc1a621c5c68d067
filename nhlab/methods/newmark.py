"""The Newmark family for nonholonomic systems."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import sympy as sp

from ..codegen.derivatives import dot, total
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.motion import motion_stage
from ..mechanics.symbolic import Substitution
from .method import Frame, Method
from .reversible import need_plain

if TYPE_CHECKING:
    from ..codegen.kinds import Exprs
    from ..mechanics.system import System


@dataclass(frozen=True, repr=False)
class Newmark(Method):
    r"""Newmark's formulas with the accelerations of the nonholonomic motion, made a map of D.

    .. math::
        q_1 &= q_0 + h w_0 + \tfrac{h^2}2\bigl((1-2\beta)\,a_0 + 2\beta\,a_1\bigr), \qquad
            w_0 = v_0 - M(q_0)^{-1}A(q_0)^T\sigma \\
        v_1 &= w_0 + h\bigl((1-\gamma)\,a_0 + \gamma\,a_1\bigr) - M(q_1)^{-1}A(q_1)^T\sigma,
            \qquad A(q_1) v_1 = 0

    with a_k = a(t_k, q_k, v_k), the acceleration that the equations of motion with the multipliers
    eliminated have in a state of D.  By sigma the new velocity is admissible; for gamma = 1/2 it is
    of size h^3.  The first line is Taylor's formula for the nonholonomic exponential map
    v0 -> q(h), whose true values ``nh.exact.step`` gives.

    Order 2 for gamma = 1/2, else 1.  With gamma = 1/2 an exchange of the ends of a step changes no
    equation, whatever beta is; beta = 1/4 is the trapezoidal rule, and beta = 0 leapfrog where
    forces depend on q alone.  With ``second_beta`` a step consists of two half steps, the first
    with beta and the second with second_beta: the composition of two members.  Its reverse takes
    them in the other order, which is the same motion seen half a step later.

    The idea, Newmark's formulas on the exponential map, is that of Anahory Simoes, Ferraro, Marrero
    & Martin de Diego, "Nonholonomic Newmark method" (arXiv:2201.13162).  The equations above are
    our statement of it, with sigma at both ends for symmetry; theirs may differ.

    Rows hold (q, v) at the nodes, v in D.

    Parameters
    ----------
    beta : the weight of the second acceleration in the position, a number in [0, 1/2]
    gamma : its weight in the velocity, a number in [0, 1]
    second_beta : that of the second half of each step; None for steps in one piece

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.Newmark(), h=0.1, steps=100)
    >>> bool(abs(sol.constraint()).max() < 1e-12)
    True
    """

    beta: float = 0.25
    gamma: float = 0.5
    second_beta: float | None = None

    discrete: ClassVar[bool] = False
    keeps: ClassVar[tuple[str, ...]] = ("the constraints at the nodes",)
    loses: ClassVar[tuple[str, ...]] = (
        "energy (it oscillates, and drifts on some problems)",
        "the symplectic form",
    )

    def __post_init__(self) -> None:
        for f in fields(self):
            value: Any = getattr(self, f.name)
            if f.name == "second_beta" and value is None:
                continue
            number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            most = 1 if f.name == "gamma" else 0.5
            if not (number and 0 <= value <= most):  # pyright: ignore[reportOperatorIssue]
                raise ValueError(f"{f.name} = {value!r} must be a number in [0, {most}]")
            object.__setattr__(self, f.name, float(value))

    @property
    def order(self) -> int:
        return 2 if self.gamma == 0.5 else 1

    @property
    def is_symmetric(self) -> bool:
        return self.gamma == 0.5 and self.second_beta in (None, self.beta)

    def check(self, system: System) -> None:
        need_plain(self, system)
        if system.holonomic:
            raise ValueError(
                f"Newmark has no holonomic constraints and {system!r} has "
                f"{len(system.holonomic)}; use nh.DLA or nh.Reversible"
            )

    def code_key(self) -> tuple[object, ...]:
        return ("Newmark", self.second_beta is None)

    def arguments(self, system: System, shares: Sequence[Any]) -> tuple[Any, ...]:
        options = (self.beta, self.gamma, self.second_beta)
        return (*(x for x in options if x is not None), *system.parameters.values(), *shares)

    def statement(self, system: System) -> Statement:
        s = Frame(system)
        names = ("beta", "gamma", *(() if self.second_beta is None else ("second_beta",)))
        beta, gamma, *second = map(dummy, names)
        t, q, v, h, stages, lam = s.t, s.q, system.v, s.h / (1 + len(second)), [], []
        for each in (beta, *second):
            found, q, v, impulse = substep(s, t, q, v, h, each, gamma)
            stages, t = [*stages, *found], t + h
            lam.append(impulse)
        return Statement(
            t=s.t,
            h=s.h,
            carry=(*s.q, *system.v, *s.lam),
            args=(beta, gamma, *second, *s.parameters, *s.shares),
            stages=tuple(stages),
            update=(*q, *v, *(total(forces) for forces in zip(*lam, strict=True))),
            let=s.lets(),
        )


def substep(
    s: Frame, t: sp.Expr, q: Exprs, v: Exprs, h: sp.Expr, beta: sp.Symbol, gamma: sp.Symbol
) -> tuple[list[Stage], Exprs, Exprs, Exprs]:
    """The stages of a step from (t, q, v), where it arrives, and the impulse of the constraints."""
    system, S, n = s.system, s.system.expressions, range(s.n)
    here = Substitution(S, dict(zip((s.t, *s.q, *system.v), (t, *q, *v), strict=True)), s.let)
    start = motion_stage(system, t, q, v, s.let)
    a0, lam0 = start.unknowns[: s.n], start.unknowns[s.n :]
    M, stages, N = here.table(S.M), [start], []
    for row in here.table(S.A):  # N_k = M^-1 A_k^T, without an inverse
        N.append(tuple(dummy(f"N{i}") for i in n))
        equations = tuple(dot(m, N[-1]) - e for m, e in zip(M, row, strict=True))
        stages.append(Stage(N[-1], equations, (sp.S.Zero,) * s.n))

    a1, sigma = (
        tuple(dummy(f"{x}{k}") for k in some) for x, some in (("a1_", n), ("s", range(s.m)))
    )
    v1 = tuple(dummy(f"{u.name}_1") for u in system.v)
    w0 = s.named([v[i] - dot([row[i] for row in N], sigma) for i in n])
    mean = [h / 2 * ((1 - 2 * beta) * x + 2 * beta * y) for x, y in zip(a0, a1, strict=True)]
    q1 = s.named([x + h * (w + y) for x, w, y in zip(q, w0, mean, strict=True)])
    end = motion_stage(system, t + h, q1, v1, s.let)
    lam1 = end.unknowns[s.n :]
    renamed = dict(zip(end.unknowns, a1, strict=False))
    motion = end.each(lambda some: tuple(e.xreplace(renamed) for e in some)).equations
    new = dict(zip((s.t, *s.q, *system.v), (t + h, *q1, *v1), strict=True))
    there = Substitution(S, new, s.let)
    gap = [v1[i] - w0[i] - h * ((1 - gamma) * a0[i] + gamma * a1[i]) for i in n]
    A = there.table(S.A)
    momentum = [
        dot(m, gap) + dot([row[i] for row in A], sigma) for i, m in enumerate(there.table(S.M))
    ]
    constraints = [dot(row, v1) + there(e) for row, e in zip(A, S.b, strict=True)]
    guess = [x + h * a for x, a in zip(v, a0, strict=True)]
    stages.append(Stage(
        unknowns=(*v1, *a1, *sigma, *lam1),
        equations=(*momentum, *motion, *constraints),
        guess=(*guess, *a0, *(sp.S.Zero,) * s.m, *lam0),
        sizes=(*v1, *(h * a for a in a1), *(None,) * (2 * s.m)),
        weights=(*s.shares, *s.shares, *(0,) * (2 * s.m)),
    ))  # fmt: skip
    forces = zip(sigma, lam0, lam1, strict=True)
    impulse = [2 * x - h * ((1 - gamma) * y + gamma * z) for x, y, z in forces]
    return stages, q1, v1, impulse
