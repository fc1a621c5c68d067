"""``system.complete`` and ``system.settle``: states that satisfy the constraints."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.mechanics.velocities import complete_velocity, free_velocities

x, y, z, vx, vy, vz, t = nh.symbols("x y z vx vy vz t")
T = (vx**2 + vy**2 + vz**2) / 2


def ball(**others):
    return nh.System((x, y, z), (vx, vy, vz), T, holonomic=[x**2 + y**2 + z**2 - 1], **others)


def belt():
    return nh.System((x, y, z), (vx, vy, vz), T, [vz - y * vx - 3 * sp.cos(t) * x], t=t)


# ---------------------------------------------------------------------------- velocities


def test_complete():
    v = nh.systems.particle().complete([0, 2, 0], vx=1, vy=-3)
    assert v.dtype == float and v.tolist() == [1, -3, 2]
    s = nh.systems.rolling_disk()
    q0 = [0.3, 0.1, 0.4, 1.2]
    free = {u.name: 0.5 for u in s.v[2:]}
    assert np.abs(s.A(q0) @ s.complete(q0, **free)).max() < 1e-15
    other = {u.name: 0.5 for u in (s.v[0], s.v[3])}
    v = s.complete(q0, **other)
    assert np.abs(s.A(q0) @ v).max() < 1e-15 and v[0] == v[3] == 0.5


def test_complete_where_constraints_move():
    v = belt().complete([2, 5, 0], vx=1, vy=0, t=np.pi)
    np.testing.assert_allclose(v, [1, 0, 5 - 6])
    free = free_velocities(belt(), [2, 5, 0])
    np.testing.assert_allclose(complete_velocity(belt(), [2, 5, 0], [1, 0, 9], free), [1, 0, 11])


def test_complete_without_constraints_and_on_a_group():
    free = nh.System((x, y), (vx, vy), vx**2 + vy**2)
    assert free.complete([0, 0], vx=1, vy=2).tolist() == [1, 2]
    s = nh.systems.suslov()
    v = s.complete(s.q0, **{u.name: 0.3 for u in s.v[: len(s.v) - s.m]})
    assert np.abs(s.constraint(s.q0, v)).max() < 1e-15


PARTICLE = nh.systems.particle()
EDGE = nh.System((x, y, z), (vx, vy, vz), T, [vx * sp.sin(z) - vy * sp.cos(z)])
POINT = nh.System((x, y), (vx, vy), vx**2 + vy**2, [x * vx + y * vy])
POLE = nh.System((x, y), (vx, vy), vx**2 + vy**2, [vx + vy / x])


def test_a_velocity_whose_coefficient_vanishes_is_not_the_dependent_one():
    q = [0, 0, np.pi / 2]
    v = complete_velocity(EDGE, q, [1, 2, 3], [0, 2])  # cos z = 6e-17: vy does not follow from vx
    assert np.abs(v).max() <= 3 and np.abs(EDGE.constraint(q, v)).max() < 1e-15


COMPLETE = {
    "unknown": (lambda: PARTICLE.complete([0, 1, 0], vx=1, w=1), "w is no velocity", "'vz'"),
    "too few": (lambda: PARTICLE.complete([0, 1, 0], vx=1), "too few", "leave 2 free"),
    "too many": (lambda: PARTICLE.complete([0, 1, 0], vx=1, vy=1, vz=1), "too many"),
    "dependent": (
        lambda: PARTICLE.complete([0, 2, 0], vx=1, vz=2), "not independent", "['vy']", "give"),
    "dependent up to round-off": (
        lambda: EDGE.complete([0, 0, np.pi / 2], vx=1, vz=2), "not independent"),
    "singular": (lambda: POINT.complete([0, 0], vx=1), "dependent at q", "rank 0 of 1"),
    "not finite": (lambda: POLE.complete([0, 0], vx=1), "not finite at q"),
    "short q": (lambda: PARTICLE.complete([0, 1], vx=1, vy=1), "q has shape (2,)"),
    "many q": (lambda: PARTICLE.complete([[0, 1, 0]], vx=1, vy=1), "q has shape (1, 3)"),
    "NaN q": (lambda: PARTICLE.complete([0, np.nan, 0], vx=1, vy=1), "must be finite"),
    "text": (lambda: PARTICLE.complete([0, 1, 0], vx="1", vy=1), "vx = '1'"),
    "infinite": (lambda: PARTICLE.complete([0, 1, 0], vx=np.inf, vy=1), "vx = inf"),
    "t as text": (lambda: belt().complete([0, 1, 0], vx=1, vy=1, t="now"), "t = 'now'"),
}  # fmt: skip


# ---------------------------------------------------------------------------- positions


def test_settle():
    q = ball().settle([1, 2, 2])
    np.testing.assert_allclose(q, [1 / 3, 2 / 3, 2 / 3], atol=1e-15)
    nh.integrate(ball(), nh.DLA(), q, ball().complete(q, vx=1, vy=0), h=0.1, steps=2)
    assert ball().settle([0.1, 0.1, 0.1]) == pytest.approx(3 * [3**-0.5], abs=1e-14)
    assert PARTICLE.settle([1, 2, 3]).tolist() == [1, 2, 3]


def test_settle_moves_as_little_as_the_metric_allows():
    """Nearest in M: SciPy finds no nearer point."""
    from scipy.optimize import minimize

    L, M = (4 * vx**2 + vy**2 + vx * vy) / 2, np.array([[4, 0.5], [0.5, 1]])
    s = nh.System((x, y), (vx, vy), L, holonomic=[y - sp.sin(x) - sp.cos(t)], t=t)
    q0 = np.array([0.4, 1.6])

    def way(a):
        d = np.array([a[0], np.sin(a[0]) + np.cos(0.3)]) - q0
        return d @ M @ d

    best = minimize(way, [0.4], tol=1e-14).x[0]
    q = s.settle(q0, 0.3)
    assert abs(q[0] - best) < 1e-7 and abs(s.g(q, 0.3)[0]) < 1e-15
    assert abs(q[0] - s.settle(q0, 0.0)[0]) > 0.01


PLANE = nh.System((x, y), (vx, vy), vx**2 + vy**2, holonomic=[x**2 + y**2 + 1])
SADDLE = nh.System((x, y), (vx, vy), vx**2 - vy**2, holonomic=[x - 1])
SETTLE = {
    "the centre": (lambda: ball().settle([0, 0, 0]), "dependent at q", "start elsewhere"),
    "nowhere": (lambda: PLANE.settle([1, 1]), "no position on the holonomic constraints"),
    "no metric": (lambda: SADDLE.settle([0, 0]), "M is not positive definite"),
    "short q": (lambda: ball().settle([0, 1]), "q has shape (2,)"),
    "text": (lambda: ball().settle("here"), "q = 'here'"),
    "infinite t": (lambda: ball().settle([1, 0, 0], np.inf), "t = inf"),
}


CASES = {f"complete, {k}": x for k, x in COMPLETE.items()}
CASES |= {f"settle, {k}": x for k, x in SETTLE.items()}


@pytest.mark.parametrize("case", CASES)
def test_refusals(case):
    call, *words = CASES[case]
    with pytest.raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value
