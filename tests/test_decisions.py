"""The page of decisions: every number on it is the one in the code, and no number is missing."""

import ast
import math
import numbers
import re
from importlib import import_module
from pathlib import Path

import pytest

from nhlab.methods.method import component_sizes
from nhlab.run.explain import energy_jump, hidden_energy

HOUSE = Path(__file__).resolve().parents[1] / "nhlab"
PAGE = HOUSE.parent / ".github/DECISIONS.md"
# What view and course have is taste.
ROOMS = ("codegen", "mechanics", "methods", "run", "geometry", "browser")
NO_DECISION = {  # module -> names of what could not be another number
    "codegen/cache.py": "DAY",  # seconds
    "codegen/careful.py": "EPS",
    "codegen/generate.py": "ARGUMENTS RUN STEP",  # an order
    "codegen/graph.py": "NUMBER",  # below all others in this order
    "codegen/lines.py": "CONDITION SUM PRODUCT ATOM",  # an order
    "codegen/javascript.py": "CHOICE OR AND COMPARED SUM PRODUCT UNARY ATOM",  # an order
    "mechanics/checks.py": "UNSET",
    "mechanics/display.py": "WIDTH",  # of a line of text
    "mechanics/groups.py": "BASIS",
    "methods/composition.py": "SUZUKI KAHAN_LI FACTORS",  # from the literature
    "run/dop853.py": "STATE SOLVED SINGULAR STUCK",  # places and marks
    "run/events.py": "EPS",
    "run/html.py": "WIDTH HEIGHT POINTS CURVES",
    "geometry/symmetry.py": "H",
    "browser/script.py": "ALPHA",  # stands for another
    "browser/book.py": "NODES",  # nodes of the run that letters stand for
    "browser/page.py": "HALF",  # a layout
}


def decided():
    """(module, name) -> (the value on the page, the reason)."""
    rows = re.findall(r"^\| (\w+/\w+\.py) \| (\w+) \| (.+?) \| (.+) \|$", PAGE.read_text(), re.M)
    return {(module, name): (ast.literal_eval(value), why) for module, name, value, why in rows}


def is_numeric(x):
    if isinstance(x, dict):
        return bool(x) and all(map(is_numeric, x.values()))
    if isinstance(x, (tuple, list)):
        return bool(x) and all(map(is_numeric, x))
    return isinstance(x, numbers.Real) and not isinstance(x, bool)


def constants():
    """(module, name) -> value of every number in capitals at the top of a module."""
    for file in (f for room in ROOMS for f in sorted((HOUSE / room).glob("*.py"))):
        module = file.relative_to(HOUSE).as_posix()
        space = vars(import_module(f"nhlab.{file.parent.name}.{file.stem}"))
        assigned = (x for x in ast.parse(file.read_text()).body if isinstance(x, ast.Assign))
        names = [x.id for a in assigned for t in a.targets for x in ast.walk(t) if hasattr(x, "id")]
        for name in names:
            if name.isupper() and is_numeric(space[name]):
                yield (module, name), space[name]


def test_the_page_has_the_numbers_of_the_code():
    found = decided()
    assert len(found) > 40
    for (module, name), (value, why) in found.items():
        real = getattr(import_module(f"nhlab.{module[:-3].replace('/', '.')}"), name)
        assert real == value, f"{module} {name}: the page says {value}, the code {real}"
        assert len(why.split()) >= 4 and why[-1] == ".", f"{name}: {why}"


def test_every_number_of_the_code_is_on_the_page():
    listed = {
        *decided(),
        *((m, name) for m, names in NO_DECISION.items() for name in names.split()),
    }
    there = dict(constants())
    assert there.keys() - listed == set(), "give each a line with its reason in DECISIONS.md"
    assert listed - there.keys() == set(), "these are no longer in the code"


def test_the_guide_leads_to_the_page():
    assert "DECISIONS.md" in (HOUSE.parent / ".github/CONTRIBUTING.md").read_text()


def test_the_numbers_in_functions_that_pages_translate():
    text = PAGE.read_text().split("## In functions")[1]
    assert component_sizes([1.0, 0.0], [0.0, 0.0], 0.1)[1] == 1e-6 and "1e-6 of the largest" in text
    assert math.sqrt(hidden_energy(1.0, 1.0)) == pytest.approx(1e-12) and "1e-12 p" in text
    for far, jumped in ((9.9, False), (10.1, True)):  # kinetic energy 1, no difference of V
        assert bool(energy_jump(1.0, 1.0, 1.0 + far, 0.0, 0.0, 0.0, 0.0)[1]) is jumped
    assert "10 times" in text
