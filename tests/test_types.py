"""Annotations: every public function has them, and a strict checker knows every public type.

So have the files that a contributor reads first, public or not, and a checker reads these too.
"""

import ast
import inspect
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest
import surface

PROJECT = Path(__file__).resolve().parents[1]
STUBBED = (
    "nhlab.plain",
)  # its types are in plain.pyi, the file itself is 250 lines of mathematics

OPTIONAL = {"x.to_xarray": "xarray"}  # whose types are unknown where the package is missing


def lacks(f: FunctionType) -> list[str]:
    """What a function leaves without an annotation: arguments, or its result."""
    call = inspect.signature(f)
    bare = [x.name for x in call.parameters.values() if x.annotation is x.empty]
    bare += ["return"] if call.return_annotation is call.empty else []
    return [x for x in bare if x not in ("self", "cls")]


def public_functions() -> dict[str, FunctionType]:
    things = [
        *surface.named().values(),
        *(f for c in surface.classes() for f in surface.functions(c)),
    ]
    found = (inspect.unwrap(x) for x in things if callable(x))
    own = {f for f in found if isinstance(f, FunctionType) and surface.is_own(f)}
    stated = {f for f in own if f.__module__ not in STUBBED and f.__code__.co_filename[0] != "<"}
    return {f"{f.__module__}.{f.__qualname__}": f for f in stated}


def test_every_public_function_is_annotated():
    found = public_functions()
    missing = {name: lacks(f) for name, f in sorted(found.items()) if lacks(f)}
    assert len(found) > 400 and not missing, missing


def check(folder: Path, code: str) -> list[tuple[str, str]]:
    """What pyright complains of: (line of the code, message)."""
    (folder / "client.py").write_text(code)
    settings = {"include": ["client.py"], "extraPaths": [str(PROJECT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    call = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    shown = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    found, lines = json.loads(shown.stdout), code.splitlines()
    assert found["summary"]["filesAnalyzed"] == 1
    problems = found["generalDiagnostics"]
    return [(lines[x["range"]["start"]["line"]].strip(), x["message"]) for x in problems]


@pytest.fixture(scope="module")
def pyright() -> None:
    """Skip where pyright cannot run: it needs Node, and fetches its own program when first used."""
    pytest.importorskip("pyright")
    tried = subprocess.run([sys.executable, "-m", "pyright", "--version"], capture_output=True)
    if tried.returncode:
        pytest.skip("pyright has no Node here: pip install 'pyright[nodejs]'")


MISTAKES = """
def wrong(sol: nh.Trajectory) -> None:
    nh.DLA(alfa=0.5)
    sol.enrgy
    nh.integrate(nh.systems.robot(a=1), nh.DLA(), h="small")
"""


def test_a_strict_checker_knows_every_public_type(pyright, tmp_path):
    code = surface.client() + MISTAKES
    found = check(tmp_path, code)
    wrong = [line for line, _ in found]
    expected = [x.strip() for x in MISTAKES.strip().splitlines()[1:]]
    assert set(wrong) >= set(expected), "mistakes of a user that were not found"
    allowed = [*expected, *(line for line, package in OPTIONAL.items() if not find_spec(package))]
    unknown = [x for x in found if x[0] not in allowed]
    assert not unknown, unknown


# ---------------------------------------------------------------------------- what is read first

READ_FIRST = [
    *(PROJECT / f"nhlab/codegen/{x}.py" for x in "kinds statement graph elimination".split()),
    *(PROJECT / f"nhlab/codegen/{x}.py" for x in "generate lines writing program".split()),
    *sorted((PROJECT / "nhlab/methods").glob("*.py")),
]
# SymPy says Basic of what xreplace and args give, where we know an expression; and a class
# attribute may take the place of a property that says what is usual, as ``order = 4`` does.
OF_SYMPY = re.compile(r"\bBasic\b")
IN_PLACE = {"reportIncompatibleMethodOverride", "reportIncompatibleVariableOverride"}
WRONG = """
from nhlab.codegen.generate import Plan
from nhlab.codegen.statement import Stage
from nhlab.methods.method import Frame

Stage(unknowns=3, equations=(), guess=())
Plan("a statement")
Frame("a system")
"""


def test_the_files_read_first_are_annotated():
    names = "codegen", "mechanics", "run", "geometry"
    rooms = (f for room in names for f in (PROJECT / "nhlab" / room).glob("*.py"))
    for file in {*READ_FIRST, *rooms}:
        for f in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(f, ast.FunctionDef):
                arguments = [*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs]
                arguments += [x for x in (f.args.vararg, f.args.kwarg) if x]
                bare = [x.arg for x in arguments if not x.annotation]
                bare = [x for x in bare if x not in ("self", "cls")]
                assert not bare and f.returns, f"{file}:{f.lineno} {f.name} {bare}"


def test_a_checker_agrees_with_the_files_read_first(pyright, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    call = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    call += map(str, [*READ_FIRST, wrong])
    shown = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True)
    found = json.loads(shown.stdout)
    assert found["summary"]["filesAnalyzed"] == len(READ_FIRST) + 1
    problems = [
        (x["file"], x["range"]["start"]["line"] + 1, x["message"])
        for x in found["generalDiagnostics"]
        if x.get("rule") not in IN_PLACE and not OF_SYMPY.search(x["message"])
    ]
    mistakes = {line for file, line, _ in problems if file == str(wrong)}
    assert mistakes == {6, 7, 8}, "mistakes that were not found"
    assert [x for x in problems if x[0] != str(wrong)] == []
