"""The site, built once: its links, its pictures' descriptions, and its pages in a real browser.

Needs the packages of the extra ``site``; what is seen in Chromium is skipped without it.
"""

import doctest
import functools
import http.server
import json
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

from nhlab.course import predict  # noqa: E402
from nhlab.course.exercises import written  # noqa: E402
from nhlab.course.pages import PAGES  # noqa: E402
from nhlab.course.site import build, lesson, links, lite, plug, reference, start, texts  # noqa: E402
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
    assert texts.row(name, notebook(name))[1:3] == ("01, 02, 03", "95 + 60")
    assert texts.hours({x: notebook(x) for x in ("02_dla", name)}, ["06"]) == "2.5"


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


@pytest.mark.parametrize(
    "code, folded",
    [
        ("import nhlab as nh", True),
        ('nh.predict("02.2", panel)', True),
        ('nh.check("02.1", None)', True),
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
    again = sum(map(len, plug.AGAIN.values()))  # in lessons
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
    """3.8 s at 1.6 Mbit/s, if the server compresses, for the page with the most systems; the
    theme's icons come after it."""
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
    assert sum(len(zlib.compress((site / x).read_bytes())) for x in early) < 760e3
    page.wait_for_function("[...document.fonts].some(x => x.status === 'loaded')")
    assert page.faults == []


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
    labels = box.locator("label").all()
    chosen = next(x for x in labels if (x.inner_text().strip() == truth) is right)
    words = chosen.inner_text().strip()
    chosen.click()
    commit.click()
    said = box.locator(".judged").inner_text()
    assert said == ("As you predicted:" if right else f"You predicted: {words}. Measured:")
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
    assert count == sum(len(lesson.PREDICTION.findall(c.source)) for c in notebook("02_dla").cells)
    for box in page.locator(".predict").all():
        box.locator(".show").click()
    assert page.locator(".predict .measured").count() == count and page.faults == []


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
    files = [x for x in asked if not x.endswith((".png", ".gif"))]
    assert sum(len(zlib.compress((site / x).read_bytes())) for x in files) < 45e3
    assert {x.split(".")[-1] for x in files} == {"html", "woff", "svg"}


def test_links_to_the_first_page_show_a_picture_where_its_address_is_known():
    known = start.preview("https://github.com/someone/nhlab")
    assert 'content="https://someone.github.io/nhlab/_static/preview.png"' in known
    assert (ROOT / "figures/preview.png").exists()
    assert "image" not in start.preview("") and "og:title" in start.preview("")


def test_every_lesson_is_on_the_first_page():
    lessons = {x: notebook(x) for x in LESSONS if x[:2].isdigit()}
    items = "".join(start.lesson_items(ROOT, lessons))
    assert all(f'href="notebooks/{name}.html"' in items for name in lessons)
    assert "<small>25 min</small>" in items and "<b>Start here</b>" in items


def test_live_figures_have_their_places():
    assert plug.places("03.4", LESSONS) == [("03_projector_method", 'nh.predict("03.4"')]
    pages, code = ("paper_figures", "03_projector_method"), 'paper_figure("fim08_fig5")'
    assert plug.places("fim08_fig5", LESSONS) == [(page, code) for page in pages]
    assert plug.places("own", LESSONS) == [("own", "")]


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
