"""The pages that are written, with what is made at their marks: tables, citations, addresses."""

import re

import yaml

from . import contents, plug

BINDER = "https://mybinder.org/v2/gh/{}/HEAD?urlpath=lab/tree/notebooks/00_start_here.ipynb"
DOORS = """- **Read it:** [the site](https://{}.github.io/{}/), whose figures move.
- **Run it in the cloud:** [lesson 00 on Binder]({}).
"""
DOORS_HERE = """- **Read it:** [lesson 00](notebooks/00_start_here.ipynb) and what follows;
  `python3 -m nhlab site` builds the site, whose figures move.
"""
LITE = """## In the browser, an experiment

<a href="lite/lab/index.html?path=00_start_here.ipynb">Python in the browser, by JupyterLite</a>:
nothing is installed on your computer and no server runs it. It fetches some 50 MB, is slow, has not
been tried with every browser, and may fail; then take one of the other ways.
"""
MARK = r"<!-- (\w+)((?: \w+)*) -->"
NEEDS = re.compile(r"(?:Before|You need)(?:(?!\. |\.\n| · |;|After).)*", re.DOTALL)
MOVED = {  # links between files of the project, and the pages that take their place
    "../README.md#citing": "cite.md",
    "../README.md": "index.md",
    "README.md": "index.md",
    "DECISIONS.md": "decisions.md",
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
        "toctree": lambda: "\n".join(f"notebooks/{x}" for x in contents.lessons(notebooks)),
        "lessons": lambda: lessons(notebooks),
        "citing": lambda: section((root / "README.md").read_text(encoding="utf-8"), "Citing"),
        "bibtex": lambda: bibtex(cff, address),
        "binder": lambda: binder(address),
        "clone": lambda: clone(address),
        "contributing": lambda: guide(root, "CONTRIBUTING"),
        "decisions": lambda: guide(root, "DECISIONS"),
        "changelog": lambda: (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        "live": lambda: opening(live.get(path.stem, {})),
        "lite": lambda: LITE if lite else "",
        "own": lambda: "own" if "own" in live else "",
        "hours": lambda *numbers: hours(notebooks, numbers),
    }
    text = path.read_text(encoding="utf-8")
    return re.sub(MARK, lambda mark: made[mark[1]](*mark[2].split()), text)


def opening(figures):
    """The live figures of a written page."""
    made = "".join(plug.html(figures, "_static").values())
    return f"``````{{raw}} html\n{made}\n``````"


def section(text, title):
    """The section of a page under a heading of second order."""
    return re.search(rf"(?ms)^## {title}\n(.*?)(?=^## |\Z)", text)[1].strip()


def guide(root, name):
    """A page for those who work on nhlab, as it stands in the project."""
    return linked((root / f".github/{name}.md").read_text(encoding="utf-8"))


def lessons(notebooks):
    """The lessons as a table: what they build on, how long they take, what there is to do.

    A companion stands below its lesson, indented.
    """
    rows = ["| lesson | needs | minutes | predictions | exercises |", "|---|---|---|---|---|"]
    for name in contents.lessons(notebooks):
        deeper = contents.companion(name, notebooks)
        for x in filter(None, (name, deeper)):
            rows.append("| " + " | ".join(str(y) for y in row(x, notebooks[x])) + " |")
    return "\n".join(rows)


def row(name, notebook):
    """A lesson's title, the lessons it needs, its minutes, predictions and exercises."""
    said = notebook.cells[0].source
    code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
    number = contents.number(name)
    title = f"[{number} · {contents.title(notebook)}](notebooks/{name}.ipynb)"
    asked = NEEDS.search(said)
    needs = re.findall(r"\((\d\d)_", asked[0]) if asked else []
    if not number.isdigit():  # a companion goes with its lesson
        title, needs = f"&emsp;{title}", [number[:2]]
    todo = [len(set(re.findall(rf'nh\.{f}\("([\db.]+)"', code))) for f in ("predict", "check")]
    return title, ", ".join(needs), " + ".join(map(str, minutes(said))), *todo


def minutes(said):
    """[the minutes a lesson says it takes, and those it counts apart], [] if it says nothing."""
    more = re.findall(r"take another (hour|\d+)", said)
    first = re.search(r"(\d+) minutes", said)
    return [int(first[1]), *(60 if x == "hour" else int(x) for x in more)] if first else []


def hours(notebooks, numbers):
    """How long some lessons take together, to half an hour."""
    chosen = (x for name, x in notebooks.items() if contents.number(name) in numbers)
    return f"{round(sum(sum(minutes(x.cells[0].source)) for x in chosen) / 30) / 2:g}"


def bibtex(cff, address):
    """The entry for those who write with LaTeX, from CITATION.cff."""
    names = (a.get("name") or f"{a['family-names']}, {a['given-names']}" for a in cff["authors"])
    fields = {
        "author": f"{{{' and '.join(names)}}}",
        "title": cff["title"],
        "version": cff["version"],
    }
    released = cff.get("date-released")
    fields |= {"year": str(released)[:4]} if released else {"note": "not yet released"}
    if address:
        fields["url"] = address
    lines = "".join(f"  {key} = {{{value}}},\n" for key, value in fields.items())
    return f"```bibtex\n@software{{nhlab,\n{lines}}}\n```"


def doors(address):
    """The first links of the README: to the site and to Binder, or what there is without them."""
    if not address:
        return DOORS_HERE
    name = address.removeprefix("https://github.com/")
    return DOORS.format(*name.split("/"), BINDER.format(name))


def binder(address):
    """The way into the cloud, if the project is published where it can be started from."""
    if not address:
        return ""
    url = BINDER.format(address.removeprefix("https://github.com/"))
    lost = "What you change there is lost when you close it: download the notebook before."
    start = f"[Start lesson 00 on Binder]({url}); the first start takes some minutes."
    return f"## In the cloud\n\n{start} {lost}"


def clone(address):
    """The first lines in a terminal."""
    return f"git clone {address}\ncd nhlab" if address else "# in a clone of the repository:"
