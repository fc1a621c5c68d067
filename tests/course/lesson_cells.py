"""What the cells of a lesson define, for tests of the code that its readers see."""

import ast
from pathlib import Path
from typing import Any

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def code_cells(number: str) -> list[str]:
    """The sources of the code cells of the notebook "07b"."""
    (file,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    cells = nbformat.read(file, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def defined(number: str, *words: str) -> dict[str, Any]:
    """The names that a notebook imports, and those that the cells with these words bind.

    Of these cells the functions, assignments and imports are executed, in their order; what they
    only show, print or check is left out.
    """
    names: dict[str, Any] = {}
    for cell in code_cells(number):
        kinds = (ast.Import, ast.ImportFrom)
        if any(word in cell for word in words):
            kinds += (ast.FunctionDef, ast.Assign)
        body = [node for node in ast.parse(cell).body if isinstance(node, kinds)]
        exec(compile(ast.Module(body, []), f"<{number}>", "exec"), names)
    return names
