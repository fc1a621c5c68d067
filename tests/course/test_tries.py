"""Settings to try: short questions, places where sliders can stand, pictures that differ."""

import ast
import json
import linecache
import re
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from after_run_all import printed, said

import nhlab as nh
from nhlab.browser.book import book_of
from nhlab.course import lessons
from nhlab.course.figures import STATEMENTS
from nhlab.course.notebooks import FOLDER
from nhlab.course.pages import PAGES, Panel, needed
from nhlab.course.tries import FIRST, TRIES
from nhlab.view import recall
from nhlab.view.figure import CHOICES
from nhlab.view.picture import unpainted


def test_every_figure_has_some():
    assert {*TRIES} == {*STATEMENTS} and {*FIRST} <= {*STATEMENTS}
    assert all(2 <= len(tries) <= 4 for tries in TRIES.values())
    assert all(len(words.split()) <= 7 for tries in TRIES.values() for words in tries)


def check_places(panel, words, values):
    """A slider can stand where a setting to try wants it: between its ends, at one of its steps."""
    for key, x in values.items():
        c = panel.controls[key]
        if hasattr(c, "max"):
            assert c.min <= x <= c.max, (words, key)
            steps = (x - c.min) / c.step
            assert steps == pytest.approx(round(steps), abs=1e-6), (words, key)


def drawn(panel):
    """All that the picture shows of the present setting."""
    return [z for shape in panel.sheet.shapes for z in (shape.x, shape.y)]


def alike(some, others):
    return len(some) == len(others) and all(map(np.array_equal, some, others))


LATER = ["view", "method", "rule", "T"]


@pytest.mark.parametrize("name", [x for x in PAGES if x != "own"])
def test_h_is_first_and_what_is_chosen_or_long_stands_under_more(name):
    """In the notebook and on the page."""
    with unpainted():
        panel = PAGES[name]()
    for figure in (panel.figure, panel.figure.for_page()):
        seen, every = figure.seen_at_once, [*figure.controls]
        assert [k for k in ("h", "alpha") if k in every] == [k for k in seen if k in ("h", "alpha")]
        assert seen[0] == "h" or "h" not in every
        assert len(seen) <= 4 and not {*seen} & {*LATER}
        starts = [k for k in every if k.startswith(("q0.", "v0."))]
        assert len([k for k in seen if k in starts]) >= min(2, len(starts)) or len(seen) == 4
    shown = [c for c in panel.bar.children if c in panel.controls.values()]
    assert shown == [panel.controls[k] for k in panel.figure.seen_at_once]
    assert hasattr(panel, "more") == (len(shown) < len(every))
    text = book_of(panel.figure.for_page(), None, [])
    assert f"first:{json.dumps(seen, separators=(',', ':'))}" in text


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [x for x in PAGES if x not in STATEMENTS])
def test_every_panel_of_lessons_and_pages_has_some_that_change_what_is_drawn(name):
    with unpainted():
        made = PAGES[name]()
        for title, panel in (made if isinstance(made, dict) else {name: made}).items():
            tries, first = dict(panel.figure.tries), drawn(panel)
            assert 2 <= len(tries) <= 4, title
            for words, values in tries.items():
                assert len(words.split()) <= 7, words
                check_places(panel, words, values)
                panel.reset()
                panel.set(**values)
                assert not alike(drawn(panel), first), (title, words)
                # EDLA, which has no step in places, may stop; lesson 05 asks whether it does
                stops = {*panel.sheet.runs.stops}
                assert not stops or (stops == {"edla"} and name in ("own", "05.2")), words


@pytest.mark.parametrize("name", TRIES)
def test_what_is_tried_is_where_sliders_stand_and_changes_the_picture(name):
    panel = nh.paper_figure(name)
    pictures, buttons = [panel.image.value], {}
    for box in panel.bar.children:
        buttons |= {b.description: b for b in getattr(box, "children", ()) if hasattr(b, "click")}
    for words, values in TRIES[name].items():
        check_places(panel, words, values)
        buttons[words].click()
        assert {k: panel.values[k] for k in values} == pytest.approx(values)
        assert not panel.message.value and panel.image.value not in pictures, words
        pictures.append(panel.image.value)
    first = FIRST.get(name, ())
    seen = [c for c in panel.bar.children if c in panel.controls.values()]
    assert seen[: len(first)] == [panel.controls[k] for k in first] and len(seen) <= 4


@pytest.fixture(scope="module")
def figures():
    """The figures of all panels, with those of each system that can be chosen."""
    with unpainted():
        own = {f"own, {title}": x.figure for title, x in PAGES["own"]().items()}
        return {name: make().figure for name, make in PAGES.items() if name != "own"} | own


def ends_of(control):
    """The values to which a reader moves it."""
    return [control.min, control.max] if hasattr(control, "max") else [*control.options]


class Moves:
    """What single moves of the controls of a figure do, from its first setting; runs are as short
    as their slider allows."""

    def __init__(self, figure):
        self.figure, self.made = figure, {}
        self.base = {key: c.value for key, c in figure.controls.items()}
        self.base |= {"T": figure.controls["T"].min} if "T" in self.base else {}

    def runs(self, values):
        """Those of a setting, whatever the view."""
        key = tuple((k, x) for k, x in values.items() if k != "view")
        if key not in self.made:
            self.made[key] = self.figure.compute(values)
        return self.made[key]

    def moves(self, key, values):
        """Does a control move a curve, from where it was at first?"""
        back = values | {key: self.base[key]}
        return self.figure.moves(self.figure.view_name(values), *map(self.runs, (values, back)))

    def __iter__(self):
        """(control, its values, view, whether it moves a curve, what is offered otherwise)."""
        for key, control in self.figure.controls.items():
            for x in ends_of(control) if key not in CHOICES else ():
                for view in self.figure.views if x != self.base[key] else ():
                    first = self.base | ({"view": view} if "view" in self.base else {})
                    values = first | {key: x}
                    both = self.runs(values), first, self.runs(first)
                    moves = self.moves(key, values)
                    still = None if moves else self.figure.still(values, *both)
                    yield key, view, moves, self.figure.offer(values, still)


# alpha says where in a step L is evaluated; of this one L does not depend on the place.
NOTHING = {("own, ball, right-invariant", "alpha")}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_slider_moves_a_curve_of_a_view_or_offers_one_that_it_moves(figures):
    """Each alone to its ends, in each view of each figure and of each system to choose."""
    count, nothing = {True: 0, False: 0}, set()
    for name, figure in figures.items():
        moved = Moves(figure)
        for key, view, moves, offer in moved:
            count[moves] += 1
            words, values = offer or ("", None)
            if not moves and words.endswith("no curve of any view here"):
                nothing.add((name, key))
            elif not (moves or (name, key) in NOTHING):
                assert values and moved.moves(key, values), (name, view, key, offer)
    print(f"{count[True]} moves of a slider move a curve, {count[False]} another view")
    assert nothing == NOTHING
    assert count[True] > 10 * len(figures) and count[False] > len(figures)


# ---------------------------------------------------------------------------- copied as code


def numbers_of_code(panel):
    """What the code of a panel computes, in a namespace of its own."""
    space = {}
    exec(panel._code(panel.values), space)
    plt.close("all")
    return space


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [x for x in PAGES if x != "own"])
def test_the_code_of_a_panel_computes_what_it_shows(name):
    """It needs nothing else and makes no panel; at the first setting, and at the last ends."""
    with unpainted():
        panel = PAGES[name]()
        ends = {k: c.max for k, c in panel.controls.items() if hasattr(c, "max") and k != "T"}
        for values in ({}, ends):
            panel.set(**values)
            code, runs = panel._code(panel.values), panel.sheet.runs
            assert "panel" not in code and "explore" not in code and "your own" not in code
            if runs.stops or panel.trace.value:  # the code stops, too
                continue
            space = numbers_of_code(panel)
            for key, sol in runs.sols.items():
                np.testing.assert_array_equal(space[key].q, sol.q)
                np.testing.assert_array_equal(space[key].energy(), sol.energy())


def panels_called(*called):
    """Panels that the notebooks make by functions of these names: "number of the notebook, name of
    the function" -> Panel."""
    found = {}
    for file in sorted(FOLDER.glob("[0-9]*.ipynb")):
        cells, before = nbformat.read(file, as_version=4).cells, []
        for cell in [x.source for x in cells if x.cell_type == "code"]:
            statements = ast.parse(cell).body
            for k, statement in enumerate(statements):
                for call in ast.walk(statement):
                    name = getattr(getattr(call, "func", None), "attr", None)
                    if name in called:
                        key = f"{file.stem.partition('_')[0]}, {name}"
                        key += " again" * (key in found)
                        code = needed([*before, *statements[:k]], call)
                        found[key] = Panel(file.stem, cell, code, call)
            before += statements
    return found


MOTIONS = panels_called("motion_panel")


@pytest.mark.parametrize("name", MOTIONS)
def test_the_code_of_a_motion_computes_what_it_reads_out(name):
    with unpainted():
        panel = MOTIONS[name]()
        for values in ({}, {k: c.max for k, c in panel.controls.items()}):
            panel.set(**values)
            sol = numbers_of_code(panel)["dla"]
            end = [f"{s} = {x:.2f}" for s, x in zip(sol.system.q[:2], sol.q[-1, :2], strict=True)]
            assert ", ".join(end) in panel.readout.value
            assert f"{np.ptp(sol.energy()):.1e}" in panel.readout.value


def makers():
    """The functions of the lessons that make a panel on a board."""
    for file in sorted(Path(lessons.__path__[0]).glob("lesson_*.py")):
        for x in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(x, ast.FunctionDef) and "board.panel(" in ast.unparse(x):
                yield x.name


BOARDS = panels_called(*makers())


def panels_in_cells():
    """Panels on boards whose functions stand in cells of notebooks: "number of the notebook, call"
    -> the cells so far and the call."""
    for file in sorted(FOLDER.glob("[0-9]*.ipynb")):
        cells, own = [], set()
        for cell in nbformat.read(file, as_version=4).cells:
            cells += [cell.source] * (cell.cell_type == "code")
            for statement in ast.parse(cells[-1]).body if cell.cell_type == "code" else ():
                if isinstance(statement, ast.FunctionDef):
                    own |= {statement.name} if "board.panel(" in ast.unparse(statement) else set()
                    continue
                for call in ast.walk(statement):
                    if getattr(getattr(call, "func", None), "id", None) in own:
                        text = ast.unparse(call)
                        yield f"{file.stem.partition('_')[0]}, {text}", ([*cells], text)


CELLS = dict(panels_in_cells())


def made_in_cells(cells, call):
    """The panel of a call as a kernel makes it, which has the text of what was run."""
    needs = recall.needed(call, [*map(recall.statements, cells)])
    text, file = "\n".join([*needs, f"panel = {call}"]), f"<{call}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"__name__": "__main__", "In": ["", *cells]}
    exec(compile(text, file, "exec"), space)
    return space["panel"]


@pytest.mark.parametrize("name", [*BOARDS, *CELLS])
def test_the_code_of_a_panel_on_a_board_prints_what_it_says(name):
    """All of it; the code needs nothing else, draws nothing and hides nothing in a lesson."""
    with unpainted():
        panel = BOARDS[name]() if name in BOARDS else made_in_cells(*CELLS[name])
        for move in (min, max):
            ends = {k: [c.min, c.max] for k, c in panel.controls.items() if hasattr(c, "max")}
            panel.set(**{k: move(x) for k, x in ends.items()})
            code = panel._code(panel.values)
            assert not re.search(r"panel|\bboard|lessons|__main__", code), code
            assert printed(code) == said(panel) - {"", "error "}, code


def test_every_panel_on_a_board_is_among_them():
    """None is left out above because a notebook calls it otherwise."""
    assert {name.partition(", ")[2] for name in BOARDS} == {*makers()}
    every = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("[0-9]*.ipynb"))
    assert len(CELLS) == every.count("board.panel(") > len(BOARDS)
