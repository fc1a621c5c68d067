"""Outlines of bodies, ``nh.bodies``: those of some vehicles seen from above, and what they are made
of, for a body of your own.

A body for a system of your own takes a few lines, and ``nh.animate(run, body=Boat)`` makes it solid
and plays it::

    class Boat(nh.bodies.Body):
        def parts(self, q):
            x, y, theta = q
            hull = [[-0.4, -0.2], [0.3, -0.2], [0.6, 0], [0.3, 0.2], [-0.4, 0.2], [-0.4, -0.2]]
            return [nh.bodies.place(hull, theta, (x, y))]

The solid bodies of the catalogue are in ``models``.

Examples
--------
>>> import nhlab as nh
>>> class Boat(nh.bodies.Body):
...     def parts(self, q):
...         hull = [[-0.4, -0.2], [0.6, 0], [-0.4, 0.2], [-0.4, -0.2]]
...         return [nh.bodies.place(hull, q[2], q[:2])]
>>> sol = nh.integrate(nh.systems.sleigh(), nh.DLA(), h=0.1, steps=20)
>>> film = nh.animate(sol, body=Boat)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanics.checks import need
from ..mechanics.system import System
from .body import OUTLINES, Body, OwnBody, ahead, axle, bar, box, camera, circle, joined, place

__all__ = ["Body", "ahead", "axle", "bar", "body", "box", "camera", "circle", "joined", "place"]


class Sleigh(Body):
    """The blade at the contact point, the centre of mass ahead of it."""

    def parts(self, q):
        x, y, theta = q
        board = [[-0.3, -0.22], [0.55, -0.12], [0.55, 0.12], [-0.3, 0.22], [-0.3, -0.22]]
        mass = 0.05 * circle() + [self.value.get("a", 0.2), 0]
        shapes = (np.array(board), bar(0.22, 0), mass)
        return [place(shape, theta, (x, y)) for shape in shapes]


class Robot(Body):
    """A round body with three wheels that point along theta; the mark on their treads goes over
    the top and is hidden below."""

    def parts(self, q):
        x, y, theta, psi = q
        corners = 0.6 * circle(4)[:3] + [x, y]
        mark = bar(0, 0.06) + [0.18 * np.sin(psi), 0]
        wheel = [box(0.36, 0.12), mark if np.cos(psi) > 0 else np.full((1, 2), np.nan)]
        return [0.6 * circle() + [x, y], *(place(joined(wheel), theta, at) for at in corners)]


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


class Car(Body):
    """The car from above, its front axle turned, and the trailer on the rear axle."""

    def parts(self, q):
        (x, y, theta, phi, psi), l, d = q, self.value["l"], self.value["d"]
        trailer = ahead((x, y), psi, -d)
        return [
            place(box(l + 0.5, 0.62) + [l / 2, 0], theta, (x, y)),
            axle((x, y), theta),
            axle(ahead((x, y), theta, l), theta + phi, 0.3),
            np.array([(x, y), trailer]),
            place(box(0.6, 0.62), psi, trailer),
            axle(trailer, psi),
        ]

    def tracks(self, q):
        return [q[..., :2], ahead(q[..., :2], q[..., 4], -self.value["d"])]


class Racer(Body):
    """The roller racer from above: the seat on its axle, the handlebar on another."""

    def parts(self, q):
        (x, y, theta, phi), d1, d2 = q, self.value["d1"], self.value["d2"]
        joint = ahead((x, y), theta, d1)
        front = ahead(joint, theta + phi, d2)
        return [
            place([[-0.3, -0.3], [-0.3, 0.3], [d1, 0], [-0.3, -0.3]], theta, (x, y)),
            axle((x, y), theta, 0.7),
            np.array([joint, front]),
            axle(front, theta + phi, 0.4),
            0.07 * circle() + joint,
        ]


class Particle(Body):
    """A point of space; ``nh.animate`` shows its solid body, with the plane of its velocities."""

    def parts(self, q):
        return [np.asarray(q)[:3] + 0.1 * np.column_stack([circle(13), np.zeros(13)])]


BODIES = {"sleigh": Sleigh, "sleigh on SE(2)": Sleigh, "robot": Robot, "snakeboard": Snakeboard}
BODIES |= {"car with trailer": Car, "roller racer": Racer}
BODIES |= dict.fromkeys(["particle", "free particle", "driven particle"], Particle)


def body(system: System, given: Any = None) -> Body:
    """The Body that draws a system: the given one, or the outlines known for it.

    ``given`` is a subclass of Body, or a function of q that returns the outlines.

    Examples
    --------
    >>> import nhlab as nh
    >>> robot = nh.systems.robot()
    >>> type(nh.bodies.body(robot)).__name__
    'Robot'
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
        known = f"no outlines are known for {system!r}, only for {list(BODIES)}"
        raise ValueError(f"{known}; pass body=, a function of q that returns {OUTLINES}")
    return BODIES[system.name](system)
