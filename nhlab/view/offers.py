"""What a panel offers when a slider does not answer in the present view: another view of it.

Some offers are declared with the views, as that of E - E(0) beside energies, whose level the start
moves.  Others are found: whoever moves a slider that moves no curve is told so, and offered the
first view of which it does move one.

``offered``, ``are_moved`` and ``found_still`` are in words of Python that can be translated: a page
follows the same functions.
"""

from typing import NamedTuple

import numpy as np

START = ("q0.", "v0.")  # the keys of sliders for the start begin so
MOVED = 1e-6  # of its height: a curve has moved if it did by more ..
RESTS = 1e-10  # .. and by more than this beside its size: less is rounding


class Offer(NamedTuple):
    """Another view, for when one of some controls was moved.

    words : why, and what the other view shows, as the text of a button
    keys : how the keys of these controls begin
    also : further controls that are set;  at : it is offered only where controls stand so
    explains : does it say why nothing moves?  Else it is not offered when nothing does.
    """

    view: str
    words: str
    keys: tuple
    also: dict = {}  # noqa: RUF012 (never changed)
    at: dict = {}  # noqa: RUF012 (never changed)
    explains: bool = False


def of_change(view: str) -> Offer:
    """The offer beside energies, whose level moves with the start: the view of their change."""
    return Offer(view, "The start moves E: show E - E(0)", START)


def of_nodes(view: str, keepers: list[str]) -> Offer:
    """The offer beside a constraint that some methods keep whatever alpha is: a view of the nodes.

    keepers : the names of these methods
    """
    keep = "keeps" if len(keepers) == 1 else "keep"
    words = f"{' and '.join(keepers)} {keep} this for every alpha and rule: show the nodes"
    return Offer(view, words, ("alpha", "rule"), explains=True)


def of_rule(view: str, alpha: float, kept: Offer | None = None) -> Offer:
    """The offer beside the two rules at alpha = 1/2, where they are one: another alpha.

    kept : what is offered to whoever moves alpha, if that does not move this view either
    """
    about = {"also": {"alpha": alpha}, "at": {"alpha": 0.5}, "explains": True}
    if kept:
        return Offer(kept.view, f"{kept.words} at alpha = {alpha:g}", ("rule",), **about)
    words = f"At alpha = 1/2 both rules are the midpoint rule: set alpha = {alpha:g}"
    return Offer(view, words, ("rule",), **about)


class Still(NamedTuple):
    """A slider that has moved no curve of a view, what is said of it, and a view that it moves,
    None if there is none."""

    key: str
    words: str
    view: str | None


def alike(x, y):
    """Does a control stand as another?  A browser may send 2e-17 for 0."""
    if x is None or str(x) == x:
        return x == y
    return abs(x - y) <= 1e-9 * (1 + abs(y))


def are_same(values, others):
    """Do controls stand as some others do?"""
    return len([k for k, x in values.items() if not alike(x, others[k])]) == 0


def offered(offers, values, first, still):
    """[words, values] of what is offered, the values None where nothing can be set; or None.

    offers : the Offers of the present view;  values, first : of all controls, now and at first
    still : what ``found_still`` found, or None
    """
    fitting = [x for x in offers if is_fitting(x, values, first, still)]
    if len(fitting) > 0:
        return [fitting[0].words, taken(fitting[0].view, fitting[0].also, values)]
    if still is None:
        return None
    return [still.words, None if still.view is None else taken(still.view, {}, values)]


def is_fitting(offer, values, first, still):
    """Was one of its controls moved, where it is offered?"""
    if still is not None and not (offer.explains and still.key.startswith(offer.keys)):
        return False
    watched = {k: x for k, x in first.items() if k.startswith(offer.keys)}
    return not are_same(watched, values) and are_same(offer.at, values)


def taken(view, also, values):
    """The values of all controls once an offer is taken."""
    return {k: view if k == "view" else also.get(k, x) for k, x in values.items()}


def are_moved(curves, others):
    """Has one of some curves (x, y) moved by more than rounding, or is there another number?"""
    if len(curves) != len(others):
        return True
    pairs = [[curves[k], others[k]] for k in range(len(curves))]
    return len([a for a, b in pairs if is_moved(a[0], b[0]) or is_moved(a[1], b[1])]) > 0


def is_moved(y, other):
    """Have some numbers moved by more than rounding?"""
    if len(y) != len(other):
        return True
    if len(y) == 0:
        return False
    far = np.abs(np.subtract(y, other)).max()
    return not far <= MOVED * np.ptp(y) + RESTS * (1 + np.abs(y).max())


def found_still(key, label, moving):
    """What is said of a slider that has moved no curve of the present view.

    key, label : of its control;  moving : the names of the views of which it has moved one
    """
    if len(moving) == 0:
        return [key, f"{label} moves no curve of any view here", None]
    return [key, f"{label} moves no curve here: show {moving[0]}", moving[0]]
