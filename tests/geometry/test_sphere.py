"""Chaplygin's sphere: reduced equations beside the full system, integrals, volume, and method."""

import numpy as np
import pytest
from runs import made, power
from scipy.integrate import solve_ivp

import nhlab as nh

SO3 = nh.groups.SO3
sphere = nh.ChaplyginSphere(1.0, 1.4, 2.0, m=1.3, R=0.8)
START = np.array([0.8, 0.6, 0.4]), np.array([0.48, 0.6, 0.64])  # Omega and gamma


def full():
    return sphere.full


def run(method, h=0.1, steps=200):
    return nh.integrate(made(full), method, h=h, steps=steps)


def in_space(sol):
    """K in space at the nodes."""
    K, _ = sphere.momentum_and_vertical(sol)
    return (SO3.matrix(sol.q[:, 2:]) @ K[..., None])[..., 0]


def test_the_reduced_equations_are_those_of_the_full_system():
    sol = run(nh.Reference())
    K, gamma = sphere.momentum_and_vertical(sol)
    reference = 1e-10  # its error, by which v leaves D
    assert np.abs(K - sphere.momentum(sol.v[:, 2:], gamma)).max() < reference
    assert np.abs(sphere.spin(K, gamma) - sol.v[:, 2:]).max() < reference
    assert np.abs(sphere.energy(K, gamma) - sol.energy()).max() < reference
    assert np.abs(sphere.momentum(sphere.spin(K, gamma), gamma) - K).max() < 1e-14

    def rates(t, y):
        return np.concatenate(sphere.rates(y[:3], y[3:]))

    start = np.concatenate([K[0], gamma[0]])
    given = {"t_eval": sol.t, "method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    reduced = solve_ivp(rates, (0, sol.t[-1]), start, **given).y.T
    assert np.abs(reduced - np.hstack([K, gamma])).max() < 1e-10
    assert np.ptp(gamma, axis=0).max() > 0.5
    assert np.ptp(in_space(sol), axis=0).max() < 1e-10


def test_methods_keep_the_momentum_about_the_contact_in_space():
    """Three horizontal symmetries: a turn about a fixed axis, with the shift by which it rolls."""
    for method in (nh.DLA(), nh.Projector(), nh.DLA(0.3, symmetric=True)):
        sol = run(method)
        assert np.ptp(in_space(sol), axis=0).max() < 1e-13
        assert np.ptp(sol.energy()) > 1e-5
    assert np.ptp(in_space(run(nh.RK4())), axis=0).max() > 1e-8


def test_the_volume_that_the_motion_keeps():
    """div (N (K', gamma')) = 0 off the sphere |gamma| = 1 as well; without N it is not."""
    rng = np.random.default_rng(3)

    def divergence(K, gamma, weigh):
        def field(z):
            rates = np.concatenate(sphere.rates(z[:3], z[3:]))
            return rates * (sphere.density(z[3:]) if weigh else 1)

        z, e = np.concatenate([K, gamma]), 1e-4 * np.eye(6)
        return sum((field(z + d) - field(z - d)) @ d / 2e-8 for d in e)

    places = [(rng.normal(size=3), rng.uniform(-0.5, 0.5, 3)) for _ in range(5)]
    assert max(abs(divergence(*at, True)) for at in places) < 1e-7
    assert max(abs(divergence(*at, False)) for at in places) > 1e-3


def test_the_density_of_a_homogeneous_ball_is_constant():
    ball = nh.ChaplyginSphere(0.4, 0.4, 0.4)
    gamma = np.array([[0, 0, 1], [0.6, 0, 0.8]])
    assert np.ptp(ball.density(gamma)) < 1e-15 and np.ptp(sphere.density(gamma)) > 1e-2


def test_the_reduced_step_is_that_of_dla():
    sol = run(nh.DLA())
    K, gamma = sphere.momentum_and_vertical(sol)
    ours = sphere.run(K[0], gamma[0], 0.1, 200)
    assert np.abs(ours[0] - K).max() < 1e-12 and np.abs(ours[1] - gamma).max() < 1e-12
    other, _ = sphere.momentum_and_vertical(run(nh.Projector()))
    assert np.abs(ours[0] - other).max() > 1e-5


def test_the_reduced_step_of_the_projector_method_is_that_of_the_full_system():
    """Also the part of the momentum across D, and the half kick with which a run begins."""
    sol = run(nh.Projector())
    K, gamma = sphere.momentum_and_vertical(sol)
    ours = sphere.run(K[0], gamma[0], 0.1, 200, projector=True)
    assert np.abs(ours[0] - K).max() < 1e-12 and np.abs(ours[1] - gamma).max() < 1e-12
    pushes = np.concatenate([sol.p[:, :2], 0 * sol.p[:, :1]], 1)[..., None]
    push = (np.swapaxes(SO3.matrix(sol.q[:, 2:]), 1, 2) @ pushes)[..., 0]
    state = sphere.projector_start(K[0], gamma[0], 0.1)
    for k in range(3):
        for x, y in zip(state, (push[k], sol.p[k, 2:], gamma[k]), strict=True):
            assert np.abs(x - y).max() < 1e-14
        state = sphere.projector_step(*state, 0.1)
    slip = push / sphere.m - sphere.R * np.cross(sol.p[:, 2:] / sphere.inertia, gamma)
    assert 1e-3 < np.abs(slip).max() < 0.1  # so that the reflection has something to do


def test_members_of_many_spheres_take_the_same_steps():
    rng = np.random.default_rng(5)
    gamma = rng.normal(size=(4, 3))
    gamma /= np.linalg.norm(gamma, axis=1, keepdims=True)
    K = sphere.momentum(rng.normal(size=(4, 3)), gamma)
    for projector in (False, True):
        together = sphere.run(K, gamma, 0.05, 20, projector)
        alone = sphere.run(K[2], gamma[2], 0.05, 20, projector)
        assert all(np.abs(x[:, 2] - y).max() < 1e-13 for x, y in zip(together, alone, strict=True))


def test_the_reduced_step_is_symmetric_and_of_order_two():
    gamma = START[1]
    K = sphere.momentum(*START)
    there = sphere.run(K, gamma, 0.2, 50)
    back = sphere.run(there[0][-1], there[1][-1], -0.2, 50)
    assert np.abs(back[0][-1] - K).max() < 1e-12 and np.abs(back[1][-1] - gamma).max() < 1e-12
    true = sphere.run(K, gamma, 0.0025, 800)[1][-1]

    def error(h):
        return np.abs(sphere.run(K, gamma, h, round(2 / h))[1][-1] - true).max()

    assert power(error) == pytest.approx(2, abs=0.1)


def test_integrals_energy_and_volume_of_long_runs():
    """|K|, K.gamma and |gamma| to round-off; energy and volume in a band, smaller as h^2."""

    def bands(h, T=400):
        K, gamma = sphere.run(sphere.momentum(*START), START[1], h, round(T / h))
        exact = (K * K).sum(1), (K * gamma).sum(1), (gamma * gamma).sum(1)
        assert max(np.ptp(x) for x in exact) < 1e-12
        d = 1e-3
        offsets = d * np.concatenate([j * np.eye(6) for j in (1, -1, 2, -2)])
        start = np.hstack([K, gamma])[:-1, None] + offsets
        ends = np.concatenate(sphere.step(start[..., :3], start[..., 3:], h)[:2], -1)
        ends = ends.reshape(len(K) - 1, 4, 6, 6)
        tangent = (8 * (ends[:, 0] - ends[:, 1]) - (ends[:, 2] - ends[:, 3])) / (12 * d)
        growth = np.linalg.slogdet(tangent)[1] + np.diff(np.log(sphere.density(gamma)))
        volume, E = np.cumsum(growth), sphere.energy(K, gamma)
        half = len(E) // 2
        for x in (E, volume):  # no drift: the second half reaches no further than the first
            assert np.abs(x[half:] - x[0]).max() < 1.1 * np.abs(x[:half] - x[0]).max()
        return np.ptp(E), np.ptp(volume)

    coarse, fine = bands(0.2), bands(0.1)
    assert np.divide(coarse, fine) == pytest.approx(4, rel=0.1)
    assert coarse[0] < 2e-3 and coarse[1] < 5e-3


def test_the_projector_method_keeps_its_energy_in_a_band_that_shrinks_with_the_step():
    def band(h, T=400):
        start = sphere.momentum(*START), START[1]
        K, gamma = sphere.run(*start, h, round(T / h), projector=True)
        assert max(np.ptp(x) for x in ((K * K).sum(1), (K * gamma).sum(1))) < 1e-12
        E = sphere.energy(K, gamma)
        half = len(E) // 2
        assert np.abs(E[half:] - E[0]).max() < 1.1 * np.abs(E[:half] - E[0]).max()
        return np.ptp(E)

    assert band(0.2) / band(0.1) == pytest.approx(4, rel=0.1)


def test_what_is_refused():
    with pytest.raises(ValueError, match="m = -1"):
        nh.ChaplyginSphere(m=-1)
    with pytest.raises(ValueError, match="take a smaller h than 30"):
        sphere.step(sphere.momentum(*START), START[1], 30.0)
