"""Names of nh.plot for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .view.plot import Shown as Shown
from .view.plot import constraint as constraint
from .view.plot import draw as draw
from .view.plot import energy as energy
from .view.plot import label as label
from .view.plot import look as look
from .view.plot import new as new
from .view.plot import order as order
from .view.plot import own_constraint as own_constraint
from .view.plot import path as path
from .view.plot import show as show

__all__ = [
    "Shown",
    "constraint",
    "draw",
    "energy",
    "label",
    "look",
    "new",
    "order",
    "own_constraint",
    "path",
    "show",
]
