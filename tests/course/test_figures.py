"""figures/ is what the library computes now, and the panels show the same and more."""

import dataclasses
import itertools
import re
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from after_run_all import corners

import nhlab as nh
from nhlab.course import figures
from nhlab.course.statements import Curves, Errors, Momenta
from nhlab.view.figure import Runs
from nhlab.view.setting import RULES, Setting
from nhlab.view.sheet import FigurePanel, Sheet


def stored(name):
    return pd.read_csv(figures.FOLDER / f"{name}.csv")


@pytest.mark.parametrize("name", figures.PLATES)
def test_the_stored_data_are_current(name):
    plate = figures.PLATES[name]()
    plt.close(plate.figure)
    # A thousand steps at the edge of stability amplify rounding; the reference has its own error.
    now = pd.DataFrame(plate.data)
    pd.testing.assert_frame_equal(stored(name), now, check_dtype=False, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", figures.PLATES)
def test_every_figure_is_there_and_in_the_gallery(name):
    page = (figures.FOLDER / "README.md").read_text()
    for ending in ("png", "svg", "csv"):
        assert (figures.FOLDER / f"{name}.{ending}").stat().st_size > 100
        assert f"({name}.{ending})" in page


# ---------------------------------------------------------------------------- the panels

CURVES = [name for name, s in figures.STATEMENTS.items() if isinstance(s, Curves)]
COMPUTED = [*CURVES, "fim08_fig1"]


def drawn(picture, row=0):
    """The moving curves with points on one of the axes, by label."""
    lines = [x for x in picture.moving if hasattr(x, "get_xdata") and len(x.get_xdata())]
    lines = [x for x in lines if x.axes is picture.axes[row] and x.get_label() != "_mean"]
    return {x.get_label(): x.get_data() for x in lines}


def run_lines(text, leave_out=()):
    """What the lines of a code compute, as far as each run comes; the plot is left to another."""
    space = {}
    for line in text.split("\n"):
        name, is_run, call = line.partition(" = nh.integrate")
        if line.startswith(("fig", "ax", "nh.plot")):
            break
        if not is_run:
            exec(line, space)
        elif name not in leave_out:
            try:
                space[name] = eval(f"nh.integrate{call}", space)
            except nh.IntegrationError as stop:
                space[name] = stop.trajectory
    return space


def agree(sheet, values, leave_out=()):
    """The picture shows what the calls of the code return."""
    figure, view = sheet.figure, sheet.figure.view_name(values)
    call = figure.setting.call(values)
    sols = run_lines(figure.code_of(values), leave_out)
    runs = Runs(call, {name: sols[name] for name in call.methods if name in sols}, {})
    for shape in figure.shapes(runs, view):
        x, y = sheet.lines[shape.name, shape.row].get_data()
        np.testing.assert_array_equal(x, shape.x)
        np.testing.assert_array_equal(y, shape.y)


def somewhere(setting, rng):
    """A random place in the ranges of the sliders."""
    values = {k: float(rng.uniform(low, high)) for k, (low, high, _) in setting.ranges.items()}
    return values | ({"rule": str(rng.choice(RULES))} if setting.rule else {})


@pytest.mark.parametrize("name", CURVES)
def test_an_untouched_panel_shows_the_stored_data(name):
    """Exactly: the twelve digits of the file are those of the curves."""
    p, s, table = nh.paper_figure(name), figures.STATEMENTS[name], stored(name)
    view = next(iter(s.views))
    shown = s.views[view][0] if isinstance(s, Errors) else s.columns
    parts = [row.part for row in s.views[view]] if not isinstance(s, Errors) else [""]
    for row, part in enumerate(parts):
        found = drawn(p.picture, row)
        assert len(found) == len(shown)
        for run in shown:
            column, legend = s.columns[run]
            names = {re.sub(", (nodes|each step)$", "", label): xy for label, xy in found.items()}
            x, y = names[legend]
            np.testing.assert_allclose(x, table.iloc[:, 0], rtol=1e-11)
            np.testing.assert_allclose(y, table[column + part], rtol=1e-6, atol=1e-9)
    plate = figures.PLATES[name]()
    assert all(np.isfinite(c).all() for c in plate.data.values())


@pytest.mark.parametrize("name", COMPUTED)
def test_a_panel_shows_what_its_code_computes_at_random_settings(name):
    p, rng = nh.paper_figure(name), np.random.default_rng(2001)
    s = figures.STATEMENTS[name]
    sheet = Sheet(s.figure())
    for _ in range(2):
        values = somewhere(s.setting, rng)
        values |= {"view": str(rng.choice(list(s.views)))} if "view" in p.controls else {}
        p.set(**values)
        text = p._code(p.values)
        assert text == sheet.figure.code_of(values)
        sheet.show(values)
        agree(sheet, values)
        for mine, other in zip(sheet.picture.axes, p.picture.axes, strict=True):
            a, b = (
                drawn(x.picture, [*x.picture.axes].index(ax))
                for x, ax in ((sheet, mine), (p, other))
            )
            assert a.keys() == b.keys()
            for label in a:
                np.testing.assert_array_equal(a[label], b[label])


@pytest.mark.parametrize("name", COMPUTED)
def test_a_panel_shows_what_its_code_computes_at_the_corners(name):
    """Any two controls at both of their ends; the reference has its own test above."""
    s = figures.STATEMENTS[name]
    sheet, ends = Sheet(s.figure()), [x[:2] for x in s.setting.ranges.values()]
    leave_out = () if isinstance(s, Errors) else ("reference",)
    for corner in corners([*ends, RULES] if s.setting.rule else [*ends, RULES[:1] * 2]):
        values = dict(zip((*s.setting.ranges, "rule"), corner, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that an energy grows
            sheet.show(values, quick=True)
            agree(sheet, values, leave_out)


@pytest.mark.parametrize("name", figures.STATEMENTS)
def test_the_code_of_a_panel_draws_too(name):
    p, space = nh.paper_figure(name), {}
    exec(p._code(p.values), space)
    assert space["ax"].lines or space["ax"].collections
    plt.close("all")


@pytest.mark.parametrize("name", COMPUTED)
def test_the_sliders_are_those_that_matter(name):
    """Each changes the picture, together with alpha where it belongs to that; no coordinate,
    free velocity or parameter without a slider does."""
    s = figures.STATEMENTS[name]
    given = s.setting
    (system,), (start,) = given.systems, given.starts
    free = [str(system.v[k]) for k in start[2]]
    assert {"h", "T"} < {*given.ranges}
    assert given.rule == ("alpha" in given.ranges) == (name != "fim08_fig1")  # M constant, V = 0
    assert {k[3:] for k in given.ranges if k.startswith("v0.")} == {*free}
    every = [f"q0.{x}" for x in system.q] + [f"par.{x}" for x in system.parameters]
    setting = dataclasses.replace(given, sliders=given.sliders | dict.fromkeys(every, ()))
    away = given.defaults | {"alpha": 0.3, "T": given.ranges["T"][0]}
    figure = dataclasses.replace(s, setting=setting).figure()

    def pictures(values):
        runs = figure.compute(values)
        return [np.concatenate([x.y for x in figure.shapes(runs, view)]) for view in s.views]

    def change(old, new):
        """Relative to the size of the picture."""
        if len(old) != len(new):
            return np.inf
        return np.nanmax(np.abs(new - old)) / np.nanmax(np.abs(old))

    before = pictures(setting.defaults | away)
    for key in (*setting.ranges, *["rule"] * given.rule):
        low, high, _ = setting.ranges.get(key, (0, 0, 0))
        moved = RULES[1] if key == "rule" else low + 0.7 * (high - low)
        after = pictures(setting.defaults | away | {key: moved})
        most = max(map(change, before, after))
        if key in (*given.ranges, "rule"):
            assert most > 1e-4, key
        elif not (isinstance(s, Momenta) and key in ("q0.x", "q0.y", "par.a")):
            assert most < 1e-7, key  # x and y only shift a path, and a skate has a = 0


@pytest.mark.parametrize("name", figures.STATEMENTS)
def test_the_steps_of_the_sliders_lead_to_the_values_of_the_figure(name):
    """A browser moves a value that lies between two steps, and the figure would be another."""
    for key, c in nh.paper_figure(name).controls.items():
        if hasattr(c, "step"):
            steps = (c.value - c.min) / c.step
            assert steps == pytest.approx(round(steps), abs=1e-6), key


def test_dependent_velocities_follow_from_the_constraints():
    s = figures.STATEMENTS["cm01_fig4"]
    for theta in (-1.2, 0.3, 1.4):
        call = s.setting.call(s.setting.defaults | {"q0.theta": theta, "par.R": 1.7})
        np.testing.assert_allclose(call.system.A(call.q0) @ call.v0, 0, atol=1e-11)
        assert call.v0[2:] == (1.0, 2.0)


# ---------------------------------------------------------------------------- the claims


@pytest.mark.parametrize("name", [x for x in COMPUTED if x != "fim08_fig5"])
def test_the_claim_holds_where_the_paper_makes_it(name):
    assert "Borne out: " in figures.PLATES[name]().verdict
    assert "The claim holds here: " in nh.paper_figure(name).readout.value


def test_what_the_sleighs_errors_say_depends_on_where_one_stops():
    """Similar up to the loop, where the projector method is nearer; not after it."""
    p = nh.paper_figure("fim08_fig5")
    assert "The claim does not hold here: " in p.readout.value
    assert p.readout.value.index("(projector is nearer)") < p.readout.value.index("(DLA is nearer)")
    p.set(T=60.0)
    assert "The claim holds here: " in p.readout.value
    said = re.sub("<[^>]+>", "", p.readout.value)
    assert "at the end projector 0.00413, DLA 0.0121 (projector is nearer)" in said
    assert "Not borne out: " in figures.PLATES["fim08_fig5"]().verdict


SIZE = r"((?:below )?\S+)"
ERRORS = (
    rf"(DLA|projector) {SIZE}, (Runge-Kutta|DLA) {SIZE} \((DLA|projector|Runge-Kutta) is nearer\)"
)


def check_words(numbers, holds_errors):
    """A verdict names two errors that differ and who is nearer, and no change from a to a."""
    for first, second in re.findall(r"(?:from |\[)([\d.e+-]+)(?: to |, )([\d.e+-]+)", numbers):
        assert first != second, numbers
    pairs = re.findall(ERRORS, numbers)
    assert pairs or not holds_errors or "which is rounding" in numbers, numbers
    for name, *sizes, nearer in pairs:
        one, other, two = (x.removeprefix("below ") for x in sizes)
        assert float(one) != float(two), numbers
        assert nearer == (name if float(one) < float(two) else other), numbers


def verdict(figure, view):
    """Of the untouched setting."""
    runs = figure.compute(figure.setting.defaults)
    return figure.verdict(runs, view, figure.shapes(runs, view))


@pytest.mark.ledger("CM01-F3b")
@pytest.mark.parametrize("name", COMPUTED)
def test_every_verdict_names_both_errors_in_digits_that_differ(name):
    """Also at the ends of the sliders, where an error may be far below the digits of the energy."""
    s, rng = figures.STATEMENTS[name], np.random.default_rng(2001)
    energies_or_errors = name in ("cm01_fig1", "cm01_fig3", "fim08_fig5") or "fig2" in name[5:]
    ends, figure = (
        [s.setting.defaults | {"h": s.setting.ranges["h"][k]} for k in (0, 1)],
        s.figure(),
    )
    for values in ({}, *ends, *(somewhere(s.setting, rng) for _ in range(3))):
        runs = figure.compute(s.setting.defaults | values, quick=True)
        if not runs.stops:
            for view in s.views:
                _, numbers = figure.verdict(runs, view, figure.shapes(runs, view))
                check_words(numbers, energies_or_errors and name != "cm01_fig2")
    if name == "cm01_fig3":
        _, numbers = verdict(figure, next(iter(s.views)))
        worst = [np.abs(stored(name)[k] - 8.5).max() for k in ("DLA", "RK4")]
        assert worst == pytest.approx([0.304, 0.0253], rel=2e-3)
        assert "DLA {:.3g}, Runge-Kutta {:.3g} (Runge-Kutta is nearer)".format(*worst) in numbers


def test_the_kick_of_a_node_is_said_and_vanishes_with_the_turning():
    """Arriving momenta of the skate have the part across its blade that the node reverses."""
    p = nh.paper_figure("fim08_fig1")
    size = r"miss of the constraint is ([\d.]+) for arriving momenta"
    kicks = []
    for h in (0.8, 0.4):
        p.set(h=h)
        sol = p.sheet.runs.sols["projector"]
        theta = sol.q[1:, 2]
        across = sol.p[1:, 0] * np.sin(theta) - sol.p[1:, 1] * np.cos(theta)  # of unit mass
        said = float(re.search(size, re.sub("<[^>]+>", "", p.readout.value))[1])
        assert said == pytest.approx(np.abs(across).max(), rel=0.05)
        kicks.append(said)
    assert kicks[1] < kicks[0]
    p.set(**{"v0.vtheta": 0.0})
    assert "below 1e-12 for arriving momenta" in re.sub("<[^>]+>", "", p.readout.value)


def test_two_errors_are_told_apart():
    assert figures.both("DLA", 1.0, "RK4", 1.0 + 1e-7).endswith("(DLA is nearer)")
    assert "1.0000001" in figures.both("DLA", 1.0, "RK4", 1.0 + 1e-7)
    assert figures.both("DLA", 1.0, "RK4", 1.0) == "DLA and RK4 1, no difference"
    assert "which is rounding" in figures.both("DLA", 0.0, "RK4", 3e-16)


@pytest.mark.parametrize("name", ["fim08_fig2", "fim08_fig2_preprint"])
def test_the_true_energy_is_drawn_beside_the_kept_one(name):
    """The flat line of the projector method is not the true one, and DLA ends nearer to that; where
    y stays constant both methods are exact, and the claim does not hold."""
    table = stored(name)
    E = table["DLA"][0]
    assert np.abs(table["reference"] - E).max() < 1e-9
    off = table["Projector"].iloc[-1] - E
    assert off > 1e-4 and abs(table["DLA"].iloc[-1] - E) < off < np.abs(table["DLA"] - E).max()
    p = nh.paper_figure(name)
    assert "(projector is nearer), at the end" in p.readout.value
    assert (
        p.readout.value.endswith("(DLA is nearer)</b></span>")
        or "(DLA is nearer)" in p.readout.value
    )
    p.set(**{"v0.vy": 0.0})
    assert "The claim does not hold here: " in p.readout.value
    assert "which is rounding" in p.readout.value


WITNESSES = {
    "cm01_fig1": {"alpha": 0.3},
    "cm01_fig2": {"view": figures.NODES},
    "cm01_fig3": {"alpha": 0.7},
    "cm01_fig4": {"view": figures.NODES},
    "fim08_fig2": {"view": "projected energy"},
    "fim08_fig2_preprint": {"view": "projected energy"},
}


@pytest.mark.parametrize("name", WITNESSES)
def test_the_claim_is_judged_anew(name):
    p = nh.paper_figure(name)
    p.set(**WITNESSES[name])
    assert "The claim does not hold here: " in p.readout.value
    p.reset()
    assert "The claim holds here: " in p.readout.value


def bars(html):
    """The bars of a read-out: name -> (length in percent, text)."""
    row = (
        r'<span>([^<]*) </span><i><b style="width:([\d.]+)%"></b></i><span[^>]*>(.*?)</span></div>'
    )
    return {
        name: (float(width), re.sub("<[^>]+>", "", text))
        for name, width, text in re.findall(row, html)
    }


@pytest.mark.parametrize("view", [figures.NODES, figures.CHANGE, figures.RELATIVE])
def test_each_error_is_a_bar_with_its_number_and_whether_it_grows(view):
    """Measured from the true energy where energies are drawn, from 0 where their change is."""
    p, s = nh.paper_figure("cm01_fig1"), figures.STATEMENTS["cm01_fig1"]
    p.set(view=view)
    found = bars(p.readout.value)
    table = stored("cm01_fig1")
    scale = 2.5 if view == figures.RELATIVE else 1.0
    rk4, dla = (np.abs(table[k] - 2.5).max() / scale for k in ("RK4", "DLA"))
    assert found["Runge-Kutta"] == (pytest.approx(100 * rk4 / dla, abs=0.06),
                                    f"off by {rk4:.3g}, growing")  # fmt: skip
    assert found["DLA"] == (100, f"off by {dla:.3g}, not growing")
    _, numbers = verdict(s.figure(), view)
    assert f"DLA {dla:.3g}, Runge-Kutta {rk4:.3g}" in numbers


@pytest.mark.parametrize("name", CURVES)
def test_what_a_verdict_judges_is_drawn(name):
    s, p = figures.STATEMENTS[name], nh.paper_figure(name)
    for view in s.views:
        p.set(**({"view": view} if "view" in p.controls else {}))
        shown = [re.sub(", (nodes|each step)$", "", x) for x in drawn(p.picture)]
        assert [*bars(p.readout.value)] == [*s.judged(view).values()]
        assert {*bars(p.readout.value)} <= {*shown}
        assert "left point" not in p.readout.value or any("left" in x for x in shown)


@pytest.mark.parametrize("name", ["cm01_fig2", "cm01_fig4"])
def test_a_slider_that_moves_nothing_says_why_and_offers_what_it_moves(name):
    p = nh.paper_figure(name)
    before = drawn(p.picture)["DLA, each step"]
    assert p.offer.layout.display == "none"
    p.set(alpha=0.3)
    np.testing.assert_allclose(drawn(p.picture)["DLA, each step"], before, atol=1e-12)
    assert "DLA keeps this for every alpha" in p.offer.description
    assert p.offer.layout.display != "none"
    p.offer.click()
    assert p.values["view"] == figures.NODES and p.values["alpha"] == 0.3
    assert p.offer.layout.display == "none"
    nodes = drawn(p.picture)["DLA"]
    p.set(alpha=0.5)
    assert np.abs(drawn(p.picture)["DLA"][1] - nodes[1]).max() > 1e-3


def test_a_curve_that_fills_a_band_is_pale_and_its_mean_is_drawn():
    p = nh.paper_figure("cm01_fig1")
    lines = {x.get_label(): x for x in p.picture.moving if hasattr(x, "get_xdata")}
    y = lines["DLA"].get_ydata()
    assert lines["DLA"].get_alpha() == 0.45 and lines["Runge-Kutta"].get_alpha() is None
    mean = lines["_mean"].get_ydata()
    assert np.ptp(mean) < np.ptp(y) / 10 and abs(np.mean(mean) - y.mean()) < np.ptp(y) / 100
    p.set(T=50.0)  # can be seen swing by swing
    assert lines["DLA"].get_alpha() is None and not len(lines["_mean"].get_xdata())
    p.set(T=250.0, alpha=1.0)  # explodes
    assert lines["DLA"].get_alpha() is None and not len(lines["_mean"].get_xdata())


def test_limits_of_residuals_do_not_follow_rounding():
    p = nh.paper_figure("cm01_fig4")
    p.set(**{"v0.vtheta": 0.0})
    for ax in p.picture.axes:
        low, high = ax.get_ylim()
        assert low <= -1e-10 and 1e-10 <= high < 2e-10


@pytest.mark.parametrize("theta", np.linspace(-3.1, 3.1, 9))
def test_letters_of_the_sleigh_are_inside_and_clear_of_its_outline(theta):
    p = nh.paper_figure("fim08_fig4")
    for a in (0.0, 0.25, 0.5):
        p.set(**{"q0.theta": float(theta), "par.a": a})
        texts = {x.get_text(): x for x in p.picture.moving if hasattr(x, "get_text")}
        boxes = {k: x.get_window_extent() for k, x in texts.items()}
        whole = p.picture.figure.bbox
        for box in boxes.values():
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1
            assert whole.y0 <= box.y0 and box.y1 <= whole.y1
        s = figures.STATEMENTS["fim08_fig4"]
        outline = max(s.parts(p.sheet.runs), key=np.ptp)
        points = p.picture.ax.transData.transform(_dense(outline))
        x0, y0, x1, y1 = boxes["$a$"].extents
        inside = (points > [x0, y0]).all(1) & (points < [x1, y1]).all(1)
        assert not inside.any()


def _dense(corners):
    """Points along a polygon."""
    s = np.linspace(0, 1, 100)[:, None]
    return np.concatenate([a + s * (b - a) for a, b in itertools.pairwise(corners)])


def test_a_run_that_stops_is_said_and_marked():
    fast = {"q0": (0, 0, 0, np.pi / 2), "v0": (6, 0, 1, 6)}
    runs = {"h": (0.05, 0.2, 0.1), "T": (5, 20, 10)}
    setting = Setting([nh.systems.robot()], {"edla": nh.EDLA()}, **runs, **fast)
    like = figures.STATEMENTS["cm01_fig3"]
    columns = {"edla": ("EDLA", "EDLA")}
    p = FigurePanel(dataclasses.replace(like, setting=setting, columns=columns).figure())
    assert "no positive step exists" in p.message.value
    assert "The claim does not hold here: " in p.readout.value
    assert "EDLA stops after " in p.readout.value
    assert sorted(len(x) for x, _ in drawn(p.picture).values())[0] == 1  # the mark


def test_a_band_that_widens_is_no_band():
    t = np.linspace(0, 100, 2001)
    assert figures.steady(np.sin(t)) and not figures.steady((1 + t / 100) * np.sin(t))
    assert not figures.steady(np.sin(t) - t / 50)


def test_where_the_energy_errors_change_order_is_computed():
    text = figures.PLATES["cm01_fig1"]().verdict
    h = float(text.split("below h = ")[1].split(",")[0])
    for factor, dla_is_worse in ((0.95, True), (1.05, False)):
        dla, rk4 = figures.worst_energies(250, factor * h)
        assert (dla > rk4) == dla_is_worse
    assert f"below h = {h:.2f}" in (figures.FOLDER / "README.md").read_text()


def test_drawings_turn_with_their_sliders():
    for name, key in (("fim08_fig3", "q0.phi"), ("fim08_fig4", "q0.theta")):
        p = nh.paper_figure(name)
        s = figures.STATEMENTS[name]
        p.set(**{key: -1.0})
        call = s.setting.call(p.values)
        parts = nh.bodies.body(call.system).parts(np.array(call.q0))
        lines = [x.get_xydata() for x in p.picture.moving if hasattr(x, "get_xydata")]
        for part in parts:
            assert any(part.shape == x.shape and np.allclose(part, x) for x in lines)
        assert [*p.controls] == [*s.setting.ranges] and p.message.value == ""


def test_a_picture_to_scale_is_the_same_after_every_reset():
    p = nh.paper_figure("fim08_fig1")
    first = p.image.value
    for values in ({"T": 6.0}, {"h": 0.2, "v0.vtheta": -1.5}):
        p.set(**values)
        p.reset()
        assert p.image.value == first


def names_at_ends(picture):
    """The names of curves beside the first axes: text -> its box in pixels."""
    texts = [x for x in picture.moving if hasattr(x, "get_text") and x.get_visible()]
    return {x.get_text(): x.get_window_extent() for x in texts}


def test_the_names_of_curves_are_those_of_the_view():
    p = nh.paper_figure("fim08_fig5")
    first = p.image.value
    assert p.picture.ax.get_legend() is None
    p.set(view="the two methods")
    assert len(names_at_ends(p.picture)) == 2
    p.reset()
    assert len(names_at_ends(p.picture)) == 3 and p.image.value == first


@pytest.mark.parametrize("name", CURVES)
def test_names_stand_at_the_ends_of_their_curves_and_none_upon_another(name):
    """At random settings and at both ends of h: inside the picture, right of the axes, in the order
    of the curves' ends, and with the colour of the curve."""
    p, rng = nh.paper_figure(name), np.random.default_rng(2008)
    ranges = p.figure.setting.ranges
    settings = [{}, *({"h": end} for end in ranges["h"][:2])]
    for values in (*settings, *(somewhere(p.figure.setting, rng) for _ in range(4))):
        p.set(**(p._defaults | values))
        boxes = sorted(names_at_ends(p.picture).values(), key=lambda box: box.y0)
        assert len(boxes) == len(p.figure.views[p.figure.view_name(p.values)].axes[0].curves)
        whole, axes = p.picture.figure.bbox, p.picture.ax.bbox
        for box in boxes:
            assert axes.x1 < box.x0 and box.x1 < whole.x1
            assert whole.y0 < box.y0 and box.y1 < whole.y1
        for below, above in itertools.pairwise(boxes):
            assert below.y1 <= above.y0 + 1
    colours = {x.get_text().split(",")[0]: x.get_color() for x in p.picture.moving
               if hasattr(x, "get_text")}  # fmt: skip
    lines = {x.get_label().split(",")[0]: x.get_color() for x in p.picture.moving
             if hasattr(x, "get_xdata") and x.get_label() != "_mean"}  # fmt: skip
    for text, colour in colours.items():
        assert lines[text] == colour


def test_names_of_nodes_outside_the_axes_are_not_drawn():
    p = nh.paper_figure("fim08_fig1")
    p.set(T=6.0)
    p.picture.ax.set_ylim(-0.5, 0.5)
    p.picture.changed()
    names, pictures = [x for x in p.picture.moving if hasattr(x, "get_text")], []
    above = round(p.picture.figure.bbox.height - p.picture.ax.bbox.y1 - 10)
    for _ in range(2):
        p.picture.png()
        pictures.append(np.array(p.picture.canvas.buffer_rgba())[:above])
        for name in names:
            name.set_visible(False)
    assert max(name.xy[1] for name in names) > p.picture.ax.get_ylim()[1]
    np.testing.assert_array_equal(*pictures)


def test_a_logarithmic_view_is_fitted():
    p = nh.paper_figure("fim08_fig5")
    low, high = p.picture.ax.get_ylim()
    largest = max(np.max(line.get_ydata()) for line in p.picture.ax.lines if len(line.get_ydata()))
    assert 5e-6 < low <= 1e-5 and largest < high < 3 * largest
    p.picture.ax.set_ylim(low, largest / 10)
    p.draw()
    assert p.picture.ax.get_ylim() == pytest.approx((low, high))


def test_a_figure_opens_on_the_view_that_its_question_asks_for():
    """And a reset returns to it; what is below it says so, and what may be tried is another."""
    p = nh.paper_figure("cm01_fig2", view=figures.NODES)
    assert p.values["view"] == figures.NODES
    first = p.image.value
    assert "The claim does not hold here" in p.readout.value
    assert f"opens on another view, {figures.NODES}." in p.figure.caption
    p.set(view=figures.STEPS, h=0.1)
    p.reset()
    assert p.values["view"] == figures.NODES and p.image.value == first
    assert {"view": figures.STEPS} in dict(p.figure.tries).values()
    with pytest.raises(
        ValueError, match=r"view = 'nodes' is unknown; choose one of .*at the nodes"
    ):
        nh.paper_figure("cm01_fig2", view="nodes")


def test_an_unknown_figure_is_named():
    with pytest.raises(ValueError, match=r"name = 'cm01' is unknown; choose one of .*cm01_fig1"):
        nh.paper_figure("cm01")
    with pytest.raises(ValueError, match=r"name = \['cm01_fig1'\] is unknown"):
        nh.paper_figure(["cm01_fig1"])
