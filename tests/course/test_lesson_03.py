"""Lesson 03: what its text says of the zigzag."""

import numpy as np
import pytest
from prose import prose

import nhlab as nh


def test_the_sleighs_normal_part_grows_sevenfold_in_ten_units_of_time():
    sol = nh.integrate(nh.systems.sleigh(), nh.Projector(), h=0.1, steps=900, progress=False)
    normal = np.abs(sol.constraint()[:, 0])
    assert abs(sol.t[np.argmin(normal[1:]) + 1] - 45) < 3  # it fell until then
    for t in (65, 70, 75, 80, 85):
        assert normal[10 * t] / normal[10 * (t - 10)] == pytest.approx(7, rel=0.1)
    assert "from about $t=45$ on the normal part grows, sevenfold every 10 units" in prose("03")
