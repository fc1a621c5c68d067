"""The pages that are written, with what is made at their marks: tables, citations, addresses."""

import re

import yaml

from . import plug

BINDER = "https://mybinder.org/v2/gh/{}/HEAD?urlpath=lab/tree/notebooks/00_start_here.ipynb"
NOWHERE = (
    "This copy of the project does not say where it is published: there is no link to it here."
)
LITE = """## In the browser, an experiment

<a href="lite/lab/index.html?path=00_start_here.ipynb">Python in the browser, by JupyterLite</a>:
nothing is installed on your computer and no server runs it. It fetches some 50 MB, is slow, has not
been tried with every browser, and may fail; then take one of the other ways.
"""
CHOICE = "- **You want to play:** [choose a system](own.md), methods and what to look at."
ALT = (
    "The energy of a particle whose constraint ties its height to its path, computed with step 0.2 "
    "up to time 250. DLA stays in a band, the classical Runge-Kutta method falls."
)
PLATE = f"```{{image}} figures/cm01_fig1.png\n:alt: {ALT}\n:class: plate\n```"
MOVED = {  # links between files of the project, and the pages that take their place
    "../README.md#citing": "cite.md",
    "../README.md": "index.md",
    "README.md": "index.md",
    "../notebooks/": "notebooks/",
}


def linked(text, up=""):
    """Links of the project's own pages, as links between pages; ``up`` leads to the top."""
    for old, new in MOVED.items():
        text = text.replace(f"]({old}", f"]({up}{new}")
    return text


def filled(path, root, notebooks, address, live, lite=False):
    """The text of a page; a mark ``<!-- name -->`` stands for what is made here."""
    cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    made = {
        "lessons": lambda: lessons(notebooks),
        "citing": lambda: section((root / "README.md").read_text(encoding="utf-8"), "Citing"),
        "bibtex": lambda: bibtex(cff, address),
        "binder": lambda: binder(address),
        "clone": lambda: clone(address),
        "contributing": lambda: contributing(root),
        "changelog": lambda: (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        "live": lambda: opening(live.get(path.stem, {})),
        "lite": lambda: LITE if lite else "",
        "own": lambda: "own" if "own" in live else "",
        "choice": lambda: CHOICE if "own" in live else "",
    }
    text = path.read_text(encoding="utf-8")
    return re.sub(r"<!-- (\w+) -->", lambda mark: made[mark[1]](), text)


def opening(figures):
    """The live figures of a written page, or the picture of the first page."""
    made = "".join(plug.html(figures, "_static").values())
    return f"``````{{raw}} html\n{made}\n``````" if figures else PLATE


def section(text, title):
    """The section of a page under a heading of second order."""
    return re.search(rf"(?ms)^## {title}\n(.*?)(?=^## |\Z)", text)[1].strip()


def contributing(root):
    text = (root / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
    return linked(text)


def lessons(notebooks):
    """The lessons as a table: how long they take, and what there is to do in them."""
    rows = ["| lesson | minutes | predictions | exercises |", "|---|---|---|---|"]
    for name, notebook in notebooks.items():
        if re.match(r"\d\d_", name):
            rows.append("| " + " | ".join(str(x) for x in row(name, notebook)) + " |")
    return "\n".join(rows)


def row(name, notebook):
    """A lesson's title, minutes, predictions and exercises.

    Where a lesson does not say how long it takes: a minute for 60 words, four for each thing to do.
    """
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
    title = re.search(r"# (.*)", text)[1]
    words = len(re.findall(r"[^\W\d_]{2,}", re.sub(r"\$\$.*?\$\$|\$.*?\$|<[^>]*>", "", text)))
    todo = [len(set(re.findall(rf'nh\.{f}\("([\d.]+)"', code))) for f in ("predict", "check")]
    said = re.search(r"(\d+) minutes", notebook.cells[0].source)
    minutes = int(said[1]) if said else 15 * round((words / 60 + 4 * sum(todo)) / 15)
    return f"[{title}](notebooks/{name}.ipynb)", minutes, *todo


def bibtex(cff, address):
    """The entry for those who write with LaTeX, from CITATION.cff."""
    names = (a.get("name") or f"{a['family-names']}, {a['given-names']}" for a in cff["authors"])
    fields = {
        "author": f"{{{' and '.join(names)}}}",
        "title": cff["title"],
        "version": cff["version"],
        "year": str(cff["date-released"])[:4],
    }
    if address:
        fields["url"] = address
    lines = "".join(f"  {key} = {{{value}}},\n" for key, value in fields.items())
    return f"```bibtex\n@software{{nhlab,\n{lines}}}\n```"


def binder(address):
    """The way into the cloud."""
    if not address:
        return NOWHERE
    url = BINDER.format(address.removeprefix("https://github.com/"))
    lost = "What you change there is lost when you close it: download the notebook before."
    return f"[Start lesson 00 on Binder]({url}); the first start takes some minutes. {lost}"


def clone(address):
    """The first lines in a terminal."""
    return f"git clone {address}\ncd nhlab" if address else "# in a clone of the repository:"
