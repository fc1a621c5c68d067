"""What can be read of a run and drawn: each reading once, as data.

``Reading.source`` says what is read and where.  A trajectory is read by it here (``values_of``), a
run that a page has computed by itself in ``browser/page.js``.
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
TIMES = {"nodes": slice(None), "midpoints": slice(1, None), "average": slice(1, -1)}
NUMBERS = {
    "spread": lambda x, y: f"{np.ptp(y):.2e}",
    "largest": lambda x, y: f"{np.abs(y).max():.2e}",
    "end": lambda x, y: f"({x[-1]:.4g}, {y[-1]:.4g})",
    "from .. to": lambda x, y: f"{y.min():.4g} .. {y.max():.4g}",
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


def _energy(sol, at, from_start=False, relative=False):
    """Energies, or these less the first of them, perhaps as parts of it."""
    E, t = sol.energy(at), sol.t[TIMES.get(at, slice(None))]
    if not from_start or not len(E):
        return t, E
    return t, (E - E[0]) / ((abs(E[0]) or np.nan) if relative else 1.0)


def _residual(sol, at, part=None):
    """The residual of one constraint, counted from 0, or of the one that is missed most."""
    residual = sol.constraint(at)
    return sol.t[TIMES[at]], worst_of(residual) if part is None else residual[:, part]


def _columns(sol, x, y):
    """Two coordinates, by their names, or the time for None."""
    names = [str(s) for s in sol.system.q]
    return tuple(sol.t if k is None else sol.q[:, names.index(k)] for k in (x, y))


def distance_between(sol: Trajectory, other: Trajectory) -> tuple:
    """(number of the node, distance of two runs there), as far as the first came."""
    y = np.linalg.norm(sol.q - other.q[: len(sol.q)], axis=1)
    return np.arange(len(y)), y


def worst_of(residual):
    """The component of largest size, with its sign; 0 without constraints."""
    padded = np.pad(residual, ((0, 0), (0, 1)))
    return padded[np.arange(len(padded)), np.abs(padded).argmax(1)]


READERS = {
    "energy": _energy,
    "constraint": _residual,
    "columns": _columns,
    "step": lambda sol: (sol.t[1:], sol.h),
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
