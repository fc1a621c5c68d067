"""The lessons in a real browser: run all, see that everything fits into the window, move a slider
of every panel to both ends, look at the picture; and what panels promise: copied code, saved
pictures.

Every slider of every notebook is moved in its kernel (`after_run_all.py`); here one of each panel
shows that browser and kernel agree.  Every other lesson and the companions in depth, whose cells
nbval runs, are opened as they are stored.  With NHLAB_EVERYTHING=1, as every night, all of them are
run here too and every slider is moved.

Needs Playwright and a Chromium (`pip install playwright`, Debian's package `chromium`); skipped
where either is missing.  Screenshots are kept in the folder NHLAB_SCREENSHOTS, if it is set.
"""

import importlib
import io
import json
import os
import re
import shutil
import time
import urllib.request
from pathlib import Path

import nbformat
import numpy as np
import pytest
from after_run_all import FIGURES
from PIL import Image
from processes import serving

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted(p.name for p in (ROOT / "notebooks").glob("*.ipynb"))
EVERYTHING = os.environ.get("NHLAB_EVERYTHING") == "1"
# Notebooks that are not run here, unless everything is asked for: each takes half a minute.
STORED = {x for x in LESSONS if re.match(r"\d\db_|01|03|04|06|08|10", x) and not EVERYTHING}
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

# Sent to the kernel of the open notebook: what each panel shows and what its code computes.
PANELS = """
import base64, hashlib, json, re
import ipywidgets.widgets.widget as _w
from nhlab.view.widgets import Panel as _Panel
def _hash(p):  # of the picture that is shown first: one of two columns is parted
    first = re.search(r'class="nhlab-picture" src="data:image/png;base64,([^"]+)"', p.shown.value)
    return hashlib.sha256(base64.b64decode(first[1]) if first else p.image.value).hexdigest()
_panels = [x for x in _w._instances.values() if isinstance(x, _Panel)]
print(json.dumps([{
    "values": {k: v if isinstance(v, (int, float, str)) else str(v) for k, v in p.values.items()},
    "labels": {k: c.description for k, c in p.controls.items()},
    "sliders": {k: [c.min, c.max] for k, c in p.controls.items() if hasattr(c, "max")},
    "image": _hash(p), "code": p._code and p._code(p.values),
    "plays": getattr(p, "stage", None) is not None,
    "alt": p.alt, "readout": p.readout.value, "message": p.message.value} for p in _panels]))
"""


# A notebook with one panel, for what need not be tried on every lesson.
SMALL = """\
import nhlab as nh
nh.explore(nh.systems.particle(), [nh.DLA(), nh.RK4()], h=(0.02, 0.4, 0.2), steps=200,
           caption="Two methods on the particle.")"""
# A sketch whose truth is a line at the top of its axes, and a cell that keeps the kernel busy.
SKETCH = """\
import time
from nhlab.course.predict import Prediction
from nhlab.view.plot import Shown
text = "Draw it.\\n\\nsketch: time | energy | 0 1 | 0 1\\n\\nThe energy stays at the top."
asked = Prediction(text, lambda: (([0, 1], [1, 1]), {}), "77.1", Shown(b"png", "no picture"))
asked"""
BUSY = "time.sleep(4)"
# All kinds of controls; with this step RK4's error is written with a power of ten.
TOUCHED = """\
import nhlab as nh
nh.explore(nh.systems.particle(), [nh.DLA(), nh.RK4()], ["energy", "x y"], h=(0.02, 0.4, 0.1),
           alpha=(0, 1, 0.5), rule=True, T=(10, 40, 20), start="y",
           tries={"twice the step?": {"h": 0.2}, "alpha = .3?": {"alpha": 0.3}})"""


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    """The JupyterLab that the launcher starts, on a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", home / "notebooks")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for name, texts in {"small": [SMALL], "sketch": [SKETCH, BUSY], "touched": [TOUCHED]}.items():
        cells = [nbformat.v4.new_code_cell(text) for text in texts]
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, home / f"notebooks/{name}.ipynb")
    for name, text in {
        "apputils-extension/notification": '{"fetchNews": "false"}',
        "notebook-extension/tracker": '{"windowingMode": "none"}',  # all cells are in the page
    }.items():
        file = home / "settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    own = {"JUPYTER_RUNTIME_DIR": home / "runtime", "JUPYTERLAB_SETTINGS_DIR": home / "settings"}

    def command(port):
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
                   f"--ServerApp.root_dir={home / 'notebooks'}", "--IdentityProvider.token=test",
                   "--expose-app-in-browser"]  # fmt: skip
        return importlib.import_module("nhlab.__main__").lab(options)

    with serving(command, home / "log", **own) as url:
        yield url, home


class Lesson:
    """One notebook open in JupyterLab."""

    def __init__(self, browser, server, name):
        self.url, self.home = server
        self.name = name
        self.page = browser.new_page(viewport={"width": 1366, "height": 768})
        self.page.goto(f"{self.url}/lab/tree/{name}?token=test&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.kernel = None

    def run_all(self, limit=180):
        done = self.page.evaluate(
            """async limit => {
                const pause = ms => new Promise(go => setTimeout(go, ms));
                const session = window.jupyterapp.shell.currentWidget.sessionContext;
                await session.ready;  // before, Lab would ask which kernel to use
                while (session.session?.kernel?.status !== 'idle') await pause(100);
                const run = window.jupyterapp.commands.execute('notebook:run-all-cells');
                return Promise.race([run.then(() => true), pause(1000 * limit)]);
            }""",
            limit,
        )
        assert done, f"{self.name} did not finish in {limit} s"

    def uncover(self):
        """Answer the first prediction, and look at what the others hide."""
        covers = self.page.get_by_role("button", name="Just show me")
        choices = self.page.locator(".jp-OutputArea input[type=radio]")
        left = covers.count()
        if choices.count():
            choices.first.check()
            self.page.locator("button:enabled", has_text="Commit").first.click()
            left -= 1
        for still in range(left, 0, -1):
            playwright.expect(covers).to_have_count(still, timeout=20_000)
            covers.first.click()
        playwright.expect(covers).to_have_count(0, timeout=20_000)

    def open_more(self):
        """Show the controls under More, as far as they are closed."""
        closed = self.page.locator("button.nhlab-more:not(.mod-active)")
        while closed.count():
            closed.first.click()
            self.page.wait_for_timeout(100)

    def ask(self, code):
        """Run code in the notebook's own kernel; its printed answer."""
        from jupyter_client import BlockingKernelClient

        if self.kernel is None:
            sessions = json.load(urllib.request.urlopen(f"{self.url}/api/sessions?token=test"))
            found = next(s["kernel"]["id"] for s in sessions if s["path"] == self.name)
            file = self.home / "runtime" / f"kernel-{found}.json"
            self.kernel = BlockingKernelClient(connection_file=str(file))
            self.kernel.load_connection_file()
            self.kernel.start_channels()
        told = []
        self.kernel.execute_interactive(
            code, store_history=False, timeout=60,
            output_hook=lambda m: told.append(m["content"].get("text", "")))  # fmt: skip
        return "".join(told)

    def panels(self):
        return json.loads(self.ask(PANELS))

    def image(self, k):
        """Where the browser shows the picture of panel k."""
        return self.page.locator(".nhlab-panel").nth(k).locator("img.nhlab-picture").first

    def picture(self, k):
        """The picture the browser shows in panel k, hashed as the kernel hashes its own."""
        return self.image(k).evaluate("""async e => {
            const bytes = await (await fetch(e.src)).arrayBuffer();
            const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
            return [...hash].map(x => x.toString(16).padStart(2, '0')).join('');
        }""")

    def close(self):
        if self.kernel is not None:
            self.kernel.stop_channels()
        self.page.close()


@pytest.mark.parametrize("name", sorted(set(LESSONS) - STORED))
def test_lesson(browser, server, name):
    lesson = Lesson(browser, server, name)
    try:
        page = lesson.page
        lesson.run_all()
        stderr = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"
        assert page.locator(stderr).count() == 0
        lesson.uncover()
        panels = lesson.panels()
        assert page.locator(".nhlab-panel").count() == len(panels)
        it_fits(lesson)
        lesson.open_more()
        for k, panel in enumerate(panels):
            if name != "paper_figures.ipynb" and panel["alt"].startswith(FIGURES):
                continue  # it is moved on its own page
            move_sliders(lesson, k, panel)
        keep_screenshot(lesson)
    finally:
        lesson.close()


@pytest.mark.parametrize("name", sorted(STORED))
def test_lesson_as_stored(browser, server, name):
    lesson = Lesson(browser, server, name)
    try:
        lesson.page.locator(".jp-OutputArea img:visible").first.wait_for(timeout=20_000)
        it_fits(lesson)
        keep_screenshot(lesson)
    finally:
        lesson.close()


def keep_screenshot(lesson):
    """Save the window as a picture where NHLAB_SCREENSHOTS names a folder."""
    if os.environ.get("NHLAB_SCREENSHOTS"):
        folder = Path(os.environ["NHLAB_SCREENSHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        lesson.page.screenshot(path=folder / f"{Path(lesson.name).stem}.png")


def move_sliders(lesson, k, panel):
    """Move sliders of panel k, the first alone unless everything is asked for: nothing jumps."""
    stage = lesson.page.locator(".nhlab-panel").nth(k).locator(".nhlab-stage")
    shown = stage if panel["plays"] else lesson.image(k)
    shown.scroll_into_view_if_needed(timeout=20_000)
    before = size(shown)
    sliders = list(panel["sliders"].items())
    for label, ends in sliders if EVERYTHING else sliders[:1]:
        move(lesson, k, label, panel["labels"][label], ends, panel["plays"])
    assert size(shown) == before


def size(shown):
    """Width and height of an element of the page, once it is there: a new run replaces it."""
    for _ in range(100):
        shown.wait_for(timeout=20_000)
        box = shown.bounding_box()
        if box is not None:
            return box["width"], box["height"]
        time.sleep(0.1)
    raise AssertionError(f"{shown} has no size")


def move(lesson, k, label, description, ends, plays=False):
    """Press End and Home on a slider; the kernel's value and the browser's picture must follow.

    Where a panel ``plays`` bodies on a stage, whose picture only the browser has, the value alone.
    """
    slider = slider_handle(lesson, k, description)
    for key, wanted in (("End", ends[1]), ("Home", ends[0])):
        slider.focus()
        lesson.page.keyboard.press(key)
        now = None
        for _ in range(100):
            now = lesson.panels()[k]
            followed = plays or lesson.picture(k) == now["image"]
            if abs(now["values"][label] - wanted) < 1e-9 and followed:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"panel {k}: {description} did not follow {key}: {now}")
        assert "Traceback" not in now["message"]


def slider_handle(lesson, k, description):
    """The handle of the slider with this description in the k-th panel."""
    box = lesson.page.locator(".nhlab-panel").nth(k)
    text = re.compile(rf"^\s*{re.escape(description)}\s*$")
    label = lesson.page.locator("label", has_text=text)
    row = box.locator(".widget-slider, .widget-hslider").filter(has=label).first
    return row.locator(".noUi-handle").first


# What a reader would have to scroll sideways for, cannot see at once, or cannot hear read out.
FAULTS = """() => {
    const found = [], height = document.querySelector('.jp-WindowedPanel-outer').clientHeight;
    const wider = e => e.scrollWidth > e.clientWidth + 2;
    // Long formulas, and in a narrow window printed tables, may scroll within their own cell.
    const scrolls = e => getComputedStyle(e).overflowX === 'auto'
        && !e.querySelector('img, .nhlab-panel')
        && (innerWidth < 1000 || e.querySelector('mjx-container'));
    document.querySelectorAll('.jp-Notebook .jp-Cell').forEach((cell, number) => {
        const say = text => found.push(`cell ${number}: ${text}`);
        for (const e of cell.querySelectorAll('.jp-OutputArea-output'))
            if (wider(e) && !scrolls(e)) say(`${e.scrollWidth} px wide in ${e.clientWidth}`);
        for (const e of cell.querySelectorAll('.widget-html-content, .widget-label'))
            if (wider(e) && !e.querySelector('pre')) say(`clipped: ${e.textContent.slice(0, 40)}`);
        for (const e of cell.querySelectorAll('.jp-OutputArea img'))
            if ((e.alt || '').length < 12) say(`no description: ${e.alt}`);
        for (const e of cell.querySelectorAll('.nhlab-panel'))
            if (innerWidth > 1000 && e.offsetHeight > height)
                say(`panel ${e.offsetHeight} px high in ${height}`);
    });
    return found;
}"""
# How far the controls are to the right of the picture of a panel or, where it has a stage as well,
# how far the picture and its controls are to the right of the stage.
WIDE = """() => [...document.querySelectorAll('.nhlab-panel')].map(panel => {
    const place = e => e.getBoundingClientRect();
    const picture = panel.querySelector('img.nhlab-picture');
    const stage = panel.querySelector('.nhlab-stage');
    const button = [...panel.querySelectorAll('button')].find(x => x.textContent === 'Reset');
    return picture && stage ? place(picture).left - place(stage).right
        : place(button).left - place(picture ?? stage).right;
})"""


def it_fits(lesson):
    """Nothing has to be scrolled sideways, a panel is seen as a whole, wide windows are used."""
    page = lesson.page
    for width, height in ((1366, 768), (900, 768), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        assert page.evaluate(FAULTS) == [], width
    assert all(gap > 0 for gap in page.evaluate(WIDE))
    page.set_viewport_size({"width": 1366, "height": 768})
    page.wait_for_timeout(500)


@pytest.fixture
def small(browser, server):
    lesson = Lesson(browser, server, "small.ipynb")
    lesson.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lesson.run_all()
    lesson.image(0).wait_for()
    yield lesson
    lesson.close()


def test_copy_as_code_is_in_the_clipboard(small):
    slider_handle(small, 0, "step size h").focus()
    small.page.keyboard.press("End")
    listing = small.page.locator(".nhlab-listing pre", has_text="h=0.4")
    listing.wait_for(state="attached")  # after a pause
    small.open_more()
    small.page.get_by_role("button", name="Copy as code").click()
    small.page.get_by_role("button", name="Copied").wait_for()
    copied = small.page.evaluate("navigator.clipboard.readText()")
    assert copied == listing.text_content() == small.panels()[0]["code"]
    assert listing.is_visible()


def test_a_saved_notebook_shows_its_panels_when_it_is_opened_again(small, browser, server):
    slider_handle(small, 0, "step size h").focus()
    small.page.keyboard.press("Home")
    small.page.locator(".nhlab-listing pre", has_text="h=0.02").wait_for(state="attached")
    seen = small.picture(0)
    small.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    file = small.home / "notebooks/small.ipynb"
    for _ in range(100):
        if "widgets" in nbformat.read(file, as_version=4).metadata:
            break
        time.sleep(0.1)
    small.page.evaluate("""async () => {
        const session = window.jupyterapp.shell.currentWidget.sessionContext;
        await session.shutdown();
    }""")
    again = Lesson(browser, server, "small.ipynb")
    try:
        again.image(0).wait_for(timeout=20_000)
        assert again.picture(0) == seen
        assert "Error displaying widget" not in again.page.locator(".jp-Notebook").inner_text()
    finally:
        again.close()


# What a finger or a mouse has to hit in a panel: its name, width and height in pixels.
TARGETS = """() => [...document.querySelector('.nhlab-panel').querySelectorAll(
    'button, select, input, .noUi-handle')].filter(e => e.offsetParent).map(e => {
        const {width, height} = e.getBoundingClientRect();
        return [(e.textContent || e.className).trim().slice(0, 40), width, height];
    })"""


def test_what_is_touched_is_at_least_24_pixels_large(browser, server):
    """Sliders, lists, buttons to try, More and what stands there, also in a narrow window."""
    lesson = Lesson(browser, server, "touched.ipynb")
    try:
        lesson.run_all()
        lesson.image(0).wait_for()
        weight = "all => all.map(e => getComputedStyle(e).fontWeight)"  # of 1.2e-03 beside a bar
        numbers = lesson.page.locator(".nhlab-bars > div > span:last-child > span")
        assert {*numbers.evaluate_all(weight)} == {"400"}  # as other numbers there
        lesson.open_more()
        for width in (1366, 390):
            lesson.page.set_viewport_size({"width": width, "height": 768})
            lesson.page.wait_for_timeout(300)
            found = lesson.page.evaluate(TARGETS)
            names = [name for name, *_ in found]
            for name in ("twice the step?", "Reset", "More", "Copy as code", "Show the code"):
                assert name in names
            assert sum("noUi-handle" in name for name in names) == 4  # h, alpha, y(0), T
            assert len(found) >= 13  # and the lists of views, methods and rules
            small = [x for x in found if min(x[1:]) < 24]
            assert not small, (width, small)
    finally:
        lesson.close()


def dark_with_pale_lines(picture):
    """A picture as a reader sees it in the dark: nearly all of it dark, its letters pale."""
    grey = np.asarray(Image.open(io.BytesIO(picture.screenshot())).convert("L"), float)
    assert np.median(grey) < 60 and np.percentile(grey, 80) < 60 < 150 < grey.max()


def test_a_sketch_is_dark_where_the_page_is(browser, server):
    """Also before an answer; on a white page it is white."""
    lesson = Lesson(browser, server, "sketch.ipynb")
    change = "window.jupyterapp.commands.execute('apputils:change-theme', {theme: '%s'})"
    try:
        lesson.run_all()
        sketch = lesson.page.locator(".jp-OutputArea img.nhlab-picture").first
        sketch.wait_for()
        with pytest.raises(AssertionError):
            dark_with_pale_lines(sketch)
        lesson.page.evaluate(change % "JupyterLab Dark")
        lesson.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
        lesson.page.wait_for_timeout(500)
        dark_with_pale_lines(sketch)
    finally:
        lesson.page.evaluate(change % "JupyterLab Light")
        lesson.close()


def test_pictures_and_numbers_are_legible_in_the_dark(small):
    change = "window.jupyterapp.commands.execute('apputils:change-theme', {theme: '%s'})"
    try:
        small.page.evaluate(change % "JupyterLab Dark")
        small.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
        small.page.wait_for_timeout(500)
        colour = "getComputedStyle(e).color.match(/\\d+/g).map(Number)"
        text = small.page.locator(".nhlab-panel img + div").evaluate(f"e => {colour}")
        assert min(text[:3]) > 150
        dark_with_pale_lines(small.image(0))
    finally:
        small.page.evaluate(change % "JupyterLab Light")


def test_a_commit_reads_what_the_reader_sees(browser, server):
    """While the kernel is busy a slider sends its first change and keeps back the later ones; the
    answer must not be judged before they have come."""
    lesson = Lesson(browser, server, "sketch.ipynb")
    try:
        page = lesson.page
        lesson.run_all()
        handles = page.locator(".jp-OutputArea .noUi-handle")
        playwright.expect(handles).to_have_count(7)
        handles.first.focus()
        page.keyboard.press("ArrowUp")
        commit = page.locator("button:enabled", has_text="Commit")
        commit.wait_for()  # it can be pressed once an answer was begun
        page.evaluate("""() => {
            const book = window.jupyterapp.shell.currentWidget.content;
            book.activeCellIndex = 1;
            window.jupyterapp.commands.execute('notebook:run-cell');  // not awaited
        }""")
        page.wait_for_function("""() => window.jupyterapp.shell.currentWidget
            .sessionContext.session.kernel.status === 'busy'""")
        for k in range(7):
            handles.nth(k).focus()
            page.keyboard.press("ArrowUp")
            page.keyboard.press("End")
        shown = page.locator(".jp-OutputArea .widget-readout").all_inner_texts()
        assert shown == ["1.00"] * 7  # what the reader sees
        commit.click()
        answered = page.locator(".jp-OutputArea").get_by_text(re.compile("predicted:")).first
        answered.wait_for(timeout=20_000)
        assert lesson.ask("print(asked.right)").strip() == "True"
    finally:
        lesson.close()
