"""The public surface of nhlab: what a user reaches by the names of ``nh`` and the dots behind them.

Public are the names in ``nh.__all__``, those in ``__all__`` of the modules among them, the classes
that these functions return, and of every such class the members without an underscore.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType
from typing import is_typeddict

import nhlab as nh

HEAD = "# pyright: strict, reportUnusedExpression=false\nimport nhlab as nh\n"


def is_own(thing: object) -> bool:
    """True for what is made in nhlab, not imported into it."""
    return getattr(thing, "__module__", "").startswith("nhlab")


def named() -> dict[str, object]:
    """Every public name, "nh.DLA" or "nh.plot.energy", and the object behind it."""
    found = {}
    for name in sorted(nh.__all__):
        thing = found[f"nh.{name}"] = getattr(nh, name)
        if inspect.ismodule(thing):
            found |= {f"nh.{name}.{x}": getattr(thing, x) for x in thing.__all__}
    return found


def classes() -> dict[type, str]:
    """Every public class and the code that names it; those that are only returned come last."""
    found = {x: name for name, x in named().items() if inspect.isclass(x) and is_own(x)}
    for x in named().values():
        f = inspect.unwrap(x) if callable(x) else None
        if isinstance(f, FunctionType) and is_own(f):
            result = f.__globals__.get(str(f.__annotations__.get("return")))
            if inspect.isclass(result) and is_own(result) and not is_typeddict(result):
                found.setdefault(result, f"{result.__module__}.{result.__name__}")
    return found


def members(c: type) -> list[str]:
    """The public members of a class that nhlab states: methods, properties, attributes."""
    found = set()
    for base in filter(is_own, c.__mro__):
        found |= {*vars(base), *getattr(base, "__annotations__", {}), *_assigned(base)}
    return sorted(x for x in found if not x.startswith("_"))


def _assigned(c: type) -> set[str]:
    """The attributes that ``__init__`` of a class assigns to ``self``."""
    if not isinstance(vars(c).get("__init__"), FunctionType):
        return set()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(c.__init__)))
    except OSError:  # written by dataclass
        return set()
    targets = (x for x in ast.walk(tree) if isinstance(x, ast.Attribute))
    return {
        x.attr
        for x in targets
        if isinstance(x.ctx, ast.Store) and isinstance(x.value, ast.Name) and x.value.id == "self"
    }


def functions(c: type) -> Iterator[FunctionType]:
    """The functions behind the methods and properties of a class, its own and inherited ones."""
    for base in filter(is_own, c.__mro__):
        for name, x in vars(base).items():
            x = x.__func__ if isinstance(x, (staticmethod, classmethod)) else x
            x = x.fget if isinstance(x, property) else x
            x = x.func if isinstance(x, cached_property) else x
            public = not name.startswith("_") or name in ("__init__", "__call__", "__getitem__")
            if public and isinstance(x, FunctionType) and is_own(x):
                yield inspect.unwrap(x)


def client() -> str:
    """A program that looks at every public name and member once, for a type checker."""
    lines = [HEAD, *named()]
    modules = sorted({c.__module__ for c, name in classes().items() if not name.startswith("nh.")})
    lines += [f"import {module}" for module in modules]
    for k, (c, name) in enumerate(classes().items()):
        lines.append(f"def look_{k}(x: {name}) -> None:")
        lines += [f"    x.{member}" for member in members(c)] or ["    pass"]
    return "\n".join(lines) + "\n"
