"""How fast nhlab is, beside C, NumPy and exudyn: one table, every target next to its measurement.

    python tests/benchmarks/run.py                          everything, a quarter of an hour
    python tests/benchmarks/run.py speed --systems sleigh   a part of it
    python tests/benchmarks/run.py --exudyn PYTHON          an interpreter that has exudyn
    python tests/benchmarks/run.py --readme                 and put the table into README.md

Only ratios are judged: all contestants of a line take turns in the same run, and the median over
the turns is printed. Times are CPU seconds, so that other busy processes count little.
"""

import argparse
import contextlib
import ctypes
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import numpy_newton
import relatives
from cases import CASES
from timing import cpu, ratio, turns
from translate import to_c

HERE = Path(__file__).resolve().parent
METHODS = {"DLA": numpy_newton.dla, "Projector": numpy_newton.projector, "EDLA": numpy_newton.edla}
SLIDER_STEPS = 1250
TARGETS = {  # what is measured: (limit, True if the measurement has to be at least the limit)
    "nhlab / C": (1.2, False),
    "nhlab / hand C": (1.0, False),
    "NumPy / nhlab": (300, True),
    "exudyn / nhlab": (100, True),
    "run / redraw": (0.15, False),
    "first result": (0.5, False),
    "import": (1.3, False),
    "memory": (1.5, False),
    "two processes": (1.7, True),
    "chunk overhead": (0.1, False),
}


def judge(what, value):
    """The value with its target, marked where it misses."""
    limit, at_least = TARGETS[what]
    good = value >= limit if at_least else value <= limit
    return f"{value:.3g} ({'>=' if at_least else '<='} {limit}){'' if good else ' MISSED'}"


def note(text):
    print(f"  note: {text}", flush=True)


# ---------------------------------------------------------------------------- the contestants


def compile_c(source, folder):
    """Compile with gcc -O3 into the folder and return the library, or None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    library = Path(folder) / f"{Path(source).stem}.so"
    options = ["-O3", "-w", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    subprocess.run([compiler, *options], check=True)
    return ctypes.CDLL(str(library))


def pointer(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class HandC:
    """hand.c; allocates its rows in every run, as nhlab does."""

    def __init__(self, library, method, name):
        case, system = CASES[name], CASES[name].system
        self.run = getattr(library, f"run_{method.lower()}_{name}")
        self.run.restype = ctypes.c_long
        p0 = numpy_newton.start(system, METHODS[method], case.q0, case.v0, case.h)
        self.width = 3 * system.n + system.m + 2 * (method == "EDLA")
        self.h = ctypes.c_double(case.h)
        self.arrays = [np.array([*system.parameters, 0.0]), case.q0, p0, case.v0]

    def __call__(self, steps):
        rows = np.empty((steps, self.width))
        arrays = [pointer(a) for a in (*self.arrays, rows)]
        return rows[: self.run(ctypes.c_long(steps), self.h, *arrays)]


class NumPyNewton:
    """numpy_newton.py."""

    def __init__(self, method, name):
        self.case, self.method = CASES[name], METHODS[method]
        self.system = self.case.system
        start = self.case.q0, self.case.v0, self.case.h
        self.p0 = numpy_newton.start(self.system, self.method, *start)

    def __call__(self, steps):
        case = self.case
        return self.method(self.system, case.q0, self.p0, case.v0, case.h, steps)


class Library:
    """nh.integrate itself, with all it does around the loop."""

    def __init__(self, method, name, backend="numba"):
        import nhlab as nh

        case = CASES[name]
        self.integrate, self.method, self.backend = nh.integrate, getattr(nh, method)(), backend
        self.system = getattr(nh.systems, name)().set(**case.parameters)
        self.case = case

    def __call__(self, steps):
        how = {"h": self.case.h, "steps": steps, "backend": self.backend, "progress": False}
        return self.integrate(self.system, self.method, self.case.q0, self.case.v0, **how)


class SameText:
    """The text nhlab runs, translated to C, from the state nhlab runs it from."""

    def __init__(self, library, folder, label):
        text, self.numba, arguments = self.record(library)
        source = Path(folder) / f"{label}.c"
        source.write_text(to_c(text))
        self.run = compile_c(source, folder).run
        self.run.restype = ctypes.c_long
        self.state, out, self.first, _, _, *self.numbers = arguments
        self.columns = out.shape[1]

    @staticmethod
    def record(library):
        """Return text, compiled function and arguments of the longest loop of a short run."""
        from nhlab.codegen.program import Program

        compiled, calls = Program.__dict__["numba"], []

        def recorder(program):
            run = compiled.__get__(program)

            def recorded(*arguments):
                calls.append((program.text, run, (arguments[0].copy(), *arguments[1:])))
                return run(*arguments)

            return recorded

        Program.numba = property(recorder)
        try:
            library(100)
        finally:
            Program.numba = compiled
        return max(calls, key=lambda call: call[2][3] - call[2][2])

    def __call__(self, steps):
        out, long = np.empty((steps + 1, self.columns)), ctypes.c_long
        where = pointer(self.state.copy()), pointer(out), long(self.columns)
        count = long(self.first), long(steps), long(1)
        done = self.run(*where, *count, *map(ctypes.c_double, self.numbers))
        return out[self.first + 1 : done + 1]

    def loop(self, steps):
        """The same with the function numba made: nhlab without all that is around its loop."""
        out = np.empty((steps + 1, self.columns))
        done = self.numba(self.state.copy(), out, self.first, steps, 1, *self.numbers)
        return out[self.first + 1 : done + 1]


class Exudyn:
    """A process that runs exudyn_trapezoidal.py and answers."""

    def __init__(self, python):
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [python, str(HERE / "exudyn_trapezoidal.py")]
        self.process = subprocess.Popen(command, text=True, **pipes)
        self.version = self.answer()["version"]

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        error = self.process.stderr.read().strip().splitlines()
        raise RuntimeError(error[-1] if error else "it ended without an answer")

    def __call__(self, name, steps):
        self.process.stdin.write(f"{name} {steps}\n")
        self.process.stdin.flush()
        answer = self.answer()
        if not (answer["constraint"] < 1e-8 and abs(answer["energy"]) < 0.01):
            raise SystemExit(f"exudyn computes another motion of the {name}: {answer}")
        return answer["seconds_per_step"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def open_exudyn(python):
    try:
        exudyn = Exudyn(python)
    except (RuntimeError, OSError) as error:
        note(f"exudyn skipped ({error}); --exudyn names an interpreter that has it")
        return None
    note(f"exudyn {exudyn.version}, trapezoidal rule, constraint as a Python function")
    return exudyn


# ---------------------------------------------------------------------------- the sections


def pairs(options):
    """(label, method, name of a system), each with each."""
    for method in options.methods:
        for name in options.systems:
            yield f"{method} {name}", method, name


def hand_written(folder):
    """The library of hand.c, or None without a compiler."""
    library = compile_c(HERE / "hand.c", folder)
    if library is None:
        note("no C compiler found: C is left out")
    return library


def check(options, folder):
    """All contestants compute the same motion."""
    hand, results = hand_written(folder), {}
    for label, method, name in pairs(options):
        rows = NumPyNewton(method, name)(200)
        n, worst = CASES[name].kind.n, {}
        if hand is not None:
            worst["hand C"] = np.abs(HandC(hand, method, name)(200) - rows).max()
        if options.nhlab:
            library = Library(method, name)
            worst["nhlab"] = np.abs(library(200).q[1:] - rows[:, :n]).max()
            if hand is not None:
                out = SameText(library, folder, f"check_{method}_{name}")(200)
                q = out[:, 2 : 2 + n] if method == "EDLA" else out[:, :n]  # after t and h
                worst["C"] = np.abs(q - rows[-len(q) :, :n]).max()
        said = ", ".join(f"{k} {v:.0e}" for k, v in worst.items())
        print(f"{label:22} largest difference to NumPy in 200 steps: {said}")
        if max(worst.values(), default=0) > 1e-7:
            raise SystemExit("the contestants disagree: nothing to compare")
        results[label] = {k: float(v) for k, v in worst.items()}
    return results


def speed(options, folder):
    """Microseconds per step of a long run."""
    hand, exudyn, results = hand_written(folder), open_exudyn(options.exudyn), {}
    columns = ["nhlab", "its loop", "C", "hand C", "NumPy", "exudyn"]
    print(f"us per step, {options.steps:,} steps; C is gcc -O3 on the text of nhlab's loop")
    print(f"{'':22}" + "".join(f"{c:>9}" for c in columns), "  ratios")
    for label, method, name in pairs(options):
        times = contest(method, name, options, hand, exudyn, folder)
        medians, ratios = {c: median(t) * 1e6 for c, t in times.items()}, {}
        for what in list(TARGETS)[:4]:
            above, below = what.split(" / ")
            if above in times and below in times:
                ratios[what] = ratio(times, above, below)
        line = "".join(f"{medians[c]:9.3f}" if c in medians else f"{'-':>9}" for c in columns)
        said = ", ".join(f"{k} {judge(k, v)}" for k, v in ratios.items())
        print(f"{label:22}{line}   {said}", flush=True)
        results[label] = {"us per step": medians, "ratios": ratios}
    if exudyn is not None:
        exudyn.close()
    return results


def contest(method, name, options, hand, exudyn, folder):
    """Seconds per step of everybody, in turns."""
    runs = {}
    if options.nhlab:
        runs["nhlab"] = Library(method, name), options.steps
        if hand is not None:
            same = SameText(runs["nhlab"][0], folder, f"{method}_{name}")
            runs["its loop"], runs["C"] = (same.loop, options.steps), (same, options.steps)
    if hand is not None:
        runs["hand C"] = HandC(hand, method, name), options.steps
    runs["NumPy"] = NumPyNewton(method, name), 200

    def measure(run, steps):
        np.ones(steps * 20)  # have memory ready: the first to ask for it would pay
        seconds, result = cpu(run, steps)
        done = len(result.t) - 1 if hasattr(result, "t") else len(result)
        if done < 0.999 * steps:
            raise SystemExit(f"{method} {name}: {run} stopped after {done} of {steps} steps")
        return seconds / done

    contestants = {label: partial(measure, *entry) for label, entry in runs.items()}
    if exudyn is not None:
        contestants["exudyn"] = lambda: exudyn(name, 5000)
    turns(contestants, 1)  # compilers, caches and page tables warm up
    return turns(contestants, options.repeats)


def slider(options, folder):
    """A run as a slider starts it, without numba, beside redrawing its figure.

    Redrawing is meant in the stricter sense: new data in the lines of a figure that exists, as
    the panels do it.  A cell that makes its figure anew, with Jupyter's tight box, is given too.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    x = np.linspace(0, 1, SLIDER_STEPS)

    def figure():
        figure = Figure()
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        for k in range(3):
            axes.plot(x, np.sin((k + 9) * x), label=f"method {k}")
        axes.set(xlabel="t", ylabel="energy")
        axes.legend()
        return figure

    existing = figure()

    def redraw():
        for k, line in enumerate(existing.axes[0].lines):
            line.set_ydata(np.cos((k + 9) * x))
        existing.savefig(io.BytesIO(), format="png")

    def anew():
        figure().savefig(io.BytesIO(), format="png", bbox_inches="tight")

    results, drawing = {}, {"redraw": lambda: cpu(redraw)[0], "anew": lambda: cpu(anew)[0]}
    for label, method, name in pairs(options):
        library = Library(method, name, backend="python")
        contestants = {"run": lambda run=library: cpu(run, SLIDER_STEPS)[0]} | drawing
        turns(contestants, 2)
        times = turns(contestants, options.repeats)
        results[label] = share = ratio(times, "run", "redraw")
        run, redrawn = (median(times[k]) * 1e3 for k in ("run", "redraw"))
        said = f"{run:6.1f} ms of {redrawn:5.0f} ms: run / redraw {judge('run / redraw', share)}"
        print(f"{label:22} {said}; run / figure anew {ratio(times, 'run', 'anew'):.3g}")
    return results


def fresh(code, **environment):
    """Run code in a new interpreter and return the number it prints last."""
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])} | environment
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return float(done.stdout.split()[-1])


FIRST = """
import time, nhlab as nh
nh.System, nh.DLA, nh.integrate, nh.systems  # imported when first named
before = time.process_time()
system = nh.systems.{name}()
nh.integrate(system, nh.DLA(), system.q0, system.v0, h=0.01, steps={steps})
print(time.process_time() - before)
"""


def first(options, folder):
    """CPU seconds from the import to the first result, without and with nhlab's cache."""
    import nhlab as nh

    names = sorted({**nh.systems.catalogue, **nh.systems.on_groups})
    results = {}
    for name in names:
        code = FIRST.format(name=name, steps=SLIDER_STEPS)
        cold, warm = [], []
        try:
            for _ in range(max(3, options.repeats // 2)):
                with tempfile.TemporaryDirectory() as cache:
                    cold.append(fresh(code, NHLAB_CACHE_DIR=cache))
                    warm.append(fresh(code, NHLAB_CACHE_DIR=cache))
        except RuntimeError as error:
            note(f"{name} skipped ({error})")
            continue
        results[name] = {"cold": median(cold), "warm": median(warm)}
        print(
            f"{name:20} first result {judge('first result', median(cold))} s, "
            f"{median(warm):.2f} s when seen before"
        )
    return results


IMPORT = """
import time
before = time.process_time()
{statement}
print(time.process_time() - before)
"""


def imports(options, folder):
    """`import nhlab` beside the import of numpy and sympy."""
    ours = IMPORT.format(statement="import nhlab as nh; nh.System, nh.DLA, nh.integrate")
    theirs = IMPORT.format(statement="import numpy, sympy")
    contestants = {"nhlab": partial(fresh, ours), "both": partial(fresh, theirs)}
    turns(contestants, 1)
    times = turns(contestants, max(7, options.repeats))
    share = ratio(times, "nhlab", "both")
    print(
        f"import nhlab {median(times['nhlab']):.2f} s, numpy and sympy "
        f"{median(times['both']):.2f} s: ratio {judge('import', share)}"
    )
    return share


MEMORY = """
import sys
sys.path.insert(0, {here!r})
from run import Library

def kilobytes(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what))

library = Library({method!r}, {name!r})
library(100)
before = kilobytes("VmRSS")
result = library({steps})
peak = kilobytes("VmHWM")
arrays = [getattr(result, k) for k in ("t", "q", "v", "p", "lam", "h")]
size = sum(a.nbytes for a in arrays if a is not None and 0 not in a.strides)
print((peak - before) * 1024 / size)
"""


def memory(options, folder):
    """Peak memory of a long run beside the arrays of its result."""
    if not Path("/proc/self/status").exists():
        note("memory skipped: no /proc on this system")
        return {}
    results = {}
    for label, method, name in pairs(options):
        code = MEMORY.format(here=str(HERE), method=method, name=name, steps=options.steps)
        fresh(code)  # leaves the compiled code behind
        results[label] = share = fresh(code)
        print(f"{label:22} peak / result arrays {judge('memory', share)}")
    return results


def many_runs(count, executor=None, chunk=None):
    """Seconds of an ensemble of sleighs, 10^5 compiled steps each: by the clock on the wall, of all
    CPUs, and of this process and the busiest worker, which on free cores is the wall's."""
    import psutil

    import nhlab as nh

    workers = [psutil.Process(pid) for pid in getattr(executor, "_processes", ())]

    def clocks():
        spent = [sum(p.cpu_times()[:2]) for p in (psutil.Process(), *workers)]
        return np.array([time.perf_counter(), *spent])

    case, before = CASES["sleigh"], clocks()
    system, v0 = nh.systems.sleigh(), case.v0 * np.linspace(0.9, 1.1, count)[:, None]
    how = {"h": case.h, "steps": 100_000, "summary": "last", "backend": "numba", "progress": False}
    how |= {"executor": executor, "chunk": chunk}
    many = nh.ensemble(system.set(**case.parameters), nh.DLA(), case.q0, v0, **how)
    assert many.ok.all()
    wall, here, *there = clocks() - before
    return wall, here + sum(there), here + max(there, default=0)


def ensembles(options, folder):
    """The same ensemble here, in one process and in two, in chunks of about a second."""
    from concurrent.futures import ProcessPoolExecutor

    many_runs(1)
    chunk = max(1, round(8 / many_runs(8)[1]))
    count = 8 * chunk
    note(f"{count} runs of 100,000 steps, {chunk} in a chunk")
    with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(2) as two:
        contestants = {
            "here": partial(many_runs, count),
            "one": partial(many_runs, count, one, chunk),
            "two": partial(many_runs, count, two, chunk),
        }
        for pool in (one, two):
            many_runs(8, pool, 1)  # imports and machine code in every process
        times = turns(contestants, options.repeats)
    wall, cpu, busiest = ({k: [x[i] for x in v] for k, v in times.items()} for i in range(3))
    for name in contestants:
        print(f"{name:5} {median(wall[name]):5.1f} s, CPU {median(cpu[name]):5.1f} s")
    results = {
        "two processes": ratio(wall, "here", "two"),
        "chunk overhead": ratio(cpu, "one", "here") - 1,
    }
    free = ratio(busiest, "here", "two")
    print(", ".join(f"{k} {judge(k, v)}" for k, v in results.items()))
    note(f"by the wall clock, on cores with other work; with free ones two give {free:.3g}")
    return results | {"on free cores": free}


SECTIONS = dict(check=check, speed=speed, slider=slider, first=first, imports=imports)
SECTIONS |= dict(memory=memory, ensembles=ensembles, relatives=relatives.relatives)
SECTIONS |= dict(accuracy=relatives.accuracy, growth=relatives.growth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--steps", type=int, default=1_000_000, help="length of a long run")
    parser.add_argument("--repeats", type=int, default=7, help="turns of every contestant")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--systems", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--exudyn", default=sys.executable, help="an interpreter with exudyn")
    parser.add_argument("--json", type=Path, help="write the measurements to this file")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section {unknown.pop()!r}; there are {', '.join(SECTIONS)}")
    sys.path.insert(0, str(HERE.parents[1]))
    options.nhlab = False
    with contextlib.suppress(ImportError):
        from nhlab import integrate  # noqa: F401

        options.nhlab = True
    if not options.nhlab:
        note("nhlab cannot be imported: only the others are measured")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sections or SECTIONS:
            print(f"\n{name}: {SECTIONS[name].__doc__.splitlines()[0]}")
            if not options.nhlab and name not in ("check", "speed"):
                note("skipped without nhlab")
                continue
            results[name] = SECTIONS[name](options, folder)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.readme:
        relatives.into_readme(HERE.parents[1] / "README.md", results)


if __name__ == "__main__":
    main()
