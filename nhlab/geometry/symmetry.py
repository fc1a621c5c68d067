"""Symmetries: invariance, momentum maps and the nonholonomic momentum equation.

A group acts through its infinitesimal generators xi_Q, vector fields on Q or, with a component
along t, on R x Q.  CM01 section 5.2, FIM08 section 4.5, C03 section 4.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from sympy.polys.polyerrors import BasePolynomialError
from sympy.utilities.iterables import is_sequence

from ..codegen.derivatives import dot
from ..mechanics.checks import need, one_of
from ..mechanics.display import aligned
from ..mechanics.formula import read_formula, sympified
from ..mechanics.spelling import check_keywords
from ..mechanics.system import System
from ..methods import DLA

if TYPE_CHECKING:
    from ..methods.method import Method
    from ..run.trajectory import Trajectory

Changes = Iterator[str | None]  # for each generator: None if nothing changes, else what, in words
TOLERANCE = 1e-10  # a sum of terms vanishes identically if it is at most this part of their sizes
H = 0.1  # the step size at which the invariance of Ld and wd is tested


class Symmetry:
    r"""The infinitesimal generators of a group action, and the directions among them in D.

    .. math:: \mathfrak g_q = \{\xi\in\mathfrak g : \xi_Q(q)\in\mathcal D_q\}, \qquad
              \langle J^{nh}(q, v),\,\tilde\xi\rangle
              = \frac{\partial L}{\partial v}\cdot(\tilde\xi(q))_Q(q)
              \qquad\text{(CM01 section 5.2)}

    Parameters
    ----------
    generators : the fields xi_Q: a list, a dict name -> field, or a single one.  A field is a
        sequence of expressions in q, one per degree of freedom, or a dict coordinate -> expression
        (0 where missing), in which the key "t" is the direction of time (C03 section 4)
    section : the coefficients xi~^a(q) of a section of g^D, one per generator, or a list of such.
        By default ``sections`` is a basis, constant sections first
    system : the System on which the group acts

    With body velocities the components of a field refer to the frame of the velocities.  Whether
    anything is invariant is not tested when a Symmetry is made: ``check`` says what is, ``require``
    raises an error if it is not.  ``fields`` has one row per generator, the component along t last.

    Examples
    --------
    >>> import nhlab as nh
    >>> symmetry = nh.Symmetry(nh.systems.particle(), {"up": {"z": 1}})
    >>> symmetry.check()
    L is invariant
    D is invariant
    """

    system: System
    directions: list[str]
    fields: tuple[tuple[sp.Expr, ...], ...]
    names: tuple[str, ...]

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)

    def __init__(
        self,
        system: System,
        generators: Mapping[str, Any] | Sequence[Any],
        section: Sequence[Any] | None = None,
    ) -> None:
        need(system, System, "system", "nh.System")
        self.system, self._given = system, (generators, section)
        self._symbols = {s.name: s for s in (*system.q, system.t, *system.parameters) if s}
        self.directions = [*system.degrees, "t" if system.t is None else system.t.name]
        basis, self.fields, self.names = [f"d/d{x}" for x in self.directions], (), ()
        for k, (name, x) in enumerate(_named(generators)):
            row = self._field(x, f"generators[{k if name is None else repr(name)}]")
            self.fields += (row,)
            self.names += (_sum(row, basis) if name is None else str(name),)
        k = len(self.fields)
        if k == 0:
            raise ValueError("generators is empty; give at least one vector field")
        if _rank(np.swapaxes(self._fields(*self._generic[::2]), 1, 2).reshape(-1, k)) < k:
            raise ValueError(
                f"the generators {list(self.names)} are dependent: a combination with "
                "constant coefficients vanishes; drop the redundant ones"
            )
        if section is not None:
            self.sections = self._read_sections(section)
            self._refuse_outside_D()

    def set(self, **values: float) -> Symmetry:
        """The same symmetry of ``system.set(**values)``."""
        return Symmetry(self.system.set(**values), *self._given)

    def _field(self, field: Any, where: str) -> tuple[sp.Expr, ...]:
        names = self.directions
        if not isinstance(field, Mapping):
            field = _sequence(field)
            if len(field) != len(names) - 1:
                raise ValueError(
                    f"{where} has {len(field)} components; give {len(names) - 1}, one "
                    f"for each of {names[:-1]}, or a dict such as "
                    f"{{{names[0]!r}: 1}}"
                )
            field = dict(zip(names, field, strict=False))
        row = dict.fromkeys(names, sp.S.Zero)
        for key, e in field.items():
            name = getattr(key, "name", key)
            if name not in row:
                raise ValueError(f"{where}: {name!r} is no direction here; there are {names}")
            row[name] = self._expression(e, where)
        return tuple(row.values())

    def _expression(self, e: Any, where: str) -> sp.Expr:
        if isinstance(e, str):
            e = read_formula(e, self._symbols, where)
        e = sympified(e, where)
        if not isinstance(e, sp.Expr) or e.is_Matrix:
            raise ValueError(f"{where}: a component is no scalar SymPy expression in q")
        e = e.subs({s: self._symbols[s.name] for s in e.free_symbols if s.name in self._symbols})
        unbound = sorted(s.name for s in e.free_symbols - set(self._symbols.values()))
        if unbound:
            raise ValueError(
                f"{where}: {unbound[0]!r} in {e} is neither a coordinate nor the time "
                f"nor a parameter of {self.system!r}"
            )
        return e

    def _read_sections(self, section: Any) -> tuple[tuple[sp.Expr, ...], ...]:
        rows, k = _sequence(section), len(self.names)
        rows = [_sequence(r) for r in (rows if any(map(is_sequence, rows)) else [rows])]
        for row in rows:
            if len(row) != k:
                raise ValueError(
                    f"section = {row} has {len(row)} coefficients; give {k}, one for "
                    f"each of {list(self.names)}"
                )
        return tuple(tuple(self._expression(e, "section") for e in row) for row in rows)

    def _refuse_outside_D(self) -> None:
        q, _, t = self._generic
        c, (B, size) = self._coefficients(q, t), self._B_values
        gap = np.einsum("pma,psa->psm", B, c)
        for p, s, m in np.argwhere(np.abs(gap) > TOLERANCE * (np.abs(c) @ size)[..., None])[:1]:
            value = sp.simplify(dot(self.sections[s], self._B.row(m)))
            constraint = (*self.system.constraints, *self.system.holonomic)[m]
            raise ValueError(
                f"section = {self.sections[s]} does not lie in D: there {constraint} is {value}, "
                f"for example {gap[p, s, m]:.3g} at q = {q[p].round(3)}, not 0"
            )

    @cached_property
    def _generic(self) -> tuple[np.ndarray, ...]:
        """Fixed generic states (q, v, t) at which invariance is tested.

        They satisfy the holonomic constraints, and all expressions are finite there.
        """
        s = self.system
        q, v, _ = s.samples(24)
        v, t = v[:, : len(s.v)], 0.7 + 0.1 * np.arange(len(q))
        with np.errstate(all="ignore"):
            for _ in range(20 if s.holonomic else 0):
                slopes = s.values(s.expressions.Dg, q, None, t)
                q = q - np.einsum("pij,pj->pi", np.linalg.pinv(slopes), s.g(q, t))
            table = [s.expressions.E, *chain(*s.expressions.A, *self.fields)]
            good = np.isfinite(s.values(table, q, v, t)).all(-1)
        if good.sum() < 8:
            raise ValueError(
                f"{s!r} or the generators are not finite at generic q in (0.3, 1.2); "
                "use other coordinates"
            )
        return q[good], v[good], t[good]

    def _fields(
        self, q: np.ndarray, t: ArrayLike = 0.0, system: System | None = None
    ) -> np.ndarray:
        return (system or self.system).values(self.fields, q, None, t)

    def _coefficients(
        self, q: np.ndarray, t: ArrayLike = 0.0, system: System | None = None, section: Any = None
    ) -> np.ndarray:
        sections = self.sections if section is None else self._read_sections(section)
        if not sections:
            shifts = ", ".join(f'"{x}": {{"{x}": 1}}' for x in self._left_out())
            raise ValueError(
                f"no combination of the generators {list(self.names)} lies in D "
                "(g^D = 0), so there is no nonholonomic momentum; "
                + (f"add the shifts {shifts}, which change nothing, or " if shifts else "")
                + "see J and J_d, or reduce the system"
            )
        return (system or self.system).values(sections, q, None, t)

    def _left_out(self) -> list[str]:
        """Names of coordinates that do not occur in L and the constraints, and that no generator
        moves: their shifts could be added to the generators."""
        s = self.system
        symbols = set().union(*(e.free_symbols for e in (s.L, *s.constraints, *s.holonomic)))
        moving = {x for row in self.fields for x, e in zip(self.directions, row, strict=True) if e}
        names = [x.name for x in s.q if x not in symbols]
        return [x for x in names if x in self.directions and x not in moving]

    # ------------------------------------------------------------------ g^D

    @cached_property
    def _B(self) -> sp.Matrix:
        """A(q) xi_Q(q), an m x k matrix of expressions; g_q is its null space.

        On R x Q the one-forms are A dq + b dt.
        """
        S = self.system.symbolic
        rows = [(*row, b) for row, b in zip(S.A, S.b, strict=True)]
        return sp.Matrix(len(rows), len(self.names), lambda m, a: dot(rows[m], self.fields[a]))

    @cached_property
    def _B_values(self) -> tuple[np.ndarray, np.ndarray]:
        """The values of ``_B`` at generic points, (points, m, k), and for each generator the size
        of the terms they are sums of, (k,)."""
        q, _, t = self._generic
        A, xi = self.system.A(q, t), self._fields(q, t)
        A = np.concatenate([A, np.broadcast_to(self.system.b(q, t), A.shape[:2])[..., None]], -1)
        size = np.einsum("pmi,pai->pma", np.abs(A), np.abs(xi)).max((0, 1), initial=0)
        return np.einsum("pmi,pai->pma", A, xi), size

    @cached_property
    def rank(self) -> int:
        """The dimension of g_q at generic q: how many independent directions lie in D."""
        B, size = self._B_values
        return len(self.names) - max(_rank(x, size) for x in B)

    @cached_property
    def horizontal(self) -> tuple[tuple[sp.Expr, ...], ...]:
        """A basis of the horizontal symmetries, constant combinations that lie in D everywhere.

        Tuples of one number per generator; CM01 section 5.2.
        """
        B, size = self._B_values
        basis = null_space(B.reshape(-1, len(size)), size)
        rows = echelon(basis[:, ::-1])[::-1, ::-1]  # so a generator in D by itself stays alone
        return tuple(tuple(map(plain_number, row)) for row in rows)

    @cached_property
    def sections(self) -> tuple[tuple[sp.Expr, ...], ...]:
        """A basis of sections of g^D: tuples of one expression per generator.

        First the horizontal symmetries, then the simplest solutions of A(q) xi~_Q(q) = 0.
        """
        choice, (q, _, t) = list(self.horizontal), self._generic
        more = _solutions(self._B, self.system) if len(choice) < self.rank else ()
        for c in sorted(more, key=sp.count_ops):
            with np.errstate(all="ignore"):
                values = self.system.values([*choice, c], q, None, t)
                gap = np.abs(self._B_values[0] @ values[:, -1, :, None])
            good = np.isfinite(values).all() and gap.max() <= 1e-9 * (1 + np.abs(values).max())
            if good and len(choice) < self.rank and max(map(_rank, values)) > len(choice):
                choice.append(_plain(c))
        if len(choice) < self.rank:
            raise ValueError(
                f"only {len(choice)} of {self.rank} sections of g^D were found for "
                f"{self.system!r}; give them as section="
            )
        return tuple(choice)

    @property
    def is_horizontal(self) -> bool:
        """True if the directions in D are spanned by horizontal symmetries, and there are some."""
        return 0 < len(self.horizontal) == self.rank

    @property
    def is_vertical(self) -> bool:
        """True if no symmetry direction lies in D, g^D = 0, as for Chaplygin systems."""
        return self.rank == 0

    # ------------------------------------------------------------------ momentum

    @cached_property
    def _J(self) -> tuple[sp.Expr, ...]:
        S = self.system.symbolic
        return tuple(dot((*S.L_v, -S.E), x) for x in self.fields)

    def J(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> np.ndarray:
        """The momentum map of each generator, shape (..., k): dL/dv.xi_Q(q) - E tau, where tau is
        the generator's component along t."""
        return self.system.values(self._J, q, v, t)

    def J_nh(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, section: Sequence[Any] | None = None
    ) -> np.ndarray:
        """The nonholonomic momentum map dL/dv.(xi~(q))_Q(q) of each section, shape (..., s)."""
        c = self._coefficients(q, t, section=section)
        return np.einsum("...sa,...a->...s", c, self.J(q, v, t))

    def J_d(self, sol: Trajectory, method: Method | None = None) -> np.ndarray:
        """The discrete momentum map D2Ld(q_k-1, q_k).xi_Q(q_k) along a run, shape (N, k).

        A component of a generator along t is multiplied by -E_plus (C03 section 2).  Ld is the
        discrete Lagrangian of ``method``, by default of the run's own; for runs by RK4 or
        Reference, which have none, that of the midpoint rule.
        """
        xi = self._fields(sol.q[1:], sol.t[1:], self._of(sol))
        return np.einsum("kai,ki->ka", xi, self._arriving(sol, method))

    def J_nh_d(
        self, sol: Trajectory, method: Method | None = None, section: Sequence[Any] | None = None
    ) -> np.ndarray:
        """The discrete nonholonomic momentum map of each section along a run, shape (N, s)."""
        c = self._coefficients(sol.q[1:], sol.t[1:], self._of(sol), section)
        return np.einsum("ksa,ka->ks", c, self.J_d(sol, method))

    def forcing(
        self, sol: Trajectory, method: Method | None = None, section: Sequence[Any] | None = None
    ) -> np.ndarray:
        """The change of J_nh_d from step to step that CM01 (24) predicts, shape (N-1, s).

        It is D2Ld(q_k, q_k+1).(xi~(q_k+1) - xi~(q_k))_Q(q_k+1) plus the impulses of forces along
        xi~(q_k).
        """
        system = self._of(sol, whole=True)
        c = self._coefficients(sol.q[1:], sol.t[1:], system, section)
        change = np.einsum("ksa,ka->ks", np.diff(c, axis=0), self.J_d(sol, method)[1:])
        if not system.is_forced:
            return change
        before, after = self._on_steps(sol, method, "impulse_minus", "impulse_plus")
        xi = self._fields(sol.q, sol.t, system)
        along = np.einsum("kai,ki->ka", xi[1:-1], before[1:])
        along += np.einsum("kai,ki->ka", xi[2:], after[1:])
        return change + np.einsum("ksa,ka->ks", c[:-1], along)

    def residual(
        self, sol: Trajectory, method: Method | None = None, section: Sequence[Any] | None = None
    ) -> np.ndarray:
        r"""The discrete momentum equation on a run, left side minus right side, shape (N-1, s).

        .. math:: J^{nh}_d(q_k,q_{k+1}) - J^{nh}_d(q_{k-1},q_k)
                  = D_2L_d(q_k,q_{k+1})\,(\tilde\xi(q_{k+1}) - \tilde\xi(q_k))_Q(q_{k+1})

        CM01 (24), FIM08 theorem 2 and, with time, C03 (7).  If Ld is invariant, the residual of
        runs by DLA, Projector and EDLA is round-off (of generators with a component along t, for
        EDLA alone); for RK4 and Reference it is of order h^3.  Forces add their impulses
        (1-alpha) h F.xi~(q_k)_Q(q_k) and alpha h F.xi~(q_k)_Q(q_k+1) to the right side; where these
        vanish the momenta behave as without forces.  Another ``section`` may be tried, also one
        that does not lie in D.
        """
        change = np.diff(self.J_nh_d(sol, method, section), axis=0)
        return change - self.forcing(sol, method, section)

    def continuous_residual(
        self,
        q: ArrayLike | Trajectory,
        v: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        a: ArrayLike | None = None,
        section: Sequence[Any] | None = None,
    ) -> np.ndarray:
        r"""The momentum equation CM01 (23) at states, left side minus right side, shape (..., s).

        .. math:: \frac{d}{dt}J^{nh} = \frac{\partial L}{\partial v}\cdot
                  \Bigl(\frac{d}{dt}\tilde\xi(q)\Bigr)_Q + F\cdot\tilde\xi_Q

        Instead of (q, v, t) a run may be given.  J is differentiated by the chain rule with the
        acceleration ``a``, by default that of the constrained motion.
        """
        system = self.system
        if v is None:
            self._of(q)
            system, q, v, t = q.driven(slice(None)), q.q, q.v, q.t
        a = system.acceleration(q, v, t) if a is None else np.asarray(a, float)
        by_v = system.values([[e.diff(u) for u in system.v] for e in self._J], q, v, t)
        dJ = system.values(system.symbolic.rates(self._J), q, v, t)
        dJ = dJ + np.einsum("...ai,...i->...a", by_v, a)
        if system.is_forced:
            F = np.concatenate([system.force(q, v, t), -system.power(q, v, t)[..., None]], -1)
            dJ = dJ - np.einsum("...ai,...i->...a", self._fields(q, t, system), F)
        return np.einsum("...sa,...a->...s", self._coefficients(q, t, system, section), dJ)

    def _of(self, sol: Trajectory, whole: bool = False) -> System:
        """The system of a run, which may have other parameters than ours; ValueError if it is
        another system or, with ``whole``, if the run did not store every step."""
        if sol.system.key != self.system.key:
            raise ValueError(
                f"this is a run of {sol.system!r}, but the symmetry is one of "
                f"{self.system!r}; make a Symmetry of sol.system"
            )
        if whole and sol.every != 1:
            raise ValueError(
                f"this run has every = {sol.every}, but consecutive steps are needed; "
                "integrate with every=1"
            )
        return sol.system

    def _arriving(self, sol: Trajectory, method: Method | None) -> np.ndarray:
        """(D2Ld, D3Ld) = (p_plus, -E_plus) of each step, shape (N, n+1)."""
        timeless = all(x[-1] == 0 for x in self.fields)
        if sol.method.discrete and method in (None, sol.method):
            p, E = sol.p[1:], np.zeros(len(sol) - 1) if timeless else sol.energy("midpoints")
        else:
            p, E = self._on_steps(sol, method, "p_plus", "E_plus")
        return np.concatenate([p, -E[:, None]], -1)

    def _on_steps(self, sol: Trajectory, method: Method | None, *what: str) -> list[np.ndarray]:
        """Parts of the discrete Lagrangian, as "p_plus", of each step of a run; with another
        ``method`` than the run's, those of its steps between the same nodes."""
        if sol.method.discrete and method in (None, sol.method):
            return [sol.on_step(x) for x in what]
        self._of(sol, whole=True)
        method = _discrete(DLA() if method is None else method)
        s, t, q, h = sol.driven(), sol.t[:-1], sol.q[:-1], np.diff(sol.t)
        v = s.velocity_between(q, sol.q[1:], h)
        return [method.on_step(s, x, t, q, v, h) for x in what]

    # ------------------------------------------------------------------ invariance

    def check(self, method: Method | None = None) -> Invariance:
        """Whether L and D are invariant and, with a discrete method, also its Ld and wd.

        Returns an ``Invariance``.  It is decided by evaluation at generic points, with the system's
        parameters.  The theorems assume different things: CM01 the invariance of L, D and Ld, FIM08
        theorem 2 of Ld alone, C03 and the poster of D, Ld and wd.  If the group acts by maps that
        are affine in the coordinates and leaves L and D invariant, the alpha rule makes Ld and wd
        invariant, too.
        """
        changes = {"L": self._changes_of_L(), "D": self._changes_of_D()}
        if method is not None:
            changes["Ld"] = self._changes_of_Ld(_discrete(method))
            if self.system.constraints and method.constraint_at == "midpoints":
                changes["wd"] = self._changes_of_wd(method)
        changes = {x: zip(self.names, texts, strict=True) for x, texts in changes.items()}
        return Invariance(
            **{x: {a: w for a, w in y if w} for x, y in changes.items()}, method=method
        )

    def require(self, *what: str, method: Method | None = None) -> None:
        """Raise ValueError unless all of ``what``, among "L", "D", "Ld", "wd", are invariant."""
        report = self.check(method)
        for name in what or PARTS:
            one_of(name, PARTS, "what")
            if what and name in ("Ld", "wd") and method is None:
                raise ValueError(f"invariance of {name} needs a method, as in method=nh.DLA()")
            if getattr(report, name):
                raise ValueError(report.line(name))

    def _changes_of_L(self) -> Changes:
        """How L dt changes along each generator: (f - F).xi + L_v.xi' + L_t tau - E tau'."""
        s, S = self.system, self.system.symbolic
        f = [a - b for a, b in zip(S.f, S.F, strict=True)]
        size = np.abs(s.values([s.L, S.E], *self._generic)).sum(-1)
        for x in self.fields:
            terms = [a * b for a, b in zip((*f, S.L_t), x, strict=True)]
            terms += [a * b for a, b in zip((*S.L_v, -S.E), S.rates(x), strict=True)]
            yield _in_words(s.values(terms, *self._generic), size, sum(terms))

    def _changes_of_D(self) -> Changes:
        """How the constraints A v + b change along each generator at states that satisfy them, and
        holonomic constraints g where g = 0."""
        s, (q, v, t) = self.system, self._generic
        A = s.A(q, t)
        v = v - np.einsum("pia,pa->pi", np.linalg.pinv(A), s.constraint(q, v, t))
        size = np.abs(A).sum((1, 2)) * np.abs(v).sum(1)
        for x in self.fields:
            along = self._variation(x).items()
            rows = ([c.diff(y) * e for y, e in along] for c in (*s.constraints, *s.holonomic))
            changes = (_in_words(s.values(row, q, v, t), size, sum(row)) for row in rows)
            yield next(filter(None, changes), None)

    def _variation(self, x: tuple[sp.Expr, ...]) -> dict[sp.Symbol, sp.Expr]:
        """How a generator changes q, v and t: symbol -> its change.

        q changes by R xi, where q' = R v, and v by d/dt xi + [v, xi].  A change of time tau adds
        -tau' v to the change of v; along v itself it stays in D, so it is left out unless the
        constraints move.
        """
        s, S = self.system, self.system.symbolic
        X, (*rates, slowed) = s.rate(s.q, x[:-1]), S.rates(x)
        dv = [a + b for a, b in zip(rates, s.bracket(s.v, x[:-1]), strict=True)]
        if s.is_affine:
            dv = [a - slowed * u for a, u in zip(dv, s.v, strict=True)]
        changes = dict(zip((*s.q, *s.v), (*X, *dv), strict=True))
        return changes if s.t is None else {**changes, s.t: x[-1]}

    def _changes_of_Ld(self, method: Method) -> Changes:
        """How Ld changes along each generator: D1Ld.xi(q0) + D2Ld.xi(q1), with the derivatives by
        both times."""
        s, (q, v, t) = self.system, self._generic
        s = s.with_input_values(
            dict.fromkeys(s.inputs, 1.0)
        )  # forces are taken out again, whatever they are
        parts = ("p_minus", "E_minus", "p_plus", "E_plus", "impulse_minus", "impulse_plus")
        p0, E0, p1, E1, F0, F1 = (method.on_step(s, x, t, q, v, H) for x in parts)
        residual = self._fields(q, t) * (np.c_[-p0, E0] - F0)[:, None]
        right = self._fields(s.move(q, v, H), t + H) * (np.c_[p1, -E1] - F1)[:, None]
        for terms in np.concatenate([residual, right], -1).swapaxes(0, 1):
            yield _in_words(terms, np.abs(H * E0))

    def _changes_of_wd(self, method: Method) -> Changes:
        """How wd changes along each generator at steps with wd = 0, by central differences of order
        6."""
        s, (q, v, t) = self.system, self._generic
        A = s.A(q, t)[:, : len(s.constraints)]
        inverse = np.linalg.pinv(A)
        for _ in range(40):  # to steps with wd = 0, by Newton's method with A for its derivative
            with np.errstate(all="ignore"):
                wd = method.on_step(s, "constraints", t, q, v, H)
                v = v - np.einsum("pia,pa->pi", inverse, wd)
        if not np.abs(wd).max() < 1e-9 * np.abs(A).max():
            raise ValueError(
                f"no generic steps of size {H} with wd = 0 were found for {s!r}; its "
                "constraints vary too fast at q in (0.3, 1.2)"
            )
        q1 = s.move(q, v, H)
        xi = np.stack([self._fields(q, t), self._fields(q1, t + H)])
        xi0, xi1 = xi / np.abs(xi).max((1, 3), keepdims=True).sum(0)
        q, q1, t = q[:, None], q1[:, None], t[:, None]

        def value_at(d: float) -> np.ndarray:
            new_q, new_q1 = s.move(q, xi0[..., :-1], d), s.move(q1, xi1[..., :-1], d)
            h = H + d * (xi1 - xi0)[..., -1]
            new_v = s.velocity_between(new_q, new_q1, h)
            return method.on_step(s, "constraints", t + d * xi0[..., -1], new_q, new_v, h)

        d, weights = 5e-3, {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
        change = sum(w * (value_at(j * d) - value_at(-j * d)) for j, w in weights.items()) / d
        largest = np.abs(A).max() * (1 + np.abs(v).max()) / H
        for worst in np.abs(change).max((0, 2)):
            yield _in_words(worst[None], 1e3 * largest)

    def __repr__(self) -> str:
        return f"<Symmetry of {self.system.name or 'a system'}: {', '.join(self.names)}>"

    def _repr_latex_(self) -> str:
        partial = [rf"\partial_{{{sp.latex(sp.Symbol(x))}}}" for x in self.directions]
        rows = [(rf"\xi_{{{k}}}", x) for k, x in enumerate(self.fields, 1)]
        for k, c in enumerate(self.sections, 1):
            field = [sp.simplify(dot(c, x)) for x in zip(*self.fields, strict=True)]
            rows.append((rf"\tilde\xi_{{{k}}}", field))
        rows = [f"({name})_Q &= {_sum(x, partial, sp.latex)}" for name, x in rows]
        return aligned(rows)


Symmetry.__new__.__signature__ = inspect.signature(Symmetry.__init__)  # which editors show
PARTS = ("L", "D", "Ld", "wd")


@dataclass(frozen=True, repr=False)
class Invariance:
    """What is invariant under the generators of a ``Symmetry``; true if nothing changes.

    L, D, Ld, wd : for each of them a dict: name of a generator under which it changes -> at which
        rate, in words.  It is empty if the thing is invariant.  Ld and wd are None without a
        method, or if the method has none
    """

    L: dict[str, str]
    D: dict[str, str]
    Ld: dict[str, str] | None = None
    wd: dict[str, str] | None = None
    method: Method | None = None

    def __bool__(self) -> bool:
        return not any((self.L, self.D, self.Ld, self.wd))

    def line(self, what: str) -> str:
        name = f"{what} of {self.method!r}" if what in ("Ld", "wd") else what
        rates = getattr(self, what).items()
        changes = "; ".join(f"{a}: it changes at the rate {x}" for a, x in rates)
        return f"{name} is not invariant under {changes}" if changes else f"{name} is invariant"

    def __repr__(self) -> str:
        return "\n".join(self.line(x) for x in PARTS if getattr(self, x) is not None)


def _sequence(x: Any) -> list[Any]:
    return list(x) if is_sequence(x) else [x]


def _named(generators: Any) -> list[tuple[Any, Any]]:
    """The generators as pairs (name or None, field); they may be one field without a list."""
    many = isinstance(generators, Mapping)
    pairs = list(generators.items()) if many else [(None, x) for x in _sequence(generators)]
    alone = not any(is_sequence(x) or isinstance(x, Mapping) for _, x in pairs)
    return [(None, generators)] if pairs and alone else pairs


def _discrete(method: Method) -> Method:
    if not getattr(method, "discrete", False):
        raise ValueError(f"method = {method!r} has no discrete Lagrangian; take one like nh.DLA()")
    return method


def null_space(B: np.ndarray, size: np.ndarray | None = None) -> np.ndarray:
    """A basis of the null space of B, in rows.

    size : of each column, by default its largest entry; singular values of B / size that are at
        most TOLERANCE count as 0
    """
    size = np.abs(B).max(0, initial=0) if size is None else size
    size = np.where(size > 0, size, 1.0)
    _, values, basis = np.linalg.svd(B / size)
    return basis[np.sum(values > TOLERANCE) :] / size


def echelon(rows: np.ndarray) -> np.ndarray:
    """The reduced row echelon form: rows that span the same space, each with a 1 in a column in
    which the others have 0."""
    form = sp.Matrix(rows).rref(iszerofunc=lambda x: abs(x) < 1e-8, pivots=False)
    return np.array(form, float).reshape(rows.shape)


def _rank(B: np.ndarray, size: np.ndarray | None = None) -> int:
    return B.shape[1] - len(null_space(B, size))


def plain_number(x: float) -> sp.Expr:
    """A number as a SymPy fraction with a denominator up to 100 if it is one up to 1e-9, else as it
    is."""
    near = Fraction(float(x)).limit_denominator(100)
    return sp.Rational(near) if abs(near - x) < 1e-9 else sp.Float(float(x))


def _plain(c: Sequence[sp.Expr]) -> tuple[sp.Expr, ...]:
    """A section cleared of denominators and simplified, its last number positive."""
    factor = sp.lcm_list([sp.fraction(sp.together(e))[1] for e in c])
    last = next(e for e in reversed(c) if e != 0)
    return tuple(sp.simplify(-e * factor if last.is_negative else e * factor) for e in c)


def _solutions(B: sp.Matrix, system: System) -> list[tuple[sp.Expr, ...]]:
    """Solutions c of B c = 0: syzygies of its columns, which have no denominators; for functions
    that SymPy's polynomials do not know, a basis of the null space.

    Over the polynomials in coordinates, sines and cosines the syzygies of the columns of B are all
    solutions, so a basis of g^D where there is one.
    """
    try:
        return _syzygies(B, set(system.parameters))
    except (BasePolynomialError, NotImplementedError):
        return [tuple(c) for c in B.applyfunc(sp.simplify).nullspace()]


def _syzygies(B: sp.Matrix, parameters: set[sp.Symbol]) -> list[tuple[sp.Expr, ...]]:
    B = B.applyfunc(lambda e: sp.expand(sp.expand_trig(e)))
    angles = sorted({a for f in B.atoms(sp.sin, sp.cos) for a in f.args}, key=str)
    functions = [(f, a) for a in enumerate(angles) for f in (sp.sin, sp.cos)]
    names = {f(a): sp.Dummy(f"{f.__name__[0]}{k}") for f, (k, a) in functions}
    B = B.xreplace(names)
    constants = sorted(B.free_symbols & parameters, key=str)
    unknowns = sorted((B.free_symbols | set(names.values())) - parameters, key=str)
    ring = (sp.QQ.frac_field(*constants) if constants else sp.QQ).old_poly_ring(*unknowns)
    if angles:
        ring = ring / [names[sp.sin(a)] ** 2 + names[sp.cos(a)] ** 2 - 1 for a in angles]
    columns = [list(B.col(j)) for j in range(B.cols)]
    back = {x: f for f, x in names.items()}
    vectors = ring.free_module(B.rows).submodule(*columns).syzygy_module().gens
    return [tuple(ring.to_sympy(e).xreplace(back) for e in c) for c in vectors]


def _in_words(
    terms: np.ndarray, size: np.ndarray | float, formula: sp.Expr | None = None
) -> str | None:
    """None if the sum of terms over the last axis vanishes at all points, else the sum in words.

    terms : shape (points, number of terms)
    size : of the thing that might change; the sum counts as 0 if it is at most TOLERANCE times the
        sum of the terms' sizes and a thousandth of ``size``
    formula : of the sum; printed if it is short, otherwise its largest value
    """
    value = np.abs(terms.sum(-1))
    if np.all(value <= TOLERANCE * (np.abs(terms).sum(-1) + 1e-3 * size)):
        return None
    if formula is not None and sp.count_ops(formula) < 500:
        formula = str(sp.simplify(formula))
        if len(formula) < 70:
            return formula
    return f"{value.max():.2g}"


def _sum(
    row: Sequence[sp.Expr], basis: Sequence[str], write: Callable[[sp.Expr], str] = str
) -> str:
    """The text of a vector field, as -y d/dx + x d/dy.

    row : its components;  basis : the texts of the basis fields;  write : the text of an expression
    """
    gap = r"\," if write is sp.latex else " "
    parts = []
    for e, b in zip(row, basis, strict=True):
        factor = f"({write(e)})" if e.is_Add else write(e)
        parts.append({"1": "", "-1": "-"}.get(factor, factor + gap) + b if e != 0 else "")
    return " + ".join(filter(None, parts)).replace("+ -", "- ") or "0"
