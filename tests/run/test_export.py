"""Out of nhlab: steps as programs in Python, C and JavaScript, and the motion for SciPy."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import nhlab as nh

STEPS = 40
PAIRS = [
    ("particle", nh.DLA(0.4)),
    ("robot", nh.Projector()),
    ("sleigh", nh.EDLA()),
    ("driven", nh.RK4()),
    ("suslov", nh.DLA()),
    ("spherical_pendulum", nh.Reversible()),
    ("kepler", nh.Composition(nh.Variational())),
    ("particle", nh.DiscreteGradient()),
]


def program(kind, tmp_path):
    """A function path -> the command that runs a program."""
    if kind == "py":
        return lambda path: [sys.executable, str(path)]
    if kind == "js":
        node = shutil.which("node") or pytest.skip("there is no node")
        return lambda path: [node, str(path)]
    gcc = shutil.which("gcc") or shutil.which("cc") or pytest.skip("there is no C compiler")

    def compiled(path):
        out = str(tmp_path / "step")
        flags = ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Werror"]
        subprocess.run([gcc, *flags, str(path), "-lm", "-o", out], check=True)
        return [out]

    return compiled


@pytest.mark.parametrize("kind", ["py", "c", "js"])
@pytest.mark.parametrize("name, method", PAIRS, ids=str)
def test_a_program_goes_as_the_library_does(name, method, kind, tmp_path):
    system, command = getattr(nh.systems, name)(), program(kind, tmp_path)
    v0 = system.project(system.q0, system.v0) if name == "driven" else None
    q0 = None if v0 is None else system.q0
    path = nh.export(system, method, tmp_path / f"step.{kind}", q0, v0, h=0.05)
    first = int(method.variable_step)  # of EDLA the first step belongs to another method
    run = [*command(path), str(STEPS - first)]
    shown = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    rows = np.array([[float(x) for x in line.split()] for line in shown.splitlines()])
    sol = nh.integrate(system, method, q0, v0, h=0.05, steps=STEPS)
    bound = 1e-9 if method.variable_step else 1e-12  # EDLA's h multiplies the last digit of a sine
    np.testing.assert_allclose(rows[:, 0], sol.t[1 + first :], rtol=bound)
    carry = sol.rows.carry[1 + first :]
    scale = np.abs(carry).max(0) + 1e-3
    assert (np.abs(rows[:, 1:] - carry) / scale).max() < bound


def test_a_step_that_fails_says_so(tmp_path):
    x, vx = nh.symbols("x vx")
    cliff = nh.System([x], [vx], vx**2 / 2 - sp.sqrt(x), q0=[1], v0=[-3])
    path = nh.export(cliff, nh.RK4(), tmp_path / "step.c", h=1.0)
    run = [*program("c", tmp_path)(path), "5"]
    shown = subprocess.run(run, capture_output=True, text=True)
    assert shown.returncode == 1 and "no step from t = 0" in shown.stderr


def test_refusals(tmp_path):
    system = nh.systems.particle()
    for path, method, text in (
        ("step.f90", nh.DLA(), "must end in one of .py, .js, .c"),
        (3, nh.DLA(), "path = 3"),
        ("step.c", nh.Reference(), "export nh.RK4"),
    ):
        with pytest.raises(ValueError, match=text):
            nh.export(system, method, path if path == 3 else tmp_path / path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["particle", "snakeboard", "driven", "suslov", "kepler"])
def test_scipy_solves_the_same_motion(name):
    """fun against nh.Reference, jac against differences, an event against ours."""
    system = getattr(nh.systems, name)()
    v0 = system.project(system.q0, system.v0)
    problem, y0 = nh.to_scipy(system), np.concatenate([system.q0, v0])
    event = system.v[-1] - (0.9 if name == "kepler" else float(v0[-1]) + 1e-3)
    options = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
    found = solve_ivp(problem.fun, (0, 1), y0, events=problem.event(event), **options)
    true = nh.integrate(system, nh.Reference(), system.q0, v0, h=0.1, T=1, events=event)
    np.testing.assert_allclose(found.y[: len(system.q), -1], true.q[-1], atol=1e-10)
    ours, theirs = true.t_events[0], found.t_events[0]
    assert len(ours) == len(theirs[theirs > 0])
    np.testing.assert_allclose(ours, theirs[theirs > 0], atol=1e-9)
    y, e = y0 + 0.1 * np.cos(np.arange(len(y0))), 1e-6
    y[: len(system.q)] = np.stack(system.normalise(y[: len(system.q)]))
    columns = [(problem.fun(0.3, y + e * d) - problem.fun(0.3, y - e * d)) / (2 * e)
               for d in np.eye(len(y))]  # fmt: skip
    np.testing.assert_allclose(problem.jac(0.3, y), np.array(columns).T, atol=1e-7)


def test_a_system_without_a_start_has_none():
    x, vx = nh.symbols("x vx")
    assert nh.to_scipy(nh.System([x], [vx], vx**2 / 2)).y0 is None
    with pytest.raises(ValueError, match="system = 3"):
        nh.to_scipy(3)


def test_a_program_starts_from_quasi_velocities(tmp_path):
    system = nh.systems.particle().by_fields()
    by_name = nh.export(system, nh.DLA(), tmp_path / "a.py", {"y": 1}, u0={"u1": 1}, h=0.1)
    by_velocity = nh.export(system, nh.DLA(), tmp_path / "b.py", [0, 1, 0], [1, 0, 1], h=0.1)
    assert by_name.read_text() == by_velocity.read_text()
