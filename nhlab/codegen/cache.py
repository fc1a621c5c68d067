"""Generated texts and compiled code on disk: private, checked when read, and never needed.

The files are executed, so a file is used only if this user wrote it and nobody else may change it:
the folder and each file must belong to the user, nobody may put another folder in its place, and a
file begins with a checksum of its name and content.  Any other file is ignored: the text is
generated again and written over it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

PREFIX = "nhlab_step_"  # of all names; nothing else in the folder is touched
DAY = 86400.0
KEEP_DAYS, KEEP_FILES = 90, 1000  # unused for so long, or more than that: removed


def folder() -> Path | None:
    """The folder of generated texts and compiled code, or None if no folder can be trusted."""
    try:
        root = os.environ.get("NHLAB_CACHE_DIR")
        base = root or os.environ.get("XDG_CACHE_HOME")
        if not base and not Path.home().is_dir():  # root could make it, but a home is not ours
            return None
        base = base or Path.home() / ".cache"
        return _checked(os.path.abspath(root or os.path.join(base, "nhlab")))
    except (OSError, RuntimeError):  # neither a home nor a working directory
        return None


@functools.cache  # once per process, and so is the warning
def _checked(path: str) -> Path | None:
    """The folder as a Path, created if it is missing; None if it cannot be created or trusted."""
    try:
        _make(Path(path))
        weak = _weakness(path)
    except OSError:
        return None
    if weak is not None:
        warnings.warn(
            f"nhlab does not use the cache folder {path}, since what it holds is executed and "
            f"{weak} belongs to someone else, or others may write to it: chmod go-w {weak}, or set "
            "NHLAB_CACHE_DIR to a folder of your own; everything works without, but starts slowly",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return Path(path)


def _make(path: Path) -> None:
    """Like mkdir(parents=True), but private all the way, whatever the umask is."""
    if not path.is_dir():
        if path.parent != path:
            _make(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def _weakness(path: str) -> str | Path | None:
    """The folder or the first above it, also behind links, that others may change or exchange."""
    real = Path(os.path.realpath(path))
    if not (_is_ours(os.lstat(path)) and _is_private(os.stat(real))):
        return path
    masters = 0, os.stat(real.anchor).st_uid  # root, whatever its number is in a container
    for above in (*Path(path).parents, *real.parents):
        if not (_is_ours(os.lstat(above), masters) and _is_firm(os.stat(above), masters)):
            return above
    return None


def _is_ours(status: os.stat_result, others: tuple[int, ...] = ()) -> bool:
    """True if the owner is this user, or one of others; Windows has no such owners."""
    return not hasattr(os, "geteuid") or status.st_uid in (os.geteuid(), *others)


def _is_private(status: os.stat_result) -> bool:
    return _is_ours(status) and not (hasattr(os, "geteuid") and status.st_mode & 0o022)


def _is_firm(status: os.stat_result, masters: tuple[int, ...]) -> bool:
    """True if nobody else may rename what a folder holds: as in /tmp, or with a group of our own,
    which by custom has our number."""
    group = 0o020 if status.st_gid != status.st_uid else 0
    loose = hasattr(os, "geteuid") and status.st_mode & (0o002 | group)
    return _is_ours(status, masters) and (not loose or bool(status.st_mode & stat.S_ISVTX))


def _head(name: str, data: bytes) -> bytes:
    """The first line of a file."""
    digest = hashlib.sha256(name.encode() + b"\n" + data).hexdigest()
    return f"# sha256 {digest}\n".encode()


def read(name: str) -> bytes | None:
    """The bytes kept under a name, or None: missing, damaged, or not written by us."""
    place = folder()
    if place is None:
        return None
    try:
        with open(place / name, "rb") as file:
            status = os.fstat(file.fileno())
            head, data = file.readline(), file.read()
    except OSError:
        return None
    if not _is_private(status) or head != _head(name, data):
        return None
    if status.st_mtime < time.time() - DAY:
        with suppress(OSError):
            os.utime(place / name)  # still in use
    return data


def write(name: str, data: bytes) -> None:
    """Keep bytes under a name, if that is possible."""
    place = folder()
    if place is None:
        return
    _remove_stale(place)
    with suppress(OSError):  # such as a full disk
        handle, draft = tempfile.mkstemp(".tmp", name, str(place))
        try:
            with open(handle, "wb") as file:
                file.write(_head(name, data) + data)
            if (place / name).is_dir():
                shutil.rmtree(place / name, ignore_errors=True)
            os.replace(draft, place / name)  # at once: others see all of it or nothing
        finally:
            with suppress(OSError):
                os.unlink(draft)  # if it is still there


@functools.cache  # once per process, which then writes a few more
def _remove_stale(place: Path) -> None:
    """Remove files unused for KEEP_DAYS, and the oldest beyond KEEP_FILES."""
    oldest = time.time() - KEEP_DAYS * DAY
    with suppress(OSError), os.scandir(place) as entries:
        files = [(x.stat().st_mtime, x.path) for x in entries if x.name.startswith(PREFIX)]
        for k, (last_use, path) in enumerate(sorted(files, reverse=True)):
            if k >= KEEP_FILES or last_use < oldest:
                with suppress(OSError):
                    os.unlink(path)


def has_compiled(name: str) -> bool:
    """True if an earlier process left compiled code, for this Python at least."""
    place, stem = folder(), _stem(name)
    if place is not None:
        with suppress(OSError):
            return any(x.startswith(stem) and x.endswith(".nbc") for x in os.listdir(place))
    return False


def _stem(name: str) -> str:
    return f"{name}.{sys.implementation.cache_tag}-"


def keep_compiled(function: Any, name: str, text: str) -> None:
    """Have numba look into this folder before it compiles a function of a text, and store the
    machine code in it afterwards.

    numba's own cache is not used: it unpickles any file that it finds, and has no checksums.
    """
    from numba import __version__ as version
    from numba.core.caching import CompileResultCacheImpl

    class Cache(CompileResultCacheImpl):
        cache_path = None

        def __init__(self) -> None:  # without numba's search for a folder
            pass

        def file(self, signature: Any, codegen: Any) -> str:
            key = repr((text, version, signature, codegen.magic_tuple()))  # with the processor
            return f"{_stem(name)}{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"

        def load_overload(self, signature: Any, context: Any) -> Any:
            context.refresh()
            data = read(self.file(signature, context.codegen()))
            if data is not None:
                with suppress(Exception):  # whatever it is, numba compiles once more
                    return self.rebuild(context, pickle.loads(data))
            return None

        def save_overload(self, signature: Any, result: Any) -> None:
            from numba.core.serialize import dumps

            with suppress(Exception):  # it is compiled and can be used
                if self.check_cachable(result):
                    write(self.file(signature, result.codegen), dumps(self.reduce(result)))

        def flush(self) -> None:
            pass

    function._cache = Cache()  # there is no public way to give a function another cache
