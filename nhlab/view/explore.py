"""``explore``: the panel of most lessons, from a system and some methods."""

import inspect
import re
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from ..mechanics.catalogue import catalogue, on_groups
from ..mechanics.checks import sequence
from ..mechanics.velocities import complete_velocity, free_velocities, start_of
from ..run.errors import IntegrationError
from ..run.loop import integrate
from . import plot
from .panel import Panel, choice, slider
from .picture import Picture


def explore(system, methods, view="energy", **options):
    """A panel of runs of one or more methods on a system, with sliders.

    system : a System, or a list of Systems to choose from
    methods : integrators, one curve each;  view : a reading of nhlab.plot, or two coordinates, or
        a list of views to choose from
    h : (low, high, value) of the step slider;  alpha : (low, high, value), else no slider
    steps or T : the length of the runs, fixed steps or fixed time
    q0, v0 : the start, else the system's own
    start : names of coordinates and velocities that get sliders, each "x" or ("x", low, high)
    parameters : likewise for parameters of the system
    extra : labels -> functions of a trajectory, added to the read-out of each method
    """
    e = Explorer(system, methods, view, **options)
    return Panel(e.picture, e.update, e.controls, caption=e.caption, code=e.code)


@dataclass(eq=False)
class Explorer:
    """The options of ``explore``, and what its panel shows for the values of its controls."""

    system: object
    methods: object
    view: object = "energy"
    _: KW_ONLY
    h: tuple = (0.01, 0.5, 0.2)
    alpha: tuple | None = None
    steps: int | None = None
    T: float | None = None
    q0: tuple | None = None
    v0: tuple | None = None
    start: tuple = ()
    parameters: tuple = ()
    caption: str = ""
    size: tuple = (6.4, 4.2)
    extra: dict | tuple = ()

    def __post_init__(self):
        given = (self.system, self.methods, self.view)
        self.systems, self.methods, self.views = map(sequence, given)
        for view in self.views:
            plot.reading(view, self.systems[0])
        if not self.steps and not self.T:
            self.steps = 1250
        self.start, self.parameters = (
            {name: ends for name, *ends in map(sequence, given)}
            for given in (self.start, self.parameters)
        )
        self.starts = [self._start(s) for s in self.systems]
        self.controls = self._choices() | {"h": slider("step size h", *self.h)}
        if self.alpha is not None:
            self.controls["alpha"] = slider("alpha", *self.alpha)
        self.controls |= self._sliders()
        self._prepare(Picture(self.size))

    def _start(self, s):
        """q0, v0 as given, or else the system's own, and the velocities that are free there."""
        q0, v0 = start_of(s, self.q0, self.v0)
        asked = [k for k, v in enumerate(s.v) if str(v) in self.start]
        return q0, v0, free_velocities(s, q0, asked)

    def _choices(self):
        """Drop-down lists of what there are several of."""
        options = {
            "system": [(s.name or f"system {k}", k) for k, s in enumerate(self.systems)],
            "method": [(plot.label(m), k) for k, m in enumerate(self.methods)],
            "view": self.views,
        }
        several = {name: given for name, given in options.items() if len(given) > 1}
        if "method" in several:
            several["method"].insert(0, ("all", -1))
        return {name: choice(name, given) for name, given in several.items()}

    def _sliders(self):
        """Sliders for the start and the parameters, between the ends given or near the value."""
        s, (q0, v0, _), made = self.systems[0], self.starts[0], {}
        state = dict(zip(map(str, (*s.q, *s.v)), (*q0, *v0), strict=True))
        for name, ends in self.start.items():
            if name not in state:
                raise ValueError(f"start: {name!r} is neither a coordinate nor a velocity of {s!r}")
            x = state[name]
            made[name] = slider(f"{name}(0)", *(ends or (x - 1, x + 1)), x)
        known = {symbol.name: x for symbol, x in s.parameters.items()}
        for name, ends in self.parameters.items():
            if name not in known:
                raise ValueError(f"parameters: {name!r} is none of {s!r}; it has {list(known)}")
            x = known[name]
            near = sorted((x / 2, 2 * x)) if x else (-1, 1)
            made[name] = slider(name, *(ends or near), x)
        return made

    def _prepare(self, picture):
        """The artists: a curve for each method, and a mark where it stopped."""
        self.picture, self._shown = picture, None
        looks = [{"label": plot.label(m), **plot.look(m)} for m in self.methods]
        mark = {"marker": "X", "markersize": 11, "linestyle": "none"}
        self.lines = [picture.line(**look) for look in looks]
        self.stops = [picture.line(**{**mark, "color": look["color"]}) for look in looks]
        if len(looks) > 1:
            above = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False}
            picture.ax.legend(handles=self.lines, ncols=min(4, len(looks)), **above)

    def runs(self, values):
        """System, q0, v0, methods by number and count of steps that the controls ask for."""
        k, pick = values.get("system", 0), values.get("method", -1)
        s, (q0, v0, free) = self.systems[k], self.starts[k]
        if self.parameters:
            s = s.set(**{name: values[name] for name in self.parameters})
        moved = {name: values[name] for name in self.start}
        q0, v0 = (
            np.array([moved.get(str(x), y) for x, y in zip(symbols, given, strict=True)])
            for symbols, given in ((s.q, q0), (s.v, v0))
        )
        methods = {k: m for k, m in enumerate(self.methods) if pick in (-1, k)}
        if "alpha" in values:
            alpha = round(values["alpha"], 6)
            with_alpha = {k: m for k, m in methods.items() if hasattr(m, "alpha")}
            methods |= {k: replace(m, alpha=alpha) for k, m in with_alpha.items()}
        steps = self.steps or max(1, round(self.T / values["h"]))
        return s, q0, complete_velocity(s, q0, v0, free), methods, steps

    def update(self, picture, values, quick):
        s, q0, v0, methods, steps = self.runs(values)
        length = {"h": values["h"], "steps": min(steps, 400) if quick else steps}
        view = values.get("view", self.views[0])
        xlabel, ylabel, read = plot.reading(view, s)
        stays = self._shown == (view, s.name)
        if not stays:
            picture.ax.set(xlabel=xlabel, ylabel=ylabel)
            picture.forget()
        for artist in (*self.lines, *self.stops):
            artist.set_data([], [])
        text, curves = {}, []
        for k, m in methods.items():
            try:
                sol, stopped = integrate(s, m, q0, v0, **length, progress=False), False
            except IntegrationError as error:
                sol, stopped = error.trajectory, True
                text["error"] = str(error)
            x, y = read(sol)
            self.lines[k].set_data(x, y)
            if stopped:
                self.stops[k].set_data(x[-1:], y[-1:])
            curves.append((x, y))
            text |= self._numbers(sol)
        picture.fit(picture.ax, *np.hstack(curves))
        self._shown = (view, s.name)
        return text

    def _numbers(self, sol):
        name = type(sol.method).__name__
        E = sol.energy("midpoints") if name == "EDLA" else sol.energy()
        numbers = {f"{name}: energy spread": f"{np.ptp(E):.2e}" if len(E) else "-"}
        return numbers | {f"{name}: {x}": f"{f(sol):.4g}" for x, f in dict(self.extra).items()}

    def code(self, values):
        """The calls that reproduce what is shown."""
        s, q0, v0, methods, steps = self.runs(values)
        numbers = ", ".join(f"{k.name}={x!r}" for k, x in s.parameters.items())
        name = s.name.replace(" ", "_")
        make = f"system = system.set({numbers})" if numbers else "# system: your own"
        if name in catalogue or name in on_groups:
            make = f"system = nh.systems.{name}({numbers})"
        lines = ["import nhlab as nh", "", make]
        run = f"q0={q0.tolist()}, v0={v0.tolist()}, h={values['h']:g}, steps={steps}"
        for m in methods.values():
            method = re.sub(r"\w+\(", r"nh.\g<0>", repr(m))  # and those it is composed of
            lines.append(f"{type(m).__name__.lower()} = nh.integrate(system, {method}, {run})")
        return "\n".join(lines)


explore.__signature__ = inspect.signature(Explorer).replace(return_annotation=Panel)
