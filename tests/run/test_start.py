"""At the door: every wrong argument of a run is a ValueError that names it and a remedy."""

import functools

import numpy as np
import pytest
import sympy as sp
from runs import refused
from starts import PARTICLE

import nhlab as nh
from nhlab.run.start import Start

pytestmark = pytest.mark.usefixtures("silent")
x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
a = nh.symbols("a")
T = (vx**2 + vy**2 + vz**2) / 2
Q, V = (x, y, z), (vx, vy, vz)
METHODS = [nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reference(), nh.Reversible(),
           nh.DiscreteGradient(), nh.Composition(nh.DLA())]  # fmt: skip
GOOD = dict(q0=[0, 1, 0], v0=[1, 1, 1], h=0.1, steps=10)

# ---------------------------------------------------------------------------- integrate

ARGUMENTS = [
    ("h", 0, "h = 0 must be positive"),
    ("h", -0.1, "h = -0.1 must be positive", "reverse v0"),
    ("h", "0.1", "h = '0.1' must be a finite number"),
    ("h", None, "h is missing: give the step size"),
    ("h", True, "h = True must be"),
    ("h", float("nan"), "h = nan"),
    ("h", float("inf"), "h = inf"),
    ("h", 10**400, "h = 1000"),
    ("h", [0.1], "h = [0.1]"),
    ("h", 1j, "h = 1j"),
    ("t0", float("nan"), "t0 = nan must be a finite number"),
    ("t0", "now", "t0 = 'now'"),
    ("steps", 2.5, "steps = 2.5 must be a whole number"),
    ("steps", -1, "steps = -1 must be a whole number, at least 0"),
    ("steps", "10", "steps = '10'"),
    ("steps", None, "steps = None"),
    ("steps", True, "steps = True"),
    ("steps", float("nan"), "steps = nan"),
    ("steps", float("inf"), "steps = inf"),
    ("every", 0, "every = 0 must be a whole number, at least 1"),
    ("every", 1.5, "every = 1.5"),
    ("every", 3, "steps = 10 is not a multiple of every = 3", "steps = 9"),
    ("backend", "fortran", "backend = 'fortran' is unknown", "numba"),
    ("backend", 3, "backend = 3 is unknown"),
    ("backend", np.ones(3), "backend = "),
    ("backend", ["python"], "backend = ['python']"),
    ("q0", [0, 1], "q0 has shape (2,)", "(3,)", "(x, y, z)"),
    ("q0", [[0, 1, 0]], "q0 has shape (1, 3)"),
    ("q0", 5, "q0 has shape ()"),
    ("q0", ["a", "b", "c"], "q0 = ['a', 'b', 'c'] is not an array of numbers"),
    ("q0", [0, np.nan, 0], "q0 = ", "nan", "must be finite"),
    ("q0", [0, np.inf, 0], "inf", "must be finite"),
    ("q0", [0, 1j, 0], "q0 = ", "not an array of numbers"),
    ("q0", [[0], [1, 2], 0], "q0 = ", "not an array of numbers"),
    ("q0", {"xx": 0}, "q0: 'xx' is none of"),
    ("q0", 10**400, "q0"),
    ("v0", [1, 1], "v0 has shape (2,)"),
    ("v0", [1, np.nan, 1], "v0 = ", "must be finite"),
    ("v0", "fast", "v0 = 'fast'"),
    ("v0", 10**400, "v0"),
    ("v0", [1e200, 0, 5e199], "v0 = ", "violates the constraints"),  # too large to be squared
    ("v0", None, "give either v0, the initial velocity, or q1"),
    ("q1", [0, 1, 0], "give either v0, the initial velocity, or q1"),
]


@pytest.mark.parametrize("row", ARGUMENTS, ids=lambda row: f"{row[0]}={row[1]!r:.20}")
def test_arguments_of_integrate(row):
    name, value, *fragments = row
    for method in (nh.DLA(), nh.Reference()):
        refused(lambda m=method: nh.integrate(PARTICLE, m, **{**GOOD, name: value}), *fragments)


def no_run(says, system, method, q0=None, v0=None, **options):
    """The message of a run that is refused."""
    options = dict(h=0.1, steps=1) | options
    return refused(lambda: nh.integrate(system, method, q0, v0, **options), *says)


def test_missing_start():
    system = nh.System(Q, V, T)  # has no q0 of its own
    no_run(["q0 is missing"], system, nh.DLA())
    no_run(["give either v0"], system, nh.DLA(), [0, 0, 0])


def test_second_position():
    no_run(["q1 has shape (2,)"], PARTICLE, nh.DLA(), [0, 1, 0], q1=[0, 1])
    no_run(["q1 = "], PARTICLE, nh.DLA(), [0, 1, 0], q1=[0, 1, np.nan])
    for method in (nh.RK4(), nh.Reference()):
        no_run([repr(method), "v0, not from q1"], PARTICLE, method, [0, 1, 0], q1=[0.1, 1.1, 0.1])


def test_system_and_method():
    no_run(["system = 'particle'", "nh.System"], "particle", nh.DLA())
    no_run(["system = ", "nh.System"], nh.systems.particle, nh.DLA())
    no_run(["DLA is a class", "nh.DLA()"], PARTICLE, nh.DLA)
    no_run(["method = 'DLA'", "nh.DLA()"], PARTICLE, "DLA")
    refused(lambda: nh.source("particle", nh.DLA()), "nh.System")
    refused(lambda: nh.source(PARTICLE, nh.DLA), "nh.DLA()")
    refused(lambda: nh.source(PARTICLE, nh.Reference()), "Reference chooses its own steps")


# ---------------------------------------------------------------------------- states


quartic = nh.System(Q, V, (vx**2 + vy**2 + vz**2) ** 2 + T, [vz - y * vx])
OFF = [([0.1, 0.2, 0.3, 0.4, 0.7], [1.23456789012, 0.2, 0.3, 0.4, 0.5]), ([0, 1, 0], [1, 1, 0])]


@pytest.mark.parametrize(
    ("system", "method"),
    [*((PARTICLE, m) for m in METHODS), (nh.systems.snakeboard(), nh.DLA()), (quartic, nh.DLA())],
)
def test_velocity_off_the_constraints(system, method):
    """The message names the residual and a velocity that works when copied from it."""
    q0, v0 = OFF[len(system.q) == 3]
    message = no_run(["violates the constraints", "A(q0) v0 = ["], system, method, q0, v0)
    near = [float(s) for s in message.split("velocity is [")[1].split("]")[0].split(",")]
    nh.integrate(system, method, q0, near, h=0.1, steps=2)
    assert ("system.project" in message) == (system is not quartic)  # whose M depends on v
    if system is PARTICLE:
        assert "v0 = [1, 1, 0]" in message and "A(q0) v0 = [-1], not 0" in message
        np.testing.assert_allclose(near, PARTICLE.project(q0, v0), rtol=1e-9)


def test_position_off_the_holonomic_constraints():
    ball = nh.systems.spherical_pendulum()
    says = ["q0 = [1.1, 0, 0] is off the holonomic constraints", "0.21"]
    for method in (nh.DLA(), nh.Variational(), nh.EDLA(), nh.RK4(), nh.Reference()):
        no_run(says, ball, method, [1.1, 0, 0], [0, 1, 0])
    no_run(["A(q0) v0 = [2]"], ball, nh.DLA(), [1, 0, 0], [1, 1, 0])
    no_run(["q1 = [1.1, 0"], ball, nh.DLA(), [1, 0, 0], q1=[1.1, 0, 0])


def test_large_and_small_units_at_the_door():
    """A position on the sphere is on the sphere in millimetres and in megametres."""
    for l in (1e-6, 1e8):
        ball = nh.systems.spherical_pendulum(l=l, g=l)
        q0, v0 = l * np.array([1, 2, 2]) / 3, l * np.array([2, -1, 0])
        nh.integrate(ball, nh.DLA(), q0, v0, h=0.1, steps=1)
        no_run(["off the holonomic constraints"], ball, nh.DLA(), q0 * 1.001, v0)
        no_run(["violates the constraints"], ball, nh.DLA(), q0, v0 * [1.001, 1, 1])


def test_round_off_at_zero_is_no_violation():
    """sin(pi) is 1.2e-16, and meant to be zero."""
    zero = np.sin(np.pi)
    rail = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2, holonomic=[x], q0=[zero, 0])
    nh.integrate(rail, nh.DLA(), [zero, 0], [0, 1], h=0.1, steps=1)
    nh.integrate(rail, nh.DLA(), [0, 0], [zero, 0], h=0.1, steps=1)
    nh.integrate(nh.systems.sleigh(), nh.DLA(), [0, 0, np.pi], [1, 0, 0.1], h=0.1, steps=1)


@pytest.mark.ledger("CM01-7")
def test_rank_loss_at_the_start():
    board, q0 = nh.systems.snakeboard(), [0, 0, 0, 0, np.pi / 2]
    says = ["dependent at q0 = [0, 0, 0, 0, 1.570796327]", "rank 1 of 2", "start elsewhere"]
    for method in METHODS:
        no_run(says, board, method, q0, [0, 0, 0, 1, 1])


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4()], ids=repr)
@pytest.mark.parametrize("count", [1, 2])
def test_constraints_that_are_not_finite_at_the_start(count, method):
    """Also where their rank would have to be found, which NumPy refuses."""
    system = nh.System(Q, V, T, [vy - vx / x, vz - y * vx][:count])
    says = ["constraints are not finite at q0 = [0, 1, 0]; start elsewhere"]
    no_run(says, system, method, [0, 1, 0], [0, 1, 0])


def test_where_L_is_not_finite():
    light = nh.System((x,), (vx,), -sp.sqrt(1 - vx**2))
    for method in (nh.DLA(), nh.EDLA(), nh.Variational()):
        no_run(["v0 = [2"], light, method, [0], [2.0])
        no_run(["q1 = [2"], light, method, [0], q1=[2.0])
    for method in (nh.DLA(alpha=0), nh.RK4(), nh.Reference()):
        no_run(["q0 = [0"], nh.systems.kepler(), method, [0, 0], [1, 0])


def test_numbers_of_any_kind_are_numbers():
    """NumPy and SymPy numbers are as good as Python's."""
    one = nh.System((x,), (vx,), a * vx**2 / 2 - x**2, parameters={a: sp.Rational(1, 2)})
    two = nh.System((x,), (vx,), a * vx**2 / 2 - x**2, parameters={"a": np.float32(0.5)})
    assert one == two == nh.System((x,), (vx,), a * vx**2 / 2 - x**2, parameters={a: 0.5})
    assert one.set(a=sp.pi).parameters == {a: np.pi}
    b = nh.integrate(one, nh.DLA(), (1,), np.float32([0.5]), h=np.float64(0.5), steps=np.int64(4))
    c = nh.integrate(one, nh.DLA(), [1], [0.5], h=sp.Rational(1, 2), steps=4.0)
    np.testing.assert_array_equal(b.q, c.q)


def test_arguments_are_not_changed_or_kept():
    q0, v0 = np.array([0.0, 1, 0]), np.array([1.0, 1, 1])
    sol = nh.integrate(PARTICLE, nh.DLA(), q0, v0, h=0.1, steps=3)
    q0[:], v0[:] = 9, 9
    np.testing.assert_array_equal(sol.q[0], [0, 1, 0])


# ---------------------------------------------------------------------------- ensembles


SLEIGH = nh.systems.sleigh()
OF_ENSEMBLES = [
    (dict(q0=[0, 1]), "q0 has shape (3, 2); expected (K, 3)"),
    (dict(q0=np.zeros((3, 2, 3))), "q0 has shape (3, 2, 3)"),
    (dict(q0=[[0, 0, 0]] * 2), "h has 3 rows but q0 has 2"),
    (dict(v0=[[1, 0, 1]]), "h has 3 rows but v0 has 1"),
    (dict(v0=[[1, 0, 1], [1, 0, np.nan], [1, 0, 1]]), "v0 = "),
    (dict(v0=[[1, 0, 1], [1, 1, 0], [1, 0, 1]], parameters=None), "v0[1] = [1, 1, 0] violates"),
    (dict(v0=[1, 1, 1]), "member 0: v0 = [1, 1, 1] violates the constraints"),
    (dict(v0=None), "give either v0"),
    (dict(h=0.1, parameters=None), "nothing varies"),
    (dict(h=[0.1, 0.2]), "parameters['a'] has 3 rows but h has 2"),
    (dict(h=-1), "h = -1 must be positive"),
    (dict(h=[0.1, -0.2, 0.1]), "h[1] = -0.2 must be positive"),
    (dict(h=[0.1, 0.2, np.inf]), "h[2] = inf must be a finite number"),
    (dict(h=[[0.1] * 3]), "h has shape (1, 3)"),
    (dict(h="small"), "h = 'small' must be a finite number"),
    (dict(h=[0.1, [0.2]]), "h = "),
    (dict(h={}), "h = "),
    (dict(h={0.1}), "h = "),
    (dict(q0=10**400), "q0"),
    (dict(h=["small"]), "h = ['small'] must be a number or K numbers"),
    (dict(parameters={"b": [1, 2, 3]}), "'b' is unknown here; this system has: I, a, m"),
    (dict(parameters={"a": [0.1, np.nan, 0.3]}), "parameters['a'][1] = nan"),
    (dict(parameters={"a": np.nan}), "parameters['a'] = nan"),
    (dict(parameters=[0.1, 0.2, 0.3]), "must map names to numbers or arrays"),
    (dict(parameters={"m": [1, 1, 0]}), "member 2: there is no motion"),
    (dict(steps=10, every=4), "multiple of every = 4"),
    (dict(chunk=0), "chunk = 0 must be a whole number, at least 1"),
    (dict(summary="first"), "summary = 'first' is neither"),
    (dict(summary=[]), "summary = [] is neither"),
    (dict(backend="gpu"), "backend = 'gpu' is unknown"),
    (dict(backend=np.zeros(0)), "backend = "),
    (dict(method=nh.Reference()), "method = Reference()"),
    (dict(method=nh.DLA), "nh.DLA()"),
]


@pytest.mark.parametrize(("change", "fragment"), OF_ENSEMBLES, ids=str)
def test_arguments_of_ensemble(change, fragment):
    given = dict(method=nh.DLA(), q0=[0, 0, 0], v0=[1, 0, 1], steps=5, h=[0.1, 0.2, 0.3])
    given |= dict(parameters={"a": [0.1, 0.2, 0.3]})
    refused(lambda: nh.ensemble(SLEIGH, **given | change), fragment)
    assert nh.ensemble(SLEIGH, **given).ok.all()


def test_positions_of_an_ensemble_are_named():
    ball = nh.systems.spherical_pendulum()
    q0, v0 = [[1, 0, 0], [1, 0, 1]], [[0, 1, 0]] * 2
    refused(lambda: nh.ensemble(ball, nh.DLA(), q0, v0, h=0.1, steps=1), "q0[1] = [1, 0, 1]")


def test_the_member_whose_lagrangian_is_not_finite():
    x, vx = nh.symbols("x vx")
    well = nh.System((x,), (vx,), vx**2 / 2 + sp.log(x))
    for backend in ("python", "numpy"):
        with pytest.raises(ValueError, match=r"member 1: .*not finite"):
            nh.ensemble(well, nh.DLA(), [[1.0], [0.0]], [1.0], h=0.1, steps=2, backend=backend)
        assert nh.ensemble(well, nh.DLA(), [[1.0]], [1.0], h=0.1, steps=2, backend=backend).ok.all()


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4()], ids=repr)
@pytest.mark.parametrize("given", ["v0", "q1"])
def test_one_run_begins_as_one_of_many(given, method):
    """Arrays with an entry for each run, whether there is one or three; parts of them as well."""
    if given == "q1" and not method.discrete:
        return
    h, a = np.array([0.1, 0.05, 0.02]), np.array([0.2, 0.3, -0.1])
    state = {"v0": [-1, 0, 0.2]} if given == "v0" else {"v0": None, "q1": [-0.1, 0, 0.02]}
    start = functools.partial(Start, method=method, q0=[0, 0, 0], steps=4, t0=0.5, **state)
    many = start(SLEIGH, h=h, parameters={"a": a})
    assert len(many) == 3 and many.q0.shape == (3, 3) and many.batched_system.parameters != {}
    last = many.take([1, 2]).member(1)
    for k, one in enumerate([many.member(0), many.member(1), last]):
        alone = start(SLEIGH.set(a=a[k]), h=h[k])
        assert len(alone) == len(one) == 1 and one.system == alone.system and one.h == h[k]
        assert one.done == alone.done == (given == "q1" or method.variable_step)
        for name in ("q0", "row", "state", "shares"):
            x, y = getattr(one, name), getattr(alone, name)
            assert x.shape == y.shape and x.shape[0] == 1
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-14, err_msg=name)


def test_a_first_step_for_which_cpython_raises_is_taken_alone_as_in_company():
    """1/x at x = 0, in the branch of a Piecewise that is not taken; NumPy goes on."""
    x, vx = nh.symbols("x vx")
    system = nh.System((x,), (vx,), vx**2 / 2 - sp.Piecewise((x**4, x < 1), (1 / x, True)))
    start = functools.partial(Start, system, nh.EDLA(0.0, True), steps=1)
    alone, many = start([0.0], [1.0], h=0.1), start([[0.0]], [[1.0]], h=0.1, parameters={})
    assert np.isfinite(alone.state).all()
    np.testing.assert_allclose(alone.state, many.state, rtol=1e-14)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: nh.integrate(SLEIGH, nh.DLA(), steps=3), "^h is missing: give the step size, as "),
    (lambda: nh.ensemble(SLEIGH, nh.DLA(), h=None, steps=3), "^h is missing"),
    (lambda: nh.integrate(SLEIGH, nh.DLA(), {"x": 1}, h=0.1, steps=3),
     r"^v0 is missing: .* v0=\{\} starts at rest"),
    (lambda: nh.integrate(SLEIGH, nh.DLA(), [0, 0, 0], [0, 0, 0], q1=[0, 0, 0], h=0.1, steps=3),
     "give either v0"),
])  # fmt: skip
def test_what_is_missing_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
    assert nh.integrate(SLEIGH, nh.DLA(), {"x": 1}, {}, h=0.1, steps=3).steps == 3
