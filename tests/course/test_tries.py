"""Settings to try: short questions, places where sliders can stand, pictures that differ."""

import pytest

import nhlab as nh
from nhlab.course.figures import STATEMENTS
from nhlab.course.tries import FIRST, TRIES


def test_every_figure_has_some():
    assert {*TRIES} == {*STATEMENTS} and {*FIRST} <= {*STATEMENTS}
    assert all(2 <= len(tries) <= 4 for tries in TRIES.values())
    assert all(len(words.split()) <= 7 for tries in TRIES.values() for words in tries)


@pytest.mark.parametrize("name", TRIES)
def test_what_is_tried_is_where_sliders_stand_and_changes_the_picture(name):
    panel = nh.paper_figure(name)
    pictures, buttons = [panel.image.value], {}
    for box in panel.bar.children:
        buttons |= {b.description: b for b in getattr(box, "children", ()) if hasattr(b, "click")}
    for words, values in TRIES[name].items():
        for key, x in values.items():
            c = panel.controls[key]
            if hasattr(c, "max"):
                steps = (x - c.min) / c.step
                assert steps == pytest.approx(round(steps), abs=1e-6), (words, key)
        buttons[words].click()
        assert {k: panel.values[k] for k in values} == pytest.approx(values)
        assert not panel.message.value and panel.image.value not in pictures, words
        pictures.append(panel.image.value)
    first = FIRST.get(name, ())
    seen = [c for c in panel.bar.children if c in panel.controls.values()]
    assert seen[: len(first)] == [panel.controls[k] for k in first] and len(seen) <= 4
