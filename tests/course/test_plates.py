"""Each figure of the papers shows what it claims: its own plate, and what is drawn on it."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest

import nhlab as nh
from nhlab.course import figures

S = nh.systems


@cache
def data(name):
    """The numbers of a plate, as arrays; test_figures.py compares them with its file."""
    plate = figures.PLATES[name]()
    plt.close(plate.figure)
    return {k: np.asarray(x) for k, x in plate.data.items()}


def drift(t, x):
    """Of the means of ten parts: how far the last is from the first, over their spread inside."""
    parts = np.array_split(x, 10)
    return abs(parts[-1].mean() - parts[0].mean()) / np.ptp(parts[0])


# ---------------------------------------------------------------------------- CM01


@pytest.mark.ledger("CM01-F1")
def test_the_particles_energy():
    """DLA fluctuates in a band, Runge-Kutta falls; both from 2.5, to t = 250 with h = 0.2."""
    d = data("cm01_fig1")
    assert d["t"][[0, 1, -1]] == pytest.approx([0, 0.2, 250])
    assert d["DLA"][0] == d["RK4"][0] == 2.5
    assert 2.499 < d["DLA"].min() < 2.4995 and 2.526 < d["DLA"].max() < 2.5264
    assert drift(d["t"], d["DLA"]) < 0.05 and drift(d["t"], d["RK4"]) > 1
    assert np.polyfit(d["t"], d["RK4"], 1)[0] == pytest.approx(-0.0183 / 250, rel=0.05)
    assert np.ptp(d["reference"]) < 1e-8


@pytest.mark.ledger("CM01-F2")
def test_the_particles_constraint():
    """DLA and the benchmark cannot be told apart, Runge-Kutta can."""
    d = data("cm01_fig2")
    assert np.abs(d["DLA"]).max() < 1e-13 and np.abs(d["reference"]).max() < 1e-8
    assert 1e-4 < np.abs(d["RK4"]).max() < 1e-3


@pytest.mark.ledger("CM01-F3")
def test_the_robots_energy():
    d = data("cm01_fig3")
    assert (d["DLA"].min(), d["DLA"].max()) == pytest.approx((8.1955, 8.4382), abs=1e-4)
    assert d["RK4"][-1] == pytest.approx(8.4747, abs=1e-4) and np.ptp(d["reference"]) < 1e-7
    assert drift(d["t"], d["DLA"]) < 0.2 and drift(d["t"], d["RK4"]) > 1


@pytest.mark.ledger("CM01-F4")
@pytest.mark.parametrize("form", ["omega1", "omega2"])
def test_the_robots_constraints(form):
    d = data("cm01_fig4")
    assert np.abs(d[f"DLA {form}"]).max() < 1e-13 and np.abs(d[f"reference {form}"]).max() < 1e-7
    assert np.abs(d[f"RK4 {form}"]).max() > 1e3 * np.abs(d[f"reference {form}"]).max()


# ---------------------------------------------------------------------------- FIM08


def mirrored(p, theta):
    """The mirror image of p in the line along theta."""
    along = np.stack([np.cos(theta), np.sin(theta)], -1)
    return 2 * (p * along).sum(-1, keepdims=True) * along - p


@pytest.mark.ledger("FIM08-F1")
def test_arriving_and_leaving_momenta_are_mirror_images():
    """In the blade of the skate, for its metric is the paper's: equal lengths, equal angles; and
    what leaves a node arrives at the next."""
    d = data("fim08_fig1")
    arriving, leaving = (np.stack([d[f"{p} x"], d[f"{p} y"]], -1) for p in ("p_plus", "p_minus"))
    assert len(arriving) == 2 and np.abs(leaving - arriving).max() > 0.5
    assert np.abs(mirrored(arriving, d["theta"]) - leaving).max() < 1e-12
    assert np.abs(leaving[0] - arriving[1]).max() < 1e-12
    assert np.abs(mirrored(arriving, d["theta"] + 0.1) - leaving).max() > 0.1  # another mirror
    steps = np.diff(np.stack([d["x"], d["y"]], -1), axis=0)
    assert np.abs(steps[0] / 0.8 - leaving[0]).max() < 1e-12  # v of the step, unit mass


@pytest.mark.ledger("FIM08-F2")
@pytest.mark.parametrize("name", ["fim08_fig2", "fim08_fig2_preprint"])
def test_the_free_particles_energy(name):
    """Flat for the projector method, not for DLA."""
    d = data(name)
    assert np.ptp(d["Projector"]) < 1e-13 < 1e-4 < np.ptp(d["DLA"])


def outline(name):
    d = data(name)
    points = np.stack([d["x"], d["y"]], -1)
    return [points[d["part"] == k] for k in np.unique(d["part"])]


def admissible(system, q, place):
    """Velocities of the body's point ``place`` for a basis of D at q: the body turns about q."""
    names = [s.name for s in system.q]
    D = np.linalg.svd(system.A(q))[2][len(system.A(q)) :]
    x, y, turn = (D[:, names.index(k)] for k in ("x", "y", "theta"))
    arm = place - q[[names.index("x"), names.index("y")]]
    return np.stack([x - turn * arm[1], y + turn * arm[0]], -1)


def direction(wheel):
    """The long way of an outline."""
    return np.linalg.svd(wheel - wheel.mean(0))[2][0]


def slip(velocities, heading):
    return np.abs(velocities[:, 0] * heading[1] - velocities[:, 1] * heading[0]).max()


@pytest.mark.ledger("FIM08-F3")
def test_the_drawn_wheels_of_the_snakeboard_do_not_slip():
    """Every velocity in D moves a wheel along the way it is drawn, at its end of the board."""
    system, q = S.snakeboard(), np.array([0, 0, 0.35, 0.9, 0.5])
    parts = outline("fim08_fig3")
    board = parts[0]
    wheels = [p for p in parts if len(p) == 5]  # boxes
    assert len(board) == len(wheels) == 2
    for wheel, other in (wheels, wheels[::-1]):
        centre = wheel[:4].mean(0)
        assert np.abs(board - centre).max(1).min() < 1e-12  # at an end of the board
        velocities = admissible(system, q, centre)
        assert np.abs(velocities).max() > 0.1
        assert slip(velocities, direction(wheel[:4])) < 1e-12
        assert slip(velocities, direction(other[:4])) > 0.1  # the axles exchanged
    assert abs(direction(board) @ [np.cos(0.35), np.sin(0.35)]) == pytest.approx(1)


@pytest.mark.ledger("FIM08-F4")
def test_the_drawn_blade_of_the_sleigh_does_not_slip():
    """It lies at (x, y) along theta, and the centre of mass on its line, the distance a ahead."""
    system, q = S.sleigh(a=0.45), np.array([0, 0, 0.5])
    parts = outline("fim08_fig4")
    (blade,) = (p for p in parts if len(p) == 2)
    (mass,) = (p for p in parts if len(p) > 10)
    heading = direction(blade)
    assert np.abs(blade.mean(0)).max() < 1e-12
    assert slip(admissible(system, q, blade.mean(0)), heading) < 1e-12
    assert slip(admissible(system, q, blade.mean(0)), heading[::-1]) > 0.1
    # a circle that closes: its first point is drawn twice
    assert mass[:-1].mean(0) == pytest.approx(0.45 * np.array([np.cos(0.5), np.sin(0.5)]))


@pytest.mark.ledger("FIM08-F5")
def test_the_errors_on_the_heart_shaped_loop():
    """Similar for both methods; with the constraint at the left point larger by "one to two orders
    of magnitude" along the loop."""
    d = data("fim08_fig5")
    names = "projector", "DLA", "DLA, constraint at the left point"
    projector, dla, left = (d[k][2:] for k in names)
    assert (projector[-1], dla[-1], left[-1]) == pytest.approx((4.13e-3, 1.21e-2, 1.12), rel=0.01)
    assert 10 < (left / dla)[-1] < 100 and 0.1 < np.median(projector / dla) < 10
    assert 10 < np.median(left / dla) < 300


def test_every_figure_of_the_papers_has_a_plate():
    assert [*figures.PLATES] == [
        *(f"cm01_fig{k}" for k in range(1, 5)), "fim08_fig1", "fim08_fig2", "fim08_fig2_preprint",
        *(f"fim08_fig{k}" for k in range(3, 6)),
    ]  # fmt: skip
