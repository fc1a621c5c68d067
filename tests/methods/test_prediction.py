"""How EDLA predicts its next step."""

import numpy as np
import pytest

import nhlab as nh
from nhlab.codegen.careful import careful_step
from nhlab.codegen.statement import MAXITER


@pytest.mark.parametrize("name", ["sleigh", "snakeboard", "pendulum", "nonreversible"])
def test_extrapolating_h_saves_iterations(name):
    """From the same states, with the last two h and with the last alone."""
    system, method = nh.systems.catalogue[name](), nh.EDLA()
    program, space = method.program(system), {"count": []}
    turns = f"range({MAXITER}):"
    assert turns in program.text
    exec(program.text.replace(turns, f"{turns}\n        count.append(1)"), space)
    sol = nh.integrate(system, method, h=0.02, steps=100)
    args = method.arguments(system, [1.0] * len(system.v))
    iterations = []
    for before in (sol.rows.h_before[2:-1], sol.h[1:-1]):
        rows = sol.rows.array[2:-1].copy()
        rows[:, -2] = before
        space["count"].clear()
        steps = [space["step"](*row, *args) for row in rows.tolist()]
        assert all(new[0] for new in steps)
        np.testing.assert_allclose([new[1] for new in steps], sol.h[2:], rtol=1e-9)
        iterations.append(len(space["count"]) / len(steps))
    assert iterations[0] < iterations[1] - 0.7


def test_a_step_that_fails_from_the_extrapolated_h_is_predicted_with_the_last():
    """The knife edge: h = .031, .043, and then only a much smaller step exists."""
    system, method = nh.systems.knife_edge(), nh.EDLA()
    sol = nh.integrate(system, method, h=0.02, steps=60)
    k = np.argmin(sol.h[1:] / sol.h[:-1]) + 1
    assert sol.h[k] < 0.1 * sol.h[k - 1] and sol.h[k - 1] > 1.3 * sol.h[k - 2]
    args = method.arguments(system, [1.0] * len(system.v))
    row = sol.rows.array[k].tolist()
    assert not method.program(system).one_step(*row, *args)[0]
    row[-2] = row[1]
    done = careful_step(method.program(system).statement, *row[:2], row[2:], args)
    assert done.ok and done.h == pytest.approx(sol.h[k], rel=1e-12)
    assert np.ptp(sol.energy("midpoints")) < 1e-12
