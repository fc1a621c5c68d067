"""Names of nh.diagnostics for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .geometry.diagnostics import Growth as Growth
from .geometry.diagnostics import Modified as Modified
from .geometry.diagnostics import Order as Order
from .geometry.diagnostics import action as action
from .geometry.diagnostics import constraint_order as constraint_order
from .geometry.diagnostics import drift as drift
from .geometry.diagnostics import fit_order as fit_order
from .geometry.diagnostics import growth as growth
from .geometry.diagnostics import lagrangian as lagrangian
from .geometry.diagnostics import modified_term as modified_term
from .geometry.diagnostics import order as order
from .geometry.diagnostics import regularity as regularity
from .geometry.diagnostics import shrinks as shrinks
from .geometry.diagnostics import symplectic_change as symplectic_change
from .geometry.diagnostics import symplectic_defect as symplectic_defect
from .geometry.diagnostics import symplectic_form as symplectic_form
from .geometry.diagnostics import tangent as tangent

__all__ = [
    "Growth",
    "Modified",
    "Order",
    "action",
    "constraint_order",
    "drift",
    "fit_order",
    "growth",
    "lagrangian",
    "modified_term",
    "order",
    "regularity",
    "shrinks",
    "symplectic_change",
    "symplectic_defect",
    "symplectic_form",
    "tangent",
]
