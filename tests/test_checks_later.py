"""Nobody waits for an import that others need: of PyTorch, of nbgrader, of what a kernel loads first."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from course_lib import checks
from course_lib.checks import check
from course_lib.checks.assignments import MODULES
from course_lib.checks.later import Later
from course_lib.grading.preloaded import preloaded_for

ROOT = Path(__file__).resolve().parents[1]

LOAD_ALL = """
import sys
import course_lib.grading.class_marking, course_lib.grading.source, course_lib.grading.task
import course_lib.grading.workers, course_lib.grading.writer
from course_lib.checks.assignments import MODULES, load
for name in MODULES:
    load(name)
print("torch" in sys.modules)
"""


def test_no_assignment_and_nothing_that_marks_a_class_imports_pytorch() -> None:
    said = subprocess.run([sys.executable, "-c", LOAD_ALL], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


def test_until_a_class_is_known_to_have_changed_nothing_that_takes_long_is_imported() -> None:
    code = (
        "import sys, course_lib.command, course_lib.command.mark_class\n"
        "import course_lib.grading.class_marking, course_lib.grading.workers\n"
        "print(sorted({'nbformat', 'nbgrader', 'numpy', 'sqlalchemy'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"


def test_what_a_notebook_imports_of_the_checks_is_there_and_nothing_else() -> None:
    assert checks.checks_for is check.checks_for
    assert checks.Check is check.Check
    with pytest.raises(AttributeError, match="no attribute 'chekcs_for'"):
        checks.chekcs_for  # noqa: B018


SET_UP = """
import importlib, sys
for name in {modules!r}:
    importlib.import_module(name)
before = set(sys.modules)
exec({code!r}, {{"__name__": "__main__"}})
print(sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("name", MODULES)
def test_kernels_find_imported_what_the_first_cell_of_an_assignment_imports(name: str) -> None:
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    code = next(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code")
    assert "checks_for" in code
    script = SET_UP.format(modules=preloaded_for(path), code=code)
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"cells": [{}]}', '{"cells": [{"cell_type": "code"}]}', "[" * 10**5]
)
def test_a_solution_that_is_no_notebook_has_no_imports(text: str, tmp_path: Path) -> None:
    path = tmp_path / "01_soft_lookup.ipynb"
    path.write_text(text, encoding="utf-8")
    assert preloaded_for(path) == []
    assert preloaded_for(tmp_path / "nothing.ipynb") == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("%matplotlib inline\nimport torch", ["torch"]),
        ("files = !ls\nif files:\n    %time 1\nimport torch", ["torch"]),
        ("%%bash\nimport torch", []),
        ("from . import here\nfrom .here import there", []),
        ("import torch, math as m\nfrom torch.nn import Linear", ["torch", "math", "torch.nn"]),
        ("text = 'import torch'\n# import math", []),
        ("def f():\n    ### BEGIN SOLUTION\n    import torch\n    ### END SOLUTION", []),
        ("x = '\ud800'\nimport torch", []),
        ("-" * 10**5 + "1\nimport torch", []),
        ("+".join(["1"] * 10**5) + "\nimport torch", []),
    ],
)
def test_modules_are_found_in_what_students_receive(code: str, found: list[str], tmp_path: Path) -> None:
    path = tmp_path / "01_soft_lookup.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [code]}]}), encoding="utf-8")
    modules = preloaded_for(path)
    assert modules[: modules.index("course_lib.checks.answer")] == found


def test_a_later_module_can_be_copied_and_looked_at_without_an_import() -> None:
    later = copy.copy(Later("no_such_module"))
    assert not hasattr(later, "__wrapped__")


def test_what_is_looked_up_on_a_later_module_is_that_of_the_module() -> None:
    assert Later("math").pi == pytest.approx(3.14159265)
    with pytest.raises(AttributeError, match="tau_and_a_half"):
        Later("math").tau_and_a_half  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        Later("no_such_module").anything  # noqa: B018
