"""In depth with lesson 06: the exercise about a constant of another kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...methods import Reference
from ...run.loop import integrate
from ..exercises import takes
from .lesson_06 import valley

# ---------------------------------------------------------------------------- exercises


@takes(callable, "The answer is a function of y: answer = f, without calling it.")
def exercise_1(answer: Any) -> str | None:
    sol = integrate(valley(power=2), Reference(), h=0.1, steps=60)
    height = sol.q[:, 1]
    f = np.array([float(answer(float(u))) for u in height])
    J = f * (sol.p[:, 0] + height**2 * sol.p[:, 2])
    size = np.abs(J).max()
    if size < 1e-9:
        return "Zero is constant, but says nothing."
    if not np.ptp(J) < 1e-7 * size:
        return f"""Along the motion your momentum varies by {np.ptp(J) / size:.1%}. The right side
            of (23) is f' y' (p_x + y^2 p_z) + 2 f y y' p_z; put p_z = y^2 p_x and let it vanish."""
