"""The bodies of the catalogue in motion: ``figures/bodies.png``, and those of the first page."""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from ..mechanics import catalogue, machines
from ..methods import DLA
from ..run.loop import integrate
from ..view import still
from ..view.animate import animate

FILE = Path(__file__).resolve().parents[2] / "figures/bodies.png"
# The name, the system, and how long it is watched: until it shows what it can do.  Each body once:
# the particles look alike, and so do both oscillators and the sleigh in either description.
CAST = {
    "skate": (catalogue.knife_edge, 6.0),
    "snakeboard": (catalogue.snakeboard, 9.0),
    "rolling coin": (catalogue.rolling_disk, 7.0),
    "robot": (catalogue.robot, 5.0),
    "sleigh": (catalogue.sleigh, 12.0),
    "Whipple's bicycle": (machines.bicycle, 4.0),
    "Segway": (machines.segway, 0.7),
    "car with trailer": (machines.car_with_trailer, 8.0),
    "roller racer": (machines.roller_racer, 8.0),
    "ball on a turntable": (machines.ball_on_turntable, 8.0),
    "rattleback": (machines.rattleback, 6.0),
    "particle": (catalogue.particle, 12.0),
    "leaning coin": (machines.tilted_disk, 5.0),
    "two-wheeled robot": (machines.two_wheeled_robot, 6.0),
    "rubber ball": (catalogue.rubber_ball, 6.0),
    "ball with gears": (catalogue.ball, 6.0),
    "ball, right-invariant": (catalogue.ball_right, 6.0),
    "Suslov's body": (catalogue.suslov, 6.0),
    "free rigid body": (catalogue.rigid_body, 8.0),
    "pendulum": (catalogue.pendulum, 5.0),
    "spherical pendulum": (catalogue.spherical_pendulum, 8.0),
    "Kepler's planet": (catalogue.kepler, 9.0),
    "transmission": (catalogue.transmission, 8.0),
    "contact oscillator": (catalogue.contact_oscillator, 9.0),
    "quartic oscillator": (catalogue.quartic, 9.0),
}
COLUMNS, WIDTH = 5, 340
H = 0.002  # a step that is small enough for the rattleback, the fastest of them


def draw_body(name: str, width: int = WIDTH, end: float | None = None) -> Image.Image:
    """Return the still of a body's motion by DLA, without words.

    end : how long it is watched, by default as in ``CAST``; the shorter, the nearer one stands
    """
    make, usual = CAST[name]
    end = usual if end is None else end
    run = integrate(make(), DLA(), h=H, steps=round(end / H), every=10, progress=False)
    return Image.fromarray(still.render(animate(run).scene, width=width))


def draw_sheet() -> Image.Image:
    """Return all of them side by side, each with its name."""
    pictures = {name: draw_body(name) for name in CAST}
    height = max(x.height for x in pictures.values())
    rows = math.ceil(len(pictures) / COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * WIDTH, rows * height), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(18)
    for k, (name, picture) in enumerate(pictures.items()):
        x, y = WIDTH * (k % COLUMNS), height * (k // COLUMNS)
        sheet.paste(picture, (x, y))
        draw.text((x + 12, y + height - 30), name, fill="#1B1F26", font=font)
    return sheet


# Those of the first page, the lesson in which one meets them, and how long they are watched there.
SHOWN = {
    "snakeboard": ("06", 4.5),
    "rolling coin": ("08", 3.5),
    "Whipple's bicycle": ("10", 1.2),
    "roller racer": ("09", 3.0),
}


def main(file: Path = FILE) -> int:
    """Draw the sheet."""
    file.write_bytes(still.png(draw_sheet(), colours=256))
    return 0
