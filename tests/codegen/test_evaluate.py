"""Tables of expressions as functions of arrays: shapes, broadcasting, abbreviations."""

import numpy as np
import pytest
import sympy as sp

from nhlab.codegen.evaluate import Function
from nhlab.codegen.statement import dummy

t, x, y, k = sp.symbols("t x y k", real=True)
TABLES = [x * y + t, [x, sp.sin(y)], [[x, y, 1], [t, 0, x * y]], [[1, 2.5]], [], [[], []]]
VALUES = [1.5, [0.5, np.sin(2)], [[0.5, 2, 1], [0.5, 0, 1]], [[1, 2.5]], [], [[], []]]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("table, exact", [*zip(TABLES, VALUES, strict=True)])
def test_shapes(table, exact, shape):
    """The shape of the states, then that of the table; values at t = x = 1/2, y = 2."""
    f, scale = Function((t, (x, y)), table), np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    found = f(0.5 * scale, scale[..., None] * [0.5, 2])
    assert found.shape == (*shape, *np.shape(exact))
    np.testing.assert_allclose(f(0.5, [0.5, 2]), exact, rtol=1e-15)
    for i in np.ndindex(shape):
        np.testing.assert_allclose(
            found[i], f(scale[i] / 2, np.array([0.5, 2]) * scale[i]), rtol=1e-15
        )


def test_arguments_broadcast():
    f = Function((t, (x, y), k), [x + t, y * k])
    q = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(f(1, q, 2), q * [1, 2] + [1, 0])
    np.testing.assert_array_equal(f([[0], [1]], q, 2), [q * [1, 2], q * [1, 2] + [1, 0]])
    np.testing.assert_array_equal(f(0, [3, 4], [1, 2, 3]), [[3, 4], [3, 8], [3, 12]])
    assert isinstance(Function((x,), x**2)(3), float)
    with pytest.raises(ValueError):
        f(np.zeros(2), q, 2)
    root = Function((x,), [1 / x, sp.log(x), sp.sqrt(x)])
    with np.errstate(all="ignore"):  # numbers divide by zero as arrays do
        np.testing.assert_array_equal(root(0.0), root([0.0])[0])
        assert np.isinf(root(0.0)[0]) and np.isnan(root(-1.0)[1:]).all()


def test_abbreviations_are_computed_in_turn():
    """Only those needed: the last one would divide by zero."""
    a, b, c = (dummy("same name") for _ in range(3))
    f = Function((x, y), [b, a * b], [(a, x + y), (b, a**2), (c, 1 / (x - x * y / y))])
    np.testing.assert_array_equal(f([1.0, 2.0], 3.0), [[16, 64], [25, 125]])


def test_what_is_not_defined_shows_in_the_values():
    x = sp.Symbol("x")
    with np.errstate(all="raise"):
        values = Function((x,), [1 / x, sp.log(x), sp.exp(x)])(np.array([0.0, -1.0, 1e4]))
    assert values[0, 0] == np.inf and np.isnan(values[1, 1]) and values[2, 2] == np.inf
