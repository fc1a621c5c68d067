"""Processes that tests start: each answers Ctrl-C, and none outlives its test."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

STARTED: list[subprocess.Popen] = []  # of the test that runs now; conftest ends them after it


def start(command: list[str], **options) -> subprocess.Popen:
    """Start a process that Ctrl-C stops, in a session of its own; it is ended with the test."""
    with keyboard_interrupts():
        process = subprocess.Popen(command, start_new_session=True, **options)
    STARTED.append(process)
    return process


@contextmanager
def keyboard_interrupts() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt here, and stop the processes that are started meanwhile.

    A shell that starts the tests in the background has SIGINT ignored, Python then installs no
    handler, and children inherit that it is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def end_started() -> None:
    """End all that ``start`` has started, with the processes that those have started."""
    while STARTED:
        end(STARTED.pop())


def end(process: subprocess.Popen, patience: float = 0) -> None:
    """End a process and its descendants; it has ``patience`` seconds to do so by itself."""
    family = []
    with suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)  # also of other sessions
    if patience:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    if hasattr(os, "killpg"):  # reaches children whose parent is gone
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for one in (process, *family):
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


# ---------------------------------------------------------------------------- Python


def start_python(code: str, cache: Path | str, **environment: str) -> subprocess.Popen:
    """Start a Python with its own cache folder on code that prints one line of JSON."""
    env = {**os.environ, "NHLAB_CACHE_DIR": str(cache), **environment}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return start([sys.executable, "-W", "error", "-c", code], env=env, **pipes)


def answer(process: subprocess.Popen) -> object:
    """What a process of ``start_python`` printed."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == "", err
    return json.loads(out)


# ---------------------------------------------------------------------------- servers


@contextmanager
def serving(command: Callable[[int], list[str]], log: Path, **environment) -> Iterator[str]:
    """Yield the address of a server that the launcher's ``command(port)`` starts, once it answers;
    end the server, its kernels included, when the block is left, also by an error."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch, open(log, "w") as file, keyboard_interrupts():
        for name, value in environment.items():
            patch.setenv(name, str(value))
        for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_WIDGETS_ECHO"):
            patch.setenv(name, "")  # put back afterwards what the launcher sets
            patch.delenv(name)
        options = {"stdout": file, "stderr": subprocess.STDOUT, "start_new_session": True}
        process = subprocess.Popen([sys.executable, *command(port)], **options)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for_answer(f"{url}/nowhere")
        yield url
    finally:
        end(process, patience=20)


def wait_for_answer(url: str, tries: int = 240) -> None:
    """Wait until a server answers at all; two minutes at most."""
    for _ in range(tries):
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except urllib.error.HTTPError:  # it answers
            return
        except OSError:
            time.sleep(0.5)
