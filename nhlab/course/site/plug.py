"""Where live figures go into the pages: what ``bokeh.embed.components`` gives, and its library.

Beside them stand panels whose settings were computed before (``recorded``).
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from ...browser.page import components, shared_code
from ...view.picture import unpainted
from ..pages import PAGES, RECORDED, Added, Panel, predicted
from . import contents, recorded

SHARED = "figures.js"  # what our figures have in common
FOLDER = "live"  # of the scripts of single figures
SCRIPTS = ["bokeh.min.js", "bokeh-widgets.min.js", SHARED]
BEFORE_EXERCISES = "## Exercises"  # in place of a piece of code: where an added figure goes
# A figure is made when it comes near, or its fold is opened: only then its script is asked for.
NEAR = """<script>
addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver(all => all.filter(x => x.isIntersecting).forEach(x => {
        near.unobserve(x.target);
        document.body.append(Object.assign(document.createElement("script"), {
            src: x.target.dataset.script}));
    }), {rootMargin: "100%"});
    document.querySelectorAll(".live, .recorded").forEach(x => near.observe(x));
});
</script>
"""


class Live(NamedTuple):
    """A live figure: its name, its script, and the element that the script fills."""

    name: str
    script: str
    div: str

    @property
    def file(self) -> str:
        """The name of the file of its script, which all pages with this figure share."""
        return f"{self.name}.js"


PICTURE_HERE = "<!-- picture -->"  # where a page puts the picture that the notebook has stored


class Steps(NamedTuple):
    """A figure whose settings were computed before: its name, its script, and pictures by name."""

    name: str
    script: str
    pictures: dict[str, bytes]

    @property
    def file(self) -> str:
        """The name of the file of its script."""
        return f"{self.name}.js"


def places(name, notebooks):
    """[(page, piece of the code there)] for each place of a live figure.

    name : the name that ``PAGES`` has for the figure
    notebooks : for each notebook, by its name, the sources of its cells
    """
    if name == "own":
        return [("own", "")]
    if isinstance(PAGES[name], Panel):
        return [(PAGES[name].notebook, PAGES[name].cell)]
    if isinstance(PAGES[name], Added):
        lesson = next(x for x in notebooks if contents.number(x) == PAGES[name].lesson)
        return [(lesson, BEFORE_EXERCISES)]
    code = f'paper_figure("{name}")'
    return [(page, code) for page, cells in notebooks.items() if any(code in x for x in cells)]


def make(pages: dict[str, Callable]) -> dict:
    """Return what the figures show, by their names; the page paints it, so nothing is painted."""
    with unpainted():
        return {name: made() for name, made in pages.items()}


def course(notebooks: dict[str, list[str]], panels: dict | None = None) -> dict:
    """Return the course's figures that move: page -> {piece of the code of their cell: figure}.

    notebooks : for each notebook, by its name, the sources of its cells
    panels : what the live figures show, by their names; by default all that ``PAGES`` makes
    """
    live = {}
    for name, panel in (make(PAGES) if panels is None else panels).items():
        script, div = components(panel, shared=True)
        figure = Live(name, re.sub(r"^\s*<script[^>]*>|</script>\s*$", "", script), div)
        for page, code in places(name, notebooks):
            live.setdefault(page, {})[code] = figure
    for name in RECORDED:
        panel = predicted(name)
        live.setdefault(panel.notebook, {})[panel.cell] = steps(name, panel)
    return live


def steps(name: str, panel: Panel) -> Steps:
    """Return what a panel shows at the settings that ``RECORDED`` has for it."""
    pictures = {}

    def keep(data):
        file = f"{hashlib.sha256(data).hexdigest()[:16]}.webp"
        pictures[file] = data
        return file

    with unpainted():
        shown = panel()
    book = recorded.Recorder(shown, *RECORDED[name]).record()
    return Steps(name, recorded.script(name, book, keep), pictures)


def html(figures: dict[str, Live | Steps], static: str) -> dict[str, str]:
    """Return the HTML of the figures of one page; the first live one brings the library along.

    static : the address of the folder with scripts, seen from the page
    """
    computes = any(isinstance(x, Live) for x in figures.values())
    names = [f"bokeh/{x}" for x in SCRIPTS] if computes else []
    names += ["recorded.js"] if any(isinstance(x, Steps) for x in figures.values()) else []
    library = "".join(f'<script defer src="{static}/{name}"></script>\n' for name in names) + NEAR
    made = {}
    for code, figure in figures.items():
        data = f'data-script="{static}/{FOLDER}/{figure.file}"'
        if isinstance(figure, Live):
            made[code] = f'{library}<div class="live" {data}>{figure.div}</div>'
        else:
            name = f'data-figure="{figure.name}"'
            made[code] = f'{library}<div class="recorded" {name} {data}>{PICTURE_HERE}</div>'
        library = ""
    return made


def write_scripts(live: Iterable[dict[str, Live | Steps]], folder: Path) -> None:
    """Write the script of each figure to a file, and the pictures that it needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in (x for figures in live for x in figures.values()):
        (folder / figure.file).write_text(figure.script, encoding="utf-8")
        for name, data in getattr(figure, "pictures", {}).items():
            (folder / name).write_bytes(data)


def copy_bokeh(folder):
    """The scripts that live figures need: those of the installed Bokeh, and what they share."""
    from bokeh.util.paths import static_path

    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS[:-1]:
        shutil.copy(Path(static_path()) / "js" / name, folder)
    (folder / SHARED).write_text(shared_code(), encoding="utf-8")
