"""Symmetric compositions: methods of order 4 and 6 from symmetric ones of order 2."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from ..codegen.program import Program
from ..codegen.statement import Stage, dummy
from .dla import DLA
from .gradient import DiscreteGradient
from .method import Method
from .reversible import Reversible, arrival
from .variational import Variational

SUZUKI = 1 / (4 - 4 ** (1 / 3))
KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
            0.08221359629355080023)  # fmt: skip
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
    """

    method: Method = DLA()  # noqa: RUF009 (a frozen value)
    order: int = 4

    discrete: ClassVar[bool] = False  # several discrete Lagrangians, not one

    def __post_init__(self):
        bases = (DLA, Variational, Reversible, DiscreteGradient)
        if type(self.method) not in bases or self.method.order != 2:
            raise ValueError(f"method = {self.method!r} is no symmetric map of (q, v) in D, so its "
                             f"compositions gain no order{_why(self.method)}; compose nh.DLA() or "
                             "nh.Variational() with alpha=1/2 or symmetric=True, nh.Reversible() "
                             "or nh.DiscreteGradient()")  # fmt: skip
        if self.order not in tuple(FACTORS) or isinstance(self.order, float):
            raise ValueError(f"order = {self.order!r} must be 4 or 6")
        object.__setattr__(self, "order", int(self.order))

    def __repr__(self):
        return f"Composition({self.method!r}, order={self.order})"

    @property
    def factors(self):
        """The sizes of the substeps over h."""
        return FACTORS[self.order]

    @property
    def keeps(self):
        lost = ("the discrete constraint", "the form of the momentum equation")
        kept = (x for x in self.method.keeps if not x.startswith(lost))
        return tuple(dict.fromkeys(("the constraints at the nodes", *kept)))

    @property
    def loses(self):
        return tuple(x for x in self.method.loses if x != "the constraint at the nodes")

    def check(self, system):
        self.method.check(system)
        if getattr(system, "tau", "exp") == "exp" or self.method.alpha in (0, 1):
            return
        if any(not c.free_symbols.isdisjoint(system.pose) for c in system.constraints):
            # g cay(h omega/2) does not lie halfway to g cay(h omega)
            raise ValueError(f"{self.method!r} is not symmetric on {system!r}, whose constraints "
                             f"contain g, with rule={system.rule!r}; use rule='log' or alpha=0, "
                             "symmetric=True")  # fmt: skip

    def code_key(self):
        return ("Composition", self.order, *self.method.code_key())

    def arguments(self, system, scale2):
        return self.method.arguments(system, scale2)

    def statement(self, system):
        return composed(self.substep(system), self.factors, len(system.symbolic.A))

    def substep(self, system):
        """One step of the base as a map of (q, v, lam)."""
        base = self.method.statement(system)
        return base if not self.method.discrete else at_nodes(base, system)

    def program(self, system):
        """The text holds one substep and the factors; the long statement is for careful.py."""
        definite = system.is_definite
        key = (*self.code_key(), definite)
        return system.generated(key, lambda: self._composed(system, key, definite))

    def _composed(self, system, key, definite):
        substep = Program(f"substep{(*self.method.code_key(), definite)}{system.key}",
                          lambda: replace(self.substep(system), definite=definite))  # fmt: skip
        widths = len(system.symbolic.A), self.layout(system).width
        return Program(
            f"{key}{system.key}",
            lambda: replace(self.statement(system), definite=definite),
            lambda: composed_text(substep.text, self.factors, *widths),
        )


def _why(method):
    """What hinders some methods, for the message."""
    name = type(method).__name__
    if name == "Projector":
        return " (it reflects the normal momentum, even for h = 0)"
    if getattr(method, "variable_step", False):
        return " (it chooses its own step)"
    return ""


def at_nodes(base, system):
    """DLA's or Variational's statement for (q, v, lam): p = L_v(q, v) before, v in D after."""
    k, n, L_v = len(system.q), len(system.v), system.symbolic.L_v
    p, v0, lam = base.carry[k : k + n], base.carry[k + n : k + 2 * n], base.carry[k + 2 * n :]
    new = {x: dummy(f"{x.name}_step") for x in system.v}  # DLA's unknowns are called system.v
    before = dict(zip(system.v, v0, strict=True))
    new |= {x: e.xreplace(before) for x, e in zip(p, L_v, strict=True)}
    new |= {x: x / 2 for x in lam}  # half of the impulse before the node, half after
    update = [e.xreplace(new) for e in base.update]
    q1 = [dummy(f"{x.name}_1") for x in system.q]
    let = [*((x, e.xreplace(new)) for x, e in base.let), *zip(q1, update[:k], strict=True)]
    kick, v1, mu = arrival(system, base.t, base.t + base.h, q1, update[k : k + n], let,
                           update[k + n :], base.args[len(base.args) - n :])  # fmt: skip
    return replace(
        base,
        carry=(*system.q, *v0, *lam),
        stages=(*(_renamed(stage, new) for stage in base.stages), kick),
        update=(*q1, *v1, *(x + y for x, y in zip(update[k + 2 * n :], mu, strict=True))),
        let=tuple(let),
    )


def _renamed(stage, new):
    def each(expressions):
        return tuple(e if e is None else e.xreplace(new) for e in expressions)

    let = tuple((new.get(x, x), e.xreplace(new)) for x, e in stage.let)
    return replace(stage, unknowns=each(stage.unknowns), equations=each(stage.equations),
                   guess=each(stage.guess), let=let, scale2=each(stage.scale2))  # fmt: skip


def composed(base, factors, m):
    """One Statement: the base's stages for each substep, with unknowns of their own."""
    carry, stages, before = base.carry, [], 0
    scaled = [x * factors[0] for x in carry[len(carry) - m :]]
    values = [*carry[: len(carry) - m], *scaled]
    for factor in factors:
        old = [x for stage in base.stages for x in (*stage.unknowns, *(s for s, _ in stage.let))]
        new = {x: dummy(x.name) for x in (*old, *(s for s, _ in base.let))}
        new |= dict(zip(carry, values, strict=True))
        new |= {base.h: factor * base.h, base.t: base.t + before * base.h}
        stages += [_renamed(stage, new) for stage in base.stages]
        values = tuple(dummy(x.name) for x in carry)
        reached = Stage(  # the new state, so that no substep is written in terms of the first
            unknowns=values,
            equations=tuple(x - e.xreplace(new) for x, e in zip(values, base.update, strict=True)),
            guess=tuple(new[x] for x in carry),
            let=tuple((new[x], e.xreplace(new)) for x, e in base.let),
        )
        stages.append(reached)
        before += factor
    lam = [x / factors[-1] for x in values[len(values) - m :]]
    return replace(base, stages=tuple(stages), update=(*values[: len(values) - m], *lam), let=())


def composed_text(text, factors, m, width):
    """The base's text with its step as ``substep``, and a ``step`` that calls it in turn."""
    head = re.search(r"^def step\((.*)\):$", text, re.M)
    names = head[1].split(", ")
    carry, args = names[2 : 2 + width], names[2 + width :]
    result, call = ", ".join(["_done", "_", *carry]), ", ".join(["_t", "_h", *carry, *args])
    step = [
        f"def step({head[1]}):",
        "_ok, _t = True, t",
        *(f"{x} = {x}*{factors[0]!r}" for x in carry[width - m :]),
        f"for _factor in ({', '.join(map(repr, factors))}):",
        "    _h = _factor*h",
        f"    {result} = substep({call})",
        "    _ok = _ok & _done",
        "    _t = _t + _h",
        f"return {', '.join(['_ok', 'h', *carry[: width - m]])}"
        + "".join(f", {x}/{factors[-1]!r}" for x in carry[width - m :]),
    ]
    text = text.replace("def step(", "def substep(", 1)
    return text.replace("def run(", "\n    ".join(step) + "\n\n\ndef run(", 1)
