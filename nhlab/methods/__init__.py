"""One short file per integrator."""

from .classical import RK4, Reference
from .composition import Composition
from .dla import DLA
from .edla import EDLA
from .gradient import DiscreteGradient
from .projector import Projector
from .reduced import RDLA, REDLA
from .reversible import Reversible
from .variational import Variational

__all__ = [
    "DLA",
    "EDLA",
    "RDLA",
    "REDLA",
    "RK4",
    "Composition",
    "DiscreteGradient",
    "Projector",
    "Reference",
    "Reversible",
    "Variational",
]
