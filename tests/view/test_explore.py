"""``nh.explore``: what its sliders stand for, what its numbers are of, and its code."""

import inspect
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.mechanics import velocities
from nhlab.mechanics.velocities import complete_velocity, free_velocities
from nhlab.view import plot, setting
from nhlab.view.as_code import lines_of_system
from nhlab.view.figure import what_is_read

PARTICLE = nh.systems.particle()
TWO = [nh.systems.sleigh(), PARTICLE]


def particle_panel(views=("energy", "node constraint", "x y"), **options):
    given = {"h": (0.02, 0.4, 0.2), "alpha": (0.0, 1.0, 0.5), "start": ("y", "vx", "vy")} | options
    methods = [nh.DLA(), nh.Projector(), nh.RK4()]
    return nh.explore(PARTICLE, methods, list(views), steps=200, **given)


@pytest.fixture(scope="module")
def panel():
    return particle_panel()


def run_code(panel, **space):
    """What the code of a panel computes, and its plot."""
    exec(panel._code(panel.values), space)
    plt.close("all")
    return space


def curves(panel):
    """The moving curves with points, by label."""
    lines = [x for x in panel.picture.moving if hasattr(x, "get_xdata")]
    return {x.get_label(): x.get_data() for x in lines if len(x.get_xdata())}


# ---------------------------------------------------------------------------- keys and values


def test_a_coordinate_called_alpha_and_a_parameter_called_h_have_sliders_of_their_own():
    alpha, h, va, vb = nh.symbols("alpha h va vb")
    k, beta = nh.symbols("k beta")
    L = (va**2 + vb**2) / 2 - k * alpha**2 - h * beta**2
    s = nh.System((alpha, beta), (va, vb), L, parameters={k: 1, h: 2}, q0=(1, 1), v0=(0, 0))
    p = nh.explore(
        s,
        nh.DLA(),
        h=(0.01, 0.2, 0.1),
        alpha=(0, 1, 0.5),
        rule=True,
        T=(1, 9, 5),
        start=("alpha", "vb"),
        parameters=("h",),
    )
    assert [*p.controls] == ["h", "alpha", "rule", "T", "q0.alpha", "v0.vb", "par.h"]
    moved = {"h": 0.05, "alpha": 0.3, "rule": "symmetric rule", "T": 2.0}
    p.set(**moved, **{"q0.alpha": 1.5, "v0.vb": 0.25, "par.h": 3.0})
    sol = run_code(p, system=s)["dla"]
    assert sol.method == nh.DLA(alpha=0.3, symmetric=True)
    assert (sol.h0, sol.steps) == (0.05, 40)
    assert sol.q[0].tolist() == [1.5, 1] and sol.v[0, 1] == pytest.approx(0.25, abs=0.2)
    assert sol.system == s.set(h=3.0)
    np.testing.assert_array_equal(curves(p)["DLA"][1], sol.energy())


def test_alpha_and_rule_act_on_every_method_that_has_them():
    methods = [nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4()]
    p = nh.explore(PARTICLE, methods, steps=20, alpha=(0, 1, 0.5), rule=True)
    p.set(alpha=0.4, rule="symmetric rule", h=0.05)
    space = run_code(p)
    for name in ("dla", "projector", "edla"):
        assert (space[name].method.alpha, space[name].method.symmetric) == (0.4, True)
    assert space["rk4"].method == nh.RK4()


def test_wrong_specifications_are_explained():
    x, vx = nh.symbols("x vx")
    mine = nh.System((x,), (vx,), vx**2, name="mine")
    for options, words in (
        ({"h": -0.2}, r"h = -0.2 must be a positive number or \(low, high, value\)"),
        ({"h": (0.1, 0.3)}, r"h = \(0.1, 0.3\) must be a positive number or \(low, high, value\)"),
        ({"h": (0.1, 0.3, 0.5)}, r"h = .* low <= value <= high"),
        ({"alpha": 0.5}, r"alpha = 0.5 must be \(low, high, value\)"),
        ({"T": -3}, r"T = -3 must be a positive number or \(low, high, value\)"),
        ({"start": ("y", 0, 1)}, r"start: 0 must be a name or \(name, low, high\)"),
        ({"start": [("y", 2, 3)]}, r"q0.y = \(2, 3, 1.0\) must be \(low, high, value\)"),
        ({"methods": ["DLA"]}, r"methods: 'DLA' is no Method; give one, as nh.DLA\(\)"),
        ({"methods": nh.DLA}, r"methods: .* is no Method"),
        ({"system": "particle"}, r"system: 'particle' is no System"),
        ({"system": []}, r"system is empty; give at least one, as nh.systems.particle\(\)"),
        ({"methods": []}, r"methods is empty"),
        ({"view": []}, r"view is empty"),
        ({"view": 3}, r"view: 3 is no str; give one, as 'energy'"),
        ({"h": (0, 0.2, 0.1)}, r"h = \(0, 0.2, 0.1\) must begin above 0"),
        ({"h": (0.1, np.inf, 0.2)}, r"h = .*inf.* all finite"),
        ({"start": [("x", -np.inf, 1)]}, r"q0.x = .* all finite"),
        ({"alpha": (0, 2, 0.5)}, r"alpha = 2.0 must be a number in \[0, 1\]"),
        ({"methods": nh.RK4(), "alpha": (0, 1, 0.5)}, r"alpha: none of \[RK4\(\)\] has it"),
        ({"methods": nh.RK4(), "rule": True}, r"rule: none of \[RK4\(\)\] has it"),
        ({"steps": 12.5}, r"steps = 12.5 must be a whole number, at least 1"),
        ({"steps": 0}, r"steps = 0 must be a whole number, at least 1"),
        ({"steps": 50, "T": 10}, r"give steps = 50 or T = 10, not both"),
        ({"v0": [1, 2, 3]}, r"v0 = \[1.0, 2.0, 3.0\] violates the constraints; \[1.0, 2.0, 1.0\]"),
        ({"size": 3}, r"size = 3 must be \(width, height\) in inches"),
        ({"extra": [len]}, r"extra = .* must be a dict of labels -> functions"),
        ({"stepsize": 0.1}, r"'stepsize' is no option of nh.explore; it has \['system'"),
        ({"system": TWO, "view": "t z"}, r"view 't z' is unknown"),
        ({"system": TWO, "parameters": ["a"]}, r"parameters: 'a' is none of <System particle"),
        ({"system": TWO, "start": ["theta"]}, r"start: 'theta' is neither .* <System particle"),
        ({"system": nh.systems.robot(), "parameters": ["K"]}, r"'K' is none of .* it has"),
        ({"system": mine}, "q0 is missing and <System mine"),
        ({"system": mine, "q0": [1]}, "v0 is missing and <System mine"),
        ({"view": "enrgy"}, "view 'enrgy' is unknown"),
        ({"start": ("vq",)}, "'vq' is neither a coordinate nor a velocity"),
    ):
        given = {"system": PARTICLE, "methods": nh.DLA()} | options
        with pytest.raises(ValueError, match=words):
            nh.explore(**given)


def test_the_free_velocities_are_chosen_once(monkeypatch):
    p, calls = particle_panel(), []
    for module in (velocities, setting):
        monkeypatch.setattr(module, "free_velocities", lambda *a: calls.append(a))
    p.set(**{"q0.y": 1.4, "v0.vx": 0.5, "h": 0.1})
    assert not calls and p.message.value == ""


def test_dependent_velocities_follow_while_the_start_moves():
    p = nh.explore(nh.systems.robot(), nh.DLA(), steps=5, start=("theta", "vpsi"))
    for theta in (-0.7, 0.0, 0.9):
        p.set(**{"q0.theta": theta, "v0.vpsi": 1.5})
        sol = run_code(p)["dla"]
        np.testing.assert_allclose(sol.system.A(sol.q[0]) @ sol.v[0], 0, atol=1e-11)
        assert sol.v[0, 3] == 1.5 and p.message.value == ""


# ---------------------------------------------------------------------------- readings


ALL = ["energy", "midpoint energy", "projected energy", "energy error"]
ALL += ["node constraint", "discrete constraint", "average constraint", "step"]


@pytest.mark.parametrize("view", ALL)
def test_numbers_are_those_of_the_curve_shown(view):
    """One reading for all curves, its name on the axis and in the number, which is its own."""
    methods = [nh.EDLA(), nh.DLA(), nh.Projector(), nh.RK4()]
    p = nh.explore(PARTICLE, methods, [ALL[0], view], steps=100, h=(0.02, 0.3, 0.1))
    p.set(view=view)
    assert view in p.picture.ax.get_ylabel()
    shown, r = curves(p), plot.reading(view, PARTICLE)
    for m in methods:
        sol = nh.integrate(PARTICLE, m, h=0.1, steps=100)
        name = type(m).__name__
        if r.discrete and not m.discrete:
            assert name not in shown and f"has no {view}" in p.readout.value
            continue
        x, y = r.read(sol)
        np.testing.assert_array_equal(shown[name], [x, y])
        number = plot.NUMBERS[r.number](x, y)
        assert f"{name}: {what_is_read(view, r.number)} " in p.readout.value
        assert number in p.readout.value
    assert p.readout.value.count(view) == len(methods)
    assert view != "step" or ">0.1 throughout<" in p.readout.value  # not from .1 to .1


def test_a_reading_is_one_and_the_same_for_all_methods():
    """EDLA is read where DLA is: at the nodes, or by steps."""
    for m in (nh.EDLA(), nh.DLA(), nh.Projector(), nh.RK4()):
        sol = nh.integrate(PARTICLE, m, h=0.1, steps=30)
        np.testing.assert_array_equal(plot.READINGS["energy"].read(sol)[1], sol.energy())
        A_v = plot.READINGS["node constraint"].read(sol)[1]
        np.testing.assert_array_equal(A_v, sol.constraint()[:, 0])
        if m.discrete:
            wd = plot.READINGS["discrete constraint"].read(sol)[1]
            np.testing.assert_array_equal(wd, sol.constraint("midpoints")[:, 0])
    rk4 = nh.integrate(PARTICLE, nh.RK4(), h=0.1, steps=3)
    with pytest.raises(ValueError, match="is a reading of discrete methods; RK4"):
        plot.constraint(rk4, at="midpoints")
    plt.close("all")


def test_moving_constraints_are_named_with_what_moves():
    table, particle = nh.systems.ball_on_turntable(), PARTICLE
    for name in ("node constraint", "node constraint 1", "average constraint"):
        assert "+ b" in plot.reading(name, table).ylabel, name
        if name != "node constraint 1":
            assert plot.reading(name, particle).ylabel == plot.READINGS[name].ylabel
    sol = nh.integrate(table, nh.RK4(), h=0.1, steps=5)
    A_v = np.einsum("kij,kj->ki", table.A(sol.q), sol.v)
    np.testing.assert_allclose(sol.constraint(), A_v + table.b(sol.q, sol.t), atol=1e-12)
    assert np.abs(A_v).max() > 0.1


def test_one_constraint_of_several_can_be_read():
    sol = nh.integrate(nh.systems.robot(), nh.RK4(), h=0.2, steps=30)
    for k in (1, 2):
        x, y = plot.reading(f"node constraint {k}", sol.system).read(sol)
        np.testing.assert_array_equal(y, sol.constraint()[:, k - 1])
    with pytest.raises(ValueError, match="view 'node constraint 3' is unknown"):
        plot.reading("node constraint 3", sol.system)


def test_the_time_axis_ends_at_T():
    p = nh.explore(PARTICLE, [nh.DLA(), nh.EDLA()], ["energy", "x y"], T=(10, 80, 60))
    assert p.picture.ax.get_xlim() == (0, 60)
    p.set(h=0.37)
    assert p.picture.ax.get_xlim() == (0, 60)
    p.reset()
    for T in (35.0, 60.4):
        p.set(T=T)
        assert p.picture.ax.get_xlim() == (0, T) and "outside" not in p.shown.value


def test_paths_are_drawn_to_scale_and_other_views_are_not():
    p = particle_panel()
    assert p.picture.ax.get_aspect() == "auto"
    p.set(view="x y")
    assert p.picture.ax.get_aspect() == 1
    p.set(view="energy")
    assert p.picture.ax.get_aspect() == "auto"


# ---------------------------------------------------------------------------- code


SYSTEMS = {name: (name, {}) for name in (*nh.systems.catalogue, *nh.systems.on_groups)}
SYSTEMS |= {"by log": ("suslov", {"rule": "log"}), "longer": ("sleigh", {"a": 0.3})}


@pytest.mark.parametrize("name, keywords", SYSTEMS.values(), ids=SYSTEMS)
def test_the_code_runs_as_pasted_for_every_system(name, keywords):
    system = getattr(nh.systems, name)(**keywords)
    p = nh.explore(system, [nh.DLA(), nh.RK4()], h=(0.01, 0.1, 0.05), steps=4)
    space = run_code(p)
    assert space["system"] == system
    assert getattr(space["system"], "rule", None) == getattr(system, "rule", None)
    assert space["ax"].lines
    for name, (_, y) in curves(p).items():
        np.testing.assert_array_equal(y, space[name.lower()].energy())


def test_the_code_has_the_numbers_one_would_write():
    p = particle_panel(start=("y", "vx"))
    p.set(**{"h": 0.15000000000000002, "q0.y": 1.1 + 0.2, "v0.vx": 0.30000000000000004})
    text = p._code(p.values)
    assert "h=0.15, " in text and "q0, v0 = [0.0, 1.3, 0.0], [0.3, 1.0, 0.39]" in text
    assert 'nh.plot.draw([dla, projector, rk4], "energy")' in text


def test_the_code_tells_two_runs_of_one_method_apart():
    p = nh.explore(PARTICLE, [nh.DLA(), nh.DLA(alpha=0.3), nh.DLA(alpha=0.7)], steps=10)
    space = run_code(p)
    alphas = [space[name].method.alpha for name in ("dla", "dla_2", "dla_3")]
    assert alphas == [0.5, 0.3, 0.7]
    assert "DLA(alpha=0.3): energy spread" in p.readout.value


def test_a_system_that_only_has_the_name_of_one_of_the_catalogue_is_the_readers_own():
    x, vx = nh.symbols("x vx")
    mine = nh.System((x,), (vx,), vx**2 / 2 - x**4, name="particle", q0=[1], v0=[0])
    p = nh.explore(mine, nh.DLA(), steps=10)
    assert "nh.systems.particle" not in p._code(p.values)
    assert run_code(p)["dla"].system == mine


def test_the_signature_names_every_option():
    names = {"h", "alpha", "rule", "T", "steps", "start", "parameters", "extra"}
    assert names <= {*inspect.signature(nh.explore).parameters}


# ---------------------------------------------------------------------------- starts and errors


@pytest.mark.parametrize("values", [{}, {"h": 0.1, "alpha": 0.3, "q0.y": 1.5, "v0.vx": 0.5}])
def test_copy_as_code_reproduces_what_is_shown(panel, values):
    panel.reset()
    panel.set(**values)
    space = {}
    exec(panel._code(panel.values), space)
    for name in ("dla", "projector", "rk4"):
        sol = space[name]
        spread = f"{np.ptp(sol.energy()):.3g}"
        assert f"{type(sol.method).__name__}: energy spread" in panel.readout.value
        assert spread in panel.readout.value
    _, y = panel.picture.moving[0].get_data()
    np.testing.assert_allclose(y, space["dla"].energy(), rtol=1e-13)


@pytest.mark.parametrize("name", ["sleigh", "snakeboard", "rolling_disk", "particle"])
def test_velocities_asked_for_are_free_or_named(name):
    """Every choice of velocities: the others follow from these, or it is said that they do not."""
    s = nh.systems.catalogue[name]()
    q0, rng = np.array(s.q0, float) + 0.3, np.random.default_rng(1)
    n, m = len(s.v), len(s.constraints)
    for asked in itertools.chain(*(itertools.combinations(range(n), k) for k in range(n + 1))):
        others = [k for k in range(n) if k not in asked]
        if np.linalg.matrix_rank(s.A(q0)[:, others], 1e-9) < m:
            with pytest.raises(ValueError, match="cannot be chosen freely"):
                free_velocities(s, q0, asked)
            continue
        v0, free = rng.normal(size=n), free_velocities(s, q0, asked)
        assert set(asked) <= set(free) and len(free) == n - m
        v = complete_velocity(s, q0, v0, free)
        np.testing.assert_allclose(s.A(q0) @ v, 0, atol=1e-12)
        np.testing.assert_array_equal(v[free], v0[free])


@pytest.mark.parametrize(
    "system, name",
    [("particle", "vz"), ("rigid_body", "w1"), ("rubber_ball", "w1"), ("ball", "w2")],
)
def test_a_slider_sets_a_velocity_bound_or_on_a_group(system, name):
    s = getattr(nh.systems, system)()
    p = nh.explore(s, nh.DLA(), h=(0.01, 0.1, 0.05), steps=5, start=(name,))
    k = [str(v) for v in s.v].index(name)
    p.controls[f"v0.{name}"].value = s.v0[k] + 0.7
    space = {}
    exec(p._code(p.values), space)
    assert p.message.value == ""
    assert space["dla"].v[0][k] == pytest.approx(s.v0[k] + 0.7)


def test_free_velocities_serve_wherever_the_slider_goes():
    p = nh.explore(nh.systems.free_particle(), [nh.DLA()], steps=20, start=(("y", -1.0, 2.0),))
    for y in (-1.0, 0.0, 2.0):
        p.set(**{"q0.y": y})
        assert p.message.value == ""


def test_a_new_view_gets_limits_of_its_own():
    p = particle_panel()
    p.set(view="node constraint")
    low, high = p.picture.ax.get_ylim()
    assert -2 < low < high < 2
    p.set(view="energy")
    assert p.picture.ax.get_ylim()[0] > 2


def test_an_integration_error_is_a_sentence_and_the_computed_part_is_drawn():
    fast = {"q0": (0, 0, 0, np.pi / 2), "v0": (6, 0, 1, 6), "h": (0.05, 0.2, 0.1)}
    p = nh.explore(nh.systems.robot(), [nh.EDLA()], steps=100, **fast)
    assert "no positive step exists" in p.message.value
    assert "Traceback" not in p.message.value
    line, stop = p.picture.moving
    assert 1 <= len(line.get_data()[0]) < 100
    assert len(stop.get_data()[0]) == 1  # the mark where it stopped


def test_copy_as_code_of_ones_own_system():
    x, vx = nh.symbols("x vx")
    k = nh.symbols("k")
    mine = nh.System((x,), (vx,), vx**2 / 2 - k * x**2, parameters={k: 1}, name="mine")
    p = nh.explore(mine, nh.DLA(), q0=[1], v0=[0], parameters=["k"], steps=10)
    p.set(**{"par.k": 1.5})
    space = {}
    exec(p._code(p.values), space)
    assert space["dla"].system == mine.set(k=1.5)
    composed = nh.Composition(nh.DLA(), order=4)
    p = nh.explore(mine, composed, q0=[1], v0=[0], steps=10)
    exec(p._code(p.values), space)
    assert space["composition"].method == composed
    p = nh.explore(mine.set(k=0), nh.DLA(), q0=[1], v0=[0], parameters=[("k", -2.0, 3.0)], steps=10)
    assert (p.controls["par.k"].min, p.controls["par.k"].max) == (-2, 3)


def odd():
    """A system with all that one may state, and symbols whose names are no variables."""
    x, y, vx, vy, k, m = nh.symbols(["class", "beta", "vx", "nh", "I", "m"])
    t, mass = sp.Symbol("t"), sp.Symbol("mass", positive=True)
    L = mass * (vx**2 + m * vy**2) / 3 - k * sp.cos(x - t) * sp.sqrt(1 + y**2) + sp.pi * x / 7
    start = {"q0": [0.1, 0.2], "v0": [0.3, 0.4]}
    return nh.System(
        (x, y), (vx, vy), L, [vy - sp.sin(x) * vx + sp.Rational(1, 3)], t=t,
        forces=[-0.1 * vx, sp.Piecewise((1, x < 2), (y, True))], metric=[[2, 0], [0, 1 + x**2]],
        parameters={k: 0.30000000000000004, m: 2, mass: 1.5}, name="it's \"odd\"", **start,
    )  # fmt: skip


def by_fields():
    x, y, theta, vx, vy, vtheta = nh.symbols("x y theta vx vy vtheta")
    fields = [{x: sp.cos(theta), y: sp.sin(theta)}, {theta: 1}]
    start = {"q0": [0, 0, 0.1], "v0": [np.cos(0.1), np.sin(0.1), 1.0]}
    L = (vx**2 + vy**2 + vtheta**2) / 2
    return nh.System((x, y, theta), (vx, vy, vtheta), L, fields=fields, name="skate", **start)


def on_a_group():
    w1, w2, w3 = w = nh.symbols("w1 w2 w3")
    start = {"q0": [1, 0, 0, 0], "v0": [2, 1, 1]}
    L = (w1**2 + 2 * w2**2 + 3 * w3**2) / 2
    return nh.GroupSystem(nh.groups.SO3, w, L, [w3 - w1 / 2], rule="log", name="top", **start)


@pytest.mark.parametrize("make", [odd, by_fields, on_a_group, nh.systems.spherical_pendulum])
def test_a_system_of_one_s_own_is_written_out(make):
    own = make()
    space = {}
    exec("\n".join(["import nhlab as nh", *lines_of_system(own)]), space)
    assert space["system"] == own and getattr(space["system"], "rule", "") == getattr(
        own, "rule", ""
    )
    p = nh.explore(own, nh.DLA(), h=(0.01, 0.1, 0.05), steps=4)
    np.testing.assert_array_equal(run_code(p)["dla"].q, p.sheet.runs.sols["dla"].q)


def test_what_cannot_be_written_out_is_left_to_the_reader():
    reduced = nh.systems.snakeboard().set(J0=0.5)
    reduced.__class__ = type("Kind", (nh.System,), {})
    assert lines_of_system(reduced) == ()


def test_what_cannot_be_drawn_is_named():
    sol = nh.integrate(PARTICLE, nh.DLA(), h=0.1, steps=3)
    with pytest.raises(ValueError, match="at = 'middle' is unknown; choose one of"):
        plot.energy(sol, at="middle")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.energy([])
