"""The minutes that a lesson states: ``python tests/course/minutes.py`` writes them.

Readers who played a student went through lessons 00 to 10 from the first cell to the last, with all
predictions and exercises, and estimated the time of each section: these lessons state the sums.
Lesson 11 and the companions follow a rule.  Its rates are fitted to lessons 01, 02 and 03, and
``test_course_measure`` compares it with all walks.
"""

import re
import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test_growing_program import GROWN, definitions

from nhlab.course import exercises, predict

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]*_*.ipynb"))  # companions included
WALKED = {  # minutes, estimated by walks
    "00": 75, "01": 180, "02": 154, "03": 157, "04": 146, "05": 210,
    "06": 162, "07": 167, "08": 127, "09": 130, "10": 105,
}  # fmt: skip
FITTED = ("01", "02", "03")
RATES = {
    "word": 1 / 100,
    "formula": 3,
    "cell": 2.5,
    "program": 6,  # a cell with a function of nhlab.plain, which the reader is to understand
    "prediction": 6,
    "exercise": 5,
    "function": 8,
}
WRITTEN = re.compile(r"def answer|answer = lambda|answer = [a-z]+\n", re.MULTILINE)
EMPTY = re.compile(r"(answer = \.\.\.[^\n]*\nnh\.check\(.*|nh\.predictions\(.*)")
STATED = re.compile(r"bout (\d+) minutes")
ROW = r"(\]\({}\) \|[^|]*\| )\d+ min"  # of the map in lesson 00


def sources(path: Path, kind: str) -> list[str]:
    """The texts of all cells of one kind, "markdown" or "code"."""
    return [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == kind]


def minutes(path: Path) -> float:
    """The time that the rule gives a notebook, from what is in it.

    An exercise whose answer is a function counts as one to write; the text of the predictions is
    read, explanation included, that of hints and solutions is not.  A cell that holds nothing but
    the dots of an answer is part of its exercise.
    """
    grown = {*GROWN.get(path.stem.partition("_")[0], ())}
    cells = [cell for cell in sources(path, "code") if not EMPTY.fullmatch(cell)]
    program = sum(bool(grown & {*definitions([cell])}) for cell in cells)
    text, code = (" ".join(sources(path, kind)) for kind in ("markdown", "code"))
    asked, checked = (re.findall(rf'nh\.{x}\("([\db.]+)"', code) for x in ("predict", "check"))
    predictions = [exercises.section(predict.PREDICTIONS, name) for name in asked]
    written = [bool(WRITTEN.search(exercises.written(name)[1])) for name in checked]
    count = {
        "word": len(text.split()) + sum(len(x.split()) for x in predictions),
        "formula": len(re.findall(r"\$\$.*?\$\$", text, re.DOTALL)),
        "cell": len(cells) - program,
        "program": program,
        "prediction": len(asked),
        "exercise": written.count(False),
        "function": written.count(True),
    }
    return sum(count[x] * RATES[x] for x in RATES)


def due(path: Path) -> int:
    """The minutes that a notebook ought to state, in fives: those of its walk, else of the rule."""
    return 5 * round(WALKED.get(path.stem.partition("_")[0], minutes(path)) / 5)


def stated(path: Path) -> int:
    """The minutes that the first cell of a notebook states."""
    return int(STATED.search(sources(path, "markdown")[0])[1])


def write() -> None:
    """State the minutes that are due in every lesson and in the map of lesson 00."""
    new = {path: due(path) for path in LESSONS}
    for path, time in new.items():
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        first = notebook.cells[0]
        first.source = STATED.sub(f"bout {time} minutes", first.source, count=1)
        if path == LESSONS[0]:
            for cell in notebook.cells:
                for other, there in new.items():
                    name = re.escape(other.name)
                    cell.source = re.sub(ROW.format(name), rf"\g<1>{there} min", cell.source)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
