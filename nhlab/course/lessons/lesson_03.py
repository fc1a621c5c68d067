"""Lesson 03: a plane in which a velocity is split and reflected, the jumps of a skate's momentum,
the errors of Fig. 5 of FIM08 with the point where DLA takes its constraint free to choose, a sleigh
that goes back and a snakeboard whose velocity leaves D; for geometers the constrained connection
and the snakeboard of the preprint."""

import numpy as np
import sympy as sp

from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import DLA, Projector, Reference
from ...run.loop import integrate
from ...run.trajectory import Trajectory
from ...view import plot
from ..colours import BLUE, DARK, GREEN, GREY, ORANGE
from ..exercises import near, sized, some_of, takes, told
from ..figures import PRINTED_START
from ..figures import sleigh_errors as errors
from ..figures import sleigh_ratios as sleigh_ratios
from ..kit import RIGHT, ahead, circle, drawn, frame, joined, new_board
from ..predict import either
from ..statements import bent_arrows


def heavy_particle():
    """The free particle of FIM08 example 1 whose motion along z has a mass of its own."""
    x, y, z, vx, vy, vz, m = symbols("x y z vx vy vz mz")
    q, v, L = (x, y, z), (vx, vy, vz), (vx**2 + vy**2 + m * vz**2) / 2
    return System(q, v, L, [vz - y * vx], parameters={m: 1.0}, name="heavy particle")


def mirrored(system, y, angle):
    """At height y: a velocity of energy 1/2 in the plane of vx and vz, and its mirror image."""
    q, a = np.array([0, y, 0]), np.deg2rad(angle)
    v = np.array([np.cos(a), 0, np.sin(a)])
    v /= np.sqrt(v @ system.M(q) @ v)
    return q, v, (system.P(q) - system.Q(q)) @ v


def reflection_panel(y=(-2.0, 2.0, 1.0), angle=(-180, 180, 10), mz=(0.25, 4.0, 1.0)):
    """A velocity in the plane of vx and vz, its two parts, and its mirror image (P - Q) v.

    The velocity has the energy 1/2; the ellipse holds all velocities that have.
    """
    system = heavy_particle()
    board, ax = new_board((6.8, 4.9))
    frame(ax, r"$\dot x$", r"$\dot z$", (-2.2, 2.2), (-2.2, 2.2), aspect="equal")
    ax.set(xticks=range(-2, 3), yticks=range(-2, 3))
    board.legend(**RIGHT)

    def update(y, angle, mz):
        """The line D, its complement, a velocity and its mirror image on one ellipse.

        The plane of the velocities at height y. The angle turns the arriving velocity; mz is the
        mass of the motion along z, which changes what is at right angles to D.
        """
        s = system.set(mz=mz)
        q, v, w = mirrored(s, y, angle)
        u, A = (v + w) / 2, s.A(q)[0]
        n = np.linalg.solve(s.M(q), A)
        board.curve(*(circle(181) / [1, np.sqrt(mz)]).T, color=GREY, label="equal energy")
        board.curve([-4, 4], [-4 * y, 4 * y], color=DARK, label="$D$")
        board.curve(*np.outer(n[::2], [-9, 9]), color=DARK, linestyle=":", label=r"$D^\perp$")
        board.curve([0, u[0]], [0, u[2]], color=GREEN, linewidth=3.2, label="$Pv$")
        board.curve([u[0], v[0]], [u[2], v[2]], color="#CC79A7", linewidth=3.2, label="$Qv$")
        board.arrow((0, 0), v[::2], BLUE, label="arriving $v$")
        board.arrow((0, 0), w[::2], ORANGE, label="leaving $(P-Q)v$")
        board.say("A v arriving, leaving", f"{A @ v:+.3f}, {A @ w:+.3f}")
        board.say("of the average", f"{abs(A @ (v + w)) / 2:.0e}")
        board.say("energies", f"{s.energy(q, v):.3f}, {s.energy(q, w):.3f}")

    return board.panel(update, y=y, angle=angle, mz=mz)


def skate_run(steps, turn=0.9, T=3.2, theta=0.2):
    """A skate (sleigh with a = 0), and by how much its momentum turns at the inner nodes."""
    v0 = [np.cos(theta), np.sin(theta), turn]
    sol = integrate(systems.sleigh(a=0.0), Projector(), [0, 0, theta], v0, h=T / steps, steps=steps)
    (x, y), (u, w) = sol.p[1:-1, :2].T, sol.p_minus[1:, :2].T
    return sol, np.arctan2(x * w - y * u, x * u + y * w)


def jump_panel(steps=(4, 12, 4), turn=(0.2, 1.5, 0.9), T=3.2, length=0.62):
    """FIM08 Fig. 1 computed: the skate and the momenta at its inner nodes."""
    board, ax = new_board((6.8, 4.9))
    frame(ax, "$x$", "$y$", (-1.5, 3.4), (-0.6, 2.8), aspect="equal")
    board.legend(ncols=3)

    def update(steps, turn):
        """A polygon of nodes; at each inner node two arrows, mirror images of each other in the
        dotted direction of the blade.

        A skate during t = {T:g}, in the chosen number of steps. Dotted: the direction of the blade
        at each node. Dashed, at the first step: what leaves a node is carried to the next (R*), and
        is reflected there.
        """
        sol, jump = skate_run(steps, turn, T)
        h, at, theta = T / steps, sol.q[1:-1, :2], sol.q[1:-1, 2]
        arriving, leaving = sol.p[1:-1, :2], sol.p_minus[1:, :2]
        blades = np.stack([ahead(at, theta, -length), ahead(at, theta, length)], 1)
        board.curve(*sol.q[:, :2].T, color=GREY, marker="o", mfc=DARK, mec=DARK)
        board.curve(*joined(blades).T, color=DARK, linestyle=":", label="along the blade")
        first, last = sol.q[0, :2], sol.q[-1, :2]
        tip = first + length * sol.p_minus[0, :2]
        tips = at[0] + length * arriving[0], at[0] + length * leaving[0]
        carried, mirrored = (
            bent_arrows([tip], tips[:1], -0.22),
            bent_arrows([tips[0]], tips[1:], -0.2),
        )
        board.curve(*carried, color=DARK, linestyle="--", label="$R^*$")
        board.curve(*mirrored, color=DARK, label="$P^*-Q^*$")
        board.arrow(first, tip, ORANGE, width=1.8)
        board.arrow(last, last + length * sol.p[-1, :2], BLUE, width=1.8)
        for x, p, p_minus in zip(at, arriving, leaving, strict=True):
            board.arrow(x, x + length * p, BLUE, label="arriving $p^+$", width=1.8)
            board.arrow(x, x + length * p_minus, ORANGE, label="leaving $p^-$", width=1.8)
        board.say("h =", f"{h:.2f}")
        board.say("jump of the direction (rad)", f"{np.abs(jump).max():.3f}")
        board.say("h times turn rate", f"{turn * h:.3f}")
        board.say("A v of the average", f"{np.abs(sol.constraint('average')).max():.0e}")

    return board.panel(update, update.__doc__.format(T=T), steps=steps, turn=turn)


def residuals(sol):
    """By how much a run misses the equations of FIM08 at its inner nodes, by their numbers."""
    q, arrives, leaves = sol.q[1:-1], sol.p[1:-1], sol.p_minus[1:]
    P, Q, A = sol.system.P(q), sol.system.Q(q), sol.system.A(q)

    def dual(X, p):
        return np.einsum("kij,ki->kj", X, p)  # X^T p at every node

    return {
        "(4a)": dual(P, arrives - leaves),
        "(4b)": dual(Q, arrives + leaves),
        "(5a)": arrives - leaves - dual(A, sol.lam[1:]),
        "(5b)": sol.constraint("average"),
        "(6)": leaves - dual(P - Q, arrives),
        "A v of p+": sol.constraint(),
    }


def printed(snakeboard):
    """D, its complement and Q as FIM08 prints them for the snakeboard, with a, b, c, J'."""
    J, _, J1, m, r = snakeboard.parameters
    _, _, theta, _, phi = snakeboard.q
    a, b, c = r * sp.cos(theta) * sp.cos(phi), r * sp.sin(theta) * sp.cos(phi), -sp.sin(phi)
    K = J + 2 * J1
    D = sp.Matrix([[a, b, c, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]).T
    normal = sp.Matrix([[K * c, 0, -m * a, 0, 0], [b, -a, 0, 0, 0]]).T
    rows = [
        [K * c**2 + m * b**2, -m * a * b, -K * a * c],
        [-m * a * b, K * c**2 + m * a**2, -K * b * c],
        [-m * a * c, -m * b * c, m * (a**2 + b**2)],
    ]
    return D, normal, sp.diag(sp.Matrix(rows) / (K * c**2 + m * (a**2 + b**2)), 0, 0)


def preprint_snakeboard(snakeboard: System, adapted: bool) -> System:
    """The snakeboard of FIM08's preprint, whose phi is measured from the x-axis.

    The preprint prints the Lagrangian of the journal for it, although phi has another meaning;
    ``adapted`` writes the same energy in the new angle, phi - theta in place of phi.
    """
    _, _, _, _, r = snakeboard.parameters  # in the order of their names
    _, _, theta, _, phi = snakeboard.q
    vx, vy, vtheta, _, vphi = snakeboard.v
    lever = r * vtheta * sp.cos(theta - phi)
    front = -vx * sp.sin(phi) + vy * sp.cos(phi) - lever
    rear = -vx * sp.sin(2 * theta - phi) + vy * sp.cos(2 * theta - phi) + lever
    L = snakeboard.L.xreplace({phi: phi - theta, vphi: vphi - vtheta}) if adapted else snakeboard.L
    return snakeboard.remade(L=L, constraints=[front, rear], name="snakeboard, phi from the x-axis")


def from_x_axis(q: np.ndarray) -> np.ndarray:
    """Positions or velocities of the snakeboard with phi measured from the x-axis: theta + phi."""
    turned = np.array(q, float)
    turned[..., 4] += turned[..., 2]
    return turned


def connection_acceleration(system: System) -> sp.Matrix:
    r"""q'' by the constrained connection of FIM08 section 2, as formulas in q and v.

    .. math:: \ddot q = -\Gamma(v, v) - (\nabla_v Q)\,v - P\operatorname{grad}V ,\quad v\in D,

    with the Christoffel symbols Gamma of M, and (nabla_v Q) v = dQ/dt v + Gamma(v, Q v)
    - Q Gamma(v, v).
    """
    S, q, v = system.symbolic, system.q, sp.Matrix(system.v)
    M, n = sp.Matrix(S.M), range(len(q))
    A = sp.Matrix(len(S.A), len(q), [e for row in S.A for e in row])
    inverse = M.inv()

    def Gamma(u, w):
        """The vector with the entries Gamma^k_ij u^i w^j."""
        lowered = [
            sum((M[k, j].diff(q[i]) + M[k, i].diff(q[j]) - M[i, j].diff(q[k])) / 2 * u[i] * w[j]
                for i in n for j in n)
            for k in n
        ]  # fmt: skip
        return inverse * sp.Matrix(lowered)

    Q = inverse * A.T * (A * inverse * A.T).inv() * A
    turned = sum((Q.diff(x) * u for x, u in zip(q, v, strict=True)), sp.zeros(len(q)))
    nabla_Q = turned * v + Gamma(v, Q * v) - Q * Gamma(v, v)
    V = -system.L.xreplace(dict.fromkeys(system.v, sp.S.Zero))
    gradient = inverse * sp.Matrix([V.diff(x) for x in q])
    return -(Gamma(v, v) + nabla_Q + gradient - Q * gradient)


def error_panel(c=(0.0, 1.0, 0.5), h=(1.0, 0.5, 0.25), T=120):
    """FIM08 Fig. 5 on a logarithmic scale; DLA takes its constraint at (1-c) q1 + c q2."""
    fine, start = min(h), ([0, 0, 0], PRINTED_START)
    true = integrate(systems.sleigh(), Reference(), *start, h=fine, steps=round(T / fine))
    board, ax = new_board((6.8, 4.2))
    frame(ax, "time $t$", r"error in $\mathbb{R}^3$", (0, T), (1e-6, 10), yscale="log")

    def update(c, h):
        """Errors of DLA and the projector method on the sleigh over time, log scale.

        The sleigh of FIM08 example 3 from the printed start. c = 0 takes DLA's constraint at the
        left point, c = 1/2 at the midpoint; the projector method has no such choice.
        """
        q = true.q[:: round(h / fine)]
        for m in (DLA(constraint_alpha=c), Projector()):
            error, name = errors(m, q, h), type(m).__name__
            t = true.t[:: round(h / fine)]
            board.run(m, t[2:], error[2:], label=name)  # the first two nodes are exact
            for end in (60, T):
                board.say(f"{name} at t = {end}", f"{error[round(end / h)]:.2e}")

    return board.panel(update, c=c, h=list(h))


def sleigh_run(method, h=0.1, T=200.0):
    """The sleigh, pushed backwards with a slight turn, computed up to T."""
    return integrate(systems.sleigh(), method, h=h, steps=round(T / h), progress=False)


def forward_speed(sol):
    """The speed of a sleigh along its blade, (N+1,); negative when it goes backwards."""
    theta, v = sol.q[:, 2], sol.v_projected
    return v[:, 0] * np.cos(theta) + v[:, 1] * np.sin(theta)


def normal_speed(sol: Trajectory) -> np.ndarray:
    """The size of the normal part Q v of the evolved velocities, measured with M, (N+1,).

    The whole velocity has the size sqrt(2 T) with T the kinetic energy.
    """
    normal = np.einsum("kij,kj->ki", sol.system.Q(sol.q), sol.v)
    return np.sqrt(np.einsum("ki,kij,kj->k", normal, sol.system.M(sol.q), normal))


@drawn(5.6, 3.6)
def beside(ax, step, h=0.4, steps=12):
    """The free particle by the projector method, and by the reader's own step."""
    sol = integrate(systems.free_particle(), Projector(), h=h, steps=steps)
    q = [sol.q[0], sol.q[1]]
    while len(q) <= steps and (new := step(q[-2], q[-1])) is not ...:
        q.append(np.asarray(new, float))
    ax.plot(*sol.q[:, ::2].T, "o", color=GREY, markersize=10, label="nh.Projector()")
    ax.plot(*np.array(q)[:, ::2].T, ".-", color=BLUE, label="your step")
    ax.set(xlabel="$x$", ylabel="$z$")
    ax.legend(frameon=False)
    return f"The free particle, h = {h}: the library's nodes and {len(q) - 2} of yours."


@drawn(10.8, 3.2, columns=2)
def two_readings(left, right, sol):
    """Evolved: energy flat, constraint missed. Projected: the other way round."""
    for at, name, style in (("nodes", "evolved", "-"), ("projected", "projected", "--")):
        look = {"color": plot.look(sol.method)["color"], "linestyle": style, "label": name}
        left.plot(sol.t, sol.energy(at), **look)
        right.plot(sol.t, sol.constraint(at)[:, 0], **look)
    left.set(xlabel="time $t$", ylabel="energy $E$")
    right.set(xlabel="time $t$", ylabel=r"constraint $\dot z - y\dot x$")
    left.legend(frameon=False)


@drawn(10.8, 3.2, columns=2)
def growth(left, right, sols):
    """Left: errors of the sleigh's contact point. Right: the normal part of its velocity."""
    for sol in sols:
        look, t = plot.look(sol.method), sol.t[10::10]
        error = np.linalg.norm((sol.q[10::10] - sol.system.exact(t))[:, :2], axis=1)
        left.semilogy(t, error, label=plot.label(sol.method), **look)
        right.semilogy(sol.t, np.abs(sol.constraint()[:, 0]), **look)
    left.set(xlabel="time $t$", ylabel="error of the contact point")
    left.legend(frameon=False)
    right.set(xlabel="time $t$", ylabel="normal part $|Av|$ at the nodes")


@drawn(7.2, 3.2)
def zigzag(ax, sols):
    """The normal part of the snakeboard's velocity: DLA's stays, the projector method's grows."""
    for sol in sols:
        label = plot.label(sol.method)
        ax.semilogy(sol.t[1:], normal_speed(sol)[1:], label=label, **plot.look(sol.method))
    ax.set(xlabel="time $t$", ylabel="normal part $|Qv|$ at the nodes")
    ax.legend(frameon=False)


# ---------------------------------------------------------------------------- predictions


def prediction_1():
    sol = sleigh_run(Reference(), h=1.0, T=60)
    u, turn = forward_speed(sol), abs(sol.v[-1, 2])
    truth = "It goes round" if turn > 0.1 else "It turns round" if u[-1] > 0 else "It goes on"
    return truth, {"first": u[0], "last": u[-1], "turn": turn}


def prediction_2():
    E = []
    for mz in (1.0, 4.0):
        system = heavy_particle().set(mz=mz)
        q, *velocities = mirrored(system, 1.0, 10)
        E += [system.energy(q, v) for v in velocities]
    light, heavy = np.isclose(*E[:2]), np.isclose(*E[2:])
    same = "It stays the same, whatever" if heavy else "It stays the same only"
    return same if light else "It falls", dict(zip("abcd", E, strict=True))


def prediction_3():
    coarse, fine = (skate_run(steps)[1] for steps in (4, 8))
    blade, less = coarse[:2].mean(), fine[:2].mean()
    truth = {1: "as large", 2: "about half", 4: "about a quarter"}[round(blade / less)]
    numbers = dict(zip(("a", "b", "a2"), coarse, strict=True)) | {"blade": blade, "less": less}
    return truth, numbers | {"coarse": np.ptp(coarse), "fine": np.ptp(fine)}


def prediction_4():
    start = {"q0": [0, 1, 0], "v0": [1, -1, 1], "h": 0.1, "steps": 100}
    runs = [integrate(systems.free_particle(), m, **start) for m in (DLA(), Projector())]
    dla, projector = (np.ptp(sol.energy()) for sol in runs)
    truth = either(dla < 1e-12, projector < 1e-12, "both", "DLA", "the projector", "neither")
    ends, held = (sol.energy()[-1] for sol in runs)
    return truth, {"dla": dla, "projector": projector, "held": held, "ends": ends}


def prediction_5():
    true = integrate(systems.sleigh(), Reference(), [0, 0, 0], PRINTED_START, h=0.5, steps=240).q
    methods = [*(DLA(constraint_alpha=c) for c in (0.5, 0.45, 0.3)), Projector()]
    runs = [errors(m, true[::2], 1) for m in methods]
    best, worse, third, mirror = (x[60] for x in runs)
    numbers = {"best": best, "worse": worse, "mirror": mirror, "times": worse / best}
    numbers |= {"best_late": runs[0][120], "late": runs[3][120]}
    halved, less = (errors(m, true, 0.5)[120] for m in methods[2:])
    return worse / best, numbers | {"first": third / halved, "second": mirror / less}


def prediction_6():
    sol = integrate(systems.free_particle(), Projector(), [0, 1, 0], [1, -1, 1], h=0.1, steps=100)
    E = sol.energy("projected")
    truth = "Constant" if E[0] < sol.energy()[0] else "As constant"
    truth = "It varies" if np.ptp(E) > 1e-12 else truth
    return truth, {"missed": np.abs(sol.constraint()).max(), "varies": np.ptp(E)}


def prediction_7():
    sol = sleigh_run(Projector())
    u, theta = forward_speed(sol), sol.q[:, 2]
    line, settled = (sol.t >= 80) & (sol.t <= 150), sol.t >= 50
    at_150 = np.argmax(sol.t >= 150)
    stop = np.argmax(settled & (u < 0))
    numbers = {"ahead": u[800], "back": u[at_150], "turn": np.ptp(theta[line])}
    ahead = "It stops" if u[at_150] < 0 else "It glides"
    truth = "It slows" if abs(u[at_150]) < 0.1 * u[800] else ahead
    truth = "It leaves" if numbers["turn"] > 0.3 else truth
    leaves = np.argmax((sol.t > 150) & (np.abs(theta - theta[at_150]) > 0.3))
    numbers |= {"stop": sol.t[stop], "round": sol.t[leaves]}
    numbers["spread"] = np.ptp(sol.energy()[settled & (sol.t <= 150)])
    return truth, numbers | {"normal": np.abs(sol.constraint()[stop, 0])}


# ---------------------------------------------------------------------------- exercises


@takes(sized(3), "The answer is a momentum: three numbers.")
def exercise_1(answer):
    s, q, p = systems.free_particle(), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    P, Q = s.P(q), s.Q(q)
    if near(answer, P.T @ p):
        return "This is the tangent part P* p. The normal part is not dropped: it changes sign."
    if near(answer, (Q - P).T @ p):
        return "The mirror is the wrong way round: the tangent part is kept, the normal one turns."
    if not near(answer, (P - Q).T @ p):
        return """A = (-1, 0, 1) at y = 1. Split p into a part along A and a part at right angles to
            it, and turn the first round."""


@takes(callable, "The answer is a function: answer = step, without calling it.")
def exercise_2(answer):
    s = systems.free_particle()
    q = integrate(s, Projector(), h=0.3, steps=8).q
    for a, b, c in zip(q, q[1:], q[2:], strict=False):
        mine = answer(a, b)
        if mine is ...:
            return "There are gaps left: tangent, normal and what is returned."
        mine = np.asarray(mine, float)
        at = f"From {a.round(2)} and {b.round(2)} your q2 is {mine.round(3)}, the method's is"
        if said := told(mine, c, _mistakes(s, a, b), f"{at} {c.round(3)}.", 1e-8):
            return said


def _mistakes(s, a, b):
    """Where the usual mistakes in a step of the projector method lead, and what is said."""
    d, at_q0, half = b - a, s.P(a) - s.Q(a), (a + b) / 2
    P, mirror = s.P(b), s.P(b) - s.Q(b)
    half_way = s.P(half) - s.Q(half)
    round_ = "The mirror is the wrong way round: the tangent part stays, the normal one turns."
    flight = "Tangent plus normal part is d again: this is a free flight. Turn one of them round."
    return [
        (b + P @ d, "You project: the normal part is dropped. It has to be reflected."),
        (b + at_q0 @ d, "The mirror stands at q1, where the two steps meet; you reflect at q0."),
        (b + s.P(a) @ d, "You project, and at q0. Reflect the normal part, at q1."),
        (b + half_way @ d, "The mirror stands at the node q1, not half-way to it."),
        (b - mirror @ d, round_),
        (b + d, flight),
        (mirror @ d, "This is the step q2 - q1. Add q1."),
        (a + mirror @ d, "The new step begins at q1, not at q0."),
    ]


@some_of(
    ["rolling_disk", "knife_edge", "robot", "sleigh", "contact_oscillator"],
    '{"sleigh", "robot"}',
    """Still missing: {}. V need not vanish and D may be anything;
    look only at M and at the degree of V.""",
)
def exercise_3(name):
    E = integrate(systems.catalogue[name](), Projector(), h=0.2, steps=50).energy()
    if np.ptp(E) >= 1e-11:
        return f"Run {name} and look: it does not. Is M constant? What degree has V?"


def exercise_4(answer):
    g = np.asarray(answer, float)
    if g.shape != (3,) or not np.all(g > 0):
        return "The answer is three positive numbers (g1, g2, g3)."
    if np.ptp(g) < 1e-9 * g.max():
        return "A multiple of M itself is too easy: take three numbers that are not all equal."
    A = systems.knife_edge().A(np.array([0, 0, 0.6]))[0]  # M is the identity
    right, mine = A, A / g
    if np.linalg.norm(np.cross(right, mine)) > 1e-9 * np.linalg.norm(mine):
        return f"""Heading along phi = 0.6, the complement of D is spanned by
            {(mine / mine[0]).round(2)} in your metric and by {(right / right[0]).round(2)} in M."""
