"""The equations of motion, with the multipliers as unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from ..codegen.careful import careful_step
from ..codegen.derivatives import dot
from ..codegen.evaluate import Function, joined
from ..codegen.kinds import Pair
from ..codegen.program import Program
from ..codegen.statement import Stage, Statement, dummy
from .checks import NEARLY_DEPENDENT, REMEDY, States, read_array
from .forces import need_inputs
from .symbolic import Substitution

if TYPE_CHECKING:
    from .system import System


def motion_stage(
    system: System, t: sp.Expr, q: Sequence[sp.Expr], v: Sequence[sp.Expr], let: list[Pair]
) -> Stage:
    """The linear equations for (a, lambda) at (t, q, v), as a Stage; ``let`` grows.

    M a + L_vq q' + L_vt - f = A^T lambda and d/dt (A v + b) = 0.  Where D is spanned by fields, for
    (a, u', u): a = X u' + X' u, X^T (M a + L_vq q' + L_vt - f) = 0 and X^T M (X u - v) = 0.
    """
    S, n = system.expressions, len(system.v)
    here = dict(zip((*system.q, *system.v), (*q, *v), strict=True))
    here |= {} if system.t is None else {system.t: t}
    a = tuple(dummy(f"a{k}") for k in range(n))
    if system.fields:
        others, equations = _along_fields(system, a)
    else:
        others = tuple(dummy(f"lam{k}") for k in range(system.m))
        rates = S.rates([*S.L_v, *S.constraints, *S.holonomic])
        rates[len(rates) - len(S.holonomic) :] = S.rates(rates[len(rates) - len(S.holonomic) :])
        forces = enumerate(balance(system, a, rates))
        equations = [e - dot([row[i] for row in S.A], others) for i, e in forces]
        equations += [dot(row, a) + e for row, e in zip(S.A, rates[n:], strict=True)]
    equations = tuple(map(Substitution(S, here, let), equations))
    return Stage((*a, *others), equations, (sp.S.Zero,) * len(equations))


def balance(system: System, a: Sequence[sp.Expr], rates: Sequence[sp.Expr]) -> list:
    """d/dt L_v - f with the accelerations a: the forces of the constraints, as expressions.

    rates : those of L_v without accelerations, as the first of ``Symbolic.rates``
    """
    S = system.expressions
    parts = zip(S.M, rates, S.f, strict=False)
    return [dot(row, a) + rate - f for row, rate, f in parts]


def _along_fields(system: System, a: Sequence[sp.Expr]) -> tuple:
    """The unknowns (u', u) beside a, and the equations for all three."""
    S, n, r = system.expressions, len(system.v), len(system.fields)
    du, u = (tuple(dummy(f"{x}{k}") for k in range(r)) for x in ("du", "u"))
    rates = S.rates([*S.L_v, *(e for field in S.fields for e in field)])
    turns = [rates[k * n : k * n + n] for k in range(1, r + 1)]
    columns, turned = list(zip(*S.fields, strict=True)), list(zip(*turns, strict=True))
    equations = [a[i] - dot(columns[i], du) - dot(turned[i], u) for i in range(n)]
    forces = balance(system, a, rates)
    equations += [dot(field, forces) for field in S.fields]
    gap = [dot(X, u) - w for X, w in zip(columns, system.v, strict=True)]
    momentum = [dot(row, gap) for row in S.M]
    return (*du, *u), equations + [dot(field, momentum) for field in S.fields]


class Motion:
    """(t, q, v) -> (q', a, lambda): the right-hand side of the equations of motion.

    Where D is spanned by fields (u', u) stand in the place of lambda; ``extra`` counts them.
    """

    def __init__(self, system: System) -> None:
        need_inputs(system, "motion")
        self.system, self.parameters = system, system.parameters.values()
        key, what = ("motion", system.is_definite), f"motion of {system.label}"
        self.program = system.memoised(
            key, lambda: Program(f"{key}{system.key}", self.statement, what)
        )

    @property
    def extra(self) -> int:
        """The number of unknowns beside the accelerations."""
        s = self.system
        return 2 * len(s.fields) or s.m

    def reaction(self, q: np.ndarray, v: np.ndarray, t: ArrayLike) -> np.ndarray:
        """The force d/dt L_v - f of the constraints over arrays of states, shape (..., n)."""
        s = self.system
        values = self.values(q, v, t)
        if not s.fields:
            A, lam = s.A(q, t), values[..., len(s.v) :]
            return np.einsum("...ai,...a->...i", A, lam)
        f = s.memoised("reaction", lambda: _reaction_function(s))
        return f(t, s.states(q, "q"), s.states(v, "v"), values[..., : len(s.v)], *self.parameters)

    def multipliers(self, q: States, v: States, t: ArrayLike) -> np.ndarray:
        """lambda over arrays of states, shape (..., m); with fields, of the one-forms that belong
        to them."""
        if not self.system.fields:
            return self.values(q, v, t)[..., len(self.system.v) :]
        return multipliers_of(self.system, q, t, self.reaction(q, v, t))

    def statement(self) -> Statement:
        s = self.system
        time, let = s.t or dummy("t"), []
        stage = motion_stage(s, time, s.q, s.v, let)
        return Statement(
            t=time,
            h=dummy("h"),
            carry=(*s.q, *s.v),
            args=(*s.parameters,),
            stages=(stage,),
            update=(*s.rate(s.q, s.v), *stage.unknowns),
            let=tuple(let),
            definite=s.is_definite,
        )

    def __call__(self, t: float, y: Sequence[float]) -> list[float]:
        """(q', a, lambda) at one state y = (q, v), of floats; ValueError where there is none."""
        ok, *values = self.program.one_step(t, 0.0, *y, *self.parameters)
        return values[1:] if ok else self.carefully(t, y)

    def carefully(self, t: float, y: Sequence[float]) -> list[float]:
        """The same with pivoting."""
        attempt = careful_step(self.program.statement, t, 1.0, y, list(self.parameters))
        if not attempt.ok:
            q, v = np.split(np.array(y), [len(self.system.q)])
            why = self._why(t, q, v)
            raise ValueError(f"the equations of motion have no solution at q = {q}: {why}")
        return attempt.carry

    def _why(self, t: float, q: Sequence[float], v: Sequence[float]) -> str:
        """What may be wrong there, in words."""
        forms = self.system.A(q, t), self.system.M(q, v, t)
        finite = all(np.isfinite(x).all() for x in forms)
        if finite and (size := self.system.independence(q, v, t)) < NEARLY_DEPENDENT:
            value = f"smallest singular value {size:.1e} of the scaled rows"
            if self.system.fields:
                return f"the fields become dependent there ({value}); give others"
            return f"the constraints become dependent there ({value}); {REMEDY}"
        return "they are singular there (dependent constraints, M without inverse, or L not finite)"

    def values(self, q: States, v: States, t: ArrayLike) -> np.ndarray:
        """(a, lambda) over arrays of states, shape (..., n + m)."""
        return self.rates(q, v, t)[..., len(self.system.q) :]

    def rates(self, q: States, v: States, t: ArrayLike) -> np.ndarray:
        """(q', a, lambda) over arrays of states, shape (..., len(q) + n + m)."""
        s = self.system
        q, v, t = s.states(q, "q"), s.states(v, "v"), read_array(t, "t")
        batch = np.broadcast(q[..., 0], v[..., 0], t).shape
        if not batch:
            return np.array(self(float(t), [*q.tolist(), *v.tolist()]), float)
        y = np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v)], -1)
        with np.errstate(all="ignore"):
            states = np.moveaxis(y, -1, 0)
            ok, _, *values = self.program.numpy(t, 0.0, *states, *self.parameters)
        out = joined(values, batch)
        for k in map(tuple, np.argwhere(~np.broadcast_to(ok, batch))):
            out[k] = self.carefully(np.broadcast_to(t, batch)[k], y[k].tolist())
        return out


def _reaction_function(system: System) -> Function:
    """(t, q, v, a) -> the force of the constraints."""
    a, time = tuple(dummy(f"a{k}") for k in range(len(system.v))), system.t or dummy("t")
    table = balance(system, a, system.expressions.rates(system.expressions.L_v))
    return Function(
        (time, system.q, system.v, a, *system.parameters), table, system.expressions.let
    )


def multipliers_of(system: System, q: np.ndarray, t: ArrayLike, force: np.ndarray) -> np.ndarray:
    """The shortest lambda with A^T lambda = force, over leading axes."""
    A = np.swapaxes(system.A(q, t), -1, -2)
    return np.einsum("...ai,...i->...a", np.linalg.pinv(A, rcond=1e-12), force)
