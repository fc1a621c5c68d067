"""The moving picture of the README: one rolling robot by two methods, ``figures/opening.gif``."""

import sys
from pathlib import Path

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4
from ..run.loop import integrate
from ..view.animate import animate

FILE = Path(__file__).resolve().parents[2] / "figures/opening.gif"


def film():
    """The robot of lesson 00 with a large step: what RK4 loses in energy it loses in size."""
    start = {"v0": [2, 0, 0.15, 2], "h": 0.5, "steps": 168}
    runs = [integrate(systems.robot(), method, **start) for method in (DLA(), RK4())]
    return animate(*runs, below="energy", frames=60)


def main(file=FILE):
    """Write the film."""
    film().save(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
