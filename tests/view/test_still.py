"""Stills: small, quick, and they show the motion; and the files a stage is saved as."""

import io
import itertools
import shutil
import time

import numpy as np
import pytest
from PIL import Image

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.view import still

EVERY = {**catalogue, **on_groups, **machines}
STEPS = dict.fromkeys(machines, 0.05) | {"bicycle": 0.03, "rattleback": 0.01, "segway": 0.013}


@pytest.fixture(scope="module")
def film():
    sol = nh.integrate(nh.systems.snakeboard(), nh.DLA(), h=0.5, steps=40)
    return nh.animate(sol, exact=True, below=("angle", lambda s: s.q[:, 4]), frames=3)


def test_triangles_are_drawn_in_the_order_of_their_depth():
    """A far square, a near triangle on it, and one that is tilted through both."""
    square = [[(2, 2, 5), (18, 2, 5), (18, 18, 5)], [(2, 2, 5), (18, 18, 5), (2, 18, 5)]]
    near = [[(5.0, 5.0, 2.0), (15, 5, 2), (10, 15, 2)]]
    hits = still.raster(np.array(square + near, float), 20, 20)
    seen = np.full(400, -1)
    seen[hits.pixel] = hits.triangle
    seen = seen.reshape(20, 20)
    assert seen[7, 10] == 2 and seen[3, 3] in (0, 1) and seen[0, 0] == -1
    assert len(np.unique(hits.pixel)) == len(hits.pixel)
    assert (seen >= 0).sum() == 16 * 16
    assert (seen == 2).sum() == pytest.approx(50, abs=6)  # the area of the triangle
    np.testing.assert_allclose(hits.depth, np.where(hits.triangle == 2, 2, 5))


def test_the_still_shows_the_path_and_the_body_where_they_are(film):
    scene, t = film.scene, film.scene.moment
    picture = np.asarray(film._picture.convert("RGB"), float)
    view = scene.poster(0, t)
    camera = still.Camera(view, still.WIDTH, round(still.WIDTH / scene.aspect))
    main = scene.main(0)
    x, y, _ = camera.project(main.centre(t) + [0, 0, 0.52]).astype(int)  # the rotor's hub
    blue = picture[..., 2] - picture[..., 0]
    assert blue[y - 6 : y + 7, x - 6 : x + 7].max() > 100
    along = np.linspace(scene.times[0], t, 12)[1:-2]
    for x, y, _ in camera.project(main.centre(along)).astype(int):
        if 5 < x < camera.width - 5 and 5 < y < camera.height - 5:
            assert blue[y - 3 : y + 4, x - 3 : x + 4].max() > 40


def test_the_still_shows_earlier_poses_apart_from_each_other(film):
    scene, t = film.scene, film.scene.moment
    times = scene.earlier(0, t)
    assert 1 <= len(times) <= 3 and max(times) < t
    places = scene.main(0).centre(np.array([*times, t]))
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    assert apart[~np.eye(len(places), dtype=bool)].min() > 0.9 * scene.size(0)
    rest = nh.integrate(nh.systems.snakeboard(), nh.DLA(), v0=[0, 0, 0, 1, 0], h=0.5, steps=10)
    assert nh.animate(rest).scene.earlier(0, 4.0) == []


def test_the_telling_moment_is_where_a_run_is_far_from_the_true_motion():
    sol = nh.integrate(nh.systems.kepler(), nh.DLA(), h=0.1, steps=240)
    film = nh.animate(sol, exact=True)
    ghost, own = film.scene.actors
    apart = lambda t: np.linalg.norm(ghost.centre(t) - own.centre(t))  # noqa: E731
    assert apart(film.scene.moment) > 0.9 * max(map(apart, np.linspace(0, 24, 200)))


@pytest.mark.parametrize("name", EVERY)
def test_sizes(name):
    """A stored animation adds at most 120 kB, and its still is below 60."""
    sol = nh.integrate(EVERY[name](), nh.DLA(), h=STEPS.get(name, 0.1), steps=80)
    film = nh.animate(sol, below="energy")
    bundle = film._repr_mimebundle_()
    assert len(film.png) < 60_000
    assert sum(map(len, bundle.values())) < 120_000


def seconds(work):
    """The processor time of a function without arguments."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def arrays():
    """Work of NumPy on arrays of a body's size, which takes 0.09 s where a still takes 0.09 to
    0.14 s.  Large arrays would not do: what they cost is up to the memory that a process has kept,
    and sorting them takes a third of the time on some processors."""
    x = np.random.default_rng(0).random((60, 60))
    for _ in range(4400):
        y = np.cumsum(np.sqrt(x * x + 1), 1)
        np.where(y > 30, y, 0.0).argmax(1)


@pytest.mark.parametrize("name", ["ball_on_turntable", "bicycle", "quartic", "snakeboard"])
def test_a_still_is_quick(name):
    """At most 0.3 s on the machine of ``arrays``; the first two take longest."""
    sol = nh.integrate(EVERY[name](), nh.DLA(), h=STEPS.get(name, 0.1), steps=80)
    scene = nh.animate(sol, exact=True, below="energy").scene
    pairs = [(seconds(lambda: still.webp(still.picture(scene))), seconds(arrays)) for _ in range(3)]
    taken, measure = map(min, zip(*pairs, strict=True))
    assert taken < 2.3 * measure, pairs


def test_rounding_is_drawn_as_a_flat_line(monkeypatch):
    """The energy of this run is off by 3e-15: that is no curve to look at."""
    sol = nh.integrate(nh.systems.ball_right(), nh.DLA(), h=0.1, steps=40)
    assert 0 < np.ptp(sol.energy()) < 1e-13
    ends = []
    monkeypatch.setattr(still, "ticks", lambda *x: ends.append(x) or ([], ""))
    still.picture(nh.animate(sol, below="energy").scene)
    ((low, high),) = ends
    assert low < 0.99 * sol.energy()[0] < 1.01 * sol.energy()[0] < high


def test_round_numbers_beside_a_curve():
    assert still.ticks(0, 10) == ([(0.0, "0"), (5.0, "5"), (10.0, "10")], "")
    assert [x for _, x in still.ticks(-0.93, 0.14)[0]] == ["-0.5", "0.0"]
    marks, base = still.ticks(7.99981, 8.00004)
    assert base == "7.9999" and [x for _, x in marks] == ["0", "+1e-04"]
    assert [x for _, x in still.ticks(-3e-9, 3e-9)[0]] == ["-2e-09", "0e+00", "2e-09"]


# ---------------------------------------------------------------------------- files


def test_a_stage_is_saved_as_a_page_a_film_and_a_picture(film, tmp_path):
    page = film.save(tmp_path / "a.html").read_text()
    assert page.startswith("<!doctype html>") and "http" not in page.replace("http-equiv", "")
    assert len(page) < 150_000
    picture = Image.open(io.BytesIO(film.save(tmp_path / "a.png").read_bytes()))
    assert picture.size[0] == still.WIDTH
    gif = Image.open(film.save(str(tmp_path / "a.gif")))
    assert gif.n_frames == 3
    frames = []
    for k in range(3):
        gif.seek(k)
        frames.append(np.asarray(gif.convert("RGB"), float))
    assert all(np.abs(a - b).max() > 60 for a, b in itertools.pairwise(frames))


def test_what_cannot_be_saved_is_said(film, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"path = '.*a.avi' must end in one of .html, .gif, .mp4"):
        film.save(tmp_path / "a.avi")
    with pytest.raises(ValueError, match=r"path = '.*a.html': there is no folder '.*gone'"):
        film.save(tmp_path / "gone" / "a.html")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"ffmpeg, .* is not on this computer; .*motion.gif"):
        film.save(tmp_path / "a.mp4")


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_a_film_for_other_players(film, tmp_path):
    assert film.save(tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


def test_in_a_script_it_says_how_to_see_it(film):
    assert '.save("motion.html")' in repr(film) and repr(film).startswith("[motion: ")
    assert film._repr_mimebundle_()["text/plain"] == repr(film)
    assert "play:false" in film.html() and "play:true" in film.started().html(True)
    assert film.plays is False and film.started().plays is True
