"""What a stored notebook must be: valid, current, readable without a kernel, and not too large."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from nhlab.course import exercises

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


# Run in the kernel of a lesson after its last cell; tells what is wrong with its panels.
PANELS = """
import itertools, json, random
import matplotlib.pyplot as plt
import ipywidgets.widgets.widget as _w
from nhlab.view.widgets import Panel as _Panel

def _shown(p):
    return p.image.value, p.readout.value, p.message.value

def _curves(artists):
    lines = [a.get_data() for a in artists if hasattr(a, "get_data") and a.get_visible()]
    return sorted(str([[*map(float, x)] for x in xy]) for xy in lines if len(xy[0]))

# Does the text that is copied, alone, give the curves and numbers of the panel?
def _copied(p):
    code, space = p._code and p._code(p.values), {}
    exec(code or "panel = None", space)
    if "panel" in space:
        other = space["panel"]
        return other and _shown(other) == _shown(p) and code.count("panel.set(") == 1
    drawn = [*space["ax"].lines, *space["ax"].collections]
    plt.close("all")
    alone = code.count("nh.plot.draw(") == 1
    return drawn and (not alone or _curves(drawn) == _curves(p.picture.moving))

# A number of a slider as arithmetic gives it, and not as one would write it?
def _unrounded(p):
    floats = [x for x in p.values.values() if isinstance(x, float) and len(repr(x)) > 15]
    return any(repr(x) in p._code(p.values) for x in floats)

def _sliders(p):
    moved = {n: c for n, c in p.controls.items() if hasattr(c, "max")}
    return {n: (c.min, (c.min + c.max) / 2, c.max) for n, c in moved.items()}

def _overprinted(p):
    for ax in p.picture.figure.axes:
        for k, axis in enumerate((ax.xaxis, ax.yaxis)):
            low, high = sorted(axis.get_view_interval())
            labels = [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
            boxes = [x.get_window_extent() for x in labels if x.get_visible() and x.get_text()]
            ends = sorted([b.x0, b.x1] if k == 0 else [b.y0, b.y1] for b in boxes)
            yield from (f"{ax.get_xlabel()} {e}" for (_, b), (e, _) in zip(ends, ends[1:]) if e < b)

_panels = [x for x in list(_w._instances.values()) if isinstance(x, _Panel)]
_found = {"changed": [], "code": [], "overprinted": [], "idle": [], "said": {}}
for _k, _p in enumerate(_panels):
    _first = _shown(_p)
    _p.picture.changed()
    _p.draw()
    if _shown(_p) != _first:
        _found["changed"].append(f"panel {_k}: {_p.alt}")
    if not _copied(_p):
        _found["code"].append(f"panel {_k}: {_p._code and _p._code(_p.values)}")
    _start = _p.values
    for _n, _ends in _sliders(_p).items():
        _seen = []
        for _x in _ends:
            _p.set(**{_n: _x})
            _seen.append(_shown(_p))
            if _unrounded(_p):
                _found["code"].append(f"panel {_k}: {_n} = {_p.values[_n]!r}")
            _found["overprinted"] += [f"panel {_k}: {_n} {x}" for x in _overprinted(_p)]
        if _seen[0] == _seen[1] or _seen[1] == _seen[2]:
            _found["idle"].append(f"panel {_k}: {_n}")
        _p.set(**_start)
    _names = list(_sliders(_p))
    _points = list(itertools.product(*([x[0], x[2]] for x in _sliders(_p).values())))
    for _point in random.Random(1).sample(_points, min(12, len(_points))):
        _p.set(**dict(zip(_names, _point)))
        if _p.message.value:
            _found["said"][f"panel {_k} {_point}"] = _p.message.value
        assert len(_p.image.value) > 1000
print(json.dumps(_found))
"""
# Where EDLA has no step (05), and with alpha = 1 in FIM08 Figure 5: these panels may say so.
MAY_STOP = {"05_edla_energy", "03_projector_method", "paper_figures"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_panels_after_run_all(path):
    """Later cells have changed no panel, its code gives what it shows, labels at ticks stand apart,
    every slider does something, at the corners of the ranges there are pictures and no errors."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PANELS))
    here = {"metadata": {"path": path.parent}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=here).execute()
    found = json.loads(notebook.cells[-1].outputs[-1].text)
    assert [found[k] for k in ("changed", "code", "overprinted", "idle")] == [[]] * 4
    for where, sentence in found["said"].items():
        assert "Traceback" not in sentence, (where, sentence)
        assert path.stem in MAY_STOP and "stopped after" in sentence, (where, sentence)


def test_links_resolve(notebook, request):
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", cell.source):
            if not target.startswith(("http", "attachment:", "data:")):
                assert (ROOT / "notebooks" / target).exists(), target
