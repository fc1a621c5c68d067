"""Systems and methods: every wrong argument is a ValueError that names it, and a remedy."""

import inspect

import numpy as np
import pytest
import sympy as sp
from runs import refused
from starts import PARTICLE

import nhlab as nh

pytestmark = pytest.mark.usefixtures("silent")
x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
a, t = nh.symbols("a t")
T = (vx**2 + vy**2 + vz**2) / 2
Q, V = (x, y, z), (vx, vy, vz)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, "0.5", np.nan, True, None, [0.5], 1j], ids=repr)
@pytest.mark.parametrize("make", [nh.DLA, nh.Projector, nh.EDLA, nh.Variational])
def test_alpha(make, alpha):
    refused(lambda: make(alpha=alpha), f"alpha = {alpha!r}", "[0, 1]")
    if make is nh.DLA and alpha is not None:
        refused(lambda: make(constraint_alpha=alpha), f"constraint_alpha = {alpha!r}", "[0, 1]")


@pytest.mark.parametrize(
    "value", [dict(symmetric="yes"), dict(symmetric=2), dict(symmetric=None)], ids=str
)
def test_symmetric(value):
    refused(lambda: nh.DLA(**value), "symmetric = ", "True or False")


@pytest.mark.parametrize("value", [0, -1e-9, 1.5, "tight", np.nan, None], ids=repr)
def test_tolerance_of_reference(value):
    refused(lambda: nh.Reference(rtol=value), f"rtol = {value!r}")


def test_methods_that_cannot_treat_a_system():
    ball = nh.systems.spherical_pendulum()
    run = dict(h=0.1, steps=1)
    refused(lambda: nh.integrate(PARTICLE, nh.Variational(), **run),
            "Variational cannot treat velocity constraints", "nh.DLA")  # fmt: skip
    refused(lambda: nh.source(PARTICLE, nh.Variational()), "nh.DLA")
    refused(lambda: nh.integrate(ball, nh.Projector(), **run), "holonomic", "nh.DLA")
    quartic = nh.System((x,), (vx,), vx**4 + vx**2, q0=[0], v0=[1])
    refused(lambda: nh.integrate(quartic, nh.Projector(), **run), "quadratic", "nh.DLA")
    with_metric = nh.System((x,), (vx,), vx**4 + vx**2, q0=[0], v0=[1], metric=[[1]])
    refused(lambda: nh.integrate(with_metric, nh.Projector(), **run), "quadratic")


SYSTEMS = {
    "nonlinear constraint": (
        lambda: nh.System(Q, V, T, [vz - vx**2]), "-vx**2 + vz", "not linear in the velocities"),
    "sine of a velocity": (lambda: nh.System(Q, V, T, [sp.sin(vz)]), "sin(vz)", "not linear"),
    "holonomic among constraints": (
        lambda: nh.System(Q, V, T, [x**2 + y**2 - 1]), "no velocity", "pass it as holonomic"),
    "velocity among holonomic": (
        lambda: nh.System(Q, V, T, holonomic=[vz - x]), "must depend on q and t alone"),
    "holonomic in a time that is not named": (
        lambda: nh.System(Q, V, T, holonomic=[z - t]), "['t'] occur", "t=t if it is the time"),
    "dependent constraints": (
        lambda: nh.System(Q, V, T, [vz - y * vx, 2 * vz - 2 * y * vx]), "dependent", "rank 1 of 2"),
    "zero constraint": (lambda: nh.System(Q, V, T, [0]), "dependent", "rank 0 of 1"),
    "repeated as holonomic": (
        lambda: nh.System(Q, V, T, [x * vx + y * vy], [x**2 + y**2 - 1]), "dependent"),
    "too many constraints": (
        lambda: nh.System((x,), (vx,), vx**2, [vx, 2 * vx]), "2 constraints on 1 coordinates"),
    "no kinetic term": (lambda: nh.System(Q, V, (vx**2 + vy**2) / 2), "singular", "kinetic term"),
    "singular M": (lambda: nh.System((x, y), (vx, vy), (vx + vy) ** 2), "singular", "inverse"),
    "linear L": (lambda: nh.System((x,), (vx,), x * vx), "singular"),
    "unbound symbol": (
        lambda: nh.System((x,), (vx,), a * vx**2), "['a'] occur in L", "parameters={'a': number}"),
    "unbound time": (
        lambda: nh.System((x,), (vx,), vx**2 - t * x), "['t'] occur", "t=t if it is the time"),
    "a dynamicsymbol in L": (
        lambda: nh.System((x,), (vx,), vx**2 - sp.Function("u")(sp.Symbol("t"))),
        "L contains ['u(t)']", "from_mechanics"),
    "imaginary L": (lambda: nh.System((x,), (vx,), vx**2 - sp.I * x), "imaginary unit"),
    "metric as text": (
        lambda: nh.System((x,), (vx,), vx**2, metric="M"), "metric = 'M' is not a matrix"),
    "unknown parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: 1, "b": 2}), "'b' occurs neither"),
    "coordinate as parameter": (
        lambda: nh.System((x,), (vx,), vx**2 - x, parameters={x: 1}), "'x'"),
    "infinite parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: np.inf}), "'a'", "inf"),
    "NaN parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: np.nan}), "'a'", "nan"),
    "text as parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: "2"}), "'a'", "'2'"),
    "huge parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: 10**400}), "'a'"),
    "complex parameter": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters={a: 1j}), "'a'", "1j"),
    "parameters as list": (
        lambda: nh.System((x,), (vx,), a * vx**2, parameters=[1]), "parameters"),
    "two symbols of one name": (
        lambda: nh.System((x,), (vx,), a * vx**2 + sp.Symbol("a") * x, parameters={"a": 1}),
        "two different symbols", "'a'"),
    "other assumptions": (
        lambda: nh.System((x,), (vx,), sp.Symbol("vx") ** 2 / 2 - x**2), "assumptions"),
    "a coordinate twice": (lambda: nh.System((x, x), (vx, vy), T), "['x'] more than once"),
    "x as coordinate and velocity": (lambda: nh.System((x, y), (x, vy), T), "['x']"),
    "unequal lengths": (lambda: nh.System((x, y), (vx,), vx**2), "2 symbols", "v has 1"),
    "no coordinates": (lambda: nh.System((), (), 0), "q is empty"),
    "text for q": (lambda: nh.System("x", "vx", vx**2), "q: 'x'", "nh.symbols"),
    "numbers for v": (lambda: nh.System((x,), (1,), x), "v: 1", "nh.symbols"),
    "function for q": (
        lambda: nh.System((sp.Function("f")(t),), (vx,), vx**2), "f(t)", "from_mechanics"),
    "time is a coordinate": (lambda: nh.System((t,), (vx,), vx**2, t=t), "'t'"),
    "L is text": (lambda: nh.System((x,), (vx,), "v**"), "L = 'v**'"),
    "L is a matrix": (lambda: nh.System((x,), (vx,), sp.Matrix([vx**2])), "L = ", "scalar"),
    "L is None": (lambda: nh.System((x,), (vx,), None), "L = None"),
    "constraint is true": (lambda: nh.System((x,), (vx,), vx**2, [True]), "constraints = True"),
    "metric of another shape": (
        lambda: nh.System(Q, V, T, [vz - y * vx], metric=[[1]]), "shape (1, 1)", "(3, 3)"),
    "metric not symmetric": (
        lambda: nh.System((x, y), (vx, vy), vx**2 + vy**2, [vx - x * vy], metric=[[1, 1], [0, 1]]),
        "metric", "symmetric"),
    "singular metric": (
        lambda: nh.System((x, y), (vx, vy), vx**2 + vy**2, [vx - x * vy], metric=[[1, 1], [1, 1]]),
        "metric", "invertible"),
    "type as L": (lambda: nh.System((x,), (vx,), int), "L = <class 'int'>"),
    "set unknown": (lambda: nh.systems.sleigh().set(b=1), "'b' is unknown", "a"),
    "set without parameters": (lambda: PARTICLE.set(b=1), "'b' is unknown", "none"),
    "set NaN": (lambda: nh.systems.sleigh().set(a=np.nan), "parameter a = nan"),
    "set text": (lambda: nh.systems.sleigh().set(a="0.3"), "parameter a = '0.3'"),
    "set None": (lambda: nh.systems.sleigh().set(a=None), "parameter a = None"),
    "no exact solution": (lambda: nh.systems.snakeboard().exact(1), "nh.Reference()"),
    "no metric": (
        lambda: nh.System((x, y), (vx, vy), vx**4 + vx**2 + vy**2, [vx - x * vy]).P([0, 1]),
        "M depends on the velocities", "metric"),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name):
    call, *fragments = SYSTEMS[name]
    refused(call, *fragments)


def test_public_functions_have_docstrings():
    """What is public says what it is."""
    for name in nh.__all__:
        assert inspect.getdoc(getattr(nh, name)), name


def test_every_method_has_a_public_name():
    """The list in nhlab/__init__.py stands there so that nothing is imported before it is used."""
    listed = {name for name in nh.__all__ if isinstance(getattr(nh, name), type)
              and issubclass(getattr(nh, name), nh.methods.method.Method)}  # fmt: skip
    assert listed == set(nh.methods.__all__)


@pytest.mark.parametrize("name", ["q0", "q1"])
def test_positions_on_groups_are_refused_by_their_own_name(name):
    """On R x SE(2), where the part on R is cut off first."""
    v, g, r = (nh.symbols(x) for x in ("vx w1 w2 w3", "gx gy theta", "x"))
    L = sum(u**2 for u in v) / 2
    system = nh.GroupSystem(nh.groups.SE2, v, L, g=g, r=(r,))
    given = {"q0": [0.0, 0, 0, 0], "q1": [0.1, 0, 0, 0]} | {name: 1.0}
    with pytest.raises(ValueError, match=f"{name} has shape"):
        nh.integrate(system, nh.DLA(), **given, h=0.1, steps=1)


BALL = dict(group=nh.groups.SO3, v=nh.symbols("vx w1 w2 w3"), r=[x], L=vx**2 / 2)
RUN = nh.integrate(PARTICLE, nh.DLA(), [0, 1, 0], [1, 1, 1], h=0.1, steps=3)
POLAR = nh.System(Q[:2], V[:2], vx**2 / 2 + x**2 * vy**2 / 2, [vy - vx])
OF_NEWCOMERS = {  # what they write -> what they should read
    "parameters in the place of holonomic": (
        lambda: nh.System([x], [vx], vx**2 / 2 - a * x, (), {"a": 1}),
        ["holonomic = {a: 1}", "parameters={...}"],
    ),
    "a number that nothing asks for": (
        lambda: nh.System([x], [vx], vx**2 / 2, parameters={"g": 9.81}),
        ["'g' occurs neither in L", "leave it out"],
    ),
    "a number under a wrong name": (
        lambda: nh.System([x], [vx], vx**2 / 2 - a * x, parameters={"g": 9.81}),
        ["'g' occurs neither in L", "no number yet: a"],
    ),
    "a misspelt assumption": (
        lambda: nh.symbols("m", postive=True),
        ["assumptions: 'postive'", "did you mean 'positive'?"],
    ),
    "holonomic constraints on a group": (
        lambda: nh.GroupSystem(**BALL, holonomic=[x]),
        ["holonomic = [x]", "nh.System"],
    ),
    "method and system exchanged": (
        lambda: nh.integrate(nh.DLA(), PARTICLE, h=0.1, T=1),
        ["system = DLA(alpha=0.5)", "system first"],
    ),
    "an event in a symbol of another system": (
        lambda: nh.integrate(PARTICLE, nh.DLA(), h=0.1, T=1, events=a),
        ["events = a", "its symbols are x, y, z"],
    ),
    "a velocity at a pole": (
        lambda: nh.integrate(POLAR, nh.DLA(), {}, {"vx": 1}, h=0.1, T=1),
        ["violates the constraints", "M has no inverse at q0", "start elsewhere"],
    ),
    "a time and a name exchanged": (lambda: RUN.at(1, "x"), ["name = 1", "sol.at('x', t)"]),
    "a column by a call": (lambda: RUN("x"), ["t = 'x'", "sol['x']"]),
    "many step sizes for one run": (
        lambda: nh.integrate(PARTICLE, nh.DLA(), h=[0.1, 0.2], T=1),
        ["h = [0.1, 0.2] must be one number", "nh.ensemble"],
    ),
    "a number of workers for an executor": (
        lambda: nh.ensemble(PARTICLE, nh.DLA(), h=[0.1, 0.2], steps=2, executor=4),
        ["executor = 4", "ProcessPoolExecutor()"],
    ),
    "an inequality for an event": (
        lambda: nh.integrate(PARTICLE, nh.DLA(), h=0.1, T=1, events=PARTICLE.q[0] > 1),
        ["events = x > 1", "give x - 1"],
    ),
    "an event that never changes": (
        lambda: nh.integrate(PARTICLE, nh.DLA(), h=0.1, T=1, events=[3]),
        ["events[0] = 3", "never changes"],
    ),
    "half a state for SciPy": (
        lambda: nh.to_scipy(PARTICLE).fun(0, [0, 1, 0]),
        ["y has 3 entries", "give 6: q, then v"],
    ),
    "no component for complete": (
        lambda: PARTICLE.complete({"y": 1}),
        ["no components are too few", "give 2, as in "],
    ),
    "two step sizes for an order": (
        lambda: nh.diagnostics.order(PARTICLE, nh.DLA(), T=1, hs=[0.1, 0.05]),
        ["fewer than three errors", "at least three hs"],
    ),
    "a feedback as a text": (
        lambda: nh.integrate(
            nh.System([x], [vx], vx**2 / 2, forces=[a]), nh.DLA(), [0], [0],
            h=0.1, T=1, inputs={"a": "2*x"},
        ),
        ["inputs['a'] = '2*x'", "in symbols"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", OF_NEWCOMERS)
def test_what_newcomers_write(mistake):
    call, texts = OF_NEWCOMERS[mistake]
    refused(call, *texts)
