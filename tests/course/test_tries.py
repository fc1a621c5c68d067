"""Settings to try: short questions, places where sliders can stand, pictures that differ."""

import json

import numpy as np
import pytest

import nhlab as nh
from nhlab.browser.book import book_of
from nhlab.course.figures import STATEMENTS
from nhlab.course.pages import PAGES
from nhlab.course.tries import FIRST, TRIES
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
    assert f'"first": {json.dumps(seen)}' in text


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
