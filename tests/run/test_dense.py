"""Between the nodes: orders of the dense output; events against exact crossings."""

import functools
import pickle

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from starts import BALL, PARTICLE, run

import nhlab as nh
from nhlab.run import dense
from nhlab.run.dense import onto_constraints
from nhlab.run.events import zeros

METHODS = [nh.DLA(), nh.DLA(0.3), nh.DLA(0.3, symmetric=True), nh.EDLA(), nh.Projector(),
           nh.Reversible(), nh.RK4(), nh.DiscreteGradient(), nh.Composition(),
           nh.Composition(nh.Reversible(), order=6), nh.EqualImpulses(), nh.Lobatto(),
           nh.Newmark(0.1)]  # fmt: skip
SYSTEMS = {"particle": PARTICLE, "ball": BALL, "group": nh.systems.suslov(),
           "reduced": nh.Chaplygin(PARTICLE, fibre="z")}  # fmt: skip
ORDERS = [("particle", m) for m in METHODS]
ORDERS += [("ball", m) for m in (nh.DLA(), nh.DLA(0.3), nh.RK4(), nh.Reversible(),
                                 nh.Variational())]  # fmt: skip
ORDERS += [("group", m) for m in (nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4())]
ORDERS += [("reduced", m) for m in (nh.RDLA(), nh.REDLA())]
x, vx, t = nh.symbols("x vx t")
OSCILLATOR = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, name="oscillator", q0=[1], v0=[0])

# ---------------------------------------------------------------------------- between the nodes


def test_the_order_is_tested_of_every_method():
    assert {type(m).__name__ for _, m in ORDERS} == {*nh.methods.__all__} - {"Reference"}


@pytest.mark.parametrize(("name", "method"), ORDERS, ids=str)
def test_the_order_is_that_of_the_method(name, method):
    """Of positions and velocities, at times that are no nodes; Reference is tested below."""
    system = SYSTEMS[name]
    times = np.linspace(0.03, 1.97, 41)
    true = run(system, nh.Reference(), h=0.01, steps=200)(times)
    largest = 0.2 if method.order == 6 else 0.05  # else round-off is what is measured
    sizes, errors = largest / np.array([1, 2, 4]), []
    for h in sizes:
        found = run(system, method, h=h, steps=round(2.2 / h))(times)
        errors.append([np.abs(a - b).max() for a, b in zip(found, true, strict=True)])
    slopes = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert np.all(np.abs(slopes - method.order) < 0.1), (slopes, errors)


def test_reference_is_what_scipy_finds():
    """The particle by its equations of motion, written by hand, and SciPy's own DOP853."""

    def motion(t, y):
        (x, y, _), (vx, vy, vz) = y[:3], y[3:]
        ax = -(2 * x + y * vx * vy) / (1 + y**2)
        return [vx, vy, vz, ax, -2 * y, vx * vy + y * ax]

    sol = nh.integrate(nh.systems.particle(), nh.Reference(), h=0.2, steps=100)
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13, "t_eval": sol.t}
    found = solve_ivp(motion, (0, sol.t[-1]), [*sol.q[0], *sol.v[0]], **options)
    np.testing.assert_allclose(np.hstack([sol.q, sol.v]), found.y.T, rtol=0, atol=2e-11)


def test_reference_is_true_everywhere():
    """Kepler with rows far apart, against the same run with rows near each other."""
    kepler = nh.systems.kepler()
    sparse, near = (run(kepler, nh.Reference(), h=h, steps=round(6 / h)) for h in (1.5, 0.01))
    for a, b in zip(sparse(near.t), (near.q, near.v), strict=True):
        assert np.abs(a - b).max() < 1e-10


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=str)
def test_it_passes_through_the_nodes_and_keeps_the_constraints(method):
    sol = run(PARTICLE, method, steps=10)
    q, v = sol(sol.t)
    np.testing.assert_array_equal(q, sol.q)
    np.testing.assert_allclose(v[0], PARTICLE.v0, atol=1e-15)
    np.testing.assert_allclose(v, sol.v_projected, atol=1e-14)
    gap = np.abs(PARTICLE.constraint(*sol(np.linspace(0, 1, 33)))).max()
    assert gap < 1e-14
    assert sol(0.5).q.shape == (3,) and sol([[0.1], [0.2]]).v.shape == (2, 1, 3)
    assert sol.at("y", 0.55) == sol(0.55).q[1] and sol.at("vy", 0.55) == sol(0.55).v[1]
    for bad in (-0.1, 1.1, [0.5, np.nan], "now"):
        with pytest.raises(ValueError, match=r"^t (=|has)"):
            sol(bad)
    with pytest.raises(ValueError, match="did you mean 'x'"):
        sol.at("xx", 0.5)


SNAKEBOARD = nh.systems.snakeboard()
ON_CONSTRAINTS = {
    "particle": PARTICLE, "fields": PARTICLE.by_fields(), "snakeboard": SNAKEBOARD,
    "snakeboard by fields": SNAKEBOARD.by_fields(), "group": nh.systems.suslov(),
    "moving": nh.systems.driven(), "ball": BALL,
}  # fmt: skip


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4(),
                                    nh.Reference()], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ON_CONSTRAINTS)
def test_states_between_the_nodes_satisfy_the_constraints(name, method):
    """So that a run starts from any of them; RK4 and large steps leave much to correct."""
    s = ON_CONSTRAINTS[name]
    if s is BALL and isinstance(method, nh.Projector):
        pytest.skip("not for holonomic constraints")
    sol = run(s, method, h=0.3, steps=10)
    times = (sol.t[:-1, None] + np.diff(sol.t)[:, None] * [0.03, 0.3, 0.5, 0.97]).ravel()
    q, v = sol(times)
    assert np.abs(s.constraint(q, v, times)).max() < 1e-12
    assert np.abs(s.g(q, times)).max(initial=0) < 1e-12
    for t in (times[21], sol.t[7]):
        again = nh.integrate(s, method, *sol(t), h=0.3, steps=2, t0=t)
        assert again.steps == 2
    nodes = sol(sol.t)
    if not isinstance(method, nh.RK4):  # which leaves the constraints
        np.testing.assert_array_equal(nodes.q, sol.q)
    near = sol(sol.t[1:] - 1e-9)
    np.testing.assert_allclose(near.q, nodes.q[1:], atol=1e-7)
    np.testing.assert_allclose(near.v, nodes.v[1:], atol=1e-7)


def test_a_position_that_is_far_from_the_constraints_is_refused():
    with pytest.raises(ValueError, match=r"no position with g = 0 was found near q = \["):
        y, vy = nh.symbols("y vy")
        s = nh.System((x, y), (vx, vy), vx**2 + vy**2, holonomic=[x**2 + y**4 + 1])  # nowhere 0
        onto_constraints(s, np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]]), np.zeros(1))


def test_constraints_that_are_dependent_there_are_refused():
    y, vy = nh.symbols("y vy")
    s = nh.System((x, y), (vx, vy), vx**2 + vy**2, [x * vx + y * vy])  # no form at 0
    with pytest.raises(ValueError, match="the projection onto D has no inverse"):
        onto_constraints(s, np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1))


def test_a_run_starts_anew_where_an_event_ended_it():
    """A bounce of a particle with a constraint: its velocity is turned round and stays in D."""
    wall = nh.Event(PARTICLE.q[0] - 1, terminal=True)
    sol = run(PARTICLE, nh.DLA(), h=0.2, steps=50, events=wall)
    (q,), (v,), (t,) = sol.q_events[0], sol.v_events[0], sol.t_events[0]
    back = nh.integrate(PARTICLE, nh.DLA(), q, -v, h=0.2, steps=10, t0=t)
    assert back.q[0, 0] == pytest.approx(1, abs=1e-12) and back.q[1, 0] < 1
    np.testing.assert_array_equal(back.v[0], -v)


def test_a_quaternion_stays_one_and_inputs_count():
    s = nh.systems.suslov()
    q = run(s, nh.DLA(), steps=10)(np.linspace(0, 1, 23)).q
    np.testing.assert_allclose((q**2).sum(-1), 1, atol=1e-14)
    u = nh.symbols("u")
    pushed = nh.System([x], [vx], vx**2 / 2, forces=[u], q0=[0], v0=[0])
    sol = nh.integrate(pushed, nh.RK4(), h=1, steps=2, inputs={u: [1, -1]})
    np.testing.assert_allclose(sol([0.5, 1.5]).v[:, 0], [0.5, 0.5], atol=1e-14)
    sparse = nh.integrate(pushed, nh.RK4(), h=1, steps=2, every=2, inputs={u: [1, -1]})
    with pytest.raises(ValueError, match="every=1"):
        sparse(0.5)


# ---------------------------------------------------------------------------- events


def test_zeros_of_many_functions():
    """Simple, steep, flat and multiple zeros, all to round-off."""
    true = np.array([0.3, 1 / 3, 0.7, 0.123])
    f = [lambda s: s - 0.3, lambda s: np.tanh(1e4 * (s - 1 / 3)), lambda s: (s - 0.7) ** 3,
         lambda s: np.exp(9 * s) - np.exp(9 * 0.123)]  # fmt: skip

    def values(s, which):
        return np.array([f[k](y) for k, y in zip(which, s, strict=True)])

    a, b, every = np.zeros(4), np.ones(4), range(4)
    found = zeros(values, a, b, values(a, every), values(b, every))
    np.testing.assert_allclose(found, true, atol=1e-15)


@pytest.mark.parametrize("method", [nh.Reference(), nh.Composition(nh.Reversible(), 6)], ids=str)
def test_events_against_exact_crossings(method):
    """x = cos t is 0 at pi/2 + k pi, and falls there for even k."""
    events = [x, nh.Event(x, direction=-1), nh.Event(vx - 0.5, direction=1), t - sp.Rational(7, 2)]
    sol = nh.integrate(OSCILLATOR, method, h=0.05, T=10, events=events)
    crossings = np.pi * np.array([0.5, 1.5, 2.5])
    np.testing.assert_allclose(sol.t_events[0], crossings, atol=1e-10, rtol=0)
    np.testing.assert_allclose(sol.t_events[1], crossings[::2], atol=1e-10, rtol=0)
    rises = np.pi / 6 + np.pi * np.array([1, 3])  # where -sin t = 1/2 and grows
    np.testing.assert_allclose(sol.t_events[2], rises, atol=1e-10, rtol=0)
    np.testing.assert_allclose(sol.t_events[3], [3.5], atol=1e-13, rtol=0)
    np.testing.assert_allclose(sol.q_events[0], 0, atol=1e-10)
    np.testing.assert_allclose(np.abs(sol.v_events[0]), 1, atol=1e-10)
    assert run(steps=3).t_events is None


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4()], ids=str)
def test_events_are_zeros_of_the_dense_output(method):
    """A Poincare section: to round-off, wherever the method itself may be."""
    section = sp.sin(2 * PARTICLE.q[0]) - sp.Rational(3, 10)
    sol = run(PARTICLE, method, h=0.2, steps=100, events=section)
    assert len(sol.t_events[0]) >= 2
    at = np.array([sol.at("x", s) for s in sol.t_events[0]])
    np.testing.assert_allclose(np.sin(2 * at), 0.3, atol=1e-13)
    np.testing.assert_allclose(sol.q_events[0][:, 0], at, atol=1e-14)


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Reference()], ids=str)
def test_a_terminal_event_ends_the_run(method):
    def second(t, q, v):
        return q[0]

    second.terminal, second.direction = 2, 0
    options = {"h": 0.05, "steps": 20_000}
    sol = nh.integrate(OSCILLATOR, method, events=[second, vx], **options)
    end = 1.5 * np.pi
    assert abs(sol.t_events[0][-1] - end) < 1e-2 and len(sol.t_events[0]) == 2
    assert sol.t[-1] <= sol.t_events[0][-1] < sol.t[-1] + 0.06
    assert sol.message.startswith("ended by events[0] at t = 4.7") and len(sol.t_events[1]) == 1
    further = nh.integrate(sol, steps=5)
    assert further.steps == sol.steps + 5 and further.message == ""


def test_an_event_before_the_motion_ends_is_found():
    """Kepler from rest falls into the centre at t = 1.11; the ball is caught before."""
    r = sp.sqrt(sum(s**2 for s in nh.systems.kepler().q))
    start = dict(q0=[1, 0], v0=[0, 0], h=0.01, steps=200)
    caught = nh.Event(r - 0.5, terminal=True)
    sol = run(nh.systems.kepler(), nh.Reference(), events=caught, **start)
    exact = (np.sqrt(0.25) + np.arccos(np.sqrt(0.5))) / np.sqrt(2)
    assert abs(sol.t_events[0][0] - exact) < 1e-10
    late = run(nh.systems.kepler(), nh.Reference(), events=caught, **start | {"steps": 95})
    np.testing.assert_array_equal(late.t_events[0], sol.t_events[0])


def test_bad_events():
    for event, text in (
        (sp.Symbol("xx"), "is no symbol of .* did you mean 'x'"),
        (nh.Event, r"events\[0\] = Event is a class"),
        ("x=", "events"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            nh.integrate(OSCILLATOR, nh.DLA(), h=0.1, steps=1, events=[event])
    with pytest.raises(ValueError, match="terminal = -1"):
        nh.Event(x, terminal=-1)
    with pytest.raises(ValueError, match="direction = nan"):
        nh.Event(x, direction=np.nan)
    with pytest.raises(ValueError, match="passed = -1 must be a number"):
        nh.Event(x, True, passed=-1)


def fails(t, q, v):
    return 1 / 0


@pytest.mark.parametrize(("events", "text"), [
    ("x - 1", r"^events = 'x - 1' is not a SymPy expression"),
    ([x, "x - 1"], r"^events\[1\] = 'x - 1' is not a SymPy expression"),
    ([x, lambda t, y: y[0]], r"^events\[1\] = <lambda> must be a function f\(t, q, v\) .* SciPy's"),
    ([x, nh.Event(lambda t, y: y[0])], r"^events\[1\] = <lambda> must be a function f\(t, q, v\)"),
    ([x, lambda t, q, v: q], r"^events\[1\] .* an array of shape \(1,\) at t = 0.* q\[0\]$"),
    (lambda t, q, v: None, r"^events = <lambda> returned None at t = 0"),
    ([fails], r"^events\[0\] = fails failed at t = 0, q = \[1.0\], v = \[0.0\] \(ZeroDivision"),
    (nh.Event, "^events = Event is a class, not a value"),
    (max, r"^events = max returned an array of shape \(1,\)"),
])  # fmt: skip
def test_events_that_fail_are_named(events, text):
    """Of a run and, in ``errors``, of each member of an ensemble."""
    options = {"h": 0.1, "steps": 2, "events": events}
    with pytest.raises(ValueError, match=text):
        nh.integrate(OSCILLATOR, nh.DLA(), **options)
    if "failed" in text:
        many = nh.ensemble(OSCILLATOR, nh.DLA(), [[1.0], [2.0]], [0], **options)
        assert all("the events failed: " in many.errors[k] for k in range(2))


def test_a_misspelt_argument_of_an_event():
    with pytest.raises(TypeError, match="'termnal'; did you mean 'terminal'"):
        nh.Event(x, termnal=True)
    up = functools.partial(fails)
    up.direction = "up"
    with pytest.raises(ValueError, match="direction = 'up' must be 1, -1 or 0"):
        nh.integrate(OSCILLATOR, nh.DLA(), h=0.1, steps=1, events=up)
    assert pickle.loads(pickle.dumps(nh.Event(x, True, -1))) == nh.Event(x, True, -1)


@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_events_of_an_ensemble_are_those_of_its_members(backend):
    """Also terminal ones, which end one member and leave the others alone."""
    start = np.array([[1.0], [0.5], [0.0]])
    events = [x - 0.25, nh.Event(x + 0.75, terminal=True)]
    options = {"h": 0.1, "steps": 40, "events": events}
    many = nh.ensemble(OSCILLATOR, nh.DLA(), start, [0.3], backend=backend, **options)
    assert many.ok.all() and many.errors == {}
    for k in range(3):
        alone = nh.integrate(OSCILLATOR, nh.DLA(), start[k], [0.3], **options)
        one = many[k]
        assert one.steps == alone.steps == many.steps_done[k] and one.message == alone.message
        assert one.ended_by == alone.ended_by
        for i in range(2):
            np.testing.assert_allclose(one.t_events[i], alone.t_events[i], atol=1e-12)
            np.testing.assert_allclose(many.q_events[k][i], alone.q_events[i], atol=1e-12)
    assert many[0].ended_by == 0 + 1 and many[2].ended_by is None
    section = nh.ensemble(OSCILLATOR, nh.DLA(), start, [0.3], h=0.1, steps=40, events=vx,
                          summary=lambda sol: sol.q_events[0][0])  # fmt: skip
    assert section.summary.shape == (3, 1) and section.ok.all()


PUSH = nh.symbols("push")
PUSHED = nh.System([x], [vx], vx**2 / 2 - x**2 / 2, forces=[PUSH], q0=[1], v0=[0])
SLEIGH, SUSLOV = nh.systems.sleigh(), nh.systems.suslov()
A = {"a": [0.1, 0.2, 0.3, 0.4]}
MANY = {
    "parameters": (SLEIGH, nh.DLA(), [SLEIGH.q[0] + 0.5, SLEIGH.v[2] - 0.3], {"parameters": A}),
    "steps of its own": (SLEIGH, nh.EDLA(), [SLEIGH.q[0] + 0.5], {"h": [0.1, 0.12, 0.05, 0.2]}),
    "on a group": (SUSLOV, nh.Projector(), [SUSLOV.q[1] - 0.1, SUSLOV.v[0] - 0.5],
                   {"h": [0.1, 0.12, 0.05, 0.2], "every": 2}),
    "holonomic": (BALL, nh.RK4(), [nh.Event(BALL.q[2] + 0.1, terminal=2)],
                  {"h": [0.1, 0.12, 0.05, 0.2]}),
    "inputs": (PUSHED, nh.RK4(), [x, vx], {"h": [0.1, 0.12, 0.05, 0.2], "inputs": {PUSH:
               [*np.linspace(-1, 1, 40)]}}),
    "functions": (PARTICLE, nh.DLA(), [lambda t, q, v: q[0] - 0.3],
                  {"h": [0.1, 0.12, 0.05, 0.2]}),
}  # fmt: skip


def counts(sol):
    return [sol.steps, sum(map(len, sol.t_events))]


@pytest.mark.parametrize("backend", ["python", "numpy"])
@pytest.mark.parametrize("case", MANY)
def test_events_located_together_are_those_of_each_run(case, backend):
    """Found for all members at once, and the same whatever chunks these are cut into."""
    system, method, events, options = MANY[case]
    given = {"h": 0.1, "steps": 40} | options
    many = nh.ensemble(system, method, events=events, backend=backend, **given)
    by_two = nh.ensemble(system, method, events=events, backend=backend, chunk=2, **given)
    kept = nh.ensemble(system, method, events=events, backend=backend, summary=counts, **given)
    found = 0
    for k in range(4):
        one = {name: x[k] if name == "h" and np.ndim(x) else x for name, x in given.items()}
        own = {name: x[k] for name, x in one.pop("parameters", {}).items()}
        alone = nh.integrate(system.set(**own), method, events=events, **one)
        member = many[k]
        assert (member.steps, member.message, member.ended_by) == (
            alone.steps, alone.message, alone.ended_by)  # fmt: skip
        assert kept.summary[k].tolist() == counts(alone)
        for name in ("t_events", "q_events", "v_events"):
            for a, b, c in zip(
                *(getattr(z, name) for z in (member, alone, by_two[k])), strict=True
            ):
                assert a.shape == b.shape
                np.testing.assert_allclose(a, b, atol=1e-12)
                np.testing.assert_array_equal(a, c)
        found += len(alone.t_events[0])
    assert found >= 3


def test_members_share_the_work_of_looking_for_events(monkeypatch):
    """As many evaluations for thirty members as for three: each is of arrays."""
    calls, rates = [], dense.rates
    monkeypatch.setattr(dense, "rates", lambda *args: calls.append(1) or rates(*args))
    evaluations = []
    for count in (3, 30):
        calls.clear()
        start = np.linspace(0.5, 1.5, count)[:, None]
        nh.ensemble(OSCILLATOR, nh.DLA(), start, [0.3], h=0.1, steps=40, events=x - 0.25)
        evaluations.append(len(calls))
    assert evaluations[1] < 1.5 * evaluations[0]


def test_an_event_that_fails_for_one_member_leaves_the_others():
    def f(t, q, v):
        if q[0] > 1.9:
            raise ArithmeticError("too far")
        return q[0] - 0.25

    many = nh.ensemble(OSCILLATOR, nh.DLA(), [[1.0], [2.0], [0.5]], [0], h=0.1, steps=40, events=f)
    assert (
        list(many.errors) == [1] and "too far" in many.errors[1] and "events = f" in many.errors[1]
    )
    assert len(many.t_events[0][0]) == len(many.t_events[2][0]) == 1 and many.t_events[1] is None
