"""The rooms of the house: each imports only rooms above it, and what is read first is short."""

import ast
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1] / "nhlab"
ROOMS = ["codegen", "mechanics", "methods", "run", "geometry", "view", "course"]
FILES = [f for room in ROOMS for f in sorted((HOUSE / room).rglob("*.py"))]
PLAIN = HOUSE / "plain.py"  # it belongs to no room and imports none: a reader may copy it


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
    assert {f.name for f in HOUSE.glob("*.py")} == {"__init__.py", "__main__.py", "plain.py"}
    assert {f.parent.name for f in HOUSE.glob("*/*.py")} == set(ROOMS)


def test_a_room_imports_only_rooms_above_it():
    for file in FILES:
        own = ROOMS.index(file.relative_to(HOUSE).parts[0])
        for line, room, late in imported(file):
            if room == PLAIN.stem:  # above all rooms, since it imports none
                continue
            assert ROOMS.index(room) <= own, f"{file}:{line} imports from {room}"
            assert not late, f"{file}:{line} imports from {room} inside a function"


def test_the_plain_program_imports_no_room():
    assert list(imported(PLAIN)) == []


def test_the_path_of_one_call_can_be_read_in_an_evening():
    path = "mechanics/system mechanics/symbolic mechanics/discrete methods/dla codegen/statement "
    path += "codegen/generate run/start run/loop run/trajectory"
    lines = {name: len((HOUSE / f"{name}.py").read_text().splitlines()) for name in path.split()}
    assert sum(lines.values()) <= 1_900, lines


def test_a_function_fits_on_a_screen():
    for file in [*FILES, PLAIN]:
        for f in ast.walk(ast.parse(file.read_text())):
            if isinstance(f, ast.FunctionDef):
                assert f.end_lineno - f.lineno <= 45, f"{file}:{f.lineno} {f.name}"
