"""Where live figures go into the pages: what ``bokeh.embed.components`` gives, and its library."""

import re
import shutil
from pathlib import Path

from ...view.page import components
from ..pages import PAGES

SCRIPTS = ["bokeh.min.js", "bokeh-widgets.min.js"]
AGAIN = {"02": ["cm01_fig3", "cm01_fig4"], "03": ["fim08_fig3", "fim08_fig4", "fim08_fig5"]}
# A figure is made when it comes near, or its fold is opened: until then its script is only text.
NEAR = """<script>
addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver(all => all.filter(x => x.isIntersecting).forEach(x => {
        near.unobserve(x.target);
        const script = document.createElement("script");
        script.text = x.target.nextElementSibling.text;
        document.body.append(script);
    }), {rootMargin: "100%"});
    document.querySelectorAll(".live").forEach(x => near.observe(x));
});
</script>
"""


def places(name, notebooks):
    """(page, piece of the code there) for each place of a live figure, by its name.

    "02.2" is a prediction of lesson 02, "own" a page, anything else a figure of the papers.
    """

    def lesson(number):
        return next(x for x in notebooks if x.startswith(f"{number}_"))

    if name == "own":
        return [("own", "")]
    if re.fullmatch(r"\d\d\.\d+", name):
        return [(lesson(name[:2]), f'nh.predict("{name}"')]
    pages = ["paper_figures", *(lesson(x) for x, names in AGAIN.items() if name in names)]
    return [(page, f'paper_figure("{name}")') for page in pages]


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
    library, made = library + NEAR, {}
    for code, (script, div) in figures.items():
        script = re.sub(r"^\s*<script[^>]*>", '<script type="text/plain">', script)
        made[code] = f'{library}<div class="live">{div}</div>\n{script}'
        library = ""
    return made


def copy_bokeh(folder):
    """The scripts of the installed Bokeh that live figures need."""
    from bokeh.util.paths import static_path

    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        shutil.copy(Path(static_path()) / "js" / name, folder)
