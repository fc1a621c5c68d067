"""Redraws per second of a page that computes by itself, against the notebook's panel.

    python tests/benchmarks/page.py

The same four runs in both.  First the page alone, its slider moved from inside; then both dragged
by the same driver, one after the other, several times in turn.  Needs Playwright and Chromium.
"""

import os
import tempfile
import time
from pathlib import Path
from shutil import which

import nbformat
from panel import COUNT, PANEL, READY, drag, serve
from playwright.sync_api import sync_playwright

import nhlab as nh
from nhlab.course.pages import PAGES

PORT = 8917
# Each drawing counts as a picture, as each new image of a panel does.
DRAWN = """() => {
    const page = nhlab_pages[0], draw = page.draw;
    window.pictures = 0;
    page.draw = function (...x) { window.pictures++; return draw.apply(this, x); };
}"""
INSIDE = """async seconds => {
    const {controls, book} = nhlab_pages[0];
    const h = controls[book.controls.findIndex(x => x.key === "h")];
    const [low, wide, begun] = [h.start, h.end - h.start, performance.now()];
    let count = 0;
    while (performance.now() - begun < 1000 * seconds) {
        h.value = low + wide * (0.5 + 0.3 * Math.sin(count++ / 12));
        await new Promise(requestAnimationFrame);
    }
    return 1000 * count / (performance.now() - begun);
}"""


def opened(chromium, file):
    page = chromium.new_page(viewport={"width": 1366, "height": 768})
    page.goto(f"file://{file}")
    page.wait_for_function("window.nhlab_pages?.length === 1")
    time.sleep(1)
    page.evaluate(DRAWN)
    return page


def lab(chromium, folder):
    """The panel in JupyterLab."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [nbformat.v4.new_code_cell(PANEL)]
    book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(book, folder / "panel.ipynb")
    page = chromium.new_page(viewport={"width": 1366, "height": 768})
    page.goto(f"http://localhost:{PORT}/lab/tree/panel.ipynb?token=x&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.evaluate(READY)
    page.wait_for_selector(".nhlab-panel img", timeout=120_000)
    time.sleep(2)
    page.evaluate(COUNT)
    return page


def main():
    space = {}
    exec(PANEL.replace("nh.explore", "panel = nh.explore"), space)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        folder = Path(folder)
        files = {"three methods, 1,250 steps": nh.live(space["panel"], folder / "panel.html")}
        for name in ("cm01_fig1", "fim08_fig2", "05.2"):
            files[name] = nh.live(PAGES[name](), folder / f"{name}.html")
        flags = ["--no-sandbox", "--disable-gpu"]
        chromium = p.chromium.launch(executable_path=which("chromium"), args=flags)
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for name, file in files.items():
            rate = opened(chromium, file).evaluate(INSIDE, 4)
            print(f"{name}: {rate:.0f} redraws a second, driven from inside")
        server = serve(folder, PORT)
        try:
            page, notebook = opened(chromium, folder / "panel.html"), lab(chromium, folder)
            for _ in range(3):
                live = drag(page, page.locator(".noUi-handle").first)
                own = drag(notebook, notebook.locator(".nhlab-panel .noUi-handle").first)
                print(f"dragged: page {live:.1f}, panel {own:.1f}, ratio {live / own:.1f}")
        finally:
            server.terminate()
            chromium.close()


if __name__ == "__main__":
    main()
