"""Lesson 03: what its text says of the zigzag and of the start."""

import re
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from lesson_cells import code_cells
from prose import prose

import nhlab as nh
from nhlab import plain

METHODS = nh.DLA(), nh.Projector()


@pytest.fixture(scope="module")
def normal():
    """The sleigh's normal part A v at its nodes, h = 0.1, by each of METHODS."""
    runs = (nh.integrate(nh.systems.sleigh(), m, h=0.1, steps=900, progress=False) for m in METHODS)
    return [run.constraint()[:, 0] for run in runs]


def alternating(x):
    """The part of x that changes its sign from node to node; entry k - 1 belongs to node k."""
    return (2 * x[1:-1] - x[:-2] - x[2:]) / 4


def test_the_sleighs_normal_part_grows_sevenfold_in_ten_units_of_time(normal):
    size = np.abs(normal[1])
    assert abs(np.argmin(size[1:]) + 1 - 450) < 30  # it fell until t = 45
    for t in (65, 70, 75, 80, 85):
        assert size[10 * t] / size[10 * (t - 10)] == pytest.approx(7, rel=0.1)
    assert "from about $t=45$ on the normal part grows, sevenfold every 10 units" in prose("03")


def test_the_normal_part_is_half_a_kick_and_a_zigzag(normal):
    sleigh, h = nh.systems.sleigh(), 0.1
    true = nh.integrate(sleigh, nh.Reference(), h=h, steps=900, progress=False)
    for run, near in zip(normal, (0.05, 0.01), strict=True):
        for k in (50, 100, 200, 300):  # the half kick
            q, v = true.q[k], true.v[k]
            A, lam = sleigh.A(q), sleigh.multipliers(q, v)
            half = -h / 2 * (A @ np.linalg.solve(sleigh.M(q), A.T) @ lam)[0]
            assert run[k] == pytest.approx(half, rel=near)
        early = run[1:400]  # at neighbours it is nearly the same
        assert np.abs(np.diff(early)).max() < 0.05 * np.abs(early).max()
    signs = np.sign(normal[1][600:])  # the zigzag, of the other sign at the next node
    assert (signs[1:] == -signs[:-1]).all()
    text = prose("03")
    assert "half of the kick that the motion needs; at neighbouring nodes it is nearly the" in text
    assert "with the other sign at the next node" in text
    assert "alternates in sign from node to node" not in text


def test_the_zigzag_grows_as_fast_as_the_turning_dies_out(normal):
    def rate(x):
        return np.log(np.abs(x[850] / x[650])) / 20

    true = nh.integrate(nh.systems.sleigh(), nh.Reference(), h=0.1, steps=400, progress=False)
    turning = np.log(np.abs(true.v[400, 2] / true.v[300, 2])) / 10
    assert turning == pytest.approx(-1 / 5, abs=0.003)
    assert rate(alternating(normal[1])) == pytest.approx(1 / 5, abs=0.003)
    assert rate(normal[0]) == pytest.approx(-1 / 5, abs=0.003)
    told = "the turning dies out like $e^{-t/5}$, and the zigzag grows like $e^{t/5}$"
    assert told in prose("03")


def test_dla_has_no_zigzag_and_the_curves_coincide_until_40(normal):
    dla, projector = normal
    settled = slice(400, 850)  # there e^(-t/5) alone gives (h/5)^2/4 = 1e-4
    assert (np.abs(alternating(dla))[settled] < 1.1e-4 * np.abs(dla[1:-1])[settled]).all()
    early, late = slice(300, 390), slice(450, 460)
    gap = np.abs(projector - dla) / np.abs(dla).clip(1e-300)
    assert gap[early].max() < 0.1 < 0.4 < gap[late].max()
    assert "no zigzag that could be measured" in prose("03")
    assert "coincide until about $t=40$" in prose("03")


def skate(h, share, monkeypatch):
    """The zigzag and the error of the skate of the lesson, with a share of the first half kick."""
    L, A = (
        lambda q, v: v @ v / 2 + np.sin(0.5) * q[0],
        lambda q: np.array([[np.sin(q[2]), -np.cos(q[2]), 0]]),
    )
    start, steps, whole = ([0, 0, 0], [1, 0, 1]), round(20 / h), plain.constraint_force
    with monkeypatch.context() as changed:
        changed.setattr(plain, "constraint_force", lambda *x: share * whole(*x))
        run = plain.projector(L, A, *start, h=h, steps=steps)
    normal = np.array([(A(q) @ p)[0] for q, p in zip(run.q[1:], run.p[1:], strict=True)])
    true = nh.integrate(nh.systems.knife_edge(), nh.Reference(), *start, h=h, steps=steps)
    return np.abs(alternating(normal)).max(), np.abs(run.q - true.q).max()


def test_the_half_kick_at_the_start_makes_the_zigzag_small(monkeypatch):
    found = {s: [skate(h, s, monkeypatch) for h in (0.1, 0.05)] for s in (1, 0, -1)}
    for coarse, fine in found.values():  # the order is 2 in any case
        assert np.log2(coarse[1] / fine[1]) == pytest.approx(2, abs=0.1)
    for share, power in ((1, 3), (0, 1), (-1, 1)):
        (coarse, _), (fine, _) = found[share]
        assert np.log2(coarse / fine) == pytest.approx(power, abs=0.1)
    (cell,) = (c for c in code_cells("03") if "zigzag of the skate" in c)
    with redirect_stdout(StringIO()) as printed:  # it gives q1 in place of the kick
        exec(cell, {"np": np, "nh": nh})
    told = [float(x) for x in re.findall(r"\d\.\d{5}", printed.getvalue())]
    measured = [run[0] for share in (1, 0, -1) for run in found[share]]
    assert told == pytest.approx(measured, abs=2e-5)
    assert "shrinks like $h^3$, without it only like $h$" in prose("03")
