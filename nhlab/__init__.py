"""Geometric integrators for nonholonomic mechanics.

    import nhlab as nh

Names are imported when first used, so that ``python3 -m nhlab`` runs before anything is installed.
"""

from importlib import import_module

_HOME = {
    "system": ("System", "symbols"),
    "groupsystem": ("GroupSystem",),
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
    "reduction": ("Chaplygin", "Horizontal", "Reduction"),
    "loop": ("integrate", "source"),
    "trajectory": ("Trajectory",),
    "ensembles": ("ensemble", "Ensemble"),
    "symmetry": ("Symmetry",),
    "errors": ("EnsembleError", "IntegrationError", "Interrupted"),
    "widgets": ("explore", "animate", "panel", "Picture"),
    "exercises": ("check",),
}
_MODULES = ("bodies", "diagnostics", "discrete", "groups", "methods", "plot", "systems", "widgets")
_NAMES = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted([*_NAMES, *_MODULES, "load"])


def __getattr__(name):
    if name in _NAMES:
        value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
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
