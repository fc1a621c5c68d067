"""The list of bodies by the name of their system, and what their modules share."""

from collections.abc import Callable

from ..shapes import Shape

Parts = list[tuple[str, Shape]]  # each in the frame of this name
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


def in_frame(frame: str, *groups: Shape | list[Shape]) -> Parts:
    """Shapes, and lists of shapes, as parts of one frame."""
    flat = [shape for group in groups for shape in (group if isinstance(group, list) else [group])]
    return [(frame, shape) for shape in flat]
