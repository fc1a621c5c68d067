"""Geometric integrators for nonholonomic mechanics.

    import nhlab as nh

Names are imported when first used, so that ``python3 -m nhlab`` runs before anything is installed.
"""

from functools import partial as _partial
from importlib import import_module as _import_module

from .run import LATER_SYSTEMS as _LATER_SYSTEMS

_HOME = {
    "mechanics.system": ("System", "symbols"),
    "mechanics.groupsystem": ("GroupSystem",),
    "methods": (
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
    ),
    "run.loop": ("integrate", "source"),
    "run.watch": ("Event",),
    "run.export": ("export", "to_scipy"),
    "run.trajectory": ("Trajectory",),
    "run.ensemble": ("ensemble", "Ensemble", "load"),
    "run.errors": ("EnsembleError", "IntegrationError", "Interrupted"),
    "geometry.reduction": ("Chaplygin", "Horizontal", "Mixed", "Reduction"),
    "geometry.sphere": ("ChaplyginSphere",),
    "geometry.symmetry": ("Symmetry",),
    "geometry.firstlook": ("ask", "growth_vector"),
    "geometry.linear": ("linearise",),
    "geometry.measure": ("invariant_measure",),
    "geometry.report": ("report",),
    "geometry.reversibility": ("is_reversible",),
    "browser.page": ("live",),
    "view.widgets": ("explore", "animate", "motion_panel", "panel", "Picture"),
    "course.exercises": ("check", "hint", "solution"),
    "course.figures": ("paper_figure",),
    "course.predict": ("covers", "predict", "predictions"),
}
_MODULES = {
    "discrete": "mechanics.discrete",
    "groups": "mechanics.groups",
    "systems": "mechanics.catalogue",
    "methods": "methods",
    "plain": "plain",
    "diagnostics": "geometry.diagnostics",
    "exact": "geometry.exact",
    "bodies": "view.bodies",
    "shapes": "view.shapes",
    "stage": "view.stage",
    "plot": "view.plot",
    "widgets": "view.widgets",
}
# Packages that not every installation has, and what a module needs that is not served by "lab".
_OPTIONAL = ("matplotlib", "ipywidgets", "pandas", "bokeh")
_EXTRAS = {"view.plot": "plot", "browser.page": "live"}
_NAMES = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted([*_NAMES, *_MODULES])


def _import(module, name):
    """Import a module of nhlab for the public name; a package that is missing is asked for."""
    try:
        return _import_module(f".{module}", __name__)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OPTIONAL:
            raise
        extra = f"pip install 'nhlab[{_EXTRAS.get(module, 'lab')}]'"
        raise ImportError(f"nh.{name} needs {package}, which is not installed: {extra}") from None


def __getattr__(name):
    if name in _NAMES:
        value = _spelling().public(_import(_NAMES[name], name), name)
    elif name in _MODULES:
        is_text = name == "plain"  # to read and to copy, so its functions stay as they are written
        value = _spelling().tidy(_import(_MODULES[name], name), spell=not is_text)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("nhlab")
    else:
        raise _spelling().missing_attribute(__name__, name, __all__)
    globals()[name] = value
    return value


for _name in ("Chaplygin", "Horizontal", "Mixed"):
    _LATER_SYSTEMS[_name] = _partial(__getattr__, _name)
del _name


def _spelling():
    return _import_module(".mechanics.spelling", __name__)


def __dir__():
    return [*__all__, "__version__"]
