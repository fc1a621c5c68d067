"""Short runs, and how far two of them lie apart."""

from functools import cache

import numpy as np
import pytest

import nhlab as nh


@cache
def made(make):
    """One System for all tests of a file, with the code generated for it."""
    return make()


def runs(*makers):
    return pytest.mark.parametrize("make", makers, ids=lambda f: f.__name__)


def cases(pairs):
    ids = [f"{make.__name__} {method}" for make, method in pairs]
    return pytest.mark.parametrize("make, method", pairs, ids=ids)


def rows(system, method, q0=None, v0=None, h=0.05, steps=60, **options):
    return nh.integrate(system, method, q0, v0, h=h, steps=steps, **options).rows.array


def difference(a, b):
    """The largest difference of two arrays of rows, each column measured by its own size."""
    return (np.abs(a - b) / np.maximum(1, np.abs(b).max(0))).max()


def round_off(method):
    """EDLA's energy balance determines h only to eps/h^2."""
    return 1e-10 if method.variable_step else 1e-13
