"""Pages that compute by themselves, in Chromium: what they show at random settings of their sliders
is what ``nh.integrate`` computes.

All figures stand on one page, as on a site: Bokeh's scripts are loaded once.  Runs as long as
these do not let round-off grow to 1e-9.
"""

import ast
import inspect
import sys
from functools import partial
from pathlib import Path

import nbformat
import numpy as np
import pytest
from shown import SHOWN, compare, settings

import nhlab as nh
from nhlab.course.figures import STATEMENTS
from nhlab.course.pages import PAGES, chosen, of_lesson
from nhlab.view.outline import plain
from nhlab.view.page import components

pytest.importorskip("bokeh")
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = 2  # of each figure, at random
NAMES = [*STATEMENTS, "00.3", "05.2", "sleigh"]


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
    made = {name: PAGES[name]() for name in NAMES if name in PAGES}
    return made | {name: chosen(getattr(nh.systems, name)()) for name in NAMES if name not in made}


@pytest.fixture(scope="module")
def site(browser, panels, tmp_path_factory):
    """One page with all figures."""
    from bokeh.resources import INLINE

    parts = [components(panel) for panel in panels.values()]
    body = "\n".join(f"{div}\n{script}" for script, div in parts)
    file = tmp_path_factory.mktemp("site") / "index.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{INLINE.render()}<body>{body}")
    watched = Watched(browser, file, len(panels))
    captions = watched.page.evaluate("nhlab_pages.map(x => x.book.caption)")
    at = {name: captions.index(plain(panel.outline().caption)) for name, panel in panels.items()}
    return watched, at


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_the_library_computes(site, panels, name):
    (watched, at), panel = site, panels[name]
    rng = np.random.default_rng([*name.encode()])
    for _ in range(SETTINGS):
        values = settings(panel, rng)
        compare(watched.shown(at[name], values), panel, values, name)


def test_nothing_went_wrong_nor_out_of_the_machine(site):
    watched, _ = site
    assert not watched.wrong
    assert all(url.startswith(("file://", "data:", "blob:")) for url in watched.asked)


def test_one_file_shows_several_systems_on_a_phone(browser, tmp_path):
    """The widgets are relabelled, everything fits into the window, and the keyboard moves it."""
    systems = {name: chosen(getattr(nh.systems, name)()) for name in ("particle", "kepler")}
    file = nh.live(systems, tmp_path / "own.html")
    watched = Watched(browser, file, 1, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = watched.page
    assert page.evaluate("nhlab_pages[0].dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("nhlab_pages[0].open(1)")
    titles = page.evaluate("nhlab_pages[0].controls.filter(x => x.visible).map(x => x.title)")
    assert "mu" in titles and "x(0)" in titles
    (got,) = watched.shown(0, {"view": "x y"})["curves"]
    sol = nh.integrate(nh.systems.kepler(), nh.DLA(), h=0.1, steps=200)
    assert got[0] == [pytest.approx(x, rel=1e-9, abs=1e-9) for x in sol.q.T]
    page.get_by_label("step size h").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("nhlab_pages[0].values.h > 0.1")
    assert page.evaluate("nhlab_pages[0].runs.dla.call.h") == pytest.approx(0.105, abs=0.006)
    assert not watched.wrong and watched.asked == [f"file://{file}"]


def test_live_shows_the_same_in_a_notebook():
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], steps=20)
    html = nh.live(panel)._repr_html_()
    assert html.startswith("<iframe") and "srcdoc=" in html and "http-equiv" not in html


@pytest.mark.parametrize("what", [nh.panel, "particle", 3])
def test_live_refuses_what_cannot_compute_without_python(what):
    with pytest.raises(ValueError, match=r"nh\.explore"):
        nh.live(what)


def test_without_bokeh_the_remedy_is_said(monkeypatch):
    panel = nh.explore(nh.systems.particle(), [nh.DLA()], steps=20)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    for name in [x for x in sys.modules if x.startswith("bokeh.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install bokeh"):
        nh.live(panel)


def test_lessons_have_their_panels():
    assert [of_lesson(x) for x in ("00", "02", "05")] == [
        ["00.3"],
        ["02.2", "02.3"],
        ["05.2", "05.4"],
    ]
    assert {*STATEMENTS, "own"} < {*PAGES}


def calls(source):
    """The calls of ``explore`` in a source, as text without names that notebooks give values."""
    tree = ast.parse(source)
    found = [
        x for x in ast.walk(tree) if isinstance(x, ast.Call) and "explore" in ast.unparse(x.func)
    ]
    return [{k.arg: ast.unparse(k.value) for k in call.keywords} for call in found]


@pytest.mark.parametrize("name", [x for x in PAGES if "." in x])
def test_a_lesson_s_panel_is_that_of_its_notebook(name):
    """A notebook writes its call of ``explore`` for the reader; here stands the same."""
    (file,) = (ROOT / "notebooks").glob(f"{name[:2]}_*.ipynb")
    sources = [x.source for x in nbformat.read(file, 4).cells if x.cell_type == "code"]
    (cell,) = (x for x in sources if f'nh.predict("{name}"' in x)
    if isinstance(PAGES[name], partial):  # a figure of a paper
        assert f'nh.paper_figure("{PAGES[name].args[0]}")' in cell
        return
    (theirs,), (ours,) = calls(cell), calls(inspect.getsource(PAGES[name]))
    assert ours.keys() == theirs.keys()
    differ = {k for k in ours if ours[k] != theirs[k]}
    assert differ <= {"v0"}  # whose value another cell gives
