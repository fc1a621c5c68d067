"""From a statement in SymPy to the plan of a step: its values as nodes, and its Newton loops.

The plan differentiates the equations, solves first what needs no others, takes unknowns out of a
Newton loop that follow from the rest, and writes the elimination out for the fixed size.  What
passes buy, measured as the time of a step without them: ``_own_rows`` up to 1.4 times, common
factors 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from .elimination import Elimination
from .graph import Graph
from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .graph import Node
    from .statement import Stage, Statement

# Levels: what depends on the arguments of a run alone, what on h as well, and what on the state.
# Two more for each Newton loop: what is computed in it, and what behind it.
ARGUMENTS, RUN, STEP = 0, 1, 2


@dataclass
class Newton:
    """A loop: from ``guess`` on replace the ``unknowns`` by ``corrected`` until all ``tests`` hold.

    unknowns : the symbols that are iterated; all others follow from them
    guess, corrected : their values before the first iteration, and from each
    finals : the symbols of all unknowns of the stage, behind the loop
    new : their values, from each iteration
    small : the symbol of the tolerance of an iteration
    """

    level: int
    unknowns: list[Node]
    guess: list[Node]
    corrected: list[Node]
    finals: list[Node]
    new: list[Node]
    tests: list[Node]
    small: Node


class Plan:
    """The nodes of one step.

    loops : its Newton loops, in turn
    update, new_h : the new values of what is carried, and of h
    conditions : that the equations were solved and lead to finite values
    """

    def __init__(self, statement: Statement) -> None:
        s, self.graph = statement, Graph(statement.let)
        self.statement, self.level = statement, STEP
        run = {*s.args} - {*s.inputs} | ({s.h} if s.new_h is None else set())
        inputs = [x for x in (s.t, s.h, s.part, *s.carry, *s.args) if x is not None]
        levels = {x: STEP if x not in run else RUN if x is s.h else ARGUMENTS for x in inputs}
        self.here = {x: self.graph.symbol(x, level) for x, level in levels.items()}
        self.symbols, self.h = {*self.here.values()}, self.here[s.h]
        self.loops, self.conditions, self.finite = [], [], []
        for stage in map(fewer_angles, s.stages):
            for part in self.split(stage) if s.definite else [stage]:
                self._solve(part)
        self._finish()

    def build(self, expressions: Iterable[sp.Expr | int], also: dict | None = None) -> list[Node]:
        """The nodes of expressions in what is known, and in symbols that are known ``also``."""
        here = self.here | (also or {})
        return [self.graph.build(sp.sympify(e, strict=True), here) for e in expressions]

    def _finish(self) -> None:
        """The update, and what must hold at the end of the step."""
        g, s = self.graph, self.statement
        self.update = self.build(s.update)
        for x, e in zip(s.carry, self.update, strict=False):
            e.suggest_name(f"{x.name}_new")
        self.conditions += [g.node(">", e, g.zero) for e in self.build(s.required)]
        self.conditions = [x for x in self.conditions if x.level > ARGUMENTS]
        self.new_h = self.h
        if s.new_h is not None:  # a step may be lost beside t
            (self.new_h,), t = self.build([s.new_h]), self.here[s.t]
            self.conditions.insert(0, g.node(">", t + self.new_h, t))
        self._take_factors_out()
        values = [*self.finite, *self.update, self.new_h]
        for some in ([x for x in values if x.level <= RUN], [x for x in values if x.level > RUN]):
            self.conditions += self._are_finite(some)

    def _take_factors_out(self) -> None:
        """Replace all nodes of the plan by those with common factors taken out."""
        lists = [x for a in self.loops for x in (a.guess, a.corrected, a.new, a.tests)]
        lists += [self.update, self.conditions, self.finite]
        nodes = iter(self.graph.factored([self.new_h, *(e for x in lists for e in x)]))
        self.new_h = next(nodes)
        for x in lists:
            x[:] = [next(nodes) for _ in x]

    def _are_finite(self, values: list[Node]) -> list[Node]:
        """The condition that values are finite, in a list; empty if they are given.

        Infinities and NaN survive sums, products and positive powers: a sum of the values tells,
        and what a value was made from by these need not be looked at again.
        """
        g, covered, terms = self.graph, {*self.symbols}, []
        for x in sorted({*values}, key=lambda x: -x.index):  # what was made last tells most
            if x not in covered and not (x.is_number and x.args[0] - x.args[0] == 0):
                terms.append(x)
                stack = [x]
                while stack:
                    y = stack.pop()
                    if y not in covered:
                        covered.add(y)
                        stack += y.parts if y.op in ("sum", "*", "neg", "sqrt") else []
        whole = g.node("sum", *terms[::-1]) if len(terms) > 1 else g.sum(terms)
        nought = g.node("*", g.zero, whole)  # NaN if one is not finite; a product would be 0
        return [g.node("==", nought, g.zero)] if terms else []

    # ---- preparing a stage

    def split(self, stage: Stage) -> Iterator[Stage]:
        """The stage as stages solved in turn, where some equations need no others' unknowns.

        Equation i belongs to unknown i and needs the unknowns in it, and what those need. Equations
        that need each other stay together: the result is block triangular, often mostly linear.
        """
        everything = range(len(stage.unknowns))
        also = {x: self.graph.symbol(x, self.level + 1) for x in stage.unknowns}
        u = [*also.values()]
        parts = [{*self.graph.below([e])} for e in self.build(stage.equations, also=also)]
        needs = [{i} | {j for j in everything if u[j] in parts[i]} for i in everything]
        for k in everything:
            for i in everything:
                if k in needs[i]:
                    needs[i] |= needs[k]
        blocks = {
            frozenset(j for j in needs[i] if i in needs[j]): len(needs[i]) for i in everything
        }
        for part in sorted(blocks, key=lambda b: (blocks[b], min(b))):
            yield stage.each(lambda x, part=part: tuple(x[i] for i in sorted(part)))

    # ---- solving a stage

    def _solve(self, stage: Stage) -> None:
        """Add what the unknowns of a stage are to what is known.

        With a positive definite M linear equations are solved once; else they are iterated as well,
        which detects and repairs a bad pivot.
        """
        system = Equations(self, stage)
        if self.statement.definite and not any(system.curved):
            solution = system.linear()
        elif stage.predictor:
            solution = system.predicted()
        else:
            solution = self._iterated(system)
        self.here |= zip(stage.unknowns, solution, strict=True)
        if not stage.predictor:  # which is only a guess, of which nothing is expected
            self.finite += [*solution, *system.elimination.pivots]
            self.conditions += system.elimination.expected

    def _iterated(self, system: Equations) -> list[Node]:
        """Append a Newton loop for some equations; return their unknowns behind it."""
        g, inside, stage = self.graph, self.level + 1, system.stage
        new, d = system.newton_step()
        small = g.symbol(dummy("small"), inside)
        limits = self._limits(stage, new, small)
        tests = [g.node("<=", g.size(d[k]), e) for k, e in limits.items() if system.curved[k]]
        finals = [g.symbol(x, inside + 1) for x in stage.unknowns]
        start = system.start
        corrected = [x for x, u in zip(new, system.u, strict=True) if u in start]
        lists = [*start], [*start.values()], corrected, finals, new, tests
        self.loops.append(Newton(inside, *lists, small))
        self.level += 2
        return finals

    def _limits(self, stage: Stage, new: list[Node], small: Node) -> dict[int, Node]:
        """By index of an unknown, what its correction must not exceed."""
        g, also = self.graph, dict(zip(stage.unknowns, new, strict=True))
        sizes = {k: e for k, e in enumerate(stage.sizes) if e is not None}
        sizes = dict(zip(sizes, self.build(sizes.values(), also=also), strict=True))
        limits = {k: (small * g.size(e)).suggest_name("near") for k, e in sizes.items()}
        weights = self.build(stage.weights)
        kind = [k for k in limits if not weights[k].equals(0)]
        if len(kind) > 1:  # else it would be the one once more
            whole = g.sum(limits[k] for k in kind).suggest_name("near_all")
            limits |= {k: limits[k] + weights[k] * whole for k in kind}
        return limits


class Equations:
    """The equations of a stage as nodes, their Jacobian J, and how they are solved.

    curved : for each unknown, whether J depends on it
    """

    def __init__(self, plan: Plan, stage: Stage) -> None:
        g, inside = plan.graph, plan.level + 1
        self.plan, self.stage, self.graph = plan, stage, g
        self.u = [g.symbol(x, inside) for x in stage.unknowns]
        also = dict(zip(stage.unknowns, self.u, strict=True))
        self.r = plan.build(stage.equations, also=also)
        self.J, self.inside = g.jacobian(self.r, self.u), inside
        moving = {*g.below([e for row in self.J for e in row], least=inside)}
        self.curved = [x in moving or not plan.statement.definite for x in self.u]
        self.elimination = Elimination(g, plan.h, None if stage.predictor else inside)

    def linear(self) -> list[Node]:
        """The solution of linear equations, J x = -equations(0)."""
        zero = dict.fromkeys(self.u, self.graph.zero)
        r = [-self.graph.replaced(e, dict(zero), self.inside) for e in self.r]
        return self.elimination.solve(self.J, r, once=not self.stage.predictor)

    def predicted(self) -> list[Node]:
        """The unknowns after one iteration from the guess."""
        new, _ = self.newton_step()
        return [self.graph.replaced(e, self.start, self.inside) for e in new]

    def newton_step(self) -> tuple[list[Node], list[Node]]:
        """The new values of the unknowns in an iteration, and their corrections.

        Sets ``start``: the unknowns that are iterated, with their first values.  The others follow
        from these in each iteration.
        """
        g, u, once = self.graph, self.u, not self.stage.predictor
        own = self._own_rows() if self.plan.statement.definite else []
        rest = [k for k in range(len(u)) if k not in own]
        zero = {u[k]: g.zero for k in own}
        constant = [-g.replaced(self.r[k], dict(zero), self.inside) for k in own]
        matrix = [[self.J[i][k] for k in own] for i in own]
        follow = self.elimination.solve(matrix, constant, once)
        at = dict(zip((u[k] for k in own), follow, strict=True))
        J = [[g.replaced(e, at, self.inside) for e in self.J[i]] for i in rest]
        r = [g.replaced(self.r[i], at, self.inside) for i in rest]
        slopes = list(zip(own, g.jacobian(follow, [u[k] for k in rest]), strict=True))
        full = [
            [g.sum([row[j], *(row[k] * by[n] for k, by in slopes)]) for n, j in enumerate(rest)]
            for row in J
        ]
        late = [self.J[k][k].equals(0) for k in rest]
        step = self.elimination.solve(full, r, multipliers=late)
        d = dict(zip(rest, step, strict=True))
        for k, by in slopes:
            d[k] = g.sum(a * b for a, b in zip(by, step, strict=True)).suggest_name("d")
        guess = self.plan.build(self.stage.guess)
        self.start = {u[k]: guess[k] for k in rest}
        return [at.get(x, x) - d[k] for k, x in enumerate(u)], [d[k] for k in range(len(u))]

    def _own_rows(self) -> list[int]:
        """Equations a u + b = 0 that can be solved for their own unknowns u together, because a is
        fixed; b may depend on other unknowns in any way."""
        rows: list[int] = []
        for i, row in enumerate(self.J):
            some = [*rows, i]
            fixed = all(self.J[k][j].level < self.inside for k in some for j in some)
            if fixed and self.elimination.is_strong(row[i]):
                rows = some
        return rows


def fewer_angles(stage: Stage) -> Stage:
    """The stage with sin(a + b) and cos(a + b) written out, if that leaves fewer angles."""
    functions = set().union(*(e.atoms(sp.sin, sp.cos) for e in stage.equations))
    angles: set[Any] = {f.args[0] for f in functions}
    parts = {x for angle in angles for x in sp.Add.make_args(angle)}
    if len({-x if x.could_extract_minus_sign() else x for x in parts}) >= len(angles):
        return stage
    expanded = {f: sp.expand_trig(f) for f in functions}
    return replace(stage, equations=tuple(e.xreplace(expanded) for e in stage.equations))
