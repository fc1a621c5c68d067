"""Exercises of the lessons: ``nh.check("02.1", answer)`` says whether an answer is right.

Each ``lessons/lesson_NN.py`` has a function for each exercise, ``exercise_1``, ``exercise_2``, ...
It returns a hint for a wrong answer; its docstring is said to a right one. ``takes`` and
``some_of`` say what form the answer has. The truth is computed, not stored.
"""

import html
import re
from functools import wraps
from importlib import import_module

import numpy as np


class Verdict:
    """What ``check`` says; shown in the notebook, readable in tests."""

    def __init__(self, state, text):
        self.state, self.text = state, text

    @property
    def right(self):
        return self.state == "right"

    def __repr__(self):
        head = {"open": "Not answered yet.", "wrong": "Not yet.", "right": "Right."}[self.state]
        return f"{head} {self.text}".strip()

    def _repr_html_(self):
        colour = {"open": "#666666", "wrong": "#B25000", "right": "#00734A"}[self.state]
        mark = {"open": "○", "wrong": "✗", "right": "✓"}[self.state]
        frame = f"border-left:4px solid {colour};padding:.3em .8em"
        head = f'<b style="color:{colour}">{mark}</b>'
        return f'<div style="{frame}">{head} {html.escape(repr(self))}</div>'


def exercise(name):
    """The function of exercise "02.1"."""
    lesson, _, number = str(name).partition(".")
    try:
        module = import_module(f".lessons.lesson_{lesson}", __package__)
        return getattr(module, f"exercise_{number}")
    except (ModuleNotFoundError, AttributeError):
        raise ValueError(f"there is no exercise {name!r}; write it as '02.1'") from None


def check(name, answer=...):
    """Say whether ``answer`` solves the exercise, with a hint if it does not."""
    test = exercise(name)
    if answer is ...:
        return Verdict("open", "Replace the dots by your answer and run the cell again.")
    try:
        hint = test(answer)
    except Exception as error:  # an answer may be any object, also a function that fails
        return Verdict("wrong", f"Your answer raised {type(error).__name__}: {error}")
    if hint is None:
        return Verdict("right", " ".join((test.__doc__ or "").split()))
    return Verdict("wrong", re.sub(r"\n {4,}", " ", hint))  # the source's line breaks


def near(answer, truth, rtol=1e-2):
    """True if a number or an array agrees with the truth."""
    answer, truth = np.asarray(answer, float), np.asarray(truth, float)
    return answer.shape == truth.shape and bool(np.allclose(answer, truth, rtol=rtol, atol=1e-12))


def takes(form, otherwise):
    """The exercise takes an answer for which ``form`` is true; any other is told ``otherwise``."""
    return lambda e: wraps(e)(lambda answer: e(answer) if form(answer) else otherwise)


def sized(*size):
    """The form of an array."""
    return lambda answer: np.shape(answer) == size


def some_of(names, example, missing, unknown="{} is not in the list; choose from {}."):
    """The answer is the set of those names for which the exercise has no hint."""

    def whole(e, answer):
        if isinstance(answer, str) or not all(isinstance(x, str) for x in answer):
            return f"The answer is a set of names, as in {example}."
        for name in sorted(set(answer) - set(names)):
            return unknown.format(name, ", ".join(names))
        hints = {name: e(name) for name in names}
        truth = {name for name in names if hints[name] is None}
        for name in sorted(set(answer) - truth):
            return hints[name]
        return missing.format(len(truth - set(answer))) if truth != set(answer) else None

    return lambda e: wraps(e)(lambda answer: whole(e, answer))
