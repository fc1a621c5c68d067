r"""The catalogue: systems of the papers and books, each with a start (q0, v0) and its source.

Every function returns a ``System``, those on Lie groups a ``GroupSystem``.  Its keywords are the
parameters: ``sleigh(a=0.3)`` and ``sleigh().set(a=0.3)`` are the same motion.  A start that has to
change with a parameter is computed from the keyword and not changed by ``set``; the docstring says
where that is so.

CM01 is Cortés & Martínez 2001, FIM08 Ferraro, Iglesias & Martín de Diego 2008 (journal text), C03
Cortés 2003, Bloch the book "Nonholonomic Mechanics and Control", MP06 McLachlan & Perlmutter,
"Integrators for nonholonomic mechanical systems", J. Nonlinear Sci. 16 (2006).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from sympy import cos, sin
from sympy import sqrt as root

from .groups import SE2, SO3
from .groupsystem import GroupSystem
from .system import System, symbols


def _coordinates(names):
    """Symbols of coordinates and velocities: "x theta" gives (x, theta) and (vx, vtheta)."""
    return symbols(names.split()), symbols([f"v{name}" for name in names.split()])


def _parameters(**values):
    """The symbols of the parameters, and the mapping from each to its number."""
    names = symbols(list(values))
    return names, dict(zip(names, values.values(), strict=True))


def _values(system, names):
    """The numbers of the named parameters."""
    number = {s.name: x for s, x in system.parameters.items()}
    return [number[name] for name in names.split()]


# ---------------------------------------------------------------------------- nonholonomic


def particle():
    r"""Nonholonomic particle in a quadratic potential, CM01 section 6.1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2) - (x^2 + y^2), \qquad \dot z = y\dot x

    The simplest test there is.  Two parts of the energy, :math:`\tfrac12\dot y^2 + y^2` and
    :math:`\tfrac12(1 + y^2)\dot x^2 + x^2`, are conserved separately, so it is integrable: good
    energy behaviour here promises nothing elsewhere.
    """
    (x, y, _), (vx, vy, vz) = q, v = _coordinates("x y z")
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
    return System(q, v, L, [vz - y * vx], name="particle", source="CM01 section 6.1",
                  q0=(0, 1, 0), v0=(1, 1, 1))  # fmt: skip


def free_particle():
    r"""Nonholonomic particle without potential, FIM08 example 1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2), \qquad \dot z = y\dot x

    M is constant and V = 0, so the projector method keeps the energy exactly (FIM08 theorem 1);
    translations along y are a horizontal symmetry.  The solution is elementary.
    """
    (_, y, _), (vx, vy, vz) = q, v = _coordinates("x y z")
    L = (vx**2 + vy**2 + vz**2) / 2
    return System(q, v, L, [vz - y * vx], name="free particle", source="FIM08 example 1",
                  q0=(0, 1, 0), v0=(1, 1, 1), exact=_free_particle_exact)  # fmt: skip


def _free_particle_exact(system, t):
    """y is linear in t, and x' sqrt(1 + y^2) is constant."""
    (x0, y0, z0), (vx, vy, _) = system.q0, system.v0
    y = y0 + vy * t
    rho = vx * sqrt(1 + y0**2) / vy
    x = x0 + rho * (np.arcsinh(y) - np.arcsinh(y0))
    z = z0 + rho * (np.sqrt(1 + y**2) - sqrt(1 + y0**2))
    return np.stack([x, y, z], -1)


def robot(m=1.0, I=1.0, Iw=1.0, R=1.0, k=10.0):
    r"""Mobile robot with fixed orientation in the potential k sin psi, CM01 section 6.2.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2\dot\theta^2
              + \tfrac32 I_w\dot\psi^2 - k\sin\psi, \qquad
              \dot x = R\cos\theta\,\dot\psi, \quad \dot y = R\sin\theta\,\dot\psi

    theta turns the three wheels, psi is their rotation.  A Chaplygin system whose reduced motion is
    a pendulum in psi beside a free rotation in theta.  v0 depends on R.
    """
    (_, _, theta, psi), (vx, vy, vtheta, vpsi) = q, v = _coordinates("x y theta psi")
    (m, I, Iw, R, k), values = _parameters(m=m, I=I, Iw=Iw, R=R, k=k)
    T = m * (vx**2 + vy**2) / 2 + I * vtheta**2 / 2 + 3 * Iw * vpsi**2 / 2
    rolling = [vx - R * cos(theta) * vpsi, vy - R * sin(theta) * vpsi]
    return System(q, v, T - k * sin(psi), rolling, parameters=values, name="robot",
                  source="CM01 section 6.2", q0=(0, 0, 0, 0),
                  v0=(2 * values[R], 0, 1, 2))  # fmt: skip


def snakeboard(m=1.0, J=1.0, J0=1.0, J1=1.0, r=1.0):
    r"""Snakeboard, its wheel angle phi measured from the board, FIM08 example 2.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac12(J + 2J_1)\dot\theta^2
              + \tfrac12 J_0\dot\psi^2 + J_1\dot\phi^2, \qquad
              \dot x\sin(\theta\pm\phi) - \dot y\cos(\theta\pm\phi) \pm r\dot\theta\cos\phi = 0

    The upper signs belong to the wheel behind, the lower ones to that in front.  M is constant: the
    projector method keeps the energy.  The rotor's momentum belongs to a horizontal symmetry.  At
    phi = ±pi/2 the two constraints become one; phi gets there at t = 31.
    """
    q, v = _coordinates("x y theta psi phi")
    (_, _, theta, _, phi), (vx, vy, vtheta, vpsi, vphi) = q, v
    (m, J, J0, J1, r), values = _parameters(m=m, J=J, J0=J0, J1=J1, r=r)
    L = m * (vx**2 + vy**2) / 2 + (J + 2 * J1) * vtheta**2 / 2 + J0 * vpsi**2 / 2 + J1 * vphi**2
    rear = vx * sin(theta + phi) - vy * cos(theta + phi) + r * vtheta * cos(phi)
    front = vx * sin(theta - phi) - vy * cos(theta - phi) - r * vtheta * cos(phi)
    return System(q, v, L, [rear, front], parameters=values, name="snakeboard",
                  source="FIM08 example 2", q0=(0, 0, 0, 0, 0),
                  v0=(1, 0, 0, 0.7, 0.05))  # fmt: skip


def sleigh(m=1.0, I=1.0, a=0.2):
    r"""Chaplygin sleigh, FIM08 example 3; (x, y) is the point of contact.

    .. math:: L = \tfrac m2(\dot x^2 - 2a\dot\theta\dot x\sin\theta + \dot y^2
              + 2a\dot\theta\dot y\cos\theta + a^2\dot\theta^2) + \tfrac I2\dot\theta^2, \qquad
              \dot x\sin\theta - \dot y\cos\theta = 0

    The centre of mass is the distance a ahead of the contact.  Going backwards the sleigh turns
    round, in a heart-shaped loop, and ends straight ahead: a conservative system with an attractor.
    M depends on theta, and the projector method does not keep the energy.
    """
    (_, _, theta), (vx, vy, vtheta) = q, v = _coordinates("x y theta")
    (m, I, a), values = _parameters(m=m, I=I, a=a)
    lever = a**2 * vtheta**2 - 2 * a * vtheta * (vx * sin(theta) - vy * cos(theta))
    L = m * (vx**2 + vy**2 + lever) / 2 + I * vtheta**2 / 2
    return System(q, v, L, [vx * sin(theta) - vy * cos(theta)],
                  parameters=values, name="sleigh",
                  source="FIM08 example 3; Bloch, chapter 1", q0=(0, 0, 0), v0=(-1, 0, 0.25),
                  exact=_sleigh_exact)  # fmt: skip


def _sleigh_exact(system, t):
    """Forward speed u and turn rate w obey u' = a w^2, b^2 w' = -a u w; (x, y) by quadrature."""
    from scipy.integrate import quad_vec  # late: importing SciPy takes longer than most runs

    (x0, y0, theta0), (vx, vy, w0) = system.q0, system.v0
    m, I, a = _values(system, "m I a")
    if not isinstance(system, GroupSystem):  # whose v0 is (forward, sideways, turn) already
        vx = vx * np.cos(theta0) + vy * np.sin(theta0)
    u0 = vx
    b = sqrt(I / m + a**2)
    e = sqrt(u0**2 + b**2 * w0**2)  # constant: the energy is m e^2 / 2
    k = a * e / b**2

    def theta(t):
        T = np.tanh(k * t / 2)
        return theta0 + (2 * b / a * np.arctan2(b * w0 * T, e + u0 * T) if a else w0 * t)

    def velocity(t):
        T = np.tanh(k * t)
        u = e * (u0 + e * T) / (e + u0 * T)
        return np.stack([u * np.cos(theta(t)), u * np.sin(theta(t))])

    (x, y), _ = quad_vec(lambda s: t * velocity(s * t), 0, 1, epsabs=1e-12, epsrel=1e-12)
    return np.stack([x0 + x, y0 + y, theta(t)], -1)


def rolling_disk(m=1.0, I=0.5, J=0.25, R=1.0):
    r"""Vertical disk that rolls on a plane, turned by theta and heading along phi.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2\dot\theta^2 + \tfrac J2\dot\phi^2,
              \qquad \dot x = R\cos\phi\,\dot\theta, \quad \dot y = R\sin\phi\,\dot\theta

    It rolls in a circle of radius :math:`R\dot\theta/\dot\phi`: the first problem to try a new
    method on.  v0 depends on R.
    """
    (_, _, _, phi), (vx, vy, vtheta, vphi) = q, v = _coordinates("x y theta phi")
    (m, I, J, R), values = _parameters(m=m, I=I, J=J, R=R)
    L = m * (vx**2 + vy**2) / 2 + I * vtheta**2 / 2 + J * vphi**2 / 2
    rolling = [vx - R * cos(phi) * vtheta, vy - R * sin(phi) * vtheta]
    return System(q, v, L, rolling, parameters=values, name="rolling disk",
                  source="Bloch, chapter 1", q0=(0, 0, 0, 0), v0=(values[R], 0, 1, 0.5),
                  exact=_rolling_disk_exact)  # fmt: skip


def _rolling_disk_exact(system, t):
    """Both angles turn uniformly, so the point of contact goes round a circle."""
    (x0, y0, theta0, phi0), (_, _, vtheta, vphi) = system.q0, system.v0
    (R,) = _values(system, "R")
    rho, phi = R * vtheta / vphi, phi0 + vphi * t
    x = x0 + rho * (np.sin(phi) - np.sin(phi0))
    y = y0 - rho * (np.cos(phi) - np.cos(phi0))
    return np.stack([x, y, theta0 + vtheta * t, phi], -1)


def knife_edge(m=1.0, J=1.0, g=1.0, slope=0.5):
    r"""Knife edge, or skate, on an inclined plane; x points down, phi is its heading.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac J2\dot\phi^2 + m g x\sin(\mathrm{slope}),
              \qquad \dot x\sin\phi - \dot y\cos\phi = 0

    Started at rest with a spin it does not slide down: it moves along the slope in cycloids.
    """
    (x, _, phi), (vx, vy, vphi) = q, v = _coordinates("x y phi")
    (m, J, g, slope), values = _parameters(m=m, J=J, g=g, slope=slope)
    L = m * (vx**2 + vy**2) / 2 + J * vphi**2 / 2 + m * g * x * sin(slope)
    return System(q, v, L, [vx * sin(phi) - vy * cos(phi)], parameters=values, name="knife edge",
                  source="Bloch, chapter 1", q0=(0, 0, 0), v0=(0, 0, 1),
                  exact=_knife_edge_exact)  # fmt: skip


def _knife_edge_exact(system, t):
    """From rest at the origin, heading down, with spin W."""
    W = system.v0[2]
    g, slope = _values(system, "g slope")
    c = g * np.sin(slope) / (2 * W**2)
    x, y = c * np.sin(W * t) ** 2, c * (W * t - np.sin(2 * W * t) / 2)
    return np.stack([x, y, W * t], -1)


def contact_oscillator(eps=0.1):
    r"""Contact oscillator, MP06.

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12|q|^2 - \tfrac\varepsilon2 x^2z^2, \qquad
              \dot x + y\dot z = 0

    The constraint is the contact form.  Integrable for eps = 0 (Modin & Verdier, "Integrability of
    nonholonomically coupled oscillators"); eps couples x and z.
    """
    (x, y, z), (vx, vy, vz) = q, v = _coordinates("x y z")
    (eps,), values = _parameters(eps=eps)
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2 + z**2) / 2 - eps * x**2 * z**2 / 2
    return System(q, v, L, [vx + y * vz], parameters=values, name="contact oscillator",
                  source="MP06 section 5", q0=(1, 0, 0), v0=(0, 1, 1))  # fmt: skip


def nonreversible():
    r"""Contact oscillator whose momentum is shifted by the gradient of S = cos z, MP06.

    .. math:: L = \tfrac12|\dot q|^2 + \sin z\,\dot z - \tfrac12|q|^2, \qquad
              \dot x + y\dot z = 0

    H = (|q|^2 + |p + grad S|^2)/2.  The new term of L is minus the rate of S, so the motion is that
    of ``contact_oscillator(eps=0)``.  But L(q, -v) is not L(q, v), and a discrete Lagrangian made
    from it has lost the reversal of time that protected the energy.
    """
    (x, y, z), (vx, vy, vz) = q, v = _coordinates("x y z")
    L = (vx**2 + vy**2 + vz**2) / 2 + sin(z) * vz - (x**2 + y**2 + z**2) / 2
    return System(q, v, L, [vx + y * vz], name="non-reversible oscillator",
                  source="MP06 section 5", q0=(0, 0, 1), v0=(0, 1, 1))  # fmt: skip


def quartic():
    r"""Chaotic quartic oscillator in seven dimensions, q = (x, y1, y2, y3, z1, z2, z3).

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12\Bigl(|q|^2 + z_1^2z_2^2 + \sum y_i^2z_i^2\Bigr),
              \qquad \dot x + \sum y_i\dot z_i = 0

    Its motion is chaotic, and the energy error of DLA and projector method alike grows like a
    random walk.
    """
    q, v = _coordinates("x y1 y2 y3 z1 z2 z3")
    y, z, vx, vz = q[1:4], q[4:7], v[0], v[4:7]
    V = (sum(s**2 for s in q) + z[0] ** 2 * z[1] ** 2
         + sum(a**2 * b**2 for a, b in zip(y, z, strict=True))) / 2  # fmt: skip
    contact = vx + sum(a * b for a, b in zip(y, vz, strict=True))
    return System(q, v, sum(u**2 for u in v) / 2 - V, [contact], name="quartic",
                  source="MP06; Celledoni et al., arXiv:1605.02845",
                  q0=(0, 0.5, 0.5, 0.5, 1, 1, 1), v0=(-0.5, 0, 0, 0, 1, 0.5, -0.5))  # fmt: skip


def transmission(eps=0.2):
    r"""Two oscillators x, z coupled by a variable transmission that a pendulum y drives.

    .. math:: L = \tfrac12|\dot q|^2 - \tfrac12(x^2 + z^2) + \cos y - \varepsilon\sin 2y, \qquad
              \dot x + \sin y\,\dot z = 0

    For eps = 0 nothing drifts.  For eps = 0.2 the pendulum is not symmetric, and the energy of DLA
    drifts linearly where that of the projector method does not: no method is good everywhere.
    """
    (x, y, z), (vx, vy, vz) = q, v = _coordinates("x y z")
    (eps,), values = _parameters(eps=eps)
    L = (vx**2 + vy**2 + vz**2 - x**2 - z**2) / 2 + cos(y) - eps * sin(2 * y)
    return System(q, v, L, [vx + sin(y) * vz], parameters=values, name="transmission",
                  source='after Modin & Verdier 2020, "What makes nonholonomic integrators work?"',
                  q0=(0, 0, 0), v0=(0, 2.5, 0.3))  # fmt: skip


def driven(eps=0.3, b=0.2, omega=1.0):
    r"""Particle whose potential and constraint are modulated in time.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2)
              - (1 + \varepsilon\cos\omega t)(x^2 + y^2), \qquad
              \dot z = (y + b\sin\omega t)\,\dot x

    The constraint stays linear in the velocities, so its force does no work and dE/dt = -dL/dt:
    EDLA keeps this balance in discrete form, C03 (6).  For eps = b = 0 it is ``particle``.
    """
    (x, y, _), (vx, vy, vz) = q, v = _coordinates("x y z")
    (eps, b, omega), values = _parameters(eps=eps, b=b, omega=omega)
    t = symbols("t")
    L = (vx**2 + vy**2 + vz**2) / 2 - (1 + eps * cos(omega * t)) * (x**2 + y**2)
    shaken = vz - (y + b * sin(omega * t)) * vx
    return System(q, v, L, [shaken], parameters=values, t=t, name="driven particle",
                  source="CM01 section 6.1, made time-dependent for C03", q0=(0, 1, 0),
                  v0=(1, 1, 1))  # fmt: skip


# ---------------------------------------------------------------------------- on Lie groups


def suslov(I1=1.0, I2=2.0, I3=2.5, I13=0.5, I23=0.3, rule="cayley"):
    r"""Suslov's problem: a rigid body that cannot turn about its own axis e3.

    .. math:: L = \tfrac12\,\omega\cdot I\omega, \qquad I = \begin{pmatrix} I_1 & 0 & I_{13}\\
              0 & I_2 & I_{23}\\ I_{13} & I_{23} & I_3\end{pmatrix}, \qquad \omega_3 = 0

    D and L are left-invariant.  The body goes over from one steady rotation, about the axis with
    I13 w1 + I23 w2 = 0, to the opposite one; ``suslov_omega`` gives omega(t) in closed form.  If e3
    is a principal axis (I13 = I23 = 0) every rotation is steady and there is nothing to see.
    """
    w1, w2, w3 = w = symbols("w1 w2 w3")
    (I1, I2, I3, I13, I23), values = _parameters(I1=I1, I2=I2, I3=I3, I13=I13, I23=I23)
    L = (I1 * w1**2 + I2 * w2**2 + I3 * w3**2) / 2 + (I13 * w1 + I23 * w2) * w3
    return GroupSystem(SO3, w, L, [w3], parameters=values, rule=rule, name="Suslov",
                       source="Suslov 1946; Fedorov & Zenkov 2005; FIM08 section 4.2",
                       q0=(1, 0, 0, 0), v0=(0.6, -0.8, 0))  # fmt: skip


def suslov_omega(system, t):
    r"""The body velocity of ``suslov`` from its v0, shape (..., 3).

    With :math:`(\sqrt{I_1}\omega_1, \sqrt{I_2}\omega_2) = \rho(\cos\phi, \sin\phi)` the energy
    keeps rho and :math:`\phi' = \kappa\cos(\phi - \phi_*)`, so that sin is tanh and cos is sech of
    kappa (t + const).
    """
    I1, I2, I13, I23 = _values(system, "I1 I2 I13 I23")
    x, y = sqrt(I1) * system.v0[0], sqrt(I2) * system.v0[1]
    rho, a, b = np.hypot(x, y), I13 / (I1 * sqrt(I2)), I23 / (I2 * sqrt(I1))
    axis, kappa = np.arctan2(b, a), rho * np.hypot(a, b)
    psi = np.arctan2(y, x) - axis
    s, c = np.sin(psi), np.cos(psi)
    T, sech = np.tanh(kappa * np.asarray(t, float)), 1 / np.cosh(kappa * np.asarray(t, float))
    phi = axis + np.arctan2(s + T, c * sech)  # by the addition theorem of tanh
    zero = 0 * phi
    return np.stack([rho * np.cos(phi) / sqrt(I1), rho * np.sin(phi) / sqrt(I2), zero], -1)


def sleigh_se2(m=1.0, I=1.0, a=0.2, rule="cayley"):
    r"""The sleigh of ``sleigh`` on SE(2): forward speed u, sideways speed s, turn rate w.

    .. math:: L = \tfrac m2\bigl(u^2 + (s + a w)^2\bigr) + \tfrac I2 w^2, \qquad s = 0

    Nothing depends on the place: D and L are left-invariant.  No metric on SE(2) is bi-invariant,
    yet here the projector method keeps the energy, as it does not in coordinates: a body with one
    mass has the same energy before and after a step, H(Ad*_W p) = H(p).  With different masses
    along and across, as in a fluid, it has not.
    """
    v, g = symbols("u s w"), symbols("x y theta")
    (u, s, w), ((m, I, a), values) = v, _parameters(m=m, I=I, a=a)
    L = m * (u**2 + (s + a * w) ** 2) / 2 + I * w**2 / 2
    return GroupSystem(SE2, v, L, [s], g=g, parameters=values, rule=rule, name="sleigh on SE(2)",
                       source="FIM08 example 3; Bloch, chapter 1", q0=(0, 0, 0),
                       v0=(-1, 0, 0.25), exact=_sleigh_exact)  # fmt: skip


def ball(I=1.0, c=2.0, rule="cayley"):
    r"""A ball whose spin about e3 is geared to that about e1 by the height of its axis e2.

    .. math:: L = \tfrac I2|\omega|^2, \qquad \omega_3 = c\,(e_3\cdot R e_2)\,\omega_1

    The metric is bi-invariant and D is not invariant at all: the projector method keeps the energy
    (FIM08 theorem 1).  Constraints fixed in the body, in space, or a sum of two such rows would
    leave omega constant.
    """
    w, g = symbols("w1 w2 w3"), symbols("qw qx qy qz")
    (I, c), values = _parameters(I=I, c=c)
    third = SO3.entries(g)[2]  # row of R; SO3.matrix would have to load SymPy's matrices
    row = w[2] - c * third[1] * w[0]
    return GroupSystem(SO3, w, I * sum(u**2 for u in w) / 2, [row], g=g, parameters=values,
                       rule=rule, name="ball", source="FIM08 section 4.3", q0=(1, 0, 0, 0),
                       v0=(1, 0.7, 0))  # fmt: skip


def ball_right(I=1.0, rule="cayley"):
    r"""A ball that cannot turn about the vertical axis in space, the Veselova constraint.

    .. math:: L = \tfrac I2|\omega|^2, \qquad e_3\cdot R\omega = 0

    D is right-invariant and the metric bi-invariant: the projector method keeps the energy of the
    average momentum, too (FIM08 section 4.4).  The motion is a steady rotation.
    """
    w, g = symbols("w1 w2 w3"), symbols("qw qx qy qz")
    (I,), values = _parameters(I=I)
    row = sum(x * u for x, u in zip(SO3.entries(g)[2], w, strict=True))
    return GroupSystem(SO3, w, I * sum(u**2 for u in w) / 2, [row], g=g, parameters=values,
                       rule=rule, name="ball, right-invariant", q0=(1, 0, 0, 0), v0=(0.8, 0.6, 0),
                       source="Veselov & Veselova 1988; FIM08 section 4.4",
                       exact=_ball_right_exact)  # fmt: skip


def _ball_right_exact(system, t):
    """The angular velocity is constant, in the body as in space."""
    turn = t[..., None] * np.array(system.v0, float)
    return SO3.multiply(np.array(system.q0), SO3.exp(turn))


def rigid_body(I1=1.0, I2=2.0, I3=2.5, rule="cayley"):
    r"""A free rigid body; rule="trace" is the discrete body of Moser & Veselov.

    .. math:: L = \tfrac12(I_1\omega_1^2 + I_2\omega_2^2 + I_3\omega_3^2)

    The variational method keeps the angular momentum in space, Ad*_(g^-1) p, exactly; with the
    trace rule the energy of the evolved momenta as well.  It starts next to the unstable axis.
    """
    w = symbols("w1 w2 w3")
    (I1, I2, I3), values = _parameters(I1=I1, I2=I2, I3=I3)
    L = (I1 * w[0] ** 2 + I2 * w[1] ** 2 + I3 * w[2] ** 2) / 2
    return GroupSystem(SO3, w, L, parameters=values, rule=rule, name="rigid body",
                       source="Moser & Veselov 1991; Marsden, Pekarsky & Shkoller 1999",
                       q0=(1, 0, 0, 0), v0=(0.1, 1, 0.1))  # fmt: skip


def rubber_ball(m=1.0, I=0.4, R=1.0, k1=1.0, k2=2.0, rule="cayley"):
    r"""Homogeneous ball that rolls on a table without slipping or twisting, in a potential.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2) + \tfrac I2|\omega|^2
              - \tfrac12(k_1x^2 + k_2y^2), \qquad
              \dot x = -R\,\omega_2, \quad \dot y = R\,\omega_1, \quad \omega_3 = 0

    How the ball lies at first does not matter: rotations from the right are a symmetry.  g is the
    inverse of the attitude, so that they act from the left, and omega minus the angular velocity in
    space.  A Chaplygin system with the fibre SO(3).  Its reduced motion is that of an oscillator
    with the mass m + I/R^2, and a closed loop on the table turns the ball.  v0 depends on R.
    """
    (x, y), (vx, vy) = r, v = _coordinates("x y")
    w, g = symbols("w1 w2 w3"), symbols("qw qx qy qz")
    (m, I, R, k1, k2), values = _parameters(m=m, I=I, R=R, k1=k1, k2=k2)
    T = m * (vx**2 + vy**2) / 2 + I * sum(u**2 for u in w) / 2
    rolling = [vx + R * w[1], vy - R * w[0], w[2]]
    return GroupSystem(SO3, (*v, *w), T - (k1 * x**2 + k2 * y**2) / 2, rolling, g=g, r=r,
                       parameters=values, rule=rule, name="rubber ball",
                       source="Ehlers, Koiller, Montgomery & Rios 2005; CM01 section 5.3",
                       q0=(1, 0, 1, 0, 0, 0), v0=(0, 1, 1 / values[R], 0, 0))  # fmt: skip


# ---------------------------------------------------------------------------- holonomic


def pendulum(m=1.0, g=1.0, l=1.0):
    r"""Plane pendulum, theta measured from the lower equilibrium, released at rest.

    .. math:: L = \tfrac12 m l^2\dot\theta^2 + m g l\cos\theta

    Without constraints DLA and the variational method are the same.  Known in elliptic functions.
    """
    (theta,), (vtheta,) = q, v = _coordinates("theta")
    (m, g, l), values = _parameters(m=m, g=g, l=l)
    L = m * l**2 * vtheta**2 / 2 + m * g * l * cos(theta)
    return System(q, v, L, parameters=values, name="pendulum", source="textbook", q0=(2,), v0=(0,),
                  exact=_pendulum_exact)  # fmt: skip


def _pendulum_exact(system, t):
    """From rest: sin(theta/2) = k cn/dn with k = sin(theta0/2)."""
    from scipy.special import ellipj  # late: importing SciPy takes longer than most runs

    g, l = _values(system, "g l")
    k = np.sin(system.q0[0] / 2)
    _, cn, dn, _ = ellipj(sqrt(g / l) * t, k**2)
    return 2 * np.arcsin(k * cn / dn)[..., None]


def kepler(mu=1.0, e=0.6):
    r"""Kepler's problem in the plane, from the perihelion r = 1 - e of an orbit with half axis 1.

    .. math:: L = \tfrac12(\dot x^2 + \dot y^2) + \frac{\mu}{\sqrt{x^2 + y^2}}

    Rotations keep the angular momentum: variational methods do so exactly, RK4 does not.  The
    eccentricity e shapes only (q0, v0), and v0 depends on mu.
    """
    (x, y), (vx, vy) = q, v = _coordinates("x y")
    (mu,), values = _parameters(mu=mu)
    L = (vx**2 + vy**2) / 2 + mu / root(x**2 + y**2)
    return System(q, v, L, parameters=values, name="Kepler", source="textbook", q0=(1 - e, 0),
                  v0=(0, sqrt(values[mu] * (1 + e) / (1 - e))), exact=_kepler_exact)  # fmt: skip


def _kepler_exact(system, t):
    """From an apsis of an ellipse: Kepler's equation for the eccentric angle E."""
    q0, v0 = np.array(system.q0, float), np.array(system.v0, float)
    (mu,) = _values(system, "mu")
    r0 = np.hypot(*q0)
    a = 1 / (2 / r0 - v0 @ v0 / mu)
    if a < 0:
        raise ValueError(f"from q0 = {q0}, v0 = {v0} with mu = {mu} the orbit is no ellipse; use "
                         "nh.Reference()")  # fmt: skip
    e, n = 1 - r0 / a, sqrt(mu / a**3)  # e < 0 if the start is the aphelion
    E = n * t + e * np.sin(n * t)
    for _ in range(30):
        E = E - (E - e * np.sin(E) - n * t) / (1 - e * np.cos(E))
    f, g = 1 - a / r0 * (1 - np.cos(E)), t + (np.sin(E) - E) / n
    return f[..., None] * q0 + g[..., None] * v0


def spherical_pendulum(m=1.0, g=1.0, l=1.0):
    r"""Spherical pendulum in Cartesian coordinates, with the holonomic constraint |q| = l.

    .. math:: L = \tfrac m2(\dot x^2 + \dot y^2 + \dot z^2) - m g z, \qquad x^2 + y^2 + z^2 = l^2

    For holonomic constraints DLA becomes the variational method SHAKE, CM01 (8).  Rotations about
    the vertical keep x vy - y vx.  q0 depends on l.
    """
    (x, y, z), (vx, vy, vz) = q, v = _coordinates("x y z")
    (m, g, l), values = _parameters(m=m, g=g, l=l)
    L = m * (vx**2 + vy**2 + vz**2) / 2 - m * g * z
    return System(q, v, L, holonomic=[x**2 + y**2 + z**2 - l**2], parameters=values,
                  name="spherical pendulum", source="textbook", q0=(values[l], 0, 0),
                  v0=(0, 1, 0))  # fmt: skip


catalogue = {
    f.__name__: f
    for f in (particle, free_particle, robot, snakeboard, sleigh, rolling_disk, knife_edge,
              contact_oscillator, nonreversible, quartic, transmission, driven, pendulum, kepler,
              spherical_pendulum)
}  # fmt: skip
on_groups = {f.__name__: f for f in (suslov, sleigh_se2, ball, ball_right, rigid_body, rubber_ball)}
