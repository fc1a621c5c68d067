"""Steps as maps of phase space, differentiated exactly.

A two-form is a matrix W with W(X, Y) = X^T W Y.  On (q, p) the form Omega = dq ^ dp = -d(p dq) has
the matrix J; on (q, p, t, E) the extended form is dq ^ dp - dt ^ dE.
"""

import numpy as np
import oracle

import nhlab as nh

J = nh.diagnostics.symplectic_form


def tangent(sol, k, inputs):
    """The derivative of step k -> k+1 by ``inputs``, as a dict name -> rows."""
    row = np.nan_to_num(sol.rows.array[k])  # lam is unknown where q1 was given
    at = {"t": sol.t[k], "h": sol.h[k], "row": row, "inputs": inputs}
    T = nh.diagnostics.tangent(sol.system, sol.method, **at)
    layout = {k: n for k, n in sol.method.layout(sol.system).items() if k not in ("t", "h")}
    cuts = np.cumsum([1, 1, *layout.values()])[:-1]
    return dict(zip(("t", "h", *layout), np.split(T, cuts), strict=True))


def phase_map(sol, k):
    """D(q1, p1)/D(q0, p0); for methods without momenta by the velocities, where M = 1."""
    inputs = ("q", "p") if sol.method.discrete else ("q", "v")
    T = tangent(sol, k, inputs)
    return np.concatenate([T[name] for name in inputs])


def extended_map(sol, k):
    """D(q1, p1, t1, E1)/D(q0, p0, t0, E0) of EDLA, and the rows of lam."""
    T = tangent(sol, k, ("q", "p", "t", "e"))
    return np.concatenate([T[name] for name in ("q", "p", "t", "e")]), T["lam"]


def extended_form(n):
    form = np.zeros((2 * n + 2, 2 * n + 2))
    form[: 2 * n, : 2 * n], form[2 * n :, 2 * n :] = J(n), -J(1)
    return form


def tangent_to_D(system, q, v):
    """A basis of the vectors (dq, dv) at (q, v) in D that are tangent to A(q) v = 0, as columns."""
    here = oracle.formulas(system)
    slopes = np.hstack([np.einsum("aij,i->aj", here.dA(0, q), v), here.A(0, q)])
    return np.linalg.svd(slopes)[2][len(slopes) :].T
