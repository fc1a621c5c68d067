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
from numbers import Real

import numpy as np

from ..cells import run
from ..exercises import exercise, written

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
    """
    test = exercise(name)
    truth = run(HEAD.format(name.partition(".")[0]) + written(name)[1], name)["answer"]
    if isinstance(truth, set) and all(isinstance(x, str) for x in truth):
        return {"kind": "names", "truth": sorted(truth), "known": list(getattr(test, "names", []))}
    if isinstance(truth, str):
        listed = re.search(r"\[.*\]", test("?") or "")
        known = ast.literal_eval(listed[0]) if listed else []
        return {"kind": "word", "truth": [truth], "known": known}
    values = truth if isinstance(truth, (list, tuple, np.ndarray)) else [truth]
    if not all(isinstance(x, Real) for x in values):
        return None
    judged = tolerance(test, truth)
    return judged and {"kind": "numbers", "truth": [float(x) for x in values], **judged}


def tolerance(test, truth) -> dict | None:
    """Return how far off an exercise lets numbers be, and what it says to their opposite.

    None if it accepts the double of its own solution: then there are many right answers.
    """

    def says(factor):
        several = isinstance(truth, (list, tuple))
        try:
            return test([factor * x for x in truth] if several else factor * truth)
        except Exception as error:  # as nh.check has it: an answer that raises is not right
            return str(error)

    if says(2) is None:
        return None
    near = next((x for x in NEAR if says(1 + 0.9 * x) is None), EXACT)
    turned = says(-1) if np.any(truth) else None
    return {"near": near, "turned": " ".join(turned.split()) if turned else ""}


def box(name: str, run_page: str) -> str:
    """Return the HTML of the form for an exercise, which ``lesson.js`` brings to life.

    run_page : the address of the page that says how to run a lesson
    """
    stated = form(name)
    if stated is None:
        return f'<p class="exercise elsewhere">{ELSEWHERE.format(html.escape(run_page))}</p>'
    packed = base64.b64encode(json.dumps(stated).encode()).decode()
    return f'<div class="exercise" data-name="{name}" data-packed="{packed}"></div>'
