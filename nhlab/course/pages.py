"""What can be played with where no Python runs: ``nh.live`` and the site take it from here.

``PAGES`` maps a name to a function that makes what ``nh.live`` shows: the panels of lessons by the
number of their prediction ("01.3") or, if they have none, by a letter ("05.a"), among them figures
of the papers that open on another view ("02.3"); those that a page adds to a lesson ("04.added");
the figures of the papers by their names ("cm01_fig1"); and "own", where a reader chooses a system
of the catalogue.

A lesson's panel is written in its notebook and nowhere else: of the notebook's code, what its call
needs is run here.
"""

import ast
import re
import string
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import nbformat
import numpy as np
from sympy import Symbol

from ..mechanics import catalogue as systems
from ..mechanics import machines
from ..mechanics.velocities import free_velocities
from ..methods import DLA, EDLA, RK4, Projector
from ..view.explore import explore, explored
from ..view.sheet import FigurePanel
from .cells import run
from .figures import STATEMENTS, paper_figure
from .notebooks import FOLDER

PREDICTION = re.compile(r'nh\.predict\("(\d\db?\.\d+)"')

# ---------------------------------------------------------------------------- panels of the lessons


class Panel:
    """A panel of its own that a notebook makes; calling it makes the same one again.

    notebook : the name of the notebook
    cell : the source of the cell
    code : the statements of the notebook that the call needs
    call : the call itself
    """

    def __init__(self, notebook: str, cell: str, code: list[ast.stmt], call: ast.expr):
        self.notebook, self.cell, self.code, self.call = notebook, cell, code, call

    def __call__(self):
        panel = ast.Assign([ast.Name("panel", ast.Store())], self.call)
        return run([*self.code, panel], self.notebook)["panel"]


def names(node: ast.AST, context: type) -> set[str]:
    """Return the names that a piece of code reads (``ast.Load``) or binds (``ast.Store``)."""
    found = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, context)}
    if context is ast.Store:
        found |= {x.asname or x.name for x in ast.walk(node) if isinstance(x, ast.alias)}
    found |= {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()
    return found


def needed(statements: list[ast.stmt], call: ast.expr) -> list[ast.stmt]:
    """Return those statements, in their order, that give the names in a call their values."""
    missing, chosen = names(call, ast.Load), []
    for statement in reversed(statements):
        bound = names(statement, ast.Store) & missing
        if bound:
            missing = missing - bound | names(statement, ast.Load)
            chosen.insert(0, statement)
    return chosen


def is_own(node: ast.AST) -> bool:
    """Does a notebook make a panel there that no other place has?  It does by ``nh.explore``, and
    by ``nh.paper_figure`` where that opens on another view."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    return called == "nh.explore" or (called == "nh.paper_figure" and bool(node.keywords))


def panels_of(name: str, cells) -> dict[str, Panel]:
    """Return the panels of its own that a notebook makes, by their names.

    name : the name of the notebook, as "01_variational_integrators"
    cells : the sources of its cells with code, in their order
    """
    before, found, letters = [], {}, iter(string.ascii_lowercase)
    for cell in cells:
        statements = ast.parse(cell).body
        for k, statement in enumerate(statements):
            for call in ast.walk(statement):
                if is_own(call):
                    asked = PREDICTION.search(cell)
                    key = asked[1] if asked else f"{name.split('_')[0]}.{next(letters)}"
                    code = needed([*before, *statements[:k]], call)
                    found[key] = Panel(name, cell, code, call)
        before += statements
    return found


def of_lessons() -> dict[str, Panel]:
    """Return the panels of all lessons, by their names."""
    found = {}
    for file in sorted(FOLDER.glob("[0-9]*.ipynb")):
        cells = nbformat.read(file, as_version=4).cells
        found |= panels_of(file.stem, [x.source for x in cells if x.cell_type == "code"])
    return found


# ---------------------------------------------------------------------------- added to lessons


class Added:
    """A panel that a page adds to a lesson whose notebook has none that can compute in a page.

    lesson : the number of the lesson; the panel comes before its exercises
    """

    def __init__(self, lesson: str, make):
        self.lesson, self.make = lesson, make

    def __call__(self):
        return self.make()


ENERGIES = ["energy", "energy error", "relative energy error"]  # what the start moves, and not


def suslov():
    body = systems.suslov()
    return explore(
        body, [DLA(), Projector()], ["energy", plane(body)], h=(0.01, 0.1, 0.05), T=60,
        caption="Suslov's body by DLA and by the projector method, computed as you move h.",
        tries={
            "twice the step: four times the error?": {"h": 0.1},
            "h = .01: who drifts?": {"h": 0.01},
            "two coordinates: do they agree?": {"view": "gx gy"},
        },
    )  # fmt: skip


def snakeboard():
    return in_motion(
        systems.snakeboard(), [DLA(), RK4()], [*ENERGIES, "x y", "t theta"], h=(0.02, 0.3, 0.1),
        T=30, start=[("vphi", -0.2, 0.3)],
        caption="The snakeboard by two methods; vphi(0) is how fast its axles are turned.",
        tries={
            "three times the step: who is better?": {"h": 0.3},
            "straight axles: where does it go?": {"v0.vphi": 0.0, "view": "x y"},
            "axles turned faster: where to?": {"v0.vphi": 0.3, "view": "x y"},
            "the other way: a mirror image?": {"v0.vphi": -0.05, "view": "x y"},
        },
    )  # fmt: skip


def robot():
    return in_motion(
        systems.robot(), [DLA(), RK4()], [*ENERGIES, "x y"], h=(0.05, 0.5, 0.2), T=40,
        start=[("vtheta", 0.1, 1.5)],
        caption="The robot in the plane by two methods; vtheta(0) is how fast it is steered.",
        tries={
            "a larger step: who loses more?": {"h": 0.5},
            "half the step: who is better?": {"h": 0.1},
            "the path: do they agree?": {"view": "x y"},
        },
    )  # fmt: skip


def transmission():
    return in_motion(
        systems.transmission(), [DLA(), Projector(), RK4()], ["energy", "x z"],
        h=(0.05, 0.4, 0.2), T=200, parameters=[("eps", 0, 0.5)],
        caption="The transmission by three methods; at eps = 0 its pendulum is symmetric.",
        tries={
            "symmetric: does any energy drift?": {"par.eps": 0.0},
            "more lopsided: whose energy drifts?": {"par.eps": 0.5},
            "twice the step: what does RK4 do?": {"h": 0.4},
            "half the step: who is better?": {"h": 0.1},
        },
    )  # fmt: skip


def roller_racer():
    return in_motion(
        machines.roller_racer(), [DLA(), RK4()], [*ENERGIES, "x y"], h=(0.02, 0.2, 0.1), T=20,
        start=[("vphi", -2.0, 2.0)],
        caption="The roller racer by two methods; vphi(0) is how fast its handlebar is turned.",
        tries={
            "twice the step: who is better?": {"h": 0.2},
            "the path: how far does it roll?": {"view": "x y"},
            "push the handlebar: how much farther?": {"v0.vphi": 2.0, "view": "x y"},
        },
    )  # fmt: skip


def braked_sleigh():
    free, c = systems.sleigh(), Symbol("c", real=True)
    vx, vy, _ = free.v
    brake = {"forces": {"x": -c * vx, "y": -c * vy}, "parameters": {**free.parameters, c: 0.1}}
    return in_motion(
        free.replace(**brake), [DLA(), RK4()], [*ENERGIES, "x y"], h=(0.05, 0.8, 0.4), T=40,
        start=[("vx", -2.0, -0.5)], parameters=[("c", 0, 0.4)],
        caption="The sleigh, pushed backwards at vx(0), with a brake of strength c.",
        tries={
            "no brake: is the energy kept?": {"par.c": 0.0},
            "more brake: where does it stop?": {"par.c": 0.4, "view": "x y"},
            "twice the speed: how much is lost?": {"v0.vx": -2.0},
        },
    )  # fmt: skip


ADDED = {
    "04.added": Added("04", suslov),
    "06.added": Added("06", snakeboard),
    "07.added": Added("07", robot),
    "08.added": Added("08", transmission),
    "09.added": Added("09", roller_racer),
    "10.added": Added("10", braked_sleigh),
}


# ---------------------------------------------------------------------------- recorded


class Recorded(NamedTuple):
    """What a page shows of a panel that it cannot compute: settings that were computed before.

    grid : for each control how many of its values, or which ones; 0 for all of them
    steady : do its axes have the same limits at all settings?
    """

    grid: tuple
    steady: bool = False


# Near the nodes of the path whose action is stationary the first lists are closer.
RECORDED = {
    "01.2": Recorded(
        (
            (0.8, 0.95, 1.1, 1.2, 1.3, 1.38, 1.5, 1.7, 2.0),
            (0.8, 1.0, 1.15, 1.3, 1.45, 1.53, 1.6, 1.8, 2.0),
            (0.8, 0.95, 1.1, 1.2, 1.3, 1.42, 1.5, 1.7, 2.0),
        ),
        steady=True,
    ),
    "03.2": Recorded((9, 19, 6)),
    "03.3": Recorded((0, 6)),
    "04.2": Recorded((0, 9, 17)),
    "04.4": Recorded((0, 6)),
    "04.5": Recorded((0, 0, 6, 3)),
    "05.4": Recorded((3, (2.0, 4.0, 5.5), (0.0, 1.0, 4.0), 1, 9)),
    "06.2": Recorded((25, 41)),
    "06.5": Recorded((3, 4, 17)),
    "07.2": Recorded((9, 5, 5)),
    "08.3": Recorded(
        (
            ("particle", "contact, N=40", "quartic", "transmission, eps=.2"),
            ("DLA", "Projector", "DiscreteGradient", "RK4"),
        )
    ),
    "08.6": Recorded((0, 0)),
}


def predicted(name: str) -> Panel:
    """Return the panel about which a lesson asks a prediction, by the number of that."""
    (file,) = FOLDER.glob(f"{name.partition('.')[0]}_*.ipynb")
    before = []
    for cell in nbformat.read(file, as_version=4).cells:
        statements = ast.parse(cell.source).body if cell.cell_type == "code" else []
        for k, statement in enumerate(statements):
            for call in ast.walk(statement):
                if isinstance(call, ast.Call) and asks(call, name):
                    code = needed([*before, *statements[:k]], call.args[1])
                    return Panel(file.stem, cell.source, code, call.args[1])
        before += statements
    raise ValueError(f"{file.name} asks no prediction {name}")


def asks(call: ast.Call, name: str) -> bool:
    """Is a call ``nh.predict(name, panel)``?"""
    return ast.unparse(call.func) == "nh.predict" and ast.literal_eval(call.args[0]) == name


# ---------------------------------------------------------------------------- a choice of systems


def own():
    """A panel for each system of the catalogue, by its name; the robot comes first.

    Of the machines it has those whose steps are derived within seconds.
    """
    every = systems.catalogue | systems.on_groups | {x: systems.machines[x] for x in PACES}
    first = sorted(every, key=lambda name: name != "robot")
    return {every[name].title: chosen(every[name](), PACES.get(name, 1)) for name in first}


# Times of the machines that one can choose: those of the Segway, which sways, are shorter.
PACES = {"two_wheeled_robot": 1, "segway": 0.2, "roller_racer": 1, "car_with_trailer": 1}


def chosen(system, pace=1):
    """A panel with all that may be moved: the start, the parameters, h, alpha and the length.

    pace : by which h and the length are multiplied
    Its body moves above the energy, if a page can move it; two sliders are seen at once.  A start
    on holonomic constraints or with a quaternion stays there, so only its velocities move.
    """
    free = free_velocities(system, np.array(system.q0, float))
    start = [str(system.v[k]) for k in free][:4]
    parameters = [] if system.holonomic else [s.name for s in system.parameters][:4]
    if not system.holonomic and len(system.q) == len(system.v):
        start += [str(x) for x in system.q][:2]
    questions = tries(pace)
    if not depends_on_place(system):
        questions = {words: x for words, x in questions.items() if "alpha" not in x}
    options = {
        "h": tuple(round(x * pace, 6) for x in (0.01, 0.3, 0.1)),
        "T": tuple(x * pace for x in (5, 60, 20)), "start": start, "parameters": parameters,
        "alpha": (0, 1, 0.5) if depends_on_place(system) else None, "tries": questions,
        "caption": f"{system.name}; see {system.source}.", "size": (6.4, 3.4),
    }  # fmt: skip
    methods = [m for m in METHODS if treats(m, system)]
    return in_motion(system, methods, views(system), few_sliders=True, **options)


def tries(pace):
    """Settings that buttons set, as questions."""
    return {
        "twice the step: wider bands?": {"h": round(0.2 * pace, 6)},
        "a small step: who is better?": {"h": round(0.02 * pace, 6)},
        "three times as long: who drifts?": {"T": 60 * pace},
        "alpha = .3: which methods last?": {"alpha": 0.3},
    }


def depends_on_place(system):
    """Do L or the constraints contain a coordinate?  Else no rule can matter that says where in a
    step they are evaluated, as alpha does."""
    return any(x.free_symbols & {*system.q} for x in (system.L, *system.constraints))


def in_motion(system, methods, views, few_sliders=False, **options):
    """A panel of ``explore`` with the body moved by DLA above it, where a page can do so.

    few_sliders : True to show at once only the step and the first slider of the start
    """
    figure = explored(system, methods, views, motion=["dla"], **options)
    if few_sliders:
        start = [x for key in ("v0.", "q0.") for x in figure.controls if x.startswith(key)]
        figure = replace(figure, first=["h", *start[:1]])
    panel = FigurePanel(figure)
    try:
        panel.motion_for_page()
    except ValueError:  # its columns are computed in Python
        panel = FigurePanel(replace(figure, motion=()))
    return panel


METHODS = DLA(), Projector(), EDLA(), RK4()


def treats(method, system):
    try:
        method.check(system)
    except ValueError:
        return False
    return True


def plane(system):
    """The view of the first two coordinates, of a quaternion of those of its axis."""
    names = [str(x) for x in system.q]
    names = names[1:] if len(names) == len(system.v) + 1 == 4 else names
    return f"{names[0]} {names[1]}" if len(names) > 1 else f"t {names[0]}"


def views(system):
    """Readings, and a path."""
    constrained = ["node constraint", "discrete constraint"] if system.constraints else []
    by_steps = ["midpoint energy", "midpoint energy error"]
    return [*ENERGIES, plane(system), *by_steps, *constrained, "step"]


PAGES = {
    **of_lessons(),
    **ADDED,
    **{name: partial(paper_figure, name) for name in STATEMENTS},
    "own": own,
}


def of_lesson(number):
    """The names of a lesson's panels, in their order, as ["05.2", "05.a", "05.4"] of "05"."""
    return [name for name in PAGES if name.startswith(f"{number}.")]
