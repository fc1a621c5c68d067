"""Names of nh.groups for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .mechanics.groups import Group as Group
from .mechanics.groups import HalfAngle as HalfAngle
from .mechanics.groups import SE2 as SE2
from .mechanics.groups import SO3 as SO3

__all__ = [
    "Group",
    "HalfAngle",
    "SE2",
    "SO3",
]
