"""Bodies: they keep their shape, stand where the constraints say and roll without slipping."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.mechanics.groups import SO3
from nhlab.view import solids
from nhlab.view.body import between, read_outlines

EVERY = {**catalogue, **on_groups, **machines}
SHORT = dict.fromkeys(machines, 0.05) | {"bicycle": 0.03, "rattleback": 0.01, "segway": 0.013}
# outlines that are no rigid bodies: rods, springs and threads to something that does not move
LOOSE = {"pendulum": (0,), "spherical_pendulum": (0,), "transmission": (0, 3, 5, 6)}
LOOSE |= dict.fromkeys(("particle", "free_particle", "driven"), (3,))
LOOSE |= dict.fromkeys(("contact_oscillator", "nonreversible"), (3,))


def run(name, method=None, h=0.1, steps=60, **start):
    return nh.integrate(EVERY[name](), method or nh.Reference(), h=h, steps=steps, **start)


def velocity(sol, k, f, e=1e-6):
    """The rate of f(q) along the true motion at node k."""
    s, q, v = sol.system, sol.q[k], sol.v[k]
    return (np.asarray(f(s.move(q, v, e))) - f(s.move(q, v, -e))) / (2 * e)


def gaps(points):
    """All distances between points."""
    points = points[np.isfinite(points).all(1)]
    return np.linalg.norm(points[:, None] - points, axis=-1)


@pytest.mark.parametrize("name", EVERY)
def test_every_system_has_a_body_that_keeps_its_shape(name):
    sol = run(name, h=SHORT.get(name, 0.1))
    body = nh.bodies.body(sol.system)
    body.fit([sol])
    count = 5 if name == "robot" else None  # on its wheels a mark rolls
    poses = [[part[:count] for part in read_outlines(body.parts(q))] for q in sol.q[::7]]
    first, *others = poses
    loose = LOOSE.get(name, ())
    moved = 0.0
    for parts in others:
        for k, (a, b) in enumerate(zip(first, parts, strict=True)):
            moved = max(moved, np.nanmax(np.abs(a - b)))
            if k not in loose:
                np.testing.assert_allclose(gaps(a), gaps(b), atol=1e-9)
    assert moved > 0.1
    for q, t in zip(sol.q[::7], sol.t[::7], strict=True):
        assert np.isfinite(body.seen(q, t)).any()
    assert not np.array_equal(body.seen(sol.q[0], 0.0), body.seen(sol.q[-1], 0.3))
    for track, here in zip(body.tracks(sol.q), body.tracks(sol.q[7]), strict=True):
        np.testing.assert_allclose(track[7], here, atol=1e-12)


@pytest.mark.parametrize("name", ["snakeboard", "sleigh", "sleigh_se2", "robot", "knife_edge"])
def test_wheels_and_blades_move_where_they_point_to(name):
    """Along the motion the middle of each moves in the direction of its outline."""
    wheels = {"snakeboard": (2, 4), "robot": (1, 2, 3), "knife_edge": (1,)}.get(name, (1,))
    sol = run(name, steps=200)
    body = nh.bodies.body(sol.system)
    body.zoom = 2.5 if name in ("sleigh", "sleigh_se2", "robot") else 1.0
    for k in range(5, 200, 20):
        for part in wheels:
            outline = body.parts(sol.q[k])[part]
            heading = outline[1] - outline[0]
            if name in ("snakeboard", "robot"):
                u = velocity(sol, k, lambda q, part=part: body.parts(q)[part][:4].mean(0))
            else:  # one contact, which leaves the track
                u = velocity(sol, k, lambda q: body.tracks(q)[0])
            slip = np.linalg.norm(np.cross(*np.pad([heading, u], ((0, 0), (0, 3 - len(u))))))
            assert slip < 1e-7 * np.linalg.norm(heading) * (1 + np.linalg.norm(u))
            assert np.linalg.norm(u) > 1e-3


@pytest.mark.parametrize("R", [1.0, 0.6])
@pytest.mark.parametrize("name, part", [("rolling_disk", 0), ("rubber_ball", None)])
def test_what_rolls_does_not_slip_on_the_floor(name, part, R):
    """The point of the body that touches the floor is at rest, and the one above is twice as fast
    as the middle."""
    s = EVERY[name](R=R)
    sol = nh.integrate(s, nh.Reference(), h=0.1, steps=50)
    body = nh.bodies.body(s)
    for k in (0, 13, 37):
        if part is None:  # the point of the ball that is now below, carried along with it
            attitude, place = body.pose(sol.q[k])
            points = [attitude.T @ [0, 0, z] for z in (-R, R)]
            low, high = ((lambda q, p=p: body.pose(q)[0] @ p + body.pose(q)[1]) for p in points)
        else:
            spokes = solid_disk(body, sol.q[k])
            low, high = ((lambda q, p=p: solid_disk(body, q, p)) for p in spokes)
            place = np.array([*sol.q[k][:2], R])
        np.testing.assert_allclose(low(sol.q[k]), [*place[:2], 0], atol=1e-12)
        middle = np.linalg.norm(velocity(sol, k, lambda q: q[:2]))
        assert np.linalg.norm(velocity(sol, k, low)) < 1e-6 < middle
        assert np.linalg.norm(velocity(sol, k, high)) == pytest.approx(2 * middle, rel=1e-6)


def solid_disk(body, q, mixed=None):
    """The weights of two points of the rim by which the lowest and highest points are given; or,
    with such weights, the point they give at q."""
    rim, centre = body.parts(q)[0], np.array([q[0], q[1], body.value["R"]])
    frame = np.array([rim[0] - centre, rim[10] - centre])  # a quarter of a turn apart
    if mixed is not None:
        return centre + mixed @ frame
    down = np.array([0, 0, -1.0])
    return [sign * frame @ down / body.value["R"] for sign in (1, -1)]


@pytest.mark.parametrize("name", ["suslov", "ball", "ball_right", "rigid_body", "rubber_ball"])
def test_a_quaternion_and_its_negative_give_the_same_picture(name):
    sol = run(name)
    body, k = nh.bodies.body(sol.system), sol.system.k
    sign = np.array([1] * k + [-1] * 4)
    for q in sol.q[::20]:
        np.testing.assert_array_equal(body.seen(q), body.seen(sign * q))
        np.testing.assert_array_equal(body.tracks(q), body.tracks(sign * q))


@pytest.mark.parametrize("name", ["particle", "free_particle", "driven", "contact_oscillator"])
def test_the_disk_of_the_particle_lies_in_the_plane_of_its_velocities(name):
    sol = run(name)
    body = nh.bodies.body(sol.system)
    for q, v, t in zip(sol.q[::9], sol.v[::9], sol.t[::9], strict=True):
        _, disk, *_ = body.visible(q, t)
        np.testing.assert_allclose((disk - q) @ sol.system.A(q, t)[0], 0, atol=1e-12)
        n = np.linalg.svd(disk - q)[2][-1]  # the normal of the disk
        assert abs(n @ v) < 1e-9


def test_the_true_ellipse_of_kepler_carries_the_planet():
    turned = {"q0": [0.3, 0.8], "v0": [-0.9, 0.4]}
    for start in ({}, turned):
        sol = run("kepler", h=0.02, steps=400, **start)
        body = nh.bodies.body(sol.system)
        body.fit([sol])
        ellipse = body.fixed[1]
        away = np.linalg.norm(sol.q[:, None] - ellipse, axis=-1).min(1)
        assert away.max() < 0.02  # half of the way between two points of the ellipse
    for speed in (np.sqrt(2), 2):  # a parabola, a hyperbola
        body.fit([run("kepler", q0=[1, 0], v0=[0, speed])])
        assert np.isnan(body.fixed[1]).all()


@pytest.mark.parametrize("name", ["spherical_pendulum", "pendulum"])
def test_rods_keep_their_length(name):
    s = EVERY[name](l=1.5)
    sol = nh.integrate(s, nh.Reference(), h=0.1, steps=60)
    body = nh.bodies.body(s)
    for q in sol.q[::9]:
        rod, bob, *_ = body.parts(q)
        assert np.linalg.norm(rod[1] - rod[0]) == pytest.approx(1.5)
        np.testing.assert_allclose(bob[:-1].mean(0), rod[1], atol=1e-12)
    np.testing.assert_allclose(
        nh.bodies.body(EVERY["pendulum"]()).tracks(np.array([0.0])), [[0, -1]], atol=1e-15
    )


@pytest.mark.parametrize("s", [nh.systems.rigid_body(), nh.systems.suslov(I13=0.2, I23=0.1)])
def test_the_box_of_a_rigid_body_has_its_inertia(s):
    """A solid box of uniform density with these edges: its moments are as the system's."""
    body = nh.bodies.body(s)
    a, b, c = body.half
    moments = body.axes @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ body.axes.T
    I = s.M(np.array([1.0, 0, 0, 0]))
    np.testing.assert_allclose(moments / np.trace(moments), I / np.trace(I), atol=1e-12)


def test_a_solid_hides_what_is_behind_it():
    """Of the rings of a ball half is seen, of a box three faces; where the axis points away from
    the eye, it begins at the silhouette."""
    ball, box = nh.bodies.body(nh.systems.ball()), nh.bodies.body(nh.systems.suslov())
    for q in SO3.exp(np.random.default_rng(5).normal(size=(20, 3))):
        for ring in ball.visible(q, 0.0)[:3]:
            assert 0.4 < np.isfinite(ring[:, 0]).mean() < 0.6
            assert np.nanmin(ring @ ball.eye[2]) > -1e-9
        edges = box.visible(q, 0.0)[0]
        ends = edges.reshape(12, 3, 3)[:, :2]
        assert np.isfinite(ends).all((1, 2)).sum() == 9
    away = SO3.exp(np.pi * np.array([1.0, 0, 0]))  # e3 points down, away from the eye
    axis = box.visible(away, 0.0)[1]
    drawn = axis[np.isfinite(axis[:, 0])]
    covered = box.covers(drawn @ SO3.matrix(away), box.eye[2] @ SO3.matrix(away))
    assert 0 < len(drawn) < len(axis) and not covered.any()


def test_between_nodes_a_rotation_stays_one_and_turns_steadily():
    """Halfway between two nodes by half the angle, also where a method changes the sign of q."""
    sol = run("rigid_body", h=0.5, steps=20)
    t = np.linspace(0, 10, 101)
    q = between(sol, t)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(q[::5], sol.q, atol=1e-12)
    turns = SO3.log(SO3.multiply(SO3.inverse(q[:-1]), q[1:])).reshape(20, 5, 3)
    np.testing.assert_allclose(turns, turns[:, :1].repeat(5, 1), atol=1e-12)
    sol.q[7:] *= -1
    np.testing.assert_allclose(SO3.matrix(between(sol, t)), SO3.matrix(q), atol=1e-12)
    assert between(sol, 3.25).shape == (4,)


def test_between_nodes_a_sleigh_moves_along_its_blade():
    """On SE(2) the exact step of a motion with constant velocities is an arc of a circle."""
    s = nh.systems.sleigh_se2(a=0.0)
    sol = nh.integrate(s, nh.Reference(), v0=[1, 0, 1], h=1.0, steps=4)
    t = np.linspace(0, 4, 41)
    x, y, theta = between(sol, t).T
    np.testing.assert_allclose([x, y, theta], [np.sin(t), 1 - np.cos(t), t], atol=1e-9)


def test_between_nodes_coordinates_go_straight():
    sol = run("sleigh", nh.DLA(), h=0.5, steps=6)
    np.testing.assert_allclose(between(sol, 0.75), (sol.q[1] + sol.q[2]) / 2)
    np.testing.assert_array_equal(between(sol, [-1.0, 99.0]), sol.q[[0, -1]])


def test_quaternions_that_lost_their_length_are_drawn():
    sol = run("rigid_body", nh.RK4(), h=0.8, steps=60)
    sol.q[1:] *= np.linspace(1, 1 + 1e-4, len(sol.q) - 1)[:, None]
    body = nh.bodies.body(sol.system)
    np.testing.assert_allclose(np.linalg.norm(between(sol, sol.t), axis=1), 1)
    np.testing.assert_allclose(gaps(body.parts(sol.q[0])[0]), gaps(body.parts(sol.q[-1])[0]))


def test_a_body_without_lengths_grows_with_its_motion():
    short, long = (run("free_particle", steps=n) for n in (20, 200))
    body = nh.bodies.body(short.system)
    body.fit([short])
    small = body.zoom
    body.fit([long])
    assert body.zoom > 5 * small
    for name in ("snakeboard", "rolling_disk", "rubber_ball"):  # these have lengths
        sol = run(name, steps=200)
        body = nh.bodies.body(sol.system)
        body.fit([sol])
        assert body.zoom == 1
    assert solids.Particle.zoom == 1  # of the class: no body changes another


@pytest.mark.parametrize(
    "parts",
    [
        lambda q: q[:2] + np.array([[-0.2, 0], [0.2, 0]]),  # not in a list
        lambda q: [q[:2]],
        lambda q: [np.zeros((3, 4))],
        lambda q: [np.zeros((3, 2)), np.zeros((3, 3))],
        lambda q: [],
        lambda q: None,
        lambda q: ["outline"],
    ],
)
def test_wrong_outlines_are_refused(parts):
    with pytest.raises(ValueError, match=r"parts\(q\) gave .*\(k, 2\) each or \(k, 3\) each"):
        nh.animate(run("sleigh", nh.DLA()), body=parts)


def test_where_the_track_of_ones_own_body_goes():
    """Through (x, y), and (x, y, z) in space; without such coordinates the middle of a part."""
    sleigh, pendulum = run("sleigh", nh.DLA()), run("pendulum", nh.DLA())

    def tracks(sol, parts):
        return nh.bodies.body(sol.system, parts).tracks(sol.q)[0]

    np.testing.assert_array_equal(tracks(sleigh, lambda q: [np.zeros((3, 2))]), sleigh.q[:, :2])
    flat = np.column_stack([sleigh.q[:, :2], np.zeros(len(sleigh.q))])
    np.testing.assert_array_equal(tracks(sleigh, lambda q: [np.zeros((3, 3))]), flat)
    bob = tracks(pendulum, lambda q: [0.1 * nh.bodies.circle()[:-1] + [q[0], 1]])
    np.testing.assert_allclose(bob, np.column_stack([pendulum.q[:, 0], np.ones(61)]), atol=1e-12)
