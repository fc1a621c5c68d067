"""The rooms of the house: each imports only rooms above it, at the top of a file."""

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[1] / "nhlab"
ROOMS = ["codegen", "mechanics", "methods", "run", "geometry", "view", "course"]
FILES = [f for room in ROOMS for f in sorted((HOUSE / room).rglob("*.py"))]


def imported(file):
    """(line number, nhlab's room, inside a function) for each import of nhlab in a file."""
    tree, package = ast.parse(file.read_text()), file.relative_to(HOUSE.parent).parts
    for function in [None, *(f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef))]:
        for node in ast.walk(function or tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                parts = (*package[: len(package) - node.level], *(node.module or "").split("."))
                names = [x.name for x in node.names] if parts[1:] == ("",) else [parts[1]]
                yield from ((node.lineno, name, function is not None) for name in names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [getattr(node, "module", None), *(x.name for x in node.names)]
                for name in (x for x in names if x and x.split(".")[0] == "nhlab"):
                    yield node.lineno, name.split(".")[1], function is not None


def test_every_module_lives_in_a_room():
    assert {f.name for f in HOUSE.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert {f.parent.name for f in HOUSE.glob("*/*.py")} == set(ROOMS)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(HOUSE)))
def test_a_room_imports_only_rooms_above_it(file):
    own = ROOMS.index(file.relative_to(HOUSE).parts[0])
    for line, room, late in imported(file):
        assert ROOMS.index(room) <= own, f"{file}:{line} imports from {room}"
        assert not late, f"{file}:{line} imports from {room} inside a function"
