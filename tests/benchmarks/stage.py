"""The stage: processor time of a still, sizes, and in Chromium the main thread's time per frame.

    python tests/benchmarks/stage.py [names of systems]

Targets: a still in 0.3 s of processor time and 60 kB, 120 kB for a stored animation.  Where there
is no graphics card, WebGL is computed by the processor and frames take long: what counts there is
the time of the main thread, which is what a page feels.  The first frame compiles the shaders.
At least eight frames are counted, however long they take on a busy computer.
"""

import platform
import sys
import tempfile
import time
from pathlib import Path
from shutil import which

from playwright.sync_api import sync_playwright

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups
from nhlab.view import still

EVERY = {**catalogue, **on_groups, **machines}
STEPS = dict.fromkeys(machines, 0.05) | {"bicycle": 0.03, "rattleback": 0.01, "segway": 0.013}
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PLAYED = """async () => {
    const stage = document.querySelector('.nhlab-stage').stage, s = stage.stats;
    while (!s.frames) await new Promise(go => setTimeout(go, 50));
    const first = s.cpu;
    stage.play(true);
    await new Promise(go => setTimeout(go, 500));
    const before = {...s}, begun = performance.now();
    const wait = () => s.frames < before.frames + 8 || performance.now() < begun + 3000;
    while (wait()) await new Promise(go => setTimeout(go, 50));
    const frames = s.frames - before.frames, passed = performance.now() - begun;
    return [first, (s.cpu - before.cpu) / frames, 1000 * frames / passed];
}"""


def processor(work):
    """What a function gives, and the processor time it took."""
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def main(names):
    folder = Path(tempfile.mkdtemp())
    print(f"{platform.processor() or platform.machine()}, software WebGL")
    print(
        "system: kB stored, kB of the still, s for it, ms for the first frame, ms a frame, frames/s"
    )
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=which("chromium"), args=FLAGS)
        for name in names or EVERY:
            h = STEPS.get(name, 0.1)
            sol = nh.integrate(EVERY[name](), nh.DLA(), h=h, steps=80, progress=False)
            film = nh.animate(sol, exact=True, below="energy")
            _, seconds = processor(lambda scene=film.scene: still.picture(scene))
            stored = sum(map(len, film._repr_mimebundle_().values()))
            page = browser.new_page(viewport={"width": 900, "height": 700})
            page.goto(film.save(folder / f"{name}.html").as_uri())
            page.wait_for_function("document.querySelector('.nhlab-stage').stage")
            first, each, rate = page.evaluate(PLAYED)
            page.close()
            sizes = f"{stored / 1e3:.0f} {len(film.png) / 1e3:.0f}"
            print(f"{name}: {sizes} {seconds:.2f} {first:.0f} {each:.1f} {rate:.1f}", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
