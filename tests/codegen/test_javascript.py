"""Python text in JavaScript: run by node and compared with what Python makes of it."""

import inspect
import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from nhlab.browser.book import runtime
from nhlab.codegen.javascript import of_function, translated

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")


def node(text):
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert not run.stderr, run.stderr
    return json.loads(run.stdout)


TEXT = """
from math import sin, cos, fabs, pow, sqrt


def where(condition, a, b):
    return a if condition else b


def step(new, let, h, lam_0, function, this):
    var = new - (let - h) - -lam_0
    a, b = let, new
    a, b = b, a
    default = -(a*b)/h*(2.0 - -1.5) - function/(this/h)
    ok = (a < b) & (h > 0.0) | (not a > 7.0 and b == b)
    delete = 0.0
    for _ in range(1, 4):
        delete = delete + pow(h, _)
        if delete > 1.5:
            break
    for part in (0.5, -0.25):
        delete = delete*part
    n = 7 // 2 + 7 % 4
    while n > 3:
        n -= 1
    return ok, var, a, b, default, delete, n, where(a > b, sin(h), cos(h)), 1e-09, sqrt(fabs(-h))
"""


@needs_node
def test_words_of_javascript_are_names_and_signs_keep_their_places():
    given = 1.25, 0.5, 0.3, -2.0, 3.0, 0.7
    space = {}
    exec(TEXT, space)
    text = translated(TEXT, "step")
    found = node(f"{text}\nconsole.log(JSON.stringify(step({', '.join(map(str, given))})));")
    expected = space["step"](*given)
    assert found[0] is bool(expected[0])
    assert found[1:] == pytest.approx(expected[1:], rel=1e-15)


def test_only_what_is_called_is_translated():
    assert "where" not in translated(TEXT.replace("where(a > b, sin(h), cos(h))", "a"), "step")


@pytest.mark.parametrize(
    "line", ["y = gamma(x)", "y = np.linalg.norm(x)", "with x: y = 1", "y = x @ x", "y = {**x}"]
)
def test_what_is_unknown_is_refused(line):
    with pytest.raises(ValueError, match="JavaScript"):
        translated(f"def f(x):\n    {line}\n    return y\n", "f")


LIMIT = 3


def longest(found, name="curve", high=2.0):
    """Uses much of what judges of figures use."""
    size = {k: np.abs(y).max() for k, y in found.items() if k != "skipped"}
    last = size.pop("last")
    first, second = np.array_split(found["last"], 2)
    others = ", ".join(f"{k} {x:.2e}" for k, x in size.items())
    low = 0.1 < last / LIMIT < high and not max(size.values()) > 1e9
    return (
        low,
        f"{name}: {others}; {last:.3g} {'up' if second[-1] > first[0] else 'down'}",
        np.ptp(found["last"]),
    )


@needs_node
def test_functions_of_arrays_as_judges_are():
    found = {"a": [-1e-7, 3e-8], "skipped": [9.0], "last": [1.0, 2.5, -3.75]}
    expected = longest({k: np.array(y) for k, y in found.items()}, high=3.0)
    text = of_function(partial(longest, name="curve", high=3.0), "f")
    got = node(f"{runtime()}\n{text}\nconsole.log(JSON.stringify(f({json.dumps(found)})));")
    assert got == [bool(expected[0]), expected[1], expected[2]]
    assert "const LIMIT = 3;" in text and inspect.isfunction(longest)


def typed(x: Sequence[float], low: float = 1.0) -> float:
    return x[0] + low


@needs_node
def test_annotations_are_left_out():
    text = of_function(typed, "f")
    assert "Sequence" not in text
    assert node(f"{text}\nconsole.log(JSON.stringify(f([2.0])));") == 3


@needs_node
def test_numbers_are_written_as_python_writes_them():
    # no ties, which Python rounds to the even digit; below 1e21, from where on both write powers
    numbers = [0.0, 1.0, -2.4, 123456.0, 1234567.0, 0.00012345, 1.2345e-5, 9.9996, 6e-17, 99.51]
    numbers += np.random.default_rng(1).lognormal(0, 8, 50).tolist() + [math.nan, math.inf]
    specs = [".0e", ".1e", ".2e", ".4f", ".2g", ".4g", ".6g", ".3g"]
    said = json.dumps(numbers).replace("Infinity", "1/0")
    found = node(
        f"{runtime()}\nconsole.log(JSON.stringify({said}.map(x => "
        f"{json.dumps(specs)}.map(spec => py.format(x, spec)))));"
    )
    assert found == [[format(x, spec) for spec in specs] for x in numbers]
