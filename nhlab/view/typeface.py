"""The typeface of all figures: words and mathematics in STIX, which matplotlib brings along."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Text

TYPEFACE = "STIXGeneral"
# The same on a page: as our site brings it along, else as the reader's computer has it, or a like.
ON_PAGES = f"'nhlab serif', {TYPEFACE}, 'STIX Two Text', 'Times New Roman', serif"
MATPLOTLIBS = ["sans-serif"]  # what a text says that was given no typeface
LARGER = 1.15  # its letters are so much smaller than those of matplotlib's own typeface
STYLE = {
    "figure.dpi": 100,            "figure.constrained_layout.use": True,
    "font.family": [TYPEFACE, "DejaVu Sans"],  # the second for signs that the first lacks
    "mathtext.fontset": "stix",
    "font.size": 14,              "axes.titlesize": 14,
    "axes.spines.top": False,     "axes.spines.right": False,
    "axes.grid": True,            "grid.alpha": 0.3,
    "lines.linewidth": 1.6,       "legend.frameon": False,
    "axes.formatter.offset_threshold": 6,  # 1.0312 is easier to read than +1.03 and 0.0012
    "axes.formatter.limits": (-3, 4),  # beyond them a power of ten stands above the axis ..
    "axes.formatter.use_mathtext": True,  # .. as such
    "svg.hashsalt": "nhlab",  # the same figure gives the same file
}  # fmt: skip


class TypesetFigure(Figure):
    """A figure in nhlab's typeface: also what is written into it by somebody else, and later."""

    def subplots(self, *args: Any, **options: Any) -> Any:
        """Axes, whose labels at the ticks have one size, whenever they are made or counted."""
        made = super().subplots(*args, **options)
        for ax in self.axes:
            ax.tick_params(labelsize=STYLE["font.size"], labelfontfamily=STYLE["font.family"])
        return made

    def draw(self, renderer: Any) -> None:
        """Set all text in the typeface, and draw."""
        with mpl.rc_context(STYLE):
            typeset(self)
            super().draw(renderer)


def typeset(artist: Artist) -> None:
    """Set the text of an artist in nhlab's typeface, but for text that has a typeface of its own.

    What matplotlib's typeface was chosen for becomes larger, since these letters are smaller.
    """
    for text in artist.findobj(Text):
        if text.get_fontfamily() == MATPLOTLIBS:
            text.set(fontfamily=STYLE["font.family"], math_fontfamily=STYLE["mathtext.fontset"])
            text.set_fontsize(LARGER * text.get_fontsize())
