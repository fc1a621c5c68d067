"""Names of nh.exact for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .geometry.exact import Orders as Orders
from .geometry.exact import Start as Start
from .geometry.exact import Step as Step
from .geometry.exact import orders as orders
from .geometry.exact import start as start
from .geometry.exact import step as step

__all__ = [
    "Orders",
    "Start",
    "Step",
    "orders",
    "start",
    "step",
]
