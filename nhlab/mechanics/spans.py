"""Distributions spanned by vector fields: D = span X_a(q), and v = X u with quasi-velocities u.

One-forms that define D may become dependent at places where the dimension of D does not change:
those of the snakeboard's two axles do at phi = pi/2, while the fields that FIM08 prints stay
independent.  Steps and equations of motion of a system with fields are therefore computed from the
fields.  Residuals, symmetries, connections and multipliers are stated in one-forms; if a system has
fields alone, one-forms of the same D are derived for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.evaluate import Function
from . import checks

if TYPE_CHECKING:
    from .checks import States
    from .system import System

AGREEMENT = 1e-9  # one-forms A and fields X state the same D if |A X| <= AGREEMENT |A| |X|


def read_fields(x: Any, system: System) -> tuple:
    """The fields as r tuples of n expressions in q and parameters.

    x : a sequence of fields; a field is a sequence of n expressions, or a dict coordinate (or
        its name) -> expression with zeros left out
    """
    x = () if x is None else x
    rows = x.T.tolist() if isinstance(x, sp.MatrixBase) else checks.sequence(x)
    fields = tuple(_read_field(row, f"fields[{k}]", system) for k, row in enumerate(rows))
    moving = {*system.v, *(() if system.t is None else (system.t,))}
    for k, field in enumerate(fields):
        names = sorted(str(s) for e in field for s in e.free_symbols & moving)
        if names:
            raise ValueError(
                f"fields[{k}] = {field} contains {names[0]}: a field X(q) depends on the "
                "coordinates and parameters alone; constraints that move or depend on the time "
                "are stated as constraints"
            )
    return fields


def _read_field(row: Any, name: str, system: System) -> tuple:
    """One field as a tuple of n expressions."""
    names = [s.name for s in system.q]
    if isinstance(row, dict):
        by_name = {getattr(key, "name", key): e for key, e in row.items()}
        for key in by_name:
            if key not in names:
                raise ValueError(f"{name}: {key!r} is no coordinate here; there are {names}")
        row = [by_name.get(key, 0) for key in names]
    row = checks.sequence(row)
    if len(row) != len(names):
        raise ValueError(
            f"{name} has {len(row)} entries; give {len(names)}, one for each of {names}, or a dict "
            f"such as {{{names[0]!r}: 1}}"
        )
    return tuple(checks.read_expression(e, name) for e in row)


def check_fields(system: System) -> None:
    """Refuse fields of systems that they cannot be used for (body velocities, holonomic
    constraints) and fields that are dependent at all generic places."""
    n, r = len(system.q), len(system.fields)
    if len(system.v) != n or hasattr(system, "group"):
        raise ValueError("fields: a system on a group has body velocities; state it in coordinates")
    if system.holonomic:
        raise ValueError(
            "fields and holonomic: a step along the fields leaves g(q) = 0, which needs "
            "multipliers of its own; state both as constraints and holonomic, or choose "
            "coordinates on g = 0"
        )
    if r > n:
        raise ValueError(f"{r} fields on {n} coordinates are dependent; give at most {n}")
    X = np.swapaxes(values(system, system.samples()[0]), -1, -2)
    finite = X[np.isfinite(X).all((1, 2))]
    ranks = np.linalg.matrix_rank(checks.unit_rows(finite)[0], rtol=1 / checks.MAX_AMPLIFICATION)
    if len(finite) and (ranks < r).all():
        raise ValueError(
            f"the fields {[list(map(str, x)) for x in system.fields]} are dependent: rank "
            f"{ranks.max()} of {r}; drop the redundant ones"
        )


def check_forms_of_fields(system: System) -> None:
    """If a system has both fields and constraints, refuse them unless they state the same D."""
    if not system.fields:
        return
    if any(e != 0 for e in system.symbolic.b):
        raise ValueError(
            "fields and constraints A v + b = 0 with b not zero: fields span velocities through 0; "
            "state moving constraints as constraints alone"
        )
    n, r, m = len(system.q), len(system.fields), len(system.constraints)
    if m != n - r:
        raise ValueError(
            f"{r} fields on {n} coordinates leave {n - r} constraints, and {m} are given; give all "
            "of them or none"
        )
    q, _, t = system.samples()
    A, X = system.A(q, t), values(system, q)
    size = np.abs(A).max(-1)[..., None] * np.abs(X).max(-2)[..., None, :]
    off = (np.abs(A @ X) / np.where(size > 0, size, 1)).max(0) if m else np.zeros((0, r))
    for a, k in np.argwhere(~(off <= AGREEMENT))[:1]:
        raise ValueError(
            f"constraint {system.constraints[a]} does not vanish on fields[{k}] = "
            f"{system.fields[k]} (off by {off[a, k]:.1e} of |A||X|): they state different D"
        )


def values(system: System, q: np.ndarray) -> np.ndarray:
    """X(q) with the fields as columns, shape (..., n, r)."""
    rows, arguments = tuple(zip(*system.fields, strict=True)), (system.q, *system.parameters)
    f = system.memoised("fields", lambda: Function(arguments, rows))
    return f(q, *system.parameters.values())


def annihilators(rows: tuple, numbers: np.ndarray) -> list[tuple]:
    """A basis of the vectors y with rows y = 0: the one-forms that vanish on k fields, or the
    fields on which k one-forms vanish.

    rows : k tuples of n expressions
    numbers : their values at a generic place, shape (k, n); near it the result is a basis

    Returns n - k tuples of n expressions without denominators.  Columns that are constant are
    eliminated first, since their pivots vanish nowhere.
    """
    from scipy.linalg import qr

    k, n = numbers.shape
    if not k:
        return [tuple(map(sp.Integer, y)) for y in np.eye(n, dtype=int).tolist()]
    constant = [all(row[j].is_number for row in rows) for j in range(n)]
    order = qr(numbers * np.where(constant, 1e3, 1.0), mode="r", pivoting=True)[1]
    bound, free = sorted(order[:k].tolist()), sorted(order[k:].tolist())
    table = sp.Matrix(k, n, [e for row in rows for e in row])
    B, C = table.extract(list(range(k)), bound), table.extract(list(range(k)), free)
    solution = -(B.adjugate() * C)
    forms = []
    for column, j in enumerate(free):
        y = [sp.S.Zero] * n
        y[j] = B.det()
        for row, i in enumerate(bound):
            y[i] = solution[row, column]
        forms.append(_primitive(y))
    return forms


def _primitive(y: list) -> tuple:
    """The vector divided by the greatest common divisor of its entries."""
    y = [sp.expand(e) for e in y]
    try:
        common = sp.gcd_list([e for e in y if e != 0])
        return tuple(sp.cancel(e / common) for e in y) if common != 1 else tuple(y)
    except (sp.PolynomialError, NotImplementedError):  # functions that SymPy does not divide
        return tuple(y)


def constraints(system: System) -> tuple:
    """The constraints of a system as expressions in q and v.

    If it has fields alone, they are derived: one-forms that vanish on the fields, at generic places
    on nothing else.
    """
    if not system.fields:
        return system.constraints
    check_fields(system)
    if system.constraints:
        return system.constraints
    numbers = values(system, system.samples()[0][0]).T
    forms = annihilators(system.fields, numbers)
    return tuple(sum(a * u for a, u in zip(y, system.v, strict=True)) for y in forms)


def derived_fields(system: System) -> tuple:
    """Fields without denominators that span D, the kernel of the constraints, at generic places."""
    q, _, t = system.samples()
    return tuple(annihilators(system.symbolic.A, system.A(q, t)[0]))


def orthonormal_forms(
    system: System, q: ArrayLike, v: ArrayLike | None, t: ArrayLike
) -> np.ndarray:
    """Orthonormal one-forms that vanish on the fields, shape (..., n - r, n).

    They are computed at each place, and so are independent wherever the fields are; where the
    fields are dependent a ValueError is raised.  Orthonormal means: in units in which the entries
    of M are about one.
    """
    X = values(system, system.states(q, "q"))
    unit = checks.units(system.M(q, v, t))
    rows = checks.unit_rows(np.swapaxes(X / unit[..., None], -1, -2))[0]
    if not np.isfinite(rows).all():
        raise ValueError(f"the fields are not finite at q = {q}")
    _, sizes, basis = np.linalg.svd(rows)
    least = np.atleast_1d(sizes[..., -1])
    for k in np.flatnonzero(~(least * checks.MAX_AMPLIFICATION >= 1))[:1]:
        place = np.broadcast_to(q, (*sizes.shape[:-1], len(system.q))).reshape(-1, len(system.q))[k]
        raise ValueError(
            f"the fields are dependent at q = {place} (smallest singular value "
            f"{least.flat[k]:.1e} of the scaled fields); start elsewhere, or give others"
        )
    return basis[..., rows.shape[-2] :, :] / unit[..., None, :]


def independence(system: System, q: States, v: States | None, t: ArrayLike) -> np.ndarray:
    """The smallest singular value of the fields, scaled to length one, from 0 to 1."""
    X, unit = values(system, system.states(q, "q")), checks.units(system.M(q, v, t))
    rows = checks.unit_rows(np.swapaxes(X / unit[..., None], -1, -2))[0]
    return np.linalg.svd(rows, compute_uv=False)[..., -1]


def _need_fields(system: System, what: str) -> None:
    if not system.fields:
        raise ValueError(
            f"{what} belongs to vector fields, and {system!r} is stated by constraints; use "
            "system.by_fields(), or make it with fields=[...]"
        )


def columns(system: System, q: States) -> np.ndarray:
    """The fields that span D as columns, shape (..., n, r); v = X u."""
    _need_fields(system, "X")
    return values(system, system.states(q, "q"))


def quasi_velocities(system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
    """The quasi-velocities u with X(q) u = v, shape (..., r).

    If v is not in D, X(q) u is the velocity in D that is nearest to v in the metric M.
    """
    _need_fields(system, "u")
    q, v = system.states(q, "q"), system.states(v, "v")
    X, M = values(system, q), system.M(q, v, t)
    XtM = np.swapaxes(X, -1, -2) @ M
    right = XtM @ v[..., None]
    return checks.solved(XtM @ X, right, "X^T M X (dependent fields)")[..., 0]


def independent_forms(
    system: System, q: States, v: States | None = None, t: ArrayLike = 0.0
) -> np.ndarray:
    """One-forms whose kernel is D, shape (..., m, n): the rows of the constraints or, if the system
    has fields, ``orthonormal_forms``, which are independent wherever the fields are."""
    return orthonormal_forms(system, q, v, t) if system.fields else system.A(q, t)


def by_fields(system: System, fields: Sequence[Any] = ()) -> System:
    """The same system with vector fields that span D, from which its runs are then computed.

    fields : the fields, as for ``System``.  By default those that it has; else those printed in a
        paper (``printed_fields`` of some systems of the catalogue); else fields derived from the
        constraints

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.particle().by_fields().fields
    ((1, 0, y), (0, 1, 0))
    """
    columns = fields or system.fields or system.printed_fields or derived_fields(system)
    return type(system)(**system.constructor_kwargs() | {"fields": columns})


def by_forms(system: System) -> System:
    """The same system without its fields, for methods that are stated for one-forms alone."""
    return type(system)(**system.constructor_kwargs() | {"fields": ()})


def bracket(system: System, X: sp.Matrix, Y: sp.Matrix) -> sp.Matrix:
    """[X, Y] = DY X - DX Y of two fields, columns of expressions in the coordinates."""
    return Y.jacobian(system.q) * X - X.jacobian(system.q) * Y


def is_integrable(system: System) -> bool:
    """Frobenius for fields: True if all brackets [X_a, X_b] lie in D, tested at generic points."""
    fields = [sp.Matrix(field) for field in system.fields]
    pairs = [(X, Y) for k, X in enumerate(fields) for Y in fields[:k]]
    table = [list(bracket(system, X, Y)) for X, Y in pairs]
    if not table or len(system.fields) == len(system.q):
        return True
    q, v, t = system.samples()
    brackets = system.values(table, q, v, t)  # (samples, pairs, n)
    forms = orthonormal_forms(system, q, v, t)
    off = np.abs(np.einsum("sai,spi->sap", forms, brackets)).max()
    return bool(off <= AGREEMENT * (1 + np.abs(forms).max() * np.abs(brackets).max()))
