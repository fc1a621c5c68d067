"""Systems on Lie groups: FIM08 section 4 evaluated with NumPy on runs, and the ways to run them."""

from functools import partial

import numpy as np
import pytest
import sympy as sp
from runs import made, power, slope, spread, true_end
from scipy.spatial.transform import Rotation
from tangents import inverse_tangent, vee

import nhlab as nh

S = nh.systems
SO3, SE2 = nh.groups.SO3, nh.groups.SE2
w1, w2, w3 = W = nh.symbols("w1 w2 w3")
u, s, w = nh.symbols("u s w")
POSE = nh.symbols("x y theta")
RULES = {SO3: ("cayley", "log", "trace"), SE2: ("cayley", "log")}
INERTIA = np.array([[1, 0.1, 0.5], [0.1, 2, 0.3], [0.5, 0.3, 2.5]])


def top(rule="cayley", metric=None):
    """An asymmetric body with the constraint of the ball: left-invariant L, D without symmetry."""
    g = nh.symbols("qw qx qy qz")
    L = sum(INERTIA[i, j] * W[i] * W[j] for i in range(3) for j in range(3)) / 2
    row = w3 - 2 * SO3.matrix(g)[2, 1] * w1
    start = {"q0": (1, 0, 0, 0), "v0": (1, 0.7, 0), "name": "top"}
    return nh.GroupSystem(SO3, W, L, [row], g=g, rule=rule, metric=metric, **start)


def skate(rule="cayley"):
    """A plate in a fluid, with different masses along and across, on a D without symmetry."""
    x, y, theta = POSE
    L = (u**2 + 3 * s**2 + 2 * w**2) / 2 + 0.4 * s * w
    row, start = s - sp.sin(x + 2 * theta) * u / 2, {"q0": (0, 0, 0), "v0": (-1, 0, 0.6)}
    return nh.GroupSystem(SE2, (u, s, w), L, [row], g=POSE, rule=rule, name="skate", **start)


def fluid_sleigh(rule="cayley"):
    """The sleigh with different masses along and across."""
    L = (u**2 + 3 * (s + 0.2 * w) ** 2 + w**2) / 2
    start = {"q0": (0, 0, 0), "v0": (-1, 0, 0.6)}
    return nh.GroupSystem(SE2, (u, s, w), L, [s], rule=rule, name="plate", **start)


def cases(*makers, rules=RULES[SO3]):
    """Each system with each of the rules that its group has."""
    pairs = [(make, rule) for make in makers for rule in RULES[make().group] if rule in rules]
    return [pytest.param(*pair, id=f"{pair[0].__name__}-{pair[1]}") for pair in pairs]


def roundoff(sol):
    """What momenta lose, in space, when they are recomputed from the stored nodes."""
    size = 1 + np.abs(sol.q).max()  # Ad of a node has this size, too
    momentum = np.abs(sol.system.M(sol.q[0])).sum(1).max() * size**2 / sol.h.min()
    return 4 * np.finfo(float).eps * momentum


def increments(sol):
    """W_k = g_k^-1 g_k+1 from the stored positions."""
    G = sol.system.group
    return G.multiply(G.inverse(sol.q[:-1]), sol.q[1:])


def leaving(sol):
    """The body momenta p_minus of the steps, from W alone and with the rule's own formula."""
    system, G, h = sol.system, sol.system.group, sol.h[:, None]
    M, increment = system.M(sol.q[0]), increments(sol)
    if system.rule == "trace":  # Moser & Veselov: W J - J W^T
        J, R = np.trace(M) / 2 * np.eye(3) - M, G.matrix(increment)
        return vee(G, R @ J - J @ np.swapaxes(R, 1, 2)) / h
    xi = G.log(increment) if system.tau == "exp" else G.cay_inv(increment)
    return np.einsum("kij,ki->kj", inverse_tangent(G, system.tau, xi), xi @ M / h)


def reflections(M, A):
    """P - Q of FIM08 section 2 from explicit inverses, shape (..., 3, 3)."""
    At = np.swapaxes(A, -1, -2)
    inverse = np.linalg.inv(M)
    return np.eye(3) - 2 * inverse @ At @ np.linalg.inv(A @ inverse @ At) @ A


def from_q1(system, method=None, h=0.1, steps=200, away=(0.1, -0.06, 0.2)):
    """A run from a second position that does not respect the constraints."""
    q1 = system.move(system.q0, np.add(system.v0, away), h)
    return nh.integrate(system, method or nh.Projector(), system.q0, q1=q1, h=h, steps=steps)


# ---------------------------------------------------------------------------- FIM08, section 4


def gap_of_7(sol, G0=None):
    """The residual of (7) in the frame fixed in space, where right translation does nothing."""
    system, G, q = sol.system, sol.system.group, sol.q[:-1]
    back = G.Ad(G.inverse(q))  # from space to body
    p = np.einsum("kij,ki->kj", back, leaving(sol))
    M = np.swapaxes(back, 1, 2) @ (system.M(q) if G0 is None else G0) @ back
    reflection = reflections(M, system.A(q) @ back)[1:]
    return np.abs(p[1:] - np.einsum("kij,ki->kj", reflection, p[:-1])).max()


@pytest.mark.ledger("FIM08-7")
def test_the_metric_of_the_projectors_may_be_another():
    other = np.diag([1.0, 3.0, 2.0])
    sol = from_q1(top(metric=other))
    assert gap_of_7(sol, other) < 1e-13 < 1e-3 < gap_of_7(sol)


def gap_of_body_form(sol):
    """p_k = (P - Q)^T Ad*_W p_k-1, with P and Q of the identity."""
    system, G = sol.system, sol.system.group
    p, e = leaving(sol), np.array(G.identity)
    reflection = reflections(system.M(e), system.A(e))
    moved = G.Ad_star(increments(sol)[:-1], p[:-1])
    return np.abs(p[1:] - moved @ reflection).max()


RECURSIONS = [
    *((gap_of_7, *case.values) for case in cases(top, skate)),
    *((gap_of_body_form, *case.values) for case in cases(S.suslov, S.sleigh_se2)),
]


@pytest.mark.ledger("FIM08-7", "FIM08-body")
@pytest.mark.parametrize("gap, make, rule", RECURSIONS)
def test_momentum_recursions(gap, make, rule):
    system = made(make, rule=rule)
    for sol in (nh.integrate(system, nh.Projector(), h=0.1, steps=150), from_q1(system)):
        assert gap(sol) < roundoff(sol) < 1e-11
    assert gap(nh.integrate(system, nh.DLA(), h=0.1, steps=150)) > 1e-5


@pytest.mark.ledger("FIM08-body")
@pytest.mark.parametrize("make, rule", cases(S.ball, skate))
def test_body_recursion_needs_left_invariance(make, rule):
    sol = nh.integrate(made(make, rule=rule), nh.Projector(), h=0.1, steps=200)
    assert gap_of_body_form(sol) > 0.01


@pytest.mark.ledger("FIM08-T1", "FIM08-norm")
@pytest.mark.parametrize("rule", RULES[SO3])
def test_bi_invariant_metrics_keep_the_energy(rule):
    """Any D; from a start in D and from one that is not, of arriving and leaving momenta.  DLA is
    not so lucky."""
    ball = made(S.ball, rule=rule)
    for sol in (nh.integrate(ball, nh.Projector(), h=0.1, steps=500), from_q1(ball)):
        before = ball.energy(sol.q[:-1], ball.velocity(sol.q[:-1], sol.p_minus))
        assert spread(np.array([*sol.energy(), *before])) < 2e-14 and spread(sol.p) > 0.1
        assert spread(sol.energy("projected")) > 1e-4
    assert spread(nh.integrate(ball, nh.DLA(), h=0.1, steps=500).energy()) > 1e-3


@pytest.mark.ledger("FIM08-T1")
@pytest.mark.parametrize(
    "make, rule", cases(S.suslov, top, fluid_sleigh, skate, rules=["cayley", "log"])
)
def test_other_metrics_lose_it(make, rule):
    sol = nh.integrate(made(make, rule=rule), nh.Projector(), h=0.1, steps=200)
    assert spread(sol.energy()) > 1e-4


@pytest.mark.ledger("FIM08-T1")
@pytest.mark.parametrize(
    "make, rule", [*cases(S.suslov, top, rules=["trace"]), *cases(S.sleigh_se2)]
)
def test_what_theorem_1_needs_is_less(make, rule):
    """Its proof asks only for H(Ad*_W p) = H(p) of each step's momentum.  That holds with the
    trace rule for every inertia, and in SE(2) for every body with one mass; in coordinates the
    same sleigh loses its energy."""
    system = made(make, rule=rule)
    for sol in (nh.integrate(system, nh.Projector(), h=0.1, steps=300), from_q1(system)):
        H = system.energy(sol.q[:-1], system.velocity(sol.q[:-1], leaving(sol)))
        p = system.group.Ad_star(increments(sol), leaving(sol))
        assert np.abs(system.energy(sol.q[1:], system.velocity(sol.q[1:], p)) - H).max() < 5e-14
        assert spread(sol.energy()) < 5e-14
    generic = system.group.Ad_star(increments(sol), np.array([0.3, 0.7, -0.4]))  # another momentum
    assert spread(system.energy(sol.q[1:], system.velocity(sol.q[1:], generic))) > 1e-3
    assert spread(nh.integrate(S.sleigh(), nh.Projector(), h=0.1, steps=300).energy()) > 1e-6


@pytest.mark.ledger("FIM08-4.4")
@pytest.mark.parametrize("rule", RULES[SO3])
def test_average_momentum(rule):
    """Right-invariant D: its energy is kept; it satisfies the constraint for every D."""
    sol = from_q1(made(S.ball_right, rule=rule))
    assert spread(sol.energy("average")) < 1e-14
    assert np.abs(sol.constraint("average")).max() < 1e-14
    assert np.abs(sol.constraint()).min() > 0.1  # while the evolved momentum violates it
    assert sol.energy()[0] - sol.energy("average")[0] > 0.01
    other = from_q1(made(S.ball, rule=rule))
    assert np.abs(other.constraint("average")).max() < 1e-14
    assert spread(other.energy("average")) > 1e-3


# ---------------------------------------------------------------------------- orders


@pytest.mark.parametrize("make, rule", cases(S.suslov, top, skate))
def test_order_two(make, rule):
    for method in (nh.DLA(), nh.Projector()):
        assert abs(slope(made(make, rule=rule), method, reference=end_of(make)) - 2) < 0.1


def end_of(make):
    """Where the true motion ends, which no rule changes."""
    return lambda _: true_end(made(make), 2.0)


def test_away_from_the_midpoint():
    """Only A sees alpha here: order 1, and 2 by the symmetric rule."""
    assert abs(slope(made(S.ball), nh.DLA(0.3), first=80) - 1) < 0.1
    for method, order in ((nh.DLA(constraint_alpha=0), 1), (nh.DLA(0.3, True), 2)):
        assert method.order == order
        assert abs(slope(made(skate), method, first=80) - order) < 0.1


def test_orders_against_closed_solutions():
    for make, rule in ((S.ball_right, "cayley"), (S.sleigh_se2, "cayley"), (S.sleigh_se2, "log")):
        system = made(make, rule=rule)
        assert abs(slope(system, nh.DLA(), reference=system.exact) - 2) < 0.1
    assert abs(slope(made(S.suslov), nh.RK4(), first=20) - 4) < 0.1
    ball = made(S.rubber_ball)  # its quaternions are made unit ones after every step
    assert abs(slope(ball, nh.RK4(), first=10, count=3) - 4) < 0.25


@pytest.mark.parametrize("rule", RULES[SO3])
def test_suslov_omega(rule):
    """From one steady rotation to the other; the closed form against two methods and DOP853."""
    system = made(S.suslov, rule=rule)
    sol = nh.integrate(system, nh.Reference(), h=1, steps=30)
    assert np.abs(sol.v - S.suslov_omega(system, sol.t)).max() < 1e-11
    for t, side in ((-70, -1), (70, 1)):
        end = S.suslov_omega(system, t)
        assert abs(0.5 * end[0] + 0.3 * end[1]) < 1e-12 and side * end[1] > 0.7

    def error(h, method):
        sol = nh.integrate(system, method, h=h, steps=round(6 / h))
        return np.abs(sol.v_projected - S.suslov_omega(system, sol.t)).max()

    for method in (nh.DLA(), nh.Projector()):
        assert abs(power(partial(error, method=method)) - 2) < 0.1


def test_a_principal_axis_is_steady():
    sol = nh.integrate(S.suslov(I13=0, I23=0), nh.DLA(), h=0.1, steps=100)
    assert spread(sol.v_step) < 1e-14
    assert spread(nh.integrate(S.suslov(), nh.DLA(), h=0.1, steps=100).v_step) > 0.5


# ---------------------------------------------------------------------------- other coordinates


def test_the_sleigh_is_the_sleigh():
    here, there = S.sleigh_se2(), S.sleigh()
    a, b = (nh.integrate(x, nh.Reference(), h=0.5, steps=40) for x in (here, there))
    assert np.abs(a.q - b.q).max() < 1e-8
    assert np.abs(a.q - here.exact(a.t)).max() < 1e-11
    assert np.abs(a.energy() - b.energy()).max() < 1e-9
    x, y, theta = b.q.T
    c, n, v = np.cos(theta), np.sin(theta), b.v.T
    body = np.stack([c * v[0] + n * v[1], c * v[1] - n * v[0], v[2]], -1)
    assert np.abs(a.v - body).max() < 1e-8
    turned = nh.integrate(here, nh.Reference(), (1, 2, 0.7), (-1, 0, 0.25), h=0.5, steps=40)
    expected = SE2.multiply(np.array([1, 2, 0.7]), a.q)  # left-invariance
    assert np.abs(turned.q - expected).max() < 1e-9


def board(rule="cayley"):
    """The snakeboard on R^2 x SE(2): r = (psi, phi)."""
    psi, phi, vpsi, vphi = nh.symbols("psi phi vpsi vphi")
    L = (u**2 + s**2) / 2 + 3 * w**2 / 2 + vpsi**2 / 2 + vphi**2
    rows = [u * sp.sin(k * phi) - s * sp.cos(phi) + k * w * sp.cos(phi) for k in (1, -1)]
    v, place = (vpsi, vphi, u, s, w), {"g": POSE, "r": (psi, phi)}
    start = {"q0": (0, 0, 0, 0, 0), "v0": (0.7, 0.05, 1, 0, 0), "name": "board"}
    return nh.GroupSystem(SE2, v, L, rows, rule=rule, **place, **start)


def test_the_snakeboard_is_the_snakeboard():
    a, b = (nh.integrate(x, nh.Reference(), h=0.5, steps=40) for x in (board(), S.snakeboard()))
    assert np.abs(a.q - b.q[:, [3, 4, 0, 1, 2]]).max() < 1e-9
    assert spread(a.q[:, 4]) > 0.5
    for method in (nh.DLA(), nh.Projector(), nh.Projector(0.3, True)):
        assert abs(slope(made(board), method) - 2) < 0.1
    assert spread(nh.integrate(board(), nh.DLA(), h=0.1, steps=200).p[:, 0]) < 1e-14  # psi


def gyrostat(rule="cayley"):
    """A body with a rotor r along e1, held by a spring; L does not depend on the attitude."""
    r, vr = nh.symbols("r vr")
    L = (w1**2 + 2 * w2**2 + 2.5 * w3**2) / 2 + 0.3 * (vr + w1) ** 2 / 2 + w1 * w2 / 4 - r**2 / 2
    start = {"q0": (1, 1, 0, 0, 0), "v0": (2, 0, 0, 0), "name": "gyrostat"}
    return nh.GroupSystem(SO3, (vr, *W), L, [], r=[r], rule=rule, **start)


@pytest.mark.parametrize("rule", ["cayley", "log"])
def test_body_at_rest_with_a_turning_rotor(rule):
    """omega = 0 exactly, so theta = 0 in the first iteration; momentum in space is kept."""
    assert abs(slope(made(gyrostat, rule=rule), nh.Variational()) - 2) < 0.1
    sol = nh.integrate(gyrostat(rule), nh.Variational(), h=0.1, steps=1000, backend="python")
    assert spread(SO3.Ad_star(SO3.inverse(sol.q[:, 1:]), sol.p[:, 1:])) < 1e-13
    assert spread(sol.p) > 0.1


# ---------------------------------------------------------------------------- the free rigid body


@pytest.mark.ledger("CM01-momentum")
@pytest.mark.parametrize("rule", RULES[SO3])
def test_momentum_in_space(rule):
    """Left translations are a symmetry; their momentum map is the momentum in space."""
    for method, kept in ((nh.Variational(), True), (nh.RK4(), False)):
        sol = nh.integrate(made(S.rigid_body, rule=rule), method, h=0.1, steps=500)
        g = sol.q if kept else sol.q / np.linalg.norm(sol.q, axis=1, keepdims=True)
        lost = spread(SO3.Ad_star(SO3.inverse(g), sol.p))
        assert lost < 1e-13 if kept else lost > 1e-6
        assert spread(sol.p) > 1  # while the body momentum moves


@pytest.mark.ledger("CM01-2")
@pytest.mark.parametrize("rule", RULES[SO3])
def test_action_is_stationary(rule):
    """Turned about any axis at an inner node, the sum of Ld does not change; elsewhere it does."""
    system, method = made(S.rigid_body, rule=rule), nh.Variational()
    sol = nh.integrate(system, method, h=0.1, steps=10)

    def slope_at(path, axis, e=1e-4):
        sums = []
        for turn in (e, -e):
            new = path.copy()
            new[5] = SO3.multiply(new[5], SO3.exp(turn * axis))
            sums.append(nh.diagnostics.action(system, method, sol.t, new))
        return (sums[0] - sums[1]) / (2 * e)

    bent = sol.q.copy()
    bent[5] = SO3.multiply(bent[5], SO3.exp([0.01, 0.02, 0.01]))
    for axis in np.eye(3):
        assert abs(slope_at(sol.q, axis)) < 1e-9 < 0.1 < abs(slope_at(bent, axis))


def test_moser_veselov():
    """M_k = W_k J - J W_k^T and M_k+1 = W_k^T M_k W_k; energy kept by the trace rule alone."""
    sol = nh.integrate(made(S.rigid_body, rule="trace"), nh.Variational(), h=0.1, steps=1000)
    R, p = SO3.matrix(increments(sol)), leaving(sol)
    M = SO3.hat(p)
    assert np.abs(M[1:] - np.swapaxes(R, 1, 2)[:-1] @ M[:-1] @ R[:-1]).max() < 2e-14
    assert np.abs(p - sol.p_minus).max() < 1e-13
    assert spread(sol.energy()) < 1e-13
    for rule in ("cayley", "log"):
        sol = nh.integrate(made(S.rigid_body, rule=rule), nh.Variational(), h=0.1, steps=1000)
        assert 1e-4 < spread(sol.energy()) < 1e-2


@pytest.mark.ledger("C03-energy")
@pytest.mark.parametrize("rule", RULES[SO3])
def test_extended_method(rule):
    """E is minus the derivative of l_d by h with W fixed; EDLA keeps it, DLA does not."""
    system = made(S.suslov, rule=rule)
    for method, kept in ((nh.EDLA(), True), (nh.DLA(), False)):
        sol = nh.integrate(system, method, system.q0, (0.8, -0.5, 0), h=0.1, steps=40)
        M, increment = system.M(sol.q[0]), increments(sol)
        if rule == "trace":
            J = np.trace(M) / 2 * np.eye(3) - M
            E = np.trace(J - J @ SO3.matrix(increment), axis1=1, axis2=2) / sol.h**2
        else:
            xi = SO3.log(increment) if rule == "log" else SO3.cay_inv(increment)
            E = np.einsum("ki,ij,kj->k", xi, M, xi) / 2 / sol.h**2
        assert np.abs(sol.energy("midpoints") - E).max() < 1e-13
        assert spread(E) < 1e-13 if kept else spread(E) > 1e-6
        assert np.abs(sol.constraint("midpoints")).max() < 1e-15


# ---------------------------------------------------------------------------- running


@pytest.mark.ledger("FIM08-T1")
def test_a_million_steps(numba):
    """The positions stay in the group, and the energy of the projector method where it was."""
    ball = made(S.ball)
    long = {"h": 0.1, "steps": 10**6, "every": 100, "backend": "numba", "progress": False}
    sol = nh.integrate(ball, nh.Projector(), **long)
    assert np.abs(np.linalg.norm(sol.q, axis=1) - 1).max() < 1e-15
    E, eps = sol.energy(), np.finfo(float).eps
    assert spread(E[:1000]) < 1e5 * eps * E[0] and spread(E) < 1e6 * eps * E[0]  # a rounding a step
    sol = nh.integrate(ball, nh.RK4(), h=0.1, steps=2000)
    assert spread(sol.energy()) > 1e7 * eps * E[0]


@pytest.mark.parametrize("make, rule", cases(S.ball, skate))
def test_second_position_given(make, rule):
    """A run goes on from two of its own nodes; -q and theta + 2 pi name the same second node."""
    system = made(make, rule=rule)
    sol = nh.integrate(system, nh.Projector(), h=0.1, steps=30)
    same = -sol.q[6] if system.group is SO3 else sol.q[6] + [0, 0, 2 * np.pi]
    for q1 in (sol.q[6], same):
        new = nh.integrate(system, nh.Projector(), sol.q[5], q1=q1, h=0.1, steps=25)
        assert np.abs(new.q - sol.q[5:]).max() < 1e-12
        assert np.abs(new.p[1:] - sol.p[6:]).max() < 1e-12
    assert np.abs(system.velocity_between(sol.q[:-1], sol.q[1:], sol.h) - sol.v_step).max() < 1e-14


def test_rules_differ_and_names_tell():
    systems = [made(S.suslov, rule=rule) for rule in RULES[SO3]]
    assert len({x.key for x in systems}) == len({repr(x) for x in systems}) == 3
    ends = [nh.integrate(x, nh.DLA(), h=0.1, steps=20).q[-1] for x in systems]
    assert min(np.abs(ends[k] - ends[k - 1]).max() for k in range(3)) > 1e-5
    assert repr(S.suslov()).startswith("<GroupSystem Suslov on SO3, rule='cayley', I1=1")
    assert repr(board()) == "<GroupSystem board on R^2 x SE2, rule='cayley'>"
    text = board()._repr_latex_()
    assert r"g^{-1}\dot g" in text and r"\mathfrak{se}(2)" in text and text.count(" = 0") == 2
    assert r"\dot{\psi}" in text
    table = nh.integrate(board(), nh.DLA(), h=0.1, steps=5).to_dataframe()
    assert [f"p_{v}" for v in board().v] == [c for c in table if c.startswith("p_")]


def test_integrability():
    """[e1, e2] = e3: a single row on SO(3) is never integrable; on SE(2) the turn rate is."""
    assert not any(f().is_holonomic() for f in (S.suslov, S.ball, S.ball_right, S.sleigh_se2, top))
    assert nh.GroupSystem(SE2, (u, s, w), u**2 + s**2 + w**2, [w]).is_holonomic()
    x, y, theta = POSE
    sideways = u * sp.sin(theta) + s * sp.cos(theta)  # y' = 0
    assert nh.GroupSystem(SE2, (u, s, w), u**2 + s**2 + w**2, [sideways], g=POSE).is_holonomic()


# ---------------------------------------------------------------------------- what comes in


def test_positions_as_matrices_and_rotations():
    system, q, run = S.rigid_body(), SO3.exp([0.3, -0.5, 0.8]), {"h": 0.1, "steps": 10}
    expected = nh.integrate(system, nh.DLA(), q, [1, 0, 0.2], **run).q
    R = SO3.matrix(q)
    for q0 in (R, Rotation.from_rotvec([0.3, -0.5, 0.8]), q * (1 + 1e-9)):
        found = nh.integrate(system, nh.DLA(), q0, [1, 0, 0.2], **run).q
        assert np.abs(found - expected).max() < 1e-15
    many = nh.ensemble(system, nh.DLA(), np.stack([R, R]), [[1, 0, 0.2]] * 2, **run)
    assert np.abs(many.q - expected).max() < 1e-15
    given = nh.GroupSystem(SO3, W, w1**2 + w2**2 + w3**2, q0=R, v0=(1, 0, 0))
    assert np.abs(np.array(given.q0) - q).max() < 1e-15


L3 = w1**2 + w2**2 + w3**2
qw, qx, qy, qz = QUATERNION = nh.symbols("qw qx qy qz")


REFUSED_SYSTEMS = [
    (("SO3", W, L3), {}, "group = 'SO3' is unknown"),
    ((SO3, W, L3), {"rule": "euler"}, "rule = 'euler' is unknown"),
    ((SO3, W[:2], w1**2 + w2**2), {}, "3 of the body in SO3"),
    ((SO3, W, L3), {"g": POSE}, "must name the coordinates of SO3"),
    ((SO3, W, L3 - qx**2), {"g": QUATERNION}, r"L contains \['qx'\].*left-invariant"),
    ((SO3, W, L3, [w3 + qw * w1]), {"g": QUATERNION}, "differ at q and -q"),
    ((SE2, W, L3), {"rule": "trace"}, "rule='trace' is for SO3"),
    ((SO3, W, L3 + w1), {"rule": "trace"}, "rule='trace' is for SO3"),
    ((SO3, W, L3), {"q0": (1, 1, 0, 0)}, r"q0.*\|q\| = 1.414213562"),
]
REFUSED_STARTS = [
    (((2, 0, 0, 0), (1, 0, 0)), {}, r"q0 is no rotation.*\|q\| = 2"),
    (((1, 0, 0), (1, 0, 0)), {}, r"q0 has shape \(3,\).*\(w, x, y, z\)"),
    (((1, 0, 0, 0), (1, 0, 0, 0)), {}, r"v0 has shape \(4,\)"),
    (((1, 0, 0, 0), (1, 0, 1)), {}, "v0 = .* violates the constraints"),
    (((1, 0, 0, 0),), {"q1": (0, 1, 0, 0)}, "turns by pi"),
]


@pytest.mark.parametrize("given, others, message", REFUSED_SYSTEMS)
def test_systems_that_are_refused(given, others, message):
    with pytest.raises(ValueError, match=message):
        nh.GroupSystem(*given, **others)


@pytest.mark.parametrize("start, others, message", REFUSED_STARTS)
def test_starts_that_are_refused(start, others, message):
    with pytest.raises(ValueError, match=message):
        nh.integrate(S.suslov(), nh.DLA(), *start, h=1, steps=1, **others)


def test_what_suslovs_problem_does_not_have():
    with pytest.raises(ValueError, match="velocity constraints"):
        nh.integrate(S.suslov(), nh.Variational(), h=0.1, steps=1)
    with pytest.raises(ValueError, match="no closed solution"):
        S.suslov().exact(1.0)
    with pytest.raises(ValueError, match="neither holonomic constraints nor t"):
        nh.GroupSystem(SO3, W, L3, t=nh.symbols("t"))


def test_files_with_an_unknown_group_or_reduction_are_refused():
    from nhlab.run.files import system_from_json, system_to_json

    data = system_to_json(S.suslov())
    assert system_from_json(data) == S.suslov()
    for change in ({"group": "Group"}, {"t": ["Symbol", "t", {}]}, {"rule": "best"}):
        with pytest.raises(ValueError):
            system_from_json(data | change)
    reduction = system_to_json(nh.Chaplygin(S.particle(), fibre="z"))
    with pytest.raises(ValueError, match="reduction 'System' is unknown"):
        system_from_json(reduction | {"reduction": "System"})


@pytest.mark.parametrize("h", [1.5, 4, 6, 1e3])
def test_steps_without_a_solution_stop(h):
    """With the trace rule a free ball turns by sin(angle) = h |omega|, which may exceed 1."""
    ball = nh.systems.rigid_body(1, 1, 1, rule="trace")
    with pytest.raises(nh.IntegrationError):
        nh.integrate(ball, nh.Variational(), [1, 0, 0, 0], [0, 0, 1], h=h, steps=1)
