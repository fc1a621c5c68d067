"""A share of the fuzzer for every run of the tests, twice as many calls every night
(NHLAB_EVERYTHING=1); ``fuzz`` itself runs any number by hand."""

import math
import os
from dataclasses import replace

import fuzz
import oracle
import printed
import pytest
import sympy as sp

import nhlab as nh

EVERYTHING = os.environ.get("NHLAB_EVERYTHING") == "1"
SEED, PARTS, CALLS = "ci", 8 if EVERYTHING else 4, 300


@pytest.mark.parametrize("part", range(PARTS))
def test_random_calls(part):
    outcomes, findings = fuzz.fuzz(SEED, range(CALLS * part, CALLS * (part + 1)))
    assert not findings, fuzz.report(SEED, outcomes, findings)
    assert outcomes["run"] + outcomes["ensemble"] > CALLS / 5  # many calls are good ones


def test_random_calls_of_systems_that_move():
    outcomes, findings = fuzz.fuzz("moving", range(200))
    assert not findings, fuzz.report("moving", outcomes, findings)
    assert outcomes["run"] > 40


S = nh.systems
JUDGED = [
    (S.particle, nh.DLA(0.3)),
    (S.particle, nh.DLA(0.3, True, 0.1)),
    (S.snakeboard, nh.Projector()),
    (S.driven, nh.EDLA(0.4)),
    (S.kepler, nh.Variational()),
    (S.sleigh, nh.RK4()),
    (S.sleigh, nh.DiscreteGradient()),
    (S.particle, nh.Reversible()),
    (S.particle, nh.Composition()),
    (S.ball, nh.Projector()),
    (S.rigid_body, nh.Variational()),
    (S.sleigh_se2, nh.DLA()),
    (S.suslov, nh.RK4()),
    (S.sleigh_se2, nh.RK4()),
]


def table():
    """A particle on ground that moves."""
    x, y, z, vx, vy, vz, t = nh.symbols("x y z vx vy vz t")
    L, start = (vx**2 + vy**2 + vz**2) / 2 - x**2, {"q0": (0.3, 1, 0), "v0": (1, 0.5, 0.3)}
    return nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx + 0.7 * sp.cos(t)], t=t, **start)


MOVING = [nh.DLA(0.3), nh.Projector(0.3), nh.EDLA(0.4), nh.RK4(), nh.Reversible(), nh.Composition()]
JUDGED += [(table, method) for method in MOVING]


@pytest.mark.parametrize("make, method", JUDGED, ids=[f"{f.__name__} {m}" for f, m in JUDGED])
@pytest.mark.parametrize("h", [1e-9, 0.1])
def test_the_judge_sees_a_change_in_the_sixth_digit(make, method, h):
    sol = nh.integrate(make(), method, h=h, steps=4)
    assert not printed.broken(sol)
    sol.rows.v[2, :] *= 1 + 1e-6
    sol.rows.v[2, -1] += 1e-6
    assert printed.broken(sol)


INSIDE = [
    (S.sleigh, nh.Reversible()),
    (S.snakeboard, nh.Reversible()),
    (S.driven, nh.Reversible()),
    (S.nonreversible, nh.Reversible()),
    (S.sleigh, nh.Composition(nh.DLA(0.3, True), 6)),
    (S.kepler, nh.Composition(nh.Variational())),
    (S.sleigh, nh.Composition(nh.Reversible())),
    (S.rubber_ball, nh.RK4()),
]


@pytest.mark.parametrize("make, method", INSIDE, ids=[f"{f.__name__} {m}" for f, m in INSIDE])
def test_the_judge_sees_a_change_that_the_constraints_do_not(make, method):
    sol = nh.integrate(make(), method, h=0.1, steps=4)
    assert not printed.broken(sol)
    sol.rows.v[2, :] *= 1 + 1e-6
    assert {"nodes", "g"}.isdisjoint(name for name, *_ in printed.broken(sol))
    assert printed.broken(sol)


def test_the_judge_knows_the_rule():
    sol = nh.integrate(S.particle(), nh.DLA(0.3), h=0.1, steps=4)
    sol.method = replace(sol.method, alpha=0.31)
    assert printed.broken(sol)


def test_the_judge_knows_both_momenta_on_groups():
    for rule in ("cayley", "log", "trace"):
        sol = nh.integrate(S.suslov(rule=rule), nh.DLA(), h=0.1, steps=4)
        assert not printed.broken(sol)
        sol.rows.p[2, 0] += 1e-6
        assert printed.broken(sol)


# Round-off that grows, or of huge forces; chaos inside a step; forms of 1e200.
RIGHT = [("D", 805), ("F", 705), ("E", 1892), ("E", 10533), ("movingG", 253)]


@pytest.mark.parametrize("seed, index", RIGHT, ids=[f"{s} {k}" for s, k in RIGHT])
def test_the_judge_has_no_errors_of_its_own(seed, index):
    outcomes, findings = fuzz.fuzz(seed, [index])
    assert not findings, fuzz.report(seed, outcomes, findings)
    assert outcomes["run"] + outcomes["ensemble"] == 1


def test_the_judge_cancels_terms_linear_in_the_velocities():
    x, vx = nh.symbols("x vx")
    assert oracle.energy(vx**2 / 2 + 1e16 * x**4 * vx - x, (vx,)) == vx**2 / 2 + x
    assert sp.expand(oracle.energy(vx**4, (vx,))) == 3 * vx**4


def test_the_judge_takes_coordinates_with_names_of_functions():
    q = nh.symbols("sqrt sin")
    f = oracle.numeric((q,), [sp.sqrt(1 + q[0] ** 2) * sp.sin(q[1])])
    assert f([[1.0, 2.0]])[0, 0] == pytest.approx(2**0.5 * math.sin(2))
