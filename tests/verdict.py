"""What may come of a call: data, or one of four exceptions that help; the rest is a Finding."""

import re
import signal
import traceback
import warnings
from contextlib import contextmanager

import numpy as np

import nhlab as nh

LIMIT = 10  # seconds of CPU for a call, and for deriving a step
ALLOWED = ValueError, nh.IntegrationError, nh.EnsembleError, nh.Interrupted
NAMES = (
    r"\b(system|method|q0|v0|q1|h|steps|every|t0|parameters?|backend|summary|chunk|executor|"
    r"L|constraints?|holonomic|metric|momenta|alpha|order|rtol|atol|symmetric|q|v|t|at|mu|fibre|"
    r"base|rule|saved by nhlab|generate code)\b"
)


class Finding(Exception):
    """Something is wrong: what, and where."""


class TooSlow(BaseException):
    """Not an Exception, so that no handler of the library takes it for one."""


OURS = "energ", "too far to follow"  # warnings of energies that jump and of steps that grow


def ring(*_):
    raise TooSlow


@contextmanager
def watched():
    """No raw warnings, no call longer than LIMIT."""
    signal.signal(signal.SIGPROF, ring)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        signal.setitimer(signal.ITIMER_PROF, LIMIT, 1)
        try:
            yield
        except TooSlow:
            raise Finding(f"slow: more than {LIMIT} s of CPU") from None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    for w in heard:
        if not (w.category is RuntimeWarning and any(x in str(w.message) for x in OURS)):
            raise Finding(f"warning: {w.category.__name__}: {w.message} ({w.filename}:{w.lineno})")


def outcome(f, *args, name=NAMES, **options):
    """(value, None) or (None, exception); a Finding for what should not happen."""
    try:
        with watched():
            return f(*args, **options), None
    except Finding:
        raise
    except ALLOWED as error:
        check_message(error, name)
        return None, error
    except Exception as error:
        place = [x for x in traceback.extract_tb(error.__traceback__) if "nhlab" in x.filename]
        where = f"{place[-1].filename.split('nhlab/')[-1]}:{place[-1].lineno}" if place else "?"
        raise Finding(f"{type(error).__name__} in {where}: {str(error)[:150]}") from error


def check_message(error, name):
    text = str(error)
    if isinstance(error, np.linalg.LinAlgError):
        raise Finding(f"message: LinAlgError: {text}")
    if type(error) is ValueError and not re.search(name, text):
        raise Finding(f"message: does not name {name if name != NAMES else 'it'}: {text[:150]}")
    if isinstance(error, nh.IntegrationError):
        if repr(error.method) not in text or error.trajectory is None:
            raise Finding(f"message: no method or trajectory: {text[:150]}")
        part = error.trajectory
        if part.steps != error.step // part.every * part.every:
            raise Finding(f"part: {part.steps} steps kept of {error.step}")
        check_run(part)


def check_run(sol):
    """Finite data, and times that increase."""
    rows = (
        sol.rows.array
        if len(sol) > 1
        else sol.method.layout(sol.system).without_first_energy(sol.rows.array)
    )
    if not np.isfinite(rows).all():
        k = int(np.argmin(np.isfinite(rows).all(1)))
        raise Finding(f"not finite: row {k} by {kind(sol.method)}")
    if not np.isfinite(sol.t).all() or not (np.diff(sol.t) > 0).all():
        raise Finding(f"time: does not increase, {kind(sol.method)}")
    group = getattr(sol.system, "group", None)
    if group is not None and group.name == "SO3":
        off = np.abs(np.linalg.norm(sol.q[:, sol.system.k :], axis=1) - 1).max()
        if off > 1e-9:
            raise Finding(f"quaternion: norm off by {off:.0e}, {kind(sol.method)}")


def kind(method):
    return type(method).__name__
