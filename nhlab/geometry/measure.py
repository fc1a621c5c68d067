r"""Volumes that a Chaplygin system keeps, and the new time in which it becomes Hamiltonian.

The equations of ``Chaplygin`` are those of L* with a gyroscopic force G(r, v), quadratic in v.
In the coordinates (r, p), p = L*_v, their divergence is that of the force,

.. math:: \frac{\partial G_b}{\partial p_b} = \theta_c(r)\,\dot r^c ,

so N(r) dr dp is kept if and only if d(log N) = -theta: if the one-form theta is exact (Stanchenko,
J. Appl. Math. Mech. 53 (1989); Cantrijn, Cortes, de Leon & Martin de Diego, Math. Proc. Cambridge
Philos. Soc. 132 (2002)).  With two shape coordinates N is Chaplygin's reducing multiplier: in the
time tau with d tau = N dt the motion is that of the Lagrangian L*(r, N r'), without a force.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..mechanics.checks import need, read_number
from ..mechanics.system import System
from ..methods.method import Method
from ..run.ensemble import ensemble
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from .reduction import Chaplygin

Form = tuple[sp.Expr, ...]  # the coefficients of a one-form of the shape

ENERGY = sp.Symbol("E_", real=True)  # a parameter of systems at one energy
D = 1e-3  # spacing of the differences that give a step's tangent; their error is D^4 of it


@dataclass(frozen=True, eq=False)
class Measure:
    """What was found out about volumes of a Chaplygin system; true if it keeps one.

    reduction : the reduced system
    form : the coefficients theta_c of the divergence, one for each shape coordinate
    multiplier : N(r), the density with respect to dr dp; None if there is none
    reason : why there is none, or how N was found
    """

    reduction: Chaplygin
    form: tuple[sp.Expr, ...]
    multiplier: sp.Expr | None
    reason: str

    def __bool__(self) -> bool:
        return self.multiplier is not None

    @cached_property
    def density(self) -> sp.Expr:
        """The density with respect to dr dv: N times the determinant of the mass matrix, without
        factors that are constant."""
        self._require("density")
        whole = sp.simplify(self.multiplier * sp.Matrix(self.reduction.symbolic.M).det())
        return sp.factor(whole).as_independent(*self.reduction.q, as_Add=False)[1]

    def __str__(self) -> str:
        s = self.reduction
        variables = ", ".join(x.name for x in (*s.q, *s.v))
        if not self:
            return f"{s.name}: no invariant density. {self.reason}"
        return f"{s.name}: density {self.density} in ({variables}). {self.reason}"

    __repr__ = __str__

    def _require(self, what: str) -> None:
        if not self:
            raise ValueError(f"{self.reduction!r} has no {what}: {self.reason}")

    def change(
        self,
        method: Method,
        r: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        h: float,
        steps: int = 1,
    ) -> np.ndarray:
        """By how much a method changes the volume along a run: log of the factor, shape
        (steps + 1,), beginning with 0.

        In each step the factor is |det DPhi| times the ratio of the densities at its two ends,
        where Phi takes (r, v) at one node to (r, v) at the next.  DPhi is a difference quotient of
        order 4.

        method : a method for the reduction, as nh.RDLA(), nh.Variational(), nh.Reversible()
        r, v : the start; by default that of the reduction
        """
        self._require("density that a method could keep")
        need(method, Method, "method", "integrator")
        sol = integrate(self.reduction, method, r, v, h=h, steps=steps, progress=False)
        if method.variable_step:
            raise ValueError(f"{method!r} chooses its own steps; take one that does not")
        density = np.log(self.reduction.values(self.density, sol.q, sol.v))
        return np.concatenate([[0], np.cumsum(self._growth(method, sol, h) + np.diff(density))])

    def _growth(self, method: Method, sol: Trajectory, h: float) -> np.ndarray:
        """log |det DPhi| of each step of a run, shape (steps,)."""
        s, k = self.reduction, len(self.reduction.q)
        z = np.concatenate([sol.q[:-1], sol.v[:-1]], axis=1)
        offsets = D * np.concatenate([j * np.eye(2 * k) for j in (1, -1, 2, -2)])
        start = (z[:, None] + offsets).reshape(-1, 2 * k)
        many = ensemble(s, method, start[:, :k], start[:, k:], h=h, steps=1, progress=False)
        v = s.velocity(many.q[:, 1], many.p[:, 1])
        ends = np.concatenate([many.q[:, 1], v], axis=1).reshape(len(z), 4, 2 * k, 2 * k)
        tangent = (8 * (ends[:, 0] - ends[:, 1]) - (ends[:, 2] - ends[:, 3])) / (12 * D)
        return np.linalg.slogdet(tangent)[1]

    def hamiltonise(self) -> Hamiltonised:
        """The system in the new time, without a force: a ``Hamiltonised``.

        Two shape coordinates are needed, for which Chaplygin's multiplier suffices.
        """
        self._require("multiplier")
        return Hamiltonised(self)


class Hamiltonised:
    r"""A Chaplygin system with two shape coordinates in the time tau, d tau = N(r) dt.

    .. math:: \tilde L(r, r') = L^*(r, N r'), \qquad \frac{d}{d\tau}\tilde L_{r'} = \tilde L_r

    It has no force, so a variational method is symplectic for it: nh.integrate(x.system,
    nh.Variational(), ...) with a fixed step of tau (Fernandez, Bloch & Olver, J. Geom. Mech. 4
    (2012)).  The step of t varies; ``at_energy`` has another system, for a fixed step of t.

    system : the System of L~, whose velocities are dr/dtau and whose energy is that of the motion
    """

    system: System
    reduction: Chaplygin
    multiplier: sp.Expr

    def __init__(self, measure: Measure) -> None:
        s, N = measure.reduction, measure.multiplier
        if len(s.q) != 2:
            raise ValueError(
                f"{s!r} has {len(s.q)} shape coordinates; Chaplygin's multiplier makes systems "
                "with two Hamiltonian, with more of them further conditions are needed"
            )
        self.reduction, self.multiplier = s, N
        L = sp.simplify(s.L.xreplace({u: N * u for u in s.v}))
        kept = {x: y for x, y in s.parameters.items() if x in L.free_symbols}
        v0 = None if s.v0 is None else self.velocity(s.q0, s.v0)
        name = f"{s.name} in the new time"
        self.system = System(s.q, s.v, L, parameters=kept, name=name, q0=s.q0, v0=v0)

    def velocity(self, r: ArrayLike, v: ArrayLike) -> np.ndarray:
        """dr/dtau = v/N of states of the reduction, shape (..., 2)."""
        r, v = self.reduction.states(r, "q"), self.reduction.states(v, "v")
        return v / self.reduction.values(self.multiplier, r)[..., None]

    def at_energy(self, E: float | None = None, *, h: float | None = None) -> System:
        r"""The System of N(r) (L*(r, v) + E): its motions of energy 0 are those of the reduction
        with energy E, in the time t itself, and without a force.

        .. math:: L_E(r, v) = N(r)\,\bigl(L^*(r, v) + E\bigr), \qquad
                  H_E = N(r)\,(H - E)

        The flow of N (H - E) is that of H in another time where H = E.  So a variational method is
        symplectic with a fixed step of t (Garcia-Naranjo & Vermeeren, J. Comput. Dyn. 8 (2021));
        the price is that E is part of the system, and the motion of another energy is wrong.  A
        method keeps a neighbour of N (H - E), which for the energy of the start is not 0: then its
        own time runs away from t, and on motions that spread H drifts.  With h the E is taken for
        which the neighbour is 0, as they do, up to terms of order h^4.

        E : the energy of the motion; by default that of the start of the reduction
        h : the step of a run by ``nh.Variational()`` from this start, for which E is corrected
        """
        s, N = self.reduction, self.multiplier
        if E is not None and h is not None:
            raise ValueError("give E or h: with h the energy E is that of the start, corrected")
        E = s.energy(s.q0, s.v0) if E is None else read_number(E, "E")
        if h is not None:
            E += read_number(h, "h") ** 2 * s.values(self._shift, s.q0, s.v0)
        L = sp.simplify(N * (s.L + ENERGY))
        name = f"{s.name} at one energy"
        numbers = {**s.parameters, ENERGY: float(E)}
        kept = {x: y for x, y in numbers.items() if x in L.free_symbols}
        return System(s.q, s.v, L, parameters=kept, name=name, q0=s.q0, v0=s.v0)

    @cached_property
    def _shift(self) -> sp.Expr:
        """By how much E changes with h^2, as an expression in (r, v).

        The midpoint rule keeps K - h^2/24 K_zz(K', K') + ..., K' the vector field of K = N (H - E),
        where H is written in the momenta p = N M v of L_E.  It is N H' where H = E.
        """
        s, N = self.reduction, self.multiplier
        p, M = sp.Matrix(sp.symbols("p:2", cls=sp.Dummy)), sp.Matrix(s.symbolic.M)
        V = -s.L.xreplace(dict.fromkeys(s.v, sp.S.Zero))
        H, z = (p.T * M.inv() * p)[0] / (2 * N**2) + V, [*s.q, *p]
        slope = [H.diff(x) for x in z]
        field = sp.Matrix([*slope[2:], -slope[0], -slope[1]])
        second = (field.T * sp.hessian(H, z) * field)[0]
        return (-(N**2) * second / 24).xreplace(dict(zip(p, N * M * sp.Matrix(s.v), strict=True)))

    def time(self, sol: Trajectory, t0: float = 0.0) -> np.ndarray:
        """The times t of the nodes of a run, by the midpoint rule for dt = dtau/N."""
        self._check(sol)
        if sol.system != self.system:  # a run at one energy, which has the time t
            return t0 + sol.t - sol.t[0]
        N = self.reduction.values(self.multiplier, (sol.q[1:] + sol.q[:-1]) / 2)
        return t0 + np.concatenate([[0], np.cumsum(sol.h / N)])

    def reconstruct(
        self, sol: Trajectory, s0: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(t, q): times and positions of the full system over a run, from the fibre s0."""
        self._check(sol)
        s = self.reduction
        if not s.bundle.is_abelian:
            raise ValueError(f"{s!r} has the fibre {s.bundle.group!r}; only sums are reconstructed")
        r, dr = (sol.q[1:] + sol.q[:-1]) / 2, np.diff(sol.q, axis=0)
        q = s.bundle.join(sol.q, s.fibre_start(s0))
        q[1:, s.bundle.s] += np.cumsum(s.values(s.fibre_velocity, r, dr), axis=0)
        return self.time(sol), q

    def _check(self, sol: Trajectory) -> None:
        s = need(sol, Trajectory, "sol", "run").system
        E = next((x for k, x in s.parameters.items() if k == ENERGY), None)
        known = s == self.system or (E is not None and s == self.at_energy(E))
        if not known or sol.every != 1:
            raise ValueError(f"sol = {sol!r} must be a run of {self.system!r} with every=1")


def invariant_measure(reduction: Chaplygin) -> Measure:
    """The smooth volume that a Chaplygin system keeps, or the reason why it keeps none.

    Parameters
    ----------
    reduction : an nh.Chaplygin of a mechanical system without forces that do not come from L

    Returns a Measure, true if there is a density; print it to see the density or the reason.

    Densities N(r) of the shape alone are looked for.  Without a potential this is no restriction:
    of a smooth positive density its values at rest are such an N.  On angles look whether N is
    periodic.

    Examples
    --------
    The particle keeps a volume; the sleigh, whose motion settles, keeps none:

    >>> import nhlab as nh
    >>> import numpy as np
    >>> measure = nh.invariant_measure(nh.Chaplygin(nh.systems.particle(), fibre="z"))
    >>> measure.density
    sqrt(y**2 + 1)
    >>> bool(nh.invariant_measure(nh.Chaplygin(nh.systems.sleigh(), fibre="y")))
    False
    >>> change = measure.change(nh.RDLA(), h=0.2, steps=200)  # log of the volume along a run
    >>> print(f"DLA keeps it to {np.abs(change).max():.4f}")
    DLA keeps it to 0.0012
    >>> new = measure.hamiltonise()  # without a force, in the time tau with d tau = N dt
    >>> sol = nh.integrate(new.system, nh.Variational(), h=0.2, steps=100)
    >>> print(f"t = {new.time(sol)[-1]:.3f} at tau = {sol.t[-1]:.0f}")
    t = 25.490 at tau = 20
    """
    what = "nh.Chaplygin, reduced by its constraints; nh.Chaplygin(system, fibre=...) makes one"
    need(reduction, Chaplygin, "reduction", what)
    full = reduction.full
    if full.is_forced or not full.is_autonomous or not full.is_mechanical:
        what = "forces of its own" if full.is_forced else "an L that depends on time"
        what = what if full.is_forced or not full.is_autonomous else "an L not quadratic in v"
        raise ValueError(
            f"{full!r} has {what}; the theorem is about L = v.M(q).v/2 - V(q) and A(q) v = 0"
        )
    theta = divergence(reduction)
    numbers = {s: sp.Rational(repr(float(x))) for s, x in reduction.numbers.items()}
    for curl, a, b in _curls(reduction, theta):
        if sp.simplify(curl.xreplace(numbers)) != 0:
            return Measure(reduction, theta, None, _no_density(reduction, theta, curl, a, b))
        theta = tuple(sp.simplify(e.xreplace(numbers)) for e in theta)  # closed for these alone
    return _integrated(reduction, theta)


def _curls(reduction: Chaplygin, theta: Form) -> Iterator[tuple[sp.Expr, sp.Symbol, sp.Symbol]]:
    """(d_a theta_b - d_b theta_a, a, b) of the coefficients, where it is not zero."""
    for (a, x), (b, y) in itertools.combinations(zip(reduction.q, theta, strict=True), 2):
        if (curl := sp.simplify(y.diff(a) - x.diff(b))) != 0:
            yield curl, a, b


def _no_density(
    reduction: Chaplygin, theta: Form, curl: sp.Expr, a: sp.Symbol, b: sp.Symbol
) -> str:
    """Why a form theta that is not closed forbids a density."""
    v, at_rest = dot(theta, reduction.v), dict.fromkeys(reduction.v, sp.S.Zero)
    free = reduction.L.xreplace(at_rest).free_symbols.isdisjoint(reduction.q)
    which = "no smooth density" if free else "no density N(r)"
    return (
        f"Volumes in (r, p) grow at the rate {v}, which is no rate of a function: the derivative "
        f"of its coefficients, d_{a.name} theta_{b.name} - d_{b.name} theta_{a.name}, is {curl}. "
        f"So there is {which}"
    )


def divergence(reduction: Chaplygin) -> Form:
    """theta_c(r): the divergence of the reduced equations in (r, p) is theta_c v^c."""
    G, v = reduction.gyroscopic, reduction.v
    inverse = sp.Matrix(reduction.symbolic.M).inv()
    slopes = [[g.diff(u) for u in v] for g in G]
    rate = sum(dot(row, inverse[:, b]) for b, row in enumerate(slopes))
    return tuple(sp.simplify(sp.diff(rate, u)) for u in v)


def _integrated(reduction: Chaplygin, theta: Form) -> Measure:
    """The Measure of a closed form: N is a power of the determinant of M where that fits, else the
    integral of theta along the coordinates."""
    if all(e == 0 for e in theta):
        return Measure(reduction, theta, sp.S.One, "The equations have no divergence")
    det = sp.factor(sp.Matrix(reduction.symbolic.M).det()).as_independent(
        *reduction.q, as_Add=False
    )[1]
    power = _power_of(det, reduction.q, theta)
    if power is not None:
        return Measure(reduction, theta, det**power, f"N is the power {power} of det M")
    log = sp.S.Zero
    for e, x in zip(theta, reduction.q, strict=True):
        log -= sp.integrate(sp.simplify(e + log.diff(x)), x)
    if log.has(sp.Integral):
        reason = f"theta = {theta} is closed, but SymPy cannot integrate it"
        return Measure(reduction, theta, None, reason)
    return Measure(reduction, theta, sp.simplify(sp.exp(log)), "N is the integral of -theta")


def _power_of(det: sp.Expr, r: Sequence[sp.Symbol], theta: Form) -> sp.Expr | None:
    """The number k with d(log det^k) = -theta, or None."""
    slopes = [sp.simplify(det.diff(x) / det) for x in r]
    for e, slope in zip(theta, slopes, strict=True):
        power = sp.simplify(-e / slope) if slope != 0 else sp.nan
        rest = (sp.simplify(e + power * s) for e, s in zip(theta, slopes, strict=True))
        if power.is_number and power.is_finite and all(x == 0 for x in rest):
            return power
    return None
