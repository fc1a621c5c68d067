"""Bodies drawn along a computed motion: sleigh, robot, snakeboard, disk, particle, your own."""

from __future__ import annotations

import numpy as np

DARK = "#333333"


class Body:
    """Outlines in the plane that follow q.  ``parts(q)`` gives arrays of points, (k, 2) each."""

    x = 0
    y = 1
    size = 1.0

    def __init__(self, system):
        self.system = system
        self.value = {s.name: x for s, x in system.parameters.items()}

    def parts(self, q):
        raise NotImplementedError

    def centre(self, q):
        """Where the trace goes, (..., 2)."""
        return q[..., [self.x, self.y]]


def _turn(points, angle, shift=(0.0, 0.0)):
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + np.asarray(shift)


def _box(length, width):
    x, y = length / 2, width / 2
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y], [-x, -y]])


def _circle(radius, count=40):
    a = np.linspace(0, 2 * np.pi, count)
    return radius * np.column_stack([np.cos(a), np.sin(a)])


class Sleigh(Body):
    """The blade at the contact point, the centre of mass ahead of it."""

    def parts(self, q):
        x, y, theta = q
        a = self.value.get("a", 0.2)
        board = [[-0.3, -0.22], [0.55, -0.12], [0.55, 0.12], [-0.3, 0.22], [-0.3, -0.22]]
        return [
            _turn(board, theta, (x, y)),
            _turn([[-0.22, 0], [0.22, 0]], theta, (x, y)),
            _turn(_circle(0.05) + [a, 0], theta, (x, y)),
        ]


class Robot(Body):
    """A round body with three wheels that point along theta."""

    def parts(self, q):
        x, y, theta, psi = q
        parts = [_circle(0.6) + [x, y]]
        for k in range(3):
            at = 0.6 * np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)]) + [x, y]
            parts.append(_turn(_box(0.36, 0.12), theta, at))
        mark = 0.16 * np.sin(psi)  # the rolling of the wheels, seen from above
        return [*parts, _turn([[mark, -0.06], [mark, 0.06]], theta, (x, y))]


class Snakeboard(Body):
    """The board, its axles turned by -phi in front and by +phi behind, and the rotor.

    So the constraints say: the wheel along theta + phi is the one at -r on the board.
    """

    size = 1.5

    def parts(self, q):
        x, y, theta, psi, phi = q
        r = self.value.get("r", 1.0)
        front = _turn([[r, 0]], theta, (x, y))[0]
        back = _turn([[-r, 0]], theta, (x, y))[0]
        axle = np.array([[0, -0.3], [0, 0.3]])
        return [
            np.array([back, front]),
            _turn(axle, theta - phi, front),
            _turn(_box(0.3, 0.1), theta - phi, front),
            _turn(axle, theta + phi, back),
            _turn(_box(0.3, 0.1), theta + phi, back),
            _turn([[-0.45, 0], [0.45, 0]], theta + psi, (x, y)),
            _circle(0.12) + [x, y],
        ]


class Disk(Body):
    """A rolling disk seen from above: its footprint and a point of its rim."""

    def parts(self, q):
        q = dict(zip([str(s) for s in self.system.q], q, strict=True))
        R = self.value.get("R", 1.0)
        at, heading = (q["x"], q["y"]), q["phi"]
        rim = 0.5 * R * np.sin(q["theta"])
        return [_turn(_box(R, 0.12 * R), heading, at),
                _turn(_circle(0.07 * R) + [rim, 0], heading, at)]  # fmt: skip


class Particle(Body):
    """The particle seen from above, with the direction (1, y) that its constraint allows."""

    def parts(self, q):
        x, y = q[0], q[1]
        return [_circle(0.08) + [x, y], np.array([[x - 0.3, y], [x + 0.3, y]]),
                np.array([[x, y - 0.3], [x, y + 0.3]])]  # fmt: skip


BODIES = {
    "sleigh": Sleigh,
    "robot": Robot,
    "snakeboard": Snakeboard,
    "rolling disk": Disk,
    "particle": Particle,
    "free particle": Particle,
}


def body(system, given=None):
    """The Body that draws a system: the given one, or that of the catalogue.

    ``given`` is a subclass of Body, or a function of q that returns the outlines.
    """
    if isinstance(given, type) and issubclass(given, Body):
        return given(system)
    if callable(given):
        own = Body(system)
        own.parts = given
        return own
    if given is not None:
        raise ValueError(f"body = {given!r} must be a subclass of nh.bodies.Body or a function of "
                         "q that returns outlines, arrays of shape (k, 2)")  # fmt: skip
    if system.name not in BODIES:
        raise ValueError(f"no body is known for {system!r}, only for {list(BODIES)}; pass body=, a "
                         "function of q that returns outlines, arrays of shape (k, 2)")  # fmt: skip
    return BODIES[system.name](system)
