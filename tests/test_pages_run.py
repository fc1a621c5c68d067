"""The programs in the README and on the written pages of the site run, and say what they should."""

import re
import shutil
import subprocess
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import nhlab as nh

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "nhlab/course/site/pages"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def programs(path):
    """The blocks of Python of a page, from the top to the bottom."""
    return BLOCK.findall(path.read_text(encoding="utf-8"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs blocks one after the other in one namespace, in an empty folder."""
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)

    def go(blocks):
        space = {}
        for block in blocks:
            exec(compile(block, "a page", "exec"), space)
        return space

    return go


def test_the_library_in_ten_lines_and_in_a_dozen_more(run, capsys):
    first, second = programs(ROOT / "README.md")
    assert len(first.splitlines()) == 10 and len(second.splitlines()) <= 13
    space = run([first, second])
    sol = space["sol"]
    assert sol.steps == 500 and np.allclose(sol.q[:, 0][sol.t == 0], 0)
    known = nh.integrate(nh.systems.particle(), nh.DLA(), [0, 1, 0], [1, 1, 1], h=0.2, steps=500)
    np.testing.assert_array_equal(sol.q, known.q)
    np.testing.assert_allclose(space["same"].q, known.q, atol=1e-11)
    assert Path("run.npz").exists() and "500 steps to t = 100" in capsys.readouterr().out


def smaller(block):
    """A recipe for ten thousand runs, with few."""
    small, found = re.subn(r"K = 10_000", "K = 64", block)
    assert found == 1
    return small


def own_page(*words):
    """The blocks of the page on systems of one's own in which these are bound or called first."""
    blocks = programs(PAGES / "own.md")

    def first(word):
        bound = re.compile(rf"^ *{word}(?:, \w+)? =|{word}\(", re.MULTILINE)
        return next(x for x in blocks if bound.search(x))

    return [first(word) for word in words]


def test_a_system_of_your_own_is_checked(run, capsys):
    run(own_page("skate", "report"))
    said = capsys.readouterr().out
    assert said.count(" ok ") >= 6 and " NO " not in said


def test_motors_of_your_own_do_the_work_that_is_gained(run):
    sol = run(own_page("skate", "motor"))["driven"]
    gained = sol.energy()[-1] - sol.energy()[0]
    assert gained == pytest.approx(sol.work()[-1], rel=1e-4) and gained > 1
    assert sol["theta"][-1] == pytest.approx(1, abs=0.01)  # where the feedback leads


def test_a_ball_leaves_the_sphere_where_theory_says(run, capsys):
    """cos(lat) = 10/17 of the cosine of the start, for a homogeneous ball that rolls from rest."""
    sol = run(own_page("skate", "ball"))["roll"]
    left = np.cos(sol.q_events[0][0, 0]) / np.cos(0.1)
    assert left == pytest.approx(10 / 17, rel=2e-4) and sol.ended_by == 0
    assert "exactly 10/17" in capsys.readouterr().out


def test_a_system_of_your_own_is_stated_and_shown(run):
    space = run(own_page("skate", "blade"))
    t, (crossed,) = space["run"].t_events[0], space["run"].q_events[0]
    assert abs(crossed[2] - 3) < 1e-12 and t == pytest.approx([3], abs=1e-2)
    np.testing.assert_allclose(space["same"].q, space["run"].q, atol=1e-12)
    assert "<html" in Path("skate.html").read_text(encoding="utf-8")


def test_a_run_and_a_step_leave_nhlab(run):
    """By a table, by SciPy's solver, and in C; the program takes the very steps of the run."""
    space = run(own_page("skate", "problem"))
    sol, found = space["run"], space["found"]
    table = np.loadtxt("skate.csv", delimiter=",", skiprows=1, usecols=[0, 1, 2, 3])
    np.testing.assert_array_equal(table[:, 1:], sol.q)
    assert found.t_events[0] == pytest.approx([3], abs=1e-6)
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    flags = ["-O2", "-ffp-contract=off", "skate.c", "-lm"]
    subprocess.run(["cc", *flags], check=True)
    shown = subprocess.run(["./a.out", "200"], check=True, capture_output=True, text=True).stdout
    rows = np.array([line.split() for line in shown.splitlines()], float)
    np.testing.assert_allclose(rows[:, 1:4], sol.q[1:], rtol=1e-13, atol=1e-13)


def test_the_recipe_of_the_poincare_section_gives_ellipses(run):
    """y swings on its own, y'' = -2 y, so that vy^2/2 + y^2 is constant on each run."""
    space = run(own_page("skate", "section"))
    many = space["section"]
    assert len(many) == 7 and all(len(q[0]) > 30 for q in many.q_events)
    for (q,), (v,), y0 in zip(many.q_events, many.v_events, space["y0"], strict=True):
        assert np.abs(q[:, 0]).max() < 1e-10 and v[:, 0].min() > 0
        np.testing.assert_allclose(v[:, 1] ** 2 / 2 + q[:, 1] ** 2, y0**2, rtol=0.02)


def test_the_recipe_of_the_basins_is_symmetric(run):
    """(x, z) -> (-x, -z) changes nothing but the well."""
    start, section, basins = own_page("skate", "section", "wells")
    space = run([start, section, smaller(basins)])
    right = space["right"]
    assert len(right) == 64 and right.any() and (right == ~right[::-1]).all()


def test_the_recipe_of_lyapunov_exponents_finds_chaos(run):
    start, section, lyapunov = own_page("skate", "section", "exponents")
    space = run([start, section, smaller(lyapunov)])
    assert len(space["exponents"]) == 64 and space["apart"].max() < 0.1
    assert space["exponents"].mean() == pytest.approx(0.14, abs=0.04)


def test_the_programs_for_teachers_run(run):
    run([programs(PAGES / "teachers.md")[0]])
    assert Path("energy.svg").exists()
