r"""Reduction by an abelian group that translates fibre coordinates s: the system on r = q mod s.

Two conditions fix the motion in the fibre, and so a discrete connection f(r0, r1) = s1 - s0: the
constraints (``Chaplygin``) or a conserved momentum J_d = mu (``Horizontal``); ``Mixed`` takes some
of each.  All else is common.

.. math:: L_d^*(r_0,r_1) = l_d(r_0,r_1,f(r_0,r_1)), \qquad l_d(r_0,r_1,f) = L_d(r_0,0,r_1,f)

The fibre may also be the group factor of a ``GroupSystem``; then s1 = s0 f, and the momenta of the
fibre are the left-trivialised ones, which contain the translations by f of CM01 and C03.
"""

from __future__ import annotations

import hashlib
import itertools
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot, gradient, used_pairs
from ..codegen.statement import dummy
from ..mechanics import display
from ..mechanics.checks import brief, need, rank, read_array
from ..mechanics.symbolic import Symbolic
from ..mechanics.system import System
from ..methods import DLA
from ..run.trajectory import Trajectory
from .connection import Bundle, DiscreteConnection, Names, names_of

if TYPE_CHECKING:
    from ..codegen.kinds import Exprs, Pair, Symbols


class Reduction(DiscreteConnection, System):
    """What ``Chaplygin`` and ``Horizontal`` share: a System on Q/G with q = r, v = v_r.

    Attributes
    ----------
    full : the system that was reduced;  base, fibre : symbols of r and s
    bundle : where r and s are in the full system, and the group of the fibre
    momentum_places : the places of the fibre velocities that a momentum mu determines, and not the
        constraints

    Examples
    --------
    >>> import nhlab as nh
    >>> isinstance(nh.Chaplygin(nh.systems.particle(), fibre="z"), nh.Reduction)
    True
    """

    full: System
    bundle: Bundle
    base: list[sp.Symbol]
    fibre: list[sp.Symbol]
    fibre_v: tuple[sp.Symbol, ...]
    momentum_places: Sequence[int] = ()
    mu_symbols: tuple[sp.Symbol, ...] = ()

    def __init__(
        self, system: System, base: Names | None = None, fibre: Names | None = None, name: str = ""
    ) -> None:
        need(system, System, "system", "nh.System")
        if system.expressions.let:  # v_s is eliminated from the expressions themselves
            system = system.with_plain_code()
        self.full, self.bundle = full, bundle = system, Bundle(system, base, fibre)
        self.base, self.fibre = ([full.q[i] for i in x] for x in (bundle.r, bundle.s))
        base_v, self.fibre_v = (tuple(full.v[i] for i in x) for x in (bundle.v_r, bundle.v_s))
        self._own = {}  # parameters of the reduction alone
        self._check_invariance()
        self._check_fibre()
        about = {"t": full.t, "name": name or f"reduced {full.name}".strip(), "source": full.source}
        if full.q0 is not None:
            about["q0"] = tuple(full.q0[i] for i in bundle.r)
            about["v0"] = None if full.v0 is None else tuple(full.v0[i] for i in bundle.v_r)
        super().__init__(
            self.base, base_v, *self._reduced_L_and_constraints(), full.holonomic, **about
        )

    def _check_invariance(self) -> None:
        """L, the constraints and g must not depend on s."""
        full = self.full
        if full.is_affine:
            raise ValueError(
                f"reduction is stated for constraints A v = 0 and those of {full!r} move, they "
                "have parts without velocities; integrate the full system"
            )
        if full.metric is not None:
            raise ValueError(
                "reduction knows no metric of its own: make the system without "
                f"metric = {full.metric}"
            )
        groups = {"L": [full.L], "constraint": full.constraints, "holonomic": full.holonomic}
        groups["force"] = full.symbolic.F
        for what, e, s in ((x, e, s) for x in groups for e in groups[x] for s in self.fibre):
            if s in e.free_symbols and sp.simplify(e.diff(s)) != 0:
                whose, space = ("L", "L") if what == "L" else (f"{what} {e}", "D")
                space = "the forces" if what == "force" else space
                raise ValueError(
                    f"the {whose} of {full!r} depends on the fibre coordinate {s}, so translations "
                    f"of {s} are no symmetry of {space}; choose another fibre"
                )

    @property
    def kept(self) -> Sequence[int]:
        """The former name of ``momentum_places``."""
        warnings.warn("kept is now called momentum_places", DeprecationWarning, stacklevel=2)
        return self.momentum_places

    @property
    def constrained(self) -> bool:
        """True if the constraints determine fibre velocities; else they are left over."""
        return len(self.momentum_places) < len(self.fibre_v)

    def _determines_fibre(self) -> bool:
        """True if constraints and momenta determine v_s at a generic point."""
        S = self.full.symbolic
        rows = [*(S.A if self.constrained else ()), *(S.M[i] for i in self.momentum_places)]
        block = [[row[j] for j in self.bundle.v_s] for row in rows]
        with np.errstate(all="ignore"):
            samples = self.full.samples()
            values, M = self.full.values(block, *samples), self.full.M(*samples)
        finite, fibre = np.isfinite(values).all((1, 2)), self.bundle.v_s
        return (rank(values[finite], M[finite][:, fibre][:, :, fibre]) == len(block)).any()

    def conditions(self, wd: Sequence[sp.Expr], J: Sequence[sp.Expr]) -> list[sp.Expr]:
        """What vanishes and so determines v_s, given wd and the fibre's momentum J."""
        momenta = [j for i, j in zip(self.bundle.v_s, J, strict=True) if i in self.momentum_places]
        gaps = [j - mu for j, mu in zip(momenta, self.mu_symbols, strict=True)]
        return [*wd, *gaps] if self.constrained else gaps

    @cached_property
    def connection(self) -> sp.ImmutableMatrix:
        """A(r) of the continuous connection s' + A r' = 0 at the nodes, m x k; 0 where a momentum
        determines s', for there the lift does not matter."""
        rows = [
            [sp.S.Zero if i in self.momentum_places else -_tidy(e.diff(u)) for u in self.v]
            for i, e in zip(self.bundle.v_s, self.fibre_velocity, strict=True)
        ]
        return sp.ImmutableMatrix(rows)

    def _reduced_L_and_constraints(self) -> tuple[sp.Expr, Sequence[sp.Expr]]:
        """L and the constraints of the reduced system; for a momentum mu, L is the Routhian."""
        places = dict(zip(self.bundle.v_s, self.fibre_velocity, strict=True))
        L = self.on_D(self.full.L) - dot(self.mu_symbols, [places[i] for i in self.momentum_places])
        return _tidy(L), () if self.constrained else self.full.constraints

    def _bind(self, parameters: Any) -> dict[sp.Symbol, float]:
        return dict(sorted({**self.full.parameters, **self._own}.items(), key=lambda x: x[0].name))

    def set(self, **values: float) -> Self:
        """The same reduction with some parameters changed, in the full system too."""
        new = super().set(**values)
        names = {s.name for s in self.full.parameters}
        new.full = self.full.set(**{k: x for k, x in values.items() if k in names})
        return new

    def _where(self) -> str:
        return f": r = ({', '.join(map(str, self.base))})"

    def _rows(self) -> list[str]:
        """With the motion in the fibre and the forces, the gyroscopic one among them."""
        straight = self.full if self.bundle.is_abelian else self
        dots = display.dotted(straight.q, straight.v)
        rows = list(zip(self.fibre_v, self.fibre_velocity, strict=True))
        forces = zip(self.q, self.gyroscopic, self.symbolic.F, strict=True)
        rows += [(sp.Symbol(f"F_{s}"), _tidy(e + f)) for s, e, f in forces if e + f != 0]
        more = [" &= ".join(sp.latex(x, symbol_names=dots) for x in row) for row in rows]
        return super()._rows() + more

    def constructor_kwargs(self) -> dict[str, Any]:
        base, fibre = ([s.name for s in part] for part in (self.base, self.fibre))
        return {"system": self.full, "base": base, "fibre": fibre, "name": self.name}

    @cached_property
    def key(self) -> str:
        symbols = (*self.base, *self.fibre, *self.parameters)
        parts = (type(self).__name__, self.full.key, *map(str, symbols))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @cached_property
    def symbolic(self) -> ReducedSymbolic:
        return ReducedSymbolic(self)

    @property
    def is_forced(self) -> bool:
        return self.full.is_forced

    @property
    def inputs(self) -> tuple[sp.Symbol, ...]:
        return self.full.inputs

    @cached_property
    def fibre_velocity(self) -> tuple[sp.Expr, ...]:
        """v_s as expressions in (t, r, v_r), a tuple."""
        J = [self.full.symbolic.L_v[i] for i in self.bundle.v_s]
        return tuple(map(_tidy, _solve(self.conditions(self.full.constraints, J), self.fibre_v)))

    def on_D(self, e: sp.Expr) -> sp.Expr:
        """An expression of the full system with v_s eliminated."""
        return e.xreplace(dict(zip(self.fibre_v, self.fibre_velocity, strict=True)))

    @cached_property
    def curvature(self) -> sp.ImmutableDenseNDimArray:
        """B[a, b, c] = d_b A^a_c - d_c A^a_b - [A_b, A_c]^a, shape (m, k, k)."""
        A, r, bracket = self.connection, self.q, self.bundle.group.bracket

        def B(a: int, b: int, c: int) -> sp.Expr:
            return A[a, c].diff(r[b]) - A[a, b].diff(r[c]) - bracket(A[:, b], A[:, c])[a]

        m, k = A.shape
        places = itertools.product(range(m), range(k), range(k))
        return sp.ImmutableDenseNDimArray([_tidy(B(*x)) for x in places], (m, k, k))

    @cached_property
    def gyroscopic(self) -> sp.ImmutableMatrix:
        """The force of the reduced equations d/dt L*_v - L*_r, k x 1: L_a B[a, b, c] v^c on D.

        It does no work.  Where A depends on time, -L_a dA^a_b/dt comes along, which does.
        """
        L_s = [self.on_D(self.full.symbolic.L_v[i]) for i in self.bundle.v_s]
        B, A, (m, k) = self.curvature, self.connection, self.connection.shape
        A_t = sp.zeros(m, k) if self.t is None else A.diff(self.t)
        rows = [[dot(B[a, b, :], self.v) - A_t[a, b] for a in range(m)] for b in range(k)]
        return sp.ImmutableMatrix([_tidy(dot(L_s, row)) for row in rows])

    def discretise_reduced(
        self,
        t: sp.Expr,
        q: Sequence[sp.Expr],
        v: Sequence[sp.Expr],
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool,
    ) -> ReducedLagrangian:
        """The reduced discrete Lagrangian: the full system's with v_s eliminated."""
        return ReducedLagrangian(self, t, q, v, h, alpha, symmetric)

    def gyroscopic_force(self, r: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """Values of ``gyroscopic``, shape (..., k)."""
        return self.values(list(self.gyroscopic), r, v, t)

    def curvature_at(self, r: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """Values of ``curvature``, shape (..., m, k, k)."""
        return self.values(self.curvature.tolist(), r, None, t)

    def project(
        self, q: ArrayLike | Trajectory, v: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> np.ndarray:
        """r of positions q of the full system, shape (..., k), or of a Trajectory of it.

        With a velocity, ``project(r, v_r)`` is the one of D nearest to it, as for any System.
        """
        if v is not None:
            return super().project(q, v, t)
        return self.full.states(q.q if isinstance(q, Trajectory) else q, "q")[..., self.bundle.r]

    def lift(self, r: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """The velocity of the full system over (r, v_r), shape (..., n)."""
        return self.bundle.join_v(v, self.values(self.fibre_velocity, r, v, t))

    def start(
        self, q0: ArrayLike, v0: ArrayLike, t: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """(r0, v_r0) for (q0, v0) of the full system, which must be a motion of this reduction."""
        q0, v0 = self.full.states(q0, "q"), self.full.states(v0, "v")
        r0, v_r0 = q0[..., self.bundle.r], v0[..., self.bundle.v_r]
        gap = np.abs(self.lift(r0, v_r0, t) - v0).max()
        if not gap <= 1e-9 * (1 + np.abs(v0).max()):
            raise ValueError(
                f"v0 = {v0} does not belong to {self!r}: its velocity in the fibre is "
                f"off by {gap:.3g}; {self._remedy}"
            )
        return r0, v_r0

    def reconstruct(self, sol: Trajectory, s0: ArrayLike | None = None) -> Trajectory:
        """The full Trajectory over a run by RDLA or REDLA: s_k+1 = s_k + f(r_k, r_k+1).

        Complete with momenta and multipliers, as DLA or EDLA would have computed it from
        (r0, s0).  s0 : (m,), by default that of the full system's own q0, or 0.
        """
        self._check_run(sol)
        full, method, t, h, r, v_r = self.full, sol.method.full, sol.t, sol.h, sol.q, sol.rows.v
        held = {u: sol.inputs[u.name][1:] for u in full.inputs if u.name in sol.inputs}
        driven = full.with_input_values(held)
        v_s = sol.method.on_step(sol.driven(), "v_s", t[:-1], r[:-1], v_r[1:], h)
        v, q = self.bundle.join_v(v_r[1:], v_s), self.bundle.join(r, self.fibre_start(s0))
        for k in range(len(h)):
            q[k + 1, self.bundle.s] = full.move(q[k], v[k], h[k])[self.bundle.s]
        steps = (t[:-1], q[:-1], v, h)
        p, p_minus = (method.on_step(driven, x, *steps) for x in ("p_plus", "p_minus"))
        if sol.q1_given and len(v):
            v0, p0 = v[:1], p_minus[:1]
        else:
            v0 = self.lift(r[:1], v_r[:1], t[:1])
            p0 = full.momentum(q[:1], v0, t[:1])
        v, p = np.concatenate([v0, v]), np.concatenate([p0, p])
        At = np.swapaxes(full.A(q[:-1], t[:-1]), -1, -2)
        lam = np.zeros((len(q), At.shape[-1]))  # p_minus(k, k+1) = p_plus(k-1, k) - A^T lam
        # where constraints determine the fibre, its equations determine lam
        rows = [i for i in self.bundle.v_s if i not in self.momentum_places] or range(len(full.v))
        lam[1:] = (np.linalg.pinv(At[:, rows]) @ (p[:-1] - p_minus)[:, rows, None])[..., 0]
        parts = {"t": t, "q": q, "p": p, "v": v, "lam": lam}
        if method.variable_step:
            parts |= {x: getattr(sol.rows, x) for x in ("h", "h_before", "e")}
        about = {x: getattr(sol, x) for x in ("t0", "message", "q1_given", "inputs")}
        return Trajectory(full, method, method.layout(full).join(**parts), h=sol.h0, **about)

    def _check_run(self, sol: Trajectory) -> None:
        """Refuse runs that cannot be reconstructed."""
        if sol.method.full is None:
            raise ValueError(
                f"{sol.method!r} has no reconstruction; integrate with nh.RDLA or nh.REDLA"
            )
        if sol.system != self:
            raise ValueError(f"this is a run of {sol.system!r}, not of {self!r}")
        if sol.every != 1:
            raise ValueError(f"every = {sol.every} left nodes out; integrate with every=1")


class Chaplygin(Reduction):
    r"""A Chaplygin system, TQ = D + V, reduced to Q/G: no constraints, a gyroscopic force.

    .. math:: \dot s + A(r)\dot r = 0, \qquad
              \frac{d}{dt}\frac{\partial L^*}{\partial\dot r^b} - \frac{\partial L^*}{\partial r^b}
              = \frac{\partial L}{\partial\dot s^a}\Bigl(\frac{\partial A^a_c}{\partial r^b}
              - \frac{\partial A^a_b}{\partial r^c}\Bigr)\dot r^c, \qquad L^* = L|_D

    CM01 5.3, where this force is alpha and is printed as -alpha.  ``nh.RDLA`` on it is the reduced
    DLA of the full system; ``nh.Variational`` discretises the equations above instead.

    Parameters
    ----------
    system : its L and constraints must not depend on the fibre coordinates, and the constraints
        must determine the fibre velocities: any equivalent rows will do
    base, fibre : names of r and s, "theta psi" or a list; either may be left out
    name : what the reduced system is called

    Examples
    --------
    >>> import nhlab as nh
    >>> reduced = nh.Chaplygin(nh.systems.particle(), fibre="z")
    >>> reduced
    <Chaplygin reduced particle: r = (x, y)>
    >>> sol = nh.integrate(reduced, nh.RDLA(), h=0.2, steps=100)
    >>> sol.q.shape
    (101, 2)
    """

    _remedy = "it violates the constraints; full.project(q0, v0) satisfies them"

    def _check_fibre(self) -> None:
        full = self.full
        if full.holonomic:
            raise ValueError(
                f"{full!r} has holonomic constraints; use coordinates that satisfy them"
            )
        if len(full.constraints) != len(self.fibre_v):
            raise ValueError(
                f"TQ = D + V needs as many constraints as fibre velocities: {full!r} "
                f"has {len(full.constraints)} for {self.fibre_v}"
            )
        if not self._determines_fibre():
            raise ValueError(
                f"a direction of the fibre {tuple(self.fibre)} lies in D: the "
                "constraints do not determine its velocity. Choose another fibre, or "
                "nh.Horizontal if it is a symmetry of D"
            )


class Horizontal(Reduction):
    r"""Reduction by a horizontal symmetry: d/ds lies in D, and its momentum is mu.

    .. math:: J_d(q_0,q_1) = \frac{\partial L_d}{\partial s_1} = \mu, \qquad
              R(r, \dot r) = L(r, \dot r, V) - \mu V, \quad
              \frac{\partial L}{\partial\dot s}(r,\dot r,V) = \mu

    L here is the Routhian R, and the constraints are those of the full system.  The motion in the
    fibre comes from the momentum, so the lift at the nodes does not matter: ``connection`` is 0.
    On it ``nh.DLA`` and ``nh.RDLA`` agree exactly for the alpha rule.

    Parameters
    ----------
    system : L and constraints independent of s, no constraint on v_s, L quadratic in v_s
    fibre : names of s
    mu : the momentum, a number or one for each fibre coordinate; by default that of the system's
        own (q0, v0).  A parameter: ``reduction.set(mu=0.3)``; ``reduction.at(q0, v0)`` sets it
    base : coordinates that stay, if not all others
    name : what the reduced system is called

    Examples
    --------
    >>> import nhlab as nh
    >>> from nhlab.course.lessons import lesson_07b
    >>> board = nh.Horizontal(lesson_07b.relative_board(), "psi")
    >>> board
    <Horizontal reduced relative board: r = (x, y, theta, phi), ...>
    >>> sol = nh.integrate(board, nh.RDLA(), h=0.1, steps=20)
    """

    def __init__(
        self,
        system: System,
        fibre: Names | None = None,
        mu: ArrayLike | None = None,
        base: Names | None = None,
        name: str = "",
    ) -> None:
        self._given = mu
        super().__init__(system, base, fibre, name)

    _remedy = "reduction.at(q0, v0) has its momentum mu"

    @property
    def momentum_places(self) -> Sequence[int]:
        """The places of the velocities whose momentum is mu."""
        return self.bundle.v_s

    def _check_fibre(self) -> None:
        full, places = self.full, self.momentum_places
        if isinstance(full, Chaplygin):  # its gyroscopic force is not in its L
            raise ValueError(
                f"{full!r} is reduced by its constraints already; reduce by the horizontal "
                "symmetry first: nh.Chaplygin(nh.Horizontal(system))"
            )
        symmetry = tuple(full.v[i] for i in places)
        if not self.bundle.is_abelian:
            raise ValueError(
                "nh.Horizontal reduces by translations of coordinates, not by a "
                f"group such as {self.bundle.group!r}"
            )
        for i in places:
            if sp.simplify(full.symbolic.F[i]) != 0:
                raise ValueError(
                    f"the force {full.symbolic.F[i]} acts along {full.q[i]}, so its momentum is "
                    "not kept; nh.Horizontal needs a symmetry along which no force acts"
                )
        for c, u in ((c, u) for c in full.constraints for u in symmetry):
            if sp.simplify(c.diff(u)) != 0:
                raise ValueError(
                    f"the constraint {c} restricts {u}, so the symmetry is not "
                    "horizontal; nh.Chaplygin treats vertical ones"
                )
        M = [full.symbolic.M[i] for i in places]
        if any(sp.simplify(row[j].diff(u)) != 0 for row in M for j in places for u in symmetry):
            raise ValueError(
                f"J_d = mu cannot be solved for {symmetry}: L = {full.L} is not quadratic in them"
            )
        if not self._determines_fibre():
            raise ValueError(
                f"J_d = mu does not determine {symmetry}: their block of the mass "
                "matrix is singular (transversality fails)"
            )
        self.mu_symbols = self._momentum_symbols()
        self._own = dict(zip(self.mu_symbols, self._momentum_values(), strict=True))

    def _momentum_symbols(self) -> tuple[sp.Symbol, ...]:
        full, count = self.full, len(self.momentum_places)
        others = {s.name for s in (*full.q, *full.v, *full.parameters, full.t) if s is not None}
        names = ["mu"] if count == 1 else [f"mu{k}" for k in range(count)]
        while others & set(names):
            names = [f"{name}_" for name in names]
        return tuple(sp.Symbol(name, real=True) for name in names)

    def _momentum_values(self) -> list[float]:
        """mu as it was given, or that of the system's own start."""
        full, mu, count = self.full, self._given, len(self.momentum_places)
        if mu is None:
            if full.q0 is None or full.v0 is None:
                raise ValueError(
                    "mu is missing, and the system has no start of its own to take it from; give mu"
                )
            mu = full.momentum(full.q0, full.v0)[self.momentum_places]
        names = tuple(full.q[i] for i in self.momentum_places)
        expected = f"must be {count} finite numbers, one for each of {names}"
        values = np.atleast_1d(read_array(mu, "mu", otherwise=expected))
        if values.shape != (count,) or not np.isfinite(values).all():
            raise ValueError(f"mu = {brief(self._given)} {expected}")
        return values.tolist()

    @property
    def mu(self) -> np.ndarray:
        """The momentum of the symmetry, shape (m,)."""
        return np.array([self.parameters[s] for s in self.mu_symbols])

    def at(self, q0: ArrayLike, v0: ArrayLike, t: ArrayLike = 0.0) -> Self:
        """This reduction at the momentum of (q0, v0)."""
        mu = self.full.momentum(q0, v0, t)[self.momentum_places]
        return self.set(**{s.name: x for s, x in zip(self.mu_symbols, mu, strict=True)})

    def J_d(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        h: ArrayLike,
        alpha: float = 0.5,
        symmetric: bool = False,
        t: ArrayLike = 0.0,
    ) -> np.ndarray:
        """The discrete momentum D2Ld(q0, q1) of the symmetry, shape (..., m)."""
        v = self.full.velocity_between(q0, q1, h)
        p = DLA(alpha, symmetric).on_step(self.full, "p_plus", t, q0, v, h)
        return p[..., self.momentum_places]

    def constructor_kwargs(self) -> dict[str, Any]:
        return {**super().constructor_kwargs(), "mu": self.mu.tolist()}


class Mixed(Horizontal):
    r"""Part of the fibre moves by constraints, part by a momentum: TQ = H + S + U of the poster.

    .. math:: D = H\oplus S, \quad V = S\oplus U, \qquad w_d(q_0,q_1) = 0, \quad
              \frac{\partial L_d}{\partial s_1} = \mu \text{ for } s \in S

    ``Chaplygin`` is the case of an empty S, ``Horizontal`` that of an empty U.

    Parameters
    ----------
    system : L and constraints independent of the fibre; as many constraints as fibre coordinates
        besides those of ``momentum``, whose velocities they must not contain
    fibre : names of all fibre coordinates
    momentum : names of those among them, the part S, that are horizontal symmetries
    mu : as for ``Horizontal``
    base : coordinates that stay, if not all others
    name : what the reduced system is called

    Examples
    --------
    >>> import nhlab as nh
    >>> robot, (chi, vchi) = nh.systems.robot(), nh.symbols("chi vchi")
    >>> L = robot.L + 3 * (robot.v[2] + vchi) ** 2 / 2  # a rotor on the robot, which turns by theta
    >>> q, v = (*robot.q, chi), (*robot.v, vchi)
    >>> s = nh.System(q, v, L, robot.constraints, parameters=robot.parameters, name="with rotor")
    >>> nh.Mixed(s, fibre="x y chi", momentum="chi", mu=4.5)
    <Mixed reduced with rotor: r = (theta, psi), I=1, Iw=1, R=1, k=10, m=1, mu=4.5>
    """

    def __init__(
        self,
        system: System,
        fibre: Names | None = None,
        momentum: Names = (),
        mu: ArrayLike | None = None,
        base: Names | None = None,
        name: str = "",
    ) -> None:
        self.symmetry = names_of(momentum)
        super().__init__(system, fibre, mu, base, name)

    @property
    def momentum_places(self) -> list[int]:
        names = [s.name for s in self.full.q]
        return [i for i in self.bundle.v_s if names[i] in self.symmetry]

    def _check_fibre(self) -> None:
        names, full = [s.name for s in self.fibre], self.full
        if not self.symmetry or not {*self.symmetry} < {*names}:
            raise ValueError(
                f"momentum = {self.symmetry} must name some, not all, of the fibre {names}; "
                "for none there is nh.Chaplygin, for all nh.Horizontal"
            )
        if full.holonomic or len(full.constraints) != len(names) - len(self.momentum_places):
            raise ValueError(
                f"TQ = H + S + U needs one velocity constraint for each of "
                f"{[x for x in names if x not in self.symmetry]} and no other; {full!r} has "
                f"{len(full.constraints)} and {len(full.holonomic)} holonomic ones"
            )
        super()._check_fibre()

    def constructor_kwargs(self) -> dict[str, Any]:
        return {**super().constructor_kwargs(), "momentum": self.symmetry}


class ReducedSymbolic(Symbolic):
    """Of the reduced equations of motion: f of d/dt L*_v = f + A^T lambda, and the energy's rate.

    With the horizontal lift B = (1, -A), B^T (d/dt L_v - f_full) = 0 and L*_v = B^T L_v.
    """

    @cached_property
    def f(self) -> tuple[sp.Expr, ...]:
        s, F = self.system, self.system.full.symbolic
        f, L_s = [s.on_D(e) for e in F.f], [s.on_D(F.L_v[j]) for j in s.bundle.v_s]
        rates = sp.Matrix(*s.connection.shape, self.rates(list(s.connection)))
        lifted = s.bundle.lifted(f, s.connection)
        return tuple(e - dot(L_s, rates.col(b)) for b, e in enumerate(lifted))

    @cached_property
    def L_t(self) -> sp.Expr:
        """-dE/dt of the full system; the force of a time-dependent A is accounted for."""
        return self.system.on_D(self.system.full.symbolic.L_t)

    @cached_property
    def F(self) -> tuple[sp.Expr, ...]:
        """The forces of the full system, which f contains, as seen from r."""
        s = self.system
        return tuple(s.bundle.lifted(list(map(s.on_D, s.full.symbolic.F)), s.connection))

    @cached_property
    def power(self) -> sp.Expr:
        return self.system.on_D(self.system.full.symbolic.power)


class ReducedLagrangian:
    """The full system's discrete Lagrangian with v_s eliminated, seen from Q/G.

    p_minus = B(r0)^T p_minus_full and p_plus = B(r1)^T p_plus_full, B = (1, -A), are the momenta of
    the DLA step.  F_minus and F_plus are built from the printed formula, not as the differences
    p_minus + D1Ld* and D2Ld* - p_plus, to which they are equal: so CM01 (32), statement 4 of DRP,
    is an equation that a wrong derivative of Ld* violates.
    """

    def __init__(
        self,
        reduction: Reduction,
        t: sp.Expr,
        q: Exprs,
        v: Exprs,
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool,
    ) -> None:
        s, bundle = reduction, reduction.bundle
        v_s, fibre = ([dummy(x.name) for x in part] for part in (s.fibre_v, s.fibre))
        over, both = bundle.join(q, fibre).tolist(), bundle.join_v(v, v_s).tolist()
        Ld = s.full.discretise(t, over, both, h, alpha, symmetric)  # which needs no fibre
        J = [Ld.p_plus[i] for i in bundle.v_s]
        solution = _solve(s.conditions(Ld.constraints, J), v_s)
        r1 = [dummy(f"{x.name}_1") for x in q]
        first = used_pairs(Ld.let, solution)  # the rest may need v_s
        last = [x for x in Ld.let if x not in first]
        self.let_of_ld = [*first, *last]  # of l_d, in which v_s is a variable
        arrived = zip(r1, s.end_of_step(q, v, h), strict=True)
        self.let = [*first, *zip(v_s, solution, strict=True), *last, *arrived]
        self.q, self.v, self.h, self.v_s = q, v, h, v_s
        self.Ld, self.E_minus, self.E_plus, self.work = Ld.Ld, Ld.E_minus, Ld.E_plus, Ld.work
        self.constraints = Ld.constraints if s.constraints else []

        def A(*place: sp.Expr) -> sp.ImmutableMatrix:
            return s.connection.xreplace(dict(zip((s.t or t, *s.q), place, strict=True)))

        A_0, A_1 = A(t, *q), A(t + h, *r1)
        self.p_minus, self.p_plus = bundle.lifted(Ld.p_minus, A_0), bundle.lifted(Ld.p_plus, A_1)
        pairs = (Ld.impulse_minus, A_0), (Ld.impulse_plus, A_1)
        self.impulse_minus, self.impulse_plus = (
            [*bundle.lifted(x[:-1], at), x[-1]] for x, at in pairs
        )
        # A^T dl_d/df at both ends, carried there by f if it lies in a group: the fibre's momenta
        self.A_minus, self.A_plus = (
            [dot(at.col(b), [p[j] for j in bundle.v_s]) for b in range(len(q))]
            for p, at in ((Ld.p_minus, A_0), (Ld.p_plus, A_1))
        )
        self.push_minus, self.push_plus = (
            [x[i] for i in bundle.v_r] for x in (Ld.impulse_minus, Ld.impulse_plus)
        )

    @cached_property
    def D1Ld(self) -> list[sp.Expr]:
        return self._by_r0_and_r1(self.Ld)[0]

    @cached_property
    def D2Ld(self) -> list[sp.Expr]:
        return self._by_r0_and_r1(self.Ld)[1]

    @cached_property
    def df(self) -> tuple[list[sp.Expr], list[sp.Expr]]:
        """(dl_d/df) df/dr0 and (dl_d/df) df/dr1; f is determined by v_s, so both are by way of
        v_s."""
        before, weights = list(self.let), [dummy(f"l_{u.name}") for u in self.v_s]
        slopes = self._slopes(self.Ld, self.v_s, self.let_of_ld)
        self.let += zip(weights, slopes, strict=True)
        return self._by_r0_and_r1(dot(weights, self.v_s), before)  # dl_d/df is held fixed

    @cached_property
    def F_minus(self) -> list[sp.Expr]:
        """dl_d/df (df/dr0 - A(r0)); forces of the full system come along with the sign of (32)."""
        parts = zip(self.df[0], self.A_minus, self.push_minus, strict=True)
        return [df - carried - push for df, carried, push in parts]

    @cached_property
    def F_plus(self) -> list[sp.Expr]:
        """dl_d/df (df/dr1 + A(r1)), likewise."""
        parts = zip(self.df[1], self.A_plus, self.push_plus, strict=True)
        return [df + carried - push for df, carried, push in parts]

    def _by_r0_and_r1(
        self, e: sp.Expr, let: list[Pair] | None = None
    ) -> tuple[list[sp.Expr], list[sp.Expr]]:
        """The derivatives of e by r0 and by r1, where v = (r1 - r0)/h."""
        let = self.let if let is None else let
        by_r1 = [by_v / self.h for by_v in self._slopes(e, self.v, let)]
        by_q = self._slopes(e, self.q, let)
        return [a - b for a, b in zip(by_q, by_r1, strict=True)], by_r1

    def _slopes(self, e: sp.Expr, variables: Symbols, let: list[Pair]) -> list[sp.Expr]:
        slopes, let = gradient(e, variables, let)
        self.let += [pair for pair in let if pair not in self.let]
        return slopes


def _solve(equations: Exprs, unknowns: Symbols) -> list[sp.Expr]:
    """Solutions of linear equations in a few unknowns, as expressions."""
    zero = dict.fromkeys(unknowns, sp.S.Zero)
    K = sp.Matrix([[sp.sympify(e, strict=True).diff(u) for u in unknowns] for e in equations])
    rest = sp.Matrix([-sp.sympify(e, strict=True).xreplace(zero) for e in equations])
    if K.is_diagonal():
        return [x / K[i, i] for i, x in enumerate(rest)]
    return list(K.LUsolve(rest))


def _tidy(e: Any) -> sp.Expr:
    """The shortest of e, e multiplied out, and that with cos^2 + sin^2 = 1."""
    forms = [sp.sympify(e, strict=True)]
    forms.append(forms[0].expand())
    if forms[1].has(sp.sin) and forms[1].has(sp.cos) and forms[1].count_ops() < 60:
        forms.append(sp.trigsimp(forms[1]))
    return min(forms, key=sp.count_ops)
