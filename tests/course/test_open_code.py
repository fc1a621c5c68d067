"""Two thirds of the pictures of lessons 04 and 06 to 10, and of their companions, come from code
that the reader sees and can change."""

import re

import pytest
from lesson_cells import NOTEBOOKS, code_cells

NUMBERS = [path.stem.partition("_")[0] for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
OWN = [n for n in NUMBERS if n.rstrip("b") in ("04", "06", "07", "08", "09", "10")]
# A panel that a cell only defines is a picture where it is called.
PICTURE = re.compile(
    r"nh\.(animate|explore|motion_panel|predict|plot\.show)\(|\bpictures\.show\(|program\.compare\("
    r"|(?<!def )(?<!\.)\b\w+_panel\(|lesson\.\w+_(panel|picture|steps)\("
)
HIDDEN = re.compile(r"\b(lesson|course|pictures)\.\w*(panel|picture|sketch|show|steps|paths)\w*\(")


def pictures(number: str) -> list[str]:
    """The cells of a notebook that show a picture."""
    return [cell for cell in code_cells(number) if PICTURE.search(cell)]


def hidden(number: str) -> list[str]:
    """Those whose picture is made by one call into a module of the course."""
    return [cell for cell in pictures(number) if HIDDEN.search(cell.replace("show_errors", ""))]


@pytest.mark.parametrize("number", OWN)
def test_two_thirds_of_the_pictures_come_from_open_code(number):
    assert len(pictures(number)) >= 3
    assert len(hidden(number)) <= len(pictures(number)) / 3, hidden(number)


@pytest.mark.parametrize("number", [n for n in OWN if n.endswith("b")])
def test_companions_hide_at_most_two_pictures(number):
    """Sketches of a vehicle, the planes of D, and a ball that is drawn with its great circles."""
    calls = {HIDDEN.search(cell)[0] for cell in hidden(number)}
    assert calls <= {"lesson.sketch(", "pictures.show(", "lesson.ball_panel("}


def test_a_picture_made_elsewhere_is_found():
    assert HIDDEN.search('nh.predict("04b.1", lesson.sphere_panel())')
    assert PICTURE.search("lesson.group_figure(suslov)\nlesson.motion_picture(run)")
    assert not PICTURE.search("def sphere_panel():\n    return board.panel(update)")
