"""Bodies, frames and loads of ``sympy.physics.mechanics``: their Lagrangian, their forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import sympy as sp

from .checks import sequence

T = TypeVar("T")

PARTS = (
    "its parts: System.from_mechanics(bodies, q, velocity_constraints, frame=N, speeds=u, "
    "kinematic=kd_eqs, forces=forcelist, holonomic=configuration_constraints)"
)


def unpacked(L: Any, parts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(L, parts), where L may come as a method of SymPy's or as bodies in ``parts["frame"]``."""
    import sympy.physics.mechanics as me

    for kind, read in ((me.LagrangesMethod, _from_lagrange), (me.KanesMethod, _from_kane)):
        if isinstance(L, kind):
            for name, x in parts.items():
                if x is not None and not (isinstance(x, tuple) and not x):
                    raise ValueError(f"{name} belongs to the {kind.__name__}; give it there alone")
            L, own = read(L)
            parts = dict.fromkeys(parts) | own
    bodies = sequence(L)
    if bodies and all(isinstance(x, (me.Particle, me.RigidBody)) for x in bodies):
        frame = _frame(parts["frame"], "the bodies")
        return _careful(lambda: me.Lagrangian(frame, *bodies), "the bodies"), parts
    if type(L).__module__.startswith("sympy.physics"):
        raise ValueError(
            f"L is a {type(L).__name__}, which says no Lagrangian; give a LagrangesMethod, a "
            f"KanesMethod or {PARTS}"
        )
    return L, parts


def _from_lagrange(method: Any) -> tuple[Any, dict[str, Any]]:
    """What a LagrangesMethod was made from."""
    own = vars(method)
    holonomic = own["_hol_coneqs"]
    return own["_L"][0], {
        "q": method.q,
        "constraints": method.coneqs[len(holonomic) :],
        "holonomic": holonomic,
        "forces": list(method.forcelist) or None,
        "frame": method.inertial,
    }


def _from_kane(method: Any) -> tuple[list[Any], dict[str, Any]]:
    """The bodies of a KanesMethod, and what else it was made from."""
    own, bodies = vars(method), list(method.bodies or ())
    if not bodies:
        raise ValueError("the KanesMethod has no bodies; call its kanes_equations(bodies, loads)")
    if own["_f_h"] or own["_uaux"] or len(method.u) != len(method.q):
        raise ValueError(
            "a KanesMethod with configuration constraints, auxiliary speeds or fewer speeds than "
            f"coordinates is not read; give {PARTS}, one speed for each coordinate"
        )
    return bodies, {
        "q": method.q,
        "constraints": own["_k_nh"] * method.u + own["_f_nh"] if own["_k_nh"] else (),
        "holonomic": (),
        "forces": list(method.forcelist or ()) or None,
        "frame": own["_inertial"],
        "speeds": method.u,
        "kinematic": [rate - e for rate, e in method.kindiffdict().items()],
    }


def generalised(
    forces: Any, rates: Sequence[sp.Expr], frame: Any, speeds: Mapping[sp.Expr, sp.Expr]
) -> Any:
    """Forces per coordinate from loads (point, force), (frame, torque); others as they are."""
    import sympy.physics.mechanics as me

    loads = [y for x in sequence(forces) for y in (x.to_loads() if hasattr(x, "to_loads") else [x])]
    if not loads or not all(isinstance(x, tuple) and len(x) == 2 for x in loads):
        return forces
    frame = _frame(frame, "the forces")
    for place, vector in loads:
        if not isinstance(place, (me.Point, me.ReferenceFrame)):
            raise ValueError(f"forces: {place} is neither a Point nor a ReferenceFrame")
        if not isinstance(vector, me.Vector):
            raise ValueError(f"forces: {vector!r} at {place} is no vector; write it as f*N.x")
    each = [
        _careful(lambda load=load: _along(*load, rates, frame, speeds), "the forces")
        for load in loads
    ]
    return [sum(row) for row in zip(*each, strict=True)]


def _along(
    place: Any, vector: Any, rates: Sequence[sp.Expr], frame: Any, speeds: Mapping[sp.Expr, sp.Expr]
) -> list[sp.Expr]:
    """The force of one load along each coordinate: its vector times the partial velocities."""
    from sympy.physics.mechanics import Point, msubs, partial_velocity

    velocity = place.vel(frame) if isinstance(place, Point) else place.ang_vel_in(frame)
    partial = partial_velocity([msubs(velocity, speeds)], rates, frame)[0]
    return [u.dot(msubs(vector, speeds)) for u in partial]


def _frame(frame: Any, what: str) -> Any:
    import sympy.physics.mechanics as me

    if not isinstance(frame, me.ReferenceFrame):
        raise ValueError(f"frame = {frame!r}: {what} need the inertial ReferenceFrame, frame=N")
    return frame


def _careful(make: Callable[[], T], what: str) -> T:
    """SymPy's own complaints of missing velocities, as ours."""
    try:
        return make()
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{what} cannot be read: {error}") from None
