"""Panels with sliders: one persistent figure whose moving parts are redrawn and sent as PNG.

``Panel`` is the machinery: controls, a picture, a read-out, a caption.  ``explore`` builds the
panel of most lessons from a system and some methods; ``animate`` plays a computed motion.
"""

from __future__ import annotations

import asyncio
import base64
import html
import io
import time
import warnings

import ipywidgets as w
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ..mechanics import catalogue as systems
from ..run.errors import IntegrationError
from ..run.loop import integrate
from . import bodies, plot

PAUSE = 0.25  # seconds without a change after which the full picture is drawn


# ---------------------------------------------------------------------------- the picture


class Picture:
    """An Agg figure; only the artists in ``moving`` are drawn anew on the stored background."""

    def __init__(self, size=(6.4, 4.2), rows=1, columns=1, **subplots):
        import matplotlib as mpl

        with mpl.rc_context(plot.STYLE):
            self.figure = Figure(figsize=size)
            self.axes = self.figure.subplots(rows, columns, squeeze=False, **subplots).ravel()
        self.canvas = FigureCanvasAgg(self.figure)
        self.moving, self._background, self._fitted = [], None, []

    @property
    def ax(self):
        return self.axes[0]

    def line(self, *args, ax=None, **options):
        """A curve without points yet, to be moved by ``set_data``."""
        (line,) = (ax or self.ax).plot(*(args or ([], [])), **options)
        return self.add(line)

    def add(self, artist):
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def changed(self):
        """Say that something fixed changed: limits, labels, legend."""
        self._background = None

    def png(self, small=False):
        """The picture; ``small`` spends time to save space, for a file."""
        if self._background is None:
            self.canvas.draw()
            self._background = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self._background)
        for artist in self.moving:
            if artist.get_visible():
                artist.axes.draw_artist(artist)
        file = io.BytesIO()
        picture = Image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB")
        picture.save(file, "png", compress_level=9 if small else 1)
        return file.getvalue()

    def fit(self, ax, x, y, grow_only=False):
        """Round limits that hold the data and change rarely, so that the axes stand still while a
        slider moves: data that leave them are given room, data that shrink a little are not."""
        ends = ((x, ax.get_xlim, ax.set_xlim, 0.0), (y, ax.get_ylim, ax.set_ylim, 0.02))
        for values, get, put, room in ends:
            values = np.asarray(values, float)
            values = values[np.isfinite(values)]
            if not len(values):
                continue
            low, high, (left, right) = values.min(), values.max(), get()
            below, above = low < left, high > right
            if (ax, put) not in self._fitted:
                self._fitted.append((ax, put))
            elif below or above:
                extra, room = 0.3 * (high - low), 0.0
                low, high = low - extra if below else left, high + extra if above else right
            elif grow_only or high - low > 0.3 * (right - left):
                continue
            elif high - low < 1e-12 * max(1, abs(high)):  # a constant fills no range
                continue
            put(*_round_limits(low, high, room))
            self.changed()

    def forget(self):
        """Let the next ``fit`` choose limits as for the first time."""
        self._fitted.clear()


def _round_limits(low, high, room):
    """The tightest multiples of a round unit that leave ``room`` around [low, high]."""
    width = high - low
    if width <= 1e-13 * max(abs(low), abs(high)):
        width = max(abs(high) * 0.1, 1e-12)
    unit = 10.0 ** np.floor(np.log10(width))
    unit *= 0.5 if width / unit > 3 else 0.2
    low, high = low - room * width, high + room * width
    return unit * np.floor(low / unit + 1e-9), unit * np.ceil(high / unit - 1e-9)


# ---------------------------------------------------------------------------- the panel


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


# ---------------------------------------------------------------------------- explore


def free_velocities(system, q0):
    """Indices of n - m velocities that determine the others through the constraints at q0.

    Columns of A that are constant make the best dependent velocities: they serve at every q.
    """
    A = system.A(q0)
    if not len(A):
        return list(range(len(q0)))
    from scipy.linalg import qr

    columns = zip(*system.symbolic.A, strict=True)
    constant = [all(e.is_number for e in column) for column in columns]
    pivots = qr(A * np.where(constant, 1e3, 1.0), mode="r", pivoting=True)[1]
    return sorted(int(k) for k in pivots[len(A) :])


def complete_velocity(system, q0, v0, free):
    """The velocity with the free components of v0 that satisfies the constraints at q0."""
    A, v = system.A(q0), np.array(v0, float)
    for chosen in (free, free_velocities(system, q0)):  # the second if q0 has moved too far
        bound = [k for k in range(len(v)) if k not in chosen]
        if not bound or np.linalg.cond(A[:, bound]) < 1e8:
            v[bound] = -np.linalg.solve(A[:, bound], A[:, chosen] @ v[chosen]) + 0.0
            return v
    raise ValueError(f"the constraints are dependent at q0 = {q0}")


def explore(
    system,
    methods,
    view="energy",
    *,
    h=(0.01, 0.5, 0.2),
    alpha=None,
    steps=None,
    T=None,
    q0=None,
    v0=None,
    start=(),
    parameters=(),
    caption="",
    size=(6.4, 4.2),
    extra=(),
):
    """A panel of runs of one or more methods on a system, with sliders.

    system : a System, or a list of Systems to choose from
    methods : integrators, one curve each;  view : a reading of nhlab.plot, or two coordinates, or
        a list of views to choose from
    h : (low, high, value) of the step slider;  alpha : (low, high, value), else no slider
    steps or T : the length of the runs, fixed steps or fixed time
    start : names of coordinates and velocities that get sliders, each "x" or ("x", low, high)
    parameters : likewise for parameters of the system
    extra : labels -> functions of a trajectory, added to the read-out of the first method
    """  # fmt: skip
    systems = list(system) if isinstance(system, (list, tuple)) else [system]
    views = list(view) if isinstance(view, (list, tuple)) else [view]
    methods = list(methods) if isinstance(methods, (list, tuple)) else [methods]
    return _Explorer(systems, methods, views, h, alpha, steps, T, q0, v0, start, parameters,
                     caption, size, dict(extra)).panel()  # fmt: skip


class _Explorer:
    """The state behind ``explore``."""

    def __init__(self, systems, methods, views, h, alpha, steps, T, q0, v0, start, parameters,
                 caption, size, extra):  # fmt: skip
        self.systems, self.methods, self.views = systems, methods, views
        for view in views:
            plot.reading(view, systems[0])
        self.T, self.steps = T, steps if steps or T else 1250
        self.caption, self.extra = caption, extra
        s = systems[0]
        q0, v0 = s.q0 if q0 is None else q0, s.v0 if v0 is None else v0
        if q0 is None or v0 is None:
            raise ValueError(f"{'q0' if q0 is None else 'v0'} is missing and {s!r} has no initial "
                             "condition of its own")  # fmt: skip
        self.q0, self.v0 = np.array(q0, float), np.array(v0, float)
        self.free = free_velocities(s, self.q0)
        self.controls = {}
        if len(systems) > 1:
            names = [(x.name or f"system {k}", k) for k, x in enumerate(systems)]
            self.controls["system"] = choice("system", names, 0)
        if len(methods) > 1:
            names = [("all", -1)] + [(plot.label(m), k) for k, m in enumerate(methods)]
            self.controls["method"] = choice("method", names, -1)
        if len(views) > 1:
            self.controls["view"] = choice("view", views)
        self.controls["h"] = slider("step size h", *h)
        if alpha is not None:
            self.controls["alpha"] = slider("alpha", *alpha)
        self.start = [self._named(x, s) for x in start]
        for name, low, high, value in self.start:
            self.controls[name] = slider(f"{name}(0)", low, high, value)
        for given in parameters:
            name, *ends = (given,) if isinstance(given, str) else given
            known = {k.name: x for k, x in s.parameters.items()}
            if name not in known:
                raise ValueError(f"parameters: {name!r} is none of {s!r}; it has {list(known)}")
            value = known[name]
            low, high = ends or (value / 2, 2 * value) if value else (-1, 1)
            self.controls[name] = slider(name, low, high, value)
        self.parameters = [x if isinstance(x, str) else x[0] for x in parameters]
        self.picture = Picture(size)
        ax = self.picture.ax
        self.lines = [self.picture.line(label=plot.label(m), **plot.look(m)) for m in methods]
        self.stops = [self.picture.line(marker="X", markersize=11, linestyle="none",
                      color=plot.look(m)["color"]) for m in methods]  # fmt: skip
        if len(methods) > 1:
            ax.legend(self.lines, [plot.label(m) for m in methods], loc="lower left",
                      bbox_to_anchor=(0, 1.0), ncols=min(4, len(methods)),
                      frameon=False)  # fmt: skip
        self._shown = None

    def _named(self, given, s):
        name, *ends = (given,) if isinstance(given, str) else given
        names = [str(x) for x in (*s.q, *s.v)]
        if name not in names:
            raise ValueError(f"start: {name!r} is neither a coordinate nor a velocity of {s!r}")
        k = names.index(name)
        n = len(s.q)
        if k >= n and k - n not in self.free:
            # let this one be free: exchange it with a free velocity it can replace
            self.free = self._with_free(s, k - n)
        value = float((*self.q0, *self.v0)[k])
        low, high = ends or (value - 1, value + 1)
        return name, low, high, value

    def _with_free(self, s, k):
        wanted = {k} | {j for j in getattr(self, "_asked", set())}
        self._asked = wanted
        A = s.A(self.q0)
        for drop in self.free:
            if drop in wanted:
                continue
            free = sorted({*self.free, k} - {drop})
            bound = [j for j in range(len(self.q0)) if j not in free]
            if np.linalg.cond(A[:, bound]) < 1e6:
                return free
        raise ValueError(f"velocity {s.v[k]} cannot be chosen freely at q0 = {self.q0}")

    def panel(self):
        return Panel(self.picture, self.update, self.controls, caption=self.caption,
                     code=self.code, alt=self.caption)  # fmt: skip

    # ---- what the sliders say

    def setting(self, values):
        s = self.systems[values.get("system", 0)]
        s = s.set(**{k: values[k] for k in self.parameters}) if self.parameters else s
        if len(self.systems) > 1:
            q0, v0 = np.array(s.q0, float), np.array(s.v0, float)
            free = free_velocities(s, q0)
        else:
            q0, v0, free = self.q0.copy(), self.v0.copy(), self.free
        names = [str(x) for x in (*s.q, *s.v)]
        for name, *_ in self.start:
            k = names.index(name)
            (q0 if k < len(q0) else v0)[k % len(q0)] = values[name]
        return s, q0, complete_velocity(s, q0, v0, free)

    def chosen(self, values):
        pick = values.get("method", -1)
        return range(len(self.methods)) if pick < 0 else [pick]

    def method(self, k, values):
        import dataclasses

        m = self.methods[k]
        if "alpha" in values and hasattr(m, "alpha"):
            m = dataclasses.replace(m, alpha=round(values["alpha"], 6))
        return m

    def length(self, values, quick):
        steps = self.steps or max(1, round(self.T / values["h"]))
        return max(1, min(steps, 400)) if quick else steps

    def update(self, picture, values, quick):
        s, q0, v0 = self.setting(values)
        name = values.get("view", self.views[0])
        xlabel, ylabel, f = plot.reading(name, s)
        ax = picture.ax
        key = (name, s.name)
        if key != self._shown:
            ax.set_xlabel(xlabel)
            ax.set_ylabel(ylabel)
            picture.forget()
        text, xs, ys = {}, [], []
        for artist in (*self.lines, *self.stops):
            artist.set_data([], [])
        for k in self.chosen(values):
            m, stopped = self.method(k, values), False
            try:
                sol = integrate(s, m, q0, v0, h=values["h"], steps=self.length(values, quick),
                                progress=False)  # fmt: skip
            except IntegrationError as error:
                sol, stopped = error.trajectory, True
                text["error"] = str(error)
            x, y = f(sol)
            self.lines[k].set_data(x, y)
            if stopped and len(x):
                self.stops[k].set_data(x[-1:], y[-1:])
            xs.append(x)
            ys.append(y)
            text |= self._numbers(sol)
        picture.fit(ax, np.concatenate(xs), np.concatenate(ys), key == self._shown and quick)
        self._shown = key
        return text

    def _numbers(self, sol):
        name = type(sol.method).__name__
        E = sol.energy("midpoints") if type(sol.method).__name__ == "EDLA" else sol.energy()
        numbers = {f"{name}: energy spread": f"{np.ptp(E):.2e}" if len(E) else "-"}
        for label, f in self.extra.items():
            numbers[f"{name}: {label}"] = f"{f(sol):.4g}"
        return numbers

    def code(self, values):
        s, q0, v0 = self.setting(values)
        steps = self.length(values, False)
        numbers = ", ".join(f"{k.name}={x!r}" for k, x in s.parameters.items())
        name, catalogue = s.name.replace(" ", "_"), {**systems.catalogue, **systems.on_groups}
        make = f"system = nh.systems.{name}({numbers})"
        if name not in catalogue:
            make = f"system = system.set({numbers})" if numbers else "# system: your own"
        lines = ["import nhlab as nh", "", make]
        for k in self.chosen(values):
            m = self.method(k, values)
            lines.append(
                f"{type(m).__name__.lower()} = nh.integrate(system, nh.{m!r}, q0={q0.tolist()}, "
                f"v0={v0.tolist()}, h={values['h']:g}, steps={steps})"
            )
        return "\n".join(lines)


# ---------------------------------------------------------------------------- animate


def animate(*sols, body=None, caption="", size=None, frames=200):
    """Play one or two computed motions side by side, with play, pause and a time slider.

    ``body`` draws a system that is not of the catalogue: a function of q that returns outlines,
    arrays of points (k, 2), or a subclass of nh.bodies.Body.
    """
    if not sols:
        raise ValueError("give one or two trajectories to play")
    columns = len(sols)
    picture = Picture(size or (3.4 + 3.2 * (columns - 1) if columns > 1 else 5.2, 4.0), 1, columns)
    end = min(sol.t[-1] for sol in sols)
    movers = []
    for sol, ax in zip(sols, picture.axes, strict=True):
        figure = bodies.body(sol.system, body)
        trace = figure.centre(sol.q)
        low, high = trace.min(0) - figure.size, trace.max(0) + figure.size
        half = max(high - low) / 2
        centre = (low + high) / 2
        ax.set_xlim(centre[0] - half, centre[0] + half)
        ax.set_ylim(centre[1] - half, centre[1] + half)
        ax.set_aspect("equal", adjustable="box")
        ax.set_title(plot.label(sol.method))
        ax.set_xlabel("$x$")
        ax.set_ylabel("$y$")
        ax.plot(*trace.T, color="#BBBBBB", linewidth=1)
        done = picture.line(ax=ax, **plot.look(sol.method))
        parts = [picture.line(ax=ax, color="#333333", linewidth=2)
                 for _ in figure.parts(sol.q[0])]  # fmt: skip
        movers.append((sol, figure, trace, done, parts))

    def update(_, values, __):
        t = values["t"]
        for sol, figure, trace, done, parts in movers:
            q = np.array([np.interp(t, sol.t, column) for column in sol.q.T])
            k = int(np.searchsorted(sol.t, t))
            done.set_data(*np.vstack([trace[:k], figure.centre(q)]).T)
            for line, points in zip(parts, figure.parts(q), strict=True):
                line.set_data(*points.T)
        return {"t =": f"{t:.2f}"}

    step = float(end) / frames  # leads to the end
    time_slider = slider("time t", 0.0, float(end), 0.0, step, digits=2)
    play = w.Play(min=0, max=frames, interval=80, description="play")
    play.observe(
        lambda change: setattr(time_slider, "value", min(end, change["new"] * step)), "value"
    )
    panel = Panel(picture, update, {"t": time_slider}, caption=caption)
    time_slider.observe(
        lambda change: play.set_trait("value", round(change["new"] / step)), "value"
    )
    panel.bar.children = (play, *panel.bar.children)
    panel.play = play
    return panel
