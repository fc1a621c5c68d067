"""Panels: controls, a picture, a read-out and a caption that follow each other."""

from __future__ import annotations

import asyncio
import base64
import html
import time
import warnings

import ipywidgets as w
import numpy as np

PAUSE = 0.25  # seconds without a change after which the full picture is drawn


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
        self._defaults = {k: c.value for k, c in controls.items()}
        self._slow, self._timer, self._silent = False, None, False
        width, height = (int(x) for x in picture.figure.bbox.size)
        self.image = w.Image(format="png", width=width, height=height)
        self.image.layout.min_width, self.image.layout.min_height = f"{width}px", f"{height}px"
        self.image.layout.object_fit = "contain"
        self.readout = w.HTML(layout={"min_height": "3.4em"})
        self.message = w.HTML(layout={"min_height": "1.6em"})
        self.listing = w.HTML()
        self.listing.layout.display = "none"
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
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                text = self._update(self.picture, self.values, quick) or {}
            notes = [str(c.message) for c in caught if issubclass(c.category, RuntimeWarning)]
            self._say(text.pop("error", "") or "; ".join(dict.fromkeys(notes)))
        except (ValueError, ArithmeticError, RuntimeError) as error:
            text = {}
            self._say(str(error))
        computed = time.perf_counter() - begun
        self.image.value = self.picture.png()
        if not quick:
            self._slow = computed > max(0.05, time.perf_counter() - begun - computed)
        cells = "".join(
            f'<span style="margin-right:1.6em;white-space:nowrap">{k} '
            f'<b style="font-variant-numeric:tabular-nums">{v}</b></span>'
            for k, v in text.items()
        )
        self.readout.value = cells
        if self.listing.layout.display != "none":
            self._show_code()

    def _say(self, sentence):
        sentence = html.escape(str(sentence))
        self.message.value = f'<span style="color:#B00020">{sentence}</span>' if sentence else ""

    def _toggle_code(self):
        hidden = self.listing.layout.display == "none"
        self.listing.layout.display = "block" if hidden else "none"
        if hidden:
            self._show_code()

    def _show_code(self):
        code = html.escape(self._code(self.values))
        self.listing.value = (
            '<pre style="user-select:all;background:#f5f5f5;color:#111;padding:.6em;'
            f'overflow-x:auto">{code}</pre>'
        )

    # ---- without a kernel

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["image/png"] = base64.b64encode(self.picture.png(small=True)).decode()
        data["text/plain"] = f"[panel: {self.alt} Run the notebook to move the sliders.]"
        return bundle


# ---------------------------------------------------------------------------- controls


def slider(label, low, high, value, step=None, digits=None):
    """A slider that shows a clean number; its steps lead exactly to ``value`` and, where they can,
    to ``high``: the browser moves a value that lies between two steps."""
    top = np.floor(np.log10((high - low) / 50))
    nice = [float(f"{m}e{int(top) - k}") for k in range(2) for m in (5, 2, 1)]

    def meets(x, ends):
        return x <= (high - low) / 50 and all(abs(y / x - round(y / x)) < 1e-6 for y in ends)

    both = [x for x in nice if meets(x, (value - low, high - low))]
    step = step or (both or [x for x in nice if meets(x, (value - low,))] or nice[-1:])[0]
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9))) if digits is None else digits
    return w.FloatSlider(
        value=value, min=low, max=high, step=step, description=label, readout_format=f".{digits}f",
        continuous_update=True, style={"description_width": "80px"}, layout={"width": "300px"},
    )  # fmt: skip


def whole(label, low, high, value):
    return w.IntSlider(
        value=value, min=low, max=high, description=label, continuous_update=True,
        style={"description_width": "80px"}, layout={"width": "300px"},
    )  # fmt: skip


def choice(label, options, value=None):
    """A drop-down list; ``options`` are names or pairs (name, value)."""
    return w.Dropdown(
        options=options, value=options[0] if value is None else value, description=label,
        style={"description_width": "80px"}, layout={"width": "300px"},
    )  # fmt: skip


def _control(name, given):
    """(low, high, value[, step]) -> slider; a list -> drop-down; a widget as it is."""
    if isinstance(given, w.Widget):
        return given
    if isinstance(given, list):
        return choice(name, given)
    low, high, value, *step = given
    if all(isinstance(x, int) for x in given):
        return whole(name, low, high, value)
    return slider(name, low, high, value, *step)


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
    low, width = moved.min, moved.max - moved.min
    step = width / frames if frames else moved.step

    def tick(value):
        return round((value - low) / step)

    button = w.Play(
        value=tick(moved.value), min=0, max=tick(moved.max), interval=interval, description="play"
    )
    button.observe(lambda change: setattr(moved, "value", low + change["new"] * step), "value")
    moved.observe(lambda change: setattr(button, "value", tick(change["new"])), "value")
    panel.bar.children = (button, *panel.bar.children)
    panel.play = button
    return panel
