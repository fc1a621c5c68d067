"""An experiment: the lessons in JupyterLite, which is Python in the browser.

The page itself needs no network to be built. To run, it fetches Pyodide and its NumPy, SciPy and
Matplotlib from Pyodide's own server; this part cannot be tested without one.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

INSTALL = "%pip install -q nhlab  # in this browser; the first time takes a minute"
WHEEL = "from setuptools.build_meta import build_wheel; build_wheel({!r})"


def wheel(root, folder):
    """The wheel of nhlab that JupyterLite offers; built in a copy, for a build leaves things."""
    copy, out = folder / "copy", folder / "wheel"
    out.mkdir()
    shutil.copytree(root / "nhlab", copy / "nhlab")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, copy)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-c", WHEEL.format(str(out))], cwd=copy, check=True, **quiet)
    return next(out.glob("*.whl"))


def lessons(notebooks, folder):
    """Copies of the lessons that begin by installing nhlab."""
    folder.mkdir()
    for path in sorted(notebooks.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.insert(0, nbformat.v4.new_code_cell(INSTALL))
        nbformat.write(notebook, folder / path.name)


def build(root, out):
    """Build JupyterLite with the lessons and nhlab in a folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lessons(root / "notebooks", folder / "contents")
        (folder / "here").mkdir()  # it takes what lies around for its own
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--apps", "lab"]
        command += ["--no-unused-shared-packages", "--contents", str(folder / "contents")]
        command += ["--piplite-wheels", str(wheel(root, folder)), "--output-dir", str(out)]
        made = subprocess.run(command, cwd=folder / "here", capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(f"JupyterLite could not be built:\n{made.stdout}{made.stderr}")
