"""Every method beside DLA, nhlab beside SciPy at equal accuracy, and how the cost grows."""

import datetime
import os
import platform
import re
from functools import partial
from itertools import pairwise
from statistics import median

import numpy as np
from cases import CASES
from timing import cpu, ratio, turns

BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"


def _measure(run, steps):
    seconds, sol = cpu(run, steps)
    return seconds / sol.steps


def _run(system, method, q0, v0, h, steps):
    import nhlab as nh

    return nh.integrate(system, method, q0, v0, h=h, steps=steps, backend="numba", progress=False)


def relatives(options, folder):
    """Microseconds per step of every method, and the ratio to DLA on the same system."""
    import nhlab as nh

    results = {}
    for name, case in CASES.items():
        system = getattr(nh.systems, name)().set(**case.parameters)
        start = case.q0, case.v0, case.h
        methods = [nh.DLA(), nh.Projector(), nh.EDLA(), nh.Reversible(), nh.DiscreteGradient(),
                   nh.Composition(), nh.Composition(order=6), nh.RK4()]  # fmt: skip
        runs = {repr(m): partial(_run, system, m, *start) for m in methods}
        results |= _beside_DLA(name, runs, options)
    reduced = {"particle": "z", "robot": "x y", "rolling_disk": "x y", "snakeboard": "psi"}
    for name, fibre in reduced.items():
        system = getattr(nh.systems, name)()
        case = CASES.get(name)
        q0, v0 = (system.q0, system.v0) if case is None else (case.q0, case.v0)
        q0, v0 = np.array(q0, float), np.array(v0, float)
        kind = nh.Horizontal if name == "snakeboard" else nh.Chaplygin
        reduction = kind(system, fibre=fibre)
        if name == "snakeboard":
            reduction = reduction.at(q0, v0)
        runs = {
            repr(nh.DLA()): partial(_run, system, nh.DLA(), q0, v0, 0.1),
            repr(nh.RDLA()): partial(_run, reduction, nh.RDLA(), *reduction.start(q0, v0), 0.1),
        }
        results |= _beside_DLA(f"{name} reduced", runs, options)
    board = CASES["snakeboard"]
    dla = partial(_run, nh.systems.snakeboard(), nh.DLA(), board.q0, board.v0, board.h)
    for name in ("suslov", "sleigh_se2", "ball"):
        system = nh.systems.on_groups[name]()
        runs = {repr(nh.DLA()): dla}
        for m in (nh.Projector(), nh.DLA()):
            runs[f"{name} {m!r}"] = partial(_run, system, m, system.q0, system.v0, 0.1)
        results |= _beside_DLA(f"{name}, DLA on the snakeboard", runs, options)
    return results


def _beside_DLA(title, runs, options):
    steps = min(options.steps, 200_000)
    contestants = {k: partial(_measure, f, steps) for k, f in runs.items()}
    turns(contestants, 1)
    times = turns(contestants, options.repeats)
    base = next(iter(runs))
    results = {f"{title}: {k}": ratio(times, k, base) for k in runs}
    said = (f"{k} {median(times[k]) * 1e6:.3f} us ({results[f'{title}: {k}']:.2g})" for k in runs)
    print(f"{title}: {', '.join(said)}", flush=True)
    return results


def accuracy(options, folder):
    """Time to follow the particle to t = 50 within 1e-6, nhlab's methods beside SciPy's solvers."""
    from scipy.integrate import solve_ivp

    import nhlab as nh

    system, T, wanted = nh.systems.particle(), 50.0, 1e-6
    q0, v0 = np.array(system.q0, float), np.array(system.v0, float)
    true = nh.integrate(system, nh.Reference(rtol=1e-13), q0, v0, h=T, steps=1).q[-1]
    y0, acceleration = np.concatenate([q0, v0]), system.motion.program.step

    def motion(t, y):  # as nh.Reference evaluates it: SciPy is not held up by a slow function
        return acceleration(t, 0.0, *y.tolist())[2:8]

    def by_scipy(name, rtol):
        out = solve_ivp(motion, (0, T), y0, method=name, rtol=rtol, atol=rtol)
        return out.y[:3, -1]

    def by_nhlab(method, steps):
        return nh.integrate(system, method, q0, v0, h=T / steps, steps=steps, backend="numba",
                            progress=False).q[-1]  # fmt: skip

    runs = {}
    for method in (nh.DLA(), nh.Projector(), nh.Reversible(), nh.DiscreteGradient(),
                   nh.Composition(), nh.Composition(order=6), nh.RK4()):  # fmt: skip
        steps = 250
        while np.abs(by_nhlab(method, steps) - true).max() > wanted:
            steps = round(1.2 * steps)
        runs[repr(method)] = partial(by_nhlab, method, steps)
    for name in ("DOP853", "RK45", "LSODA", "Radau"):
        rtol = 1e-4
        while np.abs(by_scipy(name, rtol) - true).max() > wanted:
            rtol /= 2
        runs[f"SciPy {name}"] = partial(by_scipy, name, rtol)
    contestants = {k: partial(lambda f: cpu(f)[0], f) for k, f in runs.items()}
    turns(contestants, 1)
    times = turns(contestants, options.repeats)
    results = {k: ratio(times, k, "SciPy DOP853") for k in runs}
    for k in runs:
        print(f"{k:42} {median(times[k]) * 1e3:8.2f} ms, {results[k]:.3g} of SciPy's DOP853")
    return results


def chain(n, m):
    """n particles on a line with quartic springs, m nonholonomic constraints."""
    import nhlab as nh

    q, v = nh.symbols([f"x{k}" for k in range(n)]), nh.symbols([f"v{k}" for k in range(n)])
    L = sum(u**2 - x**2 for x, u in zip(q, v, strict=True)) / 2
    L -= sum((x - y) ** 4 for x, y in pairwise(q)) / 4
    system = nh.System(q, v, L, [v[k] - q[k + 1] * v[n - 1] for k in range(m)])
    q0 = np.linspace(0.3, 0.8, n)
    return system, q0, system.project(q0, np.linspace(0.5, -0.4, n)) if m else np.ones(n) / 2


def growth(options, folder):
    """How a step of DLA and the derivation of its text grow with n, m, steps and ensemble size."""
    import nhlab as nh

    results = {}
    sizes = [(n, 1) for n in (2, 4, 6, 8, 10, 12)] + [(8, m) for m in (0, 2, 4, 6)]
    runs = {}
    for n, m in sizes:
        system, q0, v0 = chain(n, m)
        seconds = cpu(lambda s=system: nh.source(s, nh.DLA()))[0]
        runs[f"n={n} m={m}"] = partial(_run, system, nh.DLA(), q0, v0, 0.05)
        results[f"n={n} m={m}: derive, s"] = seconds
    contestants = {k: partial(_measure, f, 20_000) for k, f in runs.items()}
    turns(contestants, 1)
    times = turns(contestants, options.repeats)
    for k in runs:
        results[f"{k}: step over n=2"] = share = ratio(times, k, "n=2 m=1")
        print(f"{k:9} {median(times[k]) * 1e6:7.3f} us per step, {share:6.2f} "
              f"of n=2; text in {results[f'{k}: derive, s']:.2f} s", flush=True)  # fmt: skip
    case = CASES["particle"]
    particle = nh.systems.particle()
    run = partial(_run, particle, nh.DLA(), case.q0, case.v0, case.h)
    lengths = {steps: partial(_measure, run, steps) for steps in (10**4, 10**5, 10**6)}
    turns(lengths, 1)
    times = turns(lengths, options.repeats)
    for steps in lengths:
        results[f"steps={steps}"] = ratio(times, steps, 10**6)
    print("cost per step by length, over 10^6: "
          + ", ".join(f"{s:.0e} {results[f'steps={s}']:.2f}" for s in lengths))  # fmt: skip

    def together(count):
        v0 = case.v0 * np.linspace(0.9, 1.1, count)[:, None]
        seconds, _ = cpu(lambda: nh.ensemble(particle, nh.DLA(), case.q0, v0, h=case.h, steps=1000,
                                             backend="numpy"))  # fmt: skip
        return seconds / count / 1000

    members = {count: partial(together, count) for count in (10, 100, 1000)}
    turns(members, 1)
    times = turns(members, options.repeats)
    for count in members:
        results[f"ensemble of {count}"] = ratio(times, count, 10)
    print("cost per member and step as NumPy arrays, over 10 members: "
          + ", ".join(f"{c} {results[f'ensemble of {c}']:.3f}" for c in members))  # fmt: skip
    return results


# ---------------------------------------------------------------------------- the README


def _number(x):
    return f"{float(f'{x:.2g}'):,g}"


def _span(values):
    low, high = _number(min(values)), _number(max(values))
    return low if low == high else f"{low} to {high}"


def _short(method):
    """The midpoint rule needs no saying."""
    name = method.replace("(alpha=0.5)", "").replace("()", "")
    return re.sub(r"Composition\((\w+), order=(\d)\)", r"Composition of \1, order \2", name)


def _rows(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def table(results):
    """The measurements as Markdown tables, with the day and the kind of machine."""
    day = datetime.date.today().isoformat()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [
        f"Measured on {day}, {machine}, Python {platform.python_version()}; CPU times, each",
        "ratio within one run, over particle, sleigh and snakeboard where it is a range.",
        "",
    ]
    others = {"nhlab / C": "gcc -O3, same text", "nhlab / hand C": "hand-written C",
              "NumPy / nhlab": "NumPy Newton", "exudyn / nhlab": "exudyn"}  # fmt: skip
    rows = []
    for method in ("DLA", "Projector", "EDLA"):
        speeds = [
            x["ratios"] for k, x in results.get("speed", {}).items() if k.split()[0] == method
        ]
        row = [f"`{method}`"]
        for what in others:
            values = [1 / x[what] if what.startswith("nhlab") else x[what]
                      for x in speeds if what in x]  # fmt: skip
            row.append(_span(values) if values else "not measured")
        rows.append(row)
    lines += _rows(["time of 10^6 steps over nhlab's", *others.values()], rows)
    beside = {}
    for k, x in results.get("relatives", {}).items():
        title, method = k.split(": ")
        if not title.endswith("DLA on the snakeboard"):
            beside.setdefault(method, []).append(x)
    equal = results.get("accuracy", {})
    head = ["method", "time of a step over DLA's", "particle to t = 50 within 1e-6, over DOP853's"]
    rows = [[_short(k), _span(beside[k]) if k in beside else "",
             _number(equal[k]) if k in equal else ""]
            for k in dict.fromkeys([*beside, *equal])]  # fmt: skip
    lines += _rows(head, rows)
    simple = {
        "slider": "1,250 steps without numba / redrawing a figure of three lines",
        "first": "first result of a catalogue system, seconds",
        "imports": "import nhlab / import numpy and sympy",
        "memory": "peak memory of 10^6 steps / result arrays",
    }
    rows = []
    for section, text in simple.items():
        values = results.get(section)
        if values:
            values = values.values() if isinstance(values, dict) else [values]
            rows.append([text, _span([x["cold"] if isinstance(x, dict) else x for x in values])])
    many, grown = results.get("ensembles", {}), results.get("growth", {})
    if many:
        rows.append(["ensemble: throughput of two processes / one", _number(many["two processes"])])
        rows.append(["ensemble: overhead of chunks of a second", _number(many["chunk overhead"])])
    if grown:
        steps = [_number(grown[f"n={n} m=1: step over n=2"]) for n in (4, 8, 12)]
        rows.append(["a step with 4, 8, 12 coordinates / with 2", ", ".join(steps)])
        steps = [_number(grown[f"n=8 m={m}: step over n=2"] / grown["n=8 m=0: step over n=2"])
                 for m in (2, 4, 6)]  # fmt: skip
        rows.append(
            ["a step with 2, 4, 6 constraints / with none, 8 coordinates", ", ".join(steps)]
        )
    lines += _rows(["more", "ratio"], rows)
    return "\n".join(lines).rstrip()


def into_readme(path, results):
    text = path.read_text()
    if BEGIN not in text:
        raise SystemExit(f"{path} has no line {BEGIN}")
    part = f"{BEGIN}\n{table(results)}\n{END}"
    path.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: part, text, flags=re.S))
