"""Slides, handouts and assignments of a lesson."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from nhlab.course import exercises, predict
from nhlab.course.teaching import (
    assignment,
    exercise_of,
    handout,
    plumbing,
    read_lesson,
    slides,
)

TEACHERS = Path(__file__).resolve().parents[2] / "nhlab/course/site/pages/teachers.md"


@pytest.fixture
def lesson():
    return read_lesson("02")[1]


def asked(notebook):
    return [x for x in map(exercise_of, notebook.cells) if x]


def test_teachers_find_every_lesson_in_a_course_and_in_the_syllabus():
    """Lesson 11 was in neither."""
    text = TEACHERS.read_text(encoding="utf-8")
    courses = text.split("## Which lessons")[1].split("## What students need")[0]
    courses = " ".join(row.split("|")[3] for row in courses.splitlines() if row.startswith("| "))
    weeks = text.split("## A term")[1].split("## Two projects")[0]
    weeks = " ".join(row.split("|")[4] for row in weeks.splitlines() if re.match(r"\| \d", row))
    courses = courses.replace("01 to 08", "01 02 03 04 05 06 07 08")
    every = {f"{k:02d}" for k in range(12)}
    assert every <= {*re.findall(r"\b\d\d\b", courses)}
    assert every <= {*re.findall(r"\b\d\d\b", weeks)}


def test_an_unknown_lesson_names_those_there_are():
    with pytest.raises(SystemExit, match=r"no lesson '77'; choose one of 00, .*02"):
        read_lesson("77")


def test_tags_choose_the_slides_and_plumbing_shows_its_result_alone(lesson):
    tags = {cell.id: slides.slide_type(cell) for cell in lesson.cells}
    shown = slides.arrange(lesson)
    kinds = {c.id: c.metadata.get("slideshow", {}).get("slide_type") for c in shown.cells}
    assert {k: kinds[k] for k in tags} == tags
    assert {*tags.values()} == {"slide", "subslide", "skip", None}
    for cell in shown.cells:
        if 'nh.check("' in cell.source and len(cell.source.splitlines()) < 12:
            assert cell.metadata["jupyter"]["source_hidden"]
    assert not any("source_hidden" in c.get("metadata", {}).get("jupyter", {})
                   for c in shown.cells if "def residual" in c.source)  # fmt: skip
    nbformat.validate(shown)


@pytest.mark.parametrize("number", ["00", "01", "02", "03", "05"])
def test_a_lecture_has_the_sections_and_predictions_and_leaves_the_exercises_out(number):
    shown = slides.arrange(read_lesson(number)[1])
    left_out = [c.metadata.get("slideshow", {}).get("slide_type") == "skip" for c in shown.cells]
    assert shown.cells[0].metadata["slideshow"]["slide_type"] == "slide"
    for cell, out in zip(shown.cells, left_out, strict=True):
        assert "\n## " not in cell.source or cell.cell_type == "code"
        if cell.source.startswith("## "):
            assert cell.metadata["slideshow"]["slide_type"] in ("slide", "skip"), cell.source[:40]
        if cell.source.startswith(("## Exercise", "answer = ")) or "nh.predictions(" in cell.source:
            assert out, cell.source[:40]
        if "nh.predict(" in cell.source:
            assert not out, cell.source[:40]


def test_a_lesson_without_tags_begins_a_slide_at_each_section(lesson):
    for cell in lesson.cells:
        cell.metadata.pop("tags", None)
    texts = "".join(cell.source.replace("\n", "") for cell in lesson.cells)
    shown = slides.arrange(lesson).cells
    assert "".join(cell.source.replace("\n", "") for cell in shown) == texts  # nothing is lost
    for cell in shown:
        if cell.cell_type == "markdown":
            section = cell.source.startswith(("# ", "## "))
            kind = cell.metadata["slideshow"]["slide_type"]
            assert kind == ("slide" if section else "subslide")


def test_a_cell_with_two_places_is_refused(lesson):
    lesson.cells[0].metadata["tags"] = ["slide", "skip"]
    with pytest.raises(ValueError, match="keep one of them"):
        slides.arrange(lesson)


def test_a_handout_has_pictures_and_space_and_asks_for_nothing_from_elsewhere(lesson):
    pytest.importorskip("nbconvert")
    count = len(asked(lesson))
    page = handout.page(lesson, "02_dla")
    numbers = 1  # 02.5 asks for a number, for which there is a box as well
    assert page.count('<div class="answer">') == count + numbers > numbers
    assert page.count("data:image/png;base64") > 5
    assert page.count("<script") == 2 and 'src="file://' in page  # MathJax and its settings
    assert "nh.check(" not in page


@pytest.mark.parametrize("number, long", [("02", 0), ("05", 1)])
def test_a_handout_asks_for_predictions_and_keeps_what_was_measured_to_itself(number, long):
    """The code of a prediction stays where it is long enough to be read."""
    lesson = read_lesson(number)[1]
    cells = {
        match[1]: cell.source
        for cell in lesson.cells
        if (match := re.search(r'nh\.predict\("([\d.]+)"', cell.source))
    }
    kept = [x for x in cells.values() if not plumbing(nbformat.v4.new_code_cell(x))]
    text = "\n".join(cell.source for cell in handout.for_paper(lesson).cells)
    assert len(cells) == 6 and len(kept) == long and all(code in text for code in kept)
    for name in cells:
        question, choices, explanation = exercises.section(predict.PREDICTIONS, name).split(
            "\n\n", 2
        )
        assert question.replace("\n", " ") in text
        marked = [f"☐ {x}" for x in re.findall(r"(?m)^- (.*)", choices)]
        assert all(x in text for x in marked) and (marked or choices.startswith("number"))
        assert explanation[:40] not in text
    assert "details>" not in text and "prediction:" not in str(lesson.cells)


def test_the_students_copy_has_no_solutions_and_the_key_all(lesson):
    names = [name for name, _ in asked(lesson)]
    student, key = assignment.split(lesson)
    nbformat.validate(student)
    text, solved = ("\n".join(c.source for c in x.cells) for x in (student, key))
    assert len(names) > 2 and "nh.check(" not in text
    assert not any(c.get("outputs") for c in student.cells)
    for name in names:
        _, code = exercises.written(name)
        assert code in solved and code not in text
        assert text.count(f'grader.check("{assignment.question(name)}")') == 1


def test_answers_of_an_assignment_do_not_overwrite_each_other(lesson):
    tests = assignment.questions(lesson)
    variables = [
        line for text in tests.values() for line in text.splitlines() if "nh.check" in line
    ]
    assert len(set(variables)) == len(variables) == len(asked(lesson))


@pytest.mark.parametrize("number", ["00", "02"])
def test_an_assignment_is_graded(number, tmp_path, monkeypatch):
    """The key gets every point, the student's empty copy none."""
    pytest.importorskip("otter", reason="otter-grader is not installed")
    monkeypatch.setattr(assignment, "ROOT", tmp_path)
    folder = assignment.main(number)
    names = zipfile.ZipFile(folder / "autograder.zip").namelist()
    points = {}
    for copy in folder / "key.ipynb", next(folder.glob("student/*.ipynb")):
        grade = "import sys; from otter.run import main; print('points', main(sys.argv[1], "
        grade += "autograder=sys.argv[2], output_dir=None, no_logo=True).total)"
        run = [sys.executable, "-c", grade, str(copy), str(folder / "autograder.zip")]
        shown = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        points[copy.stem] = float(shown.stdout.rpartition("points ")[2])
    assert sorted(points.values()) == [0, len(names) - 1]
