"""A mechanical system: coordinates, velocities, a Lagrangian, constraints and parameters."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.program import at_work
from . import checks, display, dynamicsymbols, frobenius, spans
from .checks import UNSET, Symbols
from .checks import symbols as symbols  # public here, beside System
from .discrete import DiscreteLagrangian
from .forces import read_forces
from .spelling import check_keywords, former_name, nearest
from .state import StateFunctions
from .symbolic import Symbolic

LONG = 500  # operations of L and the constraints from which on they are abbreviated; not tuned
MANY = 20  # coordinates from which on a system may take seconds to derive, and says so


class System(StateFunctions):
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
    fields : instead of constraints, or beside them, r vector fields X_a(q) that span D, each a
        sequence of n expressions or a dict coordinate -> expression.  Then v = X(q) u with
        quasi-velocities u, runs need no one-forms and pass places where these are dependent, and
        ``constraints`` are derived if none are given (``nhlab.mechanics.spans``)
    name, source : what it is called and where it comes from
    q0, v0 : a good initial condition
    exact : function (system, t) that gives its known solution, shape (..., n)

    Systems are values: nothing changes one after it is made.  What they compute at a state, as
    ``energy(q, v)``, is inherited from ``StateFunctions``; their expressions are in ``symbolic``.

    Examples
    --------
    >>> import nhlab as nh
    >>> x, y, z, vx, vy, vz = nh.symbols("x y z vx vy vz")
    >>> L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
    >>> particle = nh.System((x, y, z), (vx, vy, vz), L, constraints=[vz - y * vx], name="mine")
    >>> particle, particle.is_holonomic()
    (<System mine: q = (x, y, z)>, False)
    >>> particle.acceleration([0, 1, 0], [1, 1, 1])
    array([-0.5, -2. ,  0.5])
    >>> particle.complete({"y": 1}, vx=2, vy=0).tolist(), particle.energy({"x": 1}, {"vy": 1})
    ([2.0, 0.0, 2.0], np.float64(1.5))
    >>> by_fields = nh.System((x, y, z), (vx, vy, vz), L, fields=[{x: 1, z: y}, {y: 1}])
    >>> by_fields.constraints
    (-vx*y + vz,)
    >>> sol = nh.integrate(by_fields, nh.DLA(), [0, 1, 0], u0=[1, 1], h=0.1, steps=10)
    >>> sol.u[0].tolist()
    [1.0, 1.0]
    """

    q: tuple[sp.Symbol, ...]
    v: tuple[sp.Symbol, ...]
    t: sp.Symbol | None
    L: sp.Expr
    constraints: tuple[sp.Expr, ...]
    holonomic: tuple[sp.Expr, ...]
    forces: tuple[sp.Expr, ...]
    fields: tuple[tuple[sp.Expr, ...], ...]  # that span D, each with n entries
    metric: tuple[Any, ...] | None
    m: int  # the number of constraints
    parameters: dict[sp.Symbol, float]
    name: str
    source: str
    q0: ArrayLike | None
    v0: ArrayLike | None
    full: System | None = None  # the system that a reduction was made from
    driven: tuple[sp.Symbol, ...] = ()  # the inputs that have another value in each step of a run
    printed_fields: tuple[tuple[sp.Expr, ...], ...] = ()  # of a paper, in the catalogue

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)

    def __init__(
        self,
        q: Symbols,
        v: Symbols,
        L: sp.Expr | float,
        constraints: Sequence[sp.Expr] = (),
        holonomic: Sequence[sp.Expr] = (),
        parameters: Mapping[Any, float] | None = None,
        t: sp.Symbol | None = None,
        metric: Any = None,
        name: str = "",
        *,
        source: str = "",
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        exact: Callable[..., ArrayLike] | None = None,
        forces: Sequence[sp.Expr] | Mapping[Any, sp.Expr] | None = None,
        fields: Sequence[Any] | sp.MatrixBase | None = (),
    ) -> None:
        self.q, self.v = checks.read_symbols(q, "q"), checks.read_symbols(v, "v")
        self.t = t if t is None else checks.read_symbols([t], "t")[0]
        self._check_lengths()
        checks.check_names([*self.q, *self.v, self.t])
        self.L = checks.read_expression(L, "L")
        self.constraints = checks.read_expressions(constraints, "constraints")
        self.holonomic = checks.read_expressions(holonomic, "holonomic")
        self.metric = None if metric is None else checks.read_matrix(metric, "metric")
        self.fields = spans.read_fields(fields, self)
        self.forces = read_forces(self, forces)
        self.name, self.source = name, source
        self.parameters = self._bind(parameters)
        self.q0, self.v0, self._exact = q0, v0, exact
        self.generated = {}
        self.constraints = spans.constraints(self)
        self.m = len(self.constraints) + len(self.holonomic)
        with at_work("deriving the mass matrix") if len(self.q) > MANY else nullcontext():
            checks.check_forms(self)
            checks.check_values(self)
            spans.check_forms_of_fields(self)

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_mechanics(
        cls, L: Any, q: Symbols | None = None, constraints: Sequence[sp.Expr] = (), **others: Any
    ) -> Self:
        """A System from ``sympy.physics.mechanics``, in dynamicsymbols and their derivatives.

        L : the Lagrangian, or the bodies; or a ``LagrangesMethod`` or ``KanesMethod``, which
            brings q and all else
        frame : the inertial frame, for bodies and for forces at points
        forces : as in ``System``, or loads (point, force), (frame, torque)
        speeds, kinematic : generalised speeds u, and the equations that define them

        The rest as in ``System``.  The velocity of x is called vx, or ``vx_`` if vx is taken.

        Examples
        --------
        >>> import nhlab as nh
        >>> from sympy.physics.mechanics import dynamicsymbols
        >>> x, y, z = q = dynamicsymbols("x y z")
        >>> vx, vy, vz = dynamicsymbols("x y z", 1)
        >>> L = (vx**2 + vy**2 + vz**2) / 2 - (x**2 + y**2)
        >>> nh.System.from_mechanics(L, q, [vz - y * vx], name="particle")
        <System particle: q = (x, y, z)>
        """
        return cls(**dynamicsymbols.plain(L, q, constraints, **others))

    def set(self, **values: float) -> Self:
        """The same system with some parameters changed, sharing the generated code.

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.pendulum().set(l=2)
        <System pendulum: q = (theta), g=1, l=2, m=1>
        """
        by_name = {s.name: s for s in self.parameters}
        for k in values:
            if k not in by_name:
                names = ", ".join(by_name) or "none"
                hint = nearest(k, by_name)
                raise ValueError(f"parameter {k!r} is unknown here; this system has: {names}{hint}")
        return self._with({k: checks.read_number(x, f"parameter {k}") for k, x in values.items()})

    def with_arrays(self, values: Mapping[str, ArrayLike], definite: bool | None) -> Self:
        """This system with an array of values for some parameters, to compute on arrays of states.

        values : name -> array that broadcasts with the states
        definite : what ``is_definite`` says of the new system, which does not compute it; None
            where nobody will ask
        """
        return self._with(values, is_definite=definite)

    def _with(self, values: Mapping[str, Any], **own: Any) -> Self:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)  # derived expressions and generated code hold for both
        new.__dict__.pop("is_definite", None)
        new.__dict__.update(own)
        new.parameters = {s: values.get(s.name, x) for s, x in self.parameters.items()}
        return new

    def with_input_values(self, values: Mapping[sp.Symbol, Any]) -> Self:
        """This system with a number or an array for each input, which a run replaces in every
        step."""
        checks.check_inputs(values, self.parameters)
        by_name = {u.name: x for u, x in values.items()}
        return self._with(by_name, is_definite=self.is_definite, driven=tuple(values))

    drive = former_name("drive", with_input_values)

    def without_input_values(self) -> Self:
        """This system before ``with_input_values``: its inputs have no values."""
        unset = dict.fromkeys(self.driven, UNSET)
        return self.with_input_values(unset).with_input_values({}) if self.driven else self

    def constructor_kwargs(self) -> dict[str, Any]:
        """The keyword arguments with which the constructor makes an equal system."""
        names = "q v L constraints holonomic t metric name source q0 v0 forces fields"
        own = {"parameters": self.numbers, "exact": self._exact}
        return {k: getattr(self, k) for k in names.split()} | own

    def replace(self, **changes: Any) -> Self:
        """A system with some other arguments of the constructor, as ``dataclasses.replace`` has it.

        The known exact solution is not taken over, since it belongs to the old arguments.

        Examples
        --------
        >>> import nhlab as nh
        >>> particle = nh.systems.particle()
        >>> x, vx = particle.q[0], particle.v[0]
        >>> damped = particle.replace(forces={x: -vx / 5}, name="damped particle")
        >>> damped.acceleration({"y": 1}, {"vx": 1, "vz": 1}).round(12)
        array([-0.1, -2. , -0.1])
        """
        return type(self)(**self.constructor_kwargs() | {"exact": None} | changes)

    remade = former_name("remade", replace)
    by_fields, by_forms = spans.by_fields, spans.by_forms

    def _bind(self, parameters: Mapping[Any, float] | None) -> dict[sp.Symbol, float]:
        own = (*self.q, *self.v, *(() if self.t is None else (self.t,)))
        return checks.read_parameters(parameters, self.formulas_beside_forces, own, self.forces)

    @property
    def formulas_beside_forces(self) -> tuple[sp.Expr, ...]:
        """L, the constraints, the metric and the fields: what no input changes."""
        others = (*self.holonomic, *(self.metric or ()), *sum(self.fields, ()))
        return (self.L, *self.constraints, *others)

    @property
    def numbers(self) -> dict[sp.Symbol, float]:
        """The parameters that have values; inputs have none before they are given one."""
        return {s: x for s, x in self.parameters.items() if x is not UNSET}

    @cached_property
    def inputs(self) -> tuple[sp.Symbol, ...]:
        """The symbols that occur in the forces alone: these may change during a run."""
        inputs = set().union(*(e.free_symbols for e in self.forces)) & self.parameters.keys()
        inputs = inputs.difference(*(e.free_symbols for e in self.formulas_beside_forces))
        return tuple(sorted(inputs, key=lambda s: s.name))

    def _check_lengths(self) -> None:
        if len(self.q) != len(self.v):
            raise ValueError(
                f"q has {len(self.q)} symbols but v has {len(self.v)}: give each "
                "coordinate one velocity"
            )

    def samples(self, count: int = 5) -> tuple[np.ndarray, np.ndarray, float]:
        """Fixed generic points (q, v, t), away from the origin and from multiples of pi/2."""
        rng = np.random.default_rng(2001)
        q, v = (rng.uniform(0.3, 1.2, (count, len(x))) for x in (self.q, self.v))
        return np.stack(self.normalise(list(q.T)), -1), v, 0.7

    # ------------------------------------------------------------------ identity and display

    def __repr__(self) -> str:
        numbers = ((s, f"{x:g}" if np.ndim(x) == 0 else "...") for s, x in self.numbers.items())
        values = "".join(f", {s}={x}" for s, x in numbers)
        values += "".join(f", input {s}" for s in self.parameters if s not in self.numbers)
        name = f" {self.name}" if self.name else ""
        return f"<{type(self).__name__}{name}{self._where()}{values}>"

    @property
    def label(self) -> str:
        """What to call it: its name, or its coordinates if it has none."""
        return self.name or f"q = ({', '.join(map(str, self.q))})"

    def _where(self) -> str:
        """What stands after the name: the coordinates, or what else a kind of system lives on."""
        return f": q = ({', '.join(map(str, self.q))})"

    def _rows(self) -> list[str]:
        """The lines in LaTeX, with dots for the velocities."""
        return display.formulas(self, display.dotted(self.q, self.v))

    def _repr_latex_(self) -> str | None:
        return None if self.expressions.let else display.aligned(self._rows())  # too long

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.constructor_kwargs()), ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, System):
            return NotImplemented
        return self.key == other.key and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((self.key, tuple(sorted((s.name, x) for s, x in self.parameters.items()))))

    @cached_property
    def key(self) -> str:
        """A digest of the formulas, not of the numbers; it names the generated code."""
        names = "q v t L constraints holonomic metric forces"
        parts = (*(getattr(self, k) for k in names.split()), tuple(self.parameters))
        parts += (self.fields,) if self.fields else ()
        return hashlib.sha256(f"{sp.srepr(parts)}{self._where()}".encode()).hexdigest()

    # ------------------------------------------------------------------ symbolic parts

    @cached_property
    def symbolic(self) -> Symbolic:
        """The derived expressions: L_q, L_v, L_t, M, V, A, Dg, E, F, as nested tuples."""
        return Symbolic(self)

    @cached_property
    def expressions(self) -> Symbolic:
        """The expressions of ``symbolic`` as generated code takes them.

        Where L and the constraints have more than LONG operations, their common subexpressions get
        names before they are differentiated, so that the derivatives stay short.
        """
        forms = (self.L, *self.constraints, *self.holonomic, *self.forces, *sum(self.fields, ()))
        if type(self).symbolic is not System.symbolic or sp.count_ops(forms) < LONG:
            return self.symbolic
        return Symbolic(self, share=True)

    def with_plain_code(self) -> Self:
        """This system with ``symbolic`` for generated code too, however long its expressions."""
        return self._with({}, expressions=self.symbolic)

    @property
    def degrees(self) -> list[str]:
        """Names of the degrees of freedom: the coordinates', or the velocities' if they differ."""
        return [s.name for s in (self.q if len(self.q) == len(self.v) else self.v)]

    def rate(self, q: Sequence[sp.Expr], v: Sequence[sp.Expr]) -> list[sp.Expr]:
        """Expressions for dq/dt; with body velocities these are not v."""
        return list(v)

    def bracket(self, v: Sequence[Any], w: Sequence[Any]) -> list[Any]:
        """[v, w] of two constant velocities; body velocities do not commute."""
        return [0] * len(v)

    def configuration(self, q: Any, name: str = "q", near: Any = None, axes: int = 0) -> Any:
        """q as the caller gave it, in coordinates; kinds of systems with others translate here."""
        return q

    def abbreviated_end_of_step(
        self, q: Sequence[sp.Expr], v: Sequence[sp.Expr], h: sp.Expr
    ) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        """Where a step h with velocity v ends: abbreviations, and coordinates written in them."""
        return [], [x + h * u for x, u in zip(q, v, strict=True)]

    def end_of_step(self, q: Sequence[sp.Expr], v: Sequence[sp.Expr], h: sp.Expr) -> list[sp.Expr]:
        """The coordinates where a step h with velocity v ends, without abbreviations."""
        let, end = self.abbreviated_end_of_step(q, v, h)
        for s, e in reversed(let):
            end = [x.xreplace({s: e}) for x in end]
        return end

    def normalise(self, q: Sequence[Any], abbreviate: Callable[..., Any] = list) -> list[Any]:
        """The configuration nearest to q, a sequence of expressions or arrays.

        Only coordinates with a norm need it: quaternions are divided by theirs.
        """
        return list(q)

    def discretise(
        self,
        t: sp.Expr,
        q: Sequence[sp.Expr],
        v: Sequence[sp.Expr],
        h: sp.Expr,
        alpha: sp.Expr | float,
        symmetric: bool,
    ) -> DiscreteLagrangian:
        """The discrete Lagrangian of a step h with velocity v from (t, q)."""
        return DiscreteLagrangian(self, t, q, v, h, alpha, symmetric)

    @cached_property
    def is_mechanical(self) -> bool:
        """True if L = v.M(q).v/2 + b(q).v - V(q)."""
        return not self.expressions.depends(self.expressions.M, self.v)

    @cached_property
    def is_definite(self) -> bool:
        """True if M, and the metric if one was given, are positive definite at generic points.

        Generated code expects it elsewhere too, and looks at its pivots on the way.
        """
        with np.errstate(all="ignore"):
            return self.is_definite_at(*self.samples())

    def is_definite_at(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> bool:
        """The same at all of these states."""
        forms = [self.M(q, v, t), *(() if self.metric is None else (self.G(q, t),))]
        return all(map(checks.is_definite, forms))

    @property
    def is_autonomous(self) -> bool:
        return self.t is None

    @property
    def is_forced(self) -> bool:
        """True if there are forces besides those of L: then energy has a balance, not a law."""
        return bool(self.forces)

    @cached_property
    def is_affine(self) -> bool:
        """True if a constraint moves: A v + b = 0 with b not zero, or g that depends on time."""
        return any(e != 0 for e in self.symbolic.b)

    @property
    def keeps_energy(self) -> bool:
        """True if energy has a law; with time, forces or constraints that move it has a balance."""
        return self.is_autonomous and not (self.is_forced or self.is_affine)

    def is_holonomic(self) -> bool:
        """Frobenius: True if the constraints are integrable, tested at generic points.

        D is integrable iff the two-forms of the rows vanish on it: dA_a(X, Y) = 0 for X, Y in D;
        of fields, iff it contains their brackets.

        Examples
        --------
        >>> import nhlab as nh
        >>> nh.systems.particle().is_holonomic(), nh.systems.spherical_pendulum().is_holonomic()
        (False, True)
        """
        return not self.constraints or (spans if self.fields else frobenius).is_integrable(self)


# ``__new__`` looks at the names of the arguments; what they are, ``__init__`` says.
System.__new__.__signature__ = inspect.signature(System.__init__)
