"""The site, built once: its links, its pictures' descriptions, and its pages in a real browser.

Needs the packages of the extra ``site``; what is seen in Chromium is skipped without it.
"""

import base64
import copy
import functools
import gzip
import http.server
import itertools
import json
import os
import re
import shutil
import subprocess
import threading
import zlib
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

import nhlab as nh

# Rules for readers who hear a page or use keys: `npm install --no-save axe-core` in the project's
# folder, or NHLAB_AXE with the path of axe.min.js.
AXE = Path(os.environ.get("NHLAB_AXE", "node_modules/axe-core/axe.min.js"))
NEEDED = ["myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline", "bokeh"]
missing = [name for name in NEEDED if find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")

from chromium import SOFTWARE, another  # noqa: E402
from shown import RECORDED_SHOWN, SHOWN, compare, compare_recorded, settings  # noqa: E402

from nhlab.course import predict  # noqa: E402
from nhlab.course.exercises import written  # noqa: E402
from nhlab.course.pages import PAGES, RECORDED, predicted  # noqa: E402
from nhlab.course.site import (  # noqa: E402
    answers,
    build,
    contents,
    course,
    lesson,
    links,
    lite,
    plug,
    reference,
    start,
    texts,
)
from nhlab.course.site.recorded import Recorder  # noqa: E402
from nhlab.view import player  # noqa: E402
from nhlab.view.figure import plain  # noqa: E402
from nhlab.view.picture import unpainted  # noqa: E402
from nhlab.view.player import KEY  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CHOSEN = 4  # of the catalogue's systems, at random
LESSONS = sorted(p.stem for p in (ROOT / "notebooks").glob("*.ipynb"))
PANEL = 'nh.paper_figure("cm01_fig1")'
SEEN = [f"{p.stem}.html" for p in sorted((Path(build.__file__).parent / "pages").glob("*.md"))]
SEEN += [f"api/{name}.html" for name in ("index", *reference.ROOMS)]
SEEN += ["figures/README.html", "genindex.html", "search.html"]
SEEN += [f"notebooks/{name}.html" for name in LESSONS]
NOTEBOOKS = {x: nbformat.read(ROOT / "notebooks" / f"{x}.ipynb", as_version=4) for x in LESSONS}
SOURCES = build.sources(NOTEBOOKS)
FIGURES = {}  # of each page, by its address
for name in PAGES:
    for place, _ in plug.places(name, SOURCES):
        lesson_page = f"notebooks/{place}.html"
        FIGURES.setdefault(lesson_page if lesson_page in SEEN else f"{place}.html", []).append(name)
STEPPING = {}  # likewise the figures whose settings were computed before
for name in RECORDED:
    (place,) = (x for x in LESSONS if x.startswith(f"{name.partition('.')[0]}_"))
    STEPPING.setdefault(f"notebooks/{place}.html", []).append(name)


@pytest.fixture(scope="module")
def panels():
    """What the site's live figures show, as the notebooks have it."""
    return plug.make(PAGES)


@pytest.fixture(scope="module")
def site(tmp_path_factory, request):
    """The whole site, with every live figure; NHLAB_SITE may name one that is built already."""
    if "NHLAB_SITE" in os.environ:
        return Path(os.environ["NHLAB_SITE"])
    out = tmp_path_factory.mktemp("site") / "site"
    panels = request.getfixturevalue("panels")
    assert build.build(out, plug.course(SOURCES, panels)) == 0  # a warning of Sphinx is a failure
    return out


# ---------------------------------------------------------------------------- what needs no page


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
    """A notebook of the course; a copy, since a page is made of it."""
    return copy.deepcopy(NOTEBOOKS[name])


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


def prediction_with(film):
    """What a notebook has stored of prediction 00.4 about a motion."""
    asked = predict.predict("00.4", film)
    return asked._repr_mimebundle_()["text/markdown"]


def test_a_motion_is_played_by_the_player_of_its_version(tmp_path):
    """Those of today by one file, beside which figures of the page play; older ones by theirs."""
    sol = nh.integrate(nh.systems.robot(), nh.DLA(), h=0.2, steps=10)
    text = prediction_with(nh.animate(sol))
    older = text.replace(KEY, "nhlab_stage_0")
    old = player.player().replace(KEY, "nhlab_stage_0").encode()
    packed = base64.b64encode(gzip.compress(old)).decode()
    older = older.replace(player._player_text(), packed)
    pictures = lesson.Pictures(tmp_path, "p")
    made = [lesson.prediction("00.4", x, pictures, "run.md", None) for x in (text, text, older)]
    scripts = [re.search(r'<script src="p/(\w+\.js)">', x)[1] for x in made]
    assert scripts[0] == scripts[1] and len(set(scripts)) == 2
    assert (tmp_path / scripts[0]).read_bytes() == player.player().encode()
    assert (tmp_path / scripts[2]).read_bytes() == old
    assert f"K='{KEY}'" in made[0] and "K='nhlab_stage_0'" in made[2]
    assert not any(player._player_text() in x or packed in x for x in made)


def test_a_live_figure_has_one_stage(tmp_path):
    """What moves takes the place of the stored motion and of the picture beside it."""
    panel = nh.explore(nh.systems.robot(), nh.DLA(), h=(0.1, 0.6, 0.5), T=8, motion=True)
    text, pictures = prediction_with(panel), lesson.Pictures(tmp_path, "p")
    still = lesson.prediction("00.4", text, pictures, "run.md", None)
    assert still.count('class="nhlab-stage"') == 1 and still.count("<img") == 2
    moving = lesson.prediction("00.4", text, pictures, "run.md", "<b>moves</b>")
    assert moving.count("<b>moves</b>") == 1
    assert "nhlab-stage" not in moving and "<img" not in moving


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


def written_lesson(title, said, *cells):
    """A notebook with a heading, a sentence below it and cells with code."""
    head = nbformat.v4.new_markdown_cell(f"# {title}\n\n{said}")
    return nbformat.v4.new_notebook(cells=[head, *map(nbformat.v4.new_code_cell, cells)])


COURSE = {  # two lessons, one with a companion that does not say what it needs
    "01_first": written_lesson("01 · First", "About 90 minutes. Before: [0](00_start.ipynb)."),
    "02_second": written_lesson(
        "02 · Second",
        "95 minutes; the exercises take another hour. **You need** lessons [0](00_start.ipynb), "
        "[1](01_first.ipynb). After: [3](03_third.ipynb)",
        'nh.predict("02.1", x)\nnh.check("02.1", 1)',
        'nh.check("02.2", 1)',
    ),
    "02b_second_in_depth": written_lesson("02b · Second in depth", "", 'nh.check("02b.1", 1)'),
    "notation": written_lesson("Notation", ""),
}


def test_teachers_see_what_a_lesson_says_of_itself():
    first, second, deeper = texts.lessons(COURSE).splitlines()[2:]
    assert first == "| [01 · First](notebooks/01_first.ipynb) | 00 | 90 | 0 | 0 |"
    assert second.endswith("| 00, 01 | 95 + 60 | 1 | 2 |")
    link = "[02b · Second in depth](notebooks/02b_second_in_depth.ipynb)"
    assert deeper == f"| &emsp;{link} | 02 |  | 0 | 1 |"  # indented
    assert texts.hours(COURSE, ["02"]) == "2.5"
    for name in contents.lessons(LESSONS):
        assert texts.minutes(NOTEBOOKS[name].cells[0].source), f"{name} does not say how long"


def test_a_companion_belongs_to_its_lesson(tmp_path):
    assert contents.lessons(COURSE) == ["01_first", "02_second"]
    assert contents.companion("02_second", COURSE) == "02b_second_in_depth"
    assert not any(contents.companion(x, COURSE) for x in COURSE if x != "02_second")
    assert contents.lesson_of("02b_second_in_depth", COURSE) == "02_second"
    build.gather(tmp_path, COURSE, {})
    made = {x: (tmp_path / f"notebooks/{x}.ipynb").read_text() for x in COURSE}
    assert "toctree" in made["02_second"] and "02b_second_in_depth" in made["02_second"]
    assert "toctree" not in made["01_first"] + made["02b_second_in_depth"]
    index = (tmp_path / "index.md").read_text()
    assert "notebooks/02_second\n" in index and "02b" not in index
    (_, item) = start.lesson_items(ROOT, COURSE)
    assert item.count("<a ") == 2 and 'href="notebooks/02b_second_in_depth.html"' in item


def test_a_page_to_read_promises_what_it_has(tmp_path):
    """The line at the top speaks of figures that move only where there are some."""
    put = functools.partial(lesson.page, pictures=lesson.Pictures(tmp_path, "p"), run="../run.md")
    said = {x: put(notebook(x)).cells[0].source for x in ("00_start_here", "02_dla", "notation")}
    assert "(../run.md)" not in said["notation"]
    assert "(../run.md)" in said["02_dla"] and lesson.MOVING not in said["02_dla"]
    assert "Run All Cells" not in said["00_start_here"]  # nothing runs here
    live = {f'nh.paper_figure("{x}")': "<b>moves</b>" for x in PAGES if "fig" in x}
    text = put(notebook("paper_figures"), live=live).cells[0].source
    assert lesson.MOVING in text and "(../run.md)" in text


@pytest.mark.parametrize("name", LESSONS)
def test_who_runs_all_cells_is_led_back_to_where_one_reads(name):
    """JupyterLab shows the last cell then."""
    for cell in NOTEBOOKS[name].cells:
        assert "Run All" not in cell.source or "scroll back up" in cell.source


@pytest.mark.parametrize(
    "code, folded",
    [
        ("import nhlab as nh", True),
        ('nh.predict("02.2", panel)', True),
        ('nh.check("02.1", None)', True),
        ('answer = ...  # a number\nnh.check("02.1", answer)', True),
        ("def step(q):\n    v = ...\n    return v", False),
        ('import nhlab as nh\n\nnh.predictions("02")', True),
        ("sol = nh.integrate(particle, nh.DLA())", False),
        ("nh.plot.energy(sol)", False),
        ("import numpy as np\n\nh = 0.1", False),
    ],
)
def test_only_code_that_computes_or_draws_is_shown_at_once(code, folded, tmp_path):
    cell = nbformat.v4.new_code_cell(code)
    lesson.read(cell, lesson.Pictures(tmp_path, "p"), "../run.md", {})
    assert ("hide-input" in cell.metadata.get("tags", [])) is folded


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
    assert size < 20.5e6
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


@pytest.fixture
def page(browser, address):
    """A page on a phone in the dark that remembers nothing of other tests: neither lessons read nor
    a theme chosen.  What goes wrong on it is kept in ``page.faults``."""
    phone = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = phone.new_page()
    page.faults = []
    page.on("console", lambda m: m.type == "error" and page.faults.append(m.text))
    page.on("pageerror", lambda e: page.faults.append(str(e)))
    page.on("request", lambda r: r.url.startswith((address, "data:")) or page.faults.append(r.url))
    yield page
    phone.close()


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
OPEN = """() => {
    for (const x of document.querySelectorAll('.predict .show')) x.click();
    for (const x of document.querySelectorAll('details')) x.open = true;
}"""
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
    assert {name for names in FIGURES.values() for name in names} == set(PAGES)


@pytest.mark.parametrize("name", contents.lessons(LESSONS))
def test_a_lesson_has_three_figures_that_move_and_computes_one(name):
    stored = json.dumps(NOTEBOOKS[name].cells).count(r"class=\"nhlab-stage")
    computed = len(FIGURES.get(f"notebooks/{name}.html", []))
    assert computed >= 1 and stored + computed >= 3, (stored, computed)


def test_an_added_figure_comes_before_the_exercises(tmp_path):
    made = written_lesson("04 · Fourth", "", "x = 1")
    made.cells.append(nbformat.v4.new_markdown_cell("An end.\n\n## Exercises\n\nTry."))
    live = {plug.BEFORE_EXERCISES: "<b>moves</b>"}
    found = lesson.page(made, lesson.Pictures(tmp_path, "p"), "../run.md", live)
    end, moves, exercises_ = (x.source for x in found.cells[-3:])
    assert (end, exercises_) == ("An end.", "## Exercises\n\nTry.") and "<b>moves</b>" in moves


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
    for width, height in ((390, 844), (360, 740), (768, 1024), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDE) <= 0, width
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(MUTE) == []
    for figure in figures:
        move(page, panels[figure], figure)
    for figure in STEPPING.get(name, []):
        step(page, figure)
    assert page.faults == []


def step(page, name):
    """A figure whose settings were computed before, at four of them."""
    page.locator(f'.recorded[data-figure="{name}"]').scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelector('.recorded[data-figure=\"{name}\"]').recorded")
    rng = np.random.default_rng([*name.encode()])
    with unpainted():
        recorder = Recorder(predicted(name)(), *RECORDED[name])
        if recorder.steady:
            recorder.hold_limits()
    recorder.picture.png()  # after which the axes have their places
    for _ in range(4):
        at = [int(rng.integers(len(x))) for x in recorder.choices]
        values = [x[k] for x, k in zip(recorder.choices, at, strict=True)]
        compare_recorded(page.evaluate(RECORDED_SHOWN, [name, at]), recorder, values)


def move(page, panel, name):
    """A figure at a random setting; where there are several to choose from, some of them."""
    rng = np.random.default_rng([*name.encode()])
    if isinstance(panel, dict):
        for k in rng.permutation(len(panel))[:CHOSEN]:
            page.evaluate(f"nhlab_pages[0].open({k})")
            move(page, list(panel.values())[k], name)
        return
    captions = page.evaluate("nhlab_pages.map(x => x.book.caption)")
    at, values = captions.index(plain(panel.figure.for_page().caption)), settings(panel, rng)
    compare(page.evaluate(SHOWN, [at, values]), panel, values)


SERIOUS = """() => axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
    .filter(x => ['serious', 'critical'].includes(x.impact))
    .map(x => [x.id, x.nodes.length, String(x.nodes[0].target)]))"""


@needs_sphinx
@pytest.mark.skipif(not (ROOT / AXE).exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    [
        "index.html", "own.html", "run.html", "teachers.html", "search.html", "genindex.html",
        "api/index.html", "api/run.html", "figures/README.html", "notebooks/notation.html",
        "notebooks/01_variational_integrators.html", "notebooks/02_dla.html",
        "notebooks/05_edla_energy.html", "notebooks/paper_figures.html",
    ],
)  # fmt: skip
def test_no_reader_is_shut_out(browser, address, name, theme):
    with browser.new_context(color_scheme=theme, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(address + name)
        page.evaluate((ROOT / AXE).read_text(encoding="utf-8"))
        assert page.evaluate(SERIOUS) == []  # as it opens
        page.evaluate(OPEN)
        page.evaluate(MADE)
        assert page.evaluate(SERIOUS) == []


ACTIVE = """() => {
    let x = document.activeElement;
    while (x.shadowRoot?.activeElement) x = x.shadowRoot.activeElement;
    return x.className;
}"""


def tab_to(page, what):
    """Press the tabulator, from the beginning of the text, until something has the focus."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if what in page.evaluate(ACTIVE):
            return
    pytest.fail(f"the tabulator does not lead to {what}")


@needs_sphinx
@pytest.mark.parametrize("name, folded", [("paper_figures", False), ("02_dla", True)])
def test_a_figure_is_reached_and_moved_by_keys_alone(page, address, name, folded):
    page.goto(f"{address}notebooks/{name}.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the main content
    live = page.locator(".live").first
    assert live.is_visible() is not folded
    if folded:
        assert not page.evaluate("'nhlab_pages' in window")
        for _ in range(20):  # predictions, until one has a live figure
            tab_to(page, "show")
            page.keyboard.press("Enter")
            if live.is_visible():
                break
    page.wait_for_function("window.nhlab_pages?.[0].runs")
    before = page.evaluate("nhlab_pages[0].runs.dla.rows.length")
    tab_to(page, "noUi-handle")
    page.keyboard.press("End")
    page.wait_for_function(f"nhlab_pages[0].runs.dla.rows.length < {before}")  # larger steps
    assert live.locator("canvas").first.bounding_box()["width"] > 200
    assert page.faults == []


@needs_sphinx
def test_a_figure_follows_the_theme_that_a_reader_chooses(page, address):
    page.goto(f"{address}own.html")
    page.wait_for_function("window.nhlab_pages?.[0].dark")  # as the reader's system is
    page.evaluate("document.querySelector('.theme-change-button[data-mode=light]').click()")
    page.wait_for_function("nhlab_pages[0].dark === false")
    scheme = page.evaluate("getComputedStyle(document.querySelector('.live')).colorScheme")
    assert scheme == "light" and page.faults == []


@needs_sphinx
def test_little_is_loaded_before_a_slider_can_be_moved(page, address, site):
    """4.8 s at 1.6 Mbit/s, if the server compresses, for the page with the most systems and their
    bodies; the theme's icons come after it."""
    asked, early, library = [], [], {f"_static/bokeh/{name}" for name in plug.SCRIPTS}

    def name(request):
        return request.url.removeprefix(address).split("?")[0]

    def finished(request):
        library.discard(name(request))
        early.extend([] if library or early else asked)

    page.on("request", lambda request: asked.append(name(request)))
    page.on("requestfinished", finished)
    page.goto(f"{address}own.html")
    page.wait_for_function("window.nhlab_pages?.[0].runs")
    assert len(early) > 10
    assert sum(len(zlib.compress((site / x).read_bytes())) for x in early) < 950e3
    page.wait_for_function("[...document.fonts].some(x => x.status === 'loaded')")
    assert page.faults == []


# ---------------------------------------------------------------------------- fingers and keys


@pytest.fixture
def touched(browser, address):
    """A page on a phone with a finger: ``touched.drag(element, to)`` moves it over an element."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with browser.new_context(**phone) as context:
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda e: page.faults.append(str(e)))
        finger = context.new_cdp_session(page)

        def drag(element, to):
            """From the middle of an element, by so many pixels."""
            element.scroll_into_view_if_needed()
            box = element.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            for kind, part in (("touchStart", 0), ("touchMove", 0.5), ("touchMove", 1)):
                point = {"x": x + part * to[0], "y": y + part * to[1]}
                finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
            finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        page.drag = drag
        yield page


@needs_sphinx
def test_a_finger_moves_the_first_page(touched, address):
    touched.goto(f"{address}index.html")
    touched.drag(touched.locator("#h"), (-80, 0))
    assert touched.evaluate("runs.dla.h") < 0.4 and touched.faults == []


@needs_sphinx
def test_a_finger_moves_the_slider_of_a_figure_and_draws_a_sketch(touched, address):
    touched.goto(f"{address}notebooks/01_variational_integrators.html")
    knob = touched.locator(".predict .knob").nth(3)
    before = float(knob.get_attribute("aria-valuenow"))
    touched.drag(knob, (0, -40))
    assert float(knob.get_attribute("aria-valuenow")) > before
    touched.goto(f"{address}own.html")
    touched.wait_for_function("window.nhlab_pages?.[0].runs")
    before = touched.evaluate("nhlab_pages[0].values.h")
    touched.drag(touched.locator(".live .noUi-handle").first, (40, 0))
    touched.wait_for_function(f"nhlab_pages[0].values.h > {before}")
    assert touched.faults == []


# Where the focus is, and whether one sees it: an outline, a shadow, or the browser's own ring.
FOCUS = """() => {
    let x = document.activeElement;
    while (x.shadowRoot?.activeElement) x = x.shadowRoot.activeElement;
    const look = getComputedStyle(x), box = x.getBoundingClientRect();
    const ring = look.outlineStyle !== 'none' && look.outlineWidth !== '0px';
    return {name: x.id || x.textContent.trim(), seen: ring || look.boxShadow !== 'none',
        there: box.bottom > 0 && box.top < innerHeight && box.width > 0};
}"""


@needs_sphinx
@pytest.mark.parametrize("name", ["index.html", "notebooks/02_dla.html", "own.html"])
def test_one_sees_where_the_tabulator_leads(page, address, name):
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(address + name)
    if name == "own.html":  # before its figure is there, the walk is short and comes round
        page.wait_for_function("window.nhlab_pages?.[0].runs")
    walk = []
    for _ in range(25):
        page.keyboard.press("Tab")
        walk.append(page.evaluate(FOCUS))
    # the theme's first link comes in by a transition
    assert [x for x in walk if not (x["seen"] and (x["there"] or "Skip" in x["name"]))] == []
    if name == "index.html":
        names = [x["name"] for x in walk]
        assert names[0] == "Skip to the text"
        assert [x for x in names if x in ("h", "again")] == ["h", "again"]


# ---------------------------------------------------------------------------- predictions


def asked(page, kind):
    """The first prediction of a kind on the page, and its data."""
    found = page.locator(f".predict:has([data-form*='\"{kind}\"'])").first
    assert found.locator(".measured").count() == 0 and not found.locator("details").is_visible()
    return found, json.loads(found.locator("[data-form]").get_attribute("data-form"))


@needs_sphinx
@pytest.mark.parametrize("right", [True, False])
def test_a_choice_is_asked_and_judged_on_the_page(page, address, right):
    page.goto(f"{address}notebooks/02_dla.html")
    box, _ = asked(page, "choice")
    truth = box.locator("details strong").first.text_content()
    commit = box.locator("button", has_text="Commit")
    assert commit.is_disabled()
    labels = box.locator(".choices label").all()
    chosen = next(x for x in labels if (x.inner_text().strip() == truth) is right)
    words = chosen.inner_text().strip()
    chosen.click()
    commit.click()
    said = box.locator(".judged").inner_text()
    assert f"Your predictions: {int(right)} of " in page.locator(".tally").inner_text()
    assert said == ("As you predicted:" if right else f"You predicted: {words}. Measured:")
    marks = {words: "yours", truth: "measured"} if not right else {truth: "yours, measured"}
    for x in labels:  # all of them stay, with what was said and what is true
        option, *mark = (y.strip() for y in x.locator("span, small").all_inner_texts())
        assert mark == ([marks[option]] if option in marks else []), option
        assert x.locator("input").is_disabled()
    assert truth in box.locator(".measured").inner_text() and page.faults == []


@needs_sphinx
def test_a_number_is_asked_and_judged_on_the_page(page, address):
    name = next(x for x in LESSONS if any(map(_asks_number, notebook(x).cells)))
    page.goto(f"{address}notebooks/{name}.html")
    box, form = asked(page, "number")
    truth = float(box.locator("details strong").first.text_content().split()[0])
    field, commit = box.locator("input"), box.locator("button", has_text="Commit")
    field.fill("about two")
    commit.click()
    assert "no number" in box.locator(".judged").inner_text()
    field.fill("1e99")
    commit.click()
    assert box.locator(".judged").inner_text().startswith("You wrote 1e+99")  # asked about once
    field.fill(str(truth * (1 + 1.01 * form["near"])))  # just too far
    commit.click()
    assert box.locator(".judged").inner_text().startswith("You predicted: ")
    page.reload()
    box, _ = asked(page, "number")
    box.locator("input").fill(str(truth * (1 + 0.99 * form["near"])))
    box.locator("button", has_text="Commit").click()
    assert box.locator(".judged").inner_text() == "As you predicted:" and page.faults == []


def _asks_number(cell):
    found = lesson.PREDICTION.search(cell.source) if cell.cell_type == "code" else None
    return found and isinstance(form(found[1]), predict.Number)


def form(name):
    return predict.form_of(predict.section(predict.PREDICTIONS, name).split("\n\n", 2)[1])


@needs_sphinx
@pytest.mark.parametrize("right", [True, False])
def test_a_sketch_is_drawn_by_keys_and_judged_on_the_page(page, address, right):
    page.goto(f"{address}notebooks/01_variational_integrators.html")
    box, form = asked(page, "sketch")
    low, high = form["limits"][1]
    knobs = box.locator(".knob").all()
    heights = np.interp(np.linspace(*form["limits"][0], len(knobs)), *form["curve"])
    for knob, y in zip(knobs, heights, strict=True):
        steps = round((y - (low + high) / 2) / ((high - low) / 40)) if right else 20
        knob.focus()
        for _ in range(abs(steps)):
            page.keyboard.press("ArrowUp" if steps > 0 else "ArrowDown")
    box.locator("button", has_text="Commit").click()
    judged = box.locator(".judged").inner_text()
    assert judged == f"Your sketch {'follows' if right else 'leaves'} the measured curve."
    assert box.locator("polyline.measured").count() == 1 and page.faults == []


@needs_sphinx
def test_every_prediction_can_be_uncovered_without_an_answer(page, address):
    page.goto(f"{address}notebooks/02_dla.html")
    count = page.locator(".predict").count()
    tally = page.locator(".tally")
    assert (
        tally.inner_text() == f"Your predictions: 0 of {count} as measured. {count} still to make."
    )
    assert count == sum(len(lesson.PREDICTION.findall(c.source)) for c in notebook("02_dla").cells)
    for box in page.locator(".predict").all():
        box.locator(".show").click()
    assert page.locator(".predict .measured").count() == count and page.faults == []
    assert tally.inner_text() == f"Your predictions: 0 of {count} as measured."  # none was made


# Of the formulas in the text that are wider than a line, how many are there, and how many can be
# scrolled to their ends.
WIDER = """() => {
    const wide = [...document.querySelectorAll('.bd-article span.math')].filter(
        x => x.scrollWidth > x.clientWidth + 4);
    return [wide.length, wide.filter(x => {
        const finger = getComputedStyle(x).overflowX === 'auto';
        x.scrollLeft = 1e4;
        return finger && x.scrollLeft + x.clientWidth >= x.scrollWidth - 1;
    }).length];
}"""


@needs_sphinx
@pytest.mark.parametrize("name", ["03_projector_method", "07_reduction"])
def test_a_phone_cuts_no_formula_off(page, address, name):
    page.goto(f"{address}notebooks/{name}.html")
    page.evaluate("MathJax.startup.promise")
    page.evaluate(OPEN)
    there, scroll = page.evaluate(WIDER)
    assert there == scroll > 0 and page.faults == []


# ---------------------------------------------------------------------------- motions

MOTION = "document.querySelector('.predict .measured .nhlab-stage, .predict details .nhlab-stage')"
# The motion of the first live figure on a page, and its player.
COMPUTED = """Bokeh.index.find_one(nhlab_pages[0].stage)?.shadow_el
    ?.querySelector('.nhlab-stage')?.stage"""


@pytest.fixture(scope="module")
def drawing(browser):
    """A Chromium that draws bodies, a few frames a second."""
    with another(browser, *SOFTWARE) as found:
        yield found


def seen_to_move(page, stage):
    """Wait until a stage has drawn frames of its motion, then stop it."""
    moves = "s && s.playing && s.stats.frames > 1 && s.t > s.t0"
    page.wait_for_function(f"(s => {moves})({stage})", timeout=90_000)
    page.evaluate(f"{stage}.play(false)")


@needs_sphinx
@pytest.mark.parametrize("name", ["00_start_here", "02_dla"])
def test_a_motion_begins_when_it_is_uncovered(drawing, address, name):
    page, faults = drawing.new_page(viewport={"width": 700, "height": 600}), []
    page.on("console", lambda m: m.type == "error" and faults.append(m.text))
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.goto(f"{address}notebooks/{name}.html")
    page.wait_for_function(f"{MOTION}.stage")
    assert not page.evaluate(f"{MOTION}.stage.playing")
    box = page.locator(".predict:has(.nhlab-stage)").first
    box.locator(".show").click()
    box.locator(".nhlab-stage").scroll_into_view_if_needed()
    seen_to_move(page, f"{MOTION}.stage")
    if name == "00_start_here":  # the parked skate, whose run the page computes
        box = page.locator(".predict:has(.live)").first
        box.locator(".show").click()
        box.locator(".live").scroll_into_view_if_needed()
        page.wait_for_function("window.nhlab_pages?.[0].runs")
        seen_to_move(page, COMPUTED)
    page.close()
    assert faults == []


@needs_sphinx
@pytest.mark.parametrize("title", [None, "Segway", "car with trailer"])
def test_choosing_a_system_opens_on_its_moving_body(drawing, address, title):
    """With two sliders and buttons to try; one may choose machines, too."""
    page, faults = drawing.new_page(viewport={"width": 1100, "height": 900}), []
    page.on("console", lambda m: m.type == "error" and faults.append(m.text))
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.goto(f"{address}own.html")
    page.wait_for_function("window.nhlab_pages?.[0].runs", timeout=60_000)
    choice = page.locator(".live select").first
    machines = {"two-wheeled robot", "Segway", "roller racer", "car with trailer"}
    assert {"robot", *machines} < {*choice.locator("option").all_inner_texts()}
    if title:
        choice.select_option(title)
        page.wait_for_function(f"nhlab_pages[0].book.caption.startsWith({title!r})")
    seen_to_move(page, COMPUTED)
    assert page.locator(".live .noUi-handle").filter(visible=True).count() == 2
    assert page.locator(".live button", has_text="twice the step: wider bands?").is_visible()
    page.close()
    assert faults == []


@needs_sphinx
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_body_energies_and_sliders_of_a_chosen_system_are_on_one_screen(page, address, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{address}own.html")
    page.wait_for_function("window.nhlab_pages?.[0].runs", timeout=60_000)
    parts = [page.locator(".live").get_by_role("combobox").first]
    parts += [page.locator(".live .nhlab-stage"), page.locator(".live .bk-Figure").first]
    sliders = page.locator(".live .noUi-handle").filter(visible=True)
    assert sliders.count() == 2
    for part in (*parts, sliders.nth(0), sliders.nth(1)):
        box = part.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= size[1], (part, box)
    assert page.faults == []


@needs_sphinx
def test_a_motion_waits_for_those_who_ask_for_calm(drawing, address):
    with drawing.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{address}notebooks/02_dla.html")
        box = page.locator(".predict:has(.nhlab-stage)").first
        box.locator(".show").click()
        box.get_by_role("button", name="Show the player").click()
        page.wait_for_function(f"{MOTION}.stage?.stats.frames > 0", timeout=60_000)
        assert not page.evaluate(f"{MOTION}.stage.playing")


# ---------------------------------------------------------------------------- reading


def test_a_lesson_leads_to_its_neighbours_and_to_its_companion():
    assert course.neighbours("01_first", COURSE) == {"Next": "02_second"}
    deeper = {"Before": "01_first", "In depth": "02b_second_in_depth"}
    assert course.neighbours("02_second", COURSE) == deeper
    assert course.neighbours("02b_second_in_depth", COURSE) == {"Back to": "02_second"}
    row = course.dots("02b_second_in_depth", COURSE)
    assert row.count("<li>") == 2 and 'title="02 · Second" aria-current="page"' in row


def test_a_lesson_can_be_taken_along():
    assert "binder" not in course.take("01_first", "")
    url = "mybinder.org/v2/gh/someone/nhlab/HEAD?urlpath=lab/tree/notebooks/01_first.ipynb"
    assert url in course.take("01_first", "https://github.com/someone/nhlab")
    stored = NOTEBOOKS["02_dla"]
    bare = nbformat.reads(course.bare(stored), as_version=4)
    assert [x.source for x in bare.cells] == [x.source for x in stored.cells]
    assert not any(x.get("outputs") for x in bare.cells) and any(
        x.get("outputs") for x in stored.cells
    )


@pytest.mark.parametrize(
    "text, note",
    [
        ("It is kept (CM01 (23)), always.", " (CM01 (23))"),
        ("By Noether (FIM08 Corollary 3).", " (FIM08 Corollary 3)"),
        ("CM01 (23) is in the sentence.", ""),
        ("| a | (CM01 (23)) |", ""),
    ],
)
def test_marks_of_papers_go_into_the_margin(text, note):
    made = f'<span class="paper">{note}</span>'
    assert lesson.noted(text) == (text.replace(note, made) if note else text)


def test_links_to_headings_lead_there_on_a_page(tmp_path):
    cell = nbformat.v4.new_markdown_cell("[a](#Why-it-zigzags?) [b](02_dla.ipynb#The-step) [c](#x)")
    lesson.read(cell, lesson.Pictures(tmp_path, "p"), "../run.md", {})
    assert cell.source == "[a](#why-it-zigzags) [b](02_dla.ipynb#the-step) [c](#x)"


# Formulas followed by a comma or a full stop, and those whose mark stands in the next line.
COMMAS = """() => {
    const all = [...document.querySelectorAll('.together')], parted = all.filter(x => {
        const text = document.createRange();
        text.selectNodeContents(x.lastChild);
        const formula = x.querySelector('.math').getBoundingClientRect();
        return text.getBoundingClientRect().top > formula.bottom;
    });
    return [all.length, parted.length];
}"""
BESIDE = """() => [...document.querySelectorAll('.beside')].map(group => {
    const [text, aside] = ['.text', '.stays'].map(x => group.querySelector(x));
    const [left, right] = [aside, text.querySelector('p')].map(x => x.getBoundingClientRect());
    return {apart: left.left - right.right, sticky: getComputedStyle(aside).position,
        picture: Boolean(aside.querySelector('img.picture'))};
})"""
# The characters of full lines, in paragraphs of words alone: lines but the last.
FULL_LINES = """() => [...document.querySelectorAll('section > p:not([class])')].flatMap(p => {
    const lines = Math.round(p.offsetHeight / parseFloat(getComputedStyle(p).lineHeight));
    if (lines < 4 || p.querySelector('mjx-container, .paper')) return [];
    const all = document.createRange();
    all.selectNodeContents(p);
    const width = [...all.getClientRects()].at(-1).right - p.getBoundingClientRect().left;
    return [p.textContent.length / (lines - 1 + width / p.offsetWidth)];
})"""
READ = "document.querySelector('nav.course a[aria-current]').classList.contains('read')"


@needs_sphinx
def test_a_lesson_is_read_remembered_taken_along_and_printed(page, address, site):
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"{address}notebooks/02_dla.html")
    now = page.locator("nav.course a[aria-current]")
    assert now.inner_text() == "02" and "read" not in (now.get_attribute("class") or "")
    page.evaluate("MathJax.startup.promise")
    assert 60 < np.mean(page.evaluate(FULL_LINES)) < 72  # characters a line
    commas, parted = page.evaluate(COMMAS)
    assert commas > 10 and parted == 0
    beside = page.evaluate(BESIDE)
    assert beside
    for x in beside:
        assert x["sticky"] == "sticky" and x["apart"] >= 16 and x["picture"]
    page.evaluate("scrollTo(0, 9000)")  # where one is, and the way home, stay in sight
    for what in ("nav.course", ".bd-header-article .logo"):
        assert 0 <= page.locator(what).bounding_box()["y"] < 60, what
    assert page.locator(".bd-header-article .logo").get_attribute("href") == "../index.html"
    page.locator("nav.onward").scroll_into_view_if_needed()
    page.wait_for_function(READ)
    with page.expect_download() as taken:
        page.locator(".take a").first.click()
    assert taken.value.suggested_filename == "02_dla.ipynb"
    page.goto(f"{address}notebooks/notation.html")
    page.goto(f"{address}notebooks/03_projector_method.html")
    assert page.locator("nav.course a.read").all_inner_texts() == ["02"]
    page.emulate_media(media="print")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light"
    for what in ("nav.course", "nav.onward", ".take", ".bd-header-article"):
        assert not page.locator(what).first.is_visible(), what
    assert page.locator(".predict details").first.is_visible()  # what was measured, for paper
    assert page.locator(".bd-article pre").first.evaluate(
        "x => getComputedStyle(x).whiteSpace"
    ) == (
        "pre-wrap"  # code that is too wide for paper is not cut off
    )
    assert page.pdf()[:5] == b"%PDF-" and page.faults == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")  # which a PDF has done already
    assert page.evaluate(theme) == "dark"


PAPER = 174, 261  # mm of an A4 page inside its margins
# What would be cut off on paper: (what it is, its width and height in mm, where it ends).
CUT = """([width, height]) => [...document.querySelectorAll(
    '.bd-article :is(img, svg.picture, canvas, pre, table, mjx-container, .admonition)')].map(x => {
        const box = x.getBoundingClientRect(), mm = 25.4 / 96;
        return [x.tagName, box.width * mm, box.height * mm, box.right * mm,
            x.matches('pre') && x.scrollWidth > x.clientWidth + 1];
    }).filter(([tag, w, h, right, hidden]) => w && (right > width + (/MJX/.test(tag) ? 18 : 1)
        || (/IMG|SVG|CANVAS/i.test(tag) && h > height) || hidden))"""
ON_SCREEN = (
    "Commit|Just show me|^ *Check$|Download this|Reset|Copy as code|Show the code|Hide code|"
    "Show code|Your answer|Search|Back to top|^ *Contents$|^ *Try$|In depth$|^ *Next$"
)


@needs_sphinx
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
@pytest.mark.parametrize("name", ["notebooks/02_dla", "notebooks/03_projector_method", "own"])
def test_on_paper_there_is_what_one_reads_and_nothing_else(page, address, tmp_path, name):
    """By Chromium's own PDF: no navigation, no buttons, nothing cut off."""
    page.goto(f"{address}{name}.html")
    page.evaluate("window.MathJax?.startup?.promise")
    file = tmp_path / "page.pdf"
    page.pdf(path=file, format="A4", print_background=True)
    text = subprocess.run(
        ["pdftotext", "-layout", file, "-"], capture_output=True, text=True, check=True
    ).stdout
    assert re.findall(ON_SCREEN, text, re.MULTILINE) == []
    heads = page.locator(".bd-article :is(h1, h2)").all_inner_texts()
    words = re.sub(r"\W", "", text)
    for head in heads:
        assert re.sub(r"\W", "", head) in words, head
    page.emulate_media(media="print")
    page.set_viewport_size({"width": round(PAPER[0] / 25.4 * 96), "height": 1000})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(CUT, PAPER) == []
    assert page.faults == []


# ---------------------------------------------------------------------------- exercises


def exercises(kind, **more):
    """The exercises that a page judges, in their order: those of a kind, with these properties."""
    for cell in (x for cells in SOURCES.values() for x in cells):
        for name in lesson.EXERCISE.findall(cell):
            stated = answers.form(name) or {"kind": "code"}
            if stated["kind"] == kind and all(test(stated[k]) for k, test in more.items()):
                yield name, stated


def test_a_page_judges_numbers_as_the_exercise_does():
    some = itertools.islice(exercises("numbers", near=lambda x: x > answers.EXACT), 6)
    for name, stated in some:
        for by, right in ((0.5, True), (15, False)):
            said = [x * (1 + by * stated["near"]) for x in stated["truth"]]
            assert nh.check(name, said[0] if len(said) == 1 else said).right is right, (name, by)
        said = [-x for x in stated["truth"]]
        words = " ".join(nh.check(name, said[0] if len(said) == 1 else said).text.split())
        assert stated["turned"] in words, name


def test_a_page_judges_names_and_words_and_leaves_code_to_python():
    name, stated = next(exercises("names", known=bool))
    assert nh.check(name, set(stated["truth"])).right
    assert set(stated["truth"]) < set(stated["known"])
    name, stated = next(exercises("word"))
    assert nh.check(name, *stated["truth"]).right and set(stated["truth"]) < set(stated["known"])
    assert stated["truth"][0] not in answers.box(name, "run.html")  # not to be read by accident
    name, _ = next(exercises("code"))
    assert 'href="run.html"' in answers.box(name, "run.html")


def exercise_on(page, address, name):
    """Open the page with an exercise; return its box, and what it says when one presses Check."""
    call = f'nh.check("{name}"'
    (place,) = (x for x, cells in SOURCES.items() if any(call in y for y in cells))
    page.goto(f"{address}notebooks/{place}.html")
    box = page.locator(f'.exercise[data-name="{name}"]')

    def checked():
        box.get_by_role("button", name="Check").click()
        return box.locator(".judged").inner_text()

    return box, checked


def test_a_page_names_the_mistakes_that_the_exercise_names():
    """Its sentences are those of the notebook, and there are many."""
    every = [(name, x) for kind in ("numbers", "names", "word") for name, x in exercises(kind)]
    count = 0
    for name, stated in every:
        for wrong, words in stated["mistakes"]:
            given = wrong[0] if stated["kind"] == "numbers" and len(wrong) == 1 else wrong
            given = {wrong} if stated["kind"] == "names" else given
            assert " ".join(nh.check(name, given).text.split()) == f"Not yet. {words}", name
            count += 1
    assert count > 40


@needs_sphinx
def test_a_mistake_is_named_on_the_page(page, address):
    name, stated = next(
        exercises("numbers", truth=lambda x: len(x) > 1, mistakes=lambda x: len(x) > 2)
    )
    box, checked = exercise_on(page, address, name)
    for wrong, words in stated["mistakes"]:
        box.get_by_role("textbox").fill(", ".join(map(str, wrong)))
        assert checked() == f"Not yet. {words}"
    assert page.faults == []


@needs_sphinx
def test_a_number_is_checked_on_the_page(page, address):
    name, stated = next(exercises("numbers", truth=lambda x: len(x) == 1, turned=bool))
    box, checked = exercise_on(page, address, name)
    assert checked().startswith("Not yet. Write it as")
    (truth,) = stated["truth"]
    other = stated["otherwise"] or "hints"
    for text, said in ((f"{-truth}", stated["turned"]), ("77", other), (f"{truth}", "Right")):
        box.get_by_role("textbox").fill(text)
        assert said in checked()
    box.get_by_role("textbox").fill("77")
    box.get_by_role("textbox").press("Enter")  # without a pointer, too
    assert box.locator(".judged").inner_text().startswith("Not yet.") and page.faults == []


@needs_sphinx
@pytest.mark.parametrize("kind", ["names", "word"])
def test_names_are_checked_on_the_page(page, address, kind):
    name, stated = next(exercises(kind, known=bool))
    box, checked = exercise_on(page, address, name)
    assert checked().startswith("Not yet. Choose at least one")
    labels = {x.inner_text().strip(): x for x in box.locator("label").all()}
    assert list(labels) == stated["known"]
    wrong = next(x for x in stated["known"] if x not in stated["truth"])
    labels[wrong].click()
    assert checked() == f"Not yet. {dict(stated['mistakes'])[wrong]}"
    for x in ([wrong] if kind == "names" else []) + stated["truth"]:
        labels[x].click()
    assert checked().startswith("Right") and page.faults == []


@needs_sphinx
def test_every_exercise_of_a_lesson_has_its_form_hints_and_solution(site):
    for name in LESSONS:
        text = (site / f"notebooks/{name}.html").read_text(encoding="utf-8")
        assert "run the cell" not in text  # what a notebook says above its exercises
        for x in (y for cell in SOURCES[name] for y in lesson.EXERCISE.findall(cell)):
            assert f"Solution for exercise {x}<" in text and f"Hint 2 for exercise {x}<" in text
            assert (f'data-name="{x}"' in text) == (answers.form(x) is not None), x


# ---------------------------------------------------------------------------- the first page


def moved_to(page, h):
    """Put the slider of the first page to a step, and return both runs."""
    page.evaluate("h => { $('h').value = h; $('h').oninput(); }", h)
    return page.evaluate("runs")


@needs_sphinx
@pytest.mark.parametrize("h", [0.05, 0.31, 0.6])
def test_the_first_page_computes_the_runs_of_the_library(page, address, h):
    page.goto(f"{address}index.html")
    found = moved_to(page, h)
    for name, method in (("dla", nh.DLA()), ("rk4", nh.RK4())):
        run = nh.integrate(nh.systems.robot(), method, v0=start.V0, h=h, steps=round(84 / h))
        assert np.allclose(found[name]["x"], run.q[:, 0], rtol=0, atol=1e-9)
        assert np.allclose(found[name]["y"], run.q[:, 1], rtol=0, atol=1e-9)
        assert np.allclose(found[name]["E"], run.energy(), rtol=0, atol=1e-9)
        assert np.allclose(found[name]["vx"], run.v_projected[:, 0], rtol=0, atol=1e-9)
    assert page.faults == []


@needs_sphinx
def test_the_first_page_says_which_method_is_nearer(page, address):
    """At a small step RK4, at a large one DLA; the numbers beside the stars are the runs'."""
    page.goto(f"{address}index.html")
    for h, words in ((0.1, "RK4 is the better one"), (0.5, "RK4 has lost 42 % of its energy")):
        found = moved_to(page, h)
        off = {k: np.max(np.abs(np.subtract(x["E"], x["E"][0]))) for k, x in found.items()}
        assert (off["rk4"] < off["dla"]) == (h == 0.1)
        assert words in page.locator("#verdict").inner_text()
        for name, x in off.items():
            shown = float(page.locator(f"#off_{name}").inner_text())
            assert shown == pytest.approx(x, rel=0.06)


@needs_sphinx
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_the_first_screen_has_picture_slider_sentence_and_doors(page, address, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{address}index.html")
    for what in ("h1", "#star_dla", "#star_rk4", "#h", "#energy", "#verdict", ".acts"):
        box = page.locator(what).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= size[1], what
    painted = page.evaluate("""() => [...document.querySelectorAll('canvas')].map(x =>
        x.getContext('2d').getImageData(0, 0, x.width, x.height).data.some(y => y))""")
    assert painted == [True] * 3


# Drawings and lines of code that leave their cards, which would cut them off.
CARDS = """() => [...document.querySelectorAll('.drawing')].filter(card => {
    const inner = card.firstElementChild.getBoundingClientRect();
    const outer = card.getBoundingClientRect();
    return inner.left < outer.left || inner.right > outer.right || inner.top < outer.top
        || inner.bottom > outer.bottom;
}).length"""


@needs_sphinx
def test_nothing_on_a_card_of_the_first_page_is_cut(page, address):
    for width in (360, 390, 768, 900, 1366):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{address}index.html")
        assert page.evaluate(CARDS) == 0, width
    h1 = page.locator(".say h1").bounding_box()["height"]
    assert h1 < 3.5 * 1.12 * page.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('.say h1')).fontSize)"
    )  # three lines
    assert page.faults == []


@needs_sphinx
def test_the_first_page_moves_by_itself_unless_asked_not_to(browser, address):
    for asked, moves in (("no-preference", True), ("reduce", False)):
        with browser.new_context(reduced_motion=asked) as context:
            page = context.new_page()
            page.goto(f"{address}index.html")
            page.wait_for_function(f"shown {'<' if moves else '==='} 1")
            page.locator("#h").press("ArrowRight")  # a reader's move ends the film
            assert page.evaluate("shown") == 1 and page.evaluate("runs.dla.h") == 0.51


@needs_sphinx
def test_the_theme_chosen_on_the_first_page_holds_on_the_others(browser, address):
    with browser.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{address}index.html")
        page.locator("#theme").click()
        for name in ("run.html", "index.html"):
            page.goto(address + name)
            assert page.evaluate("document.documentElement.dataset.theme") == "light"


@needs_sphinx
def test_the_first_page_is_light(page, address, site):
    """It asks for 0.2 s of a line of 1.6 Mbit/s before it moves, if the server compresses."""
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(address)))
    page.goto(f"{address}index.html")
    page.wait_for_load_state("networkidle")
    files = [x for x in asked if not x.endswith((".png", ".webp"))]
    assert sum(len(zlib.compress((site / x).read_bytes())) for x in files) < 45e3
    assert {x.split(".")[-1] for x in files} == {"html", "woff", "svg"}


# When the runs of the first page are computed, from when on its slider answers.
WATCH = """(() => {
    const look = () => {
        try { if (runs.rk4) { window.live = performance.now(); return; } } catch { /* not yet */ }
        setTimeout(look, 5);
    };
    look();
})()"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
SLOW_LINE = {"downloadThroughput": 200_000, "uploadThroughput": 100_000, "latency": 150}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def seconds_on_a_slow_phone(browser, url):
    """When a phone with 1.6 Mbit/s and a fourth of this processor paints the first page, and when
    the slider is live."""
    with browser.new_context(**PHONE) as context:
        page = context.new_page()
        tools = context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.send("Network.emulateNetworkConditions", {"offline": False, **SLOW_LINE})
        tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.add_init_script(WATCH)
        page.goto(url, wait_until="commit")
        page.wait_for_function(f"window.live && {PAINTED}")
        return [page.evaluate(x) / 1e3 for x in (PAINTED, "live")]


@needs_sphinx
@pytest.mark.slow
def test_the_first_page_is_quick_on_a_slow_phone(browser, address):
    """The best of three, since others may be at work on this machine, too."""
    pairs = [seconds_on_a_slow_phone(browser, f"{address}index.html") for _ in range(3)]
    painted, live = map(min, zip(*pairs, strict=True))
    assert painted < 2.5 and live < 6, pairs


def test_links_to_the_first_page_show_a_picture_where_its_address_is_known():
    known = start.preview("https://github.com/someone/nhlab", "Eleven")
    assert 'content="https://someone.github.io/nhlab/_static/preview.png"' in known
    assert (ROOT / "figures/preview.png").exists()
    unknown = start.preview("", "Eleven")
    assert "image" not in unknown and "og:title" in unknown and "Eleven interactive" in unknown


def test_links_to_a_lesson_say_what_it_is_about():
    known = start.lesson_preview("02b_dla_in_depth", NOTEBOOKS, ROOT, "https://github.com/a/nhlab")
    assert 'og:title" content="02b · ' in known and "Lagrange-d&#x27;Alembert" in known
    assert 'og:url" content="https://a.github.io/nhlab/notebooks/02b_dla_in_depth.html"' in known
    assert known.startswith('<meta name="description" content="The discrete')
    assert "og:image" not in start.lesson_preview("02_dla", NOTEBOOKS, ROOT, "")


@needs_sphinx
@pytest.mark.parametrize("name", list(filter(contents.number, LESSONS)))
def test_a_lesson_has_its_own_description(site, name):
    text = (site / f"notebooks/{name}.html").read_text(encoding="utf-8")
    assert start.lesson_preview(name, NOTEBOOKS, ROOT, build.address()) in text


def test_the_first_page_says_what_a_lesson_is_about():
    head, row = "| lesson | in depth | what it is about |", "| [`01_a`](x) | [01b](y) | paths |"
    assert start.lesson_subjects(f"{head}\n|---|---|---|\n{row}") == {"01_a": "paths"}
    known = start.lesson_subjects((ROOT / "README.md").read_text(encoding="utf-8"))
    assert all(len(known[x]) > 12 for x in contents.lessons(LESSONS))


def test_every_lesson_is_on_the_first_page():
    lessons = {x: notebook(x) for x in LESSONS if x.partition("_")[0].isdigit()}
    items = "".join(start.lesson_items(ROOT, lessons))
    assert all(f'href="notebooks/{name}.html"' in items for name in lessons)
    (minutes,) = texts.minutes(lessons["00_start_here"].cells[0].source)
    assert f"<small>{minutes} min</small>" in items and "<b>Start here</b>" in items


def test_live_figures_have_their_places():
    name = next(x for x in PAGES if x.startswith("00."))
    ((place, code),) = plug.places(name, SOURCES)
    assert place == "00_start_here" and code in SOURCES[place] and "nh.explore(" in code
    code = 'paper_figure("fim08_fig5")'
    assert ("paper_figures", code) in plug.places("fim08_fig5", SOURCES)
    assert all(any(code in x for x in SOURCES[y]) for y, _ in plug.places("fim08_fig5", SOURCES))
    assert plug.places("own", SOURCES) == [("own", "")]


def test_without_figures_that_move_no_library_comes_along(tmp_path):
    assert plug.html({}, "_static") == {}
    live = {x: plug.Live(x, f"draw('{x}')", f"<div>{x}</div>") for x in "ab"}
    made = plug.html(live, "_static")
    assert made["a"].count("bokeh.min.js") == 1 and "bokeh" not in made["b"]
    for x in "ab":  # asked for when it is near, once for all pages
        assert made[x].endswith(
            f'<div class="live" data-script="_static/live/{x}.js"><div>{x}</div></div>'
        )
    stepping = plug.Steps("c", "show('c')", {"c.webp": b"picture"})
    made = plug.html({"c": stepping}, "_static")["c"]
    assert "recorded.js" in made and "bokeh" not in made and plug.PICTURE_HERE in made
    plug.write_scripts([live, live], tmp_path)
    assert {x.name: x.read_text() for x in tmp_path.iterdir()} == {
        "a.js": "draw('a')", "b.js": "draw('b')"}  # fmt: skip


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
