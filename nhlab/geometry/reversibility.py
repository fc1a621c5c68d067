r"""``is_reversible``: which linear reversals of time carry a system over into itself, as formulas.

A reversal takes a motion q(t) to S q(-t) + c, where the linear map S is its own inverse.  On states
and time it is

.. math:: R(q, v, t) = (S q + c,\; -S v,\; -t).

It is a symmetry of the system if L(R(q, v, t)) = L(q, v, t), if R takes admissible velocities to
admissible ones, and if the forces obey F(R(q, v, t)) = S^T F(q, v, t).  Then every symmetric
method has it too: its runs, taken backwards and mirrored, are runs.  Near a motion that is its own
mirror image this keeps energies in a band (Modin & Verdier, "What makes nonholonomic integrators
work?", Numer. Math. 145 (2020), doi:10.1007/s00211-020-01126-y).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..mechanics.checks import brief, need, read_scalar
from ..mechanics.forces import need_inputs
from ..mechanics.groupsystem import GroupSystem
from ..mechanics.system import System
from ..methods.method import Method
from ..run.loop import integrate
from ..run.trajectory import Trajectory

Image = tuple[sp.Expr, ...]  # of the coordinates under an involution: S q + c

MOST = 10  # coordinates up to which all sign changes are tried: 2^10 of them
STATES = 8  # generic states at which a reversal is tried before a proof is sought
TOLERANCE = 1e-9  # of what vanishes at a state, relative to what it is made of
LONG = 4000  # operations from which on SymPy would simplify for minutes; such stay undecided


@dataclass(frozen=True, eq=False)
class Reversal:
    """One reversal R(q, v, t) = (S q + c, -S v, -t), and what was found out about it.

    system : the system it was tried on
    image : S q + c as expressions, one for each coordinate
    verdict : "proved" as formulas; "refuted" by ``reason``; "motion" where L changes by a total
        derivative, so that the motion is reversible but a discrete Lagrangian made from L is not;
        "undecided" where it holds at generic states and SymPy found no proof
    reason : the sentence that belongs to the verdict
    """

    system: System
    image: tuple[sp.Expr, ...]
    verdict: str
    reason: str

    @cached_property
    def S(self) -> np.ndarray:
        """The linear part as numbers, shape (n, n)."""
        return np.array(sp.Matrix(self.image).jacobian(sp.Matrix(self.system.q)), float)

    @property
    def steadfast(self) -> tuple[sp.Symbol, ...]:
        """The velocities whose sign the reversal keeps.  A motion in which one of the others never
        vanishes is not its own mirror image."""
        signs = np.diagonal(self.S)
        return tuple(v for v, s in zip(self.system.v, signs, strict=True) if s == -1)

    def state(self, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(S q + c, -S v) of states, arrays of shape (..., n)."""
        q, v = self.system.states(q, "q"), self.system.states(v, "v")
        return self._mirror(q), -v @ self.S.T

    def _mirror(self, q: ArrayLike) -> np.ndarray:
        """S q + c of positions, shape (..., n)."""
        shift = np.array([e.xreplace(dict.fromkeys(self.system.q, sp.S.Zero)) for e in self.image])
        return q @ self.S.T + shift.astype(float)

    def return_error(
        self, method: Method, q0: Any = None, v0: Any = None, *, h: float, steps: int
    ) -> float:
        """How far a run, reversed at its end, passes by where it came from: the largest gap.

        Round-off for a method that keeps this reversal, the square of its error for others.
        """
        need(method, Method, "method", "integrator")
        there = integrate(self.system, method, q0, v0, h=h, steps=steps, progress=False)
        run = {"h": there.h[-1], "steps": steps, "progress": False, "t0": -there.t[-1]}
        if method.discrete:
            ends = self._mirror(there.q[-1]), self._mirror(there.q[-2])
            back = integrate(self.system, method, ends[0], q1=ends[1], **run)
        else:
            q, v = self.state(there.q[-1], self.system.project(there.q[-1], there.v[-1]))
            back = integrate(self.system, method, q, v, **run)
        return float(np.abs(self._mirror(back.q) - there.q[::-1]).max())

    def nearest(
        self,
        sol: Trajectory,
        *,
        periods: Mapping[str, float] | None = None,
        without: Collection[str] = (),
    ) -> float:
        """How near a run comes to the mirror image of its start, relative to how far it reaches.

        Small for a motion that is its own mirror image, once the run is long enough.

        periods : coordinate -> period, of angles that are the same after a whole turn
        without : names of coordinates that do not count, as those on which nothing depends
        """
        need(sol, Trajectory, "sol", "run")
        names = [s.name for s in self.system.q]
        periods = {} if periods is None else periods
        if not isinstance(periods, Mapping) or not {*periods, *without} <= {*names}:
            raise ValueError(
                f"periods = {brief(periods)} and without = {brief(without)} must name coordinates "
                f"among {names}"
            )
        count = [k for k, name in enumerate(names) if name not in without]
        q, v = self.state(sol.q[0], sol.v[0])
        gap = sol.q - q
        for name, period in periods.items():
            k = names.index(name)
            gap[:, k] = (gap[:, k] + period / 2) % period - period / 2
        reach = np.concatenate([gap[:, count], sol.v - v], axis=1)
        size = np.maximum(np.abs(reach).max(0), 1e-300)
        return float(np.linalg.norm(reach / size, axis=1).min())

    def __str__(self) -> str:
        names = ", ".join(s.name for s in self.system.q)
        return f"({names}) -> ({', '.join(map(str, self.image))}): {self.reason}"

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Reversibility:
    """The reversals that were tried on a system; true if one of them is proved.

    trials : every Reversal, in the order in which they were tried
    """

    system: System
    trials: tuple[Reversal, ...]

    def __bool__(self) -> bool:
        return bool(self.reversals)

    @property
    def reversals(self) -> tuple[Reversal, ...]:
        """Those that are proved to carry L, D and forces over into themselves."""
        return tuple(x for x in self.trials if x.verdict == "proved")

    @property
    def of_motion(self) -> tuple[Reversal, ...]:
        """Those under which L changes by a total derivative: they reverse the motion alone."""
        return tuple(x for x in self.trials if x.verdict == "motion")

    @property
    def undecided(self) -> tuple[Reversal, ...]:
        """Those that hold at generic states, for which no proof was found."""
        return tuple(x for x in self.trials if x.verdict == "undecided")

    def kept_by(self, method: Method) -> bool:
        """True if this method has the proved reversals of the system: if it is symmetric."""
        need(method, Method, "method", "integrator")
        return bool(self) and method.is_symmetric

    def __str__(self) -> str:
        refuted = [x for x in self.trials if x.verdict == "refuted"]
        lines = [f"{self.system.label}: {'reversible' if self else 'no linear reversal is proved'}"]
        lines += [f"  {x}" for x in (*self.reversals, *self.of_motion, *self.undecided)]
        lines += [f"  {x}" for x in refuted[:3]]
        more = len(refuted) - 3
        lines += [f"  refuted besides: {more} of {len(self.trials)} sign changes"] * (more > 0)
        return "\n".join(lines)

    __repr__ = __str__


def is_reversible(system: System, involution: ArrayLike | None = None) -> Reversibility:
    r"""Prove or refute that a linear reversal of time carries a system over into itself.

    Parameters
    ----------
    system : a System in coordinates, reduced ones included
    involution : what happens to the coordinates: n signs, an n x n matrix S with S S = 1, or a dict
        coordinate -> expression affine in q, such as {"y": pi - y}; others stay.  By default all
        changes of signs are tried, the identity among them

    Inputs of the forces need values, by ``system.set``: what a changing one does is not asked here.

    Returns a Reversibility, true if a reversal is proved; print it to see which ones, and why
    others fail.  Proved with free parameters where possible, else for the numbers that the system
    has.

    With L(q, -v) = L(q, v) and constraints that do not move, S = 1 always is a reversal.  It says
    something only about motions whose velocities change their signs: of one that goes round and
    round, the mirror image goes round the other way.  A reversal that is refuted here may still be
    one of the motion, or of a motion; what a method can inherit is that of L and D.

    Examples
    --------
    A pendulum that is not symmetric leaves only the reversals that turn it round:

    >>> import nhlab as nh
    >>> print(nh.is_reversible(nh.systems.transmission(), [1, -1, -1]))
    transmission: no linear reversal is proved
      (x, y, z) -> (x, -y, -z): L changes by 2*eps*sin(2*y), 0.329 at q = ..., v = ...
    >>> found = nh.is_reversible(nh.systems.particle())
    >>> print(*found.reversals, sep="\n")
    (x, y, z) -> (x, y, z): L, D are carried over
    (x, y, z) -> (x, -y, -z): L, D are carried over
    (x, y, z) -> (-x, y, -z): L, D are carried over
    (x, y, z) -> (-x, -y, z): L, D are carried over
    >>> found.kept_by(nh.DLA()), found.kept_by(nh.RK4())
    (True, False)
    """
    need(system, System, "system", "nh.System")
    if isinstance(system, GroupSystem) or len(system.q) != len(system.v):
        raise ValueError(
            f"{system!r} has body velocities; is_reversible is stated for coordinates and their "
            "velocities: state the system in angles, as nh.System"
        )
    need_inputs(system, "is_reversible")
    if involution is not None:
        return Reversibility(system, (_judge(system, _read(system, involution)),))
    if len(system.q) > MOST:
        raise ValueError(
            f"{system!r} has {len(system.q)} coordinates and 2^{len(system.q)} changes of signs; "
            f"up to {MOST} coordinates all are tried: give one as involution=[1, -1, ...]"
        )
    signs = itertools.product((1, -1), repeat=len(system.q))
    images = (tuple(s * x for s, x in zip(row, system.q, strict=True)) for row in signs)
    return Reversibility(system, tuple(_judge(system, image) for image in images))


# ---------------------------------------------------------------------------- reading


def _read(system: System, involution: Any) -> Image:
    """The image S q + c of an involution in any of the three forms; refuses what is none."""
    q, n = sp.Matrix(system.q), len(system.q)
    image = sp.Matrix(_image(system, involution))
    S = image.jacobian(q)
    other = S.free_symbols | (image - S * q).expand().free_symbols
    if other:
        raise ValueError(
            f"involution = {brief(involution)} must be affine in q with numbers, as y -> pi - y; "
            f"it contains {sorted(map(str, other))} in another way"
        )
    again = image.xreplace(dict(zip(system.q, image, strict=True)))
    if (again - q).applyfunc(sp.simplify) != sp.zeros(n, 1):
        raise ValueError(
            f"involution = {brief(involution)} is not its own inverse: applied twice it gives "
            f"{list(again)} in the place of {list(q)}"
        )
    return tuple(image)


def _image(system: System, involution: Any) -> list[sp.Expr]:
    """S q + c as a list of expressions, not yet checked."""
    n, by_name = len(system.q), {s.name: s for s in system.q}
    if isinstance(involution, Mapping):
        named = {getattr(k, "name", k): e for k, e in involution.items()}
        if not {*named} <= {*by_name}:
            raise ValueError(
                f"involution = {brief(involution)} must name coordinates among {[*by_name]}"
            )
        return [read_scalar(named.get(x, s), f"involution[{x!r}]") for x, s in by_name.items()]
    wrong = f"involution = {brief(involution)} must be {n} signs, an {n} x {n} matrix or a dict"
    try:
        S = np.array(involution, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(wrong) from None
    if S.shape == (n,):
        S = np.diag(S)
    if S.shape != (n, n) or not np.isfinite(S).all():
        raise ValueError(wrong)
    rows = [[sp.nsimplify(x, rational=True) for x in row] for row in S.tolist()]
    return [dot(row, system.q) for row in rows]


# ---------------------------------------------------------------------------- judging


def _judge(system: System, image: Image) -> Reversal:
    """The Reversal with its verdict: refuted at a state, or proved, or neither."""
    told = Conditions(system, image)
    doubt = told.refutation()
    if doubt is None:
        return Reversal(system, image, *told.proof())
    if doubt.startswith("L ") and told.changes_by_total_derivative():
        kind = "L changes by a total derivative: the motion is reversible, a discrete L is not"
        return Reversal(system, image, "motion", kind)
    return Reversal(system, image, "refuted", doubt)


class Conditions:
    """The differences that vanish if R is a reversal of the system, as numbers and as formulas."""

    def __init__(self, system: System, image: Image) -> None:
        self.system, self.image = system, image
        S = sp.Matrix(image).jacobian(sp.Matrix(system.q))
        self.S, self.backwards = S, [-e for e in S * sp.Matrix(system.v)]
        new = (*image, *self.backwards)
        self.mirror = dict(zip((*system.q, *system.v), new, strict=True))
        if system.t is not None:
            self.mirror[system.t] = -system.t

    # ---- numbers: states that refute

    def refutation(self) -> str | None:
        """A sentence with the state at which a condition fails, or None."""
        for what, (q, v), there, here, size in self._compared():
            off = np.abs(there - here).max(-1)
            size = size + np.maximum(np.abs(there), np.abs(here)).max(-1)
            for k in np.flatnonzero(~(off <= TOLERANCE * size))[:1]:
                return f"{what} {off[k]:.3g} at q = {q[k].round(3)}, v = {v[k].round(3)}"
        return None

    def _compared(self) -> Iterator[tuple[Any, ...]]:
        """(what fails, states, values at their images, what these should be, size of the terms),
        the values of shape (states, k).

        L and forces are compared at any velocity: off D they shape the motion in D.
        """
        s, (q, v, t) = self.system, self.system.samples(STATES)
        if s.holonomic:
            q = np.array([s.settle(x) for x in q])
        F = self._forces()
        with np.errstate(all="ignore"):
            L = (s.values([s.L], *x) for x in (self._there(q, v, t), (q, v, t)))
            yield f"L changes {self._formula()}", (q, v), *L, 0.0
            if s.m:
                w = v - np.einsum("pim,pm->pi", np.linalg.pinv(s.A(q, t)), s.constraint(q, v, t))
                slip = s.constraint(*self._there(q, w, t))
                size = np.abs(s.A(q, t)).max((1, 2)) * (1 + np.abs(w).max(1))
                yield "D is not carried over: A v is", (q, w), slip, 0 * slip, size
            if s.holonomic:
                there = self._there(q, v, t)
                g = s.g(there[0], there[2])
                yield "positions are not carried over: g is", (q, v), g, 0 * g, np.ones(len(g))
            if any(F):
                mirrored = s.values([dot(self.S[:, i], F) for i in range(len(F))], q, v, t)
                values = s.values(F, *self._there(q, v, t))
                yield "the forces are not mirrored: they miss by", (q, v), values, mirrored, 0.0

    def _there(
        self, q: np.ndarray, v: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """R(q, v, t) of arrays of states."""
        to = self.system.values([list(self.image), self.backwards], q, v, t)
        return to[:, 0], to[:, 1], -t

    def _forces(self) -> list[sp.Expr]:
        """All forces that are not in L, the gyroscopic one of a reduction among them."""
        S = self.system.symbolic
        return [sp.expand(f - e) for f, e in zip(S.f, S.L_q, strict=True)]

    def _formula(self) -> str:
        """By what L changes, as a formula where it is short enough for a sentence."""
        if sp.count_ops(self.system.L) > LONG:
            return "by"
        text = str(sp.factor_terms(sp.expand(self.change_of_L)))
        return f"by {text}," if len(text) <= 60 else "by"

    # ---- formulas: proofs

    @cached_property
    def change_of_L(self) -> sp.Expr:
        return self.system.L.xreplace(self.mirror) - self.system.L

    def changes_by_total_derivative(self) -> bool:
        """True if L changes by b(q).v with b a gradient, and all else is carried over."""
        s, change = self.system, sp.expand(self.change_of_L)
        if s.t is not None or sp.count_ops(change) > LONG:
            return False
        b = [change.diff(u) for u in s.v]
        rest = [change - dot(b, s.v), *(e.diff(u) for e in b for u in s.v)]
        curl = [
            b[i].diff(s.q[j]) - b[j].diff(s.q[i])
            for i, j in itertools.combinations(range(len(b)), 2)
        ]
        return self._vanish([*rest, *curl, *self._of_constraints(), *self._of_forces()]) is not None

    def proof(self) -> tuple[str, str]:
        """(verdict, sentence) for a reversal that no state has refuted."""
        terms = [self.change_of_L, *self._of_constraints(), *self._of_forces()]
        with_numbers = self._vanish(terms)
        if with_numbers is None:
            return "undecided", f"holds at {STATES} generic states; no proof was found"
        return (
            "proved",
            f"L, D{' and the forces' * any(self._forces())} are carried over{with_numbers}",
        )

    def _of_constraints(self) -> list[sp.Expr]:
        """Formulas that vanish if D is carried over: with the image of a row below it, the rows of
        the constraints stay dependent, so all minors are zero."""
        s, S = self.system, self.system.symbolic
        forms = [*s.constraints, *S.rates(s.holonomic)] if s.m else []
        mirrored = [e.xreplace(self.mirror) for e in forms[: len(s.constraints)]]
        table = [[*(e.diff(u) for u in s.v), _still(e, s.v)] for e in forms]
        rows = [[*(e.diff(u) for u in s.v), _still(e, s.v)] for e in mirrored]
        minors = []
        for row in rows:
            whole = sp.Matrix([*table, row])
            columns = itertools.combinations(range(whole.cols), whole.rows)
            minors += [whole[:, list(c)].det(method="berkowitz") for c in columns]
        return [*minors, *map(self._unlike, s.holonomic)]

    def _unlike(self, g: sp.Expr) -> sp.Expr:
        """0 if the image of g = 0 is one of the holonomic constraints, but for its sign."""
        there = g.xreplace(self.mirror)
        near = [sp.expand(there - k * e) for e in self.system.holonomic for k in (1, -1)]
        return min(near, key=sp.count_ops)

    def _of_forces(self) -> list[sp.Expr]:
        """F(R(q, v, t)) - S^T F(q, v, t)."""
        F = self._forces()
        there = [e.xreplace(self.mirror) for e in F]
        return [e - dot(self.S[:, i], F) for i, e in enumerate(there)]

    def _vanish(self, terms: Sequence[sp.Expr]) -> str | None:
        """ "" if all terms vanish with free parameters, or a clause with the numbers for which they
        do; None where no proof is found."""
        if sum(map(sp.count_ops, terms)) > LONG:
            return None
        rest = [e for e in terms if not _is_zero(e)]
        if not rest:
            return ""
        numbers = {s: sp.Rational(repr(float(x))) for s, x in self.system.numbers.items()}
        used = sorted({s for e in rest for s in e.free_symbols & numbers.keys()}, key=str)
        if used and all(_is_zero(e.xreplace(numbers)) for e in rest):
            return f", for {', '.join(f'{s} = {float(numbers[s]):g}' for s in used)}"
        return None


def _still(e: sp.Expr, velocities: Iterable[sp.Symbol]) -> sp.Expr:
    """The part of an expression, linear in the velocities, that has none of them."""
    return e.xreplace(dict.fromkeys(velocities, sp.S.Zero))


def _is_zero(e: sp.Expr) -> bool:
    """True if SymPy can show that e = 0."""
    return sp.expand(e) == 0 or sp.simplify(e) == 0
