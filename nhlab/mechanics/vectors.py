"""Bodies, frames and loads of ``sympy.physics.mechanics``: their Lagrangian, their forces."""

from __future__ import annotations

from .checks import sequence


def unpacked(L, parts):
    """(L, parts), where L may come as a LagrangesMethod or as bodies in ``parts["frame"]``."""
    import sympy.physics.mechanics as me

    if isinstance(L, me.LagrangesMethod):
        return _from_lagrange(L, parts)
    bodies = sequence(L)
    if bodies and all(isinstance(x, (me.Particle, me.RigidBody)) for x in bodies):
        frame = _frame(parts["frame"], "the bodies")
        return _careful(lambda: me.Lagrangian(frame, *bodies), "the bodies"), parts
    if type(L).__module__.startswith("sympy.physics"):
        raise ValueError(
            f"L is a {type(L).__name__}, which says no Lagrangian; give a LagrangesMethod, or its "
            "parts: System.from_mechanics(bodies, q, velocity_constraints, frame=N, "
            "speeds=u, kinematic=kd_eqs, forces=forcelist)"
        )
    return L, parts


def _from_lagrange(method, parts):
    """What a LagrangesMethod was made from."""
    for name, x in parts.items():
        if x is not None and x != ():
            raise ValueError(f"{name} belongs to the LagrangesMethod; give it there, not here too")
    made = vars(method)
    holonomic = made["_hol_coneqs"]
    return made["_L"][0], {
        "q": method.q,
        "constraints": method.coneqs[len(holonomic) :],
        "holonomic": holonomic,
        "forces": list(method.forcelist) or None,
        "frame": method.inertial,
    }


def generalised(forces, rates, frame, speeds):
    """Forces per coordinate from loads (point, force), (frame, torque); others as they are."""
    import sympy.physics.mechanics as me

    loads = [y for x in sequence(forces) for y in (x.to_loads() if hasattr(x, "to_loads") else [x])]
    if not loads or not all(isinstance(x, tuple) and len(x) == 2 for x in loads):
        return forces
    frame = _frame(frame, "the forces")
    total = [0] * len(rates)
    for place, vector in loads:
        if isinstance(place, me.Point):
            velocity = _careful(lambda at=place: at.vel(frame), "the forces")
        elif isinstance(place, me.ReferenceFrame):
            velocity = place.ang_vel_in(frame)
        else:
            raise ValueError(f"forces: {place} is neither a Point nor a ReferenceFrame")
        if not isinstance(vector, me.Vector):
            raise ValueError(f"forces: {vector!r} at {place} is no vector; write it as f*N.x")
        velocity, vector = me.msubs(velocity, speeds), me.msubs(vector, speeds)
        partial = me.partial_velocity([velocity], rates, frame)[0]
        total = [f + u.dot(vector) for f, u in zip(total, partial, strict=True)]
    return total


def _frame(frame, what):
    import sympy.physics.mechanics as me

    if not isinstance(frame, me.ReferenceFrame):
        raise ValueError(f"frame = {frame!r}: {what} need the inertial ReferenceFrame, frame=N")
    return frame


def _careful(make, what):
    """SymPy's own complaints of missing velocities, as ours."""
    try:
        return make()
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{what} cannot be read: {error}") from None
