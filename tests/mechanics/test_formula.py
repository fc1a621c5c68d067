"""Text is read as arithmetic or refused; nothing in it is ever executed."""

import ast
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import nhlab as nh
from nhlab.mechanics.formula import is_moderate_power, read_formula

x, y, vx, vy, m, t = nh.symbols("x y vx vy m t")
Q, V, T = (x, y), (vx, vy), m * (vx**2 + vy**2) / 2
omega = nh.symbols("w1:4")
CODE = "__import__('pathlib').Path('exploded').touch()"


def system(**given):
    return nh.System(**{"q": Q, "v": V, "L": T, "parameters": {m: 1}, **given})


def from_mechanics(**given):
    q = dynamicsymbols("a b")
    u = [s.diff(dynamicsymbols._t) for s in q]
    L = u[0] ** 2 + u[1] ** 2 + sp.sin(dynamicsymbols._t) * q[0]
    return nh.System.from_mechanics(**{"L": L, "q": q, **given})


def on_group(**given):
    L = sum(w**2 for w in omega)
    return nh.GroupSystem(**{"group": nh.groups.SE2, "v": omega, "L": L, **given})


KEPLER = nh.systems.kepler()
ENTRIES = {
    "q": lambda s: system(q=(x, s)),
    "v": lambda s: system(v=(vx, s)),
    "L": lambda s: system(L=s),
    "constraints": lambda s: system(constraints=[s]),
    "a single constraint": lambda s: system(constraints=s),
    "holonomic": lambda s: system(holonomic=[s]),
    "metric": lambda s: system(metric=[[1, 0], [0, s]]),
    "metric alone": lambda s: system(metric=s),
    "metric of an array": lambda s: system(metric=np.array([[1, 0], [0, s]], object)),
    "t": lambda s: system(t=s),
    "parameters": lambda s: system(parameters={m: s}),
    "name of a parameter": lambda s: system(parameters={m: 1, s: 1}),
    "set": lambda s: system().set(m=s),
    "values": lambda s: system().values(s, [1, 1]),
    "mechanics L": lambda s: from_mechanics(L=s),
    "mechanics q": lambda s: from_mechanics(q=[s]),
    "mechanics constraints": lambda s: from_mechanics(constraints=[s]),
    "mechanics holonomic": lambda s: from_mechanics(holonomic=[s]),
    "mechanics metric": lambda s: from_mechanics(metric=[[1, 0], [0, s]]),
    "mechanics t": lambda s: from_mechanics(t=s),
    "group L": lambda s: on_group(L=s),
    "group constraints": lambda s: on_group(constraints=[s]),
    "group r": lambda s: on_group(r=[s]),
    "group g": lambda s: on_group(g=(x, y, s)),
    "group matrix": lambda s: nh.groups.SE2.matrix((s, y, x)),
    "group matrix angle": lambda s: nh.groups.SE2.matrix((x, y, s)),
    "generators": lambda s: nh.Symmetry(KEPLER, [s, 0]),
    "direction": lambda s: nh.Symmetry(KEPLER, {s: 1}),
    "section": lambda s: nh.Symmetry(KEPLER, [[1, 0], [0, 1]], section=[1, s]),
    "fibre": lambda s: nh.Chaplygin(nh.systems.particle(), fibre=[s]),
    "base": lambda s: nh.Horizontal(nh.systems.kepler(), base=[s]),
    "mu": lambda s: nh.Horizontal(nh.systems.free_particle(), fibre=["z"], mu=[s]),
    "alpha": lambda s: nh.DLA(alpha=s).program(KEPLER),
    "order": lambda s: nh.Composition(nh.DLA(), order=s),
    "rtol": lambda s: nh.Reference(rtol=s),
    "q0": lambda s: nh.integrate(KEPLER, nh.DLA(), [1, s], [0, 1], h=0.1, steps=1),
    "h": lambda s: nh.integrate(KEPLER, nh.DLA(), h=s, steps=1),
}


@pytest.mark.parametrize("kind", [str, np.str_, np.array], ids=["str", "numpy", "array"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_text_is_not_executed(entry, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refusal = (ValueError, TypeError) if kind is np.array else ValueError  # no key of a dict
    with pytest.raises(refusal):
        ENTRIES[entry](kind(CODE))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("entry", ["L", "constraints", "holonomic", "mechanics L", "group L"])
def test_harmless_text_is_refused_with_the_remedy(entry):
    name = entry.split()[-1]
    with pytest.raises(ValueError, match=rf"^{name} = 'vx' is not a SymPy .*nh\.symbols"):
        ENTRIES[entry]("vx")


def test_an_answer_is_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not a SymPy expression" in nh.check("09.1", CODE).text
    assert not list(tmp_path.iterdir())


def test_numbers_of_all_kinds_are_expressions():
    for one in (1, 1.0, np.int64(1), np.float64(1), np.float32(1), sp.Integer(1), True + 0):
        s = system(L=T - one * x, constraints=[one * vx - y * vy], metric=[[one, 0], [0, one]])
        assert s.G([1, 1]).tolist() == [[1, 0], [0, 1]]
    for unit in (np.eye(2), sp.eye(2), sp.Identity(2)):
        assert system(metric=unit).G([1, 1]).tolist() == [[1, 0], [0, 1]]


def test_every_sympify_is_strict():
    """What reads text as code does not occur; executed are only generated texts, among them the
    code of a reader's own system, to see that it makes the same system, and the course's own
    notebooks and solutions for pages without Python."""
    house, executing = Path(nh.__file__).parent, set()
    for file in house.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            where = f"{file}:{node.lineno}"
            assert name not in ("eval", "parse_expr", "S"), where
            if name == "sympify":
                options = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
                assert options == {"strict": True}, where
            if name == "exec":
                executing.add(file.relative_to(house).as_posix())
    generated = {f"codegen/{x}.py" for x in ("evaluate", "printing", "program")}
    assert executing == generated | {"view/as_code.py", "course/cells.py"}


# ---------------------------------------------------------------------------- arithmetic

SYMBOLS = {"x": x, "y": y, "E": m}


@pytest.mark.parametrize(
    "text, value",
    [
        ("-y", -y),
        (" x ", x),
        ("x/2", x / 2),
        ("1/3", sp.Rational(1, 3)),
        ("2.5*x - +y**2", 2.5 * x - y**2),
        ("x**-2 - 2**x", x**-2 - 2**x),
        ("sqrt(x)*sin(2*pi*y)", sp.sqrt(x) * sp.sin(2 * sp.pi * y)),
        ("atan2(y, x) + E", sp.atan2(y, x) + m),
        ("2**0.5", sp.Float(2**0.5)),
        ("0**2", sp.S.Zero),
        ("k", sp.Symbol("k")),
    ],
)
def test_arithmetic(text, value):
    assert read_formula(text, SYMBOLS, "e") == value


BAD = [
    *("", "1 +", "x y", "x = 1", "x; y", "lambda: x", "x.name", "x[0]", "[x]", "(x, y)", "f(x)"),
    *("'x'", "b'x'", "f'{x}'", "True", "None", "1j", "x < y", "x and y", "x if y else 1", "x @ y"),
    *("~x", "not x", "x // y", "x % y", "x ^ 2", "(y := x)", "sin()", "sin(x, y, x)"),
    *("sin(x, evaluate=False)", "sin(*x)", "sin.func(x)", "pi()", "print(x)", "\0", "x\n+ y"),
    *(
        "9**9**9",
        "9**9**9**9",
        "((9**300)**300)**300",
        "2**-10000",
        "1e999",
        "1/0",
        "1e-9/0",
        "1e300**2",
    ),
    *("sin(exp(1e10))", "exp(exp(exp(100.0)))", "-" * 900 + "(" * 90 + "x", "x+" * 600 + "x"),
]


@pytest.mark.parametrize("text", BAD, ids=[f"{k}: {text[:20]!a}" for k, text in enumerate(BAD)])
def test_what_is_no_arithmetic_is_refused(text):
    with pytest.raises(
        ValueError, match=r"^e: .* is no scalar SymPy expression; use numbers, names"
    ):
        read_formula(text, SYMBOLS, "e")


@given(st.text(st.sampled_from("xy12.()+-*/ e_'[]{}=,:sinpow"), max_size=30))
def test_any_text_is_arithmetic_or_refused(text):
    try:
        e = read_formula(text, SYMBOLS, "e")
    except ValueError as error:
        assert str(error).startswith("e: ")
    else:
        assert isinstance(e, sp.Expr)


def test_moderate_powers():
    assert all(is_moderate_power(*map(sp.sympify, p)) for p in [(2, 0.5), (x, 10**9), (0, 5)])
    assert is_moderate_power(sp.Integer(9), x) and is_moderate_power(
        sp.Integer(10), sp.Integer(300)
    )
    assert not is_moderate_power(sp.Integer(9), sp.Integer(10**9))
    assert not is_moderate_power(sp.Pow(9, 10**9, evaluate=False), sp.Integer(1))
