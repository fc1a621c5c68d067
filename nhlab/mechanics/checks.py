"""What a system is made from, read and checked: symbols, expressions, parameters, ranks."""

from __future__ import annotations

import logging
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.careful import EPS, MAX_AMPLIFICATION, amplification
from .formula import sympified
from .spelling import nearest

if TYPE_CHECKING:
    from .system import System

T = TypeVar("T")
LOG = logging.getLogger("nhlab")
SINGULAR = 1e13  # amplification of round-off by which a constant M or metric has no inverse
NEARLY_DEPENDENT = 1e-3  # ``independence`` below which an error names dependence as its cause
SWEEPS = 3  # which bring the entries of a metric that is not definite near one
Symbols = Sequence[sp.Symbol] | sp.Symbol  # one or several, as q and v are given
States = ArrayLike | Mapping[Any, ArrayLike]  # q or v: (..., n), or by names, of which any are 0
UNSET = math.nan  # the value of an input, until a run or ``set`` gives it one


def brief(x: object) -> str:
    """What was given, as far as a sentence can hold it."""
    text = repr(x)
    return text if len(text) <= 100 else f"{text[:100]}..."


def symbols(names: str | Sequence[str], **assumptions: Any) -> Any:
    """Real symbols, so that derivatives of ``Abs`` and roots come out simple.

    Parameters
    ----------
    names : as "x y vx", or a list
    assumptions : of SymPy, as positive=True; "real" is assumed

    Examples
    --------
    >>> import nhlab as nh
    >>> x, vx = nh.symbols("x vx")
    >>> x.is_real
    True
    """
    known = [x[3:] for x in dir(sp.Symbol) if x.startswith("is_") and x.islower()]
    for name in sorted(assumptions.keys() - {"cls", *known}):  # which SymPy would take silently
        hint = nearest(name, known) or ", as positive is"
        raise ValueError(f"assumptions: {name!r} is none of SymPy's{hint}")
    try:
        return sp.symbols(names, **{"real": True, **assumptions})
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"names = {brief(names)} are no names such as 'x y': {error}") from None


def need(x: T, kind: type[T] | tuple[type, ...], name: str, what: str) -> T:
    """x, or a ValueError if it is not of that kind."""
    if not isinstance(x, kind):
        raise ValueError(f"{name} = {brief(x)} is no {what}")
    return x


def one_of(x: Any, choice: Iterable[str], name: str) -> str:
    """x, or a ValueError if it is not among the choice."""
    if not isinstance(x, str) or x not in choice:
        raise ValueError(f"{name} = {brief(x)} is unknown; choose one of {tuple(choice)}")
    return x


def sequence(x: Any) -> list[Any]:
    x = x.ravel() if isinstance(x, np.ndarray) else x
    return list(x) if isinstance(x, (list, tuple, np.ndarray, sp.MatrixBase)) else [x]


def read_symbols(x: Any, name: str) -> tuple[sp.Symbol, ...]:
    symbols = tuple(sequence(x))
    for s in symbols:
        if not isinstance(s, sp.Symbol):
            raise ValueError(
                f"{name}: {s!r} is no SymPy symbol; make symbols with nh.symbols, or "
                "use System.from_mechanics for dynamicsymbols"
            )
    if not symbols:
        raise ValueError(f"{name} is empty: a system needs at least one coordinate")
    return symbols


def check_names(symbols: Sequence[sp.Symbol | None]) -> None:
    twice = sorted({str(s) for s in symbols if symbols.count(s) > 1})
    if twice:
        raise ValueError(f"q, v and t name {twice} more than once; give each its own symbol")


def read_scalar(e: Any, name: str) -> sp.Expr:
    """e as an expression; an equation is the difference of its sides."""
    e = sympified(e, name)
    if isinstance(e, sp.Equality):
        e = e.lhs - e.rhs
    if not isinstance(e, sp.Expr) or e.is_Matrix:
        numbers = isinstance(e, (Mapping, sp.Dict))
        remedy = "; numbers of parameters are given as parameters={...}" if numbers else ""
        raise ValueError(f"{name} = {e!r} is not a scalar SymPy expression{remedy}")
    return e


def read_expression(e: Any, name: str) -> sp.Expr:
    e = read_scalar(e, name)
    unknown = e.atoms(sp.core.function.AppliedUndef) | e.atoms(sp.Derivative)
    if unknown:
        raise ValueError(
            f"{name} contains {sorted(map(str, unknown))}: write functions out, and "
            "use System.from_mechanics for dynamicsymbols"
        )
    if e.has(sp.I):
        raise ValueError(f"{name} = {e} is not real: it contains the imaginary unit")
    return check_cases(e, name)


def check_cases(e: sp.Expr, name: str) -> sp.Expr:
    """e, or a ValueError if it has no value where none of the conditions of a Piecewise holds."""
    for pieces in e.atoms(sp.Piecewise):
        if pieces.args[-1].cond != True:  # noqa: E712 (SymPy's true)
            raise ValueError(
                f"{name} contains {brief(pieces)}, which has no value where none of its conditions "
                "holds; give it a last case (value, True)"
            )
    return e


def read_expressions(x: Any, name: str) -> tuple[sp.Expr, ...]:
    return tuple(read_expression(e, name) for e in sequence(x))


def read_matrix(rows: Any, name: str) -> sp.ImmutableMatrix:
    try:
        if not isinstance(rows, (sp.MatrixBase, sp.MatrixExpr)):
            rows = [[sympified(e, name) for e in row] for row in rows]
        matrix = sp.ImmutableMatrix(rows)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {rows!r} is not a matrix; give its rows as lists") from None
    return check_cases(matrix, name)


def read_number(x: Any, name: str) -> float:
    try:
        real = isinstance(x, numbers.Real) or (isinstance(x, sp.Expr) and x.is_real)
        if real and not isinstance(x, bool) and math.isfinite(float(x)):
            return float(x)
    except (OverflowError, TypeError):
        pass
    raise ValueError(f"{name} = {brief(x)} must be a finite number")


def read_array(
    x: Any,
    name: str,
    shape: tuple[int, ...] = (),
    expected: str = "",
    *,
    finite: bool = False,
    otherwise: str = "is not an array of numbers",
) -> np.ndarray:
    """x as an array of numbers whose last axes have the given shape; ``otherwise`` says what is
    wrong with it if it is none."""
    try:
        x = np.asarray(x, float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {brief(x)} {otherwise}") from None
    if finite and not np.isfinite(x).all():
        raise ValueError(f"{name} = {x} must be finite")
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ValueError(f"{name} has shape {x.shape}; {expected}")
    return x


def read_states(system: System, x: States, name: str) -> np.ndarray:
    """x as an array whose last axis holds positions (names with a "q"), velocities or momenta."""
    symbols = system.q if name[0] == "q" else system.v
    if isinstance(x, Mapping) and name[0] in "qv":
        return read_by_name(system, x, name)
    expected = f"its last axis must have length {len(symbols)}, one entry for each of {symbols}"
    return read_array(x, name, (len(symbols),), expected)


def read_by_name(system: System, entries: Mapping[Any, ArrayLike], name: str) -> np.ndarray:
    """A state from a dict name (or symbol) -> number, or K numbers for an ensemble.

    name : "q0" and the like for positions, "v0" for velocities, "u0" for quasi-velocities u1, u2..
    What is not named is 0, and the log says so; a pose of which nothing is named is the group's
    identity.
    """
    symbols = [s.name for s in (system.v if name[0] == "v" else system.q)]
    if name[0] == "u":
        symbols = [f"u{k + 1}" for k in range(len(system.fields))]
    values = {getattr(k, "name", k): x for k, x in entries.items()}
    for k in values:
        if k not in symbols:
            hint = nearest(k, symbols)
            raise ValueError(f"{name}: {k!r} is none of {symbols} of {system!r}{hint}")
    pose = [s.name for s in getattr(system, "pose", ())] if name[0] == "q" else []
    if pose and values.keys().isdisjoint(pose):
        values |= dict(zip(pose, system.group.identity, strict=True))
    if missing := [k for k in symbols if k not in values]:
        LOG.info("%s: %s are not given and start at 0", name, ", ".join(missing))
    read = [read_array(values.get(k, 0.0), f"{name}[{k!r}]") for k in symbols]
    try:
        return np.stack(np.broadcast_arrays(*read), -1)
    except ValueError:
        sizes = {k: x.shape for k, x in zip(symbols, read, strict=True) if x.ndim}
        raise ValueError(f"{name} has entries of different lengths: {sizes}") from None


def check_inputs(values: Mapping[sp.Symbol, Any], parameters: Mapping[sp.Symbol, float]) -> None:
    if not isinstance(values, dict) or not values.keys() <= parameters.keys():
        raise ValueError(f"values = {brief(values)} must map inputs of the forces to numbers")


def read_parameters(
    parameters: Mapping[Any, float] | None,
    expressions: Sequence[sp.Expr],
    own: Sequence[sp.Symbol],
    forces: Sequence[sp.Expr] = (),
) -> dict[sp.Symbol, float]:
    """Parameters as a dict symbol -> float; every other symbol must be among ``own``: q, v, t.

    What occurs in the forces alone may be left out: it is an input.
    """
    if not isinstance(parameters, (dict, type(None))):
        raise ValueError(f"parameters = {parameters!r} must map names to numbers: {{'m': 1.0}}")
    fixed = set().union(*(e.free_symbols for e in expressions)) - set(own)
    free = fixed.union(*(e.free_symbols for e in forces)) - set(own)
    by_name = {}
    for s in free:
        if s.name in by_name:
            raise ValueError(
                f"two different symbols are called {s.name!r}; make each once, "
                "with nh.symbols, and use it everywhere"
            )
        by_name[s.name] = s
    for name in sorted({s.name for s in own} & set(by_name))[:1]:
        raise ValueError(
            f"{name} in L or the constraints is not the {name} of q, v or t: the "
            "two symbols differ in their assumptions; make it once, with "
            "nh.symbols, and use it everywhere"
        )
    bound = {}
    for key, value in (parameters or {}).items():
        name = getattr(key, "name", str(key))
        if name not in by_name:
            unset = sorted(by_name.keys() - {getattr(k, "name", str(k)) for k in parameters})
            remedy = f"; with no number yet: {', '.join(unset)}" if unset else "; leave it out"
            raise ValueError(
                f"parameters: {name!r} occurs neither in L nor in the constraints or forces{remedy}"
            )
        bound[by_name[name]] = read_number(value, f"parameters[{name!r}]")
    inputs = {s for s in free - fixed - set(bound) if s.name != "t"}
    bound |= dict.fromkeys(inputs, UNSET)
    unbound = sorted(s.name for s in free - set(bound))
    if unbound:
        remedy = f"add parameters={{{unbound[0]!r}: number}}"
        timeless = all(s.name != "t" for s in own)
        remedy += ", or t=t if it is the time" if "t" in unbound and timeless else ""
        raise ValueError(
            f"{unbound} occur in L or the constraints but are neither q, v, t nor "
            f"parameters; {remedy}"
        )
    return dict(sorted(bound.items(), key=lambda item: item[0].name))


def check_forms(system: System) -> None:
    """Refuse constraints that the methods cannot treat, naming them."""
    n, m = len(system.v), len(system.constraints) + len(system.holonomic)
    for c in system.constraints:
        slopes = [c.diff(u) for u in system.v]
        if any(not a.free_symbols.isdisjoint(system.v) for a in slopes):
            slopes = [sp.simplify(a) for a in slopes]
        if any(not a.free_symbols.isdisjoint(system.v) for a in slopes):
            raise ValueError(
                f"constraint {c} is not linear in the velocities; nhlab treats "
                "constraints of the form A(q, t) v + b(q, t) = 0"
            )
        if not any(slopes) and c != 0:
            raise ValueError(
                f"constraint {c} contains no velocity; if it is g(q, t) = 0, pass it as holonomic"
            )
    for g in system.holonomic:
        if not g.free_symbols.isdisjoint(system.v):
            raise ValueError(
                f"holonomic constraint {g} must depend on q and t alone; pass "
                "constraints on velocities as constraints"
            )
    if m >= n + 1:
        raise ValueError(f"{m} constraints on {n} coordinates leave nothing to move")
    if system.metric is not None and system.metric.shape != (n, n):
        raise ValueError(f"metric has shape {system.metric.shape}, expected {(n, n)}")


def check_values(system: System) -> None:
    """Refuse what is singular at all generic points: M, the metric, the constraints."""
    S, m, (q, v, t) = system.expressions, system.m, system.samples()
    with np.errstate(all="ignore"):
        M, A = (system.values(table, q, v, t) for table in (S.M, S.A))
        if system.metric is not None:
            G = system.values(S.G, q, v, t)
            if not np.allclose(G, np.swapaxes(G, 1, 2)) or any(map(is_singular, G)):
                raise ValueError(f"metric = {system.metric} must be symmetric and invertible")
    finite = M[np.isfinite(M).all((1, 2))]
    if len(finite) and all(map(is_singular, finite)):
        raise ValueError(
            f"L = {system.L} is singular: its Hessian in the velocities has no "
            "inverse; every velocity needs a kinetic term"
        )
    finite = np.isfinite(A).all((1, 2)) if m else np.zeros(len(A), bool)
    ranks = rank(A[finite], M[finite])
    if finite.any() and (ranks < m).all():
        raise ValueError(
            f"the constraints {list(map(str, system.constraints))} + "
            f"{list(map(str, system.holonomic))} are dependent: rank "
            f"{ranks[0]} of {m}; drop the redundant ones"
        )


def solved(matrix: np.ndarray, b: np.ndarray, what: str) -> np.ndarray:
    """matrix^-1 b over leading axes; ValueError where there is none."""
    try:
        return np.linalg.solve(matrix, b)
    except np.linalg.LinAlgError:
        raise ValueError(f"{what} has no inverse at one of these states") from None


REMEDY = (
    "write them so that they stay independent there, as sums and differences divided by what "
    "vanishes, or stay away from it"
)


def shortest(
    G: np.ndarray, A: np.ndarray, x: np.ndarray, place: Callable[[int], str]
) -> np.ndarray:
    """The shortest v in the metric G with A v = x, G^-1 A^T (A G^-1 A^T)^-1 x, over leading axes.

    The rows of A are made orthonormal first, for A G^-1 A^T would lose twice as many digits where
    they become dependent.  ``place(k)`` says in words where the k-th of these states is.
    """
    unit = units(G)
    A, scale = unit_rows(A * unit[..., None, :])
    B, R = np.linalg.qr(np.swapaxes(A, -1, -2))
    check_independent(np.linalg.svd(R, compute_uv=False)[..., -1], place)
    Z = solved(in_units(G, unit), B, "the metric")
    y = solved(np.swapaxes(R, -1, -2), scale * x, "A (dependent constraints)")
    return unit[..., None] * (Z @ solved(np.swapaxes(B, -1, -2) @ Z, y, "A G^-1 A^T"))


def units(G: np.ndarray) -> np.ndarray:
    """Units for the velocities in which the entries of a metric are at most one, over leading axes.

    Those of a definite metric make its diagonal one.  They follow every change of units; the
    largest entries of the rows do not, for they mix the units of several coordinates.
    """
    size = np.abs(np.diagonal(G, axis1=-2, axis2=-1))
    size = np.where(size > 0, size, np.abs(G).max(-1, initial=0))
    unit = _inverse_root(size)
    for _ in range(SWEEPS):  # a metric that is not definite may have larger entries beside these
        most = np.abs(in_units(G, unit)).max(-1, initial=0)
        unit = unit * _inverse_root(np.maximum(most, 1))
    return unit


def _inverse_root(size: np.ndarray) -> np.ndarray:
    """One over the root; one where there is none."""
    return 1 / np.sqrt(np.where((size > 0) & np.isfinite(size), size, 1))


def in_units(G: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """A metric in other units of the velocities, over leading axes."""
    return unit[..., :, None] * G * unit[..., None, :]


def is_definite(G: np.ndarray) -> bool:
    """True if these metrics are finite and positive definite, in whatever units: with a diagonal
    of one, their eigenvalues are positive by more than round-off."""
    if not np.isfinite(G).all() or not (np.diagonal(G, axis1=-2, axis2=-1) > 0).all():
        return False
    least = np.linalg.eigvalsh(in_units(G, units(G)))
    return bool((least > G.shape[-1] * EPS).all())


def unit_rows(A: np.ndarray) -> tuple:
    """(A with rows of length one, what they were multiplied with), over leading axes; rows of
    zeros stay.  First by powers of two, so that no square overflows."""
    size = np.abs(A).max(-1, keepdims=True, initial=0)
    scale = np.ldexp(1.0, -np.clip(np.frexp(size)[1], -1000, 1000))
    length = np.linalg.norm(A * scale, axis=-1, keepdims=True)
    scale = scale / np.where(length > 0, length, 1)
    return A * scale, scale


def independence(A: np.ndarray, G: np.ndarray) -> np.ndarray:
    """How far the rows are from being dependent, from 0 to 1, over leading axes: the smallest
    singular value of the rows of length one, in units in which the metric G has the size one."""
    return np.linalg.svd(unit_rows(A * units(G)[..., None, :])[0], compute_uv=False)[..., -1]


def check_independent(values: np.ndarray, place: Callable[[int], str]) -> None:
    """Refuse the first of some states whose ``independence`` is round-off, naming its place."""
    for k in np.flatnonzero(~(values * MAX_AMPLIFICATION >= 1))[:1]:
        size = f"smallest singular value {values.flat[k]:.1e} of the scaled rows"
        raise ValueError(f"the constraints are dependent at {place(k)} ({size}); {REMEDY}")


def is_singular(matrix: np.ndarray) -> bool:
    return amplification(matrix) > SINGULAR


def rank(A: np.ndarray, G: np.ndarray) -> int | np.ndarray:
    """The number of independent rows in the units of the metric G, of one matrix or of each of a
    batch."""
    if A.shape[-2] < 2:  # quickly
        return (A != 0).any(-1).sum(-1)
    A = A * units(G)[..., None, :]
    return np.linalg.matrix_rank(unit_rows(A)[0], rtol=1 / MAX_AMPLIFICATION)
