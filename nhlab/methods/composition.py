"""Symmetric compositions: methods of order 4 and 6 from symmetric ones of order 2."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ..codegen.statement import Statement, dummy
from ..mechanics.symbolic import Substitution
from .dla import DLA
from .method import Frame, Method
from .reversible import arrival

if TYPE_CHECKING:
    import sympy as sp

    from ..mechanics.system import System

SUZUKI = 1 / (4 - 4 ** (1 / 3))
KAHAN_LI = (
    0.39216144400731413928,
    0.33259913678935943860,
    -0.70624617255763935981,
    0.08221359629355080023,
)
FACTORS = {
    4: (SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI),
    6: (*KAHAN_LI, 1 - 2 * sum(KAHAN_LI), *KAHAN_LI[::-1]),
}


@dataclass(frozen=True, repr=False)
class Composition(Method):
    r"""Substeps of a symmetric method one after the other, some of them backwards.

    .. math:: \Psi_h = \Phi_{\gamma_s h}\circ\dots\circ\Phi_{\gamma_1 h}, \qquad
              \gamma_i = \gamma_{s+1-i}, \quad \sum\gamma_i = 1, \quad \sum\gamma_i^3 = 0, \dots

    Order 4: s = 5, Suzuki, Phys. Lett. A 146 (1990).  Order 6: s = 9, Kahan & Li, Math. Comp. 66
    (1997).  A step costs s steps of the base.  See Hairer, Lubich & Wanner, section V.3.

    This needs a base that is a symmetric map of a state to a state.  DLA and Variational are that
    for (q, v) with v in D: they only ask for the momentum modulo A^T, so it is projected on D at
    each node, which changes no position.  Projector is not: its (P - Q)^T reflects the normal part
    of the momentum even for h = 0, and that part fits the one step size it was made with.

    Rows hold (q, v) at the nodes, v in D; ``lam`` is that of the last substep, times h over its
    size.

    Parameters
    ----------
    method : the base: DLA or Variational of order 2, Reversible, EqualImpulses or
        DiscreteGradient
    order : 4 or 6

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> fourth = nh.Composition(nh.DLA(), order=4)
    >>> sol = nh.integrate(nh.systems.particle(), fourth, h=0.2, steps=100)
    >>> round(float(np.ptp(sol.energy())), 4)
    0.0001
    """

    method: Method = DLA()  # noqa: RUF009 (a frozen value)
    order: int = 4

    discrete: ClassVar[bool] = False  # several discrete Lagrangians, not one

    def __post_init__(self) -> None:
        base = self.method
        if not (isinstance(base, Method) and base.composable and base.order == 2):
            raise ValueError(
                f"method = {self.method!r} is no symmetric map of (q, v) in D, so its "
                f"compositions gain no order{_why(self.method)}; compose nh.DLA() or "
                "nh.Variational() with alpha=1/2 or symmetric=True, nh.Reversible() "
                "or nh.DiscreteGradient()"
            )
        if not isinstance(self.order, numbers.Integral) or self.order not in FACTORS:
            raise ValueError(f"order = {self.order!r} must be 4 or 6")
        object.__setattr__(self, "order", int(self.order))

    def __repr__(self) -> str:
        return f"Composition({self.method!r}, order={self.order})"

    @property
    def base(self) -> Method:
        """The method of the substeps."""
        return self.method

    @property
    def factors(self) -> tuple[float, ...]:
        """The sizes of the substeps over h."""
        return FACTORS[self.order]

    @property
    def keeps(self) -> tuple[str, ...]:
        exceptions = ("the discrete constraint", "the momentum equation", "the law Phi* Omega")
        exceptions += ("the balance of energy",)
        sentences = (x for x in self.method.keeps if not x.startswith(exceptions))
        return tuple(dict.fromkeys(("the constraints at the nodes", *sentences)))

    @property
    def loses(self) -> tuple[str, ...]:
        return tuple(x for x in self.method.loses if x != "the constraint at the nodes")

    def check(self, system: System) -> None:
        self.method.check(system)
        if getattr(system, "tau", "exp") == "exp" or getattr(self.method, "alpha", 0) in (0, 1):
            return
        group: Any = system  # with a tau, it is one on a group
        forms = (*system.constraints, *system.forces)
        if any(not c.free_symbols.isdisjoint(group.pose) for c in forms):
            # g cay(h omega/2) does not lie halfway to g cay(h omega)
            raise ValueError(
                f"{self.method!r} is not symmetric on {system!r}, whose constraints "
                f"or forces contain g, with rule={group.rule!r}; use rule='log' or alpha=0, "
                "symmetric=True"
            )

    def code_key(self) -> tuple[object, ...]:
        return ("Composition", self.order, *self.method.code_key())

    def arguments(self, system: System, shares: Sequence[Any]) -> tuple[Any, ...]:
        return self.method.arguments(system, shares)

    def statement(self, system: System) -> Statement:
        """The base's for (q, v, lam), where lam is that of a whole step: a substep has a part."""
        base = self.method.statement(system)
        base = at_nodes(base, system) if self.method.discrete else base
        part, k = dummy("part"), len(base.carry) - system.m
        base = _replaced({x: part * x for x in base.carry[k:]}, base)
        update = (*base.update[:k], *(x / part for x in base.update[k:]))
        return replace(base, update=update, factors=self.factors, part=part)


def _why(method: object) -> str:
    """What hinders some methods, for the message."""
    if getattr(method, "constraint_at", "") == "average":
        return " (it reflects the normal momentum, even for h = 0)"
    if getattr(method, "variable_step", False):
        return " (it chooses its own step)"
    return ""


def at_nodes(base: Statement, system: System) -> Statement:
    """DLA's or Variational's statement for (q, v, lam): p = L_v(q, v) before, v in D after."""
    s, k, n = Frame(system), len(system.q), len(system.v)
    p, v0, lam = base.carry[k : k + n], base.carry[k + n : k + 2 * n], base.carry[k + 2 * n :]
    s.t, s.shares = base.t, base.args[len(base.args) - n :]
    before = Substitution(system.expressions, dict(zip(system.v, v0, strict=True)), s.let)
    new = dict(zip(p, map(before, system.expressions.L_v), strict=True))
    new |= {x: dummy(f"{x.name}_step") for x in system.v}  # DLA's unknowns are called system.v
    new |= {x: x / 2 for x in lam}  # half of the impulse before the node, half after
    base = _replaced(new, base)
    update, q1 = base.update, [dummy(f"{x.name}_1") for x in system.q]
    s.let += [*((x, e.xreplace(new)) for x, e in base.let), *zip(q1, update[:k], strict=True)]
    kick, v1, mu = arrival(s, base.t + base.h, q1, update[k : k + n], update[k + n :])
    return replace(
        base,
        carry=(*system.q, *v0, *lam),
        stages=(*base.stages, kick),
        update=(*q1, *v1, *(x + y for x, y in zip(update[k + 2 * n :], mu, strict=True))),
        let=s.lets(),
    )


def _replaced(new: dict[sp.Symbol, sp.Expr], base: Statement) -> Statement:
    """The statement with some symbols replaced in its stages and its update."""

    def each(expressions: tuple) -> tuple:
        return tuple(e if e is None else e.xreplace(new) for e in expressions)

    stages = tuple(stage.each(each) for stage in base.stages)
    return replace(base, stages=stages, update=each(base.update))
