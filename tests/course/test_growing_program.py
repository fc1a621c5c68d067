"""The program that lessons 01, 02, 03, 05, 07 grow: its cells are plain.py, and readers use it."""

import ast
import inspect
import math
import re
import textwrap
import warnings
from pathlib import Path

import nbformat
import numpy as np
import pytest
from prose import prose

import nhlab as nh
from nhlab import plain
from nhlab.course import exercises, program

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
GROWN = {
    "01": ["D", "discretise", "solve", "begin", "march", "variational"],
    "02": ["dla"],
    "03": ["kinetic", "mirror", "constraint_force", "projector"],
    "05": ["in_time", "edla"],
    "07": ["rdla"],
}
OWN = "program.compare("


def code_cells(lesson: str) -> list[str]:
    (file,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    return [c.source for c in nbformat.read(file, 4).cells if c.cell_type == "code"]


def definitions(cells: list[str]) -> dict[str, str]:
    """The source of each function that the cells define."""
    return {
        node.name: ast.get_source_segment(cell, node)
        for cell in cells
        for node in ast.parse(cell).body
        if isinstance(node, ast.FunctionDef)
    }


def bare(source: str) -> list[str]:
    """The lines of a function, comments included, without docstring and empty lines."""
    source = textwrap.dedent(source)
    lines, first = source.splitlines(), ast.parse(source).body[0].body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del lines[first.lineno - 1 : first.end_lineno]
    return [line for line in lines if line.strip()]


def names_bound(cell: str) -> set[str]:
    """The names that a cell gives a value at its top level, imports aside."""
    found = set()
    for node in ast.parse(cell).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        else:  # what functions inside bind is theirs
            local = {x for f in ast.walk(node) if isinstance(f, ast.Lambda) for x in ast.walk(f)}
            stored = (x for x in ast.walk(node) if isinstance(x, ast.Name) and x not in local)
            found |= {x.id for x in stored if isinstance(x.ctx, ast.Store)}
    return found


def shown(cell: str, names: dict):
    """Run a cell; the value of its last line, which a notebook shows."""
    *head, last = ast.parse(cell).body
    exec(compile(ast.Module(head, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.fixture(scope="module")
def typed():
    """lesson -> the names a reader has after its program section, and the cell for a system."""
    found = {}
    for lesson, functions in GROWN.items():
        cells = code_cells(lesson)
        (own,) = (cell for cell in cells if OWN in cell)
        wanted = [
            c for c in cells if "nhlab.plain import" in c or {*definitions([c])} & {*functions}
        ]
        names = {"np": np, "nh": nh, "program": program}
        for cell in wanted:
            exec(cell, names)
        found[lesson] = names, own
    return found


# ---------------------------------------------------------------------------- the cells


@pytest.mark.parametrize("lesson", GROWN)
def test_the_cells_are_the_text_of_plain(lesson):
    written = definitions(code_cells(lesson))
    for name in GROWN[lesson]:
        original = inspect.getsource(getattr(plain, name))
        assert bare(written[name]) == bare(original), f"lesson {lesson}: {name}"


def test_a_changed_character_of_code_or_comment_is_seen():
    original = inspect.getsource(plain.dla)
    for old, new in (("lam, wd", "lam, -wd"), ("CM01 (6)", "CM01 (5)")):
        assert old in original and bare(original.replace(old, new)) != bare(original)
    assert bare(original.replace("Discrete Lagrange", "The Lagrange")) == bare(original)


def test_the_named_tuple_is_that_of_plain():
    assert 'Run = namedtuple("Run", "t q p lam")' in inspect.getsource(plain)
    assert any('Run = namedtuple("Run", "t q p lam")' in cell for cell in code_cells("01"))


@pytest.mark.parametrize("lesson", GROWN)
def test_no_other_cell_takes_a_name_of_the_program(lesson):
    """Else the reader's own system would fail after Run All, by an error of another cell."""
    (file,) = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    used = {name for x in GROWN.values() for name in x} | {
        "root",
        "signature",
        "program",
        "np",
    }
    for cell in code_cells(lesson):
        taken = names_bound(cell) & used - set(definitions([cell]))
        assert not taken, f"{file.name}: {taken} in {cell.splitlines()[0]}"


def test_a_name_that_is_taken_is_found():
    assert names_bound("D = tangent(x)[2:4]\nf = lambda E: [E for k in E]") == {"D", "f"}
    assert "dla" in names_bound("edla, dla = lesson.planet(0.75)")


# ---------------------------------------------------------------------------- a reader's system


@pytest.mark.parametrize("lesson", GROWN)
def test_the_own_system_agrees_with_the_library(lesson, typed):
    names, cell = typed[lesson]
    found = shown(cell, names)
    assert 0 < max(found.differences.values()) < 1e-9
    assert len(found.run.t) >= 100 and np.ptp(found.run.q, axis=0).min() > 0.1


CHANGES = {
    "01": [
        ("v @ v / 2 + np.cos(q[0])", "v @ v / 2 + np.cos(q[0]) - q[0]**4 / 4"),
        ("v @ v / 2 + np.cos(q[0])", "(1 + q[0]**2) * v[0]**2 / 2 - np.exp(q[0])"),
        ("q0=[2.0]", "q0=[1.0]"),
    ],
    "02": [
        ("np.sin(0.5)", "np.sin(0.9)"),
        ("v0=[0, 0, 1]", "v0=[1, 0, 2]"),
        ("q[2]), 0]", "q[2]), 0.1]"),
    ],
    "03": [
        ("v @ v / 2", "v @ v / 2 - 0.3 * np.cos(q[1]) * v[2]**2 / 4"),
        ("q[2]), 0]", "q[2]), 0.0]"),
        ("v0=[0, 0, 1]", "v0=[1, 0, 2]"),
    ],
    "05": [("np.sin(0.5)", "np.sin(0.3)"), ("v0=[2, 0, 1]", "v0=[2, 0, 2]")],
    "07": [("- q[1]**2 / 2", "- q[1]**4 / 4"), ("v0=[0.7, 0, 0, 0]", "v0=[1.1, 0, 0, 0]")],
}


@pytest.mark.parametrize("lesson, old, new", [(k, *x) for k, v in CHANGES.items() for x in v])
def test_a_changed_system_runs_as_changed(lesson, old, new, typed):
    names, cell = typed[lesson]
    assert old in cell
    first = shown(cell, dict(names))
    changed = cell.replace(old, new)
    if new.endswith("0.1]"):  # then this velocity is not allowed, and its neighbour is
        changed = changed.replace("v0=[0, 0, 1]", "v0=[0, 0.1, 1]")
    found = shown(changed, dict(names))
    assert max(found.differences.values()) < 1e-9
    if new.replace("0.0]", "0]") != old:
        assert np.abs(found.run.q - first.run.q).max() > 0.01


def test_two_coordinates_two_constraints_and_time():
    planet = {"q0": [0.4, 0], "v0": [0, 2], "h": 0.01, "steps": 100}

    def L(q, v):
        return v @ v / 2 + 1 / np.sqrt(q @ q)

    found = program.compare(plain.variational, nh.Variational(), L, **planet)
    assert max(found.differences.values()) < 1e-9

    def L(q, v):
        return v @ v / 2 - 5 * np.sin(q[3])

    def A(q):
        return np.array([[1, 0, 0, -np.cos(q[2])], [0, 1, 0, -np.sin(q[2])]])

    start = {"q0": [0, 0, 0, 0], "v0": [1, 0, 1, 1], "h": 0.1, "steps": 50}
    found = program.compare(plain.dla, nh.DLA(), L, A, **start)
    assert found.run.lam.shape == (50, 2) and max(found.differences.values()) < 1e-9

    def L(q, v, t):
        return v @ v / 2 - (1 + 0.3 * np.cos(t)) * (q[0] ** 2 + q[1] ** 2)

    def A(q, t):
        return np.array([[-q[1] - 0.2 * np.sin(t), 0, 1]])

    start = {"q0": [0, 1, 0], "v0": [1, 1, 1], "h": 0.1, "steps": 30}
    found = program.compare(plain.edla, nh.EDLA(), L, A, **start)
    assert found.library.system.t is not None and max(found.differences.values()) < 1e-9


def test_a_program_that_differs_is_seen():
    """The comparison is not of the library with itself: a wrong kick shows."""

    def wrong(L, A, *rest):
        return plain.dla(L, lambda q: A(q) + [[0, 0, 0.01]], *rest)

    L, A = lambda q, v: v @ v / 2, lambda q: np.array([[-q[1], 0, 1.0]])
    found = program.compare(wrong, nh.DLA(), L, A, q0=[0, 0, 0], v0=[1, 1, 0], h=0.1, steps=20)
    assert max(found.differences.values()) > 1e-4
    assert re.search(r"in 20 steps: \de-\d\d\. That is more than rounding", str(found))


def test_a_changed_start_of_the_projector_method_is_called_another_method(typed):
    """The half kick with the other sign keeps order and energy: only the comparison shows it."""
    names, cell = typed["03"]
    source = inspect.getsource(plain.projector)
    assert source.count("p - h / 2 * push") == 1
    other = dict(names)
    exec(source.replace("p - h / 2 * push", "p + h / 2 * push"), other)
    right, wrong = (
        shown(cell.replace("v0=[0, 0, 1]", "v0=[1, 0, 1]"), dict(x)) for x in (names, other)
    )
    assert right.verdict() == "" and "method" not in str(right)
    assert "your program is not the same method" in str(wrong)


def test_rounding_that_a_motion_magnifies_is_not_called_another_method():
    """The run of a pendulum is disturbed by 1e-13 e^t from node 3 on."""

    def disturbed(L, *rest):
        run = plain.variational(L, *rest)
        run.q[:, 0] += 1e-13 * np.exp(run.t) * (run.t > 0.25)
        return run

    L, start = lambda q, v: v @ v / 2 + np.cos(q[0]), {"q0": [1.0], "v0": [0.0]}
    found = program.compare(disturbed, nh.Variational(), L, **start, h=0.1, steps=150)
    assert "either this motion magnifies rounding" in str(found)
    assert "not the same method" not in str(found)


def test_a_program_without_return_is_named():
    def mine(L, A, *rest):
        plain.dla(L, A, *rest)

    L, A = lambda q, v: v @ v / 2, lambda q: np.array([[-q[1], 0, 1.0]])
    said = program.compare(mine, nh.DLA(), L, A, q0=[0, 0, 0], v0=[1, 1, 0], h=0.1, steps=2)
    assert said.text == "Your function mine returns nothing: does it have a `return`?"


TYPOS = [  # in the cell of lesson 02
    ("np.sin(0.5)", "sin(0.5)", r"NameError: name 'sin' is not defined\. In L, at `return v @ v"),
    ("q[2]), -np", "q[3]), -np", "IndexError: .* In A, at `return np.array"),
    ("[[np", "[np", r"SyntaxError|shape"),
    ("v0=[0, 0, 1]", "v0=[0, 1, 1]", r"must be 0; the nearest such v0 is \[0.0, 0.0, 1.0\]"),
    ("v0=[0, 0, 1]", "v0=[0, 0]", "equally many numbers"),
    ("v @ v / 2", "np.linalg.norm(v)**2 / 2", "L must accept complex numbers"),
    ("return v @ v", "v @ v", "must be one number"),
    ("h=0.1", "h=-0.1", "h = -0.1 positive"),
    ("v @ v / 2", "np.arctan2(v @ v, 2)", "complex|cannot read|arctan2"),
]


@pytest.mark.parametrize("old, new, sentence", TYPOS)
def test_a_typo_is_answered_by_one_sentence(old, new, sentence, typed, tmp_path):
    names, cell = typed["02"]
    assert cell.count(old) == 1
    changed = cell.replace(old, new)
    if new == "[np":
        changed = changed.replace("0]])", "0])")
    file = tmp_path / "cell.py"  # as a kernel does, so that the reader's line can be shown
    file.write_text(changed.replace(OWN, f"found = {OWN}"))
    scope = dict(names)
    exec(compile(file.read_text(), file, "exec"), scope)
    said = scope["found"]
    assert isinstance(said, exercises.Said) and re.search(sentence, said.text)
    assert "Traceback" not in said.text and len(said.text) < 400


SKATE_A = "[np.sin(q[2]), -np.cos(q[2]), 0]"
MISFITS = [  # lessons, what is replaced in their cell, what is said
    ("01", "np.cos(q[0])", "np.cos(q)", r"must be one number; q and v are arrays: write q\[0\]"),
    ("01", "v @ v / 2", "v * v / 2", r"must be one number; q and v are arrays: write q\[0\]"),
    ("01", "v @ v / 2 + ", "", r"^L has no kinetic term for q\[0\]: add .* v\[0\]\*\*2\.$"),
    ("01", "np.cos(q[0])", "math.cos(q[0])", "^L must accept complex numbers"),
    *(
        (lesson, *change)
        for lesson in ("02", "03")
        for change in (
            ("v @ v / 2", "v[:2] @ v[:2] / 2", r"^L has no kinetic term for q\[2\]: add"),
            ("v @ v / 2", "v[0] ** 2", r"^L has no kinetic term for q\[1\] and q\[2\]"),
            (
                "v @ v / 2",
                "(v[0]**2 + (v[1] + v[2])**2)",
                r"no kinetic energy for v = \[0.0, 1.0, -1.0\]",
            ),
            (SKATE_A, f"{SKATE_A}, {SKATE_A}", r"^rows 0, 1 of A\(q0\) are dependent"),
            (SKATE_A, f"{SKATE_A}, [0, 0, 0]", r"^row 1 of A\(q0\) is zero"),
            ("return np.array", "np.array", "^Your function A returns nothing"),
        )
    ),
]


@pytest.mark.parametrize("lesson, old, new, sentence", MISFITS)
def test_what_is_wrong_with_a_system_is_named(lesson, old, new, sentence, typed):
    names, cell = typed[lesson]
    assert cell.count(old) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning stands before the sentence
        said = shown(cell.replace(old, new), {**names, "math": math})
    assert isinstance(said, exercises.Said) and re.search(sentence, said.text)
    assert "cannot read" not in said.text and "+ []" not in said.text


def test_a_system_that_the_library_refuses_is_not_called_unreadable():
    """The formulas are read; what the library refuses here is the name in place of a method."""
    L, A = lambda q, v: v @ v / 2, lambda q: np.array([[-q[1], 0, 1.0]])
    start = {"q0": [0, 0, 0], "v0": [1, 1, 0], "h": 0.1, "steps": 2}
    said = program.compare(plain.dla, "DLA", L, A, **start)
    assert said.text.startswith("Your run is complete, but the library refuses it: ")


def test_light_masses_and_momenta_without_squares_are_no_missing_terms():
    A = lambda q: np.array([[-q[1], 0, 1.0]])  # noqa: E731
    start = {"q0": [0, 0, 0], "v0": [1, 1, 0], "h": 0.1, "steps": 5}
    light = lambda q, v: (v[0] ** 2 + v[1] ** 2 + 1e-6 * v[2] ** 2) / 2  # noqa: E731
    mixed = lambda q, v: v[0] * v[1] + v[2] ** 2 / 2  # noqa: E731
    for L in (light, mixed):
        found = program.compare(plain.dla, nh.DLA(), L, A, **start)
        assert found.verdict() == ""


def test_no_step_is_said_as_well(typed):
    names, cell = typed["05"]
    said = shown(cell.replace("v0=[2, 0, 1]", "v0=[0, 0, 1]"), dict(names))
    assert re.search("step 28 is not found", said.text) and "after 27 steps" in prose("05")


# ---------------------------------------------------------------------------- the difference


def test_the_difference_marks_each_line():
    def old(x):
        """Before."""
        a = x + 1
        b = 2  # noqa: F841
        return a

    def new(x):
        """After."""
        a = x + 12  # a comment
        c = "entirely new"  # noqa: F841
        return a

    found = program.difference(old, new, {"a = x": "(1): a = x + 12"})
    assert [line.mark for line in found.lines] == ["~", "~", "-", "+", " "]
    assert found.lines[1].code == "    a = x + 12" and found.lines[1].equation == "(1): a = x + 12"
    text, page = repr(found), found._repr_html_()
    assert "~     a = x + 12" in text and "-     b = 2" in text and "Before" not in text
    assert page.count('aria-label="changed line"') == 2 and "12</ins>" in page
    assert "&quot;entirely new&quot;" in page
    with pytest.raises(ValueError, match="'no such line' must stand in one line"):
        program.difference(old, new, {"no such line": "(2)"})


def test_the_difference_of_the_lessons_is_complete():
    """What is kept, changed or new makes the new version, and the rest the old one."""
    for old, new in ((plain.variational, plain.dla), (plain.dla, plain.projector)):
        lines = program.difference(old, new).lines

        def strip(f):
            return [re.sub(r"(?<=\S)  # .*", "", x) for x in bare(inspect.getsource(f))]

        assert [x.code for x in lines if x.mark != "-"] == strip(new)
        assert [x.before for x in lines if x.mark != "+"] == strip(old)


# ---------------------------------------------------------------------------- what the text says


def test_numbers_of_the_text():
    particle, h = nh.systems.particle(), 0.2
    sol = nh.integrate(particle, nh.DLA(), h=h, steps=12)
    true = nh.integrate(particle, nh.Reference(), h=h, steps=10)
    quoted = re.search(r"\\lambda=(-[\d.]+)\$; \$-h\$ times .*? is \$(-[\d.]+)\$", prose("02"))
    continuous = -h * particle.multipliers(true.q[10], true.v[10])[0]
    assert [round(sol.lam[10, 0], 3), round(continuous, 3)] == [float(x) for x in quoted.groups()]
    skate = nh.integrate(nh.systems.knife_edge(), nh.DLA(), h=0.1, steps=200)
    told = f"no further than {skate.q[:, 0].max():.3f}, and by $t=20$ it is {skate.q[-1, 1]:.2f}"
    assert told in prose("02")


def test_the_readme_counts_the_lines_that_lesson_02_changes():
    was, becomes = (bare(inspect.getsource(f)) for f in (plain.variational, plain.dla))
    assert len(was) == len(becomes) == 5
    readme = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
    assert "one function of five lines changes" in readme and "five lines longer" not in readme


@pytest.mark.parametrize("alpha", [0, 0.3, 0.8])
def test_the_first_velocity_from_p0_is_too_small_by_what_lesson_01_says(alpha):
    pendulum, start = nh.systems.pendulum(), ([1.0], [0.5])
    gaps = []
    for h in (0.02, 0.01):
        runs = (
            nh.integrate(pendulum, m, *start, h=h, steps=1)
            for m in (nh.Reference(), nh.Variational(alpha))
        )
        true, mine = (s.q[1, 0] for s in runs)
        gaps.append(abs((true - mine) / h - (0.5 - alpha) * h * np.sin(1.0)))
    assert gaps[0] < 1e-3 and gaps[0] / gaps[1] == pytest.approx(4, abs=0.2)  # the rest is O(h^2)
    assert r"too small by $(\tfrac12-\alpha)\,h\,M^{-1}\nabla V$" in prose("01")


def test_the_energy_of_a_midpoint_step_has_no_linear_term():
    pendulum, E = nh.systems.pendulum(), 0.5**2 / 2 - np.cos(1.0)
    hs = np.array([0.04, 0.02, 0.01])

    def excess(alpha):
        runs = [
            nh.integrate(pendulum, nh.Variational(alpha), [1.0], [0.5], h=h, steps=1) for h in hs
        ]
        place = [(1 - alpha) * s.q[0, 0] + alpha * s.q[1, 0] for s in runs]
        v = [(s.q[1, 0] - s.q[0, 0]) / h for s, h in zip(runs, hs, strict=True)]
        return np.abs(np.square(v) / 2 - np.cos(place) - E)

    for alpha, order in ((0.5, 2), (0.3, 1)):
        assert np.polyfit(np.log(hs), np.log(excess(alpha)), 1)[0] == pytest.approx(order, abs=0.1)
