"""A lesson for those who teach: as slides, as a handout to print, as an assignment to grade.

Each command reads the stored notebook of a lesson and writes into ``build/``; nothing is changed.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from ..notebooks import FOLDER

ROOT = FOLDER.parent
CHECK = re.compile(r'nh\.check\("([\w.]+)", *(\w+)\)')
PLUMBING = re.compile(r"^(import |from )|nh\.(predict|check|predictions|covers)\(", re.MULTILINE)


def read_lesson(number: str) -> tuple[str, nbformat.NotebookNode]:
    """The name and the notebook of the lesson with this number, for example "02" or "02b".

    Raises SystemExit, with the numbers there are, where none begins so.
    """
    files = {p.name.partition("_")[0]: p for p in sorted(FOLDER.glob("[0-9]*.ipynb"))}
    if number not in files:
        known = ", ".join(files)
        raise SystemExit(f"nhlab: there is no lesson {number!r}; choose one of {known}")
    return files[number].stem, nbformat.read(files[number], as_version=4)


def write_notebook(notebook: nbformat.NotebookNode, path: Path) -> Path:
    """Store a notebook, with links to other lessons and folders that work from where it lies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\]\((\w+\.ipynb)", rf"]({FOLDER.as_uri()}/\1", cell.source)
    nbformat.write(notebook, path)
    return path


def exercise_of(cell: nbformat.NotebookNode) -> tuple[str, str] | None:
    """The exercise that a cell asks and the name of its answer, as ("02.1", "answer"), or None."""
    match = CHECK.search(cell.source) if cell.cell_type == "code" else None
    return match and (match[1], match[2])


def plumbing(cell: nbformat.NotebookNode) -> bool:
    """Does the code of a cell only import, ask or check?  Then its result is shown without it."""
    return bool(PLUMBING.search(cell.source)) and len(cell.source.splitlines()) < 12
