r"""Reduction by an abelian group that translates fibre coordinates s: the system on r = q mod s.

Two conditions fix the motion in the fibre, and so a discrete connection f(r0, r1) = s1 - s0: the
constraints (``Chaplygin``) or a conserved momentum J_d = mu (``Horizontal``).  All else is common.

.. math:: L_d^*(r_0,r_1) = l_d(r_0,r_1,f(r_0,r_1)), \qquad l_d(r_0,r_1,f) = L_d(r_0,0,r_1,f)

The fibre may also be the group factor of a ``GroupSystem``; then s1 = s0 f, and the momenta of the
fibre are the left-trivialised ones, which contain the translations by f of CM01 and C03.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import sympy as sp

from ..codegen.derivatives import jacobian
from ..codegen.evaluate import Function
from ..codegen.statement import dummy
from ..mechanics.checks import rank
from ..mechanics.symbolic import Symbolic
from ..mechanics.system import System
from ..methods import DLA
from ..run.trajectory import Trajectory


class Reduction(System):
    """What ``Chaplygin`` and ``Horizontal`` share: a System on Q/G with q = r, v = v_r.

    full : the system that was reduced;  base, fibre : symbols of r and s
    connection : m x k SymPy matrix A(r) of the continuous connection s' + A r' = 0 at the nodes
    """

    def __init__(self, full, base, fibre, name):
        if not isinstance(full, System):
            raise ValueError(f"system = {full!r} is not an nh.System")
        self.full, (self._r, self._s) = full, _split(full, base, fibre)
        self.base, self.fibre = ([full.q[i] for i in part] for part in (self._r, self._s))
        self._group = getattr(full, "group", None)
        self._vr = self._r  # the same places among the velocities
        self._vs = self._s if self._group is None else range(len(self._r), len(full.v))
        self.fibre_v = tuple(full.v[i] for i in self._vs)
        self._own = {}  # parameters of the reduction alone
        self._invariant()
        self._complementary()
        q0, v0 = self._own_start()
        super().__init__(
            self.base, [full.v[i] for i in self._vr], self._lagrangian(), self._rows_left(),
            full.holonomic, t=full.t, name=name or f"reduced {full.name}".strip(),
            source=full.source, q0=q0, v0=v0,
        )  # fmt: skip

    # ------------------------------------------------------------------ hypotheses

    def _invariant(self):
        """L, the constraints and g must not depend on s."""
        full = self.full
        if full.metric is not None:
            raise ValueError("reduction knows no metric of its own: make the system without "
                             f"metric = {full.metric}")  # fmt: skip
        groups = ("L", [full.L]), ("constraint", full.constraints), ("holonomic", full.holonomic)
        for what, expressions in groups:
            for e in expressions:
                for s in self.fibre:
                    if s in e.free_symbols and sp.simplify(e.diff(s)) != 0:
                        other = "" if what == "L" else f" {e}"
                        raise ValueError(
                            f"the {what}{other} of {full!r} depends on the fibre coordinate {s}, "
                            f"so translations of {s} are no symmetry of "
                            f"{'L' if what == 'L' else 'D'}; choose another fibre"
                        )

    def _generic(self, rows, columns):
        """The values of a block of a matrix part at generic points, those finite."""
        with np.errstate(all="ignore"):
            table = getattr(self.full.symbolic, rows)
            values = self.full.values(table, *self.full.samples())[..., columns]
        return values[np.isfinite(values).all((1, 2))]

    # ------------------------------------------------------------------ construction

    def _bind(self, given):
        return dict(sorted({**self.full.parameters, **self._own}.items(), key=lambda x: x[0].name))

    def _own_start(self):
        """(r0, v_r0) of the full system's own start."""
        full = self.full
        if full.q0 is None:
            return None, None
        v0 = None if full.v0 is None else tuple(full.v0[i] for i in self._vr)
        return tuple(full.q0[i] for i in self._r), v0

    def set(self, **values):
        """The same reduction with some parameters changed, in the full system too."""
        new = super().set(**values)
        known = {s.name for s in self.full.parameters}
        new.full = self.full.set(**{k: x for k, x in values.items() if k in known})
        return new

    def __repr__(self):
        values = "".join(f", {s}={x:g}" for s, x in self.parameters.items())
        names = ", ".join(map(str, self.base))
        return f"<{type(self).__name__} {self.name}: r = ({names}){values}>"

    def _repr_latex_(self):
        """With the motion in the fibre and the gyroscopic force."""
        dots = {u: rf"\dot{{{sp.latex(s)}}}" for s, u in zip(self.q, self.v, strict=True)}
        if self._group is None:
            dots |= {u: rf"\dot{{{sp.latex(s)}}}"
                     for s, u in zip(self.fibre, self.fibre_v, strict=True)}  # fmt: skip
        rows = list(zip(self.fibre_v, self.fibre_velocity, strict=True))
        rows += [
            (sp.Symbol(f"F_{s}"), e) for s, e in zip(self.q, self.gyroscopic, strict=True) if e
        ]
        more = [" &= ".join(sp.latex(x, symbol_names=dots) for x in row) for row in rows]
        end = r"\end{aligned}"
        return super()._repr_latex_().replace(end, r" \\ " + r" \\ ".join(more) + end)

    def __reduce__(self):
        return _rebuild, (type(self), self.full, self._options())

    def _options(self):
        """Keywords of the constructor, as names and numbers."""
        return {"base": [s.name for s in self.base], "fibre": [s.name for s in self.fibre],
                "name": self.name}  # fmt: skip

    @cached_property
    def key(self):
        parts = (type(self).__name__, self.full.key, *map(str, (*self.base, *self.fibre)),
                 *map(str, self.parameters))  # fmt: skip
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    # ------------------------------------------------------------------ symbolic parts

    @cached_property
    def symbolic(self):
        return ReducedSymbolic(self)

    @cached_property
    def fibre_velocity(self):
        """v_s as expressions in (t, r, v_r), a tuple."""
        J = [self.full.symbolic.L_v[i] for i in self._vs]
        return tuple(map(_tidy, _solve(self._conditions(self.full.constraints, J), self.fibre_v)))

    def on_D(self, e):
        """An expression of the full system with v_s eliminated."""
        return e.xreplace(dict(zip(self.fibre_v, self.fibre_velocity, strict=True)))

    @cached_property
    def curvature(self):
        """B[a, b, c] = d_b A^a_c - d_c A^a_b - [A_b, A_c]^a, shape (m, k, k)."""
        A, m = self.connection, len(self._vs)
        bracket = _no_bracket if self._group is None else self._group.bracket
        table = [[[A[a, c].diff(x) - A[a, b].diff(y) - bracket(A[:, b], A[:, c])[a]
                   for c, y in enumerate(self.q)] for b, x in enumerate(self.q)]
                 for a in range(m)]  # fmt: skip
        return sp.ImmutableDenseNDimArray(table).applyfunc(_tidy)

    @cached_property
    def gyroscopic(self):
        """The force of the reduced equations d/dt L*_v - L*_r, k x 1: L_a B[a, b, c] v^c on D.

        It does no work.  Where A depends on time, -L_a dA^a_b/dt comes along, which does.
        """
        L_s = [self.on_D(self.full.symbolic.L_v[i]) for i in self._vs]
        B, A, (m, k) = self.curvature, self.connection, self.connection.shape
        force = [sum(L_s[a] * (sum(B[a, b, c] * self.v[c] for c in range(k))
                               - (0 if self.t is None else A[a, b].diff(self.t)))
                     for a in range(m)) for b in range(k)]  # fmt: skip
        return sp.ImmutableMatrix([_tidy(e) for e in force])

    def discretise_reduced(self, t, q, v, h, alpha, symmetric):
        """The reduced discrete Lagrangian: the full system's with v_s eliminated."""
        return ReducedLagrangian(self, t, q, v, h, alpha, symmetric)

    # ------------------------------------------------------------------ between Q and Q/G

    def project(self, q, v=None, t=0.0):
        """r of positions q of the full system, shape (..., k), or of a Trajectory of it.

        With a velocity, ``project(r, v_r)`` is the one of D nearest to it, as for any System.
        """
        if v is not None:
            return super().project(q, v, t)
        return self.full.states(q.q if isinstance(q, Trajectory) else q, "q")[..., self._r]

    def lift(self, r, v, t=0.0):
        """The velocity of the full system over (r, v_r), shape (..., n)."""
        v_s = self.values(self.fibre_velocity, r, v, t)
        return self._join_v(np.broadcast_to(v, (*v_s.shape[:-1], len(self.v))), v_s)

    def start(self, q0, v0, t=0.0):
        """(r0, v_r0) for (q0, v0) of the full system, which must be a motion of this reduction."""
        q0, v0 = self.full.states(q0, "q"), self.full.states(v0, "v")
        r0, v_r0 = q0[..., self._r], v0[..., list(self._vr)]
        gap = np.abs(self.lift(r0, v_r0, t) - v0).max()
        if not gap <= 1e-9 * (1 + np.abs(v0).max()):
            raise ValueError(f"v0 = {v0} does not belong to {self!r}: its velocity in the fibre is "
                             f"off by {gap:.3g}; {self._remedy}")  # fmt: skip
        return r0, v_r0

    def reconstruct(self, sol, s0=None):
        """The full Trajectory over a run by RDLA or REDLA: s_k+1 = s_k + f(r_k, r_k+1).

        Complete with momenta and multipliers, as DLA or EDLA would have computed it from
        (r0, s0).  s0 : (m,), by default that of the full system's own q0, or 0.
        """
        method = getattr(sol.method, "full", None)
        if method is None:
            raise ValueError(f"{sol.method!r} has no reconstruction; integrate with nh.RDLA or "
                             "nh.REDLA")  # fmt: skip
        if sol.system != self:
            raise ValueError(f"this is a run of {sol.system!r}, not of {self!r}")
        if sol.every != 1:
            raise ValueError(f"every = {sol.every} left nodes out; integrate with every=1")
        full, t, h, r, v = self.full, sol.t[:-1], sol.h, sol.q, sol.rows.v
        v_s = self._fibre_steps(t, r[:-1], v[1:], h, method)
        v = self._join_v(v[1:], v_s)
        q = self._join(r, self._element(s0, "s0"))
        for k in range(len(h)):
            q[k + 1, self._s] = full.move(q[k], v[k], h[k])[self._s]
        p, p_minus = (method.on_step(full, x, t, q[:-1], v, h) for x in ("p_plus", "p_minus"))
        if sol.q1_given and len(v):
            v0, p0 = v[:1], p_minus[:1]
        else:
            v0 = self.lift(r[:1], sol.rows.v[:1], sol.t[:1])
            p0 = full.momentum(q[:1], v0, sol.t[:1])
        v, p = np.concatenate([v0, v]), np.concatenate([p0, p])
        lam = np.zeros((len(q), len(full.symbolic.A)))
        if lam.shape[1]:  # p_minus(k, k+1) = p_plus(k-1, k) - A^T lam
            At = np.swapaxes(full.A(q[:-1], t), -1, -2)
            lam[1:] = (np.linalg.pinv(At) @ (p[:-1] - p_minus)[..., None])[..., 0]
        parts = {"t": sol.t, "q": q, "p": p, "v": v, "lam": lam}
        if method.variable_step:
            parts |= {x: getattr(sol.rows, x) for x in ("h", "h_before", "e")}
        rows = method.layout(full).join(**parts)
        return Trajectory(full, method, rows, t0=sol.t0, h=sol.h0, message=sol.message,
                          q1_given=sol.q1_given)  # fmt: skip

    def _fibre_steps(self, t, r, v, h, method):
        """v_s of steps (t, r, v, h), shape (N, m)."""

        def make():
            time, h_, alpha = self.t or dummy("t"), dummy("h"), dummy("alpha")
            Ld = self.discretise_reduced(time, self.q, self.v, h_, alpha, method.symmetric)
            arguments = (time, self.q, self.v, h_, alpha, *self.parameters)
            return Function(arguments, Ld.v_s, Ld.let)

        f = self.generated(("fibre_steps", method.symmetric), make)
        return f(t, r, v, h, method.alpha, *self.parameters.values())

    def _join_v(self, v_r, v_s):
        v = np.empty((*v_s.shape[:-1], len(self.full.v)))
        v[..., list(self._vr)], v[..., list(self._vs)] = v_r, v_s
        return v

    def _join(self, r, s):
        q = np.empty((*np.broadcast_shapes(r.shape[:-1], s.shape[:-1]), len(self.full.q)))
        q[..., self._r], q[..., self._s] = r, s
        return q

    # ------------------------------------------------------------------ functions of two points

    # Each takes (r0, r1, h, alpha=0.5, symmetric=False, t=0.0), r0 and r1 of shape (..., k).

    def f(self, r0, r1, h, *rule, **options):
        """The discrete connection: s1 - s0 of a step from r0 to r1, or s0^-1 s1; (..., m)."""
        f = self._on_pair("f", r0, r1, h, *rule, **options)
        if self._group is None:
            return f
        v = self._join_v(0.0, f / np.asarray(h, float)[..., None])
        return self.full.move(self._join(np.asarray(r0, float), self._element()), v, h)[
            ..., self._s
        ]

    def Ld(self, *pair, **options):
        """The reduced discrete Lagrangian Ld*(r0, r1) = l_d(r0, r1, f(r0, r1)), shape (...)."""
        return self._on_pair("Ld", *pair, **options)[..., 0]

    def D1Ld(self, *pair, **options):
        """The derivative of Ld* by r0, shape (..., k)."""
        return self._on_pair("D1Ld", *pair, **options)

    def D2Ld(self, *pair, **options):
        """The derivative of Ld* by r1, shape (..., k)."""
        return self._on_pair("D2Ld", *pair, **options)

    def F_minus(self, *pair, **options):
        """dl_d/df (df/dr0 - A(r0)), for a group R_f A(r0); C03 Prop. 3.  Shape (..., k)."""
        return self._on_pair("F_minus", *pair, **options)

    def F_plus(self, *pair, **options):
        """dl_d/df (df/dr1 + A(r1)), for a group L_f A(r1); C03 Prop. 3.  Shape (..., k)."""
        return self._on_pair("F_plus", *pair, **options)

    def beta_0(self, *pair, **options):
        """-F_minus, as the poster writes it."""
        return -self.F_minus(*pair, **options)

    def beta_1(self, *pair, **options):
        """-F_plus, as the poster writes it."""
        return -self.F_plus(*pair, **options)

    def gyroscopic_force(self, r, v, t=0.0):
        """Values of ``gyroscopic``, shape (..., k)."""
        return self.values(list(self.gyroscopic), r, v, t)

    def connection_at(self, r, t=0.0):
        """Values of ``connection``, shape (..., m, k)."""
        return self.values(self.connection.tolist(), r, None, t)

    def curvature_at(self, r, t=0.0):
        """Values of ``curvature``, shape (..., m, k, k)."""
        return self.values(self.curvature.tolist(), r, None, t)

    def _on_pair(self, what, r0, r1, h, alpha=0.5, symmetric=False, t=0.0):
        f = self.generated(("pair", symmetric), lambda: self._pair(symmetric))[what]
        r0, r1 = self.states(r0, "q"), self.states(r1, "q")
        with np.errstate(all="ignore"):
            return f(t, r0, r1, h, alpha, *self.parameters.values())

    def _pair(self, symmetric):
        """Functions f, Ld* and the printed forces of (t, r0, r1, h, alpha), by name.

        Written from the formulas of the papers, not from the momenta that RDLA uses.
        """
        full, S = self.full, self.full.symbolic
        t, h, alpha = full.t or dummy("t"), dummy("h"), dummy("alpha")
        r0, r1 = self.q, tuple(dummy(f"{s.name}_1") for s in self.q)
        u = tuple(dummy(f"{s.name}_") for s in self.v)
        w = tuple(dummy(f"{s.name}_") for s in self.fibre_v)
        let = [(x, (b - a) / h) for x, a, b in zip(u, r0, r1, strict=True)]
        points = []
        for a in (alpha, 1 - alpha) if symmetric else (alpha,):
            r_a = [dummy(f"{s.name}_a") for s in r0]
            let += [(x, (1 - a) * b + a * c) for x, b, c in zip(r_a, r0, r1, strict=True)]
            here = dict(zip((*r0, *self.v, *self.fibre_v), (*r_a, *u, *w), strict=True))
            points.append(here if full.t is None else {**here, full.t: t + a * h})

        def mean(e):
            return sum(e.xreplace(here) for here in points) / len(points)

        l_d = h * mean(full.L)
        J = [mean(S.L_v[i]) for i in self._vs]  # dl_d/df, as f = h w
        p0, p1, more = J, J, []
        if self._group is not None:  # translated to the two ends of the step
            Ld = full.discretise(t, self._over(r0), self._both(u, w), h, alpha, symmetric)
            p0, p1 = ([p[i] for i in self._vs] for p in (Ld.p_minus, Ld.p_plus))
            more = Ld.let
        let += zip(w, _solve(self._conditions([mean(c) for c in full.constraints], J), w),
                   strict=True)  # fmt: skip
        let += more
        there = dict(zip(r0, r1, strict=True)) | ({} if self.t is None else {self.t: t + h})
        A0, A1 = self.connection, self.connection.xreplace(there)
        f = [h * x for x in w]
        df0, df1 = (jacobian(f, r, let)[0] for r in (r0, r1))
        k, m = len(r0), len(w)
        parts = {
            "f": f,
            "Ld": [l_d],
            "D1Ld": jacobian([l_d], r0, let)[0],
            "D2Ld": jacobian([l_d], r1, let)[0],
            "F_minus": [sum(J[a] * df0[a][b] - p0[a] * A0[a, b] for a in range(m))
                        for b in range(k)],
            "F_plus": [sum(J[a] * df1[a][b] + p1[a] * A1[a, b] for a in range(m))
                       for b in range(k)],
        }  # fmt: skip
        arguments = (t, tuple(r0), r1, h, alpha, *self.parameters)
        return {name: Function(arguments, e, let) for name, e in parts.items()}

    def _both(self, v_r, v_s):
        """The velocities of the full system, in its order."""
        at = dict(zip((*self._vr, *self._vs), (*v_r, *v_s), strict=True))
        return [at[i] for i in range(len(at))]

    def _over(self, r):
        """A position of the full system over r, its fibre part any symbols: nothing needs them."""
        at = dict(zip(self._r, r, strict=True))
        return [at.get(i, dummy(s.name)) for i, s in enumerate(self.full.q)]

    # ------------------------------------------------------------------ the discrete connection

    def _element(self, g=None, name="g"):
        """Group elements, shape (..., m); s0 is by default that of the full system's own start."""
        if g is None and name == "s0" and self.full.q0 is not None:
            g = [self.full.q0[i] for i in self._s]
        if self._group is not None:
            return self._group.element(self._group.identity if g is None else g, name)
        g = np.asarray(np.zeros(len(self._s)) if g is None else g, float)
        if g.ndim == 0 or g.shape[-1] != len(self._s):
            raise ValueError(f"{name} has shape {g.shape}; its last axis must have length "
                             f"{len(self._s)}, one entry for each of {self.fibre}")  # fmt: skip
        return g

    def _times(self, g, s):
        return g + s if self._group is None else self._group.multiply(g, s)

    def _inverse(self, g):
        return -g if self._group is None else self._group.inverse(g)

    def act(self, g, q):
        """g q: the fibre part of q moved by g; (q, act(g, q)) is a vertical element."""
        q = self.full.states(q, "q")
        return self._join(q[..., self._r], self._times(self._element(g), q[..., self._s]))

    def A_d(self, q0, q1, h, *rule, **options):
        """The discrete connection as a map to the group: g with (q0, g^-1 q1) horizontal.

        A_d(q0, g q1) = g A_d(q0, q1), DRP.  Shape (..., m).
        """
        q0, q1 = self.full.states(q0, "q"), self.full.states(q1, "q")
        f = self.f(q0[..., self._r], q1[..., self._r], h, *rule, **options)
        return self._times(q1[..., self._s], self._inverse(self._times(q0[..., self._s], f)))

    def alpha_Ad(self, q0, q1, h, *rule, **options):
        """(r0, r1, A_d(q0, q1)): the isomorphism of (Q x Q)/G with Q/G x Q/G x G, DRP."""
        return self.project(q0), self.project(q1), self.A_d(q0, q1, h, *rule, **options)

    def alpha_Ad_inverse(self, r0, r1, g, h, *rule, s0=None, **options):
        """The pair (q0, q1) over (r0, r1, g) whose first point has the fibre part s0."""
        r0, r1 = self.states(r0, "q"), self.states(r1, "q")
        f, s0 = self.f(r0, r1, h, *rule, **options), self._element(s0, "s0")
        if not np.isfinite(f).all():
            raise ValueError(f"no unique horizontal pair lies over r0 = {r0}, r1 = {r1}: Dd is not "
                             "right-rigid there (C03 Prop. 2)")  # fmt: skip
        return self._join(r0, s0), self.act(g, self._join(r1, self._times(s0, f)))

    def nu(self, q0, q1, h, *rule, **options):
        """(r0, r1) of a pair in Dd: the map Dd/G -> Q/G x Q/G of C03 Prop. 2."""
        r0, r1, g = self.alpha_Ad(q0, q1, h, *rule, **options)
        gap = np.abs(g if self._group is None else self._group.log(g)).max()
        if not gap <= 1e-9 * (1 + np.abs(q1).max()):
            raise ValueError(f"(q0, q1) is not horizontal: A_d(q0, q1) = {g}")
        return r0, r1

    def nu_inverse(self, r0, r1, h, *rule, **options):
        """The pair in Dd over (r0, r1) whose first point has the fibre part s0."""
        return self.alpha_Ad_inverse(r0, r1, self._element(), h, *rule, **options)


class Chaplygin(Reduction):
    r"""A Chaplygin system, TQ = D + V, reduced to Q/G: no constraints, a gyroscopic force.

    .. math:: \dot s + A(r)\dot r = 0, \qquad
              \frac{d}{dt}\frac{\partial L^*}{\partial\dot r^b} - \frac{\partial L^*}{\partial r^b}
              = \frac{\partial L}{\partial\dot s^a}\Bigl(\frac{\partial A^a_c}{\partial r^b}
              - \frac{\partial A^a_b}{\partial r^c}\Bigr)\dot r^c, \qquad L^* = L|_D

    CM01 5.3, where this force is alpha and is printed as -alpha.  ``nh.RDLA`` on it is the reduced
    DLA of the full system; ``nh.Variational`` discretises the equations above instead.

    Parameters
    ----------
    system : its L and constraints must not depend on the fibre coordinates, and the constraints
        must determine the fibre velocities: any equivalent rows will do
    base, fibre : names of r and s, "theta psi" or a list; either may be left out
    """

    def __init__(self, system, base=None, fibre=None, name=""):
        super().__init__(system, base, fibre, name)

    _remedy = "it violates the constraints; full.project(q0, v0) satisfies them"

    def _complementary(self):
        full, m = self.full, len(self._vs)
        if full.holonomic:
            raise ValueError(f"{full!r} has holonomic constraints; use coordinates that satisfy "
                             "them")  # fmt: skip
        if len(full.constraints) != m:
            raise ValueError(f"TQ = D + V needs as many constraints as fibre velocities: {full!r} "
                             f"has {len(full.constraints)} for {self.fibre_v}")  # fmt: skip
        if (rank(self._generic("A", list(self._vs))) < m).all():
            raise ValueError(f"a direction of the fibre {tuple(self.fibre)} lies in D: the "
                             "constraints do not determine its velocity. Choose another fibre, or "
                             "nh.Horizontal if it is a symmetry of D")  # fmt: skip

    def _conditions(self, wd, J):
        return wd

    @cached_property
    def connection(self):
        rows = [[-e.diff(u) for u in (self.full.v[i] for i in self._vr)]
                for e in self.fibre_velocity]  # fmt: skip
        return sp.ImmutableMatrix(rows).applyfunc(_tidy)

    def _lagrangian(self):
        return _tidy(self.on_D(self.full.L))

    def _rows_left(self):
        return ()


class Horizontal(Reduction):
    r"""Reduction by a horizontal symmetry: d/ds lies in D, and its momentum is mu.

    .. math:: J_d(q_0,q_1) = \frac{\partial L_d}{\partial s_1} = \mu, \qquad
              R(r, \dot r) = L(r, \dot r, V) - \mu V, \quad
              \frac{\partial L}{\partial\dot s}(r,\dot r,V) = \mu

    L here is the Routhian R, and the constraints are those of the full system.  The motion in the
    fibre comes from the momentum, so the lift at the nodes does not matter: ``connection`` is 0.
    On it ``nh.DLA`` and ``nh.RDLA`` agree exactly for the alpha rule.

    Parameters
    ----------
    system : L and constraints independent of s, no constraint on v_s, L quadratic in v_s
    fibre : names of s
    mu : the momentum, a number or one for each fibre coordinate; by default that of the system's
        own (q0, v0).  A parameter: ``reduction.set(mu=0.3)``; ``reduction.at(q0, v0)`` sets it
    """

    def __init__(self, system, fibre=None, mu=None, base=None, name=""):
        self._given = mu
        super().__init__(system, base, fibre, name)

    _remedy = "reduction.at(q0, v0) has its momentum mu"

    def _complementary(self):
        full, places = self.full, list(self._vs)
        if self._group is not None:
            raise ValueError("nh.Horizontal reduces by translations of coordinates, not by a "
                             f"group such as {self._group!r}")  # fmt: skip
        for c in full.constraints:
            for u in self.fibre_v:
                if sp.simplify(c.diff(u)) != 0:
                    raise ValueError(f"the constraint {c} restricts {u}, so the symmetry is not "
                                     "horizontal; nh.Chaplygin treats vertical ones")  # fmt: skip
        M = [full.symbolic.M[i][j] for i in places for j in places]
        if any(sp.simplify(e.diff(u)) != 0 for e in M for u in self.fibre_v):
            raise ValueError(f"J_d = mu cannot be solved for {self.fibre_v}: L = {full.L} is not "
                             "quadratic in them")  # fmt: skip
        if (rank(self._generic("M", places)[:, places]) < len(places)).all():
            raise ValueError(f"J_d = mu does not determine {self.fibre_v}: their block of the mass "
                             "matrix is singular (transversality fails)")  # fmt: skip
        self.mu_symbols = self._momentum_symbols()
        values = self._given
        if values is None:
            if full.q0 is None or full.v0 is None:
                raise ValueError("mu is missing, and the system has no start of its own to take it "
                                 "from; give mu")  # fmt: skip
            values = full.momentum(np.array(full.q0, float), np.array(full.v0, float))[places]
        try:
            values = np.atleast_1d(np.asarray(values, float))
        except (TypeError, ValueError):
            values = np.full(1, np.nan)
        if values.shape != (len(places),) or not np.isfinite(values).all():
            raise ValueError(f"mu = {self._given!r} must be {len(places)} finite numbers, one for "
                             f"each of {tuple(self.fibre)}")  # fmt: skip
        self._own = dict(zip(self.mu_symbols, map(float, values), strict=True))

    def _momentum_symbols(self):
        full, count = self.full, len(self._vs)
        taken = {s.name for s in (*full.q, *full.v, *full.parameters, full.t) if s is not None}
        names = ["mu"] if count == 1 else [f"mu{k}" for k in range(count)]
        while taken & set(names):
            names = [f"{name}_" for name in names]
        return tuple(sp.Symbol(name, real=True) for name in names)

    @property
    def mu(self):
        """The momentum of the fibre, shape (m,)."""
        return np.array([self.parameters[s] for s in self.mu_symbols])

    def at(self, q0, v0, t=0.0):
        """This reduction at the momentum of (q0, v0)."""
        mu = self.full.momentum(q0, v0, t)[list(self._vs)]
        return self.set(**{s.name: x for s, x in zip(self.mu_symbols, mu, strict=True)})

    def J_d(self, q0, q1, h, alpha=0.5, symmetric=False, t=0.0):
        """The discrete momentum D2Ld(q0, q1) in the fibre, shape (..., m)."""
        v = self.full.velocity_between(q0, q1, h)
        p = DLA(alpha, symmetric).on_step(self.full, "p_plus", t, q0, v, h)
        return p[..., list(self._vs)]

    def _options(self):
        return {**super()._options(), "mu": self.mu.tolist()}

    def _conditions(self, wd, J):
        return [j - mu for j, mu in zip(J, self.mu_symbols, strict=True)]

    @property
    def connection(self):
        return sp.ImmutableMatrix.zeros(len(self._vs), len(self._vr))

    def _lagrangian(self):
        power = sum(m * u for m, u in zip(self.mu_symbols, self.fibre_velocity, strict=True))
        return _tidy(self.on_D(self.full.L) - power)

    def _rows_left(self):
        return self.full.constraints


class ReducedSymbolic(Symbolic):
    """Of the reduced equations of motion: f of d/dt L*_v = f + A^T lambda, and the energy's rate.

    With the horizontal lift B = (1, -A), B^T (d/dt L_v - f_full) = 0 and L*_v = B^T L_v.
    """

    @cached_property
    def f(self):
        s, F = self.system, self.system.full.symbolic
        A, on_D = s.connection, s.on_D
        rates = zip(s.rate(s.q, s.v), s.q, strict=True)
        rates = [*rates, *([] if s.t is None else [(1, s.t)])]
        return tuple(
            on_D(F.f[i])
            - sum(A[a, b] * on_D(F.f[j]) + on_D(F.L_v[j]) * sum(u * A[a, b].diff(x)
                  for u, x in rates) for a, j in enumerate(s._vs))
            for b, i in enumerate(s._vr)
        )  # fmt: skip

    @cached_property
    def L_t(self):
        """-dE/dt of the full system; the force of a time-dependent A is accounted for."""
        return self.system.on_D(self.system.full.symbolic.L_t)


class ReducedLagrangian:
    """The full system's discrete Lagrangian with v_s eliminated, seen from Q/G.

    p_minus = B(r0)^T p_minus_full = -D1Ld* + F_minus and p_plus = B(r1)^T p_plus_full =
    D2Ld* - F_plus, B = (1, -A): with these momenta the DLA step is CM01 (32), statement 4 of DRP.
    """

    def __init__(self, reduction, t, q, v, h, alpha, symmetric):
        s, full = reduction, reduction.full
        v_s = [dummy(u.name) for u in s.fibre_v]
        Ld = full.discretise(t, s._over(q), s._both(v, v_s), h, alpha, symmetric)
        J = [Ld.p_plus[i] for i in s._vs]
        solution = _solve(s._conditions(Ld.constraints, J), v_s)
        r1 = [dummy(f"{x.name}_1") for x in q]
        first, last, moving = [], [], set(v_s)  # what needs v_s comes after it
        for x, e in Ld.let:
            needs = not moving.isdisjoint(e.free_symbols)
            (last if needs else first).append((x, e))
            moving |= {x} if needs else set()
        self.let = [*first, *zip(v_s, solution, strict=True), *last]
        self.let += zip(r1, reduction.moved(q, v, h), strict=True)
        self.v_s, self.Ld, self.E_minus, self.E_plus = v_s, Ld.Ld, Ld.E_minus, Ld.E_plus
        self.constraints = Ld.constraints if s.constraints else []

        def lifted(p, time, r):
            here = dict(zip(s.q, r, strict=True)) | ({} if s.t is None else {s.t: time})
            A = s.connection.xreplace(here)
            return [p[i] - sum(A[a, b] * p[j] for a, j in enumerate(s._vs))
                    for b, i in enumerate(s._vr)]  # fmt: skip

        self.p_minus, self.p_plus = lifted(Ld.p_minus, t, q), lifted(Ld.p_plus, t + h, r1)


def _split(system, base, fibre):
    """The places of base and fibre coordinates in system.q."""
    names, parts = [s.name for s in system.q], {}
    for what, given in (("base", base), ("fibre", fibre)):
        if given is None:
            continue
        given = given.replace(",", " ").split() if isinstance(given, str) else given
        given = [getattr(x, "name", x) for x in np.atleast_1d(np.array(given, object))]
        unknown = [x for x in given if x not in names]
        if unknown or not given:
            raise ValueError(f"{what} = {given} must name coordinates of {system!r}: {names}")
        if len(set(given)) < len(given):
            raise ValueError(f"{what} = {given} names a coordinate twice")
        parts[what] = [names.index(x) for x in given]
    if not parts:
        raise ValueError(f"name the fibre (or the base) coordinates among {names}")
    r, s = parts.get("base"), parts.get("fibre")
    r = [i for i in range(len(names)) if i not in s] if r is None else r
    s = [i for i in range(len(names)) if i not in r] if s is None else s
    twice, left = set(r) & set(s), set(range(len(names))) - set(r) - set(s)
    if twice:
        raise ValueError(f"{[names[i] for i in twice]} are in base and in fibre")
    if left:
        raise ValueError(f"{[names[i] for i in left]} are neither in base nor in fibre")
    if not r or not s:
        raise ValueError(f"base and fibre both need a coordinate of {names}")
    if getattr(system, "group", None) is not None and s != list(range(len(r), len(names))):
        raise ValueError(f"the fibre of {system!r} must be its group, "
                         f"{names[-len(system.group.coordinates):]}")  # fmt: skip
    return r, s


def _solve(equations, unknowns):
    """Solutions of linear equations in a few unknowns, as expressions."""
    zero = dict.fromkeys(unknowns, sp.S.Zero)
    K = sp.Matrix([[sp.sympify(e).diff(u) for u in unknowns] for e in equations])
    rest = sp.Matrix([-sp.sympify(e).xreplace(zero) for e in equations])
    if K.is_diagonal():
        return [x / K[i, i] for i, x in enumerate(rest)]
    return list(K.LUsolve(rest))


def _tidy(e):
    """The shortest of e, e multiplied out, and that with cos^2 + sin^2 = 1."""
    forms = [sp.sympify(e)]
    forms.append(forms[0].expand())
    if forms[1].has(sp.sin) and forms[1].has(sp.cos) and forms[1].count_ops() < 60:
        forms.append(sp.trigsimp(forms[1]))
    return min(forms, key=sp.count_ops)


def _no_bracket(x, y):
    return [0] * len(x)


def _rebuild(cls, full, options):
    return cls(full, **options)
