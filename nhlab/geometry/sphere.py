r"""Chaplygin's sphere: an unbalanced ball that rolls, reduced to its momentum and the vertical.

The centre of mass is the centre, the inertias differ.  With the angular velocity Omega and the
vertical gamma, both seen from the body, the momentum about the point of contact is

.. math:: K = I\Omega + D\,\bigl(\Omega - (\gamma\cdot\Omega)\gamma\bigr), \qquad D = mR^2, \qquad
          \dot K = K\times\Omega, \quad \dot\gamma = \gamma\times\Omega

(Chaplygin, 1903).  In space K is constant: its three components belong to horizontal symmetries, a
turn of the ball about a fixed axis together with the shift by which it then rolls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.checks import read_array, read_number
from ..mechanics.groups import SO3
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import symbols
from ..run.arguments import positive, whole
from ..run.trajectory import Trajectory

MAX_TURNS = 200  # of the iteration for Omega, each about h |Omega| times the one before


@dataclass(frozen=True)
class ChaplyginSphere:
    """An unbalanced ball on a table, in full and reduced.

    Parameters
    ----------
    I1, I2, I3 : the inertias about the axes of the body
    m, R : mass and radius

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sphere = nh.ChaplyginSphere()
    >>> sol = nh.integrate(sphere.full, nh.DLA(), h=0.1, steps=100)
    >>> K, gamma = sphere.momentum_and_vertical(sol)
    >>> bool(np.ptp(np.linalg.norm(K, axis=1)) < 1e-12)
    True
    """

    I1: float = 1.0
    I2: float = 1.4
    I3: float = 2.0
    m: float = 1.0
    R: float = 1.0

    def __post_init__(self) -> None:
        for name in ("I1", "I2", "I3", "m", "R"):
            positive(read_number(getattr(self, name), name), False, name)

    @property
    def inertia(self) -> np.ndarray:
        """(I1, I2, I3)."""
        return np.array([self.I1, self.I2, self.I3])

    @property
    def D(self) -> float:
        """m R^2."""
        return self.m * self.R**2

    @cached_property
    def full(self) -> GroupSystem:
        """The ball on R^2 x SO(3), with the discrete Lagrangian of log(W): q = (x, y, attitude)."""
        x, y = symbols("x y")
        v = vx, vy, *w = symbols("vx vy w1 w2 w3")
        g = symbols("gw gx gy gz")
        turn = SO3.entries(g)
        spin = [sum(row[k] * w[k] for k in range(3)) for row in turn]  # in space
        m, R = self.m, self.R
        L = (
            m * (vx**2 + vy**2) / 2
            + sum(a * u**2 for a, u in zip(self.inertia, w, strict=True)) / 2
        )
        rows = [vx - R * spin[1], vy + R * spin[0]]
        start = {"q0": (0, 0, 1, 0, 0, 0), "v0": (0.6 * R, -0.8 * R, 0.8, 0.6, 0.4)}
        return GroupSystem(SO3, v, L, rows, g=g, r=(x, y), rule="log", name="Chaplygin sphere",
                           **start)  # fmt: skip

    # ---- the reduced motion

    def momentum(self, Omega: ArrayLike, gamma: ArrayLike) -> np.ndarray:
        """K of (Omega, gamma), shapes (..., 3)."""
        Omega, gamma = (read_array(x, name) for x, name in ((Omega, "Omega"), (gamma, "gamma")))
        along = (gamma * Omega).sum(-1, keepdims=True)
        return (self.inertia + self.D) * Omega - self.D * along * gamma

    def spin(self, K: ArrayLike, gamma: ArrayLike) -> np.ndarray:
        """Omega of (K, gamma), the inverse of ``momentum``."""
        K, gamma = (read_array(x, name) for x, name in ((K, "K"), (gamma, "gamma")))
        A = 1 / (self.inertia + self.D)
        along = (gamma * A * K).sum(-1, keepdims=True) * self.density(gamma)[..., None] ** 2
        return A * (K + self.D * along * gamma)

    def rates(self, K: ArrayLike, gamma: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(K', gamma') = (K x Omega, gamma x Omega)."""
        Omega = self.spin(K, gamma)
        return np.cross(K, Omega), np.cross(gamma, Omega)

    def energy(self, K: ArrayLike, gamma: ArrayLike) -> np.ndarray:
        """K.Omega/2."""
        return (np.asarray(K) * self.spin(K, gamma)).sum(-1) / 2

    def density(self, gamma: ArrayLike) -> np.ndarray:
        r"""The density of the volume dK dgamma that the motion keeps, Chaplygin's multiplier.

        .. math:: N(\gamma) = \bigl(1 - D\,\gamma\cdot(I + D)^{-1}\gamma\bigr)^{-1/2}
        """
        gamma = read_array(gamma, "gamma")
        return (1 - self.D * (gamma**2 / (self.inertia + self.D)).sum(-1)) ** -0.5

    def momentum_and_vertical(self, sol: Trajectory) -> tuple[np.ndarray, np.ndarray]:
        """K and gamma at the nodes of a run of ``full``, in the body, shape (N + 1, 3) each.

        K is made of the momenta that the method evolves, where it has momenta.
        """
        to_body = np.swapaxes(SO3.matrix(sol.q[:, 2:]), 1, 2)
        p = sol.p if sol.method.discrete else sol.system.momentum(sol.q, sol.v, sol.t)
        push = np.concatenate([p[:, :2], 0 * p[:, :1]], 1)  # of the centre, in space
        lever = np.cross([0, 0, self.R], push)
        return p[:, 2:] + (to_body @ lever[..., None])[..., 0], to_body[:, :, 2]

    # ---- the reduced method

    def step(self, K: ArrayLike, gamma: ArrayLike, h: float) -> tuple[np.ndarray, ...]:
        r"""One step of DLA in (K, gamma): three equations for Omega, in the place of the eight for
        velocities and multipliers.

        .. math:: I\Omega + \tfrac h2\,\Omega\times I\Omega + c\,h^2\,\Omega\times(\Omega\times
            I\Omega) + D\bigl(\Omega - (\gamma\cdot\Omega)\gamma\bigr) = K, \qquad
            K_1 = W^TK, \quad \gamma_1 = W^T\gamma, \quad W = \exp(h\Omega)

        The first three terms are the momentum that leaves a node, for L_d = h L(log(W)/h); c is
        (1 - x cot x)/(2 x)^2 with x = h |Omega|/2.  K in space is kept, since it is what horizontal
        symmetries of L_d keep, and the equation holds with -h and (K_1, gamma_1), too: order 2 and
        symmetric.

        Ferraro, Jimenez & Martin de Diego (arXiv:1312.1587) reduce the projector method for this
        sphere; this is our reduction of DLA, by the same symmetries.

        K, gamma : shapes (..., 3);  h : the step, of either sign

        Returns K_1, gamma_1 and Omega.
        """
        K, gamma = (read_array(x, name) for x, name in ((K, "K"), (gamma, "gamma")))
        Omega = self._turn(lambda excess: self.spin(K - excess, gamma), h)
        return (*_turned_back(Omega, h, K, gamma), Omega)

    def _turn(self, spin: Callable[[np.ndarray | float], np.ndarray], h: float) -> np.ndarray:
        """The Omega of a step: spin maps what its momentum has beyond I Omega to Omega."""
        Omega = spin(0.0)
        for _ in range(MAX_TURNS):
            before, xi = Omega, h * Omega
            twice = np.cross(xi, self.inertia * Omega)
            x = np.maximum(np.linalg.norm(xi, axis=-1, keepdims=True), 1e-4) / 2
            Omega = spin(twice / 2 + (1 - x / np.tan(x)) / (4 * x**2) * np.cross(xi, twice))
            size = np.abs(Omega).max()
            if np.abs(Omega - before).max() <= 1e-15 * size or not size < 1e100:
                break
        if np.abs(Omega - before).max() > 1e-12 * size or not size < 1e100:
            raise ValueError(
                f"no Omega was found in {MAX_TURNS} turns; take a smaller h than {h:g}"
            )
        return Omega

    def projector_step(
        self, push: ArrayLike, spin: ArrayLike, gamma: ArrayLike, h: float
    ) -> tuple[np.ndarray, ...]:
        r"""One step of the projector method, reduced: three equations for Omega, and a reflection.

        .. math:: (\pi, \Pi)^- = (\pi, \Pi) - 2\,(\lambda, -R\,\gamma\times\lambda), \qquad
            I\Omega + \tfrac h2\,\Omega\times I\Omega + c\,h^2\,\Omega\times(\Omega\times
            I\Omega) = \Pi^-, \qquad (\pi, \Pi, \gamma)_1 = W^T(\pi, \Pi, \gamma)^-

        with the momentum of the centre pi and the angular momentum Pi about it, both seen from the
        body.  The impulse lambda, which is at right angles to gamma, is the one whose removal makes
        the velocities admissible.  Both halves keep K = Pi + R gamma x pi in space.  Beside
        (K, gamma) the state has the part of the momentum across D, in which it may zigzag.

        Ferraro, Jimenez & Martin de Diego (arXiv:1312.1587) reduce the projector method for this
        sphere.  Their text was not at hand; this is what the method gives on the full system.

        push, spin, gamma : pi, Pi and the vertical, shapes (..., 3)

        Returns the three at the end of the step.
        """
        pi, Pi, gamma = (np.asarray(read_array(x, name)) for x, name in (
            (push, "push"), (spin, "spin"), (gamma, "gamma")))  # fmt: skip
        slip = pi / self.m - self.R * np.cross(Pi / self.inertia, gamma)
        pi, Pi = self._pushed(pi, Pi, gamma, -2 * self._impulse(slip, gamma))
        Omega = self._turn(lambda excess: (Pi - excess) / self.inertia, h)
        return _turned_back(Omega, h, pi, Pi, gamma)

    def projector_start(self, K: ArrayLike, gamma: ArrayLike, h: float) -> tuple[np.ndarray, ...]:
        """push, spin and gamma with which a run of ``projector_step`` begins: the momenta of
        velocities in D, before half of the first impulse of the constraints."""
        Omega = self.spin(K, gamma)
        pi, Pi = self.m * self.R * np.cross(Omega, gamma), self.inertia * Omega
        gamma, *free = np.asarray(gamma), np.cross(pi, Omega), np.cross(Pi, Omega)
        turned = np.cross(free[1] / self.inertia, gamma) + np.cross(Omega, np.cross(gamma, Omega))
        force = -self._impulse(free[0] / self.m - self.R * turned, gamma)
        return *self._pushed(pi, Pi, gamma, -h / 2 * force), gamma

    def _impulse(self, slip: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """The impulse at the contact, at right angles to gamma, by which the velocity over the
        table changes by a slip, which is at right angles to gamma."""
        side = np.cross(np.eye(3), gamma[..., None, :])  # rows e_k x gamma
        G = np.eye(3) / self.m + self.R**2 * (side.swapaxes(-1, -2) / self.inertia) @ side
        return np.linalg.solve(G, slip[..., None])[..., 0]

    def _pushed(
        self, pi: np.ndarray, Pi: np.ndarray, gamma: np.ndarray, impulse: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(pi, Pi) after an impulse at the contact, which leaves K alone."""
        return pi + impulse, Pi - self.R * np.cross(gamma, impulse)

    def run(
        self, K: ArrayLike, gamma: ArrayLike, h: float, steps: int, projector: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """K and gamma at the nodes of a run of ``step``, shape (steps + 1, ..., 3) each.

        projector : True for ``projector_step``
        """
        K, gamma = (read_array(x, name) for x, name in ((K, "K"), (gamma, "gamma")))
        path, state = [(K, gamma)], self.projector_start(K, gamma, h) if projector else ()
        for _ in range(whole(steps, "steps", 0)):
            if projector:
                state = push, spin, gamma = self.projector_step(*state, h)
                path.append((spin + self.R * np.cross(gamma, push), gamma))
            else:
                path.append(self.step(*path[-1], h)[:2])
        return tuple(np.array(x) for x in zip(*path, strict=True))


def _turned_back(Omega: np.ndarray, h: float, *vectors: np.ndarray) -> tuple[np.ndarray, ...]:
    """Vectors that stand in space, seen from the body after a step, W^T y with W = exp(h Omega)."""
    back = SO3.matrix(SO3.exp(-h * Omega))
    return tuple((back @ y[..., None])[..., 0] for y in vectors)
