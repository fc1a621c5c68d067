"""The cache heals, trusts nobody and is never needed."""

import os
import re
import shutil
import threading
import warnings

import numpy as np
import pytest
from processes import answer, start_python
from runs import rows

import nhlab as nh
from nhlab.codegen import cache
from nhlab.codegen import program as running
from nhlab.codegen.writing import generate

has_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The path of a cache folder that is not there yet."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch):
    """The texts that are generated, in their order."""
    texts = []
    monkeypatch.setattr(running, "generate", lambda s: texts.append(generate(s)) or texts[-1])
    return texts


def program():
    """Like one of a new process: it knows nothing of earlier ones."""
    return nh.Variational().program(nh.systems.pendulum())


def double(x):
    return 2 * x


def compiled():
    """How often the code of a small function was found, and how often it was compiled."""
    function = pytest.importorskip("numba").njit(double)
    cache.keep_compiled(function, f"{cache.PREFIX}double", "its text")
    assert function(3.5) == 7
    return sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())


def only(place, ending):
    (file,) = place.glob(f"*{ending}")
    return file


# ---------------------------------------------------------------------------- damage


def flipped(file):
    data = bytearray(file.read_bytes())
    data[2 * len(data) // 3] ^= 1
    file.write_bytes(data)


def directory(file):
    file.unlink()
    (file / "inside").mkdir(parents=True)


def dangling(file):
    file.unlink()
    file.symlink_to("nowhere")


def renamed(file):
    """Whole, but made for another system."""
    cache.write(f"{cache.PREFIX}other", b"step = loop = None")
    file.with_name(f"{cache.PREFIX}other").replace(file)


DAMAGE = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: os.truncate(file, file.stat().st_size // 2),
    "first line only": lambda file: file.write_bytes(file.read_bytes().split(b"\n")[0]),
    "a byte too many": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
    "one bit": flipped,
    "garbage": lambda file: file.write_bytes(bytes(range(256)) * 20),
    "in UTF-16": lambda file: file.write_bytes(file.read_text("latin-1").encode("utf-16")),
    "without checksum": lambda file: file.write_bytes(file.read_bytes().split(b"\n", 1)[1]),
    "removed": lambda file: file.unlink(),
    "unreadable": lambda file: file.write_bytes(b"") or file.chmod(0),
    "a directory": directory,
    "a dangling link": dangling,
    "another's": renamed,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_text_is_made_again(damage, place, made):
    text = program().text
    DAMAGE[damage](only(place, ".py"))
    assert program().text == text and len(made) == 2
    assert program().text == text and len(made) == 2  # healed
    assert sum(f.name.endswith(".tmp") for f in place.iterdir()) == 0


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_machine_code_is_made_again(damage, place, numba):
    assert compiled() == (0, 1) and compiled() == (1, 0)
    DAMAGE[damage](only(place, ".nbc"))
    assert compiled() == (0, 1)
    assert compiled() == (1, 0)  # healed


@pytest.mark.parametrize("data", [b"", b"garbage", b"cnowhere\nx\n.", b"]."])
def test_machine_code_that_numba_cannot_use_is_made_again(data, place, numba):
    """Whole files, as another numba might leave them: EOFError, UnpicklingError, ..."""
    assert compiled() == (0, 1)
    name = only(place, ".nbc").name
    cache.write(name, data)
    assert cache.read(name) == data
    assert compiled() == (0, 1) and compiled() == (1, 0)


@pytest.mark.parametrize("change", ["text", "numba"])
def test_machine_code_is_of_one_text_and_one_numba(change, place, numba, monkeypatch):
    assert compiled() == (0, 1)
    if change == "numba":
        monkeypatch.setattr(numba, "__version__", "1000")
    else:
        keep = cache.keep_compiled
        monkeypatch.setattr(cache, "keep_compiled", lambda f, name, _: keep(f, name, "another"))
    assert compiled() == (0, 1) and len(list(place.iterdir())) == 2


# ---------------------------------------------------------------------------- trust

PLANTED = b"raise SystemExit('planted code ran')\n"


def plant(place, mode):
    """Code in the place of a text, as whole as any."""
    file = place / f"{program().name}.py"
    place.mkdir(parents=True, exist_ok=True)
    file.write_bytes(cache._head(file.name, PLANTED) + PLANTED)
    file.chmod(mode)


@has_owners
def test_the_folder_is_private_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(tmp_path / "above" / "cache"))
    before = os.umask(0)
    try:
        assert program().text
    finally:
        os.umask(before)
    file = only(tmp_path / "above" / "cache", ".py")
    modes = [x.stat().st_mode & 0o777 for x in (file.parents[1], file.parent, file)]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o770, 0o707, 0o1777])
@has_owners
def test_a_folder_that_others_may_write_is_refused_with_one_warning(mode, place):
    plant(place, 0o600)
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"{place}.*chmod go-w.*works without") as caught:
        ends = [rows(nh.systems.pendulum(), nh.Variational())[-1] for _ in range(2)]
    assert len(caught) == 1 and np.isfinite(ends).all()
    assert not list(place.glob("*.nbc")) and len(list(place.iterdir())) == 1


@has_owners
def test_a_folder_of_someone_else_is_refused(place, monkeypatch):
    plant(place, 0o600)
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.warns(RuntimeWarning, match="belongs to someone else"):
        assert "def step" in program().text


@pytest.mark.parametrize("below", ["", "below"])
@has_owners
def test_a_link_of_someone_else_is_refused(below, place, tmp_path, monkeypatch):
    """It leads to a folder of ours, into which we would write."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(place / below))
    mine = tmp_path / "mine"
    (mine / below).mkdir(mode=0o700, parents=True)
    place.symlink_to(mine)
    real = os.lstat

    def lstat(path, **options):
        values = list(real(path, **options))
        values[4] += str(path) == str(place)  # st_uid
        return os.stat_result(values)

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.warns(RuntimeWarning, match="belongs to someone else"):
        assert "def step" in program().text
    assert not list((mine / below).iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o757])
@has_owners
def test_a_folder_below_one_that_others_may_write_is_refused(mode, tmp_path, place, monkeypatch):
    """They might move it away, and put there another one of ours that they filled."""
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(place / "a" / "b"))
    plant(place / "a" / "b", 0o600)
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"chmod go-w {place},"):
        assert "def step" in program().text
    place.chmod(0o1777)  # as /tmp
    cache._checked.cache_clear()
    assert program().text == PLANTED.decode()


@has_owners
def test_links_above_are_looked_behind(tmp_path, place, monkeypatch):
    """Open to others is not the folder with the link but the one it leads to."""
    (tmp_path / "open" / "home" / "nhlab").mkdir(parents=True, mode=0o700)
    (tmp_path / "open").chmod(0o777)
    place.symlink_to(tmp_path / "open" / "home")
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(place / "nhlab"))
    with pytest.warns(RuntimeWarning, match=f"chmod go-w {tmp_path / 'open'},"):
        assert cache.folder() is None


ME, ROOT, OTHER = 1000, 0, 1001


@pytest.mark.parametrize(
    "mode, uid, gid, firm",
    [
        (0o700, ME, ME, True),
        (0o755, ROOT, ROOT, True),
        (0o1777, ROOT, ROOT, True),  # /tmp
        (0o775, ME, ME, True),  # of a user with a group of his own
        (0o775, ME, 100, False),  # of a user in a group of many
        (0o2775, ME, 100, False),
        (0o777, ME, ME, False),
        (0o757, ROOT, ROOT, False),
        (0o755, OTHER, OTHER, False),
        (0o1777, OTHER, OTHER, False),
    ],
)
@has_owners
def test_who_may_move_what_is_in_a_folder(mode, uid, gid, firm, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    status = os.stat_result((mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))
    assert cache._is_firm(status, (ROOT,)) == firm


def test_where_files_have_no_owners(place, monkeypatch):
    """As on Windows, where all modes are 777."""
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    plant(place, 0o666)
    assert cache.folder() == place and program().text == PLANTED.decode()


def test_a_link_of_ours_is_followed(place, tmp_path):
    (tmp_path / "mine").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "mine")
    assert program().text and only(tmp_path / "mine", ".py")


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
@has_owners
def test_a_file_that_others_may_write_is_not_read(mode, place, made):
    plant(place, mode)
    assert "def step" in program().text and len(made) == 1
    plant(place, 0o600)
    assert program().text == PLANTED.decode()  # the witness: it is read where it is ours


@has_owners
def test_a_file_of_someone_else_is_not_read(place, made, monkeypatch):
    plant(place, 0o600)
    assert cache.folder() == place
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)  # from here on, as after an exchange
    assert "def step" in program().text and len(made) == 1


# ---------------------------------------------------------------------------- never needed


@pytest.mark.parametrize("where", ["a file", "below a file", "a dangling link"])
def test_without_a_folder(where, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.symlink_to("nowhere") if "link" in where else file.write_text("")
    monkeypatch.setenv("NHLAB_CACHE_DIR", str(file / "x" if "below" in where else file))
    assert "def step" in program().text and cache.folder() is None
    assert program().compile_state == "cold"
    if "below" in where:
        assert compiled() == (0, 1)
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_without_a_home(monkeypatch):
    pwd = pytest.importorskip("pwd")
    for name in ("HOME", "XDG_CACHE_HOME", "NHLAB_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    with pytest.raises(RuntimeError):
        cache.Path.home()
    assert cache.folder() is None and "def step" in program().text


def test_a_home_that_does_not_exist_is_not_made(tmp_path, monkeypatch):
    """Containers start root with HOME=/nonexistent."""
    for name in ("XDG_CACHE_HOME", "NHLAB_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "nonexistent"))
    assert cache.folder() is None and "def step" in program().text
    assert [*tmp_path.iterdir()] == []


def test_the_folder_below_the_home(tmp_path, monkeypatch):
    monkeypatch.delenv("NHLAB_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "nhlab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    for name in ("HOME", "USERPROFILE"):  # the latter on Windows
        monkeypatch.setenv(name, str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "nhlab"


def test_a_read_only_folder_is_read(place, made, monkeypatch):
    text = program().text

    def refuse(*_):
        raise PermissionError(13, "Permission denied")  # to root nothing is read-only

    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)
    assert program().text == text and len(made) == 1
    only(place, ".py").unlink()
    assert program().text == text and len(made) == 2


def test_a_folder_that_goes_away(place, made):
    text = program().text
    only(place, ".py").unlink()
    place.rmdir()
    assert program().text == text and len(made) == 2


FULL = """
import json, os, resource, nhlab as nh
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # no file may be longer
system, method = nh.systems.pendulum(), nh.Variational()
runs = [nh.integrate(system, method, h=0.1, steps=50, backend=b) for b in ("python", "numba")]
print(json.dumps([x.q[-1].tolist() for x in runs] + os.listdir(os.environ["NHLAB_CACHE_DIR"])))
"""


def test_a_full_disk(place, numba):
    plain, fast, *left = answer(start_python(FULL, place))
    assert plain == pytest.approx(fast, rel=1e-13) and left == []


# ---------------------------------------------------------------------------- many


def test_others_see_whole_texts_only(place, monkeypatch):
    """A file is written under another name and put in place at once."""
    replace, seen = os.replace, []

    def watched(draft, file):
        seen.append((file.exists(), draft.endswith(".tmp"), os.path.getsize(draft)))
        return replace(draft, file)

    monkeypatch.setattr(os, "replace", watched)
    assert program().text
    assert seen == [(False, True, only(place, ".py").stat().st_size)]


def test_writers_and_readers_at_once(place):
    texts, seen = [bytes([k]) * 50_000 for k in range(4)], set()

    def write(text):
        for _ in range(50):
            cache.write(f"{cache.PREFIX}x", text)
            seen.add(cache.read(f"{cache.PREFIX}x"))

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= set(texts) and len(list(place.iterdir())) == 1


def test_stale_files_are_removed(place, monkeypatch):
    monkeypatch.setattr(cache, "KEEP_FILES", 3)
    place.mkdir(mode=0o700)
    now = cache.time.time()
    ages = {"a": 1, "b": 40, "c": 2, "d": 89, "e": 91, "f": 3}  # days
    files = {place / f"{cache.PREFIX}{k}.py": days for k, days in ages.items()}
    files |= {place / "mine.py": 1000}  # not ours to remove
    for file, days in files.items():
        file.write_text("")
        os.utime(file, (now, now - days * cache.DAY))
    (place / f"{cache.PREFIX}folder").mkdir()
    cache.write(f"{cache.PREFIX}new.py", b"")
    left = {f.stem.removeprefix(cache.PREFIX) for f in place.iterdir()}
    assert left == {"a", "c", "folder", "new", "mine"}


def test_age_alone_removes_and_use_keeps(place):
    for name, days in {"used": 100, "unused": 100, "recent": 80}.items():
        cache.write(f"{cache.PREFIX}{name}", b"")
        past = cache.time.time() - days * cache.DAY
        os.utime(place / f"{cache.PREFIX}{name}", (past, past))
    assert cache.read(f"{cache.PREFIX}used") == b""
    cache._remove_stale.cache_clear()  # a new process
    cache.write(f"{cache.PREFIX}new", b"")
    left = {f.name.removeprefix(cache.PREFIX) for f in place.iterdir()}
    assert left == {"used", "recent", "new"}


def test_the_folder_is_looked_at_once(place, monkeypatch):
    looks, look = [], cache._weakness
    monkeypatch.setattr(cache, "_weakness", lambda path: looks.append(path) or look(path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert program().text
    assert looks == [str(place)]


# ---------------------------------------------------------------------------- versions

OLD, NEW = "TOLERANCE = 1e-8", "TOLERANCE = 3e-9"  # of Newton; it stands in every text
UPDATED = """
import json, os, pathlib, sys
sys.path.insert(0, {tree!r})
import nhlab as nh
system, method = nh.systems.pendulum(), nh.Variational()  # this much is loaded
statement = pathlib.Path(nh.__file__).parent / "codegen" / "statement.py"
if {update}:
    new = statement.read_text().replace({old!r}, {new!r})
    statement.with_suffix(".new").write_text(new)
    os.replace(statement.with_suffix(".new"), statement)
text = nh.source(system, method)
end = nh.integrate(system, method, h=0.1, steps=5, backend={backend!r}).q[-1].tolist()
print(json.dumps([nh.__file__, "3e-09" in text, end]))
"""


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_a_tree_that_changes_under_a_process_leaves_no_stale_text(backend, tmp_path):
    """An update with a kernel open: what that kernel generates belongs to no version on disk."""
    if backend == "numba":
        pytest.importorskip("numba")
    house = tmp_path / "tree" / "nhlab"
    shutil.copytree(os.path.dirname(nh.__file__), house, ignore=lambda *_: ["__pycache__"])
    change, place = {"old": OLD, "new": NEW, "backend": backend}, tmp_path / "cache"
    change["tree"] = str(house.parent)

    def run(update):
        file, new, _ = answer(start_python(UPDATED.format(update=update, **change), place))
        assert file == str(house / "__init__.py")
        return new

    def texts():
        return {f.name for f in place.glob("*.py")}

    assert not run(update=False)
    before = texts()
    assert not run(update=True)  # the old code is loaded
    assert before and texts() == before  # and has written nothing
    assert run(update=False)  # a fresh process finds no text of the old code under the new name
    assert len(texts()) == 2 * len(before)


def test_texts_are_named_by_every_room_that_states_what_is_generated():
    """Else an update of such a room would be answered by the texts of the one before it."""
    house = running.SOURCES.house
    stating = {
        f.relative_to(house).parts[0]
        for f in house.glob("*/**/*.py")
        if re.search(r"codegen\.(statement|program) import", f.read_text(encoding="utf-8"))
    }
    assert {"methods", "run"} <= stating <= {*running.SOURCES.ROOMS}
