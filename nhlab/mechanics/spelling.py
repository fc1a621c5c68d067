"""Names that were misspelt: say which one was probably meant."""

from __future__ import annotations

import difflib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable)

# What other programs call an argument -> what it is called here; no spelling leads from one to the
# other.
ELSEWHERE = {
    **dict.fromkeys(("dt", "step_size", "stepsize", "timestep"), "h"),
    **dict.fromkeys(("n", "n_steps", "nsteps", "num_steps"), "steps"),
    **dict.fromkeys(("t_end", "tend", "t_max", "tmax", "tf", "t_span", "duration"), "T"),
    **dict.fromkeys(("x0", "y0"), "q0"),
    **dict.fromkeys(("qd0", "qdot0", "u_0"), "v0"),
    "t_eval": "every",
}


def nearest(name: object, choice: Iterable[str]) -> str:
    """A question that names the most similar of the choice, or "" if none is similar.

    Capitals do not matter, since ``dla`` is the most frequent way to miss ``DLA``.

    >>> nearest("dla", ["DLA", "EDLA"])
    "; did you mean 'DLA'?"
    """
    by_small = {str(x).lower(): str(x) for x in choice}
    close = difflib.get_close_matches(str(name).lower(), by_small, n=1, cutoff=0.5)
    return f"; did you mean {by_small[close[0]]!r}?" if close else ""


def check_keywords(function: Callable, options: dict[str, Any], name: str) -> None:
    """Raise TypeError if an option is no argument of the function, with the most similar one.

    Python says which argument it does not know, but before 3.13 not which one was meant.
    """
    parameters = inspect.signature(function).parameters
    if any(x.kind is x.VAR_KEYWORD for x in parameters.values()):
        return
    names = [x for x in parameters if x != "self"]
    for option in options:
        if option not in names:
            hint = nearest(option, names) or f"; its arguments are {', '.join(names)}"
            if (meant := ELSEWHERE.get(option.lower())) in names:
                hint = f"; did you mean {meant!r}?"
            raise TypeError(f"{name}() has no argument {option!r}{hint}") from None


def spelt(function: F) -> F:
    """Wrap a public function: a misspelt argument is answered with the most similar one.

    It is looked for when a call has failed, so that a call that goes well costs nothing more.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            check_keywords(function, options, function.__name__)
            raise

    return call


def public(module: ModuleType, name: str) -> Any:
    """What a module has under a public name, where users reach it; of a function the form that
    ``spelt`` makes.

    The form takes the place of the function in its own module, too, so that it can be pickled, as
    the summary of an ensemble that other processes compute.
    """
    thing = getattr(module, name)
    if not inspect.isfunction(thing) or hasattr(thing, "__wrapped__"):
        return thing
    call = spelt(thing)
    for place, own in ((module, name), (sys.modules[thing.__module__], thing.__name__)):
        if getattr(place, own, None) is thing:
            setattr(place, own, call)
    return call


def former_name(name: str, method: F) -> F:
    """A method under its former name: it warns once at each place that still uses it."""

    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        what = f"{name} is now called {method.__name__}"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return method(*args, **options)

    return call


def missing_attribute(module: str, name: str, choice: Iterable[str]) -> AttributeError:
    """The error of a module that has no such name, with the most similar public one."""
    return AttributeError(f"module {module!r} has no attribute {name!r}{nearest(name, choice)}")


def no_such_attribute(thing: Any, name: str) -> Any:
    """The ``__getattr__`` of a result: raise AttributeError with the most similar attribute.

    Columns by name are pointed to, since ``sol.x`` is what pandas would understand.
    """
    if hasattr(type(thing), name):  # a property failed with an AttributeError of its own
        return object.__getattribute__(thing, name)
    kind, hint = type(thing).__name__, ""
    if not name.startswith("_") and "system" in vars(thing):  # programs ask for names with "_"
        own = [x.name for x in (*thing.system.q, *thing.system.v)]
        hint = f"; for the column write [{name!r}]" if name in own else nearest(name, dir(thing))
    raise AttributeError(f"{kind!r} object has no attribute {name!r}{hint}")


def tidy(module: ModuleType, spell: bool = True) -> ModuleType:
    """Have a public module list its own names alone, and answer what is misspelt with the nearest.

    Its ``__all__`` is what it says, or else the functions, classes and objects made in it; what it
    imports for itself, as ``np``, stays out of completions.

    spell : answer misspelt arguments of its functions, too
    """
    own = getattr(module, "__all__", None)
    if own is None:
        members = vars(module).items()
        own = [k for k, x in members if getattr(x, "__module__", None) == module.__name__]
        own = module.__all__ = sorted(k for k in own if not k.startswith("_"))
    for name in own if spell else ():
        public(module, name)

    def missing(name: str) -> Any:
        raise missing_attribute(module.__name__, name, own)

    if "__getattr__" not in vars(module):
        module.__getattr__ = missing
    module.__dir__ = lambda: sorted(own)
    return module
