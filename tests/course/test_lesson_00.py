"""The skate of lesson 00 that is steered to a place beside its start, as a run of the library."""

import itertools
import json

import numpy as np
import pytest
from prose import NOTEBOOKS, prose

import nhlab as nh
from nhlab.course.lessons import lesson_00 as lesson
from nhlab.view.shapes import AMBER, mesh

ENDS = [*itertools.product((-1.5, 0.6, 1.5), (0.0, 1.0, 2.5))]


def run(turn, back, h=0.01):
    skate = lesson.steered_skate().set(turn=turn, back=back)
    return nh.integrate(skate, nh.DLA(), h=h, steps=round(3 / h), progress=False)


@pytest.mark.parametrize("turn, back", ENDS)
def test_the_steered_skate_goes_along_the_arcs_of_the_exercise_and_never_sideways(turn, back):
    sol = run(turn, back)
    np.testing.assert_allclose(sol.q[[100, 200, 300]], lesson.glide(turn, back)[[40, 80, 120]],
                               atol=1.5e-3)  # fmt: skip
    assert lesson.sideways_speed(sol) < 1e-12
    off = np.abs(run(turn, back, 0.02).q[-1] - lesson.glide(turn, back)[-1]).max()
    near = np.abs(sol.q[-1] - lesson.glide(turn, back)[-1]).max()
    assert near < 1e-12 or 3.8 < off / near < 4.2  # of order 2


def test_the_answer_of_the_exercise_parks_the_skate_in_the_amber_frame():
    turn, back = 1.11, 1.61
    assert lesson.exercise_2((turn, back)) is None
    sol = run(turn, back)
    assert lesson.distance(sol) < 0.03 and abs(sol.q[-1, 2]) < 1e-9
    stage = nh.animate(sol, body=lesson.skate_on_ice())
    (skate,) = stage.scene.actors
    assert np.abs(skate.centre(3.0)[:2] - lesson.PLACE).max() < 0.03
    shapes = [shape for _, shape in skate.model.scenery if shape["colour"] == AMBER]
    bars = np.concatenate([mesh(shape).points.reshape(-1, 3) for shape in shapes])
    np.testing.assert_allclose((bars.min(0) + bars.max(0))[:2] / 2, lesson.PLACE, atol=1e-12)
    body = skate.corners(3.0)[:, :2]  # it stands within the frame
    assert (bars.min(0)[:2] < body.min(0)).all() and (body.max(0) < bars.max(0)[:2]).all()


def test_no_lesson_tells_of_the_transmission_before_its_question():
    """02.6 asks whose energy drifts: lesson 00 neither shows it nor says it, nor does the text of
    lesson 02 before the question."""
    first = json.loads((NOTEBOOKS / "00_start_here.ipynb").read_text(encoding="utf-8"))
    sources = " ".join("".join(c["source"]) for c in first["cells"])
    assert "transmission" not in sources and "may drift" not in sources
    before = prose("02").split("Modin and Verdier")[0]
    assert "eversib" not in before
