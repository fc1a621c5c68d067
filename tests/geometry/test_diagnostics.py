"""Measurements where the result is known; on runs of the methods they are used in tests/methods,
``growth`` on ensembles in tests/course/test_comparison.py.
"""

import numpy as np
import pytest
import sympy as sp
from particles import particle
from runs import cases, made

import nhlab as nh
from nhlab.codegen.careful import careful_step

S = nh.systems
D = nh.diagnostics
x, y, vx, vy = nh.symbols("x y vx vy")


def spring():
    return particle("x", x**2 / 2, name="spring", q0=(1,), v0=(0,))


@pytest.mark.parametrize(
    "start, alpha, slope", [("v0", 0.5, 2), ("q1", 0.5, 2), ("v0", 0.3, 1), ("q1", 0.3, 2)]
)
def test_order_of_a_known_solution(start, alpha, slope):
    """For a spring any alpha gives the same recursion in q, symmetric in time: given two exact
    positions it is of order 2, and what alpha = 0.3 loses it loses at the start."""
    hs = [0.1, 0.05, 0.025, 0.0125]
    given = dict(T=1, hs=hs, start=start, reference=lambda t: np.cos(t)[:, None])
    found = D.order(spring(), nh.DLA(alpha), **given)
    assert found.slope == pytest.approx(slope, abs=0.1) and list(found.h) == hs
    last = nh.integrate(spring(), nh.DLA(alpha), h=0.1, steps=10).q[-1, 0]
    assert start == "q1" or found.error[0] == pytest.approx(abs(last - np.cos(1)), rel=1e-12)
    by_reference = D.order(spring(), nh.DLA(alpha), **given | {"reference": None})
    assert by_reference.error == pytest.approx(found.error, abs=1e-10)
    above = np.sort(found.error)[-3] * 0.99  # the smallest of the four is taken for round-off
    assert D.order(spring(), nh.DLA(alpha), **given, floor=above).slope == pytest.approx(
        np.polyfit(np.log(hs[:3]), np.log(found.error[:3]), 1)[0]
    )


@pytest.mark.parametrize(
    "given, text",
    [
        (dict(hs=[0.3]), r"T = 1 is not a multiple of h = 0\.3"),
        (dict(hs=[0.1, 0.05]), "fewer than three errors"),
        (dict(hs=[0.1, 0.05, 0.025], floor=1), "above floor = 1; use larger hs"),
    ],
)
def test_order_refuses(given, text):
    with pytest.raises(ValueError, match=text):
        D.order(spring(), nh.DLA(), T=1, **given)
    for start, name in (((), "q0"), (([1],), "v0")):
        with pytest.raises(ValueError, match=f"{name} is missing and <System"):
            D.order(particle("x"), nh.DLA(), *start, T=1, hs=[0.1])


HS = np.array([0.1, 0.05, 0.025])
RULES = [  # of Ld and of w_d, with the orders of w_d and of the method
    (nh.DLA(), 2, 2),
    (nh.DLA(0.3), 1, 1),
    (nh.DLA(0.3, symmetric=True), 2, 2),
    (nh.DLA(constraint_alpha=0), 1, 1),  # CM01, Remark 3.1: the midpoint of Ld is wasted
    (nh.DLA(0.3, constraint_alpha=0.5), 2, 1),  # and a better w_d alone does not help
    (nh.EDLA(), 2, 2),
]


@pytest.mark.parametrize("method, of_wd, of_method", RULES, ids=lambda x: repr(x))
@pytest.mark.parametrize("system", [S.sleigh(), S.particle(), S.robot()], ids=lambda s: s.name)
def test_true_pairs_miss_the_discrete_constraint_by_the_order_of_its_rule(
    system, method, of_wd, of_method
):
    found = D.constraint_order(system, method, hs=HS / 2)
    assert found.slope == pytest.approx(of_wd, abs=0.1)
    assert D.order(system, method, T=1, hs=HS / 4).slope == pytest.approx(of_method, abs=0.1)


def test_the_exact_pair_of_the_rolling_disk():
    """It rolls on a circle, theta' = 1 and phi' = w, so that a pair misses
    w_d = (x1 - x0)/h - cos(phi at the midpoint) by cos(w h/2) (sin(w h/2)/(w h/2) - 1)."""
    found, w = D.constraint_order(S.rolling_disk(), nh.DLA(), hs=HS), 0.5 * HS / 2
    assert found.error == pytest.approx(np.cos(w) * (1 - np.sin(w) / w), rel=1e-6)


def test_a_method_without_a_discrete_constraint_has_no_exact_pairs():
    for method in nh.Projector(), nh.RK4():
        with pytest.raises(ValueError, match=r"imposes w_d, nh\.DLA or nh\.EDLA"):
            D.constraint_order(S.sleigh(), method, hs=HS)
    with pytest.raises(ValueError, match="no constraints on velocities"):
        D.constraint_order(S.kepler(), nh.DLA(), hs=HS)
    with pytest.raises(ValueError, match="is stated for one-forms"):
        D.constraint_order(S.sleigh().by_fields(), nh.DLA(), hs=HS)
    with pytest.raises(ValueError, match="fewer than three errors"):
        D.constraint_order(S.sleigh(), nh.DLA(), hs=HS[:2])


def test_modified_equation_of_the_midpoint_rule_and_of_symplectic_euler():
    """H - h^2/24 (V'' q'^2 + V'^2) of the midpoint rule, H -+ h/2 V' p of its one-sided forms; for
    the pendulum V = -cos q."""
    q, p = 0.7, 0.5
    found = D.modified_term(S.pendulum(), nh.Variational(), [q], [p])
    expected = -np.cos(q) * p / 12, (2 * np.sin(q) * np.cos(q) - np.sin(q) * p**2) / 24
    assert [*found.q, *found.p] == pytest.approx(expected, abs=5e-6) and found.error < 1e-4
    for alpha, sign in ((0, -1), (1, 1)):
        found = D.modified_term(S.pendulum(), nh.Variational(alpha), [q], [p])
        expected = sign * np.sin(q) / 2, -sign * np.cos(q) * p / 2
        assert [*found.q, *found.p] == pytest.approx(expected, abs=5e-6), alpha


def test_modified_mass_of_the_robot():
    """RDLA: the mass 3 Iw + m R^2 cos(h w/2) of lesson 07, and the midpoint rule's own term."""
    q, v, (k, M) = [0.2, 0.4], [1.3, 0.7], (10, 4)
    found = D.modified_term(nh.Chaplygin(S.robot(), fibre="x y"), nh.RDLA(), q, v)
    p, slope, bend = M * v[1], k * np.cos(q[1]), -k * np.sin(q[1])
    mass = v[0] ** 2 / 8 / M**2 * p
    push = (-slope * v[1] ** 2 + 2 * slope * bend / M) / 24
    expected = [0, mass - bend * p / M**2 / 12, 0, push]
    assert [*found.q, *found.p] == pytest.approx(expected, abs=1e-4)
    assert mass > 0.3 * found.q[1]  # else it would prove nothing


def test_modified_terms_are_those_of_free_states():
    with pytest.raises(ValueError, match="has constraints"):
        D.modified_term(S.sleigh(), nh.DLA())
    with pytest.raises(ValueError, match="chooses its own steps"):
        D.modified_term(S.pendulum(), nh.EDLA(), [1], [0])


def test_drift_of_a_line():
    t, rng = np.linspace(3, 13, 400), np.random.default_rng(0)
    assert D.drift(t, 2 - 0.5 * t)[0] == pytest.approx(-0.5, abs=1e-13)
    slopes, errors = np.transpose([D.drift(t, 2 * t + rng.normal(size=400)) for _ in range(300)])
    assert slopes.mean() == pytest.approx(2, abs=0.01)
    assert slopes.std() == pytest.approx(errors.mean(), rel=0.15)


TANGENTS = [(S.driven, nh.DLA(0.3)), (S.driven, nh.EDLA()), (S.driven, nh.EDLA(0.4, True))]
TANGENTS += [(S.sleigh, nh.DLA(0.4, False, 0.1)), (S.sleigh, nh.Projector()), (S.kepler, nh.RK4())]
TANGENTS += [(S.spherical_pendulum, nh.Variational()), (S.driven, nh.RK4())]


@cases(TANGENTS)
def test_tangent_is_the_derivative_of_a_step(make, method):
    """By central differences of the careful step."""
    system, inputs = made(make), ("q", "p", "v") if method.discrete else ("q", "v")
    sol = nh.integrate(system, method, h=0.1, steps=2)
    row, skip = sol.rows.array[1], 2 if method.variable_step else 0
    T = D.tangent(system, method, t=0.1, h=0.1, row=row, inputs=inputs)
    statement, layout = method.program(system).statement, method.layout(system)
    args = method.arguments(system, np.ones(len(system.v)))
    t, h = row[:skip] if skip else (0.1, 0.1)
    edges = dict(zip(layout, np.cumsum([0, *layout.values()]), strict=False))
    columns = [edges[name] + k for name in inputs for k in range(layout[name])]

    def step(row):
        after = careful_step(statement, t, h, row[skip:].tolist(), args)
        return np.array([t + after.h, after.h, *after.carry])

    for j, column in enumerate(columns):
        e = 1e-5 * np.eye(len(row))[column]
        gap = (step(row + e) - step(row - e)) / 2e-5 - T[:, j]
        assert np.abs(gap).max() < 1e-6 * (1 + np.abs(T).max())


def test_tangent_says_why_a_step_cannot_be_taken():
    row = np.array([0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match="the step cannot be taken: "):
        D.tangent(spring(), nh.DLA(), h=0.1, row=row)


def test_the_symplectic_form():
    J = D.symplectic_form(2)
    assert np.array_equal(J @ J, -np.eye(4)) and J[0, 2] == 1
    shear = np.eye(4) + np.eye(4, k=2)
    assert D.symplectic_defect(shear) == 0 and D.symplectic_defect(2 * shear) == 3
    sol = nh.integrate(S.kepler(), nh.DLA(), h=0.1, steps=3)  # no constraints: it does not change
    change, cause = D.symplectic_change(sol, 1)
    assert np.abs(change).max() < 1e-14 and change.shape == (4, 4) and not cause.any()


def test_regularity_of_every_second_step():
    whole, some = (nh.integrate(S.sleigh(), nh.DLA(0.3), h=0.1, steps=8, every=k) for k in (1, 2))
    assert D.regularity(some) == pytest.approx(D.regularity(whole)[1::2], rel=1e-12)


def test_lagrangian_and_action():
    system = nh.System((x, y), (vx, vy), (vx**2 + sp.cos(y) * vy**2) / 2)
    q, v = np.random.default_rng(1).uniform(-1, 1, (2, 5, 2))
    exact = (v[:, 0] ** 2 + np.cos(q[:, 1]) * v[:, 1] ** 2) / 2
    assert D.lagrangian(system, q, v) == pytest.approx(exact, abs=1e-15)
    t = np.array([0, 0.1, 0.3, 0.35, 0.6])
    h, mean, rate = np.diff(t), (q[1:] + q[:-1]) / 2, np.diff(q, axis=0) / np.diff(t)[:, None]
    parts = h * (rate[:, 0] ** 2 + np.cos(mean[:, 1]) * rate[:, 1] ** 2) / 2
    assert D.action(system, nh.DLA(), t, q) == pytest.approx(parts.sum(), rel=1e-13)


def test_growth_of_nothing():
    t, noise = np.arange(1600) * 0.1, 1e-13 * np.random.default_rng(5).normal(size=(8, 1600))
    still = D.growth(t, 0.3 + noise.cumsum(1))
    assert still.kind == "exact" and still.exponent == still.error == 0 and still.size.max() > 0
    assert D.growth(t, 0.3 + noise.cumsum(1), floor=0).kind != "exact"
