"""The exact map, its inverse, and by which orders rules differ from it, against closed forms."""

import numpy as np
import pytest
from runs import power

import nhlab as nh

S, X = nh.systems, nh.exact
x, y, vx, vy = nh.symbols("x y vx vy")


def test_action_and_momenta_of_a_spring():
    """L_d^e = ((a^2 + b^2) cos h - 2 a b)/(2 sin h), and the momenta are its derivatives."""
    spring, h, a, v = nh.System([x], [vx], vx**2 / 2 - x**2 / 2), 0.7, 0.6, -0.4
    found, b = X.step(spring, [a], [v], h=h), a * np.cos(h) + v * np.sin(h)
    assert found.q1 == pytest.approx(b, abs=1e-11)
    closed = ((a**2 + b**2) * np.cos(h) - 2 * a * b) / (2 * np.sin(h))
    assert found.action == pytest.approx(closed, abs=1e-11)
    assert found.p0 == pytest.approx(-(a * np.cos(h) - b) / np.sin(h), abs=1e-10)
    assert found.p1 == pytest.approx((b * np.cos(h) - a) / np.sin(h), abs=1e-10)


@pytest.mark.parametrize("name", ["rolling_disk", "knife_edge", "free_particle", "sleigh"])
def test_the_exponential_map_of_exact_solutions(name):
    system, h = getattr(S, name)(), 0.4
    found = X.step(system, h=h)
    assert np.abs(found.q1 - system.exact(np.array([h]))[0]).max() < 1e-10
    if name != "knife_edge":  # the others are free: L is the energy, a constant
        energy = system.energy(found.q0, found.v0)
        assert found.action == pytest.approx(h * energy, abs=1e-11)


def test_action_of_the_knife_edge():
    """L is E + 2 (g sin(slope) x), integrated by Gauss' rule along its exact solution."""
    edge, h = S.knife_edge(), 0.4
    nodes, weights = np.polynomial.legendre.leggauss(12)
    t, found = h / 2 * (1 + nodes), X.step(edge, h=h)
    places, e = edge.exact(t), 1e-6
    rates = (edge.exact(t + e) - edge.exact(t - e)) / (2 * e)
    L = nh.diagnostics.lagrangian(edge, places, rates)
    assert found.action == pytest.approx(h / 2 * weights @ L, abs=1e-9)
    assert np.abs(L - L[0]).max() > 1e-3


PLACES = {
    "particle": ([0.3, 0.7, 0.2], [0.8, -0.5, 0]),
    "sleigh": ([0.1, 0.2, 0.3], [0.9, 0.3, 0.7]),
    "robot": ([0.1, 0.2, 0.3, 0.4], [0, 0, 0.9, 1.2]),
    "snakeboard": ([0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.3, 0.4, 0.2, 0.7]),
}


def at(name):
    """A system in a state that is not special."""
    system, (q, v) = getattr(S, name)(), PLACES[name]
    return system, np.array(q), system.project(q, v)


@pytest.mark.parametrize("name", PLACES)
def test_the_inverse_finds_the_velocity_again(name):
    system, q0, v0 = at(name)
    for h in (0.2, 0.05):
        step = X.step(system, q0, v0, h=h)
        found = X.start(system, q0, step.q1, h=h)
        assert np.abs(found.v0 - v0).max() < 1e-10 and np.abs(found.constraint).max() < 1e-10
    off = step.q1 + 1e-4 * system.A(q0)[0]
    found = X.start(system, q0, off, h=h)  # no motion leads there
    assert np.abs(found.constraint).max() > 1e-4
    assert np.abs(system.A(q0) @ found.v0).max() < 1e-12
    rest = (off - X.step(system, q0, found.v0, h=h).q1) / h
    assert system.A(q0) @ rest == pytest.approx(found.constraint, abs=1e-10)
    assert np.abs(system.P(q0) @ rest).max() < 1e-10


def test_the_inverse_on_a_group():
    """The sleigh of SE(2) is the sleigh, whose places it shares, in body velocities."""
    step = X.step(S.sleigh_se2(), h=0.2)
    found = X.start(S.sleigh_se2(), step.q0, step.q1, h=0.2)
    assert np.abs(found.v0 - step.v0).max() < 1e-10 and np.abs(found.constraint).max() < 1e-10
    assert np.ptp(step.v0) > 0.1


def test_an_affine_constraint():
    ball = S.particle()
    moved = ball.replace(constraints=[ball.constraints[0] - ball.q[0] / 3], v0=(1, 1, 1))
    step = X.step(moved, [0.3, 0.7, 0.2], [1, 0.5, 0.8], h=0.1)
    found = X.start(moved, step.q0, step.q1, h=0.1)
    assert np.abs(found.v0 - step.v0).max() < 1e-10 and np.abs(found.constraint).max() < 1e-10


@pytest.mark.parametrize("name", ["particle", "sleigh"])
def test_pairs_of_dla_miss_the_exact_constraint_as_true_pairs_miss_wd(name):
    """Both are the difference of two functions, taken on the zeros of either: with opposite signs,
    and equal but for higher powers of h."""
    system, q0, v0 = at(name)

    def both(h):
        dla = nh.integrate(system, nh.DLA(), q0, v0, h=h, steps=1).q
        true = np.array([q0, X.step(system, q0, v0, h=h).q1])
        v = system.velocity_between(true[:1], true[1:], np.array([h]))
        wd = nh.DLA().on_step(system, "constraints", np.zeros(1), true[:1], v, h)
        return X.start(system, *dla, h=h).constraint.item(), wd.item()

    assert power(lambda h: abs(both(h)[0])) == pytest.approx(2, abs=0.1)
    assert power(lambda h: abs(sum(both(h)))) > 2.7
    exact, wd = both(0.025)
    assert exact == pytest.approx(-wd, rel=0.05)


# of w_d, L_d, the first momentum, the equations; and of the method
RULES = [
    (nh.DLA(), (2, 3, 2, 3), 2),
    (nh.DLA(0.3), (1, 2, 1, 2), 1),
    (nh.DLA(0.3, symmetric=True), (2, 3, 2, 3), 2),
    (nh.DLA(constraint_alpha=0), (1, 3, 2, 3), 1),  # CM01, Remark 3.1: the better L_d is wasted
    (nh.DLA(0.3, constraint_alpha=0.5), (2, 2, 1, 2), 1),  # and so is the better w_d
]


@pytest.mark.ledger("CM01-9", "CM01-10")
@pytest.mark.parametrize("method, expected, of_method", RULES, ids=repr)
@pytest.mark.parametrize("name", ["sleigh", "particle"])
def test_the_order_of_a_method_is_the_least_of_its_parts(name, method, expected, of_method):
    system, q0, v0 = at(name)
    found = X.orders(system, method, q0, v0, hs=[0.04, 0.02, 0.01], floor=1e-12)
    slopes = [x.slope for x in found]
    if name == "particle":  # M is constant: the two-step recursion is that of the midpoint
        expected = (*expected[:3], 3)
    assert slopes == pytest.approx(expected, abs=0.1)
    assert found.predicted == pytest.approx(of_method, abs=0.1)
    run = nh.diagnostics.order(system, method, q0, v0, T=1, hs=[0.04, 0.02, 0.01])
    assert run.slope == pytest.approx(of_method, abs=0.1)


def test_without_constraints_and_where_nothing_is_missing():
    found = X.orders(S.pendulum(), nh.Variational(), [0.7], [0.5], hs=[0.1, 0.05, 0.025])
    assert found.constraint.slope == np.inf and not found.constraint.error.any()
    assert found.lagrangian.slope == pytest.approx(3, abs=0.1)
    free = nh.System([x, y], [vx, vy], (vx**2 + vy**2) / 2, q0=[0, 0], v0=[1, 2])
    exact = X.orders(free, nh.Variational(), hs=[0.1, 0.05, 0.025])
    assert exact.predicted == np.inf


def test_what_is_refused():
    for method in nh.RK4(), nh.EDLA(), nh.Projector():
        with pytest.raises(ValueError, match=r"has no w_d with steps.*take nh\.DLA"):
            X.orders(S.sleigh(), method, hs=[0.1, 0.05, 0.025])
    with pytest.raises(ValueError, match="stated for one-forms"):
        X.orders(S.spherical_pendulum(), nh.DLA(), hs=[0.1, 0.05, 0.025])
    with pytest.raises(ValueError, match="fewer than three errors"):
        X.orders(S.sleigh(), nh.DLA(), hs=[0.1, 0.05])
    for system in (S.spherical_pendulum(), S.sleigh().by_fields()):
        with pytest.raises(ValueError, match="stated otherwise"):
            X.start(system, [0, 0, 1], [0, 0, 1], h=0.1)
    with pytest.raises(ValueError, match="q1 has shape"):
        X.start(S.sleigh(), [0, 0, 0], [1], h=0.1)
    pendulum = S.pendulum()
    with pytest.raises(ValueError, match=r"no velocity was found.*take a smaller h than 4"):
        X.start(pendulum, [0.0], [2.0], h=4)
