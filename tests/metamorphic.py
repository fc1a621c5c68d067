"""usage: python3 -m nhlab run tests/metamorphic.py SEED COUNT

Relations between two runs that must hold whatever the right answer is: the same motion in other
units, coordinates, orders or rows of the constraints, begun at another time, begun again in the
middle, or computed beside another one.  COUNT comparisons of each relation by each method on random
systems, ``test_metamorphic`` makes a share of them.  Exit code 1 if two runs differ."""

from __future__ import annotations

import sys
import time
import warnings
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
    nh.EqualImpulses(),
    nh.Newmark(0.1),
)
# How far two runs may lie apart that differ in round-off alone, as a multiple of ``expected``.
# EDLA's balance of energy determines h only to eps/h^2.
ALLOWED, ALLOWED_EDLA = 1e4, 1e7
MAX_SENSITIVITY = 1e6  # beyond, a run of few steps forgets its start: nothing can be compared


# ---------------------------------------------------------------------------- random systems


def _pendulum(q, v, c, t):
    """Two coordinates, a mass matrix that changes with the place, no constraint."""
    x, y = q
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
    """Two constraints that differ by 10^-3 to 0.4."""
    (x, *_, w), (vx, vy, vz, vw) = q, v
    L = (vx**2 + vy**2 + c[1] * vz**2 + c[2] * vw**2 + vx * vz / 2) / 2 - x**2 - sp.cos(w)
    first = vz - sp.cos(w) * vx + c[3] * vw
    return L, [first, first + 10 ** (-1.5 * c[0]) * (vy - sp.sin(w) * vx)], []


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
    """A run, or the part of it that was computed."""
    try:
        return nh.integrate(system, method, progress=False, backend="python", **given)
    except nh.IntegrationError as error:
        return error.trajectory


def plain(n: int, m: int) -> View:
    return View(np.eye(n), np.eye(m), np.zeros(n))


@cache
def draw(family: str, seed: int, k: int) -> Problem:
    """Random coefficients and a random start on the constraints, in the plain view."""
    system, rng = written(family), np.random.default_rng([seed, k, *family.encode()])
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


# ---------------------------------------------------------------------------- relations: views


def in_other_units(problem: Problem, rng: np.random.Generator) -> Problem:
    """Every coordinate, the mass and the time have units of their own, up to 10^6 times larger."""
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
    """Coordinates measured from a place up to 10^3 away."""
    n = len(problem.q0)
    return seen(problem, shift=powers(rng, 3, n) * rng.choice([-1, 1], n))


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


# ---------------------------------------------------------------------------- relations: runs


def begun_again(problem: Problem, method: Method, rng: np.random.Generator) -> Pair | None:
    """A run, and another from its middle: from q, v at a node or, as the momenta that discrete
    methods carry are not those of an allowed v, from two positions."""
    k, base = int(rng.integers(1, STEPS - 2)), problem.run(method)
    if len(base) <= k + 2:
        return None
    start = {"q0": base.q[k], "t0": base.t[k], "h": base.h[k], "steps": len(base) - 1 - k}
    key, first = ("q1", base.q[k + 1]) if method.discrete else ("v0", base.v[k])
    if (
        not method.discrete
        and np.abs(problem.system.constraint(base.q[k], first, base.t[k])).max(initial=0)
        > 1e-12 * np.abs(first).max()
    ):
        return None  # RK4 has left the constraints
    sol = outcome(problem.system, method, **start, **{key: first})
    left = k + method.discrete  # the step that was given has no impulse, its node another momentum
    whole, part = problem.read(base), problem.read(sol)
    whole = {name: x[left:] for name, x in whole.items()}
    part = {name: x[int(method.discrete) :] for name, x in part.items()}
    return whole, part, 1 / base.h.min()  # of (q1 - q0)/h


def beside_another(problem: Problem, method: Method, rng: np.random.Generator) -> Pair | None:
    """A run alone and beside a second, independent system.

    EDLA chooses one step size for both and the discrete gradient one correction, so that they are
    independent of their company only if it does the same.
    """
    family, seed, company = problem.family, int(rng.integers(2**31)), problem
    if not (method.variable_step or isinstance(method, nh.DiscreteGradient)):
        company = draw(family, seed, 0)
        if expected(family, seed, 0, method, problem.h) > MAX_SENSITIVITY:
            return None  # it may end the run of both
    problems = problem, company
    q0, v0 = (np.concatenate([getattr(x, k) for x in problems]) for k in ("q0", "v0"))
    both, n = side_by_side(problem.family, 2), len(problem.q0)
    values = {f"c_{k}_{i}": x for k, one in enumerate(problems) for i, x in enumerate(one.c)}
    both = both.set(**{s.name: float(values[s.name]) for s in both.parameters})
    one = side_by_side(problem.family, 1)
    one = one.set(**{s.name: float(values[s.name]) for s in one.parameters})
    how = {"h": problem.h, "steps": STEPS}
    alone = outcome(one, method, q0=problem.q0, v0=problem.v0, **how)
    sol = outcome(both, method, q0=q0, v0=v0, **how)
    return *({"t": x.t, "q": x.q[:, :n], "v": x.v[:, :n]} for x in (alone, sol)), 1.0


@cache
def side_by_side(family: str, count: int) -> nh.System:
    """So many systems of a family that do not know of each other, in the plain view."""
    n, t = DIMENSION.get(family, 3), nh.symbols("t")
    q, v, L, lists, c = [], [], 0, ([], [], []), []
    for k in range(count):
        q += nh.symbols(f"x_{k}_:{n}")
        v += nh.symbols(f"v_{k}_:{n}")
        c += nh.symbols(f"c_{k}_:4")
        own, *others = FAMILIES[family](q[-n:], v[-n:], c[-4:], t)
        L += own
        for all_of_them, more in zip(lists, others, strict=False):
            all_of_them += more
    rows, holonomic, forces = lists
    used = sp.Matrix([L, *rows, *holonomic, *forces]).free_symbols
    options = {"t": t if t in used else None, "forces": forces or None}
    numbers = {s.name: 1.0 for s in c if s in used}
    return nh.System(q, v, L, rows, holonomic, numbers, name=f"{count} {family}", **options)


def with_zero_forces(problem: Problem, method: Method, rng: np.random.Generator) -> Pair:
    """A run, and the same with forces whose strength is 0."""
    driven = forced(problem.family)
    known = {s.name for s in driven.parameters}
    values = {s.name: x for s, x in problem.system.parameters.items() if s.name in known}
    given = {"q0": problem.q0, "v0": problem.v0, "h": problem.h, "steps": STEPS}
    sol = outcome(driven.set(**values | {"strength": 0.0}), method, **given)
    return problem.read(problem.run(method)), problem.read(sol), 1.0


@cache
def forced(family: str) -> nh.System:
    s, strength = written(family), nh.symbols("strength")
    forces = [strength * (sp.sin(x) - u * s.v[0]) for x, u in zip(s.q, s.v, strict=True)]
    numbers = {k.name: x for k, x in s.parameters.items()} | {"strength": 1.0}
    return s.replace(forces=forces, parameters=numbers)


# ---------------------------------------------------------------------------- all of them

Pair = tuple[dict[str, np.ndarray], dict[str, np.ndarray], float]
VIEWS = (
    in_other_units,
    in_another_order,
    in_linear_coordinates,
    far_from_the_origin,
    at_another_time,
    with_scaled_rows,
    with_rows_in_another_order,
    with_mixed_rows,
)
RUNS = (begun_again, beside_another, with_zero_forces)


def holds(relation: Callable, method: Method, family: str) -> bool:
    """False where a method does not treat a system, or where a relation says nothing of it."""
    system = written(family)
    try:
        method.check(system)
    except ValueError:
        return False
    least = {with_scaled_rows: 1, with_rows_in_another_order: 2, with_mixed_rows: 2}
    if system.m < least.get(relation, 0):
        return False
    if relation is with_zero_forces and any(e != 0 for e in system.forces or ()):
        return False
    # Gonzalez' correction is a multiple of (M_ii u_i), which other axes change; the rows are
    # made orthonormal, in a basis that depends on how they were mixed.
    own = isinstance(method, nh.DiscreteGradient)
    return not (own and relation in (in_linear_coordinates, with_mixed_rows))


def pair(problem: Problem, relation: Callable, method: Method, rng) -> Pair | None:
    """What two runs say that should be the same, and the factor by which round-off is larger than
    in the first one; None if there is nothing to compare."""
    if relation in RUNS:
        return relation(problem, method, rng)
    other = relation(problem, rng)
    size = 1 + np.abs(other.view.shift).max() + abs(other.view.t0) / (problem.h * STEPS)
    return problem.read(problem.run(method)), other.read(other.run(method)), size


def compare(family: str, seed: int, k: int, relation: Callable, method: Method) -> float | None:
    """How far two runs of random system number k lie apart, as a multiple of what is allowed; None
    if nothing can be compared."""
    sensitivity = expected(family, seed, k, method)
    if sensitivity > MAX_SENSITIVITY:
        return None
    rng = np.random.default_rng([seed, k, *relation.__name__.encode()])
    found = pair(draw(family, seed, k), relation, method, rng)
    if found is None:
        return None
    one, other, size = found
    return distance(one, other) / (allowed(method) * size * sensitivity)


# ---------------------------------------------------------------------------- how far is too far


def distance(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    """The largest difference of two readings, each part measured by its size; infinite where one
    run is shorter."""
    if len(a["t"]) != len(b["t"]):
        return np.inf
    sizes = {name: np.abs(x).max(initial=0) for name, x in a.items()}
    if "push" in sizes:  # which may be round-off beside the change of the momenta
        sizes["push"] += np.abs(np.diff(a["v"], axis=0)).max(initial=0)
    return max(
        np.abs(a[k] - b[k]).max(initial=0) / sizes[k] if sizes[k] else np.abs(b[k]).max(initial=0)
        for k in a
    )


def allowed(method: Method) -> float:
    return EPS * (ALLOWED_EDLA if method.variable_step else ALLOWED)


@cache
def expected(family: str, seed: int, k: int, method: Method, h: float | None = None) -> float:
    """By what factor the motion enlarges an error of its start, times the digits that are lost by
    constraints which are nearly dependent or holonomic; infinite if h is too large."""
    problem = draw(family, seed, k)
    problem = problem if h is None else replace(problem, h=h)
    rng, system, change = np.random.default_rng(3), problem.system, 1e-9
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RuntimeWarning)
        worst, base = 1.0, problem.read(problem.run(method))
    if warned or len(base["t"]) <= STEPS:
        return np.inf  # h is too large: Newton's method may fail a step earlier or later
    for _ in range(2):
        q0 = problem.q0 + change * rng.uniform(-1, 1, len(problem.q0))
        q0 = system.settle(q0) if system.holonomic else q0
        v0 = problem.v0 * (1 + change * rng.uniform(-1, 1, len(q0)))
        v0 = system.project(q0, v0, 0.0) if problem.m else v0
        other = replace(problem, q0=q0, v0=v0)
        worst = max(worst, distance(base, other.read(other.run(method))) / change)
    if problem.m:
        A = system.A(problem.q0, 0.0)
        if system.holonomic:  # what Newton's method solves is g/h, known to eps/h, for v
            worst *= max(1, 1 / (problem.h * np.abs(base["v"]).max()))
        worst *= np.linalg.cond(A / np.linalg.norm(A, axis=1, keepdims=True))
    return worst


# ---------------------------------------------------------------------------- many


def findings(
    relation: Callable, method: Method, seed: int, count: int, families: tuple = tuple(FAMILIES)
) -> tuple[list[str], int]:
    """What was found in ``count`` comparisons with systems of each family, and how many were
    made; each can be repeated alone, by ``compare``."""
    found, made = [], 0
    for family in (f for f in families if holds(relation, method, f)):
        for k in range(count):
            where = f"compare({family!r}, {seed}, {k}, {relation.__name__}, nh.{method!r})"
            try:
                ratio = compare(family, seed, k, relation, method)
            except ValueError as error:
                found.append(f"{where}: {error}"[:300])
                continue
            made += ratio is not None
            if ratio is not None and not ratio <= 1:
                found.append(f"{where}: {ratio:.1e} times what round-off explains")
    return found, made


def main(args: list[str]) -> int:
    if len(args) != 2:
        print(__doc__)
        return 2
    seed, count = map(int, args)
    total, bad, begun = 0, 0, time.process_time()
    for relation in (*VIEWS, *RUNS):
        for method in METHODS:
            found, made = findings(relation, method, seed, count)
            total, bad = total + made, bad + len(found)
            print(f"{relation.__name__:28} {method!r:38} {made:6} compared, {len(found)} found")
            print("".join(f"    {line}\n" for line in found[:5]), end="", flush=True)
    print(f"{total} comparisons, {bad} found, {time.process_time() - begun:.0f} s of CPU")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
