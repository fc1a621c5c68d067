"""Names of nh.shapes for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .view.shapes import Mesh as Mesh
from .view.shapes import ball as ball
from .view.shapes import basis as basis
from .view.shapes import blade as blade
from .view.shapes import box as box
from .view.shapes import capsule as capsule
from .view.shapes import ears as ears
from .view.shapes import extruded as extruded
from .view.shapes import lathe as lathe
from .view.shapes import mesh as mesh
from .view.shapes import prism as prism
from .view.shapes import rgb as rgb
from .view.shapes import rod as rod
from .view.shapes import sweep as sweep
from .view.shapes import torus as torus
from .view.shapes import tube as tube
from .view.shapes import wheel as wheel

__all__ = [
    "Mesh",
    "ball",
    "basis",
    "blade",
    "box",
    "capsule",
    "ears",
    "extruded",
    "lathe",
    "mesh",
    "prism",
    "rgb",
    "rod",
    "sweep",
    "torus",
    "tube",
    "wheel",
]
