"""Starting is quick, and a mistake of the user's is told in one line."""

import subprocess
import sys
import time

import pytest

from course_lib.command import COMMANDS, main
from course_lib.command.lab import prepare_environment


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
    start = time.perf_counter()
    said = fresh(code)
    assert time.perf_counter() - start < 1
    assert all(f"\n    {name}" in said for name in COMMANDS)


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
    import os

    assert os.environ["JUPYTER_CONFIG_PATH"].endswith(os.pathsep + "/of/the/user")
    assert os.environ["PATH"].endswith(os.pathsep + "/usr/bin")
    overrides, error = _get_overrides("no-such-folder")
    assert not error
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
