"""In depth with lesson 08: its two exercises, and what its cells share with the lesson."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanics import catalogue as systems
from ...methods import DLA, Composition, Projector, Reference
from ...run.loop import integrate
from ..exercises import takes, told
from .lesson_08 import number
from .lesson_08 import questions as questions
from .lesson_08 import work_rows as work_rows


@takes(number, "The answer is one number, the error of DLA over that of the composition.")
def exercise_1(answer: Any) -> str | None:
    ways = (Reference(), 1), (DLA(), 400), (Composition(DLA(), 4), 80)
    true, *q = (integrate(systems.particle(), m, h=20 / n, steps=n).q[-1] for m, n in ways)
    dla, composed = (np.abs(end - true).max() for end in q)
    turned = "This is upside down: divide DLA's error by that of the composition."
    fair = """Compare at equal cost: 400 steps of DLA against 80 of Composition, five substeps
        each, with nh.Reference() at t = 20 as the truth."""
    return told(answer, dla / composed, [(composed / dla, turned)], fair, 0.1)


@takes(number, "The answer is one number, the r of |A v| ~ exp(r t).")
def exercise_2(answer: Any) -> str | None:
    sol = integrate(systems.sleigh(a=0.4), Projector(), h=0.1, steps=420)
    size = np.log(np.abs(sol.constraint()[300:, 0]))
    rate = np.polyfit(sol.t[300:], size, 1)[0]
    sign = "The size is right. Does the projector's A v grow or die out?"
    fit = "Fit a line to the logarithm of |A v| for t between 30 and 42, or compute k."
    usual = "This is the rate of the catalogue's sleigh, which has a = 0.2."
    return told(answer, rate, [(-rate, sign), (0.198, usual)], fit, 0.02)
