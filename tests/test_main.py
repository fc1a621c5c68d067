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
import threading
import zipfile
from pathlib import Path

import pytest

launcher = importlib.import_module("nhlab.__main__")
PROJECT = Path(launcher.__file__).parent.parent


def add_package(folder, name, version, origin=None):
    """Put the metadata of an installed package into a folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if origin:
        (info / "direct_url.json").write_text(json.dumps(origin))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder that the launcher takes for its own."""
    monkeypatch.setattr(launcher, "ROOT", tmp_path)
    monkeypatch.setattr(launcher, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(launcher, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(launcher, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(launcher, "STAMP", tmp_path / ".venv/nhlab-stamp")
    launcher.REQUIREMENTS.write_text("probe~=1.2  # why\n")
    return tmp_path


@pytest.fixture
def installed(project):
    """The same, with a .venv that looks as after a successful install."""
    launcher.PYTHON.parent.mkdir(parents=True)
    launcher.PYTHON.touch()
    add_package(project / ".venv/lib/python3.11/site-packages", "probe", "1.2.5")
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


# Versions and requirements


@pytest.mark.parametrize(
    "version, wanted, expected",
    [
        ("2.4", "2.4", True),
        ("2.4.6", "2.4", True),
        ("2.10", "2.4", True),
        ("2.3.9", "2.4", False),
        ("3.0", "2.4", False),
        ("2", "2.0", True),
        ("0.17.9", "0.17.4", True),
        ("0.17.3", "0.17.4", False),
        ("0.18.0", "0.17.4", False),
        ("0.68.1", "0.68", True),
        ("1.17.1rc1", "1.17", True),
        ("1.17rc1", "1.17", False),
        ("1.17.0rc1", "1.17", False),
        ("1.17.dev3", "1.17", False),
        ("1.17.1rc1", "1.17.1", False),
        ("1.17.post1", "1.17", True),
        ("1.17.post1.dev2", "1.17", True),
        ("2.0rc1", "1.17", False),
        ("2.4.6+local", "2.4", True),
        ("unknown", "2.4", False),
        (None, "2.4", False),
    ],
)
def test_compatible_release(version, wanted, expected):
    assert launcher.compatible(version, wanted) is expected


def test_compatible_agrees_with_packaging():
    specifiers = pytest.importorskip("packaging.specifiers")
    versions = ["1", "1.17", "1.17.0", "1.17.1rc1", "1.17a1", "1.18.dev0", "1.17.2.post1", "2.0b2"]
    for wanted in "1.0", "1.17", "1.17.0", "1.17.1":
        specifier = specifiers.SpecifierSet("~=" + wanted, prereleases=True)
        for version in versions:
            assert launcher.compatible(version, wanted) == (version in specifier), (version, wanted)


def test_requirements_are_written_so_that_the_launcher_understands_them():
    lines = list(launcher.requirements())
    assert "-e ." in lines
    assert [x for x in lines if not re.fullmatch(r"-e \.|[\w-]+~=\d+(\.\d+)+", x)] == []


def test_requirements_for_older_pythons_are_left_out(project):
    launcher.REQUIREMENTS.write_text(
        'a~=1.0; python_version < "3.99"  # now\nb~=1.0; python_version < "3.11"\n\n# c~=1.0\n'
    )
    assert list(launcher.requirements()) == ["a~=1.0"]


@pytest.mark.parametrize("version, expected", [("1.2", True), ("1.1", False), ("2.0", False)])
def test_environment_has_the_wanted_version(project, version, expected):
    add_package(project / "site", "probe", version)
    assert launcher.complete([project / "site"]) is expected


def test_environment_lacks_a_package(project):
    assert not launcher.complete([project])


def test_nhlab_must_be_installed_from_this_folder(project):
    def installed_as(folder, **origin):
        add_package(project / folder, "nhlab", "0.1.0", origin)
        return launcher.satisfied("-e .", [str(project / folder)])

    here, editable = project.as_uri(), {"editable": True}
    assert installed_as("a", url=here, dir_info=editable)
    assert not installed_as("b", url=here, dir_info={})  # a copy does not follow changes
    assert not installed_as("c", url=here + "2", dir_info=editable)
    assert not installed_as("d")


def test_metadata_left_by_a_build_does_not_hide_the_installation(project):
    (project / "nhlab.egg-info").mkdir()
    (project / "nhlab.egg-info/PKG-INFO").write_text("Name: nhlab\nVersion: 0.1.0\n")
    origin = {"url": project.as_uri(), "dir_info": {"editable": True}}
    add_package(project / "site", "nhlab", "0.1.0", origin)
    assert not launcher.satisfied("-e .", [str(project)])
    assert launcher.satisfied("-e .", [str(project), str(project / "site")])


def test_a_sufficient_environment_is_used_as_it_is(project, monkeypatch):
    add_package(project / "site", "probe", "1.3")
    monkeypatch.setattr(sys, "path", [str(project / "site")])
    assert launcher.environment() == sys.executable
    assert not launcher.VENV.exists()


# The stamp


def test_an_installed_environment_is_ready(installed, monkeypatch):
    monkeypatch.setattr(launcher, "install", lambda: pytest.fail("nothing is to be installed"))
    assert launcher.environment() == str(launcher.PYTHON)


def test_changed_requirements_are_installed_into_the_same_environment(installed, pip_answers):
    launcher.REQUIREMENTS.write_text("probe~=1.1\n")
    pip_answers(0)
    assert not launcher.ready()
    assert launcher.usable()


def test_an_environment_made_by_hand_is_completed_not_replaced(installed, pip_answers):
    launcher.STAMP.unlink()
    pip_answers(0)
    assert not launcher.ready()
    assert launcher.usable()


def test_an_environment_without_pip_is_made_again(installed, pip_answers):
    pip_answers(1)
    assert not launcher.usable()


def test_an_interrupted_install_is_made_again(installed, pip_answers):
    launcher.STAMP.write_text(launcher.UNFINISHED)
    pip_answers(0)
    assert not launcher.ready()
    assert not launcher.usable()


def test_a_moved_environment_is_made_again(installed, monkeypatch, pip_answers):
    monkeypatch.setattr(launcher, "VENV", installed / "moved")
    pip_answers(0)
    assert not launcher.ready()
    assert not launcher.usable()


def test_an_environment_without_its_python_is_made_again(installed):
    launcher.PYTHON.unlink()
    launcher.STAMP.write_text(launcher.fingerprint())
    assert not launcher.ready()
    assert not launcher.usable()


def test_a_removed_package_is_noticed(installed):
    shutil.rmtree(launcher.VENV / "lib")
    assert not launcher.ready()


def test_a_second_start_waits_for_the_first(project):
    fcntl = pytest.importorskip("fcntl")
    first = os.open(project, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    second = threading.Thread(target=launcher.wait_for_turn, daemon=True)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    os.close(first)
    second.join(5)
    assert not second.is_alive()


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
    assert all(f"\n  {command} " in shown for command in ("lab", "test", "run"))


def test_unknown_command(starts_nothing):
    text = message(launcher.main, ["labb"])
    assert "'labb'" in text and "usage:" in text


def test_figures_is_offered_once_it_exists(project):
    assert "figures" not in launcher.usage()
    (project / "nhlab/course").mkdir(parents=True)
    (project / "nhlab/course/figures.py").touch()
    assert "figures" in launcher.usage()


def test_not_a_clone(project, starts_nothing):
    launcher.REQUIREMENTS.unlink()
    assert "clone" in message(launcher.main, ["lab"])


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


def test_interrupt(project, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.chdir(project)
    monkeypatch.setattr(launcher, "environment", interrupt)
    assert "stopped" in message(launcher.main, ["lab"])


# Installing, with a pip that never leaves this machine


def wheel(folder):
    """Write a package to install: the smallest wheel there is."""
    info = "probe-1.2.dist-info/"
    with zipfile.ZipFile(folder / "probe-1.2-py3-none-any.whl", "w") as file:
        file.writestr("probe.py", "")
        file.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.2\n")
        file.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr(info + "RECORD", "")


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
    assert launcher.STAMP.read_text() == launcher.UNFINISHED


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_an_interrupted_start_is_repaired_by_the_next(tmp_path):
    (tmp_path / "nhlab").mkdir()
    (tmp_path / "nhlab/__init__.py").touch()
    shutil.copy(launcher.__file__, tmp_path / "nhlab")
    (tmp_path / "requirements.txt").write_text("probe~=1.2\n")
    stamp = tmp_path / ".venv/nhlab-stamp"
    command = [sys.executable, "-m", "nhlab", "run", "-c", "import probe; raise SystemExit(7)"]

    def start(**settings):
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=pip_settings(**settings),
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    slow = tmp_path / ".venv/bin/python"  # stands for a pip in the middle of its work
    slow.parent.mkdir(parents=True)
    slow.write_text('#!/bin/sh\ncase "$*" in *install*) echo collecting; sleep 60;; esac\n')
    slow.chmod(0o755)
    first = start()
    assert "installing" in first.stdout.readline()
    assert "collecting" in first.stdout.readline()
    os.killpg(first.pid, signal.SIGINT)  # as Ctrl-C does
    output = first.communicate(timeout=300)[0]
    assert "nhlab: stopped" in output and "Traceback" not in output
    assert first.returncode == 1
    assert stamp.read_text() == launcher.UNFINISHED

    wheel(tmp_path)
    (tmp_path / ".venv/half-made").touch()
    second = start(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    output = second.communicate(timeout=300)[0]
    assert "Successfully installed probe-1.2" in output
    assert second.returncode == 7  # what the command itself said
    assert not (tmp_path / ".venv/half-made").exists()

    third = start(PIP_NO_INDEX="1")
    assert third.communicate(timeout=300)[0] == ""
    assert third.returncode == 7


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


def test_lab_opens_the_first_page_there_is(project, user):
    user(1000)
    page = "--LabApp.default_url=/lab/tree"
    assert page in launcher.lab([])
    (project / "notebooks").mkdir()
    assert page + "/notebooks" in launcher.lab([])
    (project / "notebooks/00_start_here.ipynb").touch()
    assert page + "/notebooks/00_start_here.ipynb" in launcher.lab([])


def test_lab_passes_arguments_on(project, user):
    user(1000)
    args = launcher.lab(["--no-browser", "--port", "8899", "--ip=127.0.0.1"])
    assert args[-4:] == ["--no-browser", "--port", "8899", "--ip=127.0.0.1"]
    assert "--ip=localhost" not in args  # JupyterLab refuses an option given twice


def test_lab_opens_the_notebook_it_is_given(project, user):
    user(1000)
    (project / "mine.ipynb").touch()
    args = launcher.lab([str(project / "mine.ipynb")])
    assert not any("default_url" in arg for arg in args)


def test_test_uses_two_workers_unless_told_otherwise():
    assert launcher.test(["-k", "dla"])[:4] == ["-m", "pytest", "-n", "2"]
    assert launcher.test(["-k", "dla"])[-2:] == ["-k", "dla"]
    for given in ["-n4"], ["-n", "0"], ["--numprocesses=1"], ["--pdb"]:
        assert launcher.test(given).count("-n") == given.count("-n")


def test_test_keeps_a_notebook_with_one_worker():
    assert {"--dist=loadfile", "--nbval-lax", "--nbval-current-env"} <= set(launcher.test([]))


def test_run_is_plain_python():
    assert launcher.run(["-m", "ruff", "check"]) == ["-m", "ruff", "check"]
