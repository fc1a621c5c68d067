"""Tangents of the exponential and the Cayley map, from matrices."""

import numpy as np
from scipy.linalg import expm, expm_frechet
from scipy.special import bernoulli, factorial


def cayley(X):
    return np.linalg.solve(np.eye(3) - X / 2, np.eye(3) + X / 2)


MAPS = {"exp": expm, "cay": cayley}


def tangent(tau, X, Y):
    """The derivative of a map of matrices at X along Y."""
    if tau == "exp":
        return expm_frechet(X, Y, compute_expm=False)
    return np.linalg.solve(np.eye(3) - X / 2, Y / 2) @ (np.eye(3) + cayley(X))


def vee(G, X):
    """xi with hat(xi) = X, shape (..., 3, 3) to (..., 3)."""
    basis = G.hat(np.eye(3))
    return np.einsum("aij,...ij->...a", basis, X) / (basis**2).sum((1, 2))


def right_tangent(G, tau, xi):
    """The matrix of d tau_xi eta = (D tau . eta) tau^-1, shape (3, 3)."""
    X, basis = G.hat(xi), G.hat(np.eye(3))
    back = np.linalg.inv(MAPS[tau](X))
    return np.stack([vee(G, tangent(tau, X, Y) @ back) for Y in basis], -1)


def inverse_tangent(G, tau, xi):
    """The matrices of d tau^-1_xi, for exp by the series of Bernoulli; shape (..., 3, 3)."""
    X, Y = G.hat(xi)[..., None, :, :], G.hat(np.eye(3))
    if tau == "cay":
        Y = (np.eye(3) - X / 2) @ Y @ (np.eye(3) + X / 2)
        return np.swapaxes(vee(G, Y), -1, -2)
    total = 0.0
    for n, B in enumerate(bernoulli(24)):
        total, Y = total + B / factorial(n) * Y, X @ Y - Y @ X
    return np.swapaxes(vee(G, total), -1, -2)
