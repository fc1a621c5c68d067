"""Lesson 02: the figures of CM01 with sliders, the orders of the two rules, the determinant of
CM01 (7) along a run, and the energy that drifts."""

from __future__ import annotations

import warnings

import numpy as np

from ...geometry.diagnostics import drift
from ...methods import DLA, RK4, Projector, Reference
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY = "#333333", "#BBBBBB"
EXACT = {"color": "#000000", "linestyle": (0, (1, 1)), "linewidth": 1.2, "label": "exact"}
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}


def _picture(size, rows=1, columns=1, **margins):
    """A Picture with fixed margins: no layout is computed while a slider moves."""
    picture = Picture(size, rows, columns, sharex=rows > 1)
    picture.figure.set_layout_engine(None)
    picture.figure.subplots_adjust(**{"left": 0.13, "right": 0.97, "bottom": 0.13, "top": 0.9,
                                      "hspace": 0.2, **margins})  # fmt: skip
    return picture


def _exact(ax, value):
    """A line at the exact value, with limits so close that the first curve sets new ones."""
    line = ax.axhline(value, zorder=0, **EXACT)
    ax.set_ylim(value - 1e-9, value + 1e-9)
    return line


def figure_panel(system, T, energy=("nodes", "midpoints"), h=(0.05, 0.5, 0.2, 0.01)):
    """CM01 Figs. 1 and 2 for the particle, 3 and 4 for the robot: energy, then the constraints."""
    methods = RK4(), DLA()
    count = len(system.constraints)
    E0 = float(system.energy(np.array(system.q0, float), np.array(system.v0, float)))
    picture = _picture((7.6, 1.8 * (1 + count) + 1.2), 1 + count, bottom=0.26 / (1 + count))
    names = [
        "energy $E$",
        *(rf"$\omega_{a + 1}$" if count > 1 else r"$\omega$" for a in range(count)),
    ]
    for ax, name, value in zip(picture.axes, names, [E0] + [0.0] * count, strict=True):
        ax.set_ylabel(name)
        exact = _exact(ax, value)
        ax.ticklabel_format(axis="y", scilimits=(-2, 3), useOffset=False)
    picture.axes[-1].set_xlabel("time $t$")
    lines = [[picture.line(ax=ax, label=plot.label(m), **plot.look(m)) for ax in picture.axes]
             for m in methods]  # fmt: skip
    picture.ax.legend(handles=[*(row[0] for row in lines), exact], ncols=3, **ABOVE)
    shown = []

    def update(picture, values, quick):
        steps = round(T / values["h"])
        steps = min(steps, 400) if quick else steps
        text, curves = {}, []
        for m, row in zip(methods, lines, strict=True):
            sol = integrate(system, m, h=values["h"], steps=steps)
            E, r = sol.energy(), sol.constraint()
            if m.discrete and values["energy"] == "midpoints":
                E = sol.energy("midpoints")
            if m.discrete and values["constraint"] == "each step":
                r = sol.constraint("midpoints")
            curves.append([E, *r.T])
            for line, y in zip(row, curves[-1], strict=True):
                line.set_data(sol.t[-len(y) :], y)
            name = plot.label(m)
            text[f"{name}: energy in"] = f"[{E.min():.4f}, {E.max():.4f}]"
            text[f"{name}: constraint"] = f"{np.abs(r).max():.1e}"
        grow = quick and shown == [values["energy"], values["constraint"]]
        shown[:] = values["energy"], values["constraint"]
        for k, ax in enumerate(picture.axes):
            middle = [E0] if k == 0 else [0.0]
            ys = np.concatenate([c[k] for c in curves] + [middle])
            picture.fit(ax, [0, T], ys, grow)
        return text

    return panel(picture, update, h=h, energy=list(energy), constraint=["each step", "nodes"],
                 alt=f"Energy and constraints of the {system.name} by DLA and RK4 over time.",
                 caption="The two drop-down lists choose where DLA is read: its energy from the "
                         "momenta at the nodes or from each step, its constraint from each step "
                         "or from the momenta at the nodes. RK4 is read at the nodes.")  # fmt: skip


def order_panel(system, T=2.0, hs=(0.2, 0.1, 0.05, 0.025), h=0.1, long=50.0):
    """Errors at time T against h, and the energy of a longer run, for any alpha and either rule."""
    truth = integrate(system, Reference(), h=T, steps=1).q[-1]
    E0 = float(system.energy(np.array(system.q0, float), np.array(system.v0, float)))
    hs = np.array(hs)
    picture = _picture((8.6, 4.0), columns=2, left=0.1, wspace=0.28)
    left, right = picture.axes
    left.set(xscale="log", yscale="log", xlabel="step size $h$", ylabel=f"error at $t={T:g}$",
             ylim=(5e-5, 0.3), xticks=hs, xticklabels=[f"{x:g}" for x in hs])  # fmt: skip
    left.minorticks_off()
    for slope, style in ((1, "--"), (2, ":")):
        left.plot(hs, 0.05 * (hs / hs[0]) ** slope, color="#777777", linestyle=style,
                  label=f"slope {slope}")  # fmt: skip
    errors = picture.line(ax=left, marker="o", label="DLA", **plot.look(DLA()))
    left.legend(ncols=3, **ABOVE)
    right.set(xlabel="time $t$", ylabel=f"energy $E$, $h={h:g}$")
    _exact(right, E0)
    right.legend(**ABOVE)
    energy = picture.line(ax=right, **plot.look(DLA()))

    def update(picture, values, quick):
        m = DLA(round(values["alpha"], 2), values["rule"] == "symmetric rule")
        ends = [integrate(system, m, h=x, steps=round(T / x)).q[-1] for x in hs]
        size = np.abs(np.array(ends) - truth).max(1)
        errors.set_data(hs, size)
        sol = integrate(system, m, h=h, steps=round(long / h))
        E = sol.energy()
        energy.set_data(sol.t, E)
        picture.fit(right, [0, long], [*E, E0], quick)
        slope = np.polyfit(np.log(hs), np.log(size), 1)[0]
        return {"slope": f"{slope:.2f}", "energy at the end": f"{E[-1]:.3f}",
                "energy in": f"[{E.min():.3f}, {E.max():.3f}]"}  # fmt: skip

    return panel(picture, update, alpha=(0.0, 1.0, 0.3, 0.01),
                 rule=["alpha rule", "symmetric rule"],
                 alt="Left: errors of DLA against h. Right: its energy over time.",
                 caption="Left: the error for four step sizes, with slopes 1 and 2 to compare. "
                         "Right: the energy at the nodes.")  # fmt: skip


def pivots(sol):
    """What matrix (7) of the particle is singular with: 1 + y_k y_(k+1/2) / (1 + h^2/2)."""
    y, h = sol.q[:-1, 1], sol.h
    return 1 + y * (y + h / 2 * sol.v_step[:, 1]) / (1 + h**2 / 2)


def regularity_panel(particle, h=(0.1, 0.5, 0.2, 0.01), y=(1.0, 8.0, 1.2, 0.1), T=60.0):
    """The determinant of matrix (7), scaled, and the energy along a run that starts at height y."""
    method = DLA()
    picture = _picture((7.6, 5.0), 2, top=0.96)
    upper, lower = picture.axes
    upper.set_ylabel("determinant of (7),\nscaled")
    upper.axhline(0, color=DARK, linewidth=1)
    lower.set(xlabel="time $t$", ylabel=r"$\log_{10}(E_d / E_d(0))$")
    dets = picture.line(ax=upper, marker=".", markersize=4, **plot.look(method))
    energy = picture.line(ax=lower, **plot.look(method))

    def update(picture, values, quick):
        start = [0, values["y"], 0], [1, 0, values["y"]]
        steps, text = round(T / values["h"]), {}
        try:
            with warnings.catch_warnings():  # that the energy grows is the lesson
                warnings.simplefilter("ignore")
                sol = integrate(particle, method, *start, h=values["h"], steps=steps)
        except IntegrationError as error:
            sol, text["error"] = error.trajectory, str(error)
        det, E = pivots(sol), sol.energy("midpoints")
        growth = np.log10(E / E[0])
        dets.set_data(sol.t[:-1], det)
        energy.set_data(sol.t[1:], growth)
        picture.fit(upper, [0, T], [0, *det], quick)
        picture.fit(lower, [0, T], [-0.2, 0.2, *growth], quick)
        return text | {"smallest determinant": f"{det.min():.3f}",
                       "energy grows by": f"{(E / E[0]).max():.3g}"}  # fmt: skip

    return panel(picture, update, h=h, y=y,
                 alt="The scaled determinant of matrix (7) at each step, and the energy below it.",
                 caption="The particle starts at (0, y, 0) with velocity (1, 0, y). Above: the "
                         "determinant of (7), scaled so that it tends to 1 + y² as h goes to 0. "
                         "Below: powers of ten of the discrete energy.")  # fmt: skip


def drift_panel(system, h=(0.1, 0.4, 0.2, 0.01), eps=(0.0, 0.3, 0.2, 0.01), T=400.0, window=20.0):
    """The discrete energy averaged over a window of time, for DLA and the projector method."""
    methods = DLA(), Projector()
    picture = _picture((7.2, 3.9), left=0.16)
    ax = picture.ax
    ax.set(xlabel="time $t$", ylabel="averaged $E_d$, change")
    lines = [picture.line(label=plot.label(m), **plot.look(m)) for m in methods]
    ax.legend(lines, [plot.label(m) for m in methods], ncols=2, **ABOVE)

    def update(picture, values, quick):
        s, step = system.set(eps=values["eps"]), values["h"]
        text, ys = {}, [-1e-3, 1e-3]
        for m, line in zip(methods, lines, strict=True):
            sol = integrate(s, m, h=step, steps=round(T / step / (4 if quick else 1)))
            E, width = sol.energy("midpoints"), round(window / step)
            hill = np.hanning(width + 2)
            mean = np.convolve(E, hill / hill.sum(), "valid")
            line.set_data(sol.t[-len(mean) :] - window / 2, mean - mean[0])
            ys += [*(mean - mean[0])]
            text[f"{plot.label(m)}: slope"] = f"{drift(sol.t[1:], E)[0]:.1e}"
        picture.fit(ax, [0, T], ys, quick)
        return text

    return panel(picture, update, h=h, eps=eps,
                 alt="The averaged discrete energy of DLA falls, that of the projector does not.",
                 caption=f"The discrete energy averaged over a window of {window:g}, so that "
                         "its oscillation does not hide the drift.")  # fmt: skip
