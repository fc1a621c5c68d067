"""The list of bodies by the name of their system."""

from collections.abc import Callable

MODELS: dict[str, Callable] = {}


def known(*names: str) -> Callable:
    """Enter a function (system, runs) -> Model under the names of systems."""

    def enter(make: Callable) -> Callable:
        MODELS.update(dict.fromkeys(names, make))
        return make

    return enter


def value(system, name: str, default: float = 1.0) -> float:
    """A parameter of a system as a number."""
    return float(next((x for s, x in system.parameters.items() if s.name == name), default))
