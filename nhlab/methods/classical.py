"""Classical methods on the equations of motion with the multipliers eliminated."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from ..codegen.statement import Statement, dummy
from ..mechanics.motion import motion_stage
from .method import Frame, Method


@dataclass(frozen=True, repr=False)
class RK4(Method):
    r"""The classical Runge-Kutta method of order 4 for q' = v, v' = a(t, q, v).

    Keeps nothing exactly: energy and constraints drift, slowly for small h.
    """

    discrete: ClassVar[bool] = False
    order: ClassVar[int] = 4
    loses: ClassVar[tuple] = ("energy", "the constraints", "momenta", "the symplectic form")

    def code_key(self):
        return ("RK4",)

    def arguments(self, system, scale2):
        return tuple(system.parameters.values())

    def statement(self, system):
        s = Frame(system)
        h, v0, k_q = s.h, system.v, len(s.q)
        stages, slopes, let = [], [], []  # slopes: (q', v') at each stage
        for k, c in enumerate((0, sp.Rational(1, 2), sp.Rational(1, 2), 1)):
            q, v = s.q, v0
            if k:
                dq, dv = slopes[-1]
                there = [(dummy(f"{x.name}_{k}"), x + c * h * y)
                         for x, y in zip((*s.q, *v0), (*dq, *dv), strict=True)]  # fmt: skip
                q, v = [x for x, _ in there[:k_q]], [x for x, _ in there[k_q:]]
                let += there
            stage = motion_stage(system, s.t + c * h, q, v, let)
            stages.append(stage)
            slopes.append((system.rate(q, v), stage.unknowns[: s.n]))
        mean = [
            [sum(w * slopes[k][part][i] for k, w in enumerate((1, 2, 2, 1))) / 6
             for i in range(len(slopes[0][part]))]
            for part in (0, 1)
        ]  # fmt: skip
        impulse = [-h * lam for lam in stages[0].unknowns[s.n :]]
        return Statement(
            t=s.t,
            h=h,
            carry=(*s.q, *v0, *s.lam),
            args=s.parameters,
            stages=tuple(stages),
            update=(
                *(x + h * y for x, y in zip(s.q, mean[0], strict=True)),
                *(x + h * y for x, y in zip(v0, mean[1], strict=True)),
                *impulse,
            ),
            let=tuple(let),
        )


@dataclass(frozen=True, repr=False)
class Reference(Method):
    """SciPy's DOP853 with tight tolerances: the true motion for all practical purposes."""

    rtol: float = 1e-12
    atol: float | None = None  # rtol times the size of the initial state, if not given

    discrete: ClassVar[bool] = False
    order: ClassVar[int] = 8
    loses: ClassVar[tuple] = ("everything, but only at the level of rtol",)

    def __post_init__(self):
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            good = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not (good and 1e-13 <= value < 1) and not (name == "atol" and value is None):
                raise ValueError(f"{name} = {value!r} must be a number from 1e-13 to below 1")
