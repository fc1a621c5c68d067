"""A Chromium for tests; they are skipped where Playwright or the browser is missing."""

import contextlib
import shutil

import pytest

FLAGS = "--no-sandbox", "--disable-background-networking"
SOFTWARE = "--use-angle=swiftshader", "--enable-unsafe-swiftshader"  # WebGL without a graphics card


def options(flags):
    """How a Chromium is started."""
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    return {"executable_path": path, "args": [*FLAGS, *flags]}


@contextlib.contextmanager
def chromium(*flags):
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    how = options(flags)
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(**how)
        yield browser
        browser.close()


@contextlib.contextmanager
def another(browser, *flags):
    """One more Chromium with other flags, beside one that runs: Playwright itself starts once."""
    other = browser.browser_type.launch(**options(flags))
    yield other
    other.close()
