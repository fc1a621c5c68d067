"""Names of nh.bodies for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .view.bodies import Body as Body
from .view.bodies import ahead as ahead
from .view.bodies import axle as axle
from .view.bodies import bar as bar
from .view.bodies import body as body
from .view.bodies import box as box
from .view.bodies import camera as camera
from .view.bodies import circle as circle
from .view.bodies import joined as joined
from .view.bodies import place as place

__all__ = [
    "Body",
    "ahead",
    "axle",
    "bar",
    "body",
    "box",
    "camera",
    "circle",
    "joined",
    "place",
]
