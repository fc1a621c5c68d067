"""The exceptions of nhlab; wrong arguments are plain ``ValueError``s raised at the door."""

from __future__ import annotations

from copyreg import __newobj__
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..methods.method import Method
    from .ensemble import Ensemble
    from .trajectory import Trajectory


def require(package: str, function: str, extra: str = "") -> ModuleType:
    """Import a package that not every installation has, for the function that needs it.

    Raises ImportError naming the extra of nhlab that brings the package, or the package itself.
    """
    try:
        return import_module(package)
    except ImportError:
        remedy = f"pip install 'nhlab[{extra}]'" if extra else f"pip install {package}"
        message = f"{function} needs {package}, which is not installed: {remedy}"
        raise ImportError(message) from None


class IntegrationError(RuntimeError):
    """A run could not go on; the part computed so far is in ``.trajectory``.

    Attributes: ``method``, ``step`` (steps completed), ``time``, ``residual``, ``reason``,
    ``advice`` and ``trajectory``.

    Examples
    --------
    >>> import nhlab as nh
    >>> try:
    ...     nh.integrate(nh.systems.particle(), nh.EDLA(alpha=0.3), h=0.2, steps=1000)
    ... except nh.IntegrationError as error:
    ...     print(error.reason)
    ...     print(error.step < 1000, len(error.trajectory.t) == error.step + 1)
    no positive step exists at ...
    True True
    """

    reason: str
    method: Method
    step: int
    time: float
    residual: float
    advice: str
    trajectory: Trajectory | None

    def __init__(
        self,
        reason: str,
        *,
        method: Method,
        step: int,
        time: float,
        residual: float,
        advice: str,
        trajectory: Trajectory | None = None,
    ) -> None:
        self.reason, self.method, self.step, self.time = reason, method, step, time
        self.residual, self.advice, self.trajectory = residual, advice, trajectory
        kept = "" if trajectory is None else " The computed part is in .trajectory."
        super().__init__(
            f"{method!r} stopped after {step} steps at t = {time:.6g}: {reason} "
            f"(residual {residual:.3g}). {advice}{kept}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Past ``__init__``, whose arguments have names; notes are kept among the attributes."""
        return __newobj__, (type(self), *self.args), vars(self)


class Interrupted(KeyboardInterrupt):
    """The keyboard stopped a run; the part computed so far is in ``.trajectory``, that of an
    ensemble in ``.ensemble``.

    Examples
    --------
    >>> import nhlab as nh
    >>> issubclass(nh.Interrupted, KeyboardInterrupt)
    True
    """

    trajectory: Trajectory | None
    ensemble: Ensemble | None

    def __init__(
        self, message: str, trajectory: Trajectory | None = None, ensemble: Ensemble | None = None
    ) -> None:
        self.trajectory, self.ensemble = trajectory, ensemble
        super().__init__(message)


class EnsembleError(RuntimeError):
    """Workers or the summary failed; the members that were done are in ``.ensemble``.

    Examples
    --------
    >>> import nhlab as nh
    >>> def broken(sol):
    ...     raise ArithmeticError("no such number")
    >>> try:
    ...     nh.ensemble(nh.systems.sleigh(), nh.DLA(), h=[0.1, 0.2], steps=5, summary=broken)
    ... except nh.EnsembleError as error:
    ...     print("no such number" in str(error), error.ensemble is not None)
    True True
    """

    ensemble: Ensemble | None

    def __init__(self, message: str, ensemble: Ensemble | None = None) -> None:
        self.ensemble = ensemble
        super().__init__(message)
