"""Do the steps of a run satisfy the printed equations?  Measured as a backward error.

Unlike ``oracle`` this works in (t, q, v, h), where v = (q1 - q0)/h is what was solved for, so that
it can judge steps of 1e-12.  Nothing of nhlab is used but a System's formulas, by ``oracle``.

A step is right if numbers that differ from the stored ones by REL of their sizes satisfy the
equations: the residual must be smaller than the change that such a difference makes.
"""

from functools import cached_property

import numpy as np
import printed_nodes as nodes
from oracle import formulas
from scipy.linalg import expm

import nhlab as nh

# The part of the state whose round-off an equation has at least.
TINY = 1e-140  # left of products that underflow, in a system at rest where all is 0
SIZED = {"momentum": "p", "p_plus": "p", "reflection": "p", "lam": "p", "q1": "q", "g": "q"}
SIZED |= {"constraint": "v", "nodes": "v", "step": "v", "energy": "e", "e": "e", "mean": "v"}
SIZED |= {"kick": "p", "arrival": "p", "both": "lam"}
REL = 1e-8  # the tolerance on Newton's last correction, before which the error was larger
HAT = {  # the matrices hat(e_j)
    "SO3": -np.array(
        [
            [[np.linalg.det(np.eye(3)[[i, j, k]]) for k in range(3)] for j in range(3)]
            for i in range(3)
        ]
    ),
    "SE2": np.zeros((3, 3, 3)),
}
HAT["SE2"][[0, 1, 2, 2], [0, 1, 1, 0], [2, 2, 0, 1]] = 1, 1, 1, -1


def weights(method):
    a = method.alpha
    return (a, 1 - a) if method.symmetric else (a,)


class Step:
    """The two momenta, the energies and the constraint of steps (t, q, v, h), on R^n."""

    def __init__(self, F, method, t, q, v, h):
        self.F, self.method, self.start, k = F, method, (t, q, v, h), len(weights(method))
        self.minus = self.plus = self.E_minus = self.E_plus = 0
        for a in weights(method):
            place = self.place(a)
            L_v, L_q, E, L_t = F.L_v(*place), F.L_q(*place), F.E(*place), h * F.L_t(*place)
            self.minus = self.minus + (L_v - ((1 - a) * h)[:, None] * L_q) / k
            self.plus = self.plus + (L_v + (a * h)[:, None] * L_q) / k
            self.E_minus = self.E_minus + (E + (1 - a) * L_t) / k
            self.E_plus = self.E_plus + (E - a * L_t) / k

    def place(self, a):
        t, q, v, h = self.start
        return t + a * h, q + (a * h)[:, None] * v, v

    def arrived(self):
        return self.place(1)[1]

    @cached_property
    def wd(self):
        own = getattr(self.method, "constraint_alpha", None)
        a = self.method.alpha if own is None else own
        both = (a, 1 - a) if self.method.symmetric else (a,)
        return sum(self.F.wd(*self.place(x)) for x in both) / len(both)


class BodyStep(Step):
    """The same on R^k x G, by p_minus = (d tau^-1)^* L_omega and p_plus = Ad*_W p_minus."""

    def __init__(self, F, method, t, q, v, h):
        s = F.system
        self.F, self.method, self.start, k = F, method, (t, q, v, h), s.k
        hats, total, body, count = HAT[s.group.name], 0, 0, len(weights(method))
        for a in weights(method):
            place = self.place(a)
            L_v, L_r = F.L_v(*place), F.L_q(*place)[:, :k]
            if s.rule == "trace":  # Ld = h L/(1 + h^2 |omega|^2/4)
                z = 1 + (h**2 * (v**2).sum(-1) / 4)[:, None]
                L_v = L_v / z - (F.L(*place) * h**2 / 2)[:, None] * v / z**2
            both = [L_v[:, :k] + x[:, None] * L_r for x in ((a - 1) * h, a * h)]
            total, body = total + np.stack(both, 1) / count, body + L_v[:, k:] / count
        turned = []
        for x, mu in zip(h[:, None] * v[:, k:], body, strict=True):
            W = tau(s, np.tensordot(x, hats, 1))
            slopes = [tau(s, np.tensordot(x + 1e-30j * e, hats, 1)) for e in np.eye(3)]
            D = np.array([vee(s, d.imag / 1e-30 @ np.linalg.inv(W)) for d in slopes]).T
            minus = np.linalg.solve(D.T, mu)
            Ad = np.array([vee(s, W @ e @ np.linalg.inv(W)) for e in hats]).T
            turned.append((minus, Ad.T @ minus))
        turned = np.array(turned).reshape(len(h), 2, 3)
        self.minus, self.plus = np.moveaxis(np.concatenate([total, turned], -1), 1, 0)
        self.E_minus = self.E_plus = None

    def place(self, a):
        t, q, v, h = self.start
        return t + a * h, self.F.system.move(q, v, a * h), v


def tau(system, X):
    if system.tau == "exp":
        theta = np.sqrt(-np.trace(X @ X) / 2)  # X^3 = -theta^2 X in both groups
        if abs(theta) < 1e-2:
            return expm(X)
        return np.eye(3) + np.sin(theta) / theta * X + (1 - np.cos(theta)) / theta**2 * X @ X
    return np.linalg.solve(np.eye(3) - X / 2, np.eye(3) + X / 2)


def vee(system, X):
    at = ((2, 1), (0, 2), (1, 0)) if system.group.name == "SO3" else ((0, 2), (1, 2), (1, 0))
    return np.array([X[i, j] for i, j in at])


def at(F, method, x):
    kind = BodyStep if hasattr(F.system, "group") else Step
    return kind(F, method, x["t"], x["q0"], x["v1"], x["h"])


# ---------------------------------------------------------------------------- by method


def dla(F, method, x):
    """CM01 (6), (17); C03 (6)."""
    s = at(F, method, x)
    found = {
        "momentum": s.minus - x["p0"] + F.force(x["t"], x["q0"], x["v1"], x["lam1"]),
        "constraint": s.wd,
        **arrival(F, s, x),
    }
    if method.variable_step and s.E_minus is not None:
        e = x["e0"]
        if F.m:
            e = e + x["later"] * (F.b(x["t"], x["q0"], x["v1"]) * x["lam1"]).sum(-1)
        new = e if F.system.is_autonomous else s.E_plus
        found |= {"energy": x["later"] * (s.E_minus - e), "e": new - x["e1"]}
    return found


def arrival(F, s, x):
    q1 = s.arrived()
    g = F.g(x["t"] + x["h"], x["q1"], x["v1"])
    return {"p_plus": s.plus - x["p1"], "q1": q1 - x["q1"], "g": g}


def projector(F, method, x):
    """FIM08 (6), for momenta measured from b = L_v at v = 0 or, where constraints move, at the
    shortest admissible velocity; A^T lam is what it takes away."""
    s, zero, p = at(F, method, x), 0 * x["v1"], x["p0"]
    b, G = F.L_v(x["t"], x["q0"], zero), F.G(x["t"], x["q0"], zero)
    if F.m:
        A = F.A(x["t"], x["q0"], zero)
        size = np.abs(A).max(-1, keepdims=True)  # for A A^T may overflow
        A, moving = A / size, F.b(x["t"], x["q0"], zero)[..., None] / size
        W = np.linalg.solve(G, np.swapaxes(A, 1, 2))
        Q = W @ np.linalg.solve(A @ W, A)
        shift = np.linalg.solve(A @ W, moving)
        p = p - 2 * np.einsum("kij,ki->kj", Q, p - b)
        p = p - 2 * np.einsum("kai,ka->ki", A, shift[..., 0])
    found = {"reflection": s.minus - p, **arrival(F, s, x)}
    found.pop("g")
    return found | {"lam": x["p0"] - p - F.force(x["t"], x["q0"], zero, x["lam1"])}


def rk4(F, method, x):
    """The slopes again, from a dense solve.  What is left of forces that constraints hold back has
    their round-off, as places far away have theirs, and the later slopes what becomes of it:
    ``noise`` is what is added of it."""
    n, h, noise = x["v0"].shape[1], x["h"][:, None], iter(np.moveaxis(x["noise"], 1, 0))

    def slope(t, y):
        off = next(noise)
        q, v = y[:, :n] * (1 + off), y[:, n:]
        M, right = F.M(t, q, v), F.L_q(t, q, v) - F.L_v_rate(t, q, v)
        if F.m:
            A = F.A(t, q, v)
            zero = np.zeros((len(A), F.m, F.m))
            M = np.block([[M, np.swapaxes(A, 1, 2)], [A, zero]])
            right = np.concatenate([right, -F.A_rate_v(t, q, v)], -1)
        found = np.linalg.solve(M, right[..., None])[..., 0]
        if F.m:
            forces = np.abs(right[:, :n]) + np.einsum("kai,ka->ki", np.abs(A), np.abs(found[:, n:]))
            inverse = np.abs(np.linalg.inv(M[:, :n, :n]))
            found[:, :n] += off * np.einsum("kij,kj->ki", inverse, forces)
        return np.concatenate([v, found[:, :n]], -1)

    t, y = x["t"], np.concatenate([x["q0"], x["v0"]], -1)
    k1 = slope(t, y)
    k2 = slope(t + x["h"] / 2, y + h / 2 * k1)
    k3 = slope(t + x["h"] / 2, y + h / 2 * k2)
    k4 = slope(t + x["h"], y + h * k3)
    end = np.concatenate([x["q1"], x["v1"]], -1)
    return {"step": y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) - end}


def at_nodes(F, method, x):
    """v in D and g = 0 at the nodes; the energy where a method keeps it."""
    t1 = x["t"] + x["h"]
    A, b = (f(t1, x["q1"], x["v1"]) for f in (F.A, F.b))
    found = {"nodes": np.einsum("kai,ki->ka", A, x["v1"]) + b, "g": F.g(t1, x["q1"], x["v1"])}
    if isinstance(method, nh.DiscreteGradient):
        ends = (F.E(x["t"], x["q0"], x["v0"]), F.E(t1, x["q1"], x["v1"]))
        found["energy"] = ends[1] - ends[0]
    return found


def equations(system, method):
    """The function that judges a method's steps, or None."""
    if system.full is not None:
        return None  # judged by its reconstruction
    if isinstance(method, (nh.DLA, nh.EDLA, nh.Variational)):
        return dla
    if isinstance(method, nh.Projector):
        return projector
    if isinstance(method, nh.RK4):
        if not hasattr(system, "group"):
            return rk4
        return None if system.L.has(*system.q[system.k :]) else nodes.rk4_on_groups
    base = getattr(method, "method", method)
    if isinstance(base, nh.Reversible) and system.is_mechanical:
        return nodes.reversible
    if isinstance(base, (nh.DLA, nh.Variational)) and not hasattr(system, "group"):
        return nodes.composed(Step)
    return None if isinstance(method, nh.Reference) else at_nodes


# ---------------------------------------------------------------------------- verdict


def parts(sol, few):
    """The steps of a run as arrays: t, h, and q0, q1, p0, p1, ... before and after."""
    rows, first = sol.rows, int(sol.q1_given)
    x = {"t": sol.t[:-1], "h": np.array(sol.h, float)}
    for name in ("q", "p", "v", "lam", "e"):
        if hasattr(rows, name):
            y = getattr(rows, name)
            x |= {f"{name}0": y[:-1], f"{name}1": y[1:]}
    x["later"] = np.arange(len(x["t"])) > 0  # EDLA's first step has no energy to keep
    x["noise"] = np.zeros((len(x["t"]), 4, len(sol.system.v)))  # of the slopes of RK4
    return {k: y[first:][few] for k, y in x.items()}


def moved(rng, x, sol, whole, count=8):
    """Some copies of x with every number changed by up to REL of its size."""
    group = getattr(sol.system, "group", None)
    amount = {k: REL * (np.abs(y) + whole.get(k, 0)) for k, y in x.items()}
    amount |= {"t": REL * x["h"] + 4e-16 * np.abs(x["t"]), "later": 0, "noise": 0}
    if not sol.method.variable_step:
        amount["h"] = 0
    if group is not None:  # which it must not leave
        amount["q0"][:, sol.system.k :] = 0
    for _ in range(count):
        signs = {
            k: rng.choice([-1, 1], y.shape) * rng.uniform(0.5, 1, y.shape) for k, y in x.items()
        }
        yield {k: y + amount[k] * signs[k] for k, y in x.items()}


def noisy(rng, x, count=8):
    """Copies with other round-off alone, where a judge takes it; what a large v0 leads to would
    hide it."""
    for _ in range(count if "noise" in x else 0):
        yield x | {"noise": rng.uniform(-1e-14, 1e-14, x["noise"].shape)}


def sizes(sol):
    """What the corrections of each part are measured against."""
    v, q, h = np.abs(sol.rows.v).max(), np.abs(sol.q).max(), np.max(sol.h)
    whole = {"v": v, "q": q + h * v, "h": 10 * h}
    for name in ("p", "lam", "e"):
        whole[name] = np.abs(getattr(sol.rows, name, np.zeros(1))).max(initial=0)
    return whole | {f"{k}{i}": y for k, y in whole.items() for i in (0, 1)}


def broken(sol, whole_momenta=False):
    """The equations that a run violates: (name, step, residual, allowed).

    whole_momenta : lam was found by least squares, which spread its round-off over all components
    """
    judge, F = equations(sol.system, sol.method), formulas(sol.system)
    steps = len(sol) - 1 - int(sol.q1_given)
    if judge is None or sol.every != 1 or steps < 1:
        return []
    rng = np.random.default_rng(1)
    few = np.unique(np.r_[0, steps - 1, rng.integers(0, steps, 6)])
    whole, found, method = sizes(sol), [], getattr(sol.method, "method", sol.method)
    x = parts(sol, few) if method is sol.method else nodes.substeps(sol, few)
    if not x:
        return []
    with np.errstate(all="ignore"):
        r = judge(F, method, x)
        others = [judge(F, method, y) for y in moved(rng, x, sol, whole)]
        rounded = [judge(F, method, y) for y in noisy(rng, x)] if judge is rk4 else []
        for name, y in r.items():
            allowed = np.max([np.abs(o[name] - y) for o in others], axis=0)
            if rounded:  # twice, for the step itself is one more of these
                spread = np.max([np.abs(o[name] - y) for o in rounded], axis=0)
                allowed = np.fmax(allowed, 2 * spread)
            allowed = np.nan_to_num(allowed, nan=np.inf) + 1e-14 * whole[SIZED[name]] + TINY
            if whole_momenta and name == "momentum":
                allowed[:] = allowed.max(-1, keepdims=True)
            wrong = np.isfinite(allowed) & ~(np.abs(y) <= allowed)  # what overflows is not judged
            for k in map(tuple, np.argwhere(wrong)[:1]):
                found.append(
                    (name, int(few[k[0] * len(few) // len(y)]), float(y[k]), float(allowed[k]))
                )
    return found
