"""Every figure of the papers, drawn again from computed runs: ``python3 -m nhlab figures``.

``PLATES`` has a definition for each. Called, it gives a ``Plate``: the figure, the numbers behind
it, what was chosen where the paper leaves it open, and whether the paper's claim is borne out.
"""

from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ..mechanics import catalogue as systems
from ..methods import DLA, RK4, Projector, Reference
from ..run.loop import integrate
from ..view import plot
from ..view.bodies import body
from .kit import arc

FOLDER = Path(__file__).resolve().parents[2] / "figures"
# One figure; the data map column names to equally long arrays.
Plate = namedtuple("Plate", "title figure data caption verdict")


CM01 = {"RK4": RK4(), "DLA": DLA(), "reference": Reference()}  # column of the data -> method
LEGEND = {"RK4": "Runge-Kutta", "reference": "benchmark"}
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 3}


@dataclass(frozen=True)
class Curves:
    """Runs over time, a curve for each method and an axis for each y label.

    DLA is read ``at`` the nodes, or at the "midpoints" as the discrete quantity of each step; then
    the others begin after the first step. The verdict has places for numbers, as {DLA.high:.4f}.
    """

    title: str
    caption: str
    verdict: str
    run: dict  # for integrate
    reading: str = "energy"
    at: str = "nodes"
    ylabels: dict = field(default_factory=lambda: {"": "energy $E$"})  # by end of column name
    methods: dict = field(default_factory=lambda: CM01)
    ylim: tuple = ()

    def __call__(self):
        fig, axes = plot.new(len(self.ylabels), size=(7.2, 3.8 if len(self.ylabels) == 1 else 5.2))
        data, found = {}, {}
        for name, method in self.methods.items():
            sol = integrate(method=method, progress=False, **self.run)
            read = getattr(sol, self.reading)
            y = read(self.at) if name == "DLA" else read()[self.at == "midpoints" :]
            data["t"], found[name] = sol.t[-len(y) :], numbers(y, read())
            columns = y.reshape(len(y), -1).T
            for ax, part, column in zip(fig.axes, self.ylabels, columns, strict=True):
                ax.plot(data["t"], column, label=LEGEND.get(name, name), **plot.look(method))
                data[name + part] = column
        for ax, text in zip(fig.axes, self.ylabels.values(), strict=True):
            ax.set(ylabel=text, xlim=(0, sol.t[-1]))
        if self.ylim:
            ax.set_ylim(*self.ylim)
        ax.set_xlabel("time $t$")
        fig.axes[0].legend(frameon=False, **(ABOVE if self.methods is CM01 else {"loc": "best"}))
        return Plate(self.title, fig, data, self.caption, self.verdict.format(**found))


def numbers(y, nodes):
    """What a verdict may say of a curve, and of the same quantity at the nodes."""
    own = {"low": y.min(), "high": y.max(), "spread": np.ptp(y), "size": np.abs(y).max()}
    return SimpleNamespace(**own, start=nodes[0], end=y[-1], at_nodes=np.abs(nodes).max())


def free_particle(title, text, q0, v0, h, steps):
    """FIM08 Figure 2, which journal and preprint show differently."""
    return Curves(
        title,
        f"{text} prints no data. Chosen here: q0 = {q0}, v0 = {v0}, h = {h:g}, {steps} steps; DLA with the midpoint rule.",
        "Claim: the projector method keeps the energy, DLA does not. Borne out: the spread is {Projector.spread:.0e} against {DLA.spread:.1e}.",
        {"system": systems.free_particle(), "q0": q0, "v0": v0, "h": h, "steps": steps},
        methods={"Projector": Projector(), "DLA": DLA()},
    )


def fim08_fig5():
    s, start, v0 = systems.sleigh(), [0, 0, 0], [-0.2399785, 0.0, 0.05755261]
    true = integrate(s, Reference(), start, v0, h=1.0, steps=60).q
    methods = {
        "projector": Projector(),
        "DLA": DLA(),
        "DLA, constraint at the left point": DLA(constraint_alpha=0.0),
    }
    runs = {k: integrate(s, m, start, q1=true[1], h=1.0, steps=60) for k, m in methods.items()}
    errors = {k: np.linalg.norm(sol.q - true, axis=1) for k, sol in runs.items()}
    fig, ax = plot.new(size=(7.2, 3.8))
    for name in ("DLA", "projector"):
        ax.plot(errors[name], label=name, **plot.look(methods[name]))
    ax.set(xlabel="step $k$", ylabel="error in $\\mathbb{R}^3$", xlim=(0, 60))
    ax.legend(loc="upper left", frameon=False)
    x, y, theta = true[1]
    projector, dla, left = (e[-1] for e in errors.values())
    return Plate(
        "FIM08 Figure 5: errors on the Chaplygin sleigh",
        fig,
        {"k": np.arange(61), **errors},
        f"m = I = 1, a = 0.2, q0 = 0. The exact flow with forward speed -0.2399785 and turn rate 0.05755261 reaches q1 = ({x:.4f}, {y:.4f}, "
        f"{theta:.4f}) at t = 1, the printed point; h = 1 (time scales out), 60 steps.",
        "Claim: the two errors are similar, and DLA with the constraint at the left point is one to two orders worse. Borne out at step 60: "
        f"projector {projector:.2e}, DLA {dla:.2e}, left point {left:.2f}.",
    )


def fim08_fig1():
    s, v0 = systems.sleigh(a=0.0), [np.cos(0.2), np.sin(0.2), 0.9]
    sol = integrate(s, Projector(), q0=[0, 0, 0.2], v0=v0, h=0.8, steps=3)
    q, arriving, leaving = sol.q[1:3], sol.p[1:3], sol.p_minus[1:3]
    fig, ax = plot.new(size=(7.2, 4.2))
    for k, (x, y, theta) in enumerate(q):
        along = 0.75 * np.array([np.cos(theta), np.sin(theta)])
        momenta = ("arriving $p^+$", arriving, "#0072B2"), ("leaving $p^-$", leaving, "#D55E00")
        line = np.array([[x, y] - along, [x, y] + along])
        ax.plot(*line.T, color="#777777", linestyle=":", label=None if k else "momenta of D")
        for text, p, colour in momenta:
            arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2}
            ax.annotate("", (x + 0.7 * p[k, 0], y + 0.7 * p[k, 1]), (x, y), arrowprops=arrow)
            ax.plot([], [], color=colour, label=None if k else text)
    ax.plot(*sol.q[:, :2].T, "o", color="#333333")
    for k, node in enumerate(sol.q):
        ax.annotate(f"$g_{k}$", node[:2], xytext=(4, -16), textcoords="offset points")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="$x$", ylabel="$y$")
    ax.legend(loc="upper left", frameon=False)
    names = ("k", "x", "y", "theta", "p_plus x", "p_plus y", "p_minus x", "p_minus y")
    columns = (np.array([1, 2]), *q.T, *arriving.T[:2], *leaving.T[:2])
    mean = zip(q, arriving + leaving, strict=True)
    miss = max(abs(np.dot(s.A(x)[0], np.linalg.solve(s.M(x), p))) for x, p in mean)
    return Plate(
        "FIM08 Figure 1: the momentum is reflected at each node",
        fig,
        dict(zip(names, columns, strict=True)),
        "The paper's figure is a sketch; this one is computed: a skate (sleigh with a = 0, m = I = 1), h = 0.8, four nodes.",
        f"Claim: arriving and leaving momentum are mirror images, so that their mean satisfies the constraint. Borne out to {miss:.0e}.",
    )


def portrait(system, q, size, guides, arcs):
    """A body with its angles, and the table of its outline.

    Guides are lines (from, to, style), arcs (x, y, radius, start, end, name) of an angle.
    """
    fig, ax = plot.new(size=(5.2, 4.2))
    parts = body(system).parts(q)
    for points in parts:
        ax.plot(*points.T, color="#333333", linewidth=2)
    ax.set_aspect("equal")
    ax.set(xlim=(-size, size), ylim=(-0.8 * size, 0.8 * size))
    ax.set_axis_off()
    for start, end, style in guides:
        ax.plot(*np.array([start, end]).T, color="#999999", **style)
    for x, y, radius, start, end, text in arcs:
        arc(ax, (x, y), radius, (start, end), text, 0.14, "#555555", fontsize=15)
    part = np.concatenate([np.full(len(p), k) for k, p in enumerate(parts)])
    x, y = np.concatenate(parts)[:, :2].T
    return fig, ax, {"part": part, "x": x, "y": y}


DASHED = {"linestyle": "--", "linewidth": 1}


def fim08_fig3():
    theta, psi, phi = 0.35, 0.9, 0.5
    axle = x, y = np.array([np.cos(theta), np.sin(theta)])
    # the board's line beyond the axles, from which phi is measured
    beyond = [(end * axle, 1.7 * end * axle, {"linestyle": ":"}) for end in (-1, 1)]
    arcs = [
        (0, 0, 0.42, 0.0, theta, r"$\theta$"),
        (0, 0, 0.6, theta, theta + psi, r"$\psi$"),
        (x, y, 0.5, theta - phi, theta, r"$\phi$"),
        (-x, -y, 0.5, np.pi + theta, np.pi + theta + phi, r"$\phi$"),
    ]
    guides = [([-1.9, 0], [1.9, 0], DASHED), *beyond]
    q = np.array([0, 0, theta, psi, phi])
    fig, ax, outline = portrait(systems.snakeboard(), q, 1.9, guides, arcs)
    ax.annotate("$r$", (-0.55 * x, -0.55 * y + 0.12), fontsize=15)
    return Plate(
        "FIM08 Figure 3: the snakeboard",
        fig,
        outline,
        "All angles positive: theta = 0.35, psi = 0.9, phi = 0.5; the dashed line is the x-axis, phi is measured from the board.",
        "A drawing, no claim: it fixes the journal's convention for phi.",
    )


def fim08_fig4():
    guides = [([0, 0], [1, 0], DASHED), ([0, 0], [np.cos(0.5), np.sin(0.5)], DASHED)]
    arcs = [(0, 0, 0.85, 0.0, 0.5, r"$\theta$")]
    q = np.array([0, 0, 0.5])
    fig, ax, outline = portrait(systems.sleigh(a=0.45), q, 1.1, guides, arcs)
    ax.annotate("$(x, y)$", (0, 0), (0.1, -0.5), fontsize=15, arrowprops={"arrowstyle": "-"})
    ax.annotate("$a$", (0.1, 0.19), fontsize=15)
    return Plate(
        "FIM08 Figure 4: the Chaplygin sleigh",
        fig,
        outline,
        "theta = 0.5; the blade touches the plane at (x, y), the dot is the centre of mass at the distance a (drawn 0.45).",
        "A drawing, no claim.",
    )


PARTICLE = {"system": systems.particle(), "h": 0.2, "steps": 1250}
ROBOT = {"system": systems.robot(), "h": 0.2, "steps": 250}
PLATES = {
    "cm01_fig1": Curves(
        "CM01 Figure 1: energy of the nonholonomic particle",
        "V = x² + y², h = 0.2, alpha = 1/2, to t = 250. Left open by the paper and chosen here: the start q0 = (0, 1, 0), v0 = (1, 1, 1), and "
        "the reading, energy of the evolved momenta at the nodes.",
        "Claim: DLA's energy fluctuates in a band while Runge-Kutta's falls. Borne out: DLA stays in [{DLA.low:.4f}, {DLA.high:.4f}], "
        "Runge-Kutta ends at {RK4.end:.4f}; at h below about 0.15 the order of the two turns round.",
        PARTICLE,
        ylim=(2.475, 2.53),
    ),
    "cm01_fig2": Curves(
        "CM01 Figure 2: the constraint of the nonholonomic particle",
        "The runs of Figure 1. DLA: the discrete constraint wd of each step; the others: A(q) v at the nodes.",
        "Claim: DLA and the benchmark cannot be told apart, Runge-Kutta violates the constraint. Borne out: {DLA.size:.0e} and "
        "{reference.size:.0e} against {RK4.size:.1e}. DLA's evolved momenta at the nodes, another reading, miss it by {DLA.at_nodes:.2f}.",
        PARTICLE,
        "constraint",
        "midpoints",
        {"": "constraint $\\dot z - y\\dot x$"},
    ),
    "cm01_fig3": Curves(
        "CM01 Figure 3: energy of the mobile robot",
        "V = 10 sin psi, h = 0.2. Left open and chosen here: m = I = Iw = R = 1, q0 = 0, v0 = (2, 0, 1, 2), to t = 50, and for DLA the "
        "discrete energy of each step.",
        "Claim: DLA's energy behaves well. Borne out: it stays in [{DLA.low:.4f}, {DLA.high:.4f}]; Runge-Kutta ends at {RK4.end:.4f}, "
        "starting from {RK4.start:.4f}, and goes on changing in the same direction.",
        ROBOT,
        at="midpoints",
    ),
    "cm01_fig4": Curves(
        "CM01 Figure 4: the two constraints of the mobile robot",
        "The runs of Figure 3.",
        "Claim: DLA and the benchmark cannot be told apart. Borne out: {DLA.size:.0e} and {reference.size:.0e}, Runge-Kutta {RK4.size:.1e}.",
        ROBOT,
        "constraint",
        "midpoints",
        {" omega1": "$\\omega_1$", " omega2": "$\\omega_2$"},
    ),
    "fim08_fig1": fim08_fig1,
    "fim08_fig2": free_particle(
        "FIM08 Figure 2: energy of the free particle (journal text)",
        "The journal text",
        *((0, 1, 0), (1, -1, 1), 0.1, 100),
    ),
    "fim08_fig2_preprint": free_particle(
        "FIM08 preprint Figure 1: energy of the free particle",
        "The preprint",
        *((0, 2, 0), (0.5, -0.5, 1), 0.4, 40),
    ),
    "fim08_fig3": fim08_fig3,
    "fim08_fig4": fim08_fig4,
    "fim08_fig5": fim08_fig5,
}


def main():
    """Write PNG, SVG and CSV of every figure, and the gallery page."""
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    FOLDER.mkdir(exist_ok=True)
    page = "# The papers' figures, computed again\n\nMade by `python3 -m nhlab figures`. "
    page += "CM01, FIM08: see [the citations](../README.md#citing).\n"
    for name, made in PLATES.items():
        p = made()
        with plt.rc_context(plot.STYLE):
            p.figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
            p.figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(p.figure)
        # twelve digits: enough for a figure, and the same on every machine
        written = {"index": False, "float_format": "%.12g", "lineterminator": "\n"}
        pd.DataFrame(p.data).to_csv(FOLDER / f"{name}.csv", **written)
        page += f"\n## {p.title}\n\n![{p.title}]({name}.png)\n\n{p.caption}\n\n**{p.verdict}**\n"
        page += f"\n[SVG]({name}.svg) · [data]({name}.csv)\n"
        print(f"figures/{name}", flush=True)
    (FOLDER / "README.md").write_text(page)
    return 0
