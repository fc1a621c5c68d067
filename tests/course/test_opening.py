"""The README's film, the picture for links and the sheet of bodies, as they are stored."""

import numpy as np
import pytest
from PIL import Image

from nhlab.course import opening, sheet
from nhlab.view.models import MODELS


def test_the_film_is_small_begins_with_its_end_and_is_never_empty():
    file = opening.FOLDER / "opening.gif"
    assert file.stat().st_size <= 700_000
    with Image.open(file) as film:
        assert film.n_frames == opening.FRAMES
        frames = []
        for k in (0, 1, film.n_frames // 2, film.n_frames - 1):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB"), float))
    np.testing.assert_array_equal(frames[0], frames[-1])
    for frame in frames:  # a robot in the colour of its method in either half
        for half, colour in zip(np.split(frame, 2, axis=1), (2, 0), strict=True):
            others = [k for k in range(3) if k != colour]
            assert (half[..., colour] > 60 + half[..., others].min(-1)).sum() > 500


def test_the_film_is_that_of_the_stage(tmp_path):
    """Its last picture is the one that the stage draws now, up to the few colours of a film."""
    stage = opening.make_stage()
    (now,) = stage.pictures_at([stage.scene.times[1]], 560)
    with Image.open(opening.FOLDER / "opening.gif") as film:
        stored = np.asarray(film.convert("RGB"), float)
    assert np.abs(stored - np.asarray(now, float)).mean() < 3
    with Image.open(opening.FOLDER / "preview.png") as preview:
        assert preview.size == (1200, 630)


def test_every_body_is_on_the_sheet():
    shown = {MODELS[make().name] for make, _ in sheet.CAST.values()}
    assert shown == {*MODELS.values()}
    with Image.open(sheet.FILE) as picture:
        assert picture.width == sheet.COLUMNS * sheet.WIDTH
        assert picture.height % (len(sheet.CAST) // sheet.COLUMNS) == pytest.approx(0)
    assert {*sheet.SHOWN} <= {*sheet.CAST}
