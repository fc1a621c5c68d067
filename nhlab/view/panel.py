"""Panels: controls, a picture, a read-out and a caption that follow each other."""

from __future__ import annotations

import asyncio
import base64
import functools
import math
import re
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from html import escape
from numbers import Real
from types import SimpleNamespace
from typing import Any

import ipywidgets as w
import numpy as np
from traitlets import CFloat

from ..mechanics.checks import need
from .columns import in_columns
from .errors import bar_shares
from .offers import are_same
from .picture import Picture
from .plot import BRIGHT, DARK
from .recall import call_from_outside, code_recreating

# JupyterLab may send the changes of a slider to another thread than the one that runs the cells,
# and matplotlib and the filters of warnings belong to all: one drawing at a time.
LOCK = threading.RLock()
PAUSE = 0.25  # seconds without a change after which the full picture is drawn
# A picture becomes this much smaller before the controls move from beside to above it: as wide as
# SHRINK says, and a tall one no higher than fits with its numbers into a small screen.
SHRINK, HEIGHT = 0.85, 470
RUN = "Run the notebook to move the sliders."
CONTROL = {
    "style": {"description_width": "80px"},
    "layout": {"flex": "1 1 220px", "width": "auto", "max_width": "360px", "min_width": "0"},
}
BUTTON = {"layout": {"width": "auto"}}
LINE = {"flex": "1 1 100%", "margin": "0", "height": "18px"}  # a line of a row alone, for a word
TRY = '<b class="nhlab-tries">Try</b>'  # above the buttons for settings to try
ASIDE = 240  # pixels for the controls beside a picture
STARTS = 2  # so many sliders for the start are seen at once
# A slider has its name and its value above it; what is touched is at least 24 pixels high.
LOOK = """<style>
.nhlab-panel {--jp-widgets-slider-handle-size: 24px; --jp-widgets-slider-border-width: 2px}
.nhlab-panel .widget-hslider {flex-wrap: wrap; height: auto; align-items: center}
.nhlab-panel .widget-hslider > .widget-label {order: 1; flex: 1 1 40%; width: auto; height: 22px;
    line-height: 22px; text-align: left; margin: 0}
.nhlab-panel .widget-hslider > .widget-readout {order: 2; flex: 0 0 auto; text-align: right;
    font-weight: 600; margin: 0; height: 22px; line-height: 22px; border: 0; overflow: visible}
.nhlab-panel .widget-hslider > .slider-container {order: 3; flex: 1 1 100%; height: 34px;
    margin: 0; padding: 10px 12px 0; box-sizing: border-box}
.nhlab-panel .widget-hslider.nhlab-main > .widget-label {font-weight: 600}
.nhlab-panel .nhlab-tries {display: block; line-height: 18px}
.nhlab-panel .nhlab-try button, .nhlab-panel button.nhlab-try {border-radius: 14px; height: 28px;
    line-height: 26px; padding: 0 12px; background: transparent; overflow: visible;
    border: 1px solid var(--jp-border-color1, #999); color: var(--jp-ui-font-color1, #111)}
.nhlab-panel button.nhlab-try.mod-info {background: var(--jp-ui-font-color1, #111);
    color: var(--jp-layout-color0, #fff)}
.nhlab-panel button.nhlab-offer {height: auto; min-height: 28px; white-space: normal;
    line-height: 1.3; padding: 4px 12px; text-align: left}
.nhlab-bars {display: grid; grid-template-columns: auto minmax(40px, 1fr) auto; gap: 0 12px;
    align-items: center; max-width: 46em; margin-top: 2px}
.nhlab-bars > div {display: contents}
.nhlab-bars > div > span:first-child {font-weight: 600; color: var(--light)}
.nhlab-bars i {height: 7px; border-radius: 4px; background: rgba(127, 127, 127, .22)}
.nhlab-bars b {display: block; height: 7px; min-width: 1px; border-radius: 4px;
    background: var(--light)}
[data-jp-theme-light="false"] .nhlab-bars > div > span:first-child {color: var(--dark)}
[data-jp-theme-light="false"] .nhlab-bars b {background: var(--dark)}
</style>"""
# One piece of HTML, since each widget that changes costs a message: picture, numbers, messages.
PICTURE = (
    '<img alt="{alt}" class="nhlab-picture" src="{source}" width="{width}" height="{height}"'
    ' decoding="sync" style="{style};height:auto;display:block;margin:0;background:#fff;'
    'border-radius:6px">'
)
LINES = (
    '<div style="min-height:3em;margin-top:4px;line-height:1.5;overflow-wrap:anywhere">'
    '<div style="opacity:{}">{}</div><div>{}</div></div>'
)
GREY = 0.45  # the opacity of what was said of the last picture while the next is computed
CELL = (
    '<span style="display:inline-block;margin-right:1.6em">{} '
    '<b style="font-variant-numeric:tabular-nums">{}</b></span> '
)
# The size of each bar beside the others; rows of a grid, so that bars begin below each other.
BARS = '<div class="nhlab-bars">{}</div>'
BAR = (
    '<div style="--light:{};--dark:{}"><span>{} </span><i><b style="width:{:.1f}%"></b></i>'
    '<span style="font-variant-numeric:tabular-nums">{}</span></div> '
)
NUMBER = r'<span style="white-space:nowrap">\g<0></span>'
MESSAGE = '<span style="color:var(--jp-error-color1,#B00020)">{}</span>'
TRACE = (
    "<details><summary>{} <small>(where?)</small></summary>"
    '<pre style="overflow-x:auto;line-height:1.3">{}</pre></details>'
)
NOTE = '<div style="max-width:60em;line-height:1.4">{}</div>'
LISTING = (
    '<pre style="user-select:all;background:#f5f5f5;color:#111;padding:.6em;margin:0;'
    'line-height:1.4;overflow-x:auto">{}</pre>'
)
# The browser copies by itself: it lets only a click do so, and a kernel's answer is none.
COPY = """<button class="jupyter-button widget-button lm-Widget" style="width:auto;margin:0"
 title="copy the call that gives this" onclick="
    const panel = this.closest('.nhlab-panel'), listing = panel.querySelector('.nhlab-listing');
    const code = listing.querySelector('pre'), say = text => {
        this.textContent = text; setTimeout(() => {this.textContent = 'Copy as code'}, 2000); };
    const byHand = () => { getSelection().selectAllChildren(code);
        say(document.execCommand('copy') ? 'Copied' : 'Press Ctrl+C'); };
    listing.style.display = 'block';
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(
        () => say('Copied'), byHand);
    else byHand();">Copy as code</button>"""

# Opens and closes the code below the panel, which follows the sliders.
SHOW = """<button class="jupyter-button widget-button lm-Widget" style="width:auto;margin:0 0 0 4px"
 title="the call that gives this, below" onclick="
    const listing = this.closest('.nhlab-panel').querySelector('.nhlab-listing');
    const open = listing.style.display === 'none';
    listing.style.display = open ? 'block' : 'none';
    this.textContent = open ? 'Hide the code' : 'Show the code';">Show the code</button>"""


def synchronized(method):
    """The method, for one thread at a time."""

    @functools.wraps(method)
    def locked(*args, **kwargs):
        with LOCK:
            return method(*args, **kwargs)

    return locked


class Bar(str):
    """A text of a read-out with a bar before it, whose length compares its size with the others'.

    size : not negative;  colour : of the bar and of its label, one of ``plot.COLOURS`` or another
    """

    def __new__(cls, text: str, size: float, colour: str):
        self = super().__new__(cls, text)
        self.size, self.colour = float(size), colour
        return self


Update = Callable[[Picture, dict[str, Any], bool], dict[str, Any] | None]  # draws, and reads out
Code = Callable[[dict[str, Any]], str]  # the call that makes what is shown


class Panel(w.VBox):
    """Controls, a picture and a read-out that follow each other.

    Of the controls some are seen at once and the others under "More": ``first`` names those, else
    all are seen.  ``tries`` maps questions to
    settings, which buttons set.  ``offer(values)`` may give one more, (words, values), for the
    present setting.

    ``update(picture, values, quick)`` moves the artists of ``picture`` and returns the read-out,
    a dict of label -> text.  ``quick`` is True while a slider moves and the last full drawing was
    slow.  ``code(values)`` gives the call that reproduces what is shown; without it the panel is
    made once more.  Errors become a sentence in the panel.  The curves of the first drawing stay as
    pale ghosts.  Saved notebooks keep the last picture.

    ``image``, ``readout`` and ``message`` hold what is shown, each in its ``value``.
    """

    def __init__(
        self,
        picture: Picture,
        update: Update,
        controls: Mapping[str, Any],
        *,
        caption: str = "",
        code: Code | None = None,
        alt: str = "",
        first: Sequence[str] | None = None,
        tries: Any = (),
        offer: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.picture, self._update, caption = picture, update, caption or ""
        self._code = code or code_recreating(call_from_outside())
        self.controls, self.alt = controls, alt or caption
        self._defaults = self.values
        self._slow, self._timer, self._silent, self._grey = False, None, False, False
        self._stopping = None  # the first setting, if nothing of it can be remembered
        self._offer = offer or (lambda values: None)
        self._tries = {words: self._defaults | x for words, x in dict(tries).items()}
        self._check_tries(dict(tries))
        self.image, self.readout, self.message, self.trace = (
            SimpleNamespace(value=x) for x in (b"", "", "", "")
        )
        self.size = tuple(int(x) for x in picture.size)
        self.bar, self.shown, beside = self._lay_out()
        self.listing = w.HTML(layout={"display": "none"})
        self.listing.add_class("nhlab-listing")
        note = w.HTML(f"<style>{DARK}</style>" + LOOK + NOTE.format(escape(caption)))
        super().__init__([beside, self.listing, note])
        self.layout.overflow = "visible"
        self.add_class("nhlab-panel")
        for c in controls.values():
            c.observe(self._on_change, "value")
        self.draw()
        self._fill_bar(controls if first is None else first)

    def _check_tries(self, tries):
        for words, values in tries.items():
            for name, x in values.items():
                if name not in self.controls:
                    known = [*self.controls]
                    raise ValueError(f"tries: {words!r} sets {name!r}; choose from {known}")
                _check_value(name, self.controls[name], x)

    def _lay_out(self):
        """Picture and controls, beside each other where there is room, else one below the other."""
        width, height = self.size
        least = min(SHRINK, HEIGHT / height) * width
        bar = w.Box(layout={"flex": f"1 1 {ASIDE}px", "flex_flow": "row wrap"})
        bar.layout.grid_gap = "2px 20px"
        bar.layout.max_width = "760px"
        shown = w.HTML(layout={"flex": f"1000 1 {least:.0f}px", "margin": "0"})
        shown.layout.max_width = f"{width}px"
        beside = w.Box([shown, bar], layout={"flex_flow": "row wrap", "grid_gap": "4px 20px"})
        for box in (bar, shown, beside):
            box.layout.overflow, box.layout.min_width = "visible", "0"
        bar.layout.align_content = "flex-start"
        return bar, shown, beside

    def _fill_bar(self, first):
        """What is seen at once, what may be tried, and the rest under More."""
        front = [self.controls[k] for k in first]
        rest = [c for k, c in self.controls.items() if k not in first]
        if front and hasattr(front[0], "max"):
            front[0].add_class("nhlab-main")
        copy = [w.HTML(COPY + SHOW, layout={"margin": "2px"})] if self._code is not None else []
        under = self._more([*rest, *copy]) if rest else ()
        reset = w.Button(description="Reset", tooltip="back to the initial values", **BUTTON)
        reset.on_click(lambda _: self.reset())
        buttons = _row([*self._try_buttons(), reset, *(under[:1] if rest else copy)])
        buttons.layout.flex = "1 1 100%"
        self.bar.children = (*front, buttons, *under[1:])

    def _try_buttons(self):
        """A button for each setting to try, and one for what the present setting calls for."""
        self._trying = {}
        for words, values in self._tries.items():
            button = w.Button(description=words, tooltip="set the sliders so", **BUTTON)
            button.on_click(lambda _, values=values: self.set(**values))
            button.add_class("nhlab-try")
            self._trying[words] = button
        self.offer = w.Button(layout={"width": "auto", "display": "none", "max_width": "100%"})
        self.offer.add_class("nhlab-try")
        self.offer.add_class("nhlab-offer")
        self.offer.on_click(lambda _: self.set(**self._offer(self.values)[1]))
        self._mark_tries()
        return [*[w.HTML(TRY, layout=LINE)] * bool(self._tries), *self._trying.values(), self.offer]

    def _mark_tries(self):
        """Show which of the settings is the present one, and what is offered."""
        for words, button in getattr(self, "_trying", {}).items():
            style = "info" if are_same(self._tries[words], self.values) else ""
            if button.button_style != style:
                button.button_style = style
        if hasattr(self, "offer"):
            words, values = self._offer(self.values) or ("", None)
            display = "" if words else "none"
            if words and self.offer.description != words:
                self.offer.description, self.offer.disabled = words, values is None
            if (self.offer.layout.display or "") != display:
                self.offer.layout.display = display

    def _more(self, rest):
        """A button that opens the rest in place; the next panel opens as this one was left."""
        box = _row(rest)
        box.layout.flex, box.layout.display = "1 1 100%", "flex" if OPENED["more"] else "none"
        self.more = w.ToggleButton(OPENED["more"], description="More", icon="plus", **BUTTON)
        self.more.add_class("nhlab-more")

        def turned(change):
            OPENED["more"] = change["new"]
            box.layout.display = "flex" if change["new"] else "none"
            self.more.icon = "minus" if change["new"] else "plus"

        self.more.observe(turned, "value")
        return self.more, box

    # ---- values

    @property
    def values(self) -> dict[str, Any]:
        return {k: c.value for k, c in self.controls.items()}

    @synchronized
    def set(self, **values: Any) -> None:
        """Set several controls at once and draw once."""
        for name in values.keys() - self.controls.keys():
            raise ValueError(f"there is no control {name!r}; choose from {list(self.controls)}")
        for name, x in values.items():
            _check_value(name, self.controls[name], x)
        self._silent = True
        try:
            for k, x in values.items():
                self.controls[k].value = x
        finally:
            self._silent = False
        self.draw()

    @synchronized
    def reset(self) -> None:
        self.picture.refit()
        self.set(**self._defaults)

    # ---- drawing

    @synchronized
    def _on_change(self, change):
        # The front end holds back further changes until this one is answered, so drawing here
        # and now drops outdated positions of the slider instead of queueing them.
        if self._silent:
            return
        try:
            loop, dragged = asyncio.get_running_loop(), self._timer is not None
        except RuntimeError:  # a script or a test: a hand that never rests
            loop, dragged = None, True
        slow, resting = self._slow, not (dragged and hasattr(change["owner"], "max"))
        self._show(slow, resting)
        if self._timer is not None:
            self._timer.cancel()
        if loop:
            self._timer = loop.call_later(PAUSE, self._rest, slow)
            return
        if slow:
            self._show(False, resting, widens=True)  # the same move once more
        self._list()

    @synchronized
    def _rest(self, slow):
        """What follows when no slider has moved for a while."""
        self._timer = None
        if slow or self.picture.loose:
            self._show()
        self._list()

    @synchronized
    def draw(self) -> None:
        """Compute and show; a failure is a sentence under the picture."""
        self._show()
        self._list()

    def _show(self, quick=False, resting=True, widens=False):
        if self._slow and not quick and not self._grey and self.shown.value:
            self._say_grey(True)
        begun = time.perf_counter()
        self.picture.widens, self.picture.resting = quick or widens, resting
        text, said = self._compute(self.values, quick)
        computed = time.perf_counter() - begun
        if not quick and not said and not self.picture.remembers:
            self._remember()
        self._grey = quick and not said
        self.image.value = self.picture.png()
        if not quick:
            self._slow = computed > max(0.05, time.perf_counter() - begun - computed)
        if not self._grey:  # of a run that is cut short nothing is said
            self.readout.value = readout_of(text)
        self.message.value = MESSAGE.format(escape(said)) if said else ""
        self.shown.value = self._page()
        self._mark_tries()

    def _say_grey(self, grey):
        """What was said of the last picture is pale as long as the next takes."""
        self._grey = grey
        self.shown.value = self._page()

    def _compute(self, values, quick=False):
        """The read-out, and what is to be said."""
        self.picture.leaving, self.picture.loose, self.trace.value = [], False, ""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                text = self._update(self.picture, values, quick) or {}
                if not isinstance(text, dict):
                    raise TypeError(f"update gave {text!r}; it must give a dict or None")
                text = dict(text)
        except (ValueError, ArithmeticError, RuntimeError) as error:
            self.trace.value = traceback.format_exc()
            return {}, str(error)
        except Exception as error:  # a slip in a reader's own function
            if not self.image.value:
                raise
            self.trace.value = traceback.format_exc()
            return {}, f"{type(error).__name__}: {error}"
        notes = [str(c.message) for c in caught if issubclass(c.category, RuntimeWarning)]
        return text, str(text.pop("error", "")) or "; ".join(dict.fromkeys(notes))

    def _remember(self):
        """Keep the curves that the sliders gave at first, for the present choices; where something
        stops there, none are kept."""
        first = {k: self._defaults[k] if hasattr(c, "max") else c.value
                 for k, c in self.controls.items()}  # fmt: skip
        if first == self._stopping:
            return
        moved = first != self.values
        if moved and self._compute(first)[1]:
            self._stopping = first
        else:
            self.picture.remember()
        if moved:
            self._compute(self.values)

    def _page(self):
        """Picture, numbers and messages as one piece of HTML."""
        said = self.message.value
        if self.trace.value:
            said = TRACE.format(said, escape(self.trace.value))
        elif not said:
            said = escape(" ".join(self.picture.leaving))
        return self._picture(self.image.value) + LINES.format(
            GREY if self._grey else 1, self.readout.value, said
        )

    def _picture(self, png):
        return in_columns(PICTURE, png, self.alt, self.picture.cuts, self.size)

    @synchronized
    def _list(self):
        if self._code is None:
            return
        try:
            code = self._code(self.values)
        except (ValueError, ArithmeticError, RuntimeError) as error:  # there is no such run
            code = f"# {error}"
        self.listing.value = LISTING.format(escape(code))

    # ---- without a kernel

    @synchronized
    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, png = bundle[0] if isinstance(bundle, tuple) else bundle, self.picture.png(small=True)
        data["image/png"] = base64.b64encode(png).decode()
        data["text/html"] = f"{self._picture(png)}<p><i>{RUN}</i></p>"
        data["text/plain"] = f"[panel: {self.alt} {RUN}]"
        return bundle


OPENED = {"more": False}  # as the reader left it


def first_of(controls: dict) -> list:
    """The controls of runs that are seen at once: h, alpha, and two that say how a run begins, or
    as many more as there is no h and alpha; then which system it is.  The view, the methods, the
    rule and T are not among them; where there is nothing else, all are."""
    more = [k for k in controls if k.startswith(("q0.", "v0."))]
    more += [k for k in controls if k.startswith("par.")]
    front = [k for k in ("h", "alpha") if k in controls]
    front += more[: STARTS + 2 - len(front)]
    front += [k for k in ("system",) if k in controls]
    return front or [*controls]


def _row(widgets):
    layout = {"flex_flow": "row wrap", "overflow": "visible", "grid_gap": "2px 4px"}
    return w.Box(widgets, layout=layout)


def _check_value(name, control, x):
    """Refuse what the control cannot show; a slider would take the nearest it has."""
    if hasattr(control, "max"):
        room = 1e-9 * (control.max - control.min)  # copied code has twelve digits
        if not (isinstance(x, Real) and control.min - room <= x <= control.max + room):
            raise _outside(name, control, x)
    elif hasattr(control, "options"):
        known = [y[1] if isinstance(y, tuple) and len(y) == 2 else y for y in control.options]
        if x not in known:
            raise ValueError(f"{name} = {x!r} is no choice; choose one of {known}")


def _outside(name, control, x):
    ends = f"[{control.min:g}, {control.max:g}]"
    return ValueError(f"{name} = {x!r} is no number in {ends}, the range of its slider")


def readout_of(text: dict) -> str:
    """A read-out as HTML: labels and texts in a line, and those that are a Bar below each other."""
    cells = [CELL.format(_text(k), _text(x)) for k, x in text.items() if not isinstance(x, Bar)]
    bars = {k: x for k, x in text.items() if isinstance(x, Bar)}
    shares = bar_shares([x.size for x in bars.values()]) if bars else []
    rows = [
        BAR.format(x.colour, BRIGHT.get(x.colour, x.colour), _text(k), 100 * share, _text(x))
        for (k, x), share in zip(bars.items(), shares, strict=True)
    ]
    return "".join(cells) + (BARS.format("".join(rows)) if rows else "")


def _text(x):
    """As HTML; a line does not end within 5.9e-04."""
    return re.sub(r"\d[\d.]*e-\d+", NUMBER, escape(str(x)))


class _Guarded:
    """A slider whose front end can send nothing but a number: no other limits, no NaN."""

    def set_state(self, sync_data):
        value = sync_data.get("value")
        if isinstance(value, (int, float)) and math.isfinite(value):
            super().set_state({"value": value})


class Finite(CFloat):
    """A number: not NaN, which lies neither below nor above the range of a slider."""

    def validate(self, obj, value):
        value = super().validate(obj, value)
        if math.isnan(value):
            raise _outside(obj.description, obj, value)
        return value


class FloatSlider(_Guarded, w.FloatSlider):
    value = Finite(0.0).tag(sync=True)


class IntSlider(_Guarded, w.IntSlider):
    pass


class Dropdown(w.Dropdown):
    """A list whose front end can choose one of the options, and nothing else."""

    def set_state(self, sync_data):
        if sync_data.get("index") in range(len(self.options)):
            super().set_state({"index": sync_data["index"]})


def slider(
    label: str,
    low: float,
    high: float,
    value: float,
    step: float | None = None,
    digits: int | None = None,
) -> w.FloatSlider:
    """A slider that shows a clean number; its steps lead exactly to ``value`` and, where they can,
    to ``high``: the browser moves a value that lies between two steps."""
    top = int(np.floor(np.log10((high - low) / 50)))
    nice = [float(f"{m}e{top - k}") for k in range(2) for m in (5, 2, 1)]

    def meeting(*ends):
        fine = [x for x in nice if x <= (high - low) / 50]
        return [x for x in fine if all(abs(y / x - round(y / x)) < 1e-6 for y in ends)]

    step = step or (meeting(value - low, high - low) or meeting(value - low) or nice[-1:])[0]
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9))) if digits is None else digits
    limits = {"min": low, "max": high, "step": step, "readout_format": f".{digits}f"}
    return FloatSlider(value, description=label, **limits, **CONTROL)


def whole(label: str, low: int, high: int, value: int, step: int = 1) -> w.IntSlider:
    return IntSlider(value, low, high, step, description=label, **CONTROL)


def choice(label: str, options: Sequence[Any], value: Any = None) -> w.Dropdown:
    """A drop-down list; ``options`` are names or pairs (name, value)."""
    chosen = {"index": 0} if value is None else {"value": value}
    return Dropdown(options=options, description=label, **chosen, **CONTROL)


def _control(name, given):
    """(low, high, value[, step]) -> slider; a list -> drop-down; a widget with a value as it is."""
    if isinstance(given, w.Widget) and given.has_trait("value"):
        return given
    if isinstance(given, list) and given:
        return choice(name, given)
    if not are_ends(given):
        raise ValueError(
            f"{name} = {given!r} is no control; give (low, high, value) with low <= value <= high, "
            "a list of choices, or a widget that has a value, such as ipywidgets.Checkbox()"
        )
    if all(isinstance(x, int) for x in given):
        return whole(name, *given)
    return slider(name, *given)


def are_ends(given):
    """(low, high, value), perhaps with a step: finite, and low <= value <= high?"""
    if not isinstance(given, (tuple, list)) or len(given) not in (3, 4):
        return False
    finite = all(isinstance(x, Real) and math.isfinite(x) for x in given)
    return finite and given[0] < given[1] and given[0] <= given[2] <= given[1]


def panel(
    picture: Picture,
    update: Update,
    *,
    caption: str = "",
    code: Code | None = None,
    alt: str = "",
    **controls: Any,
) -> Panel:
    """A panel from short specifications: ``h=(0.01, 0.5, 0.2)``, ``method=["DLA", "RK4"]``.

    Parameters
    ----------
    picture : an nh.Picture
    update : function (picture, values, quick) that moves the artists and may return a read-out
    caption, alt : a sentence below the picture, and what is on it for screen readers
    code : function of the values that returns the call which makes what is shown
    controls : a slider (low, high, value) or a list to choose from, by name

    Examples
    --------
    >>> import nhlab as nh
    >>> picture = nh.Picture((4, 3))
    >>> line = picture.add(picture.ax.plot([], [])[0])
    >>> def update(picture, values, quick):
    ...     line.set_data([0, 1], [0, values["slope"]])
    >>> panel = nh.panel(picture, update, alt="A line with a slope to choose.", slope=(0, 2, 1))
    >>> panel.set(slope=2)
    """
    need(picture, Picture, "picture", "nh.Picture")
    need(update, Callable, "update", "function of (picture, values, quick)")
    made = make_controls(controls)
    return Panel(picture, update, made, caption=caption, code=code, alt=alt)


def make_controls(given: dict) -> dict:
    """Controls by name from short specifications, as ``panel`` takes them."""
    return {name: _control(name, x) for name, x in given.items()}


def play(panel: Panel, name: str, frames: int | None = None, interval: int = 80) -> Panel:
    """Let a play button move the slider ``name`` of a panel, and follow it; gives the panel.

    ``frames`` ticks, ``interval`` milliseconds apart, lead from one end of the slider to the other;
    without ``frames`` each tick is a step of the slider.
    """
    if not hasattr(panel.controls.get(name), "max"):
        raise ValueError(f"name = {name!r} is no slider; choose from {list(panel.controls)}")
    moved = panel.controls[name]
    low, step = moved.min, (moved.max - moved.min) / frames if frames else moved.step

    def tick(value):
        return round((value - low) / step)

    button = w.Play(value=tick(moved.value), max=tick(moved.max), interval=interval)
    button.description = "play"
    button.observe(lambda change: setattr(moved, "value", low + change["new"] * step), "value")
    moved.observe(lambda change: setattr(button, "value", tick(change["new"])), "value")
    panel.bar.children = (button, *panel.bar.children)
    panel.play = button
    return panel
