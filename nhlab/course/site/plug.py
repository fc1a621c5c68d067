"""Where live figures go into the pages: what ``bokeh.embed.components`` gives, and its library."""

import re
import shutil
from pathlib import Path

from ...view.page import components
from ..pages import PAGES

SCRIPTS = ["bokeh.min.js", "bokeh-widgets.min.js"]
FIRST = "02.2"  # the one on the first page


def places(name, notebooks):
    """(page, piece of the code there) for each place of a live figure, by its name.

    "02.2" is a prediction of lesson 02, "own" a page, anything else a figure of the papers.
    """
    if re.fullmatch(r"\d\d\.\d+", name):
        lesson = next(x for x in notebooks if x.startswith(name[:2] + "_"))
        found = [(lesson, f'nh.predict("{name}"')]
    else:
        found = [("own", "") if name == "own" else ("paper_figures", f'paper_figure("{name}")')]
    return [*found, ("index", "")] if name == FIRST else found


def course(notebooks, panels=None):
    """The course's live figures: page -> {piece of the code of their cell: (script, div)}."""
    live = {}
    if panels is None:
        panels = {name: make() for name, make in PAGES.items()}
    for name, panel in panels.items():
        for page, code in places(name, notebooks):
            live.setdefault(page, {})[code] = components(panel)
    return live


def html(figures, static):
    """The HTML of the live figures of one page; the first brings the library along."""
    library = "".join(f'<script defer src="{static}/bokeh/{name}"></script>\n' for name in SCRIPTS)
    made = {}
    for code, (script, div) in figures.items():
        made[code] = f'{library}<div class="live">{div}</div>\n{script}'
        library = ""
    return made


def copy_bokeh(folder):
    """The scripts of the installed Bokeh that live figures need."""
    from bokeh.util.paths import static_path

    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        shutil.copy(Path(static_path()) / "js" / name, folder)
