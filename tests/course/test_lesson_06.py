"""Lesson 06: pairs of shapes that belong to a step, and pairs that do not."""

import numpy as np
import oracle
import pytest
import sympy as sp
from lesson_cells import defined

import nhlab as nh
from nhlab.course.exercises import check
from nhlab.course.lessons import lesson_06 as course

RNG = np.random.default_rng(4)
SHOWN = defined("06b", "x, y, z, vx, vy, vz = nh.symbols", "def partners")  # what its readers see
spiral, turned, partners, spanned = (SHOWN[k] for k in "spiral turned partners spanned".split())


def angles_in_Dd(q0: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The turns g, of 4,000 tried, between which w_d(q0, g there) changes its sign."""
    wd = oracle.discrete(spiral, nh.DLA()).wd
    turns = np.linspace(-np.pi, np.pi, 4001)
    values = np.array([wd(0, q0, 0.1, turned(g, there))[0] for g in turns])
    return turns[:-1][values[:-1] * values[1:] < 0]


@pytest.mark.ledger("C03-P2b")
def test_nu_is_injective_and_onto_only_the_pairs_whose_heights_are_near():
    """C03 Prop. 2: near the diagonal, |turn| < pi/2, one q1 over each (r1, z1) that is reached;
    beyond |z1 - z0| = r0 r1 there is none."""
    seen = set()
    for _ in range(12):
        q0 = np.array([*RNG.uniform(0.4, 1, 2), RNG.uniform(-1, 1)])
        distance, height = RNG.uniform(0.5, 1.5), RNG.uniform(-2, 2)
        reached = abs(height - q0[2]) < distance * np.hypot(*q0[:2])
        along = np.arctan2(q0[1], q0[0])
        there = turned(along, np.array([distance, 0, height]))
        found = angles_in_Dd(q0, there)
        assert len(found) == (2 if reached else 0)
        assert (np.abs(found) < np.pi / 2).sum() == reached  # injective on this part of D_d
        named = partners(q0, distance, height)
        assert len(named) == len(found)
        for q1 in named:
            assert abs(oracle.discrete(spiral, nh.DLA()).wd(0, q0, 0.1, q1)[0]) < 1e-12
        seen.add(bool(reached))
    assert seen == {True, False}


@pytest.mark.ledger("C03-P2b")
def test_nu_is_onto_where_the_fibre_is_shifted():
    """s' + A(r) r' = 0 with shifts of s: every pair of the base has exactly one f."""
    red = nh.Chaplygin(nh.systems.robot(), fibre="x y")
    r0, r1 = RNG.uniform(-9, 9, (2, 50, 2))
    q0, q1 = red.nu_inverse(r0, r1, 0.1)
    assert np.isfinite(q1).all()
    wd = oracle.discrete(red.full, nh.DLA()).wd
    assert max(np.abs(wd(0, a, 0.1, b)).max() for a, b in zip(q0, q1, strict=True)) < 1e-9


@pytest.mark.ledger("C03-P2b")
def test_the_discrete_dimensional_assumption_is_about_pairs():
    """T D_d + V x V has the dimension of T(Q x Q), 6, not that of TQ as printed."""
    system = spiral
    for q0 in np.array([[1, 0, 0], [0.5, 0.7, -0.3]]):
        q1 = partners(q0, 0.9, q0[2] + 0.2)[0]
        assert spanned(system, q0, q1) == 2 * len(system.q)
    across = turned(np.pi / 2, q0) + [0, 0, q0[0] ** 2 + q0[1] ** 2]
    assert abs(oracle.discrete(system, nh.DLA()).wd(0, q0, 0.1, across)[0]) < 1e-14
    assert spanned(system, q0, across) == 5  # at the edge, |z1 - z0| = r0 r1, it fails


# ---------------------------------------------------------------------------- the program


def balance_of_the_lesson():
    """The function ``balance`` as lesson 06 shows it to its readers."""
    return defined("06", "def balance(")["balance"]


def test_the_momentum_of_the_program_is_that_of_the_library():
    """Its J and its residual of (24), for DLA and the projector method with alpha = 0.3; a mixture
    outside D fails."""
    balance, valley = balance_of_the_lesson(), course.valley()
    shifts = course.shifts(valley)
    L, A = nh.plain.functions(valley)
    start = {"q0": valley.q0, "v0": valley.v0, "h": 0.1, "steps": 60}

    def moves(q):
        return np.array([[1, 0, 0], [0, 0, 1]])

    def mixture(q):
        return np.array([1, q[1]])

    for program, method in ((nh.plain.dla, nh.DLA(0.3)), (nh.plain.projector, nh.Projector(0.3))):
        run = program(L, A, **start, alpha=0.3)
        J, residual = balance(run, moves, mixture)
        sol = nh.integrate(valley, method, h=0.1, steps=60)
        np.testing.assert_allclose(J, shifts.J_nh_d(sol)[:, 0], atol=1e-11)
        assert np.abs(residual).max() < 1e-12 and np.ptp(J) > 0.1
        assert np.abs(balance(run, moves, lambda q: np.array([1, 1]))[1]).max() > 1e-2


def test_the_skate_that_turns_may_also_slide_along_its_blade():
    """06.2 asks for a turn, since the text of 06.3 names the direction along the blade."""
    x, y, phi = nh.symbols("x y phi")
    along = [sp.cos(phi), sp.sin(phi), 0]
    assert check("06.2", [y, -x, 1]).right
    assert check("06.2", [y + along[0], along[1] - x, sp.sin(phi) ** 2 + sp.cos(phi) ** 2]).right
    wrong = (along, "is not 1"), ([0, 0, 1], "does not lie in D"), ([y, x, 1], "does not lie in D")
    for answer, said in wrong:
        assert said in check("06.2", answer).text
