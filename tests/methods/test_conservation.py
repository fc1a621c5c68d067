"""What methods keep exactly, beside a witness that does not keep it, where the sentences of
``keeps``, run in test_promises.py, do not say it all."""

import numpy as np
import oracle
import pytest
import sympy as sp

import nhlab as nh

S = nh.systems
x, y, z, u, t, vx, vy, vz, vu = nh.symbols("x y z u t vx vy vz vu")


def carousel(omega=0.0):
    """Rotations of (x, y) are a horizontal symmetry: the constraint sees only x dx + y dy.

    With omega the potential turns: then only a rotation together with a shift of time is one.
    """
    V = (x**2 + y**2) ** 2 / 4 + (z**2 + u**2) / 2
    if omega:
        V += (x * sp.cos(omega * t) + y * sp.sin(omega * t)) ** 2 / 2
    L = (vx**2 + vy**2 + vz**2 + vu**2) / 2 - V
    start = {"q0": (1, 0, 0, 0.5), "v0": (0.3, 0.8, 0.15, 0.2), "t": t if omega else None}
    return nh.System((x, y, z, u), (vx, vy, vz, vu), L, [vz - u * (x * vx + y * vy)], **start)


def spin(sol):
    """The angular momentum x p_y - y p_x."""
    return sol.q[:, 0] * sol.p[:, 1] - sol.q[:, 1] * sol.p[:, 0]


def component(name):
    return lambda sol: sol.p[:, [s.name for s in sol.system.q].index(name)]


def spread(values):
    """How far a quantity moves from its first value."""
    return np.abs(values - values[0]).max()


# ---------------------------------------------------------------------------- variational methods


@pytest.mark.ledger("CM01-Jd")
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, False), (0.3, True)])
def test_the_discrete_momentum_tends_to_the_continuous_one(alpha, symmetric):
    """The value that a run keeps, begun with two points of the exact motion, is J + O(h^2)."""
    method, hs = nh.DLA(alpha, symmetric), np.array([0.1, 0.05, 0.025])
    for make in (S.kepler, carousel):
        system, gaps = make(), []
        sym = nh.Symmetry(system, {"x": "-y", "y": "x"})
        start = nh.integrate(system, nh.Reference(), h=0.7, steps=1)
        for h in hs:
            exact = nh.integrate(system, nh.Reference(), start.q[1], start.v[1], h=h, steps=1)
            sol = nh.integrate(system, method, exact.q[0], q1=exact.q[1], h=h, steps=50)
            J_d, J = sym.J_d(sol)[:, 0], sym.J(exact.q[0], exact.v[0])[0]
            assert spread(J_d) < 1e-13
            gaps.append(abs(J_d[0] - J))
        assert np.polyfit(np.log(hs), np.log(gaps), 1)[0] == pytest.approx(2, abs=0.1)
        assert gaps[-1] > 1e-6  # and is not J itself


def test_variational_energy_stays():
    """Not exact, but no larger after 20000 steps than after 1000; that of RK4 falls steadily."""
    sol = nh.integrate(S.pendulum(), nh.Variational(), h=0.2, steps=20_000)
    E = sol.energy()
    assert 1e-3 < spread(E[:1000]) < spread(E) < 1.001 * spread(E[:1000])
    slope, error = nh.diagnostics.drift(sol.t, E)
    assert abs(slope) < 3 * error < 1e-7
    other = nh.integrate(S.pendulum(), nh.RK4(), h=0.2, steps=20_000)
    assert nh.diagnostics.drift(other.t, other.energy())[0] < -3e-6
    assert spread(other.energy()) > 15 * spread(other.energy()[:1000])


# ---------------------------------------------------------------------------- horizontal symmetries

KEEPERS = [nh.DLA(), nh.DLA(0.3), nh.DLA(0.3, True, 0.1), nh.Projector(), nh.Projector(0.3, True)]
KEEPERS += [nh.EDLA()]


@pytest.mark.ledger("CM01-5.4", "FIM08-C3")
@pytest.mark.parametrize("method", [*KEEPERS, nh.RK4()], ids=repr)
def test_free_particle_and_snakeboard(method):
    """p_y and p_psi are constant; as linear functions of v with constant M even RK4 keeps them.

    x -> x + c leaves the free particle's L and D alone, but is not horizontal: p_x changes.
    """
    for make, name, moves in ((S.free_particle, "y", 0.5), (S.snakeboard, "psi", 0.1)):
        sol = nh.integrate(make(), method, h=0.1, steps=50 if make is S.free_particle else 200)
        assert spread(component(name)(sol)) < 1e-14
        assert spread(component("x")(sol)) > moves


# ---------------------------------------------------------------------------- projector method


def translations():
    """R^4 with a constant metric, nothing of it diagonal, and a D without any symmetry."""
    M = sp.Matrix([[3, 1, 0, 1], [1, 2, 1, 0], [0, 1, 4, 1], [1, 0, 1, 2]])
    v = sp.Matrix([vx, vy, vz, vu])
    D = [vz - sp.sin(y + x) * vx + u * vu / 3, vu - x * vy - z * vx / 2]
    system = nh.System((x, y, z, u), tuple(v), (v.T * M * v)[0] / 2, D, name="translations")
    q0 = np.array([0.3, 0.2, -0.4, 0.1])
    return system, q0, system.project(q0, [1, 0.5, -0.3, 0.7])


@pytest.mark.ledger("FIM08-T1")
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, False), (0, True)])
def test_projector_keeps_the_energy_for_bi_invariant_metrics(alpha, symmetric):
    """Constant M and V = 0: a bi-invariant metric on the group of translations, any D."""
    method = nh.Projector(alpha, symmetric)
    for system, q0, v0 in (
        translations(),
        *((s, s.q0, s.v0) for s in (S.free_particle(), S.snakeboard(), S.rolling_disk())),
    ):
        sol = nh.integrate(system, method, q0, v0, h=0.1, steps=300)
        E = sol.energy()
        leaving = system.velocity(sol.q[:-1], sol.p_minus)
        assert spread(np.array([*E, *system.energy(sol.q[:-1], leaving)])) < 1e-13 * (1 + abs(E[0]))
        assert spread(sol.energy("projected")) > 1e-7  # what satisfies the constraints loses it
        assert spread(nh.integrate(system, nh.DLA(), q0, v0, h=0.1, steps=300).energy()) > 1e-5


def energy_spread(system, method, h=0.1, steps=300):
    return spread(nh.integrate(system, method, h=h, steps=steps).energy())


@pytest.mark.ledger("FIM08-T1")
def test_projector_loses_the_energy_of_the_sleigh():
    """M depends on theta.  V does it too, unless the midpoint rule meets a quadratic one."""
    assert energy_spread(S.sleigh(), nh.Projector(), h=0.2, steps=100) > 1e-5
    assert energy_spread(S.contact_oscillator(), nh.Projector()) > 1e-5
    assert energy_spread(S.particle(), nh.Projector()) < 1e-12
    assert energy_spread(S.particle(), nh.Projector(0.3)) > 0.1


@pytest.mark.ledger("FIM08-T1", "CM01-5.4")
def test_over_a_million_steps(numba):
    """The quartic potential makes Newton iterate: what its last correction leaves would add up."""
    million = {"h": 0.1, "steps": 10**6, "every": 100, "progress": False}
    assert spread(nh.integrate(S.free_particle(), nh.Projector(), **million).energy()) < 1e-11
    assert spread(spin(nh.integrate(carousel(), nh.DLA(), **million))) < 1e-11


# ---------------------------------------------------------------------------- extended methods


@pytest.mark.ledger("C03-noether")
@pytest.mark.parametrize("constrained", [False, True])
def test_extended_momentum_with_time(constrained):
    """V turns with omega: Theta+ of the symmetry (1, omega x q) is omega J - E, kept by EDLA
    though neither J nor E is.  With the constraint it is a horizontal symmetry."""
    omega = 0.7
    system = carousel(omega)
    if not constrained:
        system = nh.System(system.q, system.v, system.L, t=system.t, q0=system.q0, v0=system.v0)
    for method in (nh.EDLA(), nh.DLA()):
        sol = nh.integrate(system, method, h=0.05, steps=400)
        J, E = spin(sol)[1:], sol.energy("midpoints")
        assert spread(J) > 0.1 and spread(E) > 0.1
        kept = spread(omega * J - E)
        assert kept < 1e-13 if method.variable_step else kept > 1e-5


@pytest.mark.ledger("C03-P4", "C03-energy")
def test_edla_keeps_the_discrete_energy():
    runs = (S.particle(), 0.05, 3000), (S.particle(), 0.2, 3000), (S.robot(), 0.1, 400)
    for system, h, steps in runs:
        sol = nh.integrate(system, nh.EDLA(), h=h, steps=steps)
        assert spread(sol.energy("midpoints")) < 1e-14 * sol.energy()[0]
        assert spread(sol.energy()) > 1e-3  # the energy at the nodes is another function
        assert np.all(np.diff(sol.t) > 0)
        fixed = nh.integrate(system, nh.DLA(), h=h, steps=steps)
        assert spread(fixed.energy("midpoints")) > 1e-4


@pytest.mark.ledger("C03-P4")
@pytest.mark.parametrize("alpha, symmetric", [(0.5, False), (0.3, True)])
def test_time_dependent_energy_balance(alpha, symmetric):
    """E_plus - E_minus = -h dL/dt over a step, E_minus = E_plus at a node: the work adds up."""
    system = S.driven()
    L_t = sp.diff(system.L, system.t).subs(oracle.numbers(system))
    power = oracle.numeric((system.t, system.q), [-L_t])
    gaps = []
    for method in (nh.EDLA(alpha, symmetric), nh.DLA(alpha, symmetric)):
        sol = nh.integrate(system, method, [1, 0.5, 0], [1, 0, 0.5], h=0.05, steps=150)
        E, dq = sol.energy("midpoints"), np.diff(sol.q, axis=0)
        points = (alpha, 1 - alpha) if symmetric else (alpha,)
        powers = [power(sol.t[:-1] + a * sol.h, sol.q[:-1] + a * dq)[:, 0] for a in points]
        work = sol.h * np.mean(powers, axis=0)
        assert spread(E) > 0.1
        gaps.append(abs(E[-1] - E[0] - work[1:].sum()))
    assert gaps[0] < 1e-13 and gaps[1] > 1e-5


@pytest.mark.ledger("C03-R2")
@pytest.mark.parametrize("name, h", [("robot", 0.1), ("transmission", 0.05), ("sleigh", 0.1)])
def test_where_no_positive_step_exists(name, h):
    """The run stops, with the reason and the computed part; and a scan of h finds no step."""
    system = S.catalogue[name]()
    q0, v0 = ([0, 0, 0, np.pi / 2], [6, 0, 1, 6]) if name == "robot" else (None, None)
    with pytest.raises(nh.IntegrationError, match="no positive step exists") as info:
        nh.integrate(system, nh.EDLA(), q0, v0, h=h, steps=1000)
    sol = info.value.trajectory
    assert sol.steps == info.value.step > 0 and sol.t[-1] == info.value.time
    assert spread(sol.energy("midpoints")) < 1e-12 and np.all(np.diff(sol.t) > 0)

    Ld, A, t1, q1 = oracle.discrete(system, sol.method), system.A(sol.q[-1]), sol.t[-1], sol.q[-1]
    gaps, q2 = [], q1
    for h2 in sol.h[-1] * np.linspace(0.02, 2, 100):
        q2, _ = oracle.dla_step(Ld, A, t1, q1, sol.p[-1], h2, q2)
        gaps.append(Ld.D1(t1, q1, t1 + h2, q2) + Ld.D3(sol.t[-2], sol.q[-2], t1, q1))
    assert np.min(gaps) > 0 or np.max(gaps) < 0


@pytest.mark.ledger("C03-R2")
def test_the_reversed_root():
    """(t0, q0) solves the equations for (t2, q2), with lam = 0 and h = -h1; it is never taken."""
    sol = nh.integrate(S.particle(), nh.EDLA(), h=0.2, steps=1000)
    Ld, step0, _ = oracle.on_run(sol)
    back = (*step0[2:], *step0[:2])
    tol = 10 * oracle.roundoff(sol)
    assert np.abs(Ld.D2(*back) + Ld.D4(*step0)).max() < tol
    assert np.abs(Ld.D1(*back) + Ld.D3(*step0)).max() < tol
    assert np.abs(Ld.wd(*back)).max() < tol
    assert sol.h.min() > 0.18 and np.abs(np.diff(sol.q[::2], axis=0)).max(1).min() > 0.01


def test_the_normal_momentum_grows_where_a_motion_settles():
    """On the sleigh's final straight line the projector's zigzag grows; the energy hides it."""
    sleigh = nh.systems.sleigh()
    error, normal = {}, {}
    for method in (nh.DLA(), nh.Projector()):
        sol = nh.integrate(sleigh, method, h=0.1, steps=1500)
        name = type(method).__name__
        error[name] = np.abs(sol.q[-1] - sleigh.exact(sol.t[-1])).max()
        normal[name] = np.abs(sol.constraint()[:, 0])
        assert np.ptp(sol.energy()) < 1e-3
    assert error["DLA"] < 0.1 and error["Projector"] > 50
    t = 0.1 * np.arange(1501)
    grows = (t > 60) & (t < 85)
    rate = np.polyfit(t[grows], np.log(normal["Projector"][grows]), 1)[0]
    u = np.sqrt(2 * sol.energy()[0])  # the final speed: turns decay like exp(-a u t / b^2)
    assert rate == pytest.approx(0.2 * u / 1.04, rel=0.05)
    late = t > 60
    assert normal["DLA"][late].max() < 1e-5
