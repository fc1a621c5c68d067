"""The figures of the papers as outlines, for pages that compute without Python."""

from functools import singledispatch

from ..view import plot
from ..view.outline import Axes, Curve, Outline, View, reading_of
from .statements import Curves, Errors


def outline(statement, controls, caption):
    """All that a page needs to know of a statement."""
    views = {view: view_of(statement, view) for view in statement.views}
    second = "reference" if isinstance(statement, Errors) else ""
    about = {"judge": statement.judge, "size": statement.size, "second": second}
    return Outline(statement.setting, controls, views, caption, **about)


@singledispatch
def view_of(statement, view):
    """One of its views."""
    raise ValueError(f"{statement.title!r} has no outline")


@view_of.register
def _(statement: Curves, view):
    setting, found, axes = statement.setting, {}, []
    frames = zip(statement.views[view], statement.frames(view), strict=True)
    for k, (row, frame) in enumerate(frames):
        curves = []
        for name, m in setting.methods.items():
            reading = reading_of(row.discrete if m.discrete else row.classical, setting.systems[0])
            skip = int(row.mixed and not m.discrete)  # beside steps, the start has no partner
            label = "" if k else statement.legend(row, name, m)
            curves.append(Curve(name, reading, plot.look(m) | {"label": label}, skip=skip))
            found.setdefault(name, []).append((reading, skip))
        axes.append(Axes(frame["xlabel"], frame["ylabel"], curves, "T"))
    return View(axes, found, {})


@view_of.register
def _(statement: Errors, view):
    reading, methods = {"what": "error", "x": "reference"}, statement.setting.methods
    runs, logarithmic = statement.views[view]
    curves = [Curve(k, reading, statement.look(k, methods[k])) for k in runs]
    (frame,) = statement.frames(view)
    axes = Axes(frame["xlabel"], frame["ylabel"], curves, "steps", logarithmic=logarithmic)
    axes = axes._replace(y=frame.get("ylim"))
    return View([axes], {name: [(reading, 0)] for name in statement.columns}, {})
