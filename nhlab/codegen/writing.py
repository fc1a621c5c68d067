"""The plan of a step as Python text: ``step`` for numbers and arrays, and two loops over it.

``run`` calls ``step`` and is what numba compiles.  ``loop`` is what CPython runs, several times
faster than ``run``: the step stands in the loop itself, for floats, without what only arrays need,
and what depends on the arguments alone is computed once.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from .generate import Newton, constants, plan
from .printing import MATH, PRELUDE, WRITTEN_OUT, Names, assignments, at_once, conjunction, listing
from .statement import LATE_TOLERANCE, MAXITER, TOLERANCE, TRUSTED, dummy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .generate import Lines
    from .kinds import Pair, Pairs
    from .statement import Statement


def generate(statement: Statement) -> str:
    """The text of ``step``, ``run`` and ``loop`` for a statement.

    ``step(t, h, *carry, *args)`` returns ``(ok, h, *carry)``.  ``run`` repeats it from ``state``
    until ``stop`` steps are done, writes every ``every``-th result into a row of ``out``, leaves
    the last good values in ``state`` and returns the number of steps done.  ``loop`` does the same
    with lists, ``out`` being extended by rows.  Of the statement's ``inputs`` both take a sequence,
    with a value for each step.
    """
    text = Text(statement)
    functions = [text.step()]
    if len(statement.update) == len(statement.carry):  # it can be repeated
        functions += [text.run(), text.loop()]
    head = [f"from math import {', '.join(sorted(MATH))}", PRELUDE.strip()]
    for name, source in WRITTEN_OUT.values():
        if any(f"{name}(" in x for x in functions):
            head.append(source.strip())
    return "\n\n\n".join([*head, *functions]) + "\n"


class Text:
    """What the functions of one text share: the plan, and the names."""

    def __init__(self, statement: Statement) -> None:
        self.statement, self.plan, self.names = statement, plan(statement), Names()
        self.names.fix(statement.t, "t")
        self.names.fix(statement.h, "h")
        if statement.part is not None:
            self.names.fix(statement.part, "part")
        self.carry = [self.names[s] for s in statement.carry]
        self.args = [self.names[s] for s in statement.args]
        self.inputs = {self.names[s]: self.names[dummy(f"{s}_of_step")] for s in statement.inputs}
        self.variable = statement.new_h is not None
        self.stored = ["t", "h", *self.carry] if self.variable else self.carry
        self.call = ", ".join(["t", "h", *self.carry, *self.args])

    # ---- for numbers and arrays

    def step(self) -> str:
        p, names = self.plan, self.names
        lines, ok = self._lines(p.lines, names), conjunction(p.conditions, names) or "True"
        if not self.statement.factors:
            values = listing([p.new_h, *p.update], names)
            return _function("step", self.call, [*lines, f"return {ok}, {values}"])
        call = self.call.replace("h", "h, part", 1)
        result = f"return {ok}, {listing(p.update, names)}"
        substep = _function("substep", call, [*lines, result])
        good, done, now = (names[dummy(x)] for x in ("ok", "done", "now"))
        then = ", ".join([now, "part*h", "part", *self.carry, *self.args])
        lines = [
            f"{good}, {now} = True, t",
            f"for part in ({', '.join(map(repr, self.statement.factors))}):",
            f"    {', '.join([done, *self.carry])} = substep({then})",
            f"    {good} = {good} & {done}",
            f"    {now} = {now} + part*h",
            f"return {', '.join([good, 'h', *self.carry])}",
        ]
        return "\n\n\n".join([substep, _function("step", self.call, lines)])

    def _lines(self, items: Lines, names: Names) -> list[str]:
        """Assignments and Newton loops, in order."""
        lines, pairs = [], []
        for item in items:
            if isinstance(item, Newton):
                lines += [*assignments(pairs, names), *self._newton(item, names)]
                pairs = []
            else:
                pairs.append(item)
        return [*lines, *assignments(pairs, names)]

    def _newton(self, item: Newton, names: Names) -> list[str]:
        """The loop for numbers; for arrays each state stays where its own Newton has converged, and
        all take their last corrections together, so that no state depends on the others."""
        ok, small = names[item.ok], names[item.tolerance]
        if names.scalar:
            tolerances = (TOLERANCE,) * TRUSTED + (LATE_TOLERANCE,) * (MAXITER - TRUSTED)
            body = [
                *assignments(item.pairs, names),
                f"{ok} = {conjunction(item.tests, names)}",
                f"if {ok}:",
                "    break",
            ]
            return [f"for {small} in {tolerances}:", *(f"    {x}" for x in body)]
        turn, new = names[dummy("turn")], {u: dummy(f"{u.name}_next") for u, _ in item.correct}
        left = [u for u in new if u not in dict(item.body)]  # the others follow from these
        body = [
            f"{small} = where({turn} < {TRUSTED}, {TOLERANCE}, {LATE_TOLERANCE})",
            *assignments(item.body, names),
            *assignments([(new[u], e) for u, e in item.correct], names),
            *assignments([(s, e.xreplace(new)) for s, e in item.sizes], names),
            f"{ok} = {ok} | {conjunction(item.tests, names)}",
            f"if all_({ok}):",
            "    break",
            *(f"{names[u]} = where({ok}, {names[u]}, {names[new[u]]})" for u in left),
        ]
        loop = [f"{ok} = False", f"for {turn} in range({MAXITER}):", *(f"    {x}" for x in body)]
        return [*loop, *assignments(new.items(), names)]

    def _called(self) -> list[str]:
        new = f"{', '.join(['_', 'h', *self.carry])} = new"
        return [f"new = step({self.call})", "if not new[0]:", "    break", new]

    def run(self) -> str:
        store = ["row += 1", *(f"out[row, {k}] = {s}" for k, s in enumerate(self.stored))]
        before = [f"{s} = state[{k}]" for k, s in enumerate(self.stored)]
        after = [f"state[{k}] = {s}" for k, s in enumerate(self.stored)]
        before.append("row = n // every")
        return self._repeated("run", before, self._called(), store, after)

    def _repeated(
        self, name: str, before: list[str], repeat: list[str], store: list[str], after: list[str]
    ) -> str:
        """The function that takes steps until ``stop``, and stores some."""
        timely = not self.variable and any(re.search(r"\bt\b", line) for line in repeat)
        body = [
            *(f"{u} = {held}[n]" for u, held in self.inputs.items()),
            *(["t = t0 + n*h"] if timely else []),
            *repeat,
            *(["t = t + h"] if self.variable else []),
            "n += 1",
            "left -= 1",
            "if left == 0:",
            "    left = every",
            *(f"    {line}" for line in store),
        ]
        lines = [
            *before,
            "left = every - n % every",
            "while n < stop:",
            *(f"    {line}" for line in body),
            *after,
            "return n",
        ]
        args = [self.inputs.get(name, name) for name in self.args]
        arguments = ["state", "out", "n", "stop", "every", "t0", "h", *args]
        return _function(name, ", ".join(arguments), lines)

    # ---- for CPython

    def loop(self) -> str:
        row = f"({', '.join(self.stored)},)"
        constant, repeat = ([], self._called()) if self.statement.factors else self._inlined()
        before = [f"{row} = state", *constant]
        return self._repeated("loop", before, repeat, [f"out += {row}"], [f"state[:] = {row}"])

    def _inlined(self) -> tuple[list[str], list[str]]:
        """The lines that depend on the arguments alone, and the others with the end of a step."""
        p, names = self.plan, Names(scalar=True, same=self.names)
        still = {*self.statement.args} - {*self.statement.inputs}
        still |= set() if self.variable else {self.statement.h}
        constant, repeat, known = constants(p.lines, still)
        fixed = [c for c in p.conditions if c.free_symbols <= known]
        rest = [c for c in p.conditions if c not in fixed]
        lines, ok = self._lines(repeat, names), conjunction(rest, names)
        if ok:
            lines += [f"if not ({ok}):", "    break"]
        pairs = list(zip(self.statement.carry, p.update, strict=True))
        if self.variable:
            pairs.append((self.statement.h, p.new_h))
        before = assignments(constant, names)
        if fixed:
            before.append(f"stop = stop if {conjunction(fixed, names)} else n")
        return before, [*lines, *at_once(list(in_turn(pairs)), names)]


def in_turn(pairs: Pairs) -> Iterator[list[Pair]]:
    """Assignments that do what assigning all at once would do, one after the other if possible:
    groups of pairs (symbol, expression)."""
    left = [(x, e, e.free_symbols) for x, e in pairs if e != x]
    uses = Counter(s for *_, used in left for s in used)
    while left:
        free = (k for k, (x, _, used) in enumerate(left) if uses[x] == (x in used))
        k = next(free, None)
        if k is None:  # each is needed by another
            yield [(x, e) for x, e, _ in left]
            return
        x, e, used = left.pop(k)
        uses.subtract(used)
        yield [(x, e)]


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return "\n    ".join([f"def {name}({arguments}):", *lines])
