"""The colours of the lessons by short names, all from the table in ``view.plot``."""

from ..view.plot import COLOURS, INKS

DARK, STRONG, MIDDLE, SLATE, GREY, ORANGE = (light for light, _ in INKS.values())
BLUE, GREEN, PURPLE = COLOURS["DLA"], COLOURS["EDLA"], COLOURS["Projector"]
