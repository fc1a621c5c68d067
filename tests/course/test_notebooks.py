"""What a stored notebook must be: valid, current, readable without a kernel, and not too large."""

import re
from pathlib import Path

import nbformat
import pytest

from nhlab.course import exercises, notebooks

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WIDGET = "application/vnd.jupyter.widget-view+json"

pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="no notebooks yet")


@pytest.fixture(params=NOTEBOOKS, ids=lambda p: p.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [c for c in notebook.cells if c.cell_type == "code"]


def outputs(notebook):
    return [o for c in code_cells(notebook) for o in c.outputs]


def test_valid_and_without_widget_state(notebook):
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    assert not any(WIDGET in o.get("data", {}) for o in outputs(notebook))
    assert notebook.metadata.kernelspec.name == "python3"


def test_run_to_the_end_without_errors(notebook):
    counts = [c.execution_count for c in code_cells(notebook)]
    top = "run it from the top: python -m nhlab.course.notebooks"
    assert counts == list(range(1, len(counts) + 1)), top
    kinds = {(o.output_type, o.get("name")) for o in outputs(notebook)}
    assert not any(kind == "error" or name == "stderr" for kind, name in kinds)


def test_shows_pictures_and_is_small(notebook, request):
    pictures = [o for o in outputs(notebook) if "image/png" in o.get("data", {})]
    assert pictures
    assert all(o.data["text/plain"].startswith("[") for o in pictures)  # says what is seen
    assert len(nbformat.writes(notebook)) < 3_000_000


def test_cells_are_short(notebook):
    for cell in code_cells(notebook):
        assert len(cell.source.splitlines()) <= 25, cell.source.splitlines()[0]


WIDTH = 104  # characters that a cell shows at 1366 px beside the side bar: 108, less a margin


def test_code_is_read_without_scrolling_sideways(notebook):
    """JupyterLab does not wrap code: what stands beyond the edge of its cell is not seen."""
    for cell in code_cells(notebook):
        long = [line for line in cell.source.splitlines() if len(line) > WIDTH]
        assert not long, f"{len(long)} lines are longer than {WIDTH} characters: {long[0]}"


def test_no_plumbing_in_lessons(notebook):
    for cell in code_cells(notebook):
        assert "ipywidgets" not in cell.source and ".observe(" not in cell.source


def test_every_exercise_is_open_and_nothing_gives_it_away(notebook):
    asked = {}
    for cell in code_cells(notebook):
        assert "solution" not in cell.metadata.get("tags", [])
        found = re.search(r'nh\.check\("([\w.]+)"', cell.source)
        if found:
            asked[found[1]] = cell
    for name, cell in asked.items():
        exercises.exercise(name)
        assert "Not answered yet" in text(cell), name
    assert not any("Right." in text(cell) for cell in code_cells(notebook))


def test_markers_of_the_tests_are_tags(notebook):
    assert not any("NBVAL" in cell.source for cell in notebook.cells)


def text(cell):
    said = (o.get("data", {}).get("text/plain", "") + o.get("text", "") for o in cell.outputs)
    return " ".join(said)


def test_links_resolve(notebook, request):
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", cell.source):
            if not target.startswith(("http", "attachment:", "data:")):
                assert (ROOT / "notebooks" / target).exists(), target


def headings(path):
    """The names by which JupyterLab links to the headings of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    lines = "\n".join(c.source for c in cells if c.cell_type == "markdown").splitlines()
    return {re.sub(r"^#+ ", "", x).replace(" ", "-") for x in lines if re.match("#+ ", x)}


def test_links_to_headings_resolve(notebook):
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    for file, heading in re.findall(r"\]\((\w+\.ipynb)#([^)\s]+)\)", text):
        assert heading in headings(ROOT / "notebooks" / file), (file, heading)


def test_lesson_01_links_to_its_companion_at_the_place():
    """Not at its head and foot alone."""
    file = ROOT / "notebooks" / "01_variational_integrators.ipynb"
    cells = nbformat.read(file, as_version=4).cells[1:-1]
    text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    assert len(re.findall(r"\(01b_variational_integrators_in_depth\.ipynb", text)) >= 6


def test_bars_of_runs_are_not_stored():
    texts = "  0%|          | 0.00/1.00 [00:00<?, ?step/s]", "[Your predictions are counted here.]"
    outputs = [
        nbformat.v4.new_output("display_data", data={"text/plain": text, WIDGET: {"model_id": "1"}})
        for text in texts
    ]
    cell = nbformat.v4.new_code_cell("sol = nh.integrate(...)", outputs=outputs)
    (left,) = notebooks.clean(nbformat.v4.new_notebook(cells=[cell])).cells[0].outputs
    assert left.data == {"text/plain": texts[1]}


# A lesson of the course can be worked through in one go; what goes further is in its companion.
COURSE = ["00_start_here", "01_variational_integrators", "02_dla", "03_projector_method"]


@pytest.mark.parametrize("name", COURSE)
def test_a_lesson_of_the_course_is_short_and_open(name):
    """At most 2,000 words, 25 cells with code and two printed checks; two thirds of the pictures
    come from code that the reader sees."""
    cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
    code = [c for c in cells if c.cell_type == "code"]
    assert sum(len(c.source.split()) for c in cells if c.cell_type == "markdown") <= 2000
    assert len(code) <= 25 and sum(c.source.lower().count("checked:") for c in code) <= 2
    pictures = [c for c in code if any(is_picture(o) for o in c.outputs)]
    hidden = [c for c in pictures if re.search(HIDDEN, c.source)]
    assert len(hidden) <= len(pictures) / 3, [c.source for c in hidden]


# What computes its picture elsewhere; the drawings of a pendulum and of planes are counted, too.
HIDDEN = r"lesson\.\w+_panel\(|pictures\.show\(|lesson\.draw|paper_figure\("


def is_picture(output):
    data = output.get("data", {})
    return any(x in str(data) for x in ("image/png", "data:image/", "nhlab-stage"))
