"""Bodies: they keep their shape, stand where the constraints say and roll without slipping."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.mechanics.groups import SO3
from nhlab.view.body import between, read_outlines

EVERY = {**catalogue, **on_groups, **machines}
OUTLINED = "sleigh", "sleigh_se2", "robot", "snakeboard", "car_with_trailer", "roller_racer"


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


@pytest.mark.parametrize("name", OUTLINED)
def test_outlines_of_a_body_keep_their_shape(name):
    sol = run(name)
    body = nh.bodies.body(sol.system)
    count = 5 if name == "robot" else None  # on its wheels a mark rolls
    poses = [[part[:count] for part in read_outlines(body.parts(q))] for q in sol.q[::7]]
    first, *others = poses
    moved = 0.0
    for parts in others:
        for a, b in zip(first, parts, strict=True):
            moved = max(moved, np.nanmax(np.abs(a - b)))
            np.testing.assert_allclose(gaps(a), gaps(b), atol=1e-9)
    assert moved > 0.1
    for track, here in zip(body.tracks(sol.q), body.tracks(sol.q[7]), strict=True):
        np.testing.assert_allclose(track[7], here, atol=1e-12)


def test_outlines_that_nobody_drew_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"no outlines are known for .*; pass body=, a function"):
        nh.bodies.body(nh.systems.kepler())


@pytest.mark.parametrize("name", ["snakeboard", "sleigh", "sleigh_se2", "robot"])
def test_wheels_and_blades_move_where_they_point_to(name):
    """Along the motion the middle of each moves in the direction of its outline."""
    wheels = {"snakeboard": (2, 4), "robot": (1, 2, 3)}.get(name, (1,))
    sol = run(name, steps=200)
    body = nh.bodies.body(sol.system)
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
    np.testing.assert_allclose(np.linalg.norm(between(sol, sol.t), axis=1), 1)
    assert len(nh.animate(sol).png) > 5000


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
