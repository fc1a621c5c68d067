"""Expressions as text: printed right, for CPython, NumPy and numba alike."""

import random
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from runs import difference, rows

import nhlab as nh
from nhlab.codegen.evaluate import Function
from nhlab.codegen.lines import python
from nhlab.codegen.printing import (
    MATH,
    NUMPY,
    PRELUDE,
    RESERVED,
    WRITTEN_OUT,
    Names,
    written_out,
)
from nhlab.codegen.statement import Statement
from nhlab.codegen.writing import generate

x, y, vx, vy = nh.symbols("x y vx vy")
a, b, c, e = nh.symbols("a b c e")
SCALAR = dict(MATH)
exec(PRELUDE, SCALAR)
POINTS = [{a: 0.7, b: -1.3, c: 2.1}, {a: -0.4, b: 0.9, c: 0.25}]
BASES = [a, a + b, a - b, a * c, -a, a / c, sp.sin(a) - c, a**2 + 1, 2 * a + sp.Rational(1, 3)]
POWERS = (sp.S.Half, -sp.S.Half, sp.Rational(3, 2), sp.Rational(-2, 3), sp.Float(0.7), c)
P = sp.Piecewise
OUTER = {  # as expressions in e, which any of the bases replaces
    "powers": [e**n for n in (-5, -4, -3, -2, -1, 2, 3, 4, 5)],
    "rational powers": [(e**2 + 1) ** r for r in POWERS],
    "circular": [f(e) for f in (sp.sin, sp.cos, sp.tan, sp.sec, sp.csc, sp.cot)],
    "hyperbolic": [f(e) for f in (sp.sinh, sp.cosh, sp.tanh, sp.asinh)],
    "inverse hyperbolic": [sp.acosh(e**2 + 2), sp.atanh(sp.sin(e) / 2)],
    "inverse": [sp.atan(e), sp.asin(sp.sin(e) / 2), sp.acos(sp.cos(e) / 2)],
    "two arguments": [sp.atan2(e, c), sp.atan2(b, e - 3)],
    "exponential": [sp.exp(e), sp.exp(-e), sp.log(e**2 + 1), 2**e, sp.exp(-2) * e],
    "signs": [sp.Abs(e), sp.sign(e), e * sp.Abs(e), -e * (-e - 1), 1 - e],
    "numbers": [sp.pi * e, e / 8, -e / 3, -2.5 * e, sp.sqrt(2) * e - sp.E, 10**25 * e, e / 7**30],
    "pieces": [
        P((e, e < 0), (e**2, e < 1), (sp.sin(e), True)),
        P((1, (e > -1) & (e < 1)), (e, True)),
        P((1, (e <= -1) | (e >= 1)), (e, True)),
        P((e, sp.Eq(e, 0)), (1 / e, True)),
        P((0, sp.Ne(e, b)), (e, True)),
        P((P((e, a < 0), (-e, True)), c > 1), (e + 1, True)) ** 2,
        P((1, P((e, e < 0), (e**2, True)) > 0.5), (e, True)),
    ],
}


def check(expression, rtol):
    """CPython and NumPy values of the printed text against SymPy's own, with 30 digits."""
    names = Names()
    text = python(expression, names)
    points = [{names[s]: x for s, x in point.items()} for point in POINTS]
    digits = [{s: sp.Float(x, 40) for s, x in point.items()} for point in POINTS]
    exact = [float(expression.subs(point).evalf(30)) for point in digits]
    scalars = [eval(text, dict(SCALAR), point) for point in points]
    arrays = {name: np.array([p[name] for p in points]) for name in points[0]}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(eval(text, dict(NUMPY), arrays), 2)
    for found in (scalars, values):
        np.testing.assert_allclose(found, exact, rtol=rtol, err_msg=f"{expression} as {text}")


@pytest.mark.parametrize("kind", OUTER)
def test_printing(kind):
    for outer in OUTER[kind]:
        for base in BASES:
            check(outer.subs(e, base), 1e-13)


def test_printing_of_nested_expressions():
    """Random combinations of all the above, with a little room for their condition."""
    rng = random.Random(3)
    outer = [f for kind, group in OUTER.items() for f in group if kind != "numbers"]
    smooth = [f for f in outer if not f.has(P)]
    done = 0

    def some(functions, inner):
        return rng.choice(functions).subs(e, inner)

    while done < 80:
        inner = rng.choice(BASES) + some(outer, rng.choice(BASES)) * rng.choice(BASES)
        whole = some(smooth, inner) - some(outer, rng.choice(BASES))
        if not whole.has(sp.I) and all(abs(whole.subs(point).evalf()) < 1e6 for point in POINTS):
            check(whole, 1e-9)
            done += 1


def test_piecewise_without_default_is_nan():
    """In generated code; a System refuses it at the door, and says what is missing."""
    V = P((a, a < 0), (2 * a, a < 1))
    np.testing.assert_array_equal(Function((a,), V)([-1, 0.5, 1.5]), [-1, 1, np.nan])


UNKNOWN = [sp.gamma(x), sp.Heaviside(x), sp.Max(x, 1), sp.floor(x), sp.besselj(0, x), sp.sech(x)]


@pytest.mark.parametrize("V", UNKNOWN, ids=str)
def test_unknown_functions_are_refused(V):
    with pytest.raises(ValueError, match=r"cannot generate code for .* nhlab knows"):
        rows(nh.System((x,), (vx,), vx**2 / 2 - V), nh.DLA(), [0.5], [0])


def test_complex_symbols_are_explained():
    q, v = sp.symbols("q v")  # not declared real: the derivative of Abs(q) is no function of q
    with pytest.raises(ValueError, match=r"cannot generate code .* all symbols real"):
        rows(nh.System((q,), (v,), v**2 / 2 - sp.Abs(q)), nh.DLA(), [0.5], [0])


def test_every_function_in_one_system(numba):
    """All functions at once through differentiation, common subexpressions and numba."""
    s = x / 3 + sp.Rational(1, 2)
    names = "sin cos tan exp log sinh cosh tanh asin acos atan asinh atanh sec csc cot Abs"
    V = sum(getattr(sp, name)(s) for name in names.split())
    V += sp.acosh(s + 1) + sp.atan2(s, y) + sp.sign(s) * x + s**5 + s ** sp.Rational(1, 3) + y**2
    V += P((y**3, y < 1), (3 * y - 2, (y >= 1) & (y < 2)), (4, True)) + 10**25 * y / 10**25
    system = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 - V / 10)
    start = ([0.1, 1.2], [0.2, -0.3])
    one = nh.integrate(system, nh.DLA(), *start, h=0.05, steps=40, backend="python")
    two = nh.integrate(system, nh.DLA(), *start, h=0.05, steps=40, backend="numba")
    assert one.q[0, 1] > 1 > one.q[-1, 1]  # over the seam of the Piecewise
    assert difference(one.rows.array, two.rows.array) < 1e-13
    true = nh.integrate(system, nh.Reference(), *start, h=2.0, steps=1).q[-1]
    half = nh.integrate(system, nh.DLA(), *start, h=0.025, steps=80)
    assert np.abs(half.q[-1] - true).max() < 0.3 * np.abs(one.q[-1] - true).max() < 1e-4


def test_integers_beyond_the_machine(numba):
    L = vx**2 / 2 - x**4 / 4
    one, two = (nh.System((x,), (vx,), factor * L) for factor in (10**25, 1))
    a, b = rows(one, nh.DLA(), [1], [0], backend="numba"), rows(two, nh.DLA(), [1], [0])
    assert difference(a[:, 0], b[:, 0]) < 1e-13


def test_a_function_brings_its_own_text():
    """As the functions of half the angle do, which mechanics hands over."""
    text = "def cubed_by_parts(n, z):\n    return where(z < 0.0, n*z, z*z*z)\n"

    @written_out(text)
    class Cubed(sp.Function):
        nargs = 2

    try:
        e = 2 * Cubed(sp.Integer(3), a + b)
        assert python(e, Names()) == "2.0*cubed_by_parts(3, a + b)"
        statement = Statement(nh.symbols("t"), nh.symbols("h"), (a,), (b,), (), (e,))
        generated = generate(statement)
        assert generated.count("def cubed_by_parts(n, z)") == 1
        assert "cubed_by_parts" not in generate(replace(statement, update=(a,)))
        space = {}
        exec(generated, space)
        assert space["step"](0.0, 0.1, 1.0, 1.0)[2] == 16.0
        assert space["step"](0.0, 0.1, -2.0, 1.0)[2] == -6.0
        values = Function((a, b), [e])(np.array([1.0, -2.0]), 1.0)
        assert values.ravel().tolist() == [16.0, -6.0]
        assert Names()[sp.Symbol("cubed_by_parts")] == "s_cubed_by_parts"
    finally:
        WRITTEN_OUT.pop(Cubed), NUMPY.pop("cubed_by_parts")
        RESERVED.discard("cubed_by_parts")
