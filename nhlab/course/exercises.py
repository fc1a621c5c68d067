"""Exercises of the lessons: ``nh.check("02.1", answer)`` says whether an answer is right.

Each ``lessons/lesson_NN.py`` has a function for each exercise, ``exercise_1``, ``exercise_2``, ...
It returns a hint for a wrong answer.  ``takes`` and ``some_of`` say what form the answer has.  The
truth is computed, not stored.  Hints to ask for, the solution and what is said to a right answer
are in ``solutions/NN.md``; ``nh.hint`` and ``nh.solution`` show them.
"""

from __future__ import annotations

import html
import linecache
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import ipywidgets as w
import numpy as np

from ..run.progress import no_bars

SOLUTIONS = Path(__file__).parent / "solutions"
NOTHING = "Your function {} returns nothing"
LISTING = '<pre style="overflow-x:auto;user-select:all">{}</pre>'


class Said:
    """A sentence of ``check``, ``hint`` or ``solution``, with code below it if there is some."""

    colour: str = "#666666"
    mark: str = "○"
    text: str
    code: str

    def __init__(self, text: str, code: str = "") -> None:
        self.text, self.code = text, code

    def __repr__(self) -> str:
        return f"{self.text}\n\n{self.code}".strip()

    def html(self) -> str:
        frame = f"border-left:4px solid {self.colour};padding:.3em .8em"
        head = f'<b style="color:{self.colour}">{self.mark}</b> {html.escape(self.text)}'
        listing = LISTING.format(html.escape(self.code)) if self.code else ""
        return f'<div style="{frame}">{head}{listing}</div>'

    def _repr_html_(self) -> str:
        return self.html()


STATES = {  # of an answer: colour, mark and first words
    "open": ("#666666", "○", "Not answered yet."),
    "wrong": ("#B25000", "✗", "Not yet."),
    "right": ("#00734A", "✓", "Right."),
}


class Verdict(Said):
    """What ``check`` says; with buttons for hints and the solution until the answer is right."""

    name: str
    state: str

    def __init__(self, name: str, state: str, text: str) -> None:
        self.name, self.state = name, state
        self.colour, self.mark, head = STATES[state]
        super().__init__(f"{head} {text}".strip())

    @property
    def right(self) -> bool:
        return self.state == "right"

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        data = {"text/plain": repr(self), "text/html": self.html()}
        return data if self.right else buttons(self)._repr_mimebundle_(**kwargs) | data


def function(kind: str, name: str) -> Callable:
    """The function of exercise or prediction "02.1" in its lesson."""
    lesson, _, number = str(name).partition(".")
    try:
        module = import_module(f".lessons.lesson_{lesson}", __package__)
    except ModuleNotFoundError:
        raise ValueError(f"there is no {kind} {name!r}; write it as '02.1'") from None
    if not hasattr(module, f"{kind}_{number}"):
        numbers = sorted(int(x[len(kind) + 1 :]) for x in vars(module) if x.startswith(f"{kind}_"))
        known = ", ".join(f"{lesson}.{k}" for k in numbers) or "none"
        raise ValueError(f"there is no {kind} {name!r}; lesson {lesson} has {known}")
    return getattr(module, f"{kind}_{number}")


exercise = partial(function, "exercise")


def section(folder: Path, name: str) -> str:
    """The text about "02.1": below the heading 1 of the file 02.md."""
    lesson, _, number = name.partition(".")
    text = (folder / f"{lesson}.md").read_text(encoding="utf-8")
    return re.search(rf"^## {number}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1].strip()


def unfinished(answer: object) -> bool:
    """Is the answer dots, or a function with dots in it or in a function that it defines?"""
    code = getattr(answer, "__code__", answer)
    return code is ... or any(map(unfinished, getattr(code, "co_consts", ())))


def check(name: str, answer: object = ...) -> Verdict:
    """Say whether ``answer`` solves the exercise, with a hint if it does not.

    Parameters
    ----------
    name : of the exercise, as "02.1"
    answer : a number, an expression, a function: what the exercise asks for

    Examples
    --------
    >>> import nhlab as nh
    >>> nh.check("02.2", 0.142 / 2 ** (1 / 3)).right
    True
    >>> nh.check("02.2", 0.142)
    Not yet. ...
    """
    test = exercise(name)
    if unfinished(answer):
        open_ = "Replace the dots by your answer and run the cell again."
        return Verdict(name, "open", open_)
    tries[name] += 1
    try:
        with no_bars():
            hint = test(with_return(answer))
    except Exception as error:  # an answer may be any object, also a function that fails
        return Verdict(name, "wrong", raised(error, [answer]))
    if hint is None:
        return Verdict(name, "right", why(name))
    return Verdict(name, "wrong", re.sub(r"\n {4,}", " ", hint))  # the source's line breaks


def with_return(answer: object) -> object:
    """A reader's function as one that raises where it returns nothing; other answers as they are.

    Without it None goes on to NumPy, whose message names neither the function nor the mistake.
    """
    if not isinstance(answer, FunctionType):
        return answer

    @wraps(answer)
    def returning(*args: object, **named: object) -> object:
        value = answer(*args, **named)
        if value is None:
            raise ValueError(f"{NOTHING.format(answer.__name__)}: does it have a `return`?")
        return value

    return returning


def raised(error: Exception, functions: Sequence[object]) -> str:
    """What a reader's code raised, as one sentence with the line of his own that it came from.

    functions : the reader's functions; other objects are ignored.
    """
    codes = {f.__code__: f.__name__ for f in functions if hasattr(f, "__code__")}
    text, trace, own = " ".join(str(error).split()).rstrip("."), error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code in codes or _inside(code, codes):
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            name = codes.get(code, code.co_name)
            own = f" In {name}, at `{line}`." if line else f" In {name}."
        trace = trace.tb_next
    kind = "" if isinstance(error, (ValueError, ArithmeticError)) else f"{type(error).__name__}: "
    # of a function inside the reader's function, which ``with_return`` does not see
    none = " None is what a function without `return` gives." if "NoneType" in text else ""
    end = "" if text.endswith("?") else "."
    return f"{kind}{text}{end}{own}{none}"


def _inside(code: CodeType, codes: dict[CodeType, str]) -> bool:
    """Is this the code of a function that one of the reader's functions defines?"""
    return any(code in outer.co_consts for outer in codes)


# ---------------------------------------------------------------------------- help

tries, seen = Counter(), Counter()  # answers given, and hints shown, for each exercise


def parts(name: str) -> list[str]:
    """The texts before, in and after the code of a solution, as ``solutions/NN.md`` has them."""
    exercise(name)  # which says so if there is none
    return re.split(r"\n*^```(?:python)?\n", section(SOLUTIONS, name), flags=re.MULTILINE)


def written(name: str) -> tuple[list[str], str]:
    """The hints and the code of the solution."""
    hints, code, _ = parts(name)
    return re.findall(r"^- (.*)$", hints, re.MULTILINE), code


def why(name: str) -> str:
    """What is said to a right answer."""
    return " ".join(parts(name)[2].split())


def hint(name: str) -> Said:
    """Help with an exercise, each time a little more.

    Parameters
    ----------
    name : of the exercise, as "02.1"

    Examples
    --------
    >>> import nhlab as nh
    >>> print(nh.hint("02.1"))
    Hint ... of 2: ...
    """
    hints, _ = written(name)
    seen[name] = min(seen[name] + 1, len(hints))
    number = seen[name]
    more = "" if number < len(hints) else f' Next comes nh.solution("{name}").'
    return Said(f"Hint {number} of {len(hints)}: {hints[number - 1]}{more}")


def solution(name: str, anyway: bool = False) -> Said:
    """The solution of an exercise, after a try or all hints; with ``anyway`` at once.

    Parameters
    ----------
    name : of the exercise, as "02.1"
    anyway : True to see it without a try

    Examples
    --------
    >>> import nhlab as nh
    >>> print(nh.solution("02.2", anyway=True).code)
    answer = 0.142 / 2 ** (1 / 3)
    nh.check("02.2", answer)
    """
    hints, code = written(name)
    if not (anyway or tries[name] or seen[name] == len(hints)):
        return Said(
            f'Try it first: give an answer to nh.check("{name}", ...), or ask nh.hint("{name}"). '
            f'In a hurry? nh.solution("{name}", anyway=True)'
        )

    return Said(f"A solution of {name}. {why(name)}", f'{code}\nnh.check("{name}", answer)')


def buttons(verdict: Verdict) -> w.VBox:
    """The verdict with a button for the next hint and one for the solution."""
    help_ = w.HTML()

    def button(text: str, tip: str, show: Callable[[str], Said]) -> w.Button:
        made = w.Button(description=text, tooltip=tip)
        made.on_click(lambda _: setattr(help_, "value", show(verdict.name).html()))
        return made

    row = w.HBox(
        [
            button("Hint", "a little more each time", hint),
            button("Solution", "after a try or all hints", solution),
        ]
    )
    return w.VBox([w.HTML(verdict.html()), row, help_])


# ---------------------------------------------------------------------------- forms of answers


def near(answer: object, truth: object, rtol: float = 1e-2) -> bool:
    """True if a number or an array agrees with the truth."""
    answer, truth = np.asarray(answer, float), np.asarray(truth, float)
    return answer.shape == truth.shape and bool(np.allclose(answer, truth, rtol=rtol, atol=1e-12))


def told(
    answer: object,
    truth: object,
    mistakes: Sequence[tuple[object, str]],
    otherwise: str,
    rtol: float = 1e-2,
) -> str | None:
    """None for the truth, else the sentence for the mistake, of pairs (wrong, sentence), made."""
    if near(answer, truth, rtol):
        return None
    return next((said for wrong, said in mistakes if near(answer, wrong, rtol)), otherwise)


def takes(form: Callable[[object], bool], otherwise: str) -> Callable[[Callable], Callable]:
    """The exercise takes an answer for which ``form`` is true; any other is told ``otherwise``."""
    return lambda e: lambda answer: e(answer) if form(answer) else otherwise


def sized(*size: int) -> Callable[[object], bool]:
    """The form of an array with this shape; a text counts where it is a number, as "0.33" is."""

    def fits(answer: object) -> bool:
        if isinstance(answer, str) and not size:
            return re.fullmatch(r"\s*[-+]?\d*\.?\d+(e[-+]?\d+)?\s*", answer) is not None
        return np.shape(answer) == size

    return fits


def some_of(
    names: Sequence[str],
    example: str,
    missing: str,
    unknown: str = "{} is not in the list; choose from {}.",
) -> Callable[[Callable], Callable]:
    """The answer is the set of those names for which the exercise has no hint."""

    def whole(e: Callable[[str], str | None], answer: object) -> str | None:
        if isinstance(answer, str) or not all(isinstance(x, str) for x in answer):
            return f"The answer is a set of names, as in {example}."
        for name in sorted(set(answer) - set(names)):
            return unknown.format(name, ", ".join(names))
        hints = {name: e(name) for name in names}
        truth = {name for name in names if hints[name] is None}
        for name in sorted(set(answer) - truth):
            return hints[name]
        return missing.format(len(truth - set(answer))) if truth != set(answer) else None

    def asked(e: Callable[[str], str | None]) -> Callable:
        test = partial(whole, e)
        test.names = tuple(names)  # for a page, which offers them
        return test

    return asked
