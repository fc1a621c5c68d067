"""A lesson as an app: served by Voilà without its code, with sliders that work.

Needs Voilà (the extra ``app``), Playwright and a Chromium; skipped where one is missing.
"""

import importlib

import pytest
from processes import serving

launcher = importlib.import_module("nhlab.__main__")
pytest.importorskip("voila", reason="Voilà is not installed")


@pytest.fixture
def app(browser, tmp_path, lesson):
    """A page with a lesson, served as the launcher does it."""

    def command(port):
        return launcher.app([lesson, "--no-browser", f"--port={port}"])

    with serving(command, tmp_path / "log") as url:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(url, timeout=120_000)
        yield page
        page.close()


@pytest.mark.parametrize("lesson", ["00", "02"])
def test_a_slider_moves_its_picture(app):
    assert "nh.predict" not in app.locator("body").inner_text()  # no code
    covers = app.get_by_role("button", name="Just show me")
    covers.first.wait_for(timeout=120_000)
    covers.nth(1).click()  # of a skate to park, and of the first figure of CM01
    handle = app.locator(".nhlab-panel .noUi-handle").first
    handle.wait_for()
    before = app.locator(".nhlab-panel img").first.get_attribute("src")
    handle.focus()
    app.keyboard.press("End")
    changed = "before => document.querySelector('.nhlab-panel img').src !== before"
    app.wait_for_function(changed, arg=before)
