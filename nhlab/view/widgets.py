"""Panels with sliders, ``nh.widgets``: one persistent figure whose moving parts are redrawn.

``Panel`` is the machinery: controls, a picture, a read-out, a caption.  ``explore`` builds the
panel of most lessons from a system and some methods; ``animate`` plays a computed motion.
"""

from ..mechanics.velocities import complete_velocity, free_velocities
from .animate import animate, motion_panel
from .explore import explore
from .panel import Panel, choice, panel, play, slider, whole
from .picture import Picture

__all__ = ["Panel", "Picture", "choice", "panel", "play", "slider", "whole"]
__all__ += ["animate", "complete_velocity", "explore", "free_velocities", "motion_panel"]
