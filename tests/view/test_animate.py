"""Motions that are played: what is shown at time t is the motion at time t, and nothing jumps."""

import io
import itertools
import time

import numpy as np
import pytest
from PIL import Image

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, on_groups
from nhlab.view.body import between
from nhlab.view.scene import GHOST
from nhlab.view.widgets import Panel

EVERY = {**catalogue, **on_groups}


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.image.value)).convert("L"), float)


def runs(name, *methods, h=0.1, steps=40, **start):
    return [nh.integrate(EVERY[name](), m, h=h, steps=steps, **start) for m in methods]


def curves(ax):
    """What is drawn on axes: the data (k, 2) of each line that has any."""
    drawn = [line.get_xydata() for line in ax.lines if line.get_visible()]
    return [data for data in drawn if len(data)]


def limits(panel):
    return [(ax.get_xlim(), ax.get_ylim()) for ax in panel.picture.axes]


@pytest.mark.parametrize("name", EVERY)
def test_every_system_is_played_within_axes_that_stand_still(name):
    sols = runs(name, nh.DLA(), nh.Reference())
    p = nh.animate(*sols, below="energy", frames=40)
    assert isinstance(p, Panel)
    before, first = pixels(p), limits(p)
    for tick in range(0, 41, 4):
        p.play.value = tick
        assert p.message.value == ""
        assert limits(p) == first
        for ax in p.picture.axes[:2]:
            (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
            for x, y in (curve.T for curve in curves(ax)):
                assert left <= np.nanmin(x) and np.nanmax(x) <= right, name
                assert low <= np.nanmin(y) and np.nanmax(y) <= high, name
    assert p.controls["t"].value == pytest.approx(sols[0].t[-1])
    assert np.abs(pixels(p) - before).max() > 100


def test_the_track_ends_where_the_body_is_and_the_future_is_hidden():
    (sol,) = runs("sleigh", nh.DLA(), h=0.4)
    at = (nh.animate(sol), nh.animate(sol, future=True))
    for asked in (0.0, 2.5, sol.t[-1]):
        for p, future in zip(at, (False, True), strict=True):
            p.set(t=asked)
            t = p.values["t"]  # a step of the slider
            (x, y, _), done = between(sol, t), sol.q[sol.t <= t, :2]
            ahead, *shown = curves(p.picture.ax) if future else (None, *curves(p.picture.ax))
            track, body = shown
            np.testing.assert_allclose(track[-1], (x, y), atol=1e-12)
            for node in done:
                assert np.abs(track - node).max(1).min() < 1e-12
            for node in sol.q[sol.t > t, :2]:
                assert np.abs(track - node).max(1).min() > 1e-3
            assert np.nanmax(np.linalg.norm(body - [x, y], axis=1)) < 1
            if future:
                np.testing.assert_allclose(ahead[-2], sol.q[-1, :2], atol=1e-12)


def test_methods_over_the_exact_motion_as_a_ghost():
    dla, rk4, true = runs("kepler", nh.DLA(), nh.RK4(), nh.Reference(), h=0.2)
    p = nh.animate(dla, rk4, exact=true)
    (ax,) = p.picture.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "true motion",
        "DLA",
        "RK4",
    ]
    p.set(t=5.0)
    ellipse, *pairs = curves(ax)
    assert len(pairs) == 6
    for sol, track, planet in zip((true, dla, rk4), pairs[::2], pairs[1::2], strict=True):
        here = between(sol, 5.0)
        np.testing.assert_allclose(track[-1], here, atol=1e-12)
        np.testing.assert_allclose(np.nanmean(planet[:-2], 0), here, atol=1e-6)
    beside = nh.animate(dla, rk4, exact=true, overlay=False)
    assert len(beside.picture.axes) == 2
    titles = [[x.get_text() for x in a.get_legend().get_texts()] for a in beside.picture.axes]
    assert titles == [["true motion", "DLA"], ["true motion", "RK4"]]
    assert len(nh.animate(dla, rk4, overlay=True).picture.axes) == 1


def test_a_motion_is_called_what_it_is():
    dla, rk4, true = runs("kepler", nh.DLA(), nh.RK4(), nh.Reference(), h=0.2)
    ghost = nh.animate(dla, exact=rk4).picture.ax.get_legend().get_texts()
    assert [text.get_text() for text in ghost] == ["RK4", "DLA"]
    assert nh.animate(true).picture.ax.get_title() == "true motion"
    assert nh.animate(dla).picture.ax.get_title() == "DLA"
    same = nh.animate(dla, exact=dla).picture.ax.get_legend().get_texts()
    assert [text.get_text() for text in same] == ["DLA (ghost)", "DLA"]


@pytest.mark.parametrize("name", ["particle", "driven", "rubber_ball", "spherical_pendulum"])
def test_exact_true_is_the_motion_from_the_same_start(name):
    dla, true = runs(name, nh.DLA(), nh.Reference())
    assert_same_ghost(nh.animate(dla, exact=true), nh.animate(dla, exact=True), 4.0)


def assert_same_ghost(a, b, t):
    """The tracks of the two ghosts end at the same place."""
    places = []
    for p in (a, b):
        p.set(t=t)
        ghost = next(line for line in p.picture.ax.lines if line.get_color() == GHOST)
        places.append(ghost.get_xydata()[-1])
    np.testing.assert_allclose(*places, atol=1e-8)


def test_a_reading_runs_in_step_below():
    dla, rk4 = runs("robot", nh.DLA(), nh.RK4())
    p = nh.animate(dla, rk4, exact=True, below="energy")
    upper, lower = p.picture.axes
    for t in (0.0, 1.7, 4.0):
        p.set(t=t)
        drawn = curves(lower)
        for sol, curve, point in zip((dla, rk4), drawn[2::2], drawn[3::2], strict=True):
            n = np.sum(sol.t <= t + 1e-9)
            np.testing.assert_array_equal(curve, np.column_stack([sol.t, sol.energy()])[:n])
            np.testing.assert_array_equal(point, curve[-1:])
            assert f"{sol.energy()[n - 1]:.6g}" in p.readout.value
    assert lower.get_xlim() == (0, 4.0)
    alone = nh.animate(rk4, below=("spin", lambda sol: sol.v[:, 2]))
    alone.set(t=4.0)
    assert alone.picture.axes[1].get_title(loc="left") == "spin"
    np.testing.assert_array_equal(curves(alone.picture.axes[1])[0][:, 1], rk4.v[:, 2])


def test_a_residual_of_the_exact_motion_is_not_drawn():
    dla, rk4 = runs("particle", nh.DLA(), nh.RK4())
    p = nh.animate(dla, rk4, exact=True, below="node constraint")
    p.set(t=4.0)
    assert len(curves(p.picture.axes[1])) == 4  # two curves and their points


def test_readings_side_by_side_have_the_same_limits():
    p = nh.animate(*runs("rubber_ball", nh.DLA(), nh.Projector()), below="energy")
    left, right = (ax.get_ylim() for ax in p.picture.axes[2:])
    assert left == right
    assert p.picture.axes[0].get_xlim() == pytest.approx(p.picture.axes[1].get_xlim())


def test_motions_of_different_size_have_their_own_limits():
    near, far = (runs("free_particle", nh.DLA(), steps=n)[0] for n in (20, 200))
    a, b = (np.ptp(ax.get_ylim()) for ax in nh.animate(near, far).picture.axes)
    assert b > 4 * a


def test_several_trajectories_are_given_one_by_one():
    with pytest.raises(ValueError, match=r"^\[.* is no trajectory; .* several as animate\(a, b\)"):
        nh.animate(runs("sleigh", nh.DLA(), nh.RK4()))


def test_a_run_that_does_not_begin_at_zero():
    (sol,) = runs("driven", nh.DLA(), v0=[0, 1, 0], t0=3.0)
    p = nh.animate(sol, below="energy")
    assert (p.controls["t"].min, p.controls["t"].max) == (3.0, 7.0)
    assert p.picture.axes[1].get_xlim() == (3.0, 7.0)
    true = nh.integrate(sol.system, nh.Reference(), sol.q[0], [0, 1, 0], h=0.1, steps=40, t0=3.0)
    assert_same_ghost(nh.animate(sol, exact=true), nh.animate(sol, exact=True), 7.0)


def test_moving_lines_leave_no_ghosts_of_the_first_picture():
    p = nh.animate(*runs("sleigh", nh.DLA(), nh.Projector()), below="energy")
    assert all(artist.ghost is False for artist in p.picture.moving)


def test_two_bodies_with_their_readings_are_drawn_in_25_ms():
    """CPU per picture, the median, since the machine may be busy."""
    sols = runs("suslov", nh.DLA(), nh.Projector(), steps=400, h=0.05)
    p = nh.animate(*sols, exact=True, below="energy")
    taken = []
    for tick in range(1, 60):
        begun = time.process_time()
        p.play.value = tick
        taken.append(time.process_time() - begun)
    assert np.median(taken) < 0.025


def test_a_motion_that_is_played_has_a_text_for_those_who_do_not_see_it():
    p = nh.animate(*runs("sleigh", nh.DLA(), nh.RK4()))
    assert p.alt == "The motion of sleigh, DLA and RK4, at time t."
    assert p.controls["t"].description == "time t"


def test_runs_of_one_method_are_told_apart_by_their_steps():
    coarse, fine = (runs("sleigh", nh.DLA(), h=h, steps=n)[0] for h, n in ((0.4, 10), (0.2, 20)))
    p = nh.animate(coarse, fine, overlay=True, below="energy")
    texts = [text.get_text() for text in p.picture.ax.get_legend().get_texts()]
    assert texts == ["DLA, $h=0.4$", "DLA, $h=0.2$"]
    assert "DLA, h=0.4: energy" in p.readout.value and "DLA, h=0.2: energy" in p.readout.value


def test_different_systems_side_by_side_and_over_each_other():
    sols = [runs(name, nh.DLA())[0] for name in ("sleigh", "sleigh_se2", "snakeboard", "ball")]
    for p in (nh.animate(*sols), nh.animate(*sols[:3], overlay=True)):
        p.play.value = p.play.max
        assert p.message.value == ""


def test_a_body_of_ones_own():
    """A function of q, or a Body; the name of a catalogue system within another's is no match."""
    s = nh.systems.particle()
    s = nh.System(s.q, s.v, s.L, s.constraints, name="particle of mine", q0=s.q0, v0=s.v0)
    sol = nh.integrate(s, nh.DLA(), h=0.1, steps=30)
    with pytest.raises(ValueError, match=r"no body is known .* pass body="):
        nh.animate(sol)

    def cross(q):
        return [q[:2] + np.array([[-0.2, 0], [0.2, 0]]), q[:2] + np.array([[0, -0.2], [0, 0.2]])]

    class Cross(nh.bodies.Body):
        def parts(self, q):
            return cross(q)

    pictures = []
    for body in (cross, Cross):
        p = nh.animate(sol, body=body)
        before = pixels(p)
        p.controls["t"].value = p.controls["t"].max
        pictures.append(pixels(p))
        assert np.abs(pictures[-1] - before).max() > 100
    np.testing.assert_array_equal(*pictures)


def test_a_body_in_space_of_ones_own():
    (sol,) = runs("particle", nh.DLA())
    p = nh.animate(sol, body=lambda q: [q + 0.2 * np.eye(3)])
    p.set(t=2.0)
    eye = nh.bodies.Body.eye[:2]
    track, triangle = curves(p.picture.ax)
    np.testing.assert_allclose(track[-1], eye @ between(sol, 2.0), atol=1e-12)
    np.testing.assert_allclose(triangle[:3], (between(sol, 2.0) + 0.2 * np.eye(3)) @ eye.T)


def test_names_of_motions_can_be_given():
    """A reduced run that was put back says DLA of itself; the legend shall say what was done."""
    one, two = runs("particle", nh.DLA(), nh.RK4())
    p = nh.animate(one, exact=two, names=["by hand", "as before"])
    (legend,) = [ax.get_legend() for ax in p.picture.axes if ax.get_legend()]
    assert [text.get_text() for text in legend.get_texts()] == ["as before", "by hand"]
    assert "as before and by hand" in p.alt
    p = nh.animate(one, two, names=["first", "second"], overlay=False)
    assert [ax.get_title() for ax in p.picture.axes] == ["first", "second"]


@pytest.mark.parametrize(
    "given, options, words",
    [
        (0, {}, "one or two trajectories"),
        (1, {"body": 3}, "body = 3 must be a subclass"),
        (1, {"below": "x y"}, "below = 'x y' is no function of time; choose one of"),
        (1, {"below": "enrgy"}, "view 'enrgy' is unknown"),
        (1, {"exact": 3}, "3 is no trajectory"),
        (1, {"below": 3}, r"below = 3 must be one of .* or \(label, function"),
        (1, {"below": ("a", 3)}, r"below = \('a', 3\) must be one of"),
        (1, {"below": ("a",)}, r"below = \('a',\) must be one of"),
        (1, {"below": ("a", lambda s: s.t[:2])}, r"below gave an array of shape \(2,\); t has"),
        (1, {"below": lambda s: s.q}, r"below gave an array of shape \(4, 3\); t has \(4,\)"),
        (1, {"frames": 0}, "frames = 0 must be a whole number, at least 1"),
        (1, {"frames": 2.5}, "frames = 2.5 must be a whole number"),
        (1, {"size": 3}, r"size = 3 must be \(width, height\)"),
        (1, {"names": "RDLA"}, "names = 'RDLA' must be a list of 1 names, one for each motion$"),
        (1, {"names": ["a"], "exact": True}, "must be a list of 2 names, .* one for the ghost$"),
    ],
)
def test_what_cannot_be_played_is_named(given, options, words):
    sols = runs("sleigh", nh.DLA(), steps=3)
    with pytest.raises(ValueError, match=words):
        nh.animate(*sols[:given], **options)
    with pytest.raises(ValueError, match=r"is no trajectory; play what nh\.integrate returns"):
        nh.animate(sols)


def motion(**options):
    s = nh.systems.sleigh()
    given = {"T": 6, "h": 0.1, "u": (-2.0, 2.0, -1.0), "a": (0.1, 0.5, 0.2)} | options
    return nh.motion_panel(s, None, lambda z: ([0, 0, 0], [z["u"], 0, 0.3]), "energy", **given)


def test_a_motion_panel_runs_what_its_sliders_say():
    p = motion()
    upper, lower = p.picture.axes
    for values in ({}, {"u": 1.5}, {"a": 0.4, "t": 6.0}):
        p.set(**values)
        z = p.values
        s = nh.systems.sleigh(a=z["a"])
        sol = nh.integrate(s, nh.DLA(), [0, 0, 0], [z["u"], 0, 0.3], h=0.1, steps=60)
        path, track, body = curves(upper)
        np.testing.assert_allclose(track[-1], between(sol, z["t"])[:2], atol=1e-12)
        np.testing.assert_allclose(path[-2], sol.q[-1, :2], atol=1e-12)
        whole, curve, *_ = curves(lower)  # and the point, if it is within
        np.testing.assert_array_equal(curve[:, 1], sol.energy()[: len(curve)])
        np.testing.assert_array_equal(whole[:-1, 1], sol.energy())
        assert f"{np.ptp(sol.energy()):.1e}" in p.readout.value


def test_the_point_of_a_curve_that_lies_outside_is_not_drawn():
    p = motion()
    (point,) = (line for line in p.picture.moving if not line.get_clip_on())
    seen = []
    for limits_ in ((0, 1), (2, 3)):  # of an energy of about 0.55
        p.picture.axes[1].set_ylim(*limits_)
        p.set(t=1.0 + limits_[0])
        seen.append(point.get_visible())
    assert seen == [True, False]


def test_every_corner_of_a_motion_panel_is_within_its_axes():
    p = motion(size=(6.0, 5.0))
    ends = {k: (c.min, c.max) for k, c in p.controls.items()}
    for point in itertools.product(*ends.values()):
        p.set(**dict(zip(ends, point, strict=True)))
        assert p.message.value == ""
        ax = p.picture.ax
        points = np.concatenate(curves(ax))
        points = points[np.isfinite(points).all(1)]
        low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
        assert np.all(points >= low) and np.all(points <= high)
    p.reset()
    first = limits(p)
    for t in (0.0, 3.0, 6.0):
        p.set(t=t)
        assert limits(p) == first


@pytest.mark.parametrize("wrong", [{"u": 3}, {"u": [1.0, 2.0, 3.0]}, {"t": (0.0, 1.0, 0.5)}])
def test_wrong_sliders_of_a_motion_panel_are_named(wrong):
    with pytest.raises(ValueError, match=r"is no slider \(low, high, value\)"):
        motion(**wrong)


def test_a_motion_panel_plays_its_time():
    p = motion()
    assert p.controls["t"].max == 6 and p.values["t"] == pytest.approx(2.4)
    p.play.value = p.play.max
    assert p.values["t"] == 6
