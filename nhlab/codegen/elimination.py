"""Linear equations solved by Gaussian elimination, written out for the entries that are not 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import Graph, Node

    Matrix = list[list[Node]]

# The largest tolerated |pivot before| / |pivot after| elimination, for equations that are solved
# once, and for those whose iteration corrects part of the loss.  A step that exceeds it is taken
# again by careful.py, which measures how much is lost.
MAX_CANCELLATION = {"once": 1e6, "iterated": 1e7}


class Elimination:
    """Solves linear equations whose entries are nodes.

    The pivots are chosen when the text is generated: the diagonal where it survives h -> 0, as it
    does for a positive definite M, otherwise another row.  Should a pivot vanish when the step is
    computed, the step fails and is taken again with pivoting (careful.py).

    pivots : those that must be finite, for an infinite one would give r/pivot = 0 unnoticed
    expected : conditions that others keep digits, and that those of M are positive
    loop : the level of the Newton loop that the equations are solved in, or None; pivots are
        looked at behind it, as they were in its last iteration
    """

    def __init__(self, graph: Graph, h: Node, loop: int | None = None) -> None:
        self.graph, self.pivots, self.expected, self.loop = graph, [], [], loop
        self.h, self.without_h = h, {h: graph.zero}

    def is_strong(self, x: Node) -> bool:
        """True if an entry survives h -> 0."""
        return not self.graph.replaced(x, self.without_h, self.h.level).equals(0)

    def solve(
        self, J: Matrix, r: list[Node], once: bool = False, multipliers: list[bool] | None = None
    ) -> list[Node]:
        """d with J d = r.

        Some pivots are ``expected`` to keep digits: those of A M^-1 A^T, in the rows of
        ``multipliers`` (by default those without an entry on the diagonal), and those of M if the
        equations are solved ``once``, where no iteration would notice.
        """
        n, inverse, hints = len(r), [], ["j"] * len(r) + ["r"]
        rows = [[*row, x] for row, x in zip(J, r, strict=True)]
        strong = [[*map(self.is_strong, row)] for row in rows]
        late = list(multipliers or [J[k][k].equals(0) for k in range(n)])
        own = [once and n > 2 and strong[k][k] and not late[k] for k in range(n)]
        before = [J[k][k] if own[k] else None for k in range(n)]
        for k in range(n):
            if late[k] and not any(late[:k]):  # M is eliminated, A M^-1 A^T or minus it is left
                before[k:] = [rows[i][i] if late[i] else before[i] for i in range(k, n)]
            if k == n - 2 and not any(x.equals(0) for row in rows[k:] for x in row[k:n]):
                break
            places = [i for i in range(k, n) if not rows[i][k].equals(0)]
            places = [i for i in places if strong[i][k]] or places
            if not places:  # singular everywhere: no step converges, careful.py says why
                return [self.graph.number(math.nan)] * n
            i = k if k in places else places[0]
            before[i], before[k] = (None, None) if i != k else (before[k],) * 2
            for table in (rows, strong, own, late):
                table[k], table[i] = table[i], table[k]  # pyright: ignore
            inverse.append(self._inverse(rows[k][k], before[k], own[k], once))
            for i in (i for i in range(k + 1, n) if not rows[i][k].equals(0)):
                factor = (rows[i][k] * inverse[k]).suggest_name("f")
                for j in (j for j in range(k + 1, n + 1) if not rows[k][j].equals(0)):
                    rows[i][j] = (rows[i][j] - factor * rows[k][j]).suggest_name(hints[j])
                    strong[i][j] |= strong[i][k] and strong[k][j]
        d = [row[n] for row in rows]  # all of it is replaced
        if len(inverse) < n:
            self._expect(rows[-2][-3], before[-2], own[-2])
            last = before[-1] if (own[-1], late[-1]) == (own[-2], late[-2]) else None
            d[-2:] = self._cramer([row[-3:] for row in rows[-2:]], last, once)
        for k in reversed(range(len(inverse))):
            rest = self.graph.sum([d[k], *(-(rows[k][j] * d[j]) for j in range(k + 1, n))])
            d[k] = (rest * inverse[k]).suggest_name("d")
        return d

    def _inverse(self, pivot: Node, before: Node | None, positive: bool, once: bool) -> Node:
        inverse = (1 / pivot).suggest_name("w")
        if not self._expect(pivot, before, positive, None if once else inverse):
            self.pivots.append(self._behind_the_loop(pivot))
        return inverse

    def _behind_the_loop(self, x: Node) -> Node:
        return self.graph.last(x) if x.level == self.loop else x

    def _expect(
        self, pivot: Node, before: Node | None, positive: bool, inverse: Node | None = None
    ) -> bool:
        """Add conditions on a pivot: it is ``positive``, if it is one of M, and elimination, which
        made it from ``before``, has not cancelled it by more than MAX_CANCELLATION.

        Returns True if the condition on cancellation was added.  In an iteration the ``inverse`` of
        the pivot is ready, and a product takes less time.
        """
        g, behind = self.graph, self._behind_the_loop
        if positive and pivot is before:
            self.expected.append(g.node(">", behind(pivot), g.zero))
        if before is None or before.equals(0) or before is pivot:
            return False
        if inverse is not None:
            size, limit = g.size(behind(before) * behind(inverse)), MAX_CANCELLATION["iterated"]
            self.expected.append(g.node("<", size, g.number(limit)))
        else:  # pivots of A M^-1 A^T have a minus in some equations
            limit, sizes = MAX_CANCELLATION["once"], [behind(pivot), behind(before)]
            pivot, before = sizes if positive else map(g.size, sizes)
            self.expected.append(g.node(">", limit * pivot, before))
        return True

    def _cramer(self, rows: Matrix, before: Node | None, once: bool) -> list[Node]:
        """The last two unknowns: one division, not two in turn."""
        (a, b, r), (c, e, s) = rows
        whole = (a * e).suggest_name("j")
        determinant = (whole - b * c).suggest_name("j")  # a times the last pivot
        if before is not None:
            before = whole if before is e else a * before  # positive if J is symmetric
        w = self._inverse(determinant, before, once and before is not None, once)
        return [((r * e - s * b) * w).suggest_name("d"), ((s * a - r * c) * w).suggest_name("d")]
