"""Bundles Q -> Q/G in coordinates q = (r, s), and discrete connections on them.

A discrete connection tells which s1 belongs to (r0, s0) and r1: f(r0, r1) = s1 - s0, or s0^-1 s1 in
a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..mechanics.checks import read_array
from ..methods import RDLA

if TYPE_CHECKING:
    from ..mechanics.system import System

Names = str | sp.Symbol | Sequence[str | sp.Symbol] | None  # coordinates, as "x y" or a list


class Translations:
    """R^m as a group, with those functions of ``nh.groups`` that a connection needs."""

    multiply, inverse, log = np.add, np.negative, np.positive

    def __init__(self, coordinates: Sequence[sp.Symbol]) -> None:
        self.coordinates, self.identity = coordinates, np.zeros(len(coordinates))

    def element(self, g: ArrayLike, name: str = "g") -> np.ndarray:
        """g as an array, shape (..., m)."""
        m = len(self.coordinates)
        expected = f"its last axis must have length {m}, one entry for each of {self.coordinates}"
        return read_array(g, name, (m,), expected)

    def bracket(self, x: Sequence[Any], y: Sequence[Any]) -> list[int]:
        return [0] * len(x)


class Bundle:
    """The base r and the fibre s of a system, on which a group acts by left translations.

    r, s : their places among the coordinates;  v_r, v_s : those of their velocities
    """

    def __init__(self, system: System, base: Names, fibre: Names) -> None:
        self.r, self.s = _split(system, base, fibre)
        self.is_abelian = getattr(system, "group", None) is None
        self.v_r, self.v_s = self.r, self.s
        if self.is_abelian:
            self.group = Translations([system.q[i] for i in self.s])
        else:
            self.group, self.v_s = system.group, list(range(len(self.r), len(system.v)))

    def join(self, r: Any, s: Any) -> np.ndarray:
        """Positions q from their parts, numbers or symbols, which broadcast."""
        return _merged(self.r, r, self.s, s)

    def join_v(self, v_r: Any, v_s: Any) -> np.ndarray:
        """Velocities v from their parts."""
        return _merged(self.v_r, v_r, self.v_s, v_s)

    def lifted(self, p: Sequence[sp.Expr], A: sp.Matrix) -> list[sp.Expr]:
        """B^T p for expressions p on Q, where B = (1, -A) lifts velocities: v = B v_r."""
        p_s = [p[j] for j in self.v_s]
        return [p[i] - dot(A.col(b), p_s) for b, i in enumerate(self.v_r)]


class DiscreteConnection:
    """What a Reduction tells of two points.

    Functions of (r0, r1) take (r0, r1, h, alpha=0.5, symmetric=False, t=0.0), r0 and r1 of shape
    (..., k); those of (q0, q1) the same with points of the full system.
    """

    def _on_pair(
        self,
        what: str,
        r0: ArrayLike,
        r1: ArrayLike,
        h: ArrayLike,
        alpha: float = 0.5,
        symmetric: bool = False,
        t: ArrayLike = 0.0,
    ) -> np.ndarray:
        """A part of the reduced discrete Lagrangian of steps from r0 to r1."""
        r0, r1 = self.states(r0, "q"), self.states(r1, "q")
        with np.errstate(all="ignore"):
            v = self.velocity_between(r0, r1, h)
            return RDLA(alpha, symmetric).on_step(self, what, t, r0, v, h)

    def f(
        self, r0: ArrayLike, r1: ArrayLike, h: ArrayLike, *rule: float | bool, **options: Any
    ) -> np.ndarray:
        """The discrete connection: s1 - s0 of a step from r0 to r1, or s0^-1 s1; (..., m)."""
        v_s, bundle = self._on_pair("v_s", r0, r1, h, *rule, **options), self.bundle
        q0, v = bundle.join(r0, bundle.group.identity), bundle.join_v(0.0, v_s)
        return self.full.move(q0, v, h)[..., bundle.s]

    def Ld(self, *pair: Any, **options: Any) -> np.ndarray:
        """The reduced discrete Lagrangian Ld*(r0, r1) = l_d(r0, r1, f(r0, r1)), shape (...)."""
        return self._on_pair("Ld", *pair, **options)

    def D1Ld(self, *pair: Any, **options: Any) -> np.ndarray:
        """The derivative of Ld* by r0, shape (..., k)."""
        return self._on_pair("D1Ld", *pair, **options)

    def D2Ld(self, *pair: Any, **options: Any) -> np.ndarray:
        """The derivative of Ld* by r1, shape (..., k)."""
        return self._on_pair("D2Ld", *pair, **options)

    def F_minus(self, *pair: Any, **options: Any) -> np.ndarray:
        """dl_d/df (df/dr0 - A(r0)), for a group R_f A(r0); C03 Prop. 3.  Shape (..., k)."""
        return self._on_pair("F_minus", *pair, **options)

    def F_plus(self, *pair: Any, **options: Any) -> np.ndarray:
        """dl_d/df (df/dr1 + A(r1)), for a group L_f A(r1); C03 Prop. 3.  Shape (..., k)."""
        return self._on_pair("F_plus", *pair, **options)

    def beta_0(self, *pair: Any, **options: Any) -> np.ndarray:
        """-F_minus, as the poster writes it."""
        return -self.F_minus(*pair, **options)

    def beta_1(self, *pair: Any, **options: Any) -> np.ndarray:
        """-F_plus, as the poster writes it."""
        return -self.F_plus(*pair, **options)

    def act(self, g: ArrayLike, q: ArrayLike) -> np.ndarray:
        """g q: the fibre part of q moved by g; (q, act(g, q)) is a vertical element."""
        q, bundle = self.full.states(q, "q"), self.bundle
        s = bundle.group.multiply(bundle.group.element(g), q[..., bundle.s])
        return bundle.join(q[..., bundle.r], s)

    def A_d(
        self, q0: ArrayLike, q1: ArrayLike, h: ArrayLike, *rule: float | bool, **options: Any
    ) -> np.ndarray:
        """The discrete connection as a map to the group: g with (q0, g^-1 q1) horizontal.

        A_d(q0, g q1) = g A_d(q0, q1), DRP.  Shape (..., m).
        """
        q0, q1 = self.full.states(q0, "q"), self.full.states(q1, "q")
        r, s, G = self.bundle.r, self.bundle.s, self.bundle.group
        f = self.f(q0[..., r], q1[..., r], h, *rule, **options)
        return G.multiply(q1[..., s], G.inverse(G.multiply(q0[..., s], f)))

    def alpha_Ad(
        self, q0: ArrayLike, q1: ArrayLike, h: ArrayLike, *rule: float | bool, **options: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(r0, r1, A_d(q0, q1)): the isomorphism of (Q x Q)/G with Q/G x Q/G x G, DRP."""
        return self.project(q0), self.project(q1), self.A_d(q0, q1, h, *rule, **options)

    def alpha_Ad_inverse(
        self,
        r0: ArrayLike,
        r1: ArrayLike,
        g: ArrayLike,
        h: ArrayLike,
        *rule: float | bool,
        s0: ArrayLike | None = None,
        **options: Any,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pair (q0, q1) over (r0, r1, g) whose first point has the fibre part s0."""
        r0, r1 = self.states(r0, "q"), self.states(r1, "q")
        f, s0 = self.f(r0, r1, h, *rule, **options), self.fibre_start(s0)
        if not np.isfinite(f).all():
            raise ValueError(
                f"no unique horizontal pair lies over r0 = {r0}, r1 = {r1}: Dd is not "
                "right-rigid there (C03 Prop. 2)"
            )
        q1 = self.bundle.join(r1, self.bundle.group.multiply(s0, f))
        return self.bundle.join(r0, s0), self.act(g, q1)

    def nu(
        self, q0: ArrayLike, q1: ArrayLike, h: ArrayLike, *rule: float | bool, **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """(r0, r1) of a pair in Dd: the map Dd/G -> Q/G x Q/G of C03 Prop. 2."""
        r0, r1, g = self.alpha_Ad(q0, q1, h, *rule, **options)
        gap = np.abs(self.bundle.group.log(g)).max()
        if not gap <= 1e-9 * (1 + np.abs(q1).max()):
            raise ValueError(f"(q0, q1) is not horizontal: A_d(q0, q1) = {g}")
        return r0, r1

    def nu_inverse(
        self, r0: ArrayLike, r1: ArrayLike, h: ArrayLike, *rule: float | bool, **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pair in Dd over (r0, r1) whose first point has the fibre part s0."""
        return self.alpha_Ad_inverse(r0, r1, self.bundle.group.identity, h, *rule, **options)

    def fibre_start(self, s0: ArrayLike | None = None) -> np.ndarray:
        """s0 as an array, by default that of the full system's own q0, or the identity."""
        if s0 is None:
            q0, identity = self.full.q0, self.bundle.group.identity
            s0 = identity if q0 is None else [q0[i] for i in self.bundle.s]
        return self.bundle.group.element(s0, "s0")


def names_of(names: Names) -> list[str]:
    """Names from "x y", from symbols or from a list."""
    names = names.replace(",", " ").split() if isinstance(names, str) else names
    return [getattr(x, "name", x) for x in np.atleast_1d(np.array(names, object))]


def _split(system: System, base: Names, fibre: Names) -> tuple[list[int], list[int]]:
    """The places of base and fibre coordinates in system.q."""
    names, parts = [s.name for s in system.q], {}
    for what, choice in (("base", base), ("fibre", fibre)):
        if choice is None:
            continue
        choice = names_of(choice)
        if not choice or any(x not in names for x in choice):
            raise ValueError(f"{what} = {choice} must name coordinates of {system!r}: {names}")
        if len(set(choice)) < len(choice):
            raise ValueError(f"{what} = {choice} names a coordinate twice")
        parts[what] = [names.index(x) for x in choice]
    if not parts:
        raise ValueError(f"name the fibre (or the base) coordinates among {names}")
    every = set(range(len(names)))
    r = parts["base"] if "base" in parts else sorted(every - {*parts["fibre"]})
    s = parts["fibre"] if "fibre" in parts else sorted(every - {*r})
    twice, missing = {*r} & {*s}, every - {*r, *s}
    if twice:
        raise ValueError(f"{[names[i] for i in twice]} are in base and in fibre")
    if missing:
        raise ValueError(f"{[names[i] for i in missing]} are neither in base nor in fibre")
    if not r or not s:
        raise ValueError(f"base and fibre both need a coordinate of {names}")
    group = getattr(system, "group", None)
    if group is not None and s != list(range(len(r), len(names))):
        its = names[-len(group.coordinates) :]
        raise ValueError(f"the fibre of {system!r} must be its group, {its}")
    return r, s


def _merged(i: list[int], x: Any, j: list[int], y: Any) -> np.ndarray:
    """An array with x at the places i of its last axis and y at the places j."""
    x, y = np.asarray(x), np.asarray(y)
    batch = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    whole = np.empty((*batch, len(i) + len(j)), np.result_type(x, y))
    whole[..., i], whole[..., j] = x, y
    return whole
