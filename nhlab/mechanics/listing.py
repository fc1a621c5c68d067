"""How a function that states a system becomes an entry of the catalogue."""

from __future__ import annotations

from functools import wraps
from inspect import signature

from sympy import lambdify

from . import exact
from .checks import read_number
from .groupsystem import GroupSystem
from .system import System, symbols

catalogue, on_groups, machines = {}, {}, {}  # name -> function


def listed(source, name=None, among=None):
    """Lists a function that states q, L, constraints and start, and makes it return their system.

    For the statement its keywords are symbols.  Those that occur in L, the constraints and forces
    become the parameters.  Without q0 the start is the origin, or the identity.
    among : the list, by default that of the catalogue or of groups
    """

    def decorate(state):
        title = state.__name__
        about = {"name": name or title.replace("_", " "), "source": source}
        about["exact"] = getattr(exact, title, None)

        @wraps(state)
        def make(*args, **keywords):
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
            formulas = [parts["L"], *parts.get("constraints", ()), *parts.get("holonomic", ())]
            formulas += parts.get("forces", {}).values()
            used = set().union(*(e.free_symbols for e in formulas))
            parts["parameters"] = {k: n for k, n in numbers.items() if letters[k] in used}
            origin = parts["group"].identity if "group" in parts else (0,) * len(parts["q"])
            start = parts.get("q0", origin), parts["v0"]
            try:
                start = lambdify([*letters.values()], start, "math")(**numbers)
            except ZeroDivisionError:
                raise ValueError(f"{title} has no start with {dict(numbers)}") from None
            parts["q0"], parts["v0"] = start
            if "group" in parts:
                return GroupSystem(**parts, rule=numbers["rule"])
            return System(v=symbols([f"v{s}" for s in parts["q"]]), **parts)

        make.title = about["name"]
        group = on_groups if "rule" in signature(state).parameters else catalogue
        (group if among is None else among)[title] = make
        return make

    return decorate
