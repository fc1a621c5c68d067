"""Statements drawn: as plates that stand still, and as panels with sliders."""

from collections import namedtuple
from dataclasses import replace

import numpy as np

from ..view.explore import hold, offer_of_change
from ..view.outline import plain
from ..view.panel import Panel, choice
from ..view.picture import Picture
from .outlines import outline

# A figure that stands still; the data map column names to equally long arrays.
Plate = namedtuple("Plate", "title figure data caption verdict")
# beside the power of ten of the axis
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0.08, 1), "borderaxespad": 0.2, "frameon": False}


class Sheet:
    """The picture of a statement: ``show`` moves it to a setting and says what is found there."""

    def __init__(self, statement):
        self.statement, self.setting = statement, statement.setting
        rows = len(statement.frames(next(iter(statement.views))))
        self.picture = Picture(statement.size, rows, sharex=True)
        self.lines, self.texts, self._view = {}, [], None

    def view(self, values):
        return values.get("view", next(iter(self.statement.views)))

    def show(self, values, quick=False):
        """Draw a setting: (what was computed, does the claim hold, in which numbers)."""
        s, view = self.statement, self.view(values)
        if view != self._view:
            self._turn_to(view)
        made = s.made(self.setting.call(values), quick)
        self._draw(made, view)
        return made, *(s.verdict(made, view) if s.judge else (None, ""))

    def _turn_to(self, view):
        """Another view: its axes, and the untouched setting for a change to be seen against."""
        first, self._view = self._view is None, view
        self.picture.forget()
        for ax, frame in zip(self.picture.axes, self.statement.frames(view), strict=True):
            ax.set(**frame)
            if self.statement.equal:
                ax.set_aspect("equal")
        for ax in self.picture.axes if self.statement.fixed else ():
            ax.set(**self.statement.fixed)
            ax.set_axis_off()
        self.picture.changed()
        if not first:
            self.show(self.setting.defaults | {"view": view})
            self._legend()
            self.picture.remember()

    def _draw(self, made, view):
        s, count = self.statement, len(self.lines)
        for line in self.lines.values():
            line.set_data([], [])
        shapes = s.shapes(made, view)
        for shape in shapes:
            line = self._line(shape.name, shape.row, shape.look)
            line.set_data(shape.x, shape.y)
            if shape.name in made.stops:
                mark = {"marker": "X", "markersize": 11, "color": line.get_color()}
                stop = self._line(f"{shape.name} stops", shape.row, mark)
                stop.set_data(shape.x[-1:], shape.y[-1:])
        self._write(s.labels(made))
        if len(self.lines) > count:
            self._legend()
        if not s.fixed:
            self._fit(shapes, s.end(made.call), s.frames(view))

    def _line(self, name, row, look):
        key = name, row
        if key not in self.lines:
            self.lines[key] = self.picture.line(ax=self.picture.axes[row], **look)
        self.lines[key].set_label(look.get("label", ""))
        return self.lines[key]

    def _write(self, labels):
        while len(self.texts) < len(labels):
            look = {"fontsize": 15, "ha": "center", "va": "center"}
            text = self.picture.ax.annotate("", (0, 0), **look)  # not drawn outside the axes
            self.texts.append(self.picture.add(text))
        for text, (x, y, words) in zip(self.texts, labels, strict=False):
            text.xy = text.xyann = x, y
            text.set_text(words)
        for k, text in enumerate(self.texts):
            text.set_visible(k < len(labels))

    def _legend(self):
        handles = [x for (_, row), x in self.lines.items() if row == 0 and shown(x)]
        if handles:
            self.picture.ax.legend(handles=handles, ncols=len(handles), columnspacing=1.2, **ABOVE)
        self.picture.changed()

    def _fit(self, shapes, end, frames):
        for k, (ax, frame) in enumerate(zip(self.picture.axes, frames, strict=True)):
            floor = (
                frame["ylim"][0] if frame.get("yscale") == "log" else -np.inf
            )  # errors begin at 0
            curves = [
                (plain(x.look.get("label", x.name)), x.x, np.maximum(x.y, floor))
                for x in shapes
                if x.row == k
            ]
            hold(self.picture, ax, curves, end)


def shown(line):
    """Does it belong to the view?"""
    return line.get_label() and len(line.get_xdata())


def plate(statement):
    """The figure as it stands in ``figures/``."""
    sheet = Sheet(statement)
    made, holds, numbers = sheet.show(statement.setting.defaults)
    verdict = statement.claim
    if statement.judge:
        note = statement.note(statement.found(made, sheet.view({})))
        verdict = f"Claim: {verdict} {'Borne out' if holds else 'Not borne out'}: {numbers}{note}."
    data = statement.data(made)
    return Plate(statement.title, sheet.picture.figure, data, statement.caption, verdict)


def panel(statement, first=None, tries=()):
    """The figure with sliders; the claim is judged anew for each setting.

    first, tries : the controls that are seen at once, and settings to try (``course.tries``)
    """
    sheet = Sheet(statement)
    controls = statement.setting.controls()
    if len(statement.views) > 1:
        controls = {"view": choice("view", list(statement.views))} | controls

    def update(_, values, quick):
        made, holds, numbers = sheet.show(values, quick)
        said = {"error": "; ".join(map(str, made.stops.values()))}
        if holds is None:
            return said
        return said | {f"The claim {'holds' if holds else 'does not hold'} here:": numbers}

    def code(values):
        return statement.code(statement.setting.call(values), sheet.view(values))

    def offer(values):
        defaults, view = statement.setting.defaults, sheet.view(values)
        return offer_of_change(values, defaults, view, statement.changes, statement.views)

    claim = f" Claim: {statement.claim}" if statement.judge else ""
    caption = f"{statement.title}. {statement.caption}{claim}"
    options = {"caption": caption, "code": code, "alt": f"{statement.title}. {statement.claim}"}
    options |= {"first": first, "tries": tries, "offer": offer}
    made = Panel(sheet.picture, update, controls, **options)
    more = {"first": first, "tries": tries, "changes": statement.changes}
    made.outline = lambda: replace(outline(statement, controls, caption), **more)
    return made
