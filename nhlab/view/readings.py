"""What can be read of a run and drawn: each reading once, as data.

``Reading.source`` says what is read and where, and ``READERS`` read it.  These are in words of
Python that can be translated: of a run that a page has computed by itself it reads the same.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import sympy as sp

from ..mechanics.checks import need
from ..mechanics.system import System
from ..run.trajectory import Trajectory

TIME = "time $t$"
# How many nodes at the begin and at the end of a run have no value, by where these are read.
WITHOUT = {"nodes": [0, 0], "projected": [0, 0], "midpoints": [1, 0], "average": [1, 1]}


def in_range(low, high):
    """What is said of numbers between two, written out; of one number not twice."""
    return f"{low} throughout" if low == high else f"from {low} to {high}"


NUMBERS = {
    "spread": lambda x, y: f"{np.ptp(y):.3g}",
    "largest": lambda x, y: f"{np.abs(y).max():.3g}",
    "end": lambda x, y: f"({x[-1]:.4g}, {y[-1]:.4g})",
    "from .. to": lambda x, y: in_range(f"{y.min():.4g}", f"{y.max():.4g}"),
}
SIZES = ("spread", "largest")  # those that can be compared as lengths


class Reading(NamedTuple):
    """What can be drawn of a trajectory, and the number that sums up such a curve."""

    xlabel: str
    ylabel: str
    read: Callable  # trajectory -> x, y
    number: str = "spread"  # a key of NUMBERS
    discrete: bool = False  # only methods with a discrete Lagrangian have it
    name: str = ""  # of what is drawn below a motion
    source: dict | None = None  # the same as data; a reader's own function has none


# ---------------------------------------------------------------------------- how they are read


def values_of(source: dict, sol: Trajectory) -> tuple:
    """(x, y) of a trajectory by a source: {"what": a key of READERS, and the arguments of that}."""
    given = {key: value for key, value in source.items() if key != "what"}
    return READERS[source["what"]](sol, **given)


def times_of(sol, at):
    """The times of what is read at the nodes, at the midpoints .. of a run."""
    first, last = WITHOUT[at]
    return sol.t[first : len(sol.t) - last]


def read_energy(sol, at, from_start=False, relative=False):
    """Energies, or these less the first of them, perhaps as parts of it."""
    E = sol.energy(at)
    if not from_start or len(E) == 0:
        return times_of(sol, at), E
    scale = (abs(E[0]) or np.nan) if relative else 1.0
    return times_of(sol, at), np.divide(np.subtract(E, E[0]), scale)


def read_constraint(sol, at, part=None):
    """The residual of one constraint, counted from 0, or of the one that is missed most."""
    residual = sol.constraint(at)
    found = worst_of(residual) if part is None else np.take(residual, part, 1)
    return times_of(sol, at), found


def read_columns(sol, x, y):
    """Two coordinates, by their names, or the time for None."""
    return column_of(sol, x), column_of(sol, y)


def column_of(sol, name):
    """A coordinate of a run, by its name, or the time for None."""
    if name is None:
        return sol.t
    return np.take(sol.q, [str(s) for s in sol.system.q].index(name), 1)


def read_step(sol):
    """The sizes of the steps, each at the time where it ends."""
    return sol.t[1:], sol.h


def distance_between(sol, other):
    """(number of the node, distance of two runs there), as far as both came."""
    count = min(len(sol.q), len(other.q))
    return np.arange(count), np.array([distance(sol.q[k], other.q[k]) for k in range(count)])


def distance(a, b):
    """The Euclidean distance of two points."""
    return np.sqrt(sum([(a[k] - b[k]) ** 2 for k in range(len(a))]))


def worst_of(residual):
    """The component of largest size of each row, with its sign; 0 without constraints."""
    if len(residual) > 0 and len(residual[0]) == 1:
        return np.take(residual, 0, 1)
    return np.array([largest_of(row) for row in residual])


def largest_of(row):
    """The number of largest size in a row, the first of several alike; 0 if there is none."""
    found = 0.0
    for k in range(len(row)):
        if abs(row[k]) > abs(found):
            found = row[k]
    return found


READERS = {
    "energy": read_energy,
    "constraint": read_constraint,
    "columns": read_columns,
    "step": read_step,
}


def _reading(xlabel, ylabel, source, number="spread", discrete=False):
    return Reading(xlabel, ylabel, partial(values_of, source), number, discrete, source=source)


# ---------------------------------------------------------------------------- their names


def _of_energy(label, at="nodes", **change):
    source = {"what": "energy", "at": at, **change}
    return _reading(TIME, label, source, discrete=at == "midpoints")


READINGS = {
    "energy": _of_energy("energy $E$ at the nodes"),
    "energy error": _of_energy("energy error $E - E_0$", from_start=True),
    "relative energy error": _of_energy(
        "relative energy error $(E - E_0)/|E_0|$", from_start=True, relative=True
    ),
    "projected energy": _of_energy("projected energy, of $P v$", "projected"),
    "midpoint energy": _of_energy("midpoint energy $E_d$ of a step", "midpoints"),
    "midpoint energy error": _of_energy(
        "midpoint energy error $E_d - E_{d,0}$", "midpoints", from_start=True
    ),
    "step": _reading(TIME, "step size $h$", {"what": "step"}, "from .. to"),
}
CONSTRAINTS = {  # name -> where it is read, label, only for discrete methods
    "node constraint": ("nodes", r"node constraint $A(q_k)\,v_k$", False),
    "discrete constraint": ("midpoints", "discrete constraint $w_d$ of a step", True),
    "average constraint": ("average", "average constraint, $A v$ of the mean $p$", True),
}


def _constraint(name, part=None, moving=False):
    """The reading of one constraint, counted from 1, or of the one that is missed most; constraints
    that move are A v + b."""
    at, label, discrete = CONSTRAINTS[name]
    label = re.sub(r"(v|v_k)\$", r"\1 + b$", label) if moving else label
    which = "" if part is None else f", {part}"
    source = {"what": "constraint", "at": at, "part": None if part is None else part - 1}
    return _reading(TIME, label + which, source, "largest", discrete)


READINGS |= {name: _constraint(name) for name in CONSTRAINTS}


def reading(name: str, system: System) -> Reading:
    """The Reading of a name: of READINGS, of one constraint as "node constraint 2", or of two
    coordinates, "x y" or "t x"."""
    need(name, str, "view", "name of a reading")
    need(system, System, "system", "nh.System")
    if name in CONSTRAINTS:
        return _constraint(name, moving=system.is_affine)
    if name in READINGS:
        return READINGS[name]
    kind, _, part = name.rpartition(" ")
    if kind in CONSTRAINTS and part in map(str, range(1, len(system.constraints) + 1)):
        return _constraint(kind, int(part), system.is_affine)
    columns = {"t": (TIME, None)}
    for s in system.q:
        columns.setdefault(str(s), (f"${sp.latex(s)}$", str(s)))
    parts = name.split()
    if len(parts) != 2 or not {*parts} <= {*columns}:
        raise ValueError(
            f"view {name!r} is unknown; choose one of {list(READINGS)} or two of {list(columns)}, "
            f"as in 't {system.q[0]}'"
        )
    (xlabel, x), (ylabel, y) = (columns[p] for p in parts)
    return _reading(xlabel, ylabel, {"what": "columns", "x": x, "y": y}, "end")


def is_path(name):
    """Is the view a path in space, to be drawn to scale?"""
    return {*name.split()} <= {"x", "y", "z"}
