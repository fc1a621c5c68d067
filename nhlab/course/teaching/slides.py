"""``python3 -m nhlab slides 02``: a lesson as slides with live sliders, by jupyterlab-rise.

The tags of a cell say where it goes: ``slide`` begins a slide, ``subslide`` a slide below it,
``skip`` leaves the cell out, and without one of them a cell stays on the slide before it.  Where no
cell of a lesson has such a tag, a section begins a slide and every further text a slide below it.
A heading within a text begins a slide in either case.
Cells that only import, ask or check show their results without their code.
"""

from __future__ import annotations

import re

import nbformat

from . import ROOT, plumbing, read_lesson, write_notebook

# The theme "white" asks for no fonts from elsewhere; JupyterLab's letters are too small on a wall.
SETTINGS = {"theme": "white", "scroll": True, "transition": "none", "controls": False}
STYLE = """
.reveal .jp-RenderedMarkdown, .reveal .jp-RenderedHTMLCommon { font-size: 26px; line-height: 1.4; }
.reveal .jp-RenderedMarkdown h1 { font-size: 52px; }
.reveal .jp-RenderedMarkdown h2 { font-size: 40px; }
.reveal .jp-RenderedMarkdown h3 { font-size: 32px; }
.reveal h1, .reveal h2, .reveal h3 { text-transform: none; letter-spacing: 0; }
.reveal .cm-content, .reveal pre { font-size: 20px; line-height: 1.35; }
.reveal .jp-Placeholder, .reveal .jp-InputPrompt, .reveal .jp-OutputPrompt { display: none; }
.reveal img { max-height: 78vh; }
"""


TAGS = ("slide", "subslide", "skip")
HEADING = re.compile(r"\n+(?=## )")


def slide_type(cell: nbformat.NotebookNode) -> str | None:
    """What the tags of a cell say of its place on the slides: one of TAGS, or None."""
    found = [tag for tag in cell.metadata.get("tags", []) if tag in TAGS]
    if len(found) > 1:
        raise ValueError(f"a cell has the tags {found}; keep one of them:\n{cell.source[:80]}")
    return found[0] if found else None


def by_heading(cell: nbformat.NotebookNode) -> str | None:
    """The place of a cell in a lesson without tags: a section begins a slide, a text one below."""
    if cell.cell_type != "markdown":
        return None
    return "slide" if cell.source.startswith(("# ", "## ")) else "subslide"


def sections(notebook: nbformat.NotebookNode) -> list[tuple[nbformat.NotebookNode, str | None]]:
    """The cells with their places, texts cut before each heading, so that each section has a slide.

    The first part has the place of its cell.  The others begin slides, but a last part that only
    leads to a cell that is left out, such as an exercise, is left out with it.
    """
    place = slide_type if any(map(slide_type, notebook.cells)) else by_heading
    found = []
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        texts = HEADING.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        cell.source = texts[0]
        others = ["skip" if place(cell) == "skip" else "slide"] * len(texts[1:])
        if others and after and place(after) == "skip":
            others[-1] = "skip"
        found.append((cell, place(cell)))
        found += [(nbformat.v4.new_markdown_cell(text), kind)
                  for text, kind in zip(texts[1:], others, strict=True)]  # fmt: skip
    return found


def arrange(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same notebook with the metadata that tell RISE where slides begin."""
    placed = sections(notebook)
    for cell, place in placed:
        if place:
            cell.metadata["slideshow"] = {"slide_type": place}
        if cell.cell_type == "code" and plumbing(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
    notebook.cells = [cell for cell, _ in placed]
    notebook.metadata["rise"] = SETTINGS
    return notebook


def main(number: str, *options: str) -> list[str]:
    """Write the slides of a lesson; the arguments of the Python that shows them."""
    name, notebook = read_lesson(number)
    path = write_notebook(arrange(notebook), ROOT / f"build/slides/{name}.ipynb")
    (path.parent / "rise.css").write_text(STYLE, encoding="utf-8")
    return ["-m", "jupyterlab_rise", str(path), *options]
