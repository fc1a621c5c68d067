"""One rolling robot by two methods, on the stage: the README's film ``figures/opening.gif``, and
``figures/preview.png``, which other sites show beside a link to ours."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4
from ..run.loop import integrate
from ..view.animate import animate
from ..view.player import Stage

FOLDER = Path(__file__).resolve().parents[2] / "figures"
V0, H, STEPS = (2.0, 0.0, 0.15, 2.0), 0.4, 210  # the path of this start is a star
FRAMES, COLOURS = 36, 48
TITLE, PAPER, INK = "One robot, two integrators. One of them runs down.", "#FBFAF8", "#1B1F26"


def make_stage() -> Stage:
    """Return the robot by DLA and by RK4 with the same large step, side by side."""
    robot = systems.robot()
    runs = [integrate(robot, m, v0=V0, h=H, steps=STEPS, progress=False) for m in (DLA(), RK4())]
    return animate(*runs, below="energy", size=(7, 4))


def write_gif(images: Iterable[Image.Image], file: Path, durations: list[int]) -> None:
    """Write pictures as a film whose palette is that of the first, which keeps the file small."""
    first, *rest = images
    palette = first.quantize(COLOURS, dither=Image.Dither.NONE)
    quantized = [x.quantize(palette=palette, dither=Image.Dither.NONE) for x in (first, *rest)]
    more = {"append_images": quantized[1:], "duration": durations, "loop": 0}
    quantized[0].save(file, save_all=True, **more)


def write_film(file: Path) -> None:
    """Write the film; it begins with its last picture, so that its first one is not empty."""
    stage = make_stage()
    begin, end = stage.scene.times
    times = [end, *np.linspace(begin, end, FRAMES)[1:]]
    write_gif(stage.pictures_at(times, 560), file, [1500, *[150] * (FRAMES - 2), 2500])


def write_preview(file: Path) -> None:
    """Write the picture for links, in the size that is asked for them: 1200 x 630 pixels."""
    stage, sheet = make_stage(), Image.new("RGB", (1200, 630), PAPER)
    (picture,) = stage.pictures_at([stage.scene.times[1]], 760)
    sheet.paste(picture, ((1200 - picture.width) // 2, 630 - picture.height))
    draw = ImageDraw.Draw(sheet)
    draw.text((600, 38), TITLE, INK, ImageFont.load_default(34), "mm")
    sheet.quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)


def main(folder: Path = FOLDER) -> int:
    """Draw both."""
    write_film(folder / "opening.gif")
    write_preview(folder / "preview.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
