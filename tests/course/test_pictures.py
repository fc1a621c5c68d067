"""Pictures say what is so: the sign of the kick, and areas to scale."""

import base64
import io
import re

import numpy as np
import pytest
from lesson_cells import defined
from PIL import Image

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


def images(html):
    """The pictures of a piece of HTML, decoded."""
    found = re.findall(r'src="data:image/png;base64,([\w+/=]+)"', html)
    return [np.array(Image.open(io.BytesIO(base64.b64decode(x))).convert("RGB")) for x in found]


def test_a_wide_picture_is_parted_between_its_columns_and_nothing_is_lost():
    shown = pictures.show("slots", "kick")
    html = shown._repr_mimebundle_()["text/html"]
    parts = images(html)
    whole = np.array(Image.open(io.BytesIO(shown.png)).convert("RGB"))
    assert len(parts) == 2
    np.testing.assert_array_equal(np.concatenate(parts, 1), whole)
    cut = parts[0].shape[1]
    assert (whole[:, cut - 1 : cut + 1] == 255).all()  # through white
    assert html.count("alt=") == 2 and 'alt=""' not in html
    narrow = pictures.show("kick")._repr_mimebundle_()["text/html"]
    assert len(images(narrow)) == 1


def spanning(fig, axes):
    """Below two diagrams one that is as wide as both."""
    grid = axes[1, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    fig.add_subplot(grid[1, :])


@pytest.mark.parametrize("across", [lambda fig, axes: fig.suptitle("of all"), spanning])
def test_a_picture_with_something_across_its_columns_is_one(across):
    fig, axes = nh.plot.new(2, 2, size=(9, 5))
    across(fig, axes)
    html = nh.plot.show(fig, "diagrams")._repr_mimebundle_()["text/html"]
    assert len(images(html)) == 1


def test_a_panel_of_two_columns_is_parted_while_it_moves():
    panel = defined("08b", "def sleigh_panel")["sleigh_panel"]()
    for values in ({}, {"h": 0.2}):
        panel.set(**values)
        parts = images(panel.shown.value)
        whole = np.array(Image.open(io.BytesIO(panel.image.value)).convert("RGB"))
        assert len(parts) == 2
        np.testing.assert_array_equal(np.concatenate(parts, 1), whole)
