"""Bodies drawn along a computed motion: sleigh, robot, snakeboard, disk, particle, your own."""

import numpy as np

DARK = "#333333"
OUTLINES = "a function of q that returns outlines, arrays of shape (k, 2)"


class Body:
    """Outlines in the plane that follow q.  ``parts(q)`` gives arrays of points, (k, 2) each."""

    x, y = 0, 1
    size = 1.0

    def __init__(self, system):
        self.system = system
        self.value = {s.name: x for s, x in system.parameters.items()}

    def parts(self, q):
        raise NotImplementedError

    def centre(self, q):
        """Where the trace goes, (..., 2)."""
        return q[..., [self.x, self.y]]


def _turn(points, angle, at):
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + np.asarray(at)


def _line(x, y):
    return np.array([[-x, -y], [x, y]])


def _box(length, width):
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [length / 2, width / 2]


def _circle(radius, count=40):
    a = np.linspace(0, 2 * np.pi, count)
    return radius * np.column_stack([np.cos(a), np.sin(a)])


class Sleigh(Body):
    """The blade at the contact point, the centre of mass ahead of it."""

    def parts(self, q):
        x, y, theta = q
        board = [[-0.3, -0.22], [0.55, -0.12], [0.55, 0.12], [-0.3, 0.22], [-0.3, -0.22]]
        mass = _circle(0.05) + [self.value.get("a", 0.2), 0]
        return [_turn(outline, theta, (x, y)) for outline in (board, _line(0.22, 0), mass)]


class Robot(Body):
    """A round body with three wheels that point along theta."""

    def parts(self, q):
        x, y, theta, psi = q
        corners = _circle(0.6, 4)[:3] + [x, y]
        mark = _line(0, 0.06) + [0.16 * np.sin(psi), 0]  # the rolling of the wheels, from above
        wheels = [_turn(_box(0.36, 0.12), theta, at) for at in corners]
        return [_circle(0.6) + [x, y], *wheels, _turn(mark, theta, (x, y))]


class Snakeboard(Body):
    """The board, its axles turned by -phi in front and by +phi behind, and the rotor.

    So the constraints say: the wheel along theta + phi is the one at -r on the board.
    """

    size = 1.5

    def parts(self, q):
        x, y, theta, psi, phi = q
        board = _turn(_line(self.value.get("r", 1.0), 0), theta, (x, y))
        back, front = board
        parts = [board]
        for angle, end in ((theta - phi, front), (theta + phi, back)):
            parts += [_turn(part, angle, end) for part in (_line(0, 0.3), _box(0.3, 0.1))]
        return [*parts, _turn(_line(0.45, 0), theta + psi, (x, y)), _circle(0.12) + [x, y]]


class Disk(Body):
    """A rolling disk seen from above: its footprint and a point of its rim."""

    def parts(self, q):
        q = dict(zip([str(s) for s in self.system.q], q, strict=True))
        R = self.value.get("R", 1.0)
        rim = _circle(0.07 * R) + [0.5 * R * np.sin(q["theta"]), 0]
        return [_turn(part, q["phi"], (q["x"], q["y"])) for part in (_box(R, 0.12 * R), rim)]


class Particle(Body):
    """The particle seen from above, with a cross to see it by."""

    def parts(self, q):
        return [part + q[:2] for part in (_circle(0.08), _line(0.3, 0), _line(0, 0.3))]


BODIES = {"sleigh": Sleigh, "robot": Robot, "snakeboard": Snakeboard, "rolling disk": Disk}
BODIES |= {"particle": Particle, "free particle": Particle}


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
        raise ValueError(f"body = {given!r} must be a subclass of nh.bodies.Body or {OUTLINES}")
    if system.name not in BODIES:
        known = f"no body is known for {system!r}, only for {list(BODIES)}"
        raise ValueError(f"{known}; pass body=, {OUTLINES}")
    return BODIES[system.name](system)
