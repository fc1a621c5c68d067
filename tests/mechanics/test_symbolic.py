"""Long systems are derived in abbreviations: the same numbers, in a text that grows gently.

The bicycle is checked against its L as plain numbers, differentiated by complex steps; the other
systems against their own runs with everything written out.
"""

import ast

import numpy as np
import pytest
import sympy as sp
from large import bicycle, riding
from runs import difference, round_off, rows

import nhlab as nh
from nhlab.codegen import cache
from nhlab.mechanics import system as systems


@pytest.fixture(scope="module")
def bike():
    """(system, q, v): generic, with g(q) and A v not zero, but q and v moderate."""
    system = bicycle()
    q, v = riding(system)
    assert system.expressions.let and not system.symbolic.let
    rng = np.random.default_rng(5)
    return system, q + rng.uniform(-0.1, 0.1, 8), v + rng.uniform(-0.1, 0.1, 8)


class Plain:
    """L, the constraints and g as SymPy writes them for NumPy, and their derivatives by numbers."""

    def __init__(self, system):
        forms = [system.L, *system.constraints, *system.holonomic]
        f = sp.lambdify((*system.q, *system.v, *system.parameters), forms, "numpy", cse=True)
        self.m, numbers = len(system.constraints), [*system.parameters.values()]
        self.forms = lambda q, v: np.array(f(*q, *v, *numbers))

    def L(self, q, v):
        return self.forms(q, v)[0]

    def slopes(self, q, v):
        """The derivatives of all forms by q and by v, shape (forms, n), exact to round-off."""
        steps = 1e-30j * np.eye(len(q))
        by_q = np.transpose([self.forms(q + d, v).imag for d in steps]) / 1e-30
        by_v = np.transpose([self.forms(q, v + d).imag for d in steps]) / 1e-30
        return by_q, by_v

    def M(self, q):
        """T is quadratic: T(a + b) - T(a) - T(b) = a.M b."""
        T = [[self.L(q, a + b) for b in np.eye(8)] for a in np.eye(8)]
        alone = np.array([self.L(q, a) for a in np.eye(8)])
        return np.array(T) - alone[:, None] - alone + self.L(q, np.zeros(8))

    def A(self, q):
        by_q, by_v = self.slopes(q, np.zeros(8))
        return np.concatenate([by_v[1 : 1 + self.m], by_q[1 + self.m :]])

    def motion(self, q, v):
        """(a, lambda) from M a + d/dt L_v = L_q + A^T lambda, A a + d/dt A v = 0."""

        def along(f, e=1e-3):
            values = [f(q + k * e * v) for k in (-2, -1, 1, 2)]
            return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * e)

        M, A = self.M(q), self.A(q)
        force = self.slopes(q, v)[0][0] - along(lambda q: self.slopes(q, v)[1][0])
        matrix = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
        return np.linalg.solve(matrix, np.concatenate([force, -along(self.A) @ v]))


def close(a, b, rtol):
    np.testing.assert_allclose(a, b, rtol=0, atol=rtol * np.abs(b).max())


def test_the_bicycle_beside_plain_numbers(bike):
    system, q, v = bike
    plain = Plain(system)
    by_q, by_v = plain.slopes(q, v)
    assert system.is_mechanical and not system.is_holonomic() and system.is_definite
    close(system.M(q), plain.M(q), 1e-13)
    close(system.A(q), plain.A(q), 1e-13)
    close(system.V(q), -plain.L(q, 0 * v), 1e-14)
    close(system.g(q), plain.forms(q, v)[5:], 1e-14)
    close(system.momentum(q, v), by_v[0], 1e-13)
    close(system.values(system.expressions.L_q, q, v), by_q[0], 1e-13)
    close(system.energy(q, v), v @ by_v[0] - plain.L(q, v), 1e-13)
    solution = plain.motion(q, v)
    close(system.acceleration(q, v), solution[:8], 1e-9)
    close(system.multipliers(q, v), solution[8:], 1e-9)


def test_a_step_of_the_bicycle_solves_the_printed_equations(bike):
    """CM01 (17) at the midpoint: p_minus - p0 + A^T lam = 0, wd = 0, g = 0."""
    system, (q, v), h = bike[0], riding(bike[0]), 0.01
    plain = Plain(system)
    sol = nh.integrate(system, nh.DLA(), q, v, h=h, steps=2, backend="python")
    p = plain.slopes(q, v)[1][0]
    for k in (0, 1):
        u, middle = (sol.q[k + 1] - sol.q[k]) / h, (sol.q[k + 1] + sol.q[k]) / 2
        L_q, L_v = (x[0] for x in plain.slopes(middle, u))
        close(L_v - h / 2 * L_q + plain.A(sol.q[k]).T @ sol.lam[k], p, 1e-12)
        p = L_v + h / 2 * L_q
        close(sol.p[k + 1], p, 1e-12)
        assert np.abs(plain.forms(middle, u)[1:5]).max() < 1e-11
        assert np.abs(plain.forms(sol.q[k + 1], u)[5:]).max() < 1e-14
    assert np.abs(sol.lam).max() > 0.01


# ---------------------------------------------------------------------------- both ways alike

METHODS = [nh.DLA(), nh.DLA(0.3, True, 0.1), nh.Projector(), nh.RK4(), nh.Reversible()]
METHODS += [nh.DiscreteGradient(), nh.Composition(nh.DLA()), nh.EDLA()]
NAMES = "particle", "sleigh", "snakeboard", "robot", "driven", "contact_oscillator"


@pytest.mark.parametrize("name", NAMES)
def test_runs_do_not_depend_on_abbreviations(name, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: None)  # one key, but two texts
    plain = nh.systems.catalogue[name]()
    assert plain.expressions is plain.symbolic
    monkeypatch.setattr(systems, "LONG", 0)
    short = nh.systems.catalogue[name]()
    assert short.expressions is not short.symbolic
    assert bool(short.expressions.let) == (name != "particle")  # where nothing occurs twice
    for method in METHODS:
        if name == "driven" and isinstance(method, nh.DiscreteGradient):
            continue  # needs an autonomous system
        a, b = (rows(s, method, h=0.1, steps=20, backend="python") for s in (short, plain))
        assert difference(a, b) < max(1e-11, round_off(method)), method


def test_written_out():
    """For those who read expressions: plain ones, however long."""
    system = nh.systems.segway()
    assert not system.expressions.let and system.with_plain_code().expressions is system.symbolic


# ---------------------------------------------------------------------------- growth


def operations(text):
    """How many a text's ``step`` has."""
    tree = ast.parse(text.split("def run(")[0])
    return sum(isinstance(x, (ast.BinOp, ast.UnaryOp, ast.Call)) for x in ast.walk(tree))


def test_the_derivation_grows_gently(bike):
    """Bounds 1.3 times what was measured: 4,203, 9,551 and 9,491 operations."""
    assert operations(bike[0].motion.program.text) < 5_500
    assert operations(nh.source(bike[0], nh.DLA())) < 12_400
    assert operations(nh.source(nh.systems.segway(), nh.DiscreteGradient())) < 12_300
