"""Pivots that vanish are rescued, steps without a solution refused."""

import numpy as np
import pytest
import sympy as sp
from runs import difference

import nhlab as nh
from nhlab.codegen.careful import MAX_AMPLIFICATION, amplification, careful_step
from nhlab.codegen.statement import Stage, Statement
from nhlab.codegen.writing import generate
from nhlab.run.start import Start

x, y, vx, vy, k = nh.symbols("x y vx vy k")


def test_indefinite_metric_equals_its_diagonal_form():
    """L = vx vy - x y: the midpoint rule commutes with (x, y) = (u + w, u - w)."""
    one = nh.System((x, y), (vx, vy), vx * vy - x * y - x**2 * y**2)
    u, w = x + y, x - y
    L = one.L.subs({x: u, y: w, vx: vx + vy, vy: vx - vy}, simultaneous=True)
    two = nh.System((x, y), (vx, vy), sp.expand(L))
    for method in (nh.DLA(), nh.Variational(alpha=0.3), nh.Projector(), nh.RK4()):
        a = nh.integrate(one, method, [0.5, 0.1], [0.3, -0.2], h=0.1, steps=100)
        b = nh.integrate(two, method, [0.3, 0.2], [0.05, 0.25], h=0.1, steps=100)
        back = np.stack([b.q[:, 0] + b.q[:, 1], b.q[:, 0] - b.q[:, 1]], -1)
        assert difference(a.q, back) < 1e-13, method


SEAM = nh.System((x, y), (vx, vy), x * vx**2 / 2 + vx * vy - y**2 / 2)  # det M = -1, M_xx = x


@pytest.mark.parametrize("x0", [0.0, -0.05, 1e-14])
@pytest.mark.parametrize("method", [nh.DLA(), nh.Variational(1), nh.Projector(0), nh.RK4()])
def test_vanishing_pivots_are_rescued(method, x0):
    """x, the first pivot, is zero at the start or at a step on the way; the motion is regular."""
    state = [x0, 0.5], [0.5, 0.1]
    true = nh.integrate(SEAM, nh.Reference(), *state, h=1.0, steps=1).q[-1]
    ends = (nh.integrate(SEAM, method, *state, h=1 / n, steps=n).q[-1] for n in (10, 20, 40))
    errors = [np.abs(end - true).max() for end in ends]
    order = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(order - method.order) < 0.25), errors


def test_acceleration_where_a_pivot_vanishes():
    """By hand: M a = (-vx^2/2, -y) with M = [[x, 1], [1, 0]]."""
    for x0 in (0.0, 1e-9, 1e-16, 0.3):
        expected = [-0.5, -(1.0**2) / 2 + x0 * 0.5]
        a = SEAM.acceleration([x0, 0.5], [1.0, 0.2])
        np.testing.assert_allclose(a, expected, rtol=1e-14)
        true = nh.integrate(SEAM, nh.Reference(), [x0, 0.5], [1.0, 0.2], h=0.1, steps=1)
        assert abs(true.energy()[1] - true.energy()[0]) < 1e-11


@pytest.mark.parametrize("value", [1e-9, 1e-14, 0.0, -0.1])
def test_vanishing_parameters(value):
    """A parameter that is a pivot goes to zero by a slider: M = [[k, 1], [1, 2]] stays regular."""
    L = k * vx**2 / 2 + vx * vy + vy**2 - x**2 / 2 - y**2
    system = nh.System((x, y), (vx, vy), L, parameters={k: 1.0}).set(k=value)
    state = ([0.3, 0.4], [0.1, 0.2])
    a = np.linalg.solve([[value, 1], [1, 2]], [-0.3, -0.8])
    np.testing.assert_allclose(system.acceleration(*state), a, rtol=1e-14)
    true = nh.integrate(system, nh.Reference(), *state, h=0.1, steps=10)
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):
        one = nh.integrate(system, method, *state, h=0.1, steps=10)
        many = nh.ensemble(system, method, *([s] for s in state), h=0.1, steps=10, backend="numpy")
        assert difference(many.rows[0], one.rows.array) < 1e-13
        assert np.abs(one.q - true.q).max() < 1e-2


def test_vanishing_mass():
    with pytest.raises(ValueError, match=r"singular|finite"):
        system = nh.System((x,), (vx,), vx**2 / (2 * k), parameters={k: 0})
        nh.integrate(system, nh.DLA(), [0.0], [1.0], h=0.1, steps=1)


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.Variational()], ids=str)
def test_steps_without_a_solution_are_refused(method, backend):
    """v = p + (h/2) 3 exp(3 (q + h v/2)) has no solution once q is large."""
    if backend == "numba":
        pytest.importorskip("numba")
    system = nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
    with pytest.raises(nh.IntegrationError) as stopped:
        nh.integrate(system, method, [0.0], [1.0], h=0.05, steps=1000, backend=backend)
    sol = stopped.value.trajectory
    assert 0 < stopped.value.step < 100 and len(sol) == stopped.value.step + 1
    assert np.all(np.isfinite(sol.rows.array))


@pytest.mark.ledger("C03-R2")
def test_negative_steps_are_never_accepted():
    """EDLA's equations have a root with h < 0; a text that finds one says that it failed."""
    t, h, new = sp.Dummy("t"), sp.Dummy("h"), sp.Dummy("new")
    stage = Stage(unknowns=(new,), equations=(new**2 - 1,), guess=(x,))
    statement = Statement(t, h, carry=(x,), args=(), stages=(stage,), update=(x,), new_h=new)
    space = {}
    exec(generate(statement), space)
    assert not space["step"](0.0, 0.1, -1e200)[0]  # to inf, beside which any correction is small
    for guess in (1.2, -1.2):
        ok, found, _ = space["step"](0.0, 0.1, guess)
        assert abs(found - np.sign(guess)) < 1e-15 and ok == (guess > 0)
        attempt = careful_step(statement, 0.0, 0.1, [guess], [])
        assert attempt.ok == (guess > 0) and ("not positive" in attempt.reason) == (guess < 0)
    assert not space["step"](1e16, 0.1, 1.2)[0]
    assert "lost beside t = 1e+16" in careful_step(statement, 1e16, 0.1, [1.2], []).reason


@pytest.mark.parametrize("c, good", [(1e8, True), (1e14, False)])
def test_round_off_is_no_reason_to_refuse_a_step_unless_it_is_large(c, good):
    """Newton cannot correct b by less than the last digit of c + b."""
    t, h, a, b, far = (sp.Dummy(name) for name in ("t", "h", "a", "b", "far"))
    equations = (a - 10, b + 1000 * sp.sin(far + b) - x)
    stage = Stage((a, b), equations, (a * 0, b * 0), weights=(1, 1e-6))
    statement = Statement(t, h, carry=(x,), args=(far,), stages=(stage,), update=(b,))
    attempt = careful_step(statement, 0.0, 0.1, [1e-3 + 1000 * np.sin(c + 1e-3)], [c])
    assert attempt.ok == good and (not good or abs(attempt.carry[0] - 1e-3) < 5e-8)


# ---------------------------------------------------------------------------- digits that are lost


def saddle(sigma):
    """The matrix of M v + A^T lam = p, A v = 0 with M = 1 and two rows at an angle of sigma."""
    A = np.array([[1, 1, 0], [1, 1 + 2 * sigma, 0]])
    return np.block([[np.eye(3), A.T], [A, np.zeros((2, 2))]])


def test_amplification_is_one_over_the_smallest_singular_value_in_all_units():
    rng = np.random.default_rng(3)
    for sigma in (1e-1, 1e-3, 1e-5, 1e-7):
        J = saddle(sigma)
        assert 0.2 < amplification(J) * sigma < 20
        rows, columns = 10.0 ** rng.integers(-9, 9, (2, 5))
        assert amplification(rows[:, None] * J * columns) == pytest.approx(
            amplification(J), rel=0.1
        )
    assert amplification(np.array([[1.0, 1], [1, 1]])) > 1e15
    assert amplification(np.zeros((2, 2))) == np.inf


@pytest.mark.parametrize("sigma, good", [(1e-3, True), (1e-6, True), (1e-8, False), (0.0, False)])
def test_a_solution_without_digits_is_refused(sigma, good):
    """Of equations whose matrix multiplies round-off by 1/sigma; what is accepted is right."""
    t, h, s = (sp.Dummy(name) for name in ("t", "h", "s"))
    unknowns = tuple(sp.Dummy(f"u{k}") for k in range(5))
    A = ((1, 1, 0), (1, 1 + 2 * s, 0))
    v, lam = unknowns[:3], unknowns[3:]
    rows = [v[i] + sum(A[k][i] * lam[k] for k in (0, 1)) - x * (i + 1) for i in range(3)]
    rows += [sum(a * b for a, b in zip(row, v, strict=True)) for row in A]
    stage = Stage(unknowns, tuple(rows), (sp.S.Zero,) * 5)
    statement = Statement(t, h, carry=(x,), args=(s,), stages=(stage,), update=v)
    attempt = careful_step(statement, 0.0, 0.1, [1.0], [sigma])
    assert attempt.ok == good and ("is singular" in attempt.reason) != good
    if good:
        np.testing.assert_allclose(attempt.carry, [0, 0, 3], atol=1e-16 * MAX_AMPLIFICATION)


# ---------------------------------------------------------------------------- bodies at rest

REST = [nh.Variational(), nh.DLA(0.3), nh.Reversible(), nh.Projector(), nh.Composition(nh.DLA())]


@pytest.mark.parametrize("mass, size", [(1, 1), (1e8, 1), (1e-8, 1e-6)])
@pytest.mark.parametrize("method", REST, ids=str)
def test_a_body_at_rest_whose_momentum_is_not_zero(method, mass, size):
    """With b(q).v in L its velocity is the last digit of p = b(q); it stays where it is, in all
    units of mass and time."""
    b = size * (x + 0.3) * (x - 0.7) * (x + 0.1)
    system = nh.System((x,), (vx,), mass * (vx**2 / 2 + vx * b))
    for x0 in np.random.default_rng(0).uniform(-2, 2, 12):
        sol = nh.integrate(system, method, [x0], [0.0], h=0.1, steps=20)
        assert np.abs(sol.q - x0).max() < 1e-12


@pytest.mark.parametrize("gap, good", [(1.0, True), (1e-2, True), (1e-4, False), (1e-6, False)])
def test_nearly_dependent_constraints_are_left_to_the_careful_step(gap, good):
    """Those of the snakeboard at phi = pi/2 - gap.  Velocities follow from the iterated unknowns
    there, so that the pivots of A M^-1 A^T are not those of the equations as they were stated."""
    system, method = nh.systems.snakeboard(), nh.DLA()
    start = Start(system, method, [0, 0, 0, 0, np.pi / 2 - gap], [0, 0, 0, 0.7, 0], h=0.01, steps=1)
    carry, args = start.state[0].tolist(), method.arguments(system, start.shares[0].tolist())
    assert start.program.one_step(0.0, 0.01, *carry, *args)[0] == good
    assert careful_step(start.program.statement, 0.0, 0.01, carry, args).ok
