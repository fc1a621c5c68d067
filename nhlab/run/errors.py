"""The exceptions of nhlab; wrong arguments are plain ``ValueError``s raised at the door."""

from __future__ import annotations

from copyreg import __newobj__


class IntegrationError(RuntimeError):
    """A run could not go on; the part computed so far is in ``.trajectory``.

    Attributes: ``method``, ``step`` (steps completed), ``time``, ``residual``, ``reason``,
    ``advice`` and ``trajectory``.
    """

    def __init__(self, reason, *, method, step, time, residual, advice, trajectory=None):
        self.reason, self.method, self.step, self.time = reason, method, step, time
        self.residual, self.advice, self.trajectory = residual, advice, trajectory
        kept = "" if trajectory is None else " The computed part is in .trajectory."
        super().__init__(
            f"{method!r} stopped after {step} steps at t = {time:.6g}: {reason} "
            f"(residual {residual:.3g}). {advice}{kept}"
        )

    def __reduce__(self):
        """Past ``__init__``, whose arguments have names; notes are kept among the attributes."""
        return __newobj__, (type(self), *self.args), vars(self)


class Interrupted(KeyboardInterrupt):
    """The keyboard stopped a run; the part computed so far is in ``.trajectory``, that of an
    ensemble in ``.ensemble``."""

    def __init__(self, message, trajectory=None, ensemble=None):
        self.trajectory, self.ensemble = trajectory, ensemble
        super().__init__(message)


class EnsembleError(RuntimeError):
    """Workers or the summary failed; the members that were done are in ``.ensemble``."""

    def __init__(self, message, ensemble=None):
        self.ensemble = ensemble
        super().__init__(message)
