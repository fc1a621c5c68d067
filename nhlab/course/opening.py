"""One rolling robot by two methods: the README's film ``figures/opening.gif``, and
``figures/preview.png``, which other sites show beside a link to ours."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from ..view import plot

FOLDER = Path(__file__).resolve().parents[2] / "figures"
V0, H, STEPS = (2.0, 0.0, 0.15, 2.0), 0.5, 168  # the path of this start is a star
SUBSTEPS = 50  # of the true motion, in a step of the two methods
FRAMES, COLOURS = 40, 16
PAPER, DISC, TRUE, INK = "#FBFAF8", "#F0EEE8", "#7C818A", "#1B1F26"
LETTERS = {"font.family": "STIXGeneral", "mathtext.fontset": "stix", "font.size": 13}


def compute_runs() -> tuple[Trajectory, Trajectory, Trajectory]:
    """Return the robot's motion by DLA and RK4 with a large step, and by RK4 with a tiny one."""
    robot = systems.robot()
    true = integrate(robot, RK4(), v0=V0, h=H / SUBSTEPS, steps=STEPS * SUBSTEPS)
    return *(integrate(robot, m, v0=V0, h=H, steps=STEPS) for m in (DLA(), RK4())), true


class Film:
    """A picture of both paths and energies up to a given step."""

    def __init__(self, size: tuple[float, float], title: str = ""):
        with mpl.rc_context(plot.STYLE | LETTERS):
            self.figure = Figure(figsize=size, dpi=100, facecolor=PAPER)
            grid = self.figure.add_gridspec(2, 2, height_ratios=(3.4, 1))
            self.stars = [self.figure.add_subplot(grid[0, k]) for k in (0, 1)]
            self.energy = self.figure.add_subplot(grid[1, :])
            *self.runs, self.true = compute_runs()
            middle, self.radius = _circle(self.true.q[:, :2])
            self.moving = [
                self._add_star(ax, run, middle)
                for ax, run in zip(self.stars, self.runs, strict=True)
            ]
            self._add_energies()
            if title:
                self.figure.suptitle(title, fontsize=34, color=INK)
                self.figure.get_layout_engine().set(h_pad=0.15, w_pad=0.15)

    def _add_star(self, ax: Axes, run: Trajectory, middle: np.ndarray) -> dict:
        name, colour = type(run.method).__name__, plot.look(run.method)["color"]
        ax.add_patch(Circle(middle, self.radius, color=DISC))
        ax.set(aspect="equal", facecolor=PAPER)
        ax.set_axis_off()
        ax.set_title(name, color=colour, fontsize=20, loc="left")
        for k, edges in enumerate((ax.set_xlim, ax.set_ylim)):
            edges(middle[k] - 1.12 * self.radius, middle[k] + 1.12 * self.radius)
        (true,) = ax.plot([], [], color=TRUE, lw=0.9)
        (path,) = ax.plot([], [], color=colour, lw=1.7)
        (robot,) = ax.plot([], [], "o", ms=16, mfc="white", mec=INK, mew=1.8)
        (dot,) = ax.plot([], [], "o", ms=5, color=colour)
        return {"true": true, "path": path, "robot": robot, "dot": dot}

    def _add_energies(self) -> None:
        ax, energies = self.energy, [run.energy() for run in self.runs]
        ax.axhline(energies[0][0], color=TRUE, lw=1.2)
        ax.set(ylim=(np.min(energies) - 0.3, np.max(energies) + 0.3), facecolor=PAPER)
        ax.set(xlim=(0, 1.06 * self.true.t[-1]), xlabel="time (grey: the true path and energy)")
        ax.set_ylabel("energy")
        ax.grid(False)
        for parts, run, E in zip(self.moving, self.runs, energies, strict=True):
            colour = plot.look(run.method)["color"]
            (parts["energy"],) = ax.plot([], [], color=colour, lw=1.7)
            beside = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
            parts["name"] = ax.annotate(
                type(run.method).__name__, (0, E[0]), color=colour, **beside
            )

    def draw(self, step: int) -> np.ndarray:
        """Return the picture after a number of steps, as an array of RGB pixels."""
        until = self.true.q[: SUBSTEPS * step + 1]
        for parts, run in zip(self.moving, self.runs, strict=True):
            path, energy = _between_nodes(run, step), run.energy()[: step + 1]
            parts["true"].set_data(*until[:, :2].T)
            parts["path"].set_data(*path.T)
            parts["robot"].set_data(*path[-1:].T)
            parts["dot"].set_data(*path[-1:].T)
            parts["energy"].set_data(run.t[: step + 1], energy)
            parts["name"].xy = run.t[step], energy[-1]
        file = io.BytesIO()
        self.figure.savefig(file, format="rgba", dpi=100)
        width, height = (round(x) for x in self.figure.get_size_inches() * 100)
        return np.frombuffer(file.getvalue(), np.uint8).reshape(height, width, 4)[..., :3]


def _circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the middle of a path and the radius of the circle around it."""
    middle = (points.min(0) + points.max(0)) / 2
    return middle, float(np.hypot(*(points - middle).T).max())


def _between_nodes(run: Trajectory, steps: int) -> np.ndarray:
    """Return points (x, y) of the path, on cubics with the allowed velocities at the nodes."""
    from scipy.interpolate import CubicHermiteSpline

    spline = CubicHermiteSpline(run.t, run.q[:, :2], run.v_projected[:, :2])
    return spline(np.linspace(0, run.t[steps], 10 * steps + 1))


def write_film(file: Path) -> None:
    """Write the film; it begins with its last picture, so that its first one is not empty."""
    from PIL import Image

    film = Film((6, 4.6))
    steps = [STEPS, *np.linspace(1, STEPS, FRAMES - 1).astype(int)]
    images = [Image.fromarray(film.draw(int(step))) for step in steps]
    palette = images[0].quantize(COLOURS, dither=Image.Dither.NONE)  # one for all: a small file
    images = [x.quantize(palette=palette, dither=Image.Dither.NONE) for x in images]
    images[0].save(
        file, save_all=True, append_images=images[1:], loop=0,
        duration=[1500, *[150] * (FRAMES - 2), 2500],
    )  # fmt: skip


def write_preview(file: Path) -> None:
    """Write the picture for links, in the size that is asked for them: 1200 x 630 pixels."""
    from PIL import Image

    film = Film((12, 6.3), "One robot, two integrators. One of them runs down.")
    image = Image.fromarray(film.draw(STEPS)).quantize(128, dither=Image.Dither.NONE)
    image.save(file, optimize=True)


def main(folder: Path = FOLDER) -> int:
    """Draw both."""
    write_film(folder / "opening.gif")
    write_preview(folder / "preview.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
