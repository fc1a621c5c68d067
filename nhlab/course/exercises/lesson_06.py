"""Exercises of lesson 06: symmetry and momentum."""

import numpy as np

from ...geometry.symmetry import Symmetry
from ...mechanics import catalogue as systems
from ...mechanics.system import System, symbols
from ...methods import Reference
from ...run.loop import integrate
from . import choice, near, shape, takes

PLANE = {"e1": {"x": 1}, "e2": {"y": 1}, "e3": {"x": "-y", "y": "x", "phi": 1}}
PAIRS = "robot theta, rolling_disk phi, sleigh theta, particle y, snakeboard phi, snakeboard x"


def e1(answer):
    """z' = y x' gives z'' = y' x' + y x''; with x'' = -y lambda, z'' = lambda this is lambda = 1/2,
    and the force pulls with -y lambda along x. Translations along x are a symmetry all the same."""
    s = systems.free_particle()
    lam, y = s.multipliers(s.q0, s.v0)[0], s.q0[1]
    if near(answer, y * lam, 1e-3):
        return "The size is right. Look at the sign of the first entry of A = (-y, 0, 1)."
    if near(answer, 0.0):
        return "Noether would say so. But the constraint force has a component along x."
    if not near(answer, -y * lam, 1e-3):
        return "dp_x/dt = -y lambda and dp_z/dt = lambda; differentiate z' = y x' to find lambda."


@takes(shape(3), "The answer is three coefficients, of e1, e2 and e3.")
def e2(answer):
    """Along the blade, (cos phi, sin phi, 0), and on the spot, (y, -x, 1), the ice does not push;
    all other sections are combinations of these two, with functions of q for coefficients."""
    skate = systems.knife_edge(slope=0.0)
    try:
        sym = Symmetry(skate, PLANE, section=answer)
    except ValueError as error:
        return f"{error}."
    q = np.random.default_rng(1).uniform(0.3, 1.2, (5, 3))
    v = skate.project(q, np.ones((5, 3)))
    if np.abs(sym.J_nh(q, v)).max() < 1e-12:
        return "The zero section lies in D, but has no momentum."


@takes(callable, "The answer is a function: answer = residual, without calling it.")
def e3(answer):
    """Only one term survives: the residual is (p_k+1 - p_k).xi(q_k), the change of the momentum
    along the old direction. That is (27) of CM01 for translations."""
    q, p = np.random.default_rng(5).normal(size=(2, 9, 3))
    mine = np.asarray(answer(q.copy(), p.copy()), float)
    if mine.shape == (8,):
        return "One row too many: p[0] belongs to no step, so begin with J_d at node 1."
    if mine.shape != (7,):
        return f"From 9 nodes come 7 residuals; yours has the shape {mine.shape}."
    xi = np.column_stack([np.cos(q[:, 2]), np.sin(q[:, 2]), 0 * q[:, 2]])
    change, step = np.diff((p * xi).sum(1))[1:], np.diff(xi, axis=0)[1:]
    if near(mine, change - (p[1:-1] * step).sum(1), 1e-9):
        return "The right-hand side takes the momentum of the new step, p[k+1], not of the old."
    if near(mine, change, 1e-9):
        return "This is the change of J alone; the right-hand side is missing."
    if not near(mine, change - (p[2:] * step).sum(1), 1e-9):
        return "J_d is p.xi at each node; subtract p[k+1].(xi[k+1] - xi[k]) from its change."


@choice(
    PAIRS.split(", "),
    '{"robot theta", "particle y"}',
    "Still missing: {}. A may depend on the coordinate.",
)
def e4(pair):
    """Two questions decide: is L free of the coordinate, and does A have a column of zeros for it?
    Whether A depends on the coordinate does not matter: D need not be invariant."""
    name, coordinate = pair.split()
    sym = Symmetry(systems.catalogue[name](), {coordinate: 1})
    if sym.check().L:
        return f"{pair}: L contains {coordinate}, so moving along it is no symmetry."
    if not sym.is_horizontal:
        return f"{pair}: the constraint force has a component along it."


@takes(shape(2), "The answer is a point: two numbers.")
def e5(answer):
    """The lines of the axles meet there. Its distance from the board's centre is r cot(phi), to the
    right of the direction of the board, since the axle turned by +phi is the one at the rear."""
    system, q = systems.snakeboard(), np.array([1, 0, np.pi / 2, 0, np.pi / 4])
    sym = Symmetry(system, {**PLANE, "e3": {"x": "-y", "y": "x", "theta": 1}})
    (e1, e2, e3), here = sym.sections[0], dict(zip(system.q, q, strict=True))
    truth = [float(x.subs({**system.parameters, **here})) for x in (-e2 / e3, e1 / e3)]
    answer = np.asarray(answer, float)
    if np.allclose(answer, 2 * q[:2] - truth, atol=1e-2):
        return "This is its mirror image: look which axle carries +phi."
    if not np.allclose(answer, truth, atol=1e-2):
        return """A motion e1 X1 + e2 X2 + e3 X3 of the plane leaves the point fixed where
            X1 - X3 y = 0 and X2 + X3 x = 0; the board points along y."""


@takes(callable, "The answer is a function of y: answer = f, without calling it.")
def e6(answer):
    """With f = 1/sqrt(1 + y^4) the section has constant length, and p.(d/dt section) vanishes in D.
    A conserved momentum that is not horizontal: no discrete theorem protects it."""
    x, y, z, vx, vy, vz = symbols("x y z vx vy vz")
    L = (vx**2 + vy**2 + vz**2) / 2 - y**2 - y**4 / 4
    valley = System((x, y, z), (vx, vy, vz), L, [vz - y**2 * vx])
    sol = integrate(valley, Reference(), [0, 0.5, 0], [1, 1.5, 0.25], h=0.1, steps=60)
    height = sol.q[:, 1]
    f = np.array([float(answer(float(u))) for u in height])
    J = f * (sol.p[:, 0] + height**2 * sol.p[:, 2])
    size = np.abs(J).max()
    if size < 1e-9:
        return "Zero is constant, but says nothing."
    if not np.ptp(J) < 1e-7 * size:
        return f"""Along the motion your momentum varies by {np.ptp(J) / size:.1%}. The right side
            of (23) is f' y' (p_x + y^2 p_z) + 2 f y y' p_z; put p_z = y^2 p_x and let it vanish."""
