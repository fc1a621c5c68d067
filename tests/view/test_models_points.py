"""Bodies of particles, oscillators, pendula, planets and rigid bodies: each part is where the
system's own equations put it."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.mechanics.groups import SO3
from nhlab.view import shapes, stage, still
from nhlab.view.models import MODELS, linkage, model, points, spinning
from nhlab.view.stage import columns_at, columns_of, poses

EVERY = {**catalogue, **on_groups, **machines}
OWN = [
    *("particle", "free_particle", "driven", "contact_oscillator", "nonreversible", "quartic"),
    *("pendulum", "spherical_pendulum", "kepler", "transmission", "rigid_body", "suslov"),
]


def run(name, method=None, h=0.1, steps=60, **start):
    return nh.integrate(EVERY[name](), method or nh.DLA(), h=h, steps=steps, **start)


def frames_at(sol, t):
    """The poses of all frames of a run's model at times t."""
    made = model(sol.system, [sol])
    found = poses(made.frames, columns_of(sol, made, t))
    return made, found


def velocity_of(sol, frame, point, k, e=1e-5):
    """The velocity at node k of a point that moves with a frame, along the run's velocity."""
    made, move = model(sol.system, [sol]), sol.system.move
    q = np.array([move(sol.q[k], sol.v[k], d) for d in (-e, e)])
    names = [str(s) for s in sol.system.q]
    columns = columns_at(made, names, q, sol.t[k] + np.array([-e, e]))
    R, at = poses(made.frames, columns)[frame]
    places = R @ np.asarray(point) + at
    return (places[1] - places[0]) / (2 * e)


def test_every_system_of_the_catalogue_has_a_body():
    """Those of this file as solids; the others as solids or by their outlines."""
    names = [make().name for make in EVERY.values()]
    assert {EVERY[name]().name for name in OWN} <= {*MODELS}
    assert {*names} <= {*MODELS}


# ---------------------------------------------------------------------------- particles


@pytest.mark.parametrize("name", OWN[:5])
def test_the_disc_of_a_particle_is_the_plane_of_its_velocities(name):
    """Its middle is q, its normal lies along A(q, t), and the run's velocities lie in it."""
    sol = run(name)
    made, found = frames_at(sol, sol.t)
    R, at = found["D"]
    np.testing.assert_allclose(at, sol.q, atol=1e-9)
    rows = np.array([sol.system.A(q, t)[0] for q, t in zip(sol.q, sol.t, strict=True)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(R[:, :, 2], rows, atol=1e-9)
    v = sol.v_projected
    assert np.abs(np.einsum("ki,ki->k", R[:, :, 2], v)).max() < 1e-9 < np.abs(v).max()
    tilt = np.degrees(np.arccos(np.clip(np.einsum("i,ki->k", R[0, :, 2], R[:, :, 2]), -1, 1)))
    assert tilt.max() > 30  # the plane is not the same everywhere


def test_the_disc_of_the_driven_particle_knows_the_time():
    """z' = (y + b sin t) x': at the same place the plane is another at another time."""
    sol = run("driven")
    made = model(sol.system, [sol])
    q = np.repeat(sol.q[:1], 2, 0)
    columns = columns_at(made, "xyz", q, np.array([0.0, np.pi / 2]))
    normal = poses(made.frames, columns)["D"][0][:, :, 2]
    slopes = -normal[:, 0] / normal[:, 2]
    np.testing.assert_allclose(slopes, [1.0, 1.2], atol=1e-9)


@pytest.mark.parametrize("name", OWN[:5])
def test_the_pole_of_a_particle_stands_on_the_floor_and_reaches_it(name):
    sol = run(name)
    made, found = frames_at(sol, sol.t)
    foot = found["foot"][1]
    np.testing.assert_allclose(foot[:, :2], sol.q[:, :2], atol=1e-9)
    np.testing.assert_allclose(foot[:, 2], made.floor.height, atol=1e-9)
    (pole,) = [s for f, s in made.parts if f == "foot" and s.get("second")]
    heights = shapes.mesh(pole).points[..., 2] + made.floor.height
    assert heights.max() > sol.q[:, 2].max() and heights.min() == pytest.approx(made.floor.height)
    marks = np.unique(heights.round(6))[1:-1]  # the colour changes at whole heights
    np.testing.assert_allclose(marks, np.round(marks), atol=1e-6)
    disc = max(shapes.mesh(s).points[..., 0].max() for f, s in made.parts if f == "D")
    assert sol.q[:, 2].min() - disc > made.floor.height


@pytest.mark.parametrize("name", ["contact_oscillator", "nonreversible"])
def test_beads_on_rails_show_the_coordinates(name):
    sol = run(name)
    _, found = frames_at(sol, sol.t)
    for k, letter in enumerate("xyz"):
        at = found[f"bead {letter}"][1]
        np.testing.assert_allclose(at[:, k], sol.q[:, k], atol=1e-9)
        assert np.ptp(np.delete(at, k, 1), 0).max() < 1e-12


def test_beads_and_beam_of_the_quartic_oscillator():
    sol = run("quartic")
    made, found = frames_at(sol, sol.t)
    for k in (1, 2, 3):
        at = found[f"bead {k}"][1]
        np.testing.assert_allclose(
            at[:, 0] - at[0, 0], sol.q[:, 3 + k] - sol.q[0, 3 + k], atol=1e-9
        )
        np.testing.assert_allclose(at[:, 1], sol.q[:, k], atol=1e-9)
        ball = next(s for f, s in made.parts if f == f"bead {k}")
        assert at[0, 2] == pytest.approx(shapes.mesh(ball).points[..., 2].max())
    beam = found["beam"][1][:, 2]
    np.testing.assert_allclose(beam - beam[0], sol.q[:, 0] - sol.q[0, 0], atol=1e-9)
    assert beam.min() > 0


# ---------------------------------------------------------------------------- pendula, planets


def test_the_bob_of_the_pendulum_hangs_at_its_length():
    sol = nh.integrate(nh.systems.pendulum(l=1.7), nh.DLA(), h=0.1, steps=60)
    _, found = frames_at(sol, sol.t)
    bob = found["bob"][1] - found["pivot"][1]
    theta = sol.q[:, 0]
    expected = 1.7 * np.stack([np.sin(theta), 0 * theta, -np.cos(theta)], -1)
    np.testing.assert_allclose(bob, expected, atol=1e-9)


@pytest.mark.parametrize("method", [nh.DLA(), nh.RK4()])
def test_the_rod_of_the_spherical_pendulum_ends_at_its_bob(method):
    """Also if the method leaves the sphere, as RK4 does: then the rod is that much longer."""
    sol = run("spherical_pendulum", method, h=0.25)
    _, found = frames_at(sol, sol.t)
    bob = found["bob"][1] - found["joint"][1]
    np.testing.assert_allclose(bob, sol.q, atol=1e-9)
    R, at = found["rod"]
    np.testing.assert_allclose(R @ [0, 0, -1] + at, found["bob"][1], atol=1e-9)
    length = np.linalg.norm(bob, axis=1)
    assert (np.abs(length - 1).max() < 1e-9) == (method == nh.DLA())


def test_a_direction_opposite_to_the_start_is_reached_too():
    for way in ((0, 0, -1.0), (0, 0, 2.0), (1.0, 0, 0), (0.3, -0.2, -0.9)):
        frames = {"turned": stage.Frame("world", points.turn_to("x", "y", "z"))}
        columns = {name: np.array([value]) for name, value in zip("xyz", way, strict=True)}
        ((R,), _) = stage.poses(frames, columns)["turned"]
        np.testing.assert_allclose(R[:, 2], np.array(way) / np.linalg.norm(way), atol=1e-9)


def test_the_ellipse_of_kepler_is_the_true_orbit():
    sol = run("kepler", nh.Reference(), h=0.05, steps=130)
    curve, period = points.kepler_ellipse(sol.q[0], sol.v[0], 1.0)
    assert period == pytest.approx(2 * np.pi)
    r = np.linalg.norm(curve, axis=1) + np.linalg.norm(curve + [1.2, 0], axis=1)
    np.testing.assert_allclose(r, 2, atol=1e-9)  # the other focus is at -2 a e
    r = np.linalg.norm(sol.q, axis=1) + np.linalg.norm(sol.q + [1.2, 0], axis=1)
    np.testing.assert_allclose(r, 2, atol=1e-7)
    assert points.kepler_ellipse(np.array([1.0, 0]), np.array([0, 1.5]), 1.0) is None


def fan_area(made, found):
    """The area of the triangles swept, at all times."""
    total = 0
    for k in range(points.SECTORS):
        R = found[f"fan {k}"][0]
        total = total + np.abs(R[:, 0, 0] * R[:, 1, 1] - R[:, 0, 1] * R[:, 1, 0]) / 2
    return total


def test_the_wedge_of_kepler_is_the_area_swept():
    """It joins sun and planet, is as large as angular momentum times time, always the same once it
    is complete, and smaller by the chords alone."""
    sol = run("kepler", nh.Reference(), h=0.01, steps=700)
    made, found = frames_at(sol, sol.t)
    R = found["fan 0"][0]
    np.testing.assert_allclose(R @ [0, 1, 0] + [0, 0, 0], found["planet"][1], atol=1e-9)
    span = points.SWEPT * 2 * np.pi
    late = sol.t > span
    area = fan_area(made, found)[late]
    (x, y), (vx, vy) = sol.q[0], sol.v[0]
    np.testing.assert_allclose(area, (x * vy - y * vx) * span / 2, rtol=0.06)
    outer = found["fan 0"][0] @ [1, 0, 0], found["fan 1"][0] @ [0, 1, 0]
    np.testing.assert_allclose(*outer, atol=1e-9)  # one triangle begins where the other ends


# ---------------------------------------------------------------------------- transmission


def test_the_wheel_of_the_transmission_rolls_on_the_turntable():
    """Wheel and turntable have the same velocity where they touch, as have the gears and racks: so
    x' = -sin y z' is what the mechanism does.  The wheel slides along its shaft alone."""
    sol = run("transmission", nh.Reference(), h=0.2, steps=80, v0=(0, 2.5, 1.0))
    moved = 0
    for k in (11, 33, 57):
        x, y, z = sol.q[k]
        s, r = np.sin(y), linkage.WHEEL
        _, found = frames_at(sol, sol.t[[k]])
        R, at = (a[0] for a in found["wheel"])
        low = velocity_of(sol, "wheel", R.T @ [0, 0, -r], k)
        R, _ = (a[0] for a in found["table"])
        table = velocity_of(sol, "table", R.T @ [s, 0, linkage.TABLE], k)
        np.testing.assert_allclose(low[1:], table[1:], atol=1e-7)
        np.testing.assert_allclose(at - [0, 0, r], [s, 0, linkage.TABLE], atol=1e-9)
        moved = max(moved, abs(table[1]))
        R, _ = (a[0] for a in found["shaft"])
        top = velocity_of(sol, "shaft", R.T @ [0, 0, r], k)
        np.testing.assert_allclose(velocity_of(sol, "rack x", (0, 0, 0), k), top, atol=1e-7)
        R, _ = (a[0] for a in found["table"])
        rim = velocity_of(sol, "table", R.T @ [0, -1, 0], k)
        np.testing.assert_allclose(velocity_of(sol, "rack z", (0, 0, 0), k), rim, atol=1e-7)
    assert moved > 0.1


def test_the_pendulum_of_the_transmission_holds_the_wheel_below_its_bob():
    sol = run("transmission")
    _, found = frames_at(sol, sol.t)
    bob, yoke = found["bob"][1], found["yoke"][1]
    np.testing.assert_allclose(bob[:, 0], yoke[:, 0], atol=1e-9)
    np.testing.assert_allclose(linkage.PIVOT - bob[:, 2], np.cos(sol.q[:, 1]), atol=1e-9)
    for name, way, column in (("spring z", 0, 2), ("spring x", 1, 0)):
        R, at = found[name]
        end = (R @ [1, 0, 0] + at)[:, way]
        np.testing.assert_allclose(end - end[0], sol.q[:, column] - sol.q[0, column], atol=1e-9)
        assert np.linalg.norm(R[:, :, 0], axis=1).min() > 0.3


def test_teeth_of_gears_and_racks_have_one_pitch():
    pitch = 2 * np.pi / linkage.TEETH
    assert linkage.TEETH * linkage.WHEEL == pytest.approx(round(linkage.TEETH * linkage.WHEEL))
    bar = linkage.rack(1.0, pitch, 0.1, 0.06)
    tips = bar[:-2][bar[:-2, 1] > 0, 0]
    np.testing.assert_allclose(np.diff(tips[1::2]), pitch)
    wheel = linkage.gear(1.0, linkage.TEETH, 0.1)
    assert np.hypot(*wheel[np.abs(np.arctan2(*wheel.T[::-1])) < 0.3 * pitch].T).max() < 1


# ---------------------------------------------------------------------------- rigid bodies


@pytest.mark.parametrize("name", ["rigid_body", "suslov"])
def test_a_rigid_body_turns_as_the_group_element_says(name):
    sol = run(name)
    _, found = frames_at(sol, sol.t)
    R, at = found["body"]
    np.testing.assert_allclose(R, SO3.matrix(sol.q), atol=1e-9)
    np.testing.assert_allclose(at, np.broadcast_to([0, 0, spinning.CENTRE], at.shape), atol=1e-12)
    moments, axes = spinning.principal(sol.system)
    M = sol.system.M(sol.q[0])
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, M, atol=1e-9)
    assert np.linalg.det(axes) == pytest.approx(1)
    np.testing.assert_allclose(found["box"][0], R @ axes, atol=1e-9)


def test_the_box_has_the_moments_of_the_body():
    """A solid box with half edges a, b, c has the moments m (b^2 + c^2)/3 and so on."""
    moments = np.array([1.0, 2.0, 2.5])
    a, b, c = spinning.half_edges(moments) ** 2
    found = np.array([b + c, a + c, a + b])
    np.testing.assert_allclose(found / found[0], moments / moments[0], atol=1e-9)


@pytest.mark.parametrize("v0", [(0.1, 1, 0.1), (1, 0.2, 0.1), (0.1, 0.3, -1), (-1, -0.4, 0.2)])
def test_the_momentum_stays_on_the_polhode(v0):
    """The needle's tip, fixed in space, is always above the wire that turns with the body."""
    sol = run("rigid_body", nh.Reference(), h=0.2, steps=100, v0=v0)
    moments, axes = spinning.principal(sol.system)
    curve = spinning.polhode(moments, axes.T @ sol.p[0])
    np.testing.assert_allclose(np.linalg.norm(curve, axis=1), 1, atol=2e-3)
    way = SO3.matrix(sol.q[0]) @ sol.p[0] / np.linalg.norm(sol.p[0])
    _, found = frames_at(sol, sol.t)
    seen = np.einsum("kij,i->kj", found["box"][0], way)
    nearest = np.linalg.norm(seen[:, None] - curve, axis=-1).min(1)
    gap = np.linalg.norm(np.diff(curve, axis=0), axis=1).max()
    assert nearest.max() < 0.55 * gap
    assert len(np.unique(np.linalg.norm(seen[:, None] - curve, axis=-1).argmin(1))) > 20


def test_a_steady_rotation_has_no_polhode():
    assert spinning.polhode(np.array([1.0, 2.0, 2.5]), np.array([1.0, 0, 0])) is None
    assert spinning.polhode(np.array([2.0, 2.0, 2.0]), np.array([1.0, 0.5, 0.2])) is None
    sol = run("rigid_body", v0=[0, 0, 1.0])
    assert nh.animate(sol).png


def test_the_wheels_of_suslov_roll_on_their_sphere():
    """Where they touch it they are at rest, along the wheel because it rolls, and across it because
    the body does not turn about e3; a free body's wheel would slip there."""
    for name, slips in (("suslov", False), ("rigid_body", True)):
        sol = run(name, nh.Reference(), h=0.2, steps=40)
        if slips:
            sol.system.name = "Suslov"
        for k in (5, 21, 38):
            for wheel, side in (("plus", 1), ("minus", -1)):
                _, found = frames_at(sol, sol.t[: k + 1])
                R = found[wheel][0][-1]
                out = side * found["body"][0][-1][:, 0]
                speed = rolling(sol, wheel, R.T @ (spinning.WHEEL * out), k)
                across = speed @ found["body"][0][-1][:, 1]
                along = speed @ found["body"][0][-1][:, 2]
                assert abs(along) < 1e-5
                assert (abs(across) > 1e-3) == slips


def rolling(sol, frame, point, k, e=1e-5):
    """As ``velocity_of``, for a wheel whose angle is summed up along the run."""
    made = model(sol.system, [sol])
    move = sol.system.move
    q = np.array([move(sol.q[k], sol.v[k], d) for d in (-e, 0, e)])
    columns = dict(zip([str(s) for s in sol.system.q], q.T, strict=True))
    now = made.columns(sol.q[: k + 1], sol.t[: k + 1])["roll"][-1]
    roll = made.columns(q, sol.t[k] + np.array([-e, 0, e]))["roll"]
    columns["roll"] = roll - roll[1] + now
    R, at = poses(made.frames, columns)[frame]
    places = R @ point + at
    return (places[2] - places[0]) / (2 * e)


# ---------------------------------------------------------------------------- all


@pytest.mark.parametrize("name", OWN)
def test_sizes_and_frames(name):
    """What a page stores of body and motion, without still and player."""
    film = nh.animate(run(name, steps=120))
    assert len(film.packed) < 30_000
    (actor,) = film.scene.actors
    assert len(actor.model.frames) < 39
    mesh, _ = actor.model.mesh(True)
    assert len(mesh.points) < 4000 and np.isfinite(mesh.points).all()


@pytest.mark.parametrize("name", OWN)
def test_the_still_sees_the_whole_body_and_what_holds_it(name):
    """No part of body or stand is cut off."""
    film = nh.animate(run(name, steps=80))
    scene, t = film.scene, film.scene.moment
    view = scene.poster(0, t)
    camera = still.Camera(view, still.WIDTH, round(still.WIDTH / scene.aspect))
    corners = still.placed(scene.actors[0], t, True).points.reshape(-1, 3)
    x, y, depth = camera.project(corners).T
    assert depth.min() > 0
    room = 0.02 * camera.width
    assert -room < x.min() and x.max() < camera.width + room
    assert -room < y.min() and y.max() < camera.height + room


def test_a_marker_for_a_system_of_ones_own():
    """A cart that heads along theta, a puck without a heading, a ball on a pole in space."""
    x, y, z, theta, vx, vy, vz, vtheta = nh.symbols("x y z theta vx vy vz vtheta")
    for q, v in (
        ((x, y, theta), (vx, vy, vtheta)),
        ((x, y), (vx, vy)),
        ((x, y, z), (vx, vy, vz)),
        ((x, y, z, theta), (vx, vy, vz, vtheta)),
    ):
        own = nh.System(q, v, sum(s**2 for s in v) / 2, name="mine")
        start = [0.0] * len(q), [1.0, 0.5, 0.7, 0.2][: len(q)]
        sol = nh.integrate(own, nh.DLA(), *start, h=0.1, steps=20)
        made = points.marker(own, [sol])
        (actor,) = nh.animate(sol, body=made).scene.actors
        np.testing.assert_allclose(actor.centre(sol.t)[:, :2], sol.q[:, :2], atol=1e-9)
        if theta in q:
            heading = poses(made.frames, actor.at(sol.t))["marker"][0][:, :2, 0]
            angle = sol.q[:, q.index(theta)]
            np.testing.assert_allclose(heading, np.stack([np.cos(angle), np.sin(angle)], -1))
    a, va = nh.symbols("a va")
    bare = nh.System((a,), (va,), va**2 / 2, name="bare")
    sol = nh.integrate(bare, nh.DLA(), [0.0], [1.0], h=0.1, steps=5)
    with pytest.raises(ValueError, match=r"no body is known .* have no x and y.*pass body="):
        points.marker(bare, [sol])
