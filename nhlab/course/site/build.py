"""Build the site: gather its sources in a folder, and have Sphinx make pages of them.

Nothing is run and nothing comes from the network: pictures and texts are those the notebooks have
stored, equations are set by the MathJax, and live figures moved by the Bokeh, that are installed.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
from PIL import Image

from . import contents, course, links, lite, plug, reference, start, texts
from .lesson import RAW, Pictures, page

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
NOTEBOOKS, OUT = ROOT / "notebooks", ROOT / "build/site"
MATHJAX = "sphinx-mathjax-offline"  # the package that has it; a tenth of it is enough
ICONS = r'<script [^>]*src="[^"]*/fontawesome\.js[^"]*"></script>'
SEARCH = r'<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>\s*'
FONTS = r"@font-face ?\{[^}]*\}"
LATE = """<script>
addEventListener("load", () => document.head.append(Object.assign(document.createElement("link"),
    {rel: "stylesheet", href: document.documentElement.dataset.content_root + "%s"})));
</script>"""
# A companion stands in the table of contents below its lesson, indented.
BELOW = "```{{toctree}}\n:hidden:\n\n{}\n```"
# Names of buttons that a screen reader would read in place of what stands on them, or that are
# missing: "Show code cell source" is a better name than "Toggle hidden content".
NAMES = {
    ' aria-label="Toggle hidden content"': "",
    ' title="Search" aria-label="Search"': ' title="Search"',
    '<summary><span class="toctree-toggle"': '<summary aria-label="More of this part">'
    '<span class="toctree-toggle"',
}
FOLDED = 'class="bd-sidebar-primary', 'class="pst-sidebar-hidden bd-sidebar-primary'
EXTENSIONS = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]


def write(path, text):
    """Write a file where there may be no folder yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sources(notebooks):
    """The sources of the cells of each notebook, by its name."""
    return {name: [x.source for x in notebook.cells] for name, notebook in notebooks.items()}


def gather(source, notebooks, live, lite=False):
    """Put the sources of all pages where Sphinx will read them.

    notebooks : the notebooks by their names, with what they have stored
    live : the figures that move, as ``plug.course`` gives them
    """
    static = source / "_static"
    pictures = Pictures(static / "pictures", "../_static/pictures")
    for name, notebook in notebooks.items():
        figures = plug.html(live.get(name, {}), "../_static")
        made = page(notebook, pictures, "../run.md", figures)
        if contents.number(name):
            frame(name, made, notebooks)
        write(source / "notebooks" / f"{name}.ipynb", nbformat.writes(made))
    for path in sorted((HERE / "pages").glob("*.md")):
        if path.stem == "own" and "own" not in live:
            continue
        write(source / path.name, texts.filled(path, ROOT, notebooks, address(), live, lite))
    for name, text in reference.pages().items():
        write(source / "api" / f"{name}.rst", text)
    shutil.copy(ROOT / "CITATION.cff", source)
    shutil.copytree(ROOT / "figures", source / "figures")
    gallery = source / "figures/README.md"
    gallery.write_text(texts.linked(gallery.read_text(encoding="utf-8"), "../"), encoding="utf-8")
    for name in ("site.css", "lesson.js", "recorded.js", "icon.svg"):
        shutil.copy(HERE / name, static)
    copy_mathjax(static / "mathjax")
    start.write_fonts(static)
    start.write_pictures(ROOT, static)
    if live:
        plug.copy_bokeh(static / "bokeh")
        plug.write_scripts(live.values(), static / plug.FOLDER)


def frame(name, made, notebooks):
    """Put around the text of a lesson where one is in the course, and what comes next."""
    first, text = made.cells[0], nbformat.v4.new_markdown_cell
    head, _, rest = first.source.partition("\n\n")
    above = RAW.format(course.dots(name, notebooks))
    ways = RAW.format(course.take(name, address()))
    first.source = f"{above}{head}\n\n{ways}{rest}"
    made.cells.append(text(RAW.format(course.foot(name, notebooks))))
    if deeper := contents.companion(name, notebooks):
        made.cells.append(text(BELOW.format(deeper)))


def copy_mathjax(folder):
    """The part of MathJax that our pages use."""
    whole = Path(find_spec(MATHJAX).submodule_search_locations[0], "static/mathjax")
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(whole / fonts, folder / fonts)
    shutil.copy(whole / "tex-chtml.js", folder)


def prune(out):
    """Remove what Sphinx and its theme ship for their developers and translators."""
    for path in (p for form in ("*.map", "*.[mp]o", "*macros.html") for p in out.rglob(form)):
        path.unlink()
    shutil.rmtree(out / "_static/locales", ignore_errors=True)  # whose translations these were


def lighten(out):
    """Let nothing come before the live figures that can come later, or need not come at all.

    The theme's largest script draws anew the icons that its font has drawn; three more would
    search while one types, which is switched off; and the font is larger than a page's text.
    """
    late, css = "_static/styles/icons.css", out / "_static/styles/pydata-sphinx-theme.css"
    text = css.read_text(encoding="utf-8")
    write(out / late, "\n".join(re.findall(FONTS, text)))
    write(css, re.sub(FONTS, "", text))
    for path in out.rglob("*.html"):
        text = re.sub(ICONS, "", path.read_text(encoding="utf-8"))
        text = text if path.name == "search.html" else re.sub(SEARCH, "", text)
        for old, new in NAMES.items():
            text = text.replace(old, new)
        # a row of lessons takes the place of the list of all pages, and a large figure its room
        if '<nav class="course"' in text or path.name == "own.html":
            text = text.replace(*FOLDED)
        write(path, text.replace("</head>", LATE % late + "\n</head>"))
    for path in (out / "_static/scripts").glob("fontawesome*"):
        path.unlink()


def lighten_gallery(out):
    """Store the pictures of the papers' figures in the form that takes half the room."""
    page = out / "figures/README.html"
    text = page.read_text(encoding="utf-8")
    for path in (out / "_images").glob("*.png"):
        text = text.replace(path.name, f"{path.stem}.webp")
        with Image.open(path) as picture:
            picture.convert("RGB").save(path.with_suffix(".webp"), lossless=True, method=4)
        path.unlink()
    write(page, text)


def stated():
    """Where pyproject.toml says that the project is published, or "" while it does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "")


def address():
    """Where the project is published; where GitHub builds the site, it says so itself."""
    name = os.environ.get("GITHUB_REPOSITORY")
    return f"https://github.com/{name}" if name else stated()


def settings(static):
    """What Sphinx is told."""
    options = {
        "show_toc_level": 2,
        "home_page_in_toc": True,
        "article_header_start": ["toggle-primary-sidebar.html", "brand.html"],
        "navbar_persistent": [],  # search is in the side bar
        "use_download_button": False,
        "use_source_button": False,
        "footer_content_items": ["copyright.html"],
    }
    icon = (HERE / "icon.svg").read_text(encoding="utf-8")
    if url := address():
        options |= {"repository_url": url, "use_repository_button": True}
    return {
        "project": "nhlab",
        "copyright": "the nhlab authors; texts CC BY 4.0, code BSD 3-Clause",
        "extensions": EXTENSIONS,
        "nb_execution_mode": "off",
        "nb_code_prompt_show": "Show the code",
        "nb_code_prompt_hide": "Hide the code",
        "nb_ipywidgets_js": {},  # no widget is alive here, and these would come from the network
        "nb_mime_priority_overrides": [("html", "text/html", 0)],
        "myst_enable_extensions": ["dollarmath", "amsmath", "colon_fence"],
        "myst_heading_anchors": 3,
        "suppress_warnings": ["myst.header"],  # a section of a lesson may begin in a lower level
        "mathjax_path": "mathjax/tex-chtml.js",
        "mathjax3_config": {"options": {"enableMenu": False}},  # parts of it are not copied
        "autodoc_member_order": "bysource",
        "autodoc_typehints_format": "short",
        "autodoc_inherit_docstrings": False,  # those of other libraries are not ours to print
        "html_theme": "sphinx_book_theme",
        "html_theme_options": options,
        "html_title": "nhlab",
        "html_favicon": "_static/icon.svg",
        "templates_path": [str(HERE)],  # brand.html
        # light or dark as the reader's system is; and the mark beside the way to the first page
        "html_context": {"default_mode": "auto", "icon": icon.strip()},
        "html_static_path": [str(static)],
        "html_css_files": ["site.css"],
        "html_js_files": [("lesson.js", {"defer": "defer"})],
        "html_copy_source": False,
        "html_domain_indices": False,  # of modules; that of names is enough
        "html_show_sphinx": False,
    }


def write_docstring(app, what, name, thing, options, lines):
    """Sphinx's way to ask for another form of a docstring: change the list of its lines."""
    lines[:] = reference.readable(lines)


def skip_field(app, what, name, thing, skip, options):
    """Leave out what has no docstring of its own: fields of named tuples, and arrays."""
    field = str(thing.__doc__).startswith("Alias for field number")
    return True if field or isinstance(thing, np.ndarray) else None


def clear(out):
    """Make room for the site: nothing is removed but what an earlier build has made."""
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        raise ValueError(f"{out} holds something else than a site: choose another folder by --out")
    shutil.rmtree(out, ignore_errors=True)


def build(out=OUT, live=None, lite=False):
    """Build the site in a folder; ``live`` has the figures that move, by default the course's."""
    from sphinx.application import Sphinx

    clear(out)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        notebooks = {p.stem: nbformat.read(p, 4) for p in sorted(NOTEBOOKS.glob("*.ipynb"))}
        live = plug.course(sources(notebooks)) if live is None else live
        bare = {name: course.bare(notebook) for name, notebook in notebooks.items()}
        gather(source, notebooks, live, lite)
        app = Sphinx(
            source, None, out, source / ".doctrees", "html", settings(source / "_static"),
            status=None, warningiserror=True,
        )  # fmt: skip
        app.connect("autodoc-process-docstring", write_docstring)
        app.connect("autodoc-skip-member", skip_field)
        app.build()
    prune(out)
    lighten(out)
    lighten_gallery(out)
    for name in filter(contents.number, notebooks):
        page, tags = (
            out / f"notebooks/{name}.html",
            start.lesson_preview(name, notebooks, ROOT, address()),
        )
        write(page, page.read_text(encoding="utf-8").replace("</title>", f"</title>\n{tags}", 1))
    for name, text in bare.items():
        write(out / f"_static/notebooks/{name}.ipynb", text)
    write(out / "index.html", start.page(ROOT, notebooks, address(), "own" in live))
    return app.statuscode


def main(args):
    """The command ``python3 -m nhlab site``: 0 if every page is made and every link good."""
    parser = argparse.ArgumentParser(prog="python3 -m nhlab site", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the site")
    text = "also the lessons in JupyterLite, an experiment: Python in the browser"
    parser.add_argument("--lite", action="store_true", help=text)
    given = parser.parse_args(args)
    out = given.out.resolve()
    failed = build(out, lite=given.lite)
    if given.lite:
        lite.build(ROOT, out / "lite")
        prune(out / "lite")
    count, faults = links.check(out)
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) / 1e6
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(list(out.rglob('*.html')))} pages, {size:.0f} MB, {count} links checked, ", end="")
    print(f"{len(faults)} faults; open {out / 'index.html'}")
    return int(bool(failed or faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
