"""The text of a lesson, for tests of what it says."""

from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def prose(number: str) -> str:
    """All Markdown cells of the lesson "02", with single spaces."""
    (file,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    cells = nbformat.read(file, as_version=4).cells
    return " ".join(" ".join(c.source for c in cells if c.cell_type == "markdown").split())
