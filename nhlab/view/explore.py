"""``explore``: the panel of most lessons, from a system and some methods."""

from __future__ import annotations

import numpy as np

from ..mechanics import catalogue as systems
from ..run.errors import IntegrationError
from ..run.loop import integrate
from . import plot
from .panel import Panel, choice, slider
from .picture import Picture


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
