"""Observed orders: the slope of log(error) against log(h), within 0.1 of what is claimed."""

import numpy as np
import pytest
import sympy as sp
from runs import made, slope

import nhlab as nh

S = nh.systems


def near(found, expected):
    assert abs(found - expected) <= 0.1


PROBLEMS = dict(particle=2, robot=1, sleigh=4, contact_oscillator=2, transmission=2, driven=1)


# (9) with (13): order 2 at alpha = 1/2, order 1 elsewhere; (10) with (14): 2 for every alpha.
# The rule of the constraint decides alone; its symmetric rule need not be the Lagrangian's.
RULES = {(): 2, (0.3,): 1, (0.8,): 1, (0, True): 2, (0.3, True): 2}
METHODS = [(Method(*rule), k) for Method in (nh.DLA, nh.Projector) for rule, k in RULES.items()]
METHODS += [(nh.DLA(constraint_alpha=0), 1), (nh.DLA(0.5, True, constraint_alpha=0.2), 2)]


@pytest.mark.ledger("CM01-9", "CM01-10")
@pytest.mark.parametrize("name, T", PROBLEMS.items(), ids=PROBLEMS)
@pytest.mark.parametrize("method, expected", METHODS, ids=repr)
def test_rules(name, T, method, expected):
    assert method.order == expected
    near(slope(made(S.catalogue[name]), method, T), expected)


def midpoint_rules(name):
    """Those that the catalogue's system can be treated with."""
    system = made(S.catalogue[name])
    rules = [nh.Projector()] if not system.holonomic else []
    return [nh.DLA(), *rules, *([] if system.constraints else [nh.Variational()])]


@pytest.mark.parametrize("name", sorted(set(S.catalogue) - set(PROBLEMS)))
def test_midpoint_rules_on_the_other_systems_of_the_catalogue(name):
    for method in midpoint_rules(name):
        near(slope(made(S.catalogue[name]), method, T=1.2, first=50, count=3), 2)


@pytest.mark.ledger("CM01-9")
def test_projector_discretises_no_constraint():
    """For constant M and V = 0 all Ld_alpha are the same, and only DLA has an alpha left."""
    for name in ("snakeboard", "rolling_disk"):
        system = made(S.catalogue[name])
        near(slope(system, nh.Projector(0.3)), 2)
        near(slope(system, nh.DLA(0.3)), 1)


@pytest.mark.ledger("CM01-9", "CM01-10")
@pytest.mark.parametrize("name", ["rolling_disk", "knife_edge", "free_particle", "sleigh"])
def test_against_exact_solutions(name):
    system = made(S.catalogue[name])
    for method in (nh.DLA(), nh.Projector(), nh.DLA(0.2, True)):
        near(slope(system, method, reference=system.exact), 2)
    near(slope(system, nh.RK4(), first=5, reference=system.exact), 4)


@pytest.mark.parametrize("name", ["particle", "robot", "sleigh", "contact_oscillator"])
def test_runge_kutta(name):
    near(slope(made(S.catalogue[name]), nh.RK4(), PROBLEMS[name], first=20), 4)


def varying_mass():
    x, vx = nh.symbols("x vx")
    return nh.System((x,), (vx,), (1 + x**2) * vx**2 / 2 + sp.cos(x), q0=(1,), v0=(0.5,))


@pytest.mark.ledger("CM01-natural")
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_natural_lagrangians(alpha):
    """As a two-step method from an accurate q1 the alpha rule is of order 2 for constant M: its
    error from (q0, p0), of order 1, lies in the start.  With M(q) it does not."""
    method = nh.Variational(alpha)
    assert method.order == 1
    for system, from_q1 in (
        (made(S.pendulum), 2),
        (made(S.spherical_pendulum), 2),
        (made(varying_mass), 1),
    ):
        near(slope(system, method), 1)
        near(slope(system, method, start="q1"), from_q1)
        near(slope(system, nh.Variational()), 2)
        near(slope(system, nh.Variational(alpha, True)), 2)


@pytest.mark.ledger("CM01-9", "CM01-10")
def test_constraints_take_that_away():
    """With nonholonomic constraints the order is the same from (q0, v0) and from an exact q1."""
    for Method in (nh.DLA, nh.Projector):
        for start in ("v0", "q1"):
            near(slope(made(S.particle), Method(0.3), start=start), 1)
            near(slope(made(S.particle), Method(0.3, True), start=start), 2)


@pytest.mark.ledger("FIM08-average")
@pytest.mark.parametrize(
    "name, T, gain", [("robot", 1, 1.4), ("sleigh", 4, 1.9), ("snakeboard", 4, 4)]
)
def test_start_of_the_projector_method(name, T, gain):
    """Half an impulse at q0 is nearly as good as an exact q1.  None, that is p_minus = p0, costs
    ``gain`` times the error, and the slip A v of the evolved momenta zigzags."""
    system, hs = made(S.catalogue[name]), T / (40 * 2 ** np.arange(4))
    q0, v0, h = np.array(system.q0), np.array(system.v0), hs[0]

    def begun_freely(h):
        values = {k: x for k, x in system.parameters.items() if k in system.L.free_symbols}
        free = nh.System(system.q, system.v, system.L, parameters=values)
        q1 = nh.integrate(free, nh.Variational(), q0, v0, h=h, steps=1).q[1]
        return nh.integrate(system, nh.Projector(), q0, q1=q1, h=h, steps=round(T / h))

    exact = nh.diagnostics.order(system, nh.Projector(), T=T, hs=hs, start="q1")
    ours = nh.diagnostics.order(system, nh.Projector(), T=T, hs=hs)
    near(exact.slope, 2)
    near(ours.slope, 2)
    assert np.all(ours.error < 1.7 * exact.error)
    true = nh.integrate(system, nh.Reference(), q0, v0, h=T, steps=1).q[1]
    free = np.array([np.abs(begun_freely(h).q[-1] - true).max() for h in hs])
    assert np.all(free > gain * ours.error)

    sol = nh.integrate(system, nh.Projector(), q0, v0, h=h, steps=40)
    p0 = system.momentum(q0, v0) + h / 2 * system.A(q0).T @ system.multipliers(q0, v0)
    assert np.abs(sol.p_minus[0] - p0).max() < 1e-14
    jump, zigzag = (np.abs(np.diff(s.constraint()[1:, 0])).max() for s in (sol, begun_freely(h)))
    assert zigzag > 20 * jump


@pytest.mark.ledger("C03-6")
def test_edla():
    """The step varies, so the error is taken at the time each run has reached."""
    times = {S.particle: 2.0, S.robot: 1.0, S.driven: 1.0, S.pendulum: 2.0}
    for system, T in ((made(make), T) for make, T in times.items()):
        near(slope(system, nh.EDLA(), T), 2)
        near(slope(system, nh.EDLA(0.3, True), T), 2)
    near(slope(made(S.driven), nh.EDLA(0.3), T=1.0), 1)


def test_reference_from_rest_in_mixed_units(monkeypatch):
    """A cart in millimetres and grams, driven by its wound-up rotor: few steps, and the energy."""
    import scipy.integrate

    taken = []

    class Counted(scipy.integrate.DOP853):
        def step(self):
            taken.append(self.t)
            return super().step()

    monkeypatch.setattr(scipy.integrate, "DOP853", Counted)
    x, y, theta, psi, vx, vy, vtheta, vpsi = nh.symbols("x y theta psi vx vy vtheta vpsi")
    c, s = sp.cos(theta), sp.sin(theta)
    a = 300
    T = 500 * ((vx - a * vtheta * s) ** 2 + (vy + a * vtheta * c) ** 2) + 1.5e5 * vtheta**2
    L = T + 1e8 * (vtheta + vpsi) ** 2 - 5e8 * psi**2
    cart = nh.System((x, y, theta, psi), (vx, vy, vtheta, vpsi), L, [vy * c - vx * s])
    sol = nh.integrate(cart, nh.Reference(), [0, 0, 0, 2], [0, 0, 0, 0], h=0.1, steps=5)
    assert len(taken) < 500
    assert np.ptp(sol.energy()) < 1e-9 * sol.energy()[0]
