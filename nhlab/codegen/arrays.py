"""The text of a step for many states at once: each stops when its own Newton has converged.

A loop of the text goes on until all have.  Here it leaves alone those that are done, so that no
state depends on its company.
"""

from __future__ import annotations

import ast

import numpy as np

from .printing import NUMPY


def step_of_arrays(text, file):
    """``step`` of a text, as a function of arrays."""
    tree = ast.parse(text)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            function.body = _held(function.body)
    space = {}
    exec(compile(ast.fix_missing_locations(tree), file, "exec"), space)
    space |= NUMPY | {"hold_": hold}
    return space["step"]


def _held(lines):
    """The lines with ``hold_`` in the loops that end with ``ok = ...; if all_(ok): break``."""
    found, known = [], set()
    for k, line in enumerate(lines):
        if not (isinstance(line, ast.For) and "all_(" in ast.unparse(line.body[-1])):
            found.append(line)
            known |= _assigned([line])
            continue
        ok, tests = line.body[-2].targets[0].id, ast.unparse(line.body[-2].value)
        kept = (known | _used(lines[k + 1 :])) & _assigned(line.body) - {ok}
        unknowns = ", ".join(sorted(kept))
        line.body[-2:-1] = _parsed(f"{ok}, kept_ = hold_({ok}, {tests}, kept_, ({unknowns},))")
        found += [*_parsed(f"{ok} = kept_ = None"), line, *_parsed(f"({unknowns},) = kept_")]
    return found


def hold(ok, now, kept, values):
    """Which states have converged by now, and their values when they did; those of the others."""
    if ok is None:
        return now, values
    return ok | now, tuple(np.where(ok, a, b) for a, b in zip(kept, values, strict=True))


def _used(lines):
    """The names whose values the lines need."""
    found, assigned = set(), set()
    for line in lines:
        names = (x for x in ast.walk(line) if isinstance(x, ast.Name))
        found |= {x.id for x in names if isinstance(x.ctx, ast.Load)} - assigned
        assigned |= _assigned([line])
    return found


def _assigned(lines):
    names = (x for line in lines for x in ast.walk(line) if isinstance(x, ast.Name))
    return {x.id for x in names if isinstance(x.ctx, ast.Store)}


def _parsed(text):
    return ast.parse(text).body
