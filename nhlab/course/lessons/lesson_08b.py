"""In depth with lesson 08: the rule of the verdicts, and the step size from which RK4 is better."""

import numpy as np

from ...geometry.diagnostics import BLOCKS, KINDS, shrinks
from ...mechanics import catalogue as systems
from ...mechanics.exact import numbers
from ...mechanics.system import System
from ...methods import DLA, RK4, Composition, Projector, Reference
from ...run.loop import integrate
from ...view import plot
from .. import comparison
from ..colours import DARK
from ..exercises import takes, told
from ..kit import frame, new_board
from .lesson_08 import FITTED, number, separatrix
from .lesson_08 import questions as questions
from .lesson_08 import work_rows as work_rows

VERDICTS = "exact", "bounded", "random walk", "drift", "lost", "stops", "undecided", "not for it"


def by_rule(data, i, j):
    """The verdict on one method and one problem by the rule that the lesson states."""
    numbers = (float(data[k][i, j]) for k in ("share", "off", *FITTED))
    share, off, gamma, error, slope, slope_error = numbers
    if np.isnan(share):
        return "not for it"
    if share < 0.9:
        return "stops"
    if off > 0.5:
        return "lost"
    if data["size"][i, j].max() <= comparison.FLOOR:
        return "exact"
    near = {min(KINDS, key=lambda k: abs(k - x)) for x in (gamma - 2 * error, gamma + 2 * error)}
    if 0.0 not in near and abs(slope) > 5 * slope_error:
        return "drift"
    if 0.0 not in near and shrinks(data["size"][i, j][data["lags"] >= BLOCKS // 16]):
        return "bounded"
    return KINDS[min(near)] if len(near) == 1 else "undecided"


def sleigh_panel(h=(0.1, 0.4, 0.1), a=(0.1, 0.3, 0.2), T=150.0):
    """The sleigh, which settles, by three methods: position errors, and A v at the nodes."""
    sleigh = systems.sleigh()
    board, left, right = new_board((9.8, 4.2), 1, 2)
    frame(left, "time $t$", "error of $(x, y, \\theta)$", (0, T), (1e-9, 1e3), yscale="log")
    frame(right, "time $t$", "$|A v|$ at the nodes", (0, T), (1e-9, 1e1), yscale="log")

    def update(h, a):
        """Errors of DLA, projector method and RK4 on the sleigh, and their violation of the
        constraint, which grows exponentially for the projector method.

        The sleigh from v0 = (-1, 0, 1/4). k is the rate at which the true turn rate dies out.
        """
        system, steps = sleigh.set(a=a), round(T / h)
        k, look = settling_rate(system), np.unique(np.linspace(1, steps, 40).astype(int))
        true = system.exact(h * look)
        for m in (DLA(), Projector(), RK4()):
            sol = integrate(system, m, h=h, steps=steps)
            error = np.abs(sol.q[look] - true).max(1)
            board.run(m, sol.t[look], error, left)
            residual = np.abs(sol.constraint()[2:, 0]) + 1e-30
            board.run(m, sol.t[2:], residual, right, label="")
            board.say(f"{plot.label(m)}: error at {sol.t[-1]:.0f}", f"{error[-1]:.1e}")
            if m == Projector():
                board.say("Projector: spread of E", f"{np.ptp(sol.energy()):.0e}")
        t, thin = sol.t[sol.t > 0.4 * T], {"color": DARK, "linewidth": 1, "label": "$e^{+kt}$"}
        board.curve(t, 1e-3 * np.exp(k * (t - 0.5 * T)), right, **thin)
        board.say("k", f"{k:.3f}")

    return board.panel(update, h=h, a=a)


def settling_rate(system):
    """k of w ~ exp(-k t), at which the sleigh from its own start becomes straight."""
    m, I, a = numbers(system, "m I a")
    b2 = I / m + a**2
    return a * np.sqrt(system.v0[0] ** 2 + b2 * system.v0[2] ** 2) / b2


def fastest_period(system: System, q: list[float]) -> float:
    """The shortest period of small oscillations about the equilibrium q."""
    q, d = np.asarray(q, float), 1e-5 * np.eye(len(q))
    slopes = [system.acceleration(q + e, 0 * q) - system.acceleration(q - e, 0 * q) for e in d]
    return float(2 * np.pi / np.sqrt(np.linalg.eigvals(-np.array(slopes).T / 2e-5).real.max()))


def energy_ratio(system: System, h: float, T: float) -> float:
    """The largest energy error of RK4 up to T over that of DLA."""
    run = {"h": h, "steps": round(T / h), "progress": False}
    E = [integrate(system, m, **run).energy() for m in (RK4(), DLA())]
    return float(np.divide(*(np.abs(e - e[0]).max() for e in E)))


def steps_to_equal(system: System, period: float, periods: int = 225) -> float:
    """With how many steps to a period RK4 keeps the energy as well as DLA, over many periods."""
    counts = np.array([50.0, 40.0, 35.0, 30.0, 25.0])
    ratios = [energy_ratio(system, period / n, periods * period) for n in counts]
    return float(np.exp(np.interp(0, np.log(ratios), np.log(counts))))


def _plane_of_starts(ax, image, label):
    frame(ax, r"pendulum's rate $\dot y_0$", r"$\dot z_0$")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label=label)


def atlas_panel(data):
    """Maps over a plane of starts: the drift of DLA or projector, and how far EDLA comes."""
    hs, vy, vz = (data[f"atlas_{k}"] for k in ("h", "vy", "vz"))
    low, high, step = float(hs[0]), float(hs[-1]), float(hs[1] - hs[0])
    over, most = separatrix(systems.transmission()), comparison.EDLA_STEPS
    board, left, right = new_board((10.4, 4.4), columns=2)
    plane = {"origin": "lower", "aspect": "auto", "extent": (vy[0], vy[-1], vz[0], vz[-1])}
    drift = board.add(left.imshow(np.zeros((2, 2)), vmin=-9, vmax=-3, cmap="magma", **plane))
    steps = board.add(right.imshow(np.zeros((2, 2)), vmin=0, vmax=most, cmap="viridis", **plane))
    _plane_of_starts(left, drift, r"$\log_{10}$ |slope of $E$|")
    _plane_of_starts(right, steps, "steps EDLA takes")
    left.set_title("drift of the method chosen")
    right.set_title(f"EDLA: {most} steps asked for")
    for ax in (left, right):
        board.line([over, over], [vz[0], vz[-1]], ax=ax, ghost=False, color="white", linestyle=":")

    def update(h, method):
        """Two maps over the plane of initial rates: energy drift and steps of EDLA.

        The transmission, eps = 0.2, from q0 = 0: {starts} starts to t = {T:g}. Dotted: the
        separatrix of the pendulum.
        """
        k = int(np.abs(hs - h).argmin())
        found, done = np.array(data[f"atlas_{method}"][k], float), data["atlas_EDLA"][k]
        drift.set_data(found)
        steps.set_data(done)
        board.say("median |slope|", f"{10 ** np.nanmedian(found):.1e}")
        board.say("largest", f"{10 ** np.nanmax(found):.1e}")
        board.say("starts with |slope| > 1e-6", f"{np.nanmean(found > -6):.0%}")
        board.say("EDLA goes through", f"{(done == most).mean():.0%}")

    text = update.__doc__.format(starts=f"{len(vy)} x {len(vz)}", T=comparison.ATLAS_T)
    return board.panel(update, text, h=(low, high, 0.2, step), method=["DLA", "Projector"])


@takes(number, "The answer is one number, the error of DLA over that of the composition.")
def exercise_1(answer):
    ways = (Reference(), 1), (DLA(), 400), (Composition(DLA(), 4), 80)
    true, *q = (integrate(systems.particle(), m, h=20 / n, steps=n).q[-1] for m, n in ways)
    dla, composed = (np.abs(end - true).max() for end in q)
    turned = "Upside down: DLA's error over that of the composition."
    fair = """Compare at equal cost: 400 steps of DLA against 80 of Composition, five substeps
        each, with nh.Reference() at t = 20 as the truth."""
    return told(answer, dla / composed, [(composed / dla, turned)], fair, 0.1)


@takes(number, "The answer is one number, the r of |A v| ~ exp(r t).")
def exercise_2(answer):
    sol = integrate(systems.sleigh(), Projector(), h=0.1, steps=850)
    size = np.log(np.abs(sol.constraint()[500:, 0]))
    rate = np.polyfit(sol.t[500:], size, 1)[0]
    sign = "The size is right. Does the projector's A v grow or die out?"
    fit = "Fit a line to the logarithm of |A v| for t between 50 and 85; or see the panel's k."
    return told(answer, rate, [(-rate, sign)], fit, 0.02)
