"""A run as JavaScript: its start, its steps and its readings, for pages without Python.

Each is a ``Statement`` in SymPy, whose generated text is translated (``codegen.javascript``).  The
functions take (t, h, *state, *arguments) and return [ok, h, *values].
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from functools import partial

import sympy as sp

from ..codegen.derivatives import dot
from ..codegen.javascript import translated
from ..codegen.program import Program
from ..codegen.statement import Stage, Statement, dummy
from ..codegen.writing import generate
from ..mechanics.motion import motion_stage
from ..mechanics.symbolic import Substitution
from ..methods.method import Frame
from ..run.dop853 import Dop853

ALPHA = 0.123456789  # stands for the value of the slider where a method tells its arguments
TOLERANCE = 1e-13  # of the true motion in pages, beside 1 and beside each coordinate
BLANK = "\N{LEFT CEILING}{}\N{RIGHT CEILING}"  # a place in a text that the page fills in


class Code(str):
    """Text that is JavaScript already."""


def literal(x):
    """Nested dicts and lists, with numbers, strings and Code in them, in JavaScript."""
    if isinstance(x, Code):
        return str(x)
    if isinstance(x, dict):
        return "{" + ",".join(f"{_key(k)}:{literal(y)}" for k, y in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ",".join(map(literal, x)) + "]"
    return json.dumps(x)


def _key(name):
    """The name of a property, in quotes only where JavaScript needs them: pages have many."""
    return name if re.fullmatch(r"[A-Za-z]\w*", str(name), re.ASCII) else json.dumps(name)


def expression(text, *names):
    """An expression for one function of a text, or for an object of several."""
    found = names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
    return Code(f"(() => {{\n{translated(text, *names)}\nreturn {found};\n}})()")


def _function(system, make, *arguments, key=None):
    """The function of a statement ``make(system, *arguments)``, kept by these or a ``key``."""
    key = ("script", make.__name__, *(arguments if key is None else key), system.is_definite)
    statement = partial(make, system, *arguments)
    program = system.memoised(key, lambda: Program(f"{key}{system.key}", statement))
    return expression(program.text, "step")


# ---------------------------------------------------------------------------- of a system


def of_system(system, free):
    """What runs of a system need, whatever the method: names, numbers and functions.

    ``free`` : the velocities that determine the others through the constraints
    """
    if system.fields:
        raise ValueError(
            f"a page computes with one-forms, and {system!r} has fields; give it system.by_forms()"
        )
    projects = system.metric is not None or system.is_mechanical
    return {
        "name": system.name,
        "q": [str(x) for x in system.q],
        "v": [str(x) for x in system.v],
        "parameters": [[s.name, float(x)] for s, x in system.parameters.items()],
        "m": system.m,
        "complete": _function(system, completion, tuple(free)),
        "of_p": _function(system, reading_of_p),
        "of_v": _function(system, reading_of_v),
        "projected": _function(system, projected) if projects and system.m else None,
        "heights": _function(system, heights) if system.keeps_energy else None,
    }


def completion(system, free):
    """(q, v) -> v with the free components of v and A(q) v + b = 0, and what should be 0: g(q),
    and how far q is off the group."""
    s, bound = Frame(system), [k for k in range(len(system.v)) if k not in free]
    given = tuple(dummy(f"{u.name}_given") if k in bound else u for k, u in enumerate(system.v))
    equations = _constraints(s, system.v)
    if len(equations) == len(bound):
        equations = [equations[k] for k in _rows_by_pivots(system.A(system.q0)[:, bound])]
    stage = Stage(
        unknowns=tuple(system.v[k] for k in bound),
        equations=tuple(equations),
        guess=tuple(given[k] for k in bound),
    )
    off = [x - y for x, y in zip(s.q, system.normalise(s.q), strict=True) if x != y]
    update = (*system.v, *map(s.at, system.expressions.holonomic), *off)
    stated = _stated(s, (*s.q, *given), (stage,) if bound else (), update)
    return replace(stated, definite=False)  # a part of A is not definite


def _rows_by_pivots(matrix):
    """The order of the rows in which elimination without pivoting meets the pivots of one with:
    a page does not pivot, and sin(theta) would be one that is 0 where a run starts."""
    from scipy.linalg import lu

    return lu(matrix)[0].argmax(0) if len(matrix) else []


def _stated(s, carry, stages, update, args=None, let=()):
    args = s.parameters if args is None else args
    definite = s.system.is_definite
    lists = (s.system.expressions.let, s.let, let)
    let = tuple(dict.fromkeys(pair for x in lists for pair in x))
    return Statement(s.t, s.h, carry, args, tuple(stages), tuple(update), let, definite=definite)


def _read(s):
    """The energy and A v + b at (t, q, v)."""
    return s.at(s.system.expressions.E), *_constraints(s, s.system.v)


def _constraints(s, v):
    """A v + b."""
    S = s.system.expressions
    return tuple(dot(row, v) + s.at(b) for row, b in zip(s.at.table(S.A), S.b, strict=True))


def reading_of_p(system):
    """(q, p, a guess of v) -> (E, A v, v) where dL/dv(q, v) = p."""
    s = Frame(system)
    momenta = zip(map(s.at, system.expressions.L_v), s.p, strict=True)
    stage = Stage(system.v, tuple(L_v - p for L_v, p in momenta), s.v)
    return _stated(s, (*s.q, *s.p, *s.v), (stage,), (*_read(s), *system.v))


def reading_of_v(system):
    """(q, v) -> (E, A v)."""
    s = Frame(system)
    return _stated(s, (*s.q, *system.v), (), _read(s))


def projected(system):
    """(q, v) -> the energy of P(q) v."""
    s, S = Frame(system), system.expressions
    momentum = [dot(row, system.v) for row in s.at.table(S.G)]  # of v, in the metric of P
    w = tuple(dummy(f"w_{name}") for name in system.degrees)
    mu = tuple(dummy(f"mu{k}") for k in range(s.m))
    parts = zip(s.at.table(S.G), s.force(mu), momentum, strict=True)
    rows = [dot(row, w) + f - p for row, f, p in parts]
    rows += _constraints(s, w)
    there = Substitution(S, dict(zip(system.v, w, strict=True)), s.let)
    stage = Stage((*w, *mu), tuple(rows), (sp.S.Zero,) * (s.n + s.m))
    return _stated(s, (*s.q, *system.v), (stage,), [there(S.E)])


def heights(system):
    """(q, v) -> (E, V, p, the diagonal of M): what ``explain.energy_jump`` judges a run by."""
    s, S = Frame(system), system.expressions
    diagonal = [row[k] for k, row in enumerate(s.at.table(S.M))]
    rest = Substitution(S, dict.fromkeys(system.v, sp.S.Zero), s.let)
    update = (s.at(S.E), -rest(S.L), *map(s.at, S.L_v), *diagonal)
    return _stated(s, (*s.q, *system.v), (), update)


# ---------------------------------------------------------------------------- of a method


def of_method(system, method, second=False):
    """What runs of a method need beside that; with ``second``, to start from q0 and q1 too."""
    if not method.has_step:
        reading = {"discrete": False, "variable": False, "alpha": None}
        reading |= {"said": said(method), "layout": _layout(method, system)}
        return reading | {"reference": True, "loop": reference(system), "tolerance": TOLERANCE}
    found = {
        "said": said(method),
        "discrete": method.discrete,
        "variable": method.variable_step,
        "layout": _layout(method, system),
        "alpha": getattr(method, "alpha", None),
        "arguments": _arguments(system, method),
        "loop": expression(method.program(system).text, "loop"),
        "begin": _function(system, beginning, method, key=_kind(method)),
    }
    if method.discrete:
        found["constraint_alpha"] = getattr(method, "constraint_alpha", None)
        found["on_step"] = _function(system, on_step, method.frame, method.symmetric)
    if second:
        key = (*_kind(method), method.symmetric)
        found["second"] = _function(system, beginning_of_two, method, key=key)
    if method.variable_step:
        first = method.first_step
        found["first"] = {
            "arguments": _arguments(system, first),
            "step": expression(first.program(system).text, "step"),
        }
    return found


def reference(system):
    """The loop of ``nh.Reference`` in JavaScript."""
    made = system.memoised(("dop853", system.is_definite), lambda: Dop853(system))
    return expression(made.text, "loop")


def _layout(method, system):
    """name -> where a part of a row begins and ends; and the width."""
    found, at = {}, 0
    for name, width in method.layout(system).items():
        found[name] = [at, at + width]
        at += width
    return found | {"width": at}


def with_blank(method):
    """The same with the number that stands for alpha."""
    return replace(method, alpha=ALPHA) if "alpha" in {f.name for f in fields(method)} else method


def said(method):
    return repr(with_blank(method)).replace(str(ALPHA), BLANK.format("alpha"))


def _arguments(system, method):
    """The arguments of a step: numbers, or the names of what they are."""
    method = with_blank(method)
    named = {s.name: f"par.{s.name}" for s in system.parameters}
    shares = [f"share.{k}" for k in range(len(system.v))]
    found = method.arguments(system.with_arrays(named, system.is_definite), shares)
    return ["alpha" if x == ALPHA else x for x in found]


def _kind(method):
    """What of a method shapes its start: if it has momenta, and the functions that state it."""
    functions = type(method).state_start, type(method).state_arriving
    return method.discrete, *(f"{f.__module__}.{f.__qualname__}" for f in functions)


def beginning(system, method):
    """(q, v) -> (a, p): the acceleration, and the momentum that arrives at q0."""
    s, let = Frame(system), []
    motion = motion_stage(system, s.t, s.q, system.v, let)
    a, lam = motion.unknowns[: s.n], motion.unknowns[s.n :]
    p = tuple(map(s.at, system.expressions.L_v)) if method.discrete else ()
    stages, p = method.state_start(s, p, lam)
    return _stated(s, (*s.q, *system.v), (motion, *stages), (*a, *p), let=let)


def beginning_of_two(system, method):
    """(q0, q1) -> (v, p0, p1): the velocity of the step, the momenta that arrive at its ends."""
    s, let = Frame(system), []
    q1 = tuple(dummy(f"{x.name}_1") for x in s.q)
    let += [(u, (b - a) / s.h) for u, a, b in zip(system.v, s.q, q1, strict=True)]
    Ld = s.discrete(method.symmetric)
    stages, p = method.state_arriving(s, Ld.p_minus)
    update = (*system.v, *p, *Ld.p_plus)
    return _stated(s, (*s.q, *q1), stages, update, (s.alpha, *s.parameters), (*let, *Ld.let))


def on_step(system, frame, symmetric):
    """(q, v) at the begin of a step -> (E_plus, p_minus, wd)."""
    s = frame(system)
    own = dummy("constraint_alpha")
    Ld, wd = s.discrete(symmetric), s.discrete(symmetric, own)
    update = (Ld.E_plus, *Ld.p_minus, *wd.constraints)
    args = (s.alpha, own, *s.parameters)
    return _stated(s, (*s.q, *system.v), (), update, args, (*Ld.let, *wd.let))


def drawing(given, values):
    """Expressions of some symbols as a function (t, h, *given) -> [ok, h, *values]."""
    statement = Statement(dummy("t"), dummy("h"), tuple(given), (), (), tuple(values))
    return expression(generate(statement), "step")
