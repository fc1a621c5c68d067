"""Panels with sliders, ``nh.widgets``.

``Panel`` is the machinery: controls, a picture, a read-out, a caption.  ``explore`` builds the
panel of most lessons from a system and some methods; ``animate`` plays a computed motion.
"""

from .animate import animate
from .explore import complete_velocity, explore, free_velocities
from .panel import Panel, choice, panel, play, slider, whole
from .picture import Picture

__all__ = [
    "Panel",
    "Picture",
    "animate",
    "choice",
    "complete_velocity",
    "explore",
    "free_velocities",
    "panel",
    "play",
    "slider",
    "whole",
]
