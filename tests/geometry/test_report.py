"""Reports: true of systems that are known, never raised, and with a line for what is wrong."""

import numpy as np
import pytest
from sympy import cos, log, sin

import nhlab as nh
from nhlab.geometry.search import find_symmetries

x, y, z, theta, vx, vy, vz, vtheta = nh.symbols("x y z theta vx vy vz vtheta")
EVERY = nh.systems.catalogue | nh.systems.machines | nh.systems.on_groups
CHECKS = ["true motion", "integrability", "rank", "mass matrix", "energy balance", "momentum"]
CHECKS.append("orders")


def line(report, check):
    return next(x for x in report.lines if x.check == check)


@pytest.mark.parametrize(
    "name",
    ["particle", "driven", "sleigh", "kepler", "spherical_pendulum", "nonreversible"]
    + ["suslov", "sleigh_se2", "rubber_ball", "rigid_body", "roller_racer"],
)
def test_report_finds_nothing_wrong_with_known_systems(name):
    report = nh.report(EVERY[name]())
    assert [x.check for x in report.lines] == CHECKS
    assert report.good, report
    assert all(x.blind.endswith(".") and x.finding for x in report.lines)


def test_report_reads_as_text_and_as_a_table():
    report = nh.report(nh.systems.free_particle())
    text, table = str(report), report._repr_html_()
    assert repr(report) == text
    assert text.count("cannot see: ") == 7 and text.startswith("free particle: 3 velocities")
    assert table.count("<tr>") == 8 and "cannot see" in table and "&lt;" not in table
    assert "momenta kept" in text and "d/dx - z d/dy + y d/dz, d/dy" in text


def test_integrable_constraints_are_named():
    s = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2, [x * vx + y * vy], q0=[1, 0], v0=[0, 1])
    report = nh.report(s)
    found = line(report, "integrability")
    assert found.good is False and "holonomic" in found.finding and not report.good


def test_wrong_start_is_refused_once():
    """Not once in each line of the report; of the system's own start the report tells."""
    with pytest.raises(ValueError, match=r"v0 = .* violates the constraints"):
        nh.report(nh.systems.sleigh(), [0, 0, 0], [0, 1, 0])
    own = nh.systems.sleigh().replace(v0=(0, 1, 0))
    found = line(nh.report(own), "true motion")
    assert found.good is False and "v0" in found.finding


def test_a_start_by_names():
    s = nh.systems.particle()
    by_name = nh.report(s, {"y": 1}, {"vx": 1, "vy": 1, "vz": 1}, T=2)
    assert str(by_name) == str(nh.report(s, [0, 1, 0], [1, 1, 1], T=2))
    with pytest.raises(ValueError, match=r"q0: 'yy' is none of .* did you mean 'y'"):
        nh.report(s, {"yy": 1}, {"vx": 1})


def test_system_without_a_start_is_tried_from_a_generic_one():
    L = (vx**2 + vy**2 + vz**2) / 2 - z
    report = nh.report(nh.System((x, y, z), (vx, vy, vz), L, holonomic=[x**2 + y**2 + z**2 - 1]))
    assert report.good, report


def test_indefinite_mass_matrix_and_loss_of_rank_are_seen():
    L = (vx**2 - vy**2) / 2
    assert line(nh.report(nh.System((x, y), (vx, vy), L)), "mass matrix").good is False
    found = nh.report(nh.systems.snakeboard(), T=40)
    assert "dependent" in line(found, "true motion").finding and not found.good


def test_energy_that_a_changing_mass_feeds_in_is_accounted_for():
    t = nh.symbols("t")
    L = (2 + cos(t)) * (vx**2 + vy**2) / 2 - x**2
    s = nh.System((x, y), (vx, vy), L, [vy - x * vx], t=t, q0=[1, 0], v0=[0, 0])
    found = line(nh.report(s), "energy balance")
    assert found.good is True and "-dL/dt" in found.finding


def names(symmetry):
    return [] if symmetry is None else [*symmetry.names]


@pytest.mark.parametrize(
    ("name", "group", "in_D", "conserved"),
    [
        ("particle", ["d/dz"], 0, []),
        ("robot", ["-y d/dx + x d/dy + d/dtheta", "d/dx", "d/dy"], 1, ["d/dtheta"]),
        ("kepler", ["-y d/dx + x d/dy"], 1, ["-y d/dx + x d/dy"]),
        ("spherical_pendulum", ["-y d/dx + x d/dy"], 1, ["-y d/dx + x d/dy"]),
        ("quartic", [], 0, []),
        ("rattleback", ["-y d/dx + x d/dy + d/dyaw", "d/dx", "d/dy"], 1, []),
    ],
)
def test_symmetries_are_found(name, group, in_D, conserved):
    found, kept = find_symmetries(EVERY[name]())
    assert names(found) == group and names(kept) == conserved
    assert (found.rank if found else 0) == in_D


def test_found_symmetries_are_symmetries_and_their_sections_those_of_the_momentum_equations():
    s = nh.systems.snakeboard()
    found, kept = find_symmetries(s)
    assert found.check() and found.rank == 2
    sol = nh.integrate(s, nh.Reference(), h=0.05, steps=100)
    assert np.ptp(kept.J(sol.q, sol.v), axis=0).max() < 1e-9 < np.ptp(found.J(sol.q, sol.v))


def test_symmetries_that_hold_at_one_time_alone_are_none():
    t = nh.symbols("t")
    s = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 - (t - 0.7) * x, t=t)
    assert names(find_symmetries(s)[0]) == ["d/dy"]


def test_symmetries_where_L_is_not_defined_everywhere():
    s = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 + log(1 - x), q0=[0, 0], v0=[0, 1])
    assert names(find_symmetries(s)[0]) == ["d/dy"]


def test_a_symmetry_that_a_parameter_breaks_is_not_found():
    k = nh.symbols("k")
    L = (vx**2 + vy**2 + vtheta**2) / 2 - k * x**2
    s = nh.System(
        (x, y, theta), (vx, vy, vtheta), L, [vx * sin(theta) - vy * cos(theta)],
        parameters={"k": 1e-4},
    )  # fmt: skip
    assert names(find_symmetries(s)[0]) == ["d/dy"]
    assert len(names(find_symmetries(s.set(k=0))[0])) == 3


def test_bad_arguments_are_refused():
    for T in (0, -1.0, np.nan, "long"):
        with pytest.raises(ValueError, match=r"^T = "):
            nh.report(nh.systems.sleigh(), T=T)
    with pytest.raises(ValueError, match=r"is no nh\.System"):
        nh.report(nh.systems.sleigh)


def test_forces_are_part_of_the_balances_and_inputs_are_taken_as_zero():
    u, c = nh.symbols("u c")
    L = (vx**2 + vy**2) / 2 - x**2
    forces = {"x": u - c * vx, "y": -c * vy}
    s = nh.System((x, y), (vx, vy), L, forces=forces, parameters={"c": 0.3}, q0=[1, 0], v0=[0, 1])
    report = nh.report(s)
    assert report.good and "at 0: the inputs u" in str(report), report
    assert "the power F.v" in line(report, "energy balance").finding
    assert "changed by F alone" in line(report, "momentum").finding
    assert "d/dy" in line(report, "momentum").finding


def test_fields_are_reported_where_constraints_lose_rank():
    """The snakeboard through phi = pi/2; and a field that vanishes on the way."""
    board = nh.systems.snakeboard()
    fields, q0 = board.by_fields(), np.array([0, 0, 0, 0, np.pi / 2 - 1])
    v0 = fields.X(q0) @ [0.7, 0.5, 1.0]
    by_fields, by_forms = nh.report(fields, q0, v0), nh.report(board, q0, v0)
    assert by_fields.good, by_fields
    assert "3 of 3 along the motion" in line(by_fields, "rank").finding
    assert "scaled fields is 1," in line(by_fields, "rank").finding
    assert "forms become dependent" in line(by_forms, "true motion").finding
    assert line(by_forms, "momentum") == line(by_fields, "momentum")
    field = {x: x - 1, y: 1 - x}  # zero at x = 1, where the motion goes
    s = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2, fields=[field], q0=[0, 0], v0=[1, -1])
    found = line(nh.report(s), "rank")
    assert found.good is False and "scaled fields is 0" in found.finding


def test_orders_of_a_motion_that_rests_are_not_called_wrong():
    """An open sleigh at rest is a good model of which this start shows nothing."""
    rest = nh.report(nh.systems.sleigh(), {}, {})
    assert all(line.good is not False for line in rest.lines), str(rest)
    assert "nothing moves from this start" in str(rest)
