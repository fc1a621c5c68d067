"""Momentum maps and momentum equations, printed once more beside the library's.

The equations are evaluated with the slot derivatives of ``oracle`` and with generators and sections
written out here by hand; ``nh.Symmetry`` finds the sections itself.
"""

from functools import cache, partial
from itertools import product

import numpy as np
import oracle
import pytest
import sympy as sp
from particles import particle
from sympy import cos, sin

import nhlab as nh

S = nh.systems
x, y, z, u, t, r, vx, vy, vz, vu, vr = nh.symbols("x y z u t r vx vy vz vu vr")
theta, phi, vtheta, R = nh.symbols("theta phi vtheta R")


def se2(angle, **more):
    """Generators of the motions of the plane that turn ``angle`` as well, and name=coordinate."""
    plane = {"e1": {"x": 1}, "e2": {"y": 1}, "e3": {"x": -y, "y": x, angle: 1}}
    return plane | {name: {coordinate: 1} for name, coordinate in more.items()}


def valley():
    """The particle in a valley along x and z: translations there are a symmetry."""
    V = y**2 + y**4 / 4
    return particle("x y z", V, [vz - y * vx], "valley", (0, 0.2, 0), (1, 1, 0.2))


def carousel(omega=0.0, rows=(vz - u * (x * vx + y * vy),)):
    """Rotations of (x, y) lie in D; with omega only together with a shift of time in V."""
    V = (x**2 + y**2) ** 2 / 4 + (z**2 + u**2) / 2
    start = (1, 0, 0, 0.5), (0.3, 0.8, 0.15, 0.2)
    if not omega:
        return particle("x y z u", V, rows, "carousel", *start)
    V += (x * cos(omega * t) + y * sin(omega * t)) ** 2 / 2
    return particle("x y z u", V, rows, "carousel", *start, t=t)


def shaken():
    """The valley, its depth and its constraint changing in time."""
    V = (1 + cos(t) / 3) * (y**2 + y**4 / 4)
    return particle("x y z", V, [vz - shift * vx], "shaken", (0, 0.2, 0), (1, 1, 0.2), t=t)


def polar():
    """A free particle in polar coordinates, and z' = u x': translations act nonlinearly."""
    L = (vr**2 + r**2 * vtheta**2 + vz**2 + vu**2) / 2
    rows = [vz - u * (cos(theta) * vr - r * sin(theta) * vtheta)]
    start = {"q0": (1, 0.5, 0, 1), "v0": (cos(0.5), -sin(0.5), 1, 0.7)}
    return nh.System((r, theta, z, u), (vr, vtheta, vz, vu), L, rows, name="polar", **start)


def board_section(r):
    """FIM08 example 2, the rotor left alone."""
    a, b, c = r * cos(theta) * cos(phi), r * sin(theta) * cos(phi), -sin(phi)
    return a + c * y, b - c * x, c, 0


board = partial(S.snakeboard, m=1.3, J=0.7, J0=0.4, J1=0.3, r=0.8)
disk = partial(S.rolling_disk, m=1.3, R=0.8)
knife_edge = partial(S.knife_edge, slope=0.0)
shift, turn = y + sin(t) / 5, (y, -x, 1)
# name: (system, generators, sections of g^D by hand as coefficients of them)
SPACE = {
    "valley": (valley, [{x: 1}, {z: 1}], [(1, y)]),
    "free particle": (S.free_particle, [{x: 1}, {y: 1}, {z: 1}], [(1, 0, y), (0, 1, 0)]),
    "sleigh": (S.sleigh, se2("theta"), [(cos(theta), sin(theta), 0), turn]),
    "knife edge": (knife_edge, se2("phi"), [(cos(phi), sin(phi), 0), turn]),
    "disk": (disk, se2("phi", spin="theta"), [(0.8 * cos(phi), 0.8 * sin(phi), 0, 1), (*turn, 0)]),
    "robot": (S.robot, se2("theta"), [turn]),
    "snakeboard": (board, se2("theta", rotor="psi"), [board_section(0.8), (0, 0, 0, 1)]),
    "carousel": (carousel, {"spin": {x: -y, y: x}}, [(1,)]),
    "shaken": (shaken, [{x: 1}, {z: 1}], [(1, shift)]),
}
with_energy = [(1, y, 0), (0, 0, 1), (sin(x), y * sin(x), z)]
TIME = {  # time among the directions, or among the variables of the section
    "with energy": (valley, [{x: 1}, {z: 1}, {"t": 1}], with_energy),
    "turning": (lambda: carousel(0.7), [{"t": 1, x: -0.7 * y, y: 0.7 * x}], [(1,), (z,)]),
    "swept": (shaken, [{x: 1}, {z: 1}], [(1, shift), (t * cos(z), t * cos(z) * shift)]),
}
free_carousel = partial(carousel, 0.7, rows=())
TIME["turning freely"] = (free_carousel, *TIME["turning"][1:])
CASES = SPACE | TIME
# A wrong motion shows in these.  On the level plane knife edge, disk and robot run in circles at
# constant rates, and (24) holds for any motion that does.
TELLING = ["valley", "free particle", "sleigh", "snakeboard", "carousel", "shaken"]
VARYING = [name for name in TELLING if name != "carousel"]  # where the section is not constant
cases = pytest.mark.parametrize("case", SPACE)
telling = pytest.mark.parametrize("case", TELLING)
varying = pytest.mark.parametrize("case", VARYING)


@cache
def symmetry(case):
    make, generators, sections = CASES[case]
    return nh.Symmetry(make(), generators, sections if case in TIME else None)


@cache
def run(case, method, h=0.05, steps=60):
    return nh.integrate(symmetry(case).system, method, h=h, steps=steps)


def outside(case):
    """A section that does not lie in D."""
    return (1, *[2 + y] * (len(symmetry(case).names) - 1))


@cache
def by_hand(case, section=None):
    """Fields xi_Q, (..., k, n+1), and coefficients, (..., s, k), as functions of (t, q)."""
    system, (_, generators, sections) = symmetry(case).system, CASES[case]
    fields = generators.values() if isinstance(generators, dict) else generators
    fields = [{getattr(s, "name", s): e for s, e in field.items()} for field in fields]
    rows = [[field.get(s, 0) for s in (*map(str, system.q), "t")] for field in fields]
    at = (system.t or t, system.q)
    return oracle.numeric(at, rows), oracle.numeric(at, [section] if section else sections)


def printed(case, sol, section=None, method=None):
    """Left minus right side of CM01 (24) and C03 (7), and the right side; (N-1, s) each."""
    (fields, sections), t, q = by_hand(case, section), sol.t, sol.q
    Ld, step = oracle.discrete(sol.system, method or sol.method), (t[:-1], q[:-1], t[1:], q[1:])
    theta_plus = np.concatenate([Ld.D4(*step), Ld.D3(*step)[:, None]], -1)
    xi, c = fields(t, q), sections(t, q)
    J = np.einsum("ki,ksa,kai->ks", theta_plus, c[1:], xi[1:])
    right = np.einsum("ki,ksa,kai->ks", theta_plus[1:], c[2:] - c[1:-1], xi[2:])
    return np.diff(J, axis=0) - right, right


def tolerance(case, sol):
    """Round-off of momentum and, where steps vary, of energy, times the largest coefficients."""
    fields, sections = by_hand(case)
    size = np.abs(sections(sol.t, sol.q)).sum(-1).max() * np.abs(fields(sol.t, sol.q)).max()
    energy = np.abs(sol.v_step).max() if sol.method.variable_step else 0
    return oracle.roundoff(sol) * size * (1 + energy)


def spread(values):
    return np.abs(values - values[0]).max(0)


@cases
def test_sections_span_what_one_finds_by_hand(case):
    sym, sections = symmetry(case), by_hand(case)[1]
    rng = np.random.default_rng(3)
    q, time = rng.uniform(0.2, 1.2, (20, len(sym.system.q))), rng.uniform(0, 2, 20)
    rows = sp.Matrix(sym.sections).subs(oracle.numbers(sym.system)).tolist()
    found = oracle.numeric((sym.system.t or t, sym.system.q), rows)(time, q)
    assert len(sym.sections) == sym.rank == len(CASES[case][2])

    def ranks(*more):
        return set(np.linalg.matrix_rank(np.concatenate([found, *more], 1), 1e-10))

    assert ranks() == ranks(sections(time, q)) == {sym.rank}
    if case != "carousel":
        assert ranks(by_hand(case, outside(case))[1](time, q)) == {sym.rank + 1}


def test_snakeboard_section_of_the_paper():
    """FIM08 example 2, found by the library with its sign, for any r."""
    sym = symmetry("snakeboard")
    r = next(s for s in sym.system.parameters if s.name == "r")
    gap = sp.Matrix(sym.sections[1]) - sp.Matrix(board_section(r))
    assert sp.simplify(gap) == sp.zeros(4, 1)


def test_horizontal_symmetries():
    found = {case: symmetry(case).horizontal for case in SPACE}
    some = {"free particle": ((0, 1, 0),), "snakeboard": ((0, 0, 0, 1),), "carousel": ((1,),)}
    assert found == dict.fromkeys(SPACE, ()) | some
    assert [case for case in SPACE if symmetry(case).is_horizontal] == ["carousel"]
    # combinations: with a coefficient that is no fraction, and with one that is a parameter
    slope = particle("x y z", rows=[vz - sp.sqrt(2) * vx])
    lines = np.array(nh.Symmetry(slope, [{x: 1}, {y: 1}, {z: 1}]).horizontal, float)
    assert np.abs(lines - [[0, 1, 0], [0.5**0.5, 0, 1]]).max() < 1e-12
    sym = nh.Symmetry(particle("x y z", rows=[vx - R * vz], parameters={R: 2.5}), [{x: 1}, {z: 1}])
    assert sym.horizontal == ((sp.Rational(5, 2), 1),)
    assert sym.set(R=1.5).horizontal == ((sp.Rational(3, 2), 1),)
    sym = nh.Symmetry(S.kepler(), [-y, x])  # without constraints all are
    assert sym.sections == sym.horizontal == ((1,),) and sym.names == ("-y d/dx + x d/dy",)


def test_vertical_symmetries_have_no_nonholonomic_momentum():
    sym = nh.Symmetry(S.robot(), [{"x": 1}, {"y": 1}])
    assert sym.is_vertical and sym.sections == () and sym.horizontal == ()
    assert not symmetry("robot").is_vertical
    sol = nh.integrate(sym.system, nh.DLA(), h=0.1, steps=5)
    assert np.array_equal(sym.J_d(sol), sol.p[1:, :2])
    for f in (sym.J_nh_d, sym.residual, sym.forcing, sym.continuous_residual):
        with pytest.raises(ValueError, match=r"no combination .*'d/dx', 'd/dy'.* lies in D"):
            f(sol)


def test_without_a_momentum_the_shifts_that_were_left_out_are_named():
    disk = S.rolling_disk()
    plane = [{"x": 1}, {"y": 1}]
    with pytest.raises(ValueError, match=r'add the shifts "theta": \{"theta": 1\}, which change'):
        nh.Symmetry(disk, plane).J_nh(disk.q0, disk.v0)
    assert len(nh.Symmetry(disk, [*plane, {"theta": 1}]).sections) == 1
    robot = S.robot()  # its potential depends on the angle of the wheels
    with pytest.raises(ValueError, match="no nonholonomic momentum; see J and J_d"):
        nh.Symmetry(robot, plane).J_nh(robot.q0, robot.v0)


def random_states(system, count=50):
    rng = np.random.default_rng(7)
    q, v = rng.uniform(-1, 1, (2, count, len(system.q)))
    t = rng.uniform(0, 3, count)
    return q, system.project(q, v, t), t


@pytest.mark.ledger("CM01-5.1")
@telling
def test_momentum_equation_at_states(case):
    """(23) at any state; the constraint force does no work on sections of g^D, another one does."""
    sym = symmetry(case)
    s, (q, v, t) = sym.system, random_states(sym.system)
    assert np.abs(sym.continuous_residual(q, v, t)).max() < 1e-13
    a, here = s.acceleration(q, v, t), oracle.formulas(s)
    force = np.einsum("kai,ka->ki", here.A(t, q), s.multipliers(q, v, t))
    free = a - np.linalg.solve(here.M(t, q), force[..., None])[..., 0]
    assert np.abs(sym.continuous_residual(q, v, t, a=free)).max() < 1e-13
    pushed = a + np.array([1, 0.5, 0.3, 0.2, 0.1])[: len(s.v)]
    assert np.abs(sym.continuous_residual(q, v, t, a=pushed)).max() > 0.05
    if case in VARYING:  # a section outside D
        assert np.abs(sym.continuous_residual(q, v, t, section=outside(case))).max() > 0.05


def test_energy_is_minus_the_momentum_of_time():
    sym = symmetry("with energy")
    q, v, _ = random_states(sym.system)
    E = (v**2).sum(1) / 2 + q[:, 1] ** 2 + q[:, 1] ** 4 / 4
    assert np.abs(sym.J(q, v)[:, 2] + E).max() < 1e-14
    assert np.abs(sym.continuous_residual(q, v)).max() < 1e-13
    v[:, 2] += 0.5  # outside D the constraint force works
    assert np.abs(sym.continuous_residual(q, v)).max() > 0.01


def balance(case, sol, section=None):
    """max |J_nh(t) - J_nh(0) - integral of p.(d xi~/dt)_Q| by Boole's rule, and max |integral|."""
    system, (fields, sections) = sol.system, by_hand(case, section)
    q, v, time = system.q, system.v, system.t or t

    def along(e):
        return sp.diff(e, time) + sum(sp.diff(e, s) * w for s, w in zip(q, v, strict=True))

    table = sp.Matrix([section] if section else CASES[case][2])
    rates = oracle.numeric((time, q, v), table.applyfunc(along).tolist())(sol.t, sol.q, sol.v)
    p = oracle.formulas(system).L_v(sol.t, sol.q, sol.v)
    momenta = np.einsum("kai,ki->ka", fields(sol.t, sol.q)[..., :-1], p)
    J = np.einsum("ksa,ka->ks", sections(sol.t, sol.q), momenta)
    f = np.einsum("ksa,ka->ks", rates, momenta)
    boole = sum(f[k : len(f) - 4 + k : 4] * w for k, w in enumerate((7, 32, 12, 32, 7)))
    integral = np.cumsum(boole, 0) * 4 * sol.h[0] / 90
    return np.abs(J[4::4] - J[0] - integral).max(), np.abs(integral).max()


@pytest.mark.ledger("CM01-5.1")
@varying
def test_momentum_equation_along_the_motion(case):
    sol = run(case, nh.Reference(), 0.02, 80)
    gap, integral = balance(case, sol)
    assert gap < 1e-10 and integral > 1e-3
    assert balance(case, sol, outside(case))[0] > 1e-3
    assert np.abs(symmetry(case).continuous_residual(sol)).max() < 1e-13


@pytest.mark.ledger("CM01-5.1")
@pytest.mark.parametrize("case", ["free particle", "snakeboard", "carousel"])
def test_horizontal_symmetries_are_conserved(case):
    """Corollary 5.2; the other symmetries of these systems keep nothing."""
    sym, sol = symmetry(case), run(case, nh.Reference(), 0.05, 100)
    J, kept = sym.J_nh(sol.q, sol.v), len(sym.horizontal)
    assert spread(J[:, :kept]).max() < 1e-10
    if case != "carousel":
        assert spread(sym.J(sol.q, sol.v)).max() > 1e-2 and spread(J[:, kept:]).max() > 1e-3
    p = oracle.formulas(sym.system).L_v(sol.t, sol.q, sol.v)
    momenta = np.einsum("kai,ki->ka", by_hand(case)[0](sol.t, sol.q)[..., :-1], p)
    assert np.abs(sym.J(sol.q, sol.v) - momenta).max() < 1e-14


@pytest.mark.ledger("CM01-5.3", "FIM08-T2", "C03-P1")
@pytest.mark.parametrize(
    "case, method",
    [
        *product(SPACE, [nh.DLA(0.3), nh.Projector(0.2, True)]),
        *product(VARYING, [nh.DLA(), nh.Projector()]),
        *product(["sleigh", "shaken"], [nh.DLA(0.3, True, 0.1)]),
        *product(TIME, [nh.EDLA()]),
        ("swept", nh.EDLA(0.3, True)),
    ],
    ids=str,
)
def test_momentum_equation_of_discrete_methods(case, method):
    """CM01 (24) and, with time, C03 (7), as printed and as the library says; wd plays no part."""
    sym, sol = symmetry(case), run(case, method, steps=40 if case in TIME else 60)
    (gap, right), tol = printed(case, sol), tolerance(case, sol)
    assert np.abs(gap).max() < tol
    residual = sym.residual(sol)
    assert residual.shape == (len(sol) - 2, len(sym.sections)) and np.abs(residual).max() < tol
    assert np.abs(right).max() > 1e6 * tol or case not in [*VARYING, *TIME]


@pytest.mark.ledger("CM01-5.3", "FIM08-T2")
@pytest.mark.parametrize(
    "case, method",
    [*product(TELLING, [nh.RK4()]), *product(["valley", "sleigh"], [nh.Reference()])],
)
def test_runge_kutta_does_not_satisfy_it(case, method):
    """Nor does the true motion, which the equation discretises: both miss it by O(h^3)."""
    worst = []
    for h in (0.1, 0.05):
        sol = run(case, method, h, round(2 / h))
        gap, _ = printed(case, sol, method=nh.DLA())
        worst.append(np.abs(gap).max())
        assert worst[-1] > 1e-8
        assert np.abs(symmetry(case).residual(sol)).max() > 0.1 * worst[-1]
    assert np.log2(worst[0] / worst[1]) == pytest.approx(3, abs=0.2)


@pytest.mark.ledger("CM01-5.3", "FIM08-T2")
@varying
def test_sections_outside_D_do_not_satisfy_it(case):
    sym, section = symmetry(case), outside(case)
    for method in (nh.DLA(), nh.Projector()):
        sol = run(case, method)
        gap, _ = printed(case, sol, section)
        assert np.abs(gap).max() > 1e-3
        assert np.abs(sym.residual(sol, section=section) - gap).max() < 1e-12
    with pytest.raises(ValueError, match="does not lie in D"):
        nh.Symmetry(sym.system, CASES[case][1], section=section)


@pytest.mark.ledger("CM01-5.3")
def test_the_equation_of_one_rule_does_not_hold_for_another():
    sym, sol = symmetry("sleigh"), run("sleigh", nh.DLA(0.3))
    assert np.abs(sym.residual(sol)).max() < 1e-13
    assert np.abs(sym.residual(sol, method=nh.DLA(0.3))).max() < 1e-13  # from the positions
    assert np.abs(sym.residual(sol, method=nh.DLA(0.5))).max() > 1e-6


@pytest.mark.ledger("FIM08-T2", "CM01-5.3")
@pytest.mark.parametrize("method", [nh.Projector(), nh.DLA()], ids=repr)
def test_snakeboard_equation_as_printed(method):
    """FIM08 example 2, with the factor h of Ld: the terms with x and y of the section cancel."""
    sol, sym = run("snakeboard", method), symmetry("snakeboard")
    m, JJ, th, ph = 1.3, 0.7 + 2 * 0.3, sol.q[:, 2], sol.q[:, 4]
    a, b, c = 0.8 * np.cos(th) * np.cos(ph), 0.8 * np.sin(th) * np.cos(ph), -np.sin(ph)
    dx, dy, dth = np.diff(sol.q[:, :3], axis=0).T / 0.05
    J = m * a[1:] * dx + m * b[1:] * dy + JJ * c[1:] * dth
    da, db, dc = (np.diff(e)[1:] for e in (a, b, c))
    right, tol = m * da * dx[1:] + m * db * dy[1:] + JJ * dc * dth[1:], tolerance("snakeboard", sol)
    assert np.abs(np.diff(J) - right).max() < tol < 1e-6 * np.abs(right).max()
    assert np.abs(sym.J_nh_d(sol)[:, 1] - J).max() < 10 * tol
    assert np.abs(sym.forcing(sol)[:, 1] - right).max() < tol
    assert np.abs(np.diff(J) - right + JJ * dc * dth[1:]).max() > 1e3 * tol


@pytest.mark.ledger("CM01-5.4", "FIM08-C3")
@pytest.mark.parametrize(
    "method",
    [nh.DLA(0.3), nh.DLA(0.3, True, 0.1), nh.Projector(0.2, True), nh.EDLA(), nh.RK4()],
    ids=repr,
)
def test_horizontal_momentum_is_kept(method):
    """In a quartic potential Runge-Kutta loses it.  p_x, of no symmetry, is kept by none."""
    sol = run("carousel", method, 0.1, 500)
    J = symmetry("carousel").J_nh_d(sol)
    assert J.shape == (500, 1)
    kept = spread(J)[0]
    assert kept < 5e-14 if method.discrete else kept > 1e-4
    assert spread(sol.p[:, 0]) > 0.1
    spin = sol.q[:, 0] * sol.p[:, 1] - sol.q[:, 1] * sol.p[:, 0]
    assert np.abs(J[:, 0] - spin[1:]).max() < (1e-14 if method.discrete else 1e-2)


@pytest.mark.ledger("C03-P1")
@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=repr)
def test_fixed_steps_fail_its_time_component(method):
    sol, sym = run("with energy", method), symmetry("with energy")
    gap, _ = printed("with energy", sol, method=None if method.discrete else nh.DLA())
    worst = np.abs(gap).max(0)
    assert worst[0] < 1e-13 if method.discrete else worst[0] > 1e-6  # the section without time
    assert worst[1] > 1e-6 and worst[2] > 1e-6
    assert np.abs(sym.residual(sol) - gap).max() < 1e-12


@pytest.mark.ledger("C03-P1", "C03-noether")
def test_extended_horizontal_symmetries():
    """Corollary 1, for energy and for time together with a rotation; fixed steps lose them."""
    assert symmetry("turning").is_horizontal and symmetry("turning").horizontal == ((1,),)
    assert symmetry("with energy").horizontal == ((0, 0, 1),)
    for case, column in (("turning", 0), ("turning freely", 0), ("with energy", 2)):
        for method in (nh.EDLA(), nh.DLA()):
            sol = run(case, method, 0.05, 300)
            J, expected = symmetry(case).J_d(sol)[:, column], -sol.energy("midpoints")
            if case != "with energy":
                expected += 0.7 * (sol.q[:, 0] * sol.p[:, 1] - sol.q[:, 1] * sol.p[:, 0])[1:]
            assert np.abs(J - expected).max() < 1e-14
            assert spread(J) < 1e-13 if method.variable_step else spread(J) > 1e-5


@cases
@pytest.mark.parametrize("method", [nh.EDLA(0.3, True), nh.Projector(0.2, True)], ids=repr)
def test_the_symmetries_above(case, method):
    report = symmetry(case).check(method)
    assert not report.L and not report.Ld
    if case == "free particle":  # d/dy is horizontal, which needs no invariance of D
        assert list(report.D) == ["d/dy"] and "-vx" in report.D["d/dy"] and not report
        assert list(report.wd or ["d/dy"]) == ["d/dy"]
    else:
        assert report and not report.D and not report.wd
    assert (report.wd is None) == isinstance(method, nh.Projector)


def test_horizontal_but_not_an_invariance_of_D():
    """FIM08 corollary 3 needs Ld alone: p_y is kept.  The poster's theorems need D as well."""
    sym = nh.Symmetry(S.free_particle(), {"y": 1})
    report = sym.check(nh.DLA())
    assert sym.is_horizontal and not report.L and not report.Ld and report.D and report.wd
    assert repr(report).splitlines() == [
        "L is invariant",
        "D is not invariant under d/dy: it changes at the rate -vx",
        "Ld of DLA(alpha=0.5) is invariant",
        "wd of DLA(alpha=0.5) is not invariant under d/dy: it changes at the rate "
        + report.wd["d/dy"],
    ]
    sym.require("L", "Ld", method=nh.DLA())
    for what in (("D",), ()):
        with pytest.raises(ValueError, match=r"D is not invariant under d/dy: .* -vx"):
            sym.require(*what, method=nh.DLA())
    q, shift = np.array([[0.2, 0.3, 0.1], [0.3, 0.5, 0.14]]), np.array([0, 0.1, 0])
    Ld = oracle.discrete(sym.system, nh.DLA())
    assert abs(Ld.wd(0, q[0], 0.1, q[1])[0]) < 1e-15
    assert abs(Ld.wd(0, q[0] + shift, 0.1, q[1] + shift)[0]) > 1e-2
    assert Ld.Ld(0, *q[:1], 0.1, q[1]) == pytest.approx(Ld.Ld(0, q[0] + shift, 0.1, q[1] + shift))


def translate(q, s):
    """The finite translation along x of points in polar coordinates."""
    w = q[..., 0] * np.exp(1j * q[..., 1]) + s
    return np.stack([np.abs(w), np.angle(w), q[..., 2] + 0, q[..., 3]], -1)


@pytest.mark.ledger("CM01-5.3")
def test_invariance_of_L_and_D_is_not_enough():
    """Translations in polar coordinates: L and D are invariant, but Ld and wd are not, and the
    momentum equation fails.  Rotations, which are affine there, keep all of them."""
    along_x = {"r": cos(theta), "theta": -sin(theta) / r}
    sym = nh.Symmetry(polar(), {"x": along_x, "z": {"z": 1}})
    assert sym.sections == ((1, u),)
    report = sym.check(nh.DLA())
    assert not report.L and not report.D and list(report.Ld) == ["x"] and list(report.wd) == ["x"]
    with pytest.raises(ValueError, match="Ld of DLA"):
        sym.require(method=nh.DLA())
    assert sym.check()

    sol = nh.integrate(sym.system, nh.DLA(), h=0.05, steps=40)
    exact = nh.integrate(sym.system, nh.Reference(), h=0.05, steps=40)
    assert np.abs(sym.residual(sol)).max() > 1e-6
    assert np.abs(sym.continuous_residual(exact)).max() < 1e-13

    q, v = np.array([1, 0.5, 0, 1]), np.array([0.4, 0.3, 0.1, 0.2])
    Ld = oracle.discrete(sym.system, nh.DLA())
    ends = [(translate(q, s), translate(q + 0.1 * v, s)) for s in (0, 0.1)]
    before, after = (Ld.Ld(0, q0, 0.1, q1) for q0, q1 in ends)
    assert abs(after - before) > 1e-7
    turn = nh.Symmetry(nh.System(sym.system.q, sym.system.v, sym.system.L), {"theta": 1})
    assert turn.check(nh.Variational())


def test_invariance_depends_on_parameters():
    """The knife edge may be moved along the slope only, on a level plane anywhere."""
    sym = nh.Symmetry(S.knife_edge(), se2("phi"))
    report = sym.check(nh.DLA())
    assert set(report.L) == set(report.Ld) == {"e1", "e3"} and not report.D
    assert "sin(slope)" in report.L["e1"]
    assert sym.set(slope=0.0).check(nh.DLA())
    level = nh.integrate(sym.system.set(slope=0.0), nh.DLA(), h=0.1, steps=20)
    tilted = nh.integrate(sym.system, nh.DLA(), h=0.1, steps=20)
    assert np.abs(sym.residual(level)).max() < 1e-13 < 1e-2 < np.abs(sym.residual(tilted)).max()
    q, v = np.array(level.q[3]), np.array(level.v[3])
    heavy = sym.set(m=3.0)
    assert heavy.J(q, v)[1] == pytest.approx(3 * v[1]) and sym.J(q, v)[1] == pytest.approx(v[1])


def test_time_as_a_direction():
    sym = nh.Symmetry(S.driven(), {"t": 1})
    report = sym.check(nh.EDLA())
    assert report.L and report.D and report.Ld and report.wd
    assert nh.Symmetry(S.particle(), {"t": 1}).check(nh.EDLA())
    assert symmetry("turning").check(nh.EDLA())
    alone = nh.Symmetry(carousel(0.7), {x: -y, y: x}).check(nh.EDLA())
    assert alone.L and alone.Ld and not alone.D and not alone.wd
    # t -> e^s t, z -> e^s z leaves dz = t dx alone, and t_alpha is where it is taken
    growing = particle("x z", rows=[vz - t * vx], t=t)
    report = nh.Symmetry(growing, {"t": t, z: z}).check(nh.DLA(0.3))
    assert report.L and not report.D and not report.wd
    assert nh.Symmetry(growing, {"t": t}).check(nh.DLA(0.3)).wd
    # t -> e^(2s) t, x -> e^s x leaves dx^2/dt alone; without the change of t it does not
    free = particle("x", t=t)
    assert nh.Symmetry(free, {x: x, "t": 2 * t}).check(nh.EDLA(0.3))
    assert nh.Symmetry(free, {x: x}).check().L and nh.Symmetry(free, {"t": 2 * t}).check().L


def test_holonomic_constraints():
    system = S.spherical_pendulum()
    assert nh.Symmetry(system, [-y, x, 0]).check(nh.Variational())
    report = nh.Symmetry(system, [0, -z, y]).check()
    assert report.L and not report.D
    sym = nh.Symmetry(system, {"x": 1})
    assert sym.check().D and sym.is_vertical


def body(left):
    """A rigid body with omega_3 = 0 in the body (left) or in space."""
    g, omega = nh.symbols("g0 g1 g2 g3"), nh.symbols("w1 w2 w3")
    turn = nh.groups.SO3.matrix(g)
    w1, w2, w3 = omega
    D = w3 if left else (turn.row(2) * sp.Matrix(omega))[0]
    L = (w1**2 + 2 * w2**2 + 3 * w3**2) / 2 + w1 * w3 / 5
    start = {"g": g, "q0": (0.5, 0.5, 0.5, 0.5)}
    system = nh.GroupSystem(nh.groups.SO3, omega, L, [D], name="body", **start)
    return system, {f"J{i + 1}": list(turn.row(i)) for i in range(3)}


@pytest.mark.ledger("FIM08-T2", "CM01-5.3")
@pytest.mark.parametrize("left", [True, False])
def test_rotations_of_a_rigid_body(left):
    """Left translations by SO(3), in body velocities; xi_Q = R^T e_i."""
    system, generators = body(left)
    sym = nh.Symmetry(system, generators)
    report = sym.check(nh.DLA())
    assert not report.L and not report.Ld
    if left:
        assert report and sym.rank == 2 and sym.horizontal == ()
    else:  # rotations about the two free axes: horizontal, though they turn the third one
        assert sym.horizontal == ((1, 0, 0), (0, 1, 0)) and sym.is_horizontal
        assert list(report.D) == list(report.wd) == ["J1", "J2"]
    v0 = system.project(system.q0, [0.3, 0.5, 0.4])
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):
        sol = nh.integrate(system, method, system.q0, v0, h=0.1, steps=40)
        worst = np.abs(sym.residual(sol)).max()
        assert worst < 1e-14 if method.discrete else worst > 1e-7
        if method.discrete:
            assert spread(sym.J_d(sol)).max() > 1e-2  # J3 at least moves
            turn = nh.groups.SO3.matrix(sol.q)
            space = np.einsum("kij,kj->ki", turn[1:], sol.p[1:])
            assert sym.J_d(sol) == pytest.approx(space, abs=1e-14)
    q = np.random.default_rng(4).normal(size=(20, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    v = system.project(q, np.ones((20, 3)))
    assert np.abs(sym.continuous_residual(q, v)).max() < 1e-13
    assert np.abs(sym.continuous_residual(q, v, a=0 * v + [1, 2, 3])).max() > 0.1


def test_ways_to_give_generators():
    system = S.free_particle()
    expected = nh.Symmetry(system, [[1, 0, 0], [0, 0, 1]])
    for same in (
        [{x: 1}, {z: 1}],
        {"along x": {"x": 1}, "up": [0, 0, 1]},
        sp.Matrix([[1, 0, 0], [0, 0, 1]]).tolist(),
    ):
        assert nh.Symmetry(system, same).fields == expected.fields
    assert nh.Symmetry(system, {"a": {"x": 1}}).names == ("a",)
    # other symbols of the same name, and text, are taken for the system's
    loose = sp.symbols("x y")
    for field in ([-loose[1], loose[0], 0], ["-y", "x", 0], {"x": "-y", loose[1]: x}):
        assert nh.Symmetry(system, field).fields == ((-y, x, 0, 0),)
    assert nh.Symmetry(S.sleigh(), ["I", 0, 0]).fields[0][0] in S.sleigh().parameters
    assert nh.Symmetry(system, {y: 1, "t": 1}).fields == ((0, 1, 0, 1),)
    assert nh.Symmetry(shaken(), {t: 1}).fields == ((0, 0, 0, 1),)


@pytest.mark.parametrize(
    "generators, section, message",
    [
        ([1, 0], None, r"generators\[0\] has 2 components; give 3"),
        ([[1, 0, 0], [1, 0]], None, r"generators\[1\] has 2 components"),
        ({"a": {"w": 1}}, None, r"generators\['a'\]: 'w' is no direction here; there are \['x'"),
        ({"x": sp.Symbol("k")}, None, r"'k' in k is neither a coordinate nor"),
        ({"x": vx}, None, r"'vx' in vx is neither a coordinate nor"),
        ({"x": t}, None, r"'t' in t is neither"),
        ({"x": "1 +"}, None, "no scalar SymPy expression"),
        ([[x, 0, sp.Matrix([1])]], None, "no scalar SymPy expression"),
        ([], None, "generators is empty"),
        ([{x: 1}, {x: 1, z: 0}], None, r"\['d/dx', 'd/dx'\] are dependent"),
        ([{x: 1}, {y: 1}, {x: 2, y: -3}], None, "are dependent"),
        ({"x": 0}, None, "are dependent"),
        ({"x": sp.log(-y)}, None, "not finite at generic"),
        ([{x: 1}, {z: 1}], (1,), r"has 1 coefficients; give 2"),
        ([{x: 1}, {z: 1}], [(1, y), (1,)], r"has 1 coefficients; give 2"),
        ([{x: 1}, {z: 1}], (1, sp.Symbol("k")), "section: 'k' in k is neither"),
        ([{x: 1}, {z: 1}], (1, 2 * y), r"section = \(1, 2\*y\) does not lie in D: there .* is y"),
    ],
)
def test_bad_input(generators, section, message):
    with pytest.raises(ValueError, match=message):
        nh.Symmetry(S.free_particle(), generators, section)


def test_steps_that_cannot_be_tried():
    """Where no step with wd = 0 is found, nothing is said about wd."""
    wild = particle("x y z", rows=[vz - sp.exp(40 * sin(90 * y)) * vx])
    sym = nh.Symmetry(wild, {"x": 1})
    assert sym.check()
    with pytest.raises(ValueError, match="no generic steps"):
        sym.check(nh.DLA())


def test_rotations_of_the_plane_are_independent():
    """Three fields in two dimensions: dependent at each point, but not with constant factors."""
    sym = nh.Symmetry(particle("x y"), [{x: 1}, {y: 1}, {x: -y, y: x}])
    assert len(sym.horizontal) == 3 and sym.check(nh.Variational(0.2))


def test_bad_runs_and_methods():
    sym = symmetry("valley")
    sol = nh.integrate(sym.system, nh.DLA(), h=0.1, steps=20, every=2)
    assert sym.J_d(sol).shape == (10, 2)
    whole = nh.integrate(sym.system, nh.DLA(), h=0.1, steps=20)
    assert np.array_equal(sym.J_d(sol), sym.J_d(whole)[1::2])
    for f in (sym.residual, sym.forcing, lambda s: sym.J_d(s, method=nh.DLA(0.2))):
        with pytest.raises(ValueError, match=r"every = 2, .* integrate with every=1"):
            f(sol)
    with pytest.raises(ValueError, match=r"make a Symmetry of sol\.system"):
        sym.J_d(nh.integrate(S.particle(), nh.DLA(), h=0.1, steps=2))
    for f, text in (
        (lambda: sym.check(nh.RK4()), "has no discrete Lagrangian"),
        (lambda: sym.J_d(whole, method=nh.RK4()), "has no discrete Lagrangian"),
        (lambda: sym.require("E"), "'E' is unknown"),
        (lambda: sym.require("Ld"), "invariance of Ld needs a method"),
    ):
        with pytest.raises(ValueError, match=text):
            f()


def test_a_given_section_is_used():
    """Half the section has half the momentum; a function times it again satisfies (24)."""
    system, generators = valley(), CASES["valley"][1]
    sol = run("valley", nh.DLA())
    half = nh.Symmetry(system, generators, section=[sp.Rational(1, 2), y / 2])
    assert half.J_nh_d(sol) == pytest.approx(symmetry("valley").J_nh_d(sol) / 2, abs=1e-15)
    odd = nh.Symmetry(system, generators, section=[(1, y), (sin(x * z), y * sin(x * z))])
    assert odd.residual(sol).shape == (59, 2) and np.abs(odd.residual(sol)).max() < 1e-14
    assert np.abs(odd.forcing(sol)).max() > 1e-3


def test_sections_that_are_no_polynomials():
    """Then the null space is cleared of denominators."""
    system = particle("x y z", rows=[sp.exp(y) * vz - sp.sqrt(1 + y**2) * vx])
    (section,) = nh.Symmetry(system, [{x: 1}, {z: 1}]).sections
    assert sp.simplify(section[1] / section[0] - sp.sqrt(1 + y**2) * sp.exp(-y)) == 0


def test_display():
    sym = symmetry("snakeboard")
    assert repr(sym) == "<Symmetry of snakeboard: e1, e2, e3, rotor>"
    latex = sym._repr_latex_()
    assert r"(\xi_{3})_Q &= - y\,\partial_{x} + x\,\partial_{y} + \partial_{\theta}" in latex
    assert r"(\tilde\xi_{1})_Q &= \partial_{\psi}" in latex
    assert r"\partial_{t}" in symmetry("with energy")._repr_latex_()
    assert r"\tilde" not in nh.Symmetry(S.robot(), {"x": 1})._repr_latex_()


# ---------------------------------------------------------------------------- forces


EUCLID = {"x": {"x": 1}, "y": {"y": 1}, "turn": {"x": "-y", "y": "x", "theta": 1}}


def pushed_sleigh():
    """The sleigh with drag, a motor u and a torque that depends on the place."""
    s, u = nh.systems.sleigh(), nh.symbols("u")
    (x, y, theta), v = s.q, s.v
    push = (u * sp.cos(theta) - v[0], u * sp.sin(theta) - x * v[1], sp.sin(y) - v[2])
    return s.replace(forces=push)


@pytest.mark.parametrize("method", [nh.DLA(0.3), nh.Projector(), nh.DLA(0.3, True)], ids=repr)
def test_momentum_equation_with_forces(method):
    """The impulses of the forces along the section are part of it, those of an input too."""
    s = pushed_sleigh()
    symmetry, values = nh.Symmetry(s, EUCLID), np.cos(np.arange(40) / 5)
    assert symmetry.check(method)  # forces are none of L, D, Ld, wd
    sol = nh.integrate(s, method, h=0.05, steps=40, inputs={"u": values})
    assert np.abs(symmetry.residual(sol)).max() < 1e-14
    assert np.abs(symmetry.continuous_residual(sol)).max() < 1e-13
    free = nh.Symmetry(nh.systems.sleigh(), EUCLID)
    alone = nh.Trajectory(free.system, method, sol.rows.array, t0=0, h=0.05)
    assert np.abs(free.residual(alone)).max() > 1e-2  # without them it does not hold


def test_momentum_equation_of_a_true_motion_with_forces():
    s = pushed_sleigh().set(u=0.4)
    gaps = []
    for h in (0.1, 0.05):
        sol = nh.integrate(s, nh.Reference(), h=h, steps=round(2 / h))
        gaps.append(np.abs(nh.Symmetry(s, EUCLID).residual(sol)).max())
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(3, abs=0.3)


def test_energy_equation_with_forces():
    """Along t: EDLA's energy changes by the work, DLA's by more."""
    s = nh.systems.particle()
    s = s.replace(forces=[-s.v[0] / 3, -s.v[1] * s.q[0], 0])
    time = nh.Symmetry(s, {"time": {"t": 1}})
    assert time.check(nh.EDLA())
    edla, dla = (nh.integrate(s, m, h=0.05, steps=40) for m in (nh.EDLA(), nh.DLA()))
    assert np.abs(time.residual(edla)).max() < 1e-13 < 1e-5 < np.abs(time.residual(dla)).max()
    with pytest.raises(ValueError, match="is a law without forces"):
        nh.diagnostics.symplectic_change(dla, 2)
