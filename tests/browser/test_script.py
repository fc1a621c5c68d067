"""Runs in JavaScript: starts, steps and readings of all systems and methods, against the library.

60 steps: what differs is round-off, and so short a run does not let it grow.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.browser.book import runtime
from nhlab.browser.script import literal, of_method, of_system
from nhlab.mechanics.velocities import complete_velocity, free_velocities
from nhlab.methods.method import relative_velocity_scales
from nhlab.run.explain import energy_jump, hidden_energy
from nhlab.view import plot

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")

METHODS = [
    nh.DLA(),
    nh.DLA(0.3, symmetric=True),
    nh.Projector(),
    nh.EDLA(),
    nh.RK4(),
    nh.Reference(),
]
OTHERS = [nh.Variational(), nh.DLA(0.4, constraint_alpha=0.0), nh.Projector(0.3, symmetric=True)]
OTHERS += [nh.Reversible(), nh.DiscreteGradient(), nh.Composition(), nh.EDLA(0.5, symmetric=True)]
OTHERS += [nh.EqualImpulses(), nh.Lobatto(), nh.Newmark(0, second_beta=0.25)]
NAMES = [*nh.systems.catalogue, *nh.systems.on_groups]
MANY = {name: METHODS[k % 2 :: 2] for k, name in enumerate(NAMES)}  # in turn
MANY |= {name: METHODS + OTHERS for name in ("particle", "kepler", "driven")}


def braked():
    """A sleigh with drag, on a belt that moves: forces and affine constraints."""
    sleigh, (x, y, theta) = nh.systems.sleigh(), nh.symbols("x y theta")
    vx, vy, _ = sleigh.v
    c = nh.symbols("c")
    forces, row = {x: -c * vx, y: -c * vy}, sleigh.constraints[0] - sp.sin(theta) / 3
    numbers = {**sleigh.parameters, c: 0.2}
    start = {"q0": [0, 0, 0.5], "v0": [1 / 3, 0, 0.7]}
    return sleigh.replace(
        constraints=[row], forces=forces, parameters=numbers, name="braked", **start
    )


def words():
    """A system whose names are words of JavaScript, or of the generated text."""
    q = new, let, h, lam_0 = nh.symbols("new let h lam_0")
    v = var, this, t, delete = nh.symbols("var this t delete")
    (function,) = nh.symbols(["function"])
    L = (
        (var**2 + this**2 + t**2 + delete**2) / 2
        - function * (new**2 + let**2 + h**4)
        + new * lam_0
    )
    start = {"q0": (0.1, 1, 0.2, 0.3), "v0": (1, 0.5, 1, -0.2)}
    parameters = {function: 0.7}
    return nh.System(q, v, L, [t - let * var], parameters=parameters, name="words", **start)


RUN = """
const found = runs.map(([system, methods]) => methods.map(([method, readings]) => {
    const run = integrate(method, new Call({systems: [system], T: 3}, {h: 0.05}));
    const q = system.q.map((_, j) => Array.from(run.column("q", j)));
    return {q, stop: run.stop, read: readings.map(x => read(run, x).map(y => Array.from(y)))};
}));
console.log(JSON.stringify(found));
"""


def treated(system, methods):
    for m in methods:
        try:
            m.check(system)
        except ValueError:
            continue
        yield m


def readings(system, method):
    """Names of all that can be read of a run."""
    every = [
        name for name in plot.READINGS if method.discrete or not plot.reading(name, system).discrete
    ]
    if not system.is_mechanical:
        every.remove("projected energy")
    coordinates = [f"t {x}" for x in system.q if str(x) != "t"]
    return (
        every + coordinates + [f"node constraint {k + 1}" for k in range(len(system.constraints))]
    )


@pytest.fixture(scope="module")
def found():
    """Everything computed by one node: (name, repr of the method) -> what it found."""
    systems = {name: getattr(nh.systems, name)() for name in MANY}
    systems |= {"braked": braked(), "words": words()}
    pairs = {name: list(treated(s, MANY.get(name, METHODS))) for name, s in systems.items()}
    script = []
    for name, s in systems.items():
        q0, v0 = (np.array(x, float) for x in (s.q0, s.v0))
        about = of_system(s, free_velocities(s, q0)) | {"q0": q0.tolist(), "v0": v0.tolist()}
        methods = [
            [of_method(s, m), [plot.reading(x, s).source for x in readings(s, m)]]
            for m in pairs[name]
        ]
        script.append([about, methods])
    text = f"{runtime()}\nconst runs = {literal(script)};{RUN}"
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert not run.stderr, run.stderr
    keys = [(s, m) for name, s in systems.items() for m in pairs[name]]
    return dict(zip([(s.name, repr(m)) for s, m in keys],
                    zip(keys, [x for some in json.loads(run.stdout) for x in some], strict=True),
                    strict=True))  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*NAMES, "braked", "words"])
def test_runs_and_readings_are_the_library_s(found, name):
    title = getattr(getattr(nh.systems, name, None), "title", name)
    own = [pair for (system, _), pair in found.items() if system == title]
    assert len(own) >= 2
    for (system, method), got in own:
        try:
            sol = nh.integrate(system, method, h=0.05, steps=60)
        except nh.IntegrationError as error:
            sol = error.trajectory
            assert got["stop"]["step"] == error.step
            assert got["stop"]["time"] == pytest.approx(error.time, rel=1e-9, abs=1e-9)
        else:
            assert got["stop"] is None
        assert np.array(got["q"]).T == pytest.approx(sol.q, rel=1e-9, abs=1e-9), method
        for reading, (x, y) in zip(readings(system, method), got["read"], strict=True):
            t, value = plot.reading(reading, system).read(sol)
            assert x == pytest.approx(t, rel=1e-9, abs=1e-9), (method, reading)
            if reading in plot.CONSTRAINTS:  # of two alike, round-off tells which is larger
                y, value = np.abs(y), np.abs(value)
            assert y == pytest.approx(value, rel=1e-9, abs=1e-9), (method, reading)


FOLLOWED = """
const [system, method] = given, T = 1.2, found = [];
for (const h of [0.05, 0.03, 0.07]) {
    const run = integrate(method, new Call({systems: [system], T}, {h}));
    found.push([h, Array.from(run.column("q")), run.stop]);
}
console.log(JSON.stringify(found));
"""


@pytest.mark.parametrize("depth", [1, 0], ids=["ends", "goes on"])
def test_the_true_motion_of_a_page_is_the_library_s_at_every_step(depth):
    """Towards a centre that attracts, which is reached at t = 1.11, or along a bowl."""
    x, vx = nh.symbols("x vx")
    L = vx**2 / 2 + (1 / x if depth else -(x**2))
    system = nh.System((x,), (vx,), L, q0=(1.0,), v0=(0.0,))
    about = of_system(system, [0]) | {"q0": [1.0], "v0": [0.0]}
    script = literal([about, of_method(system, nh.Reference())])
    text = f"{runtime()}\nconst given = {script};{FOLLOWED}"
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert not run.stderr, run.stderr
    found = json.loads(run.stdout)
    assert len(found) == 3
    for h, q, stop in found:
        try:
            sol = nh.integrate(system, nh.Reference(), h=h, steps=round(1.2 / h))
        except nh.IntegrationError as error:
            sol = error.trajectory
            assert depth and stop["step"] == error.step
        else:
            assert not depth and stop is None
        assert q == pytest.approx(sol.q[:, 0], rel=1e-9, abs=1e-9)


def test_pages_and_the_library_warn_of_the_same_energies():
    """The rule is one function: of arrays with an entry for each run, and of numbers in a page."""
    rng, given = np.random.default_rng(3), []
    for size in (0.1, 1, 5, 8, 12, 20, 1e3, np.nan, np.inf):
        for hidden in (0.0, 0.3):
            E, V = (x * rng.uniform(-1, 1, 30) for x in (size * np.linspace(0.1, 1, 30), 1.0))
            reach = [float(f(x)) for x in (E, V) for f in (lambda y: y[0], np.min, np.max)]
            given.append([*reach, hidden])
    masses = [(1e12, 1.0), (1.0, 2.0), (3e12, 0.0), (0.0, 0.0), (2e12, -4.0)]
    with np.errstate(all="ignore"):
        farthest, jumped = energy_jump(*np.transpose(given))
        hidden = hidden_energy(*np.transpose(masses))
    assert {*jumped.tolist()} == {True, False}
    assert hidden.tolist() == [1.0, 5e-25, 0.0, 0.0, 1.0]
    text = f"{runtime()}\nconst [given, masses] = {literal([given, masses])};"
    text += "console.log(JSON.stringify([given.map(x => energy_jump(...x).map(String)), "
    text += "masses.map(x => hidden_energy(...x))]));"
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert not run.stderr, run.stderr
    decided, found = json.loads(run.stdout)
    assert [float(x.replace("Infinity", "inf")) for x, _ in decided] == pytest.approx(
        farthest, nan_ok=True
    )
    assert [x == "true" for _, x in decided] == jumped.tolist()
    assert found == pytest.approx(hidden, rel=1e-12)


def test_pages_and_the_library_measure_velocities_alike():
    """By the same function: of arrays with an entry for each run, and of numbers in a page."""
    rng, given = np.random.default_rng(5), []
    for scale in (0.0, 1e-9, 1.0, 1e200):
        v, a = rng.normal(size=(2, 3)) * [1.0, scale, 1e-8]
        given.append([v.tolist(), a.tolist(), 0.2])
    given.append([[0.0] * 3, [0.0] * 3, 0.1])  # at rest
    given.append([[0.0, 1.0, 0.0], [1e308, 0.0, 0.0], 1e9])  # h a overflows
    v, a, h = (np.array(x) for x in zip(*given, strict=True))
    with np.errstate(over="ignore"):
        expected = relative_velocity_scales(v, a, h)
    text = f"{runtime()}\nconst given = {literal(given)};"
    text += "console.log(JSON.stringify(given.map(x => component_shares(...x))));"
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert json.loads(run.stdout) == expected.tolist(), run.stderr
    assert (expected.max(-1) == 1).all() and expected.min() == 1e-6


COMPLETED = """
const [system, q0, v0] = given;
console.log(JSON.stringify(new Call({systems: [{...system, q0, v0}], T: 1}, {h: 0.1}).v0));
"""


@pytest.mark.parametrize(
    "name", ["segway", "two_wheeled_robot", "roller_racer", "car_with_trailer"]
)
def test_a_page_completes_velocities_where_a_robot_points_along_x(name):
    """There an entry of its constraints, sin(theta), is zero, and a page does not pivot."""
    system = getattr(nh.systems, name)()
    q0, v0 = (np.array(x, float) for x in (system.q0, system.v0))
    free = free_velocities(system, q0)
    v0[free] += 0.1 * np.arange(1, len(free) + 1)
    given = literal([of_system(system, free), q0.tolist(), v0.tolist()])
    text = f"{runtime()}\nconst given = {given};{COMPLETED}"
    run = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True)
    assert not run.stderr, run.stderr
    expected = complete_velocity(system, q0, v0, free)
    assert json.loads(run.stdout) == pytest.approx(expected, rel=1e-9, abs=1e-9)
