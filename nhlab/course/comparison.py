"""Every method on every problem: the measurements of lesson 08, and the command that makes them.

    python3 -m nhlab run -m nhlab.course.comparison

writes ``nhlab/course/data``: ``which_integrator.npz``, the same on every run, and ``timings.csv``,
the times of the machine it ran on.  That took seven minutes of processor time; with the names of
parts behind it, ``energy``, ``atlas`` or ``work``, these alone are measured anew.  On the chaotic
problem every rounding makes other runs: it has so many starts that the verdicts do not depend on
it.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from .. import methods
from ..geometry.diagnostics import BLOCKS, Growth, growth
from ..geometry.reversibility import is_reversible
from ..geometry.symmetry import Symmetry
from ..mechanics import catalogue as systems
from ..mechanics.system import System
from ..methods.method import Method
from ..run.ensemble import ensemble
from ..run.errors import IntegrationError
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from ..view.plot import own_constraint

DATA = Path(__file__).resolve().parent / "data"
METHODS = {
    "DLA": methods.DLA(),
    "Projector": methods.Projector(),
    "EDLA": methods.EDLA(),
    "Reversible": methods.Reversible(),
    "DiscreteGradient": methods.DiscreteGradient(),
    "Composition 4": methods.Composition(methods.DLA(), 4),
    "RK4": methods.RK4(),
}
TRUTH = methods.Reference(1e-13)
say = partial(print, flush=True)
STEPS, STORED = 100_000, 64  # of the long runs; block means of the energy kept in the file
FLOOR = 1e-8  # changes of the energy that are left alone


# ---------------------------------------------------------------------------- the problems


@dataclass(frozen=True)
class Problem:
    """What every method is tried on: a system, K starts, a step size, and why it was chosen.

    system : to be integrated
    q0, v0 : the starts, (K, n) each
    h : the step size of all methods that do not choose their own
    about : what makes it a test, in a few words
    plane : generators of a symmetry whose momentum equation is measured, {} for none
    """

    system: System
    q0: np.ndarray
    v0: np.ndarray
    h: float
    about: str
    plane: dict = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        """System, q0, v0 and h, in this order."""
        return iter((self.system, self.q0, self.v0, self.h))


def leapfrog_step(N: int) -> float:
    """Return the h with which leapfrog goes round the unit oscillator in exactly N steps (MP06)."""
    return 2 * np.sin(np.pi / N)


def contact_starts(K: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return K starts (q0, v0) of the contact oscillator as McLachlan and Perlmutter choose them:
    energy 1.5, of which y has 0.5, at K heights z."""
    z = np.linspace(-0.9, 0.9, K) * np.sqrt(2)
    zero = 0 * z
    return np.stack([zero, zero, z], 1), np.stack([zero, zero + 1, np.sqrt(2 - z**2)], 1)


def quartic_starts(K: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return K starts (q0, v0) of the quartic oscillator, chosen as by Celledoni et al.: all have
    the energy 3.06, shared differently by x and y1."""
    a = np.arange(1, K + 1) * np.pi / (2 * K)
    q, v = np.tile([0, 0.6, 0.4, 0.2, 1, 1, 1], (K, 1)), np.zeros((K, 7))
    q[:, 0], v[:, 1] = np.cos(a), np.sin(a)
    return q, v


def swept(
    system: System,
    velocity: Callable[[float], Sequence[float]],
    low: float,
    high: float,
    h: float,
    about: str,
    plane: dict | None = None,
    place: Sequence[float] | None = None,
) -> Problem:
    """Return the problem of ten starts at one place (by default 0) with the velocities
    ``velocity(x)``, for ten numbers x from low to high."""
    v0 = np.array([velocity(x) for x in np.linspace(low, high, 10)], float)
    q0 = np.tile(place, (10, 1)) if place else np.zeros_like(v0)
    return Problem(system, q0, v0, h, about, plane or {})


@cache
def problems() -> dict[str, Problem]:
    """Return the fourteen problems of lesson 08 by their names, in the order of its table."""
    S, z = systems, contact_starts()
    plane = {"e1": {"x": 1}, "e2": {"y": 1}, "e3": {"x": "-y", "y": "x"}}
    turned = {**plane, "e3": {"x": "-y", "y": "x", "theta": 1}}
    rolled = {**plane, "e3": {"x": "-y", "y": "x", "phi": 1}}
    N40, N15 = leapfrog_step(40), leapfrog_step(15)
    y = np.linspace(0.4, 1.6, 10)
    heights = np.stack([0 * y, y, 0 * y], 1), np.stack([0 * y + 1, 0 * y + 1, y], 1)
    return {
        "disk": swept(S.rolling_disk(), lambda w: (1, 0, 1, w), 0.3, 1.2, 0.2,
                      "exact solution, constant M, free", rolled),
        "knife edge": swept(S.knife_edge(), lambda w: (0, 0, w), 0.6, 1.5, 0.2,
                            "exact solution, constant M, linear potential"),
        "sleigh": swept(S.sleigh(), lambda w: (-1, 0, w), 0.16, 0.34, 0.1,
                        "exact solution, M(q); forgets its start", turned),
        "Suslov": swept(S.suslov(), lambda w: (0.6, -w, 0), 0.4, 1.3, 0.1,
                        "exact omega(t), on SO(3); forgets its start", place=[1.0, 0, 0, 0]),
        "particle": Problem(S.particle(), *heights, 0.2, "integrable, reversible"),
        "robot": swept(S.robot(), lambda u: (u, 0, 1, u), 1.1, 2.0, 0.1,
                       "Chaplygin; a pendulum beside a rotation", turned),
        "contact, N=40": Problem(S.contact_oscillator(eps=0), *z, N40, "integrable, reversible"),
        "contact, N=15": Problem(S.contact_oscillator(eps=0), *z, N15, "the same, large steps"),
        "coupled, N=40": Problem(S.contact_oscillator(eps=0.3), *z, N40, "eps = 0.3, reversible"),
        "coupled, N=15": Problem(S.contact_oscillator(eps=0.3), *z, N15, "the same, large steps"),
        "non-reversible": Problem(S.nonreversible(), *z, N40, "as contact, L(q,-v) not L(q,v)"),
        "quartic": Problem(S.quartic(), *quartic_starts(160), 0.1, "chaotic, seven coordinates"),
        "transmission, eps=0": swept(S.transmission(eps=0), lambda u: (0, u, 0.3), 2.3, 2.75, 0.2,
                                     "driven by a symmetric pendulum"),
        "transmission, eps=.2": swept(S.transmission(eps=0.2), lambda u: (0, u, 0.3), 2.3, 2.75,
                                      0.2, "driven by a pendulum without symmetry"),
    }  # fmt: skip


def mirror_gap(system: System, q0: np.ndarray, v0: np.ndarray, h: float, T: float = 500.0) -> float:
    """Return how near a motion comes to a mirror image of its own start, relative to its extent.

    Small where the motion is its own mirror image, for the best of the reversals that
    ``is_reversible`` proves; infinite if it proves none.  An angle counts up to whole turns, and a
    coordinate on which neither L nor the constraints depend does not count.  DLA with half of h
    stands for the motion, up to the time T.
    """
    formulas = [e.xreplace(system.parameters) for e in (system.L, *system.constraints)]

    def same(x: sp.Symbol, shift: sp.Expr) -> bool:
        """Does nothing change if the coordinate x is shifted?"""
        return all(sp.expand(e.subs(x, x + shift) - e) == 0 for e in formulas)

    free = [x for x in system.q if same(x, sp.Dummy("shift", real=True))]
    angles = [x for x in system.q if x not in free and same(x, 2 * sp.pi)]
    steps = round(2 * T / h)
    sol = integrate(system, methods.DLA(), q0, v0, h=h / 2, steps=steps, progress=False)
    count = {"periods": {x.name: 2 * np.pi for x in angles}, "without": [x.name for x in free]}
    gaps = [r.nearest(sol, **count) for r in is_reversible(system).reversals]
    return min(gaps, default=np.inf)


# ---------------------------------------------------------------------------- one entry


def applies(method: Method, system: System) -> bool:
    """Tell whether a method can be used for a system at all."""
    try:
        method.check(system)
    except ValueError:
        return False
    return True


def block_means(sol: Trajectory, blocks: int) -> np.ndarray:
    """Return the means of E - E0 at the nodes over equal blocks of steps, (blocks,).

    It serves as the summary of an ensemble, so that long runs need not be stored; means over blocks
    remove the oscillations within a block.
    """
    E = sol.energy()
    E = E - E[0]
    length = (len(E) - 1) // blocks
    return E[1 : 1 + length * blocks].reshape(blocks, length).mean(1)


def long_energy(
    problem: Problem, method: Method, steps: int = STEPS, blocks: int = BLOCKS
) -> tuple[np.ndarray, float]:
    """Run a method from all K starts; return the block means of E - E0, (K, blocks), nan for runs
    that stopped, and the share of the runs that came to the end."""
    system, q0, v0, h = problem
    options = {"summary": partial(block_means, blocks=blocks), "chunk": 10, "progress": False}
    runs = ensemble(system, method, q0, v0, h=h, steps=steps, **options)
    if runs.summary is None:
        return np.full((len(q0), blocks), np.nan), 0.0
    means = np.where(runs.ok[:, None], runs.summary, np.nan)
    return means, float(runs.ok.mean())


def energy_growth(problem: Problem, means: np.ndarray, steps: int = STEPS) -> Growth | None:
    """Return how the changes of the block means grow with time (``diagnostics.growth``), or None if
    more than a tenth of the runs stopped."""
    ended = np.isfinite(means).all(1)
    if ended.mean() < 0.9:
        return None
    means = means[ended]
    t = problem.h * steps * (np.arange(means.shape[1]) + 0.5) / means.shape[1]
    return growth(t, means, floor=FLOOR)


def off(problem: Problem, means: np.ndarray) -> float:
    """Return the largest error of the energy, as a share of the energy."""
    scale = np.abs(problem.system.energy(problem.q0, problem.v0)).max()
    return float(np.nanmax(np.abs(means), initial=0.0) / scale)


def verdict(problem: Problem, means: np.ndarray, found: Growth | None) -> str:
    """Return the verdict in a word: "stops" if too many runs stopped, "lost" if the energy is off
    by more than half of it, else how its changes grow."""
    if found is None:
        return "stops"
    return "lost" if off(problem, means) > 0.5 else found.kind


def there_and_back(
    system: System, method: Method, q0: np.ndarray, v0: np.ndarray, h: float, steps: int
) -> float:
    """Run, turn the motion round and run back; return the largest distance of q from its start.

    A method that carries (q, v) is turned round by v -> -v, one with two-step memory by exchanging
    its last two positions.
    """
    sol = integrate(system, method, q0, v0, h=h, steps=steps)
    if not method.discrete:
        back = integrate(system, method, sol.q[-1], -sol.v_projected[-1], h=h, steps=steps)
    else:
        h = float(sol.h[-1])
        back = integrate(system, method, sol.q[-1], q1=sol.q[-2], h=h, steps=steps)
    return float(np.abs(back.q[-1] - sol.q[0]).max())


def short_run(problem: Problem, method: Method, k: int = 4, T: float = 20.0) -> dict[str, float]:
    """Measure a method on one run from start number k to time T.

    error : of the places at the nodes
    constraint : the largest violation of the constraint that the method imposes
    momentum : the largest residual of the discrete momentum equation, nan without a symmetry
    back : what ``there_and_back`` returns, nan if no run back exists
    """
    system, q0, v0, h = problem
    steps = round(T / h)
    found: dict[str, float] = dict.fromkeys(("error", "constraint", "momentum", "back"), np.nan)
    try:
        sol = integrate(system, method, q0[k], v0[k], h=h, steps=steps)
    except IntegrationError:
        return found
    found["constraint"] = np.abs(own_constraint(sol)[1]).max()
    nodes = [0, -1] if method.variable_step else slice(None)
    t, q = sol.t[nodes], sol.q[nodes]
    true = integrate(system, TRUTH, q0[k], v0[k], h=t[1] - t[0], steps=len(t) - 1)
    found["error"] = np.abs(q - true.q).max()
    if problem.plane:
        found["momentum"] = np.abs(Symmetry(system, problem.plane).residual(sol)).max()
    with suppress(IntegrationError):
        found["back"] = there_and_back(system, method, q0[k], v0[k], h, steps)
    return found


# ---------------------------------------------------------------------------- work and precision

WORK = {"particle": (20.0, 250.0), "robot": (20.0,), "sleigh": (20.0, 150.0)}
SIZES = (0.5, 0.25, 0.125, 0.0625, 0.03125)
TOLERANCES = tuple(10.0**-k for k in range(2, 13, 2))
SCIPY = ("DOP853", "RK45", "Radau", "LSODA")
FIXED = {k: m for k, m in METHODS.items() if k != "EDLA"}
FIXED["Composition 6"] = methods.Composition(methods.DLA(), 6)


def by_scipy(
    system: System, name: str, q0: np.ndarray, v0: np.ndarray, T: float, tolerance: float
) -> np.ndarray:
    """Return the place at time T by one of SciPy's solvers on the equations of motion, (n,)."""
    from scipy.integrate import solve_ivp

    def motion(t: float, y: np.ndarray) -> Sequence[float]:  # y' = f(t, y) for y = (q, v)
        return system.motion(t, y.tolist())[: len(y)]

    y0 = np.concatenate([q0, v0])
    sol = solve_ivp(motion, (0, T), y0, method=name, rtol=tolerance, atol=tolerance)
    return sol.y[: len(q0), -1]


def by_steps(
    system: System, method: Method, q0: np.ndarray, v0: np.ndarray, T: float, h: float
) -> np.ndarray:
    """Return the place at time T by equal steps of about h, (n,)."""
    n, options = round(T / h), {"backend": "python", "progress": False}
    return integrate(system, method, q0, v0, h=T / n, steps=n, **options).q[-1]


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Call ``run()`` again and again for 0.4 s; return what it gives, and the least time of a call
    in seconds, which other work on the machine disturbs least."""
    run()  # once for the code to be made
    result, begun, seconds = None, time.process_time(), []
    while not seconds or time.process_time() - begun < 0.4:
        before = time.process_time()
        result = run()
        seconds.append(time.process_time() - before)
    return result, min(seconds)


def work_precision(name: str, T: float, k: int = 4) -> list[tuple[str, float, float, float]]:
    """Return rows (method, step size or tolerance, error of q at T, seconds) for all methods and
    SciPy's solvers on the problem of that name, from start number k."""
    system, q0, v0, _ = problems()[name]
    start = q0[k], v0[k], T
    true = integrate(system, TRUTH, q0[k], v0[k], h=T, steps=1).q[-1]
    runs, rows = {}, []
    for m in (m for m in FIXED if applies(FIXED[m], system)):
        runs |= {(m, h): partial(by_steps, system, FIXED[m], *start, h) for h in SIZES}
    for m in SCIPY:
        tolerances = TOLERANCES[: 4 if m == "Radau" else None]
        runs |= {(m, tol): partial(by_scipy, system, m, *start, tol) for tol in tolerances}
    for setting, run in runs.items():
        q, seconds = timed(run)
        error = np.abs(q - true).max()
        rows.append((*setting, float(error) if error < 1e6 else np.nan, seconds))
    return rows


# ---------------------------------------------------------------------------- the atlas

ATLAS_H, ATLAS_T, EDLA_STEPS = (0.1, 0.2, 0.3, 0.4), 1000.0, 2000
RANGE_Y, RANGE_Z = (0.04, 4.0), (0.02, 2.0)


def atlas_starts(size: int) -> tuple[np.ndarray, ...]:
    """Return the rates of the pendulum and of z along both sides of a square of starts, (size,)
    each, and the starts q0, v0 of all its points, (size^2, 3) each."""
    vy, vz = np.linspace(*RANGE_Y, size), np.linspace(*RANGE_Z, size)
    y, z = (x.ravel() for x in np.meshgrid(vy, vz))
    return vy, vz, np.zeros((size**2, 3)), np.stack([0 * y, y, z], 1)


def atlas(
    method: Method, h: float, size: int = 100, steps: int | None = None, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Run the transmission from a plane of starts; return two maps (size, size) of it.

    The first has log10 of the energy's mean slope in time, nan where a run stopped, the second how
    many steps were done.  Without ``steps`` the runs go on to ATLAS_T; other options are those of
    ``nh.ensemble``.
    """
    system = systems.transmission(eps=0.2)
    _, _, q0, v0 = atlas_starts(size)
    steps = round(ATLAS_T / h / 10) * 10 if steps is None else steps
    runs = ensemble(system, method, q0, v0, h=h, steps=steps, every=10, summary="energy", **options)
    slope = np.full(size**2, np.nan)
    if runs.summary is not None:
        slope = np.where(runs.ok, runs.summary["E_slope"], np.nan)
    with np.errstate(divide="ignore"):
        drift = np.log10(np.abs(slope))
    return drift.reshape(size, size), runs.steps_done.reshape(size, size)


# ---------------------------------------------------------------------------- all of it


def measure_energy(steps: int = STEPS) -> dict[str, np.ndarray]:
    """Measure every method on every problem; return the arrays (problems, methods, ...) that are
    stored, by name."""
    names, ways = list(problems()), list(METHODS)
    shape = (len(names), len(ways))
    keys = ("exponent", "exponent_error", "slope", "slope_error", "off", "share")
    keys += ("error", "constraint", "momentum", "back")
    out: dict[str, np.ndarray] = {k: np.full(shape, np.nan) for k in keys}
    out["kind"] = np.full(shape, "not for it", dtype="U12")
    out["means"] = np.full((*shape, 10, STORED), np.nan, np.float32)
    out["lags"] = growth(np.arange(BLOCKS), np.zeros((8, BLOCKS))).lags
    out["size"] = np.full((*shape, len(out["lags"])), np.nan)
    for i, j in np.ndindex(shape):
        problem, method = problems()[names[i]], METHODS[ways[j]]
        if applies(method, problem.system):
            for k, x in one_entry(problem, method, steps).items():
                out[k][i, j] = x
            say(f"{names[i]:22} {ways[j]:17} {out['kind'][i, j]}")
    out |= {k: _tidy(out[k], 1e-9 if k in keys[6:] else 0.0) for k in (*keys, "size")}
    out["T"] = np.array([p.h * steps for p in problems().values()])
    return {"problems": np.array(names), "methods": np.array(ways), **out}


def one_entry(problem: Problem, method: Method, steps: int = STEPS) -> dict[str, Any]:
    """Return all that is stored of one method on one problem; of the block means those of ten
    runs."""
    means, share = long_energy(problem, method, steps)
    found = energy_growth(problem, means, steps)
    kept = means[:: len(means) // 10].reshape(10, STORED, -1).mean(-1)
    out = {"share": share, "off": off(problem, means), "kind": verdict(problem, means, found)}
    out["means"] = np.clip(kept, -1e30, 1e30)
    if found is not None:
        out |= {"exponent": found.exponent, "exponent_error": found.error, "size": found.size}
        out |= {"slope": found.slope, "slope_error": found.slope_error}
    return out | short_run(problem, method)


def _tidy(x: np.ndarray, floor: float) -> np.ndarray:
    """Round to four digits, and to 0 below a floor, so that another run gives the same file."""
    with np.errstate(all="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(x))) - 3)
        return np.where(np.abs(x) <= floor, 0.0, np.where(x == 0, 0.0, np.round(x / unit) * unit))


def measure_atlas(size: int = 100) -> dict[str, np.ndarray]:
    """Return the maps of starts that are stored, for four step sizes, by name."""
    out = {"atlas_h": np.array(ATLAS_H)}
    out["atlas_vy"], out["atlas_vz"] = atlas_starts(size)[:2]
    ways = {"DLA": (None, 0, np.float16), "Projector": (None, 0, np.float16)}
    for name, (steps, part, kind) in (ways | {"EDLA": (EDLA_STEPS, 1, np.int16)}).items():
        found = [atlas(METHODS[name], h, size, steps, progress=False)[part] for h in ATLAS_H]
        out[f"atlas_{name}"] = np.array(found, kind)
        say(f"atlas of {name}")
    return out


def measure_work() -> tuple[dict[str, np.ndarray], list[tuple]]:
    """Return the arrays of the work-precision runs by name, and their rows with the seconds, which
    go into a file of their own because they differ from machine to machine."""
    rows = []
    for name, times in WORK.items():
        for T in times:
            rows += [(name, T, *row) for row in work_precision(name, T)]
            say(f"work and precision: {name} to T = {T:g}")
    columns = list(zip(*rows, strict=True))
    keys = ("work_problem", "work_T", "work_method", "work_setting", "work_error")
    return {k: np.array(c) for k, c in zip(keys, columns, strict=False)}, rows


def load(folder: str | Path | None = None) -> dict[str, np.ndarray]:
    """Return the stored measurements by name, by default those that come with nhlab; the times,
    "work_seconds", are read from the second file."""
    folder = DATA if folder is None else Path(folder)
    with np.load(folder / "which_integrator.npz", allow_pickle=False) as file:
        data = {k: file[k] for k in file.files}
    last = {"delimiter": ",", "skiprows": 1, "usecols": -1}
    data["work_seconds"] = np.loadtxt(folder / "timings.csv", **last)
    return data


def main(parts: Sequence[str] = (), folder: str | Path | None = None) -> int:
    """Measure everything, or the parts named ("energy", "atlas", "work"), and write both files."""
    folder = DATA if folder is None else Path(folder)
    folder.mkdir(exist_ok=True, parents=True)
    unknown = set(parts) - {"energy", "atlas", "work"}
    if unknown:
        raise ValueError(f"no such part: {sorted(unknown)}; choose from energy, atlas, work")
    data, parts = (load(folder), parts) if parts else ({}, ("energy", "atlas", "work"))
    data.pop("work_seconds", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # RK4 is run until it breaks
        if "work" in parts:
            work, rows = measure_work()
            data |= work
            write_times(folder / "timings.csv", rows)
        data |= measure_energy() if "energy" in parts else {}
        data |= measure_atlas() if "atlas" in parts else {}
    np.savez_compressed(folder / "which_integrator.npz", **data)
    return 0


def write_times(path: Path, rows: Sequence[tuple]) -> None:
    """Write the rows of ``work_precision`` with their seconds as a table of text."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", "T", "method", "h or tolerance", "seconds"))
        writer.writerows((*row[:4], f"{row[5]:.2e}") for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
