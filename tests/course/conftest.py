"""A Chromium for the tests of this room."""

import pytest
from chromium import chromium


@pytest.fixture(scope="module")
def browser():
    """Skips where Playwright or a Chromium is missing; not for the whole session, since Playwright
    keeps an event loop running, beside which others cannot start theirs."""
    with chromium("--disable-gpu") as found:
        yield found
