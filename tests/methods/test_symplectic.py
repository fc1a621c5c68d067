"""Symplectic forms, by differentiating the discrete maps exactly; see maps.py."""

import numpy as np
import oracle
import pytest
import sympy as sp
from maps import J, extended_form, extended_map, phase_map, tangent, tangent_to_D
from runs import cases, made, runs
from scipy.integrate import quad

import nhlab as nh

S = nh.systems
x, y, vx, vy = nh.symbols("x y vx vy")


def bent():
    """Unconstrained, with M depending on q and a part of L linear in v."""
    L = ((2 + sp.cos(y)) * vx**2 + vy**2 + vx * vy) / 2 + x * vy - x**4 / 4 + sp.cos(y)
    return nh.System((x, y), (vx, vy), L, name="bent", q0=(0.5, 0.2), v0=(0.7, -0.4))


def swing():
    """Unconstrained and time-dependent."""
    t = nh.symbols("t")
    L = ((1 + x**2) * vx**2 + vy**2) / 2 - (1 + sp.cos(t) / 3) * (x**2 + y**4)
    return nh.System((x, y), (vx, vy), L, t=t, name="swing", q0=(0.5, -0.4), v0=(1, 0.8))


def wedge(K, E):
    """The matrix of d(f.dq) for df = K dz, dq = E dz."""
    return K.T @ E - E.T @ K


def constraint_work(sol, k, dlam, with_time=False):
    """d beta_d on (q, p[, t, E]) with beta_d = lam_a A^a(q).dq, the impulse of step k -> k+1."""
    n, size, here = len(sol.system.q), dlam.shape[1], oracle.formulas(sol.system)
    at, lam = (sol.t[k], sol.q[k]), sol.lam[k]
    K = here.A(*at).T @ dlam
    K[:, :n] += np.einsum("aij,a->ij", here.dA(*at), lam)
    if with_time:
        K[:, 2 * n] += lam @ here.A_t(*at)
    return wedge(K, np.eye(n, size))


# ---------------------------------------------------------------------------- the tool itself


TANGENT = [(bent, nh.Variational(0.3)), (S.spherical_pendulum, nh.Variational())]
TANGENT += [(S.sleigh, nh.DLA(0.4, False, 0.1)), (S.sleigh, nh.Projector())]
TANGENT += [(S.particle, nh.EDLA()), (S.driven, nh.EDLA(0.4, True))]


@cases(TANGENT)
def test_tangent_against_finite_differences(make, method):
    """Runs of two steps from nearby (t0, h, q0, q1): D(second state) = tangent . D(first state)."""
    system, extended = made(make), method.variable_step
    n, d = len(system.q), 1e-6
    sol = nh.integrate(system, method, h=0.1, steps=2)
    z0 = np.array([0.0, sol.h[1], *sol.q[1], *sol.q[2]])

    def run(z):
        q0, q1 = z[2 : n + 2], z[n + 2 :]
        if system.holonomic:  # back to the unit sphere
            q0, q1 = q0 / np.linalg.norm(q0), q1 / np.linalg.norm(q1)
        return nh.integrate(system, method, q0, q1=q1, h=z[1], t0=z[0], steps=2)

    def state(z, k):
        sol = run(z)
        more = [sol.t[k], sol.energy("midpoints")[k - 1]] if extended else []
        return np.array([*sol.q[k], *sol.p[k], *more])

    def slope(k):
        directions = d * np.eye(2 * n + 2)[0 if extended else 2 :]
        return np.stack([state(z0 + a, k) - state(z0 - a, k) for a in directions], 1) / (2 * d)

    T = extended_map(run(z0), 1)[0] if extended else phase_map(run(z0), 1)
    first, second = slope(1), slope(2)
    assert np.abs(second - T @ first).max() < 1e-7 * np.abs(second).max()


# ---------------------------------------------------------------------------- without constraints


RULES = [nh.Variational(), nh.Variational(0.3), nh.Variational(0.0, True)]


@pytest.mark.ledger("CM01-symplectic")
@runs(S.pendulum, S.kepler, bent)
def test_variational_methods_are_symplectic(make):
    for sol in (nh.integrate(made(make), method, h=0.2, steps=12) for method in RULES):
        for k in (1, 11):
            assert nh.diagnostics.symplectic_defect(phase_map(sol, k)) < 1e-14
    if make is not bent:  # whose v is not its momentum
        sol = nh.integrate(made(make), nh.RK4(), h=0.2, steps=3)
        assert nh.diagnostics.symplectic_defect(phase_map(sol, 2)) > 1e-8


@pytest.mark.ledger("CM01-symplectic", "CM01-8")
def test_holonomic_variational_method_is_symplectic_on_the_sphere():
    """On (q, p) the form changes by d(lam dg), which vanishes on vectors tangent to g = 0."""
    sol = nh.integrate(made(S.spherical_pendulum), nh.Variational(), h=0.2, steps=6)
    for k in (1, 5):
        D = phase_map(sol, k)
        change = D.T @ J(3) @ D - J(3)
        basis = np.linalg.svd(np.array([[*sol.q[k], 0, 0, 0]]))[2][1:].T
        assert np.abs(basis.T @ change @ basis).max() < 1e-14
        assert np.abs(change).max() > 0.1


# ---------------------------------------------------------------------------- with constraints


@pytest.mark.ledger("CM01-22")
@runs(S.particle, S.sleigh, S.snakeboard, S.driven)
@pytest.mark.parametrize("method", [nh.DLA(), nh.DLA(0.3, True, 0.8), nh.Projector()], ids=repr)
def test_the_form_changes_by_d_beta(make, method):
    """(22): Phi* Omega = Omega + d beta_d, beta_d = lam_a A^a; the projector's lam does it too."""
    sol = nh.integrate(made(make), method, h=0.1, steps=5)
    n = len(sol.system.q)
    for k in (2, 4):
        T = tangent(sol, k, ("q", "p"))
        D = np.concatenate([T["q"], T["p"]])
        d_beta = constraint_work(sol, k, T["lam"])
        assert np.abs(D.T @ J(n) @ D - J(n) - d_beta).max() < 1e-14
        assert np.abs(d_beta).max() > 0.1
        change, cause = nh.diagnostics.symplectic_change(sol, k)
        assert np.abs(change - d_beta).max() < 1e-14 and np.abs(cause - d_beta).max() < 1e-14


def test_what_has_no_such_change_is_refused():
    for method, k in ((nh.EDLA(), 1), (nh.RK4(), 1), (nh.DLA(), 5), (nh.DLA(), -1)):
        sol = nh.integrate(S.particle(), method, h=0.1, steps=5)
        with pytest.raises(ValueError, match="a step 0 <= k < 5 of a discrete method"):
            nh.diagnostics.symplectic_change(sol, k)


@pytest.mark.ledger("CM01-symplectic", "CM01-22")
@runs(S.particle, S.sleigh)
def test_dla_is_not_symplectic_on_its_constraint_space(make):
    """Nor does the form survive on Dd, where all states of a run lie: the change is of order h."""
    changes = []
    for h in (0.1, 0.05):
        sol = nh.integrate(made(make), nh.DLA(), h=h, steps=round(0.5 / h) + 1)
        k, n = round(0.5 / h), len(sol.system.q)
        Ld = oracle.discrete(sol.system, sol.method)
        step = sol.t[k - 1], sol.q[k - 1], sol.t[k], sol.q[k]
        slopes = np.concatenate([Ld.D2wd(*step), Ld.D4wd(*step)], -1)  # of wd(q0, q1)
        Dd = np.linalg.svd(slopes)[2][len(slopes) :].T  # its tangent space
        legendre = np.block([[np.zeros((n, n)), np.eye(n)], [Ld.D2D4(*step).T, Ld.D4D4(*step)]])
        X = legendre @ Dd  # as vectors (dq1, dp1)
        D = phase_map(sol, k)
        form = X.T @ J(n) @ X
        changes.append(np.abs(X.T @ (D.T @ J(n) @ D) @ X - form).max() / np.abs(form).max())
    assert changes[0] > 1e-3 and changes[0] / changes[1] == pytest.approx(2, abs=0.3)


def legendre(system, q, v):
    """D(q, p)/D(q, v) for p = M(q) v."""
    here, n = oracle.formulas(system), len(q)
    slopes = np.einsum("ijk,j->ik", here.dM(0, q), v)
    return np.block([[np.eye(n), np.zeros((n, n))], [slopes, here.M(0, q)]])


def reaction_work(system, q, v, d=1e-5):
    """d beta on (q, v) for beta = -lambda_a A^a, the multipliers of the motion, by differences."""
    n, state = len(q), np.concatenate([q, v])

    def beta(x):
        return -system.multipliers(x[:n], x[n:]) @ system.A(x[:n])

    K = np.array([(beta(state + e) - beta(state - e)) / (2 * d) for e in d * np.eye(2 * n)]).T
    return wedge(K, np.eye(n, 2 * n))


@pytest.mark.ledger("CM01-21")
@runs(S.particle, S.sleigh)
def test_the_continuous_law_of_the_form(make):
    """(21): the Lie derivative of Omega along the motion is d beta; the flow is that of one tiny
    RK4 step, differentiated.  (22) over h tends to it, at the first node, to which half an
    impulse belongs, to half of it."""
    system, n = made(make), len(made(make).q)
    sol = nh.integrate(system, nh.Reference(), h=0.3, steps=2)
    q, v = sol.q[2], sol.v[2]
    U = legendre(system, q, v)
    d_beta = reaction_work(system, q, v)
    flows, steps = [], []
    X = tangent_to_D(system, q, v)  # where DLA's kick is of order h
    for h in (0.02, 0.01, 0.005):
        end = nh.integrate(system, nh.RK4(), q, v, h=h, steps=1)
        at = {"h": h, "row": end.rows.array[0], "inputs": ("q", "v")}
        D = nh.diagnostics.tangent(system, nh.RK4(), **at)[2 : 2 + 2 * n]
        later = legendre(system, end.q[1], end.v[1]) @ D
        flows.append((later.T @ J(n) @ later - U.T @ J(n) @ U) / h - d_beta)
        change, _ = nh.diagnostics.symplectic_change(
            nh.integrate(system, nh.DLA(), q, v, h=h, steps=2), 0
        )
        steps.append(X.T @ (2 * U.T @ change @ U / h - d_beta) @ X)
    assert np.abs(X.T @ d_beta @ X).max() > 0.1  # the form itself is not kept
    for gaps in (flows, steps):
        sizes = [np.abs(gap).max() for gap in gaps]
        assert sizes[2] < 0.05 * np.abs(d_beta).max()
        assert np.log2(sizes[1] / sizes[2]) == pytest.approx(1, abs=0.1)
    assert np.abs(2 * flows[2] - flows[1]).max() < 1e-3 * np.abs(d_beta).max()
    free = nh.System(system.q, system.v, system.L, parameters=system.parameters)
    D = nh.diagnostics.tangent(free, nh.RK4(), h=0.005, row=[*q, *v], inputs=("q", "v"))
    end = nh.integrate(free, nh.RK4(), q, v, h=0.005, steps=1)
    later = legendre(free, end.q[1], end.v[1]) @ D[2 : 2 + 2 * n]
    assert np.abs(later.T @ J(n) @ later - U.T @ J(n) @ U).max() < 1e-9  # no constraint, no change


# ---------------------------------------------------------------------------- extended


@pytest.mark.ledger("C03-symplectic", "C03-dbeta")
@runs(S.kepler, bent, swing, S.particle, S.driven)
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, True)])
def test_extended_form(make, alpha, symmetric):
    """EDLA without constraints keeps dq ^ dp - dt ^ dE; the part dq ^ dp alone it does not.  With
    constraints it changes by d beta_d, now with the derivatives of A by t (C03 section 4)."""
    sol = nh.integrate(made(make), nh.EDLA(alpha, symmetric), h=0.1, steps=7)
    n, constrained = len(sol.system.q), bool(sol.system.constraints)
    W = extended_form(n)
    for k in (1, 5):
        D, dlam = extended_map(sol, k)
        d_beta = constraint_work(sol, k, dlam, with_time=True) if constrained else 0 * W
        assert np.abs(D.T @ W @ D - W - d_beta).max() < 1e-13 * np.abs(D).max() ** 2
        assert (np.abs(d_beta).max() > 0.1) == constrained
        P, E = D[: 2 * n], np.eye(2 * n, 2 * n + 2)
        assert np.abs(P.T @ J(n) @ P - E.T @ J(n) @ E).max() > 1e-3
    if make is S.driven:  # whose A depends on t: d beta_d without dA/dt is another form
        assert np.abs(d_beta - constraint_work(sol, k, dlam)).max() > 1e-3


# ---------------------------------------------------------------------------- area and energy


def E(x):
    return x[1] ** 2 / 2 - np.cos(x[0])


def time_on_curve(a, b):
    """The time of the exact pendulum from a to b on one level of the energy, p > 0 throughout."""
    return quad(lambda q: 1 / np.sqrt(2 * (E(a) + np.cos(q))), a[0], b[0], epsabs=1e-13)[0]


def flow(x, time):
    sol = nh.integrate(made(S.pendulum), nh.Reference(), [x[0]], [x[1]], h=time, steps=1)
    return np.array([sol.q[1, 0], sol.p[1, 0]])


def variational(x):
    sol = nh.integrate(made(S.pendulum), nh.Variational(), [x[0]], [x[1]], h=0.5, steps=1)
    return np.array([sol.q[1, 0], sol.p[1, 0]])


def repaired(x):
    """The same, pushed back along p to the energy of the start."""
    q = variational(x)[0]
    return np.array([q, np.sqrt(2 * (E(x) + np.cos(q)))])


def wrong_clock(x):
    """The exact flow, by a time that depends on the energy alone."""
    return flow(x, 0.5 + 0.1 * E(x))


@pytest.mark.ledger("C03-T1")
def test_area_and_energy_together_leave_the_exact_motion():
    """Theorem 1 for one degree of freedom.  A map that keeps E goes along the motion by a time
    tau(x), and changes areas by 1 + dtau/dt: it keeps them iff tau is constant on each level."""
    x, d = np.array([0.5, 1.0]), 1e-4

    def area(step):
        D = [(step(x + e) - step(x - e)) / (2 * d) for e in d * np.eye(2)]
        return np.linalg.det(np.array(D))

    def rate_of_tau(step):
        ends = [np.array([x[0] + e, np.sqrt(2 * (E(x) + np.cos(x[0] + e)))]) for e in (-d, d)]
        tau = [time_on_curve(y, step(y)) for y in ends]
        return (tau[1] - tau[0]) / time_on_curve(*ends)

    misses = {
        s: (abs(area(s) - 1), abs(E(s(x)) - E(x))) for s in (variational, repaired, wrong_clock)
    }
    assert misses[variational][0] < 1e-7 and misses[variational][1] > 1e-3
    assert misses[repaired][0] > 1e-3 and misses[repaired][1] < 1e-14
    assert max(misses[wrong_clock]) < 1e-7  # both, and it is the exact motion
    assert area(repaired) - 1 == pytest.approx(rate_of_tau(repaired), rel=1e-2)
    assert abs(rate_of_tau(wrong_clock)) < 1e-9
