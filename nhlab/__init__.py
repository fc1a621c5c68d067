"""Geometric integrators for nonholonomic mechanics.

    import nhlab as nh

Names are imported when first used, so that ``python3 -m nhlab`` runs before anything is installed.
"""

from importlib import import_module

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
        "Projector",
        "Reference",
        "Reversible",
        "Variational",
    ),
    "run.loop": ("integrate", "source"),
    "run.trajectory": ("Trajectory",),
    "run.ensemble": ("ensemble", "Ensemble"),
    "run.errors": ("EnsembleError", "IntegrationError", "Interrupted"),
    "geometry.reduction": ("Chaplygin", "Horizontal", "Mixed", "Reduction"),
    "geometry.symmetry": ("Symmetry",),
    "geometry.linear": ("linearise",),
    "geometry.report": ("report",),
    "view.page": ("live",),
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
    "bodies": "view.bodies",
    "shapes": "view.shapes",
    "stage": "view.stage",
    "plot": "view.plot",
    "widgets": "view.widgets",
}
_NAMES = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted([*_NAMES, *_MODULES, "load"])


def __getattr__(name):
    if name in _NAMES:
        value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{_MODULES[name]}", __name__)
    elif name == "load":
        value = __getattr__("Trajectory").load
    elif name == "__version__":
        from importlib.metadata import version

        value = version("nhlab")
    else:
        raise AttributeError(f"module 'nhlab' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return [*globals(), *__all__]
