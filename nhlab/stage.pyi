"""Names of nh.stage for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .view.stage import Actor as Actor
from .view.stage import Floor as Floor
from .view.stage import Frame as Frame
from .view.stage import Model as Model
from .view.stage import Scene as Scene
from .view.stage import Track as Track
from .view.stage import View as View
from .view.stage import actor as actor
from .view.stage import as_json as as_json
from .view.stage import move as move
from .view.stage import Roll as Roll
from .view.stage import packed as packed
from .view.stage import poses as poses
from .view.stage import quaternion as quaternion
from .view.stage import stretch as stretch
from .view.stage import turn as turn

__all__ = [
    "Actor",
    "Floor",
    "Frame",
    "Model",
    "Roll",
    "Scene",
    "Track",
    "View",
    "actor",
    "as_json",
    "move",
    "packed",
    "poses",
    "quaternion",
    "stretch",
    "turn",
]
