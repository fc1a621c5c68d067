"""Every sentence in ``keeps`` and ``loses`` is run, beside a witness of which it is not true.

``KEEPS`` and ``LOSES`` map each sentence to a measurement: what the method makes of the quantity,
and what the witness makes of it, another method or a system outside the hypothesis.
"""

from functools import cache

import numpy as np
import oracle
import pytest
import sympy as sp
from maps import J, extended_form, extended_map, phase_map, tangent_to_D
from runs import made, spread

import nhlab as nh
from nhlab.methods import __all__ as NAMES
from nhlab.view import plot

S = nh.systems
x, y, z, u, w, vx, vy, vz, vu, vw = nh.symbols("x y z u w vx vy vz vu vw")
METHODS = [nh.Variational(), nh.Variational(0.3), nh.Variational(0.3, True)]
METHODS += [nh.DLA(), nh.DLA(0.3), nh.DLA(0.3, True), nh.DLA(constraint_alpha=0.2)]
METHODS += [nh.Projector(), nh.Projector(0.3), nh.EDLA(), nh.EDLA(0.3, True), nh.RDLA(), nh.REDLA()]
METHODS += [nh.RDLA(0.3), nh.RK4(), nh.Reference(), nh.Reference(1e-9), nh.Reversible()]
METHODS += [nh.DiscreteGradient(), nh.Composition(nh.Variational()), nh.Composition(nh.DLA(), 6)]
METHODS += [nh.Composition(nh.Reversible()), nh.Composition(nh.DiscreteGradient())]
METHODS += [nh.EqualImpulses(), nh.EqualImpulses(0.3), nh.EqualImpulses(0.3, True)]
METHODS += [nh.Composition(nh.EqualImpulses()), nh.Lobatto(), nh.Lobatto(4), nh.Newmark()]
METHODS += [nh.Newmark(0.1, 0.6), nh.Newmark(0, second_beta=1 / 6)]


# ---------------------------------------------------------------------------- systems


def wheel(b=0, mass=1):
    """The particle with a wheel w that L does not contain, nor the constraint its velocity."""
    L = (vx**2 + vy**2 + vz**2 + mass * vw**2) / 2 + vw * vy / 3 + b * vw + sp.cos(y) - x**4
    start = {"q0": (0, 1, 0, 0), "v0": (1, 1, 1, 0.5)}
    return nh.System((x, y, z, w), (vx, vy, vz, vw), L, [vz - y * vx], **start)


def bent_wheel():
    """The same with an inertia that depends on x."""
    return wheel(mass=2 + sp.cos(x))


def magnetic_wheel():
    """The same with a term b(q).v."""
    return wheel(b=sp.sin(x))


def bowl():
    """Rotations of (x, y) are horizontal; their momentum is quadratic."""
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2) ** 2 / 4 - z**2 / 2
    row, start = vz - x * (x * vx + y * vy), {"q0": (1, 0, 0), "v0": (0.3, 0.8, 0.3)}
    return nh.System((x, y, z), (vx, vy, vz), L, [row], **start)


def polar():
    """A free particle in polar coordinates: translations are a symmetry of L, not of Ld."""
    dx, dy = (sp.diff(e, x) * vx + sp.diff(e, y) * vy for e in (x * sp.cos(y), x * sp.sin(y)))
    L = (sp.simplify(dx**2 + dy**2) + vz**2) / 2
    return nh.System((x, y, z), (vx, vy, vz), L, q0=(1, 0.5, 0), v0=(0.7, 0.4, 0.2))


def skew():
    """L(q, -v) is not L(q, v)."""
    s, q = made(S.particle), made(S.particle).q
    L = s.L + sp.sin(q[1]) * s.v[0]
    return nh.System(q, s.v, L, s.constraints, q0=s.q0, v0=s.v0)


def pulled_wheel():
    """Forces on all coordinates but the wheel."""
    return wheel().replace(forces={x: -vx / 3, y: sp.sin(x) - vy * vx / 5, z: -vz / 4})


def pulled_bent_wheel():
    return bent_wheel().replace(forces={x: -vx / 3, y: sp.sin(x) - vy * vx / 5, z: -vz / 4})


def turned_wheel():
    """A motor that turns the wheel."""
    return wheel().replace(forces={w: vy / 3 + sp.sin(x) / 2})


def drawn_kepler():
    """A force along the radius, which turns nothing but takes energy."""
    s = made(S.kepler)
    return s.replace(forces=[-a * (s.q[0] * s.v[0] + s.q[1] * s.v[1]) / 5 for a in s.q])


def braked_kepler():
    s = made(S.kepler)
    return s.replace(forces=[-u / 50 for u in s.v])


def even_sleigh():
    """Forces that are the same for v and -v."""
    s = made(S.sleigh)
    (a, b, theta), (_, vb, vtheta) = s.q, s.v
    return s.replace(forces={a: -a / 3, b: vb**2 / 4 - b / 5, theta: sp.cos(a) / 5 + vtheta**2 / 3})


def braked_sleigh():
    s = made(S.sleigh)
    return s.replace(forces=[-u / 5 for u in s.v])


def braked_particle():
    s = made(S.particle)
    return s.replace(forces=[-s.v[0] / 5, -s.v[1] * s.q[0] / 3, -s.v[2] / 2])


def carried_particle():
    """On ground that moves, without a potential."""
    s = made(S.free_particle)
    x, v0 = s.q[0], (1, 1, s.q0[1] - 0.5)
    return s.replace(constraints=[s.constraints[0] + sp.cos(x - s.q0[0]) / 2], v0=v0)


def pushed_free_particle():
    s = made(S.free_particle)
    return s.replace(forces=[0, 0.3, 0])


def plane():
    return nh.Chaplygin(made(S.particle), fibre="z")


# ---------------------------------------------------------------------------- measurements


@cache
def run(make, method, h=0.1, steps=40):
    return nh.integrate(made(make), method, h=h, steps=steps)


def momentum(make, method, name, **options):
    """How far the momentum of a coordinate moves; of the velocity, where no momenta are kept."""
    sol = run(make, method, **options)
    p = sol.system.momentum(sol.q, sol.v, sol.t) if not method.discrete else sol.p
    return spread(p[:, [s.name for s in sol.system.q].index(name)])


def along(make, method, field, **options):
    """How far J of a field moves, by the evolved momenta."""
    sol = run(make, method, **options)
    p = sol.system.momentum(sol.q, sol.v, sol.t) if not method.discrete else sol.p
    xi = sol.system.values([list(field)], sol.q)[:, 0]
    return spread((p * xi).sum(1))


ROTATION, TRANSLATION = (-y, x, 0), (sp.cos(y), -sp.sin(y) / x, 0)


def spin(sol):
    p = sol.p if sol.method.discrete else sol.system.momentum(sol.q, sol.v)
    return spread(sol.q[:, 0] * p[:, 1] - sol.q[:, 1] * p[:, 0])


@cache
def symmetry(make):
    return nh.Symmetry(made(make), EUCLID)


def balance(make, method):
    """The residual of the discrete momentum equation."""
    return np.abs(symmetry(make).residual(run(make, method))).max()


def form(make, method):
    """By how much a step misses to keep dq ^ dp; for methods that carry v, M must be 1."""
    sol = run(make, method, h=0.2, steps=3)
    n, D = len(sol.system.q), phase_map(sol, 2)
    change = D.T @ J(n) @ D - J(n)
    if not sol.system.constraints:
        return np.abs(change).max()
    X = tangent_to_D(sol.system, sol.q[2], sol.v_projected[2] if method.discrete else sol.v[2])
    return np.abs(X.T @ change @ X).max()


def law(method):
    change, d_beta = nh.diagnostics.symplectic_change(run(S.sleigh, method, steps=3), 2)
    return np.abs(change - d_beta).max()


def energy(make, method, at="nodes", h=0.1, steps=40):
    return spread(run(make, method, h, steps).energy(at))


def drifts(method):
    """|slope| of the energy over its error: on the transmission; for order 1 on the particle."""
    make, h = (S.transmission, 0.2) if method.order > 1 else (S.particle, 0.1)
    T = 4000 if isinstance(method, nh.Newmark) else 1000
    if isinstance(method, (nh.Composition, nh.Lobatto, nh.Newmark)):
        h = 0.4
    sol = run(make, method, h, steps=round(T / h))
    slope, error = nh.diagnostics.drift(sol.t, sol.energy())
    return abs(slope) / error


def holonomic(method):
    sol = run(S.spherical_pendulum, method)
    return np.abs(np.linalg.norm(sol.q, axis=1) - 1).max()


def at_nodes(method, make=S.sleigh):
    sol = run(make, method)
    v = sol.v if not method.discrete else np.linalg.solve(sol.system.M(sol.q), sol.p[..., None])
    return np.abs(np.einsum("kai,ki->ka", sol.system.A(sol.q), v.reshape(sol.q.shape))).max()


def tangent_to_sphere(method):
    sol = run(S.spherical_pendulum, method)
    return np.abs((sol.q * sol.v).sum(1)).max()


def in_Dd(method, beta=None):
    sol = run(S.sleigh, method)
    rule = nh.DLA(getattr(method, "alpha", 0.5), getattr(method, "symmetric", False), beta)
    step = sol.t[:-1], sol.q[:-1], sol.t[1:], sol.q[1:]
    return np.abs(oracle.discrete(sol.system, rule).wd(*step)).max()


def back(make, method, h=0.1, steps=40):
    there = run(make, method, h, steps)
    v = there.system.project(there.q[-1], -there.v[-1])
    again = nh.integrate(there.system, method, there.q[-1], v, h=h, steps=steps)
    return np.abs(again.q[-1] - there.q[0]).max()


def work(method):
    """The residual of C03 (5), the balance of the discrete energies, on a driven run."""
    sol = run(S.driven, method)
    Ld, (before, after) = oracle.discrete(sol.system, method), oracle.steps(sol.t, sol.q)
    return np.abs(Ld.D1(*after) + Ld.D3(*before)).max()


def spent(make, method, at="nodes"):
    """How far the energy less the work of the forces moves."""
    sol = run(make, method)
    return spread(sol.energy(at) - sol.work()[len(sol) - len(sol.energy(at)) :])


def extended(make, method):
    """By how much a step of EDLA misses to keep dq ^ dp - dt ^ dE."""
    sol = run(make, method, steps=6)
    (D, _), W = extended_map(sol, 4), extended_form(len(sol.system.q))
    return np.abs(D.T @ W @ D - W).max()


def shadow(method, full):
    red = made(plane)
    sol, upstairs = run(plane, method), run(S.particle, full)
    return np.abs(red.reconstruct(sol).q - upstairs.q).max()


def average(method):
    """A M^-1 of the mean of arriving and leaving momentum."""
    sol = run(S.sleigh, method)
    v = np.linalg.solve(sol.system.M(sol.q[1:-1]), (sol.p[1:-1] + sol.p_minus[1:])[..., None] / 2)
    return np.abs(np.einsum("kai,ki->ka", sol.system.A(sol.q[1:-1]), v[..., 0])).max()


def reduced_constraint(method):
    red = made(board)
    sol = nh.integrate(red, method, h=0.1, steps=40)
    Ld = oracle.discrete(red.full, nh.DLA(0.5 if not method.discrete else method.alpha))
    q = red.full.q
    over = np.zeros((len(sol.q), len(q)))
    over[:, red.bundle.r] = sol.q
    return np.abs(Ld.wd(sol.t[:-1], over[:-1], sol.t[1:], over[1:])).max()


def board():
    return nh.Horizontal(made(S.snakeboard), "psi")


def settles(method):
    """The largest A v on the sleigh's final straight line, over that before."""
    sol = run(S.sleigh, method, h=0.1, steps=900)
    c = np.abs(sol.constraint()[:, 0])
    return c[850:].max() / c[400:500].max()


def stops(method):
    robot = {"q0": [0, 0, 0, np.pi / 2], "v0": [6, 0, 1, 6]}
    system = made(S.robot)
    if getattr(method, "full", None) is not None:
        system, robot = nh.Chaplygin(system, fibre="x y"), {"q0": [0, np.pi / 2], "v0": [1, 6]}
    try:
        nh.integrate(system, method, **robot, h=0.1, steps=100)
    except nh.IntegrationError as error:
        return 1.0 if "no positive step" in error.reason else 0.0
    return 0.0


EUCLID = {"x": {"x": 1}, "y": {"y": 1}, "turn": {"x": "-y", "y": "x", "theta": 1}}
CYCLIC = "momenta of coordinates that L does not contain, nor any constraint their velocities, "
CYCLIC += "and that no force moves"
REVERSAL = "time reversal: back after v -> -v, if L(q, -v) = L(q, v) and F(q, -v) = F(q, v)"

# sentence -> method -> (what the method makes of it, what a witness makes of it)
KEEPS = {
    "the symplectic form, without forces": lambda m: (
        form(S.kepler, m),
        min(form(S.kepler, nh.RK4()), form(braked_kepler, m)),
    ),
    "the symplectic form, without velocity constraints and forces": lambda m: (
        form(S.kepler, m),
        min(form(S.particle, m), form(braked_kepler, m)),
    ),
    "momenta of symmetries of Ld along which no force acts": lambda m: (
        max(spin(run(make, m)) for make in (S.kepler, S.spherical_pendulum, drawn_kepler)),
        min(along(polar, m, TRANSLATION), spin(run(braked_kepler, m))),  # a symmetry of L alone
    ),
    "g(q) = 0": lambda m: (holonomic(m), holonomic(nh.RK4())),
    "holonomic constraints": lambda m: (holonomic(m), holonomic(nh.RK4())),
    "the discrete constraint wd(q_k, q_k+1) = 0": lambda m: (
        in_Dd(m, getattr(m, "constraint_alpha", None)),
        in_Dd(nh.Projector(m.alpha, m.symmetric)),
    ),
    "momenta of horizontal symmetries of Ld along which no force acts": lambda m: (
        max(along(bowl, m, ROTATION), momentum(bent_wheel, m, "w"),
            momentum(pulled_bent_wheel, m, "w", steps=20)),
        min(along(bowl, nh.RK4(), ROTATION, h=0.4), momentum(S.particle, m, "z"),
            momentum(turned_wheel, m, "w", steps=20)),
    ),
    "the momentum equation, for symmetries of Ld": lambda m: (
        max(balance(make, m) for make in (S.sleigh, even_sleigh, braked_sleigh)),
        balance(S.sleigh, nh.RK4()),
    ),
    "the law Phi* Omega = Omega + d beta_d of the symplectic form, CM01 (22), without forces":
    lambda m: (
        law(m),
        form(S.sleigh, m),  # the form itself
    ),
    "the discrete energy of autonomous systems without forces or moving constraints, else its "
    "balance": lambda m: (
        max(energy(S.particle, m, "midpoints"), work(m), spent(braked_particle, m, "midpoints"),
            spent(carried_particle, m, "midpoints")),
        min(energy(S.particle, nh.DLA(), "midpoints"), work(nh.DLA()),
            spent(braked_particle, nh.DLA(), "midpoints"), energy(carried_particle, m, "midpoints"),
            spent(carried_particle, nh.DLA(), "midpoints")),
    ),
    "the extended symplectic form, without constraints and forces": lambda m: (
        extended(S.kepler, m),
        min(extended(S.particle, m), extended(braked_kepler, m)),
    ),
    "the constraint for the average of arriving and leaving momentum": lambda m: (
        average(m),
        average(nh.DLA()),
    ),
    "energy without forces or moving constraints, if L is a bi-invariant metric and P, Q are built "
    "with it (FIM08 Thm 1)": lambda m: (
        max(energy(make, m) for make in (S.free_particle, S.snakeboard, S.ball)),
        min(energy(S.sleigh, m), energy(pushed_free_particle, m), energy(carried_particle, m)),
    ),
    "energy without forces or moving constraints, if L = v.M v/2 with constant M": lambda m: (
        max(energy(make, m) for make in (S.free_particle, S.snakeboard, S.rolling_disk)),
        min(energy(S.sleigh, m, h=0.4), energy(pushed_free_particle, m),
            energy(carried_particle, m)),
    ),
    "the reduced motion of DLA": lambda m: (shadow(m, m.full), shadow(m, nh.DLA(0.4))),
    "the reduced discrete constraints": lambda m: (
        reduced_constraint(m),
        reduced_constraint(nh.RK4()),
    ),
    "the reduced motion of EDLA": lambda m: (shadow(m, m.full), shadow(nh.RDLA(), m.full)),
    "its discrete energy or its balance": lambda m: (
        energy(plane, m, "midpoints"),
        energy(plane, nh.RDLA(), "midpoints"),
    ),
    "momenta that are linear in v with constant coefficients, along which no force acts":
    lambda m: (
        max(momentum(S.free_particle, m, "y"), momentum(S.snakeboard, m, "psi"),
            momentum(pulled_wheel, m, "w")),
        min(momentum(bent_wheel, m, "w"), momentum(turned_wheel, m, "w")),
    ),
    "the constraints at the nodes": lambda m: (
        max(tangent_to_sphere(m) if holds_g(m) else 0, at_nodes(m) if holds_v(m) else 0),
        at_nodes(nh.DLA()),
    ),
    "energy at the nodes, without forces": lambda m: (
        energy(S.sleigh, m),
        min(energy(S.sleigh, nh.DLA()), energy(braked_sleigh, m)),
    ),
    "the balance of energy: with forces it changes by h F.u in a step": lambda m: (
        max(spent(braked_sleigh, m), spent(braked_particle, m)),
        spent(braked_sleigh, nh.DLA()),
    ),
    REVERSAL: lambda m: (
        max(back(S.sleigh, m), back(even_sleigh, m)),
        min(back(skew, m), back(S.sleigh, nh.RK4()), back(braked_sleigh, m)),
    ),
    REVERSAL.replace(" and F(q, -v) = F(q, v)", ", F(q, -v) = F(q, v) and no constraint moves"):
    lambda m: (
        max(back(S.sleigh, m), back(even_sleigh, m)),
        min(back(skew, m), back(braked_sleigh, m), back(carried_particle, m)),
    ),
    CYCLIC: lambda m: (
        max(momentum(bent_wheel, m, "w"), momentum(S.free_particle, m, "y"),
            momentum(pulled_bent_wheel, m, "w")),
        # L and A are free of z, but the constraint has vz
        min(momentum(S.particle, m, "z"), momentum(turned_wheel, m, "w")),
    ),
    f"{CYCLIC}, if M is constant and L has no terms b(q).v": lambda m: (
        max(momentum(wheel, m, "w"), momentum(S.free_particle, m, "y"),
            momentum(pulled_wheel, m, "w")),
        min(momentum(S.particle, m, "z"), momentum(bent_wheel, m, "w"),
            momentum(magnetic_wheel, m, "w"), momentum(turned_wheel, m, "w")),
    ),
}  # fmt: skip
OSCILLATES = "energy (it oscillates, and drifts on some problems)"
# the same, but the method must be the larger of the two
LOSES = {
    "energy (it oscillates but stays)": lambda m: (
        energy(S.pendulum, m, h=0.2, steps=100),
        energy(S.pendulum, nh.DiscreteGradient(), h=0.2, steps=100),
    ),
    OSCILLATES: lambda m: (
        energy(S.particle, m),
        energy(S.particle, nh.DiscreteGradient()),
    ),
    "energy": lambda m: (
        energy(plane if type(m) is nh.RDLA else S.particle, m),
        energy(S.particle, nh.DiscreteGradient()),
    ),
    "energy in general": lambda m: (
        energy(S.sleigh, m),
        energy(S.sleigh, nh.DiscreteGradient()),
    ),
    "the symplectic form": lambda m: (
        form(plane if type(m) is nh.RDLA else S.particle, m),
        form(S.kepler, nh.Variational()),
    ),
    "the constraint at the nodes": lambda m: (at_nodes(m), at_nodes(nh.Reversible())),
    "the constraints": lambda m: (at_nodes(m), at_nodes(nh.Reversible())),
    "the constraint for the evolved momentum alone": lambda m: (
        at_nodes(m),
        at_nodes(nh.Reversible()),
    ),
    "energy at the nodes (only the discrete energy is exact)": lambda m: (
        energy(plane if type(m) is nh.REDLA else S.particle, m),
        energy(S.particle, m.full if type(m) is nh.REDLA else m, "midpoints"),
    ),
    "a fixed step; a positive step may not exist": lambda m: (
        min(np.ptp(run(plane if type(m) is nh.REDLA else S.particle, m).h), stops(m)),
        max(np.ptp(run(S.particle, nh.DLA()).h), stops(nh.DLA())),
    ),
    "accuracy in long runs, where the normal momentum may zigzag and grow": lambda m: (
        settles(m) - 1,
        max(0, settles(nh.DLA()) - 1),
    ),
    "other momenta": lambda m: (along(bowl, m, ROTATION), along(bowl, nh.DLA(), ROTATION)),
    "everything, but only at the level of rtol": lambda m: (
        energy(S.contact_oscillator, m, h=10, steps=20),
        energy(S.contact_oscillator, nh.DiscreteGradient()),
    ),
}


def holds_g(method):
    """True for the methods that run on holonomic constraints."""
    without = nh.DiscreteGradient, nh.EqualImpulses, nh.Newmark
    return not isinstance(getattr(method, "method", method), without)


def holds_v(method):
    """True for the methods that run on velocity constraints."""
    return not isinstance(getattr(method, "method", method), nh.Variational)


def pairs(what):
    return [(m, sentence) for m in METHODS for sentence in getattr(m, what)]


def kept_to(method):
    """Round-off; EDLA's h is determined to eps/h^2 only."""
    return 1e-9 if method.variable_step else 2e-13


@pytest.mark.ledger("CM01-momentum", "CM01-5.4", "FIM08-C3", "C03-energy", "C03-noether")
@pytest.mark.parametrize("method, sentence", pairs("keeps"), ids=str)
def test_what_a_method_keeps(method, sentence):
    kept, witness = KEEPS[sentence](method)
    assert kept < kept_to(method) and witness > 1e4 * kept_to(method)


@pytest.mark.parametrize("method, sentence", pairs("loses"), ids=str)
def test_what_a_method_loses(method, sentence):
    lost, witness = LOSES[sentence](method)
    assert lost > max(1e4 * witness, 1e-13)
    if sentence == OSCILLATES:
        assert drifts(method) > 10
    if sentence == "energy (it oscillates but stays)":
        assert energy(S.pendulum, method, h=0.2, steps=1000) < 1.1 * lost
    if sentence.startswith("everything"):
        assert lost < 1e4 * method.rtol


def test_every_sentence_is_run():
    """All methods are tried, and each sentence here is one of theirs."""
    assert {type(m).__name__ for m in METHODS} == set(NAMES)
    for what, table in (("keeps", KEEPS), ("loses", LOSES)):
        assert {sentence for _, sentence in pairs(what)} == set(table)
    assert all(m.keeps or m.loses for m in METHODS)


def test_what_a_composition_takes_over():
    """The laws of a single step are gone, and the nodes satisfy the constraints."""
    kept = nh.Composition(nh.DLA()).keeps
    assert kept == ("the constraints at the nodes", *nh.DLA().keeps[1:2], nh.DLA().keeps[-1])
    assert "the constraint at the nodes" not in nh.Composition(nh.DLA()).loses


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_methods_are_values_that_read_like_their_call(method, tmp_path):
    assert eval(repr(method), vars(nh) | {name: getattr(nh, name) for name in NAMES}) == method
    assert hash(method) == hash(type(method)(**vars(method)))
    make = S.sleigh if holds_v(method) else S.kepler
    sol = run(plane if method.full else make, method, steps=5)
    sol.save(tmp_path / "run.npz")
    again = nh.load(tmp_path / "run.npz")
    assert again.method == method and np.array_equal(again.q, sol.q)
    if not method.discrete:
        with pytest.raises(ValueError, match="discrete Lagrangian"):
            sol.energy("midpoints")


def test_every_method_has_a_colour_and_a_style_of_its_own():
    assert set(NAMES) == set(plot.COLOURS) == set(plot.LINES)
    assert len(set(plot.COLOURS.values())) == len(NAMES)
    assert plot.label(nh.Composition(nh.DLA(), 6)) == "DLA composed, order 6"
