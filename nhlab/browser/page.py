"""``live``: a panel as a page of its own, which computes in the browser.

Drawn by Bokeh, whose sliders call JavaScript: the generated steps and readings of
``browser.script`` and the runtime in ``page.js``.  A page needs neither a server nor a network.
"""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from ..view.player import KEY, player
from ..view.sheet import FigurePanel
from ..view.typeface import ON_PAGES
from .book import book_of, colours, control, runtime

DASHES = {
    "none": [],
    "-": [],
    "--": [3.7, 1.6],
    "-.": [6.4, 1.6, 1, 1.6],
    ":": [1, 1.65],
}  # Matplotlib's
MARKERS = {"o": "circle", "X": "x"}
SAID = """:host {font-size: 14px} div {line-height: 1.5}
span {display: inline-block; margin-right: 1.6em}
.number {display: inline; margin: 0; white-space: nowrap}
.bars {display: grid; grid-template-columns: auto minmax(40px, 1fr) auto; gap: 0 12px;
    align-items: center; width: min(40em, 85vw); font-variant-numeric: tabular-nums}
@media (max-width: 480px) {
    .bars {grid-template-columns: fit-content(32%) minmax(40px, 1fr) auto; column-gap: 8px}}
.bars > div {display: contents}
.bars span {margin: 0}
.bars span:first-child {font-weight: 600}
.bars i {height: 7px; border-radius: 4px; background: rgba(127, 127, 127, .22)}
.bars b {display: block; height: 7px; min-width: 1px; border-radius: 4px;
    background: light-dark(var(--light), var(--dark))}
b {font-variant-numeric: tabular-nums}
.stop {color: light-dark(#C62828, #FF8A80); min-height: 1.5em}"""
CODE = """const page = said.nhlab ?? (said.nhlab = (() => {
const {Page, np, py} = window.nhlab_runtime ??= new Function(runtime.code)();
if (stage && !window.%s) new Function(bodies.code)();
const books = [%s];
return new Page(books, {controls, figures, sources, glyphs, texts, legend, said, caption,
    listing, fit, asked, stage});
})());
page.follow();"""
CLEAR = """.bk-clearfix {display: block; width: 100%}
@media print {.nhs .bar {display: none}}"""
HALF = 400  # pixels that bodies and diagrams need to stand beside each other
# Below a body a diagram is lower on a phone, so that the sliders are seen, too.
LOW = "@media (max-width: 600px) {:host {height: 190px !important; flex-basis: 190px !important}}"
# Numbers at ticks, as short as they can be.
TICK = """const x = Number(tick.toPrecision(10)), size = Math.abs(x);
const short = size === 0 || (size >= 1e-3 && size < 1e5);
return (short ? String(x) : x.toExponential()).replaceAll("-", "\u2212").replace("e+", "e");"""
STAGE = '<div class="nhlab-stage"><p class="nhs-note"></p></div>'
# Widgets in the colours of the system, which are dark where the page is.
WIDGET = """:host {font-size: 14px}
.bk-input, .bk-btn.bk-btn-default {color: FieldText; background-color: Field}
.noUi-horizontal .noUi-handle {width: 24px; height: 24px; right: -12px; top: -8px}
.noUi-target {margin-top: 8px; background: color-mix(in srgb, CanvasText 25%, Canvas); border: 0}
select.bk-input {appearance: auto; background-image: none; padding: 0 6px}
@media print {:host {display: none}}"""
TEXT = """:host {font-size: 14px; line-height: 1.4}
pre {white-space: pre-wrap; user-select: all}"""
# Settings to try, and More.
ASKED = """:host {font-size: 14px}
b {display: block}
button {font: inherit; min-height: 28px; margin: 2px 4px 2px 0; padding: 2px 12px; cursor: pointer;
    border: 1px solid GrayText; border-radius: 14px; background: transparent; color: inherit}
button.now {background: CanvasText; color: Canvas}
button.more {border: 0; font-weight: 600}
@media print {:host {display: none}}"""
# What they are called, and what they call.
BUTTONS = (
    ("Reset", "reset()"),
    ("Fit axes", "fit_axes()"),
    ("Copy as code", "copy(cb_obj.origin)"),
    ("Show the code", "show_code(cb_obj.origin)"),
)
TEMPLATE = """
{% block preamble %}<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {color-scheme: light dark; font-family: system-ui, sans-serif}
html > body {margin: 0 auto; padding: 8px; max-width: 1000px; height: auto; color: CanvasText}
</style>{% endblock %}"""


def live(what: Any, path: str | PathLike[str] | None = None) -> Path | str:
    """A panel as one HTML file that computes by itself, for slides and homepages.

    Parameters
    ----------
    what : a panel of ``nh.explore`` or ``nh.paper_figure``, or a dict name -> panel to choose from
    path : where to write it; without one it is shown in the notebook

    The page has the panel's sliders, curves, verdict, warnings and code, and makes no network
    request.  Runs are those of ``nh.integrate``, but for one thing: a step that Newton's method
    does not find is not tried once more with pivoting.  What ``extra`` reads is left out.

    Examples
    --------
    >>> import nhlab as nh
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "particle.html")
    >>> page = nh.live(nh.explore(nh.systems.particle(), [nh.DLA()]), file)
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    path = path if path is None else _file(path)
    page = Live(what)
    if path is None:
        return page
    path.write_text(page.html(), encoding="utf-8")
    return path


def _file(path):
    """The path of a file that can be written."""
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"path = {path!r} must be the name of a file, as 'page.html'")
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"path = '{path}' is a folder; give a file in it, as 'page.html'")
    if not path.parent.is_dir():
        raise ValueError(f"path = '{path}': there is no folder '{path.parent}'; make it first")
    return path


def components(what, shared=False):
    """(script, div) of a panel for a page that has loaded Bokeh's scripts: bokeh, bokeh-widgets.

    shared : True if the page also loads ``shared_code``, two thirds of what a figure needs, once
    """
    embed = _bokeh("embed")
    return embed.components(_document(what, shared).roots[0])


def shared_code() -> str:
    """Return the script with what all figures of a page have in common."""
    return f"{player()}\nwindow.nhlab_runtime = (() => {{\n{_runtime()}\n}})();\n"


def _runtime() -> str:
    return f"{runtime()}\nreturn {{Page, np, py}};"


class Live:
    """A page that Jupyter shows in a frame of its own."""

    def __init__(self, what):
        self.document, self.title = _document(what), _title(what)

    def html(self):
        """The text of the page, with all that it needs."""
        resources = _bokeh("resources").INLINE
        return _bokeh("embed").file_html(
            self.document, resources, title=self.title, template=TEMPLATE
        )

    def _repr_html_(self):
        frame = 'style="width:100%;height:720px;border:0;background:#fff"'
        return (
            f'<iframe title="{escape(self.title)}" {frame} srcdoc="{escape(self.html())}"></iframe>'
        )


def _bokeh(name):
    """A module of Bokeh, which only pages need."""
    from importlib import import_module

    try:
        return import_module(f"bokeh.{name}")
    except ImportError:
        what = "nh.live draws with Bokeh, which is missing"
        raise ImportError(f"{what}: pip install 'nhlab[live]'") from None


def _title(what):
    return "nhlab" if isinstance(what, dict) else what.alt or "nhlab"


def _figure(panel):
    """The figure of a panel that a page can show."""
    if not isinstance(panel, FigurePanel):
        raise ValueError(
            f"what: a {type(panel).__name__} cannot compute without Python; give a panel of "
            "nh.explore(...) or nh.paper_figure(...), or a dict name -> panel"
        )
    return panel.figure.for_page()


def _document(what, shared=False):
    """A document with one root: the figure."""
    if what == {}:
        raise ValueError("what is empty; give a panel, or a dict name -> panel")
    document = _bokeh("document").Document()
    figure = Models({"": what} if not isinstance(what, dict) else what, shared)
    document.add_root(figure.root)
    document.js_on_event(_bokeh("events").DocumentReady, figure.callback)
    return document


class Models:
    """The Bokeh models of a panel or of several, and the callback that computes and draws.

    Several share the widgets and the diagrams: what is chosen relabels them.
    """

    def __init__(self, panels, shared=False):
        self.models = _bokeh("models")
        self.sheet = self.models.InlineStyleSheet(css=WIDGET)
        figures = [_figure(panel) for panel in panels.values()]
        self.controls = self._widgets(
            [[control(*pair) for pair in x.controls.items()] for x in figures]
        )
        diagrams, motions = [], [panel.motion_for_page() for panel in panels.values()]
        books = [book_of(*pair, diagrams) for pair in zip(figures, motions, strict=True)]
        self.sources, self.glyphs, self.texts, self.figures = [], [], [], []
        self.stage = self._stage() if any(motions) else None
        for diagram in diagrams:
            self._add(diagram)
        names = "controls figures sources glyphs texts legend said caption listing fit asked stage"
        self.legend, self.said, self.caption, self.listing, self.asked = map(
            self._text, (SAID, SAID, TEXT, TEXT, ASKED)
        )
        self.buttons = [self._button(*x) for x in BUTTONS]
        self.fit = self.buttons[1]
        self.fit.visible = False  # until a reader zooms
        args = {name: getattr(self, name) for name in names.split()}
        args["runtime"] = self.models.CustomJS(code="" if shared else _runtime())
        bodies = player() if self.stage and not shared else ""
        args["bodies"] = self.models.CustomJS(code=bodies)
        code = CODE % (KEY, ", ".join(f"() => ({book})" for book in books))
        self.callback = self.models.CustomJS(args=args, code=code)
        for c in self.controls:
            c.js_on_change("value", self.callback)
        self.root = self._lay_out(self._choice(list(panels)) if len(panels) > 1 else [])

    def _text(self, css):
        sheet = self.models.InlineStyleSheet(css=css)
        return self.models.Div(sizing_mode="stretch_width", stylesheets=[sheet])

    def _stage(self):
        """Where the player shows bodies that the runs of the page move."""
        wide = self.models.InlineStyleSheet(css=CLEAR)
        look = {"sizing_mode": "stretch_width", "stylesheets": [wide]}
        return self.models.Div(text=STAGE, disable_math=True, **look)

    def _lay_out(self, choice):
        """Bodies and diagrams beside each other where there is room, and what moves them next, so
        that all are seen at once."""
        Column, Row = self.models.Column, self.models.Row
        wrap = self.models.InlineStyleSheet(css=":host {flex-wrap: wrap; column-gap: 20px}")
        wide = {"sizing_mode": "stretch_width"}
        bar = Row(*self.controls, Row(*self.buttons, align="end"), stylesheets=[wrap], **wide)
        drawn, texts = [self.legend, *self.figures], (self.said, self.caption, self.listing)
        if self.stage:
            half = {"styles": {"flex": f"1 1 {HALF}px", "min-width": "0"}, **wide}
            pair = Column(self.stage, **half), Column(*drawn, **half)
            drawn = [Row(*pair, stylesheets=[wrap], **wide)]
        return Column(*choice, *drawn, bar, self.asked, *texts, **wide)

    def _button(self, label, call):
        width = 60 + 4 * len(label)
        button = self.models.Button(label=label, width=width, align="end", stylesheets=[self.sheet])
        button.js_on_event("button_click", self._call(call))
        return button

    def _call(self, code):
        return self.models.CustomJS(args={"said": self.said}, code=f"said.nhlab.{code}")

    def _choice(self, names):
        """The list to choose a panel from."""
        pairs = [(str(k), name) for k, name in enumerate(names)]
        place = self._place() | {"styles": {"flex": "0 0 auto"}}  # it stands in a column
        which = self.models.Select(title="system", options=pairs, value="0", **place)
        which.js_on_change("value", self._call("open(Number(cb_obj.value))"))
        return [which]

    def _widgets(self, lists):
        """Widgets that serve each list of controls: as many of a kind as the longest needs."""
        made = []
        for kind, key in ((self.models.Select, "options"), (self.models.Slider, "format")):
            fitting = [[x for x in controls if key in x] for controls in lists]
            most = max(fitting, key=len)
            for k, given in enumerate(most):
                first = fitting[0][k] if k < len(fitting[0]) else given
                options = {name: x for name, x in first.items() if name not in ("key", "values")}
                if key == "options":
                    options["options"] = [tuple(pair) for pair in first["options"]]
                else:
                    options["bar_color"] = "#4A90C2"  # seen on white and on black
                place = self._place([name for _, name in first.get("options", [])])
                made.append(kind(visible=k < len(fitting[0]), **options, **place))
        return made

    def _place(self, words=()):
        """How a widget shares its row; one to choose words from has room for the longest."""
        least = max([150, *(30 + 7 * len(x) for x in words)])
        place = {"styles": {"flex": f"1 1 {least}px"}, "sizing_mode": "stretch_width"}
        return place | {"max_width": 320, "stylesheets": [self.sheet]}

    # ---- diagrams

    def _add(self, diagram):
        (width, height), bare = diagram["size"], diagram["bare"]
        size = {"sizing_mode": "stretch_width", "height": height}
        drawing = {"sizing_mode": "scale_width", "aspect_ratio": width / height, "max_width": width}
        figure = _bokeh("plotting").figure(
            **(drawing if bare else size),
            stylesheets=[self.models.InlineStyleSheet(css=LOW)] if self.stage and not bare else [],
            x_range=self.models.Range1d(0, 1),
            y_range=self.models.Range1d(0.1, 1),
            y_axis_type="log" if diagram["logarithmic"] else "linear",
            tools="pan,box_zoom,wheel_zoom,save",
            active_drag=None,  # a finger scrolls the page
            background_fill_color=None,
            border_fill_color=None,
            outline_line_color=None,
        )
        figure.toolbar.logo, figure.toolbar.autohide = None, True
        figure.axis.axis_label_text_font_style = "normal"
        figure.axis.axis_label_text_font = figure.axis.major_label_text_font = ON_PAGES
        figure.axis.axis_label_text_font_size = figure.axis.major_label_text_font_size = "15px"
        if not diagram["logarithmic"]:
            figure.axis.formatter = self.models.CustomJSTickFormatter(code=TICK)
        figure.axis.visible = figure.grid.visible = not bare
        figure.visible = diagram["row"] == 0 and not self.figures
        self.figures.append(figure)
        self.sources.append([])
        self.glyphs.append([])
        for look in diagram["looks"]:
            self._curve(figure, look)
        self.texts.append(self._words(figure) if diagram["labels"] else None)

    def _curve(self, figure, look):
        """The curve, a mark where it stops, a pale ghost of how it was at first, and the mean."""
        source, stop, ghost, mean = (
            self.models.ColumnDataSource({"x": [], "y": []}) for _ in range(4)
        )
        colour, width = look["color"], look.get("linewidth", 1.6)
        dash = [max(1, round(x * width)) for x in _dashes(look.get("linestyle", "-"))]
        # a ghost without dashes, as thin as can be: both take time in each frame
        pale = figure.line("x", "y", source=ghost, line_color=colour, line_alpha=0.4, line_width=1)
        if look.get("linestyle") == "none":
            marker = MARKERS[look["marker"]]
            line = figure.scatter("x", "y", source=source, marker=marker, size=8, color=colour)
            pale.visible = False
        else:
            style = {"line_color": colour, "line_width": width, "line_dash": dash}
            line = figure.line("x", "y", source=source, **style)
        end = figure.scatter("x", "y", source=stop, marker="x", size=14, line_width=4, color=colour)
        end.visible = False
        style = {"line_color": colour, "line_width": width, "line_dash": dash}
        middle = figure.line("x", "y", source=mean, **style)
        self.sources[-1].append([source, end, ghost, mean])
        parts = [x.glyph for x in (line, end, pale, middle)]
        self.glyphs[-1].append([parts, colours(look), width, dash])

    def _words(self, figure):
        columns = {name: [] for name in ("x", "y", "text", "right", "down")}
        source = self.models.ColumnDataSource(columns)
        centred = {"text_align": "center", "text_baseline": "middle", "text_font_size": "18px"}
        centred |= {"text_font": {"value": ON_PAGES}, "text_font_style": "italic"}
        centred |= {"x_offset": {"field": "right"}, "y_offset": {"field": "down"}}
        return figure.text("x", "y", source=source, **centred)


def _dashes(line):
    return DASHES[line] if isinstance(line, str) else line[1]
