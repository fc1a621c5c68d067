"""What the panel of a lesson computes, as code: its function without the drawing."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from matplotlib.artist import Artist

from ..mechanics.system import System
from ..methods.method import Method
from ..run.trajectory import Trajectory
from ..view.as_code import lines_of_system
from ..view.picture import Picture
from ..view.recall import plain
from ..view.setting import as_call, written

MOST, LONG = 24, 10_000  # numbers of an array, and letters, that a reader is shown


class Unwritten(ValueError):
    """Something that has no text of its own."""


def code_of(update: Callable) -> Callable[[dict], str] | None:
    """Values of the sliders -> the function of a panel called with them, without what it draws.

    What it says of the run is printed.  The names that it takes from where it was written are
    imported, and the values that it was given are written down; None if one of these cannot be.
    """
    try:
        text = _text(update)
    except (Unwritten, OSError, SyntaxError):
        return None
    if len(text) > LONG:
        return None

    def code(values: dict) -> str:
        given = ", ".join(f"{k}={x!r}" for k, x in plain(values).items())
        return f"{text}\n\ncomputed({given})"

    return code


def _text(update):
    imports, lines, function = set(), [], _function(update, "computed")
    _bind(update, function, imports, lines)
    arrays = {"import numpy as np"} if any("np." in line for line in lines) else set()
    imports = sorted({*imports, *arrays, "import nhlab as nh"}, key=lambda x: ("nhlab" in x, x))
    return "\n".join([*imports, "", *lines, "", ast.unparse(function)])


def _function(function, name):
    """Its tree under another name, without what draws and without its docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef) or any(
        isinstance(x, ast.Nonlocal) for x in ast.walk(tree)
    ):
        raise Unwritten(f"{name} has no text of its own")
    closed = inspect.getclosurevars(function).nonlocals
    drawing = {k for k, x in closed.items() if _draws(x)}
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    body = [_Calm(drawing).visit(x) for x in body]
    tree.name, tree.decorator_list = name, []
    tree.body = _without(body, drawing) or [ast.Pass()]
    return ast.fix_missing_locations(tree)


def _draws(x):
    """Is it a picture or a part of one, or a function that changes one?"""
    if isinstance(x, FunctionType):
        return any(map(_draws, inspect.getclosurevars(x).nonlocals.values()))
    return isinstance(x, (Picture, Artist))


def _bind(function, tree, imports, lines):
    """Statements for the names that a function takes from where it was written."""
    used = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
    closed = inspect.getclosurevars(function).nonlocals
    for name in sorted(used & {*closed}):
        lines += _bound(name, closed[name], imports)
    known = {k: x for k, x in function.__globals__.items() if k in used - {*closed}}
    imports |= {_imported(name, x, function.__module__) for name, x in known.items()}


class _Calm(ast.NodeTransformer):
    """A board that is not being dragged: ``board.quick`` is False."""

    def __init__(self, drawing):
        self.drawing = drawing

    def visit_Attribute(self, x):
        self.generic_visit(x)
        whole = getattr(x.value, "id", None)
        return ast.Constant(False) if whole in self.drawing and x.attr == "quick" else x


def _without(body, drawing):
    """Statements without those that draw; what is said is printed."""
    kept = []
    for x in body:
        if not _names(x) & drawing:
            kept.append(x)
        elif isinstance(x, ast.Expr) and isinstance(getattr(x.value, "func", None), ast.Attribute):
            if x.value.func.attr == "say":
                x.value.func = ast.Name("print", ast.Load())
                kept.append(x)
        elif isinstance(x, (ast.If, ast.For, ast.Try)) and not _head(x) & drawing:
            x.body = _without(x.body, drawing) or [ast.Pass()]
            x.orelse = _without(x.orelse, drawing)
            for handler in getattr(x, "handlers", ()):
                handler.body = _without(handler.body, drawing) or [ast.Pass()]
            kept.append(x)
    return kept


def _names(x):
    return {y.id for y in ast.walk(x) if isinstance(y, ast.Name)}


def _head(x):
    """The names in the condition of a statement, or in what it goes over."""
    return _names(getattr(x, "test", getattr(x, "iter", ast.Pass())))


def _imported(name, x, module):
    """The statement that brings a name, from the library's front door if it is there."""
    if isinstance(x, ModuleType):
        package, _, last = x.__name__.rpartition(".")
        also = f" as {name}" if last != name else ""
        return f"from {package} import {last}{also}" if package else f"import {last}{also}"
    if getattr(sys.modules[__name__.partition(".")[0]], name, None) is x:
        return f"from nhlab import {name}"
    if isinstance(x, (type, FunctionType)):
        also = f" as {name}" if x.__name__ != name else ""
        return f"from {x.__module__} import {x.__name__}{also}"
    return f"from {module} import {name}"


def _bound(name: str, x: Any, imports: set) -> list[str]:
    """Statements that bind a name to a value."""
    x = getattr(x, "__wrapped__", x)  # of a function that remembers what it gave
    if isinstance(x, FunctionType):
        if x.__qualname__ == x.__name__ != "<lambda>":
            return [f"from {x.__module__} import {x.__name__} as {name}"]
        tree, lines = _function(x, name), []
        _bind(x, tree, imports, lines)
        return [*lines, ast.unparse(tree)]
    if isinstance(x, Trajectory):
        start = f"{x.q[0].tolist()}, {x.v[0].tolist()}, h={x.h0!r}, steps={(len(x) - 1) * x.every}"
        run = f"nh.integrate(system, {as_call(x.method)}, {start}, every={x.every})"
        return [*_bound("system", x.system, imports), f"{name} = {run}"]
    if not isinstance(x, System):
        return [f"{name} = {_written(x)}"]
    lines = written(x, x) if written(x, x)[0].startswith("system = ") else lines_of_system(x)
    if not lines:
        raise Unwritten(f"{name} has no text of its own")
    return [*lines] + [f"{name} = system"] * (name != "system")


def _written(x):
    """A value as an expression."""
    if isinstance(x, Method):
        return as_call(x)
    if isinstance(x, np.ndarray) and x.size <= MOST and x.dtype.kind in "if":
        return f"np.array({x.tolist()!r})"
    if isinstance(x, np.generic):
        return repr(x.item())
    if isinstance(x, (list, tuple)):
        inside = ", ".join(map(_written, x))
        return f"[{inside}]" if isinstance(x, list) else f"({inside},)"
    if isinstance(x, dict):
        return f"{{{', '.join(f'{_written(k)}: {_written(y)}' for k, y in x.items())}}}"
    if isinstance(x, (int, float, str, bool, type(None))):
        return repr(x)
    raise Unwritten(f"{x!r} has no text of its own")
