"""Tests that need another process: a fresh start, another environment."""

import json
import os
import subprocess
import sys


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
