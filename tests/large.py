"""A bicycle by positions alone: for what must grow gently, and beside the catalogue's own."""

import numpy as np
import sympy as sp

import nhlab as nh


def _coordinates(names):
    return nh.symbols(names.split()), nh.symbols([f"v{x}" for x in names.split()])


def _parameters(**values):
    names = nh.symbols(list(values))
    return names, dict(zip(names, values.values(), strict=True))


def _rate(e, q, v):
    return e.jacobian(q) * sp.Matrix(v)


def bicycle():
    """Whipple's bicycle in eight coordinates: rear contact, yaw, roll, pitch, steer, two wheels.

    Four rows of rolling and one holonomic constraint, the front wheel on the ground.  In the frame
    of the rear body e3 is the steering axis.
    """
    q, v = _coordinates("x y yaw roll pitch rear steer front")
    x, y, yaw, roll, pitch, _, steer, _ = q
    vyaw, vroll, vpitch, vrear, vsteer, vfront = v[2:]
    values = dict(rr=0.3, rf=0.35, d1=0.95, d2=0.27, d3=0.03, l1=0.48, l2=-0.37, l3=-0.02, l4=-0.34)
    values |= dict(mr=2.0, mb=85.0, mh=4.0, mf=3.0, g=9.81, Irx=0.06, Iry=0.12, Ifx=0.14, Ify=0.28)
    values |= dict(Ibx=7.2, Iby=11.0, Ibz=4.8, Ibxz=3.8, Ihx=0.25, Ihy=0.25, Ihz=0.08, Ihxz=0.04)
    symbols, values = _parameters(**values)
    rr, rf, d1, d2, d3, l1, l2, l3, l4, mr, mb, mh, mf, g, Irx, Iry, Ifx, Ify = symbols[:18]
    Ibx, Iby, Ibz, Ibxz, Ihx, Ihy, Ihz, Ihxz = symbols[18:]

    lean = sp.rot_axis3(-yaw) * sp.rot_axis1(-roll)  # columns: the axes after yaw and roll
    body = lean * sp.rot_axis2(-pitch)
    fork = body * sp.rot_axis3(-steer)
    w_body = sp.Matrix([0, 0, vyaw]) + vroll * sp.rot_axis3(-yaw).col(0) + vpitch * lean.col(1)
    w_fork = w_body + vsteer * body.col(2)

    contact = sp.Matrix([x, y, 0])
    rear = contact + rr * lean.col(2)
    front = rear + d1 * body.col(0) + d2 * body.col(2) + d3 * fork.col(0)
    tilt = fork[2, 1]  # the vertical component of the front axle
    down = rf * (tilt * fork.col(1) - sp.Matrix([0, 0, 1])) / sp.sqrt(1 - tilt**2)

    def kinetic(mass, place, w, axes, Ix, Iy, Iz, Ixz):
        u, a = _rate(place, q, v), axes.T * w
        turning = Ix * a[0] ** 2 + Iy * a[1] ** 2 + Iz * a[2] ** 2 + 2 * Ixz * a[0] * a[2]
        return (mass * u.dot(u) + turning) / 2

    rear_spin, front_spin = w_body + vrear * body.col(1), w_fork + vfront * fork.col(1)
    rider, handle = rear + l1 * body.col(0) + l2 * body.col(2), front + l3 * fork.col(0)
    handle += l4 * fork.col(2)
    T = kinetic(mr, rear, rear_spin, body, Irx, Iry, Irx, 0)
    T += kinetic(mb, rider, w_body, body, Ibx, Iby, Ibz, Ibxz)
    T += kinetic(mh, handle, w_fork, fork, Ihx, Ihy, Ihz, Ihxz)
    T += kinetic(mf, front, front_spin, fork, Ifx, Ify, Ifx, 0)
    V = g * (mr * rear[2] + mb * rider[2] + mh * handle[2] + mf * front[2])
    slip = _rate(rear, q, v) - rr * rear_spin.cross(lean.col(2))
    skid = _rate(front, q, v) + front_spin.cross(down)
    loop = front[2] + down[2]
    return nh.System(
        q, v, T - V, [slip[0], slip[1], skid[0], skid[1]], [loop], parameters=values, name="bicycle"
    )


def riding(system, speed=4.0):
    """(q0, v0) of the bicycle: upright, straight ahead, with a small lean rate."""
    q = np.zeros(8)
    for _ in range(50):  # the pitch that puts the front wheel on the ground
        slope = system.values(system.symbolic.Dg, q)[0, 4]
        q[4] -= system.g(q)[0] / slope
    v = np.array([speed, 0, 0, 0.1, 0, speed / 0.3, 0, speed / 0.35])
    return q, system.project(q, v)
