"""The wheel: all of nhlab is in it, and works from it, far from this folder."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
NEEDED = 77  # the first setuptools that knows a licence as pyproject.toml writes it
LESSON_08 = """
import nhlab
from nhlab.course import comparison
print(nhlab.__file__)
print(len(comparison.load()["work_seconds"]))
"""


def python(*args, **options):
    """Run this Python and return what it says."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    return subprocess.run([sys.executable, *args], **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this folder, unpacked; built in a copy, since a build leaves things behind."""
    have = importlib.metadata.version("setuptools")
    if int(have.split(".")[0]) < NEEDED:
        pytest.skip(f"setuptools {have} is older than {NEEDED}: pip install -r requirements.txt")
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in "pyproject.toml", "README.md", "LICENSE":
        shutil.copy(PROJECT / name, copy)
    shutil.copytree(PROJECT / "nhlab", copy / "nhlab")
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})"
    built = python("-c", build, cwd=copy)  # needs no network, for nothing is installed
    assert built.returncode == 0, built.stdout
    (file,) = out.glob("nhlab-*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(out / "site")
    return out / "site"


def files(folder):
    """Every file of the package but hidden ones and what Python has compiled."""
    found = (f.relative_to(folder) for f in (folder / "nhlab").rglob("*") if f.is_file())
    return {
        f.as_posix() for f in found if not any(x.startswith((".", "__pycache__")) for x in f.parts)
    }


def test_nothing_is_left_out_and_nothing_else_is_in(wheel):
    assert files(wheel) == files(PROJECT)
    assert {f.name for f in wheel.iterdir() if f.suffix != ".dist-info"} == {"nhlab"}


@pytest.mark.parametrize(
    "args, said",
    [
        (["-c", LESSON_08], str(len(list((PROJECT / "nhlab/course/data/timings.csv").open())) - 1)),
        (["-m", "nhlab", "lab"], "is not the project folder (no requirements.txt)"),
    ],
    ids=["data of lesson 08", "launcher"],
)
def test_it_works_from_any_folder(wheel, tmp_path, args, said):
    shown = python(*args, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(wheel)}).stdout
    assert said in shown and str(wheel) in shown and str(PROJECT) not in shown
