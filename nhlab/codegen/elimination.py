"""Linear equations solved by Gaussian elimination, written out for the entries that are not 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import Graph, Node

    Matrix = list[list[Node]]

# The largest tolerated |pivot before| / |pivot after| elimination: the larger the ratio, the more
# digits of the pivot have cancelled.  It is smaller for equations that are solved once, since
# Newton's iteration corrects part of the loss.  A step that exceeds it is taken again by
# careful.py.
MAX_CANCELLATION = {"once": 1e6, "iterated": 1e7}


class Elimination:
    """Solves linear equations whose entries are nodes.

    The pivots are chosen when the text is generated, not when a step is computed: the entry on the
    diagonal if it does not vanish as h -> 0, as for a positive definite M, otherwise that of
    another row.  If a pivot vanishes in a step, this step is taken again with pivoting
    (careful.py).

    graph, h : where the nodes are made, and the node of the step size
    loop : the level of the Newton loop that solves the equations, or None.  Conditions on pivots
        are tested once after the loop, with the values of its last iteration
    pivots : those that must be finite: an infinite pivot would give r/pivot = 0 and pass unnoticed
    expected : conditions on the other pivots: that elimination has not cancelled them, and that
        those of M are positive
    """

    def __init__(self, graph: Graph, h: Node, loop: int | None = None) -> None:
        self.graph, self.pivots, self.expected, self.loop = graph, [], [], loop
        self.h, self.without_h = h, {h: graph.zero}

    def is_strong(self, x: Node) -> bool:
        """True if an entry does not vanish as h -> 0."""
        return not self.graph.replaced(x, self.without_h, self.h.level).equals(0)

    def solve(
        self, J: Matrix, r: list[Node], once: bool = False, multipliers: list[bool] | None = None
    ) -> list[Node]:
        """The solution d of J d = r.

        once : the equations are linear and solved once; no iteration would notice lost digits
        multipliers : for each row, whether its unknown is a Lagrange multiplier; by default the
            rows with 0 on the diagonal

        Eliminating M leaves A M^-1 A^T, or minus it, in the rows of the multipliers.  The pivots of
        these rows, and those of M if the equations are solved once, get conditions in ``expected``.
        """
        n, inverse, hints = len(r), [], ["j"] * len(r) + ["r"]
        rows = [[*row, x] for row, x in zip(J, r, strict=True)]
        strong = [[*map(self.is_strong, row)] for row in rows]
        late = list(multipliers or [J[k][k].equals(0) for k in range(n)])
        own = [once and n > 2 and strong[k][k] and not late[k] for k in range(n)]
        before = [J[k][k] if own[k] else None for k in range(n)]
        for k in range(n):
            if late[k] and not any(late[:k]):  # the rows of M are done, A M^-1 A^T begins
                before[k:] = [rows[i][i] if late[i] else before[i] for i in range(k, n)]
            if k == n - 2 and not any(x.equals(0) for row in rows[k:] for x in row[k:n]):
                break
            places = [i for i in range(k, n) if not rows[i][k].equals(0)]
            places = [i for i in places if strong[i][k]] or places
            if not places:  # singular in every state: each step fails, and careful.py says why
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
        d = [row[n] for row in rows]  # the right sides, replaced from the last one up
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
            self.pivots.append(self._after_the_loop(pivot))
        return inverse

    def _after_the_loop(self, x: Node) -> Node:
        return self.graph.last(x) if x.level == self.loop else x

    def _expect(
        self, pivot: Node, before: Node | None, positive: bool, inverse: Node | None = None
    ) -> bool:
        """Add conditions on a pivot to ``expected``.

        before : the pivot before elimination; the condition is that it has not been cancelled by
            more than MAX_CANCELLATION.  None if there is no such condition
        positive : the pivot is one of M and must be positive
        inverse : 1/pivot where an iteration has computed it already: with it the condition needs a
            product, which takes less time than a division

        Returns True if the condition on cancellation was added.
        """
        g, after = self.graph, self._after_the_loop
        if positive and pivot is before:
            self.expected.append(g.node(">", after(pivot), g.zero))
        if before is None or before.equals(0) or before is pivot:
            return False
        if inverse is not None:
            size, limit = g.size(after(before) * after(inverse)), MAX_CANCELLATION["iterated"]
            self.expected.append(g.node("<", size, g.number(limit)))
        else:  # pivots of A M^-1 A^T have a minus in some equations
            limit, sizes = MAX_CANCELLATION["once"], [after(pivot), after(before)]
            pivot, before = sizes if positive else map(g.size, sizes)
            self.expected.append(g.node(">", limit * pivot, before))
        return True

    def _cramer(self, rows: Matrix, before: Node | None, once: bool) -> list[Node]:
        """The last two unknowns by Cramer's rule, which takes one division in the place of two."""
        (a, b, r), (c, e, s) = rows
        whole = (a * e).suggest_name("j")
        determinant = (whole - b * c).suggest_name("j")  # a times the last pivot
        if before is not None:
            before = whole if before is e else a * before  # positive if J is symmetric
        w = self._inverse(determinant, before, once and before is not None, once)
        return [((r * e - s * b) * w).suggest_name("d"), ((s * a - r * c) * w).suggest_name("d")]
