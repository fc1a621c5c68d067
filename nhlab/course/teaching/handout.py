"""``python3 -m nhlab handout 02``: a lesson on paper, with its pictures and space for answers.

The page is made from the stored notebook; a Chromium or Chrome on this computer prints it to PDF.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import nbformat

from . import ROOT, exercise_of, plumbing, read_lesson

BROWSERS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"
FLAGS = ["--headless", "--disable-gpu", "--no-pdf-header-footer", "--virtual-time-budget=60000",
         "--disable-background-networking", "--no-first-run"]  # fmt: skip
SCRIPT = re.compile(r"<script.*?</script>", re.DOTALL)
ANSWER = '<div class="answer">Your answer</div>'
PREDICTION = re.compile(r"\bnh\.predict\(")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
  @page {{ size: A4; margin: 20mm 18mm; }}
  body {{ font: 10.5pt/1.45 Georgia, "Liberation Serif", serif; max-width: 46em; margin: auto; }}
  h1, h2, h3 {{ font-family: Helvetica, Arial, sans-serif; line-height: 1.2; }}
  h2, h3 {{ break-after: avoid; }}
  h2 {{ margin-top: 1.6em; border-top: .5pt solid #999; padding-top: .5em; }}
  pre {{ font: 8.5pt/1.35 "DejaVu Sans Mono", monospace; white-space: pre-wrap; }}
  .jp-InputArea pre {{ border-left: 2pt solid #ccc; padding-left: 1em; }}
  .prompt, .jp-InputPrompt, .jp-OutputPrompt, .anchor-link {{ display: none; }}
  button, input, select, canvas, label:has(input) {{ display: none; }}
  img {{ max-width: 100%; max-height: 15cm; break-inside: avoid; }}
  table {{ border-collapse: collapse; font-size: 9.5pt; }} td, th {{ padding: .2em .6em; }}
  .answer {{ height: 4.5cm; border: .5pt solid #999; border-radius: 2mm; margin: 1em 0;
             padding: .5em .8em; color: #777; break-inside: avoid; }}
</style>
<script>
  MathJax = {{ tex: {{ inlineMath: [['$', '$']] }}, options: {{ enableMenu: false }} }};
</script>
<script src="{mathjax}"></script></head><body>{body}</body></html>
"""


def prediction(cell: nbformat.NotebookNode) -> str | None:
    """The question of a prediction as Markdown, its choices to be marked or a box to write in.

    The stored output has the question, the choices and, folded, what was measured with the picture;
    the last is left out.  None where the cell asks for no prediction.
    """
    for output in cell.get("outputs", []):
        question, fold, _ = output.get("data", {}).get("text/markdown", "").partition("<details>")
        if fold and PREDICTION.search(cell.source):
            text, *choices = re.split(r"\n+- ", question.strip())
            return text + "\n\n" + ("  \n".join(f"☐ {x}" for x in choices) or ANSWER)
    return None


def for_paper(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as one reads it on paper: exercises as empty boxes, predictions as questions
    without their answers, results alone of cells that only import, ask or check."""
    cells = []
    for cell in notebook.cells:
        question = ANSWER if exercise_of(cell) else prediction(cell)
        if cell.cell_type == "code":
            cell.source = "" if exercise_of(cell) or plumbing(cell) else cell.source
            cell.outputs = [] if question else cell.outputs
            for output in cell.outputs:
                html = output.get("data", {}).get("text/html")
                if html:  # what plays in a browser is its still on paper
                    output.data["text/html"] = SCRIPT.sub("", html)
        cells.append(cell)
        if question:
            cells.append(nbformat.v4.new_markdown_cell(question))
    notebook.cells = [cell for cell in cells if cell.source or cell.get("outputs")]
    return notebook


def page(notebook: nbformat.NotebookNode, title: str) -> str:
    """The handout as a page that needs no network."""
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    order = ["image/png", "image/svg+xml", "text/latex", "text/html", "text/plain"]
    config = Config({"NbConvertBase": {"display_data_priority": order}})
    exporter = HTMLExporter(template_name="basic", config=config)
    body, _ = exporter.from_notebook_node(for_paper(notebook))
    mathjax = Path(find_spec("sphinx-mathjax-offline").submodule_search_locations[0])
    script = mathjax / "static/mathjax/tex-chtml.js"
    return PAGE.format(title=title, body=body, mathjax=script.as_uri())


def main(number: str) -> Path:
    """Write ``build/handout/NN_name.pdf``; its path, or that of the page where no browser is."""
    name, notebook = read_lesson(number)
    file = ROOT / f"build/handout/{name}.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(notebook, name), encoding="utf-8")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(
            f"nhlab: no Chromium or Chrome here; open {file} in a browser and print it"
        )
    pdf = file.with_suffix(".pdf")
    root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    command = [browser, *FLAGS, *root, f"--print-to-pdf={pdf}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode or not pdf.exists():
        raise SystemExit(f"nhlab: {browser} could not print {file}:\n{done.stderr[-2000:]}")
    return pdf
