"""A mechanical system: coordinates, velocities, a Lagrangian, constraints and parameters."""

from __future__ import annotations

import hashlib
import math
import numbers
from functools import cached_property

import numpy as np
import sympy as sp

from ..codegen.careful import balanced, careful_step
from ..codegen.generate import Stage, Statement, dummy, evaluator
from ..codegen.program import Program
from .discrete import DiscreteLagrangian


def symbols(names, **assumptions):
    """Real symbols, so that derivatives of ``Abs`` and roots come out simple."""
    return sp.symbols(names, **{"real": True, **assumptions})


class System:
    r"""A Lagrangian system with constraints linear in the velocities.

    .. math:: \frac{d}{dt}\frac{\partial L}{\partial v} - \frac{\partial L}{\partial q}
              = A(q)^T \lambda, \qquad A(q)\, v = 0 \qquad\text{(CM01 (3), (4))}

    Parameters
    ----------
    q, v : sequences of n symbols, the coordinates and their velocities
    L : the Lagrangian, any regular expression in q, v, t and parameters
    constraints : expressions linear in v, each meant ``= 0``
    holonomic : expressions g(q), each meant ``= 0``
    parameters : symbol (or name) -> number; ``system.set(a=0.3)`` changes them without new code
    t : the symbol of time, if L or the constraints depend on it
    metric : n x n matrix that builds the projectors P, Q instead of M
    name, source : what it is called and where it comes from
    q0, v0 : a good initial condition; ``exact(system, t)``: its known solution, shape (..., n)

    Systems are values: nothing changes one after it is made.
    """

    full = None  # the system that a reduction was made from

    def __init__(self, q, v, L, constraints=(), holonomic=(), parameters=None, t=None,
                 metric=None, name="", *, source="", q0=None, v0=None, exact=None):  # fmt: skip
        self.q, self.v = _symbols(q, "q"), _symbols(v, "v")
        self._check_lengths()
        self.t = t if t is None else _symbols([t], "t")[0]
        names = [*self.q, *self.v, self.t]
        twice = sorted({str(s) for s in names if names.count(s) > 1})
        if twice:
            raise ValueError(f"q, v and t name {twice} more than once; give each its own symbol")
        self.L = _expression(L, "L")
        self.constraints = tuple(_expression(c, "constraints") for c in _rows(constraints))
        self.holonomic = tuple(_expression(g, "holonomic") for g in _rows(holonomic))
        self.metric = None if metric is None else _matrix(metric, "metric")
        self.name, self.source = name, source
        if not isinstance(parameters, (dict, type(None))):
            raise ValueError(f"parameters = {parameters!r} must map names to numbers: {{'m': 1.0}}")
        self.parameters = self._bind(parameters or {})
        self.q0, self.v0 = q0, v0
        self._exact = exact
        self._shared = {}  # generated code, shared by all settings of the parameters
        self._check()

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_mechanics(cls, L, q, constraints=(), **others):
        """A System from ``sympy.physics.mechanics`` dynamicsymbols and their derivatives."""
        from sympy.physics.mechanics import dynamicsymbols

        time = dynamicsymbols._t
        qs = tuple(_rows(q))
        for s in qs:
            if not isinstance(s, sp.core.function.AppliedUndef):
                raise ValueError(f"q: {s} is no dynamicsymbol; make it with dynamicsymbols('{s}')")
        coordinates = symbols([s.func.__name__ for s in qs])
        taken = {s.name for s in coordinates}
        velocities = []
        for s in qs:
            name = f"v{s.func.__name__}"
            while name in taken:
                name += "_"
            taken.add(name)
            velocities.append(symbols(name))
        t = others.pop("t", sp.Symbol("t", real=True))
        rates = {s.diff(time): u for s, u in zip(qs, velocities, strict=True)}
        places = dict(zip(qs, coordinates, strict=True))

        def plain(e):
            e = sp.sympify(e).doit().xreplace(rates).xreplace(places).xreplace({time: t})
            left = e.atoms(sp.Derivative) | e.atoms(sp.core.function.AppliedUndef)
            if left:
                raise ValueError(f"{sorted(map(str, left))} occur in L or the constraints but "
                                 "not in q; list every dynamicsymbol in q")  # fmt: skip
            return e

        L = plain(L)
        constraints = [plain(c) for c in _rows(constraints)]
        holonomic = [plain(g) for g in _rows(others.pop("holonomic", ()))]
        if others.get("metric") is not None:
            others["metric"] = sp.Matrix(others["metric"]).applyfunc(plain)
        if all(t not in e.free_symbols for e in [L, *constraints]):
            t = None
        return cls(coordinates, velocities, L, constraints, holonomic, t=t, **others)

    def set(self, **values):
        """The same system with some parameters changed, sharing the generated code."""
        by_name = {s.name: s for s in self.parameters}
        unknown = [k for k in values if k not in by_name]
        if unknown:
            known = ", ".join(by_name) or "none"
            raise ValueError(f"parameter {unknown[0]!r} is unknown here; this system has: {known}")
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)  # derived expressions and generated code hold for both
        new.__dict__.pop("is_definite", None)
        new.parameters = self.parameters | {
            by_name[k]: _number(x, f"parameter {k}") for k, x in values.items()
        }
        return new

    def _bind(self, given):
        """Parameters as a dict symbol -> float; every other symbol must be q, v or t."""
        free = set().union(*(e.free_symbols for e in self._expressions()))
        free -= {*self.q, *self.v, self.t}
        by_name = {}
        for s in free:
            if s.name in by_name:
                raise ValueError(f"two different symbols are called {s.name!r}; make each once, "
                                 "with nh.symbols, and use it everywhere")  # fmt: skip
            by_name[s.name] = s
        clash = {s.name for s in (*self.q, *self.v, self.t) if s is not None} & set(by_name)
        if clash:
            name = sorted(clash)[0]
            raise ValueError(f"{name} in L or the constraints is not the {name} of q, v or t: the "
                             "two symbols differ in their assumptions; make it once, with "
                             "nh.symbols, and use it everywhere")  # fmt: skip
        bound = {}
        for key, value in dict(given).items():
            name = getattr(key, "name", str(key))
            if name not in by_name:
                raise ValueError(f"parameters: {name!r} occurs neither in L nor in the "
                                 f"constraints; unbound there: {sorted(by_name)}")  # fmt: skip
            bound[by_name[name]] = _number(value, f"parameters[{name!r}]")
        unbound = sorted(s.name for s in free - set(bound))
        if unbound:
            remedy = f"add parameters={{{unbound[0]!r}: number}}"
            remedy += ", or t=t if it is the time" if "t" in unbound and self.t is None else ""
            raise ValueError(f"{unbound} occur in L or the constraints but are neither q, v, t nor "
                             f"parameters; {remedy}")  # fmt: skip
        return dict(sorted(bound.items(), key=lambda item: item[0].name))

    def _expressions(self):
        return (self.L, *self.constraints, *self.holonomic, *(self.metric or ()))

    def _check_lengths(self):
        if len(self.q) != len(self.v):
            raise ValueError(f"q has {len(self.q)} symbols but v has {len(self.v)}: give each "
                             "coordinate one velocity")  # fmt: skip

    def _check(self):
        """Refuse what the methods cannot treat, naming it."""
        n, m = len(self.v), len(self.constraints) + len(self.holonomic)
        zero = dict.fromkeys(self.v, sp.S.Zero)
        for c in self.constraints:
            slopes = [c.diff(u) for u in self.v]
            if any(not a.free_symbols.isdisjoint(self.v) for a in slopes):
                slopes = [sp.simplify(a) for a in slopes]
            if any(not a.free_symbols.isdisjoint(self.v) for a in slopes):
                raise ValueError(f"constraint {c} is not linear in the velocities; nhlab treats "
                                 "constraints of the form A(q) v = 0")  # fmt: skip
            if sp.simplify(c.xreplace(zero)) != 0:
                raise ValueError(f"constraint {c} is affine, not linear: it has the part "
                                 f"{c.xreplace(zero)} without a velocity; if it is g(q) = 0, pass "
                                 "it as holonomic")  # fmt: skip
        for g in self.holonomic:
            if not g.free_symbols.isdisjoint({*self.v, self.t}):
                raise ValueError(f"holonomic constraint {g} must depend on q alone; pass "
                                 "constraints on velocities as constraints")  # fmt: skip
        if m >= n + 1:
            raise ValueError(f"{m} constraints on {n} coordinates leave nothing to move")
        if self.metric is not None and self.metric.shape != (n, n):
            raise ValueError(f"metric has shape {self.metric.shape}, expected {(n, n)}")
        with np.errstate(all="ignore"):
            q, v, t = self._samples()
            M = self._evaluate("M", q, v, t)
            M = M[np.isfinite(M).all((1, 2))]
            if len(M) and all(np.linalg.cond(balanced(x)) > 1e13 for x in M):
                raise ValueError(f"L = {self.L} is singular: its Hessian in the velocities has no "
                                 "inverse; every velocity needs a kinetic term")  # fmt: skip
            if self.metric is not None:
                G = self._evaluate("G", q, v, t)
                if not np.allclose(G, np.swapaxes(G, 1, 2)) or any(
                    np.linalg.cond(balanced(x)) > 1e13 for x in G
                ):
                    raise ValueError(f"metric = {self.metric} must be symmetric and invertible")
            A = self._evaluate("A", q, v, t)
            A = A[np.isfinite(A).all((1, 2))]
            if m and len(A) and all(rank(x) < m for x in A):
                raise ValueError(f"the constraints {list(map(str, self.constraints))} + "
                                 f"{list(map(str, self.holonomic))} are dependent: rank "
                                 f"{rank(A[0])} of {m}; drop the "
                                 "redundant ones")  # fmt: skip

    def _samples(self, count=5):
        """Fixed generic points, away from the origin and from multiples of pi/2."""
        rng = np.random.default_rng(2001)
        n = len(self.q)
        return rng.uniform(0.3, 1.2, (count, n)), rng.uniform(0.3, 1.2, (count, n)), 0.7

    # ------------------------------------------------------------------ identity and display

    def __repr__(self):
        values = "".join(f", {s}={x:g}" for s, x in self.parameters.items())
        return f"<System {self.name or 'unnamed'}: q = ({', '.join(map(str, self.q))}){values}>"

    def _repr_latex_(self):
        dots = {u: rf"\dot{{{sp.latex(s)}}}" for s, u in zip(self.q, self.v, strict=True)}
        rows = [f"L &= {sp.latex(self.L, symbol_names=dots)}"]
        rows += [f"{sp.latex(c, symbol_names=dots)} &= 0" for c in self.constraints]
        rows += [f"{sp.latex(g)} &= 0" for g in self.holonomic]
        return r"$\displaystyle \begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}$"

    def __reduce__(self):
        names = ("q", "v", "L", "constraints", "holonomic", "parameters", "t", "metric", "name")
        extra = {"source": self.source, "q0": self.q0, "v0": self.v0, "exact": self._exact}
        return _rebuild, (type(self), tuple(getattr(self, k) for k in names), extra)

    def __eq__(self, other):
        if not isinstance(other, System):
            return NotImplemented
        return self.key == other.key and self.parameters == other.parameters

    def __hash__(self):
        return hash((self.key, tuple(sorted((s.name, x) for s, x in self.parameters.items()))))

    @cached_property
    def key(self):
        """A digest of the formulas, not of the numbers; it names the generated code."""
        parts = (self.q, self.v, self.t, self.L, self.constraints, self.holonomic, self.metric,
                 tuple(self.parameters))  # fmt: skip
        return hashlib.sha256(sp.srepr(parts).encode()).hexdigest()

    # ------------------------------------------------------------------ symbolic parts

    @cached_property
    def symbolic(self):
        """The derived expressions: L_q, L_v, L_t, M, V, A, Dg, E, as nested tuples."""
        return Symbolic(self)

    @property
    def degrees(self):
        """Names of the degrees of freedom: the coordinates', or the velocities' if they differ."""
        return [s.name for s in (self.q if len(self.q) == len(self.v) else self.v)]

    def rate(self, q, v):
        """Expressions for dq/dt; with body velocities these are not v."""
        return list(v)

    def configuration(self, q, name="q", near=None, axes=0):
        """q as the caller gave it, in coordinates; kinds of systems with others translate here."""
        return q

    def moved(self, q, v, h):
        """Expressions for the place where a step h with velocity v arrives."""
        return [x + h * u for x, u in zip(q, v, strict=True)]

    def discretise(self, t, q, v, h, alpha, symmetric):
        """The discrete Lagrangian of a step h with velocity v from (t, q)."""
        return DiscreteLagrangian(self, t, q, v, h, alpha, symmetric)

    @cached_property
    def is_mechanical(self):
        """True if L = v.M(q).v/2 + b(q).v - V(q)."""
        entries = [e for row in self.symbolic.M for e in row]
        return all(e.free_symbols.isdisjoint(self.v) for e in entries)

    @cached_property
    def is_definite(self):
        """True if M is positive definite (at generic points), as of a kinetic energy."""
        with np.errstate(all="ignore"):
            M = self._evaluate("M", *self._samples())
        return bool(np.isfinite(M).all() and (np.linalg.eigvalsh(M)[..., 0] > 0).all())

    @property
    def is_autonomous(self):
        return self.t is None

    def is_holonomic(self):
        """Frobenius: True if the constraints are integrable, tested at generic points.

        D is integrable iff the two-forms of the rows vanish on it: dA_a(X, Y) = 0 for X, Y in D.
        """
        if not self.constraints:
            return True
        rows, curl = self._curl()
        q, v, t = self._samples()
        k, m = len(rows[0]), len(rows)
        forms = self._array("rows", [e for r in rows for e in r], (m, k), q, v, t)
        curls = self._array("curl", curl, (m, k, k), q, v, t)
        for A, dA in zip(forms, curls, strict=True):
            basis = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
            twist = np.einsum("xi,aij,yj->axy", basis, dA, basis)
            if np.abs(twist).max(initial=0) > 1e-9 * (1 + np.abs(dA).max()):
                return False
        return True

    def _curl(self):
        """The rows of the constraints, and their exterior derivatives in one list."""
        x = (*self.q,) if self.t is None else (self.t, *self.q)
        rows = [(*((sp.S.Zero,) if self.t is not None else ()), *row) for row in self.symbolic.A]
        k = range(len(x))
        return rows, [r[j].diff(x[i]) - r[i].diff(x[j]) for r in rows for i in k for j in k]

    # ------------------------------------------------------------------ numbers

    def _evaluate(self, what, q, v=None, t=0.0):
        part = getattr(self.symbolic, what)
        shape, flat = (), [part]
        while isinstance(flat[0] if flat else None, tuple):
            shape += (len(flat[0]),)
            flat = [e for row in flat for e in row]
        if isinstance(part, tuple) and not part:
            shape, flat = ((0, len(self.v)) if what in ("A", "Dg") else (0,)), []
        return self._array(what, flat, shape, q, v, t)

    def _array(self, key, expressions, shape, q, v, t):
        """Values of expressions over arrays of states, shape (..., *shape)."""
        if key not in self._shared:
            time = self.t or dummy("t")
            arguments = (time, *self.q, *self.v, *self.parameters)
            self._shared[key] = evaluator(arguments, expressions)
        q = self._states(q, "q")
        v = np.zeros(len(self.v)) if v is None else self._states(v, "v")
        batch = np.broadcast(q[..., 0], v[..., 0], t).shape
        states = (*columns(q), *columns(v))
        values = self._shared[key](np.asarray(t, float), *states, *self.parameters.values())
        return joined(values, batch).reshape((*batch, *shape))

    def _states(self, x, name):
        """x as an array of positions (name "q") or of velocities or momenta ("v", "p")."""
        symbols = self.q if name == "q" else self.v
        try:
            x = np.asarray(x, float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} = {x!r} is not an array of numbers") from None
        if x.ndim == 0 or x.shape[-1] != len(symbols):
            raise ValueError(f"{name} has shape {x.shape}; its last axis must have length "
                             f"{len(symbols)}, one entry for each of {symbols}")  # fmt: skip
        return x

    def move(self, q, v, h):
        """Where a step h with velocity v arrives, shape (..., len(q)); h negative: its start."""
        return np.asarray(q, float) + np.asarray(h)[..., None] * v

    def velocity_between(self, q0, q1, h):
        """The velocity whose step h leads from q0 to q1."""
        return (np.asarray(q1, float) - q0) / np.asarray(h)[..., None]

    def M(self, q, v=None, t=0.0):
        """The mass matrix d2L/dv2, shape (..., n, n); v matters only if L is not mechanical."""
        return self._evaluate("M", q, v, t)

    def V(self, q, t=0.0):
        """The potential, -L at v = 0."""
        return self._evaluate("V", q, None, t)

    def A(self, q, t=0.0):
        """The rows of all constraint one-forms, holonomic ones last, shape (..., m, n)."""
        return self._evaluate("A", q, None, t)

    def g(self, q):
        """The holonomic constraint functions, shape (..., l)."""
        return self._evaluate("g", q)

    def energy(self, q, v, t=0.0):
        """v.dL/dv - L, shape (...)."""
        return self._evaluate("E", q, v, t)

    def momentum(self, q, v, t=0.0):
        """The Legendre map p = dL/dv, shape (..., n)."""
        return self._evaluate("L_v", q, v, t)

    def velocity(self, q, p, t=0.0):
        """The inverse Legendre map: v with dL/dv(q, v) = p."""
        p = self._states(p, "p")
        if self.is_mechanical:
            shift = self.momentum(q, np.zeros_like(p), t)
            return np.linalg.solve(self.M(q, None, t), (p - shift)[..., None])[..., 0]
        v, part = np.zeros_like(p), np.ones((*p.shape[:-1], 1))
        with np.errstate(all="ignore"):
            gap = self.momentum(q, v, t) - p
            for _ in range(100):  # Newton, each step halved until it brings the momentum nearer
                d = np.linalg.solve(self.M(q, v, t), gap[..., None])[..., 0]
                new = self.momentum(q, v - part * d, t) - p
                better = np.linalg.norm(new, axis=-1) <= np.linalg.norm(gap, axis=-1)
                better = better[..., None]
                v, gap = np.where(better, v - part * d, v), np.where(better, new, gap)
                part = np.where(better, np.minimum(1, 2 * part), part / 2)
                if np.all(np.abs(d) <= 1e-12 * (1 + np.abs(v))):
                    return v
        raise ValueError("the Legendre map of this L could not be inverted at these momenta")

    def G(self, q, t=0.0):
        """The metric of the projectors: ``metric`` if one was given, else M."""
        if self.metric is not None:
            return self._evaluate("G", q, None, t)
        if not self.is_mechanical:
            raise ValueError("M depends on the velocities, so it defines no projectors; give the "
                             "system a metric")  # fmt: skip
        return self.M(q, None, t)

    def Q(self, q, t=0.0):
        """The projector on the complement of D: G^-1 A^T (A G^-1 A^T)^-1 A, FIM08 section 2."""
        A = self.A(q, t)
        Z = np.linalg.solve(self.G(q, t), np.swapaxes(A, -1, -2))
        return Z @ np.linalg.solve(A @ Z, A)

    def P(self, q, t=0.0):
        """The projector on D, I - Q."""
        return np.eye(len(self.v)) - self.Q(q, t)

    def project(self, q, v, t=0.0):
        """The velocity of D nearest to v, P(q) v."""
        return np.einsum("...ij,...j->...i", self.P(q, t), self._states(v, "v"))

    def acceleration(self, q, v, t=0.0):
        """The acceleration of the constrained motion, multipliers eliminated."""
        return self._motion(q, v, t)[..., : len(self.v)]

    def multipliers(self, q, v, t=0.0):
        """The continuous multipliers lambda of d/dt L_v - L_q = A^T lambda, shape (..., m)."""
        return self._motion(q, v, t)[..., len(self.v) :]

    def exact(self, t):
        """The known solution from (q0, v0), shape (..., n), where there is one."""
        if self._exact is None:
            raise ValueError(f"no closed solution is known for {self!r}; use nh.Reference()")
        if np.abs(self.A(self.q0) @ np.array(self.v0, float)).max(initial=0) > 1e-9:
            raise ValueError("v0 does not satisfy the constraints with these parameters; make the "
                             "system anew instead of changing it with set")  # fmt: skip
        return self._exact(self, np.asarray(t, float))

    # ------------------------------------------------------------------ the equations of motion

    def motion_stage(self, t, q, v, let=()):
        """The linear equations for (a, lambda) at (t, q, v), as a Stage: M a + L_vq q' + L_vt
        - f = A^T lambda and d/dt (A v) = 0."""
        S, n, m = self.symbolic, len(self.v), len(self.symbolic.A)
        a, lam = _dummies("a", n), _dummies("lam", m)
        here = dict(zip((*self.q, *self.v), (*q, *v), strict=True))
        if self.t is not None:
            here[self.t] = t
        rate = [_rate(self, e) for e in S.L_v]
        equations = [
            _dot([e.xreplace(here) for e in S.M[i]], a)
            + (rate[i] - S.f[i]).xreplace(here)
            - _dot([S.A[k][i].xreplace(here) for k in range(m)], lam)
            for i in range(n)
        ]
        for row in S.A:
            drift = sum(_rate(self, e) * u for e, u in zip(row, self.v, strict=True))
            equations.append(
                _dot([e.xreplace(here) for e in row], a) + sp.sympify(drift).xreplace(here)
            )
        return Stage((*a, *lam), tuple(equations), (sp.S.Zero,) * (n + m), let)

    def motion_statement(self):
        """(q, v) -> (q', a, lambda): the right-hand side of the equations of motion."""
        time = self.t or dummy("t")
        stage = self.motion_stage(time, self.q, self.v)
        carry = (*self.q, *self.v)
        return Statement(time, dummy("h"), carry, tuple(self.parameters), (stage,),
                         (*self.rate(self.q, self.v), *stage.unknowns),
                         definite=self.is_definite)  # fmt: skip

    @property
    def motion_program(self):
        key = ("motion", self.is_definite)
        if key not in self._shared:
            self._shared[key] = Program(f"{key}{self.key}", self.motion_statement)
        return self._shared[key]

    def _motion(self, q, v, t):
        q, v, t = self._states(q, "q"), self._states(v, "v"), np.asarray(t, float)
        batch = np.broadcast(q[..., 0], v[..., 0], t).shape
        if not batch:
            return np.array(self.motion(float(t), [*q.tolist(), *v.tolist()])[len(self.q) :])
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        with np.errstate(all="ignore"):
            states = (*columns(q), *columns(v))
            ok, _, *values = self.motion_program.numpy(t, 0.0, *states, *self.parameters.values())
        out = joined(values, batch)
        for k in map(tuple, np.argwhere(~np.broadcast_to(ok, batch))):
            out[k] = self.motion_carefully(np.broadcast_to(t, batch)[k], [*q[k], *v[k]])
        return out[..., len(self.q) :]

    def motion(self, t, y):
        """(q', a, lambda) at one state y = (q, v), of floats; ValueError where there is none."""
        ok, *values = self.motion_program.one_step(t, 0.0, *y, *self.parameters.values())
        return values[1:] if ok else self.motion_carefully(t, y)

    def motion_carefully(self, t, y):
        """The same with pivoting."""
        values = list(self.parameters.values())
        attempt = careful_step(self.motion_program.statement, t, 1.0, y, values)
        if not attempt.ok:
            raise ValueError(f"the equations of motion have no solution at q = "
                             f"{np.array(y[: len(self.q)])}: they are singular there (dependent "
                             "constraints, M without inverse, or L not finite)")  # fmt: skip
        return attempt.carry


class Symbolic:
    """Expressions derived from a System, each made when first asked for."""

    def __init__(self, system):
        self.system = system

    @cached_property
    def L_q(self):
        return tuple(self.system.L.diff(s) for s in self.system.q)

    @cached_property
    def f(self):
        """The right-hand side of d/dt L_v = f + A^T lambda; other kinds of systems add to L_q."""
        return self.L_q

    @cached_property
    def L_v(self):
        """dL/dv; as M v + b where it is linear in v, for then most of it is known already."""
        L, v = self.system.L, self.system.v
        momenta = [L.diff(u) for u in v]
        if self.system.is_mechanical:
            rest = dict.fromkeys(v, sp.S.Zero)
            shift = [e.xreplace(rest) for e in momenta]
            momenta = [_dot(row, v) + b for row, b in zip(self.M, shift, strict=True)]
        return tuple(momenta)

    @cached_property
    def L_t(self):
        return sp.S.Zero if self.system.t is None else self.system.L.diff(self.system.t)

    @cached_property
    def M(self):
        v = self.system.v
        return tuple(tuple(self.system.L.diff(u).diff(w) for w in v) for u in v)

    @cached_property
    def V(self):
        return -self.system.L.xreplace(dict.fromkeys(self.system.v, sp.S.Zero))

    @cached_property
    def E(self):
        """v.L_v - L, which is v.M.v/2 + V where L_v is linear in v."""
        v, M = self.system.v, self.M
        if not self.system.is_mechanical:
            return _dot(v, self.L_v) - self.system.L
        pairs = ((i, j) for i in range(len(v)) for j in range(i + 1))
        return sum((M[i][j] * v[i] * v[j] / (1 + (i == j)) for i, j in pairs), self.V)

    @cached_property
    def A_d(self):
        """Rows of the velocity constraints alone."""
        return tuple(tuple(c.diff(u) for u in self.system.v) for c in self.system.constraints)

    @cached_property
    def Dg(self):
        return tuple(tuple(g.diff(s) for s in self.system.q) for g in self.system.holonomic)

    @cached_property
    def A(self):
        return self.A_d + self.Dg

    @cached_property
    def g(self):
        return self.system.holonomic

    @cached_property
    def G(self):
        if self.system.metric is None:
            return self.M
        n = len(self.system.v)
        return tuple(tuple(self.system.metric[i, j] for j in range(n)) for i in range(n))


def columns(x):
    """The components of an array of vectors, x[..., 0], x[..., 1], ..."""
    return [x[..., k] for k in range(x.shape[-1])]


def joined(values, batch):
    """The opposite of ``columns``, of numbers too: an array of shape (*batch, len(values))."""
    out = np.empty((*batch, len(values)))
    for k, x in enumerate(values):
        out[..., k] = x
    return out


def rank(A):
    """The number of independent rows, of one matrix or of each of a batch."""
    if A.shape[-2] < 2:  # quickly
        return (A != 0).any(-1).sum(-1)
    rows = A / np.maximum(np.linalg.norm(A, axis=-1, keepdims=True), 1e-300)
    return np.linalg.matrix_rank(rows, rtol=1e-10)


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), sp.S.Zero)


def _dummies(hint, count):
    return tuple(dummy(f"{hint}{k}") for k in range(count))


def _rate(system, e):
    """The part of de/dt that does not contain accelerations: e_q v + e_t."""
    rate = _dot([e.diff(s) for s in system.q], system.rate(system.q, system.v))
    return rate if system.t is None else rate + e.diff(system.t)


def _rows(x):
    return list(x) if isinstance(x, (list, tuple, sp.MatrixBase)) else [x]


def _symbols(given, name):
    found = tuple(given) if isinstance(given, (list, tuple, sp.MatrixBase)) else (given,)
    for s in found:
        if not isinstance(s, sp.Symbol):
            raise ValueError(f"{name}: {s!r} is no SymPy symbol; make symbols with nh.symbols, or "
                             "use System.from_mechanics for dynamicsymbols")  # fmt: skip
    if not found:
        raise ValueError(f"{name} is empty: a system needs at least one coordinate")
    return found


def _expression(e, name):
    try:
        e = sp.sympify(e)
    except sp.SympifyError:
        raise ValueError(f"{name} = {e!r} is not a SymPy expression") from None
    if isinstance(e, sp.Equality):
        e = e.lhs - e.rhs
    if not isinstance(e, sp.Expr) or e.is_Matrix:
        raise ValueError(f"{name} = {e!r} is not a scalar SymPy expression")
    unknown = e.atoms(sp.core.function.AppliedUndef) | e.atoms(sp.Derivative)
    if unknown:
        raise ValueError(f"{name} contains {sorted(map(str, unknown))}: write functions out, and "
                         "use System.from_mechanics for dynamicsymbols")  # fmt: skip
    if e.has(sp.I):
        raise ValueError(f"{name} = {e} is not real: it contains the imaginary unit")
    return e


def _matrix(rows, name):
    try:
        return sp.ImmutableMatrix(rows)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {rows!r} is not a matrix; give its rows as lists") from None


def _number(x, name):
    try:
        real = isinstance(x, numbers.Real) or (isinstance(x, sp.Expr) and x.is_real)
        if real and math.isfinite(float(x)):
            return float(x)
    except (OverflowError, TypeError):
        pass
    raise ValueError(f"{name} = {x!r} must be a finite number")


def _rebuild(cls, values, extra):
    return cls(*values, **extra)
