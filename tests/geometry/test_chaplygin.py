"""CM01 5.3 beyond its theorems: the robot, the discrete forces, theorem 5.6 and its narrowness;
constraints and momenta in one reduction (DRP)."""

import numpy as np
import oracle
import pytest
import sympy as sp
from particles import particle
from runs import close, far
from runs import part as integrate
from test_reduction import Printed, by_rules, mixed, reduced, rules, same, steered

import nhlab as nh

S = nh.systems
x, y, z, w, vx, vy, vz, vw = nh.symbols("x y z w vx vy vz vw")


# ---------------------------------------------------------------------------- the robot


@pytest.mark.ledger("CM01-robot")
def test_the_robot_as_printed():
    """6.2: the constraints, and L* = I theta'^2/2 + (3 Iw + m R^2) psi'^2/2 - 10 sin psi, free."""
    red, p = reduced("robot"), {s.name: s for s in reduced("robot").parameters}
    full, (theta, psi), (vtheta, vpsi) = red.full, red.q, red.v
    X, Y = full.v[:2]
    printed = X - p["R"] * sp.cos(theta) * vpsi, Y - p["R"] * sp.sin(theta) * vpsi
    solved = sp.solve(full.constraints, (X, Y), dict=True)[0]
    assert all(sp.simplify(e.subs(solved)) == 0 for e in printed)
    mass = 3 * p["Iw"] + p["m"] * p["R"] ** 2
    potential = -red.L.subs({vtheta: 0, vpsi: 0})
    assert sp.simplify(potential.subs(oracle.numbers(red)) - 10 * sp.sin(psi)) == 0
    claim = p["I"] * vtheta**2 / 2 + mass * vpsi**2 / 2 - potential
    assert sp.simplify(red.L - claim) == 0
    A = sp.Matrix([[0, -p["R"] * sp.cos(theta)], [0, -p["R"] * sp.sin(theta)]])
    assert sp.simplify(red.connection - A).is_zero_matrix
    assert red.gyroscopic == sp.zeros(2, 1) and red.curvature[0, 0, 1] != 0
    wrong = red.full.set(Iw=2.0)
    other = nh.Chaplygin(wrong, fibre="x y").L.subs(oracle.numbers(wrong))
    assert sp.simplify(other - claim.subs(oracle.numbers(full))) != 0


# ---------------------------------------------------------------------------- the discrete forces


def upstairs(red, method, pair):
    """F- and F+ of 5.3.2 as functions of the pair (q0, q1) in Dd, before anything is reduced."""
    paper, (t0, q0, t1, q1) = Printed(red, method), pair
    base, fibre = paper.r, paper.s
    step = t0, q0[..., base], t1, q1[..., base]
    D0, D1 = paper.Ld.D2(*pair)[..., fibre], paper.Ld.D4(*pair)[..., fibre]
    minus, plus = paper.slope(paper.f, 1, *step), paper.slope(paper.f, 3, *step)
    first = np.einsum("ka,kab->kb", D1, minus)
    first = first + np.einsum("ka,kab->kb", D0, paper.connection(t0, step[1]))
    second = np.einsum("ka,kab->kb", D1, plus + paper.connection(t1, step[3]))
    return first, second


@pytest.mark.ledger("CM01-invariant")
@by_rules("particle", "robot", "coupled")
def test_the_discrete_forces_are_invariant(name, alpha, symmetric):
    """They are the same at (g q0, g q1), so that they belong to (r0, r1)."""
    red, rng = reduced(name), np.random.default_rng(8)
    r0 = rng.uniform(0.2, 1, (5, 2))
    r1, t0 = r0 + rng.uniform(-0.2, 0.2, (5, 2)), np.zeros(5)
    rule = (0.1, alpha, symmetric)
    down = red.F_minus(r0, r1, *rule), red.F_plus(r0, r1, *rule)
    for _ in range(3):
        s0 = rng.uniform(-2, 2, (5, len(red.fibre)))
        q0, q1 = red.nu_inverse(r0, r1, *rule, s0=s0)
        up = upstairs(red, nh.RDLA(alpha, symmetric), (t0, q0, t0 + 0.1, q1))
        for a, b in zip(up, down, strict=True):
            close(a - b, 1e-12 * (1 + np.abs(b).max()))
            far(b, 1e-12)


@pytest.mark.ledger("CM01-invariant")
@pytest.mark.parametrize("name", ["transmission", "particle"])
def test_each_midpoint_force_is_half_of_the_gyroscopic_force(name):
    """F-/h and F+/h tend to -F/2 each.  The proof of 5.6 prints the whole F for each of them, with
    the indices exchanged, which would make the sum twice what 5.3.3 says it is."""
    red, gaps = reduced(name), {"half": [], "whole": []}
    hs = np.array([0.1, 0.05, 0.025])
    for h in hs:
        r0 = np.array([[0.4, 0.7]])
        v = np.array([[1.1, -0.6]])
        middle, r1 = r0 + h * v / 2, r0 + h * v
        F = red.gyroscopic_force(middle, v)
        for kind, part in (("half", 0.5), ("whole", 1.0)):
            both = (g(r0, r1, h) / h + part * F for g in (red.F_minus, red.F_plus))
            gaps[kind].append(max(np.abs(e).max() for e in both))
    if name == "particle":  # A is linear: exactly half
        assert max(gaps["half"]) < 1e-13
    else:
        assert np.polyfit(np.log(hs), np.log(gaps["half"]), 1)[0] > 0.9
    assert min(gaps["whole"]) > 0.05


# ---------------------------------------------------------------------------- theorem 5.6


@pytest.mark.ledger("CM01-5.6")
@pytest.mark.parametrize("k, m", [(2, 1), (2, 2), (3, 1)])
def test_without_cross_terms_the_hypotheses_force_D_to_be_integrable(k, m):
    """With A linear, L = T(r') + |s'|^2/2 - V(r): |B_fd|^2 is minus the coefficient of v_d^2 r_f in
    F_f and of v_f^2 r_d in F_d.  If F vanishes, so does B.  This is the whole proof."""
    r, v = sp.symbols(f"r:{k}", real=True), sp.symbols(f"u:{k}", real=True)
    s, vs = sp.symbols(f"s:{m}", real=True), sp.symbols(f"us:{m}", real=True)
    T = np.array(sp.symbols(f"T:{m * k * k}", real=True)).reshape(m, k, k)
    A = [[sum(T[a, c, e] * r[e] for e in range(k)) for c in range(k)] for a in range(m)]
    rows = [vs[a] + sum(A[a][c] * v[c] for c in range(k)) for a in range(m)]
    L = sum(u**2 for u in (*v, *vs)) / 2 - r[0] ** 2
    numbers = dict.fromkeys(T.ravel(), 1.0)
    full = nh.System((*r, *s), (*v, *vs), L, rows, parameters=numbers)
    red = nh.Chaplygin(full, fibre=[x.name for x in s])
    F, B = [sp.expand(e) for e in red.gyroscopic], red.curvature
    for f in range(k):
        for d in range(f):
            square = sum(B[a, f, d] ** 2 for a in range(m))
            parts = F[f].coeff(v[d], 2).coeff(r[f]) + F[d].coeff(v[f], 2).coeff(r[d])
            assert sp.expand(square + parts) == 0 and sp.expand(square) != 0


@pytest.mark.ledger("CM01-5.6")
def test_with_cross_terms_they_do_not():
    """Constant, definite fibre metrics: the force vanishes, as test_reduction.py shows, and D is
    not integrable.  Without the cross terms the same D has a force."""
    for red in (reduced("twisted"), reduced("bent")):
        assert sp.hessian(red.full.L, red.fibre_v) == sp.eye(len(red.fibre_v))
        assert any(sp.diff(red.full.L, u, vx) != 0 for u in red.fibre_v)
        assert red.curvature != 0 * red.curvature
    plain = nh.Chaplygin(particle("x y z", rows=reduced("twisted").full.constraints), fibre="z")
    assert plain.gyroscopic != sp.zeros(2, 1)


# ---------------------------------------------------------------------------- one abelian reduction


@pytest.mark.ledger("DRP-mixed")
@rules
def test_constraints_and_momenta_in_one_reduction(alpha, symmetric):
    red = mixed()
    sol = integrate(red, nh.RDLA(alpha, symmetric))
    full = integrate(red.full, nh.DLA(alpha, symmetric))
    same(red.reconstruct(sol), full)
    close(full.p[:, 0] - red.mu, 1e-13)  # J_d = mu for w ...
    far(full.p[:, 2] - full.p[0, 2], 1e-9)  # ... not for z
    close(red.J_d(full.q[:-1], full.q[1:], 0.1, alpha, symmetric) - red.mu, 1e-12)
    other = red.set(**{red.mu_symbols[0].name: 0.1})
    far(integrate(other, nh.RDLA(alpha, symmetric)).q - sol.q, 1e-9)
    assert not red.constraints and len(red.q) == 2


@pytest.mark.ledger("DRP-mixed")
def test_the_splitting_of_TQ():
    """D = H + S and V = S + U with TQ = H + S + U, by ranks at random points."""
    red = mixed()
    A = red.full.A(np.random.default_rng(2).uniform(0.2, 1, (6, 4)))
    V = np.eye(4)[:, red.bundle.s]  # z, w
    for row in A:
        D = np.linalg.svd(row)[2][1:].T
        S_q = np.eye(4)[:, red.momentum_places]
        assert np.abs(row @ S_q).max() < 1e-15  # S lies in D and in V
        assert np.linalg.matrix_rank(np.hstack([D, V])) == 4
        assert D.shape[1] + V.shape[1] - 4 == S_q.shape[1] == 1  # dim of D and V's intersection


@pytest.mark.ledger("DRP-mixed")
def test_mixed_in_continuous_time_and_with_its_own_steps():
    red = mixed()
    true, full = (integrate(s, nh.Reference(), h=0.5, steps=4) for s in (red, red.full))
    close(true.q - red.project(full), 1e-9)
    edla = [integrate(s, m, steps=20) for s, m in ((red, nh.REDLA()), (red.full, nh.EDLA()))]
    same(red.reconstruct(edla[0]), edla[1], digits=9)
    twice = nh.Chaplygin(nh.Horizontal(steered(), "w"), fibre="z")  # in two stages
    close(integrate(twice, nh.Reference(), h=0.5, steps=4).q - true.q, 1e-9)


@pytest.mark.ledger("DRP-abelian")
def test_both_reductions_run_through_the_same_code():
    """Chaplygin and Horizontal differ in what determines the fibre, and in nothing after that."""
    shared = ("discretise_reduced", "reconstruct", "on_D", "fibre_velocity", "gyroscopic", "lift")
    for name in (*shared, "f", "Ld", "F_minus", "F_plus", "A_d", "alpha_Ad", "nu"):
        makers = {getattr(kind, name) for kind in (nh.Chaplygin, nh.Horizontal, nh.Mixed)}
        assert makers == {getattr(nh.Reduction, name)}


@pytest.mark.ledger("DRP-abelian")
def test_each_is_a_case_of_the_mixed_one():
    """A rotor that nothing couples makes Mixed out of Chaplygin, a spectator out of Horizontal."""
    spectator = nh.System(
        (x, y, z, w), (vx, vy, vz, vw), S.particle().L + vw**2 / 2, S.particle().constraints,
        q0=(0, 1, 0, 0), v0=(1, 1, 1, 0.3),
    )  # fmt: skip
    one, both = reduced("particle"), nh.Mixed(spectator, fibre="z w", momentum="w")
    close(integrate(both, nh.RDLA()).q - integrate(one, nh.RDLA()).q, 1e-13)
    assert sp.simplify(both.connection[:1, :] - one.connection).is_zero_matrix
    L = steered().L.subs(vz, 0)
    free = nh.System((x, y, w), (vx, vy, vw), L, q0=(0.4, 0.8, 0), v0=(1, -0.4, 0.5))
    glued = nh.System(
        (x, y, w, z), (vx, vy, vw, vz), free.L + vz**2 / 2, [vz],
        q0=(0.4, 0.8, 0, 0), v0=(1, -0.4, 0.5, 0),
    )  # fmt: skip
    one, both = nh.Horizontal(free, "w"), nh.Mixed(glued, fibre="z w", momentum="w")
    close(integrate(both, nh.RDLA()).q - integrate(one, nh.RDLA()).q, 1e-13)
    assert one.mu == pytest.approx(both.mu)


def test_the_former_name_of_momentum_places_warns():
    reduced = mixed()
    with pytest.warns(DeprecationWarning, match="kept is now called momentum_places"):
        assert reduced.kept == reduced.momentum_places != []
