"""``live``: a panel as a page of its own, which computes in the browser.

Drawn by Bokeh, whose sliders call JavaScript: the generated steps and readings of ``run.script``
and the runtime in ``page.js``.  A page needs neither a server nor a network.
"""

from html import escape
from pathlib import Path

from .outline import options, plain, runtime

DASHES = {
    "none": [],
    "-": [],
    "--": [3.7, 1.6],
    "-.": [6.4, 1.6, 1, 1.6],
    ":": [1, 1.65],
}  # Matplotlib's
MARKERS = {"o": "circle", "X": "x"}
POINT = 100 / 72  # a point of Matplotlib in pixels of a panel
SAID = """:host {font-size: 14px} div {line-height: 1.5}
span {display: inline-block; margin-right: 1.6em}
b {font-variant-numeric: tabular-nums}
.stop {color: #C62828; min-height: 1.5em}"""
CODE = """const page = said.nhlab ?? (said.nhlab = (() => {
const {Page, np, py} = window.nhlab_runtime ??= new Function(runtime.code)();
return new Page(%s, {controls, figures, sources, glyphs, texts, said});
})());
page.redraw();"""
# Widgets in the colours of the system, which are dark where the page is.
WIDGET = """:host {font-size: 14px} .bk-input, .bk-btn {color: FieldText; background-color: Field}
select.bk-input {appearance: auto; background-image: none; padding: 0 6px}"""
TEMPLATE = """
{% block preamble %}<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {color-scheme: light dark; font-family: system-ui, sans-serif}
html > body {margin: 0 auto; padding: 8px; max-width: 1000px; height: auto; color: CanvasText}
</style>{% endblock %}"""


def live(what, path=None):
    """A panel as one HTML file that computes by itself, for slides and homepages.

    what : a panel of ``nh.explore`` or ``nh.paper_figure``, or a dict name -> panel to choose from
    path : where to write it; without one it is shown in the notebook

    The page has the panel's sliders, curves and verdict, and makes no network request.  Runs are
    those of ``nh.integrate``, but for one thing: a step that Newton's method does not find is not
    tried once more with pivoting.
    """
    page = Live(what)
    if path is None:
        return page
    path = Path(path)
    path.write_text(page.html(), encoding="utf-8")
    return path


def components(what):
    """(script, div) of a panel for a page that has loaded Bokeh's scripts: bokeh, bokeh-widgets."""
    embed = _bokeh("embed")
    return embed.components(_document(what).roots[0])


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
        raise ImportError("nh.live draws with Bokeh, which is missing: pip install bokeh") from None


def _title(what):
    return "nhlab" if isinstance(what, dict) else what.alt or "nhlab"


def _outline(panel):
    if not hasattr(panel, "outline"):
        raise ValueError(
            f"what = {panel!r} is no panel that can compute without Python; give one of "
            "nh.explore(...) or nh.paper_figure(...)"
        )
    return panel.outline()


def _document(what):
    """A document with one root: the figure, or a choice of figures."""
    models, Document = _bokeh("models"), _bokeh("document").Document
    document = Document()
    some = what if isinstance(what, dict) else {"": what}
    shared = models.CustomJS(code=runtime() + "\nreturn {Page, np, py};")
    figures = [Figure(_outline(panel), shared) for panel in some.values()]
    roots = [x.root for x in figures]
    if isinstance(what, dict):
        pairs = [(str(k), name) for k, name in enumerate(what)]
        which = models.Select(title="system", options=pairs, value="0", max_width=360)
        for k, root in enumerate(roots):
            root.visible = k == 0
        code = "roots.forEach((x, k) => {x.visible = k === Number(cb_obj.value)})"
        which.js_on_change("value", models.CustomJS(args={"roots": roots}, code=code))
        roots = [models.Column(which, *roots, sizing_mode="stretch_width")]
    document.add_root(roots[0])
    for x in figures:
        document.js_on_event(_bokeh("events").DocumentReady, x.callback)
    return document


class Figure:
    """The Bokeh models of an outline, and the callback that computes and draws."""

    def __init__(self, outline, shared):
        self.models, self.outline = _bokeh("models"), outline
        self.sheet = self.models.InlineStyleSheet(css=WIDGET)
        self.controls = [self._control(c) for c in outline.controls.values()]
        self.sources, self.glyphs, self.texts = [], [], []
        self.figures = [self._view(view) for view in outline.views.values()]
        sheet = self.models.InlineStyleSheet(css=SAID)
        self.said = self.models.Div(sizing_mode="stretch_width", stylesheets=[sheet])
        names = ("controls", "figures", "sources", "glyphs", "texts", "said")
        args = {name: getattr(self, name) for name in names}
        args["runtime"] = shared
        self.callback = self.models.CustomJS(args=args, code=CODE % outline.script())
        for c in self.controls:
            c.js_on_change("value", self.callback)
        self.root = self._lay_out()

    def _lay_out(self):
        Column, Row, Div = (getattr(self.models, x) for x in ("Column", "Row", "Div"))
        wrap = self.models.InlineStyleSheet(css=":host {flex-wrap: wrap; column-gap: 20px}")
        buttons = [self._button("Reset", "reset"), self._button("Fit axes", "fit_axes")]
        wide = {"sizing_mode": "stretch_width"}
        bar = Row(*self.controls, *buttons, stylesheets=[wrap], **wide)
        figures = [x for view in self.figures for x in view]
        size = self.models.InlineStyleSheet(css=":host {font-size: 14px; line-height: 1.4}")
        caption = Div(text=escape(plain(self.outline.caption)), stylesheets=[size], **wide)
        return Column(bar, *figures, self.said, caption, **wide)

    def _button(self, label, name):
        button = self.models.Button(label=label, width=90, align="end", stylesheets=[self.sheet])
        code = f"said.nhlab.{name}()"
        button.js_on_event(
            "button_click", self.models.CustomJS(args={"said": self.said}, code=code)
        )
        return button

    def _control(self, c):
        place = {"styles": {"flex": "1 1 150px"}, "sizing_mode": "stretch_width", "max_width": 320}
        place["stylesheets"] = [self.sheet]
        values = options(c)
        if values is not None:
            names = [x[0] if isinstance(x, tuple) else x for x in c.options]
            pairs = [(str(k), plain(name)) for k, name in enumerate(names)]
            chosen = str(values.index(c.value))
            return self.models.Select(title=c.description, options=pairs, value=chosen, **place)
        digits = int(c.readout_format[1:-1]) if c.readout_format.endswith("f") else 0
        form = "0." + "0" * digits if digits else "0"
        ends = {"start": c.min, "end": c.max, "step": c.step, "value": c.value}
        return self.models.Slider(title=c.description, format=form, **ends, **place)

    # ---- diagrams

    def _view(self, view):
        self.sources.append([])
        self.glyphs.append([])
        self.texts.append([])
        height = int(100 * self.outline.size[1] / len(view.axes))
        made = [self._figure(axes, height) for axes in view.axes]
        for x in made:
            x.visible = not self.figures_before
        return made

    @property
    def figures_before(self):
        """Is there a view already?  The first one is shown."""
        return len(self.sources) > 1

    def _figure(self, axes, height):
        Range = self.models.Range1d
        options = {"y_axis_type": "log" if axes.logarithmic else "linear"}
        figure = _bokeh("plotting").figure(
            height=height,
            sizing_mode="stretch_width",
            x_range=Range(*(axes.x or (0, 1))),
            y_range=Range(*(axes.y or (0, 1))),
            x_axis_label=plain(axes.xlabel),
            y_axis_label=plain(axes.ylabel),
            tools="pan,box_zoom,wheel_zoom,save",
            active_drag=None,  # a finger scrolls the page
            background_fill_color=None,
            border_fill_color=None,
            outline_line_color=None,
            **options,
        )
        figure.toolbar.logo = None
        figure.toolbar.autohide = True
        figure.axis.axis_label_text_font_style = "normal"
        figure.axis.axis_label_text_font_size = figure.axis.major_label_text_font_size = "13px"
        named = [(c, self._curve(figure, c)) for c in axes.curves]
        self.texts[-1].append(self._words(figure) if axes.labels else None)
        figure.axis.visible = figure.grid.visible = not axes.bare
        self._legend(figure, [(c, line) for c, line in named if c.look.get("label")])
        return figure

    def _curve(self, figure, curve):
        """The curve, a mark where it stops, and a pale ghost of how it was at first."""
        source, stop, ghost = (self.models.ColumnDataSource({"x": [], "y": []}) for _ in range(3))
        colour, width = curve.look["color"], curve.look.get("linewidth", 1.6) * POINT
        dash = [max(1, round(x * width)) for x in _dashes(curve.look.get("linestyle", "-"))]
        style = {"line_color": colour, "line_width": width, "line_dash": dash}
        pale = {"line_color": colour, "line_width": width, "line_alpha": 0.3}  # dashes take time
        pale = figure.line("x", "y", source=ghost, **pale)
        if curve.look.get("linestyle") == "none":
            marker = MARKERS[curve.look["marker"]]
            line = figure.scatter("x", "y", source=source, marker=marker, size=8, color=colour)
            pale.visible = False
        else:
            line = figure.line("x", "y", source=source, **style)
        end = figure.scatter("x", "y", source=stop, marker="x", size=14, line_width=4, color=colour)
        self.sources[-1].append([source, stop, ghost])
        self.glyphs[-1].append([x.glyph for x in (line, end, pale)])
        return line

    def _words(self, figure):
        source = self.models.ColumnDataSource({"x": [], "y": [], "text": []})
        centred = {"text_align": "center", "text_baseline": "middle", "text_font_size": "18px"}
        return figure.text("x", "y", source=source, **centred)

    def _legend(self, figure, named):
        if len(named) < 2:
            return
        items = [(plain(c.look["label"]), [line]) for c, line in named]
        legend = self.models.Legend(
            items=items, location="top_left", ncols=2, border_line_color=None
        )
        legend.background_fill_color, legend.padding, legend.margin = None, 0, 0
        legend.glyph_width, legend.click_policy, legend.label_text_font_size = 34, "hide", "13px"
        figure.add_layout(legend, "above")


def _dashes(line):
    return DASHES[line] if isinstance(line, str) else line[1]
