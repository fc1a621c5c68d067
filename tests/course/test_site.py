"""The site, built once: its links, its pictures' descriptions, and its pages in a real browser.

Needs the packages of the extra ``site``; what is seen in Chromium is skipped without it.
"""

import doctest
import functools
import http.server
import threading
import zlib
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

import nhlab as nh

NEEDED = ["myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline", "bokeh"]
missing = [name for name in NEEDED if find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")

from shown import SHOWN, compare, settings  # noqa: E402

from nhlab.course.exercises import written  # noqa: E402
from nhlab.course.pages import PAGES  # noqa: E402
from nhlab.course.site import build, lesson, links, lite, plug, reference, texts  # noqa: E402
from nhlab.view.outline import plain  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = 4  # of the catalogue's systems, at random
LESSONS = sorted(p.stem for p in (ROOT / "notebooks").glob("*.ipynb"))
PANEL = 'nh.paper_figure("cm01_fig1")'
SEEN = [f"{p.stem}.html" for p in sorted((Path(build.__file__).parent / "pages").glob("*.md"))]
SEEN += [f"api/{name}.html" for name in ("index", *reference.ROOMS)]
SEEN += ["figures/README.html", "genindex.html", "search.html"]
SEEN += [f"notebooks/{name}.html" for name in LESSONS]
FIGURES = {}  # of each page, by its address
for name in PAGES:
    for place, _ in plug.places(name, LESSONS):
        lesson_page = f"notebooks/{place}.html"
        FIGURES.setdefault(lesson_page if lesson_page in SEEN else f"{place}.html", []).append(name)


@pytest.fixture(scope="module")
def panels():
    """What the site's live figures show, as the notebooks have it."""
    return {name: make() for name, make in PAGES.items()}


@pytest.fixture(scope="module")
def site(tmp_path_factory, panels):
    """The whole site, with every live figure."""
    out = tmp_path_factory.mktemp("site") / "site"
    assert build.build(out, plug.course(LESSONS, panels)) == 0  # a warning of Sphinx is a failure
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
    title, needs, minutes, *todo = texts.row("02_dla", notebook("02_dla"))
    assert title == "[02 · The discrete Lagrange–d'Alembert method](notebooks/02_dla.ipynb)"
    assert f"About {minutes} minutes" in notebook("02_dla").cells[0].source
    assert (needs, todo) == ("01", [8, 5])
    name = "06_symmetry_and_momentum"
    assert texts.row(name, notebook(name))[1:3] == ("01, 02, 03", "90 + 60")
    assert texts.hours({x: notebook(x) for x in ("02_dla", name)}, ["06"]) == "2.5"


def test_a_page_to_read_promises_what_it_has(tmp_path):
    """The note speaks of what moves, of what stands still, of answers; or there is none."""
    put = functools.partial(lesson.page, pictures=lesson.Pictures(tmp_path, "p"), run="../run.md")
    said = {x: put(notebook(x)).cells[0].source for x in ("02_dla", "notation")}
    assert ":::{note}" not in said["notation"]
    assert lesson.FOLDED in said["02_dla"] and lesson.MOVING not in said["02_dla"]
    live = {f'nh.paper_figure("{x}")': "<b>moves</b>" for x in PAGES if "fig" in x}
    text = put(notebook("paper_figures"), live=live).cells[0].source
    assert lesson.MOVING in text and "(../run.md)" in text
    assert "last run" not in text and lesson.FOLDED not in text


def test_the_address_is_said_in_one_place(monkeypatch):
    """README.md and CITATION.cff have what pyproject.toml says, if it says something."""
    assert texts.doors(build.stated()) in (ROOT / "README.md").read_text(encoding="utf-8")
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cff.get("repository-code", "") == build.stated()
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/nhlab")
    url = build.address()
    assert url == "https://github.com/someone/nhlab"
    assert "/gh/someone/nhlab/HEAD" in texts.binder(url) and texts.binder("") != texts.binder(url)
    assert "](https://someone.github.io/nhlab/)" in texts.doors(url)
    assert texts.binder(url).split("](")[1].split(")")[0] in texts.doors(url)


# ---------------------------------------------------------------------------- the built pages


@needs_sphinx
def test_links_pictures_and_where_things_come_from(site):
    count, faults = links.check(site)
    assert faults == []
    assert count > 3000
    assert {p.stem for p in (site / "notebooks").glob("*.html")} == set(LESSONS)


@needs_sphinx
def test_the_library_is_described_in_our_own_words(site):
    text = "".join(p.read_text(encoding="utf-8") for p in (site / "api").glob("*.html"))
    assert "Alias for field number" not in text  # Python's, of a named tuple
    assert "canonical form of" not in text  # SymPy's, of a function


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
def phone(browser):
    return browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")


@pytest.fixture
def page(phone, address):
    """A page on a phone; what goes wrong on it is kept in ``page.faults``."""
    page = phone.new_page()
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
}))"""
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Diagrams and handles of sliders of which those who hear the page are not told what they are.
MUTE = """() => (window.nhlab_pages ?? []).flatMap(page => [
    ...page.figures.map(x => [Bokeh.index.find_one(x).shadow_el.host, 12]),
    ...page.controls.map(x => [Bokeh.index.find_one(x).shadow_el.querySelector('.noUi-handle'), 1]),
].filter(([x, least]) => x && (x.getAttribute('aria-label') ?? '').length < least))"""
OPEN = "document.querySelectorAll('details').forEach(x => { x.open = true; })"
# A figure is made when it comes near.
MADE = """async () => {
    for (const [k, x] of document.querySelectorAll('.live').entries()) {
        x.scrollIntoView();
        while (!(window.nhlab_pages?.length > k)) await new Promise(requestAnimationFrame);
    }
    return (window.nhlab_pages ?? []).length;
}"""


@needs_sphinx
def test_every_page_is_looked_at(site):
    assert {p.relative_to(site).as_posix() for p in site.rglob("*.html")} == set(SEEN)
    again = sum(map(len, plug.AGAIN.values())) + 1  # in lessons, and on the first page
    assert sum(map(len, FIGURES.values())) == len(PAGES) + again


@needs_sphinx
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SEEN)
def test_a_page(page, address, panels, name):
    """On a phone in the dark, then on a desk; its figures are moved and compared."""
    figures = FIGURES.get(name, [])
    page.goto(address + name)
    page.evaluate(OPEN)
    assert page.evaluate(MADE) == len(figures)
    if page.evaluate("'MathJax' in window"):
        math = page.evaluate(MATH)
        assert math["set"] >= math["asked"] and math["wrong"] == 0, math
    for size in ({"width": 390, "height": 844}, {"width": 1366, "height": 768}):
        page.set_viewport_size(size)
        assert page.evaluate(WIDE) <= 0, size
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(MUTE) == []
    for figure in figures:
        move(page, panels[figure], figure)
    assert page.faults == []


def move(page, panel, name):
    """A figure at a random setting; where there are several to choose from, some of them."""
    rng = np.random.default_rng([*name.encode()])
    if isinstance(panel, dict):
        for k in rng.permutation(len(panel))[:CHOSEN]:
            page.evaluate(f"nhlab_pages[0].open({k})")
            move(page, list(panel.values())[k], name)
        return
    figure = PAGES[name].args[0] if isinstance(PAGES[name], functools.partial) else None
    captions = page.evaluate("nhlab_pages.map(x => x.book.caption)")
    at, values = captions.index(plain(panel.outline().caption)), settings(panel, rng)
    compare(page.evaluate(SHOWN, [at, values]), panel, values, figure)


ACTIVE = """() => {
    let x = document.activeElement;
    while (x.shadowRoot?.activeElement) x = x.shadowRoot.activeElement;
    return x.matches('summary') && x.parentElement.querySelector('.live') ? 'fold' : x.className;
}"""


def tab_to(page, what):
    """Press the tabulator, from the beginning of the text, until something has the focus."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if what in page.evaluate(ACTIVE):
            return
    pytest.fail(f"the tabulator does not lead to {what}")


@needs_sphinx
@pytest.mark.parametrize("name, folded", [("index", False), ("notebooks/02_dla", True)])
def test_a_figure_is_reached_and_moved_by_keys_alone(page, address, name, folded):
    page.goto(f"{address}{name}.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the main content
    live = page.locator(".live").first
    assert live.is_visible() is not folded
    if folded:
        tab_to(page, "fold")
        assert not page.evaluate("'nhlab_pages' in window")
        page.keyboard.press("Enter")
        assert live.is_visible()
    page.wait_for_function("window.nhlab_pages?.[0].runs")
    before = page.evaluate("nhlab_pages[0].runs.dla.rows.length")
    tab_to(page, "noUi-handle")
    page.keyboard.press("End")
    page.wait_for_function(f"nhlab_pages[0].runs.dla.rows.length < {before}")  # larger steps
    assert live.locator("canvas").first.bounding_box()["width"] > 200
    assert page.faults == []


@needs_sphinx
def test_a_figure_follows_the_theme_that_a_reader_chooses(page, address):
    page.goto(f"{address}index.html")
    page.wait_for_function("window.nhlab_pages?.[0].dark")  # as the reader's system is
    page.evaluate("document.querySelector('.theme-change-button[data-mode=light]').click()")
    page.wait_for_function("nhlab_pages[0].dark === false")
    scheme = page.evaluate("getComputedStyle(document.querySelector('.live')).colorScheme")
    assert scheme == "light" and page.faults == []


@needs_sphinx
def test_little_is_loaded_before_a_slider_can_be_moved(page, address, site):
    """3.1 s at 1.6 Mbit/s, if the server compresses; the theme's icons come after it."""
    asked, early, library = [], [], {f"_static/bokeh/{name}" for name in plug.SCRIPTS}

    def name(request):
        return request.url.removeprefix(address).split("?")[0]

    def finished(request):
        library.discard(name(request))
        early.extend([] if library or early else asked)

    page.on("request", lambda request: asked.append(name(request)))
    page.on("requestfinished", finished)
    page.goto(f"{address}index.html")
    page.wait_for_function("window.nhlab_pages?.[0].runs")
    assert len(early) > 10
    assert sum(len(zlib.compress((site / x).read_bytes())) for x in early) < 620e3
    page.wait_for_function("[...document.fonts].some(x => x.status === 'loaded')")
    assert page.faults == []


def test_live_figures_have_their_places():
    assert plug.places("03.4", LESSONS) == [("03_projector_method", 'nh.predict("03.4"')]
    pages, code = ("paper_figures", "03_projector_method"), 'paper_figure("fim08_fig5")'
    assert plug.places("fim08_fig5", LESSONS) == [(page, code) for page in pages]
    assert plug.places("own", LESSONS) == [("own", "")]
    assert ("index", "") in plug.places(plug.FIRST, LESSONS)


def test_without_figures_that_move_no_library_comes_along():
    assert plug.html({}, "_static") == {}
    made = plug.html({"a": ("<script>1</script>", "<div>1</div>"), "b": ("", "")}, "_static")
    assert made["a"].count("bokeh.min.js") == 1 and "bokeh" not in made["b"]
    assert made["a"].endswith('</div>\n<script type="text/plain">1</script>')  # run when it is near


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
