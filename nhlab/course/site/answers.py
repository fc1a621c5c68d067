"""Exercises on a page without Python: what it needs to judge numbers, names and words.

The truth is computed when the site is built, by the solution that a reader can unfold; how near an
answer must come is found by asking the exercise itself.  A page has both as a packed text, so that
nobody reads the answer by accident.
"""

import ast
import base64
import functools
import html
import json
import re
from collections.abc import Callable
from importlib import import_module
from numbers import Real

import numpy as np

from .. import exercises
from ..cells import run
from ..exercises import exercise, near, written

HEAD = (
    "import numpy as np\nimport nhlab as nh\nfrom nhlab.course.lessons import lesson_{} as lesson\n"
)
NEAR = [1e-2, 1e-3, 1e-4]  # of the truth; the first that the exercise accepts
EXACT = 1e-6  # where it accepts none of them
ELSEWHERE = 'Where <a href="{}">the lesson runs</a> your answer to this one is checked.'


@functools.cache
def form(name: str) -> dict | None:
    """Return what a page needs to judge exercise "02.1".

    None if its answer is code, or if it has many right answers.

    kind : "numbers", "names" (some of them) or "word" (one of them)
    truth : list of numbers, or of words
    known : the words to choose from, [] where the exercise does not list them
    near, turned : for numbers, the share by which they may be off, and what is said to -truth
    mistakes : pairs of a wrong answer and what the exercise says to it
    otherwise : what it says to any other wrong answer, "" if that depends on the answer
    missing : for names, what it says where 1, 2, ... are missing and none is wrong
    """
    test = exercise(name)
    truth = run(HEAD.format(name.partition(".")[0]) + written(name)[1], name)["answer"]
    if isinstance(truth, set) and all(isinstance(x, str) for x in truth):
        known, order = list(getattr(test, "names", [])), sorted(truth)
        wrong = [(x, said(test, truth | {x})) for x in known if x not in truth]
        missing = [said(test, {*order[k:]}) for k in range(1, len(order))] if known else []
        return {"kind": "names", "truth": order, "known": known, "mistakes": wrong,
                "missing": missing}  # fmt: skip
    if isinstance(truth, str):
        listed = re.search(r"\[.*\]", test("?") or "")
        known = ast.literal_eval(listed[0]) if listed else []
        wrong = [(x, said(test, x)) for x in known if x != truth]
        return {"kind": "word", "truth": [truth], "known": known, "mistakes": wrong}
    values = truth if isinstance(truth, (list, tuple, np.ndarray)) else [truth]
    if not all(isinstance(x, Real) for x in values):
        return None
    judged = tolerance(test, truth)
    if judged is None:
        return None
    values = [float(x) for x in values]
    return {"kind": "numbers", "truth": values, **judged, **diagnoses(name, truth)}


def said(test: Callable, answer) -> str:
    """Return what an exercise says to an answer, "" to a right one."""
    try:
        return " ".join((test(answer) or "").split())
    except Exception as error:  # as nh.check has it: an answer that raises is not right
        return str(error)


def diagnoses(name: str, truth) -> dict:
    """Return the mistakes that an exercise knows by their numbers, and what it says to others.

    An exercise tells a mistake by ``near(answer, what the mistake gives)``.  So it is asked to
    judge answers that nobody gives, and each value with which it compares them is tried as one.
    """
    test, several = exercise(name), isinstance(truth, (list, tuple, np.ndarray))
    values = np.array(truth, float)
    strange = [1.7321 * values + shift for shift in (0.2113, 0.3779)]
    strange = [x.tolist() if several else float(x) for x in strange]
    candidates, general = compared(name, strange[0])
    otherwise = general if said(test, strange[1]) == general else ""
    found = []
    for value in candidates:
        if np.shape(value) != values.shape or not np.isfinite(value).all():
            continue
        wrong = np.array(value, float).tolist()
        words = said(test, wrong)
        if words and words != otherwise:
            found.append((wrong if several else [wrong], words))
    return {"mistakes": found, "otherwise": otherwise}


def compared(name: str, answer) -> tuple[list, str]:
    """Return the values with which an exercise compares an answer by ``near``, and what it says."""
    lesson = import_module(f"nhlab.course.lessons.lesson_{name.partition('.')[0]}")
    places = [x for x in (exercises, lesson) if getattr(x, "near", None) is near]
    found = []

    def watching(given, value, *more, **options):
        found.append(value)
        return near(given, value, *more, **options)

    for place in places:
        place.near = watching
    try:
        words = said(exercise(name), answer)
    finally:
        for place in places:
            place.near = near
    return [x for x in found if isinstance(x, (Real, list, tuple, np.ndarray))], words


def tolerance(test, truth) -> dict | None:
    """Return how far off an exercise lets numbers be, and what it says to their opposite.

    None if it accepts the double of its own solution: then there are many right answers.
    """

    def says(factor):
        several = isinstance(truth, (list, tuple))
        return said(test, [factor * x for x in truth] if several else factor * truth)

    if not says(2):
        return None
    close = next((x for x in NEAR if not says(1 + 0.9 * x)), EXACT)
    return {"near": close, "turned": says(-1) if np.any(truth) else ""}


def box(name: str, run_page: str) -> str:
    """Return the HTML of the form for an exercise, which ``lesson.js`` brings to life.

    run_page : the address of the page that says how to run a lesson
    """
    stated = form(name)
    if stated is None:
        return f'<p class="exercise elsewhere">{ELSEWHERE.format(html.escape(run_page))}</p>'
    packed = base64.b64encode(json.dumps(stated).encode()).decode()
    return f'<div class="exercise" data-name="{name}" data-packed="{packed}"></div>'
