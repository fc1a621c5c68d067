"""The motions that are timed: three systems, each with a state that lasts for a million steps.

What has to last, with constant work per step:

- The particle's EDLA is chaotic at h = .2 and meets steps of h > 2 in a long run; h = .1 is tame.
- The sleigh with its usual a = .2 runs straight after t ~ 30: DLA then multiplies denormal numbers
  and EDLA has no positive step left (t ~ 8 to 40, depending on the start). The time scale of this
  is 1/a, so a small a gives a million steps of real turning.
- The snakeboard's wheel angle phi grows linearly. It has to stay clear of pi/2, where the two
  constraints become dependent, and of 0, where the board runs straight and EDLA stops; EDLA also
  stops at phi ~ .87 when it starts from .3, but not when it starts from .5.
"""

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy_newton import Particle, Sleigh, Snakeboard


class Case(NamedTuple):
    """A system in NumPy, its parameters by name, and where it starts."""

    kind: type
    parameters: dict
    q0: np.ndarray
    v0: np.ndarray
    h: float = 0.1

    @property
    def system(self):
        return self.kind(**self.parameters)


CASES = {
    "particle": Case(Particle, {}, np.array([0.0, 1, 0]), np.array([1.0, 1, 1])),
    "sleigh": Case(Sleigh, dict(m=1.0, I=1.0, a=5e-6), np.zeros(3), np.array([1.0, 0, 1])),
    "snakeboard": Case(
        Snakeboard,
        dict(m=1.0, J=1.0, J0=1.0, J1=1.0, r=1.0),
        np.array([0, 0, 0, 0, 0.5]),
        np.array([cos(0.5), 0, -sin(0.5), 0.7, 4e-6]),
    ),
}
