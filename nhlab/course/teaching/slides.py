"""``python3 -m nhlab slides 02``: a lesson as slides with live sliders, by jupyterlab-rise.

A section begins a slide, every further text a slide below it; code stays with the text before it,
and cells that only import, ask or check show their results alone.
"""

from __future__ import annotations

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


def arrange(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same notebook with the metadata that tell RISE where slides begin."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            section = cell.source.startswith(("# ", "## "))
            cell.metadata["slideshow"] = {"slide_type": "slide" if section else "subslide"}
        elif plumbing(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
    notebook.metadata["rise"] = SETTINGS
    return notebook


def main(number: str, *options: str) -> list[str]:
    """Write the slides of a lesson; the arguments of the Python that shows them."""
    name, notebook = read_lesson(number)
    path = write_notebook(arrange(notebook), ROOT / f"build/slides/{name}.ipynb")
    (path.parent / "rise.css").write_text(STYLE, encoding="utf-8")
    return ["-m", "jupyterlab_rise", str(path), *options]
