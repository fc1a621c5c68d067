"""The sleigh by SymPy's KanesMethod and SciPy: nothing of nhlab."""

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics import mechanics as me


def sleigh(loads, speed=0, m=1, I=1, a=0.2):
    """A function of (times, q0, v0) that gives (x, y, theta) at the times.

    ``loads(N, contact, centre, B, q, u, t)`` lists forces and torques; ``speed`` is that of the
    ground along x, an expression in the time of SymPy's mechanics.
    """
    q, u = me.dynamicsymbols("x y theta"), me.dynamicsymbols("u1:4")
    time, N = me.dynamicsymbols._t, me.ReferenceFrame("N")
    B = N.orientnew("B", "axis", (q[2], N.z))
    B.set_ang_vel(N, u[2] * N.z)
    contact, centre = me.Point("P"), me.Point("C")
    contact.set_vel(N, u[0] * N.x + u[1] * N.y)
    centre.set_pos(contact, a * B.x)
    centre.v2pt_theory(contact, N, B)
    body = me.RigidBody("sleigh", centre, B, m, (me.inertia(B, 0, 0, I), centre))
    edge = sp.sin(q[2]) * (u[0] - speed) - sp.cos(q[2]) * u[1]
    rates = [b - x.diff() for x, b in zip(q, u, strict=True)]
    method = me.KanesMethod(
        N, q, [u[0], u[2]], rates, u_dependent=[u[1]], velocity_constraints=[edge]
    )
    method.kanes_equations([body], loads(N, contact, centre, B, q, u, time))
    state = (*q, u[0], u[2], u[1])
    full = sp.lambdify((time, state), [method.mass_matrix_full, method.forcing_full], cse=True)

    def slope(s, z):
        mass, force = full(s, z)
        return np.linalg.solve(mass, force[:, 0])

    def motion(times, q0, v0):
        start, how = [*q0, v0[0], v0[2], v0[1]], {"rtol": 1e-12, "atol": 1e-13}
        return solve_ivp(slope, (0, times[-1]), start, "DOP853", times, **how).y[:3].T

    return motion
