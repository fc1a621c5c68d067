"""The plan of a step as Python text: ``step`` for numbers and arrays, and two loops over it.

``run`` calls ``step`` and is what numba compiles.  ``loop`` is what CPython runs, several times
faster than ``run``: the step stands in the loop itself, for floats, without what only arrays need,
and what depends on the arguments alone is computed once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .generate import ARGUMENTS, RUN, STEP, Plan
from .lines import CONDITION, Lines, in_turn
from .printing import MATH, PRELUDE, WRITTEN_OUT, Names
from .statement import LATE_TOLERANCE, MAXITER, TOLERANCE, TRUSTED, dummy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .generate import Newton
    from .graph import Node
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
        self.statement, self.plan, self.names = statement, Plan(statement), Names()
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
        p, names = self.plan, Names(same=self.names)
        text = PlanText(p, names)
        lines, ok = text.lines(ARGUMENTS, RUN, STEP), text.accepted(p.conditions) or "True"
        new = ", ".join(map(text.put, p.update))
        if not self.statement.factors:
            lines.append(f"return {', '.join([ok, text.put(p.new_h), *([new] if new else [])])}")
            return _function("step", self.call, lines)
        call = self.call.replace("h", "h, part", 1)
        substep = _function("substep", call, [*lines, f"return {ok}, {new}"])
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

    def _call_of_step(self) -> list[str]:
        new = f"{', '.join(['_', 'h', *self.carry])} = new"
        return [f"new = step({self.call})", "if not new[0]:", "    break", new]

    def run(self) -> str:
        store = ["row += 1", *(f"out[row, {k}] = {s}" for k, s in enumerate(self.stored))]
        before = [f"{s} = state[{k}]" for k, s in enumerate(self.stored)]
        after = [f"state[{k}] = {s}" for k, s in enumerate(self.stored)]
        before.append("row = n // every")
        return self._repeated("run", before, self._call_of_step(), store, after)

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
        constant, repeat = ([], self._call_of_step()) if self.statement.factors else self._inlined()
        before = [f"{row} = state", *constant]
        return self._repeated("loop", before, repeat, [f"out += {row}"], [f"state[:] = {row}"])

    def _inlined(self) -> tuple[list[str], list[str]]:
        """The lines that depend on the arguments alone, and the others with the end of a step."""
        p, s = self.plan, self.statement
        text = PlanText(p, Names(scalar=True, same=self.names))
        before, fixed = text.put.at(ARGUMENTS, RUN), [x for x in p.conditions if x.level <= RUN]
        if fixed:
            before.append(f"stop = stop if {text.put.all_of(fixed)} else n")
        lines = text.lines(STEP)
        ok = text.accepted(x for x in p.conditions if x.level > RUN)
        if ok:
            lines += [f"if not ({ok}):", "    break"]
        pairs = [(self.names[x], text.put(e)) for x, e in zip(s.carry, p.update, strict=True)]
        if self.variable:
            pairs.append(("h", text.put(p.new_h)))
        return before, [*lines, *in_turn(pairs)]


class PlanText:
    """The lines of a plan, for numbers alone or for arrays as well, as its ``names`` say.

    put : the text of nodes.  New values in a loop have the names of its unknowns behind it; what it
        iterates gets names of its own
    """

    def __init__(self, plan: Plan, names: Names) -> None:
        self.plan, self.names = plan, names
        end = STEP  # the region of all that is neither in a loop nor before the first step
        regions = {ARGUMENTS: RUN, RUN: RUN} | {x.level: x.level for x in plan.loops}
        results = [(RUN if x.level <= RUN else end, x) for x in plan.conditions]
        results += [(end, x) for x in (*plan.update, plan.new_h) for _ in range(2)]
        for loop in plan.loops:
            regions |= {loop.level + 1: end}
            results += [(end, x) for x in loop.guess]
            results += [(loop.level, x) for x in loop.tests]
            results += [(loop.level, x) for x in loop.new for _ in range(2)]
        self.put = Lines(results, names, regions | {STEP: end})
        for loop in plan.loops:
            for x, final in zip(loop.new, loop.finals, strict=True):
                if x.op != "symbol":
                    self.put.variables.setdefault(x, final.args[0])
            self.put.variables |= {x: dummy(f"{x.hint}_now") for x in loop.unknowns}
        self.ok = {loop.level: names[dummy("ok")] for loop in plan.loops}

    def lines(self, *levels: int) -> list[str]:
        """The lines of the first levels, of the loops, and of what follows each."""
        lines = self.put.at(*levels)
        for loop in self.plan.loops:
            lines += [*self._newton(loop), *self.put.at(loop.level + 1)]
        return lines

    def accepted(self, conditions: Iterable[Node]) -> str:
        """The condition that a step is accepted: all loops have converged, and all these hold."""
        texts = [*self.ok.values(), *(self.put(x, CONDITION) for x in conditions)]
        return self.names.junction(True, texts)

    def _newton(self, loop: Newton) -> list[str]:
        """The loop for numbers; for arrays each state stays where its own Newton has converged, and
        all take their last corrections together, so that no state depends on the others."""
        put, small, ok = self.put, self.put.name(loop.small), self.ok[loop.level]
        lists = loop.unknowns, loop.guess, loop.corrected, loop.finals, loop.new
        unknowns, guess, corrected, finals, new = ([*map(put, x)] for x in lists)
        start, tests = in_turn(zip(unknowns, guess, strict=True)), put.all_of(loop.tests)
        if self.names.scalar:
            tolerances = (TOLERANCE,) * TRUSTED + (LATE_TOLERANCE,) * (MAXITER - TRUSTED)
            start += [f"for {small} in {tolerances}:"]
            body = [*put.at(loop.level), f"{ok} = {tests}", f"if {ok}:", "    break"]
        else:
            turn = self.names[dummy("turn")]
            start += [f"{ok} = False", f"for {turn} in range({MAXITER}):"]
            body = [f"{small} = where({turn} < {TRUSTED}, {TOLERANCE}, {LATE_TOLERANCE})"]
            body += [*put.at(loop.level), f"{ok} = {ok} | {tests}", f"if all_({ok}):", "    break"]
            pairs = zip(unknowns, corrected, strict=True)
            corrected = [f"where({ok}, {u}, {x})" for u, x in pairs]
        body += in_turn(zip(unknowns, corrected, strict=True))
        return [*start, *(f"    {x}" for x in body), *in_turn(zip(finals, new, strict=True))]


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return "\n    ".join([f"def {name}({arguments}):", *lines])
