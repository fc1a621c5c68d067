"""Running a generated text under CPython, on NumPy arrays, or compiled by numba; and its cache."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import linecache
import os
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

import numpy as np
import sympy as sp

from .generate import generate
from .printing import NUMPY


def cache_dir():
    """The folder of generated texts and compiled code, or None where none can be written."""
    root = os.environ.get("NHLAB_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) if root else Path(base) / "nhlab"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _fingerprint():
    """Changes when the code that generates texts changes, so that no stale text is used."""
    rooms = (Path(__file__).parents[1] / x for x in ("codegen", "mechanics", "methods", "geometry"))
    files = sorted(f for room in rooms for f in room.glob("*.py"))
    return b"".join(f.read_bytes() for f in files) + sp.__version__.encode()


class Cache:
    """Generated code by key, each piece made when it is first asked for."""

    def __init__(self):
        self._made = {}

    def __call__(self, key, make):
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


class Program:
    """The generated text of one statement and the three ways to run it."""

    def __init__(self, key, make_statement, make_text=None):
        digest = hashlib.sha256(key.encode() + _fingerprint()).hexdigest()[:24]
        self.name = f"nhlab_step_{digest}"
        self._make_statement = make_statement
        self._make_text = make_text or (lambda: generate(self.statement))

    @cached_property
    def statement(self):
        return self._make_statement()

    @cached_property
    def path(self):
        """The file that holds the text, written once; None without a cache folder."""
        folder = cache_dir()
        return folder / f"{self.name}.py" if folder else None

    @cached_property
    def text(self):
        if self.path is not None and self.path.exists():
            return self.path.read_text()
        text = self._make_text()
        if self.path is not None:
            draft = self.path.with_suffix(f".{os.getpid()}.tmp")
            try:
                draft.write_text(text)
                draft.replace(self.path)  # atomic: another process sees all of it or nothing
            except OSError:
                self.path = None
        return text

    def _execute(self, code=None):
        space = {"__name__": self.name}
        file = f"<{self.name}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(True), file)
        exec(compile(code or self.text, file, "exec"), space)
        return space

    @cached_property
    def step(self):
        """``step`` as a CPython function of numbers."""
        return self._execute()["step"]

    def one_step(self, *numbers):
        """``step`` of one state; (False,) where CPython raises and NumPy would go on."""
        step = self.step
        try:
            return step(*numbers)
        except (ZeroDivisionError, OverflowError, ValueError):
            return (False,)

    @cached_property
    def python(self):
        """``run`` as a CPython function of floats and lists."""
        return self._execute(_for_cpython(self.text))["run"]

    @cached_property
    def numpy(self):
        """``step`` as a function of arrays: many states at once."""
        space = self._execute()
        space.update(NUMPY)
        step = space["step"]  # of Python's floats NumPy's, which divide by zero without raising
        return lambda *args: step(*(np.float64(a) if type(a) in (int, float) else a for a in args))

    @cached_property
    def numba(self):
        """``run`` compiled; the machine code is kept beside the text and survives restarts."""
        import numba

        text = self.text  # writes the file
        if self.path is None:
            space, cache = self._execute(), False
        else:
            spec = importlib.util.spec_from_file_location(self.name, self.path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[self.name] = module  # numba's cache looks the module up while executing
            exec(compile(text, str(self.path), "exec"), module.__dict__)
            space, cache = module.__dict__, True
        used = [f for f in ("all_", "where", "sign", "half_angle", "substep", "step") if f in space]
        for name in used:
            inline = name != "half_angle"  # a loop, long to compile at each call
            space[name] = numba.njit(space[name], error_model="numpy", forceinline=inline)
        return numba.njit(space["run"], error_model="numpy", nogil=True, cache=cache)

    def is_compiled(self):
        return "numba" in self.__dict__

    def is_cached(self):
        """True if an earlier process left compiled code."""
        folder = self.path and self.path.parent / "__pycache__"
        return bool(folder) and any(folder.glob(f"{self.name}.run-*.nbi"))


class _Scalar(ast.NodeTransformer):
    """What serves arrays as well, written for floats: ``and`` for ``&``, ``a if c else b``, 2.0 for
    2, for CPython has fast paths for two floats only, and a constant tuple for a range."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        junction = {ast.BitAnd: ast.And, ast.BitOr: ast.Or}.get(type(node.op))
        if junction:
            return ast.BoolOp(junction(), [node.left, node.right])
        for side in (node.left, node.right):
            number = getattr(side, "operand", side)  # of -2
            if isinstance(number, ast.Constant):
                number.value = float(number.value)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if node.func.id == "all_":
            return node.args[0]
        if node.func.id == "range" and isinstance(node.args[0], ast.Constant):
            return ast.Constant(tuple(range(*(x.value for x in node.args))))
        return ast.IfExp(*node.args) if node.func.id == "where" else node


def _for_cpython(text):
    """``run`` as CPython likes it: for numbers, with the body of ``step`` in the place of its call,
    what is constant before the loop, and a list ``out`` that is extended by rows.

    ``generate`` lets the two functions share no other names.
    """
    module = _Scalar().visit(ast.parse(text))
    step, run = (f for f in module.body if getattr(f, "name", "") in ("step", "run"))
    loop = next(x for x in run.body if isinstance(x, ast.While))
    call = next(k for k, x in enumerate(loop.body) if "new" in _names(x, ast.Store))
    *lines, result = step.body
    ok, *new = result.value.elts
    stop, unpack = loop.body[call + 1 : call + 3]
    stop.test = ast.UnaryOp(ast.Not(), ok)
    update = _in_turn(zip(unpack.targets[0].elts[1:], new, strict=True))
    loop.body[call : call + 3] = [*lines, stop, *update]

    store = loop.body[-1].body  # left = every; row += 1; out[row, 0] = ...; ...
    row = ast.Tuple([x.value for x in store[2:]], ast.Load())
    store[1:] = [ast.AugAssign(ast.Name("out", ast.Store()), ast.Add(), row)]

    assigned = Counter(_names(loop, ast.Store))
    constant = [x for x in lines if isinstance(x, ast.Assign) and _is_constant(x, assigned)]
    loop.body = [x for x in loop.body if x not in constant]
    if "t" not in _names(loop, ast.Load):
        del loop.body[0]  # t = t0 + n*h
    where = run.body.index(loop)
    run.body[where:where] = constant
    module.body.remove(step)
    return ast.fix_missing_locations(module)


def _in_turn(pairs):
    """Assignments that do what assigning all at once would do, one after the other if possible."""
    pairs = [(x, e, {*_names(e, ast.Load)}) for x, e in pairs if getattr(e, "id", None) != x.id]
    uses = Counter(name for *_, used in pairs for name in used)
    while pairs:
        free = (k for k, (x, _, used) in enumerate(pairs) if uses[x.id] == (x.id in used))
        k = next(free, None)
        if k is None:  # each is needed by another
            names, values, _ = zip(*pairs, strict=True)
            yield ast.Assign([ast.Tuple([*names], ast.Store())], ast.Tuple([*values], ast.Load()))
            return
        x, e, used = pairs.pop(k)
        uses.subtract(used)
        yield ast.Assign([x], e)


def _names(tree, context):
    return [x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, context)]


def _is_constant(line, assigned):
    """True if the line alone assigns its name and needs no name that is assigned; then its own no
    longer counts as such."""
    target = line.targets[0]
    if not isinstance(target, ast.Name) or assigned[target.id] > 1:
        return False
    if any(assigned[x] for x in _names(line.value, ast.Load)):
        return False
    del assigned[target.id]
    return True
