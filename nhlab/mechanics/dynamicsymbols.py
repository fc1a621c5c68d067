"""Lagrangians as ``sympy.physics.mechanics`` users write them."""

from __future__ import annotations

import sympy as sp

from .checks import read_matrix, read_symbols, sequence
from .formula import sympified


def plain(L, q, constraints=(), **others):
    """Arguments of ``System`` for an L and constraints in dynamicsymbols and their derivatives."""
    from sympy.physics.mechanics import dynamicsymbols

    time, qs = dynamicsymbols._t, sequence(q)
    for s in qs:
        if not isinstance(s, sp.core.function.AppliedUndef):
            raise ValueError(f"q: {s} is no dynamicsymbol; make it with dynamicsymbols('{s}')")
    coordinates = [sp.Symbol(s.func.__name__, real=True) for s in qs]
    taken, velocities = {s.name for s in coordinates}, []
    for s in coordinates:
        name = f"v{s.name}"
        while name in taken:
            name += "_"
        taken.add(name)
        velocities.append(sp.Symbol(name, real=True))
    (t,) = read_symbols([others.pop("t", None) or sp.Symbol("t", real=True)], "t")
    rates = {s.diff(time): u for s, u in zip(qs, velocities, strict=True)}
    places = dict(zip(qs, coordinates, strict=True))

    def read(e, name="metric"):
        e = sympified(e, name).doit().xreplace(rates).xreplace(places).xreplace({time: t})
        left = e.atoms(sp.Derivative) | e.atoms(sp.core.function.AppliedUndef)
        if left:
            raise ValueError(
                f"{sorted(map(str, left))} occur in L or the constraints but "
                "not in q; list every dynamicsymbol in q"
            )
        return e

    L, constraints = read(L, "L"), [read(c, "constraints") for c in sequence(constraints)]
    holonomic = [read(g, "holonomic") for g in sequence(others.pop("holonomic", ()))]
    if others.get("metric") is not None:
        others["metric"] = read_matrix(others["metric"], "metric").applyfunc(read)
    forces = others.pop("forces", None)
    named = forces if isinstance(forces, dict) else dict(enumerate(sequence(forces or ())))
    named = {places.get(k, k): read(e, "forces") for k, e in named.items()}
    forces = named if isinstance(forces, dict) else list(named.values())
    if all(t not in e.free_symbols for e in [L, *constraints, *named.values()]):
        t = None
    expressions = {"L": L, "constraints": constraints, "holonomic": holonomic, "forces": forces}
    return {"q": coordinates, "v": velocities, **expressions, "t": t, **others}
