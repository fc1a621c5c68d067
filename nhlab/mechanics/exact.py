"""Exact solutions: q(t) of the system of the same name from its (q0, v0), shape (..., n)."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .groups import SO3
from .groupsystem import GroupSystem

if TYPE_CHECKING:
    from .system import System


def numbers(system: System, names: str) -> list[float]:
    """The numbers of the named parameters."""
    values = {s.name: x for s, x in system.parameters.items()}
    return [values[name] for name in names.split()]


def free_particle(system: System, t: np.ndarray) -> np.ndarray:
    """y is linear in t, and x' sqrt(1 + y^2) is constant."""
    (x0, y0, z0), (vx, vy, _) = system.q0, system.v0
    y = y0 + vy * t
    rho = vx * sqrt(1 + y0**2) / vy
    x = x0 + rho * (np.arcsinh(y) - np.arcsinh(y0))
    z = z0 + rho * (np.sqrt(1 + y**2) - sqrt(1 + y0**2))
    return np.stack([x, y, z], -1)


def sleigh(system: System, t: np.ndarray) -> np.ndarray:
    """Forward speed u and turn rate w obey u' = a w^2, b^2 w' = -a u w; (x, y) by quadrature."""
    from scipy.integrate import quad_vec  # late: importing SciPy takes longer than most runs

    (x0, y0, theta0), (vx, vy, w0) = system.q0, system.v0
    m, I, a = numbers(system, "m I a")
    body = isinstance(system, GroupSystem)  # whose v0 is (forward, sideways, turn)
    u0 = vx if body else vx * np.cos(theta0) + vy * np.sin(theta0)
    b = sqrt(I / m + a**2)
    e = sqrt(u0**2 + b**2 * w0**2)  # constant: the energy is m e^2 / 2
    k = a * e / b**2

    def theta(t: np.ndarray) -> np.ndarray:
        T = np.tanh(k * t / 2)
        return theta0 + (2 * b / a * np.arctan2(b * w0 * T, e + u0 * T) if a else w0 * t)

    def velocity(t: np.ndarray) -> np.ndarray:
        T = np.tanh(k * t)
        u = e * (u0 + e * T) / (e + u0 * T)
        return np.stack([u * np.cos(theta(t)), u * np.sin(theta(t))])

    (x, y), _ = quad_vec(lambda s: t * velocity(s * t), 0, 1, epsabs=1e-12, epsrel=1e-12)
    return np.stack([x0 + x, y0 + y, theta(t)], -1)


sleigh_se2 = sleigh


def rolling_disk(system: System, t: np.ndarray) -> np.ndarray:
    """Both angles turn uniformly, so the point of contact goes round a circle."""
    (x0, y0, theta0, phi0), (_, _, vtheta, vphi) = system.q0, system.v0
    (R,) = numbers(system, "R")
    rho, phi = R * vtheta / vphi, phi0 + vphi * t
    x = x0 + rho * (np.sin(phi) - np.sin(phi0))
    y = y0 - rho * (np.cos(phi) - np.cos(phi0))
    return np.stack([x, y, theta0 + vtheta * t, phi], -1)


def knife_edge(system: System, t: np.ndarray) -> np.ndarray:
    """From rest at the origin, heading down, with spin W."""
    W = system.v0[2]
    g, slope = numbers(system, "g slope")
    c = g * np.sin(slope) / (2 * W**2)
    x, y = c * np.sin(W * t) ** 2, c * (W * t - np.sin(2 * W * t) / 2)
    return np.stack([x, y, W * t], -1)


def suslov_omega(system: System, t: ArrayLike) -> np.ndarray:
    r"""The body velocity of ``suslov`` from its v0, shape (..., 3).

    With :math:`(\sqrt{I_1}\omega_1, \sqrt{I_2}\omega_2) = \rho(\cos\phi, \sin\phi)` the energy
    keeps rho and :math:`\phi' = \kappa\cos(\phi - \phi_*)`, so that sin is tanh and cos is sech of
    kappa (t + const).
    """
    I1, I2, I13, I23 = numbers(system, "I1 I2 I13 I23")
    x, y = sqrt(I1) * system.v0[0], sqrt(I2) * system.v0[1]
    rho, a, b = np.hypot(x, y), I13 / (I1 * sqrt(I2)), I23 / (I2 * sqrt(I1))
    axis, kappa = np.arctan2(b, a), rho * np.hypot(a, b)
    psi = np.arctan2(y, x) - axis
    s, c = np.sin(psi), np.cos(psi)
    T, sech = np.tanh(kappa * np.asarray(t, float)), 1 / np.cosh(kappa * np.asarray(t, float))
    phi = axis + np.arctan2(s + T, c * sech)  # by the addition theorem of tanh
    zero = 0 * phi
    return np.stack([rho * np.cos(phi) / sqrt(I1), rho * np.sin(phi) / sqrt(I2), zero], -1)


def ball_right(system: System, t: np.ndarray) -> np.ndarray:
    """The angular velocity is constant, in the body as in space."""
    turn = t[..., None] * np.array(system.v0, float)
    return SO3.multiply(np.array(system.q0), SO3.exp(turn))


def pendulum(system: System, t: np.ndarray) -> np.ndarray:
    """From rest: sin(theta/2) = k cn/dn with k = sin(theta0/2)."""
    from scipy.special import ellipj  # late: importing SciPy takes longer than most runs

    g, l = numbers(system, "g l")
    k = np.sin(system.q0[0] / 2)
    _, cn, dn, _ = ellipj(sqrt(g / l) * t, k**2)
    return 2 * np.arcsin(k * cn / dn)[..., None]


def kepler(system: System, t: np.ndarray) -> np.ndarray:
    """From an apsis of an ellipse: Kepler's equation for the eccentric angle E."""
    q0, v0 = np.array(system.q0, float), np.array(system.v0, float)
    (mu,) = numbers(system, "mu")
    r0 = np.hypot(*q0)
    a = 1 / (2 / r0 - v0 @ v0 / mu)
    if a < 0:
        raise ValueError(
            f"from q0 = {q0}, v0 = {v0} with mu = {mu} the orbit is no ellipse; use nh.Reference()"
        )
    e, n = 1 - r0 / a, sqrt(mu / a**3)  # e < 0 if the start is the aphelion
    E = n * t + e * np.sin(n * t)
    for _ in range(30):
        E = E - (E - e * np.sin(E) - n * t) / (1 - e * np.cos(E))
    f, g = 1 - a / r0 * (1 - np.cos(E)), t + (np.sin(E) - E) / n
    return f[..., None] * q0 + g[..., None] * v0
