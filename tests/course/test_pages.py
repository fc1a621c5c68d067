"""Pages that compute by themselves, in Chromium: what they show at random settings of their sliders
is what ``nh.integrate`` computes.

All figures stand on one page, as on a site: Bokeh's scripts are loaded once.  Runs as long as
these do not let round-off grow to 1e-9.
"""

import itertools
import re
import sys
from functools import partial
from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy as sp
from shown import SHOWN, compare, compare_leaving, settings, words

import nhlab as nh
from nhlab.browser.page import components, shared_code
from nhlab.course.figures import STATEMENTS
from nhlab.course.pages import ADDED, PAGES, chosen, of_lesson, panels_of
from nhlab.view.figure import plain
from nhlab.view.picture import unpainted

pytest.importorskip("bokeh")
ROOT = Path(__file__).resolve().parents[2]
# Every page once: lessons show some of the papers' figures, too; and systems to choose from.
LESSONS = [name for name, make in PAGES.items() if "." in name and not isinstance(make, partial)]
NAMES = [*STATEMENTS, *LESSONS, "sleigh", "sleigh_se2", "ball"]


class Watched:
    """An open page, and what went wrong or out of the machine."""

    def __init__(self, browser, file, count, **options):
        self.page, self.wrong, self.asked = browser.new_page(**options), [], []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{file}")
        self.page.wait_for_function(f"window.nhlab_pages?.length === {count}", timeout=120_000)

    def shown(self, k, values):
        return self.page.evaluate(SHOWN, [k, values])


@pytest.fixture(scope="module")
def panels():
    """What the figures show; the tests look at what is computed, so no picture is painted."""
    with unpainted():
        made = {name: PAGES[name]() for name in NAMES if name in PAGES}
        own = {x: chosen(getattr(nh.systems, x)()) for x in NAMES if x not in made}
        yield made | own


@pytest.fixture(scope="module")
def site(browser, panels, tmp_path_factory):
    """One page with all figures."""
    from bokeh.resources import INLINE

    parts = [components(panel, shared=True) for panel in panels.values()]
    body = "\n".join(f"{div}\n{script}" for script, div in parts)
    file = tmp_path_factory.mktemp("site") / "index.html"
    head = f"<meta charset=utf-8>{INLINE.render()}<script>{shared_code()}</script>"
    file.write_text(f"<!doctype html>{head}<body>{body}")
    watched = Watched(browser, file, len(panels))
    captions = watched.page.evaluate("nhlab_pages.map(x => x.book.caption)")
    at = {
        name: captions.index(plain(panel.figure.for_page().caption))
        for name, panel in panels.items()
    }
    return watched, at


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_the_panel_shows(site, panels, name):
    """The two renderers of a figure: the same curves, limits and words at random settings."""
    (watched, at), panel = site, panels[name]
    rng = np.random.default_rng([*name.encode()])
    for ends in (False, True, True):
        values = settings(panel, rng, ends)
        compare(watched.shown(at[name], values), panel, values)
    panel.set(**values)
    code = watched.page.evaluate("k => nhlab_pages[k].code()", at[name])
    assert code == words(panel.listing.value)


@pytest.mark.parametrize("name", STATEMENTS)
def test_both_ends_of_each_visible_slider_on_a_page(site, panels, name):
    """The same curves, limits and words of short runs; of long ones, in which round-off grows, the
    same curves leave the picture."""
    (watched, at), panel = site, panels[name]
    short = {"T": panel.controls["T"].min} if "T" in panel.controls else {}
    for key in panel.figure.seen_at_once:
        for end in (panel.controls[key].min, panel.controls[key].max):
            values = panel._defaults | {key: end}
            compare(watched.shown(at[name], values | short), panel, values | short)
            panel.set(**values)
            compare_leaving(watched.shown(at[name], values), panel, values)


AT_FIRST = "At the first values:"


def claims(caption: str, panel) -> list[str]:
    """What a caption states of sliders, in words before AT_FIRST: that these have the values with
    which the panel opens, or that a motion begins at rest."""
    text, found = caption.split(AT_FIRST)[0].replace("alpha = 1/2", "alpha = 0.5"), []
    for key, first in panel._defaults.items():
        kind, _, name = key.rpartition(".")
        if not isinstance(first, float):
            continue
        stated = re.findall(rf"(?<!\w){name}(?:\(0\))? = ([-\w.]+)", text)
        numbers = [x.rstrip(".") for x in stated]
        found += [
            f"{name} = {x}" for x in numbers if not re.fullmatch(r"-?\d*\.?\d+", x)
            or float(x) == pytest.approx(first)
        ]  # fmt: skip
        if kind in ("q0", "v0"):
            found += re.findall(rf"{kind} = .*?[,.;]|at rest|standing still", text)
        found += re.findall(r"to t = \d+", text) if name == "T" else []
    return found


def test_captions_are_true_when_a_slider_has_moved(panels):
    """What they say of values is said of the first ones; the control is a caption as it was."""
    for name, panel in panels.items():
        for figure in (panel.figure, panel.figure.for_page()):
            assert claims(figure.caption, panel) == [], name
    for name in STATEMENTS:
        assert AT_FIRST in panels[name].figure.caption
    for name in ("cm01_fig1", "cm01_fig3", "fim08_fig1", "fim08_fig2", "fim08_fig4", "fim08_fig5"):
        assert claims(STATEMENTS[name].caption, panels[name]), name


def test_whoever_moves_a_start_is_offered_the_change_of_the_energy(panels):
    """Wherever a view of energies and a slider for the start are; the relative change is there."""
    met = set()
    for name, panel in panels.items():
        figure, first = panel.figure, panel._defaults
        starts = [k for k in panel.controls if k.startswith(("q0.", "v0."))]
        energies = [x for x in ("energy", "midpoint energy") if x in figure.views]
        if not starts or not energies:
            continue
        moved = first | {starts[0]: panel.controls[starts[0]].max}
        for view in energies:
            assert figure.offer(first | {"view": view}) is None
            _, offered = figure.offer(moved | {"view": view})
            assert offered == moved | {"view": f"{view} error"}, name
        assert "relative energy error" in figure.views, name
        met.add(name)
    sleigh = panels["sleigh"]  # of the choice of systems; there DLA keeps wd for every alpha
    moved = sleigh._defaults | {"view": "discrete constraint", "alpha": 0.2}
    assert sleigh.figure.offer(moved)[1] == moved | {"view": "node constraint"}
    assert {"00.3", "00.4", "01.3", "05.2", "05b.a", "09b.3", "sleigh"} <= met


def test_the_ghost_of_a_band_is_its_mean(site):
    watched, at = site
    lengths = """k => {
        const page = nhlab_pages[k];
        page.reset();
        return page.sources[page.view.axes[0].diagram].map(parts =>
            [parts[0], parts[2], parts[3]].map(x => x.data.x.length));
    }"""
    rk4, dla, _ = watched.page.evaluate(lengths, at["cm01_fig1"])
    assert rk4[0] == rk4[1] == dla[0] == 1251 and rk4[2] == 0
    assert 0 < dla[1] == dla[2] < 1251


# The letters of a drawing that are written, in pixels, and how many there are.
LETTERS = """([k, values]) => {
    const page = nhlab_pages[k];
    page.reset();
    page.set(values);
    const {diagram} = page.view.axes[0];
    const {x_range, y_range, inner_width, inner_height} = page.figures[diagram];
    const {x, y, text, right, down} = page.texts[diagram].data_source.data;
    const [a, b] = [inner_width / (x_range.end - x_range.start),
        inner_height / (y_range.end - y_range.start)];
    const places = text.map((word, k) => [word, a * x[k] + right[k], b * y[k] - down[k]]);
    return [places.filter(x => x[0]), places.length];
}"""


def test_names_of_nodes_stand_beside_them_and_apart(site):
    watched, at = site
    few, count = watched.page.evaluate(LETTERS, [at["fim08_fig1"], {}])
    assert len(few) == count == 4
    many, count = watched.page.evaluate(LETTERS, [at["fim08_fig1"], {"h": 0.2, "T": 6.0}])
    assert 4 < len(many) < count == 31
    for (_, x, y), (_, u, v) in itertools.combinations(many, 2):
        assert abs(x - u) > 20 or abs(y - v) > 14


# Each control alone, by its widget: whether that is painted at once, and a run is one of its new
# value or, where runs are kept or there are none, the curves are others.
MOVED = """async k => {
    const page = nhlab_pages[k], {controls, book} = page;
    const shown = () => JSON.stringify([page.words, book.views.map(x => x.axes.map(
        ({diagram: d}) => page.sources[d].map(([{data: {x, y}}]) => [[...x], [...y]])))]);
    let paintings = 0;
    for (const figure of page.figures) {
        const view = Bokeh.index.find_one(figure), paint = view.paint;
        view.paint = function () { paintings += !this.is_paused; return paint.call(this); };
    }
    const found = [];
    for (const [j, {key, values}] of book.controls.entries()) {
        page.reset();
        const before = shown(), c = controls[j];
        await null;
        paintings = 0;
        c.value = values ? String((Number(c.value) + 1) % values.length)
            : c.value > (c.start + c.end) / 2 ? c.start : c.end;
        for (let k = 0; k < 10; k++) await null;  // callbacks are promises, within the same frame
        const now = page.values[key], alike = x => x === now || Math.abs(x - now) < 1e-9;
        const made = Object.values(page.runs).some(x => alike(x.call.values[key]));
        const asked = made || shown() !== before;
        found.push([key, paintings > 0, asked]);
    }
    return found;
}"""


@pytest.mark.parametrize("name", NAMES)
def test_every_control_moves_the_page_at_once(site, panels, name):
    (watched, at), controls = site, panels[name].controls
    found = watched.page.evaluate(MOVED, at[name])
    assert [key for key, *_ in found] == [*controls]
    assert all(painted for _, painted, _ in found), found
    assert all(changed for _, _, changed in found), found


# A slider dragged from end to end: the limits of the diagrams after each step.
DRAGGED = """([k, key, values]) => {
    const page = nhlab_pages[k], at = page.book.controls.findIndex(x => x.key === key);
    page.reset();
    const views = page.book.views, view = views.find(x => x.name === page.values.view) ?? views[0];
    return values.map(x => {
        page.controls[at].value = x;
        page.redraw(false);
        return view.axes.map(({diagram}) => {
            const {x_range, y_range} = page.figures[diagram];
            return [x_range.start, x_range.end, y_range.start, y_range.end];
        });
    });
}"""
# A page has another shape than a picture, so limits to scale differ: these show paths alone.
PATHS = ("fim08_fig1", "fim08_fig3", "fim08_fig4", "00.2", "01.5")
PLANE = [x for x in (*STATEMENTS, *LESSONS) if x not in PATHS]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PLANE)
def test_limits_of_a_page_are_those_of_the_panel_while_a_slider_is_dragged(site, panels, name):
    (watched, at), panel = site, panels[name]
    rng = np.random.default_rng([*name.encode()])
    keys = [k for k, c in panel.controls.items() if hasattr(c, "max") and k != "T"]
    for key in [rng.choice(keys), *keys]:  # some sliders leave the limits as they are
        c, seen = panel.controls[key], []
        values = [*np.linspace(c.min, c.max, 15).tolist()]
        panel.reset()
        for x in values:
            panel._silent = True
            c.value = x
            panel._silent = False
            panel._show(quick=False, resting=False)
            seen.append([[*ax.get_xlim(), *ax.get_ylim()] for ax in panel.picture.axes])
        if len({str(x) for x in seen}) > 1:
            break
    got = watched.page.evaluate(DRAGGED, [at[name], key, values])
    assert np.array(got) == pytest.approx(np.array(seen), rel=1e-6, abs=1e-9), key
    # a logarithmic axis that holds errors from 1e-5 to 5 holds those of every a
    assert len({str(x) for x in got}) > 1 or (name, key) == ("fim08_fig5", "par.a")


def test_whoever_zooms_keeps_the_limits_until_the_axes_are_fitted(browser, tmp_path):
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], h=(0.02, 0.4, 0.2), steps=200)
    page = Watched(browser, nh.live(panel, tmp_path / "own.html"), 1).page
    button, first = page.get_by_text("Fit axes"), panel.picture.ax.get_ylim()
    ends = "(({start, end}) => [start, end])(nhlab_pages[0].figures[0].y_range)"
    assert not button.is_visible() and page.evaluate(ends) == pytest.approx(first)
    page.evaluate("nhlab_pages[0].figures[0].y_range.setv({start: 1, end: 7})")
    button.wait_for()
    page.evaluate("nhlab_pages[0].set({h: 0.4})")
    assert page.evaluate(ends) == [1, 7]
    button.click()
    page.wait_for_function("nhlab_pages[0].figures[0].y_range.end < 6")
    panel.set(h=0.4)
    assert page.evaluate(ends) == pytest.approx(panel.picture.ax.get_ylim())
    assert not button.is_visible()


def test_nothing_went_wrong_nor_out_of_the_machine(site):
    watched, _ = site
    assert not watched.wrong
    assert all(url.startswith(("file://", "data:", "blob:")) for url in watched.asked)


TO_SCALE = """() => {
    const figure = nhlab_pages[0].figures.find(x => x.visible);
    const unit = (range, room) => (range.end - range.start) / room;
    const across = unit(figure.x_range, figure.inner_width);
    return Math.abs(across / unit(figure.y_range, figure.inner_height) - 1) < 0.01;
}"""


def test_one_file_shows_several_systems_on_a_phone(browser, tmp_path):
    """The widgets are relabelled, everything fits into the window, and the keyboard moves it."""
    systems = {name: chosen(getattr(nh.systems, name)()) for name in ("particle", "kepler")}
    file = nh.live(systems, tmp_path / "own.html")
    watched = Watched(browser, file, 1, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = watched.page
    assert page.evaluate("nhlab_pages[0].dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("nhlab_pages[0].open(1)")
    more = page.get_by_role("button", name="More")
    assert more.bounding_box()["height"] >= 24
    assert page.get_by_label("step size h").bounding_box()["height"] >= 24
    more.click()
    titles = page.evaluate("nhlab_pages[0].controls.filter(x => x.visible).map(x => x.title)")
    assert "mu" in titles and "x(0)" in titles
    (got,) = watched.shown(0, {"view": "x y"})["curves"]
    sol = nh.integrate(nh.systems.kepler(), nh.DLA(), h=0.1, steps=200)
    assert got[0] == [pytest.approx(x, rel=1e-9, abs=1e-9) for x in sol.q.T]
    page.wait_for_function(TO_SCALE)  # also in a room that was laid out afterwards
    page.get_by_label("step size h").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("nhlab_pages[0].values.h > 0.1")
    assert page.evaluate("nhlab_pages[0].runs.dla.call.h") == pytest.approx(0.105, abs=0.006)
    assert not watched.wrong and watched.asked == [f"file://{file}"]


def test_a_page_has_few_sliders_settings_to_try_and_what_the_start_calls_for(browser, tmp_path):
    panel = nh.paper_figure("cm01_fig1")
    watched = Watched(browser, nh.live(panel, tmp_path / "own.html"), 1)
    page = watched.page
    titles = "nhlab_pages[0].controls.filter(x => x.visible).map(x => x.title)"
    assert page.evaluate(titles) == ["step size h", "alpha", "y(0)", "vx(0)"]
    twice, above = page.get_by_role("button", name="a step twice as large"), page.get_by_text("Try")
    assert above.bounding_box()["y"] < twice.bounding_box()["y"]
    twice.click()
    assert page.evaluate("nhlab_pages[0].values.h") == 0.4
    assert page.locator("button.now").inner_text() == "a step twice as large"
    offer = page.get_by_role("button", name="show E - E(0)")
    assert offer.count() == 0
    page.evaluate("nhlab_pages[0].set({'v0.vx': 0.5})")
    offer.click()
    assert page.evaluate("nhlab_pages[0].values.view") == "E - E(0) at the nodes"
    assert offer.count() == 0
    page.get_by_role("button", name="More").click()
    assert len(page.evaluate(titles)) == len(panel.controls)
    page.get_by_role("button", name="Less").click()
    assert len(page.evaluate(titles)) == 4
    assert not watched.wrong


FOCUS = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.getAttribute("aria-label") ?? at?.textContent;
}"""
# What a finger or the mouse touches: in the page and in the shadows of its widgets.
TOUCHED = """() => {
    const found = [], what = "button, select, input, a, [role=button], [role=slider], .noUi-handle";
    const look = root => {
        for (const x of root.querySelectorAll("*")) {
            if (x.shadowRoot) look(x.shadowRoot);
            const {width, height} = x.getBoundingClientRect();
            if (x.matches(what) && width * height > 0) found.push([x.outerHTML, width, height]);
        }
    };
    look(document);
    return found;
}"""


def test_a_page_by_keyboard_alone_on_a_phone_that_remembers_more(browser, tmp_path):
    """Every control is reached by the key Tab, at least 24 pixels wide and high, and whoever
    presses a button stays at it."""
    file = nh.live(nh.paper_figure("cm01_fig1"), tmp_path / "own.html")
    watched = Watched(browser, file, 1, viewport={"width": 390, "height": 844})
    page, met = watched.page, []

    def tab(end):
        for _ in range(40):
            page.keyboard.press("Tab")
            met.append(page.evaluate(FOCUS))
            if met[-1].endswith(end):
                return
        raise AssertionError(f"{end} is not reached: {met}")

    tab("+ More")
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUS).endswith("Less")
    tab("vx(0)")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    tab("show E - E(0)")
    page.keyboard.press("Enter")
    assert page.evaluate("nhlab_pages[0].values.view") == "E - E(0) at the nodes"
    assert page.evaluate(FOCUS).endswith("Less")  # where the button was that is gone
    tab("vx(0)")
    titles = {
        c.description for c in nh.paper_figure("cm01_fig1").controls.values() if hasattr(c, "max")
    }
    assert titles | {"Reset", "Copy as code", "Show the code"} <= {*met}
    sizes = page.evaluate(TOUCHED)
    assert len(sizes) > 15 and all(min(size) >= 24 for _, *size in sizes), sizes
    page.reload()
    page.wait_for_function("window.nhlab_pages?.length === 1")
    page.get_by_role("button", name="Less").wait_for()
    assert len(page.evaluate("nhlab_pages[0].controls.filter(x => x.visible)")) > 4
    assert not watched.wrong


def test_a_reader_s_own_system_with_odd_names_warned_of_and_copied(browser, tmp_path):
    """Words of JavaScript as names, a jump of the energy, and the code of what is shown."""
    let, new, this, function = nh.symbols("let new this function")
    q = let, sp.Symbol("class", real=True)  # no name in Python either
    L = (new**2 + this**2) / 2 - function * (q[0] ** 2 + q[1] ** 2)
    start = {"q0": (1, 0.5), "v0": (0, 1), "parameters": {function: 0.7}}
    own = nh.System(q, (new, this), L, name="<b>odd</b>", **start)
    options = {"h": (0.1, 4, 0.2), "alpha": (0, 1, 0.5), "steps": 40, "start": "class"}
    options |= {"parameters": "function", "extra": {"end": lambda sol: sol.q[-1, 0]}}
    panel = nh.explore(own, [nh.Variational(), nh.RK4()], ["energy", "let class"], **options)
    watched = Watched(browser, nh.live(panel, tmp_path / "own.html"), 1)
    values = {"h": 3.0, "alpha": 0.3, "par.function": 0.9, "method": 1, "view": "energy"}
    values |= {"q0.class": 0.25}
    got = watched.shown(0, values)
    compare(got, panel, values)
    assert words(panel.message.value) in words(got["words"])
    assert "the energy changes" in panel.message.value
    watched.page.get_by_text("Copy as code").click()
    watched.page.get_by_text("Copied").wait_for()
    listed = watched.page.locator("pre").inner_text()
    assert listed == words(panel.listing.value) and "system.set(function=0.9)" in listed
    watched.page.get_by_text("Show the code").click()
    watched.page.evaluate("nhlab_pages[0].set({h: 2.5})")
    watched.page.locator("pre", has_text="h=2.5").wait_for()  # it follows the sliders
    watched.page.get_by_text("Hide the code").click()
    watched.page.locator("pre").wait_for(state="detached")
    assert watched.page.get_by_text("Not on this page: end.").is_visible()
    watched.shown(0, {"h": 0.1, "par.function": 0.7, "method": -1})
    assert "the energy changes" not in watched.page.evaluate("nhlab_pages[0].words")
    assert not watched.wrong


def test_a_rotation_off_the_group_is_refused_where_it_is_moved(browser, tmp_path):
    panel = nh.explore(nh.systems.suslov(), [nh.DLA()], steps=20, start=["gw"])
    watched = Watched(browser, nh.live(panel, tmp_path / "suslov.html"), 1)
    assert "off the constraints or the group" in watched.shown(0, {"q0.gw": 0.5})["words"]
    panel.set(**{"q0.gw": 0.5})
    assert "no rotation" in panel.message.value


def test_live_shows_the_same_in_a_notebook():
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], steps=20)
    html = nh.live(panel)._repr_html_()
    assert html.startswith("<iframe") and "srcdoc=" in html and "http-equiv" not in html


@pytest.mark.parametrize("what", [nh.panel, "particle", 3, None, nh.systems.particle(), []],
                         ids=["panel", "text", "number", "None", "system", "list"])  # fmt: skip
def test_live_refuses_what_cannot_compute_without_python(what):
    with pytest.raises(ValueError, match=r"nh\.explore"):
        nh.live(what)
    with pytest.raises(ValueError, match=r"nh\.explore"):
        nh.live({"name": what})


def test_live_says_what_is_wrong_in_a_line(tmp_path):
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], steps=20)
    wrong = {
        "a list cannot": lambda: nh.live([panel]),
        "what is empty": lambda: nh.live({}),
        "there is no folder": lambda: nh.live(panel, tmp_path / "none" / "page.html"),
        "is a folder": lambda: nh.live(panel, tmp_path),
        "path = 3": lambda: nh.live(panel, 3),
    }
    for match, call in wrong.items():
        with pytest.raises(ValueError, match=match) as said:
            call()
        assert len(str(said.value)) < 300


def test_without_bokeh_the_remedy_is_said(monkeypatch):
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], steps=20)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    for name in [x for x in sys.modules if x.startswith("bokeh.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'nhlab\[live\]'"):
        nh.live(panel)


def test_a_lesson_s_panel_is_made_by_what_its_notebook_says():
    """Of the cells before it only those run that its call needs, and they run in their order."""
    cells = [
        "import nhlab as nh\nimport numpy as np",
        "raise RuntimeError('nobody needs this')",
        "h = 0.1\nbody = nh.systems.particle()\nh = 2 * h",
        "def steps(of):\n    return round(2 / of)",
        'nh.predict("07.3", nh.explore(body, [nh.DLA()], h=(0.05, 0.4, h), steps=steps(h)))',
        "again = nh.explore(body, [nh.RK4()], steps=4)",
    ]
    found = panels_of("07_reduction", cells)
    assert {k: (x.notebook, x.cell) for k, x in found.items()} == {
        "07.3": ("07_reduction", cells[4]),
        "07.a": ("07_reduction", cells[5]),
    }
    first = found["07.3"]()
    assert first.controls["h"].value == 0.2 and first.figure.setting.call({"h": 0.2}).steps == 10


def test_every_panel_of_the_notebooks_has_its_page():
    """As many as the notebooks have calls of ``nh.explore`` and figures of the papers that open on
    another view, under names of their own."""
    for file in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        code = [x.source for x in nbformat.read(file, 4).cells if x.cell_type == "code"]
        names = [x for x in of_lesson(file.stem.partition("_")[0]) if x not in ADDED]
        text = "\n".join(code)
        opened = len(re.findall(r"nh\.paper_figure\([^()]*view=", text))
        assert len(names) == text.count("nh.explore(") + opened, file.stem
    assert {*STATEMENTS, "own"} < {*PAGES} and len(LESSONS) > 7
