"""What is cheap to know of a new model: how far its constraints let it move, and whether its true
motion keeps what it should.

``growth_vector`` counts directions.  The constraints allow some velocities at each place; to drive
along one of them, along another, back along the first and back along the second displaces the
system, in general in a new direction, the bracket of the two fields.  ``ask`` adds a true motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from ..mechanics.checks import need, read_number
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.spans import annihilators, bracket
from ..mechanics.system import System
from ..methods import Reference
from ..run.loop import integrate
from ..run.trajectory import Trajectory

RANK_TOLERANCE = 1e-9  # of singular values, for columns of length 1


def growth_vector(system: System) -> list[int]:
    """The dimensions of D, D + [D, D], D + [D, D] + [D, [D, D]], ..., as long as they grow.

    Parameters
    ----------
    system : in coordinates, with constraints linear in the velocities

    Returns
    -------
    A list of integers.  The first counts the independent velocities that are allowed, the last the
    dimension of what can be reached: if it is below the number of coordinates, some function of the
    position is constant.  They are counted at a generic place; at special places they may be
    smaller.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.growth_vector(nh.systems.car_with_trailer())  # of five coordinates
    [2, 3, 4, 5]
    """
    _check_constraints(system)
    place = np.random.default_rng(9).uniform(0.3, 1.2, len(system.q))
    n, first = len(system.q), _basis(system, place)
    fields, last, dimensions = list(first), first, []
    while True:
        table = sp.lambdify(system.q, sp.Matrix.hstack(*fields), "numpy", cse=True)(*place)
        rank = _rank(np.array(table, float))
        if rank in dimensions:
            return dimensions
        dimensions.append(rank)
        if rank == n:
            return dimensions
        pairs = [(X, Y) for X in first for Y in last if X is not Y]
        last = [bracket(system, X, Y) for X, Y in pairs]
        fields += last


def _check_constraints(system: System) -> None:
    """Raise a ValueError unless the constraints are A(q) v = 0 in coordinates."""
    need(system, System, "system", "nh.System")
    if isinstance(system, GroupSystem):
        raise ValueError(f"system = {system!r} moves on a group; state it in coordinates")
    if system.is_affine or system.holonomic or system.t is not None:
        raise ValueError(
            f"system = {system!r}: its constraints must be A(q) v = 0; write g(q) = 0 by its "
            "derivative, and leave out what moves or depends on t"
        )


def _basis(system: System, q: np.ndarray) -> list[sp.Matrix]:
    """Vector fields that span D near q, as columns of expressions without denominators."""
    numbers = {s: sp.nsimplify(x) for s, x in system.parameters.items()}
    rows = system.fields
    if not rows:
        A = [[e.subs(numbers) for e in row] for row in system.symbolic.A]
        rows = annihilators(A, system.A(q).reshape(-1, len(system.q)))
    return [sp.Matrix(row).subs(numbers) for row in rows]


def _rank(columns: np.ndarray) -> int:
    """The rank of a table whose columns may differ in size by powers of ten."""
    size = np.linalg.norm(columns, axis=0)
    scaled = columns[:, size > 0] / size[size > 0]
    return int(np.linalg.matrix_rank(scaled, tol=RANK_TOLERANCE)) if scaled.size else 0


def kept(sol: Trajectory, rtol: float = 1e-10) -> tuple[bool, bool]:
    """Whether the energy of a run is constant and its constraint zero, relative to their sizes.

    The energy is measured by the largest of energy and kinetic energy, the constraint by the
    largest velocity; so the answer does not depend on the units.
    """
    E, kinetic = sol.energy(), (sol.v * sol.p).sum(-1) / 2
    slip = np.abs(sol.constraint()).max(initial=0)
    energy = np.ptp(E) <= rtol * np.abs([E, kinetic]).max()
    return bool(energy), bool(slip <= rtol * np.abs(sol.v).max())


@dataclass(frozen=True)
class Answers:
    """What ``ask`` found: growth vector, integrability, and what the true motion keeps.

    ``energy`` is None where forces or the time may change it; ``motion`` is the true motion.
    """

    name: str
    coordinates: int
    growth: list[int]
    integrable: bool
    energy: bool | None
    constraints: bool
    motion: Trajectory = field(repr=False, compare=False)

    def __str__(self) -> str:
        energy = "may change, by forces or with time" if self.energy is None else self.energy
        return (
            f"{self.name}: growth {self.growth} of {self.coordinates}\n"
            f"    kept: energy {energy}, constraints {self.constraints}; "
            f"integrable {self.integrable}"
        )

    __repr__ = __str__


def ask(
    system: System,
    q0: Sequence[float] | None = None,
    v0: Sequence[float] | None = None,
    *,
    T: float = 10.0,
) -> Answers:
    """Three questions to a new model: does its true motion keep the energy, does it obey the
    constraints, and are these integrable?

    Parameters
    ----------
    system : an nh.System
    q0, v0 : a start, without them the system's own
    T : how long nh.Reference follows the motion from there

    Returns
    -------
    Answers, which print themselves; ``.motion`` is the true motion, 100 steps.

    Examples
    --------
    >>> import nhlab as nh
    >>> answers = nh.ask(nh.systems.particle(), T=5)
    >>> print(answers)
    particle: growth [2, 3] of 3
        kept: energy True, constraints True; integrable False
    >>> len(answers.motion.t)
    101
    """
    growth = growth_vector(system)
    if not 0 < read_number(T, "T") < np.inf:
        raise ValueError(f"T = {T!r} must be positive and finite; it is the time to follow")
    motion = integrate(system, Reference(), q0, v0, h=T / 100, steps=100, progress=False)
    energy, constraints = kept(motion)
    return Answers(
        system.label,
        len(system.q),
        growth,
        system.is_holonomic(),
        None if system.is_forced else energy,
        constraints,
        motion,
    )
