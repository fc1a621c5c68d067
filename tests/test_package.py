"""The wheel: all of nhlab is in it, and works from it, far from this folder; and what is said of
the project for machines: who may cite it how, which workflows run, where it is."""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
NEEDED = 77  # the first setuptools that knows a licence as pyproject.toml writes it
PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LESSON_08 = """
import nhlab
from nhlab.course import comparison
print(nhlab.__file__)
print(len(comparison.load()["work_seconds"]))
"""
# Far from the project: every module, every public name, a run, compiled or not, and a solution.
EVERYTHING = """
import importlib, pkgutil, sys
if "without" in sys.argv:
    sys.modules["numba"] = None
import nhlab as nh
for module in pkgutil.walk_packages(nh.__path__, "nhlab."):
    module.name == "nhlab.__main__" or importlib.import_module(module.name)
[getattr(nh, name) for name in nh.__all__]
backend = None if sys.modules.get("numba", 1) is None else "numba"
sol = nh.integrate(nh.systems.particle(), nh.DLA(), h=0.2, steps=1250, backend=backend)
answer = nh.solution("02b.1", anyway=True).code
print(nh.__file__, nh.__version__, len(sol.t), "[2, 1, 2, 1]" in answer, backend)
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
        pytest.skip(f"setuptools {have} is older than {NEEDED}: pip install -e '.[test]'")
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


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """The Python of a new environment into which pip has put the wheel; other packages are lent."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("there is no pip")
    home = tmp_path_factory.mktemp("clean")
    assert python("-m", "venv", "--without-pip", str(home)).returncode == 0
    own = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    (file,) = wheel.parent.glob("nhlab-*.whl")
    options = ["--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    put = python("-m", "pip", "--python", own, "install", *options, str(file))
    assert "Successfully installed nhlab" in put.stdout, put.stdout
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = Path(subprocess.run([own, "-c", ask], capture_output=True, text=True).stdout.strip())
    # A path file lends packages but runs none of their own path files, such as that of nhlab.
    lent = sorted({str(Path(find(x).origin).parents[1]) for x in ("numpy", "sympy", "ipywidgets")})
    (place / "lent.pth").write_text("\n".join(lent))
    return own


def find(name):
    return importlib.util.find_spec(name)


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
        (["-m", "nhlab", "run", "-c", "import nhlab; print(nhlab.__file__)"], "nhlab"),
    ],
    ids=["data of lesson 08", "launcher", "launcher's run"],
)
def test_it_works_from_any_folder(wheel, tmp_path, args, said):
    shown = python(*args, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(wheel)}).stdout
    assert said in shown and str(wheel) in shown and str(PROJECT) not in shown


@pytest.mark.parametrize("numba", ["with", "without"])
def test_it_works_installed_into_a_clean_environment(clean, tmp_path, numba):
    if numba == "with" and find("numba") is None:
        pytest.skip("numba is not installed")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["NHLAB_CACHE_DIR"] = str(tmp_path / "cache")
    run = [clean, "-W", "error::ImportWarning", "-c", EVERYTHING, numba]
    shown = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    file, version, rows, solved, compiled = shown.stdout.split()
    assert Path(clean).parents[1] in Path(file).parents and version == PROJECT_TABLE["version"]
    assert (rows, solved, compiled) == ("1251", "True", "numba" if numba == "with" else "None")


# With the packages that the library itself needs and no others: a run, and what is asked for.
BARE = """
import sys
for name in "matplotlib ipywidgets pandas tqdm bokeh numba xarray IPython".split():
    sys.modules[name] = None
import nhlab as nh
system = nh.systems.particle()
sol = nh.integrate(system, nh.DLA(), h=0.2, steps=1250, progress=True)
nh.ensemble(system, nh.DLA(), [sol.q[0]] * 2, [sol.v[0]] * 2, h=0.2, steps=20)
nh.integrate(system, nh.Reference(), h=0.2, steps=5)
nh.report(system), nh.linearise(nh.systems.pendulum(), [0]), nh.plain.dla
for use in (lambda: nh.plot, lambda: nh.explore, lambda: sol.to_dataframe()):
    try:
        use()
    except ImportError as error:
        print(error)
"""


def test_the_library_alone_runs_and_asks_for_what_it_lacks(clean, tmp_path):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["NHLAB_CACHE_DIR"] = str(tmp_path / "cache")
    run = [clean, "-c", BARE]
    shown = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert shown.stdout.splitlines() == [
        "nh.plot needs matplotlib, which is not installed: pip install 'nhlab[plot]'",
        "nh.explore needs matplotlib, which is not installed: pip install 'nhlab[lab]'",
        "to_dataframe needs pandas, which is not installed: pip install 'nhlab[lab]'",
    ], shown.stderr


# With the packages of some extras and no others: every public name that cannot be imported.
SOME = """
import json, sys
for name in set(sys.argv[1].split()) - set(sys.argv[2].split()):
    sys.modules[name] = None
import nhlab as nh
said = {}
for name in nh.__all__:
    try:
        getattr(nh, name)
    except ImportError as error:
        said[name] = str(error)
print(json.dumps(said))
"""
LAB = "matplotlib ipywidgets IPython pandas xarray tqdm"
BROUGHT = {"": "", "plot": "matplotlib", "lab": LAB, "fast": "numba", "live": f"{LAB} bokeh",
           "cluster": "distributed"}  # fmt: skip


@pytest.fixture(scope="module")
def asked(clean, tmp_path_factory):
    """extra -> name of nhlab -> what is said where only the packages of this extra are there."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    home, found = tmp_path_factory.mktemp("names"), {}
    for extra, packages in BROUGHT.items():
        run = [clean, "-c", SOME, " ".join(BROUGHT.values()), packages]
        shown = subprocess.run(run, cwd=home, env=env, capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        found[extra] = json.loads(shown.stdout)
    return found


@pytest.mark.parametrize("extra", BROUGHT)
def test_an_extra_that_is_asked_for_is_enough(asked, extra):
    """Whoever does what the message says has the name, and is not asked a second time."""
    for name, said in asked[extra].items():
        (needed,) = re.findall(r"pip install 'nhlab\[(\w+)\]'", said)
        assert name not in asked[needed], f"{name}: {said}, and then {asked[needed][name]}"
        assert f"nh.{name} needs " in said
    draws, has_panels = "matplotlib" in BROUGHT[extra], "ipywidgets" in BROUGHT[extra]
    assert ("plot" not in asked[extra]) is draws and ("explore" not in asked[extra]) is has_panels


def test_extras_are_those_of_the_project():
    extras = PROJECT_TABLE["optional-dependencies"]
    for extra, packages in BROUGHT.items():
        listed = {re.match(r"[\w-]+", x)[0] for x in extras.get(extra, ())}
        listed |= set(LAB.split()) if "nhlab" in listed else set()
        own = set(packages.split()) - {"IPython"}  # which comes with ipywidgets
        assert listed - {"nhlab", "IPython"} == own, extra


def test_without_a_clone_it_says_what_it_can_do(clean, tmp_path):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = [clean, "-m", "nhlab"]
    shown = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert shown.returncode == 0 and "import nhlab as nh" in shown.stdout
    assert "`python3 -m nhlab run`" in shown.stdout
    url = PROJECT_TABLE.get("urls", {}).get("Repository", "in the repository.")
    assert shown.stdout.strip().endswith(url)


# What is said of the project for machines


def text(name):
    return (PROJECT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {PROJECT_TABLE['version']}\n" in text("CITATION.cff")
    assert f"\n## {PROJECT_TABLE['version']}, " in text("CHANGELOG.md")


def test_the_day_of_a_release_is_the_same_everywhere():
    """The date behind the version in CHANGELOG.md; a version that is not released has none."""
    (said,) = re.findall(
        rf"(?m)^## {re.escape(PROJECT_TABLE['version'])}, (.+)$", text("CHANGELOG.md")
    )
    cited = re.findall(r'(?m)^date-released: "(.+)"$', text("CITATION.cff"))
    assert cited == ([] if said == "not yet released" else [said])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", x) for x in cited)


def test_links_of_the_readme_lead_somewhere():
    places = re.findall(r"\]\((?!https?:)([^)#]+)", text("README.md"))
    assert len(places) > 15 and [x for x in places if not (PROJECT / x).exists()] == []
    assert "OWNER" not in text("README.md") + text("pyproject.toml") + text("CITATION.cff")


def test_lowest_versions_are_the_bounds_of_the_project():
    extras = PROJECT_TABLE["optional-dependencies"]
    bounds = PROJECT_TABLE["dependencies"] + extras["lab"] + extras["fast"]
    lowest = dict(re.findall(r"(?m)^([\w-]+)==([\d.]+)", text(".github/lowest.txt")))
    assert set(lowest) == {re.match(r"[\w-]+", x)[0] for x in bounds}
    for bound in bounds:
        name, least = re.match(r"([\w-]+)>=([\d.]+)", bound).groups()
        assert lowest[name] == least or lowest[name].startswith(least + ".")


WORKFLOWS = sorted((PROJECT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda f: f.stem)
def test_workflows_pin_their_actions_and_ask_for_little(file):
    said = file.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)(.*)", said)
    assert uses and all(re.search(r"@[0-9a-f]{40}$", x) and re.match(r" # v\d", y) for x, y in uses)
    assert "\npermissions: {}\n" in said and "secrets." not in said


@pytest.mark.parametrize(
    "tool, args",
    [
        ("zizmor", ["--offline", "--persona=pedantic", "-q", ".github"]),
        ("check-jsonschema", ["--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)]),
        ("check-jsonschema", ["--builtin-schema", "vendor.citation-file-format", "CITATION.cff"]),
    ],
    ids=["zizmor", "workflows", "citation"],
)
def test_linters_find_nothing(tool, args):
    found = shutil.which(tool, path=str(Path(sys.executable).parent)) or shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    shown = subprocess.run([found, *args], cwd=PROJECT, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr


def test_binder_has_a_python_that_is_tested():
    runtime = text(".binder/runtime.txt").strip().removeprefix("python-")
    assert f'"{runtime}"' in re.search(r"python: \[.*\]", text(".github/workflows/tests.yml"))[0]
    assert (PROJECT / ".binder" / text(".binder/requirements.txt").split()[1]).resolve() == (
        PROJECT / "requirements.txt"
    )


def test_hooks_before_a_commit_run_the_project_s_own_ruff(tmp_path):
    """The same commands as in .ci/run, of the version in pyproject.toml: none is fetched."""
    yaml = pytest.importorskip("yaml")
    (repository,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    hooks = {x["id"]: x for x in repository["hooks"]}
    assert {*hooks} == {"ruff-check", "ruff-format"}
    bad, words = tmp_path / "bad.py", tmp_path / "words.md"
    for hook in hooks.values():
        assert hook["language"] == "system" and "args" not in hook
        command = hook["entry"].removesuffix(" --force-exclude")
        assert command in text(".ci/run") and command.startswith("python3 -m nhlab run -m ruff")
        bad.write_text("import os\nx = [1,2]\n")
        words.write_text("```python\nx = [1,2]\n```\n")
        call = hook["entry"].removeprefix("python3 -m nhlab run ").split()
        call = [sys.executable, *call, "--config", str(PROJECT / "pyproject.toml")]
        done = subprocess.run([*call, str(bad), str(words)], capture_output=True, text=True)
        if hook["id"] == "ruff-check":
            assert done.returncode == 1 and "F401" in done.stdout
        else:
            assert bad.read_text() == "import os\n\nx = [1, 2]\n", done.stderr
            assert words.read_text().count("[1,2]") == 1  # laid out for the eye
