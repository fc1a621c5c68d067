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

from ..geometry.reduction import Reduction
from ..mechanics.system import System
from ..methods.method import Method
from ..run.trajectory import Trajectory
from ..view.as_code import lines_of_system
from ..view.picture import Picture
from ..view.recall import needed, plain, statements, uses
from ..view.setting import as_call, written

LESSONS = f"{__package__}.lessons."
MOST, LONG = 24, 10_000  # numbers of an array, and letters, that a reader is shown


class Unwritten(ValueError):
    """Something that has no text of its own."""


def code_of(update: Callable) -> Callable[[dict], str] | None:
    """Values of the sliders -> the function of a panel called with them, without what it draws.

    What it says of the run is printed.  Names of the library are imported; functions of lessons,
    and the values that it was given, are written down; None if one of these cannot be.
    """
    try:
        text = _text(update)
    except (Unwritten, OSError, SyntaxError):
        return None
    if len(text) > LONG:
        return None

    def code(values: dict) -> str:
        return f"{text}\n\ncomputed({_as_arguments(plain(values))})"

    return code


def _as_arguments(values):
    """Values by name as the arguments of a call; names may have spaces."""
    if all(map(str.isidentifier, values)):
        return ", ".join(f"{k}={x!r}" for k, x in values.items())
    return f"**{values!r}"


def _text(update):
    imports, lines, function = set(), [], _function(update, "computed")
    _bind(update, function, imports, lines)
    arrays = {"import numpy as np"} if any("np." in line for line in lines) else set()
    imports = sorted({*imports, *arrays, "import nhlab as nh"}, key=lambda x: ("nhlab" in x, x))
    parted = (f"\n{x}\n" if x.startswith("def ") else x for x in lines)
    return "\n".join([*imports, "", *parted, "", ast.unparse(function)])


def _function(function, name):
    """Its tree under another name, without what draws and without its docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef) or any(
        isinstance(x, ast.Nonlocal) for x in ast.walk(tree)
    ):
        raise Unwritten(f"{name} has no text of its own")
    closed = inspect.getclosurevars(function).nonlocals
    drawing = {k for k, x in closed.items() if _draws(x)}
    for x in ast.walk(tree.args):
        if isinstance(x, ast.arg):
            x.annotation = None  # a type would be one more name to import
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    body = [_Calm(drawing).visit(x) for x in body]
    tree.name, tree.decorator_list, tree.returns = name, [], None
    tree.body = _without_unread(_without_drawing(body, drawing)) or [ast.Pass()]
    return ast.fix_missing_locations(tree)


def _draws(x):
    """Is it a picture or a part of one, several of them, or a function that changes one?"""
    if isinstance(x, FunctionType):
        return any(map(_draws, inspect.getclosurevars(x).nonlocals.values()))
    if isinstance(x, (list, tuple)):
        return any(map(_draws, x))
    return isinstance(x, (Picture, Artist))


def _bind(function, tree, imports, lines):
    """Statements for the names that a function takes from where it was written."""
    used = set().union(*uses(ast.unparse(tree))) - {tree.name}
    space, closed = function.__globals__, inspect.getclosurevars(function).nonlocals
    also = {k: _name_in_cells(closed[k], space) for k in sorted(used & {*closed})}
    known = {k for k in also.values() if k is not None}
    _bind_globals((used - {*closed}) | known, space, function.__module__, imports, lines)
    for name, other in also.items():
        if other is None:
            _add(lines, _binding(name, closed[name], imports))
        elif other != name:
            lines.append(f"{name} = {other}")


def _bind_globals(names, space, module, imports, lines):
    """Statements for those of some names that a module has in its space."""
    homes = {name: _home(name, space[name], module) for name in sorted(names & {*space})}
    own = [k for k, home in homes.items() if home == "__main__" and _is_shown(space[k], home)]
    _add(lines, _of_cells(own, space, imports) if own else [])
    for name, home in homes.items():
        x = space[name]
        if name in own:
            continue
        if not _is_shown(x, home):
            imports.add(_imported(name, x, home))
            continue
        try:
            more = _binding(name, x, imports)
        except Unwritten:
            more = _statement_of_lesson(name, home, imports)
        _add(lines, more)


def _name_in_cells(x, space):
    """The name that a notebook has for a value which is more than a number or a text."""
    if "In" in space and not isinstance(x, (int, float, str, tuple, type(None))):
        return next((k for k, y in space.items() if y is x and not k.startswith("_")), None)


def _of_cells(names, space, imports):
    """The statements of a notebook that bind some names of its own, after what these need."""
    found = needed(", ".join(names), [*map(statements, space.get("In", ()))])
    if not found:
        raise Unwritten(f"{names} have no text of their own")
    above = {x for x in found if x.startswith(("import ", "from "))}
    imports |= above
    return [x for x in found if x not in above]


def _statement_of_lesson(name, home, imports):
    """The statement by which a module of the lessons binds a name, after what that needs."""
    if home.startswith(LESSONS):
        for x in ast.parse(inspect.getsource(sys.modules[home])).body:
            if isinstance(x, ast.Assign) and [*map(ast.unparse, x.targets)] == [name]:
                lines = []
                _bind_globals(_names(x.value), vars(sys.modules[home]), home, imports, lines)
                return [*lines, ast.unparse(x)]
    raise Unwritten(f"{name} has no text of its own")


def _is_shown(x, home):
    """Is it from a lesson or a notebook, so that a reader of the code wants to see it?"""
    return not isinstance(x, ModuleType) and home.startswith((LESSONS, "__main__"))


def _add(lines, more):
    """More statements, and no function twice."""
    lines += [x for x in more if not (x.startswith(("def ", "@")) and x in lines)]


def _home(name, x, module):
    """The name of the module that a name is from: that of the value itself, if it has it there."""
    own = getattr(x, "__module__", None) or module
    return own if getattr(sys.modules.get(own), name, None) is x else module


class _Calm(ast.NodeTransformer):
    """A board that is not being dragged: ``board.quick`` is False."""

    def __init__(self, drawing):
        self.drawing = drawing

    def visit_Attribute(self, x):
        self.generic_visit(x)
        whole = getattr(x.value, "id", None)
        return ast.Constant(False) if whole in self.drawing and x.attr == "quick" else x


def _without_drawing(body, drawing):
    """Statements without those that draw; what is said is printed."""
    rest = []
    for x in body:
        last = isinstance(x, ast.Return) and bool(_names(x) & drawing)
        x = ast.Expr(x.value) if last else x
        if not _names(x) & drawing:
            rest.append(x)
        elif isinstance(x, ast.Expr) and isinstance(getattr(x.value, "func", None), ast.Attribute):
            if x.value.func.attr == "say":
                x.value.func = ast.Name("print", ast.Load())
                rest.append(x)
        elif isinstance(x, (ast.If, ast.For, ast.Try)) and not _head(x) & drawing:
            x.body = _without_drawing(x.body, drawing)
            x.orelse = _without_drawing(x.orelse, drawing)
            if not (x.body or x.orelse):
                continue
            x.body = x.body or [ast.Pass()]
            for handler in getattr(x, "handlers", ()):
                handler.body = _without_drawing(handler.body, drawing) or [ast.Pass()]
            rest.append(x)
        rest += [ast.Return()] * last
    return rest


def _without_unread(body):
    """Statements without those that give values to names alone which none of them reads."""
    every = [y for x in body for y in ast.walk(x)]
    read = {y.id for y in every if isinstance(y, ast.Name) and isinstance(y.ctx, ast.Load)}
    read |= {getattr(y.target, "id", None) for y in every if isinstance(y, ast.AugAssign)}
    rest = [x for x in body if not isinstance(x, ast.Assign) or _assigned_names(x) & {*read, None}]
    return body if len(rest) == len(body) else _without_unread(rest)


def _assigned_names(assignment):
    """The names to which it gives values, and None if it gives one to a part of something."""
    parts = [x for target in assignment.targets for x in getattr(target, "elts", [target])]
    return {getattr(x, "id", None) for x in parts}


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
    if isinstance(x, (type, FunctionType)) and x.__name__ != name:
        return f"from {x.__module__} import {x.__name__} as {name}"
    return f"from {module} import {name}"


def _binding(name: str, x: Any, imports: set) -> list[str]:
    """Statements that bind a name to a value."""
    x = getattr(x, "__wrapped__", x)  # of a function that remembers what it gave
    if isinstance(x, FunctionType):
        if not _is_shown(x, _home(x.__name__, x, LESSONS)):
            return [f"from {x.__module__} import {x.__name__} as {name}"]
        tree, lines = _function(x, name), []
        _bind(x, tree, imports, lines)
        return [*lines, ast.unparse(tree)]
    if isinstance(x, Trajectory):
        start = f"{x.q[0].tolist()}, {x.v[0].tolist()}, h={x.h0!r}, steps={(len(x) - 1) * x.every}"
        run = f"nh.integrate(system, {as_call(x.method)}, {start}, every={x.every})"
        return [*_binding("system", x.system, imports), f"{name} = {run}"]
    if isinstance(x, dict) and any(isinstance(y, System) for y in x.values()):
        lines = [f"{name} = {{}}"]
        for k, y in x.items():
            lines += [*_binding("each", y, imports), f"{name}[{k!r}] = each"]
        return lines
    if isinstance(x, Reduction):
        return [*_binding("system", x.full, imports), f"{name} = {_reduced(x)}"]
    if not isinstance(x, System):
        return [f"{name} = {_written(x)}"]
    lines = written(x, x) if written(x, x)[0].startswith("system = ") else lines_of_system(x)
    if not lines:
        raise Unwritten(f"{name} has no text of its own")
    return [*lines] + [f"{name} = system"] * (name != "system")


def _reduced(x):
    """The call that reduces ``system``."""
    about = {k: y for k, y in x.constructor_kwargs().items() if k != "system"}
    if about["name"] == f"reduced {x.full.name}":
        del about["name"]
    if type(x)(x.full, **about) != x:
        raise Unwritten(f"{x!r} has parameters that its call does not give")
    given = ", ".join(f"{k}={_written(y)}" for k, y in about.items())
    return f"nh.{type(x).__name__}(system, {given})"


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
