"""Panels with sliders, ``nh.widgets``: one persistent figure whose moving parts are redrawn.

``Panel`` is the machinery: controls, a picture, a read-out, a caption.  ``explore`` builds the
panel of most lessons from a system and some methods; ``animate`` plays a computed motion.

Examples
--------
>>> import nhlab as nh
>>> panel = nh.explore(nh.systems.sleigh(), [nh.DLA()], steps=50)
>>> isinstance(panel, nh.widgets.Panel)
True
"""

from ..mechanics.velocities import complete_velocity, free_velocities
from .animate import animate
from .explore import explore
from .motion import motion_panel
from .panel import Panel, choice, panel, play, slider, whole
from .picture import Picture

__all__ = ["Panel", "Picture", "choice", "panel", "play", "slider", "whole"]
__all__ += ["animate", "complete_velocity", "explore", "free_velocities", "motion_panel"]
