"""Where two constraint forms become one: answers with digits, or a refusal, never anything between.

The snakeboard's two forms merge at phi = pi/2, where its distribution D is smooth.  The same D is
given by two other forms that stay independent there, and both must have the same answers.
"""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh

H = 0.1
BOARD = nh.systems.snakeboard()
_, _, theta, _, phi = BOARD.q
vx, vy, vtheta, _, _ = BOARD.v
(r,) = (s for s in BOARD.parameters if s.name == "r")
SMOOTH = BOARD.replace(
    constraints=[
        vx * sp.sin(theta) - vy * sp.cos(theta),
        sp.sin(phi) * (vx * sp.cos(theta) + vy * sp.sin(theta)) + r * sp.cos(phi) * vtheta,
    ]
)
NEAR = [10.0**-k for k in range(2, 13)] + [0.0]  # distances from pi/2
LIMIT = 1e-7  # distances below are refused: seven of sixteen digits would be lost


def factored():
    """The printed forms with factors that differ by 1e12."""
    first, second = BOARD.constraints
    return BOARD.replace(constraints=[1e6 * first, 1e-6 * second])


def in_other_units():
    """x and y in units of 1e-5, all masses by 1e3."""
    units = dict.fromkeys(BOARD.q, 1) | dict.fromkeys(BOARD.q[:2], sp.Float(1e-5))
    new = {s: units[x] * s for x, v in zip(BOARD.q, BOARD.v, strict=True) for s in (x, v)}
    forms = [c.xreplace(new) for c in BOARD.constraints]
    return BOARD.replace(L=1e3 * BOARD.L.xreplace(new), constraints=forms)


def start(distance, part=0.0):
    """A state whose phi, at 0.7 per time, reaches pi/2 - distance after ``part`` of a step."""
    q = np.array([0.1, -0.2, 0.3, 0.4, np.pi / 2 - distance - part * H * 0.7])
    return q, SMOOTH.project(q, [0.7, 0.3, -0.2, 0.6, 0.7])


def answer(call):
    """What a call returns, or None if it is refused for the rank of the constraints."""
    try:
        return call()
    except (ValueError, nh.IntegrationError) as error:
        assert "dependent" in str(error), error
        remedy = ("stay independent", "start elsewhere", "choose other coordinates")
        assert any(words in str(error) for words in remedy), error
        return None


def check(ours, true, distance, tolerance):
    if distance > 2 * LIMIT:
        assert ours is not None, distance
    if distance < LIMIT / 10:
        assert ours is None, distance
    if ours is not None:
        assert np.abs(ours - true()).max() < tolerance, distance


@pytest.mark.parametrize("name", ["P", "Q"])
@pytest.mark.parametrize("make", [lambda: BOARD, factored], ids=["printed", "factored"])
def test_projectors_where_the_rank_is_lost(name, make):
    system = make()
    for distance in NEAR:
        q, _ = start(distance)
        ours = answer(lambda q=q: getattr(system, name)(q))
        check(ours, lambda q=q: getattr(SMOOTH, name)(q), distance, 2e-9)


def test_projections_and_accelerations_where_the_rank_is_lost():
    for distance in NEAR:
        q, v = start(distance)
        many = np.array([start(0.3)[0], q]), np.array([start(0.3)[1], v])
        for name, tolerance in (("project", 2e-9), ("acceleration", 1e-9)):
            for state in ((q, v), many):
                ours = answer(lambda s=state, name=name: getattr(BOARD, name)(*s))
                true = getattr(SMOOTH, name)(*state)
                check(ours, lambda true=true: true, distance, tolerance)


def test_multipliers_are_refused_before_the_force_is():
    """Of lambda 1/sigma^2 is lost, of A^T lambda only 1/sigma."""
    for distance in NEAR:
        q, v = start(distance)
        lam = answer(lambda q=q, v=v: BOARD.multipliers(q, v))
        if distance > 1e-3:
            force = SMOOTH.A(q).T @ SMOOTH.multipliers(q, v)
            assert np.abs(BOARD.A(q).T @ lam - force).max() < 1e-9
        assert (lam is None) == (distance < 2e-4), distance


def test_units_do_not_matter():
    other, scale = in_other_units(), np.array([1e-5, 1e-5, 1, 1, 1])
    for distance in NEAR:
        q, _ = start(distance)
        ours, printed = answer(lambda q=q: other.Q(q / scale)), answer(lambda q=q: BOARD.Q(q))
        assert (ours is None) == (printed is None), distance
        if ours is not None:
            back = scale[:, None] * ours / scale
            assert np.abs(back - SMOOTH.Q(q)).max() < 2e-9


GRADIENT = nh.DiscreteGradient()
SAME = [nh.DLA(), nh.DLA(0), nh.DLA(1), nh.Projector(), nh.EDLA(), nh.Composition(nh.DLA())]


@pytest.mark.parametrize("part", [0, 0.5, 1])
@pytest.mark.parametrize("method", SAME, ids=str)
def test_runs_depend_on_the_distribution_alone(method, part):
    """At the start, in the middle and at the end of the first step; each method looks at the forms
    at some of these places, and is exact if it looks at others."""
    options = {"h": H, "steps": 3}
    for distance in NEAR:
        q, v = start(distance, part)
        ours = answer(lambda q=q, v=v: nh.integrate(BOARD, method, q, v, **options).q)
        if ours is not None:
            true = nh.integrate(SMOOTH, method, q, v, **options).q
            assert np.abs(ours - true).max() < 1e-10, (distance, ours, true)
        assert ours is not None or distance < 2 * LIMIT


@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_the_discrete_gradient_is_refused_earlier(part):
    """It makes the rows orthonormal inside its equations, and loses 1/sigma^2; what it returns
    does not depend on the forms."""
    for distance in NEAR:
        q, v = start(distance, part)
        run = {"h": H, "steps": 3}
        ours = answer(lambda q=q, v=v, run=run: nh.integrate(BOARD, GRADIENT, q, v, **run).q)
        assert (ours is None) == (part != 0.5 and distance < 2e-4), distance
        if ours is not None:
            true = nh.integrate(SMOOTH, GRADIENT, q, v, **run).q
            assert np.abs(ours - true).max() < 1e-8


FACTORS = [(nh.DLA(), 1), (nh.Projector(), 1), (nh.RK4(), 0.5), (nh.Reversible(), 1)]
FACTORS += [(nh.DiscreteGradient(), 1)]


@pytest.mark.parametrize("method, part", FACTORS, ids=str)
@pytest.mark.parametrize("distance", [1e-6, 1e-9, 0.0])
@pytest.mark.filterwarnings(
    "ignore:the energy changes"
)  # RK4 leaves D, and finds other forms there
def test_factors_of_the_constraints_do_not_matter(method, part, distance):
    """A run is refused, or not, whatever the forms are multiplied with."""
    q, v = start(distance, part)
    found = []
    for system in (BOARD, factored()):
        run = answer(lambda s=system: nh.integrate(s, method, q, v, h=H, steps=2).q)
        found.append(run is None)
    assert found[0] == found[1] and (distance > LIMIT or found[0])


def test_a_run_that_meets_the_place_on_its_way_keeps_what_it_has():
    """On every backend the step at which the forms merge within round-off is the last."""
    q, v = start(0.0, 10.0)
    for backend in ("python", "numba"):
        if backend == "numba":
            pytest.importorskip("numba")
        with pytest.raises(nh.IntegrationError, match=r"dependent near .*phi = 1\.571") as stop:
            nh.integrate(BOARD, nh.DLA(), q, v, h=H, steps=30, backend=backend)
        assert stop.value.step in (9, 10) and len(stop.value.trajectory) == stop.value.step + 1
    many = nh.ensemble(BOARD, nh.DLA(), [q], [v], h=H, steps=30, backend="numpy")
    assert not many.ok[0] and many.steps_done[0] in (9, 10)
