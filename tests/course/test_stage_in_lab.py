"""A stored motion in JupyterLab, opened without a kernel: it plays, takes its keys and leaves the
notebook's shortcuts alone; in a notebook that is not trusted the still stays.

Needs Playwright and a Chromium, like test_browser.
"""

import importlib
import os

import nbformat
import pytest
from chromium import SOFTWARE, chromium
from nbformat.sign import NotebookNotary
from processes import serving

import nhlab as nh

CELLS = "document.querySelectorAll('.jp-Notebook .jp-Cell').length"
STAGE = "document.querySelector('.nhlab-stage')?.stage"


@pytest.fixture(scope="module")
def browser():
    with chromium(*SOFTWARE) as found:
        yield found


def stored():
    """A notebook whose cell was run: its output as the course stores it."""
    sol = nh.integrate(nh.systems.sleigh(), nh.DLA(), h=0.2, steps=40)
    film = nh.animate(sol, exact=True, below="energy", caption="A sleigh on ice.")
    output = nbformat.v4.new_output("display_data", film._repr_mimebundle_())
    cell = nbformat.v4.new_code_cell("nh.animate(sol)", outputs=[output])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    folder.mkdir()
    notebook = stored()
    nbformat.write(notebook, folder / "strange.ipynb")
    notebook.cells[0].source += "  # ours"
    nbformat.write(notebook, folder / "trusted.ipynb")
    (home / "data").mkdir()
    NotebookNotary(data_dir=str(home / "data")).sign(nbformat.read(folder / "trusted.ipynb", 4))
    file = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text('{"fetchNews": "false"}')
    own = {"JUPYTER_RUNTIME_DIR": home / "runtime", "JUPYTERLAB_SETTINGS_DIR": home / "settings"}
    own |= {"JUPYTER_DATA_DIR": home / "data"}

    def command(port):
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
                   f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=test",
                   "--expose-app-in-browser"]  # fmt: skip
        return importlib.import_module("nhlab.__main__").lab(options)

    with serving(command, home / "log", **{k: os.fspath(v) for k, v in own.items()}) as url:
        yield url


def opened(browser, url, name):
    """The notebook in a page, after its kernel was stopped."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"{url}/lab/tree/{name}?token=test&reset")
    page.wait_for_selector(".jp-Notebook .jp-OutputArea-output", timeout=90_000)
    page.evaluate("""async () => {
        const session = window.jupyterapp.shell.currentWidget.sessionContext;
        await session.ready;
        await session.shutdown();
    }""")
    return page


def test_a_stored_motion_plays_without_a_kernel_and_leaves_the_shortcuts_alone(browser, lab):
    page = opened(browser, lab, "trusted.ipynb")
    try:
        page.wait_for_function(f"{STAGE}?.stats.frames > 0", timeout=60_000)
        kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session"
        assert page.evaluate(f"{kernel} === null")
        cells = page.evaluate(CELLS)
        for part in (".panes canvas", "button", "input[type=range]", "select"):
            page.locator(f".nhs {part}").first.focus()
            for key in "abdm":  # JupyterLab's: a cell above or below, delete, Markdown
                page.keyboard.press(key)
        assert page.evaluate(CELLS) == cells
        assert page.locator(".jp-Notebook .jp-CodeCell").count() == cells
        page.locator(".nhs .panes canvas").first.focus()
        page.keyboard.press("Home")
        page.keyboard.press(" ")
        page.wait_for_function(f"{STAGE}.t > 0.05", timeout=60_000)
        assert page.evaluate(f"{STAGE}.playing")
    finally:
        page.close()


def test_in_a_notebook_that_is_not_trusted_the_still_stays_with_a_sentence(browser, lab):
    page = opened(browser, lab, "strange.ipynb")
    try:
        output = page.locator(".jp-OutputArea-output").first
        assert "This is a still" in output.inner_text()
        assert output.locator("img").is_visible()
        assert output.locator("img").get_attribute("alt").startswith("A sleigh on ice.")
        assert page.evaluate(f"{STAGE} ?? null") is None
    finally:
        page.close()
