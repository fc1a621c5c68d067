"""The colours of the lessons: four greys, three that methods have too, and one that none has."""

from ..view.plot import COLOURS

DARK, MIDDLE, SLATE, GREY = "#333333", "#777777", "#999999", "#BBBBBB"
BLUE, GREEN, PURPLE = COLOURS["DLA"], COLOURS["EDLA"], COLOURS["Projector"]
ORANGE = "#DD7A00"
