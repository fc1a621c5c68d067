"""Unit masses, of which most systems of these tests are made."""

import nhlab as nh


def particle(q, V=0, rows=(), name="", q0=None, v0=None, **others):
    """L = |v|^2/2 - V in coordinates such as "x y z", with the velocities vx, vy, vz."""
    v = nh.symbols([f"v{x}" for x in q.split()])
    L = sum(u**2 for u in v) / 2 - V
    return nh.System(nh.symbols(q), v, L, rows, name=name, q0=q0, v0=v0, **others)
