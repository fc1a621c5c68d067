"""A mechanical system: coordinates, velocities, a Lagrangian, constraints and parameters."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from functools import cached_property, partial

import numpy as np
import sympy as sp

from ..codegen.evaluate import Function
from ..codegen.program import at_work
from . import checks, display, dynamicsymbols, frobenius, positions, velocities
from .checks import UNSET
from .checks import symbols as symbols  # public here, beside System
from .discrete import DiscreteLagrangian
from .forces import need_inputs, read_forces
from .motion import Motion
from .symbolic import Symbolic

LONG = 500  # operations of L and the constraints from which on they are abbreviated; not tuned
MANY = 20  # coordinates from which on a system may take seconds to derive, and says so


class System:
    r"""A Lagrangian system with constraints linear in the velocities, which may move.

    .. math:: \frac{d}{dt}\frac{\partial L}{\partial v} - \frac{\partial L}{\partial q}
              = F + A(q)^T \lambda, \qquad A(q)\, v = 0 \qquad\text{(CM01 (3), (4))}

    More generally A(q, t) v + b(q, t) = 0, on ground that moves; then energy has a balance, not a
    law: its constraint forces do work at the rate -lambda.b.

    Parameters
    ----------
    q, v : sequences of n symbols, the coordinates and their velocities
    L : the Lagrangian, any regular expression in q, v, t and parameters
    constraints : expressions A v + b, each meant ``= 0``
    holonomic : expressions g(q, t), each meant ``= 0``
    parameters : symbol (or name) -> number; ``system.set(a=0.3)`` changes them without new code
    t : the symbol of time, if L or the constraints depend on it
    metric : n x n matrix that builds the projectors P, Q instead of M
    forces : generalised forces F(q, v, t), one per coordinate or a dict coordinate -> expression.
        Symbols that occur in them alone and are no parameters are inputs, given when it runs
    name, source : what it is called and where it comes from
    q0, v0 : a good initial condition; ``exact(system, t)``: its known solution, shape (..., n)

    Systems are values: nothing changes one after it is made.  Their many methods are short: one
    for each function of the state that a reader may ask for.
    """

    full = None  # the system that a reduction was made from
    driven = ()  # the inputs that have another value in each step of a run

    def __init__(
        self,
        q,
        v,
        L,
        constraints=(),
        holonomic=(),
        parameters=None,
        t=None,
        metric=None,
        name="",
        *,
        source="",
        q0=None,
        v0=None,
        exact=None,
        forces=None,
    ):
        self.q, self.v = checks.read_symbols(q, "q"), checks.read_symbols(v, "v")
        self.t = t if t is None else checks.read_symbols([t], "t")[0]
        self._check_lengths()
        checks.check_names([*self.q, *self.v, self.t])
        self.L = checks.read_expression(L, "L")
        self.constraints = checks.read_expressions(constraints, "constraints")
        self.holonomic = checks.read_expressions(holonomic, "holonomic")
        self.m = len(self.constraints) + len(self.holonomic)  # the number of constraints
        self.metric = None if metric is None else checks.read_matrix(metric, "metric")
        self.forces = read_forces(self, forces)
        self.name, self.source = name, source
        self.parameters = self._bind(parameters)
        self.q0, self.v0, self._exact = q0, v0, exact
        self.generated = {}  # key -> code; shared by all settings of the parameters
        with at_work("deriving the mass matrix") if len(self.q) > MANY else nullcontext():
            checks.check_forms(self)
            checks.check_values(self)

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_mechanics(cls, L, q=None, constraints=(), **others):
        """A System from ``sympy.physics.mechanics``, in dynamicsymbols and their derivatives.

        L : the Lagrangian, or the bodies; or a ``LagrangesMethod`` or ``KanesMethod``, which
            brings q and all else
        frame : the inertial frame, for bodies and for forces at points
        forces : as in ``System``, or loads (point, force), (frame, torque)
        speeds, kinematic : generalised speeds u, and the equations that define them

        The rest as in ``System``.  The velocity of x is called vx, or ``vx_`` if vx is taken.
        """
        return cls(**dynamicsymbols.plain(L, q, constraints, **others))

    def set(self, **values):
        """The same system with some parameters changed, sharing the generated code."""
        by_name = {s.name: s for s in self.parameters}
        for k in values:
            if k not in by_name:
                known = ", ".join(by_name) or "none"
                raise ValueError(f"parameter {k!r} is unknown here; this system has: {known}")
        return self._with({k: checks.read_number(x, f"parameter {k}") for k, x in values.items()})

    def varied(self, values, definite):
        """The same with arrays in the place of numbers, for arrays of states.

        ``definite`` : what ``is_definite`` is to say of them all.
        """
        return self._with(values, is_definite=definite)

    def _with(self, values, **own):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)  # derived expressions and generated code hold for both
        new.__dict__.pop("is_definite", None)
        new.__dict__.update(own)
        new.parameters = {s: values.get(s.name, x) for s, x in self.parameters.items()}
        return new

    def drive(self, values):
        """The same with values, input -> number or array, that change from step to step."""
        checks.check_inputs(values, self.parameters)
        named = {u.name: x for u, x in values.items()}
        return self._with(named, is_definite=self.is_definite, driven=tuple(values))

    def released(self):
        """The same with the inputs that drive it unset again."""
        return self.drive(dict.fromkeys(self.driven, UNSET)).drive({}) if self.driven else self

    def given(self):
        """The keywords of the constructor that make it anew."""
        names = "q v L constraints holonomic t metric name source q0 v0 forces"
        own = {"parameters": self.numbers, "exact": self._exact}
        return {k: getattr(self, k) for k in names.split()} | own

    def remade(self, **changes):
        """The same with other arguments of its constructor; its exact solution is then another."""
        return type(self)(**self.given() | {"exact": None} | changes)

    def _bind(self, given):
        own = (*self.q, *self.v, *(() if self.t is None else (self.t,)))
        return checks.read_parameters(given, self.fixed, own, self.forces)

    @property
    def fixed(self):
        """All formulas but the forces: what no input changes."""
        return (self.L, *self.constraints, *self.holonomic, *(self.metric or ()))

    @property
    def numbers(self):
        """The parameters that have values; inputs have none before they are given one."""
        return {s: x for s, x in self.parameters.items() if x is not UNSET}

    @cached_property
    def inputs(self):
        """The symbols that occur in the forces alone: these may change during a run."""
        found = set().union(*(e.free_symbols for e in self.forces)) & self.parameters.keys()
        found = found.difference(*(e.free_symbols for e in self.fixed))
        return tuple(sorted(found, key=lambda s: s.name))

    def _check_lengths(self):
        if len(self.q) != len(self.v):
            raise ValueError(
                f"q has {len(self.q)} symbols but v has {len(self.v)}: give each "
                "coordinate one velocity"
            )

    def samples(self, count=5):
        """Fixed generic points (q, v, t), away from the origin and from multiples of pi/2."""
        rng = np.random.default_rng(2001)
        q, v = (rng.uniform(0.3, 1.2, (count, len(x))) for x in (self.q, self.v))
        return np.stack(self.settled(list(q.T)), -1), v, 0.7

    # ------------------------------------------------------------------ identity and display

    def __repr__(self):
        numbers = ((s, f"{x:g}" if np.ndim(x) == 0 else "...") for s, x in self.numbers.items())
        values = "".join(f", {s}={x}" for s, x in numbers)
        values += "".join(f", input {s}" for s in self.parameters if s not in self.numbers)
        return f"<{type(self).__name__} {self.name or 'unnamed'}{self._where()}{values}>"

    def _where(self):
        """What stands after the name: the coordinates, or what else a kind of system lives on."""
        return f": q = ({', '.join(map(str, self.q))})"

    def _rows(self):
        """The lines in LaTeX, with dots for the velocities."""
        return display.formulas(self, display.dotted(self.q, self.v))

    def _repr_latex_(self):
        return None if self.short.let else display.aligned(self._rows())  # no board is that long

    def __reduce__(self):
        return partial(type(self), **self.given()), ()

    def __eq__(self, other):
        if not isinstance(other, System):
            return NotImplemented
        return self.key == other.key and self.parameters == other.parameters

    def __hash__(self):
        return hash((self.key, tuple(sorted((s.name, x) for s, x in self.parameters.items()))))

    @cached_property
    def key(self):
        """A digest of the formulas, not of the numbers; it names the generated code."""
        names = "q v t L constraints holonomic metric forces"
        parts = (*(getattr(self, k) for k in names.split()), tuple(self.parameters))
        return hashlib.sha256(f"{sp.srepr(parts)}{self._where()}".encode()).hexdigest()

    # ------------------------------------------------------------------ symbolic parts

    @cached_property
    def symbolic(self):
        """The derived expressions: L_q, L_v, L_t, M, V, A, Dg, E, F, as nested tuples."""
        return Symbolic(self)

    @cached_property
    def short(self):
        """The same for generated code: in abbreviations, if L and the constraints are long."""
        forms = (self.L, *self.constraints, *self.holonomic, *self.forces)
        if type(self).symbolic is not System.symbolic or sp.count_ops(forms) < LONG:
            return self.symbolic
        return Symbolic(self, share=True)

    def written_out(self):
        """This system with plain expressions for generated code too, however long."""
        return self._with({}, short=self.symbolic)

    @property
    def degrees(self):
        """Names of the degrees of freedom: the coordinates', or the velocities' if they differ."""
        return [s.name for s in (self.q if len(self.q) == len(self.v) else self.v)]

    def rate(self, q, v):
        """Expressions for dq/dt; with body velocities these are not v."""
        return list(v)

    def bracket(self, v, w):
        """[v, w] of two constant velocities; body velocities do not commute."""
        return [0] * len(v)

    def configuration(self, q, name="q", near=None, axes=0):
        """q as the caller gave it, in coordinates; kinds of systems with others translate here."""
        return q

    def place(self, q, v, h):
        """Abbreviations, and in them the place where a step h with velocity v arrives."""
        return [], [x + h * u for x, u in zip(q, v, strict=True)]

    def moved(self, q, v, h):
        """The same without abbreviations."""
        let, place = self.place(q, v, h)
        for s, e in reversed(let):
            place = [x.xreplace({s: e}) for x in place]
        return place

    def settled(self, q, named=list):
        """q, a sequence of expressions or arrays, put back where configurations lie."""
        return list(q)

    def discretise(self, t, q, v, h, alpha, symmetric):
        """The discrete Lagrangian of a step h with velocity v from (t, q)."""
        return DiscreteLagrangian(self, t, q, v, h, alpha, symmetric)

    @cached_property
    def is_mechanical(self):
        """True if L = v.M(q).v/2 + b(q).v - V(q)."""
        return not self.short.depends(self.short.M, self.v)

    @cached_property
    def is_definite(self):
        """True if M, and the metric if one was given, are positive definite at generic points.

        Generated code expects it elsewhere too, and looks at its pivots on the way.
        """
        with np.errstate(all="ignore"):
            return self.is_definite_at(*self.samples())

    def is_definite_at(self, q, v, t=0.0):
        """The same at all of these states."""
        forms = [self.M(q, v, t), *(() if self.metric is None else (self.G(q, t),))]
        return all(map(checks.is_definite, forms))

    @property
    def is_autonomous(self):
        return self.t is None

    @property
    def is_forced(self):
        """True if there are forces besides those of L: then energy has a balance, not a law."""
        return bool(self.forces)

    @cached_property
    def is_affine(self):
        """True if a constraint moves: A v + b = 0 with b not zero, or g that depends on time."""
        return any(e != 0 for e in self.symbolic.b)

    @property
    def keeps_energy(self):
        """True if energy has a law; with time, forces or constraints that move it has a balance."""
        return self.is_autonomous and not (self.is_forced or self.is_affine)

    def is_holonomic(self):
        """Frobenius: True if the constraints are integrable, tested at generic points.

        D is integrable iff the two-forms of the rows vanish on it: dA_a(X, Y) = 0 for X, Y in D.
        """
        return not self.constraints or frobenius.is_integrable(self)

    def made(self, key, make):
        """Generated code by key, made when it is first asked for."""
        if key not in self.generated:
            self.generated[key] = make()
        return self.generated[key]

    # ------------------------------------------------------------------ numbers

    def values(self, table, q, v=None, t=0.0):
        """Values of expressions in (t, q, v) over arrays of states: the shape of the states, then
        that of the nested table."""
        q, v = self.states(q, "q"), np.zeros(len(self.v)) if v is None else self.states(v, "v")
        key, arguments = _frozen(table), (self.t or sp.Dummy("t"), self.q, self.v, *self.parameters)
        f = self.made(("values", key), lambda: Function(arguments, table, self.short.let))
        t = t if type(t) is float else checks.read_array(t, "t")
        return f(t, q, v, *self.parameters.values())

    def states(self, x, name):
        """x as an array of positions (names with a "q") or of velocities or momenta ("v", "p")."""
        symbols = self.q if name[0] == "q" else self.v
        n = len(symbols)
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.shape[-1:] == (n,):
            return x  # as from a run: nothing to read
        expected = f"its last axis must have length {n}, one entry for each of {symbols}"
        return checks.read_array(x, name, (n,), expected)

    def move(self, q, v, h):
        """Where a step h with velocity v arrives, shape (..., len(q)); h negative: its start."""
        return np.asarray(q, float) + np.asarray(h)[..., None] * v

    def velocity_between(self, q0, q1, h):
        """The velocity whose step h leads from q0 to q1."""
        return (np.asarray(q1, float) - q0) / np.asarray(h)[..., None]

    def M(self, q, v=None, t=0.0):
        """The mass matrix d2L/dv2, shape (..., n, n); v matters only if L is not mechanical."""
        return self.values(self.short.M, q, v, t)

    def V(self, q, t=0.0):
        """The potential, -L at v = 0."""
        return -self.values(self.short.L, q, None, t)

    def A(self, q, t=0.0):
        """The rows of all constraint one-forms, holonomic ones last, shape (..., m, n)."""
        A = self.values(self.short.A, q, None, t)
        return A if self.m else A.reshape(*A.shape, len(self.v))

    def b(self, q, t=0.0):
        """The parts b of the constraints A v + b = 0, dg/dt of holonomic ones, shape (..., m)."""
        if not self.is_affine:
            return np.zeros((*np.shape(q)[:-1], self.m))
        return self.values(self.symbolic.b, q, None, t)

    def constraint(self, q, v, t=0.0):
        """The residual A v + b of all constraints, d/dt g of holonomic ones, shape (..., m)."""
        residual = np.einsum("...ai,...i->...a", self.A(q, t), self.states(v, "v"))
        return residual + self.b(q, t) if self.is_affine else residual

    def g(self, q, t=0.0):
        """The holonomic constraint functions, shape (..., l)."""
        return self.values(self.holonomic, q, None, t)

    def energy(self, q, v, t=0.0):
        """v.dL/dv - L, shape (...)."""
        return self.values(self.short.E, q, v, t)

    def force(self, q, v, t=0.0):
        """The generalised forces F, shape (..., n)."""
        need_inputs(self, "force")
        return self.values(self.short.F, q, v, t)

    def power(self, q, v, t=0.0):
        """F.v, the rate at which the forces change the energy, shape (...)."""
        need_inputs(self, "power")
        return self.values(self.short.power, q, v, t)

    def momentum(self, q, v, t=0.0):
        """The Legendre map p = dL/dv, shape (..., n)."""
        return self.values(self.short.L_v, q, v, t)

    def velocity(self, q, p, t=0.0):
        """The inverse Legendre map: v with dL/dv(q, v) = p."""
        return velocities.velocity(self, q, self.states(p, "p"), t)

    def G(self, q, t=0.0):
        """The metric of the projectors: ``metric`` if one was given, else M."""
        if self.metric is not None:
            return self.values(self.short.G, q, None, t)
        if not self.is_mechanical:
            raise ValueError(
                "M depends on the velocities, so it defines no projectors; give the system a metric"
            )
        return self.M(q, None, t)

    def Q(self, q, t=0.0):
        """The projector on the complement of D: G^-1 A^T (A G^-1 A^T)^-1 A, FIM08 section 2."""
        return velocities.normal(self, q, t, self.A(q, t))

    def independence(self, q, v=None, t=0.0):
        """How far the rows of A are from being dependent, from 0 to 1, shape (...)."""
        return velocities.independence(self, q, v, t)

    def P(self, q, t=0.0):
        """The projector on D, I - Q."""
        return np.eye(len(self.v)) - self.Q(q, t)

    def project(self, q, v, t=0.0):
        """The admissible velocity nearest to v: P(q) v, and ``shortest`` if constraints move."""
        v = np.einsum("...ij,...j->...i", self.P(q, t), self.states(v, "v"))
        return v + self.shortest(q, t) if self.is_affine else v

    def shortest(self, q, t=0.0):
        """The shortest velocity w, in the metric of the projectors, with A w + b = 0."""
        return -velocities.normal(self, q, t, self.b(q, t)[..., None])[..., 0]

    def complete(self, q, /, *, t=0.0, **given):
        """The admissible velocity at q with these components, as in ``complete(q0, vx=1)``.

        As many as the constraints leave free, by the names of v; the others follow.
        """
        return velocities.complete(self, q, given, t)

    def settle(self, q, t=0.0):
        """q put on the holonomic constraints, moved as little as possible in the metric M(q)."""
        return positions.settle(self, q, t)

    @property
    def motion(self):
        """The equations of motion as a function, (t, [q, v]) -> (q', a, lambda)."""
        return Motion(self)

    def acceleration(self, q, v, t=0.0):
        """The acceleration of the constrained motion, multipliers eliminated."""
        return self.motion.values(q, v, t)[..., : len(self.v)]

    def multipliers(self, q, v, t=0.0):
        """The continuous multipliers lambda of d/dt L_v - L_q = F + A^T lambda, (..., m).

        Where constraints become dependent they lose twice as many digits as A^T lambda.
        """
        lam = self.motion.values(q, v, t)[..., len(self.v) :]
        velocities.check_multipliers(self, q, v, t)
        return lam

    def exact(self, t):
        """The known solution from (q0, v0), shape (..., n), where there is one."""
        if self._exact is None:
            raise ValueError(f"no closed solution is known for {self!r}; use nh.Reference()")
        if np.abs(self.constraint(self.q0, self.v0)).max(initial=0) > 1e-9:
            raise ValueError(
                "v0 does not satisfy the constraints with these parameters; make the "
                "system anew instead of changing it with set"
            )
        return self._exact(self, np.asarray(t, float))


def _frozen(table):
    return tuple(map(_frozen, table)) if isinstance(table, (tuple, list)) else table
