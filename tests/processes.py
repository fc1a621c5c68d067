"""Tests that need another process: a fresh start, another environment."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest


def start_python(code, cache, **environment):
    """Another process, with its own cache folder; ``code`` prints one line of JSON."""
    env = {**os.environ, "NHLAB_CACHE_DIR": str(cache), **environment}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-W", "error", "-c", code], env=env, **pipes)


def answer(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == "", err
    return json.loads(out)


@contextmanager
def serving(command, log, **environment):
    """The address of a server that the launcher's ``command(port)`` starts, once it answers."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, str(value))
        for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_WIDGETS_ECHO"):
            patch.setenv(name, "")  # put back afterwards what the launcher sets
            patch.delenv(name)
        with open(log, "w") as file:
            process = subprocess.Popen(
                [sys.executable, *command(port)], stdout=file, stderr=subprocess.STDOUT
            )
    url = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/nowhere", timeout=2)
            break
        except urllib.error.HTTPError:  # it answers
            break
        except OSError:
            time.sleep(0.5)
    yield url
    process.terminate()
    process.wait(20)
