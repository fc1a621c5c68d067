"""Motions that are played: what is shown at time t is the motion at time t."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, on_groups
from nhlab.view.body import between
from nhlab.view.player import Stage
from nhlab.view.stage import Packer, packed, poses

EVERY = {**catalogue, **on_groups}


def runs(name, *methods, h=0.1, steps=40, **start):
    return [nh.integrate(EVERY[name](), m, h=h, steps=steps, **start) for m in methods]


def names(film):
    """The names of the actors of each pane."""
    return [[film.scene.actors[k].name for k in pane] for pane in film.scene.panes]


def in_view(view, points, aspect):
    """Which points are within the picture of a camera?"""
    x, y, back = ((points - view.eye()) @ view.axes().T).T
    wide, tall = np.tan(0.27) * aspect, np.tan(0.27)
    return (-back > 0) & (np.abs(x) <= -wide * back) & (np.abs(y) <= -tall * back)


@pytest.mark.parametrize("name", EVERY)
def test_every_system_is_played_within_its_picture(name):
    sols = runs(name, nh.DLA(), nh.Reference())
    film = nh.animate(*sols, below="energy")
    assert isinstance(film, Stage) and len(film.scene.panes) == 2
    assert film.scene.times == (0, pytest.approx(4.0))
    for k in range(2):
        far, main = film.scene.far(k), film.scene.main(k)
        for t in np.linspace(0, 4, 5):
            assert in_view(far, main.corners(t), film.scene.pane_aspect()).all()
        assert in_view(far, main.paths()[0], film.scene.pane_aspect()).all()
    bundle = film._repr_mimebundle_()
    assert [*bundle] == ["text/html", "image/png", "text/plain"]
    assert sum(map(len, bundle.values())) < 120_000


def test_the_track_leads_through_the_nodes_of_the_run():
    (sol,) = runs("sleigh", nh.DLA(), h=0.4)
    film = nh.animate(sol, future=True)
    (actor,) = film.scene.actors
    (path,) = actor.paths()
    for node in sol.q[:, :2]:
        assert np.abs(path[:, :2] - node).max(1).min() < 1e-12
    t = np.linspace(0, sol.t[-1], 57)
    np.testing.assert_allclose(actor.centre(t)[:, :2], between(sol, t)[:, :2], atol=1e-12)
    assert packed(film.scene)[0]["future"] is True
    assert packed(nh.animate(sol).scene)[0]["future"] is False


def test_methods_over_the_exact_motion_as_a_ghost():
    dla, rk4, true = runs("kepler", nh.DLA(), nh.RK4(), nh.Reference(), h=0.2)
    film = nh.animate(dla, rk4, exact=true)
    assert names(film) == [["true motion", "DLA", "RK4"]]
    assert [a.ghost for a in film.scene.actors] == [True, False, False]
    for sol, actor in zip((true, dla, rk4), film.scene.actors, strict=True):
        np.testing.assert_allclose(actor.centre(5.0)[:2], between(sol, 5.0), atol=1e-9)
    beside = nh.animate(dla, rk4, exact=true, overlay=False)
    assert names(beside) == [["true motion", "DLA"], ["true motion", "RK4"]]
    assert names(nh.animate(dla, rk4, overlay=True)) == [["DLA", "RK4"]]
    assert names(nh.animate(dla, rk4)) == [["DLA"], ["RK4"]]


def test_a_motion_is_called_what_it_is():
    dla, rk4, true = runs("kepler", nh.DLA(), nh.RK4(), nh.Reference(), h=0.2)
    assert names(nh.animate(dla, exact=rk4)) == [["RK4", "DLA"]]
    assert names(nh.animate(true)) == [["true motion"]]
    assert names(nh.animate(dla, exact=dla)) == [["DLA (ghost)", "DLA"]]


@pytest.mark.parametrize("name", ["particle", "driven", "rubber_ball", "spherical_pendulum"])
def test_exact_true_is_the_motion_from_the_same_start(name):
    dla, true = runs(name, nh.DLA(), nh.Reference())
    assert_same_ghost(nh.animate(dla, exact=true), nh.animate(dla, exact=True), 4.0)


def assert_same_ghost(a, b, t):
    """The two ghosts stand at the same place."""
    ghosts = [next(x for x in film.scene.actors if x.ghost) for film in (a, b)]
    np.testing.assert_allclose(*(ghost.centre(t) for ghost in ghosts), atol=1e-8)


def test_a_reading_runs_in_step_below():
    dla, rk4 = runs("robot", nh.DLA(), nh.RK4())
    film = nh.animate(dla, rk4, exact=True, below="energy")
    for sol, actor in zip((dla, rk4), film.scene.actors[1:], strict=True):
        np.testing.assert_array_equal(actor.reading, (sol.t, sol.energy()))
    assert film.scene.label == "energy E at the nodes"
    alone = nh.animate(rk4, below=("spin", lambda sol: sol.v[:, 2]))
    assert alone.scene.label == "spin"
    np.testing.assert_array_equal(alone.scene.actors[0].reading[1], rk4.v[:, 2])


def test_a_long_reading_keeps_its_extremes():
    (sol,) = runs("robot", nh.DLA(), steps=3000)
    head, _ = packed(nh.animate(sol, below="energy").scene)
    offset, step, _, count = head["actors"][0]["reading"][1]
    assert count <= 900
    packer, energy = Packer(), sol.energy()
    assert packer.put(energy)[1] == pytest.approx(step)  # the same spread gives the same step


def test_a_residual_of_the_exact_motion_is_not_drawn():
    dla, rk4 = runs("particle", nh.DLA(), nh.RK4())
    film = nh.animate(dla, rk4, exact=True, below="node constraint")
    assert [a.reading is not None for a in film.scene.actors] == [False, True, True]


def test_motions_side_by_side_are_seen_alike_if_they_are_alike():
    film = nh.animate(*runs("rubber_ball", nh.DLA(), nh.Projector()), below="energy")
    a, b = (film.scene.far(k) for k in range(2))
    assert a.distance == b.distance and np.all(a.focus == b.focus)
    near, far = (runs("free_particle", nh.DLA(), steps=n)[0] for n in (20, 200))
    a, b = (nh.animate(near, far).scene.far(k).distance for k in range(2))
    assert b > 4 * a


def test_several_trajectories_are_given_one_by_one():
    with pytest.raises(ValueError, match=r"^\[.* is no trajectory; .* several as animate\(a, b\)"):
        nh.animate(runs("sleigh", nh.DLA(), nh.RK4()))


def test_a_run_that_does_not_begin_at_zero():
    (sol,) = runs("driven", nh.DLA(), v0=[0, 1, 0], t0=3.0)
    film = nh.animate(sol, below="energy")
    assert film.scene.times == (3.0, 7.0) and 3 < film.scene.moment < 7
    true = nh.integrate(sol.system, nh.Reference(), sol.q[0], [0, 1, 0], h=0.1, steps=40, t0=3.0)
    assert_same_ghost(nh.animate(sol, exact=true), nh.animate(sol, exact=True), 7.0)


def test_a_motion_has_a_text_for_those_who_do_not_see_it():
    film = nh.animate(*runs("sleigh", nh.DLA(), nh.RK4()), caption="On ice.")
    assert film.alt.startswith("On ice. A sleigh with one sharp blade glides over ice")
    assert film.alt.endswith("sleigh, DLA and RK4, from t = 0 to 4.")
    assert f'<img alt="{film.alt}"' in film.html()


def test_runs_of_one_method_are_told_apart_by_their_steps():
    coarse, fine = (runs("sleigh", nh.DLA(), h=h, steps=n)[0] for h, n in ((0.4, 10), (0.2, 20)))
    film = nh.animate(coarse, fine, overlay=True, below="energy")
    assert names(film) == [["DLA, h=0.4", "DLA, h=0.2"]]


def test_different_systems_side_by_side_and_over_each_other():
    sols = [runs(name, nh.DLA())[0] for name in ("sleigh", "sleigh_se2", "snakeboard", "ball")]
    for film in (nh.animate(*sols), nh.animate(*sols[:3], overlay=True)):
        assert len(packed(film.scene)[0]["models"]) == len(film.scene.actors)
        assert len(film.png) > 5000


def test_a_body_of_ones_own():
    """A function of q, or a Body; the name of a catalogue system within another's is no match."""
    s = nh.systems.particle()
    s = nh.System(s.q, s.v, s.L, s.constraints, name="particle of mine", q0=s.q0, v0=s.v0)
    sol = nh.integrate(s, nh.DLA(), h=0.1, steps=30)

    def cross(q):
        return [q[:2] + np.array([[-0.2, 0], [0.2, 0]]), q[:2] + np.array([[0, -0.2], [0, 0.2]])]

    class Cross(nh.bodies.Body):
        def parts(self, q):
            return cross(q)

    stills = [nh.animate(sol, body=body).png for body in (cross, Cross)]
    assert stills[0] == stills[1] != nh.animate(sol).png


def test_a_body_in_space_of_ones_own():
    (sol,) = runs("particle", nh.DLA())
    (actor,) = nh.animate(sol, body=lambda q: [q + 0.2 * np.eye(3)]).scene.actors
    np.testing.assert_allclose(actor.centre(2.0), between(sol, 2.0), atol=1e-12)
    place = poses(actor.model.frames, actor.at(sol.t))["part 0"][1]
    np.testing.assert_allclose(place, sol.q + 0.2 / 3, atol=1e-9)


def test_a_wire_is_scenery_and_the_track_is_that_of_the_bead():
    (sol,) = runs("pendulum", nh.DLA())

    def bead(q):
        x = np.linspace(-3, 3, 31)
        return [np.column_stack([x, x**2 / 9]), 0.1 * nh.bodies.circle() + [q[0], q[0] ** 2 / 9]]

    film = nh.animate(sol, body=bead)
    (actor,) = film.scene.actors
    (path,) = actor.paths()
    bead_at = np.column_stack([between(sol, actor.t)[:, 0], between(sol, actor.t)[:, 0] ** 2 / 9])
    np.testing.assert_allclose(path[:, :2], bead_at, atol=0.02)  # the mean of a closed outline
    assert film.scene.size(0) < 0.5  # the bead alone
    wire = np.array([[-3.0, 1, 0], [3, 1, 0], [0, 0, 0]])
    assert in_view(film.scene.poster(0, film.scene.moment), wire, film.scene.aspect).all()


def test_a_run_that_grows_beyond_all_bounds_is_shown_as_far_as_it_goes():
    (sol,) = runs("sleigh", nh.DLA())
    sol.q[30:] = np.nan
    film = nh.animate(sol)
    assert film.scene.times[1] == pytest.approx(2.9)
    assert len(film.png) > 5000


def test_names_of_motions_can_be_given():
    """A reduced run that was put back says DLA of itself; the legend shall say what was done."""
    one, two = runs("particle", nh.DLA(), nh.RK4())
    stage = nh.animate(one, exact=two, names=["by hand", "as before"])
    assert [actor.name for actor in stage.scene.actors] == ["as before", "by hand"]
    assert "as before and by hand" in stage.scene.alt
    stage = nh.animate(one, two, names=["first", "second"], overlay=False)
    assert [actor.name for actor in stage.scene.actors] == ["first", "second"]


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
        (1, {"size": (3, 0)}, r"size = \(3, 0\) must be \(width, height\)"),
    ],
)
def test_what_cannot_be_played_is_named(given, options, words):
    sols = runs("sleigh", nh.DLA(), steps=3)
    with pytest.raises(ValueError, match=words):
        nh.animate(*sols[:given], **options)
    with pytest.raises(ValueError, match=r"is no trajectory; play what nh\.integrate returns"):
        nh.animate(sols)


def test_three_runs_with_a_ghost_and_a_curve_are_stored_in_120_kB():
    start = {"v0": [2, 0, 0.15, 2], "h": 0.3, "steps": 100}
    film = nh.animate(
        *runs("robot", nh.DLA(), nh.Projector(), nh.RK4(), **start), exact=True, below="energy"
    )
    assert len(film.scene.actors) == 4
    assert sum(map(len, film._repr_mimebundle_().values())) < 120_000
