"""Going on with a run, running until a time, states and columns by name."""

import copy
import logging
import pickle
import re

import numpy as np
import pytest
import sympy as sp
from starts import BALL, DRIVEN, PARTICLE, run, stopped_sleigh

import nhlab as nh

SYSTEMS = ["particle", "robot", "snakeboard", "sleigh", "suslov", "driven", "spherical_pendulum",
           "kepler", "rolling_disk"]  # fmt: skip
METHODS = [nh.DLA(), nh.DLA(0.3, symmetric=True), nh.EDLA(), nh.Projector(), nh.RK4(),
           nh.Reference(), nh.Reversible(), nh.DiscreteGradient(), nh.Composition(),
           nh.Variational(), nh.EqualImpulses(), nh.Lobatto(), nh.Newmark()]  # fmt: skip
x, vx, u = nh.symbols("x vx u")
FORCED = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, forces=[u], name="forced", q0=[1], v0=[0])


def treats(method, system):
    """True if the method runs the system at all."""
    try:
        method.check(system)
    except ValueError:
        return False
    return True


DEAR = (
    nh.DiscreteGradient,
    nh.Composition,
    nh.EqualImpulses,
    nh.Lobatto,
    nh.Newmark,
)  # to generate; two systems will do
PAIRS = [
    (name, m)
    for name in SYSTEMS
    for m in METHODS
    if treats(m, getattr(nh.systems, name)())
    and (name in ("particle", "sleigh") or not isinstance(m, DEAR))
]


def same(a, b):
    assert a.steps == b.steps and a.every == b.every and a.inputs.keys() == b.inputs.keys()
    np.testing.assert_array_equal(a.rows.array, b.rows.array)
    np.testing.assert_array_equal(a.t, b.t)
    for name, x in a.inputs.items():
        np.testing.assert_array_equal(x, b.inputs[name])


REDUCTIONS = {
    "reduced particle": lambda: nh.Chaplygin(nh.systems.particle(), fibre="z"),
    "reduced robot": lambda: nh.Chaplygin(nh.systems.robot(), fibre="x y"),
    "reduced disk": lambda: nh.Chaplygin(nh.systems.rolling_disk(), fibre="x y"),
    "reduced free particle": lambda: nh.Chaplygin(nh.systems.free_particle(), fibre="z"),
    "reduced sleigh": lambda: nh.Chaplygin(nh.systems.sleigh(), fibre="y"),
    "reduced knife edge": lambda: nh.Chaplygin(nh.systems.knife_edge(), fibre="y"),
    "reduced two-wheeled robot": lambda: nh.Chaplygin(
        nh.systems.two_wheeled_robot(), fibre="x y left"
    ),
    "reduced tilted disk": lambda: nh.Chaplygin(nh.systems.tilted_disk(), fibre="x y"),
    "snakeboard at a momentum": lambda: nh.Horizontal(nh.systems.snakeboard(), "psi", mu=0.3),
}
PAIRS += [(name, m) for name in REDUCTIONS for m in (nh.RDLA(), nh.REDLA())]
PAIRS.remove(("reduced knife edge", nh.REDLA()))  # which has no step there beyond t = .5


@pytest.mark.parametrize("name, method", PAIRS, ids=str)
def test_a_run_goes_on_bit_for_bit(name, method, tmp_path):
    """In two and three parts, with every = 2, and from a file."""
    system = REDUCTIONS[name]() if name in REDUCTIONS else getattr(nh.systems, name)()
    for every in (1, 2):
        whole = run(system, method, h=0.05, steps=16, every=every)
        part = run(system, method, h=0.05, steps=6, every=every)
        part.save(tmp_path / "part.npz")
        for first in (part, nh.load(tmp_path / "part.npz")):
            same(nh.integrate(nh.integrate(first, steps=4), steps=6), whole)
    assert not nh.integrate(whole, steps=0).steps - whole.steps


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Projector()], ids=str)
def test_a_given_second_position_goes_on(method):
    first = run(DRIVEN, method)
    start = dict(q0=first.q[0], q1=first.q[1])
    whole, none = (run(DRIVEN, method, steps=steps, **start) for steps in (12, 0))
    same(nh.integrate(run(DRIVEN, method, steps=5, **start), steps=7), whole)
    again = nh.integrate(none, steps=12)
    np.testing.assert_allclose(again.q, whole.q, rtol=1e-9)


@pytest.mark.parametrize("method", [nh.DLA(), nh.RK4(), nh.Reference()], ids=str)
def test_inputs_go_on(method):
    def made(steps, values):
        return nh.integrate(FORCED, method, h=0.1, steps=steps, inputs={u: values})

    def wave(t):
        return np.sin(3 * t)

    values = wave(0.1 * (np.arange(12) + 0.5))
    same(nh.integrate(made(5, wave), steps=7, inputs={"u": wave}), made(12, wave))
    same(nh.integrate(made(5, values[:5]), steps=7, inputs={"u": values[5:]}), made(12, values))
    with pytest.raises(ValueError, match=r"^going on with a run needs a value for \['u'\]"):
        nh.integrate(made(5, wave), steps=7)
    with pytest.raises(ValueError, match="feedback makes another system"):
        nh.integrate(made(5, wave), steps=7, inputs={"u": -FORCED.v[0]})


def test_a_run_that_stopped_goes_on_from_its_last_node():
    part = stopped_sleigh().trajectory
    with pytest.raises(nh.IntegrationError) as again:
        nh.integrate(part, steps=10)
    same(again.value.trajectory, part)


def test_a_long_reference_is_compiled_and_goes_the_same_way(numba):
    plain, compiled = (
        run(nh.systems.kepler(), nh.Reference(), h=0.1, steps=60, backend=backend)
        for backend in ("python", "numba")
    )
    np.testing.assert_allclose(compiled.rows.array, plain.rows.array, atol=1e-12)


def test_refusals():
    sol = run(steps=4)
    for options, text in (
        (dict(method=nh.DLA()), "keeps its method"),
        (dict(h=0.2), "keeps its h"),
        (dict(every=2), "keeps its every"),
        (dict(t0=1.0), "keeps its t0"),
    ):
        with pytest.raises(ValueError, match=text):
            nh.integrate(sol, steps=4, **options)
    with pytest.raises(ValueError, match="give either"):
        nh.integrate(sol)
    with pytest.raises(ValueError, match="give either"):
        run(steps=4, T=1)
    with pytest.raises(ValueError, match=r"T = 0.2 lies before t = 0.4, where this run ends"):
        nh.integrate(sol, T=0.2)
    with pytest.raises(ValueError, match=r"T = 0.2 lies before t0 = 0.4; to go back in time"):
        run(steps=None, T=0.2, t0=0.4)
    off = run(method=nh.DLA(), steps=4)
    with pytest.raises(ValueError, match=r"nh.integrate\(sol, steps="):
        nh.integrate(PARTICLE, nh.DLA(), off.q[-1], off.v[-1], h=0.1, steps=4)


@pytest.mark.parametrize(("h", "every", "T", "steps"), [
    (0.1, 1, 0.3, 3), (0.1, 1, 0.31, 4), (0.1, 5, 2, 20), (0.3, 1, 0, 0), (0.1, 4, 0.5, 8),
])  # fmt: skip
def test_until_a_time(h, every, T, steps):
    sol = run(h=h, steps=None, T=T, every=every)
    assert sol.steps == steps and sol.t[-1] >= T - 1e-12
    same(sol, run(h=h, steps=steps, every=every))


def test_edla_runs_until_a_time():
    """Its steps are its own: as many as it takes, and no more."""
    system = nh.systems.pendulum()
    sol = nh.integrate(system, nh.EDLA(), h=0.02, T=3)
    assert sol.t[-2] < 3 <= sol.t[-1]
    same(sol, nh.integrate(system, nh.EDLA(), h=0.02, steps=sol.steps))


def test_edla_that_never_arrives_says_so():
    system = nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
    with pytest.raises(nh.IntegrationError, match=r"T = 5 is not reached|stopped after"):
        nh.integrate(system, nh.EDLA(), [0.0], [1.0], h=0.05, T=5)


# ---------------------------------------------------------------------------- events

OSCILLATOR = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, name="oscillator", q0=[1], v0=[0])
SOME = [nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4(), nh.Reference()]


def same_events(a, b):
    assert (a.ended_by, a.message) == (b.ended_by, b.message)
    for name in ("t_events", "q_events", "v_events"):
        for one, other in zip(getattr(a, name), getattr(b, name), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", SOME, ids=str)
def test_a_run_that_goes_on_keeps_its_events(method, tmp_path):
    """From memory and from a file, in three parts, with some of them in each."""
    section = [PARTICLE.q[1] - 0.2, nh.Event(PARTICLE.v[0] - 0.5, direction=1)]
    whole = run(PARTICLE, method, h=0.2, steps=60, events=section)
    part = run(PARTICLE, method, h=0.2, steps=20, events=section)
    assert len(whole.t_events[0]) > len(part.t_events[0]) > 0 and len(whole.t_events[1]) > 0
    part.save(tmp_path / "part.npz")
    for first in (part, nh.load(tmp_path / "part.npz")):
        on = nh.integrate(nh.integrate(first, steps=15), steps=25)
        same(on, whole)
        same_events(on, whole)
        assert on.events == whole.events
    other = nh.integrate(part, steps=40, events=PARTICLE.q[0] - 0.1)
    same_events(other, run(PARTICLE, method, h=0.2, steps=60, events=PARTICLE.q[0] - 0.1))
    none = nh.integrate(part, steps=1, events=[])
    assert none.t_events is None and nh.integrate(none, steps=1).t_events is None


@pytest.mark.parametrize("times", [True, 2])
@pytest.mark.parametrize("method", SOME[:4], ids=str)
def test_a_run_goes_on_beyond_the_event_that_ended_it(method, times, tmp_path):
    """x = cos t ends it at each zero, or at every second, and the motion is that without events."""
    caught = nh.Event(x, terminal=times)
    sol = nh.integrate(OSCILLATOR, method, h=0.05, steps=1000, events=[vx, caught])
    for turn in range(1, 4):
        count = turn * int(times)
        end = sol.t_events[1][-1]
        assert len(sol.t_events[1]) == count and abs(end - (count - 0.5) * np.pi) < 0.02
        assert sol.ended_by == 1 and sol.message == f"ended by events[1] at t = {end:.6g}"
        assert sol.t[-1] <= end < sol.t[-1] + 0.06 and len(sol.t_events[0]) == count - 1
        alone = nh.integrate(OSCILLATOR, method, h=0.05, steps=sol.steps)
        np.testing.assert_array_equal(sol.rows.array, alone.rows.array)
        sol.save(tmp_path / "sol.npz")
        short = nh.integrate(nh.load(tmp_path / "sol.npz"), steps=2)  # a stop without an event
        assert short.ended_by is None and short.message == ""
        sol = nh.integrate(short, T=100)


def test_a_count_that_was_not_reached_goes_on():
    third = nh.Event(x, terminal=3)
    whole = nh.integrate(OSCILLATOR, nh.DLA(), h=0.05, steps=1000, events=third)
    part = nh.integrate(OSCILLATOR, nh.DLA(), h=0.05, T=3, events=third)
    assert len(part.t_events[0]) == 1 and part.ended_by is None
    on = nh.integrate(part, steps=940)
    same(on, whole)
    same_events(on, whole)
    assert len(on.t_events[0]) == 3


def test_functions_go_on_but_not_from_a_file(tmp_path):
    def caught(t, q, v):
        return q[0]

    caught.terminal = True
    sol = nh.integrate(OSCILLATOR, nh.DLA(), h=0.05, T=100, events=[vx, caught])
    assert [len(t) for t in nh.integrate(sol, T=100).t_events] == [1, 2]
    sol.save(tmp_path / "sol.npz")
    back = nh.load(tmp_path / "sol.npz")
    assert back.events == [nh.Event(vx), None]
    with pytest.raises(ValueError, match=r"events\[1\] of this run is a function, .* give events"):
        nh.integrate(back, steps=5)
    assert nh.integrate(back, steps=5, events=[]).t_events is None
    assert len(nh.integrate(back, steps=5, events=[x]).t_events[0]) == 1


def test_a_member_of_an_ensemble_goes_on_with_its_events(tmp_path):
    caught = nh.Event(x - 0.25, terminal=True)
    options = dict(h=0.1, steps=40, events=[vx + 0.1, caught])
    many = nh.ensemble(OSCILLATOR, nh.DLA(), [[1.0], [0.5], [2.0]], [0], **options)
    many.save(tmp_path / "many.npz")
    alone = nh.integrate(nh.integrate(OSCILLATOR, nh.DLA(), [2.0], [0], **options), T=9)
    assert len(alone.t_events[1]) == 2
    for found in (many, nh.load(tmp_path / "many.npz"), many[1:]):
        on = nh.integrate(found[-1], T=9)
        np.testing.assert_allclose(on.t_events[1], alone.t_events[1], atol=1e-12)
        assert on.ended_by == 1 and len(on.t_events[0]) == len(alone.t_events[0])


def test_a_run_that_failed_keeps_its_events():
    """It may be gone on with by other means, such as after Ctrl-C."""
    with pytest.raises(nh.IntegrationError) as stopped:
        run(nh.systems.sleigh(), nh.EDLA(), steps=600, events=nh.systems.sleigh().q[2] - 0.5)
    part = stopped.value.trajectory
    assert part.t_events is None and len(part.events) == 1
    assert len(nh.integrate(part, steps=0).t_events[0]) == 1


# ---------------------------------------------------------------------------- names


def test_states_by_name(caplog):
    q0, v0 = PARTICLE.q0, PARTICLE.v0
    by_name = (
        dict(zip(PARTICLE.q, q0, strict=True)),
        {u.name: x for u, x in zip(PARTICLE.v, v0, strict=True)},
    )
    same(nh.integrate(PARTICLE, nh.DLA(), *by_name, h=0.1, steps=4), run(steps=4))
    with caplog.at_level(logging.INFO, "nhlab"):
        sol = nh.integrate(PARTICLE, nh.DLA(), {"y": 0.5}, {"vy": 2}, h=0.1, steps=1)
    np.testing.assert_array_equal(sol.q[0], [0, 0.5, 0])
    assert "q0: x, z are not given and start at 0" in caplog.text
    with pytest.raises(ValueError, match=r"q0: 'X' is none of .* did you mean 'x'"):
        nh.integrate(PARTICLE, nh.DLA(), {"X": 1}, v0, h=0.1, steps=1)
    many = nh.ensemble(PARTICLE, nh.DLA(), {"y": [0, 1]}, {"vy": 1}, h=0.1, steps=2)
    np.testing.assert_array_equal(many.q[:, 0], [[0, 0, 0], [0, 1, 0]])


def test_a_pose_that_is_not_named_is_the_identity():
    s = nh.systems.suslov()
    sol = nh.integrate(s, nh.DLA(), {}, s.v0, h=0.1, steps=1)
    np.testing.assert_array_equal(sol.q[0], [1, 0, 0, 0])


def test_columns_by_name():
    sol = run(BALL, nh.DLA(), steps=5)
    table = sol.to_dataframe()
    for name in table.columns:
        np.testing.assert_array_equal(sol[name], table[name])
    np.testing.assert_array_equal(sol["t"], sol.t)
    np.testing.assert_array_equal(sol[BALL.q[1]], sol.q[:, 1])
    with pytest.raises(KeyError, match="did you mean"):
        sol["lamb0"]
    for bad in (0, slice(3), None):
        with pytest.raises(TypeError, match="columns of a run have names"):
            sol[bad]
    with pytest.raises(TypeError, match="not iterable"):
        iter(sol)
    for name, hint in (("energy", r"there is sol.energy\(\)"), ("q", "there is sol.q$")):
        with pytest.raises(KeyError) as error:
            sol[name]
        assert re.search(hint, error.value.args[0])


def test_a_misspelt_attribute_is_answered():
    sol, many = run(steps=2), nh.ensemble(PARTICLE, nh.DLA(), h=[0.1, 0.2], steps=2)
    for thing, name, hint in (
        (sol, "energyy", "did you mean 'energy'"), (sol, "x", r"for the column write \['x'\]"),
        (many, "summry", "did you mean 'summary'"), (many, "vx", r"for the column write \['vx'\]"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=hint):
            getattr(thing, name)
        assert not hasattr(thing, "_repr_svg_") and not hasattr(thing, "__array_interface__")
        assert copy.copy(thing).h[0] == 0.1
    assert pickle.loads(pickle.dumps(sol)).h[0] == 0.1
    bare = object.__new__(nh.Trajectory)
    with pytest.raises(AttributeError, match="no attribute 't0'"):
        bare.t0  # noqa: B018
    broken = copy.copy(run(steps=2))
    del broken.rows.v
    broken.method = nh.RK4()
    with pytest.raises(AttributeError, match="'Rows' object has no attribute 'v'"):
        broken.v  # noqa: B018


FIELDS = nh.systems.particle().by_fields()


def test_quasi_velocities_by_name():
    start = {"h": 0.1, "steps": 3}
    by_name = nh.integrate(FIELDS, nh.DLA(), {"y": 1}, u0={"u1": 2}, **start)
    same(by_name, nh.integrate(FIELDS, nh.DLA(), [0, 1, 0], u0=[2, 0], **start))
    with pytest.raises(ValueError, match=r"u0: 'u3' is none of \['u1', 'u2'\]"):
        nh.integrate(FIELDS, nh.DLA(), u0={"u3": 2}, **start)
    many = nh.ensemble(FIELDS, nh.DLA(), {"y": 1}, u0={"u1": [2, 3]}, **start)
    np.testing.assert_array_equal(many[0].q, by_name.q)


@pytest.mark.parametrize("sol", [
    run(PARTICLE, nh.DLA(), steps=6), run(PARTICLE, nh.EDLA(), steps=6), run(FIELDS, steps=6),
    nh.integrate(FORCED, nh.RK4(), h=0.1, steps=3, inputs={u: [1, 2, 3]}),
], ids=repr)  # fmt: skip
def test_every_column_between_the_nodes(sol):
    """At nodes what the table has, of momenta and quasi-velocities those of sol(t)."""
    q, v = sol(sol.t)
    own = dict(
        zip([f"p_{x}" for x in sol.system.degrees], sol.system.momentum(q, v).T, strict=True)
    )
    own |= {x.name: y for x, y in zip(sol.system.v, v.T, strict=True)}
    for name in sol.to_dataframe().columns:
        found = sol.at(name, sol.t)
        if name[0] == "u" and name[1:].isdigit():
            np.testing.assert_allclose(found, sol[name], atol=1e-14)
        else:
            np.testing.assert_array_equal(found, own.get(name, sol[name]))
        assert sol.at(name, 0.15).shape == () and sol.at(name, [[0.15]]).shape == (1, 1)
    assert sol.at("h", 0.15) == sol.h[1] and sol.at("t", 0.15) == 0.15
    with pytest.raises(ValueError, match=r"name = 'energy' is no column; there is sol.energy\(\)"):
        sol.at("energy", 0.1)
    with pytest.raises(ValueError, match="outside of the run"):
        sol.at("t", 9)
