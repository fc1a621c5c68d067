"""The bodies of the machines: those in the plane first, then those in space."""

import numpy as np

from .body import Body, ahead, axle, bar, box, camera, circle, joined, place
from .solids import Rolling, RubberBall, floor, lift

# ---------------------------------------------------------------------------- in the plane


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


class TwoWheeled(Body):
    """A round robot from above, the centre of mass ahead of the axle; the mark on each tread goes
    over the top and is hidden below."""

    zooms = 1.0, np.inf

    def parts(self, q):
        (x, y, theta), d, R = q[:3], self.value["d"], self.value["R"]
        wheels = [box(2 * R, 0.4 * R) + [0, s * d / 2] for s in (1, -1)]
        mass = 0.06 * d * circle() + [self.value["a"], 0]
        shapes = [0.62 * d * circle(), mass, *wheels, bar(0, d / 2)]
        return [place(self.zoom * shape, theta, (x, y)) for shape in shapes]

    def visible(self, q, t):
        (x, y, theta, *spins), d, R = q, self.value["d"], self.value["R"]
        marks = [
            place(self.zoom * (bar(0, 0.2 * R) + [R * np.sin(a), s * d / 2]), theta, (x, y))
            for a, s in zip(spins, (1, -1), strict=True)
            if np.cos(a) > 0
        ]
        return [*self.parts(q), *marks]


# ---------------------------------------------------------------------------- in space


def turn(axis, angle):
    """The matrix of a turn about the axis 0, 1 or 2, over arrays of angles: (..., 3, 3)."""
    angle = np.asarray(angle, float)
    R, i, j = np.zeros((*angle.shape, 3, 3)), axis - 2, axis - 1
    R[..., axis, axis] = 1
    R[..., i, i] = R[..., j, j] = np.cos(angle)
    R[..., i, j], R[..., j, i] = -np.sin(angle), np.sin(angle)
    return R


def wheel(radius, angle):
    """A wheel in the plane of x and z, three spokes turned by an angle from z towards x."""
    spokes = [[(0, 0), tip] for tip in circle(4)[:3]]
    upright = joined([circle(41), *spokes])[:, ::-1]
    return radius * np.insert(upright, 1, 0.0, axis=1) @ turn(1, angle).T


class TiltedDisk(Rolling):
    """The disk with its spokes, and the point of contact as its track."""

    def parts(self, q):
        (x, y, phi, theta, psi), R = q, self.value["R"]
        attitude = turn(2, phi) @ turn(0, theta)
        centre = np.array([x, y, 0]) + R * attitude[:, 2]
        mark = np.insert(0.1 * circle(13) + [0.8, 0], 1, 0.0, axis=1) @ turn(1, psi).T
        return [centre + R * part @ attitude.T for part in (wheel(1, psi), mark)]


class Segway(Rolling):
    """Two wheels, and between them the body that pitches: a plate to stand on and a post."""

    eye = camera((0.6, -0.8, 0.35))

    def parts(self, q):
        (x, y, theta, phi, left, right), R, d = q, self.value["R"], self.value["d"]
        heading, centre = turn(2, theta), np.array([x, y, R])
        body = heading @ turn(1, phi)
        wheels = [wheel(R, a) + [0, s * d / 2, 0] for a, s in ((left, 1), (right, -1))]
        tall = 2 * self.value["b"]
        post = joined([[(0, 0, 0), (0, 0, tall)], [(0, -0.35 * d, tall), (0, 0.35 * d, tall)]])
        shapes = [lift(box(R, 0.8 * d)), post]
        parts = [centre + part @ heading.T for part in wheels]
        return [*parts, *(centre + part @ body.T for part in shapes)]


class Turntable(RubberBall):
    """The ball, and the table that turns under it."""

    table = 1.0

    def visible(self, q, t):
        spokes = joined([np.linspace((0, 0), tip, 60) for tip in circle(7)[:6]])
        table = lift(self.table * place(spokes, self.value["Om"] * t, (0, 0)))
        hidden = self.covers(table - self.pose(q)[1], self.eye[2])
        return [*super().visible(q, t), np.where(hidden[:, None], np.nan, table)]

    def fit(self, sols):
        reach = max(np.nanmax(np.hypot(*sol.q[:, :2].T)) for sol in sols)
        self.table = reach + self.radius
        self.fixed = [lift(self.table * circle(81))]


class Rattleback(Body):
    """The lower half of the ellipsoid: its rim, with a mark at one end, and arcs along and across.
    The marked end leaves the track."""

    eye = camera((0.35, -0.8, 0.6))

    def pose(self, q):
        """The attitude, (..., 3, 3), and the centre of the ellipsoid, (..., 3)."""
        R = turn(2, q[..., 2]) @ turn(0, q[..., 3]) @ turn(1, q[..., 4])
        axes, h = np.array([self.value[k] for k in "abc"]), self.value["h"]
        height = np.sqrt(((axes * R[..., 2, :]) ** 2).sum(-1))
        centre = np.stack([q[..., 0], q[..., 1], 0 * height], -1) + h * R[..., :, 2]
        centre[..., 2] = height
        return R, centre

    def parts(self, q):
        (R, centre), (a, b, c) = self.pose(np.asarray(q, float)), (self.value[k] for k in "abc")
        half = circle(41)[20:]
        rim, mark = lift(circle(61)), lift(0.1 * circle(13) * [b / a, 1] + [0.85, 0])
        arcs = [np.insert(half, k, 0.0, axis=1) for k in (1, 0)]
        across = [np.insert(half * np.sqrt(1 - s**2), 0, s, axis=1) for s in (-0.6, 0.6)]
        return [centre + part * [a, b, c] @ R.T for part in (rim, mark, *arcs, *across)]

    def tracks(self, q):
        R, centre = self.pose(q)
        return [centre + self.value["a"] * R[..., :, 0]]

    def fit(self, sols):
        q = np.concatenate([sol.q for sol in sols])
        self.fixed = [floor(q, 0.0, self.value["a"])]


class Bicycle(Rolling):
    """Two wheels, the frame with its rider, the fork; the tracks are those of both contacts.

    The system's z points down, as in its source, and y to the right.
    """

    eye = camera((0.35, -0.85, 0.35))
    directions, letters = np.diag([1.0, -1, -1])[:2], ("$x$", "$y$")
    room = 1.0

    def pose(self, q):
        """Attitudes of frame and fork and the centres of both wheels, over arrays of q."""
        x, y, yaw, roll, pitch, steer, _, _ = np.moveaxis(np.asarray(q, float), -1, 0)
        p = self.value
        lean = turn(2, yaw) @ turn(0, roll)
        frame = lean @ turn(1, pitch)
        fork = frame @ turn(1, p["tilt"]) @ turn(2, steer) @ turn(1, -p["tilt"])
        rear = np.stack([x, y, 0 * x], -1) - p["rR"] * lean[..., :, 2]
        front = rear + frame @ [p["w"] + p["c"], 0, p["rR"]] - fork @ [p["c"], 0, p["rF"]]
        return frame, fork, rear, front

    def parts(self, q):
        (frame, fork, rear, front), p = self.pose(q), self.value
        axis = np.array([np.sin(p["tilt"]), 0, np.cos(p["tilt"])])
        head = np.array([p["c"], 0, p["rF"]]) - 0.95 / axis[2] * axis  # from the front wheel
        grips = [head - [0.15, 0.25, 0], head, head - [0.15, -0.25, 0]]
        seat, joint = np.array([0.25, 0, -0.6]), np.array([p["w"], 0, p["rR"] - p["rF"]]) + head
        crank = np.array([0.42, 0, 0.03])
        tubes = joined([[(0, 0, 0), crank, seat, (0, 0, 0)], [crank, joint, seat]])
        rider = np.insert(circle(21), 1, 0.0, axis=1)
        body = rider * [0.13, 0, 0.3] + [p["xB"], 0, p["zB"] + p["rR"] - 0.15]
        parts = [rear + wheel(p["rR"], q[6]) @ frame.T, front + wheel(p["rF"], q[7]) @ fork.T]
        parts += [rear + part @ frame.T for part in (tubes, body)]
        parts.append(front + joined([[(0, 0, 0), head], grips]) @ fork.T)
        return [part * [1, -1, -1] for part in parts]

    def tracks(self, q):
        _, fork, _, front = self.pose(q)
        down = fork[..., 2, :] * [1, 0, 1]  # the steepest way down in the plane of the wheel
        down /= np.linalg.norm(down, axis=-1, keepdims=True)
        contact = front + self.value["rF"] * np.einsum("...ij,...j->...i", fork, down)
        rear = np.concatenate([q[..., :2], np.zeros_like(q[..., :1])], -1)
        return [rear * [1, -1, -1], contact * [1, -1, -1]]


MACHINES = {"car with trailer": Car, "roller racer": Racer, "two-wheeled robot": TwoWheeled}
MACHINES |= {"tilted disk": TiltedDisk, "Segway": Segway, "rattleback": Rattleback}
MACHINES |= {"Whipple bicycle": Bicycle, "ball on a turntable": Turntable}
