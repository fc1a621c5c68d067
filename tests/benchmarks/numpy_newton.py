r"""DLA, projector and EDLA at the midpoint in plain NumPy: the usual way, and an oracle.

Nothing here is shared with nhlab. A system states L through its derivatives and the forms A; every
method carries (q, p) and solves for v = (q1 - q0)/h by Newton with `np.linalg.solve`. Each returns
one row [q p lam v] per completed step, EDLA [q p lam v t h].
"""

import numpy as np
from numpy import cos, sin


class Particle:
    r"""$L = |v|^2/2 - (x^2 + y^2)$, $\dot z - y \dot x = 0$."""

    n, m = 3, 1

    def __init__(self):
        self.parameters = ()

    def lagrangian(self, q, v):
        """Return L_v, L_q, L_vv, L_vq, L_qq and the energy."""
        V_q = np.array([2 * q[0], 2 * q[1], 0])
        return v, -V_q, np.eye(3), np.zeros((3, 3)), -np.diag([2.0, 2, 0]), v @ v / 2 + V_q @ q / 2

    def forms(self, q, v):
        """Return A(q) and the derivative of A(q) v in q."""
        return np.array([[-q[1], 0, 1]]), np.array([[0, -v[0], 0]])


class Sleigh:
    r"""Chaplygin sleigh, q = (x, y, theta), $\dot x \sin\theta - \dot y \cos\theta = 0$."""

    n, m = 3, 1

    def __init__(self, m=1.0, I=1.0, a=0.2):
        self.parameters = m, I, a

    def lagrangian(self, q, v):
        """Return L_v, L_q, L_vv, L_vq, L_qq and the energy."""
        m, inertia, a = self.parameters
        s, c = sin(q[2]), cos(q[2])
        along, across, w = v[0] * c + v[1] * s, v[1] * c - v[0] * s, v[2]
        ma, turn = m * a, inertia + m * a**2
        L_vv = np.array([[m, 0, -ma * s], [0, m, ma * c], [-ma * s, ma * c, turn]])
        L_vq, L_qq = np.zeros((3, 3)), np.zeros((3, 3))
        L_vq[:, 2] = -ma * w * c, -ma * w * s, -ma * along
        L_qq[2, 2] = -ma * w * across
        L_v = L_vv @ v
        return L_v, np.array([0, 0, -ma * w * along]), L_vv, L_vq, L_qq, v @ L_v / 2

    def forms(self, q, v):
        """Return A(q) and the derivative of A(q) v in q."""
        s, c = sin(q[2]), cos(q[2])
        return np.array([[s, -c, 0]]), np.array([[0, 0, v[0] * c + v[1] * s]])


class Snakeboard:
    r"""Snakeboard, q = (x, y, theta, psi, phi), wheel angle phi measured from the board."""

    n, m = 5, 2

    def __init__(self, m=1.0, J=1.0, J0=1.0, J1=1.0, r=1.0):
        self.parameters = m, J, J0, J1, r
        self.M, self.zero = np.diag([m, m, J + 2 * J1, J0, 2 * J1]), np.zeros((5, 5))

    def lagrangian(self, q, v):
        """Return L_v, L_q, L_vv, L_vq, L_qq and the energy."""
        p = self.M @ v
        return p, np.zeros(5), self.M, self.zero, self.zero, v @ p / 2

    def forms(self, q, v):
        """Return A(q) and the derivative of A(q) v in q."""
        r, th, phi, w = self.parameters[4], q[2], q[4], v[2]
        s1, c1, s2, c2 = sin(th + phi), cos(th + phi), sin(th - phi), cos(th - phi)
        along1, along2 = v[0] * c1 + v[1] * s1, v[0] * c2 + v[1] * s2
        A = np.array([[s1, -c1, r * cos(phi), 0, 0], [s2, -c2, -r * cos(phi), 0, 0]])
        slip = r * w * sin(phi)
        return A, np.array([[0, 0, along1, 0, along1 - slip], [0, 0, along2, 0, slip - along2]])


class Stopped(Exception):
    """Newton did not converge, or no positive step exists."""


def newton(equations, x, *known):
    """Solve equations(x, *known) = 0; `equations` returns the values and the Jacobian."""
    for _ in range(10):
        r, J = equations(x, *known)
        dx = np.linalg.solve(J, r)
        x = x - dx
        if np.abs(dx).sum() <= 1e-10 * (1 + np.abs(x).sum()):
            return x
    raise Stopped


def p_minus(system, q, v, h):
    """Return L_v - (h/2) L_q at (q + h v/2, v) and its derivatives in v and h."""
    L_v, L_q, L_vv, L_vq, L_qq, _ = system.lagrangian(q + h / 2 * v, v)
    by_v = L_vv + h / 2 * (L_vq - L_vq.T) - h**2 / 4 * L_qq
    return L_v - h / 2 * L_q, by_v, (L_vq @ v - L_q - h / 2 * L_qq @ v) / 2


def p_plus(system, q, v, h):
    """Return L_v + (h/2) L_q at (q + h v/2, v)."""
    L_v, L_q, *_ = system.lagrangian(q + h / 2 * v, v)
    return L_v + h / 2 * L_q


def constraint(system, q, v, h):
    """Return A(q + h v/2) v and its derivatives in v and h."""
    A, Av_q = system.forms(q + h / 2 * v, v)
    return A @ v, A + h / 2 * Av_q, Av_q @ v / 2


def energy(system, q, v, h=0.0):
    """Return v L_v - L at (q + h v/2, v) and its derivatives in v and h."""
    _, L_q, L_vv, L_vq, _, E = system.lagrangian(q + h / 2 * v, v)
    E_q = v @ L_vq - L_q
    return E, v @ L_vv + h / 2 * E_q, E_q @ v / 2


def dla_equations(x, system, q, p, h):
    """CM01 (6): p_minus(q, v) - p + A(q)^T lam = 0, A(q + h v/2) v = 0."""
    v, lam = x[: system.n], x[system.n :]
    A, _ = system.forms(q, v)
    pm, pm_v, _ = p_minus(system, q, v, h)
    wd, wd_v, _ = constraint(system, q, v, h)
    J = np.block([[pm_v, A.T], [wd_v, np.zeros((system.m, system.m))]])
    return np.concatenate([pm - p + A.T @ lam, wd]), J


def projector_equations(v, system, q, reflected, h):
    """FIM08 (6): p_minus(q, v) = (P - Q)^T p, the momentum with its normal part reflected."""
    pm, pm_v, _ = p_minus(system, q, v, h)
    return pm - reflected, pm_v


def edla_equations(x, system, q, p, E0):
    """C03 (6): the equations of DLA and E(q + h v/2, v) = E0 for (v, lam, h)."""
    v, h = x[: system.n], x[-1]
    r, J = dla_equations(x[:-1], system, q, p, h)
    pm_h, wd_h = p_minus(system, q, v, h)[2], constraint(system, q, v, h)[2]
    E, E_v, E_h = energy(system, q, v, h)
    column = np.concatenate([pm_h, wd_h])[:, None]
    row = np.concatenate([E_v, np.zeros(system.m), [E_h]])
    return np.append(r, E - E0), np.vstack([np.hstack([J, column]), row])


def dla(system, q, p, v, h, steps):
    """Take steps of DLA from (q, p), guessing v."""
    rows, x = [], np.concatenate([v, np.zeros(system.m)])
    for _ in range(steps):
        x = newton(dla_equations, x, system, q, p, h)
        v = x[: system.n]
        p = p_plus(system, q, v, h)
        q = q + h * v
        rows.append(np.concatenate([q, p, x[system.n :], v]))
    return np.array(rows)


def projector(system, q, p, v, h, steps):
    """Take steps of the projector method: M w + A^T mu = p, A w = 0 gives (P - Q)^T p."""
    rows, n, m = [], system.n, system.m
    for _ in range(steps):
        M, (A, _) = system.lagrangian(q, v)[2], system.forms(q, v)
        w_mu = np.linalg.solve(
            np.block([[M, A.T], [A, np.zeros((m, m))]]), np.concatenate([p, np.zeros(m)])
        )
        lam = 2 * w_mu[n:]
        v = newton(projector_equations, 2 * w_mu[:n] - v, system, q, p - A.T @ lam, h)
        p = p_plus(system, q, v, h)
        q = q + h * v
        rows.append(np.concatenate([q, p, lam, v]))
    return np.array(rows)


def edla(system, q, p, v, h, steps):
    """Take steps of EDLA, the first with the given h; stop early where no positive step exists."""
    rows, n, t = [], system.n, 0.0
    x, E0 = np.concatenate([v, np.zeros(system.m)]), None
    for _ in range(steps):
        try:
            x = newton(dla_equations, x, system, q, p, h)
            if E0 is None:
                E0 = energy(system, q, x[:n], h)[0]
            else:
                x_h = newton(edla_equations, np.append(x, h), system, q, p, E0)
                x, h = x_h[:-1], x_h[-1]
        except (Stopped, np.linalg.LinAlgError):
            break
        if not h > 0:
            break
        v = x[:n]
        p = p_plus(system, q, v, h)
        q, t = q + h * v, t + h
        rows.append(np.concatenate([q, p, x[n:], v, [t, h]]))
    return np.array(rows)


def start(system, method, q, v, h):
    """Return the momentum carried into the first step from (q, v)."""
    p, L_q, M, L_vq, *_ = system.lagrangian(q, v)
    if method is not projector:
        return p
    # p_minus of the first step is p + (h/2) A^T lambda, with the multiplier of the continuous
    # equations at (q, v); the method reflects what it is given.
    A, Av_q = system.forms(q, v)
    K = np.block([[M, -A.T], [A, np.zeros((system.m, system.m))]])
    a_lam = np.linalg.solve(K, np.concatenate([L_q - L_vq @ v, -Av_q @ v]))
    return p - h / 2 * A.T @ a_lam[system.n :]
