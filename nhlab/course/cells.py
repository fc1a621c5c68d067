"""Run pieces of the course's own notebooks and solutions, for pages that have no Python.

Nothing that a reader gives is executed here: only code that lies in this project.
"""

import ast


def run(code: str | list[ast.stmt], where: str) -> dict:
    """Run some code of the course and return its names with their values.

    code : a text, or statements of one
    where : the notebook or solution that it is from, for the traceback of an error
    """
    if not isinstance(code, str):
        code = ast.fix_missing_locations(ast.Module(code, []))
    space = {}
    exec(compile(code, where, "exec"), space)
    return space
