"""What a page of the course has around its text: where one is, what is next, the notebook."""

import copy
import html

import nbformat

from . import contents

BINDER = "https://mybinder.org/v2/gh/{}/HEAD?urlpath=lab/tree/notebooks/{}.ipynb"
NAV = '<nav class="course" aria-label="The lessons"><ol>{}</ol></nav>'
TAKE = '<p class="take">{}</p>'


def dots(name: str, notebooks: dict) -> str:
    """Return the row of lessons above the text, one dot for each; the reader's own is marked."""
    here, items = contents.lesson_of(name, notebooks), []
    for lesson in contents.lessons(notebooks):
        number, title = contents.number(lesson), html.escape(contents.title(notebooks[lesson]))
        now = ' aria-current="page"' if lesson == here else ""
        items.append(
            f'<li><a href="{lesson}.html" data-lesson="{number}" title="{number} · {title}"{now}>'
            f"<span>{number}</span></a></li>"
        )
    return NAV.format("".join(items))


def take(name: str, address: str) -> str:
    """Return the ways to have a lesson oneself: as a file, and on Binder if there is one.

    address : where the project is published, or "" while it is not
    """
    file = f"../_static/notebooks/{name}.ipynb"
    links = [f'<a href="{file}" download>Download this notebook</a>']
    if address:
        url = BINDER.format(address.removeprefix("https://github.com/"), name)
        links.append(f'<a href="{url}">Open it on Binder</a>')
    return TAKE.format("".join(links))


def neighbours(name: str, notebooks: dict) -> dict[str, str]:
    """Return the notebooks before and after one, and the one that goes deeper, by what they are."""
    order, here = contents.lessons(notebooks), contents.lesson_of(name, notebooks)
    at = order.index(here)
    if name != here:
        return {"Back to": here} | ({"Next": order[at + 1]} if at + 1 < len(order) else {})
    found = {"Before": order[at - 1]} if at else {}
    if deeper := contents.companion(name, notebooks):
        found["In depth"] = deeper
    return found | ({"Next": order[at + 1]} if at + 1 < len(order) else {})


def foot(name: str, notebooks: dict) -> str:
    """Return the links at the end of a lesson; to have seen them counts as having read it."""
    links = [
        f'<a href="{x}.html"><small>{what}</small>{contents.number(x)} · '
        f"{html.escape(contents.title(notebooks[x]))}</a>"
        for what, x in neighbours(name, notebooks).items()
    ]
    number = contents.number(name)
    return f'<nav class="onward" aria-label="Onward" data-lesson="{number}">{"".join(links)}</nav>'


def bare(notebook) -> str:
    """Return the text of a notebook without what it has stored, to be run by a reader."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nbformat.writes(notebook)
