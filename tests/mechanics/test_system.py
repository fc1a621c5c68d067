"""What a System says about itself: M, V, A, energy, momenta, projectors, the motion, its name."""

import copy
from contextlib import nullcontext

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen import derivatives

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
w, vw, t, m, k = nh.symbols("w vw t m k")
RNG = np.random.default_rng(7)

# M and b(q).v and V all depend on q, A on q and t: nothing in it is special.
T = m * (2 + sp.cos(y)) * vx**2 / 2 + (1 + x**2) * vy**2 / 2 + vz**2 / 2 + vx * vy / 3
T += (y * vx - x**2 * vz) / 2
V, SLIP = k * (x**2 * y + sp.cos(z)), vz - y * vx + sp.sin(t) * vy
GENERIC = nh.System((x, y, z), (vx, vy, vz), T - V, [SLIP], parameters={m: 1.5, k: 0.7}, t=t)
RELATIVISTIC = nh.System((x, y), (vx, vy), -sp.sqrt(1 - vx**2 - vy**2) - x**2 / 2)
QUARTIC = nh.System((x,), (vx,), vx**4 / 4 + vx**2 / 2)


def states(system, *shape):
    return RNG.uniform(-1, 1, (2, *shape, len(system.q)))


def D_states(system, *shape, t=0.0):
    q, v = states(system, *shape)
    return q, system.project(q, v, t)


# ---------------------------------------------------------------------------- numbers


def test_parts_by_hand():
    q, v, t = np.array([0.3, -0.5, 0.8]), np.array([0.2, 0.7, -0.4]), 0.6
    (X, Y, Z), M, K = q, 1.5, 0.7
    mass = [[M * (2 + np.cos(Y)), 1 / 3, 0], [1 / 3, 1 + X**2, 0], [0, 0, 1]]
    kinetic = v @ np.array(mass) @ v / 2
    potential = K * (X**2 * Y + np.cos(Z))
    shift = np.array([Y / 2, 0, -(X**2) / 2])
    close = dict(rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(GENERIC.M(q), mass, **close)
    np.testing.assert_allclose(GENERIC.V(q), potential, **close)
    np.testing.assert_allclose(GENERIC.A(q, t), [[-Y, np.sin(t), 1]], **close)
    np.testing.assert_allclose(GENERIC.energy(q, v), kinetic + potential, **close)
    np.testing.assert_allclose(GENERIC.momentum(q, v), mass @ v + shift, **close)
    np.testing.assert_allclose(nh.systems.spherical_pendulum().g([1, 2, 3]), [13], **close)
    np.testing.assert_allclose(nh.systems.spherical_pendulum().A([1, 2, 3]), [[2, 4, 6]], **close)


@pytest.mark.parametrize("system", [GENERIC, RELATIVISTIC, QUARTIC], ids=["generic", "rel", "v^4"])
def test_legendre_map_and_back(system):
    q, v = states(system, 40)
    v *= 0.6  # below the speed of light
    p = system.momentum(q, v, 0.2)
    np.testing.assert_allclose(system.velocity(q, p, 0.2), v, rtol=1e-13, atol=1e-15)


def test_relativistic_momentum_and_energy():
    q, v = np.array([0.5, 0]), np.array([0.6, 0])
    np.testing.assert_allclose(RELATIVISTIC.momentum(q, v), [0.75, 0], rtol=1e-15)
    np.testing.assert_allclose(RELATIVISTIC.energy(q, v), 1.25 + 0.125, rtol=1e-15)
    assert not RELATIVISTIC.is_mechanical and GENERIC.is_mechanical
    # p = 100 needs v = 0.99995, and Newton from v = p would leave the light cone
    v = RELATIVISTIC.velocity(q, [100.0, 0])
    np.testing.assert_allclose(v, [100 / np.sqrt(1 + 100**2), 0], rtol=1e-12)


@pytest.mark.ledger("FIM08-2")
@pytest.mark.parametrize("metric", [None, [[2, 0, y], [0, 1 + x**2, 0], [y, 0, 3]]], ids=["M", "G"])
def test_projectors(metric):
    s = GENERIC
    s = nh.System(s.q, s.v, s.L, s.constraints, parameters=s.parameters, t=s.t, metric=metric)
    q, v = states(s, 20)
    t = 0.4
    P, Q, A, G = s.P(q, t), s.Q(q, t), s.A(q, t), s.G(q, t)
    w, PT = s.project(q, v, t), np.swapaxes(P, -1, -2)
    zeros = [P + Q - np.eye(3), P @ P - P, Q @ Q - Q, P @ Q, A @ P, PT @ G @ Q]
    zeros += [np.trace(P, axis1=-2, axis2=-1) - 2]
    zeros += [np.einsum("kai,ki->ka", A, w), s.project(q, w, t) - w]
    assert max(np.abs(x).max() for x in zeros) < 1e-14
    if metric is None:
        np.testing.assert_array_equal(G, s.M(q))
    else:  # the witness: another metric is another projection
        assert np.abs(P - GENERIC.P(q, t)).max() > 0.1


def test_projection_is_the_nearest_velocity():
    q, v = states(GENERIC)
    w, M = GENERIC.project(q, v), GENERIC.M(q)
    distance = (v - w) @ M @ (v - w)
    for other in D_states(GENERIC, 50)[1] @ GENERIC.P(q).T:
        assert (v - other) @ M @ (v - other) >= distance


@pytest.mark.parametrize("system", [GENERIC, nh.systems.sleigh(), nh.systems.snakeboard()], ids=str)
def test_motion_keeps_the_constraint_and_balances_power(system):
    """d/dt (A v) = 0 and dE/dt = -dL/dt, by differences along q' = v, v' = a."""
    q, v = D_states(system, 30, t=0.3)
    a, e, t = system.acceleration(q, v, 0.3), 1e-4, 0.3

    def along(f):
        d = [f(q + s * v + s**2 / 2 * a, v + s * a, t + s) for s in (-2 * e, -e, e, 2 * e)]
        return (d[0] - 8 * d[1] + 8 * d[2] - d[3]) / (12 * e)  # fourth order

    drift = along(lambda q, v, t: np.einsum("kai,ki->ka", system.A(q, t), v))
    assert np.abs(drift).max() < 1e-10
    power = along(system.energy)
    before, after = (nh.diagnostics.lagrangian(system, q, v, s) for s in (t - e, t + e))
    L_t = (after - before) / (2 * e)
    assert np.abs(power + L_t).max() < 1e-9


# ---------------------------------------------------------------------------- arrays


OF_Q = ["M", "V", "A", "P", "Q", "G"]
OF_Q_AND_V = ["energy", "momentum", "velocity", "acceleration", "multipliers", "project"]


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("name", [*OF_Q, *OF_Q_AND_V])
def test_functions_are_vectorised(name, shape):
    f, state, t = getattr(GENERIC, name), states(GENERIC, *shape), RNG.uniform(size=shape)
    state, one = (x[:1] if name in OF_Q else x for x in (state, np.full((2, 3), 0.3)))
    many = f(*state, t=t)
    assert many.shape == (*shape, *np.shape(f(*one, t=0.5)))
    for i in np.ndindex(shape):
        np.testing.assert_allclose(many[i], f(*(x[i] for x in state), t=t[i]), 1e-14, 1e-15)


def test_times_and_states_broadcast():
    q, v = states(GENERIC)
    times = np.linspace(0, 1, 4)
    for f in (GENERIC.energy, GENERIC.acceleration, GENERIC.project, GENERIC.momentum):
        np.testing.assert_allclose(f(q, v, times)[2], f(q, v, times[2]), rtol=1e-14)
    qs, _ = states(GENERIC, 4)
    np.testing.assert_allclose(GENERIC.energy(qs, v)[3], GENERIC.energy(qs[3], v), rtol=1e-14)


@pytest.mark.parametrize("call", ["M", "energy", "acceleration", "project", "velocity"])
def test_wrong_shapes_are_named(call):
    f = getattr(GENERIC, call)
    other = () if call == "M" else (np.zeros(3),)
    for bad in (np.zeros(2), 0.5, np.zeros((3, 1))):
        with pytest.raises(ValueError, match=r"q has shape .*length 3"):
            f(bad, *other)
    with pytest.raises(ValueError, match="not an array of numbers"):
        f("abc", *other)


def test_acceleration_where_the_constraints_are_dependent():
    board = nh.systems.snakeboard()
    with pytest.raises(ValueError, match=r"no solution at q = .*dependent"):
        board.acceleration([0, 0, 0, 0, np.pi / 2], [0, 0, 0, 1, 0])


# ---------------------------------------------------------------------------- Frobenius

INTEGRABLE = {
    "none": [],
    "d(xy)": [vx * y + x * vy],
    "d(xy) over x": [vx * y / x + vy],
    "exp(z) d(x y z)": [sp.exp(z) * (vx * y * z + x * vy * z + x * y * vz)],
    "closed but not exact": [(x * vy - y * vx) / (x**2 + y**2)],
    "two forms": [vx - z * vz, vy - sp.cos(z) * vz],
    "m = n - 1": [vx - y * vz, vy - x * vz, vw - x * y * vz],
    "a pair that is integrable only together": [vx - y * vz, vy],
}
TWISTED = {
    "contact": [vz - y * vx],
    "skate": [vx * sp.sin(z) - vy * sp.cos(z)],
    "two forms": [vx - w * vz, vy - x * vz],
    "a small twist": [vz - 1e-6 * y * vx],
}


def with_constraints(constraints, t=None):
    L = (vx**2 + vy**2 + vz**2 + vw**2) / 2
    return nh.System((x, y, z, w), (vx, vy, vz, vw), L, constraints, t=t)


@pytest.mark.parametrize("name", INTEGRABLE)
def test_integrable_constraints(name):
    assert with_constraints(INTEGRABLE[name]).is_holonomic() is True


@pytest.mark.parametrize("name", TWISTED)
def test_constraints_that_are_not_integrable(name):
    assert with_constraints(TWISTED[name]).is_holonomic() is False


def test_frobenius_with_time():
    def holonomic(row, t=t):
        return with_constraints([row], t).is_holonomic()

    assert holonomic(vx * sp.exp(t) - x * sp.exp(t) * vy / x) and holonomic(vx - sp.sin(t))
    assert holonomic(vx - 2, t=None) and holonomic(2 * x * vx + 2 * y * vy - sp.cos(t))
    # frozen in time each is integrable, moving it is not
    assert holonomic(vx - 2 * vy, t=None) and not holonomic(vx - t * vy)
    assert not holonomic(vx - y, t=None)
    u = nh.symbols("w1:4")
    spin = nh.GroupSystem(nh.groups.SE2, u, sum(w**2 for w in u), [u[2] - 2])
    assert spin.is_holonomic()


def test_an_acceleration_is_made_of_floats():
    s = nh.System([x], [vx], vx**2 / 2 - sp.Abs(x))
    a = s.acceleration([1], [2])
    assert a.dtype == float and a == [-1]


# ---------------------------------------------------------------------------- other ways in


def test_symbols_need_not_be_real():
    """SymPy's plain symbols do as long as no Abs or root has to know."""
    q, v, M = sp.symbols("x y z"), sp.symbols("vx vy vz"), sp.Symbol("M", positive=True)
    L = M * sum(u**2 for u in v) / 2 - M * (q[0] ** 2 + q[1] ** 2)
    plain = nh.System(q, v, L, [v[2] - q[1] * v[0]], parameters={M: 2})
    a = nh.integrate(plain, nh.DLA(), [0, 1, 0], [1, 1, 1], h=0.1, steps=50)
    b = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, steps=50)
    assert np.abs(a.q - b.q).max() < 1e-14


def test_equations_may_be_written_as_equations():
    L = (vx**2 + vy**2 + vz**2) / 2
    one = nh.System((x, y, z), (vx, vy, vz), L, [sp.Eq(vz, y * vx)])
    two = nh.System([x, y, z], sp.Matrix([vx, vy, vz]), L, vz - y * vx)
    assert one == two


# ---------------------------------------------------------------------------- values


def test_set_leaves_the_original_alone():
    sleigh = nh.systems.sleigh()
    before = sleigh.energy([0, 0, 0], [1, 0, 1])
    other = sleigh.set(a=0.5, m=3)
    assert {s.name: v for s, v in other.parameters.items()} == {"m": 3, "I": 1, "a": 0.5}
    assert {s.name: v for s, v in sleigh.parameters.items()} == {"m": 1, "I": 1, "a": 0.2}
    assert sleigh.energy([0, 0, 0], [1, 0, 1]) == before != other.energy([0, 0, 0], [1, 0, 1])
    assert other == nh.systems.sleigh(m=3, a=0.5) != sleigh
    assert other.set(a=0.2, m=1) == sleigh
    assert other.q0 == sleigh.q0 and other.name == "sleigh"


def test_equality_and_hash():
    make = [nh.systems.sleigh, nh.systems.sleigh, nh.systems.particle, nh.systems.free_particle]
    a, b, c, d = (f() for f in make)
    assert a == b and hash(a) == hash(b) and a is not b
    assert len({a, b, c, d}) == 3
    assert a != "sleigh" and a != a.set(a=0.3)
    s = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2, [vx - y * vy])
    g = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2, [vx - y * vy], metric=[[2, 0], [0, 1]])
    assert s != g
    swapped = nh.System((y, x), (vy, vx), (vx**2 + vy**2) / 2, [vx - y * vy])
    assert s != swapped  # the order of the coordinates is the order of the arrays


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", ["sleigh", "driven", "spherical_pendulum"])
def test_copies_are_equal_and_move_equally(name, duplicate):
    system = getattr(nh.systems, name)()
    other = duplicate(system)
    assert other == system and hash(other) == hash(system)
    assert (other.name, other.source, other.q0) == (system.name, system.source, system.q0)
    one, two = (nh.integrate(s, nh.DLA(), h=0.1, steps=5).q for s in (system, other))
    np.testing.assert_array_equal(one, two)


# ---------------------------------------------------------------------------- display


def test_latex_reads_like_the_board():
    text = nh.systems.sleigh()._repr_latex_()
    assert text.startswith("$") and text.endswith("$")
    assert r"\begin{aligned}" in text and text.count(r"\\") == 2 and text.count("&") == 3
    assert r"\dot{\theta}" in text and r"\dot{x}" in text
    assert "v_" not in text and "vx" not in text and "vtheta" not in text
    assert r"\sin{\left(\theta \right)}" in text and " = 0" in text
    ball = nh.systems.spherical_pendulum()._repr_latex_()
    assert "x^{2}" in ball and " = 0" in ball and "vx" not in ball
    free = nh.System((x,), (vx,), vx**2 / 2)._repr_latex_()
    assert r"\frac{\dot{x}^{2}}{2}" in free and r"\\" not in free


def test_latex_renders_in_matplotlib():
    """mathtext knows most of LaTeX's mathematics, so a stray brace or name shows here."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    inner = nh.systems.snakeboard()._repr_latex_()
    inner = inner.removeprefix(r"$\displaystyle \begin{aligned}").removesuffix(r"\end{aligned}$")
    parser = mathtext.MathTextParser("agg")
    for row in inner.split(r"\\"):
        parser.parse(f"${row.replace('&', '')}$")


def test_repr():
    assert repr(nh.systems.sleigh(a=0.25)) == "<System sleigh: q = (x, y, theta), I=1, a=0.25, m=1>"
    assert repr(nh.System((x,), (vx,), vx**2 / 2)) == "<System: q = (x)>"


@pytest.mark.parametrize("size", [1e200, 1e-200, 1.0])
def test_projectors_of_rows_of_any_size(size):
    """A G^-1 A^T would overflow, or vanish."""
    x, y, vx, vy = nh.symbols("x y vx vy")
    rows = [size * (vx - 2 * vy + 3)]
    system = nh.System((x, y), (vx, vy), vx**2 / 2 + vy**2 - x * y, rows)
    np.testing.assert_allclose(system.Q([1.0, 2.0]), np.array([[1, -2], [-1, 2]]) / 3, rtol=1e-15)
    np.testing.assert_allclose(system.shortest([1.0, 2.0]), [-1, 1], rtol=1e-15)


# ---------------------------------------------------------------------------- many coordinates


def chain(count):
    """Masses in a row, coupled by springs."""
    q, v = nh.symbols(f"q0:{count}"), nh.symbols(f"v0:{count}")
    springs = sum((a - b) ** 2 for a, b in zip(q[1:], q, strict=False))
    return nh.System(q, v, sum(u**2 for u in v) / 2 - springs / 2)


def test_the_gradient_of_many_coordinates_takes_no_more_than_its_terms(monkeypatch):
    """Each term is differentiated by the symbols in it, not by all."""
    L, calls, real = chain(40).L, [], derivatives.derivative
    monkeypatch.setattr(derivatives, "derivative", lambda e, x: calls.append(x) or real(e, x))
    slopes, _ = derivatives.gradient(L, nh.symbols("q0:40 v0:40"), [])
    assert len(slopes) == 80 and len(calls) < 1000  # with all it would be 10,000 and more


def test_a_system_that_takes_long_says_so(monkeypatch):
    said = []
    monkeypatch.setattr(
        "nhlab.mechanics.system.at_work", lambda what: said.append(what) or nullcontext()
    )
    assert chain(3) and said == []
    assert chain(30) and said == ["deriving the mass matrix"]


# ---------------------------------------------------------------------------- states by name

SLEIGH = nh.systems.sleigh()
OF_A_STATE = ["energy", "momentum", "project", "constraint", "acceleration", "power", "force",
              "multipliers", "M", "independence"]  # fmt: skip
OF_A_POSITION = ["A", "b", "V", "P", "Q", "G", "settle", "shortest", "g"]


@pytest.mark.parametrize("name", [*OF_A_STATE, *OF_A_POSITION])
@pytest.mark.parametrize("system", [SLEIGH, nh.systems.suslov(), nh.systems.driven()], ids=repr)
def test_states_are_read_by_name(system, name):
    """As nh.integrate reads them; what is not named is 0, or of a pose the identity."""
    q, v = {system.q[0]: 0.3}, {system.v[1].name: 0.5}
    if hasattr(system, "group"):
        q, array = {}, np.array([1.0, 0, 0, 0])
    else:
        array = np.zeros(len(system.q))
        array[0] = 0.3
    states = (q, v) if name in OF_A_STATE else (q,)
    numbers = (array, np.eye(len(system.v))[1] * 0.5)[: len(states)]
    f = getattr(system, name)
    np.testing.assert_array_equal(f(*states), f(*numbers))


def test_positions_by_name_in_other_doors():
    q, v = {"theta": 0.3}, {SLEIGH.v[2]: 1}
    np.testing.assert_array_equal(
        SLEIGH.complete(q, **{SLEIGH.v[0].name: 1, SLEIGH.v[2].name: 0}),
        SLEIGH.complete([0, 0, 0.3], **{SLEIGH.v[0].name: 1, SLEIGH.v[2].name: 0}),
    )
    moved = SLEIGH.move(q, v, 0.1)
    np.testing.assert_allclose(moved, [0, 0, 0.4], atol=1e-15)
    np.testing.assert_allclose(SLEIGH.velocity_between(q, moved, 0.1), [0, 0, 1], atol=1e-15)
    orders = [
        nh.diagnostics.order(
            nh.systems.particle(), nh.DLA(), q0, [1, 1, 1], T=1, hs=[0.2, 0.1, 0.05]
        )
        for q0 in ({"y": 1}, [0, 1, 0])
    ]
    assert orders[0].slope == orders[1].slope
    many = SLEIGH.energy({"theta": [0, 1, 2]}, {SLEIGH.v[0]: [1, 2, 3]})
    assert many.shape == (3,)


WITH_R = nh.GroupSystem(nh.groups.SE2, nh.symbols("vs a b c"), nh.symbols("vs") ** 2
                        + nh.symbols("a") ** 2 + nh.symbols("c") ** 2 + nh.symbols("b") ** 2,
                        r=[nh.symbols("s")], name="with r")  # fmt: skip


@pytest.mark.parametrize("system", [nh.systems.suslov(), nh.systems.sleigh_se2(), WITH_R], ids=repr)
def test_a_step_on_a_group_by_names(system):
    """From the identity, in turns and coordinates of its own; there and back again."""
    n, k = len(system.v), system.k
    identity = np.array([0.0] * k + [*system.group.identity])
    v = np.zeros(n)
    v[-1] = 0.4
    moved = system.move({}, {system.v[-1].name: 0.4}, 0.5)
    np.testing.assert_array_equal(moved, system.move(identity, v, 0.5))
    assert np.abs(moved - identity).max() > 0.05
    by_name = dict(zip(system.q, moved, strict=True))
    np.testing.assert_allclose(system.velocity_between({}, by_name, 0.5), v, atol=1e-15)
    np.testing.assert_allclose(system.move(by_name, v, -0.5), identity, atol=1e-15)
    np.testing.assert_allclose(system.configuration(by_name), moved, atol=1e-15)
    both = system.move({}, {system.v[-1]: [0.4, 0.8]}, [0.5, 0.25])
    np.testing.assert_allclose(both, [moved, moved], atol=1e-15)
    for call, text in (
        (lambda: system.move({"xx": 1}, v, 0.1), "q: 'xx' is none of"),
        (lambda: system.move({}, {"xx": 1}, 0.1), "v: 'xx' is none of"),
        (lambda: system.velocity_between({}, {"xx": 1}, 0.1), "q1: 'xx' is none of"),
        (lambda: system.configuration({"xx": 1}, "q0"), "q0: 'xx' is none of"),
        (lambda: system.move(identity[1:], v, 0.1), r"q has shape \(\d,\); its last axis"),
        (lambda: system.move({}, v[1:], 0.1), r"v has shape \(\d,\); its last axis"),
        (lambda: system.move({}, v, "fast"), "h = 'fast' is not an array of numbers"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_names_that_are_not_there_are_answered():
    for call in (
        lambda: SLEIGH.energy({"tetha": 1}, {}),
        lambda: SLEIGH.settle({"tetha": 1}),
        lambda: SLEIGH.complete({"tetha": 1}, vx=1),
    ):
        with pytest.raises(ValueError, match=r"q: 'tetha' is none of .* did you mean 'theta'"):
            call()
    name = SLEIGH.v[0].name
    with pytest.raises(ValueError, match=f"did you mean '{name}'"):
        SLEIGH.complete({}, **{f"{name}{name[-1]}": 1})
    with pytest.raises(ValueError, match=r"p = .* is not an array of numbers"):
        SLEIGH.velocity({}, {"vx": 1})


def test_the_former_name_of_replace_warns():
    particle = nh.systems.particle()
    free = particle.replace(constraints=())
    assert free.m == 0 and free.L == particle.L
    with pytest.warns(DeprecationWarning, match="remade is now called replace"):
        assert particle.remade(constraints=()) == free
