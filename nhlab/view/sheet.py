"""Figures drawn by matplotlib: the pictures of panels, and plates that stand still."""

import numpy as np
from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from .animate import animate
from .figure import CHOICES, Figure, Runs, plain
from .labels import ASIDE, EndLabels
from .limits import calm_points, who_leaves
from .motion import PanelWithStage, Screen, for_page
from .offers import are_same
from .picture import Picture
from .typeface import STYLE

HALO = [withStroke(linewidth=3, foreground="white")]  # around letters that meet a line
# beside the power of ten of the axis
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0.08, 1), "frameon": False}


class Sheet:
    """The picture of a figure: ``show`` moves it to a setting and returns what is said there.

    picture : the Picture;  lines : (name of the shape, row) -> its line
    runs, shapes : what was computed and drawn last
    still : the slider that has moved no curve (``Figure.still``), or None
    """

    def __init__(self, figure: Figure):
        self.figure = figure
        rows = len(next(iter(figure.views.values())).axes)
        self.picture = Picture(figure.size, rows, sharex=True)
        self.names = EndLabels(self.picture, self.picture.ax)
        self.lines, self.texts, self.runs, self.shapes = {}, [], None, []
        self._shown = None  # what was chosen of CHOICES
        self.still, self._before = None, None

    def show(self, values: dict, quick: bool = False) -> dict:
        """Draw a setting and return the read-out."""
        view = self.figure.view_name(values)
        chosen = {k: values[k] for k in CHOICES if k in values}
        if chosen != self._shown:
            first, self._shown = self._shown is None, chosen
            self._turn_to(view)
            if not first:  # the untouched setting, for a change to be seen against
                untouched = self.figure.setting.defaults | chosen
                self._draw(self.figure.compute(untouched), view)
                self.picture.remember()
        self.runs = self.figure.compute(values, quick)
        self._draw(self.runs, view)
        if not quick:
            self._compare(values)
        return self.figure.said(self.runs, view, self.shapes)

    def _compare(self, values):
        """See whether a slider has moved since the last drawing, and no curve has."""
        earlier, before = self._before or (values, self.runs)
        if not are_same(values, earlier):
            self.still = self.figure.still(values, self.runs, earlier, before, self.still)
        self._before = values, self.runs

    # ---- what stays

    def _turn_to(self, view):
        """Another view: its axes."""
        self.picture.forget()
        for ax, axes in zip(self.picture.axes, self.figure.views[view].axes, strict=True):
            if ax.get_yscale() != ("log" if axes.logarithmic else "linear"):
                with rc_context(STYLE):  # of it new labels at the ticks are made
                    ax.set_yscale("log" if axes.logarithmic else "linear")
            ax.set(xlabel=axes.xlabel, ylabel=axes.ylabel)
            ax.set_aspect("equal" if axes.equal else "auto")
            limits = {"xlim": axes.x, "ylim": axes.y}
            ax.set(**{side: ends for side, ends in limits.items() if ends})
            if axes.bare:
                ax.set_axis_off()
        self._name_curves(self.figure.views[view].axes[0])
        self.picture.changed()

    def _name_curves(self, axes):
        """The names of curves over time stand at their ends, those of others in a legend."""
        named = [x for x in axes.curves if x.label]
        at_ends = bool(axes.end) and len(named) > 1
        self.names.name_curves(named if at_ends else [])
        self._legend([] if at_ends else named, 4)
        if axes.end and len(named) < 2:
            self.picture.leave_room(0, above=True)

    def _legend(self, curves, most):
        """The names of curves or shapes, ``most`` in a row; in the legend none of them is pale."""
        if len(curves) > 1:
            looks = [x.look for x in curves]
            if self.figure.legend:
                looks = [x | {"linewidth": max(x.get("linewidth", 0), 1.6)} for x in looks]
            pairs = zip(curves, looks, strict=True)
            handles = [Line2D([], [], label=x.label, **look) for x, look in pairs]
            options = ABOVE | {"ncols": min(most, len(handles))} | self.figure.legend
            self.picture.ax.legend(handles=handles, **options)
        elif self.picture.ax.get_legend():
            self.picture.ax.get_legend().remove()

    # ---- what moves

    def _draw(self, runs, view):
        for line in self.lines.values():
            self.picture.put(line, [], [])
        self.shapes = self.figure.shapes(runs, view)
        for shape in self.shapes:
            line = self._line(shape.name, shape.row, shape.look)
            line.set_label(shape.label)
            self.picture.put(line, shape.x, shape.y)
            if shape.name in runs.stops:
                look = {"marker": "X", "markersize": 11, "linestyle": "none"}
                look["color"] = shape.look["color"]
                mark = self._line(f"{shape.name} stops", shape.row, look)
                mark.set_data(shape.x[-1:], shape.y[-1:])
        self._name_drawing(view)
        for row, axes in enumerate(self.figure.views[view].axes):
            if not axes.x:
                self._fit(row, axes, runs.call)
        drawing = self.figure.views[view].axes[0].drawing
        self._write(self.figure.labels(runs, view), beside=bool(drawing and drawing.run))
        self.names.follow([shape for shape in self.shapes if not shape.row])

    def _line(self, name, row, look):
        key = name, row
        if key not in self.lines:
            self.lines[key] = self.picture.line(ax=self.picture.axes[row], **look)
        return self.lines[key]

    def _name_drawing(self, view):
        """The legend of a drawing is that of the shapes it has now."""
        if self.figure.views[view].axes[0].drawing:
            named = [x for x in self.shapes if x.label]
            legend = self.picture.ax.get_legend()
            words = [x.get_text() for x in legend.get_texts()] if legend else []
            if words != [x.label for x in named]:
                self._legend(named, 5)
                self.picture.changed()

    def _write(self, labels, beside):
        """Letters at places; ``beside`` if these are nodes, of whose names those are left out that
        would stand on others."""
        while len(self.texts) < len(labels):
            look = {"fontsize": 15, "ha": "center", "va": "center", "path_effects": HALO}
            look |= {"xytext": (0, 0), "textcoords": "offset points"}
            text = self.picture.ax.annotate("", (0, 0), **look)  # not drawn outside the axes
            self.texts.append(self.picture.add(text))
        for text, (x, y, words, right, up) in zip(self.texts, labels, strict=False):
            text.xy, text.xyann = (x, y), (ASIDE * right, ASIDE * up)
            text.set_text(words)
        taken = []
        for k, text in enumerate(self.texts):
            text.set_visible(True)  # else its box would be none
            box = text.get_window_extent() if k < len(labels) and beside else None
            seen = k < len(labels) and not (box and any(box.overlaps(x) for x in taken))
            text.set_visible(seen)
            taken += [box] if seen and box else []

    def _fit(self, row, axes, call):
        """Limits for the curves of one diagram; errors begin at 0, which a logarithmic axis does
        not have."""
        end = getattr(call, axes.end) if axes.end else None
        floor = axes.y[0] if axes.logarithmic else -np.inf
        shapes = [x for x in self.shapes if x.row == row]
        curves = [(x.title or x.name, x.x, np.maximum(x.y, floor)) for x in shapes]
        hold(self.picture, self.picture.axes[row], curves, end, axes.least)


def hold(picture: Picture, ax, curves: list, end: float | None = None, least: float = 0.0):
    """Fit the axes to curves (name, x, y), each as far as a picture can show it; of what leaves it
    a sentence is said.  If ``end`` is given, the horizontal axis is [0, end]; the vertical one
    holds at least [-least, least]."""
    shown = [(x, y) if end is None else (x[x <= end], y[x <= end]) for _, x, y in curves]
    parts = [(x[:k], y[:k]) for x, y in shown for k in [calm_points(y)]]
    x, y = np.hstack([([], []), *parts])
    picture.fit(ax, x, np.append(y, [-least, least]) if least else y, end)
    for (name, *_), (whole, values), (_, held) in zip(curves, shown, parts, strict=True):
        low, high = ax.get_ylim()
        outside = (values < low) | (values > high)
        if len(held) < len(values) and outside.any():
            axis, most = plain(ax.get_xlabel()).split(" ")[-1], values[np.abs(values).argmax()]
            picture.leaving.append(who_leaves(name, axis, whole[outside.argmax()], most))


class FigurePanel(PanelWithStage):
    """A figure with its sliders; ``nh.live`` makes a page of the same figure.

    figure : the Figure;  sheet : its picture;  screen : where its bodies move, None without motion
    """

    def __init__(self, figure: Figure):
        self.figure, self.sheet = figure, Sheet(figure)
        screen = Screen() if figure.motion else None
        about = {"caption": figure.caption, "alt": figure.alt, "code": figure.code_of}
        about |= {"first": figure.seen_at_once, "tries": figure.tries, "offer": self._answer}
        super().__init__(screen, self.sheet.picture, self._follow, figure.controls, **about)

    def _answer(self, values):
        """What is offered at these values."""
        return self.figure.offer(values, self.sheet.still)

    def _follow(self, _, values, quick):
        said = self.sheet.show(values, quick)
        if self.screen:
            self._move(self.sheet.runs)
        return said

    def _move(self, runs: Runs):
        """Let the stage follow the runs, if all that it shows were computed."""
        sols = [runs.sols[name] for name in self.figure.motion if name in runs.sols]
        if len(sols) == len(self.figure.motion) and all(len(sol) > 1 for sol in sols):
            self.screen.show(animate(*sols, body=self.figure.body))

    def motion_for_page(self) -> dict | None:
        """What a page needs to move the same bodies; ValueError if it cannot."""
        return for_page(self.screen.stage, self.figure.motion) if self.screen else None
