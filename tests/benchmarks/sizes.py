"""What an installation of nhlab costs: megabytes and seconds, of the library and of each extra.

    python tests/benchmarks/sizes.py                 all, some minutes with a network
    python tests/benchmarks/sizes.py plot fast       these, and the library alone

The wheel is built from a copy of this folder and installed by pip into a new environment for each
line, far from the project.  There the import of nhlab and a run are timed, and every name that is
not installed has to be asked for by the extra that brings it.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ["", "plot", "lab", "fast", "live", "cluster", "all"]
OF_PIP = {"pip", "setuptools", "_distutils_hack", "pkg_resources", "wheel"}
TURNS = 5
IMPORT = "import time; a, b = time.perf_counter(), time.process_time(); {what}; " \
         "print(time.perf_counter() - a, time.process_time() - b)"  # fmt: skip
FIRST = "import nhlab as nh; nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=1250)"
# In an environment of its own: what each door says, "" if it opens.
DOORS = """
import json, os, tempfile, nhlab as nh
os.environ["MPLBACKEND"] = "agg"
system = nh.systems.particle()
sol = nh.integrate(system, nh.DLA(), h=0.2, steps=20)
doors = {
    "plot": lambda: nh.plot.energy(sol),
    "animate": lambda: nh.animate(sol),
    "explore": lambda: nh.explore(system, nh.DLA()),
    "live": lambda: nh.live(nh.explore(system, nh.DLA()), os.path.join(tempfile.mkdtemp(), "x")),
    "to_dataframe": sol.to_dataframe,
    "to_xarray": sol.to_xarray,
    "numba": lambda: nh.integrate(system, nh.DLA(), h=0.2, steps=20, backend="numba"),
    "distributed": lambda: __import__("distributed"),
}
said = {}
for name, door in doors.items():
    try:
        door()
        said[name] = ""
    except (ImportError, ValueError) as error:
        said[name] = str(error)
print(json.dumps(said))
"""
OPENS = {  # the doors that an extra opens
    "": set(),
    "plot": {"plot"},
    "lab": {"plot", "animate", "explore", "to_dataframe", "to_xarray"},
    "fast": {"numba"},
    "cluster": {"distributed"},
}
OPENS["live"] = OPENS["lab"] | {"live"}
OPENS["all"] = set().union(*OPENS.values())


def wheel(folder: Path) -> Path:
    """Build the wheel from a copy, since a build leaves things behind."""
    copy = folder / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, copy)
    shutil.copytree(PROJECT / "nhlab", copy / "nhlab", ignore=shutil.ignore_patterns("__pycache__"))
    call = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, copy]
    subprocess.run(call, check=True)
    (file,) = folder.glob("nhlab-*.whl")
    return file


def megabytes(place: Path) -> float:
    """Of the packages that were installed, without pip's own and what Python has compiled."""
    own = (x for x in place.iterdir() if re.split(r"-\d", x.name)[0] not in OF_PIP)
    files = (f for x in own for f in ([x] if x.is_file() else x.rglob("*")) if f.is_file())
    return sum(f.stat().st_size for f in files if "__pycache__" not in f.parts) / 1e6


def seconds(python: Path, what: str, env: dict) -> list[float]:
    """The least time by the clock and of the processor; the first turn compiles, and counts not."""
    call = [python, "-c", IMPORT.format(what=what)]
    shown = [subprocess.run(call, cwd="/", env=env, capture_output=True, text=True, check=True)
             for _ in range(TURNS + 1)]  # fmt: skip
    return [min(x) for x in zip(*(map(float, y.stdout.split()) for y in shown[1:]), strict=True)]


def measure(extra: str, file: Path, folder: Path) -> dict:
    home = folder / (extra or "alone")
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    target = f"{file}[{extra}]" if extra else str(file)
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", target], check=True)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["NHLAB_CACHE_DIR"] = str(home / "cache")
    size = megabytes(Path(place.strip()))
    doors = subprocess.run([python, "-c", DOORS], cwd="/", env=env, capture_output=True, text=True)
    assert doors.returncode == 0, doors.stderr
    said = json.loads(doors.stdout.splitlines()[-1])
    opened = {name for name, error in said.items() if not error}
    found = {"MB": size, "import": seconds(python, "import nhlab", env)}
    found |= {"first": seconds(python, FIRST, env), "opened": opened, "said": said}
    shutil.rmtree(home)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("extras", nargs="*", metavar="extra", help=f"of {', '.join(EXTRAS[1:])}")
    extras = parser.parse_args().extras
    assert {*extras} <= {*EXTRAS} and {*EXTRAS[1:]} <= {*TABLE["optional-dependencies"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = wheel(folder)
        print(f"wheel: {file.stat().st_size / 1e6:.1f} MB")
        print("| extra | MB | import, s (CPU) | first run, s (CPU) | opens |")
        print("|---|---|---|---|---|")
        for extra in ["", *extras] if extras else EXTRAS:
            x = measure(extra, file, folder)
            times = " | ".join("{:.2f} ({:.2f})".format(*x[k]) for k in ("import", "first"))
            opened = ", ".join(sorted(x["opened"])) or "-"
            print(f"| {extra or 'alone'} | {x['MB']:.0f} | {times} | {opened} |", flush=True)
            if x["opened"] != OPENS[extra]:
                print(f"  NOT AS AGREED: {sorted(x['opened'] ^ OPENS[extra])}: {x['said']}")


if __name__ == "__main__":
    main()
