"""What can be played with where no Python runs: ``nh.live`` and the site take it from here.

``PAGES`` maps a name to a function that makes what ``nh.live`` shows: the main panels of lessons
by the number of their prediction ("02.2"), the figures of the papers by their names
("cm01_fig1"), and "own", where a reader chooses a system of the catalogue.
"""

from functools import partial

import numpy as np

from ..mechanics import catalogue as systems
from ..mechanics.velocities import free_velocities
from ..methods import DLA, EDLA, RK4, Projector, Variational
from ..view.explore import explore
from .figures import STATEMENTS, paper_figure


def robot_by_four():
    methods = [DLA(), Projector(), EDLA(), RK4()]
    views = ["energy", "midpoint energy", "node constraint", "x y"]
    return explore(
        systems.robot(), methods, views, v0=[2, 0, 0.15, 2], T=60, h=(0.1, 0.4, 0.3, 0.01),
        start=[("vtheta", 0.1, 1.5)],
        caption="The robot by four methods; vtheta(0) is how fast its wheels are turned.",
    )  # fmt: skip


def pendulum_by_two():
    methods, starts = [Variational(), RK4()], [("theta", 0.2, 3.0), ("vtheta", -0.5, 0.5)]
    return explore(
        systems.pendulum(), methods, ["energy", "t theta"], h=(0.1, 1.2, 0.1), T=300,
        alpha=(0.3, 0.5, 0.5), rule=True, start=starts,
        caption="The pendulum, released at rest; alpha and rule are those of Variational.",
    )  # fmt: skip


def pendulum_by_alpha():
    return explore(
        systems.pendulum(), [Variational()], ["energy", "t theta"], h=(0.05, 0.8, 0.4),
        alpha=(0.0, 1.0, 0.3), T=60, caption="The alpha rule on the pendulum released at rest.",
    )  # fmt: skip


def particle_by_edla():
    return explore(
        systems.particle(), [EDLA(), DLA()], ["step", "midpoint energy", "energy"],
        h=(0.02, 0.25, 0.1), T=40, alpha=(0.4, 0.6, 0.5), rule=True,
        start=[("y", 0.5, 1.5), ("vx", 0.5, 1.5), ("vy", -1.0, 1.0)],
        caption="EDLA and DLA on the particle; h is the first step of EDLA and every step of DLA.",
    )  # fmt: skip


def driven_by_edla():
    return explore(
        systems.driven().set(eps=0, b=0.3), [DLA(), EDLA()], ["midpoint energy", "step"],
        h=(0.05, 0.15, 0.1), T=30,
        parameters=[("eps", 0, 0.3), ("b", 0, 0.3), ("omega", 0.5, 1.25)],
        caption="Discrete energy of the driven particle.",
    )  # fmt: skip


# ---------------------------------------------------------------------------- a choice of systems


def own():
    """A panel for each system of the catalogue, by its name."""
    every = systems.catalogue | systems.on_groups
    return {make.title: chosen(make()) for make in every.values()}


def chosen(system):
    """A panel with all that may be moved: the start, the parameters, h, alpha and the length.

    A start on holonomic constraints or with a quaternion stays there, so only its velocities move.
    """
    free = free_velocities(system, np.array(system.q0, float))
    start = [str(system.v[k]) for k in free][:4]
    parameters = [] if system.holonomic else [s.name for s in system.parameters][:4]
    if not system.holonomic and len(system.q) == len(system.v):
        start = [str(x) for x in system.q][:2] + start
    return explore(
        system, [m for m in METHODS if treats(m, system)], views(system), h=(0.01, 0.3, 0.1),
        T=(5, 60, 20), alpha=(0, 1, 0.5), start=start, parameters=parameters,
        caption=f"{system.name}; see {system.source}.",
    )  # fmt: skip


METHODS = DLA(), Projector(), EDLA(), RK4()


def treats(method, system):
    try:
        method.check(system)
    except ValueError:
        return False
    return True


def views(system):
    """Readings, and the first two coordinates, of a quaternion those of its axis."""
    names = [str(x) for x in system.q]
    names = names[1:] if len(names) == len(system.v) + 1 == 4 else names
    plane = f"{names[0]} {names[1]}" if len(names) > 1 else f"t {names[0]}"
    constrained = ["node constraint", "discrete constraint"] if system.constraints else []
    return ["energy", plane, "midpoint energy", *constrained, "step"]


PAGES = {
    "00.3": robot_by_four,
    "01.3": pendulum_by_two,
    "01.6": pendulum_by_alpha,
    "02.2": partial(paper_figure, "cm01_fig1"),
    "02.3": partial(paper_figure, "cm01_fig2"),
    "03.4": partial(paper_figure, "fim08_fig2"),
    "05.2": particle_by_edla,
    "05.4": driven_by_edla,
    **{name: partial(paper_figure, name) for name in STATEMENTS},
    "own": own,
}


def of_lesson(number):
    """The names of a lesson's panels, in their order: of_lesson("05") is ["05.2", "05.4"]."""
    return [name for name in PAGES if name.startswith(f"{number}.")]
