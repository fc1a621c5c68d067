"""Names of nhlab for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from . import bodies as bodies
from . import diagnostics as diagnostics
from . import discrete as discrete
from . import exact as exact
from . import groups as groups
from . import methods as methods
from . import plain as plain
from . import plot as plot
from . import shapes as shapes
from . import stage as stage
from . import systems as systems
from . import widgets as widgets
from .geometry.reduction import Chaplygin as Chaplygin
from .geometry.sphere import ChaplyginSphere as ChaplyginSphere
from .methods import Composition as Composition
from .methods import DLA as DLA
from .methods import DiscreteGradient as DiscreteGradient
from .methods import EDLA as EDLA
from .run.ensemble import Ensemble as Ensemble
from .run.errors import EnsembleError as EnsembleError
from .methods import EqualImpulses as EqualImpulses
from .run.watch import Event as Event
from .mechanics.groupsystem import GroupSystem as GroupSystem
from .geometry.reduction import Horizontal as Horizontal
from .run.errors import IntegrationError as IntegrationError
from .run.errors import Interrupted as Interrupted
from .methods import Lobatto as Lobatto
from .geometry.reduction import Mixed as Mixed
from .methods import Newmark as Newmark
from .view.widgets import Picture as Picture
from .methods import Projector as Projector
from .methods import RDLA as RDLA
from .methods import REDLA as REDLA
from .methods import RK4 as RK4
from .geometry.reduction import Reduction as Reduction
from .methods import Reference as Reference
from .methods import Reversible as Reversible
from .geometry.symmetry import Symmetry as Symmetry
from .mechanics.system import System as System
from .run.trajectory import Trajectory as Trajectory
from .methods import Variational as Variational
from .view.widgets import animate as animate
from .geometry.firstlook import ask as ask
from .course.exercises import check as check
from .course.predict import covers as covers
from .run.ensemble import ensemble as ensemble
from .view.widgets import explore as explore
from .run.export import export as export
from .geometry.firstlook import growth_vector as growth_vector
from .course.exercises import hint as hint
from .run.loop import integrate as integrate
from .geometry.measure import invariant_measure as invariant_measure
from .geometry.reversibility import is_reversible as is_reversible
from .geometry.linear import linearise as linearise
from .browser.page import live as live
from .run.ensemble import load as load
from .view.widgets import motion_panel as motion_panel
from .view.widgets import panel as panel
from .course.figures import paper_figure as paper_figure
from .course.predict import predict as predict
from .course.predict import predictions as predictions
from .geometry.report import report as report
from .course.exercises import solution as solution
from .run.loop import source as source
from .mechanics.system import symbols as symbols
from .run.export import to_scipy as to_scipy

__version__: str
__all__ = [
    "Chaplygin",
    "ChaplyginSphere",
    "Composition",
    "DLA",
    "DiscreteGradient",
    "EDLA",
    "Ensemble",
    "EnsembleError",
    "EqualImpulses",
    "Event",
    "GroupSystem",
    "Horizontal",
    "IntegrationError",
    "Interrupted",
    "Lobatto",
    "Mixed",
    "Newmark",
    "Picture",
    "Projector",
    "RDLA",
    "REDLA",
    "RK4",
    "Reduction",
    "Reference",
    "Reversible",
    "Symmetry",
    "System",
    "Trajectory",
    "Variational",
    "animate",
    "ask",
    "bodies",
    "check",
    "covers",
    "diagnostics",
    "discrete",
    "ensemble",
    "exact",
    "explore",
    "export",
    "groups",
    "growth_vector",
    "hint",
    "integrate",
    "invariant_measure",
    "is_reversible",
    "linearise",
    "live",
    "load",
    "methods",
    "motion_panel",
    "panel",
    "paper_figure",
    "plain",
    "plot",
    "predict",
    "predictions",
    "report",
    "shapes",
    "solution",
    "source",
    "stage",
    "symbols",
    "systems",
    "to_scipy",
    "widgets",
]
