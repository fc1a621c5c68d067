"""The projector method on groups: which invariance is needed for what, FIM08 4.1 to 4.4."""

import numpy as np
import pytest
import sympy as sp
from runs import made, spread

import nhlab as nh

S = nh.systems
SO3, SE2 = nh.groups.SO3, nh.groups.SE2


def norms(sol):
    """|p|^2 in the inverse of the metric of L, for the arriving and for the leaving momenta."""
    for q, p in ((sol.q[1:], sol.p[1:]), (sol.q[:-1], sol.p_minus)):
        W = np.linalg.inv(sol.system.M(q))
        yield np.einsum("ki,kij,kj->k", p, W, p)


@pytest.mark.ledger("FIM08-norm")
def test_neither_norm_is_kept_on_the_sleigh():
    """The reflection still keeps the norm at each node; the carrying from node to node does not."""
    sol = nh.integrate(made(S.sleigh), nh.Projector(), h=0.2, steps=100)
    before, after = norms(sol)
    assert spread(before) > 1e-5 and spread(after) > 1e-5
    assert np.abs(before[:-1] - after[1:]).max() < 1e-13


def body(metric):
    """Suslov's body with the projectors of another metric G(g)."""
    s = made(S.suslov)
    return nh.GroupSystem(
        SO3, s.v, s.L, s.constraints, g=s.pose, parameters=s.parameters,
        metric=metric(s, sp.Matrix(s.symbolic.M)), q0=s.q0, v0=s.v0,
    )  # fmt: skip


def same_splitting(s, M):
    """Not left-invariant, but D and its complement are orthogonal at every g."""
    w, X, Y, Z = s.pose
    A = sp.Matrix(s.symbolic.A)
    return (2 + w * X + Y * Z) * M + X**2 * A.T * A


def other_splitting(s, M):
    """The complement turns with g."""
    w, X, Y, Z = s.pose
    return M + sp.Matrix([[1, 0, X * Y], [0, 1, w * Z], [X * Y, w * Z, 1]])


def body_residual(sol):
    """p_k - (P - Q)^T Ad*_W p_k-1 with the P, Q of the first node."""
    W = SO3.multiply(SO3.inverse(sol.q[:-1]), sol.q[1:])
    arriving, leaving = SO3.Ad_star(W, sol.p_minus)[:-1], sol.p_minus[1:]
    mirror = sol.system.P(sol.q[0]) - sol.system.Q(sol.q[0])
    return np.abs(leaving - arriving @ mirror).max()


@pytest.mark.ledger("FIM08-4.2")
def test_a_left_invariant_splitting_is_enough_for_the_body_recursion():
    runs = {
        metric: nh.integrate(body(metric), nh.Projector(), h=0.1, steps=100)
        for metric in (same_splitting, other_splitting)
    }
    plain = nh.integrate(made(S.suslov), nh.Projector(), h=0.1, steps=100)
    good, bad = runs.values()
    s = good.system
    G = s.values(s.symbolic.G, good.q)
    assert np.abs(G - G[0]).max() > 0.1  # the metric is not invariant
    assert body_residual(good) < 1e-13 and np.abs(good.q - plain.q).max() < 1e-12
    assert body_residual(bad) > 1e-3
    # (7), with the P, Q of each node, needs no invariance of D or the metric at all
    W = SO3.multiply(SO3.inverse(bad.q[:-1]), bad.q[1:])
    mirror = bad.system.P(bad.q[1:-1]) - bad.system.Q(bad.q[1:-1])
    carried = np.einsum("kij,ki->kj", mirror, SO3.Ad_star(W, bad.p_minus)[:-1])
    assert np.abs(bad.p_minus[1:] - carried).max() < 1e-13


def invariant_metrics(G):
    """A basis of the symmetric forms with Ad_g^T B Ad_g = B for all g, shape (count, 3, 3)."""
    rng = np.random.default_rng(5)
    g = G.exp(rng.uniform(-1, 1, (12, 3)))
    Ad = np.stack([G.Ad(g, np.broadcast_to(e, (12, 3))) for e in np.eye(3)], -1)
    places = [(i, j) for i in range(3) for j in range(i, 3)]
    forms = np.zeros((6, 3, 3))
    for form, (i, j) in zip(forms, places, strict=True):
        form[i, j] = form[j, i] = 1
    change = np.einsum("gji,fjk,gkl->gilf", Ad, forms, Ad) - np.moveaxis(forms, 0, -1)
    _, sizes, basis = np.linalg.svd(change.reshape(-1, 6))
    return np.einsum("cf,fij->cij", basis[sizes < 1e-12], forms)


@pytest.mark.ledger("FIM08-SE2")
def test_SE2_has_no_bi_invariant_metric():
    """Forms on se(2) that Ad leaves alone: multiples of w^2, of rank 1.  On so(3): the ball's."""
    (planar,) = invariant_metrics(SE2)
    assert np.linalg.matrix_rank(planar, 1e-9) == 1
    assert np.abs(planar - planar[2, 2] * np.diag([0, 0, 1])).max() < 1e-12
    (round_one,) = invariant_metrics(SO3)
    assert np.abs(round_one - round_one[0, 0] * np.eye(3)).max() < 1e-12 < abs(round_one[0, 0])
