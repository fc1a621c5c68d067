"""``explore``: the panel of most lessons, from a system and some methods."""

import inspect
import itertools
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from ..mechanics.checks import sequence
from ..mechanics.system import System
from ..methods.method import Method
from ..run.errors import IntegrationError
from . import plot
from .limits import calm_points, who_leaves
from .outline import Axes, Curve, Outline, View, plain, reading_of
from .panel import Panel, are_same, choice
from .picture import Picture
from .recall import again, call_from_outside
from .setting import Setting, named, of_catalogue


def explore(system, methods, view="energy", **options):
    """A panel of runs of one or more methods on a system, with sliders.

    system : a System, or a list of Systems to choose from
    methods : integrators, one curve each;  view : a reading of nhlab.plot, or two coordinates, or
        a list of views to choose from
    h : (low, high, value) of the step slider;  alpha : (low, high, value), else no slider
    rule : True to choose between the alpha rule and the symmetric rule
    steps or T : the length of the runs, fixed steps or fixed time; T=(low, high, value) a slider
    q0, v0 : the start, else the system's own
    start : names of coordinates and velocities that get sliders, each "x" or ("x", low, high)
    parameters : likewise for parameters of the system
    extra : labels -> functions of a trajectory, added to the read-out of each method
    tries : short questions -> values of controls, each a button

    The keys of ``panel.controls`` are h, alpha, rule, T, q0.x, v0.vx, par.a.
    """
    known = [*inspect.signature(Explorer).parameters]
    for name in options.keys() - {*known}:
        raise ValueError(f"{name!r} is no option of nh.explore; it has {known}")
    e = Explorer(system, methods, view, **options)
    own = not all(map(of_catalogue, e.systems))  # then the panel is made once more, if it can be
    code = (again(call_from_outside()) if own else None) or e.code
    about = {"caption": e.caption, "code": code, "tries": e.tries, "offer": e.offer}
    panel = Panel(e.picture, e.update, e.controls, **about)
    panel.outline = e.outline
    return panel


@dataclass(eq=False)
class Explorer:
    """The options of ``explore``, and what its panel shows for the values of its controls."""

    system: object
    methods: object
    view: object = "energy"
    _: KW_ONLY
    h: tuple = (0.01, 0.5, 0.2)
    alpha: tuple | None = None
    rule: bool = False
    steps: int | None = None
    T: object = None
    q0: tuple | None = None
    v0: tuple | None = None
    start: tuple = ()
    parameters: tuple = ()
    caption: str = ""
    size: tuple = (6.4, 4.2)
    extra: dict | tuple = ()
    tries: dict | tuple = ()

    def __post_init__(self):
        given = (self.system, self.methods, self.view)
        self.systems, methods, self.views = map(sequence, given)
        _all_are(System, "system", self.systems, "nh.systems.particle()")
        _all_are(Method, "methods", methods, "nh.DLA()")
        _all_are(str, "view", self.views, "'energy'")
        for view, s in itertools.product(self.views, self.systems):
            plot.reading(view, s)
        self.extra = self.extra or {}
        if not (isinstance(self.extra, dict) and all(map(callable, self.extra.values()))):
            raise ValueError(f"extra = {self.extra!r} must be a dict of labels -> functions")
        if self.steps is None and self.T is None:
            self.steps = 1250
        runs = {k: getattr(self, k) for k in ("h", "alpha", "rule", "steps", "T", "q0", "v0")}
        self.setting = Setting(self.systems, named(methods), **runs, sliders=self._asked())
        self.controls = self._choices() | self.setting.controls()
        self._defaults = self.setting.defaults
        self._prepare(Picture(self.size))

    def _asked(self):
        """The keys of the sliders for the start and the parameters, with their ends."""
        asked = {}
        for s in self.systems:  # each must have them
            keys = {str(x): f"q0.{x}" for x in s.q} | {str(x): f"v0.{x}" for x in s.v}
            for name, ends in _names("start", self.start):
                if name not in keys:
                    raise ValueError(
                        f"start: {name!r} is neither a coordinate nor a velocity of {s!r}; "
                        f"it has {[*keys]}"
                    )
                asked[keys[name]] = ends
            known = [symbol.name for symbol in s.parameters]
            for name, ends in _names("parameters", self.parameters):
                if name not in known:
                    raise ValueError(f"parameters: {name!r} is none of {s!r}; it has {known}")
                asked[f"par.{name}"] = ends
        return asked

    def _choices(self):
        """Drop-down lists of what there are several of."""
        methods = [plot.label(m) for m in self.setting.methods.values()]
        options = {
            "system": [(s.name or f"system {k}", k) for k, s in enumerate(self.systems)],
            "method": [(text, k) for k, text in enumerate(methods)],
            "view": self.views,
        }
        several = {name: given for name, given in options.items() if len(given) > 1}
        if "method" in several:
            several["method"].insert(0, ("all", -1))
        return {name: choice(name, given) for name, given in several.items()}

    def _prepare(self, picture):
        """The artists: a curve for each method, and a mark where it stopped."""
        self.picture, self._shown = picture, None
        methods = self.setting.methods.values()
        looks = [{"label": plot.label(m), **plot.look(m)} for m in methods]
        kinds = [type(m).__name__ for m in methods]
        self._titles = [
            k if kinds.count(k) == 1 else repr(m) for k, m in zip(kinds, methods, strict=True)
        ]
        mark = {"marker": "X", "markersize": 11, "linestyle": "none"}
        self.lines = [picture.line(**look) for look in looks]
        self.stops = [picture.line(**{**mark, "color": look["color"]}) for look in looks]
        if len(looks) > 1:
            above = {"loc": "lower left", "bbox_to_anchor": (0.08, 1), "frameon": False}
            picture.ax.legend(handles=self.lines, ncols=min(4, len(looks)), **above)

    def _view(self, values):
        return values.get("view", self.views[0])

    def _picked(self, values):
        """Names of the runs to be shown, with their places."""
        pick = values.get("method", -1)
        return {k: n for k, n in enumerate(self.setting.methods) if pick in (-1, k)}

    def update(self, picture, values, quick):
        view, system = self._view(values), self.setting.own(values)
        shown = view, system.name
        if self._shown != shown:
            r, first = plot.reading(view, system), self._shown is None
            self._shown = shown
            picture.forget()
            picture.changed()
            picture.ax.set(xlabel=r.xlabel, ylabel=r.ylabel)
            picture.ax.set_aspect("equal" if plot.is_path(view) else "auto")
            if not first:  # the setting that a change is seen against
                kept = {k: values[k] for k in ("system", "method", "view") if k in values}
                self._draw(picture, self._defaults | kept, False)
                picture.remember()
        return self._draw(picture, values, quick)

    def _draw(self, picture, values, quick):
        call, view = self.setting.call(values), self._view(values)
        r = plot.reading(view, call.system)
        for artist in (*self.lines, *self.stops):
            artist.set_data([], [])
        text, curves = {}, []
        for k, name in self._picked(values).items():
            try:
                sol, stopped = call.run(name, 400 if quick else None), False
            except IntegrationError as error:
                sol, stopped = error.trajectory, True
                text["error"] = str(error)
            title = self._titles[k]
            if r.discrete and not sol.method.discrete:
                text[f"{title}:"] = f"has no {view}"
                continue
            x, y = r.read(sol)
            self.lines[k].set_data(x, y)
            if stopped:
                self.stops[k].set_data(x[-1:], y[-1:])
            curves.append((title, x, y))
            text |= self._numbers(title, view, r, x, y)
            for label, f in self.extra.items():
                text[f"{title}: {label}"] = f"{_number(label, f(sol)):.4g}"
        hold(picture, picture.ax, curves, call.T if r.xlabel == plot.TIME else None)
        return text

    def _numbers(self, title, view, r, x, y):
        """The number of the curve that is drawn."""
        what = "ends at" if r.number == "end" else f"{view} {r.number}"
        return {f"{title}: {what}": plot.NUMBERS[r.number](x, y) if len(y) else "-"}

    def offer(self, values):
        """Another view of energies whose level has moved with the start."""
        return offer_of_change(values, self._defaults, self._view(values), CHANGES, self.views)

    def outline(self):
        """The same for a page without Python, which says that what ``extra`` reads is left out."""
        views = {view: self._outlined(view) for view in self.views}
        out = f" Not on this page: {', '.join(dict(self.extra))}." if self.extra else ""
        about = {"size": self.size, "code": self._written, "warns": True}
        about |= {"tries": self.tries, "changes": CHANGES}
        return Outline(self.setting, self.controls, views, self.caption + out, **about)

    def _outlined(self, view):
        r, names = plot.reading(view, self.systems[0]), self.setting.methods
        reading = reading_of(view, self.systems[0])
        looks = [plot.look(m) | {"label": plot.label(m) * (len(names) > 1)} for m in names.values()]
        curves = [
            Curve(name, reading, look, title, discrete=r.discrete)
            for name, look, title in zip(names, looks, self._titles, strict=True)
        ]
        what = "ends at" if r.number == "end" else f"{view} {r.number}"
        end = "T" if r.xlabel == plot.TIME else ""
        axes = Axes(r.xlabel, r.ylabel, curves, end, plot.is_path(view))
        return View([axes], {}, {"what": what, "number": r.number, "view": view})

    def code(self, values):
        """The calls that reproduce what is shown, and the plot."""
        call, picked = self.setting.call(values), self._picked(values).values()
        call = replace(call, methods={name: call.methods[name] for name in picked})
        return self._written(call, self.setting.own(values), self._view(values))

    def _written(self, call, own, view):
        return call.code(own, f'ax = nh.plot.draw([{", ".join(call.methods)}], "{view}")')


def hold(picture: Picture, ax, curves: list, end: float | None = None):
    """Fit the axes to curves (name, x, y), each as far as a picture can show it; of what leaves it
    a sentence is said.  If ``end`` is given, the horizontal axis is [0, end]."""
    shown = [(x, y) if end is None else (x[x <= end], y[x <= end]) for _, x, y in curves]
    parts = [(x[:k], y[:k]) for x, y in shown for k in [calm_points(y)]]
    x, y = np.hstack([([], []), *parts])
    picture.fit(ax, x, y, end)
    for (name, *_), (whole, values), (_, held) in zip(curves, shown, parts, strict=True):
        low, high = ax.get_ylim()
        if len(held) < len(values) and not (low <= values.min() and values.max() <= high):
            axis, most = plain(ax.get_xlabel()).split(" ")[-1], values[np.abs(values).argmax()]
            picture.leaving.append(who_leaves(name, axis, whole[len(held)], most))


# Views of energies, and those that stay comparable when the start moves.
CHANGES = {"energy": "energy error", "midpoint energy": "midpoint energy error"}


def offer_of_change(values: dict, first: dict, view: str, changes: dict, views) -> tuple | None:
    """If the start was moved in a view of energies: words, and values that show their change."""
    start = {k: x for k, x in first.items() if k.startswith(("q0.", "v0."))}
    if are_same(start, values) or changes.get(view) not in [*views]:
        return None
    return "The start moves E: show E - E(0)", values | {"view": changes[view]}


def _number(label, x):
    if np.ndim(x) or not np.isreal(x):
        raise ValueError(f"extra {label!r} gave {x!r}; it must give a number")
    return x


def _all_are(kind, name, given, example):
    if not given:
        raise ValueError(f"{name} is empty; give at least one, as {example}")
    for x in given:
        if not isinstance(x, kind):
            raise ValueError(f"{name}: {x!r} is no {kind.__name__}; give one, as {example}")


def _names(option, given):
    """Pairs of a name and the ends of its slider, () if none are given."""
    for x in sequence(given):
        name, *ends = sequence(x)
        if not isinstance(name, str) or len(ends) not in (0, 2):
            raise ValueError(f"{option}: {x!r} must be a name or (name, low, high)")
        yield name, tuple(ends)


explore.__signature__ = inspect.signature(Explorer).replace(return_annotation=Panel)
