"""Lesson 02 in depth: leaves, vakonomic motions, the mean momentum, why energies stay."""

import re

import numpy as np
import pytest
from prose import prose
from scipy.optimize import minimize_scalar

import nhlab as nh
from nhlab.course.lessons import lesson_02b as lesson
from nhlab.geometry.diagnostics import drift

x, y, z, vx, vy, vz, b = nh.symbols("x y z vx vy vz b")
FREE = (vx**2 + vy**2 + vz**2) / 2

# ---------------------------------------------------------------------------- vakonomic motions


def ramp() -> nh.System:
    """z' = x x', which can be integrated, in a form that is not closed."""
    row, start = (1 + y**2) * (vz - x * vx), {"q0": (0.5, 1, 0), "v0": (1, 1, 0.5)}
    return nh.System((x, y, z), (vx, vy, vz), FREE - x**2 - y**2, [row], **start)


def slopes_of_action(path: np.ndarray, T: float) -> np.ndarray:
    """The derivatives of the particle's action along variations that obey the constraint.

    A path of the particle is given by x and y, and z follows from z' = y x'.  The variations of
    (x, y) are sines that vanish at both ends, combined so that z(T) does not change either.
    """
    t = np.linspace(0, T, len(path))
    h = t[1] - t[0]

    def action_and_height(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        u, w, xm, ym = np.diff(x) / h, np.diff(y) / h, (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
        return h * ((u**2 * (1 + ym**2) + w**2) / 2 - xm**2 - ym**2).sum(), h * (ym * u).sum()

    slopes, d = [], 1e-4
    for k in range(1, 5):
        bump = d * np.sin(k * np.pi * t / T)
        for dx, dy in ((bump, 0), (0, bump)):
            ahead, back = (
                np.array(action_and_height(path[:, 0] + s * dx, path[:, 1] + s * dy))
                for s in (1, -1)
            )
            slopes.append((ahead - back) / (2 * d))
    dS, dz = np.array(slopes).T
    return dS - dz * (dS @ dz) / (dz @ dz)  # the part at right angles to dz keeps z(T)


@pytest.mark.ledger("CM01-vakonomic")
@pytest.mark.parametrize("mu", [-1.0, 0.0, 1.0])
def test_vakonomic_motions_make_the_action_stationary_and_dalemberts_do_not(mu):
    particle, T, steps = nh.systems.particle(), 3.0, 3000
    rows = lesson.vakonomic(particle, [mu], T, steps)
    assert np.abs(slopes_of_action(rows, T)).max() < 1e-5
    nonholonomic = nh.integrate(particle, nh.Reference(), h=T / steps, steps=steps).q
    assert np.abs(slopes_of_action(nonholonomic, T)).max() > 0.05
    assert np.abs(rows[:, 5] - rows[:, 1] * rows[:, 3]).max() < 1e-8  # both obey z' = y x'
    assert np.ptp(particle.energy(rows[:, :3], rows[:, 3:6])) < 1e-7  # and both keep the energy


@pytest.mark.ledger("CM01-vakonomic")
def test_vakonomic_and_nonholonomic_motions_differ_unless_the_constraint_is_integrable():
    run, gaps = {"h": 0.1, "steps": 20}, {}
    for system in (nh.systems.particle(), ramp()):
        true = nh.integrate(system, nh.Reference(), **run).q

        def gap(mu: float, system=system, true=true) -> float:
            return np.abs(lesson.vakonomic(system, [mu], 2.0, 20)[:, :3] - true).max()

        gaps[system.is_holonomic()] = gap
        assert any(not C.is_zero_matrix for C in lesson.curvature(system))
    assert max(gaps[True](mu) for mu in (-1, 0, 2)) < 1e-8
    best = minimize_scalar(gaps[False], bounds=(-3, 3), method="bounded", options={"xatol": 0.01})
    assert best.fun > 0.1  # no multiplier at the start makes it d'Alembert's motion
    assert abs(gaps[False](1) - gaps[False](-1)) > 0.5  # and the motion depends on it


# ---------------------------------------------------------------------------- leaves


def spheres(twist: float) -> nh.System:
    """Spheres about the origin as leaves; a twist makes D nonintegrable."""
    row = x * vx + y * vy + z * vz + b * (x * vy - y * vx)
    return nh.System((x, y, z), (vx, vy, vz), FREE - z, [row], parameters={b: twist})


@pytest.mark.ledger("CM01-R3.3")
@pytest.mark.parametrize("radius", [0.5, 1, 2, 7])
def test_a_run_stays_on_its_leaf_whichever_it_is(radius):
    q0, run = radius * np.array([0.8, 0, -0.6]), {"h": 0.1, "steps": 60}
    spread = {}
    for twist in (0, 0.1):
        system = spheres(twist)
        v0 = system.project(q0, np.array([0.0, 1, 0]))
        sol = nh.integrate(system, nh.DLA(), q0, v0, **run)
        spread[twist] = np.ptp(np.linalg.norm(sol.q, axis=1)) / radius
        if not twist:  # (8): the variational method with g = |q|^2 - radius^2
            g = [x**2 + y**2 + z**2 - radius**2]
            leaf = nh.System((x, y, z), (vx, vy, vz), FREE - z, holonomic=g)
            same = nh.integrate(leaf, nh.Variational(), q0, v0, **run)
            assert np.abs(sol.q - same.q).max() < 1e-12 * max(1, radius)
    assert spread[0] < 1e-13 and spread[0.1] > 0.01


@pytest.mark.ledger("CM01-R3.3")
def test_steps_around_a_square_close_on_leaves_alone():
    """D_d joins points of one leaf; without leaves a closed shadow belongs to an open path."""
    for q in np.array([[0.3, 0.1, -0.9], [0.5, -0.2, 1.7], [-1.0, 0.4, -3.0]]):
        for side in (0.1, 0.05):
            closed, open_ = (lesson.around_square(spheres(s), q, side) for s in (0, 0.1))
            assert abs(closed) < 1e-14
            assert open_ / side**2 == pytest.approx(-2 * 0.1 / q[2], rel=0.3)  # -d omega / omega_z
    assert spheres(0).is_holonomic() and not spheres(0.1).is_holonomic()
    particle = nh.systems.particle()
    assert lesson.around_square(particle, [0, 1, 0], 0.1) == pytest.approx(-0.01)


# ---------------------------------------------------------------------------- what the text says


def test_the_mean_momentum_misses_by_h_at_the_first_node_and_by_h_squared_at_the_others():
    hs, system = np.array([0.05, 0.025, 0.0125]), nh.systems.particle()
    runs = (nh.integrate(system, nh.DLA(), h=h, steps=round(10 / h)) for h in hs)
    first, others = np.array([(m[0], m[1:].max()) for m in map(lesson.mean_momentum_miss, runs)]).T
    assert np.polyfit(np.log(hs), np.log(first), 1)[0] == pytest.approx(1, abs=0.1)
    assert np.polyfit(np.log(hs), np.log(others), 1)[0] == pytest.approx(2, abs=0.05)
    assert "at all nodes but the first" in prose("02b")


def slope(eps: float, rate: float, method) -> float:
    """The energy of the steps that a run of the transmission gains per unit of time."""
    start = {"q0": [0, 0, 0], "v0": [0, rate, 0.3], "h": 0.2, "steps": 5000, "progress": False}
    sol = nh.integrate(nh.systems.transmission(eps=eps), method, **start)
    return drift(sol.t[1:], sol.energy("midpoints"))[0]


def test_splitting_into_parts_does_not_protect_and_reversal_does():
    """The energy of y alone is kept in all three motions; only the one that reversal of time does
    not map to itself drifts."""
    for eps, rate, protected in ((0.2, 2.5, False), (0.2, 1.5, True), (0, 2.5, True)):
        gear, v0 = nh.systems.transmission(eps=eps), [0, rate, 0.3]
        true = nh.integrate(gear, nh.Reference(), [0, 0, 0], v0, h=0.1, steps=200)
        assert np.ptp(lesson.pendulum_energy(true)) < 1e-10
        turns_over = np.abs(true.q[:, 1]).max() > np.pi
        assert turns_over == (rate > 2)
        assert (abs(slope(eps, rate, nh.DLA())) < 1e-7) == protected
    assert slope(0.2, 2.5, nh.DLA()) < -1e-5


def test_the_reason_given_for_a_band_is_reversibility():
    text = prose("02b")
    assert "reversible KAM" in text and "flatter" not in text
    assert "on motions that split into parts" not in text
    assert "But the transmission is made of such parts too" in text
    (reference,) = re.findall(r"K\. Modin, O\. Verdier, [^-]*", text)
    assert "reversib" in reference


def test_the_pendulum_of_the_transmission_turns_over():
    text = prose("02b")
    true = nh.integrate(nh.systems.transmission(), nh.Reference(), h=0.1, steps=200)
    (quoted,) = re.findall(r"\$y=(\d+)\$ at \$t=20\$", text)
    assert float(quoted) == round(true.q[-1, 1]) and true.v[:, 1].min() > 0
    assert "swings differently to the left and to the right" not in text
