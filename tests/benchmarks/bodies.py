"""Every body of the catalogue in Chromium, light and dark: played, scrubbed and photographed.

    python tests/benchmarks/bodies.py sheet.png [names of systems]

Draws the photographs on one sheet, to be looked at: each body in the light some time after it was
started, and in the dark towards the end.  Prints what is wrong: messages of the console, requests,
a picture of one colour, or one that scrubbing does not change; then it ends with 1.
"""

import io
import sys
import tempfile
from pathlib import Path
from shutil import which

import numpy as np
from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import nhlab as nh
from nhlab.mechanics.catalogue import catalogue, machines, on_groups

EVERY = {**catalogue, **on_groups, **machines}
STEPS = dict.fromkeys(machines, 0.05) | {"bicycle": 0.03, "rattleback": 0.01, "segway": 0.013}
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
STAGE = "document.querySelector('.nhlab-stage').stage"
SIZE, COLUMNS, ROW = (520, 420), 4, 24  # of a window; pairs of pictures; height of a name


def photographs(page, wrong):
    """Play a stage until it moves; photograph it at a third of its time and towards the end."""

    def at(part):
        page.evaluate(f"{STAGE}.seek({STAGE}.t0 + {part} * ({STAGE}.t1 - {STAGE}.t0))")
        page.wait_for_function(f"!{STAGE}.asked && !{STAGE}.glide", timeout=120_000)
        return Image.open(io.BytesIO(page.locator(".nhs").screenshot())).convert("RGB")

    page.wait_for_function(f"{STAGE}?.stats.frames", timeout=120_000)
    page.evaluate(f"{STAGE}.play(true)")
    page.wait_for_function(f"{STAGE}.t > {STAGE}.t0", timeout=120_000)
    page.evaluate(f"{STAGE}.play(false)")
    early, late = at(0.35), at(0.8)
    one, other = (np.asarray(x, float) for x in (early, late))
    if one.std() < 4 or (one.shape == other.shape and np.abs(one - other).max() < 40):
        wrong.append("one colour, or no motion")
    return early, late


def watch(browser, file, theme):
    """Return the photographs of a page in a theme, and what went wrong."""
    wrong, size = [], dict(zip(("width", "height"), SIZE, strict=True))
    page = browser.new_page(viewport=size, color_scheme=theme)
    page.on("console", lambda m: wrong.append(m.text))
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.on(
        "request", lambda r: r.url.startswith(("data:", "blob:", "file:")) or wrong.append(r.url)
    )
    page.goto(file.as_uri())
    found = photographs(page, wrong)
    page.close()
    return found, wrong


def main(out, names):
    """Draw the sheet; return 1 if something was wrong."""
    folder, faults, pairs = Path(tempfile.mkdtemp()), 0, {}
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=which("chromium"), args=FLAGS)
        for name in names or EVERY:
            h = STEPS.get(name, 0.1)
            sol = nh.integrate(EVERY[name](), nh.DLA(), h=h, steps=80, progress=False)
            film = nh.animate(sol, exact=True, below="energy").save(folder / f"{name}.html")
            (light, _), wrong = watch(browser, film, "light")
            (_, dark), more = watch(browser, film, "dark")
            pairs[name] = light, dark
            faults += bool(wrong or more)
            print(name, *wrong, *more, sep=": ", flush=True)
        browser.close()
    draw(pairs).save(out)
    return int(bool(faults))


def draw(pairs):
    """The sheet: for each body its name above its two pictures."""
    width, height = SIZE[0] // 2, SIZE[1] // 2 + ROW
    rows = -(-len(pairs) // COLUMNS)
    sheet = Image.new("RGB", (2 * width * COLUMNS, height * rows), "white")
    for k, (name, images) in enumerate(pairs.items()):
        x, y = 2 * width * (k % COLUMNS), height * (k // COLUMNS)
        ImageDraw.Draw(sheet).text((x + 6, y + 6), name, "black")
        for j, image in enumerate(images):
            image.thumbnail((width - 4, height - ROW))
            sheet.paste(image, (x + j * width, y + ROW))
    return sheet


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
