"""Generated code of the tests goes to a folder of its own, not to the reader's cache."""

import os
import shutil
import tempfile

import pytest

# Files of few, long tests: they come first, or one of two processes is idle at the end.
LONG = "test_browser", "test_notebooks", "test_pages", "test_site", "test_fuzz", "test_machines"


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem not in LONG)


def pytest_configure(config):
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist: in this order
        config.option.loadscopereorder = False
    if "NHLAB_CACHE_DIR" not in os.environ:  # the processes of pytest-xdist inherit it
        os.environ["NHLAB_CACHE_DIR"] = config.code_folder = tempfile.mkdtemp(prefix="nhlab-tests-")


def pytest_unconfigure(config):
    if hasattr(config, "code_folder"):
        shutil.rmtree(config.code_folder, ignore_errors=True)
        del os.environ["NHLAB_CACHE_DIR"]


@pytest.fixture
def numba():
    """Skip where numba is not installed: the tests that ask for it run 10^6 steps."""
    return pytest.importorskip("numba")
