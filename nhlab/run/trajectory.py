"""The result of a run: arrays with time first, and the ways to read them."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..mechanics.spelling import no_such_attribute
from ..methods.layout import Rows
from . import files, html, reactions, tables
from .dense import Dense, state_at

if TYPE_CHECKING:
    from ..mechanics.system import System
    from ..methods.method import Method
    from .watch import Event

READINGS = ("nodes", "midpoints", "projected", "average")


class Trajectory:
    """A computed motion.

    Attributes
    ----------
    t : (N+1,) times;  q : (N+1, n) positions
    p : (N+1, n) momenta as the method evolves them (discrete methods: the arriving momentum D2Ld)
    v : (N+1, n) the velocities of these momenta, dL/dv(q, v) = p
    h : (N,) steps;  v_step : (N, n) velocity (q1 - q0)/h of the step that arrives at node k+1
    lam : (N, m) impulses of that step, D1Ld + D2Ld = A^T lam; -lam/h approximates the continuous
          multipliers (for RK4 and Reference, lam is -h times them)
    u : (N+1, r) the quasi-velocities of v_projected = X(q) u, where D is spanned by fields

    rows : all that is stored, with named parts: ``rows.q``, ``rows.v``, ..., ``rows.array``
    t0, h0 : the time of the start and the step size that was given;  q1_given : instead of v0
    inputs : name -> (N+1,), the values held in the step that arrives at each node
    events : each ``nh.Event`` that is looked for, also when the run goes on; None if there are
        none.  In a run from a file an event that was a function is None
    t_events, q_events, v_events : one array for each of them, of shapes (K,), (K, n), (K, n)
    ended_by : the index of the event that ended the run, or None
    solver_state : where the last step of nh.Reference began, to go on from; else None

    ``sol["x"]``, ``sol["vx"]`` are columns by name; ``sol(t)`` gives q and v at any times of the
    run, ``sol.at("x", t)`` one column there; ``nh.integrate(sol, steps=100)`` goes on.

    ``v_projected``, ``p_projected`` lie in D.  With ``every=k`` only every k-th node is kept, and
    the step quantities are those of the last step before each kept node.

    Examples
    --------
    >>> import nhlab as nh
    >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=100)
    >>> sol.t.shape, sol.q.shape, sol.lam.shape
    ((101,), (101, 3), (100, 1))
    >>> list(sol.to_dataframe().columns)
    ['t', 'x', 'y', 'z', 'vx', 'vy', 'vz', 'p_x', 'p_y', 'p_z', 'h', 'lam0']
    """

    system: System
    method: Method
    rows: Rows
    t0: float
    h0: float
    every: int
    message: str
    q1_given: bool
    inputs: dict[str, np.ndarray]
    events: list[Event] | None
    t_events: list[np.ndarray] | None
    q_events: list[np.ndarray] | None
    v_events: list[np.ndarray] | None
    ended_by: int | None
    solver_state: Any

    def __init__(
        self,
        system: System,
        method: Method,
        rows: np.ndarray,
        *,
        t0: float,
        h: float,
        every: int = 1,
        message: str = "",
        q1_given: bool = False,
        inputs: dict[str, np.ndarray] | None = None,
        solver_state: Any = None,
    ) -> None:
        self.system, self.method, self.every, self.message = system, method, every, message
        self.t0, self.h0, self.q1_given, self.inputs = float(t0), float(h), q1_given, inputs or {}
        self.rows, self.solver_state = Rows(method.layout(system), rows), solver_state
        self.events = self.t_events = self.q_events = self.v_events = self.ended_by = None

    def __repr__(self) -> str:
        what = f"Trajectory of {self.system.label} by {self.method!r}"
        end = f", {self.message}" if self.message else ""
        return f"<{what}: {self.steps} steps to t = {self.t[-1]:.6g}{end}>"

    def __len__(self) -> int:
        return len(self.rows.array)

    @property
    def steps(self) -> int:
        """Steps taken to the last stored node."""
        return (len(self) - 1) * self.every

    # ------------------------------------------------------------------ arrays

    @cached_property
    def t(self) -> np.ndarray:
        """(N+1,) the times of the nodes."""
        if self.method.variable_step:
            return self.rows.t
        return self.t0 + self.h0 * (self.every * np.arange(len(self)))

    @cached_property
    def h(self) -> np.ndarray:
        """(N,) the sizes of the steps that arrive at the nodes after the first."""
        if self.method.variable_step:
            return self.rows.h[1:]
        return np.broadcast_to(self.h0, len(self) - 1)

    @property
    def q(self) -> np.ndarray:
        """(N+1, n) the positions."""
        return self.rows.q

    @cached_property
    def p(self) -> np.ndarray:
        """(N+1, n) the momenta as the method evolves them, D2Ld of a discrete one."""
        if self.method.discrete:
            return self.rows.p
        return self.system.momentum(self.q, self.v, self.t)

    @cached_property
    def v(self) -> np.ndarray:
        """(N+1, n) the velocities of these momenta, dL/dv(q, v) = p."""
        if self.method.discrete:
            return self.system.velocity(self.q, self.p, self.t)
        return self.rows.v

    @property
    def v_step(self) -> np.ndarray:
        """(N, n) the velocity (q1 - q0)/h of the step that arrives at node k+1."""
        self._need_discrete("v_step")
        return self.rows.v[1:]

    @cached_property
    def lam(self) -> np.ndarray:
        """(N, m) the impulses of the constraints in the steps; -lam/h is near the multipliers."""
        lam = reactions.multipliers(self) if self.system.fields else self.rows.lam[1:]
        if self.q1_given and len(lam):
            lam = lam.copy()
            if self.every == 1:
                lam[0] = np.nan  # no force belongs to a step that was given
        return lam

    @cached_property
    def v_projected(self) -> np.ndarray:
        """(N+1, n) P(q) v: satisfies the constraints, loses what the evolved momenta keep."""
        return self.system.project(self.q, self.v, self.t)

    @cached_property
    def p_projected(self) -> np.ndarray:
        """(N+1, n) the momenta of ``v_projected``."""
        return self.system.momentum(self.q, self.v_projected, self.t)

    @cached_property
    def p_minus(self) -> np.ndarray:
        """(N, n) the momentum -D1Ld that left the node before each stored step."""
        return self.on_step("p_minus")

    def on_step(self, what: str) -> np.ndarray:
        """A part of the discrete Lagrangian of each stored step, shape (N, ...).

        Parameters
        ----------
        what : such as "Ld", "E_plus", "p_minus", "work", "impulse_plus"

        Examples
        --------
        >>> import nhlab as nh
        >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=100)
        >>> action = sol.on_step("Ld").sum()
        >>> again = nh.diagnostics.action(sol.system, sol.method, sol.t, sol.q)
        >>> bool(abs(action - again) < 1e-12)
        True
        """
        self._need_discrete(what)
        return self.method.on_step(self.driven(), what, *self.starts, self.rows.v[1:], self.h)

    @property
    def starts(self) -> tuple[np.ndarray, np.ndarray]:
        """(t, q) where the stored steps begin."""
        return self.t[1:] - self.h, self.system.move(self.q[1:], self.rows.v[1:], -self.h)

    def driven(self, nodes: slice | np.ndarray = slice(1, None)) -> System:
        """The system with the inputs of the steps that arrive at these nodes; by default at all
        but the first."""
        if not self.inputs:
            return self.system
        by_name = {u.name: u for u in self.system.inputs}
        return self.system.with_input_values({by_name[k]: x[nodes] for k, x in self.inputs.items()})

    def _need_discrete(self, what: str) -> None:
        if not self.method.discrete:
            why = f"{self.method!r} has no discrete Lagrangian, so {what} is not defined"
            raise ValueError(f"{why}; use at='nodes' or 'projected'")

    # ------------------------------------------------------------------ readings

    def energy(self, at: str = "nodes") -> np.ndarray:
        """The energy; which one matters.

        Parameters
        ----------
        at : "nodes": of the evolved momenta, (N+1,).  "midpoints": the discrete energy of each
            step (C03's E_plus, with the work alpha h F.v of forces), (N,).  "projected": of the
            projected velocities.  "average": of the average of arriving and leaving momentum,
            (N-1,) at the inner nodes

        Examples
        --------
        EDLA keeps the energy of the steps, not that of the nodes:

        >>> import nhlab as nh
        >>> sol = nh.integrate(nh.systems.particle(), nh.EDLA(), h=0.2, steps=100)
        >>> steps, nodes = sol.energy("midpoints"), sol.energy()
        >>> bool(steps.max() - steps.min() < 1e-12), bool(nodes.max() - nodes.min() > 1e-3)
        (True, True)
        """
        if at == "midpoints":
            return self.on_step("E_plus")
        return self.system.energy(*self._states(at))

    def constraint(self, at: str = "nodes") -> np.ndarray:
        """The residual A v + b of the constraints, shape (..., m).

        Parameters
        ----------
        at : as in ``energy``; "midpoints" gives the discrete constraint wd of each step, velocity
            constraints only

        Examples
        --------
        >>> import nhlab as nh
        >>> sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=100)
        >>> sol.constraint("midpoints").shape, bool(abs(sol.constraint("midpoints")).max() < 1e-14)
        ((100, 1), True)
        """
        if at == "midpoints":
            return self.on_step("constraints")
        return self.system.constraint(*self._states(at))

    work, reaction = reactions.work, reactions.reaction  # of forces and constraints
    u = cached_property(reactions.quasi_velocities)

    def _states(self, at: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, t) of a reading."""
        if at == "nodes":
            return self.q, self.v, self.t
        if at == "projected":
            return self.q, self.v_projected, self.t
        if at != "average":
            raise ValueError(f"at = {at!r} is unknown; choose one of {READINGS}")
        if self.every != 1:
            raise ValueError("at='average' needs every step stored; integrate with every=1")
        q, t = self.q[1:-1], self.t[1:-1]
        p = (self.p[1:-1] + self.p_minus[1:]) / 2
        return q, self.system.velocity(q, p, t), t

    # ------------------------------------------------------------------ between the nodes

    @cached_property
    def dense(self) -> Dense:
        """The motion between the nodes, as a ``Dense``; ``sol(t)`` asks it."""
        return Dense(self)

    __call__, at = state_at, tables.column_at

    # ------------------------------------------------------------------ other forms

    to_dataframe, to_xarray = tables.to_dataframe, tables.to_xarray
    __getitem__, _repr_html_ = tables.column, html.of_trajectory
    __iter__ = None  # columns have names, not numbers
    if not TYPE_CHECKING:  # which finds misspelt names itself
        __getattr__ = no_such_attribute

    def __array__(self, *args: object, **options: object) -> np.ndarray:
        """Refuse: a run has several arrays, and NumPy would look for numbered items."""
        raise ValueError("a Trajectory is no array; take one of its own, such as sol.q or sol['x']")

    def save(self, path: str | PathLike[str] | BinaryIO) -> None:
        """Write everything to one ``.npz`` file; ``nh.load`` reads it back.

        An event that is a function cannot be written, only what was found of it: to go on with such
        a run, give ``nh.integrate`` its ``events`` again.

        Examples
        --------
        >>> import nhlab as nh, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
        >>> nh.integrate(nh.systems.particle(), nh.DLA(), h=0.1, steps=10).save(path)
        >>> nh.integrate(nh.load(path), steps=5)
        <Trajectory of particle by DLA(alpha=0.5): 15 steps to t = 1.5>
        """
        files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str] | BinaryIO) -> Trajectory:
        """Read a file written by ``save``; nothing in it is executed or unpickled."""
        return files.load(cls, path)
