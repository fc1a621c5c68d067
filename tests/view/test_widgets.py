"""Panels driven from Python: every corner of their ranges, errors as sentences, honest code."""

import asyncio
import contextlib
import io
import itertools
import re
import time
from functools import partial
from threading import Thread

import ipywidgets as w
import numpy as np
import pytest
from PIL import Image

import nhlab as nh
from nhlab.view import panel as panel_module
from nhlab.view import plot
from nhlab.view.limits import calm_points
from nhlab.view.panel import Bar, readout_of
from nhlab.view.sheet import ABOVE, hold

PARTICLE = nh.systems.particle()


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.image.value)).convert("L"), float)


def particle_panel(**options):
    given = {"h": (0.02, 0.4, 0.2), "alpha": (0.0, 1.0, 0.5), "start": ("y", "vx", "vy")} | options
    methods, views = [nh.DLA(), nh.Projector(), nh.RK4()], ["energy", "node constraint", "x y"]
    given = {"steps": 200} | given
    return nh.explore(PARTICLE, methods, views, caption="three methods", **given)


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


def ends(panel):
    return panel.picture.ax.get_xlim(), panel.picture.ax.get_ylim()


def test_limits_stay_while_the_curve_fills_a_third_and_follow_it_in_the_same_drawing():
    p = own_panel()
    first = ends(p)
    assert first[0] == (0, 60) and 2 < first[1][1] < 2.2
    p.set(k=1.0)
    assert ends(p) == first  # it fills half of them
    p.set(k=8.0)
    assert 8 < ends(p)[1][1] < 8.5
    wide = ends(p)
    p.set(k=3.0)
    assert ends(p) == wide
    p.set(k=2.0)  # a quarter
    assert ends(p) == first
    p.set(k=8.0)
    p.reset()
    assert ends(p) == first and "Fit axes" not in str(p.bar.children[-1].children)


def test_a_hand_that_drags_meets_few_limits_and_close_ones_where_it_rests():
    async def drag():
        p, seen = own_panel(), []
        for k in np.arange(2.0, 8.05, 0.1):
            p.controls["k"].value = k
            seen.append(ends(p)[1])
            assert seen[-1][1] > 0.998 * k
            await asyncio.sleep(0)
        await asyncio.sleep(2 * panel_module.PAUSE)
        return sum(a != b for a, b in itertools.pairwise(seen)), seen[-1], ends(p)[1]

    changes, dragged, rested = asyncio.run(drag())
    assert changes <= 3 and 8 < rested[1] <= dragged[1]


def test_limits_of_curves_that_move_as_a_whole_come_close_when_the_hand_rests():
    """As energies do with the start: a narrow band on a level that the slider moves."""
    picture = nh.Picture()
    line = picture.line()

    def update(_, values, __):
        t = np.linspace(0, 1, 50)
        line.set_data(t, values["k"] + 1e-3 * np.sin(9 * t))
        picture.fit(picture.ax, *line.get_data())

    async def drag():
        p, seen = nh.panel(picture, update, k=(1.0, 8.0, 2.0)), []
        for k in np.arange(2.0, 8.05, 0.1):
            p.controls["k"].value = k
            seen.append(ends(p)[1])
            slack = 2e-3 * np.ptp(seen[-1])
            assert seen[-1][0] - slack < k - 1e-3 and k + 1e-3 < seen[-1][1] + slack
            await asyncio.sleep(0)
        await asyncio.sleep(2 * panel_module.PAUSE)
        return sum(a != b for a, b in itertools.pairwise(seen)), seen[-1], ends(p)[1]

    changes, dragged, rested = asyncio.run(drag())
    assert changes < 60 / 8 and np.ptp(dragged) > 1 and np.ptp(rested) < 6e-3


def test_a_curve_that_explodes_is_held_as_far_as_it_can_be_seen():
    t = np.linspace(0, 50, 500)
    sizes = {"grows": 2.5 * np.exp(4 * t), "falls": 2.5 - 0.002 * t, "cubic": 1e-5 * t**3}
    assert calm_points(sizes["falls"]) == calm_points(sizes["cubic"]) == 500
    held = calm_points(sizes["grows"])
    assert 5 < held < 50 and sizes["grows"][held - 1] <= 11 * 2.5 < sizes["grows"][held]
    with np.errstate(over="ignore"):
        assert calm_points(np.exp(16 * t)) < 500  # to infinity
    assert calm_points(np.where(t < 25, t, np.nan)) == 500 and calm_points(t[:0]) == 0
    picture = nh.Picture()
    picture.ax.set_xlabel(plot.TIME)
    hold(picture, picture.ax, [(name, t, y) for name, y in sizes.items()])
    assert 10 < picture.ax.get_ylim()[1] < 40 and picture.ax.get_xlim()[1] == 50
    (said,) = picture.leaving
    first = t[sizes["grows"] > picture.ax.get_ylim()[1]][0]
    assert said == f"grows leaves the picture after t = {first:.3g}: it reaches 1.8e+87."


def test_a_curve_that_comes_back_does_not_explode():
    t = np.linspace(0, 25, 251)
    turn = 1e-4 / np.cosh(2 * (t - 20)) ** 2 + 1e-8 * np.sin(t)
    assert calm_points(turn) == 251
    assert calm_points(1e-8 * np.exp(t) * np.cos(9 * t)) < 251  # it is as large as ever at the end
    assert calm_points(np.maximum(turn, 1e-4 * (t > 20))) < 251  # it stays up


def test_an_explosion_is_said_in_the_panel():
    p = nh.paper_figure("cm01_fig1")
    p.set(h=0.4, alpha=1.0, T=50)
    assert "DLA leaves the picture after t = " in p.shown.value
    assert p.picture.ax.get_ylim()[1] < 50
    p.set(alpha=0.5)
    assert "leaves the picture" not in p.shown.value


def test_the_first_curve_stays_as_a_pale_ghost():
    p = own_panel()
    p.controls["k"].value = 8.0
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
    assert 1e-9 < low < 1e-8 and 1e-2 < high < 1e-1
    picture.fit(picture.ax, [0, 1], [1e-7, 1e-3])
    assert picture.ax.get_ylim() == (low, high)
    picture.fit(picture.ax, [0, 1], [1e-12, 1e-3])
    assert picture.ax.get_ylim()[0] < 1e-12


def test_blitting_draws_what_a_full_redraw_draws():
    p = particle_panel()
    p.set(h=0.21)
    blitted = pixels(p)
    p.picture.changed()
    p.draw()
    np.testing.assert_array_equal(pixels(p), blitted)


def drawn(panel):
    panel.draw()
    return np.array(panel.picture.canvas.buffer_rgba())


def test_refitted_axes_are_drawn_as_in_a_full_redraw_and_words_beside_them_are_kept(monkeypatch):
    p, drawings = particle_panel(), []
    ax = p.picture.ax
    ax.legend([p.picture.moving[0]], ["a curve"], **ABOVE)
    p.picture.changed()
    p.draw()
    for words in (ax.get_legend(), ax.xaxis.label, ax.yaxis.label):
        monkeypatch.setattr(words, "draw", lambda renderer, words=words, draw=words.draw: (
            drawings.append(words.get_visible()), draw(renderer)))  # fmt: skip
    for h in (0.19, 0.18):  # with labels at the ticks as wide as before
        p.picture.refit()
        p.controls["h"].value = h
    refitted = drawn(p)
    assert not any(drawings)
    p.picture.changed()
    np.testing.assert_array_equal(drawn(p), refitted)
    assert sum(drawings) == 3


def assert_drawn_as_anew(picture):
    """With other limits it is what it would be if all of it were drawn."""
    picture.rescaled()
    picture.png()
    once = np.array(picture.canvas.buffer_rgba())
    picture.changed()
    picture.png()
    np.testing.assert_array_equal(np.array(picture.canvas.buffer_rgba()), once)


def test_names_of_axes_stand_beside_the_widest_label():
    """With limits of another width, of another sign and of a power of ten."""
    picture = nh.Picture()
    picture.ax.set(xlabel="time", ylabel="energy")
    for low, high in ((0, 9), (2, 8), (-9, 0), (-9, 90), (10, 90), (-0.5, 0.5), (0, 5e-9), (0, 9)):
        picture.ax.set(xlim=(low, high), ylim=(low, high))
        assert_drawn_as_anew(picture)


def test_words_stand_beside_axes_of_equal_scales():
    """With other limits these axes have another shape."""
    picture = nh.Picture()
    picture.line([0, 1], [0, 1], label="curve")
    picture.ax.legend(loc="lower left", bbox_to_anchor=(0, 1))
    picture.ax.set(xlabel="x", ylabel="y", aspect="equal")
    for right, top in ((9, 9), (9, 5), (5, 9), (9, 9)):
        picture.ax.set(xlim=(0, right), ylim=(0, top))
        assert_drawn_as_anew(picture)


def test_a_legend_below_a_power_of_ten_is_drawn_anew():
    """The power of ten of an axis is written where legends are, and comes and goes with limits."""
    picture = nh.Picture()
    picture.line([0, 1], [0, 1], label="curve")
    picture.ax.legend(loc="lower left", bbox_to_anchor=(0, 1))
    for top in (1.0, 3e-7, 5e-9, 1.0):
        picture.ax.set_ylim(0, top)
        assert_drawn_as_anew(picture)


def test_another_legend_is_drawn_where_the_old_one_was():
    p = particle_panel()
    p.picture.ax.legend([p.picture.moving[0]], ["a curve"], **ABOVE)
    p.picture.changed()
    p.picture.refit()
    before = drawn(p)
    p.picture.ax.get_legend().legend_handles[0].set_color("#FF0000")
    p.picture.changed()
    assert np.abs(drawn(p).astype(int) - before).max() > 100


def test_the_palette_of_a_live_picture_keeps_the_colours():
    p = particle_panel()
    exact = Image.open(io.BytesIO(p.picture.png(small=True))).convert("RGB")
    live = Image.open(io.BytesIO(p.picture.png())).convert("RGB")
    assert np.abs(np.array(exact).astype(int) - np.array(live)).max() <= 24
    white = (np.array(exact) == 255).all(-1)
    assert white.mean() > 0.5 and (np.array(live)[white] == 255).all()


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


@pytest.mark.parametrize(
    "given",
    [
        w.Button(),
        w.VBox(),
        (0, 1),
        (1.0, 0.0, 0.5),
        (0.0, 1.0, 2.0),
        (0, 1, np.nan),
        "h",
        [],
        {},
    ],
    ids="button box two reversed outside nan text empty dict".split(),
)
def test_what_is_no_control_is_refused_with_a_remedy(given):
    with pytest.raises(ValueError, match=r"k = .* is no control; give \(low, high, value\)"):
        nh.panel(nh.Picture(), lambda *_: {}, k=given)


REFUSED = {"h": [9.0, 0.0, np.nan, "big", None], "rule": ["midpoint", None], "view": ["nope", 0]}
REFUSED = [(name, x) for name, values in REFUSED.items() for x in values]


@pytest.mark.parametrize("name, x", REFUSED, ids=[f"{name} {x}" for name, x in REFUSED])
def test_a_control_is_set_to_nothing_it_cannot_show(name, x):
    p = nh.explore(PARTICLE, nh.DLA(), ["energy", "x y"], steps=5, rule=True)
    before = p.values, p.shown.value
    with pytest.raises(
        ValueError, match=rf"^{name} = {x!r} is no (number in \[0.01, 0.5\]|choice)"
    ):
        p.set(**{"view": "x y"} | {name: x})
    assert (p.values, p.shown.value) == before
    p.set(h=0.5 + 1e-12)
    assert p.values["h"] == 0.5


def test_a_slider_refuses_nan_and_the_panel_stays():
    p = own_panel()
    before = p.values, p.shown.value
    with pytest.raises(ValueError, match=r"^k = nan is no number in \[1, 8\], the range of its"):
        p.controls["k"].value = np.nan
    assert (p.values, p.shown.value) == before


def test_a_line_of_numbers_does_not_end_within_one():
    p = nh.panel(nh.Picture(), lambda *_: {"from": "5.9e-04 to 1e-12, Runge-Kutta"})
    whole = '<span style="white-space:nowrap">{}</span>'
    assert f"{whole.format('5.9e-04')} to {whole.format('1e-12')}, Runge-K" in p.readout.value


def test_where_all_is_rounding_no_bar_is_long():
    def widths(*sizes):
        shown = readout_of({str(k): Bar("", x, "#0B6BA8") for k, x in enumerate(sizes)})
        return [float(x) for x in re.findall(r"width:([\d.]+)%", shown)]

    assert widths(9e-12, 1e-15) == [0, 0]
    assert widths(2e-9, 1e-9, 0.0) == [100, 50, 0]
    assert widths(np.inf, 1.0) == [100, 100]


def test_slips_of_a_panels_own_function_are_named():
    picture = nh.Picture()
    with pytest.raises(TypeError, match="update gave 3; it must give a dict or None"):
        nh.panel(picture, lambda *_: 3, k=(0.0, 2.0, 1.0))
    p = nh.panel(picture, lambda *_: {}, caption=None, k=(0, 10, 4, 2), view=["a", "b"])
    assert p.controls["k"].step == 2
    for name in ("t", "view"):
        with pytest.raises(ValueError, match=rf"name = '{name}' is no slider; choose from"):
            nh.widgets.play(p, name)


def test_a_reading_of_the_readers_own_that_fails_is_explained_and_its_place_shown():
    slip = {"E": lambda sol: 1 / 0, "t": lambda sol: sol.t}
    for label, words in (("E", "division by zero"), ("t", "it must give a number")):
        p = nh.explore(PARTICLE, nh.DLA(), steps=5, extra={label: slip[label]})
        assert words in p.message.value and "<details>" in p.shown.value
        assert "Traceback" in p.trace.value


def test_a_widget_of_the_readers_own_is_taken_as_it_is():
    box = w.Checkbox(True, description="really?")
    p = nh.panel(nh.Picture(), lambda _, values, __: values, really=box)
    box.value = False
    assert p.controls["really"] is box and ">False<" in p.readout.value


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
    code = p._code(p.values)
    assert code.startswith("def größer(label):") and "größer" in p.listing.value
    assert code.endswith("panel = größer(\n    'k')\npanel.set(**{'k': 5.3, 'view': 'b'})\npanel")
    shell.run_cell(code).raise_error()
    assert shell.user_ns["panel"].values == {"k": 5.3, "view": "b"}
    InteractiveShell.clear_instance()


CELLS = (
    "%precision 3\nimport nhlab as nh",
    "low = 1.0\nlow += 1\nunused = print",
    "def made():\n    top = low + 6\n    return nh.panel(nh.Picture(), update, k=(low, top, 3.0))",
    "this is no Python",
    "if low > 0:\n    update = lambda _, values, __: values",
    "kept = made(); after = 3\nlow = None",
    "low = 'another'",
)


def test_the_code_of_a_panel_needs_nothing_of_the_notebook(capsys):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for cell in CELLS:
        shell.run_cell(cell, store_history=True)
    p, space = shell.user_ns["kept"], {}
    InteractiveShell.clear_instance()
    code = p._code(p.values)
    exec(code, space)
    assert space["panel"].values == p.values == {"k": 3.0} and space["panel"].controls["k"].min == 2
    assert "unused" not in code and "another" not in code


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


def test_threads_take_turns():
    """JupyterLab answers sliders in one thread, and pauses end in another."""
    inside, most = [], []

    def update(_, values, __):
        inside.append(values)
        most.append(len(inside))
        time.sleep(0.02)
        inside.pop()
        return values

    p = nh.panel(nh.Picture(), update, **dict.fromkeys("abcd", (0, 9, 1)))
    moves = [partial(setattr, c, "value", 7) for c in p.controls.values()]
    threads = [Thread(target=move) for move in (*moves, p.draw, p.draw)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and p.readout.value.count(">7<") == 4


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


def test_a_run_has_four_sliders_at_once_and_the_rest_under_more():
    p = particle_panel(T=(10, 40, 20), steps=None, rule=True)
    seen = [x for x in p.bar.children if x in p.controls.values()]
    assert [c.description for c in seen] == ["step size h", "alpha", "y(0)", "vx(0)"]
    box = p.bar.children[-1]
    hidden = [c for c in p.controls.values() if c not in seen]
    assert {*hidden} < {*box.children} and "Copy as code" in str(box.children)
    assert "Show the code" in str(box.children)
    assert box.layout.display == "none"
    p.more.value = True
    assert box.layout.display == "flex"
    again = particle_panel()
    assert again.more.value and again.bar.children[-1].layout.display == "flex"  # it remembers
    again.more.value = False
    assert not hasattr(own_panel(), "more")  # a panel of one's own has nothing to hide


def test_settings_to_try_set_the_sliders_and_show_which_it_is():
    tries = {"twice the step": {"h": 0.4}, "alpha = .3?": {"alpha": 0.3, "view": "x y"}}
    p = particle_panel(tries=tries)
    row = p.bar.children[-2].children
    first, second = (b for b in row if b.description in tries)
    assert row[0].value == panel_module.TRY and row[1] is first  # as the lessons say: below Try
    assert "Try" not in str(
        [getattr(x, "value", "") for x in particle_panel().bar.children[-2].children]
    )
    first.click()
    assert p.values["h"] == 0.4 and (first.button_style, second.button_style) == ("info", "")
    second.click()
    assert (p.values["h"], p.values["alpha"], p.values["view"]) == (0.2, 0.3, "x y")
    assert (first.button_style, second.button_style) == ("", "info")
    p.controls["h"].value = 0.1
    assert second.button_style == ""
    with pytest.raises(ValueError, match=r"tries: 'k\?' sets 'k'; choose from"):
        particle_panel(tries={"k?": {"k": 1}})
    with pytest.raises(ValueError, match=r"^h = 9 is no number in"):
        particle_panel(tries={"h?": {"h": 9}})


def test_where_the_first_setting_stops_the_picture_still_follows():
    """It has no ghost, for which the first setting is drawn once; then the present one is again."""
    picture, asked = nh.Picture(), []
    line = picture.line()

    def update(_, values, quick):
        asked.append(values["k"])
        line.set_data([0, 1], [0, values["k"]])
        return {"error": "it stops" if values["k"] < 1 else ""}

    p = nh.panel(picture, update, k=(0.0, 2.0, 0.5))
    assert "it stops" in p.message.value
    for k in (1.5, 1.8):
        p.set(k=k)
        assert p.message.value == "" and [*line.get_ydata()] == [0, k]
    assert asked == [0.5, 1.5, 0.5, 1.5, 1.8]


def test_whoever_moves_the_start_is_offered_what_stays_comparable():
    p = nh.explore(PARTICLE, nh.DLA(), ["energy", "energy error"], steps=50, start=["y", "vx"])
    assert p.offer.layout.display == "none"
    p.set(h=0.1)
    assert p.offer.layout.display == "none"
    p.set(**{"v0.vx": 0.5})
    assert p.offer.layout.display == "" and "E - E(0)" in p.offer.description
    p.offer.click()
    assert p.values["view"] == "energy error" and p.values["v0.vx"] == 0.5
    assert p.offer.layout.display == "none" and p.picture.ax.get_ylim()[0] < 0
    plain = nh.explore(PARTICLE, nh.DLA(), ["energy", "step"], steps=50, start=["y", "vx"])
    plain.set(**{"v0.vx": 0.5})
    assert plain.offer.layout.display == "none"  # there is no such view


def test_whoever_moves_alpha_where_it_moves_nothing_is_told_why_and_offered_the_nodes():
    views = ["discrete constraint", "average constraint", "node constraint"]
    options = {"steps": 50, "alpha": (0.0, 1.0, 0.5), "rule": True, "h": (0.05, 0.3, 0.1)}
    p = nh.explore(PARTICLE, [nh.DLA(), nh.EDLA(), nh.RK4()], views, **options)
    p.set(h=0.2)
    assert p.offer.layout.display == "none"
    p.set(h=0.1, alpha=0.45)
    residual = next(x.y for x in p.sheet.shapes if x.name == "dla")
    assert np.abs(residual).max() < 1e-14  # as with every alpha
    assert "DLA and EDLA keep this for every alpha" in p.offer.description
    p.offer.click()
    assert p.values["view"] == "node constraint" and p.values["alpha"] == 0.45
    assert p.offer.layout.display == "none"
    p.set(view="average constraint")  # which neither of them keeps
    assert p.offer.layout.display == "none"
    other = nh.explore(PARTICLE, nh.Projector(), views, **options)
    other.set(view="average constraint", rule="symmetric rule")
    assert "Projector keeps this" in other.offer.description
    other.set(view="discrete constraint")
    assert "At alpha = 1/2 both rules are the midpoint rule" in other.offer.description
    other.offer.click()
    assert other.values["alpha"] == 0.3 and other.offer.layout.display == "none"
    alone = nh.explore(PARTICLE, nh.DLA(), views[0], **options)
    alone.set(alpha=0.3)
    assert alone.offer.description == "alpha moves no curve of any view here"
    assert alone.offer.disabled  # there is nothing to set


def test_whoever_moves_what_moves_no_curve_is_told_so_and_offered_a_view_that_it_moves():
    views, moved = ["energy", "energy error", "t x", "x y"], {"q0.x": 0.7}
    sliders = {"start": ["x", "vtheta"], "parameters": ["m"]}
    p = nh.explore(nh.systems.sleigh(), nh.DLA(), views, h=(0.1, 0.4, 0.2), T=10.0, **sliders)
    p.set(**moved)
    assert p.offer.description == "x(0) moves no curve here: show t x"
    p.set(**{"q0.x": 0.8})  # it goes on
    assert p.offer.description == "x(0) moves no curve here: show t x" and not p.offer.disabled
    p.set(**{"v0.vtheta": 0.9})  # this one moves the energies, as any start
    assert p.offer.description == "The start moves E: show E - E(0)"
    p.set(**{"q0.x": 0.1})
    p.offer.click()
    assert p.values["view"] == "t x" and p.values["q0.x"] == 0.1
    assert p.offer.layout.display == "none"


def test_what_was_said_of_the_last_picture_is_grey_while_the_next_is_computed():
    seen = []

    def update(_, values, quick):
        time.sleep(0.0 if quick else 0.4)
        return {"k": f"{values['k']:.1f}"}

    p = nh.panel(nh.Picture(), update, k=(0.0, 1.0, 0.5))
    p.shown.observe(lambda change: seen.append(change["new"]), "value")
    p.controls["k"].value = 0.6
    moving, settled = seen
    assert "opacity:0.45" in moving and ">0.5<" in moving
    assert "opacity:1" in settled and ">0.6<" in settled
    seen.clear()
    p.set(k=0.7)  # at once, as by a button
    waiting, settled = seen
    assert "opacity:0.45" in waiting and ">0.6<" in waiting
    assert "opacity:1" in settled and ">0.7<" in settled


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


def contrast(a, b):
    """Of two colours, as the guidelines for accessible pages define it."""

    def light(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return np.dot(parts, [0.2126, 0.7152, 0.0722]) + 0.05

    high, low = sorted([light(a), light(b)], reverse=True)
    return high / low


def test_colours_of_methods_can_be_read_as_text_on_white_and_on_black():
    for name in ("DLA", "Projector", "EDLA", "RK4"):
        light, dark, _ = plot.LOOKS[name]
        assert contrast(light, "#FFFFFF") > 4.5 and contrast(dark, "#111111") > 4.5
    light, dark, _ = plot.LOOKS["Reference"]
    assert contrast(light, "#FFFFFF") > 3 and contrast(dark, "#111111") > 3


def test_colours_are_distinct_and_fixed():
    assert len(set(plot.COLOURS.values())) == len(plot.COLOURS)
    assert plot.look(nh.DLA())["color"] == plot.look(nh.DLA(alpha=0.1))["color"]
