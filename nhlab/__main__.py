"""Open the workbook with `python3 -m nhlab lab`, run every test with `python3 -m nhlab test`.

This file needs only the standard library, since it runs before anything is installed, and it
parses on Python 3.6, so that an old Python gets a message instead of a syntax error.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements.txt"
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "nhlab-stamp"
UNFINISHED = "unfinished"


def say(text):
    """Print at once, so that the line comes before the output of a child process."""
    print("nhlab: " + text, flush=True)


def stop(text):
    """End with a message and exit code 1."""
    raise SystemExit("nhlab: " + text)


# Does an environment have everything?


def parse_version(version):
    """Split "1.17.1rc1" into its numbers (1, 17, 1) and whether it is final or later."""
    match = re.match(r"(\d+(?:\.\d+)*)(.*)", str(version))
    if not match:
        return (), False
    early = re.match(r"[-_.]?(a|b|c|rc|pre|dev)", match.group(2))
    return tuple(int(n) for n in match.group(1).split(".")), not early


def compatible(version, wanted):
    """Tell whether a version satisfies ~=wanted; ~=2.4 means at least 2.4 and still 2.something."""
    (have, final), (want, _) = parse_version(version), parse_version(wanted)
    series, width = len(want) - 1, max(len(have), len(want))
    have, want = (numbers + (0,) * (width - len(numbers)) for numbers in (have, want))
    return have[:series] == want[:series] and (have, final) >= (want, True)


def requirements():
    """Yield the lines of requirements.txt that apply to this Python, without comments."""
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        requirement, _, marker = re.sub(r"(^|\s)#.*", "", line).partition(";")
        limit = re.search(r'python_version < "3\.(\d+)"', marker)
        if requirement.strip() and not (limit and sys.version_info >= (3, int(limit.group(1)))):
            yield requirement.strip()


def satisfied(requirement, path):
    """Tell whether `name~=version` or `-e .` is installed on the given module search path."""
    from importlib.metadata import distributions  # not there before Python 3.8

    if requirement == "-e .":
        # Several may be found: a build leaves its own nhlab.egg-info in the project.
        found = distributions(name="nhlab", path=path)
        origins = [json.loads(d.read_text("direct_url.json") or "{}") for d in found]
        return {"url": ROOT.as_uri(), "dir_info": {"editable": True}} in origins
    name, _, wanted = requirement.partition("~=")
    found = next(iter(distributions(name=name, path=path)), None)
    return bool(found and wanted and compatible(found.version, wanted))


def complete(path):
    """Tell whether everything in requirements.txt is installed on the given search path."""
    return all(satisfied(line, [str(p) for p in path]) for line in requirements())


# The project's own environment


def place():
    """Name what .venv cannot outlive: its folder and the Python behind it."""
    return ascii([str(VENV), os.path.realpath(str(PYTHON))]) + "\n"


def fingerprint():
    """Return the stamp of a finished installation of the present requirements."""
    return place() + hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()


def ready():
    """Tell whether .venv was installed to the end, from these requirements, and is still whole."""
    packages = [*VENV.glob("lib/python*/site-packages"), *VENV.glob("Lib/site-packages")]
    stamped = STAMP.exists() and STAMP.read_text() == fingerprint()
    return stamped and PYTHON.exists() and complete(packages)


def usable():
    """Tell whether .venv can be added to: it is not half made, nor moved, and its pip works."""
    if STAMP.exists() and not STAMP.read_text().startswith(place()):
        return False
    try:
        pip = subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True)
        return pip.returncode == 0
    except OSError:
        return False


def create():
    """Make an empty .venv, in place of a broken one."""
    package = f"python3-venv (or python3.{sys.version_info[1]}-venv)"
    remedy = f"On Debian or Ubuntu this is in the package {package}."
    for module in "venv", "ensurepip":
        if importlib.util.find_spec(module) is None:
            stop(f"{sys.executable} lacks the module {module}, needed to make .venv.\n{remedy}")
    import venv  # only now, since not every system has it

    if VENV.exists():
        shutil.rmtree(str(VENV))
    VENV.mkdir()
    STAMP.write_text(UNFINISHED)
    try:
        venv.create(str(VENV), symlinks=os.name != "nt", with_pip=True, prompt="nhlab")
    except subprocess.CalledProcessError as error:
        stop(f"{sys.executable} could not make .venv: {error.output.decode()}\n{remedy}")


def install():
    """Bring .venv up to requirements.txt; the stamp says so only after pip has succeeded."""
    if not usable():
        create()
    STAMP.write_text(UNFINISHED)
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    # Some shared machines set PIP_USER for everyone, which pip refuses inside an environment.
    env = dict(os.environ, PIP_USER="0")
    if subprocess.call([*pip, "-r", str(REQUIREMENTS)], cwd=str(ROOT), env=env):
        stop(
            "pip could not install everything; its message is above.\n"
            "Often the network is out of reach. Check the connection, and the proxy if there is\n"
            "one, and give the same command again: it starts with a clean environment."
        )
    STAMP.write_text(fingerprint())


def wait_for_turn():
    """Wait while another start is installing, and lock others out until this process ends."""
    try:
        import fcntl

        fcntl.flock(os.open(str(ROOT), os.O_RDONLY), fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass  # Windows and some network folders have no such locks


def environment():
    """Return a Python that has everything: this one if it does, else that of .venv."""
    if complete(sys.path):
        return sys.executable
    if not ready():
        say("installing requirements.txt into .venv; the first time takes a few minutes")
        wait_for_turn()
        try:
            ready() or install()
        except OSError as error:
            where = error.filename or VENV
            stop(f"cannot write {where}: {error.strerror}.\nCopy the project to another folder.")
    return str(PYTHON)


# The commands: each returns the arguments for the environment's Python.


def lab(args):
    """open the workbook in JupyterLab; the arguments go to JupyterLab"""
    options = ["--ServerApp.root_dir=" + str(ROOT), "--ip=localhost"]
    if not any(Path(arg).exists() for arg in args):
        starts = "/notebooks/00_start_here.ipynb", "/notebooks", ""
        start = next(start for start in starts if Path(str(ROOT) + start).exists())
        options.append("--LabApp.default_url=/lab/tree" + start)
    if getattr(os, "geteuid", lambda: None)() == 0 and "--allow-root" not in args:
        say("adding --allow-root, without which JupyterLab does not start for root")
        options.append("--allow-root")
    given = {arg.split("=")[0] for arg in args}  # JupyterLab refuses an option given twice
    return ["-m", "jupyterlab", *(o for o in options if o.split("=")[0] not in given), *args]


def test(args):
    """run every test and every notebook; the arguments go to pytest"""
    workers = [] if any(re.match("-n|--numprocesses|--pdb", a) for a in args) else ["-n", "2"]
    # The cells of a notebook share a kernel, so a file must stay with one worker.
    nbval = ["--dist=loadfile", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300"]
    return ["-m", "pytest", *workers, *nbval, *args]


def figures(args):
    """draw everything in figures/ again"""
    return ["-c", "import sys; from nhlab.course.figures import main; sys.exit(main())", *args]


def run(args):
    """run the workbook's Python: `run script.py`, `run -m ruff check`"""
    return args


def commands():
    """Return the commands by name; `figures` once the library can draw them."""
    drawable = (ROOT / "nhlab/course/figures.py").exists()
    return {f.__name__: f for f in (lab, test, *([figures] if drawable else []), run)}


def usage():
    """Return the help text."""
    lines = [f"  {name:8} {command.__doc__}" for name, command in commands().items()]
    head = "usage: python3 -m nhlab COMMAND [ARGUMENTS]\n"
    tail = "\nThe first start installs requirements.txt into .venv; later ones begin at once."
    return "\n".join([head, *lines, tail])


def become(python, args):
    """Go on as the environment's Python, so that Ctrl-C and the exit code are its own."""
    # With this, terminals in JupyterLab and `!` in notebooks find the same Python.
    os.environ["PATH"] = os.path.dirname(python) + os.pathsep + os.environ.get("PATH", "")
    if os.name != "nt":
        os.execv(python, [python, *args])
    return subprocess.call([python, *args])  # Windows has no exec that waits


def main(argv, version=sys.version_info):
    """Run one command in an environment that has what it needs."""
    if version < (3, 11):
        have = ".".join(str(n) for n in version[:3])
        stop(
            f"Python 3.11 or newer is needed, and {sys.executable} is {have}.\n"
            "Start with a newer one, for example: python3.12 -m nhlab lab"
        )
    command, args = "".join(argv[:1]), argv[1:]
    if command in ("", "-h", "--help", "help"):
        print(usage())
        return 0
    if command not in commands():
        stop(f"there is no command {command!r}.\n\n{usage()}")
    if not REQUIREMENTS.exists():
        stop(f"{ROOT} is not the project folder (no requirements.txt): start from a clone of it.")
    try:
        os.chdir(str(ROOT))
        return become(environment(), commands()[command](args))
    except KeyboardInterrupt:
        stop("stopped. The same command starts again.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
