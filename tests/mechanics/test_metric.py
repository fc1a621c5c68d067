"""Ranks of constraints and definiteness of M: the answers are the same in all units.

The largest entries of the rows of M, or its eigenvalues as they stand, are not: of the draws here
they decide a hundred and more otherwise."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.mechanics import checks

COUNT, N = 1000, 4


def drawn(seed, distance=1e-5):
    """Full metrics G, pairs of rows A that differ by so much, and units for the velocities."""
    rng = np.random.default_rng(seed)
    B, A = rng.normal(size=(COUNT, N, N)), rng.normal(size=(COUNT, 2, N))
    A[:, 1] = A[:, 0] + distance * A[:, 1]
    return B @ np.swapaxes(B, 1, 2) + 0.1 * np.eye(N), A, 10 ** rng.uniform(-6, 6, (COUNT, N))


@pytest.mark.parametrize("distance", [0.3, 1e-5, 1e-9])
def test_ranks_in_other_units(distance):
    """Also of rows with factors of their own, and with the coordinates in another order."""
    G, A, unit = drawn(1, distance)
    rows = 10 ** np.random.default_rng(2).uniform(-6, 6, (COUNT, 2, 1))
    here, order = checks.independence(A, G), [2, 0, 3, 1]
    there = rows * A * unit[:, None], checks.in_units(G, unit)
    there = there[0][..., order], there[1][:, order][:, :, order]
    assert np.array_equal(checks.rank(*there), checks.rank(A, G))
    assert np.all(checks.rank(A, G) == (2 if distance > 1e-8 else 1))
    assert np.abs(checks.independence(*there) - here).max() < 1e-12


def test_definiteness_in_other_units():
    G, _, unit = drawn(3)
    less = G - (np.linalg.eigvalsh(G)[:, 0] * 1.01)[:, None, None] * np.eye(N)
    for one, other in zip(G, unit, strict=True):
        assert checks.is_definite(checks.in_units(one, other))
    for one, other in zip(less, unit, strict=True):
        assert not checks.is_definite(checks.in_units(one, other))
    assert not checks.is_definite(np.ones((N, N))) and not checks.is_definite(-np.eye(N))


def test_whether_a_matrix_is_singular_in_other_units():
    """One that is singular, and one whose condition is near the limit."""
    G, _, unit = drawn(4)
    G[:, -1], G[:, :, -1] = G[:, 0], G[:, :, 0]
    G[:, -1, -1] = G[:, 0, 0]
    near = G + 1e-12 * np.diag([0, 0, 0, 1]) * G[:, -1:, -1:]
    for one, other, d in zip(G, near, unit, strict=True):
        assert checks.is_singular(one) and checks.is_singular(checks.in_units(one, d))
        found = checks.is_singular(other), checks.is_singular(checks.in_units(other, d))
        assert found[0] == found[1]


def test_units_of_metrics_that_are_not_definite():
    """Entries are at most one, up to what three sweeps leave; zeros on the diagonal are allowed."""
    G, _, unit = drawn(5)
    G = G - 2 * np.diagonal(G, axis1=1, axis2=2)[:, :1, None] * np.diag([1, 0, 0, 1])
    here, there = checks.units(G), checks.units(checks.in_units(G, unit))
    assert np.abs(there * unit / here - 1).max() < 1e-12
    assert np.abs(checks.in_units(G, here)).max() < 2
    assert np.array_equal(checks.units(np.array([[0.0, 4], [4, 0]])), [0.5, 0.5])


def test_components_that_determine_the_others_in_other_units():
    """The constraint determines vx, however small its factor is in these units."""
    x, y, vx, vy, unit = nh.symbols("x y vx vy unit")
    L = ((unit * vx) ** 2 + vy**2 + unit * vx * vy) / 2
    system = nh.System((x, y), (vx, vy), L, [unit * vx - vy], parameters={unit: 1})
    for value in (1, 1e-10, 1e10):
        v = system.set(unit=value).complete([0, 0], vy=1)
        assert np.allclose(v * [value, 1], 1, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_systems_in_other_units(seed):
    """A system is accepted, its M definite and its constraints independent, whatever the units."""
    (G, *_), (A, *_), units = drawn(seed)
    q, v = nh.symbols(f"x:{N}"), nh.symbols(f"v:{N}")
    for unit in units[:5]:
        M, rows = sp.Matrix(checks.in_units(G, unit)), A * unit
        forms = [sum(a * u for a, u in zip(row, v, strict=True)) for row in rows]
        system = nh.System(q, v, (sp.Matrix([v]) * M * sp.Matrix(v))[0] / 2, forms)
        assert system.is_definite
        assert abs(system.independence(np.zeros(N)) / checks.independence(A, G) - 1) < 1e-6
