"""Short runs, how far two of them lie apart, and how fast a number shrinks with h."""

import warnings
from functools import cache

import numpy as np
import pytest

import nhlab as nh


@cache
def made(make, **options):
    """One System for all tests of a file, with the code generated for it."""
    return make(**options)


def name(x):
    """Of a function or a value, for the name of a test: the same in every process."""
    return getattr(x, "__name__", None) or repr(x)


def runs(*makers):
    return pytest.mark.parametrize("make", makers, ids=name)


def cases(pairs):
    ids = [f"{make.__name__} {method}" for make, method in pairs]
    return pytest.mark.parametrize("make, method", pairs, ids=ids)


def rows(system, method, q0=None, v0=None, h=0.05, steps=60, **options):
    return nh.integrate(system, method, q0, v0, h=h, steps=steps, **options).rows.array


def part(system, method, h=0.1, steps=40, **start):
    """The run, or as much of it as the method could compute."""
    try:
        return nh.integrate(system, method, h=h, steps=steps, **start)
    except nh.IntegrationError as error:
        return error.trajectory


# ---------------------------------------------------------------------------- measures


def spread(values):
    """How far a quantity moves from its first value."""
    return np.abs(values - values[0]).max()


def close(residual, tolerance):
    assert np.size(residual) and np.abs(residual).max() <= tolerance


def far(residual, tolerance):
    """The witness: the same check, failed by orders of magnitude."""
    assert np.abs(residual).max() > 1e4 * tolerance


def difference(a, b):
    """The largest difference of two arrays of rows, each column measured by its own size."""
    return (np.abs(a - b) / np.maximum(1, np.abs(b).max(0))).max()


def round_off(method):
    """EDLA's energy balance determines h only to eps/h^2."""
    return 1e-10 if method.variable_step else 1e-13


# ---------------------------------------------------------------------------- orders


@cache
def true_end(system, T):
    """Where the true motion is at T, shape (1, n)."""
    return nh.integrate(system, nh.Reference(), h=T, steps=1).q[1:]


def slope(system, method, T=2.0, first=40, count=4, **how):
    """The observed order, with step sizes T/first, T/(2 first), ..."""
    if not method.variable_step and how.get("start") != "q1":
        how.setdefault("reference", lambda _: true_end(system, T))
    hs = T / (first * 2 ** np.arange(count))
    return nh.diagnostics.order(system, method, T=T, hs=hs, **how).slope


def power(number, hs=(0.1, 0.05, 0.025)):
    """The power of h with which number(h) shrinks."""
    return np.polyfit(np.log(hs), np.log([number(h) for h in hs]), 1)[0]


# ---------------------------------------------------------------------------- refusals


def refused(call, *fragments):
    """The ValueError of a call; its message contains the fragments and is a sentence or two."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as error:
            call()
    message = str(error.value)
    for fragment in fragments:
        assert fragment in message, message
    assert type(error.value) is ValueError and 15 < len(message) < 600, message
    return message
