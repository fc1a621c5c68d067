"""Motions that follow sliders: ``Screen``, the stage of a panel, and ``motion_panel``.

When a slider has moved, the new scene is sent to the stage that stands in the browser, which takes
it up where it is: the cell is not drawn again, and what plays goes on playing.  ``for_page`` gives
the same to a page that computes runs by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as w
import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import need
from ..mechanics.system import System
from ..mechanics.velocities import start_of
from ..methods import DLA
from ..methods.method import Method
from ..run.arguments import positive
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from .animate import animate
from .panel import Panel, make_controls
from .picture import PAINTS
from .player import KEY, Stage
from .recall import plain
from .setting import Call

# An image that is loaded carries the scene: scripts do not run in the HTML of a widget.
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
LETTER = (
    f'<img alt="no picture, but its data" src="{DOT}" style="display:none" onload="'
    "const el = this.closest('.nhlab-screen').querySelector('.nhlab-stage'), text = '%s';"
    f" if (window.{KEY}) {KEY}.deliver(el, text); else el.news = text;"
    '">'
)


class Screen:
    """The stage of a panel.  ``show`` puts a motion on it, the first as a still with the player,
    the others as letters to this player.

    A panel asks it for what it asks of a picture: ``size`` in pixels, ``png``, and whether there
    is something to be said or to be drawn once more.
    """

    remembers, loose = True, False

    def __init__(self, size: tuple[int, int] = (720, 480)) -> None:
        self.size, self.stage, self.leaving = size, None, []
        self.widens, self.resting = False, True
        self._first, self._letter = w.HTML(), w.HTML(layout={"display": "none"})
        self.box = w.VBox([self._first, self._letter], layout={"overflow": "visible"})
        self.box.add_class("nhlab-screen")

    def show(self, stage: Stage) -> None:
        """Let the stage show another motion of as many runs."""
        first, self.stage = not self._first.value, stage
        if not PAINTS.get():
            return
        if first:
            self._first.value = stage.html_of_widget()
        else:
            self._letter.value = LETTER % stage.packed

    def start(self) -> None:
        """Let the motion begin as soon as it is seen."""
        self._first.value = self.stage.html_of_widget(play=True)

    def png(self, small: bool = False) -> bytes:
        """The still for a file if ``small``; else what was sent, since no picture is drawn here."""
        if self.stage is None:
            return b""
        return self.stage.png if small else self.stage.packed.encode()

    def refit(self) -> None:
        """The stage finds its view by itself."""

    remember = refit


class PanelWithStage(Panel):
    """A panel with a stage beside its picture, which plays also where no kernel runs; without a
    ``screen`` it is as any other.

    The controls stand below the picture, so that all is seen in a small window.
    """

    def __init__(self, screen: Screen | None, *args: Any, **options: Any):
        self.screen = screen  # ``update`` shows a motion on it
        super().__init__(*args, **options)

    def _lay_out(self) -> tuple:
        bar, shown, beside = super()._lay_out()
        if not self.screen:
            return bar, shown, beside
        shown.layout.flex = bar.layout.flex = "0 0 auto"
        place = {"flex": "1 1 420px", "min_width": "0", "max_width": "600px", "overflow": "visible"}
        self.screen.box.layout = place
        beside.children = (self.screen.box, w.VBox([shown, bar], layout=place))
        return bar, shown, beside

    @property
    def stage(self) -> Stage | None:
        """The motion that is shown, None without one."""
        return self.screen.stage if self.screen else None

    def start_motion(self) -> None:
        """Let the motion begin, if there is one, as soon as it is seen."""
        if self.screen:
            self.screen.start()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if self.stage:
            data["text/html"] = self.stage.html() + data["text/html"]
        return bundle


class MotionPanel(Panel):
    """A panel whose picture is a stage, which plays also where no kernel runs."""

    @property
    def stage(self) -> Stage:
        """The motion that is shown."""
        return self.picture.stage

    def start_motion(self) -> None:
        """Let the motion begin as soon as it is seen."""
        self.picture.start()

    def _lay_out(self) -> tuple:
        bar, numbers, beside = super()._lay_out()
        column = w.VBox([self.picture.box, numbers], layout=numbers.layout)
        numbers.layout = {"margin": "0"}
        beside.children = (column, bar)
        return bar, numbers, beside

    def _picture(self, png: bytes) -> str:
        """No image stands above the numbers, since the stage does."""
        return ""

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/html"] = self.stage.html() + data["text/html"]
        return bundle


def motion_panel(
    system: System,
    body: object,
    start: Callable[[dict[str, Any]], tuple[ArrayLike, ArrayLike]],
    curve: Callable[..., Any] | str | None = None,
    *,
    T: float,
    h: float,
    label: str = "",
    method: Method | None = None,
    caption: str = "",
    size: tuple[float, float] = (7.2, 4.0),
    **sliders: tuple[float, ...],
) -> MotionPanel:
    """A system in motion, with sliders for its parameters and its start.

    Parameters
    ----------
    system : an nh.System
    T, h : the length of the runs and their steps
    start : function of the sliders' values that returns (q0, v0)
    label : of the curve
    method : the integrator, by default nh.DLA()
    caption : a sentence below the picture
    body : as in ``animate``;  start(values) -> (q0, v0), from the values of the sliders
    curve : curve(sol) -> (N+1,), or a reading of nhlab.plot, drawn in step below, under ``label``
    size : (width, height), of which the ratio counts
    sliders : (low, high, value) by name; those named like parameters of the system set them

    Examples
    --------
    >>> import nhlab as nh
    >>> def start(values):
    ...     return [0, 0, 0], [values["speed"], 0, 1]
    >>> panel = nh.motion_panel(nh.systems.sleigh(), None, start, T=10, h=0.1, speed=(0, 2, 1))
    >>> list(panel.controls)
    ['speed']
    """
    need(system, System, "system", "nh.System")
    need(start, Callable, "start", "function of the sliders' values that returns (q0, v0)")
    T, h = positive(T, False, "T"), positive(h, False)
    for name, given in sliders.items():
        if name == "t" or not isinstance(given, tuple) or len(given) < 3:
            raise ValueError(f"{name} = {given!r} is no slider (low, high, value); t is the time")
    names = {s.name for s in system.parameters} & set(sliders)
    run = _runner(system, method or DLA(), start, names, h, round(T / h))
    below = (label, curve) if callable(curve) else curve
    look = {"body": body, "below": below, "future": True, "size": size, "caption": caption}

    def update(screen: Screen, values: dict, quick: bool) -> dict:
        sol = run(tuple(values.items()))
        screen.show(animate(sol, **look))
        end = ", ".join(f"{s} = {x:.2f}" for s, x in zip(system.q[:2], sol.q[-1], strict=False))
        return {"at the end": end, "spread of the energy": f"{np.ptp(sol.energy()):.1e}"}

    alt = f"{caption} The moving body above, a curve over time below.".strip()
    code = _written(system, method or DLA(), start, names, h, round(T / h), curve)
    about = {"caption": caption, "alt": alt, "code": code}
    return MotionPanel(Screen(), update, make_controls(sliders), **about)


def _written(
    system: System, method: Method, start: Callable, names: set, h: float, steps: int, curve: Any
) -> Callable[[dict], str]:
    """Values of the sliders -> the call of the run and a plot: of the curve if it is a reading,
    else of the energy, whose spread is read out."""
    name = type(method).__name__.lower()
    reading = curve if isinstance(curve, str) else "energy"

    def code(values: dict) -> str:
        values = plain(values)
        s = system.set(**{k: values[k] for k in names})
        q0, v0 = (tuple(x.tolist()) for x in start_of(s, *start(values)))
        call = Call(s, {name: method}, q0, v0, h, steps, None)
        return call.code(system, f'ax = nh.plot.draw([{name}], "{reading}")')

    return code


def _runner(
    system: System, method: Method, start: Callable, names: set, h: float, steps: int
) -> Callable[[tuple], Trajectory]:
    """The run for a setting of sliders, pairs (name, value); the last is kept."""

    @functools.lru_cache(1)
    def run(setting: tuple) -> Trajectory:
        values = dict(setting)
        s = system.set(**{k: values[k] for k in names})
        return integrate(s, method, *start(values), h=h, steps=steps, progress=False)

    return run


# ---------------------------------------------------------------------------- pages


def for_page(stage: Stage, runs: Sequence[str]) -> dict:
    """What a page needs to move the bodies of a stage by runs that it computes itself.

    runs : the names under which the page knows the runs, one for each actor of the scene
    Gives a dict for JSON: "scene", the text that ``inflate`` and ``mount`` of the player read; for
    each actor "runs"; and "names", the columns that ``stage.take`` asks of a run, coordinates and
    perhaps "t".  A body whose columns are computed in Python is refused.
    """
    for actor in stage.scene.actors:
        if actor.model.columns is not None:
            body = actor.model.says
            raise ValueError(
                f"a page cannot move this body by itself: {body}. What it shows is computed by a "
                "function of the whole run in Python; leave motion out, or play it by nh.animate"
            )
    if len(runs) != len(stage.scene.actors):
        raise ValueError(f"runs = {runs!r} must name {len(stage.scene.actors)} runs")
    names = [actor.model.names() for actor in stage.scene.actors]
    return {"scene": stage.packed, "runs": [*runs], "names": names}
