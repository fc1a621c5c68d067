"""Each statement of the papers has a test that names it; see ledger.toml.

The test files are read, not collected, so that ``-k`` and parallel runs change nothing.
"""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parent / "notebooks"
CAPABILITIES = {"core", "symmetry", "lessons"}


def marks(node, kind):
    """Calls and names pytest.mark.<kind> within a decorator or an assignment."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and ast.unparse(part) == f"pytest.mark.{kind}":
            yield part


def ids(node):
    """The ids in every pytest.mark.ledger("...", "...") within a node."""
    ledgers = set(marks(node, "ledger"))
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and call.func in ledgers:
            for argument in call.args:
                yield ast.literal_eval(argument)


def established(text, file):
    """id -> tests that establish it; a test that is skipped or expected to fail does not."""
    found, tree = {}, ast.parse(text)
    whole_file = [x for node in tree.body if isinstance(node, ast.Assign)
                  and ast.unparse(node.targets[0]) == "pytestmark" for x in ids(node)]  # fmt: skip

    def visit(nodes, inherited):
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                visit(node.body, inherited + [x for d in node.decorator_list for x in ids(d)])
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                decorators = node.decorator_list
                if any(list(marks(d, kind)) for d in decorators for kind in ("skip", "xfail")):
                    continue
                for x in {*inherited, *(x for d in decorators for x in ids(d))}:
                    found.setdefault(x, []).append(f"{file}::{node.name}")

    visit(tree.body, whole_file)
    return found


def problems(statements, finished, tests, lessons):
    """What is wrong, in words; ``lessons`` maps the name of a notebook to its text."""
    for x in sorted(set(tests) - set(statements)):
        yield f"{tests[x][0]} names {x!r}, which is not in ledger.toml"
    for x, about in statements.items():
        name, capability, lesson = (
            f"{x} ({about['statement']})",
            about["capability"],
            about["lesson"],
        )
        if capability in finished and x not in tests:
            yield f"{name} belongs to {capability!r}, but has no test"
        if {capability, "lessons"} <= set(finished) and not mentions(lessons.get(lesson, ""), x):
            yield f"{name} is not mentioned in notebooks/{lesson}.ipynb"


def mentions(text, x):
    return re.search(rf"(?<![\w.-]){re.escape(x)}(?![\w-]|\.\d)", text) is not None


def sources(notebook):
    """Its text without the outputs, most of which are pictures."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def load():
    ledger = tomllib.loads((HERE / "ledger.toml").read_text())
    finished = ledger.pop("finished")
    return ledger, finished


def test_ledger():
    statements, finished = load()
    tests = {}
    for file in sorted(HERE.rglob("test_*.py")):
        for x, names in established(file.read_text(), file.name).items():
            tests.setdefault(x, []).extend(names)
    lessons = {file.stem: sources(file) for file in NOTEBOOKS.glob("*.ipynb")}

    for x, about in statements.items():
        told = "" if mentions(lessons.get(about["lesson"], ""), x) else ", not yet told there"
        print(f"{x}: {about['statement']} [{about['capability']}, {about['lesson']}{told}]")
        for name in tests.get(x, ["no test yet"]):
            print(f"    {name}")
    print(f"{sum(x in tests for x in statements)} of {len(statements)} statements have tests")

    assert len(statements) == 87
    assert set(finished) <= CAPABILITIES
    for about in statements.values():
        assert set(about) == {"statement", "capability", "lesson"}
        assert about["statement"] and about["capability"] in CAPABILITIES
        assert re.fullmatch(r"\d\db?_[a-z_]+|paper_figures", about["lesson"])
    found = list(problems(statements, finished, tests, lessons))
    assert not found, "\n".join(found)


# ---------------------------------------------------------------------------- the check can fail

SAMPLE = """
@pytest.mark.ledger("A-1", "A-2")
def test_one(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.ledger("A-3"))])
def test_two(x): ...

@pytest.mark.xfail
@pytest.mark.ledger("A-4")
def test_three(): ...

@pytest.mark.ledger("A-5")
def helper(): ...

class TestAll:
    @pytest.mark.ledger("A-1")
    def test_four(self): ...
"""


def test_reading_of_markers():
    found = established(SAMPLE, "f.py")
    assert set(found) == {"A-1", "A-2", "A-3"}
    assert found["A-1"] == ["f.py::test_one", "f.py::test_four"]
    later = established('pytestmark = pytest.mark.ledger("B")\ndef test_it(): ...', "g.py")
    assert later == {"B": ["g.py::test_it"]}


BOTH = {"A": ["t"], "A-F1": ["t"]}


@pytest.mark.parametrize(
    "finished, tests, lesson, complaint",
    [
        ([], {}, "", None),
        (["core"], {"A": ["t"]}, "", None),
        (["core"], {"A": ["t"], "X": ["f.py::t"]}, "", "f.py::t names 'X', which is not"),
        (["core"], {}, "", "A (a) belongs to 'core', but has no test"),
        (["core", "lessons"], BOTH, "A and A-F1", None),
        (["core", "lessons"], {"A": ["t"]}, "A, A-F1", "A-F1 (f) belongs to 'lessons', but has"),
        (["core", "lessons"], BOTH, "A-F1 but not the other", "A (a) is not mentioned in"),
        (["lessons"], BOTH, "A-F1", None),
    ],
)
def test_the_ledger_can_fail(finished, tests, lesson, complaint):
    statements = {
        "A": {"statement": "a", "capability": "core", "lesson": "01_x"},
        "A-F1": {"statement": "f", "capability": "lessons", "lesson": "01_x"},
    }
    found = list(problems(statements, finished, tests, {"01_x": lesson}))
    assert len(found) == (complaint is not None)
    assert complaint is None or found[0].startswith(complaint)
