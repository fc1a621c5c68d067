r"""The catalogue: systems of the papers and books, each with a start (q0, v0) and its source.

Every function returns a ``System``, those on Lie groups a ``GroupSystem``.  Its keywords are the
parameters: ``sleigh(a=0.3)`` and ``sleigh().set(a=0.3)`` are the same motion.  A start that has to
change with a parameter is computed from the keyword and not changed by ``set``; the docstring says
where that is so.

CM01 is Cortés & Martínez 2001, FIM08 Ferraro, Iglesias & Martín de Diego 2008 (journal text), C03
Cortés 2003, Bloch the book "Nonholonomic Mechanics and Control", MP06 McLachlan & Perlmutter,
"Integrators for nonholonomic mechanical systems", J. Nonlinear Sci. 16 (2006).

Examples
--------
>>> import nhlab as nh
>>> sleigh = nh.systems.sleigh(a=0.3)
>>> sleigh
<System sleigh: q = (x, y, theta), I=1, a=0.3, m=1>
>>> sleigh.set(m=2).parameters
{I: 1.0, a: 0.3, m: 2.0}
"""

from __future__ import annotations

from sympy import cos, sin, sqrt

from ..codegen.derivatives import dot
from .exact import suslov_omega as suslov_omega  # public here, beside suslov
from .groups import SE2, SO3
from .listing import GroupStatement, Statement
from .listing import catalogue as catalogue
from .listing import listed as _listed
from .listing import machines as machines
from .listing import on_groups as on_groups
from .machines import ball_on_turntable as ball_on_turntable
from .machines import bicycle as bicycle
from .machines import car_with_trailer as car_with_trailer
from .machines import rattleback as rattleback
from .machines import roller_racer as roller_racer
from .machines import segway as segway
from .machines import tilted_disk as tilted_disk
from .machines import two_wheeled_robot as two_wheeled_robot
from .system import symbols

# The letters of the formulas: coordinates, their velocities, body velocities.
t, x, y, z, theta, psi, phi = symbols("t x y z theta psi phi")
vx, vy, vz, vtheta, vpsi, vphi = symbols("vx vy vz vtheta vpsi vphi")
w1, w2, w3 = w = symbols("w1 w2 w3")
quaternion = symbols("qw qx qy qz")

# ---------------------------------------------------------------------------- nonholonomic


@_listed("CM01 section 6.1")
def particle() -> Statement:
    r"""Nonholonomic particle in a quadratic potential, CM01 section 6.1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2) - (x^2 + y^2), \qquad \dot z = y\dot x

    The simplest test there is.  Two parts of the energy, :math:`\tfrac12\dot y^2 + y^2` and
    :math:`\tfrac12(1 + y^2)\dot x^2 + x^2`, are conserved separately, so it is integrable; and
    it is reversible: good energy behaviour here promises nothing elsewhere.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.particle()
    <System particle: q = (x, y, z)>
    """
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
    start = dict(q0=(0, 1, 0), v0=(1, 1, 1), fields=[{x: 1, z: y}, {y: 1}])
    return dict(q=(x, y, z), L=L, constraints=[vz - y * vx], **start)


@_listed("FIM08 example 1")
def free_particle() -> Statement:
    r"""Nonholonomic particle without potential, FIM08 example 1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2), \qquad \dot z = y\dot x

    M is constant and V = 0, so the projector method keeps the energy exactly (FIM08 theorem 1);
    translations along y are a horizontal symmetry.  The solution is elementary.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.free_particle()
    <System free particle: q = (x, y, z)>
    """
    L = (vx**2 + vy**2 + vz**2) / 2
    return dict(q=(x, y, z), L=L, constraints=[vz - y * vx], q0=(0, 1, 0), v0=(1, 1, 1))


@_listed("CM01 section 6.2")
def robot(
    m: float = 1.0, I: float = 1.0, Iw: float = 1.0, R: float = 1.0, k: float = 10.0
) -> Statement:
    r"""Mobile robot with fixed orientation in the potential k sin psi, CM01 section 6.2.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2\dot\theta^2
              + \tfrac32 I_w\dot\psi^2 - k\sin\psi, \qquad
              \dot x = R\cos\theta\,\dot\psi, \quad \dot y = R\sin\theta\,\dot\psi

    theta turns the three wheels, psi is their rotation.  A Chaplygin system whose reduced motion is
    a pendulum in psi beside a free rotation in theta.  v0 depends on R.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.robot()
    <System robot: q = (x, y, theta, psi), I=1, Iw=1, R=1, k=10, m=1>
    """
    T = m * (vx**2 + vy**2) / 2 + I * vtheta**2 / 2 + 3 * Iw * vpsi**2 / 2
    rolling = [vx - R * cos(theta) * vpsi, vy - R * sin(theta) * vpsi]
    fields = [{theta: 1}, {x: R * cos(theta), y: R * sin(theta), psi: 1}]
    start = dict(v0=(2 * R, 0, 1, 2), fields=fields)
    return dict(q=(x, y, theta, psi), L=T - k * sin(psi), constraints=rolling, **start)


@_listed("FIM08 example 2")
def snakeboard(
    m: float = 1.0, J: float = 1.0, J0: float = 1.0, J1: float = 1.0, r: float = 1.0
) -> Statement:
    r"""Snakeboard, its wheel angle phi measured from the board, FIM08 example 2.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac12(J + 2J_1)\dot\theta^2
              + \tfrac12 J_0\dot\psi^2 + J_1\dot\phi^2, \qquad
              \dot x\sin(\theta\pm\phi) - \dot y\cos(\theta\pm\phi) \pm r\dot\theta\cos\phi = 0

    The upper signs belong to the wheel behind, the lower ones to that in front.  M is constant: the
    projector method keeps the energy.  The rotor's momentum belongs to a horizontal symmetry.  At
    phi = ±pi/2 the two constraints become one; phi gets there at t = 31.  The fields that FIM08
    prints, of the rotor, of the wheels, and (r cos theta cos phi, r sin theta cos phi, -sin phi)
    in (x, y, theta), stay independent there: ``snakeboard().by_fields()``.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.snakeboard()
    <System snakeboard: q = (x, y, theta, psi, phi), J=1, J0=1, J1=1, m=1, r=1>
    """
    L = m * (vx**2 + vy**2) / 2 + (J + 2 * J1) * vtheta**2 / 2 + J0 * vpsi**2 / 2 + J1 * vphi**2
    rear = vx * sin(theta + phi) - vy * cos(theta + phi) + r * vtheta * cos(phi)
    front = vx * sin(theta - phi) - vy * cos(theta - phi) - r * vtheta * cos(phi)
    a, b, c = r * cos(theta) * cos(phi), r * sin(theta) * cos(phi), -sin(phi)
    start = dict(v0=(1, 0, 0, 0.7, 0.05), fields=[{psi: 1}, {phi: 1}, {x: a, y: b, theta: c}])
    return dict(q=(x, y, theta, psi, phi), L=L, constraints=[rear, front], **start)


@_listed("FIM08 example 3; Bloch, chapter 1")
def sleigh(m: float = 1.0, I: float = 1.0, a: float = 0.2) -> Statement:
    r"""Chaplygin sleigh, FIM08 example 3; (x, y) is the point of contact.

    .. math:: L = \tfrac m2(\dot x^2 - 2a\dot\theta\dot x\sin\theta + \dot y^2
              + 2a\dot\theta\dot y\cos\theta + a^2\dot\theta^2) + \tfrac I2\dot\theta^2, \qquad
              \dot x\sin\theta - \dot y\cos\theta = 0

    The centre of mass is the distance a ahead of the contact.  Going backwards the sleigh turns
    round, in a heart-shaped loop, and ends straight ahead: a conservative system with an attractor.
    M depends on theta, and the projector method does not keep the energy.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.sleigh()
    <System sleigh: q = (x, y, theta), I=1, a=0.2, m=1>
    """
    sideways = vx * sin(theta) - vy * cos(theta)
    lever = a**2 * vtheta**2 - 2 * a * vtheta * sideways
    L = m * (vx**2 + vy**2 + lever) / 2 + I * vtheta**2 / 2
    fields = [{x: cos(theta), y: sin(theta)}, {theta: 1}]
    return dict(q=(x, y, theta), L=L, constraints=[sideways], v0=(-1, 0, 0.25), fields=fields)


@_listed("Bloch, chapter 1")
def rolling_disk(m: float = 1.0, I: float = 0.5, J: float = 0.25, R: float = 1.0) -> Statement:
    r"""Vertical disk that rolls on a plane, turned by theta and heading along phi.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2\dot\theta^2 + \tfrac J2\dot\phi^2,
              \qquad \dot x = R\cos\phi\,\dot\theta, \quad \dot y = R\sin\phi\,\dot\theta

    It rolls in a circle of radius :math:`R\dot\theta/\dot\phi`: the first problem to try a new
    method on.  v0 depends on R.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.rolling_disk()
    <System rolling disk: q = (x, y, theta, phi), I=0.5, J=0.25, R=1, m=1>
    """
    L = m * (vx**2 + vy**2) / 2 + I * vtheta**2 / 2 + J * vphi**2 / 2
    rolling = [vx - R * cos(phi) * vtheta, vy - R * sin(phi) * vtheta]
    return dict(q=(x, y, theta, phi), L=L, constraints=rolling, v0=(R, 0, 1, 0.5))


@_listed("Bloch, chapter 1")
def knife_edge(m: float = 1.0, J: float = 1.0, g: float = 1.0, slope: float = 0.5) -> Statement:
    r"""Knife edge, or skate, on an inclined plane; x points down, phi is its heading.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac J2\dot\phi^2 + m g x\sin(\mathrm{slope}),
              \qquad \dot x\sin\phi - \dot y\cos\phi = 0

    Started at rest with a spin it does not slide down: it moves along the slope in cycloids.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.knife_edge()
    <System knife edge: q = (x, y, phi), J=1, g=1, m=1, slope=0.5>
    """
    L = m * (vx**2 + vy**2) / 2 + J * vphi**2 / 2 + m * g * x * sin(slope)
    return dict(q=(x, y, phi), L=L, constraints=[vx * sin(phi) - vy * cos(phi)], v0=(0, 0, 1))


@_listed("MP06 section 5")
def contact_oscillator(eps: float = 0.1) -> Statement:
    r"""Contact oscillator, MP06.

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12|q|^2 - \tfrac\varepsilon2 x^2z^2, \qquad
              \dot x + y\dot z = 0

    The constraint is the contact form.  Integrable for eps = 0 (Modin & Verdier, "Integrability of
    nonholonomically coupled oscillators"); eps couples x and z.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.contact_oscillator()
    <System contact oscillator: q = (x, y, z), eps=0.1>
    """
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2 + z**2) / 2 - eps * x**2 * z**2 / 2
    return dict(q=(x, y, z), L=L, constraints=[vx + y * vz], q0=(1, 0, 0), v0=(0, 1, 1))


@_listed("MP06 section 5", "non-reversible oscillator")
def nonreversible() -> Statement:
    r"""Contact oscillator whose momentum is shifted by the gradient of S = cos z, MP06.

    .. math:: L = \tfrac12|\dot q|^2 + \sin z\,\dot z - \tfrac12|q|^2, \qquad
              \dot x + y\dot z = 0

    H = (|q|^2 + |p + grad S|^2)/2.  The new term of L is minus the rate of S, so the motion is that
    of ``contact_oscillator(eps=0)``.  But L(q, -v) is not L(q, v), and a discrete Lagrangian made
    from it has lost the reversal of time that protected the energy.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.nonreversible()
    <System non-reversible oscillator: q = (x, y, z)>
    """
    L = (vx**2 + vy**2 + vz**2) / 2 + sin(z) * vz - (x**2 + y**2 + z**2) / 2
    return dict(q=(x, y, z), L=L, constraints=[vx + y * vz], q0=(0, 0, 1), v0=(0, 1, 1))


@_listed("MP06; Celledoni et al., arXiv:1605.02845")
def quartic() -> Statement:
    r"""Chaotic quartic oscillator in seven dimensions, q = (x, y1, y2, y3, z1, z2, z3).

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12\Bigl(|q|^2 + z_1^2z_2^2 + \sum y_i^2z_i^2\Bigr),
              \qquad \dot x + \sum y_i\dot z_i = 0

    Its motion is chaotic, and the energy error of DLA and projector method alike grows like a
    random walk.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.quartic()
    <System quartic: q = (x, y1, y2, y3, z1, z2, z3)>
    """
    q, v = symbols("x y1:4 z1:4"), symbols("vx vy1:4 vz1:4")
    y, z = q[1:4], q[4:]
    coupled = (z[0] * z[1]) ** 2 + sum((a * b) ** 2 for a, b in zip(y, z, strict=True))
    L = dot(v, v) / 2 - (dot(q, q) + coupled) / 2
    q0, v0 = (0, 0.5, 0.5, 0.5, 1, 1, 1), (-0.5, 0, 0, 0, 1, 0.5, -0.5)
    return dict(q=q, L=L, constraints=[vx + dot(y, v[4:])], q0=q0, v0=v0)


@_listed('after Modin & Verdier 2020, "What makes nonholonomic integrators work?"')
def transmission(eps: float = 0.2) -> Statement:
    r"""Two oscillators x, z coupled by a variable transmission that a pendulum y drives.

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12(x^2 + z^2) + \cos y - \varepsilon\sin 2y, \qquad
              \dot x + \sin y\,\dot z = 0

    For eps = 0 nothing drifts.  For eps = 0.2 the pendulum is not symmetric: where it goes round no
    reversal of time helps, and the energy of DLA drifts.  The projector method keeps the energy of
    x and z, because their springs are linear; with harder ones it drifts too (lesson 11).

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.transmission()
    <System transmission: q = (x, y, z), eps=0.2>
    """
    L = (vx**2 + vy**2 + vz**2 - x**2 - z**2) / 2 + cos(y) - eps * sin(2 * y)
    return dict(q=(x, y, z), L=L, constraints=[vx + sin(y) * vz], v0=(0, 2.5, 0.3))


@_listed("CM01 section 6.1, made time-dependent for C03", "driven particle")
def driven(eps: float = 0.3, b: float = 0.2, omega: float = 1.0) -> Statement:
    r"""Particle whose potential and constraint are modulated in time.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2)
              - (1 + \varepsilon\cos\omega t)(x^2 + y^2), \qquad
              \dot z = (y + b\sin\omega t)\,\dot x

    The constraint stays linear in the velocities, so its force does no work and dE/dt = -dL/dt:
    EDLA keeps this balance in discrete form, C03 (6).  For eps = b = 0 it is ``particle``.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.driven()
    <System driven particle: q = (x, y, z), b=0.2, eps=0.3, omega=1>
    """
    L = (vx**2 + vy**2 + vz**2) / 2 - (1 + eps * cos(omega * t)) * (x**2 + y**2)
    row = vz - (y + b * sin(omega * t)) * vx
    return dict(q=(x, y, z), t=t, L=L, constraints=[row], q0=(0, 1, 0), v0=(1, 1, 1))


# ---------------------------------------------------------------------------- on Lie groups


@_listed("Suslov 1946; Fedorov & Zenkov 2005; FIM08 section 4.2", "Suslov")
def suslov(
    I1: float = 1.0,
    I2: float = 2.0,
    I3: float = 2.5,
    I13: float = 0.5,
    I23: float = 0.3,
    rule: str = "cayley",
) -> GroupStatement:
    r"""Suslov's problem: a rigid body that cannot turn about its own axis e3.

    .. math:: L = \tfrac12\,\omega\cdot I\omega, \qquad I = \begin{pmatrix} I_1 & 0 & I_{13}\\
              0 & I_2 & I_{23}\\ I_{13} & I_{23} & I_3\end{pmatrix}, \qquad \omega_3 = 0

    D and L are left-invariant.  The body goes over from one steady rotation, about the axis with
    I13 w1 + I23 w2 = 0, to the opposite one; ``suslov_omega`` gives omega(t) in closed form.  If e3
    is a principal axis (I13 = I23 = 0) every rotation is steady and there is nothing to see.
    The principal moments of the default, 0.84, 1.90 and 2.76, are those of no body, of which none
    exceeds the sum of the others; the equations, which need I positive definite, do not mind.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.suslov()
    <GroupSystem Suslov on SO3, rule='cayley', I1=1, I13=0.5, I2=2, I23=0.3, I3=2.5>
    """
    L = (I1 * w1**2 + I2 * w2**2 + I3 * w3**2) / 2 + (I13 * w1 + I23 * w2) * w3
    return dict(group=SO3, v=w, L=L, constraints=[w3], v0=(0.6, -0.8, 0))


@_listed("FIM08 example 3; Bloch, chapter 1", "sleigh on SE(2)")
def sleigh_se2(
    m: float = 1.0, I: float = 1.0, a: float = 0.2, rule: str = "cayley"
) -> GroupStatement:
    r"""The sleigh of ``sleigh`` on SE(2): forward speed u, sideways speed s, turn rate w.

    .. math:: L = \tfrac m2\bigl(u^2 + (s + a w)^2\bigr) + \tfrac I2 w^2, \qquad s = 0

    Nothing depends on the place: D and L are left-invariant.  No metric on SE(2) is bi-invariant,
    yet here the projector method keeps the energy, as it does not in coordinates: a body with one
    mass has the same energy before and after a step, H(Ad*_W p) = H(p).  With different masses
    along and across, as in a fluid, it has not.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.sleigh_se2()
    <GroupSystem sleigh on SE(2) on SE2, rule='cayley', I=1, a=0.2, m=1>
    """
    u, s, w = v = symbols("u s w")
    L = m * (u**2 + (s + a * w) ** 2) / 2 + I * w**2 / 2
    return dict(group=SE2, g=(x, y, theta), v=v, L=L, constraints=[s], v0=(-1, 0, 0.25))


@_listed("FIM08 section 4.3")
def ball(I: float = 1.0, c: float = 2.0, rule: str = "cayley") -> GroupStatement:
    r"""A ball whose spin about e3 is geared to that about e1 by the height of its axis e2.

    .. math:: L = \tfrac I2|\omega|^2, \qquad \omega_3 = c\,(e_3\cdot R e_2)\,\omega_1

    The metric is bi-invariant and D is not invariant at all: the projector method keeps the energy
    (FIM08 theorem 1).  Constraints fixed in the body, in space, or a sum of two such rows would
    leave omega constant.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.ball()
    <GroupSystem ball on SO3, rule='cayley', I=1, c=2>
    """
    third = SO3.entries(quaternion)[2]  # row of R; SO3.matrix would have to load SymPy's matrices
    L = I * (w1**2 + w2**2 + w3**2) / 2
    row = w3 - c * third[1] * w1
    return dict(group=SO3, g=quaternion, v=w, L=L, constraints=[row], v0=(1, 0.7, 0))


@_listed("Veselov & Veselova 1988; FIM08 section 4.4", "ball, right-invariant")
def ball_right(I: float = 1.0, rule: str = "cayley") -> GroupStatement:
    r"""A ball that cannot turn about the vertical axis in space, the Veselova constraint.

    .. math:: L = \tfrac I2|\omega|^2, \qquad e_3\cdot R\omega = 0

    D is right-invariant and the metric bi-invariant: the projector method keeps the energy of the
    average momentum, too (FIM08 section 4.4).  The motion is a steady rotation.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.ball_right()
    <GroupSystem ball, right-invariant on SO3, rule='cayley', I=1>
    """
    L = I * (w1**2 + w2**2 + w3**2) / 2
    row = dot(SO3.entries(quaternion)[2], w)
    return dict(group=SO3, g=quaternion, v=w, L=L, constraints=[row], v0=(0.8, 0.6, 0))


@_listed("Moser & Veselov 1991; Marsden, Pekarsky & Shkoller 1999")
def rigid_body(
    I1: float = 1.0, I2: float = 2.0, I3: float = 2.5, rule: str = "cayley"
) -> GroupStatement:
    r"""A free rigid body; rule="trace" is the discrete body of Moser & Veselov.

    .. math:: L = \tfrac12(I_1\omega_1^2 + I_2\omega_2^2 + I_3\omega_3^2)

    The variational method keeps the angular momentum in space, Ad*_(g^-1) p, exactly; with the
    trace rule the energy of the evolved momenta as well.  It starts next to the unstable axis.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.rigid_body()
    <GroupSystem rigid body on SO3, rule='cayley', I1=1, I2=2, I3=2.5>
    """
    return dict(group=SO3, v=w, L=(I1 * w1**2 + I2 * w2**2 + I3 * w3**2) / 2, v0=(0.1, 1, 0.1))


@_listed("Ehlers, Koiller, Montgomery & Rios 2005; CM01 section 5.3")
def rubber_ball(
    m: float = 1.0,
    I: float = 0.4,
    R: float = 1.0,
    k1: float = 1.0,
    k2: float = 2.0,
    rule: str = "cayley",
) -> GroupStatement:
    r"""Homogeneous ball that rolls on a table without slipping or twisting, in a potential.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2|\omega|^2
              - \tfrac12(k_1x^2 + k_2y^2), \qquad
              \dot x = -R\,\omega_2, \quad \dot y = R\,\omega_1, \quad \omega_3 = 0

    How the ball lies at first does not matter: rotations from the right are a symmetry.  g is the
    inverse of the attitude, so that they act from the left, and omega minus the angular velocity in
    space.  A Chaplygin system with the fibre SO(3).  Its reduced motion is that of an oscillator
    with the mass m + I/R^2, and a closed loop on the table turns the ball.  v0 depends on R.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.rubber_ball()
    <GroupSystem rubber ball on R^2 x SO3, rule='cayley', I=0.4, R=1, k1=1, k2=2, m=1>
    """
    T = m * (vx**2 + vy**2) / 2 + I * (w1**2 + w2**2 + w3**2) / 2
    L, rolling = T - (k1 * x**2 + k2 * y**2) / 2, [vx + R * w2, vy - R * w1, w3]
    place = dict(group=SO3, g=quaternion, r=(x, y), q0=(1, 0, 1, 0, 0, 0))
    return dict(**place, v=(vx, vy, *w), L=L, constraints=rolling, v0=(0, 1, 1 / R, 0, 0))


# ---------------------------------------------------------------------------- holonomic


@_listed("textbook")
def pendulum(m: float = 1.0, g: float = 1.0, l: float = 1.0) -> Statement:
    r"""Plane pendulum, theta measured from the lower equilibrium, released at rest.

    .. math:: L = \tfrac12 m l^2\dot\theta^2 + m g l\cos\theta

    Without constraints DLA and the variational method are the same.  Known in elliptic functions.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.pendulum()
    <System pendulum: q = (theta), g=1, l=1, m=1>
    """
    L = m * l**2 * vtheta**2 / 2 + m * g * l * cos(theta)
    return dict(q=(theta,), L=L, q0=(2,), v0=(0,))


@_listed("textbook", "Kepler")
def kepler(mu: float = 1.0, e: float = 0.6) -> Statement:
    r"""Kepler's problem in the plane, from the perihelion r = 1 - e of an orbit with half axis 1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2) + \frac{\mu}{\sqrt{x^2 + y^2}}

    Rotations keep the angular momentum: variational methods do so exactly, RK4 does not.  The
    eccentricity e shapes only (q0, v0), and v0 depends on mu.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.kepler()
    <System Kepler: q = (x, y), mu=1>
    """
    L = (vx**2 + vy**2) / 2 + mu / sqrt(x**2 + y**2)
    return dict(q=(x, y), L=L, q0=(1 - e, 0), v0=(0, sqrt(mu * (1 + e) / (1 - e))))


@_listed("textbook")
def spherical_pendulum(m: float = 1.0, g: float = 1.0, l: float = 1.0) -> Statement:
    r"""Spherical pendulum in Cartesian coordinates, with the holonomic constraint |q| = l.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2 + \dot z^2) - m g z, \qquad x^2 + y^2 + z^2 = l^2

    For holonomic constraints DLA becomes the variational method SHAKE, CM01 (8).  Rotations about
    the vertical keep x vy - y vx.  q0 depends on l.

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.systems.spherical_pendulum()
    <System spherical pendulum: q = (x, y, z), g=1, l=1, m=1>
    """
    L = m * (vx**2 + vy**2 + vz**2) / 2 - m * g * z
    sphere = x**2 + y**2 + z**2 - l**2
    return dict(q=(x, y, z), L=L, holonomic=[sphere], q0=(l, 0, 0), v0=(0, 1, 0))


__all__ = [*catalogue, *on_groups, *machines, "catalogue", "machines", "on_groups"]
