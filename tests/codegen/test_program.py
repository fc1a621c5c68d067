"""Texts are generated once, shared by processes, run as the length asks."""

import threading

import numpy as np
import pytest
from processes import answer, start_python
from runs import rows

import nhlab as nh
from nhlab.codegen import cache
from nhlab.codegen import program as running
from nhlab.codegen.writing import generate
from nhlab.run import loop

x, vx, k, m = nh.symbols("x vx k m")
used = []  # backends


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
    assert program.compile_state == stage
    monkeypatch.setattr(loop, "CHUNK", Recorder(loop.CHUNK))
    used.clear()
    threshold = loop.COMPILE_FROM[stage]
    rows(system, method, steps=threshold - 1)
    rows(system, method, steps=threshold)
    rows(system, method, steps=threshold, backend="python")
    rows(system, method, steps=1, backend="numba")
    assert used == ["python", "numba", "python", "numba"]


class Recorder(dict):
    """A dict that notes which keys are read."""

    def __getitem__(self, key):
        used.append(key)
        return super().__getitem__(key)


COMPILE = """
import json, nhlab as nh, nhlab.codegen.program
{first}
system, method = nh.systems.pendulum(), nh.Variational()
sol = nh.integrate(system, method, h=0.1, steps=500, backend="numba")
stats = method.program(system).numba.stats
counts = [sum(x.values()) for x in (stats.cache_hits, stats.cache_misses)]
print(json.dumps([sol.q[-1].tolist(), *counts]))
"""
FORBID = """
def no(*_):
    raise AssertionError("generated again")
nhlab.codegen.program.generate = no
"""


def test_cache_survives_a_restart_and_two_processes_at_once(tmp_path, numba):
    both = [start_python(COMPILE.format(first=""), tmp_path) for _ in range(2)]
    (q, *_), (same, *_) = map(answer, both)
    # A third process neither generates the text nor compiles it: one hit, no miss.
    assert answer(start_python(COMPILE.format(first=FORBID), tmp_path)) == [q, 1, 0] and same == q
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
for call, start in ((nh.integrate, (s.q0, s.v0)), (nh.ensemble, ([s.q0], [s.v0]))):
    try:
        call(s, nh.DLA(), *start, h=0.1, steps=1, backend="numba")
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


DIGESTS = """
import json, hashlib, nhlab as nh
from nhlab.codegen.writing import generate
out = {}
for name in ("driven", "snakeboard", "spherical_pendulum"):
    s = getattr(nh.systems, name)()
    for m in (nh.DLA(), nh.EDLA(symmetric=True)):
        text = generate(m.statement(s))
        out[f"{name} {m} {m.program(s).name}"] = hashlib.sha256(text.encode()).hexdigest()
print(json.dumps(out))
"""


def test_text_and_its_name_are_the_same_in_every_process(tmp_path):
    one, two = (start_python(DIGESTS, tmp_path / seed, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert answer(one) == answer(two)


def test_sliders_generate_nothing(monkeypatch):
    texts = []  # generated without help from the disk
    monkeypatch.setattr(cache, "folder", lambda: None)
    monkeypatch.setattr(running, "generate", lambda s: texts.append(generate(s)) or texts[-1])
    system = nh.systems.sleigh()
    rows(system, nh.DLA())
    before, program = len(texts), nh.DLA().program(system)
    for setting in (system.set(a=0.3), system.set(m=2, I=0.5).set(a=0)):
        for alpha in (0, 0.3, 1):
            assert nh.DLA(alpha).program(setting) is program
            rows(setting, nh.DLA(alpha), h=0.02, t0=3)
    assert len(texts) == before
    rows(system, nh.DLA(symmetric=True))  # the witness: another rule is another text
    assert len(texts) == before + 1


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
    monkeypatch.setattr(running.SOURCES, "fingerprint", b"another version")
    assert nh.Variational().program(nh.systems.pendulum()).name != before


def test_bars_can_be_left_out(monkeypatch):
    bar = running.progress_bar(total=2)
    assert bar is not None
    bar.close()
    monkeypatch.setenv("NHLAB_BARS", "0")
    assert running.progress_bar(total=2) is None


class Bar:
    """A bar that only says when it is shown and refreshed."""

    def __init__(self, **options):
        self.start_t, self.options, self.refreshed = 100.0, options, threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def refresh(self):
        self.refreshed.set()


def test_work_that_takes_long_is_shown(monkeypatch):
    bars = []
    monkeypatch.setattr(running, "progress_bar", lambda **x: bars.append(Bar(**x)) or bars[-1])
    with running.at_work("deriving", after=60):  # the control: nothing is shown of short work
        pass
    assert bars == []
    shown = threading.Event()
    monkeypatch.setattr(Bar, "__enter__", lambda bar: shown.set() or bar)
    with running.at_work("deriving", after=0.01):
        assert shown.wait(60) and bars[0].refreshed.wait(60)
    assert bars[0].options["desc"] == "deriving" and bars[0].start_t == 100 - 0.01


def test_interrupted_work_says_what_it_was():
    with pytest.raises(KeyboardInterrupt, match="while deriving; no step was taken"):
        with running.at_work("deriving"):
            raise KeyboardInterrupt
