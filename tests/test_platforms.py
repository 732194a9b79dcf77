"""What is written and read is the same on every platform: newlines are LF, and text is UTF-8."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.errors import CourseError
from course_lib.grading import references
from course_lib.grading.release import generate

ROOT = Path(__file__).resolve().parents[1]
LINUX_ONLY = {"sandbox.py"}
PYTHON = [path for path in sorted(ROOT.glob("course_lib/**/*.py")) if path.name not in LINUX_ONLY]
PYTHON += [ROOT / "tests" / "marking.py"]
NAME = "01_soft_lookup"


def text_subprocesses(code: str) -> list[set[str]]:
    """The keywords of every call that starts a program and reads its output as text."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    as_text = {("text", "True"), ("universal_newlines", "True")}
    found = []
    for call in calls:
        words = {(word.arg, ast.unparse(word.value)) for word in call.keywords if word.arg}
        if words & as_text:
            found.append({name for name, _ in words})
    return found


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_output_of_a_program_is_read_in_a_named_encoding(path: Path) -> None:
    assert all("encoding" in words for words in text_subprocesses(path.read_text(encoding="utf-8")))


def test_a_program_whose_output_is_read_in_the_machines_encoding_is_found() -> None:
    assert text_subprocesses("run(x, capture_output=True, text=True)") == [{"capture_output", "text"}]


def test_the_release_has_lf_newlines_even_where_nbgrader_writes_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "exercises" / NAME / f"{NAME}.ipynb"

    def nbgrader(*_: object, **__: object) -> SimpleNamespace:
        made.parent.mkdir(parents=True)
        made.write_bytes(b'{\r\n "source": "a\\r\\nb"\r\n}\r\n')
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", nbgrader)
    assert generate(tmp_path, NAME, tmp_path).read_bytes() == b'{\n "source": "a\\r\\nb"\n}\n'


def test_the_stored_answers_have_lf_newlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that would write CRLF is played by making that the default of writing text."""
    write_text = Path.write_text

    def write_as_on_windows(path: Path, text: str, encoding: str, newline: str = "\r\n") -> int:
        return write_text(path, text, encoding=encoding, newline=newline)

    monkeypatch.setattr(references, "computed", lambda root, name: {"softmax": {}})
    monkeypatch.setattr(Path, "write_text", write_as_on_windows)
    (tmp_path / references.DATA).mkdir(parents=True)
    written = tmp_path / references.write(tmp_path, NAME)
    assert written.read_bytes() == b'{"softmax":{}}\n'


def test_an_assignment_without_a_catalogue_of_mistakes_has_no_stored_answers(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "solutions" / NAME, tmp_path / "solutions" / NAME)
    with pytest.raises(CourseError, match="soft_lookup.py"):
        references.computed(tmp_path, NAME)
