"""A notebook as a page to read: its stored outputs, predictions as forms, solutions folded.

Nothing is run.  What only a running notebook can do is not shown as if it worked: a line says how
to run the lesson, and exercises have their hints and solution folded in place of the buttons.
"""

import ast
import base64
import gzip
import hashlib
import html
import io
import json
import re

import nbformat
from PIL import Image

from ...view.panel import RUN
from ...view.player import KEY, player
from .. import predict
from ..exercises import why, written
from . import answers
from .plug import BEFORE_EXERCISES, PICTURE_HERE

MOVING = "Figures with sliders are computed in your browser."
RUNS = "[Run this lesson]({}) to change its code."
RUN_ALL = re.compile(r"Choose \*Run ▸ Run All Cells\*.*?(?:\n\n|\Z)", re.DOTALL)  # not here
# What a notebook says above its exercises, and what a page says there.
DOTS = re.compile(
    r"(?:In a running notebook, r|R)eplace the dots(?: by your answer)? and run the cell"
    r"(?:: it tells[^.]*|; on the course's web pages[^.]*)?\.(?: Either tells you[^.]*\.)?"
)
ANSWERS = "Write your answer below its question: the page tells you whether you are right."
DATA = r"data:image/png;base64,([\w+/=]+)"
# What a stored motion has in it: its still, and the player's name and code, packed, which a page
# needs once.
MOTION = re.compile(r'<div class="nhlab-stage".*?</script></div>\s*')
STILL = re.compile(r"data:image/webp;base64,([\w+/=]+)")
STAGE = re.compile(
    r'(<div class="nhlab-stage".*?,K=\'(\w+)\'.*?decode\(await open\(\')([\w+/=]+)(\'\)\))'
)
EXERCISE = re.compile(r'nh\.check\("(\d\db?\.\d+)"')
PREDICTION = re.compile(r'nh\.predict\("(\d\db?\.\d+)"')
COUNTED = "[Your predictions are counted here"  # what a notebook stores of nh.predictions
TALLY = '<p class="tally" aria-live="polite">Your predictions are counted here.</p>'
PLUMBING = {"predict", "predictions", "check", "covers"}  # calls that only a running lesson needs
# Sphinx puts displays with line breaks into an environment without tags, unless they have one.
TAGGED = re.compile(r"\$\$((?:(?!\$\$).)*?\\\\(?:(?!\$\$).)*?\\tag(?:(?!\$\$).)*?)\$\$", re.DOTALL)
PLAY = "## Try it here\n\nYour browser computes these runs; move the sliders."
FOLD = "<details><summary>{}</summary>\n\n{}\n\n</details>"
# A mark of a paper that stands alone in parentheses: where there is room it goes into the margin.
PAPER = re.compile(r" ?\(((?:CM01|FIM08|C03|DRP)(?:[^()\n]|\([^()\n]*\))*)\)")
HEADING = re.compile(r"\]\(((?:\w+\.ipynb)?)#([^)\s]+)\)")  # a link to a heading, as in JupyterLab
RAW = "\n\n``````{{raw}} html\n{}\n``````\n\n"  # HTML in a page of text, whatever is in it


class Pictures:
    """The pictures of the lessons as files, so that a page can be shown before they have come."""

    def __init__(self, folder, url):
        self.folder, self.url = folder, url
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, data: bytes, suffix: str) -> str:
        """Write a file that is named by what is in it; return its address."""
        name = hashlib.sha256(data).hexdigest()[:16] + suffix
        (self.folder / name).write_bytes(data)
        return f"{self.url}/{name}"

    def image(self, data: str, alt: str) -> str:
        """Return the HTML that shows a PNG (base64) and says what is on it."""
        picture, small = Image.open(io.BytesIO(base64.b64decode(data))), io.BytesIO()
        picture.save(small, "webp", lossless=True, method=2)  # the same pixels in half the bytes
        width, height = picture.size
        size = f'width="{width}" height="{height}" loading="lazy" class="picture"'
        address = self.file(small.getvalue(), ".webp")
        return f'<img alt="{html.escape(alt)}" src="{address}" {size}>'

    def stages(self, text: str) -> str:
        """Return a text in which motions have their stills and their player in files."""

        def play(found):
            before, key, stored, after = found.groups()
            # an output of another version is played by the player that it has stored
            code = player().encode() if key == KEY else gzip.decompress(base64.b64decode(stored))
            return f'<script src="{self.file(code, ".js")}"></script>{before}{after}'

        text = STILL.sub(lambda found: self.file(base64.b64decode(found[1]), ".webp"), text)
        return STAGE.sub(play, text)


def page(notebook, pictures, run, live=None):
    """The notebook of the page; ``run`` is the address of how to run a lesson.

    ``live`` has the HTML of figures that move, by a piece of the code that makes their panels; one
    that no cell makes comes before the exercises.
    """
    live = dict(live or {})
    added = live.pop(BEFORE_EXERCISES, None)
    found = [c for cell in notebook.cells for c in read(cell, pictures, run, live)]
    if added:
        insert(found, PLAY + RAW.format(added))
    if left := [code for code in live if not any(code in c.source for c in notebook.cells)]:
        raise ValueError(f"no cell has the code {left[0]!r} of a live figure")
    first = found[0]
    head, _, rest = first.source.partition("\n\n")
    first.source = f"{head}\n\n{note(found, run, live or added)}\n\n{RUN_ALL.sub('', rest)}"
    return nbformat.v4.new_notebook(cells=found, metadata=notebook.metadata)


def insert(cells, text):
    """Put a text before the exercises, wherever in a cell they begin, else at the end."""
    new = nbformat.v4.new_markdown_cell
    for k, cell in enumerate(cells):
        head, heading, rest = f"\n{cell.source}".partition(f"\n{BEFORE_EXERCISES}")
        if heading and cell.cell_type == "markdown":
            above = [new(head.strip())] if head.strip() else []
            cells[k : k + 1] = [*above, new(text), new((heading + rest).strip())]
            return
    cells.append(new(text))


def note(cells, run, live):
    """Say in a line what can be done here and what elsewhere; nothing where there is nothing."""
    text = "\n".join(c.source + str(c.get("outputs", "")) for c in cells)
    if not (live or "<details>" in text or f">{RUN}</a>" in text):
        return ""
    return "*" + " ".join(filter(None, [MOVING if live else "", RUNS.format(run)])) + "*"


def only_plumbs(code):
    """Tell whether a cell only imports, asks or checks: then its code is folded."""

    def plumbs(statement):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return True
        call = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and getattr(call, "value", None) is ...:
            return True  # the dots that an answer replaces
        name = getattr(getattr(call, "func", None), "attr", None)
        return isinstance(statement, ast.Expr) and name in PLUMBING

    return all(map(plumbs, ast.parse(code).body))


def read(cell, pictures, run, live):
    """A cell as it is read, followed by cells of text with its folded parts."""
    if cell.cell_type != "code":
        text = TAGGED.sub(r"\\begin{equation*}\1\\end{equation*}", cell.source)
        text = DOTS.sub(ANSWERS, text)
        text = HEADING.sub(lambda found: f"]({found[1]}#{anchor(found[2])})", text)
        cell.source = "\n\n".join(map(noted, text.split("\n\n")))
        return [cell]
    moving = next((x for code, x in live.items() if code in cell.source), None)
    outputs, text = [], []
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/markdown" in data:  # a prediction; its picture gives the answer away
            name = PREDICTION.search(cell.source)[1]
            text.append(prediction(name, data["text/markdown"], pictures, run, moving))
        elif data.get("text/plain", "").startswith("Not answered yet"):
            text += [solution(name, run) for name in EXERCISE.findall(cell.source)]
        elif data.get("text/plain", "").startswith(COUNTED):
            text.append(RAW.format(TALLY))
        else:
            if "<img" in data.get("text/html", ""):
                data.pop("image/png", None)
                data["text/html"] = shown(data["text/html"], pictures, run, moving)
            outputs.append(output)
    cell.outputs = outputs
    tags = {"hide-input": only_plumbs(cell.source), "sketch": "pictures.show(" in cell.source}
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), *(x for x, on in tags.items() if on)]
    return [cell, *(nbformat.v4.new_markdown_cell(x) for x in text)]


def anchor(heading):
    """The name that a page gives to a heading which JupyterLab calls "Why-it-zigzags?"."""
    return re.sub(r"[^\w-]", "", heading.lower())


def noted(paragraph):
    """A paragraph whose marks of papers can stand in the margin; tables and headings stay."""
    if paragraph.lstrip().startswith(("|", "#", "$$", "```", ":::", "\\begin")):
        return paragraph
    return PAPER.sub(r'<span class="paper"> (\1)</span>', paragraph)  # with the space before it


def invitation(run):
    """In place of the advice to run the notebook: where it says how."""
    return f'<a href="{page_address(run)}">{RUN}</a>'


def page_address(source):
    """The address of the page that is made of a text."""
    return re.sub("[.]md$", ".html", source)


def shown(text, pictures, run, moving):
    """The HTML of a picture or panel, with the picture as a file, or with what moves."""
    if moving:
        return moving
    text = re.sub(
        rf'<img alt="([^"]*)"[^>]*src="{DATA}"[^>]*>',
        lambda found: pictures.image(found[2], html.unescape(found[1])),
        text,
    )
    return pictures.stages(text).replace(RUN, invitation(run))


def prediction(name, text, pictures, run, moving):
    """The question and the choices, framed; below them what was measured, folded.

    ``lesson.js`` makes a form of it, by what the data of its last line say.
    """

    def picture(found):
        if moving and PICTURE_HERE not in moving:
            return RAW.format(moving)
        still = pictures.image(found[2], found[1].removesuffix(RUN).strip())
        return RAW.format(moving.replace(PICTURE_HERE, still)) if moving else still

    text = MOTION.sub("", text) if moving else text  # what moves has a stage of its own
    text = pictures.stages(re.sub(rf"!\[([^\]]*)\]\({DATA}\)", picture, text))
    text = text.replace(f"*{RUN}*", "" if moving else f"*{invitation(run)}*")
    form = html.escape(json.dumps(predict.stated_form(name, text)))
    asked = RAW.format(f'<div class="form" data-form="{form}"></div>')
    return f"::::{{admonition}} Predict\n:class: predict\n\n{text}{asked}\n::::"


def solution(name, run):
    """The form for the answer of an exercise, its hints and its solution, each folded."""
    hints, code = written(name)
    parts = [(f"Hint {k}", x) for k, x in enumerate(hints, 1)]
    parts.append(("Solution", f"```python\n{code}\n```\n\n{why(name)}"))
    form = RAW.format(answers.box(name, page_address(run)))
    return form + "\n\n".join(FOLD.format(f"{head} for exercise {name}", x) for head, x in parts)
