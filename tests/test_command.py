"""Starting is quick, and a mistake of the user's is told in one line."""

import errno
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.command import COMMANDS, main
from course_lib.command.lab import prepare_environment

ROOT = Path(__file__).resolve().parents[1]


def fresh(code):
    """Run code in a new interpreter; what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_the_package_takes_under_300_ms_and_no_heavy_library():
    heavy = "{'torch', 'matplotlib', 'matplotlib.pyplot', 'numpy', 'nbformat', 'nbgrader'} & set(sys.modules)"
    code = "import time; t = time.perf_counter(); import course_lib, sys; "
    lines = [fresh(code + f"print(time.perf_counter() - t, {heavy})") for _ in range(3)]
    assert all(line.endswith("set()\n") for line in lines)
    assert min(float(line.split()[0]) for line in lines) < 0.3


@pytest.mark.parametrize("module", ["attention", "figures", "quiz", "command"])
def test_importing_a_module_takes_neither_torch_nor_pyplot(module):
    code = f"import sys, course_lib.{module}; print({{'torch', 'matplotlib.pyplot'}} & set(sys.modules))"
    assert fresh(code) == "set()\n"


def test_help_answers_within_a_second_and_lists_every_command():
    code = "import sys; from course_lib.command import main; main(['--help'])"
    took = []
    for _ in range(3):  # the best of three, since a busy machine only ever adds time
        start = time.perf_counter()
        said = fresh(code)
        took.append(time.perf_counter() - start)
    assert min(took) < 1
    assert all(f"\n    {name}" in said for name in COMMANDS)


def test_help_marks_the_commands_that_only_maintainers_need(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # a line for each command
    said = fresh("from course_lib.command import main; main(['--help'])")
    marked = {
        name for name, line in re.findall(r"\n    (\w+)\s+(.+)", said) if line.endswith("(maintainers)")
    }
    assert marked == {"benchmark", "normalise", "release", "references"}


def test_output_that_a_terminal_cannot_show_is_replaced_and_stops_nothing(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    command = SimpleNamespace(
        add_parser=lambda subparsers: subparsers.add_parser("say"), run=lambda args: print("≥ 0") or 0
    )
    monkeypatch.setattr("course_lib.command.COMMANDS", ("say",))
    monkeypatch.setitem(sys.modules, "course_lib.command.say", command)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["say"]) == 0
    terminal.flush()
    assert terminal.buffer.getvalue().decode("ascii").split() == ["?", "0"]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A course in which JupyterLab only notes the options that it was started with."""
    from jupyterlab.labapp import LabApp

    (tmp_path / "nbgrader_config.py").touch()
    started = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LabApp, "launch_instance", lambda: started.append(sys.argv))
    for name in ("PATH", "JUPYTER_CONFIG_PATH"):
        monkeypatch.setenv(name, "/of/the/user")
    monkeypatch.setattr(sys, "argv", [])
    return started


@pytest.mark.parametrize("option", ["--to", "--json"])
def test_a_reader_that_has_seen_enough_is_no_error_to_speak_of(option: str, tmp_path: Path) -> None:
    words = ["--to", str(tmp_path / "map.html")] if option == "--to" else [option]
    command = [sys.executable, "-m", "course_lib.command", "map", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_pipe_that_breaks_elsewhere_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(args: object) -> int:
        raise BrokenPipeError(errno.EPIPE, "a worker's")

    monkeypatch.setattr("course_lib.command.map.run", run)
    with pytest.raises(BrokenPipeError, match="a worker's"):
        main(["map"])


def test_lab_as_root_says_in_one_line_how_to_start(lab, monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert main(["lab"]) == 2
    said = capsys.readouterr().err
    assert "make lab ARGS=--allow-root" in said
    assert said.count("\n") == 1
    assert lab == []


@pytest.mark.skipif(getattr(os, "geteuid", lambda: None)() != 0, reason="only root is refused")
def test_make_lab_as_root_says_so_before_it_builds_anything():
    command = ["make", "-C", str(ROOT), "lab", "PYTHON=false"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith("only with: make lab ARGS=--allow-root")


@pytest.mark.parametrize(
    ("user", "option"), [(0, "--allow-root"), (0, "--ServerApp.allow_root=True"), (1000, "--port=9000")]
)
def test_lab_starts_for_root_with_the_option_and_for_everybody_else(lab, monkeypatch, user, option):
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    assert main(["lab", option]) == 0
    assert option in lab[0]


def test_an_unknown_option_is_an_error_except_where_it_goes_to_jupyterlab(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["update", "01_soft_lookup", "--port=9000"])
    assert stopped.value.code == 2
    assert "unknown arguments: --port=9000" in capsys.readouterr().err


def test_lab_asks_no_question_about_news_and_keeps_the_users_own_settings(monkeypatch):
    from jupyterlab_server.settings_utils import _get_overrides

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/of/the/user")
    monkeypatch.setenv("PATH", "/usr/bin")
    prepare_environment()
    assert os.environ["JUPYTER_CONFIG_PATH"].endswith(os.pathsep + "/of/the/user")
    assert os.environ["PATH"].endswith(os.pathsep + "/usr/bin")
    overrides, error = _get_overrides("no-such-folder")
    assert not error
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_the_benchmark_finds_an_ensemble_far_faster_than_the_loop() -> None:
    from course_lib.command.benchmark import ensemble_against_loop

    said = ensemble_against_loop(models=100, updates=10, repeats=1)
    assert int(re.search(r"(\d+) times less", said)[1]) > 20
