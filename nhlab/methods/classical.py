"""Classical methods on the equations of motion with the multipliers eliminated."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.statement import Statement, dummy
from ..mechanics.motion import motion_stage
from .method import Frame, Method

if TYPE_CHECKING:
    from ..mechanics.system import System


@dataclass(frozen=True, repr=False)
class RK4(Method):
    r"""The classical Runge-Kutta method of order 4 for q' = v, v' = a(t, q, v).

    Exact for linear integrals alone: energy and constraints drift, slowly for small h.  A
    quaternion is made a unit one again after each step (Hairer, Lubich & Wanner, section IV.4: it
    keeps the order).

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.RK4(), h=0.2, steps=1250)
    >>> print(f"the energy falls from {sol.energy()[0]:.3f} to {sol.energy()[-1]:.3f}")
    the energy falls from 2.500 to 2.482
    """

    discrete: ClassVar[bool] = False
    takes_fields: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = False
    order: ClassVar[int] = 4
    keeps: ClassVar[tuple[str, ...]] = (
        "momenta that are linear in v with constant coefficients, along which no force acts",
    )
    loses: ClassVar[tuple[str, ...]] = (
        "energy",
        "the constraints",
        "other momenta",
        "the symplectic form",
    )

    def arguments(self, system: System, shares: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(system.parameters.values())

    def statement(self, system: System) -> Statement:
        s = Frame(system)
        h, state = s.h, (*s.q, *system.v)
        stages, slopes, place = [], [], state  # slopes: (q', v') at each stage
        for k, c in enumerate((0, sp.Rational(1, 2), sp.Rational(1, 2), 1)):
            if k:
                place = tuple(dummy(f"{x.name}_{k}") for x in state)
                there = [x + c * h * y for x, y in zip(state, slopes[-1], strict=True)]
                s.let += zip(place, there, strict=True)
            q, v = place[: len(s.q)], place[len(s.q) :]
            stages.append(motion_stage(system, s.t + c * h, q, v, s.let))
            slopes.append((*system.rate(q, v), *stages[-1].unknowns[: s.n]))
        means = [dot((1, 2, 2, 1), some) / 6 for some in zip(*slopes, strict=True)]
        arrived = [x + h * y for x, y in zip(state, means, strict=True)]
        arrived[: len(s.q)] = system.normalise(arrived[: len(s.q)], s.named)
        impulse = [-h * lam for lam in stages[0].unknowns[s.n : s.n + s.m]]
        return Statement(
            t=s.t,
            h=h,
            carry=(*state, *s.lam),
            args=s.parameters,
            stages=tuple(stages),
            update=(*arrived, *impulse),
            let=s.lets(),
        )


@dataclass(frozen=True, repr=False)
class Reference(Method):
    """DOP853, written out for the system, with tight tolerances: the true motion for all practical
    purposes.  Method, coefficients and choice of steps are SciPy's, which takes single steps itself
    where the generated elimination fails.

    Parameters
    ----------
    rtol, atol : tolerances of DOP853; atol is rtol times the size of the start, if not given

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> true = nh.integrate(nh.systems.particle(), nh.Reference(), h=0.2, steps=50)
    >>> near = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=50)
    >>> print(f"DLA is off by {np.abs(true.q - near.q).max():.2f}")
    DLA is off by 0.19
    """

    rtol: float = 1e-12
    atol: float | None = None  # rtol times the size of the initial state, if not given

    discrete: ClassVar[bool] = False
    has_step: ClassVar[bool] = False
    is_reference: ClassVar[bool] = True
    takes_fields: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = False  # only to the level of rtol
    order: ClassVar[int] = 8
    loses: ClassVar[tuple[str, ...]] = ("everything, but only at the level of rtol",)

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            value: Any = getattr(self, name)
            good = isinstance(value, numbers.Real) and not isinstance(value, bool)
            known = good and 1e-13 <= value < 1  # pyright: ignore[reportOperatorIssue]
            if not known and not (name == "atol" and value is None):
                raise ValueError(f"{name} = {value!r} must be a number from 1e-13 to below 1")
