"""figures/ is what the library computes now."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from nhlab.course import figures


def stored(name):
    return pd.read_csv(figures.FOLDER / f"{name}.csv")


@pytest.mark.parametrize("name", figures.PLATES)
def test_the_stored_data_are_current(name):
    plate = figures.PLATES[name]()
    plt.close(plate.figure)
    # A thousand steps at the edge of stability amplify rounding; the reference has its own error.
    now = pd.DataFrame(plate.data)
    pd.testing.assert_frame_equal(stored(name), now, check_dtype=False, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", figures.PLATES)
def test_every_figure_is_there_and_in_the_gallery(name):
    page = (figures.FOLDER / "README.md").read_text()
    for ending in ("png", "svg", "csv"):
        assert (figures.FOLDER / f"{name}.{ending}").stat().st_size > 100
        assert f"({name}.{ending})" in page


def test_the_papers_claims_in_numbers():
    one, two, five = (stored(name) for name in ("cm01_fig1", "fim08_fig2", "fim08_fig5"))
    assert 2.499 < one["DLA"].min() and one["DLA"].max() < 2.5263  # its band
    assert one["RK4"].iloc[-1] < 2.482  # Runge-Kutta has fallen
    assert np.ptp(two["Projector"]) < 1e-13 < 1e-4 < np.ptp(two["DLA"])
    projector, dla, left = five.iloc[-1, 1:]
    assert projector < dla < left / 50
