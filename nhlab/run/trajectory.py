"""The result of a run: arrays with time first, and the ways to read them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..methods.layout import Rows
from . import files, reactions

READINGS = ("nodes", "midpoints", "projected", "average")


class Trajectory:
    """A computed motion.

    t : (N+1,) times;  q : (N+1, n) positions
    p : (N+1, n) momenta as the method evolves them (discrete methods: the arriving momentum D2Ld)
    v : (N+1, n) the velocities of these momenta, dL/dv(q, v) = p
    h : (N,) steps;  v_step : (N, n) velocity (q1 - q0)/h of the step that arrives at node k+1
    lam : (N, m) impulses of that step, D1Ld + D2Ld = A^T lam; -lam/h approximates the continuous
          multipliers (for RK4 and Reference, lam is -h times them)

    rows : all that is stored, with named parts: ``rows.q``, ``rows.v``, ..., ``rows.array``
    t0, h0 : the time of the start and the step size that was given;  q1_given : instead of v0
    inputs : name -> (N+1,), the values held in the step that arrives at each node

    ``v_projected``, ``p_projected`` lie in D.  With ``every=k`` only every k-th node is kept, and
    the step quantities are those of the last step before each kept node.
    """

    def __init__(
        self, system, method, rows, *, t0, h, every=1, message="", q1_given=False, inputs=None
    ):
        self.system, self.method, self.every, self.message = system, method, every, message
        self.t0, self.h0, self.q1_given, self.inputs = float(t0), float(h), q1_given, inputs or {}
        self.rows = Rows(method.layout(system), rows)

    def __repr__(self):
        what = f"Trajectory of {self.system.name or 'a system'} by {self.method!r}"
        end = f", {self.message}" if self.message else ""
        return f"<{what}: {self.steps} steps to t = {self.t[-1]:.6g}{end}>"

    def __len__(self):
        return len(self.rows.array)

    @property
    def steps(self):
        """Steps taken to the last stored node."""
        return (len(self) - 1) * self.every

    # ------------------------------------------------------------------ arrays

    @cached_property
    def t(self):
        if self.method.variable_step:
            return self.rows.t
        return self.t0 + self.h0 * (self.every * np.arange(len(self)))

    @cached_property
    def h(self):
        if self.method.variable_step:
            return self.rows.h[1:]
        return np.broadcast_to(self.h0, len(self) - 1)

    @property
    def q(self):
        return self.rows.q

    @cached_property
    def p(self):
        if self.method.discrete:
            return self.rows.p
        return self.system.momentum(self.q, self.v, self.t)

    @cached_property
    def v(self):
        if self.method.discrete:
            return self.system.velocity(self.q, self.p, self.t)
        return self.rows.v

    @property
    def v_step(self):
        self._need_discrete("v_step")
        return self.rows.v[1:]

    @cached_property
    def lam(self):
        lam = self.rows.lam[1:]
        if self.q1_given and len(lam):
            lam = lam.copy()
            if self.every == 1:
                lam[0] = np.nan  # no force belongs to a step that was given
        return lam

    @cached_property
    def v_projected(self):
        """P(q) v: satisfies the constraints, loses what the evolved momenta keep."""
        return self.system.project(self.q, self.v, self.t)

    @cached_property
    def p_projected(self):
        return self.system.momentum(self.q, self.v_projected, self.t)

    @cached_property
    def p_minus(self):
        """(N, n) the momentum -D1Ld that left the node before each stored step."""
        return self.on_step("p_minus")

    def on_step(self, what):
        """A part of the discrete Lagrangian, such as "impulse_plus", of each stored step."""
        self._need_discrete(what)
        return self.method.on_step(self.driven(), what, *self.starts, self.rows.v[1:], self.h)

    @property
    def starts(self):
        """(t, q) where the stored steps begin."""
        return self.t[1:] - self.h, self.system.move(self.q[1:], self.rows.v[1:], -self.h)

    def driven(self, nodes=slice(1, None)):
        """The system with the inputs of the steps that arrive at these nodes."""
        if not self.inputs:
            return self.system
        by_name = {u.name: u for u in self.system.inputs}
        return self.system.drive({by_name[k]: x[nodes] for k, x in self.inputs.items()})

    def _need_discrete(self, what):
        if not self.method.discrete:
            why = f"{self.method!r} has no discrete Lagrangian, so {what} is not defined"
            raise ValueError(f"{why}; use at='nodes' or 'projected'")

    # ------------------------------------------------------------------ readings

    def energy(self, at="nodes"):
        """The energy; which one matters.

        "nodes": of the evolved momenta, (N+1,).  "midpoints": the discrete energy of each step
        (C03's E_plus, with the work alpha h F.v of forces), (N,).  "projected": of the projected
        velocities.  "average": of the average of arriving and leaving momentum, (N-1,) at the
        inner nodes.
        """
        if at == "midpoints":
            return self.on_step("E_plus")
        return self.system.energy(*self._states(at))

    def constraint(self, at="nodes"):
        """The residual A v + b of the constraints, shape (..., m), for the readings of ``energy``.

        "midpoints" gives the discrete constraint wd of each step, velocity constraints only.
        """
        if at == "midpoints":
            return self.on_step("constraints")
        return self.system.constraint(*self._states(at))

    work, reaction = reactions.work, reactions.reaction  # of forces and constraints

    def _states(self, at):
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

    # ------------------------------------------------------------------ other forms

    def to_dataframe(self):
        """A pandas DataFrame: t, the coordinates, velocities, momenta, and per step h, lam and
        inputs."""
        import pandas as pd

        s, first = self.system, [np.nan]  # the first row has no step behind it
        data = {str(x): self.q[:, k] for k, x in enumerate(s.q)}
        data |= {str(x): self.v[:, k] for k, x in enumerate(s.v)}
        more = {"t": self.t} | {f"p_{x}": self.p[:, k] for k, x in enumerate(s.degrees)}
        more["h"] = np.concatenate([first, self.h])
        more |= {f"lam{k}": np.concatenate([first, x]) for k, x in enumerate(self.lam.T)}
        more |= self.inputs
        more = {f"step_{k}" if k in data else k: x for k, x in more.items()}
        time = next(iter(more))
        return pd.DataFrame({time: more.pop(time), **data, **more})

    def save(self, path):
        """Write everything to one ``.npz`` file; ``nh.load`` reads it back."""
        files.save(self, path)

    @classmethod
    def load(cls, path):
        """Read a file written by ``save``; nothing in it is executed or unpickled."""
        return files.load(cls, path)
