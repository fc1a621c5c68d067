"""What lesson 03b adds to the statements of FIM08: zigzag, connection, preprint, metrics."""

from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.course.lessons import lesson_03b as lesson
from nhlab.mechanics.motion import motion_stage

S = nh.systems
NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "03b_projector_method_in_depth.ipynb"


def prose():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return " ".join(" ".join(c.source.split()) for c in cells if c.cell_type == "markdown")


def printed_output(*words):
    """The stored output of the cell whose code contains all the words."""
    cells = [c for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]
    (cell,) = (c for c in cells if all(word in c.source for word in words))
    return "".join(o.get("text", "") for o in cell.outputs)


# ---------------------------------------------------------------------------- the sleigh's errors


def test_the_lesson_tells_both_sides_of_the_sleighs_errors():
    """The table has the errors before and after the loop, and the summary both comparisons."""
    text = printed_output("(60, 80, 105, 180)")
    for row in ("   60  4.131e-03  1.214e-02", "  180  2.732e-01  1.780e-02"):
        assert row in text
    said, ratios = prose(), lesson.sleigh_ratios(60, 105, 150)
    assert "it is three times as accurate as midpoint DLA." not in said
    assert "three times as accurate as midpoint DLA up to the loop" in said
    early, late, last = np.median(ratios, 0)
    assert (
        f"median of the ratio is {early:.2g} at $t=60$, {late:.2g} at 105, {last:.2g} at 150"
        in said
    )


# ---------------------------------------------------------------------------- the zigzag

Q0 = np.array([0.1, -0.2, 0.3, 0.4, 0.5])


def board_and_start():
    board = S.snakeboard().set(m=1.3, J=0.9, J0=0.7, J1=0.4, r=1.2)
    return board, Q0, board.P(Q0) @ [0.7, 0.3, -0.2, 0.6, 0.11]


def normal_speed(sol):
    """The size of the normal part Q v of each velocity, measured with M, (N+1,)."""
    normal = np.einsum("kij,kj->ki", sol.system.Q(sol.q), sol.v)
    return np.sqrt(np.einsum("ki,kij,kj->k", normal, sol.system.M(sol.q), normal))


def test_the_snakeboards_normal_velocity_grows_at_exact_energy():
    """By the projector method, from 0.016 to 0.89 of a velocity of 1.02; DLA's stays."""
    board, q0, v0 = board_and_start()
    runs = [nh.integrate(board, m, q0, v0, h=0.1, steps=2000) for m in (nh.Projector(), nh.DLA())]
    (early, late), dla = ((n[:200].max(), n[-200:].max()) for n in map(normal_speed, runs))
    assert (early, late) == pytest.approx((0.0158, 0.886), rel=0.01)
    assert dla == pytest.approx((0.0159, 0.0159), rel=0.01)
    fine = nh.integrate(board, nh.Projector(), q0, v0, h=0.05, steps=4000)  # it comes later
    normal = normal_speed(fine)
    assert normal[fine.t < 70].max() < 0.02 and normal.max() > 0.8
    energy = runs[0].energy()
    assert np.ptp(energy) < 1e-9 and np.sqrt(2 * energy[0]) == pytest.approx(1.0235, abs=1e-4)


def test_the_printed_step_has_the_same_zigzag():
    """The growth belongs to the method: the printed Q, smooth where our one-forms degenerate, has
    it as well, and its energy is exact to 1e-12."""
    board, q0, v0 = board_and_start()
    Q = sp.lambdify(board.q, lesson.printed(board)[2].subs(board.parameters))
    M, q = board.M(q0), [*nh.integrate(board, nh.Projector(), q0, v0, h=0.1, steps=1).q]
    normal, energy = [], []
    for _ in range(2000):
        v, here = (q[-1] - q[-2]) / 0.1, Q(*q[-1])
        normal.append(np.sqrt((here @ v) @ M @ (here @ v)))
        energy.append(v @ M @ v / 2)
        q.append(q[-1] + (np.eye(5) - 2 * np.linalg.solve(M, here.T @ M)) @ (q[-1] - q[-2]))
    assert max(normal[:200]) < 0.02 and max(normal[-200:]) > 0.8
    assert np.ptp(energy) < 1e-12


def test_the_lesson_shows_the_snakeboards_zigzag():
    text, said = printed_output("normal_speed", "nh.DLA()"), prose()
    assert "0.016" in text and "0.886" in text
    assert "On most motions it stays small" not in said


# ---------------------------------------------------------------------------- for geometers


@pytest.mark.ledger("FIM08-connection")
@pytest.mark.parametrize("make", [S.sleigh, S.particle])
def test_the_constrained_connection_gives_the_librarys_equations(make):
    """Symbolically: q'' by Christoffel symbols and nabla Q, put into the equations that the library
    solves, leaves a multiple of A^T, that is nothing along D, and keeps the constraint."""
    s, let = make(), []
    n, a = len(s.q), lesson.connection_acceleration(s)
    stage = motion_stage(s, sp.Symbol("t"), s.q, s.v, let)
    assert not let  # nothing is abbreviated
    D = sp.Matrix.hstack(*sp.Matrix(s.symbolic.A).nullspace())
    v = D * sp.Matrix(sp.symbols(f"w:{D.shape[1]}"))
    inside = dict(zip(s.v, v, strict=True))

    def residual(acceleration):
        values = [*acceleration, *[0] * s.m]
        solved = dict(zip(stage.unknowns, values, strict=True))
        rows = sp.Matrix([e.xreplace(solved).subs(inside) for e in stage.equations])
        return [sp.simplify(e) for e in (*(D.T * rows[:n, :]), *rows[n:, :])]

    assert not any(residual(a))
    free = lesson.connection_acceleration(s.replace(constraints=[]))  # witness: Levi-Civita alone
    assert any(residual(free))


@pytest.mark.ledger("FIM08-connection")
def test_the_constrained_connection_with_a_potential_and_a_metric_that_varies():
    sleigh = S.sleigh()
    x, _, theta = sleigh.q
    s, rng = sleigh.replace(L=sleigh.L - x**2 - sp.sin(theta)), np.random.default_rng(3)
    formula = sp.lambdify((s.q, s.v), lesson.connection_acceleration(s).xreplace(s.parameters))
    for _ in range(10):
        q = rng.uniform(-2, 2, 3)
        v = s.P(q) @ rng.uniform(-1, 1, 3)
        assert np.ravel(formula(q, v)) == pytest.approx(s.acceleration(q, v), abs=1e-13)


@pytest.mark.ledger("FIM08-E2b")
@pytest.mark.parametrize("method", [nh.Projector(), nh.DLA()], ids=str)
def test_the_snakeboard_of_the_preprint(method):
    """phi from the x-axis: the same motion if L is written for that angle; the printed L, which is
    the journal's, belongs to another motion."""
    board, q0, v0 = board_and_start()
    sol = nh.integrate(board, method, q0, v0, h=0.1, steps=60)
    start = lesson.from_x_axis(q0), lesson.from_x_axis(v0)
    gaps = []
    for adapted in (True, False):
        other = lesson.preprint_snakeboard(board, adapted)
        run = nh.integrate(other, method, *start, h=0.1, steps=60)
        gaps.append(np.abs(run.q - lesson.from_x_axis(sol.q)).max())
    assert gaps[0] < 1e-12 and gaps[1] > 1


@pytest.mark.ledger("FIM08-E2b")
def test_the_preprints_distribution_is_the_journals():
    """Its printed a, b, c span the same D, after the change of the angle."""
    board = S.snakeboard()
    other = lesson.preprint_snakeboard(board, adapted=True)
    _, _, _, _, r = other.parameters
    _, _, theta, _, phi = other.q
    a, b = (r * f(theta) * sp.cos(theta - phi) for f in (sp.cos, sp.sin))
    field = sp.Matrix([a, b, sp.sin(theta - phi), 0, 0])
    assert sp.simplify(sp.Matrix(other.symbolic.A) * field).is_zero_matrix
    D = lesson.printed(board)[0][:, 0]
    assert sp.simplify(D.subs(phi, phi - theta) - field).is_zero_matrix


# ---------------------------------------------------------------------------- indefinite metrics


def light_particle():
    """The free particle with the Lorentzian metric diag(1, 1, -1), which is bi-invariant on R^3."""
    particle = S.free_particle()
    vx, vy, vz = particle.v
    return particle.replace(L=(vx**2 + vy**2 - vz**2) / 2)


@pytest.mark.ledger("FIM08-T1b")
def test_theorem_1_for_an_indefinite_metric_until_D_becomes_null():
    """The energy is kept to round-off as long as D has a complement; at y = 1, where the metric is
    degenerate on D, the run is refused.  DLA is the witness."""
    light, start = light_particle(), ([0, 0, 0], [1, 0.25, 0])
    assert not light.is_definite
    with pytest.raises(nh.IntegrationError) as stop:
        nh.integrate(light, nh.Projector(), *start, h=0.125, steps=40)
    sol = stop.value.trajectory
    assert sol.q[-1, 1] == 1.0 and "singular" in str(stop.value)
    energy, size = sol.energy(), (sol.p**2).sum(1).max()  # of the terms that cancel in the energy
    assert size > 10 and np.ptp(energy) < 1e-15 * size
    dla = nh.integrate(light, nh.DLA(), *start, h=0.125, steps=28).energy()
    assert np.ptp(dla) > 1e-4


@pytest.mark.ledger("FIM08-T1b")
def test_no_true_motion_leads_past_the_null_distribution():
    """vx = 1/sqrt(1 - y^2) along the true motion: its speed is infinite at y = 1, and nodes that
    step over that place keep the energy where there is no motion."""
    light = light_particle()
    true = nh.integrate(light, nh.Reference(), [0, 0, 0], [1, 0.25, 0], h=0.1, steps=38)
    y = true.q[:, 1]
    np.testing.assert_allclose(true.v[:, 0], 1 / np.sqrt(1 - y**2), rtol=1e-8)
    over = nh.integrate(light, nh.Projector(), [0, 0, 0], [1, 0.1, 0], h=0.07, steps=200)
    assert over.q[-1, 1] > 1.3 and np.ptp(over.energy()) < 1e-12
