"""usage: python3 -m nhlab run tests/metamorphic.py SEED COUNT

Relations between two runs that must hold whatever the right answer is: the same motion in other
units, coordinates, orders or rows of the constraints, begun at another time, begun again in the
middle, or computed beside another one.  COUNT comparisons of each relation by each method on random
systems, ``test_metamorphic`` makes a share of them.  Exit code 1 if two runs differ."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import sympy as sp

import nhlab as nh
from nhlab.methods.method import Method

EPS = np.finfo(float).eps
STEPS = 12
METHODS = (
    nh.DLA(),
    nh.DLA(0.3, True),
    nh.Projector(),
    nh.Variational(),
    nh.EDLA(),
    nh.RK4(),
    nh.Reversible(),
    nh.DiscreteGradient(),
    nh.Composition(nh.DLA()),
)
# How far two runs may lie apart that differ in round-off alone, as a multiple of ``expected``.
# EDLA's balance of energy determines h only to eps/h^2.
ALLOWED, ALLOWED_EDLA = 1e4, 1e7


# ---------------------------------------------------------------------------- random systems


def _pendulum(q, v, c, t):
    """Two coordinates, a mass matrix that changes with the place, no constraint."""
    (x, y), (vx, vy) = q, v
    M = sp.Matrix([[c[0] + 1, sp.cos(x - y) / 3], [sp.cos(x - y) / 3, c[1] + 1]])
    return sp.Matrix([v]).dot(M * sp.Matrix(v)) / 2 + c[2] * sp.cos(x) + sp.sin(y), [], []


def _particle(q, v, c, t):
    """One constraint and a potential of degree four."""
    (x, y, z), (vx, vy, vz) = q, v
    L = (c[0] * vx**2 + vy**2 + c[1] * vz**2) / 2 - c[2] * (x**2 + y**2) ** 2 / 4 - x * z
    return L, [vz - y * vx - c[3] * vy], []


def _stiff(q, v, c, t):
    """Springs whose stiffness is between 1 and 1e8; the mass matrix is full."""
    (x, y, z), (vx, vy, vz) = q, v
    k = 10 ** (4 * c[0] - 2)
    L = (vx**2 + 2 * vy**2 + 3 * vz**2 + vx * vy) / 2 - k * (x - c[1] * y) ** 2 / 2 - z**2
    return L, [vz - sp.sin(x) * vy], []


def _two_rows(q, v, c, t):
    """Two constraints that become parallel as c[0] becomes small."""
    (x, y, z, w), (vx, vy, vz, vw) = q, v
    L = (vx**2 + vy**2 + c[1] * vz**2 + c[2] * vw**2 + vx * vz / 2) / 2 - x**2 - sp.cos(w)
    first = vz - sp.cos(w) * vx + c[3] * vw
    return L, [first, first + 10 ** (-3 * c[0]) * (vy - sp.sin(w) * vx)], []


def _gyroscopic(q, v, c, t):
    """Terms b(q).v, as of a charge in a magnetic field, and one constraint."""
    (x, y, z), (vx, vy, vz) = q, v
    L = (vx**2 + c[0] * vy**2 + vz**2) / 2 + c[1] * x * vy - c[2] * y**2 * vz - c[3] * x
    return L, [vy - sp.cos(z) * vx], []


def _moving(q, v, c, t):
    """A constraint that moves, and a potential that does."""
    (x, y, z), (vx, vy, vz) = q, v
    L = (vx**2 + vy**2 + c[0] * vz**2) / 2 - c[1] * x**2 * (2 + sp.cos(t)) - z
    return L, [vz - y * vx + c[2] * sp.sin(t) + c[3]], []


def _sphere(q, v, c, t):
    """A holonomic constraint: a mass on an ellipsoid."""
    (x, y, z), (vx, vy, vz) = q, v
    L = (vx**2 + c[0] * vy**2 + vz**2) / 2 - c[1] * z
    return L, [], [x**2 + c[2] * y**2 + z**2 - 1]


def _dragged(q, v, c, t):
    """Forces: drag, and one that turns with the velocity."""
    (x, y, z), (vx, vy, vz) = q, v
    L = (vx**2 + vy**2 + c[0] * vz**2) / 2 - x**2 - c[1] * z
    return L, [vz - y * vx], [], (-c[2] * vx, c[3] * vx * vz, -c[2] * vz)


FAMILIES = {
    f.__name__[1:]: f
    for f in (_pendulum, _particle, _stiff, _two_rows, _gyroscopic, _moving, _sphere, _dragged)
}
DIMENSION = {"pendulum": 2, "two_rows": 4}
COEFFICIENTS = nh.symbols("c:4")


@dataclass(frozen=True)
class View:
    """In what coordinates, units and rows a system is written: q = shift + T Q, t' = t0 + unit t.

    T : (n, n);  rows : (m, m), what the constraints are multiplied with;  action : factor of L
    unit : of time, so that v = unit T V;  shift : (n,);  t0 : when the run begins
    """

    T: np.ndarray
    rows: np.ndarray
    shift: np.ndarray
    action: float = 1.0
    unit: float = 1.0
    t0: float = 0.0


@cache
def written(family: str) -> nh.System:
    """The system of a family with everything of a View as parameters: code is generated once."""
    n = DIMENSION.get(family, 3)
    q, v, T = nh.symbols(f"x:{n}"), nh.symbols(f"v:{n}"), sp.Matrix(n, n, _symbols("T", n, n))
    shift, action, unit, t, t0 = sp.Matrix(_symbols("s", n)), *nh.symbols("action unit t t0")
    place = list(shift + T * sp.Matrix(q))
    speed = list(unit * T * sp.Matrix(v))
    L, rows, holonomic, *forces = FAMILIES[family](place, speed, COEFFICIENTS, (t - t0) / unit)
    m = len(rows) + len(holonomic)
    B = sp.Matrix(m, m, _symbols("B", m, m))
    timed = t in L.free_symbols
    options = {"t": t} if timed else {}
    if forces:
        options["forces"] = [action * e for e in T.T * sp.Matrix(forces[0])]
    rows, holonomic = (list(B * sp.Matrix(e)) if e else [] for e in (rows, holonomic))
    values = [*COEFFICIENTS, *T, *B, *shift, action, unit, *([t0] if timed else [])]
    used = sp.Matrix([L, *rows, *holonomic, *options.get("forces", [])]).free_symbols | {action}
    numbers = {s.name: 1.0 for s in values if s in used}
    numbers |= {s.name: 0.0 for s in (*shift, t0) if s in used}
    for matrix in (T, B):
        numbers |= {matrix[k].name: float(k[0] == k[1]) for k in np.ndindex(*matrix.shape)}
    return nh.System(q, v, action * L, rows, holonomic, numbers, name=family, **options)


def _symbols(name: str, *shape: int) -> list[sp.Symbol]:
    return [nh.symbols(f"{name}_{'_'.join(map(str, k))}") for k in np.ndindex(*shape)]


@dataclass(frozen=True)
class Problem:
    """A random system of a family with a start, and the View in which it is written."""

    family: str
    c: np.ndarray
    q0: np.ndarray
    v0: np.ndarray
    h: float
    view: View

    @property
    def m(self) -> int:
        return written(self.family).m

    @property
    def system(self) -> nh.System:
        view, system = self.view, written(self.family)
        values = dict(zip((s.name for s in COEFFICIENTS), self.c, strict=True))
        for name, x in (("T", view.T), ("B", view.rows), ("s", view.shift)):
            values |= {f"{name}_{'_'.join(map(str, k))}": x[k] for k in np.ndindex(*x.shape)}
        values |= {"action": view.action, "unit": view.unit, "t0": view.t0}
        known = {s.name for s in system.parameters}
        return system.set(**{k: float(x) for k, x in values.items() if k in known})

    def run(self, method: Method, steps: int = STEPS, **others) -> nh.Trajectory:
        """The run in the coordinates of the view, as far as it goes."""
        view = self.view
        Q, V = (np.linalg.solve(view.T, x) for x in (self.q0 - view.shift, self.v0 / view.unit))
        given = {"q0": Q, "v0": V, "h": self.h * view.unit, "t0": view.t0, "steps": steps}
        return outcome(self.system, method, **given | others)

    def read(self, sol: nh.Trajectory) -> dict[str, np.ndarray]:
        """q, v, t and what the constraints do, in the coordinates of the plain view."""
        view = self.view
        push = np.einsum("kai,ka->ki", self.system.A(sol.q[1:], sol.t[1:]), sol.lam)
        scale = view.action * view.unit
        return {
            "q": view.shift + sol.q @ view.T.T,
            "v": view.unit * sol.v @ view.T.T,
            "t": (sol.t - view.t0) / view.unit,
            "push": np.linalg.solve(view.T.T, push.T).T / scale,
        }


def outcome(system: nh.System, method: Method, **given) -> nh.Trajectory:
    """A run, or the part of it that was computed; warnings of large steps are no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return nh.integrate(system, method, progress=False, backend="python", **given)
        except nh.IntegrationError as error:
            return error.trajectory


def plain(n: int, m: int) -> View:
    return View(np.eye(n), np.eye(m), np.zeros(n))


def draw(family: str, rng: np.random.Generator) -> Problem:
    """Random coefficients and a random start on the constraints, in the plain view."""
    system = written(family)
    n, m = len(system.q), system.m
    c, h = rng.uniform(0.3, 2, 4), float(rng.choice([0.01, 0.05, 0.1]))
    q0, v0 = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    if rng.random() < 0.1:
        v0 = 0 * v0  # from rest
    problem = Problem(family, c, q0, v0, h, plain(n, m))
    here = problem.system
    if system.holonomic:
        q0 = here.settle(q0 + np.array([0, 0, 1.5]))
    return replace(problem, q0=q0, v0=here.project(q0, v0, 0.0) if m else v0)


# ---------------------------------------------------------------------------- relations: other views


def in_other_units(problem: Problem, rng: np.random.Generator) -> Problem:
    """Every coordinate, the mass and the time have units of their own, up to 10^6 times as large."""
    n = len(problem.q0)
    T, action, unit = np.diag(powers(rng, 6, n)), *powers(rng, 6, 1), *powers(rng, 4, 1)
    return seen(problem, T=T, action=action, unit=unit)


def in_another_order(problem: Problem, rng: np.random.Generator) -> Problem:
    """The coordinates in another order."""
    return seen(problem, T=permutation(len(problem.q0), rng))


def in_linear_coordinates(problem: Problem, rng: np.random.Generator) -> Problem:
    """Coordinates that mix all others."""
    n = len(problem.q0)
    return seen(problem, T=mixing(n, rng))


def far_from_the_origin(problem: Problem, rng: np.random.Generator) -> Problem:
    """Coordinates measured from a place up to 10^5 away."""
    n = len(problem.q0)
    return seen(problem, shift=powers(rng, 5, n) * rng.choice([-1, 1], n))


def at_another_time(problem: Problem, rng: np.random.Generator) -> Problem:
    """A clock that shows another time, the potential's and the constraints' time with it."""
    return seen(problem, t0=float(rng.choice([-1, 1]) * powers(rng, 3, 1)[0]))


def with_scaled_rows(problem: Problem, rng: np.random.Generator) -> Problem:
    """Each constraint multiplied by a number between 10^-6 and 10^6."""
    return seen(problem, rows=np.diag(powers(rng, 6, problem.m) * rng.choice([-1, 1], problem.m)))


def with_rows_in_another_order(problem: Problem, rng: np.random.Generator) -> Problem:
    """The constraints in another order."""
    return seen(problem, rows=permutation(problem.m, rng))


def with_mixed_rows(problem: Problem, rng: np.random.Generator) -> Problem:
    """Sums of multiples of the constraints in their place."""
    return seen(problem, rows=mixing(problem.m, rng))


def seen(problem: Problem, **changes) -> Problem:
    return replace(problem, view=replace(problem.view, **changes))


def powers(rng: np.random.Generator, most: float, count: int) -> np.ndarray:
    """Numbers between 10^-most and 10^most, all orders of magnitude alike."""
    return 10 ** rng.uniform(-most, most, count)


def permutation(n: int, rng: np.random.Generator) -> np.ndarray:
    """A matrix that permutes, and is not the identity."""
    shift = int(rng.integers(1, n))
    return np.roll(np.eye(n), shift, axis=0)[:, rng.permutation(n)] if n > 2 else np.eye(n)[::-1]


def mixing(n: int, rng: np.random.Generator) -> np.ndarray:
    """A random matrix whose condition is at most about 10."""
    U, _, W = np.linalg.svd(rng.normal(size=(n, n)))
    return U @ np.diag(rng.uniform(0.4, 3, n)) @ W


COORDINATES = (
    in_other_units,
    in_another_order,
    in_linear_coordinates,
    far_from_the_origin,
    at_another_time,
    with_scaled_rows,
)
ROWS = (with_rows_in_another_order, with_mixed_rows)
VIEWS = (*COORDINATES, *ROWS)


def holds(relation: Callable, method: Method, family: str) -> bool:
    """False where a relation does not belong to a method, by its definition."""
    if relation in ROWS and written(family).m < 2:
        return False
    if relation is with_scaled_rows and not written(family).m:
        return False
    if isinstance(method, nh.DiscreteGradient):
        # Gonzalez' correction is a multiple of (M_ii u_i), which other axes change; the rows are
        # made orthonormal, in a basis that depends on how they were mixed.
        return relation not in (in_linear_coordinates, with_mixed_rows)
    return True


def compare_views(problem: Problem, relation: Callable, method: Method, rng) -> float:
    """How far a run and the same in another view lie apart, as a multiple of what is allowed."""
    other = relation(problem, rng)
    base, sol = problem.run(method), other.run(method)
    size = 1 + np.abs(other.view.shift).max() + abs(other.view.t0) / (problem.h * STEPS)
    gap = distance(problem.read(base), other.read(sol))
    return gap / (allowed(method) * size * expected(problem, method, base))


# ---------------------------------------------------------------------------- how far is too far


def distance(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    """The largest difference of two readings, each part measured by its size; infinite where one
    run is shorter."""
    if len(a["t"]) != len(b["t"]):
        return np.inf
    sizes = {name: np.abs(x).max(initial=0) for name, x in a.items()}
    sizes["push"] += np.abs(np.diff(a["v"], axis=0)).max(initial=0)
    return max(
        np.abs(a[k] - b[k]).max(initial=0) / sizes[k] if sizes[k] else np.abs(b[k]).max(initial=0)
        for k in a
    )


def allowed(method: Method) -> float:
    return EPS * (ALLOWED_EDLA if method.variable_step else ALLOWED)


def expected(problem: Problem, method: Method, base: nh.Trajectory) -> float:
    """By what factor the motion enlarges an error of its start, times the digits that constraints
    lose which are nearly dependent; infinite if the length of the run depends on the last digit."""
    rng, system, change = np.random.default_rng(3), problem.system, 1e-9
    worst = 1.0
    for _ in range(2):
        q0 = problem.q0 + change * rng.uniform(-1, 1, len(problem.q0))
        q0 = system.settle(q0) if system.holonomic else q0
        v0 = problem.v0 * (1 + change * rng.uniform(-1, 1, len(q0)))
        v0 = system.project(q0, v0, 0.0) if problem.m else v0
        other = replace(problem, q0=q0, v0=v0)
        worst = max(worst, distance(problem.read(base), other.read(other.run(method))) / change)
    if problem.m:
        A = system.A(problem.q0, 0.0)
        worst *= np.linalg.cond(A / np.linalg.norm(A, axis=1, keepdims=True))
    return worst
