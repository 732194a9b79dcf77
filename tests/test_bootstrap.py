"""make setup: at once the second time; without a network nothing is lost; an old Python gets one line."""

import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from course_lib import bootstrap

PYPROJECT = '[build-system]\nrequires = []\n[project]\nname = "x"\nversion = "1"\n'


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("pip==1\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def pip(monkeypatch, project):
    """A stand-in for venv and pip: `calls` is what was asked for, `works` whether pip succeeds."""
    stand_in = SimpleNamespace(calls=[], works=True)

    def create(venv):
        stand_in.calls.append("create")
        python = bootstrap.python_of(venv)
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()

    def install(root, venv, patient):
        stand_in.calls.append("install" if patient else "refresh")
        return None if stand_in.works else "ERROR: No matching distribution found for pip==2"

    monkeypatch.setattr(bootstrap, "_create", create)
    monkeypatch.setattr(bootstrap, "_install", install)
    monkeypatch.setattr(bootstrap, "_runs", lambda venv: bootstrap.python_of(venv).exists())
    return stand_in


def test_the_first_start_builds_and_the_second_does_nothing(project, pip, capsys):
    assert bootstrap.main(project) == 0
    assert pip.calls == ["create", "install"]
    capsys.readouterr()
    assert bootstrap.main(project) == 0
    assert pip.calls == ["create", "install"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("file", "text"), [("constraints.txt", "pip==2\n"), ("pyproject.toml", PYPROJECT + "readme = 'x'")]
)
def test_a_change_of_versions_or_declaration_refreshes(project, pip, file, text):
    bootstrap.main(project)
    (project / file).write_text(text, encoding="utf-8")
    bootstrap.main(project)
    assert pip.calls[2:] == ["refresh"]


def test_a_change_of_tool_settings_does_not_refresh(project, pip):
    bootstrap.main(project)
    (project / "pyproject.toml").write_text(PYPROJECT + "[tool.ruff]\nline-length = 9\n", encoding="utf-8")
    bootstrap.main(project)
    assert len(pip.calls) == 2


def test_without_a_network_the_present_environment_goes_on_and_one_line_says_so(project, pip, capsys):
    bootstrap.main(project)
    (project / "constraints.txt").write_text("pip==2\n", encoding="utf-8")
    pip.works = False
    capsys.readouterr()
    assert bootstrap.main(project) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "course: .venv could not be refreshed (no network?); going on with the one that is there. "
        "pip: ERROR: No matching distribution found for pip==2"
    ]
    pip.works = True
    bootstrap.main(project)
    assert pip.calls[2:] == ["refresh", "refresh"]


def test_a_build_that_failed_is_an_error_and_goes_on_the_next_time(project, pip, capsys):
    pip.works = False
    assert bootstrap.main(project) == 2
    assert capsys.readouterr().err.startswith("course: .venv is not complete")
    pip.works = True
    assert bootstrap.main(project) == 0
    assert pip.calls == ["create", "install", "install"]


@pytest.mark.parametrize(("patient", "told"), [(False, "ERROR: the reason ≥"), (True, "it gave no reason")])
def test_what_pip_says_last_is_the_reason_of_a_failure(project, monkeypatch, capfd, patient, told):
    code = (
        "import sys; sys.stderr.buffer.write('WARNING: x\\nERROR: the reason ≥\\n\\n'.encode()); sys.exit(1)"
    )
    pip = project / "pip.py"
    pip.write_text(code, encoding="utf-8")
    monkeypatch.setattr(bootstrap, "python_of", lambda venv: sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(project))  # where `-m pip` finds it
    assert bootstrap._install(project, project / ".venv", patient) == told
    assert ("the reason" in capfd.readouterr().err) is patient


@pytest.mark.parametrize(
    ("extras", "installed"),
    [("", ["."]), ("[project.optional-dependencies]\ntest = []\n", ["constraints.txt", ".[test]"])],
)
def test_students_who_receive_no_tests_install_nothing_for_them(project, monkeypatch, extras, installed):
    """Written to a file by a stand-in for pip: what it was asked for last, after pip itself."""
    pip = project / "pip.py"
    pip.write_text("import sys; print(sys.argv[-1], file=open('asked.txt', 'a'))", encoding="utf-8")
    (project / "pyproject.toml").write_text(PYPROJECT + extras, encoding="utf-8")
    monkeypatch.setattr(bootstrap, "python_of", lambda venv: sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(project))
    assert bootstrap._install(project, project / ".venv", patient=False) is None
    assert (project / "asked.txt").read_text(encoding="utf-8").split() == ["setuptools", *installed]


@pytest.mark.skipif(os.name == "nt", reason="the scripts of Windows are programs, which pip writes anew")
def test_scripts_of_a_moved_folder_start_their_own_interpreter_again(project, pip, tmp_path_factory):
    bootstrap.main(project)
    script = project / ".venv/bin/tool"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!{project}/.venv/bin/python\nprint(1)\n", encoding="utf-8")
    moved = tmp_path_factory.mktemp("elsewhere") / "course"
    shutil.move(project, moved)
    bootstrap.main(moved)
    assert pip.calls[2:] == ["refresh"]
    assert (moved / ".venv/bin/tool").read_text(encoding="utf-8") == f"#!{moved}/.venv/bin/python\nprint(1)\n"


def test_a_python_that_is_too_old_gets_one_line():
    with pytest.raises(bootstrap.SetupError, match="needs Python 3.11 or newer, this is 3.9"):
        bootstrap._check_python((3, 9, 2))


def test_the_script_needs_the_standard_library_only(root):
    code = "import runpy; runpy.run_path('course_lib/bootstrap.py', run_name='imported')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_without_any_python_says_so_in_one_line(root):
    done = subprocess.run(["make", "setup", "PYTHON="], cwd=root, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].startswith("course: no Python 3.11 or newer found")


def test_an_up_to_date_environment_takes_under_a_second(project, pip):
    bootstrap.main(project)
    start = time.perf_counter()
    bootstrap.main(project)
    assert time.perf_counter() - start < 1
