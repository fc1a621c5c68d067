"""Redraws per second of a page that computes by itself, against the notebook's panel.

    python tests/benchmarks/page.py

The same three runs in both.  First pages alone, a slider moved from inside; then both dragged by
the same driver, one after the other, several times in turn.  The driver moves the mouse 120 times
a second by the clock and waits for no answer, as a hand does; a redraw is an animation frame that
shows another curve than the one before.  Needs Playwright and Chromium.
"""

import asyncio
import math
import os
import tempfile
import time
from pathlib import Path
from shutil import which

import nbformat
from panel import PANEL, READY, serve
from playwright.async_api import async_playwright

import nhlab as nh
from nhlab.course.pages import PAGES

PORT, RATE = 8917, 120
FRAMES = """() => {
    window.pictures = 0;
    const frame = () => { window.pictures += window.fresh; window.fresh = false;
                          requestAnimationFrame(frame); };
    window.fresh = false;
    frame();
}"""
# Of a page: the canvas is painted, with data that were not there when it was painted last.
PAINTED = """() => {
    const {sources, figures} = nhlab_pages[0];
    for (const [k, figure] of figures.entries()) {
        const view = Bokeh.index.find_one(figure), paint = view._actual_paint;
        let last = [];
        view._actual_paint = function () {
            const now = sources[k].map(([source]) => source.data);
            window.fresh ||= now.some((x, j) => x !== last[j]);
            last = now;
            return paint.call(this);
        };
    }
}"""
# Of the notebook's panel: another image stands in its place.
REPLACED = """() => new MutationObserver(changes => {
    const has_image = x => x.nodeType === 1 && (x.tagName === "IMG" || x.querySelector("img"));
    const news = c => c.type === "attributes" || [...c.addedNodes].some(has_image);
    window.fresh ||= changes.some(news);
}).observe(document.body,
    {subtree: true, childList: true, attributes: true, attributeFilter: ["src"]})"""
INSIDE = """async seconds => {
    const {controls, book} = nhlab_pages[0];
    const h = controls[book.controls.findIndex(x => x.key === "h")];
    const [low, wide, begun] = [h.start, h.end - h.start, performance.now()];
    const before = window.pictures;
    for (let k = 0; performance.now() - begun < 1000 * seconds; k++) {
        h.value = low + wide * (0.5 + 0.3 * Math.sin(k / 12));
        await new Promise(requestAnimationFrame);
    }
    return 1000 * (window.pictures - before) / (performance.now() - begun);
}"""


async def drag(page, handle, seconds=5):
    """Move a slider's handle to and fro; redraws per second."""
    await page.bring_to_front()
    await handle.scroll_into_view_if_needed()
    box = await handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = await page.context.new_cdp_session(page)

    def send(kind, x):
        event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        return asyncio.ensure_future(mouse.send("Input.dispatchMouseEvent", event))

    await send("mousePressed", x)
    begun, before, sent = time.perf_counter(), await page.evaluate("window.pictures"), []
    while (now := time.perf_counter() - begun) < seconds:
        sent.append(send("mouseMoved", x + 40 * math.sin(5 * now)))
        await asyncio.sleep(max(0, len(sent) / RATE - now))
    rate = (await page.evaluate("window.pictures") - before) / (time.perf_counter() - begun)
    await asyncio.gather(*sent)
    await send("mouseReleased", x)
    await asyncio.sleep(1.5)
    return rate


async def opened(chromium, file):
    page = await chromium.new_page(viewport={"width": 1366, "height": 768})
    await page.goto(f"file://{file}")
    await page.wait_for_function("window.nhlab_pages?.length === 1")
    await asyncio.sleep(1)
    await page.evaluate(FRAMES)
    await page.evaluate(PAINTED)
    return page


async def lab(chromium, folder):
    """The panel in JupyterLab."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [nbformat.v4.new_code_cell(PANEL)]
    book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(book, folder / "panel.ipynb")
    page = await chromium.new_page(viewport={"width": 1366, "height": 768})
    await page.goto(f"http://localhost:{PORT}/lab/tree/panel.ipynb?token=x&reset")
    await page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    await page.evaluate(READY)
    await page.wait_for_selector(".nhlab-panel img", timeout=120_000)
    await asyncio.sleep(2)
    await page.evaluate(FRAMES)
    await page.evaluate(REPLACED)
    return page


async def compare(chromium, folder):
    server = serve(folder, PORT)
    try:
        page, notebook = await opened(chromium, folder / "panel.html"), await lab(chromium, folder)
        for _ in range(3):
            live = await drag(page, page.locator(".noUi-handle").first)
            own = await drag(notebook, notebook.locator(".nhlab-panel .noUi-handle").first)
            print(f"dragged: page {live:.1f}, panel {own:.1f}, ratio {live / own:.1f}", flush=True)
    finally:
        server.terminate()


async def main():
    space = {}
    exec(PANEL.replace("nh.explore", "panel = nh.explore"), space)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = {"three methods, 1,250 steps": nh.live(space["panel"], folder / "panel.html")}
        for name in ("cm01_fig1", "fim08_fig2", "05.2"):
            files[name] = nh.live(PAGES[name](), folder / f"{name}.html")
        async with async_playwright() as p:
            flags = ["--no-sandbox", "--disable-gpu"]
            chromium = await p.chromium.launch(executable_path=which("chromium"), args=flags)
            print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
            for name, file in files.items():
                page = await opened(chromium, file)
                rate = await page.evaluate(INSIDE, 4)
                print(f"{name}: {rate:.0f} redraws a second, driven from inside", flush=True)
                await page.close()
            await compare(chromium, folder)
            await chromium.close()


if __name__ == "__main__":
    asyncio.run(main())
