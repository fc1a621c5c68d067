"""Exercises of the lessons: ``nh.check("02.1", answer)`` says whether an answer is right.

Each lesson has a module ``lesson_NN`` with one function per exercise, named ``e1``, ``e2``, ...
It returns None for a right answer and a hint otherwise; its docstring is said to a right answer.
The truth is computed, not stored.
"""

from __future__ import annotations

import html
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
        return getattr(import_module(f".lesson_{lesson}", __name__), f"e{number}")
    except (ImportError, AttributeError):
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
    return Verdict("wrong", hint)


def near(answer, truth, rtol=1e-2):
    """True if a number or an array agrees with the truth."""
    answer, truth = np.asarray(answer, float), np.asarray(truth, float)
    return answer.shape == truth.shape and bool(np.allclose(answer, truth, rtol=rtol, atol=1e-12))
