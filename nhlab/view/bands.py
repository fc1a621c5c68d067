"""Curves that swing so often that they fill a band: these are drawn pale, with their mean.

In words of Python that can be translated: a page follows the same functions.
"""

import numpy as np

from .limits import calm_points

CROSSINGS = 150  # a curve that crosses its mean more often than this fills a band
PARTS, WINDOW = 60, 5  # its mean is taken over WINDOW neighbours of so many pieces
FLAT = 1e-9  # of the height of a curve above 0: less is rounding
PALE, THIN = 0.45, 0.8  # the opacity and the width of a curve whose mean is drawn


def is_band(x, y):
    """Does a curve over time swing so often that it fills a band?  One that explodes does not, nor
    does rounding, nor a path, whose x goes to and fro."""
    if len(y) <= CROSSINGS or min(np.diff(x)) < 0 or not np.ptp(y) > FLAT * max(1, max(np.abs(y))):
        return False
    mean = sum(y) / len(y)
    crossings = sum(np.abs(np.diff(np.sign([u - mean for u in y])))) / 2
    return crossings > CROSSINGS and calm_points(y) == len(y)


def running_mean(y):
    """Means of a curve, each over WINDOW neighbours of its PARTS pieces: a longer window than one
    swing, so that the mean does not swing, too."""
    means = [sum(part) / len(part) for part in np.array_split(y, PARTS)]
    return [sum(means[k : k + WINDOW]) / WINDOW for k in range(len(means) - WINDOW + 1)]
