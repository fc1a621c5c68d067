"""Generalised forces of a System: what may be given, what is said of the rest, where they enter."""

import pickle

import numpy as np
import pytest
import sympy as sp

import nhlab as nh

x, y, z, vx, vy, vz, t, c, u = nh.symbols("x y z vx vy vz t c u")
Q, V = (x, y, z), (vx, vy, vz)
L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
ROWS = [vz - y * vx]
F = {x: u - c * vx, y: -x * vy / 3}
START = {"q0": (0, 1, 0), "v0": (1, 1, 1)}


def particle(forces=F, parameters=None, **others):
    numbers = {c: 0.3, u: 0.5} if parameters is None else parameters
    return nh.System(Q, V, L, ROWS, forces=forces, parameters=numbers, **START, **others)


def test_forms_of_forces():
    """A sequence, a dict of symbols or of names, and a Matrix say the same."""
    same = [(u - c * vx, -x * vy / 3, 0), {"x": u - c * vx, "y": -x * vy / 3}]
    same.append(sp.Matrix(same[0]))
    for forces in same:
        assert particle(forces) == particle()
    assert particle() != particle({x: u - c * vx, y: -x * vy / 4})
    plain = nh.System(Q, V, L, ROWS)
    for none in (None, (), {}, (0, 0, 0), {x: 0}):
        assert nh.System(Q, V, L, ROWS, forces=none) == plain and not plain.is_forced


@pytest.mark.parametrize(
    "forces, said",
    [
        ((1, 2), "forces has 2 entries; give 3"),
        ({"w": 1}, "forces: 'w' is no coordinate here"),
        ({vx: 1}, "forces: 'vx' is no coordinate here"),
        ({x: "c*vx"}, r"forces\['x'\] = 'c\*vx' is not a SymPy expression"),
        ({x: sp.I}, "is not real"),
        ({x: sp.Function("f")(x)}, "write functions out"),
        ({x: t}, "or t=t if it is the time"),
        ({x: sp.Symbol("x")}, "x in L or the constraints is not the x of q"),
    ],
)
def test_what_is_no_force(forces, said):
    with pytest.raises(ValueError, match=said):
        particle(forces, parameters={})


def test_a_parameter_must_occur_somewhere():
    with pytest.raises(ValueError, match="'k' occurs neither in L nor in the constraints or force"):
        particle(parameters={"k": 1})


def test_where_forces_enter():
    """M a - L_q = F + A^T lambda with A a + A' v = 0, solved here by hand."""
    s, (q, v) = particle(), np.random.default_rng(3).uniform(-1, 1, (2, 3))
    v = s.project(q, v)
    F = [0.5 - 0.3 * v[0], -q[0] * v[1] / 3, 0]
    A = np.array([[-q[1], 0, 1]])
    K = np.block([[np.eye(3), -A.T], [A, np.zeros((1, 1))]])
    right = np.concatenate([F - np.array([2 * q[0], 2 * q[1], 0]), [v[1] * v[0]]])
    found = np.concatenate([s.acceleration(q, v), s.multipliers(q, v)])
    np.testing.assert_allclose(found, np.linalg.solve(K, right), rtol=1e-13)
    np.testing.assert_allclose(s.force(q, v), F, rtol=1e-14)
    assert s.power(q, v) == pytest.approx(np.dot(F, v), rel=1e-14)


def test_a_forced_system_is_a_value():
    s = particle()
    for other in (pickle.loads(pickle.dumps(s)), s.replace(), s.set(c=0.9).set(c=0.3)):
        assert other == s and hash(other) == hash(s) and other.forces == s.forces
    assert s.set(c=1.0).power([0, 0, 0], [1, 0, 0]) == 0.5 - 1.0
    assert r"F_{x} &= - c \dot{x} + u" in s._repr_latex_()


def test_symbols_of_the_forces_alone_are_inputs():
    s = particle(parameters={c: 0.3})
    assert s.inputs == (c, u) and "input u" in repr(s) and pickle.loads(pickle.dumps(s)) == s
    for asked in (s.power, s.force, s.acceleration, s.multipliers):
        with pytest.raises(ValueError, match=r"needs a value for \['u'\]"):
            asked(*START.values())
    assert s.energy(*START.values()) == particle().energy(*START.values())
    assert s.set(u=0.5) == particle()


def test_long_forces_are_abbreviated():
    """Of a long system L, constraints and forces are shared; the numbers stay."""
    long = sum(sp.sin(k * x + y) * vx**2 for k in range(1, 60)) / 300
    s = nh.System(Q, V, L + long, ROWS, forces={x: -long / vx, z: -vz}, **START)
    q, v = [0.3, 0.7, 0.1], [0.5, 0.2, 0.35]
    assert s.expressions.let
    F = [float(e.subs(dict(zip((*Q, *V), (*q, *v), strict=True)))) for e in s.forces]
    np.testing.assert_allclose(s.force(q, v), F, rtol=1e-13)
    assert s.power(q, v) == pytest.approx(np.dot(F, v), rel=1e-13)
    np.testing.assert_allclose(
        s.acceleration(q, v), s.with_plain_code().acceleration(q, v), rtol=1e-12
    )


def test_saturated_and_switched_forces():
    """Max, Min and Heaviside are written in functions that every way to run knows."""
    cut = {x: sp.Max(-1, sp.Min(1, -5 * x)), y: sp.Heaviside(0.5 - y) - sp.Abs(vy) * vy}
    s, v = particle(cut, parameters={}), [0.4, -2.0, 0.0]
    places = np.array([[-2, 0, 0], [0.1, 0.5, 0], [3, 0.6, 0]])
    right = np.c_[[1, -0.5, -1], np.array([1, 0.5, 0]) + 4, np.zeros(3)]
    np.testing.assert_allclose(s.force(places, v), right, atol=1e-15)
    runs = [nh.integrate(s, m, h=0.01, steps=50).q[-1] for m in (nh.DLA(), nh.RK4())]
    np.testing.assert_allclose(*runs, atol=2e-4)
