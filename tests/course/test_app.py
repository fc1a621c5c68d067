"""A lesson as an app: served by Voilà without its code, with sliders that work.

Needs Voilà (the extra ``app``), Playwright and a Chromium; skipped where one is missing.
"""

import importlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

launcher = importlib.import_module("nhlab.__main__")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytest.importorskip("voila", reason="Voilà is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture
def app(tmp_path, monkeypatch, lesson):
    """The address of a lesson, served as the launcher does it."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_WIDGETS_ECHO"):
        monkeypatch.setenv(name, "")  # put back afterwards what the launcher sets
        monkeypatch.delenv(name)
    command = [sys.executable, *launcher.app([lesson, "--no-browser", f"--port={port}"])]
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}/"
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}voila/nowhere", timeout=2)
        except urllib.error.HTTPError:  # it answers
            break
        except OSError:
            time.sleep(0.5)
    yield url
    process.terminate()
    process.wait(20)


@pytest.mark.parametrize("lesson", ["00", "02"])
def test_a_slider_moves_its_picture(app):
    with playwright.sync_playwright() as p:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = p.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(app, timeout=120_000)
        assert "nh.predict" not in page.locator("body").inner_text()  # no code
        covers = page.get_by_role("button", name="Just show me")
        covers.first.wait_for(timeout=120_000)
        covers.nth(1).click()  # of a skate to park, and of the first figure of CM01
        handle = page.locator(".nhlab-panel .noUi-handle").first
        handle.wait_for()
        before = page.locator(".nhlab-panel img").first.get_attribute("src")
        handle.focus()
        page.keyboard.press("End")
        changed = "before => document.querySelector('.nhlab-panel img').src !== before"
        page.wait_for_function(changed, arg=before)
        browser.close()
