"""EDLA: equivariance, and C03's remark 2 on where its equations can be solved."""

import numpy as np
import oracle
import pytest
from runs import made
from scipy.optimize import root

import nhlab as nh

S = nh.systems
SE2 = nh.groups.SE2
PLANE = {"e1": {"x": 1}, "e2": {"y": 1}, "e3": {"x": "-y", "y": "x", "theta": 1}}
GAUSS = 0.5 - np.sqrt(3) / 6


# ---------------------------------------------------------------------------- equivariance


def moved(g, sol):
    """g (q, p) of a run of the sleigh, for g in SE(2)."""
    c, s = np.cos(g[2]), np.sin(g[2])
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return sol.q @ turn.T + g, sol.p @ turn.T, np.array(sol.system.v0) @ turn.T


@pytest.mark.ledger("C03-equivariance")
@pytest.mark.parametrize("method", [nh.EDLA(), nh.EDLA(0.3, True)], ids=repr)
def test_the_map_commutes_with_the_group(method):
    """Phi(g .) = g Phi(.), the chosen steps included, also after a shift of time."""
    system, g = made(S.sleigh), np.array([0.7, -1.3, 0.9])
    sol = nh.integrate(system, method, h=0.1, steps=40)
    q, p, v0 = moved(g, sol)
    other = nh.integrate(system, method, q[0], v0, h=0.1, steps=40, t0=1.7)
    assert np.abs(other.q - q).max() < 1e-9 and np.abs(other.p - p).max() < 1e-9
    assert np.abs(other.h - sol.h).max() < 1e-9 and np.ptp(sol.h) > 1e-3
    assert np.abs(other.q - sol.q).max() > 0.5  # another motion, moved as a whole


@pytest.mark.ledger("C03-equivariance")
def test_the_discrete_momentum_is_Ad_equivariant():
    """J_d(g .) = Ad*_(g^-1) J_d; without Ad* it is another momentum."""
    system, g = made(S.sleigh), np.array([0.7, -1.3, 0.9])
    sol = nh.integrate(system, nh.EDLA(), h=0.1, steps=40)
    q, _, v0 = moved(g, sol)
    other = nh.integrate(system, nh.EDLA(), q[0], v0, h=0.1, steps=40)
    sym = nh.Symmetry(system, PLANE)
    J, J_moved = sym.J_d(sol), sym.J_d(other)
    assert np.abs(J_moved - SE2.Ad_star(SE2.inverse(g), J)).max() < 1e-9
    assert np.abs(J_moved - J).max() > 0.1


@pytest.mark.ledger("C03-equivariance")
def test_what_is_no_symmetry_does_not_commute():
    """Along z the particle may be moved, along x its potential is another one."""
    system = made(S.particle)
    sol = nh.integrate(system, nh.EDLA(), h=0.1, steps=40)
    for shift, commutes in ((np.array([0, 0, 0.4]), True), (np.array([0.4, 0, 0]), False)):
        other = nh.integrate(system, nh.EDLA(), sol.q[0] + shift, system.v0, h=0.1, steps=40)
        gap = np.abs(other.q - sol.q - shift).max()
        assert gap < 1e-10 if commutes else gap > 0.1


# ---------------------------------------------------------------------------- remark 2


def slopes_of_remark_2(sol, k, d=1e-30):
    """D(D1Ld, -D2Ld + A^T lam, wd)/D(t1, q1, lam) at step k, by complex steps."""
    Ld, m = oracle.discrete(sol.system, sol.method), sol.system.m
    t0, q0, t1, q1 = sol.t[k], sol.q[k], sol.t[k + 1], sol.q[k + 1]
    A = oracle.formulas(sol.system).A(t0, q0)

    def image(time, q, lam):
        step = t0, q0, time, q
        wd = Ld.wd(*step) if m else []
        return np.array([Ld.D1(*step), *(-Ld.D2(*step) + (A.T @ lam if m else 0)), *wd])

    columns = [image(t1 + 1j * d, q1, sol.lam[k])]
    columns += [image(t1, q1 + 1j * d * e, sol.lam[k]) for e in np.eye(len(q1))]
    columns += [image(t1, q1, sol.lam[k] + 1j * d * e) for e in np.eye(m)]
    return np.array(columns).T.imag / d


def pivots(sol):
    """Of each step after 0, the determinant over that of its part without t1 and D1Ld.

    By Schur's formula the slope dE/dh of the discrete energy along DLA steps of size h.
    """
    matrices = [slopes_of_remark_2(sol, k) for k in range(1, sol.steps)]
    return np.array([np.linalg.det(x) / np.linalg.det(x[1:, 1:]) for x in matrices])


def until(system, method, q0, v0, h, steps):
    try:
        return nh.integrate(system, method, q0, v0, h=h, steps=steps), False
    except nh.IntegrationError as error:
        assert "no positive step" in error.reason
        return error.trajectory, True


@pytest.mark.ledger("C03-R2b")
def test_the_local_diffeomorphism_condition_along_runs():
    """It holds along a run of the particle; where the robot stops, the derivative degenerates."""
    particle, _ = until(made(S.particle), nh.EDLA(), None, None, 0.1, 60)
    robot, stopped = until(made(S.robot), nh.EDLA(), [0, 0, 0, np.pi / 2], [6, 0, 1, 6], 0.05, 100)
    assert stopped and robot.steps >= 4
    assert slopes_of_remark_2(particle, 3).shape == (5, 5)
    good, bad = pivots(particle), pivots(robot)
    assert good.max() < 0.4 * good.min() < 0  # one sign, far from zero
    assert np.all(np.diff(bad) < 0) and 0 < bad[-1] < 0.7 * bad[0]
    Ld, (t, q) = oracle.discrete(particle.system, particle.method), (particle.t[6], particle.q[6])
    p, A = Ld.D4(particle.t[5], particle.q[5], t, q), particle.system.A(q)
    ends = [particle.h[6] + d for d in (-1e-5, 1e-5)]
    there = [oracle.dla_step(Ld, A, t, q, p, h, particle.q[7])[0] for h in ends]
    energies = [Ld.D1(t, q, t + h, q1) for h, q1 in zip(ends, there, strict=True)]
    assert good[5] == pytest.approx(np.diff(energies)[0] / 2e-5, rel=1e-5)


def regular_pendulum(kappa, h, steps):
    """EDEL for Ld = h L(midpoint) + kappa h^3: (t, q, h), as far as a positive step is found."""

    def energy(q, v, h):  # of Ld: -dLd/dh
        return v**2 / 2 - np.cos(q + h * v / 2) - 3 * kappa * h**2

    def leaving(q, v, h):
        return v + h / 2 * np.sin(q + h * v / 2)

    def equations(x, q, p, e):
        return [leaving(q, *x) - p, energy(q, *x) - e]

    q, p = 0.0, 3.0
    v = root(lambda v: leaving(q, v, h) - p, p, tol=1e-13).x[0]
    e, path, hs, guess = energy(q, v, h), [q], [], h
    while len(hs) < steps:
        p, q = v - h / 2 * np.sin(q + h * v / 2), q + h * v
        path, hs = [*path, q], [*hs, h]
        dla = root(lambda v, *at: leaving(at[0], v, at[1]) - at[2], v, (q, guess, p)).x[0]
        found = root(equations, [dla, guess], (q, p, e), tol=1e-12)
        if np.abs(found.fun).max() > 1e-9 or found.x[1] <= 0:
            break
        guess, (v, h) = found.x[1] ** 2 / h, found.x
    return np.cumsum([0, *hs]), np.array(path), np.array(hs)


@pytest.mark.ledger("C03-R2b")
def test_a_suitable_Ld_avoids_the_trouble():
    """The pendulum from v0 = 3 turns over: E_d(h) = E + c h^2 + ... with c = -(V'' p^2 + V'^2)/8
    for the midpoint, which changes sign; -V'^2/8 at the two Gauss points, which is zero at the top
    and at the bottom only; c - 3 kappa with kappa h^3 added to Ld, which costs no order."""
    pendulum = made(S.pendulum)
    midpoint, stopped = until(pendulum, nh.EDLA(), [0], [3], 0.05, 600)
    assert stopped and midpoint.t[-1] == pytest.approx(1.754, abs=1e-3)
    gauss, stopped = until(pendulum, nh.EDLA(GAUSS, True), [0], [3], 0.05, 600)
    assert stopped and 1.9 * np.pi < gauss.q[-1, 0] < 2 * np.pi  # over the top, to the bottom
    for h in (0.05, 0.1):
        t, q, hs = regular_pendulum(0.5, h, 400)
        assert len(hs) == 400 and q[-1] > 19 * np.pi and 0.9 * h < hs.min() < hs.max() < 1.5 * h
    plain = regular_pendulum(0.0, 0.05, 400)  # the midpoint rule by this code
    assert plain[0] == pytest.approx(midpoint.t, abs=1e-8)
    errors = []
    for h in (0.04, 0.02, 0.01):
        t, q, _ = regular_pendulum(0.5, h, round(2 / h))
        exact = nh.integrate(pendulum, nh.Reference(), [0], [3], h=t[-1], steps=1).q[-1, 0]
        errors.append(abs(q[-1] - exact))
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2, abs=0.2)
