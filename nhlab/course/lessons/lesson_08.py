"""Lesson 08: the stored comparison of all methods on all problems, to be looked at and asked."""

from __future__ import annotations

import numpy as np
import sympy as sp
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator

from ...geometry.diagnostics import growth
from ...mechanics import catalogue as systems
from ...methods import DLA, EDLA, RK4, Projector
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, choice, panel
from .. import comparison

DARK, GREY = "#333333", "#BBBBBB"
TINTS = {
    "none": "#1B7F5C",
    "bounded": "#A6DBC3",
    "random walk": "#F6D55C",
    "drift": "#F29E4C",
    "lost": "#C8423B",
    "stops": "#8E8E93",
    "undecided": "#FFFFFF",
    "not for it": "#F2F2F2",
}
LIGHT = {"none", "lost", "stops"}  # dark tints, which need light letters
SCIPY = {"DOP853": ("#000000", "*"), "RK45": ("#666666", "s"), "Radau": ("#AAAAAA", "^"),
         "LSODA": ("#444444", "D")}  # fmt: skip


# ---------------------------------------------------------------------------- questions


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


def draw_table(ax, data):
    """The verdict on the energy of every method on every problem; the numbers are exponents."""
    kind, exponent = data["kind"], data["exponent"]
    colours = np.array([[to_rgba(TINTS[k]) for k in row] for row in kind])
    ax.imshow(colours, aspect="auto")
    for (i, j), k in np.ndenumerate(kind):
        number = f"\n{exponent[i, j]:.2f}" if k in ("random walk", "drift", "undecided") else ""
        text = k if k != "not for it" else "–"
        ax.text(j, i, text + number.replace("-0.00", "0.00"), ha="center", va="center", fontsize=9,
                color="white" if k in LIGHT else DARK)  # fmt: skip
    names = [str(m).replace("DiscreteG", "Discrete\nG").replace(" ", "\n") for m in data["methods"]]
    ax.set_xticks(range(kind.shape[1]), names, fontsize=10)
    ax.set_yticks(range(kind.shape[0]), [str(p) for p in data["problems"]], fontsize=10)
    ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


# ---------------------------------------------------------------------------- energy


def energy_panel(data, problem="transmission, eps=.2", method="DLA"):
    """Left: the energy of ten long runs, in block means; right: how its changes grow with time."""
    names, ways = [str(x) for x in data["problems"]], [str(x) for x in data["methods"]]
    picture = Picture((9.8, 4.4), columns=2)
    left, right = picture.axes
    left.set(xlabel="time $t$", ylabel="$E - E_0$, mean over a block")
    left.xaxis.set_major_locator(MaxNLocator(4))
    right.set(xlabel="time between two blocks", ylabel="root mean square change", xscale="log",
              yscale="log")  # fmt: skip
    lines = [picture.line(ax=left, color=GREY, linewidth=1) for _ in range(9)]
    lines.append(picture.line(ax=left, color="#0072B2"))
    guides = [picture.line(ax=right, color=DARK, linestyle=s, linewidth=1, label=t)
              for s, t in ((":", "bounded, slope 0"), ("--", "random walk, ½"),
                           ("-.", "drift, 1"))]  # fmt: skip
    measured = picture.line(ax=right, marker="o", color="#D55E00", label="measured")
    right.legend(handles=[measured, *guides], loc="lower left", bbox_to_anchor=(0, 1), ncols=2,
                 frameon=False, fontsize=10)  # fmt: skip

    def update(picture, values, quick):
        i, j = names.index(values["problem"]), ways.index(values["method"])
        kind, T = str(data["kind"][i, j]), float(data["T"][i])
        means = np.array(data["means"][i, j], float)
        ended = np.isfinite(means).all(1)
        t = T * (np.arange(means.shape[1]) + 0.5) / means.shape[1]
        for line, E in zip(lines, np.clip(means, -3, 3), strict=True):
            line.set_data(t, E)
        if ended.any():
            picture.forget()
            picture.fit(left, [0, T], np.clip(means[ended], -3, 3))
        curves = [measured, *guides]
        for curve in curves:
            curve.set_visible(kind not in ("stops", "not for it"))
        if not measured.get_visible():
            return {"runs that came to the end": f"{int(ended.sum())} of 10", "energy": kind}
        found = growth(t, means[ended], blocks=means.shape[1], resamples=2)
        lag, size = found.lags * T / means.shape[1], np.maximum(found.size, 1e-17)
        measured.set_data(lag, size)
        for guide, slope in zip(guides, (0, 0.5, 1), strict=True):
            guide.set_data(lag, size[-1] * (lag / lag[-1]) ** slope)
        right.set_xlim(lag[0] / 1.3, lag[-1] * 1.3)
        right.set_ylim(min(size.min(), size[-1] * lag[0] / lag[-1]) / 2, size.max() * 3)
        picture.changed()
        gamma = f"{data['exponent'][i, j]:.2f} ± {data['exponent_error'][i, j]:.2f}"
        slope = f"{data['slope'][i, j]:.1e} ± {data['slope_error'][i, j]:.0e}"
        return {"energy": kind, "exponent": gamma, "slope of E": slope}

    return panel(picture, update, problem=choice("problem", names, problem),
                 method=choice("method", ways, method),
                 alt="Energy errors of ten long runs and the growth of their changes with time.",
                 caption="Ten starts, 100,000 steps each. Left: one run in blue, cut at ±3. "
                         "Right: the three thin lines end in the last point.")  # fmt: skip


# ---------------------------------------------------------------------------- the sleigh


def sleigh_panel(h=(0.1, 0.4, 0.1), a=(0.1, 0.3, 0.2), T=150.0):
    """The sleigh, which settles, by three methods: position errors, and A v at the nodes."""
    start = systems.sleigh()
    picture = Picture((9.8, 4.2), columns=2)
    left, right = picture.axes
    left.set(xlabel="time $t$", ylabel="error of $(x, y, \\theta)$", xlim=(0, T), ylim=(1e-9, 1e3))
    right.set(xlabel="time $t$", ylabel="$|A v|$ at the nodes", xlim=(0, T), ylim=(1e-9, 1e1))
    for ax in picture.axes:
        ax.set_yscale("log")
    methods = (DLA(), Projector(), RK4())
    errors = [picture.line(ax=left, label=plot.label(m), **plot.look(m)) for m in methods]
    sizes = [picture.line(ax=right, **plot.look(m)) for m in methods]
    rate = picture.line(ax=right, color=DARK, linewidth=1, label="$e^{+kt}$")
    left.legend(handles=errors, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    right.legend(handles=[rate], loc="lower left", bbox_to_anchor=(0, 1), frameon=False)

    def update(picture, values, quick):
        h, system = values["h"], start.set(a=values["a"])
        steps = round(T / h)
        look = np.unique(np.linspace(1, steps, 40).astype(int))
        true, text = system.exact(h * look), {}
        for m, error, size in zip(methods, errors, sizes, strict=True):
            sol = integrate(system, m, h=h, steps=steps)
            error.set_data(sol.t[look], np.abs(sol.q[look] - true).max(1))
            size.set_data(sol.t[2:], np.abs(sol.constraint()[2:, 0]) + 1e-30)
            text[f"{plot.label(m)}: error at {sol.t[-1]:.0f}"] = f"{error.get_ydata()[-1]:.1e}"
            if isinstance(m, Projector):
                E, late = sol.energy(), sol.t > 0.4 * T
                text["Projector: spread of E"] = f"{np.ptp(E):.0e}"
        k = settling_rate(system)
        rate.set_data(sol.t[late], 1e-3 * np.exp(k * (sol.t[late] - 0.5 * T)))
        return text | {"k": f"{k:.3f}"}

    return panel(picture, update, h=h, a=a,
                 alt="Errors of DLA, projector method and RK4 on the sleigh, and their violation "
                     "of the constraint, which grows exponentially for the projector method.",
                 caption="The sleigh from v0 = (-1, 0, 1/4). k is the rate at which the true turn "
                         "rate dies out.")  # fmt: skip


def settling_rate(system):
    """k of w ~ exp(-k t), at which the sleigh from its own start becomes straight."""
    m, I, a = systems._values(system, "m I a")
    b2 = I / m + a**2
    return a * np.sqrt(system.v0[0] ** 2 + b2 * system.v0[2] ** 2) / b2


# ---------------------------------------------------------------------------- work and precision


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
    for name, (setting, error, seconds) in rows.items():
        found = [(s, name, x) for x, e, s in zip(setting, error, seconds, strict=True)
                 if e <= wanted]  # fmt: skip
        good += sorted(found)[:1]
    return sorted(good)


def work_panel(data, digits=(1, 9, 3)):
    """Error against processor time; the slider asks for correct digits, the read-out answers."""
    cases = dict.fromkeys(zip(data["work_problem"].tolist(), data["work_T"].tolist(), strict=True))
    options = [(f"{p} to t = {T:g}", (p, T)) for p, T in cases]
    names = list(dict.fromkeys(data["work_method"].tolist()))
    picture = Picture((9.4, 4.8))
    ax = picture.ax
    ax.set(xlabel="processor time (s), step code and SciPy in CPython", ylabel="error of $q$",
           xscale="log", yscale="log", ylim=(1e-12, 30))  # fmt: skip
    lines = {n: picture.line(label=n, **_style(n)) for n in names}
    goal = picture.line(color=DARK, linewidth=1)
    ax.legend(handles=list(lines.values()), loc="center left", bbox_to_anchor=(1, 0.5),
              frameon=False, fontsize=10)  # fmt: skip

    def update(picture, values, quick):
        rows, wanted = work_rows(data, *values["problem"]), 10.0 ** -values["digits"]
        for name, line in lines.items():
            _, error, seconds = rows.get(name, ([], np.array([]), []))
            line.set_data(seconds, np.maximum(error, 1e-13))
        every = np.concatenate([x[2] for x in rows.values()])
        ends = every.min() / 1.5, every.max() * 1.5
        if ax.get_xlim() != ends:
            ax.set_xlim(*ends)
            picture.changed()
        goal.set_data(ends, [wanted, wanted])
        best = cheapest(rows, wanted)[:3]
        text = [f"{name} ({'tolerance' if name in SCIPY else 'h'} {x:.2g}, {1e3 * s:.2g} ms)"
                for s, name, x in best]  # fmt: skip
        return {f"cheapest below 1e-{values['digits']}:": ", ".join(text) or "none of these runs"}

    return panel(picture, update, problem=choice("problem", options, options[0][1]), digits=digits,
                 alt="Error against processor time of fixed-step methods and SciPy's solvers.",
                 caption="One start of each problem, position at the end. Times are those of one "
                         "machine; the horizontal line is the accuracy asked for.")  # fmt: skip


# ---------------------------------------------------------------------------- the atlas


def separatrix(system):
    """The rate at y = 0 with which the pendulum of the transmission just goes over the top."""
    y = np.linspace(-np.pi, np.pi, 20_001)
    V = system.V(np.stack([0 * y, y, 0 * y], -1))
    return float(np.sqrt(2 * (V.max() - system.V(np.zeros(3)))))


def atlas_panel(data):
    """Maps over a plane of starts: the drift of DLA or projector, and how far EDLA comes."""
    hs = data["atlas_h"]
    vy, vz = data["atlas_vy"], data["atlas_vz"]
    picture = Picture((10.4, 4.4), columns=2)
    extent = (vy[0], vy[-1], vz[0], vz[-1])
    common = {"origin": "lower", "aspect": "auto", "extent": extent}
    left, right = picture.axes
    drift = picture.add(left.imshow(np.zeros((2, 2)), vmin=-9, vmax=-3, cmap="magma", **common))
    steps = picture.add(right.imshow(np.zeros((2, 2)), vmin=0, vmax=comparison.EDLA_STEPS,
                                     cmap="viridis", **common))  # fmt: skip
    over = separatrix(systems.transmission())
    for ax in picture.axes:
        ax.set(xlabel=r"pendulum's rate $\dot y_0$", ylabel=r"$\dot z_0$")
        ax.grid(False)
        picture.line([over, over], [vz[0], vz[-1]], ax=ax, color="white", linestyle=":")
    picture.figure.colorbar(drift, ax=left, label=r"$\log_{10}$ |slope of $E$|")
    picture.figure.colorbar(steps, ax=right, label="steps EDLA takes")
    drift.set_animated(True)
    left.set_title("drift of the method chosen")
    right.set_title(f"EDLA: {comparison.EDLA_STEPS} steps asked for")

    def update(picture, values, quick):
        k = int(np.abs(hs - values["h"]).argmin())
        found = np.array(data[f"atlas_{values['method']}"][k], float)
        drift.set_data(found)
        steps.set_data(data["atlas_EDLA"][k])
        done = (data["atlas_EDLA"][k] == comparison.EDLA_STEPS).mean()
        return {"median |slope|": f"{10 ** np.nanmedian(found):.1e}",
                "largest": f"{10 ** np.nanmax(found):.1e}",
                "starts with |slope| > 1e-6": f"{np.nanmean(found > -6):.0%}",
                "EDLA goes through": f"{done:.0%}"}  # fmt: skip

    low, high, step = float(hs[0]), float(hs[-1]), float(hs[1] - hs[0])
    return panel(picture, update, h=(low, high, 0.2, step), method=["DLA", "Projector"],
                 alt="Two maps over the plane of initial rates: energy drift and steps of EDLA.",
                 caption=f"The transmission, eps = 0.2, from q0 = 0: {len(vy)} x {len(vz)} "
                         f"starts to t = {comparison.ATLAS_T:g}. Dotted: the separatrix of the "
                         "pendulum.")  # fmt: skip


def draw_atlas(axes, size=15, steps=200, h=0.2):
    """A small atlas, computed now: the drift of DLA, and the steps of EDLA."""
    vy, vz = comparison.atlas_starts(size)[:2]
    drift, _ = comparison.atlas(DLA(), h, size, 10 * steps, backend="numpy")
    _, done = comparison.atlas(EDLA(), h, size, steps, backend="numpy")
    parts = ((drift, "magma", r"DLA: $\log_{10}$ |slope of $E$|"),
             (done, "viridis", "steps EDLA takes"))  # fmt: skip
    for ax, (values, colours, text) in zip(axes, parts, strict=True):
        image = ax.pcolormesh(vy, vz, values, cmap=colours)
        ax.figure.colorbar(image, ax=ax, label=text)
        ax.set(xlabel=r"pendulum's rate $\dot y_0$", ylabel=r"$\dot z_0$")
        ax.grid(False)
    return drift, done
