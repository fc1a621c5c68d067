"""From a statement in SymPy to the text of one step function.

A ``Statement`` says what is carried from step to step, which unknowns solve which equations, and
how the carried values are updated.  ``generate`` differentiates the equations, shares common
subexpressions, takes out of the Newton loop what does not depend on the unknowns, writes the
elimination out for the fixed size, skipping structural zeros, and returns plain Python text, which
a ``program.Program`` runs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import sympy as sp

from .derivatives import dot, jacobian, needed
from .printing import HALF_ANGLE, MATH, PRELUDE, Names, python
from .statement import MAXITER, TOLERANCE, dummy


class Values:
    """What has been computed once and for all in a step, so that later stages need not again.

    ``fixed`` are the symbols whose values stay; ``changing`` abbreviations are assigned anew.
    """

    def __init__(self, fixed=(), changing=()):
        self.fixed, self.changing = set(fixed), set(changing)
        self.symbols, self.same = {}, {}

    def find(self, symbol, e):
        """A symbol that already has the value e, or None: then e is remembered as symbol's."""
        e = e.xreplace(self.same)
        if symbol in self.changing or not e.free_symbols <= self.fixed:
            return None
        found = self.symbols.setdefault(e, symbol)
        if found is symbol:
            self.fixed.add(symbol)
            return None
        self.same[symbol] = found
        return found


class Block:
    """Assignments in order, each put into the loop or before it according to what it needs."""

    def __init__(self, names, moving=(), values=None):
        self.names, self.moving = names, set(moving)
        self.before, self.inside = [], []
        self.known, self.sums, self._still = {}, [], {}
        self.values = values or Values()

    def add(self, symbol, e):
        e = self._known(e)
        loop = not self._fixed(e)
        if loop:
            (e,) = self._hoisted([e])
            self.moving.add(symbol)
        else:
            same = self.values.find(symbol, e)
            if same is not None:
                self.names[symbol] = self.names[same]
                return symbol
        self.known.setdefault(e, symbol)
        if e.is_Add:
            self.sums += [({*e.args}, symbol), ({-x for x in e.args}, -symbol)]
        lines = self.inside if loop else self.before
        lines.append(f"{self.names[symbol]} = {python(e, self.names)}")
        return symbol

    def _fixed(self, e):
        """True if e does not move.  Remembered: a symbol is used only after it was assigned."""
        if e not in self._still:
            self._still[e] = e not in self.moving and all(map(self._fixed, e.args))
        return self._still[e]

    def _known(self, e):
        """e with the symbols of all that is assigned already, and of the functions in it."""
        if e in self.known or not _parts(e):
            return self.known.get(e, e)
        if e.is_Mul and e.could_extract_minus_sign():
            return -self._known(-e)
        args = [self._known(x) for x in e.args]
        e = e.func(*(self.atom(x, "c") if x.is_Function and _parts(x) else x for x in args))
        if e.is_Add and len(e.args) > 2:
            for terms, symbol in self.sums:  # of which e may contain one
                if terms < {*e.args}:
                    e = sp.Add(symbol, *(x for x in e.args if x not in terms))
        return self.known.get(e, e)

    def _taken_out(self, e, constants):
        """e with symbols for what does not move in it; these are collected in ``constants``."""
        if e.is_Atom:
            return e
        if e.is_Mul and e.could_extract_minus_sign():
            return -self._taken_out(-e, constants)
        if self._fixed(e):
            return constants.setdefault(e, dummy("k"))
        args = _parts(e)
        if e.is_Add or e.is_Mul:
            moving = [x for x in args if not self._fixed(x)]
            args = [*moving, e.func(*(x for x in args if self._fixed(x)))]
        return e.func(*(self._taken_out(x, constants) for x in args)) if args else e

    def share(self, expressions, let, current=()):
        """Assign what is needed of ``let`` and not ``current``, and all common subexpressions;
        return what is left of the expressions."""
        for s, e in needed(let, expressions):
            if s not in current:
                self.add(s, e)
        return self._cse([_factored(e) for e in self._hoisted(expressions)])

    def _hoisted(self, expressions):
        """The expressions with symbols for what does not move, assigned before the loop."""
        if not self.moving:
            return expressions
        constants = {}
        expressions = [self._taken_out(e, constants) for e in expressions]
        if not constants:
            return expressions
        values = zip(constants.values(), self._cse(constants), strict=True)
        found = {s: self.atom(e, "k") for s, e in values}
        return [e.xreplace(found) for e in expressions]

    def _cse(self, expressions):
        shared, left = sp.cse(list(expressions), symbols=_dummies("c"), order="none")
        found = {}
        for s, e in shared:
            e = e.xreplace(found)
            found[s] = self.atom(e, "c") if isinstance(e, sp.Expr) else self.add(s, e)
        return [e.xreplace(found) for e in left]

    def atom(self, e, hint):
        """A number, a symbol or its negative that stands for ``e``."""
        if e.is_Number or e.is_Symbol or (-e).is_Symbol:
            return e
        terms = e.args if e.is_Add else (e,)
        if all(x.could_extract_minus_sign() for x in terms):
            return -self.atom(-e, hint)
        if e not in self.known:
            self.known[e] = self.add(dummy(hint), e)
        return self.known[e]

    def solve(self, J, r, strong):
        """Write out Gaussian elimination of J d = r; return d.

        The pivots are chosen here, once: the diagonal where it survives h -> 0 (``strong``), as
        it does for a positive definite M, otherwise another row.  Should such a pivot vanish on
        the way, the step does not converge and is taken again with pivoting (loop.py).
        """
        n = len(r)
        J, r, strong = [list(row) for row in J], list(r), [list(row) for row in strong]
        inverse, d, last = [], [None] * n, n
        for k in range(n):
            if k == n - 2 and all(J[i][j] != 0 for i in (k, k + 1) for j in (k, k + 1)):
                last = k
                break
            rows = [i for i in range(k, n) if strong[i][k]] or [i for i in range(k, n) if J[i][k]]
            if not rows:
                raise ValueError("the step's equations do not determine its unknowns")
            i = k if k in rows else rows[0]
            for table in (J, r, strong):
                table[k], table[i] = table[i], table[k]
            inverse.append(self.atom(1 / J[k][k], "w"))
            for i in range(k + 1, n):
                if J[i][k] == 0:
                    continue
                factor = self.atom(J[i][k] * inverse[k], "f")
                for j in range(k + 1, n):
                    if J[k][j] != 0:
                        J[i][j] = self.atom(J[i][j] - factor * J[k][j], "j")
                        strong[i][j] |= strong[i][k] and strong[k][j]
                r[i] = self.atom(r[i] - factor * r[k], "r")
        if last < n:  # two are left: Cramer's rule has one division, not two in turn
            (a, b), (c, e) = (row[last:] for row in J[last:])
            w = self.atom(1 / self.atom(a * e - b * c, "j"), "w")
            d[last] = self.atom((r[last] * e - r[last + 1] * b) * w, "d")
            d[last + 1] = self.atom((r[last + 1] * a - r[last] * c) * w, "d")
        for k in reversed(range(last)):
            rest = r[k] - sum(J[k][j] * d[j] for j in range(k + 1, n))
            d[k] = self.atom(rest * inverse[k], "d")
        return d


def _parts(e):
    """The arguments of e, unless there are conditions among them, as in a Piecewise."""
    return e.args if all(isinstance(x, sp.Expr) for x in e.args) else ()


def _factored(e):
    """e with the most frequent factor of its terms taken out of them, again and again."""
    if not _parts(e):
        return e
    if not e.is_Add:
        return e.func(*map(_factored, e.args))
    terms = [(x, x.args if x.is_Mul else (x,)) for x in e.args]
    often = Counter(f for _, factors in terms for f in factors if not f.is_Number)
    factor, count = max(often.items(), key=lambda item: item[1], default=(None, 0))
    if count < 2:
        return e.func(*map(_factored, e.args))
    inner = [x / factor for x, factors in terms if factor in factors]
    outer = [x for x, factors in terms if factor not in factors]
    return factor * _factored(sp.Add(*inner)) + _factored(sp.Add(*outer))


def _dummies(hint):
    """Distinct names too: SymPy's cse skips a symbol whose name occurs in the expressions."""
    return (dummy(f"{hint}{k}") for k in itertools.count(1))


def _moving(stage):
    """unknown -> all symbols that move with it, through the abbreviations."""
    moving = {u: {u} for u in stage.unknowns}
    for s, e in stage.let:
        for symbols in moving.values():
            if not symbols.isdisjoint(e.free_symbols):
                symbols.add(s)
    return moving


def split(stage):
    """The stage as stages solved in turn, where some equations need no others' unknowns.

    Equation i belongs to unknown i and needs the unknowns in it, and what those need.  Equations
    that need each other stay together: the result is block triangular, often mostly linear.
    """
    everything = range(len(stage.unknowns))
    moving = list(_moving(stage).values())
    needs = [{i} | {j for j in everything if not moving[j].isdisjoint(e.free_symbols)}
             for i, e in enumerate(stage.equations)]  # fmt: skip
    for k in everything:
        for i in everything:
            if k in needs[i]:
                needs[i] |= needs[k]
    blocks = {frozenset(j for j in needs[i] if i in needs[j]): len(needs[i]) for i in everything}
    scale2 = stage.scale2 or (1,) * len(stage.unknowns)
    lists = (stage.unknowns, stage.equations, stage.guess, scale2)
    for block in sorted(blocks, key=lambda b: (blocks[b], min(b))):
        unknowns, equations, guess, scale = ([x[i] for i in sorted(block)] for x in lists)
        yield replace(stage, unknowns=tuple(unknowns), equations=tuple(equations),
                      guess=tuple(guess), scale2=tuple(scale))  # fmt: skip


def fewer_angles(stage):
    """The stage with sin(a + b) and cos(a + b) written out, if that leaves fewer angles."""
    functions = set().union(*(e.atoms(sp.sin, sp.cos) for e in stage.equations))
    angles = {f.args[0] for f in functions}
    parts = {x for angle in angles for x in sp.Add.make_args(angle)}
    if len({-x if x.could_extract_minus_sign() else x for x in parts}) >= len(angles):
        return stage
    expanded = {f: sp.expand_trig(f) for f in functions}
    return replace(stage, equations=tuple(e.xreplace(expanded) for e in stage.equations))


def _survives(e, small):
    try:
        return e.xreplace(small) != 0
    except (ZeroDivisionError, ValueError):
        return True


def _stage_lines(stage, names, h, current, values, definite):
    """The lines that solve one stage, and the conditions that it was solved.

    ``current`` holds the abbreviations already assigned whose values still hold.
    """
    J = jacobian(stage.equations, stage.unknowns, stage.let)
    in_J = set().union(*(e.free_symbols for row in J for e in row))
    small = {h: sp.S.Zero}
    for s, e in stage.let:
        if e.xreplace(small) == 0:
            small[s] = sp.S.Zero
    strong = [[_survives(e, small) for e in row] for row in J]
    depends = _moving(stage)
    curved = [not (definite and depends[u].isdisjoint(in_J)) for u in stage.unknowns]
    if not any(curved):
        return _linear_lines(stage, J, strong, names, current, values)
    block = Block(names, stage.unknowns, values)
    own, anew = _own_rows(stage, J, strong, depends) if definite else ([], False)
    guess, d = _newton_step(block, stage, J, strong, own, anew, current)

    x = [names[u] for u in stage.unknowns]
    start = [f"{x[k]} = {python(e, names)}" for k, e in guess.items()]
    correct = [f"{x[k]} = {python(u - d[k], names)}" for k, u in enumerate(stage.unknowns)]
    if stage.predictor:
        return [*block.before, *start, *block.inside, *correct], []
    near = {}  # what the square of a correction must not exceed
    for k, scale2 in enumerate(stage.scale2 or (1,) * len(x)):
        if curved[k] and scale2 is not None:
            near[k] = names[dummy("near")]
            size = f"{python(sp.sympify(scale2), names)} + {x[k]}*{x[k]}"
            start.append(f"{near[k]} = {TOLERANCE**2:.3g}*({size})")
    ok = names[dummy("ok")]
    loop = [
        *block.inside,
        *correct,
        f"{ok} = " + " & ".join(f"({python(d[k] ** 2, names)} <= {near[k]})" for k in near),
        f"if all_({ok}):",
        "    break",
    ]
    head = f"for _ in range({MAXITER}):"
    finite = f"({' + '.join(near.values())} < 1e300)"  # or any correction would pass
    lines = [*block.before, *start, head, *("    " + line for line in loop)]
    return lines, [ok, finite]


def _linear_lines(stage, J, strong, names, current, values):
    """The same for linear equations, J x = -equations(0)."""
    zero = dict.fromkeys(stage.unknowns, sp.S.Zero)
    let = [(s, e.xreplace(zero)) for s, e in stage.let]
    block = Block(names, (), values)
    r = [-e.xreplace(zero) for e in stage.equations]
    J, r = _shared(block, J, r, let, current)
    current -= set().union(*_moving(stage).values())
    d = block.solve(J, r, strong)
    x = [names[u] for u in stage.unknowns]
    lines = [*block.before, *(f"{u} = {python(e, names)}" for u, e in zip(x, d, strict=True))]
    return lines, [] if stage.predictor else [f"({' + '.join(f'{u}*{u}' for u in x)} < 1e300)"]


def _newton_step(block, stage, J, strong, own, anew, current):
    """The first values of the unknowns and, at any others, Newton's corrections.

    The rows in ``own`` give x_own = c + C x_rest, once and for all or in each iteration ``anew``;
    Newton is left with the rest.
    """
    x, strong_own = stage.unknowns, _part(strong, own, own)
    rest = [i for i in range(len(x)) if i not in own]
    zero = dict.fromkeys([x[i] for i in own] if anew else x, sp.S.Zero)
    r = [-stage.equations[i].xreplace(zero) for i in own]
    J_own, r = _shared(block, _part(J, own, own), r, stage.let, current)
    c = block.solve(J_own, r, strong_own)
    for i, e in zip(own, c, strict=True) if anew else ():
        block.add(x[i], e)

    first = (*rest, *own) if anew else rest
    r = [*(stage.equations[i] for i in rest), *(stage.guess[i] for i in first)]
    J, r = _shared(block, J, r, stage.let, current)
    current -= set().union(*_moving(stage).values())
    r, guess = r[: len(rest)], dict(zip(first, r[len(rest) :], strict=True))
    C = [block.solve(J_own, [-J[i][j] for i in own], strong_own) for j in rest]
    columns = list(zip(rest, C, strict=True))
    total = [[block.atom(J[i][j] + dot([J[i][k] for k in own], by), "j") for j, by in columns]
             for i in rest]  # fmt: skip
    firm = [[strong[i][j] or any(strong[i][k] and e != 0 for k, e in zip(own, by, strict=True))
             for j, by in columns] for i in rest]  # fmt: skip
    step = block.solve(total, r, firm)
    d = dict(zip(rest, step, strict=True))
    for i, k in enumerate(own):
        by_rest = [column[i] for column in C]
        d[k] = block.atom(dot(by_rest, step), "d")
        guess.setdefault(k, c[i] + dot(by_rest, [x[j] for j in rest]))
    return guess, d


def _shared(block, J, r, let, current):
    """The entries of J and of r as atoms; the abbreviations they use become ``current``."""
    wanted = [*r, *(e for row in J for e in row)]
    left = [block.atom(e, "r" if k < len(r) else "j")
            for k, e in enumerate(block.share(wanted, let, current))]  # fmt: skip
    current |= {s for s, _ in needed(let, wanted)}
    entries = iter(left[len(r) :])
    return [[next(entries) for _ in row] for row in J], left[: len(r)]


def _own_rows(stage, J, strong, depends):
    """Equations that can be solved for their own unknowns, and whether in every iteration anew.

    Best are those linear in all unknowns with fixed coefficients: solved once, they stay so.
    Else equations a u + b = 0 with fixed a, where b depends on other unknowns in any way.
    """
    everything = range(len(stage.unknowns))
    moving = set().union(*depends.values())
    lets = moving - set(stage.unknowns)

    def fixed(i, columns):
        return all(moving.isdisjoint(J[i][k].free_symbols) for k in columns)

    found = [i for i, e in enumerate(stage.equations) if strong[i][i] and fixed(i, everything)
             and lets.isdisjoint(e.free_symbols)]  # fmt: skip
    if found:
        return found, False
    for i in everything:
        some = [*found, i]
        through = lets & set().union(*(depends[stage.unknowns[k]] for k in some))
        if strong[i][i] and all(
            fixed(k, some) and through.isdisjoint(stage.equations[k].free_symbols) for k in some
        ):
            found = some
    return found, True


def _part(table, rows, columns):
    return [[table[i][j] for j in columns] for i in rows]


def generate(statement):
    """The text of ``step`` and ``run`` for a statement.

    ``step(t, h, *carry, *args)`` returns ``(ok, h, *carry)``.  ``run`` repeats it from ``state``
    until ``stop`` steps are done, writes every ``every``-th result into a row of ``out``, leaves
    the last good values in ``state`` and returns the number of steps done.
    """
    names = Names()
    names.fix(statement.t, "t")
    names.fix(statement.h, "h")
    carry = [names[s] for s in statement.carry]
    args = [names[s] for s in statement.args]
    lines, conditions, current = [], [], set()
    moving = set().union(*(x for stage in statement.stages for x in _moving(stage).values()))
    values = Values({statement.t, statement.h, *statement.carry, *statement.args}, moving)
    stages = [fewer_angles(stage) for stage in statement.stages]
    if statement.definite:
        stages = [part for stage in stages for part in split(stage)]
    for stage in stages:
        stage_lines, solved = _stage_lines(
            stage, names, statement.h, current, values, statement.definite
        )
        values.fixed |= set(stage.unknowns)
        lines += stage_lines
        conditions += solved
    block = Block(names, (), values)
    update = [python(e, names) for e in block.share(statement.update, statement.let, current)]
    lines += block.before
    h = "h"
    if statement.new_h is not None:
        h = python(statement.new_h, names)
        conditions.append(f"({h} > 0)")
    done = " & ".join(conditions) or "True"
    call = ", ".join(["t", "h", *carry, *args])
    step = [f"def step({call}):", *lines, f"return {', '.join([done, h, *update])}"]

    variable = statement.new_h is not None
    stored = ["t", "h", *carry] if variable else carry
    run = [
        f"def run({', '.join(['state', 'out', 'n', 'stop', 'every', 't0', 'h', *args])}):",
        *(f"{s} = state[{k}]" for k, s in enumerate(stored)),
        "row = n // every",
        "left = every - n % every",
        "while n < stop:",
        *(() if variable else ("    t = t0 + n*h",)),
        f"    new = step({call})",
        "    if not new[0]:",
        "        break",
        f"    {', '.join(['_', 'h', *carry])} = new",
        *(("    t = t + h",) if variable else ()),
        "    n += 1",
        "    left -= 1",
        "    if left == 0:",
        "        left = every",
        "        row += 1",
        *(f"        out[row, {k}] = {s}" for k, s in enumerate(stored)),
        *(f"state[{k}] = {s}" for k, s in enumerate(stored)),
        "return n",
    ]
    imports = f"from math import {', '.join(sorted(MATH))}"
    parts = [imports, PRELUDE.strip(), _body(step), _body(run)]
    if "half_angle(" in parts[2]:
        parts.insert(2, HALF_ANGLE.strip())
    return "\n\n\n".join(parts) + "\n"


def _body(lines):
    return "\n    ".join(lines)
