"""The equations of methods whose rows hold (q, v) at the nodes: Reversible, Composition, and RK4 on
groups.  What a row does not hold follows from what it holds: momenta from the points, multipliers
by least squares, the nodes inside a composed step by taking it once more."""

import numpy as np

import nhlab as nh
from nhlab.codegen.careful import careful_step
from nhlab.run.start import Start


def pulled(A, p):
    """(lam, what is left of p): p = A^T lam as far as possible."""
    if not A.shape[1]:
        return np.zeros(A.shape[:2]), p
    # rows of size one, for p may be of any size beside A
    size = np.linalg.norm(A, axis=-1, keepdims=True)
    unit = np.swapaxes(A / size, 1, 2)
    lam = np.einsum("kai,ki->ka", np.linalg.pinv(unit), p)
    return lam / size[..., 0], p - np.einsum("kia,ka->ki", unit, lam)


def forms(F, t, q, v):
    return F.A(t, q, v)[:, : F.m]


def both_kicks(F, x, P, p_plus, before):
    """From p0 to P - before and from p_plus to p1 by forces of the constraints at either end."""
    t1 = x["t"] + x["h"]
    p0, p1 = F.L_v(x["t"], x["q0"], x["v0"]), F.L_v(t1, x["q1"], x["v1"])
    lam, first = pulled(forms(F, x["t"], x["q0"], x["v0"]), p0 + before - P)
    mu, last = pulled(forms(F, t1, x["q1"], x["v1"]), p_plus - p1)
    nodes = np.einsum("kai,ki->ka", forms(F, t1, x["q1"], x["v1"]), x["v1"])
    nodes = nodes + F.b(t1, x["q1"], x["v1"])[:, : F.m]
    found = {"kick": first, "arrival": last, "both": lam + mu - x["lam1"], "nodes": nodes}
    return found | {"g": F.g(t1, x["q1"], x["v1"])}


def reversible(F, method, x):
    """P = L_v(q0, va) = L_v(q1, vb), where va + vb = 2 (q1 - q0)/h; linear for mechanical L."""
    t, h, t1, zero = x["t"], x["h"][:, None], x["t"] + x["h"], 0 * x["v0"]
    ends = [(t, x["q0"]), (t1, x["q1"])]
    inverse = [np.linalg.inv(F.M(*end, zero)) for end in ends]
    b = [F.L_v(*end, zero) for end in ends]
    drift = [np.einsum("kij,kj->ki", W, y) for W, y in zip(inverse, b, strict=True)]
    u = (x["q1"] - x["q0"]) / h
    P = np.linalg.solve(inverse[0] + inverse[1], (2 * u + drift[0] + drift[1])[..., None])[..., 0]
    va, vb = (np.einsum("kij,kj->ki", W, P) - y for W, y in zip(inverse, drift, strict=True))
    p_plus = P + h / 2 * F.L_q(t1, x["q1"], vb)
    found = both_kicks(F, x, P, p_plus, h / 2 * F.L_q(t, x["q0"], va))
    return found | {"mean": (F.wd(t, x["q0"], va) + F.wd(t1, x["q1"], vb)) / 2}


def composed(step):
    """DLA's or Variational's step from p = L_v at a node to v in D at the next."""

    def judge(F, method, x):
        s = step(F, method, x["t"], x["q0"], (x["q1"] - x["q0"]) / x["h"][:, None], x["h"])
        return both_kicks(F, x, s.minus, s.plus, 0) | {"mean": s.wd}

    return judge


def substeps(sol, rows):
    """All substeps of some steps, as arrays, with the last node from the rows."""
    system, method = sol.system, sol.method
    start = Start(system, method, sol.q[0], sol.rows.v[0], h=sol.h0, steps=1, t0=sol.t0)
    args, found = method.arguments(system, start.shares[0].tolist()), []
    for k in rows:
        states = _taken_again(sol, int(k), args)
        if states:
            found += _pairs(sol, k, [*states[:-1], sol.rows.array[k + 1].tolist()])
    return {name: np.array([one[name] for one in found]) for name in (found or [{}])[0]}


def _taken_again(sol, k, args):
    """The states of a step at its nodes by the generated substeps, to the last digit, or with
    pivoting where the run went that way: large steps make any other digit a large change."""
    program, factors = sol.method.program(sol.system), sol.method.factors
    space, t, states = {}, float(sol.t[k]), [sol.rows.array[k].tolist()]
    exec(program.text, space)
    try:
        for part in factors:
            _, *new = space["substep"](t, part * sol.h0, part, *states[-1], *args)
            states.append(new)
            t = t + part * sol.h0
    except (ZeroDivisionError, OverflowError, ValueError):
        pass
    if states[-1] == sol.rows.array[k + 1].tolist():
        return states
    statement = program.statement
    again = careful_step(statement, float(sol.t[k]), sol.h0, states[0], args)
    nodes = [[one[s] for s in statement.carry] for one in again.substeps]
    return [*nodes, again.carry.tolist()] if again.ok else []


def _pairs(sol, k, states):
    parts = [nh.methods.layout.Rows(sol.method.layout(sol.system), np.array(s)) for s in states]
    t, found = sol.t[k], []
    for part, a, b in zip(sol.method.factors, parts[:-1], parts[1:], strict=True):
        h = part * sol.h0
        one = {"t": t, "h": h, "q0": a.q, "q1": b.q, "v0": a.v, "v1": b.v}
        found.append(one | {"lam0": part * a.lam, "lam1": part * b.lam, "later": 1.0})
        t = t + h
    return found


# ---------------------------------------------------------------------------- groups


def rk4_on_groups(F, method, x):
    """The slopes again, by M v' = ad*_omega L_omega for an L that does not depend on g."""
    s, n, h = F.system, len(F.system.q), x["h"][:, None]

    def slope(t, y):
        q, v = y[:, :n], y[:, n:]
        M, rate = F.M(t, q, v), rates(s, q, v)
        right = np.concatenate([F.L_q(t, q, v)[:, : s.k], coadjoint(s, v, F.L_v(t, q, v))], -1)
        right = right - np.einsum("kij,kj->ki", F.L_v_q(t, q, v), rate)
        if F.m:
            A = F.A(t, q, v)
            M = np.block([[M, np.swapaxes(A, 1, 2)], [A, np.zeros((len(A), F.m, F.m))]])
            turned = np.einsum("kaj,kj->ka", F.A_v_q(t, q, v), rate)
            right = np.concatenate([right, -turned], -1)
        return np.concatenate([rate, np.linalg.solve(M, right[..., None])[:, : v.shape[1], 0]], -1)

    t, y = x["t"], np.concatenate([x["q0"], x["v0"]], -1)
    k1 = slope(t, y)
    k2 = slope(t + x["h"] / 2, y + h / 2 * k1)
    k3 = slope(t + x["h"] / 2, y + h / 2 * k2)
    k4 = slope(t + x["h"], y + h * k3)
    end = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if s.group.name == "SO3":
        end[:, s.k : n] /= np.linalg.norm(end[:, s.k : n], axis=1, keepdims=True)
    return {"step": end - np.concatenate([x["q1"], x["v1"]], -1)}


def rates(s, q, v):
    """q' = (r', g'): half the product of quaternion and omega, or the turned velocity."""
    g, (a, b, c) = np.moveaxis(q[:, s.k :], -1, 0), np.moveaxis(v[:, s.k :], -1, 0)
    if s.group.name == "SO3":
        w, i, j, k = g / 2
        turned = (-i * a - j * b - k * c, w * a + j * c - k * b)
        turned += (w * b + k * a - i * c, w * c + i * b - j * a)
    else:
        turned = (np.cos(g[2]) * a - np.sin(g[2]) * b, np.sin(g[2]) * a + np.cos(g[2]) * b, c)
    return np.concatenate([v[:, : s.k], np.stack(turned, -1)], -1)


def coadjoint(s, v, p):
    """ad*_omega mu: mu x omega, on SE(2) by <ad*_xi mu, eta> = <mu, [xi, eta]>."""
    xi, mu = v[:, s.k :], p[:, s.k :]
    if s.group.name == "SO3":
        return np.cross(mu, xi)
    turn = xi[:, 1] * mu[:, 0] - xi[:, 0] * mu[:, 1]
    return np.stack([xi[:, 2] * mu[:, 1], -xi[:, 2] * mu[:, 0], turn], -1)
