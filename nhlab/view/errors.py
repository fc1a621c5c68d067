"""How far a curve is from what is true, and whether this grows: what verdicts and read-outs say.

In words of Python that can be translated: a page follows the same functions.
"""

import numpy as np

GROWS = 1.1  # an error grows if it becomes this many times as large as in the first half of a run
ROUNDING = 1e-11  # errors below this are those of the arithmetic


def distance(y, true):
    """The largest distance of the values ``y`` from the number ``true``."""
    return max(abs(y.max() - true), abs(y.min() - true))


def error_of(y, true):
    """(the largest distance of ``y`` from the number ``true``, whether it grows along the run)."""
    first, _ = np.array_split(y, 2)
    size = distance(y, true)
    return size, len(first) > 0 and size > GROWS * distance(first, true)


def spread_of(y):
    """(the height of the band that ``y`` fills, whether it grows along the run)."""
    first, _ = np.array_split(y, 2)
    size = np.ptp(y)
    return size, len(first) > 0 and size > GROWS * np.ptp(first)


def size_of(y, number):
    """(size, whether it grows) of a curve: of the band it fills if ``number`` is "spread", else of
    its largest value."""
    return spread_of(y) if number == "spread" else error_of(y, 0.0)


def bar_shares(sizes):
    """How long the bars of some sizes are beside each other, from 0 to 1; what is rounding has
    none, also where all is."""
    most = max([x if np.isfinite(x) else ROUNDING for x in sizes])
    return [0.0 if x < ROUNDING else x / most if np.isfinite(x) else 1.0 for x in sizes]


def growth_in_words(size, growing):
    """What is said behind an error: whether it grows, and nothing of what is rounding."""
    return "rounding" if size < ROUNDING else "growing" if growing else "not growing"


def error_in_words(size, growing):
    """An error as a bar of a read-out says it."""
    if size < ROUNDING:
        return "off by rounding alone"
    return f"off by {size:.3g}, {growth_in_words(size, growing)}"
