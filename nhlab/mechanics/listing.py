"""How a function that states a system becomes an entry of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypedDict, overload

from sympy import lambdify

from . import exact, spans
from .checks import read_number
from .groupsystem import GroupSystem
from .spelling import check_keywords
from .system import System, symbols

P = ParamSpec("P")
catalogue: dict[str, Callable[..., System]] = {}  # name -> function, as in the next two
on_groups: dict[str, Callable[..., GroupSystem]] = {}
machines: dict[str, Callable[..., System]] = {}


class Statement(TypedDict, total=False):
    """What a function of the catalogue states: arguments of ``System``."""

    q: Any
    L: Any
    constraints: Any
    holonomic: Any
    forces: Any
    q0: Any
    v0: Any
    metric: Any
    t: Any


class GroupStatement(Statement, total=False):
    """The same of ``GroupSystem``."""

    group: Any
    v: Any
    g: Any
    r: Any


class Listing(Protocol):
    """Makes of a function that states a system one that returns it."""

    @overload
    def __call__(self, state: Callable[P, GroupStatement], /) -> Callable[P, GroupSystem]: ...

    @overload
    def __call__(self, state: Callable[P, Statement], /) -> Callable[P, System]: ...


def listed(source: str, name: str | None = None, among: dict[str, Any] | None = None) -> Listing:
    """Lists a function that states q, L, constraints and start, and makes it return their system.

    For the statement its keywords are symbols.  Those that occur in L, the constraints and forces
    become the parameters.  Without q0 the start is the origin, or the identity.  ``fields`` that
    span the same D are ``system.printed_fields``; runs use them after ``system.by_fields()``.
    among : the list, by default that of the catalogue or of groups
    """

    def decorate(state: Callable[..., Any]) -> Any:
        title = state.__name__
        about = {"name": name or title.replace("_", " "), "source": source}
        about["exact"] = getattr(exact, title, None)

        @wraps(state)
        def make(*args: Any, **keywords: Any) -> System:
            check_keywords(state, keywords, title)
            try:
                call = signature(state).bind(*args, **keywords)
            except TypeError:
                return state(*args, **keywords)  # which says so in Python's own words
            call.apply_defaults()
            numbers = call.arguments
            for name in numbers.keys() - {"rule"}:
                numbers[name] = read_number(numbers[name], name)
            letters = {k: symbols(k) for k in numbers}
            parts = about | state(**letters)
            fields = parts.pop("fields", ())
            formulas = [parts["L"], *parts.get("constraints", ()), *parts.get("holonomic", ())]
            formulas += parts.get("forces", {}).values()
            occurring = set().union(*(e.free_symbols for e in formulas))
            parts["parameters"] = {k: n for k, n in numbers.items() if letters[k] in occurring}
            origin = parts["group"].identity if "group" in parts else (0,) * len(parts["q"])
            start = parts.get("q0", origin), parts["v0"]
            try:
                start = lambdify([*letters.values()], start, "math")(**numbers)
            except ZeroDivisionError:
                raise ValueError(f"{title} has no start with {dict(numbers)}") from None
            parts["q0"], parts["v0"] = start
            if "group" in parts:
                return GroupSystem(**parts, rule=numbers["rule"])
            system = System(v=symbols([f"v{s}" for s in parts["q"]]), **parts)
            system.printed_fields = spans.read_fields(fields, system)
            return system

        make.title = about["name"]
        is_on_group = "rule" in signature(state).parameters
        kind = GroupSystem if is_on_group else System
        make.__signature__ = signature(state).replace(return_annotation=kind)  # what help shows
        group = on_groups if is_on_group else catalogue
        (group if among is None else among)[title] = make
        return make

    return decorate
