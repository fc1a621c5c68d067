"""Lesson 02: the orders of the two rules, the determinant of CM01 (7) along a run, and the energy
that drifts."""

import warnings

import numpy as np

from ...geometry.diagnostics import drift, order
from ...mechanics import catalogue as systems
from ...mechanics.system import System
from ...methods import DLA, Projector, Reference
from ...run.errors import IntegrationError
from ...run.loop import integrate
from ..colours import DARK, MIDDLE
from ..exercises import near
from ..figures import crossing
from ..kit import frame, new_board, slope, step_sizes

EXACT = {"color": "#000000", "linestyle": (0, (1, 1)), "linewidth": 1.2, "label": "exact"}


def _exact(ax, value):
    """A line at the exact value, with limits so close that the first curve sets new ones."""
    ax.axhline(value, zorder=0, **EXACT)
    ax.set_ylim(value - 1e-9, value + 1e-9)


def order_panel(system, T=2.0, hs=(0.2, 0.1, 0.05, 0.025), h=0.1, long=50.0):
    """Errors at time T against h, and the energy of a longer run, for any alpha and either rule."""
    truth = integrate(system, Reference(), h=T, steps=1).q[-1]
    E0, hs = float(system.energy(system.q0, system.v0)), np.array(hs)
    board, left, right = new_board((8.6, 4.0), 1, 2, (0.1, 0.13, 0.97, 0.9, 0.28))
    step_sizes(left, hs, 0.05, MIDDLE)
    left.set(ylabel=f"error at $t={T:g}$", ylim=(5e-5, 0.3))
    frame(right, "time $t$", f"energy $E$, $h={h:g}$")
    _exact(right, E0)

    def update(alpha, rule):
        """Left: errors of DLA against h. Right: its energy over time.

        Left: the error for four step sizes, with slopes 1 and 2 to compare. Right: the energy at
        the nodes.
        """
        m = DLA(round(alpha, 2), rule == "symmetric rule")
        ends = [integrate(system, m, h=x, steps=round(T / x)).q[-1] for x in hs]
        size = np.abs(np.array(ends) - truth).max(1)
        sol = integrate(system, m, h=h, steps=round(long / h))
        E = sol.energy()
        board.run(m, hs, size, left, marker="o", label="DLA")
        board.run(m, sol.t, E, right, label="")
        board.hold(right, [0, long], [E0])
        board.say("slope", f"{slope(hs, size):.2f}")
        board.say("energy at the end", f"{E[-1]:.3f}")
        board.say("energy in", f"[{E.min():.3f}, {E.max():.3f}]")

    rules = ["alpha rule", "symmetric rule"]
    return board.panel(update, alpha=(0.0, 1.0, 0.3, 0.01), rule=rules)


def pivots(sol):
    """What matrix (7) of the particle is singular with: 1 + y_k y_(k+1/2) / (1 + h^2/2)."""
    y, h = sol.q[:-1, 1], sol.h
    return 1 + y * (y + h / 2 * sol.v_step[:, 1]) / (1 + h**2 / 2)


def regularity_panel(particle, h=(0.1, 0.5, 0.2, 0.01), y=(1.0, 8.0, 1.2, 0.1), T=60.0):
    """The determinant of matrix (7), scaled, and the energy along a run that starts at height y."""
    margins = (0.13, 0.13, 0.97, 0.96, None, 0.2)
    board, upper, lower = new_board((7.6, 5.0), 2, 1, margins, sharex=True)
    frame(upper, "", "determinant of (7),\nscaled")
    frame(lower, "time $t$", r"$\log_{10}(E_d / E_d(0))$")
    upper.axhline(0, color=DARK, linewidth=1)

    def update(h, y):
        """The scaled determinant of matrix (7) at each step, and the energy below it.

        The particle starts at (0, y, 0) with velocity (1, 0, y). Above: the determinant of (7),
        scaled so that it tends to 1 + y² as h goes to 0. Below: powers of ten of the discrete
        energy.
        """
        try:
            with warnings.catch_warnings():  # that the energy grows is the lesson
                warnings.simplefilter("ignore")
                sol = integrate(particle, DLA(), [0, y, 0], [1, 0, y], h=h, steps=round(T / h))
        except IntegrationError as error:
            sol = error.trajectory
            board.say("error", str(error))
        det, E = pivots(sol), sol.energy("midpoints")
        board.run(DLA(), sol.t[:-1], det, upper, marker=".", markersize=4, label="")
        board.run(DLA(), sol.t[1:], np.log10(E / E[0]), lower, label="")
        board.hold(upper, [0, T], [0])
        board.hold(lower, [0, T], [-0.2, 0.2])
        board.say("smallest determinant", f"{det.min():.3f}")
        board.say("energy grows by", f"{(E / E[0]).max():.3g}")

    return board.panel(update, h=h, y=y)


def drift_panel(system, h=(0.1, 0.4, 0.2, 0.01), eps=(0.0, 0.3, 0.2, 0.01), T=400.0, window=20.0):
    """The discrete energy averaged over a window of time, for DLA and the projector method."""
    board, ax = new_board((7.2, 3.9), margins=(0.16, 0.13, 0.97, 0.9))
    frame(ax, "time $t$", "averaged $E_d$, change")

    def update(h, eps):
        """The averaged discrete energy of DLA falls, that of the projector does not.

        The discrete energy averaged over a window of {window:g}, so that its oscillation does not
        hide the drift.
        """
        steps = round(T / h / (4 if board.quick else 1))
        hill = np.hanning(round(window / h) + 2)
        for m in (DLA(), Projector()):
            sol = integrate(system.set(eps=eps), m, h=h, steps=steps)
            E = sol.energy("midpoints")
            mean = np.convolve(E, hill / hill.sum(), "valid")
            board.run(m, sol.t[-len(mean) :] - window / 2, mean - mean[0])
            board.say(f"{type(m).__name__}: slope", f"{drift(sol.t[1:], E)[0]:.1e}")
        board.hold(ax, [0, T], [-1e-3, 1e-3])

    return board.panel(update, update.__doc__.format(window=window), h=h, eps=eps)


def exercise_1(answer):
    """The errors cross where h^2 meets T h^5: with T twice as long, at h smaller by 2^(1/3)."""
    if near(answer, crossing(2000, 0.1, 0.115, 0.13), 0.06):
        return None
    if near(answer, crossing(1000, 0.125, 0.145, 0.16), 0.03):
        return "That is where they cross for T = 1000. RK4's error grows with T, that of DLA not."
    return "Write RK4's error as a T h^5, DLA's as b h^2; the table gives a and b; set them equal."


def exercise_2(answer):
    """The spring only changes the two z-terms; the step stays explicit because y is on its own."""
    base = systems.particle()
    spring = System(base.q, base.v, base.L - base.q[2] ** 2, base.constraints)
    sol = integrate(spring, DLA(), [0.2, 1, 0.5], [1, 1, 1], h=0.2, steps=5)
    for k in range(5):
        q, p = (np.asarray(a, float) for a in answer(sol.q[k].copy(), sol.p[k].copy(), 0.2)[:2])
        if not near(q[1], sol.q[k + 1, 1], 1e-9):
            return "y does not feel the new spring: its equation is the one of the lesson."
        wd = (q - sol.q[k]) / 0.2
        if abs(wd[2] - (q[1] + sol.q[k, 1]) / 2 * wd[0]) > 1e-9:
            return "The discrete constraint is violated: vz must be ym * vx."
        if not np.allclose(q, sol.q[k + 1], atol=1e-9):
            return "q2 differs. In (1 + h²/2) vz + h z = pz - lam the factor and h z are new."
        if not np.allclose(p, sol.p[k + 1], atol=1e-9):
            return "q2 is right, the momentum is not: p2 = v - h (xm, ym, zm) now has a z-part."


def exercise_3(answer):
    """At this momentum the pivot 1 + h²/2 + y ym vanishes: no q2 solves (6)."""
    h, y = 1.0, 2.0
    ym = y + h / 2 * (float(answer) - h * y) / (1 + h**2 / 2)
    pivot = 1 + h**2 / 2 + y * ym
    if not abs(pivot) < 1e-6:
        return f"With this p_y the midpoint is ym = {ym:.4g} and the pivot {pivot:.4g}, not 0."


def exercise_4(answer):
    """Order 2 needs L and the constraint at the midpoint, or both by the symmetric rule."""
    methods = (DLA(), DLA(alpha=0.3), DLA(alpha=0.3, symmetric=True), DLA(constraint_alpha=0))
    answer = list(answer)
    if len(answer) != 4:
        return "Give four numbers, in the order of the list."
    for m, said in zip(methods, answer, strict=True):
        if said != round(order(systems.robot(), m, T=1, hs=[0.1, 0.05, 0.025]).slope):
            return f"Look again at {m!r}; nh.diagnostics.order measures it."
