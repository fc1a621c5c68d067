"""Bodies for the stage: ``model(system, runs)`` finds the one of a system.

Each is a function of the system and of the runs that are shown, so that what has no length of its
own can be as large as its motion; it returns a ``stage.Model``.  A new body takes a function with
``@known("name of the system")``; ``catalogue`` lists them.
"""

from collections.abc import Callable, Sequence

from ...mechanics.checks import need
from ...mechanics.system import System
from ...run.trajectory import Trajectory
from .. import bodies
from ..body import OUTLINES, Body
from ..stage import Model

# each module adds its bodies to the catalogue
from . import balls, bicycle, linkage, machines, points, spinning, vehicles  # noqa: F401
from .catalogue import MODELS, known
from .outlines import from_outlines
from .points import marker

__all__ = ["MODELS", "known", "model"]


def model(system: System, runs: Sequence[Trajectory], given: Callable | None = None) -> Model:
    """The Model of a system: of the body given, of the catalogue, or a marker.

    given : a Model, a subclass of nh.bodies.Body, or a function of q that returns outlines
    """
    need(system, System, "system", "nh.System")
    if given is not None:
        return _given(system, runs, given)
    if system.name in MODELS:
        return MODELS[system.name](system, runs)
    return marker(system, runs)


def _given(system: System, runs: Sequence[Trajectory], given: Callable) -> Model:
    if isinstance(given, Model):
        return given
    if isinstance(given, type) and issubclass(given, Body):
        solid = [MODELS[n] for n, cls in bodies.BODIES.items() if cls is given and n in MODELS]
        return (solid or [from_outlines(given)])[0](system, runs)
    if callable(given):
        return from_outlines(given)(system, runs)
    allowed = "a subclass of nh.bodies.Body, a Model of nh.stage or a function of q"
    raise ValueError(f"body = {given!r} must be {allowed} that returns {OUTLINES}")
