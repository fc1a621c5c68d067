"""The order of the course: which notebooks are lessons, and which go deeper into one.

A lesson is called ``05_edla_energy``, its companion ``05b_edla_in_depth``.
"""

import re

NAME = re.compile(r"(\d\d)(b?)_\w+")
COUNTS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def number(name: str) -> str:
    """Return "05" for a lesson, "05b" for its companion, "" for any other notebook."""
    found = NAME.fullmatch(name)
    return found[1] + found[2] if found else ""


def lessons(names) -> list[str]:
    """Return the names of the lessons in their order, without companions."""
    return sorted(x for x in names if number(x).isdigit())


def companion(name: str, names) -> str:
    """Return the name of the companion of a lesson, or "" if it has none, as a companion itself."""
    return next((x for x in names if number(x) == f"{number(name)}b"), "")


def lesson_of(name: str, names) -> str:
    """Return the lesson to which a companion belongs; a lesson itself is its own."""
    return next((x for x in lessons(names) if x[:2] == name[:2]), name)


def title(notebook) -> str:
    """Return the first heading of a notebook, without the number of the lesson."""
    heading = re.search(r"^# (.*)", notebook.cells[0].source, re.MULTILINE)[1]
    return re.sub(r"^\d\db? · ", "", heading)


def count(names) -> str:
    """Return the number of lessons as a word: "eleven"."""
    return COUNTS.split()[len(lessons(names))]
