"""In depth with lesson 07: the gyroscopic force as a field, the poster's four statements, forces on
a group, a rotor's momentum, a ball rolled round a loop."""

import functools

import numpy as np
from sympy import cos

from ...geometry.diagnostics import action
from ...geometry.reduction import Chaplygin, Horizontal
from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...mechanics.groupsystem import GroupSystem
from ...mechanics.system import System, symbols
from ...methods import DLA, RDLA, Reference, Variational
from ...run.loop import integrate
from ...view import plot
from ..colours import BLUE, DARK, GREY, ORANGE, SLATE
from ..exercises import near, some_of, takes
from ..kit import bare, circle, frame, joined, key, new_board, slope, step_sizes
from ..kit import show_errors as show_errors
from .lesson_07 import FIBRES, FLOOR, MARGINS, RULES, both_ways, difference, reduced
from .lesson_07 import bent as bent
from .lesson_07 import gear as gear
from .lesson_07 import with_and_without as with_and_without


def crossed():
    r"""The simplest such system: constant fibre block, cross terms, no force, D not integrable."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    row = vz - y * vx + x * vy
    L, start = (vx**2 + vy**2 + row**2) / 2, {"q0": (0.3, 1, 0), "v0": (1, 0.5, 0.85)}
    return System((x, y, z), (vx, vy, vz), L, [row], name="crossed", **start)


def linear_connection():
    """Any linear A for two base coordinates and one fibre coordinate, and L without cross terms."""
    (r0, r1, s), (u0, u1, us) = symbols("r0 r1 s"), symbols("u0 u1 us")
    T = symbols("T00 T01 T10 T11")
    row = us + (T[0] * r0 + T[1] * r1) * u0 + (T[2] * r0 + T[3] * r1) * u1
    L, numbers = (u0**2 + u1**2 + us**2) / 2, dict.fromkeys(T, 1.0)
    return System((r0, r1, s), (u0, u1, us), L, [row], parameters=numbers, name="linear connection")


def robot_with_rotor(inertia):
    """The robot with a rotor chi that steering and rolling drive; nothing brakes it."""
    b, chi, vchi = systems.robot(), *symbols("chi vchi")
    psi, (vx, _, vtheta, _) = b.q[3], b.v
    L = b.L + inertia * vchi**2 / 2 + vchi * (vtheta + cos(psi) * vx)
    start = {"q0": (0, 0, 0, 0, 0), "v0": (2, 0, 1, 2, 0.5), "name": "robot with rotor"}
    return System((*b.q, chi), (*b.v, vchi), L, b.constraints, parameters=b.parameters, **start)


def relative_board(varying=True):
    """The snakeboard with psi measured from the board; if ``varying``, steering changes the rotor's
    inertia, J0 + cos(phi)/3."""
    b = systems.snakeboard()
    (_, _, vtheta, vpsi, _), phi = b.v, b.q[-1]
    J0 = next(s for s in b.parameters if s.name == "J0")
    inertia = J0 + cos(phi) / 3 if varying else J0
    L = b.L - J0 * vpsi**2 / 2 + inertia * (vtheta + vpsi) ** 2 / 2
    make = functools.partial(System, b.q, b.v, L, b.constraints, parameters=b.parameters)
    q0 = (0, 0, 0.2, 0, 0.3)
    v0 = make().project(q0, (1, 0.1, 0.2, 0.7, 0.05))
    return make(name="relative board", q0=q0, v0=v0)


def turning_frame():
    r"""A point (x, y) that carries a body: the fibre is SO(3), A is linear in r, and the body has
    three different moments of inertia, so that no term of the forces cancels."""
    x, y, vx, vy, *w = symbols("x y vx vy w1 w2 w3")
    L = (vx**2 + vy**2 + w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2 - x**2 - y**2
    A = ((1 + y / 2, -x / 3), (x / 2, y - 1), ((x + y) / 3, (1 + x) / 2))
    rows = [u + a * vx + b * vy for u, (a, b) in zip(w, A, strict=True)]
    return GroupSystem(SO3, (vx, vy, *w), L, rows, r=(x, y), rule="log", name="turning frame")


def structure_force(red, r, v, node=None, bracket=-1):
    r"""dl/dxi^a (d_c A^a_b - d_b A^a_c) v^c, and plus ``bracket`` times [A v, A_b(node)]; (k,).

    CM01 5.3.3 has this force three times: F- and F+ are its half with r in the middle of a step, v
    the velocity of the step, and the node r_k at which the force acts; the continuous force that
    closes the section is all of it at one point, printed with the other sign of the bracket.
    """
    k, group = len(red.q), red.bundle.group
    slopes = [[[e.diff(s) for s in red.q] for e in row] for row in red.connection.tolist()]
    A, A_node = (red.values(red.connection.tolist(), x) for x in (r, r if node is None else node))
    dA = red.values(slopes, r)  # a, b, c: the derivative of A^a_b by r^c
    turn = np.einsum("abc,c->ab", dA - np.swapaxes(dA, 1, 2), v)
    turn = turn + bracket * np.array([group.bracket(A @ v, A_node[:, b]) for b in range(k)]).T
    q = red.bundle.join(r, np.array(group.identity))
    return red.full.momentum(q, red.lift(r, v))[red.bundle.v_s] @ turn


def four_statements(red, sol, seed=1):
    """The residuals of the poster's four statements on a path of the full system, and of the path.

    1 : dS(dq) for a random dq in D with fixed ends     2 : D1Ld + D2Ld along D, at inner nodes
    3 : d sigma(dr) - (F- + F+) dr, dr = d pi(dq)       4 : D1Ld* + D2Ld* - F- - F+ along D^
    5 : wd, and the connection A_d, which vanishes where the condition of the reduction holds
    """
    full, t, q, r = red.full, sol.t, sol.q, red.project(sol)
    h, rule, rng = float(sol.h[0]), DLA(), np.random.default_rng(seed)
    D = np.swapaxes(np.linalg.svd(full.A(q))[2][:, full.m :], -1, -2)  # bases of D, (N, n, n - m)
    dq = np.einsum("kia,ka->ki", D, rng.uniform(-1, 1, (len(q), D.shape[-1])))
    dq[0] = dq[-1] = 0
    dr = red.project(dq)
    v = full.velocity_between(q[:-1], q[1:], h)
    leave, arrive = (rule.on_step(full, x, t[:-1], q[:-1], v, h) for x in ("p_minus", "p_plus"))
    parts = red.F_minus, red.F_plus, red.D1Ld, red.D2Ld
    F_minus, F_plus, D1, D2 = (part(r[:-1], r[1:], h) for part in parts)
    F = F_minus[1:] + F_plus[:-1]
    first = _derivative(lambda e: action(full, rule, t, q + e * dq))
    second = np.einsum("kia,ki->ka", D[1:-1], arrive[:-1] - leave[1:])
    third = _derivative(lambda e: red.Ld((r + e * dr)[:-1], (r + e * dr)[1:], h).sum())
    third -= (F * dr[1:-1]).sum()
    reduced = np.moveaxis(np.array([red.project(D[..., a]) for a in range(D.shape[-1])]), 0, -1)
    fourth = np.einsum("kia,ki->ka", reduced[1:-1], D1[1:] + D2[:-1] - F)
    wd = rule.on_step(full, "constraints", t[:-1], q[:-1], v, h)
    path = np.hstack([wd, red.A_d(q[:-1], q[1:], h)])
    return [float(np.abs(x).max()) for x in (first, second, third, fourth, path)]


def _derivative(f, d=1e-5):
    """f'(0), by a central difference."""
    return (f(d) - f(-d)) / (2 * d)


def _name_axes(ax, red):
    """Label the axes with the two coordinates of the base."""
    frame(ax, *(plot.reading(f"t {s}", red)[1] for s in red.q))


def force_panel(*reductions, angle=(-180, 180, 30)):
    """The gyroscopic force at the points of the base, for one velocity everywhere."""
    by_name = {red.full.name: red for red in reductions}
    board, ax = new_board((5.6, 5.2), margins=(0.13, 0.11, 0.97, 0.92))
    grid = np.linspace(-1.6, 1.6, 9)
    r = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    ax.set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), aspect="equal")
    to_scale = {"angles": "xy", "scale_units": "xy", "scale": 3.0, "width": 0.006}
    names = {GREY: r"velocity $\dot r$", ORANGE: "gyroscopic force $F$"}
    fields = [board.add(ax.quiver(*r.T, *(0 * r.T), color=c, **to_scale)) for c in names]
    for colour, text in names.items():
        key(ax, colour, text, linewidth=3)

    def update(angle, system):
        """Arrows over the base: one velocity everywhere, and at right angles to it the gyroscopic
        force.

        The velocity has length 1 and the direction angle (degrees) at every point; velocity and
        force have the same scale.
        """
        red, a = by_name[system], np.deg2rad(angle)
        v = np.broadcast_to([np.cos(a), np.sin(a)], r.shape)
        F = red.gyroscopic_force(r, v)
        for field, arrows in zip(fields, (v, F), strict=True):
            field.set_UVC(*arrows.T)
        if board.changed_since_last(system):
            _name_axes(ax, red)
            board.changed()
        board.say("largest |F|", f"{np.linalg.norm(F, axis=1).max():.3f}")
        board.say("largest |F.v|", f"{np.abs((F * v).sum(1)).max():.0e}")

    return board.panel(update, angle=angle, system=list(by_name))


def end_errors(red, runs):
    """The errors of runs of equal length at their end, in words."""
    true = integrate(red, Reference(), h=runs[0].t[-1], steps=1).q[-1]
    return " and ".join(f"{np.abs(sol.q[-1] - true).max():.1e}" for sol in runs)


def square_around(points):
    """Two corners of the smallest upright square about points (k, 2)."""
    low, high = points.min(0), points.max(0)
    return (low + high) / 2 + np.array([[-0.5], [0.5]]) * (high - low).max()


def square_panel(*reductions, h=(0.05, 0.4, 0.2), T=4.0):
    """Discretise and reduce (RDLA) against reduce and discretise (Variational)."""
    by_name = {red.full.name: red for red in reductions}
    hs = np.array([0.4, 0.2, 0.1, 0.05, 0.025])
    board, left, right = new_board((9.4, 4.2), 1, 2, MARGINS)
    step_sizes(left, hs, 0.5, SLATE)
    left.set(ylim=(FLOOR / 2, 2), ylabel=f"largest difference up to $t={T:g}$")
    left.set_yticks([FLOOR, 1e-6, 1e-4, 1e-2, 1], ["0", "$10^{-6}$", "$10^{-4}$", "$10^{-2}$", "1"])
    right.set_aspect("equal")  # both coordinates of the base in the same scale
    right.locator_params(nbins=5)
    board.legend(left, columnspacing=1, handlelength=1.6)
    board.legend(right, bbox_to_anchor=(-0.22, 1), columnspacing=1, handlelength=1.4)

    @functools.cache
    def known(system, rule):
        """The differences for all step sizes, and the exact motion."""
        red = by_name[system]
        sizes = [difference(both_ways(red, rule, x, T)) for x in hs]
        return sizes, integrate(red, Reference(), h=T / 100, steps=100).q

    def update(h, system, rule):
        """Left: the difference of the two ways round the square against h. Right: both paths in
        the base.

        Left: the difference for five step sizes and, as a diamond, for the chosen one; 0 means
        round-off. Right: both motions in the base. The errors are listed in the order of the
        legend.
        """
        red, (sizes, exact) = by_name[system], known(system, rule)
        runs = both_ways(red, rule, h, T)
        size, commutes = difference(runs), max(sizes) == FLOOR
        board.curve(hs, sizes, left, color=BLUE, marker="o", label="difference")
        board.dots([h], [size], left, color=ORANGE, marker="D", markersize=9)
        board.run(runs[0].method, *runs[0].q.T, right, label="reduce first", lw=3.2, alpha=0.7)
        board.run(runs[1].method, *runs[1].q.T, right, label="discretise first")
        board.curve(*exact.T, right, color=DARK, linestyle=":", linewidth=1.2, label="exact")
        if board.changed_since_last(system):
            _name_axes(right, red)
            board.forget()
        board.fit(right, *square_around(np.vstack([exact, *(sol.q for sol in runs)])).T)
        board.say("difference", "round-off" if commutes else f"{size:.1e}")
        board.say("slope", "none" if commutes else f"{slope(hs[1:], sizes[1:]):.2f}")
        board.say("errors at the end", end_errors(red, runs))

    return board.panel(update, h=h, system=list(by_name), rule=list(RULES))


def rotor_panel(rotors, mu=(-4.0, 4.0, 2.0), h=(0.05, 0.4, 0.1), T=12.0):
    """The board's path on the floor and its steering, for a momentum mu of the rotor.

    rotors : a dict of snakeboards reduced by their rotor, by what the reader chooses them by
    """
    board, left, right = new_board((9.4, 4.2), 1, 2, MARGINS)
    frame(left, "$x$", "$y$", (-2, 9), (-6, 3), aspect="equal")
    frame(right, "time $t$", "angle", (0, T))

    def update(mu, h, rotor):
        """Left: the board's path for mu and for mu = 0. Right: wheel angle and heading over time.

        The snakeboard reduced by its rotor, always from the same place and velocity of board and
        wheels.
        """
        red, steps = rotors[rotor].set(mu=mu), round(T / h)
        still = integrate(red.set(mu=0), RDLA(), h=h, steps=steps)
        sol, other = (integrate(red, m, h=h, steps=steps) for m in (RDLA(), DLA()))
        full, (x, y, theta, phi) = red.reconstruct(sol), sol.q.T
        board.curve(*still.q[:, :2].T, left, color=SLATE, linewidth=1.2, label=r"path, $\mu=0$")
        board.run(RDLA(), x, y, left, label="path")
        board.curve(sol.t, phi, right, color=ORANGE, label=r"wheels $\phi$")
        board.curve(sol.t, theta, right, color=BLUE, linestyle="--", label=r"board $\theta$")
        board.hold(right, [0, T])
        board.say("psi at the end", f"{full.q[-1, 3]:.2f}")
        J = red.J_d(full.q[:-1], full.q[1:], h)
        changes = {"spread of J_d": np.ptp(J), "other way round the square": other.q - sol.q}
        for label, change in changes.items():
            size = np.abs(change).max()
            board.say(label, "round-off" if size < 1e-10 else f"{size:.1e}")

    return board.panel(update, mu=mu, h=h, rotor=list(rotors))


def rolled(ball, r):
    """Attitudes (unit quaternions) of the ball rolled along a polygon r on the table."""
    g = [SO3.identity]
    for f in ball.f(r[:-1], r[1:], 1.0):
        g.append(SO3.multiply(g[-1], f))
    return SO3.inverse(np.array(g))  # g is the inverse of the attitude


def turned_by(radius):
    """The rotation vector of the ball after a circle, of a radius in units of R."""
    ball = Chaplygin(systems.rubber_ball(), base="x y")
    return SO3.log(rolled(ball, radius * (circle(1001) - [1, 0]))[-1])


def _mark():
    """An arrow painted on the ball: points of the unit sphere, from the north pole towards e1."""
    shaft = [[x, 0] for x in np.linspace(-0.5, 0.5, 15)]
    flat = joined([shaft, [[0.3, 0.18], [0.5, 0], [0.3, -0.18]]])
    return np.column_stack([flat, np.sqrt(1 - (flat**2).sum(1))])


def _from_above(points, lowest):
    """The points (k, 3) in the plane, with gaps for those below ``lowest``."""
    return np.where(points[:, 2:] > lowest, points, np.nan)[:, :2]


def ball_panel(ball, radius=(0.1, 1.7, 0.5), part=(0.0, 1.0, 1.0)):
    """A ball rolled anticlockwise round a circle on the table, and its attitude, from above."""
    ball, mark, turn = ball.set(R=1.0), _mark(), circle(241)
    equator = np.column_stack([circle(49), np.zeros(49)])
    net = joined([np.roll(equator, k, axis=1) for k in range(3)])  # three great circles
    board, left, right = new_board((9.2, 4.3), 1, 2, (0.08, 0.15, 0.97, 0.88, 0.2))
    frame(left, "$x/R$", "$y/R$", (-4.6, 1.6), (-3.1, 3.1), aspect="equal")
    bare(right, (-1.25, 1.25), (-1.25, 1.25))
    right.set_xlabel("the ball from above")
    right.plot(*turn.T, color=DARK)
    right.plot(*mark[:, :2].T, color=GREY, linewidth=5, label="mark at first")

    def update(radius, part):
        """Left: a circle on the table and the ball on it. Right: the ball from above with a painted
        arrow that a closed loop has turned.

        The ball rolls anticlockwise from the origin, without slipping or twisting. part is the part
        of the circle it has rolled; the radius is in units of R.
        """
        r = radius * (turn - [1, 0])
        attitude, k = rolled(ball, r), round(part * (len(r) - 1))
        R = SO3.matrix(attitude[k])
        board.curve(*r.T, left, color=SLATE)
        board.outline(*(r[k] + turn).T, left, color=DARK)
        board.outline(*(_from_above(mark @ R.T, 0) + r[k]).T, left, color=ORANGE)
        board.outline(*_from_above(net @ R.T, -1e-9).T, right, color=BLUE, linewidth=0.9)
        seen = _from_above(mark @ R.T, -1e-9)
        board.outline(*seen.T, right, color=ORANGE, linewidth=3, label="mark now")
        turned = 2 * np.arccos(np.clip(attitude[-1, 0], -1, 1))
        board.say("angle after the loop", f"{turned:.4f}")
        board.say("area / R²", f"{np.pi * radius**2:.4f}")
        predicted = 2 * np.pi * (np.sqrt(1 + radius**2) - 1)
        board.say("2 pi (sqrt(1 + radius²) - 1)", f"{predicted:.4f}")

    return board.panel(update, radius=radius, part=part)


def prediction_1():
    r = np.random.default_rng(1).uniform(-1.6, 1.6, (200, 2))
    turn = np.random.default_rng(2).uniform(0, 2 * np.pi, 200)
    v, names = np.stack([np.cos(turn), np.sin(turn)], -1), ("particle", "gear", "robot")
    made = {name: np.abs(reduced(name).gyroscopic_force(r, v)).max() for name in names}
    return next((name for name, F in made.items() if F < 1e-12), "none"), made


def moved_by_rotor(varying, mu=2.0):
    """How far a rotor with momentum mu moves the end of the board's path, in 12 units of time."""
    red = Horizontal(relative_board(varying), "psi")
    ends = [integrate(red.set(mu=x), RDLA(), h=0.1, steps=120).q[-1, :2] for x in (0.0, mu)]
    return float(np.linalg.norm(ends[1] - ends[0]))


def prediction_2():
    constant, varying = moved_by_rotor(False), moved_by_rotor(True)
    truth = "Yes" if constant > 1e-6 else "Only" if varying > 1e-6 else "No"
    return truth, {"constant": constant, "varying": varying}


def prediction_3():
    small, wide = turned_by(0.2), turned_by(1.0)
    truth = "Turned anti" if small[2] > -1e-3 else "Turned clockwise"
    truth = "As before" if np.linalg.norm(small) < 1e-3 else truth
    tilt = np.rad2deg(np.arccos(np.abs(wide[2]) / np.linalg.norm(wide)))
    return truth, {"turn": np.linalg.norm(small), "area": np.pi * 0.04, "tilt": tilt}


@takes(callable, "Give a function of (r, p, h).")
def exercise_1(answer):
    sol = integrate(reduced("free_particle"), RDLA(), h=0.2, steps=6)
    for k in range(6):
        r, p = (np.asarray(a, float) for a in answer(sol.q[k].copy(), sol.p[k].copy(), 0.2))
        if not near(r[1], sol.q[k + 1, 1], 1e-9):
            return "y moves uniformly, y2 = y + h py."
        if not near(r[0], sol.q[k + 1, 0], 1e-9):
            return "x2 differs: px = vx (1 + y ym) at the beginning of the step, ym = y + h vy/2."
        if not np.allclose(p, sol.p[k + 1], atol=1e-9):
            return "r2 is right. The new momentum is vx (1 + y2 ym) and vy."


@some_of(FIBRES, '{"robot", "gear"}', "Still missing: {}. The force does not have to vanish.")
def exercise_2(name):
    a, b = (integrate(reduced(name), m, h=0.2, steps=10).q for m in (RDLA(), Variational()))
    if np.abs(a - b).max() >= 1e-12:
        return f"Choose {name} in the panel, or look at its connection: is A linear in r?"


def exercise_3(answer):
    radius = float(answer)
    if not 0 < radius < 20:
        return "The radius is a positive number, in units of R."
    left = float(np.linalg.norm(turned_by(radius)))
    if left >= 0.02:
        return f"After this circle the ball is turned by {left:.3f}. The panel shows the formula."
    if radius >= 2:
        return "It comes back, but after more than one turn: a smaller circle does it, too."
