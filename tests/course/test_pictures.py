"""Pictures say what is so: the sign of the kick, and areas to scale."""

import numpy as np
import pytest
from lesson_cells import defined

import nhlab as nh
from nhlab.course import pictures


def test_the_kick_is_what_leaves_minus_what_arrives():
    fig, ax = nh.plot.new()
    pictures.kick(ax)
    tips = {text.get_text(): np.array(text.xy) for text in ax.texts}
    assert np.allclose(tips[r"kick $-A^T\lambda$"], tips["leaves"])
    sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=5)
    kicks = sol.p_minus[1:] - sol.p[1:-1]
    rows = sol.system.A(sol.q[1:-1])[:, 0] * sol.lam[1:]
    assert np.abs(rows).max() > 0.01 and np.allclose(kicks, -rows)


def scales(ax):
    """Pixels for a unit, along both axes."""
    return np.abs(ax.get_window_extent().size / [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])


@pytest.mark.parametrize("system", ["particle", "robot"])
def test_the_paths_of_the_square_are_drawn_to_scale(system):
    full = {"particle": (nh.systems.particle(), "z"), "robot": (nh.systems.robot(), "x y")}
    square_panel = defined("07b", "def both_ways", "def square_panel")["square_panel"]
    panel = square_panel(nh.Chaplygin(full[system][0], fibre=full[system][1]))
    panel.picture.png()
    ax = panel.picture.axes[1]
    across, up = scales(ax)
    assert across == pytest.approx(up, rel=1e-6)
    for line in ax.lines:
        x, y = line.get_data()
        assert ax.get_xlim()[0] <= min(x) and max(x) <= ax.get_xlim()[1]
        assert ax.get_ylim()[0] <= min(y) and max(y) <= ax.get_ylim()[1]


def test_a_loop_whose_area_counts_is_drawn_to_scale():
    panel = defined("07", "def loop_panel")["loop_panel"]()
    panel.picture.png()
    for ax in panel.picture.axes:
        across, up = scales(ax)
        assert across == pytest.approx(up, rel=1e-6)
