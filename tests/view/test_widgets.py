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
from nhlab.view.widgets import Panel

PARTICLE = nh.systems.particle()


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.image.value)).convert("L"), float)


def particle_panel(**options):
    given = {"h": (0.02, 0.4, 0.2), "alpha": (0.0, 1.0, 0.5), "start": ("y", "vx", "vy")} | options
    methods, views = [nh.DLA(), nh.Projector(), nh.RK4()], ["energy", "node constraint", "x y"]
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


@pytest.mark.parametrize("name", ["sleigh", "robot", "snakeboard", "rolling_disk", "particle"])
def test_bodies_move_along_the_motion(name):
    system = nh.systems.catalogue[name]()
    sols = [nh.integrate(system, m, h=0.1, steps=30) for m in (nh.DLA(), nh.Projector())]
    p = nh.animate(*sols)
    assert isinstance(p, Panel)
    before = pixels(p)
    p.play.value = p.play.max // 2
    assert 0 < p.controls["t"].value < sols[0].t[-1]
    assert np.abs(pixels(p) - before).max() > 100
    p.controls["t"].value = p.controls["t"].max
    assert p.message.value == ""


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


def test_a_body_of_ones_own():
    """A function of q, or a Body; the name of a catalogue system within another's is no match."""
    s = PARTICLE
    s = nh.System(s.q, s.v, s.L, s.constraints, name="particle of mine", q0=s.q0, v0=s.v0)
    sol = nh.integrate(s, nh.DLA(), h=0.1, steps=30)
    with pytest.raises(ValueError, match=r"no body is known .* pass body="):
        nh.animate(sol)
    with pytest.raises(ValueError, match="body = 3 must be a subclass"):
        nh.animate(sol, body=3)
    with pytest.raises(ValueError, match="one or two trajectories"):
        nh.animate()

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


def test_the_wheels_of_the_snakeboard_roll_as_drawn():
    """Along the motion the middle of each wheel moves in the direction the wheel points to."""
    system = nh.systems.snakeboard()
    body = nh.bodies.body(system)
    sol = nh.integrate(system, nh.Reference(), h=0.1, steps=200)
    for part in (2, 4):  # the two wheels
        for q, v in zip(sol.q[::20], sol.v[::20], strict=True):
            box = body.parts(q)[part]
            heading = box[1] - box[0]
            e = 1e-6
            ahead, behind = (body.parts(q + s * e * v)[part][:4].mean(0) for s in (1, -1))
            velocity = (ahead - behind) / (2 * e)
            slip = heading[0] * velocity[1] - heading[1] * velocity[0]
            assert abs(slip) < 1e-7 * np.linalg.norm(heading) * (1 + np.linalg.norm(velocity))


def test_colours_are_distinct_and_fixed():
    assert len(set(plot.COLOURS.values())) == len(plot.COLOURS)
    assert plot.look(nh.DLA())["color"] == plot.look(nh.DLA(alpha=0.1))["color"]
