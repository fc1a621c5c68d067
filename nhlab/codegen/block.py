"""Assignments in order: common subexpressions shared, a loop kept free of what does not move."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import sympy as sp

from .derivatives import needed
from .statement import dummy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .kinds import Exprs, Pairs, Symbols, Table

# The largest tolerated |pivot before| / |pivot after| elimination, for equations that are solved
# once, and for those whose iteration corrects part of the loss.  A step that exceeds it is taken
# again by careful.py, which measures how much is lost.
MAX_CANCELLATION = {"once": 1e6, "iterated": 1e7}


class Block:
    """Pairs (symbol, expression): ``before`` a loop or, if they move with its unknowns, ``inside``.

    Each value is assigned once.  ``current`` are the abbreviations whose values hold.
    """

    def __init__(self) -> None:
        self.before, self.inside = [], []
        self.moving, self.current = set(), set()
        self.pivots, self.expected = [], []  # pivots that must be finite; conditions on others
        self._known, self._known_inside, self._still = {}, {}, {}

    def enter(self, unknowns: Iterable[sp.Symbol]) -> None:
        """Begin a loop, in which these and all that depends on them move."""
        self.before, self.inside, self.moving = [], [], set(unknowns)
        self._known_inside, self._still = {}, {}

    def leave(self) -> None:
        """End it: what moved has to be computed anew from the last values of the unknowns."""
        self.current -= self.moving
        self.enter(())

    def add(self, symbol: sp.Symbol, e: sp.Expr) -> None:
        if self._fixed(e):
            self.before.append((symbol, e))
        else:
            self.inside.append((symbol, e))
            self.moving.add(symbol)

    def atom(self, e: sp.Expr, hint: str) -> sp.Expr:
        """A number, a symbol or its negative that stands for ``e``."""
        if e.is_Number or e.is_Symbol or (-e).is_Symbol:
            return e
        if all(x.could_extract_minus_sign() for x in (e.args if e.is_Add else (e,))):
            return -self.atom(-e, hint)
        known = self._known if self._fixed(e) else self._known_inside
        if e not in known:
            known[e] = dummy(hint)
            self.add(known[e], e)
        return known[e]

    def atoms(self, J: Table, r: Exprs, let: Pairs) -> tuple[Table, list[sp.Expr]]:
        """The entries of a matrix and of a vector as atoms."""
        left = iter(self.share([*r, *(e for row in J for e in row)], let))
        r = [self.atom(next(left), "r") for _ in r]
        return [[self.atom(next(left), "j") for _ in row] for row in J], r

    def share(self, expressions: Exprs, let: Pairs = ()) -> list[sp.Expr]:
        """Assign what is needed of ``let`` and all common subexpressions; return what is left."""
        let = [(s, e) for s, e in needed(let, expressions) if s not in self.current]
        fixed, moving = [], []
        for s, e in let:
            if not self._fixed(e):
                self.moving.add(s)
            (moving if s in self.moving else fixed).append((s, e))
        self.current |= {s for s, _ in let}
        self._shared(*(zip(*fixed, strict=True) if fixed else ((), ())))
        wanted = self._hoisted([*(e for _, e in moving), *expressions])
        return self._shared([s for s, _ in moving], [_factored(e) for e in wanted])

    def _shared(self, symbols: Symbols, expressions: Exprs) -> list[sp.Expr]:
        """The first expressions are the symbols' values, which later ones may contain."""
        names = (dummy(f"c{k}") for k in itertools.count(1))  # cse skips names that occur
        left: Any  # SymPy says less than what cse returns
        shared, left = sp.cse(list(expressions), symbols=names, order="none")
        order = {s: k for k, (s, _) in enumerate(shared)}
        shared, found = dict(shared), {}

        def replaced(e: Any) -> Any:
            for s in sorted(e.free_symbols & shared.keys(), key=order.__getitem__):
                if s in shared:  # still, for the one before may have needed it
                    inner = replaced(shared.pop(s))
                    found[s] = self.atom(inner, "c") if isinstance(inner, sp.Expr) else inner
            return self._plain(e.xreplace(found))

        for s, e in zip(symbols, left, strict=False):
            self.add(s, replaced(e))
        return [replaced(e) for e in left[len(symbols) :]]

    def _plain(self, e: Any) -> Any:
        """e with names for the functions in it, which later expressions may contain as well."""
        if e.is_Atom or not all(isinstance(x, sp.Expr) for x in e.args):
            return e
        args = [self._plain(x) for x in e.args]
        e = e if all(x is y for x, y in zip(args, e.args, strict=True)) else e.func(*args)
        return self.atom(e, "c") if e.is_Function else e

    def _hoisted(self, expressions: list[sp.Expr]) -> list[sp.Expr]:
        """The expressions with symbols for what does not move, assigned before the loop."""
        if not self.moving:
            return expressions
        constants = {}
        expressions = [self._taken_out(e, constants) for e in expressions]
        values = zip(constants.values(), self._shared((), list(constants)), strict=True)
        found = {s: self.atom(e, "k") for s, e in values}
        return [e.xreplace(found) for e in expressions]

    def _taken_out(self, e: Any, constants: dict[sp.Expr, sp.Symbol]) -> Any:
        """e with symbols for what does not move in it; these are collected in ``constants``."""
        if e.is_Atom:
            return e
        if e.is_Mul and e.could_extract_minus_sign():
            return -self._taken_out(-e, constants)
        if self._fixed(e):
            return constants.setdefault(e, dummy("k"))
        if not all(isinstance(x, sp.Expr) for x in e.args):  # conditions, as in a Piecewise
            return e
        args = e.args
        if e.is_Add or e.is_Mul:
            moving = [x for x in args if not self._fixed(x)]
            args = [*moving, e.func(*(x for x in args if self._fixed(x)))]
        return e.func(*(self._taken_out(x, constants) for x in args))

    def _fixed(self, e: sp.Basic) -> bool:
        """True if e does not move.  Remembered: a symbol is used only after it was assigned."""
        if e not in self._still:
            self._still[e] = e not in self.moving and all(map(self._fixed, e.args))
        return self._still[e]

    def solve(
        self,
        J: Table,
        r: Exprs,
        strong: list[list[bool]],
        once: bool = False,
        multipliers: list[bool] | None = None,
    ) -> list[sp.Expr]:
        """Gaussian elimination of J d = r, written out for the entries that are not 0; return d.

        The pivots are chosen here, once: the diagonal where it survives h -> 0 (``strong``), as
        it does for a positive definite M, otherwise another row.  Should one vanish on the way,
        the step fails and is taken again with pivoting (careful.py).  Some are ``expected`` to keep
        digits: those of A M^-1 A^T, in the rows of ``multipliers`` (by default those without an
        entry on the diagonal), and those of M if solved ``once``, where no iteration would notice.
        """
        n, inverse = len(r), []
        J, r, strong = [list(row) for row in J], list(r), [list(row) for row in strong]
        late = list(multipliers or [J[k][k] == 0 for k in range(n)])
        own = [once and n > 2 and strong[k][k] and not late[k] for k in range(n)]
        before = [J[k][k] if own[k] else 0 for k in range(n)]
        for k in range(n):
            if late[k] and not any(late[:k]):  # M is eliminated, A M^-1 A^T or minus it is left
                before[k:] = [J[i][i] if late[i] else before[i] for i in range(k, n)]
            if k == n - 2 and all(J[i][j] != 0 for i in (k, k + 1) for j in (k, k + 1)):
                break
            rows = [i for i in range(k, n) if strong[i][k]] or [i for i in range(k, n) if J[i][k]]
            if not rows:
                return [sp.nan] * n  # singular everywhere: no step converges, careful.py says why
            i = k if k in rows else rows[0]
            before[i], before[k] = (0, 0) if i != k else (before[k],) * 2  # others come there
            for table in (J, r, strong, own, late):
                table[k], table[i] = table[i], table[k]  # pyright: ignore
            inverse.append(self._inverse(J[k][k], before[k], own[k], once))
            for i in range(k + 1, n):
                if J[i][k] == 0:
                    continue
                factor = self.atom(J[i][k] * inverse[k], "f")
                for j in range(k + 1, n):
                    if J[k][j] != 0:
                        J[i][j] = self.atom(J[i][j] - factor * J[k][j], "j")
                        strong[i][j] |= strong[i][k] and strong[k][j]
                r[i] = self.atom(r[i] - factor * r[k], "r")
        d, done = list(r), len(inverse)  # all of d is replaced
        if done < n:
            self._expect(J[done][done], before[done], own[done])
            last = before[-1] if (own[-1], late[-1]) == (own[-2], late[-2]) else 0
            d[done:] = self._cramer([row[done:] for row in J[done:]], r[done:], last, once)
        for k in reversed(range(done)):
            rest = r[k] - sum(J[k][j] * d[j] for j in range(k + 1, n))
            d[k] = self.atom(rest * inverse[k], "d")
        return d

    def _inverse(
        self, pivot: sp.Expr, before: sp.Expr | int, positive: bool, once: bool
    ) -> sp.Expr:
        w = self.atom(1 / pivot, "w")
        if not self._expect(pivot, before, positive, None if once else w):
            self.pivots.append(pivot)
        return w

    def _expect(
        self, pivot: sp.Expr, before: sp.Expr | int, positive: bool, inverse: sp.Expr | None = None
    ) -> bool:
        """Add the conditions on a pivot that was ``before`` until elimination changed it: it is
        ``positive``, if it is one of M, and not cancelled by more than MAX_CANCELLATION.

        Returns True if the condition on cancellation was added.  It fails for infinities, too.
        In an iteration the ``inverse`` of the pivot is ready, and a quotient takes less time.
        """
        if positive and pivot == before:
            self.expected += [] if pivot.is_positive else [sp.Gt(pivot, 0, evaluate=False)]
        if before in (0, pivot):
            return False
        limit = MAX_CANCELLATION["iterated" if inverse else "once"]
        if inverse:
            kept = sp.Lt(sp.Abs(before * inverse), limit, evaluate=False)
        else:  # those of A M^-1 A^T have a minus in some equations
            pair = (pivot, before) if positive else (sp.Abs(pivot), sp.Abs(before))
            kept = sp.Gt(limit * pair[0], pair[1], evaluate=False)
        self.expected.append(kept)
        return True

    def _cramer(self, J: Table, r: Exprs, before: sp.Expr | int, once: bool) -> list[sp.Expr]:
        """The last two unknowns: one division, not two in turn."""
        (a, b), (c, e) = J
        whole = self.atom(a * e, "j")
        determinant = self.atom(whole - b * c, "j")  # a times the last pivot
        before = whole if before == e else a * before  # positive if J is symmetric
        w = self._inverse(determinant, before, once and before != 0, once)
        return [
            self.atom((r[0] * e - r[1] * b) * w, "d"),
            self.atom((r[1] * a - r[0] * c) * w, "d"),
        ]


def _factored(e: Any) -> Any:
    """e with the most frequent factor of its terms taken out of them, again and again.

    It saves 2 % of the operations, and up to 9 % of the time of a compiled step (measured).
    """
    if e.is_Atom or not all(isinstance(x, sp.Expr) for x in e.args):
        return e
    if not e.is_Add:
        return e.func(*map(_factored, e.args))
    terms = [(x, list(x.args if x.is_Mul else (x,))) for x in e.args]
    often = Counter(f for _, factors in terms for f in factors if not f.is_Number)
    factor, count = max(often.items(), key=lambda item: item[1], default=(None, 0))
    if count < 2:
        return e.func(*map(_factored, e.args))
    outer = [x for x, factors in terms if factor not in factors]
    inner = [factors for _, factors in terms if factor in factors]
    for factors in inner:
        factors.remove(factor)  # SymPy does not cancel every quotient
    inner = sp.Add(*(sp.Mul(*factors) for factors in inner))
    return factor * _factored(inner) + _factored(sp.Add(*outer))
