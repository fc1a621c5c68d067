"""Inputs of the forces: numbers, a value for each step, functions of time, feedback."""

import json
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import sympy as sp
from runs import made

import nhlab as nh

x, y, z, vx, vy, vz, t, c, u, k = nh.symbols("x y z vx vy vz t c u k")
H, STEPS = 0.05, 40
RUN = {"h": H, "steps": STEPS}
METHODS = [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.RK4(), nh.Reversible(), nh.EDLA()]
METHODS += [nh.DiscreteGradient(), nh.Composition(nh.DLA())]


def particle():
    L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
    forces = {x: u - c * vx, y: -x * vy / 3 + u * z}
    start = {"q0": (0, 1, 0), "v0": (1, 1, 1), "parameters": {c: 0.3}}
    return nh.System((x, y, z), (vx, vy, vz), L, [vz - y * vx], forces=forces, **start)


def wave(time):
    return np.sin(3 * time)


VALUES = wave(H * (np.arange(STEPS) + 0.5))


def by_hand(system, method, values, name="u"):
    """Rows of a run made of single steps, each by the system with a constant input."""
    first = system.set(**{name: values[0]})
    rows, step = (
        nh.integrate(first, method, h=H, steps=1).rows.array[:1],
        method.program(first).step,
    )
    for n, value in enumerate(values):
        args = method.arguments(system.set(**{name: value}), [1.0] * len(system.v))
        ok, _, *new = step(n * H, H, *rows[-1].tolist(), *args)
        assert ok
        rows = np.vstack([rows, new])
    return rows


@pytest.mark.parametrize("method", [m for m in METHODS if not m.variable_step], ids=repr)
def test_the_value_of_each_step_is_held(method):
    """A run is the same as its steps one by one, each with its own constant."""
    sol = nh.integrate(made(particle), method, inputs={u: VALUES}, **RUN)
    np.testing.assert_allclose(sol.rows.array, by_hand(made(particle), method, VALUES), atol=1e-14)
    np.testing.assert_array_equal(sol.inputs["u"], [VALUES[0], *VALUES])


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Composition(nh.Reversible())], ids=repr)
def test_ways_to_run(method):
    """CPython, compiled code, arrays and worker processes take the same input."""
    run = {"inputs": {"u": VALUES}, **RUN}
    python = nh.integrate(made(particle), method, backend="python", **run)
    numba = nh.integrate(made(particle), method, backend="numba", **run)
    np.testing.assert_allclose(numba.rows.array, python.rows.array, rtol=0, atol=1e-13)
    states = [[s] * 3 for s in (made(particle).q0, made(particle).v0)]
    many = nh.ensemble(made(particle), method, *states, backend="numpy", **run)
    np.testing.assert_allclose(many.rows[1], python.rows.array, rtol=0, atol=1e-13)
    np.testing.assert_allclose(many[2].work(), python.work(), rtol=0, atol=1e-12)


def test_worker_processes():
    states, run = ([made(particle).q0] * 2, [made(particle).v0] * 2), {"inputs": {u: VALUES}, **RUN}
    here = nh.ensemble(made(particle), nh.DLA(), *states, **run)
    with ProcessPoolExecutor(1) as executor:
        there = nh.ensemble(made(particle), nh.DLA(), *states, executor=executor, **run)
    np.testing.assert_array_equal(here.rows, there.rows)


def test_constants():
    """A number, a parameter that is set, and one for each run of an ensemble."""
    s = made(particle)
    rows = nh.integrate(s.set(u=0.7), nh.DLA(), **RUN).rows.array
    np.testing.assert_array_equal(
        nh.integrate(s, nh.DLA(), inputs={u: 0.7}, **RUN).rows.array, rows
    )
    states = [s.q0] * 2, [s.v0] * 2
    many = nh.ensemble(s, nh.DLA(), *states, parameters={u: [0.7, 0.2]}, backend="python", **RUN)
    np.testing.assert_array_equal(many.rows[0], rows)


def test_a_parameter_of_the_forces_may_be_driven():
    """Damping that grows: any symbol that occurs in the forces alone."""
    s, values = made(particle).set(u=0.1), np.linspace(0, 3, STEPS)
    sol = nh.integrate(s, nh.DLA(), inputs={c: values}, **RUN)
    np.testing.assert_allclose(sol.rows.array, by_hand(s, nh.DLA(), values, "c"), atol=1e-14)
    with pytest.raises(ValueError, match="'m' is no input"):
        mass = nh.System([x], [vx], k * vx**2 / 2, forces=[-k * u], parameters={k: 1, u: 1})
        nh.integrate(mass, nh.Variational(), [0], [1], inputs={"m": 1, "k": 1}, **RUN)


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=repr)
def test_functions_of_time_are_followed_to_order_2(method):
    """Read in the middle of the steps; the expression itself is the truth."""
    s = made(particle)
    exact = nh.integrate(s, nh.Reference(), h=2.0, steps=1, inputs={u: sp.sin(3 * t)}).q[-1]
    errors = []
    for h in (0.1, 0.05, 0.025):
        run = nh.integrate(s, method, h=h, steps=round(2 / h), inputs={u: wave})
        errors.append(np.abs(run.q[-1] - exact).max())
    assert (np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - 2) < 0.15).all()
    if isinstance(method, nh.RK4):  # which follows the expression to its own order
        run = nh.integrate(s, method, h=0.1, steps=20, inputs={u: sp.sin(3 * t)})
        assert np.abs(run.q[-1] - exact).max() < errors[0] / 50


def test_reference_holds_inputs_too():
    """RK4 with small steps inside of each held step goes to the same places."""
    s, fine = made(particle), 20
    sol = nh.integrate(s, nh.Reference(), inputs={u: VALUES}, every=4, **RUN)
    rk4 = nh.integrate(
        s, nh.RK4(), h=H / fine, steps=STEPS * fine, inputs={u: np.repeat(VALUES, fine)}
    )
    np.testing.assert_allclose(sol.q, rk4.q[:: 4 * fine], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol.t, rk4.t[:: 4 * fine], rtol=0, atol=1e-12)


def test_feedback():
    """An expression is put into the forces, with parameters that can still be set."""
    s = made(particle)
    law = -2 * x - c * vx + sp.cos(t) / 5
    sol = nh.integrate(s, nh.DLA(), inputs={u: law}, **RUN)
    closed = s.replace(forces=[e.subs(u, law) for e in s.forces], t=t)
    assert sol.system == closed and not sol.inputs
    np.testing.assert_array_equal(sol.q, nh.integrate(closed, nh.DLA(), **RUN).q)
    other = nh.integrate(s.set(c=0.9), nh.DLA(), inputs={u: law}, **RUN)
    np.testing.assert_array_equal(other.q, nh.integrate(closed.set(c=0.9), nh.DLA(), **RUN).q)
    assert other.system.generated is sol.system.generated  # derived once
    red = nh.integrate(nh.Chaplygin(s.replace(forces={x: u}, parameters={}), fibre="z"),
                       nh.RDLA(), inputs={u: -vx}, **RUN)  # fmt: skip
    full = nh.integrate(s.replace(forces={x: -vx}, parameters={}), nh.DLA(), **RUN)
    np.testing.assert_allclose(red.q, full.q[:, :2], rtol=0, atol=1e-12)


def test_a_balanced_pendulum():
    """Linear feedback holds up what falls without it."""
    s = nh.System([x], [vx], vx**2 / 2 - sp.cos(x), forces=[u], q0=(0.3,), v0=(0,))
    free, held = (nh.integrate(s, nh.Variational(), h=0.05, steps=400, inputs={u: law})
                  for law in (0, -3 * x - 2 * vx))  # fmt: skip
    assert np.abs(free.q).max() > 3 and np.abs(held.q[-1]) < 1e-6


def test_reconstruction_of_a_driven_reduction():
    s = made(particle).replace(forces={x: u - c * vx})
    red = nh.Chaplygin(s, fibre="z")
    sol = nh.integrate(red, nh.RDLA(), inputs={u: VALUES}, **RUN)
    full = nh.integrate(s, nh.DLA(), inputs={u: VALUES}, **RUN)
    back = red.reconstruct(sol)
    for name in ("q", "p", "lam"):
        np.testing.assert_allclose(getattr(back, name)[1:], getattr(full, name)[1:], atol=1e-11)
    np.testing.assert_allclose(back.work(), full.work(), atol=1e-12)


def test_files(tmp_path):
    sol = nh.integrate(made(particle), nh.DLA(), inputs={u: VALUES}, every=2, **RUN)
    sol.save(tmp_path / "run.npz")
    back = nh.load(tmp_path / "run.npz")
    assert back.system == sol.system and back.system.forces == sol.system.forces
    np.testing.assert_array_equal(back.inputs["u"], sol.inputs["u"])
    np.testing.assert_array_equal(back.p_minus, sol.p_minus)
    with np.load(tmp_path / "run.npz") as file:
        about, arrays = json.loads(str(file["about"])), {k: file[k] for k in ("rows", "inputs")}

    def written(about, **arrays):
        np.savez(tmp_path / "other.npz", about=np.array(json.dumps(about)), **arrays)
        return nh.load(tmp_path / "other.npz")

    assert written(about, **arrays).system == sol.system
    for names in (["w"], ["u", "c"]):
        with pytest.raises(ValueError, match="is not a trajectory"):
            written(about | {"inputs": names}, **arrays)
    with pytest.raises(ValueError, match="is not a trajectory"):
        written(about, rows=arrays["rows"], inputs=arrays["inputs"] * np.nan)
    plain = nh.integrate(nh.systems.particle(), nh.DLA(), **RUN)
    plain.save(tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz") as file:
        about, rows = json.loads(str(file["about"])), file["rows"]
    del about["inputs"], about["system"]["forces"]  # as it was written before there were any
    assert written(about, rows=rows).system == plain.system
    group = nh.systems.sleigh_se2()
    forced = group.replace(forces={group.v[0]: 1 - group.v[0]})
    run = nh.integrate(forced, nh.DLA(), h=0.1, steps=3)
    run.save(tmp_path / "group.npz")
    assert nh.load(tmp_path / "group.npz").system == forced != group


def test_a_step_that_fails_knows_its_input():
    """The step is tried again with its own input, and explained with it."""
    s = nh.System([x], [vx], vx**2 / 2, forces=[sp.sqrt(u)], q0=(0,), v0=(0,))
    values = np.ones(10)
    values[6] = -1
    for backend in ("python", "numba"):
        with pytest.raises(nh.IntegrationError, match="stopped after 6 steps") as caught:
            nh.integrate(s, nh.Variational(), h=0.1, steps=10, inputs={u: values}, backend=backend)
        assert len(caught.value.trajectory) == 7


@pytest.mark.parametrize(
    "inputs, said",
    [
        (None, r"a run needs a value for \['u'\].*system.set\(u=number\).*inputs=\{'u': ...\}"),
        ({}, r"a run needs a value for \['u'\]"),
        (3, "inputs = 3 must map"),
        ({"w": 1}, r"inputs: 'w' is no input.*\['c', 'u'\]"),
        ({x: 1}, "inputs: 'x' is no input"),
        ({u: [1, 2]}, r"inputs\['u'\] has shape \(2,\); give a value for each of 40 steps"),
        ({u: np.nan}, r"inputs\['u'\] is nan in step 0; it must be finite"),
        ({u: [*range(39), np.inf]}, r"inputs\['u'\] is inf in step 39"),
        ({u: lambda time: None if time > 1 else 0.0}, r"inputs\['u'\] is nan in step 20"),
        ({u: lambda time, q, v: -q[0]}, r"inputs\['u'\] must be a function of the time alone"),
        ({u: "sin(t)"}, r"inputs\['u'\] = .* must be a number, 40 numbers, a function of time"),
        ({u: k * x}, r"inputs\['u'\] = k\*x contains k, which is none of"),
        ({u: sp.Symbol("x")}, r"inputs\['u'\] = x contains x, which is none of"),
        ({u: sp.I * x}, r"inputs\['u'\] = I\*x is not real"),
        ({u: u + x}, r"a run needs a value for \['u'\]"),
    ],
)  # fmt: skip
def test_what_is_no_input(inputs, said):
    with pytest.raises(ValueError, match=said):
        nh.integrate(made(particle), nh.DLA(), inputs=inputs, **RUN)


def test_functions_of_time_need_the_times():
    with pytest.raises(ValueError, match="chooses its steps as it goes; give a value for each"):
        nh.integrate(made(particle), nh.EDLA(), inputs={u: wave}, **RUN)
    s = made(particle)
    with pytest.raises(ValueError, match="so all runs need the same h"):
        nh.ensemble(s, nh.DLA(), [s.q0] * 2, [s.v0] * 2, h=[0.1, 0.2], steps=3, inputs={u: wave})
    with pytest.raises(ValueError, match="the work of inputs needs every step"):
        nh.integrate(s, nh.DLA(), inputs={u: wave}, every=2, **RUN).work()
    gradient = nh.DiscreteGradient()
    with pytest.raises(ValueError, match="DiscreteGradient keeps"):  # which becomes a system with t
        nh.integrate(s, gradient, inputs={u: sp.sin(t)}, **RUN)


def test_no_steps():
    sol = nh.integrate(made(particle), nh.DLA(), h=0.1, steps=0, inputs={u: wave})
    assert len(sol) == 1 and sol.work() == [0.0]


def test_open_inputs_and_their_names(tmp_path):
    """The remedy holds for doors that take no inputs, too."""
    x, vx, push = nh.symbols("x vx push")
    s = nh.System([x], [vx], vx**2 / 2, forces=[push], q0=[0], v0=[0])
    for call in (
        lambda: nh.linearise(s, [0]),
        lambda: nh.export(s, nh.DLA(), tmp_path / "x.c"),
        lambda: nh.integrate(s, nh.DLA(), h=0.1, steps=1),
        lambda: s.acceleration([0], [0]),
    ):
        with pytest.raises(ValueError, match=r"system.set\(push=number\) gives one; nh.integrate"):
            call()
    with pytest.raises(ValueError, match=r"'pish' is no input .* did you mean 'push'"):
        nh.integrate(s, nh.DLA(), h=0.1, steps=1, inputs={"pish": 1})
