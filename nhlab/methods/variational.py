"""Variational integrators: discrete Euler-Lagrange, with holonomic constraints SHAKE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..codegen.statement import Statement
from .dla import DLA
from .method import Method

if TYPE_CHECKING:
    from ..mechanics.system import System


@dataclass(frozen=True, repr=False)
class Variational(Method):
    r"""Discrete Euler-Lagrange, CM01 (2); with holonomic constraints CM01 (8), that is SHAKE.

    .. math:: D_1L_d(q_1,q_2) + D_2L_d(q_0,q_1) = Dg(q_1)^T\lambda, \qquad g(q_2) = 0

    Forces are part of the momenta, p- = -D1Ld - F-, p+ = D2Ld + F+: CM01 (34).
    Order 2 for alpha = 1/2 or the symmetric rule, else 1 from (q0, v0).  From an accurate q1 and
    for constant M it is a two-step method of order 2 for every alpha (CM01 section 4).

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> sol = nh.integrate(nh.systems.pendulum(), nh.Variational(), h=0.2, steps=500)
    >>> print(f"the energy swings by {np.ptp(sol.energy()):.3f}")
    the energy swings by 0.003
    """

    alpha: float = 0.5
    symmetric: bool = False

    composable: ClassVar[bool] = True
    keeps: ClassVar[tuple[str, ...]] = (
        "the symplectic form, without forces",
        "momenta of symmetries of Ld along which no force acts",
        "g(q) = 0",
    )
    loses: ClassVar[tuple[str, ...]] = ("energy (it oscillates but stays)",)

    def check(self, system: System) -> None:
        if system.constraints:
            raise ValueError(
                f"Variational cannot treat velocity constraints and {system!r} has "
                f"{len(system.constraints)}; use nh.DLA, nh.Projector or nh.EDLA"
            )

    def statement(self, system: System) -> Statement:
        return DLA(self.alpha, self.symmetric).statement(system)  # without velocity constraints
