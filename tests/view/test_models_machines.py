"""The solid bodies of the machines and balls: where the mechanics has them, rolling as it rolls."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.groups import SO3
from nhlab.view.models import model
from nhlab.view.models.machines import steered
from nhlab.view.stage import Frame, Model, Roll, columns_at, move, poses, turn

GROUND = [0, 0, 1]
RUNS = {
    "segway": (0.01, 40),
    "bicycle": (0.02, 60),
    "car_with_trailer": (0.05, 60),
    "roller_racer": (0.05, 60),
    "two_wheeled_robot": (0.05, 60),
    "rattleback": (0.005, 60),
    "ball": (0.1, 40),
    "ball_right": (0.1, 40),
    "rubber_ball": (0.1, 40),
    "ball_on_turntable": (0.1, 40),
}


def number(system, name):
    return float(next(x for s, x in system.parameters.items() if s.name == name))


@pytest.fixture(scope="module")
def runs():
    found = {}
    for name, (h, steps) in RUNS.items():
        system = getattr(nh.systems, name)()
        found[name] = nh.integrate(system, nh.Reference(), h=h, steps=steps, progress=False)
    return found


def placed(system, body, q, t=0.0):
    """The frames of a body at configurations q, (N, n)."""
    t = np.broadcast_to(t, len(q))
    return poses(body.frames, columns_at(body, [str(s) for s in system.q], q, t))


def moving(system, body, q, v, e, t=0.0):
    """For each frame its matrix and place, and their rates, by central differences."""
    near = np.array([system.move(q, v, d) for d in (-e, 0, e)])
    found = placed(system, body, near, t + np.array([-e, 0, e]))
    return {
        name: (R[1], at[1], (R[2] - R[0]) / (2 * e), (at[2] - at[0]) / (2 * e))
        for name, (R, at) in found.items()
    }


# ---------------------------------------------------------------------------- rolling

WHEELS = [
    *(("segway", side, "R") for side in ("left", "right")),
    *(("two_wheeled_robot", side, "R") for side in ("left", "right")),
    *(("bicycle", "rear", "rR"), ("bicycle", "front", "rF")),
    *(
        ("car_with_trailer", f"{end} {side}", 0.15)
        for end in ("front", "rear", "back")
        for side in ("left", "right")
    ),
    *(
        ("roller_racer", f"{end} {side}", 0.11)
        for end in ("front", "rear")
        for side in ("left", "right")
    ),
]


@pytest.mark.parametrize("name, wheel, radius", WHEELS)
def test_a_wheel_stands_on_the_floor_and_its_contact_is_at_rest(runs, name, wheel, radius):
    """Its lowest point has the height zero, and the material point there does not move, along the
    wheel or across it; what is opposite of it moves."""
    sol = runs[name]
    body = model(sol.system, [sol])
    r = number(sol.system, radius) if isinstance(radius, str) else radius
    for k in (3, 17, 37):
        q, v = sol.q[k], sol.v[k]
        R, at, turning, moved = moving(sol.system, body, q, v, 1e-5)[wheel]
        down = R[:, 1] * R[2, 1] - GROUND
        low = R.T @ down * r / np.linalg.norm(down)
        assert abs((R @ low + at)[2]) < 1e-9
        assert np.linalg.norm(turning @ low + moved) < 1e-7
        assert np.linalg.norm(turning @ -low + moved) > 1e-3


@pytest.mark.parametrize("name, wheel, radius", WHEELS)
def test_a_wheel_is_as_large_as_its_radius(runs, name, wheel, radius):
    sol = runs[name]
    body = model(sol.system, [sol])
    r = number(sol.system, radius) if isinstance(radius, str) else radius
    mesh, where = body.mesh(False)
    points = mesh.points[where == 1 + list(body.frames).index(wheel)].reshape(-1, 3)
    assert np.hypot(points[:, 0], points[:, 2]).max() == pytest.approx(r, abs=1e-7)


@pytest.mark.parametrize("name", ["rubber_ball", "ball_on_turntable"])
def test_a_ball_rolls_on_what_is_below_it(runs, name):
    """Its lowest point moves as the floor, or as the table that turns."""
    sol = runs[name]
    body, R = model(sol.system, [sol]), number(sol.system, "R")
    rate = number(sol.system, "Om") if name == "ball_on_turntable" else 0.0
    for k in (3, 17, 37):
        q, v = sol.q[k], sol.v[k]
        found = moving(sol.system, body, q, v, 1e-5, sol.t[k])
        A, at, turning, moved = found["ball"]
        low = A.T @ [0, 0, -R]
        np.testing.assert_allclose(A @ low + at, [q[0], q[1], 0], atol=1e-9)
        slip = turning @ low + moved
        np.testing.assert_allclose(slip, [-rate * q[1], rate * q[0], 0], atol=1e-7)
        assert np.linalg.norm(moved) > 0.1
        np.testing.assert_allclose(A, SO3.matrix(q[2:]).T, atol=1e-9)  # g is its inverse
        if rate:  # the table's own point there
            T, _, spinning, _ = found["table"]
            np.testing.assert_allclose(spinning @ (T.T @ [*q[:2], 0]), slip, atol=1e-7)


def test_the_rattleback_touches_the_floor_with_a_point_at_rest(runs):
    sol = runs["rattleback"]
    body = model(sol.system, [sol])
    axes = np.array([number(sol.system, name) for name in "abc"])
    mesh, _ = body.mesh(False)
    shell = mesh.points.reshape(-1, 3)
    for k in (3, 17, 37):
        R, at, turning, moved = moving(sol.system, body, sol.q[k], sol.v[k], 1e-6)["stone"]
        n = R[2]
        low = -(axes**2) * n / np.linalg.norm(axes * n)
        assert abs((R @ low + at)[2]) < 1e-9
        assert np.linalg.norm(turning @ low + moved) < 1e-7
        assert np.linalg.norm(moved) > 1e-4
        heights = (shell @ R.T + at)[:, 2]
        assert -1e-9 < heights.min() < 2e-3  # facets of a mesh lie within the ellipsoid


def test_a_steered_front_wheel_goes_round_the_same_centre():
    """Left and right wheel are perpendicular to the way to the point round which the car turns."""
    phi, l, half = np.linspace(-1.0, 1.0, 9), 1.3, 0.4

    def angle_of(left):
        frames = {"wheel": Frame("world", turn(2, steered("phi", l, left)))}
        R, _ = poses(frames, {"phi": phi})["wheel"]
        return np.arctan2(R[:, 1, 0], R[:, 0, 0])

    np.testing.assert_allclose(angle_of(0.0), phi, atol=1e-12)
    centre = l / np.tan(phi[phi != 0])
    for y in (-half, half):
        angle = angle_of(y)[phi != 0]
        way = np.stack([np.full(len(centre), -l), centre - y])
        np.testing.assert_allclose(way[0] * np.cos(angle) + way[1] * np.sin(angle), 0, atol=1e-12)


def test_how_far_a_wheel_has_rolled_is_its_way_over_its_radius():
    u = np.linspace(0, 1, 400)
    x, y = 3 * np.sin(u), 3 * (1 - np.cos(u))  # an arc of radius 3, of length 3
    frames = {"axle": Frame("world", move("x", "y", 0), turn(2, "u"))}
    frames["wheel"] = Frame("axle", turn(1, "spin"))
    body = Model(frames, [], rolls=[Roll("spin", "axle", (0, 0, 0), 0.5)])
    for order in (1, -1):
        columns = {"x": x[::order], "y": y[::order], "u": u[::order]}
        assert body.rolled(columns)["spin"][-1] == pytest.approx(6 * order, abs=1e-5)


# ---------------------------------------------------------------------------- energy


def masses(system):
    """(frame, point, mass, inertia: 11, 22, 33, 12, 13) of the rigid bodies of a system."""
    p = {s.name: float(x) for s, x in system.parameters.items()}
    pair = [(side, 0, "M", ("K", "J", "K")) for side in ("left", "right")]
    rolling, turning = (("ball", 0, m, ("I", "I", "I")) for m in ("m", 0))
    tables = {
        "Segway": [("body", [0, 0, p.get("b", 0)], "m", ("Ix", "Iy", "Iz")), *pair],
        "two-wheeled robot": [("body", [p.get("a", 0), 0, 0], "m", (0, 0, "I")), *pair],
        "car with trailer": [
            ("car", 0, "m", (0, 0, "I")),
            ("trailer", [-p.get("d", 0), 0, 0], "mt", (0, 0, "It")),
        ],
        "roller racer": [("seat", 0, "m", (0, 0, "I1")), ("bar", 0, 0, (0, 0, "I2"))],
        "rattleback": [
            ("centre of mass", 0, "m", (0, 0, 0)),
            ("stone", 0, 0, ("A", "B", "C", "D")),
        ],
        "Whipple bicycle": _bicycle(p),
        **{name: [rolling] for name in ("rubber ball", "ball on a turntable")},
        **{name: [turning] for name in ("ball", "ball, right-invariant")},
    }
    read = lambda x: p[x] if isinstance(x, str) else float(x)  # noqa: E731
    return [
        (frame, np.broadcast_to(at, 3), read(m), [*map(read, I)])
        for frame, at, m, I in tables[system.name]
    ]


def _bicycle(p):
    if "mB" not in p:
        return []
    fork = "IHxx", "IHyy", "IHzz", 0, "IHxz"
    return [
        ("rear", 0, "mR", ("IRxx", "IRyy", "IRxx")),
        ("frame", [p["xB"], 0, p["zB"] + p["rR"]], "mB", ("IBxx", "IByy", "IBzz", 0, "IBxz")),
        ("fork", [p["xH"] - p["w"], 0, p["zH"] + p["rF"]], "mH", fork),
        ("front", 0, "mF", ("IFxx", "IFyy", "IFxx")),
    ]  # fmt: skip


def energies(system, body, q, v):
    """Kinetic energy and gravity's, from the motion of the frames."""
    found = moving(system, body, q, v, 1e-5)
    gravity = next((x for s, x in system.parameters.items() if s.name == "g"), 0.0)
    kinetic = potential = 0.0
    for frame, point, m, (I1, I2, I3, *askew) in masses(system):
        R, at, turning, moved = found[frame]
        I12, I13 = (*askew, 0, 0)[:2]
        inertia = np.array([[I1, I12, I13], [I12, I2, 0], [I13, 0, I3]])
        W = R.T @ turning
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        u = turning @ point + moved
        kinetic += (m * u @ u + w @ inertia @ w) / 2
        potential += m * gravity * (R @ point + at)[2]
    return kinetic, potential


@pytest.mark.parametrize("name", RUNS)
def test_the_bodies_have_the_energy_of_the_system(name):
    """At places and velocities at random, which need not obey the constraints: with the masses of
    the system on the frames of the body, kinetic energy and weight are those of its Lagrangian."""
    system = getattr(nh.systems, name)()
    short = nh.integrate(system, nh.DLA(), h=0.01, steps=2, progress=False)
    body, rng = model(system, [short]), np.random.default_rng(4)
    heights = []
    for _ in range(4):
        q = short.q[0] + 0.3 * rng.normal(size=len(system.q))
        if "qw" in map(str, system.q):
            q[-4:] /= np.linalg.norm(q[-4:])
        v = rng.normal(size=len(system.v))
        kinetic, potential = energies(system, body, q, v)
        whole, rest = system.energy(q, v), system.energy(q, 0 * v)
        if name == "car_with_trailer":  # its steering has an inertia of its own
            kinetic += number(system, "J") * v[3] ** 2 / 2
        assert kinetic == pytest.approx(whole - rest, rel=1e-6)
        heights.append(potential - rest)
    if any(s.name == "g" for s in system.parameters):
        np.testing.assert_allclose(heights, heights[0], atol=1e-9 * max(1, abs(heights[0])))


# ---------------------------------------------------------------------------- places


def test_places_of_the_vehicles(runs):
    """Hitch and trailer, joint and front axle, the brass weight of the Segway, to 1e-9."""
    along = lambda angle: np.stack([np.cos(angle), np.sin(angle)], -1)  # noqa: E731
    sol = runs["car_with_trailer"]
    d, psi = number(sol.system, "d"), sol.q[:, 4]
    R, at = placed(sol.system, model(sol.system, [sol]), sol.q)["trailer"]
    axle = (R @ [-d, 0, 0] + at)[:, :2]
    np.testing.assert_allclose(axle, sol.q[:, :2] - d * along(psi), atol=1e-9)
    sol = runs["roller_racer"]
    theta, phi = sol.q[:, 2], sol.q[:, 3]
    R, at = placed(sol.system, model(sol.system, [sol]), sol.q)["bar"]
    front = sol.q[:, :2] + along(theta) + number(sol.system, "d2") * along(theta + phi)
    axle = (R @ [number(sol.system, "d2"), 0, 0] + at)[:, :2]
    np.testing.assert_allclose(axle, front, atol=1e-9)
    sol = runs["segway"]
    b, R0, phi = number(sol.system, "b"), number(sol.system, "R"), sol.q[:, 3:4]
    R, at = placed(sol.system, model(sol.system, [sol]), sol.q)["body"]
    flat = sol.q[:, :2] + b * np.sin(phi) * along(sol.q[:, 2])
    centre = np.column_stack([flat, R0 + b * np.cos(phi)])
    np.testing.assert_allclose(R @ [0, 0, b] + at, centre, atol=1e-9)


def test_the_front_wheel_of_the_bicycle_is_as_high_as_its_constraint_says():
    """Also where the constraint is not zero; and its track is below its middle, on the floor."""
    system = nh.systems.bicycle()
    sol = nh.integrate(system, nh.DLA(), h=0.02, steps=2, progress=False)
    body, radius = model(system, [sol]), number(system, "rF")
    q = 0.2 * np.random.default_rng(2).normal(size=(6, 8))
    found = placed(system, body, q)
    R, at = found["fork"]
    down = R[:, :, 1] * R[:, 2:, 1] - GROUND
    low = at + radius * down / np.linalg.norm(down, axis=1, keepdims=True)
    np.testing.assert_allclose(low[:, 2], [-system.g(x)[0] for x in q], atol=1e-9)
    np.testing.assert_allclose(found["front contact"][1][:, :2], low[:, :2], atol=1e-9)


def test_the_axis_of_the_ball_stays_in_the_ring(runs):
    """The right-invariant ball cannot turn about the vertical; the geared one can."""
    sol = runs["ball_right"]
    R, _ = placed(sol.system, model(sol.system, [sol]), sol.q)["axis"]
    assert np.abs(R[:, 2, 0]).max() < 1e-7
    k = 11
    spin = SO3.matrix(sol.q[k]) @ sol.v[k]
    np.testing.assert_allclose(R[k, :, 0], spin / np.linalg.norm(spin), atol=1e-6)
    geared = runs["ball"]
    tilt = np.array([(SO3.matrix(q) @ v)[2] for q, v in zip(geared.q, geared.v, strict=True)])
    assert np.abs(tilt).max() > 0.1


# ---------------------------------------------------------------------------- how they look


@pytest.mark.parametrize("name", RUNS)
def test_nothing_sinks_into_the_floor_and_the_mesh_is_small(runs, name):
    sol = runs[name]
    film = nh.animate(sol)
    (actor,) = film.scene.actors
    level = 0.0 if name == "ball_on_turntable" else actor.model.floor.height
    low = min(actor.corners(t)[:, 2].min() for t in np.linspace(*film.scene.times, 7)) - level
    assert -0.003 * film.scene.size(0) < low < 0.03 * film.scene.size(0)
    assert len(actor.model.mesh(True)[0].points) < 5500


def test_bodies_are_to_scale(runs):
    """Length, breadth and height of what has them in its parameters."""
    sizes = {}
    for name in ("rattleback", "rubber_ball", "ball_on_turntable", "bicycle"):
        (actor,) = nh.animate(runs[name]).scene.actors
        sizes[name] = np.ptp(actor.corners(0.0), 0)
    np.testing.assert_allclose(sizes["rattleback"][:2], [0.4, 0.06], rtol=0.01)
    np.testing.assert_allclose(sizes["rubber_ball"], 2.0, rtol=0.01)
    np.testing.assert_allclose(sizes["ball_on_turntable"], 0.4, rtol=0.01)
    assert sizes["bicycle"][0] == pytest.approx(1.02 + 0.3 + 0.35, abs=0.01)
    assert sizes["bicycle"][2] == pytest.approx(1.75, abs=0.15)  # with the rider
    for name in ("segway", "two_wheeled_robot"):
        sol = runs[name]
        found = placed(sol.system, model(sol.system, [sol]), sol.q)
        apart = np.linalg.norm(found["left"][1] - found["right"][1], axis=1)
        np.testing.assert_allclose(apart, number(sol.system, "d"), atol=1e-9)


def test_the_weights_of_the_rattleback_lie_as_its_inertia_does():
    """The product of inertia D is minus the sum of m x y: for D < 0 the weights have x y > 0."""
    for D in (-2e-5, 2e-5):
        system = nh.systems.rattleback(D=D)
        sol = nh.integrate(system, nh.DLA(), h=0.001, steps=2, progress=False)
        brass = [s["at"] for _, s in model(system, [sol]).parts if s["colour"] == "#D8A23B"]
        assert len(brass) == 2 and all(np.sign(x * y) == -np.sign(D) for x, y, _ in brass)
