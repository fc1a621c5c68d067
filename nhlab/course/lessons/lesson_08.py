"""Lesson 08: the stored comparison of all methods on all problems, to be looked at and asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector
from ...methods.method import Method
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from .. import comparison
from ..exercises import some_of, takes, told
from .lesson_03 import forward_speed

Data = dict[str, np.ndarray]  # the stored measurements, by name
MACHINE = "transmission, eps=.2"  # the machine of the first movie
ROWS, KEPT = ("quartic", MACHINE), ("exact", "bounded")
FITTED = ("exponent", "exponent_error", "slope", "slope_error")
SCIPY = {"DOP853": ("#000000", "*"), "RK45": ("#666666", "s"), "Radau": ("#AAAAAA", "^"),
         "LSODA": ("#444444", "D")}  # fmt: skip


def questions(system: System) -> dict[str, bool]:
    """What can be read off a system: is it reversible, is M constant, is V at most quadratic?"""
    minus = dict(zip(system.v, [-u for u in system.v], strict=True))
    S, q, L = system.symbolic, {*system.q}, system.L.subs(system.parameters)
    V = -L.xreplace(dict.fromkeys(system.v, sp.S.Zero))
    return {
        "reversible": sp.expand(L.xreplace(minus) - L) == 0,
        "M constant": all(e.free_symbols.isdisjoint(q) for row in S.M for e in row),
        "V quadratic": all(V.diff(x, y, z) == 0 for x in q for y in q for z in q),
    }


def work_rows(data: Data, problem: str, T: float) -> dict[str, list[np.ndarray]]:
    """method -> (settings, errors, seconds) of one problem."""
    here = (data["work_problem"] == problem) & (data["work_T"] == T)
    columns = ("work_method", "work_setting", "work_error", "work_seconds")
    method, *rest = (data[k][here] for k in columns)
    return {str(m): [x[method == m] for x in rest] for m in dict.fromkeys(method)}


def work_look(name: str) -> dict:
    """How the curve of a method or of one of SciPy's solvers looks."""
    if name in SCIPY:
        colour, marker = SCIPY[name]
        return {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1}
    colour = plot.COLOURS[name.split()[0]]
    end = {"marker": "P" if name.endswith("6") else "o", "markersize": 5}
    return {"color": colour, "linestyle": plot.LINES[name.split()[0]], **end}


def cheapest(rows: dict[str, list[np.ndarray]], wanted: float) -> list[tuple[float, str, float]]:
    """(seconds, method, setting), cheapest first, of the runs at least as accurate as wanted."""
    good = []
    for name, columns in rows.items():
        found = [(s, name, x) for x, e, s in zip(*columns, strict=True) if e <= wanted]
        good += sorted(found)[:1]
    return sorted(good)


def separatrix(system: System) -> float:
    """The rate at y = 0 with which the pendulum of the transmission just goes over the top."""
    y = np.linspace(-np.pi, np.pi, 20_001)
    V = system.V(np.stack([0 * y, y, 0 * y], -1))
    return float(np.sqrt(2 * (V.max() - system.V(np.zeros(3)))))


def oscillators(sol: Trajectory) -> np.ndarray:
    """The energy of the two oscillators of the transmission."""
    x, z = (sol.q[:, k] ** 2 + sol.v_projected[:, k] ** 2 for k in (0, 2))
    return (x + z) / 2


def long_run(method: Method, steps: int = 100_000, k: int = 4) -> tuple[Trajectory, Trajectory]:
    """The transmission from one start after many steps of a method: its last state goes on."""
    system, q0, v0, h = comparison.problems()[MACHINE]
    run = {"h": h, "steps": steps, "every": steps // 100, "progress": False}
    sol = integrate(system, method, q0[k], v0[k], **run)
    late = integrate(system, method, sol.q[-1], sol.v_projected[-1], h=h, steps=150)
    return sol, late


def prediction_1() -> tuple[str | float, dict[str, Any]]:
    (dla, _), (projector, _) = long_run(DLA()), long_run(Projector())
    first, last = oscillators(dla)[[0, -1]]
    truth = "They stand" if last < 0.1 * first else "They swing" if last > 2 * first else "As in"
    return truth, {"first": first, "last": last, "other": oscillators(projector)[-1]}


def turned_back(sol: Trajectory) -> float:
    """The first time after t = 50 at which the sleigh moves backwards, inf if it never does."""
    back = (sol.t > 50) & (forward_speed(sol) < 0)
    return float(sol.t[back.argmax()]) if back.any() else np.inf


def prediction_2() -> tuple[str | float, dict[str, Any]]:
    sleigh = systems.sleigh()
    runs = {m: integrate(sleigh, m, h=0.1, steps=1500) for m in (DLA(), Projector(), RK4())}
    numbers = {
        type(m).__name__.lower(): float(np.abs(sol.q[-1] - sleigh.exact(150.0)).max())
        for m, sol in runs.items()
    }
    numbers["energy"] = np.ptp(runs[Projector()].energy())
    both = runs[Projector()], integrate(sleigh, Projector(), h=0.01, steps=15_000)
    coarse, fine = map(turned_back, both)
    zigzag = [np.abs(sol.constraint())[np.isclose(sol.t, 80)].item() for sol in both]
    truth = "It does not" if np.isinf(fine) else "The same happens, but"
    truth = "It happens at" if abs(fine - coarse) < 2 else truth
    numbers |= {"coarse": coarse, "fine": fine, "smaller": zigzag[0] / zigzag[1]}
    return truth, numbers


def prediction_3() -> tuple[str | float, dict[str, Any]]:
    data = comparison.load()
    names, i, machine = data["methods"].tolist(), *map(data["problems"].tolist().index, ROWS)
    good = {m for m, kind in zip(names, data["kind"][i], strict=True) if kind in KEPT}
    back = {"DLA", "Projector", "Reversible", "DiscreteGradient", "Composition 4"}
    sets = back, {*names} - {"RK4"}, {"DiscreteGradient"}, set()
    truth = ("Those", "All but", "The discrete", "None")[sets.index(good)]
    gamma, error, slope, slope_error = (dict(zip(names, data[k][i], strict=True)) for k in FITTED)
    last = {m: data["means"][machine, names.index(m), :, -1].mean() for m in ("DLA", "Projector")}
    numbers = {m.split()[0].lower(): gamma[m] for m in names}
    numbers |= {"error": error["DLA"], "sigmas": abs(slope["RK4"]) / slope_error["RK4"]}
    had = (comparison.problems()[MACHINE].v0[:, 2] ** 2).mean() / 2
    return truth, {**numbers, "end": last["DLA"], "offset": -last["Projector"], "had": had}


def prediction_4() -> tuple[str | float, dict[str, Any]]:
    data = comparison.load()
    kind, fine, quartic = data["kind"], (*KEPT, "not for it"), data["problems"] == "quartic"
    always = np.isin(kind[~quartic], fine).all(0)
    truth = {0: "None", 1: "One", 2: "Two or three", 3: "Two or three", 5: "All but RK4 and EDLA"}
    column = data["methods"].tolist().index
    stops = int((kind[:, column("EDLA")] == "stops").sum())
    rk4 = int(np.isin(kind[:, column("RK4")], fine).sum())
    return truth[sum(always)], {"stops": stops, "rk4": rk4}


def second_order_pays(data: Data, problem: str, T: float, most: int = 9) -> int:
    """The digits up to which a method of order 2 is the cheapest."""
    orders = {name: m.order for name, m in comparison.FIXED.items()}
    rows, digits = work_rows(data, problem, T), 0
    while digits < most and orders.get(cheapest(rows, 10.0 ** -(digits + 1))[0][1]) == 2:
        digits += 1
    return digits


def prediction_6() -> tuple[str | float, dict[str, Any]]:
    data = comparison.load()
    short, long = (second_order_pays(data, "particle", T) for T in (20.0, 250.0))
    truth = {0: "For no", 1: "Up to 2", 2: "Up to 2", 3: "Up to 2", 4: "Up to 5", 5: "Up to 5"}
    numbers = {"short": short, "long": f"up to {long}" if long else "never"}
    return (truth | {8: "Up to 8"})[short], numbers


def prediction_5() -> tuple[str | float, dict[str, Any]]:
    data = comparison.load()
    k, vy = int(np.abs(data["atlas_h"] - 0.2).argmin()), data["atlas_vy"]
    beyond = vy - separatrix(systems.transmission())
    swings, jump = beyond < 0, {}
    for name in ("DLA", "Projector"):
        found = np.array(data[f"atlas_{name}"][k], float)
        sides = (found[:, (0.1 < s * beyond) & (s * beyond < 0.5)] for s in (1, -1))
        jump[name] = np.subtract(*(np.nanmedian(side) for side in sides))
    through = (data["atlas_EDLA"][k][:, swings] == comparison.EDLA_STEPS).mean()
    truth = f"Where the pendulum {'turns' if jump['DLA'] > 0 else 'swings'}"
    truth = truth if abs(jump["DLA"]) > 2 else "Everywhere"
    return truth, {"jump": jump["DLA"], "weak": jump["Projector"], "swing": through}


def number(answer: Any) -> bool:
    """The form of one number, not written as a text."""
    return np.isscalar(answer) and not isinstance(answer, str)


@takes(callable, "The answer is a function of a System: answer = reversible, without calling it.")
def exercise_1(answer: Any) -> str | None:
    reversible = [systems.particle(), systems.sleigh(), systems.transmission()]
    x, y, vx, vy = symbols("x y vx vy")
    # not reversible although L has no term linear in v: the odd power is the third
    cubic = System((x, y), (vx, vy), vx**2 / 2 + vy**2 / 2 + x * vx * vy**2 / 5 - y**2)
    for system in [*reversible, systems.nonreversible(), cubic]:
        said, truth = bool(answer(system)), system in reversible
        if said != truth:
            name = system.name or "system with L = ... + x vx vy^2/5"
            return f"On the {name} your function says {said}, and the truth is {truth}."


RETURNING = {
    "DLA(0.5)": DLA(),
    "DLA(0.3)": DLA(0.3),
    "DLA(0.3, symmetric=True)": DLA(0.3, symmetric=True),
    "Projector(0.3)": Projector(0.3),
    "Projector(0.5)": Projector(),
}


@some_of(
    RETURNING,
    '{"DLA(0.5)", "DLA(0.3)"}',
    "At least one more does. Which of these look the same from both ends of a step?",
)
def exercise_2(name: Any) -> str | None:
    p = comparison.problems()["coupled, N=40"]
    if comparison.there_and_back(p.system, RETURNING[name], p.q0[4], p.v0[4], 0.2, 50) >= 1e-10:
        return f"{name} does not come back: try comparison.there_and_back."


@takes(number, "The answer is one number, by which the rate is divided.")
def exercise_3(answer: Any) -> str | None:
    runs = [integrate(systems.particle(), RK4(), h=200 / n, steps=n) for n in (2000, 4000)]
    rate = [np.polyfit(sol.t, sol.energy(), 1)[0] for sol in runs]
    fourth = "16 = 2^4 is the ratio of the errors in q. The energy does better: measure it."
    fit = "Fit a line to sol.energy() for h = 0.1 and for h = 0.05, to t = 200, and divide."
    return told(answer, rate[0] / rate[1], [(16, fourth)], fit, 0.1)
