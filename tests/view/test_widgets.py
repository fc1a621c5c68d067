"""Panels driven from Python: every corner of their ranges, errors as sentences, honest code."""

import contextlib
import io
import itertools
import time

import ipywidgets as w
import numpy as np
import pytest
from PIL import Image

import nhlab as nh
from nhlab.view import plot
from nhlab.view.widgets import Panel, complete_velocity, free_velocities

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


def own_panel(**options):
    """A panel with one curve, t -> k t; the axes are fitted."""
    picture = nh.Picture()
    line = picture.line(color="#0072B2")

    def update(_, values, __):
        line.set_data(np.array([[0, 60], [0, values["k"]]]))
        picture.fit(picture.ax, [0, 60], [0, values["k"]])
        return {"k": values["k"]}

    return nh.panel(picture, update, k=(1.0, 8.0, 2.0), **options)


def ghosts(panel):
    return [x for ax in panel.picture.axes for x in ax.lines if x.get_label() == "_ghost"]


def test_the_axes_stand_still_and_the_panel_says_what_lies_outside():
    p = own_panel()
    limits = p.picture.ax.get_xlim(), p.picture.ax.get_ylim()
    assert limits[0] == (0, 60) and limits[1][1] < 3  # time ends at T
    for k in (1.0, 2.0, 8.0):
        p.controls["k"].value = k
        assert (p.picture.ax.get_xlim(), p.picture.ax.get_ylim()) == limits
        assert ("Part of a curve lies outside" in p.shown.value) == (k == 8)
    p.fit_axes()
    assert p.picture.ax.get_ylim()[1] > 8 and "outside" not in p.shown.value
    p.reset()
    assert p.picture.ax.get_ylim() == limits[1]


def test_the_first_curve_stays_as_a_pale_ghost():
    p = own_panel()
    p.controls["k"].value = 8.0
    p.fit_axes()
    (ghost,) = ghosts(p)
    assert ghost.get_ydata().tolist() == [0, 2] and ghost.get_alpha() < 0.5
    assert p.picture.moving[0].get_ydata().tolist() == [0, 8]
    assert not ghost.get_animated()  # part of the background
    p.picture.forget()
    p.draw()
    (ghost,) = ghosts(p)  # of the values of the sliders at first, not of those now
    assert ghost.get_ydata().tolist() == [0, 2]


def test_an_artist_may_do_without_a_ghost():
    picture = nh.Picture()
    for ghost in (True, False):
        picture.line([0, 1], [0, 1], ghost=ghost)
    picture.line([0, 1], [0, 1]).ghost = False
    picture.line([0, 1], [0, 1], linestyle="none", marker="o")  # dots are no curve
    picture.remember()
    picture.remember()  # in place of those before
    assert sum(line.get_label() == "_ghost" for line in picture.ax.lines) == 1


@pytest.mark.parametrize("data", [(0.0, 60.0), (-0.3, 12.5), (1e-9, 3e-9), (250.0, 250.0)])
def test_limits_hold_the_data_and_little_more(data):
    picture = nh.Picture()
    picture.fit(picture.ax, data, [0, 1])
    (low, high), width = picture.ax.get_xlim(), data[1] - data[0]
    assert low <= data[0] + 1e-9 * width and high >= data[1] - 1e-9 * width and low < high
    if width:
        assert high - low <= 1.05 * width


def test_limits_on_a_logarithmic_scale():
    picture = nh.Picture()
    picture.ax.set_yscale("log")
    picture.fit(picture.ax, [0, 1], [1e-8, 1e-2])
    low, high = picture.ax.get_ylim()
    assert 1e-9 < low < 1e-8 and 1e-2 < high < 1e-1 and not picture.outside
    picture.fit(picture.ax, [0, 1], [1e-12])
    assert picture.outside


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
    assert '<img alt="three methods"' in data["text/html"]
    for kind in ("text/html", "text/plain"):
        assert "Run the notebook to move the sliders." in data[kind]


SPITE = '<img src=x onerror="alert(1)">'


def test_names_and_texts_are_shown_as_written():
    picture = nh.Picture()
    p = nh.panel(picture, lambda *_: {SPITE: SPITE, "error": SPITE}, caption=SPITE, alt=SPITE)
    bundle = p._repr_mimebundle_()
    static = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    for shown in (p.shown.value, p.children[-1].value, p.listing.value, static):
        assert SPITE not in shown and shown.count("<img") <= 1
    assert p.readout.value.count("&lt;img") == 2 and "&lt;img" in p.message.value


SENT = [3.0, -7, 1e400, -1e400, float("nan"), "nan", "2", None, [1], {"a": 1}, True]


@pytest.mark.parametrize("value", SENT, ids=str)
def test_a_front_end_can_set_nothing_but_a_value_of_the_slider(value):
    """What a browser sends goes the way of a message, as from a served panel."""
    p = nh.panel(nh.Picture(), lambda *_: {}, k=(0.0, 2.0, 1.0), n=(0, 4, 1), view=["a", "b"])
    for c in p.controls.values():
        state = {"value": value, "max": 1e9, "min": -1e9, "index": value}
        message = {"content": {"data": {"method": "update", "state": state}}, "buffers": []}
        with contextlib.suppress(Exception):  # a refusal may be raised
            c._handle_msg(message)
    assert 0 <= p.values["k"] <= 2 and p.values["n"] in range(5) and p.values["view"] in "ab"
    assert (p.controls["k"].max, p.controls["n"].max) == (2, 4)


def test_a_slip_in_a_readers_function_shows_where_on_demand():
    def update(_, values, __):
        return {"x": values["wrong" if values["k"] > 1 else "k"]}

    p = nh.panel(nh.Picture(), update, k=(0.0, 2.0, 1.0))
    p.set(k=2.0)
    assert "KeyError: &#x27;wrong&#x27;" in p.message.value
    fold = p.shown.value.partition("<details>")[2]
    assert "Traceback" in fold and "in update" in fold and "Traceback" not in p.message.value
    p.set(k=0.5)
    assert "<details>" not in p.shown.value and p.message.value == ""
    with pytest.raises(KeyError):  # at once: the traceback of the cell says more
        nh.panel(nh.Picture(), update, k=(0.0, 2.0, 2.0))


CELL = """
def größer(label):
    return nh.panel(nh.Picture(), lambda _, values, __: {label: values}, k=(1.0, 8.0, 2.0),
                    view=["a", "b"])

ä, panels = 'ä', [größer(
    'k')]
"""


def test_a_panel_without_code_of_its_own_is_made_once_more():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.push({"nh": nh})
    shell.run_cell(CELL).raise_error()
    (p,) = shell.user_ns["panels"]
    p.set(k=0.1 + 0.2 + 5, view="b")
    code = "panel = größer(\n    'k')\npanel.set(**{'k': 5.3, 'view': 'b'})\npanel"
    assert p._code(p.values) == code and "größer" in p.listing.value
    shell.run_cell(code).raise_error()
    assert shell.user_ns["panel"].values == {"k": 5.3, "view": "b"}
    InteractiveShell.clear_instance()


def test_what_cannot_be_made_again_has_nothing_to_copy_and_unknown_controls_are_named():
    p = own_panel()  # by a function, in no cell
    assert p._code is None and "Copy" not in str(p.bar.children[-1].children)
    with pytest.raises(ValueError, match="there is no control 'K'"):
        p.set(K=3)


def test_code_that_cannot_be_written_does_not_stop_the_panel():
    def code(values):
        if values["k"] > 1:
            raise ValueError("no such run")
        return "run()"

    p = nh.panel(nh.Picture(), lambda *_: {}, code=code, k=(0.0, 2.0, 2.0))
    assert "# no such run" in p.listing.value
    p.set(k=0.5)
    assert "run()" in p.listing.value


def test_each_picture_is_one_message(monkeypatch):
    p, sent = own_panel(), []
    monkeypatch.setattr(w.Widget, "_send", lambda self, *args, **_: sent.append(self))
    monkeypatch.setattr(p, "_list", lambda: None)  # follows after a pause
    p.controls["k"].value = 3.0
    assert sent.count(p.shown) == 1 and {*sent} <= {p.shown, p.controls["k"]}


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
