"""What a method states of its step, in SymPy: what is carried, what is solved, what is updated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from collections.abc import Callable

    from .kinds import Pair

MAXITER = 9  # more would only help Newton to find a far, wrong root
TOLERANCE = 1e-8  # on the last correction: the error left after it is its square, round-off
# In the iterations after TRUSTED: Newton has gone a long way, and a small correction that follows
# a large one may be chance; the one after it is round-off.
TRUSTED, LATE_TOLERANCE = 6, 1e-12
dummy = partial(sp.Dummy, real=True)  # a symbol that clashes with none of the reader's


@dataclass(frozen=True)
class Stage:
    """Solve ``equations = 0`` for ``unknowns`` by Newton's method, starting from ``guess``.

    Newton stops when each correction d has |d| <= TOLERANCE (|size| + weight * speed); the last
    iterations have a smaller tolerance.  The ``sizes`` are the unknowns themselves, if not given;
    None leaves out an unknown that enters linearly and is right as soon as the others are.  The
    speed is the sum of all |size|, except those of weight 0, which are of another kind.  So a
    correction is small beside what was found, not beside a guess.  A ``predictor`` is a guess for
    a later stage; one iteration will do.
    """

    unknowns: tuple[sp.Symbol, ...]
    equations: tuple[sp.Expr, ...]
    guess: tuple[sp.Expr, ...]
    sizes: tuple[sp.Expr | None, ...] = ()
    weights: tuple[sp.Expr | int, ...] = ()
    predictor: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", self.sizes or self.unknowns)
        weights = (sp.sympify(x, strict=True) for x in self.weights or (1,) * len(self.unknowns))
        object.__setattr__(self, "weights", tuple(weights))

    def each(self, change: Callable[[tuple], tuple]) -> Stage:
        """The stage with ``change`` of each of its lists."""
        lists = ("unknowns", "equations", "guess", "sizes", "weights")
        return replace(self, **{name: change(getattr(self, name)) for name in lists})


@dataclass(frozen=True)
class Statement:
    """One step of a method: ``stages`` solved in turn, then ``carry`` replaced by ``update``.

    ``let`` abbreviates: pairs (symbol, expression), each expression in earlier symbols.
    ``t`` and ``h`` are the time and the step size; ``args`` are constant during a run, but for the
    ``inputs`` among them, of which a loop is given one value for each step.  A method
    that chooses its own step gives ``new_h``; a step that t does not grow by is never accepted.
    With ``factors`` a step is made of substeps of size ``part * h``, part being each factor in
    turn; then stages, update and let are those of a substep, written in t, h, carry and ``part``.
    ``definite`` says that M should be positive definite, so that elimination needs no pivoting; a
    step that meets a pivot <= 0, or one that elimination left no digits, is not accepted.  If not,
    linear equations are iterated as well, which detects and repairs a bad pivot.
    Of the ``required`` expressions all must be positive, or the step is not accepted.
    """

    t: sp.Symbol
    h: sp.Symbol
    carry: tuple[sp.Symbol, ...]
    args: tuple[sp.Symbol, ...]
    stages: tuple[Stage, ...]
    update: tuple[sp.Expr, ...]
    let: tuple[Pair, ...] = ()
    new_h: sp.Expr | None = None
    definite: bool = True
    factors: tuple[float, ...] = ()
    part: sp.Symbol | None = None
    inputs: tuple[sp.Symbol, ...] = ()
    required: tuple[sp.Expr, ...] = ()
