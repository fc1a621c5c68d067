"""A Chromium for tests; they are skipped where Playwright or the browser is missing."""

import contextlib
import shutil

import pytest

FLAGS = "--no-sandbox", "--disable-background-networking"
SOFTWARE = "--use-angle=swiftshader", "--enable-unsafe-swiftshader"  # WebGL without a graphics card


@contextlib.contextmanager
def chromium(*flags):
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        yield browser
        browser.close()
