"""What a panel offers when a slider does not answer in the present view: another view of it."""

from typing import NamedTuple

from .panel import are_same

START = ("q0.", "v0.")  # the keys of sliders for the start begin so
RULES = ("alpha", "rule")  # the keys of controls that say where in a step L is evaluated


class Offer(NamedTuple):
    """Another view, for when one of some controls was moved.

    words : why, and what the other view shows, as the text of a button
    keys : how the keys of these controls begin
    """

    view: str
    words: str
    keys: tuple


def of_change(view: str) -> Offer:
    """The offer beside energies, whose level moves with the start: the view of their change."""
    return Offer(view, "The start moves E: show E - E(0)", START)


def of_nodes(view: str, keepers: list[str]) -> Offer:
    """The offer beside a constraint that some methods keep whatever alpha is: a view of the nodes.

    keepers : the names of these methods
    """
    keep = "keeps" if len(keepers) == 1 else "keep"
    words = f"{' and '.join(keepers)} {keep} this for every alpha and rule: show the nodes"
    return Offer(view, words, RULES)


def offered(offers: dict, view: str, values: dict, first: dict) -> tuple | None:
    """(words, values) of the offer for a view; None if its controls stand as they did at first.

    offers : view -> Offer;  values, first : of all controls, now and at first
    """
    offer = offers.get(view)
    if offer is None:
        return None
    watched = {k: x for k, x in first.items() if k.startswith(offer.keys)}
    return None if are_same(watched, values) else (offer.words, values | {"view": offer.view})
