"""figures/ is what the library computes now."""

import csv

import numpy as np
import pytest

from nhlab.course import figures


def stored(name):
    with open(figures.FOLDER / f"{name}.csv", newline="") as file:
        head, *rows = csv.reader(file)
    return head, np.array(rows, float)


@pytest.mark.ledger("CM01-F1", "CM01-F2", "CM01-F3", "CM01-F4")
@pytest.mark.ledger("FIM08-F1", "FIM08-F2", "FIM08-F3", "FIM08-F4", "FIM08-F5")
@pytest.mark.parametrize("name", figures.PLATES)
def test_the_stored_data_are_current(name):
    import matplotlib.pyplot as plt

    plate = figures.PLATES[name]()
    plt.close(plate.figure)
    head, rows = stored(name)
    assert head == list(plate.data)
    values = np.column_stack(list(plate.data.values()))
    # A thousand steps at the edge of stability amplify rounding; the reference has its own error.
    np.testing.assert_allclose(rows, values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", figures.PLATES)
def test_every_figure_is_there_and_in_the_gallery(name):
    page = (figures.FOLDER / "README.md").read_text()
    for ending in ("png", "svg", "csv"):
        assert (figures.FOLDER / f"{name}.{ending}").stat().st_size > 100
        assert f"({name}.{ending})" in page


def test_the_papers_claims_in_numbers():
    _, one = stored("cm01_fig1")
    assert 2.499 < one[:, 2].min() and one[:, 2].max() < 2.5263  # DLA's band
    assert one[-1, 1] < 2.482  # Runge-Kutta has fallen
    _, two = stored("fim08_fig2")
    assert np.ptp(two[:, 1]) < 1e-13 < 1e-4 < np.ptp(two[:, 2])
    _, five = stored("fim08_fig5")
    assert five[-1, 1] < five[-1, 2] < five[-1, 3] / 50
