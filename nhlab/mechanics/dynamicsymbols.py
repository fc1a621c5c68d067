"""Systems as ``sympy.physics.mechanics`` users write them, in our symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import sympy as sp

from . import vectors
from .checks import read_matrix, read_scalar, read_symbols, sequence


def plain(
    L: Any,
    q: Any = None,
    constraints: Any = (),
    *,
    holonomic: Any = (),
    forces: Any = None,
    metric: Any = None,
    t: sp.Symbol | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Arguments of ``System`` for what is written in dynamicsymbols and their derivatives."""
    parts = {"q": q, "constraints": constraints, "holonomic": holonomic, "forces": forces}
    parts |= {name: others.pop(name, None) for name in ("frame", "speeds", "kinematic")}
    L, parts = vectors.unpacked(L, parts)
    qs = _coordinates(parts["q"])
    speeds = _speeds(qs, parts["speeds"], parts["kinematic"])
    forces = vectors.generalised(parts["forces"], _rates(qs), parts["frame"], speeds)
    rows = {"constraints": parts["constraints"], "holonomic": parts["holonomic"]}
    rows = {name: [_scalar(e, name) for e in sequence(x)] for name, x in rows.items()}
    forces = [_scalar(e, "forces") for e in _by_coordinate(forces, qs)]
    if metric is not None:
        metric = read_matrix(metric, "metric")
    L = _scalar(L, "L")
    ours = Names(qs, speeds, [L, *chain(*rows.values()), *(metric or ())], forces, t)
    rows |= {"forces": forces} if forces else {}
    arguments = {"L": ours.read(L)} | {name: [*map(ours.read, x)] for name, x in rows.items()}
    if metric is not None:
        arguments["metric"] = metric.applyfunc(ours.read)
    return {"q": ours.q, "v": ours.v, **arguments, "t": ours.t if ours.timely else None, **others}


class Names:
    """Our symbols for coordinates, velocities and time; none that occurs with another meaning.

    Dynamicsymbols that occur in the forces alone are inputs, symbols too.
    """

    def __init__(
        self,
        qs: Sequence[sp.Expr],
        speeds: dict[sp.Expr, sp.Expr],
        expressions: Sequence[sp.Expr],
        forces: Sequence[sp.Expr] = (),
        t: sp.Symbol | None = None,
    ) -> None:
        self.time, self.timely, self.speeds = _time(), False, speeds
        self.t = sp.Symbol("t", real=True) if t in (None, self.time) else read_symbols([t], "t")[0]
        formulas = [*expressions, *forces, *speeds.values()]
        names = {s.name for e in formulas for s in e.free_symbols - {self.time, t}}
        inputs = _functions(forces) - _functions(expressions) - {*qs, *speeds}
        inputs = sorted((s for s in inputs if s.args == (self.time,)), key=str)
        symbols = []
        for s in (*qs, *inputs, self.t):
            name = s.name if s is self.t else s.func.__name__
            if name in names:
                what = "time" if s is self.t else str(s)
                raise ValueError(f"{name} is a parameter and {what} too; give it another name")
            symbols.append(sp.Symbol(name, real=True))
        names |= {s.name for s in symbols}
        self.q, self.v = symbols[: len(qs)], []
        for s in self.q:
            name = f"v{s.name}"
            while name in names:
                name += "_"
            names.add(name)
            self.v.append(sp.Symbol(name, real=True))
        self.places = dict(zip((*qs, *inputs), symbols[:-1], strict=True)) | {self.time: self.t}
        self.rates = dict(zip(_rates(qs), self.v, strict=True))

    def read(self, e: sp.Expr) -> sp.Expr:
        e = e.xreplace(self.speeds).doit().xreplace(self.rates)
        unknown = e.atoms(sp.Derivative, sp.core.function.AppliedUndef) - self.places.keys()
        if unknown:
            raise ValueError(
                f"{sorted(map(str, unknown))} occur in L, the forces or the constraints but are "
                "neither in q nor first derivatives of it; list every dynamicsymbol in q, "
                "generalised speeds in speeds with their kinematic equations in kinematic"
            )
        e = e.xreplace(self.places)
        self.timely |= self.t in e.free_symbols
        return e


def _functions(expressions: Iterable[sp.Expr]) -> set[sp.Expr]:
    return set().union(*(e.atoms(sp.core.function.AppliedUndef) for e in expressions))


def _time() -> sp.Symbol:
    """SymPy's symbol of time in dynamicsymbols."""
    from sympy.physics.mechanics import dynamicsymbols

    return dynamicsymbols("x").args[0]


def _coordinates(q: Any) -> list[sp.Expr]:
    if q is None:
        raise ValueError("q is missing: list the coordinates, made with dynamicsymbols")
    qs = sequence(q)
    for s in qs:
        if not isinstance(s, sp.core.function.AppliedUndef) or s.args != (_time(),):
            raise ValueError(f"q: {s} is no dynamicsymbol; make it with dynamicsymbols('{s}')")
    return qs


def _rates(qs: Iterable[sp.Expr]) -> list[sp.Expr]:
    return [s.diff(_time()) for s in qs]


def _scalar(e: Any, name: str) -> sp.Expr:
    """e as an expression; a matrix with one entry is that entry."""
    single = isinstance(e, sp.MatrixBase) and e.shape == (1, 1)
    return read_scalar(e[0] if single else e, name)


def _by_coordinate(forces: Any, qs: Sequence[sp.Expr]) -> list[Any]:
    """The forces in the order of q."""
    if not isinstance(forces, Mapping):
        return [] if forces is None else sequence(forces)
    names = [s.func.__name__ for s in qs]
    by_name = {getattr(getattr(k, "func", None), "__name__", str(k)): e for k, e in forces.items()}
    for name in by_name:
        if name not in names:
            raise ValueError(f"forces: {name} is none of the coordinates {names}")
    return [by_name.get(name, 0) for name in names]


def _speeds(qs: Sequence[sp.Expr], speeds: Any, kinematic: Any) -> dict[sp.Expr, sp.Expr]:
    """u -> expression in q, q' and t, from kinematic equations linear in u."""
    us, equations = ([] if x is None else sequence(x) for x in (speeds, kinematic))
    equations = [_scalar(e, "kinematic") for e in equations]
    if len(us) != len(equations) or len(us) not in (0, len(qs)):
        raise ValueError(
            f"{len(us)} speeds and {len(equations)} kinematic equations for {len(qs)} coordinates; "
            "give one speed and one equation for each, dependent ones too"
        )
    if not us:
        return {}
    system = sp.Matrix(equations)
    try:
        K = system.jacobian(sp.Matrix(us))
        rest = system.xreplace(dict.fromkeys(us, sp.S.Zero))
        solution = -K.LUsolve(rest)
    except (TypeError, ValueError, AttributeError):  # of what is no symbol, and of singular K
        solution = sp.Matrix([sp.nan])
    if solution.has(*us, sp.nan, sp.zoo):
        raise ValueError(
            f"kinematic = {equations} do not determine the speeds {us}; each speed is a "
            "dynamicsymbol, the equations are linear in them and independent"
        )
    tidy = solution if K.is_diagonal() else solution.applyfunc(sp.simplify)
    return dict(zip(us, tidy, strict=True))
