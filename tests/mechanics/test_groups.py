"""SO(3) and SE(2) against matrices: SciPy's expm, its derivative, Rotation, and plain products."""

import pickle

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation
from tangents import MAPS, inverse_tangent, right_tangent

import nhlab as nh
from nhlab.codegen.evaluate import Function
from nhlab.mechanics.groups import SE2, SO3, HalfAngle

rng = np.random.default_rng(3)
XI, ETA, MU = rng.normal(size=(3, 6, 3))
both = pytest.mark.parametrize("G", [SO3, SE2], ids=repr)
maps = pytest.mark.parametrize("tau", ["exp", "cay"])
ANGLES = [0.0, 1e-300, 1e-12, 1e-5, 0.3, 2.0, np.pi - 1e-6, np.pi - 1e-12]


def gap(a, b):
    return np.abs(np.asarray(a) - b).max()


@both
@maps
def test_maps_are_those_of_matrices(G, tau):
    X = G.hat(XI)
    values = G.matrix(getattr(G, tau)(XI))
    assert gap(values, MAPS[tau](X)) < 5e-15
    assert gap(values, MAPS["cay" if tau == "exp" else "exp"](X)) > 0.01


@both
@maps
def test_momentum_that_leaves(G, tau):
    """(d tau^-1_xi)^* mu for xi of every size, d tau_xi eta = (D tau . eta) tau^-1."""
    v, m, h = sp.symbols("v1:4", real=True), sp.symbols("m1:4", real=True), sp.Symbol("h")
    x = [h * u for u in v]
    let, half = G.half(x, tau)
    leave = Function((*v, *m, h), G.leaving(x, m, tau, half), let)
    for h_ in (*ANGLES, -0.7):
        D = right_tangent(G, tau, h_ * ETA[0])
        p = leave(*ETA[0], *MU[0], h_)
        known = inverse_tangent(G, tau, h_ * ETA[0]) @ D
        assert abs(h_) > 1 or gap(known, np.eye(3)) < 1e-13  # a series
        assert gap(D.T @ p, MU[0]) < 1e-14 * (1 + h_**2)
        assert abs(h_) < 0.1 or gap(D @ p, MU[0]) > 0.01


@both
def test_products_and_inverses(G):
    a, b = G.exp(XI), G.cay(ETA)
    assert gap(G.matrix(G.multiply(a, b)), G.matrix(a) @ G.matrix(b)) < 2e-15
    assert gap(G.matrix(G.inverse(a)) @ G.matrix(a), np.eye(3)) < 5e-15
    assert gap(G.multiply(a, np.array(G.identity)), a) == 0
    assert gap(G.matrix(G.from_matrix(G.matrix(a))), G.matrix(a)) < 5e-15
    assert gap(G.matrix(G.multiply(b, a)), G.matrix(a) @ G.matrix(b)) > 0.01


@both
def test_adjoint_maps_and_their_duals(G):
    g = G.exp(XI)
    R = G.matrix(g)
    assert gap(G.hat(G.Ad(g, ETA)), R @ G.hat(ETA) @ np.linalg.inv(R)) < 5e-15
    pairing = (G.Ad_star(g, MU) * ETA).sum(-1)
    assert gap(pairing, (MU * G.Ad(g, ETA)).sum(-1)) < 5e-15
    wrong = (G.Ad_star(G.inverse(g), MU) * ETA).sum(-1)  # the other common convention
    assert gap(wrong, (MU * G.Ad(g, ETA)).sum(-1)) > 0.01


@both
def test_expressions_are_the_numbers(G):
    """The formulas of the step code, for xi of every size, against the arrays."""
    v, h = sp.symbols("v1:4", real=True), sp.Symbol("h")
    g = sp.symbols(f"g1:{len(G.coordinates) + 1}", real=True)
    at = G.exp(XI[0])
    rate = Function((*g, *v), G.rate(g, v))(*at, *ETA[0])
    step = 1e-4
    slope = (G.multiply(at, G.exp(step * ETA[0])) - G.multiply(at, G.exp(-step * ETA[0]))) / 2
    assert gap(rate, slope / step) < 1e-8
    commutator = G.hat(XI[0]) @ G.hat(ETA[0]) - G.hat(ETA[0]) @ G.hat(XI[0])
    assert gap(G.hat(np.array(G.bracket(XI[0], ETA[0]))), commutator) < 1e-15
    force = np.array(G.ad_star_of(XI[0], MU[0]), float)
    assert gap(force @ ETA[0], MU[0] @ G.bracket(XI[0], ETA[0])) < 5e-15
    for tau in ("exp", "cay"):
        x = [h * u for u in v]
        let, place = G.step(g, x, tau)
        move = Function((*g, *v, h), place, let)
        for h_ in ANGLES:
            there = G.multiply(at, getattr(G, tau)(h_ * ETA[0]))
            assert gap(move(*at, *ETA[0], h_), there) < 1e-15 * (1 + h_)


def test_half_angle_functions_and_their_derivatives():
    """Round-off for every theta: near 0 the quotients, beyond 2 pi the series lose all digits."""
    z = sp.Symbol("z", real=True)
    C, S = HalfAngle(0, z), HalfAngle(1, z)
    f = Function((z,), [C, S, C.diff(z), S.diff(z), S.diff(z, 2)])
    with mpmath.workdps(60):
        c, s = lambda x: mpmath.cos(mpmath.sqrt(x) / 2), lambda x: mpmath.sinc(mpmath.sqrt(x) / 2)
        for x in (1e-15, 1e-8, 0.1, 2.0, 9.8, 39.0, 41.0, 1e3, 1e6, 1e10):
            rows = ((c, 0), (s, 0), (c, 1), (s, 1), (s, 2))
            true = [mpmath.diff(e, mpmath.mpf(x), n) if n else e(mpmath.mpf(x)) for e, n in rows]
            assert gap(f(x), [float(y) for y in true]) < 3e-15
    both = f(np.array([9.8, 1e3]))  # arrays on both sides of 2 pi
    assert np.array_equal(both, [f(9.8), f(1e3)])
    x = 1e-9
    naive = (np.cos(np.sqrt(x) / 2) - np.sin(np.sqrt(x) / 2) * 2 / np.sqrt(x)) / (2 * x)
    assert abs(naive - float(f(x)[3])) > 1e-9
    assert f(0.0).tolist() == [1, 1, -1 / 8, -1 / 24, 1 / 960]


# ---------------------------------------------------------------------------- logarithms


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithms_at_all_sizes(angle):
    axes = XI / np.linalg.norm(XI, axis=-1, keepdims=True)
    x = angle * axes
    assert gap(SO3.log(SO3.exp(x)), x) <= 1e-15 * angle
    assert gap(SO3.log(-SO3.exp(x)), x) <= 1e-15 * angle  # the same rotation
    x = np.concatenate([XI[:, :2], np.full((6, 1), angle)], -1)
    assert gap(SE2.log(SE2.exp(x)), x) < 5e-15
    if angle < 3:
        assert gap(SO3.cay_inv(SO3.cay(angle * axes)), angle * axes) <= 2e-15 * angle
        assert gap(SE2.cay_inv(SE2.cay(x)), x) < 1e-14


def test_logarithms_at_pi():
    assert gap(SO3.log([0, 0.6, 0, 0.8]), np.pi * np.array([0.6, 0, 0.8])) < 1e-15
    x = np.array([1, 2, np.pi])
    assert gap(SE2.log(SE2.exp(x)), x) < 1e-15
    assert gap(SE2.log(SE2.exp(x) + [0, 0, 4 * np.pi]), x) < 2e-15  # the same motion


def test_rotations_are_scipys():
    ours = SO3.exp(XI)
    scipys = Rotation.from_rotvec(XI)
    scalar_first = np.roll(scipys.as_quat(), 1, -1)
    sides = np.sign((scalar_first * ours).sum(-1, keepdims=True))
    assert gap(scalar_first * sides, ours) < 5e-16
    assert gap(scipys.as_quat() * sides, ours) > 0.1  # scalar last
    assert gap(SO3.matrix(ours), scipys.as_matrix()) < 1e-15
    assert gap(SO3.log(ours), scipys.as_rotvec()) < 1e-15
    assert gap(SO3.element(scipys, axes=1), SO3.from_matrix(scipys.as_matrix())) < 1e-15


@pytest.mark.parametrize("axis", [*np.eye(3), [0.6, 0, 0.8], [-2 / 3, 1 / 3, 2 / 3]])
@pytest.mark.parametrize("angle", [0, 1e-9, 2, np.pi - 1e-9, np.pi])
def test_quaternions_of_matrices(axis, angle):
    q = SO3.exp(angle * np.array(axis))
    found = SO3.from_matrix(SO3.matrix(q))
    assert min(gap(found, q), gap(found, -q)) < 1e-15


# ---------------------------------------------------------------------------- shapes and errors


@both
def test_leading_axes_broadcast(G):
    many = G.exp(XI.reshape(2, 3, 3))
    one_by_one = [[G.multiply(row[0], g) for g in row] for row in many]
    assert gap(G.multiply(many[:, :1], many), one_by_one) == 0
    assert G.Ad(many).shape == (2, 3, 3, 3)
    assert (
        G.Ad(many, ETA[:3]).shape == G.Ad_star(many[0, 0], ETA.reshape(2, 3, 3)).shape == (2, 3, 3)
    )
    assert G.log(many[:0]).shape == (0, 3, 3)


@both
def test_values(G):
    assert pickle.loads(pickle.dumps(G)) is G
    assert repr(G) == f"nh.groups.{G.name}" and getattr(nh.groups, G.name) is G
    symbolic = G.matrix(nh.symbols([f"s{k}" for k in range(len(G.coordinates))]))
    assert isinstance(symbolic, sp.MatrixBase) and symbolic.shape == (3, 3)


ERRORS = [
    (SO3.matrix, [1, 0, 0], r"shape \(3,\).*\(w, x, y, z\)"),
    (SO3.matrix, [1, 1, 0, 0], r"\|q\| = 1.414213562, not 1"),
    (SO3.log, [0.99999, 0, 0, 0], r"\|q\| = 0.99999"),
    (SO3.exp, [1, 2], r"xi has shape \(2,\)"),
    (SE2.exp, [1, 2, np.nan], "must be finite"),
    (SE2.inverse, [1, 2], r"an element of SE2 has 3 numbers, \(x, y, theta\)"),
    (SO3.inverse, "abcd", "not an array of numbers"),
    (SO3.from_matrix, np.diag([1, 1, -1]), "det R = -1"),
    (SO3.from_matrix, 2 * np.eye(3), r"\|R R\^T - 1\| = 3"),
    (SE2.from_matrix, 2 * np.eye(3), "no motion of the plane"),
    (SO3.from_matrix, np.eye(2), r"expected \(..., 3, 3\)"),
    (SO3.cay_inv, [0, 1, 0, 0], "turns by pi"),
    (SE2.cay_inv, [1, 2, np.pi], "turns by pi"),
]


@pytest.mark.parametrize("f, given, message", ERRORS)
def test_errors_say_what_is_wrong(f, given, message):
    with pytest.raises(ValueError, match=message):
        f(given)


@both
def test_turns_of_any_number_of_radians(G):
    """exp keeps the group: its sines and cosines are those of one angle."""
    xi = np.array([-1.4e-3, -0.255, 0.3]) * 10.0 ** np.arange(16)[:, None]
    g = G.exp(xi)
    one = G.multiply(g, G.inverse(g))
    assert gap(one, np.eye(4)[0] if G is SO3 else 0) < 1e-15 * (1 if G is SO3 else 1e15)
    if G is SO3:
        assert gap(np.linalg.norm(g, axis=1), 1) < 1e-15
