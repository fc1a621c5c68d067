"""The bodies of the catalogue, ``nh.bodies``: those in the plane here, the others in ``solids``.

A body for a system of your own takes a few lines, and ``nh.animate(run, body=Boat)`` plays it::

    class Boat(nh.bodies.Body):
        def parts(self, q):
            x, y, theta = q
            hull = [[-0.4, -0.2], [0.3, -0.2], [0.6, 0], [0.3, 0.2], [-0.4, 0.2], [-0.4, -0.2]]
            return [nh.bodies.place(hull, theta, (x, y))]
"""

import numpy as np

from ..mechanics.checks import need
from ..mechanics.system import System
from .body import OUTLINES, Body, OwnBody, ahead, axle, bar, box, camera, circle, joined, place
from .machines import MACHINES
from .solids import (
    Ball,
    Disk,
    FreeBody,
    Inertia,
    KnifeEdge,
    Particle,
    Quartic,
    RubberBall,
    SphericalPendulum,
)

__all__ = ["Body", "ahead", "axle", "bar", "body", "box", "camera", "circle", "joined", "place"]


class Sleigh(Body):
    """The blade at the contact point, the centre of mass ahead of it."""

    zooms = 1.0, np.inf

    def parts(self, q):
        x, y, theta = q
        board = [[-0.3, -0.22], [0.55, -0.12], [0.55, 0.12], [-0.3, 0.22], [-0.3, -0.22]]
        mass = 0.05 * circle() + [self.value.get("a", 0.2), 0]
        shapes = (np.array(board), bar(0.22, 0), mass)
        return [place(self.zoom * shape, theta, (x, y)) for shape in shapes]


class Robot(Body):
    """A round body with three wheels that point along theta; the mark on their treads goes over
    the top and is hidden below."""

    zooms = 1.0, np.inf

    def parts(self, q):
        x, y, theta, psi = q
        corners = self.zoom * 0.6 * circle(4)[:3] + [x, y]
        mark = bar(0, 0.06) + [0.18 * np.sin(psi), 0]
        wheel = [box(0.36, 0.12), mark if np.cos(psi) > 0 else np.full((1, 2), np.nan)]
        wheels = [place(self.zoom * joined(wheel), theta, at) for at in corners]
        return [self.zoom * 0.6 * circle() + [x, y], *wheels]


class Snakeboard(Body):
    """The board, its axles turned by -phi in front and by +phi behind, and the rotor.

    So the constraints say: the wheel along theta + phi is the one at -r on the board.
    """

    def parts(self, q):
        x, y, theta, psi, phi = q
        board = place(bar(self.value.get("r", 1.0), 0), theta, (x, y))
        back, front = board
        parts = [board]
        for angle, end in ((theta - phi, front), (theta + phi, back)):
            parts += [place(part, angle, end) for part in (bar(0, 0.3), box(0.3, 0.1))]
        return [*parts, place(bar(0.45, 0), theta + psi, (x, y)), 0.12 * circle() + [x, y]]


class Pendulum(Body):
    """The rod and its bob; theta = 0 hangs down."""

    letters, upright = (), True

    def __init__(self, system):
        super().__init__(system)
        self.l = self.value.get("l", 1.0)
        self.fixed = [0.03 * self.l * circle(), self.l * bar(0.25, 0)]

    def parts(self, q):
        (bob,) = self.tracks(q)
        return [np.array([(0, 0), bob]), 0.09 * self.l * circle() + bob]

    def tracks(self, q):
        return [ahead((0, 0), q[..., 0] - np.pi / 2, self.l)]


class Kepler(Body):
    """The planet, the sun and the ellipse on which the start should keep the planet."""

    zooms = 0.0, np.inf

    def parts(self, q):
        return [0.15 * self.zoom * circle() + q]

    def fit(self, sols):
        super().fit(sols)
        orbit = kepler_ellipse(sols[0].q[0], sols[0].v[0], self.value.get("mu", 1.0))
        self.fixed = [0.3 * self.zoom * circle(), orbit]


def kepler_ellipse(q, v, mu):
    """The true orbit through q with velocity v, (k, 2); no points if it is not bounded."""
    r, speed2 = np.hypot(*q), v @ v
    if speed2 >= 2 * mu / r:
        return np.full((1, 2), np.nan)
    a = 1 / (2 / r - speed2 / mu)
    e = ((speed2 - mu / r) * q - (q @ v) * v) / mu  # from the sun to the perihelion
    size = np.hypot(*e)
    ellipse = a * circle(181) * [1, np.sqrt(1 - size**2)] - [a * size, 0]
    return place(ellipse, np.arctan2(e[1], e[0]), (0, 0))


class Transmission(Body):
    """Two masses on springs, x above z, and the pendulum y over them: sin y, by which its bob is
    to the right, is the ratio of the gear, x' = -sin y z'."""

    letters, upright = (), True
    fixed = (
        *(np.array([[-3, -2.2], [-3, 0.6]]), bar(3, 0) - [0, 0.25], bar(3, 0) - [0, 1.75]),
        *(0.05 * circle() + [0, 2], bar(0.3, 0) + [0, 2], np.array([[0, 2], [0, 0.75]])),
    )

    def parts(self, q):
        x, y, z = q
        bob = ahead((0, 2), y - np.pi / 2, 1)
        parts = [np.array([(0, 2), bob]), 0.12 * circle() + bob]
        for s, height in ((x, 0), (z, -1.5)):
            coils = np.linspace([-3, height], [s - 0.25, height], 42)
            coils[3:-3, 1] += np.resize([0, 0.12, 0, -0.12], 36)
            parts += [box(0.5, 0.5) + [s, height], coils]
        return [*parts, np.array([bob, (bob[0], 0.75)])]

    def tracks(self, q):
        return [ahead((0, 2), q[..., 1] - np.pi / 2, 1)]

    def label(self, ax, spatial):
        super().label(ax, spatial)
        for name, at in (("$x$", (2.8, 0)), ("$y$", (0.4, 2.2)), ("$z$", (2.8, -1.5))):
            ax.text(*at, name, ha="center", va="center")


BODIES = {"sleigh": Sleigh, "sleigh on SE(2)": Sleigh, "robot": Robot, "snakeboard": Snakeboard}
BODIES |= {"rolling disk": Disk, "knife edge": KnifeEdge, "rubber ball": RubberBall}
BODIES |= dict.fromkeys(["particle", "free particle", "driven particle"], Particle)
BODIES |= dict.fromkeys(["contact oscillator", "non-reversible oscillator"], Particle)
BODIES |= {"quartic": Quartic, "transmission": Transmission, "Suslov": Inertia}
BODIES |= {"rigid body": FreeBody, "ball": Ball, "ball, right-invariant": Ball}
BODIES |= {"pendulum": Pendulum, "Kepler": Kepler, "spherical pendulum": SphericalPendulum}
BODIES |= MACHINES


def body(system, given=None):
    """The Body that draws a system: the given one, or that of the catalogue.

    ``given`` is a subclass of Body, or a function of q that returns the outlines.
    """
    need(system, System, "system", "nh.System")
    if isinstance(given, type) and issubclass(given, Body):
        return given(system)
    if callable(given):
        return OwnBody(system, given)
    if given is not None:
        known = f"body = {given!r} must be a subclass of nh.bodies.Body or a function of q"
        raise ValueError(f"{known} that returns {OUTLINES}")
    if system.name not in BODIES:
        known = f"no body is known for {system!r}, only for {list(BODIES)}"
        raise ValueError(f"{known}; pass body=, a function of q that returns {OUTLINES}")
    return BODIES[system.name](system)
