"""The types of ``plain.py``, beside it so that the file itself stays 250 lines of mathematics."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .mechanics.system import System

Lagrangian = Callable[..., Any]  # L(q, v), or L(q, v, t) for methods with the step as an unknown
Rows = Callable[..., Any]  # A(q), or A(q, t)
Function = Callable[..., Any]
Node = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # q, p, lam, v
Solver = Callable[[Callable[[np.ndarray], np.ndarray], np.ndarray], np.ndarray]

class Run(NamedTuple):
    t: np.ndarray
    q: np.ndarray
    p: np.ndarray
    lam: np.ndarray

def D(slot: int, f: Function, *x: Any) -> Any: ...
def discretise(L: Lagrangian, h: float, alpha: float) -> Function: ...
def solve(equations: Callable[[np.ndarray], np.ndarray], guess: np.ndarray) -> np.ndarray: ...
def begin(L: Lagrangian, A: Rows, q0: ArrayLike, v0: ArrayLike, h: float) -> Node: ...
def march(
    equations: Function,
    arriving: Function,
    start: Node,
    h: float,
    steps: int,
    solve: Solver = ...,
    move: Function = ...,
) -> Run: ...
def variational(
    L: Lagrangian, q0: ArrayLike, v0: ArrayLike, h: float, steps: int, alpha: float = 0.5
) -> Run: ...
def dla(
    L: Lagrangian,
    A: Rows,
    q0: ArrayLike,
    v0: ArrayLike,
    h: float,
    steps: int,
    alpha: float = 0.5,
    solve: Solver = ...,
) -> Run: ...
def projector(
    L: Lagrangian, A: Rows, q0: ArrayLike, v0: ArrayLike, h: float, steps: int, alpha: float = 0.5
) -> Run: ...
def kinetic(L: Lagrangian, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
def mirror(
    M: np.ndarray,
    b: np.ndarray,
    A: np.ndarray,
    p: np.ndarray,
    leaving: np.ndarray,
    lam: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]: ...
def constraint_force(
    M: np.ndarray, A: np.ndarray, force: np.ndarray, bend: np.ndarray
) -> np.ndarray: ...
def group_projector(
    L: Lagrangian,
    A: Rows,
    g0: ArrayLike,
    w0: ArrayLike,
    h: float,
    steps: int,
    basis: Sequence[ArrayLike],
) -> Run: ...
def in_time(
    method: Callable[..., Run],
    L: Lagrangian,
    A: Rows,
    q0: ArrayLike,
    v0: ArrayLike,
    h: float,
    steps: int,
    alpha: float,
) -> Run: ...
def edla(
    L: Lagrangian, A: Rows, q0: ArrayLike, v0: ArrayLike, h: float, steps: int, alpha: float = 0.5
) -> Run: ...
def rdla(
    L: Lagrangian,
    A: Rows,
    q0: ArrayLike,
    v0: ArrayLike,
    h: float,
    steps: int,
    alpha: float = 0.5,
    solve: Solver = ...,
) -> Run: ...
def redla(
    L: Lagrangian, A: Rows, q0: ArrayLike, v0: ArrayLike, h: float, steps: int, alpha: float = 0.5
) -> Run: ...
def functions(system: System, order: str | None = None) -> tuple[Lagrangian, Rows]: ...
