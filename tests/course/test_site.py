"""The site, built once: its links, its pictures' descriptions, and its pages in a real browser.

Needs the packages of the extra ``site``; what is seen in Chromium is skipped without it.
"""

import doctest
import functools
import http.server
import shutil
import threading
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest

import nhlab as nh

NEEDED = ["myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline", "bokeh"]
missing = [name for name in NEEDED if find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")

from nhlab.course.exercises import written  # noqa: E402
from nhlab.course.site import build, lesson, links, lite, plug, reference, texts  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
LESSONS = sorted(p.stem for p in (ROOT / "notebooks").glob("*.ipynb"))
PANEL = 'nh.paper_figure("cm01_fig1")'
SEEN = ["index.html", "own.html", "api/methods.html", "figures/README.html", "teachers.html"]
SEEN += [f"notebooks/{name}.html" for name in LESSONS]


def slider():
    """A live figure as small as can be: a slider that moves the end of a line."""
    from bokeh.embed import components
    from bokeh.layouts import column
    from bokeh.models import ColumnDataSource, CustomJS, Slider
    from bokeh.plotting import figure

    source = ColumnDataSource({"x": [0, 1], "y": [0, 1]}, name="line")
    plot = figure(height=200, sizing_mode="stretch_width")
    plot.line("x", "y", source=source)
    moved = CustomJS(args={"source": source}, code="source.data = {x: [0, 1], y: [0, this.value]}")
    control = Slider(start=0, end=2, value=1, step=0.1, title="slope")
    control.js_on_change("value", moved)
    return components(column(plot, control, sizing_mode="stretch_width"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site with two live figures: on a page of its own, and in a prediction of lesson 02."""
    out = tmp_path_factory.mktemp("site") / "site"
    live = {"own": {"": slider()}, "02_dla": {PANEL: slider()}}
    assert build.build(out, live) == 0  # a warning of Sphinx is a failure
    return out


# ---------------------------------------------------------------------------- what needs no page


@pytest.mark.parametrize("name", nh.__all__)
def test_every_public_name_has_an_example_that_is_true(name):
    session = reference.examples().get(name)
    assert session, f"nhlab/course/site/examples.md has no example of nh.{name}"
    parsed = doctest.DocTestParser().get_doctest(session, {"nh": nh, "np": np}, name, None, 0)
    told = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(parsed, out=told.append).failed == 0, "".join(told)


def test_examples_are_of_public_names():
    assert set(reference.examples()) <= set(nh.__all__)


def test_docstrings_become_markup():
    lines = [
        "One |a| sentence*.",
        "",
        "h, steps : size and",
        "    number of ``*`` steps",
        "q : (n,)",
    ]
    text = "\n".join(reference.readable(lines))
    assert r"One \|a\| sentence\*." in text
    assert "- **h, steps**: size and\n  number of ``*`` steps\n" in text and "- **q**: (n,)" in text


def notebook(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def test_a_lesson_to_read_has_nothing_that_only_works_when_it_runs(tmp_path):
    made = lesson.page(notebook("02_dla"), lesson.Pictures(tmp_path, "p"), "../run.md")
    text = nbformat.writes(made)
    assert "Not answered yet" not in text and "base64" not in text
    assert made.cells[0].source.count("(../run.md)") == 1
    hints, code = written("02.1")
    folded = next(c.source for c in made.cells if "exercise 02.1" in c.source)
    assert code in folded and folded.index("<details>") < folded.index(hints[0])
    assert folded.count("<details>") == folded.count("</details>") == len(hints) + 1


def test_a_live_figure_takes_the_place_of_its_picture(tmp_path):
    put = functools.partial(lesson.page, pictures=lesson.Pictures(tmp_path, "p"), run="../run.md")
    made = put(notebook("02_dla"), live={PANEL: "<b>moves</b>"})
    (cell,) = (c for c in made.cells if "<b>moves</b>" in c.source)
    assert cell.source.index("<details>") < cell.source.index("<b>moves</b>")  # it is the answer
    assert "<img" not in cell.source and lesson.MOVING in made.cells[0].source
    with pytest.raises(ValueError, match="no cell has the code 'nowhere'"):
        put(notebook("02_dla"), live={"nowhere": ""})


def test_the_link_checker_sees_faults(tmp_path):
    text = '<a href="b.html#no"></a><a href="c.html"></a><img src="http://far/x.png" alt="short">'
    (tmp_path / "a.html").write_text(text)
    (tmp_path / "b.html").write_text('<a href="a.html#top" id="yes"></a><a href="#yes"></a>')
    (tmp_path / "lite").mkdir()  # somebody else's pages
    (tmp_path / "lite/index.html").write_text('<a href="nowhere.html"></a>')
    count, faults = links.check(tmp_path)
    assert count == 4
    words = ["no place b.html#no", "no c.html", "loads http://far/x.png", "does not say"]
    assert len(faults) == 4 and all(any(w in f for f in faults) for w in words)


def test_teachers_see_what_a_lesson_says_of_itself():
    title, minutes, predictions, exercises = texts.row("02_dla", notebook("02_dla"))
    assert title == "[02 · The discrete Lagrange–d'Alembert method](notebooks/02_dla.ipynb)"
    assert f"About {minutes} minutes" in notebook("02_dla").cells[0].source
    assert (predictions, exercises) == (8, 5)


def test_the_address_is_said_in_one_place(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/nhlab")
    assert build.address() == "https://github.com/someone/nhlab"
    assert "/gh/someone/nhlab/HEAD" in texts.binder(build.address())


# ---------------------------------------------------------------------------- the built pages


@needs_sphinx
def test_links_pictures_and_where_things_come_from(site):
    count, faults = links.check(site)
    assert faults == []
    assert count > 3000
    assert {p.stem for p in (site / "notebooks").glob("*.html")} == set(LESSONS)


@needs_sphinx
def test_it_stays_small(site):
    size = sum(f.stat().st_size for f in site.rglob("*") if f.is_file())
    assert size < 20e6
    assert sum(f.stat().st_size for f in (site / "_static/mathjax").rglob("*") if f.is_file()) < 2e6


@pytest.fixture(scope="module")
def address(site):
    """A server of the site, as plain as can be."""
    quiet = {"log_message": lambda *args: None}
    handler = type("Quiet", (http.server.SimpleHTTPRequestHandler,), quiet)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as p:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
        chromium.close()


@pytest.fixture
def page(browser, address):
    """A page on a phone; what goes wrong on it is kept in ``page.faults``."""
    page = browser.new_page()
    page.faults = []
    page.on("console", lambda m: m.type == "error" and page.faults.append(m.text))
    page.on("pageerror", lambda e: page.faults.append(str(e)))
    page.on("request", lambda r: r.url.startswith((address, "data:")) or page.faults.append(r.url))
    yield page
    page.close()


MATH = """() => MathJax.startup.promise.then(() => ({
    asked: document.querySelectorAll('.math').length,
    set: document.querySelectorAll('.math mjx-container').length,
    wrong: document.querySelectorAll('mjx-merror, [data-mml-node=merror]').length,
    wide: document.documentElement.scrollWidth - innerWidth,
}))"""


@needs_sphinx
@pytest.mark.parametrize("name", SEEN)
def test_a_page_on_a_phone(page, address, name):
    page.goto(address + name)
    if page.evaluate("'MathJax' in window"):
        math = page.evaluate(MATH)
        assert math["set"] >= math["asked"] and math["wrong"] == 0, math
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.faults == []


@needs_sphinx
def test_a_prediction_is_opened_and_its_figure_moved_by_keys(page, address):
    page.goto(address + "notebooks/02_dla.html")
    live = page.locator(".live")
    assert live.count() == 1 and not live.is_visible()
    fold = page.locator("details").filter(has=page.locator(".live")).locator("summary")
    fold.focus()
    page.keyboard.press("Enter")
    handle = live.locator(".noUi-handle").first
    handle.focus(timeout=10_000)
    page.keyboard.press("End")
    line = "Bokeh.documents[0].get_model_by_name('line').data.y"
    page.wait_for_function(f"() => {line}[1] === 2")
    assert live.locator("canvas").first.bounding_box()["width"] > 200
    assert page.faults == []


def test_live_figures_have_their_places():
    assert plug.places("03.4", LESSONS) == [("03_projector_method", 'nh.predict("03.4"')]
    assert plug.places("fim08_fig5", LESSONS) == [("paper_figures", 'paper_figure("fim08_fig5")')]
    assert plug.places("own", LESSONS) == [("own", "")]
    assert ("index", "") in plug.places(plug.FIRST, LESSONS)


def test_without_figures_that_move_no_library_comes_along():
    assert plug.html({}, "_static") == {}
    made = plug.html({"a": ("<script>1</script>", "<div>1</div>"), "b": ("", "")}, "_static")
    assert made["a"].count("bokeh.min.js") == 1 and "bokeh" not in made["b"]


def test_jupyterlite_is_built_with_the_lessons_and_the_library(tmp_path):
    for module in ("jupyterlite_core", "jupyterlite_pyodide_kernel"):
        pytest.importorskip(module)
    lite.build(ROOT, tmp_path / "lite")
    assert (tmp_path / "lite/lab/index.html").exists()
    assert {p.stem for p in (tmp_path / "lite/files").glob("*.ipynb")} == set(LESSONS)
    wheels = list((tmp_path / "lite").rglob("nhlab-*.whl"))
    assert len(wheels) == 1 and wheels[0].stat().st_size > 1e5
    first = nbformat.read(tmp_path / "lite/files/00_start_here.ipynb", as_version=4).cells[0]
    assert first.source == lite.INSTALL
