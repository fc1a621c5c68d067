"""What the integrators share: a frozen value that states its step and how to begin."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from ..codegen.derivatives import dot
from ..codegen.evaluate import Function
from ..codegen.program import Program
from ..codegen.statement import dummy
from ..mechanics.checks import need
from ..mechanics.symbolic import Place
from .layout import Layout


class Frame:
    """The symbols of one step: t, h, and per coordinate q, p, the last v, the unknown v1."""

    def __init__(self, system):
        self.system, self.n, self.m = system, len(system.v), system.m
        self.let = []
        self.at = Place(system.short, {}, self.let)
        self.t = system.t or dummy("t")
        self.h = dummy("h")
        self.q = system.q
        self.p = tuple(dummy(f"p_{name}") for name in system.degrees)
        self.v = tuple(dummy(f"{u.name}_last") for u in system.v)
        self.lam = tuple(dummy(f"lam{k}_last") for k in range(self.m))
        self.v1 = system.v
        self.lam1 = tuple(dummy(f"lam{k}") for k in range(self.m))
        self.alpha = dummy("alpha")
        self.shares = tuple(dummy(f"share_{name}") for name in system.degrees)  # velocity_shares
        self.parameters = tuple(system.parameters)

    def force(self, lam):
        """A(q)^T lam, holonomic rows included."""
        A = self.at.table(self.system.short.A)
        return [dot([row[i] for row in A], lam) for i in range(self.n)]

    def guess(self):
        """A first guess of the next v: the last one, pushed on once more by the last step's forces.

        p - M v_last is half the impulse of the last step's L_q; taken twice, with the last
        lam, it saves Newton an iteration.  Done where M is constant and diagonal, hence cheap.
        """
        M, L_v = self.system.short.M, self.system.short.L_v
        plain = all(
            (M[i][j].free_symbols <= {*self.parameters} if i == j else M[i][j] == 0)
            for i in range(self.n)
            for j in range(self.n)
        ) and all((e - M[i][i] * self.v1[i]).expand() == 0 for i, e in enumerate(L_v))
        if not plain:
            return self.v
        push = zip(self.p, self.v, self.force(self.lam), range(self.n), strict=True)
        return tuple((2 * p - f) / M[i][i] - v for p, v, f, i in push)

    def measured(self, velocities, *others):
        """By what the corrections of velocities, multipliers and others are measured (Stage)."""
        weights = self.shares * (len(velocities) // self.n)
        return {
            "sizes": (*velocities, *(None,) * self.m, *others),
            "weights": (*weights, *(0,) * (self.m + len(others))),
        }

    def discrete(self, symmetric, alpha=None):
        """The discrete Lagrangian of the step, with its momenta, energies and constraints."""
        alpha = self.alpha if alpha is None else alpha
        return self.system.discretise(self.t, self.q, self.v1, self.h, alpha, symmetric)

    def lets(self, *others):
        """All abbreviations: our own, and those of discrete Lagrangians or in lists."""
        lists = [self.let, *(getattr(x, "let", x) for x in others)]
        return tuple(dict.fromkeys(pair for let in lists for pair in let))

    def named(self, expressions):
        """Symbols for them, which ``let`` defines."""
        symbols = [dummy("c") for _ in expressions]
        self.let += zip(symbols, expressions, strict=True)
        return symbols

    def q1(self, h):
        """Where the step arrives, q + h v1."""
        return self.system.moved(self.q, self.v1, h)

    def arrived(self, h):
        """Abbreviations for the new position and g there, over h to compare with velocities."""
        let = [(dummy(f"{s.name}_1"), e) for s, e in zip(self.q, self.q1(h), strict=True)]
        there = dict(zip((*self.q, self.t), [*(x for x, _ in let), self.t + h], strict=True))
        place = Place(self.system.short, there, let)
        return let, [place(g) / h for g in self.system.short.holonomic]


@dataclass(frozen=True)
class Method:
    """An integrator as a value.  ``order``, ``keeps`` and ``loses`` say what to expect."""

    variable_step: ClassVar[bool] = False
    discrete: ClassVar[bool] = True  # made from a discrete Lagrangian
    frame: ClassVar[type] = Frame
    keeps: ClassVar[tuple] = ()
    loses: ClassVar[tuple] = ()

    def __post_init__(self):
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "symmetric" and not isinstance(value, bool):
                raise ValueError(f"symmetric = {value!r} must be True or False")
            if f.name.endswith("alpha") and not (value is None and f.name == "constraint_alpha"):
                good = isinstance(value, numbers.Real) and not isinstance(value, bool)
                if not (good and 0 <= value <= 1):
                    raise ValueError(
                        f"{f.name} = {value!r} must be a number in [0, 1]; 1/2 is the midpoint rule"
                    )
                object.__setattr__(self, f.name, float(value))

    def __repr__(self):
        """As one would write the call: alpha always, the rest where it is not the default."""
        said = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        said = [f"{k}={x!r}" for k, x, default in said if k == "alpha" or x != default]
        return f"{type(self).__name__}({', '.join(said)})"

    @property
    def order(self):
        """2 for the midpoint and the symmetric rule, else 1 (CM01 section 4)."""
        return 2 if self.symmetric or self.alpha == 0.5 else 1

    # ---- what a subclass states

    def check(self, system):
        """Raise ValueError if the method cannot treat the system."""

    def code_key(self):
        """What of the method shapes the generated text: of an alpha, whether there is one."""
        options = ((f.name.endswith("alpha"), getattr(self, f.name)) for f in fields(self))
        return (type(self).__name__, *(x is None if alpha else x for alpha, x in options))

    def layout(self, system):
        """The parts of a stored row.  Without a discrete Lagrangian there is no p."""
        n, m = len(system.v), system.m
        evolved = {"p": n, "v": n} if self.discrete else {"v": n}
        return Layout({"q": len(system.q), **evolved, "lam": m})

    def arguments(self, system, shares):
        """Values of the statement's args: of the alphas, the parameters and the shares."""
        alphas = (getattr(self, f.name) for f in fields(self) if f.name.endswith("alpha"))
        return (*(x for x in alphas if x is not None), *system.parameters.values(), *shares)

    def start_momentum(self, system, t, q, v, h):
        """The momentum that arrives at q0 (EQUATIONS: starting from (q0, v0))."""
        return system.momentum(q, v, t)

    def arriving(self, system, t, q, p_minus):
        """The momentum that would arrive at q, given the one that leaves it."""
        return p_minus

    # ---- generated code

    def program(self, system):
        about = {"definite": system.is_definite, "inputs": system.driven}
        key = (*self.code_key(), *about.values())
        return system.made(
            key,
            lambda: Program(f"{key}{system.key}", lambda: replace(self.statement(system), **about)),
        )

    def on_step(self, system, what, t, q, v, h):
        """Ld, p_minus, p_plus, E_minus, E_plus or constraints of steps (t, q, v, h)."""
        need(what, str, "what", "name")
        alpha = self.alpha
        if what == "constraints" and getattr(self, "constraint_alpha", None) is not None:
            alpha = self.constraint_alpha
        key = ("on_step", self.frame, self.symmetric, what)
        f = system.made(key, lambda: self._step_function(system, what))
        return f(t, q, v, h, alpha, *system.parameters.values())

    def _step_function(self, system, what):
        s = self.frame(system)
        Ld = s.discrete(self.symmetric)
        if what.startswith("_") or not hasattr(Ld, what):
            raise ValueError(f"what = {what!r} is no part of a discrete Lagrangian, as p_plus is")
        arguments, table = (s.t, s.q, s.v1, s.h, s.alpha, *s.parameters), getattr(Ld, what)
        return Function(arguments, table, Ld.let)


def velocity_scale(v, a, h):
    """The size of each velocity in the beginning, shape (..., n); 1 for a system at rest."""
    scale = np.maximum(np.abs(v), np.minimum(np.asarray(h)[..., None] * np.abs(a), 1e300))
    whole = scale.max(-1, keepdims=True)
    return np.where(whole > 0, np.maximum(scale, 1e-6 * whole), 1.0)


def velocity_shares(v, a, h):
    """The size of each velocity beside the largest, shape (..., n), for metres and radians may
    differ by any factor.

    Newton's corrections are measured by that share of the speed which the motion has (``Stage``):
    where h is large h a exceeds all speeds to come, but its components are in proportion.
    """
    scale = velocity_scale(v, a, h)
    return scale / scale.max(-1, keepdims=True)
