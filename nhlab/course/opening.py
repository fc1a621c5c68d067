"""The moving picture of the README: one rolling robot by two methods, ``figures/opening.gif``."""

import io
import sys
from pathlib import Path

import numpy as np

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4
from ..run.loop import integrate
from ..view.animate import animate

FILE = Path(__file__).resolve().parents[2] / "figures/opening.gif"
FRAMES, COLOURS, WIDTH = 72, 32, 640


def film():
    """The robot of lesson 00 with a large step: what RK4 loses in energy it loses in size."""
    start = {"v0": [2, 0, 0.15, 2], "h": 0.5, "steps": 168}
    runs = [integrate(systems.robot(), method, **start) for method in (DLA(), RK4())]
    return animate(*runs, below="energy", size=(7.2, 4.4))


def frames(panel, number=FRAMES):
    """Pictures at equal times."""
    from PIL import Image

    for t in np.linspace(0, panel.controls["t"].max, number):
        panel.set(t=t)
        image = Image.open(io.BytesIO(panel.picture.png(small=True))).convert("RGB")
        yield image.resize((WIDTH, WIDTH * image.height // image.width))


def main(file=FILE):
    """Draw it; one palette for all pictures keeps the file small."""
    from PIL import Image

    images = list(frames(film()))
    palette = images[-1].quantize(COLOURS, dither=Image.Dither.NONE)
    images = [x.quantize(palette=palette, dither=Image.Dither.NONE) for x in images]
    images[0].save(file, save_all=True, append_images=images[1:], duration=80, loop=0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
