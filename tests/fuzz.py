"""usage: python3 -m nhlab run tests/fuzz.py SEED COUNT | SEED FIRST..LAST

Random calls of the library.  Each must return finite data or raise one of four exceptions with a
message that helps, in time and without a raw warning; backends must agree, and accepted steps must
satisfy the printed equations.  Call number k of a seed is always the same: FIRST..LAST repeats some
(LAST not included).  Seeds that begin with "moving" draw systems whose constraints move.  Exit code
1 if anything was found."""

import io
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from functools import lru_cache

import draw
import numpy as np
import printed
import sympy as sp
from verdict import NAMES, Finding, check_run, kind, outcome, watched

import nhlab as nh

BATCH = 100  # calls on one system
# What may be named instead of an argument that does not fit another one.
OTHER_NAMES = {"q0": "q0|v0|q1|q", "v0": "v0|q0", "q1": "q1|q0", "h": "h|q1", "t0": "t0|v0"}
OTHER_NAMES["parameters"] = "parameters?"


# ---------------------------------------------------------------------------- the calls


class Case:
    """Call number ``index`` of a seed: its system and method, and random numbers of its own."""

    def __init__(self, seed, index):
        self.rng = random.Random(f"{seed} {index}")
        self.subject, methods, self.compiled = subject(seed, index // BATCH)
        self.text, self.method = "", self.rng.choice(methods)

    def run(self):
        """The name of the outcome, or a Finding."""
        if self.method is None:
            return "left out, derivation too long"
        self.method = self.method(self.rng)
        kinds = [runs, ensembles, files, damaged, wrong, wrong_system, readings]
        try:
            return self.rng.choices(kinds, [40, 25, 6, 8, 14, 2, 5])[0](self)
        except Finding as found:
            if isinstance(self.method, nh.Reference) and str(found).startswith("slow"):
                return (
                    "left out, reference too long"  # its error bound says how many steps it takes
                )
            raise

    def call(self, f, name=NAMES, **options):
        """``outcome`` of a call whose text is kept for the report."""
        self.text = f"{f.__name__}({', '.join(f'{k}={short(x)}' for k, x in options.items())})"
        return outcome(f, name=name, **options)

    def start(self):
        """Keywords of a run: states, h, steps, every, t0."""
        rng, s, m = self.rng, self.subject, self.method
        t0 = rng.choice([0.0] * 6 + [rng.uniform(-5, 5), 1e3, 1e6, 1e16])
        q0, v0 = draw.start(rng, s, t0)
        h, every = draw.step_size(rng), rng.choice([1, 1, 1, 2, 5])
        steps = rng.choice([0, 1, 2, 3, 5, 10, 50]) // every * every
        h = min(h, 1.0) if isinstance(m, nh.Reference) else h  # which takes as long as it takes
        if rng.random() < 0.05:
            v0 = v0 + 10 ** rng.uniform(-13, 1) * np.array([rng.gauss(0, 1) for _ in v0])
        given = {"q0": q0, "v0": v0, "h": h, "steps": steps, "every": every, "t0": t0}
        given["progress"] = False
        if m.discrete and rng.random() < 0.2:
            with watched():
                given["q1"], given["v0"] = draw.second(rng, s, m, q0, v0, h, t0), None
        return given


def short(x):
    is_array = isinstance(x, np.ndarray)
    return np.array2string(x, separator=", ", precision=17) if is_array else repr(x)


@lru_cache(2)
def subject(seed, batch):
    """(system, functions that draw methods, whether to compile)."""
    rng = random.Random(f"{seed} batch {batch}")
    system = None
    while system is None:  # some are refused
        system, _ = outcome(draw.moving if str(seed).startswith("moving") else draw.system, rng)
    kinds = [f if derived(system, f(rng)) else None for f in draw.kinds_of_method(rng, system)]
    return system, kinds, rng.random() < 0.04


def derived(system, method):
    """False if it takes too long, which is the reader's choice: a bar says so, Ctrl-C stops it."""
    try:
        outcome(nh.source, system, method)
    except Finding as found:
        return not str(found).startswith("slow")  # the calls will find the others again
    return True


def runs(case):
    """One run, judged by the printed equations."""
    s, m, given = case.subject, case.method, case.start()
    sol, error = case.call(nh.integrate, system=s, method=m, **given)
    if type(error) is ValueError:
        return "ValueError"
    done = sol if error is None else error.trajectory
    if error is None:
        check_run(sol)
        if sol.steps != given["steps"]:
            raise Finding(f"steps: {sol.steps} instead of {given['steps']}")
    judge_steps(case, done)
    return "run" if error is None else "IntegrationError"


def judge_steps(case, sol):
    if case.subject.full is not None:
        if not isinstance(sol.method, (nh.RDLA, nh.REDLA)) or sol.every != 1:
            return
        sol, _ = outcome(case.subject.reconstruct, sol)
        if sol is None or not np.isfinite(sol.rows.array).all():
            return
    if isinstance(sol.method, nh.Reference):
        return check_energy(sol)
    try:
        found = printed.broken(sol, case.subject.full is not None)
    except (NameError, np.linalg.LinAlgError):  # a function that NumPy does not have; no inverse
        return
    for name, step, residual, allowed in found:
        off = f"{residual:.1e} where {allowed:.1e} is allowed"
        raise Finding(f"equations: {name} of {kind(sol.method)}: step {step}, {off}")


def check_energy(sol):
    """The reference keeps the energy; T and V tell what to measure it by."""
    s = sol.system
    if not s.keeps_energy or s.full is not None or s.L.has(sp.Piecewise, sp.sign):
        return  # a potential that jumps changes the energy
    with np.errstate(all="ignore"):
        E, V = s.energy(sol.q, sol.v), s.V(sol.q)
        size = np.abs(V).max() + np.abs(E - V).max()
        if not np.isfinite(E[0]):
            return  # log(x) at x < 0 has a slope, but no value
        if not np.abs(E - E[0]).max() <= 1e4 * sol.method.rtol * size * (1 + len(sol)):
            raise Finding(f"equations: energy of Reference: {np.ptp(E):.1e} of {size:.1e}")


def ensembles(case):
    """Some runs at once, and one of them alone: the same steps and values."""
    rng, s, m = case.rng, case.subject, case.method
    given, count = case.start(), rng.choice([1, 2, 3, 5])
    many = dict(given)
    which = "q1" if "q1" in given else "v0"
    if rng.random() < 0.7:
        draws = [(given["q0"], given[which])]
        draws += [draw.start(rng, s, given["t0"]) for _ in range(count - 1)]
        if which == "q1":
            draws[1:] = [(q, s.move(q, v, given["h"])) for q, v in draws[1:]]
        many["q0"], many[which] = (np.array(x) for x in zip(*draws, strict=True))
    if rng.random() < 0.5 or many["q0"].ndim == 1:
        many["h"] = np.array([given["h"]] + [draw.step_size(rng) for _ in range(count - 1)])
    if s.parameters and rng.random() < 0.4:
        name = rng.choice([*s.parameters])
        values = [s.parameters[name]] + [rng.uniform(0.1, 3) for _ in range(count - 1)]
        many["parameters"] = {name.name: np.array(values)}
    many["backend"] = rng.choice(["python", "numpy", "numpy", "numpy", None])
    if case.compiled:
        many["backend"] = "numba"
    many["summary"] = rng.choice([None, None, None, "last", "energy", ["last", "energy"]])
    found, error = case.call(nh.ensemble, system=s, method=m, **many)
    if error is not None:
        return type(error).__name__
    check_ensemble(found)
    k = rng.randrange(len(found))
    one = {x: y for x, y in given.items() if x not in ("q0", which)}
    one |= {"q0": found.start.q0[k], which: getattr(found.start, which)[k], "h": found.h[k]}
    alone = s.set(**{x: y[k] for x, y in found.parameters.items()})
    compare(case, alone, m, one, found, k)
    return "ensemble"


def check_ensemble(found):
    if set(found.errors) != set(np.flatnonzero(~found.ok)):
        raise Finding("ensemble: errors and ok differ")
    if found.rows is None:
        return
    for k in range(len(found)):
        check_run(found[k])
        if not np.isnan(found.rows[k, len(found[k]) :]).all():
            raise Finding("ensemble: rows after the end of a run")


def compare(case, system, method, given, found, k):
    """Member k of an ensemble with the run alone; chaos is told apart by starts that differ."""

    def alone(changes):
        sol, error = outcome(nh.integrate, system, method, **given | changes, backend="python")
        sol = sol if error is None else getattr(error, "trajectory", None)
        return sol, getattr(error, "step", given["steps"])

    sol, done = alone({})
    if sol is None:
        raise Finding(f"backends: alone it is refused, {kind(method)}")
    mine = None if found.rows is None else found.rows[k][: len(found[k])]
    gap = distance(sol, done, mine, found.steps_done[k])
    if gap <= 1e-9:
        return
    rng = np.random.default_rng(7)
    for _ in range(6):
        change = 1e-12 * rng.uniform(-1, 1, len(given["q0"]))
        q0 = given["q0"] * (1 + change) + change * np.abs(given["q0"]).max()
        changes = {"q0": q0 / np.linalg.norm(q0) if on_sphere(system) else q0}
        if given.get("v0") is not None:  # for q0 may be 0, which this does not change
            changes["v0"] = given["v0"] * (1 + 1e-12 * rng.uniform(-1, 1, len(given["v0"])))
        other, steps = alone(changes)
        # that one of the two runs ends earlier is a distance of infinity, in both comparisons
        if other is None or 10 * distance(sol, done, other.rows.array, steps) >= gap:
            return  # round-off grows as much
    backend = "?" if "backend" not in case.text else re.search(r"backend=(\S+),", case.text)[1]
    what = f"{found.steps_done[k]} steps against {done}" if gap == np.inf else f"{gap:.0e}"
    raise Finding(f"backends: {backend} and python differ, {kind(method)}: {what}")


def on_sphere(system):
    return getattr(system, "group", None) is nh.groups.SO3 and not system.k


def distance(sol, done, rows, steps):
    """How far two runs lie apart, each part measured by its size."""
    if done != steps:
        return np.inf
    if rows is None:
        return 0.0
    worst, other = 0.0, nh.Trajectory(sol.system, sol.method, rows, t0=sol.t0, h=sol.h0)
    with np.errstate(all="ignore"):
        for part in ("q", "p", "v", "t", "h"):
            if hasattr(sol.rows, part):
                a, b = getattr(sol.rows, part), getattr(other.rows, part)
                worst = max(worst, np.abs(a - b).max() / (np.abs(a).max() + 1e-300))
    return worst


# ---------------------------------------------------------------------------- files


def some_run(case):
    sol, error = case.call(nh.integrate, system=case.subject, method=case.method, **case.start())
    return sol if error is None else getattr(error, "trajectory", None)


def saved(sol):
    file = io.BytesIO()
    _, error = outcome(sol.save, file, name="cannot be saved")
    return None if error is not None else file.getvalue()


def files(case):
    """Saved and loaded, a run is the same."""
    sol = some_run(case)
    data = None if sol is None else saved(sol)
    if data is None:
        return "ValueError"
    back, error = outcome(nh.load, io.BytesIO(data))
    if error is not None:
        raise Finding(f"file: what was saved is not read: {error}"[:150])
    same = np.array_equal(back.rows.array, sol.rows.array, equal_nan=True)
    same = same and np.array_equal(back.t, sol.t) and back.method == sol.method
    if not same or back.system != sol.system:
        raise Finding("file: another run came back")
    return "file"


def damaged(case):
    """A file with something wrong in it is read or refused."""
    rng, sol = case.rng, some_run(case)
    data = None if sol is None else saved(sol)
    if data is None:
        return "ValueError"
    if rng.random() < 0.3:
        at = rng.randrange(len(data))
        cut = rng.random() < 0.5
        data = data[:at] if cut else data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        case.text += f" file damaged at byte {at}"
    else:
        data = with_other_contents(case, data)
    back, error = outcome(nh.load, io.BytesIO(data))
    if error is not None:
        return "damaged file refused"
    check_loaded(back)
    return "damaged file read"


def check_loaded(back):
    for read in (repr, lambda sol: sol.t, lambda sol: sol.h, lambda sol: sol.steps):
        outcome(read, back)
    if not (back.h0 > 0 and back.every >= 1 and np.isfinite(back.t).all()):
        raise Finding(f"file: accepted with h = {back.h0}, every = {back.every}, t0 = {back.t0}")


ENTRIES = [  # what may stand in a file instead of what was written
    *(None, -1, 0, 1.5, 1e308, 10**9, 10**40, "x", "", "nan", "__class__", [], {}, [[]], True),
    *(["Symbol", "x", {}], ["sin"], ["Rational", "1", "0"], ["Float", [0, "1", 0, 1], 10**9]),
    ["Pow", ["Rational", "9", "1"], ["Rational", "9" * 9, "1"]],
]


def with_other_contents(case, data):
    """One entry of the JSON, or the rows, replaced by something else."""
    rng = case.rng
    with np.load(io.BytesIO(data)) as file:
        about, rows = json.loads(str(file["about"])), file["rows"]
    if rng.random() < 0.15:
        others = [rows[:, :1], rows[:0], rows[0], rows.astype(complex), rows * np.nan, rows.T]
        rows = rng.choice(others)
    else:
        node, path = about, []
        while isinstance(node, (dict, list)) and node and (not path or rng.random() < 0.85):
            key = rng.choice(sorted(node)) if isinstance(node, dict) else rng.randrange(len(node))
            path.append((node, key))
            node = node[key]
        node, key = path[-1]
        if rng.random() < 0.1 and isinstance(node, dict):
            del node[key]
        else:
            node[key] = rng.choice(ENTRIES)
        case.text += f" file with {[k for _, k in path]} replaced: {str(node)[:100]}"
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), rows=rows)
    return file.getvalue()


# ---------------------------------------------------------------------------- wrong arguments


def wrong(case):
    """One argument of a good call replaced by junk: refused by its name, or taken for good."""
    rng, many = case.rng, case.rng.random() < 0.4
    f, given = (nh.ensemble, nh.integrate)[not many], case.start() | {"backend": None}
    if many:
        given |= {"parameters": None, "summary": None, "chunk": None}
        given["h"] = np.array([given["h"], 0.1])
    args = {"system": case.subject, "method": case.method} | given
    if type(case.call(f, **args)[1]) is ValueError:
        return "left out"
    name, value = rng.choice([*args]), draw.junk(rng)
    if name == "progress" or (name == "steps" and forever(value)):
        return "left out"
    named = OTHER_NAMES.get(name, name)
    result, error = case.call(f, **args | {name: value}, name=rf"\b({named})\b")
    if isinstance(result, nh.Trajectory):
        check_run(result)
    elif result is not None:
        check_ensemble(result)
    return "accepted" if error is None else f"junk: {type(error).__name__}"


def forever(steps):
    return isinstance(steps, (int, float)) and 1000 < steps < 1e13


def wrong_system(case):
    """A system, a method or a change of parameters from junk."""
    rng, s = case.rng, case.subject
    value, parts = draw.junk(rng), {"q": s.q, "v": s.v, "L": s.L, "constraints": s.constraints}
    parts |= {"parameters": {k.name: x for k, x in s.parameters.items()}, "t": s.t, "metric": None}
    parts |= {"holonomic": s.holonomic}
    calls = {name: (nh.System, parts | {name: value}) for name in parts}
    kinds = [nh.DLA, nh.EDLA, nh.Projector, nh.Variational, nh.RDLA]
    calls |= {"alpha": (rng.choice(kinds), {"alpha": value})}
    calls |= {"symmetric": (nh.DLA, {"symmetric": value}), "rtol": (nh.Reference, {"rtol": value})}
    calls |= {"order": (nh.Composition, {"order": value})}
    if s.parameters:
        calls["set"] = s.set, {next(iter(s.parameters)).name: value}
    name = rng.choice([*calls])
    case.text = f"{name} = {value!r}"
    _, error = outcome(calls[name][0], **calls[name][1])
    return "accepted" if error is None else "refused"


def readings(case):
    """What can be read from a run: numbers, without warnings."""
    sol, rng = some_run(case), case.rng
    if sol is None:
        return "ValueError"
    at = rng.choice(["nodes", "midpoints", "projected", "average", "x", None, 3])
    f = rng.choice([sol.energy, sol.constraint])
    case.text += f".{f.__name__}({at!r})"
    outcome(f, at)
    for name in ("v", "p", "lam", "v_projected", "p_projected", "to_dataframe"):
        outcome(lambda x=name: getattr(sol, x)() if x == "to_dataframe" else getattr(sol, x))
    return "reading"


# ---------------------------------------------------------------------------- many


def fuzz(seed, indices):
    """(Counter of outcomes, {kind of finding: [(index, finding, call)]})."""
    outcomes, findings = Counter(), defaultdict(list)
    for index in indices:
        case = None
        try:
            case = Case(seed, index)
            outcomes[case.run()] += 1
        except Exception as error:
            found = error if isinstance(error, Finding) else f"the fuzzer itself: {error!r}"
            outcomes["FINDING"] += 1
            text = case.text if case else "a system"
            findings[re.sub(r"[-+]?\d[\d.e+-]*", "#", str(found))[:70]].append((index, found, text))
    return outcomes, findings


def report(seed, outcomes, findings):
    lines = [f"{n:8} {what}" for what, n in outcomes.most_common()]
    for name, group in sorted(findings.items(), key=lambda x: -len(x[1])):
        index, found, text = min(group, key=lambda x: len(x[2]))
        lines.append(f"\n{len(group)} x {name}\n  tests/fuzz.py {seed} {index}..{index + 1}")
        lines += [f"  {found}", f"  {text[:600]}"]
    return "\n".join(lines)


def main(args):
    if len(args) != 2:
        print(__doc__)
        return 2
    seed, (first, last) = args[0], (args[1].split("..") if ".." in args[1] else ("0", args[1]))
    begun = time.process_time()
    outcomes, findings = fuzz(seed, range(int(first), int(last)))
    print(report(seed, outcomes, findings))
    print(f"\n{sum(outcomes.values())} calls, {time.process_time() - begun:.0f} s of CPU")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
