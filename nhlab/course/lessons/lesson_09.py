"""Lesson 09: sketches and bodies of three vehicles, the growth of a distribution, and error
messages collected without stopping the notebook."""

import textwrap
import warnings
from types import SimpleNamespace

import numpy as np
import sympy as sp

from ...mechanics.formula import sympified
from ...mechanics.system import System, symbols
from ...run.errors import IntegrationError
from ...view import plot
from ...view.bodies import Body, ahead, axle, box, circle, place
from ...view.machines import Car, Racer
from ...view.widgets import free_velocities
from ..colours import BLUE, DARK, GREY, ORANGE
from ..exercises import near
from ..kit import arc


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


def _cart(ax, at, theta, psi, a):
    top = ahead(at, theta, a)
    _angle(ax, at, 0, theta, 0.95, r"$\theta$")
    _angle(ax, top, theta, theta + psi, 0.5, r"$\psi$")
    ax.plot(*top, "o", color=BLUE, zorder=4)
    line = {"arrowprops": {"arrowstyle": "-", "color": GREY}}
    _name(ax, "centre of mass,\n$a$ ahead of the axle", top, (0.55, -0.62), **line)


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
    Car: ((0, 0, 0.35, 0.45, -0.3), {"l": 1.4, "d": 1.5}, (8, -18), _car),
    Racer: ((0, 0, 0.35, 0.6), {"d1": 1.3, "d2": 0.5}, (8, -18), _racer),
}


def sketch(kind):
    """The body with its coordinates and lengths named; ``kind`` is Cart, Car or Racer."""
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


def show_errors(calls, width=94):
    """Make each call (label -> function) and print what it is answered with: error or warning."""
    for label, call in calls.items():
        lines = textwrap.wrap(_answer(call), width - 4)
        print(label, *(f"    {line}" for line in lines), sep="\n")


def _answer(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (ValueError, IntegrationError) as error:
            return f"{type(error).__name__}: {error}"
    if not caught:
        raise AssertionError("this call was to be refused, but it went through")
    return f"{caught[0].category.__name__}: {caught[0].message}"


def exercise_1(answer):
    """The wheel's centre has the velocity of (x, y) and b theta' across the frame; of both only the
    part across the wheel counts, and that is where cos(delta) comes from."""
    names = "vx vy vtheta theta delta b"
    answer = sympified(answer, "the answer")
    given = {s.name: s for s in answer.free_symbols}
    if not given or set(given) - set(names.split()):
        return f"Write one expression in {', '.join(names.split())}."
    vx, vy, vtheta, theta, delta, b = symbols(names)
    right = -vx * sp.sin(theta + delta) + vy * sp.cos(theta + delta) + b * vtheta * sp.cos(delta)
    yours = answer.subs({given[k]: symbols(k) for k in given})
    mine, theirs = (_row(e, (vx, vy, vtheta), (theta, delta, b)) for e in (right, yours))
    if all(np.linalg.matrix_rank(pair, 1e-9) == 1 for pair in np.stack([mine, theirs], 1)):
        return None
    if np.allclose(theirs[:, 2], 0):
        return """The wheel sits the distance b ahead: its centre moves sideways when the frame
            turns."""
    skew = (mine[:, 0] * theirs[:, 1] - mine[:, 1] * theirs[:, 0]) / np.abs(theirs).max()
    if np.abs(skew).max() > 1e-9:
        return "Look at vx and vy first: the wheel does not slip across *its own* heading."
    return "vx and vy are right. Which part of b theta' points across the wheel, not the frame?"


def _row(e, v, places):
    """The coefficients of the velocities at a few points; they must determine e."""
    rows = [e.diff(u) for u in v]
    if sp.simplify(e - sum(r * u for r, u in zip(rows, v, strict=True))) != 0:
        raise ValueError("the expression is not linear in vx, vy, vtheta")
    f = sp.lambdify(places, rows)
    points = np.random.default_rng(3).uniform(0.3, 1.2, (4, len(places)))
    return np.array([np.array(f(*p), float) for p in points])


def exercise_2(answer):
    """The forward momentum can only grow, the turning dies out, and what is left of the energy
    k psi0^2 / 2 of the spring is m u^2 / 2: a spring gun whose barrel is a constraint."""
    k, m, psi0 = 4.0, 2.0, 1.5
    if near(abs(float(answer)), np.sqrt(k / m) * psi0, 5e-3):
        return None if answer > 0 else "The size is right. Which way does m u' = m a w^2 push?"
    return "At the end the cart runs straight and the rotor is at rest: where is the energy?"


def exercise_3(answer):
    """One line for each: kinetic energy, spring, wheel. Now run it from anywhere in D."""
    if not isinstance(answer, System) or len(answer.q) != 3 or len(answer.constraints) != 1:
        return "Give a System with the coordinates (x, y, theta) and one constraint."
    x, y, theta, vx, vy, vtheta = symbols("x y theta vx vy vtheta")
    L = vx**2 + vy**2 + 0.25 * vtheta**2 - 1.5 * (x**2 + y**2)
    true = System((x, y, theta), (vx, vy, vtheta), L, [-vx * sp.sin(theta) + vy * sp.cos(theta)])
    q = np.random.default_rng(4).uniform(-1, 1, (6, 3))
    v = true.project(q, np.ones((6, 3)))
    if np.abs(np.einsum("kai,ki->ka", answer.A(q), v)).max() > 1e-9:
        return "The constraint differs: a skate at heading theta may move along (cos, sin) only."
    if not np.allclose(answer.M(q), true.M(q)):
        return "The kinetic energy differs: m (x'^2 + y'^2)/2 + I theta'^2/2 with m = 2, I = 0.5."
    if not np.allclose(answer.acceleration(q, v), true.acceleration(q, v)):
        return "The potential differs: a spring of stiffness k = 3 from the origin to (x, y)."


def exercise_4(answer):
    """Forward speed u gives everything: theta' = u tan(phi)/l and psi' = u sin(theta - psi)/d."""
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
    """The wrong L is a good Lagrangian of another machine: its energy is constant, its units are
    right, it is invariant, its runs converge. Only a second derivation knows which you meant."""
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
