"""Systems on a Lie group, or on R^k times one, in body velocities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..codegen.statement import dummy
from . import display
from .checks import States, Symbols, brief, one_of, read_array, read_symbols, sequence
from .discrete import DiscreteLagrangian
from .groups import Group
from .spelling import check_keywords
from .symbolic import Symbolic
from .system import System, symbols

TAU = {"cayley": "cay", "log": "exp", "trace": "cay"}


class GroupSystem(System):
    r"""A system on :math:`R^k\times G` with the body velocity :math:`\hat\omega = g^{-1}\dot g`.

    .. math:: \frac{d}{dt}L_{\dot r} = L_r + A_r^T\lambda, \qquad
              \frac{d}{dt}L_\omega = \mathrm{ad}^*_\omega L_\omega + A_\omega^T\lambda, \qquad
              A(r, g)(\dot r, \omega) = 0

    Parameters
    ----------
    group : ``nh.groups.SO3`` or ``nh.groups.SE2``
    v : k + 3 symbols, the velocities of r and the body velocity
    L : the Lagrangian L(r, r', omega), which must not contain g (FIM08 section 4.1)
    constraints : expressions A v + b; A and b may depend on r and g
    g : the symbols of g's coordinates, (w, x, y, z) or (x, y, theta); made here if not given
    r : the k other coordinates
    rule : the discrete Lagrangian of W = g0^-1 g1, with tau(h omega) = W:
        "cayley": h L(cay^-1(W)/h), "log": h L(log(W)/h), "trace": (tr J - tr J W)/h with
        J = tr(I)/2 - I (Moser & Veselov; SO(3) and L = omega.I.omega/2 only)
    others : as in ``System``

    The rest as in ``System``: parameters, metric, name, source, q0, v0, exact, and forces, which
    belong to v: those of the body are added to ad*_omega L_omega.  Then q = (*r, *g),
    v = (*r', *omega), ``system.pose`` is g, and all of M, A, P, Q, momenta and multipliers belong
    to v.  Positions may be given as quaternions, as 3 x 3 matrices or as SciPy's Rotation.  The
    projector method on it is FIM08 (7).

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> w1, w2, w3 = w = nh.symbols("w1 w2 w3")
    >>> top = nh.GroupSystem(nh.groups.SO3, w, (w1**2 + 2 * w2**2 + 3 * w3**2) / 2, [w3 - w1 / 2])
    >>> sol = nh.integrate(top, nh.Projector(), [1, 0, 0, 0], [2, 1, 1], h=0.1, steps=100)
    >>> bool(np.allclose(np.linalg.norm(sol.q, axis=1), 1))
    True
    """

    group: Group
    rule: str
    k: int  # the number of coordinates beside the group's

    def __init__(
        self,
        group: Group,
        v: Symbols,
        L: sp.Expr | float,
        constraints: Sequence[sp.Expr] = (),
        *,
        g: Symbols | None = None,
        r: Symbols = (),
        rule: str = "cayley",
        **others: Any,
    ) -> None:
        if not isinstance(group, Group):
            raise ValueError(f"group = {group!r} is unknown; use nh.groups.SO3 or nh.groups.SE2")
        one_of(rule, TAU, "rule")
        if others.keys() & {"holonomic", "t"}:
            name = min(others.keys() & {"holonomic", "t"})
            raise ValueError(
                f"{name} = {brief(others[name])}: a system on a group has neither holonomic "
                "constraints nor t; choose r that satisfy them, such as angles, or use nh.System"
            )
        check_keywords(System.__init__, others, type(self).__name__)
        self.group, self.rule = group, rule
        r = read_symbols(r, "r") if sequence(r) else ()
        g = symbols([f"g{s}" for s in group.coordinates]) if g is None else read_symbols(g, "g")
        self.k = len(r)
        super().__init__((*r, *g), v, L, constraints, **others)
        self._check()
        if self.q0 is not None:
            self.q0 = tuple(self.configuration(self.q0, "q0").tolist())

    @property
    def pose(self) -> tuple[sp.Symbol, ...]:
        """The symbols of g."""
        return self.q[self.k :]

    @property
    def tau(self) -> str:
        """The map from the velocity of a step to W: "exp" or "cay"."""
        return TAU[self.rule]

    @property
    def degrees(self) -> list[str]:
        """Names of the degrees of freedom: those of the velocities, since a pose may have more
        numbers than degrees."""
        return [u.name for u in self.v]

    def _check_lengths(self) -> None:
        G, k = self.group, self.k
        if len(self.pose) != len(G.coordinates):
            raise ValueError(
                f"g = {self.pose} must name the coordinates of {G.name}: {G.coordinates}"
            )
        if len(self.v) != k + G.dim:
            raise ValueError(
                f"v = {self.v} must have {k} velocities, for r = {self.q[:k]}, and "
                f"then {G.dim} of the body in {G.name}"
            )

    def _check(self) -> None:
        names = sorted(s.name for s in self.L.free_symbols & {*self.pose})
        if names:
            raise ValueError(
                f"L contains {names}, coordinates of the group, but must be left-"
                "invariant; use nh.System in angles for such a potential"
            )
        if self.rule == "trace" and not self._is_free_rotation():
            raise ValueError(
                f"rule='trace' is for SO3 and L = omega.I.omega/2, not for L = "
                f"{self.L} on {self.group.name}; use rule='cayley'"
            )
        if self.group.name == "SO3" and self.constraints and not self._is_single_valued():
            raise ValueError(
                f"the constraints {list(map(str, self.constraints))} differ at q and -q, which "
                "are the same rotation; use the entries of nh.groups.SO3.matrix(g)"
            )

    def _is_free_rotation(self) -> bool:
        """True if L = omega.I.omega/2 on SO(3), with I constant."""
        I = {s for row in self.symbolic.M for e in row for s in e.free_symbols}
        free = sp.expand(2 * self.L - dot(self.v, self.symbolic.L_v)) == 0
        return self.group.name == "SO3" and not self.k and I <= {*self.parameters} and free

    def _is_single_valued(self) -> bool:
        """True if the constraints at a quaternion and at its negative are the same up to signs."""
        q, _, _ = self.samples()
        A, B = (
            np.concatenate([self.A(x), self.b(x)[..., None]], -1)
            for x in (q, q * ([1] * self.k + [-1] * 4))
        )
        gap = np.minimum(np.abs(A - B).max(-1), np.abs(A + B).max(-1))
        return not (gap > 1e-9 * (1 + np.abs(A).max())).any()

    # ------------------------------------------------------------------ identity and display

    def _where(self) -> str:
        on = f"R^{self.k} x {self.group.name}" if self.k else self.group.name
        return f" on {on}, rule={self.rule!r}"

    def _rows(self) -> list[str]:
        body, name = ", ".join(sp.latex(u) for u in self.v[self.k :]), self.group.name
        algebra = rf"\mathfrak{{{name[:2].lower()}}}({name[2:]})"
        names = display.dotted(self.q[: self.k], self.v[: self.k])
        names |= {x: "{}_{}".format(*x.name) for x in self.pose if len(x.name) == 2}  # qw: q_w
        rows = display.formulas(self, names)
        return [rf"& g^{{-1}}\dot g = ({body})^\wedge \in {algebra}", *rows]

    def constructor_kwargs(self) -> dict[str, Any]:
        own = {"group": self.group, "rule": self.rule, "g": self.pose, "r": self.q[: self.k]}
        return {
            k: x
            for k, x in super().constructor_kwargs().items()
            if k not in ("q", "t", "holonomic")
        } | own

    # ------------------------------------------------------------------ motion

    @cached_property
    def symbolic(self) -> Symbolic:
        """The derived expressions, with the equations of motion of body velocities."""
        return BodySymbolic(self)

    def rate(self, q: Sequence[sp.Expr], v: Sequence[sp.Expr]) -> list[sp.Expr]:
        return [*v[: self.k], *self.group.rate(q[self.k :], v[self.k :])]

    def abbreviated_end_of_step(
        self, q: Sequence[sp.Expr], v: Sequence[sp.Expr], h: sp.Expr
    ) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        straight = [x + h * u for x, u in zip(q[: self.k], v[: self.k], strict=True)]
        let, g = self.group.step(q[self.k :], [h * u for u in v[self.k :]], self.tau)
        return let, [*straight, *g]

    def normalise(self, q: Sequence[Any], abbreviate: Callable[..., Any] = list) -> list[Any]:
        return [*q[: self.k], *self.group.normalise(q[self.k :], abbreviate)]

    def discretise(
        self,
        t: sp.Expr,
        q: Sequence[sp.Expr],
        v: Sequence[sp.Expr],
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool,
    ) -> DiscreteLagrangian:
        return GroupLagrangian(self, t, q, v, h, alpha, symmetric)

    def move(self, q: States, v: States, h: ArrayLike) -> np.ndarray:
        """Where a step h with velocity v arrives, by tau: (r + h r', g tau(h omega)); h negative:
        its start."""
        q, v, h = self.states(q, "q"), self.states(v, "v"), read_array(h, "h")[..., None]
        turn = getattr(self.group, self.tau)(h * v[..., self.k :])
        g = self.group.multiply(q[..., self.k :], turn)
        return np.concatenate([q[..., : self.k] + h * v[..., : self.k], g], -1)

    def velocity_between(self, q0: States, q1: States, h: ArrayLike) -> np.ndarray:
        """The velocity whose step h leads from q0 to q1."""
        q0, q1, h = self.states(q0, "q0"), self.states(q1, "q1"), read_array(h, "h")[..., None]
        G = self.group
        W = G.multiply(G.inverse(q0[..., self.k :]), q1[..., self.k :])
        turn = G.log(W) if self.tau == "exp" else G.cay_inv(W)
        return np.concatenate([q1[..., : self.k] - q0[..., : self.k], turn], -1) / h

    def configuration(self, q: Any, name: str = "q", near: Any = None, axes: int = 0) -> Any:
        """q in coordinates, from coordinates, also by names, or, without r, from matrices or a
        Rotation; refused off the group; of the names of one element, the one next to ``near``."""
        q = self.states(q, name) if self.k or isinstance(q, Mapping) else q
        r, g = np.split(q, [self.k], -1) if self.k else ((), q)
        g = self.group.element(g, name, axes)
        if near is not None:
            g = self.group.near(g, np.asarray(near, float)[..., self.k :])
        return np.concatenate([r, g], -1) if self.k else g

    def bracket(self, v: Sequence[Any], w: Sequence[Any]) -> list[Any]:
        return [0] * self.k + list(self.group.bracket(v[self.k :], w[self.k :]))


class BodySymbolic(Symbolic):
    """f = (L_r, ad*_omega L_omega) + F, the right-hand side for body velocities."""

    @cached_property
    def f(self) -> tuple[sp.Expr, ...]:
        s = self.system
        body = s.group.ad_star_of(s.v[s.k :], self.L_v[s.k :])
        return tuple(a + b for a, b in zip((*self.L_q[: s.k], *body), self.F, strict=True))


class GroupLagrangian(DiscreteLagrangian):
    r"""Ld = h L(r_alpha, r', omega) with tau(h omega) = W = g0^-1 g1.

    .. math:: p^- = (d\tau^{-1}_{h\omega})^* L_\omega, \qquad
              p^+ = \mathrm{Ad}^*_W p^- = (d\tau^{-1}_{-h\omega})^* L_\omega

    in the body frames at g0 and g1 (FIM08 4.1).  The trace rule is the Cayley rule for the
    Lagrangian L/(1 + h^2 |omega|^2/4): J = tr(I)/2 - I gives tr J - tr J W = h^2 of it.
    """

    def __init__(
        self,
        system: GroupSystem,
        t: sp.Expr,
        q: Sequence[sp.Expr],
        v: Sequence[sp.Expr],
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool = False,
    ) -> None:
        super().__init__(system, t, q, v, h, alpha, symmetric)
        self.mu = [dummy(f"mu_{u.name}") for u in v[system.k :]]
        mean = self.means(lambda ah, bh, L_omega: L_omega, system.symbolic.L_v[system.k :])
        self.turn = [h * u for u in v[system.k :]]
        let, self.half = system.group.half(self.turn, system.tau)
        if system.rule == "trace":
            self.shrink = 1 + let[0][0] / 4
        self.let += [*zip(self.mu, mean, strict=True), *let]

    def _body(self, sign: int) -> list[sp.Expr]:
        s, turn = self.system, [sign * x for x in self.turn]
        if s.rule == "trace":
            force = s.group.ad_star_of(turn, self.mu)
            return [(m - f / 2) / self.shrink for m, f in zip(self.mu, force, strict=True)]
        return s.group.leaving(turn, self.mu, s.tau, self.half)

    @cached_property
    def p_minus(self) -> list[sp.Expr]:
        k = self.system.k
        body = [p - f for p, f in zip(self._body(1), self.impulse_minus[k:-1], strict=True)]
        return [*super().p_minus[:k], *body]

    @cached_property
    def p_plus(self) -> list[sp.Expr]:
        k = self.system.k
        body = [p + f for p, f in zip(self._body(-1), self.impulse_plus[k:-1], strict=True)]
        return [*super().p_plus[:k], *body]
