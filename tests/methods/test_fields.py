"""D spanned by vector fields: the same motions as by one-forms, and past where these end."""

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.mechanics.listing import catalogue, machines

PRINTED = {
    "particle": nh.systems.particle,
    "snakeboard": nh.systems.snakeboard,
    "sleigh": nh.systems.sleigh,
    "robot": nh.systems.robot,
    "car_with_trailer": nh.systems.car_with_trailer,
}


@pytest.fixture(scope="module", params=PRINTED)
def pair(request):
    """(a system by its one-forms, the same by the printed fields, a start)."""
    forms = PRINTED[request.param]()
    q = np.array(forms.q0, float) + 0.1 * np.arange(1, len(forms.q) + 1)
    return forms, forms.by_fields(), q, forms.project(q, np.array(forms.v0, float) + 0.05)


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        (nh.DLA(), 1e-12),
        (nh.DLA(0.3), 1e-12),
        (nh.DLA(0.5, constraint_alpha=0.0), 1e-12),
        (nh.Projector(), 1e-12),
        (nh.EDLA(), 1e-9),  # its step size has no more digits: two ways to write A differ as much
        (nh.Reference(), 1e-9),
    ],
    ids=repr,
)
def test_fields_and_forms_give_the_same_run(pair, method, tolerance):
    forms, fields, q, v = pair
    a, b = (nh.integrate(s, method, q, v, h=0.05, steps=40) for s in (forms, fields))
    size = 1 + np.abs(a.rows.q).max()
    assert np.abs(a.q - b.q).max() < tolerance * size
    assert np.abs(a.p - b.p).max() < tolerance * (1 + np.abs(a.p).max())
    assert np.abs(a.lam - b.lam).max() < tolerance * (1 + np.abs(a.lam).max())
    assert np.abs(a.reaction().force - b.reaction().force).max() < 1e3 * tolerance * size


def test_the_symmetric_rule_averages_forms_or_fields():
    """Mean forms and mean fields annihilate each other on the sleigh, on the snakeboard not."""
    method, gaps = nh.DLA(0.0, symmetric=True), []
    for forms in (nh.systems.sleigh(), nh.systems.snakeboard()):
        a, b = (nh.integrate(s, method, h=0.1, steps=20) for s in (forms, forms.by_fields()))
        gaps.append(np.abs(a.q - b.q).max())
    assert gaps[0] < 1e-13 and 1e-7 < gaps[1] < 1e-4


def test_rk4_along_fields_is_of_order_4():
    s = nh.systems.sleigh().by_fields()
    found = nh.diagnostics.order(s, nh.RK4(), s.q0, s.v0, T=2.0, hs=[0.2, 0.1, 0.05])
    assert abs(found.slope - 4) < 0.1


# ------------------------------------------------------------------ past the end of one-forms


def regular_forms(board):
    """The snakeboard by one-forms that stay independent at phi = pi/2."""
    x, y, theta, _, phi = board.q
    vx, vy, vtheta, *_ = board.v
    r = next(s for s in board.parameters if s.name == "r")
    across = vx * sp.sin(theta) - vy * sp.cos(theta)
    along = vx * sp.cos(theta) + vy * sp.sin(theta)
    rows = [across, sp.sin(phi) * along + r * sp.cos(phi) * vtheta]
    return nh.System(board.q, board.v, board.L, rows, parameters=board.numbers)


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector()], ids=repr)
def test_the_snakeboard_starts_and_passes_where_its_axles_are_dependent(method):
    board = nh.systems.snakeboard()
    fields, regular = board.by_fields(), regular_forms(board)
    start = {"q0": [0.2, 0.1, 0.3, 0, np.pi / 2], "h": 0.05, "steps": 60}
    v0 = fields.X(start["q0"]) @ [0.5, 0.3, 0.4]
    with pytest.raises(ValueError, match="dependent at q0"):
        nh.integrate(board, method, v0=v0, **start)
    a = nh.integrate(fields, method, u0=[0.5, 0.3, 0.4], **start)
    b = nh.integrate(regular, method, v0=v0, **start)
    assert np.abs(a.q - b.q).max() < 1e-12
    assert np.allclose(a.u[0], [0.5, 0.3, 0.4])
    assert np.abs(a.reaction().force - b.reaction().force).max() < 1e-11
    assert np.isnan(a.lam[0]).all() and np.isfinite(a.lam[1:]).all()


def test_reference_passes_where_one_forms_stop():
    board = nh.systems.snakeboard()
    start = {"q0": [0, 0, 0.3, 0, 1.2], "h": 0.1, "steps": 40}
    v0 = board.by_fields().X(start["q0"]) @ [0.5, 0.3, 0.4]
    with pytest.raises(nh.IntegrationError, match="dependent"):
        nh.integrate(board, nh.Reference(), v0=v0, **start)
    true = nh.integrate(board.by_fields(), nh.Reference(), v0=v0, **start)
    assert true["phi"][-1] > 2 and np.ptp(true.energy()) < 1e-11


def test_the_stated_equations_hold():
    """X(q1)^T (p+ - p-) = 0 and v = X(q_alpha) u, evaluated from the run's rows alone."""
    s = nh.systems.snakeboard().by_fields()
    sol = nh.integrate(s, nh.DLA(0.3), [0, 0, 0.3, 0, 1.5], u0=[0.5, 0.3, 0.4], h=0.05, steps=50)
    impulse = np.einsum("kia,ki->ka", s.X(sol.q[1:-1]), sol.p[1:-1] - sol.p_minus[1:])
    middle = 0.7 * sol.q[:-1] + 0.3 * sol.q[1:]
    u = np.einsum("kai,ki->ka", np.linalg.pinv(s.X(middle)), sol.v_step)
    assert np.abs(impulse).max() < 1e-13
    assert np.abs(np.einsum("kia,ka->ki", s.X(middle), u) - sol.v_step).max() < 1e-13
    at_node = np.einsum("kai,ki->ka", np.linalg.pinv(s.X(sol.q[:-1])), sol.v_step)  # the control
    assert np.abs(np.einsum("kia,ka->ki", s.X(sol.q[:-1]), at_node) - sol.v_step).max() > 1e-4


def test_projector_of_fields(pair):
    forms, fields, q, _ = pair
    X, M = fields.X(q), fields.M(q)
    P = X @ np.linalg.inv(X.T @ M @ X) @ X.T @ M
    assert np.abs(fields.P(q) - P).max() < 1e-13
    assert np.abs(forms.P(q) - P).max() < 1e-13


# ------------------------------------------------------------------ geometry


def test_brackets_tell_what_two_forms_tell(pair):
    forms, fields, *_ = pair
    assert fields.is_holonomic() is forms.is_holonomic() is False
    assert nh.growth_vector(fields) == nh.growth_vector(forms)


def test_fields_whose_brackets_close():
    x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2
    sphere = nh.System((x, y, z), (vx, vy, vz), L, fields=[(-y, x, 0), (z, 0, -x)])
    assert sphere.is_holonomic() and nh.growth_vector(sphere) == [2]
    contact = nh.System((x, y, z), (vx, vy, vz), L, fields=[{x: 1, z: y}, {y: 1}])
    assert not contact.is_holonomic() and nh.growth_vector(contact) == [2, 3]


def test_linearisation_along_fields():
    sleigh = nh.systems.sleigh()
    at = [0.3, -0.2, 0.7], [np.cos(0.7), np.sin(0.7), 0]
    a, b = (nh.linearise(s, *at) for s in (sleigh, sleigh.by_fields()))
    assert a.state == b.state and np.abs(a.A - b.A).max() < 1e-13


def test_one_forms_are_derived_and_vanish_on_the_fields():
    robot = nh.systems.robot()
    only = nh.System(
        robot.q, robot.v, robot.L, fields=robot.printed_fields, parameters=robot.numbers
    )
    pairs = zip(only.constraints, robot.constraints, strict=True)
    assert [sp.simplify(a - b) for a, b in pairs] == [0, 0]
    assert only.by_forms().fields == () and only.by_forms().constraints == only.constraints
    a, b = (nh.Chaplygin(s, fibre=["x", "y"]) for s in (only, robot))
    start = {"q0": [0.1, 0.2], "v0": [1, 2], "h": 0.1, "steps": 10}
    a, b = (nh.integrate(s, nh.RDLA(), **start) for s in (a, b))
    assert np.abs(a.q - b.q).max() < 1e-13


@pytest.mark.parametrize("name", [*catalogue, *machines])
def test_fields_are_derived_from_one_forms(name):
    s = (catalogue | machines)[name]()
    if s.t is not None or s.holonomic or s.is_affine or hasattr(s, "group") or len(s.q) > 6:
        pytest.skip("not stated by one-forms A(q) v = 0 alone, or large")
    fields = s.by_fields()
    q = s.samples()[0]
    X = fields.X(q)
    assert X.shape[-1] == len(s.q) - s.m
    assert (np.linalg.matrix_rank(X) == X.shape[-1]).all()
    assert np.abs(s.A(q) @ X).max(initial=0) < 1e-12 * (1 + np.abs(X).max())


# ------------------------------------------------------------------ runs of all kinds


def test_all_ways_to_run_agree(tmp_path):
    s = nh.systems.snakeboard().by_fields()
    start = {"q0": [0, 0, 0.3, 0, 1.5], "h": 0.05, "steps": 40}
    for method in (nh.DLA(), nh.Projector(), nh.EDLA()):
        tolerance = 1e-9 if method == nh.EDLA() else 1e-13
        sol = nh.integrate(s, method, u0=[0.5, 0.3, 0.4], **start)
        fast = nh.integrate(s, method, u0=[0.5, 0.3, 0.4], backend="numba", **start)
        many = nh.ensemble(s, method, u0=[[0.5, 0.3, 0.4]] * 3, backend="numpy", **start)
        for other in (fast.q, many.q[1]):
            assert np.abs(sol.q - other).max() < tolerance
        half = nh.integrate(s, method, u0=[0.5, 0.3, 0.4], **start | {"steps": 15})
        assert (nh.integrate(half, steps=25).rows.array == sol.rows.array).all()
        sol.save(tmp_path / "run.npz")
        again = nh.load(tmp_path / "run.npz")
        assert again.system == s and (again.u == sol.u).all() and (again["u3"] == sol.u[:, 2]).all()
    assert nh.to_scipy(s).jac(0.0, np.concatenate([sol.q[3], sol.v_projected[3]])).shape == (10, 10)


def test_export_of_fields(tmp_path):
    s = nh.systems.snakeboard().by_fields()
    q0 = [0, 0, 0.3, 0, np.pi / 2]
    v0 = s.X(q0) @ [0.5, 0.3, 0.4]
    sol = nh.integrate(s, nh.DLA(), q0, v0, h=0.1, steps=5)
    space = {"__name__": "step"}
    exec(nh.export(s, nh.DLA(), tmp_path / "step.py", q0, v0, h=0.1).read_text(), space)
    last = list(space["march"](5))[-1]
    assert np.abs(np.array(last[1:6]) - sol.q[-1]).max() < 1e-14


def test_a_start_is_completed_where_forms_cannot():
    board = nh.systems.snakeboard()
    q0, given = [0, 0, 0.3, 0, np.pi / 2], {"vtheta": 0.5, "vpsi": 1, "vphi": 0.2}
    v = board.by_fields().complete(q0, **given)
    assert np.allclose(v, [0, 0, 0.5, 1, 0.2], atol=1e-14)
    with pytest.raises(ValueError, match="dependent"):
        board.complete(q0, **given)


# ------------------------------------------------------------------ what is refused


def free(**others):
    x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2
    return nh.System((x, y, z), (vx, vy, vz), L, **others)


x, y, z, vx, vy, vz, t = nh.symbols("x y z vx vy vz t")
CONTACT = [(1, 0, y), (0, 1, 0)]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"fields": CONTACT, "holonomic": [x**2 + y**2 - 1]}, "fields and holonomic"),
        ({"fields": CONTACT, "constraints": [vz - y * vx - 1]}, "b not zero"),
        ({"fields": CONTACT, "constraints": [vz - 2 * y * vx]}, "does not vanish on fields"),
        ({"fields": CONTACT, "constraints": [vz, vy]}, "leave 1 constraints, and 2"),
        ({"fields": [(1, 0, vy)]}, "contains vy"),
        ({"fields": [(1, 0, t)], "t": t}, "contains t"),
        ({"fields": [(1, 0)]}, "has 2 entries; give 3"),
        ({"fields": [{"w": 1}]}, "'w' is no coordinate"),
        ({"fields": [(1, 0, y), (x, 0, x * y)]}, "dependent: rank 1 of 2"),
        ({"fields": [(1, 0, 0)] * 4}, "4 fields on 3 coordinates"),
    ],
)
def test_refusals(others, words):
    with pytest.raises(ValueError, match=words):
        free(**others)


def test_loss_of_rank_is_named():
    s = free(fields=[(1, 0, y), (1, x, y)])
    with pytest.raises(ValueError, match="the fields are dependent at q = "):
        nh.integrate(s, nh.DLA(), [0, 1, 0], [0, 1, 0], h=0.1, steps=3)
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):  # a node lies at x = 0
        with pytest.raises(nh.IntegrationError, match="fields become dependent near x = "):
            nh.integrate(s, method, [1, 0, 0], [-1, 0, 0], h=0.1, steps=20)


def test_what_is_stated_for_one_forms_says_so():
    s = free(fields=CONTACT)
    start = {"q0": [0, 1, 0], "h": 0.1, "steps": 3}
    for method in (nh.DiscreteGradient(), nh.Reversible(), nh.Composition(nh.DLA())):
        with pytest.raises(ValueError, match="by_forms"):
            nh.integrate(s, method, v0=[1, 0, 1], **start)
        nh.integrate(s.by_forms(), method, v0=[1, 0, 1], **start)
    sol = nh.integrate(s, nh.DLA(), u0=[1, 0], **start)
    for question in (
        nh.diagnostics.regularity,
        lambda run: nh.diagnostics.symplectic_change(run, 1),
    ):
        with pytest.raises(ValueError, match="by_forms"):
            question(sol)
    with pytest.raises(ValueError, match="every=1"):
        _ = nh.integrate(s, nh.DLA(), u0=[1, 0], **start | {"steps": 4, "every": 2}).lam
    with pytest.raises(ValueError, match="has none; give v0"):
        nh.integrate(s.by_forms(), nh.DLA(), u0=[1, 0], **start)
    with pytest.raises(ValueError, match="in the place of v0"):
        nh.integrate(s, nh.DLA(), v0=[1, 0, 1], u0=[1, 0], **start)
    with pytest.raises(ValueError, match="u0 has shape"):
        nh.integrate(s, nh.DLA(), u0=[1, 0, 0], **start)
    with pytest.raises(ValueError, match="differs from run to run"):
        robot = nh.systems.robot().by_fields()
        nh.ensemble(robot, nh.DLA(), u0=[1, 1], parameters={"R": [1, 2]}, h=0.1, steps=2)
