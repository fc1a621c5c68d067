"""The launcher: what it decides, what it tells the user, and how it recovers."""

import ast
import importlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import types
from pathlib import Path

import processes
import pytest

launcher = importlib.import_module("nhlab.__main__")
PROJECT = Path(launcher.__file__).parent.parent


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder that the launcher takes for its own."""
    monkeypatch.setattr(launcher, "ROOT", tmp_path)
    monkeypatch.setattr(launcher, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(launcher, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(launcher, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(launcher, "STAMP", tmp_path / ".venv/nhlab-stamp")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "active"))
    monkeypatch.setenv("PATH", str(tmp_path))  # without uv
    launcher.REQUIREMENTS.write_text("a-probe~=1.2  # why; and more\n-e .\nb~=1.0; late\n")
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


@pytest.fixture
def installed(project):
    """The same, with a .venv that looks as after a successful install."""
    launcher.PYTHON.parent.mkdir(parents=True)
    launcher.PYTHON.touch()
    launcher.STAMP.write_text(launcher.fingerprint())
    return project


@pytest.fixture
def pip_answers(monkeypatch):
    """Let the pip of .venv end with the given code."""

    def answer(code):
        monkeypatch.setattr(subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, code))

    return answer


@pytest.fixture
def starts_nothing(monkeypatch):
    """Fail where the launcher would go on to install or start something."""
    monkeypatch.setattr(launcher, "environment", lambda: pytest.fail("it went on"))


# The active environment


@pytest.fixture
def active(project, monkeypatch):
    """Make an active environment from the names of packages and the origin of nhlab."""
    site = Path(sys.prefix, "site")
    monkeypatch.setattr(sys, "path", [str(project), str(site)])
    (project / "nhlab.egg-info").mkdir()  # as a build leaves it; it says nothing
    (project / "nhlab.egg-info/PKG-INFO").write_text("Name: nhlab\nVersion: 0.1.0\n")

    def make(names, origin):
        for name in names:
            info = site / f"{name}-1.1.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.1\n")
            (info / "direct_url.json").write_text(json.dumps(origin))

    return make


@pytest.mark.parametrize(
    "names, url, dir_info, enough",
    [
        (["nhlab", "a_probe"], "", {"editable": True}, True),  # b has a condition: optional
        (["nhlab"], "", {"editable": True}, False),
        (["a_probe"], "", {"editable": True}, False),
        (["nhlab", "a_probe"], "", {}, False),  # a copy does not follow changes
        (["nhlab", "a_probe"], "2", {"editable": True}, False),  # another folder
    ],
)
def test_an_environment_with_every_package_is_used(active, installed, names, url, dir_info, enough):
    active(names, {"url": installed.as_uri() + url, "dir_info": dir_info})
    assert launcher.environment() == (sys.executable if enough else str(launcher.PYTHON))


def test_requirements_are_written_so_that_the_launcher_understands_them():
    lines = re.sub(r"(?m)(^|\s+)#.*", "", launcher.REQUIREMENTS.read_text()).splitlines()
    form = r'-e \.|[\w-]+~=\d+(\.\d+)+(; python_version < "3\.\d+")?'
    assert "-e ." in lines
    assert [x for x in lines if x and not re.fullmatch(form, x)] == []


def test_an_environment_with_a_stamp_follows_it(active, installed, monkeypatch):
    """The .venv itself, activated: changed requirements are installed all the same."""
    active(["nhlab", "a_probe"], {"url": installed.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr(sys, "prefix", str(launcher.VENV))
    monkeypatch.setattr(launcher, "usable", lambda: True)
    monkeypatch.setattr(launcher, "pip_install", lambda *packages: None)
    launcher.REQUIREMENTS.write_text("a-probe~=1.9\n")
    assert launcher.environment() == str(launcher.PYTHON)
    assert launcher.ready()


# The stamp


def test_an_installed_environment_is_ready(installed, monkeypatch):
    monkeypatch.setattr(launcher, "install", lambda: pytest.fail("nothing is to be installed"))
    assert launcher.environment() == str(launcher.PYTHON)


@pytest.mark.parametrize(
    "happened, added_to",
    [
        (lambda: launcher.REQUIREMENTS.write_text("probe~=1.1\n"), True),
        (lambda: (launcher.ROOT / "pyproject.toml").write_text("[project]\n"), True),
        (lambda: launcher.STAMP.unlink(), True),  # made by hand, or interrupted
        (lambda: launcher.STAMP.write_text(launcher.fingerprint().replace(".venv", "v")), False),
    ],
    ids=["requirements", "pyproject", "no stamp", "moved"],
)
def test_an_environment_is_added_to_or_made_again(installed, pip_answers, happened, added_to):
    happened()
    pip_answers(0)
    assert not launcher.ready()
    assert launcher.usable() is added_to
    pip_answers(1)
    assert not launcher.usable()


@pytest.mark.parametrize("left", [None, "#!/no/such/python\n"])
def test_an_environment_without_its_python_is_made_again(installed, left):
    launcher.PYTHON.unlink()
    if left:
        launcher.PYTHON.write_text(left)
        launcher.PYTHON.chmod(0o755)
    assert launcher.ready() is bool(left)
    assert not launcher.usable()


def test_an_environment_whose_home_is_gone_is_made_again(installed):
    settings = launcher.VENV / "pyvenv.cfg"
    settings.write_text(f"home = {installed}\ninclude-system-site-packages = false\n")
    assert launcher.ready()
    settings.write_text(f"home = {installed / 'gone'}\ninclude-system-site-packages = false\n")
    assert not launcher.ready() and not launcher.usable()


def test_a_half_deleted_environment_is_made_again(installed, monkeypatch):
    def interrupted(folder, delete=shutil.rmtree):
        delete(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        launcher.create()
    assert launcher.VENV.exists() and not launcher.PYTHON.exists()


# A process that has its turn until it is told to end.
HOLD = """
import importlib, pathlib, sys
launcher = importlib.import_module("nhlab.__main__")
launcher.ROOT = pathlib.Path(sys.argv[1])
launcher.REQUIREMENTS = launcher.ROOT / "requirements.txt"
print("asks", flush=True)
with launcher.turn():
    (launcher.ROOT / sys.argv[2]).touch()
    print("has", launcher.REQUIREMENTS.read_text(), flush=True)
    sys.stdin.read()
"""


def test_a_second_start_waits_for_the_first(tmp_path):
    pytest.importorskip("fcntl", reason="there are no locks of folders here")
    (tmp_path / "requirements.txt").write_text("probe")

    def start(name):
        run = [sys.executable, "-c", HOLD, str(tmp_path), name]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        process = processes.start(run, cwd=PROJECT, **pipes)
        assert process.stdout.readline() == "asks\n"
        return process

    first = start("first")
    assert first.stdout.readline() == "has probe\n"
    second = start("second")
    time.sleep(0.3)
    assert not (tmp_path / "second").exists()
    first.communicate("")
    assert second.communicate("")[0] == "has probe\n"
    assert first.returncode == second.returncode == 0


def test_where_there_are_no_locks_a_start_goes_on(project, monkeypatch):
    def refuse(*args):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "open", refuse)
    with launcher.turn():
        pass


@pytest.fixture
def copied(tmp_path):
    """Make a project folder with the launcher in it, and a Python that does so to install."""
    if os.name == "nt":
        pytest.skip("a shell script in place of Python")

    def make(installs):
        (tmp_path / "nhlab").mkdir()
        (tmp_path / "nhlab/__init__.py").touch()
        shutil.copy(launcher.__file__, tmp_path / "nhlab")
        (tmp_path / "requirements.txt").write_text("probe~=1.2\n")
        (tmp_path / "pyproject.toml").touch()
        python = tmp_path / ".venv/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\ncase "$*" in *install*) {installs};; esac\n')
        python.chmod(0o755)
        return tmp_path

    return make


def test_two_starts_at_once_install_once(copied):
    folder = copied("echo pip >> log; sleep 0.5")  # it takes its time
    run = [sys.executable, "-m", "nhlab", "run", "-c", "1"]
    starts = [processes.start(run, cwd=folder, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [x.wait(60) for x in starts] == [0, 0]
    assert (folder / "log").read_text() == "pip\n"


# Messages


def message(function, *args, **options):
    """Return what the user reads when the launcher gives up."""
    with pytest.raises(SystemExit) as end:
        function(*args, **options)
    return end.value.code


@pytest.mark.parametrize("name", ["__main__.py", "__init__.py"])
def test_old_pythons_can_read_what_tells_them_off(name):
    source = (PROJECT / "nhlab" / name).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    with pytest.raises(SyntaxError):  # the check does see newer syntax
        ast.parse(source + "\nmatch x:\n    case 1: pass\n", feature_version=(3, 7))


def test_old_python(starts_nothing):
    text = message(launcher.main, ["lab"], version=(3, 8, 10))
    assert "3.11 or newer" in text and "3.8.10" in text


def test_usage_needs_no_package():
    bare = [sys.executable, "-S", "-m", "nhlab", "--help"]
    shown = subprocess.run(bare, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert all(f"\n  {command:8} " in shown for command in launcher.COMMANDS)


def test_unknown_command(starts_nothing):
    text = message(launcher.main, ["labb"])
    assert "'labb'" in text and "usage:" in text


def test_not_a_clone(project, starts_nothing, monkeypatch, capsys):
    launcher.REQUIREMENTS.unlink()
    text = message(launcher.main, ["lab"])
    assert "not the project folder" in text and "import nhlab as nh" in text
    assert launcher.main([]) == 0
    assert "Of the commands only" in capsys.readouterr().out
    monkeypatch.setattr(launcher, "become", lambda *args: args)
    assert launcher.main(["run", "-c", "1"]) == (sys.executable, ["-c", "1"])


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_python_without_venv(project, monkeypatch, module):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == module else find(n))
    text = message(launcher.environment)
    assert module in text and "python3-venv" in text
    assert f"python3.{sys.version_info[1]}-venv" in text


def test_folder_that_cannot_be_written(project, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    text = message(launcher.environment)
    assert f"cannot write {launcher.VENV}: Permission denied" in text


def test_on_windows_files_may_be_in_use(monkeypatch):
    assert launcher.in_use() == ""
    monkeypatch.setattr(os, "name", "nt")
    assert "Close JupyterLab" in launcher.in_use()


def test_interrupt(project, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.chdir(project)
    monkeypatch.setattr(launcher, "environment", interrupt)
    assert "stopped" in message(launcher.main, ["lab"])


# Installing, with a pip that never leaves this machine


def pip_settings(**settings):
    """Return this process's variables with only the given settings for pip."""
    kept = {k: v for k, v in os.environ.items() if not re.match("(?i)pip_|.*_proxy", k)}
    fixed = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"}
    return {**kept, **fixed, **settings}


def test_no_network(installed, monkeypatch, capfd):
    monkeypatch.setattr(launcher, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(launcher, "usable", lambda: True)
    monkeypatch.setattr(os, "environ", pip_settings(PIP_INDEX_URL="http://127.0.0.1:9/simple"))
    launcher.REQUIREMENTS.write_text("nhlab-no-such-package~=1.0\n")
    text = message(launcher.install)
    assert "network" in text and "same command again" in text
    assert "nhlab-no-such-package" in capfd.readouterr().err  # pip's own words are shown
    assert not launcher.ready()


def test_an_interrupted_start_goes_on_with_the_next(copied):
    # The first installation is interrupted, the second has only to be finished.
    folder = copied("[ -e begun ] && echo pip >> log || { touch begun; exec sleep 60; }")
    with (folder / ".venv/bin/python").open("a") as script:
        script.write('case "$*" in *probe*) exit 7;; esac\n')
    stamp = folder / ".venv/nhlab-stamp"
    command = [sys.executable, "-m", "nhlab", "run", "-c", "import probe"]

    def start():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return processes.start(command, cwd=folder, env=pip_settings(), **pipes)

    first = start()
    assert "installing" in first.stdout.readline()
    while not (folder / "begun").exists():
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGINT)  # as Ctrl-C does
    output = first.communicate(timeout=300)[0]
    assert "nhlab: stopped" in output and "Traceback" not in output
    assert first.returncode == 1 and not stamp.exists()

    second = start()
    assert "installing" in second.communicate(timeout=300)[0]
    assert second.returncode == 7  # what the command itself said
    assert (folder / "log").read_text() == "pip\n" and stamp.exists()

    third = start()
    assert third.communicate(timeout=300)[0] == "" and third.returncode == 7


def test_pip_is_seen_in_one_line_and_heard_when_it_fails(project, monkeypatch, capsys):
    lines = ["Collecting numpy~=2.4", "  Downloading numpy.whl", "Installing collected packages: a"]
    code = f"print({chr(10).join(lines)!r}); raise SystemExit(%d)"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert launcher.watch_pip([sys.executable, "-c", code % 0]) == 0
    shown = capsys.readouterr()
    assert "package 1: numpy " in shown.out and "putting all in place" in shown.out
    assert "\n" not in shown.out and shown.err == ""
    assert launcher.watch_pip([sys.executable, "-c", code % 1]) == 1
    assert "Downloading numpy.whl" in capsys.readouterr().err


def test_uv_is_used_where_it_is_installed(project, monkeypatch):
    calls = []
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(subprocess, "call", lambda command, **options: calls.append(command))
    launcher.create()
    launcher.pip_install("-r", "requirements.txt")
    assert calls[0][:2] == ["/bin/uv", "venv"] and "--seed" in calls[0]  # with pip, for extras
    assert calls[1][:3] == ["/bin/uv", "pip", "install"]
    assert str(launcher.PYTHON) in calls[1] and calls[1][-1] == "requirements.txt"


# Arguments


@pytest.fixture
def user(monkeypatch):
    """Take the part of an ordinary user or of root."""
    return lambda uid: monkeypatch.setattr(os, "geteuid", lambda: uid, raising=False)


def test_lab_listens_on_this_machine_only_and_keeps_the_token(project, user):
    user(1000)
    args = launcher.lab([])
    assert args[:2] == ["-m", "jupyterlab"]
    assert "--ip=localhost" in args
    assert "--allow-root" not in args
    assert not any("token" in arg.lower() or "password" in arg.lower() for arg in args)


def test_lab_as_root_says_what_it_adds(project, user, capsys):
    user(0)
    assert launcher.lab([]).count("--allow-root") == 1
    assert "--allow-root" in capsys.readouterr().out
    assert launcher.lab(["--allow-root"]).count("--allow-root") == 1
    assert capsys.readouterr().out == ""


def test_lab_opens_the_first_notebook_or_the_one_it_is_given(project, user):
    user(1000)
    page = "--LabApp.default_url=/lab/tree/"
    (first,) = (arg[len(page) :] for arg in launcher.lab([]) if arg.startswith(page))
    assert (PROJECT / first).exists()
    (project / "mine.ipynb").touch()
    assert not any(page in arg for arg in launcher.lab([str(project / "mine.ipynb")]))


def test_lab_passes_arguments_on(project, user):
    user(1000)
    args = launcher.lab(["--no-browser", "--port", "8899", "--ip=127.0.0.1"])
    assert args[-4:] == ["--no-browser", "--port", "8899", "--ip=127.0.0.1"]
    assert "--ip=localhost" not in args  # JupyterLab refuses an option given twice


def test_lab_gets_defaults_for_panels_and_keeps_what_is_set(project, user, monkeypatch):
    user(1000)
    monkeypatch.setenv("JUPYTER_WIDGETS_ECHO", "1")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "mine")
    monkeypatch.setattr(launcher, "ROOT", PROJECT)
    launcher.lab([])
    assert os.environ["JUPYTER_WIDGETS_ECHO"] == "1"
    ours, theirs = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert theirs == "mine"
    found = subprocess.run(
        [sys.executable, "-c", SETTINGS], capture_output=True, text=True, env=dict(os.environ)
    )
    assert found.stdout.split() == ["True", "false", "PromptConnection"], found.stderr
    monkeypatch.delenv("JUPYTER_WIDGETS_ECHO")
    launcher.lab([])
    assert os.environ["JUPYTER_WIDGETS_ECHO"] == "0"


# As the server reads them: does Lab save the state of widgets, does it ask whether it may fetch
# news, and which connection is used?
SETTINGS = """
from jupyter_server.serverapp import ServerApp
from jupyterlab_server.settings_utils import _get_overrides
app = ServerApp()
app.load_config_file()
overrides = _get_overrides("nowhere")[0]
print(overrides["@jupyter-widgets/jupyterlab-manager:plugin"]["saveState"])
print(overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"])
print(app.kernel_websocket_connection_class.__name__)
"""


def test_app_shows_a_lesson_by_its_number(project):
    (project / "notebooks").mkdir()
    (project / "notebooks/02_dla.ipynb").touch()
    args = launcher.app(["02", "--no-browser"])
    assert args[:3] == ["-m", "nhlab.course.app", str(project / "notebooks/02_dla.ipynb")]
    own = ["--Voila.ip=localhost", "--Voila.auto_token=True"]  # this machine only, with a token
    assert args[3:] == [*own, "--no-browser"]
    assert launcher.app(["02", "--Voila.ip=0.0.0.0"])[3:] == [own[1], "--Voila.ip=0.0.0.0"]
    assert "which lesson" in message(launcher.app, []) == message(launcher.app, ["12"])


@pytest.fixture
def lacks(project, monkeypatch):
    """A Python that lacks what a command needs; the calls it gets are kept."""
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda c, **options: calls.append(c) or "-c" in c)
    monkeypatch.setattr(launcher, "pip_install", lambda *packages: calls.append(packages))
    return calls


def test_what_a_command_needs_is_added_to_the_environment_of_the_project(lacks, capsys):
    launcher.add_extra(str(launcher.PYTHON), "site")
    assert lacks[0][3:] == launcher.EXTRAS["site"]
    assert lacks[1] == lacks[0]  # another start may have installed it in the meantime
    assert lacks[2] == ("-e", ".[site]")
    assert "installing what `site` needs" in capsys.readouterr().out


def test_what_a_command_needs_is_asked_for_elsewhere(lacks):
    text = message(launcher.add_extra, "/usr/bin/python3", "app")
    assert "/usr/bin/python3 -m pip install" in text and ".[app]" in text and len(lacks) == 1


def test_extras_are_those_of_the_project():
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    for name, modules in launcher.EXTRAS.items():
        listed = {re.match(r"[\w-]+", x)[0].replace("-", "_") for x in extras[name]}
        listed |= {"bokeh"} if "nhlab[lab,live]" in extras[name] else set()
        listed |= {"xdist"} if "pytest_xdist" in listed else set()
        assert {x.replace("-", "_") for x in modules} <= listed


def test_ctrl_c_is_left_to_the_child():
    codes = [KeyboardInterrupt(), KeyboardInterrupt(), 7]

    def wait():
        if isinstance(code := codes.pop(0), int):
            return code
        raise code

    assert launcher.wait_for(types.SimpleNamespace(wait=wait)) == 7


def test_test_uses_three_workers_unless_told_otherwise():
    args = launcher.test(["-k", "dla"])
    assert args[:4] == ["-m", "pytest", "-n", "3"] and args[-2:] == ["-k", "dla"]
    # A notebook stays with one worker.
    assert {"--dist=loadfile", "--nbval-lax", "--nbval-current-env"} <= set(args)
    for given in ["-n4"], ["-n", "0"], ["--numprocesses=1"], ["--pdb"]:
        assert launcher.test(given).count("-n") == given.count("-n")


@pytest.mark.parametrize("command", ["slides", "handout", "assignment"])
def test_what_teachers_ask_for_needs_a_lesson(command):
    args = launcher.COMMANDS[command](["02", "--port=9999"])
    assert args == ["-m", "nhlab.course.teaching", command, "02", "--port=9999"]
    assert f"python3 -m nhlab {command} 02" in message(launcher.COMMANDS[command], [])


def test_run_is_plain_python():
    assert launcher.COMMANDS["run"](["-m", "ruff", "check"]) == ["-m", "ruff", "check"]
