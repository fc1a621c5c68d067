"""``explore``: the panel of most lessons, from a system and some methods."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..mechanics.checks import sequence
from ..mechanics.spelling import nearest
from ..mechanics.system import System
from ..methods.method import Method
from . import plot
from .figure import Axes, Curve, Figure, View, plain
from .limits import LEAST
from .offers import of_change, of_nodes
from .panel import Panel, choice
from .setting import Setting, named
from .sheet import FigurePanel


def explore(
    system: System, methods: Method | Sequence[Method], view: Any = "energy", **options: Any
) -> Panel:
    """A panel of runs of one or more methods on a system, with sliders.

    Parameters
    ----------
    caption : a sentence below the picture
    size : (width, height) of the picture in inches
    system : a System, or a list of Systems to choose from
    methods : integrators, one curve each;  view : a reading of nhlab.plot, or two coordinates, or
        a list of views to choose from
    h : (low, high, value) of the step slider, or a number for steps that no slider changes
    alpha : (low, high, value), else no slider
    rule : True to choose between the alpha rule and the symmetric rule
    steps or T : the length of the runs, fixed steps or fixed time; T=(low, high, value) a slider
    q0, v0 : the start, else the system's own
    start : names of coordinates and velocities that get sliders, each "x" or ("x", low, high),
        where a fourth may say how far one step of the slider goes
    parameters : likewise for parameters of the system
    extra : labels -> functions of a trajectory, added to the read-out of each method
    tries : short questions -> values of controls, each a button
    motion : True to see the system move beside the picture, or the methods it is moved by, as
        ["dla", "rk4"], side by side; on a page of ``nh.live``, too
    body : what moves, as in ``nh.animate``; systems of the catalogue have their own

    The keys of ``panel.controls`` are h, alpha, rule, T, q0.x, v0.vx, par.a.

    Examples
    --------
    >>> import nhlab as nh
    >>> methods = [nh.DLA(), nh.RK4()]
    >>> panel = nh.explore(nh.systems.particle(), methods, h=(0.02, 0.4, 0.2), steps=100)
    >>> list(panel.controls)
    ['method', 'h']
    """
    known = [*inspect.signature(Explorer).parameters]
    for name in options.keys() - {*known}:
        hint = nearest(name, known)
        raise ValueError(f"{name!r} is no option of nh.explore; it has {known}{hint}")
    return FigurePanel(explored(system, methods, view, **options))


def explored(system, methods, view="energy", **options) -> Figure:
    """The figure of ``explore``, without its widgets' panel; arguments as there."""
    return Explorer(system, methods, view, **options).figure()


@dataclass(eq=False)
class Explorer:
    """The options of ``explore``, checked; ``figure`` says what they show."""

    system: object
    methods: object
    view: object = "energy"
    _: KW_ONLY
    h: tuple[float, ...] | float = (0.01, 0.5, 0.2)
    alpha: tuple[Any, ...] | None = None
    rule: bool = False
    steps: int | None = None
    T: object = None
    q0: tuple[Any, ...] | None = None
    v0: tuple[Any, ...] | None = None
    start: tuple[Any, ...] = ()
    parameters: tuple[Any, ...] = ()
    caption: str = ""
    size: tuple[float, float] = (6.4, 4.2)
    extra: Any = ()
    tries: Any = ()
    motion: bool | list[Any] | tuple[Any, ...] = False
    body: Any = None

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

    def _movers(self):
        """The names of the runs whose bodies are shown."""
        if not self.motion:
            return ()
        known = [*self.setting.methods]
        names = known if self.motion is True else [*sequence(self.motion)]
        for name in names:
            if name not in known:
                raise ValueError(f"motion: {name!r} is none of the methods; choose from {known}")
        if len(self.systems) > 1:
            raise ValueError("motion needs one system; here are several to choose from")
        return names

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

    def figure(self):
        """What the panel shows."""
        return Figure(
            self.setting,
            self.controls,
            {view: self._described(view) for view in self.views},
            self.caption,
            self.caption or self._said(),
            size=self.size,
            code=_written,
            warns=True,
            tries=self.tries,
            offers=self._offers(),
            extra=self.extra,
            motion=self._movers(),
            body=self.body,
            quick_steps=QUICK_STEPS,
        )

    def _said(self):
        """What is shown, in words, for a picture without a caption."""
        systems = [s.name or "a system" for s in self.systems]
        methods = [plain(plot.label(m)) for m in self.setting.methods.values()]
        return f"A panel of {', '.join(systems)} by {', '.join(methods)}: {', '.join(self.views)}."

    def _offers(self):
        """View -> the offer of another one that a slider does move."""
        found = {k: of_change(x) for k, x in CHANGES.items() if x in self.views}
        methods = self.setting.methods.values()
        for kept, where in KEPT.items():
            keepers = [type(m).__name__ for m in methods if m.constraint_at == where]
            for view in self.views:
                nodes = view.replace(kept, "node constraint")
                if keepers and view.startswith(kept) and nodes in self.views:
                    found[view] = of_nodes(nodes, [*dict.fromkeys(keepers)])
        return found

    def _described(self, view):
        """One view: a curve for each method."""
        moving = [s for s in self.systems if s.is_affine]  # whose constraints are named so
        r, methods = plot.reading(view, [*moving, *self.systems][0]), self.setting.methods
        kinds = [type(m).__name__ for m in methods.values()]
        curves = []
        for kind, (name, m) in zip(kinds, methods.items(), strict=True):
            words = {"label": plot.label(m), "title": kind if kinds.count(kind) == 1 else repr(m)}
            curves.append(Curve(name, r.source, plot.look(m), discrete=r.discrete, **words))
        end = "T" if r.xlabel == plot.TIME else ""
        # residuals that are rounding are not worth a closer look
        least = LEAST if r.number == "largest" else 0.0
        axes = Axes(r.xlabel, r.ylabel, curves, end, plot.is_path(view), least=least)
        return View([axes], r.number)


def _written(call, own, view):
    """The text of the calls and of the plot."""
    return call.code(own, f'ax = nh.plot.draw([{", ".join(call.methods)}], "{view}")')


QUICK_STEPS = 400  # of each run while a slow panel is dragged
# Beside views of energies those that stay comparable when the start moves.
CHANGES = {"energy": "energy error", "midpoint energy": "midpoint energy error"}
# View -> the ``constraint_at`` of the methods that keep what it shows in each step, up to rounding
# and whatever alpha is.
KEPT = {"discrete constraint": "midpoints", "average constraint": "average"}


def _all_are(kind, name, given, example):
    if not given:
        raise ValueError(f"{name} is empty; give at least one, as {example}")
    for x in given:
        if not isinstance(x, kind):
            raise ValueError(f"{name}: {x!r} is no {kind.__name__}; give one, as {example}")


def _names(option, given):
    """Pairs of a name and the ends of its slider, perhaps with its step; () if none are given."""
    for x in sequence(given):
        name, *ends = sequence(x)
        if not isinstance(name, str) or len(ends) not in (0, 2, 3):
            raise ValueError(
                f"{option}: {x!r} must be a name or (name, low, high), perhaps with a step"
            )
        yield name, tuple(ends)


explore.__signature__ = inspect.signature(Explorer).replace(return_annotation=Panel)
