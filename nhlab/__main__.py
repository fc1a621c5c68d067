"""usage: python3 -m nhlab COMMAND [ARGUMENTS]

  lab      open the workbook in JupyterLab; the arguments go to JupyterLab
  test     run every test and every notebook; the arguments go to pytest
  app      show a lesson without its code, as `app 02`; more arguments go to Voila
  figures  draw everything in figures/ again
  site     build the site in build/site, to be read without installing anything;
           with --lite, an experiment, also the lessons as JupyterLite
  slides   show a lesson as slides with live sliders, as `slides 02`
  handout  print a lesson to PDF, with space for answers
  assignment  write a lesson's exercises for students, the key, and an autograder
  run      run the workbook's Python: `run script.py`, `run -m ruff check`

The first start installs requirements.txt into .venv; later ones begin at once. `test`, `app`,
`site`, `slides` and `handout` add what they need the first time. uv is used if installed."""

# This file needs only the standard library, since it runs before anything is installed, and it
# parses on Python 3.6, so that an old Python gets a message instead of a syntax error.

import contextlib
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
# What a command needs beside requirements.txt: an extra of pyproject.toml, by modules that tell
# whether it is there.
EXTRAS = {
    "test": ["xdist", "hypothesis", "distributed", "xarray", "ruff", "setuptools"],
    "app": ["voila"],
    "slides": ["jupyterlab_rise"],
    "handout": ["nbconvert", "sphinx-mathjax-offline"],
    "lite": ["jupyterlite_core", "jupyterlite_pyodide_kernel"],
    "site": ["sphinx_book_theme", "myst_nb", "sphinx-mathjax-offline", "bokeh"],
}
OUTSIDE = """nhlab is installed here as a library, without the lessons: `import nhlab as nh`.
Of the commands only `python3 -m nhlab run` works here, with this Python. The lessons, the tests and
the figures are in the repository"""


HELP = ("", "-h", "--help", "help")


def say(text):
    """Print at once, so that the line comes before the output of a child process."""
    print("nhlab: " + text, flush=True)


def stop(text):
    """End with a message and exit code 1."""
    raise SystemExit("nhlab: " + text)


def complete():
    """Tell whether this Python has nhlab from this folder and the packages of requirements.txt.

    Their versions are pip's business: it saw to what nhlab needs when it put nhlab there.
    """
    from importlib.metadata import distributions  # not there before Python 3.8

    # Several may be found: a build leaves its own nhlab.egg-info in the project.
    found = distributions(name="nhlab")
    origins = [json.loads(d.read_text("direct_url.json") or "{}") for d in found]
    if {"url": ROOT.as_uri(), "dir_info": {"editable": True}} not in origins:
        return False
    # A line with a condition, `numba~=0.68; python_version < "3.16"`, is optional.
    lines = REQUIREMENTS.read_text(encoding="utf-8")
    needed = re.findall(r"^([\w-]+)~=[\d.]+ *(?:#|$)", lines, re.MULTILINE)
    return all(any(distributions(name=name)) for name in needed)


def fingerprint():
    """Return the stamp of a finished installation: in one line the folder and the Python that .venv
    cannot outlive, in another what was installed."""
    place = ascii([str(VENV), os.path.realpath(str(PYTHON))])
    wanted = REQUIREMENTS.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return place + "\n" + hashlib.sha256(wanted).hexdigest()


def has_home():
    """Tell whether the Python that .venv was made from is there: Windows copies it, in part."""
    with contextlib.suppress(OSError):
        config = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
        home = re.search(r"(?m)^home *= *(.+?) *$", config)
        return home is None or os.path.isdir(home.group(1))
    return True


def ready():
    """Tell whether .venv was installed to the end, here and from the present requirements."""
    stamped = STAMP.exists() and STAMP.read_text() == fingerprint()
    return PYTHON.exists() and stamped and has_home()


def usable():
    """Tell whether an installation can go on in .venv: it was not moved, and its pip works."""
    if STAMP.exists() and STAMP.read_text().split("\n")[0] != fingerprint().split("\n")[0]:
        return False
    with contextlib.suppress(OSError):  # no Python there, or that of another machine
        pip = subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True)
        return pip.returncode == 0
    return False


def create():
    """Make an empty .venv, in place of a broken one; by uv where it is installed."""
    for part in PYTHON.parent, VENV:  # in this order: what is half deleted must not look usable
        if part.exists():
            shutil.rmtree(str(part))
    VENV.mkdir()
    uv = shutil.which("uv")
    if uv and not subprocess.call(
        [uv, "venv", "-q", "--seed", "--allow-existing", "--python", sys.executable, str(VENV)]
    ):
        return
    package = f"python3-venv (or python3.{sys.version_info[1]}-venv)"
    remedy = f"On Debian or Ubuntu this is in the package {package}."
    for module in "venv", "ensurepip":
        if importlib.util.find_spec(module) is None:
            stop(f"{sys.executable} lacks the module {module}, needed to make .venv.\n{remedy}")
    import venv  # only now, since not every system has it

    try:
        venv.create(str(VENV), symlinks=os.name != "nt", with_pip=True, prompt="nhlab")
    except subprocess.CalledProcessError as error:
        output = error.output.decode(errors="replace")  # Windows speaks in other encodings
        stop(f"{sys.executable} could not make .venv: {output}\n{remedy}")


def pip_install(*packages):
    """Install into .venv by uv, which shows its own bar, or by pip, of which one line is seen: the
    package it is at.  Where it fails, all that pip said is printed and the launcher ends."""
    uv = shutil.which("uv")
    if uv:
        failed = subprocess.call([uv, "pip", "install", "--python", str(PYTHON), *packages])
    else:
        failed = watch_pip([str(PYTHON), "-m", "pip", "install", "--progress-bar=off", *packages])
    if failed:
        stop(
            f"the installation did not finish; the reason is above.\n{in_use()}"
            "Often the network is out of reach. Check the connection, and the proxy if there is\n"
            "one, and give the same command again: it goes on with what is missing."
        )


def watch_pip(command):
    """Run pip; show its progress in one line of a terminal.  Returns pip's exit code."""
    # Some shared machines set PIP_USER for everyone, which pip refuses inside an environment.
    env = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "universal_newlines": True}
    lines, count = [], 0
    with subprocess.Popen(command, cwd=str(ROOT), env=env, **how) as pip:
        for line in pip.stdout:
            lines.append(line)
            step = re.match("(Collecting|Installing) ([A-Za-z0-9_-]+)", line)
            if step and sys.stdout.isatty():
                count += 1
                what = "putting all in place" if step.group(1) == "Installing" else step.group(2)
                print(f"\r  package {count}: {what:40}", end="", flush=True)
    if count:
        print("\r" + 60 * " ", end="\r")
    if pip.returncode:
        sys.stderr.write("".join(lines))
    return pip.returncode


def install():
    """Bring .venv up to requirements.txt; the stamp says so only after all of it is there."""
    if not usable():
        create()
    pip_install("-r", str(REQUIREMENTS))
    STAMP.write_text(fingerprint())


def lacks(python, name):
    """Tell whether a Python lacks what a command needs."""
    check = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    return subprocess.call([python, "-c", check, *EXTRAS[name]]) != 0


def add_extra(python, name):
    """Install what one command needs, if it is missing, but not into a user's environment."""
    if not lacks(python, name):
        return
    if python != str(PYTHON):
        command = [python, "-m", "pip", "install", "-e", f".[{name}]"]
        stop(f"{name} needs more packages. Install them with\n{subprocess.list2cmdline(command)}")
    say(f"installing what `{name}` needs into .venv")
    with turn():
        if lacks(python, name):
            pip_install("-e", f".[{name}]")


@contextlib.contextmanager
def turn():
    """Wait while another start is installing; others wait for as long as this lasts.

    Windows and some network folders have no such locks: there two first starts at the same time
    get in each other's way, and the one that fails says so.
    """
    handle = None
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        handle = os.open(str(ROOT), os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)  # which is the end of the lock, as is that of the process


def in_use():
    """What may be wrong on Windows, where nobody can change the files of a program that runs."""
    text = "Close JupyterLab, leave .venv (deactivate) and try again, if they were open. Else:\n"
    return text if os.name == "nt" else ""


def environment():
    """Return a Python that has everything: this one if it does, else that of .venv."""
    if not Path(sys.prefix, STAMP.name).exists() and complete():  # where there is one, it decides
        return sys.executable
    if not ready():
        say("installing requirements.txt into .venv; this takes a few minutes, once")
        try:
            with turn():
                ready() or install()
        except OSError as error:
            where = error.filename or VENV
            stop(f"cannot write {where}: {error.strerror}.\n{in_use()}Copy the project elsewhere.")
    return str(PYTHON)


# The commands: each returns the arguments for the environment's Python.


def prepare_lab():
    """Give JupyterLab what panels want; where the user has chosen otherwise, that remains.

    The files there let a saved notebook keep its panels, unless Lab's settings say no, and the
    server pass messages on at once; without the echo a slider is not told of its own moves.
    """
    paths = [str(ROOT / "nhlab/course/jupyter"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(path for path in paths if path)
    os.environ.setdefault("JUPYTER_WIDGETS_ECHO", "0")


def lab(args):
    """Start JupyterLab here, on the first notebook unless another is given."""
    prepare_lab()
    options = ["--ServerApp.root_dir=" + str(ROOT), "--ip=localhost"]
    if not any(Path(arg).exists() for arg in args):
        options.append("--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb")
    if getattr(os, "geteuid", lambda: None)() == 0 and "--allow-root" not in args:
        say("adding --allow-root, without which JupyterLab does not start for root")
        options.append("--allow-root")
    given = {arg.split("=")[0] for arg in args}  # JupyterLab refuses an option given twice
    return ["-m", "jupyterlab", *(o for o in options if o.split("=")[0] not in given), *args]


def test(args):
    """Run pytest on two cores, notebooks included."""
    # One process more than cores: those that wait for a browser leave theirs to others.
    workers = [] if any(re.match("-n|--numprocesses|--pdb", a) for a in args) else ["-n", "3"]
    # The cells of a notebook share a kernel, so a file must stay with one worker.
    nbval = ["--dist=loadfile", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300"]
    return ["-m", "pytest", *workers, *nbval, *args]


def figures(args):
    """Draw every figure of the papers, the README's film and the sheet of bodies."""
    code = "from nhlab.course import figures, opening, sheet; "
    code += "exit(figures.main() or opening.main() or sheet.main())"
    return ["-c", code, *args]


def app(args):
    """Show a lesson as an app, "02" or the beginning of its name; the rest is for Voila.

    As JupyterLab does by itself, it answers this computer alone, and those who have its token.
    """
    prepare_lab()
    names = [arg for arg in args if not arg.startswith("-")]
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    lessons = [path for path in found if names and path.name.startswith(names[0])]
    if not lessons:
        stop("which lesson? For example: python3 -m nhlab app 02")
    options = [arg for arg in args if arg != names[0]]
    given = {arg.split("=")[0] for arg in options}
    own = [
        x
        for x in ("--Voila.ip=localhost", "--Voila.auto_token=True")
        if x.split("=")[0] not in given
    ]
    return ["-m", "nhlab.course.app", str(lessons[0]), *own, *options]


def site(args):
    """Build the site."""
    return ["-m", "nhlab.course.site.build", *args]


def teach(command):
    """The command that makes slides, a handout or an assignment of a lesson."""

    def make(args):
        if not args or args[0].startswith("-"):
            stop(f"which lesson? For example: python3 -m nhlab {command} 02")
        if command == "slides":
            prepare_lab()
        return ["-m", "nhlab.course.teaching", command, *args]

    return make


COMMANDS = {"lab": lab, "test": test, "app": app, "figures": figures, "site": site, "run": list}
COMMANDS.update((name, teach(name)) for name in ("slides", "handout", "assignment"))


def become(python, args):
    """Go on as the environment's Python, so that Ctrl-C and the exit code are its own."""
    # With this, terminals in JupyterLab and `!` in notebooks find the same Python.
    os.environ["PATH"] = os.path.dirname(python) + os.pathsep + os.environ.get("PATH", "")
    os.environ.setdefault("PYTHONUTF8", "1")  # Windows would read and print in another encoding
    if os.name != "nt":
        os.execv(python, [python, *args])
    return wait_for(subprocess.Popen([python, *args]))  # Windows has no exec that waits


def wait_for(child):
    """The exit code of a process; Ctrl-C reaches it as well, and is its own to obey."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return child.wait()


def outside(command, args):
    """What can be done where nhlab is installed without the project around it."""
    from importlib.metadata import PackageNotFoundError, metadata

    if command == "run":
        return become(sys.executable, args)
    text = OUTSIDE + "."
    with contextlib.suppress(PackageNotFoundError):
        for url in metadata("nhlab").get_all("Project-URL", []):
            text = f"{OUTSIDE}, {url.split(', ')[1]}"
    if command in HELP:
        print(text)
        return 0
    stop(f"{ROOT} is not the project folder (no requirements.txt).\n{text}")


def main(argv, version=sys.version_info):
    """Run one command in an environment that has what it needs."""
    if version < (3, 11):
        have = ".".join(str(n) for n in version[:3])
        stop(
            f"Python 3.11 or newer is needed, and {sys.executable} is {have}.\n"
            "Start with a newer one, for example: python3.12 -m nhlab lab"
        )
    command, args = "".join(argv[:1]), argv[1:]
    if not REQUIREMENTS.exists():
        return outside(command, args)
    if command in HELP:
        print(__doc__)
        return 0
    if command not in COMMANDS:
        stop(f"there is no command {command!r}.\n\n{__doc__}")
    try:
        os.chdir(str(ROOT))
        given, python = COMMANDS[command](args), environment()
        for name in EXTRAS:
            if name == command or (command == "site" and "--" + name in args):
                add_extra(python, name)
        return become(python, given)
    except KeyboardInterrupt:
        stop("stopped. The same command starts again.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
