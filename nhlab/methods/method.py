"""What the integrators share: a frozen value that states its step and how to begin."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.derivatives import dot
from ..codegen.evaluate import Function
from ..codegen.program import Program
from ..codegen.statement import Stage, Statement, dummy
from ..mechanics.checks import need
from ..mechanics.spelling import check_keywords
from ..mechanics.symbolic import Substitution
from .layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..codegen.kinds import Exprs, Measures, Pair, Table
    from ..mechanics.discrete import DiscreteLagrangian
    from ..mechanics.system import System


class Frame:
    """The symbols of one step: t, h, and per coordinate q, p, the last v, the unknown v1.

    Beside v1 a step has the multipliers lam1 of m one-forms as unknowns or, where D is spanned by
    fields, the quasi-velocities u1; then m is 0.
    """

    def __init__(self, system: System) -> None:
        self.system, self.n = system, len(system.v)
        self.m, r = 0 if system.fields else system.m, len(system.fields)
        self.let = []
        self.at = Substitution(system.expressions, {}, self.let)
        self.t = system.t or dummy("t")
        self.h = dummy("h")
        self.q = system.q
        self.p = tuple(dummy(f"p_{name}") for name in system.degrees)
        self.v = tuple(dummy(f"{u.name}_last") for u in system.v)
        self.lam = tuple(dummy(f"lam{k}_last") for k in range(self.m))
        self.v1 = system.v
        self.lam1 = tuple(dummy(f"lam{k}") for k in range(self.m))
        self.u, self.u1 = (tuple(dummy(f"u{k}{x}") for k in range(r)) for x in ("_last", ""))
        self.alpha = dummy("alpha")
        self.shares = tuple(dummy(f"share_{name}") for name in system.degrees)
        self.parameters = tuple(system.parameters)

    @property
    def beside(self) -> tuple[sp.Symbol, ...]:
        """What is carried beside q, p and v: the last lam, or u."""
        return (*self.lam, *self.u)

    @property
    def beside1(self) -> tuple[sp.Symbol, ...]:
        """The unknowns beside v1."""
        return (*self.lam1, *self.u1)

    def fields(self) -> Table:
        """The fields at q, r lists of n expressions."""
        return self.at.table(self.system.expressions.fields)

    def along_fields(self, wd: DiscreteLagrangian, momentum: Exprs) -> tuple[sp.Expr, ...]:
        """v1 = X(q_alpha) u1 with q_alpha of ``wd``, and X(q)^T times the momentum equations."""
        along = (v - w for v, w in zip(self.v1, wd.along_fields(self.u1), strict=True))
        return (*along, *(dot(X, momentum) for X in self.fields()))

    def force(self, lam: Exprs) -> list[sp.Expr]:
        """A(q)^T lam, holonomic rows included; zeros where D is spanned by fields."""
        if not lam:
            return [sp.S.Zero] * self.n
        A = self.at.table(self.system.expressions.A)
        return [dot([row[i] for row in A], lam) for i in range(self.n)]

    def guess(self) -> tuple[sp.Expr, ...]:
        """A first guess of the next v: the last one, pushed on once more by the last step's forces.

        p - M v_last is half the impulse of the last step's L_q; taken twice, with the last
        lam, it saves Newton an iteration.  Done where M is constant and diagonal, hence cheap.
        """
        M, L_v = self.system.expressions.M, self.system.expressions.L_v
        plain = all(
            (M[i][j].free_symbols <= {*self.parameters} if i == j else M[i][j] == 0)
            for i in range(self.n)
            for j in range(self.n)
        ) and all((e - M[i][i] * self.v1[i]).expand() == 0 for i, e in enumerate(L_v))
        if not plain or self.u:  # without lam the constraint's impulse would be missing
            return self.v
        push = zip(self.p, self.v, self.force(self.lam), range(self.n), strict=True)
        return tuple((2 * p - f) / M[i][i] - v for p, v, f, i in push)

    def measures(self, velocities: Exprs, *others: sp.Expr) -> Measures:
        """The sizes and weights against which Newton's corrections are judged (see ``Stage``).

        velocities : expressions, n for each velocity that is solved for
        others : expressions for unknowns of other kinds

        Corrections of quasi-velocities, which enter in products with v1, are compared with the sum
        of the sizes of all quasi-velocities.
        """
        weights = self.shares * (len(velocities) // self.n)
        total = sum(map(sp.Abs, self.u1), sp.S.Zero)
        beside = (*(None,) * self.m, *(total,) * len(self.u1))
        return {
            "sizes": (*velocities, *beside, *others),
            "weights": (*weights, *(0,) * (len(beside) + len(others))),
        }

    def discrete(self, symmetric: bool, alpha: sp.Expr | float | None = None) -> DiscreteLagrangian:
        """The discrete Lagrangian of the step, with its momenta, energies and constraints."""
        alpha = self.alpha if alpha is None else alpha
        return self.system.discretise(self.t, self.q, self.v1, self.h, alpha, symmetric)

    def lets(self, *others: Any) -> tuple[Pair, ...]:
        """All abbreviations: our own, and those of discrete Lagrangians or in lists."""
        lists = [self.let, *(getattr(x, "let", x) for x in others)]
        return tuple(dict.fromkeys(pair for let in lists for pair in let))

    def named(self, expressions: Exprs) -> list[sp.Symbol]:
        """Symbols for them, which ``let`` defines."""
        symbols = [dummy("c") for _ in expressions]
        self.let += zip(symbols, expressions, strict=True)
        return symbols

    def q1(self, h: sp.Expr) -> Exprs:
        """Where the step arrives, q + h v1."""
        return self.system.end_of_step(self.q, self.v1, h)

    def end_and_residuals(self, h: sp.Expr) -> tuple[list[Pair], list[sp.Expr]]:
        """Abbreviations for the new position, and the residuals g(q1) / h of holonomic constraints.

        They are divided by h so that they compare with velocities.
        """
        let = [(dummy(f"{s.name}_1"), e) for s, e in zip(self.q, self.q1(h), strict=True)]
        there = dict(zip((*self.q, self.t), [*(x for x, _ in let), self.t + h], strict=True))
        place = Substitution(self.system.expressions, there, let)
        return let, [place(g) / h for g in self.system.expressions.holonomic]


@dataclass(frozen=True)
class Method:
    """An integrator as a value.  ``order``, ``keeps`` and ``loses`` say what to expect.

    The rest of the house never asks of which class a method is.  It asks what the method can do:

    Attributes
    ----------
    discrete : made from a discrete Lagrangian, so that a run can start from two positions, rows
        carry the momentum p, and ``on_step`` gives the parts Ld, p_minus, E_plus, ... of a step
    variable_step : the step size is an unknown of the step; then ``first_step`` is the method of
        the first step, whose h is given, and rows carry t, h, h_before and the energy e
    has_step : ``statement`` gives a step, for which code is generated.  False for a method that
        follows the equations of motion to a tolerance, with ``rtol`` and ``atol``
    is_reference : its run stands for the true motion: it is named so in figures, computed only
        where the picture needs it, and the others are judged by it
    takes_fields : the step is stated for D spanned by vector fields, too
    constraint_at : where the method makes the velocity constraint zero, as in
        ``sol.constraint(at)``: "midpoints" for wd of each step, "average" for the average of
        arriving and leaving momentum, "nodes"
    work_along_chord : a method without a discrete Lagrangian whose forces do the work h F.u along
        the chord of a step, taken in its middle
    composable : of order 2, it is a symmetric map of (q, v) in D to itself, or of (q, p) modulo the
        constraint forces, so that compositions of its steps gain order
    base : the method that the substeps are taken by, if a step is composed of substeps
    full : the method of the full system, if this one runs on reduced systems
    frame : the symbols that ``statement`` is written in

    Notes
    -----
    Rules for a new method:

    1. It is a frozen dataclass derived from Method, in a file of its own.  Its fields are options;
       h, states and systems are never stored in it.
    2. An option whose name ends in ``alpha`` is an argument of the step, so that a slider changes
       it without new code.  All others shape the generated text; ``code_key`` contains them, else
       two methods would share one text.
    3. ``check`` refuses every system that the step is not stated for, by a ValueError with the
       name, the number and the remedy.  It is called before anything else.
    4. ``statement`` writes one step in the symbols of ``frame``, the equations in the printed
       order with their numbers beside them.  It depends on nothing but the options and the system.
    5. What a step carries is what ``layout`` names, in the same order and of the same widths; a
       step of variable size has t and h before it, ``new_h``, and ``h_before`` and ``e`` at its
       end.  ``update`` has an expression for each symbol of ``carry``.
    6. ``args`` of the statement and ``arguments`` have the same order: the alphas, the parameters,
       the shares.
    7. A Stage has as many equations as unknowns, and all its corrections are measured (``sizes``,
       ``weights``): velocities beside velocities, not beside times or multipliers.  Equations of
       another unit than the rest are scaled: g(q1) = 0 is stated as g(q1)/h = 0.
    8. The attributes above are set where they differ.  Where the momentum that arrives at a node is
       not the one that leaves it, ``start_momentum`` and ``arriving`` are defined, and their twins
       ``state_start`` and ``state_arriving`` in SymPy.
    9. ``order``, ``keeps`` and ``loses`` are promises.  tests/methods/test_promises.py runs each
       sentence, beside a method or a system of which it is not true.
    """

    variable_step: ClassVar[bool] = False
    discrete: ClassVar[bool] = True
    has_step: ClassVar[bool] = True
    is_reference: ClassVar[bool] = False
    work_along_chord: ClassVar[bool] = False
    composable: ClassVar[bool] = False
    frame: ClassVar[type[Frame]] = Frame
    takes_fields: ClassVar[bool] = False
    keeps: ClassVar[tuple[str, ...]] = ()
    loses: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_keywords(cls.__init__, options, cls.__name__)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for f in fields(self):
            value: Any = getattr(self, f.name)
            if f.name == "symmetric" and not isinstance(value, bool):
                raise ValueError(f"symmetric = {value!r} must be True or False")
            if f.name.endswith("alpha") and not (value is None and f.name == "constraint_alpha"):
                number = isinstance(value, numbers.Real) and not isinstance(value, bool)
                if not (number and 0 <= value <= 1):  # pyright: ignore
                    raise ValueError(
                        f"{f.name} = {value!r} must be a number in [0, 1]; 1/2 is the midpoint rule"
                    )
                object.__setattr__(self, f.name, float(value))  # pyright: ignore[reportArgumentType]

    def __repr__(self) -> str:
        """As one would write the call: alpha always, the rest where it is not the default."""
        options = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        options = [f"{k}={x!r}" for k, x, default in options if k == "alpha" or x != default]
        return f"{type(self).__name__}({', '.join(options)})"

    @property
    def order(self) -> int:
        """2 for the midpoint and the symmetric rule, else 1 (CM01 section 4)."""
        rule: Any = self  # a method without alpha states its own order
        return 2 if rule.symmetric or rule.alpha == 0.5 else 1

    @property
    def is_symmetric(self) -> bool:
        """True if a step backwards in time undoes a step: then the method keeps every linear
        reversal of time that the system has (``nh.is_reversible``), on coordinates in R^n.

        Among the rules made from a discrete Lagrangian those of even order are the symmetric ones.
        """
        return self.order % 2 == 0

    @property
    def constraint_at(self) -> str:
        """Where the constraint is zero: "midpoints" for wd of a step, "average" or "nodes"."""
        return "midpoints" if self.discrete else "nodes"

    @property
    def base(self) -> Method | None:
        """The method of the substeps that a step is composed of; None if there are none."""
        return None

    @property
    def full(self) -> Method | None:
        """The method of the full system, of one that runs on reduced systems; else None."""
        return None

    # ---- what a subclass states

    def check(self, system: System) -> None:
        """Raise ValueError if the method cannot treat the system."""

    def statement(self, system: System) -> Statement:
        """Write one step of the method for a system, from row k to row k + 1.

        Parameters
        ----------
        system : what moves.  ``system.expressions`` has L_v, A, M, ..., abbreviated where they
            are long, ``system.discretise`` its discrete Lagrangian; both in ``system.q`` and
            ``system.v``

        Returns
        -------
        A Statement, whose parts are symbols and expressions of SymPy:

        t, h : symbols of the time at row k and the step size
        carry : symbols of the numbers in row k, in the order of ``layout``
        args : symbols of what is constant during a run, in the order of ``arguments``
        stages : of type Stage, solved one after the other by Newton's method.  Each may use t, h,
            carry, args and the unknowns of earlier stages
        update : an expression for each symbol of ``carry``, its value in row k + 1
        let : pairs (symbol, expression), abbreviations that all the others may contain, each in
            earlier symbols; ``Frame.lets`` collects them, and those that nothing needs are left
            out of the text
        new_h : the step size that was solved for, of a method that chooses it; else None

        Nothing is computed here: the text is generated once for each pair of system and method,
        and kept.  It is written anew where ``code_key`` differs.
        """
        raise NotImplementedError(f"{type(self).__name__} states no step (has_step = False)")

    def code_key(self) -> tuple[object, ...]:
        """What of the method shapes the generated text: of an alpha, whether there is one."""
        options = ((f.name.endswith("alpha"), getattr(self, f.name)) for f in fields(self))
        return (type(self).__name__, *(x is None if alpha else x for alpha, x in options))

    def layout(self, system: System) -> Layout:
        """The parts of a stored row.  Without a discrete Lagrangian there is no p."""
        n, m, r = len(system.v), system.m, len(system.fields)
        evolved = {"p": n, "v": n} if self.discrete else {"v": n}
        beside = {"lam": m}
        if r:  # the step has quasi-velocities in the place of multipliers
            beside = {"lam": 0, "u": r} if self.discrete else {"lam": 0}
        return Layout({"q": len(system.q), **evolved, **beside})

    def arguments(self, system: System, shares: Sequence[Any]) -> tuple[Any, ...]:
        """Values of the statement's args: of the alphas, the parameters and the shares."""
        alphas = (getattr(self, f.name) for f in fields(self) if f.name.endswith("alpha"))
        return (*(x for x in alphas if x is not None), *system.parameters.values(), *shares)

    def start_momentum(
        self, system: System, t: ArrayLike, q: np.ndarray, v: np.ndarray, h: ArrayLike
    ) -> np.ndarray:
        """The momentum that arrives at q0 (EQUATIONS: starting from (q0, v0))."""
        return system.momentum(q, v, t)

    def arriving(
        self, system: System, t: ArrayLike, q: np.ndarray, p_minus: np.ndarray
    ) -> np.ndarray:
        """The momentum that would arrive at q, given the one that leaves it."""
        return p_minus

    # The same two in SymPy, for pages that compute without Python.  They are static since all
    # methods that share them share one generated text, whatever their options are.

    @staticmethod
    def state_start(
        s: Frame, p: Sequence[sp.Expr], lam: Sequence[sp.Expr]
    ) -> tuple[tuple[Stage, ...], Sequence[sp.Expr]]:
        """``start_momentum`` in SymPy, from p = L_v(q0, v0) and the multipliers lam of the motion.

        Returns the stages that must be solved for it, and the momentum.
        """
        return (), p

    @staticmethod
    def state_arriving(
        s: Frame, p: Sequence[sp.Expr]
    ) -> tuple[tuple[Stage, ...], Sequence[sp.Expr]]:
        """``arriving`` in SymPy: the stages that must be solved for it, and the momentum."""
        return (), p

    # ---- generated code

    def program(self, system: System) -> Program:
        about = {"definite": system.is_definite, "inputs": system.driven}
        key, what = (*self.code_key(), *about.values()), f"{self!r} of {system.label}"
        return system.memoised(
            key,
            lambda: Program(
                f"{key}{system.key}", lambda: replace(self.statement(system), **about), what
            ),
        )

    def on_step(
        self, system: System, what: str, t: ArrayLike, q: np.ndarray, v: np.ndarray, h: ArrayLike
    ) -> np.ndarray:
        """Ld, p_minus, p_plus, E_minus, E_plus or constraints of steps (t, q, v, h)."""
        need(what, str, "what", "name")
        rule: Any = self  # made from a discrete Lagrangian, it has alpha and symmetric
        alpha = rule.alpha
        if what == "constraints" and getattr(self, "constraint_alpha", None) is not None:
            alpha = rule.constraint_alpha
        key = ("on_step", self.frame, rule.symmetric, what)
        f = system.memoised(key, lambda: self._step_function(system, rule.symmetric, what))
        return f(t, q, v, h, alpha, *system.parameters.values())

    def _step_function(self, system: System, symmetric: bool, what: str) -> Function:
        s = self.frame(system)
        Ld = s.discrete(symmetric)
        if what.startswith("_") or not hasattr(Ld, what):
            raise ValueError(f"what = {what!r} is no part of a discrete Lagrangian, as p_plus is")
        arguments, table = (s.t, s.q, s.v1, s.h, s.alpha, *s.parameters), getattr(Ld, what)
        return Function(arguments, table, Ld.let)


def component_sizes(v: Sequence, a: Sequence, h: Any) -> list:
    """The size of each velocity in the beginning, max(|v|, h |a|): at least a millionth of the
    largest, and 1 for a system at rest.

    v, a : lists of components, each a number or an array with an entry for each run;  h : likewise

    Pages translate this function and ``component_shares`` to JavaScript, where components are
    numbers.
    """
    sizes = [np.maximum(np.abs(v[k]), np.minimum(h * np.abs(a[k]), 1e300)) for k in range(len(v))]
    whole = largest_component(sizes)
    return [np.where(whole > 0, np.maximum(x, 1e-6 * whole), 1.0) for x in sizes]


def component_shares(v: Sequence, a: Sequence, h: Any) -> list:
    """The size of each velocity beside the largest; arguments as for ``component_sizes``."""
    sizes = component_sizes(v, a, h)
    whole = largest_component(sizes)
    return [x / whole for x in sizes]


def largest_component(sizes: Sequence) -> Any:
    """The largest of several numbers or, entry by entry, arrays."""
    whole = sizes[0]
    for k in range(1, len(sizes)):
        whole = np.maximum(whole, sizes[k])
    return whole


def velocity_scale(v: ArrayLike, a: ArrayLike, h: ArrayLike) -> np.ndarray:
    """``component_sizes`` for arrays (..., n) of velocities and accelerations, shape (..., n)."""
    return _stacked(component_sizes, v, a, h)


def relative_velocity_scales(v: ArrayLike, a: ArrayLike, h: ArrayLike) -> np.ndarray:
    """The size of each velocity beside the largest, shape (..., n), for metres and radians may
    differ by any factor.

    Newton's corrections are measured by that share of the speed which the motion has (``Stage``):
    where h is large h a exceeds all speeds to come, but its components are in proportion.
    """
    return _stacked(component_shares, v, a, h)


def _stacked(function: Callable, v: ArrayLike, a: ArrayLike, h: ArrayLike) -> np.ndarray:
    """A function of components (n, ...), applied to arrays (..., n)."""
    v, a = (np.moveaxis(np.asarray(x), -1, 0) for x in (v, a))
    return np.stack(function(v, a, np.asarray(h)), -1)
