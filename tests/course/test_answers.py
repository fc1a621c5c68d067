"""The figures of the papers and the lessons' main panels answer their sliders: at every setting all
live curves are in the picture, and limits do not jump while a slider is dragged."""

import itertools
import os
from functools import lru_cache, partial

import numpy as np
import pytest

from nhlab.course.figures import STATEMENTS
from nhlab.course.pages import PAGES
from nhlab.view.limits import FILLED, LEAST, calm_points

# Each once: some of the lessons' panels are figures of the papers.
NAMES = [x for x in PAGES if x in STATEMENTS or ("." in x and not isinstance(PAGES[x], partial))]
NAMES = [x for x in NAMES if x not in ("fim08_fig3", "fim08_fig4")]  # drawings, which stand still
EVERYTHING = os.environ.get("NHLAB_EVERYTHING") == "1"
MOST = 40  # steps from end to end, as a hand makes them
CALM = {"T": 30.0}  # long runs take long


def live_curves(panel):
    """(axes, x, y) of what is drawn, as far as it is meant to be seen: a picture with a time axis
    ends at T, which EDLA's own steps may pass, and of a curve that explodes it has the calm part.
    """
    T = panel.values.get("T", panel.figure.setting.T) or np.inf
    for line in panel.picture.moving:
        if not hasattr(line, "get_xdata") or not line.get_visible() or not len(line.get_xdata()):
            continue
        x, y = (np.asarray(u, float) for u in line.get_data())
        if "$t$" in line.axes.get_xlabel():
            x, y = x[x <= T], y[x <= T]
        if line.axes.get_yscale() == "log":
            y = np.maximum(y, 1e-5)  # errors begin at zero, and the axis there
        said = panel.picture.leaving or panel.message.value
        held = calm_points(y) if said else len(y)
        yield line.axes, x[:held], y[:held]


def shares(panel):
    """For each curve: is it inside, and how much of the height do all on its axes fill?"""
    reach = {}
    for ax, x, y in live_curves(panel):
        for side, values in (("x", x), ("y", y)):
            scale = getattr(ax, f"{side}axis").get_transform().transform
            low, high = scale(np.array(getattr(ax, f"get_{side}lim")()))
            values = (scale(values[np.isfinite(values)]) - low) / (high - low)
            reach.setdefault((ax, side), []).extend([values.min(), values.max()])
    return {key: (min(x), max(x)) for key, x in reach.items()}


def is_seen(panel):
    """Is every curve inside its axes?"""
    return all(-2e-3 <= low and high <= 1.002 for low, high in shares(panel).values())


def is_filled(panel):
    """Do the curves of each axes together fill a third of the height, or of the width of a path?"""
    found = shares(panel)
    for ax in {ax for ax, _ in found}:
        sides = ("x", "y") if ax.get_aspect() == 1 else ("y",)
        if max(np.ptp(found[ax, side]) for side in sides) < 0.99 * FILLED:
            shown = [y for a, _, y in live_curves(panel) if a is ax]
            if max(np.abs(y).max() for y in shown) < LEAST:
                continue  # residuals that are rounding: limits come no closer
            # a constant fills nothing
            return max(map(np.ptp, shown)) <= 1e-12 * max(map(abs, ax.get_ylim()))
    return True


def limits(panel):
    return [(ax.get_xlim(), ax.get_ylim()) for ax in panel.picture.axes]


def sliders(panel):
    return {key: c for key, c in panel.controls.items() if hasattr(c, "max")}


def somewhere(panel, rng, but=()):
    """A random setting."""
    found = {}
    for key, c in panel.controls.items():
        if key in but:
            continue
        if key in CALM and hasattr(c, "max"):
            found[key] = min(max(CALM[key], c.min), c.max)
        elif hasattr(c, "max"):
            steps = int(rng.integers(round((c.max - c.min) / c.step)))
            found[key] = min(c.min + c.step * steps, c.max)
        else:
            every = [x[1] if isinstance(x, tuple) else x for x in c.options]
            found[key] = every[rng.integers(len(every))]
    return found


def test_every_figure_that_moves_is_asked():
    """Of the papers all but the two drawings; of the pages all but the choice among systems, which
    is several figures."""
    assert {*STATEMENTS} - {*NAMES} == {"fim08_fig3", "fim08_fig4"}
    assert {*PAGES} - {*NAMES} <= {"fim08_fig3", "fim08_fig4", "own"}


@pytest.fixture(scope="module")
def made():
    """Panels, each made once."""
    return lru_cache(None)(lambda name: PAGES[name]())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_live_curves_are_in_the_picture_at_every_setting(made, name):
    panel, rng = made(name), np.random.default_rng([*name.encode()])
    ends = [{key: x} for key, c in sliders(panel).items() for x in (c.min, c.max)]
    for values in [*ends, *(somewhere(panel, rng) for _ in range(6))]:
        panel.reset()
        panel.set(**values)
        if panel.trace.value:  # there is no such motion, which is said
            continue
        assert is_seen(panel), (values, shares(panel))
        assert is_filled(panel), (values, shares(panel))


def drag(panel, key):
    """Move a slider from end to end by steps; at how many limits changed, of how many."""
    c = panel.controls[key]
    count = min(round((c.max - c.min) / c.step), MOST)
    seen = []
    for k in range(count + 1):
        c.value = min(c.min + c.step * round(k * (c.max - c.min) / c.step / count), c.max)
        assert is_seen(panel) or panel.trace.value, (key, c.value, shares(panel))
        seen.append(limits(panel))
    return sum(a != b for a, b in itertools.pairwise(seen[1:])), count


@pytest.fixture(scope="module")
def counted():
    """Name -> changes of limits, and steps, in drags."""
    return {}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_limits_do_not_jump_while_a_slider_is_dragged(made, counted, name):
    """One slider from end to end, every night three, with the others anywhere."""
    panel, rng = made(name), np.random.default_rng([*name.encode()])
    found = {}
    for key in rng.permutation([*sliders(panel)])[: 3 if EVERYTHING else 1]:
        panel.reset()
        panel.set(**somewhere(panel, rng, but=(key,)))
        panel.set(**{key: panel.controls[key].min})
        found[key] = drag(panel, key)
    counted[name] = changes, steps = np.sum([*found.values()], 0)
    assert not EVERYTHING or changes < steps / 5, found  # of one slider, only all figures' sum says


def test_limits_change_at_less_than_one_in_eight_steps_of_all_drags(counted):
    if len(counted) < len(NAMES):
        pytest.skip("some drags were not asked for")
    changes, steps = np.sum([*counted.values()], 0)
    print(f"limits changed at {changes} of {steps} steps")
    assert changes < steps / 8, counted
