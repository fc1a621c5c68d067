"""The equations of motion, with the multipliers as unknowns."""

from __future__ import annotations

import numpy as np
import sympy as sp

from ..codegen.careful import careful_step
from ..codegen.derivatives import dot
from ..codegen.evaluate import joined
from ..codegen.program import Program
from ..codegen.statement import Stage, Statement, dummy
from .checks import REMEDY, read_array
from .forces import need_inputs
from .symbolic import Place


def motion_stage(system, t, q, v, let):
    """The linear equations for (a, lambda) at (t, q, v), as a Stage; ``let`` grows.

    M a + L_vq q' + L_vt - f = A^T lambda and d/dt (A v + b) = 0.
    """
    S, n, m = system.short, len(system.v), system.m
    a, lam = (tuple(dummy(f"{x}{k}") for k in range(count)) for x, count in (("a", n), ("lam", m)))
    here = dict(zip((*system.q, *system.v), (*q, *v), strict=True))
    here |= {} if system.t is None else {system.t: t}
    rates = S.rates([*S.L_v, *S.constraints, *S.holonomic])
    rates[len(rates) - len(S.holonomic) :] = S.rates(rates[len(rates) - len(S.holonomic) :])
    equations = [
        dot(S.M[i], a) + rates[i] - S.f[i] - dot([row[i] for row in S.A], lam) for i in range(n)
    ]
    equations += [dot(row, a) + e for row, e in zip(S.A, rates[n:], strict=True)]
    equations = tuple(map(Place(S, here, let), equations))
    return Stage((*a, *lam), equations, (sp.S.Zero,) * (n + m))


class Motion:
    """(t, q, v) -> (q', a, lambda): the right-hand side of the equations of motion."""

    def __init__(self, system):
        need_inputs(system, "motion")
        self.system, self.parameters = system, system.parameters.values()
        key = ("motion", system.is_definite)
        self.program = system.made(key, lambda: Program(f"{key}{system.key}", self.statement))

    def statement(self):
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

    def __call__(self, t, y):
        """(q', a, lambda) at one state y = (q, v), of floats; ValueError where there is none."""
        ok, *values = self.program.one_step(t, 0.0, *y, *self.parameters)
        return values[1:] if ok else self.carefully(t, y)

    def carefully(self, t, y):
        """The same with pivoting."""
        attempt = careful_step(self.program.statement, t, 1.0, y, list(self.parameters))
        if not attempt.ok:
            q, v = np.split(np.array(y), [len(self.system.q)])
            why = self._why(t, q, v)
            raise ValueError(f"the equations of motion have no solution at q = {q}: {why}")
        return attempt.carry

    def _why(self, t, q, v):
        """What may be wrong there, in words."""
        forms = self.system.A(q, t), self.system.M(q, v, t)
        finite = all(np.isfinite(x).all() for x in forms)
        if finite and (size := self.system.independence(q, v, t)) < 1e-3:
            value = f"smallest singular value {size:.1e} of the scaled rows"
            return f"the constraints become dependent there ({value}); {REMEDY}"
        return "they are singular there (dependent constraints, M without inverse, or L not finite)"

    def values(self, q, v, t):
        """(a, lambda) over arrays of states, shape (..., n + m)."""
        s = self.system
        q, v, t = s.states(q, "q"), s.states(v, "v"), read_array(t, "t")
        batch = np.broadcast(q[..., 0], v[..., 0], t).shape
        if not batch:
            return np.array(self(float(t), [*q.tolist(), *v.tolist()])[len(s.q) :], float)
        y = np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v)], -1)
        with np.errstate(all="ignore"):
            states = np.moveaxis(y, -1, 0)
            ok, _, *values = self.program.numpy(t, 0.0, *states, *self.parameters)
        out = joined(values, batch)
        for k in map(tuple, np.argwhere(~np.broadcast_to(ok, batch))):
            out[k] = self.carefully(np.broadcast_to(t, batch)[k], y[k].tolist())
        return out[..., len(s.q) :]
