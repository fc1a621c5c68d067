"""Reversals of time: which ones are proved, which refuted and why, and who keeps them."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.geometry import reversibility

x, y, z, vx, vy, vz, c = nh.symbols("x y z vx vy vz c")


TRANSMISSION = nh.systems.transmission()


def signs(trials):
    """The sign changes among some reversals."""
    return {tuple(int(s) for s in np.diagonal(r.S)) for r in trials}


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (nh.systems.particle(), {(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)}),
        (TRANSMISSION, {(1, 1, 1), (-1, 1, -1)}),
        (nh.systems.transmission(eps=0.0), {(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)}),
        # (-1, 1, -1) would do on D, where the sideways velocity vanishes, but L is another off D
        (nh.systems.sleigh(), {(1, 1, 1), (1, -1, -1)}),
        (nh.systems.nonreversible(), set()),
        # time runs back too: the constraint of the driven particle has a part sin t
        (nh.systems.driven(), {(1, -1, -1), (-1, -1, 1)}),
        (nh.systems.spherical_pendulum(), {(1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)}),
        (nh.Chaplygin(nh.systems.robot(), fibre="x y"), {(1, 1), (-1, 1)}),
        (nh.Chaplygin(nh.systems.particle(), fibre="z"), {(1, 1), (1, -1), (-1, 1), (-1, -1)}),
    ],
    ids=lambda s: getattr(s, "name", ""),
)
def test_sign_changes(system, expected):
    found = nh.is_reversible(system)
    assert signs(found.reversals) == expected
    assert bool(found) == bool(expected)
    assert not found.undecided


def test_true_motions_agree():
    """A proved reversal takes the true motion to a true motion, a refuted one does not."""
    trials = {tuple(np.diagonal(x.S)): x for x in nh.is_reversible(TRANSMISSION).trials}
    for key, good in {(1, 1, 1): True, (-1, 1, -1): True, (1, -1, -1): False}.items():
        assert trials[key].verdict == ("proved" if good else "refuted")
        gap = trials[key].return_error(nh.Reference(), h=0.5, steps=10)
        assert (gap < 1e-9) == good, (key, gap)


def test_numbers_of_parameters_may_be_needed():
    found = nh.is_reversible(nh.systems.transmission(eps=0.0), [1, -1, -1])
    assert "for eps = 0" in str(found)
    assert "L changes by 2*eps*sin(2*y)" in str(nh.is_reversible(TRANSMISSION, [1, -1, -1]))


def test_a_total_derivative_reverses_the_motion_alone():
    found = nh.is_reversible(nh.systems.nonreversible())
    assert signs(found.of_motion) == {(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)}
    assert not found.kept_by(nh.DLA())
    trial = found.of_motion[0]
    assert trial.return_error(nh.Reference(), h=0.5, steps=8) < 1e-9
    assert trial.return_error(nh.DLA(), h=0.2, steps=20) > 1e-4
    magnetic = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 + x * vy)  # b is no gradient
    assert signs(nh.is_reversible(magnetic).reversals) == {(-1, 1), (1, -1)}
    assert not nh.is_reversible(magnetic).of_motion


def test_forces():
    L = (vx**2 - x**2) / 2
    damped = nh.System((x,), (vx,), L, forces={"x": -c * vx}, parameters={"c": 0.1})
    assert not nh.is_reversible(damped)
    assert "forces are not mirrored" in str(nh.is_reversible(damped))
    assert nh.is_reversible(damped.set(c=0.0))
    pushed = nh.System((x,), (vx,), L, forces={"x": c * vx**2 + x}, parameters={"c": 0.1})
    assert signs(nh.is_reversible(pushed).reversals) == {(1,)}


def test_involutions_that_are_no_sign_changes():
    kepler, edge = nh.systems.kepler(), nh.systems.transmission(eps=0.0)
    assert nh.is_reversible(kepler, [[0, 1], [1, 0]])
    assert nh.is_reversible(kepler, [[0.6, 0.8], [0.8, -0.6]])
    assert nh.is_reversible(edge, {"y": -2 * sp.pi - y, "z": -z})
    assert not nh.is_reversible(edge, {y: sp.pi - y})


def test_without_a_proof_it_stays_undecided(monkeypatch):
    monkeypatch.setattr(reversibility, "LONG", -1)
    found = nh.is_reversible(nh.systems.particle())
    assert len(found.undecided) == 4
    assert not found
    assert "no proof was found" in str(found)


METHODS = [
    *(nh.DLA(), nh.DLA(0.3), nh.DLA(0.3, symmetric=True), nh.DLA(constraint_alpha=0.2)),
    *(nh.Projector(), nh.Projector(0.2), nh.EDLA(), nh.RK4(), nh.Reversible()),
    *(nh.DiscreteGradient(), nh.Composition(), nh.Reference(rtol=1e-6)),
    *(nh.EqualImpulses(), nh.EqualImpulses(0.3), nh.Lobatto(), nh.Newmark(), nh.Newmark(0, 0.6)),
    *(nh.Newmark(0, second_beta=0.25), nh.Newmark(0.25, second_beta=0.25)),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_symmetric_methods_return_and_others_do_not(method):
    found = nh.is_reversible(nh.systems.particle())
    assert found.kept_by(method) == method.is_symmetric
    for reversal in found.reversals[::3]:
        gap = reversal.return_error(method, h=0.2, steps=30)
        assert gap < 1e-10 if method.is_symmetric else gap > 1e-8


def test_which_motions_are_their_own_mirror_image():
    """The transmission's pendulum: going round with eps = 0 and 0.2, and to and fro with 0.2."""
    cases = [(0.0, 2.5, True), (0.2, 2.5, False), (0.2, 1.0, True)]
    for eps, speed, expected in cases:
        system = nh.systems.transmission(eps=eps)
        sol = nh.integrate(system, nh.DLA(), v0=(0, speed, 0.3), h=0.1, steps=20000)
        gaps = [
            r.nearest(sol, periods={"y": 2 * np.pi}) for r in nh.is_reversible(system).reversals
        ]
        assert (min(gaps) < 0.1) == expected, (eps, speed, gaps)


@pytest.mark.parametrize(
    ("involution", "words"),
    [
        ([1, 1], "must be 3 signs"),
        ([1, 1, "a"], "must be 3 signs"),
        ([1, 1, 2], "is not its own inverse"),
        ({"w": 1}, "must name coordinates among"),
        ({"y": y**2}, "must be affine in q"),
        ({"y": c - y}, "must be affine in q"),
    ],
)
def test_bad_involutions(involution, words):
    with pytest.raises(ValueError, match=words):
        nh.is_reversible(nh.systems.particle(), involution)


def test_inputs_without_values_are_asked_for():
    """And with one the answer is about that force."""
    x, vx, u = nh.symbols("x vx u")
    pushed = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, forces=[u])
    for involution in (None, [1], [-1]):
        with pytest.raises(ValueError, match=r"^is_reversible needs a value for \['u'\].*set\(u="):
            nh.is_reversible(pushed, involution)
    found = nh.is_reversible(pushed.set(u=0.3))
    assert [x.verdict for x in found.trials] == ["proved", "refuted"]
    assert "nan" not in str(found) and str(found).startswith("q = (x): reversible")


def test_bad_input():
    with pytest.raises(ValueError, match="body velocities"):
        nh.is_reversible(nh.systems.suslov())
    q, v = sp.symbols("q:11", real=True), sp.symbols("v:11", real=True)
    many = nh.System(q, v, sum(u**2 for u in v))
    with pytest.raises(ValueError, match="give one as involution"):
        nh.is_reversible(many)
    assert nh.is_reversible(many, [1] * 11)
    trial = nh.is_reversible(nh.systems.particle()).trials[0]
    sol = nh.integrate(trial.system, nh.DLA(), h=0.1, steps=2)
    with pytest.raises(ValueError, match="must name coordinates"):
        trial.nearest(sol, periods={"w": 1})
