"""The generated text: printed right, run the same in three ways, kept on disk."""

import ast
import json
import math
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sympy as sp

import nhlab as nh
from nhlab.codegen import generate as stepcode
from nhlab.codegen import program as running
from nhlab.codegen.careful import careful_step
from nhlab.codegen.printing import MATH, NUMPY, PRELUDE, Names
from nhlab.codegen.printing import python as printed
from nhlab.codegen.statement import Stage, Statement, dummy
from nhlab.codegen.writing import generate, in_turn
from nhlab.run import loop
from nhlab.run.start import Start, begin

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
k, m = nh.symbols("k m")


def relativistic():
    """L is not quadratic in the velocities."""
    L = -sp.sqrt(1 - vx**2 - vy**2) - k * x**2 / 2 - y**2
    return nh.System((x, y), (vx, vy), L, parameters={k: 0.8}, q0=[1, 0.5], v0=[0.3, 0.6])


def particle_with_a_metric():
    s, G = nh.systems.particle(), [[2 + y**2, 0, y], [0, 1, 0], [y, 0, 1]]
    return nh.System(s.q, s.v, s.L, s.constraints, metric=G, q0=s.q0, v0=s.v0)


CASES = {
    "particle DLA": (nh.systems.particle, nh.DLA()),
    "particle Projector": (nh.systems.particle, nh.Projector(alpha=0.3)),
    "particle EDLA": (nh.systems.particle, nh.EDLA()),
    "sleigh symmetric DLA": (nh.systems.sleigh, nh.DLA(alpha=0.2, symmetric=True)),
    "sleigh left point": (nh.systems.sleigh, nh.DLA(constraint_alpha=0)),
    "sleigh symmetric Projector": (nh.systems.sleigh, nh.Projector(alpha=0, symmetric=True)),
    "sleigh RK4": (nh.systems.sleigh, nh.RK4()),
    "driven DLA": (nh.systems.driven, nh.DLA(alpha=0.4)),
    "driven EDLA": (nh.systems.driven, nh.EDLA(symmetric=True)),
    "driven RK4": (nh.systems.driven, nh.RK4()),
    "robot DLA": (nh.systems.robot, nh.DLA()),
    "snakeboard Projector": (nh.systems.snakeboard, nh.Projector()),
    "spherical pendulum Variational": (nh.systems.spherical_pendulum, nh.Variational()),
    "spherical pendulum EDLA": (nh.systems.spherical_pendulum, nh.EDLA()),
    "Kepler symmetric Variational": (nh.systems.kepler, nh.Variational(0.1, True)),
    "relativistic DLA": (relativistic, nh.DLA()),
    "relativistic EDLA": (relativistic, nh.EDLA()),
    "Projector with a metric": (particle_with_a_metric, nh.Projector()),
    "sleigh Reversible": (nh.systems.sleigh, nh.Reversible()),
    "driven Reversible": (nh.systems.driven, nh.Reversible()),
    "robot DiscreteGradient": (nh.systems.robot, nh.DiscreteGradient()),
    "driven Composition": (nh.systems.driven, nh.Composition(nh.DLA(0.3, True), 6)),
}
COMPILED = [
    "particle EDLA",
    "sleigh symmetric DLA",
    "sleigh left point",
    "sleigh RK4",
    "driven EDLA",
    "snakeboard Projector",
    "spherical pendulum Variational",
]


def rows(system, method, q0=None, v0=None, h=0.05, steps=60, **options):
    return nh.integrate(system, method, q0, v0, h=h, steps=steps, **options).rows.array


def difference(a, b):
    """The largest difference of two arrays of rows, each column measured by its own size."""
    return (np.abs(a - b) / np.maximum(1, np.abs(b).max(0))).max()


def round_off(method):
    """EDLA's energy balance determines h only to eps/h^2."""
    return 1e-10 if method.variable_step else 1e-13


# ---------------------------------------------------------------------------- three ways to run it


@pytest.mark.parametrize("case", CASES)
def test_cpython_and_numpy_agree(case):
    make, method = CASES[case]
    system = make()
    one = rows(system, method, backend="python")
    q0, v0 = np.array([system.q0] * 2, float), np.array([system.v0] * 2, float)
    v0[1] *= 1.01  # a second state, so that the arrays are arrays
    two = rows(system, method, q0[1], v0[1], backend="python")
    many = nh.ensemble(system, method, q0, v0, h=0.05, steps=60, backend="numpy")
    assert difference(many.rows[0], one) < round_off(method)
    assert difference(many.rows[1], two) < round_off(method)


@pytest.mark.parametrize("case", COMPILED)
def test_cpython_and_numba_agree(case, numba):
    make, method = CASES[case]
    system = make()
    compiled, plain = (rows(system, method, backend=b) for b in ("numba", "python"))
    assert difference(compiled, plain) < round_off(method)


@pytest.mark.parametrize("case", CASES)
def test_text_does_what_the_statement_says(case):
    """The written-out elimination against LAPACK on the same equations, step by step."""
    make, method = CASES[case]
    system = make()
    start = Start(system, method, None, None, h=0.05, steps=5)
    _, (state,), done, (weights,) = begin(start)
    program, args = method.program(system), method.arguments(system, weights.tolist())
    state, t, h = state.tolist(), 0.05 * done, 0.05
    if method.variable_step:
        (t, h), state = state[:2], state[2:]
    for _ in range(5):
        ok, new_h, *new = program.step(t, h, *state, *args)
        slow = careful_step(program.statement, t, h, state, args)
        assert ok and slow.ok
        assert difference(np.array([[new_h, *new]]), [[slow.h, *slow.carry]]) < round_off(method)
        state, t, h = new, t + new_h, new_h


@pytest.mark.parametrize("stage", ["cold", "cached", "compiled"])
def test_length_of_the_run_decides(stage, monkeypatch, tmp_path, numba):
    system, method = nh.systems.pendulum(), nh.Variational()
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(loop, "COMPILE_FROM", {"cold": 30, "cached": 20, "compiled": 10})
    program = method.program(system)
    if stage == "cached":
        rows(nh.systems.pendulum(), method, steps=30)
    if stage == "compiled":
        program.numba  # noqa: B018 (compiles)
    assert loop.compile_state(program) == stage
    used = []
    monkeypatch.setattr(loop, "CHUNK", Recorder(loop.CHUNK, used))
    threshold = loop.COMPILE_FROM[stage]
    rows(system, method, steps=threshold - 1)
    rows(system, method, steps=threshold)
    assert used == ["python", "numba"]
    rows(system, method, steps=threshold, backend="python")
    assert used[-1] == "python"
    rows(system, method, steps=1, backend="numba")
    assert used[-1] == "numba"


class Recorder(dict):
    """A dict that notes which keys are read."""

    def __init__(self, values, used):
        super().__init__(values)
        self.used = used

    def __getitem__(self, key):
        self.used.append(key)
        return super().__getitem__(key)


# ---------------------------------------------------------------------------- other processes


def start_python(code, cache, **environment):
    """Another process, with its own cache folder; ``code`` prints one line of JSON."""
    env = {**os.environ, "NHLAB_CACHE_DIR": str(cache), **environment}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def answer(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    return json.loads(out)


COMPILE = """
import json, nhlab as nh, nhlab.codegen.program
{first}
system, method = nh.systems.particle(), nh.DLA()
sol = nh.integrate(system, method, h=0.1, steps=500, backend="numba")
stats = method.program(system).numba.stats
print(json.dumps([sol.q[-1].tolist(), sum(stats.cache_hits.values()),
                  sum(stats.cache_misses.values())]))
"""
FORBID = """
def no(*_):
    raise AssertionError("generated again")
nhlab.codegen.program.generate = no
"""


def test_cache_survives_a_restart_and_two_processes_at_once(tmp_path, numba):
    both = [start_python(COMPILE.format(first=""), tmp_path) for _ in range(2)]
    first, second = map(answer, both)
    assert first[0] == second[0]
    # A third process neither generates the text nor compiles it.
    q, hits, misses = answer(start_python(COMPILE.format(first=FORBID), tmp_path))
    assert q == first[0]
    assert (hits, misses) == (1, 0)
    assert sum(f.suffix == ".tmp" for f in tmp_path.iterdir()) == 0


WITHOUT_NUMBA = """
import json, sys
sys.modules["numba"] = None  # import numba fails, find_spec finds nothing
import numpy as np, nhlab as nh, nhlab.run.loop
nhlab.run.loop.COMPILE_FROM = dict.fromkeys(nhlab.run.loop.COMPILE_FROM, 10)
s = nh.systems.particle()
out = [nh.integrate(s, m, h=0.1, steps=500).q[-1].tolist()
       for m in (nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reference())]
many = nh.ensemble(s, nh.DLA(), [s.q0] * 3, [s.v0] * 3, h=0.1, steps=500)
out.append(many.q[2, -1].tolist())
for call in (nh.integrate, nh.ensemble):
    batch = call is nh.ensemble
    try:
        call(s, nh.DLA(), [s.q0] if batch else s.q0, [s.v0] if batch else s.v0, h=0.1, steps=1,
             backend="numba")
    except ValueError as error:
        out.append(str(error))
print(json.dumps(out))
"""


def test_everything_works_without_numba(tmp_path):
    *ends, many, error, error_of_many = answer(start_python(WITHOUT_NUMBA, tmp_path))
    system = nh.systems.particle()
    methods = (nh.DLA(), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reference())
    for end, method in zip(ends, methods, strict=True):
        here = nh.integrate(system, method, h=0.1, steps=500, backend="python")
        np.testing.assert_allclose(end, here.q[-1], rtol=1e-12)
    np.testing.assert_allclose(many, ends[0], rtol=1e-12)
    assert error == error_of_many and "numba" in error and "pip install" in error


@pytest.mark.parametrize("place", ["a file", "below a file", "no folder at all"])
def test_without_a_cache_folder(place, tmp_path, monkeypatch, numba):
    file = tmp_path / "file"
    file.write_text("")
    if place == "no folder at all":
        monkeypatch.setattr(running, "cache_dir", lambda: None)
    else:
        monkeypatch.setenv("NHLAB_CACHE_DIR", str(file if place == "a file" else file / "x"))
        assert running.cache_dir() is None
    system, method = nh.systems.pendulum(), nh.Variational()
    compiled, plain = (rows(system, method, backend=b) for b in ("numba", "python"))
    assert difference(compiled, plain) < 1e-13
    assert method.program(system).path is None
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_other_processes_see_whole_texts_only(tmp_path, monkeypatch):
    """A text is written under another name and put in place at once."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path))
    program = nh.Variational().program(nh.systems.pendulum())
    write, seen = running.Path.write_text, []

    def watched(path, text):
        seen.append((path, program.path.exists()))
        return write(path, text)

    monkeypatch.setattr(running.Path, "write_text", watched)
    text = program.text
    assert [path != program.path and not exists for path, exists in seen] == [True]
    assert [f.read_text() for f in tmp_path.iterdir()] == [text]


def test_full_disk_does_not_matter(tmp_path, monkeypatch):
    """The folder is there, but writing fails."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path))
    program = nh.Variational().program(nh.systems.pendulum())
    monkeypatch.setattr(running.Path, "write_text", full_disk)
    assert "def step" in program.text
    assert program.path is None


def full_disk(*_):
    raise OSError(28, "No space left on device")


DIGESTS = """
import json, hashlib, nhlab as nh
from nhlab.codegen.writing import generate
out = {}
for name in ("particle", "driven", "snakeboard", "spherical_pendulum"):
    s = getattr(nh.systems, name)()
    for m in (nh.DLA(), nh.EDLA(symmetric=True), nh.RK4()):
        text = generate(m.statement(s))
        out[f"{name} {m} {m.program(s).name}"] = hashlib.sha256(text.encode()).hexdigest()
print(json.dumps(out))
"""


def test_text_and_its_name_are_the_same_in_every_process(tmp_path):
    one, two = (start_python(DIGESTS, tmp_path / seed, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert answer(one) == answer(two)


# ---------------------------------------------------------------------------- generated once


@pytest.fixture
def generated(monkeypatch):
    """The statements turned into text during a test, without help from the disk."""
    calls = []
    monkeypatch.setattr(running, "cache_dir", lambda: None)
    monkeypatch.setattr(running, "generate", lambda s: calls.append(s) or generate(s))
    return calls


def test_sliders_generate_nothing(generated):
    system = nh.systems.sleigh()
    rows(system, nh.DLA())
    before = len(generated)
    program = nh.DLA().program(system)
    for setting in (system.set(a=0.3), system.set(m=2, I=0.5).set(a=0)):
        for alpha in (0, 0.3, 1):
            assert nh.DLA(alpha).program(setting) is program
            rows(setting, nh.DLA(alpha), h=0.02, t0=3)
    assert len(generated) == before
    rows(system, nh.DLA(symmetric=True))  # the witness: another rule is another text
    assert len(generated) == before + 1


def test_text_is_read_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path))
    text = nh.source(nh.systems.sleigh(), nh.DLA())
    monkeypatch.setattr(running, "generate", None)
    assert nh.source(nh.systems.sleigh(), nh.DLA(alpha=0.1)) == text
    with pytest.raises(TypeError):  # the witness: this one is not there
        nh.source(nh.systems.sleigh(), nh.DLA(symmetric=True))


def test_order_of_the_parameters_does_not_matter(tmp_path, monkeypatch):
    """The text names its arguments in an order; another System must not swap their values."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path))
    L = m * vx**2 / 2 - k * x**2 / 2
    one = nh.System((x,), (vx,), L, parameters={m: 1, k: 4})
    two = nh.System((x,), (vx,), L, parameters={k: 4, "m": 1})
    assert one == two and hash(one) == hash(two)
    for method in (nh.DLA(), nh.RK4()):
        assert np.array_equal(rows(one, method, [1], [0]), rows(two, method, [1], [0]))
    assert np.array_equal(one.acceleration([1], [0]), two.acceleration([1], [0]))


def test_changed_generator_does_not_use_old_texts(monkeypatch):
    system = nh.systems.pendulum()
    before = nh.Variational().program(system).name
    monkeypatch.setattr(running, "_fingerprint", lambda: b"another version")
    assert nh.Variational().program(nh.systems.pendulum()).name != before


@pytest.mark.parametrize("case", CASES)
def test_source_is_readable_python(case):
    make, method = CASES[case]
    text = nh.source(make(), method)
    functions = {f.name: f for f in ast.parse(text).body if isinstance(f, ast.FunctionDef)}
    assert {"step", "run"} <= set(functions)
    arguments = [a.arg for a in functions["step"].args.args]
    assert arguments[:2] == ["t", "h"]
    assert {s.name for s in make().q if s.name not in ("t", "h")} <= set(arguments)


# ---------------------------------------------------------------------------- names

AWKWARD = [
    "h", "t", "t0", "lam_0", "lam0", "p_x", "alpha", "weight", "step", "run", "new", "n", "out",
    "state", "stop", "every", "left", "row", "lambda", "in", "sin", "sqrt", "where", "all_", "sign",
    "range", "abs", "float", "_", "__name__", "s_", "s__", "θ", "φ_2", "x_{1}", "x_1", "x'", "x''",
    "two words", "1st", "-", "", "ok", "size", "c", "d", "x_a", "x_last", "nan", "True",
    "weight_x", "e", "h_new", "mu0", "w_x", "fabs",
]  # fmt: skip
PLAIN = ["x", "y", "vx", "vy", "g", "time"]


def moved(names, method, backend="python"):
    """The motion of a system with a Newton loop, a constraint, a parameter and time, named so."""
    x, y, vx, vy, g, t = (sp.Symbol(name, real=True) for name in names)
    L = (vx**2 + vy**2) / 2 - g * x**4 + t * y
    system = nh.System((x, y), (vx, vy), L, [vy - (x + t) * vx], parameters={g: 1.5}, t=t)
    v0 = [0.2, (0.4 + 0.3) * 0.2]
    return rows(system, method, [0.4, 0], v0, h=0.1, steps=6, t0=0.3, backend=backend)


@pytest.mark.parametrize("role", range(6))
def test_no_name_clashes(role):
    """Each awkward name in each role: coordinate, velocity, parameter, time."""
    expected = {m: moved(PLAIN, m) for m in (nh.DLA(), nh.EDLA(), nh.Projector(), nh.RK4())}
    for k in range(0, len(AWKWARD), 6):
        names = (AWKWARD[k:] + AWKWARD)[:6]
        names = names[role:] + names[:role]
        method = list(expected)[k // 6 % 4]
        gap = difference(moved(names, method), expected[method])
        assert gap < round_off(method), (names, method)


def test_no_name_clashes_compiled(numba):
    names = ["h", "range", "lam0", "new", "state", "t0"]
    assert difference(moved(names, nh.DLA(), "numba"), moved(PLAIN, nh.DLA())) < 1e-13


# ---------------------------------------------------------------------------- printing

SCALAR = dict(MATH)
exec(PRELUDE, SCALAR)
a, b, c = nh.symbols("a b c")
POINTS = [{a: 0.7, b: -1.3, c: 2.1}, {a: -0.4, b: 0.9, c: 0.25}]
E = sp.Piecewise
BASES = [a, a + b, a - b, a * c, -a, a / c, sp.sin(a) - c, a**2 + 1, 2 * a + sp.Rational(1, 3)]
OUTER = {
    "powers": [lambda e, n=n: e**n for n in (-5, -4, -3, -2, -1, 2, 3, 4, 5)],
    "rational powers": [
        lambda e, r=r: (e**2 + 1) ** r
        for r in (sp.S.Half, -sp.S.Half, sp.Rational(3, 2), sp.Rational(-2, 3), sp.Float(0.7), c)
    ],
    "circular": [sp.sin, sp.cos, sp.tan, sp.sec, sp.csc, sp.cot],
    "hyperbolic": [sp.sinh, sp.cosh, sp.tanh, sp.asinh, lambda e: sp.acosh(e**2 + 2),
                   lambda e: sp.atanh(sp.sin(e) / 2)],
    "inverse": [sp.atan, lambda e: sp.asin(sp.sin(e) / 2), lambda e: sp.acos(sp.cos(e) / 2),
                lambda e: sp.atan2(e, c), lambda e: sp.atan2(b, e - 3)],
    "exponential": [sp.exp, lambda e: sp.exp(-e), lambda e: sp.log(e**2 + 1), lambda e: 2**e,
                    lambda e: sp.exp(-2) * e],
    "signs": [sp.Abs, sp.sign, lambda e: e * sp.Abs(e), lambda e: -e * (-e - 1), lambda e: 1 - e],
    "numbers": [lambda e: sp.pi * e, lambda e: e / 8, lambda e: -e / 3, lambda e: -2.5 * e,
                lambda e: sp.sqrt(2) * e - sp.E, lambda e: 10**25 * e, lambda e: e / 7**30],
    "pieces": [lambda e: E((e, e < 0), (e**2, e < 1), (sp.sin(e), True)),
               lambda e: E((1, (e > -1) & (e < 1)), (e, True)),
               lambda e: E((1, (e <= -1) | (e >= 1)), (e, True)),
               lambda e: E((e, sp.Eq(e, 0)), (1 / e, True)),
               lambda e: E((0, sp.Ne(e, b)), (e, True)),
               lambda e: E((E((e, a < 0), (-e, True)), c > 1), (e + 1, True)) ** 2,
               lambda e: E((1, E((e, e < 0), (e**2, True)) > 0.5), (e, True))],
}  # fmt: skip


def check(e, rtol):
    """CPython and NumPy values of the printed text against SymPy's own, with 30 digits."""
    names = Names()
    text = printed(e, names)
    points = [{names[s]: x for s, x in point.items()} for point in POINTS]
    exact = [float(e.subs({s: sp.Float(x, 40) for s, x in p.items()}).evalf(30)) for p in POINTS]
    scalars = [eval(text, dict(SCALAR), point) for point in points]
    arrays = {name: np.array([p[name] for p in points]) for name in points[0]}
    np.testing.assert_allclose(scalars, exact, rtol=rtol, err_msg=f"{e} as {text}")
    with np.errstate(all="ignore"):
        values = np.broadcast_to(eval(text, dict(NUMPY), arrays), 2)
    np.testing.assert_allclose(values, exact, rtol=rtol, err_msg=f"{e} as {text}")


@pytest.mark.parametrize("kind", OUTER)
def test_printing(kind):
    for f in OUTER[kind]:
        for base in BASES:
            check(f(base), 1e-13)


def test_printing_of_nested_expressions():
    """Random combinations of all the above, with a little room for their condition."""
    rng = random.Random(3)
    functions = [f for kind, group in OUTER.items() for f in group if kind != "numbers"]
    smooth = [
        f for kind, group in OUTER.items() for f in group if kind not in ("numbers", "pieces")
    ]
    done = 0
    while done < 80:
        e = rng.choice(BASES) + rng.choice(functions)(rng.choice(BASES)) * rng.choice(BASES)
        e = rng.choice(smooth)(e) - rng.choice(functions)(rng.choice(BASES))
        if not e.has(sp.I) and all(abs(e.subs(point).evalf()) < 1e6 for point in POINTS):
            check(e, 1e-9)
            done += 1


def test_piecewise_without_default_is_nan():
    e = E((a, a < 0), (2 * a, a < 1))
    system = nh.System((a,), (b,), b**2 / 2 - e)
    np.testing.assert_array_equal(system.V([[-1], [0.5], [1.5]]), [-1, 1, np.nan])


@pytest.mark.parametrize(
    "V", [sp.gamma(x), sp.Heaviside(x), sp.Max(x, 1), sp.floor(x), sp.besselj(0, x),
          sp.sech(x)], ids=str,
)  # fmt: skip
def test_unknown_functions_are_refused(V):
    with pytest.raises(ValueError, match=r"cannot generate code for .* nhlab knows"):
        rows(nh.System((x,), (vx,), vx**2 / 2 - V), nh.DLA(), [0.5], [0])


def test_complex_symbols_are_explained():
    q, v = sp.symbols("q v")  # not declared real: the derivative of Abs(q) is no function of q
    with pytest.raises(ValueError, match=r"cannot generate code .* all symbols real"):
        rows(nh.System((q,), (v,), v**2 / 2 - sp.Abs(q)), nh.DLA(), [0.5], [0])


def test_every_function_in_one_system(numba):
    """All functions at once through differentiation, common subexpressions and numba."""
    s = x / 3 + sp.Rational(1, 2)
    V = sum(
        f(s)
        for f in (
            sp.sin,
            sp.cos,
            sp.tan,
            sp.exp,
            sp.log,
            sp.sinh,
            sp.cosh,
            sp.tanh,
            sp.asin,
            sp.acos,
            sp.atan,
            sp.asinh,
            sp.atanh,
            sp.sec,
            sp.csc,
            sp.cot,
            sp.Abs,
        )
    )
    V += sp.acosh(s + 1) + sp.atan2(s, y) + sp.sign(s) * x + s**5 + s ** sp.Rational(1, 3) + y**2
    V += E((y**3, y < 1), (3 * y - 2, (y >= 1) & (y < 2)), (4, True)) + 10**25 * y / 10**25
    system = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 - V / 10)
    start = ([0.1, 1.2], [0.2, -0.3])
    one = nh.integrate(system, nh.DLA(), *start, h=0.05, steps=40, backend="python")
    two = nh.integrate(system, nh.DLA(), *start, h=0.05, steps=40, backend="numba")
    assert one.q[0, 1] > 1 > one.q[-1, 1]  # over the seam of the Piecewise
    assert difference(one.rows.array, two.rows.array) < 1e-13
    true = nh.integrate(system, nh.Reference(), *start, h=2.0, steps=1).q[-1]
    half = nh.integrate(system, nh.DLA(), *start, h=0.025, steps=80)
    assert np.abs(half.q[-1] - true).max() < 0.3 * np.abs(one.q[-1] - true).max() < 1e-4


# ---------------------------------------------------------------------------- elimination, Newton


def test_indefinite_metric_equals_its_diagonal_form():
    """L = vx vy - x y: the midpoint rule commutes with (x, y) = (u + w, u - w)."""
    one = nh.System((x, y), (vx, vy), vx * vy - x * y - x**2 * y**2)
    u, w = x + y, x - y
    L = one.L.subs({x: u, y: w, vx: vx + vy, vy: vx - vy}, simultaneous=True)
    two = nh.System((x, y), (vx, vy), sp.expand(L))
    for method in (nh.DLA(), nh.Variational(alpha=0.3), nh.Projector(), nh.RK4()):
        a = nh.integrate(one, method, [0.5, 0.1], [0.3, -0.2], h=0.1, steps=100)
        b = nh.integrate(two, method, [0.3, 0.2], [0.05, 0.25], h=0.1, steps=100)
        back = np.stack([b.q[:, 0] + b.q[:, 1], b.q[:, 0] - b.q[:, 1]], -1)
        assert difference(a.q, back) < 1e-13, method


SEAM = nh.System((x, y), (vx, vy), x * vx**2 / 2 + vx * vy - y**2 / 2)  # det M = -1, M_xx = x


@pytest.mark.parametrize("x0", [0.0, -0.05, 1e-14])
@pytest.mark.parametrize(
    "method", [nh.DLA(), nh.Variational(1), nh.Projector(0), nh.RK4()], ids=str
)
def test_vanishing_pivots_are_rescued(method, x0):
    """x, the first pivot, is zero at the start or at a step on the way; the motion is regular."""
    fine = [nh.integrate(SEAM, method, [x0, 0.5], [0.5, 0.1], h=h, steps=round(1 / h))
            for h in (0.1, 0.05, 0.025)]  # fmt: skip
    true = nh.integrate(SEAM, nh.Reference(), [x0, 0.5], [0.5, 0.1], h=1.0, steps=1).q[-1]
    errors = [np.abs(sol.q[-1] - true).max() for sol in fine]
    order = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(order - method.order) < 0.25), errors


def test_acceleration_where_a_pivot_vanishes():
    """By hand: M a = (-vx^2/2, -y) with M = [[x, 1], [1, 0]]."""
    for x0 in (0.0, 1e-9, 1e-16, 0.3):
        expected = [-0.5, -(1.0**2) / 2 + x0 * 0.5]
        a = SEAM.acceleration([x0, 0.5], [1.0, 0.2])
        np.testing.assert_allclose(a, expected, rtol=1e-14)
        true = nh.integrate(SEAM, nh.Reference(), [x0, 0.5], [1.0, 0.2], h=0.1, steps=1)
        assert abs(true.energy()[1] - true.energy()[0]) < 1e-11


@pytest.mark.parametrize("value", [1e-9, 1e-14, 0.0, -0.1])
def test_vanishing_parameters(value):
    """A parameter that is a pivot goes to zero by a slider: M = [[k, 1], [1, 2]] stays regular."""
    L = k * vx**2 / 2 + vx * vy + vy**2 - x**2 / 2 - y**2
    system = nh.System((x, y), (vx, vy), L, parameters={k: 1.0}).set(k=value)
    state = ([0.3, 0.4], [0.1, 0.2])
    a = np.linalg.solve([[value, 1], [1, 2]], [-0.3, -0.8])
    np.testing.assert_allclose(system.acceleration(*state), a, rtol=1e-14)
    true = nh.integrate(system, nh.Reference(), *state, h=0.1, steps=10)
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):
        one = nh.integrate(system, method, *state, h=0.1, steps=10)
        many = nh.ensemble(system, method, *([s] for s in state), h=0.1, steps=10, backend="numpy")
        assert difference(many.rows[0], one.rows.array) < 1e-13
        assert np.abs(one.q - true.q).max() < 1e-2


def test_vanishing_mass():
    with pytest.raises(ValueError, match=r"singular|finite"):
        system = nh.System((x,), (vx,), vx**2 / (2 * k), parameters={k: 0})
        nh.integrate(system, nh.DLA(), [0.0], [1.0], h=0.1, steps=1)


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.Variational()], ids=str)
def test_steps_without_a_solution_are_refused(method, backend):
    """v = p + (h/2) 3 exp(3 (q + h v/2)) has no solution once q is large."""
    if backend == "numba":
        pytest.importorskip("numba")
    system = nh.System((x,), (vx,), vx**2 / 2 + sp.exp(3 * x))
    with pytest.raises(nh.IntegrationError) as stopped:
        nh.integrate(system, method, [0.0], [1.0], h=0.05, steps=1000, backend=backend)
    sol = stopped.value.trajectory
    assert 0 < stopped.value.step < 100 and len(sol) == stopped.value.step + 1
    assert np.all(np.isfinite(sol.rows.array))


@pytest.mark.ledger("C03-R2")
def test_negative_steps_are_never_accepted():
    """EDLA's equations have a root with h < 0; a text that finds one says that it failed."""
    t, h, new = sp.Dummy("t"), sp.Dummy("h"), sp.Dummy("new")
    stage = Stage(unknowns=(new,), equations=(new**2 - 1,), guess=(x,))
    statement = Statement(t, h, carry=(x,), args=(), stages=(stage,), update=(x,), new_h=new)
    space = {}
    exec(generate(statement), space)
    for guess in (1.2, -1.2):
        ok, found, _ = space["step"](0.0, 0.1, guess)
        assert abs(found - np.sign(guess)) < 1e-15 and ok == (guess > 0)
        attempt = careful_step(statement, 0.0, 0.1, [guess], [])
        assert attempt.ok == (guess > 0) and ("not positive" in attempt.reason) == (guess < 0)


@pytest.mark.parametrize("h", [0.3, 1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("name", ["sleigh", "robot", "contact_oscillator", "kepler", "driven"])
def test_accepted_steps_satisfy_the_equations(name, h):
    """However large the step: what is returned solves (6) of CM01, what does not is refused."""
    system, method = getattr(nh.systems, name)(), nh.DLA(alpha=0.4)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of energy jumps
            sol = nh.integrate(system, method, h=h, steps=20)
    except nh.IntegrationError as stopped:
        sol = stopped.trajectory
    assert np.all(np.isfinite(sol.rows.array))
    if not sol.steps:
        return
    force = np.einsum("kai,ka->ki", system.A(sol.q[:-1], sol.t[:-1]), sol.lam)
    residual = sol.p_minus - sol.p[:-1] + force
    scale = 1 + np.abs(sol.p[:-1]) + np.abs(sol.p_minus) + np.abs(force)
    # q1 is read as q2 - h v, which loses eps |q2|; the force of the potential amplifies it
    assert np.abs(residual / scale).max() < 1e-9
    assert np.abs(sol.constraint("midpoints")).max(initial=0) < 1e-9 * np.abs(sol.v_step).max()


# ---------------------------------------------------------------------------- units

LENGTHS = [(1e-6, 1, 1), (1e6, 1, 1), (1, 1e-6, 1), (1, 1e6, 1), (1, 1, 1e-6), (1, 1, 1e6),
           (1e6, 1e-6, 1e-6), (1e-6, 1e6, 1e6)]  # fmt: skip


def sleigh_in(length, mass, time):
    """A sleigh on a spring, measured in other units; angles have none."""
    (x, y, theta), (vx, vy, w) = nh.symbols("x y theta"), nh.symbols("vx vy w")
    I, r = nh.symbols("I r")
    across = vx * sp.sin(theta) - vy * sp.cos(theta)
    L = m * (vx**2 + vy**2 + r**2 * w**2 - 2 * r * w * across) / 2 + I * w**2 / 2 - k * x**2 / 2
    values = {m: mass, I: mass * length**2, r: 0.2 * length, k: 0.3 * mass / time**2}
    return nh.System((x, y, theta), (vx, vy, w), L, [across], parameters=values)


@pytest.mark.parametrize(
    "method",
    [nh.DLA(), nh.DLA(0.3, True), nh.Projector(), nh.EDLA(), nh.RK4(), nh.Reference(),
     nh.Reversible(), nh.DiscreteGradient(), nh.Composition(nh.DLA())], ids=str,
)  # fmt: skip
def test_units_do_not_matter(method):
    q0, v0 = np.array([0.1, 0.2, 0.3]), np.array([-np.cos(0.3), -np.sin(0.3), 0.25])
    base = nh.integrate(sleigh_in(1, 1, 1), method, q0, v0, h=0.1, steps=50)
    for length, mass, time in LENGTHS:
        unit = np.array([length, length, 1])
        system = sleigh_in(length, mass, time)
        sol = nh.integrate(system, method, q0 * unit, v0 * unit / time, h=0.1 * time, steps=50)
        limit = 1e-9 if isinstance(method, nh.Reference) else 10 * round_off(method)
        assert difference(sol.q / unit, base.q) < limit, (length, mass, time)
        assert difference(sol.lam * time / (mass * length), base.lam) < limit


@pytest.mark.parametrize("speed", [1e3, 1e6])
@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.RK4(), nh.Reference()], ids=str)
def test_fast_coordinates_do_not_spoil_slow_ones(method, speed):
    """A pendulum beside a free particle, metres beside radians."""
    both = nh.System((x, y), (vx, vy), vx**2 / 2 + vy**2 / 2 + 3 * sp.cos(y))
    alone = nh.System((y,), (vy,), vy**2 / 2 + 3 * sp.cos(y))
    a = nh.integrate(both, method, [0, 0.5], [speed, 1], h=0.2, steps=100)
    b = nh.integrate(alone, method, [0.5], [1], h=0.2, steps=100)
    assert np.abs(a.q[:, 1] - b.q[:, 0]).max() < 1e-10


def test_masses_of_any_ratio():
    """The Sun and a probe on one spring, in kilograms."""
    M = nh.symbols("M")
    L = M * vx**2 / 2 + m * vy**2 / 2 - m * (x - y) ** 2 / 2
    system = nh.System((x, y), (vx, vy), L, parameters={M: 2e30, m: 1e3})
    phase = 2 * math.atan(0.05)  # the midpoint rule turns the oscillator by 2 atan(h/2) per step
    for method in (nh.DLA(), nh.Projector()):
        sol = nh.integrate(system, method, [0, 1], [0, 0], h=0.1, steps=100)
        np.testing.assert_allclose(sol.q[:, 1], np.cos(phase * np.arange(101)), atol=1e-12)


@pytest.mark.parametrize("omega", [1e2, 1e4, 1e6])
def test_stiff_spring(omega):
    """h omega up to 1e5: the midpoint rule is stable and has a closed form."""
    system = nh.System((x,), (vx,), vx**2 / 2 - omega**2 * x**2 / 2)
    sol = nh.integrate(system, nh.DLA(), [1], [0], h=0.1, steps=100)
    phase = 2 * math.atan(omega * 0.05)
    np.testing.assert_allclose(sol.q[:, 0], np.cos(phase * np.arange(101)), atol=1e-15 * omega)


@pytest.mark.parametrize("eps", [1e-2, 1e-4])
def test_nearly_dependent_constraints(eps):
    """Two rows at an angle eps span the same D; eliminating them costs digits like eps^-2."""
    w, vw = nh.symbols("w vw")
    L = (vx**2 + vy**2 + vz**2 + vw**2) / 2 - x**2 - y**2
    one, two = vz - y * vx, vw - x * vy
    q, v = (x, y, z, w), (vx, vy, vz, vw)
    start = ([0.3, 0.5, 0, 0], [1, 0.4, 0.5, 0.12])
    good = nh.System(q, v, L, [one, two])
    bad = nh.System(q, v, L, [one, one + eps * two])
    for method in (nh.DLA(), nh.Projector(), nh.RK4()):
        a, b = (nh.integrate(s, method, *start, h=0.1, steps=50).q for s in (good, bad))
        assert np.abs(a - b).max() < 1e-15 / eps**2


def test_integers_beyond_the_machine(numba):
    one = nh.System((x,), (vx,), 10**25 * (vx**2 / 2 - x**4 / 4))
    two = nh.System((x,), (vx,), vx**2 / 2 - x**4 / 4)
    a = nh.integrate(one, nh.DLA(), [1], [0], h=0.1, steps=50, backend="numba")
    b = nh.integrate(two, nh.DLA(), [1], [0], h=0.1, steps=50, backend="python")
    assert difference(a.q, b.q) < 1e-13


# ---------------------------------------------------------------------------- less to solve


def unknowns_of_loops(system, method):
    """The names that each Newton loop of the text corrects."""
    tree = ast.parse(nh.source(system, method))
    step = next(f for f in tree.body if getattr(f, "name", "") == "step")
    loops = [x for x in step.body if isinstance(x, ast.For)]
    return [
        {u for x in loop.body if isinstance(x, ast.Assign)
         and (u := x.targets[0].id) in {y.id for y in ast.walk(x.value) if isinstance(y, ast.Name)}}
        for loop in loops
    ]  # fmt: skip


def test_equations_that_need_no_others_are_solved_first():
    """The particle's y is a linear equation of its own, and with y known all others are linear."""
    assert unknowns_of_loops(nh.systems.particle(), nh.DLA()) == []
    quartic = nh.System((x, y, z), (vx, vy, vz), (vx**2 + vy**2 + vz**2) / 2 - y**4,
                        [vz - y * vx])  # fmt: skip
    assert unknowns_of_loops(quartic, nh.DLA()) == [{"vy"}]
    coupled = nh.System((x, y, z), (vx, vy, vz), (vx**2 + vy**2 + vz**2) / 2 - x**2 * y**2,
                        [vz - y * vx])  # fmt: skip
    assert unknowns_of_loops(coupled, nh.DLA()) == [{"vx", "vy", "vz", "lam0"}]


def test_linear_rows_leave_the_elimination_before_the_loop():
    """In the snakeboard's loop only a matrix of the size of its two multipliers is inverted, with
    one division."""
    text = nh.source(nh.systems.snakeboard(), nh.DLA())
    loop = text.split("for _ in range(8):")[1].split("if all_(ok)")[0]
    assert loop.count(" = 1.0/") == 1
    assert unknowns_of_loops(nh.systems.snakeboard(), nh.DLA()) == [
        {"vx", "vy", "vtheta", "lam0", "lam1"}
    ]


def test_split_keeps_what_depends_on_each_other():
    a, b, c, d = (dummy(n) for n in "abcd")
    both = dummy("both")
    equations = (a + both, b - 2 * a, c - 1, d + c * a)
    stage = Stage((a, b, c, d), equations, (a * 0,) * 4, scale2=(1, 2, 3, 4))
    parts = list(stepcode.split(stage, [(both, b * c)]))
    assert [part.unknowns for part in parts] == [(c,), (a, b), (d,)]
    assert [part.scale2 for part in parts] == [(3,), (1, 2), (4,)]


corner = sp.Piecewise((x**2, (x < 0) & (y < 1)), (2 * x**4, True))
pieces = nh.System((x, y), (vx, vy), (vx**2 + vy**2) / 2 - corner - y**2, [vy - x * vx],
                   q0=(0, 0), v0=(1, 0), name="pieces")  # fmt: skip


@pytest.mark.parametrize("system", [nh.systems.robot(), nh.systems.driven(), pieces], ids=repr)
@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.RK4()], ids=repr)
def test_run_for_cpython_equals_the_text(system, method):
    """Inlined, constants first, rows in a list, ``and`` for ``&``: the same numbers to the bit."""
    program = method.program(system)
    plain, fast = program._execute()["run"], program.python
    assert "step" in plain.__code__.co_names
    assert not {"step", "all_", "where"} & {*fast.__code__.co_names}
    start = Start(system, method, None, None, h=0.1, steps=20)
    (row,), (state,), done, (scale2,) = begin(start)
    args = method.arguments(start.system, scale2.tolist())
    for every in (1, 5):
        rows, floats = np.zeros((20 // every + 1, len(row))), state.tolist()
        assert plain(floats, rows, done, 20, every, 0.0, 0.1, *args) == 20
        out, again = [], state.tolist()
        assert fast(again, out, done, 20, every, 0.0, 0.1, *args) == 20
        assert again == floats == rows[-1].tolist()
        assert out == rows[done // every + 1 :].ravel().tolist()


def loops_of(function):
    """The while loop of a run, and all loops in it."""
    tree = ast.parse(function.text)
    loop = next(f for f in tree.body if getattr(f, "name", "") == "loop")
    return [x for x in ast.walk(loop) if isinstance(x, (ast.While, ast.For))]


def constants_in(loop):
    """Expressions computed in the loop from what is not assigned in it."""
    names = {x: {y.id for y in ast.walk(x) if isinstance(y, ast.Name)} for x in ast.walk(loop)}
    assigned = {x.id for x in ast.walk(loop) if isinstance(getattr(x, "ctx", 0), ast.Store)}
    return [ast.unparse(x) for x in names if isinstance(x, (ast.BinOp, ast.Call))
            and not assigned & names[x] and names[x] - {"range"}]  # fmt: skip


@pytest.mark.parametrize("method", [nh.DLA(), nh.Projector(), nh.EDLA()], ids=repr)
@pytest.mark.parametrize("name", ["particle", "sleigh", "snakeboard", "robot"])
def test_nothing_constant_is_computed_in_a_newton_loop(name, method):
    _, *newton = loops_of(method.program(nh.systems.catalogue[name]()))
    for one in newton:
        assert constants_in(one) == []


def test_what_depends_on_the_arguments_alone_is_computed_once_in_a_run():
    whole = loops_of(nh.Projector().program(nh.systems.sleigh()))[0]
    text = ast.unparse(whole)
    for done in ("1.0 / m", "alpha * h", "2.0 * a", "t0"):
        assert done not in text


def test_new_values_are_assigned_in_turn_where_that_makes_no_difference():
    h, new, v, before = (dummy(n) for n in ("h", "new", "v", "before"))
    assert list(in_turn([(h, new), (x, x + new * v), (before, h), (y, y)])) == [
        [(x, x + new * v)],
        [(before, h)],
        [(h, new)],
    ]
    assert list(in_turn([(x, y), (y, x), (z, x + y)])) == [[(z, x + y)], [(x, y), (y, x)]]


def test_time_is_kept_where_the_system_depends_on_it():
    assert "t = t0 + n * h" in ast.unparse(loops_of(nh.DLA().program(nh.systems.driven()))[0])


def test_equations_that_give_their_own_unknown_leave_the_elimination():
    """m vx = ... and m vy = ... of the sleigh: Newton is left with theta, one division."""
    text = nh.source(nh.systems.sleigh(), nh.Projector())
    newton = text.split("for _ in range(8):")[1].split("if all_(ok)")[0]
    assert newton.count(" = 1.0/") == 1
    assert newton.index(" vx = ") < newton.index("j_")  # before all that uses it


def test_a_row_that_moves_with_its_own_unknown_stays_in_the_elimination():
    """Here x_a moves with vx, and so does what multiplies it: nothing is explicit."""
    bent = nh.System((x, y), (vx, vy), (1 + x**2) * vx**2 / 2 + vy**2 / 2 - x * y**3 - y**4)
    steps = nh.integrate(bent, nh.DLA(), [1, 0.5], [0, 1], h=0.1, steps=1)
    start = Start(bent, nh.DLA(), [1, 0.5], [0, 1], h=0.1, steps=1)
    (row,), *_, (scale2,) = begin(start)
    statement, args = nh.DLA().program(bent).statement, nh.DLA().arguments(bent, scale2.tolist())
    careful = careful_step(statement, 0.0, 0.1, row.tolist(), args)
    np.testing.assert_allclose(steps.rows.array[1], careful.carry, rtol=1e-13)


def test_sums_of_angles_are_written_out_where_that_leaves_fewer():
    a, b, u = (dummy(n) for n in "abu")
    many = u - sp.sin(a + b) - sp.cos(a - b) * sp.sin(a)
    (found,) = stepcode.fewer_angles(Stage((u,), (many,), (u * 0,))).equations
    assert {f.args[0] for f in found.atoms(sp.sin, sp.cos)} == {a, b}
    assert sp.expand_trig(found - many).expand() == 0
    for few in (u - sp.sin(a + b) * sp.cos(a + b), u - sp.sin(a) - sp.cos(a + b)):
        stage = Stage((u,), (few,), (u * 0,))
        assert stepcode.fewer_angles(stage) is stage


def test_two_unknowns_need_one_division_and_no_pivot():
    """Cramer's rule for the last two: [[0-ish, 1], [1, 0-ish]] is no trouble."""
    a, b, c, d, small = (dummy(n) for n in "abcds")
    stage = Stage((a, b), (small * a + b - c, a + small * b - d), (a * 0, b * 0))
    t, h = dummy("t"), dummy("h")
    text = generate(Statement(t, h, (c, d), (small,), (stage,), (a, b)))
    space = {}
    exec(text, space)
    assert text.split("def run")[0].count(" = 1.0/") == 1
    ok, _, x, y = space["step"](0.0, 0.1, 2.0, 3.0, 1e-30)
    assert ok and (x, y) == (3.0, 2.0)


# ---------------------------------------------------------------------------- EDLA's prediction


@pytest.mark.parametrize("name", ["sleigh", "snakeboard", "pendulum", "nonreversible"])
def test_extrapolating_h_saves_iterations(name):
    """From the same states, with the last two h and with the last alone."""
    system, method = nh.systems.catalogue[name](), nh.EDLA()
    program, space = method.program(system), {"count": []}
    exec(program.text.replace("range(8):", "range(8):\n        count.append(_)"), space)
    sol = nh.integrate(system, method, h=0.02, steps=100)
    args = method.arguments(system, [1.0] * len(system.v))
    iterations = []
    for before in (sol.rows.h_before[2:-1], sol.h[1:-1]):
        rows = sol.rows.array[2:-1].copy()
        rows[:, -2] = before
        space["count"].clear()
        steps = [space["step"](*row, *args) for row in rows.tolist()]
        assert all(new[0] for new in steps)
        np.testing.assert_allclose([new[1] for new in steps], sol.h[2:], rtol=1e-9)
        iterations.append(len(space["count"]) / len(steps))
    assert iterations[0] < iterations[1] - 0.7


def test_a_step_that_fails_from_the_extrapolated_h_is_predicted_with_the_last():
    """The knife edge: h = .031, .043, and then only a much smaller step exists."""
    system, method = nh.systems.knife_edge(), nh.EDLA()
    sol = nh.integrate(system, method, h=0.02, steps=60)
    k = np.argmin(sol.h[1:] / sol.h[:-1]) + 1
    assert sol.h[k] < 0.1 * sol.h[k - 1] and sol.h[k - 1] > 1.3 * sol.h[k - 2]
    args = method.arguments(system, [1.0] * len(system.v))
    row = sol.rows.array[k].tolist()
    assert not method.program(system).one_step(*row, *args)[0]
    row[-2] = row[1]
    done = careful_step(method.program(system).statement, *row[:2], row[2:], args)
    assert done.ok and done.h == pytest.approx(sol.h[k], rel=1e-12)
    assert np.ptp(sol.energy("midpoints")) < 1e-12
