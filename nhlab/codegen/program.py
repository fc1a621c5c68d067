"""Running a generated text under CPython, on NumPy arrays, or compiled by numba."""

from __future__ import annotations

import hashlib
import linecache
import logging
import os
import sys
import threading
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from . import cache
from .printing import NUMPY, WRITTEN_OUT
from .writing import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .statement import Statement


class Sources:
    """The files that generated texts depend on, as they were when this process imported them.

    A text is kept on disk under a name that contains what these files say.  If one of them changes
    while the process runs, as by an update with a kernel open, what is loaded is no longer what
    they say: from then on nothing is read from the cache, and nothing written.
    """

    ROOMS = "codegen", "mechanics", "methods", "run", "geometry", "browser"

    def __init__(self, house: Path) -> None:
        self.house, self.changed = house, False
        self.stamps = self._stamps()

    def _files(self) -> list[Path]:
        return sorted(f for room in self.ROOMS for f in (self.house / room).glob("*.py"))

    def _stamps(self) -> list[tuple] | None:
        """What tells a file from an earlier one of the same name, without reading it."""
        try:
            stats = ((f, f.stat()) for f in self._files())
            return [(f, x.st_mtime_ns, x.st_ctime_ns, x.st_size, x.st_ino) for f, x in stats]
        except OSError:  # one is just being replaced
            return None

    def are_loaded(self) -> bool:
        """True if no file has changed since the import."""
        self.changed = self.changed or self.stamps is None or self._stamps() != self.stamps
        return not self.changed

    @cached_property
    def fingerprint(self) -> bytes:
        """Changes when the code that generates texts changes, so that no stale text is used."""
        text = b"".join(f.read_bytes() for f in self._files())
        return text + sp.__version__.encode()


LOG = logging.getLogger("nhlab")
COMPILING = {True: "read from the cache", False: "compiled when it is first called"}
SOURCES = Sources(Path(__file__).parents[1])


def progress_bar(**options: Any) -> Any:
    """A tqdm bar with these options; None where tqdm is not installed or NHLAB_BARS is 0, since no
    run needs a bar."""
    if os.environ.get("NHLAB_BARS") == "0":
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(leave=False, **options)


@contextmanager
def at_work(what: str, after: float = 3.0) -> Iterator[None]:
    """Show after some seconds what is at work, and for how long; Ctrl-C stops it."""
    stop, bar_format = threading.Event(), "{desc}; Ctrl-C stops it ({elapsed})"

    def show() -> None:
        bar = None if stop.wait(after) else progress_bar(desc=what, bar_format=bar_format)
        if bar is not None:
            with bar:
                bar.start_t -= after
                while not stop.wait(0.5):
                    bar.refresh()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted while {what}; no step was taken") from None
    finally:
        stop.set()
        thread.join()


class Program:
    """The generated text of one statement and the three ways to run it."""

    inlines_step = True  # into the compiled loop; a text that calls ``step`` often should not

    def __init__(self, key: str, make_statement: Callable[[], Statement], what: str = "") -> None:
        """what : is computed, in words for the log"""
        version = SOURCES.fingerprint if SOURCES.are_loaded() else b"changed"
        digest = hashlib.sha256(key.encode() + version).hexdigest()[:24]
        self.name, self.what = f"{cache.PREFIX}{digest}", what or "code"
        self._make_statement = make_statement

    @cached_property
    def statement(self) -> Statement:
        return self._make_statement()

    @cached_property
    def text(self) -> str:
        stored = cache.read(f"{self.name}.py") if SOURCES.are_loaded() else None
        if stored is not None:
            LOG.info("%s: code read from the cache, %s", self.what, self.name)
            return stored.decode()
        LOG.info("%s: generating code, %s", self.what, self.name)
        with at_work("deriving the equations of a step"):
            text = generate(self.statement)
        if SOURCES.are_loaded():
            cache.write(f"{self.name}.py", text.encode())
        return text

    def _execute(self, space: dict | None = None) -> dict:
        space = {"__name__": self.name} if space is None else space
        file = f"<{self.name}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(True), file)
        exec(compile(self.text, file, "exec"), space)
        return space

    @cached_property
    def step(self) -> Callable:
        """``step`` as a CPython function of numbers."""
        return self._execute()["step"]

    def one_step(self, *numbers: float) -> tuple:
        """``step`` of one state; (False,) where CPython raises and NumPy would go on."""
        step = self.step
        try:
            return step(*numbers)
        except (ZeroDivisionError, OverflowError, ValueError):
            return (False,)

    @cached_property
    def python(self) -> Callable:
        """``loop`` as a CPython function of floats and lists."""
        return self._execute()["loop"]

    @cached_property
    def numpy(self) -> Callable:
        """``step`` as a function of arrays: many states at once."""
        space = self._execute()
        space |= NUMPY
        step = space["step"]
        # of Python's floats NumPy's, which divide by zero without raising
        return lambda *args: step(*(np.float64(a) if type(a) in (int, float) else a for a in args))

    @cached_property
    def numba(self) -> Callable:
        """``run`` compiled; the machine code is kept like the text and survives restarts."""
        import numba

        LOG.info("%s: machine code %s, %s", self.what, COMPILING[self.is_cached], self.name)
        sys.modules[self.name] = module = ModuleType(self.name)  # compiled code looks it up
        space = self._execute(vars(module))
        loops = [name for name, _ in WRITTEN_OUT.values()]  # long to compile at each call
        names = ("all_", "where", "sign", *loops, "substep", "step")
        for name in (f for f in names if f in space):
            inline = name not in loops and (self.inlines_step or name != "step")
            space[name] = numba.njit(space[name], error_model="numpy", forceinline=inline)
        run = numba.njit(space["run"], error_model="numpy", nogil=True)
        cache.keep_compiled(run, self.name, self.text)
        return run

    @property
    def compile_state(self) -> str:
        """What compiled code would cost now: "compiled", "cached" on disk, or "cold"."""
        return "compiled" if self.is_compiled else "cached" if self.is_cached else "cold"

    @property
    def is_compiled(self) -> bool:
        return "numba" in self.__dict__

    @cached_property
    def is_cached(self) -> bool:
        """True if an earlier process left compiled code."""
        return cache.has_compiled(self.name)  # a search, done once
