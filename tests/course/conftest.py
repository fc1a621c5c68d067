"""A Chromium for the tests of this room."""

import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    """Skips where Playwright or a Chromium is missing; not for the whole session, since Playwright
    keeps an event loop running, beside which others cannot start theirs."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as p:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = p.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()
