"""Generated code of the tests goes to a folder of its own, not to the reader's cache; long tests
come first; notebooks get one more cell, which looks at their panels."""

import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest
from nbval.kernel import RunningKernel
from processes import end_started, keyboard_interrupts

# Files of few, long tests: they come first, or the other processes are idle at the end.
LONG = "test_browser", "test_pages", "test_site", "test_fuzz", "test_metamorphic", "test_machines"
# The markers of files: `-m "not browser and not site and not slow"` is a quick run.
MARKERS = {
    "browser": {"test_browser", "test_stage_in_lab", "test_player", "test_app"},
    "site": {"test_site", "test_pages"},
    "slow": {
        *("test_fuzz", "test_metamorphic", "test_machines", "test_nonsense", "test_executors"),
        *("test_answers", "test_tries", "test_figures", "test_package"),
    },
}
AFTER_RUN_ALL = Path(__file__).parent / "course/after_run_all.py"


def pytest_collection_modifyitems(items):
    for item in items:
        for marker, files in MARKERS.items():
            if item.path.stem in files:
                item.add_marker(marker)
    items.sort(key=lambda item: (item.path.stem not in LONG, item.path.suffix != ".ipynb"))
    ends = {item.path: item for item in items if item.path.suffix == ".ipynb"}.values()
    items[:] = [x for item in items for x in ((item, panels(item)) if item in ends else (item,))]


def panels(last):
    """One more cell of a notebook that nbval runs: what has become of its panels."""
    call = f"import runpy; runpy.run_path({str(AFTER_RUN_ALL)!r})"
    cell = nbformat.v4.new_code_cell(f"{call}['check'](globals(), {last.path.stem!r})")
    how = {"cell_num": last.cell_num + 1, "cell": cell, "options": defaultdict(bool)}
    return last.from_parent(last.parent, name="Panels", **how)


def execute(kernel, cell_input, allow_stdin=False):
    """As JupyterLab does: with a history, from which the code of panels is taken."""
    return kernel.kc.execute(cell_input, allow_stdin=bool(allow_stdin), stop_on_error=False)


def start_without_bars(kernel, *args, start=RunningKernel.__init__, **options):
    """Start a kernel whose runs show no bars: on a slow machine they would stand among outputs that
    are compared."""
    os.environ["NHLAB_BARS"] = "0"
    try:
        start(kernel, *args, **options)
    finally:
        del os.environ["NHLAB_BARS"]


def pytest_configure(config):
    RunningKernel.execute_cell_input = execute
    RunningKernel.__init__ = start_without_bars
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist: in this order
        config.option.loadscopereorder = False
    if "NHLAB_CACHE_DIR" not in os.environ:  # the processes of pytest-xdist inherit it
        os.environ["NHLAB_CACHE_DIR"] = config.code_folder = tempfile.mkdtemp(prefix="nhlab-tests-")


def pytest_unconfigure(config):
    if hasattr(config, "code_folder"):
        shutil.rmtree(config.code_folder, ignore_errors=True)
        del os.environ["NHLAB_CACHE_DIR"]


@pytest.fixture(autouse=True)
def processes_end_with_their_test():
    """A test that fails half-way leaves nothing at work."""
    yield
    end_started()


@pytest.fixture(autouse=True)
def figures_close_with_their_test():
    """pyplot keeps every figure until it is closed, and warns of the twenty-first: which test that
    is depends on what else its process ran."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def ctrl_c():
    """SIGINT raises KeyboardInterrupt, also where a shell started the tests in the background."""
    with keyboard_interrupts():
        yield


@pytest.fixture
def numba():
    """Skip where numba is not installed: the tests that ask for it run 10^6 steps."""
    return pytest.importorskip("numba")
