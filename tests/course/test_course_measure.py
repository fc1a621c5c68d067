"""A course lesson stays short, has a companion that links to it, and states an honest time."""

import ast
import re

import nbformat
import pytest
from minutes import FITTED, LESSONS, NOTEBOOKS, WALKED, minutes, sources, stated

COMPANIONS = sorted(NOTEBOOKS.glob("[0-9][0-9]b_*.ipynb"))
WORDS, CELLS, CHECKS = 2000, 25, 2
LONGER = {"05": (2600, 30)}  # words and code cells of the lesson with the longest derivation


def lesson_of(companion):
    (file,) = NOTEBOOKS.glob(f"{companion.stem[:2]}_*.ipynb")
    return file


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_a_course_lesson_is_short(companion):
    lesson = lesson_of(companion)
    words, cells = LONGER.get(lesson.stem[:2], (WORDS, CELLS))
    text, code = sources(lesson, "markdown"), sources(lesson, "code")
    assert sum(len(part.split()) for part in text) <= words
    assert len(code) <= cells
    assert sum(len(re.findall(r"print\(f?.Checked", part)) for part in code) <= CHECKS


COURSE = [path for path in LESSONS if path not in COMPANIONS]


@pytest.mark.parametrize("path", COURSE, ids=lambda p: p.stem)
def test_a_course_lesson_asks_its_question_at_the_beginning(path):
    beginning = " ".join(sources(path, "markdown")[:3])
    assert re.search(r"\*\*[A-Z][^*]{30,}\?\*\*|\*\*Which method do you take\?\*\*", beginning)


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_lesson_and_companion_link_to_each_other(companion):
    lesson = lesson_of(companion)
    assert f"]({companion.name})" in "".join(sources(lesson, "markdown"))
    assert f"]({lesson.name})" in "".join(sources(companion, "markdown"))


@pytest.mark.parametrize("companion", COMPANIONS, ids=lambda p: p.stem)
def test_predictions_and_exercises_are_numbered_in_their_order(companion):
    for path in (lesson_of(companion), companion):
        code, number = "".join(sources(path, "code")), path.stem.partition("_")[0]
        for call in ("predict", "check"):
            asked = [*dict.fromkeys(re.findall(rf'nh\.{call}\("([\db.]+)"', code))]
            in_order = [f"{number}.{k}" for k in range(1, len(asked) + 1)]
            assert asked == in_order


# ---------------------------------------------------------------------------- open code

OPEN = 2 / 3  # the least share of pictures whose code the reader sees and can change
TEXT = ("check", "predictions", "solution", "hint", "difference", "report", "ask")


def shown(cell: str) -> list[str]:
    """The functions whose results a cell shows as pictures, by their full names.

    Shown are the value of the last line, what display is given and the picture of a prediction; a
    name stands for the call that the same cell has bound to it.
    """
    body = ast.parse(cell).body
    bound = {t.id: node.value for node in body if isinstance(node, ast.Assign)
             for t in node.targets if isinstance(t, ast.Name)}  # fmt: skip

    def made(node: ast.expr) -> list[str]:
        node = bound.get(node.id, node) if isinstance(node, ast.Name) else node
        if not isinstance(node, ast.Call):
            return []
        name = ast.unparse(node.func)
        if name in ("display", "nh.predict"):
            return [x for part in node.args for x in made(part)]
        return [name]

    values = [n.value for n in body if isinstance(n, ast.Expr)]
    last = [body[-1].value] if body and isinstance(body[-1], ast.Expr) else []
    calls = [v for v in values if isinstance(v, ast.Call) and ast.unparse(v.func) == "display"]
    return [x for v in [*(c for c in calls if c not in last), *last] for x in made(v)]


def pictures(path) -> tuple[int, int]:
    """How many pictures a notebook has with open code, and how many without.

    Open: the cell itself gives the data to nh.animate, nh.explore, nh.plot.show or the like.
    Closed: one call into nhlab.course draws it, or it is nh.paper_figure, so that the reader sees
    neither the system nor the computation. A cell that has outputs, none of them a picture, has
    printed a text.
    """
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    modules = re.findall(r"lesson_\w+ as (\w+)", "\n".join(c.source for c in cells))
    counts = [0, 0]
    for cell in cells:
        formats = {f for o in cell.outputs for f in o.get("data", {})}
        if cell.outputs and not formats & {"image/png", "text/markdown", "text/html"}:
            continue
        for name in shown(cell.source):
            room, _, function = name.partition(".")
            closed = room in (*modules, "pictures") or name == "nh.paper_figure"
            opened = name in ("nh.animate", "nh.explore", "nh.motion_panel", "nh.plot.show")
            counts[0] += opened or name == "program.compare"
            counts[1] += closed and function not in TEXT
    return tuple(counts)


BEHIND = {"04b", "06b", "07b", "08b"}  # companions that count in the whole alone
EACH = [p for p in LESSONS if p.stem.partition("_")[0] not in BEHIND]


@pytest.mark.parametrize("path", EACH, ids=lambda p: p.stem)
def test_two_thirds_of_the_pictures_come_from_open_code(path):
    opened, closed = pictures(path)
    assert opened >= OPEN * (opened + closed) > 0


def test_two_thirds_of_all_pictures_come_from_open_code():
    opened, closed = map(sum, zip(*map(pictures, LESSONS), strict=True))
    assert opened >= OPEN * (opened + closed) and opened + closed > 150


def test_open_and_closed_pictures_are_told_apart():
    assert shown("fig, ax = nh.plot.new()\nlesson.draw(ax)\nnh.plot.show(fig, 'x')") == [
        "nh.plot.show"
    ]
    assert shown("both = nh.explore(x)\nnh.predict('1', both)") == ["nh.explore"]
    assert shown("display(lesson.beside(step))\nnh.check('1', step)") == [
        "lesson.beside",
        "nh.check",
    ]
    assert shown("x = lesson.panel()\nassert x") == []


# ---------------------------------------------------------------------------- the time it takes


@pytest.mark.parametrize("lesson, walked", WALKED.items())
def test_the_rule_gives_the_minutes_of_the_walks(lesson, walked):
    (path,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    assert minutes(path) == pytest.approx(walked, rel=0.06 if lesson in FITTED else 0.25)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_stated_time_is_that_of_the_walk_or_of_the_rule(path):
    walked = WALKED.get(path.stem.partition("_")[0])
    assert abs(stated(path) - (walked or minutes(path))) <= (2.5 if walked else 5)


def test_the_map_of_lesson_00_repeats_the_times():
    text = " ".join(sources(LESSONS[0], "markdown"))
    rows = re.findall(r"\]\((\d\d_\w+\.ipynb)\) \|[^|]*\| (\d+) min \|", text)
    assert len(rows) == 11
    for name, time in rows:
        assert int(time) == stated(NOTEBOOKS / name), name
