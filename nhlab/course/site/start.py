"""The first page of the site: one robot by two methods, moving, and the ways into the workbook.

It is written beside the pages that Sphinx makes, without the theme's scripts and side bars, so that
it is there and moves within two seconds on a slow phone.
"""

from __future__ import annotations

import ast
import html
import inspect
import io
import re
import shutil
from pathlib import Path

import sympy as sp

from ... import plain
from ...browser import script
from ...codegen.javascript import of_function
from ...mechanics import catalogue
from ...mechanics.system import System
from ...methods import DLA, RK4
from ...methods.method import component_shares
from ...run.loop import integrate
from .. import sheet
from . import contents, texts

HERE = Path(__file__).resolve().parent
V0 = [2.0, 0.0, 0.15, 2.0]  # as in the README's film: the path of this start is a star
DESCRIPTION = (
    "{} interactive lessons and a Python library on how to compute the motion of wheels, "
    "skates and snakeboards so that constraints, momenta and energies behave."
)
LEDE = (
    "Wheels and skates may not slip sideways, and ordinary integrators slowly lose the energy of "
    "such motions. {} lessons build the integrators made for them, from one principle to a "
    "program of your own, and show where each of them fails."
)
DEEPER = "In depth"  # the link to a lesson's companion
CHOOSE = '<a href="own.html">Systems</a>'
PREVIEW = "preview.png"  # of figures/
FONTS = {"serif": "STIXGeneral.ttf", "serif-italic": "STIXGeneralItalic.ttf"}
LETTERS = "".join(map(chr, range(0x20, 0x7F))) + "’‘“”–−·×λαψθ…"


def page(root: Path, notebooks: dict, address: str, has_choice: bool) -> str:
    """Return the text of the first page.

    root : the folder of the project, whose README says what each lesson is about
    notebooks : the lessons by name, which say how long they take
    address : where the project is published, or "" while it is not
    has_choice : True if the site has the page on which one chooses a system
    """
    lessons = contents.lessons(notebooks)
    how_many = contents.count(notebooks).capitalize()
    filled = {
        "description": DESCRIPTION.format(how_many),
        "lede": LEDE.format(how_many),
        "preview": preview(address, how_many),
        "style": (HERE / "start.css").read_text(encoding="utf-8"),
        "icon": (HERE / "icon.svg").read_text(encoding="utf-8").strip(),
        "choose": CHOOSE if has_choice else "",
        "first_minutes": str(sum(texts.minutes(notebooks[lessons[0]].cells[0].source))),
        "energies": drawn_energies(),
        "program": re.sub(r"\b(def|return)\b", r"<b>\1</b>", html.escape(heart_of_dla())),
        "bodies": bodies_section(lessons, has_choice),
        "lessons": "\n".join(lesson_items(root, notebooks)),
        "script": "\n".join(
            [
                f"const robot = {script.literal(robot())};",
                of_function(component_shares, "relative_velocity_scales"),
                (HERE / "start.js").read_text(encoding="utf-8"),
            ]
        ),
    }
    text = (HERE / "start.html").read_text(encoding="utf-8")
    return re.sub(texts.MARK, lambda mark: filled[mark[1]], text)


def robot() -> dict:
    """Return what the page needs to compute runs of the robot: numbers and JavaScript."""
    system = catalogue.robot()
    made = script.of_system(system, free=(2, 3))
    x, y = project_velocity(system)[:2]
    given = (*system.q, *system.v, *system.parameters)
    return {
        "q0": [0.0] * len(system.q),
        "v0": V0,
        "names": [name for name, _ in made["parameters"]],
        "parameters": [value for _, value in made["parameters"]],
        "of_p": made["of_p"],
        "of_v": made["of_v"],
        "velocity": script.drawing(given, (x, y)),
        "dla": script.of_method(system, DLA()),
        "rk4": script.of_method(system, RK4()),
    }


def heart_of_dla() -> str:
    """Return the equations of DLA as ``nhlab/plain.py`` has them, in lines that a card can hold."""
    tree = ast.parse(inspect.getsource(plain.dla))
    (equations,) = (x for x in ast.walk(tree) if getattr(x, "name", "") == "equations")
    (result,) = equations.body
    parts = "".join(f"        {ast.unparse(x)},\n" for x in result.value.elts)
    return f"def {equations.name}({ast.unparse(equations.args)}):\n    return (\n{parts}    )"


def drawn_energies() -> str:
    """Return two lines of an SVG, 300 by 150: the robot's energy by DLA and by RK4."""
    runs = {m: integrate(catalogue.robot(), m, v0=V0, h=0.5, steps=64) for m in (RK4(), DLA())}
    energies = {type(m).__name__.lower(): run.energy() for m, run in runs.items()}
    low, high = (f([f(E) for E in energies.values()]) for f in (min, max))
    lines = []
    for name, E in energies.items():
        points = (
            f"{24 + 252 * k / (len(E) - 1):.1f},{18 + 74 * (high - e) / (high - low):.1f}"
            for k, e in enumerate(E)
        )
        lines.append(f'<polyline points="{" ".join(points)}" stroke="var(--{name})"/>')
    return "".join(lines)


def project_velocity(system: System) -> sp.Matrix:
    """Return P(q) v: the part of a velocity that the constraints allow, as expressions."""
    M, A, v = (sp.Matrix(x) for x in (system.symbolic.M, system.symbolic.A, system.v))
    W = M.inv() * A.T
    return (v - W * (A * W).inv() * A * v).applyfunc(sp.simplify)


def lesson_items(root: Path, notebooks: dict) -> list[str]:
    """Return an item of the list for each lesson: its number, title, subject and minutes.

    A lesson that has a companion has a second, smaller link to it.
    """
    subjects, items = lesson_subjects((root / "README.md").read_text(encoding="utf-8")), []
    for name in contents.lessons(notebooks):
        title = html.escape(contents.title(notebooks[name]))
        minutes = " + ".join(map(str, texts.minutes(notebooks[name].cells[0].source)))
        subject = html.escape(re.sub(r"[`*$]", "", subjects.get(name, "")))
        subject = subject[:1].upper() + subject[1:]
        deeper = contents.companion(name, notebooks)
        link = f'<a class="deeper" href="notebooks/{deeper}.html">{DEEPER}</a>' if deeper else ""
        items.append(
            f'    <li><a href="notebooks/{name}.html"><i>{contents.number(name)}</i><b>{title}</b>'
            f"<small>{subject}</small><small>{minutes} min</small></a>{link}</li>"
        )
    return items


def lesson_subjects(readme: str) -> dict[str, str]:
    """Return what each lesson is about, as the table of lessons in the README says."""
    lines = [x for x in readme.splitlines() if x.startswith(("| lesson |", "| [`"))]
    head, *rows = ([cell.strip() for cell in x.split("|")] for x in lines)
    at = head.index("what it is about")
    return {re.search(r"`(\w+)`", row[1])[1]: row[at] for row in rows}


def bodies_section(lessons: list[str], has_choice: bool) -> str:
    """Return the pictures of some bodies, each a link to the lesson in which one meets it."""
    items = []
    for name, (number, _) in sheet.SHOWN.items():
        (lesson,) = (x for x in lessons if x.startswith(number))
        words = name[0].upper() + name[1:]
        items.append(
            f'    <a class="body" href="notebooks/{lesson}.html">'
            f'<img src="_static/{picture_name(name)}" loading="lazy" alt="{words} in motion, '
            f'and the path behind it"><span>{html.escape(words)} '
            f"<small>lesson {number}</small></span></a>"
        )
    choose = ' <a href="own.html">Choose a system</a>, or state your own.' if has_choice else ""
    text = f"Each is a Lagrangian and a few constraints, and plays in its lesson.{choose}"
    head = ['<section id="bodies">', "  <h2>Bodies that roll and glide</h2>"]
    body = [f'  <p class="sub">{text}</p>', '  <div class="bodies">', *items, "  </div>"]
    return "\n".join([*head, *body, "</section>"])


def picture_name(body: str) -> str:
    """Return the name of the file with the picture of a body."""
    return re.sub(r"\W+", "_", body) + ".webp"


def preview(address: str, how_many: str) -> str:
    """Return what other sites show of a link to this page: title, description and picture.

    The picture needs the full address of the site, so there is none while it is not known.
    """
    title = "nhlab: one robot, two integrators. One of them runs down."
    return linked(title, DESCRIPTION.format(how_many), "website", "", address)


def lesson_preview(name: str, notebooks: dict, root: Path, address: str) -> str:
    """Return what other sites show of a link to a lesson, and the description for those who search.

    name : of the notebook; a companion has the subject of its lesson
    """
    lesson = contents.lesson_of(name, notebooks)
    subject = lesson_subjects((root / "README.md").read_text(encoding="utf-8")).get(lesson, "")
    text = re.sub(r"[`*$]", "", subject)
    text = text[:1].upper() + text[1:]
    title = f"{contents.number(name)} · {contents.title(notebooks[name])}"
    tags = linked(title, text, "article", f"notebooks/{name}.html", address)
    return f'<meta name="description" content="{html.escape(text)}">\n{tags}'


def linked(title: str, description: str, kind: str, page: str, address: str) -> str:
    """Return the tags that describe a page to a site which shows a link to it."""
    tags = {"title": title, "description": description, "type": kind}
    card = "summary"
    if address:
        owner, name = address.removeprefix("https://github.com/").split("/")
        site = f"https://{owner}.github.io/{name}/"
        tags |= {"url": site + page, "image": f"{site}_static/preview.png"}
        card = "summary_large_image"
    lines = [f'<meta property="og:{k}" content="{html.escape(x)}">' for k, x in tags.items()]
    return "\n".join([*lines, f'<meta name="twitter:card" content="{card}">'])


def write_pictures(root: Path, folder: Path) -> None:
    """Write the pictures that the page shows, which Sphinx would not find in it."""
    shutil.copy(root / "figures" / PREVIEW, folder)
    for name, (_, end) in sheet.SHOWN.items():
        sheet.draw_body(name, 560, end).save(folder / picture_name(name), quality=75)


def write_fonts(folder: Path) -> None:
    """Write the letters of headings and symbols: those of our figures, which matplotlib has."""
    import matplotlib
    from fontTools import subset

    options = subset.Options(flavor="woff", layout_features=["kern", "liga"])
    options.drop_tables += ["FFTM"]  # when the font was made, which nobody needs
    for name, file in FONTS.items():
        font = subset.load_font(Path(matplotlib.get_data_path(), "fonts/ttf", file), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=LETTERS)
        subsetter.subset(font)
        written = io.BytesIO()
        subset.save_font(font, written, options)
        (folder / f"{name}.woff").write_bytes(written.getvalue())
