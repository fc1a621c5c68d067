r"""The catalogue of machines: vehicles and toys that roll, larger than the systems of the papers.

Written as in ``catalogue``, and found there as well: ``nh.systems.bicycle()``.  A rigid body in
space is stated in its own frame, by its angular velocity and the velocity of its centre of mass:
so L stays short, and the generator does the rest.  SI units throughout.

MPRS07 is Meijaard, Papadopoulos, Ruina & Schwab, "Linearized dynamics equations for the balance and
steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007); KL82 is Kane & Levinson,
"Realistic mathematical modeling of the rattleback", Int. J. Non-Linear Mech. 17 (1982).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sympy import Expr, cos, pi, sin, sqrt, tan

from ..codegen.derivatives import dot
from .groups import SO3
from .listing import GroupStatement, Statement, listed, machines
from .system import symbols

Vector = tuple[Any, ...]  # three numbers or expressions

x, y, theta, phi, psi, left, right = symbols("x y theta phi psi left right")
vx, vy, vtheta, vphi, vpsi, vleft, vright = symbols("vx vy vtheta vphi vpsi vleft vright")


# ---------------------------------------------------------------------------- vectors, as tuples


def cross(a: Vector, b: Vector) -> Vector:
    return tuple(a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3))


def plus(*vectors: Vector) -> Vector:
    return tuple(map(sum, zip(*vectors, strict=True)))


def turned(u: Vector, *turns: tuple[int, Any]) -> Vector:
    """u after turns (axis, angle), axis 0, 1, 2: the components in space of a vector that was
    given in a body turned so, last turn first.  With -angle: the other way round."""
    u = list(u)
    for axis, angle in turns:
        i, j, c, s = axis - 2, axis - 1, cos(angle), sin(angle)
        u[i], u[j] = c * u[i] - s * u[j], s * u[i] + c * u[j]
    return tuple(u)


class Frame(NamedTuple):
    """A moving frame: the velocity u of its origin, its angular velocity w and the direction of
    the z of space, in its own axes; and how far its origin is along z."""

    u: tuple
    w: tuple
    down: tuple = (0, 0, 1)
    z: object = 0

    def turned(self, axis: int, angle: Any, rate: Any) -> Frame:
        """The frame after a turn about one of its axes, at a rate."""
        u, w, down = (turned(x, (axis, -angle)) for x in (self.u, self.w, self.down))
        return Frame(u, plus(w, [rate if k == axis else 0 for k in range(3)]), down, self.z)

    def moved(self, place: Vector) -> Frame:
        """The frame with its origin at a place in it."""
        z = self.z + dot(self.down, place)
        return Frame(plus(self.u, cross(self.w, place)), self.w, self.down, z)


def kinetic(m: Any, body: Frame, I1: Any, I2: Any, I3: Any, I13: Any = 0, I12: Any = 0) -> Expr:
    """The kinetic energy of a body whose centre is the origin of its frame."""
    u, w = body.u, body.w
    spin = I1 * w[0] ** 2 + I2 * w[1] ** 2 + I3 * w[2] ** 2 + 2 * w[0] * (I12 * w[1] + I13 * w[2])
    return (m * dot(u, u) + spin) / 2


def along(angle: Expr) -> Expr:
    """The velocity of (x, y) along a heading."""
    return vx * cos(angle) + vy * sin(angle)


def across(angle: Expr) -> Expr:
    """The velocity of (x, y) across a heading, from x to y."""
    return vy * cos(angle) - vx * sin(angle)


# ---------------------------------------------------------------------------- in the plane


@listed("Krishnaprasad & Tsakiris 2001", among=machines)
def roller_racer(
    m: float = 1.0,
    I1: float = 0.3,
    I2: float = 0.1,
    k: float = 1.0,
    d1: float = 1.0,
    d2: float = 0.1,
) -> Statement:
    r"""Roller racer: a seat on an axle, a handlebar with an axle of its own, a spring between.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac{I_1}2\dot\theta^2
              + \tfrac{I_2}2(\dot\theta + \dot\phi)^2 - \tfrac k2\phi^2, \qquad
              \dot y\cos\theta - \dot x\sin\theta = 0, \quad
              \dot y\cos(\theta + \phi) - \dot x\sin(\theta + \phi)
              + (d_1\cos\phi + d_2)\dot\theta + d_2\dot\phi = 0

    (x, y) is the rear axle.  From rest the swinging handlebar drives it, forwards if d2 is short;
    one momentum equation says how.  M is constant and V quadratic: the projector method keeps the
    energy, yet its zigzag grows where the motion settles.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.roller_racer()
    <System roller racer: q = (x, y, theta, phi), I1=0.3, I2=0.1, d1=1, d2=0.1, k=1, m=1>
    """
    L = (m * (vx**2 + vy**2) + I1 * vtheta**2 + I2 * (vtheta + vphi) ** 2 - k * phi**2) / 2
    bar = across(theta + phi) + d1 * cos(phi) * vtheta + d2 * (vtheta + vphi)
    start = dict(q0=(0, 0, 0, 1), v0=(0, 0, 0, 0))
    return dict(q=(x, y, theta, phi), L=L, constraints=[across(theta), bar], **start)


@listed("Laumond 1993; Bloch, chapter 1", among=machines)
def car_with_trailer(
    m: float = 1.0,
    I: float = 0.5,
    J: float = 0.1,
    k: float = 0.04,
    l: float = 1.0,
    d: float = 1.5,
    mt: float = 0.5,
    It: float = 0.2,
    steer: float = 0.5,
) -> Statement:
    r"""A car with a trailer; the steering angle phi is held by a spring, psi is the trailer's.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2\dot\theta^2 + \tfrac J2\dot\phi^2
              + \tfrac{m_t}2\bigl|(\dot x + d\dot\psi\sin\psi,\
              \dot y - d\dot\psi\cos\psi)\bigr|^2
              + \tfrac{I_t}2\dot\psi^2 - \tfrac k2\phi^2, \qquad
              \dot y\cos\theta - \dot x\sin\theta = 0, \quad
              \dot y\cos(\theta + \phi) - \dot x\sin(\theta + \phi) + l\dot\theta\cos\phi = 0, \quad
              \dot y\cos\psi - \dot x\sin\psi = d\dot\psi

    (x, y) is the rear axle, to which the trailer is hitched.  A Chaplygin system without any
    momentum equation.  Backwards the trailer folds.  The angle steer shapes only (q0, v0), and v0
    depends on l.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.car_with_trailer()
    <System car with trailer: q = (x, y, theta, phi, psi), I=0.5, It=0.2, J=0.1, d=1.5,
    k=0.04, l=1, m=1, mt=0.5>
    """
    trailer = (vx + d * vpsi * sin(psi)) ** 2 + (vy - d * vpsi * cos(psi)) ** 2
    T = m * (vx**2 + vy**2) + I * vtheta**2 + J * vphi**2 + mt * trailer + It * vpsi**2
    front = across(theta + phi) + l * vtheta * cos(phi)
    rows = [across(theta), front, across(psi) - d * vpsi]
    start = dict(q0=(0, 0, 0, steer, 0), v0=(1, 0, tan(steer) / l, 0, 0))
    go = l * cos(phi)  # the speed of the rear axle at which the car turns at the rate sin phi
    drive = {x: go * cos(theta), y: go * sin(theta), theta: sin(phi)}
    start["fields"] = [drive | {psi: go * sin(theta - psi) / d}, {phi: 1}]
    return dict(q=(x, y, theta, phi, psi), L=(T - k * phi**2) / 2, constraints=rows, **start)


def wheels(R: Any, d: Any) -> tuple[Expr, ...]:
    """A pair of driven wheels at -d/2 and d/2 beside (x, y): no slip across, no slip along."""
    ahead, turn = along(theta), d * vtheta / 2
    return [across(theta), ahead - turn - R * vleft, ahead + turn - R * vright]


def wheel_energy(M: Any, J: Any, K: Any, d: Any) -> Expr:
    """Of both wheels, of mass M and inertia J about the axle, K about a diameter."""
    place = M * (vx**2 + vy**2) + M * d**2 * vtheta**2 / 4
    return place + J * (vleft**2 + vright**2) / 2 + K * vtheta**2


@listed("Fierro & Lewis 1998", "two-wheeled robot", among=machines)
def two_wheeled_robot(
    m: float = 10.0, I: float = 0.5, a: float = 0.1, M: float = 0.5, J: float = 0.0025,
    K: float = 0.00125, R: float = 0.1, d: float = 0.5,
    tleft: float = 0.0, tright: float = 0.0, drag: float = 0.0, u: float = -1.0, w: float = 0.3,
) -> Statement:  # fmt: skip
    r"""Robot with two driven wheels on one axle and a castor that weighs nothing.

    .. math:: L = \tfrac m2\bigl|(\dot x - a\dot\theta\sin\theta,\
              \dot y + a\dot\theta\cos\theta)\bigr|^2 + \tfrac I2\dot\theta^2
              + M(\dot x^2 + \dot y^2) + \bigl(\tfrac{M d^2}4 + K\bigr)\dot\theta^2
              + \tfrac J2(\dot\lambda^2 + \dot\rho^2), \qquad
              \dot y\cos\theta - \dot x\sin\theta = 0, \quad
              \dot x\cos\theta + \dot y\sin\theta \mp \tfrac d2\dot\theta
              = R\dot\lambda,\ R\dot\rho

    lambda and rho, ``left`` and ``right``, turn the wheels; the centre of mass is a ahead of the
    axle.  Forces: the torques tleft and tright of the motors, inputs if a run gives them values,
    less drag times the rate of each wheel.  Without torques it is the sleigh with another mass and
    inertia, and ends straight ahead.  The speed u and the turn rate w shape only (q0, v0); v0
    depends on R and d.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.two_wheeled_robot()
    <System two-wheeled robot: q = (x, y, theta, left, right), I=0.5, J=0.0025, K=0.00125,
    M=0.5, R=0.1, a=0.1, d=0.5, drag=0, m=10, tleft=0, tright=0>
    """
    body = (vx - a * vtheta * sin(theta)) ** 2 + (vy + a * vtheta * cos(theta)) ** 2
    L = (m * body + I * vtheta**2) / 2 + wheel_energy(M, J, K, d)
    v0 = (u, 0, w, (u - d * w / 2) / R, (u + d * w / 2) / R)
    forces = {left: tleft - drag * vleft, right: tright - drag * vright}
    return dict(q=(x, y, theta, left, right), L=L, constraints=wheels(R, d), forces=forces, v0=v0)


# ---------------------------------------------------------------------------- in space


@listed("Pathak, Franch & Agrawal 2005", "Segway", among=machines)
def segway(
    m: float = 10.0, b: float = 0.5, Ix: float = 1.0, Iy: float = 0.9, Iz: float = 0.4,
    M: float = 2.0, J: float = 0.04, K: float = 0.02, R: float = 0.2, d: float = 0.6,
    g: float = 9.81,
    tleft: float = 0.0, tright: float = 0.0, drag: float = 0.0, w: float = 0.5,
) -> Statement:  # fmt: skip
    r"""Segway: a body that pitches by phi on the axle of two driven wheels.

    .. math:: L = \tfrac m2|\dot c|^2 + \tfrac12(I_x\sin^2\phi + I_z\cos^2\phi)\dot\theta^2
              + \tfrac{I_y}2\dot\phi^2 + T_\mathrm{wheels} - m g b\cos\phi, \qquad
              c = (x, y, 0) + b\,(\sin\phi\cos\theta, \sin\phi\sin\theta, \cos\phi)

    Its wheels roll as those of ``two_wheeled_robot``; phi = 0 is upright, where it falls over at
    the first disturbance: the linearised motion has one growing mode.  Forces: the torques tleft
    and tright of the motors between body and wheels, inputs if a run gives them values, less drag
    times the rate of each wheel against the body.  The turn rate w shapes only (q0, v0), and v0
    depends on R and d.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.segway()
    <System Segway: q = (x, y, theta, phi, left, right), Ix=1, Iy=0.9, Iz=0.4, J=0.04,
    K=0.02, M=2, R=0.2, b=0.5, d=0.6, drag=0, g=9.81, m=10, tleft=0, tright=0>
    """
    ahead, side = along(theta) + b * cos(phi) * vphi, across(theta) + b * sin(phi) * vtheta
    T = m * (ahead**2 + side**2 + (b * sin(phi) * vphi) ** 2) / 2
    T += ((Ix * sin(phi) ** 2 + Iz * cos(phi) ** 2) * vtheta**2 + Iy * vphi**2) / 2
    L = T + wheel_energy(M, J, K, d) - m * g * b * cos(phi)
    v0 = (0, 0, w, 0, -d * w / 2 / R, d * w / 2 / R)
    q, rows = (x, y, theta, phi, left, right), wheels(R, d)
    forces = {left: tleft - drag * (vleft - vphi), right: tright - drag * (vright - vphi)}
    forces[phi] = -forces[left] - forces[right]
    return dict(q=q, L=L, constraints=rows, forces=forces, q0=(0, 0, 0, 0.2, 0, 0), v0=v0)


@listed("Neimark & Fufaev 1972; Bloch, chapter 1", "tilted disk", among=machines)
def tilted_disk(
    m: float = 1.0,
    R: float = 1.0,
    A: float = 0.25,
    C: float = 0.5,
    g: float = 9.81,
    lean: float = 0.5,
    turn: float = -1.5,
) -> Statement:
    r"""Disk that rolls and leans by theta: heading phi, turned by psi, contact (x, y).

    .. math:: L = \tfrac m2\bigl[(u + R\omega_2)^2 + (s\cos\theta - R\dot\theta)^2
              + s^2\sin^2\theta\bigr] + \tfrac A2(\dot\theta^2 + \dot\phi^2\cos^2\theta)
              + \tfrac C2(\omega_2 + \dot\psi)^2 - m g R\cos\theta, \qquad
              \dot x = R\dot\psi\cos\phi, \quad \dot y = R\dot\psi\sin\phi

    Here u, s are the velocities of the contact ahead and to the left, omega_2 = phi' sin(theta).
    A and C are the moments of inertia about a diameter and the axis.  Upright it rolls stably if
    psi'^2 > m g R A/(C (C + m R^2)), for a thin homogeneous disk g/(3 R).  It starts on a circle,
    leaning steadily: lean and turn, the rate of phi, shape only (q0, v0), and v0 depends on all
    parameters.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.tilted_disk()
    <System tilted disk: q = (x, y, phi, theta, psi), A=0.25, C=0.5, R=1, g=9.81, m=1>
    """
    disk = Frame((along(phi), across(phi), 0), (0, 0, vphi)).turned(0, theta, vtheta)
    L = kinetic(m, disk.moved((0, 0, R)).turned(1, 0, vpsi), A, C, A) - m * g * R * cos(theta)
    rolling = [vx - R * cos(phi) * vpsi, vy - R * sin(phi) * vpsi]
    torque = A * turn**2 * sin(lean) * cos(lean) - m * g * R * sin(lean)
    roll = torque / ((C + m * R**2) * turn * cos(lean)) - turn * sin(lean)
    start = dict(q0=(0, 0, 0, lean, 0), v0=(R * roll, 0, turn, 0, roll))
    return dict(q=(x, y, phi, theta, psi), L=L, constraints=rolling, **start)


@listed("Milne 1948, Vectorial Mechanics", "ball on a turntable", among=machines)
def ball_on_turntable(
    m: float = 1.0, I: float = 0.016, R: float = 0.2, Om: float = 3.5, rule: str = "cayley"
) -> GroupStatement:
    r"""Homogeneous ball that rolls on a table turning at the rate Om.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2|\omega|^2, \qquad
              \dot x = -R\,\omega_2 - \Omega y, \quad \dot y = R\,\omega_1 + \Omega x

    The constraints move: energy has a balance, not a law.  The ball does not fly off: in space it
    goes round a circle at the rate Om I/(I + m R^2), which is 2/7 Om, wherever it starts.  As in
    ``rubber_ball``, g is the inverse of the attitude and omega minus the angular velocity in space.
    v0 depends on R and Om.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.ball_on_turntable()
    <GroupSystem ball on a turntable on R^2 x SO3, rule='cayley', I=0.016, Om=3.5, R=0.2,
    m=1>
    """
    w = symbols("w1 w2 w3")
    L = m * (vx**2 + vy**2) / 2 + I * dot(w, w) / 2
    rolling = [vx + R * w[1] + Om * y, vy - R * w[0] - Om * x]
    place = dict(group=SO3, g=symbols("qw qx qy qz"), r=(x, y), q0=(1, 0, 1, 0, 0, 0))
    v0 = (0, 0.5, (0.5 - Om) / R, 0, 0)
    return dict(**place, v=(vx, vy, *w), L=L, constraints=rolling, v0=v0)


@listed("KL82", among=machines)
def rattleback(
    m: float = 1.0,
    a: float = 0.2,
    b: float = 0.03,
    c: float = 0.02,
    h: float = 0.01,
    A: float = 2e-4,
    B: float = 1.6e-3,
    C: float = 1.7e-3,
    D: float = -2e-5,
    g: float = 9.81,
    spin: float = -5.0,
) -> Statement:
    r"""Rattleback, or Celtic stone: half an ellipsoid that rolls and prefers one way of spinning.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2 + \dot z^2) + \tfrac12(A\omega_1^2 + B\omega_2^2
              + C\omega_3^2 + 2D\omega_1\omega_2) - m g z, \qquad \dot c + \omega\times\rho = 0

    c = (x, y, z) is the centre of mass, h below the centre of the ellipsoid with half axes a, b, c;
    rho points from it to the contact and z is a function of the attitude: yaw, then roll, then
    pitch.  D, the inertia askew to the shape, couples spin and rattle: spun the wrong way it
    rattles, stops and turns back, from -5 to 4.3 rad/s in 5 s.  The projector method, h = 0.0025,
    says -3.2, at an energy error like DLA's: its zigzag has grown.  The rate spin shapes only
    (q0, v0), and v0 depends on a, b, c and h.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.rattleback()
    <System rattleback: q = (x, y, yaw, roll, pitch), A=0.0002, B=0.0016, C=0.0017,
    D=-2e-05, a=0.2, b=0.03, c=0.02, g=9.81, h=0.01, m=1>
    """
    q = symbols("x y yaw roll pitch")
    _, _, yaw, roll, pitch = q
    vyaw, vroll, vpitch = symbols("vyaw vroll vpitch")
    body = Frame((0, 0, 0), (0, 0, vyaw)).turned(0, roll, vroll).turned(1, pitch, vpitch)
    n = body.down  # here z is up
    size = sqrt((a * n[0]) ** 2 + (b * n[1]) ** 2 + (c * n[2]) ** 2)
    rho = (-(a**2) * n[0] / size, -(b**2) * n[1] / size, h - c**2 * n[2] / size)
    u = cross(rho, body.w)  # the velocity of the centre, in the body
    slip = turned(u, (1, pitch), (0, roll))
    place = m * (vx**2 + vy**2 + slip[2] ** 2) / 2
    L = place + kinetic(0, body, A, B, C, I12=D) - m * g * (size - h * n[2])
    rolling = [v - e for v, e in zip((vx, vy), turned(slip, (2, yaw))[:2], strict=True)]
    lean = pi / 360  # half a degree
    start = {roll: lean, pitch: lean, yaw: 0, vyaw: spin, vroll: 0, vpitch: 0}
    v0 = (*((v - e).subs(start) for v, e in zip((vx, vy), rolling, strict=True)), spin, 0, 0)
    return dict(q=q, L=L, constraints=rolling, q0=(0, 0, 0, lean, lean), v0=v0)


@listed("MPRS07; Whipple 1899", "Whipple bicycle", among=machines)
def bicycle(
    w: float = 1.02, c: float = 0.08, tilt: float = 0.3141592653589793, g: float = 9.81,
    rR: float = 0.3, mR: float = 2.0, IRxx: float = 0.0603, IRyy: float = 0.12,
    xB: float = 0.3, zB: float = -0.9, mB: float = 85.0, IBxx: float = 9.2, IByy: float = 11.0,
    IBzz: float = 2.8, IBxz: float = 2.4,
    xH: float = 0.9, zH: float = -0.7, mH: float = 4.0, IHxx: float = 0.05892, IHyy: float = 0.06,
    IHzz: float = 0.00708, IHxz: float = -0.00756,
    rF: float = 0.35, mF: float = 3.0, IFxx: float = 0.1405, IFyy: float = 0.28, speed: float = 4.6,
    push: float = 0.5,
) -> Statement:  # fmt: skip
    r"""Whipple's bicycle with the parameters of the benchmark, MPRS07 table 1; z points down.

    .. math:: L = \sum_{i=R,B,H,F}\tfrac12\bigl(m_i|\dot c_i|^2 + \omega_i\cdot I_i\omega_i\bigr)
              + g\sum m_i z_i, \qquad \text{both contacts at rest}, \quad
              \text{the front wheel on the ground}

    Rear wheel, rear frame with the rider, handlebar with the fork, front wheel.  (x, y) is the rear
    contact; yaw, roll and pitch turn the frame, steer the fork about an axis tilted by ``tilt``,
    rear and front the wheels, backwards where positive, as in the paper.  Four rows of rolling and
    a holonomic constraint leave three velocities free.  Between 4.29 and 6.02 m/s it rights itself,
    slower it weaves, faster it leans over.  It starts straight ahead at ``speed``, pushed to the
    lean rate ``push``; these shape only (q0, v0), and v0 depends on rR and rF.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.bicycle()
    <System Whipple bicycle: q = (x, y, yaw, roll, pitch, steer, rear, front), IBxx=9.2,
    IBxz=2.4, IByy=11, IBzz=2.8, IFxx=0.1405, IFyy=0.28, IHxx=0.05892, IHxz=-0.00756,
    IHyy=0.06, IHzz=0.00708, IRxx=0.0603, IRyy=0.12, c=0.08, g=9.81, mB=85, mF=3, mH=4,
    mR=2, rF=0.35, rR=0.3, tilt=0.314159, w=1.02, xB=0.3, xH=0.9, zB=-0.9, zH=-0.7>
    """
    q = symbols("x y yaw roll pitch steer rear front")
    _, _, yaw, roll, pitch, steer, _, _ = q
    vyaw, vroll, vpitch, vsteer, vrear, vfront = symbols("vyaw vroll vpitch vsteer vrear vfront")

    def parts(ahead: Any, side: Any) -> tuple[Frame, Frame]:
        """The frame at the rear axle, the fork at its upper end, if the rear contact moves so."""
        rear = Frame((ahead, side, 0), (0, 0, vyaw)).turned(0, roll, vroll).moved((0, 0, -rR))
        frame = rear.turned(1, pitch, vpitch)
        fork = frame.moved((w + c, 0, rR)).turned(1, tilt, 0).turned(2, steer, vsteer)
        return frame, fork.turned(1, -tilt, 0)

    frame, fork = parts(along(yaw), across(yaw))
    B, H = frame.moved((xB, 0, zB + rR)), fork.moved((xH - w - c, 0, zH))
    F = fork.moved((-c, 0, -rF))
    T = kinetic(mR, frame.turned(1, 0, vrear), IRxx, IRyy, IRxx)
    T += kinetic(mB, B, IBxx, IByy, IBzz, IBxz) + kinetic(mH, H, IHxx, IHyy, IHzz, IHxz)
    T += kinetic(mF, F.turned(1, 0, vfront), IFxx, IFyy, IFxx)
    L = T + g * dot((mR, mB, mH, mF), (frame.z, B.z, H.z, F.z))
    ahead = -rR * (vpitch + vrear)  # the speed at which the rear wheel rolls
    steep, slip = contact(parts(ahead, 0)[1].moved((-c, 0, -rF)).turned(1, 0, vfront), rF)
    rows = [vx - ahead * cos(yaw), vy - ahead * sin(yaw), *slip]
    v0 = (speed, 0, 0, push, 0, 0, -speed / rR, -speed / rF)
    return dict(q=q, L=L, constraints=rows, holonomic=[F.z + rF * steep], v0=v0)


def contact(wheel: Frame, radius: Any) -> tuple[Expr, ...]:
    """How steep a wheel stands, and its slip along its plane and along its axle.

    It touches where its plane goes down most steeply; down it does not slip, by its height.
    """
    x, _, z = wheel.down
    steep = sqrt(x**2 + z**2)
    u = wheel.moved((radius * x / steep, 0, radius * z / steep)).u
    return steep, (u[0] * z - u[2] * x, u[1])
