"""Names of nh.widgets for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .view.widgets import Panel as Panel
from .view.widgets import Picture as Picture
from .view.widgets import choice as choice
from .view.widgets import panel as panel
from .view.widgets import play as play
from .view.widgets import slider as slider
from .view.widgets import whole as whole
from .view.widgets import animate as animate
from .view.widgets import complete_velocity as complete_velocity
from .view.widgets import explore as explore
from .view.widgets import free_velocities as free_velocities
from .view.widgets import motion_panel as motion_panel

__all__ = [
    "Panel",
    "Picture",
    "animate",
    "choice",
    "complete_velocity",
    "explore",
    "free_velocities",
    "motion_panel",
    "panel",
    "play",
    "slider",
    "whole",
]
