"""The printed equations evaluated a second time, with nothing of nhlab but a System's formulas.

``discrete(system, method)`` writes Ld and wd as functions of the two end points (t0, q0, t1, q1)
and lets SymPy differentiate them by slot.  nhlab works with (t0, q0, v, h) and momenta instead.
"""

from functools import cache, lru_cache

import numpy as np
import sympy as sp

EPS = np.finfo(float).eps


def numeric(arguments, expressions):
    """A function of arrays for a nested list of expressions, shape (..., *shape of the list).

    Each argument is a symbol, given as an array (...), or a tuple of symbols, as (..., n).
    """
    table = sp.Array(expressions)
    flat = [x for a in arguments for x in (a if isinstance(a, tuple) else (a,))]
    plain = {x: sp.Dummy() for x in flat}  # a coordinate may be called sqrt
    entries = [e.xreplace(plain) for e in sp.flatten(table)]
    f = sp.lambdify([*plain.values()], entries, "numpy", cse=True)

    def values(*given):
        columns = []
        for a, x in zip(arguments, given, strict=True):
            columns.extend(np.moveaxis(np.asarray(x), -1, 0) if isinstance(a, tuple) else [x])
        columns = np.broadcast_arrays(*columns)
        parts = [np.broadcast_to(x, columns[0].shape) for x in f(*columns)]
        return np.stack(parts, -1).reshape((*columns[0].shape, *table.shape))

    return values


def gradient(e, q):
    return [sp.diff(e, x) for x in q]


class Discrete:
    """Ld, wd and g of one rule as functions of (t0, q0, t1, q1), and their slot derivatives.

    D1, D2, D3, D4 are the derivatives of Ld by t0, q0, t1, q1, as C03 numbers them; CM01 and FIM08
    call D2 and D4 here D1 and D2.
    """

    def __init__(self, system, symmetric):
        n, values = len(system.q), numbers(system)
        alpha, beta, t0, t1 = sp.symbols("alpha beta t0 t1")  # beta: of the constraint
        q0, q1 = (tuple(sp.Symbol(f"q{k}_{i}", real=True) for i in range(n)) for k in (0, 1))
        h = t1 - t0
        self.arguments = (alpha, beta, t0, q0, t1, q1)

        def at(e, a):
            place = {s: (1 - a) * a0 + a * a1 for s, a0, a1 in zip(system.q, q0, q1, strict=True)}
            place |= {u: (a1 - a0) / h for u, a0, a1 in zip(system.v, q0, q1, strict=True)}
            if system.t is not None:
                place[system.t] = (1 - a) * t0 + a * t1
            return sp.sympify(e).xreplace(values).subs(place, simultaneous=True)

        def rule(e, a):
            return (at(e, a) + at(e, 1 - a)) / 2 if symmetric else at(e, a)

        Ld = rule(h * system.L, alpha)
        wd = [rule(c, beta) for c in system.constraints]
        g = [at(e, 1) for e in system.holonomic]  # at the end point, as in CM01 (8), (17)
        self.expressions = {
            "Ld": lambda: Ld,
            "D1": lambda: sp.diff(Ld, t0),
            "D2": lambda: gradient(Ld, q0),
            "D3": lambda: sp.diff(Ld, t1),
            "D4": lambda: gradient(Ld, q1),
            "D2D4": lambda: [gradient(e, q1) for e in gradient(Ld, q0)],  # CM01's D1D2Ld
            "D4D4": lambda: [gradient(e, q1) for e in gradient(Ld, q1)],
            "wd": lambda: wd or [sp.S.Zero],
            "D2wd": lambda: [gradient(e, q0) for e in wd],
            "D4wd": lambda: [gradient(e, q1) for e in [*wd, *g]],
        }

    @cache  # noqa: B019 (an instance lives as long as the tests)
    def function(self, name):
        return numeric(self.arguments, self.expressions[name]())


class Bound:
    """A Discrete with its alpha and beta: ``Ld.D2(t0, q0, t1, q1)``."""

    def __init__(self, discrete, alpha, beta):
        self.discrete, self.weights = discrete, (alpha, beta)

    def __getattr__(self, name):
        f = self.discrete.function(name)
        return lambda *step: f(*self.weights, *step)


_discrete = cache(Discrete)


def discrete(system, method):
    """The discrete Lagrangian and constraints of a method."""
    beta = getattr(method, "constraint_alpha", None)
    beta = method.alpha if beta is None else beta
    return Bound(_discrete(system, method.symmetric), method.alpha, beta)


class Formulas:
    """The tables below as functions of (t, q, v), the parameters as they are; v = 0 if not given.

    Rows of A and b are those of the constraints A v + b = 0, holonomic ones last.
    """

    def __init__(self, system):
        self.system, self.t, q, v = system, system.t or sp.Dummy("t"), system.q, system.v
        L, rows = system.L, list(system.constraints)

        def rate(e):
            """Along the motion, without the acceleration."""
            return sp.diff(e, self.t) + sum(sp.diff(e, x) * u for x, u in zip(q, v, strict=True))

        rows += [rate(g) for g in system.holonomic]
        self.m, rows = len(rows), rows or [sp.S.Zero]
        p, A = gradient(L, v), [gradient(c, v) for c in rows]
        self.tables = {
            "L": lambda: L,
            "L_t": lambda: sp.diff(L, self.t),
            "L_v": lambda: p,
            "L_q": lambda: gradient(L, q),
            "L_v_q": lambda: [gradient(e, q) for e in p],
            "L_v_rate": lambda: [rate(e) for e in p],
            "curl": lambda: (sp.Matrix(p).jacobian(q).T - sp.Matrix(p).jacobian(q)).tolist(),
            "E": lambda: energy(L, v),
            "E_q": lambda: gradient(energy(L, v), q),
            "M": lambda: sp.hessian(L, v).tolist(),
            "G": lambda: (sp.hessian(L, v) if system.metric is None else system.metric).tolist(),
            "dM": lambda: [[gradient(e, q) for e in row] for row in sp.hessian(L, v).tolist()],
            "A": lambda: A,
            "A_t": lambda: [[sp.diff(e, self.t) for e in row] for row in A],
            "dA": lambda: [[gradient(e, q) for e in row] for row in A],
            "A_v_q": lambda: [gradient(c, q) for c in rows],
            "A_rate_v": lambda: [rate(c) for c in rows],
            "b": lambda: [c.subs(dict.fromkeys(v, 0)) for c in rows],
            "wd": lambda: list(system.constraints) or [sp.S.Zero],
            "g": lambda: list(system.holonomic) or [sp.S.Zero],
        }

    def __getattr__(self, name):
        if name not in self.tables:
            raise AttributeError(name)
        s, table = self.system, self.tables[name]()
        scalar = isinstance(table, sp.Basic)
        f = numeric((self.t, s.q, s.v, *s.parameters), [table] if scalar else table)

        def values(t, q, v=None):
            v = np.zeros(len(s.v)) if v is None else v
            found = f(t, q, v, *s.parameters.values())
            return found[..., 0] if scalar else found

        setattr(self, name, values)
        return values

    def force(self, t, q, v, lam):
        return np.einsum("kai,ka->ki", self.A(t, q, v), lam) if self.m else 0 * v


def energy(L, v):
    """v.L_v - L; of an L quadratic in v without the terms b(q).v, which cancel: they may be large
    beside the others."""
    M = sp.hessian(L, v)
    if M.free_symbols.isdisjoint(v):
        return (sp.Matrix([v]) * M * sp.Matrix(v))[0] / 2 - L.subs(dict.fromkeys(v, 0))
    return sum(u * sp.diff(L, u) for u in v) - L


formulas = lru_cache(64)(Formulas)


def numbers(system):
    return {s: sp.Float(x, 17) for s, x in system.parameters.items()}


def steps(t, q):
    """The steps 0..N-2 and 1..N-1 of a path as (t0, q0, t1, q1)."""
    nodes = (t[:-2], q[:-2]), (t[1:-1], q[1:-1]), (t[2:], q[2:])
    return nodes[0] + nodes[1], nodes[1] + nodes[2]


def on_run(sol):
    """(Ld, the steps 0..N-2, the steps 1..N-1) of a run."""
    return discrete(sol.system, sol.method), *steps(sol.t, sol.q)


def inner(sol, name):
    """A function of ``formulas`` at the nodes that join two steps."""
    return getattr(formulas(sol.system), name)(sol.t[1:-1], sol.q[1:-1])


def force(sol):
    """A^T lam of the steps 1..N-1, at the nodes they leave."""
    lam = sol.lam[1:] if sol.lam.shape[1] else np.zeros((len(sol.lam) - 1, 1))
    return np.einsum("kai,ka->ki", inner(sol, "A"), lam)


class Terms:
    """The terms of the printed equations on a run, at the nodes that join two steps."""

    def __init__(self, sol):
        self.Ld, self.step0, self.step1 = on_run(sol)
        self.D1Ld, self.D2Ld = self.Ld.D2(*self.step1), self.Ld.D4(*self.step0)
        self.DEL = self.D1Ld + self.D2Ld
        self.wd, self.force = self.Ld.wd(*self.step1), force(sol)

    @property
    def DE(self):
        """The same as DEL for the times, C03 (5)."""
        return self.Ld.D1(*self.step1) + self.Ld.D3(*self.step0)


def projectors(M, A):
    """P, Q of FIM08 section 2 from explicit inverses: Q = M^-1 A^T (A M^-1 A^T)^-1 A."""
    W = np.linalg.inv(M)
    At = np.swapaxes(A, -1, -2)
    Q = W @ At @ np.linalg.inv(A @ W @ At) @ A
    return np.eye(M.shape[-1]) - Q, Q


def roundoff(sol):
    """What a momentum loses when it is recomputed from two stored nodes.

    Positions and times are stored to eps|q| and eps|t|, so (q1 - q0)/(t1 - t0) is known to
    eps (|q| + |v| t)/h, the momentum to M times that, and the energy to v times that.
    """
    M = np.abs(formulas(sol.system).M(sol.t, sol.q)).sum(-1).max()
    v = np.abs(sol.v_step).max()
    return 2 * EPS * M * (1 + np.abs(sol.q).max() + v * np.abs(sol.t).max()) / sol.h.min()


def dla_step(Ld, A, t, q, p, h, guess):
    """q1, lam with p + D1Ld(q, q1) = A^T lam and wd(q, q1) = 0, by Newton with the matrix (7)."""
    (m, n), d = A.shape, np.inf
    x = np.concatenate([guess, np.zeros(m)])
    while np.abs(d).max() > 1e-9:
        step = (t, q, t + h, x[:n])
        r = np.concatenate([Ld.D2(*step) + p - A.T @ x[n:], Ld.wd(*step)])
        matrix = np.block([[Ld.D2D4(*step), -A.T], [Ld.D4wd(*step), np.zeros((m, m))]])
        d = np.linalg.solve(matrix, r)
        x = x - d
    return x[:n], x[n:]


def dla(system, method, q0, q1, h, steps):
    """CM01 (6) solved the plain way, for the positions."""
    Ld, here = discrete(system, method), formulas(system)
    q, lam = [np.array(q0), np.array(q1)], []
    for k in range(1, steps):
        p = Ld.D4(h * (k - 1), q[k - 1], h * k, q[k])
        q2, impulse = dla_step(Ld, here.A(h * k, q[k]), h * k, q[k], p, h, 2 * q[k] - q[k - 1])
        q.append(q2)
        lam.append(impulse)
    return np.array(q), np.array(lam)
