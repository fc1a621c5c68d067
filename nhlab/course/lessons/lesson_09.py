"""Lesson 09: four vehicles and a disc, their sketches and bodies, the growth of a distribution."""

from types import SimpleNamespace

import numpy as np
import sympy as sp
from scipy.optimize import brentq
from sympy import cos, sin
from sympy.physics import mechanics as me

from ...mechanics import catalogue as systems
from ...mechanics.formula import sympified
from ...mechanics.system import System, symbols
from ...methods import DLA, RK4, Projector, Reference
from ...run.loop import integrate
from ...view import plot
from ...view.bodies import Body, ahead, axle, box, circle, joined, place
from ...view.machines import Car, Racer
from ...view.widgets import free_velocities
from ..colours import BLUE, DARK, GREY, ORANGE
from ..exercises import near
from ..kit import arc, drawn
from ..kit import show_errors as show_errors
from ..predict import either

# ---------------------------------------------------------------------------- systems

x, y, theta, psi, m, a, I, J, k = symbols("x y theta psi m a I J k")
vx, vy, vtheta, vpsi = symbols("vx vy vtheta vpsi")
ACROSS = -vx * sin(theta) + vy * cos(theta)  # the velocity of (x, y) across the heading


def cart(**values):
    """The cart with a rotor, as the notebook states it."""
    centre = (vx - a * vtheta * sin(theta)) ** 2 + (vy + a * vtheta * cos(theta)) ** 2
    L = (m * centre + I * vtheta**2 + J * (vtheta + vpsi) ** 2 - k * psi**2) / 2
    q, v, numbers = (x, y, theta, psi), (vx, vy, vtheta, vpsi), dict(m=1, a=0.3, I=0.2, J=0.2, k=1)
    start = {"q0": [0, 0, 0, 2], "v0": [0, 0, 0, 0], "name": "cart with a rotor"}
    return System(q, v, L, [ACROSS], parameters=numbers | values, **start)


def pair():
    """Two rolling wheels on an axle, and what the two do not slip: four statements, one of them
    twice."""
    left, right, vleft, vright, R, b = symbols("psi_l psi_r vpsi_l vpsi_r R b")
    speed = vx * cos(theta) + vy * sin(theta)
    q, v = (x, y, theta, left, right), (vx, vy, vtheta, vleft, vright)
    L = (m * (vx**2 + vy**2) + I * vtheta**2 + J * (vleft**2 + vright**2)) / 2
    rolls = [speed - b * vtheta - R * vleft, speed + b * vtheta - R * vright]
    numbers = dict(m=1, I=0.2, J=0.05, R=0.3, b=0.5)
    start = {"q0": [0, 0, 0, 0, 0], "v0": [0.3, 0, 0.3, 0.5, 1.5]}
    return System(q, v, L, [ACROSS, *rolls], parameters=numbers, **start), [ACROSS, *rolls, ACROSS]


def disc():
    """A thin disc that rolls and may lean, as in SymPy's documentation: heading q1, lean q2 and
    rolling q3 of a disc that touches the ground at (x, y)."""
    q, v = symbols("q1 q2 q3"), symbols("v1 v2 v3")
    r, g = symbols("r g")
    (q1, q2, _), (v1, v2, v3) = q, v
    centre = sp.Matrix([x + r * sin(q1) * sin(q2), y - r * cos(q1) * sin(q2), r * cos(q2)])
    velocity = centre.jacobian([*q, x, y]) * sp.Matrix([*v, vx, vy])
    turning = (v2**2 + (v1 * cos(q2)) ** 2) / 8 + (v3 + v1 * sin(q2)) ** 2 / 4
    L = sp.simplify(m * velocity.dot(velocity) / 2 + m * r**2 * turning - m * g * r * cos(q2))
    rolls = [vx - r * v3 * cos(q1), vy - r * v3 * sin(q1)]
    start = {"q0": [0, 0.2, 0, 0, 0], "v0": [0.5, 0, 3, 3, 0], "name": "rolling disc"}
    numbers = {"m": 1, "r": 1, "g": 9.81}
    return System((*q, x, y), (*v, vx, vy), L, rolls, parameters=numbers, **start)


def put_in(system):
    """The disc with vx and vy replaced in L before it is differentiated: the beginner's mistake."""
    *v, vx, vy = system.v
    rolls = sp.solve(system.constraints, [vx, vy])
    numbers, start = system.parameters, {"q0": system.q0[:3], "v0": system.v0[:3]}
    return System(system.q[:3], v, system.L.subs(rolls), parameters=numbers, **start)


def sympys_disc(at, speeds):
    """q1'' at a state, m = r = 1, after two examples of SymPy's documentation: "A rolling disc
    using Lagrange's Method" and "A rolling disc, with Kane's method"."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    rates, N = {s.diff(): w for s, w in zip(q, u, strict=True)}, me.ReferenceFrame("N")
    heading = N.orientnew("Y", "Axis", [q[0], N.z])
    lean = heading.orientnew("L", "Axis", [q[1], heading.x])
    rolling, touching = lean.orientnew("R", "Axis", [q[2], lean.y]), me.Point("C")
    touching.set_vel(N, 0)  # of the disc's point of contact: here the constraint is put in
    centre = touching.locatenew("D", lean.z)
    centre.v2pt_theory(touching, N, rolling)
    inertia = me.inertia(lean, sp.Rational(1, 4), sp.Rational(1, 2), sp.Rational(1, 4))
    body = me.RigidBody("disc", centre, rolling, 1, (inertia, centre))
    lagrange = me.LagrangesMethod(me.Lagrangian(N, body), q)  # q1'' does not depend on the weight
    lagrange.form_lagranges_equations()
    rolling.set_ang_vel(N, rolling.ang_vel_in(N).subs(rates))
    centre.v2pt_theory(touching, N, rolling)
    kane = me.KanesMethod(N, q, u, [w - rate for rate, w in rates.items()])
    kane.kanes_equations([body])
    numbers = {**dict(zip(u, speeds, strict=True)), **dict(zip(q, at, strict=True))}
    found = {}
    for method in (lagrange, kane):
        M, f = (e.subs(rates).subs(numbers) for e in (method.mass_matrix, method.forcing))
        found[type(method).__name__] = float(M.LUsolve(f)[0])
    return found


def oscillators():
    """The chaotic oscillator of the catalogue, x' + y z' = 0, and as odelab states it, x' + z z' =
    0, with three y and three z each."""
    s = systems.quartic()
    z, vz = s.q[4:], s.v[4:]
    form = s.v[0] + sum(p * w for p, w in zip(z, vz, strict=True))
    odelab = System(s.q, s.v, s.L, [form], name="oscillator of odelab")
    return s, odelab


# ---------------------------------------------------------------------------- bodies


class Cart(Body):
    def parts(self, q):
        (x, y, theta, psi), a = q, self.value["a"]
        top = ahead((x, y), theta, a)  # the rotor sits on the centre of mass
        bar = [[-0.28, 0], [0.28, 0]]
        return [
            place(box(0.8, 0.44) + [0.15, 0], theta, (x, y)),
            axle((x, y), theta, 0.6),
            0.32 * circle() + top,
            place(bar, theta + psi, top),
        ]


class Pair(Body):
    def parts(self, q):
        (x, y, theta, *angles), b, R = q, self.value["b"], self.value["R"]
        parts = [place([[0, -b], [0, b]], theta, (x, y)), place(box(0.5, 0.4), theta, (x, y))]
        for side, angle in zip((b, -b), angles, strict=True):
            spot = [R * np.sin(angle), 0] if np.cos(angle) > 0 else [np.nan, 0]  # else below
            mark = np.array([[0, -0.06], [0, 0.06]]) + spot
            parts.append(place(joined([box(2 * R, 0.12), mark]) + [0, side], theta, (x, y)))
        return parts


def _cart(ax, at, theta, psi, a):
    top = ahead(at, theta, a)
    _angle(ax, at, 0, theta, 0.95, r"$\theta$")
    _angle(ax, top, theta, theta + psi, 0.5, r"$\psi$")
    ax.plot(*top, "o", color=BLUE, zorder=4)
    line = {"arrowprops": {"arrowstyle": "-", "color": GREY}}
    _name(ax, "centre of mass,\n$a$ ahead of the axle", top, (0.55, -0.62), **line)


def _pair(ax, at, theta, left, right, b, R):
    side = ahead(at, theta + np.pi / 2, b) - at
    _angle(ax, at, 0, theta, 0.8, r"$\theta$")
    _name(ax, "$b$", at + side / 2, (0.08, 0.08))
    line = {"arrowprops": {"arrowstyle": "-", "color": GREY}}
    _name(ax, "radius $R$,\nturned by $\\psi_l$", at + side, (0.6, 0.1), **line)
    _name(ax, "turned by $\\psi_r$", at - side, (0.6, -0.1), **line)
    ax.set_xlim(-1.2, 1.9)


def _car(ax, at, theta, phi, psi, l, d):
    front, trailer = ahead(at, theta, l), ahead(at, psi, -d)
    _angle(ax, at, 0, theta, 0.8, r"$\theta$")
    _angle(ax, front, theta, theta + phi, 0.7, r"$\phi$")
    _angle(ax, trailer, 0, psi, 0.9, r"$\psi$")
    _name(ax, "$l$", ahead(at, theta, 0.7), (-0.06, 0.14))
    _name(ax, "$d$", ahead(at, psi, -0.6), (-0.1, -0.16))


def _racer(ax, at, theta, phi, d1, d2):
    joint = ahead(at, theta, d1)
    _angle(ax, at, 0, theta, 1.0, r"$\theta$")
    _angle(ax, joint, theta, theta + phi, 0.75, r"$\phi$")
    _name(ax, "$d_1$", ahead(at, theta, 0.65), (-0.25, 0.28))
    _name(ax, "$d_2$", ahead(joint, theta + phi, 0.25), (-0.22, 0.12))


# body -> its pose, its lengths, where (x, y) is written, and what names the rest
SKETCHES = {
    Cart: ((0, 0, 0.5, 0.9), {"a": 0.3}, (-42, -6), _cart),
    Pair: ((0, 0, 0.35, 0.5, 1.0), {"b": 0.6, "R": 0.3}, (-98, -4), _pair),
    Car: ((0, 0, 0.35, 0.45, -0.3), {"l": 1.4, "d": 1.5}, (-58, -26), _car),
    Racer: ((0, 0, 0.35, 0.6), {"d1": 1.3, "d2": 0.5}, (-96, -4), _racer),
}


def sketch(kind):
    """The body with its coordinates and lengths named; ``kind`` is Cart, Pair, Car or Racer."""
    pose, lengths, shift, name = SKETCHES[kind]
    q, numbers = np.array(pose), {sp.Symbol(k): x for k, x in lengths.items()}
    fig, ax = plot.new(size=(6.4, 3.4))
    for points in kind(SimpleNamespace(parameters=numbers)).parts(q):
        ax.plot(*points.T, color=DARK, linewidth=1.8)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.plot(*q[:2], "o", color=ORANGE, zorder=4)
    text = {"textcoords": "offset points", "color": ORANGE, "fontsize": 13}
    ax.annotate("$(x, y)$", q[:2], shift, **text)
    name(ax, q[:2], *q[2:], **lengths)
    return fig


def _angle(ax, at, start, stop, radius, text):
    for angle in (start, stop):
        ax.plot(*np.array([at, ahead(at, angle, 1.25 * radius)]).T, ":", color=GREY)
    arc(ax, at, radius, (start, stop), text, 0.13 * radius, BLUE, 1.4, color=BLUE, fontsize=14)


def _name(ax, text, at, shift, **line):
    ax.annotate(text, at, np.asarray(at) + shift, color=BLUE, va="center", fontsize=13, **line)


def growth_vector(system):
    """Dimensions of D, D + [D, D], ... at a generic point, as far as they grow.

    The last one is the dimension of what can be reached: n if the constraints restrict no position.
    """
    n = len(system.q)
    q = np.random.default_rng(9).uniform(0.3, 1.2, n)
    first = _basis(system, q)
    fields, last, dimensions = list(first), first, []
    while True:
        table = sp.lambdify(system.q, sp.Matrix.hstack(*fields), "numpy", cse=True)(*q)
        rank = int(np.linalg.matrix_rank(table, tol=1e-9))
        if rank in dimensions:
            return dimensions
        dimensions.append(rank)
        if rank == n:
            return dimensions
        pairs = [(X, Y) for X in first for Y in last if X is not Y]
        last = [Y.jacobian(system.q) * X - X.jacobian(system.q) * Y for X, Y in pairs]
        fields += last


def _basis(system, q):
    """Vector fields that span D near q, without denominators."""
    n, A = len(system.q), sp.Matrix(system.symbolic.A)
    free = free_velocities(system, q)
    bound = [k for k in range(n) if k not in free]
    A = A.subs({s: sp.nsimplify(x) for s, x in system.parameters.items()})
    B = A[:, bound]
    solved = -(B.adjugate() * A[:, free]).applyfunc(sp.expand)
    fields = sp.Matrix.vstack(solved, B.det() * sp.eye(len(free)))
    order = np.argsort([*bound, *free]).tolist()
    return [fields.extract(order, [j]) for j in range(len(free))]


def kept(sol, rtol=1e-10):
    """Is the energy of a run constant, and its constraint zero, measured by their own sizes?"""
    E, kinetic = sol.energy(), (sol.v * sol.p).sum(-1) / 2
    slip = np.abs(sol.constraint()).max(initial=0)
    energy = np.ptp(E) <= rtol * np.abs([E, kinetic]).max()
    return bool(energy), bool(slip <= rtol * np.abs(sol.v).max())


def ask(system):
    """Print what is cheap to know of a model; gives its true motion."""
    true = integrate(system, Reference(), h=0.1, steps=100)
    energy, constraint = kept(true)
    print(f"{system.name}: growth {growth_vector(system)} of {len(system.q)}")
    print(
        f"    kept: energy {energy}, constraints {constraint}; integrable {system.is_holonomic()}"
    )
    return true


def plane_moves(system: System, q: list[float], headings: tuple[str, ...] = ("theta", "psi")):
    """How many independent combinations of the plane's two shifts and its turn lie in D at q.

    system : its first two coordinates are x and y
    headings : names of the angles measured from the x-axis, which a turn of the plane changes
    """
    names = [s.name for s in system.q]
    moves = np.zeros((len(names), 3))
    moves[0, 0] = moves[1, 1] = 1
    moves[:2, 2] = -q[1], q[0]
    moves[[names.index(name) for name in headings], 2] = 1
    return 3 - int(np.linalg.matrix_rank(system.A(q) @ moves, tol=1e-9))


def forward(sol):
    """The speed of (x, y) along the heading."""
    theta = sol.q[:, 2]
    return sol.v[:, 0] * np.cos(theta) + sol.v[:, 1] * np.sin(theta)


def both_discs():
    """The disc for six seconds, by the true equations and with the rolling put into L."""
    s = disc()
    return [integrate(z, Reference(), h=0.02, steps=300) for z in (s, put_in(s))]


@drawn(9, 3.6, columns=2)
def disc_paths(ax, below):
    """The path of the disc's contact, and its lean over time, by two models."""
    true, wrong = both_discs()
    speed = wrong.v[:, [2]] * ahead(0, wrong.q[:, 0], 1)  # it, too, is meant to roll
    path = np.vstack([[0, 0], np.cumsum((speed[1:] + speed[:-1]) / 2, 0) * 0.02])
    for points, sol, colour, line, name in (
        (true.q[:, 3:], true, DARK, "-", "with multipliers"),
        (path, wrong, ORANGE, "--", "put into L"),
    ):
        ax.plot(*points.T, line, color=colour, label=name)
        below.plot(sol.t, sol.q[:, 1], line, color=colour)
    ax.set(xlabel="$x$ (m)", ylabel="$y$ (m)")
    ax.set_aspect("equal", adjustable="datalim")
    below.set(xlabel=plot.TIME, ylabel="lean $q_2$ (rad)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


# ---------------------------------------------------------------------------- predictions


def prediction_1():
    end = integrate(cart(), Reference(), h=0.1, steps=300)
    speed, turn = forward(end)[-1], abs(end.v[-1, 2])
    away = f"It drives away, with the {'rotor' if speed > 0 else 'axle'}"
    truth = "It ends" if turn > 0.05 else away if abs(speed) > 0.1 else "It swings"
    return truth, {"speed": speed, "turn": turn}


def prediction_2():
    runs = [integrate(cart(J=x), Reference(), h=0.1, steps=800) for x in (0.2, 0.6)]
    speeds = [forward(sol) for sol in runs]
    one, three = (u[-1] for u in speeds)
    long, short = (runs[0].t[u > 0.99 * u[-1]][0] for u in speeds)
    ratio = three / one
    truth = "Slower" if ratio < 0.98 else "Faster" if ratio > 1.02 else "At the same"
    return truth, {"one": one, "three": three, "long": long, "short": short}


def prediction_3():
    s, four = pair()
    numbers = s.parameters | dict(zip(s.q, s.samples(1)[0][0], strict=True))
    rank = np.linalg.matrix_rank(np.array(sp.Matrix(four).jacobian(s.v).subs(numbers), float), 1e-9)
    truth = {2: "Two", 3: "Three", 4: "Four"}[rank]
    return truth, {"rank": truth}


def prediction_4():
    true, wrong = both_discs()
    gap, E = np.abs(true.q[:, 1] - wrong.q[:, 1]).max(), wrong.energy()
    words = "As it should:", "As it should,", "Not as a disc does, but", "Not as a disc does, and"
    truth = either(gap < 1e-6, np.ptp(E) < 1e-9 * np.abs(E).max(), *words)
    return truth, {"T": true.t[-1], "gap": gap, "spread": np.ptp(E), "energy": E[0]}


def _swerve(points):
    """How far a path leaves its straight line, as a standard deviation."""
    centred = points - points.mean(0)
    return np.linalg.svd(centred, compute_uv=False)[1] / np.sqrt(len(points))


def prediction_5():
    ratios, car = [], systems.car_with_trailer()
    for d in (1.5, 3.0):
        q = integrate(car.set(d=d), Reference(), h=0.1, steps=600).q
        ratios.append(_swerve(ahead(q[:, :2], q[:, 4], -d)) / _swerve(q[:, :2]))
    back = integrate(car, Reference(), v0=[-1, 0, -np.tan(0.5), 0, 0], h=0.1, steps=150).q
    ratio, long = ratios
    truth = "It cuts" if ratio < 0.95 else "It swings" if ratio > 1.05 else "It follows"
    return truth, {"ratio": ratio, "long": long, "angle": np.abs(back[:, 4] - back[:, 2]).max()}


def prediction_6():
    start = [0, 0, 0, 0, 0.2], [1, 0, 0, 0, -np.sin(0.2) / 1.5]
    methods = Reference(), DLA(), RK4(), Projector()
    runs = [integrate(systems.car_with_trailer(), m, *start, h=0.1, steps=250) for m in methods]
    dla, rk4, zigzag = (np.abs(sol.q[:, 4] - runs[0].q[:, 4]) for sol in runs[1:])
    straight = tuple(bool(gap.max() < 0.01) for gap in (dla, rk4, zigzag))
    truth = {(True, True, True): "All three", (True, False, True): "DLA and the projector"}
    truth |= {(True, True, False): "DLA and RK4", (False, True, False): "RK4 alone"}
    numbers = {"dla": dla.max(), "rk4": rk4.max(), "early": zigzag[100], "late": zigzag[150]}
    numbers |= {"rate": np.log(zigzag[150] / zigzag[100]) / 5, "decay": 1 / 1.5}
    last = runs[-1]
    return truth[straight], {**numbers, "speed": last.v[-1, 0], "spread": np.ptp(last.energy())}


def turning_length(phi0):
    """The length d2 of the handlebar at which the racer, let go at phi0, goes nowhere in 10 s."""

    def reached(d2):
        racer, start = systems.roller_racer(d2=d2), ([0, 0, 0, phi0], [0, 0, 0, 0])
        return integrate(racer, DLA(), *start, h=0.04, steps=250).q[-1, 0]

    return brentq(reached, 0.2, 0.4, xtol=1e-3)


def prediction_7():
    narrow, wide = turning_length(0.3), turning_length(1.0)
    return wide, {"small": 0.1 / 0.3, "narrow": narrow, "wide": wide}


# ---------------------------------------------------------------------------- exercises


def exercise_1(answer):
    delta, b = symbols("delta b")
    right = -vx * sin(theta + delta) + vy * cos(theta + delta) + b * vtheta * cos(delta)
    mine, theirs = _rows(right, answer, (vx, vy, vtheta), (theta, delta, b))
    if _parallel(mine, theirs):
        return None
    if np.allclose(theirs[:, 2], 0):
        return """The wheel sits the distance b ahead: its centre moves sideways when the frame
            turns."""
    skew = (mine[:, 0] * theirs[:, 1] - mine[:, 1] * theirs[:, 0]) / np.abs(theirs).max()
    if np.abs(skew).max() > 1e-9:
        return "Look at vx and vy first: the wheel does not slip across *its own* heading."
    return "vx and vy are right. Which part of b theta' points across the wheel, not the frame?"


def _rows(right, answer, v, places):
    """The coefficients of the velocities in both expressions at a few points, (points, velocities)
    each."""
    answer, names = sympified(answer, "the answer"), {s.name: s for s in (*v, *places)}
    given = answer.free_symbols
    if not given or {s.name for s in given} - {*names}:
        raise ValueError(f"write one expression in {', '.join(names)}")
    return [_row(e, v, places) for e in (right, answer.subs({s: names[s.name] for s in given}))]


def _parallel(mine, theirs):
    """Do the rows say the same at each point?"""
    return all(np.linalg.matrix_rank(pair, 1e-9) == 1 for pair in np.stack([mine, theirs], 1))


def _row(e, v, places):
    """The coefficients of the velocities at a few points; they must determine e."""
    rows = [e.diff(u) for u in v]
    if sp.simplify(e - sum(r * u for r, u in zip(rows, v, strict=True))) != 0:
        raise ValueError(f"the expression is not linear in {', '.join(map(str, v))}")
    f = sp.lambdify(places, rows)
    points = np.random.default_rng(3).uniform(0.3, 1.2, (4, len(places)))
    return np.array([np.array(f(*p), float) for p in points])


def exercise_2(answer):
    k, m, psi0 = 4.0, 2.0, 1.5
    if near(abs(float(answer)), np.sqrt(k / m) * psi0, 5e-3):
        return None if answer > 0 else "The size is right. Which way does m u' = m a w^2 push?"
    return "At the end the cart runs straight and the rotor is at rest: where is the energy?"


def exercise_3(answer):
    if not isinstance(answer, System) or len(answer.q) != 3 or len(answer.constraints) != 1:
        return "Give a System with the coordinates (x, y, theta) and one constraint."
    L = vx**2 + vy**2 + 0.25 * vtheta**2 - 1.5 * (x**2 + y**2)
    true = System((x, y, theta), (vx, vy, vtheta), L, [ACROSS])
    q = np.random.default_rng(4).uniform(-1, 1, (6, 3))
    v = true.project(q, np.ones((6, 3)))
    if np.abs(np.einsum("kai,ki->ka", answer.A(q), v)).max() > 1e-9:
        return "The constraint differs: a skate at heading theta may move along (cos, sin) only."
    if not np.allclose(answer.M(q), true.M(q)):
        return "The kinetic energy differs: m (x'^2 + y'^2)/2 + I theta'^2/2 with m = 2, I = 0.5."
    if not np.allclose(answer.acceleration(q, v), true.acceleration(q, v)):
        return "The potential differs: a spring of stiffness k = 3 from the origin to (x, y)."


def exercise_4(answer):
    u, theta, phi, psi, l, d = 2.0, 0.0, 0.3, 0.5, 1.0, 1.5
    answer = np.asarray(answer, float)
    if answer.shape != (5,):
        return "Five numbers, for x, y, theta, phi, psi."
    if not near(answer[:2], [u, 0.0], 1e-3) or abs(answer[3]) > 1e-9:
        return "The rear axle moves along the heading theta = 0, and the steering is at rest."
    if not near(answer[2], u * np.tan(phi) / l, 1e-3):
        return "theta' follows from the front wheels: u sin(phi) = l theta' cos(phi)."
    if not near(answer[4], u * np.sin(theta - psi) / d, 1e-3):
        return "psi' follows from the trailer: u sin(theta - psi) = d psi'. Mind the sign."


def exercise_5(answer):
    known = {
        "energy": "Any autonomous L keeps its own energy.",
        "constraint": "The constraint was not changed.",
        "units": "Both have the unit kg m^2/s^2.",
        "symmetry": "Angles relative to the body do not change under SE(2).",
        "order": "The method converges to the motion of whatever L it is given.",
        "second derivation": None,
    }
    choice = str(answer).strip().lower().replace("a second", "second")
    return known.get(choice, f"Choose one of {[*known]}.")


def exercise_6(answer):
    b, R = symbols("b R")
    speed = vx * cos(theta) + vy * sin(theta)
    v, places = (vx, vy, vtheta, vpsi), (theta, b, R)
    mine, theirs = _rows(speed - b * vtheta - R * vpsi, answer, v, places)
    if _parallel(mine, theirs):
        return None
    for wrong, said in (
        (speed - R * vpsi, "The wheel is b to the left: it goes slower when the body turns left."),
        (speed + b * vtheta - R * vpsi, "That is the wheel on the right-hand side."),
        (speed - b * vtheta + R * vpsi, "With this sign the wheel spins backwards."),
        (ACROSS, "That the wheel does not slip sideways is another statement."),
    ):
        if _parallel(_row(wrong, v, places), theirs):
            return said
    return "Velocity of the wheel's centre along the heading, minus R psi'."
