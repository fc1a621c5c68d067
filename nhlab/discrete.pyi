"""Names of nh.discrete for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .mechanics.discrete import DiscreteLagrangian as DiscreteLagrangian

__all__ = [
    "DiscreteLagrangian",
]
