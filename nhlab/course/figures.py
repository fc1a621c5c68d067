"""Every figure of the papers, drawn again from computed runs: ``python3 -m nhlab figures``.

``STATEMENTS`` says what each of them is.  ``PLATES[name]()`` gives the figure, the numbers behind
it, what was chosen where the paper leaves it open, and whether the paper's claim is borne out;
``paper_figure(name)`` gives the panel with sliders.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np

from ..mechanics import catalogue as systems
from ..mechanics.checks import one_of
from ..methods import DLA, RK4, Projector, Reference
from ..run.loop import integrate
from ..view import plot
from ..view.errors import distance
from ..view.offers import of_change, of_nodes
from ..view.panel import Panel
from ..view.setting import Setting
from ..view.sheet import FigurePanel
from .colours import DARK
from .kit import ahead
from .statements import Curves, Errors, Momenta, Portrait, Row, plate
from .tries import of_figure

FOLDER = Path(__file__).resolve().parents[2] / "figures"


# ---------------------------------------------------------------------------- CM01, section 6

CM01 = {"rk4": RK4(), "dla": DLA(), "reference": Reference()}
COLUMNS = {
    "rk4": ("RK4", "Runge-Kutta"),
    "dla": ("DLA", "DLA"),
    "reference": ("reference", "benchmark"),
}
NODES, STEPS = "all at the nodes", "DLA by steps, else at nodes"
ANY = {"alpha": (0, 1, 0.5), "rule": True}  # every rule of the methods
WHOLE = {"sliders": {"q0.x": (-1, 1), "q0.y": (0.5, 2), "v0.vx": (0.5, 1.5), "v0.vy": (-1.5, 1.5)}}
PARTICLE = Setting([systems.particle()], CM01, h=(0.05, 0.4, 0.2), T=(50, 500, 250), **ANY, **WHOLE)


def robot(**sliders):
    """The runs of the robot, with sliders for what changes the picture."""
    also = {"q0.psi": (-1.5, 1.5), "v0.vtheta": (0, 2), "v0.vpsi": (0.5, 3)}
    also |= {f"par.{k}": (0.5, 2) for k in ("m", "Iw", "R")} | {"par.k": (5, 15)}
    lengths = {"h": (0.02, 0.3, 0.2), "T": (20, 100, 50)}
    return Setting([systems.robot()], CM01, **lengths, **ANY, sliders=sliders | also)


def steady(y):
    """Do the two halves of a curve fill the same band, but for a tenth of it?"""
    first, second = np.array_split(y, 2)
    room = 0.1 * np.ptp(y)
    return abs(first.min() - second.min()) < room and abs(first.max() - second.max()) < room


def in_digits(size):
    """A size in two digits; those of rounding mean nothing."""
    return "below 1e-12" if size < 1e-12 else f"{size:.2g}"


def in_three_digits(size):
    """A size in three digits, as bars have them."""
    return "below 1e-12" if size < 1e-12 else f"{size:.3g}"


def both(name, a, other, b):
    """Two errors in digits that tell them apart, and the name of the method that is nearer."""
    if max(a, b) < 1e-12:
        return f"{name} and {other} below 1e-12, which is rounding"
    alike = f"{a:.3g}" == f"{b:.3g}"
    first, second = in_three_digits(a), in_three_digits(b)
    if alike:
        first, second = f"{a:.10g}", f"{b:.10g}"
    if first == second:
        return f"{name} and {other} {first}, no difference"
    nearer = name if a < b else other
    return f"{name} {first}, {other} {second} ({nearer} is nearer)"


def band(y):
    """What DLA's curve of energies does, in words."""
    if steady(y):
        return f"DLA stays in a band {np.ptp(y):.3g} wide"
    where = "below" if y[-1] < y[0] else "above"
    return f"DLA keeps to no band and ends {abs(y[-1] - y[0]):.3g} {where} where it begins"


def energy_errors(found):
    """The largest errors of DLA and Runge-Kutta in a picture of energies, in words."""
    dla, rk4, E = found["dla"].y, found["rk4"].y, found["dla"].true
    return (
        f"the largest errors are {both('DLA', distance(dla, E), 'Runge-Kutta', distance(rk4, E))}"
    )


def band_and_fall(found):
    dla, rk4 = found["dla"].y, found["rk4"].y
    falls = not steady(rk4) and rk4[-1] < rk4[0]
    fall = f"Runge-Kutta {'falls' if falls else 'does not fall steadily, but changes'}"
    fall = f"{fall} by {abs(rk4[-1] - rk4[0]):.3g}"
    return steady(dla) and falls, f"{band(dla)}, {fall}; {energy_errors(found)}"


def in_a_band(found):
    return steady(found["dla"].y), f"{band(found['dla'].y)}; {energy_errors(found)}"


def told_apart(found, violated):
    """DLA and the benchmark lie on the axis in a picture that shows Runge-Kutta's residual."""
    size = {k: np.abs(x.y).max() for k, x in found.items()}
    rk4 = size.pop("rk4")
    others = ", ".join(f"{COLUMNS[k][1]} {in_digits(x)}" for k, x in size.items())
    holds = max(size.values()) < max(rk4 / 100, 1e-9) and (rk4 > 1e-9 or not violated)
    return holds, f"the largest residuals are {others}, Runge-Kutta {in_digits(rk4)}"


def worst_energies(T, h):
    """The largest energy errors of DLA and of Runge-Kutta on the particle up to T."""
    run = {"h": h, "steps": round(T / h), "progress": False}
    E = [integrate(systems.particle(), m, **run).energy() for m in (DLA(), RK4())]
    return [np.abs(e - e[0]).max() for e in E]


def crossing(T, *hs):
    """The h at which the worst energy errors of DLA and RK4 on the particle agree."""
    gaps = [np.log(rk4 / dla) for dla, rk4 in (worst_energies(T, h) for h in hs)]
    return np.exp(np.interp(0, gaps, np.log(hs)))


def small_steps(found):
    T = PARTICLE.defaults["T"]
    h = crossing(T, 0.2, 0.22, 0.24)
    return f"; to t = {T:g} the largest error is DLA's below h = {h:.2f}, Runge-Kutta's above"


def at_the_nodes(found):
    miss = np.abs(found["dla"].sol.constraint()).max()
    return f"; DLA's evolved momenta at the nodes, another reading, miss it by {miss:.2f}"


ENERGIES = {
    NODES: [Row("energy $E$", "energy", "energy")],
    STEPS: [Row("energy $E_d$ or $E$", "midpoint energy", "energy")],
}
CHANGE, BY_STEPS, RELATIVE = "E - E(0) at the nodes", "E - E(0) by steps", "(E - E(0))/E(0)"
CHANGES = {NODES: of_change(CHANGE), STEPS: of_change(BY_STEPS)}
# DLA solves wd = 0 in every step, so that what is left of it is rounding, whatever alpha is.
KEPT = of_nodes(NODES, ["DLA"])
FROM_START = {
    CHANGE: [Row("$E - E(0)$", "energy error", "energy error")],
    BY_STEPS: [Row("$E_d$ or $E$, less the first", "midpoint energy error", "energy error")],
    RELATIVE: [Row("$(E - E(0))/|E(0)|$", *["relative energy error"] * 2)],
}


def constraints(*rows):
    """The views of constraints, with (label, end of the reading, end of the column) of each."""
    return {
        view: [
            Row(label, f"{own} constraint{k}", f"node constraint{k}", part)
            for label, k, part in rows
        ]
        for view, own in ((STEPS, "discrete"), (NODES, "node"))
    }


def free_particle(title, text, q0, v0, h, T):
    """FIM08 Figure 2; neither of its two texts prints the data, and we chose other ones for each."""
    methods = {"projector": Projector(), "dla": DLA(), "reference": Reference()}
    sliders = {"q0.y": (-1, 2), "v0.vx": (0.2, 1.5), "v0.vy": (-1.5, 1.5)}
    lengths = {"h": (0.02, 0.5, h), "T": (5, 40, T)}
    start = {"q0": q0, "v0": v0, "sliders": sliders}
    return Curves(
        title,
        "A particle without a potential that can move only so that dz/dt = y dx/dt. The true motion "
        f"keeps its energy: that is the benchmark; {text} prints no data.",
        f"Chosen here, for this plate alone: q0 = {q0}, v0 = {v0}, h = {h:g}, to t = {T:g}; the midpoint rule for DLA.",
        "the projector method keeps the energy, DLA does not.",
        Setting([systems.free_particle()], methods, **lengths, **ANY, **start),
        kept_by_one,
        views={
            "energy at the nodes": [Row("energy $E$", "energy", "energy")],
            "projected energy": [Row("energy of $P v$", "projected energy", "projected energy")],
            "energy of each step": [Row("energy $E_d$ or $E$", "midpoint energy", "energy")],
            CHANGE: [Row("$E - E(0)$", "energy error", "energy error")],
            RELATIVE: [
                Row("$(E - E(0))/|E(0)|$", "relative energy error", "relative energy error")
            ],
        },
        offers=dict.fromkeys(
            ("energy at the nodes", "projected energy", "energy of each step"), of_change(CHANGE)
        ),
        columns={"projector": ("Projector", "Projector")}
        | {k: COLUMNS[k] for k in ("dla", "reference")},
    )


def kept_by_one(found):
    projector, dla, E = found["projector"].y, found["dla"].y, found["dla"].true
    small = 1e-10 * (1 + np.abs(projector).max())
    spreads = f"{in_digits(np.ptp(projector))} with the projector method"
    spreads = f"{spreads}, {in_digits(np.ptp(dla))} with DLA"
    worst = both("projector", distance(projector, E), "DLA", distance(dla, E))
    end = both("projector", abs(projector[-1] - E), "DLA", abs(dla[-1] - E))
    text = f"the spread is {spreads}; the largest errors are {worst}, at the end {end}"
    return np.ptp(projector) < small < np.ptp(dla), text


# ---------------------------------------------------------------------------- FIM08, the others


def near(value, below, above):
    """The ends of a slider whose steps lead to a value of many digits: a browser moves others."""
    return value - below, value + above


def mean_in_D(found):
    arriving = np.abs(found["projector"].sol.constraint("nodes")).max(initial=0)
    miss = np.abs(found["projector"].sol.constraint("average")).max(initial=0)
    text = f"the largest miss of the constraint is {in_digits(arriving)} for arriving momenta"
    return miss < 1e-12, f"{text}, {in_digits(miss)} for their means with the leaving ones"


def similar(found):
    """Similar: within a factor of three; by one to two orders: within three of 10 to 100.

    The left point is judged where it is drawn.
    """
    projector, dla = found["projector"].y, found["dla"].y
    half, both_similar = len(dla) // 2, 1 / 3 < projector[-1] / dla[-1] < 3
    first = f"at step {half} {both('projector', projector[half], 'DLA', dla[half])}"
    text = f"errors {first}; at the end {both('projector', projector[-1], 'DLA', dla[-1])}"
    others = [x.y[-1] for k, x in found.items() if k == "left"]
    if not len(others):
        return both_similar, text
    times = others[0] / dla[-1]
    many = f"{times:.0f}" if times >= 1000 else f"{times:.3g}"
    text = f"{text}, left point {others[0]:.2g}, {many} times DLA's"
    return both_similar and 10 / 3 < times < 300, text


def sleigh_errors(method, true, h=1.0):
    """The distances of a method on the sleigh from nodes of the true motion, whose first two it is
    given."""
    start = {"q0": true[0], "q1": true[1], "h": h, "steps": len(true) - 1}
    sol = integrate(systems.sleigh(), method, **start, progress=False)
    return np.linalg.norm(sol.q - true, axis=1)


@cache
def sleigh_ratios(*steps, starts=25, seed=2008):
    """The projector method's error over DLA's after some numbers of steps, one row for each start.

    A start has the forward speed and the turn rate of the printed one, each times a factor drawn
    between 1/2 and 3/2: all of them are pushed backwards and go through a loop.
    """
    ratios, run = [], {"h": 1.0, "steps": max(steps), "progress": False}
    for factors in np.random.default_rng(seed).uniform(0.5, 1.5, (starts, 2)):
        v0 = PRINTED_START[0] * factors[0], 0.0, PRINTED_START[2] * factors[1]
        true = integrate(systems.sleigh(), Reference(), (0, 0, 0), v0, **run).q
        projector, dla = (sleigh_errors(m, true)[[*steps]] for m in (Projector(), DLA()))
        ratios.append(projector / dla)
    return np.array(ratios)


def other_starts(found):
    steps = 60, 105, 150
    ratios = sleigh_ratios(*steps)
    parts = zip(steps, np.median(ratios, 0), (ratios > 1).sum(0), strict=True)
    text = ", ".join(f"{x:.2g} after {k} steps ({n} above 1)" for k, x, n in parts)
    many = f"{len(ratios)} starts with 1/2 to 3/2 of the speed and turn rate"
    return f"; of {many}, the median of the projector's error over DLA's is {text}"


def snakeboard_angles(q, value):
    """The board's line beyond the axles, from which phi is measured, and the angles."""
    _, _, theta, psi, phi = q
    r = value["r"]
    front, back = (ahead((0, 0), theta, s * r) for s in (1, -1))
    lines = [([-1.9, 0], [1.9, 0], {"linestyle": "--"})]
    lines += [(end, 1.7 * end, {"linestyle": ":"}) for end in (back, front)]
    arcs = [
        ((0, 0), 0.42, (0.0, theta), r"$\theta$"),
        ((0, 0), 0.6, (theta, theta + psi), r"$\psi$"),
        (front, 0.5, (theta - phi, theta), r"$\phi$"),
        (back, 0.5, (np.pi + theta, np.pi + theta + phi), r"$\phi$"),
    ]
    return lines, arcs, [(*(0.55 * back + [0, 0.12]), "$r$")]


def sleigh_angles(q, value):
    theta, a = q[2], value["a"]
    lines = [([0, 0], end, {"linestyle": "--"}) for end in ([1, 0], ahead((0, 0), theta, 1))]
    lines.append(([0, 0], [0.17, -0.42], {"color": DARK}))
    arcs = [((0, 0), 0.68, (0.0, theta), r"$\theta$")]  # inside the picture for every theta
    # beside the middle of the line, between that and the outline, and beside a mass at (x, y)
    half = ahead((0, 0), theta, 0.12 + a / 4) + 0.08 * np.array([-np.sin(theta), np.cos(theta)])
    return lines, arcs, [(0.25, -0.5, "$(x, y)$"), (*half, "$a$")]


PRINTED_START = (-0.2399785, 0.0, 0.05755261)  # reaches FIM08's printed q1 at t = 1
CIRCLE = (-3.1, 3.1)
STATEMENTS = {
    "cm01_fig1": Curves(
        "CM01 Figure 1: energy of the nonholonomic particle",
        "A particle in the potential V = x² + y² that can move only so that dz/dt = y dx/dt. The "
        "true motion keeps its energy: that is the benchmark. DLA, the paper's method, and "
        "Runge-Kutta of order 4 take the same steps h. Of a curve that fills a band, the band is "
        "pale and its mean dark.",
        "h = 0.2, alpha = 1/2, to t = 250. Left open by the paper and chosen here: the start q0 = (0, 1, 0), v0 = (1, 1, 1), and the "
        "reading, energy of the evolved momenta at the nodes.",
        "DLA's energy fluctuates in a band while Runge-Kutta's falls.",
        PARTICLE,
        band_and_fall,
        small_steps,
        views=ENERGIES | FROM_START,
        offers=CHANGES,
        columns=COLUMNS,
    ),
    "cm01_fig2": Curves(
        "CM01 Figure 2: the constraint of the nonholonomic particle",
        "By how much each method violates the constraint dz/dt = y dx/dt: on the zero line it is "
        "kept.",
        "The runs of Figure 1. DLA is read by its own discrete constraint wd, in the middle of each "
        "step, the others at the nodes, which are the computed points.",
        "DLA and the benchmark cannot be told apart, Runge-Kutta violates the constraint.",
        PARTICLE,
        partial(told_apart, violated=True),
        at_the_nodes,
        offers={STEPS: KEPT},
        views=constraints(("constraint $\\dot z - y\\dot x$", "", "")),
        columns=COLUMNS,
    ),
    "cm01_fig3": Curves(
        "CM01 Figure 3: energy of the mobile robot",
        "A robot on wheels: psi is how far they have rolled, theta how they are steered, and the "
        "potential V = k sin psi pulls psi as gravity pulls a pendulum. The true motion keeps its "
        "energy: that is the benchmark.",
        "V = 10 sin psi, h = 0.2. Left open and chosen here: m = I = Iw = R = 1, q0 = 0, v0 = (2, 0, 1, 2), to t = 50, and "
        "for DLA the discrete energy of each step.",
        'DLA\'s energy behaves well ("very satisfactory").',
        robot(**{"par.I": (0.5, 2)}),
        in_a_band,
        views=dict(reversed(ENERGIES.items())) | FROM_START,
        offers=CHANGES,
        columns=COLUMNS,
    ),
    "cm01_fig4": Curves(
        "CM01 Figure 4: the two constraints of the mobile robot",
        "The velocity with which the robot slips over its wheels, along x (ω₁) and along y (ω₂): on "
        "the zero line it rolls.",
        "The runs of Figure 3. DLA is read by its own discrete constraint, in the middle of each "
        "step, the others at the nodes.",
        "DLA and the benchmark cannot be told apart.",
        robot(**{"q0.theta": (-1.5, 1.5)}),
        partial(told_apart, violated=False),
        size=(7.2, 5.2),
        offers={STEPS: KEPT},
        views=constraints(("$\\omega_1$", " 1", " omega1"), ("$\\omega_2$", " 2", " omega2")),
        columns=COLUMNS,
    ),
    "fim08_fig1": Momenta(
        "FIM08 Figure 1: the momentum is reflected at each node",
        "The paper's figure is a sketch; this one is computed. A skate glides from node to node, g₀ "
        "to g₁ and so on, and at each node its momentum changes from the arriving to the leaving "
        "one. Dotted, the momenta of velocities in D, along which the blade can glide. "
        "Dashed, the momentum that leaves a node is carried to the next, where it arrives, by right "
        "translation R*; there P* - Q* reflects it.",
        "Chosen here: a skate (sleigh with a = 0, m = I = 1), h = 0.8, four nodes. Its M is "
        "constant and V = 0, so that alpha has no effect.",
        "arriving and leaving momentum are mirror images, so that their mean satisfies the "
        "constraint.",
        Setting(
            [systems.sleigh(a=0.0)],
            {"projector": Projector()},
            h=(0.2, 1.2, 0.8),
            T=(2.4, 6, 2.4),
            q0=(0, 0, 0.2),
            v0=(np.cos(0.2), np.sin(0.2), 0.9),
            sliders={
                "q0.theta": (-1.2, 1.2),
                "v0.vx": near(np.cos(0.2), 2.4, 0.6),
                "v0.vtheta": (-1.5, 1.5),
                "par.m": (0.5, 1.5),
            },
        ),
        mean_in_D,
        size=(7.2, 4.2),
    ),
    "fim08_fig2": free_particle(
        "FIM08 Figure 2: energy of the free particle (journal text)",
        "the journal text",
        *((0, 1, 0), (1, -1, 1), 0.1, 10),
    ),
    "fim08_fig2_preprint": free_particle(
        "FIM08 preprint Figure 1: energy of the free particle",
        "the preprint",
        *((0, 2, 0), (0.5, -0.5, 1), 0.4, 16),
    ),
    "fim08_fig3": Portrait(
        "FIM08 Figure 3: the snakeboard",
        "",
        "All angles positive: theta = 0.35, psi = 0.9, phi = 0.5; the dashed line is the x-axis, "
        "phi is measured from the board.",
        "A drawing, no claim: it fixes the journal's convention for phi.",
        Setting(
            [systems.snakeboard()],
            {},
            steps=1,
            q0=(0, 0, 0.35, 0.9, 0.5),
            v0=(0, 0, 0, 0, 0),
            sliders={f"q0.{k}": CIRCLE for k in ("theta", "psi")}
            | {"q0.phi": (-1.5, 1.5), "par.r": (0.8, 1.1)},
        ),
        size=(5.2, 4.2),
        guides=snakeboard_angles,
        half=1.9,
    ),
    "fim08_fig4": Portrait(
        "FIM08 Figure 4: the Chaplygin sleigh",
        "",
        "theta = 0.5; the blade touches the plane at (x, y), the dot is the centre of mass at the "
        "distance a (drawn 0.45).",
        "A drawing, no claim.",
        Setting(
            [systems.sleigh(a=0.45)],
            {},
            steps=1,
            q0=(0, 0, 0.5),
            v0=(0, 0, 0),
            sliders={"q0.theta": CIRCLE, "par.a": (0.0, 0.5)},
        ),
        size=(5.2, 4.2),
        guides=sleigh_angles,
        half=1.1,
    ),
    "fim08_fig5": Errors(
        "FIM08 Figure 5: errors on the Chaplygin sleigh",
        "The distance of each method from the exact motion (x, y, theta) of the sleigh of Figure 4 "
        "after k steps; all are given the first two exact points.",
        "m = I = 1, a = 0.2, q0 = 0. The exact flow with forward speed -0.2399785 and turn rate "
        "0.05755261 reaches the printed q1 = (-.2395, -.0070, .0589) at t = 1. "
        "Left open and chosen here: h = 1 (time scales out), and 120 steps: the heart-shaped loop "
        "closes at t = 65.3, and what the errors say depends on where one stops. The claim is "
        "judged at the end, with similar as within a factor of three.",
        "the two errors are similar, and DLA with the constraint at the left point is one to two "
        "orders worse.",
        Setting(
            [systems.sleigh()],
            {
                "reference": Reference(),
                "projector": Projector(),
                "dla": DLA(),
                "left": DLA(constraint_alpha=0.0),
            },
            h=(0.2, 1.0, 1.0),
            T=(20, 180, 120),
            **ANY,
            q0=(0, 0, 0),
            v0=PRINTED_START,
            sliders={
                "q0.theta": (-0.6, 0.6),
                "v0.vx": near(PRINTED_START[0], 0.06, 0.54),
                "v0.vtheta": near(PRINTED_START[2], 0.16, 0.04),
                "par.m": (0.5, 2),
                "par.I": (0.5, 2),
                "par.a": (0.1, 0.3),
            },
        ),
        similar,
        other_starts,
        views={
            "all three, logarithmic": (("dla", "projector", "left"), True),
            "the two methods": (("dla", "projector"), False),
        },
        columns={
            "projector": ("projector", "projector"),
            "dla": ("DLA", "DLA"),
            "left": ("DLA, constraint at the left point", "DLA, constraint at the left point"),
        },
    ),
}
PLATES = {name: partial(plate, statement) for name, statement in STATEMENTS.items()}


def paper_figure(name: str, view: str | None = None) -> Panel:
    """The panel of a figure of CM01 or FIM08, by the name of its files in ``figures/``.

    The keys of ``panel.controls`` are h, alpha, rule, T, q0.<name>, v0.<name>, par.<name>.

    Parameters
    ----------
    name : as "cm01_fig1"
    view : on which it opens, one of those its panel has; by default the paper's

    Examples
    --------
    >>> import nhlab as nh
    >>> panel = nh.paper_figure("cm01_fig1")
    >>> panel.set(h=0.3)
    >>> panel.readout.value != ""
    True
    """
    statement = STATEMENTS[one_of(name, STATEMENTS, "name")]
    view = view if view is None else one_of(view, statement.views, "view")
    return FigurePanel(statement.figure(**of_figure(name, view)))


def main():
    """Write PNG, SVG and CSV of every figure, and the gallery page."""
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    FOLDER.mkdir(exist_ok=True)
    page = "# The papers' figures, computed again\n\nMade by `python3 -m nhlab figures`; with "
    page += "sliders in [all figures](../notebooks/paper_figures.ipynb). "
    page += "CM01, FIM08: see [the citations](../README.md#citing).\n"
    for name, made in PLATES.items():
        p = made()
        with plt.rc_context(plot.STYLE):
            p.figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
            p.figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None})
        # twelve digits: enough for a figure, and the same on every machine
        written = {"index": False, "float_format": "%.12g", "lineterminator": "\n"}
        pd.DataFrame(p.data).to_csv(FOLDER / f"{name}.csv", **written)
        page += f"\n## {p.title}\n\n![{p.title}]({name}.png)\n\n{p.caption}\n\n**{p.verdict}**\n"
        page += f"\n[SVG]({name}.svg) · [data]({name}.csv)\n"
        print(f"figures/{name}", flush=True)
    (FOLDER / "README.md").write_text(page, encoding="utf-8", newline="\n")
    return 0
