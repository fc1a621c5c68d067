"""A lesson as an app: served by Voilà without its code, with sliders that work.

Needs Voilà (the extra ``app``), Playwright and a Chromium; skipped where one is missing.
"""

import importlib
import os
import re
import urllib.request

import psutil
import pytest
from processes import serving

launcher = importlib.import_module("nhlab.__main__")
pytest.importorskip("voila", reason="Voilà is not installed")


@pytest.fixture
def app(browser, tmp_path, lesson):
    """A page with a lesson, served as the launcher does it."""

    def command(port):
        return launcher.app([lesson, "--no-browser", f"--port={port}"])

    log = tmp_path / "log"
    with serving(command, log) as url:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.asked_to_log_in = "/login" in urllib.request.urlopen(url).url
        page.listens = {
            x.laddr.ip for x in psutil.net_connections("tcp")
            if x.status == psutil.CONN_LISTEN and url.endswith(f":{x.laddr.port}")
        }  # fmt: skip
        token = re.search(r"\?token=\w+", log.read_text())[0]
        page.goto(f"{url}/{token}", timeout=120_000)
        yield page
        page.close()


def test_the_browser_opens_with_the_token_which_others_cannot_read():
    from nhlab.course.app import App

    class Known(App):
        display_url = "http://localhost:1/?token=known&x"

    page = Known().write_redirect()
    try:
        assert "url=http://localhost:1/?token=known&amp;x" in page.read_text()
        assert os.name == "nt" or page.stat().st_mode & 0o077 == 0
    finally:
        page.unlink()


@pytest.mark.parametrize("lesson", ["00", "02"])
def test_a_slider_moves_its_picture(app):
    assert app.asked_to_log_in  # without the token that is printed
    assert app.listens and app.listens <= {"127.0.0.1", "::1"}
    assert "import nhlab" not in app.locator("body").inner_text()  # no code
    covers = app.get_by_role("button", name="Just show me")
    covers.first.wait_for(timeout=120_000)
    covers.nth(1).click()  # of a skate to park, and of the first figure of CM01
    handle = app.locator(".nhlab-panel .noUi-handle").first
    handle.wait_for()
    before = app.locator(".nhlab-panel img.nhlab-picture").first.get_attribute("src")
    handle.focus()
    app.keyboard.press("End")
    changed = "before => document.querySelector('.nhlab-panel img.nhlab-picture').src !== before"
    app.wait_for_function(changed, arg=before)
