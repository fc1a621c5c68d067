"""Nonsense for every argument of every public function: an answer or a ValueError, nothing else."""

import inspect
import os
import signal
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sp

import nhlab as nh

SYSTEM = nh.systems.particle()
SOL = nh.integrate(SYSTEM, nh.DLA(), h=0.2, steps=20)
NONSENSE = [
    *(None, 3, -1, 0, True, np.nan, np.inf, 1j, 10**400, "", "x", b"x", [], (), {}, [1, 2], [None]),
    *({"a": 1}, object(), float, nh.DLA, len, np.zeros((2, 2)), np.array(["a"]), sp.Symbol("q9")),
    *(sp.sin(SYSTEM.q[0]), SYSTEM, nh.DLA(), SOL),
]
ANSWERS = ValueError, FileNotFoundError, nh.IntegrationError, nh.EnsembleError, nh.Interrupted
GOOD = {"system": SYSTEM, "method": nh.DLA(), "sol": SOL, "sols": SOL, "row": SOL.rows.array[0]}
GOOD |= {"q": SYSTEM.q0, "v": SYSTEM.v0, "p": SYSTEM.v0, "L": SYSTEM.L, "t": 0.0, "h": 0.1}
GOOD |= {"steps": 3, "hs": [0.1, 0.2], "x": "x", "y": "y", "k": 0, "n": 1, "DPhi": np.eye(2)}
GOOD |= {"name": "00.1", "path": os.devnull, "values": {}, "what": "Ld", "T": 1.0}
GOOD |= {"results": {nh.DLA(): nh.diagnostics.Order([0.1], [1.0], 1.0)}}
GOOD |= {"generators": {"d/dz": {"z": 1}}, "group": nh.groups.SO3}
OWN = {"System": {"q": SYSTEM.q, "v": SYSTEM.v, "constraints": SYSTEM.constraints}}
OWN |= {"ensemble": {"q0": [SYSTEM.q0, SYSTEM.q0], "v0": SYSTEM.v0}}
OWN |= {"GroupSystem": {"v": SYSTEM.v}, "diagnostics.drift": {"t": SOL.t, "x": SOL.t}}
OWN |= {"diagnostics.growth": {"t": SOL.t, "x": SOL.q.T}}
OWN |= {"diagnostics.action": {"t": SOL.t, "q": SOL.q}}
SLOW = {"bicycle", "rattleback"}  # their equations take seconds


def functions():
    """label -> function, of everything public that takes arguments."""
    found = {name: getattr(nh, name) for name in nh.__all__ if callable(getattr(nh, name))}
    for name in ("Ensemble", "Picture", "Trajectory", "Reduction"):  # made by others
        del found[name]
    found = {k: f for k, f in found.items() if not k.endswith(("Error", "Interrupted"))}
    for room in ("plot", "diagnostics", "systems"):
        module = getattr(nh, room)
        for name in dir(module):
            f = getattr(module, name)
            own = inspect.isfunction(f) and (hasattr(f, "title") or f.__module__ == module.__name__)
            if own and not name.startswith("_") and name not in SLOW:
                found[f"{room}.{name}"] = f
    del found["plot.new"]  # of the room's own use
    for name in "energy V M A b P Q g acceleration multipliers project momentum velocity".split():
        found[f"system.{name}"] = getattr(SYSTEM, name)
    for name in "constraint settle set with_input_values is_holonomic power".split():
        found[f"system.{name}"] = getattr(SYSTEM, name)
    for name in ("energy", "constraint", "save", "on_step"):
        found[f"sol.{name}"] = getattr(SOL, name)
    return found


FUNCTIONS = functions()


def late(*_):
    raise TimeoutError("no answer within ten seconds")


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm clock")
@pytest.mark.parametrize("label", sorted(FUNCTIONS))
def test_nonsense_is_answered(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a path of nonsense may be written
    f, wrong = FUNCTIONS[label], []
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    arguments = [p for p in inspect.signature(f).parameters.values() if p.kind in kinds]
    good = GOOD | OWN.get(label, {})
    needed = {p.name: good.get(p.name) for p in arguments if p.default is p.empty}
    needed |= {k: x for k, x in OWN.get(label, {}).items() if k in {p.name for p in arguments}}
    old = signal.signal(signal.SIGALRM, late)
    for p in arguments:
        own = p.name in ("reference", "start")  # functions of the reader's, who may raise anything
        for x in [x for x in NONSENSE if not (own and callable(x))]:
            signal.alarm(10)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    warnings.filterwarnings("ignore", "the energ")  # which jump, in a run
                    f(**needed | {p.name: x})
            except ANSWERS as error:
                assert str(error)
            except Exception as error:
                wrong.append(f"{p.name} = {x!r:.60}: {type(error).__name__}: {error}")
            finally:
                signal.alarm(0)
                plt.close("all")
    signal.signal(signal.SIGALRM, old)
    assert not wrong, "\n".join(wrong)
