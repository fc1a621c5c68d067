"""``python3 -m nhlab assignment 02``: the exercises of a lesson to hand out and to grade.

It writes a notebook for students, without outputs and solutions; the same with the answers filled
in; and an autograder for otter-grader, whose tests are the checks of the lesson:

    otter run -a build/assignment/02/autograder.zip build/assignment/02/key.ipynb
"""

from __future__ import annotations

import copy
import json
import re
import zipfile
from pathlib import Path

import nbformat

from .. import exercises
from . import CHECK, ROOT, exercise_of, read_lesson, write_notebook

GRADER = 'import otter\n\ngrader = otter.Notebook(tests_dir="tests")'
TEST = '''OK_FORMAT = True

test = {{
    "name": "{question}",
    "points": 1,
    "suites": [
        {{
            "type": "doctest",
            "scored": True,
            "cases": [
                {{"code": r"""
>>> import nhlab as nh
>>> verdict = nh.check("{name}", {variable})
>>> verdict.right or print(verdict)
True
""", "hidden": False, "locked": False}}
            ],
        }}
    ],
}}
'''


def question(name: str) -> str:
    """The name of an exercise for otter, which takes no dots: "02.1" becomes "q02_1"."""
    return "q" + name.replace(".", "_")


def own_variable(name: str, variable: str) -> str:
    """The name of an answer; each exercise has its own, since all are graded at the end."""
    return f"answer_{name.partition('.')[2]}" if variable == "answer" else variable


def student_cell(source: str, name: str, variable: str) -> str:
    """The cell of an exercise with an answer of its own name, checked by the grader."""
    own = own_variable(name, variable)
    source = re.sub(rf"\b{variable}\b", own, source) if own != variable else source
    return CHECK.sub(f'grader.check("{question(name)}")', source)


def solved_cell(name: str, variable: str) -> str:
    """The cell of the key: the solution, which defines ``answer``, and the grader's check."""
    _, code = exercises.written(name)
    return f'{code}\n{own_variable(name, variable)} = answer\ngrader.check("{question(name)}")'


def split(notebook: nbformat.NotebookNode) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """The notebook for students and its key."""
    student = copy.deepcopy(notebook)
    for cell in student.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    student.cells.insert(1, nbformat.v4.new_code_cell(GRADER))
    key = copy.deepcopy(student)
    for open_cell, solved in zip(student.cells, key.cells, strict=True):
        asked = exercise_of(open_cell)
        if asked:
            open_cell.source = student_cell(open_cell.source, *asked)
            solved.source = solved_cell(*asked)
    return student, key


def questions(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The text of otter's test for each exercise of a lesson, by the name of its file."""
    asked = [x for x in map(exercise_of, notebook.cells) if x]
    return {
        f"tests/{question(name)}.py": TEST.format(
            question=question(name), name=name, variable=own_variable(name, variable)
        )
        for name, variable in asked
    }


def main(number: str) -> Path:
    """Write an assignment into ``build/assignment/NN``; the folder."""
    name, notebook = read_lesson(number)
    tests, (student, key) = questions(notebook), split(notebook)
    if not tests:
        raise SystemExit(f"nhlab: {name} has no exercises with a check")
    folder = ROOT / "build/assignment" / number
    write_notebook(student, folder / f"student/{name}.ipynb")
    write_notebook(key, folder / "key.ipynb")
    for path, text in tests.items():
        file = folder / "student" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with zipfile.ZipFile(folder / "autograder.zip", "w") as archive:
        archive.writestr("otter_config.json", json.dumps({"lang": "python", "print_score": False}))
        for path, text in tests.items():
            archive.writestr(path, text)
    return folder
