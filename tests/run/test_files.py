"""Files: what is saved comes back exactly, and foreign files are refused without harm."""

import io
import json
import os
import pickle
import stat
from contextlib import contextmanager

import numpy as np
import pytest
import sympy as sp
import verdict
from starts import METHODS, PARTICLE, run, stopped_sleigh

import nhlab as nh
from nhlab.run import files

x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
s = nh.symbols("s", positive=True)


def body_with_a_metric():
    s = nh.systems.suslov()
    given = {"g": s.pose, "parameters": s.parameters, "q0": s.q0, "v0": s.v0}
    return nh.GroupSystem(s.group, s.v, s.L, s.constraints, metric=np.diag([1, 3, 2]), **given)


TO_SAVE = {
    **{f"particle {m}": (PARTICLE, m) for m in METHODS},
    **{f"{n} EDLA": (f(), nh.EDLA()) for n, f in nh.systems.catalogue.items() if n in
       ("driven", "spherical_pendulum", "kepler")},
    "snakeboard": (nh.systems.snakeboard(), nh.DLA()),
    "suslov": (nh.systems.suslov(rule="log"), nh.DLA()),
    "rubber ball": (nh.systems.rubber_ball(), nh.Projector()),
    "metric on a group": (body_with_a_metric(), nh.Projector()),
    "floats": (nh.System((x,), (vx,), 0.1 * vx**2 - sp.Float("0.3", 30) * x**2 / 3, q0=[1], v0=[0]),
               nh.DLA()),
    "pieces": (nh.System((x, y), (vx, vy), vx**2 + vy**2 - sp.Piecewise(
        (x**2, (x < 0) | (y > 2)), (sp.sin(x) * y, sp.Ne(x, 3)), (sp.sqrt(y), True))
        - sp.Piecewise((1, sp.Eq(x, 7)), (0, True)), q0=[0.5, 1], v0=[0.1, 0]), nh.Variational()),
    "functions": (nh.System((x,), (vx,), vx**2 + sum(f(x / 2) for f in (
        sp.sin, sp.tan, sp.exp, sp.cosh, sp.asin, sp.atanh, sp.Abs, sp.sign, sp.sec, sp.cot))
        + sp.log(x) + sp.atan2(x, 2) + sp.pi * x + sp.E * x + x ** sp.Rational(1, 3), q0=[0.5],
        v0=[0.1]), nh.RK4()),
    "metric": (nh.System((x, y), (vx, vy), vx**2 + vy**2, [vx - y * vy],
                         metric=[[2 + x**2, 0], [0, 1]], q0=[0, 1], v0=[1, 1]), nh.Projector()),
    "positive": (nh.System((x,), (vx,), s * vx**2 - sp.sqrt(s**2) * x, parameters={s: 2}, q0=[1],
                           v0=[0]), nh.DLA()),
    "factored": (nh.System((x, y), (vx, vy), sp.factor(2 * vx**2 + 2 * vy**2), q0=[1, 2],
                           v0=[0, 1]), nh.DLA()),
}  # fmt: skip


@pytest.mark.parametrize("case", TO_SAVE)
def test_saved_and_loaded(case, tmp_path):
    system, method = TO_SAVE[case]
    sol = run(system, method, t0=0.25, steps=6, every=3, h=0.02)
    sol.save(tmp_path / "run.npz")
    back = nh.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(back.rows.array, sol.rows.array)
    for name in ("t", "q", "v", "p", "h", "lam"):
        np.testing.assert_array_equal(getattr(back, name), getattr(sol, name))
    assert back.method == method and type(back.method) is type(method)
    assert back.system == system and hash(back.system) == hash(system)
    assert (back.every, back.message) == (3, "") and back.system.name == system.name
    np.testing.assert_array_equal(back.energy(), sol.energy())
    one, two = (nh.integrate(s, method, system.q0, system.v0, h=0.02, steps=3)
                for s in (system, back.system))  # fmt: skip
    np.testing.assert_array_equal(one.q, two.q)


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.Reference()], ids=str)
def test_events_are_saved_too(method, tmp_path):
    """Also those of which none was found, and which one ended the run."""
    x, y, z = PARTICLE.q
    end = nh.Event(y, terminal=2)
    sol = run(PARTICLE, method, h=0.1, steps=80, events=[y, x + 100, end])
    assert sol.ended_by == 2 and len(sol.t_events[0]) and not len(sol.t_events[1])
    sol.save(tmp_path / "run.npz")
    back = nh.load(tmp_path / "run.npz")
    assert back.ended_by == 2 and back.message == sol.message
    for name in ("t_events", "q_events", "v_events"):
        for a, b in zip(getattr(back, name), getattr(sol, name), strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a, b)
    assert back.events == sol.events == [nh.Event(y), nh.Event(x + 100), end]
    with_events = nh.integrate(back, steps=3, events=[y])
    np.testing.assert_array_equal(with_events.t_events[0][: len(sol.t_events[0])], sol.t_events[0])


def test_files_without_events(tmp_path):
    """Of runs that looked for none, and older ones."""
    path = tmp_path / "run.npz"
    run().save(path)
    assert nh.load(path).t_events is None
    about, arrays = contents(path)
    for name in ("events", "ended_by", "looked_for"):
        del about[name]
    files.write(path, about, arrays)
    assert nh.integrate(nh.load(path), steps=1).t_events is None
    assert nh.load(path).t_events is None and nh.load(path).ended_by is None


@pytest.mark.parametrize(("part", "value"), [
    ("t_events 0", np.array([[1.0]])), ("q_events 0", np.zeros((1, 2))), ("events", 2),
    ("v_events 0", np.full((1, 3), np.nan)), ("t_events 0", np.array(["x"])), ("ended_by", 1),
    ("events", -1), ("ended_by", "one"), ("looked_for", []), ("looked_for", [[None, 0, 2, 0]] * 2),
    ("looked_for", [[["Symbol", "w", {}], False, 0, 0]]),
    ("looked_for", [[["Symbol", "y", {"real": True}], -1, 0, 0]]),
], ids=str)  # fmt: skip
def test_events_that_do_not_belong_together_are_refused(part, value, tmp_path):
    path, y = tmp_path / "run.npz", PARTICLE.q[1]
    sol = run(h=0.1, steps=10, events=y - 0.9)
    assert len(sol.t_events[0]) == 1
    sol.save(path)
    about, arrays = contents(path)
    (about if part in about else arrays)[part] = value
    files.write(path, about, arrays)
    with pytest.raises(ValueError, match="is not a trajectory saved by nhlab"):
        nh.load(path)


def contents(path):
    """The JSON and the arrays of a file."""
    with files.reading(path, "a trajectory") as (about, arrays):
        return about, arrays


def test_saved_where_told(tmp_path):
    """An ordinary npz file, whether its ending is given or not."""
    sol = run()
    for name in (tmp_path / "plain", str(tmp_path / "text.npz")):
        sol.save(name)
        np.testing.assert_array_equal(nh.load(name).q, sol.q)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["plain.npz", "text.npz"]
    with np.load(tmp_path / "text.npz", allow_pickle=False) as file:
        assert sorted(file) == ["about", "rows"]
        assert json.loads(str(file["about"]))["system"]["name"] == "particle"
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing.*save writes"):
        nh.load(tmp_path / "nothing")


# ---------------------------------------------------------------------------- all or nothing


@contextmanager
def full_disk(monkeypatch):
    """No file may become longer than 1000 bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def ctrl_c_while_writing(monkeypatch):
    def write_a_part(file, **_):
        (file if hasattr(file, "write") else open(file, "wb")).write(b"part")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(np, "savez_compressed", write_a_part)
        yield


@pytest.mark.parametrize("failure", [full_disk, ctrl_c_while_writing])
def test_a_file_is_replaced_whole_or_not_at_all(failure, tmp_path, monkeypatch):
    path, short = tmp_path / "run.npz", run(steps=2)
    with failure(monkeypatch):
        run(steps=500).save(path)
    assert [*tmp_path.iterdir()] == []  # nothing is left of it
    short.save(path)
    before = path.read_bytes()
    with failure(monkeypatch):
        run(steps=500).save(path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]
    np.testing.assert_array_equal(nh.load(path).q, short.q)
    run(steps=500).save(path)
    assert nh.load(path).steps == 500 and [*tmp_path.iterdir()] == [path]


def test_what_is_too_large_for_a_file_leaves_the_old_one(tmp_path, monkeypatch):
    run(steps=2).save(tmp_path / "run.npz")
    monkeypatch.setattr(files, "MAX_DEPTH", 2)
    with pytest.raises(ValueError, match="too large for a file: it has more than 2 nested"):
        run(steps=4).save(tmp_path / "run.npz")
    monkeypatch.undo()
    assert nh.load(tmp_path / "run.npz").steps == 2


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_and_links_stay_as_they_are(tmp_path):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    before = os.umask(0o027)
    try:
        run(steps=2).save(tmp_path / "new.npz")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new.npz") == 0o640  # as of every new file
    (tmp_path / "new.npz").chmod(0o604)
    (tmp_path / "folder").mkdir()
    link, far = tmp_path / "folder/link.npz", tmp_path / "folder/far.npz"
    link.symlink_to("../new.npz")
    far.symlink_to("../later.npz")  # which is not there yet
    for path in (link, far):
        run(steps=4).save(path)
        assert path.is_symlink() and nh.load(path).steps == 4
    assert nh.load(tmp_path / "new.npz").steps == nh.load(tmp_path / "later.npz").steps == 4
    assert mode(tmp_path / "new.npz") == 0o604
    assert len([*tmp_path.rglob("*")]) == 5  # no drafts


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.run\.npz"):
        run(steps=2).save(tmp_path / "nowhere/run")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(OSError, match=r"folder\.npz"):
        run(steps=2).save(tmp_path / "folder")
    assert [f.name for f in tmp_path.iterdir()] == ["folder.npz"]


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everything")
def test_a_read_only_file_is_not_replaced(tmp_path):
    run(steps=2).save(tmp_path / "run.npz")
    (tmp_path / "run.npz").chmod(0o444)
    with pytest.raises(PermissionError, match=r"run\.npz"):
        run(steps=4).save(tmp_path / "run.npz")
    assert nh.load(tmp_path / "run.npz").steps == 2


# ---------------------------------------------------------------------------- foreign files


def test_saved_run_of_a_given_q1_and_a_stopped_run(tmp_path):
    sol = run(q0=[0, 1, 0], q1=[0.1, 1.1, 0.1])
    sol.save(tmp_path / "a.npz")
    assert np.isnan(nh.load(tmp_path / "a.npz").lam[0, 0])
    part = stopped_sleigh().trajectory
    part.save(tmp_path / "b.npz")
    back = nh.load(tmp_path / "b.npz")
    assert back.message == part.message != "" and back.steps == part.steps


class Bomb:
    """Unpickling this leaves a file behind."""

    def __reduce__(self):
        return (open, ("exploded", "w"))


# One entry of what a file says replaced, of the run and of its system.
DESCRIPTION = [("every", 0), ("every", 1.5), ("every", 10**30), ("h", -1), ("h", None)]
DESCRIPTION += [("t0", "0"), ("t0", float("nan")), ("message", 3), ("q1_given", "yes")]
DESCRIPTION += [("method", None), ("method", ["DLA", ["alpha"]]), ("system", []), ("format", None)]
SYSTEM = [("L", ["Rational", "9" * 5000, "1"]), ("L", [["Add"]]), ("q", None), ("q0", "a")]
SYSTEM += [("parameters", [1]), ("q0", [1]), ("constraints", [["Symbol", 3, {}]])]
SYSTEM += [("L", ["Symbol", "x", {"real": "no"}])]
for field in ("name", "source"):
    SYSTEM += [(field, value) for value in (None, 3, True, ["particle"], {"a": "b"})]


def nested(operation, depth):
    e = ["Symbol", "x", {"real": True}]
    for _ in range(depth):
        e = operation(e)
    return e


def either(e, condition):
    """e under a condition, else 0."""
    otherwise = ["ExprCondPair", ["Rational", "0", "1"], ["Constant", "True"]]
    return ["Piecewise", ["ExprCondPair", e, condition], otherwise]


ONE, TWENTY = ["Rational", "1", "1"], ["Rational", "20", "1"]
TOWER = ["exp", ["exp", ["exp", TWENTY]]]  # has more digits than there are atoms
ENDLESS = {  # SymPy would not come back, or not for a long time
    "a relation of towers": either(ONE, ["StrictLessThan", TOWER, ONE]),
    "towers that cancel": either(ONE, ["Equality", ["Add", TOWER, ONE], TOWER]),
    "a tower under not": either(ONE, ["Not", ["LessThan", TOWER, ONE]]),
    "no real number": ["log", ["Rational", "-1", "1"]],
    "nested |1 + |1 + ...|": nested(lambda e: ["Abs", ["Add", ONE, e]], 60),
    "nested cases": nested(lambda e: either(ONE, ["StrictLessThan", e, ONE]), 60),
    "cases in cases": nested(lambda e: either(e, ["StrictLessThan", e, ONE]), 14),
    "nested beyond Python": nested(lambda e: ["sin", e], 700),
}


def bad_files():
    good = io.BytesIO()
    run(steps=2).save(good)
    good = good.getvalue()
    with np.load(io.BytesIO(good)) as file:
        about, rows = json.loads(str(file["about"])), file["rows"]

    def npz(**arrays):
        out = io.BytesIO()
        np.savez(out, **arrays)
        return out.getvalue()

    def changed(**values):
        return npz(about=np.array(json.dumps({**about, **values})), rows=rows)

    def system(**values):
        return changed(system={**about["system"], **values})

    bomb = np.array([Bomb()], dtype=object)
    yield "empty", b""
    yield "random", np.random.default_rng(1).bytes(500)
    yield "zip signature only", b"PK\x03\x04" + b"x" * 50
    yield "truncated", good[:-40]
    yield "flipped bits", bytes(b ^ 255 if 150 < i < 170 else b for i, b in enumerate(good))
    yield "pickle", pickle.dumps(Bomb())
    yield "object array", npz(about=bomb, rows=bomb)
    yield "object rows", npz(about=np.array(json.dumps(about)), rows=bomb)
    yield "npy", npy(np.zeros(3))
    yield "foreign", npz(a=np.zeros(3))
    yield "no rows", npz(about=np.array(json.dumps(about)))
    yield "no JSON", npz(about=np.array("hello"), rows=rows)
    yield "JSON list", npz(about=np.array("[1, 2]"), rows=rows)
    yield "other format", changed(format="nhlab trajectory 99")
    yield "unknown method", changed(method=["System", {}])
    yield "private method", changed(method=["__builtins__", {}])
    yield "wrong options", changed(method=["DLA", {"beta": 1}])
    yield "bad alpha", changed(method=["DLA", {"alpha": 7}])
    yield "code for L", system(L=["Lambda", "__import__('os').system('touch exploded')"])
    yield "text for L", system(L="__import__('os').system('touch exploded')")
    yield "symbol of code", system(L=["Symbol", "__import__('os').system('touch exploded')", {}])
    yield "L too short", system(L=["Rational", "1"])
    yield "L is not a list", system(L=5)
    yield "L of None", system(L=["Add", None])
    yield "a number with a billion bits", system(L=["Float", [0, "1", 0, 1], 10**9])
    yield "a number beyond all", system(L=["sin", ["Float", [0, "1", 10**12, 1], 53]])
    yield "a number of text", system(L=["Float", [0, "1", "__import__('os')", 1], 53])
    yield "a huge power", system(L=["Pow", *[["Rational", str(9**9), "1"]] * 2])
    tower = ["Pow", ["Rational", "9", "1"], ["Rational", "300", "1"]]
    yield "a tower of powers", system(L=["Pow", tower, ["Rational", "300", "1"]])
    for name, e in ENDLESS.items():
        yield name, system(L=["Add", about["system"]["L"], e])
    for name, value in DESCRIPTION:
        yield f"{name} = {value!r}", changed(**{name: value})
    for name, value in SYSTEM:
        yield f"{name} = {value!r:.40}", system(**{name: value})
    yield "narrow rows", npz(about=np.array(json.dumps(about)), rows=rows[:, :-1])
    yield "flat rows", npz(about=np.array(json.dumps(about)), rows=rows[0])
    yield "no rows at all", npz(about=np.array(json.dumps(about)), rows=rows[:0])
    yield "text rows", npz(about=np.array(json.dumps(about)), rows=rows.astype(str))


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


BAD_FILES = dict(bad_files())


@pytest.fixture
def seconds():
    """An alarm: what SymPy begins with such files may never end."""
    with verdict.watched():
        yield


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("name", BAD_FILES)
def test_foreign_files_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file.npz"
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(ValueError, match=r"file\.npz is not a trajectory saved by nhlab"):
        nh.load(path)
    assert [f.name for f in tmp_path.iterdir()] == ["file.npz"]  # nothing was executed


# As saved files have it: exactly what the expression was made from, the numbers to the last bit.
WRITTEN = {
    "x": (x, ["Symbol", "x", {"real": True}]),
    "positive": (s, ["Symbol", "s", {"real": True, "positive": True}]),
    "0.1": (sp.Float(0.1), ["Float", [0, "3602879701896397", -55, 52], 53]),
    "-0.3": (sp.Float("-0.3", 9), ["Float", [1, "5153960755", -34, 33], 33]),
    "x/3": (x / 3, ["Mul", ["Rational", "1", "3"], ["Symbol", "x", {"real": True}]]),
    "pi": (sp.pi, ["Constant", "pi"]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_expressions_are_written_as_ever(name):
    e, data = WRITTEN[name]
    assert files.to_json(e) == data == json.loads(json.dumps(files.to_json(e)))
    back = files.from_json(data)
    assert back == e and sp.srepr(back) == sp.srepr(e)


# Numbers at the limits of what a file may hold, and just beyond them.
BITS = files.MAX_BITS
INSIDE = {
    "precision 1": ["Float", [0, "1", 0, 1], 1],
    "largest precision": ["Float", [0, "1", 0, 1], BITS],
    "smallest exponent": ["Float", [0, "1", -BITS, 1], 53],
    "largest number": ["Float", [0, "1", 1023, 1], 53],
    "longest number": ["Rational", "1", str(2**BITS - 1)],
    "longest mantissa": ["Float", [0, str(2**BITS - 1), -BITS, BITS], BITS],
    "0**2": ["Pow", ["Add", ["Rational", "-1", "1"], ["sin", ONE], ["Mul", ["Rational", "-1", "1"],
                     ["sin", ONE]], ONE], ["Rational", "2", "1"]],
}  # fmt: skip
OUTSIDE = {
    "precision 0": ["Float", [0, "1", 0, 1], 0],
    "precision -1": ["Float", [0, "1", 0, 1], -1],
    "precision": ["Float", [0, "1", 0, 1], BITS + 1],
    "small exponent": ["Float", [0, "1", -BITS - 1, 1], 53],
    "large number": ["Float", [0, "1", 1024, 1], 53],
    "large exponent": ["Float", [0, "1", BITS + 1, 1], 53],
    "long number": ["Rational", "1", str(2**BITS)],
    "long mantissa": ["Float", [0, str(2**BITS), -BITS, BITS + 1], BITS],
    "a power below the floats": ["Pow", ["Rational", "10", "1"], ["Rational", "-400", "1"]],
    "1/0": ["Pow", ["Rational", "0", "1"], ["Rational", "-1", "1"]],
    "log(-1)": ["log", ["Rational", "-1", "1"]],
    "exp(710)": ["exp", ["Rational", "710", "1"]],
    "exp(1) - exp(710)": ["Add", ["exp", ONE], ["exp", ["Rational", "710", "1"]]],
}


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("name", INSIDE)
def test_numbers_at_the_limits_are_read(name):
    value = files.from_json(INSIDE[name])
    assert value.is_number and files.to_json(value)[0] == INSIDE[name][0]


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("name", OUTSIDE)
def test_numbers_beyond_the_limits_are_refused(name):
    with pytest.raises(ValueError, match=r"a (number|power)"):
        files.from_json(OUTSIDE[name])


def test_systems_at_the_limits_are_read_and_larger_ones_refused():
    def sines(depth):
        return nested(lambda e: ["sin", e], depth - 1)

    files.check_size({"L": sines(files.MAX_DEPTH)})
    with pytest.raises(ValueError, match="more than 100 nested operations"):
        files.check_size({"L": sines(files.MAX_DEPTH + 1)})
    files.check_size({"L": [sines(2) for _ in range(files.MAX_NODES // 2)]})
    with pytest.raises(ValueError, match="more than 50000 operations"):
        files.check_size({"L": [sines(2) for _ in range(files.MAX_NODES // 2)], "t": sines(1)})


def test_relations_come_back_as_they_were_written():
    """Also those that SymPy would decide, or turn round."""
    for name in "StrictLessThan LessThan StrictGreaterThan GreaterThan Equality Unequality".split():
        written = [name, ["Symbol", "x", {"real": True}], ["Symbol", "x", {"real": True}]]
        assert files.to_json(files.from_json(written)) == written


def test_a_name_that_is_no_text_is_saved_as_text(tmp_path):
    system = nh.System((x,), (vx,), vx**2, name=3, source=None, q0=[1], v0=[0])
    run(system, nh.RK4()).save(tmp_path / "run.npz")
    back = nh.load(tmp_path / "run.npz").system
    assert (back.name, back.source) == ("3", "") and back == system


@pytest.mark.parametrize("method", [nh.DLA(), nh.EDLA(), nh.RK4()], ids=repr)
def test_rows_that_are_not_finite_are_refused(method):
    sol = run(PARTICLE, method)
    sol.rows.array[3] = np.nan
    file = io.BytesIO()
    sol.save(file)
    file.seek(0)
    with pytest.raises(ValueError, match="not finite"):
        nh.load(file)


def test_times_that_are_not_finite_are_refused():
    sol, file = run(PARTICLE, nh.DLA()), io.BytesIO()
    sol.h0, sol.every = 1e308, 10
    sol.save(file)
    file.seek(0)
    with pytest.raises(ValueError, match="times"):
        nh.load(file)
