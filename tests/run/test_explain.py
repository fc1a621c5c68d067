"""Why a run stopped: the reason in words, and what to do."""

import numpy as np
import pytest

import nhlab as nh

x, vx = nh.symbols("x vx")


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=str)
def test_rank_loss_on_the_way(method):
    """The wheels turn at a rate that meets phi = pi/2 after 20 steps; the error says where.

    Reference may step across: D itself is smooth there, only the two forms merge.
    """
    board = nh.systems.snakeboard()
    q0 = [0, 0, 0, 0, np.pi / 2 - 1]
    v0 = board.project(q0, [0, 0, 0, 0.3, 1])
    with pytest.raises(nh.IntegrationError) as stopped:
        nh.integrate(board, method, q0, v0, h=0.05, steps=100)
    error = stopped.value
    assert "dependent" in error.reason and "phi = 1.57" in error.reason, error
    assert 18 <= error.step <= 21 and "rank" in error.advice
    assert np.all(np.isfinite(error.trajectory.rows.array))


@pytest.mark.ledger("C03-R2")
def test_no_positive_step():
    """C03 remark 2: the sleigh has no EDLA step beyond t = 7.9, and the message says so."""
    with pytest.raises(nh.IntegrationError) as stopped:
        nh.integrate(nh.systems.sleigh(), nh.EDLA(), h=0.05, steps=10_000)
    error = stopped.value
    assert "no positive step exists" in error.reason and "theta = " in error.reason
    assert "nh.DLA" in error.advice and error.step < 1000
    assert np.all(error.trajectory.h > 0) and np.all(np.diff(error.trajectory.t) > 0)
