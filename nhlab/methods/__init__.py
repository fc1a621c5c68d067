"""One short file per integrator."""

from .classical import RK4, Reference
from .dla import DLA
from .edla import EDLA
from .projector import Projector
from .variational import Variational

__all__ = ["DLA", "EDLA", "RK4", "Projector", "Reference", "Variational"]
