"""All integrators of the papers in plain NumPy and SciPy, without the rest of nhlab.

State a Lagrangian ``L(q, v)`` and the rows ``A(q)`` of the constraints A(q) v = 0.  A skate on an
icy slope cannot move across its blade; q = (x, y, phi), x points downhill, phi along the blade:

>>> import numpy as np
>>> from nhlab import plain
>>> L = lambda q, v: v @ v / 2 + np.sin(0.5) * q[0]
>>> A = lambda q: np.array([[np.sin(q[2]), -np.cos(q[2]), 0]])
>>> run = plain.dla(L, A, q0=[0, 0, 0], v0=[0, 0, 1], h=0.1, steps=200)
>>> energy = (run.p**2).sum(1) / 2 - np.sin(0.5) * run.q[:, 0]
>>> print(f"lowest point {run.q[:, 0].max():.3f}, energy {energy.min():.4f} to {energy.max():.4f}")
lowest point 0.241, energy 0.5000 to 0.5006

A method starts at q0 with the velocity v0 and takes ``steps`` steps of length h; alpha says where
in a step L is taken.  It returns a Run: the nodes ``t`` (steps + 1,) and ``q`` (steps + 1, n), the
momentum ``p`` that arrives at each, and ``lam`` (steps, m), with which it leaves, p - A(q)^T lam.
CM01 is Cortes & Martinez 2001, FIM08 Ferraro, Iglesias & Martin de Diego 2008, C03 Cortes 2003;
Ld has the factor h, which CM01 and FIM08 leave out, and which only rescales lam.
"""

from collections import namedtuple
from inspect import signature

import numpy as np
from scipy.optimize import root

Run = namedtuple("Run", "t q p lam")


def D(slot, f, *x):
    """The derivative of f(*x) by its argument number ``slot``, counted from 1 as in the papers.

    A tiny imaginary number is added to the argument, and the imaginary part of f read off.  Nothing
    is subtracted, so no digits cancel; but f must accept complex numbers: v @ v, not norm(v)**2.
    """
    before, at, after = x[: slot - 1], x[slot - 1], x[slot:]
    moves = 1e-30j * np.eye(np.size(at)) if np.ndim(at) else [1e-30j]  # one for a number
    slopes = [np.imag(f(*before, at + e, *after)) / 1e-30 for e in moves]  # to the last axis
    return np.stack(slopes, -1) if np.ndim(at) else slopes[0]


def discretise(L, h, alpha):
    """Ld(q0, q1) = h L(q_alpha, (q1 - q0)/h) with q_alpha = (1-alpha) q0 + alpha q1, CM01 (9)."""
    return lambda q0, q1: h * L((1 - alpha) * q0 + alpha * q1, (q1 - q0) / h)


def solve(equations, guess):
    """x with equations(x) = 0.  The residual decides: ``root`` reports failures at 1e-15, too."""
    found = root(equations, guess, tol=1e-13)
    # where momenta are numbers of about 1: choose the units of mass, length and time so
    if np.abs(found.fun).max() <= 1e-9 * (1 + np.abs(guess).max()):
        return found.x
    raise ArithmeticError(f"the solver stops at a residual of {np.abs(found.fun).max():.1e}")


def begin(L, A, q0, v0, h):
    """The start (q0, p0 = dL/dv, lam = 0, v0) as arrays, or the reason why there is none."""
    q, v = np.array(q0, float), np.array(v0, float)
    if q.ndim != 1 or q.shape != v.shape or not h > 0:
        raise ValueError(f"q0 = {q0}, v0 = {v0} must be equally long, and h = {h} positive")
    a = np.arange(1, len(q) + 1)  # does the complex slope of L along a agree with a difference?
    near = [L(q + (0.01 + s) * a, v + (1 + s) * a) for s in (1e-30j, 1e-5, -1e-5)]
    if abs(np.imag(near[0]) / 1e-30 - (near[1] - near[2]) / 2e-5) > 1e-4 * (1 + abs(near[1])):
        raise ValueError("L must accept complex numbers: write v @ v or np.sqrt, not norm or abs")
    rows = A(q)
    if np.abs(rows @ v).max(initial=0) > 1e-9 * (1 + np.abs(v).max()):
        nearest = (v - np.linalg.pinv(rows) @ rows @ v).tolist()  # without its normal part
        raise ValueError(f"A(q0) v0 = {rows @ v} must be 0; the nearest such v0 is {nearest}")
    return q, D(2, L, q, v), np.zeros(len(rows)), v


def march(equations, arriving, start, h, steps, solve=solve, move=np.add):
    """The loop: a step solves equations(q1, p, q2, lam) = 0 for v, where q2 = q1 + h v, and lam.

    It begins at start = (q0, p0, lam, v0); arriving(q1, q2) is the momentum at the end of a step.
    """
    n, nodes = len(start[-1]), [start]

    def step(q1, p, lam, v):
        residual = lambda x: np.concatenate(equations(q1, p, move(q1, h * x[:n]), x[n:]))
        v, lam = np.split(solve(residual, np.append(v, lam)), [n])  # x = (v, lam)
        q2 = move(q1, h * v)
        return q2, arriving(q1, q2), lam, v

    for k in range(steps):
        try:
            nodes.append(step(*nodes[-1]))
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            hint = f"take a smaller h, or steps={k}; if no h helps, rows of A may be dependent here"
            hint += ", or (edla, redla) no positive step may keep the energy: use dla, rdla"
            raise ArithmeticError(f"step {k + 1} is not found, {error}; {hint}") from None
    q, p, lam = (np.array([node[i] for node in nodes]) for i in range(3))  # no step made lam[0]
    return Run(h * np.arange(steps + 1), q, p, lam[1:])


def variational(L, q0, v0, h, steps, alpha=0.5):
    """Discrete Euler-Lagrange: the momentum that arrives at a node is the one that leaves it.

    It keeps the symplectic form and the momenta of symmetries; the energy oscillates.
    """
    Ld = discretise(L, h, alpha)
    equations = lambda q1, p, q2, lam: [D(1, Ld, q1, q2) + p]  # CM01 (2), p = D2Ld(q0, q1)
    start = begin(L, lambda q: np.zeros((0, len(q))), q0, v0, h)
    return march(equations, lambda *q: D(2, Ld, *q), start, h, steps)


def dla(L, A, q0, v0, h, steps, alpha=0.5, solve=solve):
    """Discrete Lagrange-d'Alembert: a kick along the rows of A at each node, wd = 0 in each step.

    It keeps wd = 0, not A(q) v = 0 at the nodes; the energy oscillates.  Order 2, 1 if alpha != .5.
    """
    Ld, wd = discretise(L, h, alpha), discretise(lambda q, v: A(q) @ v / h, h, alpha)  # CM01 (13)

    def equations(q1, p, q2, lam):
        return D(1, Ld, q1, q2) + p - A(q1).T @ lam, wd(q1, q2)  # CM01 (6), p = D2Ld(q0, q1)

    return march(equations, lambda *q: D(2, Ld, *q), begin(L, A, q0, v0, h), h, steps, solve)


def projector(L, A, q0, v0, h, steps, alpha=0.5):
    """The projector method: the kick makes the mean of arriving and leaving momentum admissible.

    So p- = (P - Q)^T p+, FIM08 (6): a mirror.  It keeps A M^-1 of that mean at 0, and the energy
    where FIM08 Theorem 1 holds.  L must be quadratic in v.  Order as ``dla``.
    """
    Ld, (q, p, lam, v) = discretise(L, h, alpha), begin(L, A, q0, v0, h)
    equations = lambda q1, p, q2, lam: mirror(*kinetic(L, q1), A(q1), p, -D(1, Ld, q1, q2), lam)
    # dL/dv at (q + s v, v), by differences: D cannot be put inside D; exact for L quadratic in v
    p_along = lambda s: [(L(q + s * v, v + e) - L(q + s * v, v - e)) / 2 for e in np.eye(len(q))]
    (M, b), bend = kinetic(L, q), D(1, lambda s: A(q + s * v) @ v, 0.0)
    if not np.allclose(M @ (v + 2) + b, D(2, L, q, v + 2)):
        raise ValueError("the projector method needs an L quadratic in v; dla takes any L")
    push = constraint_force(M, A(q), D(1, L, q, v) - D(1, p_along, 0.0), bend)
    p = p - h / 2 * push  # p0 belongs to the middle of the first kick
    return march(equations, lambda *q: D(2, Ld, *q), (q, p, lam, v), h, steps)


def kinetic(L, q):
    """M(q) and b(q) of L = v.M(q)v/2 + b(q).v - V(q)."""
    b = D(2, L, q, 0 * q)
    return np.array([D(2, L, q, e) - b for e in np.eye(len(q))]), b


def mirror(M, b, A, p, leaving, lam):
    """FIM08 (5a), (5b): a kick along A, and the mean of both momenta obeys the constraint."""
    return p - leaving - A.T @ lam, A @ np.linalg.solve(M, (p + leaving) / 2 - b)


def constraint_force(M, A, force, bend):
    """A^T lambda of the true motion, for which M a = force + A^T lambda and A a + bend = 0."""
    Z = np.linalg.solve(M, A.T)
    return -A.T @ np.linalg.pinv(A @ Z) @ (Z.T @ force + bend)


def group_projector(L, A, g0, w0, h, steps, basis):
    """The projector method on a group of matrices g, FIM08 (7), for L(w) and A(g) w = 0.

    basis : matrices E_i, g^-1 g' = hat(w) = sum of w_i E_i; a step is g0^-1 g1 = cay(h w).  The Run
    has the matrices as q and body momenta as p.  It keeps what ``projector`` keeps.
    """
    g, one, E = np.array(g0, float), np.eye(len(g0)), np.array(basis, float)
    hat = lambda w: np.tensordot(w, E, 1)
    pinv = np.linalg.pinv(E.reshape(len(E), -1).T)
    vee = lambda X: pinv @ X.ravel()  # the w with hat(w) = X
    Ld = discretise(lambda g, dg: L(vee(np.linalg.solve(g, dg))), h, 0.5)  # cay is a midpoint rule
    leaving = lambda g0, g1: -D(1, lambda xi: Ld(g0 @ (one + hat(xi)), g1), 0 * w)
    arriving = lambda g0, g1: D(1, lambda xi: Ld(g0, g1 @ (one + hat(xi))), 0 * w)
    move = lambda g, w: g @ np.linalg.solve(one - hat(w) / 2, one + hat(w) / 2)  # g cay(w)
    equations = lambda g1, p, g2, lam: mirror(M, b, A(g1), p, leaving(g1, g2), lam)  # FIM08 (7)
    _, p, lam, w = begin(lambda _, w: L(w), lambda _: A(g), w0, w0, h)
    (M, b), bend = kinetic(lambda _, w: L(w), w), D(1, lambda s: A(g + s * g @ hat(w)) @ w, 0.0)
    force = np.array([p @ vee(hat(w) @ e - e @ hat(w)) for e in E])  # ad*_w p
    start = g, p - h / 2 * constraint_force(M, A(g), force, bend), lam, w
    return march(equations, arriving, start, h, steps, move=move)


def in_time(method, L, A, q0, v0, h, steps, alpha):
    """A method on R x Q, with x = (t, q) for q, t' L(q, q'/t', t) for L, and 0 dt + A dq for A dq.

    Then Ld is C03's, (t1 - t0) L(q_alpha, (q1 - q0)/(t1 - t0), t_alpha), and p_t minus the energy.
    """
    required = lambda f: sum(x.default is x.empty for x in signature(f).parameters.values())
    tL, tA, taken = required(L) - 2, required(A) - 1, []  # 1 if L, A take the time, else 0
    begin(lambda q, v: L(q, v, *[0.0] * tL), lambda q: A(q, *[0.0] * tA), q0, v0, h)
    Lx = lambda x, u: u[0] * L(x[1:], u[1:] / u[0], *x[:tL])
    Ax = lambda x: np.insert(A(x[1:], *x[:tA]), 0, 0, 1)

    def solve_for_time(residual, guess):  # after a DLA step, or it finds the last step backwards
        x = np.append(guess[0], solve(lambda y: residual(np.append(guess[0], y))[1:], guess[1:]))
        x = solve(residual, x) if taken else x  # the length h of the first step is given
        taken.append(x)
        if 0 < x[0] < 4 * guess[0]:
            return x
        raise ArithmeticError(f"the energy asks for a length of {x[0] * h:.3g}")

    _, x, p, lam = method(Lx, Ax, [0, *q0], [1, *v0], h, steps, alpha, solve_for_time)
    return Run(x[:, 0], x[:, 1:], p[:, 1:], lam)


def edla(L, A, q0, v0, h, steps, alpha=0.5):
    """Extended DLA, C03 (6), which is CM01 (6) on R x Q: the energy decides how long a step is.

    L(q, v, t), A(q, t) may depend on t; the first step is h.  It keeps wd = 0 and, without t, the
    energy v.dL/dv - L of the steps.  A positive step need not exist.
    """
    return in_time(dla, L, A, q0, v0, h, steps, alpha)


def rdla(L, A, q0, v0, h, steps, alpha=0.5, solve=solve):
    """Reduced DLA, CM01 (32): of q = (r, s) only r is solved for; L and A do not depend on s.

    s are the last m coordinates, and A = (A_r, A_s) says s' + connection(r) r' = 0.  It gives the q
    of ``dla``, and keeps what that keeps; p has the parts of r, lam none.
    """
    q, p, lam, v = begin(L, A, q0, v0, h)
    k, Ld = len(q) - len(lam), discretise(L, h, alpha)
    if np.abs(D(1, L, q, v)[k:]).max() > 1e-9:
        raise ValueError(f"L depends on the last {len(lam)} coordinates of q; use dla")
    connection = lambda r: np.linalg.solve(*np.split(A(np.append(r, 0 * lam)), [k], 1)[::-1])
    f = discretise(lambda r, v: -connection(r) @ v, h, alpha)
    l_d = lambda r0, r1, f: Ld(np.append(r0, 0 * f), np.append(r1, f))
    star = lambda r0, r1: l_d(r0, r1, f(r0, r1))  # Ld*
    minus = lambda r0, r1: D(3, l_d, r0, r1, f(r0, r1)) @ (D(1, f, r0, r1) - connection(r0))  # F-
    plus = lambda r0, r1: D(3, l_d, r0, r1, f(r0, r1)) @ (D(2, f, r0, r1) + connection(r1))  # F+
    equations = lambda r1, p, r2, lam: [D(1, star, r1, r2) + p - minus(r1, r2)]  # CM01 (32), where
    arriving = lambda r1, r2: D(2, star, r1, r2) - plus(r1, r2)  # p = D2Ld*(r0, r1) - F+(r0, r1)
    start = q[:k], p[:k] - connection(q[:k]).T @ p[k:], lam[:0], v[:k]
    run = march(equations, arriving, start, h, steps, solve)
    s = np.cumsum([q[k:], *map(f, run.q[:-1], run.q[1:])], 0)  # s2 = s1 + f(r1, r2)
    return run._replace(q=np.hstack([run.q, s]))


def redla(L, A, q0, v0, h, steps, alpha=0.5):
    """Reduced EDLA, C03 Prop. 3: ``rdla`` on R x Q.  It gives the q of ``edla``."""
    return in_time(rdla, L, A, q0, v0, h, steps, alpha)


def functions(system, order=None):
    """L and A of a ``nh.System`` as plain functions; order : its coordinates, as in "y z x"."""
    from sympy import Matrix, lambdify  # for nothing else

    if any(getattr(system, x, None) for x in "group full holonomic is_affine is_forced".split()):
        raise ValueError(f"{system!r} is more than L(q, v) and A(q) v = 0; use nh.integrate")
    pairs = {s.name: (s, u) for s, u in zip(system.q, system.v, strict=True)}
    q, v = zip(*(pairs[x] for x in (order.split() if order else pairs)), strict=True)
    rows = Matrix(system.m, len(q), lambda a, i: system.constraints[a].diff(v[i]))
    L, A = (e.xreplace(system.parameters) for e in (system.L, rows))
    t, how = [] if system.t is None else [system.t], {"cse": True, "dummify": True}
    return lambdify([q, v, *t], L, **how), lambdify([q, *t], A, **how)
