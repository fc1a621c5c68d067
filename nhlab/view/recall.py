"""The call by which a panel was made, as a notebook has it, with what the call needs: the code of
panels without another."""

import ast
import inspect
import linecache
import symtable
from functools import lru_cache

PLAIN = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def call_from_outside():
    """The text of the call, in a cell or at the top of a script, that led into nhlab, after the
    statements that bind its names; none of them if there is no call or its text is not kept."""
    caller = inspect.currentframe()
    while caller and str(caller.f_globals.get("__name__", "")).split(".")[0] == "nhlab":
        caller = caller.f_back
    space = caller and caller.f_globals
    while caller and not caller.f_code.co_name.startswith("<module"):
        caller = caller.f_back  # out of the reader's own functions
    if not caller or caller.f_globals is not space:
        return []
    at = inspect.getframeinfo(caller).positions
    whole = linecache.getlines(caller.f_code.co_filename)
    lines = whole[at.lineno - 1 : at.end_lineno]
    if not lines:
        return []
    lines[-1] = lines[-1].encode()[: at.end_col_offset].decode()  # columns count bytes
    lines[0] = lines[0].encode()[at.col_offset :].decode()
    call, cells = "".join(lines), [*space.get("In", ())]
    if cells and cells[-1].strip() == "".join(whole).strip():
        cells.pop()
    return [*needed(call, [*map(statements, cells), statements("".join(whole), at.lineno)]), call]


def needed(call, cells):
    """The statements of some cells that bind the names of a call, and those that these need; what
    is used in a function is looked up when it is called, so as late as the call."""
    statements, taken = [x for cell in cells for x in cell], {}
    todo = {(name, len(statements)) for name in set().union(*uses(call))}
    while todo:
        name, before = todo.pop()
        for k in reversed(range(before)):
            node, text = statements[k]
            if name not in _binds(text):
                continue
            if k not in taken:
                taken[k], (now, later) = text, uses(text)
                todo |= {(x, k) for x in now} | {(x, len(statements)) for x in later}
            if isinstance(node, PLAIN):
                break
    return [taken[k] for k in sorted(taken)]


@lru_cache(1024)
def statements(text, before=None):
    """The statements of a cell, or those that end above a line, each with its own text."""
    try:
        nodes = ast.parse(text).body
    except SyntaxError:  # a cell that did not run
        return []
    lines = text.splitlines()
    above = [node for node in nodes if before is None or node.end_lineno < before]
    first = (min(x.lineno for x in (node, *getattr(node, "decorator_list", ()))) for node in above)
    return [(x, "\n".join(lines[k - 1 : x.end_lineno])) for k, x in zip(first, above, strict=True)]


def uses(text):
    """The names that a text takes from its module, at once and when its functions are called."""
    now, later = set(), set()

    def read(table, names):
        top = table.get_type() == "module"
        names = names if top or table.get_name().endswith(("comp", "genexpr")) else later
        used = (s for s in table.get_symbols() if s.is_referenced() and (top or s.is_global()))
        names.update(s.get_name() for s in used)
        for child in table.get_children():
            read(child, names)

    read(symtable.symtable(text, "<cell>", "exec"), now)
    return now, later


@lru_cache(4096)
def _binds(text):
    """The names that a statement binds in its module."""
    table = symtable.symtable(text, "<cell>", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def code_recreating(parts):
    """The code that shows the panel of a call once more, as a function of the values of its
    controls; None without a call."""
    *before, call = parts or [""]
    head = "\n".join([*before, f"panel = {call}"])
    return (lambda x: f"{head}\npanel.set(**{plain(x)!r})\npanel") if call else None


def clean(x):
    """A number as one would write it: 0.15, not 0.15000000000000002."""
    return float(f"{x:.12g}") + 0.0


def plain(values):
    """The values as they are read on the sliders."""
    return {k: clean(x) if isinstance(x, float) else x for k, x in values.items()}
