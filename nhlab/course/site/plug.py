"""Where live figures go into the pages: what ``bokeh.embed.components`` gives, and its library."""

import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

PAGES = "nhlab.course.pages"
SCRIPTS = ["bokeh.min.js", "bokeh-widgets.min.js"]


def course():
    """The course's live figures: page -> {piece of the code of their cell: (script, div)}."""
    return import_module(PAGES).components() if find_spec(PAGES) else {}


def html(figures, static):
    """The HTML of the live figures of one page; the first brings the library along."""
    library = "".join(f'<script src="{static}/bokeh/{name}"></script>\n' for name in SCRIPTS)
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
