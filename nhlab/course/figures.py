"""Every figure of the papers, drawn again from computed runs: ``python3 -m nhlab figures``.

Each function returns a ``Plate``: the figure, the numbers behind it, what was chosen where the
paper leaves it open, and whether the paper's claim is borne out.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4, Projector, Reference
from ..run.loop import integrate
from ..view import plot
from ..view.bodies import body

FOLDER = Path(__file__).resolve().parents[2] / "figures"
PLATES = {}


@dataclass
class Plate:
    """One figure: ``data`` maps column names to equally long arrays."""

    title: str
    figure: object
    data: dict
    caption: str
    verdict: str


def plate(function):
    """Register a figure under its function's name, which is also its file name."""
    PLATES[function.__name__] = function
    return function


def _three(system, h, steps):
    runs = [integrate(system, m, h=h, steps=steps, progress=False) for m in (RK4(), DLA())]
    fine = integrate(system, Reference(), h=h, steps=steps, progress=False)
    return [*runs, fine]


def _draw(sols, values, ylabel, size=(7.2, 3.8), labels=None):
    fig, ax = plot.new(size=size)
    labels = labels or [plot.label(s.method) for s in sols]
    for sol, y, text in zip(sols, values, labels, strict=True):
        ax.plot(sol.t[-len(y) :], y, label=text, **plot.look(sol.method))
    ax.set_xlabel("time $t$")
    ax.set_ylabel(ylabel)
    ax.set_xlim(0, sols[0].t[-1])
    return fig, ax


def _legend(ax):
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)


def _table(sols, values, names):
    return {"t": sols[0].t[-len(values[0]) :], **dict(zip(names, values, strict=True))}


# ---------------------------------------------------------------------------- CM01


@plate
def cm01_fig1():
    sols = _three(systems.particle(), 0.2, 1250)
    E = [s.energy() for s in sols]
    fig, ax = _draw(sols, E, "energy $E$", labels=["Runge-Kutta", "DLA", "benchmark"])
    ax.set_ylim(2.475, 2.53)
    _legend(ax)
    low, high, end = E[1].min(), E[1].max(), E[0][-1]
    return Plate(
        "CM01 Figure 1: energy of the nonholonomic particle", fig, _table(sols, E, ["RK4", "DLA", "reference"]),
        "V = x² + y², h = 0.2, alpha = 1/2, to t = 250. Left open by the paper and chosen here: the start "
        "q0 = (0, 1, 0), v0 = (1, 1, 1), and the reading, energy of the evolved momenta at the nodes.",
        f"Claim: DLA's energy fluctuates in a band while Runge-Kutta's falls. Borne out: DLA stays in "
        f"[{low:.4f}, {high:.4f}], Runge-Kutta ends at {end:.4f}; at h below about 0.15 the order of the two turns round.",
    )  # fmt: skip


@plate
def cm01_fig2():
    sols = _three(systems.particle(), 0.2, 1250)
    r = [sols[0].constraint()[1:, 0], sols[1].constraint("midpoints")[:, 0],
         sols[2].constraint()[1:, 0]]  # fmt: skip
    fig, ax = _draw(
        sols, r, "constraint $\\dot z - y\\dot x$", labels=["Runge-Kutta", "DLA", "benchmark"]
    )
    _legend(ax)
    return Plate(
        "CM01 Figure 2: the constraint of the nonholonomic particle", fig, _table(sols, r, ["RK4", "DLA", "reference"]),
        "The runs of Figure 1. DLA: the discrete constraint wd of each step; the others: A(q) v at the nodes.",
        f"Claim: DLA and the benchmark cannot be told apart, Runge-Kutta violates the constraint. Borne out: "
        f"{np.abs(r[1]).max():.0e} and {np.abs(r[2]).max():.0e} against {np.abs(r[0]).max():.1e}. DLA's evolved momenta at the "
        f"nodes, another reading, miss it by {np.abs(sols[1].constraint()).max():.2f}.",
    )  # fmt: skip


@plate
def cm01_fig3():
    sols = _three(systems.robot(), 0.2, 250)
    E = [sols[0].energy()[1:], sols[1].energy("midpoints"), sols[2].energy()[1:]]
    fig, ax = _draw(sols, E, "energy $E$", labels=["Runge-Kutta", "DLA", "benchmark"])
    _legend(ax)
    return Plate(
        "CM01 Figure 3: energy of the mobile robot", fig, _table(sols, E, ["RK4", "DLA", "reference"]),
        "V = 10 sin psi, h = 0.2. Left open and chosen here: m = I = Iw = R = 1, q0 = 0, v0 = (2, 0, 1, 2), to t = 50, "
        "and for DLA the discrete energy of each step.",
        f"Claim: DLA's energy behaves well. Borne out: it stays in [{E[1].min():.4f}, {E[1].max():.4f}]; Runge-Kutta "
        f"ends at {E[0][-1]:.4f}, starting from {sols[0].energy()[0]:.4f}, and goes on changing in the same direction.",
    )  # fmt: skip


@plate
def cm01_fig4():
    sols = _three(systems.robot(), 0.2, 250)
    r = [sols[0].constraint()[1:], sols[1].constraint("midpoints"), sols[2].constraint()[1:]]
    fig, axes = plot.new(2, 1, size=(7.2, 5.2))
    for a, ax in enumerate(axes):
        for sol, y, text in zip(sols, r, ["Runge-Kutta", "DLA", "benchmark"], strict=True):
            ax.plot(sol.t[1:], y[:, a], label=text, **plot.look(sol.method))
        ax.set_ylabel(f"$\\omega_{a + 1}$")
        ax.set_xlim(0, 50)
    _legend(axes[0])
    axes[1].set_xlabel("time $t$")
    names = [f"{n} omega{a + 1}" for n in ("RK4", "DLA", "reference") for a in (0, 1)]
    columns = [y[:, a] for y in r for a in (0, 1)]
    return Plate(
        "CM01 Figure 4: the two constraints of the mobile robot", fig, _table(sols, columns, names),
        "The runs of Figure 3.",
        f"Claim: DLA and the benchmark cannot be told apart. Borne out: {np.abs(r[1]).max():.0e} and "
        f"{np.abs(r[2]).max():.0e}, Runge-Kutta {np.abs(r[0]).max():.1e}.",
    )  # fmt: skip


# ---------------------------------------------------------------------------- FIM08


@plate
def fim08_fig1():
    s = systems.sleigh(a=0.0)
    sol = integrate(
        s, Projector(), q0=[0, 0, 0.2], v0=[np.cos(0.2), np.sin(0.2), 0.9], h=0.8, steps=3
    )
    fig, ax = plot.new(size=(7.2, 4.2))
    rows = {
        k: [] for k in ("k", "x", "y", "theta", "p_plus x", "p_plus y", "p_minus x", "p_minus y")
    }
    for k in (1, 2):
        (x, y, theta), arriving, leaving = sol.q[k], sol.p[k], sol.p_minus[k]
        along = 0.75 * np.array([np.cos(theta), np.sin(theta)])
        ax.plot(*np.array([[x, y] - along, [x, y] + along]).T, color="#777777", linestyle=":",
                label="momenta of D" if k == 1 else None)  # fmt: skip
        for p, colour, text in (
            (arriving, "#0072B2", "arriving $p^+$"),
            (leaving, "#D55E00", "leaving $p^-$"),
        ):
            ax.annotate(
                "",
                (x + 0.7 * p[0], y + 0.7 * p[1]),
                (x, y),
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2},
            )
            ax.plot([], [], color=colour, label=text if k == 1 else None)
        for name, value in zip(rows, (k, x, y, theta, *arriving[:2], *leaving[:2]), strict=True):
            rows[name].append(value)
    ax.plot(*sol.q[:, :2].T, "o", color="#333333")
    for k, q in enumerate(sol.q):
        ax.annotate(f"$g_{k}$", q[:2], xytext=(4, -16), textcoords="offset points")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("$x$")
    ax.set_ylabel("$y$")
    ax.legend(loc="upper left", frameon=False)
    miss = max(abs(np.dot(s.A(q)[0], np.linalg.solve(s.M(q), a + b)))
               for q, a, b in zip(sol.q[1:3], sol.p[1:3], sol.p_minus[1:3], strict=True))  # fmt: skip
    return Plate(
        "FIM08 Figure 1: the momentum is reflected at each node", fig, {k: np.array(v) for k, v in rows.items()},
        "The paper's figure is a sketch; this one is computed: a skate (sleigh with a = 0, m = I = 1), h = 0.8, four nodes.",
        f"Claim: arriving and leaving momentum are mirror images, so that their mean satisfies the constraint. Borne out to {miss:.0e}.",
    )  # fmt: skip


def _free_particle_energy(q0, v0, h, steps, title, where):
    s = systems.free_particle()
    sols = [integrate(s, m, q0, v0, h=h, steps=steps) for m in (Projector(), DLA())]
    E = [sol.energy() for sol in sols]
    fig, ax = _draw(sols, E, "energy $E$")
    ax.legend(loc="best", frameon=False)
    return Plate(
        title, fig, _table(sols, E, ["Projector", "DLA"]),
        f"{where} prints no data. Chosen here: q0 = {tuple(q0)}, v0 = {tuple(v0)}, h = {h:g}, {steps} steps; DLA with the midpoint rule.",
        f"Claim: the projector method keeps the energy, DLA does not. Borne out: the spread is {np.ptp(E[0]):.0e} against {np.ptp(E[1]):.1e}.",
    )  # fmt: skip


@plate
def fim08_fig2():
    return _free_particle_energy(
        [0, 1, 0],
        [1, -1, 1],
        0.1,
        100,
        "FIM08 Figure 2: energy of the free particle (journal text)",
        "The journal text",
    )


@plate
def fim08_fig2_preprint():
    return _free_particle_energy(
        [0, 2, 0],
        [0.5, -0.5, 1],
        0.4,
        40,
        "FIM08 preprint Figure 1: energy of the free particle",
        "The preprint",
    )


@plate
def fim08_fig3():
    s = systems.snakeboard()
    q = np.array([0, 0, 0.35, 0.9, 0.5])
    fig, ax = _portrait(s, q)
    ax.plot([-1.9, 1.9], [0, 0], color="#999999", linestyle="--", linewidth=1)
    theta, psi, phi = q[2:]
    x, y = np.cos(theta), np.sin(theta)
    for end in (-1, 1):  # the board's line beyond the axles, from which phi is measured
        ax.plot(
            *np.array([[end * x, end * y], [1.7 * end * x, 1.7 * end * y]]).T,
            color="#999999",
            linestyle=":",
        )
    _arc(ax, 0, 0, 0.42, 0.0, theta, r"$\theta$")
    _arc(ax, 0, 0, 0.6, theta, theta + psi, r"$\psi$")
    _arc(ax, x, y, 0.5, theta - phi, theta, r"$\phi$")
    _arc(ax, -x, -y, 0.5, np.pi + theta, np.pi + theta + phi, r"$\phi$")
    ax.annotate("$r$", (-0.55 * x, -0.55 * y + 0.12), fontsize=15)
    return Plate("FIM08 Figure 3: the snakeboard", fig, _outline(s, q),
                 "All angles positive: theta = 0.35, psi = 0.9, phi = 0.5; the dashed line is the x-axis, phi is measured from the board.",
                 "A drawing, no claim: it fixes the journal's convention for phi.")  # fmt: skip


@plate
def fim08_fig4():
    s = systems.sleigh(a=0.45)
    q = np.array([0, 0, 0.5])
    fig, ax = _portrait(s, q, 1.1)
    ax.plot([0, 1], [0, 0], color="#999999", linestyle="--", linewidth=1)
    ax.plot([0, np.cos(0.5)], [0, np.sin(0.5)], color="#999999", linestyle="--", linewidth=1)
    _arc(ax, 0, 0, 0.85, 0.0, 0.5, r"$\theta$")
    ax.annotate("$(x, y)$", (0, 0), (0.1, -0.5), fontsize=15, arrowprops={"arrowstyle": "-"})
    ax.annotate("$a$", (0.1, 0.19), fontsize=15)
    return Plate("FIM08 Figure 4: the Chaplygin sleigh", fig, _outline(s, q),
                 "theta = 0.5; the blade touches the plane at (x, y), the dot is the centre of mass at the distance a (drawn 0.45).",
                 "A drawing, no claim.")  # fmt: skip


def _portrait(system, q, size=1.9):
    fig, ax = plot.new(size=(5.2, 4.2))
    for points in body(system).parts(q):
        ax.plot(*points.T, color="#333333", linewidth=2)
    ax.set_aspect("equal")
    ax.set_xlim(-size, size)
    ax.set_ylim(-0.8 * size, 0.8 * size)
    ax.set_axis_off()
    return fig, ax


def _arc(ax, x, y, radius, start, end, text):
    """An angle with its name."""
    a = np.linspace(start, end, 30)
    ax.plot(x + radius * np.cos(a), y + radius * np.sin(a), color="#555555", linewidth=1)
    middle = (start + end) / 2
    at = (x + (radius + 0.14) * np.cos(middle), y + (radius + 0.14) * np.sin(middle))
    ax.annotate(text, at, fontsize=15, ha="center", va="center")


def _outline(system, q):
    parts = body(system).parts(q)
    part = np.concatenate([np.full(len(p), k) for k, p in enumerate(parts)])
    return {"part": part, "x": np.concatenate(parts)[:, 0], "y": np.concatenate(parts)[:, 1]}


@plate
def fim08_fig5():
    s = systems.sleigh()
    v0 = [-0.2399785, 0.0, 0.05755261]
    true = integrate(s, Reference(), [0, 0, 0], v0, h=1.0, steps=60)
    methods = {
        "projector": Projector(),
        "DLA": DLA(),
        "DLA, constraint at the left point": DLA(constraint_alpha=0.0),
    }
    errors = {k: np.linalg.norm(integrate(s, m, [0, 0, 0], q1=true.q[1], h=1.0, steps=60).q - true.q, axis=1)
              for k, m in methods.items()}  # fmt: skip
    fig, ax = plot.new(size=(7.2, 3.8))
    for name in ("DLA", "projector"):
        ax.plot(errors[name], label=name, **plot.look(methods[name]))
    ax.set_xlabel("step $k$")
    ax.set_ylabel("error in $\\mathbb{R}^3$")
    ax.set_xlim(0, 60)
    ax.legend(loc="upper left", frameon=False)
    last = {k: e[-1] for k, e in errors.items()}
    return Plate(
        "FIM08 Figure 5: errors on the Chaplygin sleigh", fig, {"k": np.arange(61), **errors},
        f"m = I = 1, a = 0.2, q0 = 0. The exact flow with forward speed -0.2399785 and turn rate 0.05755261 reaches "
        f"q1 = ({true.q[1][0]:.4f}, {true.q[1][1]:.4f}, {true.q[1][2]:.4f}) at t = 1, the printed point; h = 1 (time scales out), 60 steps.",
        f"Claim: the two errors are similar, and DLA with the constraint at the left point is one to two orders worse. Borne out at step 60: "
        f"projector {last['projector']:.2e}, DLA {last['DLA']:.2e}, left point {last['DLA, constraint at the left point']:.2f}.",
    )  # fmt: skip


# ---------------------------------------------------------------------------- writing


def write_csv(path, data):
    """Columns with twelve digits: enough for a figure, and the same on every machine."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(data)
        out.writerows([f"{x:.12g}" for x in row] for row in zip(*data.values(), strict=True))


def main():
    """Write PNG, SVG and CSV of every figure, and the gallery page."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    FOLDER.mkdir(exist_ok=True)
    page = ["# The papers' figures, computed again", "",
            "Made by `python3 -m nhlab figures`. CM01, FIM08: see [the citations](../README.md#citing).", ""]  # fmt: skip
    for name, function in PLATES.items():
        p = function()
        with plt.rc_context(plot.STYLE):
            p.figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
            p.figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(p.figure)
        write_csv(FOLDER / f"{name}.csv", p.data)
        page += [f"## {p.title}", "", f"![{p.title}]({name}.png)", "", f"{p.caption}", "",
                 f"**{p.verdict}**", "", f"[SVG]({name}.svg) · [data]({name}.csv)", ""]  # fmt: skip
        print(f"figures/{name}", flush=True)
    (FOLDER / "README.md").write_text("\n".join(page))
    return 0
