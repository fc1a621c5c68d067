"""Lesson 07: motions and their shadow, loops and what they cost, the gyroscopic force as a field,
the square of reducing and discretising, a rotor's momentum, a ball rolled round a loop."""

from __future__ import annotations

import numpy as np
from sympy import cos, sin

from ...geometry.diagnostics import action
from ...geometry.reduction import Chaplygin, Horizontal
from ...mechanics import catalogue as systems
from ...mechanics.groups import SO3
from ...mechanics.system import System, symbols
from ...methods import DLA, RDLA, Reference, Variational
from ...run.loop import integrate
from ...view import plot
from ...view.widgets import Picture, panel

DARK, GREY, LIGHT = "#333333", "#999999", "#DDDDDD"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}


# ---------------------------------------------------------------------------- systems


def gear():
    r"""x' + sin(y) z' = 0: A is not linear in r = (y, z), and the gyroscopic force is not zero."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2 - z**2) / 2 + cos(y)
    return System((x, y, z), (vx, vy, vz), L, [vx + sin(y) * vz], name="gear", q0=(0, 0, 0),
                  v0=(0, 1.5, 0.3))  # fmt: skip


def bent():
    r"""Linear A, no gyroscopic force, D not integrable: the momentum of w vanishes on D."""
    x, y, z, w, vx, vy, vz, vw = symbols("x y z w vx vy vz vw")
    row = vw - y * vx + x * vy
    L = (vx**2 + vy**2 + vz**2 + row**2) / 2 - x**2 - y**4
    rows = [vz + y * vx + (x + 3 * y) * vy, row]
    return System((x, y, z, w), (vx, vy, vz, vw), L, rows, name="bent", q0=(0, 1, 0, 0),
                  v0=(1, 0.5, -2.5, 1))  # fmt: skip


def relative_board(varying=True):
    """The snakeboard with psi measured from the board; if ``varying``, steering changes the rotor's
    inertia, J0 + cos(phi)/3."""
    b = systems.snakeboard()
    (_, _, vtheta, vpsi, _), phi = b.v, b.q[-1]
    J0 = next(s for s in b.parameters if s.name == "J0")
    inertia = J0 + cos(phi) / 3 if varying else J0
    L = b.L - J0 * vpsi**2 / 2 + inertia * (vtheta + vpsi) ** 2 / 2
    q0 = (0, 0, 0.2, 0, 0.3)
    made = System(b.q, b.v, L, b.constraints, parameters=b.parameters)
    return System(b.q, b.v, L, b.constraints, parameters=b.parameters, name="relative board",
                  q0=q0, v0=made.project(q0, (1, 0.1, 0.2, 0.7, 0.05)))  # fmt: skip


# ---------------------------------------------------------------------------- the poster


def four_statements(red, sol, seed=1):
    """The residuals of the poster's four statements on a path of the full system, and of the path.

    1 : dS(dq) for a random dq in D with fixed ends     2 : D1Ld + D2Ld along D, at inner nodes
    3 : d sigma(dr) - (F- + F+) dr, dr = d pi(dq)       4 : D1Ld* + D2Ld* - F- - F+ along D^
    5 : wd, and the connection A_d, which vanishes where the condition of the reduction holds
    """
    full, t, q, r = red.full, sol.t, sol.q, red.project(sol)
    h, rule, rng = float(sol.h[0]), DLA(), np.random.default_rng(seed)
    D = _null_space(full.A(q))
    dq = np.einsum("kia,ka->ki", D, rng.uniform(-1, 1, (len(q), D.shape[-1])))
    dq[0] = dq[-1] = 0
    dr = red.project(dq)
    v = full.velocity_between(q[:-1], q[1:], h)
    leave, arrive = (rule.on_step(full, x, t[:-1], q[:-1], v, h) for x in ("p_minus", "p_plus"))
    parts = red.F_minus, red.F_plus, red.D1Ld, red.D2Ld
    F_minus, F_plus, D1, D2 = (part(r[:-1], r[1:], h) for part in parts)
    F = F_minus[1:] + F_plus[:-1]
    first = _slope(lambda e: action(full, rule, t, q + e * dq))
    second = np.einsum("kia,ki->ka", D[1:-1], arrive[:-1] - leave[1:])
    third = _slope(lambda e: red.Ld((r + e * dr)[:-1], (r + e * dr)[1:], h).sum())
    third -= (F * dr[1:-1]).sum()
    reduced = np.moveaxis(np.array([red.project(D[..., a]) for a in range(D.shape[-1])]), 0, -1)
    fourth = np.einsum("kia,ki->ka", reduced[1:-1], D1[1:] + D2[:-1] - F)
    path = np.hstack([rule.on_step(full, "constraints", t[:-1], q[:-1], v, h),
                      red.A_d(q[:-1], q[1:], h)])  # fmt: skip
    return [float(np.abs(x).max()) for x in (first, second, third, fourth, path)]


def _slope(f, d=1e-5):
    """f'(0), by a central difference."""
    return (f(d) - f(-d)) / (2 * d)


def _null_space(A):
    """Bases of {v : A v = 0}, shape (N, n, n - m)."""
    return np.swapaxes(np.linalg.svd(A)[2][:, A.shape[1] :], -1, -2)


# ---------------------------------------------------------------------------- pictures


def _picture(size, columns=1, **margins):
    """A Picture with fixed margins: no layout is computed while a slider moves."""
    picture = Picture(size, 1, columns)
    picture.figure.set_layout_engine(None)
    picture.figure.subplots_adjust(**{"left": 0.1, "right": 0.97, "bottom": 0.15, "top": 0.88,
                                      "wspace": 0.3, **margins})  # fmt: skip
    return picture


def shadow_figure(runs):
    """Motions in space and their common shadow in the plane of (x, y)."""
    import matplotlib.pyplot as plt

    with plt.rc_context(plot.STYLE):
        figure = plt.figure(figsize=(6.8, 4.8), layout="none")
        ax = figure.add_axes((0.02, 0.03, 0.86, 0.97), projection="3d")
    floor = min(sol.q[:, 2].min() for sol in runs) - 1.0
    for sol, colour in zip(runs, (BLUE, ORANGE), strict=True):
        x, y, z = sol.q.T
        ax.plot(x, y, z, color=colour, label=f"from $z_0={z[0]:g}$")
        for k in range(0, len(x), len(x) // 4):  # the fibres over four points
            ax.plot([x[k]] * 2, [y[k]] * 2, [floor, z[k]], color=GREY, linewidth=0.8, linestyle=":")
            ax.plot([x[k]], [y[k]], [z[k]], "o", color=colour, markersize=4)
    ax.plot(x, y, np.full_like(x, floor), color=DARK, linewidth=2.2, label="shadow in $Q/G$")
    ax.set(xlabel="$x$", ylabel="$y$", zlabel="$z$", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set_zlim(bottom=floor)
    ax.set_box_aspect((1, 1, 1.05), zoom=0.93)
    ax.view_init(elev=22, azim=-62)
    ax.legend(loc="upper left", bbox_to_anchor=(-0.02, 0.98), frameon=False)
    return figure


def loop_panel(robot, theta=(-3.1, 3.1, 0.6), steer=(0.05, 1.2, 0.8), roll=(0.1, 1.0, 0.8)):
    """A loop in (theta, psi), its horizontal lift, and what the curvature predicts."""
    picture = _picture((9.2, 4.2), columns=2)
    left, right = picture.axes
    left.set(xlabel=r"steering angle $\theta$", ylabel=r"rolling angle $\psi$",
             xlim=(-4.5, 4.5), ylim=(-1.2, 1.2))  # fmt: skip
    right.set(xlabel="$x$", ylabel="$y$", xlim=(-3.9, 3.9), ylim=(-3.9, 3.9))
    right.set_aspect("equal")
    loop = picture.line(ax=left, color=DARK)
    ahead = picture.line(ax=left, color=DARK, marker=">", markersize=9)
    start = picture.line(ax=left, color=BLUE, marker="o", linestyle="none")
    path = picture.line(ax=right, color=DARK, linewidth=1.2, label="path")
    promised = picture.line(ax=right, color=ORANGE, linewidth=5, alpha=0.6,
                            label=r"$-B\cdot$area")  # fmt: skip
    gained = picture.line(ax=right, color=BLUE, linewidth=2, marker="o", markevery=[1],
                          label="gained")  # fmt: skip
    right.legend(handles=[path, gained, promised], ncols=3, columnspacing=1, handlelength=1.4,
                 **ABOVE)  # fmt: skip
    u = np.linspace(0, 2 * np.pi, 401)

    def update(picture, values, quick):
        a, b = values["steer"], values["roll"]
        r = np.stack([values["theta"] + a * np.cos(u), b * np.sin(u)], -1)
        s = np.cumsum(robot.f(r[:-1], r[1:], 1.0), 0)
        B = robot.curvature_at([values["theta"], 0.0])[:, 0, 1]
        promise = -B * np.pi * a * b
        loop.set_data(*r.T)
        ahead.set_data([values["theta"]], [-b])
        start.set_data(*r[:1].T)
        path.set_data(*np.vstack([[0, 0], s]).T)
        gained.set_data([0, s[-1, 0]], [0, s[-1, 1]])
        promised.set_data([0, promise[0]], [0, promise[1]])
        size = np.linalg.norm(s[-1]), np.linalg.norm(promise)
        return {"gained (x, y)": f"({s[-1, 0]:+.4f}, {s[-1, 1]:+.4f})",
                "curvature times area": f"({promise[0]:+.4f}, {promise[1]:+.4f})",
                "ratio of the lengths": f"{size[0] / size[1]:.4f}"}  # fmt: skip

    return panel(picture, update, theta=theta, steer=steer, roll=roll,
                 alt="Left: a loop of steering and rolling. Right: the robot's path, which does "
                     "not close, and the displacement that the curvature predicts.",
                 caption="Left: the wheels are steered and rolled round an ellipse, anticlockwise "
                         "from the dot; theta is its centre, steer and roll are its half axes. "
                         "Right: where the robot goes.")  # fmt: skip


def force_panel(*reductions, angle=(-180, 180, 30)):
    """The gyroscopic force at the points of the base, for one velocity everywhere."""
    by_name = {red.full.name: red for red in reductions}
    picture = _picture((5.6, 5.2), left=0.13, top=0.92, bottom=0.11)
    ax = picture.ax
    grid = np.linspace(-1.6, 1.6, 9)
    r = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    ax.set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1))
    ax.set_aspect("equal")
    options = {"angles": "xy", "scale_units": "xy", "scale": 3.0, "width": 0.006}
    velocity = picture.add(ax.quiver(*r.T, 0 * r[:, 0], 0 * r[:, 0], color="#BBBBBB", **options))
    force = picture.add(ax.quiver(*r.T, 0 * r[:, 0], 0 * r[:, 0], color=ORANGE, **options))
    keys = [
        ax.plot([], [], color=c, label=t, linewidth=3)[0]
        for c, t in (("#BBBBBB", r"velocity $\dot r$"), (ORANGE, "gyroscopic force $F$"))
    ]
    ax.legend(handles=keys, ncols=2, **ABOVE)

    def update(picture, values, quick):
        red, a = by_name[values["system"]], np.deg2rad(values["angle"])
        v = np.broadcast_to([np.cos(a), np.sin(a)], r.shape)
        F = red.gyroscopic_force(r, v)
        velocity.set_UVC(*v.T)
        force.set_UVC(*F.T)
        names = [plot.reading(f"t {s}", red)[1] for s in red.q]
        if ax.get_xlabel() != names[0]:
            ax.set(xlabel=names[0], ylabel=names[1])
            picture.changed()
        return {"largest |F|": f"{np.linalg.norm(F, axis=1).max():.3f}",
                "largest |F.v|": f"{np.abs((F * v).sum(1)).max():.0e}"}  # fmt: skip

    return panel(picture, update, angle=angle, system=list(by_name),
                 alt="Arrows over the base: one velocity everywhere, and at right angles to it the "
                     "gyroscopic force.",
                 caption="The velocity has length 1 and the direction angle (degrees) at every "
                         "point; velocity and force have the same scale.")  # fmt: skip


RULES = {"midpoint": (0.5, False), "alpha = 0.3": (0.3, False), "symmetric 0.3": (0.3, True)}
FLOOR = 1e-7  # where a difference that is round-off is drawn


def square_panel(*reductions, h=(0.05, 0.4, 0.2), T=4.0):
    """Discretise and reduce (RDLA) against reduce and discretise (Variational)."""
    by_name = {red.full.name: red for red in reductions}
    hs = np.array([0.4, 0.2, 0.1, 0.05, 0.025])
    pair = RDLA(), Variational()
    looks = {**plot.look(pair[0])}, {**plot.look(pair[1]), "linewidth": 3.2, "alpha": 0.7}
    picture = _picture((9.4, 4.2), columns=2)
    left, right = picture.axes
    left.set(xscale="log", yscale="log", ylim=(FLOOR / 2, 2), xlabel="step size $h$",
             ylabel=f"largest difference up to $t={T:g}$",
             xticks=hs, xticklabels=[f"{x:g}" for x in hs],
             yticks=[FLOOR, 1e-6, 1e-4, 1e-2, 1],
             yticklabels=["0", "$10^{-6}$", "$10^{-4}$", "$10^{-2}$", "1"])  # fmt: skip
    left.minorticks_off()
    right.locator_params(nbins=5)
    for slope, style in ((1, "--"), (2, ":")):
        left.plot(hs, 0.5 * (hs / hs[0]) ** slope, color=GREY, linestyle=style,
                  label=f"slope {slope}")  # fmt: skip
    gaps = picture.line(ax=left, color=BLUE, marker="o", label="difference")
    here = picture.line(ax=left, color=ORANGE, marker="D", linestyle="none", markersize=9)
    left.legend(ncols=3, columnspacing=1, handlelength=1.6, **ABOVE)
    curves = [picture.line(ax=right, label=text, **look) for text, look in
              zip(("reduce first", "discretise first"), looks[::-1],
                  strict=True)]  # fmt: skip
    exact = picture.line(ax=right, color=DARK, linestyle=":", linewidth=1.2, label="exact")
    right.legend(handles=[*curves, exact], loc="lower left", bbox_to_anchor=(-0.12, 1), ncols=3,
                 frameon=False, columnspacing=1, handlelength=1.4)  # fmt: skip
    stored, shown = {}, []

    def runs(red, rule, step):
        count = max(1, round(T / step))
        return [integrate(red, m(*rule), h=step, steps=count) for m in (Variational, RDLA)]

    def gap(pair):
        size = float(np.abs(pair[0].q - pair[1].q).max())
        return size if size > 1e-12 else FLOOR

    def update(picture, values, quick):
        red, rule, step = by_name[values["system"]], RULES[values["rule"]], values["h"]
        key = values["system"], values["rule"]
        if key not in stored:
            stored[key] = [gap(runs(red, rule, x)) for x in hs]
            stored[key[0]] = integrate(red, Reference(), h=T / 100, steps=100).q
        both = runs(red, rule, step)
        gaps.set_data(hs, stored[key])
        here.set_data([step], [gap(both)])
        for line, sol in zip(curves, both, strict=True):
            line.set_data(*sol.q.T)
        exact.set_data(*stored[key[0]].T)
        names = [plot.reading(f"t {s}", red)[1] for s in red.q]
        if shown != [values["system"]]:
            shown[:] = [values["system"]]
            right.set(xlabel=names[0], ylabel=names[1])
            picture.forget()
        every = np.vstack([stored[key[0]], *(sol.q for sol in both)])
        picture.fit(right, *every.T, quick)
        true = integrate(red, Reference(), h=both[0].t[-1], steps=1).q[-1]
        errors = [float(np.abs(sol.q[-1] - true).max()) for sol in both]
        commutes = max(stored[key]) == FLOOR
        slope = np.polyfit(np.log(hs[1:]), np.log(stored[key][1:]), 1)[0]
        return {"difference": "round-off" if commutes else f"{gap(both):.1e}",
                "slope": "none" if commutes else f"{slope:.2f}",
                "errors at the end": " and ".join(f"{e:.1e}" for e in errors)}  # fmt: skip

    return panel(picture, update, h=h, system=list(by_name), rule=list(RULES),
                 alt="Left: the difference of the two ways round the square against h. Right: both "
                     "paths in the base.",
                 caption="Left: the difference for five step sizes and, as a diamond, for the "
                         "chosen one; 0 means round-off. Right: both motions in the base. The "
                         "errors are listed in the order of the legend.")  # fmt: skip


def rotor_panel(mu=(-4.0, 4.0, 2.0), h=(0.05, 0.4, 0.1), T=12.0):
    """The board's path on the floor and its steering, for a momentum mu of the rotor."""
    kinds = {"inertia J0 + cos(phi)/3": True, "inertia J0": False}
    boards = {name: Horizontal(relative_board(kind), "psi") for name, kind in kinds.items()}
    picture = _picture((9.4, 4.2), columns=2)
    left, right = picture.axes
    left.set(xlabel="$x$", ylabel="$y$", xlim=(-2, 9), ylim=(-6, 3))
    left.set_aspect("equal")
    right.set(xlabel="time $t$", ylabel="angle", xlim=(0, T))
    still = picture.line(ax=left, color=GREY, linewidth=1.2, label=r"path, $\mu=0$")
    path = picture.line(ax=left, label=r"path", **plot.look(RDLA()))
    steering = picture.line(ax=right, color=ORANGE, label=r"wheels $\phi$")
    heading = picture.line(ax=right, color=BLUE, linestyle="--", label=r"board $\theta$")
    left.legend(handles=[still, path], ncols=2, **ABOVE)
    right.legend(handles=[steering, heading], ncols=2, **ABOVE)

    def update(picture, values, quick):
        red, step = boards[values["rotor"]], values["h"]
        count = round(T / step)
        runs = [integrate(red.set(mu=m), RDLA(), h=step, steps=count) for m in (0, values["mu"])]
        for line, sol in zip((still, path), runs, strict=True):
            line.set_data(*sol.q[:, :2].T)
        theta, phi = runs[1].q[:, 2:].T
        heading.set_data(runs[1].t, theta)
        steering.set_data(runs[1].t, phi)
        picture.fit(right, [0, T], [*theta, *phi], quick)
        full = runs[1].system.reconstruct(runs[1])
        J = runs[1].system.J_d(full.q[:-1], full.q[1:], step)
        other = integrate(red.set(mu=values["mu"]), DLA(), h=step, steps=count)
        text = {"spread of J_d": np.ptp(J), "other way round the square": other.q - runs[1].q}
        return {"psi at the end": f"{full.q[-1, 3]:.2f}"} | {
            k: "round-off" if np.abs(x).max() < 1e-10 else f"{np.abs(x).max():.1e}"
            for k, x in text.items()
        }

    return panel(picture, update, mu=mu, h=h, rotor=list(kinds),
                 alt="Left: the board's path for mu and for mu = 0. Right: wheel angle and heading "
                     "over time.",
                 caption="The snakeboard reduced by its rotor, always from the same place and "
                         "velocity of board and wheels.")  # fmt: skip


# ---------------------------------------------------------------------------- the ball


def rolled(ball, r):
    """Attitudes (unit quaternions) of the ball rolled along a polygon r on the table."""
    g = [SO3.identity]
    for f in ball.f(r[:-1], r[1:], 1.0):
        g.append(SO3.multiply(g[-1], f))
    return SO3.inverse(np.array(g))  # g is the inverse of the attitude


def _mark():
    """An arrow painted on the ball: points of the unit sphere, from the north pole towards e1."""
    shaft = np.linspace(-0.5, 0.5, 15)
    head = np.array([[0.3, 0.18], [0.5, 0.0], [0.3, -0.18]])
    x = np.concatenate([shaft, [np.nan], head[:, 0]])
    y = np.concatenate([0 * shaft, [np.nan], head[:, 1]])
    return np.stack([x, y, np.sqrt(1 - x**2 - y**2)], -1)


def _net(count=49):
    """Three great circles, separated by nan."""
    a = np.linspace(0, 2 * np.pi, count)
    c, s, o = np.cos(a), np.sin(a), 0 * a
    gap = np.full((1, 3), np.nan)
    circles = (np.stack(p, -1) for p in ((c, s, o), (o, c, s), (s, o, c)))
    return np.concatenate([x for circle in circles for x in (circle, gap)])


def ball_panel(ball, radius=(0.1, 1.7, 0.5), part=(0.0, 1.0, 1.0)):
    """A ball rolled anticlockwise round a circle on the table, and its attitude, from above."""
    ball = ball.set(R=1.0)
    picture = _picture((9.2, 4.3), columns=2, left=0.08, wspace=0.2)
    left, right = picture.axes
    left.set(xlabel="$x/R$", ylabel="$y/R$", xlim=(-4.6, 1.6), ylim=(-3.1, 3.1))
    right.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), xticks=[], yticks=[],
              xlabel="the ball from above")  # fmt: skip
    right.grid(False)
    right.spines[:].set_visible(False)
    for ax in (left, right):
        ax.set_aspect("equal")
    a = np.linspace(0, 2 * np.pi, 241)
    right.plot(np.cos(a), np.sin(a), color=DARK)
    right.plot(*_mark()[:, :2].T, color="#BBBBBB", linewidth=5, label="mark at first")
    loop = picture.line(ax=left, color=GREY)
    rim, on_table = picture.line(ax=left, color=DARK), picture.line(ax=left, color=ORANGE)
    net = picture.line(ax=right, color=BLUE, linewidth=0.9)
    mark = picture.line(ax=right, color=ORANGE, linewidth=3, label="mark now")
    right.legend(ncols=2, **ABOVE)
    points, lines = _mark(), _net()

    def update(picture, values, quick):
        rho = values["radius"]
        r = rho * np.stack([np.cos(a) - 1, np.sin(a)], -1)
        attitude = rolled(ball, r)
        k = round(values["part"] * (len(r) - 1))
        R = SO3.matrix(attitude[k])
        seen = [x @ R.T for x in (points, lines)]
        for line, x in zip((mark, net), seen, strict=True):
            line.set_data(*np.where(x[:, 2:] > -1e-9, x, np.nan)[:, :2].T)
        loop.set_data(*r.T)
        rim.set_data(r[k, 0] + np.cos(a), r[k, 1] + np.sin(a))
        on_table.set_data(*(np.where(seen[0][:, 2:] > 0, seen[0], np.nan)[:, :2] + r[k]).T)
        turn = 2 * np.arccos(np.clip(attitude[-1, 0], -1, 1))
        return {"angle after the loop": f"{turn:.4f}",
                "area / R²": f"{np.pi * rho**2:.4f}",
                "2 pi (sqrt(1 + radius²) - 1)":
                    f"{2 * np.pi * (np.sqrt(1 + rho**2) - 1):.4f}"}  # fmt: skip

    return panel(picture, update, radius=radius, part=part,
                 alt="Left: a circle on the table and the ball on it. Right: the ball from above "
                     "with a painted arrow that a closed loop has turned.",
                 caption="The ball rolls anticlockwise from the origin, without slipping or "
                         "twisting. part is the part of the circle it has rolled; the radius is "
                         "in units of R.")  # fmt: skip


def reductions():
    """The four Chaplygin systems of the lesson's tables and panels."""
    return (Chaplygin(systems.particle(), fibre="z"), Chaplygin(gear(), fibre="x"),
            Chaplygin(systems.robot(), fibre="x y"),
            Chaplygin(systems.rolling_disk(), fibre="x y"))  # fmt: skip
