"""The colours of the lessons: four greys, two that methods have too, and one that none has."""

from ..view.plot import COLOURS

DARK, MIDDLE, SLATE, GREY = "#333333", "#777777", "#999999", "#BBBBBB"
BLUE, GREEN, ORANGE = COLOURS["DLA"], COLOURS["EDLA"], "#DD7A00"
