"""The same motion computed twice: 1,000 comparisons on random systems, by every method; every night
(NHLAB_EVERYTHING=1) 2,000.

``metamorphic`` makes any number of them by hand."""

import os
from dataclasses import replace
from functools import cache

import metamorphic
import numpy as np
import pytest
import sympy as sp
from metamorphic import METHODS, RUNS, VIEWS

import nhlab as nh

EVERYTHING = os.environ.get("NHLAB_EVERYTHING") == "1"
SEED, COUNT = 20, 5 if EVERYTHING else 3
FEW = ("particle", "pendulum")  # of other runs, which need code of their own


@cache
def compared(method):
    """All relations on all families: what was found, and the number of comparisons."""
    found, total = [], 0
    for relation in (*VIEWS, *RUNS):
        families = FEW if relation in RUNS[1:] else metamorphic.FAMILIES
        more, made = metamorphic.findings(relation, method, SEED, COUNT, families)
        found, total = found + more, total + made
    return found, total


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_relations_between_runs(method):
    found, _ = compared(method)
    assert not found, "\n".join(found)


def test_as_many_comparisons_are_made_as_is_said():
    assert sum(compared(method)[1] for method in METHODS) >= (2000 if EVERYTHING else 1000)


@pytest.mark.parametrize(
    "relation",
    [metamorphic.with_rows_in_another_order, metamorphic.in_other_units],
    ids=lambda f: f.__name__,
)
def test_the_discrete_gradient_on_more_systems_with_two_constraints(relation):
    """It makes their rows orthonormal, and needs M definite, in units where the elements of M are
    between 10^-12 and 10^12."""
    found, made = metamorphic.findings(relation, nh.DiscreteGradient(), SEED, 20, ("two_rows",))
    assert made > 10 and not found, "\n".join(found)


def test_whether_constraints_are_dependent_does_not_depend_on_units():
    """Seed 3 draws units in which rows that differ in the first digits once seemed dependent."""
    found, made = metamorphic.findings(metamorphic.in_other_units, nh.DLA(), 3, 3, ("two_rows",))
    assert made and not found, "\n".join(found)


NEARLY = [metamorphic.in_other_units, metamorphic.in_another_order, metamorphic.with_scaled_rows]


@pytest.mark.parametrize("method", [nh.DLA(), nh.DiscreteGradient(), nh.EDLA()], ids=repr)
@pytest.mark.parametrize("distance", [1e-5, 1e-6, 1e-7])
def test_nearly_dependent_constraints_are_refused_in_all_units_or_in_none(method, distance):
    """Two rows that differ by 1e-5 to 1e-7; the start satisfies them and their difference."""
    problem = metamorphic.draw("two_rows", SEED, 0)
    problem = replace(problem, c=np.array([-np.log10(distance) / 1.5, *problem.c[1:]]))
    first, second = problem.system.constraints
    apart = problem.system.replace(constraints=[first, (second - first) / distance])
    problem = replace(problem, v0=apart.project(problem.q0, problem.v0))

    def steps(one):
        try:
            return one.run(method, 3).steps
        except ValueError as error:
            assert "dependent" in str(error), error
            return None

    changed = (f(problem, np.random.default_rng(k)) for f in NEARLY for k in range(4))
    assert {steps(one) for one in changed} == {steps(problem)}


x, vx, unit = nh.symbols("x vx unit")
UNITS = (1, 0.1, 10, 1e-3, 1e3, 0.37, 7e5)


def in_units_of_mass(L, v0, h):
    """EDLA's runs of 30 steps in all of these units, as far as they go, with the errors."""
    system, found = nh.System((x,), (vx,), unit * L, parameters={unit: 1}), []
    for value in UNITS:
        run = {"q0": [0.1], "v0": [v0], "h": h, "steps": 30}
        try:
            sol = nh.integrate(system.set(unit=value), nh.EDLA(), **run, progress=False)
            found.append((sol, None))
        except nh.IntegrationError as error:
            found.append((error.trajectory, error))
    return found


def spread(runs):
    """How far the steps of these runs differ, as long as all of them go on."""
    steps = min(sol.steps for sol, _ in runs)
    h = np.array([sol.h[:steps] for sol, _ in runs])
    return np.ptp(h / h[0], axis=0).max()


STOPS = [  # L, v0, h, steps
    *((m * vx**2 / 2 - x**2 / 2, 1, 0.1, 30) for m in (1, 1e2, 1e4, 1e6)),
    (vx**2 / 2 - sp.cos(x), 1, 0.1, 8),
    (vx**2 / 2 - sp.cos(x), 1, 0.3, 2),
    (50 * vx**2 - sp.cos(x), 1, 0.1, 12),
]


@pytest.mark.parametrize("L, v0, h, steps", STOPS, ids=str)
def test_where_edla_stops_does_not_depend_on_the_unit_of_mass(L, v0, h, steps):
    runs = in_units_of_mass(L, v0, h)
    assert {sol.steps for sol, _ in runs} == {steps}
    assert all("no positive step exists" in error.reason for _, error in runs if error)
    assert all((error is None) == (steps == 30) for _, error in runs)


def test_a_heavy_body_on_a_weak_spring_has_steps_of_round_off():
    """The kinetic energy is 1e8/2 and the spring's 1/2: all steps up to 2h change the discrete
    energy by 1e-10 of it, so that its last digit moves h by about 3e-6.  Then it is chance where
    Newton's method no longer converges, in any units; but all runs agree to that digit, as others
    do to theirs, and those that stop give the same reason."""
    heavy = in_units_of_mass(1e8 * vx**2 / 2 - x**2 / 2, 1, 0.1)
    # not 1e4, where the order of operations decides: 8e-9 with one, 1.1e-8 with another
    light = in_units_of_mass(3e3 * vx**2 / 2 - x**2 / 2, 1, 0.1)
    assert all("hardly depends on the step" in error.reason for _, error in heavy if error)
    assert any(error for _, error in heavy)
    assert 1e-7 < spread(heavy) < 1e-4 and spread(light) < 1e-8


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_change_in_the_eighth_digit_is_found(method):
    """The witness: the potential of the second system is a little stronger."""

    def slightly_changed(problem, rng):
        return replace(problem, c=problem.c * (1, 1, 1 + 2e-8, 1))

    family = "pendulum" if isinstance(method, nh.Variational) else "particle"
    found, made = metamorphic.findings(slightly_changed, method, SEED, COUNT, (family,))
    assert made >= COUNT - 2 and len(found) >= (1 if method.variable_step else made - 1)


@pytest.mark.parametrize("relation", [*VIEWS, metamorphic.begun_again], ids=lambda f: f.__name__)
def test_every_relation_compares_something_else(relation):
    """Another view is written in other numbers; else nothing would be compared."""
    problem, rng = metamorphic.draw("two_rows", SEED, 0), np.random.default_rng(1)
    if relation in VIEWS:
        one, other = problem.view, relation(problem, rng).view
        assert any(not np.array_equal(getattr(one, k), getattr(other, k)) for k in vars(one))
    else:
        one, other, _ = metamorphic.pair(problem, relation, nh.DLA(), rng)
        assert one["q"] is not other["q"]
