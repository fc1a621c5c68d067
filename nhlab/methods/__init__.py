"""One short file per integrator.

Examples
--------
>>> import nhlab as nh
>>> nh.methods.DLA is nh.DLA
True
>>> nh.methods.Projector().order
2
"""

import sys as _sys

from ..mechanics.spelling import tidy as _tidy
from .classical import RK4, Reference
from .composition import Composition
from .dla import DLA
from .edla import EDLA
from .gradient import DiscreteGradient
from .impulse import EqualImpulses
from .lobatto import Lobatto
from .newmark import Newmark
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
    "EqualImpulses",
    "Lobatto",
    "Newmark",
    "Projector",
    "Reference",
    "Reversible",
    "Variational",
]

_tidy(_sys.modules[__name__])  # here, since Python puts this module into nhlab by itself
