"""Pictures per second while a slider is dragged, in a real browser: nhlab's panel against
``interactive_output`` with the inline backend on the same three curves of 1,250 points.

    python tests/benchmarks/panel.py

Also the processor time of a picture.  Needs Playwright and Chromium,
like tests/course/test_browser.py.
"""

import importlib
import math
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from shutil import which

import nbformat
from playwright.sync_api import sync_playwright

PANEL = """\
import nhlab as nh
SYSTEM, METHODS = nh.systems.particle(), [nh.DLA(), nh.Projector(), nh.RK4()]
nh.explore(SYSTEM, METHODS, h=(0.02, 0.4, 0.2, 0.002), steps=1250, caption="panel")"""
PLAIN = """\
%matplotlib inline
import ipywidgets as w, matplotlib.pyplot as plt
def f(h):
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    for m in METHODS:
        sol = nh.integrate(SYSTEM, m, h=h, steps=1250, progress=False)
        ax.plot(sol.t, sol.energy(), label=type(m).__name__)
    ax.legend(); ax.set_xlabel("time t"); ax.set_ylabel("energy E"); plt.show()
s = w.FloatSlider(value=0.2, min=0.02, max=0.4, step=0.002, description="plain h")
display(s, w.interactive_output(f, dict(h=s)))"""
COUNT = """() => {
    window.pictures = 0;
    new MutationObserver(changes => {
        for (const c of changes) {
            if (c.type === 'attributes') window.pictures++;
            for (const node of c.addedNodes)
                if (node.nodeType === 1 && (node.tagName === 'IMG' || node.querySelector('img')))
                    window.pictures++;
        }
    }).observe(document.body,
        {subtree: true, childList: true, attributes: true, attributeFilter: ['src']});
}"""
READY = """async () => {
    const session = window.jupyterapp.shell.currentWidget.sessionContext;
    await session.ready;
    while (session.session?.kernel?.status !== 'idle') await new Promise(go => setTimeout(go, 100));
    await window.jupyterapp.commands.execute('notebook:run-all-cells');
}"""


def drag(page, handle, seconds=5):
    """Move a slider's handle to and fro; pictures per second."""
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    begun, before, k = time.time(), page.evaluate("window.pictures"), 0
    while time.time() - begun < seconds:
        k += 1
        page.mouse.move(x + 40 * math.sin(k / 12), y)
        time.sleep(0.01)
    rate = (page.evaluate("window.pictures") - before) / (time.time() - begun)
    page.mouse.up()
    time.sleep(1.5)
    return rate


def processor_time(refit, count=40):
    """Milliseconds per picture without a browser: a slider moved from Python."""
    space, spent = {}, []
    exec(PANEL.replace("nh.explore", "panel = nh.explore"), space)
    panel = space["panel"]
    for k in range(count):
        if refit:
            panel.picture.refit()
        begun = time.process_time()
        panel.controls["h"].value = 0.15 + 0.1 * k / count
        spent.append(time.process_time() - begun)
    return 1e3 * sorted(spent)[count // 2]


def serve(folder, port):
    """JupyterLab as the launcher starts it."""
    options = ["--no-browser", "--allow-root", f"--port={port}", f"--ServerApp.root_dir={folder}",
               "--IdentityProvider.token=x", "--expose-app-in-browser"]  # fmt: skip
    command = [sys.executable, *importlib.import_module("nhlab.__main__").lab(options)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://localhost:{port}/api?token=x")
            return server
        except OSError:
            time.sleep(0.5)
    raise SystemExit("JupyterLab did not start")


def measure(url):
    """Pictures per second of both, three times in turn."""
    with sync_playwright() as p:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = p.chromium.launch(executable_path=which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1366, "height": 1500})
        page.goto(url)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        page.evaluate(READY)
        time.sleep(3)
        page.evaluate(COUNT)
        handles = page.locator(".noUi-handle")
        rates = {"panel": [], "plain": []}
        for _ in range(3):
            rates["panel"].append(drag(page, handles.nth(0)))
            rates["plain"].append(drag(page, handles.nth(1)))
        browser.close()
    return {k: sorted(v)[len(v) // 2] for k, v in rates.items()}


def main():
    folder, port = Path(tempfile.mkdtemp()), 8897
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [nbformat.v4.new_code_cell(text) for text in (PANEL, PLAIN)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "panel.ipynb")
    server = serve(folder, port)
    try:
        found = measure(f"http://localhost:{port}/lab/tree/panel.ipynb?token=x")
    finally:
        server.terminate()
    print("pictures per second:", {k: round(x, 1) for k, x in found.items()})
    print(f"ratio {found['panel'] / found['plain']:.1f} (target 3)")
    for refit, target in ((False, 25), (True, 45)):
        name = "with axes refitted" if refit else "picture"
        print(f"{name}: {processor_time(refit):.0f} ms of processor time (target {target})")


if __name__ == "__main__":
    main()
