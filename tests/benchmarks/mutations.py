"""How many small mistakes in a room its tests notice: random changes of the code, one at a time.

    python tests/benchmarks/mutations.py codegen                 40 changes, the tests of its folder
    python tests/benchmarks/mutations.py codegen --count 10 --seed 2
    python tests/benchmarks/mutations.py codegen tests/codegen tests/run/test_export.py  by these

Needs coverage (``pip install coverage``).  The tests run once to learn which of them execute which
lines; then, for each change, those that execute the line run until one fails, the quickest first.
What survives is printed: a change that makes a difference lacks a test.  Some make none: another
start of a search, a tolerance that nothing comes near, a value that is only a hint.

Works in a copy of the project, on one processor.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LEFT_OUT = "node_modules", ".git", "build", "notebooks", "figures", "__pycache__"
TIMEOUT = 300  # seconds: a change that makes a loop endless is noticed
OTHERS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def change(node):
    """A copy of a node with one thing changed; None if there is nothing to change."""
    new = copy.deepcopy(node)
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OTHERS:
        new.op = OTHERS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        new.ops[0] = OTHERS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        new = node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        new.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        new.value = node.value + 1 if abs(node.value) < 100 else node.value / 1000
    else:
        return None
    return new


def places(file):
    """(node, its change) for all that can be changed, outside of annotations and f-strings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))

    def visit(node):
        new = change(node)
        if new is not None:
            yield node, new
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns") or isinstance(node, ast.JoinedStr):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from visit(child)

    return list(visit(tree))


def changed(text, node, new):
    """The text with a node replaced; positions are counted in bytes."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = text.encode()
    return (whole[:start] + b"(" + ast.unparse(new).encode() + b")" + whole[end:]).decode()


class Copy:
    """A copy of the project whose files are changed, with what its tests execute.

    tests : (file, line) -> the tests that execute it, the quickest first
    """

    def __init__(self, room, tests):
        self.folder = Path(tempfile.mkdtemp(prefix="nhlab-mutations-")) / "project"
        shutil.copytree(PROJECT, self.folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        # Without a folder for texts, each test generates its own and executes what it depends on.
        own = {"PYTHONPATH": str(self.folder), "NHLAB_CACHE_DIR": os.devnull}
        self.environment = os.environ | own
        self.room, self.targets = room, tests or [f"tests/{room}"]
        self.tests = self.record()

    def pytest(self, *words, before=()):
        command = [sys.executable, *before, "-m", "pytest", "-q", "-p", "no:xdist"]
        command += ["-p", "no:cacheprovider", "-m", "not slow and not browser and not site", *words]
        how = {"cwd": self.folder, "env": self.environment, "capture_output": True, "text": True}
        return subprocess.run(command, timeout=None if before else TIMEOUT, **how)

    def record(self):
        """Run all tests once under coverage."""
        from coverage import CoverageData

        data, settings = self.folder / "executed", self.folder / "coveragerc"
        settings.write_text(
            f"[run]\nsource = nhlab/{self.room}\ndata_file = {data}\n"
            "dynamic_context = test_function\n"
        )
        how = ["--durations=0", "-vvv", *self.targets]  # beside -q: those of 0.00 s, too
        run = self.pytest(*how, before=["-m", "coverage", "run", f"--rcfile={settings}"])
        if run.returncode:
            raise SystemExit(f"the tests fail before anything is changed:\n{run.stdout[-2000:]}")
        seconds, files = defaultdict(float), {}
        for s, file, name in re.findall(r"([\d.]+)s call +(\S+?)::([\w:]+)", run.stdout):
            test = f"{Path(file).stem}.{name.replace('::', '.')}"
            seconds[test] += float(s)
            files[test] = f"{file}::{name}"
        executed, tests = CoverageData(str(data)), {}
        executed.read()
        for file in executed.measured_files():
            for line, names in executed.contexts_by_lineno(file).items():
                own = sorted((x for x in names if x in files), key=seconds.__getitem__)
                tests[Path(file).relative_to(self.folder), line] = [files[x] for x in own]
        self.all = [files[x] for x in sorted(files, key=seconds.__getitem__)]
        return tests

    def judge(self, file, node, new):
        """ "killed", "survived", or "not executed"."""
        path = self.folder / file
        lines = range(node.lineno, node.end_lineno + 1)
        tests = [x for line in lines for x in self.tests.get((file, line), [])]
        if not tests:  # it is executed when the module is imported, if at all
            if not any((file, line) in self.tests for line in lines):
                return "not executed"
            tests = self.all
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(changed(text, node, new), encoding="utf-8")
            run = self.pytest("-x", *dict.fromkeys(tests))
            return "killed" if run.returncode else "survived"
        except subprocess.TimeoutExpired:
            return "killed"
        finally:
            path.write_text(text, encoding="utf-8")


def main(room, tests, count, seed):
    os.nice(10)
    project = Copy(room, tests)
    files = sorted(x.relative_to(PROJECT) for x in (PROJECT / "nhlab" / room).glob("*.py"))
    every = [(file, *place) for file in files for place in places(PROJECT / file)]
    score = defaultdict(int)
    for file, node, new in random.Random(seed).sample(every, count):
        verdict = project.judge(file, node, new)
        score[verdict] += 1
        if verdict != "killed":
            line = (PROJECT / file).read_text(encoding="utf-8").splitlines()[node.lineno - 1]
            print(f"{verdict}: {file}:{node.lineno} {line.strip()}")
            print(f"    {ast.unparse(node)}  ->  {ast.unparse(new)}", flush=True)
    print(f"{room}: {score['killed']} of {count} changes are noticed", dict(score))
    shutil.rmtree(project.folder.parent)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    main(options.room, options.tests, options.count, options.seed)
