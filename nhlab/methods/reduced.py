"""DLA and EDLA on the reduced space, CM01 section 5.3, C03 Prop. 3 and the poster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .dla import DLA
from .edla import EDLA
from .method import Frame, Method

if TYPE_CHECKING:
    import sympy as sp

    from ..mechanics.discrete import DiscreteLagrangian
    from ..mechanics.system import System


class ReducedFrame(Frame):
    """A step with the momenta of the reduced discrete Lagrangian."""

    def discrete(self, symmetric: bool, alpha: sp.Expr | float | None = None) -> DiscreteLagrangian:
        alpha = self.alpha if alpha is None else alpha
        reduced: Any = self.system  # by the check of the methods below
        return reduced.discretise_reduced(self.t, self.q, self.v1, self.h, alpha, symmetric)


def _need_reduction(self: Method, system: System) -> None:
    if system.full is None:
        raise ValueError(
            f"{self!r} runs on reduced systems and {system!r} is none; make one "
            "with nh.Chaplygin or nh.Horizontal"
        )


@dataclass(frozen=True, repr=False)
class RDLA(Method):
    r"""Reduced DLA, CM01 (32): discretise, then reduce.

    .. math:: D_1L_d^*(r_1,r_2) + D_2L_d^*(r_0,r_1) = F^-(r_1,r_2) + F^+(r_0,r_1)

    With a horizontal symmetry :math:`\hat A^T\lambda` and the reduced constraints come along.
    Reconstructed it is the motion of ``nh.DLA`` to round-off, so it keeps and loses the same.  Its
    momenta are :math:`p^+ = D_2L_d^* - F^+`.  Order 2 for alpha = 1/2 or the symmetric rule, else
    1.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> import numpy as np
    >>> full = nh.systems.particle()
    >>> one = nh.integrate(full, nh.DLA(), h=0.2, steps=100)
    >>> two = nh.integrate(nh.Chaplygin(full, fibre="z"), nh.RDLA(), h=0.2, steps=100)
    >>> bool(np.abs(one.q[:, :2] - two.q).max() < 1e-12)
    True
    """

    alpha: float = 0.5
    symmetric: bool = False

    frame: ClassVar[type[Frame]] = ReducedFrame
    constraint_alpha: ClassVar[None] = None
    keeps: ClassVar[tuple[str, ...]] = (
        "the reduced motion of DLA",
        "the reduced discrete constraints",
    )
    loses: ClassVar[tuple[str, ...]] = ("energy", "the symplectic form")

    check = _need_reduction
    statement = DLA.statement

    @property
    def full(self) -> DLA:
        """The method of the full system."""
        return DLA(self.alpha, self.symmetric)


@dataclass(frozen=True, repr=False)
class REDLA(EDLA):
    r"""Reduced EDLA, C03 Prop. 3: RDLA with the step size as an unknown.

    .. math::
        E^-(t_1,r_1,t_2,r_2) &= E^+(t_0,r_0,t_1,r_1) \\
        D_2L_d^*(t_1,r_1,t_2,r_2) + D_4L_d^*(t_0,r_0,t_1,r_1) &= F^-(1,2) + F^+(0,1)

    The energies are the full system's.  Where f depends on the times, as it does for constraints
    that depend on time and for J_d = mu, they are not the derivatives of Ld* by the times, which
    C03 prints, but differ from them by dl_d/df df/dt.  Order as EDLA.

    Parameters
    ----------
    alpha : where in a step L is taken, in [0, 1]; 1/2 is the midpoint
    symmetric : True for the mean of the rules alpha and 1 - alpha

    Examples
    --------
    >>> import nhlab as nh
    >>> reduced = nh.Chaplygin(nh.systems.robot(), fibre="x y")
    >>> sol = nh.integrate(reduced, nh.REDLA(), h=0.1, steps=50)
    >>> bool((sol.h > 0).all())
    True
    """

    frame: ClassVar[type[Frame]] = ReducedFrame
    keeps: ClassVar[tuple[str, ...]] = (
        "the reduced motion of EDLA",
        "its discrete energy or its balance",
    )

    check = _need_reduction

    @property
    def first_step(self) -> RDLA:
        return RDLA(self.alpha, self.symmetric)

    @property
    def full(self) -> EDLA:
        """The method of the full system."""
        return EDLA(self.alpha, self.symmetric)
