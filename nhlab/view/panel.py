"""Panels: controls, a picture, a read-out and a caption that follow each other."""

import asyncio
import base64
import html
import time
import warnings

import ipywidgets as w
import numpy as np

PAUSE = 0.25  # seconds without a change after which the full picture is drawn
LAYOUT = {"style": {"description_width": "80px"}, "layout": {"width": "300px"}}
CELL = (
    '<span style="margin-right:1.6em;white-space:nowrap">{} '
    '<b style="font-variant-numeric:tabular-nums">{}</b></span>'
)
MESSAGE = '<span style="color:#B00020">{}</span>'
LISTING = (
    '<pre style="user-select:all;background:#f5f5f5;color:#111;padding:.6em;overflow-x:auto">'
    "{}</pre>"
)


class Panel(w.VBox):
    """Controls, a picture and a read-out that follow each other.

    ``update(picture, values, quick)`` moves the artists of ``picture`` and returns the read-out,
    a dict of label -> text.  ``quick`` is True while a slider moves and the last full drawing was
    slow.  ``code(values)`` gives the call that reproduces what is shown.  Errors become a
    sentence in the panel.  Saved notebooks keep the last picture.
    """

    def __init__(self, picture, update, controls, *, caption="", code=None, alt=""):
        self.picture, self._update, self._code = picture, update, code
        self.controls, self.alt = controls, alt or caption
        self._defaults = self.values
        self._slow, self._timer, self._silent = False, None, False
        width, height = (int(x) for x in picture.figure.bbox.size)
        fixed = {"min_width": f"{width}px", "min_height": f"{height}px", "object_fit": "contain"}
        self.image = w.Image(format="png", width=width, height=height, layout=fixed)
        self.readout = w.HTML(layout={"min_height": "3.4em"})
        self.message = w.HTML(layout={"min_height": "1.6em"})
        self.listing = w.HTML(layout={"display": "none"})
        buttons = [w.Button(description="Reset", tooltip="back to the initial values")]
        buttons[0].on_click(lambda _: self.reset())
        if code is not None:
            button = w.Button(description="Copy as code", tooltip="show the call that gives this")
            button.on_click(lambda _: self._toggle_code())
            buttons.append(button)
        self.bar = w.HBox([*controls.values(), *buttons], layout={"flex_flow": "row wrap"})
        note = w.HTML(f'<div style="max-width:60em;line-height:1.4">{caption}</div>')
        super().__init__([self.bar, self.image, self.readout, self.message, self.listing, note])
        for c in controls.values():
            c.observe(self._on_change, "value")
        self.draw()
        picture.remember()

    # ---- values

    @property
    def values(self):
        return {k: c.value for k, c in self.controls.items()}

    def set(self, **values):
        """Set several controls at once and draw once."""
        self._silent = True
        try:
            for k, x in values.items():
                self.controls[k].value = x
        finally:
            self._silent = False
        self.draw()

    def reset(self):
        self.picture.forget()
        self.set(**self._defaults)
        self.picture.remember()

    # ---- drawing

    def _on_change(self, _):
        # The front end holds back further changes until this one is answered, so drawing here
        # and now drops outdated positions of the slider instead of queueing them.
        if self._silent:
            return
        self.draw(quick=self._slow)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._slow:
            try:
                self._timer = asyncio.get_running_loop().call_later(PAUSE, self.draw)
            except RuntimeError:  # no event loop: a script or a test
                self.draw()

    def draw(self, quick=False):
        """Compute and show; a failure is a sentence under the picture."""
        begun = time.perf_counter()
        text, said = {}, ""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                text = self._update(self.picture, self.values, quick) or {}
            notes = [str(c.message) for c in caught if issubclass(c.category, RuntimeWarning)]
            said = str(text.pop("error", "")) or "; ".join(dict.fromkeys(notes))
        except (ValueError, ArithmeticError, RuntimeError) as error:
            said = str(error)
        computed = time.perf_counter() - begun
        self.image.value = self.picture.png()
        if not quick:
            self._slow = computed > max(0.05, time.perf_counter() - begun - computed)
        self.message.value = MESSAGE.format(html.escape(said)) if said else ""
        self.readout.value = "".join(CELL.format(*pair) for pair in text.items())
        self._show_code()

    def _toggle_code(self):
        layout = self.listing.layout
        layout.display = "block" if layout.display == "none" else "none"
        self._show_code()

    def _show_code(self):
        if self.listing.layout.display != "none":
            self.listing.value = LISTING.format(html.escape(self._code(self.values)))

    # ---- without a kernel

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["image/png"] = base64.b64encode(self.picture.png(small=True)).decode()
        data["text/plain"] = f"[panel: {self.alt} Run the notebook to move the sliders.]"
        return bundle


def slider(label, low, high, value, step=None, digits=None):
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
    return w.FloatSlider(value, description=label, **limits, **LAYOUT)


def whole(label, low, high, value):
    return w.IntSlider(value, low, high, description=label, **LAYOUT)


def choice(label, options, value=None):
    """A drop-down list; ``options`` are names or pairs (name, value)."""
    chosen = {"index": 0} if value is None else {"value": value}
    return w.Dropdown(options=options, description=label, **chosen, **LAYOUT)


def _control(name, given):
    """(low, high, value[, step]) -> slider; a list -> drop-down; a widget as it is."""
    if isinstance(given, w.Widget):
        return given
    if isinstance(given, list):
        return choice(name, given)
    if all(isinstance(x, int) for x in given):
        return whole(name, *given[:3])
    return slider(name, *given)


def panel(picture, update, *, caption="", code=None, alt="", **controls):
    """A panel from short specifications: ``h=(0.01, 0.5, 0.2)``, ``method=["DLA", "RK4"]``."""
    made = {name: _control(name, given) for name, given in controls.items()}
    return Panel(picture, update, made, caption=caption, code=code, alt=alt)


def play(panel, name, frames=None, interval=80):
    """Let a play button move the slider ``name`` of a panel, and follow it; gives the panel.

    ``frames`` ticks, ``interval`` milliseconds apart, lead from one end of the slider to the other;
    without ``frames`` each tick is a step of the slider.
    """
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
