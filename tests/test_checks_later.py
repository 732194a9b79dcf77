"""Whoever only needs to know what the cases are does not wait for PyTorch."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

from course_lib.checks.later import Later

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


def test_a_later_module_can_be_copied_and_looked_at_without_an_import() -> None:
    later = copy.copy(Later("no_such_module"))
    assert not hasattr(later, "__wrapped__")


def test_what_is_looked_up_on_a_later_module_is_that_of_the_module() -> None:
    assert Later("math").pi == pytest.approx(3.14159265)
    with pytest.raises(AttributeError, match="tau_and_a_half"):
        Later("math").tau_and_a_half  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        Later("no_such_module").anything  # noqa: B018
