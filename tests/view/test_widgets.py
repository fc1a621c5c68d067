"""Panels driven from Python: every corner of their ranges, errors as sentences, honest code."""

import io
import itertools
import time

import ipywidgets as w
import numpy as np
import pytest
from PIL import Image

import nhlab as nh
from nhlab.view import plot
from nhlab.view.widgets import complete_velocity, free_velocities

PARTICLE = nh.systems.particle()


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.image.value)).convert("L"), float)


def particle_panel(**options):
    given = {"h": (0.02, 0.4, 0.2), "alpha": (0.0, 1.0, 0.5), "start": ("y", "vx", "vy")} | options
    methods, views = [nh.DLA(), nh.Projector(), nh.RK4()], ["energy", "constraint", "x y"]
    return nh.explore(PARTICLE, methods, views, steps=200, caption="three methods", **given)


@pytest.fixture(scope="module")
def panel():
    return particle_panel()


def corners(panel):
    ends = {k: (c.min, c.max) for k, c in panel.controls.items() if hasattr(c, "max")}
    for point in itertools.product(*ends.values()):
        yield dict(zip(ends, point, strict=True))


def test_every_corner_gives_a_picture_and_no_error(panel):
    for values in corners(panel):
        panel.set(**values)
        assert "stopped" not in panel.message.value, values
        assert pixels(panel).std() > 5
    panel.reset()


def test_the_picture_and_the_readout_follow_the_sliders(panel):
    panel.reset()
    before, text = pixels(panel), panel.readout.value
    panel.controls["h"].value = 0.35
    assert np.abs(pixels(panel) - before).max() > 100
    assert panel.readout.value != text
    panel.reset()
    assert panel.readout.value == text
    np.testing.assert_array_equal(pixels(panel), before)


@pytest.mark.parametrize("values", [{}, {"h": 0.1, "alpha": 0.3, "y": 1.5, "vx": -0.5}])
def test_copy_as_code_reproduces_what_is_shown(panel, values):
    panel.reset()
    panel.set(**values)
    space = {}
    exec(panel._code(panel.values), space)
    for name in ("dla", "projector", "rk4"):
        sol = space[name]
        spread = f"{np.ptp(sol.energy()):.2e}"
        assert f"{type(sol.method).__name__}: energy spread" in panel.readout.value
        assert spread in panel.readout.value
    _, y = panel.picture.moving[0].get_data()
    np.testing.assert_allclose(y, space["dla"].energy(), rtol=1e-13)


@pytest.mark.parametrize("name", ["sleigh", "snakeboard", "rolling_disk", "particle"])
def test_velocities_asked_for_are_free_or_named(name):
    """Every choice of velocities: the others follow from these, or it is said that they do not."""
    s = nh.systems.catalogue[name]()
    q0, rng = np.array(s.q0, float) + 0.3, np.random.default_rng(1)
    n, m = len(s.v), len(s.constraints)
    for asked in itertools.chain(*(itertools.combinations(range(n), k) for k in range(n + 1))):
        others = [k for k in range(n) if k not in asked]
        if np.linalg.matrix_rank(s.A(q0)[:, others], 1e-9) < m:
            with pytest.raises(ValueError, match="cannot be chosen freely"):
                free_velocities(s, q0, asked)
            continue
        v0, free = rng.normal(size=n), free_velocities(s, q0, asked)
        assert set(asked) <= set(free) and len(free) == n - m
        v = complete_velocity(s, q0, v0, free)
        np.testing.assert_allclose(s.A(q0) @ v, 0, atol=1e-12)
        np.testing.assert_array_equal(v[free], v0[free])


@pytest.mark.parametrize(
    "system, name",
    [("particle", "vz"), ("rigid_body", "w1"), ("rubber_ball", "w1"), ("ball", "w2")],
)
def test_a_slider_sets_a_velocity_bound_or_on_a_group(system, name):
    s = getattr(nh.systems, system)()
    p = nh.explore(s, nh.DLA(), h=(0.01, 0.1, 0.05), steps=5, start=(name,))
    k = [str(v) for v in s.v].index(name)
    p.controls[name].value = s.v0[k] + 0.7
    space = {}
    exec(p._code(p.values), space)
    assert p.message.value == ""
    assert space["dla"].v[0][k] == pytest.approx(s.v0[k] + 0.7)


def test_free_velocities_serve_wherever_the_slider_goes():
    p = nh.explore(nh.systems.free_particle(), [nh.DLA()], steps=20, start=(("y", -1.0, 2.0),))
    for y in (-1.0, 0.0, 2.0):
        p.set(y=y)
        assert p.message.value == ""


def test_a_new_view_gets_limits_of_its_own():
    p = particle_panel()
    p.set(view="constraint")
    low, high = p.picture.ax.get_ylim()
    assert -1e-2 < low < high < 1e-2
    p.set(view="energy")
    assert p.picture.ax.get_ylim()[0] > 2


def test_an_integration_error_is_a_sentence_and_the_computed_part_is_drawn():
    fast = {"q0": (0, 0, 0, np.pi / 2), "v0": (6, 0, 1, 6), "h": (0.05, 0.2, 0.1)}
    p = nh.explore(nh.systems.robot(), [nh.EDLA()], steps=100, **fast)
    assert "no positive step exists" in p.message.value
    assert "Traceback" not in p.message.value
    line, stop = p.picture.moving
    assert 1 <= len(line.get_data()[0]) < 100
    assert len(stop.get_data()[0]) == 1  # the mark where it stopped


def test_an_error_in_an_update_is_a_sentence_and_the_panel_recovers():
    picture = nh.Picture()
    line = picture.line()

    def update(_, values, __):
        if values["k"] == 3:
            raise ValueError("k = 3 is <not> allowed")
        line.set_data([0, 1], [0, values["k"]])
        return {"k": values["k"]}

    p = nh.panel(picture, update, k=(1, 5, 1))
    p.controls["k"].value = 3
    assert "k = 3 is &lt;not&gt; allowed" in p.message.value
    p.controls["k"].value = 4
    assert p.message.value == "" and "4" in p.readout.value


def test_the_axes_stand_still_for_small_changes():
    p = particle_panel()
    limits = []
    for h in np.linspace(0.2, 0.22, 11):
        p.controls["h"].value = h
        limits.append((p.picture.ax.get_xlim(), p.picture.ax.get_ylim()))
    assert len(set(limits)) <= 3  # each side may give way once


def test_blitting_draws_what_a_full_redraw_draws():
    p = particle_panel()
    p.controls["h"].value = 0.21
    blitted = pixels(p)
    p.picture.changed()
    p.draw()
    np.testing.assert_array_equal(pixels(p), blitted)


def test_without_a_kernel_there_is_a_picture_and_a_sentence(panel):
    bundle = panel._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["image/png"] and "three methods" in data["text/plain"]


def test_sliders_show_clean_numbers_and_have_labels(panel):
    for name, control in panel.controls.items():
        assert control.description, name
        if isinstance(control, w.FloatSlider):
            assert len(format(control.min + 3 * control.step, control.readout_format)) < 8


@pytest.mark.parametrize("ends", [(-1.0, 2.0, 1.0), (0.02, 0.4, 0.2), (0.0, 7.3, 1.1)])
def test_the_steps_of_a_slider_meet_its_value_and_its_end(ends):
    low, high, value = ends
    s = nh.widgets.slider("x", low, high, value)
    for x in (value, high):
        assert (x - low) / s.step == pytest.approx(round((x - low) / s.step), abs=1e-6)
    assert float(format(value, s.readout_format)) == value


def test_slow_panels_draw_quickly_while_dragging():
    calls = []

    def update(_, values, quick):
        calls.append(quick)
        time.sleep(0.01 if quick else 0.8)

    p = nh.panel(nh.Picture(), update, k=(0.0, 1.0, 0.5))
    p.controls["k"].value = 0.6
    assert calls == [False, True, False]  # first picture, while moving, after the pause


PLAYED = [((1, 14, 2), None, 13), ((0.5, 4.5, 1.3), None, 80), ((0.0, 3.0, 1.2), 30, 30)]


@pytest.mark.parametrize("ends, frames, ticks", PLAYED)
def test_a_play_button_moves_a_slider_and_follows_it(ends, frames, ticks):
    p = nh.panel(nh.Picture(), lambda *_: {}, k=ends)
    low, high, value = ends
    assert nh.widgets.play(p, "k", frames) is p and p.bar.children[0] is p.play
    assert p.play.max == ticks and p.controls["k"].value == value
    for tick in (1, ticks // 2, ticks):
        p.play.value = tick
        assert p.controls["k"].value == pytest.approx(low + (high - low) * tick / ticks)
    p.reset()
    assert p.play.value == round((value - low) / (high - low) * ticks)


def test_copy_as_code_of_ones_own_system():
    x, vx = nh.symbols("x vx")
    k = nh.symbols("k")
    mine = nh.System((x,), (vx,), vx**2 / 2 - k * x**2, parameters={k: 1}, name="mine")
    p = nh.explore(mine, nh.DLA(), q0=[1], v0=[0], parameters=["k"], steps=10)
    p.set(k=1.5)
    space = {"system": mine}
    exec(p._code(p.values), space)
    assert space["dla"].system == mine.set(k=1.5)
    composed = nh.Composition(nh.DLA(), order=4)
    p = nh.explore(mine, composed, q0=[1], v0=[0], steps=10)
    exec(p._code(p.values), space)
    assert space["composition"].method == composed
    p = nh.explore(mine.set(k=0), nh.DLA(), q0=[1], v0=[0], parameters=[("k", -2.0, 3.0)], steps=10)
    assert (p.controls["k"].min, p.controls["k"].max) == (-2, 3)


def test_colours_are_distinct_and_fixed():
    assert len(set(plot.COLOURS.values())) == len(plot.COLOURS)
    assert plot.look(nh.DLA())["color"] == plot.look(nh.DLA(alpha=0.1))["color"]


def test_what_cannot_be_explored_or_drawn_is_named():
    x, vx = nh.symbols("x vx")
    mine = nh.System((x,), (vx,), vx**2, name="mine")
    for system, options, words in (
        (PARTICLE, {"view": "enrgy"}, "view 'enrgy' is unknown"),
        (PARTICLE, {"start": ("vq",)}, "'vq' is neither a coordinate nor a velocity"),
        (nh.systems.robot(), {"parameters": ["K"]}, r"parameters: 'K' is none of .* it has"),
        (mine, {}, "q0 is missing and <System mine"),
        (mine, {"q0": [1]}, "v0 is missing and <System mine"),
    ):
        with pytest.raises(ValueError, match=words):
            nh.explore(system, [nh.DLA()], **options)
    sol = nh.integrate(PARTICLE, nh.DLA(), h=0.1, steps=3)
    with pytest.raises(ValueError, match="at = 'middle' is unknown; choose one of"):
        plot.energy(sol, at="middle")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.energy([])
