"""The colours of the lessons: four greys, and three that methods have in ``plot.COLOURS`` too."""

DARK, MIDDLE, SLATE, GREY = "#333333", "#777777", "#999999", "#BBBBBB"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
