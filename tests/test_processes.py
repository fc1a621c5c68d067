"""Processes of tests answer Ctrl-C, wherever the tests were started, and do not outlive them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from processes import end, end_started, keyboard_interrupts, start

TEXT = {"stdout": subprocess.PIPE, "text": True}


@pytest.fixture
def in_the_background():
    """SIGINT is ignored, as where a shell starts the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


HANDLER = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"


def test_ctrl_c_reaches_a_process_started_in_the_background(in_the_background):
    command = [sys.executable, "-c", HANDLER]
    assert start(command, **TEXT).communicate(timeout=60)[0] == "True\n"
    plain = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert plain.stdout == "False\n"  # what a test gets that does not ask for it


def test_ctrl_c_is_ignored_again_afterwards(in_the_background):
    with pytest.raises(KeyboardInterrupt), keyboard_interrupts():
        signal.raise_signal(signal.SIGINT)
        time.sleep(10)  # the handler runs between two bytecodes
    signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


# A process whose child has a session of its own, as the kernel of a notebook has.
FAMILY = """
import subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(1000)"]
child = subprocess.Popen(sleep, start_new_session={own})
print(child.pid, flush=True)
{then}
"""


def is_at_work(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_until(condition):
    for _ in range(100):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(os.name == "nt", reason="sessions and groups of processes")
@pytest.mark.parametrize(
    ("own", "then"),
    [(False, "time.sleep(1000)"), (True, "time.sleep(1000)"), (False, "")],
    ids=["in its group", "in a session of its own", "whose parent is gone"],
)
def test_children_are_ended_too(own, then):
    parent = start([sys.executable, "-c", FAMILY.format(own=own, then=then)], **TEXT)
    child = int(parent.stdout.readline())
    assert is_at_work(child)
    if not then:
        parent.wait(60)
    end_started()
    assert parent.returncode is not None and wait_until(lambda: not is_at_work(child))


def test_a_process_may_end_by_itself_first():
    code = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    polite = start(
        [sys.executable, "-c", f"{code}; print(1, flush=True); time.sleep(1000)"], **TEXT
    )
    assert polite.stdout.readline() == "1\n"
    end(polite, patience=60)
    assert polite.returncode == (7 if os.name != "nt" else 1)


LEFT = []


@pytest.mark.parametrize("turn", [1, 2])
def test_nothing_is_left_to_the_next_test(turn):
    if turn == 1:
        LEFT.append(start([sys.executable, "-c", "import time; time.sleep(1000)"]))
    else:
        if not LEFT:
            pytest.skip("it looks at what the test before has started")
        assert LEFT.pop().poll() is not None


def test_every_test_starts_its_processes_here():
    folder = Path(__file__).parent
    others = {f for f in folder.rglob("*.py") if "Popen(" in f.read_text(encoding="utf-8")}
    known = {"processes.py", "test_processes.py", "benchmarks/panel.py", "benchmarks/run.py"}
    assert {f.relative_to(folder).as_posix() for f in others} == known
