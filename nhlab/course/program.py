"""The program that the lessons grow: what a lesson changes in it, and a reader's own system in it.

``difference`` shows two versions of a function line by line.  ``compare`` runs a reader's L and A
by the program and by the library; ``read_formulas`` reads the formulas of the same functions.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import io
import re
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from html import escape
from inspect import signature
from typing import NamedTuple

import numpy as np
import sympy as sp

from ..mechanics.system import System, symbols
from ..plain import Run
from ..run.errors import IntegrationError
from ..run.loop import integrate
from ..run.trajectory import Trajectory
from ..view import plot
from .colours import BLUE, GREY
from .exercises import NOTHING, Said, raised

# ------------------------------------------------------------------ the difference of two versions

MARKS = {"+": "new", "~": "changed", "-": "dropped", " ": "same"}
TINTS = {"+": "rgba(0,140,90,.14)", "~": "rgba(220,140,0,.14)", "-": "rgba(128,128,128,.14)"}
EDGES = {"+": "#2A9D6F", "~": "#C98500", "-": "#888888", " ": "transparent"}
CHANGED = '<ins style="background:rgba(220,140,0,.30);text-decoration:none">{}</ins>'
ROW = (
    '<div style="display:flex;flex-wrap:wrap;gap:0 1.5em;border-left:4px solid {};background:{};'
    'padding:.1em .5em">'
    '<div style="flex:3 1 40em;min-width:0;font-size:.87em;white-space:pre-wrap;'
    "overflow-wrap:anywhere;"
    "font-family:var(--jp-code-font-family,monospace);padding-left:{}ch;"
    'text-indent:-{}ch"><b role="img" aria-label="{}">{}</b> {}</div>'
    '<div style="flex:1 1 14em;min-width:0;padding-left:1em">{}</div></div>'
)


class Line(NamedTuple):
    """A line of the new version: its mark, its text, the line it replaces, and what it says."""

    mark: str
    code: str
    before: str
    equation: str


class Difference:
    """What changes from one version of a program to the next, as HTML and as text."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines

    def __repr__(self) -> str:
        width = max(len(line.code) for line in self.lines)
        rows = (f"{x.mark} {x.code:{width}}  {x.equation}".rstrip() for x in self.lines)
        return "\n".join(["+ new line, ~ changed line, - dropped line", *rows])

    def _repr_html_(self) -> str:
        rows = "".join(map(_row, self.lines))
        says = "<b>+</b> new line, <b>~</b> changed line, <b>-</b> dropped line"
        label = "A program, line by line, with what is new in it"
        return f'<div role="group" aria-label="{label}"><p>{says}</p>{rows}</div>'


def difference(
    old: Callable | Sequence[Callable],
    new: Callable | Sequence[Callable],
    beside: dict[str, str] | None = None,
) -> Difference:
    """How the text of ``new`` differs from that of ``old``: functions, or several in a row.

    beside : a piece of a line of ``new`` -> what is written beside that line, as its equation.
    Docstrings and comments at the ends of lines are left out.
    """
    before, after = (_code_lines(x) for x in (old, new))
    beside = beside or {}
    for piece in beside:
        if sum(piece in line for line in after) != 1:
            raise ValueError(f"beside: {piece!r} must stand in one line of the new version")
    found = []
    for mark, first, second in _aligned(before, after):
        equation = "; ".join(text for piece, text in beside.items() if piece in second)
        found.append(Line(mark, second or first, first, equation if second else ""))
    return Difference(found)


def _code_lines(functions: Callable | Sequence[Callable]) -> list[str]:
    functions = [functions] if callable(functions) else functions
    return [line for f in functions for line in _bare(textwrap.dedent(inspect.getsource(f)))]


def _bare(source: str) -> list[str]:
    """The lines of a function without its docstring, empty lines and comments after code."""
    lines, first = source.splitlines(), ast.parse(source).body[0].body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and lines[row - 1][:column].strip():
            lines[row - 1] = lines[row - 1][:column]
    return [line.rstrip() for line in lines if line.strip()]


def _aligned(old: list[str], new: list[str]) -> Iterator[tuple[str, str, str]]:
    """(mark, old line, new line): the pairing in order that finds the most likeness."""
    like = [[difflib.SequenceMatcher(None, a, b, False).ratio() for b in new] for a in old]
    best = np.zeros((len(old) + 1, len(new) + 1))
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            pair = like[i][j] + best[i + 1, j + 1] if like[i][j] > 0.5 else 0
            best[i, j] = max(best[i + 1, j], best[i, j + 1], pair)
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and (j == len(new) or best[i, j] == best[i + 1, j]):
            yield "-", old[i], ""
            i += 1
        elif i == len(old) or best[i, j] == best[i, j + 1]:
            yield "+", "", new[j]
            j += 1
        else:
            yield " " if old[i] == new[j] else "~", old[i], new[j]
            i, j = i + 1, j + 1


def _row(line: Line) -> str:
    code = escape(line.code)
    if line.mark == "~":
        code = _with_changes(line.before, line.code)
    indent = len(line.code) - len(line.code.lstrip())
    code = "\u00a0" * indent + code.lstrip()  # it stays where a viewer drops white-space: pre-wrap
    hang = 6 + indent  # continued lines stand under the code
    tint = TINTS.get(line.mark, "transparent")
    mark = line.mark if line.mark.strip() else "\u2007"
    look = EDGES[line.mark], tint, hang, hang
    return ROW.format(*look, MARKS[line.mark] + " line", mark, code, escape(line.equation))


def _with_changes(before: str, after: str) -> str:
    """The new line as HTML, with the words marked that the old one does not have."""
    old, new = (re.findall(r"\w+|\s+|.", x) for x in (before, after))
    parts = []
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        text = escape("".join(new[start:end]))
        parts.append(CHANGED.format(text) if kind != "equal" and text.strip() else text)
    return "".join(parts)


# ------------------------------------------------------------------ a system of the reader's own

ROUNDING = 1e-9  # the most by which runs of one method differ, for numbers of about 1
NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
FUNCTIONS = "sin cos tan exp log sqrt sinh cosh tanh arcsin arccos arctan".split()


class Formula:
    """A SymPy expression that the functions of NumPy accept, so that plain functions show theirs.

    NumPy calls the method ``sin`` of an object that ``np.sin`` is given.
    """

    def __init__(self, expression: sp.Expr) -> None:
        self.expression = expression

    def _sympy_(self) -> sp.Expr:
        return self.expression

    def __neg__(self) -> Formula:
        return Formula(-self.expression)

    def __pos__(self) -> Formula:
        return self


def _binary(name: str) -> Callable[[Formula, object], Formula]:
    def operate(self: Formula, other: object) -> Formula:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy goes through the entries
        return Formula(getattr(self.expression, name)(sp.sympify(other, strict=True)))

    return operate


def _unary(name: str) -> Callable[[Formula], Formula]:
    return lambda self: Formula(getattr(sp, NAMES.get(name, name))(self.expression))


for _name in "add sub mul truediv pow".split():
    for _side in ("__", "__r"):
        setattr(Formula, f"{_side}{_name}__", _binary(f"{_side}{_name}__"))
for _name in FUNCTIONS:
    setattr(Formula, _name, _unary(_name))


def read_formulas(L: Callable, A: Callable | None, n: int) -> dict[str, object]:
    """What ``System`` takes of plain functions L(q, v) and A(q), or L(q, v, t) and A(q, t).

    n : the number of coordinates.  Both are called with formulas in place of numbers, so they may
    use + - * / **, @ and the functions of NumPy such as np.sin.
    """
    numbers = range(1, n + 1)
    q, v = (symbols(" ".join(f"{x}{k}" for k in numbers) + ("," if n == 1 else "")) for x in "qv")
    (t,) = symbols("t,")
    x, u = (np.array([Formula(s) for s in y], dtype=object) for y in (q, v))
    clock = lambda f, usual: [Formula(t)] if f and _required(f) > usual else []  # noqa: E731
    rows = A(x, *clock(A, 1)) @ u if A else []
    constraints = [sp.sympify(row, strict=True) for row in rows]
    timed = clock(L, 2) or clock(A, 1)
    energy = sp.sympify(L(x, u, *clock(L, 2)), strict=True)
    return {"q": q, "v": v, "L": energy, "constraints": constraints, "t": t if timed else None}


def _required(f: Callable) -> int:
    return sum(x.default is x.empty for x in signature(f).parameters.values())


class Comparison:
    """A run by the program beside that of the library: ``run``, ``library``, ``differences``."""

    def __init__(self, run: Run, library: Trajectory) -> None:
        self.run, self.library = run, library
        pairs = ((name, getattr(run, name), getattr(library, name)) for name in run._fields)
        self.differences = {name: float(np.abs(a - b).max(initial=0)) for name, a, b in pairs}

    def __str__(self) -> str:
        gap = max(self.differences.values())
        said = f"largest difference to the library in {len(self.run.t) - 1} steps: {gap:.0e}"
        return said + self.verdict()

    def verdict(self) -> str:
        """What a difference larger than rounding means, as a sentence; "" for rounding.

        Two methods differ at once, rounding grows in a run: so the first two steps tell.
        """
        limit = ROUNDING * max(np.abs(x).max(initial=1) for x in (self.library.q, self.library.p))
        if max(self.differences.values()) <= limit:
            return ""
        pairs = ((getattr(self.run, x)[:3], getattr(self.library, x)[:3]) for x in self.differences)
        early = max(np.abs(a - b).max(initial=0) for a, b in pairs)
        if early > limit:
            return (
                f". That is more than rounding, and within two steps it is {early:.0e} already: "
                "your program is not the same method"
            )
        return (
            ". The runs agree at first and part later: either this motion magnifies rounding, "
            "or your program does something else from there on"
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return self.picture()._repr_mimebundle_()

    def picture(self) -> plot.Shown:
        """The coordinates against time: the library's as grey lines, the program's as dots."""
        n = len(self.run.q[0])
        columns = min(n, 4)
        rows = -(-n // columns)
        fig, axes = plot.new(rows, columns, size=(max(5, 2.8 * columns), 2.8 * rows))
        for k, ax in enumerate(np.ravel(axes)[:n]):
            ax.plot(self.library.t, self.library.q[:, k], color=GREY, linewidth=6, label="library")
            ax.plot(self.run.t, self.run.q[:, k], ".", markersize=3, color=BLUE, label="yours")
            ax.set(xlabel="time $t$", title=f"q[{k}]")
        for ax in np.ravel(axes)[n:]:
            ax.axis("off")
        ax = np.ravel(axes)[columns - 1]
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        end = ", ".join(f"{x:.4g}" for x in self.run.q[-1])
        said = (
            f"Your q against time as dots, on the grey lines of the library. Your run ends at {end}"
        )
        return plot.show(fig, f"{said}, t = {self.run.t[-1]:.4g}; {self}.")


def compare(
    program: Callable,
    method: object,
    L: Callable,
    A: Callable | None = None,
    *,
    q0: Sequence[float],
    v0: Sequence[float],
    h: float,
    steps: int,
) -> Comparison | Said:
    """Run a reader's L and A by ``program`` and by ``method`` of the library; say how they differ.

    Where a run is not possible, one sentence says why, with the reader's own line.
    """
    functions = [L] if A is None else [L, A]
    try:
        with warnings.catch_warnings():  # of math.cos: what is raised then says the same in words
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            _check_shapes(L, A, q0, v0)
            run = program(*functions, q0, v0, h, steps)
            if run is None:
                raise ValueError(f"{NOTHING.format(program.__name__)}: does it have a `return`?")
    except Exception as error:  # whatever the reader's functions may raise
        return Said(raised(error, functions))
    try:
        formulas = read_formulas(L, A, len(q0))
    except Exception as error:
        unread = "Your run is complete, but the library cannot read L and A as formulas"
        return Said(f"{unread}: {raised(error, functions)}")
    try:
        system = System(**formulas)
        library = integrate(system, method, q0, v0, h=h, steps=steps, progress=False)
    except IntegrationError as error:
        return Said(f"Your run is complete, but the library refuses it: {error.reason}")
    except Exception as error:
        return Said(f"Your run is complete, but the library refuses it: {raised(error, functions)}")
    found = Comparison(run, library)
    print(found)
    return found


def _check_shapes(
    L: Callable, A: Callable | None, q0: Sequence[float], v0: Sequence[float]
) -> None:
    q, v = np.array(q0, float), np.array(v0, float)
    if q.ndim != 1 or q.shape != v.shape:
        raise ValueError(f"q0 = {q0} and v0 = {v0} must be lists of equally many numbers")
    energy = lambda u: L(q, u, *[0.0] * (_required(L) - 2))  # noqa: E731
    value = energy(v)
    if np.ndim(value) != 0 or value is None or value is ...:
        array = "; q and v are arrays: write q[0] for a coordinate, v @ v for a sum of squares"
        array = array if np.ndim(value) else "; does L return v @ v / 2 - ... ?"
        raise ValueError(f"L(q0, v0) = {value} must be one number{array}")
    _check_inertia(energy, v)
    if A is not None:
        rows = A(q, *[0.0] * (_required(A) - 1))
        if rows is None:
            raise ValueError(f"{NOTHING.format('A')}: does it have a `return`?")
        if np.ndim(rows) != 2 or np.shape(rows)[1] != len(q):
            raise ValueError(
                f"A(q0) has the shape {np.shape(rows)}; it must have one row for each constraint "
                f"and {len(q)} columns: write np.array([[...]])"
            )
        _check_rows(np.asarray(rows, float))


def _check_inertia(energy: Callable[[np.ndarray], float], v: np.ndarray) -> None:
    """Refuse an L without a kinetic term for some velocity, for which M has no inverse.

    Second differences show it: an L without v[k] has the same digits when v[k] changes.
    """
    e = np.eye(len(v))
    with np.errstate(all="ignore"):
        one = np.array([energy(v + a) for a in e])
        two = np.array([[energy(v + a + b) for b in e] for a in e])
        bend = two - one - one[:, None] + energy(v)
        absent = np.flatnonzero(np.abs(bend).max(1) <= 8e-16 * np.abs(two).max())
    if len(absent):
        names, squares = (" and ".join(x.format(k) for k in absent) for x in ("q[{}]", "v[{}]**2"))
        raise ValueError(f"L has no kinetic term for {names}: add a mass / 2 times {squares}")
    size = np.sqrt(np.abs(np.diag(bend)))
    if np.isfinite(bend).all() and size.all():  # with units in which all masses are 1
        _, widths, directions = np.linalg.svd(bend / size / size[:, None])
        if widths[-1] < 1e-12:
            along = directions[-1] / size
            largest = along[np.abs(along) > 0.9 * np.abs(along).max()][0]
            along = ((along / largest).round(3) + 0.0).tolist()  # 0.0 makes -0.0 to 0.0
            raise ValueError(
                f"L has no kinetic energy for v = {along}: give this motion a mass, too"
            )


def _check_rows(rows: np.ndarray) -> None:
    """Refuse rows of A(q0) of which one follows from the others, and say which these are."""
    length = np.linalg.norm(rows, axis=1)
    if not length.all():
        raise ValueError(f"row {np.argmin(length)} of A(q0) is zero, and demands nothing")
    u, sizes, _ = np.linalg.svd(rows / length[:, None])
    rank = np.sum(sizes > 1e-9)
    if rank < len(rows):
        among = np.flatnonzero(np.abs(u[:, rank:]).max(1) > 1e-9)
        raise ValueError(
            f"rows {', '.join(map(str, among))} of A(q0) are dependent, {len(rows)} rows of rank "
            f"{rank}: leave out what follows from the others"
        )
