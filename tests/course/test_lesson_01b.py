"""Lesson 01 in depth: the circle in two charts."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.course.lessons import lesson_01b as lesson

HS = np.array([0.1, 0.05, 0.025])


def exact_step(h: float) -> tuple[float, float]:
    """Two angles of a pendulum that is on its way over the top, h apart, counted in (0, 2 pi)."""
    q = nh.integrate(nh.systems.pendulum(), nh.Reference(), [4.0], [1.2], h=h, steps=1).q
    return q[0, 0], q[1, 0]


@pytest.mark.ledger("CM01-R4.1b")
def test_two_angles_of_the_circle_give_one_Ld():
    """CM01 Remark 4.1 on S^1: the charts differ by a shift of 2 pi, so that the point between two
    ends is the same; tan(theta/2) is a chart as well, and its midpoint is another point."""
    gaps = []
    for h in HS:
        Ld, shifted, bent = (lesson.chart_Ld(name, exact_step(h), h) / h for name in lesson.CHARTS)
        by_hand = (np.diff(exact_step(h))[0] / h) ** 2 / 2 + np.cos(np.mean(exact_step(h)))
        assert Ld == pytest.approx(by_hand, abs=1e-14)
        assert abs(shifted - Ld) < 1e-14
        gaps.append(abs(bent - Ld))
    assert gaps[-1] > 1e-4  # the control fails
    assert np.polyfit(np.log(HS), np.log(gaps), 1)[0] == pytest.approx(2, abs=0.1)


@pytest.mark.ledger("CM01-R4.1b")
def test_a_run_that_goes_from_chart_to_chart():
    """Pasted together, the two angles give the run in one angle that counts the turns."""
    pendulum, gaps = nh.systems.pendulum(), []
    for h in HS:
        steps = round(6 / h)
        run = nh.integrate(pendulum, nh.Variational(), [1.0], [2.5], h=h, steps=steps)
        whole = np.exp(1j * run.q[:, 0])
        assert run.q[-1, 0] > 2 * np.pi + 1  # it has passed both cuts
        pasted = lesson.through_charts("(0, 2 pi)", "(-pi, pi)", h, steps)
        assert np.abs(pasted - whole).max() < 1e-11
        bent = lesson.through_charts("(0, 2 pi)", "tan(theta/2)", h, steps)
        gaps.append(np.abs(bent - whole).max())
    # where the chart changes depends on h, so the gap shrinks less evenly than that of Ld
    assert gaps[-1] > 1e-4 and gaps[0] > 3 * gaps[1] > 9 * gaps[2]
