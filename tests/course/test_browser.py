"""The lessons in a real browser: run all, move every slider to both ends, look at the picture.

Needs Playwright and a Chromium (`pip install playwright`, Debian's package `chromium`); skipped
where either is missing.  Screenshots are kept in the folder NHLAB_SCREENSHOTS, if it is set.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted(p.name for p in (ROOT / "notebooks").glob("*.ipynb"))
CHROMIUM = next((shutil.which(x) for x in ("chromium", "chromium-browser", "google-chrome")
                 if shutil.which(x)), None)  # fmt: skip
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

# Sent to the kernel of the open notebook: what each panel shows and what its code computes.
PANELS = """
import json, hashlib
import ipywidgets.widgets.widget as _w
from nhlab.view.widgets import Panel as _Panel
_panels = [x for x in _w._instances.values() if isinstance(x, _Panel)]
print(json.dumps([{
    "values": {k: v if isinstance(v, (int, float, str)) else str(v) for k, v in p.values.items()},
    "labels": {k: c.description for k, c in p.controls.items()},
    "sliders": {k: [c.min, c.max] for k, c in p.controls.items() if hasattr(c, "max")},
    "image": hashlib.sha256(p.image.value).hexdigest(),
    "readout": p.readout.value, "message": p.message.value} for p in _panels]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A JupyterLab server on a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", home / "notebooks")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for name, text in {
        "apputils-extension/notification": '{"fetchNews": "false"}',
        "notebook-extension/tracker": '{"windowingMode": "none"}',  # all cells are in the page
    }.items():
        file = home / "settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    env = dict(os.environ, JUPYTER_RUNTIME_DIR=str(home / "runtime"),
               JUPYTERLAB_SETTINGS_DIR=str(home / "settings"))  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
               f"--port={port}", f"--ServerApp.root_dir={home / 'notebooks'}",
               "--IdentityProvider.token=test", "--expose-app-in-browser"]  # fmt: skip
    with open(home / "log", "w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{url}/api?token=test", timeout=2)
            break
        except OSError:
            time.sleep(0.5)
    yield url, home
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


class Lesson:
    """One notebook open in JupyterLab."""

    def __init__(self, browser, server, name):
        self.url, self.home = server
        self.name = name
        self.page = browser.new_page(viewport={"width": 1366, "height": 900})
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
        return self.page.locator(".widget-image").nth(k)

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


@pytest.mark.parametrize("name", LESSONS)
def test_lesson(browser, server, name):
    lesson = Lesson(browser, server, name)
    try:
        page = lesson.page
        lesson.run_all()
        stderr = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"
        assert page.locator(stderr).count() == 0
        panels = lesson.panels()
        assert panels, "a lesson has panels"
        for k, panel in enumerate(panels):
            lesson.image(k).scroll_into_view_if_needed(timeout=20_000)
            box = lesson.image(k).bounding_box()
            for label, ends in panel["sliders"].items():
                move(lesson, k, label, panel["labels"][label], ends)
            after = lesson.image(k).bounding_box()
            assert (box["width"], box["height"]) == (after["width"], after["height"])  # no jump
        if os.environ.get("NHLAB_SCREENSHOTS"):
            folder = Path(os.environ["NHLAB_SCREENSHOTS"])
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=folder / f"{Path(name).stem}.png")
    finally:
        lesson.close()


def move(lesson, k, label, description, ends):
    """Press End and Home on a slider; the kernel's value and the browser's picture must follow."""
    slider = slider_handle(lesson, k, description)
    for key, wanted in (("End", ends[1]), ("Home", ends[0])):
        slider.focus()
        lesson.page.keyboard.press(key)
        now = None
        for _ in range(100):
            now = lesson.panels()[k]
            if abs(now["values"][label] - wanted) < 1e-9 and lesson.picture(k) == now["image"]:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"panel {k}: {description} did not follow {key}: {now}")
        assert "Traceback" not in now["message"]


def slider_handle(lesson, k, description):
    """The handle of the slider with this description in the k-th panel."""
    box = lesson.image(k).locator("xpath=ancestor::*[contains(@class,'widget-vbox')][1]")
    text = re.compile(rf"^\s*{re.escape(description)}\s*$")
    label = lesson.page.locator("label", has_text=text)
    row = box.locator(".widget-slider, .widget-hslider").filter(has=label).first
    return row.locator(".noUi-handle").first
