"""The bodies of the machines: on the ground, and rolling where they point."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import machines

RUNS = {"bicycle": (0.03, 60), "rattleback": (0.01, 60), "segway": (0.02, 40)}


@pytest.fixture(scope="module")
def runs():
    found = {}
    for name, make in machines.items():
        h, steps = RUNS.get(name, (0.05, 60))
        found[name] = nh.integrate(make(), nh.Reference(), h=h, steps=steps, progress=False)
    return found


def test_wheels_of_the_bicycle_stand_on_the_ground_and_roll_where_they_point(runs):
    sol = runs["bicycle"]
    body = nh.bodies.body(sol.system)
    assert np.abs(sol.q[:, 3]).max() > 0.05  # it leans
    tracks = body.tracks(sol.q)
    assert np.abs(np.array(tracks)[..., 2]).max() < 1e-9
    for k in (5, 20, 40):
        for part, track in zip(body.parts(sol.q[k]), tracks, strict=False):
            rim = part[:40]
            centre = rim.mean(0)
            radius = np.linalg.norm(rim[0] - centre)
            axle = np.linalg.svd(rim - centre)[2][2]
            assert np.linalg.norm(track[k] - centre) == pytest.approx(radius, abs=1e-9)
            moved = track[k + 1] - track[k - 1]
            heading = np.cross(axle, [0, 0, 1])
            cosine = abs(moved @ heading) / np.linalg.norm(moved) / np.linalg.norm(heading)
            assert cosine == pytest.approx(1, abs=1e-5)


def test_a_point_of_the_rim_that_touches_the_ground_is_at_rest(runs):
    """Disk and Segway: the spokes turn as fast as the wheel rolls."""
    for name, wheels in (("tilted_disk", (0,)), ("segway", (0, 1)), ("bicycle", (0, 1))):
        sol = runs[name]
        s, body = sol.system, nh.bodies.body(sol.system)
        q, v, e = sol.q[11], sol.v[11], 1e-6
        for part in wheels:
            before, here, after = (body.parts(s.move(q, v, d))[part] for d in (-e, 0, e))
            spokes = slice(41, None)  # what turns with the wheel; the rim's points come first
            middle = np.nanmean(here[:40], 0)
            tips = here[spokes][np.isfinite(here[spokes]).all(1)]
            speed = (after[spokes] - before[spokes]) / (2 * e)
            speed = speed[np.isfinite(here[spokes]).all(1)]
            far = np.linalg.norm(tips - middle, axis=1) > 1e-9
            arms, motion = tips[far] - middle, speed[far]
            centre = speed[~far].mean(0)
            radius = np.linalg.norm(arms[0])
            low = _lowest(arms, radius)
            at_rest = centre + low @ (motion - centre)
            assert np.linalg.norm(at_rest) < 1e-6 * np.linalg.norm(centre) + 1e-6


def _lowest(arms, radius):
    """The weights of the spokes' tips that give the lowest point of the rim."""
    axle = np.cross(arms[0], arms[1])
    axle /= np.linalg.norm(axle)
    down = np.array([0, 0, -1]) + axle[2] * axle
    return np.linalg.lstsq(arms.T, radius * down / np.linalg.norm(down), rcond=None)[0]


def test_rattleback_touches_the_floor_with_its_lowest_point(runs):
    sol = runs["rattleback"]
    body = nh.bodies.body(sol.system)
    a, b, c = (body.value[k] for k in "abc")
    rng = np.random.default_rng(1)
    u = rng.normal(size=(4000, 3))
    u = np.array([a, b, c]) * u / np.linalg.norm(u, axis=1, keepdims=True)
    for q in sol.q[::20]:
        R, centre = body.pose(q)
        low = (centre + u @ R.T)[:, 2].min()
        assert 0 <= low < 1e-3


@pytest.mark.parametrize("name", ["two_wheeled_robot", "segway"])
def test_machines_are_played(runs, name):
    film = nh.animate(runs[name])
    assert len(film.png) > 5000
