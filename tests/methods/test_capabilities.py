"""A method is one file: others ask what it can do, never of which class it is."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import nhlab as nh
from nhlab.browser.script import of_method
from nhlab.codegen.derivatives import used_pairs
from nhlab.methods.method import Method

HOUSE = Path(nh.__file__).parent
CLASSES = {*nh.methods.__all__}


def names_in(node):
    """The names and texts in an expression: DLA, nh.DLA, "DLA", (DLA, RK4)."""
    for x in ast.walk(node):
        yield getattr(x, "id", None) or getattr(x, "attr", None) or getattr(x, "value", None)


def asks_for_a_class(node):
    """True for isinstance(m, DLA), type(m) is DLA, type(m).__name__ == "DLA", case DLA()."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        return any(x in CLASSES for x in names_in(node.args[1]) if isinstance(x, str))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        named = any("type" in names_in(x) or "__class__" in names_in(x) for x in sides)
        return named and any(y in CLASSES for x in sides for y in names_in(x) if isinstance(y, str))
    return isinstance(node, ast.MatchClass) and any(x in CLASSES for x in names_in(node.cls))


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(m, Projector)",
        "isinstance(m, (nh.Reference, int))",
        "type(m) is DLA",
        "type(m) in (DLA, RK4)",
        "type(m).__name__ == 'Projector'",
        "match m:\n    case nh.DLA(): pass",
    ],
)
def test_asking_for_a_class_is_seen(code):
    assert any(map(asks_for_a_class, ast.walk(ast.parse(code))))
    for fine in ("isinstance(m, Method)", "m == Projector()", "type(m).__name__ == x"):
        assert not any(map(asks_for_a_class, ast.walk(ast.parse(fine))))


def test_no_file_outside_the_methods_asks_for_their_classes():
    files = [f for f in HOUSE.rglob("*.py") if f.parent.name != "methods"]
    assert len(files) > 100
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found = [node.lineno for node in ast.walk(tree) if asks_for_a_class(node)]
        assert not found, f"{file}: {found}"


# ---------------------------------------------------------------------------- methods of a reader


@dataclass(frozen=True, repr=False)
class Mirror(Method):
    """The projector method under another name and of no common class."""

    alpha: float = 0.5
    symmetric: bool = False
    takes_fields: ClassVar[bool] = True
    constraint_at: ClassVar[str] = "average"
    check, statement = nh.Projector.check, nh.Projector.statement
    split = staticmethod(nh.Projector.split)
    start_momentum, arriving = nh.Projector.start_momentum, nh.Projector.arriving
    state_start = staticmethod(nh.Projector.state_start)
    state_arriving = staticmethod(nh.Projector.state_arriving)


@dataclass(frozen=True, repr=False)
class Truth(Method):
    """The reference under another name."""

    rtol: float = 1e-12
    atol: float | None = None
    discrete: ClassVar[bool] = False
    has_step: ClassVar[bool] = False
    is_reference: ClassVar[bool] = True


def test_a_method_that_reflects_needs_no_other_file():
    system = nh.systems.particle()
    given = {"h": 0.1, "steps": 20}
    ours, known = (nh.integrate(system, m, **given) for m in (Mirror(), nh.Projector()))
    assert np.array_equal(ours.rows.array, known.rows.array)
    for one, other in zip(nh.plot.own_constraint(ours), nh.plot.own_constraint(known), strict=True):
        assert np.array_equal(one, other)
    found = nh.Symmetry(system, {"x": 1}).check(Mirror())
    assert "wd" not in vars(found) or not found.wd
    second = known.q[0] + 0.1 * np.array([1.0, 2.0, 3.0])  # which no motion in D reaches
    nh.integrate(system, Mirror(), known.q[0], q1=second, h=0.1, steps=1)
    with pytest.raises(ValueError, match="violates the discrete constraints"):
        nh.integrate(system, nh.DLA(), known.q[0], q1=second, h=0.1, steps=1)
    pages = [of_method(system, m, second=True) for m in (Mirror(), nh.Projector())]
    assert pages[0]["begin"] == pages[1]["begin"] and pages[0]["second"] == pages[1]["second"]
    assert of_method(system, nh.DLA())["begin"] != pages[0]["begin"]


def test_a_reference_needs_no_other_file(tmp_path):
    system = nh.systems.particle()
    ours, known = (nh.integrate(system, m, h=0.1, steps=20) for m in (Truth(), nh.Reference()))
    assert np.array_equal(ours.q, known.q)
    for call in (
        lambda: nh.source(system, Truth()),
        lambda: nh.export(system, Truth(), tmp_path / "step.py", h=0.1),
        lambda: nh.ensemble(system, Truth(), h=[0.1, 0.2], steps=3),
    ):
        with pytest.raises(ValueError, match="step"):
            call()
    assert of_method(system, Truth())["reference"]


def test_what_each_method_says_of_itself():
    values = [nh.DLA(), nh.EDLA(), nh.RK4(), nh.Reversible(), nh.Composition(), nh.Projector()]
    assert [m.constraint_at for m in values] == [
        *["midpoints"] * 2, *["nodes"] * 3, "average"
    ]  # fmt: skip
    assert [m for m in values if m.base] == [nh.Composition()]
    assert nh.RDLA().full == nh.DLA() and nh.REDLA().full == nh.EDLA() and nh.DLA().full is None
    every = {getattr(nh, name) for name in nh.methods.__all__}
    assert {m for m in every if m.composable} == {
        nh.DLA, nh.Variational, nh.Reversible, nh.DiscreteGradient, nh.EqualImpulses
    }  # fmt: skip
    assert {m for m in every if m.work_along_chord} == {nh.DiscreteGradient}
    assert {m for m in every if m.is_reference} == {nh.Reference}
    assert {m for m in every if not m.has_step} == {nh.Reference}


# ---------------------------------------------------------------------------- the rules of Method

PAIRS = [
    (nh.systems.particle, nh.DLA(constraint_alpha=0.3)),
    (nh.systems.particle, nh.EDLA()),
    (nh.systems.sleigh, nh.Projector()),
    (nh.systems.pendulum, nh.Variational()),
    (nh.systems.sleigh, nh.Reversible()),
    (nh.systems.particle, nh.DiscreteGradient()),
    (nh.systems.particle, nh.Composition()),
    (nh.systems.robot, nh.EqualImpulses()),
    (nh.systems.sleigh, nh.Lobatto()),
    (nh.systems.robot, nh.Newmark(0, second_beta=0.25)),
    (nh.systems.suslov, nh.RK4()),
    (lambda: nh.systems.sleigh().by_fields(), nh.DLA()),
    (lambda: nh.Chaplygin(nh.systems.robot(), fibre="x y"), nh.RDLA()),
    (lambda: nh.Chaplygin(nh.systems.robot(), fibre="x y"), nh.REDLA()),
]


@pytest.mark.parametrize(("make", "method"), PAIRS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_statement_follows_the_rules(make, method):
    system = make()
    stated, layout = method.statement(system), method.layout(system)
    width = layout.width - 2 * method.variable_step  # t and h are not carried
    assert len(stated.carry) == len(stated.update) == width
    assert [*layout][:2] == (["t", "h"] if method.variable_step else [*layout][:2])
    assert len(stated.args) == len(method.arguments(system, [1.0] * len(system.v)))
    assert (stated.new_h is not None) == method.variable_step
    for stage in stated.stages:
        sizes = {len(getattr(stage, x)) for x in ("unknowns", "equations", "guess", "sizes")}
        assert sizes == {len(stage.weights)}
    known = {stated.t, stated.h, stated.part, *stated.carry, *stated.args}
    known |= {x for stage in stated.stages for x in stage.unknowns}
    wanted = [e for stage in stated.stages for e in (*stage.equations, *stage.guess)]
    for symbol, e in used_pairs(stated.let, [*wanted, *stated.update, stated.new_h or stated.h]):
        assert e.free_symbols <= known, (symbol, e.free_symbols - known)
        known.add(symbol)
    assert all(e.free_symbols <= known for e in (*stated.update, stated.new_h or stated.h))


def test_options_that_shape_the_text_are_in_its_key():
    assert nh.DLA(0.3).code_key() == nh.DLA(0.4).code_key()
    assert nh.DLA(0.3).code_key() != nh.DLA(0.3, symmetric=True).code_key()
    assert nh.DLA(0.3).code_key() != nh.DLA(0.3, constraint_alpha=0.3).code_key()


def test_a_method_without_a_step_says_so():
    with pytest.raises(NotImplementedError, match="states no step"):
        nh.Reference().statement(nh.systems.particle())


def test_the_class_has_numbered_rules_and_explains_every_attribute():
    text = Method.__doc__
    assert all(f"    {k}. " in text for k in range(1, 10))
    for name in Method.__annotations__.keys() - {"keeps", "loses"}:
        assert f"    {name} : " in text, name
