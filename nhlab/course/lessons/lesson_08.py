"""Lesson 08: the stored comparison of all methods on all problems, to be looked at and asked."""

import numpy as np
import sympy as sp
from matplotlib.ticker import MaxNLocator

from ...geometry.diagnostics import BLOCKS
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import choice
from .. import comparison
from ..colours import BLUE, DARK, GREY, ORANGE
from ..exercises import some_of, takes, told
from ..kit import RIGHT, frame, new_board
from .lesson_03 import forward_speed

MACHINE = "transmission, eps=.2"  # the machine of the first movie
ROWS, KEPT = ("quartic", MACHINE), ("exact", "bounded")
GUIDES = {"bounded, slope 0": (0, ":"), "random walk, ½": (0.5, "--"), "drift, 1": (1, "-.")}
FITTED = ("exponent", "exponent_error", "slope", "slope_error")
SCIPY = {"DOP853": ("#000000", "*"), "RK45": ("#666666", "s"), "Radau": ("#AAAAAA", "^"),
         "LSODA": ("#444444", "D")}  # fmt: skip


def questions(system):
    """What can be read off a system: is it reversible, is M constant, is V at most quadratic?"""
    minus = dict(zip(system.v, [-u for u in system.v], strict=True))
    S, q, L = system.symbolic, {*system.q}, system.L.subs(system.parameters)
    V = -L.xreplace(dict.fromkeys(system.v, sp.S.Zero))
    return {
        "reversible": sp.expand(L.xreplace(minus) - L) == 0,
        "M constant": all(e.free_symbols.isdisjoint(q) for row in S.M for e in row),
        "V quadratic": all(V.diff(x, y, z) == 0 for x in q for y in q for z in q),
    }


def energy_panel(data, problem=MACHINE, method="DLA"):
    """Left: the energy of ten long runs, in block means; right: how its changes grow with time."""
    problems, methods = ([str(x) for x in data[k]] for k in ("problems", "methods"))
    board, left, right = new_board((9.8, 4.4), columns=2)
    frame(left, "time $t$", "$E - E_0$, mean over a block")
    left.xaxis.set_major_locator(MaxNLocator(4))
    names = "time between two blocks", "root mean square change"
    frame(right, *names, xscale="log", yscale="log")
    board.legend(right, ("measured", *GUIDES), ncols=2, fontsize=10)

    def update(problem, method):
        """Energy errors of ten long runs and the growth of their changes with time.

        Ten runs of 100,000 steps each (on quartic ten of 160). Left: one run in blue, cut at ±3.
        Right: the three thin lines end in the last point.
        """
        i, j = problems.index(problem), methods.index(method)
        kind, T = str(data["kind"][i, j]), float(data["T"][i])
        means = np.array(data["means"][i, j], float)
        ended, cut = np.isfinite(means).all(1), np.clip(means, -3, 3)
        t = T * (np.arange(means.shape[1]) + 0.5) / means.shape[1]
        for k, E in enumerate(cut, 1):
            board.curve(t, E, left, **({"color": BLUE} if k == 10 else {"color": GREY, "lw": 1}))
        board.forget()
        if ended.any():
            board.fit(left, [0, T], cut[ended])
        lag, size = data["lags"] * T / BLOCKS, np.maximum(data["size"][i, j], 1e-17)
        known = kind not in ("stops", "not for it")
        _draw_growth(board, right, *((lag, size) if known else (lag[:0], size[:0])))
        if kind == "stops":
            board.say("runs that came to the end", f"{data['share'][i, j]:.0%}")
        board.say("energy", kind)
        if known:
            gamma, gamma_error, slope, slope_error = (data[k][i, j] for k in FITTED)
            board.say("exponent", f"{gamma + 0.0:.2f} ± {gamma_error:.1g}")
            board.say("slope of E", f"{slope:.1e} ± {slope_error:.0e}")

    first = choice("problem", problems, problem), choice("method", methods, method)
    return board.panel(update, problem=first[0], method=first[1])


def _draw_growth(board, ax, lag, size):
    """The changes of the energy over ever longer times, with lines for three kinds of growth."""
    for label, (slope, style) in GUIDES.items():
        y = size[-1:] * (lag / lag[-1:]) ** slope
        board.curve(lag, y, ax, color=DARK, linestyle=style, linewidth=1, label=label)
    board.curve(lag, size, ax, marker="o", color=ORANGE, label="measured")
    if len(lag):
        ax.set_xlim(lag[0] / 1.3, lag[-1] * 1.3)
        ax.set_ylim(min(size.min(), size[-1] * lag[0] / lag[-1]) / 2, size.max() * 3)
        board.changed()


def work_rows(data, problem, T):
    """method -> (settings, errors, seconds) of one problem."""
    here = (data["work_problem"] == problem) & (data["work_T"] == T)
    columns = ("work_method", "work_setting", "work_error", "work_seconds")
    method, *rest = (data[k][here] for k in columns)
    return {str(m): [x[method == m] for x in rest] for m in dict.fromkeys(method)}


def _style(name):
    if name in SCIPY:
        colour, marker = SCIPY[name]
        return {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1}
    colour = plot.COLOURS[name.split()[0]]
    end = {"marker": "P" if name.endswith("6") else "o", "markersize": 5}
    return {"color": colour, "linestyle": plot.LINES[name.split()[0]], **end}


def cheapest(rows, wanted):
    """(seconds, method, setting), cheapest first, of the runs at least as accurate as wanted."""
    good = []
    for name, columns in rows.items():
        found = [(s, name, x) for x, e, s in zip(*columns, strict=True) if e <= wanted]
        good += sorted(found)[:1]
    return sorted(good)


def work_panel(data, digits=(1, 9, 3)):
    """Error against processor time; the slider asks for correct digits, the read-out answers."""
    cases = dict.fromkeys(zip(data["work_problem"].tolist(), data["work_T"].tolist(), strict=True))
    options = [(f"{p} to t = {T:g}", (p, T)) for p, T in cases]
    names = list(dict.fromkeys(data["work_method"].tolist()))
    board, ax = new_board((9.4, 4.4))
    frame(ax, "processor time (s), step code and SciPy in CPython", "error of $q$")
    ax.set(xscale="log", yscale="log", ylim=(1e-12, 30))
    board.legend(fontsize=10, **RIGHT)

    def update(problem, digits):
        """Error against processor time of fixed-step methods and SciPy's solvers.

        One start of each problem, position at the end. Times are those of one machine; the
        horizontal line is the accuracy asked for.
        """
        rows, wanted = work_rows(data, *problem), 10.0**-digits
        if board.changed_since_last(problem):
            board.forget()
        for name in names:
            _, error, seconds = rows.get(name, ([], np.array([]), []))
            board.curve(seconds, np.maximum(error, 1e-13), label=name, **_style(name))
        every = np.concatenate([x[2] for x in rows.values()])
        ends = every.min() / 1.5, every.max() * 1.5
        if ax.get_xlim() != ends:
            ax.set_xlim(*ends)
            board.changed()
        board.outline(ends, [wanted, wanted], color=DARK, linewidth=1)
        best = [
            f"{name} ({'tolerance' if name in SCIPY else 'h'} {x:.2g}, {1e3 * s:.2g} ms)"
            for s, name, x in cheapest(rows, wanted)[:3]
        ]
        board.say(f"cheapest below 1e-{digits}:", ", ".join(best) or "none of these runs")

    problem = choice("problem", options, options[0][1])
    return board.panel(update, problem=problem, digits=digits)


def separatrix(system):
    """The rate at y = 0 with which the pendulum of the transmission just goes over the top."""
    y = np.linspace(-np.pi, np.pi, 20_001)
    V = system.V(np.stack([0 * y, y, 0 * y], -1))
    return float(np.sqrt(2 * (V.max() - system.V(np.zeros(3)))))


def oscillators(sol):
    """The energy of the two oscillators of the transmission."""
    x, z = (sol.q[:, k] ** 2 + sol.v_projected[:, k] ** 2 for k in (0, 2))
    return (x + z) / 2


def long_run(method, steps=100_000, k=4):
    """The transmission from one start after many steps of a method: its last state goes on."""
    system, q0, v0, h = comparison.problems()[MACHINE]
    run = {"h": h, "steps": steps, "every": steps // 100, "progress": False}
    sol = integrate(system, method, q0[k], v0[k], **run)
    late = integrate(system, method, sol.q[-1], sol.v_projected[-1], h=h, steps=150)
    return sol, late


def prediction_1():
    (dla, _), (projector, _) = long_run(DLA()), long_run(Projector())
    first, last = oscillators(dla)[[0, -1]]
    truth = "They stand" if last < 0.1 * first else "They swing" if last > 2 * first else "As in"
    return truth, {"first": first, "last": last, "other": oscillators(projector)[-1]}


def turned_back(sol):
    """The first time after t = 50 at which the sleigh moves backwards, inf if it never does."""
    back = (sol.t > 50) & (forward_speed(sol) < 0)
    return float(sol.t[back.argmax()]) if back.any() else np.inf


def prediction_2():
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


def prediction_3():
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


def prediction_4():
    data = comparison.load()
    kind, fine = data["kind"], (*KEPT, "not for it")
    always = [bool(np.isin(kind[:, j], fine).all()) for j in range(kind.shape[1])]
    truth = {0: "None", 1: "One", 2: "Two or three", 3: "Two or three", 5: "All but RK4 and EDLA"}
    column = data["methods"].tolist().index
    stops = int((kind[:, column("EDLA")] == "stops").sum())
    rk4 = int(np.isin(kind[:, column("RK4")], fine).sum())
    return truth[sum(always)], {"stops": stops, "rk4": rk4}


def second_order_pays(data, problem, T, most=9):
    """The digits up to which a method of order 2 is the cheapest."""
    orders = {name: m.order for name, m in comparison.FIXED.items()}
    rows, digits = work_rows(data, problem, T), 0
    while digits < most and orders.get(cheapest(rows, 10.0 ** -(digits + 1))[0][1]) == 2:
        digits += 1
    return digits


def prediction_6():
    data = comparison.load()
    short, long = (second_order_pays(data, "particle", T) for T in (20.0, 250.0))
    truth = {0: "For no", 1: "Up to 2", 2: "Up to 2", 3: "Up to 2", 4: "Up to 5", 5: "Up to 5"}
    numbers = {"short": short, "long": f"up to {long}" if long else "never"}
    return (truth | {8: "Up to 8"})[short], numbers


def prediction_5():
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


def number(answer):
    """The form of one number, not written as a text."""
    return np.isscalar(answer) and not isinstance(answer, str)


@takes(callable, "The answer is a function of a System: answer = reversible, without calling it.")
def exercise_1(answer):
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
def exercise_2(name):
    p = comparison.problems()["coupled, N=40"]
    if comparison.there_and_back(p.system, RETURNING[name], p.q0[4], p.v0[4], 0.2, 50) >= 1e-10:
        return f"{name} does not come back: try comparison.there_and_back."


@takes(number, "The answer is one number, by which the rate is divided.")
def exercise_3(answer):
    runs = [integrate(systems.particle(), RK4(), h=200 / n, steps=n) for n in (2000, 4000)]
    rate = [np.polyfit(sol.t, sol.energy(), 1)[0] for sol in runs]
    fourth = "16 = 2^4 is the ratio of the errors in q. The energy does better: measure it."
    fit = "Fit a line to sol.energy() for h = 0.1 and for h = 0.05, to t = 200, and divide."
    return told(answer, rate[0] / rate[1], [(16, fourth)], fit, 0.1)
